"""Arithmetic on segments, against loops that are plain to see."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankine._base.limits import limited
from rankine._tables import segments

if TYPE_CHECKING:
    from rankine._base.arrays import Floats, Ints

lists = st.lists(
    st.lists(st.integers(-3, 3).map(float), max_size=12), min_size=1, max_size=9
)


def flat(rows: list[list[float]]) -> tuple[Floats, Ints]:
    counts = np.array([len(row) for row in rows], dtype=np.int64)
    values = np.array([value for row in rows for value in row])
    return values, segments.starts_of(counts)


@given(lists)
def test_sort_descending_sorts_each_segment(rows: list[list[float]]) -> None:
    values, starts = flat(rows)

    found = segments.sort_descending(values, starts)

    expected = [value for row in rows for value in sorted(row, reverse=True)]
    assert found.tolist() == expected


@pytest.mark.parametrize(
    "lengths",
    [[5, 5, 5], [1, 100, 3, 50, 2, 2, 99], [0, 7, 0], [64, 32, 16, 8, 4, 2, 1]],
    ids=["equal", "mixed", "empty ones", "powers"],
)
def test_sort_descending_takes_any_lengths(lengths: list[int]) -> None:
    rng = np.random.default_rng(5)
    rows = [rng.normal(size=length).tolist() for length in lengths]
    values, starts = flat(rows)

    found = segments.sort_descending(values, starts)

    expected = [value for row in rows for value in sorted(row, reverse=True)]
    assert found.tolist() == expected


@given(lists, st.integers(-4, 4).map(float))
def test_above_and_tied_count(rows: list[list[float]], x: float) -> None:
    rows = [[*row, x] for row in rows]
    values, starts = flat(rows)
    everyone = np.arange(len(rows))
    asked = np.full(len(rows), x)

    ordered = segments.sort_descending(values, starts)
    searched = segments.above_and_tied(ordered, starts, everyone, asked)
    counted = segments.count_above(values, starts, everyone, asked)

    above = [sum(value > x for value in row) for row in rows]
    tied = [sum(value == x for value in row) for row in rows]
    assert [column.tolist() for column in searched] == [above, tied]
    assert [column.tolist() for column in counted] == [above, tied]


@pytest.mark.parametrize("width", [1, 4, 40])
def test_many_are_counted_like_few(width: int) -> None:
    rng = np.random.default_rng(6)
    values = rng.integers(0, 30, 10 * width).astype(float)
    starts = np.arange(0, 10 * width + 1, width)
    segment = np.repeat(np.arange(10), width)
    counted = []

    for longest in (0, width):
        with limited(short_lists=longest):
            columns = segments.count_above(values, starts, segment, values)
        counted.append([column.tolist() for column in columns])

    rows = [values[segment == number] for number in segment]
    above = [int((row > x).sum()) for row, x in zip(rows, values, strict=True)]
    tied = [int((row == x).sum()) for row, x in zip(rows, values, strict=True)]
    assert counted == [[above, tied]] * 2


@pytest.mark.parametrize("longest", [3, 300])
def test_short_lists_of_any_length_are_compared_place_by_place(longest: int) -> None:
    rng = np.random.default_rng(longest)
    lengths = [0, longest, 1, 0, longest - 1]
    starts = segments.starts_of(np.array(lengths))
    values = rng.integers(0, 3, sum(lengths)).astype(float)
    values[0] = -np.inf
    segment = np.repeat(np.arange(len(lengths)), lengths)

    with limited(short_lists=longest):
        above, tied = segments.count_above(values, starts, segment, values)

    rows = [values[segment == number] for number in segment]
    pairs = list(zip(rows, values, strict=True))
    assert above.tolist() == [int((row > x).sum()) for row, x in pairs]
    assert tied.tolist() == [int((row == x).sum()) for row, x in pairs]


def test_running_sum_keeps_the_digits_of_small_segments() -> None:
    values = np.array([1e6, 1e6, 1e-3, 1e-3])
    segment = np.array([0, 0, 1, 1])

    found = segments.running_sum(values, segment)

    np.testing.assert_allclose(found, [1e6, 2e6, 1e-3, 2e-3], rtol=1e-9)
