"""Per query, against pytrec_eval: trec_eval 9's own code, called in memory."""

from __future__ import annotations

import math
import random
from functools import cache

import pytest
import pytrec_eval

import rankine as rk
from rankine._conventions import convention
from rankine._metrics.trec_names import FAMILIES

pytestmark = pytest.mark.slow

Numbers = dict[str, dict[str, float]]
Grades = dict[str, dict[str, int]]

SEEDS = {1: range(46), 2: range(46, 60)}
"""By the smallest relevant grade."""
N_QUERIES = 50
TOLERANCE = 1e-12

# Not numbers: the tag of the run, and a drawing of the grades, which pytrec_eval
# cannot return. The byte-equal output of the command line covers both.
TEXTS = {"runid", "relstring"}
# Per query trec_eval keeps the logarithm, the mean of which it exponentiates.
LOGARITHMS = {"gm_map", "gm_bpref"}
MEASURES = sorted(pytrec_eval.supported_measures - TEXTS)


@cache
def data(seed: int) -> tuple[Grades, Numbers]:
    """Make judgements and a run: ties, grades -1 to 4, missing and extra queries."""
    rng = random.Random(seed)  # noqa: S311 - data, not secrets
    qrels: Grades = {}
    run: Numbers = {}
    for number in range(N_QUERIES):
        items = [f"d{at}" for at in range(rng.choice([1, 3, 12, 30, 120]))]
        top = rng.choice([1, 2, 4])
        grades = [0, 0, *range(top + 1), *rng.choice([[], [-1]])]
        judged = rng.sample(items, rng.randint(1, len(items)))
        shown = rng.sample(items, rng.randint(1, len(items)))
        levels = rng.choice([1, 3, 20, 100_000])
        query = f"q{number}"
        absent = rng.random()
        if absent > 0.05:
            qrels[query] = {item: rng.choice(grades) for item in judged}
            if max(qrels[query].values()) < 0:
                # trec_eval 9 reads outside of its table if every grade is negative.
                qrels[query][judged[0]] = 0
        if not 0.05 < absent < 0.1:
            run[query] = {item: rng.randint(0, levels) / 7 for item in shown}
            run[query] |= {
                f"u{at}": rng.randint(0, levels) / 7 for at in range(rng.choice([0, 8]))
            }
    return qrels, run


@cache
def theirs(seed: int, level: int) -> Numbers:
    qrels, run = data(seed)
    evaluator = pytrec_eval.RelevanceEvaluator(qrels, MEASURES, relevance_level=level)
    found: Numbers = evaluator.evaluate(run)
    return found


@cache
def ours(seed: int, level: int) -> Numbers:
    qrels, run = data(seed)
    labels = [
        label for measure in MEASURES for label, _ in FAMILIES[measure].expand("")
    ]
    asked = [metric for name in MEASURES for _, metric in FAMILIES[name].expand("")]
    result = rk.evaluate(qrels, run, asked, convention="trec_eval-9", rel=level)
    columns = [result.per_query[str(metric)].to_list() for metric in asked]
    return {
        query: dict(zip(labels, row, strict=True))
        for query, *row in zip(result.queries, *columns, strict=True)
    }


def expected(label: str, value: float) -> float:
    return math.exp(value) if label in LOGARITHMS else value


@pytest.mark.parametrize("level", SEEDS)
@pytest.mark.parametrize("measure", MEASURES)
def test_every_value_of_every_query_is_equal(measure: str, level: int) -> None:
    wrong = []
    compared = 0
    for seed in SEEDS[level]:
        mine = ours(seed, level)
        for query, values in theirs(seed, level).items():
            for label, _ in FAMILIES[measure].expand(""):
                wanted = expected(label, values[label])
                got = mine[query][label]
                if label in LOGARITHMS:
                    got = max(got, 1e-5)
                compared += 1
                if not abs(got - wanted) <= TOLERANCE:
                    wrong.append((seed, query, label, got, wanted))

    assert (wrong, compared >= 40 * len(SEEDS[level])) == ([], True)


def test_every_measure_of_pytrec_eval_has_a_metric() -> None:
    assert set(MEASURES) <= set(FAMILIES)


@pytest.mark.parametrize("level", SEEDS)
def test_every_label_of_pytrec_eval_is_compared(level: int) -> None:
    labels = {label for name in MEASURES for label, _ in FAMILIES[name].expand("")}

    assert {
        label for row in theirs(SEEDS[level][0], level).values() for label in row
    } == labels


def test_the_data_has_what_makes_evaluation_hard() -> None:
    both = [data(seed) for seeds in SEEDS.values() for seed in seeds]
    pairs = [
        (qrels[query], run[query])
        for qrels, run in both
        for query in qrels.keys() & run.keys()
    ]

    assert len(pairs) > 2000
    assert any(qrels.keys() - run.keys() for qrels, run in both)
    assert any(run.keys() - qrels.keys() for qrels, run in both)
    assert any(-1 in grades.values() for grades, _ in pairs)
    assert any(max(grades.values()) < 1 for grades, _ in pairs)
    assert any(len(set(scores.values())) == 1 < len(scores) for _, scores in pairs)
    assert any(not grades.keys() & scores.keys() for grades, scores in pairs)


def test_the_mean_over_both_is_ours_over_both() -> None:
    qrels, run = data(0)
    both = qrels.keys() & run.keys()
    rule = convention("trec_eval-9").replace(queries="both")
    found = theirs(0, 1)
    values = [found[query]["map"] for query in both]

    mean = rk.evaluate(qrels, run, ["AP", "NumQ"], convention=rule)

    assert mean["NumQ"] == len(both)
    assert math.isclose(mean["AP"], math.fsum(values) / len(both), rel_tol=1e-14)


@pytest.mark.parametrize("nickname", ["official", "set", "all_trec"])
def test_nicknames_stand_for_what_it_has(nickname: str) -> None:
    theirs = pytrec_eval.supported_nicknames[nickname] - TEXTS

    ev = rk.evaluate({"q": {"a": 1}}, {"q": ["a"]}, nickname, convention="pytrec_eval")

    ours = (FAMILIES[name].expand("") for name in theirs)
    assert {*ev.mean} == {str(metric) for pairs in ours for _, metric in pairs}
    assert not any("does not exist" in warning for warning in ev.warnings)
