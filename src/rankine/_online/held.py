"""The events read so far: what is needed of them, in as little memory as possible.

Sessions that cannot continue are kept as sums per user, the others as events. Sums can
no longer be mixed with other events, so the time that they cover is kept for each user,
and events within that time are refused.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from rankine._base.blocks import ahead
from rankine._base.limits import limits
from rankine._online.events import NO_ID, event_batches
from rankine._online.kept import (
    COARSE,
    KEEP,
    LONG_AGO,
    DisorderError,
    Kept,
    again_of,
    increase,
)
from rankine._online.order import changes
from rankine._online.people import grown
from rankine._online.sources import Query, refuse_database
from rankine._online.tallies import (
    DAY,
    NEVER,
    Sorted,
    added,
    cut,
    phased,
    tallied,
    together,
)
from rankine._online.visits import Visits
from rankine.errors import DataError

if TYPE_CHECKING:
    from rankine._base.arrays import AnyArray, Bools
    from rankine._online.events import Events

RETURNS = (
    "with in_order=True, a session id that returns after a day of silence is a new "
    "session"
)


class Held(Kept):
    """What is kept of a log that comes in parts; see `Kept` for the arguments."""

    # What comes

    def update(self, events: Any) -> None:
        """Add events: those of a log, or of all batches of a query."""
        refuse_database(events)
        self._refuse_broken()
        for part in events if isinstance(events, Query) else (events,):
            for batch in ahead(event_batches(part, self.rules, self.by, self.segment)):
                self._take(batch)
        self.broken = False

    def _refuse_broken(self) -> None:
        if self.broken:
            msg = (
                "an earlier part was not read to its end, so that some of its events "
                "are counted and some are not; start again"
            )
            raise DataError(msg)

    def _take(self, events: Events) -> None:
        self._same_columns(events.has, events.clock, events.currency)
        frame = events.frame
        again = self._are_gone(frame)
        if self.in_order:
            self._refuse_late(
                frame if again is None else frame.filter(pl.Series(~again))
            )
        self.broken = True  # until all of it is counted
        self.words |= events.words
        self.has = events.has
        self.kinds |= events.kinds
        self.n_read += events.n_read
        increase(self.read, events.excluded)
        self.notes |= dict.fromkeys(events.notes)
        increase(self.remarks, events.remarks)
        if frame.height == 0:
            return
        if "time" in events.has:
            self.fine = self.fine or bool((frame["time"] % DAY != 0).any())
        rows, order = self._numbered(events)
        if again is not None:
            increase(self.read, again_of(int(again.sum())))
            rows = rows.filter(~again[order])
        if self.closed and self.in_order is None:
            self._grow()
            user, time = rows["user"], rows["time"]
            self._refuse_within(user, time, time, (self.begun, self.ended))
        if rows.height:
            self.open.append(rows)
            self._compact()

    # Sessions that are over

    @property
    def _silence(self) -> int:
        by_id = self.has is not None and "session" in self.has
        return self.rules.gap_of_ids if by_id else self.rules.gap

    def _refuse_late(self, frame: pl.DataFrame) -> None:
        if "time" not in frame.columns:
            msg = "in_order=True needs events with a time"
            raise DataError(msg)
        if frame.height == 0:
            return
        earliest: int = frame["time"].min()  # type: ignore[assignment]
        if self.until is not None and earliest < self.until - self._silence:
            late = pl.Series([earliest, self.until]).cast(pl.Datetime("us")).to_list()
            msg = (
                f"an event of {late[0]} comes after one of {late[1]} in an earlier "
                "part; in_order=True needs parts in order of time"
            )
            raise DataError(msg)

    def _compact(self) -> None:
        """Keep the sums of sessions that cannot continue, and drop their events."""
        has = self.has or frozenset()
        held = sum(rows.height for rows in self.open)
        if self.in_order is False or "time" not in has:
            return
        may_return = "session" in has or self._by_id  # at any time
        if self.in_order is None and (
            held <= self._many or (self.merges and may_return)
        ):
            return
        rows = self._settled(firsts=False)
        self.left = rows.height
        if COARSE in self.notes:
            return
        self._grow()
        visits = Visits.of(cut(rows, self.rules, ends=bool(self.in_order)))
        self._close(visits, self._over(visits))

    @property
    def _many(self) -> int:
        """How many events may be kept before sessions that are over become sums.

        Once there are sums, fewer are kept, because that is faster; but always as many
        new ones as were left, so that none is looked at too often.
        """
        size = limits().held_events
        return size if self.left is None else max(size // 4, 2 * self.left)

    def _over(self, visits: Visits) -> Bools:
        """Say which sessions cannot continue, judging by the part that came last."""
        if self.in_order:
            self.until = most = max(self.latest, self.until or self.latest)
            return visits.end < most - 2 * self._silence
        if self.current is not None:  # user after user
            over: Bools = visits.user != self.current
            return over
        by_id = "session" in visits.events.rows
        silence = self.rules.gap_of_ids if by_id else 2 * self.rules.gap
        return visits.end < self.latest - silence

    def _refuse_within(
        self,
        user: AnyArray,
        begin: AnyArray,
        end: AnyArray,
        summed: tuple[AnyArray, AnyArray],
    ) -> None:
        """Refuse events or visits in the time of their user that was summed up.

        Everything that comes is checked, since what comes last is never summed up
        itself.
        """
        gap, (begun, ended) = self.rules.gap, summed
        late = begin <= ended[user] + gap
        if self.merges:
            late &= end >= begun[user] - gap
        if late.any():
            earliest = begin[late].min()
            moment = pl.Series([earliest]).cast(pl.Datetime("us"))[0]
            why = f"has an event of {moment} that comes after later ones"
            raise self._too_late(user[late & (begin == earliest)], why)

    def _close(self, visits: Visits, over: Bools) -> None:
        """Sum up sessions that are over; keep the first of each user, if it merges."""
        user = visits.user
        aside = np.zeros(len(over), bool)
        if self.merges and not self.in_order:
            summed = self.ended[user] > LONG_AGO
            near = visits.begin <= self.edge[user] + self.rules.gap
            first = changes(user) & (self.edge[user] == LONG_AGO)
            aside = (summed & (visits.end < self.begun[user])) | (
                over & ~summed & (first | near)
            )
            np.maximum.at(self.edge, user[aside], visits.end[aside])
            over = over & ~aside
        np.minimum.at(self.begun, user[over], visits.begin[over])
        np.maximum.at(self.ended, user[over], visits.end[over])
        kept = np.zeros(self.people.n, bool)
        kept[user[~over]] = True
        partly = kept[user]
        if not partly.all():
            events = self._phased(visits.events)
            rows = tallied(events, self.rules, daily=self.daily)
            rows = rows.filter(~kept[rows["user"].to_numpy()])
            self._add_rows(rows, visits, ~partly, events)
        part = visits.only(partly)
        if part.events.rows.height:
            over, aside = over[partly], aside[partly]
            if over.any():
                done = part.only(over)
                events = self._phased(done.events)
                rows = tallied(events, self.rules, daily=self.daily)
                self._add_rows(rows, done, np.ones(len(done.user), bool), events)
            if aside.any():
                self.first.append(part.only(aside).events.rows)
            part = part.only(~(over | aside))
        self.left = part.events.rows.height
        self.open = [self._forgetful(part.events.rows)] if self.left else []

    def _phased(self, events: Sorted) -> Sorted:
        if not self._exposes:
            return events
        return phased(events, self.exposed, self.rules.within)

    def _add_rows(
        self, rows: pl.DataFrame, visits: Visits, chosen: Bools, events: Sorted
    ) -> None:
        """Keep the sums of some sessions, and drop their events."""
        self.closed.append(rows)
        if self._by_id:
            ids = events.column("same")[visits.rows(chosen)]
            self.gone.add(ids[ids != NO_ID])
        if self.in_order is None and "session" in events.rows:
            session = events.column("session")[events.visits[chosen]]
            self.finished.add(self._visit_keys(visits.user[chosen], session))
        if events.phases is not None:
            inside = changes(events.phases) & visits.rows(chosen)
            inside[events.visits] = False
            self.divided[events.column("user")[inside]] = True
        n = sum(part.height for part in self.closed)
        if not self.daily and n > 2 * self.closed[0].height + limits().held_events:
            self.closed = [added(together(self.closed))]

    def _are_gone(self, frame: pl.DataFrame) -> Bools | None:
        """Say which events have an id that is kept only in sums.

        Of events with one id, the earliest counts. If it is not certain that the one
        that was summed up is the earlier, all events of the log have to be kept.
        """
        if not self.gone:
            return None
        again = self.gone.has(frame["same"].to_numpy())
        if not again.any():
            return None
        if (
            not self.in_order
            and frame["time"].to_numpy()[again].min() <= self.ended.max()
        ):
            msg = "an event has the id of one that is summed up, and may be the earlier"
            raise DisorderError(msg)
        return again

    # Others

    def merge(self, other: Held) -> None:
        """Add what another has read; if that is refused, nothing changes."""
        mine = self.rules, self.by, self.segment, self.daily, self.in_order
        if mine != (other.rules, other.by, other.segment, other.daily, other.in_order):
            msg = "these were made with different arguments and cannot be merged"
            raise DataError(msg)
        if self.in_order:
            msg = (
                "with in_order=True, sums of whole sessions are kept, which cannot be "
                "merged; leave it out if parts are to be merged"
            )
            raise DataError(msg)
        self._refuse_broken()
        other._refuse_broken()
        if other.has is None:
            return
        saved = self._saved()
        try:
            self._same_columns(other.has, other.clock, other.currency)
            self.has, self.kinds = other.has, self.kinds | other.kinds
            self.words, self.fine = self.words | other.words, self.fine or other.fine
            self.n_read += other.n_read
            increase(self.remarks, other.remarks)
            increase(self.read, other.read)
            self.notes |= other.notes
            self._join(other)
        except BaseException:
            vars(self).update(saved)
            raise

    def _join(self, other: Held) -> None:
        """Take the events and the sums of another, under the numbers of this one."""
        number = np.zeros(0, np.int32)
        if other.people.n:
            number = self.people.of(other.people.ids)
        session = np.zeros(1, np.int32)
        if other.sessions.n:
            session = np.append(session, self.sessions.of(other.sessions.ids) + 1)
        self._grow()
        self._late_of(other, number)
        theirs = [times[: len(number)] for times in (other.begun, other.ended)]
        begun, ended = (
            np.full_like(self.begun, NEVER),
            np.full_like(self.ended, LONG_AGO),
        )
        for ours, column in zip((begun, ended), theirs, strict=True):
            ours[number[: len(column)]] = column
        gap, both = self.rules.gap, (ended > LONG_AGO) & (self.ended > LONG_AGO)
        mixed = both & (begun <= self.ended + gap) & (self.begun <= ended + gap)
        if mixed.any():
            msg = (
                f"user {self._first_id(np.flatnonzero(mixed))!r} has sessions in "
                "one part between those of the other, which are summed up; merge parts "
                f"in order of time, or with in_order=False, which {KEEP}"
            )
            raise DisorderError(msg)
        held = []
        for rows in (*other.first, *other.open):
            arrays = {"user": number[rows["user"]]}
            if "session" in rows:
                arrays["session"] = session[rows["session"]]
            held.append(rows.replaced(**arrays))
        for label, seen in other.labels.items():
            self.labels[label].merge(seen, number, self.people.n)
        self._join_sums(other, number, begun)
        between = np.minimum(self.ended, ended), np.maximum(self.begun, begun)
        hulls = (self.begun.copy(), self.ended.copy()), (begun, ended)
        np.minimum(self.begun, begun, out=self.begun)
        np.maximum(self.ended, ended, out=self.ended)
        self.open = [*self.first, *self.open, *held]
        self.first = []
        self.edge[:] = LONG_AGO
        if not self.open or not self.closed:
            return
        visits = Visits.of(cut(self._settled(), self.rules))
        for hull in hulls:
            self._refuse_within(visits.user, visits.begin, visits.end, hull)
        user = visits.user
        over = both[user] & (visits.begin > between[0][user])
        self._close(visits, over & (visits.end < between[1][user]))

    def _join_sums(self, other: Held, number: AnyArray, begun: AnyArray) -> None:
        """Take the sums of another; what follows an exposure counts as after it."""
        if self._exposes:
            self.exposed = grown(self.exposed, self.people.n, NEVER)
            first = np.full(self.people.n, NEVER)
            first[number[: len(other.exposed)]] = other.exposed[: len(number)]
            mine = self.exposed[: self.people.n].copy()
            self._expose(np.arange(self.people.n), first)
            rows, divided = self.closed, self.divided.copy()
            self.closed = [_renumbered(sums, number) for sums in other.closed]
            self.divided = np.zeros_like(divided)
            self.divided[number[: len(other.divided)]] = other.divided[: len(number)]
            begun = begun[: len(mine)]
            moved = np.flatnonzero((mine < first) & (mine < begun) & (begun < NEVER))
            if len(moved):
                self._after(moved)
            self.closed, self.divided = [*rows, *self.closed], self.divided | divided
        else:
            self.closed += [_renumbered(rows, number) for rows in other.closed]


def _renumbered(rows: pl.DataFrame, number: AnyArray) -> pl.DataFrame:
    """Give users new numbers."""
    user = number[rows["user"].to_numpy()]
    return rows.with_columns(pl.Series("user", user, rows.schema["user"]))
