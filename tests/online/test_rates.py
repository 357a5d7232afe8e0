"""Online metrics as functions: by hand, and Wilson's interval as scipy has it."""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np
import polars as pl
import pytest
from scipy import stats
from scipy.stats import binomtest

import rankine as rk
from rankine._online.spreads import clustered, quantile_of, wilson
from rankine.errors import ParameterError
from tests.online.logs import log

online = rk.online
T1 = float(stats.t.ppf(0.975, 1))
T2 = float(stats.t.ppf(0.975, 2))


@pytest.mark.parametrize(
    ("found", "value", "n"),
    [
        (online.click_through_rate(clicks=30, impressions=1000), 30 / 1000, 1000),
        (online.conversion_rate(conversions=3, units=12), 3 / 12, 12),
        (online.bounce_rate(bounces=0, sessions=5), 0 / 5, 5),
        (online.engagement_rate(engaged=5, sessions=5), 5 / 5, 5),
    ],
)
def test_shares_of_counts(found: rk.online.Rate, value: float, n: int) -> None:
    assert found.value == value
    assert found.n == n
    assert found.interval.low <= value <= found.interval.high
    assert found.notes == ("Wilson's interval from counts: too narrow if users repeat",)


@pytest.mark.parametrize(("hits", "n"), [(0, 1), (0, 9), (1, 3), (30, 1000), (7, 7)])
@pytest.mark.parametrize("confidence", [0.8, 0.95, 0.999])
def test_wilson_is_that_of_scipy(hits: int, n: int, confidence: float) -> None:
    oracle = binomtest(hits, n).proportion_ci(confidence, method="wilson")

    found = wilson(hits, n, confidence)
    np.testing.assert_allclose(found, [oracle.low, oracle.high], rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize("n", range(1, 60))
def test_wilson_ends_where_shares_end(n: int) -> None:
    assert wilson(0, n, 0.95).low == 0
    assert wilson(n, n, 0.95).high == 1


def test_roi_of_totals() -> None:
    assert online.roi(revenue=1500, cost=1000).value == (1500 - 1000) / 1000
    assert online.roi(revenue=1500, cost=1000).n is None
    assert math.isnan(online.roi(revenue=1500, cost=1000).interval.low)
    refunds = online.roi(revenue=-200, cost=1000)
    assert refunds.value == (-200 - 1000) / 1000
    assert "revenue is negative: refunds exceed sales" in refunds.notes


@pytest.mark.parametrize(
    ("found", "why"),
    [
        (
            online.click_through_rate(clicks=0, impressions=0),
            "ctr is undefined: there are no impressions",
        ),
        (
            online.bounce_rate(bounces=0, sessions=0),
            "bounce_rate is undefined: there are no sessions",
        ),
        (online.roi(revenue=5, cost=0), "roi is undefined: cost is 0"),
        (
            online.time_on_page(seconds=[]),
            "time_on_page is undefined: no page view has a next",
        ),
        (
            online.click_through_rate(log("u A 0 impression")),
            "ctr has no interval: there is a single user",
        ),
    ],
)  # fmt: skip
def test_nothing_to_divide_by(found: rk.online.Rate, why: str) -> None:
    assert why in found.notes
    assert math.isnan(found.interval.low)
    assert json.loads(found.to_json())["interval"] == {"low": None, "high": None}
    assert str(found).startswith(f"{found.metric}: ")


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (
            lambda: online.click_through_rate(clicks=5, impressions=3),
            "clicks must be at most impressions, got 5 and 3",
        ),
        (
            lambda: online.click_through_rate(clicks=-1, impressions=3),
            "clicks must be a number at least 0, got -1",
        ),
        (
            lambda: online.bounce_rate(bounces=0.5, sessions=3),
            "bounces must be a count, got 0.5",
        ),
        (
            lambda: online.click_through_rate(clicks=1),
            "ctr takes events, or clicks and impressions",
        ),
        (
            online.click_through_rate,
            "ctr takes events, or clicks and impressions",
        ),
        (
            lambda: online.click_through_rate(clicks=1, impressions=2, cap=3),
            "cap says how a log is read; clicks and impressions are counts",
        ),
        (
            lambda: online.roi(revenue=5, cost=-1),
            "cost must be a number at least 0, got -1",
        ),
        (
            lambda: online.time_on_page(seconds=[-1.0]),
            "seconds must be finite numbers of at least 0",
        ),
        (online.time_on_page, "time_on_page takes events, or seconds"),
        (
            lambda: online.time_on_page(seconds=[1.0], quantile=1),
            "quantile must be a number above 0 and below 1, got 1",
        ),
        (
            lambda: online.click_through_rate(clicks=1, impressions=2, confidence=1),
            "confidence must be a number above 0 and below 1, got 1",
        ),
    ],
)
def test_what_is_refused(call: Any, words: str) -> None:
    with pytest.raises(ParameterError) as caught:
        call()

    assert str(caught.value) == words


# From a log


def test_the_interval_is_that_of_users() -> None:
    # Three users with 2 of 4, 0 of 2 and 1 of 2: R = 3 / 8, mean x = 8 / 3.
    y, x = np.array([2.0, 0.0, 1.0]), np.array([4.0, 2.0, 2.0])
    influences = [2 - 4 * 3 / 8, 0 - 2 * 3 / 8, 1 - 2 * 3 / 8]
    variance = sum(one**2 for one in influences) / 2
    error = math.sqrt(variance / 3) / (8 / 3)

    value, (low, high) = clustered(y, x, 0.95, (0, 1))
    assert value == 3 / 8
    assert low == max(3 / 8 - T2 * error, 0)
    assert high == pytest.approx(3 / 8 + T2 * error, rel=1e-12)


VISITS = log(
    """
    u A 0 pageview a
    u A 1 pageview b
    u A 4 pageview c
    v A 0 pageview a
    v A 2 pageview b
    v A 3 share
    """
)


def test_functions_of_a_log() -> None:
    assert online.time_on_page(VISITS).value == (60 + 180 + 120) / 3
    assert online.time_on_page(VISITS, cap=90).value == (60 + 90 + 90) / 3
    assert online.bounce_rate(VISITS).value == 0 / 2
    assert online.engagement_rate(VISITS).value == 1 / 2
    assert online.engagement_rate(VISITS, engaged=240).value == 1 / 2
    assert online.engagement_rate(VISITS, engaged=["share"]).n == 2
    bought = VISITS.vstack(log("u A 5 purchase"))
    assert online.conversion_rate(bought).value == 1 / 2
    assert online.conversion_rate(bought, unit="sessions").value == 1 / 2
    spent = bought.with_columns(cost=pl.lit(1.0), value=pl.lit(21.0))
    assert online.roi(spent).value == (21 - 7) / 7


def test_a_median_of_a_log() -> None:
    found = online.time_on_page(VISITS, quantile=0.5)

    assert found.value == 120
    assert found.n == 3


def test_the_interval_of_a_quantile_comes_from_the_share_below() -> None:
    # Two users, 0..49 and 50..99: of the first all are below the median of 49.
    times = np.arange(100.0)
    users = np.repeat([0, 1], 50)
    value, bounds = quantile_of(times, users, 0.5, 0.95)

    assert value == 49
    assert tuple(bounds) == (0.0, 99.0)  # users differ as much as they can
    # One page view for each user: the share has the error sqrt(p (1 - p) / (n - 1)).
    _, (low, high) = quantile_of(times, np.arange(100), 0.5, 0.95)
    reach = stats.norm.ppf(0.975) * math.sqrt(0.25 / 99)
    assert low == math.ceil(100 * (0.5 - reach)) - 1
    assert high == math.ceil(100 * (0.5 + reach)) - 1


@pytest.mark.parametrize("largest", [0, 1])
def test_each_end_of_the_interval_of_a_quantile_has_its_own_error(largest: int) -> None:
    # 45 of 100 are below the median of 5, with the error sqrt(0.45 x 0.55 / 99): the
    # lower end is at the share 0.40. 99 or all are up to it, with 0.01 or 0: the upper
    # end is at 0.52 or 0.5.
    times = np.repeat([0.0, 5.0, 9.0], [45, 55 - largest, largest])
    value, bounds = quantile_of(times, np.arange(100), 0.5, 0.95)

    assert (value, *bounds) == (5, 0, 5)


def test_a_quantile_has_no_interval_if_users_do_not_differ() -> None:
    times, users = np.tile([1.0, 5.0, 5.0, 9.0], 3), np.repeat([0, 1, 2], 4)

    assert math.isnan(quantile_of(times, users, 0.5, 0.95)[1].low)
    assert math.isnan(quantile_of(times, np.zeros(12, np.int64), 0.5, 0.95)[1].low)


def test_seconds_alone() -> None:
    found = online.time_on_page(seconds=[10, 30])

    assert found.value == 20
    assert found.interval.low == 0
    assert found.interval.high == pytest.approx(20 + T1 * 10, rel=1e-12)
