"""BEIR: its evaluation of dicts, which calls pytrec_eval, and its own MRR and accuracy.

Both round to 5 decimals, so numbers next to a half may differ by one of them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from beir.retrieval.evaluation import EvaluateRetrieval

from oracle.cases import UnfitError

if TYPE_CHECKING:
    from collections.abc import Callable

    from oracle.cases import Case

CONVENTION = "beir"
HOLDS_EMPTY = True
TOLERANCE = 1.001e-5


def accepts(case: Case) -> bool:
    """Grades are ints, and a dict holds an item once."""
    return case.whole_grades and not case.has_duplicates


def judged(case: Case) -> dict[str, dict[str, int]]:
    """Return judgements as ints."""
    return {q: {i: int(g) for i, g in own.items()} for q, own in case.qrels.items()}


def _of_trec(place: int) -> Callable[[Case, int], float]:
    def value(case: Case, k: int) -> float:
        found = EvaluateRetrieval.evaluate(judged(case), case.scores, [k])
        (number,) = found[place].values()
        return float(number)

    return value


def _own(name: str) -> Callable[[Case, int], float]:
    def value(case: Case, k: int) -> float:
        if not case.lists.keys() <= case.qrels.keys():
            raise UnfitError  # a KeyError for a query without judgements
        found = EvaluateRetrieval.evaluate_custom(judged(case), case.scores, [k], name)
        (number,) = found.values()
        return float(number)

    return value


METRICS = {
    "nDCG@k": _of_trec(0),
    "AP@k": _of_trec(1),
    "R@k": _of_trec(2),
    "P@k": _of_trec(3),
    "RR@k": _own("mrr"),
    "Success@k": _own("accuracy"),
}
