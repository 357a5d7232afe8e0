"""The table of users: a row for each, with what was counted, which all else reads.

A log becomes the table once; metrics, intervals and tests are computed from it, today
or from a file tomorrow.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import polars as pl

from rankine._io.repeats import first_repeat
from rankine._io.tables import Table, origin_of, together
from rankine._io.values import ids as ids_of
from rankine._io.values import numbers
from rankine._online.events import Facts, is_of_users, labels, no_column, open_log
from rankine._online.log import LABELS, EventLog
from rankine._online.rules import Rules, check_groups, every_of, refuse_late
from rankine._online.sources import Query, refuse_database
from rankine._online.sums import NOWHERE, UserCounts
from rankine._online.times import (
    DAY,
    PERIODS,
    SECOND,
    check_zone,
    in_zone,
    monday_of,
    times,
)
from rankine._online.users import (
    AFTER,
    AMOUNTS,
    BEFORE,
    COLUMNS_OF_USERS,
    COUNTS,
    NEEDS,
    OF_KIND,
    RETURNS,
    ROW,
    added,
    exact,
    in_money,
    is_arm,
)
from rankine.errors import (
    ColumnNotFoundError,
    DataError,
    NoRowsError,
    ParameterError,
)

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

    from rankine._io.sources import Rows
    from rankine._io.tables import Places
    from rankine._online.times import Every

_SUFFIX = "_before"
"""How the names of columns end that count what came before the first exposure."""
ZONE = "zone_of_days"
"""The time zone of days, weeks, hours and first exposures; not there for UTC.

It is a column of texts, since dates have no zone, and times lose theirs in a CSV file.
"""
_WITH_ZONE = "first_exposure", "hour"
"""The columns of times, which carry it too where a type can."""
_OF_USER = "variants", "first_exposure", "window_over", ZONE
"""What is known of a user, whatever the day."""
_OBSERVED = "days_observed"
_ONLY_AFTER = (*RETURNS.values(), _OBSERVED)
"""Numbers that begin with the first exposure."""
_OF_METRICS = "unit", "max_events", "incomplete"
"""Rules that are about metrics and who counts in them, not about how events count."""
_ARM = "variant"
_MOST = 9e12
"""The most money of a user that a table may give: more is not known to a millionth."""


def counts_of(
    events: Any,
    rules: Rules,
    by: str | None = None,
    segment: str | None = None,
    *,
    every: Every | None = None,
    steps: Sequence[str] = (),
    memory: int | str | None = None,
) -> UserCounts:
    """Count what users did, from a log or from the table of users made of one."""
    check_groups(by, segment)
    log = EventLog(rules, by, segment, steps=steps, memory=memory)
    for part in _parts(events, rules):
        if isinstance(part, Table) and is_of_users(part.names):
            if steps:
                msg = (
                    f"{part.name} is a table of users, which does not say in which "
                    "order they did things; a funnel needs the log of events"
                )
                raise ParameterError(msg)
            return of_table(part, rules, by, segment, every=every)
        log.update(part)
    return UserCounts.of_log(log, every=every)


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
    has, every = counts.facts.has, counts.every
    keys = ["user", *(["period"] if every else [])]
    absent = {name for name, need in NEEDS.items() if not has & {*need.split(" or ")}}
    names = [name for name in COLUMNS_OF_USERS if name not in absent]
    rows, since = counts.rows, [name for name in _ONLY_AFTER if name not in absent]
    sides = [(AFTER, "", [*names, *since])]
    sides += [(BEFORE, _SUFFIX, names)] if counts.exposes else []
    keys_of = rows.select(keys).unique().sort(keys)
    if every is None:
        every_user = pl.int_range(len(counts.ids), dtype=pl.UInt32, eager=True)
        keys_of = pl.DataFrame({"user": every_user})
    number = keys_of["user"]
    columns = [counts.ids[number].alias("user")]
    if every is not None:
        columns.append(counts.dated(keys_of["period"]).alias(every))
    for label, title in (("variant", counts.by), ("segment", counts.segment)):
        if label in counts.seen.columns:
            texts = counts.texts[label][counts.seen[label]]
            columns.append(texts[number].alias(title or label))
    if counts.by_arm and "n_variants" in counts.seen.columns:
        columns.append(counts.seen["n_variants"][number].alias("variants"))
    if counts.exposes:
        first = in_zone(counts.seen["first"], counts.zone)[number]
        columns.append(first.alias("first_exposure"))
    if "window_over" in counts.seen.columns:
        columns.append(counts.seen["window_over"][number])
    if counts.zone is not None:
        columns.append(pl.Series(ZONE, [counts.zone]).new_from_index(0, len(number)))
    for phase, mark, wanted in sides:
        counted = keys_of.join(
            rows.filter(pl.col("phase") == phase), on=keys, how="left",
            nulls_equal=True, maintain_order="left",
        )  # fmt: skip
        columns += [_shown(name, counted).alias(name + mark) for name in wanted]
    return pl.DataFrame(columns)


def _shown(name: str, counts: pl.DataFrame) -> pl.Series:
    """Return a column of the table of users, 0 where nothing was counted."""
    source = {"seconds_on_page": "dwell", _OBSERVED: "observed"}.get(name, name)
    column = counts[source].fill_null(0)
    if name in AMOUNTS:
        return in_money(column)
    column = column.cast(pl.Int64)
    if name == "seconds_on_page":
        return column / SECOND
    return pl.Series(column.to_numpy() / DAY) if name == _OBSERVED else column


def users(
    log: Any,
    *,
    by: str | None = "variant",
    segment: str | None = None,
    daily: bool = False,
    weekly: bool = False,
    hourly: bool = False,
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
        by: as in `summarize`, like the next five: "variant" or the column that
            ``columns=`` names as such are the arms of a test, any other column only
            divides users.
        segment: a second column; a user belongs to the first segment that is seen.
        daily: whether each day of a user has a row of its own.
        weekly: whether each week of a user has one.
        hourly: whether each hour of a user has one.
        memory_limit: as in `summarize`.
        rules: how events are read and counted, which is then settled in the table;
            ``unit=``, ``max_events=`` and ``incomplete=`` are for metrics: give them
            where the table is read.

    Returns:
        A frame with ``user`` (and ``day``, ``week`` or ``hour``), the groups of the
        user, and how many ``variants`` the user was seen in, since those of several are
        left out of a test; ``first_exposure``, in UTC, or in the zone of ``timezone=``;
        ``window_over``, with ``window=``, says whether it is by the end of the log;
        ``zone_of_days``, with ``timezone=``, is that zone; events, impressions, clicks,
        page_views, actions, conversions, orders (conversions with a value), sessions,
        converting_sessions, pageless_sessions (without a page view), bounces,
        engaged_sessions, converting_clicks, seconds_on_page and the timed_page_views
        they are of, untimed_page_views, revenue and cost; and the same with ``_before``
        for what came before the first exposure. ``events_day_1``, ``_7`` and ``_28``
        are the events from 24 to 48 hours after the first exposure and so on, and
        ``days_observed`` are the days from it to the end of the log; without variants,
        both begin with the first event. With days, weeks or hours, they are in the row
        of this beginning, and 0 in others. Columns for which the log has nothing are
        not there.

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
        given = {"by": by != _ARM, "segment": segment is not None}
        given |= {"daily": daily, "weekly": weekly, "hourly": hourly}
        given |= {"memory_limit": memory_limit is not None}
        refuse_late([*(name for name, is_given in given.items() if is_given), *rules])
        return table_of(log.counts())
    for name in _OF_METRICS:
        if name in rules:
            msg = (
                f"{name} is for metrics, not for the table, which has all users; give "
                "it where the table is read"
            )
            raise ParameterError(msg)
    every = every_of(daily=daily, weekly=weekly, hourly=hourly)
    counts = counts_of(
        log, Rules.of(rules), by, segment, every=every, memory=memory_limit
    )
    return table_of(counts)


def refuse_taken(by: str | None, segment: str | None) -> None:
    """Refuse groups whose column would have the name of another one of the table."""
    numbers = [name + end for name in COLUMNS_OF_USERS for end in ("", _SUFFIX)]
    numbers += [*_ONLY_AFTER, *PERIODS]
    for name, column in (("by", by), ("segment", segment)):
        if column in {"user", *_OF_USER, *numbers}:
            msg = (
                f"{name} cannot be {column!r}, since the table of users has a column "
                "of that name; rename that column in your log"
            )
            raise ParameterError(msg)


def of_table(
    table: Table,
    rules: Rules,
    by: str | None,
    segment: str | None,
    *,
    every: Every | None,
) -> UserCounts:
    """Return what a table of users says was counted."""
    _refuse_settled(rules)
    names = table.names
    if every is not None and _source(every, names) is None:
        how = {"day": "daily", "week": "weekly", "hour": "hourly"}[every]
        msg = f"{table.name} has no {every}s; make it with {how}=True or --{how}"
        raise DataError(msg)
    numeric = [
        name
        for name in names
        if name.removesuffix(_SUFFIX) in COLUMNS_OF_USERS or name in _ONLY_AFTER
    ]
    loaded = table.load(names, numeric)
    frame = together([rows for rows, _ in loaded], [origin for _, origin in loaded])
    if frame.is_empty():
        msg = f"{table.name} has no users"
        raise NoRowsError(msg)
    columns, zone = _groups(table, by, segment, rules), zone_of(frame, table.name)
    frame = _checked(frame, numeric, columns, origin_of(table.name, loaded))
    by_arm = is_arm(by, rules)
    if by_arm and "variant" in columns and "variants" not in names:
        msg = (
            f"{table.name} was not made by {columns['variant']!r}, so it does not say "
            "who was in several of its groups; for a test, make it from the log with "
            f"columns={{'variant': {columns['variant']!r}}}"
        )
        raise DataError(msg)
    seen, texts = _seen(frame, columns, by_arm=by_arm)
    facts = _facts(frame, columns, table)
    if "first_exposure" in names and "first" not in seen.columns:
        # Days after an exposure say nothing of those after the first event.
        facts = replace(facts, has=facts.has - {*RETURNS.values()})
    if "window_over" in names and "first" not in seen.columns:
        msg = (
            f"{table.name} was made with window= or --window, and is not read by "
            "variant: what users did before their first exposure has no window; make "
            "a table without window=, from the log"
        )
        raise ParameterError(msg)
    if rules.incomplete == "keep" and "window_over" not in seen.columns:
        msg = (
            "incomplete= or --keep-incomplete has no effect: the table was made "
            "without window= or --window"
        )
        raise ParameterError(msg)
    phases = [(AFTER, ""), (BEFORE, _SUFFIX)]
    if "first" not in seen.columns:  # all that users did counts
        phases = [(AFTER, end) for _, end in phases]
    parts = [_rows(frame, *phase, every=every) for phase in phases]
    if "first" not in seen.columns and parts[1].height:
        facts = replace(facts, notes=(*facts.notes, _CUT))
    rows = added(pl.concat(parts), *ROW)
    return UserCounts(
        rules, by, segment, by_arm, every, facts, seen, texts, rows, zone=zone,
        settled=True,
    )  # fmt: skip


def _seen(
    frame: pl.DataFrame, columns: Mapping[str, str], *, by_arm: bool
) -> tuple[pl.DataFrame, dict[str, pl.Series]]:
    """Return what is known of each user, and the names of groups."""
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
    if by_arm and "variant" in columns and "first_exposure" in frame.columns:
        seen = seen.with_columns(per_user["first_exposure"].alias("first"))
        if "window_over" in frame.columns:
            seen = seen.with_columns(per_user["window_over"])
    return seen, texts


def zone_of(frame: pl.DataFrame, title: str) -> str | None:
    """Return the time zone of a table; None for UTC. Refuse tables of two zones."""
    if ZONE not in frame.columns:
        return None
    given = frame[ZONE].cast(pl.String).set(frame[ZONE] == "", None)
    zones = given.fill_null("UTC").unique().sort()
    if len(zones) > 1:
        msg = (
            f"{title}: tables of two time zones are put together, {zones[0]} and "
            f"{zones[1]}, whose days are not the same; make both with one timezone= or "
            "--timezone, from the logs"
        )
        raise DataError(msg)
    check_zone(zones[0])
    return None if given.has_nulls() else str(zones[0])


def _source(every: Every, names: Collection[str]) -> str | None:
    """Return the column of days, weeks or hours; days add up to weeks."""
    known = (every, "day") if every == "week" else (every,)
    return next((name for name in known if name in names), None)


_CUT = (
    "the table of users was made by variant: a session that goes on after the first "
    "exposure counts as two; make the table with the same by= to count it once"
)


def _refuse_settled(rules: Rules) -> None:
    """Refuse options that say how events are counted, which was done before."""
    settled = [name for name in Rules.names() if name not in {*_OF_METRICS, "columns"}]
    given = [name for name in settled if name in rules.given]
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
    if is_arm(by, rules) and by != _ARM and {_ARM, *_OF_USER[:2]} <= {*table.names}:
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
            raise no_column(table, name)
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
    _refuse_fewer(frame.schema, where.name)
    typed = [ids_of(frame["user"], "user", where, hint="")[0].alias("user")]
    typed += [
        labels(frame[name], label, origin).alias(name)
        for label, name in columns.items()
    ]
    for name in (*PERIODS, "first_exposure"):
        if name in frame.columns:
            moments = times(frame[name], name, origin)[0]
            if name in {"day", "week"}:
                moments = (moments // DAY).cast(pl.Int32)
            typed.append(moments.alias(name))
    if "window_over" in frame.columns:
        typed.append(flags(frame["window_over"], origin))
    for name in [*numeric, *({"variants"} & {*frame.columns})]:
        number = numbers(frame[name], name, where, lenient=True)
        amount = name.removesuffix(_SUFFIX) in AMOUNTS
        wrong = ~number.is_finite() | (number.abs() > _MOST)
        if not amount:
            wrong |= number < 0
        if not amount and not name.startswith(("seconds_on_page", _OBSERVED)):
            wrong |= number != number.floor()
        if wrong.any():
            row = int(wrong.arg_true()[0])
            kind = "an amount" if amount else "a count"
            value = "missing" if math.isnan(number[row]) else f"{number[row]:g}"
            msg = (
                f"{where.where(row)}: {name} is {value}, not {kind} of a table "
                "that rk.online.users makes; for a table of your own, give unit=, the "
                "column of its users, or --users COLUMN"
            )
            raise DataError(msg)
        typed.append(number.alias(name))
    checked = pl.DataFrame(typed)
    _refuse_apart(checked, columns, where)
    return checked


def flags(column: pl.Series, origin: Rows | Places) -> pl.Series:
    """Return a column of true and false, as a CSV file may have it, too."""
    words = column.cast(pl.String).str.to_lowercase()
    wrong = ~words.is_in(["true", "false"]) & words.is_not_null()
    if wrong.any():
        row = int(wrong.arg_true()[0])
        where = origin.where(row)
        msg = f"{where}: {column.name} is {column[row]!r}, not true or false"
        raise DataError(msg)
    return words == "true"


def _refuse_fewer(names: Mapping[str, pl.DataType], title: str) -> None:
    """Refuse a table without some of its columns, whose counts would be taken for 0."""
    made = {NEEDS[name] for name in {*NEEDS} & {*names}}
    needed = {
        name for name in COLUMNS_OF_USERS if name not in NEEDS or NEEDS[name] in made
    }
    if {*RETURNS.values()} & {*names}:
        needed.add(_OBSERVED)
    if f"events{_SUFFIX}" in names:
        needed |= {
            f"{name}{_SUFFIX}" for name in {*names, *needed} & {*COLUMNS_OF_USERS}
        }
    zones = {getattr(names.get(name), "time_zone", None) for name in _WITH_ZONE}
    if zones - {None, "UTC"}:
        needed.add(ZONE)
    lacking = sorted(needed - {*names})
    if lacking:
        msg = (
            f"{title} lacks {', '.join(lacking[:3])}, which rk.online.users makes; "
            "make the table again, from the log"
        )
        raise ColumnNotFoundError(msg)


def _refuse_apart(frame: pl.DataFrame, columns: Mapping[str, str], origin: Any) -> None:
    """Refuse users in several rows that are not days of one table."""
    keys = [name for name in ("user", *PERIODS) if name in frame.columns]
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


def _rows(
    frame: pl.DataFrame, phase: int, end: str, *, every: Every | None
) -> pl.DataFrame:
    """Return the counts in the columns that end so, by user and period.

    Users are numbered in the order of their ids.
    """
    number = (frame["user"].rank("dense") - 1).cast(pl.UInt32)
    frame = frame.with_columns(number.alias("user"))
    if f"events{end}" not in frame.columns:
        frame = frame.clear()
    else:
        frame = frame.filter(pl.col(f"events{end}") > 0)

    def column(name: str) -> pl.Series:
        if name + end in frame.columns:
            return frame[name + end]
        return pl.zeros(frame.height, pl.Float64, eager=True)

    period = pl.Series([None], dtype=pl.Int32).new_from_index(0, frame.height)
    if every is not None:
        source = _source(every, frame.columns)
        period = frame[source or every]
        period = period if source == every else monday_of(period)
    counts = {name: column(name) for name in COUNTS}
    counts["observed"] = (column(_OBSERVED) * DAY).round()
    counts["dwell"] = (column("seconds_on_page") * SECOND).round()
    return frame.select(
        "user", pl.lit(phase, pl.Int8).alias("phase"), period.alias("period")
    ).with_columns(
        *(counts[name].cast(pl.Int64).alias(name) for name in COUNTS),
        *(exact(column(name).to_numpy()).alias(name) for name in AMOUNTS),
    )


def _facts(frame: pl.DataFrame, columns: dict[str, str], table: Table) -> Facts:
    """Return what is known of the events that a table was made of."""
    names = {*frame.columns}
    has = {"user", *columns}
    of_part = {"seconds_on_page": "time", "sessions": "session", "revenue": "value"}
    has |= {part for name, part in of_part.items() if name in names}
    has |= {"cost", *RETURNS.values()} & names

    def total(name: str) -> int:
        given = [column for column in (name, name + _SUFFIX) if column in names]
        return sum(int(frame[column].sum()) for column in given)

    kinds = {kind for name, kind in OF_KIND.items() if total(name)}
    return Facts(
        frozenset(has), frozenset(kinds), frozenset(), "", "", True, None,
        total("events"), {}, {}, table.notes,
    )  # fmt: skip
