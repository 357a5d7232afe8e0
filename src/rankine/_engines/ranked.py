"""Lists as they are compared, and the judged rows in them, without polars."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from rankine._engines.work import LISTED, ROLES
from rankine._join.aligned import joined
from rankine._join.ranks import check_ranks, compare, refuse_same_ranks
from rankine._tables.judged import Judged
from rankine._tables.segments import position, starts_of

if TYPE_CHECKING:
    from rankine._base.arrays import Bools, Floats, Ints
    from rankine._engines.queries import Queries
    from rankine._join.aligned import Aligned
    from rankine._join.ranks import Order
    from rankine._tables.pool import Pool


@dataclass(frozen=True)
class Rows:
    """Judgements or items of lists, query by query.

    Attributes:
        query, item: the numbers of their ids.
        value: grades or scores, None where the order is the rank.
    """

    query: Ints
    item: Ints
    value: Floats | None

    def take(self, rows: Ints | Bools) -> Rows:
        value = None if self.value is None else self.value[rows]
        return Rows(self.query[rows], self.item[rows], value)


@dataclass(frozen=True)
class _Where:
    """Says in messages where rows are: a cluster has no line numbers."""

    frame: dict[str, _Column]
    name: str = ROLES[LISTED]

    def where(self, _: int) -> str:
        return self.name


@dataclass(frozen=True)
class _Column:
    ids: Any
    number: Ints

    def __getitem__(self, row: int) -> Any:
        return self.ids[int(self.number[row])].as_py()


class Lists:
    """Lists as they are compared, and the judged rows in them."""

    def __init__(
        self, queries: Queries, judged: Rows, listed: Rows, present: Bools
    ) -> None:
        self.queries, self.listed = queries, listed
        number = np.cumsum(present) - 1
        self.n_judged = int(np.count_nonzero(present))
        of_list = listed.query[np.flatnonzero(np.diff(listed.query, prepend=-1))]
        extra = of_list[~present[of_list]]
        number[extra] = self.n_judged + np.arange(len(extra))
        self.extra, self.number = extra, number[of_list]
        counts = np.bincount(listed.query, minlength=len(present))[of_list]
        self.starts = starts_of(counts)
        self.judged_ids = np.flatnonzero(present)
        width = len(queries.items)
        known = judged.query * width + judged.item
        order = np.argsort(known, kind="stable")
        key, known = listed.query * width + listed.item, known[order]
        place = np.minimum(np.searchsorted(known, key), max(len(known) - 1, 0))
        same = known[place] == key if len(known) else np.zeros(len(key), dtype=bool)
        self.row: Ints = np.flatnonzero(same)
        self.pair: Ints = order[place[self.row]] if len(known) else self.row
        self.group: Ints = np.searchsorted(self.starts, self.row, side="right") - 1

    def matched(self, pool: Pool, orders: dict[Order, bool]) -> dict[Order, Aligned]:
        """Return the joined table for each order."""
        owner, work, starts = self.queries, self.queries.work, self.starts
        owner.rank(self.listed)
        by_place = all(order.by == "given" for order in orders)
        score = None if by_place else self.listed.value
        where = _Where(
            {
                "query": _Column(owner.queries, self.listed.query),
                "item": _Column(owner.items, self.listed.item),
            }
        )
        if score is not None and any(order.by == "rank_value" for order in orders):
            check_ranks(where, score)  # type: ignore[arg-type]
        compared = compare(score, starts, orders)
        matched = {}
        for order, keep_scores in orders.items():
            values = compared[order.by, order.bits]
            scores, row = values.scores, self.row
            if order.by == "rank_value" and scores is not None:
                refuse_same_ranks(where, scores, starts, None, self._query)  # type: ignore[arg-type]
            above, tied, rank = values.ranks(
                starts,
                row,
                self.group,
                order,
                owner._text_order,  # noqa: SLF001
            )
            length = np.zeros(self.n_judged + len(self.extra), dtype=np.int64)
            length[self.number] = values.lengths(starts, order)
            every = of_row = None
            if keep_scores:
                of_row = np.repeat(self.number, np.diff(starts))
                every = -position(of_row).astype(float) if scores is None else scores
                inside = of_row < self.n_judged
                every, of_row = every[inside], of_row[inside]
            table = Judged.of_pairs(
                pool,
                self.pair,
                rank=rank,
                above=above,
                tied=tied,
                score=-above.astype(np.float64) if scores is None else scores[row],
                n_retrieved=length[: self.n_judged],
                in_run=length[: self.n_judged] > 0,
                scores=every,
                score_query=of_row,
            )
            ids = owner.ids
            matched[order] = joined(
                table,
                [ids[number] for number in self.judged_ids],
                [ids[number] for number in self.extra],
                length[self.n_judged :],
                (),
                repeats=True,
                scored=order.by == "score" and scores is not None and not work.ranked,
                unsorted=self._n_unsorted() if order.by == "given" else 0,
                steps=values.steps.seen,
            )
        return matched

    def _query(self, group: int) -> object:
        return self.queries.ids[int(self.listed.query[self.starts[group]])]

    def _n_unsorted(self) -> int:
        """Count the lists in which a score rises."""
        score = self.listed.value
        if score is None:
            return 0
        rises = np.flatnonzero(score[1:] > score[:-1]) + 1
        rises = rises[~np.isin(rises, self.starts)]
        return len(np.unique(np.searchsorted(self.starts, rises, side="right")))


def repeats(ordered: Ints) -> Bools:
    """Return which numbers are followed by the same number."""
    same: Bools = ordered[1:] == ordered[:-1]
    return same
