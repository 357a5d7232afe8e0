"""Refusals of data on Spark, by what all states come to; what is doubted or noted."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from rankine._base.text import QUERY, count
from rankine._engines.work import JUDGED, LISTED, SIDES
from rankine._evaluate.batches.evaluations import reads_judged_queries
from rankine._evaluate.engine import with_fractions
from rankine._evaluate.summary import nothing_to_find
from rankine._evaluate.warnings import doubts_of
from rankine._io.sources import no_judgements, no_rows, none_left
from rankine._io.values import missing_ids, missing_numbers, no_order
from rankine._join.judgements import Truth, odd_grade
from rankine._tables.joined import lacking, too_low
from rankine.errors import DataError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rankine._conventions.convention import Convention
    from rankine._engines.frames import Pair, TopRows
    from rankine._engines.state import State
    from rankine._evaluate.evaluate import Job
    from rankine._evaluate.findings import Findings
    from rankine._evaluate.part import Part
    from rankine._evaluate.plan import Plan
    from rankine._evaluate.sums import Sums
    from rankine._evaluate.warnings import Doubts


def refuse(state: State, job: Job, pair: Pair, name: str) -> None:
    """Refuse data that cannot be used, by what was counted in all rows."""
    if not job.options.lenient:
        _refuse_missing(state, pair)
    _refuse_places(state, pair)
    _refuse_values(state, job, pair)
    if state.problems:
        raise state.problems[0]
    _refuse_fractions(state, job, pair)
    _refuse_nothing(state, name, judged=pair.judged)
    part: Any = state.part
    unit = _doubts(job, pair).unit
    if any(reads_judged_queries(group) for group in job.plan.groups):
        part.came.refuse_apart(unit)
    if job.plan.judged:
        _refuse_queries(state, part.came.n_judged, job.plan.judged[0].rule, unit)
    for group in job.plan.groups:
        for number, metric, rule in group.members:
            sums: Sums = part.numbers[number]
            if rule.empty_truth == "error" and sums.n_empty:
                raise nothing_to_find(sums.n_empty, metric.fact.lacks, sums.empty_ids)


def _refuse_missing(state: State, pair: Pair) -> None:
    """Refuse rows without an id."""
    for role, table in zip(SIDES, (pair.qrels, pair.run), strict=True):
        for part, word in (("query", table.schema.unit or QUERY), ("item", "item")):
            n = state.counts[role, part]
            if n:
                raise missing_ids(role, word, n)


def _refuse_places(state: State, pair: Pair) -> None:
    """Refuse rows without a place in the order of rows."""
    for role in SIDES:
        n = state.counts[role, "place"]
        if n:
            have = "has" if n == 1 else "have"
            msg = (
                f"{role}: {count(n, 'row')} {have} no number in {pair.sequence!r}, "
                "which sequence= or --sequence names; number all rows, or leave these "
                "out"
            )
            raise DataError(msg)


def _refuse_nothing(state: State, name: str, *, judged: bool) -> None:
    """Refuse judgements or a run without rows."""
    counts, run = state.counts, SIDES[LISTED]
    if judged and not counts[SIDES[JUDGED], "rows"]:
        raise no_judgements(SIDES[JUDGED])
    if counts[run, "rows"] > counts[run, "item"]:
        return
    if counts[run, "rows"] or counts[run, "query"]:
        raise none_left(name)
    raise no_rows(name)


def _refuse_queries(state: State, n_judged: int, rule: Convention, unit: str) -> None:
    """Refuse what the convention refuses of all queries together."""
    seen = state.seen
    if seen.missing and rule.missing_run == "error":
        raise lacking(seen.missing, n_judged, seen.missing_ids, unit)
    if rule.negative == "error" and seen.negative:
        raise too_low(seen.negative)


def _refuse_values(state: State, job: Job, pair: Pair) -> None:
    """Refuse grades and scores that are missing or no numbers."""
    counts, examples = state.counts, state.examples
    for role, table in zip(SIDES, (pair.qrels, pair.run), strict=True):
        if counts[role, "missing"]:
            title = table.schema.column
            if job.options.grades and role == SIDES[JUDGED]:
                title += ", or not in grades="
            raise missing_numbers(role, title, counts[role, "missing"], role)
        example = examples.get((role, "nan"))
        if example is None:
            continue
        if role == SIDES[JUDGED]:
            raise odd_grade(role, float(example))
        raise no_order(role, example, counts[role, "nan"], table.schema.unit)


def _refuse_fractions(state: State, job: Job, pair: Pair) -> None:
    """Refuse grades like 0.5 for a metric without a given threshold."""
    example = state.examples.get((SIDES[JUDGED], "fraction"))
    if job.plan.untold and example is not None:
        doubts = pair.qrels.schema.warnings
        raise with_fractions(job.plan.untold[0], example, state.grades, doubts)


def found_in(
    part: Part, job: Job, pair: Pair, grades: tuple[float, float], top: TopRows | None
) -> Findings:
    """Return what was seen of all data, with what the frames themselves show.

    Args:
        part: what all queries come to.
        job: what was asked.
        pair: the frames.
        grades: the smallest and the largest grade.
        top: which rows were read, if not all.
    """
    doubts = _doubts(job, pair)
    of_parts = part.findings.doubts
    if doubts.thresholds:
        doubts = replace(doubts, grades=grades)
    if pair.sequence:  # without one, rows come in any order
        doubts = replace(doubts, steps=of_parts.steps)
    doubts = replace(doubts, missing=of_parts.missing)
    read = part.findings.read.between(_read_notes(job.plan, pair, top), ())
    return replace(part.findings, doubts=doubts, read=read)


def _doubts(job: Job, pair: Pair) -> Doubts:
    """Return what is doubtful of the frames before any row is read."""
    truth = Truth(pair.qrels.schema) if pair.judged else None
    trained = job.side_data.trained
    return doubts_of(truth, pair.run.schema, job.plan.thresholds, trained=trained)


def _read_notes(plan: Plan, pair: Pair, top: TopRows | None) -> Iterator[str]:
    """Say what was inferred about the frames, and which rows were not read."""
    if top is not None and any(
        group.rule.duplicates == "error" for group in plan.groups
    ):
        yield (
            f"run: rows below rank {top.depth} were not read, so repeated items among "
            "them were not detected"
        )
    if plan.counts_items:  # which here would take a shuffle of all items
        yield (
            f"run: its different items are not counted on Spark; there may be more "
            f"than the {count(plan.catalog or 0, 'item')} of the catalogue"
        )
    for role, table in zip(SIDES, (pair.qrels, pair.run), strict=True):
        if role == SIDES[JUDGED] and not _reads_judgements(plan, pair):
            continue
        yield from table.schema.notes
    yield from pair.notes


def _reads_judgements(plan: Plan, pair: Pair) -> bool:
    """Say whether any metric looks at judgements."""
    return pair.judged and (bool(plan.judged) or "judgements" in plan.needs)
