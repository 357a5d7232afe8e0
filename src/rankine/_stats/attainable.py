"""The smallest p-values that a comparison can give, and so whether it can find any."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from rankine._stats.corrections import CORRECTIONS

if TYPE_CHECKING:
    from rankine._base.arrays import Bools, Floats
    from rankine._stats.pairwise import Pairwise, Settings

_DRAWN = ("randomization", "bootstrap", "randomized_tukey_hsd")
"""Tests whose p-values are counts of draws."""
_TIMES = ("holm", "bonferroni")
"""Corrections that multiply the smallest p-value by how many there are."""


def smallest_p(pairs: Pairwise, settings: Settings, whole: Bools) -> Floats:
    """Return the smallest p-value that each pair could have, before correction.

    A share of draws is at least 1 / (1 + draws). Where all flips of n signs are gone
    through, two of them are as extreme as the data, so that it is at least 2 / 2^n.

    Args:
        pairs: the pairs.
        settings: how they were compared.
        whole: which of them are tested without draws, by the jackknife.
    """
    if settings.test not in _DRAWN:
        return np.where(np.isnan(pairs.p), np.nan, 0.0)
    least = np.full(len(pairs.p), 1 / (1 + settings.draws))
    if settings.test == "randomization" and settings.correction != "maxt":
        exact = pairs.n_moved < settings.draws.bit_length()
        least[exact] = np.minimum(2.0 ** (1 - pairs.n_moved[exact]), 1)
    least[whole] = 0
    return np.where(np.isnan(pairs.p), np.nan, least)


def at_floor(pairs: Pairwise, settings: Settings, whole: Bools) -> tuple[Bools, Bools]:
    """Return which p-values are only a bound, before and after correction.

    Where no draw is as extreme as the data, p is 1 / (1 + draws), however small it
    would be with more draws. A p-value from all flips is never that small.

    Args:
        pairs: the pairs.
        settings: how they were compared.
        whole: which of them are tested without draws, by the jackknife.
    """
    if settings.test not in _DRAWN:
        nothing = np.zeros(len(pairs.p), dtype=np.bool_)
        return nothing, nothing
    floor = 1 / (1 + settings.draws)
    p = (pairs.p <= floor) & ~whole
    if settings.corrects and settings.correction == "maxt":  # which draws by itself
        return p, (pairs.p_corrected <= floor) & ~whole
    return p, p


def smallest_corrected(pairs: Pairwise, settings: Settings, whole: Bools) -> Floats:
    """Return the smallest corrected p-value that each pair could have.

    No correction gives a smaller one if some p-value of the family is larger.
    """
    least = smallest_p(pairs, settings, whole)
    correction = CORRECTIONS.get(settings.correction)
    if correction is None or settings.test == "randomized_tukey_hsd":
        return least
    corrected = np.empty(len(least))
    every = np.zeros_like(pairs.metric)
    families = pairs.metric if settings.family == "metric" else every
    for family in np.unique(families):
        rows = families == family
        corrected[rows] = correction(least[rows])
    return corrected


def enough_draws(pairs: Pairwise, settings: Settings) -> int:
    """Return with how many draws the smallest p-value passes the correction."""
    times = 1
    if settings.correction in _TIMES and settings.test != "randomized_tukey_hsd":
        sizes = np.unique(pairs.metric, return_counts=True)[1]
        times = len(pairs.metric) if settings.family == "all" else int(sizes.max())
    return math.ceil(times / settings.alpha)
