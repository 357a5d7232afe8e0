"""compare_values: systems compared by values that were computed before."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from rankine._base.checks import check_flag
from rankine._evaluate.compare.better_than import refuse_other_catalogue
from rankine._evaluate.compare.compare import (
    check_metric,
    check_systems,
    compare_evaluations,
    margins_of,
    unpaired,
)
from rankine._evaluate.compare.comparison import Comparison
from rankine._evaluate.compare.system_values import SystemValues
from rankine._evaluate.compare.values import named, systems_of
from rankine._evaluate.compare.whole_runs import check_kept, check_whole
from rankine._evaluate.notes import few
from rankine._evaluate.result import Evaluation
from rankine._evaluate.summary import mean_of
from rankine._evaluate.worst import table_of
from rankine._io.frames import is_frame
from rankine._metrics.metric import Metric
from rankine._metrics.names import canonical_name, parse
from rankine._stats.intervals import Sample
from rankine._stats.intervals import intervals as intervals_of
from rankine._stats.paired import DRAWS
from rankine._stats.pairwise import Settings
from rankine.errors import DataError, ParameterError, UsageError

if TYPE_CHECKING:
    from rankine._evaluate.compare.values import Values


def compare_values(
    values: Any,
    metrics: str | Metric | Iterable[str | Metric] | None = None,
    *,
    baseline: str | None = None,
    test: str = "randomization",
    correction: str = "holm",
    family: str = "metric",
    confidence: float = 0.95,
    margin: float | Mapping[str, float] | None = None,
    higher_is_better: bool | Mapping[str, bool] | None = None,
    draws: int = DRAWS,
    seed: int = 0,
    intervals: str = "pair",
) -> Comparison:
    """Compare systems by values that were computed before, or by another tool.

    Args:
        values: {name: what a system has}. That is an evaluation, of `evaluate` or of an
            `Accumulator`; {query: {metric: value}}, as pytrec_eval returns it, or
            {query: value}; the path of what ``trec_eval -q`` printed; values of
            ir_measures, with query_id, measure and value; or a frame with a column
            ``query`` and one per metric. Or all systems at once: a list of evaluations,
            paths or a pattern of files, a frame with the columns query, run, metric and
            value, or a frame with a column ``query`` and one per system. A missing
            value leaves the query out of that system's pairs.
        metrics: which metrics are compared; all that every system has if not given.
        baseline: as in `compare`.
        test: as in `compare`.
        correction: as in `compare`.
        family: as in `compare`.
        confidence: as in `compare`.
        margin: as in `compare`.
        higher_is_better: whether larger values are better, for all metrics or by
            metric. If not given, as rankine knows it for its own metrics; else yes.
        draws: as in `compare`.
        seed: as in `compare`.
        intervals: as in `compare`.

    Returns:
        The comparison. A metric without a name is called ``value``. Metrics of two
        systems are the same if their names stand for the same metric of rankine, such
        as ``ndcg_cut_10`` and ``nDCG@10``.

    >>> import rankine as rk
    >>> x = {"q1": {"map": 0.1}, "q2": {"map": 0.2}, "q3": {"map": 0.3}}
    >>> y = {"q1": {"map": 0.2}, "q2": {"map": 0.3}, "q3": {"map": 0.5}}
    >>> found = rk.compare_values({"x": x, "y": y}, test="sign")
    >>> found.pairwise.select("metric", "a", "b", "p").row(0)
    ('map', 'x', 'y', 0.25)
    """
    settings = Settings(test, correction, family, confidence, draws, seed, intervals)
    settings.check()
    _check_directions(higher_is_better)
    evaluations = {} if is_frame(values) else named(values)
    _refuse_other_rules(evaluations)
    if _are_alike(evaluations):
        check_systems(tuple(evaluations), baseline)
        known = [*next(iter(evaluations.values())).summaries]
        asked = tuple(_chosen(metrics, known).values())
        labels, left = _comparable(evaluations, asked, settings)
        if left and (metrics is not None or not labels):
            raise left[0]
        _check_weights(evaluations, labels, settings)
        return compare_evaluations(
            evaluations,
            settings,
            baseline,
            margins_of(margin, labels),
            only=labels,
            better=_better(labels, higher_is_better),
            notes=[f"left out: {error}" for error in left],
        )
    found = systems_of(values)
    check_systems(tuple(found.values), baseline)
    shared, notes = _shared(found.values)
    chosen = _chosen(metrics, [*shared])
    margins = margins_of(margin, tuple(chosen))
    directions = _directions([*chosen], higher_is_better)
    named_by = {name: shared[label] for name, label in chosen.items()}
    compared = _compared(found.values, named_by, directions, settings)
    return Comparison(
        compared,
        settings,
        baseline=baseline,
        margins=margins,
        notes=(*unpaired(compared), *notes, *found.notes),
    )


def _refuse_other_rules(systems: Mapping[str, Any]) -> None:
    """Refuse evaluations whose numbers follow two conventions."""
    rules = {
        name: each.convention
        for name, each in systems.items()
        if isinstance(each, Evaluation)
    }
    first = next(iter(rules), "")
    for name, rule in rules.items():
        if rule != rules[first]:
            msg = (
                f"{first} and {name} were evaluated by different conventions, so their "
                "values cannot be compared; evaluate both by the same"
            )
            raise ParameterError(msg)


def _are_alike(systems: Mapping[str, Any]) -> bool:
    """Say whether all systems are evaluations by the same metrics."""
    found = [each for each in systems.values() if isinstance(each, Evaluation)]
    labels = {tuple(each.summaries) for each in found}
    return len(labels) == 1 and len(found) == len(systems)


def _comparable(
    evaluations: Mapping[str, Evaluation], labels: Iterable[str], settings: Settings
) -> tuple[tuple[str, ...], list[ParameterError]]:
    """Return the metrics that can be compared, and why the others cannot."""
    first = next(iter(evaluations.values()))
    bound = dict(zip(first.summaries, first.bound, strict=True))
    found, left = [], []
    for label in labels:
        try:
            refuse_other_catalogue(label, evaluations)
            if bound[label].fact.without is None:
                check_metric(label, bound[label])
            else:
                check_whole(label, bound[label], settings, segmented=False)
                for each in evaluations.values():
                    check_kept(each, label)
        except ParameterError as error:
            left.append(error)
        else:
            found.append(label)
    return tuple(found), left


def _check_weights(
    evaluations: Mapping[str, Evaluation], labels: Sequence[str], settings: Settings
) -> None:
    """Refuse tests without weights, and queries that have two weights."""
    if all(each.weights is None for each in evaluations.values()):
        return
    settings.check(weighted=True)
    for label in labels:
        first, known = "", dict[str, float]()
        for name, each in evaluations.items():
            _, table = table_of(each, label)
            weights = each.summaries[label].weights
            own = np.ones(len(table.ids)) if weights is None else weights
            of = dict(zip(map(str, table.ids), own.tolist(), strict=True))
            other = next((q for q in of if known.get(q, of[q]) != of[q]), None)
            if other is not None:
                msg = (
                    f"{first} and {name} weigh query {other!r} differently, "
                    f"{known[other]:g} and {of[other]:g}; give both the same weights="
                )
                raise ParameterError(msg)
            first, known = first or name, of | known


def _chosen(metrics: Any, known: Sequence[str]) -> dict[str, str]:
    """Return the metrics asked for, all if none is: {name asked for: known name}."""
    if metrics is None:
        return {label: label for label in known}
    single = isinstance(metrics, (str, Metric))
    chosen = {}
    for name in map(str, [metrics] if single else metrics):
        label = _same(name, known)
        if label is None:
            msg = f"{name} is not among the metrics of all systems: {', '.join(known)}"
            raise ParameterError(msg)
        chosen[name] = label
    return chosen


def _same(name: str, labels: Iterable[str]) -> str | None:
    """Return the one of some labels that stands for the same metric as a name."""
    if name in labels:
        return name
    wanted = canonical_name(name)
    return next((label for label in labels if canonical_name(label) == wanted), None)


def _shared(
    systems: Mapping[str, Values],
) -> tuple[dict[str, dict[str, str]], list[str]]:
    """Return the metrics that all systems have, by the names that each has for them.

    Also returns notes on those that are left out or have two names.
    """
    shared: dict[str, dict[str, str]] = {}
    notes: list[str] = []
    first, *others = systems
    for label in systems[first]:
        names = {first: label}
        for other in others:
            own = _same(label, systems[other])
            if own is None:
                break
            names[other] = own
        else:
            shared[label] = names
            also = {f"{own} in {name}" for name, own in names.items() if own != label}
            notes += [f"{label} is called {where}" for where in sorted(also)]
    if not shared:
        have = (
            f"{name} has {few([*own]) or 'no values'}" for name, own in systems.items()
        )
        msg = f"the systems have no metric in common: {'; '.join(have)}"
        raise DataError(msg)
    for name, values in systems.items():
        used = {names[name] for names in shared.values()}
        left = [label for label in values if label not in used]
        if left:
            notes.append(f"{few(left)} of {name}: left out, as not all systems have it")
    return shared, notes


def _check_directions(better: Any) -> None:
    flags = better.values() if isinstance(better, Mapping) else [better]
    for flag in flags:
        if flag is not None:
            check_flag("higher_is_better", flag)


def _directions(
    labels: Sequence[str],
    better: bool | Mapping[str, bool] | None,  # noqa: FBT001 - as the user gives it
) -> tuple[bool | None, ...]:
    """Say for each metric whether larger values are better."""
    said = _better(labels, better)
    return tuple(
        said[label] if label in said else _known_direction(label) for label in labels
    )


def _better(
    labels: Sequence[str],
    better: bool | Mapping[str, bool] | None,  # noqa: FBT001 - as the user gives it
) -> dict[str, bool]:
    """Return what the user says of each metric."""
    if isinstance(better, bool):
        return dict.fromkeys(labels, better)
    said = {}
    for name, flag in (better or {}).items():
        label = _same(name, labels)
        if label is None:
            msg = f"higher_is_better is given for {name}, which is not among "
            raise ParameterError(msg + ", ".join(labels))
        said[label] = flag
    return said


def _known_direction(label: str) -> bool | None:
    try:
        return parse(label).higher_is_better
    except UsageError:
        return True


def _compared(
    systems: Mapping[str, Values],
    shared: Mapping[str, Mapping[str, str]],
    directions: tuple[bool | None, ...],
    settings: Settings,
) -> SystemValues:
    """Bring the values of systems to the same queries, and sum them up."""
    columns = {
        (metric, system): systems[name][own]
        for metric, names in enumerate(shared.values())
        for system, (name, own) in enumerate(names.items())
    }
    queries = {str(query): query for own in columns.values() for query in own}
    place = {text: number for number, text in enumerate(sorted(queries))}
    values = np.full((len(shared), len(systems), len(place)), np.nan)
    for key, own in columns.items():
        rows = [place[str(query)] for query in own]
        values[key][rows] = [*own.values()]
    every = [column for by_system in values for column in by_system]
    means = [mean_of(column, None, None) for column in every]
    pairs = zip(every, means, strict=True)
    samples = [Sample(column, number=mean) for column, mean in pairs]
    bounds = intervals_of(samples, confidence=settings.confidence, seed=settings.seed)
    shape = values.shape[:2]
    lows, highs = np.array(bounds).reshape(*shape, 2).transpose(2, 0, 1)
    return SystemValues(
        tuple(systems), tuple(shared), [queries[text] for text in place], values,
        np.array(means).reshape(shape), lows, highs, directions,
    )  # fmt: skip
