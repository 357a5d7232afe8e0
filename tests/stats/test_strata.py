"""Means over strata: their differences, errors, degrees of freedom and intervals."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import t as student

from rankine._stats.intervals import Sample, intervals, macro_interval
from rankine._stats.paired import Differences, one_sided_p, randomization_p, t_p
from rankine._stats.pairwise import Settings, compare_values
from rankine.errors import ParameterError

if TYPE_CHECKING:
    from rankine._base.arrays import Floats

# Means 2 and 15, variances 1 and 50.
D = np.array([[1.0, 2.0, 3.0, 10.0, 20.0]])
STRATA = np.array([0, 0, 0, 1, 1])
VARIANCES = (1 / 3, 50 / 2)
"""Of the two means."""
DF = sum(VARIANCES) ** 2 / (VARIANCES[0] ** 2 / 2 + VARIANCES[1] ** 2 / 1)


def test_a_mean_is_that_of_the_strata() -> None:
    d = Differences(D, strata=STRATA)

    assert d.mean == pytest.approx((2 + 15) / 2)
    assert d.error == pytest.approx(math.sqrt(sum(VARIANCES) / 4))
    assert d.df == pytest.approx(DF)
    assert d.deviation == pytest.approx(math.sqrt(sum(VARIANCES) / 4 * 5))
    assert [d.n[0], d.n_moved[0], d.wins[0]] == [5, 5, 5]


def test_an_interval_and_p_are_students_with_satterthwaites_df() -> None:
    d = Differences(D, strata=STRATA)
    error = math.sqrt(sum(VARIANCES)) / 2

    low, high = d.interval(0.9)

    reach = student.ppf(0.95, DF) * error
    assert [low[0], high[0]] == pytest.approx([8.5 - reach, 8.5 + reach])
    assert t_p(d) == pytest.approx(2 * student.sf(8.5 / error, DF))
    above, below = one_sided_p(d, 5.0)
    assert above == pytest.approx(student.sf(3.5 / error, DF))
    assert below == pytest.approx(student.cdf(3.5 / error, DF))


def test_flips_of_signs_are_those_of_the_mean_over_strata() -> None:
    # The parts of the five in the mean are 1/6, 2/6, 3/6, 10/4 and 20/4. Of 32 flips,
    # only those that leave both large ones are as extreme as 8.5: all + or all -.
    parts = D[0] / np.array([6, 6, 6, 4, 4])
    signs = (np.arange(32)[:, None] >> np.arange(5) & 1) * 2 - 1
    extreme = np.abs(signs @ parts) >= 8.5 - 1e-12

    p = randomization_p(Differences(D, strata=STRATA), 1000, 0)

    assert p == extreme.sum() / 32 == 2 / 32


def test_the_sizes_of_strata_do_not_matter() -> None:
    few = Differences(D, strata=STRATA)
    many = Differences(np.repeat(D, 3, axis=1), strata=np.repeat(STRATA, 3))

    assert many.mean == pytest.approx(few.mean)


def test_weights_count_inside_a_stratum_alone() -> None:
    weights = np.array([1.0, 1.0, 2.0, 5.0, 15.0])

    d = Differences(D, weights, STRATA)

    first, second = (1 + 2 + 6) / 4, (50 + 300) / 20
    assert d.mean == pytest.approx((first + second) / 2)
    # The variance of a weighted mean: n / (n - 1) of the sum of (w (d - mean) / W)^2.
    parts = [
        n / (n - 1) * sum((w * (x - mean) / total) ** 2 for w, x in pairs)
        for n, mean, total, pairs in (
            (3, first, 4, [(1, 1), (1, 2), (2, 3)]),
            (2, second, 20, [(5, 10), (15, 20)]),
        )
    ]
    assert d.error == pytest.approx(math.sqrt(sum(parts)) / 2)
    scaled = weights * np.array([1, 1, 1, 9, 9])
    assert Differences(D, scaled, STRATA).mean == pytest.approx(d.mean)


def test_a_query_that_is_not_paired_leaves_the_rest_of_its_stratum() -> None:
    d = Differences(np.array([[1.0, np.nan, 3.0, 10.0, 20.0]]), strata=STRATA)

    assert d.mean == pytest.approx((2 + 15) / 2)
    assert d.error == pytest.approx(math.sqrt((2 / 2 + 50 / 2) / 4))


def test_without_a_stratum_there_is_no_mean() -> None:
    values = np.array([[1.0, 2.0, 3.0, np.nan, np.nan], D[0]])

    d = Differences(values, strata=STRATA)

    assert np.isnan(d.mean[0])
    assert d.n.tolist() == [0, 5]
    assert np.isnan(randomization_p(d, 100, 0)).tolist() == [True, False]
    assert d.mean[1] == pytest.approx(8.5)


def test_with_one_query_in_a_stratum_there_is_a_mean_but_no_error() -> None:
    d = Differences(D[:, :4], strata=STRATA[:4])

    assert d.mean == pytest.approx((2 + 10) / 2)
    assert np.isnan(d.error)
    assert np.isnan(t_p(d))
    assert randomization_p(d, 100, 0) == 2 / 2**4


def test_without_any_difference_p_is_1() -> None:
    d = Differences(np.zeros((1, 5)), strata=STRATA)

    assert [d.error[0], d.df[0]] == [0, 3]
    assert t_p(d) == randomization_p(d, 100, 0) == 1


numbers = st.floats(-10, 10, allow_nan=False).map(lambda x: round(x, 3))


@given(st.lists(numbers, min_size=2, max_size=12), st.booleans())
def test_one_stratum_is_a_plain_sample(values: list[float], weighted: bool) -> None:  # noqa: FBT001
    row = np.array([values])
    weights = np.arange(1.0, len(values) + 1) if weighted else None

    one = Differences(row, weights, np.zeros(len(values), dtype=np.int64))
    plain = Differences(row, weights)

    for name in ("mean", "error", "df", "deviation", "effect"):
        wanted = getattr(plain, name)
        np.testing.assert_allclose(getattr(one, name), wanted, rtol=1e-9, atol=1e-9)
    same = randomization_p(one, 500, 1), randomization_p(plain, 500, 1)
    np.testing.assert_allclose(*same)


@given(st.lists(st.lists(numbers, min_size=2, max_size=8), min_size=1, max_size=4))
def test_the_variance_is_the_sum_of_those_of_the_strata(
    strata: list[list[float]],
) -> None:
    row = np.array([[value for values in strata for value in values]])
    of = np.repeat(np.arange(len(strata)), [len(values) for values in strata])

    d = Differences(row, strata=of)

    errors = [Differences(np.array([values])).error[0] for values in strata]
    means = [Differences(np.array([values])).mean[0] for values in strata]
    wanted = math.sqrt(sum(error**2 for error in errors)) / len(strata)
    np.testing.assert_allclose(d.error, wanted, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(d.mean, np.mean(means), rtol=1e-9, atol=1e-9)


def test_pairs_are_compared_by_their_strata() -> None:
    values = np.stack([np.zeros(5), D[0]])[None]

    pairs = compare_values(values, Settings("t", "none"), strata=STRATA)

    assert pairs.difference == pytest.approx(8.5)
    assert pairs.p == pytest.approx(t_p(Differences(D, strata=STRATA)))
    plain = compare_values(values, Settings("t", "none"))
    assert plain.difference == pytest.approx(36 / 5)


@pytest.mark.parametrize("test", ["bootstrap", "wilcoxon", "sign", "tukey_hsd"])
def test_tests_that_know_no_strata_are_refused(test: str) -> None:
    with pytest.raises(ParameterError, match="tests that do are randomization, t"):
        Settings(test).check(stratified=True)


# --- the interval of a mean over samples


def samples(*rows: list[float], how: str = "mean") -> list[Sample]:
    made = []
    for row in rows:
        values = np.array(row)
        number = float(values.mean() if how == "mean" else values.sum())
        made.append(Sample(values, how, number=number))
    return made


def test_students_interval_adds_up_the_variances() -> None:
    low, high = macro_interval(samples([1, 2, 3], [10, 20]), method="t", confidence=0.9)

    reach = student.ppf(0.95, DF) * math.sqrt(sum(VARIANCES)) / 2
    assert (low, high) == pytest.approx((8.5 - reach, 8.5 + reach))


def test_students_interval_of_sums_is_that_of_their_mean() -> None:
    low, high = macro_interval(
        samples([1, 2, 3], [10, 20], how="sum"), method="t", confidence=0.9
    )

    errors = (9 * VARIANCES[0], 4 * VARIANCES[1])  # n^2 times those of the means
    df = sum(errors) ** 2 / (errors[0] ** 2 / 2 + errors[1] ** 2 / 1)
    reach = student.ppf(0.95, df) * math.sqrt(sum(errors)) / 2
    assert (low, high) == pytest.approx((18 - reach, 18 + reach))


def drawn_by_hand(values: Floats, n: int, seed: int | tuple[int, int]) -> Floats:
    rng = np.random.default_rng(seed)
    known = np.sort(values)
    return np.array(
        [known[rng.integers(0, len(known), len(known))].mean() for _ in range(n)]
    )


def test_the_bootstrap_draws_in_each_sample_by_itself() -> None:
    first, second = np.random.default_rng(0).random((2, 9))

    found = macro_interval(
        samples(first.tolist(), second.tolist()), n_resamples=300, seed=4
    )

    drawn = drawn_by_hand(first, 300, 4) + drawn_by_hand(second, 300, (4, 1))
    np.testing.assert_allclose(found, np.quantile(drawn / 2, [0.025, 0.975]))


def test_samples_of_one_size_are_not_drawn_alike() -> None:
    # Opposite values: with the same draws, every mean over both would be 0.
    values = np.linspace(-1, 1, 20)

    low, high = macro_interval(samples(values.tolist(), (-values).tolist()))

    assert low < -0.1
    assert high > 0.1


@pytest.mark.parametrize("method", ["bootstrap", "t"])
@pytest.mark.parametrize("how", ["mean", "sum", "geometric"])
def test_the_interval_of_one_sample_is_its_own(method: str, how: str) -> None:
    values = np.random.default_rng(3).random(15)
    number = {
        "mean": values.mean(),
        "sum": values.sum(),
        "geometric": np.exp(np.log(values).mean()),
    }[how]
    sample = Sample(values, how, number=float(number))

    assert (
        macro_interval([sample], method=method, seed=7)
        == (intervals([sample], method=method, seed=7)[0])
    )


@pytest.mark.parametrize("method", ["bootstrap", "t"])
def test_the_same_sample_again_narrows_the_interval_by_the_root(method: str) -> None:
    sample = samples(np.random.default_rng(1).random(40).tolist())[0]

    low, high = macro_interval([sample] * 4, method=method, n_resamples=4000)
    wide = intervals([sample], method=method, n_resamples=4000)[0]

    assert high - low == pytest.approx((wide.high - wide.low) / 2, rel=0.06)


def test_a_sample_of_one_has_no_spread_and_neither_has_the_mean() -> None:
    for method in ("bootstrap", "t"):
        found = macro_interval(samples([1, 2, 3], [4]), method=method)

        assert np.isnan(found).all()


def test_values_that_are_all_the_same_have_an_interval_without_width() -> None:
    for method in ("bootstrap", "t"):
        assert macro_interval(samples([1, 1], [3, 3]), method=method) == (2, 2)
