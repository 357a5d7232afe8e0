"""Evaluations of rankings and lists, batch by batch."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from rankine._base.text import count
from rankine._evaluate.batches.options import check_options
from rankine._evaluate.batches.seen import Came, came_in
from rankine._evaluate.batches.tallies import Shown, shown_in
from rankine._evaluate.doubts import Doubts
from rankine._evaluate.job import Job, prepare
from rankine._evaluate.notes import undefined
from rankine._evaluate.options import Options
from rankine._evaluate.result import Evaluation
from rankine._evaluate.summary import of_all, summarize, together
from rankine._evaluate.warnings import Caution, added
from rankine._io.mappings import as_rows
from rankine._io.sources import Stream, is_empty, no_judgements, no_rows
from rankine._join.context import Listed, known_by
from rankine._metrics.lists.kind import ListMetric
from rankine._tables.judged import Judged
from rankine.errors import DataError, ParameterError

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    from rankine._conventions.convention import Convention
    from rankine._evaluate.plan import Group, Plan
    from rankine._evaluate.summary import Summary
    from rankine._metrics.metric import Metric
    from rankine._tables.tallies import Tallies

_OPTIONS = {option.name for option in fields(Options)} - {"keep", "files"}
_JUDGEMENTS = "qrels"
_SHOWN = 5
"""Notes of batches that are repeated."""


@dataclass(frozen=True, eq=False)
class _Ids:
    """The ids of all queries, where the joined table would be."""

    ids: list[Any]
    table: Any = None
    unsorted: int = 0


class Accumulated(Evaluation):
    """The result of an `Accumulator`, read like any `Evaluation`.

    A mean over pairs of queries, such as InterListDiversity, has no values per query
    here, and no interval: they would need all lists.
    """

    said: tuple[str, ...] = ()
    warned: tuple[Caution, ...] = ()
    doubted: Doubts = Doubts()
    inferred: tuple[str, ...] = ()

    @cached_property
    def notes(self) -> tuple[str, ...]:
        """What was left out or undefined, and what was said of the batches."""
        return (*self._overall, *undefined(self.summaries), *self.said)

    @cached_property
    def _doubted(self) -> Doubts:
        """What was seen of all batches that may not be what it was taken for."""
        return self.doubted

    @cached_property
    def _catalogue(self) -> tuple[str, ...]:
        """Whose items are the catalogue, which all batches have in common."""
        return self.inferred

    @cached_property
    def _cautions(self) -> tuple[Caution, ...]:
        """Where a number may not be the one that the tool itself would give."""
        return self.warned


class Evaluations:
    """The queries that have come so far: their values, and what their lists show."""

    def __init__(self, metrics: Any, options: dict[str, Any]) -> None:
        """Check the metrics and options, which are those of `evaluate`."""
        if "keep" in options:
            msg = (
                "keep= is for evaluate(), which has all lists at hand; an Accumulator "
                "does not keep them"
            )
            raise ParameterError(msg)
        check_options("evaluate", options, _OPTIONS)
        job = prepare(metrics, Options(**options))
        job.check()
        self._plan = plan = job.plan
        self._job = replace(job, plan=_open(plan), partial=True)
        for metric, bound in zip(plan.asked, plan.bound, strict=True):
            _refuse(metric, bound, self._job)
        self._found: list[list[Summary]] = [[] for _ in plan.asked]
        self._shown: list[Shown] = [Shown() for _ in plan.groups]
        self._ids: list[list[Any]] = [[] for _ in plan.groups]
        self._seen: list[set[str]] = [set() for _ in plan.groups]
        self._came = Came()
        self._tables: list[list[Judged]] = [[] for _ in plan.groups]
        self._notes: list[tuple[int, str]] = []
        self._n_notes = 0
        self._cautions: tuple[Caution, ...] = ()
        self._doubts = Doubts()
        self._catalogue: tuple[str, ...] = ()
        self._is_empty = True
        self._name: str | None = None
        self._n = 0

    def update(self, *batch: Any) -> None:
        """Add judgements and a run, or a run alone."""
        qrels, run = batch if len(batch) > 1 else (None, *batch)
        self._job.check(judged=qrels is not None)
        truth, source = self._job.truth(qrels), self._job.source(run)
        if isinstance(source, Stream):
            source = as_rows(source, "run")  # to see also who has come in it
        came = came_in(truth, source, items=self._n_items is not None)
        self._came.check(came, self._n_items)
        found = self._job.evaluate(truth, source)
        tables: Sequence[Any] = found._tables  # noqa: SLF001 - of our own making
        self._refuse_again([[str(id_) for id_ in one.ids] for one in tables])
        self._came.add(came)
        for at, (group, table) in enumerate(
            zip(self._plan.groups, tables, strict=True)
        ):
            ids = list(table.ids)
            self._ids[at] += ids
            self._seen[at].update(map(str, ids))
            if not group.lists and any(one.across for _, one, _ in group.members):
                self._tables[at].append(replace(table.table, memo={}))
            if isinstance(table, Listed):
                shown = shown_in(group, table, judged=qrels is not None)
                self._shown[at].add(shown)
        for kept, summary in zip(self._found, found.summaries.values(), strict=True):
            kept.append(_without_table(summary))
        self._n += 1
        self._name = self._name or found.name
        # What is undefined is told of all queries in the end, and so are the grades.
        open_ = {*undefined(found.summaries), *found._overall}  # noqa: SLF001
        said = [(self._n, note) for note in found.notes if note not in open_]
        self._tell(said)
        self._cautions = added((*self._cautions, *found._cautions))  # noqa: SLF001
        self._doubts += found._doubted  # noqa: SLF001
        self._is_empty &= is_empty(source)
        self._catalogue = found._catalogue  # noqa: SLF001

    def merge(self, other: Evaluations) -> None:
        """Add what others of the same metrics have; they stay as they are."""
        if other._told != self._told:
            msg = "cannot merge: the accumulators differ in metrics or options"
            raise ParameterError(msg)
        self._came.check(other._came, self._n_items)
        self._refuse_again(other._seen)
        self._came.add(other._came)
        for at, shown in enumerate(other._shown):
            self._shown[at].add(shown)
            self._ids[at] += other._ids[at]
            self._seen[at] |= other._seen[at]
            self._tables[at] += other._tables[at]
        for at, more in enumerate(other._found):
            self._found[at] += more
        self._tell([(self._n + number, note) for number, note in other._notes])
        self._cautions = added((*self._cautions, *other._cautions))
        self._doubts += other._doubts
        self._is_empty &= other._is_empty
        self._catalogue = self._catalogue or other._catalogue
        self._n += other._n
        self._name = self._name or other._name
        self._n_notes += other._n_notes - len(other._notes)

    def _tell(self, notes: Sequence[tuple[int, str]]) -> None:
        """Keep a few of the notes, and count all of them."""
        self._n_notes += len(notes)
        self._notes += notes[: _SHOWN - len(self._notes)]

    def _refuse_again(self, groups: Iterable[Collection[str]]) -> None:
        for seen, ids in zip(self._seen, groups, strict=True):
            again = [one for one in ids if one in seen]
            if again:
                msg = (
                    f"{count(len(again), 'query')} already seen in an earlier batch, "
                    f"such as {again[0]!r}; put the whole list of a query into one "
                    "batch"
                )
                raise DataError(msg)

    def result(self) -> Accumulated:
        """Return the evaluation of all batches so far."""
        plan, job = self._plan, self._job
        if any(_reads_judged_queries(group) for group in plan.groups):
            self._came.refuse_apart()
        found: list[Summary | None] = [None] * len(plan.asked)
        for at, group in enumerate(plan.groups):
            for number, metric, own in group.members:
                if metric.fact.of_all:
                    tallies = self._shown[at].tallies(job.known)
                    found[number] = _whole(metric, own, tallies)
                elif self._tables[at] and metric.across:
                    table = Judged.concatenated(self._tables[at])
                    found[number] = summarize(metric, table, own, self._ids[at])
                else:
                    found[number] = together(metric, own, self._found[number])
        tables = tuple(_Ids(ids) for ids in self._ids)
        name = job.options.name or self._name or "run"
        if self._n and self._is_empty:
            raise no_rows(name)
        if self._came.has_judgements and not self._came.judged:
            raise no_judgements(_JUDGEMENTS)
        made = Accumulated(plan, tuple(found), tables, name)  # type: ignore[arg-type]
        more = self._n_notes - len(self._notes)
        rest = [f"{count(more, 'further note')} of batches"] if more > 0 else []
        said = (f"batch {number}: {note}" for number, note in self._notes)
        made.said = (*self._came.notes, *said, *rest)
        made.warned = self._cautions
        made.doubted = self._doubts
        made.inferred = self._catalogue
        return made

    @property
    def _n_items(self) -> int | None:
        """How many items the catalogue has, if only that is known of it."""
        catalog = self._job.catalog
        return catalog if isinstance(catalog, int) else None

    @property
    def _told(self) -> tuple[Any, ...]:
        """What two accumulators must have in common."""
        job, options = self._job, self._job.options
        return (
            self._plan, options.depth, options.order, job.of_qrels, job.of_run,
            options.of_items, *known_by(job.known),
        )  # fmt: skip

    @property
    def size(self) -> str:
        """How much has come, in words."""
        n = max(map(len, self._ids))
        return f"{count(n, 'query')} in {count(self._n, 'batch')}"


def _reads_judged_queries(group: Group) -> bool:
    """Say whether metrics are of the queries that have judgements."""
    if not group.lists:
        return True
    members = [one for _, one, _ in group.members if isinstance(one, ListMetric)]
    judged = any("judgements" in one.needs for one in members)
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
    own = bound(**{across.parameter: across.instead})
    msg = f"{metric} {across.reads}, which a batch does not know; {give}write {own}"
    raise ParameterError(msg)


def _whole(metric: Metric, rule: Convention, tallies: Tallies) -> Summary:
    """Return a number of all lists together, from their tallies."""
    sample = metric.get("sample")
    if sample is not None and tallies.n_queries > sample:
        msg = f"{metric} draws from all lists, which batches do not keep"
        raise ParameterError(msg)
    return of_all(metric, tallies, rule)


def _open(plan: Plan) -> Plan:
    """Return a plan for a part of the data: nothing is rounded, or missed, yet."""
    groups = tuple(
        replace(
            group,
            members=tuple(
                (number, metric, own.replace(nothing="nan", decimals=None))
                for number, metric, own in group.members
            ),
        )
        for group in plan.groups
    )
    return replace(plan, groups=groups)


def _without_table(summary: Summary) -> Summary:
    """Keep the values of a batch, and let go of its data."""
    return replace(summary, table=None, known_empty=summary.empty)
