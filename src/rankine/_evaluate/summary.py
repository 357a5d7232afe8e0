"""From one value per query to one number; undefined values are counted."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from rankine._base.records import cached_property
from rankine._base.text import count
from rankine._stats.exact import weighted_sum
from rankine._stats.intervals import FLOOR, Interval, Sample
from rankine.errors import DataError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rankine._base.arrays import Bools, Floats
    from rankine._conventions.convention import Convention
    from rankine._join import Judged
    from rankine._metrics.metric import Metric, Parts
    from rankine._tables.joined import IdSequence
    from rankine._tables.lists import Exposure

_ABOVE_ZERO = float(np.nextafter(0, 1))
_BY_RULE = frozenset({"convention", "gaps"})
"""Kinds of metrics whose queries without relevant items follow the convention."""


@dataclass(frozen=True, eq=False)
class Summary:
    """One metric over all queries.

    Attributes:
        value: the number that stands for all queries.
        values: one value per query, as it counts; nan for queries left out.
        n: how many queries count.
        n_undefined: how many queries are left out because they have no value.
        parts: numerator and denominator per query, if these are pooled.
        metric: the metric.
        table: the table it was computed from; None if that was not kept.
        known_empty: which queries have nothing to find, if this is known and the table
            was not kept.
        weights: how much each query counts; None if all count the same.
        whole: for a saved number of a whole run, its value before it was rounded, and
            its values without each user.
    """

    value: float
    values: Floats
    n: int
    n_undefined: int
    parts: tuple[Floats, Floats] | None
    metric: Metric
    table: Judged | None = None
    known_empty: Bools | None = None
    weights: Floats | None = None
    whole: tuple[float, Floats] | None = None

    @cached_property
    def empty(self) -> Bools:
        """Which queries have nothing to find or to gain, if that matters here.

        Those of weight 0 are not among them.
        """
        if self.known_empty is not None:
            return self.known_empty
        if self.table is None or not _needs_relevant(self.metric):
            return np.zeros(len(self.values), dtype=np.bool_)
        return _empty(self.metric, self.table, None, self.weights)

    def take(self, kept: Bools) -> Summary:
        """Return the summary of some queries, without a number for all of them."""
        values = self.values[kept]
        weights = None if self.weights is None else self.weights[kept]
        parts = self.parts
        return replace(
            self,
            value=math.nan,
            values=values,
            n=int(np.count_nonzero(~np.isnan(values))),
            n_undefined=_n_undefined(values, weights),
            parts=None if parts is None else (parts[0][kept], parts[1][kept]),
            table=None,
            known_empty=self.empty[kept],
            weights=weights,
        )

    @property
    def n_empty(self) -> int:
        """How many queries have nothing to find."""
        return int(np.count_nonzero(self.empty))

    @property
    def n_without_value(self) -> int:
        """How many queries have something to find, and no value."""
        return self.n_undefined - int(
            np.count_nonzero(np.isnan(self.values[self.empty]))
        )

    @property
    def uneven(self) -> Floats | None:
        """The weights, if those of the queries that count are not all the same."""
        return uneven(self.values, self.weights)

    @property
    def sample(self) -> Sample:
        """The sample behind the number's interval; empty if it has none."""
        values, across = self.values, self.metric.across
        if across is not None and across.is_one_number and self.parts is None:
            # All queries have the same number, so its spread is unknown.
            values = np.full(len(values), np.nan)
        elif self.metric.fact.pairs is not None:
            # A query is also part of the pairs of all others, so its deviation counts
            # twice (Hoeffding 1948).
            mean = reduce(values[~np.isnan(values)], "mean")
            values = self.value + 2 * (values - mean)
        return Sample(values, self.metric.summary, self.parts, self.uneven, self.value)

    def inside(
        self, interval: Interval, decimals: int | None, *, cut: bool
    ) -> Interval:
        """Return an interval that is rounded like the number and within its bounds.

        Args:
            interval: the interval as computed.
            decimals: to how many digits the convention rounds the number, if it does.
            cut: whether to cut the interval at the bounds of the metric: a bootstrap
                interval exceeds them only by rounding, and a Student's interval of a
                mean over pairs must not; other Student's intervals may.
        """
        if cut or self.metric.fact.pairs is not None:
            least, most = self.metric.bounds
            interval = Interval(*(min(max(bound, least), most) for bound in interval))
        return rounded_bounds(interval, decimals)

    @property
    def fate_of_empty(self) -> str:
        """How queries without relevant items were counted, in words."""
        if has_no_weights(self.metric):  # its values are not those of queries
            return "no value of its own in a number for the whole run"
        worth = self.values[self.empty]
        if np.isnan(worth).all():
            return "left out"
        return f"counted as {worth[0]:g}"


def summarize(
    metric: Metric,
    table: Judged,
    rule: Convention,
    ids: IdSequence = (),
    weights: Floats | None = None,
) -> Summary:
    """Compute a metric for every query and sum it up as the convention says.

    The ids of the queries are for messages only. A query of weight 0 is left out.
    """
    fact = metric.fact
    if fact.summary == "run":
        return _of_run(metric, table, rule, weights)  # type: ignore[arg-type]
    if weights is not None and has_no_weights(metric):
        weights = None
    values = metric.values(table)
    if weights is not None:
        values = np.where(weights > 0, values, np.nan)
    # A query without relevant items has nan or 0, so that there is nothing to do if
    # it is to count 0 and no value is nan.
    how = metric.summary
    value = reduce(values, how)
    n, n_undefined, empty = len(values), 0, None
    skips = rule.empty_list == "skip"
    if math.isnan(value) or rule.empty_truth != "zero" or skips:
        values, empty = _with_fates(metric, table, values, rule, ids, weights)
        known = values[~np.isnan(values)]
        n, n_undefined = len(known), _n_undefined(values, weights)
        value = reduce(known, how)
        if rule.empty_truth == "nan" and metric.empty in _BY_RULE and n_undefined:
            value = math.nan
    parts = None
    if fact.pairs is not None:
        value = fact.pairs(table, **dict(metric.params))
    if n and fact.parts is not None and _is_pooled(metric, rule):
        parts = _parts(fact.parts, metric, table, values)
        value = _ratio(*parts)
    times = None if fact.times is None else fact.times(table, **dict(metric.params))
    if times is not None:
        entered = ~np.isnan(values)
        n_undefined = _n_undefined(np.where(times > 0, values, 0), weights)
        parts = np.where(entered, times * values, 0), np.where(entered, times, 0)
        value = _ratio(*parts)
    if weights is None:
        value = _rounded(value if n else _nothing(metric, rule), rule.decimals)
    summary = Summary(value, values, n, n_undefined, parts, metric, table, empty)
    return summary if weights is None else _weighed(summary, rule, weights)


def _of_run(
    metric: Metric, table: Exposure, rule: Convention, weights: Floats | None
) -> Summary:
    """Compute a number of a whole run, with the share of each query, if it has one."""
    each = metric.fact.each and metric.fact.each(table, **dict(metric.params))
    whole = of_all(metric, table, rule, each)
    unknown = each is None or np.isnan(each).any() or not len(each)
    return whole if weights is None or unknown else _weighed(whole, rule, weights)


def _with_fates(
    metric: Metric,
    table: Judged,
    values: Floats,
    rule: Convention,
    ids: IdSequence,
    weights: Floats | None,
) -> tuple[Floats, Bools | None]:
    """Apply the convention to queries that have nothing to find, or no items.

    Also returns which queries have nothing to find, if that matters here.
    """
    empty = None
    if _needs_relevant(metric):
        empty = _empty(metric, table, np.isnan(values), weights)
        if metric.empty in _BY_RULE:
            values = _with_empty(values, empty, rule, ids, metric.fact.lacks)
    if rule.empty_list == "skip":
        bare = table.without_items(metric.depth)
        values = np.where(bare, np.nan, values)
        empty = None if empty is None else empty & ~bare
    return values, empty


def _weighed(summary: Summary, rule: Convention, weights: Floats) -> Summary:
    """Count each query by its weight."""
    metric = summary.metric
    undefined = math.isnan(summary.value) and summary.n > 0
    values = np.where(weights > 0, summary.values, np.nan)
    entered = ~np.isnan(values)
    n, parts = int(np.count_nonzero(entered)), summary.parts
    if parts is not None:
        parts = np.where(entered, parts[0], 0), np.where(entered, parts[1], 0)
    weighed = replace(summary, values=values, n=n, parts=parts, weights=weights)
    weight = None if weighed.uneven is None else weights
    if undefined or not n:
        value = math.nan if undefined else _nothing(metric, rule)
    elif parts is not None:
        value = _ratio(*parts, weight)
    else:
        known = None if weight is None else weight[entered]
        value = reduce(values[entered], metric.summary, known)
    return replace(weighed, value=_rounded(value, rule.decimals))


def _is_pooled(metric: Metric, rule: Convention) -> bool:
    """Say whether numerators and denominators are added up over all queries."""
    return "ratio_of_sums" in (rule.aggregate, metric.get("aggregate"))


def has_no_weights(metric: Metric) -> bool:
    """Say whether a number is for all queries together, and not a mean over them."""
    across = metric.across
    return metric.fact.of_all or (across is not None and across.is_one_number)


def together(metric: Metric, rule: Convention, summaries: Sequence[Summary]) -> Summary:
    """Combine summaries of different queries, as if all were one table.

    Sums are exact, so that the order does not matter.
    """
    values = np.concatenate([summary.values for summary in summaries] or [np.zeros(0)])
    known = ~np.isnan(values)
    n = int(np.count_nonzero(known))
    weights = None
    if any(summary.weights is not None for summary in summaries):
        weights = np.concatenate(
            [summary.weights for summary in summaries if summary.weights is not None]
        )
    value = reduce(values[known], metric.summary)
    # The number of nan would be wrong: queries of weight 0 are left out, not undefined.
    n_undefined = sum(summary.n_undefined for summary in summaries)
    parts = None
    pairs = [summary.parts for summary in summaries if summary.parts is not None]
    if n and pairs:
        # A batch in which no query has a value takes no part.
        pairs = [
            summary.parts or _no_parts(len(summary.values)) for summary in summaries
        ]
        up, down = (np.concatenate(side) for side in zip(*pairs, strict=True))
        parts, value = (up, down), _ratio(up, down)
    # If all is pooled, queries without a value take no part.
    value = settled(metric, rule, value, n, 0 if parts else n_undefined)
    empty = np.concatenate(
        [summary.empty for summary in summaries] or [np.zeros(0, dtype=bool)]
    )
    whole = Summary(value, values, n, n_undefined, parts, metric, None, empty)
    return whole if weights is None else _weighed(whole, rule, weights)


def settled(
    metric: Metric, rule: Convention, value: float, n: int, n_undefined: int
) -> float:
    """Return the number of n queries under a convention, even if n is 0."""
    if rule.empty_truth == "nan" and metric.empty in _BY_RULE and n_undefined:
        value = math.nan
    return _rounded(value if n else _nothing(metric, rule), rule.decimals)


def _no_parts(n: int) -> tuple[Floats, Floats]:
    return np.zeros(n), np.zeros(n)


def _rounded(value: float, decimals: int | None) -> float:
    """Round as a convention does, if it does."""
    if decimals is not None and math.isfinite(value):
        return round(value, decimals)
    return value


def rounded_bounds(interval: Interval, decimals: int | None) -> Interval:
    """Round the bounds of an interval as a convention rounds its number."""
    return Interval(*(_rounded(bound, decimals) for bound in interval))


def mean_of(values: Floats, weights: Floats | None, decimals: int | None) -> float:
    """Return the mean of computed values, as `summarize` does.

    Args:
        values: one per query, nan where a query is left out.
        weights: how much each query counts; None if all count the same.
        decimals: to how many digits the convention rounds, if it does.

    >>> mean_of(np.array([0.5, np.nan, 0.25]), None, 2)
    0.38
    """
    known = ~np.isnan(values)
    weight = uneven(values, weights)
    if weight is not None:
        weight = weight[known]
    return _rounded(reduce(values[known], "mean", weight), decimals)


def uneven(values: Floats, weights: Floats | None) -> Floats | None:
    """Return weights, if those of the queries with a value are not all the same."""
    if weights is None:
        return None
    entered = weights[~np.isnan(values)]
    same = len(entered) == 0 or bool((entered == entered[0]).all())
    return None if same else weights


def of_all(
    metric: Metric, shown: Exposure, rule: Convention, each: Floats | None = None
) -> Summary:
    """Return a number for all lists together, from the items in them.

    Each of them may have a value, too.
    """
    value = number_of_all(metric, shown)
    if metric.fact.pairs is not None and math.isnan(value):
        value = _nothing(metric, rule)
    n = n_queries = shown.n_queries
    if metric.fact.pairs is not None:
        # A user without a list is in no pair, nor is a single list.
        n_lists = shown.tally(metric.depth, once=True).n_lists
        n = n_lists if n_lists > 1 else 0
    values = np.full(n_queries, np.nan) if each is None else each
    value = _rounded(value, rule.decimals)
    return Summary(value, values, n, n_queries - n, None, metric)


def number_of_all(metric: Metric, shown: Exposure) -> float:
    """Return the number of all lists, before a convention rounds it."""
    pairs = metric.fact.pairs
    if pairs is None:
        return float(metric.values(shown)[0])
    return pairs(shown, **dict(metric.params))


def finite(value: float | None) -> float | None:
    """Return a number for JSON: None if it is undefined or infinite."""
    return value if value is not None and math.isfinite(value) else None


def _needs_relevant(metric: Metric) -> bool:
    return metric.fact.summary not in {"sum", "run"} and metric.empty != "keep"


def _n_undefined(values: Floats, weights: Floats | None) -> int:
    """Count the queries without a value, except those of weight 0."""
    unknown = np.isnan(values)
    if weights is not None:
        unknown &= weights > 0
    return int(np.count_nonzero(unknown))


def _empty(
    metric: Metric, table: Judged, gaps: Bools | None, weights: Floats | None
) -> Bools:
    """Mark the queries without anything to gain, except those of weight 0."""
    empty = _without_gain(metric, table, gaps)
    return empty if weights is None else empty & (weights > 0)


def _without_gain(metric: Metric, table: Judged, gaps: Bools | None) -> Bools:
    """Mark the queries without anything to gain: mostly those without relevant items.

    Some metrics declare that queries without a value have nothing to gain either. If
    losses count, avoiding them is a gain.
    """
    if gaps is None:
        gaps = np.zeros(table.n_queries, dtype=np.bool_)
    losses = table.keep_negative and metric.get("gain") == "linear"
    own = metric.empty == "gaps" or (losses and metric.empty == "convention")
    # Whether a query without a value has nothing to gain, in spite of relevant items.
    folds = metric.empty in _BY_RULE and metric.fact.undefined == "convention"
    if own and folds:
        return gaps
    empty: Bools = table.n_relevant(least_relevant(metric)) == 0
    if own:
        return empty & gaps
    return empty | gaps if folds else empty


def least_relevant(metric: Metric) -> float:
    """Return the smallest grade that a metric can gain from."""
    rel = metric.get("rel")
    if rel is not None:
        return float(rel)
    return 1 if metric.get("gain") == "binary" else _ABOVE_ZERO


def reduce(values: Floats, how: str, weights: Floats | None = None) -> float:
    """Reduce values to their sum, their mean or their geometric mean.

    The sum is exact and rounded once, so that it does not depend on the order. Weights
    that are whole numbers give the same result as repeated values.

    >>> reduce(np.array([0.1] * 10), "mean")
    0.1
    >>> reduce(np.array([0.25, 0.04]), "geometric")
    0.1
    >>> reduce(np.array([1.0, 0.0]), "mean", np.array([3.0, 1.0]))
    0.75
    """
    if len(values) == 0:
        return math.nan
    size = float(len(values)) if weights is None else math.fsum(weights.tolist())
    if how == "geometric":
        logs = np.log(np.maximum(values, FLOOR))
        return math.exp(_sum(logs, weights) / size)
    total = _sum(values, weights)
    return total if how == "sum" else total / size


def _sum(values: Floats, weights: Floats | None) -> float:
    if weights is not None:
        return weighted_sum(values, weights)
    try:
        return math.fsum(values.tolist())
    except OverflowError:  # beyond the largest float
        return math.inf


def _with_empty(
    values: Floats,
    empty: Bools,
    rule: Convention,
    ids: IdSequence,
    lacks: str,
) -> Floats:
    """Give queries without relevant items the value that the convention says."""
    if rule.empty_truth == "error" and empty.any():
        shown = [ids[int(row)] for row in np.flatnonzero(empty)[:3]]
        raise nothing_to_find(int(empty.sum()), lacks, shown)
    worth = 0.0 if rule.empty_truth == "zero" else np.nan
    return np.where(empty, 1.0 if rule.empty_truth == "one" else worth, values)


def nothing_to_find(n: int, lacks: str, ids: Sequence[Any]) -> DataError:
    """Say that n queries lack relevant items, if the convention refuses that."""
    who, names = count(n, "query"), ", ".join(map(str, ids))
    msg = f"{who} without {lacks} ({names}), which the convention refuses"
    return DataError(msg)


def _parts(
    split: Parts, metric: Metric, table: Judged, values: Floats
) -> tuple[Floats, Floats]:
    numerator, denominator = split(table, **dict(metric.params))
    left_out = np.isnan(values)
    return np.where(left_out, 0, numerator), np.where(left_out, 0, denominator)


def _ratio(
    numerator: Floats, denominator: Floats, weights: Floats | None = None
) -> float:
    down = _sum(denominator, weights)
    return _sum(numerator, weights) / down if down else math.nan


def _nothing(metric: Metric, rule: Convention) -> float:
    if rule.nothing == "error":
        msg = f"no query is left to average {metric.label} over"
        raise DataError(msg)
    return 0.0 if rule.nothing == "zero" else math.nan
