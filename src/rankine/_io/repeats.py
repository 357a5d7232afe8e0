"""Rows that repeat others: found, marked and shown in one place."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from rankine._base.forks import need_threads

if TYPE_CHECKING:
    from rankine._base.arrays import Bools


def first_repeat(frame: pl.DataFrame) -> tuple[int, int] | None:
    """Return the first row that comes again, and where; None if all rows differ.

    >>> first_repeat(pl.DataFrame({"query": [1, 1, 2, 1], "item": [5, 6, 5, 6]}))
    (1, 3)
    """
    again = marked(frame, keep="last")
    if again is None:
        return None
    first = int(again.argmax())
    same = frame.slice(first + 1).select(
        pl.all_horizontal(
            pl.col(name).eq_missing(frame[name][first]) for name in frame.columns
        ).alias("same")
    )["same"]
    return first, first + 1 + int(same.arg_true()[0])


def marked(frame: pl.DataFrame, *, keep: str) -> Bools | None:
    """Mark the rows that repeat another one, which is kept; None if all rows differ.

    Args:
        frame: the rows.
        keep: which of equal rows is kept and not marked, the ``first`` or the ``last``.

    >>> marked(pl.DataFrame({"item": ["a", "b", "a"]}), keep="first").tolist()
    [False, False, True]
    """
    need_threads()
    row = pl.struct(pl.all())
    kept = row.is_first_distinct() if keep == "first" else row.is_last_distinct()
    repeated = frame.select(kept.not_().alias("repeated"))["repeated"]
    return repeated.to_numpy() if repeated.any() else None
