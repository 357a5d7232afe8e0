"""What states say about all data: what is refused, doubted, or told in notes."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from rankine._base.text import RANK_LAST, Counted, count
from rankine._conventions.convention import BY_RANK
from rankine._engines.work import JUDGED, LISTED, ROLES
from rankine._evaluate.batches.evaluations import reads_judged_queries
from rankine._evaluate.warnings import doubts_of, liked_from, looks_rated
from rankine._io.sources import no_judgements, no_rows
from rankine._join.aligned import no_overlap
from rankine._join.judgements import Truth
from rankine._join.pieces import repeats_left_out
from rankine.errors import DataError, NoRowsError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rankine._conventions.convention import Convention
    from rankine._engines.frames import Pair, Top
    from rankine._engines.state import State
    from rankine._evaluate.evaluate import Job
    from rankine._evaluate.plan import Plan
    from rankine._evaluate.warnings import Doubts


def refuse(state: State, job: Job, pair: Pair, name: str) -> None:
    """Refuse data that cannot be used, by what was counted in all rows."""
    if not job.options.lenient:
        _refuse_missing(state)
    _refuse_places(state, pair)
    if state.problems:
        raise min(state.problems, key=str)
    _refuse_values(state, job, pair)
    _refuse_nothing(state, name, judged=pair.judged)
    if pair.judged and any(reads_judged_queries(group) for group in job.plan.groups):
        _refuse_apart(state)
    if job.plan.judged:
        _refuse_queries(state, job.plan.judged[0].rule)
    for group in job.plan.groups:
        for number, metric, rule in group.members:
            sums = state.sums[number]
            if rule.empty_truth == "error" and sums.n_empty:
                shown = ", ".join(map(str, sums.empty_ids))
                who, lacks = count(sums.n_empty, "query"), metric.fact.lacks
                msg = f"{who} without {lacks} ({shown}), which the convention refuses"
                raise DataError(msg)


def _refuse_missing(state: State) -> None:
    """Refuse rows without an id."""
    for role in ROLES:
        for part in ("query", "item"):
            n = state.counts[role, part]
            if n:
                is_are = "is" if n == 1 else "are"
                msg = (
                    f"{role}: {count(n, f'{part} id')} {is_are} missing; lenient=True "
                    "drops such rows"
                )
                raise DataError(msg)


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
        msg = f"{name}: no rows are left, as none has an id"
        raise NoRowsError(msg)
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
        names = ", ".join(repr(query) for query in seen.missing_ids)
        more = ", ..." if seen.missing > len(seen.missing_ids) else ""
        msg = (
            f"the run misses {seen.missing} of {n_judged} judged queries "
            f"({names}{more})"
        )
        raise DataError(msg)
    if rule.negative == "error" and seen.negative:
        negative = count(seen.negative, "negative grade")
        msg = f"{negative}, which the convention refuses"
        raise DataError(msg)


def _refuse_values(state: State, job: Job, pair: Pair) -> None:
    """Refuse grades and scores that are missing or no numbers."""
    counts, lenient = state.counts, job.options.lenient
    for role, table in zip(ROLES, (pair.qrels, pair.run), strict=True):
        n_missing, n_odd = counts[role, "missing"], counts[role, "nan"]
        of_run = role == ROLES[LISTED]
        if of_run and (lenient or not table.scored):
            continue
        if n_missing:
            known = ", or not in grades=" if job.options.grades and not of_run else ""
            n = count(n_missing, "such row")
            msg = f"{role}: {table.empty.column} is missing{known} ({n} in all)"
            raise DataError(msg)
        if n_odd:
            what = "score" if of_run else "grade"
            end = RANK_LAST if of_run else ""
            is_are = "is not a number" if n_odd == 1 else "are not numbers"
            msg = f"{role}: {count(n_odd, what)} {is_are} that can be compared{end}"
            raise DataError(msg)
    if job.plan.untold and state.fraction < float("inf"):
        metric, (least, most) = job.plan.untold[0], state.grades
        liked = liked_from(least, most) if looks_rated(most) else state.fraction
        msg = (
            f"grades have fractions, such as {state.fraction:g}, and {metric} must "
            f"know which are relevant; write {metric(rel=liked)}, or give "
            f"rel={liked:g} for all metrics"
        )
        raise DataError(msg)


def doubts_on(job: Job, pair: Pair, state: State) -> Doubts:
    """Return what is doubtful about the data."""
    truth = Truth(pair.qrels.empty) if pair.judged else None
    doubts = doubts_of(truth, pair.run.empty, job.plan.thresholds)
    grades = state.grades if doubts.thresholds else doubts.grades
    rises, falls = state.steps if pair.sequence else (0, False)
    missing = state.seen.missing, state.counts[ROLES[JUDGED], "queries"]
    return replace(doubts, grades=grades, rises=rises, falls=falls, missing=missing)


def said_of(plan: Plan, pair: Pair, state: State, top: Top | None) -> Iterator[str]:
    """Say what was inferred about the frames, and which rows were dropped."""
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
        if table.how.lenient:
            yield from _dropped(role, table.scored, state)
    yield from pair.notes
    n_dropped = state.counts[ROLES[LISTED], "dropped"]
    if n_dropped:
        yield repeats_left_out(n_dropped)
    by_rank = plan.judged and plan.judged[0].rule.order in BY_RANK
    if by_rank and not pair.run.empty.ranked:
        by = "scores give" if pair.run.scored else "order gives"
        yield f"run has no rank column; its {by} the ranks"
    if state.listing is not None:
        yield from state.listing.notes()


def _reads_judgements(plan: Plan, pair: Pair) -> bool:
    """Say whether any metric looks at judgements."""
    needs = (metric.needs for group in plan.groups for _, metric, _ in group.members)
    return pair.judged and (bool(plan.judged) or any("judgements" in n for n in needs))


def _dropped(role: str, scored: bool, state: State) -> Iterator[str]:  # noqa: FBT001
    """Say what a lenient reader dropped."""
    counts, of_run = state.counts, role == ROLES[LISTED]
    n = counts[role, "query"] + counts[role, "item"]
    if n:
        yield Counted(f"{role}: ", n, "row", " without an id: dropped")
    if of_run and counts[role, "nan"]:
        fate = " not a number: ranked last"
        yield Counted(f"{role}: ", counts[role, "nan"], "score", fate)
    if counts[role, "repeated"]:
        which = "best score" if of_run else "largest grade"
        which = which if scored else "first"
        fate = f" repeating an item: dropped, the {which} is kept"
        yield Counted(f"{role}: ", counts[role, "repeated"], "row", fate)
