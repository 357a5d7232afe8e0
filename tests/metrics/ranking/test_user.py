from __future__ import annotations

from math import nan
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import rankine as rk
from rankine._join import judged
from rankine._metrics.ranking import ERR, RBP, RBPResidual, RScore
from rankine.errors import DataError, ParameterError
from tests.rankings import table

if TYPE_CHECKING:
    from rankine._metrics.metric import Metric

TWO = {"a": 1, "b": 1}
GRADED = {"a": 1, "b": 2}


@pytest.mark.parametrize(
    ("run", "qrels", "params", "expected"),
    [
        pytest.param(
            "a b", GRADED, {}, 1 / 4 + (1 / 2) * (3 / 4) * (3 / 4), id="whole-list"
        ),
        pytest.param("a b", GRADED, {"k": 1}, 1 / 4, id="cut-off"),
        pytest.param("x b", GRADED, {"k": 9}, (1 / 2) * (3 / 4), id="beyond"),
        pytest.param(
            "b x a", GRADED, {}, 3 / 4 + (1 / 3) * (1 / 4) * (1 / 4), id="third"
        ),
        pytest.param(
            "a b c", {"a": 1, "b": 1, "c": 1}, {}, 1 / 2 + 1 / 2 / 4 + 1 / 3 / 8,
            id="product-of-three",
        ),
        pytest.param(
            "a b", GRADED, {"max_grade": 4}, 1 / 16 + (1 / 2) * (3 / 16) * (15 / 16),
            id="max-grade",
        ),
        pytest.param("a", {"a": 1, "z": 3}, {}, 1 / 8, id="highest-not-retrieved"),
        pytest.param("", GRADED, {}, 0, id="empty-run"),
        pytest.param("a", {"a": 0}, {}, 0, id="no-relevant"),
        pytest.param(
            "a b", {"a": -1, "b": 2}, {}, (1 / 2) * (3 / 4), id="negative-grade"
        ),
        pytest.param("x y", GRADED, {}, 0, id="unjudged"),
    ],
)  # fmt: skip
def test_err(
    run: str, qrels: dict[str, float], params: dict[str, Any], expected: float
) -> None:
    values = ERR(**params).values(table(run, qrels))

    np.testing.assert_allclose(values, [expected], rtol=1e-12, atol=1e-15)


def test_err_takes_the_highest_grade_of_all_queries() -> None:
    found = judged({"q": {"a": 1}, "r": {"a": 3}}, {"q": ["a"], "r": ["a"]})

    np.testing.assert_allclose(ERR.values(found), [1 / 8, 7 / 8], rtol=1e-12)


def test_err_refuses_grades_above_the_scale() -> None:
    with pytest.raises(DataError, match="a grade of 2 is above max_grade=1"):
        ERR(max_grade=1).values(table("a", GRADED))


def test_err_refuses_grades_too_large_for_a_power() -> None:
    with pytest.raises(DataError, match="a grade of 100 is too large"):
        ERR.values(table("a", {"a": 100}))


@pytest.mark.parametrize(
    ("run", "qrels", "params", "expected"),
    [
        pytest.param("a x b", GRADED, {}, 0.2 * (1 + 0.8**2), id="whole-list"),
        pytest.param("a x b", GRADED, {"k": 2}, 0.2 * 1, id="cut-off"),
        pytest.param("x a", GRADED, {"k": 9}, 0.2 * 0.8, id="beyond"),
        pytest.param("a x b", GRADED, {"p": 0.5}, 0.5 * (1 + 0.5**2), id="p"),
        pytest.param("a x b", GRADED, {"rel": 2}, 0.2 * 0.8**2, id="rel-2"),
        pytest.param(
            "a x b", GRADED, {"gain": "binary"}, 0.2 * (1 + 0.8**2), id="binary"
        ),
        pytest.param(
            "a x b", GRADED, {"gain": "scaled"}, 0.2 * (1 / 2 + 0.8**2), id="scaled"
        ),
        pytest.param(
            "a", {"a": 0.25, "b": 0.5}, {"gain": "scaled"}, 0.2 * 0.25,
            id="scaled-by-1-at-least",
        ),
        pytest.param(
            "a x b", GRADED, {"gain": "scaled", "rel": 2}, 0.2 * 0.8**2, id="scaled-rel"
        ),
        pytest.param(
            "a x b", GRADED, {"gain": "linear"}, 0.2 * (1 + 2 * 0.8**2), id="linear"
        ),
        pytest.param(
            "a x b", GRADED, {"gain": "linear", "rel": 2}, 0.2 * 2 * 0.8**2,
            id="linear-rel",
        ),
        pytest.param(
            "(a x)", TWO, {"ties": "average"}, 0.2 * (1 + 0.8) / 2, id="ties-average"
        ),
        pytest.param(
            "(a x)", TWO, {"ties": "average", "k": 1}, 0.2 * 1 / 2, id="ties-cut"
        ),
        pytest.param("(a x)", TWO, {"ties": "best"}, 0.2 * 1, id="ties-best"),
        pytest.param("(a x)", TWO, {"ties": "worst"}, 0.2 * 0.8, id="ties-worst"),
        pytest.param(
            "(a b)", GRADED, {"ties": "best", "gain": "linear"}, 0.2 * (2 + 0.8),
            id="best-is-by-gain",
        ),
        pytest.param("a x b", TWO, {"over": "all"}, 0.2 * (1 + 0.8**2), id="over-all"),
        pytest.param(
            "a x b", TWO, {"over": "ideal"}, (1 + 0.8**2) / (1 + 0.8), id="over-ideal"
        ),
        pytest.param(
            "a x b", {**TWO, "c": 1}, {"over": "ideal", "k": 2}, 1 / (1 + 0.8),
            id="ideal-as-long-as-the-list",
        ),
        pytest.param(
            "a x b", GRADED, {"over": "ideal", "gain": "linear"},
            (1 + 2 * 0.8**2) / (2 + 0.8), id="ideal-by-grade",
        ),
        pytest.param(
            "(a x)", TWO, {"over": "ideal", "ties": "average"},
            ((1 + 0.8) / 2) / (1 + 0.8), id="ideal-ties",
        ),
        pytest.param("a x b", TWO, {"weights": (3, 2, 1)}, (3 + 1) / 6, id="weights"),
        pytest.param(
            "a x b", TWO, {"weights": (3, 2)}, 3 / 5, id="no-weight-below"
        ),
        pytest.param(
            "a x b", TWO, {"weights": (3, 2, 1), "k": 2}, 3 / 5, id="weights-cut"
        ),
        pytest.param(
            "a x b", TWO, {"weights": (3, 2, 1), "over": "ideal"}, (3 + 1) / (3 + 2),
            id="weights-over-ideal",
        ),
        pytest.param(
            "(a x)", TWO, {"weights": (3, 1), "ties": "average"}, 2 / 4,
            id="weights-ties",
        ),
        pytest.param("", TWO, {"weights": (3, 1)}, 0, id="weights-of-no-list"),
        pytest.param("", TWO, {"over": "ideal"}, 0, id="ideal-of-no-list"),
        pytest.param("", TWO, {}, 0, id="empty-run"),
        pytest.param("a", {"a": 0}, {}, 0, id="no-relevant"),
        pytest.param("a b", {"a": -1, "b": 1}, {}, 0.2 * 0.8, id="negative-grade"),
        pytest.param(
            "a b", {"a": -1, "b": 1}, {"gain": "linear"}, 0.2 * 0.8, id="neg-linear"
        ),
        pytest.param("x y", TWO, {}, 0, id="unjudged"),
    ],
)  # fmt: skip
def test_rbp(
    run: str, qrels: dict[str, float], params: dict[str, Any], expected: float
) -> None:
    values = RBP(**params).values(table(run, qrels))

    np.testing.assert_allclose(values, [expected], rtol=1e-12, atol=1e-15)


LIST_ONLY = {"tail": "with_unjudged"}


@pytest.mark.parametrize(
    ("run", "qrels", "params", "expected"),
    [
        pytest.param("a x b", TWO, {}, 0.2 * 0.8 + 0.8**3, id="one-unjudged"),
        pytest.param("x a y", TWO, {}, 0.2 * (1 + 0.8**2) + 0.8**3, id="two-unjudged"),
        pytest.param("a x b", TWO, {"p": 0.5}, 0.5 * 0.5 + 0.5**3, id="p"),
        pytest.param("a b", TWO, {"tail": "always"}, 0.8**2, id="tail-always"),
        pytest.param("a b", TWO, LIST_ONLY, 0, id="tail-with_unjudged"),
        pytest.param("a x", TWO, LIST_ONLY, 0.2 * 0.8 + 0.8**2, id="tail-and-unjudged"),
        pytest.param("", TWO, {}, 1, id="empty-run"),
        pytest.param("", TWO, LIST_ONLY, 0, id="empty-run-no-tail"),
        pytest.param("a", {"a": 0}, {}, 0.8, id="no-relevant-is-judged"),
        pytest.param("a b", {"a": -1, "b": 1}, {}, 0.2 + 0.8**2, id="negative-grade"),
    ],
)
def test_rbp_residual(
    run: str, qrels: dict[str, float], params: dict[str, Any], expected: float
) -> None:
    values = RBPResidual(**params).values(table(run, qrels))

    np.testing.assert_allclose(values, [expected], rtol=1e-12, atol=1e-15)


RATED = {"a": 3, "b": 5}


@pytest.mark.parametrize(
    ("run", "qrels", "params", "expected"),
    [
        pytest.param(
            "a b", RATED, {}, 100 * (3 + 5 / 2 ** (1 / 4)) / (5 + 3 / 2 ** (1 / 4)),
            id="whole-list",
        ),
        pytest.param("a b", RATED, {"k": 1}, 100 * 3 / 5, id="cut-off"),
        pytest.param(
            "x b", RATED, {"k": 9, "half_life": 2}, 100 * (5 / 2) / (5 + 3 / 2),
            id="beyond",
        ),
        pytest.param(
            "a b", RATED, {"half_life": 2}, 100 * (3 + 5 / 2) / (5 + 3 / 2),
            id="half-life",
        ),
        pytest.param(
            "x y z b", RATED, {"half_life": 4}, 100 * (5 / 2) / (5 + 3 / 2 ** (1 / 3)),
            id="half-at-the-half-life",
        ),
        pytest.param(
            "a b", RATED, {"half_life": 2, "neutral": 2},
            100 * (1 + 3 / 2) / (3 + 1 / 2), id="neutral",
        ),
        pytest.param(
            "a b", RATED, {"half_life": 2, "neutral": 4}, 100 * (0 + 1 / 2) / 1,
            id="below-neutral-is-0",
        ),
        pytest.param(
            "a b", RATED, {"half_life": 2, "scale": 1}, (3 + 5 / 2) / (5 + 3 / 2),
            id="scale",
        ),
        pytest.param("", RATED, {}, 0, id="empty-run"),
        pytest.param("a", {"a": 0}, {}, nan, id="no-relevant"),
        pytest.param("a", RATED, {"neutral": 5}, nan, id="none-above-neutral"),
        pytest.param(
            "a b", {"a": -1, "b": 5}, {"half_life": 2}, 100 * (5 / 2) / 5,
            id="negative-grade",
        ),
    ],
)  # fmt: skip
def test_r_score(
    run: str, qrels: dict[str, float], params: dict[str, Any], expected: float
) -> None:
    values = RScore(**params).values(table(run, qrels))

    np.testing.assert_allclose(values, [expected], rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize(
    ("params", "expected"),
    [
        pytest.param({}, 100 * (5 / 2 + 1) / (5 + 1), id="default"),
        pytest.param(
            {"aggregate": "ratio_of_sums"}, 100 * (5 / 2 + 1) / (5 + 1), id="of-sums"
        ),
        pytest.param(
            {"aggregate": "mean_of_ratios"}, 100 * (1 / 2 + 1 / 1) / 2, id="of-ratios"
        ),
        pytest.param(
            {"aggregate": "ratio_of_sums", "scale": 1}, (5 / 2 + 1) / (5 + 1), id="of-1"
        ),
    ],
)
def test_r_score_over_users(params: dict[str, Any], expected: float) -> None:
    qrels = {"u": {"a": 5}, "v": {"b": 1}}
    run = {"u": ["x", "a"], "v": ["b"]}

    found = rk.evaluate(qrels, run, [RScore(half_life=2, **params)])

    np.testing.assert_allclose(list(found.mean.values()), [expected], rtol=1e-12)


@pytest.mark.parametrize(
    ("metric", "params", "message"),
    [
        (ERR, {"k": 0}, "k must be a positive integer or None, got 0"),
        (ERR, {"k": True}, "k must be a positive integer or None, got True"),
        (ERR, {"k": 2.5}, r"k must be a positive integer or None, got 2\.5"),
        (ERR, {"max_grade": 0}, "max_grade must be a number above 0 .*, got 0"),
        (ERR, {"max_grade": 61}, "max_grade must be a number .* at most 60, got 61"),
        (RBP, {"k": 0}, "k must be a positive integer or None, got 0"),
        (RBP, {"k": True}, "k must be a positive integer or None, got True"),
        (RBP, {"k": 2.5}, r"k must be a positive integer or None, got 2\.5"),
        (RBP, {"p": 0}, "p must be a number above 0 and below 1, got 0"),
        (RBP, {"p": 1}, "p must be a number above 0 and below 1, got 1"),
        (RBP, {"rel": "high"}, "rel must be a finite number, got 'high'"),
        (RBP, {"gain": "exponential"}, "gain must be one of binary, scaled, linear"),
        (RBP, {"ties": "any"}, "ties must be one of average, best, worst, got 'any'"),
        (RBPResidual, {"p": 0}, "p must be a number above 0 and below 1, got 0"),
        (RBPResidual, {"p": 1}, "p must be a number above 0 and below 1, got 1"),
        (RBPResidual, {"tail": "never"}, "tail must be one of always, with_unjudged"),
        (RBPResidual, {"k": 5}, "RBPResidual has no parameter 'k'"),
        (RScore, {"k": 0}, "k must be a positive integer or None, got 0"),
        (RScore, {"k": True}, "k must be a positive integer or None, got True"),
        (RScore, {"k": 2.5}, r"k must be a positive integer or None, got 2\.5"),
        (RScore, {"half_life": 1}, "half_life must be a number above 1, got 1"),
        (RScore, {"neutral": None}, "neutral must be a finite number, got None"),
        (RScore, {"scale": 0}, "scale must be a number above 0, got 0"),
        (RScore, {"aggregate": "mean"}, "aggregate must be one of ratio_of_sums, mean"),
    ],
)
def test_refuses_parameters(
    metric: Metric, params: dict[str, Any], message: str
) -> None:
    with pytest.raises(ParameterError, match=message):
        metric(**params)
