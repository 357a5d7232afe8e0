"""Systems that are compared: five queries, and frames of values."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl

import rankine as rk

QRELS: dict[str, dict[str, int]] = {
    "q1": {"a": 1, "b": 2, "c": 0},
    "q2": {"c": 1},
    "q3": {"d": 1, "a": 0},
    "q4": {"e": 2, "f": 1},
    "q5": {"g": 1},
}
OLD = {
    "q1": ["x", "a", "b"],
    "q2": ["x", "y", "z", "c"],
    "q3": ["d", "a"],
    "q4": ["e", "f"],
    "q5": ["x", "g"],
}
NEW = {
    "q5": ["g", "x"],
    "q4": ["x", "e", "f"],
    "q3": ["d"],
    "q2": ["c", "x"],
    "q1": ["b", "a"],
}
OTHER = {
    "q2": ["x", "c"],
    "q1": ["a", "x", "b"],
    "q3": ["x", "y", "d"],
    "q4": ["f", "e"],
    "q5": ["y", "x"],
}
RUNS = {"old": OLD, "new": NEW, "other": OTHER}
RR = {
    "old": [1 / 2, 1 / 4, 1, 1, 1 / 2],
    "new": [1, 1, 1, 1 / 2, 1],
    "other": [1, 1 / 2, 1 / 3, 1, 0],
}
BOTH = rk.Convention(queries="both")
"""A convention that leaves out queries which a run lacks."""


def compared(metrics: Any = "RR", runs: Any = None, **options: Any) -> rk.Comparison:
    options = {"draws": 500} | options
    return rk.compare(QRELS, RUNS if runs is None else runs, metrics, **options)


def frame(n_systems: int = 3, n: int = 25, seed: int = 2) -> pl.DataFrame:
    """Return values of systems, of which every one is better than those before."""
    rng = np.random.default_rng(seed)
    hard = rng.normal(0.5, 0.1, n)
    columns = {
        f"s{number}": hard + 0.05 * number + rng.normal(0, 0.05, n)
        for number in range(n_systems)
    }
    return pl.DataFrame({"query": [f"q{number}" for number in range(n)], **columns})


def values_compared(table: Any = None, **options: Any) -> rk.Comparison:
    options = {"draws": 500} | options
    return rk.compare_values(frame() if table is None else table, **options)
