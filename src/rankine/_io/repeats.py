"""Rows that repeat others, found in one place; and what a lenient reader drops."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from rankine._base.forks import need_threads
from rankine._base.text import Counted
from rankine._io.sources import no_judgements, none_left

if TYPE_CHECKING:
    from rankine._base.arrays import Bools, Ints
    from rankine._io.columns import Role
    from rankine._io.sources import Rows


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


def cleaned(rows: Rows, role: Role) -> Rows:
    """Drop rows without an id and repeated items; put scores that are nan last.

    Of an item that appears twice for a query, the best score or the largest grade is
    kept. A list of which nothing is left is an empty list.
    """
    named, said = with_ids(rows, role)
    frame = named.frame
    if rows.frame.height and not frame.height:
        raise (none_left if role == "run" else no_judgements)(rows.name)
    kept = best_of_repeats(frame.drop("rank", strict=False))
    notes = (*rows.notes, *(note for note in said if note.n))
    named = replace(named, notes=notes, number=None, role=role)
    if kept is None:
        return named
    return replaced(named, kept, repeated(rows.name, frame, len(kept), role))


def replaced(rows: Rows, kept: Ints, said: Counted) -> Rows:
    """Keep some rows, all lists in the order in which they came, and say what is gone.

    Neither the lines nor the lists or the matrix that it was fit what is left.
    """
    return replace(
        rows, frame=rows.frame[kept], queries=rows.lists(), number=kept,
        notes=(*rows.notes, said), line=None, lines=None, origins=(), starts=None,
        shape=None, grid=None,
    )  # fmt: skip


def with_ids(rows: Rows, role: Role) -> tuple[Rows, tuple[Counted, ...]]:
    """Drop rows without an id, put scores that are nan last, and count both."""
    frame, n_missing, n_nan = rows.frame, 0, 0
    missing = frame["query"].is_null() | frame["item"].is_null()
    if "subtopic" in frame.columns:
        missing |= frame["subtopic"].is_null()
    if missing.any():
        n_missing = int(missing.sum())
        frame = frame.filter(~missing)
    if "value" in frame.columns and role == "run":
        n_nan = int(frame["value"].is_nan().sum())
        if n_nan:
            frame = frame.with_columns(pl.col("value").fill_nan(-np.inf))
    queries = None if rows.queries is None else rows.lists()
    if queries is None and n_missing:
        queries = _in_order(rows.frame["query"], missing)
    # Neither the lines nor the lists or the matrix that it was fit what is left.
    rows = replace(
        rows, frame=frame, queries=queries, line=None, lines=None, number=None,
        origins=(), starts=None, shape=None, grid=None,
    )  # fmt: skip
    return rows, (
        Counted(f"{rows.name}: ", n_missing, "row", " without an id: dropped"),
        ranked_last(rows.name, n_nan),
    )


def _in_order(queries: pl.Series, missing: pl.Series) -> pl.Series:
    """Return all lists, as they come by the rows that are left.

    Of a list of which none is left, it is the first that it had.

    >>> missing = pl.Series([True, False, True, False])
    >>> _in_order(pl.Series("query", ["a", "b", "e", "a"]), missing).to_list()
    ['b', 'e', 'a']
    """
    rows = pl.DataFrame([queries, missing.alias("missing")]).with_row_index("row")
    left_first = rows.drop_nulls("query").sort("missing", maintain_order=True)
    return left_first.unique("query", keep="first").sort("row")["query"]


def ranked_last(name: str, n: int) -> Counted:
    """Say how many scores are no numbers, which a lenient reader ranks last."""
    return Counted(f"{name}: ", n, "score", " not a number: ranked last")


def best_of_repeats(frame: pl.DataFrame) -> Ints | None:
    """Return the rows with the largest value of each item; None if none is repeated.

    Args:
        frame: the ids, and a column of values if there are any.

    >>> best_of_repeats(pl.DataFrame({"item": [5, 6, 5], "value": [0, 1, 2]})).tolist()
    [1, 2]
    """
    ids = frame.drop("value", strict=False)
    if marked(ids, keep="first") is None:
        return None
    numbered = frame.with_row_index("row")
    if "value" in frame.columns:
        numbered = numbered.sort("value", descending=True, maintain_order=True)
    best = numbered.unique(ids.columns, keep="first", maintain_order=True)
    return best["row"].sort().to_numpy().astype(np.int64)


def repeated(name: str, frame: pl.DataFrame, n_kept: int, role: Role) -> Counted:
    """Say how many rows of a frame are dropped, as their items are repeated."""
    which = "largest grade" if role == "qrels" else "best score"
    which = which if "value" in frame.columns else "first"
    fate = f" repeating an item: dropped, the {which} is kept"
    return Counted(f"{name}: ", frame.height - n_kept, "row", fate)
