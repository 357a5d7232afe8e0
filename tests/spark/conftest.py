"""One session of Spark for all tests here, and another network rule: it is local."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture(autouse=True)
def no_network() -> None:
    """Let Python talk with the virtual machine of Spark on this computer."""


@pytest.fixture(scope="session")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    from pyspark.sql import SparkSession  # noqa: PLC0415 - an extra

    os.environ |= {"PYSPARK_PYTHON": sys.executable, "SPARK_LOCAL_IP": "127.0.0.1"}
    folder = tmp_path_factory.mktemp("spark")
    settings = {
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.driver.memory": "2g",
        "spark.local.dir": str(folder),
        "spark.sql.warehouse.dir": str(folder / "tables"),
        "spark.sql.shuffle.partitions": "3",
    }
    builder = SparkSession.builder.master("local[2]")
    for key, value in settings.items():
        builder = builder.config(key, value)
    session = builder.getOrCreate()
    session.sparkContext.setLogLevel("OFF")
    yield session
    session.stop()


class Jobs:
    """Counts the jobs of a session since it was made."""

    def __init__(self, spark: Any, name: str) -> None:
        self._context, self._name = spark.sparkContext, name
        self._context.setJobGroup(name, name)

    def __len__(self) -> int:
        return len(self._context.statusTracker().getJobIdsForGroup(self._name))


@pytest.fixture
def jobs(spark: Any, request: pytest.FixtureRequest) -> Jobs:
    return Jobs(spark, request.node.name)
