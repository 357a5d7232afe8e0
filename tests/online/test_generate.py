"""Generated logs: their truth, and how often intervals hold it."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest
from polars.testing import assert_frame_equal

import rankine as rk
from rankine._online.generate import _no_click
from rankine._online.spreads import wilson
from rankine.errors import ParameterError
from tests.online.logs import user_sums

N_GROUPS, SIZE = 200, 150


@pytest.fixture(scope="module")
def groups() -> pl.DataFrame:
    """Summaries of 200 groups of 150 users who return, next to the truth of all."""
    world = rk.online.generate(N_GROUPS * SIZE, variants={"A": {}}, visits=5, seed=5)
    log = world.events.with_columns(group_of=pl.col("user_id") // SIZE)
    found = rk.online.summarize(log, by="group_of").table
    return found.join(
        world.truth.drop("variant").rename({"value": "truth"}), on="metric"
    )


@pytest.mark.slow
@pytest.mark.parametrize(
    "metric",
    ["ctr", "conversion_rate", "bounce_rate", "engagement_rate", "time_on_page"],
)
def test_intervals_hold_the_truth_as_often_as_they_say(
    metric: str, groups: pl.DataFrame
) -> None:
    own = groups.filter(metric=metric)
    held = ((own["low"] <= own["truth"]) & (own["truth"] <= own["high"])).mean()

    assert own.height == N_GROUPS
    # Three standard errors of 200 draws around 95 %.
    assert 0.904 <= held <= 0.996  # type: ignore[operator]


@pytest.mark.slow
def test_wilson_on_impressions_would_not(groups: pl.DataFrame) -> None:
    own = groups.filter(metric="ctr")
    held = 0
    for value, n, truth in own.select("value", "n", "truth").iter_rows():
        low, high = wilson(round(value * n), n, 0.95)
        held += low <= truth <= high

    assert held / N_GROUPS < 0.85


def test_large_logs_come_near_the_truth() -> None:
    world = rk.online.generate(20_000, seed=3)
    table = rk.online.summarize(world.events).table
    both = table.join(world.truth, on=["metric", "variant"], suffix="_true")
    errors = (both["high"] - both["low"]) / (2 * 1.96)
    off = ((both["value"] - both["value_true"]) / errors).abs()

    assert both.height == 12
    assert off.max() < 4  # type: ignore[operator]


def test_how_likely_no_impression_is_clicked() -> None:
    rng = np.random.default_rng(0)
    rates = rng.beta(1, 9, 400_000)
    shown = 1 + rng.poisson(np.exp(rng.standard_normal(400_000)))

    assert _no_click(0.1, 1.0) == pytest.approx(((1 - rates) ** shown).mean(), abs=2e-3)
    # Without any spread in impressions, J is Poisson(1): the sum over j itself.
    terms = [
        9 / (10 + j) * np.exp(-1) / float(np.prod(np.arange(1.0, j + 1)))
        for j in range(40)
    ]
    assert _no_click(0.1, 0.0) == pytest.approx(sum(terms), rel=1e-12)


def test_the_same_seed_gives_the_same_log() -> None:
    one, again, other = (rk.online.generate(50, seed=seed) for seed in (1, 1, 2))

    assert_frame_equal(one.events, again.events)
    assert not one.events.equals(other.events)


def test_visits_before_have_no_variant() -> None:
    world = rk.online.generate(200, before=True, seed=1)
    found = user_sums(world.events, ["ctr"])

    assert found.frame["ctr.x0"].sum() > 0
    assert set(found.excluded) == {"events before the first exposure"}
    assert rk.online.summarize(world.events).table["users"].unique().to_list() == [200]


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"users": 0}, "users must be an integer of at least 1, got 0"),
        ({"variants": {"A": {"crt": 0.1}}}, "a variant has no 'crt'; .* mean 'ctr'"),
        ({"variants": {"A": {"ctr": 1.0}}}, "ctr must be a number above 0 and below 1"),
        ({"sigma": -1}, "sigma must be a number at least 0"),
    ],
)
def test_worlds_that_cannot_be(given: dict[str, Any], words: str) -> None:
    with pytest.raises(ParameterError, match=words):
        rk.online.generate(**given)
