"""From one value per query to one number, and what became of undefined values."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from rankine.errors import DataError

if TYPE_CHECKING:
    from rankine.arrays import Bools, Floats
    from rankine.conventions.convention import Convention
    from rankine.metric import Metric
    from rankine.table import Judged

_ABOVE_ZERO = float(np.nextafter(0, 1))
_FLOOR = 1e-5
"""The least value in a geometric mean, as in trec_eval."""


@dataclass(frozen=True, slots=True, eq=False)
class Summary:
    """One metric over all queries.

    Attributes:
        value: the number that stands for all queries.
        values: one value per query, as it entered; nan where a query was left out.
        n: how many queries entered.
        n_empty: how many queries have no relevant item.
        n_undefined: how many queries were left out because there is no value.
        parts: numerator and denominator per query, where these are pooled.
    """

    value: float
    values: Floats
    n: int
    n_empty: int
    n_undefined: int
    parts: tuple[Floats, Floats] | None = None


def summarize(metric: Metric, table: Judged, rule: Convention) -> Summary:
    """Compute a metric for every query and sum it up as the convention says."""
    fact = metric.fact
    values = metric.values(table)
    undefined = np.isnan(values)
    n_empty = 0
    if fact.summary != "sum" and fact.empty != "keep":
        empty = table.n_relevant(_least_relevant(metric)) == 0
        n_empty = int(np.count_nonzero(empty))
        if n_empty and fact.empty == "convention":
            values = _with_empty(values, empty, rule)
            undefined = np.isnan(values)
    n_undefined = int(np.count_nonzero(undefined))
    pooled = rule.aggregate == "micro" or metric.get("aggregate") == "ratio_of_sums"
    parts = None
    if pooled and fact.parts is not None:
        parts = _parts(metric, table, values)
        value = _ratio(*parts)
    else:
        entered = values[~undefined] if n_undefined else values
        value = reduce(entered, fact.summary)
    n = len(values) - n_undefined
    if n == 0:
        value = _nothing(metric, rule)
    if rule.decimals is not None:
        value = round(value, rule.decimals)
    return Summary(value, values, n, n_empty, n_undefined, parts)


def _least_relevant(metric: Metric) -> float:
    """Return the smallest grade that a metric can gain from."""
    rel = metric.get("rel")
    if rel is not None:
        return float(rel)
    return 1 if metric.get("gain") == "binary" else _ABOVE_ZERO


def reduce(values: Floats, how: str) -> float:
    """Reduce values to their sum, their mean or their geometric mean.

    The sum is exact and rounded once, so that it does not depend on the order.

    >>> reduce(np.array([0.1] * 10), "mean")
    0.1
    >>> reduce(np.array([0.25, 0.04]), "geometric")
    0.1
    """
    if len(values) == 0:
        return math.nan
    if how == "geometric":
        logs = [math.log(max(value, _FLOOR)) for value in values.tolist()]
        return math.exp(math.fsum(logs) / len(logs))
    total = math.fsum(values.tolist())
    return total if how == "sum" else total / len(values)


def _with_empty(values: Floats, empty: Bools, rule: Convention) -> Floats:
    """Give queries without relevant items the value that the convention says."""
    if rule.empty_truth == "error":
        msg = f"{int(empty.sum())} queries have no relevant item"
        raise DataError(msg)
    worth = {"zero": 0.0, "one": 1.0, "skip": np.nan, "nan": np.nan}[rule.empty_truth]
    return np.where(empty, worth, values)


def _parts(metric: Metric, table: Judged, values: Floats) -> tuple[Floats, Floats]:
    if metric.fact.parts is None:
        raise AssertionError
    numerator, denominator = metric.fact.parts(table, **dict(metric.params))
    left_out = np.isnan(values)
    return np.where(left_out, 0, numerator), np.where(left_out, 0, denominator)


def _ratio(numerator: Floats, denominator: Floats) -> float:
    down = math.fsum(denominator.tolist())
    return math.fsum(numerator.tolist()) / down if down else math.nan


def _nothing(metric: Metric, rule: Convention) -> float:
    if rule.nothing == "error":
        msg = f"no query is left to average {metric} over"
        raise DataError(msg)
    return 0.0 if rule.nothing == "zero" else math.nan
