"""Judgements: the truth side of the join, built once and used for every run."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from rankine._base.forks import need_threads
from rankine._base.records import cached_property
from rankine._base.text import KEEP_LARGEST, QUERY, shown
from rankine._io import read
from rankine._io.repeats import first_repeat
from rankine._io.rows import as_rows, lenient_rows
from rankine._io.sources import (
    PLAIN,
    Dense,
    Lists,
    Rows,
    Stream,
    no_judgements,
)
from rankine._io.values import NOT_JUDGED
from rankine._join.ids import Index, as_first, item_keys, told_apart
from rankine._join.row_chunks import listed, refuse_twice
from rankine._tables.keys import KeyTable, with_query
from rankine._tables.pool import Pool
from rankine._tables.segments import starts_of
from rankine.errors import DataError, DuplicateItemError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rankine._base.arrays import Floats, Ints
    from rankine._io.sources import Reading


@dataclass(frozen=True, slots=True, eq=False)
class GradesByItem:
    """Judged grades, and the item that each was given to.

    Attributes:
        pool: the grades as they were judged, whatever a convention makes of them.
        items: the id of each; for a matrix, of each column.
        width: how many columns the matrix has, None if it was not a matrix.
        mask: which of its cells are judged, eight to a byte; None if all are.
    """

    pool: Pool
    items: Sequence[Any] | pl.Series
    width: int | None = None
    mask: np.ndarray[Any, np.dtype[np.uint8]] | None = None

    def own(self) -> GradesByItem:
        """Return a copy with its own grades, if they belong to a matrix."""
        if self.width is None or self.mask is not None:
            return self
        return replace(self, pool=Pool(self.pool.starts, self.pool.grade.copy()))

    def _cells(self) -> Ints | None:
        """Return the cells of a matrix that are judged, None if all are."""
        if self.mask is None:
            return None
        return np.flatnonzero(np.unpackbits(self.mask))

    def numbers(self, pair: Ints) -> Ints:
        """Return which grades the pairs of a joined table stand for."""
        cells = self._cells()
        return pair if cells is None else cells.searchsorted(pair)

    def items_of(self, numbers: Ints) -> list[Any]:
        """Return the items that some of the grades were given to."""
        if self.width is not None:
            cells = self._cells()
            numbers = (numbers if cells is None else cells[numbers]) % self.width
        if isinstance(self.items, list):
            return [self.items[number] for number in numbers.tolist()]
        items: list[Any] = self.items.gather(numbers).to_list()  # type: ignore[union-attr]
        return items


@dataclass(frozen=True, eq=False)
class Judgements:
    """Judged (query, item, grade) triples, grouped by query.

    Attributes:
        queries: the ids of the queries, in order of first appearance.
        items: the ids of the judged items, grouped by query.
        pool: their grades, in the same order.
        seed: the seed of the hash under which no two judged pairs share a key.
        table: where the key of each judged pair is.
        name: what to call them in messages.
    """

    queries: pl.Series
    items: pl.Series
    pool: Pool
    seed: int
    table: KeyTable
    name: str

    @staticmethod
    def from_rows(rows: Rows) -> Judgements:
        """Group the rows by query and refuse an item that is judged twice."""
        need_threads()
        frame = rows.frame
        grade: Floats = frame["value"].to_numpy().astype(np.float64, copy=False)
        odd = ~np.isfinite(grade)
        if odd.any():
            row = int(np.flatnonzero(odd)[0])
            raise odd_grade(rows.where(row), float(grade[row]))
        items = frame["item"]
        queries, starts, order = listed(rows)
        if order is not None:
            grade, items = grade[order], items.gather(order)
        lists = np.arange(len(queries)), np.diff(starts)

        def attempt(seed: int) -> tuple[KeyTable, int] | None:
            table = KeyTable(with_query(item_keys(items, seed), *lists))
            if table.unique:
                return table, seed
            said = "is judged", KEEP_LARGEST
            refuse_twice(
                items,
                starts,
                order,
                rows.place,
                queries.__getitem__,
                rows.name,
                said,
                rows.unit,
            )
            return None

        table, seed = told_apart(attempt)
        return Judgements(queries, items, Pool(starts, grade), seed, table, rows.name)

    @cached_property
    def _index(self) -> Index:
        return Index(self.queries)

    def number_of(self, queries: pl.Series) -> Ints:
        """Return the number of each query id, -1 for those without judgements."""
        return self._index.find(queries)

    def as_judged(
        self, ids: pl.Series, part: str, name: str
    ) -> tuple[pl.Series, tuple[str, ...]]:
        """Return queries or items of a run with the type of those that are judged.

        Also returns notes.
        """
        known = self.queries if part == "query" else self.items
        names = (self.name, name) if self.name != name else ("qrels", "run")
        return as_first(known, ids, part, names)

    @property
    def named(self) -> GradesByItem:
        """The grades, and whose they are."""
        return GradesByItem(self.pool, self.items)


def odd_grade(where: str, grade: float) -> DataError:
    """Say that a grade is not finite."""
    todo = NOT_JUDGED if np.isnan(grade) else "expected a finite number"
    return DataError(f"{where}: the grade is {grade}; {todo}")


@dataclass(eq=False)
class Truth:
    """Judgements in the form that came in, turned into other forms when needed."""

    source: Rows | Lists | Dense

    @cached_property
    def judgements(self) -> Judgements:
        """The judgements grouped by query, with their keys."""
        rows = as_rows(self.source, role="qrels")
        return Judgements.from_rows(_of_items(rows))

    @property
    def subtopics(self) -> pl.DataFrame | None:
        """The judgements of subtopics: query, item, subtopic and value, if any."""
        if not isinstance(self.source, Rows):
            return None
        frame = self.source.frame
        if "subtopic" not in frame.columns or _all_the_same(frame["subtopic"]):
            return None
        return frame

    @property
    def pool(self) -> Pool:
        """The grades by query, whatever the form."""
        return self.named.pool

    @cached_property
    def named(self) -> GradesByItem:
        """The grades by query, whatever the form, and whose they are."""
        if isinstance(self.source, Lists):
            # The mappings are the user's, who may change them later.
            items = [*chain.from_iterable(self.source.entries)]
            return GradesByItem(Pool(self.source.starts, self.source.numbers), items)
        if isinstance(self.source, Dense):
            return _grades_in_matrix(self.source)
        return self.judgements.named


def truth_of(qrels: Any, how: Reading = PLAIN, *, part: bool = False) -> Truth:
    """Read judgements, to be used for one run or for many.

    Empty judgements are refused, unless they are a part of all judgements.
    """
    source = read(qrels, "qrels", how)
    if how.lenient:
        source = lenient_rows(source, "qrels")
    if isinstance(source, Stream):
        msg = f"{source.name} was read as a run and cannot be used as judgements"
        raise DataError(msg)
    if not part and source.is_empty:
        raise no_judgements(source.name)
    return Truth(source)


def _all_the_same(subtopic: pl.Series) -> bool:
    """Say whether these are not subtopics, but what TREC text has in their place."""
    return len(subtopic) > 0 and bool(subtopic.is_in(["0", "Q0"]).all())


def _of_items(rows: Rows) -> Rows:
    """Return one grade per item, the largest that any of its subtopics has."""
    frame = rows.frame
    if "subtopic" not in frame.columns:
        return rows
    triple = frame.select("query", "item", "subtopic")
    repeat = first_repeat(triple)
    if repeat is not None:
        query, item, subtopic = triple.row(repeat[0])
        places = " and ".join(map(rows.place, repeat))
        msg = (
            f"item {shown(item)} is judged twice for subtopic {subtopic!r} of "
            f"{rows.unit or QUERY} {shown(query)} in {rows.name} ({places})"
            f"{KEEP_LARGEST}"
        )
        raise DuplicateItemError(msg)
    largest = frame.group_by("query", "item", maintain_order=True).agg(
        pl.col("value").max()
    )
    # Neither lines nor lists are those of these rows.
    return Rows(
        largest, rows.name, notes=rows.notes, role=rows.role, kind=rows.kind,
        unit=rows.unit, queries=rows.queries,
    )  # fmt: skip


def _grades_in_matrix(source: Dense) -> GradesByItem:
    grades = source.matrix
    n_queries, width = grades.shape
    if np.isinf(grades).any():
        row, column = (int(places[0]) for places in np.nonzero(np.isinf(grades)))
        msg = (
            f"the grade in row {row}, column {column} of the matrix is "
            f"{grades[row, column]}; expected a finite number, or nan for an item that "
            "is not judged"
        )
        raise DataError(msg)
    if np.isnan(grades.min(initial=np.inf)):
        judged = ~np.isnan(grades)
        pool = Pool(starts_of(np.count_nonzero(judged, axis=1)), grades[judged])
        return GradesByItem(pool, source.items, width, np.packbits(judged))
    starts = np.arange(n_queries + 1, dtype=np.int64) * width
    return GradesByItem(Pool(starts, grades.ravel()), source.items, width)
