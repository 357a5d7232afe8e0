"""Records: dicts by column, and lists of objects such as {"id": ..., "score": ...}."""

from __future__ import annotations

from dataclasses import replace
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from rankine._base.forks import need_threads
from rankine._base.text import QUERY, Counted, shown
from rankine._io.columns import (
    NO_COLUMN,
    is_distance,
    lacks_numbers,
    names_item,
    names_query,
    of_role,
    refuse_leftover,
    resolve,
    resolve_object,
    word_for,
)
from rankine._io.frames import lists_of, open_frame, rows_of
from rankine._io.mappings import graded, read_lists
from rankine._io.rows import in_their_order
from rankine._io.sources import Rows, hold_objects, noted
from rankine._io.values import (
    UNREADABLE,
    as_float,
    holds_numbers,
    is_missing,
    kind_of,
)
from rankine.errors import DataError, FormatError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from rankine._base.arrays import Ints
    from rankine._io.columns import Role
    from rankine._io.sources import Lists, Reading
    from rankine._io.tables import OpenTable


def are_records(data: Sequence[Any], how: Reading) -> bool:
    """Say whether the entries of a list are rows that name their queries."""
    told = (how.columns or {}).get("query")
    return bool(data) and all(
        isinstance(entry, dict)  # and not {item: number}
        and all(isinstance(key, str) for key in entry)
        and (told in entry or names_query([*entry]))
        for entry in data
    )


def from_records(
    records: list[Any], role: Role, how: Reading, name: str, lines: Ints | None = None
) -> Lists | Rows:
    """Read judgements or a run from records, one per item or one per query.

    Args:
        records: dicts by column.
        role: what they hold.
        how: what the user says of them.
        name: what to call them in messages.
        lines: the line of each, if they come from a file.
    """
    first = records[0] if isinstance(records[0], dict) else {}
    listed = [key for key, value in first.items() if isinstance(value, list)]
    if not any(_hold_any(_under(key, records)) for key in listed):
        return rows_of(open_records(records, name, lines), role, how)
    keys, columns = list(_columns(records, name)), how.columns or {}
    outside = {part: key for part, key in columns.items() if key in (*keys, NO_COLUMN)}
    column_of = resolve(keys, role, outside, name)
    entries = _under(column_of["item"], records)
    if not _hold_any(entries):
        return rows_of(open_records(records, name, lines), role, how)
    for value in ("score", "rank", "grade"):
        if value in column_of:
            beside, objects = column_of[value], column_of["item"]
            msg = (
                f"{name}: {beside!r} is next to the objects in {objects!r}, not inside "
                f"them; put the {value} of each item into its object, or, if there is "
                f"none, give columns={{{value!r}: '-'}} or --col {value}=-"
            )
            raise DataError(msg)
    inside = {key: column for key, column in columns.items() if key not in outside}
    how = replace(how, columns=inside)
    rows = from_objects(
        _under(column_of["query"], records), entries, role, how, name, lines,
        unit=word_for(column_of["query"]), certain=of_role(column_of["item"], role),
    )  # fmt: skip
    said = ", ".join(
        f"{part} = {key}" for part, key in column_of.items() if part != key
    )
    return noted(rows, [f"{name}: {said}"]) if said and not outside else rows


def from_entries(
    data: Mapping[Any, Any],
    role: Role,
    how: Reading,
    name: str,
    n_places: int | None = None,
    lines: Ints | None = None,
) -> Lists | Rows:
    """Read judgements or a run from an entry for each query.

    Args:
        data: {query: {item: number}}, {query: [items]} or {query: [objects]}.
        role: what they are.
        how: what the user says of them.
        name: what to call them in messages.
        n_places: how many queries there are, if they are identified by position.
        lines: the line of each query, if they come from a file.
    """
    if hold_objects(data.values()):
        entries = list(data.values())
        source = from_objects(list(data), entries, role, how, name, lines)
        return replace(source, n_places=n_places)
    if how.grades is not None and role == "qrels":
        data = graded(data, how.grades)
    return read_lists(data, role, name, n_places=n_places, lenient=how.lenient)


def _hold_any(entries: Iterable[Any]) -> bool:
    """Say whether one of several lists holds objects, so that all of them must."""
    lists = (entry for entry in entries if isinstance(entry, (list, tuple)))
    return any(entry and isinstance(entry[0], dict) for entry in lists)


def from_objects(
    queries: Sequence[Any],
    entries: Sequence[Any],
    role: Role,
    how: Reading,
    name: str,
    lines: Ints | None = None,
    *,
    unit: str = "",
    certain: bool = False,
) -> Rows:
    """Read lists of objects, each of which has the id of an item and its number.

    Args:
        queries: the ids of the queries.
        entries: the list of each.
        role: what they are.
        how: what the user says of them.
        name: what to call them in messages.
        lines: the line of each list, if they come from a file.
        unit: what the queries are called.
        certain: whether the data say what they are, so that they are not doubted.
    """
    need_threads()

    def where(number: int) -> str:
        line = "" if lines is None else f":{int(lines[number])}"
        return f"{name}{line}: the list of {unit or QUERY} {shown(queries[number])}"

    _refuse_others(entries, where)
    given = how.columns or {}
    records = [record for entry in entries for record in entry]
    records, kinds = _of_one_kind(records, role, given, name)
    columns = _columns(records, name)
    column_of = _parts_of(columns, role, given, name)
    if lacks_numbers(column_of, role, how.columns):
        made = {key: _column(key, values, name) for key, values in columns.items()}
        single = [key for key, own in made.items() if not own.dtype.is_nested()]
        refuse_leftover(
            column_of, [key for key in single if holds_numbers(made[key])], role, name
        )
    counts = [len(entry) for entry in entries]
    owner = np.repeat(np.arange(len(counts)), counts)
    for key in () if how.lenient else column_of.values():
        row = next((n for n, value in enumerate(columns[key]) if value is None), None)
        if row is not None:
            number = int(owner[row])
            place = row - sum(counts[:number])
            msg = f"{where(number)} has an object without {key!r} at place {place}"
            raise DataError(msg)
    query = _column("query", list(queries), name)
    frame = pl.DataFrame(
        [
            query.gather(owner),
            *(_column(key, columns[key], name) for key in column_of.values()),
        ]
    )
    origin = Rows(frame, name, lines=None if lines is None else lines[owner])
    rows = rows_of(
        open_frame(frame, name, origin), role, how, {"query": "query", **column_of}
    )
    rows = replace(rows, unit=unit, warnings=() if certain else rows.warnings)
    rows = noted(rows, kinds)
    if not is_distance(rows.column):  # of which the order was asked before
        rows = in_their_order(rows, role, how)
    if all(counts):
        return rows
    notes = *rows.notes, Counted(f"{name}: ", counts.count(0), "empty list", "")
    return replace(rows, notes=notes, queries=lists_of(query, origin, how))


def _refuse_others(entries: Sequence[Any], where: Callable[[int], str]) -> None:
    """Refuse whatever is no list of dicts."""
    for number, entry in enumerate(entries):
        if not isinstance(entry, (list, tuple)):
            msg = f"{where(number)} is {kind_of(entry)}; expected {_OBJECTS}"
            raise FormatError(msg)
        for place, record in enumerate(entry):
            if not isinstance(record, dict):
                what = f"has {kind_of(record)} at place {place}"
                msg = f"{where(number)} {what}; expected {_OBJECTS}"
                raise FormatError(msg)


def _of_one_kind(
    records: list[dict[str, Any]], role: Role, given: Mapping[str, Any], name: str
) -> tuple[list[dict[str, Any]], list[str]]:
    """Give objects that use other keys the keys of the rest, and say so.

    What they call the id must not occur in the rest, where it may be another id, such
    as that of a document beside that of a chunk; nor may scores meet distances.
    """
    item = _parts_of(_columns(records, name), role, given, name)["item"]
    rest = [record for record in records if item in record]
    others = [record for record in records if item not in record]
    if "item" in given or not others or not names_item([*others[0]]):
        return records, []
    others, more = _of_one_kind(others, role, given, name)
    ours, theirs = (
        _parts_of(_columns(kind, name), role, given, name) for kind in (rest, others)
    )
    directions = {is_distance(keys.get("score", "")) for keys in (ours, theirs)}
    again = any(theirs["item"] in record for record in rest)
    if again or len(directions) > 1 or ours.keys() != theirs.keys():
        return records, []
    renamed = (
        {ours[part]: record.get(key) for part, key in theirs.items()}
        for record in others
    )
    alike = [record if item in record else next(renamed) for record in records]
    said = "; in others, ".join(
        ", ".join(f"{part} = {key}" for part, key in keys.items())
        for keys in (ours, theirs)
    )
    return alike, [f"{name}: in some objects, {said}", *more]


def _parts_of(
    columns: Mapping[str, list[Any]], role: Role, given: Mapping[str, Any], name: str
) -> dict[str, str]:
    """Say which key of objects is the item, and which its number.

    Search engines return None for scores if they sort by something else.
    """
    full = [key for key, own in columns.items() if any(x is not None for x in own)]
    keys = full if names_item(full) else [*columns]
    column_of = resolve_object(keys, role, given, name)
    relevance = columns.get("relevance", ()) if role == "run" else ()
    fractions = any(isinstance(x, float) and x % 1 for x in relevance)
    if fractions and lacks_numbers(column_of, role, given):
        column_of["score"] = "relevance"  # which grades have in judgements
    return column_of


_OBJECTS = 'a list of objects such as {"id": ..., "score": ...}'


def open_records(records: list[Any], name: str, lines: Ints | None = None) -> OpenTable:
    """Return records, which are dicts by column, as a table."""
    origin = Rows(pl.DataFrame(), name, lines=lines)
    columns = _columns(records, name)
    frame = pl.DataFrame([_column(key, columns[key], name) for key in columns])
    return open_frame(frame, name, origin)


def _columns(records: Sequence[Any], name: str) -> dict[str, list[Any]]:
    """Return the values of records by key, None where a record lacks the key."""
    for number, record in enumerate(records):
        if not isinstance(record, dict):
            kind = type(record).__name__
            msg = f"{name}: record {number} is of type {kind}; expected an object"
            raise FormatError(msg)
    keys = dict.fromkeys(chain.from_iterable(records))
    return {key: [record.get(key) for record in records] for key in keys}


def _under(key: str, records: list[Any]) -> list[Any]:
    return [record.get(key) for record in records if isinstance(record, dict)]


def _column(key: str, values: list[Any], name: str) -> pl.Series:
    """Make a column; one of mixed types is kept, and refused only if it is used."""
    kinds = {type(value) for value in values} - {type(None)}
    if kinds == {int, float}:  # JSON has one type for numbers
        values = [None if value is None else as_float(value) for value in values]
    if kinds == {str, float}:  # nan is how other libraries mark a missing text
        values = [None if is_missing(value) else value for value in values]
    if kinds == {list}:
        inner = {type(member) for value in values for member in value or ()}
        if inner == {int, float}:
            values = [
                value and [as_float(member) for member in value] for value in values
            ]
    try:
        return pl.Series(key, values, strict=True)
    except UnicodeEncodeError:
        msg = f"{name}: {key!r} contains an unpaired surrogate, which is not valid text"
        raise DataError(msg) from None
    except UNREADABLE:
        return pl.Series(key, values, dtype=pl.Object)
