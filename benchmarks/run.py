"""Run rankine and its peers on the same work and print the ratios: make bench.

Each case runs in a process of its own, so that neither memory nor caches of one tool
serve another. Times are the best of several, in seconds. The argument is the Python of
the environment with the recommenders' tools, which need an older NumPy.
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


def dense_rankine() -> dict[str, float]:
    import rankine as rk

    grades, scores = _dense()
    return {
        "seconds": best(
            lambda: rk.evaluate(
                rk.from_scores(grades), rk.from_scores(scores), ["nDCG@10"]
            ),
            9,
        )
    }


def dense_sklearn() -> dict[str, float]:
    from sklearn.metrics import ndcg_score

    grades, scores = _dense()
    return {"seconds": best(lambda: ndcg_score(grades, scores, k=10, ignore_ties=True))}


def _dense() -> tuple[Any, Any]:
    import numpy as np

    rng = np.random.default_rng(0)
    return rng.integers(0, 5, (2000, 1000)).astype(float), rng.random((2000, 1000))


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


def run_case(*words: str, python: str = sys.executable) -> dict[str, float]:
    """Run one case in a process of its own."""
    done = subprocess.run(
        [python, __file__, "--case", *words],
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        sys.exit(f"{' '.join(words)} failed:\n{done.stderr}")
    found: dict[str, float] = json.loads(done.stdout.strip().splitlines()[-1])
    return found


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


def _logs() -> None:
    print("\nA log of 10 M rounds: IPS, SNIPS and DR with intervals")
    for word, ids in (("ints", ()), ("texts", ("text",))):
        found = run_case("logs", *ids)
        row(f"rankine, from Parquet, ids are {word}", found["seconds"])
        row("polars, reading the log", found["read"])
        ratio = found["seconds"] / found["read"]
        print(f"  {'':<44}{ratio:10.2f} x polars' time  (wanted: at most 3)")


def _beyond(recommenders: str) -> None:
    print("\nBeyond accuracy, 100,000 users x 100 items, 3 M interactions before")
    every = run_case("beyond_rankine", *BEYOND, python=recommenders)["seconds"]
    row(f"rankine, {len(BEYOND)} metrics in one call", every)
    total = 0.0
    for metric, name in OF_RECTOOLS.items():
        ours = run_case("beyond_rankine", metric, python=recommenders)["seconds"]
        row(f"rankine, {metric} alone", ours)
        peer = run_case("beyond_rectools", name, python=recommenders)["seconds"]
        row(f"RecTools {name}", peer, ours)
        total += peer
    ours = run_case("beyond_rankine", *OF_RECTOOLS, python=recommenders)["seconds"]
    row(f"rankine, these {len(OF_RECTOOLS)} in one call", ours)
    row("RecTools, one after the other", total, ours, "(20)")
    ours = run_case("few_rankine", python=recommenders)["seconds"]
    row("rankine, InterListDiversity of 2,000 users", ours)
    peer = run_case("beyond_jurity", python=recommenders)["seconds"]
    row("Jurity, the same", peer, ours, "(20)")
    _logs()


def row(what: str, seconds: float, ours: float | None = None, wanted: str = "") -> None:
    ratio = "" if ours is None else f"{seconds / ours:8.1f} x rankine's time"
    print(f"  {what:<44}{seconds:10.4f} s{ratio}{'  ' + wanted if wanted else ''}")


def _similarity(recommenders: str) -> None:
    print("\nRBO of two lists of 1,000 items")
    ours = run_case("lists_rankine", python=recommenders)["seconds"]
    row("rankine, min, max, res and ext", ours)
    peer = run_case("lists_rbo", python=recommenders)["seconds"]
    row("rbo, rbo_ext", peer, ours, "(5)")
    print("\nTwo runs of 6,980 x 1,000, RBO, AO@10 and tau, against nDCG@10 of one")
    for form in ("frames", "files", "dicts"):
        found = run_case("runs_rankine", form)
        print(
            f"  {form:<10}{found['seconds']:8.3f} s, evaluating one "
            f"{found['evaluate']:8.3f} s: {found['seconds'] / found['evaluate']:5.2f} x"
            " (at most 5)"
        )


def main(recommenders: str) -> None:
    """Run all cases and print the table."""
    work.trec_files()
    print("TREC file to means, 6,980 queries x 1,000 results, 5 metrics")
    scan = run_case("file_polars")["seconds"]
    ours = run_case("file_rankine")["seconds"]
    row("rankine", ours)
    print(f"  {'':<44}{ours / scan:10.2f} x polars' time  (wanted: at most 1.8)")
    row("polars, reading three columns", scan, ours)
    row(
        "pytrec_eval, own parser", run_case("file_pytrec_eval")["seconds"], ours, "(12)"
    )
    ranx = run_case("file_ranx")
    row("ranx, first call, which compiles", ranx["first"], ours, "(80)")
    row("ranx, second call", ranx["seconds"], ours)
    for name in ("tied", "shuffled", "scattered"):
        seconds = run_case("file_rankine", name)["seconds"]
        row(f"rankine, rows {name}", seconds, ours, "(at most 2)")
    used = run_case("memory")
    print(f"  peak memory {used['peak'] / used['file']:.2f} x the file (at most 2.5)")
    after = ours - scan
    print("\nThe same run in other formats, against polars or json reading its columns")
    for form in ("gz", "csv", "parquet", "json"):
        read = run_case("form_read", form)["seconds"]
        seconds = run_case("form_rankine", form)["seconds"]
        used = run_case("memory", form)
        print(
            f"  {form:<10}{seconds:8.3f} s, reading alone {read:8.3f} s: "
            f"{seconds / read:5.2f} x, {seconds - read:6.3f} s more (TREC text: "
            f"{after:.3f}); peak memory {used['peak'] / used['file']:.2f} x the text"
        )
    print("\nConventions, 1,000 x 100 in dicts, 5 metrics")
    found = run_case("conventions")
    row("rankine", found["seconds"])
    print(f"  the slowest preset {found['slowest']:.2f} x the default (at most 1.3)")
    print(f"  reconcile over all presets {found['reconcile']:.3f} s (at most 2)")
    _similarity(recommenders)
    _beyond(recommenders)
    print("\nGrowth")
    for n_queries in (1000, 6980, 35_000):
        seconds = run_case("growth", str(n_queries))["seconds"]
        rows = n_queries / 1000
        print(
            f"  {rows:4.0f} M rows{seconds:10.3f} s{seconds / rows:10.4f} s per M rows"
        )
    print("\nFrames, 100,000 users x 100 items, 1 M interactions, 5 metrics")
    ours = run_case("frames_rankine", python=recommenders)["seconds"]
    row("rankine, polars", ours)
    for what, case, wanted in (
        ("rankine, pandas", "frames_rankine_pandas", ""),
        ("RecTools calc_metrics", "frames_rectools", "(15)"),
        ("Jurity, 4 metrics", "frames_jurity", "(50)"),
    ):
        row(what, run_case(case, python=recommenders)["seconds"], ours, wanted)
    # How many items are judged decides who is faster on small inputs: all are shown.
    sizes = [("1000", "1000", "50", "(5)")]
    sizes += [("10", "100", judged, "(1)") for judged in ("5", "20", "50", "100")]
    for *size, wanted in sizes:
        print(f"\nDict of dicts, {size[0]} x {size[1]}, {size[2]} judged, 5 metrics")
        ours = run_case("dict_rankine", *size)["seconds"]
        row("rankine", ours)
        row("pytrec_eval", run_case("dict_pytrec_eval", *size)["seconds"], ours, wanted)
    print("\nDense scores, 2,000 x 1,000, nDCG@10")
    ours = run_case("dense_rankine")["seconds"]
    row("rankine", ours)
    row("scikit-learn", run_case("dense_sklearn")["seconds"], ours, "(15)")
    times = run_case("start")
    print(f"\nimport rankine {times['import']:.3f} s beyond Python (0.15)")
    print(f"rankine --help {times['help']:.3f} s (0.3)")


if __name__ == "__main__":
    if sys.argv[1:2] == ["--case"]:
        print(json.dumps(globals()[sys.argv[2]](*sys.argv[3:])))
    else:
        main(sys.argv[1] if len(sys.argv) > 1 else sys.executable)
