"""Ranks of a few rows of lists, by counting what stands above each of them.

How many items are above a row, and how many are equal to it, depends on the scores
alone; only the rank among equals depends on the rule for ties. So lists are compared
once for all rules.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from rankine._join.falling import in_falling, longest_tie, sortedness
from rankine._join.ties import before
from rankine._tables.segments import above_and_tied, rounded, sort_descending

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    import polars as pl

    from rankine._base.arrays import Floats, Ints
    from rankine._tables.order import Order


@dataclass(eq=False)
class Compared:
    """Lists as they are compared: by what, and in which precision.

    Attributes:
        scores: of all rows, list by list; None where the place is the rank.
        falling: whether they fall along every list.
        distinct: whether they do so without a tie.
    """

    scores: Floats | None
    falling: bool = True
    distinct: bool = True
    _counted: tuple[Ints, Ints] | None = field(default=None, repr=False)

    def reach(self, depth: int, starts: Ints) -> int | None:
        """Return how many rows of each list hold the ranks down to a depth.

        None where any row may. A tie may begin at the last rank, and end below it.
        """
        if not self.falling:
            return None
        return depth if self.distinct else depth + longest_tie(self.scores, starts) - 1

    def lengths(self, starts: Ints, order: Order) -> Ints:
        """Return the length of each list; the largest rank, where these are numbers."""
        if order.by != "rank_value" or self.scores is None or len(self.scores) == 0:
            return np.diff(starts)
        return -np.minimum.reduceat(self.scores, starts[:-1]).astype(np.int64)

    def ranks(
        self,
        starts: Ints,
        row: Ints,
        group: Ints,
        order: Order,
        ids: Callable[[Ints], pl.Series],
    ) -> tuple[Ints, Ints, Ints]:
        """Return how many items stand above some rows and beside them, and the rank.

        Args:
            starts: where each list begins.
            row: the rows.
            group: the number of the list of each.
            order: says who comes first among equals.
            ids: gives the ids of some rows.
        """
        single = np.ones(len(row), dtype=np.int64)
        if self.scores is not None and order.by == "rank_value":
            rank = -self.scores[row].astype(np.int64)
            return rank - 1, single, rank
        if self.scores is None or (self.falling and self.distinct):
            above = row - starts[group]
            return above, single, above + 1
        above, tied = self._count(self.scores, starts, row, group)
        rank = above + 1
        open_ = np.flatnonzero(tied > 1)
        if len(open_):
            rank[open_] += before(
                ids, self.scores, starts, row[open_], group[open_], order.tie
            )
        return above, tied, rank

    def _count(
        self, scores: Floats, starts: Ints, row: Ints, group: Ints
    ) -> tuple[Ints, Ints]:
        """Count what is above some rows and beside them, once for all rules."""
        if self._counted is None:
            if self.falling:
                self._counted = in_falling(scores, starts, row, group)
            else:
                ordered = sort_descending(scores, starts)
                self._counted = above_and_tied(ordered, starts, group, scores[row])
        return self._counted


def compare(
    scores: Floats | None, starts: Ints, orders: Iterable[Order]
) -> dict[tuple[str, int], Compared]:
    """Compare lists as orders ask for it, by what and in which precision.

    Scores that fall without a tie in 32 bits do so in 64, where they need not be looked
    at again.
    """
    compared: dict[tuple[str, int], Compared] = {}
    strict = False
    kinds = {(order.bits, order.by) for order in orders}
    for bits, by in sorted(kinds):
        if scores is None or by == "given":
            compared[by, bits] = Compared(None)
            continue
        values = scores if by == "rank_value" else rounded(scores, bits)
        shape = (True, True) if strict else sortedness(values, starts)
        strict = strict or shape == (True, True)
        compared[by, bits] = Compared(values, *shape)
    return compared
