"""Events that come late: a session, a duplicate or an exposure of an earlier part."""

from __future__ import annotations

from datetime import datetime
from itertools import permutations
from typing import Any

import polars as pl
import pytest

import rankine as rk
from rankine._base.limits import limited
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


@pytest.mark.parametrize("held", [1, 4, 100])
@pytest.mark.parametrize("size", [1, 5])
@pytest.mark.parametrize(
    ("rows", "metric", "value"),
    [
        ((*BUYS, *VIEWS, BUYS[1]), "roi", (10 + 10 - 5) / 5),
        ((*BUYS, *VIEWS, ("u", 3, 12, "page_view", None)), "bounce_rate", 3 / 5),
        ((*DATES, DATES[1], ("u", 1, 0, "click", None)), "bounce_rate", 0 / 2),
    ],
    ids=["a duplicate", "a session that goes on", "dates alone"],
)
def test_the_last_event_of_a_log_may_be_late(
    rows: tuple[Any, ...], metric: str, value: float, size: int, held: int
) -> None:
    with limited(held_events=held, batch_rows=size):
        found = rk.online.summarize(events(*rows), [metric], by=None)

    assert found.table["value"].to_list() == [value]


def visits(*minutes: int) -> rk.online.Accumulator:
    """Return what was read of a log in parts: a page view each."""
    total = rk.online.Accumulator(["bounce_rate", "time_on_page"])
    for minute in minutes:
        total.update(log(f"u A {minute} pageview"))
    return total


def test_a_late_event_joins_two_sessions() -> None:
    assert visits(0, 40).result().table["n"].to_list() == [2, 0]
    joined = visits(0, 40, 20).result().table

    assert joined.select("value", "n").rows() == [(0 / 1, 1), (20 * 60, 2)]


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


def test_what_precedes_the_first_exposure_is_found_in_any_session() -> None:
    """Session 2 is over before session 1 shows the variant."""
    frame = log("u A 10 impression\nu A 11 click\nu - 0 impression\nu - 1 impression")
    frame = frame.with_columns(session_id=pl.Series([1, 1, 2, 2]))
    found = rk.online.summarize(frame, ["ctr"])

    assert found.table.select("value", "n").row(0) == (1 / 1, 1)
    assert found.excluded == {"events before the first exposure": 2}


def test_a_late_event_moves_the_first_exposure_and_its_window() -> None:
    """The window of an hour begins at minute 10, then at minute 0."""
    total = rk.online.Accumulator(["ctr"], window=1 / 24, incomplete="keep")
    total.update(log("u A 10 impression\nu A 65 impression\nu A 66 click"))
    assert total.result().table.select("value", "n").row(0) == (1 / 2, 2)
    total.update(log("u A 0 impression\nu - -5 impression"))

    found = total.result()

    assert found.table.select("value", "n").row(0) == (0 / 2, 2)
    assert found.excluded == {
        "events after the window": 2,
        "events before the first exposure": 1,
    }


def _day(*hours: int) -> pl.DataFrame:
    """Return a part: an event at each of these hours, counted from the first day."""
    return log("\n".join(f"u A {60 * hour} pageview" for hour in hours))


DAYS = [_day(*range(24 * day, 24 * day + 20, 4)) for day in range(3)]


@pytest.mark.slow
@pytest.mark.parametrize("window", [None, 2])
@pytest.mark.parametrize("held", [2, 100])
@pytest.mark.parametrize(
    ("parts", "sessions"),
    [
        *((days, 3 * 5) for days in permutations(DAYS)),
        ([DAYS[0], DAYS[1], _day(24 + 22)], 2 * 5 + 1),
        ([DAYS[0], DAYS[1], _day(24 + 6)], 2 * 5 + 1),
    ],
)
def test_days_and_hours_come_in_any_order(
    parts: list[pl.DataFrame], sessions: int, window: int | None, held: int
) -> None:
    kept: Any = {} if window is None else {"window": window, "incomplete": "keep"}
    total = rk.online.Accumulator(["bounce_rate"], **kept)
    with limited(held_events=held):
        for part in parts:
            total.update(part)

        beyond = 5 if window and sessions == 3 * 5 else 0
        assert total.result().table.select("value", "n").row(0) == (
            1,
            sessions - beyond,
        )
