"""Sums: exact sums of the values of queries, if the values are not kept.

They are small for any number of queries, and can be sent between machines.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from rankine._base.records import cached_property
from rankine._evaluate.notes import first_ids
from rankine._evaluate.summary import of_all, rounded_bounds, settled
from rankine._stats.exact import Exact, added, exact_sum, product_error, root, to_float
from rankine._stats.intervals import FLOOR, Interval, around
from rankine._tables.joined import SHOWN

if TYPE_CHECKING:
    from collections.abc import Sequence

    import polars as pl

    from rankine._base.arrays import Floats
    from rankine._conventions.convention import Convention
    from rankine._evaluate.summary import Summary
    from rankine._metrics.metric import Metric
    from rankine._tables.tallies import Tallies

_NOTHING = Fraction(0)


def _squares(x: Floats, y: Floats) -> Exact:
    """Add up products exactly, together with their rounding errors."""
    with np.errstate(over="ignore", invalid="ignore"):
        product = x * y
        error = product_error(x, y, product)
    if not np.isfinite(error).all():
        return float(product.sum())  # products near the largest float, or beyond it
    return added(exact_sum(product), exact_sum(error))


@dataclass(frozen=True)
class Sums:
    """The sums of a metric's values over some queries.

    Attributes:
        n: how many queries have a value.
        n_undefined: how many have none.
        n_empty: how many have nothing to find.
        n_empty_undefined: how many of these have no value.
        worth: the value that the others of these count as; None if all have none.
        empty_ids: the first few queries that have nothing to find.
        total, squares: the sums of the values, or of their logarithms, and of squares.
        parts: for pooled metrics, the sums of numerators, denominators, their squares,
            and their products; otherwise None.
    """

    n: int = 0
    n_undefined: int = 0
    n_empty: int = 0
    n_empty_undefined: int = 0
    worth: float | None = None
    empty_ids: tuple[Any, ...] = ()
    total: Exact = _NOTHING
    squares: Exact = _NOTHING
    parts: tuple[Exact, ...] | None = None

    @staticmethod
    def of(summary: Summary, ids: Sequence[Any] | pl.Series) -> Sums:
        """Add up the values of a summary."""
        values, empty = summary.values, summary.empty
        known = values[~np.isnan(values)]
        if summary.metric.summary == "geometric":
            known = np.log(np.maximum(known, FLOOR))
        parts = None
        if summary.parts is not None:
            up, down = summary.parts
            squares = _squares(up, up), _squares(down, down), _squares(up, down)
            parts = exact_sum(up), exact_sum(down), *squares
        of_empty = values[empty]
        worth = of_empty[~np.isnan(of_empty)]
        shown = np.flatnonzero(empty)[:SHOWN].tolist()
        return Sums(
            summary.n,
            summary.n_undefined,
            len(of_empty),
            len(of_empty) - len(worth),
            float(worth.min()) if len(worth) else None,
            tuple(ids[number] for number in shown),
            exact_sum(known),
            _squares(known, known),
            parts,
        )

    weighed = False

    def whole(self, metric: Metric, tallies: Tallies, rule: Convention) -> Summary:
        """Return a number of all lists together, without values of queries."""
        return of_all(metric, tallies, rule)

    def summary(self, metric: Metric, rule: Convention, *_: Any) -> Pooled:
        """Return the summary of all values."""
        return Pooled(metric=metric, rule=rule, **vars(self))

    def __add__(self, other: Sums) -> Sums:
        """Return the sums of both."""
        worth = [x for x in (self.worth, other.worth) if x is not None]
        parts = self.parts or other.parts
        if self.parts is not None and other.parts is not None:
            pairs = zip(self.parts, other.parts, strict=True)
            parts = tuple(added(ours, theirs) for ours, theirs in pairs)
        return Sums(
            self.n + other.n,
            self.n_undefined + other.n_undefined,
            self.n_empty + other.n_empty,
            self.n_empty_undefined + other.n_empty_undefined,
            min(worth, default=None),
            first_ids(self.empty_ids, other.empty_ids, by_id=True),
            added(self.total, other.total),
            added(self.squares, other.squares),
            parts,
        )


@dataclass(frozen=True, eq=False, kw_only=True)
class Pooled(Sums):
    """One metric over all queries, of which only the sums are known.

    It can be read like a `Summary`, except for the values.

    Attributes:
        metric: the metric.
        rule: the convention, with its overrides for this metric applied.
        weights: None, as all queries count the same.
    """

    metric: Metric
    rule: Convention
    weights: None = None

    @property
    def n_without_value(self) -> int:
        """How many queries have something to find, and no value."""
        return self.n_undefined - self.n_empty_undefined

    @property
    def fate_of_empty(self) -> str:
        """How these queries were counted, in words."""
        return "left out" if self.worth is None else f"counted as {self.worth:g}"

    @cached_property
    def number(self) -> float:
        """The number of all values; nan without any."""
        how = self.metric.summary
        if not self.n:
            return math.nan
        if self.parts is not None:
            up, down = map(to_float, self.parts[:2])
            return up / down if down else math.nan
        if how == "sum":
            return to_float(self.total)
        mean = to_float(self.total) / self.n
        return math.exp(mean) if how == "geometric" else mean

    @cached_property
    def value(self) -> float:
        """The number that stands for all queries."""
        undefined = self.n_undefined if self.parts is None else 0
        return settled(self.metric, self.rule, self.number, self.n, undefined)

    def rounded(self, interval: Interval) -> Interval:
        """Round the bounds of an interval as the number is rounded."""
        return rounded_bounds(interval, self.rule.decimals)

    def interval(self, confidence: float) -> Interval:
        """Return Student's interval; of a ratio of sums by its linear approximation."""
        from scipy.special import stdtrit  # noqa: PLC0415 - scipy is slow to import

        n, every = self.n, (self.total, self.squares, *(self.parts or ()))
        exact = [number for number in every if isinstance(number, Fraction)]
        if n < 2 or len(exact) < len(every):  # noqa: PLR2004 - one has no spread
            return Interval(math.nan, math.nan)
        total, squares, *parts = exact
        center = total / n
        deviation = squares - total * center
        if parts:
            up, down, up_up, down_down, up_down = parts
            if not down:
                return Interval(math.nan, math.nan)
            center = up / down
            deviation = up_up - 2 * center * up_down + center**2 * down_down
            deviation *= (n / down) ** 2
        error = root(deviation / (n - 1)) / math.sqrt(n)
        reach = float(stdtrit(n - 1, 1 - (1 - confidence) / 2)) * error
        kind = "mean" if parts else self.metric.summary
        return self.rounded(around(self.number, reach, kind, n))
