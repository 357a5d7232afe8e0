"""Evaluation: means, values per query, intervals, notes, exports, conventions."""

from __future__ import annotations

import dataclasses
import inspect
import json
import math
import pickle
from collections.abc import Mapping
from html.parser import HTMLParser
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy import stats

import rankine as rk
from rankine.errors import (
    DataError,
    DuplicateItemError,
    ParameterError,
    RankineError,
    UnknownMetricError,
)

if TYPE_CHECKING:
    from pathlib import Path

QRELS = {"q1": {"a": 1, "b": 1, "c": 0}, "q2": {"c": 2, "d": 1}, "q3": {"e": 1}}
RUN = {
    "q1": {"x": 0.9, "a": 0.8, "b": 0.7},
    "q2": {"c": 0.9, "y": 0.5, "z": 0.4, "d": 0.3},
    "q3": {"w": 0.5, "v": 0.4, "u": 0.3, "e": 0.2},
}
AP = [(1 / 2 + 2 / 3) / 2, (1 / 1 + 2 / 4) / 2, 1 / 4]


def evaluate(
    metrics: Any = ("AP",), qrels: Any = None, run: Any = None, **options: Any
) -> rk.Evaluation:
    return rk.evaluate(
        QRELS if qrels is None else qrels,
        RUN if run is None else run,
        metrics,
        **options,
    )


def value(qrels: Any, run: Any, metric: Any, **fields: Any) -> float:
    """Return one number under a convention with these fields."""
    return rk.evaluate(qrels, run, metric, convention=rk.Convention(**fields))[metric]


# --- means and values per query


def test_means_are_keyed_by_canonical_name_in_the_order_asked() -> None:
    ev = evaluate(["recip_rank", "ndcg_cut.10", rk.P(rel=2) @ 5, "MAP", "hit_rate@1"])

    assert list(ev.mean) == ["RR", "nDCG@10", "P(rel=2)@5", "AP", "Success@1"]
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

    assert ev[name] == ev.mean["nDCG@10"]


def test_one_metric_needs_no_list() -> None:
    assert evaluate("AP").mean == evaluate(["AP"]).mean == evaluate(rk.AP).mean


def test_the_default_metrics() -> None:
    assert list(rk.evaluate(QRELS, RUN).mean) == ["nDCG@10", "AP", "RR@10"]


def test_several_metrics_in_one_name() -> None:
    assert list(evaluate(["P.1,5", "map"]).mean) == ["P@1", "P@5", "AP"]


def test_what_was_not_evaluated_is_a_key_error_that_lists_what_was() -> None:
    with pytest.raises(KeyError, match=r"RR was not evaluated; there are AP"):
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


# --- intervals


def many(n: int = 40) -> rk.Evaluation:
    qrels = {f"q{number}": {"a": 1} for number in range(n)}
    run = {
        f"q{number}": [f"x{place}" for place in range(number % 7)] + ["a"]
        for number in range(n)
    }
    return rk.evaluate(qrels, run, ["RR", "Success@3", "gm_map", "NumRet"])


@pytest.mark.parametrize("confidence", [0.5, 0.9, 0.95, 0.99])
def test_t_interval_is_that_of_scipy(confidence: float) -> None:
    ev = many()
    values = ev.per_query["RR"].to_numpy()

    found = ev.interval("RR", confidence=confidence, method="t")

    spread = values.std(ddof=1) / math.sqrt(len(values))
    expected = stats.t.interval(confidence, len(values) - 1, values.mean(), spread)
    assert (found.low, found.high) == pytest.approx(expected, rel=1e-12)


def test_bootstrap_interval_is_near_that_of_scipy() -> None:
    ev = many(200)
    values = ev.per_query["RR"].to_numpy()

    found = ev.interval("RR", n_resamples=4000)

    # The name of the seed has changed with scipy 1.15.
    known = inspect.signature(stats.bootstrap).parameters
    seed: dict[str, Any] = {"rng" if "rng" in known else "random_state": 1}
    reference = stats.bootstrap(
        (values,), np.mean, method="percentile", n_resamples=4000, **seed
    ).confidence_interval
    assert found.low == pytest.approx(reference.low, abs=0.01)
    assert found.high == pytest.approx(reference.high, abs=0.01)


def test_bootstrap_interval_is_the_same_for_the_same_seed() -> None:
    first, again = many(), many()

    assert first.interval("RR", seed=3) == again.interval("RR", seed=3)
    assert first.interval("RR", seed=3) != first.interval("RR", seed=4)
    assert first.interval("RR") == first.interval("RR", seed=0)


def test_an_interval_holds_the_mean_and_grows_with_confidence() -> None:
    ev = many()
    inner, outer = ev.interval("RR", 0.5), ev.interval("RR", 0.99)

    assert outer.low < inner.low < ev["RR"] < inner.high < outer.high
    assert isinstance(inner, rk.Interval)
    assert tuple(inner) == (inner.low, inner.high)


@pytest.mark.parametrize("method", ["bootstrap", "t"])
def test_one_query_has_no_interval(method: str) -> None:
    ev = rk.evaluate({"q": {"a"}}, {"q": ["a"]}, ["AP"])

    assert all(math.isnan(bound) for bound in ev.interval("AP", method=method))


@pytest.mark.parametrize("method", ["bootstrap", "t"])
def test_queries_that_were_left_out_are_not_in_the_interval(method: str) -> None:
    rule = rk.Convention(empty_truth="skip")
    qrels: dict[str, Any] = {**QRELS, "q4": {"a": 0}}

    with_empty = rk.evaluate(qrels, RUN, ["AP"], convention=rule)

    found = with_empty.interval("AP", method=method)
    assert found == pytest.approx(evaluate(["AP"]).interval("AP", method=method))


@pytest.mark.parametrize("method", ["bootstrap", "t"])
def test_equal_values_have_an_interval_of_no_width(method: str) -> None:
    qrels = {f"q{number}": {"a"} for number in range(5)}
    ev = rk.evaluate(qrels, {query: ["x", "a"] for query in qrels}, ["RR"])

    assert ev.interval("RR", method=method) == (1 / 2, 1 / 2)


@pytest.mark.parametrize("method", ["bootstrap", "t"])
@pytest.mark.parametrize("metric", ["gm_map", "RScore"])
def test_an_interval_is_one_of_the_number_that_is_shown(
    method: str, metric: str
) -> None:
    # A long list with one hit beside short perfect ones: pooled and mean are far apart.
    qrels = {f"q{at}": {"a": 5} for at in range(20)} | {"big": {"a": 5000, "b": 5000}}
    run: dict[str, Any] = {f"q{at}": ["a"] for at in range(20)}
    run["big"] = [f"x{at}" for at in range(40)] + ["a"]
    ev = rk.evaluate(qrels, run, [metric])

    found = ev.interval(metric, method=method)

    assert found.low <= ev[metric] <= found.high


def test_t_interval_of_a_pooled_number_is_not_that_of_the_mean() -> None:
    rule = rk.Convention(aggregate="micro")
    qrels = {f"q{at}": {"a"} for at in range(20)}
    qrels["big"] = {f"b{at}" for at in range(1000)}
    run = {query: ["a"] for query in qrels}
    ev = rk.evaluate(qrels, run, ["R"], convention=rule)

    assert ev["R"] == 20 / 1020
    try:
        found = ev.interval("R", method="t")
    except ParameterError:
        return  # to refuse is right as well
    assert found.low <= ev["R"] <= found.high


@pytest.mark.parametrize(
    ("options", "wanted"),
    [
        ({"confidence": 0}, "confidence must be a number above 0 and below 1, got 0"),
        ({"confidence": 1}, "confidence must be a number above 0 and below 1, got 1"),
        ({"confidence": 95}, "confidence must be a number above 0 and below 1, got 95"),
        ({"confidence": "x"}, "confidence must be a number above 0"),
        ({"method": "bootstrp"}, "got 'bootstrp'; did you mean 'bootstrap'?"),
        ({"method": None}, "method must be one of bootstrap, t, got None"),
        ({"n_resamples": 0}, "n_resamples must be"),
        ({"n_resamples": 2.5}, "n_resamples must be"),
        ({"seed": -1}, "seed must be"),
        ({"seed": "x"}, "seed must be"),
    ],
)
def test_wrong_choices_of_an_interval_are_refused(
    options: dict[str, Any], wanted: str
) -> None:
    with pytest.raises(ParameterError) as caught:
        many(3).interval("RR", **options)

    assert wanted in str(caught.value)


# --- notes


def test_nothing_to_say_says_nothing() -> None:
    ev = rk.evaluate({"q": {"a": 1, "b": 0}}, {"q": {"a": 2.0, "b": 1.0}}, ["AP"])

    assert ev.notes == ()


@pytest.mark.parametrize(
    ("qrels", "run", "note"),
    [
        (
            {"q": {"a": 1}, "r": {"a": 0}},
            {"q": ["a"], "r": ["a"]},
            "1 query without a relevant item: counted 0",
        ),
        (
            {"q": {"a": 1}, "r": {"a": 1}},
            {"q": ["a"]},
            "1 judged query missing from the run (r): counted 0",
        ),
        (
            {f"q{number}": {"a": 1} for number in range(6)},
            {"q0": ["a"]},
            "5 judged queries missing from the run (q1, q2, q3, ...): counted 0",
        ),
        (
            {"q": {"a": 1}},
            {"q": ["a"], "r": ["a"], "s": ["a"]},
            "2 queries of the run without judgements (r, s): not evaluated",
        ),
        (
            {"q": {"a": 1, "x": 0}},
            {"q": ["a", "b", "c", "d"]},
            "50.0% of the items in the top 2 are unjudged: counted not relevant",
        ),
        (
            {"q": {"a": 1, "b": 0, "c": 0}},
            {"q": {"a": 2.0, "b": 1.0, "c": 1.0}},
            "1 query with judged items tied across rank 2: the tie rule decides",
        ),
        (
            {"q": {"a": 1, "b": -1}},
            {"q": ["a", "b"]},
            "1 negative grade: taken as unjudged, gain 0",
        ),
    ],
    ids=["empty", "missing", "many-missing", "extra", "unjudged", "tied", "negative"],
)
def test_notes(qrels: Any, run: Any, note: str) -> None:
    assert note in rk.evaluate(qrels, run, ["P@2"]).notes


def test_a_tie_that_stays_within_the_cutoff_is_no_tie_across_it() -> None:
    ev = rk.evaluate({"q": {"a": 1, "b": 0}}, {"q": {"a": 1.0, "b": 1.0}}, ["P@2"])

    assert ev.notes == ("1 query with judged items in ties",)


def test_unjudged_without_a_cutoff_are_counted_in_the_whole_list() -> None:
    ev = rk.evaluate({"q": {"a": 1, "x": 0}}, {"q": ["a", "b", "c"]}, ["AP"])

    assert ev.notes == (
        "66.7% of the retrieved items are unjudged: counted not relevant",
    )


def test_queries_without_relevant_items_are_told_apart_by_threshold() -> None:
    qrels = {"q": {"a": 2}, "r": {"a": 1}}

    ev = rk.evaluate(qrels, {"q": ["a"], "r": ["a"]}, ["AP", "AP(rel=2)", "AP(rel=3)"])

    assert ev.notes == (
        ev.notes[0],
        "no grade is at least 3, the largest is 2: nothing is relevant",
        "1 query without a relevant item: counted 0 (AP(rel=2))",
        "2 queries without a relevant item: counted 0 (AP(rel=3))",
    )
    assert ev.notes[0].startswith("every judged item counts as relevant: the grades")


def test_undefined_values_are_told() -> None:
    ev = rk.evaluate({"q": {"a": 1}}, {"q": ["a"]}, ["AUC"])

    assert math.isnan(ev["AUC"])
    assert "AUC is undefined for 1 query: left out" in ev.notes


def test_negative_grades_that_count_are_not_told_as_unjudged() -> None:
    rule = rk.Convention(negative="keep")

    ev = rk.evaluate(
        {"q": {"a": 1, "b": -1}}, {"q": ["b", "a"]}, "DCG", convention=rule
    )

    assert ev["DCG"] == pytest.approx(-1 + 1 / math.log2(3))
    assert not any("gain 0" in note for note in ev.notes)


def test_judged_items_below_the_floor_are_not_told_as_unjudged() -> None:
    rule = rk.Convention(score_floor=0.5)

    ev = rk.evaluate(
        {"q": {"a": 1, "b": 1}}, {"q": {"a": 1.0, "b": 0.5}}, "R", convention=rule
    )

    assert ev["R"] == 1 / 2
    assert not any("unjudged" in note for note in ev.notes)


def test_what_was_inferred_of_the_columns_is_told_of_both() -> None:
    qrels = pl.DataFrame({"uid": ["q"], "iid": ["a"]})
    run = pl.DataFrame({"user": ["q"], "doc": ["a"], "sim": [1.0]})

    notes = " ".join(rk.evaluate(qrels, run, "AP").notes)

    assert "qrels has no grades; every row counts as relevant, grade 1" in notes
    assert "run: query = user, item = doc, score = sim" in notes


# --- exports


def test_to_dict_holds_numbers_intervals_convention_and_notes() -> None:
    ev = evaluate(["AP", "NumRet"], name="mine")

    found = ev.to_dict()

    low, high = ev.interval("AP")
    assert found["run"] == "mine"
    assert found["queries"] == 3
    assert found["metrics"]["AP"] == {
        "value": ev["AP"],
        "low": low,
        "high": high,
        "n": 3,
        "without_relevant": 0,
        "undefined": 0,
    }
    assert found["metrics"]["NumRet"]["value"] == 11
    assert found["convention"]["tie"] == "id_desc"
    assert found["notes"] == list(ev.notes)


def no_constants(word: str) -> Any:
    raise AssertionError(word)


@pytest.mark.parametrize(
    "rule",
    [
        rk.Convention(empty_truth="skip"),
        rk.Convention(empty_truth="skip", score_floor=-math.inf),
        rk.Convention(gain={1: 2.5}),
        rk.Convention(overrides={"AP": {"divisor": "hits"}}),
    ],
    ids=["undefined", "infinite", "table", "overrides"],
)
def test_to_json_has_no_nan(rule: rk.Convention) -> None:
    ev = rk.evaluate({"q": {"a": 0}}, {"q": ["a"]}, ["AP", "nDCG"], convention=rule)

    found = json.loads(ev.to_json(), parse_constant=no_constants)

    assert found["metrics"]["AP"]["low"] is None
    if rule.empty_truth == "skip":
        assert found["metrics"]["AP"]["value"] is None


def test_to_json_can_be_in_one_line() -> None:
    assert "\n" not in evaluate().to_json(indent=None)
    assert json.loads(evaluate().to_json(indent=None)) == json.loads(
        evaluate().to_json()
    )


def test_to_markdown_is_a_table() -> None:
    ev = evaluate(["AP", "nDCG(gain={1: 2})@10", "NumRet"])

    lines = ev.to_markdown().splitlines()

    low, high = ev.interval("AP")
    assert lines[0] == "| metric | value | 95 % interval | queries |"
    assert lines[2] == f"| AP | {ev['AP']:.4f} | {low:.4f} to {high:.4f} | 3 |"
    assert lines[4] == "| NumRet | 11 |  | 3 |"
    assert {line.count("|") for line in lines} == {5}


def test_to_latex_escapes_what_latex_would_run() -> None:
    ev = evaluate(["AP", "P(rel=2)@5", "gm_AP"], name=r"\input{x} a_b & 50% #1 $x^2~")

    text = ev.to_latex()

    assert text.startswith("\\begin{tabular}{lrr}\n\\toprule\n")
    assert (
        r"\textbackslash{}input\{x\} a\_b \& 50\% \#1 \$x\textasciicircum{}2"
        r"\textasciitilde{} & value" in text
    )
    assert r"gm\_AP & " in text
    assert rf"AP & {ev['AP']:.4f} & " in text


def test_undefined_is_written_as_a_word() -> None:
    ev = rk.evaluate({"q": {"a": 1}}, {"q": ["a"]}, ["AUC"])

    for text in (ev.to_markdown(), ev.to_latex(), str(ev), ev._repr_html_()):
        assert "undefined" in text
        assert "nan" not in text


@pytest.mark.parametrize(
    ("library", "kind"),
    [("polars", pl.DataFrame), ("pandas", pd.DataFrame), ("arrow", pa.Table)],
)
def test_to_frame(library: str, kind: type[Any]) -> None:
    ev = rk.evaluate(
        {"q1": {"a": 1}, "q2": {"a": 0}},
        {"q1": ["a"], "q2": ["a"]},
        ["AP"],
        convention=rk.Convention(empty_truth="skip"),
    )

    frame: Any = ev.to_frame(library)

    assert isinstance(frame, kind)
    back = pl.DataFrame(frame)
    assert back.columns == ["query", "AP"]
    assert back["query"].to_list() == ["q1", "q2"]
    assert back["AP"].fill_nan(None).to_list() == [1, None]


def test_to_frame_of_another_library_is_refused() -> None:
    with pytest.raises(ParameterError, match="polars, pandas, arrow, got 'dask'"):
        evaluate().to_frame("dask")


class Elements(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.attributes: set[str] = set()
        self.text = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes |= {name for name, _ in attrs}

    def handle_data(self, data: str) -> None:
        self.text += data


@pytest.mark.parametrize(
    "payload",
    [
        "<script>alert(1)</script>",
        '" onmouseover="alert(1)',
        "' onmouseover='alert(1)",
        "</title></table><img src=x onerror=alert(1)>",
        "<!-- ", "]]>", "&lt;script&gt;", "<a href='javascript:x'>",
    ],
)  # fmt: skip
def test_html_has_only_our_own_elements(payload: str) -> None:
    ev = rk.evaluate(
        {"q": {"a": 1}, payload: {"a": 1}}, {"q": ["a"]}, ["AP"], name=payload
    )
    reader = Elements()

    reader.feed(ev._repr_html_())

    assert reader.tags <= {"table", "thead", "tbody", "tr", "th", "td", "ul", "li"}
    assert reader.attributes <= {"style"}
    assert reader.text.count(payload) == 2


def test_text_shows_numbers_intervals_and_notes() -> None:
    ev = evaluate(["AP", "NumRet"], name="mine")

    text = str(ev)

    low, high = ev.interval("AP")
    assert "mine" in text
    assert f"{ev['AP']:.4f}" in text
    assert f"{low:.4f} to {high:.4f}" in text
    assert "3 queries." in text
    assert all(note in text for note in ev.notes)
    assert "\x1b" not in text


@pytest.mark.parametrize("name", ["a\x1b[31mb", "a\rb", "a\u202eb", "a\x9b31mb"])
def test_text_escapes_control_marks(name: str) -> None:
    ev = rk.evaluate({"q": {"a": 1}, name: {"a": 1}}, {"q": ["a"]}, ["AP"], name=name)

    for text in (str(ev), ev._repr_html_(), ev.to_latex()):
        assert name not in text
        assert name[1] not in text


def test_text_does_not_read_markup() -> None:
    ev = evaluate(["AP"], name="[red]mine[/red]")

    assert "[red]mine[/red]" in str(ev)


def test_repr_is_one_line() -> None:
    assert repr(evaluate(["AP"])) == f"Evaluation(AP={sum(AP) / 3:.4f})"


def test_an_evaluation_can_be_pickled() -> None:
    again = pickle.loads(pickle.dumps(evaluate(["AP", "nDCG@5"])))  # noqa: S301

    assert again.mean == evaluate(["AP", "nDCG@5"]).mean


# --- conventions: who is averaged

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


def test_empty_truth_can_be_an_error() -> None:
    with pytest.raises(DataError, match="without a relevant item"):
        value({"q": {"a": 0}}, {"q": ["a"]}, "AP", empty_truth="error")


def test_missing_run_can_be_an_error() -> None:
    with pytest.raises(DataError) as caught:
        value(TRUTH, {"q1": ["a"]}, "AP", missing_run="error")

    assert "misses 1 of 2 judged queries ('q2')" in str(caught.value)
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
    assert value(QRELS, RUN, metric, aggregate="micro") == pytest.approx(micro)


def test_pooled_values_leave_out_skipped_queries() -> None:
    qrels: dict[str, Any] = {**QRELS, "q4": {"a": 0}}
    run: dict[str, Any] = {**RUN, "q4": ["a", "b"]}

    pooled = value(qrels, run, "P@2", aggregate="micro", empty_truth="skip")

    assert pooled == pytest.approx(2 / 6)


def test_decimals_round_the_result() -> None:
    ev = evaluate(["AP", "RR"], convention=rk.Convention(decimals=2))

    assert ev.mean == {"AP": round(sum(AP) / 3, 2), "RR": round(7 / 12, 2)}
    assert ev.per_query["AP"].to_list() == pytest.approx(AP)


# --- conventions: the table


def test_unjudged_items_can_be_removed() -> None:
    qrels, run = {"q": {"a": 1, "b": 0, "c": -1}}, {"q": ["x", "b", "c", "y", "a"]}
    metrics = ["RR", "P@2", "NumRet", "Unjudged@2"]
    rule = rk.Convention(unjudged="removed")

    assert rk.evaluate(qrels, run, metrics, convention=rule).mean == {
        "RR": 1 / 2,
        "P@2": 1 / 2,
        "NumRet": 2,
        "Unjudged@2": 0,
    }
    assert rk.evaluate(qrels, run, "RR")["RR"] == 1 / 5


def test_removed_unjudged_items_leave_ties_among_the_rest() -> None:
    qrels = {"q": {"a": 1, "b": 0}}
    run = {"q": {"x": 1.0, "y": 1.0, "a": 1.0, "b": 1.0, "z": 1.0}}

    found = value(qrels, run, "P(ties='average')@1", unjudged="removed")

    assert found == 1 / 2


@pytest.mark.parametrize(
    ("metric", "everything", "listed"),
    [
        ("R", 1 / 3, 1),
        ("AP", (1 / 2) / 3, 1 / 2),
        ("nDCG", (1 / math.log2(3)) / (3 + 1 / math.log2(3) + 1 / 2), 1 / math.log2(3)),
    ],
)
def test_pool(metric: str, everything: float, listed: float) -> None:
    qrels, run = {"q": {"a": 1, "m": 3, "n": 1}}, {"q": ["x", "a"]}

    assert value(qrels, run, metric) == pytest.approx(everything)
    assert value(qrels, run, metric, pool="list") == pytest.approx(listed)


@pytest.mark.parametrize(("floor", "recall"), [(None, 1), (0.1, 1 / 2), (0.5, 0)])
def test_score_floor(floor: float | None, recall: float) -> None:
    qrels, run = {"q": {"a": 1, "b": 1}}, {"q": {"a": 0.5, "b": 0.1, "x": 0.0}}

    ev = rk.evaluate(
        qrels, run, ["R", "NumRet"], convention=rk.Convention(score_floor=floor)
    )

    assert ev.mean == {"R": recall, "NumRet": 3}


TWICE = ["a", "x", "a", "b"]


@pytest.mark.parametrize(
    ("choice", "expected"),
    [
        # x a b: the first a is gone.
        ("last", {"AP": (1 / 2 + 2 / 3) / 2, "RR": 1 / 2, "NumRet": 3}),
        # a x a b: both count as hits.
        ("count", {"AP": (1 / 1 + 2 / 3 + 3 / 4) / 2, "RR": 1, "NumRet": 4}),
        # a x . b: the second a keeps its place and is no hit.
        ("set", {"AP": (1 / 1 + 2 / 4) / 2, "RR": 1, "NumRet": 4}),
    ],
)
@pytest.mark.parametrize("form", ["list", "frame", "scores", "file"])
def test_duplicates(
    choice: Any, expected: dict[str, float], form: str, tmp_path: Path
) -> None:
    run: Any = {"q": TWICE}
    if form == "frame":
        run = pl.DataFrame({"query": "q", "item": TWICE})
    elif form == "scores":
        run = pl.DataFrame({"query": "q", "item": TWICE, "score": [4.0, 3.0, 2.0, 1.0]})
    elif form == "file":
        run = tmp_path / "some.run"
        lines = [f"q Q0 {item} 1 {-at} t" for at, item in enumerate(TWICE)]
        run.write_text("\n".join(lines))
    rule = rk.Convention(duplicates=choice)

    ev = rk.evaluate({"q": {"a", "b"}}, run, list(expected), convention=rule)

    assert ev.mean == pytest.approx(expected)


def test_duplicates_are_an_error_by_default() -> None:
    with pytest.raises(DuplicateItemError, match="'a'"):
        rk.evaluate({"q": {"a"}}, {"q": TWICE}, "AP")


def test_dropped_duplicates_are_told() -> None:
    rule = rk.Convention(duplicates="last")
    lists = rk.evaluate({"q": {"a"}}, {"q": TWICE}, "AP", convention=rule)
    frame = rk.evaluate(
        {"q": {"a"}}, pl.DataFrame({"query": "q", "item": TWICE}), "AP", convention=rule
    )

    assert any("repeat" in note for note in frame.notes)
    assert any("repeat" in note for note in lists.notes)


@pytest.mark.parametrize(
    ("order", "expected"), [("score", 1 / 3), ("given", 1 / 2), ("rank", 1)]
)
def test_order_of_a_frame(order: Any, expected: float) -> None:
    run = pl.DataFrame(
        {
            "query": "q",
            "item": ["x", "a", "y"],
            "score": [2.0, 1.0, 3.0],
            "rank": [2, 1, 3],
        }
    )

    assert value({"q": {"a"}}, run, "RR", order=order) == expected


def test_order_of_a_file_by_its_ranks(tmp_path: Path) -> None:
    path = tmp_path / "some.run"
    path.write_text("q Q0 x 2 9 t\nq Q0 a 1 8 t\n")

    assert value({"q": {"a"}}, path, "RR", order="score") == 1 / 2
    assert value({"q": {"a"}}, path, "RR", order="given") == 1 / 2
    try:
        by_rank = value({"q": {"a"}}, path, "RR", order="rank")
    except RankineError:
        return  # to refuse is right as well; the score is not
    assert by_rank == 1


def test_order_given_of_a_dict_is_that_of_its_keys() -> None:
    run = {"q": {"x": 1.0, "a": 2.0}}

    assert value({"q": {"a"}}, run, "RR", order="given") == 1 / 2
    assert value({"q": {"a"}}, run, "RR") == 1


TIED = {"b": 1.0, "a": 1.0, "10": 1.0, "9": 1.0, "top": 2.0}
TIE_ORDERS = {
    "id_desc": ["top", "b", "a", "9", "10"],
    "id_asc": ["top", "10", "9", "a", "b"],
    "input": ["top", "b", "a", "10", "9"],
    "input_rev": ["top", "9", "10", "a", "b"],
}


@pytest.mark.parametrize("tie", TIE_ORDERS)
@pytest.mark.parametrize("form", ["dict", "frame", "file", "matrix"])
def test_tie(tie: Any, form: str, tmp_path: Path) -> None:
    run: Any = {"q": TIED}
    if form == "frame":
        run = pl.DataFrame(
            {"query": "q", "item": list(TIED), "score": list(TIED.values())}
        )
    elif form == "file":
        run = tmp_path / "some.run"
        lines = [f"q Q0 {item} 1 {score} t" for item, score in TIED.items()]
        run.write_text("\n".join(lines))
    elif form == "matrix":
        run = rk.from_scores([list(TIED.values())], queries=["q"], items=list(TIED))

    found = [value({"q": {item}}, run, "RR", tie=tie) for item in TIE_ORDERS[tie]]

    assert found == [1 / (place + 1) for place in range(len(TIED))]


@pytest.mark.parametrize(
    ("ties", "expected"),
    [
        ("average", {"RR": (1 + 1 / 2 + 1 / 3) / 3, "P@1": 1 / 3}),
        ("best", {"RR": 1, "P@1": 1}),
        ("worst", {"RR": 1 / 3, "P@1": 0}),
    ],
)
def test_ties_over_all_orders(ties: Any, expected: dict[str, float]) -> None:
    run = {"q": {"a": 1.0, "b": 1.0, "c": 1.0}}

    by_option = rk.evaluate({"q": {"b"}}, run, list(expected), ties=ties)
    by_rule = rk.evaluate(
        {"q": {"b"}}, run, list(expected), convention=rk.Convention(tie=ties)
    )
    by_metric = rk.evaluate({"q": {"b"}}, run, [rk.RR(ties=ties), rk.P(ties=ties) @ 1])

    assert by_option.mean == pytest.approx(expected)
    assert by_rule.mean == pytest.approx(expected)
    assert list(by_metric.mean.values()) == pytest.approx(list(expected.values()))


def test_ties_over_all_orders_are_refused_where_there_is_no_such_value() -> None:
    with pytest.raises(
        ParameterError, match="Bpref cannot be computed with tie='average'"
    ):
        evaluate(["Bpref"], ties="average")


@pytest.mark.parametrize("form", ["dict", "frame", "matrix"])
def test_score_bits(form: str) -> None:
    scores = {"b": 1.0, "a": 1.0 + 1e-9}
    run: Any = {"q": scores}
    if form == "frame":
        run = pl.DataFrame(
            {"query": "q", "item": list(scores), "score": list(scores.values())}
        )
    elif form == "matrix":
        run = rk.from_scores([list(scores.values())], queries=["q"], items=list(scores))

    assert value({"q": {"a"}}, run, "RR") == 1
    assert value({"q": {"a"}}, run, "RR", score_bits=32) == 1 / 2


@pytest.mark.parametrize(
    ("negative", "expected"), [("zero", 2), ("keep", 2 - 3 / math.log2(3))]
)
def test_negative(negative: Any, expected: float) -> None:
    qrels, run = {"q": {"a": 2, "b": -3}}, {"q": ["a", "b"]}

    assert value(qrels, run, "DCG", negative=negative) == pytest.approx(expected)


def test_negative_can_be_an_error() -> None:
    with pytest.raises(DataError, match="negative"):
        value({"q": {"a": 2, "b": -3}}, {"q": ["a"]}, "DCG", negative="error")


# --- conventions: parameters of metrics

GRADED = {"q": {"a": 3, "b": 1, "c": 2, "m": 1}, "r": {"a": 1}}
SHORT = {"q": ["x", "a", "b"], "r": ["y", "a"]}


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
        ("nDCG@3", {"gain": "exp2"}, {"gain": "exponential"}),
        ("nDCG@3", {"gain": "exp2_thr"}, {"gain": "exponential_rel", "rel": 1}),
        ("nDCG@3", {"gain": {1: 5, 3: 7}}, {"gain": {1: 5, 3: 7}}),
        ("DCG@3", {"gain": "exp2"}, {"gain": "exponential"}),
        ("CG@3", {"gain": "exp2"}, {"gain": "exponential"}),
        ("NCG@3", {"gain": "exp2"}, {"gain": "exponential"}),
        ("nDCG@3", {"discount": "log2(max(r,b))"}, {"discount": "jk"}),
        ("DCG@3", {"discount": "log2(max(r,b))"}, {"discount": "jk"}),
        ("nDCG@2", {"ideal": "judged_all"}, {"ideal": "judged"}),
        ("nDCG@3", {"ideal": "k_ones"}, {"ideal": "k_ones"}),
        ("nDCG@3", {"ideal": "given_order@k"}, {"ideal": "given@k"}),
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


def test_a_catalogue_of_the_metric_wins() -> None:
    qrels, run = {"q": {"a": 1}}, {"q": ["a", "x", "y"]}

    ev = rk.evaluate(qrels, run, ["FallOut(catalog=21)@3"], catalog=11)

    assert list(ev.mean.values()) == [2 / 20]


def test_a_catalogue_that_is_too_small_is_refused() -> None:
    with pytest.raises(DataError, match="catalogue has 2 items"):
        rk.evaluate({"q": {"a"}}, {"q": ["a", "x", "y"]}, "FallOut@3", catalog=2)


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
