"""Users and items by numbers; ints that are close together are taken as they are."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import chain, pairwise
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from rankine.table.segments import by_halves, starts_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rankine.arrays import Floats, Ints

_SPARSE = 4
"""How many numbers there may be for each row."""
_LITTLE = 1 << 16
"""Rounds that are looked up together."""
_SHORT = 8
"""Items of a list that are looked at one after the other."""


@dataclass(frozen=True, eq=False)
class Contexts:
    """Contexts by numbers.

    Attributes:
        shown: the context of each logged round, -1 if nothing is recommended in it.
        offered: that of each recommended pair.
        n_contexts: how many numbers of contexts there are.
    """

    shown: Ints
    offered: Ints
    n_contexts: int

    @cached_property
    def counts(self) -> Ints:
        """How many pairs are recommended in each context."""
        return np.bincount(self.offered, minlength=self.n_contexts)

    @cached_property
    def rounds(self) -> Ints:
        """How many rounds were logged in each context."""
        if len(self.shown) and self.shown.min() < 0:
            return np.bincount(self.shown + 1, minlength=self.n_contexts + 1)[1:]
        return np.bincount(self.shown, minlength=self.n_contexts)

    def sums(self, values: Floats) -> Floats:
        """Add up a number of each recommended pair by context."""
        total = np.bincount(self.offered, weights=values, minlength=self.n_contexts)
        return total.astype(np.float64, copy=False)


@dataclass(frozen=True, eq=False)
class Codes(Contexts):
    """Contexts and items by numbers.

    Attributes:
        item_shown: the item of each logged round.
        item_offered: that of each recommended pair.
        n_items: how many numbers of items there are.
    """

    item_shown: Ints
    item_offered: Ints
    n_items: int


def coded(
    shown: pl.DataFrame, offered: pl.DataFrame, context: list[str]
) -> Codes | None:
    """Take ints for their own numbers; None if they are not ints, or far apart."""
    room = _SPARSE * (shown.height + offered.height)
    found = []
    for part in (*context, "item"):
        pair = shown[part], offered[part]
        if not all(one.dtype.is_integer() and len(one) for one in pair):
            return None
        least = min(int(one.min()) for one in pair)  # type: ignore[arg-type]
        width = max(int(one.max()) for one in pair) - least + 1  # type: ignore[arg-type]
        if width > room:
            return None
        plain = [one - least if least else one for one in pair]
        found.append(([one.cast(pl.Int64).to_numpy() for one in plain], width))
    *contexts, ((item_shown, item_offered), n_items) = found
    first: Ints = np.zeros(0, dtype=np.int64)
    if not contexts:
        return None
    ((first, second), n), *more = contexts
    for (own, other), width in more:
        n *= width
        if n > room:
            return None
        first, second = first * width + own, second * width + other
    return Codes(first, second, n, item_shown, item_offered, n_items)


def _equal(here: NDArray[np.int32], context: Ints, item: Ints) -> Ints:
    """Return the rows whose context has their item, a part at a time in the cache."""

    def some(part: slice) -> list[Ints]:
        ends = [*range(part.start, part.stop, _LITTLE), part.stop]
        return [
            np.flatnonzero(here[context[begin:end]] == item[begin:end]) + begin
            for begin, end in pairwise(ends)
        ]

    found = chain(*by_halves(some, len(item), len(item)))
    return np.concatenate([np.zeros(0, dtype=np.int64), *found])


def matched(codes: Codes) -> tuple[Ints, Ints] | None:
    """Return the logged rounds that show what is recommended, and the pair of each.

    None if lists are long, or a pair is recommended twice.
    """
    counts = codes.counts
    longest = int(counts.max(initial=0))
    if longest > _SHORT:
        return None
    order = np.arange(len(codes.offered))
    if longest > 1 or (codes.offered[1:] < codes.offered[:-1]).any():
        order = np.lexsort((codes.item_offered, codes.offered))
    context, item = codes.offered[order], codes.item_offered[order]
    if ((context[1:] == context[:-1]) & (item[1:] == item[:-1])).any():
        return None  # and the other way says which
    begin = starts_of(counts)
    rows, places = [], []
    for at in range(longest):
        # What the list of each context has here; nothing is -1.
        here = np.full(codes.n_contexts, -1, dtype=np.int32)
        some = np.flatnonzero(counts > at)
        here[some] = item[begin[some] + at]
        row = _equal(here, codes.shown, codes.item_shown)
        rows.append(row)
        places.append(order[begin[codes.shown[row]] + at])
    if not rows:
        return None
    row, place = np.concatenate(rows), np.concatenate(places)
    if longest > 1:
        by_row = np.argsort(row, kind="stable")
        row, place = row[by_row], place[by_row]
    return row, place
