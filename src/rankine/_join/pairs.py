"""Two runs joined: their lists in the order of ranks, on the queries of both."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from rankine._base.forks import need_threads
from rankine._base.text import count
from rankine._join.common import common
from rankine._join.ids import Index, item_keys, not_apart, one_type
from rankine._join.lists import Lists, TextIds, refuse_twice
from rankine._tables.paired import Matched, Side
from rankine._tables.segments import expand, runs, starts_of
from rankine.errors import DataError

if TYPE_CHECKING:
    import polars as pl
    from numpy.typing import NDArray

    from rankine._base.arrays import Ints

_SEEDS = range(1, 20)
_SHOWN = 3


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
    need_threads()
    if first.name == second.name:
        first = replace(first, name=f"the first {first.name}")
        second = replace(second, name=f"the second {second.name}")
    notes = [*first.notes, *second.notes]
    first, second, said = _same_types(first, second)
    there = Index(second.queries).find(first.queries)
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
            refuse_twice(lists)
    raise not_apart()


def _few(ids: pl.Series) -> str:
    return ", ".join(repr(one) for one in ids.head(_SHOWN).to_list())


def _same_types(first: Lists, second: Lists) -> tuple[Lists, Lists, list[str]]:
    """Bring the ids of the second run to the types of the first."""
    notes: list[str] = []
    if first.queries.dtype != second.queries.dtype:
        columns = {first.name: first.queries, second.name: second.queries}
        ids, said = one_type(columns, "query", to=first.name)
        notes += said
        second = replace(second, queries=ids[second.name])
    if _is_text(first) != _is_text(second) or not _is_text(first):
        columns = {first.name: first.ids.series, second.name: second.ids.series}
        ids, said = one_type(columns, "item", to=first.name)
        notes += said
        first, second = (
            replace(lists, ids=lists.ids.with_series(ids[lists.name]))
            for lists in (first, second)
        )
    return first, second, notes


def _is_text(lists: Lists) -> bool:
    """Say whether items are texts, where that can be seen without making a column."""
    return isinstance(lists.ids, TextIds)


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
