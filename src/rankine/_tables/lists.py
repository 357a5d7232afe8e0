"""Recommended: the lists of a run, and what is known of their items and users.

Metrics beyond accuracy read this table: they need every item shown, not only the judged
ones. Items are numbers here; what a number stands for does not matter below.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from rankine._base.blocks import by_blocks, by_halves
from rankine._base.records import cached_property
from rankine._tables.groups import marked
from rankine._tables.keys import KeyTable, spread
from rankine._tables.segments import cut_lists, position, starts_of, sums_of
from rankine._tables.tallies import Lengths, Tallies, Tally

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from rankine._base.arrays import Bools, Floats, Ints
    from rankine._tables.groups import Groups, Topics, Train

_MIX, _LOW = 0x9E3779B1, (1 << 32) - 1
"""2^32 over the golden ratio, and the bits in which products with it are looked at."""
_SLOTS, _MOST = 16, 1 << 27
"""Slots for each judged item of a list, and for all lists together."""


@dataclass(frozen=True, eq=False)
class Top:
    """The first items of every list.

    Attributes:
        starts: where each list begins.
        item: the items, list by list, best first.
        given: the rank of each item, where ranks are left out; None where they are
            1, 2, 3 and so on.
    """

    starts: Ints
    item: Ints
    given: Ints | None = None

    @cached_property
    def length(self) -> Ints:
        """The number of items of each list."""
        return np.diff(self.starts)

    @cached_property
    def user(self) -> Ints:
        """The number of the list of each item."""
        return np.repeat(np.arange(len(self.length)), self.length)

    @cached_property
    def rank(self) -> Ints:
        """The rank of each item, from 1."""
        return position(self.user) + 1 if self.given is None else self.given

    def cut(self, k: int | None) -> Top:
        """Return the items down to rank k, or all."""
        longest = int(self.length.max(initial=0))
        if k is None or (self.given is None and longest <= k):
            return self
        starts, rows = cut_lists(self.starts, self.given, k)
        return self.take(rows, starts)

    def take(self, rows: Ints | Bools, starts: Ints) -> Top:
        """Return some of the items, and where their lists begin."""
        given = None if self.given is None else self.given[rows]
        return Top(starts, self.item[rows], given)

    def rank_of(self, row: Ints, user: Ints) -> Ints:
        """Return the ranks of some items, whose lists are known."""
        ranks: Ints = (
            row - self.starts[user] + 1 if self.given is None else self.given[row]
        )
        return ranks

    def totals(self, worth: Floats) -> Floats:
        """Add up what the items of each list are worth, given by the item's number."""
        totals = np.zeros(len(self.length))
        filled = np.flatnonzero(self.length)
        bounds = np.append(self.starts[filled], len(self.item))

        def some(lists: slice) -> None:
            edges = bounds[lists.start : lists.stop + 1]
            each = worth[self.item[edges[0] : edges[-1]]]
            totals[filled[lists]] = np.add.reduceat(each, edges[:-1] - edges[0])

        by_blocks(some, len(filled), len(self.item) // max(len(filled), 1))
        return totals

    def sums(self, values: Floats) -> Floats:
        """Add up values by list; each sum is of its own values alone."""
        return sums_of(values, self.starts)


@dataclass(frozen=True, eq=False)
class ListHits:
    """The items shown that are judged.

    Attributes:
        row: where each is among the first items of all lists.
        user: the number of its list.
        grade: the grade of the judgement.
        place: the row of the judgement.
    """

    row: Ints
    user: Ints
    grade: Floats
    place: Ints


@dataclass(frozen=True, eq=False)
class Recommended:
    """The lists of a run, item by item, and what else is known.

    Attributes:
        starts: where the list of each user begins.
        item: the number of each item, best first, as far as any metric looks.
        length: the length of each whole list.
        rank: the rank of each item, where ranks are left out; None where they are
            1, 2, 3 and so on.
        n_items: how many numbers of items there are.
        catalog: how many items could have been recommended, None if unknown.
        offered: which items are in the catalogue, None if only their number is known.
        awaited: how many users should have a list, None if unknown.
        covered: which of the lists are of such users.
        train: what users did before.
        reference: the items that another recommender shows to each user, with ranks.
        vectors: a row of features per item, in an array or a sparse matrix.
        featured: which items have features.
        topics: the topics or groups of items.
        distance: a function of two items.
        judged: the judged items of each user, with their grades.
        aspects: the subtopics of each judgement, with their grades.
        n_aspects: how many subtopics there are.
        repeats: whether an item may appear twice in a list.
        largest_grade: the largest of all judgements.
        item_ids, user_ids: the ids of items by their numbers, and those of users.
    """

    starts: Ints
    item: Ints
    length: Ints
    n_items: int
    catalog: int | None = None
    offered: Bools | None = None
    awaited: int | None = None
    covered: Bools | None = None
    train: Train | None = None
    reference: Groups | None = None
    vectors: Any = None
    featured: Bools | None = None
    topics: Topics | None = None
    distance: Callable[[int, int], float] | None = None
    judged: Groups | None = None
    aspects: Groups | None = None
    n_aspects: int = 0
    repeats: bool = False
    largest_grade: float = 1.0
    rank: Ints | None = None
    item_ids: Any = None
    user_ids: Any = None
    memo: dict[Any, Any] = field(default_factory=dict, repr=False)

    @staticmethod
    def empty() -> Recommended:
        """Return a table without lists, on which parameters are checked."""
        return _EMPTY

    @property
    def n_topics(self) -> int:
        """How many topics or subtopics there are."""
        return self.n_aspects if self.topics is None else self.topics.n

    @property
    def n_queries(self) -> int:
        """How many lists there are."""
        return len(self.starts) - 1

    def without_items(self, k: int | None = None) -> Bools:
        """Return which lists have no item down to rank k."""
        empty: Bools = self.top(k).length == 0
        return empty

    def top(self, k: int | None) -> Top:
        """Return the first k items of every list, or all."""
        if ("top", k) not in self.memo:
            self.memo["top", k] = Top(self.starts, self.item, self.rank).cut(k)
        top: Top = self.memo["top", k]
        return top

    def once(self, k: int | None) -> Top:
        """Return the first k items of every list, each item once."""
        if ("once", k) not in self.memo:
            top = self.top(k)
            if self.repeats:
                pair = top.user * max(self.n_items, 1) + top.item
                order = np.argsort(pair, kind="stable")
                first = np.ones(len(pair), dtype=np.bool_)
                first[1:] = pair[order][1:] != pair[order][:-1]
                kept = np.sort(order[first])
                length = np.bincount(top.user[kept], minlength=self.n_queries)
                top = top.take(kept, starts_of(length))
            self.memo["once", k] = top
        items: Top = self.memo["once", k]
        return items

    def shown(self, k: int | None) -> Bools:
        """Mark the items that are shown among the first k of any list."""
        if ("tally", k, False) in self.memo:
            return self.tally(k).rows > 0
        top = self.top(k)
        k = None if top.item is self.item else k
        if ("shown", k) not in self.memo:
            halves = by_halves(
                lambda rows: marked(top.item[rows], self.n_items),
                len(top.item),
                len(top.item),
            )
            self.memo["shown", k] = np.logical_or.reduce(halves)
        marks: Bools = self.memo["shown", k]
        return marks

    def counted(self, chosen: Bools) -> int | frozenset[str]:
        """Return how many items are chosen, or which ones if their ids are known."""
        numbers = np.flatnonzero(chosen)
        if self.item_ids is None:
            return len(numbers)
        return frozenset(map(str, self.item_ids.gather(numbers)))

    def tally(self, k: int | None, *, once: bool = False) -> Tally:
        """Return how often each item is shown among the first k."""
        once = once and self.repeats
        if ("tally", k, once) not in self.memo:
            top = self.once(k) if once else self.top(k)
            length = top.length
            lists = np.bincount(length, minlength=1)
            lists[0] = 0
            kinds = np.flatnonzero(lists)
            if len(kinds) <= 1:
                rows = np.bincount(top.item, minlength=self.n_items)
                by_length = {int(n): rows for n in kinds}
            else:
                of_row = length[top.user]
                by_length = {
                    int(n): np.bincount(top.item[of_row == n], minlength=self.n_items)
                    for n in kinds
                }
            self.memo["tally", k, once] = Tally(by_length, lists)
        tally: Tally = self.memo["tally", k, once]
        return tally

    def lengths(self, k: int | None) -> Lengths:
        """Return how many lists there are of each length, cut at k."""
        length = self.top(k).length
        every = np.bincount(length, minlength=1)
        if self.covered is None:
            return Lengths(every, every)
        return Lengths(every, np.bincount(length[self.covered], minlength=1))

    def parts(self, n_users: int) -> Iterator[Recommended]:
        """Return tables of a few lists each, for values of lists on their own."""
        for begin in range(0, self.n_queries, n_users):
            end = min(begin + n_users, self.n_queries)
            judged, train, aspects = self.judged, self.train, self.aspects
            other = self.reference
            if judged is not None and aspects is not None:
                rows = judged.starts[[begin, end]].tolist()
                aspects = aspects.part(*rows)
            if train is not None:
                train = train.part(begin, end)
            yield replace(
                self,
                starts=self.starts[begin : end + 1] - self.starts[begin],
                item=self.item[self.starts[begin] : self.starts[end]],
                length=self.length[begin:end],
                rank=None
                if self.rank is None
                else self.rank[self.starts[begin] : self.starts[end]],
                covered=None if self.covered is None else self.covered[begin:end],
                judged=None if judged is None else judged.part(begin, end),
                aspects=aspects,
                train=train,
                reference=None if other is None else other.part(begin, end),
                memo={},
            )

    def hits(self, k: int | None) -> ListHits:
        """Return the items shown that are judged."""
        if ("hits", k) not in self.memo:
            top, judged = self.top(k), self.judged
            if judged is None or len(judged.member) == 0:
                none = np.zeros(0, dtype=np.int64)
                self.memo["hits", k] = ListHits(none, none, np.zeros(0), none)
            else:
                self.memo["hits", k] = _hits(top, judged, max(self.n_items, 1))
        hits: ListHits = self.memo["hits", k]
        return hits

    def grades(self, k: int | None) -> Floats:
        """Return the grade of each item shown, nan where it is not judged."""
        hits = self.hits(k)
        grade = np.full(len(self.top(k).item), np.nan)
        grade[hits.row] = hits.grade
        return grade

    def per_user(self, user: Ints, values: Floats | None = None) -> Floats:
        """Add up values, or count rows, by user."""
        n = self.n_queries
        return np.bincount(user, weights=values, minlength=n).astype(np.float64)


def _hits(top: Top, judged: Groups, width: int) -> ListHits:
    """Find the judged items among those shown.

    Each list has some slots of its own, which its judged items mark; an item in another
    slot is not judged. Most items are ruled out in this way, without leaving the cache:
    5 million take 0.07 s, and 0.15 s without.
    """
    n = len(top.length)
    each = _SLOTS * max(len(judged.member) // max(n, 1), 1)
    bits = min(each.bit_length(), max(_MOST.bit_length() - n.bit_length(), 0))
    taken = np.zeros(n << bits, dtype=np.bool_)
    taken[(judged.owner << bits) + _slot(judged.member, bits)] = True

    def some(lists: slice) -> tuple[Ints, Ints]:
        begin = int(top.starts[lists.start])
        item = top.item[begin : top.starts[lists.stop]]
        base = np.arange(lists.start, lists.stop) << bits
        slot = np.repeat(base, top.length[lists])
        slot += _slot(item, bits)
        hit = np.flatnonzero(taken[slot])
        return hit + begin, slot[hit] >> bits

    parts = by_blocks(some, n, len(top.item) // max(n, 1))
    none = np.zeros(0, dtype=np.int64)
    row = np.concatenate([none, *(rows for rows, _ in parts)])
    user = np.concatenate([none, *(users for _, users in parts)])
    table = KeyTable(spread(judged.owner * width + judged.member))
    which, place = table.find(spread(user * width + top.item[row]))
    return ListHits(row[which], user[which], judged.value[place], place)


def _slot(item: Ints, bits: int) -> Ints:
    """Return one of 2^bits slots, spread evenly over the numbers of items."""
    return ((item * _MIX) & _LOW) >> (_LOW.bit_length() - bits)


Exposure: TypeAlias = Recommended | Tallies
"""What a number of a whole run may read."""

_EMPTY = Recommended(
    starts=np.zeros(1, dtype=np.int64),
    item=np.zeros(0, dtype=np.int64),
    length=np.zeros(0, dtype=np.int64),
    n_items=0,
)
