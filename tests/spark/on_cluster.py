"""A program for two executors that are processes of their own, and know nothing of us.

It prints what happens: before the package is sent to them, after it, and when one of
them is killed in the middle of a job.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

import rankine as rk
import rankine.spark
from rankine.errors import RankineError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

METRICS = ["nDCG@10", "AP", "RR@5", "gm_AP", "NumRet"]
N_QUERIES, N_ITEMS = 500, 40


def session(folder: str) -> Any:
    import pyspark  # noqa: PLC0415 - an extra
    from pyspark.sql import SparkSession  # noqa: PLC0415

    home = str(Path(pyspark.__file__).parent)
    os.environ |= {"SPARK_HOME": home, "SPARK_LOCAL_IP": "127.0.0.1"}
    os.environ["PYSPARK_PYTHON"] = sys.argv[1]
    builder = SparkSession.builder.master("local-cluster[2,1,1024]")
    settings = {
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.driver.memory": "1g",
        "spark.executor.memory": "700m",
        "spark.local.dir": folder,
        "spark.sql.warehouse.dir": f"{folder}/tables",
        "spark.sql.shuffle.partitions": "4",
    }
    for key, value in settings.items():
        builder = builder.config(key, value)
    spark = builder.getOrCreate()
    spark.sparkContext.setLogLevel("OFF")
    return spark


def probed(batches: Iterable[Any]) -> Iterator[Any]:
    """Say which process this executor is, and what it can import."""
    import importlib.util  # noqa: PLC0415 - this runs elsewhere
    import pathlib  # noqa: PLC0415

    import pyarrow as pa  # noqa: PLC0415

    for _ in batches:
        daemon = os.getppid()
        stat = pathlib.Path(f"/proc/{daemon}/stat").read_text()
        parent = int(stat.rpartition(")")[2].split()[1])
        names = [x for x in ("polars", "rankine") if importlib.util.find_spec(x)]
        yield pa.RecordBatch.from_pydict({"pid": [parent], "has": [",".join(names)]})


def slow(batches: Iterable[Any]) -> Iterator[Any]:
    import time  # noqa: PLC0415 - this runs elsewhere

    for batch in batches:
        time.sleep(1.5)
        yield batch


def main(folder: str) -> None:
    spark = session(folder)
    runs = [
        (f"q{query}", f"d{item}", float(item * query % 7))
        for query in range(N_QUERIES)
        for item in range(N_ITEMS)
    ]
    judged = [(*row[:2], float(number % 3)) for number, row in enumerate(runs[::5])]
    schema = "query string, item string, {} double"
    qrels = spark.createDataFrame(judged, schema.format("grade")).repartition(3)
    run = spark.createDataFrame(runs, schema.format("score")).repartition(6)
    memory = rk.evaluate(
        pl.DataFrame(judged, ["query", "item", "grade"], orient="row"),
        pl.DataFrame(runs, ["query", "item", "score"], orient="row"),
        METRICS,
    )
    frame = spark.range(8, numPartitions=4)
    rows = frame.mapInArrow(probed, "pid long, has string").collect()
    seen: dict[str, Any] = {
        "memory": memory.mean,
        "executors": len({row.pid for row in rows}),
        "has": sorted({row.has for row in rows}),
    }
    try:
        rankine.spark.evaluate(qrels, run, METRICS)
    except RankineError as error:
        seen["before"] = str(error)
    rankine.spark.ship(spark)
    ev = rankine.spark.evaluate(qrels, run, METRICS)
    seen["shipped"] = ev.mean
    seen["lists"] = refused(
        lambda: rankine.spark.evaluate(qrels, run, "Coverage@5", catalog=1000)
    )
    values = {row.query: row.asDict() for row in ev.per_query.collect()}
    in_memory = {row["query"]: row for row in memory.per_query.to_dicts()}
    seen["per_query"] = values == in_memory

    tracker = spark.sparkContext.statusTracker()
    with ThreadPoolExecutor(1) as pool:
        late = run.mapInArrow(slow, run.schema)
        job = pool.submit(rankine.spark.evaluate, qrels, late, METRICS)
        while not tracker.getActiveStageIds():
            time.sleep(0.05)
        time.sleep(1)
        seen["running"] = not job.done()
        os.kill(rows[0].pid, signal.SIGKILL)
        seen["killed"] = job.result(timeout=120).mean
    spark.stop()
    seen["stopped"] = refused(lambda: rankine.spark.evaluate(qrels, run, METRICS))
    seen["ship"] = refused(lambda: rankine.spark.ship(spark))
    seen["values"] = refused(lambda: ev.interval("AP", method="bootstrap"))
    print(json.dumps(seen))  # noqa: T201 - what the test reads


def refused(call: Callable[[], Any]) -> str:
    try:
        call()
    except RankineError as error:
        return str(error)
    return ""


if __name__ == "__main__":
    main(sys.argv[2])
