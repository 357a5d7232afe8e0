"""Truth: judgements in the form that came in, turned into others when needed."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np

from rankine.errors import DataError
from rankine.io import mappings
from rankine.io.sources import Dense, Lists, Rows
from rankine.table.judgements import Judgements
from rankine.table.pool import Pool
from rankine.table.segments import starts_of

if TYPE_CHECKING:
    from rankine.arrays import Floats


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
            self.memo["judgements"] = Judgements.from_rows(
                mappings.as_rows(self.source, role="qrels")
            )
        found: Judgements = self.memo["judgements"]
        return found

    @property
    def pool(self) -> Pool:
        """The grades by query, whatever the form."""
        if isinstance(self.source, Lists):
            return self._pool_of_lists()
        if isinstance(self.source, Dense) and "judgements" not in self.memo:
            return self._pool_of_matrix(self.source.matrix)
        return self.judgements.pool

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
            else:
                n_queries, width = grades.shape
                starts = np.arange(n_queries + 1, dtype=np.int64) * width
                self.memo["pool"] = Pool(starts, grades.ravel())
        found: Pool = self.memo["pool"]
        return found
