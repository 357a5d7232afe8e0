"""What Spark says in a page is told in one sentence."""

# ruff: noqa: E501 - messages stand on one line, as the user sees them
from __future__ import annotations

import sys
from types import SimpleNamespace
from typing import Any

import pytest

from rankine._engines.jobs import in_one_sentence, run_job, run_table
from rankine.errors import (
    DataError,
    DuplicateItemError,
    FormatError,
    MissingExtraError,
    NoSpaceError,
    UnavailableError,
    UsageError,
)

ABORTED = "An error occurred while calling o88.collectToPython.\n: org.apache.spark.SparkException: Job aborted due to stage failure: {}\n\tat org.apache.spark.scheduler.DAGScheduler.abortStage(DAGScheduler.scala:3039)\n"
OURS = f"{sys.version_info[0]}.{sys.version_info[1]}"
LOST = "Task 3 in stage 1.0 failed 4 times, most recent failure: Lost task 3.3 in stage 1.0 (TID 9) (10.0.0.7 executor 4): "


@pytest.mark.parametrize(
    ("said", "kind", "message"),
    [
        (
            "Total size of serialized results of 2 tasks (80.0 KiB) is bigger than spark.driver.maxResultSize (64.0 KiB)",
            DataError,
            "the result is larger than the driver may take; raise spark.driver.maxResultSize, or leave values per query on Spark",
        ),
        (
            f"{LOST}ExecutorLostFailure (executor 4 exited caused by one of the running tasks) Reason: Command exited with code 137",
            UnavailableError,
            "Spark lost executors, and gave up after as many attempts as spark.task.maxFailures allows; their logs say why they ended",
        ),
        (
            f"{LOST}ExecutorLostFailure (executor 4 exited caused by one of the running tasks) Reason: Command exited with code 52",
            DataError,
            "Spark ran out of memory; raise spark.driver.memory or spark.executor.memory, or split the queries into more partitions",
        ),
        (
            f"{LOST}TaskResultLost (result lost from block manager)",
            DataError,
            "the driver lost a result, perhaps because it ran out of memory; raise spark.driver.memory, or leave values per query on Spark",
        ),
        (
            "Missing an output location for shuffle 16 partition 1",
            UnavailableError,
            "Spark lost executors, and gave up after as many attempts as spark.task.maxFailures allows; their logs say why they ended",
        ),
        (
            f"{LOST}org.apache.spark.SparkException: Python worker exited unexpectedly (crashed)",
            DataError,
            "a Python worker ended before its work was done, perhaps because memory ran out; give executors more with spark.executor.memoryOverhead, or split the queries into more partitions",
        ),
        (
            f"{LOST}java.io.IOException: No space left on device",
            NoSpaceError,
            "an executor cannot write to its disk (No space left on device); make room there, or name another folder with spark.local.dir",
        ),
        (
            "java.lang.OutOfMemoryError: Java heap space",
            DataError,
            "Spark ran out of memory; raise spark.driver.memory or spark.executor.memory, or split the queries into more partitions",
        ),
        (
            f"{LOST}org.apache.spark.api.python.PythonException: Traceback (most recent call last):\n  File x\nModuleNotFoundError: No module named 'pyarrow'",
            MissingExtraError,
            "the executors have no pyarrow; install it there, with a cluster library, a bootstrap action or spark.archives, or let PYSPARK_PYTHON name a Python that has it",
        ),
        (
            f"{LOST}org.apache.spark.api.python.PythonException: Traceback (most recent call last):\n  File x\nrankine.errors.DuplicateItemError: item 'a' appears twice\n",
            DuplicateItemError,
            "item 'a' appears twice",
        ),
        (
            f"{LOST}org.apache.spark.SparkException: [FAILED_READ_FILE.NO_HINT] Encountered error while reading file file:///data/run/part-0.parquet. SQLSTATE: KD001\n\tat x\nCaused by: java.lang.RuntimeException: corrupted file: the footer index is not within the file\n",
            FormatError,
            "/data/run/part-0.parquet: Spark cannot read it (corrupted file: the footer index is not within the file)",
        ),
        (
            "java.lang.RuntimeException: java.lang.ClassNotFoundException: Class org.apache.hadoop.fs.s3a.S3AFileSystem not found",
            MissingExtraError,
            "Spark has no connector for such a path; spark.jars.packages names what it loads, such as org.apache.hadoop:hadoop-aws for s3a://",
        ),
        (
            "java.lang.IllegalArgumentException: java.net.UnknownHostException: nohost",
            UnavailableError,
            "there is no host 'nohost'",
        ),
        (
            f"{LOST}org.apache.spark.api.python.PythonException: pyspark.errors.exceptions.base.PySparkRuntimeError: [PYTHON_VERSION_MISMATCH] Python in worker has different version: 3.12 than that in driver: 3.11, PySpark cannot run with different minor versions.\nPlease check environment variables PYSPARK_PYTHON and PYSPARK_DRIVER_PYTHON are correctly set.",
            UsageError,
            "the executors run Python 3.12 and the driver runs 3.11; set PYSPARK_PYTHON to a Python 3.11 that the executors have",
        ),
        (
            f'{LOST}java.io.IOException: Cannot run program "python3": error=2, No such file or directory\n\tat x\nCaused by: java.io.IOException: error=2, No such file or directory\n',
            UsageError,
            f"the executors have no Python at python3; set PYSPARK_PYTHON to a Python {OURS} that the executors have",
        ),
        (
            "[PATH_NOT_FOUND] Path does not exist: file:/data/nowhere. SQLSTATE: 42K03",
            FormatError,
            "/data/nowhere: no such file",
        ),
        (
            f"{LOST}java.lang.RuntimeException: part-0.parquet is not a Parquet file",
            DataError,
            "Spark failed: part-0.parquet is not a Parquet file",
        ),
    ],
)
def test_faults_are_told_in_one_sentence(
    said: str, kind: type[Exception], message: str
) -> None:
    error = in_one_sentence(ABORTED.format(said))

    assert type(error) is kind
    assert str(error) == message


def test_a_python_that_is_not_there_is_named_with_its_variable(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    said = 'java.io.IOException: Cannot run program "/missing/python" (in directory "."): error=2, No such file or directory'
    monkeypatch.setenv("PYSPARK_PYTHON", "/missing/python")

    assert str(in_one_sentence(ABORTED.format(said))) == (
        "the executors have no Python at /missing/python, which PYSPARK_PYTHON names; "
        f"set PYSPARK_PYTHON to a Python {OURS} that the executors have"
    )


@pytest.mark.parametrize(
    ("said", "message"),
    [
        (
            "java.lang.IllegalStateException: Cannot call methods on a stopped SparkContext.\nThis stopped SparkContext was created at:\n",
            "the cluster at spark://host:7077 cannot be reached, or ended the application; try again later",
        ),
        (
            'java.lang.NullPointerException: Cannot invoke "org.apache.spark.SparkEnv.conf()" because the return value of "org.apache.spark.SparkEnv$.get()" is null',
            "the cluster at spark://host:7077 cannot be reached, or ended the application; try again later",
        ),
        (
            "org.apache.spark.SparkException: Job 3 cancelled because SparkContext was shut down",
            "the cluster at spark://host:7077 cannot be reached, or ended the application; try again later",
        ),
        (
            "java.net.ConnectException: Call From here/127.0.0.1 to name-node:8020 failed on connection exception: java.net.ConnectException: Connection refused; For more details see: http://wiki.apache.org",
            "run.csv: name-node:8020 cannot be reached; try again later",
        ),
        (
            'status = StatusCode.UNAVAILABLE details = "failed to connect to all addresses; last error: UNKNOWN: ipv4:127.0.0.1:15002: Failed to connect to remote host: connect: Connection refused (111)"',
            "run.csv: 127.0.0.1:15002 cannot be reached; try again later",
        ),
    ],
)
def test_what_cannot_be_reached_is_named_and_may_be_tried_again(
    said: str, message: str
) -> None:
    error = in_one_sentence(ABORTED.format(said), "run.csv", "spark://host:7077")

    assert type(error) is UnavailableError
    assert error.exit_code == 5
    assert str(error) == message


ROWS = "spark.sql.execution.arrow.maxRecordsPerBatch"
BYTES = "spark.sql.execution.arrow.maxBytesPerBatch"
UNLIMITED = str(2**31 - 1)
"""What Spark takes for no limit."""


class Settings(dict[str, str]):
    """The settings of a session."""

    set = dict.__setitem__
    unset = dict.__delitem__


def session_with(settings: Settings) -> Any:
    """Return a frame of a session, whose rows say how many bytes a batch may have."""

    def collect() -> str | None:
        return settings.get(BYTES)

    return SimpleNamespace(
        sparkSession=SimpleNamespace(conf=settings), collect=collect, toArrow=collect
    )


@pytest.mark.parametrize("run", [run_job, run_table])
@pytest.mark.parametrize("before", [{}, {BYTES: "1000b"}, {ROWS: "20000"}])
def test_bytes_of_a_batch_are_not_limited_while_a_job_runs(
    run: Any, before: dict[str, str]
) -> None:
    settings = Settings(before)

    assert run(session_with(settings)) == UNLIMITED
    assert settings == before


@pytest.mark.parametrize("n_rows", ["0", "-1"])
def test_bytes_of_a_batch_stay_limited_if_its_rows_are_not(n_rows: str) -> None:
    settings = Settings({ROWS: n_rows, BYTES: "1000b"})

    assert run_job(session_with(settings)) == "1000b"  # type: ignore[comparison-overlap]


class Fixed(Settings):
    """Settings that a service does not let its users change."""

    def set(self, key: str, value: str) -> None:
        msg = f"{key} cannot be {value}"
        raise ValueError(msg)


def test_settings_that_cannot_be_changed_stay() -> None:
    settings = Fixed({BYTES: "1000b"})

    assert run_job(session_with(settings)) == "1000b"  # type: ignore[comparison-overlap]
    assert settings == {BYTES: "1000b"}


def test_a_job_that_fails_leaves_the_settings_as_they_were() -> None:
    settings = Settings()
    calls: list[None] = []

    def fail() -> None:
        calls.append(None)
        raise ZeroDivisionError

    frame = session_with(settings)
    frame.collect = fail
    with pytest.raises(ZeroDivisionError):
        run_job(frame)

    assert settings == {}
    assert len(calls) == 1
