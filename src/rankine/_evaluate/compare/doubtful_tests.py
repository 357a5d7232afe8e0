"""Warnings about tests that are doubtful, or cannot find anything."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from rankine._base.text import count, p_text, plural
from rankine._stats.attainable import enough_draws, smallest_corrected, smallest_p
from rankine._stats.pairwise import TUKEY

if TYPE_CHECKING:
    from rankine._base.arrays import Bools
    from rankine._evaluate.compare.system_values import SystemValues
    from rankine._stats.pairwise import Pairwise, Settings

_FEW = 20
_MANY = 1000
_RATIO = 4
"""The ratio above which variances are too unequal for Tukey's tests."""


def warnings_of_tests(
    compared: SystemValues, pairs: Pairwise, settings: Settings
) -> list[str]:
    """Return warnings about tests that find too little, or what they should not."""
    n = len(compared.queries)
    said = hopeless(compared, pairs, settings)
    if n < _FEW and not said:
        said.append(
            f"with {count(n, compared.unit)}, only large differences can be "
            "distinguished from chance"
        )
    if settings.test in {"wilcoxon", "sign"} and n > _MANY:
        said.append(
            f"{settings.test} tests for a shift of the middle, not of the mean; with "
            f"{n:,} {plural(compared.unit)} it finds shifts that no mean shows"
        )
    if settings.test in TUKEY:
        for metric, label in enumerate(compared.metrics):
            spread = pairs.deviation[pairs.metric == metric] ** 2
            spread = spread[~np.isnan(spread)]
            if spread.size and spread.max() > _RATIO * spread.min():
                said.append(
                    f"{label}: differences vary more between some systems than between "
                    f"others, which {settings.test} does not allow for; use "
                    "test='randomization', correction='maxt'"
                )
    return said


def hopeless(compared: SystemValues, pairs: Pairwise, settings: Settings) -> list[str]:
    """Return warnings about tests that can reach no verdict, with a remedy."""
    whole = np.isin(pairs.metric, list(compared.wholes))
    least = smallest_corrected(pairs, settings, whole)
    by_reason: dict[str, list[str]] = {}
    for metric, label in enumerate(compared.metrics):
        rows = (pairs.metric == metric) & (pairs.n_moved > 0) & ~np.isnan(least)
        if rows.any() and least[rows].min() > settings.alpha:
            reason = _reason(pairs, settings, whole, rows, compared.unit)
            by_reason.setdefault(reason, []).append(label)
    return [f"{', '.join(labels)}: {why}" for why, labels in by_reason.items()]


def _reason(
    pairs: Pairwise, settings: Settings, whole: Bools, rows: Bools, unit: str
) -> str:
    """Return why no pair of a metric can get a verdict."""
    draws = enough_draws(pairs, settings)
    more = replace(settings, draws=max(draws, settings.draws))
    if smallest_corrected(pairs, more, whole)[rows].min() <= settings.alpha:
        return (
            f"{settings.test} with {settings.draws:,} draws cannot find a difference: "
            f"{_smallest(pairs, settings, whole, rows)}; use draws={draws} or more"
        )
    n = int(pairs.n_moved[rows].max())
    differ = "differs" if n == 1 else "differ"
    return (
        f"{settings.test} cannot find a difference if only {count(n, unit)} {differ}: "
        f"{_smallest(pairs, more, whole, rows)}"
    )


def _smallest(pairs: Pairwise, settings: Settings, whole: Bools, rows: Bools) -> str:
    p = float(smallest_p(pairs, settings, whole)[rows].min())
    if p > settings.alpha:
        return f"the smallest p is {p_text(p)}"
    n = int(np.count_nonzero(rows))
    of_all = f"{settings.correction} corrects for {count(n, 'pair')}"
    return f"the smallest p is {p_text(p)}, and {of_all}"
