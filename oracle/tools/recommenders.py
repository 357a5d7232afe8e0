"""recommenders: its pandas functions; rating_true has the relevant items."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pandas as pd
from recommenders.evaluation import python_evaluation as functions

from oracle.cases import UnfitError

if TYPE_CHECKING:
    from collections.abc import Callable

    from oracle.cases import Case

CONVENTION = "recommenders"

_ALL = 100  # a cutoff beyond all lists and all judgements


def accepts(case: Case) -> bool:
    """Both frames need rows."""
    return bool(case.run and case.liked)


def _frames(
    case: Case, judgements: list[tuple[str, str, float]] | None = None
) -> tuple[Any, Any]:
    true = case.liked if judgements is None else judgements
    rows = [(query, item, score) for query, item, score, _ in case.rows]
    return (
        pd.DataFrame(true, columns=["userID", "itemID", "rating"]),
        pd.DataFrame(rows, columns=["userID", "itemID", "prediction"]),
    )


def _at_k(function: Any, **more: Any) -> Callable[[Case, int], float]:
    return lambda case, k: float(function(*_frames(case), k=k, **more))


def _whole(function: Any) -> Callable[[Case, int], float]:
    return lambda case, _: float(function(*_frames(case), k=_ALL))


def _auc(case: Case, _: int) -> float:
    if not set(case.grades) <= {0, 1}:
        raise UnfitError
    return float(functions.auc(*_frames(case, case.judgements)))


METRICS = {
    "P@k": _at_k(functions.precision_at_k),
    "R@k": _at_k(functions.recall_at_k),
    "AP": _whole(functions.map),
    "AP@k": _at_k(functions.map_at_k),
    "nDCG": _whole(functions.ndcg_at_k),
    "nDCG@k": _at_k(functions.ndcg_at_k),
    "nDCG(gain='linear')@k": _at_k(functions.ndcg_at_k, score_type="raw"),
    "nDCG(gain='exponential')@k": _at_k(functions.ndcg_at_k, score_type="exp"),
    "R": _whole(functions.recall_at_k),
    "Rprec": _whole(functions.r_precision_at_k),
    "Rprec@k": _at_k(functions.r_precision_at_k),
    "AUC": _auc,
}
