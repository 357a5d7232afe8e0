"""The rounds of a log, gone through once: whose they are, and which of them match.

Nothing is made of a whole column. Some rows at a time are looked up and compared, in
two threads, while they are in the cache; then they are counted, in one, as NumPy lets
no other thread work meanwhile.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial, reduce
from itertools import chain, pairwise
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np
import polars as pl

from rankine._base.blocks import by_halves
from rankine._base.limits import limits
from rankine._base.records import cached_property
from rankine._join.ids import SPARSE, Index, item_keys, span_of
from rankine._tables.keys import KeyTable, spread
from rankine._tables.segments import position

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from rankine._base.arrays import AnyArray, Bools, Ints

_SHORT = 8
"""Items of a list that are looked at one after the other."""
_COUNTED = 8
"""Parts whose rows are counted together, after all of them were looked up."""
_CHUNKS = 8
"""Chunks of a log that may be in a part, if each of them is to be a part of its own."""
_FIRST = 1 << 12
"""Rows of a log that are looked at for the items that are recommended, at first."""
_NONE: Ints = np.zeros(0, dtype=np.int64)
_TOP = np.uint64(56)
"""How far a key is shifted to leave its first byte."""
Match: TypeAlias = "Callable[[slice, Ints], tuple[Ints, Ints]]"
"""Finds, among rows whose contexts are given, those that match, and what they match.

Some may only seem to.
"""


class Numbers(NamedTuple):
    """Contexts by numbers.

    Attributes:
        shown: gives the numbers of some logged rows, -1 without a list.
        offered: that of each recommended row.
        n: how many numbers there are.
    """

    shown: Callable[[slice], Ints]
    offered: Ints
    n: int


class Agreed(NamedTuple):
    """What going through a log comes to.

    Attributes:
        rounds: how many rounds were logged in each context.
        row: the rows that show what is recommended, rising.
        place: the recommended row that each of them shows.
        context: the context of each.
    """

    rounds: AnyArray
    row: Ints
    place: Ints
    context: Ints


@dataclass(frozen=True, eq=False)
class Policy:
    """What is recommended, to be looked for in a log.

    Attributes:
        log: the rounds.
        lists: what is recommended, with ids of the same types.
        parts: the columns that say in which context an item is.
    """

    log: pl.DataFrame
    lists: pl.DataFrame
    parts: list[str]

    @cached_property
    def context(self) -> Numbers:
        """The contexts of both."""
        if not self.parts:
            none = np.zeros(self.lists.height, dtype=np.int64)
            return Numbers(
                lambda rows: np.zeros(rows.stop - rows.start, dtype=np.int64), none, 1
            )
        columns = (_of_column(self.log[part], self.lists[part]) for part in self.parts)
        room = SPARSE * (self.log.height + self.lists.height)
        return reduce(lambda first, other: _combined(first, other, room), columns)

    @property
    def shown(self) -> pl.Series:
        """The items of the log."""
        return self.log["item"]

    @property
    def offered(self) -> pl.Series:
        """The items that are recommended."""
        return self.lists["item"]

    @cached_property
    def counts(self) -> Ints:
        """How many pairs are recommended in each context."""
        return np.bincount(self.context.offered, minlength=self.context.n)

    @cached_property
    def longest(self) -> int:
        """How many pairs are recommended in the context that has most."""
        return int(self.counts.max(initial=0))

    @cached_property
    def items(self) -> Index:
        """The items that are recommended, each once."""
        return Index(self.offered.unique(maintain_order=True))

    def unseen(self) -> Bools:
        """Say which recommended rows have an item that the log does not have."""
        # One more, which stands for all items that are not recommended.
        seen = np.zeros(len(self.items.known) + 1, dtype=np.bool_)

        def some(rows: slice) -> None:
            for part in _growing(rows):
                if seen[:-1].all():
                    return
                seen[self.items.find(self.shown[part])] = True

        by_halves(some, len(self.shown), len(self.shown))
        if seen[:-1].all():
            return np.zeros(len(self.offered), dtype=np.bool_)
        unseen: Bools = ~seen[self.items.find(self.offered)]
        return unseen

    def agreed(self) -> Agreed | None:
        """Go through the log; None if a pair is recommended twice."""
        pairs = None
        if self.longest > 1:
            pairs = KeyTable(self._pair(self.context.offered, self.offered))
            if not pairs.unique:
                return None
        sure = pairs is not None and self.longest > _SHORT
        match = self._by_pairs(pairs) if pairs and sure else self._by_places()
        n_rows = len(self.shown)
        # The last is that of unknown contexts.
        rounds = np.zeros(self.context.n + 1, dtype=_narrow(n_rows))
        matched = [(_NONE, _NONE, _NONE)]

        def look(rows: slice, begin: int) -> list[tuple[Ints, tuple[Ints, Ints, Ints]]]:
            looked_at = []
            for part in self._parts(begin + rows.start, begin + rows.stop):
                context = self.context.shown(part)
                row, place = match(part, context)
                looked_at.append((context, (row + part.start, place, context[row])))
            return looked_at

        for rows in _divided(0, n_rows, _COUNTED * limits().looked_up):
            n = rows.stop - rows.start
            halves = by_halves(partial(look, begin=rows.start), n, n)
            for context, of_part in chain.from_iterable(halves):
                np.add.at(rounds, context, rounds.dtype.type(1))
                matched.append(of_part)
        row, place, context = map(np.concatenate, zip(*matched, strict=True))
        if len(row) and not sure:  # without any, ids may be of two types
            # All at once: a call of polars takes longer than its work on a few.
            same = self.shown.gather(row) == self.offered.gather(place)
            kept = same.to_numpy()
            row, place, context = row[kept], place[kept], context[kept]
        return Agreed(rounds[:-1], row, place, context)

    @cached_property
    def _ends(self) -> Ints:
        """Where chunks of the log end, if contexts are ints and chunks are not small.

        Ints of one chunk are looked at where they are; those of two would be copied.
        """
        column = self.log[(*self.parts, "item")[0]]
        lengths = column.chunk_lengths()
        few = _CHUNKS * len(column) >= limits().looked_up * len(lengths)
        if not (column.dtype.is_integer() and few):
            return _NONE
        return np.cumsum(lengths)

    def _parts(self, begin: int, end: int) -> Iterator[slice]:
        """Divide rows into parts that are looked at together."""
        inside = self._ends[(self._ends > begin) & (self._ends < end)]
        for first, last in pairwise([begin, *inside.tolist(), end]):
            yield from _divided(first, last, limits().looked_up)

    def _pair(self, context: Ints, items: pl.Series) -> NDArray[np.uint64]:
        """Return the keys of pairs of a context and an item; of unknown ones, any."""
        item = self.items.find(items)
        pair = context * (len(self.items.known) + 1) + item
        return spread(np.where((context >= 0) & (item >= 0), pair, -1))

    def _by_pairs(self, pairs: KeyTable) -> Match:
        """Look up pairs of a context and an item, for lists of any length."""

        def match(rows: slice, context: Ints) -> tuple[Ints, Ints]:
            return pairs.find(self._pair(context, self.shown[rows]))

        return match

    def _by_places(self) -> Match:
        """Compare each item with those of the short list of its context, in turn.

        Only a byte of each is compared, as a table of bytes stays in the cache.
        """
        context = self.context.offered
        # Small numbers: these tables are as long as there are contexts, or longer.
        every = np.arange(len(context), dtype=_narrow(len(context)))
        order, nth = every, None
        if self.longest > 1:
            order = np.argsort(context, kind="stable")
            nth = position(context[order])
        tag, tables = _tags(self.offered), []
        for number in range(self.longest):
            some: Any = slice(None) if nth is None else order[nth == number]
            of_some = context[some]
            # The last is that of unknown contexts.
            table = np.zeros(self.context.n + 1, dtype=np.uint8)
            table[of_some] = tag[some]
            place = np.full(self.context.n + 1, -1, dtype=every.dtype)
            place[of_some] = every[some]
            tables.append((table, place))

        def match(rows: slice, context: Ints) -> tuple[Ints, Ints]:
            tags = _tags(self.shown[rows])
            matched, places = [_NONE], [_NONE]
            for table, place_of in tables:
                # Around the end, where unknown contexts have their place.
                row = np.flatnonzero(table.take(context, mode="wrap") == tags)
                place = place_of[context[row]]
                matched.append(row[place >= 0])
                places.append(place[place >= 0].astype(np.int64))
            row, place = np.concatenate(matched), np.concatenate(places)
            by_row = np.argsort(row, kind="stable")
            return row[by_row], place[by_row]

        return match


def _narrow(n: int) -> type[np.signedinteger[Any]]:
    """Return the type of numbers up to n, of 32 bits if they fit.

    Tables of these stay in the cache longer, and are enough for every log but one.
    """
    return np.int32 if n < np.iinfo(np.int32).max else np.int64


def _divided(begin: int, end: int, size: int) -> Iterator[slice]:
    """Divide rows into parts of about the same size, which is at most the given one."""
    n_parts = max(1, -(-(end - begin) // size))
    edges = np.linspace(begin, end, n_parts + 1).astype(np.int64)
    return (slice(begin, end) for begin, end in pairwise(edges.tolist()))


def _growing(rows: slice) -> Iterator[slice]:
    """Divide rows into parts that are small at first, as these may be enough."""
    begin, size = rows.start, _FIRST
    while begin < rows.stop:
        size = min(2 * size, limits().looked_up)
        yield slice(begin, min(begin + size, rows.stop))
        begin += size


def _tags(ids: pl.Series) -> NDArray[np.uint8]:
    """Return a byte per id, the same for the same."""
    if ids.dtype.is_integer():
        return (spread(ids.to_numpy()) >> _TOP).astype(np.uint8)
    return item_keys(ids, 0).astype(np.uint8)


def _of_column(shown: pl.Series, offered: pl.Series) -> Numbers:
    """Number ids as they are, or as they are recommended."""
    span = span_of([shown, offered], SPARSE * (len(shown) + len(offered)))
    if span is not None:
        least, n = span

        def plain(ids: pl.Series) -> Ints:
            return (ids - least if least else ids).cast(pl.Int64).to_numpy()

        return Numbers(lambda rows: plain(shown[rows]), plain(offered), n)
    index = Index.of_all(offered)
    n = len(index.known)
    again = np.arange(n) if n == len(offered) else index.find(offered)
    return Numbers(lambda rows: index.find(shown[rows]), again, n)


def _combined(first: Numbers, other: Numbers, room: int) -> Numbers:
    """Number pairs of ids, none where one of the two is unknown."""
    offered = first.offered * other.n + other.offered
    n = first.n * other.n

    def pairs(rows: slice) -> Ints:
        ours, theirs = first.shown(rows), other.shown(rows)
        return np.where((ours < 0) | (theirs < 0), -1, ours * other.n + theirs)

    if n <= room:
        return Numbers(pairs, offered, n)
    known = np.unique(offered)

    def among(rows: slice) -> Ints:
        pair = pairs(rows)
        place = np.minimum(np.searchsorted(known, pair), len(known) - 1)
        return np.where(known[place] == pair, place, -1)

    return Numbers(among, np.searchsorted(known, offered), len(known))
