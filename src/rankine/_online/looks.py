"""Looks at a test: what users had done by the end of each day."""

from __future__ import annotations

from datetime import date, timedelta
from typing import TYPE_CHECKING

import polars as pl

from rankine._online.sums import sides_of
from rankine._online.times import end_of
from rankine._online.users import AFTER, BEFORE, added

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rankine._online.sums import Counted, UserCounts

_EPOCH = date(1970, 1, 1)


def looks_of(
    users: UserCounts, counts: Counted, *, before: bool
) -> Iterator[tuple[date, pl.DataFrame]]:
    """Yield each day with the users so far, their variants and the sides of metrics.

    Args:
        users: what was read, with its days.
        counts: what was counted in it.
        before: whether to add the sides from before the first exposure, for CUPED.
    """
    earlier = _sides(users, counts, counts.of(BEFORE), "0")
    after = counts.counting(AFTER)
    for day in counts.periods:
        if not (after["period"] == day).any():
            continue
        # Sorted by id, so that sums are added in the same order however a log was cut.
        rows = added(after.filter(pl.col("period") <= day), "user").sort("user")
        rows = _seen_by(end_of(day, users.zone), users, rows)
        variant = counts.groups["variant"][rows["user"].to_numpy()]
        frame = _sides(users, counts, rows)
        frame = frame.with_columns(users.texts["variant"][variant].alias("variant"))
        if before:
            frame = frame.join(earlier, on="number", how="left", maintain_order="left")
            sides = [name for name in earlier.columns if name != "number"]
            frame = frame.with_columns(pl.col(sides).fill_null(0.0))
        yield _EPOCH + timedelta(day), frame


def _seen_by(end: int, users: UserCounts, rows: pl.DataFrame) -> pl.DataFrame:
    """Return counts as of a moment, until which each user had been observed so far."""
    if not users.exposes:
        return rows
    so_far = end - users.seen["first"][rows["user"]]
    observed = pl.min_horizontal("observed", so_far.alias("so far"))
    return rows.with_columns(observed.alias("observed"))


def _sides(
    users: UserCounts, counts: Counted, rows: pl.DataFrame, mark: str = ""
) -> pl.DataFrame:
    """Return the numerators and denominators of all metrics, a row per user."""
    sides = sides_of(counts.metrics, users.rules, mark)
    return rows.select(pl.col("user").alias("number"), *sides)
