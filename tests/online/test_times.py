"""Times come out as microseconds since 1970 in UTC, and what is unclear is refused."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta, timezone
from typing import Any

import polars as pl
import pytest

from rankine._io.sources import Rows
from rankine._online.times import span, times
from rankine.errors import DataError, FormatError, ParameterError

NOON = 1_772_366_400  # 2026-03-01 12:00:00 UTC
MICRO = 1_000_000
ORIGIN = Rows(pl.DataFrame(), "log.csv", line=2)


def read(values: list[Any], dtype: Any = None) -> tuple[list[int | None], str]:
    found, notes = times(pl.Series("ts", values, dtype), "ts", ORIGIN)
    return found.to_list(), "; ".join(notes)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("2026-03-01T12:00:00Z", NOON * MICRO),
        ("2026-03-01 12:00:00+00:00", NOON * MICRO),
        ("2026-03-01T13:30:00+01:30", NOON * MICRO),
        ("2026-03-01T13:30:00+0130", NOON * MICRO),
        ("2026-03-01T05:00:00-07", NOON * MICRO),
        ("2026-03-01T12:00:00.25Z", NOON * MICRO + 250_000),
        ("2026-03-01T12:00:00,25 UTC", NOON * MICRO + 250_000),
        ("2026-03-01T12:00Z", NOON * MICRO),
    ],
)
def test_text_with_a_zone(value: str, expected: int) -> None:
    assert read([value]) == ([expected], "")


@pytest.mark.parametrize("value", ["2026-03-01T12:00:00", "2026-03-01 12:00"])
def test_text_without_a_zone_is_utc_and_said(value: str) -> None:
    said = "log.csv: times without a zone are taken as UTC"

    assert read([value, None, ""]) == ([NOON * MICRO, None, None], said)


def test_a_day_alone_is_midnight() -> None:
    midnight = (NOON - 12 * 3600) * MICRO

    assert read(["2026-03-01"])[0] == [midnight]
    assert read([date(2026, 3, 1)])[0] == [midnight]


@pytest.mark.parametrize(
    ("value", "dtype", "said"),
    [
        (datetime(2026, 3, 1, 12, tzinfo=UTC), pl.Datetime("ms", "UTC"), False),
        (datetime(2026, 3, 1, 12, tzinfo=UTC), pl.Datetime("ns", "UTC"), False),
        (
            datetime(2026, 3, 1, 14, tzinfo=timezone(timedelta(hours=2))),
            pl.Datetime("us", "Europe/Berlin"),
            False,
        ),
        (datetime(2026, 3, 1, 12), pl.Datetime("us"), True),  # noqa: DTZ001 - on purpose
    ],
)
def test_datetimes(value: datetime, dtype: Any, said: bool) -> None:  # noqa: FBT001
    found, notes = read([value], dtype)

    assert found == [NOON * MICRO]
    assert ("taken as UTC" in notes) == said


@pytest.mark.parametrize(
    ("value", "unit"),
    [
        (NOON, "seconds"),
        (NOON * 1000, "milliseconds"),
        (NOON * 1_000_000, "microseconds"),
        (NOON * 1_000_000_000, "nanoseconds"),
        (float(NOON), "seconds"),
        (NOON * 1000.0, "milliseconds"),
        (str(NOON), "seconds"),
        (f"{NOON}.0", "seconds"),
    ],
)
def test_the_unit_of_numbers_is_known_by_their_size(value: Any, unit: str) -> None:
    found, notes = read([value, None])

    assert found == [NOON * MICRO, None]
    assert notes == f"log.csv: ts has numbers, taken as {unit} since 1970 by size"


def test_small_numbers_are_seconds_and_said() -> None:
    said = "log.csv: ts has small numbers, taken as seconds"

    assert read([0, 1, 90]) == ([0, MICRO, 90 * MICRO], said)
    assert read([0.5]) == ([MICRO // 2], said)


@pytest.mark.parametrize(
    ("values", "words"),
    [
        (
            [NOON * 1000, NOON],
            (
                f"log.csv:3: ts is {NOON}, seconds by its size, but others are "
                f"milliseconds, such as {NOON * 1000}; give all of them one unit"
            ),
        ),
        (
            ["2026-03-01T12:00:00Z", "2026-03-01T12:00:00"],
            (
                "log.csv:3: ts is '2026-03-01T12:00:00', without a zone, but other "
                "times have one; give all of them a zone, or none"
            ),
        ),
        (
            ["2026-03-01", "yesterday"],
            (
                "log.csv:3: ts is 'yesterday', not a time; expected one such as "
                "2026-03-01T09:30:00Z, or seconds since 1970"
            ),
        ),
        (
            ["2026-02-30"],
            (
                "log.csv:2: ts is '2026-02-30', not a time; expected one such as "
                "2026-03-01T09:30:00Z, or seconds since 1970"
            ),
        ),
        ([float("inf")], "log.csv: ts has a time that is not finite"),
    ],
)
def test_what_is_unclear_is_refused(values: list[Any], words: str) -> None:
    with pytest.raises(DataError) as caught:
        read(values)

    assert str(caught.value) == words


def test_other_types_are_refused() -> None:
    with pytest.raises(FormatError, match="of type Boolean; expected times"):
        read([True])


@pytest.mark.parametrize(
    ("given", "expected"),
    [(30, 1800 * MICRO), (0.5, 30 * MICRO), (timedelta(minutes=2), 120 * MICRO)],
)
def test_lengths(given: Any, expected: int) -> None:
    assert span("session_gap", given, 60 * MICRO, "minutes") == expected


@pytest.mark.parametrize("given", [0, -1, "30", True, None, float("nan"), float("inf")])
def test_lengths_that_are_none(given: Any) -> None:
    with pytest.raises(ParameterError, match=r"^session_gap must be "):
        span("session_gap", given, 60 * MICRO, "minutes")
