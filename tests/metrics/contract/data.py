"""Random judgements and runs for every metric, and values for its parameters."""

from __future__ import annotations

import math
import sys
from collections.abc import Mapping
from functools import cache
from typing import TYPE_CHECKING, Any, Literal, get_args, get_origin, get_type_hints

import numpy as np
import pytest

import rankine as rk
from rankine._join import Judged, Ties
from rankine._metrics.metric import REGISTRY, Metric
from rankine.errors import ParameterError

if TYPE_CHECKING:
    from rankine._evaluate.result import Evaluation

Grades = dict[Any, dict[Any, Any]]
rk.metrics()  # fills the registry
NAMES = list(REGISTRY)
CUT = [name for name in NAMES if REGISTRY[name].at == "k"]
TIED = [name for name in NAMES if "ties" in REGISTRY[name].parameters]
CATALOG = 1000
N_QUERIES = 40
SEEDS = range(5)
every_metric = pytest.mark.parametrize("name", NAMES)


# --- data, and what rankine says of it


@cache
def data(seed: int, *, ties: bool = True) -> tuple[Grades, Grades]:
    """Make judgements and a run with int ids: missing and extra queries, grades -1..3.

    Ids have one to three digits, so that their order as text is not that of numbers.
    """
    rng = np.random.default_rng(seed)
    qrels: Grades = {}
    run: Grades = {}
    for query in range(N_QUERIES):
        items = rng.permutation(120)[: rng.integers(1, 25)].tolist()
        levels = rng.integers(1, 8) if ties else 1_000_000
        low = int(rng.choice([-1, 0, 0]))
        known = items[: rng.integers(1, len(items) + 1)]
        shown = rng.permutation(items)[: rng.integers(1, len(items) + 1)].tolist()
        if query % 13 != 5:
            grades = rng.integers(low, 4, len(known))
            qrels[query] = dict(zip(known, grades.astype(float).tolist(), strict=True))
        if query % 13 != 7:
            scores = rng.permutation(levels)[:25] if not ties else None
            numbers = rng.integers(0, levels, 25) if scores is None else scores
            run[query] = {
                item: float(number) / 8
                for item, number in zip(shown, numbers, strict=False)
            }
    return qrels, run


def evaluate(qrels: Any, run: Any, metrics: Any, **more: Any) -> Evaluation:
    return rk.evaluate(qrels, run, metrics, catalog=CATALOG, **more)


def table_of(result: Evaluation) -> dict[str, dict[str, float | None]]:
    """Return the values by query, whatever type its id has, then by metric."""
    return {
        str(row["query"]): {key: row[key] for key in result.mean}
        for row in result.per_query.iter_rows(named=True)
    }


def column(result: Evaluation, metric: str) -> dict[str, float | None]:
    return {query: row[metric] for query, row in table_of(result).items()}


@cache
def reference(seed: int, *, ties: bool = True) -> Evaluation:
    return evaluate(*data(seed, ties=ties), NAMES)


def assert_same(result: Evaluation, wanted: Evaluation, name: str) -> None:
    """Compare bit for bit, per query and in the summary."""
    assert column(result, name) == column(wanted, name)
    assert result[name] == wanted[name] or math.isnan(wanted[name])


# --- parameters: values to try, from the types in the signature


PLAIN: tuple[Any, ...] = (3, 2, 0.5, (0.2, 0.8), (2, -1, 0.5, 1))
"""Tried one after the other, for parameters that are not a choice of words."""
FITTING: dict[str, Any] = {
    "max_grade": 9,
    "catalog": CATALOG,
    "padded": True,
    "normalize": False,
}
"""Values that have to fit: a scale up to all grades, room for all items, a flag."""


def hints(name: str) -> dict[str, Any]:
    kernel = REGISTRY[name].kernel
    known = vars(sys.modules[kernel.__module__])
    missing = {"Floats": Any, "Judged": Judged, "Ties": Ties, "Mapping": Mapping}
    return get_type_hints(kernel, {**missing, **known})


def words(hint: Any) -> list[Any]:
    """Return the words that a type allows, and a table if it allows one."""
    if get_origin(hint) is Literal:
        return list(get_args(hint))
    origin = get_origin(hint)
    if isinstance(origin, type) and issubclass(origin, Mapping):
        return [{1: 0.5, 2: 3.0}]
    return [word for part in get_args(hint) for word in words(part)]


def accepts(name: str, **params: Any) -> bool:
    try:
        base_of(name)(**params)
    except ParameterError:
        return False
    return True


def base_of(name: str) -> Metric:
    """Return the metric with the size of the catalogue, if it takes one."""
    metric = Metric(name)
    return metric(catalog=CATALOG) if metric.takes("catalog") else metric


def values_for(name: str, parameter: str) -> list[Any]:
    """Return values to try; all words of a choice, one plain value otherwise."""
    found = words(hints(name)[parameter])
    if found:
        return [word for word in found if possible(name, parameter, word)]
    tried = (FITTING[parameter],) if parameter in FITTING else PLAIN
    plain = [value for value in tried if accepts(name, **{parameter: value})]
    return plain[:1]


def possible(name: str, parameter: str, value: Any) -> bool:
    """Say whether a metric takes the value, with another parameter if it needs one."""
    return companion(name, parameter, value) is not None


def companion(name: str, parameter: str, value: Any) -> dict[str, Any] | None:
    """Return what a value of a parameter needs besides; None if it is refused."""
    fact = REGISTRY[name]
    needs: list[dict[str, Any]] = [{}]
    if "rel" in fact.parameters:
        needs.append({"rel": 1})
    if parameter in fact.matters:
        other, allowed = fact.matters[parameter]
        needs.append({other: allowed[0] if allowed else 3})
    fine = (one for one in needs if accepts(name, **{**one, parameter: value}))
    return next(fine, None)


@cache
def bound(name: str) -> tuple[Metric, ...]:
    """Return the metric with every value of every parameter, one at a time, and all."""
    choices = {
        parameter: values_for(name, parameter)
        for parameter in REGISTRY[name].parameters
    }
    made = []
    together: dict[str, Any] = {}
    for parameter, values in choices.items():
        for value in values:
            more = companion(name, parameter, value) or {}
            made.append(base_of(name)(**{**more, parameter: value}))
        first = {**together, parameter: values[0]} if values else together
        together = first if accepts(name, **first) else together
    return (*made, base_of(name)(**together))
