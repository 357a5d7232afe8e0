"""Users of a log: when they were first seen where, and what is odd about them."""

from __future__ import annotations

import re

import polars as pl

from rankine._base.text import count

_HEAVY = 0.1
_FEW_USERS = 20
"""Users below which one of them may well have a tenth of the events."""


def counted(n: int, reason: str) -> str:
    """Return how many were left out, and why; `reason` begins with a plural.

    >>> counted(2, "duplicate events"), counted(1, "users without a variant")
    ('2 duplicate events', '1 user without a variant')
    """
    if n != 1:
        return f"{n:,} {reason}"
    singular = re.sub("(event|user)s", r"\1", reason, count=1)
    return f"1 {singular}"


def oddities(counts: pl.DataFrame, has: frozenset[str]) -> list[str]:
    """Say what is odd in what users did."""
    each = counts.group_by("user").agg(pl.exclude("day").sum())
    total = each.select(pl.exclude("user").sum()).row(0, named=True)
    notes = []
    most = each.sort("events", "user", descending=[True, False]).row(0, named=True)
    share = most["events"] / total["events"] if total["events"] else 0
    if each.height >= _FEW_USERS and share >= _HEAVY:
        notes.append(
            f"user {most['user']!r} has {share:.0%} of the events: a robot, perhaps"
        )
    more = each.filter(pl.col("clicks") > pl.col("impressions")).height
    if more and total["impressions"]:
        notes.append(f"{count(more, 'user')} with more clicks than impressions")
    if total["pageless"] and total["pageless"] < total["sessions"]:
        n = count(total["pageless"], "session")
        notes.append(f"{n} without a page view: counted, and none of them bounces")
    if total["untimed"]:
        n = count(total["untimed"], "page view")
        notes.append(f"{n} at the end of a session: no time on page")
    if "value" in has and total["revenue"] < 0:
        notes.append("revenue is negative: refunds are more than what was sold")
    return notes


def firsts(frame: pl.DataFrame, label: str) -> pl.DataFrame:
    """Return when each user was first seen, and first exposed, with each label."""
    known = frame.filter(pl.col(label).is_not_null())
    return known.group_by("user", label).agg(
        pl.col("time").min().alias("seen"),
        pl.col("time").filter("exposes").min().alias("exposed"),
    )


def earliest(parts: list[pl.DataFrame], label: str) -> pl.DataFrame:
    if len(parts) == 1:
        return parts[0]
    return (
        pl.concat(alike(parts))
        .group_by("user", label)
        .agg(pl.col("seen", "exposed").min())
    )


def alike(frames: list[pl.DataFrame]) -> list[pl.DataFrame]:
    """Give ids one type: text, where some parts have text and some have ints."""
    odd = [
        name
        for name in ("user", "session")
        if len({frame.schema.get(name) for frame in frames}) > 1
    ]
    return [frame.with_columns(pl.col(odd).cast(pl.String)) for frame in frames]
