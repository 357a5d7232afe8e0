"""Whether one evaluation is better than another: by its mean, or by a paired test."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from rankine._base.text import count, plural
from rankine._conventions.presets import called
from rankine._evaluate.compare.compare import is_mean, no_mean
from rankine._evaluate.compare.whole_runs import check_whole, whole_of
from rankine._evaluate.notes import few
from rankine._evaluate.plan import rule_for
from rankine._evaluate.summary import mean_of
from rankine._evaluate.worst import table_of
from rankine._stats.pairwise import Settings, compare_values
from rankine.errors import DataError, ParameterError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rankine._base.arrays import Floats
    from rankine._evaluate.result import Evaluation
    from rankine._metrics.metric import Metric


class _Numbers(NamedTuple):
    """A metric in one of the two evaluations.

    Attributes:
        bound: the metric as it was computed.
        label: its name in the evaluation.
        values: one per query, in the order of the first evaluation.
        weights: how much each query counts; None if all count the same.
        number: the number itself.
    """

    bound: Metric
    label: str
    values: Floats
    weights: Floats | None
    number: float


def is_better(
    ours: Evaluation,
    theirs: Evaluation,
    metric: str | Metric,
    confidence: float | None,
    test: str | None,
    draws: int,
    seed: int,
) -> bool:
    """Say whether one evaluation is better; see `Evaluation.better_than`."""
    level = 0.95 if confidence is None else confidence
    how = test or "randomization"
    settings = Settings(how, "none", confidence=level, draws=draws, seed=seed)
    settings.check()
    first, second = _paired(ours, theirs, metric)
    direction = first.bound.higher_is_better
    if direction is None:
        msg = f"{first.label} has no direction, so neither of two values is better"
        raise ParameterError(msg)
    if confidence is not None or test is not None:
        return _verdict(ours, theirs, first, second, settings).startswith("better")
    if math.isnan(first.number) or math.isnan(second.number):
        return not math.isnan(first.number)
    a, b = second.number, first.number
    both = ~np.isnan(first.values) & ~np.isnan(second.values)
    if is_mean(first.bound) and both.any():
        decimals = rule_for(first.bound, ours.convention).decimals
        a, b = (
            mean_of(np.where(both, side.values, np.nan), side.weights, decimals)
            for side in (second, first)
        )
    return b > a if direction else b < a


def refuse_other_catalogue(label: str, evaluations: Mapping[str, Evaluation]) -> None:
    """Refuse a metric of the catalogue if evaluations were given different ones."""
    known: dict[str, int] = {}
    for name, each in evaluations.items():
        bound, _ = table_of(each, each._label(label))  # noqa: SLF001 - of the package
        size = bound.get("catalog") or (
            each.plan.catalog if "catalog" in bound.needs else None
        )
        if size is not None:
            known[name] = size
    if len({*known.values()}) > 1:
        sizes = ", ".join(f"{size:,} in {name}" for name, size in known.items())
        msg = (
            f"{label} depends on the catalogue, which has not the same number of items "
            f"everywhere ({sizes}); evaluate all with the same catalog="
        )
        raise ParameterError(msg)


def _verdict(
    ours: Evaluation,
    theirs: Evaluation,
    first: _Numbers,
    second: _Numbers,
    settings: Settings,
) -> str:
    """Return the verdict of a paired test on the first of the two."""
    settings.check(weighted=first.weights is not None)
    wholes = {}
    if first.bound.fact.without is not None:
        check_whole(first.label, first.bound, settings, segmented=False)
        wholes[0] = whole_of({"theirs": theirs, "ours": ours}, first.label)
    elif not is_mean(first.bound):
        raise no_mean(first.label)
    pairs = compare_values(
        np.stack([second.values, first.values])[None],
        settings,
        weights=first.weights,
        directions=(first.bound.higher_is_better,),
        wholes=wholes,
    )
    return pairs.verdicts[0]


def _paired(
    ours: Evaluation, theirs: Evaluation, metric: str | Metric
) -> tuple[_Numbers, _Numbers]:
    """Bring a metric of both to the same queries; refuse what does not compare."""
    label = ours._label(metric)  # noqa: SLF001 - of the same package
    try:
        other = theirs._label(metric)  # noqa: SLF001
    except KeyError as error:
        msg = f"the other evaluation cannot be compared: {error.args[0]}"
        raise ParameterError(msg) from None
    bound, table = table_of(ours, label)
    bound_there, table_there = table_of(theirs, other)
    if bound != bound_there or ours.convention != theirs.convention:
        names = [called(each.convention, each.preset) for each in (ours, theirs)]
        how = f"{bound} and {bound_there}"
        if bound == bound_there:
            how = f"{names[0]} and {names[1]}"
        msg = (
            f"the two evaluations compute {label} differently ({how}), so their "
            "numbers do not compare; evaluate both in the same way"
        )
        raise ParameterError(msg)
    refuse_other_catalogue(label, {"one": ours, "the other": theirs})
    queries, units = [str(query) for query in table.ids], plural(ours.unit)
    places = {str(query): place for place, query in enumerate(table_there.ids)}
    alone = [query for query in queries if query not in places]
    alone += sorted(places.keys() - set(queries))
    if alone:
        msg = (
            f"only one of the two evaluations has {count(len(alone), ours.unit)} "
            f"({few(alone)}), so their numbers are not of the same {units}; evaluate "
            "both on the same ones, or pass the runs to rk.compare, which pairs them"
        )
        raise DataError(msg)
    order = np.array([places[query] for query in queries], dtype=np.int64)
    here, there = ours.summaries[label], theirs.summaries[other]
    weights = None if there.weights is None else there.weights[order]
    if (here.weights is None) != (weights is None) or (
        weights is not None and not np.array_equal(weights, here.weights)  # type: ignore[arg-type]
    ):
        msg = (
            f"the two evaluations weigh their {units} differently; give both the same "
            "weights="
        )
        raise ParameterError(msg)
    return (
        _Numbers(bound, label, here.values, weights, here.value),
        _Numbers(bound, other, there.values[order], weights, there.value),
    )
