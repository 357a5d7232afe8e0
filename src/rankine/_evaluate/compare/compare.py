"""compare: whether one system is better than another, and how certain that is."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

from rankine._base.checks import check_choice, check_number
from rankine._base.text import count
from rankine._evaluate.compare.comparison import Comparison
from rankine._evaluate.compare.side_by_side import evaluate_each
from rankine._evaluate.compare.system_values import Column, SystemValues
from rankine._evaluate.compare.whole_runs import check_whole, whole_notes, whole_of
from rankine._evaluate.evaluate import DEFAULT, prepare
from rankine._evaluate.intervals import draw_intervals
from rankine._evaluate.notes import few, said_once
from rankine._evaluate.options import options_of
from rankine._evaluate.summary import has_no_weights
from rankine._evaluate.worst import table_of
from rankine._metrics.names import canonical_name, parse
from rankine._runs.several import runs_of
from rankine._stats.paired import DRAWS
from rankine._stats.pairwise import Settings
from rankine.errors import DataError, ParameterError

if TYPE_CHECKING:
    from rankine._conventions.convention import Convention
    from rankine._evaluate.evaluate import Job
    from rankine._evaluate.plan import Plan
    from rankine._evaluate.result import Evaluation
    from rankine._metrics.metric import Metric

KEEP = 10
"""How many first items of each list are kept, for queries that moved."""


def compare(
    qrels: Any,
    runs: Any,
    metrics: str | Metric | Iterable[str | Metric] = DEFAULT,
    *,
    baseline: str | None = None,
    test: str = "randomization",
    correction: str = "holm",
    family: str = "metric",
    confidence: float = 0.95,
    margin: float | Mapping[str, float] | None = None,
    by: Any = None,
    draws: int = DRAWS,
    seed: int = 0,
    intervals: str = "pair",
    keep: int | None = KEEP,
    convention: str | Convention = "rankine",
    **options: Any,
) -> Comparison:
    """Compare systems on the same queries: their means, and every pair of them.

    Pairs are compared on the queries that both have, by their ids.

    Args:
        qrels: the judgements, as in `evaluate`.
        runs: name -> run, in any form that `evaluate` takes; or a list of paths or a
            pattern such as ``runs/*.txt``, whose runs are named after their files.
        metrics: names or metrics, each with a value per query; or with a single number
            for a whole run, such as ``Coverage``, which are compared by the jackknife.
        baseline: the name of the system that all others are compared with; without it,
            every pair is compared.
        test: ``randomization`` (paired, by flipping signs), ``t``, ``wilcoxon``,
            ``sign``, ``bootstrap``; for all pairs at once ``tukey_hsd`` or
            ``randomized_tukey_hsd``.
        correction: how p-values are corrected for the number of pairs: ``holm``,
            ``bonferroni``, ``bh``, ``maxt`` (with randomization) or ``none``.
        family: which p-values are corrected together: ``metric``, those of the pairs
            of each metric; or ``all``.
        confidence: the level of intervals; verdicts are given at 1 - confidence.
        margin: the difference that does not matter, for verdicts of equivalence: a
            number for all metrics, or {metric: number}.
        by: the segment of each query, such as its type or the cohort of its user:
            {query: segment}, or a frame or file with a column of queries and one of
            segments; for `Comparison.segments` and `Comparison.gaps`.
        draws: how many random flips, resamples or permutations.
        seed: the seed of the draws.
        intervals: ``pair``, the interval of a difference holds for its pair alone,
            although p-values are corrected for all pairs; or ``simultaneous``, there
            are also intervals that hold for all pairs of the family at once.
        keep: how many first items of each list to keep, for `Comparison.moved`; with
            None, it shows only the judged ones among the first ten.
        convention: whose choices the numbers follow.
        options: the other options of `evaluate`, such as ``rel``, ``ties``, ``train``,
            ``items`` and ``weights``.

    Returns:
        The comparison, with d = b - a for every pair of systems a and b.

    Raises:
        UsageError: a metric or an option is not valid, or makes no sense with another.
        DataError: the data cannot be used, or two systems share no query.

    >>> import rankine as rk
    >>> qrels = {f"q{n}": {"a": 1} for n in range(6)}
    >>> low = {f"q{n}": ["x", "y", "a"] for n in range(6)}
    >>> high = {f"q{n}": ["a", "x", "y"] for n in range(6)}
    >>> cmp = rk.compare(qrels, {"low": low, "high": high}, "RR")
    >>> cmp.pairwise.select("difference", "p", "verdict").row(0)
    (0.6667, 0.03125, 'better')
    """
    settings = Settings(test, correction, family, confidence, draws, seed, intervals)
    said = {"convention": convention, "keep": keep, **options}
    job = prepare(metrics, options_of("compare", said))
    return compare_runs(job, qrels, runs_of(runs), settings, baseline, margin, by)


def compare_runs(
    job: Job,
    qrels: Any,
    runs: Mapping[str, Any],
    settings: Settings,
    baseline: str | None,
    margin: float | Mapping[str, float] | None,
    by: Any = None,
) -> Comparison:
    """Evaluate runs, by their names, and compare them; see `compare`.

    Everything that can be checked without data is checked first. Judgements are read
    once.
    """
    settings.check(weighted=job.options.weights is not None)
    check_systems(tuple(runs), baseline)
    for name, bound in zip(job.plan.labels, job.plan.bound, strict=True):
        if bound.fact.without is None:
            check_metric(name, bound)
        else:
            check_whole(name, bound, settings, segmented=by is not None)
    job.check(judged=qrels is not None)
    margins = margins_of(margin, job.plan.labels)
    truth = job.truth(qrels, *runs.values())
    evaluations = evaluate_each(job, truth, runs)
    return compare_evaluations(evaluations, settings, baseline, margins, by)


def compare_evaluations(
    evaluations: Mapping[str, Evaluation],
    settings: Settings,
    baseline: str | None = None,
    margins: Mapping[str, float] | None = None,
    by: Any = None,
    only: Sequence[str] | None = None,
    better: Mapping[str, bool] | None = None,
    notes: Iterable[str] = (),
) -> Comparison:
    """Compare systems that have been evaluated, by the same metrics or some of them.

    Args:
        evaluations: by the names of the systems.
        settings: how they are compared.
        baseline: as in `compare`.
        margins: by metric.
        by: as in `compare`.
        only: the metrics; all if not given.
        better: whether larger values are better, where that is not as usual.
        notes: what is to be said of them.
    """
    first = next(iter(evaluations.values()))
    labels = tuple(first.summaries if only is None else only)
    bound = dict(zip(first.summaries, first.bound, strict=True))
    wholes = {
        number: whole_of(evaluations, label)
        for number, label in enumerate(labels)
        if bound[label].fact.without is not None
    }
    columns: dict[tuple[int, int], Column] = {}
    for metric, label in enumerate(labels):
        for system, evaluation in enumerate(evaluations.values()):
            summary, (_, table) = (
                evaluation.summaries[label],
                table_of(evaluation, label),
            )
            if metric not in wholes:
                if summary.parts is not None:  # the convention pools it
                    raise no_mean(label)
                column = Column(table.ids, summary.values, summary.weights)
                columns[metric, system] = column
            elif len(wholes) == len(labels):  # nothing else has queries
                columns[metric, system] = Column(table.ids, None)
    draw_intervals([*evaluations.values()], settings.confidence)
    compared = SystemValues.of(
        evaluations, labels, columns, settings.confidence, wholes
    )
    if better:
        usual = zip(labels, compared.directions, strict=True)
        directions = tuple(better.get(label, flag) for label, flag in usual)
        compared = replace(compared, directions=directions)
    notes = [*notes, *unpaired(compared), *contested(first.plan)]
    notes += whole_notes(labels, wholes, settings)
    notes += said_once({name: run.notes for name, run in evaluations.items()})
    return Comparison(
        compared,
        settings,
        baseline=baseline,
        margins=margins,
        evaluations=evaluations,
        notes=tuple(notes),
        by=by,
    )


def check_systems(names: tuple[str, ...], baseline: str | None) -> None:
    """Refuse fewer than two systems, names that are not text, an unknown baseline."""
    if len(names) < 2:  # noqa: PLR2004 - nothing to compare
        what = f"only {names[0]}" if names else "none"
        msg = f"a comparison needs at least two systems, got {what}"
        raise ParameterError(msg)
    for name in names:
        if not name.isascii() and name != name.encode(errors="replace").decode():
            msg = f"the name {name!r} of a system contains an unpaired surrogate, which"
            raise ParameterError(msg + " is not valid text; give it another name")
    check_baseline(baseline, names)


def check_baseline(baseline: str | None, names: tuple[str, ...]) -> None:
    """Refuse a baseline that is not among the systems."""
    if baseline is not None:
        check_choice("baseline", baseline, names)


def check_metric(name: str, bound: Metric) -> None:
    """Refuse a metric whose number is not a mean over queries."""
    if not is_mean(bound):
        raise no_mean(name)


def is_mean(bound: Metric) -> bool:
    """Say whether the number of a metric is a mean over queries."""
    pooled = bound.get("aggregate") == "ratio_of_sums"
    return not (has_no_weights(bound) or bound.summary != "mean" or pooled)


def no_mean(label: str) -> ParameterError:
    """Return the error for a number that is not a mean over queries."""
    msg = (
        f"{label} is not a mean over queries, and so has no differences per query to "
        "test; evaluate it for each run"
    )
    return ParameterError(msg)


def margins_of(margin: Any, labels: tuple[str, ...]) -> dict[str, float]:
    """Return the margin of each metric that has one, by the metric's own name."""
    if margin is None:
        return {}
    if not isinstance(margin, Mapping):
        check_number("margin", margin, above=0)
        return dict.fromkeys(labels, float(margin))
    margins: dict[str, float] = {}
    for name, size in margin.items():
        label = _same(str(name), labels)
        if label is None:
            msg = f"margin is given for {name}, which is not among {', '.join(labels)}"
            raise ParameterError(msg)
        check_number(f"the margin of {name}", size, above=0)
        if label in margins:
            msg = f"{label} has two margins, {margins[label]:g} and {size:g}; give one"
            raise ParameterError(msg)
        margins[label] = float(size)
    return margins


def _same(name: str, labels: tuple[str, ...]) -> str | None:
    """Return the one of some labels that stands for the same metric as a name."""
    if name in labels:
        return name
    wanted = str(parse(name))
    return next((label for label in labels if canonical_name(label) == wanted), None)


def unpaired(compared: SystemValues) -> list[str]:
    """Return notes on queries that only some systems have; refuse two without any."""
    notes = []
    there = ~np.isnan(compared.values)
    for metric, label in enumerate(compared.metrics):
        everyone = there[metric].all(axis=0)
        for system, name in enumerate(compared.systems):
            missing = np.flatnonzero(~there[metric, system] & there[metric].any(axis=0))
            if len(missing):
                who = few([compared.queries[query] for query in missing])
                notes.append(
                    f"{label}: {count(len(missing), compared.unit)} without a value in "
                    f"{name} ({who}), left out of its pairs"
                )
        if not everyone.any() and there[metric].any():
            _refuse_apart(compared, there[metric], label)
    return notes


def _refuse_apart(compared: SystemValues, there: Any, label: str) -> None:
    """Refuse two systems that have no query in common."""
    for (a, ours), (b, theirs) in combinations(
        zip(compared.systems, there, strict=True), 2
    ):
        if not (ours & theirs).any():
            msg = f"{a} and {b} have no {compared.unit} in common for {label}"
            raise DataError(msg)


def contested(plan: Plan) -> list[str]:
    """Return notes on metrics whose means are contested."""
    return [
        f"{label}: {metric.fact.contested}"
        for label, metric in zip(plan.labels, plan.asked, strict=True)
        if metric.fact.contested
    ]
