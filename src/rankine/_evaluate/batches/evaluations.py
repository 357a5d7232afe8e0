"""Evaluations of rankings and lists, batch by batch."""

from __future__ import annotations

from copy import copy
from dataclasses import fields, replace
from itertools import compress
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from rankine._base.checks import check_flag
from rankine._base.text import count
from rankine._evaluate.arrivals import Arrivals, moved
from rankine._evaluate.batches.totals import Total, check_options
from rankine._evaluate.custom import versions
from rankine._evaluate.engine import paired_with
from rankine._evaluate.evaluate import Job, prepare
from rankine._evaluate.options import Options
from rankine._evaluate.part import Part, Queries
from rankine._evaluate.result import Evaluation
from rankine._evaluate.trail import Stored
from rankine._io.rows import as_rows
from rankine._io.sources import Stream, no_judgements, no_rows
from rankine._join.judgements import Truth
from rankine._join.side_data import known_by
from rankine._metrics.lists.kind import ListMetric
from rankine._tables.joined import Listed
from rankine.errors import DataError, ParameterError

if TYPE_CHECKING:
    from rankine._conventions.convention import Convention
    from rankine._evaluate.plan import Group
    from rankine._metrics.metric import Metric

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


class Evaluations(Total[Part]):
    """The queries so far: their values, and the items in their lists."""

    part: Part

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
        self._job = job.in_parts(plan.with_rules(mean=_unrounded))
        for metric, bound in zip(plan.asked, plan.bound, strict=True):
            _refuse(metric, bound, self._job)
        self.part = self.nothing()

    def nothing(self) -> Part:
        """Return the part of no batches."""
        return Part.nothing(self._plan)

    def read(self, *batch: Any) -> Part:
        """Evaluate judgements and a run, or a run alone."""
        qrels, run = batch if len(batch) > 1 else (None, *batch)
        if versions(self._plan.asked) != self._versions:
            msg = (
                "a metric was redefined after this Accumulator was made; create a new "
                "Accumulator"
            )
            raise ParameterError(msg)
        self._job.check(judged=qrels is not None)
        truth, source = self._job.truth(qrels, run), self._job.source(run)
        if isinstance(source, Stream):
            source = as_rows(source, "run")  # to know the queries in it, too
        if self._renumbers:
            n_before = self.part.came.n_places
            source = moved(source, n_before)
            truth = None if truth is None else Truth(moved(truth.source, n_before))
        elif truth is not None:
            truth, source = paired_with(truth, source)
        came = Arrivals.of(truth, source, items=self._plan.counts_items)
        self.part.came.check(came, self._plan.catalog)  # before anything is computed
        evaluation = self._job.evaluate(truth, source)
        part = Part.of(self._plan, evaluation, came)
        if self._size is not None:
            for queries, table in zip(part.queries, evaluation.tables, strict=True):
                queries.shown.items = _items_of(table)
        return part

    def merge(self, other: Self, *, repeats: str = "error") -> None:
        """Add the data of another one; with renumber, its queries are numbered on."""
        if repeats == "first" and other.terms == self.terms:
            fewer = copy(other)
            fewer.part = self._without_repeats(other.part)
            other = fewer
        n_before = self.part.came.n_places
        if not (self._renumbers and n_before and other.part.came.n_places):
            super().merge(other)
            return
        known = self._job.side_data
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

    def _without_repeats(self, other: Part) -> Part:
        """Return other batches without the queries that are here already."""
        if self.part.came.n_places and other.came.n_places:
            msg = (
                "repeats='first' needs query ids, since without them equal numbers are "
                "different queries; give ids, as in from_scores(x, queries=ids)"
            )
            raise ParameterError(msg)
        groups: list[Queries] = []
        numbers: list[Any] = list(other.numbers)
        of_groups = zip(
            self._plan.groups, self.part.queries, other.queries, strict=True
        )
        for group, ours, theirs in of_groups:
            kept = [text not in ours.ids for text in theirs.ids]
            if all(kept):
                groups.append(theirs)
                continue
            ids = dict(compress(theirs.ids.items(), kept))
            groups.append(replace(theirs, n=len(ids), ids=ids))
            for number, metric, _ in group.members:
                if metric.across or metric.fact.of_all:
                    msg = (
                        f"repeats='first' cannot leave a query out of {metric}, which "
                        "is computed from all queries together; merge accumulators "
                        "without repeats"
                    )
                    raise ParameterError(msg)
                numbers[number] = numbers[number].take(np.array(kept))
        return replace(other, queries=groups, numbers=numbers)

    def add(self, part: Part) -> None:
        """Add the part of other queries."""
        ours = self.part
        ours.came.check(part.came, self._plan.catalog)
        by_place = ours.came.n_places > 0 and part.came.n_places > 0
        for queries, more in zip(ours.queries, part.queries, strict=True):
            _refuse_again(queries, more, by_place=by_place)
            self._refuse_items(queries.shown.items | more.shown.items)
        ours += part

    def result(self) -> Accumulated:
        """Return the evaluation of all batches so far."""
        plan, part, came = self._plan, self.part, self.part.came
        name = self._job.options.name or part.name or "run"
        if came.has_judgements and not came.judged:
            raise no_judgements(_JUDGEMENTS)
        if self.n_batches and not came.has_rows:
            raise no_rows(name)
        if any(reads_judged_queries(group) for group in plan.groups):
            came.refuse_apart(part.findings.unit)
        for group, queries in zip(plan.groups, part.queries, strict=True):
            for _, metric, _ in group.members:
                _refuse_sample(metric, queries.n)
        summaries = part.summaries(plan, self._job.side_data, self._job.weights)
        tables = tuple(Stored([*queries.ids.values()]) for queries in part.queries)
        found = part.findings
        evaluation = Accumulated(plan, summaries, tables, name)
        evaluation.without_items = "keeps no items"
        evaluation.findings = replace(found, read=found.read.between((), came.notes))
        return evaluation

    @property
    def _size(self) -> int | None:
        """The number of items in the catalogue, if nothing else is known about it."""
        catalog = self._job.catalog
        return catalog if isinstance(catalog, int) else None

    def _refuse_items(self, shown: set[str]) -> None:
        """Refuse lists with more different items than the catalogue has."""
        if self._size is not None and len(shown) > self._size:
            msg = (
                f"the catalogue has {count(self._size, 'item')}, but the batches show "
                f"{count(len(shown), 'different one')}"
            )
            raise DataError(msg)

    @property
    def terms(self) -> tuple[Any, ...]:
        """The settings that two accumulators must have in common."""
        job, options = self._job, self._job.options
        weights = None if job.weights is None else job.weights.key
        return (
            self._plan, options.depth, options.order, job.of_qrels, job.of_run,
            options.of_items, weights, self._versions, self._renumbers,
            *known_by(job.side_data),
        )  # fmt: skip

    @property
    def rows(self) -> str:
        """How many queries there are, in words."""
        n = max(queries.n for queries in self.part.queries)
        return count(n, self.part.findings.unit)


def _items_of(table: Any) -> set[str]:
    """Return the items in lists, by their texts, as ids may be of two types."""
    if not isinstance(table, Listed) or table.items is None:
        return set()
    return set(map(str, table.items.gather(np.flatnonzero(table.table.shown(None)))))


def _refuse_again(queries: Queries, more: Queries, *, by_place: bool) -> None:
    again = [text for text in more.ids if text in queries.ids]
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
    """Say whether metrics read judged items, or lists of judged queries alone."""
    return not group.lists or group.judged_only


def _refuse(metric: Metric, bound: Metric, job: Job) -> None:
    """Refuse metrics of lists that need all judgements at once."""
    across = bound.across
    if across is None or not isinstance(bound, ListMetric):
        return
    features = job.side_data.features
    if across.given and features is not None and features.topic is not None:
        return
    give = f"give {across.given}, or " if across.given else ""
    # No advice to draw from lists, which batches refuse as well.
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


def _unrounded(rule: Convention) -> Convention:
    """Return the rule for a part of the data, where nothing is rounded or missing."""
    return rule.replace(nothing="nan", decimals=None)
