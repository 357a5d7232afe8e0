"""Jurity: clicks are the grades as they are, predictions the scores."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pandas as pd
from jurity.recommenders import BinaryRecoMetrics, RankingRecoMetrics
from jurity.utils import get_sorted_clicks

from oracle.cases import UnfitError

if TYPE_CHECKING:
    from collections.abc import Callable

    from oracle.cases import Case

CONVENTION = "jurity"

_COLUMNS = ["user_id", "item_id", "clicks"]


def accepts(case: Case) -> bool:
    """Both frames need rows."""
    return bool(case.run)


def _score(metric: Any, case: Case) -> float | None:
    # The cache looks at scores only: it would serve the list of an earlier case.
    get_sorted_clicks.cache_clear()
    actual = pd.DataFrame(case.judgements, columns=_COLUMNS)
    rows = [(query, item, score) for query, item, score, _ in case.rows]
    value: float | None = metric.get_score(actual, pd.DataFrame(rows, columns=_COLUMNS))
    return value


def _at_k(make: Any) -> Callable[[Case, int], float | None]:
    return lambda case, k: _score(make(click_column="clicks", k=k), case)


def _whole(make: Any) -> Callable[[Case, int], float | None]:
    return lambda case, _: _score(make(click_column="clicks"), case)


def _auc_at(case: Case, k: int) -> float | None:
    if not set(case.grades) <= {0, 1}:
        raise UnfitError
    return _score(BinaryRecoMetrics.AUC(click_column="clicks", k=k), case)


def _auc(case: Case, _: int) -> float | None:
    if not set(case.grades) <= {0, 1}:
        raise UnfitError
    return _score(BinaryRecoMetrics.AUC(click_column="clicks"), case)


METRICS = {
    "P@k": _at_k(RankingRecoMetrics.Precision),
    "R@k": _at_k(RankingRecoMetrics.Recall),
    "AP@k": _at_k(RankingRecoMetrics.MAP),
    "nDCG@k": _at_k(RankingRecoMetrics.NDCG),
    "P": _whole(RankingRecoMetrics.Precision),
    "R": _whole(RankingRecoMetrics.Recall),
    "nDCG": _whole(RankingRecoMetrics.NDCG),
    "AUC": _auc,
    "AUC@k": _auc_at,
}
