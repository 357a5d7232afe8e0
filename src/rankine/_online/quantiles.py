"""Quantiles over users, and their standard errors."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from rankine._base.arrays import Floats

_CLOSE = 1e-12
"""Values whose relative difference is not above this count as equal."""


def quantile_of(
    values: Floats, share: float, confidence: float = 0.95
) -> tuple[Floats, Floats, Floats]:
    """Return a quantile, the variance of a user's contribution, and how many users.

    The number of users below it is binomial, which gives two quantiles that enclose it
    with the given confidence. Its standard error is half their distance, divided by the
    normal quantile of that confidence; no density is estimated. The result is nan for
    fewer than two users.

    References:
        A. Deng, U. Knoblich, J. Lu: Applying the delta method in metric analytics.
        KDD 2018, section 4.

    >>> median, _, n = quantile_of(np.arange(101.0), 0.5)
    >>> float(median), float(n)
    (50.0, 101.0)
    """
    from scipy.special import ndtri  # noqa: PLC0415 - scipy is slow to import

    n = len(values)
    if n < 2:  # noqa: PLR2004 - one value has no spread
        nothing = np.array(math.nan)
        return nothing, nothing, np.array(float(n))
    far = float(ndtri((1 + confidence) / 2))
    reach = far * math.sqrt(share * (1 - share) / n)
    shares = np.clip([share - reach, share, share + reach], 0, 1)
    low, middle, high = np.quantile(values, shares)
    error = (high - low) / (2 * far)
    if high - low <= _CLOSE * max(abs(low), abs(high)):
        error = 0.0
    return np.array(middle), np.array(error**2 * n), np.array(float(n))
