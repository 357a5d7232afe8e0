"""What a test is asked for: options, metrics, and the sums of users."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import fields
from functools import partial
from inspect import signature
from typing import TYPE_CHECKING, Any

from rankine._online.looks import looks_of
from rankine._online.metrics import parts_of
from rankine._online.rules import Rules
from rankine._online.summary import Accumulator
from rankine._online.table import counts_of, holds_events, is_of_users, names_of
from rankine._online.users import COLUMNS_OF_USERS
from rankine.errors import ParameterError, nearest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from datetime import date

    import polars as pl

    from rankine._online.sums import UserCounts, UserSums

    Looks = Callable[..., Iterator[tuple[date, pl.DataFrame]]]

_RULES = [rule.name for rule in fields(Rules)]
UNITS = ("users", "sessions", "clicks")


def check_options(function: Callable[..., Any], rules: Mapping[str, Any]) -> None:
    """Refuse an option that neither a function nor the reading of events has."""
    known = [name for name in signature(function).parameters if name != "rules"]
    known += _RULES
    for name in rules:
        if name not in known:
            hint = nearest(name, known)
            msg = f"{function.__name__} has no option {name!r}{hint}"
            raise ParameterError(msg)


def check_metrics(metrics: Any) -> None:
    """Accept names of metrics, or what they are computed from."""
    named = isinstance(metrics, Collection) and not isinstance(metrics, bytes)
    if metrics is None or (named and all(isinstance(name, str) for name in metrics)):
        return
    msg = f"metrics must be names such as ['ctr'], or {{name: column}}, got {metrics!r}"
    raise ParameterError(msg)


def refuse_for_users(
    rules: Mapping[str, Any],
    *,
    cuped: bool = False,
    memory_limit: int | str | None = None,
) -> None:
    """Refuse options for events, which a table of users has none of."""
    for name in (*rules, *(() if memory_limit is None else ("memory_limit",))):
        msg = f"{name} is for events, but this is a table of users"
        raise ParameterError(msg)
    if cuped:
        msg = "cuped is for events; for users, give covariates={metric: column}"
        raise ParameterError(msg)


def refuse_covariates(covariates: object) -> None:
    """Refuse columns from before the test, which a log of events has none of."""
    if covariates is not None:
        msg = "covariates are columns of a table of users; for events, give cuped=True"
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


def has_days(data: Any, rules: Mapping[str, Any]) -> bool:
    """Say whether days can be kept separate: in a log, not in every table of users."""
    if isinstance(data, Accumulator):
        return data.every == "day"
    names = names_of(data, Rules.of(rules))
    return "day" in names or not is_of_users(names)


def is_own_table(
    data: Any, metrics: Any, unit: str | None, rules: Mapping[str, Any]
) -> bool:
    """Say whether data are a table of the user's, with a row per user.

    It is one if its column of ids is named, or if it has none of the columns of a log.
    """
    if not isinstance(metrics, Mapping) or isinstance(data, Accumulator):
        return False
    if unit is not None and unit not in UNITS:
        return True
    names = names_of(data, Rules.of(rules))
    if is_of_users(names):
        _refuse_added(names, metrics)
    return not holds_events(names, rules.get("columns") or ())


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


def has_window(events: Any, rules: Mapping[str, Any]) -> bool:
    """Say whether users count for a fixed time after their first exposure."""
    if isinstance(events, Accumulator):
        return events.rules.window is not None
    return rules.get("window") is not None
