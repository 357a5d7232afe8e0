"""ir_measures: what calc_aggregate returns."""

from __future__ import annotations

from typing import TYPE_CHECKING

import ir_measures

from oracle.cases import UnfitError

if TYPE_CHECKING:
    from collections.abc import Callable

    from oracle.cases import Case

CONVENTION = "ir_measures"


def accepts(case: Case) -> bool:
    """Grades are ints, and a dict holds an item once."""
    return case.whole_grades and not case.has_duplicates


def _mean(measure: str) -> Callable[[Case, int], float]:
    def value(case: Case, k: int) -> float:
        if measure == "nDCG" and case.all_negative:
            # The C code reads memory before its table of gains, and may never return.
            raise UnfitError
        wanted = ir_measures.parse_measure(measure.format(k=k))
        qrels = {
            query: {item: int(grade) for item, grade in own.items()}
            for query, own in case.qrels.items()
        }
        found = ir_measures.calc_aggregate([wanted], qrels, case.scores)
        return float(found[wanted])

    return value


METRICS = {
    "P@k": _mean("P@{k}"),
    "R@k": _mean("R@{k}"),
    "AP": _mean("AP"),
    "AP@k": _mean("AP@{k}"),
    "nDCG": _mean("nDCG"),
    "nDCG@k": _mean("nDCG@{k}"),
    "RR": _mean("RR"),
    "RR@k": _mean("RR@{k}"),
    "Success@k": _mean("Success@{k}"),
    "Rprec": _mean("Rprec"),
}
