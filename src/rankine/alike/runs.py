"""Two runs joined: their lists in the order of ranks, on the queries of both."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from rankine.alike.common import common
from rankine.alike.matched import Matched, Side
from rankine.errors import DataError, DuplicateItemError
from rankine.io.mappings import as_rows
from rankine.table.judgements import item_keys, list_starts, numbers
from rankine.table.segments import expand, runs, starts_of
from rankine.words import count

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rankine.arrays import Floats, Ints
    from rankine.io.sources import Rows, Source

_SEEDS = range(1, 20)
_SHOWN = 3


@dataclass(frozen=True, eq=False)
class Lists:
    """The lists of a run, each with its items in the order of their ranks.

    Attributes:
        rows: where they come from.
        queries: the id of each list.
        starts: where each list begins.
        order: the row of each item, None if the rows stand in this order.
        scores: by rank, None if the order was given.
        falls: whether all scores fall, so that nothing is tied.
    """

    rows: Rows
    queries: pl.Series
    starts: Ints
    order: Ints | None
    scores: Floats | None
    falls: bool

    @property
    def items(self) -> pl.Series:
        """The items, list by list, best first."""
        items = self.rows.frame["item"]
        return items if self.order is None else items.gather(self.order)


def lists_of(source: Source) -> Lists:
    """Bring the rows of a run into the order of queries and ranks."""
    rows = as_rows(source, role="run")
    frame = rows.frame
    if frame.height == 0:
        msg = f"{rows.name}: no lists in it"
        raise DataError(msg)
    starts = list_starts(frame["query"])
    queries = frame["query"].gather(starts[:-1])
    order: Ints | None = None
    if queries.n_unique() < len(queries):
        queries = frame["query"].unique(maintain_order=True)
        number = numbers(frame["query"], queries)
        order = np.argsort(number, kind="stable")
        starts = starts_of(np.bincount(number, minlength=len(queries)))
    if "value" not in frame.columns:
        return Lists(rows, queries, starts, order, None, falls=True)
    scores: Floats = frame["value"].to_numpy().astype(np.float64, copy=False)
    _refuse_nan(rows, scores)
    if order is not None:
        scores = scores[order]
    inside = np.ones(max(len(scores) - 1, 0), dtype=np.bool_)
    inside[starts[1:-1] - 1] = False
    if not ((scores[1:] >= scores[:-1]) & inside).any():
        return Lists(rows, queries, starts, order, scores, falls=True)
    number = np.repeat(np.arange(len(queries)), np.diff(starts))
    text = frame["item"].cast(pl.String)
    if order is not None:
        text = text.gather(order)
    again = _by_score(number, scores, text, starts)
    scores = scores[again]
    tied = ((scores[1:] == scores[:-1]) & inside).any()
    order = again if order is None else order[again]
    return Lists(rows, queries, starts, order, scores, falls=not tied)


def _by_score(number: Ints, scores: Floats, text: pl.Series, starts: Ints) -> Ints:
    """Order rows by list and score, equal scores by the text of the id, descending."""
    order = np.lexsort((-scores, number))
    sorted_ = scores[order]
    same = np.zeros(len(scores), dtype=np.bool_)
    same[1:] = sorted_[1:] == sorted_[:-1]
    same[starts[:-1]] = False
    if same.any():
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
            f"{rows.where(at)}: the score of item {rows.frame['item'][at]!r} is not a "
            f"number ({count(int(missing.sum()), 'such score')} in all); a ranking "
            "needs numbers that can be ordered"
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
    notes = [*first.rows.notes, *second.rows.notes]
    first, second, said = _same_types(first, second)
    there = numbers(first.queries, second.queries)
    kept = np.flatnonzero(there >= 0)
    if len(kept) == 0:
        msg = (
            f"the runs have no query in common; {first.rows.name} has "
            f"{_few(first.queries)}, {second.rows.name} has {_few(second.queries)}"
        )
        raise DataError(msg)
    notes += said
    for lists, n in ((first, len(kept)), (second, len(kept))):
        left = len(lists.queries) - n
        if left:
            who = count(left, "query")
            notes.append(f"{who} of {lists.rows.name} not in the other run: left out")
    both = (first, kept), (second, there[kept])
    x, y = (_side(lists, which, scored=scored) for lists, which in both)
    for seed in _SEEDS:
        found = common(x, y, *(_keys(lists, which, seed) for lists, which in both))
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
        ours, theirs = getattr(first, name).dtype, getattr(second, name).dtype
        if ours == theirs:
            continue
        notes.append(f"{name} are {ours} in one run and {theirs} in the other: as text")
        first, second = _as_text(first, name), _as_text(second, name)
    return first, second, notes


def _as_text(lists: Lists, name: str) -> Lists:
    if name == "queries":
        return replace(lists, queries=lists.queries.cast(pl.String))
    frame = lists.rows.frame.with_columns(pl.col("item").cast(pl.String))
    return replace(lists, rows=replace(lists.rows, frame=frame))


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
    if lists.scores is None or (lists.falls and not scored):
        return Side(starts)
    score = lists.scores[rows]
    if lists.falls:
        return Side(starts, score=score)
    number = np.repeat(np.arange(len(kept)), length[kept])
    first, block = runs(number, score)
    size = np.diff(first, append=len(score))
    top = first - starts[number[first]] + 1
    return Side(starts, top[block], (top + size - 1)[block], score)


def _keys(lists: Lists, kept: Ints, seed: int) -> NDArray[np.uint64]:
    """Return the keys of the items of some lists, by rank."""
    keys = item_keys(lists.rows.frame["item"], seed)
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
    places = " and ".join(lists.rows.place(int(row)) for row in sorted(rows))
    msg = (
        f"item {items[at]!r} appears twice for query "
        f"{lists.queries[int(number[at])]!r} in {lists.rows.name} ({places})"
    )
    raise DuplicateItemError(msg)
