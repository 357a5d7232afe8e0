"""Findings: facts about the data besides the numbers, before they become notes."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from itertools import compress
from operator import add
from typing import TYPE_CHECKING, Any

import numpy as np

from rankine._base.text import Counted, count, in_units
from rankine._conventions.tools import TOOLS
from rankine._evaluate.notes import (
    Note,
    Seen,
    hardly_met_notes,
    judged_notes,
    once,
    ranking_metrics,
    seen_in,
    undefined_notes,
    weight_notes,
    without_effect,
)
from rankine._evaluate.warnings import NO_DOUBTS, added, cautions_of, with_steps
from rankine._tables.joined import Aligned, Listed

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from rankine._evaluate.plan import Plan
    from rankine._evaluate.summary import Summary
    from rankine._evaluate.warnings import Caution, Doubts
    from rankine._join.weights import Weights

_MOST = 20
"""The most notes that are kept: batches may come from many files."""


@dataclass(frozen=True, eq=False)
class JoinNotes:
    """The notes made while data were read and joined, each once.

    Attributes:
        by_place: the number of the table, the stage at which the note was made, and
            its words without their count -> the note.
        further: how many notes are not kept, as there were too many.
    """

    by_place: Mapping[Any, str] = field(default_factory=dict)
    further: int = 0

    @staticmethod
    def of(judged: Iterable[Aligned], listed: Iterable[Listed]) -> JoinNotes:
        """Return the notes of joined tables."""
        # The same rows, but in other orders, which may drop other rows.
        of_judged = tuple(dict.fromkeys(note for one in judged for note in one.notes))
        stages = [
            (of_judged,),
            *((table.notes, table.strange, table.bare) for table in listed),
        ]
        return JoinNotes(
            {
                (number, stage, getattr(note, "key", note)): note
                for number, of_table in enumerate(stages)
                for stage, notes in enumerate(of_table)
                for note in notes
            }
        )

    def __add__(self, other: JoinNotes) -> JoinNotes:
        """Return the notes on both parts of the data, with the counts of both."""
        notes, further = dict(self.by_place), self.further + other.further
        for place, note in other.by_place.items():
            before = notes.get(place)
            if before is None and len(notes) >= _MOST:
                further += 1
            elif isinstance(before, Counted) and isinstance(note, Counted):
                notes[place] = before.plus(note)
            else:
                notes[place] = note
        order = _merged(list(self.by_place), list(other.by_place))
        return JoinNotes(
            {place: notes[place] for place in order if place in notes}, further
        )

    def between(self, first: Iterable[str], last: Iterable[str]) -> JoinNotes:
        """Return these notes between some first and some last ones."""
        before = {(-1, 0, note): note for note in first}
        after = {(math.inf, 0, note): note for note in last}
        return JoinNotes({**before, **self.by_place, **after}, self.further)

    def __iter__(self) -> Iterator[str]:
        """Yield the notes, in the order in which one call makes them."""
        for place in sorted(self.by_place, key=lambda place: place[:2]):
            yield self.by_place[place]
        if self.further:
            yield f"{count(self.further, 'further note')} on batches"


def _counted(table: Aligned, weights: Weights) -> Aligned:
    """Leave out missing queries of weight 0."""
    ids = table.missing_ids
    left = [*compress(ids, ~weights.leave_out(ids))]  # type: ignore[arg-type]
    return replace(table, missing=len(left), missing_ids=left)


def _of_weight(
    table: Aligned, missing: tuple[int, int], weights: Weights
) -> tuple[int, int]:
    """Count missing judged queries and all judged ones, without those of weight 0."""
    ids, origin = table.ids, table.origin
    judged = [*ids] if origin is None else [*compress(ids, origin >= 0)]
    n_missing, n_judged = (
        int(np.count_nonzero(weights.leave_out(some)))  # type: ignore[arg-type]
        for some in (table.missing_ids, judged)
    )
    if table.table.in_run.all():  # then they are not in the table
        n_judged += n_missing
    return missing[0] - n_missing, missing[1] - n_judged


def _merged(ours: list[Any], theirs: list[Any]) -> list[Any]:
    """Insert the places of other notes, each before the one that follows it there."""
    merged = ours
    for number, place in enumerate(theirs):
        if place not in merged:
            later = (
                merged.index(other) for other in theirs[number + 1 :] if other in merged
            )
            merged.insert(next(later, len(merged)), place)
    return merged


@dataclass(frozen=True, eq=False)
class Findings:
    """Facts about some data, in numbers that add up over parts of the data.

    Attributes:
        seen: facts about judged queries, for each group of metrics that reads them.
        doubts: signs that the data may not be what they seem.
        read: the notes made while data were read and joined.
        cautions: reasons why a number may differ from a tool's.
        catalogue: whose items are the catalogue, if none was given.
    """

    seen: tuple[Seen, ...] = ()
    doubts: Doubts = NO_DOUBTS
    read: JoinNotes = field(default_factory=JoinNotes)
    cautions: tuple[Caution, ...] = ()
    catalogue: tuple[str, ...] = ()

    @staticmethod
    def of(
        plan: Plan,
        tables: Sequence[Any],
        doubts: Doubts,
        unsorted: int,
        weights: Weights | None = None,
    ) -> Findings:
        """Return the findings of joined tables.

        Args:
            plan: the plan that they were joined for.
            tables: the table of each group of metrics.
            doubts: the doubts before they were joined.
            unsorted: how many lists are not in the order of their scores, if the
                convention takes the order given.
            weights: how much each query counts; those of weight 0 never count as
                missing.
        """
        judged = [table for table in tables if isinstance(table, Aligned)]
        if weights is not None:
            if judged and doubts.missing[0]:
                missing = _of_weight(judged[0], doubts.missing, weights)
                doubts = replace(doubts, missing=missing)
            judged = [_counted(table, weights) for table in judged]
        listed = [table for table in tables if isinstance(table, Listed)]
        metrics = ranking_metrics(plan)
        cautions: Iterable[Caution] = ()
        if plan.preset is not None:
            asked = (
                (plan.labels[number], metric, tables[place].table)
                for place, group in enumerate(plan.groups)
                for number, metric, _ in group.members
            )
            cautions = cautions_of(TOOLS[plan.preset], asked, unsorted)
        return Findings(
            tuple(seen_in(table, metrics) for table in judged),
            with_steps(doubts, [*judged, *listed]),
            JoinNotes.of(judged, listed),
            tuple(cautions),
            tuple(note for table in listed for note in table.catalogue),
        )

    def __add__(self, other: Findings) -> Findings:
        """Return the findings of both parts of the data."""
        seen = tuple(map(add, self.seen, other.seen)) or self.seen or other.seen
        return Findings(
            seen,
            self.doubts + other.doubts,
            self.read + other.read,
            added((*self.cautions, *other.cautions)),
            self.catalogue or other.catalogue,
        )

    @property
    def unit(self) -> str:
        """What a query is called: query, or user."""
        return self.doubts.unit

    def notes(self, plan: Plan, summaries: Mapping[str, Summary]) -> tuple[Note, ...]:
        """Return what a reader of the numbers must know, each note once."""
        if self.seen:
            seen = judged_notes(plan, summaries, self.seen, self.unit)
        else:
            seen = undefined_notes(summaries, self.unit)
        return once(
            (
                *map(Note, self.doubts.notes()),
                *without_effect(plan),
                *map(Note, self.catalogue),
                *weight_notes(plan, summaries, self.unit),
                *seen,
                *map(Note, in_units(self.read, self.unit)),
            )
        )

    @property
    def warnings(self) -> tuple[Note, ...]:
        """Reasons to doubt the numbers: the data first, then the tool."""
        return (
            *map(Note, self.doubts.warnings()),
            *hardly_met_notes(self.seen, "warning"),
            *(
                Note(words, caution.metrics)
                for caution in self.cautions
                if (words := caution.told(self.unit)) is not None
            ),
        )
