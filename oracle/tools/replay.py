"""RePlay: data frames of pandas; the ground truth has the relevant items."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pandas as pd
from replay.metrics import MAP, MRR, NDCG, HitRate, Precision, Recall, RocAuc

if TYPE_CHECKING:
    from collections.abc import Callable

    from oracle.cases import Case

CONVENTION = "replay"


def accepts(case: Case) -> bool:
    """Both frames need rows."""
    return bool(case.run)


def _mean(metric: Any) -> Callable[[Case, int], float]:
    def value(case: Case, k: int) -> float:
        shown = [(query, item, score) for query, item, score, _ in case.rows]
        judged = [(query, item) for query, item, _ in case.liked]
        found = metric(k)(
            pd.DataFrame(shown, columns=["query_id", "item_id", "rating"]),
            pd.DataFrame(judged, columns=["query_id", "item_id"]),
        )
        return float(found[f"{metric.__name__}@{k}"])

    return value


METRICS = {
    "P@k": _mean(Precision),
    "R@k": _mean(Recall),
    "AP@k": _mean(MAP),
    "nDCG@k": _mean(NDCG),
    "RR@k": _mean(MRR),
    "Success@k": _mean(HitRate),
    "AUC@k": _mean(RocAuc),
}
