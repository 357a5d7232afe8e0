"""Facts that are declared where a metric is registered, held against its numbers.

Each is tested both ways: where a fact says so it is so for all data, and where it does
not there are data that show it.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import rankine as rk
from rankine._conventions.presets import convention as named
from rankine._evaluate.custom import forget
from rankine._evaluate.summary import least_relevant
from rankine._join import judged
from rankine._metrics.metric import REGISTRY, Metric, register
from rankine.errors import ParameterError
from tests.metrics.contract.data import SEEDS, bound, data

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rankine._base.arrays import Floats
    from rankine._tables.judged import Judged

rk.metrics()
NAMES = list(REGISTRY)
CUT = [name for name in NAMES if REGISTRY[name].at == "k"]
CATALOG = 100


def base_of(name: str) -> Metric:
    metric = Metric(name)
    return metric(catalog=CATALOG) if metric.takes("catalog") else metric


def world(seed: int) -> tuple[dict[int, Any], dict[int, list[int]]]:
    """Make judgements of grades 0 to 3, many or few relevant, and lists of 12 items."""
    rng = np.random.default_rng(seed)
    qrels, run = {}, {}
    for query in range(12):
        shown = rng.permutation(30)[:12].tolist()
        grades = (
            rng.integers(0, 4, 20) * (rng.random(20) < 1 / (1 + query % 4))
        ).tolist()
        qrels[query] = dict(zip(rng.permutation(30)[:20].tolist(), grades, strict=True))
        qrels[query][shown[0]], qrels[query][shown[3]] = 2, 0
        run[query] = shown
    return qrels, run


# The order above the cutoff


def values(metric: Metric, qrels: Any, run: Any) -> Floats:
    return metric.values(judged(qrels, run))


@pytest.mark.parametrize("name", CUT)
def test_a_metric_of_a_set_does_not_ask_where_an_item_stands(name: str) -> None:
    changed = 0
    for seed in range(4):
        qrels, run = world(seed)
        rng = np.random.default_rng(seed)
        mixed = {
            query: [*rng.permutation(shown[:5]).tolist(), *shown[5:]]
            for query, shown in run.items()
        }
        metric = base_of(name) @ 5
        one, other = values(metric, qrels, run), values(metric, qrels, mixed)
        changed += not np.array_equal(one, other, equal_nan=True)

    assert bool(changed) == (not REGISTRY[name].by_set)


# Queries without a value

ODD: tuple[dict[str, Any], dict[str, Any]] = (
    {
        "found": {"a": 4, "b": 0},
        "not retrieved": {"a": 4, "c": 0},
        "not in the run": {"a": 2},
        "nothing relevant": {"b": 0, "c": 0},
        "all relevant": {"a": 1},
        "all alike": {"a": 1, "b": 1},
        "balanced": {"a": 1, "b": -1},
    },
    {
        "found": ["x", "b", "a"],
        "not retrieved": ["x", "b"],
        "nothing relevant": ["b", "y"],
        "all relevant": ["a"],
        "all alike": ["a", "b"],
        "balanced": ["b", "a"],
    },
)
"""Judgements and lists of one kind each, of which two have nothing found."""


def with_all_choices(name: str) -> tuple[Metric, ...]:
    return (base_of(name), *bound(name))


def odd_tables() -> Iterator[Judged]:
    for convention in (named("rankine"), named("rankine").replace(negative="keep")):
        for world in (ODD, *map(data, SEEDS)):
            yield judged(*world, convention)


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_a_query_with_relevant_items_has_a_value_unless_declared(name: str) -> None:
    without = []
    for metric in with_all_choices(name):
        for table in odd_tables():
            relevant = table.n_relevant(least_relevant(metric)) > 0
            if np.isnan(metric.values(table)[relevant]).any():
                without.append(str(metric))

    assert bool(without) == (REGISTRY[name].undefined != "never"), without


def declared(metric: Metric, value: float, *, relevant: bool, worth: float) -> float:
    """Return what a query is worth, by the facts of its metric.

    Args:
        metric: the metric.
        value: what its kernel gives.
        relevant: whether the query has relevant items.
        worth: what a convention gives a query without any.
    """
    if relevant:
        by_rule = metric.fact.undefined == "convention" and math.isnan(value)
    elif metric.empty == "gaps":
        by_rule = math.isnan(value)
    else:
        by_rule = metric.empty == "convention"
    return worth if by_rule else value


WORTHS = {"zero": 0.0, "one": 1.0, "skip": math.nan}
KEPT = {("Accuracy", "zero"): "what is not relevant and not shown counts"}
"""Metric and choice -> why a query without relevant items has its own value."""


@pytest.mark.parametrize("name", [n for n in NAMES if REGISTRY[n].summary != "sum"])
@pytest.mark.parametrize("choice", WORTHS)
def test_a_query_is_worth_what_the_metric_declares(name: str, choice: str) -> None:
    rule = named("rankine").replace(empty_truth=choice)
    metrics = [m for m in with_all_choices(name) if m.get("single") != "undefined"]
    ev = rk.evaluate(*ODD, metrics, convention=rule, catalog=CATALOG)
    for summary in ev.summaries.values():
        metric, table = summary.metric, summary.table
        assert table is not None
        own = metric.values(table)
        relevant = table.n_relevant(least_relevant(metric)) > 0
        expected = [
            declared(metric, value, relevant=has, worth=WORTHS[choice])
            for value, has in zip(own.tolist(), relevant.tolist(), strict=True)
        ]

        same = np.array_equal(summary.values, expected, equal_nan=True)
        assert same == ((name, choice) not in KEPT), str(metric)
        assert summary.n_undefined == np.isnan(expected).sum()


def rank_of_the_first(table: Judged) -> Floats:
    first = np.full(table.n_queries, np.inf)
    inside = table.grade > 0
    np.minimum.at(first, table.query[inside], table.rank[inside])
    return np.where(np.isinf(first), np.nan, first)


@pytest.mark.parametrize("choice", WORTHS)
def test_a_nan_that_nobody_declared_is_left_out_and_counted(choice: str) -> None:
    made = register("RankOfFirst", rank_of_the_first, bounds=(1, np.inf))
    rule = named("rankine").replace(empty_truth=choice)
    qrels = {"q1": {"a": 1}, "q2": {"a": 1}, "q3": {"a": 1}, "q4": {"a": 0}}
    run = {"q1": ["a"], "q2": ["x", "x2", "a"], "q3": ["x"], "q4": ["a"]}
    try:
        ev = rk.evaluate(qrels, run, made, convention=rule)
    finally:
        forget("RankOfFirst")
    worth = WORTHS[choice]
    known = [1, 3] if math.isnan(worth) else [1, 3, worth]

    assert ev[made] == sum(known) / len(known)
    assert ev.per_query["RankOfFirst"].to_list()[2] is None
    assert "RankOfFirst is undefined for 1 query: left out" in [
        note.replace("2 queries", "1 query") for note in ev.notes
    ]


# Values that depend on other queries


def choices(name: str) -> list[Metric]:
    """Return a metric as it is, and with each choice that looks at all queries."""
    base = base_of(name)
    return [
        base,
        *(
            base(**{across.parameter: value})
            for across in REGISTRY[name].across
            for value in across.values
            if value is not None
        ),
    ]


def depends_on_others(metric: Metric) -> bool:
    """Say whether a query has another value alone than among others."""
    qrels, run = world(1)
    qrels[0] = {item: min(grade, 1) for item, grade in qrels[0].items()}
    del run[11]
    together = rk.evaluate(qrels, run, metric, catalog=CATALOG)
    alone = [
        rk.evaluate({query: qrels[query]}, {query: run[query]}, metric, catalog=CATALOG)
        for query in run
    ]
    own = np.concatenate([next(iter(ev.summaries.values())).values for ev in alone])
    (all_,) = together.summaries.values()
    return not np.array_equal(own, all_.values[: len(own)], equal_nan=True)


@pytest.mark.parametrize("name", NAMES)
def test_a_value_depends_on_other_queries_only_where_that_is_declared(
    name: str,
) -> None:
    for metric in choices(name):
        if metric.across is None:
            assert not depends_on_others(metric), str(metric)


@pytest.mark.parametrize("metric", [rk.ERR, rk.AUC(scope="pooled")], ids=str)
def test_what_is_declared_to_depend_on_others_does(metric: Metric) -> None:
    assert metric.across is not None
    assert depends_on_others(metric)


def test_a_value_that_needs_none_of_the_others_is_named() -> None:
    assert rk.ERR.across is not None
    assert rk.ERR(max_grade=rk.ERR.across.instead).across is None
    assert rk.AUC.across is None
    assert rk.FCP.across is None
    assert rk.FCP(weighing="users").across is not None


# The catalogue


@pytest.mark.parametrize("name", NAMES)
def test_the_catalogue_is_asked_for_where_that_is_declared(name: str) -> None:
    qrels, run = world(2)
    metric = Metric(name)

    if "catalog" in metric.needs:
        with pytest.raises(ParameterError, match="needs the size of the catalogue"):
            rk.evaluate(qrels, run, metric)
    else:
        rk.evaluate(qrels, run, metric)


@pytest.mark.parametrize("metric", [rk.AUC, rk.FallOut], ids=str)
def test_the_catalogue_is_needed_where_it_is_the_universe(metric: Metric) -> None:
    assert "catalog" in metric(universe="catalogue").needs
    assert "catalog" not in metric(universe="list").needs


def test_all_metrics_that_take_the_catalogue_say_when_they_need_it() -> None:
    takes = {name for name in NAMES if Metric(name).takes("catalog")}
    says = {name for name in NAMES if "catalog" in REGISTRY[name].needs}

    # Utility takes it for 0 where it is not given, as trec_eval does.
    assert takes - says == {"Utility"}
