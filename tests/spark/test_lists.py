"""Metrics of lists on Spark have the numbers and notes of memory."""

# ruff: noqa: E501 - messages stand on one line, as the user sees them
from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

import rankine as rk
from rankine.errors import ParameterError, RankineError

pytest.importorskip("pyspark", reason="needs pyspark; make spark runs these tests")

import rankine.spark

if TYPE_CHECKING:
    import random

MEMORY = "use rankine.evaluate, which has all data at hand"
QRELS = [("q1", "a", 1.0), ("q1", "d", 1.0), ("q2", "a", 1.0), ("q3", "b", 1.0)]
RUN = [
    ("q1", "a", 3.0), ("q1", "b", 2.0), ("q2", "a", 2.0), ("q2", "c", 1.0),
    ("q9", "b", 1.0),
]  # fmt: skip
TRAIN = {"q1": ["b"], "q2": ["a", "b"], "q5": ["a", "c", "e"]}
ITEMS = {
    "a": [1.0, 0.0],
    "b": [0.0, 1.0],
    "c": [1.0, 1.0],
    "d": [2.0, 1.0],
    "e": [0.5, 3.0],
}
KNOWN: dict[str, Any] = {"train": TRAIN, "items": ITEMS, "catalog": list("abcdef")}
EVERY = [
    "Coverage@2", "Coverage", "Gini@2", "Entropy", "GiniSimpson", "UserCoverage",
    "InterListDiversity@2", "ILD@2", "Novelty@2", "EPC@2", "Popularity", "LongTail@2",
    "Unexpectedness@2", "Serendipity@2", "SufficientReco@2",
]  # fmt: skip


def of_spark(spark: Any, rows: list[Any], value: str) -> Any:
    return spark.createDataFrame(rows, f"query string, item string, {value} double")


def in_memory(rows: list[Any], value: str) -> pl.DataFrame:
    return pl.DataFrame(rows, ["query", "item", value], orient="row")


def test_numbers_by_hand(spark: Any) -> None:
    ev = rankine.spark.evaluate(
        None, of_spark(spark, RUN, "score"), ["Coverage", "SufficientReco@2"],
        catalog=5, partitions=3,
    )  # fmt: skip

    # a, b and c of five items are shown; two of three lists have two items.
    assert ev.mean == {"Coverage": 3 / 5, "SufficientReco@2": 2 / 3}
    rows = {tuple(row) for row in ev.per_query.collect()}
    assert rows == {("q1", None, 1.0), ("q2", None, 1.0), ("q9", None, 0.0)}
    assert all(map(math.isnan, ev.interval("Coverage")))


ids = st.sampled_from(["10", "9", "a", "b", "c", "ä"])


@settings(
    max_examples=10,
    suppress_health_check=list(HealthCheck),
    phases=(Phase.explicit, Phase.generate),  # a job takes a second
)
@given(
    st.dictionaries(st.tuples(ids, ids), st.sampled_from([0.0, 1.0]), min_size=1),
    st.dictionaries(
        st.tuples(ids, ids), st.sampled_from([0.5, 1.0, 2.0]), min_size=1, max_size=25
    ),
    st.sampled_from([None, 1, 2]),
    st.randoms(use_true_random=False),
)
def test_any_lists_have_the_numbers_and_notes_of_memory(
    spark: Any,
    judged: dict[tuple[str, str], float],
    listed: dict[tuple[str, str], float],
    depth: int | None,
    order: random.Random,
) -> None:
    # Sorted, as notes name the first queries.
    qrels = [(*pair, grade) for pair, grade in sorted(judged.items())]
    run = [(*pair, score) for pair, score in sorted(listed.items())]
    metrics = ["nDCG@2", "AP", *EVERY]
    known = {**KNOWN, "catalog": [*"abcdef", "10", "9", "ä"], "depth": depth}
    try:
        memory = rk.evaluate(
            in_memory(qrels, "grade"), in_memory(run, "score"), metrics, **known
        )
    except RankineError as error:
        memory, refused = None, error
    order.shuffle(run)
    frames = of_spark(spark, qrels, "grade"), of_spark(spark, run, "score")
    if memory is None:
        with pytest.raises(type(refused)):
            rankine.spark.evaluate(*frames, metrics, partitions=3, **known)
        return

    ev = rankine.spark.evaluate(*frames, metrics, partitions=3, **known)

    assert str(ev.mean) == str(memory.mean)
    assert sorted(ev.notes) == sorted(memory.notes)
    assert ev.warnings == memory.warnings
    apart = ["InterListDiversity@2", "UserCoverage"]
    rows = {row.query: row.asDict() for row in ev.per_query.drop(*apart).collect()}
    values = memory.per_query.drop(apart).to_dicts()
    assert rows == {row["query"]: row for row in values}


@pytest.mark.parametrize(
    ("qrels", "metrics", "options"),
    [
        (None, ["Coverage@1", "Entropy"], {"catalog": 9}),
        (None, ["Novelty", "Popularity@1"], {"train": TRAIN}),
        (QRELS, ["Serendipity@2", "UserCoverage"], {"train": TRAIN}),
        (QRELS, ["Coverage"], {"catalog": ["a"]}),
        (QRELS, ["Intersection@2"], {"reference": {"q1": ["b", "a"], "q4": ["a"]}}),
        (QRELS, ["TopicDiversity", "SubtopicRecall"], {"items": {"a": "x", "b": "y"}}),
        (QRELS, ["UserCoverage", "RR"], {"convention": "recommenders", "sequence": "score"}),
        (QRELS, ["Coverage", "P@2"], {"catalog": 7, "convention": "rectools", "sequence": "score"}),
    ],
)  # fmt: skip
def test_what_is_known_is_used_as_in_memory(
    spark: Any, qrels: Any, metrics: list[str], options: dict[str, Any]
) -> None:
    rest = {name: data for name, data in options.items() if name != "sequence"}
    memory = rk.evaluate(
        None if qrels is None else in_memory(qrels, "grade"), in_memory(RUN, "score"),
        metrics, **rest,
    )  # fmt: skip

    ev = rankine.spark.evaluate(
        None if qrels is None else of_spark(spark, qrels, "grade"),
        of_spark(spark, RUN, "score"), metrics, partitions=4, **options,
    )  # fmt: skip

    assert str(ev.mean) == str(memory.mean)
    assert sorted(ev.notes) == sorted(memory.notes)
    assert ev.warnings == memory.warnings


@pytest.mark.parametrize(
    ("metric", "options", "message"),
    [
        ("AP", {}, "AP needs judgements, but there are none"),
        ("Coverage", {}, "Coverage needs the catalogue; give catalog= or --catalog, or else train= or items="),
        ("InterListDiversity(sample=2)", {}, f"InterListDiversity(sample=2) draws from all lists, which stay on Spark; {MEMORY}"),
        ("InterListDiversity(distance='jaccard')", {}, "InterListDiversity(distance='jaccard') looks at all pairs of lists, but Spark computes each part of the data alone; write InterListDiversity(distance='cosine')"),
        ("Novelty", {"train": "frame"}, "train is a Spark DataFrame, and every executor needs all of it; give it in memory, as train.toPandas() does"),
    ],
)  # fmt: skip
def test_refused_before_a_job_starts(
    spark: Any, jobs: Any, metric: str, options: dict[str, Any], message: str
) -> None:
    run = of_spark(spark, RUN, "score")
    options = {name: run if name == "train" else data for name, data in options.items()}

    with pytest.raises(ParameterError) as refused:
        rankine.spark.evaluate(None, run, metric, **options)

    assert str(refused.value) == message
    assert len(jobs) == 0


def test_subtopics_of_judgements_are_not_read(spark: Any) -> None:
    with pytest.raises(ParameterError, match="needs the topics of items on Spark"):
        rankine.spark.evaluate(
            of_spark(spark, QRELS, "grade"), of_spark(spark, RUN, "score"),
            "SubtopicRecall",
        )  # fmt: skip


@pytest.mark.parametrize(
    ("qrels", "run", "options"),
    [
        (QRELS, RUN, {"catalog": 2}),
        ([("q8", "a", 1.0)], RUN, {"train": TRAIN}),
        (QRELS, [*RUN, ("q1", "a", 1.0)], {"train": TRAIN}),
    ],
    ids=["catalogue", "apart", "twice"],
)
def test_data_are_refused_in_the_words_of_memory(
    spark: Any, qrels: Any, run: Any, options: dict[str, Any]
) -> None:
    metrics = ["Coverage"] if "catalog" in options else ["Serendipity"]
    with pytest.raises(RankineError) as wanted:
        rk.evaluate(
            in_memory(qrels, "grade"), in_memory(run, "score"), metrics, **options
        )

    with pytest.raises(type(wanted.value)) as refused:
        rankine.spark.evaluate(
            of_spark(spark, qrels, "grade"), of_spark(spark, run, "score"), metrics,
            partitions=4, **options,
        )  # fmt: skip

    words = str(wanted.value).split(";")[0].split(" in run")[0]
    assert str(refused.value).startswith(words.split(", row")[0])
