"""Metrics beyond accuracy: of the lists themselves, their items and their users."""

from rankine.recommend._diversity import ILD, InterListDiversity, Unexpectedness
from rankine.recommend._exposure import (
    Coverage,
    Entropy,
    Gini,
    GiniSimpson,
    UserCoverage,
)
from rankine.recommend._fairness import AWRF, EE
from rankine.recommend._novelty import EFD, EPC, Novelty
from rankine.recommend._popularity import LongTail, Popularity
from rankine.recommend._profile import Calibration, Serendipity
from rankine.recommend._topics import ERR_IA, SubtopicRecall, alpha_nDCG
from rankine.recommend.listed import LISTED, ListMetric

__all__ = [
    "AWRF",
    "EE",
    "EFD",
    "EPC",
    "ERR_IA",
    "ILD",
    "LISTED",
    "Calibration",
    "Coverage",
    "Entropy",
    "Gini",
    "GiniSimpson",
    "InterListDiversity",
    "ListMetric",
    "LongTail",
    "Novelty",
    "Popularity",
    "Serendipity",
    "SubtopicRecall",
    "Unexpectedness",
    "UserCoverage",
    "alpha_nDCG",
]
