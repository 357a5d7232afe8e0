"""Trails: the judged items of queries with their ranks, and the first of each list."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from rankine._tables.segments import expand, starts_of

if TYPE_CHECKING:
    from rankine._base.arrays import Floats, Ints
    from rankine._join.judgements import GradesByItem
    from rankine._join.lists import First
    from rankine._tables.joined import Aligned, IdSequence


@dataclass(frozen=True, eq=False)
class Trail:
    """The judged items of queries with their ranks, and the first items of the lists.

    Attributes:
        starts: where the judged items of each query begin.
        items: their ids.
        grades: their grades.
        ranks: the rank of each; 0 if it was not found.
        looked: per query, the rank down to which judged items were searched for; 0 for
            the whole list.
        tops: the first items of the list of each query; None if they were not kept, or
            if only judged items can be among them.
        keep: how many first items of each list are kept; 0 if none.
    """

    starts: Ints
    items: list[Any]
    grades: Floats
    ranks: Ints
    looked: Ints
    tops: First | None
    keep: int

    def of(self, queries: Ints) -> Trail:
        """Return the trail of some of the queries."""
        rows, _ = expand(self.starts[queries], np.diff(self.starts)[queries])
        tops = self.tops
        return Trail(
            starts_of(np.diff(self.starts)[queries]),
            [self.items[row] for row in rows.tolist()],
            self.grades[rows],
            self.ranks[rows],
            self.looked[queries],
            None if tops is None else tops.take(queries, queries.tolist()),
            self.keep,
        )


@dataclass(frozen=True, eq=False)
class Stored:
    """The ids of queries, in place of a joined table that was not kept.

    Attributes:
        ids: the ids of the queries.
        trail: their items; None if none were kept.
        table: None, as the table was not kept.
    """

    ids: IdSequence
    trail: Trail | None = None
    table: None = None


def _chosen_ids(ids: IdSequence, queries: Ints) -> list[Any]:
    return [ids[query] for query in queries.tolist()]


def trail_of(
    aligned: Aligned, queries: Ints, only: tuple[float, int] | None = None
) -> Trail:
    """Return the trail of some queries of a table.

    An item that appears twice in a list has its best rank.

    Args:
        aligned: the table.
        queries: their numbers.
        only: the smallest grade and the last rank; an item must reach one of them.
    """
    table = aligned.table
    named: GradesByItem = aligned.named
    if table.pair is None:
        raise TypeError
    origin = queries if aligned.origin is None else aligned.origin[queries]
    judged = np.where(origin < 0, 0, np.diff(named.pool.starts)[origin])
    numbers, owner = expand(named.pool.starts[origin], judged)
    wanted = np.zeros(table.n_queries, dtype=np.bool_)
    wanted[queries] = True
    rows = np.flatnonzero(wanted[table.query] & (table.pair >= 0))[::-1]
    ranks = np.zeros(len(named.pool.grade), dtype=np.int64)
    # Rows of a query rise in rank: in reverse order, the best is written last.
    ranks[named.numbers(table.pair[rows])] = table.rank[rows]
    if only is not None:
        least, last = only
        first = (ranks[numbers] > 0) & (ranks[numbers] <= last)
        inside = first | (named.pool.grade[numbers] >= least)
        numbers = numbers[inside]
        judged = np.bincount(owner[inside], minlength=len(queries))
    looked = np.zeros(len(queries), dtype=np.int64)
    if aligned.deepest is not None:
        looked[aligned.lengths[queries] >= aligned.deepest] = aligned.deepest
    kept: First | None = aligned.kept
    return Trail(
        starts_of(judged),
        named.items_of(numbers),
        named.pool.grade[numbers],
        ranks[numbers],
        looked,
        None if kept is None else kept.some(_chosen_ids(aligned.ids, queries)),
        aligned.keep,
    )
