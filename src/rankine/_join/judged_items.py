"""Judged items of a run with their ranks: looked for chunk by chunk, and added up.

How they are found depends on the form of a chunk: `judged_rows`, `judged_mappings` and
`dense` each have a way. What they find is the same, `FoundJudged`, and so are the
tables that are made of it.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np

from rankine._join.chunks import MemoryAtEnd
from rankine._join.row_chunks import repeats_left_out
from rankine._tables.joined import joined
from rankine._tables.judged import Judged
from rankine._tables.segments import NO_STEPS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rankine._base.arrays import AnyArray, Floats, Ints
    from rankine._io.sources import Source
    from rankine._join.judgements import GradesByItem, Truth
    from rankine._tables.joined import Aligned, IdSequence
    from rankine._tables.order import Order
    from rankine._tables.pool import Pool

_NO_INTS: Ints = np.zeros(0, dtype=np.int64)
_NO_FLOATS: Floats = np.zeros(0)
_MANY = 1000
"""Rows from which on it pays to see whether they are in order."""
_SCORE = 40
"""Bytes that a score takes when all of them are put together and sorted."""


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

    def moved(self, n_judged: int, by: int) -> JudgedColumns:
        """Return the same with larger numbers of the queries that are not judged."""
        number, owner = (
            np.where(numbers < n_judged, numbers, numbers + by)
            for numbers in (self.number, self.score_query)
        )
        return self._replace(number=number, score_query=owner)

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


@dataclass(eq=False)
class JudgedInOrder:
    """The judged items of some lists, ranked in one order.

    Attributes:
        parts: as they were found.
        n_dropped: how many rows were left out because their items are repeated.
        scored: whether the scores are the user's, and not made from positions.
        unsorted: how many lists are not in the order of their scores, if the order
            given is used.
        steps: how scores rise and fall along the lists; of a mapping, which is one
            chunk, what looks for that when it is asked.
        every: whether all items of the judgements count as found, since they are the
            columns of the run.
    """

    parts: list[JudgedColumns] = field(default_factory=list)
    n_dropped: int = 0
    scored: bool = True
    unsorted: int = 0
    steps: Any = NO_STEPS
    every: bool = False


@dataclass(eq=False)
class FoundJudged:
    """The judged items of some lists of a run; adds up over the chunks of the run.

    Attributes:
        n_judged: how many queries are judged.
        by_order: the judged items, for each order.
        extra: the queries that are not judged, whose numbers follow those of the
            judged ones.
        places: where the lists of these are in the run, chunk by chunk.
        notes: what was changed of ids, to compare them.
    """

    n_judged: int
    by_order: dict[Order, JudgedInOrder]
    extra: list[Any] = field(default_factory=list)
    places: list[AnyArray] = field(default_factory=list)
    notes: dict[str, None] = field(default_factory=dict)

    @property
    def at_end(self) -> MemoryAtEnd:
        """What will take memory at the end."""
        ranked = self.by_order.values()
        n = sum(len(part.scores) for one in ranked for part in one.parts)
        return MemoryAtEnd("the scores of all items", _SCORE * n)

    def __iadd__(self, other: FoundJudged) -> Self:
        """Add what was found in another chunk."""
        by = len(self.extra)
        for order, ours in self.by_order.items():
            theirs = other.by_order[order]
            ours.parts += (part.moved(self.n_judged, by) for part in theirs.parts)
            ours.n_dropped += theirs.n_dropped
            ours.scored &= theirs.scored
            ours.unsorted += theirs.unsorted
            ours.steps += theirs.steps
            ours.every &= theirs.every
        self.extra += other.extra
        self.places += other.places
        self.notes |= other.notes
        return self


class JudgedFinder(ABC):
    """Looks for judged items in the chunks of a run, in the way that fits its form.

    Attributes:
        orders: the orders of items, and whether the scores of all are to be kept.
        ids: the judged queries.
        named: the grades, and whose they are.
        sources: judgements and run, which say what was seen when they were read.
        repeats: whether an item may stand twice in a list.
        unscored: whether what items are ordered by was made from ranks or places.
        deepest: the rank down to which, at least, items are looked for; None for all.
        bytes_at_most: about how many bytes all that can be found takes.
    """

    repeats = False
    unscored = False
    deepest: int | None = None
    bytes_at_most = 0

    def __init__(
        self,
        truth: Truth,
        run: Source,
        orders: Mapping[Order, bool],
        ids: IdSequence,
        named: GradesByItem,
    ) -> None:
        self.orders, self.ids, self.named = orders, ids, named
        self.sources = truth.source, run

    @abstractmethod
    def find(self, chunk: Any) -> FoundJudged:
        """Return the judged items of a chunk."""

    def tables(self, found: FoundJudged) -> dict[Order, Aligned]:
        """Return the joined table of each order, of all that was found in a run."""
        extra, in_order = found.extra, None
        if len(found.places) > 1:
            in_order = np.argsort(np.concatenate(found.places), kind="stable")
            extra = [extra[place] for place in in_order]
        # A run that is read in parts knows its notes only now.
        read = [note for source in self.sources for note in source.notes]
        notes = (*read, *found.notes)
        aligned = {}
        for order, ranked in found.by_order.items():
            columns = JudgedColumns.concatenated(ranked.parts or [JudgedColumns()])
            table, lengths = columns.table(
                self.named.pool, len(extra), keep_scores=self.orders[order]
            )
            n_dropped = ranked.n_dropped
            dropped = (repeats_left_out(n_dropped),) if n_dropped else ()
            aligned[order] = joined(
                table,
                self.ids,
                extra,
                lengths if in_order is None else lengths[in_order],
                (*notes, *dropped),
                repeats=self.repeats,
                scored=order.by == "score" and ranked.scored and not self.unscored,
                unsorted=ranked.unsorted,
                named=self.named,
                deepest=self.deepest,
                steps=ranked.steps,
                found=len(self.named.pool.grade) if ranked.every else None,
            )
        return aligned
