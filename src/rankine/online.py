"""Metrics of what users did, from a log of events.

import rankine as rk

rk.online.summarize("events.parquet", by="variant")
rk.online.ab_test("events.parquet", control="A", metrics=["ctr"])
"""

from __future__ import annotations

from rankine._online.abresult import ABTest, SampleRatio
from rankine._online.abtest import ab_test

__all__ = ["ABTest", "SampleRatio", "ab_test"]
