"""Sums per user: the state from which all online metrics and intervals are computed.

The randomised unit is the user, and every metric is a ratio of two sums over users.
Second moments of days do not add up if users return, so a row of sums is kept for each
user, and rows merge by id.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import date, timedelta
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
import polars as pl

from rankine._base.blocks import at_once
from rankine._base.text import count
from rankine._online.events import ABOUT, open_log
from rankine._online.held import RETURNS, Held
from rankine._online.kept import DisorderError
from rankine._online.metrics import METRICS, chosen
from rankine._online.order import stable
from rankine._online.people import by_user, counted, oddities
from rankine._online.rules import Rules
from rankine._online.sources import Query, refuse_database
from rankine._online.spreads import paired
from rankine._online.tallies import (
    AFTER,
    BEFORE,
    BEYOND,
    NEVER,
    NO_DAY,
    added,
    cut,
    dwells,
    numbered,
    once,
    tallied,
    together,
)
from rankine._online.words import notes_on
from rankine.errors import DataError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from rankine._base.arrays import AnyArray, Bools, Ints
    from rankine._online.spreads import Pairs

T = TypeVar("T")

_EPOCH = date(1970, 1, 1)


@dataclass(frozen=True, eq=False)
class UserSums:
    """A row of sums for each user.

    Attributes:
        frame: user, variant, segment, day, first (the time of the first exposure, null
            without variants), and for each metric m the columns m.y and m.x, its
            numerator and denominator after the first exposure, and m.y0 and m.x0, the
            same strictly before. With days, there is a row for each user and day.
        notes: what was assumed, and what is odd.
        excluded: events and users that were left out, by reason.
        directions: metric -> whether higher is better; None if neither is.
        metrics: the metrics, in their order.
        left_out: metric -> why it is not there.
    """

    frame: pl.DataFrame
    notes: tuple[str, ...]
    excluded: dict[str, int]
    directions: dict[str, bool | None]
    metrics: tuple[str, ...] = ()
    left_out: dict[str, str] | None = None


@dataclass(frozen=True, eq=False)
class Counted:
    """What users did, as whole numbers.

    Attributes:
        parts: rows of counts by user, phase and day; some are still to be added up.
        users: which users count, by their numbers.
        groups: the numbers of the variant and the segment of each user.
        metrics: the metrics, in their order.
        left_out: metric -> why it is not there.
        notes: what was assumed, and what is odd.
        excluded: events and users that were left out, by reason.
    """

    parts: list[pl.DataFrame]
    users: Bools
    groups: dict[str, AnyArray]
    metrics: tuple[str, ...]
    left_out: dict[str, str]
    notes: tuple[str, ...]
    excluded: dict[str, int]

    def rows(self, phase: int, day: int | None = None) -> pl.DataFrame:
        """Return the counts of all users who count, on all days or on one."""
        kept = []
        for part, first, last in self._spans:
            if day is None or first <= day <= last:
                wanted = self.users[part["user"].to_numpy()]
                wanted &= part["phase"].to_numpy() == phase
                if day is not None and first < last:
                    wanted &= part["day"].to_numpy() == day
                kept.append(part if wanted.all() else part.filter(wanted))
        if not kept:
            return self.parts[0].clear()
        rows = together(kept)
        is_one_day = rows["day"].min() == rows["day"].max()
        return once(rows) if is_one_day else added(rows)

    def counting(self, phase: int) -> Iterator[pl.DataFrame]:
        """Yield the counts of the users who count."""
        for part in self.parts:
            wanted = self.users[part["user"].to_numpy()]
            wanted &= part["phase"].to_numpy() == phase
            yield part if wanted.all() else part.filter(wanted)

    @cached_property
    def _spans(self) -> list[tuple[pl.DataFrame, int, int]]:
        """All parts, each with its first and last day."""
        return [
            (part, int(part["day"].min()), int(part["day"].max()))  # type: ignore[arg-type]
            for part in self.parts
            if part.height
        ]


def user_sums(
    events: Any,
    metrics: Sequence[str] | None = None,
    *,
    by: str | None = "variant",
    segment: str | None = None,
    daily: bool = False,
    **rules: Any,
) -> UserSums:
    """Return the sums of every user, from a log of events.

    Args:
        events: the log: a path, a frame, or what `read_table` returns.
        metrics: their names; all that the log has columns for, if not given.
        by: the column that divides users into groups.
        segment: a second such column.
        daily: whether days are kept separate.
        **rules: see `Rules`.
    """
    return whole(events, Rules.of(rules), by, segment, daily=daily).sums(metrics)


def whole(
    events: Any,
    rules: Rules,
    by: str | None = None,
    segment: str | None = None,
    *,
    daily: bool = False,
) -> State:
    """Read a whole log: with little memory if it is in order, else with every event."""
    if not isinstance(events, Query):
        refuse_database(events)
        events = open_log(events, rules)
    state = State(rules, by, segment, daily=daily, merges=False)
    try:
        state.update(events)
    except DisorderError:
        state = State(rules, by, segment, daily=daily, in_order=False)
        state.update(events)
    return state


class State(Held):
    """The events read so far, and what they add up to."""

    def _parts(self) -> list[pl.DataFrame]:
        """Return all counts: those of events that are still held, and the others."""
        self._refuse_broken()
        parts = [*self.closed]
        if self.in_order and "session" in (self.has or ()) and self.open:
            self.notes[RETURNS] = None
        for rows in self._pieces():
            events = cut(rows, self.rules, ends=bool(self.in_order))
            parts.append(tallied(self._phased(events), self.rules, daily=self.daily))
        return parts

    def page_views(self) -> tuple[AnyArray, AnyArray]:
        """Return the users of all page views that have a time, and that time."""
        self._known()
        events = cut(self._settled(), self.rules)
        session = numbered(events.visits, events.rows.height)
        views, dwell, is_known = dwells(events, self.rules, session)
        return events.column("user")[views[is_known]], dwell[is_known]

    def _known(self) -> frozenset[str]:
        """Return the parts that the log has; refuse a log without usable events."""
        if self.has is None:
            msg = "there are no events yet"
            raise DataError(msg)
        if not self.people.n:
            needed = ", ".join(sorted({"user", "kind"} | ({"time"} & self.has)))
            msg = f"no event has all of {needed}"
            raise DataError(msg)
        return self.has

    def counted(self, metrics: Sequence[str] | None = None) -> Counted:
        """Return what each user did, and which of them count."""
        has = self._known()
        names, left_out = chosen(metrics, has, self.kinds, self.rules)
        parts = self._parts()
        excluded, notes = dict(self.read), [*self.notes]
        needed = {part for name in names for part in METRICS[name].needs(self.rules)}
        notes += [
            f"{count(n, 'event')} {what}"
            for what, n in self.remarks.items()
            if n and (what not in ABOUT or ABOUT[what] in needed)
        ]
        notes += notes_on(self.words, self.rules)
        users, groups = self._users(parts, excluded, notes)
        by_phase = np.zeros(3, np.int64)
        for part in parts:
            mine = part.select("phase", "events").filter(users[part["user"].to_numpy()])
            np.add.at(by_phase, mine["phase"].to_numpy(), mine["events"].to_numpy())
        if by_phase[BEYOND]:
            excluded["events after the window"] = int(by_phase[BEYOND])
        if by_phase[BEFORE]:
            excluded["events before the first exposure"] = int(by_phase[BEFORE])
        counts = Counted(parts, users, groups, names, left_out, (), excluded)
        notes += oddities(counts.counting(AFTER), self.people.ids, has)
        counts = replace(counts, notes=tuple(notes))
        return self._possible(counts, asked=metrics is not None)

    def sums(self, metrics: Sequence[str] | None = None) -> UserSums:
        """Return a row of sums for each user who counts."""
        return self.sums_of(self.counted(metrics))

    def sums_of(self, counts: Counted) -> UserSums:
        """Return a row of sums for each user, from what was counted."""
        names = counts.metrics
        after = counts.rows(AFTER)
        before = counts.rows(BEFORE).drop("day", "phase")
        before = before.group_by("user").agg(pl.all().sum())
        number = after["user"]
        labels = [
            self.texts(label)[groups[number.to_numpy()]].alias(label)
            for label, groups in counts.groups.items()
        ]
        first = pl.Series("first", [None], pl.Int64).new_from_index(0, after.height)
        if self._exposes:
            first = pl.Series("first", self.exposed[number.to_numpy()])
        day = pl.col("day").cast(pl.Int32).replace(NO_DAY, None).cast(pl.Date)
        rows = after.select(
            pl.col("user").alias("number"),
            day,
            *(METRICS[name].sides(name, self.rules) for name in names),
        ).unnest(*names)
        earlier = before.select(
            pl.col("user").alias("number"),
            *(METRICS[name].sides(name, self.rules, "0") for name in names),
        ).unnest(*names)
        fresh = [f"{name}.{side}0" for name in names for side in "yx"]
        rows = rows.with_columns(
            self.people.ids[number].alias("user"),
            *labels,
            first.cast(pl.Datetime("us")),
        )
        rows = rows.join(earlier, on="number", how="left")
        rows = rows.with_columns(pl.col(fresh).fill_null(0.0)).sort("user", "day")
        order = ["user", "variant", "segment", "first", "day"]
        sides = [f"{name}.{side}" for name in names for side in "yx"]
        rows = rows.select(*order, *sides, *fresh)
        directions = {name: METRICS[name].higher_is_better for name in names}
        return UserSums(
            rows, counts.notes, counts.excluded, directions, names, counts.left_out
        )

    def groups(
        self,
        counts: Counted,
        labels: Sequence[str],
        made_of: Callable[[str, Pairs], T],
    ) -> list[tuple[tuple[Any, ...], dict[str, T]]]:
        """Return each group of users, by variant, segment and day, with its metrics.

        Args:
            counts: what users did.
            labels: which of these the groups are divided by.
            made_of: called with the sums of each metric, in two threads.
        """
        days: list[int | None] = [None]
        if "day" in labels:
            every = pl.concat(part["day"].unique() for part in counts.parts)
            days = sorted(every.unique().to_list())
        size = sum(part.height for part in counts.parts) * len(counts.metrics)
        works = [
            partial(self._of_day, counts, labels, day, made_of=made_of) for day in days
        ]
        return [group for of_day in at_once(works, size) for group in of_day]

    def _of_day(
        self,
        counts: Counted,
        labels: Sequence[str],
        day: int | None,
        made_of: Callable[[str, Pairs], T],
    ) -> list[tuple[tuple[Any, ...], dict[str, T]]]:
        rows = counts.rows(AFTER, day)
        if not rows.height:
            return []
        sides = [
            part.alias(f"{name}.{side}")
            for name in counts.metrics
            for side, part in zip("yx", METRICS[name].parts(self.rules), strict=True)
        ]
        texts = [self.texts(label) for label in labels if label != "day"]
        user = rows["user"].to_numpy()
        numbers = [counts.groups[label][user] for label in labels if label != "day"]
        code = np.zeros(len(user), np.int64)
        for names, number in zip(texts, numbers, strict=True):
            code = code * len(names) + number
        order = stable(code)
        ends = np.flatnonzero(np.append(np.diff(code[order]) != 0, True)) + 1
        sorted_rows = rows.select(sides)[order]
        groups = []
        for begin, end in zip([0, *ends[:-1]], ends, strict=True):
            part = sorted_rows[int(begin) : int(end)]
            head: list[Any] = [
                names[int(number[order[begin]])]
                for names, number in zip(texts, numbers, strict=True)
            ]
            if day is not None:
                head.append(None if day == NO_DAY else _EPOCH + timedelta(day))
            metrics = {
                name: made_of(name, paired(part[f"{name}.y"], part[f"{name}.x"]))
                for name in counts.metrics
            }
            groups.append((tuple(head), metrics))
        return groups

    def texts(self, label: str) -> pl.Series:
        """Return the names of groups by their numbers; 0 stands for none."""
        nothing = pl.Series([None], dtype=pl.String)
        texts = self.labels[label].texts
        return pl.concat([nothing, texts.ids]) if texts.n else nothing

    def _users(
        self, parts: list[pl.DataFrame], excluded: dict[str, int], notes: list[str]
    ) -> tuple[Bools, dict[str, AnyArray]]:
        """Return which users count, and their groups."""
        n = self.people.n
        events = by_user(parts, "events", n)
        users = events > 0
        if self.by_arm and self.labels["variant"].texts.n:
            users = self._in_one_arm(users, events, excluded, notes)
        groups = {}
        columns = {"variant": self.by, "segment": self.segment}
        for label, seen in self.labels.items():
            several = seen.several()
            several = several[users[several]]
            if len(several):
                more = int(seen.each(several).height - len(several))
                said = count(more, "user")
                notes.append(
                    f"{said} in more than one {columns[label]}, counted in their first"
                )
            groups[label] = seen.earliest(n)
        if not users.any():
            reasons = ", ".join(counted(n, reason) for reason, n in excluded.items())
            msg = f"no user is left: {reasons}"
            raise DataError(msg)
        return users, groups

    def _in_one_arm(
        self,
        users: Bools,
        events: Ints,
        excluded: dict[str, int],
        notes: list[str],
    ) -> Bools:
        """Leave out users in several arms, then those who were never exposed."""
        seen = self.labels["variant"]
        several = seen.several()
        if len(several):
            arms = seen.each(several).group_by("text").len().sort("text").iter_rows()
            each = ", ".join(f"{arm} {n:,}" for arm, n in arms)
            said = count(len(several), "user")
            notes.append(f"{said} in more than one variant left out: {each}")
            _leave(excluded, "in more than one variant", several, events)
            users = users.copy()
            users[several] = False
        is_seen = seen.earliest(len(users)) > 0
        if self._exposes:
            is_seen &= self.exposed[: len(users)] < NEVER
        words = "without a variant" if self.rules.exposure is None else "never exposed"
        _leave(excluded, words, np.flatnonzero(users & ~is_seen), events)
        return users & is_seen

    def _possible(self, counts: Counted, *, asked: bool) -> Counted:
        """Refuse or leave out rates above 1, whose events do not match."""
        shares = [name for name in counts.metrics if METRICS[name].is_share]
        totals = self._totals(counts, shares)
        impossible = {
            name: METRICS[name].beyond(y, x) for name, (y, x) in totals.items() if y > x
        }
        for name, why in impossible.items():
            if asked:
                msg = f"{name} cannot be computed: {why}"
                raise DataError(msg)
        counts.left_out.update(impossible)
        return replace(
            counts,
            metrics=tuple(name for name in counts.metrics if name not in impossible),
        )

    def _totals(
        self, counts: Counted, names: Sequence[str]
    ) -> dict[str, tuple[float, float]]:
        """Return the numerators and denominators of metrics of whole numbers."""
        sides = [
            part.sum().cast(pl.Int64).alias(f"{name}.{side}")
            for name in names
            for side, part in zip("yx", METRICS[name].parts(self.rules), strict=True)
        ]
        totals = dict.fromkeys((f"{name}.{side}" for name in names for side in "yx"), 0)
        for part in counts.counting(AFTER) if names else ():
            for column in part.select(sides):
                totals[column.name] += int(column[0] or 0)
        return {name: (totals[f"{name}.y"], totals[f"{name}.x"]) for name in names}


def _leave(excluded: dict[str, int], words: str, users: Ints, events: Ints) -> None:
    """Count the users who are left out, and their events."""
    if len(users):
        excluded[f"users {words}"] = len(users)
        excluded[f"events of users {words}"] = int(events[users].sum())
