"""A log of events, ordered by two models: a worked example."""

from __future__ import annotations

import math
from math import log2
from typing import Any

import polars as pl
import pytest

import rankine as rk
from rankine import errors

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
    run = ideal.select("session_id", "item", score="relevance")

    ev = rk.evaluate(
        ideal, run, f"nDCG(gain={gain})@{k}", columns={"grade": "relevance"}
    )

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
