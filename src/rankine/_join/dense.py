"""Joining a matrix of scores with judgements: only the top of each row is ordered."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from rankine._base.blocks import by_halves
from rankine._base.text import count, shown
from rankine._join.ids import SPARSE, Index, text_order
from rankine._join.judged_items import (
    FoundJudged,
    JudgedColumns,
    JudgedFinder,
    JudgedInOrder,
)
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
    from collections.abc import Iterable, Mapping

    from rankine._base.arrays import Floats, Ints
    from rankine._io.sources import Dense, Rows
    from rankine._join.judgements import Judgements, Truth
    from rankine._join.row_chunks import RowChunk
    from rankine._tables.order import Order

_CHUNK = 1 << 22
"""Cells that are worked on at once."""
_OF_CELLS = "pair", "rank", "above", "tied", "score", "query", "grade"
_SEEN = 1 << 18
"""Items of rows that are marked at once, so that they stay in the cache."""


class MatrixFinder(JudgedFinder):
    """Looks for judged items in the cells of a matrix of scores."""

    def __init__(self, truth: Truth, run: Dense, orders: Mapping[Order, bool]) -> None:
        refuse_other_orders(orders)
        self._truth = judged = truth.judgements
        super().__init__(truth, run, orders, judged.queries, judged.named)

    def find(self, chunk: Dense) -> FoundJudged:
        """Return the judged cells of a matrix, by counting along their rows."""
        masked, truth = is_masked(chunk), self._truth
        list_row, column, pair, notes = _cells(truth, chunk)
        row = list_row[truth.pool.query[pair]]
        number = np.full(len(chunk.matrix), -1)
        present = np.flatnonzero(list_row >= 0)
        number[list_row[present]] = present
        unjudged = np.flatnonzero(number < 0)
        number[unjudged] = len(self.ids) + np.arange(len(unjudged))
        by_order = {}
        for order, keep_scores in self.orders.items():
            scores = rounded(chunk.matrix, order.bits)
            score = scores[row, column]
            kept = score > -np.inf
            cells = row[kept], column[kept]
            rank, above, tied = _count_above(scores, *cells, _tie_order(chunk, order))
            found = JudgedColumns(
                pair=pair[kept], rank=rank, above=above, tied=tied, score=score[kept]
            )
            found = _with_lists(found, scores, number, masked, keep_scores)
            by_order[order] = JudgedInOrder([found])
        extra = chunk.queries.gather(unjudged).to_list()
        return FoundJudged(len(self.ids), by_order, extra, notes=dict.fromkeys(notes))


class GradedMatrixFinder(JudgedFinder):
    """Looks for the best cells of a matrix of scores, whose grades are a matrix too."""

    def __init__(
        self,
        truth: Truth,
        grades: Dense,
        run: Dense,
        orders: Mapping[Order, bool],
        depth: int | None,
    ) -> None:
        refuse_other_orders(orders)
        super().__init__(truth, run, orders, grades.queries, truth.named)
        self._grades = grades
        self.deepest = depth

    def find(self, chunk: Dense) -> FoundJudged:
        """Return the best cells that have a grade; only they are ordered."""
        masked = is_masked(chunk)
        _same_axes(self._grades, chunk)
        number = np.arange(len(chunk.matrix))
        by_order = {}
        for order, keep_scores in self.orders.items():
            scores = rounded(chunk.matrix, order.bits)
            top = _top(scores, _tie_order(chunk, order), self.deepest, masked=masked)
            found = _graded(top, self._grades)
            found = _with_lists(found, scores, number, masked, keep_scores)
            by_order[order] = JudgedInOrder([found], every=self.deepest is not None)
        return FoundJudged(len(self.ids), by_order)


class RankedMatrixFinder(JudgedFinder):
    """Looks for graded items in a matrix of ranked items, whose grades are a matrix.

    For 20,000 x 100, finding items by their columns takes a fifth of the time of making
    a key for each grade; for 2,000 x 10 of 1,000 items, a twentieth.
    """

    unscored = True

    def __init__(
        self,
        truth: Truth,
        grades: Dense,
        run: Rows,
        orders: Mapping[Order, bool],
        depth: int | None,
    ) -> None:
        super().__init__(truth, run, orders, grades.queries, truth.named)
        self._grades = grades
        self.deepest = depth

    @staticmethod
    def fits(grades: Dense, run: Rows, orders: Mapping[Order, bool]) -> bool:
        """Say whether the orders allow it.

        They do not if scores matter or an item may be repeated, or if queries or items
        are not numbered like those of the grades.
        """
        if run.grid is None or run.queries is None or any(orders.values()):
            return False
        same = grades.queries.equals(run.queries) and grades.items.dtype == pl.Int64
        return same and not _may_repeat(run.grid)

    def find(self, chunk: RowChunk) -> FoundJudged:
        """Return the items of a matrix that have a grade; their places are ranks."""
        grid: Any = chunk.rows.grid
        n_queries, width = grid.shape
        shown, n_items = grid[:, : self.deepest], self._grades.matrix.shape[1]
        items = pl.Series(np.ascontiguousarray(shown).ravel())
        column = Index(self._grades.items).find(items)
        known = np.flatnonzero(column >= 0)
        row, place = np.divmod(known, shown.shape[1])
        cells = JudgedColumns(
            number=np.arange(n_queries),
            length=np.full(n_queries, width),
            pair=row * n_items + column[known],
            rank=place + 1,
            above=place,
            tied=np.ones(len(row), dtype=np.int64),
            score=-(place + 1.0),
            query=row,
        )
        found = _graded(cells, self._grades)
        by_order = {order: JudgedInOrder([found]) for order in self.orders}
        return FoundJudged(len(self.ids), by_order)


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


def _graded(found: JudgedColumns, grades: Dense) -> JudgedColumns:
    """Keep the cells that have a grade; the pair of each is its number."""
    matrix = grades.matrix
    grade = matrix[found.query, found.pair % matrix.shape[1]]
    judged = ~np.isnan(grade)
    found = found._replace(grade=grade)
    if judged.all():
        return found
    return found._replace(**{name: getattr(found, name)[judged] for name in _OF_CELLS})


def _with_lists(
    found: JudgedColumns,
    scores: Floats,
    number: Ints,
    masked: bool,  # noqa: FBT001 - passed on
    keep_scores: bool,  # noqa: FBT001
) -> JudgedColumns:
    """Add the columns that describe whole lists, given the number of each row."""
    found = found._replace(number=number, length=_lengths(scores, masked=masked))
    if not keep_scores:
        return found
    inside = scores > -np.inf
    owner = number[np.nonzero(inside)[0]]
    return found._replace(scores=scores[inside], score_query=owner)


def first_in_rows(
    run: Dense, order: Order, depth: int
) -> tuple[Ints, Ints, Floats, Ints]:
    """Return the first cells of each row, in its order.

    Returns:
        Their rows, columns and scores, and how many items each row has in all.
    """
    masked = is_masked(run)
    scores, keys = rounded(run.matrix, order.bits), _tie_order(run, order)
    top = _top(scores, keys, depth, masked=masked)
    inside = top.rank <= depth
    row, column = np.divmod(top.pair[inside], scores.shape[1])
    return row, column, top.score[inside], _lengths(scores, masked=masked)


def _cells(truth: Judgements, run: Dense) -> tuple[Ints, Ints, Ints, tuple[str, ...]]:
    """Find the matrix row of each query, and the judged pairs with their columns."""
    queries, notes = truth.as_judged(run.queries, "query", run.name)
    items, more = truth.as_judged(run.items, "item", run.name)
    list_row = Index(queries).find(truth.queries)
    column = Index(items).find(truth.items)
    pair = np.flatnonzero((column >= 0) & (list_row[truth.pool.query] >= 0))
    return list_row, column[pair], pair, notes + more


def refuse_other_orders(orders: Iterable[Order]) -> None:
    """Refuse to rank the cells of a row by anything but their scores."""
    for order in orders:
        if order.by != "score":
            msg = (
                f"a matrix of scores is ranked by its scores; order={order.by!r} "
                "cannot be used"
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


def _tie_order(run: Dense, order: Order) -> Ints:
    """Return each column's place among equal scores, by the rule for ties."""
    tie = order.tie
    if tie not in run.memo:
        columns = np.arange(len(run.items))
        run.memo[tie] = tie_keys(columns, tie, lambda _: text_order(run.items))
    keys: Ints = run.memo[tie]
    return keys


def is_masked(run: Dense) -> bool:
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
            f"the score of item {shown(run.items[column])} for query "
            f"{shown(run.queries[row])} is not a number "
            f"({count(int(missing.sum()), 'such score')} in all); give -inf for "
            "items that are not retrieved"
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


def _top(
    scores: Floats, tie_order: Ints, depth: int | None, *, masked: bool
) -> JudgedColumns:
    """Return the cells down to a rank, by row and rank; the pair of each is its number.

    Some cells beyond that rank are included, those tied with it among them; cells with
    -inf are not retrieved.
    """

    def of_rows(rows: slice) -> JudgedColumns:
        return _top_of_rows(scores, rows, tie_order, depth, masked=masked)

    return JudgedColumns.concatenated(by_halves(of_rows, len(scores), scores.size))


def _top_of_rows(
    matrix: Floats, rows: slice, tie_order: Ints, depth: int | None, *, masked: bool
) -> JudgedColumns:
    scores = matrix[rows]
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
    query = row + rows.start
    return JudgedColumns(
        pair=query * scores.shape[1] + column,
        rank=rank,
        above=above,
        tied=tied,
        score=score,
        query=query,
    )


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
