"""scikit-learn: a row per query, a column per place in the list."""

from __future__ import annotations

import numpy as np
from sklearn.metrics import (
    label_ranking_average_precision_score,
    ndcg_score,
    roc_auc_score,
)

from oracle.cases import Case, UnfitError

CONVENTION = "sklearn"

_Matrix = np.ndarray[tuple[int, int], np.dtype[np.float64]]


def accepts(case: Case) -> bool:
    """A matrix has lists of one length, and all that it knows is in the lists."""
    listed = all(
        grade >= 0 or item in dict(case.run.get(query, []))
        for query, item, grade in case.judgements
    )
    one_length = len(set(map(len, case.run.values()))) == 1
    return listed and one_length and not case.has_duplicates


def _matrices(case: Case) -> tuple[_Matrix, _Matrix]:
    grades = [
        [case.qrels.get(query, {}).get(item, 0) for item, _ in shown]
        for query, shown in case.run.items()
    ]
    scores = [[score for _, score in shown] for shown in case.run.values()]
    return np.array(grades, dtype=float), np.array(scores)


def _ndcg(case: Case, _: int) -> float:
    return float(ndcg_score(*_matrices(case)))


def _ndcg_at(case: Case, k: int) -> float:
    return float(ndcg_score(*_matrices(case), k=k))


def _labels(case: Case) -> tuple[_Matrix, _Matrix]:
    if min(case.grades) < 0:
        raise UnfitError
    grades, scores = _matrices(case)
    return (grades >= 1).astype(float), scores


def _lrap(case: Case, _: int) -> float:
    return float(label_ranking_average_precision_score(*_labels(case)))


def _auc(case: Case, _: int) -> float:
    labels, scores = _labels(case)
    return float(roc_auc_score(labels.ravel(), scores.ravel()))


METRICS = {"AP": _lrap, "nDCG": _ndcg, "nDCG@k": _ndcg_at, "AUC": _auc}
