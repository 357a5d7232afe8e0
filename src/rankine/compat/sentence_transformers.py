"""Metrics for the ``InformationRetrievalEvaluator`` of sentence-transformers.

class Evaluator(
    rankine.compat.sentence_transformers.metrics("nDCG@10", "RBP"),
    InformationRetrievalEvaluator,
):
    pass
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rankine._evaluate.evaluate import evaluate
from rankine._metrics.names import parse

if TYPE_CHECKING:
    from rankine._metrics.metric import Metric


def metrics(*names: str | Metric, **options: Any) -> type:
    """Make a class that adds metrics to an evaluator, when it is its first base.

    The numbers are in what the evaluator returns, as ``cosine_rankine_ndcg@10``, and
    not in its CSV file. Judgements may have grades, as {query: {document: grade}}.

    Args:
        names: the metrics.
        options: options of `rankine.evaluate`, such as ``collapse="#"`` for chunks.
    """
    asked = [parse(name) if isinstance(name, str) else name for name in names]

    class Metrics:
        """Numbers of rankine beside those of the evaluator."""

        def compute_metrics(self, queries_result_list: list[Any]) -> dict[str, Any]:
            """Add ours to the dicts by cutoff that the evaluator makes."""
            found = super().compute_metrics(queries_result_list)  # type: ignore[misc]
            of: Any = self
            run = {
                query: {str(hit["corpus_id"]): float(hit["score"]) for hit in hits}
                for query, hits in zip(of.queries_ids, queries_result_list, strict=True)
            }
            truth = {query: of.relevant_docs[query] for query in run}
            ours = evaluate(truth, run, asked, **options)
            for metric in asked:
                name, at, cutoff = str(metric).lower().rpartition("@")
                key = f"rankine_{name}@k" if at else f"rankine_{cutoff}"
                found.setdefault(key, {})[cutoff if at else ""] = ours[metric]
            return found  # type: ignore[no-any-return]

    return Metrics
