"""python -m rankine."""

from __future__ import annotations

from rankine.cli import main

main()
