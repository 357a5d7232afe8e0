"""The table of users: a row for each, with what was counted, which all else reads.

A log becomes the table once; metrics, intervals and tests are computed from it, today
or from a file tomorrow.
"""

from __future__ import annotations

from dataclasses import fields
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from rankine._io.columns import known_columns
from rankine._io.tables import origin_of, together
from rankine._io.values import ids as ids_of
from rankine._online.events import Facts, open_log
from rankine._online.log import LABELS, EventLog
from rankine._online.rules import COLUMNS, Rules, check_groups
from rankine._online.sources import Query, refuse_database
from rankine._online.sums import NOWHERE, UserCounts
from rankine._online.times import SECOND
from rankine._online.users import (
    AFTER,
    AMOUNTS,
    BEFORE,
    COLUMNS_OF_USERS,
    COUNTS,
    OF_SESSIONS,
    added,
    by_number,
    exact,
    in_money,
    is_arm,
)
from rankine.errors import (
    ColumnNotFoundError,
    DataError,
    ParameterError,
    RankineError,
    nearest,
)

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from rankine._io.tables import Table
    from rankine._online.sums import UserSums

_MARK = "_before"
_ALWAYS = {"user", "events", "impressions", "clicks", "actions"}
"""Columns that every table of users has, and no log."""
_ASKS = {"unit", "columns"}
"""Rules that are about metrics or names, and not about how events are counted."""
_OF_LOGS = "event", "user", "session"
_OF_TIME = "seconds_on_page", "timed_page_views", "untimed_page_views"
_KINDS = {
    "impressions": "impression", "clicks": "click", "page_views": "pageview",
    "conversions": "conversion",
}  # fmt: skip


def user_sums(
    events: Any,
    metrics: Sequence[str] | None = None,
    *,
    by: str | None = "variant",
    segment: str | None = None,
    daily: bool = False,
    **rules: Any,
) -> UserSums:
    """Return the sums of every user, from a log of events.

    Args:
        events: the log: a path, a frame, or what `read_table` returns.
        metrics: their names; all that the log has columns for, if not given.
        by: the column that divides users into groups.
        segment: a second such column.
        daily: whether days are kept separate.
        **rules: see `Rules`.
    """
    return counts_of(events, Rules.of(rules), by, segment, daily=daily).sums(metrics)


def counts_of(
    events: Any,
    rules: Rules,
    by: str | None = None,
    segment: str | None = None,
    *,
    daily: bool = False,
    memory: int | str | None = None,
) -> UserCounts:
    """Count what users did, from a log or from the table of users made of one."""
    check_groups(by, segment, daily)
    if not isinstance(events, Query):
        refuse_database(events)
        events = open_log(events, rules)
        if is_of_users(events.names):
            return of_table(events, rules, by, segment, daily=daily)
    log = EventLog(rules, by, segment, memory=memory)
    log.update(events)
    return UserCounts.of_log(log, daily=daily)


def is_of_users(names: Collection[str]) -> bool:
    """Say whether columns are those of a table of users.

    >>> is_of_users(["user_id", "event"])
    False
    """
    return {*names} >= _ALWAYS


def names_of(data: Any, rules: Rules) -> tuple[str, ...]:
    """Return the columns of a log or a table; none of what cannot be looked into.

    What is wrong with such data says who reads them next.
    """
    if isinstance(data, Query):
        return ()
    try:
        refuse_database(data)
        return open_log(data, rules).names
    except RankineError:
        return ()


def holds_events(data: Any, rules: Rules) -> bool:
    """Say whether data are a log or a table that was made of one, by their columns."""
    names = names_of(data, rules)
    known = {part for part in _OF_LOGS if known_columns(names, part, COLUMNS)}
    return is_of_users(names) or ("event" in known and len(known) > 1)


def table_of(counts: UserCounts) -> pl.DataFrame:
    """Return what was counted as the table that users see."""
    has, keys = counts.facts.has, ["user", *(["day"] if counts.daily else [])]
    absent = {
        *(() if {"time", "session"} & has else OF_SESSIONS),
        *(() if "time" in has else _OF_TIME),
        *(() if "value" in has else ("revenue", "orders")),
        *(() if "cost" in has else ("cost",)),
    }
    names = [name for name in COLUMNS_OF_USERS if name not in absent]
    rows = counts.rows
    sides = [(AFTER, ""), *([(BEFORE, _MARK)] if counts.exposes else [])]
    table = rows.select(keys).unique()
    if not counts.daily:
        every = np.arange(len(counts.ids), dtype=np.uint32)
        table = pl.DataFrame({"user": every})
    for phase, mark in sides:
        sums = added(rows.filter(pl.col("phase") == phase), *keys)
        sums = sums.with_columns(in_money(sums[name]).alias(name) for name in AMOUNTS)
        sums = sums.with_columns((pl.col("dwell") / SECOND).alias("seconds_on_page"))
        sums = sums.select(*keys, *(pl.col(name).alias(name + mark) for name in names))
        table = table.join(sums, on=keys, how="left", nulls_equal=True)
    table = table.with_columns(pl.exclude(keys).fill_null(0)).sort(keys)
    number = table["user"]
    columns = [counts.ids[number].alias("user")]
    if counts.daily:
        columns.append(table["day"].cast(pl.Date))
    for label, title in (("variant", counts.by), ("segment", counts.segment)):
        if label in counts.seen.columns:
            texts = counts.texts[label][counts.seen[label]]
            columns.append(texts[number].alias(title or label))
    if counts.by_arm and "n_variants" in counts.seen.columns:
        columns.append(counts.seen["n_variants"][number].alias("variants"))
    if counts.exposes:
        first = counts.seen["first"].cast(pl.Datetime("us"))[number]
        columns.append(first.alias("first_exposure"))
    return pl.DataFrame([*columns, *table.drop(keys)])


def users(
    log: Any,
    *,
    by: str | None = "variant",
    segment: str | None = None,
    daily: bool = False,
    memory_limit: int | str | None = None,
    **rules: Any,
) -> pl.DataFrame:
    """Return a row for each user of a log, with what the user did.

    It is the table that all metrics, intervals and tests are computed from: they take
    it instead of the log, as a frame or as a file.

    Args:
        log: a log of events, as `summarize` takes it; or an `Accumulator`.
        by: as in `summarize`, like the next three.
        segment: a second column; a user belongs to the first segment that is seen.
        daily: whether each day of a user has a row of its own.
        memory_limit: as in `summarize`.
        rules: how events are read and counted, which is then settled in the table;
            ``unit=`` is left to the metrics.

    Returns:
        A frame with ``user`` (and ``day``), the groups of the user, and how many
        ``variants`` the user was seen in, since those of several are left out of a
        test; ``first_exposure``; events, impressions, clicks, page_views, actions,
        conversions, orders (conversions with a value), sessions, converting_sessions,
        pageless_sessions (without a page view), bounces, engaged_sessions,
        converting_clicks, seconds_on_page and the timed_page_views they are of,
        untimed_page_views, revenue and cost; and the same with ``_before`` for what
        came before the first exposure. Columns for which the log has nothing are not
        there.

    Examples:
        >>> import polars as pl
        >>> import rankine as rk
        >>> log = pl.DataFrame(
        ...     {
        ...         "user_id": ["u", "u", "v"],
        ...         "timestamp": [1, 2, 3],
        ...         "event": ["click", "purchase", "click"],
        ...         "value": [0, 12.5, 0],
        ...     }
        ... )
        >>> table = rk.online.users(log)
        >>> table.select("user", "clicks", "orders", "revenue").rows()
        [('u', 1, 1, 12.5), ('v', 1, 0, 0.0)]
    """
    from rankine._online.summary import Accumulator  # noqa: PLC0415 - it imports this

    if isinstance(log, Accumulator):
        for name in rules:
            msg = f"give {name} to the accumulator, when it is made"
            raise ParameterError(msg)
        return table_of(log.counts())
    counts = counts_of(
        log, Rules.of(rules), by, segment, daily=daily, memory=memory_limit
    )
    return table_of(counts)


def of_table(
    table: Table, rules: Rules, by: str | None, segment: str | None, *, daily: bool
) -> UserCounts:
    """Return what a table of users says was counted."""
    _refuse_settled(rules)
    names = table.names
    if daily and "day" not in names:
        msg = f"{table.name} has no days; make it with daily=True"
        raise DataError(msg)
    loaded = table.load(names, [name for name in names if name in _numeric(names)])
    frame = together([rows for rows, _ in loaded], [origin for _, origin in loaded])
    origin: Any = origin_of(table.name, loaded)
    frame = frame.with_columns(ids_of(frame["user"], "user", origin, hint="")[0])
    columns = _groups(table, by, segment)
    by_arm = is_arm(by, rules)
    per_user = frame.unique("user", keep="first", maintain_order=True).sort("user")
    seen, texts = per_user.select("user"), {}
    for label in LABELS:
        texts[label] = NOWHERE
        if label not in columns:
            continue
        text = per_user[columns[label]].cast(pl.String)
        texts[label] = pl.concat([texts[label], text.drop_nulls().unique().sort()])
        code = text.rank("dense").fill_null(0).cast(pl.UInt32)
        n = (code > 0).cast(pl.UInt32)
        if label == "variant" and by_arm and "variants" in names:
            n = per_user["variants"].cast(pl.UInt32)
        seen = seen.with_columns(code.alias(label), n.alias(f"n_{label}s"))
    if by_arm and "variant" in columns and "first_exposure" in names:
        first = per_user["first_exposure"].cast(pl.Datetime("us")).to_physical()
        seen = seen.with_columns(first.alias("first"))
    rows = pl.concat(
        [_rows(frame, AFTER, daily=daily), _rows(frame, BEFORE, daily=daily)]
    )
    return UserCounts(
        rules, by, segment, by_arm, daily, _facts(frame, columns, table), seen, texts,
        by_number(rows, seen["user"]),
    )  # fmt: skip


def _numeric(names: Collection[str]) -> set[str]:
    every = {*COLUMNS_OF_USERS, "variants"}
    return {name for name in names if name.removesuffix(_MARK) in every}


def _refuse_settled(rules: Rules) -> None:
    """Refuse options that say how events are counted, which was done before."""
    usual = Rules()
    for rule in fields(Rules):
        if rule.name not in _ASKS and getattr(rules, rule.name) != getattr(
            usual, rule.name
        ):
            msg = (
                f"{rule.name} says how events are counted, which is settled in a table "
                "of users; make the table with it, from the log"
            )
            raise ParameterError(msg)


def _groups(table: Table, by: str | None, segment: str | None) -> dict[str, str]:
    """Return the columns of groups."""
    columns = {}
    for label, name in (("variant", by), ("segment", segment)):
        if name is None or (name == label and name not in table.names):
            continue
        if name not in table.names:
            msg = (
                f"{table.name} has no column {name!r}; it has "
                f"{', '.join(table.names)}{nearest(name, table.names)}"
            )
            raise ColumnNotFoundError(msg)
        columns[label] = name
    return columns


def _rows(frame: pl.DataFrame, phase: int, *, daily: bool) -> pl.DataFrame:
    """Return the counts of a phase, a row for each user and day."""
    mark = _MARK if phase == BEFORE else ""
    frame = (
        frame.filter(pl.col("events" + mark) > 0)
        if ("events" + mark in frame.columns)
        else frame.clear()
    )

    def column(name: str) -> pl.Series:
        if name + mark in frame.columns:
            return frame[name + mark]
        return pl.zeros(frame.height, pl.Int64, eager=True)

    day = pl.lit(None, pl.Int32)
    if daily:
        day = pl.col("day").cast(pl.Date).cast(pl.Int32)
    seconds = column("seconds_on_page").cast(pl.Float64) * SECOND
    counts = {name: column(name).cast(pl.Int64) for name in COUNTS if name != "dwell"}
    counts["dwell"] = seconds.round().cast(pl.Int64)
    amounts = {
        name: exact(column(name).cast(pl.Float64).to_numpy()) for name in AMOUNTS
    }
    rows = frame.select(
        "user", pl.lit(phase, pl.Int8).alias("phase"), day.alias("day")
    ).with_columns(
        *(counts[name].alias(name) for name in COUNTS),
        *(amount.alias(name) for name, amount in amounts.items()),
    )
    return added(rows, "user", "phase", "day")


def _facts(frame: pl.DataFrame, columns: dict[str, str], table: Table) -> Facts:
    """Return what is known of the events that a table was made of."""
    names = {*frame.columns}
    has = {"user", *columns}
    has |= {"time"} if "seconds_on_page" in names else set()
    has |= {"session"} if "sessions" in names else set()
    has |= {"value"} if "revenue" in names else set()
    has |= {"cost"} & names

    def total(name: str) -> int:
        given = [column for column in (name, name + _MARK) if column in names]
        return sum(int(frame[column].sum()) for column in given)

    kinds = {kind for name, kind in _KINDS.items() if total(name)}
    return Facts(
        frozenset(has), frozenset(kinds), frozenset(), "", "", True, total("events"),
        {}, {}, table.notes,
    )  # fmt: skip
