"""Arithmetic on segments: rows of one array that belong together, such as a query's.

Segments are given by `starts`, with one entry more than there are segments: segment i
is ``values[starts[i]:starts[i + 1]]``. Nothing here loops over segments in Python.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from rankine.arrays import AnyArray, Bools, Floats, Ints

_WASTE = 2
"""How much larger than the data a padded block may be."""


def starts_of(counts: Ints) -> Ints:
    """Turn lengths of segments into their starts.

    >>> starts_of(np.array([2, 0, 3]))
    array([0, 2, 2, 5])
    """
    starts = np.zeros(len(counts) + 1, dtype=np.int64)
    np.cumsum(counts, out=starts[1:])
    return starts


def position(segment: Ints) -> Ints:
    """Count the rows of each segment from 0; rows of a segment stand together.

    >>> position(np.array([4, 4, 7, 9, 9, 9]))
    array([0, 1, 0, 0, 1, 2])
    """
    n = len(segment)
    if n == 0:
        return np.zeros(0, dtype=np.int64)
    index = np.arange(n, dtype=np.int64)
    first = np.zeros(n, dtype=np.int64)
    change = np.flatnonzero(segment[1:] != segment[:-1]) + 1
    first[change] = change
    np.maximum.accumulate(first, out=first)
    return index - first


def running_sum(values: Floats, segment: Ints) -> Floats:
    """Add up the values of each segment row by row; its rows stand together.

    One sum runs over all rows and is set back at each segment, in extended precision
    so that a segment does not lose digits to those before it.

    >>> running_sum(np.array([1.0, 2.0, 5.0]), np.array([0, 0, 3]))
    array([1., 3., 5.])
    """
    total = np.cumsum(values, dtype=np.longdouble)
    first = np.arange(len(values)) - position(segment)
    summed: Floats = (total - (total - values)[first]).astype(np.float64)
    return summed


def runs(*columns: AnyArray) -> tuple[Ints, Ints]:
    """Find the runs of equal rows: where each begins, and which run a row is in.

    >>> runs(np.array([0, 0, 0, 1]), np.array([5, 5, 6, 6]))
    (array([0, 2, 3]), array([0, 0, 1, 2]))
    """
    new = np.zeros(len(columns[0]), dtype=np.bool_)
    new[:1] = True
    for column in columns:
        new[1:] |= column[1:] != column[:-1]
    return np.flatnonzero(new), np.cumsum(new) - 1


def expand(starts: Ints, lengths: Ints) -> tuple[Ints, Ints]:
    """List the rows of several ranges, and for each row the number of its range.

    >>> rows, owner = expand(np.array([5, 0]), np.array([2, 3]))
    >>> rows, owner
    (array([5, 6, 0, 1, 2]), array([0, 0, 1, 1, 1]))
    """
    owner = np.repeat(np.arange(len(lengths), dtype=np.int64), lengths)
    rows = np.arange(len(owner), dtype=np.int64)
    rows += np.repeat(starts - starts_of(lengths)[:-1], lengths)
    return rows, owner


def sort_descending(values: Floats, starts: Ints) -> Floats:
    """Sort each segment, largest first, and return a new array.

    Segments of about the same length are sorted together as rows of a padded matrix,
    which NumPy does many times faster than a sort by (segment, value).

    >>> sort_descending(np.array([1.0, 3.0, 5.0, 4.0, 6.0]), np.array([0, 2, 5]))
    array([3., 1., 6., 5., 4.])
    """
    counts = np.diff(starts)
    out = np.empty_like(values)
    if len(counts) == 0:
        return out
    longest = int(counts.max())
    if longest == int(counts.min()):
        block = values.reshape(len(counts), longest)
        return -np.sort(-block, axis=1).ravel()
    # Longest first; a matrix takes segments down to half the length of its first.
    order = np.argsort(-counts, kind="stable")
    ordered = counts[order]
    begin = 0
    while begin < len(order) and ordered[begin] > 0:
        width = int(ordered[begin])
        end = int(np.searchsorted(-ordered, -(width // _WASTE), side="right"))
        end = max(end, begin + 1)
        chosen, lengths = order[begin:end], ordered[begin:end]
        rows, owner = expand(starts[chosen], lengths)
        column = position(owner)
        block = np.full((end - begin, width), np.inf)
        block[owner, column] = -values[rows]
        block.sort(axis=1)
        out[rows] = -block[owner, column]
        begin = end
    return out


def above_and_tied(
    descending: Floats, starts: Ints, segment: Ints, x: Floats
) -> tuple[Ints, Ints]:
    """Count, for each x, the values of its segment above it and those equal to it.

    A binary search for all x at once; each segment must be sorted, largest first.

    >>> above_and_tied(
    ...     np.array([9.0, 7.0, 7.0, 1.0]),
    ...     np.array([0, 4]),
    ...     np.array([0, 0]),
    ...     np.array([7.0, 1.0]),
    ... )
    (array([1, 3]), array([2, 1]))
    """
    begin, end = starts[segment], starts[segment + 1]
    first = _search(descending, begin, end, lambda found: found > x)
    last = _search(descending, first, end, lambda found: found >= x)
    return first - begin, last - first


def _search(
    values: Floats, low: Ints, high: Ints, before: Callable[[Floats], Bools]
) -> Ints:
    """Return, for each range, the first place where `before` no longer holds."""
    low, high = low.copy(), high.copy()
    top = len(values) - 1
    while True:
        open_ = low < high
        if not open_.any():
            return low
        middle = (low + high) >> 1
        yes = before(values[np.minimum(middle, top)]) & open_
        low = np.where(yes, middle + 1, low)
        high = np.where(open_ & ~yes, middle, high)
