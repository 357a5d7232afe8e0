"""RecTools: interactions are the relevant items, ranks the numbers of their column."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pandas as pd
from rectools import Columns
from rectools.metrics import (
    MAP,
    MCC,
    MRR,
    NDCG,
    PAP,
    Accuracy,
    F1Beta,
    HitRate,
    PartialAUC,
    Precision,
    Recall,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from oracle.cases import Case

CONVENTION = "rectools"
_CATALOG = range(50)  # more than the items and the largest cutoff together


def accepts(case: Case) -> bool:
    """Both frames need rows."""
    return bool(case.run)


def _mean(
    metric: Any, *, catalog: bool = False, **options: Any
) -> Callable[[Case, int], float]:
    def value(case: Case, k: int) -> float:
        shown = [(query, item, rank) for query, item, _, rank in case.rows]
        reco = pd.DataFrame(shown, columns=[Columns.User, Columns.Item, Columns.Rank])
        judged = [(query, item) for query, item, _ in case.liked]
        interactions = pd.DataFrame(judged, columns=[Columns.User, Columns.Item])
        more = (_CATALOG,) if catalog else ()
        return float(metric(k=k, **options).calc(reco, interactions, *more))

    return value


METRICS = {
    "P@k": _mean(Precision),
    "P(divisor='min_k_R')@k": _mean(Precision, r_precision=True),
    "R@k": _mean(Recall),
    "F@k": _mean(F1Beta),
    "F(beta=2)@k": _mean(F1Beta, beta=2),
    "AP@k": _mean(MAP),
    "AP(divisor='k')@k": _mean(MAP, divide_by_k=True),
    "nDCG@k": _mean(NDCG),
    "nDCG(ideal='judged@k')@k": _mean(NDCG, divide_by_achievable=True),
    "RR@k": _mean(MRR),
    "Success@k": _mean(HitRate),
    "Accuracy(catalog=50)@k": _mean(Accuracy, catalog=True),
    "MCC(catalog=50)@k": _mean(MCC, catalog=True),
    "PartialAUC@k": _mean(PartialAUC),
    "PartialAUC(short='undefined')@k": _mean(
        PartialAUC, insufficient_handling="exclude"
    ),
    "PAP@k": _mean(PAP),
    "PAP(short='undefined')@k": _mean(PAP, insufficient_handling="exclude"),
}
