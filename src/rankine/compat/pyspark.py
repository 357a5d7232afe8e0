"""An ``Evaluator`` for ``CrossValidator`` of Spark ML.

CrossValidator(evaluator=rankine.compat.pyspark.evaluator("nDCG@10"), ...)
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rankine._metrics.names import parse
from rankine.errors import MissingExtraError

if TYPE_CHECKING:
    from rankine._metrics.metric import Metric


def evaluator(
    metric: str | Metric,
    *,
    query: str = "query",
    item: str = "item",
    label: str = "label",
    prediction: str = "prediction",
    **options: Any,
) -> Any:
    """Make an evaluator of rows with a label and a prediction for each item.

    Args:
        metric: the metric.
        query: the column of queries.
        item: the column of items.
        label: the column of grades.
        prediction: the column of scores.
        options: options of `rankine.spark.evaluate`.
    """
    try:
        from pyspark.ml.evaluation import Evaluator  # noqa: PLC0415

        from rankine import spark  # noqa: PLC0415
    except ModuleNotFoundError as error:
        msg = f"evaluators for Spark need {error.name}; install rankine-eval[spark]"
        raise MissingExtraError(msg) from None
    asked = parse(metric) if isinstance(metric, str) else metric

    class RankingEvaluator(Evaluator):  # type: ignore[misc]
        """Evaluates on Spark, with the numbers that rankine has in memory."""

        def _evaluate(self, dataset: Any) -> float:
            truth = dataset.selectExpr(
                f"`{query}` query", f"`{item}` item", f"`{label}` grade"
            )
            run = dataset.selectExpr(
                f"`{query}` query", f"`{item}` item", f"`{prediction}` score"
            )
            return spark.evaluate(truth, run, asked, **options)[asked]

        def isLargerBetter(self) -> bool:  # noqa: N802 - Spark's name
            return asked.higher_is_better is not False

    return RankingEvaluator()
