from __future__ import annotations

from math import nan
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from rankine._metrics.ranking import ElevenPoint, IPrec, RelP, RprecMult
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
        pytest.param("a x y b", TWO, {}, 1 / 1, id="half-of-the-relevant"),
        pytest.param("a x y b", TWO, {"recall": 1}, 2 / 4, id="all-of-the-relevant"),
        pytest.param("x a b", TWO, {}, 2 / 3, id="a-later-rank-is-better"),
        pytest.param("x a b", TWO, {"recall": 0}, 2 / 3, id="best-anywhere"),
        pytest.param("a x b", THREE, {"recall": 1}, 0, id="never-reached"),
        pytest.param("a x b c", THREE, {"recall": 0.4}, 1 / 1, id="rounded-by-default"),
        pytest.param(
            "a x b c", THREE, {"recall": 0.4, "cut": "round"}, 1 / 1, id="round"
        ),
        pytest.param("a x b c", THREE, {"recall": 0.4, "cut": "up"}, 3 / 4, id="up"),
        pytest.param(
            "a x b y c", THREE, {"recall": 0.5, "cut": "round"}, 2 / 3, id="half-is-up"
        ),
        pytest.param(
            "x a b", THREE, {"recall": 0.02, "cut": "up"}, 2 / 3, id="up-below-a-tenth"
        ),
        pytest.param("b a", GRADED, {"recall": 1}, 2 / 2, id="rel-1"),
        pytest.param("b a", GRADED, {"recall": 1, "rel": 2}, 1 / 2, id="rel-2"),
        pytest.param("", TWO, {}, 0, id="empty-run"),
        pytest.param("", TWO, {"recall": 0}, 0, id="empty-run-recall-0"),
        pytest.param("a", {"a": 0}, {}, 0, id="no-relevant"),
        pytest.param("a b", {"a": -1, "b": 1}, {}, 1 / 2, id="negative-grade"),
    ],
)
def test_interpolated_precision(
    run: str, qrels: dict[str, float], params: dict[str, Any], expected: float
) -> None:
    values = IPrec(**params).values(table(run, qrels))

    np.testing.assert_allclose(values, [expected], rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize(
    ("run", "qrels", "params", "expected"),
    [
        pytest.param("a b", TWO, {}, 11 / 11, id="perfect"),
        # 0.7 * 2 is rounded to one hit, 0.8 * 2 to two.
        pytest.param("a x y b", TWO, {}, (8 * 1 + 3 * 2 / 4) / 11, id="default"),
        pytest.param(
            "a x y b", TWO, {"cut": "round"}, (8 * 1 + 3 * 2 / 4) / 11, id="round"
        ),
        # 0.5 * 2 + 0.9 is cut to one hit, 0.6 * 2 + 0.9 to two.
        pytest.param("a x y b", TWO, {"cut": "up"}, (6 * 1 + 5 * 2 / 4) / 11, id="up"),
        pytest.param("a x y b", TWO, {"levels": (0, 1)}, (1 + 2 / 4) / 2, id="levels"),
        pytest.param("a x y b", TWO, {"levels": [1]}, 2 / 4, id="one-level"),
        pytest.param("a", TWO, {}, (8 * 1 + 3 * 0) / 11, id="never-reached"),
        pytest.param("b a", GRADED, {"rel": 2}, (11 / 2) / 11, id="rel-2"),
        pytest.param("", TWO, {}, 0, id="empty-run"),
        pytest.param("a", {"a": 0}, {}, 0, id="no-relevant"),
        pytest.param("a b", {"a": -1, "b": 1}, {}, 1 / 2, id="negative-grade"),
    ],
)
def test_eleven_point(
    run: str, qrels: dict[str, float], params: dict[str, Any], expected: float
) -> None:
    values = ElevenPoint(**params).values(table(run, qrels))

    np.testing.assert_allclose(values, [expected], rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize(
    ("run", "qrels", "params", "expected"),
    [
        pytest.param("a x b", TWO, {}, 1 / 2, id="once-R"),
        pytest.param("a x y b", TWO, {"multiple": 2}, 2 / 4, id="twice-R"),
        pytest.param("a x b", TWO, {"multiple": 3}, 2 / 6, id="beyond"),
        pytest.param("a x", TWO, {"multiple": 0.5}, 1 / 1, id="half-R"),
        # 0.5 * 3 + 0.9 is cut to 2.
        pytest.param("x a b", THREE, {"multiple": 0.5}, 1 / 2, id="half-R-rounded-up"),
        # 0.35 * 3 + 0.9 is cut to 1.
        pytest.param("x a b", THREE, {"multiple": 0.35}, 0 / 1, id="less-than-a-tenth"),
        # 0.05 * 1 + 0.9 is cut to 0, where trec_eval has 0.
        pytest.param("a", {"a": 1}, {"multiple": 0.05}, 0, id="cut-to-nothing"),
        pytest.param("b a", GRADED, {}, 2 / 2, id="rel-1"),
        pytest.param("b a", GRADED, {"rel": 2}, 0 / 1, id="rel-2"),
        pytest.param("", TWO, {}, 0 / 2, id="empty-run"),
        pytest.param("a", {"a": 0}, {}, nan, id="no-relevant"),
        pytest.param("a b", {"a": -1, "b": 1}, {}, 0 / 1, id="negative-grade"),
    ],
)
def test_r_precision_multiple(
    run: str, qrels: dict[str, float], params: dict[str, Any], expected: float
) -> None:
    values = RprecMult(**params).values(table(run, qrels))

    np.testing.assert_allclose(values, [expected], rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize(
    ("run", "qrels", "params", "expected"),
    [
        pytest.param("a x y", TWO, {"k": 3}, 1 / 2, id="R-is-smaller"),
        pytest.param("a x b", THREE, {"k": 2}, 1 / 2, id="k-is-smaller"),
        pytest.param("a x", THREE, {}, 1 / 2, id="the-list-without-a-cut-off"),
        pytest.param("a x", THREE, {"k": 9}, 1 / 3, id="beyond"),
        pytest.param("b a", GRADED, {"k": 1}, 1 / 1, id="rel-1"),
        pytest.param("b a", GRADED, {"k": 1, "rel": 2}, 0 / 1, id="rel-2"),
        pytest.param("", TWO, {}, 0, id="empty-run"),
        pytest.param("", TWO, {"k": 3}, 0 / 2, id="empty-run-cut"),
        pytest.param("a", {"a": 0}, {"k": 3}, nan, id="no-relevant"),
        pytest.param("a b", {"a": -1, "b": 1}, {"k": 2}, 1 / 1, id="negative-grade"),
    ],
)
def test_relative_precision(
    run: str, qrels: dict[str, float], params: dict[str, Any], expected: float
) -> None:
    values = RelP(**params).values(table(run, qrels))

    np.testing.assert_allclose(values, [expected], rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize(
    ("metric", "params", "message"),
    [
        (IPrec, {"recall": -0.1}, "recall must be a number at least 0 and at most 1"),
        (IPrec, {"recall": 1.1}, r"recall must be a number .* got 1\.1"),
        (IPrec, {"recall": True}, "recall must be a number .* got True"),
        (IPrec, {"cut": "down"}, "cut must be one of round, up, got 'down'"),
        (IPrec, {"rel": "high"}, "rel must be a finite number, got 'high'"),
        (ElevenPoint, {"cut": "nearest"}, "cut must be one of round, up"),
        (ElevenPoint, {"levels": ()}, r"levels must be recalls such as .* got \(\)"),
        (ElevenPoint, {"levels": 0.5}, r"levels must be recalls such as .* got 0\.5"),
        (ElevenPoint, {"levels": (0, 2)}, "a recall in levels must be .* got 2"),
        (ElevenPoint, {"rel": None}, "rel must be a finite number, got None"),
        (RprecMult, {"multiple": 0}, "multiple must be a number above 0, got 0"),
        (RprecMult, {"multiple": "2"}, "multiple must be a number above 0, got '2'"),
        (RprecMult, {"rel": nan}, "rel must be a finite number, got nan"),
        (RelP, {"k": 0}, "k must be a positive integer or None, got 0"),
        (RelP, {"k": True}, "k must be a positive integer or None, got True"),
        (RelP, {"k": 2.5}, r"k must be a positive integer or None, got 2\.5"),
        (RelP, {"rel": "high"}, "rel must be a finite number, got 'high'"),
    ],
)
def test_refuses_parameters(
    metric: Metric, params: dict[str, Any], message: str
) -> None:
    with pytest.raises(ParameterError, match=message):
        metric(**params)
