"""How much weight rank-biased overlap gives each rank.

An item that both lists have from depth d on is counted at d and at every greater depth,
so that its weight is an infinite sum, (1 - p) sum_{i >= d} p^(i-1) / i. All of RBO is
made of such sums; they are computed from their far end, where nothing cancels.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from rankine._base.checks import check_count, check_number
from rankine.errors import ParameterError

if TYPE_CHECKING:
    from rankine._base.arrays import Floats

_MANY = 1000
"""Ranks from which on few terms are as exact as all."""
_STEPS = 100_000
"""More terms of the continued fraction than are ever needed."""


@lru_cache(maxsize=4096)
def tail(n: int, p: float) -> float:
    """Return sum_{d >= n} p^(d-1) / d.

    >>> round(tail(1, 0.5), 4), round(2 * math.log(2), 4)
    (1.3863, 1.3863)
    """
    if n * (1 - p) < 1 and n >= _MANY:
        return _near_one(n, p)
    if n * (1 - p) < 1:
        d = np.arange(1, n, dtype=np.float64)
        head = math.fsum((p ** (d - 1) / d).tolist())
        return -math.log1p(-p) / p - head
    return p ** (n - 1) / n * _fraction(n, p)


def _near_one(n: int, p: float) -> float:
    """Return the same for p so close to 1 that all ranks up to n weigh about the same.

    With p = exp(-a), the sum is the integral of exp(-n u) / (1 - exp(-u)) over u >= a,
    over p, and 1 / (1 - exp(-u)) = 1/u + 1/2 + u/12 - u^3/720 + ...
    """
    from scipy.special import exp1  # noqa: PLC0415 - slow to import

    a = -math.log1p(-(1 - p))
    x = n * a
    cube = x**3 + 3 * x**2 + 6 * x + 6
    rest = 1 / (2 * n) + (x + 1) / (12 * n**2) - cube / (720 * n**4)
    return float((exp1(x) + math.exp(-x) * rest) / p)


def _fraction(n: int, p: float) -> float:
    """Return 2F1(1, n; n + 1; p) by Gauss's continued fraction (Lentz's method)."""
    value = c = 1.0
    d = 0.0
    for step in range(1, _STEPS):
        half = step // 2
        if step % 2:
            term = (n + half) ** 2 / ((n + 2 * half) * (n + 2 * half + 1))
        else:
            term = half**2 / ((n + 2 * half - 1) * (n + 2 * half))
        d = 1 / (1 - term * p * d)
        c = 1 - term * p / c
        value *= c * d
        if abs(c * d - 1) < 1e-16:  # noqa: PLR2004 - nothing changes any more
            break
    return 1 / value


@lru_cache(maxsize=8)
def tails(p: float, size: int) -> tuple[Floats, Floats]:
    """Return p^(d-1) and the tails from d on, for d = 0, 1, ... size (0 is unused)."""
    d = np.arange(1, size + 1, dtype=np.float64)
    power = np.concatenate(([0.0], p ** (d - 1)))
    terms = power[1:] / d
    last = tail(size, p)
    summed = np.cumsum(np.concatenate(([last], terms[-2::-1])))[::-1]
    sums = np.concatenate(([np.inf], summed))
    power.setflags(write=False)
    sums.setflags(write=False)
    return power, sums


def rbo_rank_weight(d: int, p: float) -> float:
    """Weight of one rank in rank-biased overlap.

    An item that both lists have at rank d adds this weight to RBO.

    Formula:
        W(d) = (1 - p) sum_{i >= d} p^(i-1) / i

    Args:
        d: the rank, from 1.
        p: the persistence, between 0 and 1.

    Returns:
        0 to 1; the weights of all ranks sum to 1.

    References:
        W. Webber, A. Moffat, J. Zobel: A similarity measure for indefinite rankings.
        TOIS 2010.

    Examples:
        >>> weights = [rbo_rank_weight(d, 0.5) for d in range(1, 60)]
        >>> round(weights[0], 4), round(sum(weights), 12)
        (0.6931, 1.0)
    """
    check_count("d", d, least=1)
    check_number("p", p, above=0, below=1)
    p = float(p)
    return (1 - p) * tail(int(d), p)


def rbo_prefix_weight(d: int, p: float) -> float:
    """Weight of the first ranks in rank-biased overlap, together.

    Formula:
        W(1:d) = 1 - p^(d-1) + d (1 - p) sum_{i >= d} p^(i-1) / i

    Args:
        d: the number of ranks.
        p: the persistence, between 0 and 1.

    Returns:
        0 to 1.

    References:
        W. Webber, A. Moffat, J. Zobel: A similarity measure for indefinite rankings.
        TOIS 2010, equation 21.

    Examples:
        With p = 0.9, the first ten ranks have 86 % of the weight.

        >>> round(rbo_prefix_weight(10, 0.9), 4)
        0.8556
    """
    check_count("d", d, least=0)
    check_number("p", p, above=0, below=1)
    if d == 0:
        return 0.0
    d, p = int(d), float(p)
    return 1 - p ** (d - 1) + d * (1 - p) * tail(d, p)


def rbo_p(depth: int, weight: float) -> float:
    """Persistence p that gives the first ranks a wanted weight.

    Args:
        depth: the number of ranks.
        weight: their weight together, between 0 and 1.

    Returns:
        The p with `rbo_prefix_weight` (depth, p) = weight.

    Examples:
        >>> round(rbo_p(10, 0.8556), 4)
        0.9
        >>> round(rbo_p(100, 0.9), 4)
        0.9873
    """
    from scipy.optimize import brentq  # noqa: PLC0415 - slow to import

    check_count("depth", depth, least=1)
    check_number("weight", weight, above=0, below=1)

    def above(logit: float) -> float:
        return rbo_prefix_weight(depth, 1 / (1 + math.exp(-logit))) - weight

    low, high = -36.0, 36.0  # where 1 - p is the smallest step below 1
    if above(low) < 0 or above(high) > 0:
        msg = f"no p gives the first {depth} ranks a weight of {weight!r}"
        raise ParameterError(msg)
    return float(1 / (1 + math.exp(-brentq(above, low, high, xtol=1e-13))))
