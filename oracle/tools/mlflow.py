"""MLflow: the metrics of a retriever, with a row for every judged query."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pandas as pd
from mlflow.metrics import ndcg_at_k, precision_at_k, recall_at_k

if TYPE_CHECKING:
    from collections.abc import Callable

    from oracle.cases import Case

CONVENTION = "mlflow"
HOLDS_EMPTY = True
TOLERANCE = 1e-6  # its gains are 32-bit floats


def accepts(_: Case) -> bool:
    """Every case is lists of ids."""
    return True


def _mean(make: Any) -> Callable[[Case, int], float]:
    def value(case: Case, k: int) -> float:
        targets = [
            [item for item, grade in own.items() if grade > 0]
            for own in case.qrels.values()
        ]
        lists = [
            [item for item, _ in case.lists.get(query, [])] for query in case.qrels
        ]
        found = make(k).eval_fn(pd.Series(lists), pd.Series(targets))
        return float(found.aggregate_results["mean"])

    return value


METRICS = {
    "P@k": _mean(precision_at_k),
    "R@k": _mean(recall_at_k),
    "nDCG@k": _mean(ndcg_at_k),
}
