"""The numbers that RecBole, Cornac, recommenders and TorchMetrics expect of themselves.

They are from the tests of the tools, and from the examples of TorchMetrics.
"""

from __future__ import annotations

from math import log, log2, sqrt
from typing import Any

import polars as pl
import pytest

import rankine as rk

# RecBole 1: how many items the list of each user has, and the ranks of relevant ones,
# of which the tests give the number and the sum. Users who have only relevant items,
# or none, do not count.
LENGTHS = {0: (2, [1]), 1: (3, [1, 3]), 2: (5, [2, 3, 4])}
ODD = {0: (3, [3]), 1: (6, []), 2: (4, [1, 2, 3, 4])}


@pytest.mark.parametrize(
    ("users", "expected"),
    [
        (
            LENGTHS,
            (
                1 * ((2 - (1 - 1) / 2 - 1 / 1) / (2 - 1))
                + 2 * ((3 - (2 - 1) / 2 - 4 / 2) / (3 - 2))
                + 3 * ((5 - (3 - 1) / 2 - 9 / 3) / (5 - 3))
            )
            / (1 + 2 + 3),
        ),
        (ODD, (3 - 0 - 3 / 1) / (3 - 1)),
    ],
)
def test_grouped_auc_of_recbole(
    users: dict[int, tuple[int, list[int]]], expected: float
) -> None:
    run = {
        user: {rank: -rank for rank in range(1, n + 1)}
        for user, (n, _) in users.items()
    }
    qrels = {
        user: {rank: int(rank in relevant) for rank in run[user]}
        for user, (_, relevant) in users.items()
    }

    ev = rk.evaluate(qrels, run, "GAUC", convention="recbole")

    assert ev["GAUC"] == pytest.approx(expected, abs=5e-5)  # rounded to 4 decimals


# Which of three items are relevant, and how many items are.
HITS = {0: ([0, 0, 0], 1), 1: ([1, 1, 1], 3), 2: ([1, 0, 1], 4), 3: ([0, 0, 1], 2)}
SECOND = 1 / log2(3)


@pytest.mark.parametrize(
    ("metric", "expected"),
    [
        ("Success", [[0, 0, 0], [1, 1, 1], [1, 1, 1], [0, 0, 1]]),
        (
            "nDCG",
            [
                [0, 0, 0],
                [1, 1, 1],
                [1, 1 / (1 + SECOND), (1 + 1 / 2) / (1 + SECOND + 1 / 2)],
                [0, 0, (1 / 2) / (1 + SECOND)],
            ],
        ),
        ("RR", [[0, 0, 0], [1, 1, 1], [1, 1, 1], [0, 0, 1 / 3]]),
        (
            "AP",
            [
                [0, 0, 0],
                [1, 1, 1],
                [1, 1 / 2, (1 / 3) * (1 / 1 + 2 / 3)],
                [0, 0, (1 / 3) * (1 / 2)],
            ],
        ),
        ("R", [[0, 0, 0], [1 / 3, 2 / 3, 1], [1 / 4, 1 / 4, 2 / 4], [0, 0, 1 / 2]]),
        ("P", [[0, 0, 0], [1, 1, 1], [1, 1 / 2, 2 / 3], [0, 0, 1 / 3]]),
    ],
)
def test_cutoffs_of_recbole(metric: str, expected: list[list[float]]) -> None:
    run = {user: ["first", "second", "third"] for user in HITS}
    qrels = {
        user: {item: 1 for item, hit in zip(run[user], hits, strict=True) if hit}
        | {f"missed {i}": 1 for i in range(n - sum(hits))}
        for user, (hits, n) in HITS.items()
    }

    asked = [f"{metric}@{k}" for k in (1, 2, 3)]
    ev = rk.evaluate(qrels, run, asked, convention="recbole")

    for label, column in zip(asked, zip(*expected, strict=True), strict=True):
        assert [*ev.per_query[label]] == pytest.approx([*column])


# Five lists of eight items, one of which is padding; item -> interactions.
SHOWN = dict(enumerate([[5, 7, 3], [4, 5, 2], [2, 3, 5], [1, 4, 6], [5, 3, 7]]))
COUNTS = {2: 1, 3: 2, 4: 3, 5: 4, 6: 5}


def had(counts: dict[int, int]) -> pl.DataFrame:
    rows = [(user, item) for item, n in counts.items() for user in range(n)]
    return pl.DataFrame(rows, ["user_id", "item_id"], orient="row")


@pytest.mark.parametrize(
    ("metric", "expected"),
    [
        ("Coverage@3", 7 / 8),
        (
            "Gini@3",
            (-7 * 0 - 5 * 1 - 3 * 1 - 1 * 2 + 1 * 2 + 3 * 2 + 5 * 3 + 7 * 4)
            / (8 * (3 * 5)),
        ),
        (
            "Entropy@3",
            -sum(n / 15 * log(n / 15) for n in (1, 2, 3, 2, 4, 1, 2)) / 7,
        ),
    ],
)
def test_what_recbole_shows(metric: str, expected: float) -> None:
    ev = rk.evaluate(None, SHOWN, metric, convention="recbole", catalog=7)

    assert ev[metric] == pytest.approx(expected, abs=5e-5)  # rounded to 4 decimals


@pytest.mark.parametrize(
    ("metric", "counts", "expected"),
    [
        ("Popularity@1", COUNTS, [4, 3, 1, 0, 4]),
        ("Popularity@2", COUNTS, [4 / 2, 7 / 2, 3 / 2, 3 / 2, 6 / 2]),
        ("Popularity@3", COUNTS, [6 / 3, 8 / 3, 7 / 3, 8 / 3, 6 / 3]),
        # An item that nobody had is the tail there. Here somebody had it, and all other
        # items one more time: only their order counts.
        ("LongTail@1", {n: n for n in range(1, 7)}, [0, 0, 0, 1, 0]),
        ("LongTail@2", {n: n for n in range(1, 7)}, [0, 0, 0, 1 / 2, 0]),
        ("LongTail@3", {n: n for n in range(1, 7)}, [0, 0, 0, 1 / 3, 0]),
    ],
)
def test_popularity_of_recbole(
    metric: str, counts: dict[int, int], expected: list[float]
) -> None:
    ev = rk.evaluate(None, SHOWN, metric, convention="recbole", train=had(counts))

    assert [*ev.per_query[metric]] == pytest.approx(expected)


@pytest.mark.parametrize(
    ("scores", "true", "auc", "squares", "absolutes", "likelihoods"),
    [
        ([0.1, 0.9, 0.2, 0.3], [1, 0, 1, 1], 0, [0.9, 0.9, 0.8, 0.7],
         (0.9 + 0.9 + 0.8 + 0.7) / 4, [0.1, 0.2, 0.3, 0.1]),
        ([0.7, 0.5, 0.6, 0.2], [0, 1, 1, 0], 2 / (2 * 2), [0.7, 0.5, 0.4, 0.2],
         (0.7 + 0.5 + 0.4 + 0.2) / 4, [0.5, 0.6, 0.3, 0.8]),
    ],
)  # fmt: skip
def test_predictions_of_recbole(
    scores: list[float], true: list[int], auc: float, squares: list[float],
    absolutes: float, likelihoods: list[float],
) -> None:  # fmt: skip
    ev = rk.evaluate(
        {"u": dict(enumerate(true))}, {"u": dict(enumerate(scores))}, "AUC",
        convention="recbole",
    )  # fmt: skip

    assert ev["AUC"] == auc
    assert rk.rmse(true, scores) == pytest.approx(
        sqrt(sum(error**2 for error in squares) / 4)
    )
    assert rk.mae(true, scores) == pytest.approx(absolutes)
    assert rk.cross_entropy(true, scores) == pytest.approx(
        -sum(log(p) for p in likelihoods) / 4
    )


# Cornac, in versions 1 and 2: whether each of the items 0, 1 and 2 is relevant, and a
# list of them.
BOTH, LAST = [1, 0, 1], [0, 0, 1]


@pytest.mark.parametrize(
    ("metric", "relevant", "items", "expected"),
    [
        ("NCRR", [1], [0], 1),
        ("NCRR", BOTH, [0, 2, 1], 1),
        ("NCRR", BOTH, [1, 2, 0], (1 / 3 + 1 / 2) / (1 + 1 / 2)),
        ("NCRR@2", LAST, [1, 2, 0], 0.5),
        ("nDCG", [1], [0], 1),
        ("nDCG", BOTH, [0, 2, 1], 1),
        ("nDCG@2", LAST, [1, 2, 0], 0.63),
        ("RR", [1], [0], 1),
        ("RR", BOTH, [0, 2, 1], 1),
        ("RR", BOTH, [1, 2, 0], 1 / 2),
        ("P", [1], [0], 1),
        ("P", BOTH, [0, 2, 1], 2 / 3),
        ("P", LAST, [1, 2, 0], 1 / 3),
        ("P@2", LAST, [1, 2, 0], 0.5),
        ("R", [1], [0], 1),
        ("R", BOTH, [0, 2, 1], 1),
        ("R", LAST, [1, 2, 0], 1),
        ("R@2", LAST, [1, 2, 0], 1),
        ("F", [1], [0], 1),
        ("F", BOTH, [0, 2, 1], 4 / 5),
        ("F", LAST, [1, 2, 0], 1 / 2),
        ("F@2", LAST, [1, 2, 0], 2 / 3),
        ("F@2", [1, 0, 0], [1, 2], 0),
    ],
)
def test_ranking_of_cornac(
    metric: str, relevant: list[int], items: list[int], expected: float
) -> None:
    qrels, run = {"u": dict(enumerate(relevant))}, {"u": items}

    (value,) = rk.evaluate(qrels, run, metric, convention="cornac").mean.values()

    # Two decimals are all that the third case of nDCG has.
    assert value == pytest.approx(expected, abs=0.005 if expected == 0.63 else 1e-12)


@pytest.mark.parametrize(
    ("relevant", "scores", "expected"),
    [
        ([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8], 0.75),
        ([0, 1, 0, 1], [0.1, 0.4, 0.35, 0.8], 1),
        # The item with 0.8 is neither relevant nor counted as not relevant.
        ([0, 0, 1], [0.1, 0.4, 0.35], 0.5),
    ],
)
def test_auc_of_cornac(
    relevant: list[int], scores: list[float], expected: float
) -> None:
    qrels, run = {"u": dict(enumerate(relevant))}, {"u": dict(enumerate(scores))}

    assert rk.evaluate(qrels, run, "AUC", convention="cornac")["AUC"] == expected


# recommenders 1.2.1: ratings of three users, and predictions for them.
USERS = [1, 2, 2, 2, 2, 2, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 1, 1]
RATINGS = pl.DataFrame(
    {
        "user_id": USERS,
        "item_id": [3, 1, 4, 5, 6, 7, 2, 5, 6, 8, 9, 10, 11, 12, 13, 14, 1, 2],
        "grade": [3, 5, 5, 3, 3, 1, 5, 5, 5, 4, 4, 3, 3, 3, 2, 1, 5, 4],
    }
)
PREDICTED = pl.DataFrame(
    {
        "user_id": USERS,
        "item_id": [12, 10, 3, 5, 11, 13, 4, 10, 7, 13, 1, 3, 5, 2, 11, 14, 3, 10],
        "score": [12, 14, 13, 12, 11, 10, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 14, 13],
    }
)
NO_HIT = PREDICTED.with_columns(item_id=pl.lit(100))
ITSELF = RATINGS.rename({"grade": "score"})


def test_predictions_of_recommenders() -> None:
    matched = RATINGS.join(PREDICTED, on=["user_id", "item_id"])
    true, predicted = matched["grade"], matched["score"]

    assert rk.rmse(true, predicted) == pytest.approx(7.254309, 1e-4)
    assert rk.mae(true, predicted) == pytest.approx(6.375, 1e-4)
    assert rk.r_squared(true, predicted) == pytest.approx(-31.699029, 1e-4)
    assert rk.explained_variance(true, predicted) == pytest.approx(-6.4466, 1e-4)
    for metric, perfect in (
        (rk.rmse, 0), (rk.mae, 0), (rk.r_squared, 1), (rk.explained_variance, 1),
    ):  # fmt: skip
        assert metric(true, true) == pytest.approx(perfect)


@pytest.mark.parametrize(
    ("metric", "run", "expected"),
    [
        ("nDCG@10", ITSELF, 1), ("nDCG@10", NO_HIT, 0), ("nDCG@10", PREDICTED, 0.38172),
        ("AP@10", ITSELF, 1), ("AP@10", NO_HIT, 0), ("AP@10", PREDICTED, 0.23613),
        ("P@10", ITSELF, 0.6), ("P@10", NO_HIT, 0), ("P@10", PREDICTED, 0.26666),
        ("R@10", ITSELF, 1), ("R@10", NO_HIT, 0), ("R@10", PREDICTED, 0.37777),
        ("Rprec@10", ITSELF, 1), ("Rprec@5", NO_HIT, 0),
        ("Rprec@3", PREDICTED, 0.21111),
        ("Rprec@5", PREDICTED, 0.24444), ("Rprec@10", PREDICTED, 0.37777),
    ],
)  # fmt: skip
def test_ranking_of_recommenders(
    metric: str, run: pl.DataFrame, expected: float
) -> None:
    ev = rk.evaluate(RATINGS, run, metric, convention="recommenders")

    assert ev[metric] == pytest.approx(expected, 1e-4)


def test_few_items_of_recommenders() -> None:
    grades = dict(enumerate([3, 2, 3, 0, 1, 2, 3, 2]))
    metric = "nDCG(gain='linear')@6"
    ev = rk.evaluate({0: grades}, {0: range(6)}, metric, convention="recommenders")
    same = {1: {1: 5, 2: 4, 3: 3}, 2: {1: 5, 2: 5, 3: 3}}
    own = rk.evaluate(same, dict(same), ["P@3", "P@5"], convention="recommenders")

    assert ev[metric] == pytest.approx(0.785, 1e-4)
    assert own.mean == {"P@3": 1, "P@5": 0.6}


def test_probabilities_of_recommenders() -> None:
    # Grades of 3 and more are relevant, scores are mapped to 0 to 1.
    liked = RATINGS.with_columns(grade=(pl.col("grade") >= 3).cast(pl.Int64))
    lowest, highest = 5, 14
    run = PREDICTED.with_columns(score=(pl.col("score") - lowest) / (highest - lowest))
    matched = liked.join(run, on=["user_id", "item_id"])

    ev = rk.evaluate(liked, run, "AUC", convention="recommenders")

    assert ev["AUC"] == pytest.approx(0.75, 1e-4)
    loss = rk.cross_entropy(matched["grade"], matched["score"])
    assert loss == pytest.approx(0.7835, 1e-4)


LISTS = {1: [3, 5], 2: [2, 5], 3: [1, 2]}
JUDGED = {1: {3: 1, 5: 0}, 2: {2: 1, 5: 1}, 3: {1: 1, 2: 0}}
BEFORE = {1: [1, 2, 4], 2: [3, 4], 3: [3, 4, 5]}
FEATURES = {
    1: [0, 1, 1, 0, 0], 2: [0, 1, 0, 1, 0], 3: [0, 0, 1, 1, 0],
    4: [0, 0, 1, 0, 1], 5: [0, 0, 0, 1, 1],
}  # fmt: skip


@pytest.mark.parametrize(
    ("metric", "expected"),
    [
        ("Coverage", 0.8),
        ("Entropy", 1.9183),
        ("Novelty", 2.83333),
        ("ILD", [0.29289, 1.0, 0.0]),
        ("ILD", 0.43096),
        ("Serendipity", [0.363915, 0.53455, 0.403775]),
        ("Serendipity", 0.43408),
        ("ILD(by='features')", [0.5, 0.5, 0.5]),
        ("Serendipity(method='distance')", [0.25, 0.625, 0.3333]),
    ],
)
def test_diversity_of_recommenders(metric: str, expected: float | list[float]) -> None:
    ev = rk.evaluate(
        JUDGED, LISTS, metric, convention="recommenders", train=BEFORE, items=FEATURES
    )

    found = [*ev.per_query[metric]] if isinstance(expected, list) else ev[metric]
    assert found == pytest.approx(expected, abs=1e-4)


# TorchMetrics 1.9.0: queries, scores and whether items are relevant.
THREE = ([0] * 3, [0.2, 0.3, 0.5], [1, 0, 1])
SEVEN = ([0] * 3 + [1] * 4, [0.2, 0.3, 0.5, 0.1, 0.3, 0.5, 0.2], [0, 0, 1, 0, 1, 0, 1])
HIT = (*SEVEN[:2], [1, 0, 0, 0, 1, 0, 1])
GRADED = ([0] * 5, [0.1, 0.2, 0.3, 4, 70], [10, 0, 0, 1, 5])
CURVE = ([0] * 4 + [1] * 3, [0.4, 0.01, 0.5, 0.6, 0.2, 0.3, 0.5], [1, 0, 0, 1, 1, 0, 1])


def evaluated(data: Any, metrics: Any) -> rk.Evaluation:
    query, score, target = data
    columns = {"query": query, "item": range(len(query))}
    return rk.evaluate(
        pl.DataFrame(columns | {"grade": target}),
        pl.DataFrame(columns | {"score": score}),
        metrics,
        convention="torchmetrics",
    )


@pytest.mark.parametrize(
    ("metric", "data", "expected"),
    [
        ("FallOut@2", THREE, 1), ("FallOut@2", SEVEN, 0.5),
        ("AUC", THREE, 0.5), ("AUC", SEVEN, 0.75),
        ("AP", THREE, 0.8333), ("AP", SEVEN, 0.7917),
        ("Success@2", THREE, 1), ("Success@2", HIT, 0.5),
        ("nDCG", GRADED, 0.6957), ("nDCG", SEVEN, 0.8467),
        ("P@2", THREE, 0.5), ("P@2", SEVEN, 0.5),
        ("Rprec", THREE, 0.5), ("Rprec", SEVEN, 0.75),
        ("R@2", THREE, 0.5), ("R@2", SEVEN, 0.75),
        ("RR", (*THREE[:2], [0, 1, 0]), 0.5), ("RR", SEVEN, 0.75),
    ],
)  # fmt: skip
def test_examples_of_torchmetrics(metric: str, data: Any, expected: float) -> None:
    assert evaluated(data, metric)[metric] == pytest.approx(expected, abs=5e-5)


@pytest.mark.parametrize(
    ("data", "precisions", "recalls"),
    [
        (THREE, [1, 0.5], [0.5, 0.5]),
        (CURVE, [1, 0.5, 0.6667, 0.5], [0.5, 0.5, 1, 1]),
    ],
)
def test_curves_of_torchmetrics(
    data: Any, precisions: list[float], recalls: list[float]
) -> None:
    cutoffs = range(1, len(precisions) + 1)

    ev = evaluated(data, [f"{name}@{k}" for name in "PR" for k in cutoffs])

    assert [ev[f"P@{k}"] for k in cutoffs] == pytest.approx(precisions, abs=5e-5)
    assert [ev[f"R@{k}"] for k in cutoffs] == pytest.approx(recalls, abs=5e-5)


def test_recall_at_fixed_precision_of_torchmetrics() -> None:
    found = evaluated(CURVE, "AP").recall_at_precision(0.8)

    assert (found.recall, found.k) == (0.5, 1)
