"""Cornac: its metrics on fixed lists, averaged as its ranking evaluation does."""

from __future__ import annotations

from statistics import fmean
from typing import TYPE_CHECKING, Any

import numpy as np
from cornac.metrics import (
    AUC,
    MAP,
    MRR,
    NCRR,
    NDCG,
    FMeasure,
    HitRatio,
    Precision,
    Recall,
)

from oracle.cases import UnfitError

if TYPE_CHECKING:
    from collections.abc import Callable

    from oracle.cases import Case

CONVENTION = "cornac"


def accepts(case: Case) -> bool:
    """A model ranks an item once, for every user of the test set."""
    return case.qrels.keys() <= case.run.keys() and not case.has_duplicates


def _mean(
    make: Any, *, cut: bool = False, scored: bool = False, full: bool = False
) -> Callable[[Case, int], float]:
    def value(case: Case, k: int) -> float:
        metric = make(k=k) if cut else make()
        values = []
        for query, own in case.qrels.items():
            relevant = np.array([item for item, grade in own.items() if grade >= 1])
            if not len(relevant):
                continue  # as ranking_eval does
            # Ranked by score, as its models do.
            ranked = sorted(case.run[query], key=lambda pair: -pair[1])
            shown = np.array([item for item, _ in ranked])
            if scored and len(set(np.isin(shown, relevant))) == 1:
                raise UnfitError  # a model scores relevant and other items
            if full and len(shown) < min(k, len(relevant)):
                raise UnfitError  # a model ranks all items
            values.append(
                metric.compute(
                    gt_pos=relevant,
                    pd_rank=shown,
                    item_indices=shown,
                    pd_scores=np.array([score for _, score in ranked]),
                )
            )
        if not values:
            raise ZeroDivisionError  # as ranking_eval does
        return float(fmean(values))

    return value


METRICS = {
    "P": _mean(Precision),
    "R": _mean(Recall),
    "F": _mean(FMeasure),
    "Success": _mean(HitRatio),
    "P@k": _mean(Precision, cut=True),
    "R@k": _mean(Recall, cut=True),
    "F@k": _mean(FMeasure, cut=True),
    "AP": _mean(MAP, scored=True),
    "nDCG": _mean(NDCG),
    "nDCG@k": _mean(NDCG, cut=True),
    "nDCG(gain='binary',discount='reciprocal',rel=1)@k": _mean(
        NCRR, cut=True, full=True
    ),
    "RR": _mean(MRR),
    "Success@k": _mean(HitRatio, cut=True),
    "AUC": _mean(AUC, scored=True),
}
