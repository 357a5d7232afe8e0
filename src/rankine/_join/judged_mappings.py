"""Joining a run that is a mapping with judgements that are a mapping.

The few judged items are looked up in the run; no frame of ids is ever built.
"""

from __future__ import annotations

import sys
from itertools import chain, compress
from operator import eq
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import polars as pl

from rankine._base.arrays import packed
from rankine._base.records import cached_property
from rankine._join.ids import text_order
from rankine._tables.judged import Judged
from rankine._tables.order import before
from rankine._tables.segments import (
    count_above,
    expand,
    position,
    rounded,
    starts_of,
    steps_of,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from rankine._base.arrays import Floats, Ints
    from rankine._io.sources import Lists
    from rankine._tables.order import Order
    from rankine._tables.pool import Pool
    from rankine._tables.segments import Steps


_NAN = float("nan")
_COUNT = range(sys.maxsize)
_AS_GIVEN = 64
"""Bits of scores that are not rounded."""


class Found(NamedTuple):
    """Judged items that were found in lists: columns of `Judged`.

    Attributes:
        scores: those of all items; None if the position is the rank.
    """

    pair: Ints
    query: Ints
    above: Ints
    tied: Ints
    rank: Ints
    score: Floats
    scores: Floats | None


class Probed:
    """The lists of judged queries, in which judged items are looked up.

    Judgements and run were read, and are sound: no list has an item twice, and the ids
    of both sides have the same types.

    Attributes:
        length: per judged query, the length of its list.
        present: per judged query, whether the run has it.
        extra: ids of the run's queries that are not judged.
    """

    def __init__(self, truth: Lists, pool: Pool, run: Lists) -> None:
        """Take the list of each judged query."""
        lists: list[Any] = [*map(run.data.get, truth.data)]
        n = n_present = len(lists)
        self.present = np.empty(n, dtype=np.bool_)
        self.present.fill(True)
        if type(None) in set(map(type, lists)):
            self.present = np.array([entry is not None for entry in lists])
            n_present = int(np.count_nonzero(self.present))
            lists = [_EMPTY if entry is None else entry for entry in lists]
        if len(run.kinds) > 1:  # of items without scores, the place is the score
            lists = [
                dict(zip(entry, range(0, -len(entry), -1), strict=True))
                if type(entry) is list
                else entry
                for entry in lists
            ]
        self.length: Ints = np.fromiter(map(len, lists), dtype=np.int64, count=n)
        self._starts = starts_of(self.length)
        self.extra: list[Any] = []
        if n_present < len(run.data):
            self.extra = [query for query in run.data if query not in truth.data]
        self._truth, self._pool, self._run = truth.data, pool, run
        self._lists = lists
        self._counted: dict[int, tuple[Ints, Ints, Floats, Ints, Ints, Floats]] = {}

    def ranked(self, order: Order) -> Found:
        """Return the judged items with their ranks in an order."""
        scored = dict in self._run.kinds
        if scored and order.by != "given":
            return self._by_scores(order.bits, order.tie)
        if scored and self._steps.strict:  # as positions are ranks, only judged items
            ranked = self._by_scores(_AS_GIVEN, "input")  # need to be looked at
            return ranked._replace(score=-ranked.above.astype(np.float64), scores=None)
        return self._by_places()

    def table(self, ranked: Found, *, keep_scores: bool) -> Judged:
        """Return the joined table."""
        scores = number = None
        if keep_scores:
            number = np.repeat(np.arange(len(self.length), dtype=np.int64), self.length)
            scores = ranked.scores
            if scores is None:
                scores = -position(number).astype(np.float64)
        return Judged.of_pairs(
            self._pool,
            ranked.pair,
            query=ranked.query,
            rank=ranked.rank,
            above=ranked.above,
            tied=ranked.tied,
            score=ranked.score,
            n_retrieved=self.length,
            in_run=self.present,
            scores=scores,
            score_query=number,
        )

    @cached_property
    def _scores(self) -> tuple[Floats, Floats]:
        """All scores, and those of the judged items, nan if not retrieved."""
        found = [
            entry.get(item, _NAN)
            for entry, judged in zip(self._lists, self._truth.values(), strict=True)
            for item in judged
        ]
        return self._of_judged(), packed(found)

    def _of_judged(self) -> Floats:
        """Return the scores of the lists of judged queries, one after the other."""
        run, every = self._run, self._run.numbers
        if len(run.data) == len(self._truth) and all(map(eq, run.data, self._truth)):
            return every
        place = dict(zip(run.data, _COUNT, strict=False))
        numbers = [place[query] for query in self._truth if query in place]
        starts = run.starts.tolist()
        parts = [every[starts[number] : starts[number + 1]] for number in numbers]
        return np.concatenate([np.zeros(0), *parts])

    @cached_property
    def _steps(self) -> Steps:
        return steps_of(self._run.numbers, self._run.starts)

    def steps(self, order: Order) -> Callable[[], tuple[int, bool]]:
        """Return what says how scores rise and fall along all lists of the run."""
        run = self._run
        return lambda: steps_of(rounded(run.numbers, order.bits), run.starts).seen()

    def _by_places(self) -> Found:
        """Rank by the places in the lists, whatever their scores."""
        places: list[bytes] = []
        pairs: list[int] = []
        for judged, entry, begin in zip(
            self._truth.values(), self._lists, self._pool.starts.tolist(), strict=False
        ):
            inside = bytes(map(judged.__contains__, entry))
            places.append(inside)
            number = dict(zip(judged, range(begin, begin + len(judged)), strict=True))
            pairs += map(number.__getitem__, compress(entry, inside))
        row = np.frombuffer(b"".join(places), dtype=np.bool_).nonzero()[0]
        pair = np.array(pairs, dtype=np.int64)
        query = self._pool.query[pair]
        above = row - self._starts[query]
        tied = np.ones(len(row), dtype=np.int64)
        score = -above.astype(np.float64)
        return Found(pair, query, above, tied, above + 1, score, None)

    def _by_scores(self, bits: int, tie: str) -> Found:
        """Rank by the scores, and break ties by a rule."""
        pair, query, score, above, tied, values = self._count(bits)
        rank = above + 1
        ties = (tied > 1).nonzero()[0]
        if len(ties):
            rank[ties] += self._ahead(values, pair[ties], query[ties], tie)
        return Found(pair, query, above, tied, rank, score, values)

    def _count(self, bits: int) -> tuple[Ints, Ints, Floats, Ints, Ints, Floats]:
        """Count the scores above those of judged items, and those equal to them.

        Returns:
            The judged pairs that were found, their queries and scores, the two counts,
            and the scores of all items.
        """
        if bits not in self._counted:
            values, score = self._scores
            if bits != _AS_GIVEN:
                values, score = rounded(values, bits), rounded(score, bits)
            pair = (score == score).nonzero()[0]  # noqa: PLR0124 - false for nan only
            score, query = score[pair], self._pool.query[pair]
            above, tied = count_above(values, self._starts, query, score)
            self._counted[bits] = pair, query, score, above, tied, values
        return self._counted[bits]

    def _ahead(self, values: Floats, pair: Ints, query: Ints, tie: str) -> Ints:
        """Count, for judged items, those of the same score that come before."""
        touched = np.unique(query)
        lists = [self._lists[index] for index in touched.tolist()]
        shown = list(chain.from_iterable(lists))
        length = self.length[touched]
        rows, _ = expand(self._starts[touched], length)
        starts = starts_of(length)
        group = touched.searchsorted(query)
        queries = list(self._truth)
        judged = [list(self._truth[queries[index]]) for index in touched.tolist()]
        places = [dict(zip(entry, _COUNT, strict=False)) for entry in lists]
        number = (pair - self._pool.starts[query]).tolist()
        place = [
            places[index][judged[index][which]]
            for index, which in zip(group.tolist(), number, strict=True)
        ]

        def by_text(chosen: Ints) -> Ints:
            texts = [str(shown[index]) for index in chosen.tolist()]
            return text_order(pl.Series(texts, dtype=pl.String))

        row = starts[group] + np.array(place, dtype=np.int64)
        return before(by_text, values[rows], starts, row, group, tie)


_EMPTY: dict[Any, float] = {}
