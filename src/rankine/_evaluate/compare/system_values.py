"""SystemValues: the values of the systems in a comparison."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from rankine._base.text import QUERY, common_unit

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import polars as pl

    from rankine._base.arrays import Floats, Ints
    from rankine._evaluate.result import Evaluation
    from rankine._stats.jackknife import Whole


class Column(NamedTuple):
    """The values of a metric in a system.

    Attributes:
        ids: the queries; several metrics and systems may share the same object.
        values: one per query; None if the metric has none.
        weights: how much each query counts; None if all count the same.
    """

    ids: Sequence[Any] | pl.Series
    values: Floats | None
    weights: Floats | None = None


@dataclass(frozen=True, eq=False)
class SystemValues:
    """The values of the systems in a comparison.

    Attributes:
        systems: the names of the systems.
        metrics: the names of the metrics.
        queries: the ids of the queries, in the order of their texts, so that their
            order in the data does not matter.
        values: by metric, system and query; nan if there is none.
        means: by metric and system, with the bounds of their intervals.
        lows, highs: these bounds.
        directions: per metric, whether higher is better; None if it is neither.
        weights: how much each query counts; None if all count the same.
        wholes: for metrics with one number for a whole run, by their places, this
            number with and without each user; they have no values.
        strata: the number of the collection of each query, in rising order, if means
            are those of the means of several collections.
        unit: what a query is called: query, or user.
    """

    systems: tuple[str, ...]
    metrics: tuple[str, ...]
    queries: list[Any]
    values: Floats
    means: Floats
    lows: Floats
    highs: Floats
    directions: tuple[bool | None, ...]
    weights: Floats | None = None
    wholes: Mapping[int, Whole] = field(default_factory=dict)
    strata: Ints | None = None
    unit: str = QUERY

    @staticmethod
    def of(
        evaluations: Mapping[str, Evaluation],
        labels: Sequence[str],
        columns: Mapping[tuple[int, int], Column],
        confidence: float,
        wholes: Mapping[int, Whole] | None = None,
    ) -> SystemValues:
        """Bring the values of several evaluations to the same queries.

        Args:
            evaluations: by the names of the systems.
            labels: the names of the metrics.
            columns: the values, by the places of metric and system.
            confidence: the level of the intervals of means.
            wholes: as in the attributes.
        """
        queries = {id(column.ids): column.ids for column in columns.values()}
        texts = {str(query): query for ids in queries.values() for query in ids}
        order = {text: place for place, text in enumerate(sorted(texts))}
        placed = {
            key: np.array([order[str(query)] for query in ids], dtype=np.int64)
            for key, ids in queries.items()
        }
        shape = len(labels), len(evaluations), len(order)
        values = np.full(shape, np.nan)
        weights: Floats | None = None
        for (metric, system), column in columns.items():
            places = placed[id(column.ids)]
            if column.values is not None:
                values[metric, system, places] = column.values
            if column.weights is not None:
                weights = np.zeros(len(order)) if weights is None else weights
                weights[places] = column.weights
        means, lows, highs = np.full((3, *shape[:2]), np.nan)
        for metric, label in enumerate(labels):
            for system, evaluation in enumerate(evaluations.values()):
                means[metric, system] = evaluation[label]
                bounds = evaluation.interval(label, confidence)
                lows[metric, system], highs[metric, system] = bounds
        first = next(iter(evaluations.values()))
        bound = dict(zip(first.summaries, first.bound, strict=True))
        directions = tuple(bound[label].higher_is_better for label in labels)
        return SystemValues(
            tuple(evaluations), tuple(labels), [texts[text] for text in order], values,
            means, lows, highs, directions, weights, wholes or {},
            unit=common_unit(evaluation.unit for evaluation in evaluations.values()),
        )  # fmt: skip

    @property
    def n(self) -> Ints:
        """By metric and system, how many queries have a value, or users a list."""
        n: Ints = np.count_nonzero(~np.isnan(self.values), axis=2)
        for metric, whole in self.wholes.items():
            n[metric] = whole.n
        return n
