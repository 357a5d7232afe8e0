"""What a case of a finding is made with: how it is kept, called and judged."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias

import polars as pl

import rankine as rk
from tests.fuzz import judge

CORPUS = Path(__file__).parent / "corpus"
TRUTH = {"q": {"a": 1}}
LISTS = {"q": ["a"]}
FRAME = pl.DataFrame({"query": ["q"], "item": ["a"]})
LONG = "9" * 400
CASES: list[tuple[str, Callable[[], object], bool]] = []
Case: TypeAlias = Callable[[], object]


def case(number: str, *, fixed: bool = True) -> Callable[[Case], Case]:
    """Take a function as a case of a finding, by its number."""

    def kept(function: Case) -> Case:
        CASES.append((number, function, fixed))
        return function

    return kept


def allowed(call: Callable[[], Any]) -> judge.Outcome:
    return judge.outcome(call, strict=True)


def value(qrels: Any, run: Any, metric: str = "RR", **options: Any) -> float | None:
    """Return a number, None if the data are refused."""
    found = allowed(lambda: rk.evaluate(qrels, run, metric, **options)[metric])
    return None if found.error else float(found.value)


def shell(
    *words: str, given: bytes = b"", **more: str
) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        [sys.executable, "-m", "rankine", *words],
        input=given,
        capture_output=True,
        timeout=60,
        check=False,
        env={**os.environ, **more},
    )


def ended_well(done: subprocess.CompletedProcess[bytes]) -> bool:
    quiet = b"Traceback" not in done.stderr and b"panicked" not in done.stderr
    return done.returncode in {0, 1, 2, 3} and quiet
