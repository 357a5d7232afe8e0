"""summarize: what users did, as metrics with intervals, by group and time."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Self, Unpack

import numpy as np
import polars as pl

from rankine._base.checks import check_number
from rankine._io.values import kind_of
from rankine._online.log import EventLog
from rankine._online.metrics import check_metrics, refuse_idle
from rankine._online.oddities import carriers
from rankine._online.results import Saved, Tabled
from rankine._online.rules import (
    RuleOptions,
    Rules,
    check_groups,
    check_titles,
    every_of,
)
from rankine._online.spreads import summed
from rankine._online.sums import UserCounts, sides_of
from rankine._online.table import counts_of
from rankine._online.times import moment_text
from rankine._online.users import AFTER
from rankine.errors import DataError, ParameterError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rankine._online.spreads import Pairs
    from rankine._online.sums import Selection
    from rankine._online.times import Every

BEYOND_GROUPS = {
    **dict.fromkeys(("value", "low", "high"), pl.Float64),
    **dict.fromkeys(("n", "users"), pl.Int64),
}
"""The columns of a table after those of the groups, with their types."""
ONE_GROUP = "the log has no variant: all users are one group"
_REASONS = 5
"""How many reasons are given; many days may lack the same thing."""


@dataclass(frozen=True, eq=False, repr=False)
class Summary(Tabled, Saved):
    """The metrics of a log, by group, segment and day, week or hour.

    Attributes:
        table: one row per metric and group: metric, the columns of the groups, value,
            low, high, n (what the denominator counts) and users.
        definitions: metric -> how it is defined.
        left_out: metric -> why it is not in the table.
        excluded: events and users that were left out, by reason.
        notes: what was assumed, and what is odd or undefined.
        events: how many events were read.
        confidence: of the intervals.
        groups: the columns of the groups.
        settings: the options for reading the log that were given, such as ``window``,
            with their values; times are numbers in the unit of their option.
    """

    left_out: Mapping[str, str] = field(default_factory=dict)
    settings: Mapping[str, Any] = field(default_factory=dict)

    def __repr__(self) -> str:
        """Return its size in one line."""
        metrics = ", ".join(self.definitions)
        return f"Summary({metrics}; {self.table.height} rows)"

    def plot(self, metric: str | None = None) -> Any:
        """Return a chart of Altair, to be shown, changed and saved.

        It has a point with its interval for each group, or, where there are days, a
        curve with its band.

        Args:
            metric: one of the metrics; the first if not given.

        Returns:
            A chart, which needs the extra ``report``.

        Raises:
            MissingExtraError: Altair is not installed.
            ParameterError: there is no such metric, or there are more groups than
                colours can tell apart over days.

        >>> import polars as pl
        >>> import rankine as rk
        >>> log = pl.DataFrame(
        ...     {
        ...         "user_id": [1, 1, 2],
        ...         "variant": ["A", "A", "B"],
        ...         "event": ["impression", "click", "impression"],
        ...     }
        ... )
        >>> chart = rk.online.summarize(log, ["ctr"]).plot("ctr")
        >>> rows = chart.to_dict()["data"]["values"]
        >>> [(row["label"], row["value"]) for row in rows]
        [('A', 1.0), ('B', 0.0)]
        """
        from rankine._report.online_charts import plot_summary  # noqa: PLC0415

        return plot_summary(self, metric)

    def to_dict(self) -> dict[str, Any]:
        """Return everything, ready for JSON; undefined values are None."""
        found = super().to_dict()
        found |= {"left_out": dict(self.left_out), "settings": dict(self.settings)}
        return found


class Accumulator:
    """The same as `summarize` for a log that comes in parts.

    Events may come in any order and in any parts, and accumulators may be merged in any
    order: users who return, and sessions that continue in another part, are counted
    once, and the result is the same to the last bit. What is needed of every event is
    kept, 40 to 50 bytes; if they are more than memory allows, on disk, where they take
    a third of that.

    Args:
        metrics: as in `summarize`: names, or {name: column of the table of users}.
        by: as in `summarize`: "variant" or the column that ``columns=`` names as such
            are the arms of a test, any other column only divides users.
        segment: as in `summarize`.
        daily: as in `summarize`, like the next two.
        weekly: whether each week has its own row.
        hourly: whether each hour has its own row.
        confidence: as in `summarize`.
        memory_limit: as in `summarize`.
        **rules: as in `summarize`.

    Examples:
        >>> import polars as pl
        >>> import rankine as rk
        >>> monday = pl.DataFrame({"user_id": [1], "event": ["impression"]})
        >>> tuesday = pl.DataFrame(
        ...     {"user_id": [1, 2], "event": ["click", "impression"]}
        ... )
        >>> both = rk.online.Accumulator(by=None, duplicates="keep")
        >>> both.update(monday).update(tuesday).result().table["value"].to_list()
        [0.5]
    """

    def __init__(
        self,
        metrics: Mapping[str, Any] | Sequence[str] | None = None,
        *,
        by: str | None = "variant",
        segment: str | None = None,
        daily: bool = False,
        weekly: bool = False,
        hourly: bool = False,
        confidence: float = 0.95,
        memory_limit: int | str | None = None,
        **rules: Unpack[RuleOptions],
    ) -> None:
        self.rules, self.confidence = Rules.of(rules), confidence
        self.every = every_of(daily=daily, weekly=weekly, hourly=hourly)
        check_groups(by, segment)
        self.metrics = checked(metrics, self.rules, confidence, by, segment, self.every)
        self._log = EventLog(self.rules, by, segment, memory=memory_limit)
        self._counted: UserCounts | None = None

    def with_counts(self, counts: UserCounts) -> Self:
        """Take what was counted elsewhere; its events are not here."""
        self._counted = counts
        return self

    def _refuse_counted(self) -> None:
        if self._counted is not None:
            msg = (
                "these events were counted on Spark and are not here, so no others can "
                "be added; count all of them in one call"
            )
            raise ParameterError(msg)

    def update(self, events: Any) -> Self:
        """Add events, in any form that `summarize` accepts."""
        self._refuse_counted()
        self._log.update(events)
        return self

    def merge(self, other: Accumulator) -> Self:
        """Add what another has read; it must have been made with the same arguments.

        If that is refused, neither changes.
        """
        given: object = other
        if not isinstance(given, Accumulator):
            msg = f"merge takes an Accumulator, got {kind_of(other)}"
            raise ParameterError(msg)
        mine, theirs = self._made(), other._made()
        for name in {**mine, **theirs}:
            if mine.get(name) != theirs.get(name):
                msg = (
                    f"these were made with different arguments and cannot be merged: "
                    f"{name} is {mine.get(name)!r} and {theirs.get(name)!r}"
                )
                raise DataError(msg)
        self._refuse_counted()
        other._refuse_counted()
        self._log.merge(other._log)
        return self

    def _made(self) -> dict[str, Any]:
        """Return the arguments that it was made with."""
        return {
            "metrics": self.metrics, "confidence": self.confidence, "by": self._log.by,
            "segment": self._log.segment, "the period": self.every,
            "columns": self.rules.columns, **self.rules.options(),
        }  # fmt: skip

    def counts(self) -> UserCounts:
        """Return what users did so far."""
        if self._counted is not None:
            return self._counted
        return UserCounts.of_log(self._log, every=self.every)

    def result(self) -> Summary:
        """Return the metrics of all events so far."""
        return summary_of(self.counts(), self.metrics, self.confidence)


def summarize(
    events: Any,
    metrics: Mapping[str, Any] | Sequence[str] | None = None,
    *,
    by: str | None = "variant",
    segment: str | None = None,
    daily: bool = False,
    weekly: bool = False,
    hourly: bool = False,
    confidence: float = 0.95,
    memory_limit: int | str | None = None,
    **rules: Unpack[RuleOptions],
) -> Summary:
    """Return the metrics of a log of events, with intervals, by group and time.

    Every metric is a ratio of two sums over users. Since the events of one user are
    alike, its interval is over users, by the delta method; where users themselves are
    counted, it is Wilson's.

    Formula:
        R = sum y / sum x over users; interval R ± t s / sqrt(n), with s the standard
        deviation of (y - R x) / mean x

    Args:
        events: a path (a file, a folder or a pattern of CSV, NDJSON or Parquet), a
            frame, or what `read_table` or `from_sql` returns. Columns are recognised by
            names such as timestamp, user_id, session_id, variant, page, event, value
            and cost. Or the table of `users` that was made of one.
        metrics: some of ctr, conversion_rate, bounce_rate, engagement_rate,
            time_on_page and roi; all that the log has columns for, if not given;
            retention_1, retention_7 and retention_28 only if they are named. Or
            {name: column of the table of users} for its mean per user, {name: (column,
            column)} for a ratio of sums, such as {"revenue_per_user": "revenue", "aov":
            ("revenue", "orders"), "ctr": "ctr"}.
        by: the column that divides users into groups. With "variant", or the column
            that ``columns={"variant": ...}`` names, they are the arms of a test: users
            in several are left out, and only what follows the first exposure counts.
            Any other column only divides users, whatever its name is.
        segment: a second column; a user belongs to the first segment that is seen.
        daily: whether each day has its own row, in the column ``day``.
        weekly: whether each week has one, which begins on the Monday in ``week``.
        hourly: whether each hour has one, which begins at the time in ``hour``.
        confidence: of the intervals.
        memory_limit: about how much memory the process may use, as ``"1GB"`` or a
            number of bytes; half of what is free if not given. Beyond it, events wait
            on disk; what users did stays in memory, about 110 bytes each, and 70 for
            each further day.
        **rules: ``columns=`` {part: column}; ``kinds=`` {the log's word: kind of
            event}; ``session_gap=`` minutes of silence that end a session, 30 if not
            given;
            ``engaged=`` the events that make a session engaged, or seconds;
            ``unit=`` what converts: users, sessions or clicks; ``cap=`` the most
            seconds of a page view; ``last_page="heartbeat"``; ``exposure=`` the event
            that exposes; ``window=`` days after it; ``duplicates="keep"``;
            ``max_events=`` leaves out users with more events than that; ``timezone=``,
            such as "Europe/Berlin", whose days, weeks and hours count, those of UTC if
            not given; ``incomplete="keep"`` keeps users whose window is not over by the
            end of the log. A rule that matters for none of the metrics that are named
            is refused.

    Returns:
        A `Summary`: ``.table``, ``.definitions``, ``.excluded``, ``.notes``. A metric
        is nan if there is nothing to divide by, with the reason in the notes.

    References:
        Deng, Knoblich and Lu: Applying the delta method in metric analytics. KDD 2018.

    Examples:
        Two impressions and one click: 1 / 2 = 0.5.

        >>> import polars as pl
        >>> import rankine as rk
        >>> log = pl.DataFrame({"user_id": [1, 1, 2], "timestamp": [1, 2, 3]})
        >>> log = log.with_columns(
        ...     event=pl.Series(["impression", "click", "impression"])
        ... )
        >>> found = rk.online.summarize(log, ["ctr"], by=None)
        >>> found.table.select("value", "n", "users").row(0)
        (0.5, 2, 2)
    """
    given = Rules.of(rules)
    every = every_of(daily=daily, weekly=weekly, hourly=hourly)
    asked = checked(metrics, given, confidence, by, segment, every)
    counts = counts_of(events, given, by, segment, every=every, memory=memory_limit)
    return summary_of(counts, asked, confidence)


def checked(
    metrics: Any,
    rules: Rules,
    confidence: float,
    by: str | None,
    segment: str | None,
    every: Every | None,
    *,
    with_table: bool = False,
) -> Any:
    """Check what can be checked before a log is read, and return the metrics.

    For the table of users, which has all counts, every rule matters.
    """
    check_number("confidence", confidence, above=0, below=1)
    asked = check_metrics(metrics)
    check_titles(by, segment, every)
    if not with_table:
        refuse_idle(asked, rules)
    return asked


def summary_of(users: UserCounts, metrics: Any, confidence: float) -> Summary:
    """Return one row per metric and group of users."""
    if users.every == "hour" and not users.facts.fine:
        msg = (
            "hourly has no effect: the times of the log are days, without a time of "
            "day; give daily=True or --daily"
        )
        raise ParameterError(msg)
    columns = {"variant": users.by, "segment": users.segment, "period": users.every}
    groups = [
        label
        for label in columns
        if label in users.facts.has or (label == "period" and users.every)
    ]
    selection = users.selection(metrics)

    def cell(name: str, sides: Pairs) -> tuple[tuple[Any, ...], str]:
        y, x, often = sides
        metric = selection.metrics[name]
        value, bounds, n, why = summed(name, metric, y, x, confidence, often)
        return (value, *bounds, n, len(y) if often is None else int(often.sum())), why

    cells = sorted(
        users.groups(selection, groups, cell),
        key=lambda group: [(part is not None, part) for part in group[0]],
    )
    rows, reasons = [], []
    for name in selection.metrics:
        for head, of_group in cells:
            row, why = of_group[name]
            rows.append((name, *head, *row))
            if why:
                of = ", ".join(_named(users, groups, head))
                reasons.append(f"{why} ({of})" if of else why)
    if len(reasons) > _REASONS:
        more = len(reasons) - _REASONS
        reasons = [
            *reasons[:_REASONS],
            f"and {more:,} more without a value or interval",
        ]
    names = [columns[label] or label for label in groups]
    types: dict[str, Any] = {"metric": pl.String}
    types |= {
        name: pl.Int64 if label == "period" else pl.String
        for name, label in zip(names, groups, strict=True)
    }
    table = pl.DataFrame(rows, types | BEYOND_GROUPS, orient="row")
    if users.every is not None:
        table = table.with_columns(users.dated(table[users.every]))
    notes = (*selection.notes, *_carriers(users, selection))
    if users.by is not None and "variant" not in users.facts.has:
        notes = (*notes, ONE_GROUP)
    return Summary(
        table, users.says(selection.metrics), selection.excluded, (*notes, *reasons),
        users.facts.n_read, confidence, tuple(names), selection.left_out,
        users.rules.options(),
    )  # fmt: skip


def _named(users: UserCounts, labels: Sequence[str], head: Sequence[Any]) -> list[str]:
    """Return what a row is of, in words."""
    words = []
    for label, part in zip(labels, head, strict=True):
        is_time = label == "period" and part is not None
        words.append(
            moment_text(users.dated(pl.Series([part])).item()) if is_time else str(part)
        )
    return words


def _carriers(users: UserCounts, selection: Selection) -> list[str]:
    """Name the users who carry much of the variance of a metric in their variant."""
    rows = selection.of(AFTER)
    number = rows["user"].to_numpy()
    variant, notes = selection.groups["variant"][number], []
    ids = users.ids[number]
    for name, metric in selection.metrics.items():
        sides = rows.select(sides_of({name: metric}))
        y, x = (side.to_numpy() for side in sides)
        for code in np.unique(variant):
            here = np.flatnonzero(variant == code)
            where = users.texts["variant"][int(code)]
            notes += carriers(name, y, x, ids, here, where)
    return notes
