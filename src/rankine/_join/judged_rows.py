"""Joining a run that comes as a frame, or as a stream of frames, with judgements.

The rows of a run are never moved as long as its lists stand together, and its ids are
never encoded. A 64-bit key per row finds the few rows that can be judged; only their
ids are compared, and only their ranks are computed, by counting the scores above them.
"""

from __future__ import annotations

from contextlib import closing
from dataclasses import replace
from itertools import chain
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from rankine._base.limits import limits
from rankine._base.text import KEEP_BEST, RANK_LAST, count
from rankine._io.repeats import first_repeat
from rankine._io.sources import Rows, Stream
from rankine._join.ids import Index, item_keys
from rankine._join.judgements import Judgements, list_starts
from rankine._join.matches import Matches, Ranked
from rankine._join.pieces import (
    Items,
    RunLists,
    by_list,
    concat,
    cut_out,
    put_together,
    repeats_of,
    take,
    without_query,
)
from rankine._join.rank_values import check_ranks, refuse_same_ranks
from rankine._join.ranks import Compared, compare
from rankine._tables.keys import may_repeat, width_of, with_query
from rankine._tables.segments import expand, position, starts_of, steps_of
from rankine.errors import DataError, DuplicateItemError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from numpy.typing import NDArray

    from rankine._base.arrays import Floats, Ints
    from rankine._tables.order import Order


class _ScatteredError(Exception):
    """A query comes back when others were joined: the run must be joined at once."""


def match(
    truth: Judgements,
    run: Rows | Stream,
    orders: Mapping[Order, bool],
    *,
    depth: int | None,
) -> Matches:
    """Find the judged rows of a run, and their ranks in each of several orders.

    Args:
        truth: the judgements.
        run: the retrieved items, which are read once.
        orders: the orders, and whether the scores of all items are to be kept.
        depth: the rank down to which judged rows are looked for, at least.
    """
    if isinstance(run, Rows):
        return _Matcher(truth, orders, depth).whole(run)
    try:
        with closing(run.open()) as parts:
            return _Matcher(truth, orders, depth).parts(parts)
    except _ScatteredError:
        with closing(run.open()) as parts:
            return _Matcher(truth, orders, depth).scattered(parts)


class _Matcher:
    """Joins parts of a run one after the other."""

    def __init__(
        self, truth: Judgements, orders: Mapping[Order, bool], depth: int | None
    ) -> None:
        self.truth = truth
        self.orders = orders
        self.depth = depth
        self.found = Matches(len(truth.queries), {order: Ranked() for order in orders})
        self.seen = np.zeros(len(truth.queries), dtype=np.bool_)
        self.extra_number: dict[object, int] = {}

    def whole(self, run: Rows) -> Matches:
        """Join a run that is in memory."""
        if run.frame.height == 0:
            return self._finish()
        starts = list_starts(run.frame["query"])
        number = self._number(run.frame["query"][starts[:-1]])
        if self._is_scattered(number):
            return self.scattered(iter([run]))
        self._match(self._lists(run, starts, number), self.orders)
        return self._finish()

    def scattered(self, parts: Iterator[Rows]) -> Matches:
        """Join a run whose queries are mixed, when all of it has been read."""
        kept, pieces = [], []
        for part in parts:
            size = limits().mixed_rows
            for begin in range(0, part.frame.height, size):
                rows = cut_out(part, begin, begin + size)
                number = self._number(rows.frame["query"])
                order, starts, present = by_list(number)
                lists = self._lists(rows, starts, present, order)
                pieces.append((replace(lists, rows=without_query(rows)), order))
            kept.append(without_query(part))
        self._match(put_together(concat(kept), pieces), self.orders)
        return self._finish()

    def parts(self, parts: Iterator[Rows]) -> Matches:
        """Join a run part by part; a query may straddle two parts."""
        held: Rows | None = None
        for part in parts:
            if part.frame.height == 0:
                continue
            rows = part if held is None else concat([held, part])
            starts = list_starts(rows.frame["query"])
            last = int(starts[-2])
            held = cut_out(rows, last, rows.frame.height)
            if last and not self._part(cut_out(rows, 0, last), starts[:-1]):
                return self.scattered(chain([rows], parts))
        if held is not None:
            self._part(held, np.array([0, held.frame.height]))
        return self._finish()

    def _part(self, rows: Rows, starts: Ints) -> bool:
        """Join a part; False if its queries are mixed and it is the first."""
        number = self._number(rows.frame["query"].gather(starts[:-1]))
        if self._is_scattered(number):
            if self.seen.any():
                raise _ScatteredError
            return False
        self._match(self._lists(rows, starts, number), self.orders)
        return True

    def _is_scattered(self, number: Ints) -> bool:
        """Say whether a query has come before, here or in an earlier part."""
        again = np.bincount(number, minlength=1).max() > 1
        return bool(again or self.seen[number].any())

    def _finish(self) -> Matches:
        self.found.extra = list(self.extra_number)
        return self.found

    def _number(self, ids: pl.Series) -> Ints:
        """Number the queries: the judged ones first, then the others."""
        number = self.truth.number_of(ids)
        unknown = np.flatnonzero(number < 0)
        if len(unknown):
            first = self.found.n_judged
            others = ids.gather(unknown)
            distinct = others.unique(maintain_order=True)
            known_as = [
                self.extra_number.setdefault(value, first + len(self.extra_number))
                for value in distinct.to_list()
            ]
            number[unknown] = np.array(known_as)[Index(distinct).find(others)]
            more = first + len(self.extra_number) - len(self.seen)
            if more > 0:
                self.seen = np.concatenate((self.seen, np.zeros(more, np.bool_)))
        return number

    def _id(self, number: int) -> object:
        """Return the id of a query by its number."""
        n = self.found.n_judged
        if number < n:
            return self.truth.queries[int(number)]
        return list(self.extra_number)[int(number) - n]

    def _lists(
        self, rows: Rows, starts: Ints, number: Ints, order: Ints | None = None
    ) -> RunLists:
        """Return lists with what is compared; `order` brings their rows together."""
        keys = item_keys(rows.frame["item"], self.truth.seed)
        scores = self._scores(rows, starts, number)
        if order is not None:
            keys = keys[order]
            scores = None if scores is None else scores[order]
        return RunLists(rows, starts, number, keys, scores, order)

    def _match(self, lists: RunLists, orders: Iterable[Order]) -> None:
        """Join lists: match their items once, and rank them in each order."""
        starts, number = lists.starts, lists.number
        self.seen[number] = True
        orders = self._without_repeats(lists, orders)
        if not orders:
            return
        compared = compare(lists.scores, starts, orders)
        self._note_order(compared, starts)
        depth = self.depth
        if depth is not None:
            depths = [one.reach(depth, starts) for one in compared.values()]
            depth = None if None in depths else max(filter(None, depths))
        items = Items(lists.rows.frame["item"], lists.order)
        row, pair, group = self._judged(lists.keys, items, starts, number, depth)
        unsorted = self._unsorted(lists, orders)
        for order in orders:
            values = compared[order.by, order.bits]
            if order.by == "rank_value":
                self._refuse_same_ranks(lists, values)
            ranked = self.found.by_order[order]
            ranked.number.append(number)
            ranked.length.append(values.lengths(starts, order))
            ranked.scored &= values.scores is not None
            ranked.unsorted |= unsorted if order.by == "given" else set()
            above, tied, rank = values.ranks(starts, row, group, order, items.gather)
            ranked.query.append(number[group])
            ranked.pair.append(pair)
            ranked.above.append(above)
            ranked.tied.append(tied)
            ranked.rank.append(rank)
            ranked.score.append(
                -above.astype(np.float64)
                if values.scores is None
                else values.scores[row]
            )
            if self.orders[order]:
                of_row = np.repeat(number, np.diff(starts))
                ranked.score_query.append(of_row)
                ranked.scores.append(
                    -position(of_row).astype(np.float64)
                    if values.scores is None
                    else values.scores
                )

    def _without_repeats(self, lists: RunLists, orders: Iterable[Order]) -> list[Order]:
        """See to repeated items; return the orders that take the lists as they are.

        Where the last row of an item counts, the others are left out, and what is left
        is joined here.
        """
        plain = [order for order in orders if order.duplicates == "count"]
        careful = [order for order in orders if order.duplicates != "count"]
        rows, starts, number = lists.rows, lists.starts, lists.number
        if not careful or not may_repeat(lists.keys, number, starts):
            return [*plain, *careful]
        if lists.order is not None:
            # In the order of the lists, in which rows still know where they stood.
            taken = take(rows, lists.order)
            self._match(self._lists(taken, starts, number), careful)
            return plain
        lengths = np.diff(starts)
        pairs = with_query(lists.keys, number, lengths)
        doubled = repeats_of(rows.frame["item"], np.repeat(number, lengths), pairs)
        if doubled is None:
            return [*plain, *careful]
        if any(order.duplicates == "error" for order in careful):
            raise self._duplicate(rows, starts, number)
        for order in careful:
            self.found.by_order[order].n_dropped += int(doubled.sum())
        kept = np.flatnonzero(~doubled)
        owner = np.repeat(np.arange(len(lengths)), lengths)[kept]
        left = starts_of(np.bincount(owner, minlength=len(lengths)))
        self._match(self._lists(take(rows, kept), left, number), careful)
        return plain

    def _unsorted(self, lists: RunLists, orders: Iterable[Order]) -> set[int]:
        """Return the lists in which a score rises, where the order given is taken."""
        frame = lists.rows.frame
        asked = any(order.by == "given" for order in orders)
        if not asked or "value" not in frame.columns:
            return set()
        values = frame["value"].to_numpy()
        if lists.order is not None:
            values = values[lists.order]
        rises = np.flatnonzero(values[1:] > values[:-1]) + 1
        rises = rises[~np.isin(rises, lists.starts)]
        lists_of_rises = np.searchsorted(lists.starts, rises, side="right") - 1
        return set(lists.number[np.unique(lists_of_rises)].tolist())

    def _refuse_same_ranks(self, lists: RunLists, values: Compared) -> None:
        """Refuse a rank that is there twice, where ranks are taken as numbers."""
        if values.scores is not None and not values.distinct:
            refuse_same_ranks(
                lists.rows,
                values.scores,
                lists.starts,
                lists.order,
                lambda at: self._id(lists.number[at]),
            )

    def _note_order(
        self, compared: Mapping[tuple[str, int], Compared], starts: Ints
    ) -> None:
        """Remember whether scores rise and fall, to tell distances."""
        values = next(
            (one for one in compared.values() if one.scores is not None), None
        )
        if values is None or values.scores is None or self.found.falls:
            return
        if values.falling and values.distinct:
            # In a list of two or more.
            self.found.falls = len(values.scores) > len(starts) - 1
            return
        rises, self.found.falls = steps_of(values.scores, starts)
        self.found.rises += rises

    def _scores(self, rows: Rows, starts: Ints, number: Ints) -> Floats | None:
        """Return what rows are ordered by, None where that is their place."""
        by = {order.by for order in self.orders}
        if by == {"given"} or "value" not in rows.frame.columns:
            return None
        scores: Floats = rows.frame["value"].to_numpy().astype(np.float64, copy=False)

        def query_of(row: int) -> object:
            if "query" in rows.frame.columns:
                return rows.frame["query"][row]
            return self._id(number[np.searchsorted(starts, row, side="right") - 1])

        missing = np.isnan(scores)
        if missing.any():
            at = int(np.flatnonzero(missing)[0])
            item = rows.frame["item"][at]
            msg = (
                f"{rows.where(at)}: the score of item {item!r} for query "
                f"{query_of(at)!r} is "
                f"not a number ({count(int(missing.sum()), 'such score')} in all); a "
                f"ranking needs numbers that can be ordered{RANK_LAST}"
            )
            raise DataError(msg)
        if "rank_value" in by:
            check_ranks(rows, scores, query_of)
        return scores

    def _judged(
        self,
        keys: NDArray[np.uint64],
        items: Items,
        starts: Ints,
        number: Ints,
        depth: int | None,
    ) -> tuple[Ints, Ints, Ints]:
        """Return the judged rows, the judged pair of each, and its list.

        With a depth, only the first rows of each list are looked at.
        """
        truth = self.truth
        lengths = np.diff(starts)
        if depth is None or int(lengths.max(initial=0)) <= depth:
            row, pair = truth.table.find(with_query(keys, number, lengths))
        else:
            shown = np.minimum(lengths, depth)
            width = width_of(lengths)
            if width:
                top = keys.reshape(-1, width)[:, :depth]
                at, pair = truth.table.find(with_query(top, number, shown))
                row = at // depth * width + at % depth
            else:
                rows, _ = expand(starts[:-1], shown)
                at, pair = truth.table.find(with_query(keys[rows], number, shown))
                row = rows[at]
        group = np.searchsorted(starts, row, side="right") - 1
        # A key may agree by chance; what it proposes is taken only if both ids agree.
        same = items.gather(row).eq_missing(truth.items[pair]).to_numpy()
        same = same & (number[group] == truth.pool.query[pair])
        if same.all():
            return row, pair, group
        return row[same], pair[same], group[same]

    def _duplicate(self, rows: Rows, starts: Ints, number: Ints) -> DuplicateItemError:
        items, lengths = rows.frame["item"], np.diff(starts)
        pairs = pl.DataFrame({"query": np.repeat(number, lengths), "item": items})
        first, again = first_repeat(pairs) or (0, 0)
        msg = (
            f"item {items[first]!r} appears twice for query "
            f"{self._id(pairs['query'][first])!r} in {rows.name} "
            f"({rows.place(first)} and {rows.place(again)}){KEEP_BEST}"
        )
        return DuplicateItemError(msg)
