"""Matches: the judged rows of a run, as they are found, for each order asked for."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from rankine._tables.judged import Judged

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rankine._base.arrays import Floats, Ints
    from rankine._tables.order import Order
    from rankine._tables.pool import Pool


@dataclass(slots=True)
class Ranked:
    """The judged rows of a run in one order, part by part.

    Attributes:
        query, pair, above, tied, rank, score: columns of `Judged`.
        scores, score_query: the same for all rows, where they are asked for.
        number, length: the queries that have come, and the lengths of their lists.
        n_dropped: how many rows were left out, as their items come again.
        scored: whether there are scores.
        unsorted: the lists whose order is not that of their scores, where the order
            given is taken.
    """

    query: list[Ints] = field(default_factory=list)
    pair: list[Ints] = field(default_factory=list)
    above: list[Ints] = field(default_factory=list)
    tied: list[Ints] = field(default_factory=list)
    rank: list[Ints] = field(default_factory=list)
    score: list[Floats] = field(default_factory=list)
    scores: list[Floats] = field(default_factory=list)
    score_query: list[Ints] = field(default_factory=list)
    number: list[Ints] = field(default_factory=list)
    length: list[Ints] = field(default_factory=list)
    n_dropped: int = 0
    scored: bool = True
    unsorted: set[int] = field(default_factory=set)

    def lengths(self, n_queries: int) -> Ints:
        """Return the length of the list of each query."""
        lengths = np.zeros(n_queries, dtype=np.int64)
        lengths[_joined(self.number)] = _joined(self.length)
        return lengths

    def table(self, pool: Pool, n_queries: int, *, keep_scores: bool) -> Judged:
        """Return the joined table of the judged queries, by query and rank."""
        n_judged = len(pool.starts) - 1
        query, pair, rank = map(_joined, (self.query, self.pair, self.rank))
        by_rank = by_query_and_rank(query, rank)
        pair = pair[by_rank]
        scores = score_query = None
        if keep_scores:
            score_query = _joined(self.score_query)
            of_judged = score_query < n_judged
            scores = _joined(self.scores, np.float64)[of_judged]
            score_query = score_query[of_judged]
        length = self.lengths(n_queries)[:n_judged]
        return Judged(
            query=query[by_rank],
            rank=rank[by_rank],
            grade=pool.grade[pair],
            above=_joined(self.above)[by_rank],
            tied=_joined(self.tied)[by_rank],
            score=_joined(self.score, np.float64)[by_rank],
            n_retrieved=length,
            in_run=length > 0,
            pool=pool,
            scores=scores,
            score_query=score_query,
            pair=pair,
        )


@dataclass(slots=True)
class Matches:
    """What was found of a run.

    Attributes:
        n_judged: how many queries are judged; further numbers are extra queries.
        by_order: the judged rows, for each order.
        extra: ids of the queries that are not judged, in order of appearance.
        rises: how often a score is above the one before it in its list.
        falls: whether one is below.
    """

    n_judged: int
    by_order: dict[Order, Ranked]
    extra: list[object] = field(default_factory=list)
    rises: int = 0
    falls: bool = False

    @property
    def n_queries(self) -> int:
        """How many queries the judgements and the run have."""
        return self.n_judged + len(self.extra)


def _joined(parts: Sequence[Any], dtype: Any = np.int64) -> Any:
    if len(parts) == 1:
        return parts[0]
    return np.concatenate(parts) if parts else np.zeros(0, dtype=dtype)


def by_query_and_rank(query: Ints, rank: Ints) -> Ints | slice:
    """Return the order of rows by query and rank; nothing to do if they have it."""
    same = query[1:] == query[:-1]
    sorted_ = (query[1:] > query[:-1]) | (same & (rank[1:] >= rank[:-1]))
    if sorted_.all():
        return slice(None)
    # Rows that are nearly in order are brought there soonest by a stable sort.
    key: Ints = query * (int(rank.max(initial=0)) + 1) + rank
    return key.argsort(kind="stable")
