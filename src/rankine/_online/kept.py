"""What is known about the events read so far: users, their groups, each event once.

Users, sessions and groups are numbered in the order in which they came.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from rankine._base.limits import limits
from rankine._online.events import NO_ID, mixed
from rankine._online.keys import Keys
from rankine._online.order import changes, in_order, stable
from rankine._online.people import Labels, Numbers, grown
from rankine._online.rows import Rows, joined
from rankine._online.rules import Rules, check_groups
from rankine._online.tallies import AFTER, NEVER, added, together
from rankine.errors import DataError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from rankine._base.arrays import AnyArray, Ints
    from rankine._online.events import Events

COARSE = (
    "identical rows all count: there is neither an event id nor a time of day that "
    "would tell a duplicate"
)
KEEP = "keeps what is needed of every event, in any order"
LONG_AGO = np.iinfo(np.int64).min // 2
_ODD = np.uint64(0x9E3779B97F4A7C15)
"""Spreads numbers over 64 bits."""
_LATE = "came after a later one of the same user; sorted by time"
_KEYS = ("user", "session", "time", "fact", "same")


class DisorderError(DataError):
    """Events that come too late to be counted exactly from what is kept."""


class Kept:
    """What is kept of a log that comes in parts.

    Args:
        rules: what the user says about the log.
        by: the column that divides users into groups.
        segment: a second such column.
        daily: whether days are kept separate.
        in_order: True if parts come in order of time: then sessions that are over
            become sums at once, and a day of silence ends even a session with an id.
            False if they may come in any order: then what is needed of every event is
            kept. None if not known: sessions become sums as soon as there are many
            events, and what then comes too late is refused.
        merges: whether it may be merged with others: then the first session of each
            user is kept as events, because it may have begun in another part. If not,
            the log can be read again, so sessions with ids become sums too, and a
            `DisorderError` is raised if an id comes back.
    """

    def __init__(
        self,
        rules: Rules,
        by: str | None = "variant",
        segment: str | None = None,
        *,
        daily: bool = False,
        in_order: bool | None = None,
        merges: bool = True,
    ) -> None:
        check_groups(by, segment, daily)
        self.rules, self.by, self.segment = rules, by, segment
        self.daily, self.in_order, self.merges = daily, in_order, merges
        # The part of an event, not the name of a column: that of teams may be "group".
        self.by_arm = by is not None and by in {"variant", rules.columns.get("variant")}
        self.has: frozenset[str] | None = None
        self.kinds: frozenset[str] = frozenset()
        self.words: frozenset[str] = frozenset()
        self.notes: dict[str, None] = {}
        self.read: dict[str, int] = {}
        self.remarks: dict[str, int] = {}
        self.n_read = 0
        self.clock = self.currency = ""
        self.fine = self.broken = False
        self.people, self.sessions = Numbers(), Numbers()
        self.labels = {"variant": Labels(), "segment": Labels()}
        self.open: list[Rows] = []
        self.first: list[Rows] = []
        self.closed: list[pl.DataFrame] = []
        self.gone, self.finished = Keys(), Keys()
        self.until: int | None = None
        self.left: int | None = None
        self.newest = self.latest = LONG_AGO
        self.current: int | None = None
        self.came: AnyArray = np.zeros(0, np.int64)
        self.last: AnyArray = np.zeros(0, np.int64)
        self.exposed: AnyArray = np.zeros(0, np.int64)
        self.edge: AnyArray = np.zeros(0, np.int64)
        self.begun: AnyArray = np.zeros(0, np.int64)
        self.ended: AnyArray = np.zeros(0, np.int64)
        self.divided: AnyArray = np.zeros(0, bool)

    def _same_columns(self, has: frozenset[str], clock: str, currency: str) -> None:
        if currency and self.currency and currency != self.currency:
            what = "the log"
            raise mixed(what, self.currency, currency)
        self.currency = self.currency or currency
        if clock and self.clock and clock != self.clock:
            msg = f"this part has {clock}, but those before have {self.clock}"
            raise DataError(msg)
        self.clock = self.clock or clock
        if self.has is None or has == self.has:
            return
        odd = min(has ^ self.has)
        words = ("has a", "had none") if odd in has else ("has no", "had one")
        msg = f"this part {words[0]} column for the {odd}, but those before {words[1]}"
        raise DataError(msg)

    def _numbered(self, events: Events) -> tuple[Rows, Ints]:
        """Give users and sessions their numbers, and record what is known about users.

        Rows are returned by user, those of each as they came, with their order.
        """
        frame = events.frame
        user = self.people.of(frame["user"])
        order = stable(user)
        columns: dict[str, AnyArray] = {"user": user.take(order)}
        if "session" in frame.columns:
            session = np.zeros(frame.height, np.int32)
            known = frame["session"].is_not_null().to_numpy()
            if known.any():
                numbers = self.sessions.of(frame["session"].drop_nulls())
                session[known] = numbers + 1
            columns["session"] = session[order]
            self._refuse_finished(columns["user"], columns["session"])
        for name in ("time", "fact", "value", "cost", "same"):
            if name in frame.columns:
                columns[name] = _taken(frame[name].to_numpy(), order)
        time = columns.get("time")
        if time is not None:
            is_sorted = frame["time"].is_sorted()
            in_time = is_sorted and frame["time"][0] >= self.newest
            late = self._late(columns["user"], time, in_time=in_time)
            increase(self.remarks, {_LATE: late})
            self.latest = int(time.max())
            self.current = None if is_sorted else _current(user, columns["user"])
        self._label(events, order, columns["user"], time)
        return Rows(columns), order

    def _visit_keys(self, user: AnyArray, session: AnyArray) -> AnyArray:
        """Return a key for each user and session; those without an id are left out."""
        known = session != 0
        texts = self.sessions.ids[session[known] - 1].cast(pl.String)
        keys: AnyArray = texts.hash().to_numpy() ^ (
            user[known].astype(np.uint64) * _ODD
        )
        return keys

    def _refuse_finished(self, user: AnyArray, session: AnyArray) -> None:
        """Refuse sessions that were summed up, if they go on."""
        if self.finished:
            new = changes(user, session)
            if self.finished.has(self._visit_keys(user[new], session[new])).any():
                msg = "a session that was summed up goes on"
                raise DisorderError(msg)

    def _forgetful(self, rows: Rows) -> Rows:
        """Forget the ids of sessions of which no event is kept, if those are most.

        The others get new numbers.
        """
        session = rows.get("session")
        if session is None:
            return rows
        is_kept = np.zeros(self.sessions.n + 1, bool)
        is_kept[session] = True
        kept = np.flatnonzero(is_kept[1:])
        if 2 * len(kept) > self.sessions.n:
            return rows
        number, sessions = np.zeros(len(is_kept), np.int32), Numbers()
        if len(kept):
            number[kept + 1] = sessions.of(self.sessions.ids[kept]) + 1
        self.sessions = sessions
        return rows.replaced(session=number[session])

    def _late(self, user: AnyArray, time: AnyArray, *, in_time: bool) -> int:
        """Count the events that are earlier than the preceding one of their user."""
        self.last, late = grown(self.last, self.people.n, LONG_AGO), 0
        self.came = grown(self.came, self.people.n, NEVER)
        new = changes(user)
        firsts = np.flatnonzero(new)
        firsts = firsts[self.came[user[firsts]] == NEVER]
        self.came[user[firsts]] = time[firsts]
        if not in_time:
            before = np.where(new, self.last[user], np.roll(time, 1))
            late = int(np.count_nonzero(time < before))
        lasts = np.flatnonzero(np.append(new[1:], True))
        self.last[user[lasts]] = time[lasts]
        self.newest = max(self.newest, int(time[lasts].max()))
        return late

    def _late_of(self, other: Kept, number: AnyArray) -> None:
        """Count users whose first event in another came after a later one here."""
        n, known = self.people.n, len(other.last[: len(number)])
        self.last = grown(self.last, n, LONG_AGO)
        self.came = grown(self.came, n, NEVER)
        user, came, last = number[:known], other.came[:known], other.last[:known]
        seen = last > LONG_AGO
        user, came, last = user[seen], came[seen], last[seen]
        late = int(np.count_nonzero(came < self.last[user]))
        increase(self.remarks, {_LATE: late})
        self.came[user] = np.where(self.came[user] == NEVER, came, self.came[user])
        self.last[user] = last
        self.newest = max(self.newest, other.newest)

    def _saved(self) -> dict[str, Any]:
        """Return the whole state, so that it can be restored."""
        return {name: _copied(value) for name, value in vars(self).items()}

    # What is known of users

    @property
    def _exposes(self) -> bool:
        return self.by_arm and {"variant", "time"} <= (self.has or frozenset())

    def _label(
        self,
        events: Events,
        order: Ints,
        user: AnyArray,
        time: AnyArray | None,
    ) -> None:
        """Record which groups users are in, and when they were first exposed.

        An event says nothing new if it follows one of the same user with the same
        groups and is not earlier.
        """
        frame = events.frame
        known = {
            label: self.labels[label].of(texts, frame[label].to_numpy()).take(order)
            for label, texts in events.texts.items()
        }
        exposing = None
        if self._exposes:
            exposing = known["variant"] != 0
            if self.rules.exposure is not None:
                exposing &= frame["exposes"].to_numpy().take(order)
        if not known:
            return
        new = changes(user, *known.values(), exposing)
        if time is not None:
            new[1:] |= time[1:] < time[:-1]
        news = np.flatnonzero(new)
        n, user = self.people.n, user[news]
        moment = np.zeros(len(news), np.int64) if time is None else time[news]
        for label, group in known.items():
            self.labels[label].add(user, group[news], moment, n)
        if exposing is not None:
            self.exposed = grown(self.exposed, n, NEVER)
            self._expose(user[exposing[news]], moment[exposing[news]])

    def _expose(self, user: AnyArray, first: AnyArray) -> None:
        """Record when users were exposed, and which sums come before that."""
        earlier = first < self.exposed[user]
        user, first = user[earlier], first[earlier]
        np.minimum.at(self.exposed, user, first)
        if not self.closed or not len(user):
            return
        self._grow()
        moved = (self.ended[user] > LONG_AGO) & (first < self.begun[user])
        if moved.any():
            self._after(np.unique(user[moved]))

    def _after(self, moved: Ints) -> None:
        """Count what was summed up before the first exposure as after it."""
        refused = moved if self.rules.within is not None else moved[self.divided[moved]]
        if len(refused):
            raise self._too_late(refused, "was exposed before what was summed up")
        is_moved = np.zeros(self.people.n, bool)
        is_moved[moved] = True
        rows = together(self.closed)
        mine = pl.when(pl.Series(is_moved[rows["user"].to_numpy()]))
        phase = mine.then(pl.lit(AFTER, pl.Int8)).otherwise("phase").alias("phase")
        self.closed = [added(rows.with_columns(phase))]

    def _grow(self) -> None:
        n = self.people.n
        self.edge = grown(self.edge, n, LONG_AGO)
        self.begun = grown(self.begun, n, NEVER)
        self.ended = grown(self.ended, n, LONG_AGO)
        self.divided = grown(self.divided, n, 0)

    def _first_id(self, users: AnyArray) -> Any:
        """Return the least id of some users; their numbers may differ between runs."""
        return self.people.ids[users].min()

    def _too_late(self, users: AnyArray, why: str) -> DisorderError:
        msg = (
            f"user {self._first_id(users)!r} {why}; large logs are summed up as they "
            "come, which needs the events of each user in order of time; "
            f"in_order=False {KEEP}"
        )
        return DisorderError(msg)

    # Each event once, in order

    def _settled(self, *, firsts: bool = True) -> Rows:
        """Return the events that are kept as such, each once, in order.

        Without `firsts`, the first sessions of users are left in place.
        """
        if firsts:
            self.open, self.first = [*self.first, *self.open], []
        rows = self._distinct(in_order(joined(self.open)))
        self.open = [rows]
        return rows

    def _pieces(self) -> Iterator[Rows]:
        """Yield the same, some users at a time if there are many events."""
        held, self.open, self.first = [*self.first, *self.open], [], []
        size = 4 * limits().held_events
        n_pieces = 1 + sum(rows.height for rows in held) // size
        if self._by_id:  # an id may be that of two users
            n_pieces = 1
        self.broken = True  # until all of them are back
        parted: list[list[Rows]] = [[] for _ in range(n_pieces)]
        while held:
            rows = held.pop(0)
            piece = rows["user"] % n_pieces
            for number, parts in enumerate(parted):
                part = rows.filter(piece == number) if n_pieces > 1 else rows
                if part.height:
                    parts.append(part)
        for number, parts in enumerate(parted):
            if parts:
                self.open = parts
                parted[number] = [self._settled(firsts=False)]
                yield parted[number][0]
        self.open = [rows for parts in parted for rows in parts]
        self.broken = False

    @property
    def _by_id(self) -> bool:
        """Whether events are identified by their ids."""
        return "id" in (self.has or ()) and self.rules.duplicates == "drop"

    def _distinct(self, rows: Rows) -> Rows:
        if "same" not in rows:
            return rows
        if self._by_id:
            return self._distinct_ids(rows)
        again = ~changes(*(rows[name] for name in _KEYS if name in rows))
        n = int(np.count_nonzero(again))
        if n and not self.fine:
            self.notes[COARSE] = None
            return rows
        self.notes.pop(COARSE, None)  # a later part has times of day
        increase(self.read, again_of(n))
        return rows.filter(~again) if n else rows

    def _distinct_ids(self, rows: Rows) -> Rows:
        """Keep the earliest of the events with one id, whichever came first."""
        again = pl.Series(rows["same"]).is_duplicated().to_numpy()
        again &= rows["same"] != NO_ID
        if not again.any():
            return rows
        twice = pl.DataFrame(dict(rows.filter(again).arrays))
        twice = twice.with_columns(pl.Series("row", np.flatnonzero(again)))
        columns = [self.people.ids[twice["user"]].alias("user id")]
        if "session" in rows:
            texts = pl.concat(
                [pl.Series([None], dtype=self.sessions.ids.dtype), self.sessions.ids]
            )
            columns.append(texts[twice["session"]].alias("session id"))
        order = ["time", "user id", "session id", "fact", "value", "cost"]
        twice = twice.with_columns(columns)
        twice = twice.sort([name for name in order if name in twice.columns])
        once = twice.unique("same", keep="first", maintain_order=True)
        increase(self.read, again_of(twice.height - once.height))
        kept = ~again
        kept[once["row"].to_numpy()] = True
        return rows.filter(kept)


def _copied(value: Any) -> Any:
    """Return a copy of what is changed in place, which columns never are."""
    if isinstance(value, dict):
        return {name: _copied(each) for name, each in value.items()}
    if isinstance(value, (list, np.ndarray, Numbers, Labels, Keys)):
        return value.copy()
    return value


def _current(user: AnyArray, by_number: AnyArray) -> int | None:
    """Return the user whose events came last, if those of each user came together."""
    together = np.count_nonzero(changes(user)) == np.count_nonzero(changes(by_number))
    return int(user[-1]) if together else None


def _taken(values: AnyArray, order: Ints) -> AnyArray:
    """Return a column in another order; faster for amounts, most of which are 0."""
    if values.dtype != np.float64:
        return values.take(order)
    rows = np.flatnonzero((values != 0).take(order))
    if 4 * len(rows) > len(values):
        return values.take(order)
    taken = np.zeros_like(values)
    taken[rows] = values[order[rows]]
    return taken


def again_of(n: int) -> dict[str, int]:
    return {"duplicate events": n} if n else {}


def increase(counts: dict[str, int], more: Mapping[str, int]) -> None:
    for reason, n in more.items():
        counts[reason] = counts.get(reason, 0) + n
