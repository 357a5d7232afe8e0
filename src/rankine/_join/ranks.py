"""Ranks within lists: what decides them, who comes first among equals.

How many items are above a row, and how many are equal to it, depends on the scores
alone; only the rank among equals depends on the rule for ties. So lists are compared
once for all rules, and only the rows that are asked for are ranked.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from rankine._base.forks import has_threads
from rankine._base.limits import limits
from rankine._base.text import RANK_LAST, count
from rankine._tables.judged import SPREAD
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
from rankine.errors import DataError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    import polars as pl

    from rankine._base.arrays import AnyArray, Floats, Ints
    from rankine._conventions.convention import Convention
    from rankine._io.sources import Rows
    from rankine._tables.segments import Steps

    Ids = Callable[[Ints], pl.Series | Ints]

DEEPEST = 1 << 24
"""The largest rank; tables of discounts reach as far as the ranks do."""


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


def tie_keys(rows: Ints, tie: str, ids: Ids) -> Ints:
    """Return a number for each row; among equals, the smallest comes first.

    Ids are compared by the bytes of their text, so that 10 and "10" are ranked alike.

    Args:
        rows: the rows, in the order given.
        tie: the rule: by id, or by the order given, ascending or descending.
        ids: gives the ids of some rows, or numbers in the order of their texts.
    """
    keys = np.arange(len(rows))
    if tie not in {"input", "input_rev"}:
        keys[_by_text(ids(rows))] = np.arange(len(rows))
    return keys if tie in {"input", "id_asc"} else len(rows) - 1 - keys


def before(
    ids: Ids, scores: Floats, starts: Ints, row: Ints, group: Ints, tie: str
) -> Ints:
    """Count, for each row, the items of its list and score that the rule puts before.

    Args:
        ids: gives the ids of some rows.
        scores: the scores of all rows, those of a list together.
        starts: where each list begins.
        row: the rows that are asked for.
        group: the number of the list of each.
        tie: the rule.
    """
    # Look at the lists that have such a row, and there at equal scores.
    lists = np.unique(group)
    rows, owner = expand(starts[lists], np.diff(starts)[lists])
    few = len(rows) <= limits().few_tied or not has_threads()
    blocks = _few_blocks if few else _blocks
    members, block = blocks(rows, owner, scores, row, lists.searchsorted(group))
    keys = tie_keys(members, tie, ids)
    order = np.argsort(block * len(members) + keys)
    place = np.empty(len(members), dtype=np.int64)
    place[order] = position(block[order])
    places: Ints = place[np.searchsorted(members, row)]  # members rise, as rows do
    return places


def sorted_rows(ids: Ids, scores: Floats, starts: Ints, tie: str) -> Ints:
    """Order all rows by list and score, and equal scores by the rule.

    Args:
        ids: gives the ids of some rows.
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
    keys = tie_keys(order[places], tie, ids)
    order[places] = order[places][np.argsort(block * len(places) + keys)]
    return order


def _by_text(ids: pl.Series | Ints) -> Ints:
    """Return the order of ids by the bytes of their text, which is its characters'."""
    if isinstance(ids, np.ndarray):
        return ids.argsort(kind="stable")
    import polars as pl  # noqa: PLC0415 - not there where only numbers are ranked

    texts = ids.cast(pl.String)
    if has_threads():
        return texts.arg_sort().to_numpy()
    plain = texts.to_list()
    return np.array(sorted(range(len(plain)), key=plain.__getitem__), dtype=np.int64)


def _few_blocks(
    rows: Ints, owner: Ints, scores: Floats, row: Ints, _: Ints
) -> tuple[Ints, Ints]:
    """Return the rows that tie with a requested row, and the number of their tie."""
    value = scores[rows] + 0.0
    order = np.lexsort((value, owner))
    _, number = runs(owner[order], value[order])
    block = np.empty(len(rows), dtype=np.int64)
    block[order] = number
    # Rows rise, and the asked ones are among them.
    wanted = np.zeros(len(rows), dtype=np.bool_)
    wanted[block[np.searchsorted(rows, row)]] = True
    kept = wanted[block]
    return rows[kept], block[kept]


def _blocks(
    rows: Ints, owner: Ints, scores: Floats, row: Ints, group: Ints
) -> tuple[Ints, Ints]:
    """Return the same for many rows, for which a join is faster than a sort."""
    import polars as pl  # noqa: PLC0415 - not there where only numbers are ranked

    every = pl.DataFrame({"list": owner, "score": scores[rows] + 0.0, "row": rows})
    asked = pl.DataFrame({"list": group, "score": scores[row] + 0.0}).unique()
    both = every.join(
        asked.with_row_index("block"), on=["list", "score"], maintain_order="left"
    )
    return both["row"].to_numpy(), both["block"].to_numpy().astype(np.int64)


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
        ids: Ids,
    ) -> tuple[Ints, Ints, Ints]:
        """Return how many items are above some rows and tied with them, and the rank.

        Args:
            starts: where each list begins.
            row: the rows.
            group: the number of the list of each.
            order: says who comes first among equals.
            ids: gives the ids of some rows.
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
                ids, self.scores, starts, row[equal], group[equal], order.tie
            )
        return above, tied, rank

    def _count(
        self, scores: Floats, starts: Ints, row: Ints, group: Ints
    ) -> tuple[Ints, Ints]:
        """Count what is above some rows and tied with them, once for all rules."""
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


def refuse_nan(rows: Rows, scores: Floats) -> None:
    """Refuse scores of rows that cannot be ordered."""
    if not np.isnan(scores.min(initial=np.inf)):
        return
    missing = np.isnan(scores)
    row = int(np.flatnonzero(missing)[0])
    example = rows.frame["query"][row], rows.frame["item"][row]
    raise no_order(rows.where(row), example, int(missing.sum()))


def no_order(where: str, example: tuple[object, object], n: int) -> DataError:
    """Say that n scores are no numbers, such as that of a query and an item."""
    query, item = example
    msg = (
        f"{where}: the score of item {item!r} for query {query!r} is not a number "
        f"({count(n, 'such score')} in all); a ranking needs numbers that can be "
        f"ordered{RANK_LAST}"
    )
    return DataError(msg)


def check_ranks(rows: Rows, values: Floats) -> None:
    """Refuse values that are not minus a rank: ranks are whole numbers from 1."""
    fine = (values <= -1) & (values >= -DEEPEST) & (values == np.floor(values))
    if fine.all():
        return
    row = int(np.flatnonzero(~fine)[0])
    msg = (
        f"{rows.where(row)}: the rank of item {rows.frame['item'][row]!r} for query "
        f"{rows.frame['query'][row]!r} is {-float(values[row]):g}; ranks used as "
        f"numbers must be whole numbers from 1 to {DEEPEST:,}"
    )
    raise DataError(msg)


def refuse_same_ranks(
    rows: Rows,
    values: Floats,
    starts: Ints,
    order: AnyArray | None,
    query_of: Callable[[int], object],
) -> None:
    """Refuse a rank that appears twice in a list.

    Args:
        rows: where the ranks come from.
        values: minus the ranks, list by list.
        starts: where each list begins.
        order: the row of each value, None if they are in the order of rows.
        query_of: gives the query of a list.
    """
    owner = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
    by_rank = np.lexsort((-values, owner))
    owner, ranks = owner[by_rank], values[by_rank]
    same = (ranks[1:] == ranks[:-1]) & (owner[1:] == owner[:-1])
    if not same.any():
        return
    second = int(np.flatnonzero(same)[0]) + 1
    row = int(by_rank[second])
    row = row if order is None else int(order[row])
    msg = (
        f"{rows.where(row)}: rank {-ranks[second]:.0f} appears twice for query "
        f"{query_of(int(owner[second]))!r}; when ranks are used as numbers, each item "
        "of a list needs its own"
    )
    raise DataError(msg)
