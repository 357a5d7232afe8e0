"""Small logs, written as lines of text."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import polars as pl

from rankine._online.rules import Rules
from rankine._online.summary import Accumulator
from rankine._online.table import counts_of

if TYPE_CHECKING:
    from rankine._online.sums import UserSums


def log(text: str) -> pl.DataFrame:
    """Read `user variant minute event [page]` lines; - is nothing."""
    rows = [line.split() for line in text.strip().splitlines()]
    return pl.DataFrame(
        {
            "user_id": [row[0] for row in rows],
            "variant": [None if row[1] == "-" else row[1] for row in rows],
            "timestamp": [1_700_000_000 + round(60 * float(row[2])) for row in rows],
            "event": [row[3] for row in rows],
            "page": [row[4] if len(row) > 4 else None for row in rows],
        },
        schema_overrides={"variant": pl.String, "page": pl.String},
    )


def user_sums(
    events: Any,
    metrics: Any = None,
    *,
    by: str | None = "variant",
    segment: str | None = None,
    **rules: Any,
) -> UserSums:
    """Return the sums of every user of a log, or of what an accumulator has read."""
    if isinstance(events, Accumulator):
        counts, metrics = events.counts(), events.metrics
    else:
        counts = counts_of(events, Rules.of(rules), by, segment)
    return counts.sums_of(counts.selection(metrics), before=True)
