"""ir_measures: what calc_aggregate returns, whichever of its providers computes it."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

import ir_measures

from oracle.cases import UnfitError

if TYPE_CHECKING:
    from collections.abc import Callable

    from oracle.cases import Case

# It warns of every case whose grades do not fill the scale.
logging.getLogger("ir_measures.cwl_eval").setLevel(logging.ERROR)
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
    "RBP(p=0.8)": _mean("RBP(p=0.8,rel=1)"),
    "BPM(max_grade=4)@k": _mean("BPM(max_rel=4)@{k}"),
    "BPM(T=2,max_grade=4)@k": _mean("BPM(T=2.,max_rel=4)@{k}"),
    "INSQ(max_grade=4)": _mean("INSQ(max_rel=4)"),
    "INSQ(T=3,max_grade=4)": _mean("INSQ(T=3.,max_rel=4)"),
    "INST(max_grade=4)": _mean("INST(max_rel=4)"),
    "INST(T=3,max_grade=4)": _mean("INST(T=3.,max_rel=4)"),
    "NERR8(max_grade=4)@k": _mean("NERR8(max_rel=4)@{k}"),
    "NERR9(max_grade=4)@k": _mean("NERR9(max_rel=4)@{k}"),
    "NERR10(max_grade=4)": _mean("NERR10(max_rel=4)"),
    "NERR11(max_grade=4)": _mean("NERR11(max_rel=4)"),
    "Compat": _mean("Compat"),
    "Compat(p=0.5,normalize=False)": _mean("Compat(p=0.5,normalize=False)"),
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
