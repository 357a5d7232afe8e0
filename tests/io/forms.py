"""Judgements and a run of three queries, in every form that is read."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias

import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq

import rankine as rk

Lists: TypeAlias = dict[str, dict[str, float]]
METRICS = ["nDCG@2", "nDCG", "AP", "RR", "P@2", "R@3", "Bpref", "NumRet"]
QRELS: Lists = {
    "q1": {"a": 2, "b": 0, "c": 1},
    "q2": {"a": 1},
    "q3": {"d": 0, "e": 3, "f": 1},
}
RUN: Lists = {
    "q1": {"x": 0.9, "a": 0.8, "b": 0.75, "c": -0.1},
    "q2": {"b": 3.5, "y": 2.25, "a": 1.125},
    "q3": {"e": 1e-3, "x": 1e-4, "f": 1e-5},
}


def rows_of(data: Lists) -> list[tuple[str, str, float]]:
    return [
        (query, item, value)
        for query, entry in data.items()
        for item, value in entry.items()
    ]


def columns_of(data: Lists, value: str) -> dict[str, list[Any]]:
    rows = rows_of(data)
    return {
        "query": [row[0] for row in rows],
        "item": [row[1] for row in rows],
        value: [row[2] for row in rows],
    }


def trec(path: Path, data: Lists, role: str) -> Path:
    if role == "qrels":
        lines = [f"{query} 0 {item} {value}" for query, item, value in rows_of(data)]
    else:
        lines = [f"{q} Q0 {item} 1 {value!r} tag" for q, item, value in rows_of(data)]
    path.write_text("\n".join(lines) + "\n")
    return path


def separated(path: Path, data: Lists, role: str, mark: str = ",") -> Path:
    frame = pl.DataFrame(columns_of(data, "grade" if role == "qrels" else "score"))
    frame.write_csv(path, separator=mark)
    return path


def parquet(path: Path, data: Lists, role: str) -> Path:
    columns = columns_of(data, "grade" if role == "qrels" else "score")
    pq.write_table(pa.table(columns), path)
    return path


class Capsule:
    """A frame of a library that we do not know, but that speaks Arrow."""

    def __init__(self, table: pa.Table) -> None:
        self._table = table

    def __arrow_c_stream__(self, requested_schema: object = None) -> Any:
        return self._table.__arrow_c_stream__(requested_schema)


def _columns(data: Lists, role: str) -> dict[str, list[Any]]:
    return columns_of(data, "grade" if role == "qrels" else "score")


Form: TypeAlias = Callable[[Path, Lists, str], Any]
FORMS: dict[str, Form] = {
    "dict": lambda _, data, __: data,
    "trec": trec,
    "csv": separated,
    "tsv": lambda path, data, role: separated(path, data, role, "\t"),
    "parquet": parquet,
    "path-text": lambda path, data, role: str(trec(path, data, role)),
    "read": lambda path, data, role: getattr(rk, f"read_{role}")(
        trec(path, data, role)
    ),
    "polars": lambda _, data, role: pl.DataFrame(_columns(data, role)),
    "lazy": lambda _, data, role: pl.LazyFrame(_columns(data, role)),
    "pandas": lambda _, data, role: pd.DataFrame(_columns(data, role)),
    "pandas-object": lambda _, data, role: pd.DataFrame(
        _columns(data, role), dtype=object
    ),
    "pandas-category": lambda _, data, role: pd.DataFrame(_columns(data, role)).astype(
        {"query": "category", "item": "category"}
    ),
    "pandas-index": lambda _, data, role: pd.DataFrame(
        _columns(data, role), index=range(50, 50 + len(rows_of(data)))
    ),
    "arrow": lambda _, data, role: pa.table(_columns(data, role)),
    "arrow-batch": lambda _, data, role: pa.record_batch(_columns(data, role)),
    "arrow-chunks": lambda _, data, role: pa.concat_tables(
        [pa.table(_columns({query: entry}, role)) for query, entry in data.items()]
    ),
    "capsule": lambda _, data, role: Capsule(pa.table(_columns(data, role))),
    "categorical": lambda _, data, role: pl.DataFrame(_columns(data, role)).cast(
        {"query": pl.Categorical, "item": pl.Categorical}
    ),
}
