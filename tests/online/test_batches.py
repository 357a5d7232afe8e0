"""Logs in batches: sessions that are over become sums, and nothing else changes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from polars.testing import assert_frame_equal
from rankine._online.kept import DisorderError

from rankine._base.limits import limited
from rankine._io import open_table
from rankine._online.events import event_batches
from rankine._online.rules import Rules
from rankine._online.sums import State, user_sums
from rankine.errors import DataError
from tests.online.logs import log
from tests.online.twin import twin

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

BEGIN = 1_700_000_000
SMALL = {"batch_rows": 3, "held_events": 2}
NAMES = ["conversion_rate", "bounce_rate", "engagement_rate", "time_on_page", "roi"]
SCHEMA = {"variant": pl.String, "session_id": pl.String, "event_id": pl.String}
KINDS = ["impression", "pageview", "click", "share", "conversion"]
SEEN = [
    {"user_id": 9, "variant": "A", "timestamp": BEGIN + n, "event": kind}
    | {"value": 1.0, "cost": 1.0, "country": "x", "session_id": "s", "event_id": kind}
    for n, kind in enumerate(["impression", "pageview", "conversion"])
]


def events(
    users: int, spread: int, step: int = 400, sessions: str = "st"
) -> st.SearchStrategy[list[dict[str, Any]]]:
    """Draw logs; users are mostly in one arm, and times are steps of some seconds."""
    event = st.fixed_dictionaries(
        {
            "user_id": st.integers(1, users),
            "variant": st.sampled_from(["A", "A", "A", "A", "B", None, None]),
            "timestamp": st.integers(0, spread).map(lambda n: BEGIN + step * n),
            "event": st.sampled_from(KINDS),
            "value": st.integers(0, 4).map(lambda n: n / 4),
            "cost": st.integers(1, 4).map(lambda n: n / 10),
            "country": st.sampled_from(["x", "y", None]),
            "session_id": st.sampled_from([*sessions, None]),
            "event_id": st.one_of(st.none(), st.integers(0, 60).map(str)),
        }
    )
    return st.lists(event, min_size=1, max_size=60)


LOGS = st.one_of(events(4, 40), events(2, 150))
WEEKS = events(3, 60, step=20_000, sessions="abcdefghijklmnop")
OPTIONS = st.fixed_dictionaries(
    {
        "daily": st.booleans(),
        "segment": st.sampled_from([None, "country"]),
        "by": st.sampled_from(["variant", "variant", None, "country"]),
    }
).filter(lambda given: given["by"] is None or given["by"] != given["segment"])
RULES = st.sampled_from(
    [{}, {}, {"session_gap": 10}, {"window": 0.1}, {"exposure": "impression"},
     {"duplicates": "keep"}, {"last_page": "heartbeat"}, {"engaged": 900}]
)  # fmt: skip
ONE_DROPPED = st.sampled_from([["event_id"], ["session_id"], []])
DROPPED = st.sampled_from(
    [["session_id", "event_id"]] * 4 + [["event_id"], ["session_id"], []]
)  # fmt: skip


def frame_of(rows: list[dict[str, Any]], dropped: list[str]) -> pl.DataFrame:
    return pl.DataFrame(rows, schema_overrides=SCHEMA).drop(dropped)


def outcome(compute: Callable[[], Any]) -> Any:
    """Return sums, or why there are none."""
    try:
        return compute()
    except DisorderError:
        raise
    except Exception as error:  # noqa: BLE001 - both must fail alike
        return str(error)


def assert_same(first: Any, second: Any) -> None:
    if isinstance(second, str):
        assert first == second
        return
    assert_frame_equal(first.frame, second.frame, check_exact=True)
    assert first.excluded == second.excluded
    assert first.metrics == second.metrics


@settings(deadline=None, max_examples=100)
@given(
    logged=st.one_of(st.tuples(LOGS, DROPPED), st.tuples(WEEKS, ONE_DROPPED)),
    options=OPTIONS,
    rules=RULES,
    data=st.data(),
)
def test_batches_come_to_the_same_whatever_their_order(
    logged: tuple[list[dict[str, Any]], list[str]],
    options: dict[str, Any],
    rules: dict[str, Any],
    data: st.DataObject,
) -> None:
    rows, dropped = [*logged[0], *SEEN], logged[1]
    order = data.draw(st.sampled_from(["time", "user", "any"]))
    if order == "time":
        rows.sort(key=lambda row: row["timestamp"])
    if order == "user":
        rows.sort(key=lambda row: (row["user_id"], row["timestamp"]))
    frame = frame_of(rows, dropped)
    whole = outcome(lambda: user_sums(frame, NAMES, **options, **rules))
    with limited(**SMALL):
        parts = outcome(lambda: user_sums(frame, NAMES, **options, **rules))

    assert_same(parts, whole)
    if not isinstance(whole, str):
        assert set(parts.notes) == set(whole.notes)


@settings(deadline=None, max_examples=60)
@given(rows=LOGS, options=OPTIONS, rules=RULES, dropped=DROPPED, data=st.data())
def test_days_merge_in_any_tree(
    rows: list[dict[str, Any]],
    options: dict[str, Any],
    rules: dict[str, Any],
    dropped: list[str],
    data: st.DataObject,
) -> None:
    rows = sorted([*rows, *SEEN], key=lambda row: row["timestamp"])
    sizes = data.draw(st.lists(st.integers(1, 12), min_size=1, max_size=6))
    frame = frame_of(rows, dropped)
    whole = outcome(lambda: user_sums(frame, NAMES, **options, **rules))
    with limited(**SMALL):
        states, begin = [], 0
        for size in [*sizes, len(rows)]:
            state = State(Rules.of(rules), **options)
            if begin < len(rows):
                state.update(frame[begin : begin + size])
            begin += size
            states.append(state)
        while len(states) > 1:
            place = data.draw(st.integers(0, len(states) - 2))
            pair = states[place : place + 2]
            if data.draw(st.booleans()):
                pair.reverse()
            try:
                pair[0].merge(pair[1])
            except DisorderError:
                assert "window" in rules  # the end of which may be amid what is summed
                return
            states[place : place + 2] = pair[:1]
        merged = outcome(lambda: states[0].sums(NAMES))

    assert_same(merged, whole)


@settings(deadline=None, max_examples=30)
@given(rows=events(2, 150))
def test_batches_come_to_what_plain_loops_count(rows: list[dict[str, Any]]) -> None:
    rows = [
        {name: row[name] for name in row if name not in {"session_id", "event_id"}}
        for row in sorted([*rows, *SEEN], key=lambda row: row["timestamp"])
    ]
    with limited(**SMALL):
        counted = user_sums(pl.DataFrame(rows, schema_overrides={"variant": pl.String}))
    expected = twin(rows)

    assert counted.frame["user"].to_list() == list(expected)
    for row in counted.frame.iter_rows(named=True):
        for name in set(NAMES) & set(counted.metrics):
            for side in ("y", "x", "y0", "x0"):
                own = float(expected[row["user"]][f"{name}.{side}"])
                assert row[f"{name}.{side}"] == pytest.approx(own)


@settings(deadline=None, max_examples=30)
@given(rows=LOGS, options=OPTIONS, cuts=st.lists(st.integers(0, 3), min_size=64))
def test_parts_with_other_users_merge(
    rows: list[dict[str, Any]], options: dict[str, Any], cuts: list[int]
) -> None:
    rows = sorted([*rows, *SEEN], key=lambda row: row["timestamp"])
    frame = frame_of(rows, ["session_id", "event_id"])
    whole = outcome(lambda: user_sums(frame, NAMES, **options))
    with limited(**SMALL):
        total = State(Rules(), **options)
        for users in ([9, 1], [3], [2, 4]):
            state = State(Rules(), **options)
            part = frame.filter(pl.col("user_id").is_in(users))
            for begin in range(0, part.height, cuts[0] + 1):
                state.update(part[begin : begin + cuts[0] + 1])
            total.merge(state)
        merged = outcome(lambda: total.sums(NAMES))

    assert_same(merged, whole)


# By hand


def visits(hours: range) -> str:
    """Write a visit of two page views for each hour."""
    lines = (f"u A {60 * hour + n} pageview p{n}" for hour in hours for n in (0, 1))
    return "\n".join(lines)


def test_sessions_that_are_over_become_sums() -> None:
    state = State(Rules())
    with limited(**SMALL):
        for hour in range(20):
            state.update(log(visits(range(hour, hour + 1))))

        events_kept = sum(part.height for part in [*state.open, *state.first])
        assert events_kept <= 2 * 4  # the first visit, and the last three
        assert sum(part.height for part in state.closed) <= 20
        counted = state.sums(["bounce_rate", "time_on_page"]).frame

    assert counted.select("bounce_rate.x", "time_on_page.y").row(0) == (20, 20 * 60)


def test_a_small_log_may_come_in_any_order() -> None:
    state = State(Rules())
    for hours in (range(5, 9), range(5), range(9, 12)):
        state.update(log(visits(hours)))

    assert state.closed == []
    assert state.sums(["bounce_rate"]).frame["bounce_rate.x"].to_list() == [12]


def test_an_event_amid_sums_is_refused_and_the_user_is_named() -> None:
    state = State(Rules())
    with limited(**SMALL):
        state.update(log(visits(range(10))))
        words = "user 'u' has an event of 2023-11-15 03:43:20 that comes after later"
        with pytest.raises(DisorderError, match=words) as refused:
            state.update(log("u A 330 pageview\nv A 900 pageview\nv A 901 pageview"))
        assert str(refused.value).endswith(
            "in_order=False keeps what is needed of every event, in any order"
        )
        with pytest.raises(DataError, match="was not read to its end"):
            state.sums()


def test_a_late_event_joins_the_first_session_of_its_user() -> None:
    state = State(Rules())
    with limited(**SMALL):
        state.update(log("u A 0 pageview\nu A 1 pageview\nv A 300 pageview"))
        assert state.first
        state.update(log("u A 20 pageview\nv A 400 pageview\nv A 401 pageview"))
        counted = state.sums(["bounce_rate"]).frame

    assert counted["bounce_rate.x"].to_list() == [1, 2]


def test_an_earlier_day_is_not_amid_what_is_summed_up() -> None:
    state = State(Rules())
    with limited(**SMALL):
        state.update(log(visits(range(30, 40))))
        state.update(log(visits(range(10))))
        counted = state.sums(["bounce_rate"]).frame

    assert counted["bounce_rate.x"].to_list() == [20]


def test_a_log_out_of_order_is_read_again() -> None:
    frame = log(visits(range(10)))
    mixed = frame[[*range(0, 20, 2), *range(1, 20, 2)]]
    with limited(**SMALL):
        counted = user_sums(mixed, ["time_on_page"]).frame

    assert counted["time_on_page.y"].to_list() == [10 * 60]


def test_days_that_were_summed_up_apart_merge() -> None:
    days = [State(Rules(), daily=True) for _ in range(3)]
    with limited(**SMALL):
        for day, state in enumerate(days):
            state.update(log(visits(range(24 * day, 24 * day + 20))))
            assert state.closed
        days[2].merge(days[1])
        days[2].merge(days[0])
        counted = days[2].sums(["bounce_rate"]).frame

    assert counted["bounce_rate.x"].sum() == 3 * 20


def test_a_day_between_two_that_were_merged_is_refused() -> None:
    days = [State(Rules()) for _ in range(3)]
    with limited(**SMALL):
        for day, state in enumerate(days):
            state.update(log(visits(range(24 * day, 24 * day + 20))))
        days[2].merge(days[0])
        with pytest.raises(DisorderError, match="merge parts in order of time, or"):
            days[2].merge(days[1])


# Files


def written(frame: pl.DataFrame, folder: Path, form: str) -> Path:
    """Write a log as two files of a folder."""
    half = frame.height // 2
    for name, part in (("1", frame[:half]), ("2", frame[half:])):
        path = folder / f"{name}.{form}"
        if form == "csv":
            part.write_csv(path)
        elif form == "ndjson":
            part.write_ndjson(path)
        else:
            part.write_parquet(path)
    return folder


@pytest.mark.parametrize("form", ["parquet", "csv", "ndjson"])
def test_files_are_read_in_batches(form: str, tmp_path: Path) -> None:
    frame = log(visits(range(12))).with_columns(
        value=pl.lit(0.1), cost=pl.lit(0.2), page=pl.lit("a, b")
    )
    frame = frame.with_columns(event=pl.lit("conversion"))
    folder = written(frame, tmp_path, form)
    names = ["conversion_rate", "roi"]
    whole = user_sums(frame, names, duplicates="keep")
    with limited(**SMALL, part_bytes=100, few_json_bytes=10):
        sizes = [
            batch.frame.height
            for batch in event_batches(folder, Rules(), "variant", None)
        ]
        parts = user_sums(folder, names, duplicates="keep")

    assert sum(sizes) == 24
    assert max(sizes) <= 3
    assert_frame_equal(parts.frame, whole.frame, check_exact=True)


@pytest.mark.parametrize("form", ["parquet", "csv"])
def test_what_is_wrong_in_a_later_batch_is_said_with_its_place(
    form: str, tmp_path: Path
) -> None:
    frame = log(visits(range(5))).with_columns(value=pl.lit(1.0))
    bad = pl.when(pl.int_range(pl.len()) == 7).then(1e12).otherwise("value")
    path = tmp_path / f"log.{form}"
    frame = frame.with_columns(value=bad)
    frame.write_csv(path) if form == "csv" else frame.write_parquet(path)
    place = "log.csv:9" if form == "csv" else "log.parquet, row 7"
    with (
        limited(**SMALL, part_bytes=100),
        pytest.raises(DataError, match=f"{place}: value is 1e\\+12"),
    ):
        user_sums(path)


def test_lines_of_json_that_are_not_alike_are_read_at_once(tmp_path: Path) -> None:
    path = tmp_path / "log.ndjson"
    alike, late = log(visits(range(5))), log("u A 290 conversion")
    text = alike.drop("page").write_ndjson()
    path.write_text(
        text + late.with_columns(value=pl.lit(2.5), cost=0.5).write_ndjson()
    )
    with limited(**SMALL, part_bytes=100, few_json_bytes=10):
        counted = user_sums(path, ["roi", "bounce_rate"]).frame

    assert counted.select("roi.y", "bounce_rate.x").row(0) == (2.5 - 0.5, 6)


def test_whole_and_other_numbers_of_json_are_of_one_type(tmp_path: Path) -> None:
    path = tmp_path / "log.ndjson"
    frame = log(visits(range(6))).with_columns(event=pl.lit("conversion"))
    whole = frame.with_columns(value=pl.lit(3), cost=1)[:6].write_ndjson()
    other = frame.with_columns(value=pl.lit(0.25), cost=0.5)[6:].write_ndjson()
    path.write_text(whole + other)
    with limited(**SMALL, part_bytes=100, few_json_bytes=10):
        table = open_table(path, "log")
        types = [
            batch[0].schema["value"]
            for parts in table.batches(["value"], ["value"], 3)
            for batch in parts
        ]
        counted = user_sums(path, ["roi"]).frame

    assert len(types) > 1
    assert set(types) == {pl.Float64()}
    assert counted["roi.x"].to_list() == [6 * 1 + 6 * 0.5]


def test_a_field_in_quotes_may_run_over_blocks(tmp_path: Path) -> None:
    path = tmp_path / "log.csv"
    page = "\n".join("abcdefgh" * 4 for _ in range(8))
    frame = log(visits(range(5))).with_columns(page=pl.lit(page))
    frame.write_csv(path)
    with limited(**SMALL, part_bytes=100):
        counted = user_sums(path, ["bounce_rate"]).frame

    assert counted["bounce_rate.x"].to_list() == [5]
