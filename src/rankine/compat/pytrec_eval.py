"""The interface of pytrec_eval-terrier, with rankine's numbers under its convention.

from rankine.compat import pytrec_eval

evaluator = pytrec_eval.RelevanceEvaluator(qrels, {"map", "ndcg_cut.10"})
evaluator.evaluate(run)
"""

from __future__ import annotations

from rankine import __version__ as _ours
from rankine._compat.pytrec_eval import (
    RelevanceEvaluator,
    compute_aggregated_measure,
    parse_qrel,
    parse_run,
    supported_measures,
    supported_nicknames,
)

__version__ = f"0.5.11+rankine.{_ours}"
"""The version whose interface this is, and ours."""

__all__ = [
    "RelevanceEvaluator", "compute_aggregated_measure", "parse_qrel", "parse_run",
    "supported_measures", "supported_nicknames",
]  # fmt: skip
