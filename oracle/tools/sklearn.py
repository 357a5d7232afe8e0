"""scikit-learn: a row per judged query, a column per item listed or judged."""

from __future__ import annotations

import numpy as np
from sklearn.metrics import (
    dcg_score,
    label_ranking_average_precision_score,
    ndcg_score,
    roc_auc_score,
    top_k_accuracy_score,
)

from oracle.cases import Case, UnfitError

CONVENTION = "sklearn"
_CLASSES = 3

_Matrix = np.ndarray[tuple[int, ...], np.dtype[np.float64]]


def accepts(case: Case) -> bool:
    """Rows of a matrix have one length; negative grades are refused by nDCG."""
    return not case.has_duplicates and len(set(map(len, _rows(case)))) == 1


def _rows(case: Case) -> list[list[tuple[float, float]]]:
    """Return grade and score of all listed and judged items of each judged query.

    scikit-learn needs a score for every item: those not listed come last, tied.
    """
    last = min((score for _, _, score, _ in case.rows), default=0.0) - 1
    rows = []
    for query, own in case.qrels.items():
        shown = dict(case.run.get(query, []))
        scores = shown | {item: last for item in own if item not in shown}
        rows.append([(own.get(item, 0.0), score) for item, score in scores.items()])
    return rows


def _matrices(case: Case) -> tuple[_Matrix, _Matrix]:
    both = np.array(_rows(case))
    return both[:, :, 0], both[:, :, 1]


def _ndcg(case: Case, _: int) -> float:
    return float(ndcg_score(*_matrices(case)))


def _ndcg_at(case: Case, k: int) -> float:
    return float(ndcg_score(*_matrices(case), k=k))


def _dcg(case: Case, _: int) -> float:
    return float(dcg_score(*_matrices(case)))


def _dcg_at(case: Case, k: int) -> float:
    return float(dcg_score(*_matrices(case), k=k))


def _top_k(case: Case, k: int) -> float:
    """Return the accuracy where one item of each row is relevant and has a score.

    With two classes, it asks for the scores of one of them.
    """
    labels, scores = _labels(case)
    n_items = labels.shape[1]
    unseen = any(item not in dict(case.run.get(q, [])) for q, item, _ in case.liked)
    if n_items < _CLASSES or (labels.sum(axis=1) != 1).any() or unseen:
        raise UnfitError
    true = labels.argmax(axis=1)
    return float(top_k_accuracy_score(true, scores, k=k, labels=np.arange(n_items)))


def _labels(case: Case) -> tuple[_Matrix, _Matrix]:
    if min(case.grades) < 0 or not case.whole_grades:
        raise UnfitError
    grades, scores = _matrices(case)
    return (grades >= 1).astype(float), scores


def _lrap(case: Case, _: int) -> float:
    return float(label_ranking_average_precision_score(*_labels(case)))


def _auc(case: Case, _: int) -> float:
    labels, scores = _labels(case)
    return float(roc_auc_score(labels.ravel(), scores.ravel()))


METRICS = {
    "AP": _lrap,
    "DCG": _dcg,
    "DCG@k": _dcg_at,
    "nDCG": _ndcg,
    "nDCG@k": _ndcg_at,
    "AUC": _auc,
    "Success@k": _top_k,
}
