"""ir_measures: what calc_aggregate returns, whichever of its providers computes it.

RBP is not here: its provider, cwl_eval, is not on the index in a version that works.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import ir_measures

from oracle.cases import UnfitError

if TYPE_CHECKING:
    from collections.abc import Callable

    from oracle.cases import Case

CONVENTION = "ir_measures"
HOLDS_EMPTY = True
# gdeval prints the value of each query with five decimals.
_GDEVAL = 5.1e-6
TOLERANCE = {"ERR@k": _GDEVAL, "nDCG(gain='exponential')@k": _GDEVAL}


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
    "nDCG(gain='exponential')@k": _mean("nDCG(dcg='exp-log2')@{k}"),
    "RR": _mean("RR"),
    "RR@k": _mean("RR@{k}"),
    "Success@k": _mean("Success@{k}"),
    "Rprec": _mean("Rprec"),
    "Bpref": _mean("Bpref"),
    "infAP": _mean("infAP"),
    "IPrec@0.3": _mean("IPrec@0.3"),
    "AUC": _mean("Accuracy"),
    "AUC@k": _mean("Accuracy@{k}"),
    "Judged": _mean("Judged"),
    "Judged@k": _mean("Judged@{k}"),
    "ERR@k": _mean("ERR@{k}"),
    "NumQ": _mean("NumQ"),
    "NumRet": _mean("NumRet"),
    "NumRel": _mean("NumRel"),
    "NumRelRet": _mean("NumRelRet"),
    "SetP": _mean("SetP"),
    "SetRelP": _mean("SetRelP"),
    "SetR": _mean("SetR"),
    "SetF": _mean("SetF"),
    "SetF(beta=2)": _mean("SetF(beta=2.)"),
    "SetAP": _mean("SetAP"),
}
