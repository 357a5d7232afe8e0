"""Many queries, long lists, one query with nearly all rows, and rows of nobody."""

from __future__ import annotations

from typing import Any

import pytest

pytest.importorskip("pyspark", reason="needs pyspark; make spark runs these tests")

import rankine.spark

MILLION = 1_000_000


def test_a_million_queries_of_one_row(spark: Any) -> None:
    qrels = spark.range(MILLION).selectExpr("id AS query", "7 AS item", "1 AS grade")
    run = spark.range(MILLION).selectExpr(
        "id AS query", "IF(id % 4 = 0, 7, 8) AS item", "0.5 AS score"
    )

    ev = rankine.spark.evaluate(qrels, run, ["RR", "NumRet"])

    assert ev.mean == {"RR": 1 / 4, "NumRet": MILLION}
    assert ev.summaries["RR"].n == MILLION


def test_one_query_has_nine_tenths_of_the_rows(spark: Any) -> None:
    run = spark.range(MILLION).selectExpr(
        "IF(id < 900000, 'long', CAST(id % 1000 AS STRING)) AS query",
        "CAST(id AS STRING) AS item",
        "-id AS score",
    )
    relevant = run.where("score BETWEEN -900999 AND -899999")
    qrels = relevant.selectExpr("query", "item", "1 AS grade")

    ev = rankine.spark.evaluate(qrels, run, ["RR", "NumRelRet"])

    # The only relevant item is the last of the long list, and the first of the others.
    assert ev.mean == {"RR": (1000 + 1 / 900_000) / 1001, "NumRelRet": 1001}


def test_a_catalogue_of_a_million_items(spark: Any) -> None:
    run = spark.range(MILLION).selectExpr(
        "id % 1000 AS query", "id AS item", "RAND(3) AS score"
    )
    best = run.groupBy("query").agg({"score": "max"}).toDF("query", "score")
    qrels = run.join(best, ["query", "score"]).selectExpr("query", "item", "1 AS grade")

    ev = rankine.spark.evaluate(qrels.localCheckpoint(), run, ["nDCG@10", "NumRet"])

    assert ev.mean == {"nDCG@10": 1.0, "NumRet": MILLION}


def test_rows_without_a_query_are_counted(spark: Any) -> None:
    run = spark.range(MILLION).selectExpr(
        "IF(id < 900000, NULL, id % 100) AS query", "id AS item", "-id AS score"
    )
    qrels = run.where("score > -900100").where("query IS NOT NULL")
    qrels = qrels.selectExpr("query", "item", "1 AS grade")

    ev = rankine.spark.evaluate(qrels, run, "RR", lenient=True)

    assert ev["RR"] == 1
    assert "run: 900,000 rows without an id: dropped" in ev.notes
