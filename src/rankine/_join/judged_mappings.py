"""Joining a run that is a mapping with judgements that are a mapping.

The few judged items are looked up in the run; no frame of ids is ever built.
"""

from __future__ import annotations

import sys
from functools import partial
from itertools import chain, compress
from operator import eq
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import polars as pl

from rankine._base.arrays import packed
from rankine._base.records import cached_property
from rankine._join.ids import text_order
from rankine._join.judged_items import (
    FoundJudged,
    JudgedColumns,
    JudgedFinder,
    JudgedInOrder,
)
from rankine._tables.order import before
from rankine._tables.segments import (
    NO_STEPS,
    count_above,
    expand,
    position,
    rounded,
    starts_of,
    steps_of,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from rankine._base.arrays import Floats, Ints
    from rankine._io.sources import Lists
    from rankine._join.judgements import Truth
    from rankine._tables.order import Order
    from rankine._tables.pool import Pool
    from rankine._tables.segments import Steps


_NAN = float("nan")
_COUNT = range(sys.maxsize)
_AS_GIVEN = 64
"""Bits of scores that are not rounded."""


class _Counted(NamedTuple):
    """Judged items that were found, and how their scores compare with all others.

    Attributes:
        pair, query, score: the judged pairs, their queries and their scores.
        above, tied: how many scores of the list are larger, and how many are equal.
        values: the scores of all items.
    """

    pair: Ints
    query: Ints
    score: Floats
    above: Ints
    tied: Ints
    values: Floats


def can_look_up(judged: Lists, run: Lists) -> bool:
    """Say whether items are found in lists as they are.

    They are not if one may be repeated, or if ids are texts on one side only.
    """
    return not run.repeats and all(
        None in (ours, theirs) or ours == theirs
        for ours, theirs in zip(judged.texts, run.texts, strict=True)
    )


class MappingFinder(JudgedFinder):
    """Looks judged items up in lists that are mappings."""

    def __init__(
        self, truth: Truth, judged: Lists, run: Lists, orders: Mapping[Order, bool]
    ) -> None:
        super().__init__(truth, run, orders, [*judged.data], truth.named)
        self._judged = judged

    def find(self, chunk: Lists) -> FoundJudged:
        """Return the judged items of the lists of a mapping."""
        lists = _JudgedLists(self._judged, self.named.pool, chunk)
        by_order = {}
        for order, keep_scores in self.orders.items():
            scored = list not in chunk.kinds and order.by != "given"
            by_order[order] = JudgedInOrder(
                [lists.ranked(order, keep_scores=keep_scores)],
                scored=scored,
                steps=lists.steps(order) if scored else NO_STEPS,
            )
        return FoundJudged(len(self.ids), by_order, lists.extra)


class _JudgedLists:
    """The lists of judged queries, in which judged items are looked up.

    Judgements and run were read, and are sound: no list has an item twice, and the ids
    of both sides have the same types.

    Attributes:
        extra: ids of the run's queries that are not judged.
    """

    def __init__(self, truth: Lists, pool: Pool, run: Lists) -> None:
        """Take the list of each judged query."""
        lists: list[Any] = [*map(run.data.get, truth.data)]
        n = n_present = len(lists)
        number: Ints = np.arange(n)
        if type(None) in set(map(type, lists)):
            number = np.array([entry is not None for entry in lists]).nonzero()[0]
            n_present = len(number)
            lists = [_EMPTY if entry is None else entry for entry in lists]
        if len(run.kinds) > 1:  # of items without scores, the place is the score
            lists = [
                dict(zip(entry, range(0, -len(entry), -1), strict=True))
                if type(entry) is list
                else entry
                for entry in lists
            ]
        self._length: Ints = np.fromiter(map(len, lists), dtype=np.int64, count=n)
        self._starts = starts_of(self._length)
        length = self._length if n_present == n else self._length[number]
        self.extra: list[Any] = []
        if n_present < len(run.data):
            self.extra = [query for query in run.data if query not in truth.data]
            more = np.array([len(run.data[query]) for query in self.extra])
            number = np.concatenate((number, n + np.arange(len(more))))
            length = np.concatenate((length, more))
        # Of every list of the run.
        self._number, self._run_length = number, length
        self._truth, self._pool, self._run = truth.data, pool, run
        self._lists = lists
        # Per precision: orders may differ only in what they do with ties.
        self._counted: dict[int, _Counted] = {}

    def ranked(self, order: Order, *, keep_scores: bool) -> JudgedColumns:
        """Return the judged items with their ranks in an order."""
        ranked, values = self._ranked(order)
        if not keep_scores:
            return ranked
        owner = np.arange(len(self._length)).repeat(self._length)
        if values is None:
            values = -position(owner).astype(np.float64)
        return ranked._replace(scores=values, score_query=owner)

    def _ranked(self, order: Order) -> tuple[JudgedColumns, Floats | None]:
        """Return also the scores of all items; None if the position is the rank."""
        scored = dict in self._run.kinds
        if scored and order.by != "given":
            return self._by_scores(order.bits, order.tie)
        if scored and self._steps.strict:  # as positions are ranks, only judged items
            ranked, _ = self._by_scores(_AS_GIVEN, "input")  # need to be looked at
            return ranked._replace(score=-ranked.above.astype(np.float64)), None
        return self._by_places(), None

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

    def steps(self, order: Order) -> Callable[[], Steps]:
        """Return what says how scores rise and fall along all lists of the run."""
        # Results are pickled, and with them what has not been asked for.
        return partial(_steps_of, self._run.numbers, self._run.starts, order.bits)

    def _by_places(self) -> JudgedColumns:
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
        return JudgedColumns(
            self._number,
            self._run_length,
            pair,
            above + 1,
            above,
            tied,
            score,
            query=query,
        )

    def _by_scores(self, bits: int, tie: str) -> tuple[JudgedColumns, Floats]:
        """Rank by the scores, and break ties by a rule."""
        pair, query, score, above, tied, values = self._count(bits)
        rank = above + 1
        ties = (tied > 1).nonzero()[0]
        if len(ties):
            rank[ties] += self._ahead(values, pair[ties], query[ties], tie)
        found = JudgedColumns(
            self._number, self._run_length, pair, rank, above, tied, score, query=query
        )
        return found, values

    def _count(self, bits: int) -> _Counted:
        """Count the scores above those of judged items, and those equal to them."""
        if bits not in self._counted:
            values, score = self._scores
            if bits != _AS_GIVEN:
                values, score = rounded(values, bits), rounded(score, bits)
            pair = (score == score).nonzero()[0]  # noqa: PLR0124 - false for nan only
            score, query = score[pair], self._pool.query[pair]
            above, tied = count_above(values, self._starts, query, score)
            self._counted[bits] = _Counted(pair, query, score, above, tied, values)
        return self._counted[bits]

    def _ahead(self, values: Floats, pair: Ints, query: Ints, tie: str) -> Ints:
        """Count, for judged items, those of the same score that come before."""
        touched = np.unique(query)
        lists = [self._lists[index] for index in touched.tolist()]
        shown = list(chain.from_iterable(lists))
        length = self._length[touched]
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


def _steps_of(scores: Floats, starts: Ints, bits: int) -> Steps:
    return steps_of(rounded(scores, bits), starts)


_EMPTY: dict[Any, float] = {}
