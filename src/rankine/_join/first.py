"""The first items of each list, in the order of the ranks that metrics read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from rankine._io.mappings import listed, packed
from rankine._io.sources import Dense, Lists
from rankine._join import dense
from rankine._join.lists import lists_of
from rankine._join.ties import sorted_rows
from rankine._tables.segments import expand, rounded, starts_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rankine._base.arrays import Ints
    from rankine._conventions.convention import Convention
    from rankine._io.sources import Source


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

    def of(self, query: Any) -> list[tuple[int, Any]]:
        """Return the first items of a query with their ranks; none without a list."""
        row = self._row.get(query, self._row.get(str(query)))
        if row is None:
            return []
        part = slice(int(self.starts[row]), int(self.starts[row + 1]))
        items = self.items[part]
        if self.ranks is None:
            return list(enumerate(items, 1))
        return list(zip(self.ranks[part].tolist(), items, strict=True))


def first_of(
    source: Source, rule: Convention, depth: int, floor: float | None = None
) -> First:
    """Return the first items of every list of a run.

    Args:
        source: the run, which was joined with judgements before, and so is sound.
        rule: the convention that decides their order.
        depth: how many of each list.
        floor: the score at or under which an item does not count, if there is one.
    """
    if isinstance(source, Dense):
        return _of_matrix(source, rule, depth, floor)
    if isinstance(source, Lists):
        return _of_mappings(source.data, rule, depth, floor)
    lists = lists_of(source, rule)
    if lists.ranks is not None:
        items, starts, ranks = lists.first(depth)
        return First(lists.queries, starts, items, ranks)
    length = np.minimum(np.diff(lists.starts), depth)
    if floor is not None and lists.scores is not None:
        number = np.repeat(np.arange(len(length)), np.diff(lists.starts))
        above = np.bincount(number[lists.scores > floor], minlength=len(length))
        length = np.minimum(length, above)
    at, _ = expand(lists.starts[:-1], length)
    at = at if lists.order is None else lists.order[at]
    items = lists.ids.series.gather(at)
    return First(lists.queries, starts_of(length), items)


def _of_mappings(
    data: Mapping[Any, Any], rule: Convention, depth: int, floor: float | None
) -> First:
    """Take the first items of mappings, whose ids may be anything."""
    scored = rule.order != "given"
    lists = [_items(query, entry, rule.duplicates) for query, entry in data.items()]
    scores = [
        rounded(packed(entry.values()), rule.score_bits)
        if scored and isinstance(entry, Mapping)
        else -np.arange(len(items), dtype=np.float64)
        for entry, items in zip(data.values(), lists, strict=True)
    ]
    starts = starts_of(np.array([len(items) for items in lists], dtype=np.int64))
    every = [item for items in lists for item in items]
    values = np.concatenate([np.zeros(0), *scores])

    def ids(rows: Ints) -> pl.Series:
        return pl.Series([str(every[row]) for row in rows.tolist()], dtype=pl.String)

    order = sorted_rows(ids, values, starts, rule.tie)
    length = np.diff(starts)
    if floor is not None:
        number = np.repeat(np.arange(len(length)), length)
        length = np.bincount(number[values > floor], minlength=len(length))
    length = np.minimum(length, depth)
    rows, _ = expand(starts[:-1], length)
    first = [every[row] for row in order[rows].tolist()]
    return First(list(data), starts_of(length), first)


def _items(query: Any, entry: Any, duplicates: str) -> list[Any]:
    """Return the items of a list; of repeated ones, the last where that counts."""
    if isinstance(entry, Mapping):
        return [*entry]
    items = listed(query, entry)
    return [*dict.fromkeys(reversed(items))][::-1] if duplicates == "last" else items


def _of_matrix(run: Dense, rule: Convention, depth: int, floor: float | None) -> First:
    masked = dense.smallest_score(run, run.matrix) == -np.inf
    scores = rounded(run.matrix, rule.score_bits)
    order = dense.tie_order(run, rule.tie)
    row, column, rank, _, _ = dense.top(scores, order, depth, masked=masked)
    inside = rank <= depth
    if floor is not None:
        inside &= scores[row, column] > floor
    row, column = row[inside], column[inside]
    starts = starts_of(np.bincount(row, minlength=len(scores)))
    return First(run.queries, starts, run.items.gather(column))
