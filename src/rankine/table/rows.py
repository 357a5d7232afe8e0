"""Joining a run that comes as a frame, or as a stream of frames, with judgements.

The run is never sorted and its ids are never encoded. A 64-bit key per row finds the
few rows that can be judged; only their ids are compared, and only their ranks are
computed, by counting the scores above them.
"""

from __future__ import annotations

from contextlib import closing
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import chain
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import polars as pl

from rankine.errors import DataError, DuplicateItemError
from rankine.io.sources import Rows, Stream
from rankine.table.judgements import Judgements, item_keys, list_starts, numbers
from rankine.table.keys import may_repeat, width_of, with_query
from rankine.table.segments import (
    above_and_tied,
    expand,
    n_ties,
    position,
    rounded,
    sort_descending,
    starts_of,
)
from rankine.table.tie_rule import FEW, before
from rankine.words import KEEP_BEST, RANK_LAST, count

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from rankine.arrays import AnyArray, Bools, Floats, Ints
    from rankine.conventions.convention import Convention


_FEW = 4096
"""Ids that are looked up one by one rather than joined."""


_PIECE = 1 << 18
"""Rows of mixed queries that are brought together at once, in the cache."""


class _Items(NamedTuple):
    """Item ids, and the order that brings the rows of each list together."""

    series: pl.Series
    order: AnyArray | None

    def gather(self, rows: Ints) -> pl.Series:
        """Return the ids of some rows."""
        return self.series.gather(rows if self.order is None else self.order[rows])


class _ScatteredError(Exception):
    """A query comes back when others were joined: the run must be joined at once."""


@dataclass(frozen=True, slots=True)
class _Lists:
    """Lists of a run.

    Attributes:
        rows: where they come from.
        starts: where each list begins.
        number: the number of its query.
        keys: the keys of the items.
        scores: what they are ordered by, None if they stand in order.
        order: the row of each key and score, None if they stand as the rows do.
    """

    rows: Rows
    starts: Ints
    number: Ints
    keys: NDArray[np.uint64]
    scores: Floats | None
    order: AnyArray | None


@dataclass(slots=True)
class Matches:
    """The rows of a run that are judged, as they are found, and who was retrieved.

    Attributes:
        n_judged: how many queries are judged; further numbers are extra queries.
        extra: ids of the queries that are not judged, in order of appearance.
        length: query number -> length of its list; judged queries first.
        rises: how often a score is above the one before it in its list.
        falls: whether one is below.
        strict: whether every list falls, without a tie: then the order of the rows is
            that of the scores, whatever the rule for ties.
        exact: whether many scores are equal, and are so also as given.
        scored: whether there are scores.
        spans: where the lists of a run in memory begin, and the number of the query of
            each; None where they are mixed or came in parts.
        unsorted: the lists whose order is not that of their scores, where the order
            given is taken.
    """

    n_judged: int
    query: list[Ints] = field(default_factory=list)
    pair: list[Ints] = field(default_factory=list)
    above: list[Ints] = field(default_factory=list)
    tied: list[Ints] = field(default_factory=list)
    rank: list[Ints] = field(default_factory=list)
    score: list[Floats] = field(default_factory=list)
    scores: list[Floats] = field(default_factory=list)
    score_query: list[Ints] = field(default_factory=list)
    extra: list[object] = field(default_factory=list)
    length: Ints = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    n_dropped: int = 0
    rises: int = 0
    falls: bool = False
    strict: bool = True
    exact: bool = True
    scored: bool = True
    spans: tuple[Ints, Ints] | None = None
    unsorted: set[int] = field(default_factory=set)


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


def _concat(parts: list[Rows]) -> Rows:
    """Put parts that follow each other together."""
    frame = pl.concat([part.frame for part in parts], rechunk=False)
    if all(part.lines is None for part in parts):
        return Rows(frame, parts[0].name, parts[0].line)
    lines = [
        np.arange(part.frame.height) + (part.line or 0)
        if part.lines is None
        else part.lines
        for part in parts
    ]
    return Rows(frame, parts[0].name, lines=np.concatenate(lines))


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
            for begin in range(0, part.frame.height, _PIECE):
                rows = _slice(part, begin, begin + _PIECE)
                number = self._number(rows.frame["query"])
                order, starts, present = _by_list(number)
                lists = self._lists(rows, starts, present, order)
                pieces.append((replace(lists, rows=_drop_query(rows)), order))
            kept.append(_drop_query(part))
        self._match(_joined(_concat(kept), pieces))
        return self._finish()

    def parts(self, parts: Iterator[Rows]) -> Matches:
        """Join a run part by part; a query may straddle two parts."""
        held: Rows | None = None
        for part in parts:
            if part.frame.height == 0:
                continue
            rows = part if held is None else _concat([held, part])
            starts = list_starts(rows.frame["query"])
            last = int(starts[-2])
            held = _slice(rows, last, rows.frame.height)
            if last and not self._part(_slice(rows, 0, last), starts[:-1]):
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
        if len(ids) > _FEW:
            number = self.truth.number_of(ids)
        else:
            known = self.known
            found = [known.get(value, -1) for value in ids.to_list()]
            number = np.array(found, dtype=np.int64)
        unknown = np.flatnonzero(number < 0)
        if len(unknown):
            first = self.found.n_judged
            others = ids.gather(unknown)
            distinct = others.unique(maintain_order=True)
            known_as = [
                self.extra_number.setdefault(value, first + len(self.extra_number))
                for value in distinct.to_list()
            ]
            number[unknown] = np.array(known_as)[numbers(others, distinct)]
            more = first + len(self.extra_number) - len(self.seen)
            if more > 0:
                self.seen = np.concatenate((self.seen, np.zeros(more, dtype=np.int64)))
        return number

    @cached_property
    def known(self) -> dict[object, int]:
        """The number of each judged query, for looking up a few."""
        ids = self.truth.queries.to_list()
        return dict(zip(ids, range(len(ids)), strict=True))

    def _id(self, number: int) -> object:
        """Return the id of a query by its number."""
        n = self.found.n_judged
        if number < n:
            return self.truth.queries[int(number)]
        return list(self.extra_number)[int(number) - n]

    def _lists(
        self, rows: Rows, starts: Ints, number: Ints, order: Ints | None = None
    ) -> _Lists:
        """Return lists with what is compared; `order` brings their rows together."""
        keys = item_keys(rows.frame["item"], self.truth.seed)
        scores = self._scores(rows, starts, number)
        if self.rule.order == "given" and "value" in rows.frame.columns:
            self._note_unsorted(rows, starts, number, order)
        if order is not None:
            keys = keys[order]
            scores = None if scores is None else scores[order]
        return _Lists(rows, starts, number, keys, scores, order)

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

    def _match(self, lists: _Lists) -> None:
        """Join lists."""
        rows, starts, number = lists.rows, lists.starts, lists.number
        keys, scores, found = lists.keys, lists.scores, self.found
        items = _Items(rows.frame["item"], lists.order)
        lengths = np.diff(starts)
        policy = self.rule.duplicates
        if policy != "count" and may_repeat(keys, number, starts):
            if lists.order is not None:
                taken = _take(rows, lists.order)
                self._match(self._lists(taken, starts, number))
                return
            pairs = with_query(keys, number, lengths)
            doubled = _duplicates(items.series, np.repeat(number, lengths), pairs)
            if doubled is not None and policy == "error":
                raise self._duplicate(rows, starts, number, doubled)
            if doubled is not None and policy == "last":
                found.n_dropped += int(doubled.sum())
                kept = np.flatnonzero(~doubled)
                owner = np.repeat(np.arange(len(lengths)), lengths)[kept]
                left = starts_of(np.bincount(owner, minlength=len(lengths)))
                self._match(self._lists(_take(rows, kept), left, number))
                return
        self.seen[number] = lengths
        falling, distinct = _sortedness(scores, starts)
        self._note_order(scores, starts, falling=falling)
        found.scored &= scores is not None
        found.strict &= falling and distinct and found.scored
        depth = self.depth if falling else None
        if depth is not None:
            # A tie may begin at the last rank that counts, and end below it.
            depth += 0 if distinct else _longest_tie(scores, starts) - 1
        row, pair, group = self._judged(keys, items, starts, number, depth)
        if scores is None or (falling and distinct):
            above, tied = row - starts[group], np.ones(len(row), dtype=np.int64)
            rank = above + 1
        else:
            ordered = scores if falling else sort_descending(scores, starts)
            above, tied = (
                _in_falling(scores, starts, row, group)
                if falling
                else above_and_tied(ordered, starts, group, scores[row])
            )
            rank = above + 1
            open_ = np.flatnonzero(tied > 1)
            if len(open_):
                rank[open_] += self._ahead(lists, ordered, row[open_], group[open_])
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

    def _ahead(self, lists: _Lists, compared: Floats, row: Ints, group: Ints) -> Ints:
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
        ids = _Items(lists.rows.frame["item"], lists.order).gather
        scores = compared if lists.scores is None else lists.scores
        return before(ids, scores, lists.starts, row, group, self.rule.tie)

    def _note_order(
        self, scores: Floats | None, starts: Ints, *, falling: bool
    ) -> None:
        """Remember whether scores rise and fall, to tell distances."""
        if scores is None or falling:
            self.found.falls = True
        elif not self.found.falls:
            inner = np.ones(len(scores) - 1, dtype=np.bool_)
            inner[starts[1:-1] - 1] = False
            rising = (scores[1:] > scores[:-1]) & inner
            self.found.rises += int(np.count_nonzero(rising))
            self.found.falls = bool(((scores[1:] < scores[:-1]) & inner).any())

    def _scores(self, rows: Rows, starts: Ints, number: Ints) -> Floats | None:
        if self.rule.order == "given" or "value" not in rows.frame.columns:
            return None
        scores: Floats = rows.frame["value"].to_numpy().astype(np.float64, copy=False)
        missing = np.isnan(scores)
        if missing.any():
            at = int(np.flatnonzero(missing)[0])
            item = rows.frame["item"][at]
            query = (
                rows.frame["query"][at]
                if "query" in rows.frame.columns
                else self._id(number[np.searchsorted(starts, at, side="right") - 1])
            )
            msg = (
                f"{rows.where(at)}: the score of item {item!r} for query {query!r} is "
                f"not a number ({count(int(missing.sum()), 'such score')} in all); a "
                f"ranking needs numbers that can be ordered{RANK_LAST}"
            )
            raise DataError(msg)
        return rounded(scores, self.rule.score_bits)

    def _judged(
        self,
        keys: NDArray[np.uint64],
        items: _Items,
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


def _slice(rows: Rows, begin: int, end: int) -> Rows:
    line = None if rows.line is None else rows.line + begin
    lines = None if rows.lines is None else rows.lines[begin:end]
    return Rows(rows.frame.slice(begin, end - begin), rows.name, line, lines)


def _take(rows: Rows, row: AnyArray) -> Rows:
    lines = rows.lines
    if lines is None and rows.line is not None:
        lines = np.arange(rows.frame.height) + rows.line
    frame = rows.frame.drop("query", strict=False)[row]
    if lines is not None:
        return Rows(frame, rows.name, lines=lines[row])
    number = row if rows.number is None else rows.number[row]
    return Rows(frame, rows.name, number=number)


def _drop_query(rows: Rows) -> Rows:
    """Leave the ids of the queries out, where numbers say them."""
    return replace(rows, frame=rows.frame.drop("query"))


def _by_list(of_row: Ints) -> tuple[Ints, Ints, Ints]:
    """Return the order that brings the rows of each query together, and the lists."""
    # Small numbers are sorted many times faster.
    small = of_row.astype(np.uint16) if of_row.max() < 1 << 16 else of_row
    order = np.argsort(small, kind="stable")
    ordered = small[order]
    changes = np.flatnonzero(ordered[1:] != ordered[:-1]) + 1
    starts = np.concatenate(([0], changes, [len(order)]))
    return order, starts, of_row[order[starts[:-1]]]


def _joined(rows: Rows, pieces: list[tuple[_Lists, Ints]]) -> _Lists:
    """Put the lists of several pieces of a run together.

    What a piece has of a list stands together, so that little is moved far.
    """
    number = np.unique(np.concatenate([piece.number for piece, _ in pieces]))
    which = [np.searchsorted(number, piece.number) for piece, _ in pieces]
    lengths = np.zeros(len(number), dtype=np.int64)
    for (piece, _), at in zip(pieces, which, strict=True):
        lengths[at] += np.diff(piece.starts)
    starts = starts_of(lengths)
    free = starts[:-1].copy()
    n = rows.frame.height
    keys = np.empty(n, dtype=np.uint64)
    order: AnyArray = np.empty(n, dtype=np.int64 if n >> 31 else np.int32)
    scores = None if pieces[0][0].scores is None else np.empty(n)
    done = 0
    for (piece, own), at in zip(pieces, which, strict=True):
        counts = np.diff(piece.starts)
        to = np.arange(len(piece.keys))
        to += np.repeat(free[at] - piece.starts[:-1], counts)
        free[at] += counts
        keys[to] = piece.keys
        order[to] = own + done
        if scores is not None:
            scores[to] = piece.scores
        done += len(to)
    return _Lists(rows, starts, number, keys, scores, order)


def _sortedness(scores: Floats | None, starts: Ints) -> tuple[bool, bool]:
    """Say whether scores fall within every segment, and whether all are distinct.

    The second holds only together with the first. Without scores the order is the rank.
    """
    if scores is None:
        return True, True
    inside = np.ones(max(len(scores) - 1, 0), dtype=np.bool_)
    inside[starts[1:-1] - 1] = False
    rising = (scores[1:] > scores[:-1]) & inside
    if rising.any():
        return False, False
    return True, not ((scores[1:] == scores[:-1]) & inside).any()


def _in_falling(
    scores: Floats, starts: Ints, row: Ints, group: Ints
) -> tuple[Ints, Ints]:
    """Count the scores above some rows and those equal to them, in falling lists.

    Only where a neighbour is equal is there anything to search; one in another list
    costs a search, and changes nothing.
    """
    own = scores[row]
    above, tied = row - starts[group], np.ones(len(row), dtype=np.int64)
    equal = scores[np.maximum(row - 1, 0)] == own
    equal |= scores[np.minimum(row + 1, len(scores) - 1)] == own
    at = np.flatnonzero(equal)
    above[at], tied[at] = above_and_tied(scores, starts, group[at], own[at])
    return above, tied


def _longest_tie(scores: Floats | None, starts: Ints) -> int:
    """Count the equal scores that stand next to each other in a list, at most."""
    if scores is None:
        return 1
    equal = scores[1:] == scores[:-1]
    equal[starts[1:-1] - 1] = False
    at = np.flatnonzero(equal)
    return 1 + int(np.bincount(np.cumsum(np.diff(at, prepend=-1) > 1)).max(initial=0))


def _duplicates(
    items: pl.Series, number: Ints, keys: NDArray[np.uint64]
) -> Bools | None:
    """Mark the rows whose item comes again in the same list; None if none does.

    Keys that agree by chance are told apart by comparing the ids.
    """
    frame = pl.DataFrame({"number": number, "item": items, "key": keys})
    suspect = pl.Series(keys).is_duplicated().arg_true().to_numpy()
    again = (
        frame[suspect]
        .select(pl.struct("number", "item").is_last_distinct().not_().alias("again"))[
            "again"
        ]
        .to_numpy()
    )
    if not again.any():
        return None
    marked = np.zeros(len(number), dtype=np.bool_)
    marked[suspect] = again
    return marked
