"""Clicks by position and judgements count what the click rate beside them counts."""

from __future__ import annotations

import sqlite3
from typing import Any

import polars as pl
import pytest

import rankine as rk

ROWS = [
    ("e1", "u1", "A", "s1", 1, "x", "impression"),
    ("e2", "u1", "A", "s1", 1, "x", "click"),
    ("e2", "u1", "A", "s1", 1, "x", "click"),
    ("e2", "u1", "A", "s1", 1, "x", "click"),
    ("e3", "u2", "A", "s2", 1, "x", "impression"),
    ("e4", "u3", "A", "s3", 1, "x", "impression"),
    ("e5", "u3", "B", "s4", 1, "x", "impression"),
    ("e6", "u3", "B", "s4", 1, "x", "click"),
]
NAMES = [
    "event_id",
    "user_id",
    "variant",
    "impression_id",
    "position",
    "item_id",
    "event",
]
LOG = pl.DataFrame(ROWS, NAMES, orient="row").with_columns(
    query_id=pl.lit("q"), timestamp=pl.int_range(pl.len()) + 1_700_000_000
)


def test_click_metrics_leave_out_what_the_click_rate_does() -> None:
    found = rk.online.click_metrics(LOG)
    beside = rk.online.summarize(LOG, ["ctr"]).table

    # u1 and u2 saw one impression each, with one click; u3 is in two variants.
    assert found.by_position.select("impressions", "clicks").rows() == [(2, 1)]
    assert beside.select("value", "n").rows() == [(0.5, 2)]
    assert "2 events with a repeated id left out" in found.notes
    assert "1 user in more than one variant left out" in found.notes


def test_judgements_count_an_event_once() -> None:
    found = rk.online.judgments_from_clicks(LOG, model="ctr")

    assert any("2 events with a repeated id left out" in note for note in found.notes)


def from_sql(frame: pl.DataFrame) -> Any:
    shop = sqlite3.connect(":memory:")
    columns = ", ".join(frame.columns)
    shop.execute(f"create table log ({columns})")
    marks = ", ".join("?" * frame.width)
    shop.executemany(f"insert into log values ({marks})", frame.rows())  # noqa: S608
    return rk.online.from_sql(shop, "select * from log", batch_rows=3)


def test_a_query_takes_the_place_of_a_log_of_clicks() -> None:
    assert rk.online.click_metrics(from_sql(LOG)).by_position.equals(
        rk.online.click_metrics(LOG).by_position
    )


@pytest.mark.parametrize("needed", [False, True])
def test_a_query_takes_the_place_of_a_table_of_users(needed: bool) -> None:  # noqa: FBT001 - a case
    frame = pl.DataFrame({"id": range(8), "arm": [*"AB"] * 4, "y": [1, 2, 3, 5] * 2})
    options: Any = {"metrics": {"y": "y"}, "unit": "id"}
    if needed:
        call, options = rk.online.users_needed, {**options, "effect": 1}
        assert call(from_sql(frame), **options) == call(frame, **options)
    else:
        options |= {"variant": "arm", "control": "A"}
        found, plain = (
            rk.online.ab_test(data, **options) for data in (from_sql(frame), frame)
        )
        assert found.details.equals(plain.details)


@pytest.mark.parametrize("value", [None, 5.0])
def test_a_purchase_without_a_value_is_told_of(value: float | None) -> None:
    log = pl.DataFrame(
        {
            "user_id": [1, 2], "event": ["purchase", "purchase"],
            "value": [5.0, value], "cost": [1.0, 1.0],
        }
    )  # fmt: skip
    found = rk.online.summarize(log, ["roi"], by=None, duplicates="keep")

    # (5 + 0 - 2) / 2, or (5 + 5 - 2) / 2.
    assert found.table["value"].item() == (5 + (value or 0) - 2) / 2
    told = "conversions without a value count as 0 revenue" in found.notes
    assert told is (value is None)
