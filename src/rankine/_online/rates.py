"""The online metrics as functions of counts or of a log, each with its interval."""

from __future__ import annotations

import json
import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np

from rankine._base.checks import check_number
from rankine._evaluate.summary import finite
from rankine._online.metrics import refuse_idle
from rankine._online.oddities import counted
from rankine._online.rules import RuleOptions, Rules
from rankine._online.spreads import (
    NONE,
    clustered,
    quantile_of,
    share_of,
    without_spread,
)
from rankine._online.summary import summarize
from rankine._online.table import counts_of
from rankine._online.times import SECOND
from rankine._stats.intervals import Interval
from rankine.errors import ParameterError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rankine._base.arrays import Floats

_REPEAT = "Wilson's interval from counts: too narrow if users repeat"


@dataclass(frozen=True)
class Rate:
    """An online metric of one group of users.

    Attributes:
        metric: its name.
        value: the number; nan if there is nothing to divide by.
        interval: its confidence interval; nan if there is none.
        n: what the denominator counts; None for a return on costs.
        confidence: of the interval.
        notes: how the interval was computed, and why a number is undefined.
    """

    metric: str
    value: float
    interval: Interval
    n: int | None
    confidence: float
    notes: tuple[str, ...] = ()

    def __str__(self) -> str:
        """Return the number, its interval, and the notes."""
        from rankine._report.online import rate_text  # noqa: PLC0415

        return rate_text(self)

    def _repr_html_(self) -> str:
        from rankine._report.notebook import rate_html  # noqa: PLC0415

        return rate_html(self)

    def to_dict(self) -> dict[str, Any]:
        """Return everything, ready for JSON; undefined values are None."""
        return {
            "metric": self.metric,
            "value": finite(self.value),
            "interval": {
                "low": finite(self.interval.low),
                "high": finite(self.interval.high),
            },
            "n": self.n,
            "confidence": self.confidence,
            "notes": list(self.notes),
        }

    def to_json(self, *, indent: int | None = 2) -> str:
        """Return everything as JSON; undefined values are null."""
        return json.dumps(self.to_dict(), indent=indent, allow_nan=False)


def _of_log(
    name: str, events: Any, confidence: float, options: Mapping[str, Any]
) -> Rate:
    """Return a metric over all users of a log."""
    found = summarize(events, [name], by=None, confidence=confidence, **options)
    ((_, value, low, high, n, _),) = found.table.rows()
    left = [f"left out: {counted(n, what)}" for what, n in found.excluded.items()]
    notes = (*found.notes, *left)
    return Rate(name, value, Interval(low, high), n, confidence, notes)


def _of_counts(
    name: str, hits: Any, n: Any, words: tuple[str, str], confidence: float
) -> Rate:
    """Return a share of counts, with Wilson's interval."""
    for word, number in zip(words, (hits, n), strict=True):
        check_number(word, number, least=0)
        if number != int(number):
            msg = f"{word} must be a count, got {number!r}"
            raise ParameterError(msg)
    if hits > n:
        msg = f"{words[0]} must be at most {words[1]}, got {hits} and {n}"
        raise ParameterError(msg)
    value, bounds = share_of(hits, n, confidence)
    why = _REPEAT if n else f"{name} is undefined: there are no {words[1]}"
    return Rate(name, value, bounds, int(n), confidence, (why,))


def _rate(
    name: str,
    events: Any,
    counts: Mapping[str, Any],
    confidence: float,
    options: Mapping[str, Any],
) -> Rate:
    """Return a metric of a log, or of two counts."""
    check_number("confidence", confidence, above=0, below=1)
    given = [word for word, number in counts.items() if number is not None]
    words = " and ".join(counts)
    if (events is None) == (not given) or (given and len(given) < len(counts)):
        msg = f"{name} takes events, or {words}"
        raise ParameterError(msg)
    if events is not None:
        return _of_log(name, events, confidence, options)
    if options:
        msg = f"{next(iter(options))} says how a log is read; {words} are counts"
        raise ParameterError(msg)
    above, below = counts
    return _of_counts(name, counts[above], counts[below], (above, below), confidence)


def click_through_rate(
    events: Any = None,
    *,
    clicks: float | None = None,
    impressions: float | None = None,
    confidence: float = 0.95,
    **rules: Unpack[RuleOptions],
) -> Rate:
    """Return the share of impressions that were clicked.

    Formula:
        ctr = clicks / impressions

    Args:
        events: a log, as `summarize` takes it.
        clicks: their total, instead of events.
        impressions: their total, instead of events.
        confidence: of the interval.
        **rules: how a log is read, as in `summarize`.

    Returns:
        A `Rate` from 0 to 1, nan without impressions. From a log, its interval is over
        users, by the delta method; from counts, it is Wilson's, which is too narrow if
        users repeat.

    Examples:
        30 / 1000 = 0.03.

        >>> import rankine as rk
        >>> rate = rk.online.click_through_rate(clicks=30, impressions=1000)
        >>> rate.value, rate.interval, rate.n
        (0.03, Interval(low=0.0211, high=0.0425), 1000)
    """
    counts = {"clicks": clicks, "impressions": impressions}
    return _rate("ctr", events, counts, confidence, rules)


def conversion_rate(
    events: Any = None,
    *,
    conversions: float | None = None,
    units: float | None = None,
    confidence: float = 0.95,
    **rules: Unpack[RuleOptions],
) -> Rate:
    """Return the share of users, sessions or clicks that convert.

    Formula:
        conversion_rate = units that convert / units

    Args:
        events: a log, as `summarize` takes it; ``unit=`` says what converts; or
        conversions: the number of units that convert, and
        units: the number of all.
        confidence: of the interval.
        **rules: how a log is read, as in `summarize`.

    Returns:
        A `Rate` from 0 to 1, nan without units. Its interval is Wilson's if users
        convert, and otherwise over users, by the delta method.

    Examples:
        One of two users buys: 1 / 2 = 0.5.

        >>> import polars as pl
        >>> import rankine as rk
        >>> log = pl.DataFrame({"user_id": [1, 1, 2], "timestamp": [1, 2, 3]})
        >>> log = log.with_columns(event=pl.Series(["click", "purchase", "click"]))
        >>> rk.online.conversion_rate(log).value
        0.5
    """
    counts = {"conversions": conversions, "units": units}
    return _rate("conversion_rate", events, counts, confidence, rules)


def bounce_rate(
    events: Any = None,
    *,
    bounces: float | None = None,
    sessions: float | None = None,
    confidence: float = 0.95,
    **rules: Unpack[RuleOptions],
) -> Rate:
    """Return the share of sessions with a single page view and no further action.

    Formula:
        bounce_rate = sessions with one page view and no action / sessions

    Args:
        events: a log, as `summarize` takes it; or
        bounces: the number of sessions that bounce, and
        sessions: the number of all.
        confidence: of the interval.
        **rules: how a log is read, as in `summarize`.

    Returns:
        A `Rate` from 0 to 1, nan without sessions; lower is better. An impression, a
        heartbeat and an exposure are not actions. A session without a page view counts,
        and does not bounce.

    Examples:
        1 of 4 sessions: 0.25.

        >>> import rankine as rk
        >>> rk.online.bounce_rate(bounces=1, sessions=4).value
        0.25
    """
    counts = {"bounces": bounces, "sessions": sessions}
    return _rate("bounce_rate", events, counts, confidence, rules)


def engagement_rate(
    events: Any = None,
    *,
    engaged: float | Collection[str] | None = None,
    sessions: float | None = None,
    confidence: float = 0.95,
    **rules: Any,
) -> Rate:
    """Return the share of sessions that are engaged.

    Formula:
        engagement_rate = engaged sessions / sessions

    Args:
        events: a log, as `summarize` takes it; or counts.
        engaged: with a log, the events that make a session engaged, or the seconds it
            lasts; without one, the number of engaged sessions.
        sessions: the number of all.
        confidence: of the interval.
        **rules: how a log is read, as in `summarize`.

    Returns:
        A `Rate` from 0 to 1, nan without sessions.

    Examples:
        3 of 4 sessions: 0.75.

        >>> import rankine as rk
        >>> rk.online.engagement_rate(engaged=3, sessions=4).value
        0.75
    """
    if events is not None:
        said = {**rules, "engaged": engaged}
        return _rate(
            "engagement_rate", events, {"sessions": sessions}, confidence, said
        )
    both = {"engaged": engaged, "sessions": sessions}
    return _rate("engagement_rate", None, both, confidence, rules)


def roi(
    events: Any = None,
    *,
    revenue: float | None = None,
    cost: float | None = None,
    confidence: float = 0.95,
    **rules: Unpack[RuleOptions],
) -> Rate:
    """Return the return on investment: what was earned for what was spent.

    Formula:
        roi = (revenue - cost) / cost

    Args:
        events: a log with values and costs, as `summarize` takes it; or
        revenue: the total, below 0 if refunds exceed sales, and
        cost: the total.
        confidence: of the interval.
        **rules: how a log is read, as in `summarize`.

    Returns:
        A `Rate` without bounds, nan if nothing was spent. From a log, its interval is
        over users; totals have none.

    Examples:
        (1500 - 1000) / 1000 = 0.5.

        >>> import rankine as rk
        >>> rk.online.roi(revenue=1500, cost=1000).value
        0.5
    """
    if events is not None or revenue is None or cost is None:
        counts = {"revenue": revenue, "cost": cost}
        return _rate("roi", events, counts, confidence, rules)
    check_number("revenue", revenue)
    check_number("cost", cost, least=0)
    check_number("confidence", confidence, above=0, below=1)
    notes = ["totals say nothing about how users differ: no interval"]
    if revenue < 0:
        notes.append("revenue is negative: refunds exceed sales")
    value = (revenue - cost) / cost if cost else math.nan
    if not cost:
        notes = ["roi is undefined: cost is 0", *notes[1:]]
    return Rate("roi", value, NONE, None, confidence, tuple(notes))


def _bare(seconds: Any, rules: Mapping[str, Any]) -> Floats:
    """Return times that were given directly, capped if asked for."""
    times: Floats = np.asarray(seconds, dtype=np.float64)
    if times.ndim != 1 or not np.isfinite(times).all() or (times < 0).any():
        msg = "seconds must be finite numbers of at least 0"
        raise ParameterError(msg)
    others = [name for name in rules if name != "cap"]
    if others:
        msg = f"{others[0]} says how a log is read; seconds are times already"
        raise ParameterError(msg)
    longest = Rules.of(rules).longest
    if longest is not None:
        times = np.minimum(times, longest / SECOND)
    return times


def time_on_page(
    events: Any = None,
    *,
    seconds: Sequence[float] | None = None,
    quantile: float | None = None,
    confidence: float = 0.95,
    **rules: Unpack[RuleOptions],
) -> Rate:
    """Return the mean seconds from a page view to the next one of the session.

    Formula:
        time_on_page = sum of seconds to the next page view / page views with a next

    Args:
        events: a log, as `summarize` takes it; ``cap=`` bounds each time, and
            ``last_page="heartbeat"`` closes the last page of a session; or
        seconds: the times themselves; ``cap=`` bounds these as well.
        quantile: 0.5 for the median instead of the mean, or any other quantile.
        confidence: of the interval.
        **rules: how a log is read, as in `summarize`.

    Returns:
        A `Rate` in seconds, nan if no page has a next. The interval of a quantile
        comes from the shares of page views below it and up to it, clustered by user
        (Deng, Knoblich and Lu 2018). From bare seconds, intervals are too narrow if
        users repeat.

    Examples:
        (10 + 20 + 60) / 3 = 30, and the median is 20.

        >>> import rankine as rk
        >>> rk.online.time_on_page(seconds=[10, 20, 60]).value
        30.0
        >>> rk.online.time_on_page(seconds=[10, 20, 60], quantile=0.5).value
        20.0
    """
    check_number("confidence", confidence, above=0, below=1)
    if quantile is not None:
        check_number("quantile", quantile, above=0, below=1)
    if (events is None) == (seconds is None):
        msg = "time_on_page takes events, or seconds"
        raise ParameterError(msg)
    if events is not None and quantile is None:
        return _of_log("time_on_page", events, confidence, rules)
    notes: tuple[str, ...] = ("the interval is too narrow if users repeat",)
    if events is None:
        times = _bare(seconds, rules)
        users = np.arange(len(times))
    else:
        given = Rules.of(rules)
        refuse_idle(["time_on_page"], given)
        counts = counts_of(events, given)
        notes = counts.selection(["time_on_page"]).notes
        users, dwell = counts.page_views()
        times = dwell / SECOND
    if len(times) == 0:
        lacks = "a next" if events is None or counts.facts.fine else "a time of day"
        why = f"time_on_page is undefined: no page view has {lacks}"
        return Rate("time_on_page", math.nan, NONE, 0, confidence, (*notes, why))
    if quantile is None:
        value, bounds = clustered(times, np.ones(len(times)), confidence, (0, math.inf))
    else:
        value, bounds = quantile_of(times, users, quantile, confidence)
    if math.isnan(bounds.low):
        why = without_spread(len(np.unique(users)))
        notes = (*notes, f"time_on_page has no interval: {why}")
    return Rate("time_on_page", value, bounds, len(times), confidence, notes)
