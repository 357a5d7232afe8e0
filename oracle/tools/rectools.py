"""RecTools: interactions are the relevant items, ranks those of the order given."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pandas as pd
from rectools import Columns
from rectools.metrics import MAP, MRR, NDCG, F1Beta, HitRate, Precision, Recall

if TYPE_CHECKING:
    from collections.abc import Callable

    from oracle.cases import Case

CONVENTION = "rectools"


def accepts(case: Case) -> bool:
    """Both frames need rows."""
    return bool(case.run)


def _mean(metric: Any) -> Callable[[Case, int], float]:
    def value(case: Case, k: int) -> float:
        shown = [(query, item, rank) for query, item, _, rank in case.rows]
        reco = pd.DataFrame(shown, columns=[Columns.User, Columns.Item, Columns.Rank])
        judged = [(query, item) for query, item, _ in case.liked]
        interactions = pd.DataFrame(judged, columns=[Columns.User, Columns.Item])
        return float(metric(k=k).calc(reco, interactions))

    return value


METRICS = {
    "P@k": _mean(Precision),
    "R@k": _mean(Recall),
    "F@k": _mean(F1Beta),
    "AP@k": _mean(MAP),
    "nDCG@k": _mean(NDCG),
    "RR@k": _mean(MRR),
    "Success@k": _mean(HitRate),
}
