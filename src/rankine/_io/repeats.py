"""Rows that repeat others, found in one place; and what a lenient reader drops."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from rankine._base.forks import need_threads
from rankine._base.text import Counted
from rankine._io.rows import as_rows
from rankine._io.sources import Dense, no_judgements, none_left

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rankine._base.arrays import Bools
    from rankine._io.columns import Role
    from rankine._io.sources import Source


def first_repeat(frame: pl.DataFrame) -> tuple[int, int] | None:
    """Return the first row that is repeated, and its repeat; None if all rows differ.

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


def lenient_rows(source: Source, role: Role) -> Source:
    """Drop rows without an id and repeated items; put scores that are nan last.

    Of an item that appears twice for a query, the best score or the largest grade is
    kept. A matrix is left as it is, since it has neither. A list of which nothing is
    left is an empty list.
    """
    if isinstance(source, Dense):
        return source
    rows = as_rows(source, role)
    frame, notes = rows.frame, list(rows.notes)
    missing = frame["query"].is_null() | frame["item"].is_null()
    if "subtopic" in frame.columns:
        missing |= frame["subtopic"].is_null()
    if missing.any():
        n = int(missing.sum())
        notes.append(Counted(f"{rows.name}: ", n, "row", " without an id: dropped"))
        frame = frame.filter(~missing)
    if "value" in frame.columns and role == "run":
        n = int(frame["value"].is_nan().sum())
        if n:
            fate = " not a number: ranked last"
            notes.append(Counted(f"{rows.name}: ", n, "score", fate))
            frame = frame.with_columns(pl.col("value").fill_nan(-np.inf))
    if rows.frame.height and not frame.height:
        raise (none_left if role == "run" else no_judgements)(rows.name)
    queries = rows.queries
    if queries is not None or missing.any():
        queries = rows.lists()
    pair = [name for name in ("query", "item", "subtopic") if name in frame.columns]
    if marked(frame.select(pair), keep="first") is not None:
        kept = _best(frame, pair)
        n = frame.height - kept.height
        which = "largest grade" if role == "qrels" else "best score"
        which = which if "value" in frame.columns else "first"
        fate = f" repeating an item: dropped, the {which} is kept"
        notes.append(Counted(f"{rows.name}: ", n, "row", fate))
        frame = kept
    # Neither the lines nor the lists or the matrix that it was fit what is left.
    rows = replace(rows, frame=frame, line=None, lines=None, shape=None, grid=None)
    return replace(rows, starts=None, queries=queries, notes=tuple(notes), role=role)


def _best(frame: pl.DataFrame, pair: Sequence[str]) -> pl.DataFrame:
    """Keep the row with the largest value of each pair, in the order given."""
    numbered = frame.with_row_index("place")
    if "value" in frame.columns:
        numbered = numbered.sort("value", descending=True, maintain_order=True)
    kept = numbered.unique(pair, keep="first", maintain_order=True)
    return kept.sort("place").drop("place")
