"""Joining a matrix of scores with judgements: only the top of each row is ordered."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from rankine.errors import DataError
from rankine.table.segments import position, runs

if TYPE_CHECKING:
    from rankine.arrays import Floats, Ints
    from rankine.io.sources import Dense

_CHUNK = 1 << 22
"""Cells that are worked on at once."""


def check_scores(run: Dense, scores: Floats) -> None:
    """Refuse scores that cannot be ordered."""
    missing = np.isnan(scores)
    if missing.any():
        row, column = (int(at[0]) for at in np.nonzero(missing))
        msg = (
            f"the score of item {run.items[column]!r} for query {run.queries[row]!r} "
            f"is not a number, as are {int(missing.sum())} scores in all; give -inf "
            "for items that are not retrieved"
        )
        raise DataError(msg)


def top(
    scores: Floats, tie_order: Ints, depth: int | None
) -> tuple[Ints, Ints, Ints, Ints, Ints]:
    """Return row, column, rank, above and tied of the cells down to a rank.

    Cells that are tied with the last one are included, whatever their rank; cells with
    -inf are not retrieved. The result is sorted by row and rank.
    """
    n_columns = scores.shape[1]
    if depth is not None and depth < n_columns:
        last = n_columns - depth
        edge = np.partition(scores, last, axis=1)[:, last]
        inside = scores >= edge[:, None]
        inside &= scores > -np.inf
    else:
        inside = scores > -np.inf
    row, column = (at.astype(np.int64) for at in np.nonzero(inside))
    score = scores[row, column]
    order = np.lexsort((tie_order[column], -score, row))
    row, column, score = row[order], column[order], score[order]
    rank = position(row) + 1
    first, block = runs(row, score)
    above, tied = (rank[first] - 1)[block], np.bincount(block)[block]
    return row, column, rank, above, tied


def count_above(
    scores: Floats, row: Ints, column: Ints, tie_order: Ints
) -> tuple[Ints, Ints, Ints]:
    """Return rank, above and tied of a few cells, by counting along their rows."""
    n_columns = scores.shape[1]
    above = np.empty(len(row), dtype=np.int64)
    tied = np.empty(len(row), dtype=np.int64)
    before = np.empty(len(row), dtype=np.int64)
    step = max(1, _CHUNK // max(n_columns, 1))
    for begin in range(0, len(row), step):
        at = slice(begin, begin + step)
        lists = scores[row[at]]
        own = lists[np.arange(len(lists)), column[at]][:, None]
        above[at] = np.count_nonzero(lists > own, axis=1)
        equal = lists == own
        tied[at] = np.count_nonzero(equal, axis=1)
        ahead = tie_order[None, :] < tie_order[column[at]][:, None]
        before[at] = np.count_nonzero(equal & ahead, axis=1)
    return above + 1 + before, above, tied
