"""Metrics for LlamaIndex's ``RetrieverEvaluator``.

RetrieverEvaluator(
    metrics=rankine.compat.llama_index.metrics("nDCG@5", "RR"), retriever=retriever
)
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from rankine._evaluate.evaluate import evaluate
from rankine._metrics.names import parse
from rankine.errors import MissingExtraError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rankine._metrics.metric import Metric

_QUERY = "query"


def metrics(*names: str | Metric, **options: Any) -> list[Any]:
    """Make metrics of LlamaIndex, each of a class of its own.

    A query with nothing expected or nothing retrieved has the score 0, where LlamaIndex
    raises an error. A node that is repeated counts where it is first, unless
    ``lenient=False`` refuses it; the metadata of a result say so.

    Args:
        names: the metrics.
        options: options of `rankine.evaluate`, such as ``collapse="#"`` for chunks.

    Returns:
        What ``RetrieverEvaluator(metrics=...)`` takes; ``METRIC_REGISTRY`` takes their
        types.
    """
    try:
        from llama_index.core.evaluation.retrieval.metrics_base import (  # noqa: PLC0415
            BaseRetrievalMetric,
            RetrievalMetricResult,
        )
    except ModuleNotFoundError:
        msg = "metrics for LlamaIndex need it; pip install llama-index-core"
        raise MissingExtraError(msg) from None

    def made(metric: Metric) -> Any:
        def compute(
            self: Any,  # noqa: ARG001 - a method
            query: str | None = None,  # noqa: ARG001 - what LlamaIndex calls it with
            expected_ids: Sequence[str] | None = None,
            retrieved_ids: Sequence[str] | None = None,
            *_: Any,  # texts
            **__: Any,
        ) -> Any:
            if not expected_ids or not retrieved_ids:
                return RetrievalMetricResult(score=0.0)
            truth, run = {_QUERY: {*expected_ids}}, {_QUERY: list(retrieved_ids)}
            found = evaluate(truth, run, metric, **{"lenient": True} | options)
            notes = {"notes": list(found.notes)}
            return RetrievalMetricResult(score=found[metric], metadata=notes)

        fields = {
            "__annotations__": {"metric_name": ClassVar[str]},
            "__module__": __name__,
            "metric_name": str(metric),
            "compute": compute,
        }
        return type(metric.name, (BaseRetrievalMetric,), fields)()

    return [made(parse(name) if isinstance(name, str) else name) for name in names]
