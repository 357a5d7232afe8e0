"""compare on Spark: values per query are computed there, and compared here."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from rankine._base.text import count
from rankine._engines.jobs import run_table
from rankine._engines.spark import SparkEvaluation, evaluate
from rankine._engines.work import MOST
from rankine._evaluate.compare.compare import (
    check_metric,
    check_systems,
    contested,
    margins_of,
    no_mean,
    unpaired,
)
from rankine._evaluate.compare.comparison import Comparison
from rankine._evaluate.compare.system_values import Column, SystemValues
from rankine._evaluate.evaluate import DEFAULT, prepare
from rankine._evaluate.notes import said_once
from rankine._evaluate.options import Options
from rankine._stats.paired import DRAWS
from rankine._stats.pairwise import Settings
from rankine.errors import ParameterError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from rankine._metrics.metric import Metric


def compare(
    qrels: Any,
    runs: Any,
    metrics: str | Metric | Iterable[str | Metric] = DEFAULT,
    *,
    baseline: str | None = None,
    test: str = "randomization",
    correction: str = "holm",
    family: str = "metric",
    confidence: float = 0.95,
    margin: float | Mapping[str, float] | None = None,
    by: Any = None,
    draws: int = DRAWS,
    seed: int = 0,
    intervals: str = "pair",
    **options: Any,
) -> Comparison:
    """Compare systems whose runs are Spark DataFrames.

    Each run is evaluated where it is. The values of all queries are then collected, 8
    bytes for each query, metric and run, as a note says; all tests work as in
    `rankine.compare` and give the same numbers. Items stay on Spark, so
    `Comparison.moved` shows only queries. The intervals of means are Student's.

    Args:
        qrels: the judgements.
        runs: name -> run.
        metrics: names or metrics, each with a value per query.
        baseline: as in `rankine.compare`.
        test: as in `rankine.compare`.
        correction: as in `rankine.compare`.
        family: as in `rankine.compare`.
        confidence: as in `rankine.compare`.
        margin: as in `rankine.compare`.
        by: as in `rankine.compare`, in memory rather than on Spark.
        draws: as in `rankine.compare`.
        seed: as in `rankine.compare`.
        intervals: as in `rankine.compare`.
        options: those of `rankine.spark.evaluate`.

    Returns:
        The comparison.

    Raises:
        UsageError: a metric or an option is not valid, or not possible on Spark.
        DataError: the data cannot be used, or two systems share no query.
    """
    settings = Settings(test, correction, family, confidence, draws, seed, intervals)
    settings.check()
    if not isinstance(runs, Mapping):
        msg = f"runs must be a mapping from name to run, got {type(runs).__name__}"
        raise ParameterError(msg)
    if "name" in options:
        msg = "name= is for one run; the keys of runs are their names"
        raise ParameterError(msg)
    check_systems(tuple(runs), baseline)
    known = options.keys() & Options.__dataclass_fields__.keys()
    plan = prepare(metrics, Options(**{key: options[key] for key in known})).plan
    for asked, bound in zip(plan.labels, plan.bound, strict=True):
        check_metric(asked, bound)
    margins = margins_of(margin, plan.labels)
    evaluations = {
        name: evaluate(qrels, run, metrics, name=name, **options)
        for name, run in runs.items()
    }
    compared, n_values = _collected(evaluations, confidence)
    notes = [*unpaired(compared), *contested(plan)]
    notes += said_once({name: run.notes for name, run in evaluations.items()})
    values = count(n_values, "value")
    notes.append(f"{values} ({8 * n_values:,} bytes) collected from Spark")
    return Comparison(
        compared,
        settings,
        baseline=baseline,
        margins=margins,
        notes=tuple(notes),
        by=by,
    )


def _collected(
    evaluations: Mapping[str, SparkEvaluation], confidence: float
) -> tuple[SystemValues, int]:
    """Collect the values of all queries; also return how many there are."""
    first = next(iter(evaluations.values()))
    labels = tuple(first.summaries)
    for evaluation in evaluations.values():
        for label, pooled in evaluation.summaries.items():
            if pooled.parts is not None:
                raise no_mean(label)
    n_values = len(labels) * sum(
        evaluation.n_queries for evaluation in evaluations.values()
    )
    if n_values > MOST:
        msg = (
            f"{n_values:,} values are too many to collect; compare fewer metrics or "
            f"runs at a time, or a sample of at most {MOST:,} values"
        )
        raise ParameterError(msg)
    tables = [run_table(run.per_query) for run in evaluations.values()]
    ids = [table.column("query").to_pylist() for table in tables]
    columns = {
        (metric, system): Column(ids[system], table.column(label).to_numpy())
        for system, table in enumerate(tables)
        for metric, label in enumerate(labels)
    }
    return SystemValues.of(evaluations, labels, columns, confidence), n_values
