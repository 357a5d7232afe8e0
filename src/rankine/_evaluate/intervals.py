"""Intervals of many metrics and runs, drawn together."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rankine._evaluate.plan import rule_for
from rankine._stats.intervals import intervals

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rankine._evaluate.result import Evaluation


def draw_intervals(
    evaluations: Sequence[Evaluation],
    confidence: float = 0.95,
    method: str = "bootstrap",
    n_resamples: int = 2000,
    seed: int = 0,
) -> None:
    """Compute the intervals of all metrics of some evaluations.

    Queries are drawn once for all metrics with values for the same number of queries;
    no interval depends on which others are computed with it.
    """
    options = (confidence, method, n_resamples, seed)
    places = [
        (evaluation, label)
        for evaluation in evaluations
        for label in evaluation.summaries
    ]
    bounds = intervals(
        [evaluation.summaries[label].sample for evaluation, label in places],
        confidence=confidence,
        method=method,
        n_resamples=n_resamples,
        seed=seed,
    )
    for (evaluation, label), pair in zip(places, bounds, strict=True):
        known = evaluation.drawn.setdefault(options, {})
        summary = evaluation.summaries[label]
        decimals = rule_for(summary.metric, evaluation.convention).decimals
        known[label] = summary.inside(pair, decimals, cut=method == "bootstrap")
