"""Spark gives the numbers of memory: any partitions, any order of rows, any ids."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

import rankine as rk
from rankine.errors import RankineError

pytest.importorskip("pyspark", reason="needs pyspark; make spark runs these tests")

import rankine.spark

if TYPE_CHECKING:
    import random

Row = tuple[Any, Any, float]
QRELS = [("q1", "a", 2), ("q1", "b", 1), ("q1", "c", 0), ("q2", "a", 1), ("q3", "z", 1)]
RUN = [
    ("q1", "b", 3.0), ("q1", "x", 2.0), ("q1", "a", 1.0),
    ("q2", "x", 2.0), ("q2", "a", 2.0), ("q9", "a", 1.0),
]  # fmt: skip
METRICS = ["nDCG@3", "AP", "RR@2", "P@2", "Rprec", "Bpref", "gm_AP", "NumRet", "SetF"]
METRICS_BY_RULE = {
    "surprise": ["FCP(weighing='pairs')", "P@2"],
    "sklearn": ["nDCG@3", "AP", "RR"],
}
BY_ROWS = "name a column of"


def of_spark(spark: Any, rows: list[Any], value: str, id_: str = "string") -> Any:
    last = ", seq int" if rows and len(rows[0]) > 3 else ""
    kind = f"query {id_}, item {id_}, {value} double{last}"
    return spark.createDataFrame([(q, i, float(v), *s) for q, i, v, *s in rows], kind)


def in_memory(rows: list[Any], value: str) -> pl.DataFrame:
    return pl.DataFrame(
        [row[:3] for row in rows], ["query", "item", value], orient="row", strict=False
    )


def numbered(rows: list[Row], order: random.Random) -> list[Any]:
    """Number rows, and put them in another order."""
    numbers = [(*row, number) for number, row in enumerate(rows)]
    order.shuffle(numbers)
    return numbers


def by_rows(rule: rk.Convention) -> bool:
    """Say whether a convention looks at the order of rows."""
    by_tie = rule.tie.startswith("input") or rule.duplicates == "last"
    return by_tie or rule.order == "given" or "given@k" in str(rule)


def test_values_by_hand(spark: Any) -> None:
    ev = rankine.spark.evaluate(
        of_spark(spark, QRELS, "grade"), of_spark(spark, RUN, "score"), ["AP", "RR@10"]
    )

    # In q2 x comes before a, as its id is larger; q3 has no list.
    assert ev.mean == {
        "AP": ((1 + 2 / 3) / 2 + 1 / 2 + 0) / 3,
        "RR@10": (1 + 1 / 2 + 0) / 3,
    }
    rows = {tuple(row) for row in ev.per_query.collect()}
    assert rows == {("q1", (1 + 2 / 3) / 2, 1.0), ("q2", 0.5, 0.5), ("q3", 0.0, 0.0)}


def test_notes_are_those_of_memory(spark: Any) -> None:
    metrics = ["nDCG@10", "P(rel=2)@5", "NumRet"]

    ev = rankine.spark.evaluate(
        of_spark(spark, QRELS, "grade"), of_spark(spark, RUN, "score"), metrics
    )
    memory = rk.evaluate(in_memory(QRELS, "grade"), in_memory(RUN, "score"), metrics)

    assert ev.notes == memory.notes
    assert ev.warnings == memory.warnings
    assert len(ev.notes) == 6


@pytest.mark.parametrize("usual", [None, "1000"])
def test_settings_of_the_session_stay(spark: Any, usual: str | None) -> None:
    setting = "spark.sql.execution.arrow.maxBytesPerBatch"
    if usual is not None:
        spark.conf.set(setting, usual)

    ev = rankine.spark.evaluate(
        of_spark(spark, QRELS, "grade"), of_spark(spark, RUN, "score"), "RR"
    )
    after = spark.conf.get(setting, None)
    spark.conf.unset(setting)

    assert ev["RR"] == (1 + 1 / 2 + 0) / 3
    assert after == usual


def test_grades_in_words_and_names_that_need_quotes(spark: Any) -> None:
    qrels = spark.createDataFrame(
        [("q1", "a", "it's `so`"), ("q1", "b", "no"), ("q2", "a", "no")],
        "`the query` string, `i.d` string, `gr``ade` string",
    )
    run = of_spark(spark, [("q1", "b", 3.0), ("q1", "a", 2.0)], "score")
    columns = {"query": "the query", "item": "i.d", "grade": "gr`ade"}

    judged = qrels.toDF("query", "item", "grade")
    options: Any = {"grades": {"it's `so`": 2, "no": 0}}
    ev = rankine.spark.evaluate(judged, run, ["RR", "CG@2"], **options)

    assert ev.mean == {"RR": (1 / 2 + 0) / 2, "CG@2": (2 + 0) / 2}
    renamed = run.toDF("the query", "i.d", "score")
    again = rankine.spark.evaluate(
        qrels, renamed, ["RR", "CG@2"], columns={**columns, "score": "score"}, **options
    )
    assert again.mean == ev.mean
    with pytest.raises(RankineError, match="not in grades="):
        rankine.spark.evaluate(judged, run, "RR", grades={"no": 0})


ids = st.sampled_from(["10", "9", "a", "B", "ä", "z1"])
ints = st.sampled_from([1, 2, 9, 10, 33])


@st.composite
def data(draw: st.DrawFn, id_: st.SearchStrategy[Any]) -> tuple[list[Row], list[Row]]:
    pairs = st.tuples(id_, id_)
    judged = draw(st.dictionaries(pairs, st.integers(0, 3), min_size=1, max_size=12))
    scores = st.sampled_from([0.25, 0.5, 0.5000000001, 1.0, -1.0])
    listed = draw(st.dictionaries(pairs, scores, min_size=1, max_size=20))
    qrels = [(*pair, float(grade)) for pair, grade in judged.items()]
    return qrels, [(*pair, number) for pair, number in listed.items()]


@settings(
    max_examples=40,
    suppress_health_check=list(HealthCheck),
    phases=(Phase.explicit, Phase.generate),  # a job takes a second
)
@given(
    st.sampled_from([(ids, "string"), (ints, "bigint")]),
    st.sampled_from(sorted(rk.conventions())),
    st.sampled_from([None, 1, 5]),
    st.sampled_from([None, None, 1, 2]),
    st.randoms(use_true_random=False),
    st.data(),
)
def test_any_partitions_and_any_order_give_the_numbers_of_memory(
    spark: Any,
    id_: tuple[st.SearchStrategy[Any], str],
    convention: str,
    partitions: int | None,
    depth: int | None,
    order: random.Random,
    drawn: st.DataObject,
) -> None:
    qrels, run = drawn.draw(data(id_[0]))
    metrics = METRICS_BY_RULE.get(convention, METRICS)
    frames = (
        of_spark(spark, numbered(qrels, order), "grade", id_[1]),
        of_spark(spark, numbered(run, order), "score", id_[1]),
    )
    options: dict[str, Any] = {"convention": convention, "depth": depth}
    try:
        memory = rk.evaluate(
            in_memory(qrels, "grade"), in_memory(run, "score"), metrics, **options
        )
    except RankineError as error:
        with pytest.raises(type(error)):
            rankine.spark.evaluate(*frames, metrics, sequence="seq", **options)
        return

    options["partitions"] = partitions
    rule = rk.conventions()[convention]
    of_metrics = (own.get("tie", "") for own in rule.overrides.values())
    if by_rows(rule) or any(tie.startswith("input") for tie in of_metrics):
        options["sequence"] = "seq"
    ev = rankine.spark.evaluate(*frames, metrics, **options)

    assert str(ev.mean) == str(memory.mean)
    rows = [row.asDict() for row in ev.per_query.collect()]
    assert sorted(rows, key=lambda row: row["query"]) == sorted(
        memory.per_query.to_dicts(), key=lambda row: row["query"]
    )
    assert set(ev.warnings) == set(memory.warnings)


@pytest.mark.parametrize("convention", sorted(rk.conventions()))
def test_a_convention_needs_an_order_of_rows_or_none(
    spark: Any, jobs: Any, convention: str
) -> None:
    """What is refused is refused by name, before a job starts; the rest is equal."""
    metrics = METRICS_BY_RULE.get(convention, ["nDCG@3", "AP"])
    frames = of_spark(spark, QRELS, "grade"), of_spark(spark, RUN, "score")
    if not by_rows(rk.conventions()[convention]):
        rankine.spark.evaluate(*frames, metrics, convention=convention)
        return

    with pytest.raises(RankineError, match=BY_ROWS) as refused:
        rankine.spark.evaluate(*frames, metrics, convention=convention)

    assert convention in str(refused.value)
    assert len(jobs) == 0


def test_the_t_interval_needs_sums_alone(spark: Any) -> None:
    frames = of_spark(spark, QRELS, "grade"), of_spark(spark, RUN, "score")
    memory = rk.evaluate(in_memory(QRELS, "grade"), in_memory(RUN, "score"), METRICS)

    ev = rankine.spark.evaluate(*frames, METRICS)

    for metric in ("nDCG@3", "AP", "NumRet", "gm_AP"):
        wanted = memory.interval(metric, method="t")
        assert tuple(ev.interval(metric)) == pytest.approx(tuple(wanted), rel=1e-12)
    assert not any("collected" in note for note in ev.notes)


def test_a_bootstrap_says_what_it_collects(spark: Any) -> None:
    frames = of_spark(spark, QRELS, "grade"), of_spark(spark, RUN, "score")
    memory = rk.evaluate(in_memory(QRELS, "grade"), in_memory(RUN, "score"), ["AP"])

    ev = rankine.spark.evaluate(*frames, ["AP"], partitions=1)

    assert ev.interval("AP", method="bootstrap") == memory.interval("AP")
    assert ev.notes[-1] == "3 values of AP (24 bytes) collected from Spark"


def test_rows_below_the_depth_are_not_shuffled(spark: Any, capsys: Any) -> None:
    frames = of_spark(spark, QRELS, "grade"), of_spark(spark, RUN, "score")

    ev = rankine.spark.evaluate(*frames, ["RR"], depth=1)
    ev.per_query.explain()

    # The first items are b, x and a.
    assert ev["RR"] == (1 + 0 + 0) / 3
    assert "WindowGroupLimit" in capsys.readouterr().out
    assert ev.notes[-1] == (
        "run: rows below rank 1 were not read, so repeated items among them were not "
        "detected"
    )


def test_ties_at_the_depth_are_decided_as_in_memory(spark: Any) -> None:
    qrels = [("q", str(item), item % 3) for item in range(30)]
    run = [("q", str(item), [2.0, 1.0, float("-inf")][item % 3]) for item in range(30)]
    for depth in (5, 15, 25):
        memory = rk.evaluate(
            in_memory(qrels, "grade"), in_memory(run, "score"), METRICS, depth=depth
        )

        ev = rankine.spark.evaluate(
            of_spark(spark, qrels, "grade"), of_spark(spark, run, "score"), METRICS,
            depth=depth,
        )  # fmt: skip

        assert ev.mean == memory.mean


def test_large_numbers_say_in_which_order_rows_were_given(spark: Any) -> None:
    begin = 1_700_000_000_000_000_000
    rows = [("q", f"d{place}", begin + place) for place in range(20)]
    run = spark.createDataFrame(rows[::-1], "query string, item string, moment bigint")
    qrels = of_spark(spark, [("q", "d1", 1)], "grade")

    ev = rankine.spark.evaluate(
        qrels, run, "RR", sequence="moment", convention=rk.Convention(order="given")
    )

    assert ev["RR"] == 1 / 2


def test_an_interval_of_one_query_is_nan(spark: Any) -> None:
    frames = of_spark(spark, QRELS[3:4], "grade"), of_spark(spark, RUN[3:5], "score")

    low, high = rankine.spark.evaluate(*frames, ["AP"]).interval("AP")

    assert math.isnan(low)
    assert math.isnan(high)


@pytest.mark.parametrize("catalog", [3, ["a", "b", "x"]])
def test_what_a_catalogue_cannot_be_compared_with_is_said(
    spark: Any, catalog: Any
) -> None:
    qrels, run = [("q", "a", 1.0)], [("q", "a", 0.5), ("r", "b", 0.5), ("r", "x", 0.4)]
    frames = of_spark(spark, qrels, "grade"), of_spark(spark, run, "score")
    memory = in_memory(qrels, "grade"), in_memory(run, "score")
    said = (
        "run: its different items are not counted on Spark; there may be more than the "
        "3 items of the catalogue"
    )

    for metric in ("AUC(universe=catalogue)", "FallOut@2"):
        ev = rankine.spark.evaluate(*frames, metric, catalog=catalog)

        assert ev.mean == rk.evaluate(*memory, metric, catalog=catalog).mean
        assert said in ev.notes
    for metric in ("AUC", "nDCG@2", "Coverage@2"):  # which do not ask, or count them
        assert (
            said not in rankine.spark.evaluate(*frames, metric, catalog=catalog).notes
        )


def test_users_are_called_so(spark: Any) -> None:
    qrels, run = (
        of_spark(spark, rows, value).withColumnRenamed("query", "user_id")
        for rows, value in ((QRELS, "grade"), (RUN, "score"))
    )
    train = {"q1": ["b"], "q2": ["c"]}

    ev = rankine.spark.evaluate(qrels, run, ["RR", "Serendipity@2"], train=train)

    assert ev.unit == "user"
    assert "by Student's t over users" in str(ev)
    assert "1 judged user missing from the run (q3): counted as 0" in ev.notes
    assert "1 judged user without a list: treated as an empty list" in ev.notes
    apart = run.where("user_id = 'q9'")
    with pytest.raises(RankineError, match="0 of 3 judged users are in the run"):
        rankine.spark.evaluate(qrels, apart, "RR")
    compared = rankine.spark.compare(qrels, {"a": run, "b": run}, "RR")
    assert "with 3 users, only large differences" in compared.warnings[0]
