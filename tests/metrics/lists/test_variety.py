"""How varied the topics of a list are: values computed by hand, and laws."""

from __future__ import annotations

from math import isnan, log2
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import rankine as rk
from tests.metrics.lists.mean import one

# x is about nothing.
KINDS = {"a": ["war"], "b": ["war"], "c": ["love"], "d": ["war", "love"]}
SPREAD = "TopicEntropy(several='whole',smoothing=0.5)"


def bits(*amounts: float) -> float:
    """Return the entropy of shares that are as large as these amounts."""
    shares = [amount / sum(amounts) for amount in amounts]
    return -sum(share * log2(share) for share in shares)


@pytest.mark.parametrize(
    ("metric", "shown", "wanted"),
    [
        ("TopicEntropy", "ac", 1),
        ("TopicEntropy", "ab", 0),
        ("TopicEntropy", "abc", bits(2, 1)),
        ("TopicEntropy", "axbc", bits(2, 1)),
        ("TopicEntropy@2", "abc", 0),
        # d is half about war and half about love.
        ("TopicEntropy", "ad", bits(1 + 1 / 2, 1 / 2)),
        ("TopicEntropy(several='split')", "ad", bits(1 + 1 / 2, 1 / 2)),
        ("TopicEntropy(several='whole')", "ad", bits(2, 1)),
        ("TopicEntropy(p=0.5)", "abc", bits(1 + 1 / 2, 1 / 4)),
        ("TopicEntropy(p=0.5)", "axc", bits(1, 1 / 4)),
        ("RankBiasedEntropy", "ac", bits(1, 0.85)),
        ("rank_biased_entropy@2", "acb", bits(1, 0.85)),
        ("TopicEntropy(smoothing=0.5)", "ab", bits(2.5, 0.5)),
        ("TopicEntropy(smoothing=0.5)", "x", 1),
        ("TopicEntropy(p=0.5,smoothing=0.5)", "ac", bits(1 + 0.5, 0.5 + 0.5)),
        (SPREAD, "ad", bits(2.5, 1.5)),
        ("TopicDiversity@2", "ac", 2 / 2),
        ("TopicDiversity@2", "abc", 1 / 2),
        ("TopicDiversity@5", "abc", 2 / 5),
        ("TopicDiversity", "abxc", 2 / 4),
        ("TopicDiversity", "d", 2 / 1),
        ("TopicDiversity", "x", 0),
    ],
)
def test_a_value_by_hand(metric: str, shown: str, wanted: float) -> None:
    got = one(None, {"u": list(shown)}, metric, items=KINDS)

    assert got == pytest.approx(wanted, rel=1e-12, abs=1e-15)


@pytest.mark.parametrize("metric", ["TopicEntropy", SPREAD, "TopicDiversity"])
def test_an_empty_list_has_no_value(metric: str) -> None:
    ev = rk.evaluate(None, {"u": [], "v": ["a"]}, metric, items=KINDS)

    assert dict(ev.per_query.iter_rows())["u"] is None


def test_a_list_without_topics_has_no_entropy() -> None:
    assert isnan(one(None, {"u": ["x"]}, "TopicEntropy", items=KINDS))


def test_topics_may_have_weights() -> None:
    kinds = {"a": {"war": 3.0, "love": 1.0}}

    assert one(None, {"u": ["a"]}, "TopicEntropy", items=kinds) == bits(3, 1)


def test_lenskit_lets_items_count_whole_and_adds_a_little_to_every_topic() -> None:
    lists: Any = {"u": ["a", "d"]}
    got = one(None, lists, "TopicEntropy", items=KINDS, convention="lenskit")

    assert got == pytest.approx(bits(2 + 1e-6, 1 + 1e-6), rel=1e-12)


ITEMS = {f"i{number}": f"kind {number % 5}" for number in range(12)}


@given(st.lists(st.sampled_from(sorted(ITEMS)), min_size=1, unique=True))
def test_no_list_is_more_even_than_one_with_equal_shares(shown: list[str]) -> None:
    metrics = ["TopicEntropy", "TopicEntropy(p=0.7)", "TopicDiversity"]
    ev = rk.evaluate(None, {"u": shown}, metrics, items=ITEMS)
    turned = rk.evaluate(None, {"u": shown[::-1]}, metrics, items=ITEMS)
    counts = [[ITEMS[item] for item in shown].count(kind) for kind in ITEMS.values()]
    n_topics = len({ITEMS[item] for item in shown})

    assert ev["TopicEntropy"] <= log2(n_topics) + 1e-12
    assert ev["TopicEntropy(p=0.7)"] <= log2(n_topics) + 1e-12
    if len({count for count in counts if count}) == 1:
        assert ev["TopicEntropy"] == pytest.approx(log2(n_topics))
    assert turned["TopicEntropy"] == pytest.approx(ev["TopicEntropy"], abs=1e-12)
    assert turned["TopicDiversity"] == ev["TopicDiversity"] == n_topics / len(shown)
