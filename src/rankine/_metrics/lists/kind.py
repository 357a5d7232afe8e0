"""ListMetric: a metric of lists, which reads every item shown."""

from __future__ import annotations

from dataclasses import dataclass
from functools import wraps
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from rankine._base.limits import limits
from rankine._metrics.metric import Fact, Kernel, Metric, register
from rankine._tables.lists import Recommended

if TYPE_CHECKING:
    from collections.abc import Callable

    from rankine._base.arrays import Floats
    from rankine._tables.lists import Top

LISTED: dict[str, Fact] = {}
WORDS = {
    "judgements": "judgements; give qrels",
    "train": "the interactions that users had before; give train= or --train",
    "train_rows": "to know who had what before; give train= or --train",
    "reference": "the lists of another recommender; give reference= or --reference",
    "catalog": "the catalogue; give catalog= or --catalog, or else train= or items=",
    "users": "to know which users should have a list; give qrels or train=",
    "vectors": "features of the items; give items= or --items",
    "topics": "topics or groups of the items; give items= or --items",
    "subtopics": "topics; give items= or --items, or judgements of subtopics",
}
"""What a metric may need, and how it is given."""


@dataclass(frozen=True, repr=False)
class ListMetric(Metric):
    """A metric of lists, with some of its parameters bound.

    >>> from rankine._metrics.lists import Coverage
    >>> Coverage @ 10
    Coverage@10
    """

    facts: ClassVar[dict[str, Fact]] = LISTED
    blank: ClassVar[Callable[[], Any]] = Recommended.empty


def listed(name: str, kernel: Kernel, **facts: Any) -> ListMetric:
    """Register a metric of lists."""
    facts.setdefault("empty", "keep")
    facts.setdefault("undefined", "skip")
    facts.setdefault("binary", False)
    return register(name, kernel, kind=ListMetric, **facts)  # type: ignore[return-value]


def by_parts(kernel: Kernel) -> Kernel:
    """Handle a few users at a time if users times topics are too many."""

    @wraps(kernel)
    def values(table: Recommended, **parameters: Any) -> Floats:
        n, most = table.n_topics, limits().topic_cells
        if table.n_queries * n <= most:
            return kernel(table, **parameters)
        some = table.parts(max(most // n, 1))
        return np.concatenate([kernel(part, **parameters) for part in some])

    return values


def one(value: float) -> Floats:
    """Return the number that all lists have together."""
    return np.array([value])


def mean_of(top: Top, values: Floats, weights: Floats | None = None) -> Floats:
    """Return the mean of values by list, nan for lists without any."""
    if weights is None:
        return share(top.sums(values), top.length.astype(np.float64))
    return share(top.sums(values * weights), top.sums(weights))


def mean_worth(top: Top, worth: Floats) -> Floats:
    """Return the mean of what the items of each list are worth.

    Items whose worth is nan are left out; a list without other items is nan.
    """
    total, n = worths(top, worth)
    return share(total, n)


def worths(top: Top, worth: Floats) -> tuple[Floats, Floats]:
    """Return what the items of each list are worth, and how many of them there are."""
    n = top.length.astype(np.float64)
    unknown = np.isnan(worth)
    if unknown.any():
        n -= top.totals(unknown.astype(np.float64))
        worth = np.where(unknown, 0.0, worth)
    return top.totals(worth), n


def share(part: Floats, whole: Floats) -> Floats:
    """Divide, and return nan where there is nothing to divide by."""
    nothing = np.full(np.broadcast_shapes(part.shape, whole.shape), np.nan)
    quotient: Floats = np.divide(part, whole, out=nothing, where=whole > 0)
    return quotient
