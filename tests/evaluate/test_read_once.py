"""A run is read once, whatever is asked of it."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.slow

PROGRAM = """
import json, sys
from collections import Counter
from dataclasses import replace
import rankine as rk
from rankine._base import limits
from rankine._io import csv, parquet, trec  # so that their own imports do not count
from rankine._io.sources import Stream

opened, read = Counter(), Counter()


def see(event, args):
    if event == "open":
        opened[str(args[0])] += 1


limits._now[0] = replace(limits.limits(), part_bytes=1 << 18)
real = Stream.__init__
def counted(self, open, name, *more, **others):
    def again():
        read[name] += 1
        return open()
    again.counts = True
    real(self, open if hasattr(open, "counts") else again, name, *more, **others)
Stream.__init__ = counted

qrels, run, asked = sys.argv[1], sys.argv[2], json.loads(sys.argv[3])
rk.evaluate({"q": {"a": 1}}, {"q": {"a": 1.0}}, "AP")  # whatever is loaded late
sys.addaudithook(see)
batches = asked.pop("batches", False)
if batches:
    rk.Accumulator(**asked).update(qrels, run).result()
else:
    rk.evaluate(qrels, run, **asked)
print(json.dumps([opened[run], read[run]]))
"""

ASKED: dict[str, dict[str, Any]] = {
    "one metric": {"metrics": ["AP"]},
    "cutoffs": {"metrics": ["nDCG@10", "P@5"]},
    "a list metric too": {"metrics": ["AP", "Coverage@10"], "catalog": 100_000},
    "a catalogue": {"metrics": ["AUC"], "catalog": 100_000},
    "two orders": {"metrics": ["P@5", "RR", "AP", "nDCG"], "convention": "ir_measures"},
    "first items": {"metrics": ["AP"], "keep": 5},
    "all of it": {
        "metrics": ["AP", "RR", "nDCG@10", "Coverage@10", "Gini@5"],
        "catalog": 100_000,
        "convention": "ir_measures",
        "keep": 5,
    },
    "all of it, within a limit": {
        "metrics": ["AP", "Coverage@10", "Gini@5"],
        "catalog": 100_000,
        "keep": 5,
        "memory_limit": "8GB",
        "engine": "stream",
    },
    "batches": {
        "metrics": ["AP", "Coverage@10"],
        "catalog": 100_000,
        "batches": True,
    },
}


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Write runs that are large enough to be read in parts, with a tie in 32 bits."""
    folder = tmp_path_factory.mktemp("runs")
    paths = {name: folder / f"{name}.run" for name in ("grouped", "mixed", "late")}
    paths["qrels"] = folder / "some.qrels"
    judged, lines = [], []
    for query in range(300):
        judged += [f"q{query} 0 d3 1\n", f"q{query} 0 d7 2\n"]
        for place in range(200):
            score = 198 - 1e-9 if place == 3 else 200 - place
            lines.append(f"q{query} Q0 d{place} {place} {score!r} t\n")
    paths["qrels"].write_text("".join(judged))
    paths["grouped"].write_text("".join(lines))
    paths["mixed"].write_text("".join(sorted(lines, key=lambda line: line.split()[2])))
    paths["late"].write_text("".join([*lines[1:], lines[0]]))
    return paths


def readings(asked: dict[str, Any], qrels: Path, run: Path) -> tuple[int, int]:
    """Return how often a run is opened, and how often it is parsed."""
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, qrels, run, json.dumps(asked)],
        capture_output=True,
        text=True,
        check=True,
    )
    n_opened, n_read = json.loads(done.stdout)
    return n_opened, n_read


@pytest.mark.parametrize("asked", ASKED)
def test_a_run_is_parsed_once(asked: str, files: dict[str, Path]) -> None:
    n_opened, n_read = readings(ASKED[asked], files["qrels"], files["grouped"])

    assert n_read == 1
    assert 1 <= n_opened <= 3


@pytest.mark.parametrize("asked", ["all of it", "all of it, within a limit"])
@pytest.mark.parametrize(("run", "most"), [("mixed", 1), ("late", 2)])
def test_a_run_is_begun_again_once_if_a_query_returns_late(
    asked: str, run: str, most: int, files: dict[str, Path]
) -> None:
    _, n_read = readings(ASKED[asked], files["qrels"], files[run])

    assert n_read <= most
