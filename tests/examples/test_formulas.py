"""Formulas as they are often written, on lists small enough for a hand: put right."""

from __future__ import annotations

from math import log2
from typing import Any

import pytest

import rankine as rk
from rankine import errors

# --- lists of ones and zeros


def flags(text: str) -> tuple[dict[str, dict[str, int]], dict[str, list[str]]]:
    """Turn ``1 0 1`` into judgements and a list."""
    items = [f"item {at}" for at in range(len(text.split()))]
    grades = {item: int(flag) for item, flag in zip(items, text.split(), strict=True)}
    return {"q": grades}, {"q": items}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1 1 1 0 0 0", (1 / 1 + 2 / 2 + 3 / 3) / 3),
        ("0 0 0 1 1 1", (1 / 4 + 2 / 5 + 3 / 6) / 3),
        ("1 1 0 0 1 0 0", (1 / 1 + 2 / 2 + 3 / 5) / 3),
    ],
)
def test_average_precision_is_taken_at_the_hits(text: str, expected: float) -> None:
    assert rk.evaluate(*flags(text), "AP")["AP"] == pytest.approx(expected)


def test_average_precision_in_numbers() -> None:
    found = [
        round(rk.evaluate(*flags(text), "AP")["AP"], 4)
        for text in ("1 1 1 0 0 0", "0 0 0 1 1 1", "1 1 0 0 1 0 0")
    ]

    assert found == [1, 0.3833, 0.8667]


def test_average_over_all_positions_is_another_number() -> None:
    ev = rk.evaluate(*flags("0 0 0 1 1 1"), "AP(terms=all_ranks,divisor=k)@6")

    assert next(iter(ev.mean.values())) == pytest.approx(
        (0 + 0 + 0 + 1 / 4 + 2 / 5 + 3 / 6) / 6
    )


def test_dcg_of_a_sorted_list_is_the_ideal() -> None:
    ev = rk.evaluate(*flags("8 5 3 2 1"), ["DCG", "nDCG", "DCG(discount=reciprocal)"])

    assert ev["DCG"] == pytest.approx(
        8 / 1 + 5 / log2(3) + 3 / 2 + 2 / log2(5) + 1 / log2(6)
    )
    assert ev["nDCG"] == 1
    assert ev["DCG(discount='reciprocal')"] == pytest.approx(
        8 / 1 + 5 / 2 + 3 / 3 + 2 / 4 + 1 / 5
    )


# --- formulas, on two users

TRUTH = {"u": {"a": 3, "b": 2, "c": 1, "m": 2}, "v": {"d": 1, "e": 3}}
LISTS = {"u": ["x", "a", "y", "b", "c"], "v": ["e", "z", "w", "d"]}


def mean(metric: Any, **options: Any) -> float:
    return rk.evaluate(TRUTH, LISTS, metric, **options)[metric]


@pytest.mark.parametrize(
    ("metric", "expected"),
    [
        ("MRR", (1 / 2 + 1 / 1) / 2),
        ("P@3", (1 / 3 + 1 / 3) / 2),
        ("P@4", (2 / 4 + 2 / 4) / 2),
        ("R@3", (1 / 4 + 1 / 2) / 2),
        ("R@4", (2 / 4 + 2 / 2) / 2),
        ("AP@4", ((1 / 2 + 2 / 4) / 4 + (1 / 1 + 2 / 4) / 2) / 2),
        ("MAP", ((1 / 2 + 2 / 4 + 3 / 5) / 4 + (1 / 1 + 2 / 4) / 2) / 2),
        ("AP(divisor='min_k_R')@2", ((1 / 2) / 2 + (1 / 1) / 2) / 2),
        ("AR@4", ((0 + 1 / 4 + 1 / 4 + 2 / 4) / 4 + (3 * 1 / 2 + 2 / 2) / 4) / 2),
        ("AR(variant='hits')@4", ((1 / 4 + 2 / 4) / 4 + (1 / 2 + 2 / 2) / 2) / 2),
        (
            "F1@4",
            (2 * (2 / 4 * 2 / 4) / (2 / 4 + 2 / 4) + 2 * (2 / 4 * 1) / (2 / 4 + 1)) / 2,
        ),
        ("top_k_accuracy@1", (0 + 1) / 2),
        ("top_k_accuracy@2", (1 + 1) / 2),
        ("CG@3", (3 + 3) / 2),
        ("CG@4", ((3 + 2) + (3 + 1)) / 2),
        ("DCG@4", ((3 / log2(3) + 2 / log2(5)) + (3 / 1 + 1 / log2(5))) / 2),
        (
            "DCG(gain='exponential')@4",
            ((7 / log2(3) + 3 / log2(5)) + (7 / 1 + 1 / log2(5))) / 2,
        ),
        (
            "nDCG@4",
            (
                (3 / log2(3) + 2 / log2(5)) / (3 + 2 / log2(3) + 2 / 2 + 1 / log2(5))
                + (3 / 1 + 1 / log2(5)) / (3 / 1 + 1 / log2(3))
            )
            / 2,
        ),
        (
            "nDCG(gain='exponential')@4",
            (
                (7 / log2(3) + 3 / log2(5)) / (7 + 3 / log2(3) + 3 / 2 + 1 / log2(5))
                + (7 / 1 + 1 / log2(5)) / (7 / 1 + 1 / log2(3))
            )
            / 2,
        ),
    ],
)
def test_formulas(metric: str, expected: float) -> None:
    assert mean(metric) == pytest.approx(expected)


def test_mean_f_is_not_f_of_the_means() -> None:
    ev = rk.evaluate(TRUTH, LISTS, ["F@4", "P@4", "R@4"])

    p, r = ev["P@4"], ev["R@4"]
    assert ev["F@4"] != pytest.approx(2 * p * r / (p + r))


def test_gains_agree_on_binary_grades() -> None:
    ev = rk.evaluate(*flags("0 1 0 1"), ["DCG", "DCG(gain='exponential')"])

    linear, exponential = ev.mean.values()
    assert linear == exponential == pytest.approx(1 / log2(3) + 1 / log2(5))


def test_cumulative_gain_does_not_see_the_order() -> None:
    ahead, behind = flags("3 0 2"), flags("0 2 3")

    assert rk.evaluate(*ahead, "CG@3")["CG@3"] == rk.evaluate(*behind, "CG@3")["CG@3"]


def test_ndcg_does_penalise_missing_items() -> None:
    qrels = {"q": {"a": 1, "b": 1}}

    ev = rk.evaluate(qrels, {"q": ["a"]}, ["nDCG", "nDCG(ideal='retrieved')"])

    assert ev["nDCG"] == pytest.approx(1 / (1 + 1 / log2(3)))
    assert ev["nDCG(ideal='retrieved')"] == 1


def test_without_grades_relevance_is_a_constant() -> None:
    ev = rk.evaluate({"q": {"a", "b"}}, {"q": ["a", "x", "b"]}, ["DCG", "nDCG"])

    assert ev["DCG"] == 1 + 1 / 2
    assert ev["nDCG"] == pytest.approx((1 + 1 / 2) / (1 + 1 / log2(3)))


RATINGS = {"u": {"a": 5, "b": 3, "c": 1}, "v": {"a": 4, "d": 2}}
ORDER = {"u": ["b", "c", "a"], "v": ["a", "d"]}


def test_r_score_is_pooled_over_users() -> None:
    # Neutral rating 2, half-life 3: rank j counts 1 / 2^((j - 1) / 2).
    half = 2 ** (1 / 2)
    got = {"u": (3 - 2) / 1 + 0 / half + (5 - 2) / 2, "v": (4 - 2) / 1 + 0 / half}
    best = {"u": (5 - 2) / 1 + (3 - 2) / half, "v": (4 - 2) / 1}
    metric = rk.RScore(neutral=2, half_life=3)

    pooled = rk.evaluate(RATINGS, ORDER, metric)
    single = rk.evaluate(RATINGS, ORDER, metric(aggregate="mean_of_ratios"))

    assert pooled[metric] == pytest.approx(
        100 * (got["u"] + got["v"]) / (best["u"] + best["v"])
    )
    assert next(iter(single.mean.values())) == pytest.approx(
        100 * (got["u"] / best["u"] + got["v"] / best["v"]) / 2
    )
    assert rk.evaluate(RATINGS, ORDER, metric(scale=1)).mean == pytest.approx(
        {"RScore(neutral=2,half_life=3,scale=1)": pooled[metric] / 100}
    )


def test_a_half_life_of_one_is_refused() -> None:
    with pytest.raises(errors.ParameterError, match="half_life must be"):
        rk.RScore(half_life=1)
