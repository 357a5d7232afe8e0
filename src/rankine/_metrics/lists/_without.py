"""Numbers for whole runs without each of their lists in turn, in one pass.

A list adds a few counts to the sums that make up such a number. They are subtracted for
all lists at once, so that nothing is recomputed.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from rankine._metrics.lists.kind import share as ratio
from rankine._tables.segments import expand
from rankine.errors import ParameterError

if TYPE_CHECKING:
    from collections.abc import Callable

    from rankine._base.arrays import Floats, Ints
    from rankine._tables.lists import Recommended


@dataclass(frozen=True, eq=False)
class Counts:
    """How often items are shown, by all lists and by each of them.

    Attributes:
        table: the lists.
        user, item: the list and the item of each entry; a list has an item once.
        times: how often the list shows it.
        length: the length of each list.
        rows: how often all lists show each item.
        by_list: the same, where every list gives 1 / length to each of its rows.
    """

    table: Recommended
    user: Ints
    item: Ints
    times: Ints
    length: Ints
    rows: Ints
    by_list: Floats

    @staticmethod
    def of(table: Recommended, k: int | None, outside: str) -> Counts:
        """Count the items among the first k, of the catalogue alone or of all."""
        top = table.top(k)
        user, item = top.user, top.item
        if outside == "left_out" and table.offered is not None:
            offered = table.offered[item]
            user, item = user[offered], item[offered]
        times = np.ones(len(item), dtype=np.int64)
        if table.repeats:
            width = max(table.n_items, 1)
            pair, times = np.unique(user * width + item, return_counts=True)
            user, item = pair // width, pair % width
        tally = table.tally(k)
        rows, by_list = tally.rows, tally.weighed(lambda length: 1 / length)
        if outside == "left_out" and table.offered is not None and len(rows):
            rows, by_list = rows * table.offered, by_list * table.offered
        return Counts(table, user, item, times, top.length, rows, by_list)

    def sums(self, worth: Callable[[Ints, Floats], Any]) -> Floats:
        """Add up what the items shown are worth, without each list in turn.

        An item is worth something by `rows` and `by_list`, and nothing if no list that
        is left shows it.
        """

        def worths(rows: Ints, by_list: Floats) -> Floats:
            return np.where(rows > 0, worth(np.maximum(rows, 1), by_list), 0.0)

        before = worths(self.rows, self.by_list)
        given = self.times / self.length[self.user]
        after = worths(
            self.rows[self.item] - self.times, self.by_list[self.item] - given
        )
        changes = self.table.per_user(self.user, after - before[self.item])
        return math.fsum(before.tolist()) + changes

    @property
    def totals(self) -> Floats:
        """How many rows all other lists have."""
        return self.sums(lambda rows, _: rows)

    @property
    def items(self) -> Floats:
        """How many different items all other lists show."""
        return self.sums(lambda _, __: 1.0)

    @property
    def lists(self) -> Floats:
        """How many other lists have an item."""
        used = self.length > 0
        return np.count_nonzero(used) - used.astype(np.float64)


def coverage_without(
    table: Recommended,
    *,
    k: int | None,
    share: bool,
    outside: str,
    padding: int,
    weight: str,
    scale: float,
) -> Floats:
    """Return the coverage without each list."""
    shown = Counts.of(table, k, outside)
    if weight == "list" and k is not None:
        covered = k * shown.sums(lambda rows, by_list: by_list / rows)
    else:
        covered = shown.items
    if table.n_queries == 1:
        return np.full(1, np.nan)
    whole = (table.catalog or 0) + padding
    return covered / whole * scale if share else covered


def user_coverage_without(
    table: Recommended, *, k: int | None, least: int | None, share: bool
) -> Floats:
    """Return the share of users with a list, or their number, without each user."""
    if share and table.judged is None and table.n_queries:
        msg = (
            "UserCoverage can be compared only with judgements, as users without a "
            "list count too; give qrels, or write UserCoverage(share=False)"
        )
        raise ParameterError(msg)
    reached = (table.top(k).length >= (least or k or 1)).astype(np.float64)
    left = reached.sum() - reached
    others = np.full(len(left), table.n_queries - 1.0)
    return ratio(left, others) if share else left


def gini_without(
    table: Recommended,
    *,
    k: int | None,
    complement: bool,
    divisor: str,
    outside: str,
    padding: int,
) -> Floats:
    """Return the Gini index without each list.

    The differences of all pairs of counts add up to the sum of m_t (N - m_t) over t,
    where m_t items are shown t times or more: of so many pairs, one item is and the
    other is not. As the m_t add up to all rows T, that is N T - sum_t m_t^2. A list
    lowers m_t by one for each of its items that is shown t times.
    """
    shown = Counts.of(table, k, outside)
    at_least = np.bincount(shown.rows, minlength=1)[::-1].cumsum()[::-1]
    counts, entry = expand(shown.rows[shown.item] - shown.times + 1, shown.times)
    width = len(at_least)
    level, fewer = np.unique(shown.user[entry] * width + counts, return_counts=True)
    lost = fewer * (2 * at_least[level % width] - fewer)
    squares = int((at_least[1:] ** 2).sum())
    squared = squares - table.per_user(level // width, lost.astype(np.float64))
    n = np.maximum((table.catalog or 0) + padding, shown.items)
    uneven = n - ratio(squared, shown.totals)
    index = ratio(uneven, n - 1 if divisor == "n-1" else n)
    return 1 - index if complement else index


def entropy_without(
    table: Recommended,
    *,
    k: int | None,
    base: float,
    weight: str,
    scale: str,
    outside: str,
) -> Floats:
    """Return the entropy without each list."""
    shown = Counts.of(table, k, outside)
    total = shown.totals
    log_total = np.log(np.where(total > 0, total, np.nan))
    if weight == "row":
        logs = shown.sums(lambda rows, _: rows * np.log(rows))
        value = log_total - logs / np.maximum(total, 1)
    else:
        logs = shown.sums(lambda rows, by_list: by_list * np.log(rows))
        weighs = shown.sums(lambda _, by_list: by_list)
        value = ratio(log_total * weighs - logs, shown.lists)
    value = value / math.log(base)
    if scale == "items":
        value = ratio(value, shown.items)
    elif scale == "max":
        most = math.log(table.catalog or 1) / math.log(base)
        value = value / (most or math.nan)
    return value


def gini_simpson_without(
    table: Recommended, *, k: int | None, weight: str, outside: str
) -> Floats:
    """Return the Gini-Simpson index without each list."""
    shown = Counts.of(table, k, outside)
    total = shown.totals
    if weight == "row":
        alike = ratio(shown.sums(lambda rows, _: rows * rows), total**2)
        return 1 - alike
    lists, longest = shown.lists, np.sort(shown.length)[::-1]
    most = np.full(len(total), float(k or longest[:1].sum()))
    if k is None and len(longest) > 1:
        most[shown.length == longest[0]] = longest[1]
    alike = ratio(shown.sums(lambda rows, by_list: by_list * rows), lists**2 * most)
    return np.where(total > 0, 1 - alike, np.nan)
