from __future__ import annotations

from math import exp, log, nan
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import rankine as rk
from rankine._metrics.ranking import Bpref, gm_AP, gm_Bpref, infAP
from rankine.errors import ParameterError
from tests.rankings import table

if TYPE_CHECKING:
    from rankine._metrics.metric import Metric

E = 0.00001
TWO = {"a": 1, "b": 1}
MIXED = {"a": 1, "b": 1, "n": 0, "m": 0}
BPREF = [
    pytest.param("a n b m", MIXED, {}, (1 + 1 - 1 / 2) / 2, id="one-above"),
    pytest.param("n m a b", MIXED, {}, (0 + 0) / 2, id="all-above"),
    pytest.param("x n y a", MIXED, {}, (1 - 1 / 2) / 2, id="unjudged-passed-over"),
    pytest.param(
        "n a", {"a": 1, "b": 1, "c": 1, "n": 0}, {}, (1 - 1 / 1) / 3, id="N-is-smaller"
    ),
    pytest.param(
        "n m a", {"a": 1, "n": 0, "m": 0, "l": 0}, {}, (1 - 1 / 1) / 1, id="R-is-least"
    ),
    pytest.param(
        "n m a", {"a": 1, "b": 1, "c": 1, "n": 0, "m": 0, "l": 0}, {}, (1 - 2 / 3) / 3,
        id="two-of-three-above",
    ),
    pytest.param("b a", {"a": 2, "b": 1}, {}, (1 + 1) / 2, id="rel-1"),
    pytest.param("b a", {"a": 2, "b": 1}, {"rel": 2}, (1 - 1 / 1) / 1, id="rel-2"),
    pytest.param("x a", TWO, {}, (1 + 0) / 2, id="none-judged-other"),
    pytest.param("d a", {"a": 1, "d": -1, "n": 0}, {}, 1 / 1, id="negative-grade"),
    pytest.param("", MIXED, {}, 0 / 2, id="empty-run"),
    pytest.param("n x", {"n": 0}, {}, nan, id="no-relevant"),
]  # fmt: skip


@pytest.mark.parametrize(("run", "qrels", "params", "expected"), BPREF)
def test_bpref(
    run: str, qrels: dict[str, float], params: dict[str, Any], expected: float
) -> None:
    values = Bpref(**params).values(table(run, qrels))

    np.testing.assert_allclose(values, [expected], rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize(("run", "qrels", "params", "expected"), BPREF)
def test_geometric_bpref_of_a_query_is_bpref(
    run: str, qrels: dict[str, float], params: dict[str, Any], expected: float
) -> None:
    values = gm_Bpref(**params).values(table(run, qrels))

    np.testing.assert_allclose(values, [expected], rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize(
    ("run", "qrels", "params", "expected"),
    [
        pytest.param("a", {"a": 1}, {}, 1, id="perfect"),
        pytest.param(
            "a n b", MIXED, {},
            (1 + 1 / 3 + (2 / 3) * (2 / 2) * ((1 + E) / (2 + 2 * E))) / 2,
            id="all-judged",
        ),
        pytest.param(
            "a x b", MIXED, {},
            (1 + 1 / 3 + (2 / 3) * (1 / 2) * ((1 + E) / (1 + 2 * E))) / 2,
            id="unjudged-not-in-the-pool",
        ),
        pytest.param(
            "a d b", {"a": 1, "b": 1, "d": -1}, {},
            (1 + 1 / 3 + (2 / 3) * (2 / 2) * ((1 + E) / (1 + 2 * E))) / 2,
            id="negative-grade-is-in-the-pool",
        ),
        pytest.param(
            "n a", {"a": 1, "n": 0}, {}, 1 / 2 + (1 / 2) * (E / (1 + 2 * E)),
            id="one-judged-above",
        ),
        pytest.param("x a", {"a": 1}, {}, 1 / 2, id="one-unjudged-above"),
        pytest.param(
            "b a", {"a": 2, "b": 1}, {"rel": 2}, 1 / 2 + (1 / 2) * (E / (1 + 2 * E)),
            id="rel-2",
        ),
        pytest.param("", TWO, {}, 0 / 2, id="empty-run"),
        pytest.param("n", {"n": 0}, {}, nan, id="no-relevant"),
    ],
)  # fmt: skip
def test_inferred_ap(
    run: str, qrels: dict[str, float], params: dict[str, Any], expected: float
) -> None:
    values = infAP(**params).values(table(run, qrels))

    np.testing.assert_allclose(values, [expected], rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize(
    ("run", "qrels", "params", "expected"),
    [
        pytest.param("a x b", TWO, {}, (1 + 2 / 3) / 2, id="average-precision"),
        pytest.param("b a", {"a": 2, "b": 1}, {"rel": 2}, 1 / 2, id="rel-2"),
        pytest.param("x y", TWO, {}, 0, id="not-floored-per-query"),
        pytest.param("", TWO, {}, 0, id="empty-run"),
        pytest.param("n", {"n": 0}, {}, nan, id="no-relevant"),
        pytest.param("a b", {"a": -1, "b": 1}, {}, 1 / 2, id="negative-grade"),
    ],
)
def test_geometric_ap(
    run: str, qrels: dict[str, float], params: dict[str, Any], expected: float
) -> None:
    values = gm_AP(**params).values(table(run, qrels))

    np.testing.assert_allclose(values, [expected], rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize(
    ("metric", "expected"),
    [
        (gm_AP, exp((log(1 / 2) + log(1) + log(0.00001)) / 3)),
        (gm_Bpref, exp((log(0.00001) + log(1) + log(0.00001)) / 3)),
    ],
    ids=str,
)
def test_geometric_mean_has_a_floor(metric: Metric, expected: float) -> None:
    qrels = {"q": {"a": 1, "n": 0}, "r": {"a": 1}, "s": {"a": 1}}
    run = {"q": ["n", "a"], "r": ["a"], "s": ["x"]}

    found = rk.evaluate(qrels, run, [metric])

    np.testing.assert_allclose(found[metric], expected, rtol=1e-12)


@pytest.mark.parametrize("metric", [Bpref, infAP, gm_AP, gm_Bpref], ids=str)
@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"rel": "high"}, "rel must be a finite number, got 'high'"),
        ({"rel": True}, "rel must be a finite number, got True"),
        ({"k": 5}, "has no parameter 'k'"),
        ({"ties": "average"}, "has no parameter 'ties'"),
    ],
)
def test_refuses_parameters(
    metric: Metric, params: dict[str, Any], message: str
) -> None:
    with pytest.raises(ParameterError, match=message):
        metric(**params)
