"""Ids of sessions and events that come back, after however long."""

from __future__ import annotations

import polars as pl
import pytest

import rankine as rk
from rankine._base.limits import limited

SMALL = {"batch_rows": 3, "held_events": 2}
HOUR = 3600
METRICS = ["bounce_rate", "time_on_page"]


def log(text: str) -> pl.DataFrame:
    """Read `user session hour event [id]` lines; - is nothing."""
    rows = [line.split() for line in text.strip().splitlines()]
    frame = pl.DataFrame(
        {
            "user_id": [row[0] for row in rows],
            "session_id": [None if row[1] == "-" else row[1] for row in rows],
            "timestamp": [1_700_000_000 + round(HOUR * float(row[2])) for row in rows],
            "event": [row[3] for row in rows],
        },
        schema_overrides={"session_id": pl.String},
    )
    ids = [row[4] if len(row) > 4 else None for row in rows]
    return frame.with_columns(event_id=pl.Series(ids)) if any(ids) else frame


def visits(days: range, user: str = "u") -> str:
    """Write a session of two page views, half an hour apart, for each day."""
    return "\n".join(
        f"{user} s{day} {24 * day + half / 2} pageview"
        for day in days
        for half in (0, 1)
    )


def of_parts(*parts: pl.DataFrame) -> rk.online.Summary:
    total = rk.online.Accumulator(METRICS, by=None)
    with limited(**SMALL):
        for part in parts:
            total.update(part)
        return total.result()


@pytest.mark.parametrize(
    ("late", "sessions", "views", "seconds"),
    [
        ("u s3 500 pageview", 20, 21, (20 * 0.5 + 500 - 3 * 24 - 0.5) * HOUR),
        ("v s3 500 pageview", 21, 20, 20 * 0.5 * HOUR),
        ("u s20 500 pageview", 21, 20, 20 * 0.5 * HOUR),
        ("u - 500 pageview", 21, 20, 20 * 0.5 * HOUR),
    ],
    ids=["it goes on", "of another user", "another session", "no id"],
)
def test_a_session_that_comes_back_is_one(
    late: str, sessions: int, views: int, seconds: float
) -> None:
    days = [log(visits(range(day, day + 1))) for day in range(20)]
    found = of_parts(*days, log(late))

    assert found.table["n"].to_list() == [sessions, views]
    assert found.table["value"][1] == seconds / views
    whole = rk.online.summarize(pl.concat([*days, log(late)]), METRICS, by=None)
    assert whole.to_dict() == found.to_dict()


def test_a_session_comes_back_after_another_user_had_its_id() -> None:
    other = "v s0 214 pageview\nv s0 215 pageview\nv s0 216 pageview"
    found = of_parts(log(visits(range(9))), log(other), log("u s0 217 pageview"))

    assert found.table["n"].to_list() == [9 + 1, 9 + 2 + 1]


def test_sessions_with_ints_as_ids_are_known_as_text() -> None:
    ints = log(visits(range(9))).with_columns(
        pl.col("session_id").str.strip_prefix("s").cast(pl.Int64)
    )

    assert of_parts(ints, log("u 3 217 pageview")).table["n"].to_list() == [9, 9 + 1]


RETRIED = "\n".join(f"u - {3 * hour} pageview e{hour}" for hour in range(20))


@pytest.mark.parametrize(
    ("late", "sessions"),
    [("58 pageview e3", 20), ("9 pageview e3", 20), ("5.9 pageview e3", 19)],
    ids=["a later one", "the same", "an earlier one"],
)
def test_of_events_with_one_id_the_earliest_counts(late: str, sessions: int) -> None:
    """The earliest is in the session of the event at 6:00, if it is at 5:54."""
    found = of_parts(log(RETRIED), log(f"u - {late}"))

    assert found.table["n"].to_list() == [sessions, 20 - sessions]
    assert found.excluded["duplicate events"] == 1
    whole = rk.online.summarize(log(f"{RETRIED}\nu - {late}"), METRICS, by=None)
    assert whole.to_dict() == found.to_dict()


def test_of_events_at_one_time_with_one_id_the_least_counts() -> None:
    """By kind, then by value: the page view, then the cheaper purchase."""
    frame = log("u - 1 conversion e\nu - 1 pageview e\nu - 2 conversion f")
    frame = pl.concat([frame, frame[2:]]).with_columns(
        value=pl.Series([7.0, 7.0, 5.0, 3.0]), cost=1.0
    )
    for order in ([0, 1, 2, 3], [3, 2, 1, 0]):
        found = rk.online.summarize(frame[order], ["roi"], by=None)
        assert found.table["value"].to_list() == [(3 - 2) / 2]
        assert found.excluded == {"duplicate events": 2}


def test_an_id_is_that_of_an_event_of_a_user() -> None:
    first = log("v - 0 impression 1\nu - 0 impression 2\nv - 0.1 impression 3")
    later = log("v - 5 click 5\nu - 0 impression 2\nu - 6 impression 1")
    retries = log("v - 7 impression 1\nu - 8 impression 1")
    total = rk.online.Accumulator(["ctr"], by=None)
    total.update(first).update(log("v - 4 impression 4")).update(later)
    total.update(retries)

    found = total.result()

    assert found.table.select("value", "n", "users").row(0) == (1 / 5, 5, 2)
    assert found.excluded == {"duplicate events": 1 + 2}
