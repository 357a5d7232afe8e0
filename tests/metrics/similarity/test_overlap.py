"""Overlap, average overlap, Jaccard, least item promoted."""

from __future__ import annotations

import math
import random
from typing import Any

import pytest

import rankine as rk
from tests.metrics.similarity import twin
from tests.metrics.similarity.test_rbo import random_groups

X, Y = [1, 2, 3, 4], [2, 1, 3, 5]


def test_by_hand() -> None:
    assert [rk.overlap(X, Y, k) for k in (1, 2, 3, 4)] == [0, 1, 1, 3 / 4]
    assert rk.overlap(X, Y) == 3 / 4
    assert rk.average_overlap(X, Y) == pytest.approx((0 + 1 + 1 + 3 / 4) / 4)
    assert rk.average_overlap(X, Y, 2) == (0 + 1) / 2
    assert rk.jaccard(X, Y) == 3 / 5
    assert rk.jaccard(X, Y, 1) == 0
    # 4 is first and stood at rank 4; 5 is new, and came from nowhere.
    assert rk.least_item_promoted(X, [4, 5, 1], k=2) == 4 - 2
    assert rk.least_item_promoted(X, X, k=2) == 0


def test_deeper_than_the_lists_nothing_is_common() -> None:
    assert rk.overlap(X, Y, 8) == 3 / 8
    deep = (0 + 1 + 1 + 3 / 4 + 3 / 5 + 3 / 6) / 6
    assert rk.average_overlap(X, Y, 6) == pytest.approx(deep)
    far = (0 + 1 + 1 + sum(3 / d for d in range(4, 1001))) / 1000
    assert rk.average_overlap(X, Y, 1000) == pytest.approx(far)


def test_uneven_and_empty_lists() -> None:
    assert rk.average_overlap([1, 2, 3], [1]) == 1
    assert rk.average_overlap([1, 2, 3], [1], 3) == pytest.approx(
        (1 + 1 / 2 + 1 / 3) / 3
    )
    for found in (
        rk.overlap([], [1]),
        rk.average_overlap([], []),
        rk.jaccard([], []),
        rk.least_item_promoted([], [1], k=1),
    ):
        assert math.isnan(found)
    assert rk.jaccard([], [1]) == 0
    assert rk.overlap([], [1], 3) == 0


@pytest.mark.parametrize("ties", ["w", "a", "b"])
def test_ties_by_the_definition(ties: Any) -> None:
    rng = random.Random(f"overlap {ties}")  # noqa: S311 - data, not secrets
    for _ in range(150):
        items = [f"i{at}" for at in range(rng.randint(1, 12))]
        x, y = (random_groups(rng, items, 4) for _ in range(2))
        k = rng.randint(1, 16)
        one, other = twin.ranks(x), twin.ranks(y)
        short = min(len(one), len(other))
        agreed = []
        for d in range(1, k + 1):
            a = [twin.inside(one.get(i), d, ties) for i in items]
            b = [twin.inside(other.get(i), d, ties) for i in items]
            common = sum(v * w for v, w in zip(a, b, strict=True))
            # Behind the end of a list one item follows the other.
            a = a if d <= len(one) else [1.0] * d
            b = b if d <= len(other) else [1.0] * d
            size = {
                "w": (sum(a) + sum(b)) / 2,
                "a": d,
                "b": math.sqrt(sum(v * v for v in a) * sum(v * v for v in b)),
            }[ties]
            agreed.append(common / size)

        assert rk.overlap(x, y, k, ties) == pytest.approx(agreed[-1]), (x, y, k)
        mean = sum(agreed) / k
        assert rk.average_overlap(x, y, k, ties) == pytest.approx(mean), (x, y, k)
        if k >= short:
            wanted = sum(agreed[:short]) / short
            assert rk.average_overlap(x, y, ties=ties) == pytest.approx(wanted)


@pytest.mark.parametrize("k", [0, -1, 2.5, "3", True])
def test_a_depth_must_be_a_positive_integer(k: Any) -> None:
    for function in (rk.overlap, rk.average_overlap, rk.jaccard):
        with pytest.raises(rk.errors.ParameterError, match="k must be"):
            function(X, Y, k)
    with pytest.raises(rk.errors.ParameterError, match="k must be"):
        rk.least_item_promoted(X, Y, k)


@pytest.mark.parametrize(
    ("x", "message"),
    [
        (["a", "b", "a"], r"item 'a' appears twice in x \(places 1 and 3\)"),
        (["a", ["b", "a"]], r"item 'a' appears twice in x"),
        ("a (b c", "a bracket is not closed"),
        ("a b) c", "unmatched or empty bracket"),
        ("a () c", "unmatched or empty bracket"),
        (["a", []], "a tie has no items"),
        ([["a", "b"], []], "a tie has no items"),
        (["a", None], "an item is missing at place 2"),
        (["a", [None, "b", "c"]], "an item is missing at place 2"),
        ({"a": 1, "": 2}, "an item is missing: ''"),
        (["a", ""], "an item is missing"),
        (["a", math.nan], "an item is missing"),
        (["a", {"b": 1}], "is not an item id"),
        ({"a": "high"}, "x: the score of item 'a' is 'high', not a number"),
        (42, "x is of type int; a ranking is a list"),
        ({"a", "b"}, "x is of type set; a ranking is a list"),
    ],
)
def test_what_is_no_ranking_is_refused(x: Any, message: str) -> None:
    for function in (rk.rbo, rk.overlap, rk.average_overlap, rk.jaccard):
        with pytest.raises(rk.errors.DataError, match=message):
            function(x, ["a", "b"])
    second = message.replace("in x", "in y").replace("x is", "y is").replace("x:", "y:")
    with pytest.raises(rk.errors.DataError, match=second):
        rk.rbo(["a", "b"], x)


def test_text_and_numbers_never_agree() -> None:
    with pytest.raises(rk.errors.DataError, match="ids are text in one and numbers"):
        rk.rbo([1, 2], ["1", "2"])


def test_ways_to_write_ties() -> None:
    wanted = rk.rbo("a (b c) d", "b a d", ties="a")
    for x in (
        ["a", ["b", "c"], "d"],
        ["a", {"b", "c"}, "d"],
        ["a", ("b", "c"), "d"],
        {"a": 3, "b": 2, "c": 2, "d": 1},
    ):
        assert rk.rbo(x, ["b", "a", "d"], ties="a") == wanted


def test_ties_are_cut_by_the_larger_id_however_they_are_written() -> None:
    y = ["a", "b", "c", "d"]
    for tie in ({"a", "b", "c"}, ["b", "a", "c"], ("c", "b", "a")):
        assert rk.jaccard([tie, "d"], y, 1) == 0
        assert rk.least_item_promoted(y, [tie, "d"], 1) == 3 - 1
    assert rk.jaccard({"a": 1, "b": 1, "c": 1, "d": 0}, ["c"], 1) == 1
