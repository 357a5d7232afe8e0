"""The first items of each list, in the order of the ranks that metrics read."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from rankine._io.sources import Dense
from rankine._join import dense
from rankine._join.lists import lists_of
from rankine._tables.segments import expand, rounded, starts_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    import polars as pl

    from rankine._base.arrays import Ints
    from rankine._conventions.convention import Convention
    from rankine._io.sources import Source


@dataclass(frozen=True, eq=False)
class First:
    """The first items of lists.

    Attributes:
        queries: the id of each list.
        starts: where each begins.
        items: the first items of each, best first.
        ranks: the rank of each, None where they are 1, 2, 3 and so on.
    """

    queries: Sequence[Any] | pl.Series
    starts: Ints
    items: Sequence[Any] | pl.Series
    ranks: Ints | None = None

    @cached_property
    def _row(self) -> dict[Any, int]:
        """Where each list is, by the id of its query and by the text of that."""
        ids = list(self.queries)
        texts = {str(query): row for row, query in enumerate(ids)}
        return texts | {query: row for row, query in enumerate(ids)}

    def of(self, query: Any) -> list[tuple[int, Any]]:
        """Return the first items of a query with their ranks; none without a list."""
        row = self._row.get(query, self._row.get(str(query)))
        if row is None:
            return []
        part = slice(int(self.starts[row]), int(self.starts[row + 1]))
        items = self.items[part]
        if self.ranks is None:
            return list(enumerate(items, 1))
        return list(zip(self.ranks[part].tolist(), items, strict=True))


def first_of(
    source: Source, rule: Convention, depth: int, floor: float | None = None
) -> First:
    """Return the first items of every list of a run.

    Args:
        source: the run, which was joined with judgements before, and so is sound.
        rule: the convention that decides their order.
        depth: how many of each list.
        floor: the score at or under which an item does not count, if there is one.
    """
    if isinstance(source, Dense):
        return _of_matrix(source, rule, depth, floor)
    lists = lists_of(source, rule)
    if lists.ranks is not None:
        items, starts, ranks = lists.first(depth)
        return First(lists.queries, starts, items, ranks)
    length = np.minimum(np.diff(lists.starts), depth)
    if floor is not None and lists.scores is not None:
        number = np.repeat(np.arange(len(length)), np.diff(lists.starts))
        above = np.bincount(number[lists.scores > floor], minlength=len(length))
        length = np.minimum(length, above)
    at, _ = expand(lists.starts[:-1], length)
    at = at if lists.order is None else lists.order[at]
    items = lists.ids.series.gather(at)
    return First(lists.queries, starts_of(length), items)


def _of_matrix(run: Dense, rule: Convention, depth: int, floor: float | None) -> First:
    masked = dense.smallest_score(run, run.matrix) == -np.inf
    scores = rounded(run.matrix, rule.score_bits)
    order = dense.tie_order(run, rule.tie)
    row, column, rank, _, _ = dense.top(scores, order, depth, masked=masked)
    inside = rank <= depth
    if floor is not None:
        inside &= scores[row, column] > floor
    row, column = row[inside], column[inside]
    starts = starts_of(np.bincount(row, minlength=len(scores)))
    return First(run.queries, starts, run.items.gather(column))
