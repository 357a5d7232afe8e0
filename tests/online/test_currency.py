"""Amounts of several currencies are not added up."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest

import rankine as rk
from rankine.errors import DataError


def log(
    *rows: tuple[str, float | None, str | None], name: str = "currency"
) -> pl.DataFrame:
    """Return purchases and views: the user, the amount and the currency of each."""
    return pl.DataFrame(
        [
            {
                "user_id": user,
                "event": "purchase" if amount else "page_view",
                "timestamp": place,
                "value": amount,
                "cost": 1.0 if amount else 0.0,
                name: currency,
            }
            for place, (user, amount, currency) in enumerate(rows)
        ],
        infer_schema_length=None,
    )


TWO = (("u", 5.0, "EUR"), ("v", 7.0, "USD"))
ADDED = "has values in EUR and in USD, which cannot be added up; convert them"


def roi(events: pl.DataFrame, by: str = "variant") -> list[float]:
    table = rk.online.summarize(events, by=by).table
    values: list[float] = table.filter(pl.col("metric") == "roi")["value"].to_list()
    return values


def test_one_currency_is_added_up_however_it_is_written() -> None:
    events = log(("u", 5.0, "EUR"), ("v", 7.0, " eur"), ("w", None, None))

    assert roi(events) == [(5 + 7 - 2) / 2]


@pytest.mark.parametrize("name", ["currency", "currency_code", "Currency"])
def test_two_are_refused(name: str) -> None:
    with pytest.raises(DataError, match=ADDED):
        rk.online.summarize(log(*TWO, name=name))


def test_a_currency_without_an_amount_does_not_count() -> None:
    events = log(("u", 5.0, "EUR"), ("v", None, "USD"))

    assert roi(events) == [(5 - 1) / 1]


def test_groups_of_one_currency_each_are_added_up() -> None:
    assert roi(log(*TWO), by="currency") == [5 - 1, 7 - 1]


@pytest.mark.parametrize("by", ["currency", "money"])
@pytest.mark.parametrize("role", ["by", "segment"])
@pytest.mark.parametrize("first", [5.0, None])
def test_a_user_with_amounts_in_another_currency_than_the_group_is_refused(
    by: str, role: str, first: float | None
) -> None:
    events = log(("v", 1.0, "USD"), ("u", first, "USD"), ("u", 7.0, "EUR"), name=by)
    options: dict[str, Any] = {"by": None, role: by, "columns": {"currency": by}}
    words = "user 'u' has amounts in EUR, but counts in USD, which was seen first"

    with pytest.raises(DataError, match=words):
        rk.online.summarize(events, **options)
    with pytest.raises(DataError, match=words):
        rk.online.users(events, **options)
    total = rk.online.Accumulator(**options)
    for part in (events[2:], events[:2]):
        total.update(part)
    with pytest.raises(DataError, match=words):
        total.result()


def test_a_user_may_look_in_another_currency() -> None:
    events = log(("u", 7.0, "EUR"), ("u", None, "USD"), ("v", 3.0, "USD"))
    found = rk.online.users(events, by="currency")

    assert found.select("user", "currency", "revenue").rows() == [
        ("u", "EUR", 7), ("v", "USD", 3),
    ]  # fmt: skip


def test_parts_with_other_currencies_are_refused() -> None:
    parts = log(*TWO)
    total = rk.online.Accumulator()
    total.update(parts[:1])
    with pytest.raises(DataError, match=ADDED):
        total.update(parts[1:])

    total, other = rk.online.Accumulator(), rk.online.Accumulator()
    total.update(parts[:1])
    other.update(parts[1:])
    with pytest.raises(DataError, match=ADDED):
        total.merge(other)


def test_a_test_of_two_currencies_is_refused() -> None:
    events = log(*TWO).with_columns(variant=pl.Series(["a", "b"]))

    with pytest.raises(DataError, match=ADDED):
        rk.online.ab_test(events, control="a")


def test_a_test_does_not_add_up_what_its_segments_keep_apart() -> None:
    events = log(("u", 5.0, "EUR"), ("v", 7.0, "USD"), ("w", 6.0, "EUR"))
    arms = pl.Series("variant", ["A", "B", "B"])
    events = events.with_columns(arms)

    with pytest.raises(DataError, match="roi would add up amounts in EUR and in USD"):
        rk.online.ab_test(events, control="A", segment="currency", metrics=["roi"])

    test = rk.online.ab_test(
        events.filter(pl.col("currency") == "EUR"),
        control="A",
        segment="currency",
        metrics={"paid": "revenue"},
    )
    overall = test.details.filter(pl.col("segment").is_null())
    assert overall.select("control_value", "value").row(0) == (5, 6)
