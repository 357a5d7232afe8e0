"""What is measured: each function runs one tool on one kind of work.

``python benchmarks/cases.py NAME [ARGUMENT ...]`` runs one of them and prints its times
as JSON. Times are the best of several, in seconds. Here are the cases of rankings and
judgements; those of recommendation lists are in `lists.py`, those of comparisons in
`comparing.py`, and those of fusion in `fusing.py`.
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

sys.path.insert(0, str(Path(__file__).parent.parent))
from benchmarks import comparing, fusing, lists, work
from benchmarks.timing import best, evaluate

if TYPE_CHECKING:
    from collections.abc import Callable


def file_rankine(name: str = "") -> dict[str, float]:
    qrels, run = work.trec_files()
    if name:
        run = getattr(work, name)(run)
    return {"seconds": best(evaluate(qrels, run, work.METRICS), 5)}


def file_polars() -> dict[str, float]:
    import polars as pl

    _, run = work.trec_files()
    names = ["query", "q0", "item", "rank", "score", "tag"]

    def scan() -> Any:
        return (
            pl.scan_csv(
                run,
                separator=" ",
                has_header=False,
                new_columns=names,
                schema_overrides={"query": pl.String, "item": pl.String},
                quote_char=None,
            )
            .select("query", "item", "score")
            .collect()
        )

    return {"seconds": best(scan, 5)}


def file_pytrec_eval() -> dict[str, float]:
    import pytrec_eval

    qrels, run = work.trec_files()
    wanted = {"ndcg_cut.10", "map", "recip_rank", "recall.1000", "P.10"}

    def go() -> Any:
        with qrels.open() as truth, run.open() as lists:
            judged = pytrec_eval.parse_qrel(truth)
            found = pytrec_eval.RelevanceEvaluator(judged, wanted).evaluate(
                pytrec_eval.parse_run(lists)
            )
        return {
            key: sum(values[key] for values in found.values()) / len(judged)
            for key in next(iter(found.values()))
        }

    return {"seconds": best(go, 2)}


def file_ranx() -> dict[str, float]:
    # An empty cache, so that the first call compiles as it does for a new user.
    os.environ["NUMBA_CACHE_DIR"] = tempfile.mkdtemp()
    from ranx import Qrels, Run, evaluate

    qrels, run = work.trec_files()
    names = ["ndcg@10", "map", "mrr@10", "recall@1000", "precision@10"]

    def go() -> Any:
        judged = Qrels.from_file(str(qrels), kind="trec")
        lists = Run.from_file(str(run), kind="trec")
        return evaluate(judged, lists, names, make_comparable=True)

    begin = time.perf_counter()
    go()
    first = time.perf_counter() - begin
    return {"seconds": best(go, 1), "first": first}


def memory(form: str = "") -> dict[str, float]:
    qrels, run = work.trec_files()
    size = run.stat().st_size
    if form:
        run = work.in_form(run, form)
    evaluate(qrels, run, work.METRICS)()
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    return {"peak": peak, "file": size}


def form_rankine(form: str) -> dict[str, float]:
    qrels, run = work.trec_files()
    path = work.in_form(run, form)
    return {"seconds": best(evaluate(qrels, path, work.METRICS), 3)}


def form_read(form: str) -> dict[str, float]:
    """Read the same columns with polars, or with the json module."""
    import polars as pl

    path = work.in_form(work.trec_files()[1], form)
    names = ["query_id", "doc_id", "score"]

    def read() -> Any:
        if form == "json":
            return json.loads(path.read_bytes())
        if form == "parquet":
            return pl.read_parquet(path, columns=names)
        if form == "csv":
            kinds = {"query_id": pl.String, "doc_id": pl.String}
            return pl.read_csv(path, columns=names, schema_overrides=kinds)
        return pl.read_csv(
            path,
            separator=" ",
            has_header=False,
            columns=[0, 2, 4],
            schema_overrides=[pl.String] * 4 + [pl.Float64, pl.String],
            quote_char=None,
        )

    return {"seconds": best(read, 3)}


def conventions() -> dict[str, float]:
    """Time every preset against the default, and a reconciliation of all of them."""
    import rankine as rk

    qrels, run = work.dicts(1000, 100, 20)
    metrics = ["nDCG@10", "AP@10", "RR@10", "R@100", "P@10"]
    ours = best(lambda: rk.evaluate(qrels, run, metrics), 7)
    made = {}
    for name in rk.conventions():
        call = partial(rk.evaluate, qrels, run, metrics, convention=name)
        made[name] = best(call, 7) / ours
    slowest = max(made, key=lambda name: made[name])
    print(f"  slowest: {slowest}", file=sys.stderr)
    return {
        "seconds": ours,
        "slowest": made[slowest],
        "reconcile": best(lambda: str(rk.reconcile(qrels, run, "AP@10")), 3),
    }


def growth(n_queries: str) -> dict[str, float]:
    qrels, run = work.trec_files(int(n_queries))
    return {"seconds": best(evaluate(qrels, run, work.METRICS), 3)}


def dict_rankine(n_queries: str, n_shown: str, n_judged: str) -> dict[str, float]:
    qrels, run = work.dicts(int(n_queries), int(n_shown), int(n_judged))
    repeat = 200 if int(n_queries) < 100 else 1
    return {"seconds": best(evaluate(qrels, run, work.METRICS), 5, repeat)}


def dict_pytrec_eval(n_queries: str, n_shown: str, n_judged: str) -> dict[str, float]:
    import pytrec_eval

    qrels, run = work.dicts(int(n_queries), int(n_shown), int(n_judged))
    wanted = {"ndcg_cut.10", "map", "recip_rank", "recall.1000", "P.10"}
    repeat = 200 if int(n_queries) < 100 else 1

    def go() -> Any:
        return pytrec_eval.RelevanceEvaluator(qrels, wanted).evaluate(run)

    return {"seconds": best(go, 5, repeat)}


def small_frame(library: str) -> dict[str, float]:
    """Evaluate frames of a few rows, where every call of a library shows."""
    import polars as pl

    qrels, run = work.dicts(10, 10, 5)
    tables: list[Any] = [
        pl.DataFrame(
            [
                (query, item, n)
                for query, group in rows.items()
                for item, n in group.items()
            ],
            schema=["query", "item", value],
            orient="row",
        )
        for rows, value in ((qrels, "grade"), (run, "score"))
    ]
    if library == "pandas":
        tables = [table.to_pandas() for table in tables]
    return {"seconds": best(evaluate(*tables, work.METRICS), 9, 100)}


def dense_rankine(n_queries: str = "2000", n_items: str = "1000") -> dict[str, float]:
    """Evaluate a matrix of scores, and the same as a matrix of ranked items."""
    import numpy as np

    import rankine as rk

    grades, scores = _dense(int(n_queries), int(n_items))
    ranked = np.argsort(-scores, axis=1)

    def timed(run: Callable[[], Any]) -> float:
        return best(lambda: rk.evaluate(rk.from_scores(grades), run(), ["nDCG@10"]), 15)

    return {
        "seconds": timed(lambda: rk.from_scores(scores)),
        "ranked": timed(lambda: rk.from_ranked(ranked)),
    }


def dense_sklearn() -> dict[str, float]:
    from sklearn.metrics import ndcg_score

    grades, scores = _dense()
    return {"seconds": best(lambda: ndcg_score(grades, scores, k=10, ignore_ties=True))}


def _dense(*shape: int) -> tuple[Any, Any]:
    import numpy as np

    rng, shape = np.random.default_rng(0), shape or (2000, 1000)
    return rng.integers(0, 5, shape).astype(float), rng.random(shape)


def start() -> dict[str, float]:
    def bare() -> Any:
        return subprocess.run([sys.executable, "-c", ""], check=True)

    def imported() -> Any:
        return subprocess.run([sys.executable, "-c", "import rankine"], check=True)

    def helped() -> Any:
        command = [sys.executable, "-m", "rankine", "--help"]
        return subprocess.run(command, check=True, capture_output=True)

    nothing = best(bare, 9)
    return {"import": best(imported, 9) - nothing, "help": best(helped, 9)}


def runs_rankine(form: str) -> dict[str, float]:
    """Compare two runs, and evaluate one of them: as files, frames or dicts."""
    import rankine as rk

    qrels, first, second = work.two_runs(form)
    measures = ["RBO(p=0.9)", "AO@10", "tau"]
    return {
        "evaluate": best(evaluate(qrels, first, "nDCG@10"), 5),
        "seconds": best(lambda: rk.similarity(first, second, measures), 5),
    }


def logs(*ids: str) -> dict[str, float]:
    """Read a log of 10 M rounds, and estimate what a policy would have earned."""
    import polars as pl

    import rankine as rk

    path, policy = work.log(text=bool(ids))
    estimators = ["ips", "snips", "dr"]
    return {
        "read": best(lambda: pl.read_parquet(path), 5),
        "seconds": best(lambda: rk.ctr(path, policy, estimators), 5),
    }


RECENT = {
    "BPM(max_grade=4)@10": "BPM(max_rel=4)@10",
    "INSQ(max_grade=4)": "INSQ(max_rel=4)",
    "INST(max_grade=4)": "INST(max_rel=4)",
    "NERR8(max_grade=4)@10": "NERR8(max_rel=4)@10",
    "Compat": "Compat",
}
"""Metrics of readers who go on, and how ir_measures writes them."""


def recent_rankine(*metrics: str) -> dict[str, float]:
    qrels, run = work.dicts(1000, 100, 20)
    return {"seconds": best(evaluate(qrels, run, list(metrics)), 7)}


def recent_ir_measures(*metrics: str) -> dict[str, float]:
    import ir_measures

    qrels, run = work.dicts(1000, 100, 20)
    wanted = [ir_measures.parse_measure(metric) for metric in metrics]
    return {"seconds": best(lambda: ir_measures.calc_aggregate(wanted, qrels, run), 2)}


def own_function() -> dict[str, float]:
    """Evaluate a user's own function of one query, and call the function alone."""
    import rankine as rk

    n_queries = 20_000
    qrels, run = work.dicts(n_queries, 10, 3)

    def nothing(ranking: list[str], judged: dict[str, float]) -> float:  # noqa: ARG001
        return 0.0

    own = rk.metric(nothing, name="Nothing")
    table = rk.evaluate(qrels, run, own).table.table
    alone = best(lambda: [nothing([], {}) for _ in range(n_queries)], 9)
    inside = best(lambda: own.values(table), 9)
    return {"seconds": inside, "each": (inside - alone) / n_queries}


def command() -> dict[str, float]:
    """Time the command line, its start, and the same work in this process."""
    import rankine as rk

    qrels, run = work.trec_files()
    small = work.trec_files(1, 1)
    asked = [word for metric in work.METRICS for word in ("-m", metric)]

    def called(*files: Path) -> Callable[[], Any]:
        words = [sys.executable, "-m", "rankine", "evaluate", *map(str, files), *asked]
        return lambda: subprocess.run(words, check=True, capture_output=True)

    return {
        "start": best(called(*small), 7),
        "seconds": best(called(qrels, run), 7),
        "inside": best(lambda: rk.evaluate(qrels, run, work.METRICS), 7),
    }


if __name__ == "__main__":
    case, *arguments = sys.argv[1:]
    homes = (sys.modules[__name__], lists, comparing, fusing)
    run = next(getattr(home, case) for home in homes if hasattr(home, case))
    print(json.dumps(run(*arguments)))
