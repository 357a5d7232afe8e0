"""The order of events: by user, session, time and kind."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from rankine._online.rows import Rows

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rankine._base.arrays import AnyArray, Bools, Ints

_RUNS = 16
"""Up to this many sorted parts are merged."""
_MANY = 1 << 17
"""Rows from which a table of all numbers, and importing SciPy, pays."""
_FEW = 1 << 12
"""Up to this many rows, sorting them directly is fastest."""
_SPARSE = 4
"""How many times more numbers than rows may be counted."""


def changes(*columns: AnyArray | None) -> Bools:
    """Say for each row whether it differs from the one before in any of the columns."""
    known = [column for column in columns if column is not None]
    new = np.ones(len(known[0]), dtype=bool)
    np.not_equal(known[0][1:], known[0][:-1], out=new[1:])
    for column in known[1:]:
        new[1:] |= column[1:] != column[:-1]
    return new


def stable(codes: AnyArray, order: Ints | None = None) -> Ints:
    """Return the order that sorts small numbers; equal ones stay as they come.

    If there are not many more numbers than rows, they are counted, and each row goes to
    its place. Otherwise they are sorted by their lower bits, then by the upper ones;
    or, if they are large, as one number with the number of the row in its lower bits.
    """
    given = codes if order is None else codes[order]
    falls = np.count_nonzero(given[1:] < given[:-1])
    if falls < _RUNS:  # parts that are sorted need only be merged
        rows = np.argsort(given, kind="stable")
    elif len(given) > _MANY and int(given.max()) < _SPARSE * len(given):
        rows = _placed(given)
    elif len(given) > _FEW and 0 <= int(given.min()) <= int(given.max()) < 1 << 32:
        rows = _by_halves(given)
    else:
        bits = max(len(codes) - 1, 1).bit_length()
        packed = (given.astype(np.int64) << bits) | np.arange(len(codes))
        rows = pl.Series(packed).sort().to_numpy() & ((1 << bits) - 1)
    return rows if order is None else order[rows]


def _placed(codes: AnyArray) -> Ints:
    """Sort rows by counting, which is what transposing a sparse matrix does."""
    from scipy.sparse import csr_array  # noqa: PLC0415 - slow to import

    n = len(codes)
    here = np.ones(n, np.int8), codes.astype(np.int32), np.arange(n + 1, dtype=np.int32)
    shape = n, int(codes.max()) + 1
    rows: Ints = csr_array(here, shape=shape).tocsc().indices.astype(np.intp)
    return rows


def _by_halves(codes: AnyArray) -> Ints:
    """Sort by 16 bits, then by the 16 above: NumPy sorts such numbers by radix."""
    rows: Ints = np.argsort((codes & 0xFFFF).astype(np.uint16), kind="stable")
    above = (codes >> 16).astype(np.uint16)
    if above.max() <= 0xFF:  # noqa: PLR2004 - what fits a byte takes half the time
        above = above.astype(np.uint8)
    return rows.take(np.argsort(above.take(rows), kind="stable"))


def _grouped(parts: Sequence[AnyArray], order: Ints | None = None) -> Ints:
    *others, last = parts
    order = stable(last, order)
    for part in reversed(others):
        order = stable(part, order)
    return order


def in_order(rows: Rows) -> Rows:
    """Sort events by user, session, time and kind, and by the key of identical rows."""
    parts = [rows[name] for name in ("user", "session") if name in rows]
    sorted_rows = rows
    if len(parts) > 1 or bool((parts[0][1:] < parts[0][:-1]).any()):
        sorted_rows = rows.take(_grouped(parts))
    new = _begins(sorted_rows)
    if "time" in rows:
        step = np.diff(sorted_rows["time"])
        if ((step < 0) & ~new[1:]).any():
            by_time = np.argsort(rows["time"], kind="stable")
            sorted_rows = rows.take(_grouped(parts, by_time))
            new = _begins(sorted_rows)
            step = np.diff(sorted_rows["time"])
        new[1:] |= step != 0
    return sorted_rows if new.all() else _untied(sorted_rows, new)


def _begins(rows: Rows) -> Bools:
    """Say where another user, or another session, begins."""
    return changes(rows["user"], rows.get("session"))


def _untied(rows: Rows, new: Bools) -> Rows:
    """Sort events of one user and time by their kinds, and by what they are."""
    tied = ~new
    tied[:-1] |= tied[1:]
    places = np.flatnonzero(tied)
    ties = [rows[name][places] for name in ("same", "fact") if name in rows]
    order = np.lexsort((*ties, np.cumsum(new[places])))
    if (order[1:] > order[:-1]).all():
        return rows
    arrays = {name: array.copy() for name, array in rows.arrays.items()}
    for array in arrays.values():
        array[places] = array[places[order]]
    return Rows(arrays)
