"""Welch's test: the means of two groups whose variances may differ."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from rankine._stats.flips import NOTHING

if TYPE_CHECKING:
    from rankine._base.arrays import Floats


def welch(
    first: Floats, second: Floats, weights: tuple[Floats, Floats] | None = None
) -> tuple[float, float]:
    """Return the mean of one group minus that of the other, and the p-value.

    Two-sided; nan for a group of fewer than two, of which no variance is known. With
    weights, a mean is sum w x / sum w, and its variance that of w (x - mean) / mean w.

    >>> gap, p = welch(np.array([1.0, 2.0, 3.0]), np.array([2.0, 4.0, 6.0, 8.0]))
    >>> gap, round(p, 4)
    (-3.0, 0.0999)
    """
    from scipy.special import stdtr  # noqa: PLC0415 - scipy is slow to import

    if len(first) == 0 or len(second) == 0:
        return math.nan, math.nan
    of_first, of_second = weights or (None, None)
    mean, centred = _centred(first, of_first)
    other, others_centred = _centred(second, of_second)
    gap = mean - other
    gap = 0.0 if abs(gap) <= NOTHING else gap
    if min(len(first), len(second)) < 2:  # noqa: PLR2004 - one value has no spread
        return gap, math.nan
    parts = [
        float((left**2).sum()) / (len(left) - 1) / len(left)
        for left in (centred, others_centred)
    ]
    error = sum(parts)
    if error == 0:
        return gap, 1.0 if gap == 0 else 0.0
    df = error**2 / sum(
        part**2 / (len(group) - 1)
        for part, group in zip(parts, (first, second), strict=True)
    )
    return gap, float(2 * stdtr(df, -abs(gap) / math.sqrt(error)))


def _centred(values: Floats, weights: Floats | None) -> tuple[float, Floats]:
    """Return the mean of a group, and what is left of each value, by its weight."""
    share = 1.0 if weights is None else weights / weights.mean()
    mean = float((share * values).mean())
    left: Floats = share * (values - mean)
    left[np.abs(left) <= NOTHING] = 0  # where all are the same
    return mean, left
