"""From a frame of any library to `Rows`: columns by role, ids and numbers checked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from rankine.errors import DataError, FormatError
from rankine.io.roles import Role, resolve
from rankine.io.sources import Rows

if TYPE_CHECKING:
    from rankine.arrays import Ints


def is_frame(data: Any) -> bool:
    """Say whether this is a table of a library that we read."""
    return (
        isinstance(data, (pl.DataFrame, pl.LazyFrame))
        or hasattr(data, "__arrow_c_stream__")
        or _is_pandas(data)
    )


def _is_pandas(data: Any) -> bool:
    return type(data).__module__.split(".")[0] == "pandas" and hasattr(data, "columns")


def from_frame(
    data: Any,
    role: Role,
    *,
    columns: Mapping[str, str] | None = None,
    grades: Mapping[Any, float] | None = None,
    name: str | None = None,
) -> Rows:
    """Read a frame of pandas, polars, pyarrow or anything that speaks Arrow."""
    title = name or role
    if isinstance(data, pl.LazyFrame):
        data = data.collect()
    names = [str(column) for column in _columns(data)]
    part = resolve(names, role, columns, title)
    wanted = [column for column in part.values() if column is not None]
    taken = {column: _column(data, column) for column in dict.fromkeys(wanted)}
    value = part["grade"] if role == "qrels" else part["score"] or part["rank"]
    notes = _said(role, part, title, told=bool(columns))
    query, said = ids(taken[part["query"] or ""], "query", title)
    notes += said
    item, said = ids(taken[part["item"] or ""], "item", title)
    notes += said
    made = {"query": query, "item": item}
    if value is not None:
        number = numbers(taken[value], value, title, grades)
        by_rank = role == "run" and part["score"] is None
        made["value"] = -number if by_rank else number
    elif role == "qrels":
        made["value"] = pl.Series("value", np.ones(len(query)))
    frame = pl.DataFrame([series.alias(key) for key, series in made.items()])
    return Rows(frame, title, notes=notes)


def _columns(data: Any) -> Sequence[Any]:
    if isinstance(data, pl.DataFrame) or _is_pandas(data):
        return list(data.columns)
    if hasattr(data, "column_names"):
        return list(data.column_names)
    if hasattr(data, "schema"):
        return [field.name for field in data.schema]
    return pl.DataFrame(data).columns


def _column(data: Any, name: str) -> pl.Series:
    if isinstance(data, pl.DataFrame):
        return data[name]
    if _is_pandas(data):
        return _pandas_column(data[name], name)
    if hasattr(data, "column"):
        return pl.Series(name, data.column(name))
    return pl.DataFrame(data)[name]


def _pandas_column(column: Any, name: str) -> pl.Series:
    if isinstance(column.dtype, np.dtype) and column.dtype.kind in "iufb":
        return pl.Series(name, column.to_numpy())
    if hasattr(column, "__arrow_c_stream__"):
        try:
            return pl.Series(name, column)
        except (ImportError, TypeError, pl.exceptions.PolarsError):
            pass  # pandas needs pyarrow for this; the values can be read one by one
        except Exception as error:
            if type(error).__module__.split(".")[0] != "pyarrow":
                raise
    values = [None if _missing(value) else value for value in column.tolist()]
    try:
        return pl.Series(name, values, strict=True)
    except (TypeError, pl.exceptions.PolarsError):
        kinds = sorted({type(value).__name__ for value in values})
        msg = f"column {name!r} mixes {', '.join(kinds)}; give it one type"
        raise DataError(msg) from None


def _missing(value: Any) -> bool:
    return value is None or value != value or type(value).__name__ == "NAType"  # noqa: PLR0124


def _said(
    role: Role, part: Mapping[str, str | None], name: str, *, told: bool
) -> tuple[str, ...]:
    if role == "qrels" and part["grade"] is None:
        return (f"{name} has no grades; every row counts as relevant, grade 1",)
    if role == "run" and part["score"] is None:
        if part["rank"] is None:
            return (
                f"{name} has no scores and no ranks; the order of rows is the rank",
            )
        return (f"{name} has no scores; the column {part['rank']!r} gives the order",)
    read = ", ".join(
        f"{key} = {column}" for key, column in part.items() if column not in (None, key)
    )
    return (f"{name}: {read}",) if read and not told else ()


_INTEGERS = (
    pl.Int8, pl.Int16, pl.Int32, pl.Int64, pl.UInt8, pl.UInt16, pl.UInt32,
)  # fmt: skip


def ids(column: pl.Series, part: str, name: str) -> tuple[pl.Series, tuple[str, ...]]:
    """Return ids as Int64, UInt64 or String, none of them missing."""
    notes: tuple[str, ...] = ()
    if column.dtype in (pl.Categorical, pl.Enum):
        column = column.cast(pl.String)
    elif column.dtype in _INTEGERS:
        column = column.cast(pl.Int64)
    elif column.dtype in (pl.Float32, pl.Float64):
        column, notes = _from_floats(column, part, name)
    elif column.dtype == pl.Null:
        column = column.cast(pl.String)
    elif column.dtype not in (pl.String, pl.UInt64):
        msg = f"{name}: {part} ids are of type {column.dtype}; expected text or ints"
        raise FormatError(msg)
    missing = column.is_null()
    if column.dtype == pl.String:
        missing = missing | (column == "").fill_null(value=True)
    if missing.any():
        rows = missing.arg_true().head(3).to_list()
        msg = (
            f"{name}: {int(missing.sum())} {part} ids are missing "
            f"(first in row{'s' if len(rows) > 1 else ''} "
            f"{', '.join(str(row) for row in rows)}, counted from 0)"
        )
        raise DataError(msg)
    return column, notes


def _from_floats(
    column: pl.Series, part: str, name: str
) -> tuple[pl.Series, tuple[str, ...]]:
    column = column.fill_nan(None)
    whole = column.cast(pl.Int64, strict=False)
    odd = column.is_not_null() & (whole.cast(pl.Float64) != column.cast(pl.Float64))
    odd = odd | (column.is_not_null() & whole.is_null())
    if odd.any():
        msg = f"{name}: {part} ids are floats, such as {column.filter(odd)[0]!r}"
        raise DataError(msg)
    return whole, (f"{name}: {part} ids are whole floats, read as ints",)


def numbers(
    column: pl.Series,
    title: str,
    name: str,
    grades: Mapping[Any, float] | None = None,
    lines: Ints | None = None,
) -> pl.Series:
    """Return grades or scores as Float64; text goes through the `grades` mapping."""
    if column.dtype in (pl.Categorical, pl.Enum):
        column = column.cast(pl.String)
    if grades is not None:
        return _mapped(column, title, name, grades)
    place = "line" if lines is not None else "row"
    if column.dtype == pl.String:
        parsed = column.cast(pl.Float64, strict=False)
        bad = parsed.is_null()
        if bad.any():
            at = int(bad.arg_true()[0])
            where = int(lines[at]) if lines is not None else at
            msg = (
                f"{name}, {place} {where}: {title} is {column[at]!r}, not a number"
                + _grades_hint(column.filter(bad))
            )
            raise DataError(msg)
        column = parsed
    elif not (column.dtype.is_numeric() or column.dtype == pl.Boolean):
        msg = f"{name}: column {title!r} is of type {column.dtype}; expected numbers"
        raise FormatError(msg)
    if column.null_count():
        at = int(column.is_null().arg_true()[0])
        where = int(lines[at]) if lines is not None else at
        msg = (
            f"{name}: {column.null_count()} of {title!r} are missing, "
            f"first in {place} {where}"
        )
        raise DataError(msg)
    return column.cast(pl.Float64)


def _grades_hint(texts: pl.Series) -> str:
    words = texts.unique(maintain_order=True).drop_nulls().head(3).to_list()
    if not words or any(any(mark.isdigit() for mark in word) for word in words):
        return ""
    entries = ", ".join(f"{word!r}: {number}" for number, word in enumerate(words))
    return f"; for grades in words give what each is worth, grades={{{entries}}}"


def _mapped(
    column: pl.Series, title: str, name: str, grades: Mapping[Any, float]
) -> pl.Series:
    unknown = [
        value for value in column.unique(maintain_order=True) if value not in grades
    ]
    if unknown:
        known = ", ".join(repr(key) for key in grades)
        msg = (
            f"{name}: {title} is {unknown[0]!r}, which grades does not have; "
            f"it has {known}"
        )
        raise DataError(msg)
    values = np.array([float(grades[value]) for value in column.to_list()])
    return pl.Series(column.name, values)
