"""From a frame of any library to `Rows`: columns by role, ids and numbers checked."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from rankine._base.contradiction import (
    FIRST_ROWS,
    NO_CONTRADICTION,
    Contradiction,
    of_first_rows,
)
from rankine._base.forks import need_threads
from rankine._base.text import QUERY, Counted
from rankine._io.cells import doubts, with_lists
from rankine._io.columns import (
    Role,
    answer_beside,
    is_distance,
    lacks_numbers,
    refuse_leftover,
    resolve,
    swap_warnings,
    word_for,
)
from rankine._io.rows import in_their_order, may_be_distance
from rankine._io.sources import PLAIN, Reading, Rows
from rankine._io.tables import OpenTable
from rankine._io.values import ids, is_missing, numbers, refuse_padding, worth_of
from rankine.errors import (
    ColumnNotFoundError,
    DataError,
    FormatError,
)

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from rankine._io.tables import Loaded

_NUMBERS = ("grade", "score", "rank")
_EMPTY = pl.DataFrame()
"""The frame of an origin that only says where rows are."""
_NESTED = (pl.List, pl.Array)
_NO_FRAME = (
    TypeError, ValueError, OSError, KeyError, pl.exceptions.PolarsError,
    pl.exceptions.PanicException,
)  # fmt: skip


def is_frame(data: Any) -> bool:
    """Say whether this is a table of a library that can be read."""
    return (
        isinstance(data, (pl.DataFrame, pl.LazyFrame))
        or (hasattr(data, "__arrow_c_stream__") and not is_column(data))
        or _is_pandas(data)
        or _is_dataset(data)
    )


def is_column(data: Any) -> bool:
    """Say whether this is one column, which Arrow exports as it does tables."""
    return type(data).__name__ in {"Series", "ChunkedArray"}


def _is_dataset(data: Any) -> bool:
    """Say whether this is a table of Hugging Face's datasets."""
    of_library = type(data).__module__.split(".")[0] == "datasets"
    return of_library and hasattr(data, "with_format")


def _is_pandas(data: Any) -> bool:
    return type(data).__module__.split(".")[0] == "pandas" and hasattr(data, "columns")


def from_frame(
    data: Any, role: Role, how: Reading = PLAIN, *, name: str | None = None
) -> Rows:
    """Read a frame of pandas, polars, pyarrow or anything that supports Arrow.

    Args:
        data: the frame.
        role: what it holds.
        how: what the user says of it.
        name: what to call it in messages.
    """
    title = name or role
    origin = Rows(_EMPTY, title, role=role)
    return rows_of(open_frame(data, title, origin), role, how)


def rows_of(
    table: OpenTable,
    role: Role,
    how: Reading,
    column_of: Mapping[str, str] | None = None,
) -> Rows:
    """Read judgements or a run from the columns of a table that play a part in it."""
    title = table.title
    if column_of is None:
        column_of = resolved(table, role, how)
    values = (
        [] if how.grades else [column_of[key] for key in _NUMBERS if key in column_of]
    )
    taken, origin = table.load(list(column_of.values()), values)
    asked = taken[column_of["query"]]
    taken, in_cells = with_lists(taken, column_of, role, title)
    taken, unnested = _unnested(taken, column_of, title)
    unnested = in_cells + unnested
    if unnested:
        origin = Rows(_EMPTY, title, role=role)
    elif origin.role != role:
        origin = replace(origin, role=role)
    doubted = () if unnested else doubts(taken, column_of, role, title)
    notes = table.notes + unnested
    if not table.notes:
        notes += _said(role, column_of, title, named=bool(how.columns))
    columns: dict[str, pl.Series] = {}
    unit = word_for(column_of["query"])
    for key, word in (("query", unit or QUERY), ("item", "item")):
        columns[key], said = ids(
            taken[column_of[key]], word, origin, lenient=how.lenient
        )
        notes += said
    ranked = "rank" in column_of and (how.by_rank or "score" not in column_of)
    column = column_of.get(
        "grade" if role == "qrels" else "rank" if ranked else "score"
    )
    if role == "qrels":
        columns["value"] = _grades(taken, column, origin, how)
        if "subtopic" in column_of:
            subtopic = taken[column_of["subtopic"]]
            subtopics, _ = ids(subtopic, "subtopic", origin, lenient=how.lenient)
            columns["subtopic"] = subtopics.cast(pl.String)
    elif column is not None:
        value = numbers(taken[column], column, origin, lenient=how.lenient)
        columns["value"] = -value if ranked else value
        if how.keep_rank and "rank" in column_of and not ranked:
            rank = column_of["rank"]
            columns["rank"] = numbers(taken[rank], rank, origin, lenient=True)
    swapped = swap_warnings(column_of, role, how.columns, title)
    rows = replace(
        origin,
        frame=pl.DataFrame([series.alias(key) for key, series in columns.items()]),
        notes=notes,
        ranked=ranked,
        warnings=(*(() if ranked else swapped), *doubted),
        column=column or "",
        unit=unit,
        queries=lists_of(asked, origin, how) if unnested else None,
        contradiction=_contradiction(taken, column_of, columns, origin, how),
    )
    return in_their_order(rows, role, how) if is_distance(rows.column) else rows


def lists_of(queries: pl.Series, origin: Rows, how: Reading) -> pl.Series:
    """Return the ids of lists, of which some may be empty, each once."""
    every, _ = ids(queries, "query", origin, lenient=how.lenient)
    return every.unique(maintain_order=True)


def _contradiction(
    taken: pl.DataFrame,
    column_of: Mapping[str, str],
    columns: Mapping[str, pl.Series],
    origin: Rows,
    how: Reading,
) -> Contradiction:
    """Compare the ranks of the first rows with the scores, where there are both."""
    if how.by_rank or "rank" not in column_of or "score" not in column_of:
        return NO_CONTRADICTION

    def head() -> tuple[pl.DataFrame, bool]:
        ranks = taken[column_of["rank"]].head(FIRST_ROWS)
        rank = numbers(ranks, column_of["rank"], origin, lenient=True).alias("rank")
        rows = [columns[key].head(FIRST_ROWS).alias(key) for key in ("query", "value")]
        return pl.DataFrame([*rows, rank]), taken.height > FIRST_ROWS

    return of_first_rows(head, lower_is_better=how.lower_is_better)


def resolved(table: OpenTable, role: Role, how: Reading) -> dict[str, str]:
    """Say which columns of a table play a part in judgements or in a run."""
    columns, title = how.columns or {}, table.title
    try:
        column_of = resolve(table.names, role, columns, title, subtopics=how.subtopics)
    except ColumnNotFoundError as error:
        if not table.index:
            raise
        msg = f"{error}; {table.index} is in the index: use reset_index()"
        raise ColumnNotFoundError(msg) from None
    _refuse_answers(table, column_of, columns)
    if lacks_numbers(column_of, role, columns):
        numeric = table.columns_of_numbers(beside=column_of["item"])
        refuse_leftover(column_of, numeric, role, title)
    return column_of


def refuse_distances(
    column_of: Mapping[str, str], role: Role, how: Reading, title: str
) -> None:
    """Refuse a run in parts whose numbers may be distances, which all of it shows."""
    column = column_of.get("score", "")
    if role == "run" and may_be_distance(column, how):
        msg = (
            f"{title}: {column!r} may be distances, which does not show in a run that "
            "is read in parts; if the smallest is best, give lower_is_better=True or "
            f"--lower-is-better, and else columns={{'score': {column!r}}} or --col "
            f"score={column}"
        )
        raise DataError(msg)


def _refuse_answers(
    table: OpenTable, column_of: Mapping[str, str], columns: Mapping[str, Any]
) -> None:
    """Refuse answers in words, as Ragas has them beside what was retrieved."""
    item = column_of["item"]
    sign = None if "item" in columns else answer_beside(table.names, item)
    if sign is None or table.load([item], ())[0].schema[item] != pl.String:
        return
    msg = (
        f"{table.title}: {item!r} beside {sign!r} is the answer in words, which no "
        "retrieved item can be compared with; give the ids of the relevant items, as "
        "in reference_context_ids of Ragas"
    )
    raise FormatError(msg)


def _unnested(
    frame: pl.DataFrame, column_of: Mapping[str, str], title: str
) -> tuple[pl.DataFrame, tuple[str, ...]]:
    """Turn lists in a column, one per query, into rows; count the empty ones."""
    item = column_of["item"]
    if not isinstance(frame[item].dtype, _NESTED):
        return frame, ()
    nested = [
        name for name, dtype in frame.schema.items() if isinstance(dtype, _NESTED)
    ]
    for key in ("score", "rank"):
        column = column_of.get(key, item)
        if column not in nested:
            msg = (
                f"{title}: {item!r} has a list in each row, but {column!r} has only "
                "one number; give a list of numbers, or leave the column out"
            )
            raise DataError(msg)
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
    inner: Any = frame.schema[item]
    if inner.inner.is_numeric() and (frame[item].list.last() < 0).any():
        refuse_padding(
            frame[item].to_list(),
            lambda row: f"{title}, row {row}: the list in {item!r}",
            "if it pads short lists, leave it out",
        )
    kept = frame.filter(counts[nested[0]] > 0)
    notes = [f"{title}: the lists in {item!r} are read as rows, in their order"]
    empty = frame.height - kept.height
    if empty:
        notes.append(Counted(f"{title}: ", empty, "empty list", f" in {item!r}"))
    return kept.explode(nested), tuple(notes)


def _grades(
    taken: pl.DataFrame, column: str | None, origin: Rows, how: Reading
) -> pl.Series:
    if column is None:
        return pl.Series("value", np.ones(taken.height))
    if how.grades is None:
        return numbers(taken[column], column, origin)
    return worth_of(taken[column], column, origin, how.grades)


def _at_hand(data: Any, title: str) -> Any:
    """Collect a lazy frame, and read once what can be read only once."""
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
        msg = f"{title}: cannot be read as a table ({reason(error)})"
        raise FormatError(msg) from None


def _columns_of(data: Any) -> dict[str, Any]:
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


def _column_of(data: Any, name: Any) -> pl.Series:
    """Return a column of a frame, by the name that it has there, called by its text."""
    if isinstance(data, pl.DataFrame):
        return data.get_column(name)
    try:
        if _is_pandas(data):
            return _pandas_column(data[name], str(name))
        return pl.Series(name, data.column(name))
    except UnicodeEncodeError:
        msg = f"column {name!r} contains an unpaired surrogate, which is not valid text"
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException) as error:
        msg = f"column {name!r} is of a type that cannot be read ({reason(error)})"
    raise FormatError(msg)


def open_frame(data: Any, title: str, origin: Rows | None = None) -> OpenTable:
    """Use a frame of any library as a table, of which only some columns are read.

    Args:
        data: the frame.
        title: what to call it in messages.
        origin: says where each row is, if not in the frame alone.
    """
    data = _at_hand(data, title)
    names = _columns_of(data)
    index = data.index.names if _is_pandas(data) else ()

    def load(wanted: Sequence[str], _: Collection[str] = ()) -> Loaded:
        columns = [_column_of(data, names[name]) for name in wanted]
        return pl.DataFrame(columns), origin or Rows(_EMPTY, title)

    in_index = ", ".join(str(name) for name in index if name)
    return OpenTable(title, tuple(names), load, index=in_index)


def reason(error: BaseException) -> str:
    """Return the first line of what an error says."""
    text = str(error).strip()
    return text.splitlines()[0].rstrip(".") if text else type(error).__name__


def _pandas_column(column: Any, name: str) -> pl.Series:
    if isinstance(column.dtype, np.dtype) and column.dtype.kind in "iufb":
        return pl.Series(name, column.to_numpy())
    by_arrow = _by_arrow(column, name)
    return _one_by_one(column, name) if by_arrow is None else by_arrow


def _by_arrow(column: Any, name: str) -> pl.Series | None:
    """Read a column of pandas by Arrow; None where pandas or pyarrow cannot do so."""
    if not hasattr(column, "__arrow_c_stream__"):
        return None
    try:
        return pl.Series(name, column)
    except (ImportError, TypeError, OverflowError, pl.exceptions.PolarsError):
        return None  # pandas needs pyarrow for this
    except Exception as error:
        if type(error).__module__.split(".")[0] != "pyarrow":
            raise
        return None


def _one_by_one(column: Any, name: str) -> pl.Series:
    """Read the values of a column of pandas one by one."""
    nested = (np.ndarray, list)
    values = [
        None if not isinstance(value, nested) and is_missing(value) else value
        for value in column.tolist()
    ]
    types = {type(value) for value in values} - {type(None)}
    if types == {int, float}:
        values = [None if value is None else float(value) for value in values]
    try:
        # Of ints and bools, polars would make ints.
        dtype = pl.Boolean if bool in types else None
        return pl.Series(name, values, dtype=dtype, strict=True)
    except OverflowError:
        msg = f"column {name!r} has ints beyond 64 bits; give them as text"
        raise DataError(msg) from None
    except (TypeError, pl.exceptions.PolarsError):
        kinds = sorted({type(value).__name__ for value in values})
        msg = f"column {name!r} mixes {', '.join(kinds)}; give it one type"
        raise DataError(msg) from None


def _said(
    role: Role, column_of: Mapping[str, str], name: str, *, named: bool
) -> tuple[str, ...]:
    read = ", ".join(
        f"{key} = {column}" for key, column in column_of.items() if column != key
    )
    said = (f"{name}: {read}",) if read and not named else ()
    if role == "qrels" and "grade" not in column_of:
        return (
            *said,
            f"{name} has no grades; every row counts as relevant, with grade 1",
        )
    if role == "run" and "score" not in column_of:
        if "rank" in column_of:
            rank = column_of["rank"]
            return (*said, f"{name} has no scores; the column {rank!r} gives the order")
        return (*said, f"{name} has no scores and no ranks; rows are ranked in order")
    return said
