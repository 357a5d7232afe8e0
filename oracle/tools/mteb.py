"""MTEB: the scores of a retrieval task, computed from dicts without a model."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mteb._evaluators.retrieval_metrics import calculate_retrieval_scores

from oracle.cases import UnfitError

if TYPE_CHECKING:
    from collections.abc import Callable

    from oracle.cases import Case

CONVENTION = "mteb"
HOLDS_EMPTY = True
TOLERANCE = 1.001e-5


def accepts(case: Case) -> bool:
    """Grades are ints, and a dict holds an item once."""
    return case.whole_grades and not case.has_duplicates


def _mean(name: str) -> Callable[[Case, int], float]:
    def value(case: Case, k: int) -> float:
        if not case.lists.keys() <= case.qrels.keys():
            raise UnfitError  # a KeyError for a query without judgements
        judged = {
            query: {item: int(grade) for item, grade in own.items()}
            for query, own in case.qrels.items()
        }
        found = calculate_retrieval_scores(case.scores, judged, [k])
        (number,) = getattr(found, name).values()
        return float(number)

    return value


METRICS = {
    "P@k": _mean("precision"),
    "R@k": _mean("recall"),
    "AP@k": _mean("map"),
    "nDCG@k": _mean("ndcg"),
    "RR@k": _mean("mrr"),
    "Success@k": _mean("hit_rate"),
}
