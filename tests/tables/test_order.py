"""The order of rows of a run, however it is found."""

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankine._base.arrays import Floats, Ints
from rankine._base.limits import limited
from rankine._join.ids import text_order
from rankine._tables import order as module
from rankine._tables.order import before, sorted_rows

TIES = ("input", "id_desc", "id_asc")


def name(row: int) -> str:
    return f"d{row * 7 % 11}-{row}"


def by_text(rows: Ints) -> Ints:
    return text_order(pl.Series(list(map(name, rows.tolist())), dtype=pl.String))


def by_hand(lists: list[list[float]], tie: str) -> list[int]:
    """Sort each list in plain Python."""
    order: list[int] = []
    for scores in lists:
        rows = list(range(len(order), len(order) + len(scores)))
        if tie != "input":
            rows.sort(key=name, reverse=tie == "id_desc")
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
            order = sorted_rows(by_text, scores, starts, tie)
        assert order.tolist() == by_hand(lists, tie)


@pytest.mark.parametrize("collide", [False, True])
@pytest.mark.parametrize("tie", [*TIES, "input_rev"])
def test_rows_before_a_row_are_those_of_its_list_and_score(
    tie: str, *, collide: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if collide:  # until other keys are tried
        keys = module._keys  # noqa: SLF001 - two ties with one key are hard to find

        def same_at_first(numbers: Ints, values: Floats, seed: int) -> object:
            found = keys(numbers, values, seed)
            return found if seed > 1 else found * 0

        monkeypatch.setattr(module, "_keys", same_at_first)
    lists = [[2.0, 1, 1, 0, 1], [1.0, 1], [0.0, -0.0, 3]]
    scores: Floats = np.concatenate([np.array(one) for one in lists])
    starts: Ints = np.array([0, 5, 7, 10])
    row: Ints = np.array([0, 2, 4, 5, 8])
    group: Ints = np.array([0, 0, 0, 1, 2])

    def order_of(rows: list[int]) -> list[int]:
        if tie in {"id_desc", "id_asc"}:
            return sorted(rows, key=name, reverse=tie == "id_desc")
        return rows[::-1] if tie == "input_rev" else rows

    tied = [[0], [1, 2, 4], [1, 2, 4], [5, 6], [7, 8]]
    wanted = [
        order_of(rows).index(asked)
        for rows, asked in zip(tied, row.tolist(), strict=True)
    ]
    assert before(by_text, scores, starts, row, group, tie).tolist() == wanted
