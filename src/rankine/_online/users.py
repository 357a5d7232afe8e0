"""What users did: the events of some users become a row of counts for each of them.

Events are sorted by user, session and time. A session begins where its id changes or,
without one, after silence. What a user did before the first exposure is counted apart
from what came after it, and so is what was done on each day, week or hour.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from rankine._online.events import NO_ID
from rankine._online.rules import CODES, MONEY, PASSIVE
from rankine._online.times import DAY, period_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rankine._base.arrays import Floats
    from rankine._online.rules import Rules
    from rankine._online.times import Every

BEFORE, AFTER, BEYOND = 0, 1, 2
"""Before the first exposure, after it, and after the window that counts.

Only users of a test whose log has times have an exposure; all else is AFTER. What is
BEYOND is counted as left out, and is in no table.
"""
ROW = "user", "phase", "period"
"""What a row of counts is of; the period, a day, week or hour, is null without any."""
RETURNS = {day: f"events_day_{day}" for day in (1, 7, 28)}
"""What counts the events of a day after the start, from 24 to 48 hours for day 1.

The start is the first exposure or, of users who have none, the first event.
"""
COUNTS = (
    "events", "impressions", "clicks", "page_views", "actions", "conversions", "orders",
    "sessions", "converting_sessions", "pageless_sessions", "bounces",
    "engaged_sessions", "converting_clicks", "dwell", "timed_page_views",
    "untimed_page_views", *RETURNS.values(), "observed",
)  # fmt: skip
"""Whole numbers; `dwell` is microseconds on pages.

`RETURNS`, and `observed`, the microseconds from the start to the end of the log, are in
the row of the start, so that they add up as all others do.
"""
AMOUNTS = "revenue", "cost"
"""Money in whole parts of `MONEY`."""
NEEDS = {
    **dict.fromkeys(
        (
            "sessions", "converting_sessions", "pageless_sessions", "bounces",
            "engaged_sessions",
        ),
        "time or session",
    ),
    **dict.fromkeys(
        (
            "converting_clicks", "seconds_on_page", "timed_page_views",
            "untimed_page_views",
        ),
        "time",
    ),
    **dict.fromkeys(("orders", "revenue"), "value"),
    "cost": "cost",
    **{name: name for name in RETURNS.values()},
    "days_observed": "time",
}  # fmt: skip
"""What a log must have for a column; all logs have the others."""
COLUMNS_OF_USERS = (
    *(
        "seconds_on_page" if name == "dwell" else name
        for name in COUNTS
        if name not in {*RETURNS.values(), "observed"}
    ),
    *AMOUNTS,
)
"""The numbers in the table of users that are known from before the exposure, too."""
OF_KIND = {
    "impressions": "impression", "clicks": "click", "page_views": "pageview",
    "conversions": "conversion",
}  # fmt: skip
"""The columns that count events of a kind."""
_EXACT = 1e6
"""Amounts are whole numbers of this part, and of parts of `MONEY` below it."""


@dataclass(frozen=True)
class EventCounter:
    """Counts what the events of some users of a log say that they did.

    Attributes:
        rules: what the user says about the log.
        has: the parts that the log has.
        fine: whether times have a time of day, so that identical rows are duplicates,
            and the time between two page views is known.
        by_arm: whether variants are the arms of a test, in which only what follows the
            first exposure counts.
        every: what is kept separate: days, weeks or hours.
    """

    rules: Rules
    has: frozenset[str]
    fine: bool
    by_arm: bool
    every: Every | None

    @property
    def by_id(self) -> bool:
        """Whether events are identified by their ids."""
        return "id" in self.has and self.rules.duplicates == "drop"

    @property
    def exposes(self) -> bool:
        """Whether users have a first exposure."""
        return self.by_arm and {"variant", "time"} <= self.has

    def rows(self, events: pl.DataFrame) -> tuple[pl.DataFrame, pl.DataFrame, int]:
        """Count what some users did.

        Args:
            events: all of their events, as `events.Events` has them.

        Returns:
            A row of counts for each user, phase and period, in which users are
            numbered; a row for each user, in the order of their ids and numbers, with
            the groups that the user was first seen in, all of them and how many they
            are, the first exposure, and the start; and how many events repeat another
            one. These are left out, unless no time of day tells that they are
            duplicates.
        """
        events, seen, n_again = self._happened(events)
        rows = self._counts(events)
        more_counts = (
            self._pages(events),
            _converting_clicks(events),
            self._returns(events),
        )
        for more in (*more_counts, *_money(events)):
            rows = rows.join(more, on=ROW, how="left", nulls_equal=True)
        numbers = [
            (pl.col(name).fill_null(0) if name in rows.columns else pl.lit(0)).alias(
                name
            )
            for name in (*COUNTS, *AMOUNTS)
        ]
        return narrow(rows.select(*ROW, *numbers)), seen, n_again

    def page_views(self, events: pl.DataFrame) -> pl.DataFrame:
        """Return the page views of some users that have a time: user and dwell."""
        events, seen, _ = self._happened(events)
        views = self._dwells(events).filter(pl.col("dwell").is_not_null())
        return views.select(seen["user"][views["user"]], "dwell")

    def steps(self, events: pl.DataFrame) -> pl.DataFrame:
        """Return the events of some users that count and match a step.

        Returns:
            User, time and steps, in the order of users and times; at the same time, in
            the order of kinds, then of the first step that an event matches.
        """
        events, seen, _ = self._happened(events)
        events = events.filter((pl.col("phase") == AFTER) & (pl.col("steps") > 0))
        first = (pl.col("steps") & -pl.col("steps")).alias("first step")
        events = events.with_columns(first)
        order = "user", "time", "kind", "first step", "steps"
        events = events.sort(order)
        return events.select(seen["user"][events["user"]], "time", "steps")

    def _happened(self, events: pl.DataFrame) -> tuple[pl.DataFrame, pl.DataFrame, int]:
        """Return events, each once, with when they happened and their users' numbers.

        Returns:
            The events; their users, by number; and how many events repeat another one.
        """
        seen = self._seen(events)
        events, n_again = self._once(events.sort(self._order(events)))
        return self._in_visits(events, seen), seen, n_again

    # Users

    def _seen(self, events: pl.DataFrame) -> pl.DataFrame:
        """Return the groups that each user was first seen in, and when it was.

        Of groups that were seen at the same time, it is the first by name. Users are in
        the order of their ids.
        """
        if "time" not in self.has:
            events = events.with_columns(pl.lit(0, pl.Int64).alias("time"))
        first = pl.col("time")
        if "exposes" in events.columns:
            first = first.filter(pl.col("exposes"))
        every = events.group_by("user").agg(pl.col("time").min().alias("start"))
        if "time" not in self.has:
            every = every.drop("start")
        for label in ("variant", "segment"):
            if label not in self.has:
                continue
            named = events.filter(pl.col(label) > 0)
            groups = named.group_by("user", label).agg(
                pl.col("time").min().alias("seen"), first.min().alias("first")
            )
            groups = (
                groups.sort("user", "seen", label)
                .group_by("user")
                .agg(
                    pl.col(label).first(),
                    pl.len().alias(f"n_{label}s"),
                    pl.col(label).alias(f"{label}s"),
                    pl.col("first").min(),
                )
            )
            if label == "segment" or not self.exposes:
                groups = groups.drop("first")
            every = every.join(groups, on="user", how="left")
            every = every.with_columns(pl.col(label, f"n_{label}s").fill_null(0))
        if self.exposes:
            every = every.with_columns(pl.col("first").alias("start"))
        return every.sort("user")

    # Events

    def _order(self, events: pl.DataFrame) -> list[str]:
        names = "user", "session", "time", "kind", "engages", "same"
        return [name for name in names if name in events.columns]

    def _once(self, events: pl.DataFrame) -> tuple[pl.DataFrame, int]:
        """Return sorted events without those that repeat another, and their number."""
        if "same" not in events.columns:
            return events, 0
        if self.by_id:
            again = events.select("user", "same").is_duplicated()
            again &= events["same"] != NO_ID
            if not again.any():
                return events, 0
            first = "user", "same", "time", "kind", "engages"
            order = *first, "steps", "value", "cost", "session"
            twice = events.filter(again)
            twice = twice.sort([name for name in order if name in events.columns])
            firsts = twice.unique(["user", "same"], keep="first")
            once = pl.concat([events.filter(~again), firsts])
            return once.sort(self._order(events)), twice.height - firsts.height
        new = events.select(
            pl.any_horizontal(_changes(name) for name in self._order(events))
        ).to_series()
        n_again = events.height - int(new.sum())
        return events.filter(new) if self.fine else events, n_again

    def _in_visits(self, events: pl.DataFrame, seen: pl.DataFrame) -> pl.DataFrame:
        """Number users and sessions of sorted events, and say when each event happened.

        Adds phase and period; what precedes the exposure is another session.
        """
        if "time" not in self.has:
            events = events.with_columns(pl.lit(0, pl.Int64).alias("time"))
        silence = pl.col("time").diff() > self.rules.gap
        new = _changes("user")
        if "session" in self.has:
            new |= _changes("session") | (silence & pl.col("session").is_null())
        else:
            new |= silence
        number = (_changes("user").cum_sum() - 1).cast(pl.UInt32)
        events = events.with_columns(new.alias("new"), number.alias("user"))
        phase = pl.lit(AFTER, pl.Int8)
        if "start" in seen.columns:
            events = events.with_columns(seen["start"][events["user"]])
        if self.exposes:
            since = pl.col("time") - pl.col("start")
            phase = (since >= 0).cast(pl.Int8)
            if self.rules.within is not None:
                phase += (since >= self.rules.within).cast(pl.Int8)
            phase = phase.fill_null(BEFORE)
        events = events.with_columns(phase.alias("phase"), self.period(events["time"]))
        begins = pl.col("new") | _changes("phase")
        return events.with_columns(begins.cum_sum().alias("visit"))

    def period(self, moments: pl.Series) -> pl.Series:
        """Return the day, week or hour that each time is in; null without any."""
        if self.every is None or "time" not in self.has:
            return pl.Series("period", [None], pl.Int32).new_from_index(0, len(moments))
        periods = period_of(moments, self.every, self.rules.timezone)
        return periods.alias("period")

    def _returns(self, events: pl.DataFrame) -> pl.DataFrame:
        """Count the events on some days after the start, in the row of the start."""
        if "start" not in events.columns:
            return events.select(ROW).clear()
        day = (pl.col("time") - pl.col("start")) // DAY
        events = events.filter((pl.col("phase") == AFTER) & day.is_in([*RETURNS]))
        return (
            events.with_columns(day.alias("since"), self.period(events["start"]))
            .group_by(ROW)
            .agg(
                (pl.col("since") == day).sum().alias(name)
                for day, name in RETURNS.items()
            )
        )

    def _counts(self, events: pl.DataFrame) -> pl.DataFrame:
        """Count events and sessions.

        An event counts in its period, a session in that in which it begins. A piece is
        what a session has in a period.
        """
        begins = _changes("visit") | _changes("period")
        kinds = {name: pl.col("kind") == CODES[kind] for name, kind in OF_KIND.items()}
        kinds["acts"] = pl.col("kind") >= len(PASSIVE)
        kinds["actions"] = pl.col("engages")
        if "value" in self.has:
            kinds["orders"] = kinds["conversions"] & (pl.col("value") != 0)
        piece = begins.cum_sum().alias("piece")
        pieces = events.group_by(piece, maintain_order=True).agg(
            pl.col(*ROW, "visit").first(),
            pl.len().alias("events"),
            *(is_so.sum().alias(name) for name, is_so in kinds.items()),
            pl.col("time").first().alias("begin"),
            pl.col("time").last().alias("end"),
        )
        visits = pieces
        if self.every is not None:
            visits = pieces.group_by("visit", maintain_order=True).agg(
                pl.col(ROW).first(),
                pl.col("page_views", "acts", "actions", "conversions").sum(),
                pl.col("begin").first(),
                pl.col("end").last(),
            )
        engaged = pl.col("actions") > 0
        if self.rules.engaged_after is not None:
            lasts = pl.col("end") - pl.col("begin")
            engaged = (lasts >= self.rules.engaged_after) & ("time" in self.has)
        has_page = pl.col("page_views") > 0
        of_visits = visits.group_by(ROW).agg(
            pl.len().alias("sessions"),
            (pl.col("conversions") > 0).sum().alias("converting_sessions"),
            (~has_page).sum().alias("pageless_sessions"),
            ((pl.col("page_views") == 1) & (pl.col("acts") == 0))
            .sum()
            .alias("bounces"),
            engaged.sum().alias("engaged_sessions"),
        )
        counted = {"events", *kinds} - {"acts"}
        of_pieces = pieces.group_by(ROW).agg(pl.col(*sorted(counted)).sum())
        return of_pieces.join(of_visits, on=ROW, how="left", nulls_equal=True)

    def _dwells(self, events: pl.DataFrame) -> pl.DataFrame:
        """Return page views with the time to the next in the session, if it is known.

        Of heartbeats, only the last event of a session closes a page.
        """
        page, beat = CODES["pageview"], CODES["heartbeat"]
        beats = self.rules.last_page == "heartbeat"
        wanted = pl.col("kind").is_in([page, beat]) if beats else pl.col("kind") == page
        views = events.filter(wanted).select("visit", "kind", "time", *ROW)
        last = pl.col("visit").ne_missing(pl.col("visit").shift(-1))
        if beats:
            views = views.filter((pl.col("kind") == page) | last)
        dwell = pl.col("time").shift(-1) - pl.col("time")
        if self.rules.longest is not None:
            dwell = dwell.clip(upper_bound=self.rules.longest)
        known = ~last & ("time" in self.has and self.fine)
        dwell = pl.when(known).then(dwell).otherwise(None)
        return views.with_columns(dwell.alias("dwell")).filter(pl.col("kind") == page)

    def _pages(self, events: pl.DataFrame) -> pl.DataFrame:
        return (
            self._dwells(events)
            .group_by(ROW)
            .agg(
                pl.col("dwell").sum(),
                pl.col("dwell").count().alias("timed_page_views"),
                pl.col("dwell").null_count().alias("untimed_page_views"),
            )
        )


def _changes(name: str) -> pl.Expr:
    """Say whether a column differs from the row before."""
    return pl.col(name).ne_missing(pl.col(name).shift()) | (pl.int_range(pl.len()) == 0)


def _converting_clicks(events: pl.DataFrame) -> pl.DataFrame:
    """Count the clicks after which something is bought before the next click."""
    click, buys = CODES["click"], CODES["conversion"]
    acts = events.filter(pl.col("kind").is_in([click, buys])).select(
        "kind", "visit", *ROW
    )
    bought = (pl.col("kind").shift(-1) == buys) & (
        pl.col("visit").shift(-1) == pl.col("visit")
    )
    clicks = acts.filter((pl.col("kind") == click) & bought)
    return clicks.group_by(ROW).agg(pl.len().alias("converting_clicks"))


def _money(events: pl.DataFrame) -> Iterator[pl.DataFrame]:
    """Add up what was earned and what was paid, exactly in any order."""
    paid = [CODES["conversion"], CODES["refund"]]
    for part, name in zip(("value", "cost"), AMOUNTS, strict=True):
        if part not in events.columns:
            continue
        some = events.filter(pl.col(part) != 0)
        if part == "value":
            some = some.filter(pl.col("kind").is_in(paid))
        amounts = exact(some[part].to_numpy())
        sums = some.select(ROW).with_columns(amounts.alias(name))
        yield sums.group_by(ROW).agg(pl.col(name).sum())


def exact(amounts: Floats) -> pl.Series:
    """Return amounts as whole numbers of parts of `MONEY`, whose sums are exact.

    Amounts with up to six decimals are exact; beyond that, what is below a millionth is
    rounded to a part.
    """
    millionths = np.rint(amounts * _EXACT)
    rest = np.rint((amounts - millionths / _EXACT) * float(MONEY))
    whole = pl.Series(millionths.astype(np.int64)).cast(pl.Int128)
    scale = pl.Series([MONEY // int(_EXACT)], dtype=pl.Int128)
    return whole * scale + pl.Series(rest.astype(np.int64)).cast(pl.Int128)


def in_money(amounts: pl.Series) -> pl.Series:
    """Return amounts as they were written.

    Not by polars, which multiplies by the inverse instead of dividing by a number.
    """
    return pl.Series(amounts.cast(pl.Float64).to_numpy() / float(MONEY))


def added(rows: pl.DataFrame, *keys: str) -> pl.DataFrame:
    """Add up counts by some columns."""
    return narrow(rows.group_by(keys).agg(pl.col(*COUNTS, *AMOUNTS).sum()))


def narrow(rows: pl.DataFrame) -> pl.DataFrame:
    """Hold each count in as few bits as all of its column need.

    A row of counts takes a third of the memory so. There are no 32 bits: polars adds up
    8 and 16 bits in 64, but 32 in 32, where the sum may not fit.
    """
    return rows.with_columns(_narrow(rows[name]) for name in (*COUNTS, *AMOUNTS))


def _narrow(numbers: pl.Series) -> pl.Series:
    ends: Any = numbers.min() or 0, numbers.max() or 0
    for bits, dtype in ((8, pl.Int8), (16, pl.Int16), (64, pl.Int64)):
        if -(1 << bits - 1) <= ends[0] and ends[1] < 1 << bits - 1:
            return numbers.cast(dtype)
    return numbers


def numbered(
    parts: Sequence[tuple[pl.DataFrame, pl.DataFrame]],
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Put together what different users did, numbered in the order of their ids.

    Args:
        parts: rows of counts by the numbers of users; and these users, by number.

    Returns:
        The rows, in no order, and the users, in the order of their ids.
    """
    users = pl.concat([own for _, own in parts])
    order = users["user"].arg_sort()
    number = np.empty(users.height, np.uint32)
    number[order.to_numpy()] = np.arange(users.height, dtype=np.uint32)
    rows, begin = [], 0
    for counts, own in parts:
        of_part = number[begin : begin + own.height][counts["user"].to_numpy()]
        rows.append(counts.with_columns(pl.Series("user", of_part)))
        begin += own.height
    return pl.concat(rows, how="vertical_relaxed"), users[order]


def is_arm(by: str | None, rules: Rules) -> bool:
    """Say whether the column that divides users names the arms of a test."""
    return by is not None and by in {"variant", rules.columns.get("variant")}
