"""Simultaneous intervals: all those of a family hold at once, as often as is asked."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from rankine._stats import paired
from rankine._stats.flips import critical_t

if TYPE_CHECKING:
    from rankine._base.arrays import Floats, Ints
    from rankine._stats.jackknife import Jackknife
    from rankine._stats.paired import Differences
    from rankine._stats.pairwise import Settings

CORRECTIONS = ("holm", "bonferroni", "maxt")
"""Corrections that limit the risk of any error in a family, as such intervals do."""


def simultaneous_intervals(
    differences: Differences,
    of_all: Jackknife,
    families: Ints,
    n_tested: Ints,
    settings: Settings,
) -> tuple[Floats, Floats]:
    """Return the bounds of intervals that hold for all pairs of a family at once.

    With MaxT, they are d +- c times the standard error, where c is the 1 - alpha
    quantile of the largest t of the family under the flips of the test. With Holm's and
    Bonferroni's corrections, they are the intervals of the pairs alone at the level 1 -
    alpha / m for m pairs; no interval shows what Holm's second step and later ones
    find. So does MaxT, which steps down too.

    Args:
        differences: of every pair.
        of_all: the same of metrics that are a single number for all users.
        families: the number of the family of each pair.
        n_tested: how many pairs are in its family.
        settings: how pairs are compared.

    References:
        P. H. Westfall, S. S. Young: Resampling-based multiple testing. 1993.
    """
    if settings.correction == "maxt":
        t = critical_t(
            differences.flippable,
            differences.n,
            settings.draws,
            settings.seed,
            settings.alpha,
            families,
        )
        error = differences.error
        known = np.isfinite(t) | (error == 0)
        reach = np.where(known, np.where(error == 0, 0, t) * error, np.nan)
        return differences.mean - reach, differences.mean + reach
    level = 1 - settings.alpha / np.maximum(n_tested, 1)
    low, high = differences.interval(level)
    if settings.test == "bootstrap":
        _, bounds = paired.bootstrap_p(
            differences, settings.draws, settings.seed, level
        )
        low, high = np.array(bounds).reshape(-1, 2).T
    whole_low, whole_high = of_all.interval(level)
    low = np.where(of_all.whole, whole_low, low)
    return low, np.where(of_all.whole, whole_high, high)
