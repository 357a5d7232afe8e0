"""Sums per user: the state from which every online metric, and its spread, is made.

The randomised unit is the user, and every metric is a ratio of two sums over users.
Second moments of days do not add up where users return, so what is kept is a row of
sums for each user, which merge by id.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import polars as pl

from rankine._base.text import count
from rankine._online.events import read_events
from rankine._online.metrics import METRICS, chosen
from rankine._online.people import alike, counted, earliest, firsts, oddities
from rankine._online.rules import COLUMNS, Rules, check_groups
from rankine._online.sources import Query, refuse_database
from rankine._online.tallies import (
    AFTER,
    BEFORE,
    BEYOND,
    DAY,
    added,
    page_views,
    tallied,
    with_sessions,
)
from rankine._online.words import notes_on
from rankine.errors import DataError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rankine._online.events import Events


_RETURNS = (
    "with in_order=True, a session id that returns after a day of silence is another "
    "session"
)
_COARSE = (
    "rows that are the same count each: there is neither an event id nor a time of day "
    "by which to tell a duplicate"
)


@dataclass(frozen=True, eq=False)
class UserSums:
    """A row of sums for each user.

    Attributes:
        frame: user, variant, segment, day, first (the time of the first exposure, null
            without variants), and for each metric m the columns m.y and m.x, its
            numerator and denominator after the first exposure, and m.y0 and m.x0, the
            same strictly before. With days, a row for each user and day.
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
        events: the log: a path, a frame, or what `read_table` gives.
        metrics: their names; all that the log has columns for, if not given.
        by: the column that tells groups of users apart.
        segment: a second such column.
        daily: whether days are told apart.
        **rules: see `Rules`.
    """
    state = State(Rules.of(rules), by, segment, daily=daily)
    state.update(events)
    return state.sums(metrics)


class State:
    """Events that were read so far; they may come in any parts and any order.

    With `in_order`, parts come in the order of time, and sessions that are over are
    kept as sums alone.
    """

    def __init__(
        self,
        rules: Rules,
        by: str | None = "variant",
        segment: str | None = None,
        *,
        daily: bool = False,
        in_order: bool = False,
    ) -> None:
        check_groups(by, segment, daily)
        self.rules, self.by, self.segment = rules, by, segment
        self.daily, self.in_order = daily, in_order
        self.by_arm = by is not None and (
            by == rules.columns.get("variant") or by in COLUMNS["variant"]
        )
        self.has: frozenset[str] | None = None
        self.kinds: frozenset[str] = frozenset()
        self.notes: dict[str, None] = {}
        self.read: dict[str, int] = {}
        self.n_read = 0
        self.remarks: dict[str, int] = {}
        self.open: list[pl.DataFrame] = []
        self.closed: list[pl.DataFrame] = []
        self.labels: dict[str, list[pl.DataFrame]] = {"variant": [], "segment": []}
        self.until: int | None = None
        self.clock = ""
        self.words: frozenset[str] = frozenset()
        self.fine = False
        self.gone: list[pl.Series] = []

    def update(self, events: Any) -> None:
        """Add events: those of a log, or of all batches of a query."""
        refuse_database(events)
        for part in events if isinstance(events, Query) else (events,):
            self._take(read_events(part, self.rules, self.by, self.segment))

    def _take(self, events: Events) -> None:
        self._same_columns(events.has, events.clock)
        frame = events.frame
        fresh = self._without_gone(frame)
        if self.in_order:
            self._refuse_late(fresh)
        _add(self.read, _again(frame.height - fresh.height))
        self.words |= events.words
        self.fine = self.fine or bool((frame["time"] % DAY != 0).any())
        self.has = events.has
        self.kinds |= events.kinds
        self.n_read += events.n_read
        _add(self.read, events.excluded)
        self.notes |= dict.fromkeys(events.notes)
        _add(self.remarks, events.remarks)
        for label, parts in self.labels.items():
            if label in events.has:
                parts.append(firsts(frame, label))
                self.labels[label] = [earliest(parts, label)]
        self.open.append(fresh)
        if self.in_order and (fresh.height or len(self.open) > 1):
            self._close()

    def merge(self, other: State) -> None:
        """Add what another has read."""
        mine = self.rules, self.by, self.segment, self.daily, self.in_order
        if mine != (other.rules, other.by, other.segment, other.daily, other.in_order):
            msg = "these were made with other arguments, and cannot be merged"
            raise DataError(msg)
        if self.in_order:
            msg = (
                "with in_order=True, sums of whole sessions are kept, and cannot be "
                "merged; leave it out where parts are to be merged"
            )
            raise DataError(msg)
        if other.has is None:
            return
        self._same_columns(other.has, other.clock)
        self.has, self.kinds = other.has, self.kinds | other.kinds
        self.words, self.fine = self.words | other.words, self.fine or other.fine
        self.n_read += other.n_read
        _add(self.remarks, other.remarks)
        _add(self.read, other.read)
        self.notes |= other.notes
        for label in self.labels:
            self.labels[label] = self.labels[label] + other.labels[label]
        self.open = self.open + other.open

    def _same_columns(self, has: frozenset[str], clock: str) -> None:
        if clock and self.clock and clock != self.clock:
            msg = f"this part has {clock}, and those before have {self.clock}"
            raise DataError(msg)
        self.clock = self.clock or clock
        if self.has is None or has == self.has:
            return
        odd = min(has ^ self.has)
        words = ("has a", "had none") if odd in has else ("has no", "had one")
        msg = f"this part {words[0]} column for the {odd}, and those before {words[1]}"
        raise DataError(msg)

    # Sessions that are over

    @property
    def _silence(self) -> int:
        by_id = self.has is not None and "session" in self.has
        return self.rules.gap_of_ids if by_id else self.rules.gap

    def _refuse_late(self, frame: pl.DataFrame) -> None:
        if frame["time"].has_nulls():
            msg = "in_order=True needs events with a time"
            raise DataError(msg)
        if frame.height == 0:
            return
        earliest: int = frame["time"].min()  # type: ignore[assignment]
        if self.until is not None and earliest < self.until - self._silence:
            late = pl.Series([earliest, self.until]).cast(pl.Datetime("us")).to_list()
            msg = (
                f"an event of {late[0]} comes after one of {late[1]} of an earlier "
                "part; in_order=True needs parts in the order of time"
            )
            raise DataError(msg)

    def _close(self) -> None:
        """Keep the sums of sessions that cannot go on, and forget their events."""
        frame = self._with_sessions(self._phased(self._distinct()))
        latest: int = frame["time"].max()  # type: ignore[assignment]
        self.until = max(latest, self.until or latest)
        ends = frame.group_by("number").agg(pl.col("time").max().alias("end"))
        over = ends.filter(pl.col("end") < self.until - 2 * self._silence)
        done = frame.join(over, on="number", how="semi", maintain_order="left")
        rest = frame.join(over, on="number", how="anti")
        if done.height:
            if "id" in (self.has or ()):
                self.gone.append(done["same"].drop_nulls())
            self.closed.append(tallied(done, self.rules, daily=self.daily))
            self.closed = [added(*self.closed)]
        self.open = [rest.drop("number", "day", "phase")]

    def _without_gone(self, frame: pl.DataFrame) -> pl.DataFrame:
        """Leave out events whose id is one of those that are kept as sums alone."""
        if not self.gone:
            return frame
        self.gone = [pl.concat(self.gone)]
        return frame.filter(
            ~pl.col("same").is_in(self.gone[0].implode()).fill_null(False)
        )

    def _with_sessions(self, frame: pl.DataFrame) -> pl.DataFrame:
        if self.in_order and "session" in (self.has or ()):
            self.notes[_RETURNS] = None
        return with_sessions(frame, self.rules, in_order=self.in_order)

    # What it comes to

    def _distinct(self) -> pl.DataFrame:
        """Return all events, each once."""
        frame = pl.concat(alike(self.open))
        if self.rules.duplicates == "keep":
            return frame
        again = frame["same"].is_duplicated() & frame["same"].is_not_null()
        if not again.any():
            return frame
        by_id = "id" in (self.has or ())
        if not by_id and not self.fine:
            self.notes[_COARSE] = None
            return frame
        key = ["same"] if by_id else ["user", "time", "kind", "same"]
        # Of events with one id, whichever came first, the earliest is kept.
        once = frame.filter(again).sort(pl.all())
        once = once.unique(key, keep="first", maintain_order=True)
        n = int(again.sum()) - once.height
        if n:
            _add(self.read, _again(n))
            self.open = [pl.concat([frame.filter(~again), once])]
        return self.open[0] if n else frame

    @property
    def _exposes(self) -> bool:
        return self.by_arm and "variant" in (self.has or ()) and "time" in self.has  # type: ignore[operator]

    def _phased(self, frame: pl.DataFrame) -> pl.DataFrame:
        """Say of each event whether it is before or after the first exposure."""
        if not self._exposes:
            return frame.with_columns(pl.lit(AFTER, pl.Int8).alias("phase"))
        firsts = (
            earliest(self.labels["variant"], "variant")
            .group_by("user")
            .agg(pl.col("exposed").min())
        )
        after = pl.col("time") - pl.col("exposed")
        phase = pl.when(after >= 0).then(AFTER).otherwise(BEFORE)
        if self.rules.within is not None:
            phase = pl.when(after >= self.rules.within).then(BEYOND).otherwise(phase)
        joined = frame.join(firsts, on="user", how="left")
        return joined.with_columns(phase.cast(pl.Int8).alias("phase")).drop("exposed")

    def page_views(self) -> pl.DataFrame:
        """Return the page views of all users that have a time, with it."""
        frame = self._with_sessions(self._phased(self._distinct()))
        return page_views(frame, self.rules).filter(pl.col("dwell").is_not_null())

    def sums(self, metrics: Sequence[str] | None = None) -> UserSums:
        """Return a row of sums for each user that counts."""
        if self.has is None:
            msg = "there are no events yet"
            raise DataError(msg)
        names, left_out = chosen(metrics, self.has, self.kinds, self.rules)
        frame = self._phased(self._distinct().drop("variant", "segment", "exposes"))
        frame = self._with_sessions(frame.drop("same"))
        parts = [*self.closed, tallied(frame, self.rules, daily=self.daily)]
        counts = added(*parts) if self.closed else parts[-1]
        excluded, notes = dict(self.read), [*self.notes]
        notes += [
            f"{count(n, 'event')} {what}" for what, n in self.remarks.items() if n
        ]
        notes += notes_on(self.words, self.rules)
        users, counts = self._users(counts, excluded, notes)
        after = counts.filter(pl.col("phase") == AFTER).drop("phase")
        before = counts.filter(pl.col("phase") == BEFORE).drop("phase", "day")
        before = before.group_by("user").agg(pl.all().sum())
        notes += oddities(after, self.has)
        rules = self.rules
        rows = users.join(
            after.select(
                "user",
                "day",
                *(METRICS[name].sides(name, rules) for name in names),
            ).unnest(*names),
            on="user",
            how="inner",
        )
        earlier = before.select(
            "user", *(METRICS[name].sides(name, rules, "0") for name in names)
        ).unnest(*names)
        fresh = [f"{name}.{side}0" for name in names for side in "yx"]
        rows = rows.join(earlier, on="user", how="left")
        rows = rows.with_columns(
            pl.col(fresh).fill_null(0.0), pl.col("day").cast(pl.Date)
        )
        rows = rows.sort("user", "day")
        names = _possible(names, rows, left_out, asked=metrics is not None)
        directions = {name: METRICS[name].higher_is_better for name in names}
        return UserSums(rows, tuple(notes), excluded, directions, names, left_out)

    def _users(
        self, counts: pl.DataFrame, excluded: dict[str, int], notes: list[str]
    ) -> tuple[pl.DataFrame, pl.DataFrame]:
        """Return the users that count with their groups, and what they did."""
        users = counts.select("user").unique()
        if self.by_arm and self.labels["variant"]:
            users = self._in_one_arm(users, counts, excluded, notes)
        for label, parts in self.labels.items():
            if not parts:
                users = users.with_columns(pl.lit(None, pl.String).alias(label))
                continue
            seen = earliest(parts, label).join(users, on="user", how="semi")
            n = seen.height - seen["user"].n_unique()
            if n:
                said = count(n, "user")
                notes.append(f"{said} in more than one {label}, counted in their first")
            first = seen.sort("user", "seen", label).unique("user", keep="first")
            users = users.join(first.select("user", label), on="user", how="left")
        if users.height == 0:
            reasons = ", ".join(counted(n, reason) for reason, n in excluded.items())
            msg = f"no user is left: {reasons}"
            raise DataError(msg)
        counts = counts.join(users, on="user", how="semi")
        by_phase = dict(
            counts.group_by("phase").agg(pl.col("events").sum()).iter_rows()
        )
        if BEYOND in by_phase:
            excluded["events after the window"] = by_phase[BEYOND]
        if BEFORE in by_phase:
            excluded["events before the first exposure"] = by_phase[BEFORE]
        return self._with_first(users), counts

    def _with_first(self, users: pl.DataFrame) -> pl.DataFrame:
        if not self._exposes:
            return users.with_columns(pl.lit(None, pl.Datetime("us")).alias("first"))
        seen = earliest(self.labels["variant"], "variant").group_by("user")
        first = pl.col("exposed").min().cast(pl.Datetime("us")).alias("first")
        return users.join(seen.agg(first), on="user", how="left")

    def _in_one_arm(
        self,
        users: pl.DataFrame,
        counts: pl.DataFrame,
        excluded: dict[str, int],
        notes: list[str],
    ) -> pl.DataFrame:
        """Leave out users in several arms, then those who were never exposed."""
        seen = earliest(self.labels["variant"], "variant")
        several = seen.filter(pl.len().over("user") > 1)
        apart = several.select("user").unique()
        if apart.height:
            arms = several.group_by("variant").len().sort("variant").iter_rows()
            each = ", ".join(f"{arm} {n:,}" for arm, n in arms)
            n = count(apart.height, "user")
            notes.append(f"{n} in more than one variant left out: {each}")
            _leave(excluded, "in more than one variant", apart, counts)
            users = users.join(apart, on="user", how="anti")
        if self._exposes:
            seen = seen.filter(pl.col("exposed").is_not_null())
        words = "without a variant" if self.rules.exposure is None else "never exposed"
        _leave(excluded, words, users.join(seen, on="user", how="anti"), counts)
        return users.join(seen, on="user", how="semi")


def _again(n: int) -> dict[str, int]:
    return {"duplicate events": n} if n else {}


def _add(counts: dict[str, int], more: Mapping[str, int]) -> None:
    for reason, n in more.items():
        counts[reason] = counts.get(reason, 0) + n


def _possible(
    names: tuple[str, ...],
    frame: pl.DataFrame,
    left_out: dict[str, str],
    *,
    asked: bool,
) -> tuple[str, ...]:
    """Refuse, or leave out, rates that would be above 1: their events do not match."""
    kept = []
    for name in names:
        y, x = (float(frame[f"{name}.{side}"].sum()) for side in "yx")
        if METRICS[name].is_share and y > x:
            why = METRICS[name].beyond(y, x)
            if asked:
                msg = f"{name} cannot be computed: {why}"
                raise DataError(msg)
            left_out[name] = why
        else:
            kept.append(name)
    return tuple(kept)


def _leave(
    excluded: dict[str, int], words: str, users: pl.DataFrame, counts: pl.DataFrame
) -> None:
    """Count users that are left out, and their events."""
    if users.height:
        theirs = counts.join(users, on="user", how="semi")["events"].sum()
        excluded[f"users {words}"] = users.height
        excluded[f"events of users {words}"] = int(theirs)
