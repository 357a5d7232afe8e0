"""Metrics of lists, their items and their users, a module per family."""

from __future__ import annotations

from rankine._metrics.lists._between import InterListDiversity
from rankine._metrics.lists._diversity import ILD, Unexpectedness
from rankine._metrics.lists._exposure import (
    Coverage,
    Entropy,
    Gini,
    GiniSimpson,
    UserCoverage,
)
from rankine._metrics.lists._fairness import AWRF, EE
from rankine._metrics.lists._intents import AP_IA, NRBP, P_IA, alpha_DCG, nERR_IA, nNRBP
from rankine._metrics.lists._novelty import EFD, EPC, Novelty
from rankine._metrics.lists._popularity import LongTail, Popularity
from rankine._metrics.lists._profile import Calibration, Serendipity
from rankine._metrics.lists._quality import SufficientReco, UnrepeatedReco
from rankine._metrics.lists._reference import Intersection
from rankine._metrics.lists._topics import ERR_IA, SubtopicRecall, alpha_nDCG
from rankine._metrics.lists._variety import TopicDiversity, TopicEntropy

__all__ = [
    "AP_IA",
    "AWRF",
    "EE",
    "EFD",
    "EPC",
    "ERR_IA",
    "ILD",
    "NRBP",
    "P_IA",
    "Calibration",
    "Coverage",
    "Entropy",
    "Gini",
    "GiniSimpson",
    "InterListDiversity",
    "Intersection",
    "LongTail",
    "Novelty",
    "Popularity",
    "Serendipity",
    "SubtopicRecall",
    "SufficientReco",
    "TopicDiversity",
    "TopicEntropy",
    "Unexpectedness",
    "UnrepeatedReco",
    "UserCoverage",
    "alpha_DCG",
    "alpha_nDCG",
    "nERR_IA",
    "nNRBP",
]
