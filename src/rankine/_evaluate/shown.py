"""Shown: counts of the items in all lists, if the lists are not kept."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Self, TypeAlias

import numpy as np
import polars as pl

from rankine._join.context import counted
from rankine._join.ids import one_type
from rankine._tables.tallies import NO_LENGTHS, NOTHING, Tallies, Tally, sum_of_counts

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rankine._base.arrays import Ints
    from rankine._evaluate.plan import Group
    from rankine._join.side_data import SideData
    from rankine._tables.joined import Listed
    from rankine._tables.tallies import Lengths

_Cut: TypeAlias = tuple[int | None, bool]
_FRAMES = 5
"""How many frames of counts are kept before they are added up."""


@dataclass(eq=False)
class Shown:
    """Counts of the items in all lists that a group of metrics reads.

    Items have ids here, since each batch numbers its own.

    Attributes:
        rows: cutoff, and whether repeated items count once -> frames of item, length of
            the list, and count.
        lists: the same -> how many lists there are of each length, except empty ones.
        lengths: cutoff -> how many lists there are of each length, and whose.
        items: the items, if they are compared with the size of a catalogue.
    """

    rows: dict[_Cut, list[pl.DataFrame]] = field(default_factory=dict)
    lists: dict[_Cut, Ints] = field(default_factory=dict)
    lengths: dict[int | None, Lengths] = field(default_factory=dict)
    items: set[str] = field(default_factory=set)

    def __iadd__(self, other: Shown) -> Self:
        """Add the counts of other lists."""
        for cut, frames in other.rows.items():
            self.rows[cut] = [*self.rows.get(cut, ()), *frames]
            if len(self.rows[cut]) > _FRAMES:
                self.rows[cut] = [_added(self.rows[cut])]
        for cut, lists in other.lists.items():
            self.lists[cut] = sum_of_counts(self.lists.get(cut, NOTHING.lists), lists)
        for k, lengths in other.lengths.items():
            self.lengths[k] = self.lengths.get(k, NO_LENGTHS) + lengths
        self.items |= other.items
        return self

    def tallies(self, n_lists: int, awaited: int | None, known: SideData) -> Tallies:
        """Number the items, and return what metrics read.

        Args:
            n_lists: how many lists there are.
            awaited: how many users should have a list; None if unknown.
            known: further data on items and users.
        """
        frames = {cut: _added(parts) for cut, parts in self.rows.items() if parts}
        ids = [frame["item"] for frame in frames.values()]
        codes, n_items, catalogue = counted(ids, known)
        by_cut = {cut: Tally({}, lists) for cut, lists in self.lists.items()}
        for (cut, frame), code in zip(frames.items(), codes, strict=True):
            by_cut[cut] = Tally(_by_length(frame, code, n_items), self.lists[cut])
        return Tallies(
            n_lists,
            by_cut,
            self.lengths,
            awaited=awaited,
            repeats=any(once for _, once in self.lists),
            **catalogue,
        )


def _added(frames: Sequence[pl.DataFrame]) -> pl.DataFrame:
    by_type: dict[pl.DataType, list[pl.DataFrame]] = {}
    for frame in frames:
        by_type.setdefault(frame["item"].dtype, []).append(frame)
    if len(by_type) > 1:
        names = ["some batches", "others", "further ones"]
        parts = {
            name: pl.concat(alike)
            for name, alike in zip(names, by_type.values(), strict=False)
        }
        ids, _ = one_type(
            {name: frame["item"] for name, frame in parts.items()}, "item"
        )
        frames = [frame.with_columns(item=ids[name]) for name, frame in parts.items()]
    return pl.concat(frames).group_by("item", "length").agg(pl.col("n").sum())


def _by_length(frame: pl.DataFrame, code: Ints, n_items: int) -> dict[int, Ints]:
    """Return how often each item is in lists of each length."""
    length, n = frame["length"].to_numpy(), frame["n"].to_numpy()
    by_length: dict[int, Ints] = {}
    for size in np.unique(length):
        rows = length == size
        counts = np.zeros(n_items, dtype=np.int64)
        counts[code[rows]] = n[rows]
        by_length[int(size)] = counts
    return by_length


def shown_in(group: Group, listed: Listed) -> Shown:
    """Count the items in the lists of a batch, as far as any metric needs it."""
    table, items = listed.table, listed.items
    shown = Shown()
    for _, metric, _ in group.members:
        k = metric.depth
        if not metric.fact.of_all:
            continue
        if metric.fact.counts == "lists":
            shown.lengths[k] = table.lengths(k)
            continue
        once = metric.fact.pairs is not None and table.repeats
        if (k, once) not in shown.lists:
            tally = table.tally(k, once=once)
            shown.lists[k, once] = tally.lists
            shown.rows[k, once] = [
                _frame(items, counts, length)
                for length, counts in tally.by_length.items()
            ]
    return shown


def _frame(items: pl.Series, counts: Ints, length: int) -> pl.DataFrame:
    shown = np.flatnonzero(counts)
    return pl.DataFrame(
        {
            "item": items.gather(shown).alias("item"),
            "length": np.full(len(shown), length),
            "n": counts[shown],
        }
    )
