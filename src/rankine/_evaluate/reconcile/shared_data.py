"""Data that are read once and evaluated under any number of conventions."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar

from rankine._base.records import cached_property
from rankine._evaluate.evaluate import prepare
from rankine._evaluate.warnings import doubts_of
from rankine._io import opens_again, source_of
from rankine._io.itself import refuse_itself
from rankine._io.rows import held
from rankine._join.judgements import truth_of
from rankine._join.side_data import catalog_of, reference_of
from rankine.errors import RankineError

if TYPE_CHECKING:
    from collections.abc import Callable

    from rankine._conventions.convention import Convention
    from rankine._evaluate.options import Options
    from rankine._evaluate.result import Evaluation
    from rankine._io.sources import Source
    from rankine._join.judgements import Truth
    from rankine._metrics.metric import Metric

T = TypeVar("T")


class SharedData:
    """Judgements, a run and further data, read once for each way they are needed."""

    def __init__(self, qrels: Any, run: Any, options: Options) -> None:
        options.check()
        refuse_itself(qrels, run, options.reading("qrels"), options.reading("run"))
        if options.catalog is not None:
            options = replace(options, catalog=catalog_of(options.catalog))
        self._qrels, self._run, self._options = qrels, run, options
        self._held: dict[Any, Any] = {}
        self._caches: dict[bool, dict[Any, Any]] = {True: {}, False: {}}

    def read(self, metric: Metric) -> list[Source]:
        """Read judgements and the run, so that their errors are raised at once.

        Args:
            metric: the metric that they are read for.
        """
        truth = self._truth(subtopics="subtopics" in metric.needs)
        run = self._source(by_rank=False)
        return [run] if truth is None else [truth.source, run]

    def unit(self, metric: Metric) -> str:
        """Return what a query is called: query, or user."""
        truth = self._truth(subtopics="subtopics" in metric.needs)
        trained = self._options.train is not None
        return doubts_of(truth, self._source(by_rank=False), trained=trained).unit

    def evaluated(
        self, metric: Metric, rule: str | Convention, label: str
    ) -> Evaluation:
        """Evaluate the run as `evaluate` does, under a convention.

        Warnings have the metric under its label.
        """
        key = (metric, rule, label)
        return self._once(key, lambda: self._evaluated(metric, rule, label))

    @cached_property
    def ranked(self) -> bool:
        """Whether the run, or the reference, has a rank column."""
        sources = self._source(by_rank=True), self._reference(by_rank=True)
        return any(source is not None and source.ranked for source in sources)

    def _evaluated(
        self, metric: Metric, rule: str | Convention, label: str
    ) -> Evaluation:
        job = prepare((metric,), replace(self._options, convention=rule))
        job.plan = job.plan.under([label])
        job.check(judged=self._qrels is not None)
        truth = self._truth(subtopics=job.of_qrels.subtopics)
        by_rank = job.of_run.by_rank and self.ranked
        job.reference = self._reference(by_rank=by_rank)
        known = self._once("known", lambda: job.side_data)
        job.side_data = known.beside(job.reference)
        job.weights = self._once("weights", lambda: job.weights)
        source = self._source(by_rank=by_rank)
        return job.evaluate(truth, source, cache=self._caches[by_rank])

    def _truth(self, *, subtopics: bool) -> Truth | None:
        if self._qrels is None:
            return None
        how = self._options.reading("qrels", subtopics=subtopics)
        return self._once(("qrels", subtopics), lambda: truth_of(self._qrels, how))

    def _source(self, *, by_rank: bool) -> Source:
        by_rank = by_rank and opens_again(self._run)
        how = self._options.reading("run", by_rank=by_rank)
        return self._once(("run", by_rank), lambda: held(source_of(self._run, how)))

    def _reference(self, *, by_rank: bool) -> Source | None:
        data = self._options.reference
        if data is None:
            return None
        by_rank = by_rank and opens_again(data)
        how = self._options.reading("reference", by_rank=by_rank)
        return self._once(("reference", by_rank), lambda: reference_of(data, how, None))

    def _once(self, key: Any, make: Callable[[], T]) -> T:
        """Return the value made under a key, or raise the error that it raised."""
        if key not in self._held:
            try:
                self._held[key] = make()
            except RankineError as error:
                self._held[key] = error
        made: T | RankineError = self._held[key]
        if isinstance(made, RankineError):
            raise made
        return made
