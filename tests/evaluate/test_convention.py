"""Conventions: who is averaged, and which parameters metrics get."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping
from typing import Any

import polars as pl
import pytest

import rankine as rk
from rankine.errors import DataError, ParameterError
from tests.evaluate.three_queries import AP, GRADED, QRELS, RUN, SHORT, evaluate, value

# --- who is averaged

PARTLY = {"q1": ["a"], "z": ["a"]}
TRUTH = {"q1": {"a": 1, "b": 1}, "q2": {"a": 1}}


@pytest.mark.parametrize(
    ("queries", "mean", "ids"),
    [
        ("qrels", (1 / 2 + 0) / 2, ["q1", "q2"]),
        ("both", 1 / 2, ["q1"]),
        ("run", (1 / 2 + 0) / 2, ["q1", "z"]),
    ],
)
@pytest.mark.parametrize("form", ["dict", "frame"])
def test_queries(queries: Any, mean: float, ids: list[str], form: str) -> None:
    run: Any = PARTLY
    if form == "frame":
        run = pl.DataFrame({"query": ["q1", "z"], "item": ["a", "a"], "rank": [1, 1]})

    ev = rk.evaluate(TRUTH, run, ["R"], convention=rk.Convention(queries=queries))

    assert ev["R"] == mean
    assert ev.queries == ids
    assert ev.per_query["query"].to_list() == ids


def test_queries_of_the_run_without_judgements_can_be_skipped() -> None:
    rule = rk.Convention(queries="run", empty_truth="skip")

    assert rk.evaluate(TRUTH, PARTLY, ["R"], convention=rule)["R"] == 1 / 2


@pytest.mark.parametrize(
    ("choice", "mean"),
    [
        ("zero", 1 / 2),
        ("skip", 1),
        ("nan", pytest.approx(math.nan, nan_ok=True)),
        ("one", 1),
    ],
)
@pytest.mark.parametrize("metric", ["AP", "nDCG@5", "RR", "R@1", "P@1"])
def test_empty_truth(choice: Any, mean: float, metric: str) -> None:
    qrels = {"q1": {"a": 1}, "q2": {"a": 0}}
    run = {"q1": ["a"], "q2": ["a"]}

    assert value(qrels, run, metric, empty_truth=choice) == mean


def test_missing_run_can_be_an_error() -> None:
    with pytest.raises(DataError) as caught:
        value(TRUTH, {"q1": ["a"]}, "AP", missing_run="error")

    assert "lacks 1 of 2 judged queries ('q2')" in str(caught.value)
    assert value(TRUTH, {"q1": ["a"], "q2": []}, "RR", missing_run="error") == 1 / 2


@pytest.mark.parametrize(
    ("metric", "macro", "micro"),
    [
        ("P@2", (1 / 2 + 1 / 2 + 0 / 2) / 3, 2 / 6),
        ("P", (2 / 3 + 2 / 4 + 1 / 4) / 3, 5 / 11),
        ("R@2", (1 / 2 + 1 / 2 + 0 / 1) / 3, 2 / 5),
        ("F@2", (2 / 4 + 2 / 4 + 0) / 3, 2 * 2 / (6 + 5)),
        ("Success@1", 1 / 3, 1 / 3),
    ],
)
def test_aggregate(metric: str, macro: float, micro: float) -> None:
    assert value(QRELS, RUN, metric) == pytest.approx(macro)
    assert value(QRELS, RUN, metric, aggregate="ratio_of_sums") == pytest.approx(micro)


def test_pooled_values_leave_out_skipped_queries() -> None:
    qrels: dict[str, Any] = {**QRELS, "q4": {"a": 0}}
    run: dict[str, Any] = {**RUN, "q4": ["a", "b"]}

    pooled = value(qrels, run, "P@2", aggregate="ratio_of_sums", empty_truth="skip")

    assert pooled == pytest.approx(2 / 6)


def test_decimals_round_the_result() -> None:
    ev = evaluate(["AP", "RR"], convention=rk.Convention(decimals=2))

    assert ev.mean == {"AP": round(sum(AP) / 3, 2), "RR": round(7 / 12, 2)}
    assert ev.per_query["AP"].to_list() == pytest.approx(AP)


# --- parameters of metrics


@pytest.mark.parametrize(
    ("metric", "fields", "params"),
    [
        ("P@5", {"p_den": "list"}, {"divisor": "list"}),
        ("P@5", {"p_den": "min_k_R"}, {"divisor": "min_k_R"}),
        ("F@5", {"p_den": "list"}, {"divisor": "list"}),
        ("R@3", {"r_den": "min_k_R"}, {"divisor": "min_k_R"}),
        ("AP@2", {"ap_den": "min_k_R"}, {"divisor": "min_k_R"}),
        ("AP@5", {"ap_den": "min_R_list"}, {"divisor": "min_R_list"}),
        ("AP@5", {"ap_den": "hits"}, {"divisor": "hits"}),
        ("AP@5", {"ap_den": "k"}, {"divisor": "k"}),
        ("AP@5", {"ap_den": "none"}, {"divisor": "none"}),
        ("AP@3", {"ap_terms": "all_ranks"}, {"terms": "all_ranks"}),
        ("nDCG@3", {"gain": "binary"}, {"gain": "binary"}),
        ("nDCG@3", {"gain": "exponential"}, {"gain": "exponential"}),
        ("nDCG@3", {"gain": "exponential_rel"}, {"gain": "exponential_rel", "rel": 1}),
        ("nDCG@3", {"gain": {1: 5, 3: 7}}, {"gain": {1: 5, 3: 7}}),
        ("DCG@3", {"gain": "exponential"}, {"gain": "exponential"}),
        ("CG@3", {"gain": "exponential"}, {"gain": "exponential"}),
        ("NCG@3", {"gain": "exponential"}, {"gain": "exponential"}),
        ("nDCG@3", {"discount": "jk"}, {"discount": "jk"}),
        ("DCG@3", {"discount": "jk"}, {"discount": "jk"}),
        ("nDCG@2", {"ideal": "judged"}, {"ideal": "judged"}),
        ("nDCG@3", {"ideal": "k_ones"}, {"ideal": "k_ones"}),
        ("nDCG@3", {"ideal": "given@k"}, {"ideal": "given@k"}),
        ("AP", {"threshold": 2}, {"rel": 2}),
        ("P@2", {"threshold": 2}, {"rel": 2}),
        ("nDCG", {"threshold": 2, "gain_below_threshold": False}, {"rel": 2}),
        ("AP@2", {"overrides": {"AP": {"divisor": "k"}}}, {"divisor": "k"}),
        ("AP@2", {"overrides": {"AP": {"ap_den": "k"}}}, {"divisor": "k"}),
    ],
    ids=lambda case: str(case) if isinstance(case, (str, Mapping)) else None,
)
def test_a_convention_equals_the_parameters_of_the_metric(
    metric: str, fields: dict[str, Any], params: dict[str, Any]
) -> None:
    own = rk.parse(metric)(**params)

    by_rule = rk.evaluate(GRADED, SHORT, metric, convention=rk.Convention(**fields))
    by_metric = rk.evaluate(GRADED, SHORT, own)

    assert (
        by_rule.per_query[metric].to_list() == by_metric.per_query[str(own)].to_list()
    )
    assert by_rule[metric] == by_metric[own]
    plain = rk.evaluate(GRADED, SHORT, metric)
    assert by_rule.per_query[metric].to_list() != plain.per_query[metric].to_list()


def test_a_parameter_wins_over_the_convention() -> None:
    rule = rk.Convention(ap_den="k", threshold=3)

    found = rk.evaluate(GRADED, SHORT, ["AP(divisor='R',rel=1)@2"], convention=rule)

    assert list(found.mean.values()) == [evaluate("AP@2", GRADED, SHORT)["AP@2"]]


def test_a_convention_keeps_the_name_that_was_asked() -> None:
    ev = evaluate("AP@2", convention=rk.Convention(ap_den="k"))

    assert list(ev.mean) == ["AP@2"]


def test_the_threshold_leaves_graded_gains_alone() -> None:
    assert value(GRADED, SHORT, "nDCG", threshold=2) == value(GRADED, SHORT, "nDCG")


def test_metrics_with_different_tables_stand_in_one_frame() -> None:
    rule = rk.Convention(overrides={"RR": {"tie": "id_asc"}, "R": {"queries": "both"}})
    run = {"q": {"a": 1.0, "b": 1.0}}

    ev = rk.evaluate({"q": {"a"}, "r": {"a"}}, run, ["AP", "RR", "R"], convention=rule)

    assert ev.per_query.rows() == [("q", 1 / 2, 1, 1), ("r", 0, 0, None)]
    assert ev.mean == {"AP": 1 / 4, "RR": 1 / 2, "R": 1}


@pytest.mark.parametrize(
    ("fields", "wanted"),
    [
        ({"tie": "id"}, "tie must be one of id_desc"),
        ({"empty_truth": "skp"}, "got 'skp'; did you mean 'skip'?"),
        ({"score_bits": 16}, "score_bits must be one of 64, 32, got 16"),
        ({"gain": "exp"}, "gain must be one of binary"),
        ({"threshold": "x"}, "threshold must be"),
        ({"threshold": math.nan}, "threshold must be"),
        ({"score_floor": "x"}, "score_floor must be"),
        ({"decimals": "x"}, "decimals must be"),
        ({"decimals": -1.5}, "decimals must be"),
        ({"overrides": {"AP": {"divisr": "k"}}}, "'divisr'"),
    ],
)
def test_a_convention_that_cannot_be_is_refused(
    fields: dict[str, Any], wanted: str
) -> None:
    with pytest.raises(ParameterError) as caught:
        evaluate(convention=rk.Convention(**fields))

    assert wanted in str(caught.value)


def test_an_unknown_field_of_a_convention_suggests_the_nearest() -> None:
    with pytest.raises(ParameterError, match=r"'ties'; it has .*; did you mean 'tie'"):
        rk.Convention().replace(ties="input")


def test_named_conventions() -> None:
    known = rk.conventions()

    assert known["rankine"] == rk.Convention()
    for name, rule in known.items():
        assert evaluate(convention=name).convention == rule
        assert dataclasses.replace(rule) == rule
        assert hash(rule) == hash(dataclasses.replace(rule))


def test_negative_grades_of_one_metric_do_not_reach_another() -> None:
    qrels, run = {"q": {"a": -1, "b": 2}}, {"q": ["a", "b"]}
    rule = rk.Convention(overrides={"DCG": {"negative": "keep"}})

    ev = rk.evaluate(qrels, run, ["CG", "DCG"], convention=rule)

    assert ev.mean == {"CG": 2.0, "DCG": -1 + 2 / math.log2(3)}
