"""Welch's test of two groups: as scipy's, by weight, and not decided by rounding."""

from __future__ import annotations

import math

import numpy as np
import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st

from rankine._stats.welch import welch

GROUPS = st.lists(st.integers(0, 10).map(lambda n: n / 10), min_size=2, max_size=12)


@given(GROUPS, GROUPS)
def test_it_is_scipys_where_values_vary(
    first: list[float], second: list[float]
) -> None:
    gap, p = welch(np.array(first), np.array(second))

    assert gap == pytest.approx(np.mean(first) - np.mean(second))
    if min(len({*first}), len({*second})) > 1:
        expected = scipy.stats.ttest_ind(first, second, equal_var=False)
        assert p == pytest.approx(expected.pvalue)


@given(st.integers(1, 20), st.sampled_from([3, 7, 10]), st.integers(2, 9))
def test_the_same_value_in_both_groups_is_no_gap(up: int, down: int, n: int) -> None:
    # The mean of three times 1.3 is not 1.3.
    assert welch(np.full(n, up / down), np.full(n + 3, up / down)) == (0, 1)


def test_two_constants_that_differ_are_surely_apart() -> None:
    # Ten times 1.3 have a variance, as they are stored.
    gap, p = welch(np.full(10, 1.3), np.full(11, 1.2))

    assert gap == pytest.approx(0.1)
    assert p == 0


def test_the_mean_and_its_variance_are_those_of_weighted_values() -> None:
    first, second = np.array([0.1, 0.4, 0.9]), np.array([0.2, 0.3, 0.3, 0.8])
    weights = np.array([1.0, 2.0, 5.0]), np.array([3.0, 1.0, 1.0, 2.0])

    gap, p = welch(first, second, weights)

    mean, other = (0.1 + 0.8 + 4.5) / 8, (0.6 + 0.3 + 0.3 + 1.6) / 7
    assert gap == pytest.approx(mean - other)
    squares = [
        (w / w.mean() * (x - centre)) ** 2
        for x, w, centre in ((first, weights[0], mean), (second, weights[1], other))
    ]
    parts = [part.sum() / (len(part) - 1) / len(part) for part in squares]
    df = sum(parts) ** 2 / (parts[0] ** 2 / 2 + parts[1] ** 2 / 3)
    size = abs(gap) / math.sqrt(sum(parts))
    assert p == pytest.approx(2 * scipy.stats.t.sf(size, df))


def test_weights_that_are_all_the_same_change_nothing() -> None:
    first, second = np.array([0.1, 0.4, 0.9]), np.array([0.2, 0.3, 0.3, 0.8])

    weighted = welch(first, second, (np.full(3, 4.0), np.full(4, 4.0)))

    assert weighted == pytest.approx(welch(first, second))
