"""Named: whose the grades of a pool are, without a word of it until somebody asks."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from rankine._tables.pool import Pool

if TYPE_CHECKING:
    from collections.abc import Sequence

    import polars as pl

    from rankine._base.arrays import Ints


@dataclass(frozen=True, slots=True, eq=False)
class Named:
    """Judged grades, and the item that each was given to.

    Attributes:
        pool: the grades as they were judged, whatever a convention makes of them.
        items: the id of each; for a matrix, of each column.
        width: how many columns the matrix has, None if it was none.
        mask: which of its cells are judged, eight to a byte; None if all are.
    """

    pool: Pool
    items: Sequence[Any] | pl.Series
    width: int | None = None
    mask: np.ndarray[Any, np.dtype[np.uint8]] | None = None

    def own(self) -> Named:
        """Return the same with grades of its own, if they are those of a matrix."""
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
        found: list[Any] = self.items.gather(numbers).to_list()  # type: ignore[union-attr]
        return found
