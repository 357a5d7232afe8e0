"""Compare the metrics that a tool is said to have with those that it exports.

What the installed package exports must be in the list of the tool, where rankine has
it, or below with the reason why not; and what is in either must be exported. So a
metric that is new or gone in a tool does not go unnoticed. Metrics of single queries
must also be in the adapter of the tool, so that their numbers are compared.
"""

from __future__ import annotations

import argparse
import inspect
import re
import sys
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

sys.path.insert(0, str(Path(__file__).parent.parent))
import rankine as rk
from rankine._metrics.lists.kind import ListMetric

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from types import ModuleType

_LOSSES = "a loss of predictions, not a metric of rankings"
_LATER = "rankine has no such metric"
_SAME = "another name for a metric that is listed"
_HELP = "no metric, but what metrics are made of or called with"

# Tool -> reason -> exported names that are not in its list.
OTHERS: dict[str, dict[str, str]] = {
    "pytrec_eval": {"text about a run, no number": "runid relstring"},
    "ir_measures": {
        _LATER: "SDCG",
        _SAME: "MAP MAP_IA BPref NDCG Precision Recall RPrec MRR",
    },
    "ranx": {
        _SAME: "dcg_burges ndcg_burges",
        _HELP: "get_hit_lists",
    },
    "sklearn": {
        _LATER: "coverage_error label_ranking_loss",
        _SAME: "average_precision_score",
        _HELP: "auc confusion_matrix_at_thresholds det_curve metric_at_thresholds "
        "precision_recall_curve roc_curve",
    },
    "jurity": {"rankine.ctr, with a convention": "CTR"},
    "recommenders": {
        _LOSSES: "rmse mae rsquared exp_var logloss",
        _SAME: "user_diversity historical_item_novelty user_serendipity "
        "user_item_serendipity",
        _HELP: "merge_rating_true_pred merge_ranking_true_pred get_top_k_items",
    },
    "rectools": {
        _HELP: "calc_metrics PairwiseDistanceCalculator "
        "PairwiseHammingDistanceCalculator SparsePairwiseHammingDistanceCalculator",
        "rankine.debias": "DebiasConfig debias_interactions",
    },
    "cornac": {_LOSSES: "MAE MSE RMSE"},
    "surprise": {_LOSSES: "mae mse rmse"},
    "torchmetrics": {
        "Evaluation.curve": "RetrievalPrecisionRecallCurve",
        "Evaluation.recall_at_precision": "RetrievalRecallAtFixedPrecision",
    },
    "lenskit": {
        _LOSSES: "RMSE MAE",
        _LATER: "ListLength TestItemCount MeanPopRank ExposureGini least_item_promoted",
        "rankine.rbo, with a convention": "rank_biased_overlap",
        _SAME: "rank_biased_precision",
        _HELP: "Metric MetricFunction MeasurementCollector ListMetric GlobalMetric "
        "RankingMetricBase RunAnalysis RunAnalysisResult RankWeight "
        "GeometricRankWeight LogRankWeight quick_measure_model",
    },
    "replay": {
        _HELP: "CalculationDescriptor ConfidenceInterval Experiment Mean Median Metric "
        "OfflineMetrics PerUser",
    },
    "implicit": {
        _SAME: "ranking_metrics_at_k",
        _HELP: "leave_k_out_split train_test_split",
    },
    "llama_index": {"a judgement by a model of Cohere": "cohere_rerank_relevancy"},
    "recmetrics": {
        _LOSSES: "mse rmse make_confusion_matrix",
        "a random sample of prediction_coverage": "catalog_coverage",
    },
}
# Names in the lists that only other versions than the installed one have.
OTHER_VERSIONS = {
    "lenskit": {"UniqueItemCount", "ILS"},
    "recmetrics": {"mapk"},
}
# Metrics in the lists that no adapter compares.
NOT_COMPARED = {
    ("ir_measures", "RBP"): "its provider is not installed in a version that works",
    ("recmetrics", "AP"): "only a later version has it",
}


def _functions(module: ModuleType) -> set[str]:
    return {
        name
        for name, found in vars(module).items()
        if inspect.isroutine(found)
        and not name.startswith("_")
        and getattr(found, "__module__", "").startswith(module.__name__)
    }


def _kinds(module: ModuleType, *bases: type) -> set[str]:
    return {
        name
        for name, found in vars(module).items()
        if inspect.isclass(found)
        and issubclass(found, bases)
        and found not in bases
        and not name.startswith("_")
    }


def _ranx() -> set[str]:
    return set(import_module("ranx.metrics").__all__)


def _sklearn() -> set[str]:
    module = import_module("sklearn.metrics")
    functions = _functions(import_module("sklearn.metrics._ranking"))
    return set(module.__all__) & functions


def _jurity() -> set[str]:
    module = import_module("jurity.recommenders")
    groups = (
        module.BinaryRecoMetrics,
        module.RankingRecoMetrics,
        module.DiversityRecoMetrics,
    )
    return {
        name
        for group in groups
        for name, found in vars(group).items()
        if inspect.isclass(found)
    }


def _cornac() -> set[str]:
    module = import_module("cornac.metrics")
    return _kinds(module, module.RankingMetric, module.RatingMetric)


def _lenskit() -> set[str]:
    modules = map(import_module, ("lenskit.metrics", "lenskit.metrics.ranking"))
    return {name for module in modules for name in module.__all__}


EXPORTS: dict[str, Callable[[], Iterable[str]]] = {
    "pytrec_eval": lambda: import_module("pytrec_eval").supported_measures,
    # Some have a name with a Greek letter too.
    "ir_measures": lambda: filter(
        str.isascii, import_module("ir_measures.measures").registry
    ),
    "ranx": _ranx,
    "sklearn": _sklearn,
    "jurity": _jurity,
    "recommenders": lambda: _functions(
        import_module("recommenders.evaluation.python_evaluation")
    ),
    "rectools": lambda: import_module("rectools.metrics").__all__,
    "cornac": _cornac,
    "surprise": lambda: _functions(import_module("surprise.accuracy")),
    "torchmetrics": lambda: import_module("torchmetrics.retrieval").__all__,
    "lenskit": _lenskit,
    "replay": lambda: {
        name
        for name, found in vars(import_module("replay.metrics")).items()
        if inspect.isclass(found)
    },
    "implicit": lambda: _functions(import_module("implicit.evaluation")),
    "recmetrics": lambda: _functions(import_module("recmetrics.metrics")),
    "llama_index": lambda: (
        import_module("llama_index.core.evaluation.retrieval.metrics").METRIC_REGISTRY
    ),
}


def _said(tool: str) -> set[str]:
    """Return the names in the list of a tool, as the package spells them."""
    about = rk.conventions().about(tool)
    calls = [*(about.calls or {}).values(), *about.unlike.values()]
    names = {name for call in calls for name in call.split(", ")}
    if tool != "ranx":
        return names
    module = import_module("ranx.metrics")
    spelled = names - set(module.__all__)
    return names - spelled | {module.metric_switch(name).__name__ for name in spelled}


def stale(tool: str) -> list[str]:
    """Say what a list does not know, and what it should not have."""
    exported, said = set(EXPORTS[tool]()), _said(tool)
    others = {name for names in OTHERS[tool].values() for name in names.split()}
    found = [
        f"{tool} exports {name}, which is in no list"
        for name in sorted(exported - said - others)
    ]
    gone = (said | others) - exported - OTHER_VERSIONS.get(tool, set())
    return found + [f"{tool} does not export {name}" for name in sorted(gone)]


def not_compared(tool: str) -> list[str]:
    """Say which metrics of single queries are in a list and in no adapter."""
    listed = {
        name
        for name in rk.conventions().about(tool).calls or {}
        if not isinstance(rk.metrics()[name], ListMetric)
    }
    compared: set[str] = set()
    if (Path(__file__).parent / "tools" / f"{tool}.py").exists():
        adapter = import_module(f"oracle.tools.{tool}")
        labels = [re.sub("@k$", "@5", label) for label in adapter.METRICS]
        compared = {rk.parse(label).name for label in labels}
    excused = {metric for one, metric in NOT_COMPARED if one == tool}
    found = [
        f"{tool} has {name}, which its adapter does not compare"
        for name in sorted(listed - compared - excused)
    ]
    return found + [
        f"{tool}'s adapter compares {name}, which is not in its list"
        for name in sorted(compared - listed)
    ]


def main() -> int:
    """Look at the tools that are named."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("tools", nargs="+", choices=list(EXPORTS))
    found = [
        text
        for tool in parser.parse_args().tools
        for text in (*stale(tool), *not_compared(tool))
    ]
    print("\n".join(found) or "every list is as the tool exports it")
    return int(bool(found))


if __name__ == "__main__":
    sys.exit(main())
