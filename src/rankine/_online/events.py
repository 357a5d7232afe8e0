"""The events of a log: columns by role, kinds by known words, and what is left out.

Whatever is left out is counted, and whatever is assumed is noted.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import reduce
from operator import or_
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from rankine._base.limits import limits
from rankine._io import open_table
from rankine._io.columns import choose, known_columns
from rankine._io.json import not_a_table
from rankine._io.sources import Reading
from rankine._io.tables import Places, origin_of, together
from rankine._io.values import ids, numbers
from rankine._online.codes import coded
from rankine._online.rules import CODES, COLUMNS, KINDS, PASSIVE
from rankine._online.times import DAY, SECOND, times
from rankine._online.words import as_word, as_words, engaging_words, known_words
from rankine.errors import (
    ColumnNotFoundError,
    DataError,
    NoRowsError,
    ParameterError,
    nearest,
)

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    from rankine._io.sources import Rows
    from rankine._io.tables import Table
    from rankine._online.rules import Rules

_MOST = 9_000_000_000
"""The most an event may be worth: sums of 10^10 of them stay within 128 bits."""
_LEAST = 1e-9
"""Too few digits would be kept of a smaller amount."""
_CREDIT = "with a cost below 0: taken off the cost"
_UNPRICED = "with a conversion, but no value: 0 revenue"
_UNPAID = "with a value, but neither conversion nor refund: not revenue"
ABOUT = {_UNPRICED: "value", _UNPAID: "value", _CREDIT: "cost"}
"""The part that a metric must need for a remark to be about it."""
NO_ID = 0
"""The key of an event without an id, in a log that has ids."""
_OF_USERS = (
    "; for a table with one row per user, give ab_test metrics={name: column}, or "
    "rankine ab --users COLUMN; calibrate and plan take the same"
)
_OF_TABLES = {"user", "events", "impressions", "clicks", "actions"}
"""Columns that every table of users has, and no log."""
_FIRST, _LAST = -62_135_596_800 * SECOND, 253_402_300_800 * SECOND - 1
"""The first and the last microsecond of the years 1 to 9999, which dates may be of."""
_NEEDED = {"user": "a user", "kind": "a kind", "time": "a time"}
_COMPARED = ("session", "variant", "segment", "value", "cost")


@dataclass(frozen=True, eq=False)
class Facts:
    """What is known of some events as a whole; it adds up.

    Attributes:
        has: the parts that the log has.
        kinds: the kinds of events that it has.
        words: the words of its events.
        clock: how its times were written.
        currency: the currency of its values and costs, if it says so.
        fine: whether any event has a time of day, by which a duplicate can be told.
        last: the time of the last event; None if there are no times.
        n_read: how many rows were read.
        remarks: what holds for some events, and for how many.
        excluded: rows that were left out while reading, by reason.
        notes: what was assumed.
    """

    has: frozenset[str]
    kinds: frozenset[str]
    words: frozenset[str]
    clock: str
    currency: str
    fine: bool
    last: int | None
    n_read: int
    remarks: Mapping[str, int]
    excluded: Mapping[str, int]
    notes: tuple[str, ...]

    def __add__(self, other: Facts) -> Facts:
        """Return what is known of both parts of a log; refuse parts that do not fit."""
        if self.currency and other.currency not in {"", self.currency}:
            what = "the log"
            raise mixed(what, self.currency, other.currency)
        if self.clock and other.clock not in {"", self.clock}:
            msg = f"this part has {other.clock}, but those before have {self.clock}"
            raise DataError(msg)
        if other.has != self.has:
            odd = min(other.has ^ self.has)
            given = odd in other.has
            words = ("has a", "had none") if given else ("has no", "had one")
            msg = (
                f"this part {words[0]} column for the {odd}, but those before "
                f"{words[1]}"
            )
            raise DataError(msg)
        lasts = self.last, other.last
        return Facts(
            self.has,
            self.kinds | other.kinds,
            self.words | other.words,
            self.clock or other.clock,
            self.currency or other.currency,
            self.fine or other.fine,
            max([last for last in lasts if last is not None], default=None),
            self.n_read + other.n_read,
            _both(self.remarks, other.remarks),
            _both(self.excluded, other.excluded),
            tuple(dict.fromkeys((*self.notes, *other.notes))),
        )

    @property
    def end(self) -> int | None:
        """The moment up to which users were observed; None if there are no times.

        Events without a time of day may have been at any time of their day.
        """
        return self.last if self.fine or self.last is None else self.last + DAY


def _both(ours: Mapping[str, int], theirs: Mapping[str, int]) -> dict[str, int]:
    return {key: ours.get(key, 0) + theirs.get(key, 0) for key in {**ours, **theirs}}


@dataclass(frozen=True, eq=False)
class Events:
    """Events that were read.

    Attributes:
        frame: one row per event: user, the key of the session, the numbers of variant
            and segment among their texts from 1 (0 for none), time in microseconds, the
            code of the kind, whether it engages, whether it exposes, the steps that it
            matches (a bit each, the first is 1), value, cost, and a key that identical
            rows share; as far as the log has them and they are asked for.
        texts: the names of variants and segments.
        facts: what is known of them as a whole.
    """

    frame: pl.DataFrame
    texts: Mapping[str, pl.Series]
    facts: Facts


def open_log(data: Any, rules: Rules) -> Table:
    """Open a log, so that it can be read more than once."""
    return open_table(data, "events", Reading(columns=dict(rules.columns) or None))


def is_of_users(names: Collection[str]) -> bool:
    """Say whether columns are those of a table of users.

    >>> is_of_users(["user_id", "event"])
    False
    """
    return {*names} >= _OF_TABLES


def event_batches(
    data: Any,
    rules: Rules,
    by: str | None,
    segment: str | None,
    steps: Sequence[str] = (),
) -> Iterator[Events]:
    """Read events from a file, a frame, or anything else that holds a table.

    Args:
        data: the log.
        rules: what the user says about it.
        by: the column that divides users into groups: variant, or any other.
        segment: a second such column.
        steps: the words or kinds of events whose order matters.
    """
    given = dict(rules.columns)
    table = open_log(data, rules)
    if is_of_users(table.names):
        msg = (
            f"{table.name} is a table of users, whose events are counted already; give "
            "it to summarize, ab_test and the like, and put several together with "
            "pl.concat"
        )
        raise DataError(msg)
    if table.parts[0].entries is not None:
        raise not_a_table(table.name)
    column_of = _resolved(table, given, by, segment)
    numeric = [column_of[part] for part in ("value", "cost") if part in column_of]
    wanted = list(dict.fromkeys(column_of.values()))
    if rules.duplicates == "drop" and "id" not in column_of:
        wanted = list(table.names)  # rows are identical if all their columns are
    # Whoever names a column in by= knows which it is, and it need not hold variants.
    named = {*given} if by == "variant" else {*given, "variant"}
    notes = [*table.notes, *_taken(column_of, named, table.name)]
    empty = True
    for loaded in table.batches(wanted, numeric, limits().batch_rows):
        raw = together([frame for frame, _ in loaded], [origin for _, origin in loaded])
        if raw.height == 0:
            continue
        time = column_of.get("time")
        if time is not None and raw.schema[time] == pl.Null:
            del column_of["time"]
            notes.append(f"{table.name}: {time} is empty, so there are no times")
        origin = origin_of(table.name, loaded)
        if len(table.parts) > 1:  # what is assumed about one file is assumed about all
            heights = tuple((rows, frame.height) for frame, rows in loaded)
            origin = Places(table.name, heights)
        frame, texts, clock, words, more = _typed(raw, column_of, origin, rules, steps)
        currency = _currency(raw, column_of, frame, table.name)
        has = frozenset(column_of)
        events = _usable(frame, texts, has, clock, currency, words, [*notes, *more])
        empty = False
        yield events
    if empty:
        msg = f"{table.name} has no events"
        raise NoRowsError(msg)


def _resolved(
    table: Table, given: Mapping[str, Any], by: str | None, segment: str | None
) -> dict[str, str]:
    """Say which column is what; `by` may be a part or the name of a column."""
    names = table.names

    def by_name(part: str) -> str | None:
        return next(iter(known_columns(names, part, COLUMNS)), None)

    column_of = choose(names, [*COLUMNS], given, table.name, by_name)
    if "user" not in column_of and "session" in column_of:
        column_of["user"] = column_of["session"]
    for part in ("user", "event"):
        if part not in column_of:
            known = ", ".join(COLUMNS[part][:3])
            msg = (
                f"{table.name} has no column for the {part}; it has "
                f"{', '.join(names)}, and names such as {known} are recognised; name "
                f"the one to use with columns={{{part!r}: ...}} or --col {part}=NAME"
                f"{'' if 'event' in column_of else _OF_USERS}"
            )
            raise ColumnNotFoundError(msg)
    for role, name in (("variant", by), ("segment", segment)):
        if name is not None:
            column_of |= _group(table, column_of, role, name)
    if by is None:
        column_of.pop("variant", None)
    same = column_of.get("segment")
    if same is not None and same == column_of.get("variant"):
        msg = f"segment must be another column than that of the groups, {same!r}"
        raise ParameterError(msg)
    groups = {column_of.get("variant"), column_of.get("segment")}
    if not {"value", "cost"} & set(column_of) or column_of.get("currency") in groups:
        column_of.pop("currency", None)
    return column_of


def _group(
    table: Table, column_of: Mapping[str, str], role: str, name: str
) -> dict[str, str]:
    """Return the column of a group, by its name or by its part."""
    names = table.names
    if role == name and (role == "variant" or name not in names):
        return {}  # found already; without variants, all users are one group
    if name in names or name in column_of:
        return {role: name if name in names else column_of[name]}
    raise no_column(table, name)


def no_column(table: Table, name: str) -> ColumnNotFoundError:
    """Say that a table has no column of a name."""
    names = table.names
    msg = (
        f"{table.name} has no column {name!r}; it has {', '.join(names)}"
        f"{nearest(name, names)}"
    )
    return ColumnNotFoundError(msg)


def _taken(
    column_of: Mapping[str, str], named: Collection[str], name: str
) -> tuple[str, ...]:
    notes = []
    taken = [
        f"{part} = {column}"
        for part, column in column_of.items()
        if part not in named and column not in {part, *COLUMNS.get(part, (column,))[:1]}
    ]
    if taken:
        notes.append(f"{name}: {', '.join(taken)}")
    if column_of["user"] == column_of.get("session"):
        notes.append(f"{name} has no users: every session counts as one")
    return tuple(notes)


def _typed(
    raw: pl.DataFrame,
    column_of: Mapping[str, str],
    origin: Rows | Places,
    rules: Rules,
    steps: Sequence[str],
) -> tuple[pl.DataFrame, dict[str, pl.Series], str, frozenset[str], list[str]]:
    """Return the columns of metrics, groups, the kind of times, words, and notes."""
    # A batch may come in pieces: numbers are put together, texts need not be.
    raw = raw.select(
        column if column.dtype == pl.String else column.rechunk() for column in raw
    )
    notes: list[str] = []
    clock = ""
    columns: dict[str, pl.Series] = {}
    texts: dict[str, pl.Series] = {}
    for part in ("user", "session", "variant", "segment"):
        if part in column_of:
            columns[part] = labels(raw[column_of[part]], part, origin)
    if "session" in columns:
        session = columns["session"].cast(pl.String)
        # Not by its hash alone, which is that of a null where there is none.
        keys = session.hash()
        columns["session"] = keys.set(session.is_null(), None)
    for part in [part for part in ("variant", "segment") if part in columns]:
        texts[part], group = coded(columns[part])
        columns[part] = pl.Series(group)
    if "time" in column_of:
        moments, said = times(raw[column_of["time"]], column_of["time"], origin)
        clock = _clock(moments, column_of["time"], origin)
        columns["time"] = moments
        notes += said
    kinds, words = _kinds(raw[column_of["event"]], rules, steps)
    columns |= kinds
    for part in ("value", "cost"):
        if part in column_of:
            amount = _amounts(raw[column_of[part]], column_of[part], origin)
            if part == "value" and CODES["refund"] in kinds["kind"]:
                back = columns["kind"] == CODES["refund"]
                amount = amount.zip_with(~back.fill_null(value=False), -amount.abs())
            columns[part] = amount
    if rules.duplicates == "drop":
        columns["same"] = same(raw, columns, texts, column_of, origin)
    typed = pl.DataFrame(
        [column.rechunk().alias(part) for part, column in columns.items()]
    )
    return typed, texts, clock, words, notes


def _currency(
    raw: pl.DataFrame, column_of: Mapping[str, str], typed: pl.DataFrame, name: str
) -> str:
    """Return the currency of all values and costs; refuse several."""
    if "currency" not in column_of:
        return ""
    amounts = [typed[part] != 0 for part in ("value", "cost") if part in column_of]
    column = raw[column_of["currency"]].filter(reduce(or_, amounts))
    known = column.cast(pl.String).str.strip_chars().str.to_uppercase().drop_nulls()
    every = sorted(set(known.unique()) - {""})
    if len(every) > 1:
        raise mixed(name, every[0], every[1])
    return "".join(every)


def mixed(name: str, currency: str, other: str) -> DataError:
    """Say that amounts of two currencies cannot be added up."""
    msg = (
        f"{name} has values in {currency} and in {other}, which cannot be added up; "
        "convert them to one currency, or group by the column of currencies"
    )
    return DataError(msg)


def _clock(moments: pl.Series, title: str, origin: Rows | Places) -> str:
    """Say how times were written; refuse those that no date is of."""
    ends: Any = moments.min(), moments.max()
    if moments.null_count() < len(moments) and (ends[0] < _FIRST or ends[1] > _LAST):
        row = int(((moments < _FIRST) | (moments > _LAST)).arg_true()[0])
        msg = (
            f"{origin.where(row)}: {title} is not in the years 1 to 9999; are all "
            "times of the same unit?"
        )
        raise DataError(msg)
    return moments.name


def labels(column: pl.Series, part: str, origin: Rows | Places) -> pl.Series:
    """Return ids, null where they are missing; names of groups become texts."""
    if part in {"variant", "segment"} and column.dtype in (pl.Boolean, pl.Date):
        column = column.cast(pl.String)
    label, _ = ids(column, part, origin, lenient=True)  # type: ignore[arg-type]
    return label if part in {"user", "session"} else label.cast(pl.String)


def _kinds(
    column: pl.Series, rules: Rules, steps: Sequence[str]
) -> tuple[dict[str, pl.Series], frozenset[str]]:
    """Return what the word of each event says, and all words."""
    known, engaging = known_words(rules), engaging_words(rules)
    exposing = None if rules.exposure is None else as_word(rules.exposure)
    texts, numbers = coded(column.cast(pl.String))
    words = as_words(texts).to_list()
    # Of each word, by its number; 0 is the number of none.
    codes = np.zeros(1 + len(words), np.uint8)
    engages, exposes = np.zeros((2, 1 + len(words)), np.bool_)
    matches = np.zeros(1 + len(words), np.int64)
    for number, word in enumerate(words, 1):
        kind = known.get(word, "action")
        names = {word, kind}
        codes[number] = CODES[kind]
        engages[number] = (
            kind not in PASSIVE if engaging is None else bool(names & engaging)
        )
        exposes[number] = exposing is None or exposing in names
        matches[number] = sum(
            1 << place for place, step in enumerate(steps) if step in names
        )
    columns = {
        "kind": pl.Series(codes[numbers]),
        "engages": pl.Series(engages[numbers]),
    }
    if not numbers.all():
        columns["kind"] = columns["kind"].set(pl.Series(numbers == 0), None)
    if exposing is not None:
        columns["exposes"] = pl.Series(exposes[numbers])
    if steps:
        columns["steps"] = pl.Series(matches[numbers])
    return columns, frozenset(words)


def _amounts(column: pl.Series, title: str, origin: Rows | Places) -> pl.Series:
    """Return amounts of money, null where there is none."""
    if column.dtype == pl.String:
        column = column.set(column.str.strip_chars() == "", None)
    if column.dtype != pl.Float64:
        column = numbers(column, title, origin, lenient=True)  # type: ignore[arg-type]
    if column.null_count() or column.is_nan().any():
        column = column.fill_nan(None)
        worth = column.drop_nulls().to_numpy()
    else:
        worth = column.to_numpy()
    size = np.abs(worth[worth != 0])
    if len(size) and (size.max() > _MOST or size.min() < _LEAST):
        size = column.abs()
        odd = ((size > _MOST) | ((size > 0) & (size < _LEAST))).fill_null(value=False)
        row = int(odd.arg_true()[0])
        bound = f"up to {_MOST:,}" if size[row] > _MOST else f"{_LEAST:g} or more"
        msg = (
            f"{origin.where(row)}: {title} is {column[row]:g}; an event may be worth "
            f"{bound}"
        )
        raise DataError(msg)
    return column


def same(
    raw: pl.DataFrame,
    columns: Mapping[str, pl.Series],
    texts: Mapping[str, pl.Series],
    column_of: Mapping[str, str],
    origin: Rows | Places,
) -> pl.Series:
    """Return a key that identical rows have in common.

    It is `NO_ID` for an event without an id in a log that has ids. User, time and kind
    are compared as well, unless there are ids. The order of columns does not matter,
    nor whether ids are ints or text, as both may change from part to part.
    """
    if "id" in column_of:
        event_ids = labels(raw[column_of["id"]], "id", origin)
        keys = event_ids.hash()
        keys = keys.set(keys == NO_ID, NO_ID + 1)
        return keys.set(event_ids.is_null(), NO_ID)
    known = {column for part, column in column_of.items() if part in columns}
    plain = raw.select(
        (
            pl.struct(name).struct.json_encode()
            if isinstance(raw.schema[name], (pl.Struct, pl.List, pl.Array))
            else pl.col(name).cast(pl.String)
        ).alias(f"raw {name}")
        for name in sorted(set(raw.columns) - known)
    )
    parts = [part for part in _COMPARED if part in columns]
    others = [
        _hashed(texts[part], columns[part]).alias(part)
        if part in texts
        else columns[part].alias(part)
        for part in parts
    ]
    return plain.with_columns(others).hash_rows()


def _hashed(texts: pl.Series, numbers: pl.Series) -> pl.Series:
    """Return the hash of the text of each row; 0 for none."""
    hashes = np.append(np.uint64(0), texts.hash().to_numpy())
    return pl.Series(hashes.take(numbers.to_numpy()))


def _usable(
    frame: pl.DataFrame,
    texts: Mapping[str, pl.Series],
    has: frozenset[str],
    clock: str,
    currency: str,
    words: frozenset[str],
    notes: list[str],
) -> Events:
    """Leave out events that cannot be used, and count them."""
    n_read = frame.height
    excluded = {}
    for part, what in _NEEDED.items():
        missing = frame[part].null_count() if part in frame.columns else 0
        if missing:
            excluded[f"events without {what}"] = missing
            frame = frame.filter(pl.col(part).is_not_null())
    remarks = {}
    if "value" in has:
        converts = frame["kind"] == CODES["conversion"]
        remarks[_UNPRICED] = int((frame["value"].is_null() & converts).sum())
    amounts = [part for part in ("value", "cost") if part in has]
    frame = frame.with_columns(pl.col(amounts).fill_null(0.0))
    if "value" in has:
        paid = [CODES[kind] for kind in ("conversion", "refund")]
        worth = frame["value"].to_numpy() != 0
        remarks[_UNPAID] = int((~np.isin(frame["kind"].to_numpy()[worth], paid)).sum())
    if "cost" in has:
        remarks[_CREDIT] = int((frame["cost"] < 0).sum())
    kinds = frozenset(KINDS[code] for code in frame["kind"].unique().to_list())
    fine = "time" in has and bool((frame["time"] % DAY != 0).any())
    last: Any = frame["time"].max() if "time" in has else None
    facts = Facts(
        has, kinds, words, clock, currency, fine, last, n_read, remarks, excluded,
        tuple(notes),
    )  # fmt: skip
    return Events(frame, texts, facts)
