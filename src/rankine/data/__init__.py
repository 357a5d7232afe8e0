"""Sample data made for `rankine demo`: questions to a cookbook, and three systems."""

from __future__ import annotations

from pathlib import Path

FOLDER = Path(__file__).parent
QRELS = FOLDER / "qrels.txt"
RUNS = tuple(FOLDER / f"{system}.run" for system in ("keyword", "vector", "hybrid"))
