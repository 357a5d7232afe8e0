"""Results to be saved: of four queries, some without a list or a relevant item."""

from __future__ import annotations

from typing import Any

import rankine as rk

QRELS = {
    "q1": {"a": 2, "b": 1, "c": 0},
    "q2": {"d": 1, "e": -1},
    "none": {"f": 0},
    "missing": {"g": 1},
}
RUN = {
    "q1": {"x": 0.9, "b": 0.9, "a": 0.1},
    "q2": {"y": 0.5, "e": 0.4, "d": 0.3},
    "none": {"f": 1.0},
    "extra": {"z": 1.0},
}
METRICS = ["nDCG@2", "AP", "P(rel=2)@1", "RR", "NumRelRet", "gm_AP", "Bpref"]


def made(**options: Any) -> rk.Evaluation:
    return rk.evaluate(QRELS, RUN, METRICS, **options)
