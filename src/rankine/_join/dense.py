"""Joining a matrix of scores with judgements: only the top of each row is ordered."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from rankine._base.blocks import by_halves
from rankine._base.text import count
from rankine._join.ties import tie_keys
from rankine._tables.segments import position, runs
from rankine.errors import DataError

if TYPE_CHECKING:
    from rankine._base.arrays import Floats, Ints
    from rankine._io.sources import Dense

_CHUNK = 1 << 22
"""Cells that are worked on at once."""


def tie_order(run: Dense, tie: str) -> Ints:
    """Return each column's place among equal scores, by the rule for ties."""
    if tie not in run.memo:
        columns = np.arange(len(run.items))
        run.memo[tie] = tie_keys(columns, tie, run.items.gather)
    keys: Ints = run.memo[tie]
    return keys


def smallest_score(run: Dense, scores: Floats) -> float:
    """Return the smallest score; refuse scores that cannot be ordered."""
    # nan, if there is one
    parts = by_halves(
        lambda rows: scores[rows].min(initial=np.inf), len(scores), scores.size
    )
    smallest = float(np.minimum.reduce(parts))
    if np.isnan(smallest):
        missing = np.isnan(scores)
        row, column = (int(at[0]) for at in np.nonzero(missing))
        msg = (
            f"the score of item {run.items[column]!r} for query {run.queries[row]!r} "
            f"is not a number ({count(int(missing.sum()), 'such score')} in all); give "
            "-inf for items that are not retrieved"
        )
        raise DataError(msg)
    return smallest


def _floor(scores: Floats, depth: int) -> Floats:
    """Return for each row a score that at least `depth` of its scores reach.

    The row is cut into pieces and the largest of each is taken; of these, the one of
    that depth is reached by so many cells of the row, and by few others.
    """
    n_rows, n_columns = scores.shape
    n_pieces = 4 * depth
    if n_columns < 2 * n_pieces:
        last = n_columns - depth
        return np.partition(scores, last, axis=1)[:, last]
    width = n_columns // n_pieces * n_pieces
    largest = scores[:, :width].reshape(n_rows, -1, n_pieces).max(axis=1)
    last = n_pieces - depth
    return np.partition(largest, last, axis=1)[:, last]


def top(
    scores: Floats, tie_order: Ints, depth: int | None, *, masked: bool
) -> tuple[Ints, Ints, Ints, Ints, Ints]:
    """Return row, column, rank, above and tied of the cells down to a rank.

    Some cells beyond that rank are included, those tied with it among them; cells with
    -inf are not retrieved. The result is sorted by row and rank.
    """

    def of_rows(rows: slice) -> tuple[Ints, Ints, Ints, Ints, Ints]:
        row, *others = _top(scores[rows], tie_order, depth, masked=masked)
        return row + rows.start, *others

    parts = by_halves(of_rows, len(scores), scores.size)
    return tuple(np.concatenate(part) for part in zip(*parts, strict=True))  # type: ignore[return-value]


def _top(
    scores: Floats, tie_order: Ints, depth: int | None, *, masked: bool
) -> tuple[Ints, Ints, Ints, Ints, Ints]:
    if depth is not None and depth < scores.shape[1]:
        inside = scores >= _floor(scores, depth)[:, None]
        if masked:
            inside &= scores > -np.inf
    else:
        inside = scores > -np.inf
    row, column = np.divmod(np.flatnonzero(inside), scores.shape[1])
    score = scores[row, column]
    # Sorted by score, then by row with a stable sort, which is fast on small numbers;
    # in full only where scores are equal.
    order = np.argsort(-score)
    small = row.astype(np.uint16) if len(scores) < 1 << 16 else row
    order = order[np.argsort(small[order], kind="stable")]
    same = (score[order][1:] == score[order][:-1]) & (row[order][1:] == row[order][:-1])
    if same.any():
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
