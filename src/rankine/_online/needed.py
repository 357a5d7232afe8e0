"""users_needed: how many users a test needs, given how much users vary."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from itertools import accumulate
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from rankine._base.checks import check_number
from rankine._base.notebook import as_table
from rankine._base.text import count
from rankine._online.abresult import ABTest
from rankine._online.inputs import check_options, cohort_of, opened
from rankine._online.measures import check_names
from rankine._online.metrics import check_metrics
from rankine._online.quantiles import Quantile
from rankine._online.variants import Margin
from rankine._stats.power import needed_for_groups
from rankine.errors import ParameterError

if TYPE_CHECKING:
    from rankine._online.cohort import Cohort

_Row = tuple[str, str | None, float, float, float]
"""Metric, variant, value, deviation times the root of n, and the variant's share."""


class UsersNeeded(NamedTuple):
    """How many users it takes to find an effect on a metric.

    Attributes:
        metric: the metric.
        variant: the variant of a test; None if users were not in one.
        value: the value without the effect.
        effect: the effect to be found, as a difference.
        users: how many users both arms need together; None if unknown.
        note: why it is unknown.
        days: how many days it takes to get that many users; None if no times are
            known, as in an accumulator without variants, or if no new users come any
            more.
        per_day: how many new users come per day, in the second half of the log.
        notes: what was assumed of the data, and what is odd; a test has its own.
    """

    metric: str
    variant: str | None
    value: float
    effect: float
    users: int | None
    note: str = ""
    days: int | None = None
    per_day: float | None = None
    notes: tuple[str, ...] = ()

    def __str__(self) -> str:
        """Return it as a sentence."""
        name = self.metric if self.variant is None else f"{self.metric}, {self.variant}"
        if self.users is None:
            return f"{name}: {self.note}"
        said = f"{name}: {count(self.users, 'user')} to find {_written(self.effect, 4)}"
        if self.per_day is None:
            return said
        if self.days is None:
            return f"{said}; no new users arrived in the second half of the log"
        days = count(self.days, "day")
        if self.per_day == 0:
            return f"{said}, who came within {days} of the log"
        return (
            f"{said}, which takes {days} at {_written(self.per_day, 3)} new users a day"
        )

    def _repr_html_(self) -> str:
        return as_table(self)


def _written(number: float, digits: int) -> str:
    """Return a number with so many digits, or with all those before the point.

    >>> _written(4012.5, 3), _written(0.0523, 3)
    ('4,012', '0.0523')
    """
    if number >= 10 ** (digits - 1):
        return f"{number:,.0f}"
    return f"{number:.{digits}g}"


def users_needed(
    data: Any,
    *,
    effect: float | str | Mapping[str, float | str],
    power: float = 0.8,
    metrics: Any = None,
    unit: str | None = None,
    share: float = 0.5,
    confidence: float = 0.95,
    memory_limit: int | str | None = None,
    **rules: Any,
) -> list[UsersNeeded]:
    """Return how many users a test needs, given how much they vary in your own data.

    This is for Welch's t-test at 1 - confidence, uncorrected, by the noncentral t
    distribution with arms that vary equally; each arm has two users or more. For a log
    with times, it also says how many days that takes: as many as in the log itself, and
    beyond its end, as many as follow from the new users per day of its second half.

    Args:
        data: an earlier test, whose arms keep their shares and whose CUPED keeps what
            it removes; or a table of users or a log of events from before the test, as
            in `ab_test`, with variants ignored.
        effect: the smallest effect to find: a difference such as 0.01, or relative to
            the control such as "2%"; or one for each metric.
        power: how often it should be found.
        metrics: for a table of users or events, as in `ab_test`.
        unit: for a table of your own, the column of their ids.
        share: the share of users in the variant; for a test, as it was.
        confidence: the level of the new test; for a test, as it was.
        memory_limit: for events, as in `ab_test`.
        rules: how events are read, as in `summarize`.

    Returns:
        One record per metric, and per variant of a test; its `note` says why there is
        no number, if nothing varies or more than 2^40 users are needed.

    >>> import polars as pl
    >>> import rankine as rk
    >>> users = pl.DataFrame({"id": range(100), "bought": [1, 0, 0, 0, 0] * 20})
    >>> needed = rk.online.users_needed(
    ...     users, effect="10%", metrics={"bought": "bought"}, unit="id"
    ... )

    With a variance of 0.16 x 100 / 99 and equal arms, 4 x 0.1616 x (1.96 + 0.8416)^2 /
    0.02^2 = 12,685, and a few more for Student's distribution.

    >>> needed[0].users
    12687
    """
    check_options(users_needed, rules)
    metrics = check_metrics(metrics, in_test=True)
    check_number("power", power, above=0, below=1)
    check_number("share", share, above=0, below=1)
    check_number("confidence", confidence, above=0, below=1)
    quantiles: Collection[str]
    if isinstance(data, ABTest):
        asked = (metrics, unit, memory_limit) != (None, None, None) or rules
        if asked or (share, confidence) != (0.5, 0.95):
            msg = (
                "metrics, unit, memory_limit, share, confidence and rules are those of "
                "the test and cannot be given"
            )
            raise ParameterError(msg)
        rows, alpha, quantiles = _of_test(data), data.settings.alpha, data.quantiles
        arrivals: Sequence[int] = data.arrivals
        notes: tuple[str, ...] = ()
    else:
        cohort, rows = _of_data(data, metrics, unit, share, memory_limit, rules)
        arrivals, notes = cohort.arrivals, cohort.notes
        quantiles = [own.name for own in cohort.measures if own.quantile is not None]
        alpha = 1 - confidence
    if isinstance(effect, Mapping):
        check_names("effect", effect, [metric for metric, *_ in rows])
        rows = [row for row in rows if row[0] in effect]
    records = []
    for metric, variant, value, deviation, part in rows:
        smallest = effect[metric] if isinstance(effect, Mapping) else effect
        size = Margin.read(metric, smallest, "effect")
        far = abs(size.size * value) if size.relative else size.size
        users, note = None, _reason(value, deviation, far, metric in quantiles)
        if not note:
            users = needed_for_groups(deviation, far, power, alpha, part)
            note = "" if users else "more than 2^40 users are needed"
        days, per_day = _days(users, arrivals)
        records.append(
            UsersNeeded(metric, variant, value, far, users, note, days, per_day, notes)
        )
    return records


def _days(
    users: int | None, arrivals: Sequence[int]
) -> tuple[int | None, float | None]:
    """Return after how many days so many users have come, and how many come per day."""
    if not arrivals or users is None:
        return None, None
    later = arrivals[len(arrivals) // 2 :]
    per_day = sum(later) / len(later)
    for day, n in enumerate(accumulate(arrivals), 1):
        if n >= users:
            return day, per_day
    missing = users - sum(arrivals)
    days = len(arrivals) + math.ceil(missing / per_day) if per_day else None
    return days, per_day


def _reason(value: float, deviation: float, effect: float, drawn: bool) -> str:  # noqa: FBT001
    """Say why there is no number; empty if there is one."""
    if math.isnan(value):
        return "the metric is undefined"
    if drawn and deviation == 0:
        return (
            "the quantile never changes in bootstrap samples, as too many users are "
            "tied at it; use the mean"
        )
    if not deviation > 0:
        return "the metric does not vary between users"
    return "" if effect > 0 else "a relative effect on a value of 0 is no effect"


def _of_test(test: ABTest) -> list[_Row]:
    details = test.details
    if "segment" in details.columns:
        details = details.filter(details["segment"].is_null())
    return [
        (
            row["metric"],
            row["variant"],
            row["control_value"],
            row["error"] * math.sqrt(row["n_control"] + row["n"]),
            row["n"] / (row["n_control"] + row["n"]),
        )
        for row in details.iter_rows(named=True)
    ]


def _of_data(
    data: Any,
    metrics: Any,
    unit: str | None,
    share: float,
    memory_limit: int | str | None,
    rules: dict[str, Any],
) -> tuple[Cohort, list[_Row]]:
    given = opened(data, metrics, unit, rules)
    cohort = cohort_of(
        given, metrics, by=None, daily=given.has_days, memory_limit=memory_limit
    )
    rows: list[_Row] = []
    columns = cohort.columns()
    for measure in cohort.measures:
        known = measure.statistics(columns)
        if measure.quantile is None:
            value, weights = known.ratio()
            variance = known.variance(weights)
        else:
            rng = np.random.default_rng(0)
            own = Quantile.of(known, measure.quantile, rng).arm
            value, variance = own.value, own.variance
        deviation = math.sqrt(variance * (1 / share + 1 / (1 - share)))
        rows.append((measure.name, None, float(value), deviation, share))
    return cohort, rows
