"""Directions of items: their features, or who had them, as vectors of length 1."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from rankine._tables.segments import cut_evenly

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rankine._base.arrays import Bools, Floats, Ints
    from rankine._tables.lists import Recommended

_CELLS = 1 << 22
"""Numbers that are taken at once."""


class Directions(NamedTuple):
    """Items as vectors of length 1.

    Attributes:
        vectors: a row per item, in an array or a sparse matrix; 0 where it has none.
        known: which items have any.
        size: how many numbers each row takes.
    """

    vectors: Any
    known: Bools
    size: Ints

    def totals(self, item: Ints, starts: Ints, lists: slice) -> Any:
        """Add up the vectors of the items of some lists."""
        bounds = starts[lists.start : lists.stop + 1]
        chosen = item[bounds[0] : bounds[-1]]
        if not isinstance(self.vectors, np.ndarray):
            from scipy.sparse import csr_array  # noqa: PLC0415 - slow to import

            n = len(bounds) - 1
            ones = np.ones(len(chosen))
            shape = (n, self.vectors.shape[0])
            return (
                csr_array((ones, chosen, bounds - bounds[0]), shape=shape)
                @ self.vectors
            )
        total = np.zeros((len(bounds) - 1, self.vectors.shape[1]))
        filled = np.flatnonzero(np.diff(bounds))
        if len(filled):
            total[filled] = np.add.reduceat(
                self.vectors[chosen], bounds[filled] - bounds[0], axis=0
            )
        return total

    def squares(self, item: Ints, starts: Ints) -> Floats:
        """Return the squared length of the sum of each list's vectors."""
        square = np.zeros(len(starts) - 1)
        for lists in self._parts(item, starts):
            total = self.totals(item, starts, lists)
            square[lists] = dots(total, total)
        return square

    def products(self, item: Ints, starts: Ints, other: Ints, begins: Ints) -> Floats:
        """Return the products of the sums of pairs of lists."""
        product = np.zeros(len(starts) - 1)
        for lists in self._parts(item, starts, other, begins):
            product[lists] = dots(
                self.totals(item, starts, lists), self.totals(other, begins, lists)
            )
        return product

    def cosines(self, item: Ints, user: Ints, other: Ints, begins: Ints) -> Floats:
        """Return the product of each item with the sum of its user's other list.

        Rows of a user are adjacent.
        """
        cosine = np.zeros(len(item))
        starts = np.searchsorted(user, np.arange(len(begins)))
        for lists in self._parts(item, starts, other, begins):
            rows = slice(int(starts[lists.start]), int(starts[lists.stop]))
            total = self.totals(other, begins, lists)
            profile = total[user[rows] - lists.start]
            cosine[rows] = dots(self.vectors[item[rows]], profile)
        return cosine

    def _parts(self, *lists: Ints) -> Iterator[slice]:
        """Cut lists into parts whose vectors are not too many numbers."""
        upto = np.zeros(len(lists[1]))
        for item, starts in zip(lists[::2], lists[1::2], strict=True):
            size = np.concatenate(([0], np.cumsum(self.size[item])))
            upto += size[starts]
        return cut_evenly(np.diff(upto), _CELLS)


def dots(first: Any, second: Any) -> Floats:
    """Multiply row by row."""
    if isinstance(first, np.ndarray) and isinstance(second, np.ndarray):
        products: Floats = np.einsum("ij,ij->i", first, second)
        return products
    # In the order of columns, so that no row is added up by the order of another.
    for rows in (first, second):
        if not isinstance(rows, np.ndarray):
            rows.sort_indices()
    return np.asarray(first.multiply(second).sum(axis=1), dtype=np.float64).ravel()


def directions(table: Recommended, by: str) -> Directions:
    """Return the directions of items, by their features or by the users who had them.

    An item whose features are all 0, or that nobody had, has no direction: its cosine
    with every item is 0.
    """
    if ("directions", by) not in table.memo:
        make = _of_users if by == "users" else _of_features
        table.memo["directions", by] = make(table)
    known: Directions = table.memo["directions", by]
    return known


def features(table: Recommended) -> Any:
    """Return a row of features per item; topics are features where there are no others.

    They stay sparse, as there may be many.
    """
    if table.vectors is not None or table.topics is None:
        return table.vectors
    if "features" not in table.memo:
        from scipy.sparse import csr_array  # noqa: PLC0415 - slow to import

        members = table.topics.of_item
        shape = (table.n_items, table.topics.n)
        ones = np.ones(len(members.member))
        table.memo["features"] = csr_array(
            (ones, members.member, members.starts), shape=shape
        )
    return table.memo["features"]


def dense(rows: Any) -> Floats:
    """Return rows of features as an array."""
    matrix: Floats = rows if isinstance(rows, np.ndarray) else rows.toarray()
    return matrix


def _of_features(table: Recommended) -> Directions:
    vectors = features(table)
    known = table.featured
    if vectors is None or known is None:
        none = np.zeros(table.n_items, dtype=np.int64)
        return Directions(np.zeros((table.n_items, 0)), none > 0, none)
    if isinstance(vectors, np.ndarray):
        # By the largest number first, so that squares are neither 0 nor infinite.
        largest = np.abs(vectors).max(axis=1, initial=0.0)
        vectors = vectors * _inverse(largest)[:, None]
        norm = np.sqrt(dots(vectors, vectors))
        unit: Any = vectors * _inverse(norm)[:, None]
        return Directions(unit, known, np.full(table.n_items, vectors.shape[1]))
    scale = _inverse(np.sqrt(dots(vectors, vectors)))
    size = np.diff(vectors.indptr)
    unit = vectors.copy()
    unit.data = unit.data * np.repeat(scale, size)
    return Directions(unit, known, size)


def _inverse(norm: Floats) -> Floats:
    inverse: Floats = np.divide(1.0, norm, out=np.zeros(len(norm)), where=norm > 0)
    return inverse


def _of_users(table: Recommended) -> Directions:
    from scipy.sparse import csr_array  # noqa: PLC0415 - slow to import

    train = table.train
    known = np.ones(table.n_items, dtype=np.bool_)
    if train is None:
        return Directions(np.zeros((table.n_items, 0)), known, known.astype(np.int64))
    weight = 1 / np.sqrt(train.users[train.item])
    width = int(train.user.max(initial=-1)) + 1
    unit = csr_array((weight, (train.item, train.user)), shape=(table.n_items, width))
    return Directions(unit, known, train.users)
