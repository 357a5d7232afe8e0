"""Segments of queries: the mean of each system in them, and where they differ."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from rankine._base.text import count
from rankine._evaluate.notes import few
from rankine._evaluate.summary import mean_of, uneven
from rankine._io import open_table
from rankine._io.columns import known_columns
from rankine._io.values import is_missing
from rankine._stats.intervals import Sample, intervals
from rankine._stats.welch import welch
from rankine.errors import ColumnNotFoundError, DataError

if TYPE_CHECKING:
    from rankine._base.arrays import Bools
    from rankine._evaluate.compare.system_values import SystemValues
    from rankine._stats.pairwise import Pairwise, Settings


def segments_of(by: Any, queries: list[Any], unit: str) -> list[str]:
    """Return the segment of each query, from a mapping or a table of two columns."""
    named = {
        str(query): str(value)
        for query, value in read_segments(by).items()
        if not is_missing(value)
    }
    missing = [query for query in queries if str(query) not in named]
    if missing:
        who = count(len(missing), unit)
        msg = (
            f"by= has no segment for {who} ({few(missing)}); give one for every {unit}"
        )
        raise DataError(msg)
    return [named[str(query)] for query in queries]


def read_segments(by: Any) -> Mapping[Any, Any]:
    """Return the segment of each query, from a mapping, a file or a frame."""
    if isinstance(by, Mapping):
        return by
    table = open_table(by, "by")
    queries = known_columns(list(table.names), "user")
    others = [name for name in table.names if name not in queries[:1]]
    if not queries or len(others) != 1:
        msg = (
            f"{table.name} must have a column of queries and one of segments, and has "
            f"{', '.join(table.names)}"
        )
        raise ColumnNotFoundError(msg)
    query = queries[0]
    rows, _ = table.read([query, others[0]])
    pairs = dict(zip(rows[query].to_list(), rows[others[0]].to_list(), strict=True))
    if len(pairs) < rows.height:
        msg = f"{table.name} has a query twice; give each query one segment"
        raise DataError(msg)
    return pairs


def segment_table(
    compared: SystemValues, segments: list[str], settings: Settings
) -> pl.DataFrame:
    """Return a row per metric, segment and system: its mean with an interval."""
    rows, samples = [], []
    for metric, label in enumerate(compared.metrics):
        for segment, inside in _inside(segments):
            for system, name in enumerate(compared.systems):
                values = compared.values[metric, system][inside]
                weights = None if compared.weights is None else compared.weights[inside]
                n, mean = int((~np.isnan(values)).sum()), mean_of(values, weights, None)
                weights = uneven(values, weights)
                samples.append(Sample(values, weights=weights, number=mean))
                rows.append((label, segment, name, n, mean))
    bounds = intervals(samples, confidence=settings.confidence, seed=settings.seed)
    return pl.DataFrame(
        [
            {
                "metric": label,
                "segment": segment,
                "run": name,
                "n": n,
                "mean": mean,
                "low": low,
                "high": high,
            }
            for (label, segment, name, n, mean), (low, high) in zip(
                rows, bounds, strict=True
            )
        ]
    )


def gap_table(
    compared: SystemValues, pairs: Pairwise, segments: list[str]
) -> pl.DataFrame:
    """Return how far each segment is from the rest, for every system and every pair."""
    subjects = [
        (metric, None, name, compared.values[metric, system])
        for metric in range(len(compared.metrics))
        for system, name in enumerate(compared.systems)
    ]
    for metric, a, b in zip(pairs.metric, pairs.a, pairs.b, strict=True):
        d = compared.values[metric, b] - compared.values[metric, a]
        subjects.append((metric, compared.systems[a], compared.systems[b], d))
    rows = []
    weights = compared.weights
    for metric, a, b, values in subjects:
        known = ~np.isnan(values)
        for segment, inside in _inside(segments):
            sides = known & inside, known & ~inside
            counts = None if weights is None else (weights[sides[0]], weights[sides[1]])
            gap, p = welch(values[sides[0]], values[sides[1]], counts)
            rows.append(
                {
                    "metric": compared.metrics[metric],
                    "segment": segment,
                    "a": a,
                    "b": b,
                    "gap": gap,
                    "p": p,
                }
            )
    return pl.DataFrame(rows, schema_overrides={"a": pl.String})


def _inside(segments: list[str]) -> list[tuple[str, Bools]]:
    """Return which queries are in each segment, in the order of their names."""
    column = np.array(segments)
    return [(name, column == name) for name in sorted(set(segments))]
