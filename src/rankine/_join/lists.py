"""The lists of a run: all retrieved items, brought into the order of their ranks."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from rankine._base.records import cached_property
from rankine._base.text import Counted
from rankine._conventions.convention import Convention
from rankine._io.repeats import marked
from rankine._io.rows import as_rows, item_ids, query_ids
from rankine._io.sources import Dense
from rankine._io.sources import Lists as Mappings
from rankine._io.text_columns import parts_of
from rankine._join import dense
from rankine._join.ids import item_keys, text_order
from rankine._join.ranks import checked_values, refuse_same_ranks
from rankine._join.row_chunks import (
    RowChunk,
    last_of_repeats,
    n_unsorted,
    refuse_twice,
    repeats_left_out,
    take,
)
from rankine._tables.keys import may_repeat
from rankine._tables.order import Order, sorted_rows
from rankine._tables.segments import (
    NO_STEPS,
    cut_lists,
    expand,
    rounded,
    starts_of,
    steps_of,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence

    from numpy.typing import NDArray

    from rankine._base.arrays import Floats, Ints
    from rankine._io.sources import Source
    from rankine._tables.lists import Top
    from rankine._tables.segments import Steps


_OWN = Convention()


@dataclass(frozen=True, eq=False)
class Ids:
    """The items of a run, in the order in which they came.

    Attributes:
        read: makes a column of them.
        place: says where an item is in its source.
        keys: the keys of all items by the first seed, if they were asked for and no
            list has an item twice; else None.
    """

    read: Callable[[], pl.Series]
    place: Callable[[int], str]
    keys: NDArray[np.uint64] | None = None

    @staticmethod
    def of(items: pl.Series) -> Ids:
        """Take items whose places are the numbers of their rows."""
        return Ids(lambda: items, "row {}".format)

    @cached_property
    def series(self) -> pl.Series:
        """The items."""
        return self.read()


@dataclass(frozen=True, eq=False)
class Lists:
    """The lists of a run, each with its items in the order of their ranks.

    Attributes:
        name: the name of the run.
        notes: what was changed while reading it.
        queries: the id of each list.
        starts: where each list begins.
        ids: the items as they came.
        order: the order of the items, None if they are already in order.
        scores: by rank, None if the order was given.
        untied: whether no two scores of a list are equal.
        scored: whether the scores are the user's own, and not made from ranks.
        ranks: the rank of each item, where they are numbers of a column of which some
            are left out; None where they are 1, 2, 3 and so on.
        steps: how scores rise and fall along the lists, as they came and not by rank.
        lengths: the lengths of the lists before they were cut, None if they were not.
        repeated: how many rows that repeat an item were left out before that.
        unsorted: how many lists are not in the order of their scores, if the order
            given is used.
        unit: what queries are called, empty if nothing says so.
    """

    name: str
    notes: tuple[str, ...]
    queries: pl.Series
    starts: Ints
    ids: Ids
    order: Ints | None
    scores: Floats | None
    untied: bool = True
    scored: bool = True
    ranks: Ints | None = None
    steps: Steps = NO_STEPS
    lengths: Ints | None = None
    repeated: int = 0
    unsorted: int = 0
    unit: str = ""

    @property
    def length(self) -> Ints:
        """How many items each list has, or had before it was cut."""
        return np.diff(self.starts) if self.lengths is None else self.lengths

    @property
    def items(self) -> pl.Series:
        """The items, list by list, best first."""
        items = self.ids.series
        return items if self.order is None else items[self.order]

    def items_of(self, rows: Ints) -> pl.Series:
        """Return the items of some rows."""
        # Not by gather, which waits for the threads that may read the next chunk.
        return self.ids.series[rows if self.order is None else self.order[rows]]

    def text_order(self, rows: Ints) -> Ints:
        """Return, for some rows, numbers in the order of the texts of their items."""
        return text_order(self.items_of(rows))

    def first(self, depth: int | None) -> tuple[pl.Series, Ints, Ints | None]:
        """Return the items down to a rank, where each list begins, and the ranks."""
        rank, longest = self.ranks, int(np.diff(self.starts).max(initial=0))
        if depth is None or (rank is None and longest <= depth):
            return self.items, self.starts, rank
        starts, rows = cut_lists(self.starts, rank, depth)
        return self.items_of(rows), starts, None if rank is None else rank[rows]

    def refuse_twice(self, starts: Ints) -> None:
        """Raise if an item is repeated among the first items of a list.

        Takes where each list begins, if it has no others.
        """
        rows, owner = expand(self.starts[:-1], np.diff(starts))
        if self.order is not None:  # the first in the source, whatever its rank
            rows = self.order[rows]
            rows = rows[np.lexsort((rows, owner))]
        query_of, place = self.queries.__getitem__, self.ids.place
        items = self.ids.series[rows]
        refuse_twice(items, starts, rows, place, query_of, self.name, unit=self.unit)


def lists_of(
    source: Source | RowChunk,
    rule: Convention | None = None,
    depth: int | None = None,
    *,
    keyed: bool = False,
) -> Lists:
    """Bring the rows of a run into the order of queries and ranks.

    Args:
        source: the run, or a chunk of it.
        rule: the convention that says what they are ordered by, and how ties are
            broken; that of rankine if not given.
        depth: how many items of each list will be looked at; None for all. Only rows
            of a matrix are cut there, since they are as long as the catalogue.
        keyed: whether the keys of items are enough.
    """
    rule = rule or _OWN
    if isinstance(source, Dense):
        dense.refuse_other_orders([Order.of(rule)])
        if depth is not None and depth < source.matrix.shape[1]:
            return _of_matrix(source, rule, depth)
        dense.is_masked(source)  # which refuses nan
    if isinstance(source, Mappings) and not source.repeats:
        return _of_mapping(source, rule, keyed=keyed)
    scored = not isinstance(source, Mappings) or dict in source.kinds
    if not isinstance(source, RowChunk):
        source = RowChunk.of(as_rows(source, role="run"))
    chunk = source
    scores = checked_values(chunk, [rule.order]) if scored else None
    if rule.duplicates == "last":
        chunk, scores = _last_only(chunk, scores)
    rows, frame = chunk.rows, chunk.rows.frame
    scores = None if scores is None else chunk.in_order(scores)
    ids = Ids(lambda: frame["item"], rows.place)
    lists = Lists(
        rows.name, rows.notes, chunk.queries, chunk.starts, ids, chunk.order, scores,
        unit=rows.unit,
    )  # fmt: skip
    if rule.order == "given":
        unsorted = n_unsorted(rows, chunk.starts, chunk.order)
        lists = replace(lists, unsorted=unsorted)
    lists = _ranked(replace(lists, scored=not rows.ranked), rule)
    return _with_rank_gaps(chunk, lists, rule) if rule.order == "rank_value" else lists


def without_repeats(
    lists: Lists, top: Top, duplicates: str, notes: list[str], name: str = "the run"
) -> Top:
    """Take care of repeated items: those that are left keep their ranks.

    Args:
        lists: the lists.
        top: their items by number.
        duplicates: what happens to an item that is repeated in a list: ``error``,
            ``count``, or only its first position counts (``set``). If only the last
            counts, the others are already left out.
        notes: the list of notes, to which one on repeated items is added.
        name: what to call the lists.
    """
    again = None
    if duplicates != "count" and may_repeat(top.item.view(np.uint64), top.starts):
        if duplicates == "error":
            lists.refuse_twice(top.starts)
        pairs = pl.DataFrame({"user": top.user, "item": top.item})
        again = marked(pairs, keep="first")
    n_again = lists.repeated + (0 if again is None else int(np.count_nonzero(again)))
    if n_again:
        fate = f" of {name} repeating an item: left out"
        notes.append(Counted("", n_again, "row", fate))
    if again is None:
        return top
    first = ~again
    length = np.bincount(top.user[first], minlength=len(top.length))
    return replace(top, given=top.rank).take(first, starts_of(length))


def _of_matrix(source: Dense, rule: Convention, depth: int) -> Lists:
    """Take the first items of each row of a matrix."""
    order = Order.of(rule)
    row, column, scores, length = dense.first_in_rows(source, order, depth)
    starts = starts_of(np.bincount(row, minlength=len(length)))
    items = source.items.gather(column)
    return Lists(
        source.name,
        source.notes,
        source.queries,
        starts,
        Ids.of(items),
        order=None,
        scores=scores,
        untied=steps_of(scores, starts).strict,
        lengths=length,
    )


def _last_only(
    chunk: RowChunk, scores: Floats | None
) -> tuple[RowChunk, Floats | None]:
    """Leave out the rows whose item is repeated later in the same list."""
    rows, starts = chunk.rows, chunk.starts
    items = chunk.items()
    keys = chunk.in_order(item_keys(rows.frame["item"], 0))
    left = last_of_repeats(items, keys, starts) if may_repeat(keys, starts) else None
    if left is None:
        return chunk, scores
    kept, starts = left
    notes = (*rows.notes, repeats_left_out(len(items) - len(kept)))
    kept = kept if chunk.order is None else chunk.order[kept]
    rows = replace(take(rows, kept), notes=notes)
    scores = None if scores is None else scores[kept]
    return replace(chunk, rows=rows, starts=starts, order=None), scores


def _with_rank_gaps(chunk: RowChunk, lists: Lists, rule: Convention) -> Lists:
    """Use the numbers of a rank column as the ranks, if they have gaps."""
    rows, values = chunk.rows, lists.scores
    if values is None or not rows.ranked:
        return lists
    if not lists.untied:
        if rule.duplicates == "error":  # as an item that is repeated is worse
            lists.refuse_twice(lists.starts)
        query_of, given = chunk.queries.__getitem__, rows.frame["value"].to_numpy()
        given = chunk.in_order(given)
        refuse_same_ranks(rows, given, chunk.starts, chunk.order, query_of)
    ranks = -values.astype(np.int64)
    length = np.diff(lists.starts)
    filled = np.flatnonzero(length)
    last = ranks[lists.starts[1:][filled] - 1]
    return lists if (last == length[filled]).all() else replace(lists, ranks=ranks)


def _of_mapping(source: Mappings, rule: Convention, *, keyed: bool) -> Lists:
    """Take the lists of a mapping, none of which has an item twice."""
    if keyed and source.texts[1]:
        keys = _keys_of(source.entries, int(source.starts[-1]))
        ids = Ids(lambda: item_ids(source), "row {}".format, keys)
    else:
        ids = Ids.of(item_ids(source))
    lists = Lists(
        source.name,
        source.notes,
        query_ids(source),
        source.starts,
        ids,
        None,
        source.numbers if dict in source.kinds else None,
    )
    return _ranked(lists, rule)


def _keys_of(entries: Sequence[Collection[str]], n: int) -> NDArray[np.uint64]:
    """Return the keys of all items."""
    keys = np.empty(n, dtype=np.uint64)

    def keep(part: pl.Series, before: int) -> None:
        keys[before : before + len(part)] = item_keys(part, 0)

    parts_of(entries, keep)
    return keys


def _ranked(lists: Lists, rule: Convention) -> Lists:
    """Sort the items of each list by their scores, unless these already fall."""
    if lists.scores is None or rule.order == "given":
        return replace(lists, scores=None)
    scores, starts = rounded(lists.scores, rule.score_bits), lists.starts
    steps = steps_of(scores, starts)
    if steps.strict:
        return replace(lists, steps=steps)
    again = sorted_rows(lists.text_order, scores, starts, rule.tie)
    scores = scores[again]
    order = again if lists.order is None else lists.order[again]
    untied = steps_of(scores, starts).strict
    steps = steps if lists.scored else NO_STEPS
    return replace(lists, order=order, scores=scores, untied=untied, steps=steps)


@dataclass(frozen=True, eq=False)
class First:
    """The first items of lists.

    Attributes:
        queries: the id of each list.
        starts: where each begins.
        items: the first items of each, best first.
        ranks: the rank of each, None where they are 1, 2, 3 and so on.
    """

    queries: Sequence[Any] | pl.Series
    starts: Ints
    items: Sequence[Any] | pl.Series
    ranks: Ints | None = None

    @cached_property
    def _row(self) -> dict[Any, int]:
        """Where each list is, by the id of its query and by the text of that."""
        ids = list(self.queries)
        texts = {str(query): row for row, query in enumerate(ids)}
        return texts | {query: row for row, query in enumerate(ids)}

    @cached_property
    def _listed(self) -> list[Any]:
        """The items as a list, of which parts are faster to take than of a column."""
        return list(self.items)

    def some(self, queries: Sequence[Any] | pl.Series) -> First:
        """Return the first items of some queries; those without a list have none."""
        number, text = self._row, str
        rows = np.array(
            [number.get(query, number.get(text(query), -1)) for query in queries],
            dtype=np.int64,
        )
        return self.take(rows, queries)

    def take(self, rows: Ints, queries: Sequence[Any] | pl.Series) -> First:
        """Return lists by their numbers, -1 for none, and what to call them."""
        lengths = np.append(np.diff(self.starts), 0)[rows]
        places, _ = expand(self.starts[rows], lengths)
        items = self.items
        return First(
            queries,
            starts_of(lengths),
            items.gather(places)
            if isinstance(items, pl.Series)
            else [items[place] for place in places.tolist()],
            None if self.ranks is None else self.ranks[places],
        )

    def __getitem__(self, number: int) -> list[tuple[int, Any]]:
        """Return the first items of a list with their ranks."""
        part = slice(int(self.starts[number]), int(self.starts[number + 1]))
        items = self._listed[part]
        if self.ranks is None:
            return list(enumerate(items, 1))
        return list(zip(self.ranks[part].tolist(), items, strict=True))


def first_of(
    source: Source | RowChunk, rule: Convention, depth: int, floor: float | None = None
) -> First:
    """Return the first items of every list of a run.

    Args:
        source: the run, or a chunk of it, which is sound.
        rule: the convention that decides their order.
        depth: how many of each list.
        floor: the score at or under which an item does not count, if there is one.
    """
    lists = lists_of(source, rule, depth)
    if lists.ranks is not None:
        items, starts, ranks = lists.first(depth)
        return First(lists.queries, starts, items, ranks)
    starts, rows = _cut(lists.starts, lists.scores, depth, floor)
    return First(lists.queries, starts, lists.items_of(rows))


def _cut(
    starts: Ints, scores: Floats | None, depth: int, floor: float | None
) -> tuple[Ints, Ints]:
    """Return where lists begin that are cut at a depth and a score, and their rows."""
    length = np.diff(starts)
    if floor is not None and scores is not None:
        number = np.repeat(np.arange(len(length)), length)
        length = np.bincount(number[scores > floor], minlength=len(length))
    length = np.minimum(length, depth)
    return starts_of(length), expand(starts[:-1], length)[0]
