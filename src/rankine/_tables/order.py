"""Ranks within lists: what decides them, who comes first among equals.

How many items are above a row, and how many are equal to it, depends on the scores
alone; only the rank among equals depends on the rule for ties. So lists are compared
once for all rules, and only the rows that are asked for are ranked.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from rankine._base.limits import limits
from rankine._tables.judged import SPREAD
from rankine._tables.keys import KeyTable, spread
from rankine._tables.segments import (
    NO_STEPS,
    above_and_tied,
    expand,
    position,
    rounded,
    runs,
    sort_descending,
    steps_of,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from numpy.typing import NDArray

    from rankine._base.arrays import Floats, Ints
    from rankine._conventions.convention import Convention
    from rankine._tables.segments import Steps

    TextOrder = Callable[[Ints], Ints]

DEEPEST = 1 << 24
"""The largest rank; tables of discounts reach as far as the ranks do."""
_HALF = np.uint64(32)


class Order(NamedTuple):
    """The part of a convention that decides ranks; the rest applies to a joined table.

    Attributes:
        by: what comes first: the largest score, the smallest rank, or the first in the
            input.
        tie: who comes first among equals.
        bits: the precision with which scores are compared.
        duplicates: what happens to an item that is repeated in a list.
    """

    by: str
    tie: str
    bits: int
    duplicates: str

    @staticmethod
    def of(rule: Convention, base: Convention | None = None) -> Order:
        """Return the order of a convention.

        If all orders of ties are considered, any of them will do, such as that of the
        convention that others override; and an item that counts once is found like one
        that counts each time.
        """
        tie = rule.tie
        if tie in SPREAD:
            tie = "id_desc" if base is None or base.tie in SPREAD else base.tie
        duplicates = "count" if rule.duplicates == "set" else rule.duplicates
        return Order(rule.order, tie, rule.score_bits, duplicates)


def places_of(texts: Sequence[str]) -> Ints:
    """Return the place of each text in their order, by bytes.

    >>> places_of(["9", "10", "2"])
    array([2, 0, 1])
    """
    places = np.empty(len(texts), dtype=np.int64)
    places[sorted(range(len(texts)), key=texts.__getitem__)] = np.arange(len(texts))
    return places


def tie_keys(rows: Ints, tie: str, by_text: TextOrder) -> Ints:
    """Return a number for each row; among equals, the smallest comes first.

    Ids are compared by the bytes of their text, so that 10 and "10" are ranked alike.

    Args:
        rows: the rows, in the order given.
        tie: the rule: by id, or by the order given, ascending or descending.
        by_text: gives, for some rows, numbers in the order of their ids as texts.
    """
    keys = np.arange(len(rows))
    if tie not in {"input", "input_rev"}:
        keys[by_text(rows).argsort(kind="stable")] = np.arange(len(rows))
    return keys if tie in {"input", "id_asc"} else len(rows) - 1 - keys


def before(
    by_text: TextOrder, scores: Floats, starts: Ints, row: Ints, group: Ints, tie: str
) -> Ints:
    """Count, for each row, the items of its list and score that the rule puts before.

    Args:
        by_text: gives, for some rows, numbers in the order of their ids as texts.
        scores: the scores of all rows, those of a list together.
        starts: where each list begins.
        row: the rows that are asked for.
        group: the number of the list of each.
        tie: the rule.
    """
    # Look at the lists that have such a row, and there at equal scores.
    lists = np.unique(group)
    rows, owner = expand(starts[lists], np.diff(starts)[lists])
    members, block = _ties(rows, owner, scores, row, lists.searchsorted(group))
    keys = tie_keys(members, tie, by_text)
    order = np.argsort(block * len(members) + keys)
    place = np.empty(len(members), dtype=np.int64)
    place[order] = position(block[order])
    places: Ints = place[np.searchsorted(members, row)]  # members rise, as rows do
    return places


def sorted_rows(by_text: TextOrder, scores: Floats, starts: Ints, tie: str) -> Ints:
    """Order all rows by list and score, and equal scores by the rule.

    Args:
        by_text: gives, for some rows, numbers in the order of their ids as texts.
        scores: the scores of all rows, those of a list together.
        starts: where each list begins.
        tie: the rule.
    """
    length = np.diff(starts)
    number = np.repeat(np.arange(len(length)), length)
    # Both leave equal scores as they are given.
    if len(scores) <= limits().long_lists * len(length):
        order = np.lexsort((-scores, number))
    else:
        rows = map(slice, starts[:-1].tolist(), starts[1:].tolist())
        falling = -scores
        order = np.concatenate([falling[some].argsort(kind="stable") for some in rows])
        order += np.repeat(starts[:-1], length)
    ordered = scores[order]
    same = np.zeros(len(scores), dtype=np.bool_)
    same[1:] = (ordered[1:] == ordered[:-1]) & (number[1:] == number[:-1])
    if tie == "input" or not same.any():
        return order
    touched = same.copy()
    touched[:-1] |= same[1:]
    places = np.flatnonzero(touched)
    _, block = runs(number[places], ordered[places])
    keys = tie_keys(order[places], tie, by_text)
    order[places] = order[places][np.argsort(block * len(places) + keys)]
    return order


def _ties(
    rows: Ints, owner: Ints, scores: Floats, row: Ints, group: Ints
) -> tuple[Ints, Ints]:
    """Return the rows that tie with a requested row, and the number of their tie."""
    asked = scores[row] + 0.0  # -0 is 0
    by_tie = np.lexsort((asked, group))
    first, _ = runs(group[by_tie], asked[by_tie])
    group, asked = group[by_tie[first]], asked[by_tie[first]]
    value = scores[rows] + 0.0
    # A list and a score are found by their key, and compared themselves; two ties with
    # one key, which is all but impossible, get others.
    seed = 1
    while not (table := KeyTable(_keys(group, asked, seed))).unique:
        seed += 2
    found, tie = table.find(_keys(owner, value, seed))
    same = (owner[found] == group[tie]) & (value[found] == asked[tie])
    return rows[found[same]], tie[same]


def _keys(numbers: Ints, values: Floats, seed: int) -> NDArray[np.uint64]:
    """Return a key for each pair of a number and a value."""
    bits = spread(values.view(np.int64) * seed)
    return spread(numbers + seed) ^ bits ^ (bits >> _HALF)


@dataclass(eq=False)
class Compared:
    """Lists as they are compared: by what, and with which precision.

    Attributes:
        scores: the scores of all rows, list by list; None where the place is the rank.
        steps: how they rise and fall along the lists.
    """

    scores: Floats | None
    steps: Steps = NO_STEPS
    _counted: tuple[Ints, Ints] | None = field(default=None, repr=False)

    def reach(self, depth: int, starts: Ints) -> int | None:
        """Return how many rows of each list cover the ranks down to a depth.

        None if any row may. A tie may begin at the last rank, and end below it.
        """
        if self.scores is None or self.steps.strict:
            return depth
        if self.steps.rises:
            return None
        return depth + _longest_tie(self.scores, starts) - 1

    def lengths(self, starts: Ints, order: Order) -> Ints:
        """Return the length of each list; the largest rank, where these are numbers."""
        if order.by != "rank_value" or self.scores is None or len(self.scores) == 0:
            return np.diff(starts)
        return -np.minimum.reduceat(self.scores, starts[:-1]).astype(np.int64)

    def ranks(
        self,
        starts: Ints,
        row: Ints,
        group: Ints,
        order: Order,
        by_text: TextOrder,
    ) -> tuple[Ints, Ints, Ints]:
        """Return how many items are above some rows and tied with them, and the rank.

        Args:
            starts: where each list begins.
            row: the rows.
            group: the number of the list of each.
            order: says who comes first among equals.
            by_text: gives, for some rows, numbers in the order of their ids as texts.
        """
        single = np.ones(len(row), dtype=np.int64)
        if self.scores is not None and order.by == "rank_value":
            rank = -self.scores[row].astype(np.int64)
            return rank - 1, single, rank
        if self.scores is None or self.steps.strict:
            above = row - starts[group]
            return above, single, above + 1
        above, tied = self._count(self.scores, starts, row, group)
        rank = above + 1
        equal = np.flatnonzero(tied > 1)
        if len(equal):
            rank[equal] += before(
                by_text, self.scores, starts, row[equal], group[equal], order.tie
            )
        return above, tied, rank

    def _count(
        self, scores: Floats, starts: Ints, row: Ints, group: Ints
    ) -> tuple[Ints, Ints]:
        """Count what is above some rows and tied with them, once for all rules.

        The first answer is kept, as the same rows are asked for under each rule.
        """
        if self._counted is None:
            if self.steps.rises:
                ordered = sort_descending(scores, starts)
                self._counted = above_and_tied(ordered, starts, group, scores[row])
            else:
                self._counted = _in_falling(scores, starts, row, group)
        return self._counted


def compare(
    scores: Floats | None, starts: Ints, orders: Iterable[Order]
) -> dict[tuple[str, int], Compared]:
    """Compare lists by what the orders ask for, with their precision.

    Scores that fall without a tie in 32 bits also do so in 64, and need not be looked
    at again.
    """
    compared: dict[tuple[str, int], Compared] = {}
    steps: Steps | None = None
    kinds = {(order.bits, order.by) for order in orders}
    for bits, by in sorted(kinds):
        if scores is None or by == "given":
            compared[by, bits] = Compared(None)
            continue
        values = scores if by == "rank_value" else rounded(scores, bits)
        if steps is None or not steps.strict:
            steps = steps_of(values, starts)
        compared[by, bits] = Compared(values, steps)
    return compared


def _in_falling(
    scores: Floats, starts: Ints, row: Ints, group: Ints
) -> tuple[Ints, Ints]:
    """Count the scores above some rows and those equal to them, in falling lists.

    A search is needed only where a neighbour is equal; a neighbour in another list
    costs a search, but changes nothing.
    """
    asked = scores[row]
    above, tied = row - starts[group], np.ones(len(row), dtype=np.int64)
    equal = scores[np.maximum(row - 1, 0)] == asked
    equal |= scores[np.minimum(row + 1, len(scores) - 1)] == asked
    places = np.flatnonzero(equal)
    above[places], tied[places] = above_and_tied(
        scores, starts, group[places], asked[places]
    )
    return above, tied


def _longest_tie(scores: Floats, starts: Ints) -> int:
    """Return the largest number of equal scores next to each other in a list."""
    equal = scores[1:] == scores[:-1]
    equal[starts[1:-1] - 1] = False
    places = np.flatnonzero(equal)
    return 1 + int(
        np.bincount(np.cumsum(np.diff(places, prepend=-1) > 1)).max(initial=0)
    )
