"""Metrics of what users did, from a log of events.

import rankine as rk

rk.online.summarize("events.parquet", by="variant")
"""

from __future__ import annotations

__all__: list[str] = []
