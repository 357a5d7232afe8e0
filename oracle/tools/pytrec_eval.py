"""pytrec_eval-terrier: its own aggregate over the queries that it returns."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytrec_eval

from oracle.cases import UnfitError

if TYPE_CHECKING:
    from collections.abc import Callable

    from oracle.cases import Case

CONVENTION = "pytrec_eval"
HOLDS_EMPTY = True
_READS_BEFORE_ITS_TABLE = ("ndcg", "G", "Rndcg", "ndcg_rel")


def accepts(case: Case) -> bool:
    """Grades are ints, and a dict holds an item once."""
    return case.whole_grades and not case.has_duplicates


def _mean(measure: str) -> Callable[[Case, int], float]:
    def value(case: Case, k: int) -> float:
        if measure in _READS_BEFORE_ITS_TABLE and case.all_negative:
            # The C code reads memory before its table of gains, and may never return.
            raise UnfitError
        asked = measure.format(k=k)
        qrels = {
            query: {item: int(grade) for item, grade in own.items()}
            for query, own in case.qrels.items()
        }
        evaluator = pytrec_eval.RelevanceEvaluator(qrels, {asked})
        found = list(evaluator.evaluate(case.scores).values())
        if not found:
            return float("nan")
        (name,) = found[0]
        values = [own[name] for own in found]
        return float(pytrec_eval.compute_aggregated_measure(name, values))

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
    "RprecMult@0.6": _mean("Rprec_mult.0.6"),
    "RelP@k": _mean("relative_P.{k}"),
    "Bpref": _mean("bpref"),
    "gm_AP": _mean("gm_map"),
    "gm_Bpref": _mean("gm_bpref"),
    "infAP": _mean("infAP"),
    "IPrec@0.3": _mean("iprec_at_recall.0.3"),
    "11pt": _mean("11pt_avg"),
    "G": _mean("G"),
    "binG": _mean("binG"),
    "Rndcg": _mean("Rndcg"),
    "nDCGrel": _mean("ndcg_rel"),
    "SetP": _mean("set_P"),
    "SetR": _mean("set_recall"),
    "SetRelP": _mean("set_relative_P"),
    "SetAP": _mean("set_map"),
    "SetF": _mean("set_F"),
    "Utility": _mean("utility"),
    "NumQ": _mean("num_q"),
    "NumRet": _mean("num_ret"),
    "NumRel": _mean("num_rel"),
    "NumRelRet": _mean("num_rel_ret"),
    "NumNonrelJudgedRet": _mean("num_nonrel_judged_ret"),
}
