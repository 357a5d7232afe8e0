"""Evaluations of rankings and lists, batch by batch."""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass, field, fields, replace
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from rankine._base.checks import check_flag
from rankine._base.text import count
from rankine._evaluate.batches.seen import (
    Came,
    Shown,
    Told,
    came_in,
    moved,
    shown_in,
)
from rankine._evaluate.batches.totals import Total, check_options
from rankine._evaluate.custom import versions
from rankine._evaluate.engine import paired_with
from rankine._evaluate.evaluate import Job, prepare
from rankine._evaluate.notes import notes_of, warnings_of
from rankine._evaluate.options import Options
from rankine._evaluate.result import Evaluation
from rankine._evaluate.summary import of_all, summarize, together
from rankine._evaluate.warnings import Caution, Doubts, added
from rankine._io.mappings import as_rows
from rankine._io.sources import Stream, is_empty, no_judgements, no_rows
from rankine._join.judgements import Truth
from rankine._join.known import known_by
from rankine._metrics.lists.kind import ListMetric
from rankine._tables.joined import Listed
from rankine._tables.judged import Judged
from rankine.errors import DataError, ParameterError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rankine._base.arrays import Floats
    from rankine._conventions.convention import Convention
    from rankine._evaluate.notes import Seen
    from rankine._evaluate.plan import Group, Plan
    from rankine._evaluate.summary import Summary
    from rankine._metrics.metric import Metric
    from rankine._tables.tallies import Tallies

_OPTIONS = {option.name for option in fields(Options)} - {
    "keep",
    "files",
    "engine",
    "memory_limit",
}
_JUDGEMENTS = "qrels"
_RENUMBER = "renumber"
"""An option that only batches have."""
_SAMPLE = "sample"
"""The parameter by which a metric draws from all lists."""


class Accumulated(Evaluation):
    """The result of an `Accumulator`, read like any `Evaluation`.

    A mean over pairs of queries, such as InterListDiversity, has no values per query
    here, and no interval: they would need all lists.
    """


@dataclass(eq=False)
class _Queries:
    """The queries of a group of metrics.

    Attributes:
        ids: their ids.
        seen: the same as texts.
        shown: what their lists show.
        tables: their judged items, where a metric needs those of all queries at once.
    """

    ids: list[Any] = field(default_factory=list)
    seen: set[str] = field(default_factory=set)
    shown: Shown = field(default_factory=Shown)
    tables: list[Judged] = field(default_factory=list)

    def moved(self, by: int) -> _Queries:
        ids = [number + by for number in self.ids]
        return replace(self, ids=ids, seen=set(map(str, ids)))

    def add(self, other: _Queries) -> None:
        self.ids += other.ids
        self.seen |= other.seen
        self.shown.add(other.shown)
        self.tables += other.tables


@dataclass(eq=False)
class _Part:
    """What is kept of some batches.

    Attributes:
        came: who and what has come.
        queries: the queries of each group.
        summaries: the values of each metric, a summary per batch.
        seen: what was seen of judged queries.
        said: the notes made while batches were read and joined.
        cautions: warnings about numbers that may differ from those of a tool.
        doubts: what was seen of all data.
        catalogue: whose items are the catalogue, which all batches have in common.
        is_empty: whether no list has come.
        name: the name of the run.
    """

    came: Came
    queries: list[_Queries]
    summaries: list[list[Summary]]
    seen: Seen | None = None
    said: Told = field(default_factory=Told)
    cautions: tuple[Caution, ...] = ()
    doubts: Doubts = field(default_factory=Doubts)
    catalogue: tuple[str, ...] = ()
    is_empty: bool = True
    name: str | None = None

    def moved(self, by: int) -> _Part:
        """Return the same for queries with larger numbers."""
        seen = self.seen and self.seen.moved(by)
        queries = [group.moved(by) for group in self.queries]
        return replace(self, came=self.came.moved(by), queries=queries, seen=seen)


class Evaluations(Total[_Part]):
    """The queries that have come so far: their values, and what their lists show."""

    part: _Part

    def __init__(self, metrics: Any, options: dict[str, Any]) -> None:
        """Check the metrics and options, which are those of `evaluate`."""
        if "keep" in options:
            msg = (
                "keep= is for evaluate(), which has all lists at hand; an Accumulator "
                "does not keep them"
            )
            raise ParameterError(msg)
        check_options("evaluate", options, {*_OPTIONS, _RENUMBER})
        rest = {name: value for name, value in options.items() if name != _RENUMBER}
        self._renumbers = options.get(_RENUMBER, False)
        check_flag(_RENUMBER, self._renumbers)
        job = prepare(metrics, Options(**rest))
        job.check()
        self._plan = plan = job.plan
        self._versions = versions(plan.asked)
        self._job = job.in_parts(_open(plan))
        for metric, bound in zip(plan.asked, plan.bound, strict=True):
            _refuse(metric, bound, self._job)
        self.part = self.nothing()

    def nothing(self) -> _Part:
        """Return what is kept before a batch has come."""
        queries = [_Queries() for _ in self._plan.groups]
        return _Part(Came(), queries, [[] for _ in self._plan.asked])

    def read(self, *batch: Any) -> _Part:
        """Evaluate judgements and a run, or a run alone."""
        qrels, run = batch if len(batch) > 1 else (None, *batch)
        if versions(self._plan.asked) != self._versions:
            msg = "a metric was redefined after this Accumulator was made"
            raise ParameterError(msg)
        self._job.check(judged=qrels is not None)
        truth, source = self._job.truth(qrels, run), self._job.source(run)
        if isinstance(source, Stream):
            source = as_rows(source, "run")  # to see also who has come in it
        if self._renumbers:
            n_before = self.part.came.n_places
            source = moved(source, n_before)
            truth = None if truth is None else Truth(moved(truth.source, n_before))
        elif truth is not None:
            truth, source = paired_with(truth, source)
        came = came_in(truth, source, items=self._n_items is not None)
        self.part.came.check(came, self._n_items)  # before anything is computed
        result = self._job.evaluate(truth, source)
        queries = []
        tables: Sequence[Any] = result._tables  # noqa: SLF001 - of our own making
        for group, table in zip(self._plan.groups, tables, strict=True):
            of_group = _Queries(list(table.ids), set(map(str, table.ids)))
            if not group.lists and any(metric.across for _, metric, _ in group.members):
                of_group.tables.append(replace(table.table, memo={}))
            if isinstance(table, Listed):
                of_group.shown = shown_in(group, table, judged=qrels is not None)
            queries.append(of_group)
        return _Part(
            came,
            queries,
            [
                # Its values are kept, its data are not.
                [replace(summary, table=None, known_empty=summary.empty)]
                for summary in result.summaries.values()
            ],
            result._seen,  # noqa: SLF001
            Told.of(tables),
            result._cautions,  # noqa: SLF001
            result._doubted,  # noqa: SLF001
            result._catalogue,  # noqa: SLF001
            is_empty(source),
            result.name,
        )

    def merge(self, other: Self, *, repeats: str = "error") -> None:
        """Add what another one has, with its queries numbered on if that was asked."""
        if repeats == "first" and other.said == self.said:
            fewer = copy(other)
            fewer.part = self._without_repeats(other.part)
            other = fewer
        n_before = self.part.came.n_places
        if not (self._renumbers and n_before and other.part.came.n_places):
            super().merge(other)
            return
        known = self._job.known
        by_query = {
            "weights": self._job.weights,
            "train": known.train,
            "reference": known.reference,
        }
        given = [name for name, data in by_query.items() if data is not None]
        if given:
            msg = (
                f"cannot merge with renumber=True: {given[0]}= was already looked up "
                "by the old numbers; give query ids, as in from_scores(x, queries=ids)"
            )
            raise ParameterError(msg)
        shifted = copy(other)
        shifted.part = other.part.moved(n_before)
        super().merge(shifted)

    def _without_repeats(self, part: _Part) -> _Part:
        """Return a part without the queries that have come before."""
        if self.part.came.n_places and part.came.n_places:
            msg = (
                "repeats='first' needs query ids, since without them equal numbers are "
                "different queries; give ids, as in from_scores(x, queries=ids)"
            )
            raise ParameterError(msg)
        groups, summaries = [], list(part.summaries)
        of_groups = zip(self._plan.groups, self.part.queries, part.queries, strict=True)
        for group, ours, theirs in of_groups:
            kept = np.array([str(query) not in ours.seen for query in theirs.ids], bool)
            if kept.all():
                groups.append(theirs)
                continue
            ids = [query for query, new in zip(theirs.ids, kept, strict=True) if new]
            groups.append(replace(theirs, ids=ids, seen=set(map(str, ids))))
            for number, metric, _ in group.members:
                each = summaries[number]
                if metric.across or metric.fact.of_all:
                    msg = (
                        f"repeats='first' cannot leave a query out of {metric}, which "
                        "is computed from all queries together; merge accumulators "
                        "without repeats"
                    )
                    raise ParameterError(msg)
                ends = np.cumsum([len(summary.values) for summary in each])[:-1]
                parts = zip(each, np.split(kept, ends), strict=True)
                summaries[number] = [summary.take(which) for summary, which in parts]
        return replace(part, queries=groups, summaries=summaries)

    def add(self, part: _Part) -> None:
        """Add what is kept of other queries."""
        ours = self.part
        ours.came.check(part.came, self._n_items)
        by_place = ours.came.n_places > 0 and part.came.n_places > 0
        for queries, more in zip(ours.queries, part.queries, strict=True):
            _refuse_again(queries.seen, more, by_place=by_place)
        ours.came.add(part.came)
        for queries, more in zip(ours.queries, part.queries, strict=True):
            queries.add(more)
        for summaries, further in zip(ours.summaries, part.summaries, strict=True):
            summaries.extend(further)
        if part.seen is not None:
            ours.seen = part.seen if ours.seen is None else ours.seen + part.seen
        ours.said.add(part.said)
        ours.cautions = added((*ours.cautions, *part.cautions))
        ours.doubts += part.doubts
        ours.catalogue = ours.catalogue or part.catalogue
        ours.is_empty &= part.is_empty
        ours.name = ours.name or part.name

    def result(self) -> Accumulated:
        """Return the evaluation of all batches so far."""
        plan, part = self._plan, self.part
        if any(reads_judged_queries(group) for group in plan.groups):
            part.came.refuse_apart()
        weights = self._job.weights
        by_number: dict[int, Summary] = {}
        for group, queries in zip(plan.groups, part.queries, strict=True):
            for number, metric, rule in group.members:
                _refuse_sample(metric, len(queries.ids))
                weighed = any(
                    summary.weights is not None for summary in part.summaries[number]
                )
                if metric.fact.of_all and not weighed:
                    tallies = queries.shown.tallies(self._job.known)
                    each = [summary.values for summary in part.summaries[number]]
                    by_number[number] = _whole(metric, rule, tallies, each)
                elif queries.tables and metric.across:
                    table = Judged.concatenated(queries.tables)
                    counts = None if weights is None else weights.of(queries.ids)
                    by_number[number] = summarize(
                        metric, table, rule, queries.ids, counts
                    )
                else:
                    by_number[number] = together(metric, rule, part.summaries[number])
        name = self._job.options.name or part.name or "run"
        if self.n_batches and part.is_empty:
            raise no_rows(name)
        if part.came.has_judgements and not part.came.judged:
            raise no_judgements(_JUDGEMENTS)
        summaries = {
            plan.labels[number]: by_number[number] for number in sorted(by_number)
        }
        return Accumulated.restored(
            plan,
            tuple(summaries.values()),
            tuple(_Ids(queries.ids) for queries in part.queries),
            name,
            notes=notes_of(
                plan,
                summaries,
                part.seen,
                doubts=part.doubts,
                catalogue=part.catalogue,
                said=(*part.said.notes(self.n_batches), *part.came.notes),
            ),
            warnings=warnings_of(part.seen, part.doubts, part.cautions),
        )

    @property
    def _n_items(self) -> int | None:
        """How many items the catalogue has, if only that is known of it."""
        catalog = self._job.catalog
        return catalog if isinstance(catalog, int) else None

    @property
    def said(self) -> tuple[Any, ...]:
        """What two accumulators must have in common."""
        job, options = self._job, self._job.options
        weights = None if job.weights is None else job.weights.key
        return (
            self._plan, options.depth, options.order, job.of_qrels, job.of_run,
            options.of_items, weights, self._versions, self._renumbers,
            *known_by(job.known),
        )  # fmt: skip

    @property
    def rows(self) -> str:
        """How many queries there are, in words."""
        return count(max(len(queries.ids) for queries in self.part.queries), "query")


@dataclass(frozen=True, eq=False)
class _Ids:
    """The ids of all queries, where the joined table would be."""

    ids: list[Any]


def _refuse_again(seen: set[str], more: _Queries, *, by_place: bool) -> None:
    again = [text for text in map(str, more.ids) if text in seen]
    if again:
        todo = (
            "put the whole list of a query into one batch; if a sampler repeated "
            "queries, merge(other, repeats='first') counts each once"
        )
        if by_place:
            todo = (
                "without ids, queries are numbered from 0 in every batch; give their "
                "ids, as in from_scores(x, queries=ids), or continue the numbers from "
                "batch to batch with Accumulator(..., renumber=True)"
            )
        msg = (
            f"{count(len(again), 'query')} already seen in an earlier batch, such as "
            f"{again[0]!r}; {todo}"
        )
        raise DataError(msg)


def reads_judged_queries(group: Group) -> bool:
    """Say whether metrics look only at queries that have judgements."""
    if not group.lists:
        return True
    members = [
        metric for _, metric, _ in group.members if isinstance(metric, ListMetric)
    ]
    judged = any("judgements" in metric.needs for metric in members)
    return judged and group.rule.queries != "run"


def _refuse(metric: Metric, bound: Metric, job: Job) -> None:
    """Refuse metrics of lists that need all judgements at once."""
    across = bound.across
    if across is None or not isinstance(bound, ListMetric):
        return
    features = job.known.features
    if across.given and features is not None and features.topic is not None:
        return
    give = f"give {across.given}, or " if across.given else ""
    # Not what batches would refuse as well: to draw from lists that are not kept.
    fact = metric.fact
    drawn = {_SAMPLE, *(key for key, (on, _) in fact.matters.items() if on == _SAMPLE)}
    kept = tuple(pair for pair in metric.params if pair[0] not in drawn)
    able = type(metric)(metric.name, kept, fact)(**{across.parameter: across.instead})
    reads = f"{metric} {across.reads}, which one batch does not have"
    msg = f"{reads}; {give}write {able}"
    raise ParameterError(msg)


def _refuse_sample(metric: Metric, n_queries: int) -> None:
    """Refuse to draw from lists that are not kept."""
    sample = metric.get(_SAMPLE)
    if sample is not None and n_queries > sample:
        msg = (
            f"{metric.label} draws from all lists, which batches do not keep; use "
            "evaluate() instead"
        )
        raise ParameterError(msg)


def _whole(
    metric: Metric, rule: Convention, tallies: Tallies, each: Sequence[Floats]
) -> Summary:
    """Return a number for all lists together, from their tallies."""
    values = np.concatenate(each) if metric.fact.each and each else None
    return of_all(metric, tallies, rule, values)


def _open(plan: Plan) -> Plan:
    """Return a plan for a part of the data: nothing is rounded or missing yet."""
    groups = tuple(
        replace(
            group,
            members=tuple(
                (number, metric, rule.replace(nothing="nan", decimals=None))
                for number, metric, rule in group.members
            ),
        )
        for group in plan.groups
    )
    return replace(plan, groups=groups)
