"""Ten users and ten films, and ratings with a threshold: worked examples."""

from __future__ import annotations

from typing import Any

import pandas as pd
import polars as pl
import pytest

import rankine as rk

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
MICRO = rk.Convention(aggregate="ratio_of_sums")
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
