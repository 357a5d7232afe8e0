"""What is measured: each function runs one tool on one kind of work.

``python benchmarks/cases.py NAME [ARGUMENT ...]`` runs one of them and prints its times
as JSON. Times are the best of several, in seconds.
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
from benchmarks import work

if TYPE_CHECKING:
    from collections.abc import Callable


def best(function: Callable[[], Any], times: int = 3, repeat: int = 1) -> float:
    """Return the least time of one call."""
    least = float("inf")
    for _ in range(times):
        begin = time.perf_counter()
        for _ in range(repeat):
            function()
        least = min(least, (time.perf_counter() - begin) / repeat)
    return least


def _evaluate(*arguments: Any) -> Callable[[], Any]:
    import rankine as rk

    return lambda: rk.evaluate(*arguments)


def file_rankine(name: str = "") -> dict[str, float]:
    qrels, run = work.trec_files()
    if name:
        run = getattr(work, name)(run)
    return {"seconds": best(_evaluate(qrels, run, work.METRICS), 5)}


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
    _evaluate(qrels, run, work.METRICS)()
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    return {"peak": peak, "file": size}


def form_rankine(form: str) -> dict[str, float]:
    qrels, run = work.trec_files()
    path = work.in_form(run, form)
    return {"seconds": best(_evaluate(qrels, path, work.METRICS), 3)}


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
    return {"seconds": best(_evaluate(qrels, run, work.METRICS), 3)}


def frames_rankine() -> dict[str, float]:
    interactions, recommended = work.frames()
    return {"seconds": best(_evaluate(interactions, recommended, work.AT_TEN), 5)}


def frames_rankine_pandas() -> dict[str, float]:
    interactions, recommended = (frame.to_pandas() for frame in work.frames())
    return {"seconds": best(_evaluate(interactions, recommended, work.AT_TEN), 5)}


def frames_rectools() -> dict[str, float]:
    from rectools.metrics import MAP, MRR, NDCG, Precision, Recall, calc_metrics

    interactions, recommended = (frame.to_pandas() for frame in work.frames())
    metrics = {
        "P": Precision(10),
        "R": Recall(10),
        "MAP": MAP(10),
        "NDCG": NDCG(10),
        "MRR": MRR(10),
    }
    return {"seconds": best(lambda: calc_metrics(metrics, recommended, interactions))}


def frames_jurity() -> dict[str, float]:
    from jurity.recommenders import MAP, NDCG, CombinedMetrics, Precision, Recall

    interactions, recommended = (frame.to_pandas() for frame in work.frames())
    names = {
        "click_column": "click",
        "k": 10,
        "user_id_column": "user_id",
        "item_id_column": "item_id",
    }
    actual = interactions.assign(click=1)
    predicted = recommended.rename(columns={"score": "click"})
    metric = CombinedMetrics(
        Precision(**names), Recall(**names), MAP(**names), NDCG(**names)
    )
    return {"seconds": best(lambda: metric.get_score(actual, predicted), 1)}


def dict_rankine(n_queries: str, n_shown: str, n_judged: str) -> dict[str, float]:
    qrels, run = work.dicts(int(n_queries), int(n_shown), int(n_judged))
    repeat = 200 if int(n_queries) < 100 else 1
    return {"seconds": best(_evaluate(qrels, run, work.METRICS), 5, repeat)}


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
    return {"seconds": best(_evaluate(*tables, work.METRICS), 9, 100)}


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


def _two_lists() -> tuple[list[str], list[str]]:
    shown = [f"d{number}" for number in range(1000)]
    order = work.permutation(1000)
    return shown, [shown[at] for at in order]


def lists_rankine() -> dict[str, float]:
    import rankine as rk

    x, y = _two_lists()
    return {"seconds": best(lambda: rk.rbo(x, y, p=0.9), 20, 100)}


def lists_rbo() -> dict[str, float]:
    import rbo

    x, y = _two_lists()
    return {"seconds": best(lambda: rbo.RankingSimilarity(x, y).rbo_ext(p=0.9), 20, 20)}


def runs_rankine(form: str) -> dict[str, float]:
    """Compare two runs, and evaluate one of them: as files, frames or dicts."""
    import rankine as rk

    qrels, first, second = work.two_runs(form)
    measures = ["RBO(p=0.9)", "AO@10", "tau"]
    return {
        "evaluate": best(_evaluate(qrels, first, "nDCG@10"), 5),
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


BEYOND = (
    "InterListDiversity@100", "Coverage@100", "Gini@100", "Entropy@100",
    "GiniSimpson@100", "Novelty@100", "EPC@100", "EFD@100", "Popularity@100",
    "LongTail@100",
)  # fmt: skip


OF_RECTOOLS = {
    "Coverage@100": "CatalogCoverage",
    "Novelty@100": "MeanInvUserFreq",
    "Popularity@100": "AvgRecPopularity",
    "Serendipity@100": "Serendipity",
    "ILD@10": "IntraListDiversity",
}


def beyond_rankine(*metrics: str) -> dict[str, float]:
    """Measure lists, with all that the metrics need."""
    import rankine as rk

    lists, train, truth, features = work.beyond()
    known: dict[str, Any] = {"train": train, "catalog": len(features)}
    if metrics == ("ILD@10",):
        known = {}
    elif metrics == ("Coverage@100",):
        del known["train"]
    if "ILD@10" in metrics:
        known["items"] = features
    qrels = truth if "Serendipity@100" in metrics else None
    return {
        "seconds": best(lambda: rk.evaluate(qrels, lists, list(metrics), **known), 5)
    }


def beyond_rectools(name: str) -> dict[str, float]:
    from rectools import metrics
    from rectools.metrics.distances import PairwiseHammingDistanceCalculator

    lists, train, truth, features = work.beyond()
    reco, before, after = (one.to_pandas() for one in (lists, train, truth))
    catalog = range(len(features))
    if name == "IntraListDiversity":
        import pandas as pd

        frame = pd.DataFrame(features)
        frame.index.name = "item_id"
        calculator = PairwiseHammingDistanceCalculator(frame)
        metric: Any = metrics.IntraListDiversity(10, calculator)
        return {"seconds": best(lambda: metric.calc(reco), 1)}
    metric = getattr(metrics, name)(100)
    arguments: dict[str, Any] = {
        "CatalogCoverage": {"catalog": catalog},
        "Serendipity": {
            "interactions": after,
            "prev_interactions": before,
            "catalog": catalog,
        },
    }.get(name, {"prev_interactions": before})
    return {"seconds": best(lambda: metric.calc(reco, **arguments), 3)}


def beyond_jurity() -> dict[str, float]:
    """Take inter-list diversity of 2,000 users, as all of them are too many."""
    from jurity.recommenders import InterListDiversity

    lists = work.beyond(2000)[0].rename({"score": "click"}).to_pandas()
    metric = InterListDiversity(
        click_column="click",
        k=100,
        user_id_column="user_id",
        item_id_column="item_id",
        user_sample_size=None,
    )
    return {"seconds": best(lambda: metric.get_score(lists, lists), 1)}


def few_rankine() -> dict[str, float]:
    import rankine as rk

    lists = work.beyond(2000)[0]
    metric = "InterListDiversity@100"
    return {"seconds": best(lambda: rk.evaluate(None, lists, metric), 5)}


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
    print(json.dumps(globals()[sys.argv[1]](*sys.argv[2:])))
