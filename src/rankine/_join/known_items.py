"""What is known of items, by the numbers of items.

All that is known besides lists is numbered once: numbers follow the order of the ids.
Other items, which only lists or judgements have, get the numbers after these, so that
they change nothing here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import polars as pl

from rankine._base.records import cached_property
from rankine._join.ids import Index, different, numbered
from rankine._join.lists import without_repeats
from rankine._tables.groups import Groups, Topics, marked
from rankine._tables.lists import Top
from rankine._tables.segments import starts_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rankine._base.arrays import Bools, Floats, Ints
    from rankine._join.side_data import SideData


class Numbered(NamedTuple):
    """The items of lists and judgements by number.

    Attributes:
        codes: the numbers of each source.
        n: how many numbers there are.
        ids: the id of each number.
    """

    codes: dict[str, Ints]
    n: int
    ids: pl.Series


class KnownItems:
    """What is known of items, by their numbers; nothing is made before it is asked for.

    Where a table has more items than these, `n` says how many it has.
    """

    def __init__(self, known: SideData, ids: Mapping[str, pl.Series]) -> None:
        """Number the items of all sources.

        Args:
            known: what is known.
            ids: the ids of items by where they come from, all of one type.
        """
        self._known, self._ids = known, ids
        self._numbers: dict[str, Ints] = {}
        self._reference: dict[str, tuple[Top, tuple[str, ...]]] = {}

    @cached_property
    def _index(self) -> Index:
        """All ids, in their order, so that sums do not depend on that of the rows."""
        if not self._ids:
            return Index(pl.Series("id", [], dtype=pl.String))
        columns = [different(ids).alias("id") for ids in self._ids.values()]
        return Index(different(pl.concat(columns)) if columns[1:] else columns[0])

    def numbers(self, source: str) -> Ints:
        """Return the numbers of the items of a source."""
        if source not in self._numbers:
            self._numbers[source] = self._index.find(self._ids[source])
        return self._numbers[source]

    def with_others(self, columns: Mapping[str, pl.Series]) -> Numbered:
        """Number items that need not be known, with ids of the same type."""
        ids = self._index.known
        if len(ids) == 0:
            return Numbered(*numbered(columns))
        codes = {name: self._index.find(column) for name, column in columns.items()}
        new = {name: code < 0 for name, code in codes.items()}
        if not any(some.any() for some in new.values()):
            return Numbered(codes, len(ids), ids)
        others, n, more = numbered(
            {name: column.filter(new[name]) for name, column in columns.items()}
        )
        for name, numbers in others.items():
            codes[name][new[name]] = len(ids) + numbers
        every = pl.concat([ids, more.cast(ids.dtype).alias(ids.name)])
        return Numbered(codes, len(ids) + n, every)

    def offered(self, n: int) -> Bools | None:
        """Mark the items of the catalogue, None where these are not known."""
        source = self._known.offers
        if source is None or source not in self._ids:
            return None
        return marked(self.numbers(source), n)

    def featured(self, n: int) -> Bools | None:
        """Mark the items that have features; None where a function compares items."""
        features = self._known.features
        if features is None or features.distance is not None:
            return None
        numbers, vectors = self.numbers("items"), features.vectors
        if isinstance(vectors, np.ndarray):
            numbers = numbers[~np.isnan(vectors).any(axis=1)]
        return marked(numbers, n)

    def vectors(self, n: int) -> Any:
        """Return a row of features per item, in an array or a sparse matrix."""
        rows = self._vectors
        if rows is None or rows.shape[0] == n:
            return rows
        if isinstance(rows, np.ndarray):
            return np.concatenate([rows, np.zeros((n - len(rows), rows.shape[1]))])
        from scipy.sparse import csr_array  # noqa: PLC0415 - slow to import

        ends = _padded(rows.indptr, n + 1)
        return csr_array((rows.data, rows.indices, ends), shape=(n, rows.shape[1]))

    @cached_property
    def _vectors(self) -> Any:
        features = self._known.features
        if features is None or features.vectors is None:
            return None
        numbers, vectors = self.numbers("items"), features.vectors
        shape = len(self._index.known), vectors.shape[1]
        if isinstance(vectors, np.ndarray):
            by_number = np.zeros(shape)
            by_number[numbers] = np.nan_to_num(vectors)
            return by_number
        from scipy.sparse import csr_array  # noqa: PLC0415 - slow to import

        cells = vectors.tocoo()
        return csr_array((cells.data, (numbers[cells.row], cells.col)), shape=shape)

    def topics(self, n: int) -> Topics | None:
        """Return the topics of each item."""
        if self._topics is None:
            return None
        groups, names = self._topics
        return Topics(
            Groups(_padded(groups.starts, n + 1), groups.member, groups.value), names
        )

    @cached_property
    def _topics(self) -> tuple[Groups, tuple[str, ...]] | None:
        """The topics of items, with weights that add up to 1 for each of them."""
        features = self._known.features
        if features is None:
            return None
        topic, owner, weight = features.topic, features.topic_item, features.weight
        if topic is None or owner is None or weight is None:
            return None
        item = self.numbers("items")[owner]
        n, named = len(self._index.known), topic.unique().sort()
        order = np.argsort(item, kind="stable")
        total = np.bincount(item, weights=weight, minlength=n)
        share: Floats = weight / total[item]
        member = Index(named).find(topic)
        starts = starts_of(np.bincount(item, minlength=n))
        return Groups(starts, member[order], share[order]), tuple(named.to_list())

    def reference(self, duplicates: str) -> tuple[Top, tuple[str, ...]]:
        """Return the lists of the reference, and notes on repeated items."""
        others = self._known.ranked_reference
        if others is None:
            msg = "there is no reference"
            raise ValueError(msg)
        if duplicates not in self._reference:
            top = Top(others.starts, self.numbers("reference"), others.ranks)
            notes: list[str] = []
            top = without_repeats(others, top, duplicates, notes, others.name)
            self._reference[duplicates] = top, tuple(map(str, notes))
        return self._reference[duplicates]


def _padded(ends: Any, n: int) -> Any:
    """Return where each row begins, with rows at the end that have nothing."""
    return np.append(ends, np.full(n - len(ends), ends[-1], dtype=ends.dtype))
