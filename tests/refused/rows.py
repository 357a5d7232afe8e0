"""Rows of query, item and number in every form, and where a message places them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias

import pandas as pd
import polars as pl
import pyarrow as pa

Row: TypeAlias = tuple[Any, Any, Any]
Write: TypeAlias = Callable[[str, str | bytes], Path]
FRAMES = ("polars", "pandas", "arrow", "csv")
FORMS = ("dict", *FRAMES, "trec")
JUDGED: list[Row] = [("q1", "a", 1), ("q1", "b", 0), ("q2", "c", 2)]
SCORED: list[Row] = [
    ("q1", "a", 0.9),
    ("q1", "x", 0.8),
    ("q1", "b", 0.7),
    ("q2", "x", 0.5),
    ("q2", "c", 0.4),
]


def in_form(form: str, role: str, rows: list[Row], write: Write) -> Any:
    """Bring rows of query, item and number into one of the accepted forms."""
    if form == "dict":
        made: dict[Any, dict[Any, Any]] = {}
        for query, item, value in rows:
            made.setdefault(query, {})[item] = value
        return made
    names = ("query", "item", "grade" if role == "qrels" else "score")
    columns = {name: [row[at] for row in rows] for at, name in enumerate(names)}
    if form == "polars":
        return pl.DataFrame(columns, strict=False)
    if form == "pandas":
        return pd.DataFrame(columns)
    if form == "arrow":
        return pa.table(columns)
    if form == "csv":
        lines = [",".join(names)]
        lines += [",".join("" if v is None else str(v) for v in row) for row in rows]
        return write(f"{role}.csv", "\n".join(lines) + "\n")
    if role == "qrels":
        text = "".join(f"{query} 0 {item} {grade}\n" for query, item, grade in rows)
    else:
        text = "".join(
            f"{query} Q0 {item} 1 {score} t\n" for query, item, score in rows
        )
    return write(f"{role}.txt", text)


def place(form: str, data: Any, row: int) -> str:
    """Return how a message should say where a row stands; rows count from 0."""
    if form == "csv":
        return f"{data}:{row + 2}"
    if form == "trec":
        return f"{data}:{row + 1}"
    return f"row {row}"
