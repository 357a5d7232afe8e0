"""Rank columns beside scores: in how many lists the two give different orders."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from rankine._base.contradiction import Contradiction

if TYPE_CHECKING:
    import polars as pl

FIRST_ROWS = 1 << 13
"""Rows of a run whose ranks are compared with the scores, so that it takes no time."""
FIRST_BYTES = 1 << 16
"""Bytes of a text in which these rows are looked for."""


def contradiction(run: pl.DataFrame, *, cut: bool = False) -> Contradiction:
    """Count the lists in which a better rank has a lower score.

    Args:
        run: rows with a query, a value and a rank.
        cut: whether there are more rows.

    >>> import polars as pl
    >>> rows = {"query": ["q", "q", "r"], "value": [0.1, 0.9, 1.0], "rank": [1, 2, 1]}
    >>> contradiction(pl.DataFrame(rows))
    Contradiction(n=1, n_lists=2, cut=False)
    """
    query = run["query"].rank("dense").fill_null(0).to_numpy()
    value, rank = run["value"].to_numpy(), run["rank"].to_numpy()
    order = np.lexsort((rank, query))
    query, value, rank = query[order], value[order], rank[order]
    both = (rank[1:] > rank[:-1]) & (value[1:] > value[:-1])
    lists = query[1:][both & (query[1:] == query[:-1])]
    return Contradiction(len(np.unique(lists)), len(np.unique(query)), cut)
