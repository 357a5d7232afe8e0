"""Pools: a query alone has the numbers that it has among others."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankine._tables.pool import Pool
from rankine._tables.segments import starts_of

grades = st.lists(st.sampled_from([-1.0, 0.0, 1.0, 2.0, 3.0]), min_size=1, max_size=12)
BY_RANK = np.array([1.0, *(math.log2(rank + 1) for rank in range(1, 14))])


def pool_of(*rows: list[float]) -> Pool:
    counts = np.array([len(row) for row in rows])
    return Pool(starts_of(counts), np.array([value for row in rows for value in row]))


@given(grades, st.integers(-1, 3))
def test_grades_are_counted(row: list[float], least: int) -> None:
    alone, among = pool_of(row), pool_of(row, [*row, 9.0], [])
    expected = sum(grade >= least for grade in row)

    assert alone.query.tolist() == [0] * len(row)
    assert alone.count(least).tolist() == [expected]
    assert alone.count(least).dtype == among.count(least).dtype
    assert among.count(least).tolist() == [expected, expected + 1, 0]


@given(grades, st.integers(1, 12))
def test_the_largest_are_added_up_from_the_first(row: list[float], k: int) -> None:
    worth = [max(grade, 0.0) for grade in row]
    alone, among = pool_of(worth), pool_of(worth, [*worth, 9.0])
    alike = pool_of(worth, worth)
    expected = 0.0
    for rank, value in enumerate(sorted(worth, reverse=True)[:k], start=1):
        expected += value / math.log2(rank + 1)

    sums = [
        pool.sum_of_largest(pool.grade, k, BY_RANK).tolist()
        for pool in (alone, among, alike)
    ]

    assert sums[0] == [expected]
    assert sums[1][0] == expected
    assert sums[2] == [expected, expected]


@pytest.mark.parametrize("n", [1, 64, 65, 1000])
def test_bounds_of_few_and_of_many(n: int) -> None:
    grade = np.random.default_rng(n).integers(-3, 9, n).astype(float)

    assert Pool(starts_of(np.array([n])), grade).bounds == (min(grade), max(grade))


def test_bounds_of_none() -> None:
    assert pool_of([]).bounds == (math.inf, -math.inf)


@pytest.mark.parametrize("n", [1, 64, 65, 1000])
def test_a_fraction_is_seen_among_few_and_many(n: int) -> None:
    grade = np.random.default_rng(n).integers(-3, 9, n).astype(float)
    starts = starts_of(np.array([n]))
    other = grade.copy()
    other[-1] += 0.5

    assert Pool(starts, grade).is_whole()
    assert not Pool(starts, other).is_whole()
