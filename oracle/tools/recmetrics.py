"""recmetrics: lists of items per user, cut by the caller where there is no k."""

from __future__ import annotations

from typing import TYPE_CHECKING

import recmetrics

if TYPE_CHECKING:
    from oracle.cases import Case

CONVENTION = "recmetrics"
# Precision and recall of each user are rounded to four decimals.
TOLERANCE = {"P@k": 5.1e-5, "R@k": 5.1e-5}


def accepts(case: Case) -> bool:
    """Lists are matched by place, so each user needs both."""
    return {query for query, *_ in case.liked} == case.qrels.keys() == case.run.keys()


def _lists(case: Case) -> tuple[list[list[str]], list[list[str]]]:
    actual = [[i for q, i, _ in case.liked if q == query] for query in case.qrels]
    return actual, [[item for item, _ in case.run[query]] for query in case.qrels]


def _precision(case: Case, k: int) -> float:
    actual, predicted = _lists(case)
    return float(
        recmetrics.recommender_precision([shown[:k] for shown in predicted], actual)
    )


def _recall(case: Case, k: int) -> float:
    actual, predicted = _lists(case)
    return float(
        recmetrics.recommender_recall([shown[:k] for shown in predicted], actual)
    )


def _average_recall(case: Case, k: int) -> float:
    return float(recmetrics.mark(*_lists(case), k=k))


METRICS = {"P@k": _precision, "R@k": _recall, "AR@k": _average_recall}
