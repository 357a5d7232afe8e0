"""Joining a run that comes as a frame, or as a stream of frames, with judgements.

The rows of a run are not moved if each list is in one piece, and its ids are never
encoded. A 64-bit key per row finds the few rows that can be judged; only their ids are
compared, and only their ranks are computed, by counting the scores above them.
"""

from __future__ import annotations

from contextlib import closing
from dataclasses import replace
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from rankine._base.limits import limits
from rankine._io.mappings import concat
from rankine._io.sources import Rows, Stream
from rankine._join.gathered import by_query, refuse_more
from rankine._join.ids import Index, item_keys
from rankine._join.pieces import (
    RunLists,
    by_list,
    cut_out,
    last_of_repeats,
    list_starts,
    put_together,
    refuse_twice,
    without_query,
)
from rankine._join.ranked_rows import Part, Ranked
from rankine._join.ranks import check_ranks, refuse_nan, refuse_same_ranks
from rankine._tables.keys import may_repeat, width_of, with_query
from rankine._tables.order import compare
from rankine._tables.segments import NO_STEPS, expand, position, rounded

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from rankine._base.arrays import Floats, Ints
    from rankine._join.judgements import Judgements
    from rankine._tables.order import Order


class _ScatteredError(Exception):
    """A query returns after others were joined: the run must be joined at once."""


def match(
    truth: Judgements,
    run: Rows | Stream,
    orders: Mapping[Order, bool],
    *,
    depth: int | None,
    keep: int | None = None,
    typed: Callable[[Rows], Rows] = lambda rows: rows,
) -> Matches:
    """Find the judged rows of a run, and their ranks in each of several orders.

    Args:
        truth: the judgements.
        run: the retrieved items, which are read once.
        orders: the orders, and whether the scores of all items are to be kept.
        depth: the rank down to which judged rows are looked for, at least.
        keep: how many first rows of each list to keep, of a run that is read in parts.
        typed: converts the ids of a part to the types of the judgements, if the run
            must not be held.
    """
    matches = Matches(truth, orders, depth)
    if isinstance(run, Rows):
        matches.add_whole(run)
        return matches
    if run.memory is not None:
        return by_query(
            run, partial(_in_lists, truth, orders, depth, typed, run.memory)
        )
    matches.keep = keep
    try:
        with closing(run.open()) as parts:
            matches.add_parts(parts)
    except _ScatteredError:
        matches = Matches(truth, orders, depth)
        matches.keep = keep
        with closing(run.open()) as parts:
            matches.add_scattered(parts)
    return matches


def _in_lists(
    truth: Judgements,
    orders: Mapping[Order, bool],
    depth: int | None,
    typed: Callable[[Rows], Rows],
    memory: int,
    parts: Iterator[Rows],
) -> Matches:
    """Join a run part by part, each with whole lists."""
    matches = Matches(truth, orders, depth)
    for part in parts:
        rows = typed(part)
        starts = list_starts(rows.frame["query"])
        number = matches.number(rows.frame["query"][starts[:-1]])
        if rows.number is not None:
            matches.places.append((number, rows.number[starts[:-1]]))
        matches.match(matches.lists(rows, starts, number), orders)
        if any(orders.values()):
            refuse_more("the scores of all items", memory)
    return matches


class Matches:
    """What was found of a run, whose parts are joined one after the other.

    Attributes:
        by_order: the judged rows, for each order.
        extra: queries that are not judged, in order of appearance, and their numbers,
            which follow those of the judged ones.
        rises: how often a score is above the one before it in its list.
        falls: whether one is below.
        keep: how many first rows of each list to keep; None if none.
        places: numbers of queries, and the first row of each, if the parts of a run
            come in another order than its rows.
    """

    def __init__(
        self, truth: Judgements, orders: Mapping[Order, bool], depth: int | None
    ) -> None:
        self.truth = truth
        self.orders = orders
        self.depth = depth
        self.by_order = {order: Ranked() for order in orders}
        self.extra: dict[object, int] = {}
        self.rises, self.falls = 0, False
        self.places: list[tuple[Ints, Ints]] = []
        self.seen = np.zeros(len(truth.queries), dtype=np.bool_)
        self.keep: int | None = None
        self._kept: list[pl.DataFrame] = []

    def add_whole(self, run: Rows) -> None:
        """Join a run that is in memory."""
        starts = list_starts(run.frame["query"])
        if run.frame.height and not self._part(run, starts):
            self.add_scattered(iter([run]))

    def add_scattered(self, parts: Iterator[Rows]) -> None:
        """Join a run whose queries are mixed, when all of it has been read."""
        kept, pieces = [], []
        for part in parts:
            size = limits().mixed_rows
            for begin in range(0, part.frame.height, size):
                rows = cut_out(part, begin, begin + size)
                number = self.number(rows.frame["query"])
                order, starts, present = by_list(number)
                lists = self.lists(rows, starts, present, order)
                pieces.append((replace(lists, rows=without_query(rows)), order))
            kept.append(without_query(part))
        lists = put_together(concat(kept), pieces)
        self._keep_first(lists)
        self.match(lists, self.orders)

    def add_parts(self, parts: Iterator[Rows]) -> None:
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
                self.add_scattered(chain([rows], parts))
                return
        if held is not None:
            self._part(held, np.array([0, held.frame.height]))

    def _part(self, rows: Rows, starts: Ints) -> bool:
        """Join a part; False if its queries are mixed and it is the first."""
        number = self.number(rows.frame["query"][starts[:-1]])
        if np.bincount(number).max() > 1 or self.seen[number].any():
            # A query has come before, here or in an earlier part.
            if self.seen.any():
                raise _ScatteredError
            return False
        lists = self.lists(rows, starts, number)
        self._keep_first(lists)
        self.match(lists, self.orders)
        return True

    def number(self, ids: pl.Series) -> Ints:
        """Number the queries: the judged ones first, then the others."""
        number = self.truth.number_of(ids)
        unknown = np.flatnonzero(number < 0)
        if len(unknown):
            n_judged, extra = len(self.truth.queries), self.extra
            others = ids.gather(unknown)
            distinct = others.unique(maintain_order=True)
            known_as = [
                extra.setdefault(query, n_judged + len(extra))
                for query in distinct.to_list()
            ]
            number[unknown] = np.array(known_as)[Index(distinct).find(others)]
            more = n_judged + len(extra) - len(self.seen)
            if more > 0:
                self.seen = np.concatenate((self.seen, np.zeros(more, np.bool_)))
        return number

    def _keep_first(self, lists: RunLists) -> None:
        """Keep the rows that can be among the first of each list.

        These are the first rows of a list whose scores fall, and all rows of a list
        whose scores rise somewhere, or are equal in float32 where it would be cut.
        """
        if self.keep is None:
            return
        starts, scores, depth = lists.starts, lists.scores, self.keep
        begins, lengths = starts[:-1], np.diff(starts)
        long = np.flatnonzero(lengths > depth)
        if scores is not None and len(long):
            after = begins[long] + depth
            long = long[rounded(scores[after], 32) < rounded(scores[after - 1], 32)]
            long = long[~np.isin(long, _rising(scores, starts))]
        shown = lengths.copy()
        shown[long] = depth
        rows, of_row = expand(begins, shown)
        if lists.order is not None:
            rows = lists.order[rows]
        ids = pl.concat(
            [
                self.truth.queries.alias("query"),
                pl.Series("query", [*self.extra], dtype=self.truth.queries.dtype),
            ]
        )
        # Column by column: a query of polars would wait for its threads, which read
        # the next part meanwhile.
        frame = lists.rows.frame
        others = [frame[name][rows] for name in frame.columns if name != "query"]
        self._kept.append(pl.DataFrame([ids[lists.number[of_row]], *others]))

    def first_rows(self, name: str, *, ranked: bool) -> Rows:
        """Return the rows that were kept, those of each list together."""
        return Rows(pl.concat(self._kept), name, ranked=ranked)

    def extra_order(self) -> Ints:
        """Return the order in which queries that are not judged come in the run."""
        if not self.places:
            return np.arange(len(self.extra))
        number, place = map(np.concatenate, zip(*self.places, strict=True))
        first = np.zeros(len(self.truth.queries) + len(self.extra), dtype=np.int64)
        first[number] = place
        return np.argsort(first[len(self.truth.queries) :])

    def _id(self, number: int) -> object:
        """Return the id of a query by its number."""
        n_judged = len(self.truth.queries)
        if number < n_judged:
            return self.truth.queries[int(number)]
        return list(self.extra)[int(number) - n_judged]

    def lists(
        self, rows: Rows, starts: Ints, number: Ints, order: Ints | None = None
    ) -> RunLists:
        """Return lists with what is compared; `order` brings their rows together."""
        keys = item_keys(rows.frame["item"], self.truth.seed)
        scores = self._scores(rows)
        if order is not None:
            keys = keys[order]
            scores = None if scores is None else scores[order]
        return RunLists(rows, starts, number, keys, scores, order)

    def match(self, lists: RunLists, orders: Iterable[Order]) -> None:
        """Join lists: match their items once, and rank them in each order."""
        starts, number = lists.starts, lists.number
        self.seen[number] = True
        orders = self._without_repeats(lists, orders)
        if not orders:
            return
        compared = compare(lists.scores, starts, orders)
        steps = (
            values.steps for values in compared.values() if values.scores is not None
        )
        first_steps = next(steps, NO_STEPS)
        self.rises += first_steps.rises
        self.falls |= first_steps.falls > 0
        depth = self.depth
        if depth is not None:
            depths = [values.reach(depth, starts) for values in compared.values()]
            depth = None if None in depths else max(filter(None, depths))
        row, pair, group = self._judged(lists, depth)
        for order in orders:
            values = compared[order.by, order.bits]
            scores, strict = values.scores, values.steps.strict
            if order.by == "rank_value" and scores is not None and not strict:
                refuse_same_ranks(
                    lists.rows, scores, starts, lists.order, self._query_of(lists)
                )
            above, tied, rank = values.ranks(
                starts, row, group, order, lists.text_order
            )
            score = -above.astype(np.float64) if scores is None else scores[row]
            length = values.lengths(starts, order)
            part = Part(number, length, pair, rank, above, tied, score)
            if self.orders[order]:
                of_row = np.repeat(number, np.diff(starts))
                every = -position(of_row).astype(float) if scores is None else scores
                part = part._replace(scores=every, score_query=of_row)
            ranked = self.by_order[order]
            ranked.parts.append(part)
            ranked.scored &= scores is not None
            ranked.unsorted += _n_unsorted(lists) if order.by == "given" else 0

    def _without_repeats(self, lists: RunLists, orders: Iterable[Order]) -> list[Order]:
        """Handle repeated items; return the orders that use the lists as they are.

        If the last row of an item counts, the others are left out, and the rest is
        joined here.
        """
        plain = [order for order in orders if order.duplicates == "count"]
        careful = [order for order in orders if order.duplicates != "count"]
        rows, starts, order = lists.rows, lists.starts, lists.order
        if not careful or not may_repeat(lists.keys, starts):
            return [*plain, *careful]
        items = rows.frame["item"]
        items = items if order is None else items[order]
        left = last_of_repeats(items, lists.keys, starts)
        if left is None:
            return [*plain, *careful]
        if any(rule.duplicates == "error" for rule in careful):
            query_of = self._query_of(lists)
            refuse_twice(items, starts, order, rows.place, query_of, rows.name)
        kept, starts = left
        for rule in careful:
            self.by_order[rule].n_dropped += len(items) - len(kept)
        shorter = replace(
            lists,
            starts=starts,
            keys=lists.keys[kept],
            scores=None if lists.scores is None else lists.scores[kept],
            order=kept if order is None else order[kept],
        )
        self.match(shorter, careful)
        return plain

    def _query_of(self, lists: RunLists) -> Callable[[int], object]:
        """Return what gives the id of the query of a list."""
        return lambda group: self._id(lists.number[group])

    def _scores(self, rows: Rows) -> Floats | None:
        """Return what rows are ordered by, None if that is their position."""
        by = {order.by for order in self.orders}
        if by == {"given"} or "value" not in rows.frame.columns:
            return None
        scores: Floats = rows.frame["value"].to_numpy().astype(np.float64, copy=False)
        refuse_nan(rows, scores)
        if "rank_value" in by:
            check_ranks(rows, scores)
        return scores

    def _judged(self, lists: RunLists, depth: int | None) -> tuple[Ints, Ints, Ints]:
        """Return the judged rows, the judged pair of each, and its list.

        With a depth, only the first rows of each list are looked at.
        """
        truth, keys, starts, number = self.truth, lists.keys, lists.starts, lists.number
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
        same = lists.items(row).eq_missing(truth.items[pair]).to_numpy()
        same = same & (number[group] == truth.pool.query[pair])
        if same.all():
            return row, pair, group
        return row[same], pair[same], group[same]


def _n_unsorted(lists: RunLists) -> int:
    """Count the lists in which a score rises."""
    frame = lists.rows.frame
    if "value" not in frame.columns:
        return 0
    values = frame["value"].to_numpy()
    values = values if lists.order is None else values[lists.order]
    return len(_rising(values, lists.starts))


def _rising(scores: Floats, starts: Ints) -> Ints:
    """Return the numbers of the lists in which a score rises."""
    rises = np.flatnonzero(scores[1:] > scores[:-1]) + 1
    rises = rises[~np.isin(rises, starts)]
    lists: Ints = np.unique(np.searchsorted(starts, rises, side="right")) - 1
    return lists
