from __future__ import annotations

from itertools import pairwise
from math import pi
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import rankine as rk
from rankine._metrics.ranking import BPM, INSQ, INST
from rankine.errors import DataError, ParameterError
from tests.rankings import table

GRADED = {"a": 1, "b": 2}
TWO = {"a": 1, "b": 1}
SQUARES = pi**2 / 6  # the sum of 1 / i^2


@pytest.mark.parametrize(
    ("run", "qrels", "params", "expected"),
    [
        pytest.param("a x b y", GRADED, {}, (1 / 2 + 1) / 3, id="goal-reached"),
        pytest.param("a x b y", GRADED, {"k": 2}, (1 / 2) / 2, id="patience"),
        pytest.param("a x", GRADED, {"k": 5}, (1 / 2) / 5, id="patience-below-list"),
        pytest.param("a x", GRADED, {}, (1 / 2) / 2, id="end-of-list"),
        pytest.param("a x b y", GRADED, {"T": 0.5}, (1 / 2) / 1, id="smaller-goal"),
        pytest.param("a b x", GRADED, {"T": 2}, (1 / 2 + 1) / 3, id="goal-not-reached"),
        pytest.param(
            "a x b", GRADED, {"max_grade": 4}, (1 / 4 + 2 / 4) / 3, id="max-grade"
        ),
        pytest.param("a b", GRADED, {"min_grade": 1}, 1 / 2, id="min-grade"),
        pytest.param(
            "a b c d", {"a": 1, "b": 1, "c": 1, "d": 3}, {}, (3 * (1 / 3)) / 3,
            id="three-thirds-are-one",
        ),
        pytest.param("b x", GRADED, {"k": 1}, 1.0, id="best"),
        pytest.param("", GRADED, {"k": 3}, 0, id="empty-run"),
        pytest.param("", GRADED, {}, 0, id="empty-run-without-patience"),
        pytest.param("a", {"a": 0}, {"k": 3}, 0, id="no-relevant"),
        pytest.param("a b", {"a": -1, "b": 1}, {}, 1 / 2, id="negative-grade"),
        pytest.param("x y", TWO, {"k": 2}, 0, id="unjudged"),
    ],
)  # fmt: skip
def test_bpm(
    run: str, qrels: dict[str, float], params: dict[str, Any], expected: float
) -> None:
    values = BPM(**params).values(table(run, qrels))

    np.testing.assert_allclose(values, [expected], rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize(
    ("run", "qrels", "params", "expected"),
    [
        # T = 1: weights 4 / (i + 1)^2, whose sum is 4 (pi^2 / 6 - 1).
        pytest.param("a x", TWO, {}, 1 / (4 * (SQUARES - 1)), id="first"),
        pytest.param("x a", TWO, {}, (4 / 9) / (4 * (SQUARES - 1)), id="second"),
        pytest.param(
            "a b", GRADED, {}, (1 / 2 + 4 / 9) / (4 * (SQUARES - 1)), id="graded"
        ),
        # T = 1/2: weights 1 / i^2.
        pytest.param("x a", TWO, {"T": 0.5}, (1 / 4) / SQUARES, id="goal"),
        pytest.param(
            "x a", TWO, {"longest": 3}, (4 / 9) / (1 + 4 / 9 + 4 / 16), id="longest"
        ),
        pytest.param("x y z a", TWO, {"longest": 3}, 0, id="below-the-longest"),
        pytest.param(
            "a b", GRADED, {"max_grade": 4},
            (1 / 4 + 2 / 4 * 4 / 9) / (4 * (SQUARES - 1)), id="max-grade",
        ),
        pytest.param(
            "a b", GRADED, {"min_grade": 1}, (4 / 9) / (4 * (SQUARES - 1)),
            id="min-grade",
        ),
        pytest.param("", TWO, {}, 0, id="empty-run"),
        pytest.param("a", {"a": 0}, {}, 0, id="no-relevant"),
        pytest.param("x y", TWO, {}, 0, id="unjudged"),
    ],
)  # fmt: skip
def test_insq(
    run: str, qrels: dict[str, float], params: dict[str, Any], expected: float
) -> None:
    values = INSQ(**params).values(table(run, qrels))

    np.testing.assert_allclose(values, [expected], rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize(
    ("run", "qrels", "params", "expected"),
    [
        # After the hit T(i) = 0: C(i) = (i / (i + 1))^2, weights 1 / i^2.
        pytest.param("a x", TWO, {}, 1 / SQUARES, id="first"),
        # C(1) = (2 / 3)^2, then C(i) = (i / (i + 1))^2: w(i) = (4/9) 4 / i^2 from 2 on.
        pytest.param(
            "x a", TWO, {}, (4 / 9) / (1 + 4 / 9 * 4 * (SQUARES - 1)), id="second"
        ),
        # C(1) = (1 / 2)^2, T(2) = -1, C(2) = (1 / 2)^2: w = 1, 1/4, then 1 / (i - 1)^2
        # times 1/4 from rank 2 on.
        pytest.param("a b", TWO, {}, (1 + 1 / 4) / (1 + 1 / 4 * SQUARES), id="both"),
        # T = 2, no hit before the end: w(i) = 16 / (i + 3)^2.
        pytest.param(
            "x a", TWO, {"T": 2, "longest": 2}, (16 / 25) / (1 + 16 / 25), id="goal"
        ),
        pytest.param(
            "a x", TWO, {"longest": 3}, 1 / (1 + 1 / 4 + 1 / 9), id="longest"
        ),
        # A gain of 1/4: C(1) = ((1 + 1 + 3/4 - 1) / (1 + 1 + 3/4))^2 = (7 / 11)^2.
        pytest.param(
            "a x", GRADED, {"max_grade": 4, "longest": 2},
            (1 / 4) / (1 + (7 / 11) ** 2), id="max-grade",
        ),
        pytest.param(
            "b x", GRADED, {"min_grade": 1, "longest": 2}, 1 / (1 + 1 / 4),
            id="min-grade",
        ),
        pytest.param("", TWO, {}, 0, id="empty-run"),
        pytest.param("a", {"a": 0}, {}, 0, id="no-relevant"),
        pytest.param("x y", TWO, {}, 0, id="unjudged"),
    ],
)  # fmt: skip
def test_inst(
    run: str, qrels: dict[str, float], params: dict[str, Any], expected: float
) -> None:
    values = INST(**params).values(table(run, qrels))

    np.testing.assert_allclose(values, [expected], rtol=1e-12, atol=1e-15)


def by_definition(
    gains: list[float], metric: str, goal: float, p: float, last: int
) -> float:
    """Walk down the ranks with C(i), as the papers say."""
    padded = (gains + [0.0] * last)[:last]
    total = weights = upto = 0.0
    weight = 1.0
    for i, gain in enumerate(padded, 1):
        total += weight * gain
        weights += weight
        upto += gain
        left = goal - upto
        go_on = {
            "BPM": float(upto < goal),
            "INSQ": ((i + 2 * goal - 1) / (i + 2 * goal)) ** 2,
            "INST": ((i + goal + left - 1) / (i + goal + left)) ** 2,
            "NERR8": 1 - gain,
            "NERR9": i / (i + 1) * (1 - gain),
            "NERR10": p * (1 - gain),
            "NERR11": ((i + 2 * goal - 1) / (i + 2 * goal)) ** 2 * (1 - gain),
        }[metric]
        weight *= go_on
    return total / weights


@given(
    grades=st.lists(st.sampled_from([0, 0, 0, 1, 2, 4]), min_size=1, max_size=12),
    goal=st.sampled_from([0.75, 1.0, 2.0, 3.5]),
    p=st.sampled_from([0.3, 0.9]),
    last=st.integers(1, 30),
)
def test_all_of_them_walk_down_the_ranks(
    grades: list[int], goal: float, p: float, last: int
) -> None:
    names = [f"d{rank}" for rank in range(len(grades))]
    joined = table(" ".join(names), dict(zip(names, grades, strict=True)) | {"z": 4})
    gains = [grade / 4 for grade in grades]
    every: dict[str, dict[str, Any]] = {
        "BPM": {"T": goal, "k": last},
        "INSQ": {"T": goal, "longest": last},
        "INST": {"T": goal, "longest": last},
        "NERR8": {"k": last},
        "NERR9": {"k": last},
        "NERR10": {"p": p, "longest": last},
        "NERR11": {"T": goal, "longest": last},
    }
    for metric, params in every.items():
        values = rk.metrics()[metric](**params).values(joined)

        expected = by_definition(gains, metric, goal, p, last)
        np.testing.assert_allclose(values, [expected], rtol=1e-9, err_msg=metric)


@pytest.mark.parametrize("metric", ["INSQ", "INST", "NERR10", "NERR11"])
def test_a_longer_walk_comes_nearer_to_one_without_end(metric: str) -> None:
    joined = table("x a y b", GRADED)
    endless = rk.metrics()[metric].values(joined)
    walks = [
        abs(rk.metrics()[metric](longest=last).values(joined) - endless)[0]
        for last in (4, 40, 400, 4000)
    ]

    assert all(longer <= shorter for shorter, longer in pairwise(walks))
    assert walks[-1] < 2e-3


@pytest.mark.parametrize("metric", [BPM, INSQ, INST])
def test_a_grade_above_the_scale_is_refused(metric: Any) -> None:
    with pytest.raises(DataError, match="a grade of 2 is above max_grade=1"):
        metric(max_grade=1).values(table("a", GRADED))


@pytest.mark.parametrize(
    ("metric", "params", "said"),
    [
        (INST, {"T": 0.5}, "T must be .* above 0.5"),
        (INSQ, {"T": 0}, "T must be a number at least 1e-06 and at most"),
        (BPM, {"min_grade": 2, "max_grade": 2}, "must be above min_grade=2"),
        (INST, {"longest": 0}, "longest must be"),
    ],
)
def test_what_cannot_be_meant_is_refused(
    metric: Any, params: dict[str, Any], said: str
) -> None:
    with pytest.raises(ParameterError, match=said):
        metric(**params)
