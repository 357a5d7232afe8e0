"""Tallies: what all lists of a run show, as counts that add up.

A number for a whole run, such as its coverage, depends on these and on nothing else of
the lists. So it is the same for lists in memory (`Recommended`) and for lists that came
in batches, of which only the tallies were kept (`Tallies`).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from rankine._base.records import cached_property

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from rankine._base.arrays import Bools, Floats, Ints


@dataclass(frozen=True, eq=False)
class Tally:
    """How often items are shown, by the length of the lists.

    Attributes:
        by_length: length of lists -> how often each item is in lists of it.
        lists: how many lists there are of each length, from 0; empty ones not counted.
    """

    by_length: dict[int, Ints]
    lists: Ints

    @property
    def n_lists(self) -> int:
        """How many lists have an item."""
        return int(self.lists.sum())

    @cached_property
    def rows(self) -> Ints:
        """How often each item is shown."""
        if not self.by_length:
            return np.zeros(0, dtype=np.int64)
        total: Ints = np.sum(list(self.by_length.values()), axis=0)
        return total

    def weighed(self, weight: Callable[[int], float]) -> Floats:
        """Add up what every list gives to each of its items, by its length.

        From the shortest lists to the longest, so that their order does not matter.
        """
        sums = np.zeros(len(self.rows))
        for n, shown in sorted(self.by_length.items()):
            sums += shown * weight(n)
        return sums


NOTHING = Tally({}, np.zeros(1, dtype=np.int64))
"""The tally of no lists."""


@dataclass(frozen=True, eq=False)
class Lengths:
    """How many lists there are of each length, from 0.

    Attributes:
        every: the counts of all users.
        awaited: the counts of the users who should have a list.
    """

    every: Ints
    awaited: Ints

    def __add__(self, other: Lengths) -> Lengths:
        """Count the lists of both."""
        return Lengths(
            sum_of_counts(self.every, other.every),
            sum_of_counts(self.awaited, other.awaited),
        )

    def at_least(self, n: int, *, awaited: bool) -> int:
        """Count the lists with at least n items, of all users or of those awaited.

        >>> lengths = Lengths(np.array([1, 0, 2, 5]), np.array([0, 0, 1, 4]))
        >>> lengths.at_least(2, awaited=False), lengths.at_least(3, awaited=True)
        (7, 4)
        """
        return int((self.awaited if awaited else self.every)[n:].sum())


NO_LENGTHS = Lengths(np.zeros(1, dtype=np.int64), np.zeros(1, dtype=np.int64))
"""The lengths of no lists."""


def sum_of_counts(first: Ints, second: Ints) -> Ints:
    """Add two arrays of counts from 0, one of which may be longer.

    >>> sum_of_counts(np.array([1, 2]), np.array([1, 1, 5])).tolist()
    [2, 3, 5]
    """
    total = np.zeros(max(len(first), len(second)), dtype=np.int64)
    total[: len(first)] += first
    total[: len(second)] += second
    return total


@dataclass(frozen=True, eq=False)
class Tallies:
    """What is left of lists that came in batches.

    Attributes:
        n_queries: how many lists there are.
        by_cut: cutoff, and whether items that repeat count once -> tally.
        by_length: cutoff -> how many lists there are of each length.
        catalog: how many items could have been recommended, None if unknown.
        offered: which items are in the catalogue, None if only their number is known.
        awaited: how many users should have a list, None if unknown.
        repeats: whether an item may appear twice in a list.
    """

    n_queries: int
    by_cut: Mapping[tuple[int | None, bool], Tally] = field(default_factory=dict)
    by_length: Mapping[int | None, Lengths] = field(default_factory=dict)
    catalog: int | None = None
    offered: Bools | None = None
    awaited: int | None = None
    repeats: bool = False

    def tally(self, k: int | None, *, once: bool = False) -> Tally:
        """Return how often each item is shown among the first k."""
        return self.by_cut.get((k, once and self.repeats), NOTHING)

    def shown(self, k: int | None) -> Bools:
        """Mark the items that are shown among the first k of any list."""
        marked: Bools = self.tally(k).rows > 0
        return marked

    def lengths(self, k: int | None) -> Lengths:
        """Return how many lists there are of each length, cut at k."""
        return self.by_length.get(k, NO_LENGTHS)
