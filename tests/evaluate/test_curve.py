"""curve: the same numbers as evaluating every cutoff."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest

import rankine as rk
from rankine._base.limits import limited
from rankine.errors import ParameterError

QRELS = {"q1": {"a": 1, "b": 1}, "q2": {"c": 1}}
RUN = {"q1": ["a", "x", "b"], "q2": ["x", "c", "y"]}


def test_a_curve_by_hand() -> None:
    frame = rk.evaluate(QRELS, RUN, "AP").curve("P", ks=[1, 2, 3])

    assert frame.columns == ["k", "value", "low", "high"]
    assert frame["k"].to_list() == [1, 2, 3]
    wanted = [(1 + 0) / 2, (1 / 2 + 1 / 2) / 2, (2 / 3 + 1 / 3) / 2]
    assert frame["value"].to_list() == pytest.approx(wanted, rel=1e-15)


def _random() -> tuple[dict[str, Any], dict[str, Any]]:
    rng = np.random.default_rng(3)
    items = [f"d{n}" for n in range(30)]
    qrels, run = {}, {}
    for number in range(25):
        judged = rng.choice(items, 12, replace=False).tolist()
        grades = rng.integers(0, 4, 12).tolist()
        qrels[f"q{number}"] = dict(zip(judged, grades, strict=True))
        scores = rng.integers(0, 20, 30) / 4
        run[f"q{number}"] = dict(zip(items, scores.tolist(), strict=True))
    return qrels, run


@pytest.mark.parametrize("convention", ["rankine", "trec_eval", "ranx", "rectools"])
@pytest.mark.parametrize(
    "metric", ["P", "R", "nDCG", "AP", "RR", "nDCG(gain='exponential')", "P(rel=2)"]
)
def test_it_is_what_evaluate_gives(metric: str, convention: str) -> None:
    qrels, run = _random()
    ks = [1, 3, 10, 30, 50]
    ev = rk.evaluate(qrels, run, ["AP", f"{metric}@50"], convention=convention)
    frame = ev.curve(metric, ks)

    for k, value, low, high in frame.iter_rows():
        name = str(rk.parse(metric) @ k)
        single = rk.evaluate(qrels, run, name, convention=convention)
        assert (value, (low, high)) == (single[name], single.interval(name))


@pytest.mark.parametrize("options", [{"rel": 2}, {"ties": "worst"}, {"depth": 5}])
def test_options_of_the_evaluation_hold(options: dict[str, Any]) -> None:
    qrels, run = _random()
    ev = rk.evaluate(qrels, run, "P@20", **options)
    (value,) = ev.curve("P", [4])["value"]
    assert value == rk.evaluate(qrels, run, "P@4", **options)["P@4"]


def test_weights_hold() -> None:
    weights = {"q1": 3, "q2": 1}
    (value,) = rk.evaluate(QRELS, RUN, "AP", weights=weights).curve("P", [1])["value"]
    assert value == (3 * 1 + 0) / 4


def test_cutoffs_come_once() -> None:
    frame = rk.evaluate(QRELS, RUN, "AP").curve(rk.R, [2, 1, 2])
    assert frame["k"].to_list() == [2, 1]


def test_what_was_not_looked_at_is_told() -> None:
    rows = [(q, item, -n) for q, shown in RUN.items() for n, item in enumerate(shown)]
    run = pl.DataFrame(rows, schema=["query", "item", "score"], orient="row")
    with limited(whole_rows=0):
        ev = rk.evaluate(QRELS, run, "P@1")
    with pytest.raises(
        ParameterError, match="only down to rank 1, which is not enough for R@3"
    ):
        ev.curve("R", [1, 3])


@pytest.mark.parametrize(
    ("metric", "ks", "said"),
    [
        ("SetP", [1], "SetP has no k"),
        ("Coverage", [1], "Coverage is a metric of lists"),
        ("P", [], "ks is empty; give at least one cutoff"),
        ("P", "5", "ks must be cutoffs"),
        ("P", 5, "ks must be cutoffs"),
        ("P", [0], "positive integer"),
        ("P", [None], "leave None out"),
        ("P(min_score=1)", [2], "no evaluated metric has the data that"),
    ],
)
def test_what_has_no_curve_is_refused(metric: str, ks: Any, said: str) -> None:
    with pytest.raises(ParameterError, match=said):
        rk.evaluate(QRELS, RUN, "AP").curve(metric, ks)


def test_a_result_without_items_has_no_curve() -> None:
    total = rk.Accumulator("P@5").update(QRELS, RUN).result()
    with pytest.raises(
        ParameterError, match="Accumulated no longer has the ranks of items"
    ):
        total.curve("P", [1])


@pytest.mark.parametrize("first", ["Coverage", "NumRel"])
def test_weights_are_those_of_its_own_queries(first: str) -> None:
    weights = {"q1": 3, "q2": 1}
    options: dict[str, Any] = {"weights": weights, "catalog": 9}
    ev = rk.evaluate(QRELS, RUN, [first, "AP"], convention="ir_measures", **options)
    (value,) = ev.curve("P", [1])["value"]
    assert value == (3 * 1 + 0) / 4


def test_a_curve_is_of_a_metric() -> None:
    with pytest.raises(
        ParameterError, match="a metric must be a name or a Metric, got 3"
    ):
        rk.evaluate(QRELS, RUN, "AP").curve(3, [1])  # type: ignore[arg-type]


def test_a_depth_ends_a_curve() -> None:
    with pytest.raises(ParameterError, match="not enough for P@3; evaluate that too"):
        rk.evaluate(QRELS, RUN, "AP", depth=2).curve("P", [3])
