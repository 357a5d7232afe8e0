"""Ragas: its metrics of ids, and the number that it makes of verdicts on contexts.

It averages over the samples that have a value.
"""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING, Any

import numpy as np
from ragas.dataset_schema import SingleTurnSample
from ragas.metrics import (
    IDBasedContextPrecision,
    IDBasedContextRecall,
    NonLLMContextPrecisionWithReference,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from oracle.cases import Case

CONVENTION = "ragas"
HOLDS_EMPTY = True
# It would report every empty list.
logging.getLogger("ragas").setLevel(logging.ERROR)


def accepts(_: Case) -> bool:
    """Every case is lists of ids."""
    return True


def _mean(of_sample: Callable[[Any], float]) -> Callable[[Case, int], float]:
    def value(case: Case, _: int) -> float:
        samples = [
            SingleTurnSample(
                retrieved_context_ids=[item for item, _ in case.lists.get(query, [])],
                reference_context_ids=[i for i, grade in own.items() if grade > 0],
            )
            for query, own in case.qrels.items()
        ]
        return float(np.nanmean([of_sample(sample) for sample in samples]))

    return value


def _of_ids(metric: Any) -> Callable[[Case, int], float]:
    return _mean(lambda sample: asyncio.run(metric.single_turn_ascore(sample)))


def _of_verdicts(sample: Any) -> float:
    truth = set(sample.reference_context_ids)
    verdicts = [int(item in truth) for item in sample.retrieved_context_ids]
    # Without what it compares texts with, which needs a further package.
    metric = object.__new__(NonLLMContextPrecisionWithReference)
    return float(metric._calculate_average_precision(verdicts))


METRICS = {
    "P": _of_ids(IDBasedContextPrecision()),
    "R": _of_ids(IDBasedContextRecall()),
    "AP": _mean(_of_verdicts),
}
