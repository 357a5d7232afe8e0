"""The users of a log: their numbers, where they were first seen, and what is odd."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from rankine._base.text import count, percent
from rankine._online.tallies import NEVER

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from rankine._base.arrays import AnyArray, Ints

_HEAVY = 0.1
_FEW_USERS = 20
"""With fewer users than this, one may well have a tenth of the events."""
_ROOM = 8
"""How many times more places than ids a table of small integers may have."""
_LEAST_ROOM, _MUCH_ROOM = 1 << 16, 1 << 24
"""How many places there may be for few ids, and for four times as many."""
_SMALL = 256
"""The most groups whose numbers fit into a byte, as those of variants do."""


def counted(n: int, reason: str) -> str:
    """Return how many were left out, and why; `reason` begins with a plural.

    >>> counted(2, "duplicate events"), counted(1, "users without a variant")
    ('2 duplicate events', '1 user without a variant')
    """
    if n != 1:
        return f"{n:,} {reason}"
    singular = re.sub("(event|user)s", r"\1", reason, count=1)
    return f"1 {singular}"


def grown(column: AnyArray, n: int, fill: int) -> AnyArray:
    """Return a column with room for n values, the new ones filled."""
    if n <= len(column):
        return column
    room = np.full(max(n, 2 * len(column)), fill, column.dtype)
    room[: len(column)] = column
    return room


class Numbers:
    """Ids as numbers from 0, in the order in which they come.

    Small integers are looked up by their place; anything else is joined.
    """

    def __init__(self) -> None:
        self._parts: list[pl.Series] = []
        self._places: AnyArray | None = np.zeros(0, np.int32)
        self.n = 0

    def copy(self) -> Numbers:
        """Return a copy that can be added to."""
        other = Numbers()
        other._parts, other.n = [*self._parts], self.n
        other._places = None if self._places is None else self._places.copy()
        return other

    @property
    def ids(self) -> pl.Series:
        """All ids, by their numbers."""
        if not self._parts:
            return pl.Series([], dtype=pl.Int64)
        if len(self._parts) > 1:
            self._parts = [pl.concat(self._parts)]
        return self._parts[0]

    def of(self, column: pl.Series) -> AnyArray:
        """Return the numbers of ids, none of them missing; new ids get new numbers."""
        if self.n and column.dtype != self.ids.dtype:
            # Text, if some parts have text and some have ints.
            self._parts, self._places = [self.ids.cast(pl.String)], None
            column = column.cast(pl.String)
        if self._places is not None and self._are_small(column):
            return self._by_place(column.to_numpy())
        self._places = None
        return self._by_join(column)

    def _are_small(self, column: pl.Series) -> bool:
        if column.dtype != pl.Int64 or column.is_empty():
            return False
        least, most = int(column.min()), int(column.max())  # type: ignore[arg-type]
        n = self.n + len(column)
        room = max(_LEAST_ROOM, _ROOM * n, min(_MUCH_ROOM, 4 * _ROOM * n))
        return least >= 0 and most < room

    def _by_place(self, ids: AnyArray) -> AnyArray:
        self._places = places = grown(self._places, int(ids.max()) + 1, 0)  # type: ignore[arg-type]
        numbers = places[ids]
        missing = ids[numbers == 0]
        if len(missing):
            is_new = np.zeros(len(places), bool)
            is_new[missing] = True
            new = np.flatnonzero(is_new)
            places[new] = np.arange(self.n + 1, self.n + 1 + len(new))
            self._add(pl.Series(new))
            numbers = places[ids]
        return numbers - 1

    def _by_join(self, column: pl.Series) -> AnyArray:
        given = column.alias("id").to_frame()
        distinct = given.unique()
        known = self.ids.cast(column.dtype).alias("id").to_frame().with_row_index("n")
        distinct = distinct.join(known, on="id", how="left")
        new = distinct.filter(pl.col("n").is_null()).select("id")
        first = self.n
        self._add(new.to_series())
        table = pl.concat(
            [
                distinct.filter(pl.col("n").is_not_null()).select("id", "n"),
                new.with_columns(
                    pl.int_range(first, self.n, dtype=pl.UInt32).alias("n")
                ),
            ]
        )
        numbers = given.join(table, on="id", how="left", maintain_order="left")["n"]
        return numbers.to_numpy().astype(np.int32)

    def _add(self, ids: pl.Series) -> None:
        if len(ids):
            self._parts.append(ids)
            self.n += len(ids)


class Labels:
    """The groups that users were seen in, and when they were first seen there.

    Attributes:
        texts: the groups, by their numbers from 1.
        first: the group of each user that came first here, 0 for none.
        seen: when the user was first seen in it.
        others: user, group and time for further groups of the same users.
    """

    def __init__(self) -> None:
        self.texts = Numbers()
        self.first: AnyArray = np.zeros(0, np.int32)
        self.seen: AnyArray = np.zeros(0, np.int64)
        self.others: list[pl.DataFrame] = []

    def copy(self) -> Labels:
        """Return a copy that can be added to."""
        other = Labels()
        other.texts, other.others = self.texts.copy(), [*self.others]
        other.first, other.seen = self.first.copy(), self.seen.copy()
        return other

    def of(self, texts: pl.Series, numbers: AnyArray) -> AnyArray:
        """Return the numbers of groups here, 0 where there is none.

        Args:
            texts: the names of groups.
            numbers: which of them each row has, from 1; 0 for none.
        """
        if texts.is_empty():
            return np.zeros(len(numbers), np.int32)
        here = np.append(np.int32(0), self.texts.of(texts) + 1)
        return here.astype(np.uint8 if here.max() < _SMALL else np.int32).take(numbers)

    def add(self, user: AnyArray, group: AnyArray, seen: AnyArray, n: int) -> None:
        """Record when users were seen in groups, for n users in all."""
        self.first, self.seen = grown(self.first, n, 0), grown(self.seen, n, NEVER)
        known = group != 0
        if not known.all():
            user, group, seen = user[known], group[known], seen[known]
        news = (self.first[user] != group) | (seen < self.seen[user])
        user, group, seen = user[news], group[news], seen[news]
        new = self.first[user] == 0
        self.first[user[new]] = group[new]
        same = self.first[user] == group
        np.minimum.at(self.seen, user[same], seen[same])
        rest = ~same
        if rest.any():
            groups = group[rest].astype(np.int32)
            more = {"user": user[rest], "group": groups, "seen": seen[rest]}
            self.others = [_least([*self.others, pl.DataFrame(more)])]

    def merge(self, other: Labels, number: AnyArray, n: int) -> None:
        """Add what another has seen; `number` has the numbers of its users here."""
        if not other.texts.n:
            return
        every = np.arange(1, 1 + other.texts.n)
        group = np.append(np.int32(0), self.of(other.texts.ids, every))
        known = len(number)
        first = np.zeros(known, np.int32)
        first[: len(other.first)] = other.first[:known]
        seen = np.full(known, NEVER)
        seen[: len(other.seen)] = other.seen[:known]
        self.add(number, group[first], seen, n)
        for rows in other.others:
            users, groups = rows["user"].to_numpy(), rows["group"].to_numpy()
            self.add(number[users], group[groups], rows["seen"].to_numpy(), n)

    def several(self) -> Ints:
        """Return the users who were seen in more than one group."""
        if not self.others:
            return np.zeros(0, np.int64)
        return np.unique(self.others[0]["user"].to_numpy()).astype(np.int64)

    def each(self, users: Ints) -> pl.DataFrame:
        """Return user, group and time for all groups of some users."""
        wanted = np.zeros(len(self.first), bool)
        wanted[users] = True
        rows = {"user": users, "group": self.first[users], "seen": self.seen[users]}
        others = (part.filter(wanted[part["user"].to_numpy()]) for part in self.others)
        frame = pl.concat([pl.DataFrame(rows), *others], how="vertical_relaxed")
        texts = pl.concat([pl.Series([None], dtype=pl.String), self.texts.ids])
        return frame.with_columns(texts[frame["group"]].alias("text"))

    def earliest(self, n: int) -> AnyArray:
        """Return the group that each of n users was first seen in; if equal, by name.

        0 stands for none.
        """
        groups = np.zeros(n, np.int32)
        groups[: len(self.first)] = self.first[:n]
        users = self.several()
        if len(users):
            rows = self.each(users).sort("user", "seen", "text")
            rows = rows.unique("user", keep="first")
            groups[rows["user"].to_numpy()] = rows["group"].to_numpy()
        return groups


def _least(parts: list[pl.DataFrame]) -> pl.DataFrame:
    return pl.concat(parts).group_by("user", "group").agg(pl.col("seen").min())


def by_user(parts: Sequence[pl.DataFrame], name: str, n: int) -> Ints:
    """Add up a count for each of n users."""
    sums = np.zeros(n, np.int64)
    for part in parts:
        _add(part, name, sums)
    return sums


def _add(part: pl.DataFrame, name: str, sums: Ints) -> None:
    np.add.at(sums, part["user"].to_numpy(), part[name].to_numpy().astype(np.int64))


def oddities(
    parts: Iterable[pl.DataFrame], ids: pl.Series, has: frozenset[str]
) -> list[str]:
    """Say what is odd in what users did.

    Args:
        parts: what they did, by their numbers.
        ids: the ids of all users, by their numbers.
        has: the parts that the log has.
    """
    names = ("events", "impressions", "pageless", "sessions", "untimed", "revenue")
    each = {
        name: np.zeros(len(ids), np.int64)
        for name in ("events", "clicks", "impressions")
    }
    total = dict.fromkeys(names, 0)
    for part in parts:
        if not part.height:
            continue
        for name, sums in each.items():
            _add(part, name, sums)
        for name in names:
            total[name] += int(part[name].cast(pl.Int128).sum())
    notes = []
    most = each["events"].max(initial=0)
    share = most / total["events"] if total["events"] else 0
    if np.count_nonzero(each["events"]) >= _FEW_USERS and share >= _HEAVY:
        heaviest = ids.filter(pl.Series(each["events"] == most)).min()
        notes.append(
            f"user {heaviest!r} has {percent(share)} of the events: perhaps a robot"
        )
    more = int(np.count_nonzero(each["clicks"] > each["impressions"]))
    if more and total["impressions"]:
        notes.append(f"{count(more, 'user')} with more clicks than impressions")
    if total["pageless"] and total["pageless"] < total["sessions"]:
        n = count(total["pageless"], "session")
        notes.append(f"{n} without a page view: counted, and none of them bounces")
    if total["untimed"]:
        n = count(total["untimed"], "page view")
        notes.append(f"{n} at the end of a session: no time on page")
    if "value" in has and total["revenue"] < 0:
        notes.append("revenue is negative: refunds exceed sales")
    return notes
