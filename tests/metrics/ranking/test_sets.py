from __future__ import annotations

from math import nan
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from rankine._metrics.ranking import SetAP, SetF, SetP, SetR, SetRelP, Utility
from rankine.errors import ParameterError
from tests.rankings import table

if TYPE_CHECKING:
    from rankine._metrics.metric import Metric

TWO = {"a": 1, "b": 1}
FOUR = {"a": 1, "b": 1, "c": 1, "d": 1}
GRADED = {"a": 2, "b": 1}


@pytest.mark.parametrize(
    ("run", "qrels", "params", "expected"),
    [
        pytest.param("x a b", TWO, {}, 2 / 3, id="hits-of-the-list"),
        pytest.param("x (a b)", TWO, {}, 2 / 3, id="tied"),
        pytest.param("x a b", GRADED, {"rel": 2}, 1 / 3, id="rel-2"),
        pytest.param("", TWO, {}, 0, id="empty-run"),
        pytest.param("a x", {"a": 0}, {}, 0 / 2, id="no-relevant"),
        pytest.param("a b", {"a": -1, "b": 1}, {}, 1 / 2, id="negative-grade"),
    ],
)
def test_set_precision(
    run: str, qrels: dict[str, float], params: dict[str, Any], expected: float
) -> None:
    values = SetP(**params).values(table(run, qrels))

    np.testing.assert_allclose(values, [expected], rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize(
    ("run", "qrels", "params", "expected"),
    [
        pytest.param("x a b", FOUR, {}, 2 / 4, id="hits-of-R"),
        pytest.param("x b", GRADED, {"rel": 2}, 0 / 1, id="rel-2"),
        pytest.param("", TWO, {}, 0 / 2, id="empty-run"),
        pytest.param("a x", {"a": 0}, {}, nan, id="no-relevant"),
        pytest.param("a b", {"a": -1, "b": 1}, {}, 1 / 1, id="negative-grade"),
    ],
)
def test_set_recall(
    run: str, qrels: dict[str, float], params: dict[str, Any], expected: float
) -> None:
    values = SetR(**params).values(table(run, qrels))

    np.testing.assert_allclose(values, [expected], rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize(
    ("run", "qrels", "params", "expected"),
    [
        pytest.param("x a", FOUR, {}, 1 / 2, id="list-is-shorter"),
        pytest.param("x y a", TWO, {}, 1 / 2, id="R-is-smaller"),
        pytest.param("x a", GRADED, {"rel": 2}, 1 / 1, id="rel-2"),
        pytest.param("", TWO, {}, 0, id="empty-run"),
        pytest.param("a x", {"a": 0}, {}, nan, id="no-relevant"),
        pytest.param("", {"a": 0}, {}, nan, id="neither"),
        pytest.param("a b", {"a": -1, "b": 1}, {}, 1 / 1, id="negative-grade"),
    ],
)
def test_set_relative_precision(
    run: str, qrels: dict[str, float], params: dict[str, Any], expected: float
) -> None:
    values = SetRelP(**params).values(table(run, qrels))

    np.testing.assert_allclose(values, [expected], rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize(
    ("run", "qrels", "params", "expected"),
    [
        pytest.param("x a b", FOUR, {}, (2 / 3) * (2 / 4), id="product"),
        pytest.param("x a b", GRADED, {"rel": 2}, (1 / 3) * (1 / 1), id="rel-2"),
        pytest.param("", TWO, {}, 0, id="empty-run"),
        pytest.param("a x", {"a": 0}, {}, nan, id="no-relevant"),
        pytest.param("a b", {"a": -1, "b": 1}, {}, (1 / 2) * 1, id="negative-grade"),
    ],
)
def test_set_average_precision(
    run: str, qrels: dict[str, float], params: dict[str, Any], expected: float
) -> None:
    values = SetAP(**params).values(table(run, qrels))

    np.testing.assert_allclose(values, [expected], rtol=1e-12, atol=1e-15)


def f(p: float, r: float, beta: float = 1) -> float:
    return (beta + 1) * p * r / (beta * p + r)


@pytest.mark.parametrize(
    ("run", "qrels", "params", "expected"),
    [
        pytest.param("x a b", FOUR, {}, f(2 / 3, 2 / 4), id="whole-list"),
        pytest.param("x a b", FOUR, {"beta": 3}, f(2 / 3, 2 / 4, 3), id="beta-3"),
        pytest.param("x a b", FOUR, {"beta": 0}, 2 / 3, id="beta-0-is-precision"),
        pytest.param("x a b", GRADED, {"rel": 2}, f(1 / 3, 1), id="rel-2"),
        pytest.param("x y", TWO, {}, 0, id="no-hit"),
        pytest.param("", TWO, {}, 0, id="empty-run"),
        pytest.param("", TWO, {"beta": 0}, 0, id="empty-run-beta-0"),
        pytest.param("a x", {"a": 0}, {}, nan, id="no-relevant"),
        pytest.param("a b", {"a": -1, "b": 1}, {}, f(1 / 2, 1), id="negative-grade"),
    ],
)
def test_set_f(
    run: str, qrels: dict[str, float], params: dict[str, Any], expected: float
) -> None:
    values = SetF(**params).values(table(run, qrels))

    np.testing.assert_allclose(values, [expected], rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize(
    ("run", "qrels", "params", "expected"),
    [
        pytest.param("x a y", FOUR, {}, 1 - 2, id="default"),
        pytest.param("x a y", FOUR, {"weights": (2, 0, 0, 0)}, 2 * 1, id="hits"),
        pytest.param("x a y", FOUR, {"weights": (0, -3, 0, 0)}, -3 * 2, id="false"),
        pytest.param("x a y", FOUR, {"weights": (0, 0, 5, 0)}, 5 * 3, id="missed"),
        pytest.param(
            "x a y", FOUR, {"weights": (0, 0, 0, 7), "catalog": 10},
            7 * (10 - 1 - 2 - 3), id="rest",
        ),
        pytest.param(
            "x a y", FOUR, {"weights": (0, 0, 0, 7)}, 7 * (0 - 1 - 2 - 3),
            id="rest-of-nothing",
        ),
        pytest.param(
            "x a y", FOUR, {"weights": [1, 0.5, -2, 0]}, 1 + 0.5 * 2 - 2 * 3,
            id="list-of-weights",
        ),
        pytest.param("a b", GRADED, {"rel": 2}, 1 - 1, id="rel-2"),
        pytest.param("", TWO, {"weights": (1, 1, 1, 0)}, 0 + 0 + 2, id="empty-run"),
        pytest.param("a x", {"a": 0}, {}, 0 - 2, id="no-relevant"),
        pytest.param("a b", {"a": -1, "b": 1}, {}, 1 - 1, id="negative-grade"),
    ],
)  # fmt: skip
def test_utility(
    run: str, qrels: dict[str, float], params: dict[str, Any], expected: float
) -> None:
    values = Utility(**params).values(table(run, qrels))

    np.testing.assert_allclose(values, [expected], rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize("metric", [SetP, SetR, SetRelP, SetAP, SetF, Utility], ids=str)
@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"rel": "high"}, "rel must be a finite number, got 'high'"),
        ({"rel": True}, "rel must be a finite number, got True"),
        ({"k": 5}, "has no parameter 'k'"),
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
        (SetF, {"beta": -1}, "beta must be a number at least 0, got -1"),
        (SetF, {"beta": "1"}, "beta must be a number at least 0, got '1'"),
        (Utility, {"weights": (1, 2, 3)}, r"weights must be four numbers, got \(1, 2"),
        (Utility, {"weights": 1}, "weights must be four numbers, got 1"),
        (Utility, {"weights": (1, 2, 3, "x")}, "a weight must be a finite number"),
        (Utility, {"catalog": -1}, "catalog must be an integer of at least 0, got -1"),
    ],
)
def test_refuses_parameters_of_its_own(
    metric: Metric, params: dict[str, Any], message: str
) -> None:
    with pytest.raises(ParameterError, match=message):
        metric(**params)
