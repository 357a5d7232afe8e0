"""How many jobs there are, which rows they shuffle, and what comes to the driver."""

from __future__ import annotations

from typing import Any

import pytest

import rankine as rk

pytest.importorskip("pyspark", reason="needs pyspark; make spark runs these tests")

import rankine.spark

METRICS = ["nDCG@10", "AP", "RR@10", "P@5", "R@5", "Rprec", "Bpref", "gm_AP", "NumRet"]
N_ITEMS, N_PARTITIONS = 20, 4
OF_PARTITION = 20_000
"""Bytes that may come from a partition, with what Spark says of the task itself."""


def frames(spark: Any, n_queries: int) -> tuple[Any, Any]:
    run = spark.range(n_queries * N_ITEMS).selectExpr(
        f"concat('query', id % {n_queries}) AS query",
        "concat('item', id) AS item",
        "id % 7 / 7 AS score",
    )
    qrels = run.where("hash(item) % 4 = 0").selectExpr("query", "item", "1 AS grade")
    return qrels, run


@pytest.mark.usefixtures("as_planned")
@pytest.mark.parametrize("n_queries", [500, 20_000])
def test_one_job_collects_states_alone(spark: Any, jobs: Any, n_queries: int) -> None:
    """However many queries there are, as much comes to the driver as of a few."""
    qrels, run = frames(spark, n_queries)
    n_rows = qrels.count() + run.count()
    before, n_jobs = jobs.moved(), len(jobs)

    ev = rankine.spark.evaluate(qrels, run, METRICS, partitions=N_PARTITIONS)

    moved = jobs.moved()
    assert ev.n_queries > n_queries * 0.9
    assert len(jobs) == n_jobs + 1
    assert moved["shuffled"] - before["shuffled"] == n_rows
    collected = moved["collected"] - before["collected"]
    assert 1000 < collected < N_PARTITIONS * OF_PARTITION

    _ = ev.mean, ev.notes, ev.interval("AP"), str(ev), ev.per_query, ev.to_dict()

    assert (len(jobs), jobs.moved()) == (n_jobs + 1, moved)


@pytest.mark.usefixtures("as_planned")
def test_a_bootstrap_collects_a_number_per_query(spark: Any, jobs: Any) -> None:
    n_queries = 20_000
    qrels, run = frames(spark, n_queries)
    ev = rankine.spark.evaluate(qrels, run, METRICS, partitions=N_PARTITIONS)
    before, n_jobs = jobs.moved(), len(jobs)

    ev.interval("AP", method="bootstrap", n_resamples=10)

    n_bytes = 8 * ev.n_queries
    collected = jobs.moved()["collected"] - before["collected"]
    assert len(jobs) == n_jobs + 1
    # A value and a bit that says whether there is one; the rest is of the tasks.
    assert n_bytes * 0.9 < collected < n_bytes * 1.1 + N_PARTITIONS * OF_PARTITION
    assert f"({n_bytes:,} bytes) collected from Spark" in ev.notes[-1]


@pytest.mark.usefixtures("as_planned")
def test_rows_below_the_cutoff_are_not_shuffled(spark: Any, jobs: Any) -> None:
    qrels, run = frames(spark, 100)
    # Of twenty items with seven scores, two or three have the best one.
    best = run.where("score = 6 / 7").groupBy("query").count().agg({"count": "sum"})
    n_rows = qrels.count() + best.collect()[0][0]
    before = jobs.moved()

    rankine.spark.evaluate(
        qrels, run.repartition(1), "P@1", convention=rk.Convention(duplicates="count")
    )

    # All rows of the run are moved to one partition, and then those of the top.
    assert jobs.moved()["shuffled"] - before["shuffled"] == 100 * N_ITEMS + n_rows
