"""Joining a run that comes as a frame, or as a stream of frames, with judgements.

The run is never sorted and its ids are never encoded. A 64-bit key per row finds the
few rows that can be judged; only their ids are compared, and only their ranks are
computed, by counting the scores above them.
"""

from __future__ import annotations

from contextlib import closing
from dataclasses import replace
from itertools import chain
from typing import TYPE_CHECKING

import numpy as np

from rankine._base.limits import limits
from rankine._base.text import KEEP_BEST, RANK_LAST, count
from rankine._io.sources import Rows, Stream
from rankine._join.falling import in_falling, longest_tie, sortedness
from rankine._join.ids import Index, item_keys
from rankine._join.judgements import Judgements, list_starts
from rankine._join.matches import Matches
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
from rankine._join.tie_rule import FEW, before
from rankine._tables.keys import may_repeat, width_of, with_query
from rankine._tables.segments import (
    above_and_tied,
    expand,
    n_ties,
    position,
    rounded,
    sort_descending,
    starts_of,
    steps_of,
)
from rankine.errors import DataError, DuplicateItemError

if TYPE_CHECKING:
    from collections.abc import Iterator

    import polars as pl
    from numpy.typing import NDArray

    from rankine._base.arrays import Bools, Floats, Ints
    from rankine._conventions.convention import Convention


class _ScatteredError(Exception):
    """A query comes back when others were joined: the run must be joined at once."""


def match(
    truth: Judgements,
    run: Rows | Stream,
    rule: Convention,
    *,
    depth: int | None,
    keep_scores: bool,
) -> Matches:
    """Find the judged rows of a run and their ranks, down to a depth at least."""

    def matcher() -> _Matcher:
        return _Matcher(truth, rule, depth, keep_scores=keep_scores)

    if isinstance(run, Rows):
        return matcher().whole(run)
    try:
        with closing(run.open()) as parts:
            return matcher().parts(parts)
    except _ScatteredError:
        with closing(run.open()) as parts:
            return matcher().scattered(parts)


class _Matcher:
    """Joins parts of a run one after the other."""

    def __init__(
        self,
        truth: Judgements,
        rule: Convention,
        depth: int | None,
        *,
        keep_scores: bool,
    ) -> None:
        self.truth = truth
        self.rule = rule
        self.depth = depth
        self.keep_scores = keep_scores
        self.found = Matches(len(truth.queries))
        self.seen = np.zeros(len(truth.queries), dtype=np.int64)
        self.extra_number: dict[object, int] = {}

    def whole(self, run: Rows) -> Matches:
        """Join a run that is in memory."""
        if run.frame.height == 0:
            return self._finish()
        starts = list_starts(run.frame["query"])
        number = self._number(run.frame["query"].gather(starts[:-1]))
        if self._is_scattered(number):
            return self.scattered(iter([run]))
        self.found.spans = starts, number
        self._match(self._lists(run, starts, number))
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
        self._match(put_together(concat(kept), pieces))
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
            if self.found.query:
                raise _ScatteredError
            return False
        self._match(self._lists(rows, starts, number))
        return True

    def _is_scattered(self, number: Ints) -> bool:
        """Say whether a query has come before, here or in an earlier part."""
        again = np.bincount(number, minlength=1).max() > 1
        return bool(again or self.seen[number].any())

    def _finish(self) -> Matches:
        found = self.found
        found.length = self.seen
        found.extra = list(self.extra_number)
        return found

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
                self.seen = np.concatenate((self.seen, np.zeros(more, dtype=np.int64)))
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
        if self.rule.order == "given" and "value" in rows.frame.columns:
            self._note_unsorted(rows, starts, number, order)
        if order is not None:
            keys = keys[order]
            scores = None if scores is None else scores[order]
        return RunLists(rows, starts, number, keys, scores, order)

    def _note_unsorted(
        self, rows: Rows, starts: Ints, number: Ints, order: Ints | None
    ) -> None:
        """Remember the lists in which a score is above the one before it."""
        values = rows.frame["value"].to_numpy()
        if order is not None:
            values = values[order]
        rises = np.flatnonzero(values[1:] > values[:-1]) + 1
        rises = rises[~np.isin(rises, starts)]
        lists = np.searchsorted(starts, rises, side="right") - 1
        self.found.unsorted.update(number[np.unique(lists)].tolist())

    def _match(self, lists: RunLists) -> None:
        """Join lists."""
        rows, starts, number = lists.rows, lists.starts, lists.number
        keys, scores, found = lists.keys, lists.scores, self.found
        items = Items(rows.frame["item"], lists.order)
        lengths = np.diff(starts)
        policy = self.rule.duplicates
        if policy != "count" and may_repeat(keys, number, starts):
            if lists.order is not None:
                taken = take(rows, lists.order)
                self._match(self._lists(taken, starts, number))
                return
            pairs = with_query(keys, number, lengths)
            doubled = repeats_of(items.series, np.repeat(number, lengths), pairs)
            if doubled is not None and policy == "error":
                raise self._duplicate(rows, starts, number, doubled)
            if doubled is not None and policy == "last":
                found.n_dropped += int(doubled.sum())
                kept = np.flatnonzero(~doubled)
                owner = np.repeat(np.arange(len(lengths)), lengths)[kept]
                left = starts_of(np.bincount(owner, minlength=len(lengths)))
                self._match(self._lists(take(rows, kept), left, number))
                return
        self.seen[number] = lengths
        falling, distinct = sortedness(scores, starts)
        if self.rule.order == "rank_value":
            self._take_numbers(lists, distinct=distinct)
        self._note_order(scores, starts, falling=falling, distinct=distinct)
        found.scored &= scores is not None
        found.strict &= falling and distinct and found.scored
        depth = self.depth if falling else None
        if depth is not None:
            # A tie may begin at the last rank that counts, and end below it.
            depth += 0 if distinct else longest_tie(scores, starts) - 1
        row, pair, group = self._judged(keys, items, starts, number, depth)
        above, tied, rank = self._ranked(
            lists, row, group, falling=falling, distinct=distinct
        )
        score = -above.astype(np.float64) if scores is None else scores[row]
        found.query.append(number[group])
        found.pair.append(pair)
        found.above.append(above)
        found.tied.append(tied)
        found.rank.append(rank)
        found.score.append(score)
        if self.keep_scores:
            place = -position(np.repeat(number, lengths)).astype(np.float64)
            found.scores.append(place if scores is None else scores)
            found.score_query.append(np.repeat(number, lengths))

    def _ranked(
        self,
        lists: RunLists,
        row: Ints,
        group: Ints,
        *,
        falling: bool,
        distinct: bool,
    ) -> tuple[Ints, Ints, Ints]:
        """Return how many items stand above some rows and beside them, and the rank."""
        scores, starts = lists.scores, lists.starts
        single = np.ones(len(row), dtype=np.int64)
        if scores is not None and self.rule.order == "rank_value":
            rank = -scores[row].astype(np.int64)
            return rank - 1, single, rank
        if scores is None or (falling and distinct):
            above = row - starts[group]
            return above, single, above + 1
        ordered = scores if falling else sort_descending(scores, starts)
        above, tied = (
            in_falling(scores, starts, row, group)
            if falling
            else above_and_tied(ordered, starts, group, scores[row])
        )
        rank = above + 1
        open_ = np.flatnonzero(tied > 1)
        if len(open_):
            rank[open_] += self._ahead(lists, ordered, row[open_], group[open_])
        return above, tied, rank

    def _take_numbers(self, lists: RunLists, *, distinct: bool) -> None:
        """Take ranks as numbers: a list is as long as its largest one."""
        scores, starts, number = lists.scores, lists.starts, lists.number
        if scores is None or len(scores) == 0:
            return
        if not distinct:
            refuse_same_ranks(
                lists.rows, scores, starts, lists.order, lambda at: self._id(number[at])
            )
        self.seen[number] = -np.minimum.reduceat(scores, starts[:-1]).astype(np.int64)

    def _ahead(self, lists: RunLists, compared: Floats, row: Ints, group: Ints) -> Ints:
        """Count, for rows, those of their score that the rule for ties puts before.

        Remember also whether scores that are equal as compared are equal as given.
        Where few lists have ties, nobody asks, since these are joined again.
        """
        exact = self.found.exact
        exact = exact and len(np.unique(group)) > FEW * len(lists.number)
        if exact and self.rule.score_bits != 64:  # noqa: PLR2004 - as given
            raw = lists.rows.frame["value"].to_numpy().astype(np.float64, copy=False)
            raw = raw if lists.order is None else raw[lists.order]
            exact = n_ties(sort_descending(raw, lists.starts)) == n_ties(compared)
        self.found.exact = exact
        ids = Items(lists.rows.frame["item"], lists.order).gather
        scores = compared if lists.scores is None else lists.scores
        return before(ids, scores, lists.starts, row, group, self.rule.tie)

    def _note_order(
        self, scores: Floats | None, starts: Ints, *, falling: bool, distinct: bool
    ) -> None:
        """Remember whether scores rise and fall, to tell distances."""
        if scores is None or self.found.falls:
            return
        if falling and distinct:
            self.found.falls = len(scores) > len(starts) - 1  # in a list of two or more
            return
        rises, self.found.falls = steps_of(scores, starts)
        self.found.rises += rises

    def _scores(self, rows: Rows, starts: Ints, number: Ints) -> Floats | None:
        if self.rule.order == "given" or "value" not in rows.frame.columns:
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
        if self.rule.order == "rank_value":
            check_ranks(rows, scores, query_of)
            return scores
        return rounded(scores, self.rule.score_bits)

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
        same = items.gather(row).eq_missing(truth.items.gather(pair)).to_numpy()
        same = same & (number[group] == truth.pool.query[pair])
        if same.all():
            return row, pair, group
        return row[same], pair[same], group[same]

    def _duplicate(
        self, rows: Rows, starts: Ints, number: Ints, doubled: Bools
    ) -> DuplicateItemError:
        # `doubled` marks every row that comes again later: find the later one.
        items = rows.frame["item"]
        first = int(np.flatnonzero(doubled)[0])
        group = int(np.searchsorted(starts, first, side="right")) - 1
        rest = items.slice(first + 1, int(starts[group + 1]) - first - 1)
        again = first + 1 + int((rest == items[first]).arg_true()[0])
        msg = (
            f"item {items[first]!r} appears twice for query "
            f"{self._id(number[group])!r} in {rows.name} "
            f"({rows.place(first)} and {rows.place(again)}){KEEP_BEST}"
        )
        return DuplicateItemError(msg)
