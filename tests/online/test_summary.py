"""summarize: groups, days, segments, what is printed, and the same from parts."""

from __future__ import annotations

import json
import math
import pickle
from datetime import date
from typing import Any

import polars as pl
import pytest
from polars.testing import assert_frame_equal

import rankine as rk
from rankine.errors import DataError, ParameterError
from tests.online.logs import log

DAY = 24 * 60
LOG = log(
    f"""
    u A 0 impression
    u A 1 click
    v A 0 impression
    v A {DAY} impression
    v A {DAY + 1} click
    w B 0 impression
    x B 0 impression
    x B 0 impression other
    x B {DAY} click
    """
).with_columns(
    country=pl.Series(["at", "at", "de", "de", "de", "at", "de", "de", "de"])
)


def values(table: pl.DataFrame, *columns: str) -> list[tuple[Any, ...]]:
    return table.filter(metric="ctr").select(*columns, "value", "n", "users").rows()


def test_by_variant() -> None:
    found = rk.online.summarize(LOG, by="variant")

    assert found.table.columns == [
        "metric", "variant", "value", "low", "high", "n", "users"
    ]  # fmt: skip
    assert values(found.table, "variant") == [("A", 2 / 3, 3, 2), ("B", 1 / 3, 3, 2)]
    assert found.definitions["ctr"] == "clicks / impressions"
    assert found.left_out["roi"] == "the log has no value and no cost"
    assert found.events == 9


def test_by_segment_and_day() -> None:
    segments = rk.online.summarize(LOG, ["ctr"], segment="country").table
    assert values(segments, "variant", "country") == [
        ("A", "at", 1, 1, 1),
        ("A", "de", 1 / 2, 2, 1),
        ("B", "at", 0, 1, 1),
        ("B", "de", 1 / 2, 2, 1),
    ]
    days = rk.online.summarize(LOG, ["ctr"], daily=True)
    first, second = date(2023, 11, 14), date(2023, 11, 15)
    assert values(days.table, "variant", "day")[:3] == [
        ("A", first, 1 / 2, 2, 2),
        ("A", second, 1, 1, 1),
        ("B", first, 0, 3, 2),
    ]
    assert math.isnan(values(days.table, "variant", "day")[3][2])
    assert "ctr is undefined: there are no impressions (B, 2023-11-15)" in days.notes


def test_a_day_with_a_rate_above_one_is_said() -> None:
    frame = log(
        f"u A 0 impression\nu A 0 impression b\nu A {DAY} impression\n"
        f"u A {DAY} click\nu A {DAY + 1} click\nv A 0 impression"
    )
    found = rk.online.summarize(frame, ["ctr"], daily=True)

    first, second = found.table["value"].to_list()
    assert first == 0 / 3
    assert math.isnan(second)
    said = (
        "ctr is undefined: there are more clicks than impressions: 2 and 1, a rate "
        "above 1 (A, 2023-11-15)"
    )
    assert said in found.notes


def test_all_users_together_and_by_another_column() -> None:
    assert values(rk.online.summarize(LOG, ["ctr"], by=None).table) == [(3 / 6, 6, 4)]
    by_country = rk.online.summarize(LOG, ["ctr"], by="country").table
    assert by_country["country"].to_list() == ["at", "de"]
    without = rk.online.summarize(LOG.drop("variant"), ["ctr"])
    assert values(without.table) == [(3 / 6, 6, 4)]
    assert "the log has no variant: all users are one group" in without.notes


def test_engagement_per_impression_is_there_if_asked_for() -> None:
    found = rk.online.summarize(LOG, ["engagement_per_impression"], by=None)

    assert found.table["value"].to_list() == [3 / 6]
    assert "engagement_per_impression" not in rk.online.summarize(LOG).definitions


def test_what_is_printed() -> None:
    found = rk.online.summarize(LOG.vstack(LOG[:1]), segment="country")
    text = str(found)

    assert "bounce_rate = " not in text
    assert "ctr = clicks / impressions" in text
    assert "or ends after 30 minutes of silence" in text
    assert "- 1 duplicate event: left out" in text
    assert "- no roi: the log has no value and no cost" in text
    assert "| ctr | A | at | 1.0000 |" in found.to_markdown()
    assert "text-align:right;white-space:nowrap'>0.5000</td>" in found._repr_html_()
    record = json.loads(found.to_json())
    assert record["table"][0] == {
        "metric": "ctr", "variant": "A", "country": "at", "value": 1.0, "low": None,
        "high": None, "n": 1, "users": 1,
    }  # fmt: skip
    assert repr(found) == "Summary(ctr, engagement_rate; 8 rows)"


def test_markup_in_a_log_is_shown_and_not_obeyed() -> None:
    odd = LOG.with_columns(variant=pl.lit("<b>|\x1b[31m"))
    found = rk.online.summarize(odd, ["ctr"])

    assert "\x1b" not in str(found)
    assert "<b>" not in found._repr_html_()
    assert "\\|" in found.to_markdown()


@pytest.mark.parametrize("daily", [False, True])
def test_parts_come_to_the_same_to_the_last_bit(daily: bool) -> None:  # noqa: FBT001
    whole = rk.online.summarize(LOG, daily=daily)
    parts = rk.online.Accumulator(daily=daily)
    for row in (8, 3, 0, 5, 1, 7, 2, 6, 4):
        parts.update(LOG[row : row + 1])
    halves = [
        rk.online.Accumulator(daily=daily).update(LOG[own])
        for own in (slice(4, 9), slice(0, 4))
    ]
    merged = halves[0].merge(pickle.loads(pickle.dumps(halves[1])))  # noqa: S301

    for other in (parts, merged):
        assert_frame_equal(other.result().table, whole.table, check_exact=True)
        assert other.result().excluded == whole.excluded


def test_neither_the_type_nor_the_order_of_ids_matters() -> None:
    log = rk.online.generate(300, seed=6).events
    texts = log.with_columns(
        pl.format("u{}", 1000 - pl.col("user_id")).alias("user_id")
    )

    tables = [rk.online.summarize(own, segment="country").table for own in (log, texts)]
    assert_frame_equal(*tables, check_exact=True)


def test_accumulators_that_differ_do_not_merge() -> None:
    with pytest.raises(DataError, match="made with different arguments"):
        rk.online.Accumulator().merge(rk.online.Accumulator(daily=True))
    with pytest.raises(DataError, match="there are no events yet"):
        rk.online.Accumulator().result()
    with pytest.raises(DataError, match="this part has no column for the page"):
        rk.online.Accumulator().update(LOG).update(LOG.drop("page"))
    with pytest.raises(ParameterError, match="memory_limit must be a number of bytes"):
        rk.online.Accumulator(memory_limit="lots")
