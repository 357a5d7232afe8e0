"""Every metric is what its twin says, on random judgements and runs."""

from __future__ import annotations

import itertools
import math
import random
from collections.abc import Callable
from functools import cache, partial
from typing import Any

import numpy as np
import pytest

import rankine as rk
from tests.metrics.twin import (
    SCALE,
    Discount,
    Gain,
    Query,
    at_least,
    auc,
    average_precision,
    average_recall,
    binary,
    binary_g,
    bpref,
    dcg,
    eleven_point,
    err,
    exponential,
    exponential_rel,
    f_measure,
    from_table,
    g_measure,
    interpolated,
    jarvelin_kekalainen,
    linear,
    log,
    ndcg,
    precision,
    r_precision,
    r_score,
    ranked,
    rbp,
    rbp_residual,
    rbp_scaled,
    recall,
    reciprocal,
    reciprocal_rank,
    recommended,
    success,
    undiscounted,
    utilities,
)

pytestmark = pytest.mark.slow

RTOL = 1e-12
SEEDS = range(36)
N_QUERIES = 60
ITEMS = ["a", "A", "b", "Z", "z", "é", "9", "10", "100", "a1", "a-1", "ab", "日", "~"]
CUTS = (None, 1, 3, 5, 20)
CROSSED = (None, 3)
"""Cutoffs at which every gain meets every discount."""
Twin = Callable[[Query], float]


# --- the twins, by the name that rankine reads


TABLE = {1: 3.0, 2: 9.0, 4: 4.5}
GAINS: dict[str, Gain] = {
    "gain=linear": linear,
    "gain=exponential": exponential,
    "gain=binary": binary,
    "gain=binary,rel=2": partial(binary, rel=2),
    "gain=exponential_rel,rel=2": partial(exponential_rel, rel=2),
    "gain=linear,rel=2": partial(at_least, gain=linear, rel=2),
    "gain=exponential,rel=2": partial(at_least, gain=exponential, rel=2),
    f"gain={TABLE}": partial(from_table, table=TABLE),
}
DISCOUNTS: dict[str, Discount] = {
    "discount=log2": log,
    "discount=log,base=3": partial(log, base=3),
    "discount=jk": jarvelin_kekalainen,
    "discount=jk,base=3": partial(jarvelin_kekalainen, base=3),
    "discount=reciprocal": reciprocal,
    "discount=none": undiscounted,
}
IDEALS = ("judged@k", "judged", "judged@list", "k_ones", "retrieved", "given@k")


def at(k: int | None) -> str:
    return "" if k is None else f"@{k}"


def counting() -> dict[str, Twin]:
    made: dict[str, Twin] = {}
    for k, rel in itertools.product(CUTS, (1, 2)):
        cut = at(k)
        of: dict[str, Any] = {"k": k, "rel": rel}
        made[f"Success(rel={rel}){cut}"] = partial(success, **of)
        made[f"RR(rel={rel}){cut}"] = partial(reciprocal_rank, **of)
        made[f"RR(rel={rel},variant=sum){cut}"] = partial(
            reciprocal_rank, **of, variant="sum"
        )
        for divisor in ("k", "list", "min_k_R"):
            made[f"P(rel={rel},divisor={divisor}){cut}"] = partial(
                precision, **of, divisor=divisor
            )
            for beta in (1, 0.5) if divisor == "k" else (2,):
                made[f"F(rel={rel},divisor={divisor},beta={beta}){cut}"] = partial(
                    f_measure, **of, divisor=divisor, beta=beta
                )
        for divisor in ("R", "min_k_R"):
            made[f"R(rel={rel},divisor={divisor}){cut}"] = partial(
                recall, **of, divisor=divisor
            )
        for variant in ("mean", "hits", "recmetrics"):
            made[f"AR(rel={rel},variant={variant}){cut}"] = partial(
                average_recall, **of, variant=variant
            )
    for k, least in itertools.product(CUTS, (0.5, 2)):
        for name, twin in (("P", precision), ("R", recall), ("F", f_measure)):
            made[f"{name}(min_score={least}){at(k)}"] = partial(
                lambda query, twin, k, least: twin(recommended(query, least), k),
                twin=twin,
                k=k,
                least=least,
            )
    return made


def averaging() -> dict[str, Twin]:
    made: dict[str, Twin] = {}
    divisors = ("R", "min_k_R", "min_R_list", "hits", "k", "none")
    for k, rel, divisor, terms in itertools.product(
        CUTS, (1, 2), divisors, ("hits", "all_ranks")
    ):
        # Without a cutoff nothing is cut, and min(k, R) is R.
        if k is None and divisor == "min_k_R":
            twin = partial(average_precision, rel=rel, terms=terms)
        else:
            twin = partial(
                average_precision, k=k, rel=rel, divisor=divisor, terms=terms
            )
        made[f"AP(rel={rel},divisor={divisor},terms={terms}){at(k)}"] = twin
    return made


def gaining() -> dict[str, Twin]:
    made: dict[str, Twin] = {}
    for k, (gain, worth) in itertools.product(CUTS, GAINS.items()):
        none: dict[str, Any] = {"k": k, "gain": worth, "discount": undiscounted}
        made[f"CG({gain}){at(k)}"] = partial(dcg, **none)
        made[f"NCG({gain}){at(k)}"] = partial(ndcg, **none)
        for discount, weight in DISCOUNTS.items():
            if k not in CROSSED and discount != "discount=log2":
                continue
            both: dict[str, Any] = {"k": k, "gain": worth, "discount": weight}
            made[f"DCG({gain},{discount}){at(k)}"] = partial(dcg, **both)
            made[f"nDCG({gain},{discount}){at(k)}"] = partial(ndcg, **both)
        for ideal in IDEALS:
            if ideal == "k_ones" and k is None:
                continue  # without a cutoff there are no k ranks to fill
            made[f"nDCG({gain},ideal='{ideal}'){at(k)}"] = partial(
                ndcg, k=k, gain=worth, ideal=ideal
            )
    return made


def reading() -> dict[str, Twin]:
    made: dict[str, Twin] = {}
    for k in CUTS:
        made[f"ERR(max_grade={SCALE}){at(k)}"] = partial(err, k=k)
        made[f"ERR(max_grade=5){at(k)}"] = partial(err, k=k, max_grade=5)
        for p in (0.5, 0.8, 0.95):
            made[f"RBP(p={p}){at(k)}"] = partial(rbp, k=k, p=p)
        made[f"RBP(rel=2){at(k)}"] = partial(rbp, k=k, gain=partial(binary, rel=2))
        made[f"RBP(gain=linear){at(k)}"] = partial(rbp, k=k, gain=linear)
        for neutral, half_life in ((0, 5), (1, 2), (1.5, 3)):
            made[f"RScore(neutral={neutral},half_life={half_life}){at(k)}"] = partial(
                r_score, k=k, neutral=neutral, half_life=half_life
            )
    made["RBP(gain=scaled)"] = rbp_scaled
    made["RBP(p=0.9,gain=scaled)"] = partial(rbp_scaled, p=0.9)
    for p, tail in itertools.product((0.5, 0.8), ("always", "with_unjudged")):
        made[f"RBPResidual(p={p},tail={tail})"] = partial(rbp_residual, p=p, tail=tail)
    made["RScore(scale=1)"] = partial(r_score, scale=1)
    return made


def others() -> dict[str, Twin]:
    made: dict[str, Twin] = {}
    for rel in (1, 2):
        made[f"Rprec(rel={rel})"] = partial(r_precision, rel=rel)
        made[f"Bpref(rel={rel})"] = partial(bpref, rel=rel)
        made[f"binG(rel={rel})"] = partial(binary_g, rel=rel)
        for universe in ("list", "matched"):
            made[f"AUC(rel={rel},universe={universe})"] = partial(
                auc, rel=rel, universe=universe
            )
        for cut in ("round", "up"):
            made[f"11pt(rel={rel},cut={cut})"] = partial(eleven_point, rel=rel, cut=cut)
            made[f"11pt(rel={rel},cut={cut},levels=(0.25,0.5,0.75))"] = partial(
                eleven_point, rel=rel, cut=cut, levels=(0.25, 0.5, 0.75)
            )
            for level in (0, 0.1, 0.25, 0.4, 0.5, 0.7, 1):
                made[f"IPrec(rel={rel},cut={cut})@{level}"] = partial(
                    interpolated, level=level, rel=rel, cut=cut
                )
    made["G"] = g_measure
    made[f"G(gain={TABLE})"] = partial(g_measure, gain=GAINS[f"gain={TABLE}"])
    return made


FAMILIES = {
    "counting": counting(),
    "averaging": averaging(),
    "gaining": gaining(),
    "reading": reading(),
    "others": others(),
}
TWINS = {name: twin for family in FAMILIES.values() for name, twin in family.items()}


# --- random judgements and runs


def lists(
    rng: random.Random, n_items: int, levels: int
) -> tuple[dict[str, int], dict[str, float]]:
    grades = rng.choice([[0, 1], [0, 0, 0, 1, 2, 3], [-1, 0, 1, 2, 3], [-1, 0]])
    judged = rng.sample(ITEMS, rng.randint(1, n_items))
    shown = rng.sample(ITEMS, rng.randint(1, n_items))
    return (
        {item: rng.choice(grades) for item in judged},
        {item: rng.randint(0, levels) / 2 for item in shown},
    )


@cache
def data(
    seed: int,
) -> tuple[dict[str, dict[str, int]], dict[str, dict[str, float]]]:
    """Make judgements and a run, some queries missing in one or the other."""
    rng = random.Random(seed)  # noqa: S311 - data, not secrets
    qrels, run = {}, {}
    for number in range(N_QUERIES):
        judged, shown = lists(rng, len(ITEMS), rng.choice([0, 2, 5, 1000]))
        absent = rng.random()
        if absent > 0.05:
            qrels[f"q{number}"] = judged
        if not 0.05 < absent < 0.1:
            run[f"q{number}"] = shown
    return qrels, run


@cache
def queries(seed: int) -> list[Query]:
    qrels, run = data(seed)
    return [ranked(judged, run.get(query, {})) for query, judged in qrels.items()]


@cache
def evaluated(
    seed: int, family: str
) -> dict[str, np.ndarray[tuple[int], np.dtype[np.float64]]]:
    qrels, run = data(seed)
    names = list(FAMILIES[family])
    result = rk.evaluate(qrels, run, names)
    assert result.queries == list(qrels)
    return {
        name: result.per_query[name].to_numpy().astype(np.float64) for name in names
    }


@pytest.mark.parametrize(
    ("family", "name"),
    [(family, name) for family, twins in FAMILIES.items() for name in twins],
)
def test_a_metric_is_what_the_textbook_says(family: str, name: str) -> None:
    twin = TWINS[name]
    got = np.concatenate([evaluated(seed, family)[name] for seed in SEEDS])
    expected = [twin(query) for seed in SEEDS for query in queries(seed)]

    assert len(expected) > 2000
    np.testing.assert_allclose(got, expected, rtol=RTOL, atol=1e-15)


def test_the_overall_r_score_is_a_ratio_of_sums() -> None:
    for seed in SEEDS:
        qrels, run = data(seed)
        pairs = [utilities(query, 5, 1, 3) for query in queries(seed)]
        own, best = (math.fsum(side) for side in zip(*pairs, strict=True))

        got = rk.evaluate(qrels, run, "RScore(neutral=1,half_life=3)@5")

        np.testing.assert_allclose(
            list(got.mean.values()), [100 * own / best], rtol=RTOL
        )


def test_the_highest_grade_of_all_judgements_is_the_default_scale_of_err() -> None:
    for seed in SEEDS:
        qrels, run = data(seed)
        most = max(grade for judged in qrels.values() for grade in judged.values())
        expected = [err(query, max_grade=most) for query in queries(seed)]

        got = rk.evaluate(qrels, run, "ERR").per_query["ERR"].to_numpy()

        np.testing.assert_allclose(got, expected, rtol=RTOL)


# --- ties: the mean, the most and the least over all orders of tied items


SPREAD: dict[str, Twin] = {
    name: twin
    for k in ("", "@1", "@3", "@5")
    for name, twin in (
        (f"P{k}", TWINS[f"P(rel=1,divisor=k){k}"]),
        (f"R{k}", TWINS[f"R(rel=1,divisor=R){k}"]),
        (f"F{k}", TWINS[f"F(rel=1,divisor=k,beta=1){k}"]),
        (f"Success{k}", TWINS[f"Success(rel=1){k}"]),
        (f"RR{k}", TWINS[f"RR(rel=1){k}"]),
        (f"AP{k}", TWINS[f"AP(rel=1,divisor=R,terms=hits){k}"]),
        (f"CG{k}", TWINS[f"CG(gain=linear){k}"]),
        (f"NCG{k}", TWINS[f"NCG(gain=linear){k}"]),
        (f"DCG{k}", TWINS[f"DCG(gain=linear,discount=log2){k}"]),
        (f"nDCG{k}", TWINS[f"nDCG(gain=linear,discount=log2){k}"]),
        (f"RBP{k}", TWINS[f"RBP(p=0.8){k}"]),
    )
}
N_TIED = 150


@cache
def tied() -> list[tuple[dict[str, int], dict[str, float]]]:
    rng = random.Random(71)  # noqa: S311 - data, not secrets
    return [lists(rng, 6, rng.choice([0, 1, 2])) for _ in range(N_TIED)]


@cache
def orders(number: int) -> list[Query]:
    """Return the list in every order that its scores allow."""
    judged, scores = tied()[number]
    known = {item: grade for item, grade in judged.items() if grade >= 0}
    blocks = [
        [item for item in scores if scores[item] == score]
        for score in sorted(set(scores.values()), reverse=True)
    ]
    made = []
    for choice in itertools.product(*map(itertools.permutations, blocks)):
        order = [item for block in choice for item in block]
        grades = tuple(known.get(item) for item in order)
        made.append(Query(grades, (), tuple(known.values())))
    return made


@cache
def spread(ties: str) -> dict[str, list[float]]:
    cases = {str(number): case for number, case in enumerate(tied())}
    result = rk.evaluate(
        {number: judged for number, (judged, _) in cases.items()},
        {number: scores for number, (_, scores) in cases.items()},
        list(SPREAD),
        ties=ties,
    )
    return {name: result.per_query[name].to_list() for name in SPREAD}


@pytest.mark.parametrize("name", SPREAD)
def test_ties_are_averaged_over_all_orders(name: str) -> None:
    values = [[SPREAD[name](q) for q in set(orders(at))] for at in range(N_TIED)]
    # Orders that look alike are equally likely, but not equally many: count them.
    means = [
        math.fsum(SPREAD[name](q) for q in orders(at)) / len(orders(at))
        for at in range(N_TIED)
    ]

    for ties, expected in (
        ("average", means),
        ("best", [max(own) for own in values]),
        ("worst", [min(own) for own in values]),
    ):
        np.testing.assert_allclose(
            spread(ties)[name], expected, rtol=RTOL, atol=1e-15, err_msg=ties
        )
