"""Facts that are declared where a metric is registered, held against its numbers.

Each is tested both ways: where a fact says so it is so for all data, and where it does
not there are data that show it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import rankine as rk
from rankine._join import judged
from rankine._metrics.metric import REGISTRY, Metric
from rankine.errors import ParameterError

if TYPE_CHECKING:
    from rankine._base.arrays import Floats

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
    says = {
        name
        for name in NAMES
        if any(need.startswith("catalog") for need in REGISTRY[name].needs)
    }

    # Utility takes it for 0 where it is not given, as trec_eval does.
    assert takes - says == {"Utility"}
