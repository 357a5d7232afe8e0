"""The lists of a run: all retrieved items, brought into the order of their ranks."""

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

from rankine._base.blocks import by_blocks
from rankine._base.text import KEEP_BEST, RANK_LAST, count
from rankine._conventions.convention import Convention
from rankine._io.mappings import as_rows
from rankine._io.repeats import first_repeat
from rankine._io.sources import Lists as Mappings
from rankine._join.ids import Index
from rankine._join.judgements import list_starts
from rankine._join.pieces import last_of_repeats, repeats_left_out, take
from rankine._join.rank_values import check_ranks, refuse_same_ranks
from rankine._join.ties import sorted_rows
from rankine._tables.segments import cut_lists, rounded, starts_of, steps_of
from rankine.errors import DataError, DuplicateItemError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rankine._base.arrays import Floats, Ints
    from rankine._io.sources import Rows, Source


_OWN = Convention()


class Ids:
    """The items of a run that came as rows, in their order."""

    hashes: NDArray[np.uint64] | None = None

    def __init__(self, rows: Rows) -> None:
        self._rows = rows

    @cached_property
    def series(self) -> pl.Series:
        """The items."""
        return self._rows.frame["item"]

    def with_series(self, items: pl.Series) -> Ids:
        """Return the same items as ids of another type."""
        if items.dtype == self.series.dtype:
            return self
        other = copy(self)
        other.series = items
        return other

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
        ranks: the rank of each item, where they are numbers of a column of which some
            are left out; None where they are 1, 2, 3 and so on.
        steps: how often a score is above the one before it in its list, as they came,
            and whether one is below.
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
    ranks: Ints | None = None
    steps: tuple[int, bool] = (0, False)

    @property
    def items(self) -> pl.Series:
        """The items, list by list, best first."""
        items = self.ids.series
        return items if self.order is None else items.gather(self.order)

    def items_of(self, rows: Ints) -> pl.Series:
        """Return the items of some rows."""
        return self.ids.series.gather(rows if self.order is None else self.order[rows])

    def first(self, depth: int | None) -> tuple[pl.Series, Ints, Ints | None]:
        """Return the items down to a rank, where each list begins, and the ranks."""
        rank, longest = self.ranks, int(np.diff(self.starts).max(initial=0))
        if depth is None or (rank is None and longest <= depth):
            return self.items, self.starts, rank
        starts, rows = cut_lists(self.starts, rank, depth)
        rank = None if rank is None else rank[rows]
        rows = rows if self.order is None else self.order[rows]
        return self.ids.series.gather(rows), starts, rank


def lists_of(source: Source, rule: Convention | None = None) -> Lists:
    """Bring the rows of a run into the order of queries and ranks.

    A convention says what they are ordered by, and how ties are broken; without one,
    as rankine's own does.
    """
    rule = rule or _OWN
    if isinstance(source, Mappings):
        found = _of_texts(source, rule)
        if found is not None:
            return found
    rows = as_rows(source, role="run")
    frame = rows.frame
    if isinstance(source, Mappings):
        (queries, starts), order = _queries_of(source, frame["query"]), None
    else:
        queries, starts, order = _queries_in(frame["query"])
    if rule.duplicates == "last":
        kept, starts = last_of_repeats(frame["item"], starts, order)
        if kept is not None:
            rows, order = _last_only(rows, kept), None
            frame = rows.frame
    scores: Floats | None = None
    falls = False
    if "value" in frame.columns and rule.order != "given":
        scores = frame["value"].to_numpy().astype(np.float64, copy=False)
        falls = order is None and _all_fall(scores, starts)
        if not falls:
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
    if rule.order == "rank_value" and rows.ranked:
        return _numbered(rows, _ranked(lists, rule, falls=falls))
    return _ranked(lists, rule, falls=falls)


def _last_only(rows: Rows, kept: Ints) -> Rows:
    """Leave out the rows whose item comes again later in the same list."""
    query = rows.frame["query"].gather(kept)
    notes = (*rows.notes, repeats_left_out(rows.frame.height - len(kept)))
    left = take(rows, kept)
    frame = left.frame.insert_column(0, query)
    return replace(
        rows,
        frame=frame,
        line=None,
        lines=left.lines,
        number=left.number,
        notes=notes,
    )


def _numbered(rows: Rows, lists: Lists) -> Lists:
    """Take the numbers of a rank column for the ranks, where they have gaps."""
    values = lists.scores
    if values is None:
        return lists
    given = rows.frame["value"].to_numpy().astype(np.float64, copy=False)
    check_ranks(rows, given, lambda row: rows.frame["query"][row])
    if not lists.falls:
        refuse_same_ranks(
            rows, values, lists.starts, lists.order, lambda at: lists.queries[at]
        )
    ranks = -values.astype(np.int64)
    length = np.diff(lists.starts)
    filled = np.flatnonzero(length)
    last = ranks[lists.starts[1:][filled] - 1]
    return lists if (last == length[filled]).all() else replace(lists, ranks=ranks)


def _queries_in(query: pl.Series) -> tuple[pl.Series, Ints, Ints | None]:
    """Return the queries of rows, where each begins, and what brings them together."""
    if len(query) == 0:
        return query, np.zeros(1, dtype=np.int64), None
    starts = list_starts(query)
    queries = query.gather(starts[:-1])
    if queries.n_unique() == len(queries):
        return queries, starts, None
    queries = query.unique(maintain_order=True)
    number = Index(queries).find(query)
    starts = starts_of(np.bincount(number, minlength=len(queries)))
    return queries, starts, np.argsort(number, kind="stable")


def _queries_of(source: Mappings, known: pl.Series) -> tuple[pl.Series, Ints]:
    """Return the queries of a mapping, those with empty lists too, and their starts."""
    dtype = known.dtype if len(known) else None
    queries = pl.Series("query", list(source.data), dtype=dtype)
    return queries, starts_of(np.array([len(one) for one in source.data.values()]))


def _of_texts(source: Mappings, rule: Convention) -> Lists | None:
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
                text.encode()  # an unpaired surrogate cannot be encoded
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
    return _ranked(lists, rule)


def _ranked(lists: Lists, rule: Convention, *, falls: bool = False) -> Lists:
    """Bring the items of each list into the order of their scores, unless they fall."""
    scores, starts = lists.scores, lists.starts
    if scores is None or rule.order == "given":
        return replace(lists, scores=None)
    narrow = rounded(scores, rule.score_bits)
    falls = falls and narrow is scores
    scores = narrow
    if falls or _all_fall(scores, starts):
        return replace(lists, steps=(0, len(scores) >= len(starts)))
    steps = steps_of(scores, starts) if lists.scored else (0, False)
    again = sorted_rows(lists.items_of, scores, starts, rule.tie)
    scores = scores[again]
    order = again if lists.order is None else lists.order[again]
    falls = _all_fall(scores, starts)
    return replace(lists, order=order, scores=scores, falls=falls, steps=steps)


def _all_fall(scores: Floats, starts: Ints) -> bool:
    """Say whether the scores of every list fall from each item to the next.

    They do not where one is nan.
    """
    here, after = scores[:-1], scores[1:]
    n_falls = by_blocks(
        lambda rows: int(np.count_nonzero(after[rows] < here[rows])), len(here)
    )
    first = starts[:-1][np.diff(starts) > 0]
    edges = first[1:]
    inside = len(here) - len(edges)
    across = np.count_nonzero(scores[edges] < scores[edges - 1])
    alone = np.isnan(scores[first]).any()  # such as the only score of a list
    return bool(sum(n_falls) - across == inside and not alone)


def _refuse_nan(rows: Rows, scores: Floats) -> None:
    if any(by_blocks(lambda some: bool(np.isnan(scores[some]).any()), len(scores))):
        missing = np.isnan(scores)
        at = int(np.flatnonzero(missing)[0])
        msg = (
            f"{rows.where(at)}: the score of item {rows.frame['item'][at]!r} for query "
            f"{rows.frame['query'][at]!r} is not a number "
            f"({count(int(missing.sum()), 'such score')} in all); a ranking needs "
            f"numbers that can be ordered{RANK_LAST}"
        )
        raise DataError(msg)


def refuse_twice(lists: Lists) -> None:
    """Raise if an item is repeated in a list."""
    number = np.repeat(np.arange(len(lists.queries)), np.diff(lists.starts))
    repeat = first_repeat(pl.DataFrame({"number": number, "item": lists.items}))
    if repeat is None:
        return
    rows = np.array(repeat) if lists.order is None else lists.order[[*repeat]]
    places = " and ".join(lists.ids.place(row) for row in sorted(rows.tolist()))
    msg = (
        f"item {lists.items[repeat[0]]!r} appears twice for query "
        f"{lists.queries[int(number[repeat[0]])]!r} in {lists.name} ({places})"
        f"{KEEP_BEST}"
    )
    raise DuplicateItemError(msg)
