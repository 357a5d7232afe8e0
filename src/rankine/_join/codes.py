"""Users and items of logs and recommendations, by numbers."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from rankine._base.blocks import by_blocks, by_halves
from rankine._join.ids import Index, as_they_are
from rankine._tables.groups import marked
from rankine._tables.keys import KeyTable
from rankine._tables.segments import starts_of

if TYPE_CHECKING:
    import polars as pl
    from numpy.typing import NDArray

    from rankine._base.arrays import Floats, Ints

_SPARSE = 4
"""How many numbers there may be for each row."""
_SHORT = 8
"""Items of a list that are looked at one after the other."""
_SPREAD = np.uint64(0x9E3779B97F4A7C15)
"""2^64 over the golden ratio: mixes the keys of two columns."""
_NOTHING = -2
"""What no item is numbered by."""


class Numbers(NamedTuple):
    """Ids by numbers.

    Attributes:
        shown: the number of each logged row, -1 if nothing that is recommended has it.
        offered: that of each recommended row.
        n: how many numbers there are.
        unknown: whether any may be -1.
    """

    shown: Ints
    offered: Ints
    n: int
    unknown: bool = False


@dataclass(frozen=True, eq=False)
class Codes:
    """Contexts and items by numbers."""

    context: Numbers
    item: Numbers

    @property
    def n_contexts(self) -> int:
        """How many numbers of contexts there are."""
        return self.context.n

    @cached_property
    def counts(self) -> Ints:
        """How many pairs are recommended in each context."""
        return np.bincount(self.context.offered, minlength=self.context.n)

    @cached_property
    def rounds(self) -> Ints:
        """How many rounds were logged in each context."""
        shown, n = self.context.shown, self.context.n
        if self.context.unknown:
            shown = shown[shown >= 0]
        parts = by_halves(
            lambda rows: np.bincount(shown[rows], minlength=n), len(shown), len(shown)
        )
        total: Ints = np.add.reduce(parts)
        return total

    @cached_property
    def seen(self) -> NDArray[np.bool_]:
        """Which items the log has."""
        shown, n = self.item.shown, self.item.n + 1
        parts = by_halves(lambda rows: marked(shown[rows], n), len(shown), len(shown))
        found: NDArray[np.bool_] = np.logical_or.reduce(parts)
        return found[:-1]

    def sums(self, values: Floats) -> Floats:
        """Add up a number of each recommended pair by context, the smallest first.

        So the order of rows does not matter.
        """
        context = self.context.offered
        if int(self.counts.max(initial=0)) > 1 and values.any():
            order = np.lexsort((values, context))
            context, values = context[order], values[order]
        total = np.bincount(context, weights=values, minlength=self.context.n)
        return total.astype(np.float64, copy=False)


def coded(shown: pl.DataFrame, offered: pl.DataFrame, context: list[str]) -> Codes:
    """Give contexts and items numbers."""
    if not context:
        rows, pairs = (np.zeros(one.height, np.int64) for one in (shown, offered))
        return Codes(Numbers(rows, pairs, 1), _numbers(shown, offered, ["item"]))
    return Codes(_numbers(shown, offered, context), _numbers(shown, offered, ["item"]))


def _numbers(shown: pl.DataFrame, offered: pl.DataFrame, parts: list[str]) -> Numbers:
    first, *others = (_of_column(shown[part], offered[part]) for part in parts)
    for other in others:
        first = _combined(first, other)
    return first


def _of_column(shown: pl.Series, offered: pl.Series) -> Numbers:
    """Number ids as they are, or as they are recommended."""
    columns = {"shown": shown, "offered": offered}
    plain = as_they_are(columns, _SPARSE * (len(shown) + len(offered)))
    if plain is not None:
        number, _, n = plain
        return Numbers(number["shown"], number["offered"], n)
    index = Index.of_all(offered)
    n = len(index.known)
    again = np.arange(n) if n == len(offered) else index.find(offered)
    return Numbers(index.find(shown), again, n, unknown=True)


def _combined(one: Numbers, other: Numbers) -> Numbers:
    """Number pairs of ids, none where one of the two is unknown."""
    shown = one.shown * other.n + other.shown
    if one.unknown or other.unknown:
        shown[(one.shown < 0) | (other.shown < 0)] = -1
    offered = one.offered * other.n + other.offered
    n = one.n * other.n
    if n <= _SPARSE * (len(shown) + len(offered)):
        return Numbers(shown, offered, n, one.unknown or other.unknown)
    known = np.unique(offered)
    place = np.minimum(np.searchsorted(known, shown), len(known) - 1)
    shown = np.where(known[place] == shown, place, -1)
    return Numbers(shown, np.searchsorted(known, offered), len(known), unknown=True)


def _equal(here: NDArray[np.int32], context: Ints, item: Ints) -> Ints:
    """Return the rows whose context has their item, a part at a time in the cache."""
    found = by_blocks(
        lambda rows: np.flatnonzero(here[context[rows]] == item[rows]) + rows.start,
        len(item),
    )
    return np.concatenate([np.zeros(0, dtype=np.int64), *found])


def matched(codes: Codes) -> tuple[Ints, Ints] | None:
    """Return the logged rounds that show what is recommended, and the pair of each.

    None if a pair is recommended twice.
    """
    counts, offered = codes.counts, codes.context.offered
    longest = int(counts.max(initial=0))
    if longest > _SHORT:
        return _by_pairs(codes)
    order = np.arange(len(offered))
    if longest > 1 or (offered[1:] < offered[:-1]).any():
        order = np.lexsort((codes.item.offered, offered))
    context, item = offered[order], codes.item.offered[order]
    if ((context[1:] == context[:-1]) & (item[1:] == item[:-1])).any():
        return None
    begin = starts_of(counts)
    rows, places = [], []
    for at in range(longest):
        # What the list of each context has here; the last is that of unknown ones.
        here = np.full(codes.n_contexts + 1, _NOTHING, dtype=np.int32)
        some = np.flatnonzero(counts > at)
        here[some] = item[begin[some] + at]
        row = _equal(here, codes.context.shown, codes.item.shown)
        rows.append(row)
        places.append(order[begin[codes.context.shown[row]] + at])
    if not rows:
        none = np.zeros(0, dtype=np.int64)
        return none, none
    row, place = np.concatenate(rows), np.concatenate(places)
    if longest > 1:
        by_row = np.argsort(row, kind="stable")
        row, place = row[by_row], place[by_row]
    return row, place


def _by_pairs(codes: Codes) -> tuple[Ints, Ints] | None:
    """Look up pairs of a context and an item, for lists of any length."""
    width = codes.item.n + 1
    table = KeyTable(_spread(codes.context.offered * width + codes.item.offered))
    if not table.unique:
        return None
    known = (codes.context.shown >= 0) & (codes.item.shown >= 0)
    pair = codes.context.shown * width + codes.item.shown
    row, place = table.find(_spread(np.where(known, pair, -1)))
    return row, place


def _spread(pairs: Ints) -> NDArray[np.uint64]:
    """Spread numbers over all 64 bits, each to another one."""
    return pairs.astype(np.uint64) * _SPREAD
