"""Metrics of what users did, from a log of events.

import rankine as rk

rk.online.summarize("events.parquet", by="variant")
rk.online.click_through_rate(clicks=30, impressions=1000)
"""

from __future__ import annotations

from rankine._online.abresult import ABTest, SampleRatio
from rankine._online.abtest import ab_test
from rankine._online.calibrate import Calibration, calibrate
from rankine._online.clicks import ClickJudgements, judgments_from_clicks
from rankine._online.funnel import Funnel, funnel
from rankine._online.generate import Generated, generate
from rankine._online.interleaving import (
    Interleaved,
    Preference,
    interleave,
    interleaving_test,
)
from rankine._online.needed import UsersNeeded, users_needed
from rankine._online.positions import ClickMetrics, click_metrics
from rankine._online.rates import (
    Rate,
    bounce_rate,
    click_through_rate,
    conversion_rate,
    engagement_rate,
    roi,
    time_on_page,
)
from rankine._online.side_by_side import side_by_side
from rankine._online.sources import Query, from_sql
from rankine._online.summary import Accumulator, Summary, summarize
from rankine._online.table import users
from rankine._online.ubi import UbiLog, from_ubi

__all__ = [
    "ABTest", "Accumulator", "Calibration", "ClickJudgements", "ClickMetrics",
    "Funnel", "Generated", "Interleaved", "Preference", "Query", "Rate", "SampleRatio",
    "Summary", "UbiLog", "UsersNeeded", "ab_test", "bounce_rate", "calibrate",
    "click_metrics", "click_through_rate", "conversion_rate", "engagement_rate",
    "from_sql", "from_ubi", "funnel", "generate", "interleave", "interleaving_test",
    "judgments_from_clicks", "roi", "side_by_side", "summarize", "time_on_page",
    "users", "users_needed",
]  # fmt: skip
