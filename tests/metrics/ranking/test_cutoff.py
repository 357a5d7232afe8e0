from __future__ import annotations

from math import nan
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import rankine as rk
from rankine._metrics.ranking import F, HitCount, P, R, Success
from rankine.errors import ParameterError
from tests.rankings import table

if TYPE_CHECKING:
    from rankine._metrics.metric import Metric

TWO = {"a": 1, "b": 1}
THREE = {"a": 1, "b": 1, "c": 1}
GRADED = {"a": 2, "b": 1}


@pytest.mark.parametrize(
    ("run", "qrels", "params", "expected"),
    [
        pytest.param("x a y", TWO, {}, 1 / 3, id="whole-list"),
        pytest.param("x a b", TWO, {"k": 2}, 1 / 2, id="cut-off"),
        pytest.param("x a y", TWO, {"k": 5}, 1 / 5, id="beyond"),
        pytest.param("x a y", TWO, {"k": 5, "divisor": "k"}, 1 / 5, id="by-k"),
        pytest.param("x a y", TWO, {"k": 5, "divisor": "list"}, 1 / 3, id="by-list"),
        pytest.param("x a y", TWO, {"k": 2, "divisor": "list"}, 1 / 2, id="list-cut"),
        pytest.param("x a y", TWO, {"k": 5, "divisor": "min_k_R"}, 1 / 2, id="by-R"),
        pytest.param("a x", THREE, {"k": 2, "divisor": "min_k_R"}, 1 / 2, id="k-below"),
        pytest.param("a x", THREE, {"divisor": "min_k_R"}, 1 / 2, id="min-no-cut-off"),
        pytest.param("a b", GRADED, {}, 2 / 2, id="rel-1"),
        pytest.param("a b", GRADED, {"rel": 2}, 1 / 2, id="rel-2"),
        pytest.param("a b", {"a": 0.5}, {"rel": 0.5}, 1 / 2, id="rel-fraction"),
        pytest.param("a x b y", TWO, {"min_score": 2}, 2 / 3, id="min-score"),
        pytest.param("a x b y", TWO, {"min_score": 2.5}, 1 / 2, id="score-between"),
        pytest.param("a b x", TWO, {"min_score": 3, "k": 2}, 1 / 2, id="min-score-cut"),
        pytest.param(
            "a b x", TWO, {"min_score": 3, "k": 2, "divisor": "list"}, 1 / 1,
            id="min-score-by-list",
        ),
        pytest.param("a b", TWO, {"min_score": 9}, 0, id="nothing-recommended"),
        pytest.param("(a b)", {"a": 1}, {"k": 1}, 0, id="larger-id-first"),
        pytest.param("(a b)", {"b": 1}, {"k": 1}, 1, id="tied-larger-id"),
        pytest.param(
            "(a x y)", TWO, {"k": 1, "ties": "average"}, 1 / 3, id="ties-average"
        ),
        pytest.param("(a x y)", TWO, {"k": 1, "ties": "best"}, 1, id="ties-best"),
        pytest.param("(a b x)", TWO, {"k": 2, "ties": "worst"}, 1 / 2, id="ties-worst"),
        pytest.param(
            "(a x) b", TWO, {"min_score": 2, "k": 1, "ties": "average"}, 1 / 2,
            id="ties-min-score",
        ),
        pytest.param(
            "x (a b)", TWO, {"min_score": 2, "ties": "average"}, 0,
            id="ties-below-min-score",
        ),
        pytest.param("", TWO, {}, 0, id="empty-run"),
        pytest.param("", TWO, {"k": 3}, 0 / 3, id="empty-run-cut"),
        pytest.param("", TWO, {"k": 3, "divisor": "list"}, 0, id="empty-run-by-list"),
        pytest.param(
            "", TWO, {"k": 3, "divisor": "min_k_R"}, 0 / 2, id="empty-run-by-R"
        ),
        pytest.param("", TWO, {"divisor": "min_k_R"}, 0, id="empty-run-no-cut-off"),
        pytest.param("a x", {"a": 0}, {"k": 2}, 0 / 2, id="no-relevant"),
        pytest.param("a", {"a": 0}, {"k": 1, "divisor": "min_k_R"}, nan, id="no-R"),
        pytest.param("a b", {"a": -1, "b": 1}, {}, 1 / 2, id="negative-grade"),
        pytest.param("x y", TWO, {}, 0 / 2, id="unjudged"),
    ],
)  # fmt: skip
def test_precision(
    run: str, qrels: dict[str, float], params: dict[str, Any], expected: float
) -> None:
    values = P(**params).values(table(run, qrels))

    np.testing.assert_allclose(values, [expected], rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize(
    ("run", "qrels", "params", "expected"),
    [
        pytest.param("x a y", THREE, {}, 1 / 3, id="whole-list"),
        pytest.param("x a b", THREE, {"k": 2}, 1 / 3, id="cut-off"),
        pytest.param("x a b", THREE, {"k": 9}, 2 / 3, id="beyond"),
        pytest.param("a x b", THREE, {"k": 2, "divisor": "R"}, 1 / 3, id="by-R"),
        pytest.param("a x b", THREE, {"k": 2, "divisor": "min_k_R"}, 1 / 2, id="by-k"),
        pytest.param("a x", THREE, {"k": 9, "divisor": "min_k_R"}, 1 / 3, id="by-list"),
        pytest.param("a x", THREE, {"divisor": "min_k_R"}, 1 / 3, id="list-no-cut"),
        pytest.param(
            "a x y z", TWO, {"k": 3, "divisor": "min_k_R"}, 1 / 2, id="fewest-R"
        ),
        pytest.param("b x", GRADED, {}, 1 / 2, id="rel-1"),
        pytest.param("b x", GRADED, {"rel": 2}, 0 / 1, id="rel-2"),
        pytest.param("a x b", TWO, {"min_score": 2}, 1 / 2, id="min-score"),
        pytest.param(
            "a b x", TWO, {"min_score": 3, "k": 1, "divisor": "min_k_R"}, 1 / 1,
            id="min-score-by-k",
        ),
        pytest.param(
            "(a x y) b", TWO, {"k": 2, "ties": "average"}, (2 / 3) / 2,
            id="ties-average",
        ),
        pytest.param("(a b x)", TWO, {"k": 2, "ties": "best"}, 2 / 2, id="ties-best"),
        pytest.param("(a b x)", TWO, {"k": 2, "ties": "worst"}, 1 / 2, id="ties-worst"),
        pytest.param("", TWO, {}, 0 / 2, id="empty-run"),
        pytest.param("", TWO, {"k": 3, "divisor": "min_k_R"}, 0, id="empty-run-by-k"),
        pytest.param("a", {"a": 0}, {}, nan, id="no-relevant"),
        pytest.param("a", {"a": 0}, {"divisor": "min_k_R"}, nan, id="no-relevant-by-k"),
        pytest.param("a b", {"a": -1, "b": 1}, {"k": 1}, 0 / 1, id="negative-grade"),
        pytest.param("a b", {"a": -1, "b": 1}, {}, 1 / 1, id="negative-is-not-in-R"),
    ],
)  # fmt: skip
def test_recall(
    run: str, qrels: dict[str, float], params: dict[str, Any], expected: float
) -> None:
    values = R(**params).values(table(run, qrels))

    np.testing.assert_allclose(values, [expected], rtol=1e-12, atol=1e-15)


def f(p: float, r: float, beta: float = 1) -> float:
    return (1 + beta**2) * p * r / (beta**2 * p + r)


@pytest.mark.parametrize(
    ("run", "qrels", "params", "expected"),
    [
        pytest.param("x a b", TWO, {}, f(2 / 3, 1), id="whole-list"),
        pytest.param("x a b", THREE, {"k": 2}, f(1 / 2, 1 / 3), id="cut-off"),
        pytest.param("x a b", TWO, {"k": 5}, f(2 / 5, 1), id="beyond"),
        pytest.param(
            "x a", THREE, {"k": 5, "divisor": "k"}, f(1 / 5, 1 / 3), id="by-k"
        ),
        pytest.param(
            "x a", THREE, {"k": 5, "divisor": "list"}, f(1 / 2, 1 / 3), id="by-list"
        ),
        pytest.param(
            "x a", THREE, {"k": 5, "divisor": "min_k_R"}, f(1 / 3, 1 / 3), id="by-R"
        ),
        pytest.param("x a b", TWO, {"beta": 2}, f(2 / 3, 1, 2), id="beta-2"),
        pytest.param("x a b", TWO, {"beta": 0.5}, f(2 / 3, 1, 0.5), id="beta-half"),
        pytest.param("x a", THREE, {"beta": 0}, 1 / 2, id="beta-0-is-precision"),
        pytest.param("a b", GRADED, {"rel": 2}, f(1 / 2, 1), id="rel-2"),
        pytest.param("a x b", TWO, {"min_score": 2}, f(1 / 2, 1 / 2), id="min-score"),
        pytest.param(
            "(a x)", THREE, {"k": 1, "ties": "average"}, f(1, 1 / 3) / 2,
            id="ties-average",
        ),
        pytest.param(
            "(a x)", THREE, {"k": 1, "ties": "best"}, f(1, 1 / 3), id="ties-best"
        ),
        pytest.param("(a x)", THREE, {"k": 1, "ties": "worst"}, 0, id="ties-worst"),
        pytest.param("x", TWO, {}, 0, id="both-0"),
        pytest.param("", TWO, {}, 0, id="empty-run"),
        pytest.param("", TWO, {"beta": 0}, 0, id="empty-run-beta-0"),
        pytest.param("", TWO, {"beta": 0, "k": 2}, 0, id="empty-run-beta-0-cut"),
        pytest.param("", TWO, {"k": 2, "divisor": "list"}, 0, id="empty-run-by-list"),
        pytest.param("a", {"a": 0}, {}, nan, id="no-relevant"),
        pytest.param("a b", {"a": -1, "b": 1}, {}, f(1 / 2, 1), id="negative-grade"),
    ],
)  # fmt: skip
def test_f(
    run: str, qrels: dict[str, float], params: dict[str, Any], expected: float
) -> None:
    values = F(**params).values(table(run, qrels))

    np.testing.assert_allclose(values, [expected], rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize(
    ("run", "qrels", "params", "expected"),
    [
        pytest.param("x a", TWO, {}, 1, id="whole-list"),
        pytest.param("x a", TWO, {"k": 1}, 0, id="cut-off"),
        pytest.param("a b", TWO, {"k": 2}, 1, id="two-hits-count-once"),
        pytest.param("x a", TWO, {"k": 9}, 1, id="beyond"),
        pytest.param("b", GRADED, {"rel": 2}, 0, id="rel-2"),
        pytest.param(
            "(a b x y)", TWO, {"k": 2, "ties": "average"}, 1 - (2 / 4) * (1 / 3),
            id="ties-average",
        ),
        pytest.param("(a x)", TWO, {"k": 1, "ties": "best"}, 1, id="ties-best"),
        pytest.param("(a x)", TWO, {"k": 1, "ties": "worst"}, 0, id="ties-worst"),
        pytest.param("(a b x)", TWO, {"k": 2, "ties": "worst"}, 1, id="ties-certain"),
        pytest.param("", TWO, {}, 0, id="empty-run"),
        pytest.param("a", {"a": 0}, {}, 0, id="no-relevant"),
        pytest.param("a", {"a": -1}, {}, 0, id="negative-grade"),
        pytest.param("x", TWO, {}, 0, id="unjudged"),
    ],
)  # fmt: skip
def test_success(
    run: str, qrels: dict[str, float], params: dict[str, Any], expected: float
) -> None:
    values = Success(**params).values(table(run, qrels))

    np.testing.assert_allclose(values, [expected], rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize(
    ("run", "qrels", "params", "expected"),
    [
        pytest.param("x a b", TWO, {}, 2, id="whole-list"),
        pytest.param("x a b", TWO, {"k": 2}, 1, id="cut-off"),
        pytest.param("x a b", TWO, {"k": 9}, 2, id="beyond"),
        pytest.param("a b", GRADED, {"rel": 2}, 1, id="rel-2"),
        pytest.param(
            "(a b x)", TWO, {"k": 2, "ties": "average"}, 2 * 2 / 3, id="ties-average"
        ),
        pytest.param("(a b x)", TWO, {"k": 2, "ties": "best"}, 2, id="ties-best"),
        pytest.param("(a b x)", TWO, {"k": 2, "ties": "worst"}, 1, id="ties-worst"),
        pytest.param("", TWO, {}, 0, id="empty-run"),
        pytest.param("a", {"a": 0}, {}, 0, id="no-relevant"),
        pytest.param("a b", {"a": -1, "b": 1}, {}, 1, id="negative-grade"),
    ],
)
def test_hit_count(
    run: str, qrels: dict[str, float], params: dict[str, Any], expected: float
) -> None:
    values = HitCount(**params).values(table(run, qrels))

    np.testing.assert_allclose(values, [expected], rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize(("how", "expected"), [("sum", 2 + 1), ("mean", (2 + 1) / 2)])
def test_hits_are_added_up_or_averaged(how: str, expected: float) -> None:
    qrels = {"q": {"a": 1, "b": 1}, "r": {"a": 1}}
    metric = HitCount(aggregate=how)

    found = rk.evaluate(qrels, {"q": ["a", "b"], "r": ["a"]}, metric)

    assert found[metric] == expected


@pytest.mark.parametrize("metric", [P, R, F, Success, HitCount], ids=str)
@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"k": 0}, "k must be a positive integer or None, got 0"),
        ({"k": -3}, "k must be a positive integer or None, got -3"),
        ({"k": True}, "k must be a positive integer or None, got True"),
        ({"k": 2.5}, r"k must be a positive integer or None, got 2\.5"),
        ({"rel": "high"}, "rel must be a finite number, got 'high'"),
        ({"rel": nan}, "rel must be a finite number, got nan"),
        ({"ties": "avrage"}, "ties must be one of .* did you mean 'average'"),
        ({"kk": 2}, "has no parameter 'kk'"),
    ],
)
def test_refuses_parameters(
    metric: Metric, params: dict[str, Any], message: str
) -> None:
    with pytest.raises(ParameterError, match=message):
        metric(**params)


@pytest.mark.parametrize(
    ("metric", "params", "message"),
    [
        (P, {"divisor": "R"}, "divisor must be one of k, list, min_k_R, got 'R'"),
        (R, {"divisor": "k"}, "divisor must be one of R, min_k_R, got 'k'"),
        (F, {"divisor": "hits"}, "divisor must be one of k, list, min_k_R"),
        (F, {"beta": -1}, "beta must be a number at least 0, got -1"),
        (F, {"beta": True}, "beta must be a number at least 0, got True"),
        (P, {"min_score": "low"}, "min_score must be a finite number, got 'low'"),
        (R, {"min_score": nan}, "min_score must be a finite number, got nan"),
        (Success, {"beta": 1}, "Success has no parameter 'beta'"),
    ],
)
def test_refuses_parameters_of_its_own(
    metric: Metric, params: dict[str, Any], message: str
) -> None:
    with pytest.raises(ParameterError, match=message):
        metric(**params)
