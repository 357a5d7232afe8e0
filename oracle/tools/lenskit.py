"""LensKit: the mean over the lists that have a value; test data are the relevant items.

Where a metric reads gains, test data are all judged items with their grades. The
version here is the last for this Python. Its list_summary puts 0 where a list has no
value; later versions leave such lists out, and so does this adapter.
"""

from __future__ import annotations

import logging
import math
from typing import TYPE_CHECKING, Any

from lenskit.data import ItemList, ItemListCollection
from lenskit.metrics import (
    DCG,
    NDCG,
    RBP,
    Hit,
    Precision,
    Recall,
    RecipRank,
    RunAnalysis,
)
from lenskit.metrics.ranking import AveragePrecision

if TYPE_CHECKING:
    from collections.abc import Callable

    from oracle.cases import Case

CONVENTION = "lenskit"
HOLDS_EMPTY = True
# It would report every list without test items.
logging.getLogger("lenskit").setLevel(logging.ERROR)


def accepts(case: Case) -> bool:
    """There must be a list to measure."""
    return bool(case.lists)


def _mean(
    make: Any, *, cut: bool = True, **options: Any
) -> Callable[[Case, int], float]:
    def value(case: Case, k: int) -> float:
        outputs = {
            query: ItemList(item_ids=[item for item, _ in shown], ordered=True)
            for query, shown in case.lists.items()
        }
        metric = make(k, **options) if cut else make(**options)
        found = RunAnalysis(metric).measure(
            ItemListCollection.from_dict(outputs, "user_id"),
            ItemListCollection.from_dict(_test(case, **options), "user_id"),
        )
        values = found.list_metrics(fill_missing=False)
        # Where no list has a value, there is no column.
        return float(values[metric.label].mean()) if len(values.columns) else math.nan

    return value


def _test(case: Case, gain: str | None = None, **_: Any) -> dict[str, ItemList]:
    if gain is not None:
        return {
            query: ItemList(item_ids=[*own], **{gain: [*own.values()]})
            for query, own in case.qrels.items()
        }
    liked: dict[str, list[str]] = {}
    for query, item, _grade in case.liked:
        liked.setdefault(query, []).append(item)
    return {query: ItemList(item_ids=items) for query, items in liked.items()}


METRICS = {
    "P": _mean(Precision, cut=False),
    "P@k": _mean(Precision),
    "R": _mean(Recall, cut=False),
    "R@k": _mean(Recall),
    "AP": _mean(AveragePrecision, cut=False),
    "AP@k": _mean(AveragePrecision),
    "nDCG": _mean(NDCG, cut=False),
    "nDCG@k": _mean(NDCG),
    "nDCG(gain='linear')": _mean(NDCG, cut=False, gain="rating"),
    "nDCG(gain='linear')@k": _mean(NDCG, gain="rating"),
    "DCG": _mean(DCG, cut=False),
    "DCG@k": _mean(DCG),
    "DCG(gain='linear')": _mean(DCG, cut=False, gain="rating"),
    "DCG(gain='linear')@k": _mean(DCG, gain="rating"),
    "RBP": _mean(RBP, cut=False),
    "RBP@k": _mean(RBP),
    "RBP(p=0.5)@k": _mean(RBP, patience=0.5),
    "RR": _mean(RecipRank, cut=False),
    "RR@k": _mean(RecipRank),
    "Success@k": _mean(Hit),
}
