"""Ids that come in parts, numbered while more are to come."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from rankine._join.ids import Index

if TYPE_CHECKING:
    from rankine._base.arrays import Ints

_MERGED = 4
"""Known ids that are indexed anew for each id that was looked up, at most."""


class Numbering:
    """Numbers ids in the order in which they first come, while more are to come.

    The known ids are in several indexes, each of at most half the size of the one
    before it, so that new ids do not make all of them be indexed again. Once none of
    many ids is new, one index is made of all.

    >>> numbering = Numbering()
    >>> numbering.of(pl.Series(["b", "a", "b"])), numbering.of(pl.Series(["c", "a"]))
    (array([0, 1, 0]), array([2, 1]))
    >>> numbering.ids.to_list()
    ['b', 'a', 'c']
    """

    def __init__(self) -> None:
        self._indexes: list[Index] = []

    def __len__(self) -> int:
        return sum(len(index.known) for index in self._indexes)

    @property
    def ids(self) -> pl.Series:
        """The ids by number."""
        return pl.concat([index.known for index in self._indexes], rechunk=True)

    def of(self, ids: pl.Series) -> Ints:
        """Return the number of each id, and remember those that are new."""
        number = np.empty(len(ids), dtype=np.int64)
        open_, n = np.arange(len(ids)), 0
        for index in self._indexes:
            place = index.find(ids)
            number[open_] = place + n
            n += len(index.known)
            unknown = np.flatnonzero(place < 0)
            if len(unknown) == 0:
                if len(self._indexes) > 1 and _MERGED * len(number) >= len(self):
                    self._indexes = [Index(self.ids)]
                return number
            open_, ids = open_[unknown], ids.gather(unknown)
        new = Index(compact(ids.unique(maintain_order=True)))
        number[open_] = new.find(ids) + n
        self._add(new)
        return number

    def _add(self, new: Index) -> None:
        smaller = [new.known]
        while self._indexes and len(self._indexes[-1].known) < 2 * sum(
            map(len, smaller)
        ):
            smaller.append(self._indexes.pop().known)
        if len(smaller) > 1:
            # In one piece: from several, texts are gathered ten times as slowly.
            new = Index(pl.concat(smaller[::-1], rechunk=True))
        self._indexes.append(new)


def compact(ids: pl.Series) -> pl.Series:
    """Return a copy of ids, since a few texts of many would keep all in memory."""
    if ids.dtype != pl.String:
        return ids
    packed = io.BytesIO()
    ids.to_frame().write_ipc_stream(packed)
    packed.seek(0)
    return pl.read_ipc_stream(packed).to_series()
