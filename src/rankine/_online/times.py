"""Times of events as microseconds since 1970 in UTC, and the days they are of."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Literal
from zoneinfo import ZoneInfo, available_timezones

import polars as pl

from rankine._io.values import kind_of
from rankine.errors import DataError, FormatError, ParameterError, nearest

if TYPE_CHECKING:
    from datetime import date

    from rankine._io.sources import Rows
    from rankine._io.tables import Places

SECOND = 1_000_000
"""Microseconds in a second."""
HOUR = 60 * 60 * SECOND
"""Microseconds in an hour."""
DAY = 24 * HOUR
"""Microseconds in a day."""
_LONGEST = 1 << 60
"""Lengths of time are below this: 36,533 years."""
Every = Literal["day", "week", "hour"]
"""What is kept separate, and the column that says which one a row is of."""
PERIODS: tuple[Every, ...] = ("day", "week", "hour")
_UNITS = {"seconds": 1e11, "milliseconds": 1e14, "microseconds": 1e17}
"""The size below which a number is of that unit; larger ones are nanoseconds."""
_FACTORS = {"seconds": 1e6, "milliseconds": 1e3, "microseconds": 1.0}
_SMALL = 1e8
"""Seconds until 1973: smaller numbers are hardly dates."""
_OFFSET = r"(Z|z|UTC|[+-]\d\d(?::?\d\d)?)"
_ISO = (
    r"^(\d{4}-\d\d-\d\d)(?:[T ](\d\d:\d\d)(?::(\d\d(?:[.,]\d+)?))?\s*"
    rf"{_OFFSET}?)?$"
)


def times(
    column: pl.Series, title: str, origin: Rows | Places
) -> tuple[pl.Series, tuple[str, ...]]:
    """Return times as microseconds, null if there is none, and what was assumed.

    The name of the column of times says how they were written, which must be the same
    in all parts of a log; it is empty if there are none.

    Args:
        column: datetimes, dates, ISO 8601 text, or numbers since 1970.
        title: the name of the column.
        origin: says where a row is.
    """
    name = origin.name
    if column.dtype == pl.Date or isinstance(column.dtype, pl.Datetime):
        zone = getattr(column.dtype, "time_zone", None)
        said = () if zone else (f"{name}: times without a zone are taken as UTC",)
        moments = column.cast(pl.Datetime("us", zone)).to_physical()
        return moments.alias("times" if zone else "times without a zone"), said
    if column.dtype in (pl.Categorical, pl.Enum):
        column = column.cast(pl.String)
    if column.dtype == pl.String:
        column = column.str.strip_chars()
        column = column.set(column == "", None)
        whole = column.cast(pl.Int64, strict=False)
        numeric = column.cast(pl.Float64, strict=False)
        if whole.null_count() == column.null_count():
            column = whole
        elif numeric.null_count() == column.null_count():
            column = numeric
        else:
            return _from_text(column, title, origin)
    if not column.dtype.is_numeric():
        msg = (
            f"{name}: column {title!r} is of type {column.dtype}; expected times, such "
            "as 2026-03-01T09:30:00Z, or seconds since 1970"
        )
        raise FormatError(msg)
    return _from_numbers(column, title, origin)


def _from_text(
    column: pl.Series, title: str, origin: Rows | Places
) -> tuple[pl.Series, tuple[str, ...]]:
    parts = column.str.extract_groups(_ISO)
    day, minute, second, zone = (parts.struct.field(str(n)) for n in range(1, 5))
    frame = pl.DataFrame({"day": day, "minute": minute, "second": second})
    text = pl.format(
        "{}T{}:{}",
        "day",
        pl.col("minute").fill_null("00:00"),
        pl.col("second").fill_null("00").str.replace(",", ".", literal=True),
    )
    parsed = frame.select(
        text.str.to_datetime("%Y-%m-%dT%H:%M:%S%.f", time_unit="us", strict=False)
    ).to_series()
    bad = parsed.is_null() & column.is_not_null()
    if bad.any():
        row = int(bad.arg_true()[0])
        msg = (
            f"{origin.where(row)}: {title} is {column[row]!r}, not a time; expected "
            "one such as 2026-03-01T09:30:00Z, or seconds since 1970"
        )
        raise DataError(msg)
    bare = zone.is_null() & column.is_not_null()
    moments = parsed.to_physical()
    if not bare.any():
        return (moments - _offsets(zone)).alias("times"), ()
    if zone.null_count() < len(zone):
        row = int(bare.arg_true()[0])
        msg = (
            f"{origin.where(row)}: {title} is {column[row]!r}, without a zone, but "
            "other times have one; give all of them a zone, or none"
        )
        raise DataError(msg)
    said = (f"{origin.name}: times without a zone are taken as UTC",)
    return moments.alias("times without a zone"), said


def _offsets(zone: pl.Series) -> pl.Series:
    """Return how far a zone is ahead of UTC, in microseconds."""
    digits = zone.str.replace(":", "", literal=True)
    hours = digits.str.slice(1, 2).cast(pl.Int64, strict=False).fill_null(0)
    minutes = digits.str.slice(3, 2).cast(pl.Int64, strict=False).fill_null(0)
    behind = zone.str.starts_with("-").fill_null(value=False)
    size = (hours * 60 + minutes) * 60 * SECOND
    return size * (1 - 2 * behind.cast(pl.Int64))


def _from_numbers(
    column: pl.Series, title: str, origin: Rows | Places
) -> tuple[pl.Series, tuple[str, ...]]:
    if column.dtype.is_float():
        column = column.fill_nan(None)
    known = column.drop_nulls()
    if known.is_empty():
        return column.cast(pl.Int64).alias(""), ()
    size = known.cast(pl.Float64).abs()
    if not bool(size.is_finite().all()):
        msg = f"{origin.name}: {title} has a time that is not finite"
        raise DataError(msg)
    least, most = _unit(size.min()), _unit(size.max())
    if least != most:
        first = column.cast(pl.Float64).abs()
        row = int(first.arg_min() or 0)
        msg = (
            f"{origin.where(row)}: {title} is {column[row]}, {least} by its size, but "
            f"others are {most}, such as {known[int(size.arg_max() or 0)]}; give all "
            "of them one unit"
        )
        raise DataError(msg)
    said = f"{origin.name}: {title} has numbers, taken as {least} since 1970 by size"
    if size.max() < _SMALL:  # type: ignore[operator]
        said = f"{origin.name}: {title} has small numbers, taken as seconds"
    if column.dtype.is_float():
        scaled = column.cast(pl.Float64) * _FACTORS.get(least, 1e-3)
        return scaled.round().cast(pl.Int64).alias(least), (said,)
    whole = column.cast(pl.Int64)
    if least in _FACTORS:
        return (whole * int(_FACTORS[least])).alias(least), (said,)
    return (whole // 1000).alias(least), (said,)


def _unit(size: object) -> str:
    for unit, below in _UNITS.items():
        if size < below:  # type: ignore[operator]
            return unit
    return "nanoseconds"


def span(name: str, given: float | timedelta, unit: int, word: str) -> int:
    """Return a length of time in microseconds.

    Args:
        name: the name of the argument.
        given: a timedelta, or a number of units.
        unit: microseconds in the unit.
        word: what the unit is called.

    >>> span("session_gap", 30, 60 * SECOND, "minutes")
    1800000000
    """
    seconds = getattr(given, "total_seconds", None)
    if seconds is not None:
        size = float(seconds()) * SECOND
    elif isinstance(given, bool) or not isinstance(given, (int, float)):
        msg = (
            f"{name} must be a number of {word} or a timedelta, got {kind_of(given)}: "
            f"{given!r}"
        )
        raise ParameterError(msg)
    else:
        size = float(given) * unit
    if not 0 < size < _LONGEST:
        most = f"at most {_LONGEST // unit:,}" if size > 0 else "above 0"
        msg = f"{name} must be {most} {word}, got {given!r}"
        raise ParameterError(msg)
    return round(size)


def days_text(size: int) -> str:
    """Return a length of time in days.

    >>> days_text(14 * DAY), days_text(DAY), days_text(DAY // 2)
    ('14 days', '1 day', '0.5 days')
    """
    return "1 day" if size == DAY else f"{size / DAY:g} days"


# Days, weeks and hours of a time zone


def check_zone(name: object) -> None:
    """Refuse what is no time zone, such as Europe/Berlin."""
    known = available_timezones()
    if isinstance(name, str) and name in known:
        try:
            on_clocks(pl.Series([0]), name)
        except pl.exceptions.ComputeError:  # polars has a list of its own
            known.discard(name)
        else:
            return
    if not known:
        msg = "timezone cannot be used, as this system lists none: pip install tzdata"
        raise ParameterError(msg)
    msg = (
        "timezone must be a name such as 'Europe/Berlin', 'America/New_York' or 'UTC', "
        f"got {name!r}{nearest(name, known) if isinstance(name, str) else ''}"
    )
    raise ParameterError(msg)


def on_clocks(moments: pl.Series, zone: str | None) -> pl.Series:
    """Return times as clocks in a zone show them: as if these showed UTC.

    >>> on_clocks(pl.Series([0]), "Asia/Kolkata").item() / HOUR
    5.5
    """
    if zone is None:
        return moments
    there = moments.cast(pl.Datetime("us", "UTC")).dt.convert_time_zone(zone)
    return there.dt.replace_time_zone(None).to_physical()


def period_of(moments: pl.Series, every: Every, zone: str | None) -> pl.Series:
    """Return the day, week or hour that each time is in, as clocks in a zone count.

    Days and weeks are the numbers of their first days since 1970. An hour is the time
    at which it begins, so that one that clocks show twice is two.

    >>> period_of(pl.Series([4 * DAY, 11 * DAY - 1]), "week", None).to_list()
    [4, 4]
    """
    shown = on_clocks(moments, zone)
    if every == "hour":
        return shown // HOUR * HOUR - (shown - moments)
    day = (shown // DAY).cast(pl.Int32)
    return monday_of(day) if every == "week" else day


def monday_of(days: pl.Series) -> pl.Series:
    """Return the Monday of the week of each day; day 0, in 1970, was a Thursday."""
    return (days + 3) // 7 * 7 - 3


def dated(periods: pl.Series, every: Every, zone: str | None) -> pl.Series:
    """Return days, weeks and hours as dates and times, from their numbers."""
    if every != "hour":
        return periods.cast(pl.Int32).cast(pl.Date)
    return in_zone(periods, zone)


def in_zone(moments: pl.Series, zone: str | None) -> pl.Series:
    """Return moments as times of a zone; without one, in UTC, and without saying so."""
    moments = moments.cast(pl.Int64)
    if zone is None:
        return moments.cast(pl.Datetime("us"))
    return moments.cast(pl.Datetime("us", "UTC")).dt.convert_time_zone(zone)


def moment_text(moment: date) -> str:
    """Return a date, or a time with its offset from UTC if it has a zone.

    >>> moment_text(datetime(2026, 3, 1, 9, tzinfo=ZoneInfo("Europe/Berlin")))
    '2026-03-01 09:00+01:00'
    """
    if isinstance(moment, datetime):
        return moment.isoformat(" ", "minutes")
    return moment.isoformat()


def end_of(day: int, zone: str | None) -> int:
    """Return the moment at which a day of a zone ends.

    >>> (end_of(20541, "Europe/Berlin") - end_of(20540, "Europe/Berlin")) / HOUR
    23.0
    """
    midnight = datetime(1970, 1, 1) + timedelta(day + 1)  # noqa: DTZ001 - of the zone
    there = midnight.replace(tzinfo=UTC if zone is None else ZoneInfo(zone))
    return (there - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(microseconds=1)
