"""Ids of sessions and events that come back after they were summed up."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
import pytest
from rankine._online.kept import DisorderError
from rankine._online.keys import Keys

import rankine as rk
from rankine._base.limits import limited
from rankine._online.rules import Rules
from rankine._online.sums import State

if TYPE_CHECKING:
    from numpy.random import Generator

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


def in_parts(frame: pl.DataFrame) -> rk.online.Summary:
    with limited(**SMALL):
        return rk.online.summarize(frame, METRICS, by=None)


def test_sessions_with_ids_become_sums_and_their_ids_are_forgotten() -> None:
    state = State(Rules(), None, merges=False)
    with limited(**SMALL):
        for day in range(20):
            state.update(log(visits(range(day, day + 1))))

        assert sum(part.height for part in state.open) <= 2 * 4
        assert state.sessions.n <= 2 * 4
        assert state.finished.nbytes >= 8 * 12
        sums = state.sums(METRICS).frame

    assert sums.select("bounce_rate.x", "time_on_page.y").row(0) == (20, 20 * HOUR / 2)


def test_an_accumulator_keeps_their_events() -> None:
    total = rk.online.Accumulator(METRICS, by=None)
    with limited(**SMALL):
        for day in range(20):
            total.update(log(visits(range(day, day + 1))))
        total.update(log("u s0 500 pageview"))

    table = total.result().table
    assert table["n"].to_list() == [20, 21]
    assert table["value"][1] == (20 * HOUR / 2 + (500 - 0.5) * HOUR) / 21


@pytest.mark.parametrize(
    ("late", "sessions"),
    [
        ("u s3 500 pageview", 20),
        ("v s3 500 pageview", 21),
        ("u s20 500 pageview", 21),
        ("u - 500 pageview", 21),
    ],
    ids=["it goes on", "of another user", "another session", "no id"],
)
def test_a_session_that_comes_back_is_one(late: str, sessions: int) -> None:
    frame = log(visits(range(20)) + "\n" + late)
    whole = rk.online.summarize(frame, METRICS, by=None)

    assert whole.table["n"][0] == sessions
    assert in_parts(frame).to_dict() == whole.to_dict()


def test_it_is_known_while_another_user_has_its_id() -> None:
    state = State(Rules(), None, merges=False)
    with limited(**SMALL):
        state.update(log(visits(range(9))))
        state.update(log("v s0 214 pageview\nv s0 215 pageview\nv s0 216 pageview"))
        with pytest.raises(DisorderError, match="a session that was summed up goes on"):
            state.update(log("u s0 217 pageview"))


def test_sessions_with_ints_as_ids_are_known_as_text() -> None:
    state = State(Rules(), None, merges=False)
    ints = log(visits(range(9))).with_columns(
        pl.col("session_id").str.strip_prefix("s").cast(pl.Int64)
    )
    with limited(**SMALL):
        state.update(ints)
        with pytest.raises(DisorderError, match="a session that was summed up goes on"):
            state.update(log("u 3 217 pageview"))


RETRIED = "\n".join(f"u - {3 * hour} pageview e{hour}" for hour in range(20))


@pytest.mark.parametrize(
    ("late", "seconds"),
    [("58 pageview e3", 0), ("9 pageview e3", 0), ("8.9 pageview e3", 0)],
    ids=["a later one", "the same", "an earlier one"],
)
def test_of_events_with_one_id_the_earliest_counts(late: str, seconds: float) -> None:
    frame = log(f"{RETRIED}\nu - {late}")
    whole = rk.online.summarize(frame, METRICS, by=None)
    parts = in_parts(frame)

    assert whole.table["n"].to_list() == [20, seconds]
    assert whole.excluded["duplicate events"] == 1
    assert parts.to_dict() == whole.to_dict()


def test_a_later_retry_is_left_out_without_reading_again() -> None:
    state = State(Rules(), None, merges=False)
    with limited(**SMALL):
        state.update(log(RETRIED))
        assert state.gone
        state.update(log("u - 58 pageview e3"))
        assert state.sums(["bounce_rate"]).frame["bounce_rate.x"].to_list() == [20]
        with pytest.raises(DisorderError, match="may be the earlier"):
            state.update(log("u - 9 pageview e3"))


@pytest.mark.parametrize("seed", range(5))
def test_keys_are_those_of_a_set(seed: int) -> None:
    random: Generator = np.random.default_rng(seed)
    keys, known = Keys(), set[int]()
    for _ in range(30):
        new = random.integers(0, 300, random.integers(0, 40)).astype(np.uint64)
        before = keys.copy()
        asked: Any = random.integers(0, 300, 50).astype(np.uint64)
        keys.add(new)

        assert before.has(asked).tolist() == [int(key) in known for key in asked]
        known |= set(map(int, new))
        assert keys.has(asked).tolist() == [int(key) in known for key in asked]
        assert bool(keys) == bool(known)
