"""Notes: what was dropped, undefined, unjudged or tied, in sentences with counts."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import partial
from operator import add, itemgetter
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from rankine._base.text import count, percent, shortened
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
    """Return each sentence once, about all metrics it is about."""
    by_words: dict[str, tuple[str, ...]] = {}
    for words, metrics in notes:
        before = by_words.get(words, metrics)
        of_all = not before or not metrics
        by_words[words] = () if of_all else tuple(dict.fromkeys((*before, *metrics)))
    return tuple(map(Note, by_words.keys(), by_words.values()))


class Cut(NamedTuple):
    """Counts in the lists down to a cutoff, or in whole lists.

    Attributes:
        shown: how many items there are.
        known: how many of these are judged.
        short: how many lists end before the cutoff.
        across: in how many queries judged items are tied across it.
        tied: in how many queries judged items above it are tied.
    """

    shown: int
    known: int
    short: int
    across: int
    tied: int


@dataclass(frozen=True)
class Seen:
    """Facts about judged queries, in numbers that add up over parts of the data.

    They are the same for all metrics of a group; other groups may have other queries,
    grades and floors.

    Attributes:
        missing: how many judged queries the run lacks.
        missing_ids: the first few of them.
        extra: how many queries of the run are not judged.
        extra_ids: the first few of them.
        in_common: how many items are judged, how many of these fit into the lists, and
            how many are in them.
        listed: whether any query has a list, and whether any list has an item.
        grades: the smallest and the largest grade.
        negative: how many grades are below 0.
        keeps_losses: whether these count as losses.
        floored: how many judged items have a score at or below the floor.
        cuts: the counts down to the cutoff of each metric; None is no cutoff.
        split: in how many queries judged items are tied across the depth at which lists
            were cut.
        removed: how many unjudged items were removed from condensed lists, and how many
            items there were.
        by_id: whether the ids are the smallest, as queries come in no order.
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
        """Return the facts about both parts of the data."""
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
    """Return facts about a joined table that a reader of the numbers must know."""
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
    """Return the metrics that read judged items, filled in from the convention."""
    return [metric for metric in plan.bound if not isinstance(metric, ListMetric)]


def judged_notes(
    plan: Plan, summaries: Mapping[str, Summary], seen: Sequence[Seen], unit: str
) -> Iterator[Note]:
    """Say what was seen of judged queries, or of users, if that is their unit."""
    metrics = ranking_metrics(plan)
    n_metrics = sum(
        metric.fact.summary != "sum" and metric.empty != "keep" for metric in metrics
    )
    yield from _apart(plan, seen, unit)
    yield from hardly_met_notes(seen, "note")
    yield from _by_group(plan, seen, _unreachable)
    yield from _empty(summaries, n_metrics, unit)
    yield from undefined_notes(summaries, unit)
    yield from _condensed(plan, seen)
    yield from _by_group(plan, seen, _of_lists)
    yield from _by_group(plan, seen, partial(_tied, unit=unit))
    yield from _by_group(plan, seen, _negative)


def _by_group(
    plan: Plan,
    seen: Sequence[Seen],
    said: Callable[[Seen, Sequence[Metric]], Iterable[str]],
) -> Iterator[Note]:
    """Yield notes about all metrics, or about each group if they differ."""
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
    """Name the first few of n values, or of all values.

    >>> few(["q1", "q2", "q3", "q4"]), few(["q1"], 2)
    ('q1, q2, q3, ...', 'q1, ...')
    """
    first = [shortened(str(value)) for value in values[:SHOWN]]
    more = len(first) < (len(values) if n is None else n)
    return ", ".join([*first, "..."] if more else first)


def said_once(by_run: Mapping[str, Iterable[str]]) -> list[str]:
    """Return the notes of runs; those that all share, without the names of runs.

    A note that begins with the file of its run is named after that alone.
    """
    whose: dict[str, list[str]] = {}
    own = set()
    for name, notes in by_run.items():
        for note in notes:
            words = without_name(note, name)
            whose.setdefault(words, []).append(name)
            if words != note:
                own.add(words)
    return [
        said
        for note, names in whose.items()
        for said in (
            [note]
            if len(names) == len(by_run) and note not in own
            else [f"{name}: {note}" for name in names]
        )
    ]


def without_name(note: str, name: str) -> str:
    """Leave out the run that a note is about, where the run is named beside it.

    >>> without_name("runs/a.csv: no header", "a.csv"), without_name("no header", "a")
    ('no header', 'no header')
    """
    file, mark, words = note.partition(": ")
    own = mark and (file == name or file.endswith(("/" + name, "\\" + name)))
    return words if own else note


def without_effect(plan: Plan) -> Iterator[Note]:
    """Yield a note on the metrics that rel= does not change, and how to change them."""
    rel = plan.rel
    idle = {
        label: metric
        for label, metric, filled in zip(
            plan.labels, plan.asked, plan.bound, strict=True
        )
        if not metric.binds("rel") and filled.get("rel") != rel and _is_graded(filled)
    }
    if rel is None or not idle:
        return
    said = f"rel={rel:g} does not change {few([*idle])}: grades count as they are"
    able = [metric(rel=rel) for metric in idle.values() if metric.takes("rel")]
    if able:
        said += f"; write {few(able)} to leave out grades below {rel:g}"
    yield Note(said, tuple(idle))


def _is_graded(metric: Metric) -> bool:
    """Say whether a metric uses grades, instead of only counting items."""
    fact = metric.fact
    return metric.takes("rel") or (fact.summary != "sum" and fact.empty != "keep")


def _apart(plan: Plan, seen: Sequence[Seen], unit: str) -> Iterator[Note]:
    """Yield notes on what only the judgements or only the run has, by metric."""
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
        who = count(one.missing, f"judged {unit}")
        said = f"{who} missing from the run ({few(one.missing_ids, one.missing)})"
        for fate, labels in fates.items():
            yield _of_some(f"{said}: {fate}", labels, n_metrics, " for {}")
    if one.extra:
        who = count(one.extra, unit)
        said = f"{who} of the run without judgements ({few(one.extra_ids, one.extra)})"
        yield _of_some(f"{said}: not evaluated", judged_only, n_metrics, " for {}")


def hardly_met_notes(seen: Sequence[Seen], level: str) -> Iterator[Note]:
    """Say that hardly any judged item is in the run, if that is of this level."""
    # Some metrics count items as listed that are not there.
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


def _empty(
    summaries: Mapping[str, Summary], n_metrics: int, unit: str
) -> Iterator[Note]:
    """Count the queries without relevant items; thresholds may differ by metric."""
    notes: dict[tuple[int, str, str], list[str]] = {}
    for label, summary in summaries.items():
        if summary.n_empty:
            key = (summary.n_empty, summary.metric.fact.lacks, summary.fate_of_empty)
            notes.setdefault(key, []).append(label)
    for (n, lacks, fate), labels in notes.items():
        said = f"{count(n, unit)} without {lacks}: {fate}"
        yield _of_some(said, labels, n_metrics)


def undefined_notes(summaries: Mapping[str, Summary], unit: str) -> Iterator[Note]:
    """Count the queries without a value, except those without relevant items."""
    for label, summary in summaries.items():
        if (n := summary.n_without_value) > 0:
            said = f"{label} is undefined for {count(n, unit)}: left out"
            yield Note(said, (label,))


def _of_lists(seen: Seen, metrics: Sequence[Metric]) -> Iterator[str]:
    """Yield notes on what lists lack down to each cutoff: judgements, or items."""
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
    """Name the numbers of cutoffs in words, the same numbers together.

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
    """Count the unjudged items that were removed from lists."""
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
    """Say whether some judged item is not relevant, for at least one metric.

    If there is none, as in clicks, only relevant items are judged, so that unjudged
    items are not worth a note.
    """
    least, _ = seen.grades
    thresholds = [metric.get("rel") for metric in metrics]
    return any(least <= 0 if rel is None else least < rel for rel in thresholds)


def _tied(seen: Seen, metrics: Sequence[Metric], unit: str) -> Iterator[str]:
    if seen.split:
        split = f"{count(seen.split, unit)} with judged items tied across the depth"
        yield f"{split} of the lists: {_RULE_DECIDES}"
    depths = _depths(metrics)
    across = (seen.cuts[k].across for k in depths)
    who = [count(n, unit) if n else "" for n in across]
    whole = any(metric.depth is None for metric in metrics)
    n_tied = seen.cuts[None if whole else depths[-1]].tied
    if any(who):
        words = "{} with judged items tied across rank {}", "{} across rank {}"
        yield f"{_at(depths, who, *words)}: {_rule_of_ties(metrics)}"
    elif n_tied:
        yield f"{count(n_tied, unit)} with tied judged items"


def _rule_of_ties(metrics: Sequence[Metric]) -> str:
    """Say how tied items are treated, if all metrics agree."""
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


def weight_notes(
    plan: Plan, summaries: Mapping[str, Summary], unit: str
) -> Iterator[Note]:
    """Yield notes on weights, and on metrics that they do not change."""
    if not plan.weighted:
        return
    known = [summary.weights for summary in summaries.values()]
    weights = next((each for each in known if each is not None), None)
    if weights is not None:
        yield from _of_weights(weights, unit)
    whole = tuple(
        label
        for label, summary in summaries.items()
        if has_no_weights(summary.metric) and summary.weights is None
    )
    if whole:
        names = ", ".join(whole)
        said = f"weights do not change {names}: computed from all lists together"
        yield Note(said, whole)


def _of_weights(weights: Floats, unit: str) -> Iterator[Note]:
    """Yield notes on queries of weight 0, and on how informative the others are.

    Queries with unequal weights are as informative as (sum w)^2 / sum w^2 with equal
    weights (Kish 1965).
    """
    n_zero = int(np.count_nonzero(weights == 0))
    if n_zero:
        yield Note(f"{count(n_zero, unit)} with weight 0: left out")
    positive = weights[weights > 0]
    if len(positive) and (positive != positive[0]).any():
        share = positive / positive.max()
        effective = float(share.sum() ** 2 / (share**2).sum())
        yield Note(
            f"{count(len(positive), unit)} with different weights, as informative "
            f"as {effective:.1f} with equal weights"
        )
