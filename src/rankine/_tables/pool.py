"""Pool: the judged grades of every query, from which R and the ideal list come."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from rankine._base.arrays import all_true
from rankine._base.records import cached_property
from rankine._tables.segments import position

if TYPE_CHECKING:
    from rankine._base.arrays import Floats, Ints

_SOME = 20
_FEW = 1 << 14
"""Values that are sorted at once rather than chosen from."""


@dataclass(frozen=True, eq=False)
class Pool:
    """Grades of all judged items, grouped by query, in the order given.

    Attributes:
        starts: where each query's grades begin, with one entry more than queries.
        grade: the grades; a negative one means "in the pool, but not judged".
    """

    starts: Ints
    grade: Floats
    memo: dict[Any, Any] = field(default_factory=dict, repr=False)

    @cached_property
    def n_queries(self) -> int:
        """How many queries there are."""
        return len(self.starts) - 1

    @cached_property
    def query(self) -> Ints:
        """The query number of each grade."""
        if self.n_queries == 1:
            return np.zeros(len(self.grade), dtype=np.int64)
        number = np.arange(self.n_queries, dtype=np.int64)
        return number.repeat(self.starts[1:] - self.starts[:-1])

    @cached_property
    def width(self) -> int | None:
        """The number of grades per query, if it is the same for all."""
        if self.n_queries == 1:
            return len(self.grade)
        counts = self.starts[1:] - self.starts[:-1]
        same = len(counts) > 0 and bool((counts == counts[0]).all())
        return int(counts[0]) if same else None

    @cached_property
    def bounds(self) -> tuple[float, float]:
        """The smallest and the largest grade; inf and -inf if there is none."""
        grade = self.grade
        return float(grade.min(initial=np.inf)), float(grade.max(initial=-np.inf))

    def is_whole(self) -> bool:
        """Say whether no grade has a fraction."""
        return all_true(self.grade == np.floor(self.grade))

    def count(self, least: float, below: float = np.inf) -> Floats:
        """Count each query's grades that are at least `least` and under `below`."""
        key = ("count", least, below)
        counted: Floats | None = self.memo.get(key)
        if counted is None:
            inside = self.grade >= least
            if below != np.inf:
                inside &= self.grade < below
            width = self.width
            if self.n_queries == 1:
                n_inside = np.array([float(np.count_nonzero(inside))])
            elif width:
                n_inside = np.add.reduce(inside.reshape(-1, width), 1)
            elif all_true(inside):
                n_inside = np.diff(self.starts)
            else:
                n_inside = np.bincount(self.query[inside], minlength=self.n_queries)
            counted = self.memo[key] = n_inside.astype(np.float64, copy=False)
        return counted

    @property
    def deepest(self) -> int:
        """The largest number of grades that a query has."""
        return self.width or int(np.diff(self.starts).max(initial=0))

    def sum_of_largest(self, values: Floats, k: int | None, by_rank: Floats) -> Floats:
        """Sum each query's k largest values, each over its rank's divisor.

        `values` has one entry per grade, such as its gain, and none is negative;
        `by_rank` has the divisor of rank 1 at index 1.
        """
        width = self.width
        if width:
            # As many grades for every query: a matrix, added up from the left.
            last = width if k is None else min(k, width)
            rows = values if self.n_queries == 1 else values.reshape(-1, width)
            worth = _largest_of_rows(rows, last) / by_rank[1 : last + 1]
            summed: Floats = np.add.accumulate(worth, axis=-1)[..., -1:].ravel()
            return summed
        query, rank, top = self.largest(values, k)
        sums = np.bincount(query, top / by_rank[rank], minlength=self.n_queries)
        return sums.astype(np.float64, copy=False)

    def sum_of_all(self, values: Floats, k: int | None, by_rank: Floats) -> Floats:
        """Sum each query's k largest values, losses too, over the ranks' divisors."""
        order = np.lexsort((-values, self.query))
        query, top = self.query[order], values[order]
        rank = position(query) + 1
        inside = rank <= (self.deepest if k is None else k)
        worth = top[inside] / by_rank[rank[inside]]
        summed = np.bincount(query[inside], worth, minlength=self.n_queries)
        return summed.astype(np.float64, copy=False)

    def largest(self, values: Floats, k: int | None) -> tuple[Ints, Ints, Floats]:
        """Return query, rank and value of each query's k largest values above zero."""
        positive = values > 0
        if positive.all():
            query, top = self.query, values
        else:
            query, top = self.query[positive], values[positive]
        if ((top[1:] > top[:-1]) & (query[1:] == query[:-1])).any():
            top = top[np.lexsort((-top, query))]
        rank = position(query) + 1
        if k is None or len(rank) == 0 or int(rank.max()) <= k:
            return query, rank, top
        keep = rank <= k
        return query[keep], rank[keep], top[keep]


def _largest_of_rows(block: Floats, k: int) -> Floats:
    """Return the k largest values of each row, largest first."""
    if block.size < _FEW or block.ndim == 1 or k == block.shape[1]:
        rising = block.copy()
        rising.sort()
        return rising[..., ::-1][..., :k]
    # Grades are few: often the best one alone fills all k places, and is met so many
    # times among the first ones. For nDCG@10 of 2,000 x 5,000 grades from 0 to 4, that
    # takes all of an evaluation from 107 ms to 44.
    best = block.max(axis=1)
    top = np.repeat(best[:, None], k, axis=1)
    some = block[:, : _SOME * k] == best[:, None]
    open_ = np.flatnonzero(np.count_nonzero(some, axis=1) < k)
    if len(open_):
        rest = np.partition(-block[open_], k - 1, axis=1)[:, :k]
        rest.sort(axis=1)
        top[open_] = -rest
    return top
