"""Metrics of lists by their definitions, written with loops and nothing else."""

from __future__ import annotations

import math
import random
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import combinations
from statistics import fmean

Lists = dict[str, list[str]]


@dataclass
class World:
    """Lists of users, and all that can be known of them."""

    lists: Lists
    train: dict[str, list[str]]
    truth: dict[str, dict[str, int]]
    vectors: dict[str, list[float]]
    topics: dict[str, list[str]]
    other: Lists = field(default_factory=dict)

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
    other = {
        user: rng.sample(items, rng.choice([0, 2, 5, 7]))
        for user in [*reversed(users[2:]), "else"]
    }
    return World(lists, train, truth, vectors, topics, other)


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


def by_topic(
    w: World, user: str, shown: list[str], alpha: float, weight: Callable[[int], float]
) -> float:
    """Add up what relevant items gain for their topics, less each time one repeats."""
    seen: Counter[str] = Counter()
    total = 0.0
    for rank, item in enumerate(shown, 1):
        for topic in w.topics.get(item, []) if item in w.relevant(user) else []:
            total += weight(rank) * (1 - alpha) ** seen[topic]
            seen[topic] += 1
    return total


def ideal_list(w: World, user: str, alpha: float) -> list[str]:
    """Return at most five relevant items, each the one that adds most."""
    wanted = [item for item in w.relevant(user) if item in w.topics]
    ideal: list[str] = []
    while len(ideal) < min(5, len(wanted)):
        gained = {
            item: by_topic(w, user, [*ideal, item], alpha, lambda _: 1)
            for item in wanted
            if item not in ideal
        }
        ideal.append(max(gained, key=lambda item: gained[item]))
    return ideal


def over_ideal(
    w: World, user: str, shown: list[str], alpha: float, weight: Callable[[int], float]
) -> float:
    best = by_topic(w, user, ideal_list(w, user, alpha), alpha, weight)
    return by_topic(w, user, shown, alpha, weight) / best if best else NAN


def topics_wanted(w: World, user: str) -> set[str]:
    return {topic for item in w.relevant(user) for topic in w.topics.get(item, [])}


def alpha_ndcg(w: World, user: str, shown: list[str]) -> float:
    return over_ideal(w, user, shown, 0.3, lambda rank: 1 / math.log2(rank + 1))


def alpha_dcg(w: World, user: str, shown: list[str]) -> float:
    gained = by_topic(w, user, shown, 0.3, lambda rank: 1 / math.log2(rank + 1))
    return gained if topics_wanted(w, user) else NAN


def nerr_ia(w: World, user: str, shown: list[str]) -> float:
    return over_ideal(w, user, shown, 0.3, lambda rank: 1 / rank)


def nrbp(w: World, user: str, shown: list[str]) -> float:
    wanted = len(topics_wanted(w, user))
    gained = by_topic(w, user, shown, 0.3, lambda rank: 0.8 ** (rank - 1))
    return (1 - 0.7 * 0.8) * gained / wanted if wanted else NAN


def nnrbp(w: World, user: str, shown: list[str]) -> float:
    return over_ideal(w, user, shown, 0.3, lambda rank: 0.8 ** (rank - 1))


def ap_ia(w: World, user: str, shown: list[str]) -> float:
    values = []
    for topic in sorted(topics_wanted(w, user)):
        about = {i for i in w.relevant(user) if topic in w.topics.get(i, [])}
        ranks = [rank for rank, item in enumerate(shown, 1) if item in about]
        values.append(sum(n / r for n, r in enumerate(ranks, 1)) / len(about))
    return mean(values) if values else NAN


def p_ia(w: World, user: str, shown: list[str]) -> float:
    wanted = len(topics_wanted(w, user))
    counted = by_topic(w, user, shown, 0, lambda _: 1)
    return counted / 5 / wanted if wanted else NAN


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


def topic_entropy(
    w: World, shown: list[str], p: float, *, whole: bool, smoothing: float
) -> float:
    amount = {topic: smoothing for own in w.topics.values() for topic in own}
    for place, item in enumerate(shown):
        for topic in w.topics.get(item, []):
            amount[topic] += p**place / (1 if whole else len(w.topics[item]))
    total = sum(amount.values())
    if not shown or not total:
        return NAN
    return -sum(m / total * math.log2(m / total) for m in amount.values() if m)


def topic_diversity(w: World, _: str, shown: list[str]) -> float:
    topics = {topic for item in shown for topic in w.topics.get(item, [])}
    return len(topics) / 5 if shown else NAN


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


def full(_: World, __: str, shown: list[str]) -> float:
    return float(len(shown) >= 5)


def filled(_: World, __: str, shown: list[str]) -> float:
    return len(shown) / 5


def in_other(w: World, user: str, shown: list[str]) -> float:
    return mean([float(item in w.other.get(user, [])[:3]) for item in shown])


def not_in_other(w: World, user: str, shown: list[str]) -> float:
    other = w.other.get(user, [])[:5]
    return 1 - len({*shown} & {*other}) / 5 if shown and other else 0.0


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
    "alpha_DCG(alpha=0.3)@5": (alpha_dcg, "topics"),
    "nERR_IA(alpha=0.3)@5": (nerr_ia, "topics"),
    "NRBP(alpha=0.3,beta=0.8)@5": (nrbp, "topics"),
    "nNRBP(alpha=0.3,beta=0.8)@5": (nnrbp, "topics"),
    "AP_IA@5": (ap_ia, "topics"),
    "P_IA@5": (p_ia, "topics"),
    "TopicEntropy@5": (
        lambda w, _, shown: topic_entropy(w, shown, 1, whole=False, smoothing=0),
        "topics",
    ),
    "TopicEntropy(p=0.7,several='whole',smoothing=0.1)@5": (
        lambda w, _, shown: topic_entropy(w, shown, 0.7, whole=True, smoothing=0.1),
        "topics",
    ),
    "TopicDiversity@5": (topic_diversity, "topics"),
    "AWRF@5": (awrf, "topics"),
    "EE@5": (exposure, "topics"),
    "Intersection(ref_k=3)@5": (in_other, "topics"),
    "Unexpectedness(by='reference')@5": (not_in_other, "topics"),
    "SufficientReco@5": (full, "topics"),
    "SufficientReco(deep=True)@5": (filled, "topics"),
}


def pairwise(lists: Lists) -> float:
    """Return the mean cosine distance of all pairs of lists that have items."""
    filled = [set(shown) for shown in lists.values() if shown]
    return mean(
        [
            1 - len(a & b) / math.sqrt(len(a) * len(b))
            for a, b in combinations(filled, 2)
        ]
    )
