"""What a test is asked for: options, metrics, and the sums of users."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from inspect import signature
from os import PathLike
from typing import TYPE_CHECKING, Any

from rankine._io.columns import known_columns
from rankine._online.events import is_of_users, open_log
from rankine._online.looks import looks_of
from rankine._online.metrics import parts_of
from rankine._online.rules import COLUMNS, UNITS, Rules
from rankine._online.sources import Query, refuse_database
from rankine._online.summary import Accumulator
from rankine._online.table import counts_of
from rankine._online.users import COLUMNS_OF_USERS
from rankine.errors import ParameterError, RankineError, nearest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from datetime import date

    import polars as pl

    from rankine._online.sums import UserCounts, UserSums

    Looks = Callable[..., Iterator[tuple[date, pl.DataFrame]]]


def check_options(function: Callable[..., Any], rules: Mapping[str, Any]) -> None:
    """Refuse an option that neither a function nor the reading of events has."""
    known = [name for name in signature(function).parameters if name != "rules"]
    known += Rules.names()
    for name in rules:
        if name not in known:
            hint = nearest(name, known)
            msg = f"{function.__name__} has no option {name!r}{hint}"
            raise ParameterError(msg)


def refuse_for_users(
    rules: Mapping[str, Any],
    *,
    cuped: bool,
    daily: bool,
    memory_limit: int | str | None,
) -> None:
    """Refuse options for events, which a table of users has none of."""
    others = {"daily": daily, "memory_limit": memory_limit is not None}
    for name in [*rules, *(name for name, is_given in others.items() if is_given)]:
        msg = f"{name} is for events, but this is a table of users"
        raise ParameterError(msg)
    if cuped:
        msg = "cuped is for events; for users, give covariates={metric: column}"
        raise ParameterError(msg)


def sums_of(
    events: Any,
    metrics: Any,
    by: str | None,
    segment: str | None,
    rules: Mapping[str, Any],
    *,
    daily: bool = False,
    memory_limit: int | str | None = None,
) -> tuple[UserSums, Looks | None]:
    """Return the sums of users, from a log or from what an accumulator has read.

    With days, also returns a function that gives the sums up to each of them.
    """
    unit = rules.get("unit", "users")
    if unit not in UNITS:
        msg = (
            f"unit must be one of {', '.join(UNITS)}, got {unit!r}"
            f"{nearest(str(unit), UNITS)}; for a table of users, give "
            "metrics={name: column} or --users COLUMN"
        )
        raise ParameterError(msg)
    if not isinstance(events, Accumulator):
        users = counts_of(
            events,
            Rules.of(rules),
            by,
            segment,
            every="day" if daily else None,
            memory=memory_limit,
        )
        return _summed(users, metrics)
    users = events.counts()
    for name in (*rules, *(() if memory_limit is None else ("memory_limit",))):
        msg = f"give {name} to the accumulator, when it is made"
        raise ParameterError(msg)
    if users.every != ("day" if daily else None):
        msg = (
            f"the accumulator keeps {users.every}s separate; make it without them, or "
            "with daily=True and give that here too"
            if users.every
            else "daily=True needs an accumulator that was made with daily=True"
        )
        raise ParameterError(msg)
    if by is not None and not users.by_arm:
        msg = (
            f"the accumulator was made with by={users.by!r}; a test needs the arms of "
            "users, by='variant'"
        )
        raise ParameterError(msg)
    if segment is not None and segment != users.segment:
        msg = (
            f"the accumulator was made with segment={users.segment!r}, not {segment!r}"
        )
        raise ParameterError(msg)
    return _summed(users, events.metrics if metrics is None else metrics)


def _summed(users: UserCounts, metrics: Any) -> tuple[UserSums, Looks | None]:
    """Return the sums of users over all days, and what gives those up to each day."""
    counts = users.counted(metrics)
    sums = users.sums_of(counts, undated=True)
    return sums, partial(looks_of, users, counts) if users.every else None


@dataclass(frozen=True)
class Given:
    """Data that a test was given, and what they are.

    Attributes:
        data: as they were given; a file is opened, as standard input is read only once.
        is_own: whether they are a table of the user's own, with a row per user.
        has_days: whether days can be kept separate.
        has_window: whether users count for a fixed time after their first exposure.
        of_users: whether they are a table of `users`, with columns added or not.
    """

    data: Any
    is_own: bool
    has_days: bool
    has_window: bool
    of_users: bool = False


def opened(
    data: Any, metrics: Any, unit: str | None, rules: Mapping[str, Any]
) -> Given:
    """Say what data are: a log, a table of users made of one, or one of the user's own.

    It is the last if its column of ids is named, or if metrics are made of columns
    and it has none of those of a log. What cannot be read is refused by who reads it.
    """
    given = Rules.of(rules)
    if isinstance(data, Accumulator):
        has_days = data.every == "day"
        return Given(data, False, has_days, data.rules.window is not None)
    names: Sequence[str] = ()
    with suppress(RankineError):
        if isinstance(data, Query):
            names = next(iter(data)).columns
        else:
            refuse_database(data)
            table = open_log(data, given)
            names = table.names
            data = table if isinstance(data, (str, PathLike)) else data
    of_users, is_own = is_of_users(names), False
    if isinstance(metrics, Mapping):
        is_own = unit is not None and unit not in UNITS
        if not is_own and of_users:
            _refuse_added(names, metrics)
        elif not is_own:
            named = {*given.columns}
            parts = [
                part
                for part in ("event", "user", "session")
                if part in named or known_columns(names, part, COLUMNS)
            ]
            is_own = "event" not in parts or len(parts) == 1
    has_window = given.window is not None or (of_users and "window_over" in names)
    has_days = "day" in names or not of_users
    return Given(data, is_own, has_days, has_window, of_users)


def _refuse_added(names: Collection[str], metrics: Mapping[str, Any]) -> None:
    """Refuse columns that a user added to the table, and say how to use them."""
    for name, given in metrics.items():
        for column in parts_of(name, given)[:2]:
            if column in names and column not in COLUMNS_OF_USERS:
                msg = (
                    f"{name} reads {column!r}, which is not a count that "
                    "rk.online.users makes; to use any column, give unit=, the column "
                    "of users, or --users COLUMN"
                )
                raise ParameterError(msg)
