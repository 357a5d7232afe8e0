"""Haystack: its evaluators of documents, compared by their ids.

It has no cutoff: a list is what the retriever returned.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

from haystack import Document
from haystack.components.evaluators import (
    DocumentMAPEvaluator,
    DocumentMRREvaluator,
    DocumentNDCGEvaluator,
    DocumentRecallEvaluator,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from oracle.cases import Case

CONVENTION = "haystack"
HOLDS_EMPTY = True
# It would report every empty list.
logging.getLogger("haystack").setLevel(logging.ERROR)


def accepts(_: Case) -> bool:
    """Every case is lists of documents."""
    return True


def _mean(
    make: Any, *, cut: bool = False, **options: Any
) -> Callable[[Case, int], float]:
    evaluator = make(document_comparison_field="id", **options)

    def value(case: Case, k: int) -> float:
        truth = [
            [Document(id=item, score=grade) for item, grade in own.items() if grade > 0]
            for own in case.qrels.values()
        ]
        found = [
            [
                Document(id=item)
                for item, _ in case.lists.get(query, [])[: k if cut else None]
            ]
            for query in case.qrels
        ]
        asked = {"ground_truth_documents": truth, "retrieved_documents": found}
        return float(evaluator.run(**asked)["score"])

    return value


METRICS = {
    "R": _mean(DocumentRecallEvaluator, mode="multi_hit"),
    "Success": _mean(DocumentRecallEvaluator, mode="single_hit"),
    "AP": _mean(DocumentMAPEvaluator),
    "nDCG": _mean(DocumentNDCGEvaluator),
    "nDCG@k": _mean(DocumentNDCGEvaluator, cut=True),
    "RR": _mean(DocumentMRREvaluator),
}
