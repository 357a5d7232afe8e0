"""From a frame of any library to `Rows`: columns by role, ids and numbers checked."""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from rankine._base.forks import need_threads
from rankine._base.text import count
from rankine._io.columns import Role, parts_of, refuse_leftover, resolve, swapped
from rankine._io.sources import PLAIN, Reading, Rows
from rankine._io.tables import Part
from rankine._io.values import ids, numbers, worth_of
from rankine.errors import ColumnNotFoundError, DataError, FormatError

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence

    from rankine._base.arrays import Ints
    from rankine._io.tables import Loaded

_NO_INDEX = SimpleNamespace(names=())
_NO_FRAME = (
    TypeError, ValueError, OSError, KeyError, pl.exceptions.PolarsError,
    pl.exceptions.PanicException,
)  # fmt: skip
UNREADABLE = (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError)
"""What polars raises for a file that it cannot read."""


def is_frame(data: Any) -> bool:
    """Say whether this is a table of a library that we read."""
    return (
        isinstance(data, (pl.DataFrame, pl.LazyFrame))
        or hasattr(data, "__arrow_c_stream__")
        or _is_pandas(data)
        or _is_dataset(data)
    )


def _is_dataset(data: Any) -> bool:
    """Say whether this is a table of Hugging Face's datasets."""
    own = type(data).__module__.split(".")[0] == "datasets"
    return own and hasattr(data, "with_format")


def _is_pandas(data: Any) -> bool:
    return type(data).__module__.split(".")[0] == "pandas" and hasattr(data, "columns")


def from_frame(
    data: Any,
    role: Role,
    how: Reading = PLAIN,
    *,
    name: str | None = None,
    lines: Ints | None = None,
    line: int | None = None,
    part: Mapping[str, str] | None = None,
    said: tuple[str, ...] = (),
) -> Rows:
    """Read a frame of pandas, polars, pyarrow or anything that speaks Arrow.

    Args:
        data: the frame.
        role: what it holds.
        how: what the user says of it.
        name: what to call it in messages.
        lines: the line of each row in its file.
        line: the line of the first row, if lines and rows run in step.
        part: which column is what, if that is known already.
        said: what the user should know of how it was read.
    """
    title = name or role
    data = at_hand(data, title)
    names = columns_of(data)

    def numeric() -> list[str]:
        known = ((name, column_of(data, own).dtype) for name, own in names.items())
        return [name for name, dtype in known if holds_numbers(dtype)]

    index = ", ".join(
        str(one) for one in getattr(data, "index", _NO_INDEX).names if one
    )
    found = _resolved(list(names), role, how, title, part, numeric, index)
    taken = {
        column: column_of(data, names[column])
        for column in dict.fromkeys(found.values())
        if column is not None
    }
    taken, unnested, n_empty = _unnested(taken, found, title)
    if unnested:
        lines = line = None
    origin = Rows(pl.DataFrame(), title, lines=lines, line=line, role=role)
    notes = said + unnested
    if not said:
        notes += _said(role, found, title, told=bool(how.columns))
    made: dict[str, pl.Series] = {}
    for key in ("query", "item"):
        own = taken[found[key] or ""]
        made[key], told = ids(own, key, origin, lenient=how.lenient)
        notes += told
    ranked = False
    column = found["grade"] if role == "qrels" else None
    if role == "qrels":
        n = len(made["item"])
        made["value"] = _grades(taken, found["grade"], origin, how, n)
        subtopic = found.get("subtopic")
        if subtopic is not None:
            own = ids(taken[subtopic], "subtopic", origin, lenient=how.lenient)[0]
            made["subtopic"] = own.cast(pl.String)
    else:
        score, rank = found["score"], found["rank"]
        ranked = rank is not None and (how.by_rank or score is None)
        column = rank if ranked else score
        if column is not None:
            value = numbers(taken[column], column, origin, lenient=how.lenient)
            made["value"] = -value if ranked else value
        if how.keep_rank and rank is not None and not ranked:
            made["rank"] = numbers(taken[rank], rank, origin, lenient=True)
    frame = pl.DataFrame([series.alias(key) for key, series in made.items()])
    return Rows(
        frame,
        title,
        line,
        lines=lines,
        notes=notes,
        ranked=ranked,
        role=role,
        warnings=() if ranked else swapped(found, role, how.columns, title),
        column=column or "",
        n_empty=n_empty,
    )


def _resolved(
    names: list[str],
    role: Role,
    how: Reading,
    title: str,
    part: Mapping[str, str] | None,
    numeric: Callable[[], list[str]],
    index: str,
) -> dict[str, str | None]:
    if part is None:
        try:
            found = resolve(names, role, how.columns, title, subtopics=how.subtopics)
        except ColumnNotFoundError as error:
            if not index:
                raise
            msg = f"{error}; {index} is in the index: use reset_index()"
            raise ColumnNotFoundError(msg) from None
        if not any(found.get(key) for key in ("grade", "score", "rank")):
            refuse_leftover(found, numeric(), role, how.columns, title)
        return found
    keys = parts_of(role, subtopics=how.subtopics)
    return {key: part.get(key) for key in keys}


def holds_numbers(dtype: Any) -> bool:
    """Say whether a column holds numbers, or lists of them."""
    if isinstance(dtype, (pl.List, pl.Array)):
        dtype = dtype.inner
    return bool(dtype.is_numeric())


def _unnested(
    taken: dict[str, pl.Series], part: Mapping[str, str | None], title: str
) -> tuple[dict[str, pl.Series], tuple[str, ...], int]:
    """Turn lists in a column, one per query, into rows; count the empty ones."""
    item = part["item"] or ""
    if not isinstance(taken[item].dtype, (pl.List, pl.Array)):
        return taken, (), 0
    for key in ("score", "rank"):
        column = part.get(key)
        if column and not isinstance(taken[column].dtype, (pl.List, pl.Array)):
            msg = (
                f"{title}: {item!r} has a list in each row, and {column!r} only one "
                "number for it; give a list of numbers, or leave the column out"
            )
            raise DataError(msg)
    frame = pl.DataFrame([column.alias(name) for name, column in taken.items()])
    nested = [
        name
        for name, dtype in frame.schema.items()
        if isinstance(dtype, (pl.List, pl.Array))
    ]
    frame = frame.with_columns(
        pl.col(name).arr.to_list()
        for name in nested
        if isinstance(frame.schema[name], pl.Array)
    )
    counts = frame.select(pl.col(name).list.len().fill_null(0) for name in nested)
    for other in nested[1:]:
        odd = (counts[nested[0]] != counts[other]).arg_true()
        if len(odd):
            msg = (
                f"{title}, row {int(odd[0])}: the lists in {nested[0]!r} and {other!r} "
                "differ in length"
            )
            raise DataError(msg)
    missing = frame[item].is_null().arg_true()
    if len(missing):
        msg = (
            f"{title}, row {int(missing[0])}: the list in {item!r} is missing; use an "
            "empty list if nothing was retrieved"
        )
        raise DataError(msg)
    kept = frame.filter(counts[nested[0]] > 0)
    rows = kept.explode(nested)
    notes = [f"{title}: the lists in {item!r} are read as rows, in their order"]
    empty = frame.height - kept.height
    if empty:
        notes.append(f"{title}: {count(empty, 'empty list')} in {item!r}")
    return {name: rows[name] for name in rows.columns}, tuple(notes), empty


def _grades(
    taken: Mapping[str, pl.Series],
    column: str | None,
    origin: Rows,
    how: Reading,
    n: int,
) -> pl.Series:
    if column is None:
        return pl.Series("value", np.ones(n))
    if how.grades is None:
        return numbers(taken[column], column, origin)
    return worth_of(taken[column], column, origin, how.grades)


def at_hand(data: Any, title: str) -> Any:
    """Collect what is lazy, and read once what can be read only once."""
    need_threads()
    try:
        if isinstance(data, pl.LazyFrame):
            return data.collect()
        if _is_pandas(data) or isinstance(data, pl.DataFrame):
            return data
        if _is_dataset(data):
            streamed = not hasattr(data, "__len__")
            rows = list(data) if streamed else data.with_format("arrow")[:]
            return pl.DataFrame(rows)
        return data if hasattr(data, "column_names") else pl.DataFrame(data)
    except _NO_FRAME as error:
        msg = f"{title}: cannot be read as a table ({_reason(error)})"
        raise FormatError(msg) from None


def columns_of(data: Any) -> dict[str, Any]:
    """Return the names of the columns as text, and as the frame has them."""
    if isinstance(data, pl.DataFrame) or _is_pandas(data):
        names = list(data.columns)
    else:
        names = list(data.column_names)
    texts = [str(name) for name in names]
    if len(set(texts)) < len(texts):
        twice = next(text for text in texts if texts.count(text) > 1)
        msg = f"the column {twice!r} appears twice in the frame; give it once"
        raise FormatError(msg)
    return dict(zip(texts, names, strict=True))


def column_of(data: Any, name: Any) -> pl.Series:
    """Return a column of a frame, by the name that the frame has for it."""
    if isinstance(data, pl.DataFrame):
        return data.get_column(name)
    try:
        if _is_pandas(data):
            return _pandas_column(data[name], str(name))
        return pl.Series(name, data.column(name))
    except UnicodeEncodeError:
        msg = f"column {name!r} contains an unpaired surrogate, which is not valid text"
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException) as error:
        msg = f"column {name!r} is of a type that cannot be read ({_reason(error)})"
    raise FormatError(msg)


def frame_part(data: Any, title: str) -> Part:
    """Take a frame of any library as a table, of which only some columns are read."""
    data = at_hand(data, title)
    names = columns_of(data)

    def load(wanted: Sequence[str], _: Collection[str] = ()) -> Loaded:
        columns = [column_of(data, names[name]).alias(name) for name in wanted]
        return pl.DataFrame(columns), Rows(pl.DataFrame(), title)

    return Part(title, tuple(names), load)


def unreadable(name: str, word: str, error: BaseException) -> FormatError:
    """Say that a file cannot be read as what it was taken for, and why."""
    return FormatError(f"{name}: cannot be read as {word} ({_reason(error)})")


def _reason(error: BaseException) -> str:
    text = str(error).strip()
    return text.splitlines()[0].rstrip(".") if text else type(error).__name__


def _pandas_column(column: Any, name: str) -> pl.Series:
    if isinstance(column.dtype, np.dtype) and column.dtype.kind in "iufb":
        return pl.Series(name, column.to_numpy())
    if hasattr(column, "__arrow_c_stream__"):
        try:
            return pl.Series(name, column)
        except (ImportError, TypeError, OverflowError, pl.exceptions.PolarsError):
            pass  # pandas needs pyarrow for this; the values can be read one by one
        except Exception as error:
            if type(error).__module__.split(".")[0] != "pyarrow":
                raise
    values = [None if _missing(value) else value for value in column.tolist()]
    if {type(value) for value in values} - {type(None)} == {int, float}:
        values = [None if value is None else float(value) for value in values]
    try:
        return pl.Series(name, values, strict=True)
    except OverflowError:
        msg = f"column {name!r} has ints beyond 64 bits; give them as text"
        raise DataError(msg) from None
    except (TypeError, pl.exceptions.PolarsError):
        kinds = sorted({type(value).__name__ for value in values})
        msg = f"column {name!r} mixes {', '.join(kinds)}; give it one type"
        raise DataError(msg) from None


def _missing(value: Any) -> bool:
    if isinstance(value, (np.ndarray, list)):
        return False
    return value is None or value != value or type(value).__name__ == "NAType"  # noqa: PLR0124


def _said(
    role: Role, part: Mapping[str, str | None], name: str, *, told: bool
) -> tuple[str, ...]:
    if role == "qrels" and part["grade"] is None:
        return (f"{name} has no grades; every row counts as relevant, with grade 1",)
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
