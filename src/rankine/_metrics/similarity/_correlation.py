"""Correlations of paired numbers, for all segments of two columns at once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import numpy as np

from rankine._tables.inversions import Pairs, pair_counts, smaller_before
from rankine._tables.segments import position, runs, starts_of

if TYPE_CHECKING:
    from rankine._base.arrays import AnyArray, Floats, Ints

Variant = Literal["a", "b", "c", "ap", "weighted"]
VARIANTS = ("a", "b", "c", "ap", "weighted")
Tied = Literal["discordant", "half", "ignore"]
TIED = ("discordant", "half", "ignore")


def tau(x: AnyArray, y: AnyArray, starts: Ints, variant: str) -> Floats:
    """Kendall's tau per segment; larger numbers are better ones."""
    if variant == "ap":
        return tau_ap(x, y, starts)
    if variant == "weighted":
        return _weighted(x, y, starts)
    levels = fewest_levels(x, y, starts) if variant == "c" else None
    return tau_of(pair_counts(x, y, starts), variant, levels)


def fewest_levels(x: AnyArray, y: AnyArray, starts: Ints) -> Ints:
    """Count the different values of each segment, in x or in y, whichever has fewer."""
    return np.minimum(_levels(x, starts), _levels(y, starts))


def tau_of(pairs: Pairs, variant: str, levels: Ints | None) -> Floats:
    """Kendall's tau from counted pairs; c needs the number of different values."""
    more = (pairs.concordant - pairs.discordant).astype(np.float64)
    free_x = (pairs.all - pairs.x).astype(np.float64)
    free_y = (pairs.all - pairs.y).astype(np.float64)
    if variant == "a":
        # Where all are tied there is no order to compare.
        some = np.minimum(free_x, free_y) > 0
        return over(more, np.where(some, pairs.all, 0))
    if levels is not None:
        # n^2, from n (n - 1) / 2
        n = (1 + np.sqrt(1 + 8.0 * pairs.all)) / 2
        return over(2 * more, n * n * (levels - 1) / np.maximum(levels, 1))
    return np.clip(over(more, np.sqrt(free_x * free_y)), -1, 1)


def over(numerator: Floats, denominator: Floats) -> Floats:
    """Divide, with nan where the divisor is 0."""
    undefined = np.full(len(numerator), np.nan)
    quotient: Floats = np.divide(
        numerator, denominator, out=undefined, where=denominator > 0
    )
    return quotient


def _segment(starts: Ints) -> Ints:
    return np.repeat(np.arange(len(starts) - 1), np.diff(starts))


def _levels(values: AnyArray, starts: Ints) -> Ints:
    """Count the different values of each segment."""
    segment = _segment(starts)
    order = np.lexsort((values, segment))
    first, _ = runs(segment, values[order])
    return np.bincount(segment[first], minlength=len(starts) - 1)


def tau_ap(x: AnyArray, y: AnyArray, starts: Ints) -> Floats:
    """AP correlation, the mean over all orders of items that are tied in x or in y.

    For each item of y in turn, the share of the items above it that x also has above
    it.
    """
    if len(x) == 0:
        return np.full(len(starts) - 1, np.nan)
    segment = _segment(starts)
    order = np.lexsort((-y, segment))
    x, y = x[order], y[order]
    better = _dense(-x, segment, starts)
    less, equal = smaller_before(better, starts)
    first, group = runs(segment, y)
    bounds = np.append(first, len(y))
    own_less, own_equal = smaller_before(better, bounds)
    right = less - own_less + (equal - own_equal) / 2
    # A tied item is at each place of the ties equally often, with each of the others
    # above it as often as below.
    mean = np.bincount(group, right, minlength=len(first)) / np.diff(bounds)
    inside = position(group)
    above = np.arange(len(y)) - starts[segment]
    share = over(mean[group] + inside / 2, above.astype(np.float64))
    total = np.bincount(segment, np.nan_to_num(share), minlength=len(starts) - 1)
    n = np.diff(starts)
    varied = fewest_levels(x, y, starts) > 1
    return np.where(varied, 2 * total / np.maximum(n - 1, 1) - 1, np.nan)


def _dense(values: AnyArray, segment: Ints, starts: Ints) -> Ints:
    """Number the different values of each segment from 0, the smallest first."""
    order = np.lexsort((values, segment))
    _, number = runs(segment, values[order])
    place = np.empty(len(values), dtype=np.int64)
    place[order] = number - number[np.minimum(starts[:-1], len(values) - 1)][segment]
    return place


def _weighted(x: AnyArray, y: AnyArray, starts: Ints) -> Floats:
    """Weighted tau with hyperbolic weights, as in scipy."""
    from scipy.stats import weightedtau  # noqa: PLC0415 - slow to import

    correlation = np.full(len(starts) - 1, np.nan)
    for number, (begin, end) in enumerate(
        zip(starts[:-1].tolist(), starts[1:].tolist(), strict=True)
    ):
        ours, theirs = x[begin:end], y[begin:end]
        varied = end - begin > 1 and np.ptp(ours) > 0 and np.ptp(theirs) > 0
        if varied:
            correlation[number] = weightedtau(ours, theirs).statistic
    return correlation


def spearman(x: AnyArray, y: AnyArray, starts: Ints) -> Floats:
    """Spearman's rho: Pearson's r of the ranks, ties at their mean rank."""
    return pearson(_mean_ranks(x, starts), _mean_ranks(y, starts), starts)


def _mean_ranks(values: AnyArray, starts: Ints) -> Floats:
    segment = _segment(starts)
    order = np.lexsort((values, segment))
    first, block = runs(segment, values[order])
    size = np.diff(first, append=len(values))
    mean = first - starts[segment[first]] + (size - 1) / 2
    ranks = np.empty(len(values))
    ranks[order] = mean[block]
    return ranks


def pearson(x: AnyArray, y: AnyArray, starts: Ints) -> Floats:
    """Pearson's r per segment."""
    segment = _segment(starts)
    n = len(starts) - 1
    first, second = _centred(x, segment, n), _centred(y, segment, n)
    up = np.bincount(segment, first * second, minlength=n).astype(np.float64)
    down = np.bincount(segment, first * first, minlength=n)
    down = down * np.bincount(segment, second * second, minlength=n)
    return np.clip(over(up, np.sqrt(down)), -1, 1)


def _centred(values: AnyArray, segment: Ints, n: int) -> Floats:
    """Subtract the mean of each segment, and scale it; constant segments become 0."""
    count = np.bincount(segment, minlength=n)
    smallest, largest = np.zeros(n), np.zeros(n)
    has = np.flatnonzero(count)
    if len(has):
        first = starts_of(count)[has]
        smallest[has] = np.minimum.reduceat(values, first)
        largest[has] = np.maximum.reduceat(values, first)
    # Within -1 and 1, so that no square is too large.
    middle = (smallest / 2 + largest / 2)[segment]
    half = (largest / 2 - smallest / 2)[segment]
    scaled = np.divide(values - middle, half, out=np.zeros(len(values)), where=half > 0)
    mean = np.bincount(segment, scaled, minlength=n) / np.maximum(count, 1)
    centred: Floats = np.where(half > 0, scaled - mean[segment], 0)
    return centred


def ndpm(x: AnyArray, y: AnyArray, starts: Ints) -> Floats:
    """NDPM per segment: 0 if y has the order of x, 1 if it has the reverse."""
    return over(*pair_counts(x, y, starts).distance())


def fcp(x: AnyArray, y: AnyArray, starts: Ints, tied: str) -> Floats:
    """Share of the pairs that x orders and y orders alike."""
    right, wrong = pair_counts(x, y, starts).split(tied)
    return over(right, right + wrong)


def single(n: int) -> Ints:
    """Return the bounds of one segment."""
    return starts_of(np.array([n]))
