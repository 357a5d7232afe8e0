"""Two runs joined: their lists in the order of ranks, on the queries of both.

Items are compared by keys of 64 bits. Two different items of one query have the same
key once in 10^10 comparisons of runs with thousands of queries and items each, so the
ids themselves are not compared.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from rankine._base.blocks import at_once, by_halves
from rankine._base.forks import need_threads
from rankine._base.limits import limits
from rankine._base.text import Counted
from rankine._join.ids import Index, as_first, item_keys, told_apart
from rankine._tables.keys import KeyTable, may_repeat, with_query
from rankine._tables.paired import Matched, Side
from rankine._tables.segments import expand, groups_of, runs, starts_of
from rankine.errors import DataError

if TYPE_CHECKING:
    import polars as pl
    from numpy.typing import NDArray

    from rankine._base.arrays import AnyArray, Ints
    from rankine._join.lists import Lists

_SHOWN = 3
_SPARE = 3
"""Slots per key, as a power of 2: few, as most keys are found."""


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
    second, said = _same_types(first, second)
    there = Index(second.queries).find(first.queries)
    kept = np.flatnonzero(there >= 0)
    if len(kept) == 0:
        msg = (
            f"the runs have no query in common; {first.name} has "
            f"{_few(first.queries)}, {second.name} has {_few(second.queries)}"
        )
        raise DataError(msg)
    notes += said
    for lists in (first, second):
        left = len(lists.queries) - len(kept)
        if left:
            fate = f" of {lists.name} not in the other run: left out"
            notes.append(Counted("", left, "query", fate))
    both = (first, kept), (second, there[kept])
    x, y = (_side(lists, which, scored=scored) for lists, which in both)

    def attempt(seed: int) -> Matched | None:
        works = [partial(_keys, lists, which, seed) for lists, which in both]
        keys = at_once(works, int(x.starts[-1]))
        matched = _matched(x, y, *keys, once=second.ids.keys is not None)
        if matched is None:
            for lists, _ in both:
                lists.refuse_twice(lists.starts)
        return matched

    return Joined(told_apart(attempt), first.queries.gather(kept), tuple(notes))


def _few(ids: pl.Series) -> str:
    return ", ".join(repr(query) for query in ids.head(_SHOWN).to_list())


def _same_types(first: Lists, second: Lists) -> tuple[Lists, tuple[str, ...]]:
    """Bring the ids of the second run to the types of the first."""
    names = first.name, second.name
    queries, notes = as_first(first.queries, second.queries, "query", names)
    second = replace(second, queries=queries)
    # Of texts in mappings, no column is made.
    if first.ids.keys is None or second.ids.keys is None:
        items, said = as_first(first.ids.series, second.ids.series, "item", names)
        ids = replace(second.ids, read=lambda: items, keys=None)
        second, notes = replace(second, ids=ids), (*notes, *said)
    return second, notes


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
    if lists.scores is None or (lists.untied and not scored):
        return Side(starts)
    score = lists.scores[rows]
    if lists.untied:
        return Side(starts, score=score)
    kept_score = score if scored else None
    number = np.repeat(np.arange(len(kept)), length[kept])
    first, block = runs(number, score)
    size = np.diff(first, append=len(score))
    top = first - starts[number[first]] + 1
    return Side(starts, top[block], (top + size - 1)[block], kept_score)


def _keys(lists: Lists, kept: Ints, seed: int) -> NDArray[np.uint64]:
    """Return the keys of the items of some lists, by rank."""
    keys = lists.ids.keys if seed == 0 else None
    if keys is None:
        keys = item_keys(lists.ids.series, seed)
    if lists.order is not None:
        keys = keys[lists.order]
    return keys[_rows(lists, kept)]


def _matched(
    x: Side,
    y: Side,
    x_keys: NDArray[np.uint64],
    y_keys: NDArray[np.uint64],
    *,
    once: bool,
) -> Matched | None:
    """Find the common items of the lists of two rankers.

    Args:
        x: the lists of one.
        y: those of the other.
        x_keys: a key per item of x, list by list.
        y_keys: the same for y.
        once: whether y is known to have no item twice.

    Returns:
        The lists with their common items. None if keys are equal that should not be: an
        item appears twice in a list, or different items have the same key.
    """
    groups = groups_of(x.starts + y.starts, limits().paired_items)
    # No list has more items in common with the other than it has itself.
    room = starts_of(np.minimum(x.length, y.length))
    kind = np.int64 if int(max(x.starts[-1], y.starts[-1])) >> 31 else np.int32
    x_at: AnyArray = np.empty(int(room[-1]), dtype=kind)
    y_at: AnyArray = np.empty_like(x_at)

    def work(some: slice) -> tuple[list[Ints], slice] | None:
        """Match some groups, whose items come one after the other."""
        begin = end = int(room[groups[some.start].start])
        numbers = []
        for queries in groups[some]:
            part = _part(queries, x, y, x_keys, y_keys)
            if part is None:
                return None
            number, of_x, of_y = part
            rows = slice(end, end := end + len(of_x))
            x_at[rows], y_at[rows] = of_x, of_y
            numbers.append(number)
        return numbers, slice(begin, end)

    halves = by_halves(work, len(groups), int(x.starts[-1] + y.starts[-1]))
    matched = [half for half in halves if half is not None]
    if len(matched) < len(halves):
        return None
    number = np.concatenate([part for numbers, _ in matched for part in numbers])
    n = int(number.sum())
    if n < len(x_at):
        x_at, y_at = (
            np.concatenate([every[rows] for _, rows in matched])
            for every in (x_at, y_at)
        )
    # Items of y that have a partner each stand there once.
    if n < int(y.starts[-1]) and not once and may_repeat(y_keys, y.starts):
        return None
    return Matched(x, y, starts_of(number), x_at, y_at)


def _part(
    some: slice,
    x: Side,
    y: Side,
    x_keys: NDArray[np.uint64],
    y_keys: NDArray[np.uint64],
) -> tuple[Ints, Ints, Ints] | None:
    """Match the lists of some queries that follow each other; None if in doubt.

    Returns:
        How many items of each query both have, and their places in x, rising, and in y.
    """
    number = np.arange(some.stop - some.start)
    begin_x, begin_y = x.starts[some], y.starts[some]
    rows_x = slice(int(begin_x[0]), int(x.starts[some.stop]))
    rows_y = slice(int(begin_y[0]), int(y.starts[some.stop]))
    length_x, length_y = x.length[some], y.length[some]
    table = KeyTable(with_query(x_keys[rows_x], number, length_x), spare=_SPARE)
    if not table.unique:
        return None
    place = table.places(with_query(y_keys[rows_y], number, length_y))
    there = np.flatnonzero(place >= 0)
    partner = np.full(rows_x.stop - rows_x.start, -1)
    partner[place[there]] = there
    row_x = np.flatnonzero(partner >= 0)
    row_y = partner[row_x]
    query = np.repeat(number, length_x)[row_x]
    x_at = row_x - (begin_x - begin_x[0])[query]
    y_at = row_y - (begin_y - begin_y[0])[query]
    # A partner in the list of another query would be a key that agrees by chance.
    sure = (
        len(row_x) == len(there)
        and y_at.min(initial=0) >= 0
        and (y_at < length_y[query]).all()
    )
    if not sure:
        return None
    return np.bincount(query, minlength=len(number)), x_at, y_at
