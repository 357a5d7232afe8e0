"""rankine: how good is a ranking or a recommender, and how sure is that.

    import rankine as rk

    ev = rk.evaluate(qrels, run, ["nDCG@10", "AP", "RR@10"])
    ev["nDCG@10"], ev.interval("nDCG@10"), ev.per_query, ev.notes

Names are loaded when they are first used, so that the import itself costs nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from rankine import forks as _forks  # noqa: F401 - sees forks from the start

# Bound at once: the first import of the package `rankine.conventions`, by anybody,
# would put the package where the function belongs.
from rankine.conventions import Convention, conventions

if TYPE_CHECKING:
    from rankine.accumulate.accumulator import Accumulator
    from rankine.accumulate.evaluations import Accumulated
    from rankine.alike.functions import (
        RBO,
        average_overlap,
        fcp,
        jaccard,
        kendall_tau,
        least_item_promoted,
        ndpm,
        overlap,
        pearson,
        rbo,
        spearman,
    )
    from rankine.alike.weights import rbo_p, rbo_prefix_weight, rbo_rank_weight
    from rankine.checkup import Check, check
    from rankine.evaluation import evaluate
    from rankine.io import read_qrels, read_run
    from rankine.io.mappings import from_ranked, from_scores
    from rankine.metric import Metric
    from rankine.names import metrics, parse
    from rankine.offpolicy.ctr import ctr
    from rankine.offpolicy.estimate import Estimate
    from rankine.pairwise import (
        Similarity,
        SimilarityMatrix,
        similarity,
        similarity_matrix,
    )
    from rankine.probability import (
        CalibrationError,
        Loss,
        brier,
        cross_entropy,
        expected_calibration_error,
        mae,
        normalized_cross_entropy,
        normalized_entropy,
        rmse,
    )
    from rankine.ranking import (
        AP,
        AR,
        AUC,
        CG,
        DCG,
        ERR,
        FCP,
        LAUC,
        MCC,
        NCG,
        NDPM,
        RBP,
        RR,
        Accuracy,
        Bpref,
        ElevenPoint,
        F,
        FallOut,
        G,
        HitCount,
        IPrec,
        NumNonrelJudgedRet,
        NumQ,
        NumRel,
        NumRelRet,
        NumRet,
        P,
        R,
        RBPResidual,
        RelP,
        Rndcg,
        Rprec,
        RprecMult,
        RScore,
        SetAP,
        SetF,
        SetP,
        SetR,
        SetRelP,
        Success,
        Unjudged,
        Utility,
        binG,
        gm_AP,
        gm_Bpref,
        infAP,
        nDCG,
        nDCGrel,
    )
    from rankine.ranking import Judged_ as Judged
    from rankine.recommend import (
        AWRF,
        EE,
        EFD,
        EPC,
        ERR_IA,
        ILD,
        Calibration,
        Coverage,
        Entropy,
        Gini,
        GiniSimpson,
        InterListDiversity,
        LongTail,
        Novelty,
        Popularity,
        Serendipity,
        SubtopicRecall,
        Unexpectedness,
        UserCoverage,
        alpha_nDCG,
    )
    from rankine.reconciliation import Explanation, Reconciliation, reconcile
    from rankine.report.loaded import load
    from rankine.result import Evaluation
    from rankine.stats.intervals import Interval
    from rankine.worst import MissedItem, TopItem, Worst, WorstQuery

__version__ = "0.3.0"

_LISTED = (
    "AWRF", "Calibration", "Coverage", "EE", "EFD", "EPC", "ERR_IA", "Entropy", "Gini",
    "GiniSimpson", "ILD", "InterListDiversity", "LongTail", "Novelty", "Popularity",
    "Serendipity", "SubtopicRecall", "Unexpectedness", "UserCoverage", "alpha_nDCG",
)  # fmt: skip
_HOME = {
    **dict.fromkeys(_LISTED, "rankine.recommend"),
    "Accumulated": "rankine.accumulate.evaluations",
    "Accumulator": "rankine.accumulate.accumulator",
    "Estimate": "rankine.offpolicy.estimate",
    "ctr": "rankine.offpolicy.ctr",
    "CalibrationError": "rankine.probability",
    "Loss": "rankine.probability",
    "brier": "rankine.probability",
    "cross_entropy": "rankine.probability",
    "expected_calibration_error": "rankine.probability",
    "mae": "rankine.probability",
    "normalized_cross_entropy": "rankine.probability",
    "normalized_entropy": "rankine.probability",
    "rmse": "rankine.probability",
    "Check": "rankine.checkup",
    "Evaluation": "rankine.result",
    "Explanation": "rankine.reconciliation",
    "Interval": "rankine.stats.intervals",
    "Metric": "rankine.metric",
    "MissedItem": "rankine.worst",
    "TopItem": "rankine.worst",
    "Worst": "rankine.worst",
    "WorstQuery": "rankine.worst",
    "RBO": "rankine.alike.functions",
    "Similarity": "rankine.pairwise",
    "SimilarityMatrix": "rankine.pairwise",
    "average_overlap": "rankine.alike.functions",
    "fcp": "rankine.alike.functions",
    "jaccard": "rankine.alike.functions",
    "kendall_tau": "rankine.alike.functions",
    "least_item_promoted": "rankine.alike.functions",
    "ndpm": "rankine.alike.functions",
    "overlap": "rankine.alike.functions",
    "pearson": "rankine.alike.functions",
    "rbo": "rankine.alike.functions",
    "rbo_p": "rankine.alike.weights",
    "rbo_prefix_weight": "rankine.alike.weights",
    "rbo_rank_weight": "rankine.alike.weights",
    "similarity": "rankine.pairwise",
    "similarity_matrix": "rankine.pairwise",
    "spearman": "rankine.alike.functions",
    "check": "rankine.checkup",
    "evaluate": "rankine.evaluation",
    "from_ranked": "rankine.io.mappings",
    "load": "rankine.report.loaded",
    "from_scores": "rankine.io.mappings",
    "metrics": "rankine.names",
    "parse": "rankine.names",
    "read_qrels": "rankine.io",
    "read_run": "rankine.io",
    "reconcile": "rankine.reconciliation",
    "Reconciliation": "rankine.reconciliation",
}

__all__ = [
    "AP",
    "AR",
    "AUC",
    "AWRF",
    "CG",
    "DCG",
    "EE",
    "EFD",
    "EPC",
    "ERR",
    "ERR_IA",
    "FCP",
    "ILD",
    "LAUC",
    "MCC",
    "NCG",
    "NDPM",
    "RBO",
    "RBP",
    "RR",
    "Accumulated",
    "Accumulator",
    "Accuracy",
    "Bpref",
    "Calibration",
    "CalibrationError",
    "Check",
    "Convention",
    "Coverage",
    "ElevenPoint",
    "Entropy",
    "Estimate",
    "Evaluation",
    "Explanation",
    "F",
    "FallOut",
    "G",
    "Gini",
    "GiniSimpson",
    "HitCount",
    "IPrec",
    "InterListDiversity",
    "Interval",
    "Judged",
    "LongTail",
    "Loss",
    "Metric",
    "MissedItem",
    "Novelty",
    "NumNonrelJudgedRet",
    "NumQ",
    "NumRel",
    "NumRelRet",
    "NumRet",
    "P",
    "Popularity",
    "R",
    "RBPResidual",
    "RScore",
    "Reconciliation",
    "RelP",
    "Rndcg",
    "Rprec",
    "RprecMult",
    "Serendipity",
    "SetAP",
    "SetF",
    "SetP",
    "SetR",
    "SetRelP",
    "Similarity",
    "SimilarityMatrix",
    "SubtopicRecall",
    "Success",
    "TopItem",
    "Unexpectedness",
    "Unjudged",
    "UserCoverage",
    "Utility",
    "Worst",
    "WorstQuery",
    "alpha_nDCG",
    "average_overlap",
    "binG",
    "brier",
    "check",
    "conventions",
    "cross_entropy",
    "ctr",
    "evaluate",
    "expected_calibration_error",
    "fcp",
    "from_ranked",
    "from_scores",
    "gm_AP",
    "gm_Bpref",
    "infAP",
    "jaccard",
    "kendall_tau",
    "least_item_promoted",
    "load",
    "mae",
    "metrics",
    "nDCG",
    "nDCGrel",
    "ndpm",
    "normalized_cross_entropy",
    "normalized_entropy",
    "overlap",
    "parse",
    "pearson",
    "rbo",
    "rbo_p",
    "rbo_prefix_weight",
    "rbo_rank_weight",
    "read_qrels",
    "read_run",
    "reconcile",
    "rmse",
    "similarity",
    "similarity_matrix",
    "spearman",
]  # fmt: skip


def __getattr__(name: str) -> Any:
    if name in _HOME:
        value = getattr(import_module(_HOME[name]), name)
    elif name in __all__:
        ranking = import_module("rankine.ranking")
        value = ranking.Judged_ if name == "Judged" else getattr(ranking, name)
    else:
        msg = f"module 'rankine' has no attribute {name!r}"
        raise AttributeError(msg)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])
