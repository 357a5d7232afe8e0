"""debias: thin out the judgements of popular items."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from rankine._base.checks import check_count, check_number
from rankine._base.forks import need_threads
from rankine._base.text import count
from rankine._evaluate.options import Options
from rankine._io.rows import as_rows
from rankine._io.sources import Rows
from rankine._join.judgements import truth_of

if TYPE_CHECKING:
    from collections.abc import Mapping

_MOST = 2**62


@dataclass(frozen=True, slots=True, eq=False)
class Debiased(Rows):
    """The judgements that `debias` kept, which `evaluate` takes.

    Attributes:
        frame: the remaining judgements, with the columns query, item and value.
        border: the largest number of users that an item may have.
        n_dropped: how many judgements were dropped.
        n_items: how many items had more users than that.
    """

    border: int = 0
    n_dropped: int = 0
    n_items: int = 0


def debias(
    qrels: Any,
    *,
    coefficient: float = 1.5,
    seed: int = 0,
    columns: Mapping[str, Any] | None = None,
    grades: Mapping[Any, float] | None = None,
    lenient: bool = False,
) -> Debiased:
    """Thin out the judgements of items that had far more users than others.

    A recommender that shows everybody the same popular items finds many of them among
    the judgements, whatever the user wants. So an item keeps the judgements of at most
    Q3 + coefficient (Q3 - Q1) users, rounded down, where Q1 and Q3 are the quartiles of
    the numbers of users of all items. Which users these are is drawn at random, and
    depends on the seed and the judgements, not on the order of rows.

    Only grades above 0 are counted and dropped; others stay as they are. A user who
    loses all judgements is no longer judged.

    Args:
        qrels: the judgements, in any form that `evaluate` takes.
        coefficient: how far above the quartiles the border is.
        seed: the seed of the random numbers; the same seed gives the same judgements.
        columns: which column is what, as in `evaluate`.
        grades: what each grade in words is worth.
        lenient: as in `evaluate`: drop rows that are repeated or have no id.

    Returns:
        The remaining judgements, and how many were dropped.

    Raises:
        ParameterError: an option is not valid.
        DataError: the judgements cannot be used.

    References:
        As debias_interactions in RecTools, which draws other users.

    >>> import rankine as rk
    >>> qrels = {"u": {"a", "b"}, "v": {"a", "c"}, "w": {"a", "d"}, "x": {"a", "e"}}
    >>> left = rk.debias(qrels)
    >>> left.border, left.n_dropped, left.n_items
    (1, 3, 1)
    >>> rk.evaluate(left, {user: ["a"] for user in qrels}, "Success@1").mean
    {'Success@1': 0.25}
    """
    check_number("coefficient", coefficient, least=0)
    check_count("seed", seed, least=0)
    options = Options(columns=columns, grades=grades, lenient=lenient)
    options.check()
    truth = truth_of(qrels, options.reading("qrels"))
    _ = truth.judgements  # refuses an item that is judged twice
    rows = as_rows(truth.source, "qrels")
    need_threads()
    liked = rows.frame.with_row_index("row").filter(pl.col("value") > 0)
    # Sorted, so that draws do not depend on the order of rows.
    liked = liked.sort("item", "query").with_columns(
        pl.len().over("item").alias("users"),
        pl.Series("draw", np.random.default_rng(seed).random(liked.height)),
    )
    border = _border(liked.unique("item")["users"], coefficient)
    beyond = liked.filter(pl.col("draw").rank("ordinal").over("item") > border)
    left = np.ones(rows.frame.height, dtype=np.bool_)
    left[beyond["row"].to_numpy()] = False
    n_dropped, n_items = beyond.height, beyond["item"].n_unique()
    frame, queries = rows.frame.filter(pl.Series(left)), rows.queries
    if queries is not None:  # some of them never had a row
        lost = rows.frame["query"].unique().to_frame()
        lost = lost.join(frame, on="query", how="anti")
        queries = queries.filter(~queries.is_in(lost["query"].implode()))
    notes = rows.notes
    if n_dropped:
        said = f"{count(n_dropped, 'judgement')} of {count(n_items, 'item')}"
        users = count(border, "user")
        notes = (*notes, f"{rows.name}: {said} with more than {users}: dropped")
    return Debiased(
        frame,
        rows.name,
        notes=notes,
        role="qrels",
        kind=rows.kind,
        warnings=rows.warnings,
        column=rows.column,
        unit=rows.unit,
        queries=queries,
        border=border,
        n_dropped=n_dropped,
        n_items=n_items,
    )


def _border(users: pl.Series, coefficient: float) -> int:
    """Return how many users an item may have; 0 if no item has any."""
    if len(users) == 0:
        return 0
    low, high = np.quantile(users.to_numpy(), [0.25, 0.75]).tolist()
    return int(min(high + coefficient * (high - low), _MOST))
