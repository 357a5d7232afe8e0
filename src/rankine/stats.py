"""Tests for the values of systems on the same queries, in the shape of scipy's.

    from rankine import stats

    statistic, pvalue = stats.randomization(a, b)

`compare` does the same for whole runs, with intervals, corrections and tables.
"""

from __future__ import annotations

from rankine._stats.functions import (
    Outcome,
    Outcomes,
    bh,
    bonferroni,
    bootstrap,
    holm,
    maxt,
    randomization,
    randomized_tukey_hsd,
    sign,
    t,
    tukey_hsd,
    wilcoxon,
)

__all__ = [
    "Outcome", "Outcomes", "bh", "bonferroni", "bootstrap", "holm", "maxt",
    "randomization", "randomized_tukey_hsd", "sign", "t", "tukey_hsd", "wilcoxon",
]  # fmt: skip
