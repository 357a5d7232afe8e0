"""Logs of events, in which impressions and clicks are rows of their own."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import rankine as rk
from rankine.errors import ColumnNotFoundError, DataError

ROWS = [
    ("impression", 1, "q", "x", 1),
    ("impression", 1, "q", "y", 2),
    ("click", 1, "q", "x", 1),
    ("click", 1, "q", "x", 1),
    ("page_view", 1, None, None, None),
    ("impression", 2, "q", "y", 1),
    ("impression", 2, "q", "x", 2),
    ("click", 2, "q", "x", 2),
    ("click", 2, "q", "z", 2),
]
NAMES = ["event", "impression_id", "query_id", "item_id", "position"]
STRAY = "1 click without an impression left out"


def log(rows: Any) -> pl.DataFrame:
    return pl.DataFrame(rows, NAMES, orient="row")


def test_clicks_are_those_of_their_impressions() -> None:
    judged = rk.online.judgments_from_clicks(log(ROWS))

    # Rank 1 has 2 clicks in 2, rank 2 has 1 in 2: x has 3 / (1 + 1/2), and y none.
    assert judged.support.rows() == [("q", "x", 3 / 1.5, 2, 3), ("q", "y", 0, 2, 0)]
    assert judged.notes[0] == STRAY
    clicked = rk.online.click_metrics(log(ROWS))
    assert clicked.mrr == (1 + 1 / 2) / 2
    assert clicked.notes[0] == STRAY


def test_clicks_without_a_position_are_found_by_the_rest() -> None:
    rows = [
        (*row[:4], None) if row[0] == "click" else row for row in ROWS
    ]  # what clicks do not say, impressions do
    judged = rk.online.judgments_from_clicks(log(rows))

    assert judged.support["value"].to_list() == [3 / 1.5, 0]


def test_words_and_columns_of_others() -> None:
    named = log(ROWS).rename({"event": "what"})
    with pytest.raises(ColumnNotFoundError, match="no column for the click, which"):
        rk.online.judgments_from_clicks(named)
    judged = rk.online.judgments_from_clicks(named, columns={"event": "what"})
    assert judged.support["clicks"].to_list() == [3, 0]


def test_errors_name_rows_of_the_log() -> None:
    rows = [*ROWS[:5], ("impression", 2, "q", "y", -3)]
    with pytest.raises(DataError, match=r"row 5: position is -3, not a rank from 1"):
        rk.online.judgments_from_clicks(log(rows))
    with pytest.raises(DataError, match="has no rows"):
        rk.online.judgments_from_clicks(log(ROWS[2:4]))


@settings(max_examples=50, deadline=None)
@given(
    lists=st.lists(st.permutations("abc"), min_size=1, max_size=8),
    clicks=st.lists(st.tuples(st.integers(0, 7), st.sampled_from("abc")), max_size=12),
)
def test_events_say_the_same_as_a_column_of_clicks(
    lists: list[list[str]], clicks: list[tuple[int, str]]
) -> None:
    own = [(n, item) for n, item in clicks if n < len(lists)]
    shown = [
        (n, n % 2, item, rank, own.count((n, item)))
        for n, items in enumerate(lists)
        for rank, item in enumerate(items, 1)
    ]
    columns = ["impression_id", "query_id", "item_id", "position", "click"]
    plain = pl.DataFrame(shown, columns, orient="row")
    rows = [("impression", *row[:4]) for row in shown]
    rows += [("click", n, n % 2, item, lists[n].index(item) + 1) for n, item in own]
    events = log(rows)

    assert rk.online.click_metrics(events).mrr == rk.online.click_metrics(plain).mrr
    if own:
        first, second = (
            rk.online.judgments_from_clicks(each) for each in (events, plain)
        )
        assert first.support.equals(second.support)
