"""How many queries a comparison needs, from how much differences vary."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

_LARGEST = 1 << 40
_PAIR = 2


def needed_for_difference(
    deviation: float, difference: float, power: float, alpha: float
) -> int | None:
    """Return the least number of queries with which Student's paired t has the power.

    None if not even 2^40 queries are enough, as with the other goals below.

    >>> needed_for_difference(deviation=1.0, difference=0.5, power=0.8, alpha=0.05)
    34
    """
    from scipy.special import stdtrit  # noqa: PLC0415 - scipy is slow to import
    from scipy.stats import nct  # noqa: PLC0415

    def enough(n: int) -> bool:
        far = difference / deviation * math.sqrt(n)
        least = float(stdtrit(n - 1, 1 - alpha / 2))
        with np.errstate(all="ignore"):  # older scipy warns of what it then clips
            reached = nct.sf(least, n - 1, far) + nct.cdf(-least, n - 1, far)
        # Beyond what the distribution can be computed for, it is sure to be reached.
        return bool(reached >= power) or (math.isnan(reached) and far > least)

    return _least(enough)


def needed_for_groups(
    deviation: float, difference: float, power: float, alpha: float, share: float = 0.5
) -> int | None:
    """Return the least number of users of two groups for a power of Welch's t.

    Both groups vary alike, each has two users or more, and the degrees of freedom are
    Satterthwaite's. None if not even 2^40 users are enough.

    Args:
        deviation: the deviation of the difference, times the root of the number of
            users.
        difference: the true one.
        power: how often it is to be found.
        alpha: the level of the two-sided test.
        share: the share of users in one of the groups.

    >>> needed_for_groups(deviation=2.0, difference=0.5, power=0.8, alpha=0.05)
    128
    """
    from scipy.special import stdtrit  # noqa: PLC0415 - scipy is slow to import
    from scipy.stats import nct  # noqa: PLC0415

    def enough(n: int) -> bool:
        sizes = share * n, (1 - share) * n
        if min(sizes) < _PAIR * (1 - 1e-9):  # shares are rounded
            return False
        spread = sum(1 / size for size in sizes)
        df = spread**2 / sum(1 / (size**2 * (size - 1)) for size in sizes)
        far = difference / deviation * math.sqrt(n)
        least = float(stdtrit(df, 1 - alpha / 2))
        with np.errstate(all="ignore"):  # older scipy warns of what it then clips
            reached = nct.sf(least, df, far) + nct.cdf(-least, df, far)
        # Beyond what the distribution can be computed for, it is sure to be reached.
        return bool(reached >= power) or (math.isnan(reached) and far > least)

    return _least(enough)


def needed_for_width(deviation: float, width: float, alpha: float) -> int | None:
    """Return the least number of queries with an interval no wider than this.

    >>> needed_for_width(deviation=1.0, width=0.5, alpha=0.05)
    64
    """
    from scipy.special import stdtrit  # noqa: PLC0415 - scipy is slow to import

    def enough(n: int) -> bool:
        reach = float(stdtrit(n - 1, 1 - alpha / 2)) * deviation / math.sqrt(n)
        return 2 * reach <= width

    return _least(enough)


def needed_for_equivalence(
    deviation: float, margin: float, power: float, alpha: float
) -> int | None:
    """Return the least number of queries to call two equivalent systems equivalent.

    By two one-sided tests, where the true difference is 0.

    >>> needed_for_equivalence(deviation=1.0, margin=0.5, power=0.8, alpha=0.05)
    36
    """
    from scipy.integrate import quad  # noqa: PLC0415 - scipy is slow to import
    from scipy.special import ndtr, stdtrit  # noqa: PLC0415
    from scipy.stats import chi  # noqa: PLC0415

    def enough(n: int) -> bool:
        least = float(stdtrit(n - 1, 1 - alpha))
        far = margin / deviation * math.sqrt(n)

        # Of the deviation s that is found, over the true one: chi / sqrt(n - 1).
        def inside(s: float) -> float:
            reach = far - least * s / math.sqrt(n - 1)
            return float((2 * ndtr(reach) - 1) * chi.pdf(s, n - 1)) if reach > 0 else 0

        most = far * math.sqrt(n - 1) / least if least > 0 else math.inf
        middle = math.sqrt(n - 1)
        low, high = max(0.0, middle - 10), min(most, middle + 10)
        return low < high and quad(inside, low, high, limit=200)[0] >= power

    return _least(enough)


def _least(enough: Callable[[int], bool]) -> int | None:
    """Return the least number from 2 on that is enough, by halving, or None."""
    high = 2
    while not enough(high):
        if high >= _LARGEST:
            return None
        high *= 2
    low = max(2, high // 2)
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle + 1, high)
    return low
