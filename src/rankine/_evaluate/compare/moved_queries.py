"""moved: the queries that differ most between two systems, with their first items."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from rankine._base.notebook import as_table
from rankine._base.text import QUERY
from rankine._evaluate.worst import ByQuery, TopItem, first_items, n_kept, plain
from rankine._stats.flips import NOTHING

if TYPE_CHECKING:
    from rankine._base.arrays import Floats
    from rankine._evaluate.compare.comparison import Comparison


@dataclass(frozen=True, slots=True)
class MovedQuery:
    """A query with its values in two systems, and the first items of both lists.

    Attributes:
        query: its id.
        difference: the value of the second system minus that of the first.
        values: both values.
        tops: the first items of both lists: rank, item, and grade, which is None for an
            unjudged one; empty if no items are known.
    """

    query: Any
    difference: float
    values: tuple[float, float]
    tops: tuple[tuple[TopItem, ...], tuple[TopItem, ...]]

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, ready for JSON."""
        return {
            "query": plain(self.query),
            "difference": self.difference,
            "values": list(self.values),
            "tops": [
                [entry._asdict() | {"item": plain(entry.item)} for entry in top]
                for top in self.tops
            ],
        }

    def _repr_html_(self) -> str:
        return as_table(self)


@dataclass(frozen=True, slots=True, eq=False)
class Moved(ByQuery[MovedQuery]):
    """The queries that differ most between two systems, the largest difference first.

    It is a sequence of `MovedQuery`; its text shows them all.

    Attributes:
        metric: the metric.
        systems: the names of the two systems.
        queries: the queries.
        n_moved: how many queries differ at all.
        n_queries: how many queries both systems have.
        keep: how many first items of each list were kept; 0 if none, so that only
            judged items are shown.
        unit: what a query is called: query, or user.
    """

    metric: str
    systems: tuple[str, str]
    queries: tuple[MovedQuery, ...]
    n_moved: int
    n_queries: int
    keep: int = 0
    unit: str = QUERY

    def __str__(self) -> str:
        """Return the queries as text."""
        from rankine._report.comparison import moved_text  # noqa: PLC0415

        return moved_text(self)

    def _repr_html_(self) -> str:
        from rankine._report.notebook import moved_html  # noqa: PLC0415

        return moved_html(self)


def moved_queries(
    comparison: Comparison, label: str, systems: tuple[str, str], values: Floats, n: int
) -> Moved:
    """Return the queries that differ most; see `Comparison.moved`."""
    d = values[1] - values[0]
    both = np.flatnonzero(~np.isnan(d))
    moved = both[np.abs(d[both]) > NOTHING]
    order = moved[np.argsort(-np.abs(d[moved]), kind="stable")][:n]
    ids = [comparison.queries[number] for number in order]
    tops = [
        first_items(comparison.evaluations[name], label, ids)
        if name in comparison.evaluations
        else [()] * len(ids)
        for name in systems
    ]
    queries = tuple(
        MovedQuery(
            query,
            float(d[number]),
            (float(values[0, number]), float(values[1, number])),
            (tops[0][place], tops[1][place]),
        )
        for place, (number, query) in enumerate(zip(order, ids, strict=True))
    )
    known = comparison.evaluations.values()
    keep = min((n_kept(evaluation, label) for evaluation in known), default=0)
    sizes = len(moved), len(both), keep
    return Moved(label, systems, queries, *sizes, comparison.unit)
