"""Ranks and scores of a run that disagree: in how many lists, and in which words."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from rankine._base.text import count, percent
from rankine.errors import RankineError

if TYPE_CHECKING:
    from collections.abc import Callable

    import polars as pl

FIRST_ROWS = 1 << 13
"""Rows of a run whose ranks are compared with the scores, so that it takes no time."""
FIRST_BYTES = 1 << 16
"""Bytes of a text in which these rows are looked for."""


class Contradiction(NamedTuple):
    """How many lists have another order by their ranks than by their scores.

    Attributes:
        n: these lists.
        n_lists: the lists that were looked at.
        cut: whether these are only the first ones.
    """

    n: int = 0
    n_lists: int = 0
    cut: bool = False

    def plus(self, other: Contradiction) -> Contradiction:
        """Return the same of both parts of a run."""
        return Contradiction(
            self.n + other.n, self.n_lists + other.n_lists, self.cut or other.cut
        )

    @property
    def told(self) -> str:
        """What was found, in words; empty if nothing was.

        >>> Contradiction(1, 4).told
        'ranks and scores give different orders in 1 list'
        """
        if not self.n:
            return ""
        return f"ranks and scores give different orders in {count(self.n, 'list')}"

    @property
    def share(self) -> str:
        """Of how many lists, in words.

        >>> Contradiction(1, 4).share, Contradiction(40, 40, cut=True).share
        ('of 4 (25 %)', 'of the first 40 (100 %)')
        """
        those = f"the first {self.n_lists:,}" if self.cut else f"{self.n_lists:,}"
        return f"of {those} ({percent(self.n / self.n_lists)})"


NO_CONTRADICTION = Contradiction()
TRUST = "the score decides; to trust the rank, give order='rank' or --order rank"
"""What to do about it."""


def of_first_rows(
    head: Callable[[], tuple[pl.DataFrame, bool]], *, lower_is_better: bool
) -> Contradiction:
    """Compare the ranks of the first rows of a run with the scores, which count.

    What is wrong with these rows is told when all are read.

    Args:
        head: reads rows with a query, a value and a rank, and says whether there are
            more.
        lower_is_better: whether the scores are distances.
    """
    try:
        rows, more = head()
    except RankineError:
        return NO_CONTRADICTION
    cut = more or rows.height > FIRST_ROWS
    rows = rows.head(FIRST_ROWS)
    if lower_is_better:
        rows = rows.with_columns(-rows["value"])
    return contradiction(rows, cut=cut)


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
