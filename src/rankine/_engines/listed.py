"""Metrics of lists of some queries, as in memory: what they show merges.

Unlike metrics of judged items, they need polars, on executors too: items are joined
there with training data, features and the catalogue, which every executor gets.
"""

from __future__ import annotations

import pickle
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from rankine._evaluate.batches.seen import Shown, Told, shown_in
from rankine._evaluate.engine import evaluate_source
from rankine._evaluate.notes import told_in
from rankine._evaluate.summary import of_all
from rankine._io.sources import Rows
from rankine._join.judgements import Truth

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rankine._engines.queries import Queries
    from rankine._engines.ranked import Rows as Numbered
    from rankine._evaluate.plan import Plan
    from rankine._evaluate.summary import Summary
    from rankine._join.context import Listed
    from rankine._join.known import Known


@dataclass(eq=False)
class Listing:
    """What the lists of some queries show.

    Attributes:
        shown: the items and the lengths of their lists, for each group of metrics.
        said: what was told while they were joined.
        catalogue: whose items are the catalogue, where nobody gave one.
    """

    shown: list[Shown]
    said: Told = field(default_factory=Told)
    catalogue: tuple[str, ...] = ()

    def __add__(self, other: Listing) -> Listing:
        """Return what the lists of both show."""
        for ours, theirs in zip(self.shown, other.shown, strict=True):
            ours.add(theirs)
        self.said.add(other.said)
        return Listing(self.shown, self.said, self.catalogue or other.catalogue)

    def notes(self) -> Iterator[str]:
        """Say what was told, in the order of one call."""
        ordered = sorted(self.said.by_words.items(), key=lambda entry: entry[0][0])
        yield from (note for _, (note, _) in ordered)

    def wholes(self, plan: Plan, known: Known) -> dict[int, Summary]:
        """Return the value of each metric of all lists together, by its number.

        Queries have no values of their own in them: these would need all lists.
        """
        summaries: dict[int, Summary] = {}
        groups = [group for group in plan.groups if group.lists]
        for group, shown in zip(groups, self.shown, strict=True):
            members = [entry for entry in group.members if entry[1].fact.of_all]
            tallies = shown.tallies(known) if members else None
            for number, metric, rule in members:
                summary = of_all(metric, tallies, rule)  # type: ignore[arg-type]
                if metric.fact.pairs is not None and tallies is not None:
                    n_lists = tallies.tally(metric.depth, once=True).n_lists
                    # Who has no list is in no pair, and neither is a list alone.
                    n = n_lists if n_lists > 1 else 0
                    summary = replace(summary, n=n, n_undefined=summary.n - n)
                summaries[number] = summary
        return summaries


def of_lists(plan: Plan) -> Plan:
    """Return the part of a plan that reads lists."""
    return replace(plan, groups=tuple(group for group in plan.groups if group.lists))


def listed_of(
    queries: Queries, judged: Numbered, listed: Numbered
) -> tuple[Listing, list[Listed], dict[int, Summary]]:
    """Evaluate metrics of lists: what they show, their tables, and their summaries."""
    work = queries.work
    plan = of_lists(work.plan)
    known = pickle.loads(work.known or b"")  # noqa: S301 - made by our own code
    truth = Truth(_rows(queries, judged, "qrels")) if work.judged else None
    source = replace(_rows(queries, listed, "run"), ranked=work.ranked)
    # Numbers are asked for by their place among these metrics.
    numbers = [number for group in plan.groups for number, _, _ in group.members]
    place = {number: row for row, number in enumerate(numbers)}
    groups = tuple(
        replace(
            group,
            members=tuple(
                (place[n], metric, rule) for n, metric, rule in group.members
            ),
        )
        for group in plan.groups
    )
    part = replace(
        plan,
        groups=groups,
        asked=tuple(plan.asked[number] for number in numbers),
        labels=tuple(plan.labels[number] for number in numbers),
        bound=tuple(plan.bound[number] for number in numbers),
        untold=(),
    )
    result = evaluate_source(
        part, truth, source, "run", depth=work.depth, known=known, partial=True
    )
    tables: list[Any] = list(result._tables)  # noqa: SLF001 - of our own making
    summaries = {}
    for number, summary in zip(numbers, result.summaries.values(), strict=True):
        values = summary.values
        if summary.metric.fact.pairs is not None:
            values = np.full(len(values), np.nan)  # of pairs with lists elsewhere too
        summaries[number] = replace(summary, values=values)
    said = told_in(tables)
    listing = Listing(
        [
            shown_in(group, table, judged=work.judged)
            for group, table in zip(groups, tables, strict=True)
        ],
        Told({(where, getattr(note, "key", note)): (note, 1) for where, note in said}),
        tuple(note for table in tables for note in table.catalogue),
    )
    return listing, tables, summaries


def _rows(queries: Queries, rows: Numbered, role: str) -> Rows:
    """Return rows as a reader gives them."""
    columns = {
        "query": _ids(queries.queries, rows.query),
        "item": _ids(queries.items, rows.item),
    }
    if rows.value is not None:
        columns["value"] = pl.Series(rows.value)
    return Rows(pl.DataFrame(columns), role, role=role)


def _ids(ids: Any, numbers: Any) -> pl.Series:
    series: Any = pl.from_arrow(ids)
    taken: pl.Series = series.gather(numbers)
    return taken
