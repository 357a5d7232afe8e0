"""What is refused on Spark, in which words, and before a job starts where it can be."""

# ruff: noqa: E501 - messages stand on one line, as the user sees them
from __future__ import annotations

from typing import Any

import polars as pl
import pytest

import rankine as rk
from rankine.errors import DataError, MissingExtraError, RankineError

pytest.importorskip("pyspark", reason="needs pyspark; make spark runs these tests")

import rankine.spark
from rankine._engines.jobs import in_one_sentence

MEMORY = "use rankine.evaluate, which has all data at hand"
QRELS = [("q", "a", 1.0)]
RUN = [("q", "a", 0.5), ("q", "b", 0.25)]


def frames(
    spark: Any, qrels: list[Any] = QRELS, run: list[Any] = RUN
) -> tuple[Any, Any]:
    return (
        spark.createDataFrame(qrels, "query string, item string, grade double"),
        spark.createDataFrame(run, "query string, item string, score double"),
    )


@pytest.mark.parametrize(
    ("metric", "options", "message"),
    [
        ("AP", {"weights": {"q": 1}}, f"queries have no weights on Spark; {MEMORY}"),
        ("AP", {"keep": 3}, f"items are not kept on Spark; {MEMORY}"),
        ("AP", {"lenent": True}, "evaluate has no option 'lenent'; did you mean 'lenient'?"),
        ("AP", {"engine": "stream"}, "rankine.spark.evaluate always runs on Spark; leave out engine="),
        ("ILD", {}, "ILD needs features of the items; give items= or --items"),
        ("AP", {"partitions": 0}, "partitions must be an integer of at least 1, got 0"),
        ("AP", {"sequence": "at"}, "run has no column 'at', which sequence= or --sequence names; it has query, item, score"),
        ("AP", {"sequence": "item"}, "run: the column 'item', which sequence= or --sequence names, is of type string; it must hold numbers or times"),
        ("AP", {"order": "rank"}, "run has no rank column, which order='rank' needs"),
        ("ERR", {}, "ERR takes the highest grade of all judgements, but Spark computes each part of the data alone; write ERR(max_grade=4)"),
        ("AP", {"convention": "recmetrics"}, "recmetrics uses the order of rows for AP, and Spark keeps none; name a column of run that numbers the rows with sequence= or --sequence"),
    ],
)  # fmt: skip
def test_refused_before_a_job_starts(
    spark: Any, jobs: Any, metric: str, options: dict[str, Any], message: str
) -> None:
    data = frames(spark)

    with pytest.raises(RankineError) as refused:
        rankine.spark.evaluate(*data, metric, **options)

    assert str(refused.value) == message
    assert len(jobs) == 0


def test_frames_of_other_libraries_are_refused(spark: Any) -> None:
    _, run = frames(spark)

    with pytest.raises(RankineError) as refused:
        rankine.spark.evaluate({"q": {"a": 1}}, run)

    assert str(refused.value) == (
        "qrels must be a Spark DataFrame, got dict; rankine.evaluate takes data in memory"
    )


@pytest.mark.parametrize(
    ("qrels", "run", "message"),
    [
        (QRELS, [*RUN, (None, "b", 0.5)], "run: 1 query id is missing; lenient=True or --lenient drops such rows"),
        ([*QRELS, ("q", None, 1.0), ("q", "", 1.0)], RUN, "qrels: 2 item ids are missing; lenient=True or --lenient drops such rows"),
        (QRELS, [*RUN, ("q", "a", 0.1)], "item 'a' appears twice for query 'q' in run; lenient=True or --lenient keeps the best of each"),
        ([*QRELS, ("q", "a", 2.0)], RUN, "item 'a' is judged twice for query 'q' in qrels; lenient=True or --lenient keeps the largest grade of each"),
        (QRELS, [("q", "a", float("nan"))], "run: the score of item 'a' for query 'q' is not a number (1 such score in all); a ranking needs numbers that can be ordered; lenient=True or --lenient ranks such items last"),
        (QRELS, [("r", "a", 1.0)], "0 of 1 judged queries are in the run; the judgements have 'q', the run has 'r'"),
        (QRELS, [("q", "a", None)], "run: score is missing (1 such row in all)"),
        ([("q", "a", None)], RUN, "qrels: grade is missing (1 such row in all); for an item that is not judged, give -1 or drop it"),
        ([("q", "a", float("inf"))], RUN, "qrels: the grade is inf; expected a finite number"),
        ([("q", "a", 0.5)], RUN, "grades have fractions, such as 0.5, and AP needs to know which are relevant; write AP(rel=0.5), or give rel=0.5 for all metrics"),
        ([], RUN, "qrels: contains no judgements"),
        (QRELS, [], "run: contains no rows"),
    ],
)  # fmt: skip
def test_data_are_refused_in_one_sentence(
    spark: Any, qrels: list[Any], run: list[Any], message: str
) -> None:
    with pytest.raises(DataError) as refused:
        rankine.spark.evaluate(*frames(spark, qrels, run), "AP")

    assert str(refused.value) == message


@pytest.mark.parametrize(
    ("qrels", "run", "choice"),
    [
        ([*QRELS, ("r", "a", 1.0), ("s", "a", 1.0)], RUN, {"missing_run": "error"}),
        ([*QRELS, ("q", "b", -1.0)], RUN, {"negative": "error"}),
        ([*QRELS, ("r", "a", 0.0)], RUN, {"empty_truth": "error"}),
        ([("r", "a", 1.0)], RUN, {}),
    ],
    ids=["missing", "negative", "empty", "apart"],
)
def test_all_data_are_refused_in_the_words_of_memory(
    spark: Any, qrels: list[Any], run: list[Any], choice: dict[str, Any]
) -> None:
    """Whatever part of the data shows it, the numbers are those of all."""
    rule = rk.Convention(**choice)
    names = ("query", "item")
    frame = pl.DataFrame(qrels, [*names, "grade"], orient="row")
    with pytest.raises(DataError) as memory:
        rk.evaluate(
            frame, pl.DataFrame(run, [*names, "score"], orient="row"), "AP",
            convention=rule,
        )  # fmt: skip

    with pytest.raises(DataError) as refused:
        rankine.spark.evaluate(
            *frames(spark, qrels, run), "AP", convention=rule, partitions=3
        )

    assert str(refused.value) == str(memory.value)


def test_a_column_that_cannot_be_computed_is_told_in_one_sentence(spark: Any) -> None:
    qrels, run = frames(spark)
    broken = run.selectExpr(
        "query", "item", "raise_error('disk on fire') + score AS score"
    )

    with pytest.raises(DataError) as refused:
        rankine.spark.evaluate(qrels, broken, "AP")

    assert "disk on fire" in str(refused.value)
    assert "\n" not in str(refused.value)
    assert len(str(refused.value)) < 200


def test_what_executors_lack_is_named() -> None:
    told = in_one_sentence(
        "Traceback\n ModuleNotFoundError: No module named 'rankine'\n"
    )

    assert isinstance(told, MissingExtraError)
    assert str(told) == (
        "the executors have no rankine; install it there, or call "
        "rankine.spark.ship(spark) first"
    )


def test_what_is_dropped_is_counted(spark: Any) -> None:
    qrels = [*QRELS, (None, "a", 1.0)]
    run = [*RUN, (None, "b", 0.5), ("q", None, 0.5), ("q", "b", 0.7), ("q", "c", None)]
    run.append(("q", "d", float("nan")))

    ev = rankine.spark.evaluate(*frames(spark, qrels, run), "AP", lenient=True)

    # b has 0.7 now, and comes before a.
    assert ev["AP"] == 1 / 2
    notes = " | ".join(ev.notes)
    assert "qrels: 1 row without an id: dropped" in notes
    assert "run: 2 rows without an id: dropped" in notes
    assert "run: 1 row repeating an item: dropped, the best score is kept" in notes


BEYOND = (str(1 << 63), str(-(1 << 63) - 1), "1" + 30 * "0")
JUST = (str((1 << 63) - 1), str(-(1 << 63)))


def of_ints_and_texts(
    spark: Any, item: str, *, ints: str, metrics: list[str]
) -> tuple[Any, Any]:
    """Return what memory and Spark say if qrels or run has ints, and the other texts.

    What they say is the means and notes, or why the data are refused.
    """
    said: list[Any] = []
    rows = {"qrels": "grade", "run": "score"}
    frames = {
        name: pl.DataFrame(
            {"query": "q", "item": ["1"] if name == ints else ["1", item], value: 1.0}
        ).cast({"item": pl.Int64 if name == ints else pl.String})
        for name, value in rows.items()
    }
    on_spark = {
        name: spark.createDataFrame(
            frame.rows(),
            f"query string, item {'bigint' if name == ints else 'string'}, "
            f"{rows[name]} double",
        )
        for name, frame in frames.items()
    }
    calls: list[Any] = [(rk.evaluate, frames), (rankine.spark.evaluate, on_spark)]
    for evaluate, data in calls:
        try:
            ev = evaluate(*data.values(), metrics, catalog=9)
            said.append((ev.mean, [note for note in ev.notes if "text" in note]))
        except DataError as error:
            said.append(str(error))
    return said[0], said[1]


@pytest.mark.parametrize("item", BEYOND)
def test_ints_beyond_64_bits_do_not_fit_those_of_judgements(
    spark: Any, item: str
) -> None:
    memory, told = of_ints_and_texts(spark, item, ints="qrels", metrics=["R@5"])

    assert told == memory
    assert told == (
        f"item ids are Int64 in qrels, and {item} in run does not fit; give both the same type"
    )


def test_ints_beyond_64_bits_are_texts_elsewhere(spark: Any) -> None:
    cases: list[Any] = [(item, "qrels", ["R@5"]) for item in JUST]
    cases += [(BEYOND[0], "run", ["R@5"]), (BEYOND[0], "qrels", ["Coverage@5"])]
    for item, ints, metrics in cases:
        memory, told = of_ints_and_texts(spark, item, ints=ints, metrics=metrics)

        assert told[0] == memory[0]
        if metrics == ["R@5"]:
            assert told[1] == memory[1]
            assert len(told[1]) == 1
