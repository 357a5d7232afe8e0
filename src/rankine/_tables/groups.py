"""What is known in addition to lists: groups, topics, distances, training data.

What training data say a user did with an item, whatever it was, is that they had it.
"""

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
class InteractionCounts:
    """How often items were had, where it does not matter by whom.

    Attributes:
        records: item -> how many times it was had.
        users: item -> how many users had it.
        n_users: how many users there are.
    """

    records: Ints
    users: Ints
    n_users: int

    @property
    def n_records(self) -> int:
        """How many records there are."""
        return int(self.records.sum())

    @property
    def n_pairs(self) -> int:
        """How many pairs of a user and an item there are."""
        return int(self.users.sum())


@dataclass(frozen=True, eq=False)
class Interactions:
    """What users did before; nothing is computed before a metric asks for it.

    Users and items have numbers of their own here, each with a record or more, so that
    what is computed holds for every table.

    Attributes:
        number: returns the numbers of the user and of the item of each record.
        n_users, n_items: how many there are.
        sort: sorts whole numbers; with polars, its sort is given, which uses all cores
            (2.7 million pairs in 0.04 s instead of 0.2).
    """

    number: Callable[[], tuple[Ints, Ints]]
    n_users: int
    n_items: int
    sort: Callable[[Ints], Ints] = np.sort

    @cached_property
    def _rows(self) -> tuple[Ints, Ints]:
        """The user and the item of each record."""
        return self.number()

    @property
    def n_records(self) -> int:
        """How many records there are."""
        return len(self._rows[1])

    @cached_property
    def records(self) -> Ints:
        """Item -> how many times it was had."""
        return np.bincount(self._rows[1], minlength=self.n_items)

    @cached_property
    def _pairs(self) -> tuple[Ints, Ints]:
        """Who had what, each pair once, by user and item."""
        bits, (user, item) = self.n_items.bit_length(), self._rows
        pair: Ints = self.sort((user << bits) | item)
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
    def starts(self) -> Ints:
        """Where the pairs of each user begin."""
        return starts_of(np.bincount(self.user, minlength=self.n_users))

    @property
    def n_pairs(self) -> int:
        """How many pairs there are."""
        return len(self.item)

    @cached_property
    def users(self) -> Ints:
        """Item -> how many users had it."""
        return np.bincount(self.item, minlength=self.n_items)

    @property
    def counts(self) -> InteractionCounts:
        """How often items were had."""
        return InteractionCounts(self.records, self.users, self.n_users)

    def __reduce__(self) -> tuple[Any, ...]:
        """Copy and pickle without what was computed so far."""
        return type(self), (self.number, self.n_users, self.n_items, self.sort)


@dataclass(frozen=True, eq=False)
class Train:
    """What users did before, by the numbers of items in a table.

    Attributes:
        had: what they did, or only how often items were had.
        number: the number in the table of each item that was had.
        n_items: how many numbers of items the table has.
        user_of: list -> its user among those who had something, -1 for all others.
    """

    had: Interactions | InteractionCounts
    number: Ints
    n_items: int
    user_of: Ints

    @property
    def n_records(self) -> int:
        """How many records there are."""
        return self.had.n_records

    @property
    def n_users(self) -> int:
        """How many users there are."""
        return self.had.n_users

    @property
    def n_pairs(self) -> int:
        """How many pairs of a user and an item had there are."""
        return self.had.n_pairs

    @cached_property
    def records(self) -> Ints:
        """Item -> how many times it was had."""
        return self._by_item(self.had.records)

    @cached_property
    def users(self) -> Ints:
        """Item -> how many users had it."""
        return self._by_item(self.had.users)

    def _by_item(self, counts: Ints) -> Ints:
        by_item = np.zeros(self.n_items, dtype=np.int64)
        by_item[self.number] = counts
        return by_item

    @property
    def _rows(self) -> Interactions:
        """Who had what, which is kept only for metrics that need ``train_rows``."""
        if isinstance(self.had, InteractionCounts):
            msg = (
                "a metric that reads which user had which item must declare "
                "'train_rows' in needs"
            )
            raise TypeError(msg)
        return self.had

    @property
    def user(self) -> Ints:
        """The user of each pair of a user and an item had, as `had` numbers users."""
        return self._rows.user

    @cached_property
    def item(self) -> Ints:
        """The item of each pair."""
        return self.number[self._rows.item]

    @cached_property
    def profile(self) -> Groups:
        """The items of each user who has a list, each once."""
        had = self._rows
        length = np.append(np.diff(had.starts), 0)[self.user_of]
        rows, _ = expand(had.starts[self.user_of], length)
        item = self.number[had.item[rows]]
        return Groups(starts_of(length), item, np.ones(len(item)))

    def part(self, begin: int, end: int) -> Train:
        """Return the same with the profiles of only some lists."""
        return replace(self, user_of=self.user_of[begin:end])


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
