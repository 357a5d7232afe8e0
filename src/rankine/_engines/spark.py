"""evaluate on Spark: one job for all metrics, which returns only small states."""

from __future__ import annotations

import math
import pickle
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import polars as pl

import rankine
from rankine._base.checks import check_count
from rankine._base.records import cached_property
from rankine._base.text import count, plural
from rankine._conventions.convention import BY_RANK
from rankine._engines.frames import Pair, quoted
from rankine._engines.jobs import collected, on_executors, refuse_stopped, run_table
from rankine._engines.refusals import found_in, refuse
from rankine._engines.requirements import (
    IN_MEMORY,
    check_metrics,
    check_order,
    places_of,
    plan_for_parts,
    top_of,
)
from rankine._engines.state import State
from rankine._engines.work import MOST, Work
from rankine._evaluate.engine import refuse_spread
from rankine._evaluate.evaluate import DEFAULT, prepare
from rankine._evaluate.notes import sentences
from rankine._evaluate.options import Options
from rankine._evaluate.result import Evaluation
from rankine._evaluate.trail import Stored
from rankine._evaluate.warnings import hardly_met
from rankine._join.side_data import NOTHING
from rankine._stats.intervals import Interval, Sample, check_interval, intervals
from rankine.errors import DataError, ParameterError, nearest

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from rankine._base.arrays import Floats
    from rankine._conventions.convention import Convention
    from rankine._evaluate.evaluate import Job
    from rankine._evaluate.part import Part
    from rankine._metrics.metric import Metric

_WORKER = "rankine._engines.worker"
_REFUSED = {
    "keep": f"items are not kept on Spark; {IN_MEMORY}",
    "weights": f"queries have no weights on Spark; {IN_MEMORY}",
    "engine": "rankine.spark.evaluate always runs on Spark; leave out engine=",
    "memory_limit": "Spark's own settings say how much memory executors have; leave "
    "out memory_limit=",
}
"""Options of `rankine.evaluate` that Spark does not have -> why not."""


def evaluate(
    qrels: Any,
    run: Any,
    metrics: str | Metric | Iterable[str | Metric] = DEFAULT,
    *,
    convention: str | Convention = "rankine",
    ties: str | None = None,
    rel: float | None = None,
    catalog: Any = None,
    items: Any = None,
    train: Any = None,
    reference: Any = None,
    columns: Mapping[str, Any] | None = None,
    grades: Mapping[Any, float] | None = None,
    depth: int | None = None,
    name: str | None = None,
    order: str | None = None,
    sequence: str | None = None,
    lower_is_better: bool = False,
    lenient: bool = False,
    partitions: int | None = None,
    **more: Any,
) -> SparkEvaluation:
    """Evaluate a run against judgements, both Spark DataFrames, classic or Connect.

    The numbers are those of `rankine.evaluate`, to the last bit, however the rows are
    partitioned. One job computes all metrics, and returns a few kilobytes for each
    partition, whatever the number of queries. If it read only the first rows of each
    list and found hardly any judged item there, a second job reads all rows, to see
    whether they are in the run.

    Args:
        qrels: the judgements, a row per query and item; None if no metric needs them.
        run: the retrieved items, a row per query and item.
        metrics: names or metrics.
        convention: whose choices the numbers follow.
        ties: as in `rankine.evaluate`.
        rel: the smallest relevant grade, instead of the convention's.
        catalog: number of items in the catalogue, or the items, for the metrics that
            need it.
        items: features or topics of items, as in `rankine.evaluate`. This, `train` and
            `reference` are for metrics of lists; they are in memory, not on Spark, and
            every executor gets all of them.
        train: the interactions that users had before.
        reference: the lists of another recommender.
        columns: which column is what; recognised by their names if not given.
        grades: what each grade in words is worth.
        depth: use only the first items of each list; the other rows are dropped before
            any are shuffled, and repeated items among them are not detected.
        name: what to call the run.
        order: what the ranking follows, instead of what the convention says.
        sequence: a column of the run whose numbers say in which order the rows were
            given, as frames have no order of their own. Conventions that depend on that
            order need such a column. Judgements may have it, too.
        lower_is_better: scores are distances, the smallest first.
        lenient: drop rows without an id and repeated items, rank scores that are nan
            last, and count them in the notes, instead of refusing them.
        partitions: how many parts the queries are split into; Spark chooses if not
            given.
        more: other options of `rankine.evaluate`, which are refused with the reason.

    Returns:
        The means, with notes, intervals, and a DataFrame of the values per query.

    Raises:
        UsageError: a metric or an option is not valid, or not possible on Spark.
        DataError: the data cannot be used.
    """
    for option in more:
        known = Options.__dataclass_fields__
        near = nearest(option, [name for name in known if name != option])
        why = f"evaluate has no option {option!r}{near}"
        raise ParameterError(_REFUSED.get(option, why))
    if partitions is not None:
        check_count("partitions", partitions, least=1)
    options = Options(
        convention=convention,
        ties=ties,
        rel=rel,
        catalog=catalog,
        items=items,
        train=train,
        reference=reference,
        columns=columns,
        grades=grades,
        depth=depth,
        name=name,
        order=order,
        lower_is_better=lower_is_better,
        lenient=lenient,
    )
    job = prepare(metrics, options)
    check_metrics(job, judged=qrels is not None)
    return evaluated(job, qrels, run, sequence=sequence, partitions=partitions)


def evaluated(
    job: Job,
    qrels: Any,
    run: Any,
    name: str | None = None,
    *,
    sequence: str | None = None,
    partitions: int | None = None,
) -> SparkEvaluation:
    """Evaluate a run for a job that `check_metrics` has looked at."""
    options = job.options
    depth, order = options.depth, options.order
    name = name or options.name or "run"
    pair = Pair.of(qrels, run, job, sequence)
    plan = job.plan
    check_order(plan, pair)
    for group in plan.groups if depth is not None else ():
        refuse_spread(group)
    if order in BY_RANK and not pair.run.schema.ranked:
        msg = f"run has no rank column, which order={order!r} needs"
        raise DataError(msg)
    work = Work(
        plan_for_parts(plan),
        depth,
        job.side_data.kept(plan.needs) if plan.of_lists else NOTHING,
        pair.run.scored,
        pair.run.schema.ranked,
        options.lenient,
        pair.judged,
        pair.texts,
        places_of(plan, pair),
    )
    sent = pickle.dumps((rankine.__version__, _pickled(work)))
    top = top_of(plan, pair, options)
    rows = pair.rows(partitions, top)
    state = _state_of(rows, sent)
    if top is not None and hardly_met(*state.seen.in_common):
        # Whether judged items are in the run at all, the first rows do not tell.
        top, rows = None, pair.rows(partitions, None)
        state = _state_of(rows, sent)
    refuse(state, job, pair, name)
    part: Any = state.part
    found = found_in(part, job, pair, state.grades, top)
    return SparkEvaluation(job, replace(part, findings=found), pair, sent, rows, name)


class SparkEvaluation(Evaluation):
    """The metrics of a run on Spark, read like any `Evaluation`.

    `mean`, `notes`, `warnings` and the t interval are at hand. `per_query` is a Spark
    DataFrame, which is computed when it is used.
    """

    def __init__(
        self, job: Job, part: Part, pair: Pair, sent: bytes, rows: Any, name: str
    ) -> None:
        plan, n = job.plan, max(queries.n for queries in part.queries)
        summaries = part.summaries(plan, job.side_data)
        super().__init__(plan, summaries, (Stored(range(n)),), name)
        _ = self.mean  # which a convention may refuse
        self.findings = part.findings
        self._sent, self._rows, self._pair = sent, rows, pair
        self._collected: dict[str, str] = {}

    @property
    def spread(self) -> str:
        """Where the interval below a number comes from."""
        return f"by Student's t over {plural(self.unit)}"

    @property
    def notes(self) -> tuple[str, ...]:
        """Sentences on dropped rows, undefined values, ties and collected data."""
        said = sentences(self.findings.notes(self.plan, self.summaries))
        return (*said, *self._collected.values())

    @property
    def per_query(self) -> Any:
        """The values as they entered the means, as a Spark DataFrame.

        It has a column query, then one per metric, and null where a query was left out.
        Nothing is computed until it is used.
        """
        session = self._pair.run.frame.sparkSession
        refuse_stopped(session, "the Spark session of this evaluation")
        kind = self._pair.qrels.kind("query")
        compared = "bigint" if self._pair.kinds["query"] == "ints" else "string"
        labels = self.plan.labels
        columns = (f"{quoted(label)} double" for label in labels)
        schema = ", ".join([f"query {compared}", *columns])
        frame = self._rows.mapInArrow(
            on_executors(_WORKER, "values", self._sent), schema
        )
        wanted = "bigint" if kind == "ints" else "string"
        query = frame["query"].cast(wanted).alias("query")
        return frame.select(query, *(frame[quoted(label)] for label in labels))

    @cached_property
    def collected(self) -> pl.DataFrame:
        """The same values in memory, in the order of the ids."""
        n = self.n_queries * len(self.plan.labels)
        if n > MOST:
            msg = (
                f"{n:,} values are too many to collect; per_query leaves them on Spark"
            )
            raise ParameterError(msg)
        table: Any = pl.from_arrow(run_table(self.per_query))
        said = f"{count(n, 'value')} ({8 * n:,} bytes) collected from Spark"
        self._collected["per_query"] = said
        frame: pl.DataFrame = table.sort("query")
        return frame

    @property
    def queries(self) -> list[Any]:
        """The ids of the queries, which are on Spark."""
        raise _not_here()

    def interval(
        self,
        metric: str | Metric,
        confidence: float = 0.95,
        method: str = "t",
        *,
        n_resamples: int = 2000,
        seed: int = 0,
    ) -> Interval:
        """Return a confidence interval of a metric over queries.

        Args:
            metric: one of the metrics that were evaluated.
            confidence: how often such an interval holds the true value.
            method: ``t``, from the sums that are at hand; or ``bootstrap``, which
                collects the values of the metric, 8 bytes per query, as a note says.
            n_resamples: how many times queries are drawn.
            seed: of the random numbers; the same seed gives the same interval.

        Returns:
            Low and high; nan with fewer than two queries, and for a number of all lists
            together.
        """
        label = self._label(metric)
        check_interval(confidence, method, n_resamples, seed)
        pooled: Any = self.summaries[label]
        if pooled.metric.fact.of_all:
            return Interval(math.nan, math.nan)
        if method == "t":
            return pooled.interval(confidence)  # type: ignore[no-any-return]
        if pooled.parts is not None:
            msg = (
                f"a bootstrap of {label} needs the numerators and denominators of all "
                "queries, which are not kept; use method='t'"
            )
            raise ParameterError(msg)
        how, values = pooled.metric.summary, self._column(label)
        sample = Sample(values, how, number=pooled.number)
        (bounds,) = intervals(
            [sample],
            confidence=confidence,
            method=method,
            n_resamples=n_resamples,
            seed=seed,
        )
        return pooled.rounded(bounds)  # type: ignore[no-any-return]

    @property
    def n_queries(self) -> int:
        """How many queries were evaluated."""
        return len(self.tables[0].ids)

    def _column(self, label: str) -> Floats:
        """Collect the values of one metric."""
        n = self.n_queries
        if n > MOST:
            msg = (
                f"{n:,} values are too many to collect; use method='t', which needs "
                "only sums"
            )
            raise ParameterError(msg)
        frame = self.per_query.select(quoted(label))
        column = run_table(frame).column(0)
        said = f"{count(n, 'value')} of {label} ({8 * n:,} bytes) collected from Spark"
        self._collected[label] = said
        numbers: Floats = column.to_numpy()
        return numbers

    def _refuse(self, *_: Any, **__: Any) -> Any:
        """Refuse, as the values per query are on Spark; `to_dict` has the rest."""
        raise _not_here()

    better_than = curve = recall_at_precision = worst = plot = report = _refuse
    save = to_json = to_frame = _refuse


def _not_here() -> ParameterError:
    msg = "the queries and their values are on Spark; per_query is a DataFrame of them"
    return ParameterError(msg)


def _state_of(rows: Any, sent: bytes) -> State:
    """Run the job that computes all metrics, and add up the states it returns."""
    total = State()
    for state in collected(rows, _WORKER, "states", sent):
        total += state
    return total


def _pickled(work: Work) -> bytes:
    """Return what is to be done, with functions of the user's, such as distances."""
    from pyspark import cloudpickle  # noqa: PLC0415 - an extra

    pickled: bytes = cloudpickle.dumps(work)
    return pickled
