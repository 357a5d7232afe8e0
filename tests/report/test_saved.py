"""Saving and loading: what comes back is what was saved, to the last bit."""

from __future__ import annotations

import json
import math
from datetime import date
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
import pytest
from polars.testing import assert_frame_equal

import rankine as rk
from rankine.errors import ParameterError
from tests.report.results import QRELS, RUN, made

if TYPE_CHECKING:
    from pathlib import Path


def far(first: Any, second: Any) -> float:
    return float(np.any(first != second))


def assert_same(found: rk.Evaluation, wanted: rk.Evaluation) -> None:
    """Compare everything that a reader can ask for."""
    assert type(found) is type(wanted)
    assert repr(found.mean) == repr(wanted.mean)
    assert_frame_equal(found.per_query, wanted.per_query, check_exact=True)
    assert repr(found.queries) == repr(wanted.queries)
    assert found.metrics == wanted.metrics or "far" in str(wanted.metrics)
    assert tuple(map(str, found.bound)) == tuple(map(str, wanted.bound))
    assert found.convention == wanted.convention
    assert found.preset == wanted.preset
    assert found.name == wanted.name
    assert found.notes == wanted.notes
    assert found.warnings == wanted.warnings
    for label, summary in wanted.summaries.items():
        other = found.summaries[label]
        assert (other.n, other.n_undefined) == (summary.n, summary.n_undefined)
        assert other.empty.tolist() == summary.empty.tolist()
        for method in ("bootstrap", "t"):
            bounds = [
                one.interval(label, 0.9, method, seed=3) for one in (found, wanted)
            ]
            assert repr(bounds[0]) == repr(bounds[1])
    for drawn in (
        "__str__",
        "__repr__",
        "_repr_html_",
        "to_json",
        "to_markdown",
        "to_latex",
    ):
        assert getattr(found, drawn)() == getattr(wanted, drawn)(), drawn
    assert found.to_dict() == wanted.to_dict()


OPTIONS: dict[str, dict[str, Any]] = {
    "plain": {},
    "skip": {"convention": rk.Convention(empty_truth="skip")},
    "nan": {"convention": rk.Convention(empty_truth="nan")},
    "run": {"convention": rk.Convention(queries="run")},
    "both": {"convention": rk.Convention(queries="both")},
    "floor": {"convention": rk.Convention(score_floor=-math.inf)},
    "gains": {"convention": rk.Convention(gain={0: 0.0, 1.0: 2.5, 2: 7})},
    "overrides": {
        "convention": rk.Convention(
            overrides={"AP": {"tie": "id_asc"}, "RR": {"queries": "both"}}
        )
    },
    "trec_eval": {"convention": "trec_eval", "name": "a <b> \u00e9"},
    "ranx": {"convention": "ranx", "rel": 2},
    "keep": {"keep": 2},
}


@pytest.mark.parametrize("options", OPTIONS.values(), ids=OPTIONS)
def test_what_comes_back_is_what_was_saved(options: dict[str, Any]) -> None:
    ev = made(**options)

    found = rk.load(ev.to_json())

    assert_same(found, ev)
    assert found.worst("AP").to_dict() == ev.worst("AP").to_dict()
    assert str(found.worst("nDCG@2", n=2)) == str(ev.worst("nDCG@2", n=2))


def test_the_file_says_who_wrote_it() -> None:
    data = json.loads(made().to_json())

    assert list(data)[:4] == ["rankine", "format", "format_version", "kind"]
    assert data["rankine"] == rk.__version__
    assert data["kind"] == "evaluation"


def test_files(tmp_path: Path) -> None:
    ev = made()
    (tmp_path / "text.json").write_text(ev.to_json())
    (tmp_path / "line.json").write_text("\ufeff" + ev.to_json(indent=None))
    ev.save(tmp_path / "saved.json")
    ev.save(str(tmp_path / "bare.json"), items=False)

    for name in ("text", "line", "saved", "bare"):
        found = rk.load(tmp_path / f"{name}.json")
        if name != "bare":
            assert_same(found, ev)
        assert_same(rk.load(str(tmp_path / f"{name}.json")), found)
        assert found.mean == ev.mean


def test_without_items_worst_says_so() -> None:
    found = rk.load(made().to_json(items=False))

    with pytest.raises(ParameterError, match="were not saved"):
        found.worst("AP")


@pytest.mark.slow
@pytest.mark.parametrize("name", ["rankine", "trec_eval", "rectools", "torchmetrics"])
def test_every_metric_of_judged_items(name: str) -> None:
    every = [
        metric
        for metric in rk.metrics().values()
        if type(metric) is rk.Metric and metric.fact.parameters.get("catalog", 1) == 1
    ]
    ev = rk.evaluate(QRELS, RUN, every, convention=name)

    assert_same(rk.load(ev.to_json()), ev)


def test_pooled_means_and_means_over_pairs_of_lists() -> None:
    rule = rk.Convention(aggregate="ratio_of_sums")
    ev = rk.evaluate(QRELS, RUN, ["P@2", "R@2"], convention=rule)
    lists = rk.evaluate(None, RUN, ["InterListDiversity@2", "Coverage"], catalog=9)
    mixed = rk.evaluate(QRELS, RUN, ["AP", "Coverage@1", "P@1"], catalog=9)

    assert ev.summaries["P@2"].parts is not None
    assert_same(rk.load(ev.to_json()), ev)
    assert_same(rk.load(lists.to_json()), lists)
    assert_same(rk.load(mixed.to_json()), mixed)
    assert (
        rk.load(mixed.to_json()).worst("P@1").to_dict() == mixed.worst("P@1").to_dict()
    )


def test_a_function_leaves_its_name() -> None:
    ev = rk.evaluate(None, {"u": ["a", "b"]}, "ILD@2", items=far)
    own = rk.evaluate(
        None, {"u": ["a", "b"]}, rk.ILD(distance=far) @ 2, items={"a": [1], "b": [2]}
    )

    assert_same(rk.load(ev.to_json()), ev)
    assert_same(rk.load(own.to_json()), own)
    assert list(rk.load(own.to_json()).mean) == ["ILD(distance=far)@2"]


def test_comparisons_of_runs() -> None:
    ev = rk.similarity(
        RUN, RUN | {"q1": {"x": 1.0, "k": 0.5}}, ["RBO(p=0.9)", "NDPM(on=union)"]
    )

    found = rk.load(ev.to_json())

    assert_same(found, ev)
    assert found["rbo(p=0.9)"] == ev["RBO(p=0.9)"]


def test_batches() -> None:
    batches = rk.Accumulator(["AP", "Coverage", "P@1"], catalog=9)
    batches.update({"q1": QRELS["q1"]}, {"q1": RUN["q1"]})
    batches.update({"q2": QRELS["q2"]}, {"q2": RUN["q2"]})
    ev = batches.result()

    found = rk.load(ev.to_json())

    assert_same(found, ev)
    with pytest.raises(ParameterError, match="has no items, which were not saved"):
        found.worst("AP")


IDS: dict[str, Any] = {
    "ints": {7: {1: 1}, 8: {2: 1}},
    "large": pl.DataFrame({"query": [2**63, 5], "item": [1, 2], "grade": [1, 1]}),
    "frame": pl.DataFrame({"query": [3, 5], "item": [1, 2], "grade": [1, 1]}),
    "texts": pl.DataFrame({"query": ["3", "5"], "item": ["1", "2"], "grade": [1, 1]}),
    "numpy": {np.int64(7): {np.int64(1): 1}},
    "floats": {5.0: {1: 1}, 7: {2: 2}},
}


@pytest.mark.parametrize("qrels", IDS.values(), ids=IDS)
def test_ids_keep_their_type(qrels: Any) -> None:
    if isinstance(qrels, dict):
        run: Any = {query: {9: 0.5, 1: 0.2} for query in qrels}
    else:
        run = qrels.rename({"grade": "score"})
    ev = rk.evaluate(qrels, run, "RR", keep=2)

    found = rk.load(ev.to_json())

    assert found.queries == ev.queries
    assert found.per_query.schema == ev.per_query.schema
    assert [type(one) for one in found.per_query["query"]] == [
        type(one) for one in ev.per_query["query"]
    ]
    assert found.worst("RR").to_dict() == ev.worst("RR").to_dict()


def test_ids_that_json_has_no_form_for_become_text() -> None:
    days = [date(2026, 1, day) for day in (1, 2, 3)]
    values = pl.DataFrame({"query": days, "a": [0.1, 0.2, 0.3], "b": [0.5, 0.2, 0.3]})

    found = rk.load(rk.compare_values(values).to_json())

    (query,) = found.moved("value", "a", "b", n=1)
    assert query.query == "2026-01-01"


def test_numbers_are_the_same_to_the_last_bit() -> None:
    rng = np.random.default_rng(0)
    qrels = {str(n): {str(i): 1 for i in range(7)} for n in range(40)}
    run = {n: {str(i): float(rng.random()) for i in range(30)} for n in qrels}
    ev = rk.evaluate(qrels, run, ["nDCG", "AP", "RBP"])

    found = rk.load(ev.to_json())

    for label in ev.mean:
        ours, theirs = found.summaries[label].values, ev.summaries[label].values
        assert ours.tobytes() == theirs.tobytes()


def test_what_is_not_finite() -> None:
    huge = {"q": {"a": 1e308, "b": 1e308}, "r": {"a": 1}}
    ev = rk.evaluate(huge, {"q": ["a", "b"], "r": ["a"]}, "CG@2")
    assert math.isinf(ev["CG@2"])

    assert "Infinity" not in ev.to_json()
    assert math.isinf(rk.load(ev.to_json())["CG@2"])


def test_a_name_with_half_a_character(tmp_path: Path) -> None:
    ev = made(name="run\udcff.txt")

    (tmp_path / "x.json").write_text(ev.to_json())

    assert rk.load(tmp_path / "x.json").name == "run\udcff.txt"


def test_only_items_that_can_be_shown_are_saved() -> None:
    scores = np.linspace(1, 0, 1000)[None, :]
    grades = np.zeros((1, 1000))
    grades[0, [3, 700]] = 1
    ev = rk.evaluate(rk.from_scores(grades), rk.from_scores(scores), "P@5", keep=3)

    saved = json.loads(ev.to_json())["saved"]["groups"][0]["items"]

    # The first three, of which none is relevant, and the two that are.
    assert saved["items"] == [0, 1, 2, 3, 700]
    assert saved["ranks"] == [1, 2, 3, 4, 701]
