"""Every formula once more, as a textbook has it: plain loops over a ranked list.

The twins are written from the definitions, not from the kernels.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

SCALE = 3
"""The highest grade of the made-up judgements."""
LEVELS = tuple(tenth / 10 for tenth in range(11))
Gain = Callable[[int], float]
Discount = Callable[[int], float]


@dataclass(frozen=True)
class Query:
    """A ranked list and its judgements.

    Attributes:
        grades: for each rank the grade, None if unjudged.
        scores: for each rank the score.
        given: the judged grades in the order given, negative ones among them.
    """

    grades: tuple[int | None, ...]
    scores: tuple[float, ...]
    given: tuple[int, ...]

    @property
    def pool(self) -> list[int]:
        return [grade for grade in self.given if grade >= 0]

    def first(self, k: int | None) -> tuple[int | None, ...]:
        return self.grades if k is None else self.grades[:k]

    def cutoff(self, k: int | None) -> int:
        return len(self.grades) if k is None else k


def ranked(judgements: Mapping[str, int], scores: Mapping[str, float]) -> Query:
    """Rank as trec_eval does: score descending, then id descending in byte order.

    A negative grade is taken as unjudged.
    """
    order = sorted(scores, key=lambda item: (scores[item], item.encode()), reverse=True)
    known = {item: grade for item, grade in judgements.items() if grade >= 0}
    return Query(
        tuple(known.get(item) for item in order),
        tuple(scores[item] for item in order),
        tuple(judgements.values()),
    )


def is_hit(grade: int | None, rel: float) -> bool:
    return grade is not None and grade >= rel


def hits(query: Query, k: int | None, rel: float) -> int:
    return sum(is_hit(grade, rel) for grade in query.first(k))


def n_relevant(query: Query, rel: float) -> int:
    return sum(grade >= rel for grade in query.pool)


def ratio(above: float, below: float) -> float:
    return above / below if below else 0.0


# --- counting hits


def precision(
    query: Query, k: int | None = None, rel: float = 1, divisor: str = "k"
) -> float:
    cut, n = query.cutoff(k), len(query.grades)
    below = {"k": cut, "list": min(cut, n), "min_k_R": min(cut, n_relevant(query, rel))}
    return ratio(hits(query, k, rel), below[divisor])


def recall(
    query: Query, k: int | None = None, rel: float = 1, divisor: str = "R"
) -> float:
    n_rel = n_relevant(query, rel)
    fitting = n_rel if k is None else min(k, n_rel)
    return ratio(hits(query, k, rel), n_rel if divisor == "R" else fitting)


def f_measure(
    query: Query,
    k: int | None = None,
    rel: float = 1,
    beta: float = 1,
    divisor: str = "k",
) -> float:
    p, r = precision(query, k, rel, divisor), recall(query, k, rel)
    return ratio((1 + beta**2) * p * r, beta**2 * p + r)


def success(query: Query, k: int | None = None, rel: float = 1) -> float:
    return float(hits(query, k, rel) > 0)


def recommended(query: Query, least: float) -> Query:
    """Keep only the items with at least this score."""
    kept = [place for place, score in enumerate(query.scores) if score >= least]
    return replace(
        query,
        grades=tuple(query.grades[place] for place in kept),
        scores=tuple(query.scores[place] for place in kept),
    )


# --- averages over ranks


def average_precision(
    query: Query,
    k: int | None = None,
    rel: float = 1,
    divisor: str = "R",
    terms: str = "hits",
) -> float:
    n_rel, cut, n = n_relevant(query, rel), query.cutoff(k), len(query.grades)
    if n_rel == 0:
        return 0.0
    total, found = 0.0, 0
    for rank in range(1, cut + 1):
        hit = rank <= n and is_hit(query.grades[rank - 1], rel)
        found += hit
        if hit or terms == "all_ranks":
            total += found / rank
    below = {
        "R": n_rel,
        "min_k_R": min(cut, n_rel),
        "min_R_list": min(n_rel, n, cut),
        "hits": found,
        "k": cut,
        "none": 1,
    }
    return ratio(total, below[divisor])


def average_recall(
    query: Query, k: int | None = None, rel: float = 1, variant: str = "mean"
) -> float:
    n_rel, cut, n = n_relevant(query, rel), query.cutoff(k), len(query.grades)
    if n_rel == 0:
        return 0.0
    if variant == "recmetrics":
        return average_precision(query, k, rel)
    total = 0.0
    for rank in range(1, cut + 1):
        hit = rank <= n and is_hit(query.grades[rank - 1], rel)
        if hit or variant == "mean":
            total += recall(query, rank, rel)
    return ratio(total, cut if variant == "mean" else n_rel)


def reciprocal_rank(
    query: Query, k: int | None = None, rel: float = 1, variant: str = "first"
) -> float:
    total = 0.0
    for rank, grade in enumerate(query.first(k), start=1):
        if is_hit(grade, rel):
            total += 1 / rank
            if variant == "first":
                break
    return total


def r_precision(query: Query, rel: float = 1) -> float:
    n_rel = n_relevant(query, rel)
    return ratio(hits(query, n_rel, rel), n_rel)


# --- gains


def linear(grade: int) -> float:
    return float(grade)


def exponential(grade: int) -> float:
    return 2.0**grade - 1


def binary(grade: int, rel: float = 1) -> float:
    return float(grade >= rel)


def exponential_rel(grade: int, rel: float) -> float:
    return 2 ** (grade - rel + 1) - 1 if grade >= rel else 0.0


def from_table(grade: int, table: Mapping[int, float]) -> float:
    return table.get(grade, float(grade))


def at_least(grade: int, gain: Gain, rel: float) -> float:
    return gain(grade) if grade >= rel else 0.0


def log(rank: int, base: float = 2) -> float:
    return 1 / math.log(rank + 1, base)


def jarvelin_kekalainen(rank: int, base: float = 2) -> float:
    return 1.0 if rank < base else 1 / math.log(rank, base)


def reciprocal(rank: int) -> float:
    return 1 / rank


def undiscounted(_: int) -> float:
    return 1.0


def gained(gains: list[float], discount: Discount) -> float:
    return sum(g * discount(rank) for rank, g in enumerate(gains, start=1))


def dcg(
    query: Query,
    k: int | None = None,
    gain: Gain = linear,
    discount: Discount = log,
) -> float:
    gains = [0.0 if grade is None else gain(grade) for grade in query.first(k)]
    return gained(gains, discount)


def ndcg(
    query: Query,
    k: int | None = None,
    gain: Gain = linear,
    discount: Discount = log,
    ideal: str = "judged@k",
) -> float:
    best = sorted((gain(grade) for grade in query.pool), reverse=True)
    if ideal == "judged@k":
        best = best[:k]
    elif ideal == "judged@list":
        best = best[: max(len(query.first(k)), 1)]
    elif ideal == "k_ones":
        best = best[:1] * query.cutoff(k)
    elif ideal == "given@k":
        # A negative grade gains nothing, but keeps its place.
        best = [0.0 if grade < 0 else gain(grade) for grade in query.given][:k]
    elif ideal == "retrieved":
        found = [gain(grade) for grade in query.grades if grade is not None]
        best = sorted(found, reverse=True)[:k]
    return ratio(dcg(query, k, gain, discount), gained(best, discount))


# --- users


def err(query: Query, k: int | None = None, max_grade: int = SCALE) -> float:
    total, goes_on = 0.0, 1.0
    for rank, grade in enumerate(query.first(k), start=1):
        stops = (2 ** (grade or 0) - 1) / 2**max_grade
        total += goes_on * stops / rank
        goes_on *= 1 - stops
    return total


def rbp(
    query: Query, k: int | None = None, p: float = 0.8, gain: Gain = binary
) -> float:
    total = 0.0
    for rank, grade in enumerate(query.first(k), start=1):
        total += (0.0 if grade is None else gain(grade)) * p ** (rank - 1)
    return (1 - p) * total


def rbp_scaled(query: Query, p: float = 0.8) -> float:
    most = max([*query.pool, 1])
    return rbp(query, p=p, gain=lambda grade: grade / most)


def rbp_residual(query: Query, p: float = 0.8, tail: str = "always") -> float:
    unjudged = [rank for rank, grade in enumerate(query.grades) if grade is None]
    if tail == "with_unjudged" and not unjudged:
        return 0.0
    return (1 - p) * sum(p**rank for rank in unjudged) + p ** len(query.grades)


def utilities(
    query: Query, k: int | None, neutral: float, half_life: float
) -> tuple[float, float]:
    def utility(ratings: list[float]) -> float:
        return sum(
            max(rating - neutral, 0) / 2 ** (place / (half_life - 1))
            for place, rating in enumerate(ratings)
        )

    own = [neutral if grade is None else grade for grade in query.first(k)]
    best = sorted(query.pool, reverse=True)[:k]
    return utility(own), utility([float(grade) for grade in best])


def r_score(
    query: Query,
    k: int | None = None,
    neutral: float = 0,
    half_life: float = 5,
    scale: float = 100,
) -> float:
    return scale * ratio(*utilities(query, k, neutral, half_life))


# --- pairs and incomplete judgements


def auc(query: Query, rel: float = 1, universe: str = "list") -> float:
    members = [
        (is_hit(grade, rel), score)
        for grade, score in zip(query.grades, query.scores, strict=True)
        if universe == "list" or grade is not None
    ]
    good = [score for hit, score in members if hit]
    bad = [score for hit, score in members if not hit]
    right = sum((a > b) + 0.5 * (a == b) for a in good for b in bad)
    return right / (len(good) * len(bad)) if good and bad else math.nan


def bpref(query: Query, rel: float = 1) -> float:
    n_rel = n_relevant(query, rel)
    n_other = len(query.pool) - n_rel
    total, above = 0.0, 0
    for grade in query.grades:
        if is_hit(grade, rel):
            total += 1 - min(above, n_rel) / min(n_other, n_rel) if above else 1
        elif grade is not None:
            above += 1
    return ratio(total, n_rel)


def interpolated(
    query: Query, level: float, rel: float = 1, cut: str = "round"
) -> float:
    wanted = level * n_relevant(query, rel)
    needed = math.floor(wanted + 0.5) if cut == "round" else int(wanted + 0.9)
    reached = [
        precision(query, rank, rel)
        for rank in range(1, len(query.grades) + 1)
        if hits(query, rank, rel) >= needed
    ]
    return max(reached, default=0.0)


def eleven_point(
    query: Query,
    rel: float = 1,
    cut: str = "round",
    levels: tuple[float, ...] = LEVELS,
) -> float:
    found = [interpolated(query, level, rel, cut) for level in levels]
    return sum(found) / len(found)


def binary_g(query: Query, rel: float = 1) -> float:
    total, found = 0.0, 0
    for rank, grade in enumerate(query.grades, start=1):
        if is_hit(grade, rel):
            found += 1
            total += 1 / math.log2(2 + rank - found)
    return ratio(total, n_relevant(query, rel))


def g_measure(query: Query, gain: Gain = linear) -> float:
    best = sorted((gain(grade) for grade in query.pool), reverse=True)
    total, cost, gained_so_far = 0.0, 0.0, 0.0
    for place, grade in enumerate(query.grades):
        own = 0.0 if grade is None else gain(grade)
        gained_so_far += own
        cost += max(best[place] if place < len(best) else 0, 1)
        if own:
            total += own / math.log2(2 + cost - gained_so_far)
    return ratio(total, sum(best))
