"""Ranks as numbers of a column: what they must be where the numbers count."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from rankine.errors import DataError

if TYPE_CHECKING:
    from collections.abc import Callable

    from rankine._base.arrays import AnyArray, Floats, Ints
    from rankine._io.sources import Rows

DEEPEST = 1 << 24
"""The largest rank; tables of discounts reach as far as the ranks do."""


def check_ranks(rows: Rows, values: Floats, query_of: Callable[[int], object]) -> None:
    """Refuse what is not a rank: ranks are whole numbers from 1 on.

    Args:
        rows: where the ranks come from.
        values: minus the rank of each row.
        query_of: gives the query of a row.
    """
    fine = (values <= -1) & (values >= -DEEPEST) & (values == np.floor(values))
    if fine.all():
        return
    row = int(np.flatnonzero(~fine)[0])
    msg = (
        f"{rows.where(row)}: the rank of item {rows.frame['item'][row]!r} for query "
        f"{query_of(row)!r} is {-float(values[row]):g}; ranks used as numbers must be "
        f"whole numbers from 1 to {DEEPEST:,}"
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
        order: the row of each value, None if they stand as the rows do.
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
    msg = (
        f"{rows.where(row)}: rank {-ranks[second]:.0f} appears twice for query "
        f"{query_of(int(owner[second]))!r}; when ranks are used as numbers, each item "
        "of a list needs its own"
    )
    raise DataError(msg)
