"""Two runs joined: their lists in the order of ranks, on the queries of both."""

from __future__ import annotations

from collections.abc import Mapping
from copy import copy
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain
from struct import error as StructError
from struct import pack
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from rankine.alike.matched import Matched, Side
from rankine.alike.matching import common
from rankine.errors import DataError, DuplicateItemError
from rankine.io.mappings import as_rows
from rankine.io.sources import Lists as Mappings
from rankine.table.judgements import item_keys, list_starts, numbers
from rankine.table.segments import expand, runs, starts_of
from rankine.words import count

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rankine.arrays import Floats, Ints
    from rankine.io.sources import Rows, Source

_SEEDS = range(1, 20)
_SHOWN = 3


class Ids:
    """The items of a run that came as rows, in their order."""

    hashes: NDArray[np.uint64] | None = None

    def __init__(self, rows: Rows) -> None:
        self._rows = rows

    @cached_property
    def series(self) -> pl.Series:
        """The items."""
        return self._rows.frame["item"]

    def place(self, row: int) -> str:
        """Say where an item stands in its source."""
        return self._rows.place(row)


class TextIds(Ids):
    """The items of a run that came as a mapping, all of them text.

    Attributes:
        hashes: their keys, by Python's own hash, which texts keep with them.
    """

    def __init__(self, data: Mapping[Any, Any], hashes: NDArray[np.uint64]) -> None:
        self._data = data
        self.hashes = hashes

    @cached_property
    def series(self) -> pl.Series:
        """The items."""
        items = chain.from_iterable(self._data.values())
        return pl.Series("item", list(items), dtype=pl.String)

    def place(self, row: int) -> str:
        """Say where an item stands in its source."""
        return f"row {row}"


@dataclass(frozen=True, eq=False)
class Lists:
    """The lists of a run, each with its items in the order of their ranks.

    Attributes:
        name: of the run.
        notes: what was changed while reading it.
        queries: the id of each list.
        starts: where each list begins.
        ids: the items as they came.
        order: which of them comes when, None if they stand in this order.
        scores: by rank, None if the order was given.
        falls: whether all scores fall, so that nothing is tied.
        scored: whether the scores are the user's, and not made from ranks.
    """

    name: str
    notes: tuple[str, ...]
    queries: pl.Series
    starts: Ints
    ids: Ids
    order: Ints | None
    scores: Floats | None
    falls: bool = True
    scored: bool = True

    @property
    def items(self) -> pl.Series:
        """The items, list by list, best first."""
        items = self.ids.series
        return items if self.order is None else items.gather(self.order)


def lists_of(source: Source) -> Lists:
    """Bring the rows of a run into the order of queries and ranks."""
    if isinstance(source, Mappings):
        found = _of_texts(source)
        if found is not None:
            return found
    rows = as_rows(source, role="run")
    frame = rows.frame
    if isinstance(source, Mappings):
        (queries, starts), order = _queries_of(source, frame["query"]), None
    else:
        queries, starts, order = _queries_in(frame["query"])
    if len(queries) == 0:
        msg = f"{rows.name}: no lists in it"
        raise DataError(msg)
    scores: Floats | None = None
    if "value" in frame.columns:
        scores = frame["value"].to_numpy().astype(np.float64, copy=False)
        _refuse_nan(rows, scores)  # before rows are moved, to say where
        scores = scores if order is None else scores[order]
    if isinstance(source, Mappings) and not any(
        isinstance(entry, Mapping) for entry in source.data.values()
    ):
        scores = None
    scored = not rows.ranked
    lists = Lists(
        rows.name, rows.notes, queries, starts, Ids(rows), order, scores, scored=scored
    )
    return _ranked(lists)


def _queries_in(query: pl.Series) -> tuple[pl.Series, Ints, Ints | None]:
    """Return the queries of rows, where each begins, and what brings them together."""
    if len(query) == 0:
        return query, np.zeros(1, dtype=np.int64), None
    starts = list_starts(query)
    queries = query.gather(starts[:-1])
    if queries.n_unique() == len(queries):
        return queries, starts, None
    queries = query.unique(maintain_order=True)
    number = numbers(query, queries)
    starts = starts_of(np.bincount(number, minlength=len(queries)))
    return queries, starts, np.argsort(number, kind="stable")


def _queries_of(source: Mappings, known: pl.Series) -> tuple[pl.Series, Ints]:
    """Return the queries of a mapping, those with empty lists too, and their starts."""
    dtype = known.dtype if len(known) else None
    queries = pl.Series("query", list(source.data), dtype=dtype)
    return queries, starts_of(np.array([len(one) for one in source.data.values()]))


def _of_texts(source: Mappings) -> Lists | None:
    """Read a mapping whose ids are all text, without a frame; None if it is not so."""
    data = source.data
    scored = all(type(entry) is dict for entry in data.values())
    if not data or not (scored or all(type(entry) is list for entry in data.values())):
        return None
    hashes, values = [], []
    try:
        queries = pl.Series("query", list(data), dtype=pl.String)
        for entry in data.values():
            text = "".join(entry)
            if not text.isascii():
                text.encode()  # which half of a character has no text for
            if "" in entry or not (scored or len(set(entry)) == len(entry)):
                return None
            hashes.append(pack(f"{len(entry)}q", *map(hash, entry)))
            if scored:
                values.append(pack(f"{len(entry)}d", *entry.values()))
    except (TypeError, ValueError, OverflowError, StructError):
        return None  # no texts, no numbers: the other reader says what is wrong
    scores = np.frombuffer(b"".join(values)) if scored else None
    if "" in data or (scores is not None and np.isnan(scores).any()):
        return None
    starts = starts_of(np.array([len(entry) for entry in data.values()]))
    ids = TextIds(data, np.frombuffer(b"".join(hashes), dtype=np.uint64))
    name, notes = source.name, source.notes
    lists = Lists(name, notes, queries, starts, ids, None, scores)
    return _ranked(lists)


def _ranked(lists: Lists) -> Lists:
    """Bring the items of each list into the order of their scores."""
    scores, starts = lists.scores, lists.starts
    if scores is None:
        return lists
    inside = np.ones(max(len(scores) - 1, 0), dtype=np.bool_)
    edges = starts[(starts > 0) & (starts < len(scores))]
    inside[edges - 1] = False
    if not ((scores[1:] >= scores[:-1]) & inside).any():
        return lists
    number = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
    again = _by_score(number, scores, lists)
    scores = scores[again]
    tied = bool(((scores[1:] == scores[:-1]) & inside).any())
    order = again if lists.order is None else lists.order[again]
    return replace(lists, order=order, scores=scores, falls=not tied)


def _by_score(number: Ints, scores: Floats, lists: Lists) -> Ints:
    """Order rows by list and score, equal scores by the text of the id, descending."""
    order = np.lexsort((-scores, number))
    sorted_ = scores[order]
    same = np.zeros(len(scores), dtype=np.bool_)
    same[1:] = (sorted_[1:] == sorted_[:-1]) & (number[1:] == number[:-1])
    if same.any():
        text = lists.items.cast(pl.String)
        touched = same.copy()
        touched[:-1] |= same[1:]
        at = np.flatnonzero(touched)
        _, block = runs(number[order[at]], sorted_[at])
        frame = pl.DataFrame({"block": block, "id": text.gather(order[at])})
        again = frame.select(
            pl.arg_sort_by("block", "id", descending=[False, True])
        ).to_series()
        order[at] = order[at][again.to_numpy()]
    return order


def _refuse_nan(rows: Rows, scores: Floats) -> None:
    missing = np.isnan(scores)
    if missing.any():
        at = int(np.flatnonzero(missing)[0])
        msg = (
            f"{rows.where(at)}: the score of item {rows.frame['item'][at]!r} for query "
            f"{rows.frame['query'][at]!r} is not a number "
            f"({count(int(missing.sum()), 'such score')} in all); a ranking needs "
            "numbers that can be ordered"
        )
        raise DataError(msg)


@dataclass(frozen=True, eq=False)
class Joined:
    """Two runs on the queries that both have.

    Attributes:
        matched: their lists.
        ids: the ids of the queries.
        notes: what was left out, and what was changed.
    """

    matched: Matched
    ids: pl.Series
    notes: tuple[str, ...]


def join(first: Lists, second: Lists, *, scored: bool = True) -> Joined:
    """Match two runs on the queries that both have, in the order of the first.

    Scores themselves are kept if asked for.
    """
    if first.name == second.name:
        first = replace(first, name=f"the first {first.name}")
        second = replace(second, name=f"the second {second.name}")
    notes = [*first.notes, *second.notes]
    first, second, said = _same_types(first, second)
    there = numbers(first.queries, second.queries)
    kept = np.flatnonzero(there >= 0)
    if len(kept) == 0:
        msg = (
            f"the runs have no query in common; {first.name} has "
            f"{_few(first.queries)}, {second.name} has {_few(second.queries)}"
        )
        raise DataError(msg)
    notes += said
    for lists, n in ((first, len(kept)), (second, len(kept))):
        left = len(lists.queries) - n
        if left:
            who = count(left, "query")
            notes.append(f"{who} of {lists.name} not in the other run: left out")
    both = (first, kept), (second, there[kept])
    x, y = (_side(lists, which, scored=scored) for lists, which in both)
    hashed = first.ids.hashes is not None and second.ids.hashes is not None
    for seed in (None, *_SEEDS) if hashed else _SEEDS:
        # Ids with hashes of their own were seen to stand once in each list.
        keys = [_keys(lists, which, seed) for lists, which in both]
        found = common(x, y, *keys, once=seed is None)
        if found is not None:
            return Joined(
                Matched(x, y, *found), first.queries.gather(kept), tuple(notes)
            )
        for lists, _ in both:
            _refuse_twice(lists)
    msg = "ids cannot be told apart"  # keys of many seeds that agree by chance
    raise DataError(msg)


def _few(ids: pl.Series) -> str:
    return ", ".join(repr(one) for one in ids.head(_SHOWN).to_list())


def _same_types(first: Lists, second: Lists) -> tuple[Lists, Lists, list[str]]:
    """Compare ids as text where one run has text and the other has numbers."""
    notes = []
    for name in ("queries", "items"):
        ours, theirs = (_type(lists, name) for lists in (first, second))
        if ours == theirs:
            continue
        notes.append(f"{name} are {ours} in one run and {theirs} in the other: as text")
        first, second = _as_text(first, name), _as_text(second, name)
    return first, second, notes


def _type(lists: Lists, name: str) -> Any:
    if name == "queries":
        return lists.queries.dtype
    return pl.String if isinstance(lists.ids, TextIds) else lists.ids.series.dtype


def _as_text(lists: Lists, name: str) -> Lists:
    if name == "queries":
        return replace(lists, queries=lists.queries.cast(pl.String))
    ids = copy(lists.ids)
    ids.series = ids.series.cast(pl.String)
    return replace(lists, ids=ids)


def _rows(lists: Lists, kept: Ints) -> Ints | slice:
    """Return the rows of some lists."""
    length = np.diff(lists.starts)
    if len(kept) == len(length) and (kept == np.arange(len(kept))).all():
        return slice(None)
    return expand(lists.starts[kept], length[kept])[0]


def _side(lists: Lists, kept: Ints, *, scored: bool) -> Side:
    """Return the ranks of some lists."""
    length = np.diff(lists.starts)
    rows = _rows(lists, kept)
    starts = starts_of(length[kept])
    scored = scored and lists.scored
    if lists.scores is None or (lists.falls and not scored):
        return Side(starts)
    score = lists.scores[rows]
    if lists.falls:
        return Side(starts, score=score)
    kept_score = score if scored else None
    number = np.repeat(np.arange(len(kept)), length[kept])
    first, block = runs(number, score)
    size = np.diff(first, append=len(score))
    top = first - starts[number[first]] + 1
    return Side(starts, top[block], (top + size - 1)[block], kept_score)


def _keys(lists: Lists, kept: Ints, seed: int | None) -> NDArray[np.uint64]:
    """Return the keys of the items of some lists, by rank; None for their own."""
    own = lists.ids.hashes
    keys = own if own is not None and seed is None else None
    if keys is None:
        keys = item_keys(lists.ids.series, seed or 0)
    if lists.order is not None:
        keys = keys[lists.order]
    return keys[_rows(lists, kept)]


def _refuse_twice(lists: Lists) -> None:
    """Raise if an item stands twice in a list."""
    number = np.repeat(np.arange(len(lists.queries)), np.diff(lists.starts))
    items = lists.items
    pairs = pl.DataFrame({"number": number, "item": items})
    twice = pairs.is_duplicated().arg_true()
    if len(twice) == 0:
        return
    at = int(twice[0])
    same = (pairs["number"] == number[at]) & (pairs["item"] == items[at])
    rows = same.arg_true().to_numpy()[:2]
    rows = rows if lists.order is None else lists.order[rows]
    places = " and ".join(lists.ids.place(int(row)) for row in sorted(rows))
    msg = (
        f"item {items[at]!r} appears twice for query "
        f"{lists.queries[int(number[at])]!r} in {lists.name} ({places})"
    )
    raise DuplicateItemError(msg)
