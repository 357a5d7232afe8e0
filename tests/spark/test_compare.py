"""Runs on Spark are compared as those in memory are."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest

import rankine as rk
from rankine.errors import ParameterError, RankineError

pytest.importorskip("pyspark", reason="needs pyspark; make spark runs these tests")

import rankine.spark

METRICS = ["nDCG@5", "AP", "RR"]
QRELS = [
    (f"q{query}", f"d{item}", float((query + item) % 3))
    for query in range(12)
    for item in range(6)
]


def listed(factor: int, queries: int = 12) -> list[tuple[str, str, float]]:
    return [
        (f"q{query}", f"d{item}", float((query + item) * factor % 7))
        for query in range(queries)
        for item in range(8)
    ]


RUNS = {"old": listed(2), "new": listed(3), "short": listed(5, queries=9)}


def of_spark(spark: Any) -> tuple[Any, dict[str, Any]]:
    kind = "query string, item string, {} double"
    runs = {
        name: spark.createDataFrame(rows, kind.format("score"))
        for name, rows in RUNS.items()
    }
    return spark.createDataFrame(QRELS, kind.format("grade")), runs


def in_memory() -> tuple[pl.DataFrame, dict[str, pl.DataFrame]]:
    runs = {
        name: pl.DataFrame(rows, ["query", "item", "score"], orient="row")
        for name, rows in RUNS.items()
    }
    return pl.DataFrame(QRELS, ["query", "item", "grade"], orient="row"), runs


@pytest.mark.parametrize(
    "options",
    [
        {"test": "t"},
        {"test": "randomization", "draws": 2000, "seed": 3, "baseline": "old"},
        {"test": "wilcoxon", "correction": "bh", "margin": 0.1},
        {"test": "sign"},
    ],
    ids=["t", "randomization", "wilcoxon", "sign"],
)
def test_pairs_are_those_of_memory(spark: Any, options: dict[str, Any]) -> None:
    memory = rk.compare(*in_memory(), METRICS, **options)

    cmp = rankine.spark.compare(*of_spark(spark), METRICS, **options)

    assert cmp.pairwise.equals(memory.pairwise)


def test_a_difference_by_hand(spark: Any) -> None:
    kind = "query string, item string, {} double"
    qrels = spark.createDataFrame(
        [("q", "a", 1.0), ("r", "a", 1.0)], kind.format("grade")
    )
    last = [("q", "a", 1.0), ("q", "b", 2.0), ("r", "a", 1.0), ("r", "b", 2.0)]
    first = [("q", "a", 3.0), ("q", "b", 2.0), ("r", "a", 1.0), ("r", "b", 2.0)]
    runs = {
        "last": spark.createDataFrame(last, kind.format("score")),
        "first": spark.createDataFrame(first, kind.format("score")),
    }

    cmp = rankine.spark.compare(qrels, runs, "RR", baseline="last")

    assert cmp.pairwise["difference"].to_list() == [(1 + 1 / 2) / 2 - 1 / 2]
    assert cmp.pairwise.select("wins", "ties", "losses").row(0) == (1, 1, 0)
    assert cmp.notes[-1] == "4 values (32 bytes) collected from Spark"


@pytest.mark.parametrize(
    ("metric", "options", "message"),
    [
        ("NumRet", {}, "NumRet is not a mean over queries"),
        ("AP", {"baseline": "bm25"}, "baseline must be one of old, new, short"),
        ("AP", {"test": "z"}, "test must be one of"),
        ("AP", {"name": "x"}, "name= is for one run; the keys of runs are their names"),
        ("AP", {"weights": {}}, "queries have no weights on Spark"),
        ("AP", {"convention": "recmetrics"}, "recmetrics uses the order of rows"),
    ],
)
def test_refused_before_a_job_starts(
    spark: Any, jobs: Any, metric: str, options: dict[str, Any], message: str
) -> None:
    data = of_spark(spark)

    with pytest.raises(RankineError) as refused:
        rankine.spark.compare(*data, metric, **options)

    assert str(refused.value).startswith(message)
    assert len(jobs) == 0


def test_one_run_is_not_compared(spark: Any) -> None:
    qrels, runs = of_spark(spark)

    with pytest.raises(ParameterError, match="at least two systems, got only old"):
        rankine.spark.compare(qrels, {"old": runs["old"]})


def test_what_needs_values_per_query_is_refused_of_an_evaluation(spark: Any) -> None:
    qrels, runs = of_spark(spark)
    ev = rankine.spark.evaluate(qrels, runs["old"], "AP")
    for call in (
        lambda: ev.worst("AP"),
        ev.to_json,
        lambda: ev.report("x.html"),
        lambda: ev.curve("P", ks=[1]),
        lambda: ev.queries,
    ):
        with pytest.raises(ParameterError) as refused:
            call()

        assert str(refused.value).startswith("the queries and their values are on")
    assert "AP" in ev.to_markdown()
    assert "AP" in ev.to_latex()
    assert "AP" in ev._repr_html_()
