"""recmetrics: lists of items per user, cut by the caller where there is no k."""

from __future__ import annotations

from typing import TYPE_CHECKING

import recmetrics

if TYPE_CHECKING:
    from collections.abc import Callable

    from oracle.cases import Case

CONVENTION = "recmetrics"
HOLDS_EMPTY = True
# Precision and recall of each user are rounded to four decimals.
TOLERANCE = dict.fromkeys(("P", "P@k", "R", "R@k"), 5.1e-5)
_ALL = 100  # a cutoff beyond all lists


def accepts(case: Case) -> bool:
    """Lists are matched by place, so each user needs both."""
    liked = {query for query, *_ in case.liked}
    return liked == case.qrels.keys() == case.lists.keys()


def _lists(case: Case) -> tuple[list[list[str]], list[list[str]]]:
    actual = [[i for q, i, _ in case.liked if q == query] for query in case.qrels]
    return actual, [[item for item, _ in case.lists[query]] for query in case.qrels]


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


def _whole(value: Callable[[Case, int], float]) -> Callable[[Case, int], float]:
    return lambda case, _: value(case, _ALL)


METRICS = {
    "P": _whole(_precision),
    "P@k": _precision,
    "R": _whole(_recall),
    "R@k": _recall,
    "AR": _whole(_average_recall),
    "AR@k": _average_recall,
}
