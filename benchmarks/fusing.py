"""Fusion of runs: what each case measures, as in cases.py."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

sys.path.insert(0, str(Path(__file__).parent.parent))
from benchmarks import work
from benchmarks.timing import busy

if TYPE_CHECKING:
    from collections.abc import Callable

FUSIONS = (
    ("rrf", "rrf", "read", 5, 1000, 1000),
    ("combmnz", "mnz", "read", 5, 1000, 1000),
    ("rrf", "rrf", "read", 2, 1000, 1000),
    ("combmnz", "mnz", "read", 2, 1000, 1000),
    ("rrf", "rrf", "read", 2, 7000, 100),
    ("combmnz", "mnz", "read", 2, 7000, 100),
    ("combmnz", "mnz", "dicts", 2, 1000, 1000),
    ("combmnz", "mnz", "files", 2, 1000, 1000),
)
"""The method, its name in ranx, the form of the runs, how many there are, queries, and
results of each."""


def fused_rankine(method: str, form: str, *sizes: str) -> dict[str, float]:
    import rankine as rk

    runs = _runs(form, sizes, rk.read_run)
    return {"seconds": busy(lambda: rk.fuse(runs, method, norm="min-max"), 5)}


def fused_ranx(method: str, form: str, *sizes: str) -> dict[str, float]:
    """Fuse runs; a first call on little data has compiled all."""
    from ranx import Run, fuse

    def read(frame: Any) -> Any:
        return Run(_nested(frame))

    made = {"read": lambda run: run, "dicts": Run, "files": _of_file}[form]

    def go(runs: list[Any]) -> Any:
        return fuse([made(run) for run in runs], norm="min-max", method=method)

    go(_runs(form, ("2", "2", "100"), read))
    runs = _runs(form, sizes, read)
    return {"seconds": busy(lambda: go(runs), 2)}


def _of_file(path: str) -> Any:
    from ranx import Run

    return Run.from_file(path, kind="trec")


def _runs(form: str, sizes: tuple[str, ...], read: Callable[[Any], Any]) -> list[Any]:
    """Return runs that were read, or dicts or TREC files."""
    make = {"read": read, "dicts": _nested, "files": _file}[form]
    return [make(frame) for frame in work.runs_to_fuse(*map(int, sizes))]


def _nested(frame: Any) -> dict[str, dict[str, float]]:
    """Return {query: {item: score}}."""
    nested: dict[str, dict[str, float]] = {}
    for query, item, score in frame.iter_rows():
        nested.setdefault(query, {})[item] = score
    return nested


def _file(frame: Any) -> str:
    """Write a TREC file."""
    import polars as pl

    columns = ["query", pl.lit("Q0").alias("q0"), "item", pl.lit(1).alias("rank")]
    with tempfile.NamedTemporaryFile(suffix=".trec", delete=False) as file:
        frame.select(*columns, "score", pl.lit("x").alias("tag")).write_csv(
            file, separator=" ", include_header=False
        )
    return file.name
