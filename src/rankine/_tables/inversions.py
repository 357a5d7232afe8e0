"""Pairs in the wrong order: counted by merging, for all segments at once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from rankine._base.blocks import by_halves
from rankine._tables.segments import expand, position, runs, starts_of

if TYPE_CHECKING:
    from rankine._base.arrays import AnyArray, Floats, Ints

_BASE = 16
"""Rows of a block in which every pair is looked at."""
_CELLS = 1 << 16
"""Values that are merged together, in the cache."""


def inversions(values: Ints, starts: Ints) -> Ints:
    """Count, per segment, the pairs of rows of which the first is larger.

    A bottom-up merge sort: of two neighbouring sorted blocks, the positions of the
    second one's values in the merged block show how many of the first are larger.

    Args:
        values: from 0; only their order within a segment matters.
        starts: where each segment begins.

    >>> inversions(np.array([2, 0, 1, 5, 5, 4]), np.array([0, 3, 6]))
    array([2, 2])
    """
    counts = np.diff(starts)
    number = np.zeros(len(counts), dtype=np.int64)
    largest = int(values.max(initial=0)) + 1
    bits = np.ceil(np.log2(np.maximum(counts, 1))).astype(np.int64)
    width = np.maximum(_BASE, 1 << bits)
    # Holds a value and one bit.
    narrow = np.result_type(np.int16, np.min_scalar_type(-2 * largest - 1))
    for size in np.unique(width[counts > 1]).tolist():
        chosen = np.flatnonzero((width == size) & (counts > 1))
        step = max(1, _CELLS // size)

        def work(
            part: slice, chosen: Ints = chosen, size: int = size, step: int = step
        ) -> None:
            for begin in range(part.start, part.stop, step):
                some = chosen[begin : min(begin + step, part.stop)]
                block = np.full((len(some), size), largest, dtype=narrow)
                _fill(block, values, starts, some)
                number[some] = _merged(block)

        by_halves(work, len(chosen), size * len(chosen))
    return number


def _fill(block: AnyArray, values: Ints, starts: Ints, some: Ints) -> None:
    """Put the values of a segment into each row, from its left."""
    counts = starts[some + 1] - starts[some]
    first, last, size = int(some[0]), int(some[-1]), int(counts[0])
    if last - first == len(some) - 1 and (counts == size).all():
        cells = values[starts[first] : starts[last + 1]]
        block[:, :size] = cells.reshape(len(some), size)
        return
    rows, owner = expand(starts[some], counts)
    block[owner, position(owner)] = values[rows]


def _merged(block: AnyArray) -> Ints:
    """Count the inversions of each row of a matrix, whose width is a power of 2."""
    n, width = block.shape
    small = np.ascontiguousarray(block.reshape(-1, _BASE).T)
    larger = np.zeros(small.shape[1], dtype=np.int8)
    for step in range(1, _BASE):
        wrong = small[:-step] > small[step:]
        larger += np.add.reduce(wrong.view(np.int8), axis=0, dtype=np.int8)
    number: Ints = larger.reshape(n, -1).sum(axis=1, dtype=np.int64)
    ordered = np.sort(block.reshape(-1, _BASE), axis=1)
    half = _BASE
    while half < width:
        # The last bit says which half a value is from, and puts equal ones in order.
        both: AnyArray = (ordered << 1).reshape(-1, 2 * half)
        both[:, half:] |= 1
        both.sort(axis=1)
        # Sums below 2^24 are exact in single precision.
        kind: Any = np.float32 if half * half < 1 << 22 else np.float64
        places = (both & 1).astype(kind) @ np.arange(2 * half, dtype=kind)
        before = places.astype(np.int64) - half * (half - 1) // 2
        number += (half * half - before).reshape(n, -1).sum(axis=1)
        ordered = both >> 1
        half *= 2
    return number


def smaller_before(values: Ints, starts: Ints) -> tuple[Ints, Ints]:
    """Count, for each row, the rows before it in its segment that are smaller or equal.

    Returns:
        The number of smaller ones, and that of equal ones.

    >>> smaller_before(np.array([3, 1, 2, 2]), np.array([0, 4]))
    (array([0, 0, 1, 1]), array([0, 0, 0, 1]))
    """
    n = len(values)
    segment = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
    # Values grow with the segment, so that those of segments before are all smaller.
    order = np.lexsort((values, segment))
    _, number = runs(segment[order], values[order])
    key = np.empty(n, dtype=np.int64)
    key[order] = number
    less = np.zeros(n, dtype=np.int64)
    upto = np.zeros(n, dtype=np.int64)
    place = np.arange(n)
    size = 1
    while size < n:
        block, right = place // (2 * size), (place // size) % 2 == 1
        joint = block * (n + 1) + key
        left = np.sort(joint[~right])
        first = np.searchsorted(left, block[right] * (n + 1))
        less[right] += np.searchsorted(left, joint[right]) - first
        upto[right] += np.searchsorted(left, joint[right], side="right") - first
        size *= 2
    earlier = starts[segment]
    return less - earlier, upto - less


class Pairs(NamedTuple):
    """Pairs of rows, counted per segment by how two numbers order them.

    Attributes:
        all: all pairs.
        x: those that are equal in x.
        y: those that are equal in y.
        both: those that are equal in both.
        discordant: those that x and y order differently.
    """

    all: Ints
    x: Ints
    y: Ints
    both: Ints
    discordant: Ints

    @property
    def concordant(self) -> Ints:
        """Those that x and y order alike."""
        return self.all - self.x - self.y + self.both - self.discordant

    def split(self, tied: str) -> tuple[Floats, Floats]:
        """Return the pairs of x that y orders rightly and wrongly.

        Those that y ties are ``discordant``, count ``half``, or not at all.
        """
        right = self.concordant.astype(np.float64)
        wrong = self.discordant.astype(np.float64)
        even = (self.y - self.both).astype(np.float64)
        if tied == "half":
            return right + even / 2, wrong + even / 2
        return right, wrong + even if tied == "discordant" else wrong

    def distance(self) -> tuple[Floats, Floats]:
        """Return twice the pairs of x that y has wrong, ties as half, and twice all."""
        wrong = 2 * self.discordant + self.y - self.both
        every = 2 * (self.all - self.x)
        return wrong.astype(np.float64), every.astype(np.float64)


def pair_counts(x: AnyArray, y: AnyArray, starts: Ints) -> Pairs:
    """Count, per segment, the pairs of rows by how x and y order them.

    Args:
        x: a number per row.
        y: another one.
        starts: where each segment begins.

    Returns:
        How many there are of each kind.

    >>> pair_counts(np.array([1, 2, 2]), np.array([5, 4, 4]), np.array([0, 3]))
    Pairs(all=array([3]), x=array([1]), y=array([1]), both=array([1]), \
discordant=array([2]))
    """
    counts = np.diff(starts)
    if len(x) == 0:
        return Pairs(*(np.zeros(len(counts), dtype=np.int64) for _ in range(5)))
    segment = np.repeat(np.arange(len(counts)), counts)
    order = np.lexsort((y, x, segment))
    x, y = x[order], y[order]
    by_y = np.lexsort((y, segment))
    _, number = runs(segment, y[by_y])
    rank = np.empty(len(y), dtype=np.int64)
    rank[by_y] = number
    # Counted from the first of the segment, to stay small.
    rank -= number[np.minimum(starts[:-1], len(y) - 1)][segment]
    return Pairs(
        counts * (counts - 1) // 2,
        _equal(segment, starts, x),
        _equal(segment, starts, y[by_y]),
        _equal(segment, starts, x, y),
        inversions(rank, starts),
    )


def _equal(segment: Ints, starts: Ints, *columns: AnyArray) -> Ints:
    """Count the pairs of equal rows per segment, in rows that are sorted by them."""
    first, _ = runs(segment, *columns)
    size = np.diff(first, append=len(segment))
    total = starts_of(size * (size - 1) // 2)
    return np.diff(total[np.searchsorted(first, starts)])
