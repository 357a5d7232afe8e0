"""The tests in scipy's shape: against scipy, and against published examples."""

import math
from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.stats
from hypothesis import assume, given
from hypothesis import strategies as st

import rankine
from rankine import stats
from rankine._base.arrays import Floats
from rankine.errors import DataError, ParameterError

# The fifteen p-values of Benjamini and Hochberg 1995, section 3.2, of which they reject
# four and Bonferroni rejects three.
BH_1995 = [
    0.0001, 0.0004, 0.0019, 0.0095, 0.0201, 0.0278, 0.0298, 0.0344, 0.0459, 0.3240,
    0.4262, 0.5719, 0.6528, 0.7590, 1.0000,
]  # fmt: skip

pairs = st.lists(
    st.tuples(st.integers(0, 10), st.integers(0, 10)), min_size=3, max_size=30
)
"""Values of P@10, in tenths."""


def both(rows: list[tuple[int, int]]) -> tuple[Floats, Floats]:
    tenths = np.array(rows, dtype=np.float64)
    return tenths[:, 0] / 10, tenths[:, 1] / 10


@given(pairs)
def test_t_is_scipys(rows: list[tuple[int, int]]) -> None:
    a, b = both(rows)
    moved = {after - before for before, after in rows}
    assume(len(moved) > 1)  # without spread: see below

    found = stats.t(a, b)

    expected = scipy.stats.ttest_rel(b, a)
    assert found.statistic == pytest.approx(expected.statistic, rel=1e-9)
    assert found.pvalue == pytest.approx(expected.pvalue, rel=1e-9)


def test_t_of_one_difference_over_and_over() -> None:
    # 0.3 - 0.2 and 0.2 - 0.1 are not the same float, but are the same difference.
    found = stats.t([0.2, 0.1, 0.4], [0.3, 0.2, 0.5])

    assert found.statistic == math.inf
    assert found.pvalue == 0
    assert stats.t([0.2, 0.1], [0.2, 0.1]) == (0, 1)
    assert all(map(math.isnan, stats.t([0.1], [0.2])))


def test_what_differs_by_rounding_alone_is_the_same() -> None:
    a, b = [0.3, 0.1], [0.1 + 0.2, 0.2]

    assert a[0] != b[0]
    assert stats.sign(a, b) == (1, 1)
    assert stats.randomization(a, b).pvalue == 1


def by_scipy(a: Floats, b: Floats) -> tuple[float, float]:
    """Return the difference of the sums of ranks, and the p-value."""
    # Of whole numbers, where equal differences are equal.
    moved = np.round((b - a) * 1000).astype(int)
    expected = scipy.stats.wilcoxon(moved, zero_method="pratt")
    ranks = scipy.stats.rankdata(np.abs(moved))
    up, down = float(ranks[moved > 0].sum()), float(ranks[moved < 0].sum())
    assert expected.statistic == min(up, down)
    return up - down, float(expected.pvalue)


@given(st.lists(st.tuples(*[st.integers(0, 10)] * 2), min_size=14, max_size=60))
def test_wilcoxon_is_scipys(rows: list[tuple[int, int]]) -> None:
    a, b = both(rows)
    assume((a != b).any())

    assert stats.wilcoxon(a, b) == pytest.approx(by_scipy(a, b))


@pytest.mark.slow
@pytest.mark.parametrize("n", [4, 13, 14, 50, 51])
@pytest.mark.parametrize("digits", [1, 3])
def test_wilcoxon_is_exact_where_scipys_is(n: int, digits: int) -> None:
    # Of one digit, many differences are of one size, and some are 0.
    rng = np.random.default_rng(n)
    a, b = rng.random((2, n)).round(digits)
    if digits > 1:
        b = a + rng.permutation(np.arange(1, n + 1)) * rng.choice([-1, 1], n) / 1000

    assert stats.wilcoxon(a, b) == pytest.approx(by_scipy(a, b))


def test_wilcoxon_without_a_difference_is_sure_of_nothing() -> None:
    assert stats.wilcoxon([0.1, 0.2], [0.1, 0.2]) == (0, 1)


@given(pairs)
def test_sign_is_the_binomial_test(rows: list[tuple[int, int]]) -> None:
    a, b = both(rows)
    wins = sum(after > before for before, after in rows)
    losses = sum(after < before for before, after in rows)

    found = stats.sign(a, b)

    assert found.statistic == wins - losses
    if wins + losses:
        expected = scipy.stats.binomtest(wins, wins + losses).pvalue
        assert found.pvalue == pytest.approx(expected)
    else:
        assert found.pvalue == 1


def test_bootstrap_comes_near_t_where_differences_are_normal() -> None:
    rng = np.random.default_rng(8)
    a = rng.normal(0, 1, 200)
    b = a + rng.normal(0.1, 0.7, 200)

    drawn, student = stats.bootstrap(a, b, draws=20_000), stats.t(a, b)

    assert drawn.statistic == student.statistic
    assert drawn.pvalue == pytest.approx(student.pvalue, abs=0.01)
    assert stats.bootstrap([1, 2], [1, 2], draws=10) == (0, 1)


def test_rounding_does_not_decide_what_a_bootstrap_calls_extreme() -> None:
    # The differences -0.1, -0.1, 0 and 0.2 add up to 0, but not as they are stored:
    # their t is -1e-16, and that of some resamples is 0.
    found = stats.bootstrap([0.2, 0.5, 0, 0.4], [0.1, 0.4, 0, 0.6], draws=300)

    assert found.statistic != 0
    assert found.pvalue == 1


@pytest.mark.parametrize("test", ["randomization", "t", "bootstrap"])
def test_equal_weights_change_nothing(test: str) -> None:
    rng = np.random.default_rng(4)
    a, b = rng.random(30), rng.random(30)
    drawn: dict[str, Any] = {} if test == "t" else {"draws": 500}

    plain = getattr(stats, test)(a, b, **drawn)
    weighted = getattr(stats, test)(a, b, weights=[2.5] * 30, **drawn)

    assert weighted == pytest.approx(plain)


def test_weights_move_the_mean_and_its_error() -> None:
    a, b = np.zeros(3), np.array([1.0, 2.0, 6.0])
    w = np.array([2.0, 1.0, 1.0])
    mean = (2 * 1 + 1 * 2 + 1 * 6) / 4
    base = w * (b - mean) / w.mean()
    error = math.sqrt((base**2).sum() / 2) / math.sqrt(3)

    assert stats.randomization(a, b, weights=w).statistic == pytest.approx(mean)
    assert stats.t(a, b, weights=w).statistic == pytest.approx(mean / error)


@pytest.mark.parametrize("test", ["randomization", "t", "bootstrap"])
def test_a_weight_of_zero_leaves_a_query_out(test: str) -> None:
    rng = np.random.default_rng(14)
    a, b, weights = rng.random(12), rng.random(12), rng.random(12)
    weights[[2, 5, 7]] = 0
    kept = weights > 0
    drawn: dict[str, Any] = {} if test == "t" else {"draws": 300}

    every = getattr(stats, test)(a, b, weights=weights, **drawn)
    some = getattr(stats, test)(a[kept], b[kept], weights=weights[kept], **drawn)

    assert every.statistic == pytest.approx(some.statistic)
    if test != "randomization":  # whose coins are tossed for other queries
        assert every.pvalue == pytest.approx(some.pvalue)


def test_series_with_one_index_are_paired() -> None:
    a, b = pd.Series([1, 2, 4], list("xyz")), pd.Series([2, 2, 7], list("xyz"))

    assert stats.t(a, b) == stats.t([1, 2, 4], [2, 2, 7]) == stats.t(a, [2, 2, 7])


def test_flips_act_on_weighted_differences() -> None:
    # 3 x 1 against -1 - 1: of the 8 flips, sums are +-5, +-3, +-3, +-1.
    found = stats.randomization([0, 1, 1], [1, 0, 0], weights=[3, 1, 1])

    assert found.statistic == pytest.approx((3 - 1 - 1) / 5)
    assert found.pvalue == 1
    assert stats.randomization([0, 0, 0], [1, 1, 1], weights=[3, 1, 1]).pvalue == 2 / 8


def test_maxt_with_a_baseline_compares_with_it_alone() -> None:
    rng = np.random.default_rng(1)
    systems = rng.random((4, 25))

    every = stats.maxt(*systems, draws=2000)
    some = stats.maxt(*systems, draws=2000, baseline=1)

    compared = ~np.isnan(some.pvalue)
    assert compared.sum() == 4 + 2 * 3  # itself, and three others both ways
    assert (some.pvalue[1] <= every.pvalue[1]).all()
    np.testing.assert_allclose(every.statistic, -every.statistic.T)
    means = systems.mean(axis=1)
    assert every.statistic[0, 2] == pytest.approx(means[2] - means[0])


def test_tukey_of_two_systems_is_students_t() -> None:
    a, b = np.random.default_rng(6).random((2, 12))

    found = stats.tukey_hsd(a, b)

    assert found.pvalue[0, 1] == pytest.approx(stats.t(a, b).pvalue, rel=1e-6)
    assert found.statistic[0, 1] == pytest.approx(b.mean() - a.mean())


def test_tukey_takes_queries_out() -> None:
    # Scipy's test without queries, on values from which queries have been taken out,
    # differs by the degrees of freedom alone: 2 x 9 here, 3 x 9 there.
    values = np.random.default_rng(9).random((3, 10))
    left = values - values.mean(axis=0)
    spread = left - left.mean(axis=1, keepdims=True)
    error = math.sqrt((spread**2).sum() / (2 * 9) / 10)

    found = stats.tukey_hsd(*values)

    for row, column in ((0, 1), (0, 2), (1, 2)):
        size = abs(values[row].mean() - values[column].mean()) / error
        expected = scipy.stats.studentized_range.sf(size, 3, 2 * 9)
        assert found.pvalue[row, column] == pytest.approx(expected)


def test_randomized_tukey_comes_near_tukey() -> None:
    values = np.random.default_rng(10).normal(0, 1, (3, 80))
    values[2] += 0.3

    drawn = stats.randomized_tukey_hsd(*values, draws=4000)
    parametric = stats.tukey_hsd(*values)

    np.testing.assert_allclose(drawn.pvalue, parametric.pvalue, atol=0.03)
    np.testing.assert_array_equal(drawn.statistic, parametric.statistic)


def test_what_all_systems_share_changes_nothing() -> None:
    values = np.random.default_rng(15).integers(0, 4, (3, 20)).astype(float)

    near = stats.randomized_tukey_hsd(*values, draws=500)
    far = stats.randomized_tukey_hsd(*(values + 1e9), draws=500)

    np.testing.assert_array_equal(near.pvalue, far.pvalue)


def test_corrections_of_a_published_example() -> None:
    assert (stats.bh(BH_1995) <= 0.05).sum() == 4
    assert (stats.bonferroni(BH_1995) <= 0.05).sum() == 3
    assert (stats.holm(BH_1995) <= 0.05).sum() == 3


@given(st.lists(st.floats(0, 1), min_size=1, max_size=12))
def test_corrections_are_as_their_definitions_say(p: list[float]) -> None:
    n = len(p)
    ranked = sorted(p)

    def holm(value: float) -> float:
        steps = [
            (n - rank) * other for rank, other in enumerate(ranked) if other <= value
        ]
        return min(1.0, max(steps))

    def bh(value: float) -> float:
        steps = [
            n / (rank + 1) * other
            for rank, other in enumerate(ranked)
            if other >= value
        ]
        return min(1.0, *steps)

    assert stats.holm(p).tolist() == pytest.approx([holm(value) for value in p])
    assert stats.bh(p).tolist() == pytest.approx([bh(value) for value in p])
    assert stats.bonferroni(p).tolist() == [min(1.0, n * value) for value in p]


@pytest.mark.parametrize(
    ("test", "expected"),
    [
        ("randomization", 2 / 16),
        ("t", float(scipy.stats.ttest_rel([2, 3, 5, 5], [1, 2, 3, 4]).pvalue)),
        ("wilcoxon", 2 / 16),
        ("sign", 2 / 16),
        ("bootstrap", None),
    ],
)
def test_an_experiment_of_pyterrier_can_call_it(
    test: str, expected: float | None
) -> None:
    # As pt.Experiment(..., baseline=0, test=stats.t) does: arrays of the system and of
    # the baseline, in this order and without names, of which it takes the second part.
    values, baseline = np.array([0.2, 0.3, 0.5, 0.5]), np.array([0.1, 0.2, 0.3, 0.4])

    p = getattr(stats, test)(values, baseline)[1]

    assert p == getattr(stats, test)(baseline, values)[1]
    assert isinstance(p, float)
    assert 0 < p < 1
    assert expected is None or p == pytest.approx(expected)


def test_the_door_is_open() -> None:
    assert rankine.stats is stats
    statistic, pvalue = stats.randomization([0.1, 0.2], [0.3, 0.5])
    assert (statistic, pvalue) == (0.25, 0.5)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: stats.t([1, 2], [1]),
            "a has 2 values and b has 1; give one per query",
        ),
        (
            lambda: stats.t([], []),
            r"a must hold one number per query, got shape \(0,\)",
        ),
        (lambda: stats.t([[1, 2]], [[1, 2]]), r"got shape \(1, 2\)"),
        (lambda: stats.t(["x"], [1]), "a must hold one number per query, but some"),
        (lambda: stats.t(["1"], [1]), "a must hold one number per query, but some"),
        (lambda: stats.holm([]), "pvalues must hold one number per hypothesis"),
        (lambda: stats.t([1e200, 2], [1, 2]), "not finite or too large, the first at"),
        (
            lambda: stats.t(np.ma.masked_array([1, 2], [False, True]), [1, 2]),
            "a is a masked array; leave masked queries out of both sides",
        ),
        (
            lambda: stats.t(pd.Series([1, 2], [0, 1]), pd.Series([1, 2], [1, 0])),
            "a and b have different indexes",
        ),
        (
            lambda: stats.sign([1, math.nan], [1, 2]),
            "a has 1 value that is not finite or too large, the first at place 1: nan",
        ),
        (
            lambda: stats.t([1, 2], [1, 3], weights=[1]),
            "weights must be 2 numbers of at least 0, one per query, and not all 0",
        ),
        (lambda: stats.t([1, 2], [1, 3], weights=[0, 0]), "not all 0"),
        (lambda: stats.t([1, 2], [1, 3], weights=[-1, 1]), "at least 0"),
        (
            lambda: stats.tukey_hsd([1, 2], [1, 2, 3]),
            "all systems must have values for the same queries, got 2, 3 values",
        ),
        (lambda: stats.holm([0.5, 1.5]), "pvalues must be between 0 and 1"),
    ],
)
def test_values_that_cannot_be_compared_are_refused(call: Any, message: str) -> None:
    with pytest.raises(DataError, match=message):
        call()


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: stats.maxt([1, 2]), "at least two systems, got 1"),
        (
            lambda: stats.maxt([1], [2], baseline=2),
            "baseline is 2, but there are only 2",
        ),
        (lambda: stats.randomization([1], [2], draws=0), "draws must be an integer"),
        (lambda: stats.bootstrap([1], [2], seed=-1), "seed must be an integer"),
    ],
)
def test_parameters_that_make_no_sense_are_refused(call: Any, message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        call()
