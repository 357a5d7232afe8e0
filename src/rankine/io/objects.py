"""JSON: one object by query, or a record per line."""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING, Any, NoReturn

import polars as pl

from rankine.errors import DataError, DuplicateItemError, FormatError, NoRowsError
from rankine.io.frames import from_frame
from rankine.io.roles import NAMES
from rankine.io.sources import Lists

if TYPE_CHECKING:
    from rankine.io.opened import Opened
    from rankine.io.reading import Reading
    from rankine.io.roles import Role
    from rankine.io.sources import Rows


def read_json(opened: Opened, role: Role, how: Reading) -> Lists | Rows:
    """Read {query: {item: number}}, {query: [items]}, or a list of records."""
    text = opened.read()
    data = _load(text, opened.name, 1)
    if isinstance(data, list):
        return _records(data, opened.name, role, how, lines=False)
    if not isinstance(data, dict):
        msg = f"{opened.name}: is JSON, but neither an object by query nor a list"
        raise FormatError(msg)
    if not data:
        msg = f"{opened.name}: no {'judgements' if role == 'qrels' else 'rows'} in it"
        raise NoRowsError(msg)
    odd = [
        query for query, entry in data.items() if not isinstance(entry, (dict, list))
    ]
    if odd and any(key.casefold() in NAMES for key in data):
        return _records([data], opened.name, role, how, lines=False)
    if odd:
        kind = type(data[odd[0]]).__name__
        msg = (
            f"{opened.name}: the entry of query {odd[0]!r} is of type {kind}; expected "
            "{item: number} or a list of items"
        )
        raise FormatError(msg)
    return Lists(data, opened.name)


def read_ndjson(opened: Opened, role: Role, how: Reading) -> Rows:
    """Read a record per line, such as {"query_id": ..., "retrieved": [...]}."""
    text = opened.read()
    records = []
    numbers = []
    for number, line in enumerate(text.split(b"\n"), 1):
        if line.strip():
            record = _load(line, opened.name, number)
            if not isinstance(record, dict):
                msg = f"{opened.name}:{number}: is no JSON object"
                raise FormatError(msg)
            records.append(record)
            numbers.append(number)
    return _records(records, opened.name, role, how, lines=numbers)


def _load(text: bytes, name: str, line: int) -> Any:
    def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        made = dict(pairs)
        if len(made) < len(pairs):
            keys = [key for key, _ in pairs]
            twice = next(key for key in keys if keys.count(key) > 1)
            msg = f"{name}: the key {twice!r} stands twice in one object"
            raise DuplicateItemError(msg)
        return made

    try:
        return json.loads(text, object_pairs_hook=once, parse_constant=float)
    except UnicodeDecodeError as error:
        msg = (
            f"{name}: not UTF-8 text at byte {error.start}; name its encoding with "
            "encoding= or --encoding"
        )
        raise FormatError(msg) from None
    except json.JSONDecodeError as error:
        msg = f"{name}:{line + error.lineno - 1}: is no JSON ({error.msg})"
        raise FormatError(msg) from None
    except RecursionError:
        msg = f"{name}:{line}: is nested too deep"
        raise FormatError(msg) from None
    except ValueError as error:
        if isinstance(error, DataError):
            raise
        msg = f"{name}:{line}: is no JSON ({error})"
        raise FormatError(msg) from None


def _records(
    records: list[Any],
    name: str,
    role: Role,
    how: Reading,
    *,
    lines: list[int] | bool,
) -> Rows:
    if not records:
        msg = f"{name}: no {'judgements' if role == 'qrels' else 'rows'} in it"
        raise NoRowsError(msg)
    columns: dict[str, list[Any]] = {}
    for at, record in enumerate(records):
        if not isinstance(record, dict):
            _refuse_record(name, at, record)
        for key in record:
            columns.setdefault(key, [])
    for record in records:
        for key, values in columns.items():
            values.append(record.get(key))
    frame = pl.DataFrame(
        [_column(key, values, name) for key, values in columns.items()]
    )
    import numpy as np  # noqa: PLC0415

    numbers = np.array(lines, dtype=np.int64) if isinstance(lines, list) else None
    return from_frame(frame, role, how, name=name, lines=numbers)


def _refuse_record(name: str, at: int, record: Any) -> NoReturn:
    msg = f"{name}: record {at} is of type {type(record).__name__}; expected an object"
    raise FormatError(msg)


def _column(key: str, values: list[Any], name: str) -> pl.Series:
    """Make a column; one that mixes types is kept to be refused only if it is used."""
    kinds = {type(value) for value in values} - {type(None)}
    if kinds == {int, float}:  # JSON has one type for numbers
        values = [None if value is None else _float(value) for value in values]
    if kinds == {list}:
        inner = {type(one) for value in values for one in value or ()}
        if inner == {int, float}:
            values = [value and [_float(one) for one in value] for value in values]
    try:
        return pl.Series(key, values, strict=True)
    except UnicodeEncodeError:
        msg = f"{name}: {key!r} has half of a character, which is no text"
        raise DataError(msg) from None
    except (TypeError, OverflowError, pl.exceptions.PolarsError):
        return pl.Series(key, values, dtype=pl.Object)


def _float(value: float) -> float:
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf
