from __future__ import annotations

from math import log2, nan
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from rankine._metrics.ranking import G, Rndcg, binG, nDCGrel
from rankine.errors import ParameterError
from tests.rankings import table

if TYPE_CHECKING:
    from rankine._metrics.metric import Metric

TWO = {"a": 1, "b": 1}
GRADED = {"a": 1, "b": 2}
TABLE = {"gain": {1: 3, 2: 9}}
THIRD = 1 / log2(3)
"""The discount of rank 2."""


@pytest.mark.parametrize(
    ("run", "qrels", "params", "expected"),
    [
        pytest.param("b a", GRADED, {}, (2 / log2(2) + 1 / log2(2)) / 3, id="perfect"),
        pytest.param("x a", {"a": 1}, {}, (1 / log2(2 + 2 - 1)) / 1, id="one-in-vain"),
        # The ideal list costs 3, then 3 + 1.
        pytest.param(
            "a b", {"a": 1, "b": 3}, {},
            (1 / log2(2 + 3 - 1) + 3 / log2(2 + 4 - 4)) / 4, id="worse-first",
        ),
        # Below the ideal list a rank costs 1.
        pytest.param(
            "x y b", {"b": 2}, {}, (2 / log2(2 + 4 - 2)) / 2, id="below-the-ideal"
        ),
        pytest.param(
            "a b", GRADED, {"gain": "linear"},
            (1 / log2(2 + 2 - 1) + 2 / log2(2 + 3 - 3)) / 3, id="linear",
        ),
        pytest.param(
            "a b", GRADED, TABLE, (3 / log2(2 + 9 - 3) + 9 / log2(2 + 12 - 12)) / 12,
            id="table",
        ),
        pytest.param(
            "a", {"a": 1}, {"gain": {1: 0.5}}, (0.5 / log2(2 + 1 - 0.5)) / 0.5,
            id="costs-1-at-least",
        ),
        pytest.param("b", GRADED, {}, (2 / log2(2)) / 3, id="one-not-found"),
        pytest.param("", TWO, {}, 0 / 2, id="empty-run"),
        pytest.param("a", {"a": 0}, {}, nan, id="no-relevant"),
        pytest.param("d a", {"a": 1, "d": -1}, {}, (1 / log2(3)) / 1, id="negative"),
    ],
)  # fmt: skip
def test_normalized_gain(
    run: str, qrels: dict[str, float], params: dict[str, Any], expected: float
) -> None:
    values = G(**params).values(table(run, qrels))

    np.testing.assert_allclose(values, [expected], rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize(
    ("run", "qrels", "params", "expected"),
    [
        pytest.param("a b", TWO, {}, (1 + 1) / 2, id="perfect"),
        pytest.param("a x b", TWO, {}, (1 / log2(2) + 1 / log2(3)) / 2, id="one-above"),
        pytest.param("x y a", TWO, {}, (1 / log2(4) + 0) / 2, id="two-above"),
        pytest.param("a b", GRADED, {"rel": 2}, (1 / log2(3)) / 1, id="rel-2"),
        pytest.param("", TWO, {}, 0 / 2, id="empty-run"),
        pytest.param("a", {"a": 0}, {}, nan, id="no-relevant"),
        pytest.param("d a", {"a": 1, "d": -1}, {}, 1 / log2(3), id="negative-grade"),
    ],
)
def test_binary_g(
    run: str, qrels: dict[str, float], params: dict[str, Any], expected: float
) -> None:
    values = binG(**params).values(table(run, qrels))

    np.testing.assert_allclose(values, [expected], rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize(
    ("run", "qrels", "params", "expected"),
    [
        pytest.param("b a", GRADED, {}, (1 + 1) / 2, id="perfect"),
        pytest.param("x a", {"a": 1}, {}, 0 / 1, id="level-ends-at-rank-1"),
        pytest.param("x a y", {"a": 1}, {}, (0 + THIRD) / 2, id="longer-by-two"),
        pytest.param(
            "a b", GRADED, {}, (1 / 2 + (1 + 2 * THIRD) / (2 + THIRD)) / 2,
            id="two-levels",
        ),
        pytest.param("x a", TWO, {}, (THIRD / (1 + THIRD)) / 1, id="one-level"),
        pytest.param(
            "a x y b", GRADED, {"gain": "linear"},
            (1 / 2 + 1 / (2 + THIRD) + (1 + 2 / log2(5)) / (2 + THIRD)) / 3,
            id="linear-and-the-end",
        ),
        pytest.param(
            "a b", GRADED, TABLE, (3 / 9 + (3 + 9 * THIRD) / (9 + 3 * THIRD)) / 2,
            id="table",
        ),
        pytest.param(
            "a x", GRADED, {"gain": {1: 3, 2: 3}}, (3 / (3 + 3 * THIRD)) / 1,
            id="one-level-of-gain",
        ),
        pytest.param("a", {"a": 1}, {"rel": 2}, nan, id="rel-2-is-not-there"),
        pytest.param(
            "a b", GRADED, {"rel": 2}, (1 / 2 + (1 + 2 * THIRD) / (2 + THIRD)) / 2,
            id="rel-2-keeps-lower-gains",
        ),
        pytest.param("", TWO, {}, 0 / 1, id="empty-run"),
        pytest.param("a", {"a": 0}, {}, nan, id="no-relevant"),
        pytest.param("d a", {"a": 1, "d": -1}, {}, 0 / 1, id="negative-grade"),
    ],
)  # fmt: skip
def test_ndcg_at_levels(
    run: str, qrels: dict[str, float], params: dict[str, Any], expected: float
) -> None:
    values = Rndcg(**params).values(table(run, qrels))

    np.testing.assert_allclose(values, [expected], rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize(
    ("run", "qrels", "params", "expected"),
    [
        pytest.param("b a", GRADED, {}, (1 + 1) / 2, id="perfect"),
        pytest.param("x a", TWO, {}, 2 * (THIRD / (1 + THIRD)) / 2, id="one-not-found"),
        pytest.param(
            "a x", TWO, {}, (1 / 1 + 1 / (1 + THIRD)) / 2, id="first-but-one-missing"
        ),
        pytest.param("x y a", {"a": 1}, {}, (1 / log2(4)) / 1, id="below-the-ideal"),
        pytest.param(
            "a b", GRADED, {"gain": "linear"},
            (1 / 2 + (1 + 2 * THIRD) / (2 + THIRD)) / 2, id="linear",
        ),
        pytest.param(
            "a b", GRADED, TABLE, (3 / 9 + (3 + 9 * THIRD) / (9 + 3 * THIRD)) / 2,
            id="table",
        ),
        pytest.param("", TWO, {}, 0 / 2, id="empty-run"),
        pytest.param("a", {"a": 0}, {}, nan, id="no-relevant"),
        pytest.param("d a", {"a": 1, "d": -1}, {}, THIRD / 1, id="negative-grade"),
    ],
)  # fmt: skip
def test_ndcg_at_hits(
    run: str, qrels: dict[str, float], params: dict[str, Any], expected: float
) -> None:
    values = nDCGrel(**params).values(table(run, qrels))

    np.testing.assert_allclose(values, [expected], rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize("metric", [G, Rndcg, nDCGrel], ids=str)
@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"gain": "exponential"}, "gain must be one of linear, got 'exponential'"),
        ({"gain": "linaer"}, "gain must be one of linear"),
        ({"gain": {1: None}}, "the gain of grade 1 must be a finite number, got None"),
        ({"k": 5}, "has no parameter 'k'"),
    ],
)
def test_refuses_gains(metric: Metric, params: dict[str, Any], message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        metric(**params)


@pytest.mark.parametrize("metric", [binG, Rndcg], ids=str)
@pytest.mark.parametrize("rel", ["high", True, nan], ids=repr)
def test_refuses_thresholds(metric: Metric, rel: object) -> None:
    with pytest.raises(ParameterError, match="rel must be a finite number"):
        metric(rel=rel)
