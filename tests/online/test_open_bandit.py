"""Click rates of the Open Bandit logs, from counts; the oracle reads the files."""

from __future__ import annotations

import math

import polars as pl
import pytest
from scipy import stats

import rankine as rk

SHOWN = 10_000
CLICKS = {"all": (38, 42), "men": (46, 69), "women": (46, 46)}
"""Clicks of the random policy and of Thompson sampling, in as many impressions each."""


@pytest.mark.parametrize("campaign", CLICKS)
def test_click_rates_and_their_difference(campaign: str) -> None:
    arms = zip(("random", "bts"), CLICKS[campaign], strict=True)
    log = pl.concat(
        pl.DataFrame({"user_id": range(SHOWN), "variant": name}).select(
            pl.format("{}-{}", "variant", "user_id").alias("user_id"),
            "variant",
            event=pl.when(pl.lit(kind))
            .then(pl.lit("click"))
            .otherwise(pl.lit("shown")),
        )[: clicks if kind else SHOWN]
        for name, clicks in arms
        for kind in (False, True)
    )
    test = rk.online.ab_test(log, control="random", metrics=["ctr"]).table
    row = test.row(0, named=True)
    first, second = CLICKS[campaign]
    oracle = stats.ttest_ind(
        [1] * second + [0] * (SHOWN - second),
        [1] * first + [0] * (SHOWN - first),
        equal_var=False,
    )

    assert row["control_value"] == first / SHOWN
    assert row["value"] == second / SHOWN
    assert math.isclose(row["difference"], (second - first) / SHOWN, abs_tol=1e-15)
    assert row["p"] == pytest.approx(oracle.pvalue, rel=1e-9)
    bounds = oracle.confidence_interval(0.95)
    assert (row["low"], row["high"]) == pytest.approx((bounds.low, bounds.high))
