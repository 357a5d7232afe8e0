"""The examples and formulas of the documents this project grew from, put right."""

from __future__ import annotations

import math
from math import log2
from typing import Any

import pandas as pd
import polars as pl
import pytest

import rankine as rk
from rankine import errors

# --- ten users, ten films: preferences and recommendations, best first

FILMS = {
    "u0": ([1, 4, 6, 9, 8, 2, 0, 3, 7, 5], [1, 4, 6, 9, 8, 2, 0, 3, 7, 5]),
    "u1": ([9, 6, 8, 4, 5, 1, 7, 3, 0, 2], [9, 6, 8, 4, 5, 1, 7, 3, 0, 2]),
    "u2": ([1, 0, 7, 6, 8, 9, 5, 4, 3, 2], [1, 0, 7, 6, 8, 9, 5, 4, 3, 2]),
    "u3": ([9, 4, 6, 2, 0, 3, 7, 1, 5, 8], [9, 4, 6, 2, 0, 3, 7, 1, 5, 8]),
    "u4": ([8, 9, 5, 3, 6, 2, 4, 0, 1, 7], [7, 3, 9, 5, 8, 6, 2, 4, 0, 1]),
    "u5": ([6, 4, 5, 0, 9, 1, 7, 2, 3, 8], [6, 4, 5, 0, 9, 1, 7, 2, 3, 8]),
    "u6": ([3, 9, 7, 6, 1, 5, 0, 8, 4, 2], [3, 9, 7, 6, 1, 5, 0, 8, 4, 2]),
    "u7": ([7, 4, 2, 5, 3, 0, 8, 6, 1, 9], [7, 4, 2, 5, 3, 0, 8, 6, 1, 9]),
    "u8": ([2, 9, 4, 0, 6, 7, 8, 5, 1, 3], [5, 2, 0, 1, 8, 9, 3, 6, 4, 7]),
    "u9": ([1, 5, 8, 3, 4, 0, 9, 2, 7, 6], [1, 5, 8, 3, 4, 0, 9, 2, 7, 6]),
}
PREFERRED = {user: preferred for user, (preferred, _) in FILMS.items()}
RECOMMENDED = {user: recommended for user, (_, recommended) in FILMS.items()}
MICRO = rk.Convention(aggregate="micro")
# Eight users get what they like. Of u4's first four films three are recommended (3, 9,
# 5) and of u8's two (2, 0).
HITS = 8 * 4 + 3 + 2


def first(n: int) -> dict[str, set[int]]:
    return {user: set(preferred[:n]) for user, preferred in PREFERRED.items()}


@pytest.mark.parametrize("rule", ["rankine", MICRO], ids=["mean", "pooled"])
@pytest.mark.parametrize("metric", ["P@4", "R@4", "F@4", "R(divisor=min_k_R)@4"])
def test_with_as_many_relevant_as_ranks_precision_is_recall(
    metric: str, rule: Any
) -> None:
    ev = rk.evaluate(first(4), RECOMMENDED, metric, convention=rule)

    assert HITS == 37
    assert ev[metric] == pytest.approx(HITS / 40)
    assert HITS / 40 == 0.925


def test_masked_recall_never_counts_the_fifth_film() -> None:
    # The mask makes five films relevant, but hits are looked for among the first four
    # preferences only: 37 / (10 * 5). The divisor 5 is told by a fifth relevant item
    # that no list can hold.
    masked: dict[str, set[Any]] = {
        user: {str(film) for film in films} | {"the fifth"}
        for user, films in first(4).items()
    }
    run = {user: [str(film) for film in films] for user, films in RECOMMENDED.items()}

    pooled = rk.evaluate(masked, run, "R@4", convention=MICRO)["R@4"]
    mean = rk.evaluate(masked, run, "R@4")["R@4"]

    assert pooled == pytest.approx(HITS / 50)
    assert mean == pytest.approx(HITS / 50)
    assert HITS / 50 == 0.74


def test_recall_of_the_first_five_films() -> None:
    # u4's fifth film, 6, and u8's, 6, are not among their first four either, so that
    # here the mask loses nothing; with the list of u4 cut at six it would.
    assert rk.evaluate(first(5), RECOMMENDED, "R@4")["R@4"] == pytest.approx(HITS / 50)
    hits_at_6 = 8 * 5 + 5 + 3
    assert rk.evaluate(first(5), RECOMMENDED, "R@6")["R@6"] == pytest.approx(
        hits_at_6 / 50
    )


def test_precision_and_recall_differ_with_another_number_of_relevant_films() -> None:
    ev = rk.evaluate(first(5), RECOMMENDED, ["P@4", "R@4"])

    assert ev["P@4"] == pytest.approx(37 / 40)
    assert ev["R@4"] == pytest.approx(37 / 50)


def test_pooled_and_mean_recall_differ_when_users_differ() -> None:
    truth = first(4) | {"u4": set(PREFERRED["u4"])}

    pooled = rk.evaluate(truth, RECOMMENDED, "R@4", convention=MICRO)["R@4"]
    mean = rk.evaluate(truth, RECOMMENDED, "R@4")["R@4"]

    assert pooled == pytest.approx((8 * 4 + 4 + 2) / (9 * 4 + 10))
    assert mean == pytest.approx((8 * 1 + 4 / 10 + 2 / 4) / 10)


def test_hit_ratio_is_the_share_of_users_with_a_hit() -> None:
    # The first choice: u4's film 8 stands at rank 5, u8's film 2 at rank 2.
    ev = rk.evaluate(first(1), RECOMMENDED, ["HitRate@1", "HR@2", "HitRate@5", "MRR"])

    assert list(ev.mean.values()) == pytest.approx(
        [8 / 10, 9 / 10, 10 / 10, (8 + 1 / 5 + 1 / 2) / 10]
    )


def test_reciprocal_rank_looks_at_the_first_hit_only() -> None:
    run = {"q": ["a", "x", "b"]}

    ev = rk.evaluate({"q": {"a", "b"}}, run, ["RR", "RR(variant=sum)"])

    assert ev["RR"] == 1
    assert ev["RR(variant='sum')"] == pytest.approx(1 + 1 / 3)


# --- a log of events, two models

WORTH = {"Viewed": 0, "Clicked": 1, "Shared": 2, "AddedToCart": 3, "Ordered": 4}
EVENTS = pl.DataFrame(
    [
        ("s1", 5, "Ordered", 0.10, 0.80),
        ("s1", 7, "AddedToCart", 0.13, 0.95),
        ("s1", 2, "Viewed", 0.50, 0.90),
        ("s1", 3, "Clicked", 0.25, 0.10),
        ("s1", 8, "Shared", 0.17, 0.85),
        ("s1", 9, "Viewed", 0.45, 0.05),
        ("s2", 1, "Viewed", 0.40, 0.30),
        ("s2", 5, "Clicked", 0.30, 0.60),
        ("s2", 6, "Ordered", 0.90, 0.20),
        ("s2", 4, "Viewed", 0.20, 0.70),
        ("s2", 7, "Viewed", 0.60, 0.10),
        ("s2", 0, "AddedToCart", 0.80, 0.90),
    ],
    schema=["session_id", "item", "action", "model_a", "model_b"],
    orient="row",
)
# Grades in the order of each model, best score first.
BY_A = {"s1": [0, 0, 1, 2, 3, 4], "s2": [4, 3, 0, 0, 1, 0]}
BY_B = {"s1": [3, 0, 2, 4, 1, 0], "s2": [3, 0, 1, 0, 4, 0]}
BEST = {"s1": [4, 3, 2, 1, 0, 0], "s2": [4, 3, 1, 0, 0, 0]}


def dcg(grades: list[int], k: int, gain: str = "linear", base: float = 2) -> float:
    return sum(
        (2**grade - 1 if gain == "exponential" else grade) / math.log(at + 2, base)
        for at, grade in enumerate(grades[:k])
    )


def of_model(model: str, metrics: Any, **options: Any) -> rk.Evaluation:
    columns = {"grade": "action", "score": model}
    return rk.evaluate(
        EVENTS, EVENTS, metrics, columns=columns, grades=WORTH, **options
    )


@pytest.mark.parametrize(("model", "order"), [("model_a", BY_A), ("model_b", BY_B)])
@pytest.mark.parametrize("k", [1, 2, 3, 6, 10, 10_000])
def test_models_on_a_log_of_events(
    model: str, order: dict[str, list[int]], k: int
) -> None:
    ev = of_model(model, [f"nDCG@{k}", f"DCG@{k}", f"CG@{k}"])

    assert ev.per_query["query"].to_list() == ["s1", "s2"]
    assert ev.per_query[f"DCG@{k}"].to_list() == pytest.approx(
        [dcg(order["s1"], k), dcg(order["s2"], k)]
    )
    assert ev[f"nDCG@{k}"] == pytest.approx(
        (
            dcg(order["s1"], k) / dcg(BEST["s1"], k)
            + dcg(order["s2"], k) / dcg(BEST["s2"], k)
        )
        / 2
    )
    assert ev[f"CG@{k}"] == (sum(order["s1"][:k]) + sum(order["s2"][:k])) / 2
    assert all(0 <= value <= 1 for value in ev.per_query[f"nDCG@{k}"])


def test_one_value_written_out() -> None:
    ev = of_model("model_b", ["nDCG@3"])

    s1 = (3 / log2(2) + 0 / log2(3) + 2 / log2(4)) / (4 / 1 + 3 / log2(3) + 2 / 2)
    s2 = (3 / log2(2) + 0 / log2(3) + 1 / log2(4)) / (4 / 1 + 3 / log2(3) + 1 / 2)
    assert ev["nDCG@3"] == pytest.approx((s1 + s2) / 2)


@pytest.mark.parametrize("k", [1, 3, 6, 10_000])
@pytest.mark.parametrize("gain", ["linear", "exponential"])
def test_the_ideal_order_gives_one(k: int, gain: str) -> None:
    ideal = EVENTS.with_columns(
        relevance=pl.col("action").replace_strict(WORTH, return_dtype=pl.Int64)
    )
    columns = {"grade": "relevance", "score": "relevance"}

    ev = rk.evaluate(ideal, ideal, f"nDCG(gain={gain})@{k}", columns=columns)

    assert ev.per_query[ev.per_query.columns[1]].to_list() == [1, 1]


def test_the_better_model_is_the_one_that_orders_better() -> None:
    metric = ["nDCG@3"]

    assert of_model("model_a", metric)["nDCG@3"] < of_model("model_b", metric)["nDCG@3"]


def test_an_item_twice_in_a_session_is_told() -> None:
    twice = pl.concat([EVENTS, EVENTS.head(1)])

    with pytest.raises(errors.DuplicateItemError, match=r"item 5 .*'s1'"):
        rk.evaluate(twice, {"s1": [5]}, columns={"grade": "action"}, grades=WORTH)


@pytest.mark.parametrize("gain", ["linear", "exponential"])
@pytest.mark.parametrize("base", [2, math.e, 10])
def test_the_base_of_the_logarithm_does_not_change_ndcg(gain: str, base: float) -> None:
    metric = rk.nDCG(gain=gain, discount="log", base=base) @ 5
    raw = rk.DCG(gain=gain, discount="log", base=base) @ 5

    ev = of_model("model_b", [metric, raw, rk.nDCG(gain=gain) @ 5])

    assert ev[metric] == pytest.approx(ev[rk.nDCG(gain=gain) @ 5], rel=1e-12)
    assert ev[raw] == pytest.approx(
        (dcg(BY_B["s1"], 5, gain, base) + dcg(BY_B["s2"], 5, gain, base)) / 2
    )


def test_the_base_matters_where_ranks_below_it_are_not_discounted() -> None:
    run, qrels = {"q": ["a", "b", "c"]}, {"q": {"a": 1, "b": 3, "c": 2}}

    two = rk.evaluate(qrels, run, "nDCG(discount=jk,base=2)")
    ten = rk.evaluate(qrels, run, "nDCG(discount=jk,base=10)")

    assert next(iter(two.mean.values())) == pytest.approx(
        (1 + 3 / 1 + 2 / log2(3)) / (3 + 2 / 1 + 1 / log2(3))
    )
    assert next(iter(ten.mean.values())) == 1


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


# --- ratings, of which 3.5 and more count, in one table of predictions

PREDICTIONS = [
    ("u", "a", 4.0, 4.2),
    ("u", "b", 3.5, 3.4),
    ("u", "c", 5.0, 3.5),
    ("u", "d", 2.0, 4.9),
    ("u", "e", 1.0, 1.0),
    ("v", "a", 3.0, 3.9),
    ("v", "f", 4.5, 3.6),
    ("v", "g", 3.4, 3.49),
    ("w", "a", 2.0, 1.5),
    ("w", "b", 4.0, 2.0),
]
NAMES = ["uid", "iid", "r_ui", "est"]
P, R = {"u": 2 / 3, "v": 1 / 2, "w": 0}, {"u": 2 / 3, "v": 1 / 1, "w": 0 / 1}


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_a_threshold_for_ratings_and_one_for_predictions(library: str) -> None:
    predictions: Any = pl.DataFrame(PREDICTIONS, schema=NAMES, orient="row")
    if library == "pandas":
        predictions = pd.DataFrame(PREDICTIONS, columns=NAMES)
    metrics = [f"{name}(rel=3.5,min_score=3.5)" for name in "PRF"]

    ev = rk.evaluate(predictions, predictions, metrics)

    f1 = [2 * P[user] * R[user] / ((P[user] + R[user]) or 1) for user in "uvw"]
    assert list(ev.mean) == metrics
    assert ev.per_query[metrics[0]].to_list() == pytest.approx(list(P.values()))
    assert ev.per_query[metrics[1]].to_list() == pytest.approx(list(R.values()))
    assert ev.per_query[metrics[2]].to_list() == pytest.approx(f1)
    assert ev[metrics[0]] == pytest.approx((2 / 3 + 1 / 2 + 0) / 3)


def test_thresholds_at_a_cutoff() -> None:
    predictions = pl.DataFrame(PREDICTIONS, schema=NAMES, orient="row")
    metrics = [
        "P(rel=3.5,divisor='list',min_score=3.5)@2",
        "R(rel=3.5,min_score=3.5)@2",
        "P(rel=3.5,min_score=3.5)@2",
    ]

    ev = rk.evaluate(predictions, predictions, metrics)

    # Recommended at 2: u gets d and a, v gets a and f, w nothing.
    by_list, recall, by_k = ev.mean.values()
    assert by_list == pytest.approx((1 / 2 + 1 / 2 + 0) / 3)
    assert recall == pytest.approx((1 / 3 + 1 / 1 + 0) / 3)
    assert by_k == pytest.approx((1 / 2 + 1 / 2 + 0 / 2) / 3)


def test_precision_is_one_minus_false_discovery_rate_not_fall_out() -> None:
    predictions = pl.DataFrame(PREDICTIONS[:5], schema=NAMES, orient="row")

    ev = rk.evaluate(predictions, predictions, "P(rel=3.5,min_score=3.5)")

    false_positives, true_positives, true_negatives = 1, 2, 1
    precision = next(iter(ev.mean.values()))
    assert precision == pytest.approx(
        1 - false_positives / (true_positives + false_positives)
    )
    assert precision != pytest.approx(
        1 - false_positives / (false_positives + true_negatives)
    )
