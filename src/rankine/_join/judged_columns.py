"""Judged items of lists with their ranks, however they were found, and their table."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from rankine._tables.judged import Judged

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rankine._base.arrays import Floats, Ints
    from rankine._tables.pool import Pool

_NO_INTS: Ints = np.zeros(0, dtype=np.int64)
_NO_FLOATS: Floats = np.zeros(0)
_MANY = 1000
"""Rows from which on it pays to see whether they are in order."""


class JudgedColumns(NamedTuple):
    """Judged items that were found in some lists, with their ranks in one order.

    Attributes:
        number, length: per list, the number of its query and how many items it has.
            Queries that are not judged have numbers above those of the judged ones.
        pair, rank, above, tied, score: columns of `Judged`.
        scores, score_query: the same for all items, where they are asked for.
        query, grade: more columns of `Judged`; None where the pairs say them.
    """

    number: Ints = _NO_INTS
    length: Ints = _NO_INTS
    pair: Ints = _NO_INTS
    rank: Ints = _NO_INTS
    above: Ints = _NO_INTS
    tied: Ints = _NO_INTS
    score: Floats = _NO_FLOATS
    scores: Floats = _NO_FLOATS
    score_query: Ints = _NO_INTS
    query: Ints | None = None
    grade: Floats | None = None

    @staticmethod
    def concatenated(parts: Sequence[JudgedColumns]) -> JudgedColumns:
        """Return what was found in the lists of several parts."""
        return JudgedColumns(*map(_concatenated, zip(*parts, strict=True)))

    def table(
        self, pool: Pool, n_extra: int, *, keep_scores: bool
    ) -> tuple[Judged, Ints]:
        """Return the joined table of the judged queries, and the lengths of others.

        Args:
            pool: the judgements.
            n_extra: how many queries are not judged.
            keep_scores: whether the table keeps the scores of all items.
        """
        n, number = pool.n_queries, self.number
        lengths = np.zeros(n + n_extra, dtype=np.int64)
        lengths[number] = self.length
        present = np.zeros(n + n_extra, dtype=np.bool_)
        present[number] = True
        query, pair = self.query, self.pair
        if query is None:
            query = pool.query[pair]
        order = _by_query_and_rank(query, self.rank, n)
        pair, grade = pair[order], self.grade
        scores = score_query = None
        if keep_scores:
            of_judged = self.score_query < n
            scores, score_query = self.scores[of_judged], self.score_query[of_judged]
        table = Judged(
            query=query[order],
            rank=self.rank[order],
            grade=pool.grade[pair] if grade is None else grade[order],
            above=self.above[order],
            tied=self.tied[order],
            score=self.score[order],
            n_retrieved=lengths[:n],
            in_run=present[:n],
            pool=pool,
            scores=scores,
            score_query=score_query,
            pair=pair,
        )
        return table, lengths[n:]


def _by_query_and_rank(query: Ints, rank: Ints, n_queries: int) -> Ints | slice:
    """Return the order of rows by query and rank; all of them if they are in order."""
    key = rank
    if n_queries > 1:
        key = query * (int(rank.max(initial=0)) + 1) + rank
    if len(key) > _MANY and (key[1:] >= key[:-1]).all():
        return slice(None)
    # Rows that are nearly in order are brought there soonest by a stable sort.
    return key.argsort(kind="stable")


def _concatenated(columns: Sequence[Any]) -> Any:
    if len(columns) == 1 or columns[0] is None:
        return columns[0]
    return np.concatenate(columns)
