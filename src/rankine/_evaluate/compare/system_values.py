"""Compared: the values of systems that are compared."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rankine._base.arrays import Floats, Ints
    from rankine._stats.jackknife import Whole


@dataclass(frozen=True, eq=False)
class SystemValues:
    """The values that are compared.

    Attributes:
        systems: the names of the systems.
        metrics: the names of the metrics.
        queries: the ids of the queries, in the order of their texts, so that the order
            in which they came does not matter.
        values: by metric, system and query; nan where there is none.
        means: by metric and system, with the bounds of their intervals.
        lows, highs: these bounds.
        directions: per metric, whether higher is better; None if it is neither.
        weights: how much each query counts; None if all count the same.
        wholes: by the number of a metric that is one number of a whole run, what it is
            without each user; it has no values.
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

    @property
    def n(self) -> Ints:
        """By metric and system, how many queries have a value, or users a list."""
        n: Ints = np.count_nonzero(~np.isnan(self.values), axis=2)
        for metric, whole in self.wholes.items():
            n[metric] = whole.n
        return n
