"""The order of fused lists: by score, and equal scores by id as text, descending.

Fusion by ranks makes many small ties, such as the first items of two runs that have
none in common. Items of such a tie are compared with each other, which takes a tenth
of the time of a sort of all texts.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from rankine._join.ids import text_order
from rankine._tables.order import sorted_rows
from rankine._tables.segments import position

if TYPE_CHECKING:
    from collections.abc import Callable

    from rankine._base.arrays import Floats, Ints

_FEW = 8
"""Items of a tie that are compared with each other."""


def best_first(scores: Floats, starts: Ints, ids: Callable[[Ints], pl.Series]) -> Ints:
    """Order rows by list and score, and equal scores by id as text, descending.

    Args:
        scores: the scores of all rows, those of a list together.
        starts: where each list begins.
        ids: gives the ids of some rows; those of a list differ.
    """
    order = sorted_rows(lambda rows: rows, scores, starts, "input")
    ordered = scores[order]
    equal = ordered[1:] == ordered[:-1]
    edges = starts[1:-1]
    equal[edges[(edges > 0) & (edges < len(order))] - 1] = False
    if not equal.any():
        return order
    # A tie is a row that is equal to the next but not to the one before, and all that
    # follow; the sorted places of its rows are from `first` on.
    tied = np.flatnonzero(np.append(equal, False) | np.append(False, equal))
    new = ~np.append(False, equal)[tied]
    tie = np.cumsum(new) - 1
    texts = ids(order[tied]).cast(pl.String)
    size = np.bincount(tie)
    small = (size <= _FEW)[tie]
    place = np.empty(len(tied), dtype=np.int64)
    for which, rule in ((small, _compared), (~small, _sorted)):
        if which.any():
            place[which] = rule(texts.filter(pl.Series(which)), tie[which])
    order[tied - position(tie) + place] = order[tied]
    return order


def _compared(texts: pl.Series, tie: Ints) -> Ints:
    """Count the larger texts of each tie, by comparing each of them with each."""
    larger = np.zeros(len(tie), dtype=np.int64)
    for apart in range(1, _FEW):
        one = np.flatnonzero(tie[apart:] == tie[:-apart])
        if len(one) == 0:
            break
        other = one + apart
        swapped = (texts[other] > texts[one]).to_numpy()
        larger[one] += swapped
        larger[other] += ~swapped
    return larger


def _sorted(texts: pl.Series, tie: Ints) -> Ints:
    """Count the larger texts of each tie, by sorting them all."""
    order = np.lexsort((-text_order(texts), tie))
    place = np.empty(len(tie), dtype=np.int64)
    place[order] = position(tie)
    return place
