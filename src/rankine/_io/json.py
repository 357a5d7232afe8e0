"""JSON: one object by query, lists by position, or records."""

from __future__ import annotations

import io
import json
import re
from dataclasses import replace
from itertools import chain, islice
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from rankine._base.limits import limits
from rankine._io.bytes import decoded, not_utf8
from rankine._io.columns import NAMES_OF_TABLES, names_item, names_query
from rankine._io.frames import open_frame, rows_of
from rankine._io.records import from_entries, from_records, open_records
from rankine._io.rows import as_rows
from rankine._io.shapes import plainer, simplified
from rankine._io.sources import Lists, Rows, Stream, no_rows, with_rows
from rankine._io.tables import OpenTable
from rankine._io.values import kind_of
from rankine.errors import DataError, DuplicateItemError, FormatError

if TYPE_CHECKING:
    from collections.abc import (
        Callable,
        Collection,
        Generator,
        Iterator,
        Mapping,
        Sequence,
    )

    from rankine._base.arrays import Ints
    from rankine._io.bytes import Opened
    from rankine._io.columns import Role
    from rankine._io.fields import Sniffed
    from rankine._io.sources import Reading
    from rankine._io.tables import Loaded

_STARTS = re.compile(rb'\{\s*["}]|\[\s*["[{\]]')
"""How a value of JSON begins that can hold judgements or a run."""
_FIRST_VALUE = re.compile(rb'\{\s*"(?:[^"\\]|\\.)*"\s*:\s*(.)', re.DOTALL)
_EMPTY = re.compile(rb"\{\s*\}")
_MTEB = b'"mteb_model_meta"'
"""A key of predictions that MTEB saved."""
_SPACE = re.compile(r"[ \t\n\r]*")
_KEY = re.compile(r"[A-Za-z0-9_-]+")
_VALUES: dict[pl.DataType, str] = {
    pl.String(): r'"[^"\\\x00-\x1f]*"',
    pl.Int64(): r"-?(?:0|[1-9][0-9]{0,17})",
    pl.Float64(): r"-?(?:0|[1-9][0-9]{0,17})(?:\.[0-9]+)?(?:[eE][+-]?[0-9]{1,3})?",
}
"""How values are written that polars reads as Python does."""
_TYPES = {str: pl.String(), int: pl.Int64(), float: pl.Float64()}


def is_json(head: bytes) -> bool:
    """Say whether a file is one value of JSON, by its first bytes."""
    return _kind(head) == "json"


def is_json_lines(head: bytes) -> bool:
    """Say whether each line of a file is a value of JSON, by its first bytes."""
    return _kind(head) == "ndjson"


def _kind(head: bytes) -> str | None:
    """Distinguish one JSON value from a record, or a list of items, per line."""
    start = head.lstrip()
    if start[:1] not in (b"{", b"["):
        return None
    lines = [line for line in start.split(b"\n") if line.strip()]
    if start[:1] == b"[" and _is_list(lines[0]):
        return "ndjson" if len(lines) > 1 else "json"
    if not _STARTS.match(start):
        return None
    if start[:1] == b"[":
        return "json"
    try:
        first = json.loads(lines[0])
    except (ValueError, RecursionError):
        if len(lines) > 1:  # a value over several lines
            return "json"
        inside = _FIRST_VALUE.match(start)  # a line that is longer than what was read
        return "ndjson" if inside and inside[1] not in b"{[" else "json"
    if len(lines) > 1 and lines[1].lstrip()[:1] == b"{":
        return "ndjson"
    if not isinstance(first, dict):
        return "json"
    # Without the names of columns, it is {query: item}.
    named = names_query([*first]) or names_item([*first])
    plain = any(isinstance(value, (str, int, float)) for value in first.values())
    return "ndjson" if plain and named else "json"


def _is_list(line: bytes) -> bool:
    """Say whether a line is a whole list of JSON."""
    try:
        return isinstance(json.loads(line), list)
    except (ValueError, RecursionError):
        return False


def read_json(
    opened: Opened, sniffed: Sniffed, role: Role, how: Reading
) -> Lists | Rows | Stream:
    """Read {query: {item: number}}, {query: [items]}, [[items], ...], or records."""
    text, name, lines = opened.read(), opened.name, sniffed.format == "ndjson"
    large = role == "run" and not lines and len(text) > limits().large_json_bytes
    if large and _of_scores(text):
        return _in_parts(text, name, how)
    loaded = _loaded(text, name, role, lines=lines)
    if not isinstance(loaded, OpenTable):
        entries, numbers = loaded
        found = plainer(_unwrapped(entries, role, name), role, how, name)
        if isinstance(found, (Lists, Rows)):
            return found
        if any(isinstance(entry, list) for entry in entries):
            return _by_place(entries, numbers, role, how, name)
        return from_records(entries, role, how, name, numbers)
    if loaded.entries is None:
        return rows_of(loaded, role, how)
    found = plainer(loaded.entries, role, how, name)
    if isinstance(found, (Lists, Rows)):
        return found
    for query, entry in loaded.entries.items():
        if not isinstance(entry, (dict, list)):
            raise _no_entry(query, entry, name)
    return from_entries(loaded.entries, role, how, name)


def _unwrapped(entries: list[Any], role: Role, name: str) -> Any:
    """Return the only object of a file, if it is not a record but holds all data."""
    shape = simplified(entries[0], role, name) if len(entries) == 1 else None
    return entries if shape is None or not shape.said else entries[0]


def _by_place(
    entries: list[Any], numbers: Ints | None, role: Role, how: Reading, name: str
) -> Lists | Rows:
    """Read a list of items for each query, which is identified by position."""
    for place, entry in enumerate(entries):
        if not isinstance(entry, (dict, list)):
            where = f"{name}: the entry at place {place}"
            if numbers is not None:
                where = f"{name}:{int(numbers[place])}: the entry"
            msg = (
                f"{where} is {kind_of(entry)}; expected a list of items, like the "
                "others"
            )
            raise FormatError(msg)
    by_place = dict(enumerate(entries))
    return from_entries(by_place, role, how, name, len(entries), numbers)


def open_json(opened: Opened, sniffed: Sniffed) -> OpenTable:
    """Open records: a list of objects, or one object per line.

    An object whose keys are not column names is kept as it is.
    """
    lines = sniffed.format == "ndjson"
    types = _types(opened) if lines else None
    if types is None:
        return _open_whole(opened, lines=lines)

    def load(wanted: Sequence[str], numeric: Collection[str] = ()) -> Loaded:
        return _open_whole(opened, lines=True).load(wanted, numeric)

    def batches(
        wanted: Sequence[str], _: Collection[str], size: int
    ) -> Iterator[Loaded]:
        line = 1
        for block in opened.lines(opened.part_bytes(size)):
            frame = alike(block, 0)
            if frame is None:
                raise opened.changed()
            columns = frame.select(pl.col(name).cast(types[name]) for name in wanted)
            yield columns, Rows(pl.DataFrame(), opened.name, line)
            line += frame.height
            del block, frame, columns  # before more is read

    return OpenTable(opened.name, tuple(types), load, batches=batches)


def _types(opened: Opened) -> dict[str, pl.DataType] | None:
    """Return the columns of a large file of uniform objects, in one pass."""
    blocks = opened.lines(limits().part_bytes)
    head = list(islice(blocks, 2))
    if len(head) < 2:  # noqa: PLR2004 - it can as well be read at once
        return None
    types: dict[str, pl.DataType] = {}
    for block in chain(head, blocks):
        frame = alike(block, 0)
        if frame is None or (types and list(types) != frame.columns):
            return None
        for name, dtype in frame.schema.items():
            known = types.setdefault(name, dtype)
            if known != dtype:
                if not (known.is_numeric() and dtype.is_numeric()):
                    return None
                types[name] = pl.Float64()
    return types


def _open_whole(opened: Opened, *, lines: bool) -> OpenTable:
    loaded = _loaded(opened.read(), opened.name, "run", lines=lines)
    if isinstance(loaded, OpenTable):
        return loaded
    return open_records(loaded[0], opened.name, loaded[1])


def _loaded(
    text: bytes, name: str, role: Role, *, lines: bool
) -> OpenTable | tuple[list[Any], Ints | None]:
    """Return a table, or records and the lines of each."""
    numbers = None
    if lines:
        frame = alike(text)
        if frame is not None:
            return open_frame(frame, name, Rows(pl.DataFrame(), name, 1))
        records, numbers = _lines_of(text, name)
    else:
        data = _load(text, name, 1)
        if isinstance(data, dict) and not _is_record(data):
            return _open_entries(data, name)
        records = data if isinstance(data, list) else [data]
        if records and not isinstance(records[0], (list, dict)):
            msg = (
                f"{name}: is JSON, but neither an object nor a list of objects or of "
                'lists, such as [["a", "b"], ["c"]]'
            )
            raise FormatError(msg)
    if not records:
        raise no_rows(name, role)
    return records, numbers


def _open_entries(data: dict[str, Any], name: str) -> OpenTable:
    def load(_: Sequence[str], __: Collection[str] = ()) -> Loaded:
        raise not_a_table(name)

    return OpenTable(name, (), load, entries=data)


def not_a_table(name: str) -> FormatError:
    """Say that a JSON object by key is not a table."""
    msg = (
        f"{name}: is a single JSON object; expected a list of objects, each with the "
        "column names as its keys, or one object per line"
    )
    return FormatError(msg)


def _is_record(data: dict[str, Any]) -> bool:
    """Say whether this is one row, and not a mapping by query or by item."""
    plain = any(not isinstance(entry, (dict, list)) for entry in data.values())
    return plain and any(key.casefold() in NAMES_OF_TABLES for key in data)


def _lines_of(text: bytes, name: str) -> tuple[list[Any], Ints]:
    """Return an object or a list per line, and the number of its line."""
    records: list[Any] = []
    numbers: list[int] = []
    for number, line in enumerate(text.split(b"\n"), 1):
        if line.strip():
            record = _load(line, name, number)
            kind = list if records and isinstance(records[0], list) else dict
            if not isinstance(record, kind if records else (dict, list)):
                word = "list, as the first line is" if kind is list else "object"
                msg = f"{name}:{number}: is not a JSON {word}"
                raise FormatError(msg)
            records.append(record)
            numbers.append(number)
    return records, np.array(numbers, dtype=np.int64)


def _of_scores(text: bytes) -> bool:
    """Say whether an object can only hold {item: number}, and none of these is empty.

    Anything else must be seen as a whole: an empty list is no row, and whether lists
    are padded, or objects have scores, is decided by all of them.
    """
    plain = text.lstrip()[:1] == b"{" and b"[" not in text and _MTEB not in text
    return plain and not _EMPTY.search(text)


def _in_parts(text: bytes, name: str, how: Reading) -> Stream:
    """Read a large object query by query, so that memory holds only a part of it."""
    whole = decoded(text, name)

    def rows(held: dict[str, Any]) -> Rows:
        source = from_entries(held, "run", how, name)
        # Rows of later parts are cut and moved, and lose their places in lists.
        return replace(as_rows(source, "run"), starts=None)

    def parts() -> Generator[Rows, None, None]:
        held: dict[str, Any] = {}
        seen: set[str] = set()
        n = 0
        for query, entry in _entries(whole, name):
            if query in seen:
                msg = f"{name}: the key {query!r} appears twice in one object"
                raise DuplicateItemError(msg)
            if not isinstance(entry, dict):
                raise _no_entry(query, entry, name)
            seen.add(query)
            held[query] = entry
            n += len(entry)
            if n > limits().json_items:
                yield rows(held)
                held, n = {}, 0
        if held:
            yield rows(held)

    return Stream(lambda: with_rows(parts(), name), name)


def _entries(text: str, name: str) -> Iterator[tuple[str, Any]]:
    """Read the keys and values of an object one after the other."""
    decoder = json.JSONDecoder(object_pairs_hook=_once(name), parse_constant=float)
    position = _past(text, 0, "{", name)
    first = True
    while True:
        position = _past_space(text, position)
        if text[position : position + 1] == "}" and first:
            break
        try:
            query, position = decoder.raw_decode(text, position)
            position = _past(text, position, ":", name)
            position = _past_space(text, position)
            entry, position = decoder.raw_decode(text, position)
        except json.JSONDecodeError as error:
            raise _no_json(error.msg, text, error.pos, name) from None
        except RecursionError:
            why = "it is nested too deeply"
            raise _no_json(why, text, position, name) from None
        if not isinstance(query, str):
            why = "a key must be text"
            raise _no_json(why, text, position, name)
        yield query, entry
        first = False
        position = _past_space(text, position)
        if text[position : position + 1] != ",":
            break
        position += 1
    position = _past(text, position, "}", name)
    if _past_space(text, position) < len(text):
        why = "there is more after its end"
        raise _no_json(why, text, position, name)


def _past_space(text: str, position: int) -> int:
    return _SPACE.match(text, position).end()  # type: ignore[union-attr]


def _past(text: str, position: int, mark: str, name: str) -> int:
    position = _past_space(text, position)
    if text[position : position + 1] != mark:
        why = f"expected {mark!r}"
        raise _no_json(why, text, position, name)
    return position + 1


def _no_json(why: str, text: str, position: int, name: str) -> FormatError:
    line = text.count("\n", 0, position) + 1
    return FormatError(f"{name}:{line}: is not JSON ({why})")


def _no_entry(query: str, entry: Any, name: str) -> FormatError:
    msg = (
        f"{name}: the entry of query {query!r} is of type {type(entry).__name__}; "
        "expected {item: number} or a list of items"
    )
    return FormatError(msg)


def _once(name: str) -> Callable[[list[tuple[str, Any]]], dict[str, Any]]:
    """Return a function that makes a dict of pairs and refuses repeated keys."""

    def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        mapping = dict(pairs)
        if len(mapping) < len(pairs):
            keys = [key for key, _ in pairs]
            twice = next(key for key in keys if keys.count(key) > 1)
            msg = f"{name}: the key {twice!r} appears twice in one object"
            raise DuplicateItemError(msg)
        return mapping

    return once


def _load(text: bytes, name: str, line: int) -> Any:
    where = f"{name}:{line}" if line > 1 else name
    try:
        return json.loads(text, object_pairs_hook=_once(where), parse_constant=float)
    except UnicodeDecodeError as error:
        raise not_utf8(error, where) from None
    except json.JSONDecodeError as error:
        msg = f"{name}:{line + error.lineno - 1}: is not JSON ({error.msg})"
        raise FormatError(msg) from None
    except RecursionError:
        msg = f"{name}:{line}: is nested too deeply"
        raise FormatError(msg) from None
    except ValueError as error:
        if isinstance(error, DataError):
            raise
        msg = f"{name}:{line}: is not JSON ({error})"
        raise FormatError(msg) from None


def alike(data: bytes, least: int | None = None) -> pl.DataFrame | None:
    """Return the columns of objects that are all alike, None if they are not.

    On its own, polars would silently read a number as text, or take the last of two
    values of one key. So every line must have the keys of the first, in the same order,
    and under each key only texts or only numbers; any other file is read object by
    object, and so is a file of few bytes, or of no more than `least`.
    """
    if len(data) <= (limits().few_json_bytes if least is None else least):
        return None
    try:
        first = json.loads(data.partition(b"\n")[0])
        lines = pl.Series(data.decode().removesuffix("\n").split("\n"))
    except (ValueError, RecursionError):
        return None
    if not isinstance(first, dict) or not all(map(_KEY.fullmatch, first)):
        return None
    types = {key: _TYPES.get(type(value)) for key, value in first.items()}
    try:
        if not _are(lines, types):
            # The first number of a column may be whole, and others not.
            types = {
                **pl.read_ndjson(io.BytesIO(data), infer_schema_length=None).schema
            }
            if list(types) != list(first) or not _are(lines, types):
                return None
        frame = pl.read_ndjson(io.BytesIO(data), schema=types)
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException):
        return None
    return frame if frame.height == len(lines) else None


def _are(lines: pl.Series, types: Mapping[str, pl.DataType | None]) -> bool:
    """Say whether every line has these keys, with values of these types."""
    if not types or not all(dtype in _VALUES for dtype in types.values()):
        return False
    pairs = r"\s*,\s*".join(
        rf'"{key}"\s*:\s*{_VALUES[dtype]}' for key, dtype in types.items() if dtype
    )
    return bool(lines.str.contains(rf"^\s*\{{\s*{pairs}\s*\}}\s*$").all())
