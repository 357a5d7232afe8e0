"""Metrics of what users did, from a log of events.

import rankine as rk

rk.online.summarize("events.parquet", by="variant")
rk.online.ab_test("events.parquet", control="A", metrics=["ctr"])
"""

from __future__ import annotations

from rankine._online.abresult import ABTest, SampleRatio
from rankine._online.abtest import ab_test
from rankine._online.calibrate import Calibration, calibrate
from rankine._online.clicks import (
    ClickJudgements,
    ClickMetrics,
    click_metrics,
    judgments_from_clicks,
)
from rankine._online.interleaving import (
    Interleaved,
    Preference,
    interleave,
    interleaving_test,
)
from rankine._online.needed import UsersNeeded, users_needed

__all__ = [
    "ABTest", "Calibration", "ClickJudgements", "ClickMetrics", "Interleaved",
    "Preference", "SampleRatio", "UsersNeeded", "ab_test", "calibrate",
    "click_metrics", "interleave", "interleaving_test", "judgments_from_clicks",
    "users_needed",
]  # fmt: skip
