"""The face of ranx: one import changes, and rankine computes.

    from rankine.compat.ranx import Qrels, Run, evaluate, compare, fuse

Numbers are those of ranx 0.3.21; where they cannot be, an error says so.
"""

from __future__ import annotations

from rankine._compat.ranx_fusion import (
    OptimizationReport,
    fuse,
    normalize,
    optimize_fusion,
)
from rankine._compat.ranx_lists import Qrels, Run
from rankine._compat.ranx_metrics import evaluate, plot
from rankine._compat.ranx_report import Report, compare

__all__ = [
    "OptimizationReport",
    "Qrels",
    "Report",
    "Run",
    "compare",
    "evaluate",
    "fuse",
    "normalize",
    "optimize_fusion",
    "plot",
]
