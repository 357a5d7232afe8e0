"""Truth: judgements in the form that came in, turned into others when needed."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from rankine._base.text import KEEP_LARGEST
from rankine._io import mappings
from rankine._io.repeats import first_repeat
from rankine._io.sources import Dense, Lists, Rows
from rankine._join.judgements import Judgements
from rankine._join.named import Named
from rankine._tables.pool import Pool
from rankine._tables.segments import starts_of
from rankine.errors import DataError, DuplicateItemError

if TYPE_CHECKING:
    from rankine._base.arrays import Floats


def _all_the_same(subtopic: pl.Series) -> bool:
    """Say whether these are no subtopics, but what TREC text has instead."""
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
            f"item {item!r} is judged twice for subtopic {subtopic!r} of query "
            f"{query!r} in {rows.name} ({places}){KEEP_LARGEST}"
        )
        raise DuplicateItemError(msg)
    largest = frame.group_by("query", "item", maintain_order=True).agg(
        pl.col("value").max()
    )
    return Rows(largest, rows.name, notes=rows.notes, role=rows.role, kind=rows.kind)


@dataclass(slots=True, eq=False)
class Truth:
    """Judgements in the form that came in, turned into other forms when needed."""

    source: Rows | Lists | Dense
    memo: dict[str, Any] = field(default_factory=dict)

    @property
    def grades(self) -> dict[Any, dict[Any, float]]:
        """The judgements as a mapping; the source must be one."""
        if "grades" not in self.memo:
            if not isinstance(self.source, Lists):
                raise TypeError
            self.memo["grades"] = mappings.grades(self.source)
        found: dict[Any, dict[Any, float]] = self.memo["grades"]
        return found

    @property
    def judgements(self) -> Judgements:
        """The judgements grouped by query, with their keys."""
        if "judgements" not in self.memo:
            rows = mappings.as_rows(self.source, role="qrels")
            self.memo["judgements"] = Judgements.from_rows(_of_items(rows))
        found: Judgements = self.memo["judgements"]
        return found

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
        if isinstance(self.source, Lists):
            return self._pool_of_lists()
        if isinstance(self.source, Dense):
            return self._pool_of_matrix(self.source.matrix)
        return self.judgements.pool

    @property
    def named(self) -> Named:
        """Whose the grades of the pool are, in a mapping or a matrix."""
        if isinstance(self.source, Lists):
            return Named(self.pool, self.memo["items"])
        if isinstance(self.source, Dense):
            pool, width = self.pool, self.source.matrix.shape[1]
            return Named(pool, self.source.items, width, self.memo.get("mask"))
        return Named(self.judgements.pool, self.judgements.items)

    def _pool_of_lists(self) -> Pool:
        if "pool" not in self.memo:
            groups = self.grades.values()
            counts = np.fromiter(map(len, groups), np.int64, count=len(groups))
            flat = chain.from_iterable([group.values() for group in groups])
            try:
                grades = mappings.numbers([*flat])
            except DataError:
                mappings.refuse_number(self.grades, "grade", self.source.name)
                raise
            self.memo["pool"] = Pool(starts_of(counts), grades)
            # The mappings are the user's, who may change them later.
            self.memo["items"] = [*chain.from_iterable(groups)]
        found: Pool = self.memo["pool"]
        return found

    def _pool_of_matrix(self, grades: Floats) -> Pool:
        if "pool" not in self.memo:
            if np.isinf(grades).any():
                row, column = (int(at[0]) for at in np.nonzero(np.isinf(grades)))
                msg = (
                    f"the grade in row {row}, column {column} of the matrix is "
                    f"{grades[row, column]}; expected a finite number, or nan for an "
                    "item that is not judged"
                )
                raise DataError(msg)
            if np.isnan(grades.min(initial=np.inf)):
                judged = ~np.isnan(grades)
                starts = starts_of(np.count_nonzero(judged, axis=1))
                self.memo["pool"] = Pool(starts, grades[judged])
                self.memo["mask"] = np.packbits(judged)
            else:
                n_queries, width = grades.shape
                starts = np.arange(n_queries + 1, dtype=np.int64) * width
                self.memo["pool"] = Pool(starts, grades.ravel())
        found: Pool = self.memo["pool"]
        return found
