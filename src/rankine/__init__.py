"""rankine: how good is a ranking or a recommender, and how certain is that?

    import rankine as rk

    ev = rk.evaluate(qrels, run, ["nDCG@10", "AP", "RR@10"])
    ev["nDCG@10"], ev.interval("nDCG@10"), ev.per_query, ev.notes

Names are loaded when they are first used, so that the import itself costs nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

from rankine._base import forks as _forks  # noqa: F401 - sees forks from the start

__version__ = "0.13.0"

_DOORS = ("compat", "errors", "online", "plot", "pytest_plugin", "spark", "stats")
"""Modules that users import from."""
_HOMES = {
    "_conventions": "Convention conventions",
    "_evaluate.batches.accumulator": "Accumulator",
    "_evaluate.batches.evaluations": "Accumulated",
    "_evaluate.check": "Check check",
    "_evaluate.compare.compare": "compare",
    "_evaluate.compare.compare_values": "compare_values",
    "_evaluate.compare.comparison": "Comparison",
    "_evaluate.compare.many": "MacroComparison compare_many",
    "_evaluate.curve": "RecallAtPrecision",
    "_evaluate.custom": "metric",
    "_evaluate.debias": "Debiased debias",
    "_evaluate.evaluate": "evaluate",
    "_evaluate.gate.gate": "FallenQuery Gate GateVerdict gate",
    "_evaluate.logs.ctr": "ctr",
    "_evaluate.logs.estimate": "Estimate Estimates",
    "_evaluate.many": "MacroEvaluation evaluate_many",
    "_evaluate.pools": "PoolStudy pool_study",
    "_evaluate.predictions.losses": "CalibrationError Loss",
    "_evaluate.predictions.predictions": (
        "brier cross_entropy expected_calibration_error "
        "explained_variance mae normalized_cross_entropy normalized_entropy r_squared "
        "rmse"
    ),
    "_evaluate.rankings.functions": (
        "RBO average_overlap fcp jaccard kendall_tau least_item_promoted ndpm overlap "
        "pearson rbo spearman"
    ),
    "_evaluate.reconcile.explanation": "Explanation",
    "_evaluate.reconcile.reconcile": "Reconciliation reconcile",
    "_evaluate.compare.moved_queries": "Moved MovedQuery",
    "_evaluate.compare.queries_needed": "QueriesNeeded queries_needed",
    "_evaluate.result": "Evaluation",
    "_evaluate.similarity": (
        "Similarity SimilarityMatrix similarity similarity_matrix"
    ),
    "_evaluate.worst": "MissedItem TopItem Worst WorstQuery",
    "_experiment.experiment": "load run_experiment",
    "_experiment.results": "ExperimentResult",
    "_fusion.fuse": "fuse",
    "_fusion.tune": "tune_fusion",
    "_fusion.tuned": "TunedFusion",
    "_io": "read_table",
    "_io.matrices": "from_ranked from_scores",
    "_metrics.lists": (
        "AP_IA AWRF Calibration Coverage EE EFD EPC ERR_IA Entropy Gini GiniSimpson "
        "ILD InterListDiversity Intersection LongTail NRBP Novelty P_IA Popularity "
        "Serendipity SubtopicRecall SufficientReco TopicDiversity TopicEntropy "
        "Unexpectedness UnrepeatedReco UserCoverage alpha_DCG alpha_nDCG nERR_IA "
        "nNRBP"
    ),
    "_metrics.metric": "Metric",
    "_metrics.names": "metrics parse",
    "_metrics.ranking": (
        "AP AR AUC Accuracy BPM Bpref CG Compat DCG ERR ElevenPoint F FCP FallOut G "
        "HitCount INSQ INST IPrec Judged LAUC MCC NCG NDPM NERR10 NERR11 NERR8 NERR9 "
        "NumNonrelJudgedRet NumQ NumRel NumRelRet NumRet P PAP PartialAUC R RBP "
        "RBPResidual RR RScore RelP Rndcg Rprec RprecMult SetAP SetF SetP SetR "
        "SetRelP Success Unjudged Utility binG gm_AP gm_Bpref infAP nDCG nDCGrel"
    ),
    "_metrics.similarity.weights": "rbo_p rbo_prefix_weight rbo_rank_weight",
    "_runs.several": "pool",
    "_runs.views": "Qrels Run read_qrels read_run",
    "_stats.intervals": "Interval",
    "_stats.risk": "Risk",
}
"""Where each public name lives; `make names` fills in the metrics."""
_HOME = {name: home for home, names in _HOMES.items() for name in names.split()}

__all__ = sorted(_HOME)  # noqa: PLE0605 - __init__.pyi spells it out


def __getattr__(name: str) -> Any:
    if name in _DOORS:
        return import_module(f"rankine.{name}")
    if name not in _HOME:
        msg = f"module 'rankine' has no attribute {name!r}"
        raise AttributeError(msg)
    value = getattr(import_module(f"rankine.{_HOME[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
