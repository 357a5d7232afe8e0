"""One session of Spark for all tests here, which may talk to it and start processes."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

# Java compiles less, as nothing here runs for long; also that of other processes.
os.environ.setdefault("SPARK_SUBMIT_OPTS", "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC")


@pytest.fixture(autouse=True)
def no_network() -> None:
    """Let Python talk with the virtual machine of Spark on this computer."""


@pytest.fixture(autouse=True)
def no_process() -> None:
    """Let all tests start processes: they run by make spark alone."""


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
    """The jobs of a session since this was made: how many, and what they moved."""

    def __init__(self, spark: Any, name: str) -> None:
        self._context, self._name = spark.sparkContext, name
        self._context.setJobGroup(name, name)

    def _ids(self) -> list[int]:
        return list(self._context.statusTracker().getJobIdsForGroup(self._name))

    def __len__(self) -> int:
        return len(self._ids())

    def moved(self) -> dict[str, int]:
        """Return the bytes that came to the driver, and the rows that were shuffled."""
        scala = self._context._jsc.sc()  # noqa: SLF001 - only the JVM knows
        scala.listenerBus().waitUntilEmpty()
        tracker = self._context.statusTracker()
        stages = {stage for job in self._ids() for stage in _stages(tracker, job)}
        # Stages that were skipped, as what they make is there already, have no attempt.
        attempts = [scala.statusStore().lastStageAttempt(stage) for stage in stages]
        return {
            "collected": sum(attempt.resultSize() for attempt in attempts),
            "shuffled": sum(attempt.shuffleWriteRecords() for attempt in attempts),
            "bytes": sum(attempt.shuffleWriteBytes() for attempt in attempts),
        }


def _stages(tracker: Any, job: int) -> list[int]:
    info = tracker.getJobInfo(job)
    return [] if info is None else list(info.stageIds)


@pytest.fixture
def jobs(spark: Any, request: pytest.FixtureRequest) -> Jobs:
    return Jobs(spark, request.node.name)


@pytest.fixture
def as_planned(spark: Any) -> Iterator[None]:
    """Let Spark run what it is given as one job: adaptive plans make jobs of stages."""
    spark.conf.set("spark.sql.adaptive.enabled", "false")
    yield
    spark.conf.unset("spark.sql.adaptive.enabled")
