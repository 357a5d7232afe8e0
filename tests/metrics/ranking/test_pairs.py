from __future__ import annotations

import itertools
import random
from math import nan
from typing import Any

import numpy as np
import pytest

import rankine as rk
from rankine._join import judged
from rankine._metrics.ranking import FCP
from rankine._metrics.ranking._pairs import count_pairs
from rankine.errors import ParameterError
from tests.rankings import table

THREE = {"a": 3, "b": 1, "c": 2}


@pytest.mark.parametrize(
    ("run", "qrels", "params", "expected"),
    [
        pytest.param("a b c", THREE, {}, 2 / 3, id="one-wrong"),
        pytest.param("a c b", THREE, {}, 3 / 3, id="all-right"),
        pytest.param("b c a", THREE, {}, 0 / 3, id="all-wrong"),
        pytest.param("a x b y c", THREE, {}, 2 / 3, id="unjudged-between"),
        pytest.param("a b", THREE, {}, 1 / 1, id="one-not-retrieved"),
        pytest.param("a (b c)", THREE, {}, 2 / 3, id="tied-is-wrong"),
        pytest.param("a (b c)", THREE, {"tied": "half"}, 2.5 / 3, id="tied-half"),
        pytest.param("a (b c)", THREE, {"tied": "ignore"}, 2 / 2, id="tied-ignored"),
        pytest.param("a b c", {"a": 1, "b": 1, "c": 2}, {}, 0 / 2, id="equal-grades"),
        pytest.param("(a b)", {"a": 1, "b": 1}, {}, nan, id="nothing-to-compare"),
        pytest.param("a", THREE, {}, nan, id="one-item"),
        pytest.param("", THREE, {}, nan, id="empty"),
        pytest.param("a b c", {"a": -1, "b": 0, "c": 1}, {}, 0 / 1, id="negative"),
    ],
)
def test_fcp(
    run: str, qrels: dict[str, float], params: dict[str, Any], expected: float
) -> None:
    values = FCP(**params).values(table(run, qrels))

    np.testing.assert_allclose(values, [expected], rtol=1e-15)


RATINGS = {"u": {"a": 3, "b": 1, "c": 2}, "v": {"a": 1, "b": 2}}
SCORES = {"u": {"a": 0.9, "b": 0.5, "c": 0.4}, "v": {"a": 0.9, "b": 0.5}}


@pytest.mark.parametrize(
    ("params", "expected"),
    [
        ({}, (2 + 0) / (3 + 1)),
        ({"aggregate": "mean_of_ratios"}, (2 / 3 + 0 / 1) / 2),
        # 2 right pairs for the one user with any; 1 wrong pair for each of two
        ({"weighing": "users"}, 2 / (2 + (1 + 1) / 2)),
    ],
)
def test_over_users(params: dict[str, Any], expected: float) -> None:
    ev = rk.evaluate(RATINGS, SCORES, FCP(**params))

    assert ev[FCP(**params)] == pytest.approx(expected, rel=1e-15)


def test_surprise_counts_by_users() -> None:
    # Its case: two tied estimates are one discordant pair.
    tied = rk.evaluate({1: {1: 3, 2: 2}}, {1: {1: 2.0, 2: 2.0}}, "FCP",
                       convention="surprise")  # fmt: skip

    assert tied["FCP"] == 0
    ev = rk.evaluate(RATINGS, SCORES, "FCP", convention="surprise")
    assert ev["FCP"] == pytest.approx(2 / 3)


@pytest.mark.parametrize("seed", range(40))
def test_pairs_are_counted_as_one_by_one(seed: int) -> None:
    rng = random.Random(seed)  # noqa: S311 - data, not secrets
    qrels, run = {}, {}
    for query in range(rng.randrange(1, 6)):
        items = range(rng.randrange(0, 30))
        grades = rng.choice([3, 100])
        qrels[query] = {item: rng.randrange(grades) for item in items} or {0: 1}
        levels = rng.choice([2, 8, 1000])
        run[query] = {item: float(rng.randrange(levels)) for item in items}

    pairs = count_pairs(judged(qrels, run))

    for number, query in enumerate(qrels):
        right = wrong = tied = 0
        for one, other in itertools.combinations(run[query], 2):
            grade = qrels[query][one] - qrels[query][other]
            score = run[query][one] - run[query][other]
            right += grade * score > 0
            wrong += grade * score < 0
            tied += grade != 0 and score == 0
        assert pairs.concordant[number] == right
        assert pairs.discordant[number] == wrong
        assert pairs.y[number] - pairs.both[number] == tied


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"tied": "best"}, "tied must be one of discordant, half, ignore, got 'best'"),
        (
            {"aggregate": "sum"},
            "aggregate must be one of ratio_of_sums, mean_of_ratios",
        ),
        ({"k": 5}, "FCP has no parameter 'k'"),
    ],
)
def test_refuses_parameters(params: dict[str, Any], message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        FCP(**params)
