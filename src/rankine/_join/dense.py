"""Joining a matrix of scores with judgements: only the top of each row is ordered."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import polars as pl

from rankine._base.blocks import by_halves
from rankine._base.text import count
from rankine._io.sources import Dense
from rankine._join.ids import SPARSE, Index, text_order
from rankine._tables.joined import joined
from rankine._tables.judged import Judged
from rankine._tables.keys import may_repeat
from rankine._tables.order import tie_keys
from rankine._tables.segments import (
    bounds,
    position,
    rounded,
    runs,
    stable_order,
)
from rankine.errors import DataError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rankine._base.arrays import Floats, Ints
    from rankine._io.sources import Rows
    from rankine._join.judgements import Judgements, Truth
    from rankine._tables.joined import Aligned
    from rankine._tables.order import Order

_CHUNK = 1 << 22
"""Cells that are worked on at once."""
_SEEN = 1 << 18
"""Items of rows that are marked at once, so that they stay in the cache."""


class Cells(NamedTuple):
    """Cells of a matrix with their ranks in their rows, as in `Judged`."""

    row: Ints
    column: Ints
    rank: Ints
    above: Ints
    tied: Ints


def match(
    truth: Truth, run: Dense, order: Order, depth: int | None, *, keep_scores: bool
) -> Aligned:
    """Find the judged cells of a matrix, and their ranks in an order."""
    refuse_other_order(order)
    masked = _is_masked(run)
    scores, keys = rounded(run.matrix, order.bits), _tie_order(run, order.tie)
    if isinstance(truth.source, Dense):
        _same_axes(truth.source, run)
        top = _top(scores, keys, depth, masked=masked)
        row, column = top.row, top.column
        table = Judged(
            query=row,
            rank=top.rank,
            grade=truth.source.matrix[row, column],
            above=top.above,
            tied=top.tied,
            score=scores[row, column],
            pool=truth.pool,
            pair=row * scores.shape[1] + column,
            **_lists(
                scores, np.arange(len(scores)), masked=masked, keep_scores=keep_scores
            ),
        )
        judged = ~np.isnan(table.grade)
        table = table if judged.all() else table.take(judged)
        ids, named = truth.source.queries, truth.named
        return joined(
            table, ids, [], [], run.notes, named=named, deepest=depth,
            found=None if depth is None else len(named.pool.grade),  # of these columns
        )  # fmt: skip
    judgements = truth.judgements
    list_row, column, pair, notes = _cells(judgements, run)
    row = list_row[judgements.pool.query[pair]]
    score = scores[row, column]
    kept = score > -np.inf
    row, column, pair, score = row[kept], column[kept], pair[kept], score[kept]
    rank, above, tied = _count_above(scores, row, column, keys)
    table = Judged.of_pairs(
        judgements.pool,
        pair,
        rank=rank,
        above=above,
        tied=tied,
        score=score,
        **_lists(scores, list_row, masked=masked, keep_scores=keep_scores),
    )
    unjudged = np.ones(len(run.queries), dtype=np.bool_)
    unjudged[list_row[list_row >= 0]] = False
    extra = run.queries.filter(unjudged).to_list()
    ids, named = judgements.queries, judgements.named
    lengths, notes = [0] * len(extra), run.notes + notes
    return joined(table, ids, extra, lengths, notes, named=named)


def match_ranked(
    truth: Truth, run: Rows, orders: Mapping[Order, bool], depth: int | None
) -> dict[Order, Aligned]:
    """Find the graded cells of a matrix of ranked items, if the order allows it.

    It does not if scores matter or an item may be repeated, if queries or items are not
    numbered like those of the grades, or if a query without any grade is not judged.
    """
    source, grid = truth.source, run.grid
    if not isinstance(source, Dense) or grid is None or run.all_queries is None:
        return {}
    n_queries, width = grid.shape
    same = source.queries.equals(run.all_queries) and source.items.dtype == pl.Int64
    if not same or any(orders.values()) or _may_repeat(grid):
        return {}
    if not np.diff(truth.pool.starts).all():
        return {}
    shown = grid[:, :depth]
    column = Index(source.items).find(pl.Series(np.ascontiguousarray(shown).ravel()))
    row, place = np.divmod(np.arange(len(column)), shown.shape[1])
    grade = np.where(column < 0, np.nan, source.matrix[row, column])
    judged = ~np.isnan(grade)
    if not judged.all():
        row, place, column, grade = (
            values[judged] for values in (row, place, column, grade)
        )
    table = Judged(
        query=row,
        rank=place + 1,
        grade=grade,
        above=place,
        tied=np.ones(len(row), dtype=np.int64),
        score=-(place + 1.0),
        n_retrieved=np.full(n_queries, width),
        in_run=np.ones(n_queries, dtype=np.bool_),
        pool=truth.pool,
        pair=row * source.matrix.shape[1] + column,
    )
    aligned = joined(
        table, source.queries, [], [], run.notes,
        scored=False, named=truth.named, deepest=depth,
    )  # fmt: skip
    return dict.fromkeys(orders, aligned)


def _may_repeat(grid: Ints) -> bool:
    """Say whether a row may have an item twice; False is certain."""
    n_rows, width = grid.shape
    least, most = bounds(grid.ravel())
    room = most - least + 1
    if room > SPARSE * width:
        starts = np.arange(n_rows + 1) * width
        return may_repeat(grid.ravel().view(np.uint64), starts)
    step = max(1, _SEEN // room)
    for begin in range(0, n_rows, step):
        rows = grid[begin : begin + step]
        seen = np.zeros(len(rows) * room, dtype=np.bool_)
        seen[(rows + (np.arange(len(rows)) * room - least)[:, None]).ravel()] = True
        if np.count_nonzero(seen) < rows.size:
            return True
    return False


def _lengths(scores: Floats, *, masked: bool) -> Ints:
    """Return how many items each row retrieves."""
    if masked:
        length: Ints = np.count_nonzero(scores > -np.inf, axis=1)
        return length
    return np.full(len(scores), scores.shape[1], dtype=np.int64)


def _lists(
    scores: Floats, list_row: Ints, *, masked: bool, keep_scores: bool
) -> dict[str, Any]:
    """Return the columns of `Judged` that describe whole lists, given their rows.

    Queries without a row, which is -1, have no list.
    """
    in_run = list_row >= 0
    n_retrieved = np.append(_lengths(scores, masked=masked), 0)[list_row]
    kept = kept_query = None
    if keep_scores:
        cells = scores[np.maximum(list_row, 0)]
        inside = (cells > -np.inf) & in_run[:, None]
        kept, kept_query = cells[inside], np.nonzero(inside)[0].astype(np.int64)
    return {
        "n_retrieved": n_retrieved,
        "in_run": in_run,
        "scores": kept,
        "score_query": kept_query,
    }


def first_in_rows(
    run: Dense, order: Order, depth: int
) -> tuple[Ints, Ints, Floats, Ints]:
    """Return the first cells of each row, in its order.

    Returns:
        Their rows, columns and scores, and how many items each row has in all.
    """
    masked = _is_masked(run)
    scores, keys = rounded(run.matrix, order.bits), _tie_order(run, order.tie)
    row, column, rank, _, _ = _top(scores, keys, depth, masked=masked)
    inside = rank <= depth
    row, column = row[inside], column[inside]
    return row, column, scores[row, column], _lengths(scores, masked=masked)


def _cells(truth: Judgements, run: Dense) -> tuple[Ints, Ints, Ints, tuple[str, ...]]:
    """Find the matrix row of each query, and the judged pairs with their columns."""
    queries, notes = truth.as_judged(run.queries, "query", run.name)
    items, more = truth.as_judged(run.items, "item", run.name)
    list_row = Index(queries).find(truth.queries)
    column = Index(items).find(truth.items)
    pair = np.flatnonzero((column >= 0) & (list_row[truth.pool.query] >= 0))
    return list_row, column[pair], pair, notes + more


def refuse_other_order(order: Order) -> None:
    """Refuse to rank the cells of a row by anything but their scores."""
    if order.by != "score":
        msg = (
            f"a matrix of scores is ranked by its scores; order={order.by!r} cannot be "
            "used"
        )
        raise DataError(msg)


def _same_axes(grades: Dense, scores: Dense) -> None:
    if grades.matrix.shape != scores.matrix.shape:
        msg = (
            f"grades are {grades.matrix.shape[0]} x {grades.matrix.shape[1]} and "
            f"scores {scores.matrix.shape[0]} x {scores.matrix.shape[1]}; both need "
            "the same queries and items"
        )
        raise DataError(msg)
    for axis in ("queries", "items"):
        if not getattr(grades, axis).equals(getattr(scores, axis)):
            msg = f"grades and scores must have the same {axis} in the same order"
            raise DataError(msg)


def _tie_order(run: Dense, tie: str) -> Ints:
    """Return each column's place among equal scores, by the rule for ties."""
    if tie not in run.memo:
        columns = np.arange(len(run.items))
        run.memo[tie] = tie_keys(columns, tie, lambda _: text_order(run.items))
    keys: Ints = run.memo[tie]
    return keys


def _is_masked(run: Dense) -> bool:
    """Say whether items are not retrieved; refuse scores that cannot be ordered."""
    scores = run.matrix
    # nan, if there is one
    parts = by_halves(
        lambda rows: scores[rows].min(initial=np.inf), len(scores), scores.size
    )
    smallest = float(np.minimum.reduce(parts))
    if np.isnan(smallest):
        missing = np.isnan(scores)
        row, column = (int(places[0]) for places in np.nonzero(missing))
        msg = (
            f"the score of item {run.items[column]!r} for query {run.queries[row]!r} "
            f"is not a number ({count(int(missing.sum()), 'such score')} in all); give "
            "-inf for items that are not retrieved"
        )
        raise DataError(msg)
    return smallest == -np.inf


def _floor(scores: Floats, depth: int) -> Floats:
    """Return for each row a score that at least `depth` of its scores reach.

    The row is cut into pieces and the largest score of each is taken; the `depth`-th
    largest of these is reached by at least that many cells of the row, and by few
    others.
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


def _top(scores: Floats, tie_order: Ints, depth: int | None, *, masked: bool) -> Cells:
    """Return the cells down to a rank, by row and rank.

    Some cells beyond that rank are included, those tied with it among them; cells with
    -inf are not retrieved.
    """

    def of_rows(rows: slice) -> Cells:
        cells = _top_of_rows(scores[rows], tie_order, depth, masked=masked)
        return cells._replace(row=cells.row + rows.start)

    parts = by_halves(of_rows, len(scores), scores.size)
    return Cells(*map(np.concatenate, zip(*parts, strict=True)))


def _top_of_rows(
    scores: Floats, tie_order: Ints, depth: int | None, *, masked: bool
) -> Cells:
    if depth is not None and depth < scores.shape[1]:
        inside = scores >= _floor(scores, depth)[:, None]
        if masked:
            inside &= scores > -np.inf
    else:
        inside = scores > -np.inf
    row, column = np.divmod(np.flatnonzero(inside), scores.shape[1])
    score = scores[row, column]
    # Sorted by score, then by row; in full only where scores are equal.
    order = np.argsort(-score)
    order = order[stable_order(row[order])]
    same = (score[order][1:] == score[order][:-1]) & (row[order][1:] == row[order][:-1])
    if same.any():
        order = np.lexsort((tie_order[column], -score, row))
    row, column, score = row[order], column[order], score[order]
    rank = position(row) + 1
    first, block = runs(row, score)
    above, tied = (rank[first] - 1)[block], np.bincount(block)[block]
    return Cells(row, column, rank, above, tied)


def _count_above(
    scores: Floats, row: Ints, column: Ints, tie_order: Ints
) -> tuple[Ints, Ints, Ints]:
    """Return rank, above and tied of a few cells, by counting along their rows."""
    n_columns = scores.shape[1]
    above = np.empty(len(row), dtype=np.int64)
    tied = np.empty(len(row), dtype=np.int64)
    before = np.empty(len(row), dtype=np.int64)
    step = max(1, _CHUNK // max(n_columns, 1))
    for begin in range(0, len(row), step):
        some = slice(begin, begin + step)
        lists = scores[row[some]]
        asked = lists[np.arange(len(lists)), column[some]][:, None]
        above[some] = np.count_nonzero(lists > asked, axis=1)
        equal = lists == asked
        tied[some] = np.count_nonzero(equal, axis=1)
        ahead = tie_order[None, :] < tie_order[column[some]][:, None]
        before[some] = np.count_nonzero(equal & ahead, axis=1)
    return above + 1 + before, above, tied
