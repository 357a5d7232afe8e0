"""Numbers by hand where tools take other parameters, and which metrics they have."""

from __future__ import annotations

from math import log, log2
from typing import Any

import polars as pl
import pytest

import rankine as rk
from rankine.errors import DataError

GRADED = {"q": {"a": 3, "b": 1, "c": 0}}
SHOWN = {"q": ["a", "x", "b"]}
SUBTOPICS = pl.DataFrame(
    [
        ("q", "war", "a", 1),
        ("q", "war", "b", 1),
        ("q", "love", "c", 1),
        ("barren", "war", "a", 0),
        ("missing", "war", "a", 1),
    ],
    ["query", "subtopic", "item", "grade"],
    orient="row",
)


def value(qrels: Any, run: Any, metric: str, name: str) -> float:
    ev = rk.evaluate(qrels, run, metric, convention=name)
    assert ev.warnings == ()
    return ev[metric]


# ir_measures: gdeval's ERR, on a scale up to 4


def test_err_is_that_of_gdeval() -> None:
    # p = (2^3 - 1) / 2^4 and (2^1 - 1) / 2^4, at ranks 1 and 3.
    wanted = 7 / 16 + (1 - 7 / 16) * (1 / 16) / 3

    assert value(GRADED, SHOWN, "ERR@3", "ir_measures") == pytest.approx(wanted)


def test_gdeval_refuses_a_grade_above_4() -> None:
    with pytest.raises(DataError, match="a grade of 5 is above max_grade=4"):
        rk.evaluate({"q": {"a": 5}}, SHOWN, "ERR@3", convention="ir_measures")


def test_a_scale_that_is_given_goes_before_that_of_gdeval() -> None:
    ev = rk.evaluate(GRADED, SHOWN, "ERR(max_grade=3)@1", convention="ir_measures")

    assert ev["ERR(max_grade=3)@1"] == 7 / 8


# ir_measures: ndeval's metrics of subtopics


@pytest.mark.parametrize(
    ("metric", "wanted"),
    [
        # War at ranks 1 and 2, love not at all; a perfect list has 1/2 and 1/8.
        ("ERR_IA@2", (1 / 2 + 1 / 2 * 1 / 4) / 2 / (1 / 2 + 1 / 8)),
        ("alpha_nDCG@2", (1 + 0.5 / log2(3)) / (1 + 1 / log2(3))),
        ("SubtopicRecall@2", 1 / 2),
    ],
)
def test_subtopics_are_those_of_ndeval(metric: str, wanted: float) -> None:
    # A query without relevant subtopics counts 0, and so does one without a list.
    run = {"q": ["a", "b"], "barren": ["a"]}

    found = value(SUBTOPICS, run, metric, "ir_measures")

    assert found == pytest.approx(wanted / 3)


@pytest.mark.parametrize(
    ("metric", "wanted"),
    [
        ("ERR_IA(scale='none')@2", (1 / 2 + 1 / 8) / 2),
        ("ERR_IA(scale='perfect')@2", 1 / 2),
        ("ERR_IA(scale='perfect')@1", 1 / 2),
        # A list can go on for ever: the sum of 2^-r / r is the logarithm of 2.
        ("ERR_IA(scale='perfect')", (1 / 2 + 1 / 8) / 2 / log(2)),
        # With grade 1 of 2 an item satisfies 1/4; at best it would satisfy 3/4.
        (
            "ERR_IA(scale='perfect',max_grade=2)@2",
            (1 / 4 + 3 / 4 * 1 / 4 / 2) / 2 / (3 / 4 + 1 / 4 * 3 / 4 / 2),
        ),
    ],
)
def test_a_share_of_a_perfect_list(metric: str, wanted: float) -> None:
    qrels = SUBTOPICS.filter(pl.col("query") == "q")

    ev = rk.evaluate(qrels, {"q": ["a", "b"]}, metric)

    assert ev[metric] == pytest.approx(wanted)


def test_with_empty_lists_every_query_counts_0() -> None:
    run: dict[str, list[str]] = {query: [] for query in GRADED}

    assert rk.evaluate(GRADED, run, "RR@3", convention="ir_measures")["RR@3"] == 0


# ranx


@pytest.mark.parametrize(
    ("metric", "wanted"),
    [
        ("RBP(p=0.5)", 0.5 * (3 + 1 / 4)),
        ("RBP(p=0.9)", 0.1 * (3 + 0.9**2)),
        ("DCG@3", 3 + 1 / log2(4)),
        ("DCG(gain='exponential')@3", 7 + 1 / log2(4)),
        ("IPrec@0.5", 1.0),
        ("IPrec@1", 2 / 3),
    ],
)
def test_ranx_weighs_by_the_grade(metric: str, wanted: float) -> None:
    assert value(GRADED, SHOWN, metric, "ranx") == pytest.approx(wanted)


def test_below_the_threshold_ranx_gains_nothing() -> None:
    ev = rk.evaluate(GRADED, SHOWN, "RBP(p=0.5)", convention="ranx", rel=2)

    assert list(ev.mean.values()) == [0.5 * 3]


# recmetrics, RankSys, Elliot, scikit-learn, trec_eval


def test_recmetrics_covers_in_percent() -> None:
    lists = {"u": ["a", "b"], "v": ["a", "x"]}

    ev = rk.evaluate(
        None, lists, "Coverage", convention="recmetrics", catalog=["a", "b", *"cdefg"]
    )

    # Three of seven, x among them, with two decimals.
    assert ev["Coverage"] == 42.86
    assert ev.warnings == ()


@pytest.mark.parametrize(
    ("name", "metric", "wanted"),
    [
        ("ranksys", "Success@2", 1),
        # R@1, R@2 and R@3 are 1/2, 1/2 and 1.
        ("elliot", "AR@3", (1 / 2 + 1 / 2 + 1) / 3),
        ("recmetrics", "AP@3", (1 + 2 / 3) / 2),
        ("trec_eval", "RBP", 0.1 * (1 + 0.9**2 / 3)),
        # x is not judged at rank 2, and the list ends at 3.
        ("trec_eval", "RBPResidual", 0.1 * 0.9 + 0.9**3),
        ("sklearn", "DCG@2", 3),
    ],
)
def test_further_metrics_of_tools(name: str, metric: str, wanted: float) -> None:
    assert value(GRADED, SHOWN, metric, name) == pytest.approx(wanted)


def test_sklearn_loses_by_negative_grades() -> None:
    found = value({"q": {"a": -1, "b": 1}}, {"q": {"a": 2, "b": 1}}, "DCG", "sklearn")

    assert found == pytest.approx(-1 + 1 / log2(3))


def test_what_is_defined_in_another_way_is_told_from_what_is_not_there() -> None:
    ev = rk.evaluate(GRADED, SHOWN, ["AUC", "ERR@2"], convention="elliot")

    assert [text.partition(";")[0] for text in ev.warnings] == [
        "Elliot: its AUC is defined differently",
        "Elliot: ERR does not exist in this tool",
    ]
    rows = {row.convention: row for row in rk.reconcile(GRADED, SHOWN, "AUC").rows}
    assert rows["elliot"].why == (
        "its AUC is defined differently, and not computed here"
    )


def test_a_parameter_named_like_a_field_is_overridden_and_explained() -> None:
    found = rk.reconcile(GRADED, SHOWN, "RBP(p=0.5)")

    assert found["ranx"] == pytest.approx(0.5 * (3 + 1 / 4))
    (step,) = found.explain("rankine", "ranx").steps
    assert (step.field, step.words) == ("gain", "uses the grade as the gain")
    rule = rk.Convention(overrides={"RBP": {"gain": "scaled"}})
    ev = rk.evaluate(GRADED, SHOWN, "RBP(p=0.5)", convention=rule)
    assert list(ev.mean.values()) == [pytest.approx(0.5 * (1 + 1 / 3 / 4))]
