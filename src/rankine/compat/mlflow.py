"""Metrics of retrievers for ``mlflow.models.evaluate``.

mlflow.models.evaluate(
    model, data, targets="docs", model_type="retriever",
    extra_metrics=rankine.compat.mlflow.metrics("nDCG@5", "AP"),
)
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from rankine._evaluate.evaluate import evaluate
from rankine._metrics.names import parse
from rankine._metrics.safe_names import safe_name
from rankine.errors import MissingExtraError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from rankine._metrics.metric import Metric


def metrics(*names: str | Metric, **options: Any) -> list[Any]:
    """Make metrics of MLflow, whose predictions and targets are lists of ids.

    Args:
        names: the metrics; ``nDCG@5`` is called ``ndcg_at_5``, as MLflow refuses
            ``@``.
        options: options of `rankine.evaluate`, such as ``convention="mlflow"`` for
            MLflow's own choices, or ``collapse="#"`` for chunks.

    Returns:
        What ``extra_metrics=`` takes. Each has a score per row, and the mean with the
        ends of its 95 % interval, if there is one.
    """
    try:
        from mlflow.metrics import MetricValue, make_metric  # noqa: PLC0415
    except ModuleNotFoundError as error:
        msg = f"metrics for MLflow need {error.name}; pip install mlflow-skinny pandas"
        raise MissingExtraError(msg) from None

    def made(metric: Metric) -> Any:
        def eval_fn(predictions: Iterable[Any], targets: Iterable[Any]) -> Any:
            lists = dict(enumerate(map(list, predictions)))
            truth = dict(enumerate(map(list, targets)))
            if not any(truth.values()):  # as of a first row without targets
                return MetricValue([0.0] * len(lists), aggregate_results={"mean": 0.0})
            found = evaluate(truth, lists, metric, **options)
            value = {row[0]: row[1] for row in found.per_query.iter_rows()}
            ends = found.interval(metric)
            results = {
                "mean": found[metric], "interval_low": ends[0], "interval_high": ends[1]
            }  # fmt: skip
            return MetricValue(
                [value.get(place, math.nan) for place in lists],
                aggregate_results={
                    name: number
                    for name, number in results.items()
                    if math.isfinite(number)
                },
            )

        better = metric.higher_is_better is not False
        return make_metric(
            eval_fn=eval_fn, greater_is_better=better, name=safe_name(metric)
        )

    return [made(parse(name) if isinstance(name, str) else name) for name in names]
