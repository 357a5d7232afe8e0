"""Refusals of scores and ranks that cannot be ordered."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from rankine._base.text import QUERY, shown
from rankine._io.values import no_order
from rankine._tables.order import DEEPEST
from rankine.errors import DataError

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from rankine._base.arrays import AnyArray, Floats, Ints
    from rankine._io.sources import Rows
    from rankine._join.row_chunks import RowChunk


def checked_values(chunk: RowChunk, by: Collection[str]) -> Floats | None:
    """Return what rows are ordered by, None if that is their position.

    All rows are checked, also those that will be left out as repeats.

    Args:
        chunk: the rows.
        by: what lists will be ordered by, as in `Order`.
    """
    rows = chunk.rows
    if {*by} == {"given"} or "value" not in rows.frame.columns:
        return None
    values: Floats = rows.frame["value"].to_numpy().astype(np.float64, copy=False)
    _refuse_nan(chunk, values)
    if rows.ranked and "rank_value" in by:
        _check_ranks(chunk, values)
    return values


def _refuse_nan(chunk: RowChunk, scores: Floats) -> None:
    """Refuse scores of rows that cannot be ordered."""
    if not np.isnan(scores.min(initial=np.inf)):
        return
    rows = chunk.named
    missing = np.isnan(scores)
    row = int(np.flatnonzero(missing)[0])
    example = rows.frame["query"][row], rows.frame["item"][row]
    raise no_order(rows.where(row), example, int(missing.sum()), rows.unit)


def _check_ranks(chunk: RowChunk, values: Floats) -> None:
    """Refuse values that are not minus a rank: ranks are whole numbers from 1."""
    fine = (values <= -1) & (values >= -DEEPEST) & (values == np.floor(values))
    if fine.all():
        return
    rows = chunk.named
    row = int(np.flatnonzero(~fine)[0])
    query, item = rows.frame["query"][row], rows.frame["item"][row]
    msg = (
        f"{rows.where(row)}: the rank of item {shown(item)} for {rows.unit or QUERY} "
        f"{shown(query)} is {-float(values[row]):g}; ranks used as "
        f"numbers must be whole numbers from 1 to {DEEPEST:,}"
    )
    raise DataError(msg)


def refuse_same_ranks(
    rows: Rows,
    values: Floats,
    starts: Ints,
    order: AnyArray | None,
    query_of: Callable[[int], object],
) -> None:
    """Refuse a rank that appears twice in a list.

    Args:
        rows: where the ranks come from.
        values: minus the ranks, list by list.
        starts: where each list begins.
        order: the row of each value, None if they are in the order of rows.
        query_of: gives the query of a list.
    """
    owner = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
    by_rank = np.lexsort((-values, owner))
    owner, ranks = owner[by_rank], values[by_rank]
    same = (ranks[1:] == ranks[:-1]) & (owner[1:] == owner[:-1])
    if not same.any():
        return
    second = int(np.flatnonzero(same)[0]) + 1
    row = int(by_rank[second])
    row = row if order is None else int(order[row])
    query = query_of(int(owner[second]))
    msg = (
        f"{rows.where(row)}: rank {-ranks[second]:.0f} appears twice for "
        f"{rows.unit or QUERY} {shown(query)}; when ranks are used as numbers, each "
        "item of a list needs its own"
    )
    raise DataError(msg)
