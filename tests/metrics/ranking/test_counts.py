from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import rankine as rk
from rankine._metrics.ranking import (
    Judged,
    NumNonrelJudgedRet,
    NumQ,
    NumRel,
    NumRelRet,
    NumRet,
    Unjudged,
)
from rankine.errors import ParameterError
from tests.rankings import table

if TYPE_CHECKING:
    from rankine._metrics.metric import Metric

MIXED = {"a": 2, "b": 1, "c": 0, "d": -1}


@pytest.mark.parametrize(
    ("run", "qrels", "params", "expected"),
    [
        pytest.param("x a y", MIXED, {}, 3, id="judged-or-not"),
        pytest.param("(x a) (y z)", MIXED, {}, 4, id="tied"),
        pytest.param("", MIXED, {}, 0, id="empty-run"),
        pytest.param("x", {"a": 0}, {}, 1, id="no-relevant"),
    ],
)
def test_n_retrieved(
    run: str, qrels: dict[str, float], params: dict[str, Any], expected: float
) -> None:
    values = NumRet(**params).values(table(run, qrels))

    np.testing.assert_array_equal(values, [expected])


@pytest.mark.parametrize(
    ("run", "qrels", "params", "expected"),
    [
        pytest.param("x a", MIXED, {}, 2, id="retrieved-or-not"),
        pytest.param("x a", MIXED, {"rel": 2}, 1, id="rel-2"),
        pytest.param("x a", MIXED, {"rel": 0}, 3, id="rel-0-without-negative"),
        pytest.param("", MIXED, {}, 2, id="empty-run"),
        pytest.param("a", {"a": 0}, {}, 0, id="no-relevant"),
    ],
)
def test_n_relevant(
    run: str, qrels: dict[str, float], params: dict[str, Any], expected: float
) -> None:
    values = NumRel(**params).values(table(run, qrels))

    np.testing.assert_array_equal(values, [expected])


@pytest.mark.parametrize(
    ("run", "qrels", "params", "expected"),
    [
        pytest.param("x b c d", MIXED, {}, 1, id="hits"),
        pytest.param("a b", MIXED, {}, 2, id="all"),
        pytest.param("a b", MIXED, {"rel": 2}, 1, id="rel-2"),
        pytest.param("", MIXED, {}, 0, id="empty-run"),
        pytest.param("a", {"a": 0}, {}, 0, id="no-relevant"),
    ],
)
def test_n_relevant_retrieved(
    run: str, qrels: dict[str, float], params: dict[str, Any], expected: float
) -> None:
    values = NumRelRet(**params).values(table(run, qrels))

    np.testing.assert_array_equal(values, [expected])


@pytest.mark.parametrize(
    ("run", "qrels", "params", "expected"),
    [
        pytest.param("x a b c d", MIXED, {}, 1, id="neither-unjudged-nor-negative"),
        pytest.param("x a b c d", MIXED, {"rel": 2}, 2, id="rel-2"),
        pytest.param("", MIXED, {}, 0, id="empty-run"),
        pytest.param("a x", {"a": 0}, {}, 1, id="no-relevant"),
    ],
)
def test_n_nonrelevant_judged_retrieved(
    run: str, qrels: dict[str, float], params: dict[str, Any], expected: float
) -> None:
    values = NumNonrelJudgedRet(**params).values(table(run, qrels))

    np.testing.assert_array_equal(values, [expected])


@pytest.mark.parametrize(
    ("run", "qrels", "params", "expected"),
    [
        pytest.param("x a", MIXED, {}, 1, id="one"),
        pytest.param("", MIXED, {}, 1, id="empty-run"),
        pytest.param("a", {"a": 0}, {}, 1, id="no-relevant"),
    ],
)
def test_n_queries(
    run: str, qrels: dict[str, float], params: dict[str, Any], expected: float
) -> None:
    values = NumQ(**params).values(table(run, qrels))

    np.testing.assert_array_equal(values, [expected])


@pytest.mark.parametrize(
    ("metric", "expected"),
    [
        (NumRet, 2 + 1),
        (NumRel, 1 + 2),
        (NumRelRet, 1 + 1),
        (NumNonrelJudgedRet, 1 + 0),
        (NumQ, 1 + 1),
    ],
    ids=str,
)
def test_counts_are_summed_over_queries(metric: Metric, expected: float) -> None:
    qrels = {"q": {"a": 1, "b": 0}, "r": {"a": 1, "b": 1}}

    found = rk.evaluate(qrels, {"q": ["b", "a"], "r": ["a"]}, [metric])

    assert found[metric] == expected


@pytest.mark.parametrize(
    ("run", "qrels", "params", "expected"),
    [
        pytest.param("x a c", MIXED, {}, 2 / 3, id="whole-list"),
        pytest.param("x a c", MIXED, {"k": 2}, 1 / 2, id="cut-off"),
        pytest.param("x a c", MIXED, {"k": 9}, 2 / 3, id="beyond"),
        pytest.param("d a", MIXED, {}, 1 / 2, id="negative-grade"),
        pytest.param("d a x", MIXED, {"negative": "judged"}, 2 / 3, id="negative"),
        pytest.param("d a", MIXED, {"negative": "unjudged"}, 1 / 2, id="pool-only"),
        pytest.param("", MIXED, {}, 0, id="empty-run"),
        pytest.param("", MIXED, {"k": 5}, 0, id="empty-run-cut"),
        pytest.param("a x", {"a": 0}, {}, 1 / 2, id="no-relevant"),
        pytest.param("x y", MIXED, {}, 0 / 2, id="unjudged"),
    ],
)
def test_judged_share(
    run: str, qrels: dict[str, float], params: dict[str, Any], expected: float
) -> None:
    values = Judged(**params).values(table(run, qrels))

    np.testing.assert_allclose(values, [expected], rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize(
    ("run", "qrels", "params", "expected"),
    [
        pytest.param("x a y", MIXED, {}, 2 / 3, id="whole-list"),
        pytest.param("x a y", MIXED, {"k": 2}, 1 / 2, id="cut-off"),
        pytest.param("x a y", MIXED, {"k": 5}, 2 / 5, id="beyond"),
        pytest.param("d a", MIXED, {}, 1 / 2, id="negative-grade"),
        pytest.param("", MIXED, {}, 0, id="empty-run"),
        pytest.param("", MIXED, {"k": 5}, 0 / 5, id="empty-run-cut"),
        pytest.param("a x", {"a": 0}, {}, 1 / 2, id="no-relevant"),
        pytest.param("x y", MIXED, {"k": 2}, 2 / 2, id="unjudged"),
    ],
)
def test_unjudged_share(
    run: str, qrels: dict[str, float], params: dict[str, Any], expected: float
) -> None:
    values = Unjudged(**params).values(table(run, qrels))

    np.testing.assert_allclose(values, [expected], rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize("metric", [Judged, Unjudged], ids=str)
@pytest.mark.parametrize("k", [0, -1, True, 2.5, "5"], ids=repr)
def test_refuses_cutoffs(metric: Metric, k: object) -> None:
    with pytest.raises(ParameterError, match="k must be a positive integer or None"):
        metric(k=k)


@pytest.mark.parametrize("metric", [NumRel, NumRelRet, NumNonrelJudgedRet], ids=str)
def test_refuses_thresholds(metric: Metric) -> None:
    with pytest.raises(ParameterError, match="rel must be a finite number, got 'high'"):
        metric(rel="high")


@pytest.mark.parametrize("metric", [NumRet, NumQ], ids=str)
def test_refuses_any_parameter(metric: Metric) -> None:
    with pytest.raises(ParameterError, match="has no parameter 'rel'; it takes none"):
        metric(rel=1)
