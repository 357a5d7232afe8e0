"""What is odd in what users did, and counts of what is left out in words."""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from rankine._base.text import count, percent
from rankine._online.spreads import influences
from rankine._online.users import AMOUNTS, COUNTS

if TYPE_CHECKING:
    from rankine._base.arrays import Floats, Ints

CARRIES = 0.1
"""The share of a metric's variance, or of all events, above which a user is named."""
_FEW_USERS = 20
"""With fewer users than this, one may well have a tenth of the events."""
_USUAL, _TIMES = 0.99, 20
"""A user with more events than so many times this quantile may be a bot."""


def counted(n: int, reason: str) -> str:
    """Return how many were left out, and why; `reason` begins with a plural.

    >>> counted(2, "duplicate events"), counted(1, "users without a variant")
    ('2 duplicate events', '1 user without a variant')
    """
    if n != 1:
        return f"{n:,} {reason}"
    singular = re.sub("(event|user)s", r"\1", reason, count=1)
    return f"1 {singular}"


def oddities(each: pl.DataFrame, ids: pl.Series, has: frozenset[str]) -> list[str]:
    """Say what is odd in what users did.

    Args:
        each: their counts, a row per user.
        ids: the ids of all users, by their numbers.
        has: the parts that the log has.
    """
    total = {name: int(each[name].sum()) for name in (*COUNTS, *AMOUNTS)}
    notes = _busiest(each, ids) if each.height >= _FEW_USERS else []
    more = int((each["clicks"] > each["impressions"]).sum())
    if more and total["impressions"]:
        notes.append(f"{count(more, 'user')} with more clicks than impressions")
    pageless = total["pageless_sessions"]
    if pageless and pageless < total["sessions"]:
        n = count(pageless, "session")
        notes.append(f"{n} without a page view: counted, but none as a bounce")
    if untimed := total["untimed_page_views"]:
        n, why = count(untimed, "page view"), ""
        where = " at the end of a session"
        if untimed > total["sessions"] - pageless:  # only one of each is at its end
            lacks = "times are dates" if "time" in has else "the log has no times"
            where, why = "", f", as {lacks}"
        notes.append(f"{n}{where}: time on page unknown{why}")
    if "value" in has and total["revenue"] < 0:
        notes.append("revenue is negative: refunds exceed sales")
    return notes


def _busiest(each: pl.DataFrame, ids: pl.Series) -> list[str]:
    """Say who has far more events than others, or else a tenth of all."""
    events = each["events"].cast(pl.Int64)
    most, total = int(events.max() or 0), int(events.sum())  # type: ignore[arg-type]
    heaviest = ids[each["user"].filter(events == most)].min()
    usual = np.quantile(events.to_numpy(), _USUAL, method="inverted_cdf")
    limit = _TIMES * int(usual)
    if n := int((events > limit).sum()):
        said = (
            f"{count(n, 'user')} with more than {limit:,} events, {_TIMES} times the "
            f"99th percentile of users (most: user {str(heaviest)!r}, {most:,}): "
            "possibly a bot; max_events= or --max-events leaves such users out, and "
            "winsorize= or --winsorize caps what each counts in a test"
        )
        return [said]
    share = most / max(total, 1)
    return [f"user {str(heaviest)!r} has {percent(share)} of the events"] * (
        share >= CARRIES
    )


def carriers(
    metric: str,
    y: Floats,
    x: Floats,
    ids: pl.Series,
    rows: Ints,
    where: str | None,
) -> list[str]:
    """Name the users who carry more than a tenth of the variance of a metric.

    Args:
        metric: its name.
        y: its numerators, a user each.
        x: its denominators.
        ids: the ids of the users.
        rows: the places of the users of one variant.
        where: that variant; None if there are none.

    Returns:
        A note with their shares of the sum of (y - R x)^2 over users, the largest
        first; none if nobody carries so much, or fewer than 20 users have a value.

    >>> import polars as pl
    >>> ids = pl.Series([*"abcdefghijklmnopqrst"])
    >>> y, x = np.array([20.0] + 19 * [0.0]), np.ones(20)
    >>> carriers("spent", y, x, ids, np.arange(20), "B")
    ["spent: of the variance in B, user 'a' makes up 95 %"]
    """
    y, x = y[rows], x[rows]
    if math.isnan(y.sum() + x.sum()):
        known = ~np.isnan(y + x)
        y, x, rows = y[known], x[known], rows[known]
    if len(y) < _FEW_USERS or not x.sum() > 0:
        return []
    ratio = y.sum() / x.sum()
    squares = y - ratio * x
    squares *= squares
    least = CARRIES * squares.sum()
    if squares.max() <= least or not influences(y, x, ratio).any():
        return []
    heavy = np.flatnonzero(squares > least)
    shares = squares[heavy] / squares.sum()
    whose = map(str, ids[rows[heavy]])
    named = [
        f"user {user!r} makes up {percent(-share)}"
        for share, user in sorted(zip(-shares, whose, strict=True))
    ]
    place = "" if where is None else f" in {where}"
    return [f"{metric}: of the variance{place}, {', '.join(named)}"] if named else []
