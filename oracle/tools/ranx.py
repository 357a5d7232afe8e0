"""ranx: evaluate with Qrels and Run, as its guide does.

A run that misses judged queries is refused. One with further queries is refused too,
but with a message that says how to drop them, so that is done here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import ranx
from ranx.metrics import interpolated_precision_at_recall

if TYPE_CHECKING:
    from collections.abc import Callable

    from oracle.cases import Case

CONVENTION = "ranx"
HOLDS_EMPTY = True


def accepts(case: Case) -> bool:
    """Grades are ints, and a dict holds an item once."""
    return case.whole_grades and not case.has_duplicates


def _mean(measure: str) -> Callable[[Case, int], float]:
    def value(case: Case, k: int) -> float:
        qrels = {
            query: {item: int(grade) for item, grade in own.items()}
            for query, own in case.qrels.items()
        }
        return float(
            ranx.evaluate(
                ranx.Qrels(qrels),
                ranx.Run(case.scores),
                measure.format(k=k),
                make_comparable=True,
            )
        )

    return value


def _interpolated(case: Case, _: int) -> float:
    """Return the precision at the recall 0.3, which only its plots use."""
    qrels = ranx.Qrels(
        {q: {i: int(g) for i, g in o.items()} for q, o in case.qrels.items()}
    )
    run = ranx.Run(case.scores).make_comparable(qrels)
    points = interpolated_precision_at_recall(
        qrels.to_typed_list(), run.to_typed_list()
    )
    return float(points[:, 3].mean())


METRICS = {
    "P@k": _mean("precision@{k}"),
    "R@k": _mean("recall@{k}"),
    "F@k": _mean("f1@{k}"),
    "AP": _mean("map"),
    "AP@k": _mean("map@{k}"),
    "nDCG": _mean("ndcg"),
    "nDCG@k": _mean("ndcg@{k}"),
    "RR": _mean("mrr"),
    "RR@k": _mean("mrr@{k}"),
    "Success@k": _mean("hit_rate@{k}"),
    "Rprec": _mean("r-precision"),
    "P": _mean("precision"),
    "R": _mean("recall"),
    "F": _mean("f1"),
    "Success": _mean("hit_rate"),
    "HitCount": _mean("hits"),
    "HitCount@k": _mean("hits@{k}"),
    "DCG": _mean("dcg"),
    "DCG@k": _mean("dcg@{k}"),
    "DCG(gain='exponential')@k": _mean("dcg_burges@{k}"),
    "nDCG(gain='exponential')@k": _mean("ndcg_burges@{k}"),
    "RBP(p=0.5)": _mean("rbp.5"),
    "RBP(p=0.85)": _mean("rbp.85"),
    "Bpref": _mean("bpref"),
    "IPrec@0.3": _interpolated,
    "P(rel=2)@k": _mean("precision@{k}-l2"),
    "nDCG(rel=2)@k": _mean("ndcg@{k}-l2"),
    "RBP(p=0.5,rel=2)": _mean("rbp.5-l2"),
}
