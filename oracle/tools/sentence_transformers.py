"""sentence-transformers: the metrics of its evaluator, from lists without a model."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sentence_transformers.evaluation import InformationRetrievalEvaluator

if TYPE_CHECKING:
    from collections.abc import Callable

    from oracle.cases import Case

CONVENTION = "sentence_transformers"
HOLDS_EMPTY = True


def accepts(case: Case) -> bool:
    """It divides by the number of queries that have something to find."""
    return bool(case.liked)


def _mean(name: str) -> Callable[[Case, int], float]:
    def value(case: Case, k: int) -> float:
        truth: dict[str, set[str]] = {}
        for query, item, _ in case.liked:
            truth.setdefault(query, set()).add(item)
        evaluator = InformationRetrievalEvaluator(
            dict.fromkeys(case.qrels, "text"), {}, truth,
            mrr_at_k=[k], ndcg_at_k=[k], accuracy_at_k=[k],
            precision_recall_at_k=[k], map_at_k=[k],
        )  # fmt: skip
        found = evaluator.compute_metrics(
            [
                [{"corpus_id": i, "score": s} for i, s in case.lists.get(query, [])]
                for query in evaluator.queries_ids
            ]
        )
        return float(found[name][k])

    return value


METRICS = {
    "P@k": _mean("precision@k"),
    "R@k": _mean("recall@k"),
    "AP@k": _mean("map@k"),
    "nDCG@k": _mean("ndcg@k"),
    "RR@k": _mean("mrr@k"),
    "Success@k": _mean("accuracy@k"),
}
