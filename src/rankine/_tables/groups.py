"""What is known in addition to lists: groups, topics, distances, training data."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from rankine._base.records import cached_property
from rankine._tables.segments import expand, starts_of
from rankine.errors import DataError

if TYPE_CHECKING:
    from collections.abc import Callable

    from rankine._base.arrays import Bools, Floats, Ints


@dataclass(frozen=True, eq=False)
class Groups:
    """Rows that belong to numbered owners: the items of users, the topics of items.

    Attributes:
        starts: where the rows of each owner begin.
        member: what each row holds.
        value: a number for each row: a grade, or a weight.
    """

    starts: Ints
    member: Ints
    value: Floats

    @cached_property
    def owner(self) -> Ints:
        """The number of the owner of each row."""
        return np.repeat(np.arange(len(self.starts) - 1), np.diff(self.starts))

    def part(self, begin: int, end: int) -> Groups:
        """Return the rows of some owners, who are renumbered."""
        rows = slice(self.starts[begin], self.starts[end])
        starts = self.starts[begin : end + 1] - self.starts[begin]
        return Groups(starts, self.member[rows], self.value[rows])

    def of(self, owners: Ints) -> tuple[Ints, Ints]:
        """Return the rows of some owners, and which of these each belongs to."""
        return expand(self.starts[owners], np.diff(self.starts)[owners])


@dataclass(frozen=True, eq=False)
class Train:
    """What users did before; nothing is computed before a metric asks for it.

    Attributes:
        users_of_rows: the number of the user of each record.
        items_of_rows: the number of its item.
        n_items: how many numbers of items there are.
        list_of: user -> the number of the list, -1 without one.
        n_lists: how many lists there are.
        sort: sorts whole numbers; with polars, its sort is given, which uses all cores
            (2.7 million pairs in 0.04 s instead of 0.2).
        profiles: the items of each user who has a list, if these are known already.
    """

    users_of_rows: Ints
    items_of_rows: Ints
    n_items: int
    list_of: Ints
    n_lists: int
    sort: Callable[[Ints], Ints] = np.sort
    profiles: Groups | None = None

    @property
    def n_records(self) -> int:
        """How many records there are."""
        return len(self.items_of_rows)

    @cached_property
    def n_users(self) -> int:
        """How many users there are."""
        most = int(self.users_of_rows.max(initial=-1))
        return int(np.count_nonzero(marked(self.users_of_rows, most + 1)))

    @cached_property
    def records(self) -> Ints:
        """Item -> how many times it was had."""
        return np.bincount(self.items_of_rows, minlength=self.n_items)

    @cached_property
    def _pairs(self) -> tuple[Ints, Ints]:
        """Who had what, each pair once, by user and item."""
        bits = self.n_items.bit_length()
        pair: Ints = self.sort((self.users_of_rows << bits) | self.items_of_rows)
        new = np.ones(len(pair), dtype=np.bool_)
        new[1:] = pair[1:] != pair[:-1]
        pair = pair[new]
        return pair >> bits, pair & ((1 << bits) - 1)

    @property
    def user(self) -> Ints:
        """The user of each pair of a user and an item had."""
        return self._pairs[0]

    @property
    def item(self) -> Ints:
        """The item of each pair."""
        return self._pairs[1]

    @cached_property
    def users(self) -> Ints:
        """Item -> how many users had it."""
        return np.bincount(self.item, minlength=self.n_items)

    @cached_property
    def profile(self) -> Groups:
        """The items of each user who has a list, each once."""
        if self.profiles is not None:
            return self.profiles
        owner = self.list_of[self.user]
        mine = np.flatnonzero(owner >= 0)
        if (owner[mine][1:] < owner[mine][:-1]).any():
            mine = mine[np.argsort(owner[mine], kind="stable")]
        starts = starts_of(np.bincount(owner[mine], minlength=self.n_lists))
        return Groups(starts, self.item[mine], np.ones(len(mine)))

    def part(self, begin: int, end: int) -> Train:
        """Return the same with the profiles of only some lists."""
        none = np.zeros(0, dtype=np.int64)
        some = self.profile.part(begin, end)
        return replace(self, list_of=none, n_lists=0, profiles=some)


@dataclass(frozen=True, eq=False)
class Topics:
    """What items are about, or to which groups they belong.

    Attributes:
        of_item: the topics of each item; their weights add up to 1.
        names: the names of the topics.
    """

    of_item: Groups
    names: tuple[str, ...]

    @property
    def n(self) -> int:
        """The number of topics."""
        return len(self.names)


class Distance:
    """A distance of items by their numbers, which is computed once for a pair."""

    def __init__(self, between: Callable[[Any, Any], float], ids: list[Any]) -> None:
        self._given = between, ids
        self._known = lru_cache(maxsize=1 << 20)(self._asked)

    def __call__(self, first: int, second: int) -> float:
        """Return the distance of two items."""
        return self._known(first, second)

    def _asked(self, *pair: int) -> float:
        between, ids = self._given
        first, second = (ids[number] for number in pair)
        value = between(first, second)
        try:
            return float(value)
        except (TypeError, ValueError):
            msg = (
                f"the distance between items {first!r} and {second!r} is {value!r}, "
                "not a number"
            )
            raise DataError(msg) from None

    def __reduce__(self) -> tuple[Any, ...]:
        """Copy and pickle without what was asked so far."""
        return type(self), self._given


def marked(item: Ints, n_items: int) -> Bools:
    """Mark the numbers that occur."""
    occurs = np.zeros(n_items, dtype=np.bool_)
    occurs[item] = True
    return occurs
