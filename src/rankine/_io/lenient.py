"""Lenient reading: what is usually refused is dropped or put last, and counted."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from rankine._base.text import count
from rankine._io.mappings import as_rows
from rankine._io.repeats import marked
from rankine._io.sources import Dense, Rows
from rankine.errors import NoRowsError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rankine._io.columns import Role
    from rankine._io.sources import Source


def cleaned(source: Source, role: Role) -> Source:
    """Drop rows without an id and repeated items; put scores that are nan last.

    Of an item that appears twice for a query, the best score or the largest grade is
    kept. A matrix is left as it is: it has neither.
    """
    if isinstance(source, Dense):
        return source
    rows = as_rows(source, role, lenient=True)
    frame, notes = rows.frame, list(rows.notes)
    missing = frame["query"].is_null() | frame["item"].is_null()
    if "subtopic" in frame.columns:
        missing |= frame["subtopic"].is_null()
    if missing.any():
        n = int(missing.sum())
        notes.append(f"{rows.name}: {count(n, 'row')} without an id: dropped")
        frame = frame.filter(~missing)
    if "value" in frame.columns and role == "run":
        n = int(frame["value"].is_nan().sum())
        if n:
            notes.append(f"{rows.name}: {count(n, 'score')} not a number: ranked last")
            frame = frame.with_columns(pl.col("value").fill_nan(-np.inf))
    if role == "run" and rows.frame.height and not frame.height:
        msg = f"{rows.name}: no rows are left, as none has an id"
        raise NoRowsError(msg)
    pair = [name for name in ("query", "item", "subtopic") if name in frame.columns]
    if marked(frame.select(pair), keep="first") is not None:
        kept = _best(frame, pair)
        n = frame.height - kept.height
        which = "largest grade" if role == "qrels" else "best score"
        notes.append(
            f"{rows.name}: {count(n, 'row')} repeating an item: dropped, "
            f"the {which if 'value' in frame.columns else 'first'} is kept"
        )
        frame = kept
    return Rows(
        frame,
        rows.name,
        notes=tuple(notes),
        ranked=rows.ranked,
        role=role,
        warnings=rows.warnings,
        column=rows.column,
        n_empty=rows.n_empty,
    )


def _best(frame: pl.DataFrame, pair: Sequence[str]) -> pl.DataFrame:
    """Keep the row with the largest value of each pair, in the order given."""
    numbered = frame.with_row_index("place")
    if "value" in frame.columns:
        numbered = numbered.sort("value", descending=True, maintain_order=True)
    kept = numbered.unique(pair, keep="first", maintain_order=True)
    return kept.sort("place").drop("place")
