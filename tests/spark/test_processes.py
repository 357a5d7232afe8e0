"""Executors in processes of their own, one of which dies; and Spark Connect."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("pyspark", reason="needs pyspark; make spark runs these tests")

ROOT = Path(__file__).parents[2]

FULL = (
    "Spark ran out of memory; raise spark.driver.memory or spark.executor.memory, or "
    "split the queries into more partitions"
)
NO_POLARS = (
    "the executors have no polars; install it there, with a cluster library, a "
    "bootstrap action or spark.archives, or let PYSPARK_PYTHON name a Python that has "
    "it"
)
LOST = (
    "the driver lost a result, perhaps because it ran out of memory; raise "
    "spark.driver.memory, or leave values per query on Spark"
)


def printed(program: str, *arguments: str) -> dict[str, Any]:
    """Run a program, and return what it prints last."""
    env = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    ended = subprocess.run(
        [sys.executable, "-m", f"tests.spark.{program}", *arguments],
        cwd=ROOT, env=env, capture_output=True, text=True, check=False, timeout=360,
    )  # fmt: skip
    assert ended.returncode == 0, ended.stderr[-3000:]
    seen: dict[str, Any] = json.loads(ended.stdout.splitlines()[-1])
    return seen


def test_a_cluster_whose_executors_lack_packages_and_are_killed(tmp_path: Path) -> None:
    seen = printed("on_cluster", str(tmp_path))

    assert seen["executors"] == 2
    assert seen["has"] == ["polars"]
    assert seen["before"] == (
        "the executors have no rankine; install it there, or call "
        "rankine.spark.ship(spark) first"
    )
    assert seen["shipped"] == seen["memory"]
    assert seen["without polars"] == seen["ship without polars"] == NO_POLARS
    assert seen["per_query"] is True
    assert seen["running"] is True
    assert seen["killed"] == seen["memory"]
    assert seen["lost"].startswith("Spark lost executors, and gave up after ")
    assert seen["heap"] == FULL
    assert seen["after"] == seen["few"]
    assert seen["n_held"] > 10
    assert seen["driver"] in {FULL, LOST}
    todo = "was stopped; start another one, and read the data in it"
    assert seen["stopped"] == f"the Spark session of qrels {todo}"
    assert seen["ship"] == f"the Spark session {todo}"
    assert seen["values"] == f"the Spark session of this evaluation {todo}"
    code, out, err = seen["commands"]["there"]
    (record,) = json.loads(out)
    assert (code, err) == (0, "")
    assert record["metrics"]["AP"]["value"] == 1  # a comes first, and is relevant
    assert record["per_query"] == [{"query": "q", "AP": 1}]
    code, _, err = seen["commands"]["odd"]
    assert code == 3
    assert "Could not parse Master URL: 'moon:7'" in err
    assert err.count("\n") == 1
    code, out, err = seen["commands"]["away"]
    assert (code, out) == (5, "")
    away = "rankine: spark://127.0.0.1:1 cannot be reached; try again later\n"
    assert err == away
    assert seen["interrupted"] is True
    assert seen["active"] == []
    assert seen["java"] == (
        "Java, in which Spark runs, ended before the work was done, perhaps because it "
        "ran out of memory; raise spark.driver.memory"
    )
    assert seen["gone"] == f"the Spark session of qrels {todo}"


def test_connect(tmp_path: Path) -> None:
    seen = printed("on_connect", str(tmp_path))

    assert seen["kind"].startswith("pyspark.sql.connect")
    assert seen["mean"] == {"AP": ((1 + 2 / 3) / 2 + 1) / 3, "RR": 2 / 3}
    assert seen["rows"] == [["q1", (1 + 2 / 3) / 2, 1], ["q2", 1, 1], ["q3", 0, 0]]
    assert seen["depth"] == {"RR": 2 / 3}
    assert seen["interval"][0] < seen["bootstrap"][0] < seen["mean"]["AP"]
    assert seen["twice"].startswith("item ")
    assert "appears twice for query 'q" in seen["twice"]
    assert seen["stopped"].startswith("the Spark session of qrels was stopped; ")
