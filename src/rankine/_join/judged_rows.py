"""The judged rows of a run, which are looked for chunk by chunk.

The rows of a run are not moved if each list is in one piece, and its ids are never
encoded. A 64-bit key per row finds the few rows that can be judged; only their ids are
compared, and only their ranks are computed, by counting the scores above them.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from rankine._join.ids import differ, item_keys, text_order
from rankine._join.judged_items import (
    FoundJudged,
    JudgedColumns,
    JudgedFinder,
    JudgedInOrder,
)
from rankine._join.ranks import checked_values, refuse_same_ranks
from rankine._join.row_chunks import last_of_repeats, n_unsorted, refuse_twice
from rankine._tables.keys import may_repeat, width_of, with_query
from rankine._tables.order import compare
from rankine._tables.segments import NO_STEPS, expand, position

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    import polars as pl
    from numpy.typing import NDArray

    from rankine._base.arrays import AnyArray, Floats, Ints
    from rankine._io.sources import Rows, Stream
    from rankine._join.judgements import Truth
    from rankine._join.row_chunks import RowChunk
    from rankine._tables.order import Order


_FOUND = 84
"""Bytes of a judged row that was found: 600,000 took 50 MB when they were joined."""


@dataclass(frozen=True, slots=True)
class _Lists:
    """The lists of a chunk that are not empty, with what is compared of their rows.

    They are a chunk's as long as no item is repeated in it: if only the last row of an
    item counts, they have fewer rows, and the chunk still says where each stood.

    Attributes:
        chunk: where they come from.
        queries: the id of each list.
        starts: where each list begins.
        number: the number of its query.
        keys: the keys of the items.
        scores: what they are ordered by, None if they are in order.
        order: the row of each key and score, None if they are in the order of rows.
    """

    chunk: RowChunk
    queries: pl.Series
    starts: Ints
    number: Ints
    keys: NDArray[np.uint64]
    scores: Floats | None
    order: AnyArray | None

    def items(self, rows: Ints) -> pl.Series:
        """Return the items of some rows of the lists."""
        # Not by gather, which takes 0.1 ms for the fewest rows.
        items = self.chunk.rows.frame["item"]
        return items[rows if self.order is None else self.order[rows]]

    def text_order(self, rows: Ints) -> Ints:
        """Return, for some rows, numbers in the order of the texts of their items."""
        return text_order(self.items(rows))


class RowFinder(JudgedFinder):
    """Looks for judged items among the rows of a run."""

    repeats = True

    def __init__(
        self,
        truth: Truth,
        run: Rows | Stream,
        orders: Mapping[Order, bool],
        depth: int | None,
    ) -> None:
        """Say what to look for.

        Args:
            truth: the judgements.
            run: what the chunks come from.
            orders: the orders, and whether the scores of all items are to be kept.
            depth: the rank down to which judged rows are looked for, at least.
        """
        self._truth = judged = truth.judgements
        super().__init__(truth, run, orders, judged.queries, judged.named)
        self.deepest = depth
        # From ranks or positions, not scores of the user's.
        self.unscored = run.ranked or run.placed
        self.bytes_at_most = _FOUND * len(judged.items) * len(orders)
        self._name, self._ranked = run.name, run.ranked

    def find(self, chunk: RowChunk) -> FoundJudged:
        """Return the judged rows of a chunk."""
        found = FoundJudged(
            len(self.ids), {order: JudgedInOrder() for order in self.orders}
        )
        if len(chunk.queries) == 0:
            return found
        chunk = self._typed(chunk, found)
        number = self._truth.number_of(chunk.queries)
        unknown = np.flatnonzero(number < 0)
        if len(unknown):
            number[unknown] = found.n_judged + np.arange(len(unknown))
            found.extra = chunk.queries[unknown].to_list()
            found.places = [chunk.place[unknown]]
        queries, starts = chunk.queries, chunk.starts
        filled = np.diff(starts) > 0
        if not filled.all():
            number, empty = number[filled], number[~filled]
            for ranked in found.by_order.values():
                none = np.zeros_like(empty)
                ranked.parts.append(JudgedColumns(number=empty, length=none))
            if not len(number):
                return found
            queries, starts = queries.filter(filled), starts[np.append(filled, True)]
        keys = item_keys(chunk.rows.frame["item"], self._truth.seed)
        scores = checked_values(chunk, {order.by for order in self.orders})
        scores = None if scores is None else chunk.in_order(scores)
        keys, order = chunk.in_order(keys), chunk.order
        lists = _Lists(chunk, queries, starts, number, keys, scores, order)
        self._match(lists, self.orders, found)
        return found

    def _typed(self, chunk: RowChunk, found: FoundJudged) -> RowChunk:
        """Bring ids to the types that those of the judgements have."""
        rows, queries, truth = chunk.rows, chunk.queries, self._truth
        items = rows.frame["item"]
        if (queries.dtype, items.dtype) == (truth.queries.dtype, truth.items.dtype):
            return chunk
        frame, notes = rows.frame, dict[str, None]()
        if "query" in frame.columns:  # all rows of which a refusal counts
            every, said = truth.as_judged(frame["query"], "query", self._name)
            frame, notes = frame.with_columns(every), dict.fromkeys(said)
        queries, said = truth.as_judged(queries, "query", self._name)
        items, more = truth.as_judged(items, "item", self._name)
        found.notes |= notes | dict.fromkeys(said + more)
        rows = replace(rows, frame=frame.with_columns(items))
        return replace(chunk, rows=rows, queries=queries)

    def _match(
        self, lists: _Lists, orders: Iterable[Order], found: FoundJudged
    ) -> None:
        """Join lists: match their items once, and rank them in each order."""
        starts, number = lists.starts, lists.number
        orders = self._without_repeats(lists, orders, found)
        if not orders:
            return
        compared = compare(lists.scores, starts, orders)
        depth = self.deepest
        if depth is not None:
            depths = [values.reach(depth, starts) for values in compared.values()]
            depth = None if None in depths else max(filter(None, depths))
        row, pair, group = self._judged(lists, depth)
        for order in orders:
            values = compared[order.by, order.bits]
            scores, strict = values.scores, values.steps.strict
            if order.by == "rank_value" and scores is not None and not strict:
                rows, query_of = lists.chunk.rows, lists.queries.__getitem__
                refuse_same_ranks(rows, scores, starts, lists.order, query_of)
            above, tied, rank = values.ranks(
                starts, row, group, order, lists.text_order
            )
            score = -above.astype(np.float64) if scores is None else scores[row]
            length = values.lengths(starts, order)
            part = JudgedColumns(number, length, pair, rank, above, tied, score)
            if self.orders[order]:
                of_row = np.repeat(number, np.diff(starts))
                every = -position(of_row).astype(float) if scores is None else scores
                part = part._replace(scores=every, score_query=of_row)
            ranked = found.by_order[order]
            ranked.parts.append(part)
            ranked.scored = scores is not None
            ranked.steps = NO_STEPS if self._ranked else values.steps
            if order.by == "given":
                rows = lists.chunk.rows
                ranked.unsorted = n_unsorted(rows, starts, lists.order)

    def _without_repeats(
        self, lists: _Lists, orders: Iterable[Order], found: FoundJudged
    ) -> list[Order]:
        """Handle repeated items; return the orders that use the lists as they are.

        If the last row of an item counts, the others are left out, and the rest is
        joined here.
        """
        plain = [order for order in orders if order.duplicates == "count"]
        careful = [order for order in orders if order.duplicates != "count"]
        rows, starts, order = lists.chunk.rows, lists.starts, lists.order
        if not careful or not may_repeat(lists.keys, starts):
            return [*plain, *careful]
        items = rows.frame["item"]
        items = items if order is None else items[order]
        left = last_of_repeats(items, lists.keys, starts)
        if left is None:
            return [*plain, *careful]
        if any(rule.duplicates == "error" for rule in careful):
            query_of = lists.queries.__getitem__
            refuse_twice(
                items, starts, order, rows.place, query_of, rows.name, unit=rows.unit
            )
        kept, starts = left
        for rule in careful:
            found.by_order[rule].n_dropped = len(items) - len(kept)
        shorter = replace(
            lists,
            starts=starts,
            keys=lists.keys[kept],
            scores=None if lists.scores is None else lists.scores[kept],
            order=kept if order is None else order[kept],
        )
        self._match(shorter, careful, found)
        return plain

    def _judged(self, lists: _Lists, depth: int | None) -> tuple[Ints, Ints, Ints]:
        """Return the judged rows, the judged pair of each, and its list.

        With a depth, only the first rows of each list are looked at.
        """
        truth, keys, starts, number = (
            self._truth,
            lists.keys,
            lists.starts,
            lists.number,
        )
        lengths = np.diff(starts)
        if depth is None or int(lengths.max(initial=0)) <= depth:
            row, pair = truth.table.find(with_query(keys, number, lengths))
        else:
            shown = np.minimum(lengths, depth)
            width = width_of(lengths)
            if width:
                top = keys.reshape(-1, width)[:, :depth]
                hit, pair = truth.table.find(with_query(top, number, shown))
                row = hit // depth * width + hit % depth
            else:
                rows, _ = expand(starts[:-1], shown)
                hit, pair = truth.table.find(with_query(keys[rows], number, shown))
                row = rows[hit]
        group = np.searchsorted(starts, row, side="right") - 1
        if not len(row):  # without a judged item, ids may be of two types
            return row, pair, group
        # A key may agree by chance; what it proposes is taken only if both ids agree.
        other = differ(lists.items(row), truth.items[pair]).to_numpy()
        same = ~other & (number[group] == truth.pool.query[pair])
        if same.all():
            return row, pair, group
        return row[same], pair[same], group[same]
