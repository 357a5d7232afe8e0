"""Rows below the largest cutoff stay where they are, if nothing looks at them."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

import rankine as rk
from rankine.errors import RankineError

pytest.importorskip("pyspark", reason="needs pyspark; make spark runs these tests")

import rankine.spark

COUNTED = rk.Convention(duplicates="count")
SINGLE = rk.Convention(duplicates="set", score_bits=32, tie="id_asc")
CUT = ["nDCG@3", "RR@2", "P@2", "Judged@1", "F@3"]
Row = tuple[str, str, float]


def of_spark(spark: Any, rows: list[Row], value: str, last: str = "") -> Any:
    kind = f"query string, item string, {value} double{last}"
    return spark.createDataFrame(rows, kind)


def in_memory(rows: list[Row], value: str) -> pl.DataFrame:
    return pl.DataFrame(rows, ["query", "item", value], orient="row")


def is_cut(ev: Any, capsys: Any) -> bool:
    ev.per_query.explain()
    return "WindowGroupLimit" in capsys.readouterr().out


@st.composite
def data(draw: st.DrawFn) -> tuple[list[Row], list[Row]]:
    """Draw judgements, and lists with ties in one precision or both, and repeats."""
    pair = st.tuples(st.sampled_from("qrs"), st.sampled_from("abcdefgh"))
    judged = draw(st.dictionaries(pair, st.sampled_from([0.0, 1.0, 2.0]), min_size=1))
    score = st.sampled_from([0.5, 0.5000000001, 1.0, 2.0, -0.0, 0.0, float("-inf")])
    listed = draw(st.lists(st.tuples(pair, score), min_size=1, max_size=30))
    # Sorted, as notes name the first queries.
    qrels = [(*where, grade) for where, grade in sorted(judged.items())]
    return qrels, [(*where, number) for where, number in sorted(listed)]


@settings(
    max_examples=20,
    suppress_health_check=list(HealthCheck),
    phases=(Phase.explicit, Phase.generate),  # a job takes a second
)
@given(data(), st.sampled_from([COUNTED, SINGLE, "replay"]), st.data())
def test_numbers_notes_and_warnings_are_those_of_memory(
    spark: Any, drawn: tuple[list[Row], list[Row]], rule: Any, more: st.DataObject
) -> None:
    qrels, run = drawn
    value = more.draw(st.sampled_from(["rank", "score"]))
    metrics = CUT[:3] if rule == "replay" else CUT
    try:
        memory = rk.evaluate(
            in_memory(qrels, "grade"), in_memory(run, value), metrics, convention=rule
        )
    except RankineError as error:
        with pytest.raises(type(error)):
            rankine.spark.evaluate(
                of_spark(spark, qrels, "grade"), of_spark(spark, run, value), metrics,
                convention=rule,
            )  # fmt: skip
        return

    ev = rankine.spark.evaluate(
        of_spark(spark, qrels, "grade"), of_spark(spark, run, value), metrics,
        convention=rule,
    )  # fmt: skip

    assert str(ev.mean) == str(memory.mean)
    assert sorted(ev.notes) == sorted(memory.notes)
    assert ev.warnings == memory.warnings
    rows = [row.asDict() for row in ev.per_query.collect()]
    assert sorted(rows, key=lambda row: row["query"]) == sorted(
        memory.per_query.to_dicts(), key=lambda row: row["query"]
    )


QRELS = [("q", "a", 1.0), ("q", "d", 1.0)]
RUN = [("q", item, -float(place)) for place, item in enumerate("abcd")]


@pytest.mark.parametrize(
    ("metrics", "rule", "options", "cut"),
    [
        (["P@2", "RR@3"], COUNTED, {}, "cut"),
        (["P@2", "AP"], COUNTED, {}, "whole"),
        # A repeated item must be refused, wherever it stands.
        (["P@2"], "rankine", {}, "whole"),
        (["P@2"], "rankine", {"depth": 3}, "cut"),
        (["P@2"], COUNTED, {"lenient": True}, "whole"),
        (["P@2"], COUNTED.replace(score_floor=-5), {}, "whole"),
        (["P@2"], COUNTED.replace(unjudged="removed"), {}, "whole"),
        (["P@2"], COUNTED.replace(duplicates="last"), {"sequence": "seq"}, "whole"),
        # An ideal made of what was retrieved, and ranks used as numbers.
        (["nDCG(ideal='retrieved')@2"], COUNTED, {}, "whole"),
        (["P@2"], COUNTED.replace(order="rank_value"), {}, "whole"),
    ],
)
def test_lists_are_cut_where_nothing_below_matters(
    spark: Any, capsys: Any, metrics: Any, rule: Any, options: Any, cut: str
) -> None:
    rows: list[Any] = [(*row, place + 1) for place, row in enumerate(RUN)]
    name = "rank" if getattr(rule, "order", "") == "rank_value" else "seq"
    run = of_spark(spark, rows, "score", f", {name} int")
    qrels = of_spark(spark, QRELS, "grade")

    ev = rankine.spark.evaluate(qrels, run, metrics, convention=rule, **options)

    assert is_cut(ev, capsys) is (cut == "cut")
    if "P@2" in metrics:
        # Of a and d, only a is among the first two, unless b and c are taken out.
        unjudged = getattr(rule, "unjudged", "")
        assert ev["P@2"] == (2 / 2 if unjudged == "removed" else 1 / 2)


def test_texts_beside_ints_are_looked_through(spark: Any) -> None:
    qrels = spark.createDataFrame(
        [("q", 1, 1.0)], "query string, item int, grade double"
    )
    rows = [("q", "1", 2.0), ("q", "x", 1.0)]

    with pytest.raises(RankineError, match="such as 'x'"):
        rankine.spark.evaluate(
            qrels, of_spark(spark, rows, "score"), "P@1", convention=COUNTED
        )


@pytest.mark.parametrize("depth", [None, 2])
def test_whether_a_judged_item_is_in_the_run_is_looked_for_below(
    spark: Any, depth: int | None
) -> None:
    qrels = [("q", "d", 1.0), ("r", "z", 1.0)]
    options: dict[str, Any] = {"convention": COUNTED, "depth": depth}
    for run in (RUN, RUN[:3]):
        memory = rk.evaluate(
            in_memory(qrels, "grade"), in_memory(run, "score"), "P@2", **options
        )

        ev = rankine.spark.evaluate(
            of_spark(spark, qrels, "grade"), of_spark(spark, run, "score"), "P@2",
            **options,
        )  # fmt: skip

        assert (ev.notes, ev.warnings) == (memory.notes, memory.warnings)
        said = "no judged item is in the run" in " | ".join(ev.warnings)
        assert said is (len(run) < len(RUN))
