"""Evaluation where the data are: on Spark, with the same numbers as in memory.

import rankine.spark

ev = rankine.spark.evaluate(qrels, run, ["nDCG@10", "AP"])
ev.mean, ev.interval("nDCG@10"), ev.per_query, ev.notes
"""

from __future__ import annotations

from rankine.errors import MissingExtraError

try:
    from rankine._engines.comparing import compare
    from rankine._engines.events import accumulate, summarize
    from rankine._engines.rates import ctr
    from rankine._engines.shipped import ship
    from rankine._engines.spark import SparkEvaluation, evaluate
except ModuleNotFoundError as error:
    if error.name != "pyarrow":
        raise
    msg = "Spark needs pyarrow; install rankine-eval[spark]"
    raise MissingExtraError(msg) from None

__all__ = [
    "SparkEvaluation",
    "accumulate",
    "compare",
    "ctr",
    "evaluate",
    "ship",
    "summarize",
]
