"""A program for Spark Connect, which has neither a context nor RDDs."""

from __future__ import annotations

import json
import os
import sys
from typing import Any

import rankine.spark
from rankine.errors import RankineError

QRELS = [("q1", "a", 2), ("q1", "b", 1), ("q2", "a", 1), ("q3", "z", 1)]
RUN = [("q1", "b", 3.0), ("q1", "x", 2.0), ("q1", "a", 1.0), ("q2", "a", 2.0)]


def main(folder: str) -> None:
    from pyspark.sql import SparkSession  # noqa: PLC0415 - an extra

    os.environ |= {"PYSPARK_PYTHON": sys.executable, "SPARK_LOCAL_IP": "127.0.0.1"}
    builder = SparkSession.builder.remote("local[2]")
    settings = {"spark.ui.enabled": "false", "spark.local.dir": folder}
    for key, value in settings.items():
        builder = builder.config(key, value)
    spark = builder.getOrCreate()
    qrels = spark.createDataFrame(QRELS, "query string, item string, grade int")
    run = spark.createDataFrame(RUN, "query string, item string, score double")
    rankine.spark.ship(spark)
    ev = rankine.spark.evaluate(qrels, run, ["AP", "RR"])
    seen: dict[str, Any] = {
        "kind": type(qrels).__module__,
        "mean": ev.mean,
        "interval": ev.interval("AP"),
        "bootstrap": ev.interval("AP", method="bootstrap"),
        "rows": sorted(tuple(row) for row in ev.per_query.collect()),
        "depth": rankine.spark.evaluate(qrels, run, "RR", depth=1).mean,
    }
    twice = run.union(run)
    try:
        rankine.spark.evaluate(qrels, twice, "AP")
    except RankineError as error:
        seen["twice"] = str(error)
    spark.stop()
    try:
        rankine.spark.evaluate(qrels, run, "AP")
    except RankineError as error:
        seen["stopped"] = str(error)
    print(json.dumps(seen))  # noqa: T201 - what the test reads


if __name__ == "__main__":
    main(sys.argv[1])
