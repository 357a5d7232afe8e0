"""Welch's test: the means of two groups whose variances may differ."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rankine._base.arrays import Floats


def welch(first: Floats, second: Floats) -> tuple[float, float]:
    """Return the mean of one group minus that of the other, and the p-value.

    Two-sided; nan for a group of fewer than two, of which no variance is known.

    >>> import numpy as np
    >>> gap, p = welch(np.array([1.0, 2.0, 3.0]), np.array([2.0, 4.0, 6.0, 8.0]))
    >>> gap, round(p, 4)
    (-3.0, 0.0999)
    """
    from scipy.special import stdtr  # noqa: PLC0415 - scipy is slow to import

    if len(first) == 0 or len(second) == 0:
        return math.nan, math.nan
    gap = float(first.mean() - second.mean())
    if min(len(first), len(second)) < 2:  # noqa: PLR2004 - one value has no spread
        return gap, math.nan
    parts = [float(group.var(ddof=1)) / len(group) for group in (first, second)]
    error = sum(parts)
    if error == 0:
        return gap, 1.0 if gap == 0 else 0.0
    df = error**2 / sum(
        part**2 / (len(group) - 1)
        for part, group in zip(parts, (first, second), strict=True)
    )
    return gap, float(2 * stdtr(df, -abs(gap) / math.sqrt(error)))
