"""Events that come late: exactly counted or refused, in the last part of a log too."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import polars as pl
import pytest

import rankine as rk
from rankine._base.limits import limited
from rankine._online.kept import DisorderError
from rankine._online.rules import Rules
from rankine._online.sums import State
from rankine.errors import DataError
from tests.online.logs import log

BUYS = ("u", 1, 12, "purchase", 10.0), ("u", 3, 12, "purchase", 10.0)
VIEWS = tuple(
    (user, day, 12, "page_view", None) for user, day in [("w", 8), ("w", 9), ("x", 9)]
)
DATES = ("u", 1, 0, "page_view", None), ("v", 9, 0, "page_view", None)


def events(*rows: tuple[Any, ...]) -> pl.DataFrame:
    """Return events of users, days, hours, words and values; each costs 1."""
    return pl.DataFrame(
        [
            {
                "user_id": user,
                "timestamp": datetime(2026, 1, day, hour),  # noqa: DTZ001
                "event": word,
                "value": value,
                "cost": 1.0,
            }
            for user, day, hour, word, value in rows
        ],
        infer_schema_length=None,
    )


@pytest.mark.parametrize("held", [1, 2, 3, 4, 5])
@pytest.mark.parametrize("size", [1, 2, 5])
@pytest.mark.parametrize(
    ("rows", "metric", "value"),
    [
        ((*BUYS, *VIEWS, BUYS[1]), "roi", (10 + 10 - 5) / 5),
        ((*BUYS, *VIEWS, ("u", 3, 12, "page_view", None)), "bounce_rate", 3 / 5),
        ((*DATES, DATES[1], ("u", 1, 0, "click", None)), "bounce_rate", 0 / 2),
    ],
    ids=["a duplicate", "a session that goes on", "dates alone"],
)
def test_a_log_whose_last_event_is_late_is_read_again(
    rows: tuple[Any, ...], metric: str, value: float, size: int, held: int
) -> None:
    frame = events(*rows)
    whole = rk.online.summarize(frame, [metric], by=None)
    with limited(held_events=held, batch_rows=size):
        parts = rk.online.summarize(frame, [metric], by=None)

    assert whole.table["value"].to_list() == [value]
    assert parts.table.equals(whole.table, null_equal=True)
    assert parts.excluded == whole.excluded


def test_a_part_of_late_events_alone_is_refused() -> None:
    state = State(Rules())
    with limited(held_events=4):
        state.update(log("\n".join(f"u A {60 * hour} pageview" for hour in range(9))))
        assert state.closed
        with pytest.raises(DisorderError, match="user 'u' has an event of"):
            state.update(log("u A 330 pageview"))


def test_a_part_without_a_usable_event_is_counted() -> None:
    nobody = events((None, 2, 12, "page_view", None))
    total = rk.online.Accumulator(["bounce_rate"], by=None)
    total.update(nobody)
    with pytest.raises(DataError, match="no event has all of kind, time, user"):
        total.result()
    total.update(events(*VIEWS))
    total.update(nobody)

    result = total.result()

    assert result.table["n"].to_list() == [3]
    assert result.excluded["events without a user"] == 2
