"""Which items two lists have in common, and where, for many lists at once.

Items are compared by keys of 64 bits. Two different items of one query have the same
key once in 10^10 comparisons of runs with thousands of queries and of items each, so
that ids are not looked at again.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from rankine._base.blocks import by_halves
from rankine._tables.keys import KeyTable, may_repeat, with_query
from rankine._tables.segments import starts_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rankine._base.arrays import Ints
    from rankine._tables.paired import Side

_CELLS = 1 << 16
"""Items that are looked up together, in the cache."""
_SPARE = 2
"""Slots per key, as a power of 2: few, as most keys are found."""


class _Part(NamedTuple):
    """The common items of some queries, by query and place in x."""

    number: Ints
    x_at: Ints
    y_at: Ints


def common(
    x: Side,
    y: Side,
    x_keys: NDArray[np.uint64],
    y_keys: NDArray[np.uint64],
    *,
    once: bool = False,
) -> tuple[Ints, Ints, Ints] | None:
    """Find the common items of the lists of two rankers.

    Args:
        x: the lists of one.
        y: those of the other.
        x_keys: a key per item of x, list by list.
        y_keys: the same for y.
        once: whether no item of y is there twice, as was seen before.

    Returns:
        Where the common items of each query begin, and their places in x, rising, and
        in y. None if keys agree that should not: an item appears twice in a list, or
        different items have the same key.
    """
    edges = _edges(x.starts + y.starts)

    def work(some: slice) -> list[_Part | None]:
        return [
            _part(slice(begin, end), x, y, x_keys, y_keys)
            for begin, end in edges[some].tolist()
        ]

    halves = by_halves(work, len(edges), int(x.starts[-1] + y.starts[-1]))
    parts = [part for half in halves for part in half if part is not None]
    if len(parts) < len(edges):
        return None
    number = np.concatenate([part.number for part in parts])
    # Items of y that have a partner each stand there once.
    rest = int(number.sum()) < int(y.starts[-1]) and not once
    if rest and may_repeat(y_keys, np.arange(len(number)), y.starts):
        return None
    return (
        starts_of(number),
        np.concatenate([part.x_at for part in parts]),
        np.concatenate([part.y_at for part in parts]),
    )


def _edges(starts: Ints) -> Ints:
    """Divide queries into groups with about as many items as fit the cache."""
    total = int(starts[-1])
    cuts = np.searchsorted(starts, np.arange(0, total + _CELLS, _CELLS))
    edges = np.unique(np.append(np.minimum(cuts, len(starts) - 1), len(starts) - 1))
    edges = np.unique(np.append(0, edges))
    return np.column_stack((edges[:-1], edges[1:]))


def _part(
    some: slice,
    x: Side,
    y: Side,
    x_keys: NDArray[np.uint64],
    y_keys: NDArray[np.uint64],
) -> _Part | None:
    """Match the lists of some queries that follow each other; None if in doubt."""
    number = np.arange(some.stop - some.start)
    begin_x, begin_y = x.starts[some], y.starts[some]
    rows_x = slice(int(begin_x[0]), int(x.starts[some.stop]))
    rows_y = slice(int(begin_y[0]), int(y.starts[some.stop]))
    length_x, length_y = x.length[some], y.length[some]
    table = KeyTable(with_query(x_keys[rows_x], number, length_x), spare=_SPARE)
    if not table.unique:
        return None
    place = table.places(with_query(y_keys[rows_y], number, length_y))
    there = np.flatnonzero(place >= 0)
    partner = np.full(rows_x.stop - rows_x.start, -1)
    partner[place[there]] = there
    row_x = np.flatnonzero(partner >= 0)
    row_y = partner[row_x]
    query = np.repeat(number, length_x)[row_x]
    x_at = row_x - (begin_x - begin_x[0])[query]
    y_at = row_y - (begin_y - begin_y[0])[query]
    # A partner in the list of another query would be a key that agrees by chance.
    sure = (
        len(row_x) == len(there)
        and y_at.min(initial=0) >= 0
        and (y_at < length_y[query]).all()
    )
    if not sure:
        return None
    return _Part(np.bincount(query, minlength=len(number)), x_at, y_at)
