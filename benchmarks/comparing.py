"""Cases of comparisons: many systems on the same queries, and paired tests."""

from __future__ import annotations

import resource
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).parent.parent))
from benchmarks import work
from benchmarks.timing import best

N_QUERIES = 7000
DRAWS = 100_000


def values() -> Any:
    """Return values of five metrics for ten systems, which go together."""
    rng = np.random.default_rng(0)
    query = rng.normal(0.4, 0.3, (5, 1, N_QUERIES))
    return np.clip(query + rng.normal(0, 0.1, (5, 10, N_QUERIES)), 0, 1)


def compared_rankine(test: str, correction: str) -> dict[str, float]:
    """Compare all 45 pairs under all metrics."""
    from rankine._stats.pairwise import Settings, compare_values

    every = values()
    start = time.perf_counter()
    compare_values(every, Settings(test, correction))
    seconds = time.perf_counter() - start
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return {"seconds": seconds, "peak": peak}


def fisher_rankine() -> dict[str, float]:
    from rankine import stats

    systems = values()[0]
    return {"seconds": best(lambda: stats.randomization(systems[0], systems[1]), 3)}


def fisher_ranx() -> dict[str, float]:
    from ranx.statistical_tests import fisher_randomization_test

    systems = values()[0]
    draws = DRAWS // 10
    fisher_randomization_test(systems[0], systems[1], 10)  # which compiles
    seconds = best(lambda: fisher_randomization_test(systems[0], systems[1], draws), 1)
    return {"seconds": seconds * DRAWS / draws}


def ten_runs() -> dict[str, float]:
    """Compare ten runs from files, and evaluate one of them."""
    import rankine as rk

    qrels, run = work.trec_files()
    named = {f"run {number}": run for number in range(10)}
    return {
        "evaluate": best(lambda: rk.evaluate(qrels, run, work.METRICS), 3),
        "seconds": best(lambda: rk.compare(qrels, named, work.METRICS, test="t"), 3),
    }


def twenty_runs() -> dict[str, float]:
    """Run an experiment of 20 runs x 60 metrics, and evaluate each run by itself."""
    import rankine as rk

    qrels, run = work.trec_files()
    cutoffs = list(range(1, 21))
    names = [f"{metric}@{k}" for metric in ("nDCG", "P", "R") for k in cutoffs]
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        runs = "".join(f"  run {number}: {run}\n" for number in range(20))
        grid = "".join(f"  {name}@: {cutoffs}\n" for name in ("nDCG", "P", "R"))
        text = f"qrels: {qrels}\nruns:\n{runs}metrics:\n{grid}"
        (home / "experiment.yaml").write_text(text)

        def alone() -> None:
            for _ in range(20):
                rk.evaluate(qrels, run, names, keep=10).to_dict()

        found = {"alone": best(alone, 1)}
        path = home / "experiment.yaml"
        found["seconds"] = best(lambda: rk.run_experiment(path, resume=False), 1)
        found["again"] = best(lambda: rk.run_experiment(path), 1)
    return found
