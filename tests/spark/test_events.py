"""Events on Spark come to the numbers of memory, however they are partitioned."""

# ruff: noqa: E501 - messages stand on one line, as the user sees them
from __future__ import annotations

import random
from datetime import UTC, datetime, timedelta
from typing import Any

import polars as pl
import pytest

import rankine as rk
from rankine.errors import RankineError

pytest.importorskip("pyspark", reason="needs pyspark; make spark runs these tests")

import rankine.spark

START = datetime(2026, 3, 1, tzinfo=UTC)
SCHEMA = "user_id {}, timestamp timestamp, event string, variant string, value double, country string"
NAMES = ["user_id", "timestamp", "event", "variant", "value", "country"]


def log(seed: int, *, ints: bool = True) -> list[Any]:
    """Draw events of sixty users: some return, some are in two variants."""
    draw = random.Random(seed)  # noqa: S311 - no secret
    rows = []
    for number in range(60):
        user: Any = number if ints else f"user {number}"
        moment = START + timedelta(hours=draw.randrange(48))
        for _ in range(draw.randrange(1, 12)):
            moment += timedelta(seconds=draw.randrange(1, 4000), milliseconds=number)
            kind = draw.choice(["impression", "impression", "click", "purchase"])
            value = float(draw.randrange(1, 50)) if kind == "purchase" else None
            variant = draw.choice("AB") if number % 17 == 0 else "AB"[number % 2]
            rows.append(
                (user, moment, kind, variant, value, "dk" if number % 3 else "se")
            )
    rows.append(rows[3])  # the same event again
    draw.shuffle(rows)
    return rows  # fmt: skip


def of_spark(spark: Any, rows: list[Any], *, ints: bool = True) -> Any:
    return spark.createDataFrame(rows, SCHEMA.format("bigint" if ints else "string"))


def in_memory(rows: list[Any]) -> pl.DataFrame:
    return pl.DataFrame(rows, NAMES, orient="row")


@pytest.mark.parametrize(
    ("seed", "options", "partitions"),
    [
        (1, {}, 1),
        (2, {"segment": "country", "daily": True}, 5),
        (3, {"by": None, "duplicates": "keep", "session_gap": 5}, 7),
        (4, {"by": "country", "unit": "sessions"}, None),
        (5, {"hourly": True, "timezone": "Asia/Kolkata", "window": 0.01}, 6),
    ],
)
def test_summaries_are_those_of_memory(
    spark: Any, seed: int, options: dict[str, Any], partitions: int | None
) -> None:
    ints = seed % 2 == 0
    rows = log(seed, ints=ints)
    memory = rk.online.summarize(in_memory(rows), **options)

    summary = rankine.spark.summarize(
        of_spark(spark, rows, ints=ints), partitions=partitions, **options
    )

    assert summary.table.equals(memory.table)
    assert summary.excluded == memory.excluded
    assert sorted(summary.notes) == sorted(memory.notes)


def test_a_rate_by_hand(spark: Any) -> None:
    rows = [
        (1, START, "impression", "A", None, "dk"),
        (1, START + timedelta(seconds=5), "click", "A", None, "dk"),
        (2, START, "impression", "A", None, "dk"),
        (3, START, "impression", "B", None, "dk"),
    ]

    summary = rankine.spark.summarize(of_spark(spark, rows), ["ctr"], partitions=3)

    # One click on two impressions; none on one.
    assert summary.table["value"].to_list() == [1 / 2, 0 / 1]


def test_tests_are_those_of_memory(spark: Any) -> None:
    rows = log(5)
    memory = rk.online.ab_test(in_memory(rows), control="A")

    total = rankine.spark.accumulate(of_spark(spark, rows), partitions=4)
    test = rk.online.ab_test(total, control="A")

    assert test.table.equals(memory.table)
    assert test.to_dict() == memory.to_dict()


@pytest.mark.parametrize(
    ("columns", "options", "message"),
    [
        (["event"], {}, "events has no column for the user"),
        (NAMES, {"by": "city"}, "events has no column"),
        (NAMES, {"session_gap": -1}, "session_gap must be"),
        (NAMES, {"partitions": 0}, "partitions must be an integer of at least 1, got 0"),
    ],
)  # fmt: skip
def test_refused_before_a_job_starts(
    spark: Any, jobs: Any, columns: list[str], options: dict[str, Any], message: str
) -> None:
    events = of_spark(spark, log(1)).select(*columns)

    with pytest.raises(RankineError) as refused:
        rankine.spark.summarize(events, **options)

    assert str(refused.value).startswith(message)
    assert len(jobs) == 0


def test_frames_of_other_libraries_and_empty_ones_are_refused(spark: Any) -> None:
    with pytest.raises(RankineError, match="must be a Spark DataFrame, got DataFrame"):
        rankine.spark.summarize(in_memory(log(1)))
    with pytest.raises(RankineError, match=r"^events has no events$"):
        rankine.spark.summarize(of_spark(spark, []))


def test_events_that_cannot_be_used_are_told_in_the_words_of_memory(spark: Any) -> None:
    rows = [(*row, "EUR" if row[0] % 2 else "DKK") for row in log(2) if row[4]]
    frame = pl.DataFrame(rows, [*NAMES, "currency"], orient="row")
    with pytest.raises(RankineError) as wanted:
        rk.online.summarize(frame)
    schema = f"{SCHEMA.format('bigint')}, currency string"
    for partitions in (1, 6):
        events = spark.createDataFrame(rows, schema)
        with pytest.raises(type(wanted.value)) as refused:
            rankine.spark.summarize(events, partitions=partitions)

        assert "currenc" in str(refused.value)
        assert "\n" not in str(refused.value)
