"""Clicks by position and judgements count what the click rate beside them counts."""

from __future__ import annotations

import sqlite3
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest

import rankine as rk
from rankine.errors import DataError

if TYPE_CHECKING:
    from collections.abc import Callable

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
    assert "2 duplicate events left out" in found.notes
    assert "1 user in more than one variant left out" in found.notes


def test_judgements_count_what_the_click_rate_does() -> None:
    found = rk.online.judgments_from_clicks(LOG, model="ctr")

    assert found.support.select("impressions", "clicks").rows() == [(2, 1)]
    assert "2 duplicate events left out" in found.notes
    assert "1 user in more than one variant left out" in found.notes


@pytest.mark.parametrize(
    ("change", "why"),
    [
        # The third event is the second again: all columns are the same.
        (lambda log: log.drop("event_id"), "2 duplicate events left out"),
        (lambda log: log.rename({"event_id": "key"}), "1 user in more than one"),
        # u2 has no name: only the impression and the click of u1 are left.
        (
            lambda log: log.with_columns(
                user_id=pl.when(pl.col("user_id") != "u2").then("user_id")
            ),
            "1 event without a user left out",
        ),
    ],
    ids=["identical", "other-name", "no-user"],
)
def test_rows_that_the_click_rate_leaves_out(
    change: Callable[[pl.DataFrame], pl.DataFrame], why: str
) -> None:
    log = change(LOG.with_columns(timestamp=pl.lit(1_700_000_000)))
    (beside,) = rk.online.summarize(log, ["ctr"]).table.iter_rows(named=True)
    clicks = rk.online.click_metrics(log)
    judged = rk.online.judgments_from_clicks(log, model="ctr")

    assert clicks.by_position["ctr"].to_list() == [beside["value"]]
    assert clicks.by_position["impressions"].to_list() == [beside["n"]]
    assert judged.support["value"].to_list() == [beside["value"]]
    assert why in " ".join(clicks.notes)
    assert why in " ".join(judged.notes)


def test_the_column_of_ids_may_be_named() -> None:
    log = LOG.rename({"event_id": "key"}).with_columns(row=pl.int_range(pl.len()))
    plain = rk.online.click_metrics(log)
    named = rk.online.click_metrics(log, columns={"id": "key"})

    assert plain.by_position["clicks"].to_list() == [3]
    assert named.by_position["clicks"].to_list() == [1]


@pytest.mark.parametrize("times", ["2026-01-01", None])
def test_without_times_of_day_identical_rows_may_be_several_clicks(
    times: str | None,
) -> None:
    log = LOG.drop("event_id").with_columns(timestamp=pl.lit(times))
    log = log if times else log.drop("timestamp")

    found = rk.online.click_metrics(log)

    assert found.by_position.select("impressions", "clicks").rows() == [(2, 3)]
    assert not any("duplicate" in note for note in found.notes)
    with pytest.raises(DataError, match="more clicks than impressions: 3 and 2"):
        rk.online.summarize(log, ["ctr"])


def test_users_count_in_any_variant_if_there_are_said_to_be_none() -> None:
    found = rk.online.click_metrics(LOG, columns={"variant": "-"})

    assert found.by_position.select("impressions", "clicks").rows() == [(4, 2)]
    assert found.by_variant is None


def test_lists_that_were_shown_may_lack_users() -> None:
    # One row per item: x was shown to u1, to u2 in both variants, and to nobody known.
    shown = pl.DataFrame(
        {
            "query_id": ["q"] * 4, "item_id": ["x"] * 4, "click": [1, 1, 1, 0],
            "user_id": ["u1", "u2", "u2", None], "variant": [*"AAB", None],
        }
    )  # fmt: skip
    found = rk.online.judgments_from_clicks(shown, model="ctr")

    assert found.support.select("impressions", "clicks").rows() == [(2, 1)]


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
    told = "1 event with a conversion, but no value: 0 revenue" in found.notes
    assert told is (value is None)


def test_purchases_without_a_value_are_counted_over_parts() -> None:
    log = pl.DataFrame(
        {
            "user_id": [1, 2, 3, 4],
            "event": ["purchase", "purchase", "purchase", "view"],
            "value": [None, 5.0, None, None], "cost": [1.0] * 4,
        }
    )  # fmt: skip
    parts = rk.online.Accumulator(by=None)
    notes = parts.update(log[:2]).update(log[2:]).result().notes

    assert "2 events with a conversion, but no value: 0 revenue" in notes


@pytest.mark.parametrize("cost", [True, False])
def test_only_a_metric_of_money_is_told_of_odd_money(cost: bool) -> None:  # noqa: FBT001 - a case
    # A purchase without a value, a view with one, and a cost below 0.
    log = pl.DataFrame(
        {
            "user_id": [1, 2, 3], "event": ["purchase", "impression", "impression"],
            "value": [None, 5.0, None], "cost": [1.0, 3.0, -1.0],
        }
    )  # fmt: skip
    log = log if cost else log.drop("cost")
    clicks = rk.online.summarize(log, ["conversion_rate"], by=None)
    every = rk.online.summarize(log, by=None)

    told = [note for note in every.notes if note.startswith("1 event with")]
    assert told == (
        [
            "1 event with a conversion, but no value: 0 revenue",
            "1 event with a value, but neither conversion nor refund: not revenue",
            "1 event with a cost below 0: taken off the cost",
        ]
        if cost
        else []  # without a cost, there is no roi
    )
    assert not any("event with" in note for note in clicks.notes)
