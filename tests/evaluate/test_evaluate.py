"""Evaluation: means, values per query, and the options of `evaluate`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
import pytest

import rankine as rk
from rankine.errors import UnknownMetricError
from tests.evaluate.three_queries import AP, GRADED, QRELS, RUN, SHORT, evaluate

if TYPE_CHECKING:
    from pathlib import Path


# --- means and values per query


def test_means_are_keyed_by_the_names_asked_for_in_their_order() -> None:
    asked = ["recip_rank", "ndcg_cut.10", rk.P(rel=2) @ 5, "MAP", "hit_rate@1"]
    ev = evaluate(asked)

    assert list(ev.mean) == list(map(str, asked))
    assert ev.metrics == tuple(
        map(rk.parse, ["RR", "nDCG@10", "P(rel=2)@5", "AP", "Success@1"])
    )
    assert ev["AP"] == pytest.approx(sum(AP) / 3)
    assert ev["RR"] == pytest.approx((1 / 2 + 1 + 1 / 4) / 3)
    assert ev["P(rel=2)@5"] == pytest.approx((0 + 1 / 5 + 0) / 3)
    assert all(type(number) is float for number in ev.mean.values())


@pytest.mark.parametrize(
    "name",
    ["nDCG@10", "ndcg_cut_10", "ndcg_cut.10", "NDCG@10", "ndcg@10", rk.nDCG @ 10],
)
def test_a_mean_is_found_under_any_spelling(name: Any) -> None:
    ev = evaluate(["AP", "ndcg_cut_10"])

    assert ev[name] == ev.mean["nDCG@10"] == ev.mean["ndcg_cut_10"]


def test_one_metric_needs_no_list() -> None:
    assert evaluate("AP").mean == evaluate(["AP"]).mean == evaluate(rk.AP).mean


def test_the_default_metrics() -> None:
    assert list(rk.evaluate(QRELS, RUN).mean) == ["nDCG@10", "AP", "RR@10"]


def test_several_metrics_in_one_name() -> None:
    # Only these have no name of their own: the text stands for both.
    assert list(evaluate(["P.1,5", "map"]).mean) == ["P@1", "P@5", "map"]


def test_what_was_not_evaluated_is_a_key_error_that_lists_what_was() -> None:
    with pytest.raises(KeyError, match=r"RR was not evaluated; the metrics are AP"):
        _ = evaluate(["AP"])["MRR"]


def test_a_name_that_is_no_metric_is_refused_as_such() -> None:
    with pytest.raises(UnknownMetricError, match="'APP'"):
        _ = evaluate(["AP"])["APP"]


def test_a_name_for_several_metrics_is_no_key() -> None:
    with pytest.raises((KeyError, ValueError)):
        _ = evaluate(["P@1", "P@5"])["P.1,5"]


def test_per_query_has_a_row_per_query_and_a_column_per_metric() -> None:
    frame = evaluate(["RR", "AP"]).per_query

    assert isinstance(frame, pl.DataFrame)
    assert frame.columns == ["query", "RR", "AP"]
    assert frame["query"].to_list() == ["q1", "q2", "q3"]
    assert frame["AP"].to_list() == pytest.approx(AP)
    assert frame["AP"].dtype == pl.Float64


def test_per_query_is_null_where_a_query_was_left_out() -> None:
    qrels = {"q1": {"a": 1}, "q2": {"b": 0}}
    rule = rk.Convention(empty_truth="skip")

    ev = rk.evaluate(qrels, {"q1": ["a"], "q2": ["b"]}, ["AP"], convention=rule)

    assert ev.per_query["AP"].to_list() == [1, None]
    assert ev.summaries["AP"].n == 1
    assert ev.summaries["AP"].n_undefined == 1
    assert ev.summaries["AP"].n_empty == 1


def test_the_mean_is_that_of_the_values_per_query() -> None:
    ev = evaluate(["nDCG@3", "P@2", "RBP", "AP"])

    for name, number in ev.mean.items():
        assert number == pytest.approx(ev.per_query[name].mean(), rel=1e-15)


def test_counts_are_summed() -> None:
    ev = evaluate(["NumRet", "NumRel", "NumRelRet", "NumQ"])

    assert ev.mean == {"NumRet": 11, "NumRel": 5, "NumRelRet": 5, "NumQ": 3}


def test_facts_of_an_evaluation() -> None:
    ev = evaluate(["AP"], name="mine")

    assert ev.name == "mine"
    assert ev.queries == ["q1", "q2", "q3"]
    assert ev.metrics == (rk.AP,)
    assert ev.convention == rk.Convention()


def test_the_name_is_the_file_if_none_is_given(tmp_path: Path) -> None:
    path = tmp_path / "bm25.run"
    path.write_text("q1 Q0 a 1 1 t\n")

    assert "bm25.run" in evaluate(run=path).name
    assert evaluate().name == "run"


def test_inputs_are_not_changed() -> None:
    qrels = {query: dict(entry) for query, entry in QRELS.items()}
    run = {query: dict(entry) for query, entry in RUN.items()}

    rk.evaluate(qrels, run, ["nDCG", "AP"])

    assert qrels == QRELS
    assert run == RUN


# --- options


def test_rel_is_the_threshold_of_all_metrics() -> None:
    ev = rk.evaluate(GRADED, SHORT, ["AP", "P@2", "P(rel=1)@2", "nDCG"], rel=3)

    assert ev.mean == pytest.approx(
        {
            "AP": (1 / 2 + 0) / 2,
            "P@2": (1 / 2 + 0) / 2,
            "P(rel=1)@2": (1 / 2 + 1 / 2) / 2,
            "nDCG": evaluate("nDCG", GRADED, SHORT)["nDCG"],
        }
    )


@pytest.mark.parametrize("depth", [1, 2, 3, 10])
@pytest.mark.parametrize("form", ["dict", "frame", "file", "matrix"])
def test_depth_cuts_the_lists(depth: int, form: str, tmp_path: Path) -> None:
    items = ["x", "a", "b", "y"]
    scores = {item: 4.0 - at for at, item in enumerate(items)}
    run: Any = {"q": scores}
    if form == "frame":
        run = pl.DataFrame(
            {"query": "q", "item": items, "score": list(scores.values())}
        )
    elif form == "file":
        run = tmp_path / "some.run"
        run.write_text("\n".join(f"q Q0 {i} 1 {s} t" for i, s in scores.items()))
    elif form == "matrix":
        run = rk.from_scores([list(scores.values())], queries=["q"], items=items)
    metrics = ["AP", "R", "NumRet", "P", "AUC", "P(min_score=0)"]

    ev = rk.evaluate({"q": {"a": 1, "b": 1}}, run, metrics, depth=depth)

    expected = rk.evaluate({"q": {"a": 1, "b": 1}}, {"q": items[:depth]}, metrics[:5])
    assert list(ev.mean.values())[:5] == pytest.approx(
        list(expected.mean.values()), nan_ok=True
    )
    assert ev["P(min_score=0)"] == ev["P"]


def test_catalog_is_given_to_the_metrics_that_need_it() -> None:
    qrels, run = {"q": {"a": 1}}, {"q": ["a", "x", "y"]}

    ev = rk.evaluate(qrels, run, ["FallOut@3", "Accuracy@3", "P@3"], catalog=11)

    assert ev.mean == pytest.approx(
        {"FallOut@3": 2 / 10, "Accuracy@3": (1 + 8) / 11, "P@3": 1 / 3}
    )


def test_a_catalogue_has_the_items_that_are_retrieved() -> None:
    scores = np.array([[3.0, 2.0, -np.inf], [1.0, 2.0, -np.inf]])
    run = rk.from_scores(scores, queries=["p", "q"], items=["a", "b", "c"])

    ev = rk.evaluate({"p": {"a": 1, "b": 0}, "q": {"a": 1}}, run, "FallOut", catalog=2)

    # b is all that is not relevant, and in both lists.
    assert ev["FallOut"] == 1 / (2 - 1)


def test_lists_of_the_run_alone_have_their_length_in_every_form() -> None:
    qrels, scores = {"q": {"a": 1}}, [[3.0, 2.0], [2.0, 1.0]]
    rule = rk.Convention(queries="run")
    forms = (
        {"q": {"a": 3.0, "b": 2.0}, "p": {"a": 2.0, "b": 1.0}},
        rk.from_scores(scores, queries=["q", "p"], items=["a", "b"]),
    )

    for run in forms:
        ev = rk.evaluate(qrels, run, ["NumRet", "FallOut"], catalog=9, convention=rule)

        assert ev.mean == {"NumRet": 2 + 2, "FallOut": (1 / 8 + 2 / 9) / 2}


def test_removed_items_have_no_score_that_counts() -> None:
    qrels = {"q": {"a": 0, "b": 1}, "p": {"a": 1}}
    run = {"q": {"x": 9.0, "a": 2.0, "b": 1.0}, "p": {"x": 8.0, "a": 3.0}}
    judged = {"q": {"a": 2.0, "b": 1.0}, "p": {"a": 3.0}}
    metrics = ["P(min_score=0)", "AUC(scope='pooled')", "AUC"]
    rule = rk.Convention(unjudged="removed")

    ev = rk.evaluate(qrels, run, metrics, convention=rule)

    expected = rk.evaluate(qrels, judged, metrics, convention=rule)
    assert ev.mean == expected.mean
    assert ev["P(min_score=0)"] == (1 / 2 + 1 / 1) / 2


def test_a_catalogue_of_the_metric_wins() -> None:
    qrels, run = {"q": {"a": 1}}, {"q": ["a", "x", "y"]}

    ev = rk.evaluate(qrels, run, ["FallOut(catalog=21)@3"], catalog=11)

    assert list(ev.mean.values()) == [2 / 20]


@pytest.mark.parametrize("form", ["dict", "frame"])
def test_unretrieved_items_may_stand_tied_at_the_end(form: str) -> None:
    qrels = {"q": {"a": 1, "b": 2, "c": 0, "d": 1}, "p": {"a": 1}}
    run: Any = {"q": {"x": 3.0, "b": 2.0}, "p": {"a": 1.0}}
    # What is not retrieved gets a score below all others.
    filled = {"q": {"x": 3.0, "b": 2.0, "a": -9.0, "c": -9.0, "d": -9.0}, "p": run["p"]}
    if form == "frame":
        rows = [(q, i, s) for q, entry in run.items() for i, s in entry.items()]
        run = pl.DataFrame(rows, ["query", "item", "score"], orient="row")
    rule = rk.Convention(tie="average", pool="union")
    metrics = ["nDCG@3", "nDCG", "AP", "R@4", "P@4", "RR", "AUC"]

    ev = rk.evaluate(qrels, run, metrics, convention=rule)

    expected = rk.evaluate(qrels, filled, metrics, ties="average")
    assert ev.mean == pytest.approx(expected.mean, rel=1e-12)


def test_what_is_different_with_a_cutoff() -> None:
    rule = rk.Convention(overrides={"RR@k": {"tie": "id_asc"}})
    qrels, run = {"q": {"a": 1}}, {"q": {"a": 1.0, "b": 1.0}}

    ev = rk.evaluate(qrels, run, ["RR", "RR@10"], convention=rule)

    assert ev.mean == {"RR": 1 / 2, "RR@10": 1}
