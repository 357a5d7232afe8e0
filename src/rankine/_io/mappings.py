"""Mappings, matrices and sparse matrices: what people hold in memory."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from collections.abc import Set as AbstractSet
from struct import error as StructError
from struct import pack
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from rankine._base.text import KEEP_LARGEST
from rankine._io.frames import ids
from rankine._io.sources import Dense, Lists, Rows
from rankine.errors import (
    DataError,
    DuplicateItemError,
    FormatError,
    NoRowsError,
    ParameterError,
)

if TYPE_CHECKING:
    from rankine._base.arrays import AnyArray, Bools, Floats
    from rankine._io.columns import Role
    from rankine._io.sources import Source


def grades(source: Lists, *, lenient: bool = False) -> dict[Any, dict[Any, float]]:
    """Return judgements as {query: {item: grade}}; sets and lists get grade 1."""
    data = source.data
    if not lenient:
        check_queries(data, source.name)
    made: dict[Any, dict[Any, float]] = {}
    for query, entry in data.items():
        if isinstance(entry, dict):
            made[query] = entry
        elif isinstance(entry, Mapping):
            made[query] = dict(entry)
        else:
            made[query] = _ones(query, entry, lenient=lenient)
        if not lenient and may_miss(made[query]):
            refuse_missing(made[query], f"an item that is judged for query {query!r}")
    return made


def known_grade(value: Any, grades: Mapping[Any, float]) -> bool:
    """Say whether it was said what a grade is worth; a list, for one, never is."""
    try:
        return value in grades
    except TypeError:
        return False


def graded(data: Mapping[Any, Any], grades: Mapping[Any, float]) -> dict[Any, Any]:
    """Return judgements with what each grade in words is worth."""
    made: dict[Any, Any] = {}
    for query, entry in data.items():
        if not isinstance(entry, Mapping):
            msg = (
                f"the judgements of query {query!r} are a {type(entry).__name__} "
                "without grades, for which grades= was given"
            )
            raise DataError(msg)
        for item, value in entry.items():
            if not known_grade(value, grades):
                known = ", ".join(repr(key) for key in grades)
                msg = (
                    f"the grade of item {item!r} for query {query!r} is {value!r}, "
                    f"which grades does not have; it has {known}"
                )
                raise DataError(msg)
        made[query] = {item: grades[value] for item, value in entry.items()}
    return made


_PLAIN_IDS = {str, int}


def may_miss(ids: Mapping[Any, Any]) -> bool:
    """Say whether ids are to be looked at closely: None, an empty text, or floats."""
    return None in ids or "" in ids or bool(set(map(type, ids)) - _PLAIN_IDS)


def check_queries(data: Mapping[Any, Any], name: str) -> None:
    """Refuse queries without an id, and ids of several types."""
    refuse_missing(data, f"a query in {name}")
    kinds = {type(query) for query in data}
    if len(kinds) > 1 and str in kinds:
        words = " and ".join(sorted(kind.__name__ for kind in kinds))
        msg = f"{name}: query ids are {words}; give them one type"
        raise DataError(msg)
    if kinds == {str}:
        try:
            "".join(data).encode()
        except UnicodeEncodeError as error:
            raise _no_text(error, name) from None
    elif not all(issubclass(kind, _IDS) and kind not in _NO_IDS for kind in kinds):
        words = " and ".join(sorted(kind.__name__ for kind in kinds))
        msg = f"{name}: query ids are {words}; expected text or ints"
        raise DataError(msg)


_IDS = (str, int, float, np.integer, np.floating)
_NO_IDS = {bool, np.timedelta64}


def _no_text(error: UnicodeEncodeError, name: str) -> DataError:
    bad = ascii(error.object[error.start : error.end])
    msg = f"{name}: an id has {bad}, half of a character, which is no text"
    return DataError(msg)


def refuse_missing(ids: Mapping[Any, Any], what: str) -> None:
    """Refuse None, an empty text and nan as ids."""
    if None in ids or "" in ids:
        msg = f"the id of {what} is missing: {None if None in ids else ''!r}"
        raise DataError(msg)
    if set(map(type, ids)) - _PLAIN_IDS and any(map(is_missing, ids)):
        msg = f"the id of {what} is missing: nan"
        raise DataError(msg)


def numbers(values: list[Any], what: str = "grade") -> Floats:
    """Return grades or scores as floats; refuse what is not a number."""
    try:
        made = packed(values)
    except NOT_PACKED:
        made = np.full(1, np.nan)
    if np.isfinite(made).all() if what == "grade" else not np.isnan(made).any():
        return made
    bad = next(
        value
        for value in values
        if isinstance(value, (str, bytes)) or not _is_number(value, what)
    )
    hint = ""
    if isinstance(bad, str) and what == "grade":
        hint = f"; give what each word is worth, grades={{{bad!r}: 1, ...}}"
    msg = f"a {what} is {bad!r}, not a number{hint}"
    if isinstance(bad, float) and np.isinf(bad):
        msg = f"a {what} is {bad!r}; expected a finite number"
    raise DataError(msg)


def refuse_number(data: Mapping[Any, Any], what: str, name: str) -> None:
    """Raise for the first value that is not a number, saying whose it is."""
    for query, entry in data.items():
        for item, value in entry.items() if isinstance(entry, Mapping) else ():
            try:
                numbers([value], what)
            except DataError as error:
                _, _, wrong = str(error).partition(" is ")
                whose = f"item {item!r} for query {query!r}"
                msg = f"{name}: the {what} of {whose} is {wrong}"
                raise DataError(msg) from None


NOT_PACKED = (StructError, TypeError, ValueError, OverflowError)
"""What `packed` raises when a value is not a number."""


def packed(values: Collection[Any]) -> Floats:
    """Return numbers as an array; unlike NumPy, does not read text as a number."""
    return np.frombuffer(pack(f"{len(values)}d", *values))


def _is_number(value: Any, what: str) -> bool:
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        return False
    return bool(np.isfinite(number) if what == "grade" else not np.isnan(number))


def _ones(query: Any, entry: Any, *, lenient: bool = False) -> dict[Any, float]:
    if isinstance(entry, np.ndarray):
        entry = entry.tolist()
    plain = isinstance(entry, (AbstractSet, Sequence))
    if not plain or isinstance(entry, (str, bytes)):
        msg = (
            f"the judgements of query {query!r} are a {type(entry).__name__}; expected "
            "{item: grade}, or a set of relevant items"
        )
        raise FormatError(msg)
    try:
        ones = dict.fromkeys(entry, 1.0)
    except (TypeError, ValueError, OverflowError):
        msg = f"the judgements of query {query!r} hold items that are no ids"
        raise FormatError(msg) from None
    if len(ones) < len(entry) and not lenient:
        times = Counter(entry)
        twice = next(item for item in entry if times[item] > 1)
        msg = f"item {twice!r} is judged twice for query {query!r}{KEEP_LARGEST}"
        raise DuplicateItemError(msg)
    return ones


def as_rows(source: Source, role: Role, *, lenient: bool = False) -> Rows:
    """Turn a mapping or a matrix into a frame; lenient leaves missing ids as null."""
    if isinstance(source, Rows):
        return source
    if isinstance(source, Lists):
        return _rows_of_lists(source, role, lenient=lenient)
    if isinstance(source, Dense):
        return _rows_of_matrix(source, role)
    if role == "qrels":
        msg = f"{source.name} was read as a run, and cannot be judgements"
        raise DataError(msg)
    parts = list(source.open())
    lines = [
        np.arange(part.frame.height) + (part.line or 0)
        if part.lines is None
        else part.lines
        for part in parts
    ]
    first = parts[0].line if parts else None
    known = first is not None or any(part.lines is not None for part in parts)
    return Rows(
        pl.concat([part.frame for part in parts]),
        source.name,
        lines=np.concatenate(lines) if known else None,
        notes=source.notes,
        ranked=source.ranked,
        role=role,
        kind=source.kind,
        warnings=source.warnings,
    )


def _rows_of_lists(source: Lists, role: Role, *, lenient: bool) -> Rows:
    data: Mapping[Any, Any] = source.data
    if role == "qrels":
        data = grades(source, lenient=lenient)
    queries: list[Any] = []
    items: list[Any] = []
    values: list[float] = []
    for query, entry in data.items():
        if isinstance(entry, Mapping):
            items.extend(entry.keys())
            values.extend(entry.values())
        else:
            own = listed(query, entry)
            items.extend(own)
            values.extend(-float(place) for place in range(len(own)))
        queries.extend([query] * (len(items) - len(queries)))
    try:
        numbers_ = _numbers(values, role, lenient=lenient)
    except DataError:
        refuse_number(data, "grade" if role == "qrels" else "score", source.name)
        raise
    frame = {
        "query": _series("query", queries, source.name, lenient=lenient),
        "item": _series("item", items, source.name, lenient=lenient),
        "value": pl.Series("value", numbers_),
    }
    return Rows(pl.DataFrame(list(frame.values())), source.name, notes=source.notes)


def listed(query: Any, entry: Any) -> list[Any]:
    """Return the items of a list in order; refuse what is no list."""
    plain = isinstance(entry, Sequence) and not isinstance(entry, (str, bytes))
    if isinstance(entry, np.ndarray) and entry.ndim == 1:
        return entry.tolist()  # type: ignore[no-any-return]
    if plain:
        return list(entry)
    wanted = "a list of items in order, or {item: score}"
    if isinstance(entry, AbstractSet):
        wanted += "; a set has no order"
    what = "None" if entry is None else f"a {type(entry).__name__}"
    msg = f"the run of query {query!r} is {what}; expected {wanted}"
    raise FormatError(msg)


def _numbers(values: list[Any], role: Role, *, lenient: bool) -> Floats:
    if role == "qrels":
        return numbers(values)
    return scores_of(values, lenient=lenient)


def scores_of(values: list[Any], *, lenient: bool) -> Floats:
    """Return scores; a lenient reader takes None for nan and lets scores be nan."""
    if not lenient:
        return numbers(values, "score")
    missing = [at for at, value in enumerate(values) if is_missing(value)]
    known = list(values)
    for at in missing:
        known[at] = 0.0
    made = numbers(known, "score").copy()
    made[missing] = np.nan
    return made


def is_missing(value: Any) -> bool:
    """Say whether this stands for nothing: None, nan, or pandas' NA."""
    try:
        return value is None or bool(value != value)  # noqa: PLR0124 - true for nan
    except (TypeError, ValueError):
        return type(value).__name__ == "NAType"


NO_COLUMN = (
    TypeError, OverflowError, AttributeError, ValueError, pl.exceptions.PolarsError,
    pl.exceptions.PanicException,
)  # fmt: skip
"""What polars raises for values that cannot be a column."""


def _series(
    part: str, values: list[Any], name: str, *, lenient: bool = False
) -> pl.Series:
    plain = [
        value.item() if isinstance(value, np.generic) else value for value in values
    ]
    try:
        made = pl.Series(part, plain, dtype=None if plain else pl.String, strict=True)
    except UnicodeEncodeError as error:
        raise _no_text(error, name) from None
    except NO_COLUMN:
        kinds = sorted({type(value).__name__ for value in plain})
        msg = f"{name}: {part} ids are {' and '.join(kinds)}; give them one type"
        raise DataError(msg) from None
    checked, _ = ids(made, part, Rows(pl.DataFrame(), name), lenient=lenient)
    return checked


def _rows_of_matrix(source: Dense, role: Role) -> Rows:
    matrix = source.matrix
    inside = ~np.isnan(matrix) if role == "qrels" else matrix > -np.inf
    row, column = np.nonzero(inside)
    frame = pl.DataFrame(
        {
            "query": source.queries.gather(row),
            "item": source.items.gather(column),
            "value": matrix[row, column],
        }
    )
    return Rows(frame, source.name, notes=source.notes)


def is_sparse(data: Any) -> bool:
    """Say whether this is a sparse matrix or array of scipy."""
    return type(data).__module__.startswith("scipy.sparse") and hasattr(data, "tocsr")


def from_sparse(data: Any, role: Role) -> Rows:
    """Read a sparse matrix: rows are queries, columns are items.

    A stored zero is a judged item of grade 0, or a retrieved item with score 0.
    """
    if data.dtype.kind not in "biuf":
        msg = f"{role}: the sparse matrix holds {data.dtype}; expected numbers"
        raise FormatError(msg)
    if data.ndim != 2:  # noqa: PLR2004 - a matrix
        msg = f"{role}: expected a sparse matrix, got {data.ndim} dimensions"
        raise FormatError(msg)
    matrix = data.tocoo() if data.format == "coo" else data.tocsr().tocoo()
    frame = pl.DataFrame(
        {
            "query": matrix.row.astype(np.int64),
            "item": matrix.col.astype(np.int64),
            "value": matrix.data.astype(np.float64),
        }
    )
    empty = data.shape[0] if frame.height == 0 else 0
    return Rows(frame, role, role=role, shape=data.shape, n_empty=empty)


def _axis(values: Any, n: int, what: str) -> pl.Series:
    if values is None:
        return pl.Series(what, np.arange(n, dtype=np.int64))
    try:
        plain = not isinstance(values, (str, bytes)) and list(values) is not None
    except TypeError:
        plain = False
    if not plain:
        msg = f"{what} must be a list of {n} ids, got {values!r}"
        raise ParameterError(msg)
    made = _series(what, list(values), what)
    if len(made) != n:
        msg = f"{len(made)} {what} were given for {n} in the matrix"
        raise DataError(msg)
    if made.n_unique() < n:
        msg = f"the ids of {what} are not all different"
        raise DuplicateItemError(msg)
    return made


def _off_torch(matrix: Any) -> Any:
    """Take a tensor on the CPU as an array; others are not copied behind your back."""
    if type(matrix).__module__.split(".")[0] != "torch":
        return matrix
    if matrix.device.type != "cpu":
        msg = (
            f"the tensor is on {matrix.device}; copy it with .cpu() if that is what "
            "you want"
        )
        raise FormatError(msg)
    if str(matrix.layout) != "torch.strided":
        msg = f"the tensor is {matrix.layout}; make it dense with .to_dense()"
        raise FormatError(msg)
    matrix = matrix.detach()
    whole = not (matrix.is_floating_point() or matrix.is_complex())
    return matrix.numpy() if whole else matrix.double().numpy()


def from_scores(matrix: Any, *, queries: Any = None, items: Any = None) -> Dense:
    """Take a matrix of queries by items: scores for a run, grades for judgements.

    Args:
        matrix: one row per query, one column per item. In a run, -inf marks an item
            that is not retrieved; in judgements, nan marks one that is not judged.
        queries: the ids of the rows; 0, 1, 2, ... if not given.
        items: the ids of the columns; 0, 1, 2, ... if not given.

    Returns:
        What `evaluate` takes for judgements or for a run.

    >>> import rankine as rk
    >>> grades = rk.from_scores([[1, 0, 0], [0, 1, 0]])
    >>> scores = rk.from_scores([[0.9, 0.5, 0.1], [0.9, 0.5, 0.1]])
    >>> rk.evaluate(grades, scores, ["RR"])["RR"]
    0.75
    """
    matrix = _off_torch(matrix)
    try:
        given = np.asarray(matrix)
        if given.dtype.kind not in "biufO":
            msg = f"expected a matrix of numbers, queries by items, got {given.dtype}"
            raise FormatError(msg)
        values = given.astype(np.float64, copy=False)
    except (TypeError, ValueError, OverflowError) as error:
        if isinstance(error, FormatError):
            raise
        reason = str(error).split(".")[0]
        msg = f"expected a matrix of numbers, queries by items ({reason})"
        raise FormatError(msg) from None
    if values.ndim != 2:  # noqa: PLR2004 - a matrix
        msg = f"expected a matrix, queries by items, got {values.ndim} dimensions"
        raise FormatError(msg)
    if values.size == 0:
        msg = f"the matrix is empty, {values.shape[0]} x {values.shape[1]}"
        raise NoRowsError(msg)
    return Dense(
        values,
        _axis(queries, values.shape[0], "queries"),
        _axis(items, values.shape[1], "items"),
    )


def from_ranked(matrix: Any, *, queries: Any = None, pad: Any = None) -> Rows:
    """Take a matrix of queries by ranks: the ids of the items, best first.

    Args:
        matrix: one row per query, one column per rank.
        queries: the ids of the rows; 0, 1, 2, ... if not given.
        pad: the value that fills rows which are shorter than the others.

    Returns:
        What `evaluate` takes for a run.

    >>> import rankine as rk
    >>> run = rk.from_ranked([[7, 8, 9], [8, 9, -1]], pad=-1)
    >>> rk.evaluate({0: {8}, 1: {8}}, run, ["RR"])["RR"]
    0.75
    """
    matrix = _off_torch(matrix)
    try:
        values = np.asarray(matrix)
    except ValueError:
        msg = "the rows of the matrix differ in length; fill them up and give pad="
        raise FormatError(msg) from None
    if values.ndim != 2:  # noqa: PLR2004 - a matrix
        msg = f"expected a matrix, queries by ranks, got {values.ndim} dimensions"
        raise FormatError(msg)
    n_queries, width = values.shape
    axis = _axis(queries, n_queries, "queries")
    flat = values.ravel()
    row, place = np.divmod(np.arange(len(flat), dtype=np.int64), max(width, 1))
    if pad is not None:
        kept = np.flatnonzero(~_is_pad(flat, pad))
        flat, row, place = flat[kept], row[kept], place[kept]
    if flat.dtype.kind in "iu":
        item, _ = ids(pl.Series("item", flat), "item", Rows(pl.DataFrame(), "run"))
    else:
        item = _series("item", flat.tolist(), "run")
    frame = pl.DataFrame(
        {"query": axis.gather(row), "item": item, "value": -(place + 1.0)}
    )
    empty = n_queries if frame.height == 0 else 0
    return Rows(frame, "run", ranked=True, role="run", n_empty=empty)


def _is_same(one: Any, other: Any) -> bool:
    try:
        return bool(one == other)
    except (TypeError, ValueError, OverflowError):
        return False


def _is_pad(flat: AnyArray, pad: Any) -> Bools:
    """Mark the cells that only fill up their row."""
    if not isinstance(pad, (str, int, float, np.generic)):
        msg = f"pad must be one id, got {pad!r}"
        raise ParameterError(msg)
    if flat.dtype.kind == "O":
        missing = is_missing(pad)
        return np.array(
            [is_missing(one) if missing else _is_same(one, pad) for one in flat]
        )
    text = isinstance(pad, str)
    if text != (flat.dtype.kind in "US"):
        kind = "text" if flat.dtype.kind in "US" else "numbers"
        msg = f"pad={pad!r} can never be in a matrix of {kind}"
        raise FormatError(msg)
    try:
        with np.errstate(over="ignore"):
            padded: Bools = np.isnan(flat) if pad != pad else flat == pad  # noqa: PLR0124
    except (TypeError, OverflowError):
        msg = f"pad={pad!r} can never be in a matrix of type {flat.dtype}"
        raise FormatError(msg) from None
    return padded
