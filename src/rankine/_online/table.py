"""The table of users: a row for each, with what was counted, which all else reads.

A log becomes the table once; metrics, intervals and tests are computed from it, today
or from a file tomorrow.
"""

from __future__ import annotations

from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from rankine._io.repeats import first_repeat
from rankine._io.tables import Table, origin_of, together
from rankine._io.values import ids as ids_of
from rankine._io.values import numbers
from rankine._online.events import Facts, is_of_users, labels, open_log
from rankine._online.log import LABELS, EventLog
from rankine._online.rules import Rules, check_groups
from rankine._online.sources import Query, refuse_database
from rankine._online.sums import NOWHERE, UserCounts
from rankine._online.times import DAY, SECOND, times
from rankine._online.users import (
    AFTER,
    AMOUNTS,
    BEFORE,
    COLUMNS_OF_USERS,
    COUNTS,
    NEEDS,
    OF_KIND,
    added,
    by_number,
    exact,
    in_money,
    is_arm,
)
from rankine.errors import (
    ColumnNotFoundError,
    DataError,
    NoRowsError,
    ParameterError,
    nearest,
)

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

    from rankine._io.sources import Rows
    from rankine._io.tables import Places

_BEFORE = "_before"
"""How the names of columns end that count what came before the first exposure."""
_OF_USER = "variants", "first_exposure"
"""What is known of a user, whatever the day."""
_ASKED_LATER = {"unit", "columns", "max_events"}
"""Rules that are about metrics, names or users, not about how events are counted."""
_ARM = "variant"
_MOST = 9e12
"""The most money of a user that a table may give: more is not known to a millionth."""


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
    log = EventLog(rules, by, segment, memory=memory)
    for part in _parts(events, rules):
        if isinstance(part, Table) and is_of_users(part.names):
            return of_table(part, rules, by, segment, daily=daily)
        log.update(part)
    return UserCounts.of_log(log, daily=daily)


def _parts(data: Any, rules: Rules) -> Iterator[Any]:
    """Yield a log in one part, or in batches if it is a query; a table in one part."""
    if not isinstance(data, Query):
        refuse_database(data)
        yield open_log(data, rules)
        return
    batches = iter(data)
    first = next(batches)
    if is_of_users(first.columns):
        every = pl.concat([first, *batches], how="vertical_relaxed")
        yield open_log(every, rules)
        return
    yield first
    yield from batches


def table_of(counts: UserCounts) -> pl.DataFrame:
    """Return what was counted as the table that users see."""
    refuse_taken(counts.by, counts.segment)
    has, keys = counts.facts.has, ["user", *(["day"] if counts.daily else [])]
    absent = {name for name, need in NEEDS.items() if not has & {*need.split(" or ")}}
    names = [name for name in COLUMNS_OF_USERS if name not in absent]
    rows = counts.rows
    sides = [(AFTER, ""), *([(BEFORE, _BEFORE)] if counts.exposes else [])]
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

    Tables of parts of a log can be put together if all events of a user are in one
    part; parts of days cannot, as users come again.

    Args:
        log: a log of events, as `summarize` takes it; or an `Accumulator`.
        by: as in `summarize`, like the next three: "variant" or the column that
            ``columns=`` names as such are the arms of a test, any other column only
            divides users.
        segment: a second column; a user belongs to the first segment that is seen.
        daily: whether each day of a user has a row of its own.
        memory_limit: as in `summarize`.
        rules: how events are read and counted, which is then settled in the table;
            ``unit=`` and ``max_events=`` are left to the metrics.

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
        ...         "value": [0.0, 12.5, 0.0],
        ...     }
        ... )
        >>> table = rk.online.users(log)
        >>> table.select("user", "clicks", "orders", "revenue").rows()
        [('u', 1, 1, 12.5), ('v', 1, 0, 0.0)]
    """
    from rankine._online.summary import Accumulator  # noqa: PLC0415 - it imports this

    refuse_taken(by, segment)
    if isinstance(log, Accumulator):
        given = {"by": by != _ARM, "segment": segment is not None, "daily": daily}
        given |= {"memory_limit": memory_limit is not None}
        for name in [*(name for name, is_given in given.items() if is_given), *rules]:
            msg = f"give {name} to the accumulator, when it is made"
            raise ParameterError(msg)
        return table_of(log.counts())
    counts = counts_of(
        log, Rules.of(rules), by, segment, daily=daily, memory=memory_limit
    )
    return table_of(counts)


def refuse_taken(by: str | None, segment: str | None) -> None:
    """Refuse groups whose column would have the name of another one of the table."""
    numbers = [name + end for name in COLUMNS_OF_USERS for end in ("", _BEFORE)]
    for name, column in (("by", by), ("segment", segment)):
        if column in {"user", "day", *_OF_USER, *numbers}:
            msg = (
                f"{name} cannot be {column!r}, since the table of users has a column "
                "of that name; rename that column in your log"
            )
            raise ParameterError(msg)


def of_table(
    table: Table, rules: Rules, by: str | None, segment: str | None, *, daily: bool
) -> UserCounts:
    """Return what a table of users says was counted."""
    _refuse_settled(rules)
    names = table.names
    if daily and "day" not in names:
        msg = f"{table.name} has no days; make it with daily=True"
        raise DataError(msg)
    numeric = [name for name in names if name.removesuffix(_BEFORE) in COLUMNS_OF_USERS]
    loaded = table.load(names, numeric)
    frame = together([rows for rows, _ in loaded], [origin for _, origin in loaded])
    if frame.is_empty():
        msg = f"{table.name} has no users"
        raise NoRowsError(msg)
    columns = _groups(table, by, segment, rules)
    frame = _checked(frame, numeric, columns, origin_of(table.name, loaded))
    by_arm = is_arm(by, rules)
    if by_arm and "variant" in columns and "variants" not in names:
        msg = (
            f"{table.name} was not made by {columns['variant']!r}, so it does not say "
            "who was in several of its groups; for a test, make it from the log with "
            f"columns={{'variant': {columns['variant']!r}}}"
        )
        raise DataError(msg)
    per_user = frame.unique("user", keep="first", maintain_order=True).sort("user")
    seen, texts = per_user.select("user"), {}
    for label in LABELS:
        texts[label] = NOWHERE
        if label not in columns:
            continue
        text = per_user[columns[label]]
        texts[label] = pl.concat([texts[label], text.drop_nulls().unique().sort()])
        code = text.rank("dense").fill_null(0).cast(pl.UInt32)
        n = (code > 0).cast(pl.UInt32)
        if label == "variant" and by_arm:
            n = per_user["variants"].cast(pl.UInt32)
        seen = seen.with_columns(code.alias(label), n.alias(f"n_{label}s"))
    facts = _facts(frame, columns, table)
    if by_arm and "variant" in columns and "first_exposure" in names:
        seen = seen.with_columns(per_user["first_exposure"].alias("first"))
    phases = [(AFTER, ""), (BEFORE, _BEFORE)]
    if "first" not in seen.columns:  # all that users did counts
        phases = [(AFTER, end) for _, end in phases]
    parts = [_rows(frame, *phase, daily=daily) for phase in phases]
    if "first" not in seen.columns and parts[1].height:
        facts = replace(facts, notes=(*facts.notes, _CUT))
    rows = added(pl.concat(parts), "user", "phase", "day")
    return UserCounts(
        rules, by, segment, by_arm, daily, facts, seen, texts,
        by_number(rows, seen["user"]),
    )  # fmt: skip


_CUT = (
    "the table of users was made by variant: a session that goes on after the first "
    "exposure counts as two; make the table with the same by= to count it once"
)


def _refuse_settled(rules: Rules) -> None:
    """Refuse options that say how events are counted, which was done before."""
    usual = Rules()
    settled = [rule.name for rule in fields(Rules) if rule.name not in _ASKED_LATER]
    given = [name for name in settled if getattr(rules, name) != getattr(usual, name)]
    given += [f"columns={{{part!r}: ...}}" for part in rules.columns if part != _ARM]
    for name in given:
        msg = (
            f"{name} cannot be given with a table of users, in which events are "
            "counted already; make the table with it, from the log"
        )
        raise ParameterError(msg)


def _groups(
    table: Table, by: str | None, segment: str | None, rules: Rules
) -> dict[str, str]:
    """Return the columns of groups."""
    if by == _ARM:
        by = str(rules.columns.get(_ARM, by))
    if is_arm(by, rules) and by != _ARM and {_ARM, *_OF_USER} <= {*table.names}:
        msg = (
            f"{table.name} was made by its column {_ARM!r}, and says when users were "
            f"first seen in one of these; for {by!r}, make the table with "
            f"columns={{{_ARM!r}: {by!r}}}, from the log"
        )
        raise DataError(msg)
    columns = {}
    for label, name in zip(LABELS, (by, segment), strict=True):
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


def _checked(
    frame: pl.DataFrame,
    numeric: Sequence[str],
    columns: Mapping[str, str],
    origin: Rows | Places,
) -> pl.DataFrame:
    """Return the columns of a table with their types; refuse what nobody can count."""
    where: Any = origin
    _refuse_fewer({*frame.columns}, where.name)
    typed = [ids_of(frame["user"], "user", where, hint="")[0].alias("user")]
    typed += [
        labels(frame[name], label, origin).alias(name)
        for label, name in columns.items()
    ]
    for name in ("day", "first_exposure"):
        if name in frame.columns:
            moments = times(frame[name], name, origin)[0]
            typed.append((moments // DAY if name == "day" else moments).alias(name))
    for name in [*numeric, *({"variants"} & {*frame.columns})]:
        number = numbers(frame[name], name, where, lenient=True)
        amount = name.removesuffix(_BEFORE) in AMOUNTS
        wrong = ~number.is_finite() | (number.abs() > _MOST)
        if not amount:
            wrong |= number < 0
        if not amount and not name.startswith("seconds_on_page"):
            wrong |= number != number.floor()
        if wrong.any():
            row = int(wrong.arg_true()[0])
            kind = "an amount" if amount else "a count"
            msg = (
                f"{where.where(row)}: {name} is {number[row]:g}, not {kind} of a table "
                "that rk.online.users makes; for a table of your own, give unit=, the "
                "column of its users, or --users COLUMN"
            )
            raise DataError(msg)
        typed.append(number.alias(name))
    checked = pl.DataFrame(typed)
    _refuse_apart(checked, columns, where)
    return checked


def _refuse_fewer(names: Collection[str], title: str) -> None:
    """Refuse a table without some of its columns, whose counts would be taken for 0."""
    made = {NEEDS[name] for name in {*NEEDS} & {*names}}
    needed = {
        name for name in COLUMNS_OF_USERS if name not in NEEDS or NEEDS[name] in made
    }
    if f"events{_BEFORE}" in names:
        needed |= {
            f"{name}{_BEFORE}" for name in {*names, *needed} & {*COLUMNS_OF_USERS}
        }
    lacking = sorted(needed - {*names})
    if lacking:
        msg = (
            f"{title} lacks {', '.join(lacking[:3])}, which rk.online.users makes; "
            "make the table again, from the log"
        )
        raise ColumnNotFoundError(msg)


def _refuse_apart(frame: pl.DataFrame, columns: Mapping[str, str], origin: Any) -> None:
    """Refuse users in several rows that are not days of one table."""
    keys = [name for name in ("user", "day") if name in frame.columns]
    known = [name for name in _OF_USER if name in frame.columns]
    of_user = frame.select("user", *columns.values(), *known).unique()
    again = first_repeat(frame.select(keys))
    rows = of_user.group_by("user").len().filter(pl.col("len") > 1)
    if again is None and rows.height:
        here = (frame["user"] == rows["user"].min()).arg_true()
        again = int(here[0]), int(here[1])
    if again is not None:
        first, second = again
        msg = (
            f"{origin.where(second)}: user {frame['user'][first]!r} is also in "
            f"{origin.where(first)}, from another part of the log; a table needs all "
            "events of a user together: make it of the whole log, or of parts by user"
        )
        raise DataError(msg)


def _rows(frame: pl.DataFrame, phase: int, end: str, *, daily: bool) -> pl.DataFrame:
    """Return the counts in the columns that end so, by user and day."""
    if f"events{end}" not in frame.columns:
        frame = frame.clear()
    else:
        frame = frame.filter(pl.col(f"events{end}") > 0)

    def column(name: str) -> pl.Series:
        if name + end in frame.columns:
            return frame[name + end]
        return pl.zeros(frame.height, pl.Float64, eager=True)

    day = pl.col("day").cast(pl.Int32) if daily else pl.lit(None, pl.Int32)
    counts = {name: column(name) for name in COUNTS if name != "dwell"}
    counts["dwell"] = (column("seconds_on_page") * SECOND).round()
    return frame.select(
        "user", pl.lit(phase, pl.Int8).alias("phase"), day.alias("day")
    ).with_columns(
        *(counts[name].cast(pl.Int64).alias(name) for name in COUNTS),
        *(exact(column(name).to_numpy()).alias(name) for name in AMOUNTS),
    )


def _facts(frame: pl.DataFrame, columns: dict[str, str], table: Table) -> Facts:
    """Return what is known of the events that a table was made of."""
    names = {*frame.columns}
    has = {"user", *columns}
    has |= {"time"} if "seconds_on_page" in names else set()
    has |= {"session"} if "sessions" in names else set()
    has |= {"value"} if "revenue" in names else set()
    has |= {"cost"} & names

    def total(name: str) -> int:
        given = [column for column in (name, name + _BEFORE) if column in names]
        return sum(int(frame[column].sum()) for column in given)

    kinds = {kind for name, kind in OF_KIND.items() if total(name)}
    return Facts(
        frozenset(has), frozenset(kinds), frozenset(), "", "", True, total("events"),
        {}, {}, table.notes,
    )  # fmt: skip
