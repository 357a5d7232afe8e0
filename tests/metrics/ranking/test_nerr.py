from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from rankine._metrics.ranking import NERR8, NERR9, NERR10, NERR11
from tests.rankings import table

GRADED = {"a": 1, "b": 2}
TWO = {"a": 1, "b": 1}


@pytest.mark.parametrize(
    ("run", "qrels", "params", "expected"),
    [
        # Gains 1/2, 0, 1: w = 1, 1/2, 1/2, 0.
        pytest.param("a x b y", GRADED, {}, (1 / 2 + 1 / 2) / 2, id="whole-list"),
        pytest.param("a x b y", GRADED, {"k": 2}, (1 / 2) / (3 / 2), id="cut-off"),
        pytest.param("a x", GRADED, {"k": 4}, (1 / 2) / (1 + 3 / 2), id="below-list"),
        pytest.param("b x", GRADED, {"k": 9}, 1.0, id="satisfied-at-once"),
        pytest.param(
            "a x b", GRADED, {"max_grade": 4}, (1 / 4 + 3 / 8) / (1 + 3 / 4 + 3 / 4),
            id="max-grade",
        ),
        pytest.param("a b", GRADED, {"min_grade": 1}, 1 / 2, id="min-grade"),
        pytest.param("", GRADED, {"k": 3}, 0, id="empty-run"),
        pytest.param("", GRADED, {}, 0, id="empty-run-without-cutoff"),
        pytest.param("a", {"a": 0}, {}, 0, id="no-relevant"),
        pytest.param("x y", TWO, {}, 0, id="unjudged"),
    ],
)  # fmt: skip
def test_nerr8(
    run: str, qrels: dict[str, float], params: dict[str, Any], expected: float
) -> None:
    values = NERR8(**params).values(table(run, qrels))

    np.testing.assert_allclose(values, [expected], rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize(
    ("run", "qrels", "params", "expected"),
    [
        # Gains 1/2, 0, 1: w = 1, 1/2 * 1/2, 1/3 * 1/2, 0.
        pytest.param(
            "a x b y", GRADED, {}, (1 / 2 + 1 / 6) / (1 + 1 / 4 + 1 / 6),
            id="whole-list",
        ),
        pytest.param("a x b y", GRADED, {"k": 2}, (1 / 2) / (5 / 4), id="cut-off"),
        pytest.param(
            "a x", GRADED, {"k": 3}, (1 / 2) / (1 + 1 / 4 + 1 / 6), id="below-list"
        ),
        pytest.param(
            "a x", GRADED, {"max_grade": 4}, (1 / 4) / (1 + 1 / 2 * 3 / 4),
            id="max-grade",
        ),
        pytest.param(
            "a b", GRADED, {"min_grade": 1}, (1 / 2) / (1 + 1 / 2), id="min-grade"
        ),
        pytest.param("", GRADED, {}, 0, id="empty-run"),
        pytest.param("a", {"a": 0}, {}, 0, id="no-relevant"),
        pytest.param("x y", TWO, {}, 0, id="unjudged"),
    ],
)  # fmt: skip
def test_nerr9(
    run: str, qrels: dict[str, float], params: dict[str, Any], expected: float
) -> None:
    values = NERR9(**params).values(table(run, qrels))

    np.testing.assert_allclose(values, [expected], rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize(
    ("run", "qrels", "params", "expected"),
    [
        pytest.param("x a", TWO, {}, 0.9 / 1.9, id="second"),
        # A gain of 1/2 at rank 1: w = 1, 0.45, 0.405, ... = 1 + 0.45 / (1 - 0.9).
        pytest.param("a x", GRADED, {}, (1 / 2) / (1 + 0.45 / 0.1), id="half-a-gain"),
        pytest.param("x a", TWO, {"p": 0.5}, 0.5 / 1.5, id="p"),
        pytest.param(
            "a x", GRADED, {"longest": 2}, (1 / 2) / (1 + 0.45), id="longest"
        ),
        pytest.param(
            "a x", GRADED, {"max_grade": 4, "longest": 2}, (1 / 4) / (1 + 0.675),
            id="max-grade",
        ),
        pytest.param("a b", GRADED, {"min_grade": 1}, 0.9 / 1.9, id="min-grade"),
        pytest.param("", TWO, {}, 0, id="empty-run"),
        pytest.param("a", {"a": 0}, {}, 0, id="no-relevant"),
        pytest.param("x y", TWO, {}, 0, id="unjudged"),
    ],
)  # fmt: skip
def test_nerr10(
    run: str, qrels: dict[str, float], params: dict[str, Any], expected: float
) -> None:
    values = NERR10(**params).values(table(run, qrels))

    np.testing.assert_allclose(values, [expected], rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize(
    ("run", "qrels", "params", "expected"),
    [
        # T = 1: without gains, w = 1, 4/9, 4/16, ...
        pytest.param("x a", TWO, {}, (4 / 9) / (1 + 4 / 9), id="second"),
        pytest.param("x a", TWO, {"T": 2}, (16 / 25) / (1 + 16 / 25), id="goal"),
        pytest.param(
            "a x", GRADED, {"longest": 3}, (1 / 2) / (1 + 2 / 9 + 2 / 16), id="longest"
        ),
        pytest.param(
            "a x", GRADED, {"max_grade": 4, "longest": 2}, (1 / 4) / (1 + 3 / 9),
            id="max-grade",
        ),
        pytest.param(
            "a b", GRADED, {"min_grade": 1}, (4 / 9) / (1 + 4 / 9), id="min-grade"
        ),
        pytest.param("", TWO, {}, 0, id="empty-run"),
        pytest.param("a", {"a": 0}, {}, 0, id="no-relevant"),
        pytest.param("x y", TWO, {}, 0, id="unjudged"),
    ],
)  # fmt: skip
def test_nerr11(
    run: str, qrels: dict[str, float], params: dict[str, Any], expected: float
) -> None:
    values = NERR11(**params).values(table(run, qrels))

    np.testing.assert_allclose(values, [expected], rtol=1e-12, atol=1e-15)
