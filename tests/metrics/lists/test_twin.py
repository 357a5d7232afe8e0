"""Metrics of lists against their definitions, and the laws that they keep."""

from __future__ import annotations

import math
import random
from collections import Counter
from typing import Any

import numpy as np
import pytest

import rankine as rk
from tests.metrics.lists.twin import TWINS, World, mean, pairwise, world

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("metric", TWINS)
@pytest.mark.parametrize("seed", range(12))
def test_values_per_user(metric: str, seed: int) -> None:
    w = world(seed)
    twin, items = TWINS[metric]

    ev = rk.evaluate(
        w.truth,
        w.lists,
        metric,
        train=w.train,
        items=getattr(w, items),
        reference=w.other,
        catalog=20,
    )

    found = dict(ev.per_query.iter_rows())
    # Where relevance counts, a user without a list counts, and one without judgements
    # does not.
    judged = "judgements" in rk.parse(metric).needs
    assert list(found) == list(w.truth if judged else w.lists)
    for user, value in found.items():
        wanted = twin(w, user, w.lists.get(user, [])[:5])
        got = math.nan if value is None else value
        assert got == pytest.approx(wanted, abs=1e-12, nan_ok=True), user
    known = [value for value in found.values() if value is not None]
    assert ev[metric] == pytest.approx(mean(known), nan_ok=True)


@pytest.mark.parametrize("seed", range(30))
def test_distance_of_all_pairs_of_lists(seed: int) -> None:
    rng = random.Random(seed)  # noqa: S311 - data, not secrets
    items = [f"i{number}" for number in range(rng.choice([3, 12, 200]))]
    lists = {
        f"u{number}": rng.sample(items, rng.randrange(min(len(items), 9) + 1))
        for number in range(rng.choice([2, 7, 60]))
    }
    k = rng.choice([1, 3, 20])
    cut = {user: shown[:k] for user, shown in lists.items()}

    ev = rk.evaluate(None, lists, [f"InterListDiversity@{k}"])

    (value,) = ev.mean.values()
    assert value == pytest.approx(pairwise(cut), abs=1e-12, nan_ok=True)
    own = [one for one in ev.per_query[f"InterListDiversity@{k}"] if one is not None]
    assert mean(own) == pytest.approx(pairwise(cut), abs=1e-12, nan_ok=True)


SCALED = "Entropy(scale='max')@4"


@pytest.mark.parametrize("seed", range(20))
def test_numbers_of_all_lists_together(seed: int) -> None:
    w = world(seed)
    shown = Counter(item for items in w.lists.values() for item in items[:4])
    total, n = sum(shown.values()), 17
    counts = sorted([*shown.values(), *[0] * (n - len(shown))])

    ev = rk.evaluate(
        None,
        w.lists,
        [
            "Coverage@4",
            "Gini@4",
            "Entropy@4",
            "GiniSimpson@4",
            "Entropy(scale='max')@4",
        ],
        catalog=n,
    )

    uneven = sum(abs(a - b) for a in counts for b in counts) / (2 * n * total)
    bits = -sum(c / total * math.log2(c / total) for c in shown.values())
    assert ev["Coverage@4"] == pytest.approx(len(shown) / n)
    assert ev["Gini@4"] == pytest.approx(uneven * n / (n - 1))
    assert ev["Entropy@4"] == pytest.approx(bits)
    assert ev[SCALED] == pytest.approx(bits / math.log2(n))
    same = sum((c / total) ** 2 for c in shown.values())
    assert ev["GiniSimpson@4"] == pytest.approx(1 - same)


# --- laws


def together(lists: Any, metrics: list[str], w: World, **more: Any) -> dict[str, float]:
    known: dict[str, Any] = {"train": w.train, "items": w.topics}
    more = {**known, "reference": w.other, "catalog": 20, **more}
    return rk.evaluate(w.truth, lists, metrics, **more).mean


EVERY = [
    "InterListDiversity@5", "ILD@5", "Unexpectedness@5", "Coverage@5", "UserCoverage",
    "Gini@5", "Entropy@5", "GiniSimpson@5", "Novelty@5", "EPC@5", "EFD@5",
    "Popularity@5", "LongTail@5", "Serendipity@5", "Calibration@5", "SubtopicRecall@5",
    "alpha_nDCG@5", "ERR_IA@5", "AWRF@5", "EE@5", "alpha_DCG@5", "nERR_IA@5",
    "NRBP@5", "nNRBP@5", "AP_IA@5", "P_IA@5", "SufficientReco@5", "UnrepeatedReco@5",
    "Intersection@5",
    "NRBP@5", "nNRBP@5", "AP_IA@5", "P_IA@5", "TopicEntropy@5", "TopicDiversity@5",
]  # fmt: skip


def test_all_metrics_of_lists_are_here() -> None:
    from rankine._metrics.lists.kind import LISTED  # noqa: PLC0415

    assert {rk.parse(text).name for text in EVERY} == set(LISTED)


@pytest.mark.parametrize("seed", range(6))
def test_the_order_of_users_does_not_matter(seed: int) -> None:
    w = world(seed)
    users = list(w.lists)
    random.Random(seed).shuffle(users)  # noqa: S311

    shuffled = {user: w.lists[user] for user in users}

    assert together(shuffled, EVERY, w) == together(w.lists, EVERY, w)


@pytest.mark.parametrize("seed", range(6))
def test_names_of_items_do_not_matter(seed: int) -> None:
    w = world(seed)

    def other(item: str) -> Any:
        return 7919 * (int(item[1:]) + 1) % 104729

    renamed = World(
        {user: list(map(other, shown)) for user, shown in w.lists.items()},
        {user: list(map(other, had)) for user, had in w.train.items()},
        {u: {other(i): g for i, g in one.items()} for u, one in w.truth.items()},
        {},
        {other(item): own for item, own in w.topics.items()},
        {user: list(map(other, shown)) for user, shown in w.other.items()},
    )

    ours, theirs = together(w.lists, EVERY, w), together(renamed.lists, EVERY, renamed)

    for metric, value in ours.items():
        assert theirs[metric] == pytest.approx(value, abs=1e-12, nan_ok=True), metric


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("metric", EVERY)
def test_values_are_within_their_bounds(metric: str, seed: int) -> None:
    w = world(seed)
    low, high = rk.parse(metric).fact.bounds

    known: dict[str, Any] = {"train": w.train, "items": w.topics}
    ev = rk.evaluate(w.truth, w.lists, metric, **known, reference=w.other, catalog=20)

    values = [one for one in ev.per_query[metric] if one is not None]
    for value in [ev[metric], *values]:
        assert math.isnan(value) or low <= value <= high


def test_lists_that_are_all_alike_and_all_different() -> None:
    alike = {user: ["a", "b", "c"] for user in range(7)}
    apart = {user: [f"{user}a", f"{user}b"] for user in range(7)}

    same = rk.evaluate(
        None, alike, ["InterListDiversity", "Gini", "Entropy"], catalog=3
    )
    different = rk.evaluate(
        None, apart, ["InterListDiversity", "Gini", "Entropy"], catalog=14
    )

    assert same.mean == {
        "InterListDiversity": 0.0,
        "Gini": 0.0,
        "Entropy": pytest.approx(math.log2(3)),
    }
    assert different.mean == {
        "InterListDiversity": 1.0,
        "Gini": 0.0,
        "Entropy": pytest.approx(math.log2(14)),
    }


def test_one_item_alone_is_as_uneven_as_can_be() -> None:
    ev = rk.evaluate(None, {"u": ["a"], "v": ["a"]}, ["Gini", "Entropy"], catalog=9)

    assert ev.mean == {"Gini": 1.0, "Entropy": 0.0}


def test_a_calibrated_list_has_no_divergence() -> None:
    topics = {"a": "war", "b": "love", "c": "war", "d": "love"}

    ev = rk.evaluate(
        None, {"u": ["c", "d"]}, "Calibration", items=topics, train={"u": ["a", "b"]}
    )

    assert ev["Calibration"] == 0


def test_an_interval_of_pairs_holds_the_mean_of_the_population() -> None:
    """Two parts of users, within which lists are alike, and between which they differ.

    With a share p of the first part, a pair is of two parts with chance 2 p (1 - p).
    """
    rng = np.random.default_rng(0)
    share, n, inside, repeats = 0.3, 60, 0, 300
    for _ in range(repeats):
        first = rng.random(n) < share
        lists = {user: ["a" if own else "b"] for user, own in enumerate(first)}
        ev = rk.evaluate(None, lists, "InterListDiversity")
        low, high = ev.interval("InterListDiversity", method="t")
        inside += low <= 2 * share * (1 - share) <= high

    assert 0.91 <= inside / repeats <= 0.99
