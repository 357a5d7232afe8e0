"""Files that are broken, and Python that fails on executors, are told in a sentence."""

from __future__ import annotations

import resource
import sys
from typing import TYPE_CHECKING, Any

import pytest

from rankine.errors import DataError, NoSpaceError, RankineError, UsageError

pytest.importorskip("pyspark", reason="needs pyspark; make spark runs these tests")

import rankine.spark

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

SCHEMA = "query string, item string, score double"


def refused(spark: Any, run: Any, kind: type[RankineError] = DataError) -> str:
    qrels = spark.createDataFrame(
        [("1", "1", 1)], "query string, item string, grade int"
    )
    with pytest.raises(kind) as error:
        rankine.spark.evaluate(qrels, run, "AP")
    assert "\n" not in str(error.value)
    assert len(str(error.value)) < 400
    return str(error.value)


@pytest.fixture
def small_disk(spark: Any) -> Iterator[None]:
    """Let Java write no file of more than 100 kB, as a disk that is nearly full."""
    java = spark.sparkContext._gateway.proc.pid  # noqa: SLF001
    before = resource.prlimit(java, resource.RLIMIT_FSIZE)
    resource.prlimit(java, resource.RLIMIT_FSIZE, (100_000, before[1]))
    yield
    resource.prlimit(java, resource.RLIMIT_FSIZE, before)


@pytest.fixture
def small_results(spark: Any) -> Iterator[None]:
    """Let the driver take no more than 100 kB."""
    name = "spark.driver.maxResultSize"
    settings = spark.sparkContext._jsc.sc().conf()  # noqa: SLF001
    settings.set(name, "100k")
    yield
    settings.remove(name)


def many(spark: Any, value: str) -> Any:
    return spark.range(40_000).selectExpr(
        "concat('query', id) AS query", "uuid() AS item", f"id AS {value}"
    )


@pytest.mark.usefixtures("small_disk")
def test_shuffled_rows_that_cannot_be_written(spark: Any) -> None:
    assert refused(spark, many(spark, "score"), NoSpaceError) == (
        "an executor cannot write to its disk (File too large); make room there, or "
        "name another folder with spark.local.dir"
    )


@pytest.mark.usefixtures("small_results")
def test_values_that_the_driver_may_not_take(spark: Any) -> None:
    ev = rankine.spark.evaluate(many(spark, "grade"), many(spark, "score"), "AP")
    assert ev.n_queries == 40_000

    for call in (lambda: ev.interval("AP", method="bootstrap"), lambda: ev.collected):
        with pytest.raises(DataError) as error:
            call()

        assert str(error.value) == (
            "the result is larger than the driver may take; raise "
            "spark.driver.maxResultSize, or leave values per query on Spark"
        )


def test_a_part_of_a_folder_is_cut_short(spark: Any, tmp_path: Path) -> None:
    folder = tmp_path / "run"
    rows = spark.range(5000).selectExpr(
        "CAST(id AS STRING) AS query", "CAST(id AS STRING) AS item", "rand(1) AS score"
    )
    rows.repartition(2).write.parquet(str(folder))
    for checksum in folder.glob(".*.crc"):
        checksum.unlink()
    part = min(folder.glob("*.parquet"))
    part.write_bytes(part.read_bytes()[:-1000])

    said = refused(spark, spark.read.schema(SCHEMA).parquet(str(folder)))

    assert said.startswith(f"{part}: Spark cannot read it (")


def test_executors_with_another_python(
    spark: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The same interpreter, which says that it is another one.
    (tmp_path / "sitecustomize.py").write_text(
        "import sys, collections\n"
        "names = 'major minor micro releaselevel serial'\n"
        "made = collections.namedtuple('version_info', names)\n"
        "sys.version_info = made(3, 99, 0, 'final', 0)\n"
    )
    python = tmp_path / "python"
    python.write_text(
        f'#!/bin/sh\nPYTHONPATH="{tmp_path}:$PYTHONPATH" exec {sys.executable} "$@"\n'
    )
    python.chmod(0o755)
    monkeypatch.setattr(spark.sparkContext, "pythonExec", str(python))
    frames = (
        spark.createDataFrame([("1", "1", 1.0)], SCHEMA.replace("score", "grade")),
        spark.createDataFrame([("1", "1", 1.0)], SCHEMA),
    )

    with pytest.raises(UsageError) as error:
        rankine.spark.evaluate(*frames, "AP")

    ours = f"{sys.version_info[0]}.{sys.version_info[1]}"
    assert str(error.value) == (
        f"the executors run Python 3.99 and the driver runs {ours}; set PYSPARK_PYTHON "
        f"to a Python {ours} that the executors have"
    )


def test_executors_without_python(spark: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(spark.sparkContext, "pythonExec", "/missing/python")
    run = spark.createDataFrame([("1", "1", 1.0)], SCHEMA)

    said = refused(spark, run, UsageError)

    assert said.startswith("the executors have no Python at /missing/python")


def test_a_worker_that_ends_and_one_that_fails(spark: Any) -> None:
    def ends(batches: Iterable[Any]) -> Iterator[Any]:
        import os  # noqa: PLC0415 - this runs elsewhere

        for _ in batches:
            os._exit(3)
        yield from ()

    def fails(batches: Iterable[Any]) -> Iterator[Any]:
        for _ in batches:
            msg = "no such bucket"
            raise ValueError(msg)
        yield from ()

    run = spark.createDataFrame([("1", "1", 1.0)], SCHEMA)

    said = refused(spark, run.mapInArrow(ends, SCHEMA))
    assert said.startswith("a Python worker ended before its work was done")
    said = refused(spark, run.mapInArrow(fails, SCHEMA))
    assert said == "Spark failed: no such bucket"
