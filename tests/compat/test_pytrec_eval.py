"""The interface of pytrec_eval: what comes out by hand, and against the original."""

from __future__ import annotations

import math
from collections import defaultdict
from typing import Any

import numpy as np
import pytest
import pytrec_eval as original

from rankine.compat import pytrec_eval
from rankine.errors import (
    DataError,
    DuplicateItemError,
    FormatError,
    ParameterError,
    UnknownMetricError,
)

QRELS = {"q1": {"a": 2, "b": 1, "c": 0}, "q2": {"a": 1}, "bare": {}}
RUN = {
    "q2": {"x": 2.0, "a": 1.0},
    "other": {"a": 1.0},
    "q1": {"b": 3.0, "x": 2.0, "a": 1.0},
    "bare": {"a": 1.0},
}


def found(measures: Any, qrels: Any = QRELS, run: Any = RUN, **options: Any) -> Any:
    return pytrec_eval.RelevanceEvaluator(qrels, measures, **options).evaluate(run)


def test_values_by_query_in_the_order_of_the_run() -> None:
    values = found({"map", "ndcg_cut.2", "num_ret"})

    assert [*values] == ["q2", "q1"]
    assert values["q2"] == pytest.approx(
        {"num_ret": 2, "map": 1 / 2, "ndcg_cut_2": 1 / math.log2(3)}
    )
    assert values["q1"] == pytest.approx(
        {
            "num_ret": 3,
            "map": (1 / 1 + 2 / 3) / 2,
            "ndcg_cut_2": 1 / (2 + 1 / math.log2(3)),
        }
    )


@pytest.mark.parametrize(
    ("measures", "names"),
    [
        (["P"], [f"P_{k}" for k in (5, 10, 15, 20, 30, 100, 200, 500, 1000)]),
        (["P.10,5"], ["P_5", "P_10"]),
        (["P_10,5", "P.7", "P"], ["P_5", "P_7", "P_10"]),
        (["iprec_at_recall.0.3"], ["iprec_at_recall_0.30"]),
        (["set_F.0.5"], ["set_F"]),
        (["relstring"], ["relstring"]),
        ([], []),
    ],
)
def test_names_of_values(measures: list[str], names: list[str]) -> None:
    assert [*found(measures)["q1"]] == names


@pytest.mark.parametrize("nickname", ["official", "set", "all_trec"])
def test_nicknames_stand_for_the_same_measures(nickname: str) -> None:
    ours, theirs = (
        library.RelevanceEvaluator(QRELS, {nickname}).evaluate(RUN)
        for library in (pytrec_eval, original)
    )

    assert [*ours] == [*theirs]
    for query, values in theirs.items():
        assert [*ours[query]] == [*values], "in the order of trec_eval"
        assert ours[query] == pytest.approx(values, abs=1e-12)
        assert ours[query]["runid"] == 0


def test_what_is_supported_is_what_the_original_has() -> None:
    assert pytrec_eval.supported_measures == original.supported_measures
    assert pytrec_eval.supported_nicknames == original.supported_nicknames
    assert len(pytrec_eval.supported_measures) == 34
    assert pytrec_eval.__version__.startswith("0.5.")


@pytest.mark.parametrize("nickname", ["all_prefs", "prefs", "qrels_jg"])
def test_measures_of_groups_are_refused(nickname: str) -> None:
    with pytest.raises(
        ValueError, match=r"needs (preferences|judges); here, an item has one grade"
    ):
        found({nickname})


@pytest.mark.parametrize(
    "measure", ["mapp", "dcg", "ndcg_cut_x", "P_5x", "map.3", "P_0", "G.1", "utility.1"]
)
def test_what_is_no_measure_is_a_value_error(measure: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        found({measure})


def test_a_name_is_not_a_list_of_names() -> None:
    with pytest.raises(ParameterError, match=r"got 'map'; write \{'map'\}"):
        found("map")


def test_the_nearest_measure_is_named() -> None:
    with pytest.raises(UnknownMetricError, match="mapp; did you mean 'map'"):
        found({"mapp"})


def test_geometric_means_have_logarithms() -> None:
    values = found({"gm_map"})

    assert values["q2"]["gm_map"] == pytest.approx(math.log(1 / 2))
    assert found({"gm_map"}, run={"q2": {"x": 1.0}})["q2"]["gm_map"] == math.log(1e-5)
    logs = [own["gm_map"] for own in values.values()]
    mean = pytrec_eval.compute_aggregated_measure("gm_map", logs)
    assert mean == pytest.approx(math.sqrt(1 / 2 * (1 / 1 + 2 / 3) / 2))


@pytest.mark.parametrize(
    ("name", "values", "want"),
    [
        ("num_rel", [2.0, 1.0], 2 + 1),
        ("P_5", [0.2, 0.4], (0.2 + 0.4) / 2),
        ("num_q", [], 0),
    ],
)
def test_counts_are_added_and_others_averaged(
    name: str, values: list[float], want: float
) -> None:
    got = pytrec_eval.compute_aggregated_measure(name, values)
    assert got == pytest.approx(want)


def test_nothing_has_no_mean() -> None:
    assert math.isnan(pytrec_eval.compute_aggregated_measure("map", []))


def test_relevance_level() -> None:
    assert found({"map"}, relevance_level=2)["q1"]["map"] == pytest.approx(1 / 3)


def test_judged_documents_only() -> None:
    assert found({"map"}, judged_docs_only_flag=True)["q2"]["map"] == 1


def test_scores_that_float32_cannot_tell_apart_are_tied() -> None:
    run = {"q2": {"a": 1 + 1e-9, "b": 1.0}}

    assert found({"recip_rank"}, run=run)["q2"]["recip_rank"] == 1 / 2


@pytest.mark.parametrize(
    ("qrels", "run"), [({}, RUN), (QRELS, {}), ({}, {}), ({"q": {}}, RUN)]
)
def test_nothing_gives_nothing(qrels: Any, run: Any) -> None:
    assert found({"map"}, qrels, run) == {}


def test_no_query_in_common_gives_nothing() -> None:
    assert found({"map"}, run={"other": {"a": 1.0}}) == {}


def test_an_empty_list_finds_nothing() -> None:
    values = found({"iprec_at_recall.0", "11pt_avg", "map"}, run={"q1": {}})["q1"]

    assert set(values.values()) == {0.0}


@pytest.mark.parametrize("measure", ["ndcg", "G", "Rndcg", "ndcg_rel"])
def test_negative_grades_alone_gain_nothing(measure: str) -> None:
    assert found({measure}, {"q": {"a": -2}}, {"q": {"a": 1.0}})["q"][measure] == 0


def test_ids_and_numbers_that_the_original_refuses() -> None:
    qrels = defaultdict(dict, {7: {1: np.int64(1), 2: np.int32(0)}})
    run = defaultdict(dict, {7: {2: np.float32(2), 1: np.float32(1)}})

    assert found({"map"}, qrels, run) == {7: {"map": 1 / 2}}


def test_changes_of_the_judgements_come_too_late() -> None:
    qrels = {"q": {"a": 1}}
    evaluator = pytrec_eval.RelevanceEvaluator(qrels, {"map"})
    qrels["q"]["a"] = 0
    qrels["q"]["b"] = 1
    qrels["r"] = {"b": 1}

    run = {"q": {"a": 2.0, "b": 1.0}, "r": {"b": 1.0}}
    assert evaluator.evaluate(run) == {"q": {"map": 1}}


def test_a_run_is_evaluated_twice_alike() -> None:
    evaluator = pytrec_eval.RelevanceEvaluator(QRELS, {"all_trec"})

    assert evaluator.evaluate(RUN) == evaluator.evaluate(RUN)


def test_grades_are_whole() -> None:
    with pytest.raises(DataError, match="grades have fractions"):
        found({"map"}, {"q": {"a": 0.5}})


@pytest.mark.parametrize("level", [0, -1, 1.5])
def test_the_relevance_level_is_positive(level: Any) -> None:
    with pytest.raises(ParameterError, match="relevance_level must be an integer"):
        found({"map"}, relevance_level=level)


def test_lines_are_read_as_the_original_does() -> None:
    run = ["q1 Q0 a 1 2.5 tag\n", "q1\tQ0\tb\t2\t1\ttag"]
    qrels = ["q1 0 a 1\n", "q2 0 b 0"]

    assert pytrec_eval.parse_run(run) == original.parse_run(run)
    assert pytrec_eval.parse_qrel(qrels) == original.parse_qrel(qrels)


@pytest.mark.parametrize(
    ("lines", "error", "said"),
    [
        (["q 0 a"], FormatError, "line 1: expected 4 fields, got 3"),
        (["q 0 a 1", "q 0 a 1"], DuplicateItemError, "line 2: item 'a' appears twice"),
        (["q 0 a 0.5"], FormatError, "line 1: '0.5' is not a whole number"),
    ],
)
def test_lines_that_are_wrong(
    lines: list[str], error: type[Exception], said: str
) -> None:
    with pytest.raises(error, match=said):
        pytrec_eval.parse_qrel(lines)
