"""pool_study: what numbers would have been with shallower pools, or without a run."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import polars as pl

from rankine._base.checks import check_count
from rankine._base.forks import need_threads
from rankine._base.text import count
from rankine._evaluate.evaluate import DEFAULT, prepare
from rankine._evaluate.notes import said_once
from rankine._evaluate.options import options_of
from rankine._evaluate.rankings.functions import kendall_tau
from rankine._io.rows import as_rows
from rankine._join.by_position import paired
from rankine._join.judgements import Truth
from rankine._metrics.metric import Metric
from rankine._runs.several import first_pairs, runs_of
from rankine._runs.views import are_in, some_of
from rankine.errors import DataError, ParameterError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rankine._base.arrays import Bools
    from rankine._conventions.convention import Convention
    from rankine._evaluate.evaluate import Job
    from rankine._io.sources import Rows, Source

DEPTHS = (10, 20, 50, 100)


@dataclass(frozen=True, eq=False, repr=False)
class PoolStudy:
    """The numbers of runs with the judgements of shallower pools, and without each run.

    Attributes:
        runs: the names of the runs.
        metrics: the names of the metrics.
        depths: the depths of the pools, rising.
        table: a row per depth, run and metric: depth, run, metric, value, and unjudged,
            the share of items without a judgement down to the cutoff of the metric.
            Depth is null for the numbers with all judgements.
        rankings: a row per depth and metric: depth, metric, judged and relevant, how
            many judgements the pool leaves, and tau, Kendall's tau-b between the order
            of the runs with these judgements and with all of them.
        left_out: a row per run and metric: run, metric, value, without, its value
            without the judgements that it alone brought into the deepest pool, change,
            which is without - value, and judged and relevant, how many these are.
        notes: what to know about the judgements and the runs.

    >>> import rankine as rk
    >>> qrels = {"q": {"a": 1, "b": 1}}
    >>> runs = {"one": {"q": ["a", "x", "b"]}, "two": {"q": ["x", "a", "y"]}}
    >>> study = rk.pool_study(qrels, runs, "AP", depths=[1, 3])
    >>> study.left_out.select("run", "value", "without", "judged").rows()
    [('one', 0.8333, 1.0, 1), ('two', 0.25, 0.25, 0)]
    """

    runs: tuple[str, ...]
    metrics: tuple[str, ...]
    depths: tuple[int, ...]
    table: pl.DataFrame
    rankings: pl.DataFrame
    left_out: pl.DataFrame
    notes: tuple[str, ...]

    def plot(self, metric: str | None = None) -> Any:
        """Return a chart of Altair: a metric by the depth of the pool, a line per run.

        Of many runs, it draws the best by all judgements, as many as have a colour.

        Args:
            metric: one of the metrics; the first if not given.

        Raises:
            MissingExtraError: Altair is not installed.
            ParameterError: there is no such metric.
        """
        from rankine._report.pools import plot  # noqa: PLC0415

        return plot(self, metric)

    def to_dict(self) -> dict[str, Any]:
        """Return all of it as plain values, ready for JSON."""
        from rankine._report.pools import to_dict  # noqa: PLC0415

        return to_dict(self)

    def to_markdown(self) -> str:
        """Return the tables as Markdown."""
        from rankine._report.pools import to_markdown  # noqa: PLC0415

        return to_markdown(self)

    def __str__(self) -> str:
        """Return a table per metric, one of the runs left out, and the notes."""
        from rankine._report.pools import to_text  # noqa: PLC0415

        return to_text(self)

    def __repr__(self) -> str:
        """Return what was studied, in one line."""
        depths = ", ".join(map(str, self.depths))
        return (
            f"{type(self).__name__}({count(len(self.runs), 'run')}: "
            f"{', '.join(self.metrics)}; pools of depth {depths})"
        )

    def _repr_html_(self) -> str:
        from rankine._report.pools import to_html  # noqa: PLC0415

        return to_html(self)


def pool_study(
    qrels: Any,
    runs: Any,
    metrics: str | Metric | Iterable[str | Metric] = DEFAULT,
    *,
    depths: Iterable[int] = DEPTHS,
    convention: str | Convention = "rankine",
    **options: Any,
) -> PoolStudy:
    """Study how far numbers depend on which items were judged.

    The pool of depth d of a query has the first d items of every run. A shallower pool
    leaves the judgements of its items alone, and all queries. So the numbers show what
    evaluating with less judging would have said, of the runs and of their order (Zobel
    1998). Without a run, the judgements that it alone brought into the deepest pool are
    missing: what a run loses by this is an estimate of what the collection takes from a
    new system that did not contribute to the pool (Zobel 1998, Buckley et al. 2007).

    Args:
        qrels: the judgements, as in `evaluate`.
        runs: as in `compare`, best those whose items were judged.
        metrics: names or metrics.
        depths: how many first items of each list are in a pool.
        convention: whose choices the numbers follow.
        options: the other options of `evaluate`.

    Returns:
        The numbers by depth, the order of the runs, and each run left out.

    Raises:
        UsageError: a metric or an option is not valid.
        DataError: the data cannot be used.

    References:
        J. Zobel: How reliable are the results of large-scale information retrieval
        experiments? SIGIR 1998. https://doi.org/10.1145/290941.291014
        C. Buckley, D. Dimmick, I. Soboroff, E. Voorhees: Bias and the limits of pooling
        for large collections. Information Retrieval 2007.
        https://doi.org/10.1007/s10791-007-9032-x

    Of two relevant items, a pool of depth 1 has a alone: with it, AP is 1 for the first
    run, and 1 / 2 for the second.

    >>> import rankine as rk
    >>> qrels = {"q": {"a": 1, "b": 1}}
    >>> runs = {"one": {"q": ["a", "x", "b"]}, "two": {"q": ["x", "a", "y"]}}
    >>> study = rk.pool_study(qrels, runs, "AP", depths=[1, 3])
    >>> study.table.filter(depth=1).select("run", "value", "unjudged").rows()
    [('one', 1.0, 0.6667), ('two', 0.5, 0.6667)]
    """
    said = {"convention": convention, **options}
    job = prepare(metrics, options_of("pool_study", said))
    job.check()
    return _Study(job, _shares(job)).of(qrels, runs_of(runs), _checked(depths))


def _checked(depths: Iterable[int]) -> tuple[int, ...]:
    """Return depths, rising and each once."""
    given: object = depths
    if isinstance(given, str) or not isinstance(given, Iterable):
        msg = f"depths must be numbers of items, such as (10, 50), got {given!r}"
        raise ParameterError(msg)
    every = [*depths]
    for depth in every:
        check_count("depths", depth, least=1)
    if not every:
        msg = "depths is empty; give at least one number of items"
        raise ParameterError(msg)
    return tuple(sorted({int(depth) for depth in every}))


def _unjudged(metric: Metric) -> Metric:
    """Return the share of unjudged items down to the cutoff of a metric."""
    return Metric("Unjudged")(k=metric.depth)


def _shares(job: Job) -> Job:
    """Return a job for these shares, also where a convention removes such items."""
    shares = dict.fromkeys(map(_unjudged, job.plan.asked))
    rule = job.plan.rule.replace(unjudged="nonrel")
    return prepare([*shares], replace(job.options, convention=rule))


class _Evaluated(NamedTuple):
    """A run with some of the judgements.

    Attributes:
        numbers: by metric.
        unjudged: the shares of unjudged items, by the names of the metrics that look
            as deep.
        notes: what is noted of it.
    """

    numbers: dict[str, float]
    unjudged: dict[str, float]
    notes: tuple[str, ...]


@dataclass(frozen=True)
class _Study:
    """What is evaluated again and again, with fewer judgements.

    Attributes:
        job: evaluates the metrics that were asked for.
        shares: evaluates the shares of unjudged items.
    """

    job: Job
    shares: Job

    def of(
        self, qrels: Any, runs: Mapping[str, Any], depths: tuple[int, ...]
    ) -> PoolStudy:
        """Read the data and evaluate the runs with all judgements and with fewer."""
        if not runs:
            msg = "there is no run; give at least one"
            raise ParameterError(msg)
        need_threads()
        truth: Truth = self.job.truth(qrels, *runs.values())  # type: ignore[assignment]
        sources = {name: self.job.source(run) for name, run in runs.items()}
        full = self._evaluated(truth, sources)
        rows = as_rows(truth.source, "qrels")
        inside = {depth: self._in_pool(rows, sources, depth) for depth in depths}
        by_depth: dict[int | None, dict[str, _Evaluated]] = {}
        sizes: dict[int | None, tuple[int, int]] = {}
        for depth, by_run in inside.items():
            fewer = Truth(some_of(rows, np.any([*by_run.values()], axis=0)))
            by_depth[depth] = self._evaluated(fewer, sources, f"in pools of {depth}")
            sizes[depth] = self._sizes(fewer)
        by_depth[None], sizes[None] = full, self._sizes(truth)
        apart = sizes[None][0] - sizes[depths[-1]][0]
        notes = said_once({name: each.notes for name, each in full.items()})
        if apart:
            n = count(sizes[None][0], "judgement")
            notes.insert(
                0,
                f"{apart:,} of {n} are of items that no run has among its first "
                f"{depths[-1]}; they stay when a run is left out",
            )
        return PoolStudy(
            tuple(runs),
            self.job.plan.labels,
            depths,
            self._table(by_depth),
            self._rankings(by_depth, sizes),
            self._left_out(rows, sources, inside[depths[-1]], full),
            tuple(notes),
        )

    def _in_pool(
        self, rows: Rows, sources: Mapping[str, Source], depth: int
    ) -> dict[str, Bools]:
        """Mark, for each run, the judgements of the first items of its lists."""
        inside = {}
        for name, source in sources.items():
            own, run = paired(rows, source, (rows.name, name))
            pairs = first_pairs(run, depth, self.job.plan.rule)
            inside[name], _ = are_in(as_rows(own, "qrels"), pairs, name)
        return inside

    def _sizes(self, truth: Truth) -> tuple[int, int]:
        """Count judgements, and those of relevant items; negative grades are none."""
        grade = truth.pool.grade
        relevant = (grade >= 0) & (grade >= self.job.plan.rule.threshold)
        return int((grade >= 0).sum()), int(relevant.sum())

    def _evaluated(
        self, truth: Truth, sources: Mapping[str, Source], of: str = ""
    ) -> dict[str, _Evaluated]:
        """Evaluate runs, by their names; errors say of which judgements they are."""
        plan, evaluated = self.job.plan, {}
        for name, source in sources.items():
            joined: dict[Any, Any] = {}
            try:
                evaluation = self.job.evaluate(truth, source, name, joined)
                shares = self.shares.evaluate(truth, source, name, joined)
            except DataError as error:
                if not of:
                    raise
                msg = f"{name}, with the judgements {of}: {error}"
                raise type(error)(msg) from None
            unjudged = {
                label: shares[str(_unjudged(metric))]
                for label, metric in zip(plan.labels, plan.asked, strict=True)
            }
            numbers = dict(evaluation.mean)
            evaluated[name] = _Evaluated(numbers, unjudged, evaluation.notes)
        return evaluated

    def _table(
        self, by_depth: Mapping[int | None, Mapping[str, _Evaluated]]
    ) -> pl.DataFrame:
        return pl.DataFrame(
            [
                {
                    "depth": depth,
                    "run": name,
                    "metric": label,
                    "value": value,
                    "unjudged": each.unjudged[label],
                }
                for depth, evaluated in by_depth.items()
                for name, each in evaluated.items()
                for label, value in each.numbers.items()
            ],
            schema_overrides={"depth": pl.Int64},
        )

    def _rankings(
        self,
        by_depth: Mapping[int | None, Mapping[str, _Evaluated]],
        sizes: Mapping[int | None, tuple[int, int]],
    ) -> pl.DataFrame:
        return pl.DataFrame(
            [
                {
                    "depth": depth,
                    "metric": label,
                    "judged": sizes[depth][0],
                    "relevant": sizes[depth][1],
                    "tau": _tau(
                        [each.numbers[label] for each in evaluated.values()],
                        [each.numbers[label] for each in by_depth[None].values()],
                    ),
                }
                for depth, evaluated in by_depth.items()
                for label in self.job.plan.labels
            ],
            schema_overrides={"depth": pl.Int64},
        )

    def _left_out(
        self,
        rows: Rows,
        sources: Mapping[str, Source],
        inside: Mapping[str, Bools],
        full: Mapping[str, _Evaluated],
    ) -> pl.DataFrame:
        n_runs = np.sum([*inside.values()], axis=0)
        records = []
        for name, source in sources.items():
            alone = inside[name] & (n_runs == 1)
            judged, relevant = self._sizes(Truth(some_of(rows, alone)))
            fewer, of = Truth(some_of(rows, ~alone)), f"without those of {name} alone"
            without = self._evaluated(fewer, {name: source}, of)[name].numbers
            records += [
                {
                    "run": name,
                    "metric": label,
                    "value": value,
                    "without": without[label],
                    "change": without[label] - value,
                    "judged": judged,
                    "relevant": relevant,
                }
                for label, value in full[name].numbers.items()
            ]
        return pl.DataFrame(records)


def _tau(values: Sequence[float], full: Sequence[float]) -> float:
    """Return tau-b of the order of runs; of those with a number in both."""
    both = np.array([values, full])
    both = both[:, ~np.isnan(both).any(axis=0)]
    if both.shape[1] < 2:  # noqa: PLR2004 - no pair
        return math.nan
    return kendall_tau(both[0], both[1])
