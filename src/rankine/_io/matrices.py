"""Matrices: dense ones of scores, grades or ids, and sparse ones."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from rankine._base.tensors import off_torch
from rankine._base.text import count
from rankine._io.repeats import ranked_last
from rankine._io.sources import Dense, Rows
from rankine._io.values import ids, is_missing, refuse_padding, series_of
from rankine.errors import (
    DataError,
    DuplicateItemError,
    FormatError,
    NoRowsError,
    ParameterError,
)

if TYPE_CHECKING:
    from rankine._base.arrays import AnyArray, Bools
    from rankine._io.columns import Role


def from_sparse(data: Any, role: Role, name: str) -> Rows:
    """Read a sparse matrix: rows are queries, columns are items.

    A stored zero is a judged item of grade 0, or a retrieved item with score 0. A row
    in which nothing is stored is a query that is not there: a sparse matrix often has
    rows that nobody asks for, such as those of all users.
    """
    if data.dtype.kind not in "biuf":
        msg = f"{name}: the sparse matrix holds {data.dtype}; expected numbers"
        raise FormatError(msg)
    _check_dimensions(data.ndim, f"{name}: expected a sparse matrix")
    matrix = data.tocoo() if data.format == "coo" else data.tocsr().tocoo()
    frame = pl.DataFrame(
        {
            "query": matrix.row.astype(np.int64),
            "item": matrix.col.astype(np.int64),
            "value": matrix.data.astype(np.float64),
        }
    )
    n, _ = data.shape
    return Rows(
        frame,
        name,
        role=role,
        shape=data.shape,
        n_places=n,
        is_matrix=True,
    )


def from_scores(matrix: Any, *, queries: Any = None, items: Any = None) -> Dense:
    """Use a matrix of queries by items: scores as a run, or grades as judgements.

    Args:
        matrix: one row per query, one column per item. In a run, -inf marks an item
            that is not retrieved, such as a padded one or one seen before, and nan is
            refused unless ``lenient=True`` ranks it last; in judgements, nan marks one
            that is not judged. Leave padded queries out.
        queries: the ids of the rows; 0, 1, 2, ... if not given.
        items: the ids of the columns; 0, 1, 2, ... if not given.

    Returns:
        What `evaluate` takes as judgements or as a run.

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
    _check_dimensions(values.ndim, "expected a matrix, queries by items")
    if values.size == 0:
        msg = f"the matrix is empty, {values.shape[0]} x {values.shape[1]}"
        raise NoRowsError(msg)
    return Dense(
        values,
        _axis(queries, values.shape[0], "queries"),
        _axis(items, values.shape[1], "items"),
        n_places=len(values) if queries is None else None,
    )


def from_ranked(matrix: Any, *, queries: Any = None, pad: Any = None) -> Rows:
    """Use a matrix of queries by ranks as a run: the ids of the items, best first.

    Args:
        matrix: one row per query, one column per rank.
        queries: the ids of the rows; 0, 1, 2, ... if not given.
        pad: the value that pads rows that are shorter than others; it is not an item.
            Without it, negative numbers at the end of rows are refused.

    Returns:
        What `evaluate` takes as a run.

    >>> import rankine as rk
    >>> run = rk.from_ranked([[7, 8, 9], [8, 9, -1]], pad=-1)
    >>> rk.evaluate({0: {8}, 1: {8}}, run, ["RR"])["RR"]
    0.75
    """
    matrix = _off_torch(matrix)
    try:
        values = np.asarray(matrix)
    except ValueError:
        msg = (
            "the rows of the matrix differ in length; pad them with one value and "
            "give it as pad="
        )
        raise FormatError(msg) from None
    _check_dimensions(values.ndim, "expected a matrix, queries by ranks")
    if pad is None and values.dtype.kind in "if" and (values[:, -1:] < 0).any():
        todo = "if it pads short rows, give pad=PAD"
        refuse_padding(values, "row {} of the matrix".format, todo)
    n_queries, width = values.shape
    axis = _axis(queries, n_queries, "queries")
    flat = values.ravel()
    if axis.dtype == pl.Int64:  # a million rows take 0.15 ms so, and 1.4 ms otherwise
        query = pl.Series("query", axis.to_numpy().repeat(width))
    else:
        query = axis.gather(np.arange(n_queries).repeat(width)).alias("query")
    grid = rank = None
    padded = np.zeros(0, dtype=np.bool_) if pad is None else _is_pad(flat, pad)
    if padded.any():
        kept = np.flatnonzero(~padded)
        flat, query = flat[kept], query.gather(kept)
        rank = pl.Series("value", -(kept % width + 1.0))
    if flat.dtype.kind in "iu":
        item, _ = ids(pl.Series("item", flat), "item", Rows(pl.DataFrame(), "run"))
        if item.dtype == pl.Int64 and len(item) == values.size > 0:
            grid = item.to_numpy().reshape(values.shape)
    else:
        item = series_of("item", flat.tolist(), "run")
    # Where no rank is left out, the order of rows says them all.
    columns = [query, item] if rank is None else [query, item, rank]
    frame = pl.DataFrame(columns)
    return Rows(
        frame,
        "run",
        ranked=True,
        role="run",
        queries=axis,
        n_places=n_queries if queries is None else None,
        grid=grid,
        is_matrix=True,
    )


def nan_last(run: Dense) -> Dense:
    """Rank scores that are nan last, and count them."""
    missing = np.isnan(run.matrix)
    if not missing.any():
        return run
    said = ranked_last(run.name, int(np.count_nonzero(missing)))
    # Not -inf, with which an item would not be retrieved.
    matrix = np.where(missing, np.finfo(np.float64).min, run.matrix)
    return replace(run, matrix=matrix, notes=(*run.notes, said))


def _check_dimensions(n: int, wanted: str) -> None:
    if n != 2:  # noqa: PLR2004 - a matrix
        msg = f"{wanted}, got {count(n, 'dimension')}"
        raise FormatError(msg)


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
    column = series_of("query" if what == "queries" else "item", list(values), what)
    if len(column) != n:
        msg = f"{len(column)} {what} were given for {n} in the matrix"
        raise DataError(msg)
    if column.n_unique() < n:
        msg = f"the ids of {what} are not all different"
        raise DuplicateItemError(msg)
    return column


def refuse_topk(data: Any) -> None:
    """Refuse a pair of values and indices, as the function topk returns it."""
    if isinstance(data, tuple) and hasattr(data, "indices"):
        msg = (
            "got values and indices, as topk returns them; pass the indices, "
            "from_ranked(x.indices)"
        )
        raise FormatError(msg)


def _off_torch(matrix: Any) -> Any:
    """Use a tensor as an array, and refuse what is no matrix of its own."""
    refuse_topk(matrix)
    if isinstance(matrix, np.ma.MaskedArray):
        msg = (
            "the matrix is a masked array; fill it with what its mask means: "
            ".filled(-np.inf) for items that are not retrieved, .filled(np.nan) for "
            "items that are not judged, or the value of pad= for ranks without an item"
        )
        raise FormatError(msg)
    return off_torch(matrix)


def _is_same(value: Any, other: Any) -> bool:
    try:
        return bool(value == other)
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
            [is_missing(cell) if missing else _is_same(cell, pad) for cell in flat]
        )
    text = isinstance(pad, str)
    if text != (flat.dtype.kind in "US"):
        kind = "text" if flat.dtype.kind in "US" else "numbers"
        msg = f"pad={pad!r} can never occur in a matrix of {kind}"
        raise FormatError(msg)
    try:
        with np.errstate(over="ignore"):
            padded: Bools = np.isnan(flat) if pad != pad else flat == pad  # noqa: PLR0124
    except (TypeError, OverflowError):
        msg = f"pad={pad!r} can never occur in a matrix of type {flat.dtype}"
        raise FormatError(msg) from None
    return padded
