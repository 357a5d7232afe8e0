"""A parameter that has no effect is refused, when the metric is made.

Every parameter changes the value on some input, alone or with the one that it is
declared to need. Where that cannot be, it is listed with the reason.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any, Literal, get_args, get_origin

import numpy as np
import polars as pl
import pytest

import rankine as rk
from rankine._metrics.lists.kind import LISTED
from rankine._metrics.metric import REGISTRY, Fact, Metric
from rankine._metrics.similarity.measures import MEASURES, Measure
from rankine.errors import ParameterError, RankineError
from tests.contracts import hints

rk.metrics()  # fills the registry
FACTS = {**REGISTRY, **LISTED}
CATALOG = 60
ALL = [(name, key) for name, fact in FACTS.items() for key in fact.parameters]
# Parameters that need more than a value of another one.
EXCUSED = {
    ("AUC", "catalog"): "a number of items, given to all metrics that take one",
    ("Utility", "catalog"): "the same; the fourth weight, which is 0, reads it",
    ("Rprec", "misses"): "no value is 0, unless the convention skips such queries",
}
# What a parameter is tried with where values of its own kind are not enough.
WITH: dict[tuple[str, str], dict[str, Any]] = {
    ("AUC", "catalog"): {"universe": "catalogue"},
    ("Utility", "catalog"): {"weights": (1, -1, 0, 1)},
    ("IPrec", "cut"): {"recall": 0.3},
    ("alpha_nDCG", "longer"): {"k": 1},
    ("nDCG", "base"): {"discount": "jk"},
}
NUMBERS: tuple[Any, ...] = (
    3, 2, 7, 0.5, 0.25, 9, 500, (0.2, 0.8), (2, -1, 0.5, 1),
)  # fmt: skip


# Values to try, from the types in the signature


def words(hint: Any) -> list[Any]:
    if hint is bool:
        return [True, False]
    if get_origin(hint) is Literal:
        return list(get_args(hint))
    origin = get_origin(hint)
    if isinstance(origin, type) and issubclass(origin, Mapping):
        return [{1: 0.5, 2: 3.0}]
    if origin is Callable:
        return []
    return [word for part in get_args(hint) for word in words(part)]


def values(fact: Fact, key: str) -> list[Any]:
    tried = words(hints(fact.kernel)[key]) or NUMBERS
    return [value for value in tried if value != fact.parameters[key]]


# Data with all that parameters ask about


@cache
def searched(seed: int) -> tuple[Any, Any]:
    """Make judgements and a run with ties, negative grades, and short lists."""
    rng = np.random.default_rng(seed)
    qrels: dict[str, dict[str, float]] = {}
    run: dict[str, dict[str, float]] = {}
    for query in map(str, range(25)):
        items = [f"d{item}" for item in rng.permutation(40)[: rng.integers(2, 25)]]
        known = items[: rng.integers(1, len(items) + 1)]
        grades = rng.choice([-1, 0, 0, 1, 1, 2, 3], len(known))
        if rng.random() < 1 / 6:
            grades = np.minimum(grades, 0)
        qrels[query] = dict(zip(known, grades.astype(float).tolist(), strict=True))
        shown = rng.permutation(items)[: rng.integers(1, len(items) + 1)].tolist()
        scores = rng.integers(-2, 3, len(shown)).astype(float).tolist()
        run[query] = dict(zip(shown, scores, strict=True))
    return qrels, run


@cache
def recommended(seed: int) -> tuple[Any, Any, dict[str, Any], dict[str, Any]]:
    """Make judgements, lists, and what is known of items by features and by topics."""
    rng = random.Random(seed)  # noqa: S311 - data, not secrets
    items = [f"i{number}" for number in range(14)]
    users = [f"u{number}" for number in range(12)]
    lists = {user: rng.sample(items, rng.choice([1, 2, 5, 6, 7])) for user in users}
    lists["u11"] = items[5:8]
    qrels = {
        user: {item: rng.randrange(4) for item in rng.sample(items, 7)}
        for user in users[:-2]
    }
    qrels["u10"] = {items[-1]: 1}  # which has no topics
    rows = [
        (user, item)
        for user in [*users[1:], "other"]
        for item in rng.sample(items[:11], rng.randrange(1, 6))
        for _ in range(rng.choice([1, 1, 2]))
    ]
    train = pl.DataFrame(rows, ["user", "item"], orient="row")
    vectors = {item: [rng.gauss(0, 1) for _ in range(4)] for item in items}
    topics = {
        item: rng.sample(["war", "love", "crime", "sea"], rng.randrange(1, 4))
        for item in items[:-1]
    }
    other = {user: rng.sample(items, 6) for user in users[3:]}
    known = {"train": train, "reference": other}
    return (
        qrels,
        lists,
        {**known, "items": vectors, "catalog": 20},
        {**known, "items": topics, "catalog": items[:9]},
    )


@cache
def numbers(metric: Metric) -> list[Any]:
    """Return all that a metric says of the data: per query, and in all."""
    cuts = [metric]
    if metric.takes("k") and not metric.binds("k"):
        cuts.append(metric(k=3))
    found: list[Any] = []
    for seed in range(3):
        for cut in cuts:
            calls: list[tuple[Any, Any, dict[str, Any]]]
            calls = [(*searched(seed), {"catalog": CATALOG})]
            if metric.name in LISTED:
                qrels, lists, *more = recommended(seed)
                if metric.fact.rule.get("duplicates") == "count":
                    lists = {user: [*own[:2], *own] for user, own in lists.items()}
                calls = [(qrels, lists, own) for own in more]
            for qrels, run, own in calls:
                found += _said(cut, qrels, run, own)
    return found


def _said(metric: Metric, qrels: Any, run: Any, own: dict[str, Any]) -> list[Any]:
    if metric.binds("catalog"):
        own = {key: value for key, value in own.items() if key != "catalog"}
    try:
        ev = rk.evaluate(qrels, run, metric, **own)
    except RankineError:
        return ["refused"]
    return [ev[metric], *ev.per_query[str(metric)].to_list()]


def same(first: list[Any], second: list[Any]) -> bool:
    return len(first) == len(second) and all(map(_equal, first, second))


def _equal(x: Any, y: Any) -> bool:
    if isinstance(x, float) and isinstance(y, float):
        return math.isclose(x, y, abs_tol=1e-12) or (math.isnan(x) and math.isnan(y))
    return bool(x == y)


def changes(base: Metric, fact: Fact, key: str) -> bool:
    """Say whether some value changes what a metric says, or all are refused."""
    made = [
        base(**{key: value}) for value in values(fact, key) if fits(base, key, value)
    ]
    usual = numbers(base) if made else []
    return not made or any(not same(usual, numbers(changed)) for changed in made)


def fits(base: Metric, key: str, value: Any) -> bool:
    try:
        base(**{key: value})
    except ParameterError:
        return False
    return True


def woken(name: str, key: str) -> dict[str, Any]:
    """Return with which other parameter one is declared to have an effect."""
    if (name, key) in WITH:
        return WITH[name, key]
    if key not in FACTS[name].matters:
        return {}
    other, allowed = FACTS[name].matters[key]
    return {other: allowed[0] if allowed else 3}


@pytest.mark.slow
@pytest.mark.parametrize(("name", "key"), ALL, ids=lambda part: part)
def test_a_parameter_changes_the_value(name: str, key: str) -> None:
    fact, base = FACTS[name], rk.parse(name)(**woken(name, key))
    if (name, key) in EXCUSED and (name, key) not in WITH:
        return

    assert any(fits(base, key, value) for value in values(fact, key))
    assert changes(base, fact, key)


def test_no_value_counts_where_such_queries_are_skipped() -> None:
    qrels, run = {"p": {"a": 1}, "q": {"b": 1}}, {"p": ["a"], "q": ["x", "b"]}
    for misses, wanted in (("zero", (1 + 0) / 2), ("undefined", 1)):
        metric = rk.Rprec(misses=misses)
        rule = rk.Convention(empty_truth="skip")
        assert rk.evaluate(qrels, run, metric, convention=rule)[metric] == wanted


@pytest.mark.parametrize(("name", "key"), ALL, ids=lambda part: part)
def test_what_has_no_effect_alone_is_refused_or_excused(name: str, key: str) -> None:
    fact, base = FACTS[name], rk.parse(name)
    needs = woken(name, key)
    if not needs or key in {"cut", "longer"}:
        return  # it changes the value alone, or with another number
    if (name, key) in EXCUSED:
        assert not changes(base, fact, key)
        return
    if key not in fact.matters:
        assert changes(base, fact, key)
        return
    other, allowed = fact.matters[key]
    if fact.parameters[other] in (allowed or ()):
        # It has an effect, but for another choice.
        refused = [
            word
            for word in values(fact, other)
            if word not in allowed and fits(base, other, word)
        ]
        base = base(**{other: refused[0]})
    said = f"{name} has {key}=.* which has no effect with(out)? {other}"
    awake = rk.parse(name)(**needs)
    tried = [value for value in values(fact, key) if fits(awake, key, value)]
    assert tried
    for value in tried:
        with pytest.raises(ParameterError, match=said):
            base(**{key: value})


@pytest.mark.slow
@pytest.mark.parametrize("name", FACTS)
def test_choices_that_silence_a_parameter_are_declared(name: str) -> None:
    """With each word of each parameter, others have an effect or are refused."""
    fact = FACTS[name]
    for other in fact.parameters:
        for word in words(hints(fact.kernel)[other]):
            try:
                base = rk.parse(name)(**{other: word})
            except ParameterError:
                continue
            for key in fact.parameters:
                silent = SILENT.get((name, other, str(word)), ())
                excused = (name, key) in EXCUSED or woken(name, key)
                if key == other or key in silent or excused:
                    continue
                assert changes(base, fact, key), (str(base), key)


# Equal by arithmetic, whatever the data.
SILENT: dict[tuple[str, str, str], tuple[str, ...]] = {
    ("Entropy", "scale", "max"): ("base",),  # which cancels
    # A number of items, given to all metrics that take one.
    ("FallOut", "universe", "list"): ("catalog",),
    ("Novelty", "divisor", "k"): ("aggregate",),  # every list has the same divisor
}


# Messages


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            "DCG(base=10)",
            "DCG has base=10, which has no effect without discount='log' or discount=",
        ),
        ("nDCG(discount='reciprocal',base=10)@5", "base=10, which has no effect"),
        ("AWRF(p=0.5)", "p=0.5, which has no effect without attention='geometric'"),
        ("EPC(rel=2)", "rel=2, which has no effect without judged=True"),
        ("InterListDiversity(seed=3)", "seed=3, which has no effect without sample"),
        ("Coverage(share=False,padding=1)", "has no effect without share=True"),
        ("Novelty(by='own',scaled=True)", "without by='users' or by='records'"),
        ("AUC(scope='pooled',single='zero')", "without scope='query' or scope="),
    ],
)
def test_the_message_says_what_is_needed(text: str, said: str) -> None:
    with pytest.raises(ParameterError) as caught:
        rk.parse(text)

    assert said in str(caught.value)


@pytest.mark.parametrize(
    "text",
    [
        "DCG(discount='log',base=10)",
        "nDCG(discount='log',base=10)",  # which cancels
        "DCG(base=2)",  # what it is anyway
        "InterListDiversity(sample=5,seed=3)",
    ],
)
def test_what_has_an_effect_or_cancels_is_fine(text: str) -> None:
    assert rk.parse(text)


def test_a_threshold_for_all_metrics_does_not_reach_those_that_do_not_read_it() -> None:
    ev = rk.evaluate(
        {"u": {"a": 5}}, {"u": ["a"]}, ["EPC", "P@1"], rel=4, train={"v": ["a"]}
    )

    assert ev.mean == {"EPC": 0.0, "P@1": 1.0}


def test_what_a_convention_chooses_for_another_choice_is_left_out() -> None:
    # RecBole's catalogue has one item more, which a count does not ask for.
    ev = rk.evaluate(
        None, {"u": ["a"]}, "Coverage(share=False)", convention="recbole", catalog=3
    )

    assert list(ev.mean.values()) == [1]


# Measures of similarity


@pytest.mark.parametrize(
    ("name", "key"),
    [(name, key) for name, fact in MEASURES.items() for key in fact.parameters],
)
def test_a_parameter_changes_a_similarity(name: str, key: str) -> None:
    fact = MEASURES[name]
    base = Measure(name)
    if "on" in fact.parameters and key != "on":
        base = base(on="union")  # or lists of other items are refused

    def said(measure: Measure) -> list[Any]:
        found = []
        for seed in range(3):
            first, second = searched(seed)[1], searched(seed + 1)[1]
            try:
                likeness = rk.similarity(first, second, measure)
            except RankineError:
                return ["refused"]
            found += [likeness[str(measure)], *likeness.per_query[str(measure)]]
        return found

    tried = [value for value in values(fact, key) if fits(base, key, value)]
    assert any(not same(said(base), said(base(**{key: value}))) for value in tried)
