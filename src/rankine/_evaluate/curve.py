"""curve: a metric at many cutoffs, from one evaluation."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import polars as pl

from rankine._base.checks import check_k, check_number
from rankine._base.notebook import as_table
from rankine._evaluate.plan import plan_of, rule_for
from rankine._evaluate.summary import summarize
from rankine._metrics.lists.kind import ListMetric
from rankine._metrics.metric import Metric
from rankine._metrics.names import parse
from rankine._stats.intervals import intervals
from rankine._tables.joined import Aligned
from rankine.errors import ParameterError

if TYPE_CHECKING:
    from rankine._base.arrays import Floats
    from rankine._evaluate.plan import Group, Plan
    from rankine._evaluate.result import Evaluation
    from rankine._evaluate.summary import Summary


@dataclass(frozen=True, slots=True)
class RecallAtPrecision:
    """The largest recall at a cutoff with sufficient precision.

    Attributes:
        recall: the mean recall there.
        precision: the mean precision there.
        k: the cutoff.
    """

    recall: float
    precision: float
    k: int

    def _repr_html_(self) -> str:
        return as_table(self)


def curve(
    evaluation: Evaluation, metric: str | Metric, ks: Any, *, confidence: float = 0.95
) -> pl.DataFrame:
    """Return a metric at many cutoffs; see `Evaluation.curve`.

    The curve is kept with the evaluation, so that saved evaluations have it.
    """
    cutoffs, wanted = _cutoffs(ks), _with_cutoff(metric)
    key = str(wanted), tuple(cutoffs), confidence
    if key not in evaluation.curves:
        evaluation.curves[key] = _curve(evaluation, wanted, cutoffs, confidence)
    return evaluation.curves[key]


def _curve(
    evaluation: Evaluation, metric: Metric, cutoffs: list[int], confidence: float
) -> pl.DataFrame:
    summaries = _summaries(evaluation, metric, cutoffs)
    samples = [summary.sample for summary in summaries]
    decimals = rule_for(metric @ cutoffs[0], evaluation.convention).decimals
    bounds = [
        summary.inside(pair, decimals, cut=True)
        for summary, pair in zip(
            summaries, intervals(samples, confidence=confidence), strict=True
        )
    ]
    return pl.DataFrame(
        {
            "k": cutoffs,
            "value": [summary.value for summary in summaries],
            "low": [pair.low for pair in bounds],
            "high": [pair.high for pair in bounds],
        }
    )


def recall_at_precision(
    evaluation: Evaluation,
    min_precision: float,
    max_k: int | None,
    precision: str | Metric,
    recall: str | Metric,
) -> RecallAtPrecision:
    """Return the largest recall; see `Evaluation.recall_at_precision`."""
    check_number("min_precision", min_precision, least=0, most=1)
    check_k(max_k, "max_k")
    metrics = [_with_cutoff(precision), _with_cutoff(recall)]
    if max_k is None:
        _, table, _ = _joined(evaluation, metrics[0], [1])
        max_k = max(int(table.table.n_retrieved.max(initial=0)), 1)
    cutoffs = list(range(1, max_k + 1))
    precisions, recalls = (
        [summary.value for summary in _summaries(evaluation, metric, cutoffs)]
        for metric in metrics
    )
    points = zip(recalls, cutoffs, precisions, strict=True)
    enough = [point for point in points if point[0] > 0 and point[2] >= min_precision]
    largest, k, reached = max(enough, default=(0.0, max_k, precisions[-1]))
    return RecallAtPrecision(largest, reached, k)


def _with_cutoff(metric: str | Metric) -> Metric:
    wanted: object = parse(metric) if isinstance(metric, str) else metric
    if not isinstance(wanted, Metric):
        msg = f"a metric must be a name or a Metric, got {metric!r}"
        raise ParameterError(msg)
    if isinstance(wanted, ListMetric) or wanted.fact.at != "k":
        why = "is a metric of lists" if isinstance(wanted, ListMetric) else "has no k"
        msg = f"a curve needs a metric of judged items with a cutoff; {wanted} {why}"
        raise ParameterError(msg)
    return wanted


def _joined(
    evaluation: Evaluation, metric: Metric, cutoffs: list[int]
) -> tuple[Group, Aligned, Floats | None]:
    """Return the metric at its cutoffs, the table that it reads, and the weights."""
    planned = evaluation.plan
    asked = tuple(metric @ k for k in cutoffs)
    plan = plan_of(asked, planned.rule, None, None, planned.catalog)
    (group,) = plan.groups
    return group, *_table(evaluation, plan, max(cutoffs), metric)


def _summaries(
    evaluation: Evaluation, metric: Metric, cutoffs: list[int]
) -> list[Summary]:
    group, table, weights = _joined(evaluation, metric, cutoffs)
    return [
        summarize(bound, table.table, choice, table.ids, weights)
        for _, bound, choice in group.members
    ]


def _cutoffs(ks: Any) -> list[int]:
    if isinstance(ks, (str, bytes)) or not isinstance(ks, Iterable):
        msg = f"ks must be cutoffs, such as range(1, 101), got {ks!r}"
        raise ParameterError(msg)
    cutoffs = list(ks)
    for k in cutoffs:
        check_k(k)
        if k is None:
            msg = "a curve has no point without a cutoff; leave None out of ks"
            raise ParameterError(msg)
    if not cutoffs:
        msg = "ks is empty; give at least one cutoff"
        raise ParameterError(msg)
    return list(dict.fromkeys(int(k) for k in cutoffs))


def _table(
    evaluation: Evaluation, plan: Plan, deepest: int, metric: Metric
) -> tuple[Aligned, Floats | None]:
    """Return a table that was joined as the metric needs it, and the weights."""
    planned, (group,) = evaluation.plan, plan.groups
    groups = zip(planned.groups, evaluation.tables, strict=True)
    for known, table in groups:
        if known.lists or known.key != group.key or not isinstance(table, Aligned):
            continue
        if group.keep_scores and table.table.scores is None:
            continue
        if table.deepest is not None and table.deepest < deepest:
            msg = (
                f"judged items are known only down to rank {table.deepest}, which is "
                f"not enough for {metric @ deepest}; evaluate that too, without a "
                "smaller depth="
            )
            raise ParameterError(msg)
        label = planned.labels[known.members[0].number]
        return table, evaluation.summaries[label].weights
    if not any(isinstance(table, Aligned) for table in evaluation.tables):
        msg = f"{type(evaluation).__name__} no longer has the ranks of items"
        raise ParameterError(msg)
    msg = (
        f"no evaluated metric has the data that {metric} needs; evaluate {metric} with "
        "a cutoff, too"
    )
    raise ParameterError(msg)
