"""LensKit: the mean over the lists that have a value; test data are the relevant items.

The version here is the last for this Python. Its list_summary puts 0 where a list has
no value; later versions leave such lists out, and so does this adapter.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

from lenskit.data import ItemList, ItemListCollection
from lenskit.metrics import NDCG, Hit, Precision, Recall, RecipRank, RunAnalysis
from lenskit.metrics.ranking import AveragePrecision

if TYPE_CHECKING:
    from collections.abc import Callable

    from oracle.cases import Case

CONVENTION = "lenskit"
# It would report every list without test items.
logging.getLogger("lenskit").setLevel(logging.ERROR)


def accepts(case: Case) -> bool:
    """There must be a list to measure."""
    return bool(case.run)


def _mean(make: Any, *, cut: bool = True) -> Callable[[Case, int], float]:
    def value(case: Case, k: int) -> float:
        outputs = {
            query: ItemList(item_ids=[item for item, _ in shown], ordered=True)
            for query, shown in case.run.items()
        }
        liked: dict[str, list[str]] = {}
        for query, item, _ in case.liked:
            liked.setdefault(query, []).append(item)
        test = {query: ItemList(item_ids=items) for query, items in liked.items()}
        metric = make(k) if cut else make()
        found = RunAnalysis(metric).measure(
            ItemListCollection.from_dict(outputs, "user_id"),
            ItemListCollection.from_dict(test, "user_id"),
        )
        return float(found.list_metrics(fill_missing=False)[metric.label].mean())

    return value


METRICS = {
    "P@k": _mean(Precision),
    "R@k": _mean(Recall),
    "AP": _mean(AveragePrecision, cut=False),
    "AP@k": _mean(AveragePrecision),
    "nDCG": _mean(NDCG, cut=False),
    "nDCG@k": _mean(NDCG),
    "RR": _mean(RecipRank, cut=False),
    "RR@k": _mean(RecipRank),
    "Success@k": _mean(Hit),
}
