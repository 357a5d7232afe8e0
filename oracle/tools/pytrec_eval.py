"""pytrec_eval-terrier: the mean over the queries that it returns."""

from __future__ import annotations

from statistics import fmean
from typing import TYPE_CHECKING

import pytrec_eval

from oracle.cases import UnfitError

if TYPE_CHECKING:
    from collections.abc import Callable

    from oracle.cases import Case

CONVENTION = "pytrec_eval"


def accepts(case: Case) -> bool:
    """Grades are ints, and a dict holds an item once."""
    return case.whole_grades and not case.has_duplicates


def _mean(measure: str) -> Callable[[Case, int], float]:
    def value(case: Case, k: int) -> float:
        if measure == "ndcg" and case.all_negative:
            # The C code reads memory before its table of gains, and may never return.
            raise UnfitError
        name = measure.format(k=k)
        qrels = {
            query: {item: int(grade) for item, grade in own.items()}
            for query, own in case.qrels.items()
        }
        evaluator = pytrec_eval.RelevanceEvaluator(qrels, {name})
        found = evaluator.evaluate(case.scores)
        values = [own[name.replace(".", "_")] for own in found.values()]
        return fmean(values) if values else float("nan")

    return value


METRICS = {
    "P@k": _mean("P.{k}"),
    "R@k": _mean("recall.{k}"),
    "AP": _mean("map"),
    "AP@k": _mean("map_cut.{k}"),
    "nDCG": _mean("ndcg"),
    "nDCG@k": _mean("ndcg_cut.{k}"),
    "RR": _mean("recip_rank"),
    "Success@k": _mean("success.{k}"),
    "Rprec": _mean("Rprec"),
}
