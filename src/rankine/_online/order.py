"""The order of events: by user, session, time and kind."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rankine._base.arrays import AnyArray, Bools, Ints

_RUNS = 16
"""Sorted parts up to which they are merged."""
_MANY = 1 << 17
"""Rows that are worth a table of all numbers, and the import of SciPy."""
_SPARSE = 8
"""How many times as many numbers as rows may be counted."""


def changes(*columns: AnyArray | None) -> Bools:
    """Say of each row whether it differs from the one before in any of the columns."""
    known = [column for column in columns if column is not None]
    new = np.ones(len(known[0]), dtype=bool)
    np.not_equal(known[0][1:], known[0][:-1], out=new[1:])
    for column in known[1:]:
        new[1:] |= column[1:] != column[:-1]
    return new


def stable(codes: AnyArray, order: Ints | None = None) -> Ints:
    """Return the order that sorts small numbers, as they come where they are equal.

    Where there are not many more numbers than rows, they are counted, and each row goes
    to its place. Else the number of the row is put below the code, and both are sorted
    as one number.
    """
    given = codes if order is None else codes[order]
    falls = np.count_nonzero(given[1:] < given[:-1])
    if falls < _RUNS:  # parts that are sorted need only be merged
        rows = np.argsort(given, kind="stable")
    elif len(given) > _MANY and int(given.max()) < _SPARSE * len(given):
        rows = _placed(given)
    else:
        bits = max(len(codes) - 1, 1).bit_length()
        packed = (given.astype(np.int64) << bits) | np.arange(len(codes))
        rows = pl.Series(packed).sort().to_numpy() & ((1 << bits) - 1)
    return rows if order is None else order[rows]


def _placed(codes: AnyArray) -> Ints:
    """Sort rows by counting, which is what transposing a sparse matrix comes to."""
    from scipy.sparse import csr_array  # noqa: PLC0415 - slow to import

    n = len(codes)
    here = np.ones(n, np.int8), codes.astype(np.int32), np.arange(n + 1, dtype=np.int32)
    shape = n, int(codes.max()) + 1
    rows: Ints = csr_array(here, shape=shape).tocsc().indices
    return rows


def _grouped(parts: Sequence[AnyArray], order: Ints | None = None) -> Ints:
    *others, last = parts
    order = stable(last, order)
    for part in reversed(others):
        order = stable(part, order)
    return order


def in_order(frame: pl.DataFrame) -> pl.DataFrame:
    """Sort events by user, session, time, kind, and what makes rows the same."""
    keys = [name for name in ("user", "session", "time") if name in frame.columns]
    parts = [frame[name].to_numpy() for name in keys if name != "time"]
    order = None
    if len(parts) > 1 or bool((parts[0][1:] < parts[0][:-1]).any()):
        order = _grouped(parts)
    columns = _in(order, frame, keys)
    new = changes(*(columns[name] for name in keys if name != "time"))
    if "time" in columns:
        step = np.diff(columns["time"])
        if (step[~new[1:]] < 0).any():
            order = _grouped(parts, np.argsort(frame["time"].to_numpy(), kind="stable"))
            columns = _in(order, frame, keys)
            step = np.diff(columns["time"])
        new[1:] |= step != 0
    if not new.all():
        order = _untied(frame, order, new)
    if order is None:
        return frame
    rest = frame.select(pl.exclude(keys))[order]
    keyed = rest.with_columns(pl.Series(name, columns[name]) for name in keys)
    return keyed.select(frame.columns)


def _in(
    order: Ints | None, frame: pl.DataFrame, names: Sequence[str]
) -> dict[str, AnyArray]:
    """Return columns in an order, or as they are."""
    columns = {name: frame[name].to_numpy() for name in names}
    if order is None:
        return columns
    return {name: column[order] for name, column in columns.items()}


def _untied(frame: pl.DataFrame, order: Ints | None, new: Bools) -> Ints:
    """Sort events of one user and time by their kinds, and by what they are."""
    tied = ~new
    tied[:-1] |= tied[1:]
    rows = np.flatnonzero(tied)
    order = np.arange(len(new)) if order is None else order.copy()
    ties = [
        frame[name].to_numpy()[order[rows]]
        for name in ("same", "fact")
        if name in frame.columns
    ]
    run = np.cumsum(new[rows])
    order[rows] = order[rows][np.lexsort((*ties, run))]
    return order
