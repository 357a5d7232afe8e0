"""The numbers that other tools give for metrics of lists, under their conventions.

peers.json holds small inputs and what RecTools 0.19.0, recommenders 1.2.1, RePlay
0.22.0, LensKit 2025.8.1, Jurity 2.1.0 and recmetrics 0.1.5 returned for them.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import rankine as rk

DATA = json.loads((Path(__file__).parent / "peers.json").read_text())
# (tool, metric without cutoff, input) -> why the number is another one
OTHERWISE = {
    ("recommenders", "Unexpectedness", "C"): "no features: at distance 1 from all",
    ("recommenders", "Serendipity(method='distance')", "C"): "the same",
    ("replay", "Novelty", "D"): "users without a list count 1",
}


def lists_of(case: dict[str, Any], own: dict[str, Any]) -> pl.DataFrame:
    rows = own["lists"]
    if "lists" in case:
        rows = [
            (user, item, place + 1, -place)
            for user, items in enumerate(case["lists"])
            for place, item in enumerate(items)
        ]
    return pl.DataFrame(rows, ["user_id", "item_id", "rank", "score"], orient="row")


def number(case: dict[str, Any]) -> float:
    own = DATA["inputs"][case["input"]]
    truth = pl.DataFrame(own["truth"], ["user_id", "item_id"], orient="row")
    if "actual" in case:
        truth = pl.DataFrame(
            case["actual"], ["user_id", "item_id", "click"], orient="row"
        )
    ev = rk.evaluate(
        truth,
        lists_of(case, own),
        case["metric"],
        convention=case["tool"],
        train=pl.DataFrame(own["train"], ["user_id", "item_id"], orient="row"),
        items={int(item): row for item, row in own["features"].items()},
        catalog=case.get("catalog"),
    )
    (value,) = ev.mean.values()
    # RecTools counts features that differ; a Hamming distance is their share.
    return value * float(case.get("scale", 1))


@pytest.mark.parametrize("case", DATA["cases"], ids=str)
def test_number(case: dict[str, Any]) -> None:
    key = case["tool"], case["metric"].partition("@")[0], case["input"]

    same = number(case) == pytest.approx(case["value"], abs=1e-9)

    assert same != (key in OTHERWISE)


TRAIN = pl.DataFrame(
    [(1, 1), (1, 2), (2, 1), (3, 3)], ["user_id", "item_id"], orient="row"
)
LISTS = pl.DataFrame(
    [(1, 3, 1), (2, 2, 1), (3, 1, 1), (3, 4, 2)],
    ["user_id", "item_id", "rank"],
    orient="row",
)
SALES = {1: [1, 2], 2: [1, 3]}


@pytest.mark.parametrize(
    ("tool", "metric", "value"),
    [
        ("replay", "Coverage@2", 1.0),
        ("replay", "Novelty@2", 1.0),
        ("replay", "Novelty(by='users',divisor='k',scaled=True)@2", 0.5615117077380904),
        ("rectools", "Coverage@2", 4.0),
        ("rectools", "Coverage(share=True)@2", 4 / 3),
        ("rectools", "Novelty@2", 1.4182958340544896),
        ("recommenders", "Novelty", 1.25),
        ("recommenders", "Coverage", 4 / 3),
    ],
)
def test_the_same_lists_under_several_conventions(
    tool: str, metric: str, value: float
) -> None:
    ev = rk.evaluate(None, LISTS, metric, convention=tool, train=TRAIN)

    assert list(ev.mean.values()) == [pytest.approx(value, abs=1e-12)]
    assert not [text for text in ev.warnings if "does not exist in this tool" in text]


@pytest.mark.parametrize(
    ("tool", "metric", "value"),
    [
        ("elliot", "Gini@2", 0.5),
        ("ranksys", "Gini@2", 0.5),
        ("recbole", "Gini@2", 0.5),
        ("recbole", "Coverage@2", 0.6),
        ("elliot", "Coverage@2", 3),
        # -(1/2 ln 1/2 + 2 * 1/4 ln 1/4) / 3 items, to four decimals
        ("recbole", "Entropy@2", 0.3466),
        ("ranksys", "Entropy@2", 1.5),
        ("ranksys", "GiniSimpson@2", 1 - (1 / 4 + 1 / 16 + 1 / 16)),
    ],
)
def test_what_is_sold_under_several_conventions(
    tool: str, metric: str, value: float
) -> None:
    ev = rk.evaluate(None, SALES, metric, convention=tool, catalog=4)

    assert list(ev.mean.values()) == [pytest.approx(value, abs=1e-12)]


def test_a_tool_without_the_metric_says_so() -> None:
    ev = rk.evaluate(None, SALES, "GiniSimpson@2", convention="jurity")

    assert any(
        ("GiniSimpson does not exist in this tool") in text for text in ev.warnings
    )


UNEQUAL = {1: ["a"], 2: ["a", "b", "c"], 3: ["b", "d"]}


def test_lists_of_unequal_length_as_ranksys_weighs_them() -> None:
    from math import log2  # noqa: PLC0415

    # Each list weighs a third, each of its items its part of that; six rows in all.
    weighs = {
        "a": (1 + 1 / 3) / 3,
        "b": (1 / 3 + 1 / 2) / 3,
        "c": 1 / 3 / 3,
        "d": 1 / 2 / 3,
    }
    share = {"a": 2 / 6, "b": 2 / 6, "c": 1 / 6, "d": 1 / 6}
    ev = rk.evaluate(
        None, UNEQUAL, ["Entropy@3", "GiniSimpson@3"], convention="ranksys"
    )

    entropy = -sum(weighs[item] * log2(share[item]) for item in share)
    assert ev["Entropy@3"] == pytest.approx(entropy)
    # (E - 1) / k + 1, where E = sum of weights times (1 - users who got it / users)
    expected = sum(
        weighs[i] * (1 - n / 3) for i, n in zip("abcd", (2, 2, 1, 1), strict=True)
    )
    assert ev["GiniSimpson@3"] == pytest.approx((expected - 1) / 3 + 1)


KINDS = {"a": "war", "b": "war", "c": "love", "d": ["love", "war"], "e": "food"}


def test_an_ideal_list_that_is_one_item_too_long_as_ranksys_has_it() -> None:
    from math import log2  # noqa: PLC0415

    # Relevant are a, b and c; the greedy ideal is war, love, then war again for half.
    qrels = {"u": {"a": 1, "b": 1, "c": 1}, "v": {"z": 1}}
    lists = {"u": ["a", "b"], "v": ["a"]}
    ev = rk.evaluate(qrels, lists, "alpha_nDCG@2", items=KINDS, convention="ranksys")

    ideal = 1 + 1 / log2(3) + 0.5 / log2(4)
    assert ev.per_query["alpha_nDCG@2"].to_list() == [
        pytest.approx((1 + 0.5 / log2(3)) / ideal),
        0,
    ]
    assert not ev.warnings


def test_topics_weigh_as_in_the_profile_as_ranksys_has_it() -> None:
    # u had d and e, and judged a, c: war 2, love 2, food 1 of five topics in all.
    # Grades go up to 2: a stops with (2^2 - 1) / 2^2, c with (2^1 - 1) / 2^2.
    qrels = {"u": {"a": 2, "c": 1}}
    lists = {"u": ["a", "c", "e"]}
    train = {"u": ["d", "e"]}
    ev = rk.evaluate(
        qrels, lists, "ERR_IA@3", items=KINDS, train=train, convention="ranksys"
    )

    assert ev["ERR_IA@3"] == pytest.approx(2 / 5 * 3 / 4 + 2 / 5 * 1 / 4 / 2)
    assert not ev.warnings
    # Without its profile: a mean over war and love.
    plain = rk.evaluate(qrels, lists, "ERR_IA(max_grade=2)@3", items=KINDS)
    assert plain["ERR_IA(max_grade=2)@3"] == pytest.approx((3 / 4 + 1 / 4 / 2) / 2)


def test_items_of_short_lists_count_more_as_ranksys_has_it() -> None:
    # k sum over items of the mean of 1 / length of the lists that have it.
    ev = rk.evaluate(None, UNEQUAL, "Coverage@3", convention="ranksys")
    a, b, c, d = (1 + 1 / 3) / 2, (1 / 3 + 1 / 2) / 2, 1 / 3, 1 / 2

    assert ev["Coverage@3"] == pytest.approx(3 * (a + b + c + d))
    # With full lists it is a count.
    full = {1: ["a", "b"], 2: ["a", "c"]}
    found = rk.evaluate(None, full, "Coverage@2", convention="ranksys")
    assert found["Coverage@2"] == pytest.approx(3)
    assert rk.evaluate(None, UNEQUAL, "Coverage", convention="ranksys")["Coverage"] == 4


def test_users_without_anything_to_find_count_0_as_ranksys_has_it() -> None:
    qrels = {"u": {"a": 1}, "v": {"z": 1}}
    lists = {"u": ["a"], "v": ["a"]}
    ev = rk.evaluate(
        qrels, lists, "SubtopicRecall@1", items=KINDS, convention="ranksys"
    )

    assert ev.per_query["SubtopicRecall@1"].to_list() == [pytest.approx(1 / 3), 0]


def test_replay_takes_the_mean_over_other_users_and_we_say_so() -> None:
    lists, train = {1: ["a", "b"], 2: ["c"]}, {1: ["a"], 3: ["b"]}
    ev = rk.evaluate(None, lists, "Novelty@2", train=train, convention="replay")

    (said,) = ev.warnings
    assert "over the users of train, with 1 for those without a list" in said
    assert "(2 users in only one of the two)" in said
    same = {1: ["a", "b"], 3: ["c"]}
    assert not rk.evaluate(
        None, same, "Novelty@2", train=train, convention="replay"
    ).warnings
