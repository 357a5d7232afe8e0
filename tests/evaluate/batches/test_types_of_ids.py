"""Ids that are ints in one batch and texts in another: the rule of one call."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest

import rankine as rk
from rankine.errors import DataError

SAME = "compared as text"
REFUSED = "the same type"


def two_batches(second: Any, metrics: str = "RR", **options: Any) -> Any:
    """Evaluate a query with ints for ids, and one with other ids."""
    query, item = second
    accumulator = rk.Accumulator(metrics, **options)
    accumulator.update({1: {10: 1}}, {1: [11, 10]})
    return accumulator.update({query: {item: 1}}, {query: [item]}).result()


def test_plain_texts_of_ints_are_these_ints() -> None:
    found = two_batches(("2", "10"))

    assert found["RR"] == (1 / 2 + 1) / 2
    assert sum(SAME in note for note in found.notes) == 1
    with pytest.raises(DataError, match="already seen in an earlier batch"):
        two_batches(("1", "10"))


@pytest.mark.parametrize("query", ["007", "q2", "2.0"])
def test_other_texts_are_refused(query: str) -> None:
    with pytest.raises(DataError, match=REFUSED) as caught:
        two_batches((query, "10"))

    assert repr(query) in str(caught.value)


def test_a_query_that_is_refused_changes_nothing() -> None:
    accumulator = rk.Accumulator("RR").update({1: {10: 1}}, {1: [10]})
    with pytest.raises(DataError):
        accumulator.update({"007": {"10": 1}}, {"007": ["10"]})

    assert accumulator.update({2: {10: 1}}, {2: [11, 10]}).result()["RR"] == 3 / 4


def test_items_of_lists() -> None:
    """Shown are 11, 10 and 10, or 11, 10 and 012: two items of three, or none."""
    found = two_batches(("2", "10"), "GiniSimpson")

    assert found["GiniSimpson"] == pytest.approx(1 - (1 / 9 + 4 / 9))
    with pytest.raises(DataError, match=REFUSED):
        two_batches(("2", "012"), "GiniSimpson")


def rounds(user: Any, item: Any) -> tuple[pl.DataFrame, pl.DataFrame]:
    log = {"user_id": [user], "item_id": [item], "click": [1], "propensity": [0.5]}
    return pl.DataFrame(log), pl.DataFrame({"user_id": [user], "item_id": [item]})


def test_users_and_items_of_logs() -> None:
    accumulator = rk.Accumulator(rk.ctr, estimator="ips")
    accumulator.update(*rounds(1, 10))
    found = accumulator.update(*rounds("2", "10")).result()

    assert found.value == (1 / 0.5 + 1 / 0.5) / 2
    assert sum(SAME in note for note in found.notes) == 2
    with pytest.raises(DataError, match=REFUSED):
        accumulator.update(*rounds("x", "10"))
    with pytest.raises(DataError, match=REFUSED):
        accumulator.update(*rounds("3", "x"))
