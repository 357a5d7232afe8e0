"""What tests are given: a log of events, a table of users, or one of the user's own."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from inspect import signature
from os import PathLike
from typing import TYPE_CHECKING, Any

from rankine._io.columns import known_columns
from rankine._online.cohort import cohort_of_log
from rankine._online.events import is_of_users, open_log
from rankine._online.metrics import parts_of, refuse_idle
from rankine._online.own_table import cohort_of_table
from rankine._online.rules import COLUMNS, UNITS, Rules, refuse_late
from rankine._online.sources import Query, refuse_database
from rankine._online.summary import Accumulator
from rankine._online.table import counts_of
from rankine._online.users import COLUMNS_OF_USERS
from rankine.errors import ParameterError, RankineError, nearest

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence

    from rankine._online.cohort import Cohort
    from rankine._online.sums import UserCounts
    from rankine._online.times import Every


@dataclass(frozen=True)
class Input:
    """Data that a test was given, what they are, and how they are read.

    Attributes:
        data: as they were given; a file is opened, as standard input is read only once.
        rules: how events are read, or were read by an accumulator.
        unit: the column of ids in a table of the user's own, if it is named.
        is_own: whether they are a table of the user's own, with a row per user.
        of_users: whether they are a table of `users`, with columns added or not.
        has_days: whether days can be kept separate; not in a table of the user's own.
        has_window: whether users count for a fixed time after their first exposure.
    """

    data: Any
    rules: Rules
    unit: str | None = None
    is_own: bool = False
    of_users: bool = False
    has_days: bool = True
    has_window: bool = False


def check_options(function: Callable[..., Any], rules: Mapping[str, Any]) -> None:
    """Refuse an option that neither a function nor the reading of events has."""
    known = [name for name in signature(function).parameters if name != "rules"]
    known += Rules.names()
    for name in rules:
        if name not in known:
            hint = nearest(name, known)
            msg = f"{function.__name__} has no option {name!r}{hint}"
            raise ParameterError(msg)


def opened(
    data: Any,
    metrics: Any,
    unit: str | None,
    options: Mapping[str, Any],
    of_log: Mapping[str, Any] | None = None,
) -> Input:
    """Say what data are: a log, a table of users made of one, or one of the user's own.

    It is the last if its column of ids is named, or if metrics are made of columns
    and it has none of those of a log. What cannot be read is refused by who reads it.

    Args:
        data: what a test was given.
        metrics: what it is asked for.
        unit: the column of ids in a table of the user's own, otherwise what converts.
        options: how events are read.
        of_log: the same, by arguments that mean something else for a table of users.
    """
    of_log = {**options, **(of_log or {}), **({} if unit is None else {"unit": unit})}
    if isinstance(data, Accumulator):
        refuse_late(of_log)
        return Input(
            data, data.rules, has_days=data.every == "day",
            has_window=data.rules.window is not None,
        )  # fmt: skip
    given = Rules.of(options)
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
            parts = [
                part
                for part in ("event", "user", "session")
                if part in given.columns or known_columns(names, part, COLUMNS)
            ]
            is_own = "event" not in parts or len(parts) == 1
    if not is_own:
        given = _of_log(of_log)
        refuse_idle(metrics, given)
    return Input(
        data, given, unit if is_own else None, is_own=is_own, of_users=of_users,
        has_days=not is_own and ("day" in names or not of_users),
        has_window=given.window is not None or (of_users and "window_over" in names),
    )  # fmt: skip


def _of_log(options: Mapping[str, Any]) -> Rules:
    """Read how a log is read; its unit is what converts, and no column."""
    unit = options.get("unit", "users")
    if unit not in UNITS:
        msg = (
            f"unit must be one of {', '.join(UNITS)}, got {unit!r}"
            f"{nearest(str(unit), UNITS)}; for a table of users, give "
            "metrics={name: column} or --users COLUMN"
        )
        raise ParameterError(msg)
    return Rules.of(options)


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


def cohort_of(
    given: Input,
    metrics: Any,
    *,
    by: str | None,
    segment: str | None = None,
    covariates: Mapping[str, Any] | None = None,
    cuped: bool = False,
    daily: bool = False,
    memory_limit: int | str | None = None,
) -> Cohort:
    """Read the users of a test; without `by`, variants are ignored.

    Args:
        given: a table of users or a log of events.
        metrics: what is computed of them.
        by: the column of variants.
        segment: a second column of groups.
        covariates: columns from before the test, in a table of users.
        cuped: whether to use events from before the test.
        daily: whether to keep days separate, in a log of events.
        memory_limit: the memory that the events may use.
    """
    if given.is_own:
        also = {"daily": daily, "memory_limit": memory_limit is not None}
        for name in [*given.rules.given, *(name for name in also if also[name])]:
            msg = f"{name} is for events, but this is a table of users"
            raise ParameterError(msg)
        if cuped:
            msg = "cuped is for events; for users, give covariates={metric: column}"
            raise ParameterError(msg)
        return cohort_of_table(
            given.data, metrics, unit=given.unit, variant=by, segment=segment,
            covariates=covariates or {},
        )  # fmt: skip
    if covariates is not None:
        msg = "covariates are columns of a table of users; for events, give cuped=True"
        raise ParameterError(msg)
    every: Every | None = "day" if daily else None
    if isinstance(given.data, Accumulator):
        users = _of_accumulator(given.data, by, segment, every, memory_limit)
        metrics = given.data.metrics if metrics is None else metrics
    else:
        users = counts_of(
            given.data, given.rules, by, segment, every=every, memory=memory_limit
        )
    return cohort_of_log(users, metrics, by=by, segment=segment, cuped=cuped)


def _of_accumulator(
    events: Accumulator,
    by: str | None,
    segment: str | None,
    every: Every | None,
    memory_limit: int | str | None,
) -> UserCounts:
    """Return what an accumulator has counted; refuse what it was not made for."""
    users = events.counts()
    refuse_late([] if memory_limit is None else ["memory_limit"])
    msg = ""
    if users.every != every:
        msg = "daily=True needs an accumulator that was made with daily=True"
        if users.every:
            msg = (
                f"the accumulator keeps {users.every}s separate; make it without them, "
                "or with daily=True and give that here too"
            )
    elif by is not None and not users.by_arm:
        msg = (
            f"the accumulator was made with by={users.by!r}; a test needs the arms of "
            "users, by='variant'"
        )
    elif segment is not None and segment != users.segment:
        msg = (
            f"the accumulator was made with segment={users.segment!r}, not {segment!r}"
        )
    if msg:
        raise ParameterError(msg)
    return users
