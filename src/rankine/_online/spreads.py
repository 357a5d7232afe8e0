"""How certain a metric of users is: intervals of shares, ratios and quantiles."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
import polars as pl

from rankine._online.users import AMOUNTS
from rankine._stats.exact import exact_sum, to_float
from rankine._stats.intervals import Interval

if TYPE_CHECKING:
    from rankine._base.arrays import Floats, Ints
    from rankine._online.metrics import OnlineMetric

    Pairs: TypeAlias = tuple[Floats, Floats, Ints | None]
    """Numerators, denominators, and how many users have both; None for one each."""

NONE = Interval(math.nan, math.nan)
_AMOUNTS = {*AMOUNTS, "dwell"}
"""What is not counted, but added up: money and time."""
_FEW_PAIRS = 1 << 10
"""How many different pairs of counts there may be, even for a few users."""
_NOISE = 1e-12
"""What rounding may leave of a difference, relative to the numbers subtracted."""


def wilson(successes: float, n: float, confidence: float) -> Interval:
    """Return Wilson's interval of a share.

    With z the normal quantile and p the share, (p + z²/2n ± z sqrt(p (1 - p) / n +
    z²/4n²)) / (1 + z²/n) (Wilson 1927).

    >>> low, high = wilson(0, 4, 0.95)
    >>> low, round(high, 4)
    (0.0, 0.4899)
    """
    from scipy.special import ndtri  # noqa: PLC0415 - slow to import

    if n == 0:
        return NONE
    z2 = float(ndtri((1 + confidence) / 2)) ** 2
    share = successes / n
    middle = share + z2 / (2 * n)
    reach = math.sqrt(z2 * (share * (1 - share) / n + z2 / (4 * n * n)))
    low, high = ((middle + sign * reach) / (1 + z2 / n) for sign in (-1, 1))
    return Interval(
        low if successes > 0 else 0.0,
        high if successes < n else 1.0,
    )


def share_of(successes: float, n: float, confidence: float) -> tuple[float, Interval]:
    """Return a share and its interval; nan if it is of nobody."""
    value = successes / n if n else math.nan
    return value, wilson(successes, n, confidence)


def total(values: Floats, often: Ints | None = None) -> float:
    """Add up numbers exactly, so that the order of users does not matter.

    Args:
        values: the numbers.
        often: how many times each of them counts; once if not given.
    """
    return to_float(exact_sum(values, often))


def spread(y: Floats, x: Floats, value: float, often: Ints | None = None) -> float:
    """Return the standard error of a ratio of sums over users, by the delta method.

    The influence of a user is (y - R x) / mean x; the error is the standard deviation
    of the influences over the root of the number of users (Deng, Knoblich and Lu 2018,
    eq. 2).
    """
    n = _users(y, often)
    if n < 2:  # noqa: PLR2004 - one user has no spread
        return math.nan
    influence = influences(y, x, value)
    if not influence.any():
        return 0.0
    error = math.sqrt(total(influence * influence, often) / (n - 1) / n)
    return error / (total(x, often) / n)


def influences(y: Floats, x: Floats, value: float) -> Floats:
    """Return y - R x for each user; 0 for all if it is only what rounding leaves."""
    influence = y - value * x
    size = np.abs(y) + np.abs(x) + np.abs(value * x)
    if bool((np.abs(influence) <= _NOISE * size).all()):
        return np.zeros(len(y))
    return influence


def _users(y: Floats, often: Ints | None) -> int:
    return len(y) if often is None else int(often.sum())


def clustered(
    y: Floats,
    x: Floats,
    confidence: float,
    bounds: tuple[float, float],
    often: Ints | None = None,
) -> tuple[float, Interval]:
    """Return a ratio of sums over users, and its interval by the delta method."""
    below = total(x, often)
    if below <= 0:
        return math.nan, NONE
    value = total(y, often) / below
    error = spread(y, x, value, often)
    if math.isnan(error) or error == 0:
        return value, NONE
    from scipy.special import stdtrit  # noqa: PLC0415 - slow to import

    reach = float(stdtrit(_users(y, often) - 1, (1 + confidence) / 2)) * error
    return value, Interval(max(value - reach, bounds[0]), min(value + reach, bounds[1]))


def summed(
    name: str,
    metric: OnlineMetric,
    y: Floats,
    x: Floats,
    confidence: float,
    often: Ints | None = None,
) -> tuple[float, Interval, int, str]:
    """Return a metric of some users.

    Args:
        name: the name of the metric.
        metric: what is known about it.
        y: its numerators.
        x: its denominators.
        confidence: the level of the interval.
        often: how many users have each of these pairs; one if not given.

    Returns:
        Its value, its interval, its denominator, and why a value or an interval is
        missing; empty if neither is.
    """
    above, below = total(y, often), total(x, often)
    of_users = metric.counts_users and metric.is_share
    n = _users(y, often) if metric.counts_users and not of_users else int(below)
    if metric.is_share and above > below > 0:
        return math.nan, NONE, n, f"{name} is undefined: {metric.beyond(above, below)}"
    if of_users:
        value, bounds = share_of(above, below, confidence)
    else:
        value, bounds = clustered(y, x, confidence, metric.bounds, often)
    why = ""
    if math.isnan(value):
        why = f"{name} is undefined: {_nothing(metric, below)}"
    elif math.isnan(bounds.low):
        is_active = (x != 0) | (y != 0)
        active = _users(y[is_active], None if often is None else often[is_active])
        why = f"{name} has no interval: {without_spread(active)}"
    return value, bounds, n, why


def _nothing(metric: OnlineMetric, below: float) -> str:
    """Say why nothing can be divided by a denominator: by its own name."""
    (column,) = metric.parts[1].meta.root_names()
    if column not in _AMOUNTS:
        return f"there are no {metric.unit}"
    amount = column if metric.unit == "users" else metric.unit
    return f"{amount} is {'below 0' if below < 0 else '0'}"


def without_spread(users: int) -> str:
    """Say why there is no interval.

    >>> without_spread(1), without_spread(5)
    ('there is a single user', 'users do not differ')
    """
    return "there is a single user" if users == 1 else "users do not differ"


def quantile_of(
    times: Floats, users: Ints, share: float, confidence: float
) -> tuple[float, Interval]:
    """Return a quantile, and those at the ends of the interval of its share.

    Where times are tied, the share below the quantile and that up to it are far apart.
    A smaller quantile would be wrong if the first varies, a larger one if the second
    does, so each end has the error of its own.
    """
    value = float(np.quantile(times, share, method="inverted_cdf"))
    all_of: Floats = np.bincount(users).astype(np.float64)
    errors = []
    for is_below in (times < value, times <= value):
        below: Floats = np.bincount(users, is_below).astype(np.float64)
        errors.append(spread(below, all_of, float(below.sum() / all_of.sum())))
    if not any(error > 0 for error in errors):  # nor if there is a single user
        return value, NONE
    from scipy.special import ndtri  # noqa: PLC0415 - slow to import

    far = float(ndtri((1 + confidence) / 2))
    ends = np.clip([share - far * errors[0], share + far * errors[1]], 0, 1)
    low, high = np.quantile(times, ends, method="inverted_cdf").tolist()
    return value, Interval(low, high)


def paired(y: pl.Series, x: pl.Series) -> Pairs:
    """Return numerators and denominators, and how many users have both.

    Small whole numbers are counted, so that later steps look at fewer of them.
    """
    whole = all(side.dtype.is_integer() or side.dtype == pl.Boolean for side in (y, x))
    if whole and len(y):
        above, below = (side.cast(pl.Int64).to_numpy() for side in (y, x))
        width = int(below.max()) + 1
        most = (int(above.max()) + 1) * width
        if min(above.min(), below.min()) >= 0 and most <= max(len(y), _FEW_PAIRS):
            often = np.bincount(above * width + below)
            pair = np.flatnonzero(often)
            first, second = divmod(pair, width)
            return first.astype(np.float64), second.astype(np.float64), often[pair]
    return y.cast(pl.Float64).to_numpy(), x.cast(pl.Float64).to_numpy(), None
