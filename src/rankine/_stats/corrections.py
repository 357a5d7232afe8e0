"""Corrections of p-values for how many hypotheses were tested."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from rankine._base.arrays import Floats


def bonferroni(p: Floats) -> Floats:
    """Multiply each p-value by how many there are.

    >>> bonferroni(np.array([0.01, 0.5]))
    array([0.02, 1.  ])
    """
    return np.minimum(p * np.count_nonzero(~np.isnan(p)), 1)


def holm(p: Floats) -> Floats:
    """Multiply the smallest by how many there are, the next by one fewer, and so on.

    References:
        S. Holm: A simple sequentially rejective multiple test procedure. 1979.

    >>> holm(np.array([0.01, 0.04, 0.03]))
    array([0.03, 0.06, 0.06])
    """
    order = np.argsort(p, kind="stable")
    n = np.count_nonzero(~np.isnan(p))
    stepped = np.maximum.accumulate(p[order] * (n - np.arange(len(p))))
    corrected = np.empty(len(p))
    corrected[order] = np.minimum(stepped, 1)
    return corrected


def bh(p: Floats) -> Floats:
    """Multiply the largest by 1, the next by n / (n - 1), and so on down to n.

    References:
        Y. Benjamini, Y. Hochberg: Controlling the false discovery rate. 1995.

    >>> bh(np.array([0.01, 0.04, 0.03]))
    array([0.03, 0.04, 0.04])
    """
    known = np.flatnonzero(~np.isnan(p))
    order = known[np.argsort(-p[known], kind="stable")]
    n = len(order)
    stepped = np.minimum.accumulate(p[order] * n / np.arange(n, 0, -1))
    corrected = np.full(len(p), np.nan)
    corrected[order] = np.minimum(stepped, 1)
    return corrected


CORRECTIONS = {"holm": holm, "bonferroni": bonferroni, "bh": bh}
