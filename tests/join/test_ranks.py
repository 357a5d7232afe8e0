"""The order of all rows of a run, however it is found."""

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankine._base.arrays import Floats, Ints
from rankine._base.limits import limited
from rankine._join.ranks import sorted_rows

TIES = ("input", "id_desc", "id_asc")


def ids(rows: Ints) -> pl.Series:
    return pl.Series([f"d{row * 7 % 11}-{row}" for row in rows.tolist()])


def by_hand(lists: list[list[float]], tie: str) -> list[int]:
    """Sort each list in plain Python."""
    order: list[int] = []
    for scores in lists:
        rows = list(range(len(order), len(order) + len(scores)))
        if tie != "input":
            names = dict(zip(rows, ids(np.array(rows, dtype=np.int64)), strict=True))
            rows.sort(key=names.__getitem__, reverse=tie == "id_desc")
        begin = len(order)
        rows.sort(key=lambda row: -scores[row - begin])
        order += rows
    return order


@pytest.mark.parametrize("tie", TIES)
@given(st.lists(st.lists(st.integers(-2, 2).map(float), max_size=9), max_size=6))
def test_long_lists_are_sorted_like_short_ones(
    tie: str, lists: list[list[float]]
) -> None:
    scores: Floats = np.array([score for one in lists for score in one])
    starts: Ints = np.cumsum([0, *map(len, lists)])

    for long_lists in (0, 1 << 20):
        with limited(long_lists=long_lists):
            order = sorted_rows(ids, scores, starts, tie)
        assert order.tolist() == by_hand(lists, tie)
