"""Against scikit-learn: DCG and nDCG with averaged ties, AUC, average precision."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING

import numpy as np
import pytest
from sklearn.metrics import (
    average_precision_score,
    dcg_score,
    ndcg_score,
    roc_auc_score,
)

import rankine as rk

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Matrix = NDArray[np.float64]

pytestmark = pytest.mark.slow

SIZES = [(20, 2), (20, 3), (20, 5), (15, 8), (8, 13), (2, 40)]
RTOL, ATOL = 1e-12, 1e-14


def data(
    seed: int, n_queries: int, n_items: int, *, levels: int | None, grades: int
) -> tuple[Matrix, Matrix]:
    """Make grades and scores; few levels make many ties, None makes none."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, grades + 1, (n_queries, n_items)).astype(np.float64)
    if levels is None:
        places = [rng.permutation(n_items) for _ in range(n_queries)]
        scores = np.array(places, dtype=np.float64) / 3
    else:
        scores = rng.integers(0, levels, (n_queries, n_items)).astype(np.float64)
    return truth, scores


def values(
    truth: Matrix, scores: Matrix, metric: rk.Metric, ties: str | None = None
) -> Matrix:
    """Return one value per query, nan where a query was left out."""
    result = rk.evaluate(
        rk.from_scores(truth), rk.from_scores(scores), [metric], ties=ties
    )
    found: Matrix = result.per_query[str(metric)].to_numpy().astype(np.float64)
    return found


@pytest.mark.parametrize(("n_queries", "n_items"), SIZES)
@pytest.mark.parametrize(("levels", "grades"), [(1, 4), (2, 4), (5, 4), (3, 1)])
def test_dcg_and_ndcg_with_averaged_ties(
    n_queries: int, n_items: int, levels: int, grades: int
) -> None:
    truth, scores = data(17, n_queries, n_items, levels=levels, grades=grades)
    for k in [*range(1, n_items + 1), None]:
        ours = values(truth, scores, rk.nDCG(k=k), ties="average")
        gains = values(truth, scores, rk.DCG(k=k), ties="average")
        rows = [(truth[[at]], scores[[at]]) for at in range(n_queries)]

        expected = [ndcg_score(*row, k=k) for row in rows]
        np.testing.assert_allclose(ours, expected, rtol=RTOL, atol=ATOL)
        expected = [dcg_score(*row, k=k) for row in rows]
        np.testing.assert_allclose(gains, expected, rtol=RTOL, atol=ATOL)


@pytest.mark.parametrize(("n_queries", "n_items"), SIZES)
@pytest.mark.parametrize("ignore_ties", [False, True])
@pytest.mark.parametrize("ties", [None, "average", "best", "worst"])
def test_dcg_and_ndcg_of_strict_scores_for_any_tie_rule(
    n_queries: int, n_items: int, *, ignore_ties: bool, ties: str | None
) -> None:
    truth, scores = data(23, n_queries, n_items, levels=None, grades=3)
    for k in [1, 2, n_items, None]:
        ours = values(truth, scores, rk.nDCG(k=k), ties=ties)
        gains = values(truth, scores, rk.DCG(k=k), ties=ties)
        rows = [(truth[[at]], scores[[at]]) for at in range(n_queries)]

        expected = [ndcg_score(*row, k=k, ignore_ties=ignore_ties) for row in rows]
        np.testing.assert_allclose(ours, expected, rtol=RTOL, atol=ATOL)
        expected = [dcg_score(*row, k=k, ignore_ties=ignore_ties) for row in rows]
        np.testing.assert_allclose(gains, expected, rtol=RTOL, atol=ATOL)


@pytest.mark.parametrize("base", [2, 3, 10])
def test_dcg_with_another_base(base: int) -> None:
    truth, scores = data(29, 50, 9, levels=4, grades=3)
    ours = values(truth, scores, rk.DCG(discount="log", base=base), ties="average")
    expected = [dcg_score(truth[[at]], scores[[at]], log_base=base) for at in range(50)]

    np.testing.assert_allclose(ours, expected, rtol=RTOL, atol=ATOL)


def test_the_mean_of_ndcg_is_sklearns() -> None:
    truth, scores = data(31, 300, 12, levels=5, grades=3)
    result = rk.evaluate(
        rk.from_scores(truth), rk.from_scores(scores), "nDCG@5", ties="average"
    )

    assert result["nDCG@5"] == pytest.approx(
        ndcg_score(truth, scores, k=5), rel=RTOL, abs=0
    )


def auc(truth: Matrix, scores: Matrix) -> float:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # nan for one class comes with a warning
        return float(roc_auc_score(truth, scores))


@pytest.mark.parametrize(("n_queries", "n_items"), SIZES)
@pytest.mark.parametrize("levels", [1, 2, 4, 10, None])
@pytest.mark.parametrize("universe", ["list", "matched"])
def test_auc_per_query(
    n_queries: int, n_items: int, levels: int | None, universe: str
) -> None:
    truth, scores = data(37, n_queries, n_items, levels=levels, grades=1)
    ours = values(truth, scores, rk.AUC(universe=universe))
    expected = [auc(*row) for row in zip(truth, scores, strict=True)]

    np.testing.assert_allclose(ours, expected, rtol=RTOL, atol=ATOL)


@pytest.mark.parametrize("levels", [1, 3, 50, None])
@pytest.mark.parametrize("universe", ["list", "matched"])
def test_auc_over_all_queries_together(levels: int | None, universe: str) -> None:
    truth, scores = data(41, 80, 12, levels=levels, grades=1)
    ours = values(truth, scores, rk.AUC(universe=universe, scope="pooled"))
    pooled = auc(truth.ravel(), scores.ravel())

    np.testing.assert_allclose(ours, np.full(80, pooled), rtol=RTOL, atol=ATOL)


@pytest.mark.parametrize(("n_queries", "n_items"), SIZES)
def test_average_precision_of_full_lists_without_ties(
    n_queries: int, n_items: int
) -> None:
    truth, scores = data(43, n_queries, n_items, levels=None, grades=1)
    truth[:, 0] = 1  # without a relevant item scikit-learn warns and gives 0
    ours = values(truth, scores, rk.AP(divisor="R"))
    expected = [
        average_precision_score(*row) for row in zip(truth, scores, strict=True)
    ]

    np.testing.assert_allclose(ours, expected, rtol=RTOL, atol=ATOL)


@pytest.mark.parametrize("k", [1, 2, 3])
def test_the_ideal_list_has_items_that_were_not_retrieved(k: int) -> None:
    # The best item is not in the list; scikit-learn must be given a score for it.
    qrels, run = {"q": {"a": 3, "b": 1, "c": 0}}, {"q": {"b": 2.0, "c": 1.0}}

    ours = rk.evaluate(qrels, run, rk.nDCG @ k, convention="sklearn")

    theirs = ndcg_score([[3, 1, 0]], [[0, 2, 1]], k=k)
    assert ours[rk.nDCG @ k] == pytest.approx(theirs, rel=1e-12)
    own = rk.evaluate(qrels, run, rk.nDCG(ideal="retrieved") @ k)
    assert own[rk.nDCG(ideal="retrieved") @ k] == 1
