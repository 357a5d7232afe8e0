"""LlamaIndex: its retrieval metrics, averaged over the judged queries.

It has no cutoff: a list is what the retriever returned.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from llama_index.core.evaluation.retrieval.metrics import METRIC_REGISTRY

if TYPE_CHECKING:
    from collections.abc import Callable

    from oracle.cases import Case

CONVENTION = "llama_index"
HOLDS_EMPTY = True


def accepts(case: Case) -> bool:
    """It refuses a query with nothing to find, or with nothing found."""
    return {query for query, *_ in case.liked} == case.qrels.keys() <= case.run.keys()


def _mean(name: str, *, cut: bool = False) -> Callable[[Case, int], float]:
    metric: Any = METRIC_REGISTRY[name]()

    def value(case: Case, k: int) -> float:
        scores = [
            metric.compute(
                expected_ids=[item for item, grade in own.items() if grade > 0],
                retrieved_ids=[
                    item for item, _ in case.lists.get(query, [])[: k if cut else None]
                ],
            ).score
            for query, own in case.qrels.items()
        ]
        return float(sum(scores) / len(scores))

    return value


METRICS = {
    "P": _mean("precision"),
    "R": _mean("recall"),
    "AP": _mean("ap"),
    "nDCG": _mean("ndcg"),
    "nDCG@k": _mean("ndcg", cut=True),
    "RR": _mean("mrr"),
    "Success": _mean("hit_rate"),
}
