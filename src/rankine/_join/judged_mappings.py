"""Joining a run that is a mapping with judgements that are a mapping.

The few judged items are looked up in the run; no frame of ids is ever built.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from itertools import chain, compress
from operator import gt
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import polars as pl

from rankine._base.records import cached_property
from rankine._base.text import KEEP_BEST, count
from rankine._io.mappings import (
    NOT_PACKED,
    listed,
    packed,
    refuse_number,
)
from rankine._join.ids import text_order
from rankine._tables.judged import Judged
from rankine._tables.order import before
from rankine._tables.segments import (
    count_above,
    expand,
    groups_of,
    position,
    rounded,
    starts_of,
    steps_of,
)
from rankine.errors import DataError, DuplicateItemError

if TYPE_CHECKING:
    from rankine._base.arrays import Floats, Ints
    from rankine._tables.order import Order
    from rankine._tables.pool import Pool
    from rankine._tables.segments import Steps


_NAN = float("nan")
_COUNT = range(sys.maxsize)
_FEW = 1 << 14
"""Scores that are taken at once."""
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

    Attributes:
        length: per judged query, the length of its list.
        present: per judged query, whether the run has it.
        extra: ids of the run's queries that are not judged.
    """

    def __init__(
        self,
        truth: Mapping[Any, Mapping[Any, float]],
        pool: Pool,
        run: Mapping[Any, Any],
        name: str = "run",
    ) -> None:
        """Take the list of each judged query, and refuse what is not a list."""
        lists: list[Any] = [*map(run.get, truth)]
        n = n_present = len(lists)
        kinds = set(map(type, lists))
        self.present = np.empty(n, dtype=np.bool_)
        self.present.fill(True)
        if type(None) in kinds:
            self.present = np.array([entry is not None for entry in lists])
            n_present = int(np.count_nonzero(self.present))
            lists = [_EMPTY if entry is None else entry for entry in lists]
        n_extra = len(run) - n_present
        if n_extra and any(entry is None for entry in run.values()):
            _refuse_none(run)
        if kinds - {dict, type(None)}:
            lists = [
                by_place(query, entry)
                for query, entry in zip(truth, lists, strict=True)
            ]
        self.length: Ints = np.fromiter(map(len, lists), dtype=np.int64, count=n)
        self._starts = starts_of(self.length)
        self.extra = [query for query in run if query not in truth] if n_extra else []
        self._truth, self._pool, self._name = truth, pool, name
        self._lists: list[dict[Any, float]] = lists
        self._counted: dict[int, tuple[Ints, Ints, Floats, Ints, Ints, Floats]] = {}

    def ranked(self, order: Order) -> Found:
        """Return the judged items with their ranks in an order."""
        if order.by != "given":
            return self._by_scores(order.bits, order.tie)
        falling = self._by_falling_scores()
        return self._by_places() if falling is None else falling

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
        scores = _look_up(self._truth, self._lists, self._starts, self._name)
        if np.count_nonzero(np.isnan(scores[0])):
            raise _not_a_number(self._truth, self._lists)
        return scores

    @cached_property
    def _steps(self) -> Steps:
        return steps_of(self._scores[0], self._starts)

    def steps(self) -> tuple[int, bool]:
        """Return how often a score is above the one before, and whether one falls."""
        return self._steps.seen()

    def _by_falling_scores(self) -> Found | None:
        """Rank by scores that fall along every list; None if they do not.

        Then positions are ranks, and only the judged items need to be looked at.
        """
        if not _falls(next(filter(None, self._lists), _EMPTY)):
            return None
        try:
            ranked = self._by_scores(_AS_GIVEN, "input")
        except DataError:  # scores that are not numbers, if only the order counts
            return None
        if not self._steps.strict:
            return None
        return ranked._replace(score=-ranked.above.astype(np.float64), scores=None)

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


def types_differ(truth: Mapping[Any, Any], run: Mapping[Any, Any]) -> bool:
    """Say whether one side has text ids where the other has numbers."""

    def kinds(data: Mapping[Any, Any]) -> tuple[bool | None, bool | None]:
        query = next(iter(data), None)
        lists = (entry for entry in data.values() if isinstance(entry, (Mapping, list)))
        item = next((item for entry in lists for item in entry), None)
        return tuple(
            None if value is None else isinstance(value, str) for value in (query, item)
        )  # type: ignore[return-value]

    return any(
        ours is not None and theirs is not None and ours != theirs
        for ours, theirs in zip(kinds(truth), kinds(run), strict=True)
    )


_EMPTY: dict[Any, float] = {}


def _falls(entry: Mapping[Any, Any]) -> bool:
    """Say whether the scores of a list fall."""
    values = [*entry.values()]
    try:
        return all(map(gt, values, values[1:]))
    except (TypeError, ValueError, ArithmeticError):
        return False  # not numbers


def _refuse_none(run: Mapping[Any, Any]) -> None:
    query = next(query for query, entry in run.items() if entry is None)
    msg = (
        f"the list of query {query!r} is None; use an empty list or dict if nothing "
        "was retrieved"
    )
    raise DataError(msg)


def by_place(query: Any, entry: Any) -> dict[Any, float]:
    """Turn a list of items into {item: minus its position}; a dict stays as it is."""
    if isinstance(entry, Mapping):
        return dict(entry)
    places: dict[Any, float] = {}
    for place, item in enumerate(listed(query, entry)):
        if item in places:
            msg = (
                f"item {item!r} appears twice for query {query!r} in the run "
                f"(places {-int(places[item]) + 1} and {place + 1}){KEEP_BEST}"
            )
            raise DuplicateItemError(msg)
        places[item] = -float(place)
    return places


def _look_up(
    truth: Mapping[Any, Mapping[Any, float]],
    scored: Sequence[dict[Any, float]],
    starts: Ints,
    name: str,
) -> tuple[Floats, Floats]:
    """Return all scores, and the scores of the judged items, nan if not retrieved."""
    of_judged: list[Any] = []
    groups = iter(truth.values())
    scores: list[Floats] = []
    try:
        # A few queries after the other: reading all scores of a dict, one after the
        # other, brings it into the cache, where items are then looked up.
        for some in groups_of(starts, _FEW):
            lists = scored[some]
            scores.append(packed([*chain.from_iterable(map(dict.values, lists))]))
            of_judged += [
                entry.get(item, _NAN)
                for entry, judged in zip(lists, groups, strict=False)
                for item in judged
            ]
        every = scores[0] if len(scores) == 1 else np.concatenate(scores)
        return every, packed(of_judged)
    except NOT_PACKED:
        refuse_number(dict(zip(truth, scored, strict=True)), "score", name)
        raise


def _not_a_number(
    truth: Mapping[Any, Any], scored: Sequence[Mapping[Any, float]]
) -> DataError:
    bad = [
        (query, item)
        for query, entry in zip(truth, scored, strict=True)
        for item, value in entry.items()
        if value != value  # noqa: PLR0124 - true for nan only
    ]
    msg = (
        f"the score of item {bad[0][1]!r} for query {bad[0][0]!r} is not a number "
        f"({count(len(bad), 'such score')} in all); a ranking needs numbers that can "
        "be ordered"
    )
    return DataError(msg)
