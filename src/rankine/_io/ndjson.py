"""A JSON object per line, all with the same keys: read by polars, after a close look.

By itself, polars would take a number for a text, or the last of two values of one key,
without a word. So every line must have the keys of the first, in their order, and by
each key texts or numbers alone; any other file is read object by object.
"""

from __future__ import annotations

import io
import json
import re
from typing import TYPE_CHECKING

import polars as pl

from rankine._base.limits import limits

if TYPE_CHECKING:
    from collections.abc import Mapping

_KEY = re.compile(r"[A-Za-z0-9_-]+")
_VALUES: dict[pl.DataType, str] = {
    pl.String(): r'"[^"\\\x00-\x1f]*"',
    pl.Int64(): r"-?(?:0|[1-9][0-9]{0,17})",
    pl.Float64(): r"-?(?:0|[1-9][0-9]{0,17})(?:\.[0-9]+)?(?:[eE][+-]?[0-9]{1,3})?",
}
"""How values are written that polars reads as Python does."""
_TYPES = {str: pl.String(), int: pl.Int64(), float: pl.Float64()}


def alike(data: bytes) -> pl.DataFrame | None:
    """Return the columns of objects that are all alike, None if they are not."""
    if len(data) <= limits().few_json_bytes:
        return None
    try:
        first = json.loads(data[: data.find(b"\n")])
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
    """Say whether every line has these keys, and values of these types by them."""
    if not types or not all(dtype in _VALUES for dtype in types.values()):
        return False
    pairs = r"\s*,\s*".join(
        rf'"{key}"\s*:\s*{_VALUES[dtype]}' for key, dtype in types.items() if dtype
    )
    return bool(lines.str.contains(rf"^\s*\{{\s*{pairs}\s*\}}\s*$").all())
