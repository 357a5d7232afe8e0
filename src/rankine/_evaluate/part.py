"""Part: what some queries of a run come to, and adds up with what others come to.

An `Evaluation` has all rows that its numbers are made of. A part keeps less of them:
their values, as batches do, or only the sums of these, which are a few kilobytes for
any number of queries and so travel from Spark's executors. However the queries of a run
are divided among parts, the sum is the same to the last bit.
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
        summaries: those of each part, without the data that they were made of.
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
        """Return those of some queries."""
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
    ) -> Summary:
        """Return what the values are summed up to."""
        if not (queries.tables and metric.across):
            return together(metric, rule, self.summaries)
        table, ids = Judged.concatenated(queries.tables), list(queries.ids.values())
        counts = None if weights is None else weights.of(ids)
        return summarize(metric, table, rule, ids, counts)


@dataclass(eq=False)
class Queries:
    """The queries of a group of metrics.

    Attributes:
        n: how many there are.
        ids: their ids, by their texts, as ids of two types are compared; none where
            only sums are kept.
        shown: what their lists show.
        tables: their judged items, where a metric needs those of all queries at once.
    """

    n: int = 0
    ids: dict[str, Any] = field(default_factory=dict)
    shown: Shown = field(default_factory=Shown)
    tables: list[Judged] = field(default_factory=list)

    @staticmethod
    def of(group: Group, table: Any, *, sums: bool) -> Queries:
        """Return those of a joined table."""
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
    """What some queries come to.

    Attributes:
        queries: the queries of each group of metrics.
        numbers: what each metric comes to: the values of all queries, or their sums.
        findings: what else was seen of the data.
        came: who has judgements, and who has a list.
        name: what the run is called.
    """

    queries: list[Queries]
    numbers: list[Values] | list[Sums]
    findings: Findings = field(default_factory=Findings)
    came: Arrivals = field(default_factory=Arrivals)
    name: str = ""

    @staticmethod
    def nothing(plan: Plan) -> Part:
        """Return what no queries come to, with room for their values."""
        return Part([Queries() for _ in plan.groups], [Values() for _ in plan.asked])

    @staticmethod
    def of(plan: Plan, evaluation: Evaluation, came: Arrivals) -> Part:
        """Keep what the queries of an evaluation come to, without their rows.

        Args:
            plan: what was computed.
            evaluation: its result.
            came: who came. If only the first few are kept, so are only the sums of
                values, and the smallest ids are the examples in notes.
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
                whole = sums and metric.fact.of_all  # what is shown is enough
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
        """Add what other queries come to; that stays as it is."""
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
            plan: what was computed, with the rules that numbers follow.
            known: what is known of items and users.
            weights: how much each query counts; None if all count the same.
        """
        # Who should have a list: who has judgements, or else training data.
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
                    found[number] = kept.summary(metric, rule, queries, weights)
        return tuple(found)
