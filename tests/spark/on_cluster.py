"""A program for a cluster: a master and two workers, in processes of their own.

Their executors know nothing of us. It prints what happens: before the package is sent
to them, after it, when one of them is killed in the middle of a job, when all of them
are, again and again, when they or the driver have no memory left, and when the command
runs there. On this machine, executors lack polars, then a job is interrupted, and Java
is killed during the next.
"""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import sysconfig
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

import rankine as rk
import rankine.spark
from rankine.errors import RankineError
from tests.spark.commands import ended

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

QUICK = os.environ.get("SPARK_SUBMIT_OPTS", "")
"""What makes Java quick, as conftest.py says."""
METRICS = ["nDCG@10", "AP", "RR@5", "gm_AP", "NumRet"]
N_QUERIES, N_ITEMS = 500, 40


def python_without(folder: Path, *hidden: str) -> str:
    """Return a Python that has what is installed here, but not this package.

    What is installed in place is found by files that it is told not to read.

    Args:
        folder: where to put it.
        hidden: what else it cannot import.
    """
    folder.mkdir()
    for name in hidden:
        said = f"No module named {name!r}"
        (folder / f"{name}.py").write_text(
            f"raise ModuleNotFoundError({said!r}, name={name!r})\n"
        )
    installed = sysconfig.get_paths()["purelib"]
    program = folder / "python"
    program.write_text(
        f'#!/bin/sh\nPYTHONPATH="{folder}:{installed}:$PYTHONPATH" '
        f'exec "{sys.executable}" -S "$@"\n'
    )
    program.chmod(0o755)
    return str(program)


@contextmanager
def daemon(kind: str, log: Path, *words: str) -> Iterator[None]:
    """Run a master or a worker of Spark on this machine, at any free port."""
    where = ["--host", "127.0.0.1", "--port", "0", "--webui-port", "0"]
    home = os.environ["SPARK_HOME"]
    program = [f"{home}/bin/spark-class", f"org.apache.spark.deploy.{kind}"]
    with (
        log.open("wb") as file,
        subprocess.Popen([*program, *where, *words], stdout=file, stderr=file) as java,
    ):
        try:
            yield
        finally:
            java.kill()


@contextmanager
def cluster(folder: Path) -> Iterator[str]:
    """Start a master and two workers; yield the address of the master."""
    import pyspark  # noqa: PLC0415 - an extra

    home = str(Path(pyspark.__file__).parent)
    os.environ |= {"SPARK_HOME": home, "SPARK_LOCAL_IP": "127.0.0.1"}
    os.environ |= {"SPARK_DAEMON_MEMORY": "256m", "SPARK_DAEMON_JAVA_OPTS": QUICK}
    log = folder / "master.log"
    with ExitStack() as stack:
        stack.enter_context(daemon("master.Master", log))
        until, found = time.monotonic() + 60, None
        while found is None and time.monotonic() < until:
            time.sleep(0.05)
            found = re.search(r"master at (spark://\S+)", log.read_text())
        assert found is not None, log.read_text()
        room = ["--cores", "1", "--memory", "1g", "--work-dir", str(folder / "work")]
        for number in range(2):
            log = folder / f"worker{number}.log"
            stack.enter_context(daemon("worker.Worker", log, *room, found[1]))
        yield found[1]


def session(master: str, folder: Path) -> Any:
    from pyspark.sql import SparkSession  # noqa: PLC0415 - an extra

    builder = SparkSession.builder.master(master)
    settings = {
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.driver.memory": "1g",
        "spark.executor.memory": "700m",
        "spark.executor.extraJavaOptions": QUICK,
        "spark.local.dir": str(folder),
        "spark.sql.warehouse.dir": f"{folder}/tables",
        "spark.sql.shuffle.partitions": "4",
        "spark.task.maxFailures": "2",
        # Rows that were shuffled to a lost executor are not asked for again and again.
        "spark.shuffle.io.maxRetries": "1",
        "spark.shuffle.io.retryWait": "1s",
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
        time.sleep(2)
        yield batch


def deadly(batches: Iterable[Any]) -> Iterator[Any]:
    """Kill the executor that runs this."""
    import pathlib  # noqa: PLC0415 - this runs elsewhere

    for batch in batches:
        stat = pathlib.Path(f"/proc/{os.getppid()}/stat").read_text()
        os.kill(int(stat.rpartition(")")[2].split()[1]), signal.SIGKILL)
        yield batch


def commands(master: str, folder: Path) -> dict[str, Any]:
    """Run the command on NDJSON, and with masters that there are not."""
    kind = {"qrels": "grade", "run": "score"}
    for name, column in kind.items():
        rows = [
            {"query": "q", "item": item, column: 1 + (item == "a")} for item in "ab"
        ]
        text = "".join(json.dumps(row) + "\n" for row in rows[: 1 + (name == "run")])
        (folder / f"{name}.ndjson").write_text(text)
    files = [f"{folder}/{name}.ndjson" for name in kind]
    words = ["evaluate", "--engine", "spark", *files, "-m", "AP", "-q", "--json"]
    return {
        "there": ended([*words, "--master", master]),
        "odd": ended([*words, "--master", "moon:7"]),
        "away": ended([*words, "--master", "spark://127.0.0.1:1"]),
    }


def main(folder: Path) -> None:
    os.environ["PYSPARK_PYTHON"] = python_without(folder / "bare")
    with cluster(folder) as master:
        seen = on_cluster(session(master, folder))
        seen["commands"] = commands(master, folder)
    spark = session("local[2]", folder)
    seen |= without_polars(spark, folder)
    seen |= on_this_machine(spark)
    print(json.dumps(seen))  # noqa: T201 - what the test reads


def on_cluster(spark: Any) -> dict[str, Any]:
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
    values = {row.query: row.asDict() for row in ev.per_query.collect()}
    in_memory = {row["query"]: row for row in memory.per_query.to_dicts()}
    seen["per_query"] = values == in_memory

    tracker = spark.sparkContext.statusTracker()
    with ThreadPoolExecutor(1) as pool:
        late = run.mapInArrow(slow, run.schema)
        job = pool.submit(rankine.spark.evaluate, qrels, late, METRICS)
        wait_for_stage(tracker)
        time.sleep(1)
        seen["running"] = not job.done()
        os.kill(rows[0].pid, signal.SIGKILL)
        seen["killed"] = job.result(timeout=120).mean
    # Without a shuffle before: it would be repeated, too, and such tries do not count.
    few = spark.createDataFrame(runs[:9], run.schema).coalesce(1)
    killing = few.mapInArrow(deadly, run.schema)
    truth = spark.createDataFrame(judged[:9], qrels.schema)
    seen["lost"] = refused(lambda: rankine.spark.evaluate(truth, killing, METRICS))
    seen["few"] = rankine.spark.evaluate(truth, few, METRICS).mean
    seen |= without_memory(spark, truth, few)
    spark.stop()
    seen["stopped"] = refused(lambda: rankine.spark.evaluate(qrels, run, METRICS))
    seen["ship"] = refused(lambda: rankine.spark.ship(spark))
    seen["values"] = refused(lambda: ev.interval("AP", method="bootstrap"))
    return seen


def without_memory(spark: Any, qrels: Any, run: Any) -> dict[str, Any]:
    """Fill the heap of executors, and then that of the driver, which collects."""
    large = "score + size(array_repeat(item, 250000000)) AS score"  # a gigabyte
    heavy = run.selectExpr("query", "item", large)
    seen: dict[str, Any] = {}
    seen["heap"] = refused(lambda: rankine.spark.evaluate(qrels, heavy, METRICS))
    seen["after"] = rankine.spark.evaluate(qrels, run, METRICS).mean
    lists = spark.range(1_000_000, numPartitions=4).selectExpr(
        "concat('query', id) AS query", "'a' AS item", "1 AS score"
    )
    truth = lists.selectExpr("query", "item", "score AS grade")
    ev = rankine.spark.evaluate(truth, lists, "P@1")
    held = []
    with suppress(Exception):  # once nothing is left
        while True:
            held.append(spark._jvm.java.nio.ByteBuffer.allocate(16 << 20))  # noqa: SLF001
    seen["driver"] = refused(lambda: ev.collected)
    seen["n_held"] = len(held)
    return seen


def wait_for_stage(tracker: Any) -> None:
    """Wait until a job runs, or for a minute."""
    until = time.monotonic() + 60
    while not tracker.getActiveStageIds() and time.monotonic() < until:
        time.sleep(0.05)


def without_polars(spark: Any, folder: Path) -> dict[str, Any]:
    """Let executors have no polars for a while."""
    qrels = spark.createDataFrame(
        [("q", "a", 1)], "query string, item string, grade int"
    )
    run = qrels.withColumnRenamed("grade", "score")
    context, seen = spark.sparkContext, {}
    usual, context.pythonExec = (
        context.pythonExec,
        python_without(folder / "no", "polars"),
    )
    seen["ship without polars"] = refused(lambda: rankine.spark.ship(spark))
    seen["without polars"] = refused(lambda: rankine.spark.evaluate(qrels, run, "AP"))
    context.pythonExec = usual
    return seen


def on_this_machine(spark: Any) -> dict[str, Any]:
    """Interrupt a job as Ctrl-C does, and kill Java during the next."""
    schema = "query string, item string, {} double"
    qrels = spark.createDataFrame([("q", "a", 1.0)], schema.format("grade"))
    run = spark.createDataFrame([("q", "a", 1.0)] * 4, schema.format("score"))
    late = run.repartition(4).mapInArrow(slow, run.schema)
    tracker = spark.sparkContext.statusTracker()
    java = spark.sparkContext._gateway.proc.pid  # noqa: SLF001

    def once_running(act: Callable[[], None]) -> None:
        wait_for_stage(tracker)
        act()

    seen: dict[str, Any] = {"interrupted": False}
    with ThreadPoolExecutor(1) as pool:
        pool.submit(once_running, lambda: os.kill(os.getpid(), signal.SIGINT))
        try:
            rankine.spark.evaluate(qrels, late, "AP")
        except KeyboardInterrupt:
            seen["interrupted"] = True
        until = time.monotonic() + 4  # all tasks together take longer
        while tracker.getActiveJobsIds() and time.monotonic() < until:
            time.sleep(0.05)
        seen["active"] = list(tracker.getActiveJobsIds())
        pool.submit(once_running, lambda: os.kill(java, signal.SIGKILL))
        seen["java"] = refused(lambda: rankine.spark.evaluate(qrels, late, "AP"))
    seen["gone"] = refused(lambda: rankine.spark.evaluate(qrels, run, "AP"))
    return seen


def refused(call: Callable[[], Any]) -> str:
    try:
        call()
    except RankineError as error:
        return str(error)
    return ""


if __name__ == "__main__":
    main(Path(sys.argv[1]))
