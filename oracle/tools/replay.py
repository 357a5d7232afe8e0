"""RePlay: data frames of pandas; the ground truth has the relevant items.

Where a list is empty, the run and the ground truth are dicts of lists, which it takes
as well.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pandas as pd
from replay.metrics import MAP, MRR, NDCG, HitRate, Precision, Recall, RocAuc

if TYPE_CHECKING:
    from collections.abc import Callable

    from oracle.cases import Case

CONVENTION = "replay"
HOLDS_EMPTY = True


def accepts(case: Case) -> bool:
    """Both frames need rows; dicts leave the order of equal scores as it is."""
    return bool(case.run) and not (case.empty and case.has_ties)


def _mean(metric: Any) -> Callable[[Case, int], float]:
    def value(case: Case, k: int) -> float:
        shown: Any = case.lists
        liked: Any = {}
        for query, item, _ in case.liked:
            liked.setdefault(query, []).append(item)
        if not case.empty:
            rows = [(query, item, score) for query, item, score, _ in case.rows]
            judged = [(query, item) for query, item, _ in case.liked]
            shown = pd.DataFrame(rows, columns=["query_id", "item_id", "rating"])
            liked = pd.DataFrame(judged, columns=["query_id", "item_id"])
        found = metric(k)(shown, liked)
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
