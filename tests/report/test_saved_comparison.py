"""Comparisons come back as they were saved, and damage is told in one sentence."""

from __future__ import annotations

import json
from contextlib import suppress
from copy import deepcopy
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
import pytest
from polars.testing import assert_frame_equal

import rankine as rk
from rankine._report.charts import first_curve
from rankine.errors import DataError, FormatError, ParameterError
from tests.evaluate.comparisons import BOTH, NEW, OLD, QRELS, compared, values_compared
from tests.report.test_damaged import WRONG, _places

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

BY = {f"q{n}": "odd" if n % 2 else "even" for n in range(1, 6)}
WEIGHTS = {"q1": 3, "q2": 1, "q3": 1, "q4": 2, "q5": 0.5}
OPTIONS: dict[str, dict[str, Any]] = {
    "plain": {},
    "baseline": {"baseline": "new", "margin": {"RR": 0.2}},
    "segments": {"by": BY, "confidence": 0.9, "seed": 4},
    "weights": {"weights": WEIGHTS, "test": "t"},
    "maxt": {"correction": "maxt", "family": "all"},
    "tukey": {"test": "tukey_hsd"},
    "preset": {"convention": "trec_eval"},
    "missing": {"convention": BOTH, "runs": {"old": OLD, "new": {"q1": ["a"]}}},
    "nothing kept": {"keep": None},
    "whole": {"metrics": ["RR", "Coverage", "InterListDiversity"], "catalog": 30},
    "only whole": {"metrics": ["Gini"], "catalog": 30, "margin": 0.5},
}


def assert_same(found: rk.Comparison, wanted: rk.Comparison) -> None:
    """Compare everything that a reader can ask for."""
    assert type(found) is rk.Comparison
    for name in ("table", "pairwise"):
        assert_frame_equal(
            getattr(found, name), getattr(wanted, name), check_exact=True
        )
    for name in ("systems", "metrics", "queries", "baseline", "margins", "settings"):
        assert getattr(found, name) == getattr(wanted, name), name
    for name in ("notes", "warnings", "sentences", "letters", "is_segmented"):
        assert getattr(found, name) == getattr(wanted, name), name
    for drawn in ("__str__", "__repr__", "_repr_html_", "to_json", "to_dict"):
        assert getattr(found, drawn)() == getattr(wanted, drawn)(), drawn
    assert found.to_markdown() == wanted.to_markdown()
    assert found.to_latex() == wanted.to_latex()


@pytest.mark.slow
@pytest.mark.parametrize("options", OPTIONS.values(), ids=OPTIONS)
def test_what_comes_back_is_what_was_saved(options: dict[str, Any]) -> None:
    saved = compared(**{"metrics": ["RR", "nDCG@3"], **options})

    found = rk.load(saved.to_json())

    assert_same(found, saved)
    if "RR" in saved.metrics:
        a, b = saved.systems[:2]
        assert str(found.moved("MRR", a, b)) == str(saved.moved("RR", a, b))
        assert found.moved("RR", a, b).queries == saved.moved("RR", a, b).queries
        assert repr(found.risk("RR", a)) == repr(saved.risk("RR", a))
        needed = [rk.queries_needed(one, width=0.1) for one in (found, saved)]
        assert repr(needed[0]) == repr(needed[1])
    if saved.is_segmented:
        assert_frame_equal(found.segments, saved.segments, check_exact=True)
        assert_frame_equal(found.gaps, saved.gaps, check_exact=True)


def test_values_computed_elsewhere() -> None:
    table = pl.DataFrame(
        {"query": [1, 2, 3], "x": [0.1, None, 0.3], "y": [0.5, 0.1, 0.7]}
    )
    for saved in (
        values_compared(margin=0.1, seed=2),
        rk.compare_values(table, higher_is_better=False, baseline="y"),
        rk.compare_values(table.clear()),
    ):
        assert_same(rk.load(saved.to_json()), saved)


def test_the_lists_are_in_it(tmp_path: Path) -> None:
    saved = compared("RR")
    saved.save(tmp_path / "all.json")
    saved.save(str(tmp_path / "bare.json"), items=False)

    found, bare = (rk.load(tmp_path / f"{name}.json") for name in ("all", "bare"))

    old, _ = found.moved("RR", "old", "new")[0].tops
    assert [tuple(one) for one in old] == [
        (1, "x", None), (2, "y", None), (3, "z", None), (4, "c", 1),
    ]  # fmt: skip
    assert bare.moved("RR", "old", "new")[0].tops == ((), ())
    assert_frame_equal(bare.pairwise, saved.pairwise)
    for name, run in (("old", OLD), ("new", NEW)):
        wanted = rk.evaluate(QRELS, run, "RR")
        assert_frame_equal(
            found.evaluations[name].per_query, wanted.per_query.sort("query")
        )


def test_evaluations_are_in_the_order_of_ids() -> None:
    qrels = {"q2": {"b": 0}, "q1": {"a": 1}, "q0": {"c": 1}}
    runs = {name: {query: ["a", "c"] for query in qrels} for name in "xy"}

    found = rk.load(rk.compare(qrels, runs, "RR").to_json()).evaluations["x"]

    assert found.queries == ["q0", "q1", "q2"]
    assert found.summaries["RR"].values.tolist() == [1 / 2, 1, 0]
    assert found.summaries["RR"].empty.tolist() == [False, False, True]
    assert found.worst("RR")[0].query == "q2"


def test_warnings_are_those_of_then() -> None:
    data = document()
    data["warnings"] = ["what was said then"]

    assert rk.load(json.dumps(data)).warnings == ("what was said then",)


def test_ids_keep_their_type() -> None:
    qrels: dict[Any, Any] = {7: {1: 1}, 8: {2: 1}}
    runs = {"a": {7: [3, 1], 8: [2]}, "b": {7: [1], 8: [np.int64(5), 2]}}

    saved = rk.compare(qrels, runs, "RR")
    found = rk.load(saved.to_json(indent=None))

    assert_same(found, saved)
    assert found.queries == [7, 8]
    assert found.moved("RR", "a", "b").queries == saved.moved("RR", "a", "b").queries


def test_names_that_json_or_a_label_could_take_wrongly() -> None:
    odd = {"": OLD, "a.b[0]": NEW, "r\u00fcn <b>": OLD}
    saved = compared("RR", odd)

    assert_same(rk.load(saved.to_json()), saved)


def test_a_file_that_cannot_be_written(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"cannot be written \(Is a directory\)"):
        compared("RR").save(tmp_path)


def test_without_segments_it_says_so() -> None:
    with pytest.raises(ParameterError, match="segments need by="):
        _ = rk.load(compared("RR").to_json()).segments


def document() -> dict[str, Any]:
    made = compared(
        ["RR", "Coverage"], {"old": OLD, "new": NEW}, catalog=30, weights=WEIGHTS,
        test="t", margin=0.1,
    )  # fmt: skip
    found: dict[str, Any] = json.loads(made.to_json())
    return found


def _put(*path: Any, value: Any) -> Callable[[dict[str, Any]], None]:
    def change(data: dict[str, Any]) -> None:
        inside: Any = data
        for key in path[:-1]:
            inside = inside[key]
        inside[path[-1]] = value

    return change


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (_put("format_version", value=2), r"a newer rankine saved this \(format 2"),
        (_put("kind", value="evaluation"), "damaged, saved.metrics is missing"),
        (
            _put("values", "RR", "new", value=[1, None]),
            "damaged, values.RR.new has 2 entries, not 5",
        ),
        (_put("values", "RR", value={}), "damaged, values.RR.old is missing"),
        (
            _put("values", "RR", "old", 0, value="nan"),
            r"damaged, values.RR.old\[0\] is not a number",
        ),
        (
            _put("values", "RR", "old", 0, value="inf"),
            "damaged, values.RR.old has a number that is infinite",
        ),
        (
            _put("saved", "weights", 1, value=None),
            "damaged, saved.weights has a weight that is not a number from 0",
        ),
        (
            _put("saved", "means", value=[[1, 2]]),
            "damaged, saved.means has 1 entries, not 2",
        ),
        (
            _put("saved", "wholes", 0, "without", 1, value=[1]),
            r"damaged, saved.wholes\[0\].without\[1\] has 1 entries, not 5",
        ),
        (
            _put("saved", "evaluations", 0, "saved", "groups", 0, "ids", value=["q1"]),
            r"saved.evaluations\[0\].saved.groups\[0\].items.counts has 5 entries, not",
        ),
        (_put("systems", value=["old", "old"]), "damaged, systems has one of them twi"),
        (_put("systems", value=["old"]), "damaged, systems has fewer than two systems"),
        (_put("baseline", value="odl"), "damaged, baseline is 'odl'; expected one of"),
        (_put("test", value="u"), r"damaged, the settings are not valid \(test must b"),
        (_put("test", value="sign"), r"settings are not valid \(.*takes no weights"),
        (
            _put("margins", value={"RR": -1}),
            "damaged, margins.RR is not a margin above",
        ),
        (_put("margins", value={"AP": 1}), "damaged, margins.AP is not a margin above"),
        (_put("metrics", value=["AP", "Coverage"]), "damaged, values.AP is missing"),
        (
            _put("saved", "evaluations", 1, "saved", "metrics", 0, "name", value="AP"),
            r"saved.evaluations\[1\] is not an evaluation by the metrics that are comp",
        ),
    ],
)
def test_damage_is_told_with_its_place(change: Any, message: str) -> None:
    data = document()
    change(data)

    with pytest.raises(FormatError, match=message):
        rk.load(json.dumps(data))


def test_half_a_file() -> None:
    with pytest.raises(FormatError, match="this is not JSON, or it is incomplete"):
        rk.load(compared("RR").to_json()[:-9])


@pytest.mark.slow
def test_no_damage_goes_further_than_one_sentence() -> None:
    data = document()
    # Evaluations are damaged in their own tests; tables are for readers alone.
    places = [
        path
        for path in _places(data)[1:]
        if path[0] not in {"table", "pairwise", "convention"}
        and ("evaluations" not in path or len(path) <= 4)
    ]
    for path in places:
        for wrong in (*WRONG, ...):
            broken = deepcopy(data)
            inside = broken
            for key in path[:-1]:
                inside = inside[key]
            if wrong is ...:
                del inside[path[-1]]
            else:
                inside[path[-1]] = wrong
            with suppress(FormatError):
                found = rk.load(json.dumps(broken))
                assert str(found)
                assert found.to_json()


def drawn(spec: tuple[str, Any] | str) -> Any:
    return spec if isinstance(spec, str) else (spec[0], spec[1]["data"]["values"])


@pytest.mark.parametrize(
    "options", [{}, {"confidence": 0.9}, {"metrics": ["AP", "P@2"]}], ids=str
)
def test_curves_come_back(options: dict[str, Any]) -> None:
    saved = compared(**{"metrics": ["RR", "nDCG@3"], **options})

    loaded = rk.load(saved.to_json())

    # Computed anew, of a comparison that was never saved.
    fresh = compared(**{"metrics": ["RR", "nDCG@3"], **options})
    label, points = drawn(first_curve(fresh))
    assert drawn(first_curve(loaded)) == (label, points)
    assert {point["system"] for point in points} == set(saved.systems)


def test_curves_that_were_asked_for_come_back() -> None:
    saved = compared(metrics=["RR", "nDCG@3"])
    asked = {name: ev.curve("P", [2, 4]) for name, ev in saved.evaluations.items()}

    loaded = rk.load(saved.to_json())

    for name, evaluation in loaded.evaluations.items():
        assert_frame_equal(evaluation.curve("P", [2, 4]), asked[name])
        with pytest.raises(ParameterError, match="no longer has the ranks"):
            evaluation.curve("P", [2, 5])


def test_what_was_saved_without_curves_is_loaded() -> None:
    data = json.loads(compared(metrics=["RR", "nDCG@3"]).to_json())
    for part in data["saved"]["evaluations"]:
        del part["saved"]["curves"]

    loaded = rk.load(json.dumps(data))

    assert drawn(first_curve(loaded)) == "Evaluation no longer has the ranks of items"


def test_the_curve_of_an_evaluation_comes_back() -> None:
    evaluation = compared(metrics=["RR", "nDCG@3"]).evaluations["old"]

    loaded = rk.load(evaluation.to_json())

    points = loaded.curve("RR", [1, 2, 3, 5, 7, 10, 15, 20, 30, 50, 100])
    again = compared(metrics=["RR", "nDCG@3"]).evaluations["old"]
    assert_frame_equal(points, again.curve("RR", points["k"].to_list()))
