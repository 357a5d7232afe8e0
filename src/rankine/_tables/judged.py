"""Judged: the joined table on which every ranking metric is a function."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, get_args

import numpy as np

from rankine._tables.pool import Pool
from rankine._tables.segments import position, runs, starts_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rankine._base.arrays import Bools, Floats, Ints


_SPARSE = 4
"""How many kinds of judged items there may be for each of them, to count them all."""


class Hits(NamedTuple):
    """The relevant rows of a table.

    Attributes:
        row: where they are in the table.
        query: their query numbers.
        rank: their ranks, ascending within a query.
        nth: 1 for a query's first hit, 2 for the second, ...
        score: their scores.
    """

    row: Ints
    query: Ints
    rank: Ints
    nth: Ints
    score: Floats


@dataclass(frozen=True, slots=True, eq=False)
class Judged:
    """The retrieved items that are judged, and what metrics need to know of the rest.

    Rows are grouped by query and sorted by rank. Unjudged items have no row: they only
    show in the ranks that they occupy and in `n_retrieved`.

    Attributes:
        query: row -> query number.
        rank: 1-based place in the list, by the convention's tie rule.
        grade: the judged grade; a negative one means "in the pool, but not judged".
        above: how many items of the list have a larger score.
        tied: how many items of the list have the same score, this one included.
        score: the score, nan if the input has none.
        n_retrieved: per query, the length of the list.
        in_run: per query, whether the run has it.
        pool: per query, the judged grades.
        scores: the scores of all retrieved items, when a metric needs them.
        score_query: the query number of each of `scores`.
        keep_negative: whether negative grades count as negative gains.
        pair: per row, the number of its judgement, -1 if it stands for any of several;
            None if unknown.
    """

    query: Ints
    rank: Ints
    grade: Floats
    above: Ints
    tied: Ints
    score: Floats
    n_retrieved: Ints
    in_run: Bools
    pool: Pool
    scores: Floats | None = None
    score_query: Ints | None = None
    keep_negative: bool = False
    pair: Ints | None = None
    memo: dict[Any, Any] = field(default_factory=dict, repr=False)

    @staticmethod
    def empty() -> Judged:
        """Return a table without queries, on which parameters are checked."""
        return _EMPTY

    @staticmethod
    def concatenated(tables: Sequence[Judged]) -> Judged:
        """Return one table of the queries of several, which are all different."""
        if len(tables) == 1:
            return tables[0]
        before = np.cumsum([0, *(table.n_queries for table in tables)])[:-1].tolist()

        def moved(name: str) -> Ints:
            pairs = zip(tables, before, strict=True)
            return np.concatenate([getattr(table, name) + n for table, n in pairs])

        def listed(name: str) -> Any:
            return np.concatenate([getattr(table, name) for table in tables])

        grades = np.concatenate([table.pool.grade for table in tables])
        counts = np.concatenate([np.diff(table.pool.starts) for table in tables])
        scored = all(table.scores is not None for table in tables)
        return Judged(
            query=moved("query"),
            **{name: listed(name) for name in _COLUMNS},
            pool=Pool(starts_of(counts), grades),
            scores=listed("scores") if scored else None,
            score_query=moved("score_query") if scored else None,
            keep_negative=tables[0].keep_negative,
        )

    @property
    def n_queries(self) -> int:
        """How many queries there are."""
        return self.pool.n_queries

    def per_query(self, query: Ints, values: Floats | None = None) -> Floats:
        """Sum values, or count rows, by query number."""
        summed = np.bincount(query, values, self.pool.n_queries)
        return summed.astype(np.float64, copy=False)

    def n_relevant(self, rel: float) -> Floats:
        """Return R per query: how many judged items have at least this grade."""
        return self.pool.count(rel)

    def hits(self, rel: float, ties: str | None = None) -> Hits:
        """Return the relevant rows, in the order that `ties` asks for."""
        key = ("hits", rel, ties)
        hits: Hits | None = self.memo.get(key)
        if hits is None:
            table = self.reordered(ties, self.grade >= rel) if ties else self
            row = (table.grade >= rel).nonzero()[0]
            query = table.query[row]
            alone = self.n_queries == 1
            nth = np.arange(1, len(row) + 1) if alone else position(query) + 1
            hits = Hits(row, query, table.rank[row], nth, table.score[row])
            self.memo[key] = hits
        return hits

    def reordered(self, ties: str, by: Floats | Bools) -> Judged:
        """Return the table with tied items in the best or the worst order.

        The best order puts the largest `by` first, the worst puts it last; items that
        are not judged count as 0.
        """
        value = np.asarray(by, dtype=np.float64)
        order = np.lexsort((-value, self.above, self.query))
        _, block = runs(self.query[order], self.above[order])
        place = position(block)
        above, tied = self.above[order], self.tied[order]
        from_top = above + 1 + place
        from_end = above + tied - place
        # Unjudged items stand between gains and losses.
        behind = np.bincount(block)[block] - 1 - place
        loss = value[order] < 0
        if ties == "best":
            rank = np.where(loss, above + tied - behind, from_top)
        else:
            rank = np.where(loss, above + 1 + behind, from_end)
        again = np.lexsort((rank, self.query[order]))
        return replace(self.take(order[again]), rank=rank[again])

    def take(self, rows: Ints | Bools) -> Judged:
        """Return the table with some of its rows, in the order given."""
        return replace(
            self,
            query=self.query[rows],
            rank=self.rank[rows],
            grade=self.grade[rows],
            above=self.above[rows],
            tied=self.tied[rows],
            score=self.score[rows],
            pair=None if self.pair is None else self.pair[rows],
            memo={},
        )

    def cut(self, k: int) -> Judged:
        """Return the table of the first k items of each list.

        Of a tie across rank k, only the items that stand above it are left.
        """
        left = self.take(self.rank <= k)
        scores, score_query = self.scores, self.score_query
        if scores is not None and score_query is not None:
            order = np.lexsort((-scores, score_query))
            order = order[position(score_query[order]) < k]
            scores, score_query = scores[order], score_query[order]
        return replace(
            left,
            tied=np.minimum(left.above + left.tied, k) - left.above,
            n_retrieved=np.minimum(self.n_retrieved, k),
            scores=scores,
            score_query=score_query,
        )

    def without_unjudged(self) -> Judged:
        """Take unjudged items out of the lists, and rank the rest again."""
        left = self.take(self.grade >= 0)
        rank = position(left.query) + 1
        first, block = runs(left.query, left.above)
        scored = self.scores is not None
        return replace(
            left,
            rank=rank,
            above=(rank[first] - 1)[block],
            tied=np.bincount(block)[block],
            n_retrieved=np.bincount(left.query, minlength=self.n_queries),
            scores=left.score if scored else None,
            score_query=left.query if scored else None,
        )

    def of_queries(self, kept: Bools) -> Judged:
        """Return the table of some queries, which are renumbered.

        The pool has their grades alone; pairs keep the numbers of all judgements.
        """
        number = np.cumsum(kept) - 1
        left = self.take(kept[self.query])
        counts = np.diff(self.pool.starts)[kept]
        scores, score_query = self.scores, self.score_query
        if scores is not None and score_query is not None:
            inside = kept[score_query]
            scores, score_query = scores[inside], number[score_query[inside]]
        return replace(
            left,
            query=number[left.query],
            n_retrieved=self.n_retrieved[kept],
            in_run=self.in_run[kept],
            pool=Pool(starts_of(counts), self.pool.grade[kept[self.pool.query]]),
            scores=scores,
            score_query=score_query,
        )

    def without_items(self, _: int | None = None) -> Bools:
        """Return which queries of the run have an empty list, whatever the cutoff."""
        empty: Bools = self.in_run & (self.n_retrieved == 0)
        return empty

    def length(self, min_score: float | None = None) -> Floats:
        """Return the length of each list, or of its part with at least that score."""
        if min_score is None:
            return self.n_retrieved.astype(np.float64)
        if self.scores is None or self.score_query is None:
            return np.zeros(self.n_queries)
        return self.per_query(self.score_query[self.scores >= min_score])

    def row_starts(self) -> Ints:
        """Return where each query's rows begin."""
        return starts_of(np.bincount(self.query, minlength=self.n_queries))


Ties = Literal["average", "best", "worst"]
SPREAD = frozenset(get_args(Ties))
"""Ways to look at all orders of tied items."""

_COLUMNS = ("rank", "grade", "above", "tied", "score", "n_retrieved", "in_run")
_NO_INTS: Ints = np.zeros(0, dtype=np.int64)
_NO_FLOATS: Floats = np.zeros(0)
_EMPTY = Judged(
    query=_NO_INTS,
    rank=_NO_INTS,
    grade=_NO_FLOATS,
    above=_NO_INTS,
    tied=_NO_INTS,
    score=_NO_FLOATS,
    n_retrieved=_NO_INTS,
    in_run=np.zeros(0, dtype=np.bool_),
    pool=Pool(np.zeros(1, dtype=np.int64), _NO_FLOATS),
    scores=_NO_FLOATS,
    score_query=_NO_INTS,
)


def with_the_rest(table: Judged) -> Judged:
    """Put the judged items that were not retrieved at the end of the lists, tied."""
    # Which items these are does not matter, only how many of each grade.
    pool = table.pool
    levels = np.unique(np.concatenate((pool.grade, table.grade)))
    wanted = pool.query * len(levels) + levels.searchsorted(pool.grade)
    retrieved = table.query * len(levels) + levels.searchsorted(table.grade)
    n_kinds = table.n_queries * len(levels)
    if n_kinds > _SPARSE * len(wanted):
        kinds, number = np.unique(
            np.concatenate((wanted, retrieved)), return_inverse=True
        )
        wanted, retrieved = number[: len(wanted)], number[len(wanted) :]
    else:
        kinds = np.arange(n_kinds)
    left = np.bincount(wanted, minlength=len(kinds))
    left -= np.bincount(retrieved, minlength=len(kinds))
    kind = np.repeat(kinds, np.maximum(left, 0))
    more, level = np.divmod(kind, len(levels))
    tied = np.bincount(more, minlength=table.n_queries)
    above = table.n_retrieved[more]
    nothing = np.full(len(more), -np.inf)
    rest = {
        "query": more,
        "rank": above + position(more) + 1,
        "grade": levels[level],
        "above": above,
        "tied": tied[more],
        "score": nothing,
        "pair": None if table.pair is None else np.full(len(more), -1),
        "scores": None if table.scores is None else nothing,
        "score_query": None if table.score_query is None else more,
    }
    longer: dict[str, Any] = {
        name: None if values is None else np.concatenate((getattr(table, name), values))
        for name, values in rest.items()
    }
    table = replace(table, n_retrieved=table.n_retrieved + tied, **longer)
    return table.take(np.lexsort((table.rank, table.query)))
