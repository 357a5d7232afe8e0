"""Notes: what was dropped, undefined, unjudged or tied, in sentences with counts."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from operator import add, itemgetter
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from rankine._base.text import count, percent
from rankine._evaluate.summary import has_no_weights
from rankine._evaluate.warnings import NO_GRADES, ends_of, hardly_met
from rankine._metrics.lists.kind import ListMetric
from rankine._tables.joined import SHOWN, Aligned

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    import polars as pl

    from rankine._base.arrays import Bools, Floats
    from rankine._evaluate.plan import Plan
    from rankine._evaluate.summary import Summary
    from rankine._metrics.metric import Metric
    from rankine._tables.judged import Judged


_NO_LIMIT = np.iinfo(np.int64).max
_RULE_DECIDES = "the tie rule decides"


class Note(NamedTuple):
    """A sentence about results.

    Attributes:
        words: the sentence.
        metrics: the labels of the metrics it is about, if these are not all.
    """

    words: str
    metrics: tuple[str, ...] = ()


def sentences(notes: Iterable[Note]) -> tuple[str, ...]:
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


class Cut(NamedTuple):
    """What was seen of the lists down to a cutoff, or of whole lists.

    Attributes:
        shown: how many items stand there.
        known: how many of these are judged.
        short: how many lists end before the cutoff.
        across: in how many queries judged items are tied across it.
        tied: in how many queries judged items above it are in ties.
    """

    shown: int
    known: int
    short: int
    across: int
    tied: int


@dataclass(frozen=True)
class Seen:
    """What was seen in judged queries, in numbers that add up over parts of the data.

    Metrics of one group have seen the same, and those of another may have other
    queries, grades and floors.

    Attributes:
        missing: how many judged queries the run does not have.
        missing_ids: the first few of them.
        extra: how many queries of the run are not judged.
        extra_ids: the first few of them.
        in_common: how many items are judged, how many of these fit into the lists, and
            how many are there.
        listed: whether any query has a list, and whether any list has an item.
        grades: the smallest and the largest grade.
        negative: how many grades are below 0.
        keeps_losses: whether these count as losses.
        floored: how many judged items are under the floor of scores.
        cuts: what was seen down to the cutoff of each metric; None is no cutoff.
        split: in how many queries judged items are tied across the depth at which lists
            were cut.
        removed: how many unjudged items were taken out of condensed lists, and out of
            how many items.
        by_id: whether the ids are the smallest, of queries that come in no order.
    """

    missing: int = 0
    missing_ids: tuple[Any, ...] = ()
    extra: int = 0
    extra_ids: tuple[Any, ...] = ()
    in_common: tuple[int, ...] = 0, 0, 0
    listed: tuple[bool, bool] = False, False
    grades: tuple[float, float] = NO_GRADES
    negative: int = 0
    keeps_losses: bool = False
    floored: int = 0
    cuts: Mapping[int | None, Cut] = field(default_factory=dict)
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
            self.extra + other.extra,
            first_ids(self.extra_ids, other.extra_ids, by_id=by_id),
            _added(self.in_common, other.in_common),
            (self.listed[0] or other.listed[0], self.listed[1] or other.listed[1]),
            ends_of(self.grades, other.grades),
            self.negative + other.negative,
            self.keeps_losses or other.keeps_losses,
            self.floored + other.floored,
            {k: Cut(*_added(cut, other.cuts[k])) for k, cut in self.cuts.items()},
            self.split + other.split,
            _added(self.removed, other.removed),
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


def _added(ours: Iterable[int], theirs: Iterable[int]) -> tuple[Any, ...]:
    """Add up the counts of two parts of the data."""
    return tuple(map(add, ours, theirs))


def seen_in(aligned: Aligned, metrics: Sequence[Metric]) -> Seen:
    """Return what a joined table shows that the reader of the numbers must know."""
    table = aligned.table
    length, known = table.n_retrieved, table.rank[table.grade >= 0]
    grade, in_tie = table.pool.grade, table.tied > 1
    cuts = {}
    for depth in {metric.depth for metric in metrics}:
        k = _NO_LIMIT if depth is None else depth
        inside = table.above < k
        cuts[depth] = Cut(
            int(np.minimum(length, k).sum()),
            int(np.count_nonzero(known <= k)),
            int(np.count_nonzero((length < k) & table.in_run)),
            _n_queries(table, inside & (table.above + table.tied > k)),
            _n_queries(table, inside & in_tie),
        )
    n, left = int(aligned.lengths.sum()), int(length.sum())
    return Seen(
        aligned.missing,
        tuple(aligned.missing_ids[:SHOWN]),
        len(aligned.extra),
        tuple(aligned.extra[:SHOWN]),
        aligned.in_common,
        (bool(table.in_run.any()), bool(length.any())),
        table.pool.bounds,
        int(np.count_nonzero(grade < 0)),
        table.keep_negative,
        aligned.floored,
        cuts,
        aligned.split,
        (0, 0) if aligned.whole is None else (n - left, n),
    )


def _n_queries(table: Judged, rows: Bools) -> int:
    return len(np.unique(table.query[rows]))


def _depths(metrics: Sequence[Metric]) -> list[int]:
    return sorted({metric.depth for metric in metrics if metric.depth is not None})


def ranking_metrics(plan: Plan) -> list[Metric]:
    """Return the metrics that read judged items, with what the convention says."""
    return [metric for metric in plan.bound if not isinstance(metric, ListMetric)]


def judged_notes(
    plan: Plan, summaries: Mapping[str, Summary], seen: Sequence[Seen]
) -> Iterator[Note]:
    """Say what was seen of judged queries."""
    metrics = ranking_metrics(plan)
    n_metrics = sum(
        metric.fact.summary != "sum" and metric.empty != "keep" for metric in metrics
    )
    yield from _apart(plan, seen)
    yield from hardly_met_notes(seen, "note")
    yield from _by_group(plan, seen, _unreachable)
    yield from _empty(summaries, n_metrics)
    yield from undefined_notes(summaries)
    yield from _condensed(plan, seen)
    yield from _by_group(plan, seen, _of_lists)
    yield from _by_group(plan, seen, _tied)
    yield from _by_group(plan, seen, _negative)


def _by_group(
    plan: Plan,
    seen: Sequence[Seen],
    said: Callable[[Seen, Sequence[Metric]], Iterable[str]],
) -> Iterator[Note]:
    """Say something of all metrics, or of each group where they have seen different."""
    every = ranking_metrics(plan)
    first, *others = (list(said(one, every)) for one in seen)
    if all(other == first for other in others):
        yield from map(Note, first)
        return
    whose: dict[str, list[int]] = {}
    for group, one in zip(plan.judged, seen, strict=True):
        for words in said(one, [member.metric for member in group.members]):
            numbers = (member.number for member in group.members)
            whose.setdefault(words, []).extend(numbers)
    for words, named in whose.items():
        labels = [plan.labels[number] for number in sorted(named)]
        yield _of_some(words, labels, len(every))


def _of_some(words: str, labels: Sequence[str], n: int, link: str = " ({})") -> Note:
    """Return a note that names its metrics, if they are not all n of them."""
    some = tuple(labels) if len(labels) < n else ()
    return Note(words + link.format(few(some)) if some else words, some)


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


def _apart(plan: Plan, seen: Sequence[Seen]) -> Iterator[Note]:
    """Say what only the judgements or only the run has, and for which metrics."""
    fates: dict[str, list[str]] = {}
    judged_only: list[str] = []
    members = (member for group in plan.groups for member in group.members)
    for number, metric, rule in sorted(members, key=itemgetter(0)):
        if isinstance(metric, ListMetric) and "judgements" not in metric.needs:
            continue
        fate = "left out" if rule.queries in {"run", "both"} else "counted as 0"
        fates.setdefault(fate, []).append(plan.labels[number])
        if rule.queries != "run":
            judged_only.append(plan.labels[number])
    n_metrics, one = len(plan.asked), max(seen, key=lambda one: one.extra)
    if one.missing:
        who = count(one.missing, "judged query")
        said = f"{who} missing from the run ({few(one.missing_ids, one.missing)})"
        for fate, labels in fates.items():
            yield _of_some(f"{said}: {fate}", labels, n_metrics, " for {}")
    if one.extra:
        who = count(one.extra, "query")
        said = f"{who} of the run without judgements ({few(one.extra_ids, one.extra)})"
        yield _of_some(f"{said}: not evaluated", judged_only, n_metrics, " for {}")


def hardly_met_notes(seen: Sequence[Seen], level: str) -> Iterator[Note]:
    """Say that hardly any judged item is in the run, if that is of this level."""
    # Some metrics take items into the lists that are not there.
    met = min((one.in_common for one in seen), key=itemgetter(-1), default=None)
    said = None if met is None else hardly_met(*met)
    if said is not None and said[0] == level:
        more = "rankine check shows whether both write ids the same way"
        yield Note(f"{said[1]}; {more}")


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
        said = f"{count(n, 'query')} without {lacks}: {fate}"
        yield _of_some(said, labels, n_metrics)


def undefined_notes(summaries: Mapping[str, Summary]) -> Iterator[Note]:
    """Say for how many queries metrics have no value, though there is one to find."""
    for label, summary in summaries.items():
        if (n := summary.n_without_value) > 0:
            said = f"{label} is undefined for {count(n, 'query')}: left out"
            yield Note(said, (label,))


def _of_lists(seen: Seen, metrics: Sequence[Metric]) -> Iterator[str]:
    """Say what lists lack, down to each cutoff: judgements, or items."""
    has_list, has_item = seen.listed
    if not has_item:
        if has_list:
            yield "all lists of the run are empty"
        return
    depths = _depths(metrics)
    cuts = [seen.cuts[k] for k in depths] or [seen.cuts[None]]
    shares = [
        percent(1 - cut.known / cut.shown, 1) if cut.known < cut.shown else ""
        for cut in cuts
    ]
    if seen.floored:
        who = count(seen.floored, "judged item")
        yield f"{who} with a score at or below the floor: counted as not relevant"
    elif any(shares) and _has_negatives(seen, metrics):
        words = "{} of the items in the top {}", "{} in the top {}"
        those = _at(depths, shares, *words) or f"{shares[0]} of the retrieved items"
        yield f"{those} are unjudged: counted as not relevant"
    lists = [count(cut.short, "list") if cut.short else "" for cut in cuts]
    if depths and any(lists):
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
        said.append(words.format(number, _enumerated(which, "or")))
    return _enumerated(said, "and")


def _enumerated(words: Sequence[str], link: str) -> str:
    *others, last = words or [""]
    return f"{', '.join(others)} {link} {last}" if others else last


def _condensed(plan: Plan, seen: Sequence[Seen]) -> Iterator[Note]:
    """Say how many items are missing from lists without unjudged items."""
    # Metrics with other conventions have other tables of the same lists.
    removed, n = max(one.removed for one in seen)
    if not removed:
        return
    whose = [
        plan.labels[number]
        for group in plan.judged
        for number, _, rule in group.members
        if rule.unjudged == "removed"
    ]
    who, share = count(removed, "unjudged item"), percent(removed / n, 1)
    said = f"{who} removed from the lists, {share} of all"
    yield _of_some(said, whose, len(ranking_metrics(plan)))


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
        yield f"{split} of the lists: {_RULE_DECIDES}"
    depths = _depths(metrics)
    across = (seen.cuts[k].across for k in depths)
    who = [count(n, "query") if n else "" for n in across]
    whole = any(metric.depth is None for metric in metrics)
    n_tied = seen.cuts[None if whole else depths[-1]].tied
    if any(who):
        words = "{} with judged items tied across rank {}", "{} across rank {}"
        yield f"{_at(depths, who, *words)}: {_rule_of_ties(metrics)}"
    elif n_tied:
        yield f"{count(n_tied, 'query')} with judged items in ties"


def _rule_of_ties(metrics: Sequence[Metric]) -> str:
    """Say what becomes of tied items, if all metrics agree."""
    chosen = {metric.get("ties") for metric in metrics if metric.fact.ordered}
    words = {
        "average": "averaged over their orders",
        "best": "in their best order",
        "worst": "in their worst order",
    }
    agreed = str(*chosen) if len(chosen) == 1 else ""
    return words.get(agreed, _RULE_DECIDES)


def _negative(seen: Seen, _: Sequence[Metric]) -> Iterator[str]:
    if seen.negative:
        fate = (
            "counted as losses"
            if seen.keeps_losses
            else "treated as unjudged, with gain 0"
        )
        yield f"{count(seen.negative, 'negative grade')}: {fate}"


def weight_notes(plan: Plan, summaries: Mapping[str, Summary]) -> Iterator[Note]:
    """Say how much queries count, and which metrics weights do not change."""
    if not plan.weighted:
        return
    known = [summary.weights for summary in summaries.values()]
    weights = next((each for each in known if each is not None), None)
    if weights is not None:
        yield from _of_weights(weights)
    whole = tuple(
        label
        for label, summary in summaries.items()
        if has_no_weights(summary.metric) and summary.weights is None
    )
    if whole:
        names = ", ".join(whole)
        said = f"weights do not change {names}: computed from all lists together"
        yield Note(said, whole)


def _of_weights(weights: Floats) -> Iterator[Note]:
    """Say how many queries were left out by their weights, and what the others weigh.

    Queries of unequal weights say as much as (sum w)^2 / sum w^2 of equal ones (Kish
    1965).
    """
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
