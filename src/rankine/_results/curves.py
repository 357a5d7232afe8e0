"""The curves of a result in what is saved of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from rankine._evaluate.summary import finite
from rankine._report.charts import first_curve

if TYPE_CHECKING:
    from rankine._evaluate.compare.comparison import Comparison
    from rankine._evaluate.result import Evaluation
    from rankine._results.nodes import Node

_NUMBERS = ("value", "low", "high")


def keep_curve(result: Comparison | Evaluation) -> None:
    """Compute what a report draws, so that it is saved with the evaluations."""
    with np.errstate(all="ignore"):  # values that are not finite have no interval
        first_curve(result)


def curves_of(evaluation: Evaluation) -> list[dict[str, Any]]:
    """Return all curves that were asked for, ready for JSON."""
    return [
        {
            "metric": metric,
            "ks": list(ks),
            "confidence": confidence,
            **{
                name: [finite(value) for value in frame[name].to_list()]
                for name in _NUMBERS
            },
        }
        for (metric, ks, confidence), frame in evaluation.curves.items()
    ]


def read_curves(node: Node) -> dict[tuple[Any, ...], pl.DataFrame]:
    """Return the curves that were saved; files of older versions have none."""
    curves = {}
    for part in node["curves"].parts() if "curves" in node.value else ():
        ks = part["ks"].counts().tolist()
        numbers = {name: part[name].finite(len(ks)) for name in _NUMBERS}
        confidence = part["confidence"].number()
        if not 0 < confidence < 1:
            part["confidence"].refuse("is not between 0 and 1")
        key = part["metric"].text(), tuple(ks), confidence
        curves[key] = pl.DataFrame({"k": ks, **numbers})
    return curves
