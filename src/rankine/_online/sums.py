"""What the users of a log did, from counts to the sums of metrics.

- `UserCounts`: whole numbers per user, phase and period, of all users that were seen.
- `Selection`: the users who count (not those in two variants, for example) and the
  metrics that were asked for, with what was left out and what is odd.
- `UserSums`: the numerators and denominators of metrics per user, of which tests and
  intervals are made. The randomised unit is the user, and every metric is a ratio of
  two sums over users.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import date, timedelta
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
import polars as pl

from rankine._base.blocks import at_once
from rankine._base.limits import limits
from rankine._base.text import count
from rankine._online.events import ABOUT
from rankine._online.log import LABELS
from rankine._online.metrics import OnlineMetric, chosen
from rankine._online.oddities import counted, oddities
from rankine._online.rules import Rules, is_currency
from rankine._online.spreads import paired
from rankine._online.times import DAY, dated, days_text, on_clocks
from rankine._online.users import (
    AFTER,
    BEFORE,
    BEYOND,
    RETURNS,
    EventCounter,
    added,
    is_arm,
    numbered,
)
from rankine._online.words import notes_on, without_exposure
from rankine._tables.segments import stable_order
from rankine.errors import DataError, ParameterError

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

    from rankine._base.arrays import AnyArray, Bools
    from rankine._online.events import Facts
    from rankine._online.log import EventLog
    from rankine._online.spreads import Pairs
    from rankine._online.times import Every

T = TypeVar("T")

_AGAIN = "duplicate events"
_INCOMPLETE = "users whose window"
NOT_OVER = "whose window is not over by the end of the log"
NOWHERE = pl.Series([None], dtype=pl.String)
"""The name of no group."""
COARSE = (
    "identical rows all count: there is neither an event id nor a time of day that "
    "would tell a duplicate"
)


@dataclass(frozen=True, eq=False)
class UserSums:
    """A row of sums for each user.

    Attributes:
        frame: user, variant, segment, first (the time of the first exposure as clocks
            in its zone show it, null without variants), and for each metric m the
            columns m.y and m.x, its numerator and denominator after the first exposure,
            and, if they are wanted, m.y0 and m.x0, the same strictly before.
        notes: what was assumed, and what is odd.
        excluded: events and users that were left out, by reason.
        metrics: the metrics, by name, in their order.
        definitions: metric -> how it is defined.
        left_out: metric -> why it is not there.
        arrivals: how many users came first on each day, if days are kept separate.
        busy: how many users of each variant had more events than allowed.
        zone: the time zone of days and first exposures; None for UTC.
        until: the last day on which users could come and count; None if unknown.
    """

    frame: pl.DataFrame
    notes: tuple[str, ...]
    excluded: dict[str, int]
    metrics: dict[str, OnlineMetric]
    definitions: dict[str, str]
    left_out: dict[str, str]
    arrivals: tuple[int, ...] = ()
    busy: Mapping[str, int] = field(default_factory=dict)
    zone: str | None = None
    until: date | None = None


def new_by_day(
    frame: pl.DataFrame, column: str, until: date | None = None
) -> tuple[int, ...]:
    """Count the users for whom each day is the first; empty without days.

    Args:
        frame: the users and their days.
        column: the days.
        until: the last day, if it is later than those of users.
    """
    seen = frame.select("user", pl.col(column).cast(pl.Date)).drop_nulls()
    if seen.is_empty():
        return ()
    days = seen[column].to_physical()
    begin, end = int(days.min()), int(days.max())  # type: ignore[arg-type]
    first = seen.group_by("user").agg(pl.col(column).min())[column].to_physical()
    if until is not None:
        end = max(end, (until - date(1970, 1, 1)).days)
    n_days = end - begin + 1
    return tuple(np.bincount(first.to_numpy() - begin, minlength=n_days).tolist())


@dataclass(frozen=True, eq=False)
class Selection:
    """The users who count and the metrics that were asked for, of all `UserCounts`.

    Attributes:
        rows: the counts by user, phase and period.
        users: which users count, by their numbers.
        groups: the numbers of the variant and the segment of each user.
        metrics: the metrics, by name, in their order.
        left_out: metric -> why it is not there.
        notes: what was assumed, and what is odd.
        excluded: events and users that were left out, by reason.
        busy: how many users of each variant had more events than allowed.
        each: the counts after the first exposure, a row per user who counts; None
            until they are added up, which takes a tenth of the time of a summary.
    """

    rows: pl.DataFrame
    users: Bools
    groups: dict[str, AnyArray]
    metrics: dict[str, OnlineMetric]
    left_out: dict[str, str]
    notes: tuple[str, ...]
    excluded: dict[str, int]
    busy: Mapping[str, int]
    each: pl.DataFrame | None = None

    def of(
        self, phase: int, period: int | None = None, *, until: int | None = None
    ) -> pl.DataFrame:
        """Return the counts of the users who count, a row each, in their order.

        Args:
            phase: the phase that they are of.
            period: the period that they are of; all if not given.
            until: the last period that they are of.
        """
        if self.each is not None and (phase, period, until) == (AFTER, None, None):
            return self.each
        wanted = self._is_counted(phase)
        if period is not None:
            wanted &= self.rows["period"].eq_missing(period).to_numpy()
            return self._chosen(wanted).sort("user")
        if until is not None:
            wanted &= (self.rows["period"] <= until).to_numpy()
        number, n_users, parts = self.rows["user"].to_numpy(), limits().batch_rows, []
        # Some users at a time: sums take several times as much until they are narrow.
        for begin in range(0, len(self.users), n_users):
            rows = self._chosen(wanted & (begin <= number) & (number < begin + n_users))
            if rows["user"].n_unique() < rows.height:
                rows = added(rows, "user")
            parts.append(rows.sort("user"))
        return pl.concat(parts, how="vertical_relaxed")

    def rows_of(self, phase: int) -> pl.DataFrame:
        """Return the rows of a phase, of the users who count."""
        return self._chosen(self._is_counted(phase))

    def _is_counted(self, phase: int) -> Bools:
        """Say which rows are of users who count."""
        rows: Bools = self.users[self.rows["user"].to_numpy()]
        rows &= self.rows["phase"].to_numpy() == phase
        return rows

    def _chosen(self, rows: Bools) -> pl.DataFrame:
        return self.rows if rows.all() else self.rows.filter(rows)

    def n_events(self, phase: int) -> int:
        """Return how many events the users who count had."""
        return int(self.rows["events"].filter(pl.Series(self._is_counted(phase))).sum())

    @property
    def periods(self) -> list[int]:
        """The days, weeks or hours on which users counted, if they are separate."""
        periods = self.rows["period"].filter(pl.Series(self._is_counted(AFTER)))
        return periods.unique().drop_nulls().sort().to_list()


@dataclass(frozen=True, eq=False)
class UserCounts:
    """What the users of a log did; they are numbered in the order of their ids.

    Attributes:
        rules: what the user says about the log.
        by, segment: the columns that divide users into groups.
        by_arm: whether those of `by` are the arms of a test.
        every: what is kept separate: days, weeks or hours.
        facts: what is known of all events.
        seen: per user, the id, the numbers of the groups that the user was first seen
            in, how many there were, the first exposure, and whether the window is over;
            as far as they are known.
        texts: the names of groups; 0 stands for none.
        rows: counts by user, phase and period.
        n_again: how many events repeat another one.
        log: the log, if it is at hand.
        zone: the time zone of days, weeks, hours and first exposures; None for UTC.
        settled: whether events were counted before, by rules that are not known: these
            are of a table.
    """

    rules: Rules
    by: str | None
    segment: str | None
    by_arm: bool
    every: Every | None
    facts: Facts
    seen: pl.DataFrame
    texts: dict[str, pl.Series]
    rows: pl.DataFrame
    n_again: int = 0
    log: EventLog | None = None
    zone: str | None = None
    settled: bool = False

    @staticmethod
    def of_log(
        log: EventLog, *, every: Every | None, part: bool = False, fine: bool = False
    ) -> UserCounts:
        """Count the events of a log, some users at a time.

        Args:
            log: the events.
            every: what is kept separate: days, weeks or hours.
            part: whether these are only some of the events, those of some users, which
                `together` has to put together with the others.
            fine: whether events elsewhere have times of day, if those here have none.
        """
        log.refuse_broken()
        rules, facts = log.rules, log.facts
        if facts is None:
            msg = "there are no events yet"
            raise DataError(msg)
        facts = replace(facts, fine=facts.fine or fine)
        if not part and log.texts("variant").is_empty():  # as without the column
            facts = replace(facts, has=facts.has - {"variant"})
        by_arm = is_arm(log.by, rules)
        counter = EventCounter(rules, facts.has, facts.fine, by_arm, every)
        _refuse_unexposed(counter)
        groups = zip(LABELS, (log.by, log.segment), strict=True)
        paid_in = [label for label, column in groups if is_currency(column, rules)]
        parts, n_again = [], 0
        for events in log.parts():
            rows, users, again = counter.rows(events)
            for label in paid_in:
                _refuse_currencies(events, users, label, log.texts(label).sort())
            parts.append((rows, users))
            n_again += again
        if not parts:
            raise _unusable(facts)
        rows, seen = numbered(parts)
        texts = {
            label: pl.concat([NOWHERE, log.texts(label).sort()]) for label in LABELS
        }
        counts = UserCounts(
            rules, log.by, log.segment, by_arm, every, facts, seen, texts, rows,
            n_again, log, rules.timezone,
        )  # fmt: skip
        return counts if part else counts.ended()

    @staticmethod
    def together(parts: Sequence[UserCounts], facts: Facts) -> UserCounts:
        """Put together what was counted of different users, in other places.

        Args:
            parts: what was counted.
            facts: what is known of all events.
        """
        if not parts:
            raise _unusable(facts)
        texts = {
            label: pl.concat([part.texts[label] for part in parts]).unique().sort()
            for label in LABELS
        }
        rows, seen = numbered([(part.rows, _recoded(part, texts)) for part in parts])
        counts = replace(
            parts[0], facts=facts, seen=seen, texts=texts, rows=rows,
            n_again=sum(part.n_again for part in parts), log=None,
        )  # fmt: skip
        return counts.ended()

    def ended(self) -> UserCounts:
        """Return the same with what follows from the end of the whole log."""
        counter = self._counter
        _refuse_idle(counter)
        end, seen = self.facts.end, self.seen
        if end is None or "start" not in seen.columns:
            return self
        start = seen["start"]
        number = self.rows["user"]
        begins = (pl.col("phase") == AFTER) & pl.col("period").eq_missing(
            counter.period(start)[number]
        )
        until = (end - start[number]).fill_null(0)
        rows = self.rows.with_columns(
            pl.when(begins).then(until).otherwise(0).alias("observed")
        )
        within, seen = self.rules.within, seen.drop("start")
        if within is not None:
            seen = seen.with_columns((end - start >= within).alias("window_over"))
        returns = {
            name
            for day, name in RETURNS.items()
            if within is None or within >= (day + 1) * DAY
        }
        facts = replace(self.facts, has=self.facts.has | returns)
        return replace(self, facts=facts, seen=seen, rows=rows)

    @property
    def ids(self) -> pl.Series:
        """The ids of users."""
        return self.seen["user"]

    @property
    def exposes(self) -> bool:
        """Whether users have a first exposure."""
        return "first" in self.seen.columns

    def steps(self) -> Iterator[pl.DataFrame]:
        """Yield the events that match a step, in order, some users at a time."""
        return map(self._counter.steps, self._events("a funnel").parts())

    def page_views(self) -> tuple[AnyArray, AnyArray]:
        """Return the users of all page views that have a time, and that time."""
        log = self._events("a quantile of the time on page")
        views = pl.concat(map(self._counter.page_views, log.parts()))
        busy = self.ids.filter(pl.Series(self._busy())).to_frame()
        views = views.join(busy, on="user", how="anti")
        users = (views["user"].rank("dense") - 1).to_numpy()
        return users, views["dwell"].to_numpy()

    @property
    def _counter(self) -> EventCounter:
        facts = self.facts
        return EventCounter(self.rules, facts.has, facts.fine, self.by_arm, self.every)

    def _events(self, what: str) -> EventLog:
        """Return the log, for what needs every event."""
        if self.log is None:
            msg = f"{what} needs a log of events"
            raise ParameterError(msg)
        return self.log

    def selection(self, asked: Any = None) -> Selection:
        """Return what each user did, and which of them count."""
        has = self.facts.has
        metrics, left_out = chosen(asked, has, self.facts.kinds, self.rules)
        needed = {part for each in metrics.values() for part in each.needs}
        selection = self.selected_users(needed)
        each = selection.of(AFTER)
        notes = (
            *selection.notes,
            *oddities(each, self.ids, has),
            *self._unseen(metrics, selection.users),
        )
        selection = replace(
            selection, metrics=metrics, left_out=left_out, notes=notes, each=each
        )
        return self._possible(selection, asked=asked is not None)

    def selected_users(self, needed: Collection[str] = ()) -> Selection:
        """Return which users count, whatever the metrics, and what was left out.

        Args:
            needed: the parts of the log that notes are wanted on.
        """
        facts, has = self.facts, self.facts.has
        excluded, notes = dict(facts.excluded), [*facts.notes]
        by_id = "id" in has and self.rules.duplicates == "drop"
        if self.n_again and (facts.fine or by_id):
            more = excluded.get(_AGAIN, 0) + self.n_again
            excluded = {**excluded, _AGAIN: more}
        elif self.n_again:
            notes.append(COARSE)
        notes += [
            f"{count(n, 'event')} {what}"
            for what, n in facts.remarks.items()
            if n and (what not in ABOUT or ABOUT[what] in needed)
        ]
        notes += notes_on(facts.words, self.rules)
        users, groups, busy = self._users(excluded, notes)
        selection = Selection(self.rows, users, groups, {}, {}, (), excluded, busy)
        for phase, when in (
            (BEYOND, "after the window"),
            (BEFORE, "before the first exposure"),
        ):
            n = selection.n_events(phase)
            if n:
                excluded[f"events {when}"] = n
        return replace(selection, notes=tuple(notes))

    def sums_of(self, selection: Selection, *, before: bool = False) -> UserSums:
        """Return a row of sums for each user who counts.

        Args:
            selection: who and what counts.
            before: whether to add the sums from before the first exposure, for CUPED.
        """
        metrics = selection.metrics
        after = selection.of(AFTER)
        number = after["user"]
        labels = [
            self.texts[label][groups[number.to_numpy()]].alias(label)
            for label, groups in selection.groups.items()
        ]
        first = pl.Series("first", [None], pl.Int64).new_from_index(0, after.height)
        if self.exposes:
            first = on_clocks(self.seen["first"], self.zone)[number].alias("first")
        rows = after.select(
            self.ids[number].alias("user"),
            *labels,
            first.cast(pl.Datetime("us")),
            *sides_of(metrics),
        )
        if before:
            sides = selection.of(BEFORE).select("user", *sides_of(metrics, "0"))
            sides = after.select("user").join(
                sides, on="user", how="left", maintain_order="left"
            )
            rows = rows.hstack(sides.drop("user").fill_null(0.0))
        arrivals: tuple[int, ...] = ()
        if self.every == "day":
            days = selection.rows_of(AFTER).select(
                "user", pl.col("period").alias("day")
            )
            arrivals = new_by_day(days, "day")
        return UserSums(
            rows, selection.notes, selection.excluded, metrics, self.says(metrics),
            selection.left_out, arrivals, selection.busy, self.zone, self._until(),
        )  # fmt: skip

    def _until(self) -> date | None:
        """Return the last day on which users could be exposed and count.

        It is the last day of the log, or the one before somebody came whose window is
        not over by then.
        """
        if not self.exposes:
            return None
        first = self.seen["first"]
        if "window_over" in self.seen.columns and self.rules.incomplete != "keep":
            late = first.filter(~self.seen["window_over"])
            if late.count():
                came: Any = on_clocks(late, self.zone).min()
                return _day(came // DAY - 1)
        end: Any = (first[self.rows["user"]] + self.rows["observed"]).max()
        if end is None:
            return None
        last = on_clocks(pl.Series([end - 1]), self.zone)
        return _day(last.item() // DAY)

    def says(self, metrics: Mapping[str, OnlineMetric]) -> dict[str, str]:
        """Say how metrics are defined."""
        return {
            name: (self.settled and metric.settled) or metric.says
            for name, metric in metrics.items()
        }

    def dated(self, periods: pl.Series) -> pl.Series:
        """Return days, weeks or hours as dates and times."""
        return dated(periods, self.every or "day", self.zone)

    def groups(
        self,
        selection: Selection,
        labels: Sequence[str],
        made_of: Callable[[str, Pairs], T],
    ) -> list[tuple[tuple[Any, ...], dict[str, T]]]:
        """Return each group of users, by variant, segment and period, with its metrics.

        Args:
            selection: who and what counts.
            labels: which of these the groups are divided by.
            made_of: called with the sums of each metric, in two threads.
        """
        periods: list[int | None] = [None]
        if "period" in labels and selection.periods:
            periods = [*selection.periods]
        size = selection.rows.height * len(selection.metrics)
        works = [
            partial(self._of_period, selection, labels, period, made_of=made_of)
            for period in periods
        ]
        return [group for of_period in at_once(works, size) for group in of_period]

    def _of_period(
        self,
        selection: Selection,
        labels: Sequence[str],
        period: int | None,
        made_of: Callable[[str, Pairs], T],
    ) -> list[tuple[tuple[Any, ...], dict[str, T]]]:
        rows = selection.of(AFTER, period)
        if not rows.height:
            return []
        by_period = "period" in labels
        labels = [each for each in labels if each != "period"]
        texts = [self.texts[label] for label in labels]
        user = rows["user"].to_numpy()
        numbers = [selection.groups[label][user] for label in labels]
        code = np.zeros(len(user), np.int64)
        for names, number in zip(texts, numbers, strict=True):
            code = code * len(names) + number
        order = stable_order(code)
        ends = np.flatnonzero(np.append(np.diff(code[order]) != 0, True)) + 1
        sorted_rows = rows.select(_counts_of(selection.metrics))[order]
        groups = []
        for begin, end in zip([0, *ends[:-1]], ends, strict=True):
            part = sorted_rows[int(begin) : int(end)]
            head: list[Any] = [
                names[int(number[order[begin]])]
                for names, number in zip(texts, numbers, strict=True)
            ]
            if by_period:
                head.append(period)
            metrics = {
                name: made_of(name, paired(part[f"{name}.y"], part[f"{name}.x"]))
                for name in selection.metrics
            }
            groups.append((tuple(head), metrics))
        return groups

    def _users(
        self, excluded: dict[str, int], notes: list[str]
    ) -> tuple[Bools, dict[str, AnyArray], dict[str, int]]:
        """Return which users count, their groups, and how many were too busy."""
        users = np.ones(len(self.ids), dtype=np.bool_)
        if self.by_arm and len(self.texts["variant"]) > 1:
            users = self._in_one_arm(excluded, notes)
        if "window_over" in self.seen.columns and self.rules.incomplete != "keep":
            users = self._with_whole_window(users, excluded)
        busy = users & self._busy()
        most = self.rules.max_events
        self._leave(excluded, f"with more than {most:,} events" if most else "", busy)
        users &= ~busy
        groups = {}
        columns = {"variant": self.by, "segment": self.segment}
        for label, column in columns.items():
            if label not in self.seen.columns:
                groups[label] = np.zeros(len(users), np.uint32)
                continue
            groups[label] = self.seen[label].to_numpy()
            numbers = self.seen[f"n_{label}s"].filter(pl.Series(users))
            several = numbers.filter(numbers > 1)
            if len(several):
                said = count(int(several.sum()) - len(several), "user")
                notes.append(
                    f"{said} in more than one {column}, counted in their first"
                )
        if not users.any():
            reasons = ", ".join(counted(n, reason) for reason, n in excluded.items())
            missing = without_exposure(self.facts.words, self.rules)
            msg = "; ".join([f"no user is left: {reasons}", *missing])
            if any(reason.startswith(_INCOMPLETE) for reason in excluded):
                msg = (
                    f"{msg}; incomplete='keep' or --keep-incomplete keeps those whose "
                    "window is not over"
                )
            raise DataError(msg)
        return users, groups, self._by_variant(busy)

    def _with_whole_window(self, users: Bools, excluded: dict[str, int]) -> Bools:
        """Leave out users whose window is not over by the end of the log."""
        over: Bools = self.seen["window_over"].fill_null(value=False).to_numpy()
        within = self.rules.within  # a table does not say how long it was
        length = "" if within is None else f" of {days_text(within)}"
        words = NOT_OVER.replace(" is", f"{length} is")
        self._leave(excluded, words, users & ~over)
        return users & over

    def _unseen(self, metrics: Mapping[str, OnlineMetric], users: Bools) -> list[str]:
        """Say how many users are not observed long enough to have a value."""
        if not any(metric.after_days for metric in metrics.values()):
            return []
        own = self.rows.filter(pl.Series(users)[self.rows["user"]])
        observed = own.group_by("user").agg(pl.col("observed").sum())["observed"]
        notes = []
        for name, metric in metrics.items():
            n = int((observed < (metric.after_days or 0) * DAY).sum())
            if n:
                length = f"{metric.after_days} days"
                notes.append(
                    f"{name}: {count(n, 'user')} not observed for {length} by the end "
                    "of the log, left out"
                )
        return notes

    def _busy(self) -> Bools:
        """Say which users have more events that count than the rules allow."""
        busy = np.zeros(len(self.ids), dtype=np.bool_)
        if self.rules.max_events is not None:
            after = self.rows.filter(pl.col("phase") == AFTER)
            each = after.group_by("user").agg(pl.col("events").sum())
            many = each.filter(pl.col("events") > self.rules.max_events)
            busy[many["user"].to_numpy()] = True
        return busy

    def _by_variant(self, users: Bools) -> dict[str, int]:
        """Count some users by the variant they were first seen in."""
        if "variant" not in self.seen.columns or not users.any():
            return {}
        n_of = np.bincount(self.seen["variant"].to_numpy()[users]).tolist()
        names = self.texts["variant"].to_list()
        return {names[code]: n for code, n in enumerate(n_of) if n and code}

    def _in_one_arm(self, excluded: dict[str, int], notes: list[str]) -> Bools:
        """Leave out users in several arms, then those who were never exposed."""
        n_arms = self.seen["n_variants"].to_numpy()
        several = n_arms > 1
        if several.any():
            notes += self._each_of(several)
            self._leave(excluded, "in more than one variant", several)
        is_seen = n_arms > 0
        if self.exposes:
            is_seen &= self.seen["first"].is_not_null().to_numpy()
        words = "without a variant" if self.rules.exposure is None else "never exposed"
        self._leave(excluded, words, ~several & ~is_seen)
        in_one: Bools = ~several & is_seen
        return in_one

    def _each_of(self, users: Bools) -> list[str]:
        """Say how many users of several variants each has seen, if that is known."""
        if "variants" not in self.seen.columns:
            return []
        arms = self.seen["variants"].filter(pl.Series(users)).explode().to_numpy()
        n_of, names = np.bincount(arms).tolist(), self.texts["variant"]
        said = [f"{names[arm]} {n:,}" for arm, n in enumerate(n_of) if n]
        return [f"users in more than one variant, by variant: {', '.join(said)}"]

    def _leave(self, excluded: dict[str, int], words: str, users: Bools) -> None:
        """Count the users who are left out, and their events."""
        if users.any():
            mine = users[self.rows["user"].to_numpy()]
            n_events = int(self.rows["events"].filter(pl.Series(mine)).sum())
            excluded[f"users {words}"] = int(users.sum())
            excluded[f"events of users {words}"] = n_events

    def _possible(self, selection: Selection, *, asked: bool) -> Selection:
        """Refuse or leave out rates above 1, whose events do not match."""
        metrics = dict(selection.metrics)
        shares = {name: each for name, each in metrics.items() if each.is_share}
        sides = [side.sum().cast(pl.Int64) for side in _counts_of(shares)]
        totals = selection.of(AFTER).select(sides).row(0, named=True) if shares else {}
        for name, share in shares.items():
            above, below = totals[f"{name}.y"], totals[f"{name}.x"]
            if above > below:
                selection.left_out[name] = share.beyond(above, below)
                del metrics[name]
                if asked:
                    msg = f"{name} cannot be computed: {selection.left_out[name]}"
                    raise DataError(msg)
        return replace(selection, metrics=metrics)


def _counts_of(metrics: Mapping[str, OnlineMetric]) -> list[pl.Expr]:
    """Return the numerators and denominators of metrics, of any type, by name."""
    return [
        part.alias(f"{name}.{side}")
        for name, metric in metrics.items()
        for side, part in zip("yx", metric.parts, strict=True)
    ]


def _recoded(part: UserCounts, texts: Mapping[str, pl.Series]) -> pl.DataFrame:
    """Return who was seen where, with other numbers of groups."""
    seen = part.seen
    for label, names in texts.items():
        if label not in seen.columns:
            continue
        number = {text: code for code, text in enumerate(names)}
        codes = pl.Series([number[text] for text in part.texts[label]], dtype=pl.UInt32)
        each = pl.element().replace_strict(range(len(codes)), codes)
        seen = seen.with_columns(
            codes[seen[label]].alias(label), pl.col(f"{label}s").list.eval(each)
        )
    return seen


def _refuse_unexposed(counter: EventCounter) -> None:
    """Refuse what counts from the first exposure, where users have none."""
    given = {"window": counter.rules.window, "exposure": counter.rules.exposure}
    name = next((name for name, value in given.items() if value is not None), None)
    if name is None or counter.exposes:
        return
    lacks = "the log has no times"
    if "time" in counter.has:
        lacks = "the log has no variants" if counter.by_arm else "by= names no variants"
    msg = f"{name} has no effect, as users have no first exposure: {lacks}"
    raise ParameterError(msg)


def _refuse_idle(counter: EventCounter) -> None:
    """Refuse options that change nothing in this log."""
    rules = counter.rules
    if rules.incomplete == "keep" and rules.within is None:
        msg = (
            "incomplete= or --keep-incomplete has no effect without window= or "
            "--window: users count however long they were observed"
        )
        raise ParameterError(msg)
    if rules.timezone is None:
        return
    lacks = ""
    if "time" not in counter.has:
        lacks = "the log has no times"
    elif not counter.fine:
        lacks = "the times of the log are days, without a time of day"
    elif counter.every is None and not counter.exposes:
        lacks = "there are neither days, weeks or hours nor first exposures"
    if lacks:
        msg = f"timezone has no effect: {lacks}"
        raise ParameterError(msg)


def _day(number: int) -> date:
    """Return a day from its number since 1970."""
    return date(1970, 1, 1) + timedelta(number)


def _refuse_currencies(
    events: pl.DataFrame, seen: pl.DataFrame, label: str, names: pl.Series
) -> None:
    """Refuse amounts in another currency than that of the group a user counts in."""
    amounts = [name for name in ("value", "cost") if name in events.columns]
    if label not in events.columns or not amounts:
        return
    is_paid = pl.any_horizontal(pl.col(name) != 0 for name in amounts)
    paid = events.filter(is_paid & (pl.col(label) > 0)).select("user", label)
    groups = seen.select("user", pl.col(label).alias("group"))
    odd = paid.join(groups, on="user").filter(pl.col(label) != pl.col("group"))
    if odd.height:
        user, paid_in, group = odd.sort("user", label).row(0)
        msg = (
            f"user {str(user)!r} has amounts in {names[paid_in - 1]}, but counts in "
            f"{names[group - 1]}, which was seen first; convert them to one currency, "
            "or give one currency at a time"
        )
        raise DataError(msg)


def _unusable(facts: Facts) -> DataError:
    needed = ", ".join(sorted({"user", "kind"} | ({"time"} & facts.has)))
    return DataError(f"no event has all of {needed}")


def sides_of(metrics: Mapping[str, OnlineMetric], mark: str = "") -> list[pl.Expr]:
    """Return the numerators and denominators of metrics, each under its name."""
    return [side for name, each in metrics.items() for side in each.sides(name, mark)]
