"""What is recommended, indexed once, and looked for in any part of a log.

Nothing is made of a whole column of the log. Some rows at a time are looked up,
compared and counted while they are in the cache, by two threads if there are many.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np
import polars as pl

from rankine._base.blocks import by_halves
from rankine._base.limits import limits
from rankine._base.records import cached_property
from rankine._join.ids import SPARSE, Index, item_keys, span_of
from rankine._tables.keys import KeyTable, spread
from rankine._tables.segments import position

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from rankine._base.arrays import AnyArray, Bools, Ints

    _ByPlace: TypeAlias = list[tuple[NDArray[np.uint8], NDArray[np.int32]]]

_SHORT = 8
"""Items of a list up to which rounds are compared with one after the other: 2 M rounds
and 10,000 lists of 5 ints take 17 ms instead of 80, and as long with 200,000 lists."""
_FIRST = 1 << 12
"""Rows of a log in which all items are looked for first: 500 items are among them, and
10 M rounds with texts take 8 ms instead of 40."""
_NONE: Ints = np.zeros(0, dtype=np.int64)


class Agreed(NamedTuple):
    """What is found in a part of a log.

    Attributes:
        rounds: how many rounds were logged for each list.
        row: the rows that show what is recommended, in any order.
        place: the recommended row that each of them shows.
    """

    rounds: AnyArray
    row: Ints
    place: Ints


class Policy:
    """What is recommended, by lists: one for each user, or for what else tells rounds.

    Attributes:
        frame: a row for each item of a list, with ids of the types that logs have.
        list_of: the number of the list that each row is in.
        sizes: how many items each list has; 0 for numbers that no list has.
        longest: how many items the longest list has.
        unique: whether no list has an item twice; if not, nothing can be looked for.
    """

    def __init__(self, frame: pl.DataFrame, context: Sequence[str]) -> None:
        """Index rows whose lists are told apart by some columns."""
        self.frame = frame
        self._numbers = {part: _Numbers(frame[part]) for part in context}
        numbers = [own.known for own in self._numbers.values()]
        n = 1
        self.list_of: Ints = np.zeros(frame.height, dtype=np.int64)
        if len(numbers) == 1:
            (own,) = self._numbers.values()
            self.list_of, n = own.known, own.n
        elif numbers:
            self._pairs = _Numbers(self._paired(*numbers))
            self.list_of, n = self._pairs.known, self._pairs.n
        self.sizes: Ints = np.bincount(self.list_of, minlength=n)
        self.longest = int(self.sizes.max(initial=0))
        self.unique = self.longest <= 1 or self._table.unique

    def look(self, log: pl.DataFrame) -> Agreed:
        """Count the rounds of each list in a log, and find those that match."""
        log = log.select(*self._numbers, "item")
        is_short = self.longest <= _SHORT
        find: Callable[[Ints, pl.Series], tuple[Ints, Ints]] = self._looked_up
        if is_short:
            # Its tables are made here, and not by each of two threads: for a million
            # lists, 10 M rounds take 63 ms of the processor instead of 72.
            find = partial(self._compared, self._by_place)

        def look(rows: slice) -> Agreed:
            # One more, for rounds without a list. No frame of polars has more rows.
            rounds = np.zeros(len(self.sizes) + 1, dtype=np.uint32)
            found, places = [_NONE], [_NONE]
            half, size = log[rows], limits().looked_up
            for begin in range(0, half.height, size):
                part = half[begin : begin + size]
                lists = self._lists(part)
                np.add.at(rounds, lists, np.uint32(1))
                row, place = find(lists, part["item"])
                found.append(row + rows.start + begin)
                places.append(place)
            return Agreed(rounds[:-1], np.concatenate(found), np.concatenate(places))

        halves = by_halves(look, log.height, log.height)
        rounds, row, place = zip(*halves, strict=True)
        agreed = Agreed(sum(rounds), np.concatenate(row), np.concatenate(place))
        if not is_short or len(agreed.row) == 0:
            return agreed
        # All at once: a call of polars takes longer than its work on a few.
        same = log["item"].gather(agreed.row) == self.frame["item"].gather(agreed.place)
        kept = same.to_numpy()
        return agreed._replace(row=agreed.row[kept], place=agreed.place[kept])

    def mark(self, items: pl.Series, seen: Bools) -> None:
        """Mark which of the recommended items are among those of a log.

        Args:
            items: the items of the log.
            seen: a flag for each item of `items`, and one for all others.
        """

        def some(rows: slice) -> None:
            begin, size = rows.start, _FIRST
            while begin < rows.stop and not seen[:-1].all():
                end = min(begin + size, rows.stop)
                seen[self.items.find(items[begin:end])] = True
                begin, size = end, min(2 * size, limits().looked_up)

        by_halves(some, len(items), len(items))

    @cached_property
    def items(self) -> Index:
        """The items that are recommended, each once."""
        return Index(self.frame["item"].unique(maintain_order=True))

    def _lists(self, log: pl.DataFrame) -> Ints:
        """Return the number of the list of each round, -1 if there is none."""
        if not self._numbers:
            return np.zeros(log.height, dtype=np.int64)
        first, *others = (own.find(log[part]) for part, own in self._numbers.items())
        return self._pairs.find(self._paired(first, *others)) if others else first

    def _paired(self, first: Ints, second: Ints) -> pl.Series:
        """Return a number for each two, -1 where one of them is."""
        n = [own.n for own in self._numbers.values()][1]
        return pl.Series(np.where((first < 0) | (second < 0), -1, first * n + second))

    def _compared(
        self, by_place: _ByPlace, lists: Ints, items: pl.Series
    ) -> tuple[Ints, Ints]:
        """Compare items with those of the short list of each, by a byte of their keys.

        One in 256 others agrees by chance. With whole keys, 10 M rounds and a million
        lists take 100 to 120 ms instead of 60, as the tables leave the cache.
        """
        tags = _tags(items)
        found, places = [_NONE], [_NONE]
        for tag_of, place_of in by_place:
            row = np.flatnonzero(tag_of[lists] == tags)
            place = place_of[lists[row]]
            found.append(row[place >= 0])
            places.append(place[place >= 0].astype(np.int64))
        return np.concatenate(found), np.concatenate(places)

    @cached_property
    def _by_place(self) -> _ByPlace:
        """The first items of all lists, the second, and so on: a byte, and the row.

        The last column is that of rounds without a list, which has no rows.
        """
        every = np.arange(len(self.list_of), dtype=np.int32)
        nth = np.zeros_like(every)
        if self.longest > 1:
            order = np.argsort(self.list_of, kind="stable")
            nth[order] = position(self.list_of[order])
        rows = np.full((self.longest, len(self.sizes) + 1), -1, dtype=np.int32)
        rows[nth, self.list_of] = every
        tags = np.append(_tags(self.frame["item"]), np.uint8(0))
        return list(zip(tags[rows], rows, strict=True))

    def _looked_up(self, lists: Ints, items: pl.Series) -> tuple[Ints, Ints]:
        """Look up pairs of a list and an item, for lists of any length."""
        return self._table.find(self._keys(lists, items))

    @cached_property
    def _table(self) -> KeyTable:
        return KeyTable(self._keys(self.list_of, self.frame["item"]))

    def _keys(self, lists: Ints, items: pl.Series) -> NDArray[np.uint64]:
        """Return the keys of pairs of a list and an item; of unknown ones, any."""
        item = self.items.find(items)
        pair = lists * (len(self.items.known) + 1) + item
        return spread(np.where((lists >= 0) & (item >= 0), pair, -1))


class _Numbers:
    """Ids by numbers: as they are, if they are ints close together, or by an index.

    Attributes:
        known: the number of each of the ids that it was made of.
        n: how many numbers there are.
    """

    def __init__(self, ids: pl.Series) -> None:
        """Number ids that may be repeated."""
        span = span_of([ids], SPARSE * len(ids))
        self._least = None if span is None else span[0]
        if span is not None:
            self.n = span[1]
            self.known = self.find(ids)
            return
        self._index = Index.of_all(ids)
        self.n = len(self._index.known)
        self.known = np.arange(self.n) if self.n == len(ids) else self.find(ids)

    def find(self, ids: pl.Series) -> Ints:
        """Return the number of each id, -1 where there is none."""
        if self._least is None:
            return self._index.find(ids)
        # Differences of ints wrap around, so that those below the least are large.
        number = ids.to_numpy().astype(np.int64, copy=False).view(np.uint64)
        if self._least:
            number = number - np.uint64(self._least % (1 << 64))
        if len(number) and number.max() >= self.n:
            number = np.where(number < self.n, number, ~np.uint64(0))
        return number.view(np.int64)


def _tags(ids: pl.Series) -> NDArray[np.uint8]:
    """Return a byte per id, the same for the same."""
    if ids.dtype.is_integer():
        return (spread(ids.to_numpy()) >> np.uint64(56)).astype(np.uint8)
    return item_keys(ids, 0).astype(np.uint8)
