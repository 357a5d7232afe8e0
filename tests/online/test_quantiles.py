"""A/B tests of quantiles: the draws, by hand, and values that many users share."""

from __future__ import annotations

import math
from collections import Counter
from itertools import product
from typing import Any

import numpy as np
import polars as pl
import pytest

import rankine as rk
from rankine._online.quantiles import DRAWS, Quantile, QuantileEffect

PRICES = [9.99, 19.99, 29.99, 49.99]


def effect_of(a: Any, b: Any) -> QuantileEffect:
    """Return the effect of two arms with these draws."""
    first, second = (
        Quantile(float(np.median(draws)), np.asarray(draws, np.float64), 100, 0.0)
        for draws in (a, b)
    )
    few, zero, nothing = np.array(0, np.bool_), np.array(0.0), np.array(math.nan)
    return QuantileEffect(
        first.arm, second.arm, few, zero, nothing, nothing, nothing, first, second
    )


def users(values: Any, arms: Any = None) -> pl.DataFrame:
    n = len(values)
    arm = ["AB"[place % 2] for place in range(n)] if arms is None else arms
    return pl.DataFrame({"id": range(n), "arm": arm, "y": values})


def ab(frame: pl.DataFrame, share: float = 0.5, **options: Any) -> Any:
    return rk.online.ab_test(
        frame, unit="id", variant="arm", control="A", metrics={"m": ("y", share)},
        **options,
    )  # fmt: skip


# The draws


@pytest.mark.parametrize(("n", "share"), [(3, 0.5), (4, 0.5), (5, 0.9), (4, 0.2)])
def test_draws_are_those_of_all_bootstrap_samples(n: int, share: float) -> None:
    values = np.arange(float(n))
    place = math.ceil(n * share) - 1
    every = Counter(sorted(sample)[place] for sample in product(values, repeat=n))

    found = Counter(Quantile.of(values, share, np.random.default_rng(0)).draws.tolist())

    for value, happens in every.items():
        expected = happens / n**n
        error = math.sqrt(expected * (1 - expected) / DRAWS)
        assert found[value] / DRAWS == pytest.approx(expected, abs=4 * error)


def test_a_quantile_is_the_least_value_that_enough_users_do_not_exceed() -> None:
    frame = users([1, 10, 2, 20, 3, 30, 4, 40, 5, 50])

    for share, first in ((0.2, 1), (0.21, 2), (0.4, 2), (0.5, 3), (0.99, 5)):
        row = ab(frame, share).details.row(0, named=True)
        assert (row["control_value"], row["value"]) == (first, 10 * first)


def test_interval_and_p_by_hand() -> None:
    # Differences -199, -198, ..., 9,799: the 250th is 50, the 9,750th is 9,550.
    effect = effect_of(np.zeros(DRAWS), np.arange(-199, 9_800))

    assert tuple(map(float, effect.bounds(0.05))) == (50, 9_550)
    assert tuple(map(float, effect.bounds(1 - 0.9))) == (300, 9_300)
    # 200 of them are at most 0.
    assert effect.p() == 2 * 201 / 10_000
    # 100 of them are at most -100; against lower is better, 9,700 are at least 100.
    not_worse, _ = effect.p_not_worse(size=100, relative=False, higher=True)
    assert not_worse == 101 / 10_000
    not_worse, _ = effect.p_not_worse(size=100, relative=False, higher=False)
    assert not_worse == 9_701 / 10_000
    assert effect_of(np.zeros(DRAWS), np.zeros(DRAWS)).p() == 1


def test_a_relative_margin_and_a_lift_by_hand() -> None:
    # Ratios 0.8001, 0.8002, ..., 1.7999, of a control of 10,000 in every draw.
    effect = effect_of(np.full(DRAWS, 1e4), np.arange(8_001, 18_000))
    lift, low, high = map(float, effect.lift(0.05, "delta"))

    assert lift == pytest.approx(1.3 - 1)
    assert low == pytest.approx(0.8250 - 1)
    assert high == pytest.approx(1.7750 - 1)
    # Of 0.8001 to 0.9000, 1,000 are at most 0.9.
    p, _ = effect.p_not_worse(size=0.1, relative=True, higher=True)
    assert p == 1_001 / 10_000


def test_there_is_no_lift_of_a_control_that_can_be_0() -> None:
    test = ab(users([0] * 20 + [7] * 22))
    row = test.details.row(0, named=True)

    assert row["control_value"] == 7
    assert all(math.isnan(row[name]) for name in ("lift", "lift_low", "lift_high"))
    assert any("no lift, as the quantile of the control can be 0" in note
               for note in test.notes)  # fmt: skip


# Users who are tied


def test_an_interval_from_0_to_0_is_one_and_says_who_is_tied() -> None:
    test = ab(users([1] * 8 + [5] * 80 + [9] * 12))
    row = test.details.row(0, named=True)

    assert (row["difference"], row["low"], row["high"], row["p"]) == (0, 0, 0, 1)
    assert (row["error"], row["verdict"]) == (0, "cannot tell")
    assert test.notes[-1] == (
        "m: the interval has no width, as 80.0 % of the control's and 80.0 % of the "
        "variant's users are tied at the quantile; compare the mean, which every user "
        "moves"
    )


def test_arms_that_are_tied_at_different_values_differ() -> None:
    row = ab(users([1, 2] * 50)).details.row(0, named=True)

    assert (row["low"], row["high"], row["p"]) == (1, 1, 2 / 10_000)
    assert (row["lift_low"], row["lift_high"], row["verdict"]) == (1, 1, "better")


@pytest.mark.slow
@pytest.mark.parametrize("share", [0.25, 0.5, 0.9])
def test_random_halves_of_tied_prices_are_rarely_called_different(share: float) -> None:
    prices = np.random.default_rng(0).choice(PRICES, 10_000)
    found = rk.online.calibrate(users(prices), {"m": ("y", share)}, n=200, unit="id")
    row = found.table.row(0, named=True)

    assert row["n"] == 200
    assert row["false_alarms"] <= 0.065
    # A quarter has each price.
    assert found.tied["m"] == pytest.approx(0.25, abs=0.02)
    assert "too few" not in str(found)
    assert str(found).endswith("% of users are tied at the quantile")


def test_random_halves_of_continuous_values_are_called_different_at_times() -> None:
    spent = np.random.default_rng(0).lognormal(0, 1, 2_000)
    found = rk.online.calibrate(users(spent), {"m": ("y", 0.5)}, n=400, unit="id")

    # 5 % with a standard error of 1.1 %.
    assert 0.02 <= found.table["false_alarms"].item() <= 0.085


# Seeds, few users, and how many are needed


def test_draws_depend_on_the_seed_alone() -> None:
    frame = users(np.random.default_rng(0).gamma(1, 10, 500))
    names = ["low", "high", "p", "lift_low", "lift_high", "error"]

    def numbers(data: pl.DataFrame, **options: Any) -> Any:
        return ab(data, **options).details.select(names).row(0)

    assert numbers(frame) == numbers(frame[::-1]) == numbers(frame, seed=0)
    assert numbers(frame) != numbers(frame, seed=1)
    both = rk.online.ab_test(
        frame, unit="id", variant="arm", control="A",
        metrics={"p90": ("y", 0.9), "m": ("y", 0.5), "mean": "y"},
    )  # fmt: skip
    assert both.details.filter(metric="m").select(names).row(0) == numbers(frame)
    assert both.quantiles == {"p90": 0.9, "m": 0.5}
    assert both.to_dict()["quantiles"] == {"p90": 0.9, "m": 0.5}
    assert "p90, m by 9,999 draws" in " ".join(str(both).split())
    assert "Welch" in str(both)
    assert "Welch" not in str(ab(frame))


@pytest.mark.parametrize("arms", ["ABBB", "AAAB"])
def test_one_user_has_a_quantile_but_no_interval(arms: str) -> None:
    test = ab(users([1, 2, 3, 4], [*arms]))
    row = test.details.row(0, named=True)

    assert row["control_value"] == {"ABBB": 1, "AAAB": 2}[arms]
    assert all(math.isnan(row[name]) for name in ("low", "high", "p", "lift_low"))
    assert row["verdict"] == "cannot tell"
    assert test.notes == ("m: no interval and no p-value, as an arm has one user",)


def test_too_few_draws_for_a_level_give_no_interval() -> None:
    test = ab(users([1, 2] * 50), confidence=0.9999)

    assert math.isnan(test.details["low"].item())
    assert any("no interval: 9,999 draws give one at a confidence of up to 0.9998"
               in note for note in test.notes)  # fmt: skip


def test_as_many_users_as_a_quantile_needs() -> None:
    # A median of normal values has the variance pi / 2 / n: pi / 2 as many as a mean.
    values = np.random.default_rng(0).normal(10, 2, 40_000)
    median, mean = rk.online.users_needed(
        users(values), effect=0.1, unit="id", metrics={"m": ("y", 0.5), "mean": "y"}
    )

    # The bootstrap of a quantile is noisy itself: its error falls with n^(1/4) alone.
    assert median.users is not None
    assert mean.users is not None
    assert median.users / mean.users == pytest.approx(math.pi / 2, rel=0.3)


@pytest.mark.parametrize("as_test", [False, True])
def test_no_number_of_users_for_a_quantile_that_never_changes(as_test: bool) -> None:  # noqa: FBT001 - a case
    prices = users(np.repeat(PRICES, 500))
    data = ab(prices, 0.6) if as_test else prices
    options: Any = {} if as_test else {"metrics": {"m": ("y", 0.6)}, "unit": "id"}
    (found,) = rk.online.users_needed(data, effect=1, **options)

    assert found.users is None
    assert found.note == (
        "the quantile never changes in bootstrap samples, as too many users are tied "
        "at it; use the mean"
    )
