"""What a user did, counted: whole numbers, which add up whatever the order."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from rankine._online.rules import CODES, PASSIVE
from rankine._online.times import SECOND

if TYPE_CHECKING:
    from rankine._online.rules import Rules

BEFORE, AFTER, BEYOND = 0, 1, 2
"""Before the first exposure, after it, and after the window that counts."""
KEYS = ("user", "phase", "day")
COUNTS = (
    "events", "impressions", "clicks", "conversions", "actions", "revenue", "cost",
    "sessions", "bounces", "engaged", "converting", "pageless", "dwell", "timed",
    "untimed", "converted",
)  # fmt: skip
_MONEY = ("revenue", "cost")
DAY = 24 * 60 * 60 * SECOND


def _is(kind: str) -> pl.Expr:
    return pl.col("kind") == CODES[kind]


_ACTION = pl.col("kind") >= len(PASSIVE)
_SAME_NEXT = pl.col("number") == pl.col("number").shift(-1)


def with_sessions(
    frame: pl.DataFrame, rules: Rules, *, in_order: bool = False
) -> pl.DataFrame:
    """Sort events by user, session and time, and number the sessions.

    A session has an id, or ends with silence; a first exposure cuts it in two, since
    only what comes after that counts. With `in_order`, a long silence ends even a
    session with an id, since nobody can wait for ever.
    """
    ordered = _ordered(frame)
    gap = pl.when(pl.col("session").is_null()).then(rules.gap)
    longest = pl.lit(rules.gap_of_ids if in_order else None, pl.Int64)
    new = (
        (pl.col("user") != pl.col("user").shift())
        | pl.col("session").ne_missing(pl.col("session").shift())
        | (pl.col("phase") != pl.col("phase").shift())
        | (pl.col("time").diff() > gap.otherwise(longest)).fill_null(value=False)
    )
    day = (pl.col("time") // DAY).cast(pl.Int32)
    number = new.fill_null(value=True).cum_sum().set_sorted()
    return ordered.with_columns(number.alias("number"), day.alias("day"))


def _ordered(frame: pl.DataFrame) -> pl.DataFrame:
    """Sort by user, session, time and kind: one key at a time, which is faster."""
    moment = (pl.col("time") * len(CODES) + pl.col("kind")).alias("moment")
    frame = frame.with_columns(moment)
    for key in ("moment", "session", "user"):
        if frame[key].null_count() < frame.height and not frame[key].is_sorted():
            frame = frame.sort(key, nulls_last=True, maintain_order=True)
    return frame.drop("moment")


def tallied(frame: pl.DataFrame, rules: Rules, *, daily: bool) -> pl.DataFrame:
    """Count what every user did before and after the first exposure, by day if asked.

    An event counts on its day, a session on the day it begins, a page view on its own.

    Args:
        frame: events with their sessions.
        rules: what bounces, what is engaged, how long a page view may last.
        daily: whether days are told apart.
    """
    if not daily:
        frame = frame.with_columns(pl.lit(None, pl.Int32).alias("day"))
    money = _is("conversion") | _is("refund")
    # A session has one user and one phase, and the days that it lasts.
    grain = ["number", "day"] if daily else ["number"]
    counts = frame.group_by(grain).agg(
        pl.col([key for key in KEYS if key not in grain]).first(),
        pl.len().alias("events"),
        _is("impression").sum().alias("impressions"),
        _is("click").sum().alias("clicks"),
        _is("conversion").sum().alias("conversions"),
        pl.col("engages").sum().alias("actions"),
        pl.col("value").filter(money).sum().alias("revenue"),
        pl.col("cost").sum(),
    )
    parts = (counts, _sessions(frame, rules), _pages(frame, rules), _converted(frame))
    return added(*parts)


def added(*parts: pl.DataFrame) -> pl.DataFrame:
    """Add up counts by user, phase and day; what is not counted is 0."""
    full = [
        part.select(
            *KEYS,
            *(
                (pl.col(name) if name in part.columns else pl.lit(0))
                .cast(pl.Int128 if name in _MONEY else pl.Int64)
                .alias(name)
                for name in COUNTS
            ),
        )
        for part in parts
    ]
    return pl.concat(full).group_by(KEYS).agg(pl.col(COUNTS).sum())


def _sessions(frame: pl.DataFrame, rules: Rules) -> pl.DataFrame:
    pages, lasted = _is("pageview").sum(), pl.col("time").max() - pl.col("time").min()
    engaged = pl.col("engages").any()
    if rules.engaged_after is not None:
        engaged = (lasted >= rules.engaged_after).fill_null(value=False)
    each = frame.group_by("number", maintain_order=False).agg(
        pl.col(KEYS).first(),
        pages.alias("pages"),
        _ACTION.any().alias("acted"),
        engaged.alias("engaged"),
        _is("conversion").any().alias("converting"),
    )
    return each.group_by(KEYS).agg(
        pl.len().alias("sessions"),
        ((pl.col("pages") == 1) & ~pl.col("acted")).sum().alias("bounces"),
        pl.col("engaged", "converting").sum(),
        (pl.col("pages") == 0).sum().alias("pageless"),
    )


def page_views(frame: pl.DataFrame, rules: Rules) -> pl.DataFrame:
    """Return page views with the time to the next one, null for the last of each."""
    kept = _is("pageview")
    if rules.last_page == "heartbeat":
        kept = kept | _is("heartbeat")
    views = frame.filter(kept).select(*KEYS, "number", "time", "kind")
    if rules.last_page == "heartbeat":
        views = _last_heartbeats(views)
    until = pl.when(_SAME_NEXT).then(pl.col("time").shift(-1) - pl.col("time"))
    views = views.with_columns(until.alias("dwell")).filter(_is("pageview"))
    return views.with_columns(pl.col("dwell").clip(upper_bound=rules.longest))


def _pages(frame: pl.DataFrame, rules: Rules) -> pl.DataFrame:
    return (
        page_views(frame, rules)
        .group_by(KEYS)
        .agg(
            pl.col("dwell").sum(),
            pl.col("dwell").count().alias("timed"),
            pl.col("dwell").null_count().alias("untimed"),
        )
    )


def _last_heartbeats(views: pl.DataFrame) -> pl.DataFrame:
    """Keep page views, and the last heartbeat after the last of each session."""
    ends = ~_SAME_NEXT.fill_null(value=False)
    return views.filter(_is("pageview") | ends)


def _converted(frame: pl.DataFrame) -> pl.DataFrame:
    """Count the clicks after which something is bought before the next click."""
    acts = frame.filter(_is("click") | _is("conversion"))
    bought = (
        _is("click") & _SAME_NEXT & (pl.col("kind").shift(-1) == CODES["conversion"])
    )
    return (
        acts.filter(bought.fill_null(value=False))
        .group_by(KEYS)
        .agg(pl.len().alias("converted"))
    )
