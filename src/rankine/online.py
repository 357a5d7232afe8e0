"""Metrics of what users did, from a log of events.

import rankine as rk

rk.online.summarize("events.parquet", by="variant")
rk.online.ab_test("events.parquet", control="A", metrics=["ctr"])
"""

from __future__ import annotations

from rankine._online.abresult import ABTest, SampleRatio
from rankine._online.abtest import ab_test
from rankine._online.calibrate import Calibration, calibrate
from rankine._online.needed import UsersNeeded, users_needed

__all__ = [
    "ABTest", "Calibration", "SampleRatio", "UsersNeeded", "ab_test", "calibrate",
    "users_needed",
]  # fmt: skip
