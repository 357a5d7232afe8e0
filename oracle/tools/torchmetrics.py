"""torchmetrics: the retrieval metrics on the rows of the run."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
from torchmetrics import retrieval

if TYPE_CHECKING:
    from collections.abc import Callable

    from oracle.cases import Case

CONVENTION = "torchmetrics"
HOLDS_EMPTY = True
"""An empty list is no row, so that its query is not there."""

torch.set_num_threads(1)


def accepts(case: Case) -> bool:
    """Targets are ints, and there must be some."""
    return bool(case.run) and case.whole_grades


def _mean(
    make: Any, *, graded: bool = False, cut: bool = False, **options: Any
) -> Callable[[Case, int], float]:
    def value(case: Case, k: int) -> float:
        queries = {query: place for place, query in enumerate(case.run)}
        grades = [
            case.qrels.get(query, {}).get(item, 0) for query, item, *_ in case.rows
        ]
        target = [int(grade) if graded else int(grade >= 1) for grade in grades]
        metric = make(top_k=k, **options) if cut else make(**options)
        return float(
            metric(
                torch.tensor([score for _, _, score, _ in case.rows]),
                torch.tensor(target),
                indexes=torch.tensor([queries[query] for query, *_ in case.rows]),
            )
        )

    return value


METRICS = {
    "P": _mean(retrieval.RetrievalPrecision),
    "P(divisor='list')@k": _mean(
        retrieval.RetrievalPrecision, cut=True, adaptive_k=True
    ),
    "R": _mean(retrieval.RetrievalRecall),
    "P@k": _mean(retrieval.RetrievalPrecision, cut=True),
    "R@k": _mean(retrieval.RetrievalRecall, cut=True),
    "AP": _mean(retrieval.RetrievalMAP),
    "AP@k": _mean(retrieval.RetrievalMAP, cut=True),
    "nDCG": _mean(retrieval.RetrievalNormalizedDCG, graded=True),
    "nDCG@k": _mean(retrieval.RetrievalNormalizedDCG, graded=True, cut=True),
    "RR": _mean(retrieval.RetrievalMRR),
    "RR@k": _mean(retrieval.RetrievalMRR, cut=True),
    "Success": _mean(retrieval.RetrievalHitRate),
    "Success@k": _mean(retrieval.RetrievalHitRate, cut=True),
    "FallOut": _mean(retrieval.RetrievalFallOut),
    "FallOut@k": _mean(retrieval.RetrievalFallOut, cut=True),
    "Rprec": _mean(retrieval.RetrievalRPrecision),
    "AUC": _mean(retrieval.RetrievalAUROC),
    "AUC@k": _mean(retrieval.RetrievalAUROC, cut=True),
}
# It computes in float32, and adds and subtracts many numbers for nDCG.
TOLERANCE = dict.fromkeys(METRICS, 2e-7) | {"nDCG": 5e-6, "nDCG@k": 5e-6}
