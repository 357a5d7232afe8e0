"""From a frame of any library to `Rows`: columns by role, ids and numbers checked."""

from __future__ import annotations

from collections.abc import Mapping
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
    by_rank: bool = False,
    name: str | None = None,
    lines: Ints | None = None,
) -> Rows:
    """Read a frame of pandas, polars, pyarrow or anything that speaks Arrow."""
    title = name or role
    data = _at_hand(data, title)
    names = _columns(data)
    part = resolve(list(names), role, columns, title)
    taken = {
        column: _column(data, names[column])
        for column in dict.fromkeys(part.values())
        if column is not None
    }
    origin = Rows(pl.DataFrame(), title, lines=lines)
    notes = _said(role, part, title, told=bool(columns))
    made: dict[str, pl.Series] = {}
    for key in ("query", "item"):
        made[key], said = ids(taken[part[key] or ""], key, origin)
        notes += said
    ranked = False
    if role == "qrels":
        n = len(made["item"])
        made["value"] = _grades(taken, part["grade"], origin, grades, n)
    else:
        score, rank = part["score"], part["rank"]
        ranked = rank is not None and (by_rank or score is None)
        if ranked and rank is not None:
            made["value"] = -numbers(taken[rank], rank, origin)
        elif score is not None:
            made["value"] = numbers(taken[score], score, origin)
    frame = pl.DataFrame([series.alias(key) for key, series in made.items()])
    return Rows(frame, title, lines=lines, notes=notes, ranked=ranked, role=role)


def _grades(
    taken: Mapping[str, pl.Series],
    column: str | None,
    origin: Rows,
    grades: Mapping[Any, float] | None,
    n: int,
) -> pl.Series:
    if column is None:
        return pl.Series("value", np.ones(n))
    if grades is None:
        return numbers(taken[column], column, origin)
    return _mapped(taken[column], column, origin, grades)


def _at_hand(data: Any, title: str) -> Any:
    """Collect what is lazy, and read once what can be read only once."""
    try:
        if isinstance(data, pl.LazyFrame):
            return data.collect()
        if _is_pandas(data) or isinstance(data, pl.DataFrame):
            return data
        return data if hasattr(data, "column_names") else pl.DataFrame(data)
    except (TypeError, ValueError, pl.exceptions.PolarsError) as error:
        reason = str(error).strip().splitlines()[0] if str(error).strip() else "empty"
        msg = f"{title}: cannot be read as a table ({reason})"
        raise FormatError(msg) from None


def _columns(data: Any) -> dict[str, Any]:
    """Return the names of the columns as text, and as the frame has them."""
    if isinstance(data, pl.DataFrame) or _is_pandas(data):
        names = list(data.columns)
    else:
        names = list(data.column_names)
    texts = [str(name) for name in names]
    if len(set(texts)) < len(texts):
        twice = next(text for text in texts if texts.count(text) > 1)
        msg = f"the column {twice!r} stands twice in the frame; give it once"
        raise FormatError(msg)
    return dict(zip(texts, names, strict=True))


def _column(data: Any, name: Any) -> pl.Series:
    if isinstance(data, pl.DataFrame):
        return data.get_column(name)
    if _is_pandas(data):
        return _pandas_column(data[name], str(name))
    return pl.Series(name, data.column(name))


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


def ids(
    column: pl.Series, part: str, origin: Rows
) -> tuple[pl.Series, tuple[str, ...]]:
    """Return ids as Int64, UInt64 or String, none of them missing."""
    notes: tuple[str, ...] = ()
    if column.dtype in (pl.Categorical, pl.Enum):
        column = column.cast(pl.String)
    elif column.dtype in _INTEGERS:
        column = column.cast(pl.Int64)
    elif column.dtype in (pl.Float32, pl.Float64):
        column, notes = _from_floats(column, part, origin.name)
    elif column.dtype == pl.Null:
        column = column.cast(pl.String)
    elif column.dtype not in (pl.String, pl.UInt64):
        msg = (
            f"{origin.name}: {part} ids are of type {column.dtype}; expected text or "
            "ints"
        )
        raise FormatError(msg)
    if column.dtype != pl.String and column.null_count() == 0:
        return column, notes
    missing = column.is_null()
    if column.dtype == pl.String:
        missing = missing | (column.str.len_bytes() == 0).fill_null(value=True)
    if missing.any():
        at = missing.arg_true().head(3).to_list()
        if origin.lines is None:
            places = ", ".join(str(row) for row in at)
            where = f"{origin.name}, {'rows' if len(at) > 1 else 'row'} {places}"
        else:
            where = origin.where(at[0])
        msg = f"{where}: {int(missing.sum())} {part} ids are missing"
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


def numbers(column: pl.Series, title: str, origin: Rows) -> pl.Series:
    """Return grades or scores as Float64."""
    if column.dtype in (pl.Categorical, pl.Enum):
        column = column.cast(pl.String)
    if column.dtype == pl.Null:
        column = column.cast(pl.Float64)
    if column.dtype == pl.String:
        parsed = column.cast(pl.Float64, strict=False)
        bad = parsed.is_null() & column.is_not_null()
        if bad.any():
            at = int(bad.arg_true()[0])
            hint = _grades_hint(column.filter(bad))
            msg = f"{origin.where(at)}: {title} is {column[at]!r}, not a number{hint}"
            raise DataError(msg)
        column = parsed
    elif not (column.dtype.is_numeric() or column.dtype == pl.Boolean):
        msg = (
            f"{origin.name}: column {title!r} is of type {column.dtype}; "
            "expected numbers"
        )
        raise FormatError(msg)
    if column.null_count():
        at = int(column.is_null().arg_true()[0])
        msg = (
            f"{origin.where(at)}: {title} is missing, "
            f"as in {column.null_count()} rows in all"
        )
        raise DataError(msg)
    return column.cast(pl.Float64)


def _grades_hint(texts: pl.Series) -> str:
    words = texts.unique(maintain_order=True).drop_nulls().head(3).to_list()
    if not words or any(any(mark.isdigit() for mark in word) for word in words):
        return ""
    entries = ", ".join(f"{word!r}: {number}" for number, word in enumerate(words, 1))
    return f"; for grades in words give what each is worth, grades={{{entries}}}"


def _mapped(
    column: pl.Series, title: str, origin: Rows, grades: Mapping[Any, float]
) -> pl.Series:
    """Return what each grade in words is worth."""
    if column.dtype in (pl.Categorical, pl.Enum):
        column = column.cast(pl.String)
    values = column.to_list()
    for at, value in enumerate(values):
        if value not in grades:
            known = ", ".join(repr(key) for key in grades)
            msg = (
                f"{origin.where(at)}: {title} is {value!r}, which grades does not "
                f"have; it has {known}"
            )
            raise DataError(msg)
    return pl.Series(column.name, [float(grades[value]) for value in values])
