"""queries_needed: how many queries it takes, from how much differences vary."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from rankine._base.checks import check_number
from rankine._base.notebook import as_table
from rankine._stats.power import (
    needed_for_difference,
    needed_for_equivalence,
    needed_for_width,
)
from rankine.errors import ParameterError

if TYPE_CHECKING:
    from rankine._base.arrays import Floats
    from rankine._evaluate.compare.comparison import Comparison


class QueriesNeeded(NamedTuple):
    """How many queries it takes to show that two systems differ, or do not.

    Attributes:
        metric: the metric.
        a, b: the two systems.
        deviation: the observed standard deviation of their differences.
        queries: the number of queries at that deviation.
        at_most: the number at its upper confidence bound, since few queries give only a
            rough estimate of the deviation.
    """

    metric: str
    a: str
    b: str
    deviation: float
    queries: int | None
    at_most: int | None

    def _repr_html_(self) -> str:
        return as_table(self)


def queries_needed(
    comparison: Comparison,
    *,
    difference: float | None = None,
    width: float | None = None,
    margin: float | None = None,
    power: float = 0.8,
) -> list[QueriesNeeded]:
    """Return how many queries it takes, from how much differences vary here.

    Give one of three goals: to find a `difference` with the `power`, to get an interval
    no wider than `width`, or to recognise equivalent systems at a `margin` with the
    `power`. The numbers are for Student's paired t-test at 1 - confidence, uncorrected.

    Args:
        comparison: the comparison.
        difference: the difference to find.
        width: the width of the interval, from its lower to its upper bound.
        margin: the difference that does not matter.
        power: the probability of finding the difference or the equivalence.

    Returns:
        A record per metric and pair, with None if differences do not vary, or if not
        even 2^40 queries are enough. Metrics that are a single number for a whole run
        are left out, as they depend on the number of users.

    >>> import rankine as rk
    >>> qrels = {f"q{n}": {"a": 1} for n in range(6)}
    >>> low = {f"q{n}": ["x", "y", "a"] for n in range(6)}
    >>> high = {f"q{n}": ["a", "x"] if n else ["x", "a"] for n in range(6)}
    >>> cmp = rk.compare(qrels, {"low": low, "high": high}, "RR")
    >>> rk.queries_needed(cmp, difference=0.1)[0].queries
    35
    """
    given = {"difference": difference, "width": width, "margin": margin}
    asked = [name for name, value in given.items() if value is not None]
    if len(asked) != 1:
        msg = f"give exactly one of difference, width and margin, got {len(asked)}"
        raise ParameterError(msg)
    (what,) = asked
    check_number(what, given[what], above=0)
    size = float(given[what] or math.nan)
    check_number("power", power, above=0, below=1)
    alpha = comparison.settings.alpha
    pairs = comparison.pairs
    compared = comparison._compared  # noqa: SLF001 - of the same package
    if compared.strata is not None:
        msg = (
            "queries_needed is for a single collection; give it that of one of them, "
            "such as many.collections['name']"
        )
        raise ParameterError(msg)
    wholes = compared.wholes
    of_queries = ~np.isin(pairs.metric, list(wholes))
    if not of_queries.any():
        msg = (
            f"{comparison.metrics[0]} is a single number for all users, which depends "
            "on how many there are; queries_needed is for metrics with values per query"
        )
        raise ParameterError(msg)

    def needed(deviation: float) -> int | None:
        if not deviation > 0:
            return None
        if what == "difference":
            return needed_for_difference(deviation, size, power, alpha)
        if what == "width":
            return needed_for_width(deviation, size, alpha)
        return needed_for_equivalence(deviation, size, power, alpha)

    uppers = _upper_deviations(pairs.deviation, pairs.n, alpha)
    return [
        QueriesNeeded(
            comparison.metrics[pairs.metric[number]],
            comparison.systems[pairs.a[number]],
            comparison.systems[pairs.b[number]],
            float(deviation),
            needed(float(deviation)),
            needed(float(uppers[number])),
        )
        for number, deviation in enumerate(pairs.deviation)
        if of_queries[number]
    ]


def _upper_deviations(deviation: Floats, n: Any, alpha: float) -> Floats:
    """Return the upper confidence bounds of standard deviations."""
    from scipy.special import chdtri  # noqa: PLC0415 - scipy is slow to import

    df = np.maximum(n - 1, 1).astype(np.float64)
    upper: Floats = deviation * np.sqrt(df / chdtri(df, 1 - alpha))
    return upper
