"""Arithmetic on segments: rows of one array that belong together, such as a query's.

Segments are given by `starts`, with one entry more than there are segments: segment i
is ``values[starts[i]:starts[i + 1]]``. Nothing here loops over segments in Python.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from rankine._base.blocks import by_blocks, by_halves
from rankine._base.limits import limits

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from rankine._base.arrays import AnyArray, Bools, Floats, Ints

_WASTE = 2
"""How much larger than the data a padded block may be."""


@dataclass(frozen=True, slots=True, order=True)
class Steps:
    """How many values are above, below and equal to the one before in their segment."""

    rises: int
    falls: int
    ties: int

    @property
    def strict(self) -> bool:
        """Whether values fall from each to the next."""
        return self.rises == self.ties == 0

    @property
    def like_distances(self) -> bool:
        """Whether values only rise, and often enough to be no accident."""
        return self.rises >= _RISES and not self.falls

    def __add__(self, other: Steps) -> Steps:
        """Return the steps of both parts of the data."""
        rises, falls = self.rises + other.rises, self.falls + other.falls
        return Steps(rises, falls, self.ties + other.ties)


NO_STEPS = Steps(0, 0, 0)
_RISES = 5
"""From this many steps upwards, scores look like distances."""


def steps_of(values: Floats, starts: Ints) -> Steps:
    """Count how often values rise, fall and stay the same along their segments.

    A value next to one that is nan counts as the same.

    >>> steps_of(np.array([1.0, 2.0, 2.0, 1.0, 5.0]), np.array([0, 3, 3, 5]))
    Steps(rises=2, falls=0, ties=1)
    """
    here, after = values[:-1], values[1:]
    first = starts[1:-1][np.diff(starts[1:]) > 0]
    first = first[first > 0]

    def number(holds: Callable[[Floats, Floats], Bools]) -> int:
        across = np.count_nonzero(holds(values[first], values[first - 1]))
        return int(np.count_nonzero(holds(after, here)) - across)

    inside = len(here) - len(first)
    falls = number(np.less)
    rises = number(np.greater) if falls < inside else 0
    return Steps(rises, falls, inside - rises - falls)


def n_rising(values: Floats, starts: Ints) -> int:
    """Count the segments in which a value is above the one before it.

    >>> n_rising(np.array([1.0, 2.0, 3.0, 2.0, 5.0]), np.array([0, 3, 3, 5]))
    2
    >>> n_rising(np.array([2.0, 1.0, 3.0]), np.array([0, 2, 3]))
    0
    """
    rises = (values[1:] > values[:-1]).nonzero()[0] + 1
    rises = rises[~np.isin(rises, starts)]  # from a segment to the next
    return len(np.unique(starts.searchsorted(rises, side="right")))


def starts_of(counts: Ints) -> Ints:
    """Turn lengths of segments into their starts.

    >>> starts_of(np.array([2, 0, 3]))
    array([0, 2, 2, 5])
    """
    if len(counts) == 1:
        return np.array([0, counts.item()], dtype=np.int64)
    starts = np.zeros(len(counts) + 1, dtype=np.int64)
    counts.cumsum(out=starts[1:])
    return starts


_SORTED_BITS = 16
"""Bits of a number that NumPy sorts by at once: many times faster than by more."""


def stable_order(numbers: AnyArray) -> Ints:
    """Return the order that sorts numbers from 0 on; equal ones stay in their order.

    A million numbers below 2^32 take 30 ms, instead of 100 in one go.

    >>> stable_order(np.array([70_000, 3, 70_000, 5]))
    array([1, 3, 0, 2])
    """
    most = int(numbers.max(initial=0))
    order: Ints = np.argsort(numbers.astype(np.uint16), kind="stable")
    for shift in range(_SORTED_BITS, most.bit_length(), _SORTED_BITS):
        digit = (numbers >> numbers.dtype.type(shift)).astype(np.uint16)
        order = order[np.argsort(digit[order], kind="stable")]
    return order


def groups_of(starts: Ints, size: int) -> list[slice]:
    """Divide consecutive segments into groups of about a given number of rows.

    >>> groups_of(np.array([0, 2, 4, 9, 10]), 4)
    [slice(0, 2, None), slice(2, 3, None), slice(3, 4, None)]
    """
    n, total = len(starts) - 1, int(starts[-1])
    if total <= size:
        return [slice(0, n)]
    cuts = np.searchsorted(starts, np.arange(size, total, size))
    edges = np.unique(np.concatenate(([0], cuts, [n]))).tolist()
    return [slice(begin, end) for begin, end in pairwise(edges)]


def rounded(scores: Floats, bits: int) -> Floats:
    """Return scores with the precision with which they are compared.

    Scores beyond float32 become its largest or smallest number, as -inf has a meaning
    of its own.
    """
    if bits == 64:  # noqa: PLR2004 - the precision that they have
        return scores
    with np.errstate(over="ignore"):
        narrow = scores.astype(np.float32)
    if np.isinf(narrow).any():
        most = np.finfo(np.float32).max
        narrow = np.where(np.isfinite(scores), np.clip(narrow, -most, most), narrow)
    return narrow.astype(np.float64)


def position(segment: Ints) -> Ints:
    """Count the rows of each segment from 0; rows of a segment are adjacent.

    >>> position(np.array([4, 4, 7, 9, 9, 9]))
    array([0, 1, 0, 0, 1, 2])
    """
    n = len(segment)
    if n == 0:
        return np.zeros(0, dtype=np.int64)
    index = np.arange(n, dtype=np.int64)
    if segment[0] == segment[-1]:  # there is only one
        return index
    first = np.zeros(n, dtype=np.int64)
    change = (segment[1:] != segment[:-1]).nonzero()[0] + 1
    first[change] = change
    np.maximum.accumulate(first, out=first)
    return index - first


def running_sum(values: Floats, segment: Ints) -> Floats:
    """Add up the values of each segment row by row; its rows are adjacent.

    All segments advance by one row at a time, so that the result of a segment does not
    depend on its neighbours.

    >>> running_sum(np.array([1.0, 2.0, 5.0]), np.array([0, 0, 3]))
    array([1., 3., 5.])
    """
    place = position(segment)
    order = np.argsort(place, kind="stable")
    ends = starts_of(np.bincount(place, minlength=1)).tolist()
    summed: Floats = np.array(values, dtype=np.float64)
    for begin, end in pairwise(ends[1:]):
        rows = order[begin:end]
        summed[rows] += summed[rows - 1]
    return summed


def sums_of(values: Floats, starts: Ints) -> Floats:
    """Add up the values of each segment; each sum is of its own values alone.

    >>> sums_of(np.array([1.0, 2.0, 5.0]), np.array([0, 2, 2, 3]))
    array([3., 0., 5.])
    """
    total = np.zeros(len(starts) - 1)
    filled = np.flatnonzero(np.diff(starts))
    if len(filled):
        total[filled] = np.add.reduceat(values, starts[filled])
    return total


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


def cut_evenly(cost: Floats, most: float) -> Iterator[slice]:
    """Cut lists into parts that cost no more than this, unless a single list does.

    >>> list(cut_evenly(np.array([2.0, 1.0, 9.0, 1.0]), 3))
    [slice(0, 2, None), slice(2, 3, None), slice(3, 4, None)]
    """
    upto = np.concatenate(([0.0], np.cumsum(cost)))
    begin, n = 0, len(cost)
    while begin < n:
        end = int(np.searchsorted(upto, upto[begin] + most, side="right")) - 1
        end = min(max(end, begin + 1), n)
        yield slice(begin, end)
        begin = end


def cut_lists(starts: Ints, rank: Ints | None, depth: int) -> tuple[Ints, Ints]:
    """Return where lists that are cut at a rank begin, and the rows that are left.

    Without ranks, they are 1, 2, 3 and so on.
    """
    if rank is not None:
        rows = np.flatnonzero(rank <= depth)
        return np.searchsorted(rows, starts), rows
    length = np.minimum(np.diff(starts), depth)
    rows, _ = expand(starts[:-1], length)
    return starts_of(length), rows


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
        block = -values.reshape(len(counts), longest)
        _sort_rows(block)
        return np.negative(block, out=block).ravel()
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
        _sort_rows(block)
        out[rows] = -block[owner, column]
        begin = end
    return out


def _sort_rows(block: Floats) -> None:
    """Sort each row in place."""
    by_halves(lambda rows: block[rows].sort(axis=1), len(block), block.size)


def bounds(values: AnyArray) -> tuple[Any, Any]:
    """Return the smallest and the largest of some numbers.

    >>> bounds(np.array([3, 1, 2]))
    (1, 3)
    """
    pairs = by_blocks(
        lambda rows: (values[rows].min().item(), values[rows].max().item()), len(values)
    )
    return min(low for low, _ in pairs), max(high for _, high in pairs)


def count_above(
    values: Floats, starts: Ints, segment: Ints, x: Floats
) -> tuple[Ints, Ints]:
    """Count, for each x, the values of its segment above it and those equal to it.

    The segments are in any order; `above_and_tied` is for sorted ones. Each x is a
    value of its segment, and segment numbers rise.

    >>> count_above(
    ...     np.array([7.0, 9.0, 1.0, 7.0]),
    ...     np.array([0, 4]),
    ...     np.array([0, 0]),
    ...     np.array([7.0, 1.0]),
    ... )
    (array([1, 3]), array([2, 1]))
    """
    n = len(starts) - 1
    longest = int((starts[1:] - starts[:-1]).max()) if n else 0
    # Shorter lists are padded: by no more than they hold together.
    if longest <= limits().short_lists and n * longest <= 2 * len(values):
        return _counted(values, starts, segment, x, longest)
    return above_and_tied(sort_descending(values, starts), starts, segment, x)


def _counted(
    values: Floats, starts: Ints, segment: Ints, x: Floats, longest: int
) -> tuple[Ints, Ints]:
    """Count as `count_above` does, by comparing each x with its whole segment.

    The first values of all segments are compared at once, then the second ones.
    """
    lengths = starts[1:] - starts[:-1]
    n = len(lengths)
    if len(values) == n * longest:
        by_place = np.ascontiguousarray(values.reshape(n, longest).T)
    else:
        by_place = np.full((longest, n), np.nan)  # neither above nor equal
        owner = np.arange(n).repeat(lengths)
        by_place[np.arange(len(values)) - starts[owner], owner] = values
    above, tied = np.zeros((2, len(x)), dtype=np.uint8 if longest < 1 << 8 else int)
    for of_segments in by_place:
        other = of_segments[segment]
        above += other > x
        tied += other == x
    return above.astype(np.int64), tied.astype(np.int64)


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
    longest = int(np.diff(starts).max(initial=0))
    first = _search(descending, begin, end, longest, lambda values: values > x)
    tied = np.ones(len(x), dtype=np.int64)
    # Most values are alone; the end of a block is searched only where one begins.
    more = np.flatnonzero(first + 1 < end)
    more = more[descending[first[more] + 1] == x[more]]
    if len(more):
        start, value = first[more], x[more]
        last = _search(
            descending, start, end[more], longest, lambda values: values >= value
        )
        tied[more] = last - start
    return first - begin, tied


def _search(
    values: Floats,
    begin: Ints,
    end: Ints,
    longest: int,
    before: Callable[[Floats], Bools],
) -> Ints:
    """Return, for each range, the first place where `before` no longer holds."""
    place = begin - 1
    top = len(values) - 1
    for bit in range(longest.bit_length() - 1, -1, -1):
        ahead = place + (1 << bit)
        holds = before(values[np.minimum(ahead, top)])
        holds &= ahead < end
        place = np.where(holds, ahead, place)
    return place + 1
