"""Intervals that hold for all pairs of a family at once, beside those of one pair."""

import math
from itertools import product
from typing import Any

import numpy as np
import pytest
import scipy.stats
from hypothesis import given, settings
from hypothesis import strategies as st

from rankine._base.arrays import Floats
from rankine._base.limits import limited
from rankine._stats.flips import critical_t, stepped_down_p
from rankine._stats.jackknife import Whole
from rankine._stats.paired import Differences, bootstrap_p
from rankine._stats.pairwise import Pairwise, Settings, compare_values
from rankine.errors import ParameterError

SPREAD = np.array([-1.0, 1.0] * 10)
"""Twenty differences with a mean of 0 and a standard deviation of sqrt(20 / 19)."""
ERROR = math.sqrt(20 / 19 / 20)


def compared(rows: Any, test: str = "t", **fields: Any) -> Pairwise:
    """Compare systems with a baseline of zeros."""
    d = np.asarray(rows, dtype=np.float64)
    values = np.concatenate([np.zeros((1, d.shape[1])), d])[None]
    how = Settings(test, intervals="simultaneous", **fields)
    return compare_values(values, how, baseline=0)


@pytest.mark.parametrize("test", ["t", "randomization", "wilcoxon", "sign"])
@pytest.mark.parametrize("correction", ["holm", "bonferroni"])
def test_with_holm_they_are_intervals_at_bonferronis_level(
    test: str, correction: str
) -> None:
    found = compared(
        [0.5 + SPREAD, -SPREAD, SPREAD], test, correction=correction, draws=100
    )

    # Three pairs: 1 - 0.05 / 3, half of the rest on each side.
    reach = scipy.stats.t.ppf(1 - 0.05 / 3 / 2, 19) * ERROR
    assert found.low_all == pytest.approx([0.5 - reach, -reach, -reach])
    assert found.high_all == pytest.approx([0.5 + reach, reach, reach])
    # The interval of the pair alone stays what it was.
    alone = scipy.stats.t.ppf(0.975, 19) * ERROR
    assert found.low == pytest.approx([0.5 - alone, -alone, -alone])


def test_a_pair_alone_has_one_interval() -> None:
    found = compared([0.5 + SPREAD])

    assert found.low_all.tolist() == found.low.tolist()
    assert found.high_all.tolist() == found.high.tolist()


def test_pairs_without_a_p_value_do_not_count() -> None:
    one = np.full(20, np.nan)
    one[0] = 0.5

    found = compared([SPREAD, SPREAD, one])

    reach = scipy.stats.t.ppf(1 - 0.05 / 2 / 2, 19) * ERROR
    assert found.n_tested.tolist() == [2, 2, 2]
    assert found.high_all[:2] == pytest.approx([reach, reach])
    assert np.isnan(found.high_all[2])


@pytest.mark.parametrize(("family", "n"), [("metric", 1), ("all", 2)])
def test_the_family_decides_how_many_pairs_there_are(family: str, n: int) -> None:
    values = np.stack([[np.zeros(20), SPREAD], [np.zeros(20), 0.3 + SPREAD]])
    how = Settings("t", family=family, intervals="simultaneous")

    found = compare_values(values, how)

    reach = scipy.stats.t.ppf(1 - 0.05 / n / 2, 19) * ERROR
    assert found.n_tested.tolist() == [n, n]
    assert found.high_all == pytest.approx([reach, 0.3 + reach])


def test_with_the_bootstrap_they_are_its_own_at_that_level() -> None:
    rows = np.random.default_rng(3).exponential(1, (2, 30)) - 0.5

    found = compared(rows, "bootstrap", draws=800, seed=4)

    _, bounds = bootstrap_p(Differences(rows), 800, 4, 1 - 0.05 / 2)
    assert found.low_all.tolist() == [interval.low for interval in bounds]
    assert found.high_all.tolist() == [interval.high for interval in bounds]
    assert (found.low_all < found.low).all()


def test_numbers_of_whole_runs_have_them_by_the_normal_distribution() -> None:
    # d is 0.2, and 0.1, 0.2 and 0.3 without one of the users.
    whole = Whole(np.array([0.5, 0.7]), np.array([[0.5, 0.5, 0.4], [0.6, 0.7, 0.7]]))
    values = np.stack([np.full((2, 20), np.nan), [np.zeros(20), SPREAD]])
    how = Settings("t", family="all", intervals="simultaneous")

    found = compare_values(values, how, wholes={0: whole})

    error = math.sqrt(2 / 3 * (0.1**2 + 0.1**2))
    expected = scipy.stats.norm.interval(1 - 0.05 / 2, 0.2, error)
    assert (found.low_all[0], found.high_all[0]) == pytest.approx(expected)
    reach = scipy.stats.t.ppf(1 - 0.05 / 2 / 2, 19) * ERROR
    assert found.high_all[1] == pytest.approx(reach)


@pytest.mark.parametrize("test", ["tukey_hsd", "randomized_tukey_hsd"])
def test_intervals_of_tukeys_tests_hold_for_all_pairs_already(test: str) -> None:
    found = compared([0.5 + SPREAD, -SPREAD], test, draws=100)

    assert found.low_all.tolist() == found.low.tolist()
    assert found.high_all.tolist() == found.high.tolist()
    assert not np.isnan(found.low_all).any()


def test_they_are_undefined_where_nobody_asked() -> None:
    values = np.stack([np.zeros(20), SPREAD])[None]

    found = compare_values(values, Settings("t"))

    assert np.isnan([found.low_all, found.high_all]).all()


@pytest.mark.parametrize("correction", ["bh", "none"])
def test_corrections_without_such_intervals_are_refused(correction: str) -> None:
    with pytest.raises(
        ParameterError,
        match="intervals='simultaneous' needs a correction that limits the risk of any "
        f"error, one of holm, bonferroni, maxt; got correction='{correction}'",
    ):
        Settings(correction=correction, intervals="simultaneous").check()


def test_other_intervals_are_refused() -> None:
    with pytest.raises(ParameterError, match="intervals must be one of pair, simult"):
        Settings(intervals="simultanous").check()


def quantile_by_hand(rows: Floats, alpha: float) -> float:
    """Go through all flips: the largest t that more than alpha of them reach."""
    n = rows.shape[1]
    largest = []
    for signs in product((1, -1), repeat=n):
        sizes = []
        for row in rows:
            flipped = row * np.array(signs)
            error = flipped.std(ddof=1) / math.sqrt(n)
            sizes.append(abs(flipped.mean()) / error if error > 1e-12 else math.inf)
        largest.append(max(sizes))
    reached = (
        value
        for value in largest
        if sum(other >= value * (1 - 1e-9) for other in largest) > alpha * len(largest)
    )
    return max(reached)


@settings(max_examples=25, deadline=None)
@given(
    st.integers(0, 10_000),
    st.integers(3, 7),
    st.integers(1, 3),
    st.sampled_from([0.05, 0.1, 0.25, 0.5]),
)
def test_maxt_takes_the_quantile_of_the_largest_t_over_all_flips(
    seed: int, n: int, n_rows: int, alpha: float
) -> None:
    rows = np.random.default_rng(seed).normal(0.4, 1, (n_rows, n))
    one = np.zeros(n_rows, dtype=np.int64)

    found = critical_t(rows, np.full(n_rows, n), 1 << 8, 0, alpha, one)

    assert found == pytest.approx([quantile_by_hand(rows, alpha)] * n_rows)


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("draws", [200, 1 << 13])
@pytest.mark.parametrize("confidence", [0.95, 0.8])
def test_an_interval_by_maxt_leaves_0_out_where_the_first_step_finds_a_pair(
    seed: int, draws: int, confidence: float
) -> None:
    # With 12 queries, 2^12 flips are all gone through if there may be as many.
    rows = np.random.default_rng(seed).normal(0.45, 1, (4, 12))

    found = compared(
        rows, "randomization", correction="maxt", draws=draws, confidence=confidence
    )

    outside = (found.low_all > 0) | (found.high_all < 0)
    alpha = round(1 - confidence, 12)
    # The first step compares the most extreme t; later steps can only find more.
    assert outside.any() == (found.p_corrected.min() <= alpha)
    assert (found.p_corrected[outside] <= alpha).all()


def test_maxt_by_hand() -> None:
    # 1, 2, 3 and 4 have sums of 10, 8, 6, 4 (twice), 2 (twice) and 0 (twice) under 16
    # flips, each with both signs; a quarter of them are beyond a sum of 6.
    d = np.array([1.0, 2.0, 3.0, 4.0])

    found = compared(
        [d], "randomization", correction="maxt", draws=100, confidence=0.75
    )

    # A flip does not change the sum of squares, 30, from which the error follows.
    t = (6 / 4) / math.sqrt((30 - 6**2 / 4) / (4 * 3))
    error = math.sqrt((30 - 10**2 / 4) / (4 * 3))
    assert found.low_all == pytest.approx([2.5 - t * error])
    assert found.high_all == pytest.approx([2.5 + t * error])


def test_too_few_flips_give_no_interval() -> None:
    # Two of 2^4 flips are as extreme as any: never as rare as 0.05.
    found = compared(
        [[0.1, 0.2, 0.2, 0.3], [0.0] * 4], "randomization", correction="maxt"
    )
    same = compared([[0.1] * 4], "randomization", correction="maxt")

    assert not found.low_all[0] > 0
    assert (found.low_all[1], found.high_all[1]) == (0, 0)
    assert (same.low_all[0], same.high_all[0]) == pytest.approx((0.1, 0.1))


def test_families_of_maxt_have_their_own_t() -> None:
    rng = np.random.default_rng(12)
    rows, n = rng.normal(0.2, 1, (7, 40)), np.full(7, 40)
    families = np.array([1, 0, 1, 2, 0, 1, 2])

    together = critical_t(rows, n, 3000, 5, 0.05, families)

    for family in range(3):
        own = families == family
        apart = critical_t(rows[own], n[own], 3000, 5, 0.05, families[own])
        assert together[own] == pytest.approx(apart, rel=1e-12)
    with limited(flipped_cells=1000):
        parts = critical_t(rows, n, 3000, 5, 0.05, families)
    assert parts == pytest.approx(together, rel=1e-12)


def test_near_duplicates_cost_maxt_nothing() -> None:
    # Ten copies of one pair are one pair; Bonferroni would take a tenth of alpha.
    d = np.random.default_rng(2).normal(0.3, 1, (1, 60))
    options: Any = {"correction": "maxt", "draws": 2000}

    alone = compared(d, "randomization", **options)
    copies = compared(np.tile(d, (10, 1)), "randomization", **options)

    assert copies.low_all == pytest.approx([alone.low_all[0]] * 10)
    bonferroni = compared(np.tile(d, (10, 1)), "t")
    assert bonferroni.low_all[0] < copies.low_all[0]


@pytest.mark.parametrize("correction", ["holm", "maxt"])
def test_they_hold_all_differences_at_once_as_often_as_they_say(
    correction: str,
) -> None:
    rng, truth = np.random.default_rng(1), np.array([0, 0.3, 0.6, 0, 1])
    rounds, at_once, alone = 400, 0, 0
    for _ in range(rounds):
        rows = rng.normal(0, 1, (5, 25)) + truth[:, None]
        found = compared(rows, "randomization", correction=correction, draws=399)
        at_once += int(((found.low_all <= truth) & (truth <= found.high_all)).all())
        alone += int(((found.low <= truth) & (truth <= found.high)).all())

    # Three standard errors of a share of 95 % are 3.3 points; alone, all five hold in
    # about 0.95^5 = 77 % of rounds.
    assert 0.917 <= at_once / rounds <= 0.983
    assert alone / rounds < 0.87


def test_step_down_p_values_use_the_same_flips() -> None:
    rows = np.random.default_rng(8).normal(0.3, 1, (3, 80))
    n, one = np.full(3, 80), np.zeros(3, dtype=np.int64)
    t = np.abs(rows.mean(axis=1)) / (rows.std(axis=1, ddof=1) / math.sqrt(80))
    p = stepped_down_p(rows, n, 999, 6).min()

    # At p the largest t is beyond it, and at any smaller alpha it is not.
    assert t.max() > critical_t(rows, n, 999, 6, p, one)[0]
    assert t.max() <= critical_t(rows, n, 999, 6, p - 1 / 1000, one)[0]
