"""Judgements: the truth side of the join, built once and used for every run."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from rankine._base.blocks import by_blocks
from rankine._base.forks import need_threads
from rankine._base.text import KEEP_LARGEST
from rankine._io.repeats import first_repeat
from rankine._join.ids import Index, item_keys
from rankine._tables.keys import KeyTable, with_query
from rankine._tables.pool import Pool
from rankine._tables.segments import starts_of
from rankine.errors import DataError, DuplicateItemError

if TYPE_CHECKING:
    from rankine._base.arrays import Floats, Ints
    from rankine._io.sources import Rows


@dataclass(frozen=True, slots=True, eq=False)
class Judgements:
    """Judged (query, item, grade) triples, grouped by query.

    Attributes:
        queries: the ids of the queries, in order of first appearance.
        items: the ids of the judged items, grouped by query.
        pool: their grades, in the same order.
        seed: the seed of the hash under which no two judged pairs share a key.
        table: where the key of each judged pair stands.
        name: what to call them in messages.
    """

    queries: pl.Series
    items: pl.Series
    pool: Pool
    seed: int
    table: KeyTable
    name: str
    memo: dict[str, Any] = field(default_factory=dict, repr=False)

    @staticmethod
    def from_rows(rows: Rows) -> Judgements:
        """Group the rows by query and refuse an item that is judged twice."""
        need_threads()
        frame = rows.frame
        query, items = frame["query"], frame["item"]
        grade: Floats = frame["value"].to_numpy().astype(np.float64, copy=False)
        odd = ~np.isfinite(grade)
        if odd.any():
            at = int(np.flatnonzero(odd)[0])
            msg = (
                f"{rows.where(at)}: the grade is {grade[at]}; expected a finite number"
            )
            raise DataError(msg)
        starts = list_starts(query)
        ids = query[starts[:-1]]
        by_query: Ints | None = None
        if ids.n_unique() < len(ids):
            # The rows of a query do not stand together: bring them together.
            ids = ids.unique(maintain_order=True)
            number = Index(ids).find(query)
            by_query = np.argsort(number, kind="stable")
            grade, items = grade[by_query], items.gather(by_query)
            starts = starts_of(np.bincount(number, minlength=len(ids)))
        lengths = np.diff(starts)
        seed = 0
        everyone = np.arange(len(ids))
        table = KeyTable(with_query(item_keys(items, seed), everyone, lengths))
        while not table.unique:
            _refuse_twice(rows, ids, items, lengths, by_query)
            seed += 1
            table = KeyTable(with_query(item_keys(items, seed), everyone, lengths))
        return Judgements(ids, items, Pool(starts, grade), seed, table, rows.name)

    def number_of(self, queries: pl.Series) -> Ints:
        """Return the number of each query id, -1 for those without judgements."""
        if "queries" not in self.memo:
            self.memo["queries"] = Index(self.queries)
        index: Index = self.memo["queries"]
        return index.find(queries)


def list_starts(query: pl.Series) -> Ints:
    """Return the rows at which a query begins, and the number of rows."""
    if len(query) == 0:
        return np.zeros(1, dtype=np.int64)
    if query.dtype.is_integer() and not query.has_nulls():
        own = query.to_numpy()
        here, after = own[:-1], own[1:]
        changes = by_blocks(
            lambda rows: np.flatnonzero(after[rows] != here[rows]) + (rows.start + 1),
            len(here),
        )
        return np.concatenate(([0], *changes, [len(query)]))
    other = query.slice(1) != query.slice(0, len(query) - 1)
    changed = np.flatnonzero(other.to_numpy()) + 1
    return np.concatenate(([0], changed, [len(query)]))


def _refuse_twice(
    rows: Rows, ids: pl.Series, items: pl.Series, lengths: Ints, by_query: Ints | None
) -> None:
    """Raise if an item is judged twice for one query."""
    number = np.repeat(np.arange(len(ids)), lengths)
    repeat = first_repeat(pl.DataFrame({"number": number, "item": items}))
    if repeat is None:
        return
    given = np.array(repeat) if by_query is None else by_query[[*repeat]]
    places = " and ".join(rows.place(row) for row in sorted(given.tolist()))
    msg = (
        f"item {items[repeat[0]]!r} is judged twice for query "
        f"{ids[int(number[repeat[0]])]!r} in {rows.name} ({places}){KEEP_LARGEST}"
    )
    raise DuplicateItemError(msg)
