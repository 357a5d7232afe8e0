"""What states say about all data: what is refused, doubted, or noted."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from rankine._base.text import count
from rankine._conventions.convention import BY_RANK
from rankine._engines.work import JUDGED, LISTED, ROLES
from rankine._evaluate.batches.evaluations import reads_judged_queries
from rankine._evaluate.engine import no_ranks, with_fractions
from rankine._evaluate.summary import nothing_to_find
from rankine._evaluate.warnings import doubts_of
from rankine._io.sources import no_judgements, no_rows, none_left
from rankine._io.values import missing_ids, missing_numbers, no_order
from rankine._join.judgements import Truth, odd_grade
from rankine._tables.joined import lacking, no_overlap, too_low
from rankine.errors import DataError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rankine._conventions.convention import Convention
    from rankine._engines.frames import Pair, TopRows
    from rankine._engines.state import State
    from rankine._evaluate.evaluate import Job
    from rankine._evaluate.plan import Plan
    from rankine._evaluate.warnings import Doubts


def refuse(state: State, job: Job, pair: Pair, name: str) -> None:
    """Refuse data that cannot be used, by what was counted in all rows."""
    if not job.options.lenient:
        _refuse_missing(state)
    _refuse_places(state, pair)
    _refuse_values(state, job, pair)
    if state.problems:
        raise state.problems[0]
    _refuse_fractions(state, job, pair)
    _refuse_nothing(state, name, judged=pair.judged)
    if pair.judged and any(reads_judged_queries(group) for group in job.plan.groups):
        _refuse_apart(state)
    if job.plan.judged:
        _refuse_queries(state, job.plan.judged[0].rule)
    for group in job.plan.groups:
        for number, metric, rule in group.members:
            sums: Any = state.part and state.part.numbers[number]
            if rule.empty_truth == "error" and sums and sums.n_empty:
                raise nothing_to_find(sums.n_empty, metric.fact.lacks, sums.empty_ids)


def _refuse_missing(state: State) -> None:
    """Refuse rows without an id."""
    for role in ROLES:
        for part in ("query", "item"):
            n = state.counts[role, part]
            if n:
                raise missing_ids(role, part, n)


def _refuse_places(state: State, pair: Pair) -> None:
    """Refuse rows without a place in the order of rows."""
    for role in ROLES:
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
    counts, run = state.counts, ROLES[LISTED]
    if judged and not counts[ROLES[JUDGED], "rows"]:
        raise no_judgements(ROLES[JUDGED])
    if counts[run, "rows"] > counts[run, "item"]:
        return
    if counts[run, "rows"] or counts[run, "query"]:
        raise none_left(name)
    raise no_rows(name)


def _refuse_apart(state: State) -> None:
    """Refuse judgements and a run if no query has both."""
    n_judged = state.counts[ROLES[JUDGED], "queries"]
    if n_judged and state.alone_ids and not state.shared:
        raise no_overlap(n_judged, state.judged_ids, state.alone_ids)


def _refuse_queries(state: State, rule: Convention) -> None:
    """Refuse what the convention refuses of all queries together."""
    seen, n_judged = state.seen, state.counts[ROLES[JUDGED], "queries"]
    if seen.missing and rule.missing_run == "error":
        raise lacking(seen.missing, n_judged, seen.missing_ids)
    if rule.negative == "error" and seen.negative:
        raise too_low(seen.negative)


def _refuse_values(state: State, job: Job, pair: Pair) -> None:
    """Refuse grades and scores that are missing or no numbers."""
    counts, examples = state.counts, state.examples
    for role, table in zip(ROLES, (pair.qrels, pair.run), strict=True):
        if counts[role, "missing"]:
            title = table.empty.column
            if job.options.grades and role == ROLES[JUDGED]:
                title += ", or not in grades="
            raise missing_numbers(role, title, counts[role, "missing"], role)
        example = examples.get((role, "nan"))
        if example is None:
            continue
        if role == ROLES[JUDGED]:
            raise odd_grade(role, float(example))
        raise no_order(role, example, counts[role, "nan"])


def _refuse_fractions(state: State, job: Job, pair: Pair) -> None:
    """Refuse grades like 0.5 for a metric without a given threshold."""
    example = state.examples.get((ROLES[JUDGED], "fraction"))
    if job.plan.untold and example is not None:
        doubts = pair.qrels.empty.warnings
        raise with_fractions(job.plan.untold[0], example, state.grades, doubts)


def doubts_on(job: Job, pair: Pair, state: State) -> Doubts:
    """Return what is doubtful about the data."""
    truth = Truth(pair.qrels.empty) if pair.judged else None
    doubts = doubts_of(truth, pair.run.empty, job.plan.thresholds)
    grades = state.grades if doubts.thresholds else doubts.grades
    missing = state.seen.missing, state.counts[ROLES[JUDGED], "queries"]
    doubts = replace(doubts, grades=grades, missing=missing)
    if not pair.sequence or state.part is None:
        return doubts
    of_parts = state.part.findings.doubts
    return replace(doubts, rises=of_parts.rises, falls=of_parts.falls)


def read_notes(plan: Plan, pair: Pair, top: TopRows | None) -> Iterator[str]:
    """Say what was inferred about the frames, and which rows were not read."""
    if top is not None and any(
        group.rule.duplicates == "error" for group in plan.groups
    ):
        yield (
            f"run: rows below rank {top.depth} were not read, so repeated items among "
            "them were not detected"
        )
    for role, table in zip(ROLES, (pair.qrels, pair.run), strict=True):
        if role == ROLES[JUDGED] and not _reads_judgements(plan, pair):
            continue
        yield from table.empty.notes
    yield from pair.notes


def rank_notes(plan: Plan, pair: Pair) -> Iterator[str]:
    """Say that a run has no rank column, though the convention asks for one."""
    by_rank = plan.judged and plan.judged[0].rule.order in BY_RANK
    if by_rank and not pair.run.empty.ranked:
        yield no_ranks("run", scored=pair.run.scored)


def _reads_judgements(plan: Plan, pair: Pair) -> bool:
    """Say whether any metric looks at judgements."""
    needs = (metric.needs for group in plan.groups for _, metric, _ in group.members)
    return pair.judged and (bool(plan.judged) or any("judgements" in n for n in needs))
