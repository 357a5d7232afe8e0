"""Two sets of lists with their common items: what all similarity kernels read."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from rankine._base.blocks import by_halves
from rankine._base.records import cached_property
from rankine._tables.segments import expand, groups_of, starts_of, sums_of

if TYPE_CHECKING:
    from rankine._base.arrays import Bools, Floats, Ints

_TOGETHER = 1 << 16
"""Items that are looked at together, and stay in the cache meanwhile."""


@dataclass(frozen=True, eq=False)
class Side:
    """Lists of one ranker, one after the other, best items first.

    Attributes:
        starts: where each list begins.
        top: the rank at which the ties of each item begin, from 1; None without ties.
        bottom: the rank at which they end.
        score: what the items were ordered by, None if the order was given.
    """

    starts: Ints
    top: Ints | None = None
    bottom: Ints | None = None
    score: Floats | None = None

    @cached_property
    def length(self) -> Ints:
        """The length of each list."""
        return np.diff(self.starts)

    @cached_property
    def tied(self) -> Bools:
        """Whether a list has ties."""
        tied = np.zeros(len(self.length), dtype=np.bool_)
        if self.top is not None and self.bottom is not None:
            lists = np.repeat(np.arange(len(tied)), self.length)
            tied[lists[self.top < self.bottom]] = True
        return tied

    def rows(self, place: Ints, counts: Ints) -> Ints:
        """Return the rows of items: their places, from 0, and how many of each list."""
        return place + np.repeat(self.starts[:-1], counts)

    def ranks(self, place: Ints, counts: Ints) -> tuple[Ints, Ints]:
        """Return where the ties of the same items begin and end."""
        if self.top is None or self.bottom is None:
            return place + 1, place + 1
        row = self.rows(place, counts)
        return self.top[row], self.bottom[row]

    def take(self, lists: Ints) -> Side:
        """Return some of the lists."""
        return self._rows(self.starts[lists], self.length[lists])

    def cut(self, k: int) -> Side:
        """Return the first k items of each list."""
        cut = self._rows(self.starts[:-1], np.minimum(self.length, k))
        if cut.bottom is None:
            return cut
        return replace(cut, bottom=np.minimum(cut.bottom, k))

    def _rows(self, starts: Ints, lengths: Ints) -> Side:
        rows, _ = expand(starts, lengths)
        return Side(
            starts_of(lengths),
            None if self.top is None else self.top[rows],
            None if self.bottom is None else self.bottom[rows],
            None if self.score is None else self.score[rows],
        )


@dataclass(frozen=True, eq=False)
class Matched:
    """Lists of two rankers for the same queries, and the items that both have.

    Attributes:
        x: the lists of the first, or the reference.
        y: the lists of the second.
        starts: where the common items of each query begin.
        x_at: the place of each common item in its list of x, from 0, rising.
        y_at: its place in the list of y.
    """

    x: Side
    y: Side
    starts: Ints
    x_at: Ints
    y_at: Ints

    @classmethod
    def empty(cls) -> Matched:
        """Return what has no queries, on which parameters are checked."""
        none = np.zeros(0, dtype=np.int64)
        side = Side(np.zeros(1, dtype=np.int64))
        return cls(side, side, np.zeros(1, dtype=np.int64), none, none)

    @property
    def n_queries(self) -> int:
        """The number of queries."""
        return len(self.starts) - 1

    @cached_property
    def count(self) -> Ints:
        """The number of common items per query."""
        return np.diff(self.starts)

    @cached_property
    def query(self) -> Ints:
        """The number of the query of each common item."""
        return np.repeat(np.arange(self.n_queries, dtype=np.int64), self.count)

    @cached_property
    def x_row(self) -> Ints:
        """The row of each common item among those of x."""
        return self.x.rows(self.x_at, self.count)

    @cached_property
    def y_row(self) -> Ints:
        """The row of each common item among those of y."""
        return self.y.rows(self.y_at, self.count)

    @cached_property
    def x_ranks(self) -> tuple[Ints, Ints]:
        """The ranks in x at which the ties of each common item begin and end."""
        return self.x.ranks(self.x_at, self.count)

    @cached_property
    def y_ranks(self) -> tuple[Ints, Ints]:
        """The ranks in y at which the ties of each common item begin and end."""
        return self.y.ranks(self.y_at, self.count)

    @cached_property
    def tied(self) -> Bools:
        """Whether one of the two lists of a query has ties."""
        return self.x.tied | self.y.tied

    @cached_property
    def depth(self) -> Ints:
        """From which depth on both lists have an item, where nothing is tied."""
        depth = np.maximum(self.x_at, self.y_at)
        depth += 1
        return depth

    def take(self, queries: Ints) -> Matched:
        """Return some of the queries."""
        rows, _ = expand(self.starts[queries], self.count[queries])
        return Matched(
            self.x.take(queries),
            self.y.take(queries),
            starts_of(self.count[queries]),
            self.x_at[rows],
            self.y_at[rows],
        )

    def cut(self, k: int | None) -> Matched:
        """Return the same with the first k items of each list only."""
        if k is None:
            return self
        longest = max(self.x.length.max(initial=0), self.y.length.max(initial=0))
        if k >= longest:
            return self
        kept = np.flatnonzero(self.depth <= k)
        count = np.diff(np.searchsorted(kept, self.starts))
        return Matched(
            self.x.cut(k),
            self.y.cut(k),
            starts_of(count),
            self.x_at[kept],
            self.y_at[kept],
        )

    def sum(self, values: Floats) -> Floats:
        """Add up the values of the common items of each query."""
        return sums_of(values, self.starts)

    def sum_by_depth(self, values: Floats) -> Floats:
        """Add up, for each query, the values of the depths of its common items.

        Some queries at a time, in two threads.
        """
        groups, depths = groups_of(self.starts, _TOGETHER), self.depth
        total = np.zeros(self.n_queries)

        def work(some: slice) -> None:
            for queries in groups[some]:
                starts = self.starts[queries.start : queries.stop + 1]
                depth = depths[starts[0] : starts[-1]]
                # Every depth is in the table, which "clip" need not look for.
                total[queries] = sums_of(
                    values.take(depth, mode="clip"), starts - starts[0]
                )

        by_halves(work, len(groups), len(depths))
        return total
