"""Notes: what was dropped, undefined, unjudged or tied, in sentences with counts."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from itertools import zip_longest
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from rankine._base.text import count, percent
from rankine._evaluate.summary import has_no_weights
from rankine._evaluate.warnings import hardly_met
from rankine._metrics.lists.kind import ListMetric
from rankine._tables.joined import SHOWN, Aligned

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    import polars as pl

    from rankine._base.arrays import Bools
    from rankine._evaluate.plan import Plan
    from rankine._evaluate.summary import Summary
    from rankine._evaluate.warnings import Caution, Doubts
    from rankine._metrics.metric import Metric
    from rankine._tables.judged import Judged


_NO_LIMIT = np.iinfo(np.int64).max
_BY_RULE = "the tie rule decides"


class Note(NamedTuple):
    """A sentence about results.

    Attributes:
        words: the sentence.
        metrics: the labels of the metrics it is about, if these are not all.
    """

    words: str
    metrics: tuple[str, ...] = ()


def in_words(notes: Iterable[Note]) -> tuple[str, ...]:
    """Return the sentences of notes."""
    return tuple(note.words for note in notes)


def once(notes: Iterable[Note]) -> tuple[Note, ...]:
    """Say each thing once, about all metrics that it is said of."""
    by_words: dict[str, tuple[str, ...]] = {}
    for words, metrics in notes:
        before = by_words.get(words, metrics)
        of_all = not before or not metrics
        by_words[words] = () if of_all else tuple(dict.fromkeys((*before, *metrics)))
    return tuple(map(Note, by_words.keys(), by_words.values()))


@dataclass(frozen=True)
class Seen:
    """What was seen in judged queries, in numbers that add up over parts of the data.

    Attributes:
        missing: how many judged queries the run does not have.
        missing_ids: the first few of them.
        left_out: whether these were left out.
        extra: how many queries of the run are not judged.
        extra_ids: the first few of them.
        in_common: how many items are judged, how many of these fit into the lists, and
            how many are there.
        listed: whether any query has a list, and whether any list has an item.
        grades: the smallest and the largest grade.
        negative: how many grades are below 0.
        keeps_losses: whether these count as losses.
        floored: how many judged items are under the floor of scores.
        shown: how many items stand above each cutoff; in all lists, if there is none.
        known: how many of these are judged.
        short: how many lists end before each cutoff.
        tied: in how many queries judged items are tied across each cutoff.
        split: in how many queries judged items are tied across the depth at which lists
            were cut.
        any_tied: in how many queries judged items are in ties that metrics look at.
        removed: how many unjudged items were taken out of condensed lists, and out of
            how many items.
        by_id: whether the ids are the smallest, of queries that come in no order.
    """

    missing: int = 0
    missing_ids: tuple[Any, ...] = ()
    left_out: bool = True
    extra: int = 0
    extra_ids: tuple[Any, ...] = ()
    in_common: tuple[int, ...] = 0, 0, 0
    listed: tuple[bool, bool] = False, False
    grades: tuple[float, float] = math.inf, -math.inf
    negative: int = 0
    keeps_losses: bool = False
    floored: int = 0
    shown: tuple[int, ...] = ()
    known: tuple[int, ...] = ()
    short: tuple[int, ...] = ()
    tied: tuple[int, ...] = ()
    any_tied: int = 0
    split: int = 0
    removed: tuple[int, int] = 0, 0
    by_id: bool = False

    def moved(self, by: int) -> Seen:
        """Return the same for queries with larger numbers."""
        missing, extra = (
            tuple(number + by for number in ids)
            for ids in (self.missing_ids, self.extra_ids)
        )
        return replace(self, missing_ids=missing, extra_ids=extra)

    def __add__(self, other: Seen) -> Seen:
        """Return what was seen of both parts of the data."""
        by_id = self.by_id or other.by_id
        return Seen(
            self.missing + other.missing,
            first_ids(self.missing_ids, other.missing_ids, by_id=by_id),
            self.left_out and other.left_out,
            self.extra + other.extra,
            first_ids(self.extra_ids, other.extra_ids, by_id=by_id),
            _added(self.in_common, other.in_common),
            (self.listed[0] or other.listed[0], self.listed[1] or other.listed[1]),
            (
                min(self.grades[0], other.grades[0]),
                max(self.grades[1], other.grades[1]),
            ),
            self.negative + other.negative,
            self.keeps_losses or other.keeps_losses,
            self.floored + other.floored,
            _added(self.shown, other.shown),
            _added(self.known, other.known),
            _added(self.short, other.short),
            _added(self.tied, other.tied),
            self.any_tied + other.any_tied,
            self.split + other.split,
            (self.removed[0] + other.removed[0], self.removed[1] + other.removed[1]),
            by_id,
        )


def first_ids(
    ours: Iterable[Any], theirs: Iterable[Any], *, by_id: bool
) -> tuple[Any, ...]:
    """Return the first few ids of both: the smallest, or those that came first.

    >>> first_ids(["b", "d"], ["a", "c"], by_id=True)
    ('a', 'b', 'c')
    """
    every = [*ours, *theirs]
    return tuple((sorted(every) if by_id else every)[:SHOWN])


def _added(ours: tuple[int, ...], theirs: tuple[int, ...]) -> tuple[int, ...]:
    """Add up the counts of two parts of the data, of which one may have none yet."""
    return tuple(map(sum, zip_longest(ours, theirs, fillvalue=0)))


def seen_in(aligned: Aligned, metrics: Sequence[Metric]) -> Seen:
    """Return what a joined table shows that the reader of the numbers must know."""
    table = aligned.table
    depths = _depths(metrics)
    length, known = table.n_retrieved, table.rank[table.grade >= 0]
    limits = depths or [_NO_LIMIT]
    in_tie = table.tied > 1
    if all(metric.depth is not None for metric in metrics):
        in_tie &= table.above < max(depths, default=0)
    grade = table.pool.grade
    return Seen(
        aligned.missing,
        tuple(aligned.missing_ids),
        bool(table.in_run.all()),
        len(aligned.extra),
        tuple(aligned.extra[:SHOWN]),
        aligned.in_common,
        (bool(table.in_run.any()), bool(table.n_retrieved.any())),
        (float(grade.min(initial=np.inf)), float(grade.max(initial=-np.inf))),
        int(np.count_nonzero(grade < 0)),
        table.keep_negative,
        aligned.floored,
        tuple(int(np.minimum(length, k).sum()) for k in limits),
        tuple(int(np.count_nonzero(known <= k)) for k in limits),
        tuple(int(np.count_nonzero((length < k) & table.in_run)) for k in depths),
        tuple(
            _n_queries(table, (table.above < k) & (table.above + table.tied > k))
            for k in depths
        ),
        _n_queries(table, in_tie),
        aligned.split,
    )


def removed_from(tables: Iterable[Aligned]) -> tuple[int, int]:
    """Count the unjudged items that were removed, of all in the lists.

    Metrics with other conventions have other tables of the same lists.
    """
    counts = [(0, 0)]
    for aligned in tables:
        n, left = int(aligned.lengths.sum()), int(aligned.table.n_retrieved.sum())
        if aligned.whole is not None:
            counts.append((n - left, n))
    return max(counts)


def _n_queries(table: Judged, rows: Bools) -> int:
    return len(np.unique(table.query[rows]))


def _depths(metrics: Sequence[Metric]) -> list[int]:
    return sorted({metric.depth for metric in metrics if metric.depth is not None})


def notes_of(
    plan: Plan,
    summaries: Mapping[str, Summary],
    seen: Seen | None,
    *,
    doubts: Doubts,
    catalogue: Iterable[str],
    said: Iterable[str],
) -> tuple[Note, ...]:
    """Say what a reader of the numbers must know, each thing once.

    Args:
        plan: what was computed.
        summaries: the summaries of all metrics.
        seen: what was seen of judged queries, None if no metric reads them.
        doubts: what was seen of the data as they are.
        catalogue: whose items are the catalogue, where nobody gave one.
        said: the notes made while data were read and joined.
    """
    return once(
        (
            *map(Note, doubts.notes()),
            *without_effect(plan.rel, plan.asked, plan.bound),
            *map(Note, catalogue),
            *weight_notes(summaries),
            *(undefined(summaries) if seen is None else _judged(plan, summaries, seen)),
            *map(Note, said),
        )
    )


def warnings_of(
    seen: Seen | None, doubts: Doubts, cautions: Iterable[Caution]
) -> tuple[Note, ...]:
    """Say what makes the numbers doubtful: the data first, then the tool."""
    return (
        *map(Note, doubts.warnings()),
        *map(Note, () if seen is None else _hardly_met(seen, "warning")),
        *(
            Note(words, caution.metrics)
            for caution in cautions
            if (words := caution.told()) is not None
        ),
    )


def ranking_metrics(plan: Plan) -> list[Metric]:
    """Return the metrics that read judged items, with what the convention says."""
    return [metric for metric in plan.bound if not isinstance(metric, ListMetric)]


def _judged(plan: Plan, summaries: Mapping[str, Summary], seen: Seen) -> Iterator[Note]:
    """Say what was seen of judged queries."""
    metrics = ranking_metrics(plan)
    n_metrics = sum(
        metric.fact.summary != "sum" and metric.empty != "keep" for metric in metrics
    )
    yield from _apart(seen, _readers(plan))
    yield from map(Note, _unreachable(seen, metrics))
    yield from _empty(summaries, n_metrics)
    yield from undefined(summaries)
    yield from _condensed(seen, plan)
    yield from map(Note, _of_lists(seen, metrics))
    yield from map(Note, _tied(seen, metrics))
    yield from map(Note, _negative(seen))


def few(values: Sequence[Any] | pl.Series, n: int | None = None) -> str:
    """Name the first few of n values, or of all that are given.

    >>> few(["q1", "q2", "q3", "q4"]), few(["q1"], 2)
    ('q1, q2, q3, ...', 'q1, ...')
    """
    first = [str(value) for value in values[:SHOWN]]
    more = len(first) < (len(values) if n is None else n)
    return ", ".join([*first, "..."] if more else first)


def without_effect(
    rel: float | None, asked: Sequence[Metric], bound: Sequence[Metric]
) -> Iterator[Note]:
    """Name the metrics that a threshold for all does not change, and what would.

    Args:
        rel: the smallest relevant grade, if it was given.
        asked: the metrics as they were asked for.
        bound: the same with what the convention says filled in.
    """
    idle = [
        metric
        for metric, filled in zip(asked, bound, strict=True)
        if not metric.binds("rel") and filled.get("rel") != rel and _is_graded(filled)
    ]
    if rel is None or not idle:
        return
    said = f"rel={rel:g} does not change {few(idle)}: grades count as they are"
    able = [metric(rel=rel) for metric in idle if metric.takes("rel")]
    if able:
        said += f"; write {few(able)} to leave out grades below {rel:g}"
    yield Note(said, tuple(map(str, idle)))


def _is_graded(metric: Metric) -> bool:
    """Say whether a metric looks at grades, and does not only count items."""
    fact = metric.fact
    return metric.takes("rel") or (fact.summary != "sum" and fact.empty != "keep")


def _readers(plan: Plan) -> tuple[str, ...]:
    """Return the metrics that need judgements, if others look at more queries."""
    whose = [
        str(metric)
        for metric, bound in zip(plan.asked, plan.bound, strict=True)
        if not isinstance(bound, ListMetric) or "judgements" in bound.needs
    ]
    return () if len(whose) == len(plan.asked) else tuple(whose)


def _apart(seen: Seen, readers: tuple[str, ...]) -> Iterator[Note]:
    """Say what only the judgements or only the run has.

    Args:
        seen: what was seen.
        readers: for which metrics that matters, if not for all.
    """
    whose = f" for {few(readers)}" if readers else ""
    if seen.missing:
        who = count(seen.missing, "judged query")
        names = few(seen.missing_ids, seen.missing)
        fate = "left out" if seen.left_out else "counted as 0"
        yield Note(f"{who} missing from the run ({names}): {fate}{whose}", readers)
    if seen.extra:
        who, names = count(seen.extra, "query"), few(seen.extra_ids, seen.extra)
        said = f"{who} of the run without judgements ({names}): not evaluated{whose}"
        yield Note(said, readers)
    yield from map(Note, _hardly_met(seen, "note"))


def _hardly_met(seen: Seen, level: str) -> Iterator[str]:
    """Say that hardly any judged item is in the run, if that is of this level."""
    said = hardly_met(*seen.in_common)
    if said is not None and said[0] == level:
        yield f"{said[1]}; rankine check shows whether both write ids the same way"


def _unreachable(seen: Seen, metrics: Sequence[Metric]) -> Iterator[str]:
    _, largest = seen.grades
    for rel in sorted({metric.get("rel") for metric in metrics} - {None}):
        if -np.inf < largest < rel:
            yield (
                f"no grade is at least {rel:g}, the largest is {largest:g}: nothing is "
                "relevant"
            )


def _empty(summaries: Mapping[str, Summary], n_metrics: int) -> Iterator[Note]:
    """Count the queries without relevant items; thresholds may differ by metric."""
    notes: dict[tuple[int, str, str], list[str]] = {}
    for label, summary in summaries.items():
        if summary.n_empty:
            key = (summary.n_empty, summary.metric.fact.lacks, summary.fate_of_empty)
            notes.setdefault(key, []).append(label)
    for (n, lacks, fate), labels in notes.items():
        some = tuple(labels) if len(labels) < n_metrics else ()
        whose = f" ({few(some)})" if some else ""
        yield Note(f"{count(n, 'query')} without {lacks}: {fate}{whose}", some)


def undefined(summaries: Mapping[str, Summary]) -> list[Note]:
    """Say for how many queries metrics have no value."""
    return [
        Note(
            f"{label} is undefined for {count(summary.n_undefined, 'query')}: left out",
            (label,),
        )
        for label, summary in summaries.items()
        if summary.n_without_value > 0
    ]


def _of_lists(seen: Seen, metrics: Sequence[Metric]) -> Iterator[str]:
    """Say what lists lack, down to each cutoff: judgements, or items."""
    has_list, has_item = seen.listed
    if not has_item:
        if has_list:
            yield "all lists of the run are empty"
        return
    depths = _depths(metrics)
    shares = [
        percent(1 - n_judged / n_shown, 1) if n_judged < n_shown else ""
        for n_shown, n_judged in zip(seen.shown, seen.known, strict=True)
    ]
    if seen.floored:
        who = count(seen.floored, "judged item")
        yield f"{who} with a score at or below the floor: counted as not relevant"
    elif any(shares) and _has_negatives(seen, metrics):
        words = "{} of the items in the top {}", "{} in the top {}"
        those = _at(depths, shares, *words) or f"{shares[0]} of the retrieved items"
        yield f"{those} are unjudged: counted as not relevant"
    lists = [count(n, "list") if n else "" for n in seen.short]
    if any(lists):
        words = "{} with fewer than {} items", "{} with fewer than {}"
        yield f"{_at(depths, lists, *words)}: missing ranks count as not relevant"


def _at(depths: Sequence[int], numbers: Sequence[str], first: str, later: str) -> str:
    """Say a number of each cutoff that has one, those with the same number together.

    >>> _at([5, 10, 50, 100], ["", "2", "2", "7"], "{} in the top {}", "{} in {}")
    '2 in the top 10 or 50 and 7 in 100'
    """
    cutoffs: dict[str, list[str]] = {}
    for depth, number in zip(depths, numbers, strict=False):
        if number:
            cutoffs.setdefault(number, []).append(str(depth))
    said: list[str] = []
    for number, which in cutoffs.items():
        words = later if said else first
        said.append(words.format(number, _in_words(which, "or")))
    return _in_words(said, "and")


def _in_words(words: Sequence[str], link: str) -> str:
    *others, last = words or [""]
    return f"{', '.join(others)} {link} {last}" if others else last


def _condensed(seen: Seen, plan: Plan) -> Iterator[Note]:
    """Say how many items are missing from lists without unjudged items."""
    removed, n = seen.removed
    if not removed:
        return
    whose = [
        plan.labels[number]
        for group in plan.judged
        for number, _, rule in group.members
        if rule.unjudged == "removed"
    ]
    some = tuple(whose) if len(whose) < len(ranking_metrics(plan)) else ()
    who, share = count(removed, "unjudged item"), percent(removed / n, 1)
    named = f" ({few(some)})" if some else ""
    yield Note(f"{who} removed from the lists, {share} of all{named}", some)


def _has_negatives(seen: Seen, metrics: Sequence[Metric]) -> bool:
    """Say whether a judged item is not relevant, to a metric at least.

    Without any, as of clicks, only relevant items are judged, and that others are not
    says nothing.
    """
    least, _ = seen.grades
    thresholds = [metric.get("rel") for metric in metrics]
    return any(least <= 0 if rel is None else least < rel for rel in thresholds)


def _tied(seen: Seen, metrics: Sequence[Metric]) -> Iterator[str]:
    if seen.split:
        split = f"{count(seen.split, 'query')} with judged items tied across the depth"
        yield f"{split} of the lists: {_BY_RULE}"
    who = [count(n, "query") if n else "" for n in seen.tied]
    if any(who):
        words = "{} with judged items tied across rank {}", "{} across rank {}"
        yield f"{_at(_depths(metrics), who, *words)}: {_rule_of_ties(metrics)}"
    elif seen.any_tied:
        yield f"{count(seen.any_tied, 'query')} with judged items in ties"


def _rule_of_ties(metrics: Sequence[Metric]) -> str:
    """Say what becomes of tied items, if all metrics agree."""
    chosen = {metric.get("ties") for metric in metrics if metric.fact.ordered}
    words = {
        "average": "averaged over their orders",
        "best": "in their best order",
        "worst": "in their worst order",
    }
    return words.get(str(chosen.pop()), _BY_RULE) if len(chosen) == 1 else _BY_RULE


def _negative(seen: Seen) -> Iterator[str]:
    if seen.negative:
        fate = (
            "counted as losses"
            if seen.keeps_losses
            else "treated as unjudged, with gain 0"
        )
        yield f"{count(seen.negative, 'negative grade')}: {fate}"


def weight_notes(summaries: Mapping[str, Summary]) -> Iterator[Note]:
    """Say how many queries were left out by their weights, and what the others weigh.

    Queries of unequal weights say as much as (sum w)^2 / sum w^2 of equal ones (Kish
    1965).
    """
    known = (
        summary.weights for summary in summaries.values() if summary.weights is not None
    )
    weights = next(known, None)
    if weights is None:
        return
    n_zero = int(np.count_nonzero(weights == 0))
    if n_zero:
        yield Note(f"{count(n_zero, 'query')} with weight 0: left out")
    positive = weights[weights > 0]
    if len(positive) and (positive != positive[0]).any():
        share = positive / positive.max()
        effective = float(share.sum() ** 2 / (share**2).sum())
        yield Note(
            f"{count(len(positive), 'query')} of different weights, as informative as "
            f"{effective:.1f} of equal weight"
        )
    whole = tuple(
        label
        for label, summary in summaries.items()
        if has_no_weights(summary.metric) and summary.weights is None
    )
    if whole:
        names = ", ".join(whole)
        said = f"weights do not change {names}: computed from all lists together"
        yield Note(said, whole)
