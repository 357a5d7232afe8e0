"""Events that come late: exactly counted or refused, in the last part of a log too."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import polars as pl
import pytest
from rankine._online.kept import DisorderError

import rankine as rk
from rankine._base.limits import limited
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


def test_of_many_late_users_the_earliest_event_and_the_least_id_are_named() -> None:
    users = [f"u{number:02}" for number in range(40)]
    hours = [f"{user} A {60 * hour} pageview" for hour in range(9) for user in users]
    late = [f"{user} A {210 if user == 'u07' else 180} pageview" for user in users[:20]]
    late = [line for line in late if not line.startswith(("u00", "u01"))]
    state = State(Rules())
    with limited(held_events=4):
        state.update(log("\n".join(hours)))
        with pytest.raises(
            DisorderError, match=r"user 'u02' has an event of .* 01:13:"
        ):
            state.update(log("\n".join(reversed(late))))


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


def test_in_order_a_late_retry_is_dropped_whoever_comes_first() -> None:
    """The retry of u's first event comes in a part where v's event precedes it."""
    first = log("v A 0 impression\nu A 1 impression\nv A 2 impression")
    later = log("v A 300 click\nu A 1 impression")
    total = rk.online.Accumulator(["ctr"], by=None, in_order=True)
    total.update(first.with_columns(event_id=pl.Series([1, 2, 3])))
    total.update(log("v A 299 impression").with_columns(event_id=pl.Series([4])))
    total.update(later.with_columns(event_id=pl.Series([5, 2])))
    found = total.result()

    assert found.table.select("value", "n").row(0) == (1 / 4, 4)
    assert found.excluded == {"duplicate events": 1}


def _day(*hours: int) -> pl.DataFrame:
    """Return a part: an event at each of these hours, counted from the first day."""
    return log("\n".join(f"u A {60 * hour} pageview" for hour in hours))


DAYS = [_day(*range(24 * day, 24 * day + 20, 4)) for day in range(3)]


@pytest.mark.parametrize(
    ("parts", "window"),
    [
        (DAYS, None),
        (DAYS[::-1], None),
        ([DAYS[1], DAYS[2], DAYS[0]], None),
        ([DAYS[0], DAYS[1], _day(24 + 22)], None),
        (DAYS, 7),
    ],
)
def test_a_large_log_may_come_in_the_order_of_time_or_days_before_it(
    parts: list[pl.DataFrame], window: int | None
) -> None:
    whole = rk.online.summarize(pl.concat(parts), ["bounce_rate"], window=window)
    total = rk.online.Accumulator(["bounce_rate"], by="variant", window=window)
    with limited(held_events=2):
        for part in parts:
            total.update(part)

        assert total.result().table.equals(whole.table, null_equal=True)


@pytest.mark.parametrize(
    ("parts", "window"),
    [
        ([DAYS[0], DAYS[2], DAYS[1]], None),
        ([DAYS[0], DAYS[1], _day(24 + 6)], None),
        ([DAYS[1], DAYS[0]], 7),
    ],
    ids=["a day between two", "a late hour", "an earlier day with a window"],
)
def test_an_event_of_a_large_log_within_what_is_summed_up_is_refused(
    parts: list[pl.DataFrame], window: int | None
) -> None:
    *before, last = parts
    total = rk.online.Accumulator(["bounce_rate"], by="variant", window=window)
    with limited(held_events=2):
        for part in before:
            total.update(part)

        with pytest.raises(DisorderError, match="user 'u'"):
            total.update(last)
