"""ranx: evaluate with Qrels and Run, as its guide does.

A run that misses judged queries is refused. One with further queries is refused too,
but with a message that says how to drop them, so that is done here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import ranx

if TYPE_CHECKING:
    from collections.abc import Callable

    from oracle.cases import Case

CONVENTION = "ranx"


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
}
