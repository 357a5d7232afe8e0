"""Metrics of lists against their definitions, written with loops and nothing else."""

from __future__ import annotations

import math
import random
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from itertools import combinations
from statistics import fmean
from typing import Any

import numpy as np
import pytest

import rankine as rk

Lists = dict[str, list[str]]


@dataclass
class World:
    """Lists of users, and all that can be known of them."""

    lists: Lists
    train: dict[str, list[str]]
    truth: dict[str, dict[str, int]]
    vectors: dict[str, list[float]]
    topics: dict[str, list[str]]

    @property
    def users_of(self) -> Counter[str]:
        return Counter(item for had in self.train.values() for item in set(had))

    @property
    def records(self) -> int:
        return sum(self.users_of.values())

    def relevant(self, user: str, least: int = 1) -> list[str]:
        return [i for i, grade in self.truth.get(user, {}).items() if grade >= least]


def world(seed: int) -> World:
    rng = random.Random(seed)  # noqa: S311 - data, not secrets
    items = [f"i{number}" for number in range(14)]
    users = [f"u{number}" for number in range(9)]
    lists = {user: rng.sample(items, rng.choice([0, 1, 2, 5, 6, 7])) for user in users}
    known = items[:11]  # the others are new
    train = {
        user: rng.sample(known, rng.randrange(1, 6))
        for user in [*users[1:], "else", "other"]
    }
    truth = {
        user: {item: rng.randrange(3) for item in rng.sample(items, 6)}
        for user in [*users[:7], "late"]  # who has no list
    }
    vectors = {item: [rng.gauss(0, 1) for _ in range(4)] for item in items[1:]}
    vectors["i3"] = [0.0] * 4
    topics = {
        item: rng.sample(["war", "love", "crime", "sea"], rng.randrange(1, 4))
        for item in items[:-1]
    }
    return World(lists, train, truth, vectors, topics)


def cosine(x: list[float], y: list[float]) -> float:
    long = math.sqrt(sum(a * a for a in x)) * math.sqrt(sum(b * b for b in y))
    return sum(a * b for a, b in zip(x, y, strict=True)) / long if long else 0.0


Twin = Callable[[World, str, list[str]], float]
NAN = math.nan


def mean(values: list[float]) -> float:
    return fmean(values) if values else NAN


def ild(w: World, _: str, shown: list[str]) -> float:
    known = [item for item in shown if item in w.vectors]
    return mean(
        [1 - cosine(w.vectors[a], w.vectors[b]) for a, b in combinations(known, 2)]
    )


def manhattan(w: World, _: str, shown: list[str]) -> float:
    known = [item for item in shown if item in w.vectors]
    return mean(
        [
            sum(abs(a - b) for a, b in zip(w.vectors[x], w.vectors[y], strict=True))
            for x, y in combinations(known, 2)
        ]
    )


def by_users(w: World, _: str, shown: list[str]) -> float:
    def alike(a: str, b: str) -> float:
        both = sum(a in had and b in had for had in w.train.values())
        count = w.users_of
        return both / math.sqrt(count[a] * count[b]) if both else 0.0

    return mean([1 - alike(a, b) for a, b in combinations(shown, 2)])


def unexpected(w: World, user: str, shown: list[str]) -> float:
    had = [item for item in w.train.get(user, []) if item in w.vectors]
    now = [item for item in shown if item in w.vectors]
    return mean([1 - cosine(w.vectors[a], w.vectors[b]) for a in now for b in had])


def novelty(w: World, _: str, shown: list[str]) -> float:
    n = len(w.train)
    return mean([-math.log2(max(w.users_of[item], 1) / n) for item in shown])


def unseen(w: World, user: str, shown: list[str]) -> float:
    return mean([float(item not in w.train.get(user, [])) for item in shown])


def epc(w: World, _: str, shown: list[str]) -> float:
    weight = [1 / math.log2(place + 2) for place in range(len(shown))]
    worth = [1 - w.users_of[item] / len(w.train) for item in shown]
    if not shown:
        return NAN
    return sum(a * b for a, b in zip(weight, worth, strict=True)) / sum(weight)


def efd(w: World, user: str, shown: list[str]) -> float:
    info = {item: -math.log2(n / w.records) for item, n in w.users_of.items()}
    most = max(info.values())
    wanted = w.relevant(user)
    if not wanted:
        return NAN
    return mean([info.get(i, most) if i in wanted else 0.0 for i in shown] or [0.0])


def popularity(w: World, _: str, shown: list[str]) -> float:
    return mean([float(w.users_of[item]) for item in shown])


def long_tail(w: World, _: str, shown: list[str]) -> float:
    count = w.users_of
    tail: set[str] = set()
    for level in sorted(set(count.values())):
        grown = {item for item, n in count.items() if n <= level}
        if sum(count[item] for item in grown) > 0.4 * w.records:
            break
        tail = grown
    return mean([float(item in tail or item not in count) for item in shown])


def serendipity(w: World, user: str, shown: list[str]) -> float:
    n = 20
    levels = sorted(set(w.users_of.values()), reverse=True)
    worth = []
    for place, item in enumerate(shown):
        own = (n - place) / n
        count = w.users_of[item]
        anybody = (n - levels.index(count)) / n if count else 0.0
        worth.append(max(own - anybody, 0.0) * (item in w.relevant(user)))
    return mean(worth or [0.0])


def spread(w: World, items: list[str]) -> dict[str, float]:
    share: Counter[str] = Counter()
    for item in items:
        for topic in w.topics.get(item, []):
            share[topic] += 1 / len(w.topics[item])  # type: ignore[assignment]
    total = sum(share.values())
    return {topic: value / total for topic, value in share.items()}


def calibration(w: World, user: str, shown: list[str]) -> float:
    p, q = spread(w, w.train.get(user, [])), spread(w, shown)
    if not p or not q:
        return NAN
    return sum(
        own * math.log(own / (0.9 * q.get(topic, 0.0) + 0.1 * own))
        for topic, own in p.items()
    )


def subtopics(w: World, user: str, shown: list[str]) -> float:
    wanted = {t for item in w.relevant(user) for t in w.topics.get(item, [])}
    hit = {t for i in shown if i in w.relevant(user) for t in w.topics.get(i, [])}
    return len(hit) / len(wanted) if wanted else NAN


def alpha_dcg(w: World, items: list[str]) -> float:
    seen: Counter[str] = Counter()
    total = 0.0
    for place, item in enumerate(items):
        for topic in w.topics.get(item, []):
            total += 0.7 ** seen[topic] / math.log2(place + 2)
            seen[topic] += 1
    return total


def alpha_ndcg(w: World, user: str, shown: list[str]) -> float:
    wanted = [item for item in w.relevant(user) if item in w.topics]
    ideal: list[str] = []
    while len(ideal) < 5 and len(ideal) < len(wanted):
        left = [item for item in wanted if item not in ideal]
        ideal.append(max(left, key=lambda item: alpha_dcg(w, [*ideal, item])))
    if not wanted:
        return NAN
    # What is not relevant has no topics here.
    own = World({}, {}, {}, {}, {i: t for i, t in w.topics.items() if i in wanted})
    return alpha_dcg(own, shown) / alpha_dcg(w, ideal)


def err_ia(w: World, user: str, shown: list[str]) -> float:
    wanted = {t for item in w.relevant(user) for t in w.topics.get(item, [])}
    if not wanted:
        return NAN
    total = 0.0
    for topic in wanted:
        left = 1.0
        for place, item in enumerate(shown):
            if item in w.relevant(user) and topic in w.topics.get(item, []):
                stop = (2 ** w.truth[user][item] - 1) / 4
                total += left * stop / (place + 1)
                left *= 1 - stop
    return total / len(wanted)


def awrf(w: World, _: str, shown: list[str]) -> float:
    got: Counter[str] = Counter()
    for place, item in enumerate(shown):
        for topic in w.topics.get(item, []):
            got[topic] += 1 / math.log2(place + 2) / len(w.topics[item])  # type: ignore[assignment]
    if not got:
        return NAN
    due = spread(w, list(w.topics))
    total = sum(got.values())
    kinds = sorted(due)
    p = [got[kind] / total for kind in kinds]
    q = [due[kind] for kind in kinds]
    m = [(a + b) / 2 for a, b in zip(p, q, strict=True)]

    def kl(x: list[float]) -> float:
        return sum(a * math.log2(a / b) for a, b in zip(x, m, strict=True) if a)

    return 1 - (kl(p) + kl(q)) / 2


def exposure(w: World, user: str, shown: list[str]) -> float:
    if user not in w.truth:
        return NAN
    wanted = [item for item in w.relevant(user) if item in w.topics]
    others = [item for item in w.topics if item not in wanted]
    n, m, p = len(w.topics), len(wanted), 0.5
    loss: Counter[str] = Counter()
    for place, item in enumerate(shown):
        for topic in w.topics.get(item, []):
            loss[topic] += p**place / len(w.topics[item])  # type: ignore[assignment]
    for group, places in ((wanted, range(m)), (others, range(m, n))):
        each = sum(p**place for place in places) / len(group) if group else 0.0
        for item in group:
            for topic in w.topics[item]:
                loss[topic] -= each / len(w.topics[item])  # type: ignore[assignment]
    return sum(value * value for value in loss.values())


TWINS: dict[str, tuple[Twin, str]] = {
    "ILD@5": (ild, "vectors"),
    "ILD(distance='cityblock')@5": (manhattan, "vectors"),
    "ILD(by='users')@5": (by_users, "vectors"),
    "Unexpectedness@5": (unexpected, "vectors"),
    "Novelty@5": (novelty, "topics"),
    "Novelty(by='own')@5": (unseen, "topics"),
    "EPC(weight='log2')@5": (epc, "topics"),
    "EFD(judged=True)@5": (efd, "topics"),
    "Popularity@5": (popularity, "topics"),
    "LongTail(tail=0.4)@5": (long_tail, "topics"),
    "Serendipity@5": (serendipity, "topics"),
    "Calibration(alpha=0.1)@5": (calibration, "topics"),
    "SubtopicRecall@5": (subtopics, "topics"),
    "alpha_nDCG(alpha=0.3)@5": (alpha_ndcg, "topics"),
    "ERR_IA(max_grade=2)@5": (err_ia, "topics"),
    "AWRF@5": (awrf, "topics"),
    "EE@5": (exposure, "topics"),
}


@pytest.mark.parametrize("metric", TWINS)
@pytest.mark.parametrize("seed", range(12))
def test_values_per_user(metric: str, seed: int) -> None:
    w = world(seed)
    twin, items = TWINS[metric]

    ev = rk.evaluate(
        w.truth, w.lists, metric, train=w.train, items=getattr(w, items), catalog=20
    )

    found = dict(ev.per_query.iter_rows())
    # Where relevance counts, a user without a list counts, and one without judgements
    # does not.
    judged = "judgements" in rk.parse(metric).needs  # type: ignore[attr-defined]
    assert list(found) == list(w.truth if judged else w.lists)
    for user, value in found.items():
        wanted = twin(w, user, w.lists.get(user, [])[:5])
        got = math.nan if value is None else value
        assert got == pytest.approx(wanted, abs=1e-12, nan_ok=True), user
    known = [value for value in found.values() if value is not None]
    assert ev[metric] == pytest.approx(mean(known), nan_ok=True)


def pairwise(lists: Lists) -> float:
    """Return the mean cosine distance of all pairs of lists that have items."""
    filled = [set(shown) for shown in lists.values() if shown]
    return mean(
        [
            1 - len(a & b) / math.sqrt(len(a) * len(b))
            for a, b in combinations(filled, 2)
        ]
    )


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


# Laws


def together(lists: Any, metrics: list[str], w: World, **more: Any) -> dict[str, float]:
    return rk.evaluate(
        w.truth, lists, metrics, train=w.train, items=w.topics, catalog=20, **more
    ).mean


EVERY = [
    "InterListDiversity@5", "ILD@5", "Unexpectedness@5", "Coverage@5", "UserCoverage",
    "Gini@5", "Entropy@5", "GiniSimpson@5", "Novelty@5", "EPC@5", "EFD@5",
    "Popularity@5", "LongTail@5", "Serendipity@5", "Calibration@5", "SubtopicRecall@5",
    "alpha_nDCG@5", "ERR_IA@5", "AWRF@5", "EE@5",
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
    )

    ours, theirs = together(w.lists, EVERY, w), together(renamed.lists, EVERY, renamed)

    for metric, value in ours.items():
        assert theirs[metric] == pytest.approx(value, abs=1e-12, nan_ok=True), metric


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("metric", EVERY)
def test_values_are_within_their_bounds(metric: str, seed: int) -> None:
    w = world(seed)
    low, high = rk.parse(metric).fact.bounds

    ev = rk.evaluate(
        w.truth, w.lists, metric, train=w.train, items=w.topics, catalog=20
    )

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
