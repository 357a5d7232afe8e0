"""Part: the results of some queries of a run, which add up with those of others.

An `Evaluation` has all rows behind its numbers. A part keeps less: their values, as in
batches, or only the sums of these, which are a few kilobytes for any number of queries,
so that Spark's executors can send them. However the queries of a run are divided among
parts, the sum is the same to the last bit.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from rankine._evaluate.arrivals import Arrivals, numbered_on
from rankine._evaluate.findings import Findings
from rankine._evaluate.shown import Shown, shown_in
from rankine._evaluate.summary import of_all, summarize, together
from rankine._evaluate.sums import Sums
from rankine._tables.joined import Listed
from rankine._tables.judged import Judged

if TYPE_CHECKING:
    from collections.abc import Sequence

    import polars as pl

    from rankine._base.arrays import Bools
    from rankine._conventions.convention import Convention
    from rankine._evaluate.plan import Group, Plan
    from rankine._evaluate.result import Evaluation
    from rankine._evaluate.summary import Summary
    from rankine._join.side_data import SideData
    from rankine._join.weights import Weights
    from rankine._metrics.metric import Metric
    from rankine._tables.tallies import Tallies


@dataclass(eq=False)
class Values:
    """The values of a metric, query by query.

    Attributes:
        summaries: the summaries of all parts, without their data.
    """

    summaries: list[Summary] = field(default_factory=list)

    @staticmethod
    def of(summary: Summary, _: Sequence[Any] | pl.Series) -> Values:
        """Keep the values of a summary."""
        return Values([replace(summary, table=None, known_empty=summary.empty)])

    def __iadd__(self, other: Values) -> Self:
        """Add the values of other queries."""
        self.summaries += other.summaries
        return self

    def take(self, kept: Bools) -> Values:
        """Return the values of some queries."""
        ends = np.cumsum([len(summary.values) for summary in self.summaries])[:-1]
        pairs = zip(self.summaries, np.split(kept, ends), strict=True)
        return Values([summary.take(which) for summary, which in pairs])

    @property
    def weighed(self) -> bool:
        """Whether queries have weights."""
        return any(summary.weights is not None for summary in self.summaries)

    def whole(self, metric: Metric, tallies: Tallies, rule: Convention) -> Summary:
        """Return a number of all lists together."""
        each = [summary.values for summary in self.summaries]
        values = np.concatenate(each) if metric.fact.each and each else None
        return of_all(metric, tallies, rule, values)

    def summary(
        self,
        metric: Metric,
        rule: Convention,
        queries: Queries,
        weights: Weights | None,
        unit: str,
    ) -> Summary:
        """Return the summary of all values."""
        if not (queries.tables and metric.across):
            return together(metric, rule, self.summaries)
        table, ids = Judged.concatenated(queries.tables), list(queries.ids.values())
        counts = None if weights is None else weights.of(ids, unit)
        return summarize(metric, table, rule, ids, counts)


@dataclass(eq=False)
class Queries:
    """The queries of a group of metrics.

    Attributes:
        n: how many there are.
        ids: their ids, by their texts, as ids of two types are compared; none if only
            sums are kept.
        shown: the items in their lists.
        tables: their judged items, if a metric needs those of all queries at once.
    """

    n: int = 0
    ids: dict[str, Any] = field(default_factory=dict)
    shown: Shown = field(default_factory=Shown)
    tables: list[Judged] = field(default_factory=list)

    @staticmethod
    def of(group: Group, table: Any, *, sums: bool) -> Queries:
        """Return the queries of a joined table."""
        queries = Queries(len(table.ids))
        if isinstance(table, Listed):
            queries.shown = shown_in(group, table)
        if sums:
            return queries
        queries.ids = {str(query): query for query in table.ids}
        if not group.lists and any(metric.across for _, metric, _ in group.members):
            queries.tables.append(replace(table.table, memo={}))
        return queries

    def __iadd__(self, other: Queries) -> Self:
        """Add other queries."""
        self.n += other.n
        self.ids |= other.ids
        self.shown += other.shown
        self.tables += other.tables
        return self


@dataclass(eq=False)
class Part:
    """The results of some queries.

    Attributes:
        queries: the queries of each group of metrics.
        numbers: for each metric, the values of all queries or their sums.
        findings: further facts about the data.
        came: which queries have judgements, and which have a list.
        name: the name of the run.
    """

    queries: list[Queries]
    numbers: list[Values] | list[Sums]
    findings: Findings = field(default_factory=Findings)
    came: Arrivals = field(default_factory=Arrivals)
    name: str = ""

    @staticmethod
    def nothing(plan: Plan) -> Part:
        """Return the part of no queries, to which others can be added."""
        return Part([Queries() for _ in plan.groups], [Values() for _ in plan.asked])

    @staticmethod
    def of(plan: Plan, evaluation: Evaluation, came: Arrivals) -> Part:
        """Keep the results of an evaluation's queries, without their rows.

        Args:
            plan: the plan of the evaluation.
            evaluation: its result.
            came: its queries. If it has only the first few, only the sums of values are
                kept, and the examples in notes are the smallest ids.
        """
        tables: tuple[Any, ...] = evaluation.tables
        sums, findings = came.by_id, evaluation.findings
        summaries = [*evaluation.summaries.values()]
        numbers: list[Any] = [None] * len(summaries)
        queries = []
        for group, table in zip(plan.groups, tables, strict=True):
            queries.append(Queries.of(group, table, sums=sums))
            for number, metric, _ in group.members:
                kept = Sums.of if sums else Values.of
                whole = sums and metric.fact.of_all  # the items shown are enough
                numbers[number] = (
                    Sums() if whole else kept(summaries[number], table.ids)
                )
        if sums:
            seen = tuple(replace(one, by_id=True) for one in findings.seen)
            findings = replace(findings, seen=seen)
        return Part(queries, numbers, findings, came, evaluation.name)

    def moved(self, by: int) -> Part:
        """Return the same for queries with larger numbers."""
        queries = [
            replace(group, ids=numbered_on(group.ids, by)) for group in self.queries
        ]
        seen = tuple(one.moved(by) for one in self.findings.seen)
        findings, came = replace(self.findings, seen=seen), self.came.moved(by)
        return replace(self, queries=queries, findings=findings, came=came)

    def __iadd__(self, other: Part) -> Self:
        """Add the results of other queries, which stay as they are."""
        for ours, theirs in zip(self.queries, other.queries, strict=True):
            ours += theirs  # noqa: PLW2901 - in place
        numbers: list[Any] = list(self.numbers)
        for place, more in enumerate(other.numbers):
            numbers[place] += more
        self.numbers = numbers
        self.findings += other.findings
        self.came += other.came
        self.name = self.name or other.name
        return self

    def summaries(
        self, plan: Plan, known: SideData, weights: Weights | None = None
    ) -> tuple[Summary, ...]:
        """Return the number of each metric, of all queries.

        Args:
            plan: the plan, with the rules that numbers follow.
            known: further data on items and users.
            weights: how much each query counts; None if all count the same.
        """
        # Users with judgements should have a list, or else those with training data.
        awaited = None if known.train is None else len(known.train.users)
        if self.came.has_judgements:
            awaited = self.came.n_judged
        found: list[Any] = [None] * len(self.numbers)
        for group, queries in zip(plan.groups, self.queries, strict=True):
            tallies: Tallies | None = None
            for number, metric, rule in group.members:
                kept = self.numbers[number]
                if metric.fact.of_all and not kept.weighed:
                    tallies = tallies or queries.shown.tallies(
                        queries.n, awaited, known
                    )
                    found[number] = kept.whole(metric, tallies, rule)
                else:
                    found[number] = kept.summary(
                        metric, rule, queries, weights, self.findings.unit
                    )
        return tuple(found)
