"""Bounds and p-values that hold at every look, however many there are."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from rankine._base.arrays import Floats

_PRIOR = 10_000
"""How firmly users are expected in their shares: Lindon and Malek's k."""


def rho_squared(expected_n: float, alpha: float) -> float:
    """Return the tuning with which a confidence sequence is tightest at a size.

    >>> round(rho_squared(1000, 0.05), 6)
    0.007936
    """
    spread = -2 * math.log(alpha)
    return (spread + math.log(1 + spread)) / expected_n


def half_width(deviation: Floats, n: Floats, rho2: float, alpha: float) -> Floats:
    r"""Return half the width of an asymptotic confidence sequence of a mean.

    Formula:
        $$s \sqrt{\frac{2 (n \rho^2 + 1)}{n^2 \rho^2}
        \ln \frac{\sqrt{n \rho^2 + 1}}{\alpha}}$$

    with s the standard deviation of n values.

    References:
        I. Waudby-Smith et al.: Time-uniform central limit theory and asymptotic
        confidence sequences. Annals of Statistics 2024.

    With n = 4 and rho^2 = 1/4: sqrt(2 x 2 / (16 / 4) ln(sqrt(2) / 0.05)) = 1.8283.

    >>> round(float(half_width(np.array(1.0), np.array(4.0), 0.25, 0.05)), 4)
    1.8283
    """
    v = n * rho2
    width: Floats = deviation * np.sqrt(
        2 * (v + 1) / (n * v) * np.log(np.sqrt(v + 1) / alpha)
    )
    return width


def always_p(z: Floats, n: Floats, rho2: float) -> Floats:
    r"""Return the p-value of this look, with which the sequence just excludes 0.

    Formula:
        $$\min(1, \sqrt{v + 1} \exp(-z^2 v / (2 (v + 1)))), \quad v = n \rho^2$$

    With v = 1 and z = 3: sqrt(2) exp(-9 / 4) = 0.1491.

    >>> round(float(always_p(np.array(3.0), np.array(4.0), 0.25)), 4)
    0.1491
    """
    v = n * rho2
    p: Floats = np.sqrt(v + 1) * np.exp(-(z**2) * v / (2 * (v + 1)))
    return np.minimum(1, p)


def ratio_p(counts: Floats, shares: Floats) -> float:
    """Return the chi-square p-value of counts, of which shares were expected.

    60 and 40 instead of 50 and 50: chi-square 4 with one degree of freedom.

    >>> round(ratio_p(np.array([60.0, 40.0]), np.array([0.5, 0.5])), 4)
    0.0455
    """
    from scipy.special import chdtrc  # noqa: PLC0415 - scipy is slow to import

    expected = counts.sum() * shares
    return float(chdtrc(len(counts) - 1, ((counts - expected) ** 2 / expected).sum()))


def anytime_ratio_p(counts: Floats, shares: Floats, prior: float = _PRIOR) -> float:
    r"""Return a p-value of the same that holds at every look.

    Formula:
        $$\min(1, 1 / B), \quad B = \frac{\Gamma(k)}{\Gamma(k + n)} \prod_i
        \frac{\Gamma(k \theta_i + n_i)}{\Gamma(k \theta_i) \theta_i^{n_i}}$$

    with k the prior, theta the shares and n_i the counts, n in all.

    References:
        M. Lindon, A. Malek: Anytime-valid inference for multinomial count data.
        NeurIPS 2022.

    Two users in one of two arms, k = 2: B = 1/6 x 2 x 4 = 4/3.

    >>> round(anytime_ratio_p(np.array([2.0, 0.0]), np.array([0.5, 0.5]), 2), 4)
    0.75
    """
    from scipy.special import gammaln  # noqa: PLC0415 - scipy is slow to import

    weights = prior * shares
    parts = gammaln(weights + counts) - gammaln(weights) - counts * np.log(shares)
    log = gammaln(prior) - gammaln(prior + counts.sum()) + parts.sum()
    return math.exp(min(0.0, -float(log)))
