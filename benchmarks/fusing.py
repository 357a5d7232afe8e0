"""Fusion of runs: what each case measures, as in cases.py."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent.parent))
from benchmarks import work
from benchmarks.timing import best


def fused_rankine(method: str) -> dict[str, float]:
    import rankine as rk

    runs = [rk.read_run(frame) for frame in work.runs_to_fuse()]
    return {"seconds": best(lambda: rk.fuse(runs, method, norm="min-max"), 3)}


def fused_ranx(method: str) -> dict[str, float]:
    """Fuse runs that were read; a first call on little data has compiled all."""
    from ranx import Run, fuse

    def go(runs: list[Any]) -> Any:
        return fuse(runs, norm="min-max", method=method)

    go([Run(_nested(frame[:100])) for frame in work.runs_to_fuse()])
    runs = [Run(_nested(frame)) for frame in work.runs_to_fuse()]
    return {"seconds": best(lambda: go(runs), 2)}


def _nested(frame: Any) -> dict[str, dict[str, float]]:
    """Return {query: {item: score}}."""
    nested: dict[str, dict[str, float]] = {}
    for query, item, score in frame.iter_rows():
        nested.setdefault(query, {})[item] = score
    return nested
