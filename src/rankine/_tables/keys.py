"""64-bit keys of ids: which of them are equal, and where each is.

A key only proposes a match: whoever made it from an id compares the ids before
deciding.

| method | what it returns | keys are compared by |
|---|---|---|
| `find` | which of the keys are there, and where | the table |
| `places` | the place of every key, -1 for none | the table |
| `proposed` | a place for every key, perhaps of another key | the caller, by ids |
| `others` | places, where those proposed had other ids | the table |
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from rankine._base.blocks import by_blocks, by_halves
from rankine._tables.segments import groups_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rankine._base.arrays import Ints

_ODD = np.array(
    [0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB], dtype=np.uint64
)
"""Multipliers that bring other bits to the top in each round.

The first is 2^64 over the golden ratio, by which numbers are spread over all bits.
"""


def spread(numbers: Ints) -> NDArray[np.uint64]:
    """Spread numbers over all 64 bits, one to one."""
    keys: NDArray[np.uint64] = numbers.astype(np.uint64) * _ODD[0]
    return keys


def with_query(
    keys: NDArray[np.uint64], number: Ints, lengths: Ints
) -> NDArray[np.uint64]:
    """Turn the keys of items into keys of (query number, item), list by list."""
    of_list = spread(number + 1)
    width = width_of(lengths)
    if width:
        return (keys.reshape(-1, width) ^ of_list[:, None]).ravel()
    return keys ^ np.repeat(of_list, lengths)


def width_of(lengths: Ints) -> int:
    """Return the length that all lists have, 0 if they differ."""
    width = int(lengths[0]) if len(lengths) else 0
    return width if (lengths == width).all() else 0


_NONE = np.zeros(0, dtype=np.int64)
_PADDED = 0.8
"""Share of a padded block that has to be data."""
_TOGETHER = 1 << 19
"""Keys that are looked through together, so that they stay in the cache."""


def may_repeat(keys: NDArray[np.uint64], starts: Ints) -> bool:
    """Say whether some list may have an item twice, by the keys of its items.

    False is certain: equal items have equal keys. True needs a closer look, as
    different items may have equal keys too.
    """
    lengths = np.diff(starts)
    width = int(lengths.max(initial=0))
    if width <= 1:
        return False
    if len(keys) == width * len(lengths):
        block = keys.reshape(-1, width)
        return any(
            by_halves(lambda rows: _equal_in_rows(block[rows]), len(block), len(keys))
        )
    if _PADDED * width * len(lengths) <= len(keys):
        # Lists of about the same length: fill up with numbers that all differ. A frame
        # of 1,000 such lists of 1,000 items is evaluated in 16 ms instead of 25.
        block = np.empty((len(lengths), width), dtype=np.uint64)
        block[:] = np.arange(width)
        block[np.arange(width) < lengths[:, None]] = keys
        return _equal_in_rows(block)
    pairs = with_query(keys, np.arange(len(lengths)), lengths)
    return any(
        some_equal(pairs[starts[lists.start] : starts[lists.stop]])
        for lists in groups_of(starts, _TOGETHER)
    )


def _equal_in_rows(keys: NDArray[np.uint64]) -> bool:
    """Say whether two keys of a row are equal; half of each key is looked at first."""
    step = max(1, _TOGETHER // keys.shape[1])
    for begin in range(0, len(keys), step):
        some = keys[begin : begin + step]
        half = some.view(np.uint32)[:, ::2].copy()
        half.sort(axis=1)
        suspect = (half[:, 1:] == half[:, :-1]).any(axis=1)
        if suspect.any() and any(some_equal(row) for row in some[suspect]):
            return True
    return False


class KeyTable:
    """Where each of some keys is, found by slots instead of by sorting.

    Keys are written into slots by some of their bits; those whose slot was taken by
    another key go to the next round, with other bits. A slot of the first round holds
    a place and, above it, a few bits of the key, by which most other keys are told
    from it without looking at the key itself.

    Attributes:
        unique: whether all keys differ; if not, nothing can be looked up.
    """

    def __init__(self, keys: NDArray[np.uint64], spare: int = 6) -> None:
        """Write keys into slots, of which there are up to 2^spare for each."""
        self.keys = keys
        self.rounds: list[tuple[np.uint64, np.uint64, NDArray[np.int32]]] = []
        self.unique = True
        self._bits = np.int32(min(len(keys).bit_length(), 31))
        self._places = np.int32((1 << int(self._bits)) - 1)
        left = np.arange(len(keys), dtype=np.int32)
        remaining = keys
        while len(left) and self.unique:
            mix = _ODD[len(self.rounds) % len(_ODD)]
            # Few keys get many slots each, so that other keys seldom meet one.
            size = len(left).bit_length()
            shift = np.uint64(64 - min(size + spare, max(20, size + 2)))
            taken = np.full(1 << (64 - int(shift)), -1, dtype=np.int32)
            self.rounds.append((mix, shift, taken))
            lost = self._write(left, remaining)
            left, remaining = left[lost], remaining[lost]

    def _write(self, places: NDArray[np.int32], keys: NDArray[np.uint64]) -> Ints:
        """Write keys into the slots of the last round; return those without one.

        Many are written by two threads. Which key has a slot that both write into does
        not matter: each is found where it is.
        """
        mix, shift, taken = self.rounds[-1]
        slot = np.empty(len(keys), dtype=np.int64)

        def write(rows: slice) -> None:
            slot[rows] = _slots(keys[rows], mix, shift)
            place = places[rows]
            if len(self.rounds) == 1:
                place = place | self._signs(keys[rows])
            taken[slot[rows]] = place

        def see(rows: slice) -> Ints:
            winner = taken.take(slot[rows], mode="clip") & self._places
            lost: Ints = np.flatnonzero(winner != places[rows])
            if (self.keys[winner[lost]] == keys[rows][lost]).any():
                self.unique = False
            lost += rows.start
            return lost

        by_halves(write, len(keys), len(keys))
        return np.concatenate(by_halves(see, len(keys), len(keys)))

    def _signs(self, keys: NDArray[np.uint64]) -> NDArray[np.int32]:
        """Return the bits of keys that stand above a place, where they stand."""
        signs = keys.astype(np.int32)
        signs <<= self._bits
        signs &= np.int32(np.iinfo(np.int32).max)
        return signs

    def find(self, keys: NDArray[np.uint64]) -> tuple[Ints, Ints]:
        """Return which keys are in the table, in order, and where each is."""

        def some(part: slice) -> tuple[Ints, Ints]:
            row, place = self._find(keys[part])
            return row + part.start, place

        parts = by_blocks(some, len(keys))
        rows, places = zip((_NONE, _NONE), *parts, strict=True)
        return np.concatenate(rows), np.concatenate(places)

    def places(self, keys: NDArray[np.uint64]) -> Ints:
        """Return where each key is, -1 if nowhere; for keys that are mostly present.

        With `find`, comparing 1,000 pairs of lists of the same 1,000 items takes 130 ms
        instead of 40.
        """
        places = np.empty(len(keys), dtype=np.int64)

        def some(part: slice) -> Ints:
            place = places[part]
            place[:] = _taken(self.rounds[0], keys[part]) & self._places
            other: Ints = np.flatnonzero(
                self.keys.take(place, mode="clip") != keys[part]
            )
            return np.asarray(other + part.start)

        if not self.rounds:
            return np.full(len(keys), -1)
        open_: Ints = np.concatenate([_NONE, *by_blocks(some, len(keys))])
        places[open_] = self.others(keys[open_])
        return places

    def proposed(self, keys: NDArray[np.uint64]) -> NDArray[np.int32]:
        """Return where each key may stand, -1 if it stands nowhere.

        Few of them stand elsewhere. Whoever compares what stands there with what was
        asked for need not compare keys, and asks `others` where the two differ.
        """
        taken = _taken(self.rounds[0], keys)
        place = taken & self._places
        taken ^= self._signs(keys)
        taken &= ~self._places
        place[taken < 0] = -1  # the slot is free
        other = np.flatnonzero(taken > 0)
        place[other] = self.others(keys[other])
        return place

    def others(self, keys: NDArray[np.uint64]) -> Ints:
        """Return where keys stand that are not where most are, -1 if nowhere."""
        places = np.full(len(keys), -1)
        open_ = np.arange(len(keys))
        for slots in self.rounds[1:]:
            asked = keys[open_]
            place = _taken(slots, asked)
            same = self.keys.take(place, mode="clip") == asked
            places[open_[same]] = place[same]
            open_ = open_[~same]
        return places

    def _find(self, keys: NDArray[np.uint64]) -> tuple[Ints, Ints]:
        open_ = np.arange(0)
        rows, places = [_NONE], [_NONE]
        for turn, slots in enumerate(self.rounds):
            asked = keys[open_] if turn else keys
            place = _taken(slots, asked)
            some = np.flatnonzero(place >= 0)
            place = place[some] & self._places
            same = self.keys[place] == asked[some]
            candidates = open_[some] if turn else some
            rows.append(candidates[same])
            places.append(place[same])
            open_ = candidates[~same]
            if len(open_) == 0:
                break
        row = np.concatenate(rows)
        order = np.argsort(row, kind="stable")
        return row[order], np.concatenate(places)[order]


def _taken(
    slots: tuple[np.uint64, np.uint64, NDArray[np.int32]], keys: NDArray[np.uint64]
) -> NDArray[np.int32]:
    """Return what stands in the slots of keys, below 0 in one that is free.

    A key that was written finds no free slot, in no round up to its own.
    """
    mix, shift, taken = slots
    return taken.take(_slots(keys, mix, shift), mode="clip")


def _slots(keys: NDArray[np.uint64], mix: np.uint64, shift: np.uint64) -> Ints:
    # Seen as signed, which NumPy takes as an index without a copy.
    return ((keys * mix) >> shift).view(np.int64)


def some_equal(keys: NDArray[np.uint64]) -> bool:
    """Say whether two keys are equal."""
    return not KeyTable(keys).unique
