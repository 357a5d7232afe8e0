"""The numbers that the tests of LensKit 2025.8.1 expect of its metrics of lists.

Where a test takes any list and any number, a few of them stand here.
"""

from __future__ import annotations

from math import e, isnan, log2, nan, pi
from typing import Any

import pytest

import rankine as rk

TWENTY = range(1, 21)
FIRST = range(1, 6)
MANY = range(100)
LONG = [1, 0, 150, 3, 10, 30, 120, 4, 17]


@pytest.mark.parametrize(
    ("metric", "items", "liked", "expected"),
    [
        ("RBP", [], [1, 2, 3], 0),
        ("RBP", [4], [1, 2, 3], 0),
        ("RBP", [1], [1, 2, 3], 0.15),
        ("RBP(p=0.5)", [1, 2], [1, 2, 3], (1 + 0.5) * 0.5),
        ("RBP(p=0.7)", TWENTY, TWENTY, sum(0.7**i for i in range(20)) * (1 - 0.7)),
        ("RBP(p=0.7)@3", TWENTY, TWENTY, sum(0.7**i for i in range(3)) * (1 - 0.7)),
        ("RBP(p=0.05)@30", TWENTY, TWENTY, sum(0.05**i for i in range(20)) * 0.95),
        ("RBP(p=0.7,over='ideal')", TWENTY, TWENTY, 1),
        ("RBP(p=0.95,over='ideal')@3", TWENTY, TWENTY, 1),
        ("RBP(weights=(1.0,0.8,0.6,0.4,0.2))", FIRST, [2, 4], (0.8 + 0.4) / 3.0),
        ("P", [1, 3], [1, 3], 1),
        ("P", [1], [1, 3], 1),
        ("P", [1, 2, 3, 4], [1, 3], 0.5),
        ("P", [1, 2, 3, 4], [1, 3, 5], 0.5),
        ("P", [1, 2, 3, 4], range(5, 10), 0),
        ("P", [1, 2, 3, 4], range(4, 10), 0.25),
        ("P@5", LONG[:5], MANY, 0.8),
        ("P@5", LONG, MANY, 0.8),
        ("P@5", LONG[:3], MANY, 2 / 3),
        ("R", [], [1, 3], 0),
        ("R", [1, 3], [1, 3], 1),
        ("R", [1], [1, 3], 0.5),
        ("R", [1, 2, 3, 4], [1, 3], 1),
        ("R", [1, 2, 3, 4], [1, 3, 5], 2 / 3),
        ("R", [1, 2, 3, 4], range(5, 10), 0),
        ("R", [1, 2, 3, 4], range(4, 9), 0.2),
        ("R", [1, 2, 3], [1, 3, 5, 7], 0.5),
        ("R@5", LONG[:5], MANY, 0.8),
        ("R@5", LONG, MANY, 0.8),
        ("R@10", LONG[:5], MANY, 0.4),
        ("Success", [], [1, 3], 0),
        ("Success", [1, 3], [1, 3], 1),
        ("Success", [1], [1, 3], 1),
        ("Success", [1, 2, 3, 4], range(5, 10), 0),
        ("Success", [1, 2, 3, 4], range(4, 9), 1),
        ("Success", [1, 2, 3], [5, 7], 0),
        ("Success@5", LONG, MANY, 1),
        ("Success@5", [401, 400, 550, 403, 410, 205, 520, 404, 417], MANY, 0),
        ("Success@10", LONG[:5], MANY, 1),
        ("RR", [], [1, 3], 0),
        ("RR", [1, 2, 3], [4, 5], 0),
        ("RR", [1, 2, 3], [1, 4], 1),
        ("RR", [1, 2, 3], [5, 2, 3], 0.5),
        ("RR", TWENTY, [20, 10], 0.1),
        ("RR@5", TWENTY, [20, 10], 0),
        ("RR@5", TWENTY, [20, 10, 5], 0.2),
        ("RR@10", range(1, 5), [2], 0.5),
        ("AP", [1, 3, 5], [1, 3, 5], 1),
        ("AP", [1, 5, 7], [1, 5, 7], 1),
        ("AP", [1, 2, 3], [1, 3], (1 + 2 / 3) / 2),
        ("AP", [1, 2, 3], [2, 4], 0.25),
        ("AP@3", FIRST, [1, 3, 5], (1 + 2 / 3) / 3),
        ("AP@2", FIRST, [4, 5, 6], 0),
        ("AP", [10, 20, 30], [1, 2, 3], 0),
        ("AP", [1, 4, 6], [2, 3, 5], 0),
    ],
)
def test_lists(metric: str, items: Any, liked: Any, expected: float) -> None:
    qrels, run = {"u": dict.fromkeys(liked, 1)}, {"u": [*items]}

    ev = rk.evaluate(qrels, run, metric, convention="lenskit")

    assert ev[metric] == pytest.approx(expected)


@pytest.mark.parametrize(
    ("metric", "items", "liked"),
    [
        ("P", [], [1, 3]),
        ("AP", [], [1, 2, 3]),
        ("R", [1, 3], []),
        ("Success", [1, 3], []),
        ("nDCG", [1, 2, 3], []),
    ],
)
def test_lists_without_a_number(metric: str, items: Any, liked: Any) -> None:
    qrels, run = {"u": dict.fromkeys(liked, 1)}, {"u": items}

    ev = rk.evaluate(qrels, run, metric, convention="lenskit")

    assert isnan(ev[metric])


@pytest.mark.parametrize("n", [2, 5, 20])
def test_rbp_with_logarithmic_weights(n: int) -> None:
    weights = [1 / log2(rank + 1) for rank in range(1, n + 1)]
    asked = rk.RBP(weights=tuple(weights))
    items = [*range(n)]

    half = rk.evaluate({"u": items[::2]}, {"u": items}, asked, convention="lenskit")
    whole = rk.evaluate({"u": items}, {"u": items}, asked, convention="lenskit")

    assert half[asked] == pytest.approx(sum(weights[::2]) / sum(weights))
    assert whole[asked] == pytest.approx(1)


RATINGS = {1: 3.0, 2: 5.0, 3: 4.0}
IDEAL = 5 + 4 + 3 / log2(3)


@pytest.mark.parametrize(
    ("metric", "items", "expected"),
    [
        ("nDCG", [], 0),
        ("nDCG", [4], 0),
        ("nDCG", [2, 3, 1], 1),
        ("nDCG@2", [2, 3, 1], 1),
        ("nDCG@2", [2, 3], 1),
        ("nDCG", [1, 2], (1 + 1) / (1 + 1 + 1 / log2(3))),
        ("nDCG@2", [1, 2], 1),
        ("nDCG(gain='linear')", [1, 2], (3 + 5) / IDEAL),
        ("nDCG@2", [1, 3], 1),
        ("nDCG(gain='linear')@2", [1, 3], (3 + 4) / (5 + 4)),
        ("DCG", [], 0),
        ("DCG", [4], 0),
        ("DCG", [2, 3, 1], 1 / log2(2) + 1 / log2(2) + 1 / log2(3)),
        ("DCG@2", [2, 3, 1], 2),
        ("DCG@2", [2, 3], 2),
        ("DCG", [1, 2], 1 + 1),
        ("DCG@2", [1, 2], 2),
        ("DCG(gain='linear')", [1, 2], 3 + 5),
        ("DCG@2", [1, 3], 2),
        ("DCG(gain='linear')@2", [1, 3], 3 + 4),
    ],
)
def test_gains(metric: str, items: list[int], expected: float) -> None:
    ev = rk.evaluate({"u": RATINGS}, {"u": items}, metric, convention="lenskit")

    assert ev[metric] == pytest.approx(expected)


@pytest.mark.parametrize(
    ("gains", "expected"),
    [
        ([0.5], 0.5),
        ([0, 0.5], 0.5),
        ([0, 0, 0.5], 0.5 / log2(3)),
        ([0, 0, 0.5, 0], 0.5 / log2(3)),
        ([e, pi], e + pi),
        ([e, 0, 0, pi], e + pi / log2(4)),
        ([0] * 10, 0),
    ],
)
def test_gains_by_rank(gains: list[float], expected: float) -> None:
    qrels = {"u": dict(enumerate(gains))}
    metric = "DCG(gain='linear')"

    ev = rk.evaluate(qrels, {"u": [*qrels["u"]]}, metric, convention="lenskit")

    assert ev[metric] == pytest.approx(expected)


def test_graded_rbp() -> None:
    # GradedRBP(scale=True) of a later version.
    metric, p = "RBP(p=0.5,gain='scaled')", 0.5

    ev = rk.evaluate({"u": {1: 2.0, 2: 4.0}}, {"u": [1, 2]}, metric)

    assert ev[metric] == pytest.approx((1 - p) * (0.5 + 1.0 * p))


# For each item the topics it is about; in LensKit, a row of a matrix.
@pytest.mark.parametrize(
    ("topics", "expected"),
    [
        (["a", "b", "c"], log2(3)),
        (["a", "b", "a", "b"], 1),
        (["a", None, "b", None, "c", None, "d", None, "e", None], log2(5)),
    ],
)
def test_entropy(topics: list[str | None], expected: float) -> None:
    kinds = {item: kind for item, kind in enumerate(topics) if kind is not None}
    lists = {"u": [*range(len(topics))]}

    ev = rk.evaluate(None, lists, "TopicEntropy", convention="lenskit", items=kinds)

    assert ev["TopicEntropy"] == pytest.approx(expected, abs=0.02)


def test_rank_biased_entropy() -> None:
    # The first list has its three topics at once, the second one topic first.
    entropy = {}
    for topics in ("abcaa", "aaabc"):
        kinds = dict(enumerate(topics))
        ev = rk.evaluate(
            None,
            {"u": [*kinds]},
            "RankBiasedEntropy",
            convention="lenskit",
            items=kinds,
        )
        (entropy[topics],) = ev.mean.values()

    assert 0 < entropy["aaabc"] < entropy["abcaa"] <= log2(3)


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        ([[1, 0, 0], [1, 0, 0], [1, 0, 0]], 1),
        ([[1, 0, 0], [0, 1, 0], [0, 0, 1]], 0),
        ([[1, 0], [1, 0], [0, 1]], (1 + 0 + 0) / 3),
        ([[1, 0, 0]], 1),
        ([[1, 0], [1, 0]], 1),
        ([[1, 0], [0, 1]], 0),
    ],
)
def test_similarity_within_lists(rows: list[list[int]], expected: float) -> None:
    # Of a later version of LensKit: similarities, which are one minus distances.
    features = dict(enumerate(rows))

    ev = rk.evaluate(
        None, {"u": [*features]}, "ILD", convention="lenskit", items=features
    )

    assert 1 - ev["ILD"] == pytest.approx(expected)


@pytest.mark.parametrize(
    ("reference", "reranked", "expected"),
    [
        ([], [1, 2, 3], nan),
        ([10, 11, 12], [1, 2, 3], 0),
        ([1, 2, 3, 4, 5], [1, 2, 3, 4, 5], 0),
        # LensKit counts ranks from 0 there, and gives one less.
        ([1, 2, 3, 4, 5, 6], [6, 2, 3, 1], 2 + 1),
        ([1, 2, 3, 4, 5, 6, 7], [7, 6, 2, 3], 3 + 1),
    ],
)
def test_least_item_promoted(
    reference: list[int], reranked: list[int], expected: float
) -> None:
    found = rk.least_item_promoted(reference, reranked, k=3)

    assert found == pytest.approx(expected, nan_ok=True)


@pytest.mark.parametrize(
    ("error", "scores", "ratings", "expected"),
    [
        (rk.rmse, [1], [1], 0),
        (rk.rmse, [1], [2], 1),
        (rk.rmse, [1], [0.5], 0.5),
        (rk.rmse, [1, 2], [1, 2], 0),
        (rk.rmse, [1, 1], [2, 2], 1),
        (rk.rmse, [1, 3], [3, 1], 2),
        (rk.mae, [1, 2], [1, 2], 0),
        (rk.mae, [1, 1], [2, 2], 1),
        (rk.mae, [1, 3], [3, 1], 2),
        (rk.mae, [1, 3], [3, 2], 1.5),
    ],
)
def test_predictions(
    error: Any, scores: list[float], ratings: list[float], expected: float
) -> None:
    assert error(ratings, scores) == pytest.approx(expected)
