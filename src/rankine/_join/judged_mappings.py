"""Joining a run that is a mapping with judgements that are a mapping.

The few judged items are looked up in the run; no frame of ids is ever built.
"""

from __future__ import annotations

import sys
from collections.abc import Hashable, Mapping, Sequence
from itertools import chain, compress, repeat
from operator import gt
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from rankine._base.text import KEEP_BEST, count
from rankine._io.mappings import (
    NOT_PACKED,
    check_queries,
    is_missing,
    listed,
    packed,
    refuse_missing,
    refuse_number,
)
from rankine._join.tie_rule import before
from rankine._tables.segments import (
    count_above,
    expand,
    n_ties,
    position,
    rounded,
    sort_descending,
    starts_of,
    steps_of,
)
from rankine.errors import DataError, DuplicateItemError, FormatError

if TYPE_CHECKING:
    from rankine._base.arrays import Floats, Ints
    from rankine._conventions.convention import Convention
    from rankine._tables.pool import Pool


_NAN = repeat(float("nan"))
_COUNT = range(sys.maxsize)
_FEW = 1 << 14
"""Scores that are taken at once."""


class Probed:
    """The judged rows of a run, found by look-up.

    Attributes:
        query, rank, grade, above, tied, score, pair: the columns of `Judged`.
        length: per judged query, the length of its list.
        present: per judged query, whether the run has it.
        extra: ids of the run's queries that are not judged.
    """

    __slots__ = (
        "_raw", "_values", "above", "extra", "grade", "length", "pair", "present",
        "query", "rank", "score", "tied",
    )  # fmt: skip

    def __init__(
        self,
        truth: Mapping[Any, Mapping[Any, float]],
        pool: Pool,
        run: Mapping[Any, Any],
        rule: Convention,
        name: str = "run",
    ) -> None:
        """Look up the judged items of each query in its list."""
        lists = [run.get(query) for query in truth]
        present = [entry is not None for entry in lists]
        if len(run) > sum(present) and any(entry is None for entry in run.values()):
            _refuse_none(run)
        check_queries(run, "run")
        scored: list[Any] = [_EMPTY if entry is None else entry for entry in lists]
        if any(type(entry) is not dict for entry in scored):
            scored = [
                by_place(query, entry)
                for query, entry in zip(truth, scored, strict=True)
            ]
        for query, entry in zip(truth, scored, strict=True):
            if None in entry or "" in entry or type(next(iter(entry), "")) is float:
                refuse_missing(entry, f"an item in the list of query {query!r}")
        n = len(scored)
        self.length: Ints = np.fromiter(map(len, scored), dtype=np.int64, count=n)
        self.present = np.array(present, dtype=np.bool_)
        self.extra = (
            []
            if len(run) == sum(present)
            else [query for query in run if query not in truth]
        )
        self.query: Ints
        self.pair: Ints
        self.rank: Ints
        self.above: Ints
        self.tied: Ints
        self.grade: Floats
        self.score: Floats
        self._values: Floats | None = None
        self._raw: Floats | None = None
        if rule.order != "given":
            self._take_scores(truth, pool, scored, rule, name)
        elif not self._take_falling(truth, pool, scored, rule, name):
            self._take_places(truth, pool, scored)

    def _take_falling(
        self,
        truth: Mapping[Any, Mapping[Any, float]],
        pool: Pool,
        scored: Sequence[Mapping[Any, float]],
        rule: Convention,
        name: str,
    ) -> bool:
        """Rank by scores that fall along every list, and say whether they do.

        Then places are found as ranks, by looking at the judged items alone.
        """
        if not _falls(next(filter(None, scored), _EMPTY)):
            return False
        try:
            self._take_scores(truth, pool, scored, rule.replace(score_bits=64), name)
            falls = self.is_strict()
        except DataError:  # scores that are no numbers, where the order is what counts
            falls = False
        self._values = self._raw = None
        if falls:
            self.score = -self.above.astype(np.float64)
        return falls

    def _take_places(
        self,
        truth: Mapping[Any, Mapping[Any, float]],
        pool: Pool,
        scored: Sequence[Mapping[Any, float]],
    ) -> None:
        """Rank by the places in the lists, whatever their scores."""
        places: list[bytes] = []
        pairs: list[int] = []
        for judged, entry, begin in zip(
            truth.values(), scored, pool.starts.tolist(), strict=False
        ):
            inside = bytes(map(judged.__contains__, entry))
            places.append(inside)
            number = dict(zip(judged, range(begin, begin + len(judged)), strict=True))
            pairs += map(number.__getitem__, compress(entry, inside))
        starts = starts_of(self.length)
        row = np.frombuffer(b"".join(places), dtype=np.bool_).nonzero()[0]
        self.query = starts.searchsorted(row, "right") - 1
        self.above = row - starts[self.query]
        self.rank = self.above + 1
        self.pair = np.array(pairs, dtype=np.int64)
        self.grade = pool.grade[self.pair]
        self.tied = np.ones(len(row), dtype=np.int64)
        self.score = -self.above.astype(np.float64)

    def _take_scores(
        self,
        truth: Mapping[Any, Mapping[Any, float]],
        pool: Pool,
        scored: Sequence[Mapping[Any, float]],
        rule: Convention,
        name: str,
    ) -> None:
        """Rank by the scores, and what ties by the convention's rule."""
        starts = starts_of(self.length)
        values, score = _look_up(truth, scored, starts, name)
        if np.isnan(values).any():
            raise _not_a_number(truth, scored)
        self._raw = values
        self._values = values = rounded(values, rule.score_bits)
        score = rounded(score, rule.score_bits)
        pair = (score == score).nonzero()[0]  # noqa: PLR0124 - false for nan only
        score, query = score[pair], pool.query[pair]
        above, tied = count_above(values, starts, query, score)
        rank = above + 1
        ties = np.flatnonzero(tied > 1)
        if len(ties):
            rank[ties] += self._ahead(truth, pool, scored, pair[ties], rule.tie)
        order = (query * (rank.max(initial=0) + 1) + rank).argsort(kind="stable")
        self.query = query[order]
        self.rank = rank[order]
        self.pair = pair[order]
        self.grade = pool.grade[self.pair]
        self.above = above[order]
        self.tied = tied[order]
        self.score = score[order]

    def _ahead(
        self,
        truth: Mapping[Any, Mapping[Any, float]],
        pool: Pool,
        scored: Sequence[Mapping[Any, float]],
        pair: Ints,
        tie: str,
    ) -> Ints:
        """Count, for judged items, those of the same score that come before."""
        query = pool.query[pair]
        touched = np.unique(query)
        lists = [scored[at] for at in touched.tolist()]
        shown = list(chain.from_iterable(lists))
        length = self.length[touched]
        rows, _ = expand(starts_of(self.length)[touched], length)
        starts = starts_of(length)
        group = touched.searchsorted(query)
        queries = list(truth)
        judged = [list(truth[queries[at]]) for at in touched.tolist()]
        places = [dict(zip(entry, _COUNT, strict=False)) for entry in lists]
        number = (pair - pool.starts[query]).tolist()
        own = [
            places[at][judged[at][which]]
            for at, which in zip(group.tolist(), number, strict=True)
        ]

        def ids(chosen: Ints) -> pl.Series:
            text = [str(shown[at]) for at in chosen.tolist()]
            return pl.Series(text, dtype=pl.String)

        row = starts[group] + np.array(own, dtype=np.int64)
        return before(ids, self.scores[rows], starts, row, group, tie)

    def is_strict(self) -> bool:
        """Say whether the scores of every list fall, without a tie."""
        falls = self.scores[1:] < self.scores[:-1]
        ends = np.cumsum(self.length)[:-1]
        inner = ends[(ends > 0) & (ends < len(self.scores))] - 1
        falls[inner] = True
        return bool(falls.all())

    def steps(self) -> tuple[int, bool]:
        """Count the scores above the one before them, and say whether one is below."""
        if self._raw is None:
            return 0, False
        return steps_of(self._raw, starts_of(self.length))

    def is_exact(self) -> bool:
        """Say whether scores that are equal as compared are equal as given."""
        if self._raw is None:
            return True
        starts = starts_of(self.length)
        raw = sort_descending(self._raw, starts)
        return n_ties(raw) == n_ties(sort_descending(self.scores, starts))

    @property
    def scores(self) -> Floats:
        """The scores of all retrieved items; in the order given, minus the places."""
        if self._values is None:
            self._values = -position(self.score_query).astype(np.float64)
        return self._values

    @property
    def score_query(self) -> Ints:
        """The query number of each score."""
        return np.repeat(np.arange(len(self.length), dtype=np.int64), self.length)


def types_differ(truth: Mapping[Any, Any], run: Mapping[Any, Any]) -> bool:
    """Say whether one side has text ids where the other has numbers."""

    def kinds(data: Mapping[Any, Any]) -> tuple[bool | None, bool | None]:
        query = next(iter(data), None)
        lists = (entry for entry in data.values() if isinstance(entry, (Mapping, list)))
        item = next((one for entry in lists for one in entry), None)
        return tuple(
            None if one is None else isinstance(one, str) for one in (query, item)
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
        return False  # no numbers


def _refuse_none(run: Mapping[Any, Any]) -> None:
    query = next(query for query, entry in run.items() if entry is None)
    msg = (
        f"the list of query {query!r} is None; an empty list or dict says that "
        "nothing was retrieved"
    )
    raise DataError(msg)


def by_place(query: Any, entry: Any) -> dict[Any, float]:
    """Turn a list of items into {item: minus its place}; a dict stays as it is."""
    if isinstance(entry, Mapping):
        return dict(entry)
    places: dict[Any, float] = {}
    for place, item in enumerate(listed(query, entry)):
        if not isinstance(item, Hashable):
            msg = f"item {place} in the list of query {query!r} is no id: {item!r}"
            raise FormatError(msg)
        if is_missing(item) or (isinstance(item, str) and not item):
            msg = f"item {place} in the list of query {query!r} is missing: {item!r}"
            raise DataError(msg)
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
    scored: Sequence[Mapping[Any, float]],
    starts: Ints,
    name: str,
) -> tuple[Floats, Floats]:
    """Return all scores, and the scores of the judged items, nan if not retrieved."""
    found: list[Any] = []
    try:
        if starts[-1] <= _FEW:
            for judged, entry in zip(truth.values(), scored, strict=True):
                found.extend(map(entry.get, judged, _NAN))
            values = chain.from_iterable([entry.values() for entry in scored])
            return packed([*values]), packed(found)
        scores = np.empty(int(starts[-1]))
        # One query after the other, while its dict is in the cache.
        for judged, entry, begin in zip(
            truth.values(), scored, starts.tolist(), strict=False
        ):
            end = begin + len(entry)
            scores[begin:end] = packed(entry.values())
            found.extend(map(entry.get, judged, _NAN))
        return scores, packed(found)
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
