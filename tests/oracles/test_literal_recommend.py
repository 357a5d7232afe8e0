"""The numbers that RecTools, Jurity and RePlay expect of themselves.

They are from the tests of the tools and from the examples in their documentation.
"""

from __future__ import annotations

import random
from collections import Counter
from math import sqrt
from typing import Any

import polars as pl
import pytest

import rankine as rk
from rankine.errors import ParameterError


def frame(*columns: list[Any]) -> pl.DataFrame:
    names = ["user_id", "item_id", "rank"][: len(columns)]
    return pl.DataFrame(dict(zip(names, columns, strict=True)))


def values(metric: str, qrels: Any, run: Any, **options: Any) -> list[float | None]:
    return [*rk.evaluate(qrels, run, metric, **options).per_query[metric]]


# RecTools, its tests and the examples of 0.19.0: users, items and ranks of what is
# recommended. User 2 of the first table, who has two items at rank 1 there, is left
# out: ranks that are used as numbers must differ.
FEW = frame([1, 1, 1, 3, 4], [1, 2, 3, 1, 1], [1, 2, 3, 3, 2])
AGAIN = frame(
    [1, 1, 2, 2, 2, 2, 3, 3, 3, 3, 3],
    [1, 2, 1, 1, 3, 4, 1, 2, 2, 1, 5],
    [1, 2, 1, 2, 3, 4, 1, 2, 3, 4, 5],
)
LONGER = frame(
    [1, 1, 2, 2, 2, 3, 3, 3, 3, 3],
    [1, 2, 1, 2, 3, 1, 2, 3, 4, 5],
    [1, 2, 1, 2, 3, 1, 2, 3, 4, 5],
)
REPEATED = frame(
    [1, 1, 2, 2, 2, 3, 3, 3, 3, 3],
    [1, 2, 1, 1, 3, 1, 2, 2, 1, 5],
    [1, 2, 1, 2, 3, 1, 2, 3, 4, 5],
)


@pytest.mark.parametrize(
    ("metric", "lists", "expected"),
    [
        ("SufficientReco(deep=True)@2", FEW, [1, 0, 0.5]),
        ("SufficientReco@2", FEW, [1, 0, 0]),
        ("SufficientReco@1", LONGER, [1, 1, 1]),
        ("SufficientReco@4", LONGER, [0, 0, 1]),
        ("SufficientReco(deep=True)@4", LONGER, [0.5, 0.75, 1]),
        ("UnrepeatedReco(deep=True)@4", AGAIN, [1, 0.75, 0.5]),
        ("UnrepeatedReco@4", AGAIN, [1, 0, 0]),
        ("UnrepeatedReco@1", REPEATED, [1, 1, 1]),
        ("UnrepeatedReco@4", REPEATED, [1, 0, 0]),
        ("UnrepeatedReco(deep=True)@4", REPEATED, [1, 0.66666667, 0.5]),
    ],
)
def test_lists_of_rectools(
    metric: str, lists: pl.DataFrame, expected: list[float]
) -> None:
    assert values(metric, None, lists, convention="rectools") == pytest.approx(expected)


ONCE = frame([1, 2, 3, 4], [1, 1, 1, 1])
LIKED = frame(
    [1, 1, 2, 2, 2, 3, 3, 3, 3, 3, 10, 11], [1, 2, 1, 1, 3, 1, 2, 2, 1, 5, 5, 5]
)


@pytest.mark.parametrize(
    ("metric", "liked", "lists", "expected"),
    [
        ("CoveredUsers@4", LIKED, REPEATED, [1, 1, 1, 0, 0]),
        ("CoveredUsers@1", ONCE, frame([1, 1, 2], [1, 2, 1], [1, 2, 2]), [1, 0, 0, 0]),
        ("CoveredUsers@2", ONCE, frame([1, 1, 2], [1, 2, 1], [1, 2, 2]), [1, 1, 0, 0]),
    ],
)
def test_covered_users_of_rectools(
    metric: str, liked: pl.DataFrame, lists: pl.DataFrame, expected: list[float]
) -> None:
    # The judgements of the first case repeat rows.
    ev = rk.evaluate(liked, lists, metric, convention="rectools", lenient=True)

    assert ev[metric] == pytest.approx(sum(expected) / len(expected))


SHOWN = frame([1, 1, 1, 2, 2, 2], [1, 2, 3, 1, 2, 3], [1, 2, 3, 4, 5, 6])
TWICE = frame([1, 1, 1, 2, 2, 2], [1, 2, 1, 1, 2, 3])
MISSED = frame([1, 1, 1, 2, 2, 2, 1], [1, 2, 1, 1, 2, 3, 10])
SHORT = frame([1, 2, 2, 2], [1, 1, 2, 3], [1, 4, 5, 6])
# From the tests, with ranks that have gaps.
GAPS = frame(
    [1, 2, 3, 3, 3, 4, 5, 5, 5, 5],
    [1, 2, 1, 2, 3, 1, 1, 2, 3, 5],
    [9, 1, 1, 2, 3, 1, 3, 7, 9, 1],
)
HAD = frame([1, 2, 3, 3, 3, 4, 5, 5, 5, 5], [1, 1, 1, 2, 3, 1, 1, 2, 3, 4])
# From the examples.
SEVEN = frame([1, 1, 2, 2, 2, 3, 3], [1, 2, 3, 1, 2, 3, 2], [1, 2, 1, 2, 3, 1, 2])
SIX = frame([1, 1, 2, 2, 3, 3], [1, 2, 1, 3, 1, 2])


@pytest.mark.parametrize(
    ("metric", "liked", "lists", "expected"),
    [
        ("PartialAUC(short='undefined')@1", HAD, GAPS, [0, 0, 1, 1, 0]),
        ("PartialAUC(short='undefined')@3", HAD, GAPS, [0, None, 1, 1, 1 / 12]),
        ("PAP(short='undefined')@1", HAD, GAPS, [0, 0, 1, 1, 0]),
        ("PAP(short='undefined')@3", HAD, GAPS, [0, None, 1, 1, 1 / 9]),
        ("PartialAUC@1", TWICE, SHOWN, [1, 0]),
        ("PartialAUC@3", TWICE, SHOWN, [1, 0]),
        ("PAP@1", TWICE, SHOWN, [1, 0]),
        ("PAP@3", TWICE, SHOWN, [1, 0]),
        ("PartialAUC(short='undefined')@3", TWICE, SHOWN, [1, 0]),
        ("PAP(short='undefined')@3", TWICE, SHOWN, [1, 0]),
        ("PartialAUC@1", MISSED, SHOWN, [2 / 3, 0]),
        ("PartialAUC(short='undefined')@1", MISSED, SHOWN, [2 / 3, 0]),
        ("PAP@2", MISSED, SHORT, [1 / 2, 0]),
        ("PAP(short='undefined')@2", MISSED, SHORT, [None, 0]),
        ("PartialAUC@1", SIX, SEVEN, [1, 1, 0]),
        ("PartialAUC@3", SIX, SEVEN, [1, 1, 0.33333333]),
        ("PartialAUC(short='undefined')@3", SIX, SEVEN, [1, 1, None]),
        ("PAP@1", SIX, SEVEN, [1, 1, 0]),
        ("PAP@3", SIX, SEVEN, [1, 1, 0.33333333]),
        ("PAP(short='undefined')@3", SIX, SEVEN, [1, 1, None]),
    ],
)
def test_partial_areas_of_rectools(
    metric: str, liked: pl.DataFrame, lists: pl.DataFrame, expected: list[float | None]
) -> None:
    found = values(metric, liked, lists, convention="rectools", lenient=True)

    assert found == pytest.approx(expected)


TOP = frame([1, 1, 1, 2, 2, 3, 4], [1, 2, 3, 1, 2, 1, 1], [1, 2, 3, 1, 2, 1, 1])
CHOSEN = frame([1, 1, 1, 3, 4, 5], [4, 2, 3, 1, 2, 2])


@pytest.mark.parametrize(
    ("metric", "expected"),
    [
        ("P@2", [0.5, 0.5, 0, 0]),
        ("R@2", [1 / 3, 1, 0, 0]),
        ("Accuracy@2", [0.7, 0.9, 0.7, 0.7]),
        (f"F(beta={sqrt(2)})@2", [0.375, 0.75, 0, 0]),
        ("MCC@2", [1 / sqrt(21), 2 / 3, -1 / 6, -1 / 6]),
        ("Success@2", [1, 1, 0, 0]),
    ],
)
def test_classification_of_rectools(metric: str, expected: list[float]) -> None:
    found = values(metric, CHOSEN, TOP, convention="rectools", catalog=10)

    assert found == pytest.approx(expected)


def test_debiasing_of_rectools() -> None:
    liked = frame(
        [1, 1, 2, 3, 3, 3, 3, 3, 3, 4, 5, 5, 5, 6, 7, 8],
        [1, 2, 1, 1, 2, 3, 4, 5, 6, 1, 1, 2, 3, 1, 1, 1],
    )
    # There, with random_state=32, users 1, 2, 3, 5 and 7 keep item 1; here, others do.
    kept = [1, 2, 1, 1, 2, 3, 4, 5, 6, 1, 2, 3, 1]

    left = rk.debias(liked, coefficient=1.5, seed=32)

    assert Counter(left.frame["item"]) == Counter(kept)
    rest = pl.col("item_id") != 1
    assert {*left.frame.filter(pl.col("item") != 1)[["query", "item"]].rows()} == {
        *liked.filter(rest).rows()
    }


# Jurity 2.1.0: its items have ten features each, drawn by Python's own generator.
DRAW = random.Random(1)  # noqa: S311 - the numbers of a test
FEATURES = {item: [DRAW.random() for _ in range(10)] for item in range(6)}
PREDICTED = pl.DataFrame(
    {
        "user_id": [0] * 4 + [1] * 4 + [2] * 4,
        "item_id": [0, 1, 2, 3, 0, 1, 2, 4, 0, 1, 2, 5],
        "score": [0.9, 0.7, 0.6, 0.3, 0.9, 0.7, 0.4, 0.1, 0.9, 0.8, 0.6, 0.6],
    }
)
NEGATIVE = PREDICTED.with_columns(
    score=pl.Series([-0.9, 0.7, 0.6, 0.3, 0.9, -0.7, 0.4, 0.1, 0.9, 0.8, -0.6, 0.6])
)
TWO_ITEMS = pl.DataFrame({"user_id": [0, 0], "item_id": [0, 1], "score": [1, 1]})
APART = pl.DataFrame({"user_id": [0, 1], "item_id": [0, 1], "score": [1, 1]})
ALIKE = pl.DataFrame({"user_id": [0, 1], "item_id": [1, 1], "score": [1, 1]})
ONE_FEATURE = {0: [0], 1: [1]}


@pytest.mark.parametrize(
    ("metric", "lists", "expected", "decimals"),
    [
        ("InterListDiversity@4", PREDICTED, 0.25, 12),
        ("InterListDiversity(sample=2)@4", PREDICTED, 0.25, 12),
        ("InterListDiversity@4", APART, 1, 12),
        ("InterListDiversity@4", ALIKE, 0, 12),
        ("InterListDiversity(sample=3)@4", NEGATIVE, 0.25, 12),
        # A sample of 0.8 there, which is two of three users.
        (
            "InterListDiversity(distance='euclidean',sample=2)@4",
            PREDICTED, 1.4142, 4,
        ),
        ("ILD@4", PREDICTED, 0.267, 3),
        ("ILD(sample=2)@4", PREDICTED, 0.268, 3),
        ("ILD(distance='euclidean')@4", PREDICTED, 1.307, 3),
    ],
)  # fmt: skip
def test_diversity_of_jurity(
    metric: str, lists: pl.DataFrame, expected: float, decimals: int
) -> None:
    ev = rk.evaluate(None, lists, metric, convention="jurity", items=FEATURES)

    assert round(ev[metric], decimals) == expected


def test_diversity_of_two_items_as_jurity_has_it() -> None:
    ev = rk.evaluate(None, TWO_ITEMS, "ILD@2", convention="jurity", items=ONE_FEATURE)

    assert ev["ILD@2"] == 1


@pytest.mark.parametrize("metric", ["ILD", "InterListDiversity"])
def test_samples_that_jurity_refuses_are_refused(metric: str) -> None:
    for wrong in ("sample=0", "sample=0.0", "sample=2,runs=0", "sample=2,runs=0.3"):
        with pytest.raises(ParameterError):
            rk.parse(f"{metric}({wrong})@4")


# RePlay, its tests and the examples of 0.22.0: users, items and ratings.
RATED = [
    (1, 3, 0.6), (1, 7, 0.5), (1, 10, 0.4), (1, 11, 0.3), (1, 2, 0.2),
    (2, 5, 0.6), (2, 8, 0.5), (2, 11, 0.4), (2, 1, 0.3), (2, 3, 0.2),
    (3, 4, 1.0), (3, 9, 0.5), (3, 2, 0.1),
]  # fmt: skip
BASE = [
    (1, 3, 0.5), (1, 7, 0.5), (1, 10, 0.3), (1, 11, 0.3), (1, 2, 0.7),
    (2, 5, 0.6), (2, 8, 0.6), (2, 11, 0.4), (2, 1, 0.3), (2, 3, 0.3),
    (3, 4, 1.0), (3, 9, 0.5), (3, 2, 0.3),
]  # fmt: skip
SMALL_BASE = [row for row in BASE if row[1] not in {10, 11, 1} and row[:2] != (3, 2)]
TRUTH = [
    *((1, item) for item in (5, 6, 7, 8, 9, 10)),
    *((2, item) for item in (6, 7, 4, 10, 11)),
    *((3, item) for item in (1, 2, 3, 4, 5)),
]
BEFORE = [
    *((1, item) for item in (5, 6, 8, 9, 2)),
    *((2, item) for item in (5, 8, 11, 1, 3)),
    *((3, item) for item in (4, 9, 2)),
]


def rated(rows: list[tuple[int, int, float]]) -> pl.DataFrame:
    return pl.DataFrame(rows, ["user_id", "item_id", "score"], orient="row")


def pairs(rows: list[Any]) -> pl.DataFrame:
    return frame([row[0] for row in rows], [row[1] for row in rows])


def as_expected(ev: rk.Evaluation, metric: str, expected: float | list[float]) -> bool:
    """Compare the mean, or the values of all users."""
    found = [*ev.per_query[metric]] if isinstance(expected, list) else ev[metric]
    return bool(found == pytest.approx(expected, abs=1e-5))


@pytest.mark.parametrize(
    ("metric", "expected"),
    [
        ("P@3", 0.55555), ("P@5", 0.333333), ("P@10", 0.166666),
        ("Success@3", 1), ("Success@5", 1), ("Success@10", 1),
        ("RR@3", 0.61111), ("RR@5", 0.61111), ("RR@10", 0.61111),
        ("AP@3", 0.35185), ("AP@5", 0.21111), ("AP@10", 0.198148),
        ("nDCG@3", 0.48975), ("nDCG@5", 0.35396), ("nDCG@10", 0.34018),
        ("AUC@3", 0.16666), ("AUC@5", 0.55555), ("AUC@10", 0.55555),
        ("R@5", 0.31111), ("R@10", 0.31111),
        # From the examples.
        ("nDCG@2", [0.38685280723454163, 0, 0.6131471927654584]),
        ("AP@2", [0.25, 0, 0.5]), ("RR@2", [0.5, 0, 1]), ("Success@2", [1, 0, 1]),
        ("P@2", [0.5, 0, 0.5]), ("R@2", [0.16666666666666666, 0, 0.2]),
        ("AUC@2", [0, 0, 1]),
    ],
)  # fmt: skip
def test_judged_lists_of_replay(metric: str, expected: float | list[float]) -> None:
    ev = rk.evaluate(pairs(TRUTH), rated(RATED), metric, convention="replay")

    assert as_expected(ev, metric, expected)


SURPRISAL = "Novelty(by='users',divisor='k',scaled=True)"


@pytest.mark.parametrize(
    ("metric", "train", "expected"),
    [
        ("Coverage@3", RATED, 0.9), ("Coverage@5", RATED, 1),
        ("Coverage@2", BEFORE, 0.5555555555555556),
        ("Novelty@3", RATED, 0), ("Novelty@5", RATED, 0),
        ("Novelty@3", TRUTH, 0.444444), ("Novelty@5", TRUTH, 0.577777),
        ("Novelty@2", BEFORE, [1, 0, 0]),
        (f"{SURPRISAL}@3", RATED, 0.78969), (f"{SURPRISAL}@5", RATED, 0.614294),
        (f"{SURPRISAL}@3", TRUTH, 0.719586), (f"{SURPRISAL}@5", TRUTH, 0.698418),
        (f"{SURPRISAL}@2", BEFORE, [1, 0.3690702464285426, 0.6845351232142713]),
    ],
)  # fmt: skip
def test_novelty_and_coverage_of_replay(
    metric: str, train: list[Any], expected: float | list[float]
) -> None:
    ev = rk.evaluate(
        None, rated(RATED), metric, convention="replay", train=pairs(train)
    )

    assert as_expected(ev, metric, expected)


@pytest.mark.parametrize(
    ("metric", "base", "expected"),
    [
        ("Unexpectedness@5", RATED, 0.133333),
        ("Unexpectedness@2", RATED, 0), ("Unexpectedness@10", RATED, 0.5666666),
        ("Unexpectedness@3", BASE, 0.111111111), ("Unexpectedness@5", BASE, 0.133333),
        ("Unexpectedness@2", BASE, 0.16666), ("Unexpectedness@10", BASE, 0.566666),
        ("Unexpectedness@20", BASE, 0.783333),
        ("Unexpectedness@2", SMALL_BASE, [0.5, 0, 0]),
        ("Unexpectedness@4", SMALL_BASE, [0.5, 0.5, 0.5]),
    ],
)  # fmt: skip
def test_unexpectedness_of_replay(
    metric: str, base: list[Any], expected: float | list[float]
) -> None:
    ev = rk.evaluate(
        None, rated(RATED), metric, convention="replay", reference=rated(base)
    )

    assert as_expected(ev, metric, expected)


@pytest.mark.parametrize(
    ("base", "lists", "expected"),
    [([1, 2], [1, 3], [0, 0.8]), ([1, 2], [3, 4], [1, 1])],
)
def test_unexpectedness_of_one_user_of_replay(
    base: list[int], lists: list[int], expected: list[float]
) -> None:
    asked = ["Unexpectedness@1", "Unexpectedness@5"]

    ev = rk.evaluate(
        None, {"u": lists}, asked, convention="replay", reference={"u": base}
    )

    assert [ev[metric] for metric in asked] == pytest.approx(expected)


@pytest.mark.parametrize(
    ("k", "expected"),
    [
        (2, [1, 1, 1]), (3, [1, 1, 1]), (5, [1, 1, 0.6]),
        (10, 0.43333), (20, 0.21666),
    ],
)  # fmt: skip
def test_categorical_diversity_of_replay(k: int, expected: float | list[float]) -> None:
    metric = f"TopicDiversity@{k}"
    kinds = {item: f"kind {item}" for _, item, _ in RATED}

    ev = rk.evaluate(None, rated(RATED), metric, convention="replay", items=kinds)

    assert as_expected(ev, metric, expected)
