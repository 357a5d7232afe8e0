"""rankine on Spark, beside what else computes the same metrics there.

    python benchmarks/spark.py [QUERIES [ITEMS]] [PEER ... | growth]

QUERIES lists have ITEMS items each; 30,000 and 100 if not given. The peers are
applyInPandas (a function per query) and mllib (its RankingMetrics), which come with
Spark, and recommenders (SparkRankingEvaluation) and replay (OfflineMetrics), which need
the environment of benchmarks/spark.in; the first two if none is named. All
run in one session on two cores, on the same cached tables. A peer and rankine take
turns, so that both find Java as warm as the other left it: once without a clock, and
three times with it, of which the least counts. What rankine shuffles and collects is
printed too.

growth shows rankine alone on a quarter, a half and all of the lists, with one executor
and with two, each a process of its own with one core.
"""

from __future__ import annotations

import math
import os
import sys
import time
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import numpy as np

import rankine.spark

if TYPE_CHECKING:
    from collections.abc import Callable

    import pandas as pd

N_RUNS, K = 3, 10
NDCG = "nDCG(gain='binary')@10"


def session(folder: str, master: str = "local[2]") -> Any:
    import pyspark
    from pyspark.sql import SparkSession

    os.environ |= {
        "PYSPARK_PYTHON": sys.executable,
        "SPARK_HOME": str(Path(pyspark.__file__).parent),
        "SPARK_LOCAL_IP": "127.0.0.1",
    }
    settings = {
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.driver.memory": "4g",
        "spark.executor.memory": "3g",
        "spark.local.dir": folder,
        "spark.sql.shuffle.partitions": "4",
    }
    builder = SparkSession.builder.master(master)
    for key, value in settings.items():
        builder = builder.config(key, value)
    spark = builder.getOrCreate()
    spark.sparkContext.setLogLevel("OFF")
    return spark


def data(spark: Any, folder: str, n_queries: int, n_items: int) -> tuple[Any, Any]:
    """Write and read lists, in each of which some items are relevant."""
    rows = spark.range(n_queries * n_items, numPartitions=4).selectExpr(
        f"concat('q', id % {n_queries}) AS query",
        "concat('d', id) AS item",
        "rand(7) AS score",
    )
    rows.write.mode("overwrite").parquet(f"{folder}/run")
    run = spark.read.parquet(f"{folder}/run")
    # A relevant item at least in every list, so that nobody leaves a query out.
    first = f"CAST(substr(item, 2) AS BIGINT) < {n_queries} OR hash(item) % 10 = 0"
    judged = run.where(first).selectExpr("query", "item", "1 AS grade")
    judged.write.mode("overwrite").parquet(f"{folder}/qrels")
    return spark.read.parquet(f"{folder}/qrels").cache(), run.cache()


def per_group(qrels: Any, run: Any) -> dict[str, float]:
    """Compute nDCG@10 with a function of pandas that is called for every query."""
    discounts = 1 / np.log2(np.arange(2, K + 2))

    def of_query(frame: pd.DataFrame) -> pd.DataFrame:
        grade = frame.sort_values("score", ascending=False)["grade"].to_numpy()[:K]
        best = np.sort(frame["grade"].to_numpy())[::-1][:K]
        ideal = (best * discounts[: len(best)]).sum()
        value = (grade * discounts[: len(grade)]).sum() / ideal
        return frame[["query"]].head(1).assign(value=value)

    rows = run.join(qrels, ["query", "item"], "left").fillna(0, ["grade"])
    values = rows.groupBy("query").applyInPandas(of_query, "query string, value double")
    return {NDCG: values.agg({"value": "avg"}).collect()[0][0]}


def mllib(qrels: Any, run: Any) -> dict[str, float]:
    """Compute five metrics with RankingMetrics, as its guide shows."""
    from pyspark.mllib.evaluation import RankingMetrics
    from pyspark.sql import functions as sql

    pair = sql.sort_array(sql.collect_list(sql.struct("score", "item")), asc=False)
    lists = run.groupBy("query").agg(pair.getField("item").alias("items"))
    truth = qrels.groupBy("query").agg(sql.collect_list("item").alias("relevant"))
    rows = lists.join(truth, "query").select("items", "relevant").rdd
    metrics = RankingMetrics(rows.map(tuple).cache())
    return {
        "P@5": metrics.precisionAt(5),
        "P@10": metrics.precisionAt(10),
        "R@10": metrics.recallAt(10),
        NDCG: metrics.ndcgAt(10),
        "AP": metrics.meanAveragePrecision,
    }


def recommenders(qrels: Any, run: Any) -> dict[str, float]:
    """Compute four metrics with SparkRankingEvaluation, those that its guide shows.

    Its lists lose their order, and nDCG its meaning, in tasks with more users than
    this setting says, which is 128.
    """
    from recommenders.evaluation.spark_evaluation import SparkRankingEvaluation

    qrels.sparkSession.conf.set(
        "spark.sql.objectHashAggregate.sortBased.fallbackThreshold", 1 << 30
    )
    metrics = SparkRankingEvaluation(
        qrels, run, k=K, col_user="query", col_item="item", col_rating="grade",
        col_prediction="score",
    )  # fmt: skip
    return {
        "AP(divisor='min_k_R')@10": metrics.map_at_k(),
        NDCG: metrics.ndcg_at_k(),
        "P@10": metrics.precision_at_k(),
        "R@10": metrics.recall_at_k(),
    }


def replay(qrels: Any, run: Any) -> dict[str, float]:
    """Compute four metrics with OfflineMetrics, which makes lists once for all."""
    from replay import metrics as of_replay

    metrics = of_replay.OfflineMetrics(
        [
            of_replay.Precision(K),
            of_replay.Recall(K),
            of_replay.NDCG(K),
            of_replay.MRR(K),
        ],
        query_column="query", item_column="item", rating_column="score",
    )  # fmt: skip
    numbers = metrics(run, qrels)
    return {
        "P@10": numbers["Precision@10"],
        "R@10": numbers["Recall@10"],
        NDCG: numbers["NDCG@10"],
        "RR@10": numbers["MRR@10"],
    }


PEERS: dict[str, Callable[[Any, Any], dict[str, float]]] = {
    "applyInPandas": per_group,
    "mllib": mllib,
    "recommenders": recommenders,
    "replay": replay,
}


def in_turn(*works: Callable[[], Any]) -> list[tuple[float, Any]]:
    """Do some work in turn; return the least time of each, and what came out."""
    results: list[Any] = [None] * len(works)
    times = [math.inf] * len(works)
    for _ in range(N_RUNS):
        for number, work in enumerate(works):
            begin = time.perf_counter()
            results[number] = work()
            times[number] = min(times[number], time.perf_counter() - begin)
    return list(zip(times, results, strict=True))


def moved(spark: Any, work: Callable[[], Any]) -> tuple[int, int, int]:
    """Return the bytes shuffled and collected by some work, and its tasks."""
    context = spark.sparkContext
    context.setJobGroup("moved", "moved")
    work()
    scala = context._jsc.sc()  # noqa: SLF001 - only the JVM knows
    scala.listenerBus().waitUntilEmpty()
    tracker = context.statusTracker()
    stages = {
        stage
        for job in tracker.getJobIdsForGroup("moved")
        for stage in tracker.getJobInfo(job).stageIds
    }
    attempts = [scala.statusStore().lastStageAttempt(stage) for stage in stages]
    shuffled = sum(attempt.shuffleWriteBytes() for attempt in attempts)
    collected = sum(attempt.resultSize() for attempt in attempts)
    return shuffled, collected, sum(attempt.numTasks() for attempt in attempts)


def growth(n_queries: int, n_items: int) -> None:
    """Show how time grows with rows, and falls with executors."""
    for n_executors in (1, 2):
        master = f"local-cluster[{n_executors},1,3072]"
        with TemporaryDirectory() as folder:
            spark = session(folder, master)
            for share in (4, 2, 1):
                qrels, run = data(
                    spark, f"{folder}/{share}", n_queries // share, n_items
                )
                n_rows = qrels.count() + run.count()
                evaluate = partial(rankine.spark.evaluate, qrels, run, ["AP", NDCG])
                evaluate()
                ((seconds, _),) = in_turn(evaluate)
                print(
                    f"executors: {n_executors}, rows: {n_rows:,}, {seconds:.2f} s, "
                    f"{n_rows / seconds / 1e6:.2f} million rows a second",
                    flush=True,
                )
                qrels.unpersist()
                run.unpersist()
            spark.stop()


def main(n_queries: int, n_items: int, peers: list[str]) -> None:
    with TemporaryDirectory() as folder:
        spark = session(folder)
        qrels, run = data(spark, folder, n_queries, n_items)
        n_rows = qrels.count() + run.count()
        print(
            f"{n_queries:,} x {n_items} items, {n_rows:,} rows, two cores, one session"
        )
        for name in peers:
            peer = partial(PEERS[name], qrels, run)
            metrics = list(peer())
            rankine_too = partial(rankine.spark.evaluate, qrels, run, metrics)
            rankine_too()
            (theirs, numbers), (ours, ev) = in_turn(peer, rankine_too)
            for label, number in numbers.items():
                assert abs(number - ev[label]) < 1e-9, label
            print(
                f"{len(metrics)} of the metrics of {name}: {theirs:.2f} s, "
                f"rankine {ours:.2f} s, {theirs / ours:.1f} x",
                flush=True,
            )
        shuffled, collected, n_tasks = moved(
            spark, lambda: rankine.spark.evaluate(qrels, run, ["P@10", NDCG, "AP"])
        )
        print(f"rankine shuffles {shuffled / n_rows:.1f} bytes a row")
        print(f"rankine collects {collected:,} bytes from {n_tasks} tasks")
        spark.stop()


if __name__ == "__main__":
    words = sys.argv[1:]
    sizes = [int(word) for word in words if word.isdigit()]
    n_queries, n_items = (*sizes, *(30_000, 100)[len(sizes) :])
    named = [word for word in words if not word.isdigit()]
    if named == ["growth"]:
        growth(n_queries, n_items)
        sys.exit()
    main(n_queries, n_items, named or ["applyInPandas", "mllib"])
