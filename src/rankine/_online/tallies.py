"""Counts of what users did: whole numbers, which add up in any order.

Events are sorted once, by user, session and time; everything else is a pass over sorted
columns, split where a user, a session, a phase or a day begins.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from rankine._base.blocks import by_halves
from rankine._online.order import changes
from rankine._online.rules import CODES, KINDS, MONEY, PASSIVE
from rankine._online.times import SECOND

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rankine._base.arrays import AnyArray, Bools, Ints
    from rankine._online.rows import Rows
    from rankine._online.rules import Rules

BEFORE, AFTER, BEYOND = 0, 1, 2
"""Before the first exposure, after it, and after the window that counts."""
KEYS = ("user", "phase", "day")
COUNTS = (
    "events", "impressions", "clicks", "conversions", "actions", "sessions", "bounces",
    "engaged", "converting", "pageless", "timed", "untimed", "converted", "dwell",
    "revenue", "cost",
)  # fmt: skip
_MONEY = ("revenue", "cost")
DAY = 24 * 60 * 60 * SECOND
NEVER = np.iinfo(np.int64).max
NO_DAY = np.iinfo(np.int32).min
_FIELD = 10
"""Bits of a count, of which six are added up in one number."""
_FIELDS = ("impression", "click", "pageview", "conversion")
_BYTE = 255
_SPLIT = 1 << 24
_HALF = 1 << 62


@dataclass(frozen=True, eq=False)
class Sorted:
    """Events sorted by user, session and time, and those at the same time by kind.

    Attributes:
        rows: user, session, time, fact, value, cost, same, as far as they are needed;
            users and sessions are numbers, and a fact is twice the code of the kind,
            plus one if the event engages.
        visits: where sessions begin, by their ids or by silence.
        phases: BEFORE, AFTER or BEYOND for each event; None if all are AFTER.
    """

    rows: Rows
    visits: Ints
    phases: AnyArray | None = None

    def column(self, name: str) -> AnyArray:
        """Return a column."""
        return self.rows[name]

    def between(self, begin: int, end: int) -> Sorted:
        """Return the events from one session to before another."""
        first, last = np.searchsorted(self.visits, [begin, end])
        phases = None if self.phases is None else self.phases[begin:end]
        visits = self.visits[first:last] - begin
        return Sorted(self.rows.between(begin, end), visits, phases)


def cut(rows: Rows, rules: Rules, *, ends: bool = False) -> Sorted:
    """Find the sessions of sorted events.

    A session has an id, or ends with silence. With `ends`, a long silence ends even a
    session with an id, since nobody can wait forever.
    """
    session = rows.get("session")
    new = changes(rows["user"], session)
    if "time" in rows:
        silence = np.diff(rows["time"])
        if session is None:
            new[1:] |= silence > rules.gap
        else:
            new[1:] |= (silence > rules.gap) & (session[1:] == 0)
            if ends:
                new[1:] |= silence > rules.gap_of_ids
    return Sorted(rows, np.flatnonzero(new))


def phased(events: Sorted, exposed: Ints, within: int | None) -> Sorted:
    """Say for each event whether it is before or after the first exposure.

    Args:
        events: sorted events.
        exposed: the time of the first exposure, by the number of the user.
        within: microseconds after it that count.
    """
    user, time = events.column("user"), events.column("time")
    # Only the events of a session are certain to be in order of time.
    starts = np.flatnonzero(changes(user, events.rows.get("session")))
    first = exposed[user[starts]]
    if within is None and bool((time[starts] >= first).all()):
        return events
    first = np.repeat(first, np.diff(np.append(starts, len(user))))
    phases = (time >= first).astype(np.int8)
    if within is not None:
        phases[(phases == AFTER) & (time - first >= within)] = BEYOND
    return Sorted(events.rows, events.visits, phases)


@dataclass(frozen=True, eq=False)
class _Cuts:
    """Where sessions and rows of counts begin.

    A piece belongs to one session and to one row of counts: a session may last past
    midnight, and a day may have several.

    Attributes:
        pieces: the first event of each piece.
        session: the number of the session of each piece.
        row: the number of the row of each piece.
        firsts: the first piece of each session.
        rows: the first event of each row.
    """

    pieces: Ints
    session: Ints
    row: Ints
    firsts: Ints
    rows: Ints


def _cuts(events: Sorted, days: AnyArray | None) -> _Cuts:
    """Split also at the first exposure: only what comes after it counts."""
    user = events.column("user")
    new_session = np.zeros(len(user), dtype=bool)
    new_session[events.visits] = True
    new_row = changes(user, events.phases, days)
    if events.phases is not None:
        new_session |= changes(events.phases)
    pieces = np.flatnonzero(new_session | new_row)
    of_session, of_row = new_session[pieces], new_row[pieces]
    return _Cuts(
        pieces,
        np.cumsum(of_session) - 1,
        np.cumsum(of_row) - 1,
        np.flatnonzero(of_session),
        pieces[of_row],
    )


def tallied(events: Sorted, rules: Rules, *, daily: bool) -> pl.DataFrame:
    """Count what every user did before and after the first exposure, by day if asked.

    An event counts on its day, a session on the day it begins, a page view on its own.

    Args:
        events: sorted events.
        rules: what bounces, what is engaged, how long a page view may last.
        daily: whether days are kept separate.

    Returns:
        One row for each user, phase and day, or several that are to be added up.
    """
    n = events.rows.height
    starts = np.flatnonzero(changes(events.column("user")))
    middle = starts[np.searchsorted(starts, n // 2) :][:1]

    bounds = [0, *middle.tolist(), n]

    def some(halves: slice) -> pl.DataFrame:
        part = events.between(bounds[halves.start], bounds[halves.stop])
        return _tallied(part, rules, daily=daily)

    n_values = n * len(events.rows.arrays)
    return together(by_halves(some, 1 + len(middle), n_values))


def _tallied(events: Sorted, rules: Rules, *, daily: bool) -> pl.DataFrame:
    timed = "time" in events.rows
    days = events.column("time") // DAY if daily and timed else None
    cuts = _cuts(events, days)
    n, n_rows = events.rows.height, len(cuts.rows)
    counts = _kinds(events.column("fact"), cuts.pieces, n)
    row_of = numbered(cuts.rows, n)
    session_of = row_of
    if len(cuts.pieces) > n_rows or len(cuts.firsts) < n_rows:
        session_of = numbered(cuts.pieces[cuts.firsts], n)
    totals = {
        "events": np.diff(np.append(cuts.rows, n)),
        **{
            f"{kind}s": _added(counts[kind], cuts.row)
            for kind in ("impression", "click", "conversion")
        },
        "actions": _added(counts["engages"], cuts.row),
        **_sessions(events, rules, cuts, counts),
        **_pages(events, rules, session_of, row_of, n_rows),
        "converted": _converted(events, session_of, row_of, n_rows),
    }
    money = dict.fromkeys(_MONEY, pl.zeros(n_rows, pl.Int128, eager=True))
    if "value" in events.rows:
        worth = np.flatnonzero(events.column("value") != 0)
        kind = events.column("fact")[worth] >> 1
        worth = worth[(kind == CODES["conversion"]) | (kind == CODES["refund"])]
        money["revenue"] = _money(events.column("value")[worth], row_of[worth], n_rows)
    if "cost" in events.rows:
        worth = np.flatnonzero(events.column("cost") != 0)
        money["cost"] = _money(events.column("cost")[worth], row_of[worth], n_rows)
    phase: AnyArray = np.full(n_rows, AFTER, np.int8)
    if events.phases is not None:
        phase = events.phases[cuts.rows]
    day = np.full(n_rows, NO_DAY) if days is None else days[cuts.rows]
    return pl.DataFrame(
        {
            "user": events.column("user")[cuts.rows],
            "phase": phase,
            "day": day.astype(np.int32),
            **{name: _narrow(totals[name]) for name in COUNTS[:-3]},
            "dwell": totals["dwell"],
            **money,
        }
    )


def _kinds(fact: AnyArray, starts: Ints, n: int) -> dict[str, Ints]:
    """Count the kinds of events in each piece: six at once, in one number."""
    code = np.arange(2 * len(KINDS)) >> 1
    tables = {kind: code == CODES[kind] for kind in _FIELDS}
    tables["acts"] = code >= len(PASSIVE)
    tables["engages"] = np.arange(2 * len(KINDS)) % 2 == 1
    longest = int(np.diff(np.append(starts, n)).max(initial=0))
    at_once = len(tables) if longest < 1 << _FIELD else 1
    names, counts = list(tables), {}
    for begin in range(0, len(names), at_once):
        group = names[begin : begin + at_once]
        packed = np.zeros(len(code), np.int64)
        for place, name in enumerate(group):
            packed |= tables[name].astype(np.int64) << (_FIELD * place)
        sums = np.add.reduceat(packed[fact], starts)
        for place, name in enumerate(group):
            counts[name] = sums
            if at_once > 1:
                counts[name] = (sums >> (_FIELD * place)) & ((1 << _FIELD) - 1)
    return counts


def _added(counts: AnyArray, numbers: Ints) -> Ints:
    """Add up by numbers that never fall, none of which is missing."""
    starts = np.flatnonzero(changes(numbers))
    sums: Ints = np.add.reduceat(counts, starts, dtype=np.int64)
    return sums


def _sums(values: AnyArray, rows: AnyArray, n_rows: int) -> Ints:
    """Add up by rows, which never fall; some may be missing."""
    sums = np.zeros(n_rows, np.int64)
    if len(rows):
        starts = np.flatnonzero(changes(rows))
        sums[rows[starts]] = np.add.reduceat(values, starts, dtype=np.int64)
    return sums


def _sessions(
    events: Sorted, rules: Rules, cuts: _Cuts, counts: dict[str, Ints]
) -> dict[str, Ints]:
    each = {
        name: _added(counts[name], cuts.session)
        for name in ("pageview", "acts", "engages", "conversion")
    }
    engaged = each["engages"] > 0
    if rules.engaged_after is not None:
        engaged = np.zeros(len(engaged), dtype=bool)
        if "time" in events.rows:
            time = events.column("time")
            begins = cuts.pieces[cuts.firsts]
            lasts = np.append(begins[1:], len(time)) - 1
            engaged = time[lasts] - time[begins] >= rules.engaged_after
    flags = {
        "sessions": np.ones(len(engaged), dtype=bool),
        "bounces": (each["pageview"] == 1) & (each["acts"] == 0),
        "engaged": engaged,
        "converting": each["conversion"] > 0,
        "pageless": each["pageview"] == 0,
    }
    row = cuts.row[cuts.firsts]
    return {name: _sums(flag, row, len(cuts.rows)) for name, flag in flags.items()}


def dwells(
    events: Sorted, rules: Rules, session_of: AnyArray
) -> tuple[Ints, AnyArray, Bools]:
    """Return page views, the time to the next in the session, and whether it is known.

    Args:
        events: sorted events.
        rules: how the last page of a session is closed, and the most that counts.
        session_of: the number of the session of each event.
    """
    kind = events.column("fact") >> 1
    beats = rules.last_page == "heartbeat"
    wanted = kind == CODES["pageview"]
    if beats:
        wanted |= kind == CODES["heartbeat"]
    views = np.flatnonzero(wanted)
    goes_on = _goes_on(session_of[views])
    if beats:  # only the last heartbeat of a session closes a page
        views = views[(kind[views] == CODES["pageview"]) | ~goes_on]
        goes_on = _goes_on(session_of[views])
    if "time" not in events.rows:
        return views, np.zeros(len(views), np.int64), np.zeros(len(views), dtype=bool)
    time = events.column("time")[views]
    dwell = np.zeros(len(views), np.int64)
    np.subtract(time[1:], time[:-1], out=dwell[:-1])
    if rules.longest is not None:
        dwell = np.minimum(dwell, rules.longest)
    if not beats:
        return views, dwell, goes_on
    pages = kind[views] == CODES["pageview"]
    return views[pages], dwell[pages], goes_on[pages]


def _goes_on(session: AnyArray) -> Bools:
    """Say for each page view whether the next is in the same session."""
    goes_on = np.zeros(len(session), dtype=bool)
    np.equal(session[1:], session[:-1], out=goes_on[:-1])
    return goes_on


def numbered(starts: Ints, n: int) -> AnyArray:
    """Return the number of the part that each row is in."""
    new = np.zeros(n, bool)
    new[starts] = True
    number = np.cumsum(new, dtype=np.int32)
    number -= 1
    return number


def _pages(
    events: Sorted, rules: Rules, session_of: AnyArray, row_of: AnyArray, n_rows: int
) -> dict[str, Ints]:
    views, dwell, is_known = dwells(events, rules, session_of)
    row = row_of[views]
    timed = _sums(is_known, row, n_rows)
    return {
        "dwell": _sums(np.where(is_known, dwell, 0), row, n_rows),
        "timed": timed,
        "untimed": _sums(np.ones(len(row), np.int64), row, n_rows) - timed,
    }


def _converted(
    events: Sorted, session_of: AnyArray, row_of: AnyArray, n_rows: int
) -> Ints:
    """Count the clicks after which something is bought before the next click."""
    kind = events.column("fact") >> 1
    acts = np.flatnonzero((kind == CODES["click"]) | (kind == CODES["conversion"]))
    buys = kind[acts] == CODES["conversion"]
    bought = np.flatnonzero(buys[1:] & ~buys[:-1])
    first, second = acts[bought], acts[bought + 1]
    first = first[session_of[first] == session_of[second]]
    return _sums(np.ones(len(first), np.int64), row_of[first], n_rows)


def _money(amounts: AnyArray, rows: AnyArray, n_rows: int) -> pl.Series:
    """Add up amounts by rows, as whole numbers, which is exact in any order.

    Amounts with up to six decimals are exact; beyond that, what is below a millionth is
    rounded to a part of `MONEY`.
    """
    millionths = np.rint(amounts * 1e6)
    near = millionths / 1e6
    parts = pl.Series([MONEY // 10**6], dtype=pl.Int128)
    sums = _exact(millionths.astype(np.int64), rows, n_rows) * parts
    if (near == amounts).all():
        return sums
    rest = np.rint((amounts - near) * float(MONEY)).astype(np.int64)
    return sums + _exact(rest, rows, n_rows)


def _exact(numbers: AnyArray, rows: AnyArray, n_rows: int) -> pl.Series:
    """Add up numbers whose sum may exceed 64 bits."""
    most = max(int(numbers.max(initial=0)), -int(numbers.min(initial=0)))
    if most * len(numbers) < _HALF:
        return pl.Series(_sums(numbers, rows, n_rows)).cast(pl.Int128)
    high, low = (_sums(part, rows, n_rows) for part in divmod(numbers, _SPLIT))
    scale = pl.Series([_SPLIT], dtype=pl.Int128)
    return pl.Series(high).cast(pl.Int128) * scale + pl.Series(low).cast(pl.Int128)


def _narrow(counts: Ints) -> AnyArray:
    """Return counts in a byte each, if they fit: there is a row for each user."""
    return counts.astype(np.uint8 if counts.max(initial=0) <= _BYTE else np.int32)


def together(parts: Sequence[pl.DataFrame]) -> pl.DataFrame:
    """Put rows of counts together; some may have columns of more bytes."""
    return pl.concat(parts, how="vertical_relaxed") if len(parts) > 1 else parts[0]


def added(rows: pl.DataFrame) -> pl.DataFrame:
    """Add up counts by user, phase and day."""
    types = {"dwell": pl.Int64, **dict.fromkeys(_MONEY, pl.Int128)}
    sums = [pl.col(name).sum().cast(types.get(name, pl.Int32)) for name in COUNTS]
    return rows.group_by(KEYS).agg(sums)


def once(rows: pl.DataFrame) -> pl.DataFrame:
    """Add up counts of one phase and one day by user; few users have several rows."""
    user, row = rows["user"].to_numpy(), np.arange(rows.height, dtype=np.int32)
    n = int(user.max(initial=-1)) + 1
    last = np.zeros(n, np.int32)
    last[user] = row
    again = user[last[user] != row]
    if not len(again):
        return rows
    several = np.zeros(n, bool)
    several[again] = True
    mine = several[user]
    return together([rows.filter(~mine), added(rows.filter(mine))])
