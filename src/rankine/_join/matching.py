"""Judgements and a run, joined: which retrieved items are judged, at which rank.

- Rank comes from the score, descending; equal scores are ordered by item id, descending
  in the byte order of its text (trec_eval's rule), unless the convention says
  otherwise. A rank column, or the order of a list, is used if there is no score.
- An item that appears twice for one query is an error, unless the convention says
  otherwise.
- Queries are those of the judgements, in their order. The convention decides whether
  those that the run misses are kept.
- Ids are the user's own: an int stays an int. Between text and int, see `ids.py`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rankine._io.rows import as_rows
from rankine._io.sources import Dense, Lists, Rows
from rankine._join.chunks import find
from rankine._join.dense import GradedMatrixFinder, MatrixFinder, RankedMatrixFinder
from rankine._join.judged_mappings import MappingFinder, can_look_up
from rankine._join.judged_rows import RowFinder
from rankine.errors import DataError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rankine._io.sources import Source
    from rankine._join.judged_items import JudgedFinder
    from rankine._join.judgements import Truth
    from rankine._tables.joined import Aligned
    from rankine._tables.order import Order


def match(
    truth: Truth, run: Source, orders: Mapping[Order, bool]
) -> dict[Order, Aligned]:
    """Join judgements and a run, once for all orders of its items.

    What a convention says about queries, pools and floors is not applied yet.

    Args:
        truth: the judgements.
        run: the retrieved items.
        orders: the orders, and whether the scores of all items are to be kept.
    """
    run, judged_items = finder_of(truth, run, orders)
    (found,) = find(run, [judged_items])
    return judged_items.tables(found)


def finder_of(
    truth: Truth, run: Source, orders: Mapping[Order, bool], depth: int | None = None
) -> tuple[Source, JudgedFinder]:
    """Return what looks for judged items in a run, and the run in the form for it.

    Args:
        truth: the judgements.
        run: the retrieved items.
        orders: the orders, and whether the scores of all items are to be kept.
        depth: the deepest rank that any metric looks at, if there is one.
    """
    judged = truth.source
    if isinstance(run, Dense):
        if isinstance(judged, Dense):
            return run, GradedMatrixFinder(truth, judged, run, orders, depth)
        return run, MatrixFinder(truth, run, orders)
    if isinstance(run, Lists):
        if isinstance(judged, Lists) and can_look_up(judged, run):
            return run, MappingFinder(truth, judged, run, orders)
        run = as_rows(run, "run")
    if isinstance(run, Rows) and isinstance(judged, Dense):  # noqa: SIM102
        if RankedMatrixFinder.fits(judged, run, orders):
            return run, RankedMatrixFinder(truth, judged, run, orders, depth)
    _refuse_other_shape(judged.shape, run.shape)
    return run, RowFinder(truth, run, orders, depth)


def _refuse_other_shape(
    judged: tuple[int, int] | None, run: tuple[int, int] | None
) -> None:
    """Refuse two sparse matrices of different catalogues."""
    if judged is not None and run is not None and judged != run:
        ours, theirs = (" x ".join(map(str, shape)) for shape in (judged, run))
        msg = f"the judgements are a matrix of {ours}, the run is one of {theirs}"
        raise DataError(msg)
