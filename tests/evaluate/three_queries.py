"""Three queries, and evaluations of them under any convention."""

from __future__ import annotations

from typing import Any

import rankine as rk

QRELS = {"q1": {"a": 1, "b": 1, "c": 0}, "q2": {"c": 2, "d": 1}, "q3": {"e": 1}}
RUN = {
    "q1": {"x": 0.9, "a": 0.8, "b": 0.7},
    "q2": {"c": 0.9, "y": 0.5, "z": 0.4, "d": 0.3},
    "q3": {"w": 0.5, "v": 0.4, "u": 0.3, "e": 0.2},
}
AP = [(1 / 2 + 2 / 3) / 2, (1 / 1 + 2 / 4) / 2, 1 / 4]
GRADED = {"q": {"a": 3, "b": 1, "c": 2, "m": 1}, "r": {"a": 1}}
SHORT = {"q": ["x", "a", "b"], "r": ["y", "a"]}


def evaluate(
    metrics: Any = ("AP",), qrels: Any = None, run: Any = None, **options: Any
) -> rk.Evaluation:
    return rk.evaluate(
        QRELS if qrels is None else qrels,
        RUN if run is None else run,
        metrics,
        **options,
    )


def value(qrels: Any, run: Any, metric: Any, **fields: Any) -> float:
    """Return one number under a convention with these fields."""
    return rk.evaluate(qrels, run, metric, convention=rk.Convention(**fields))[metric]
