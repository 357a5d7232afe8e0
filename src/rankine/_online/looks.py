"""Looks at a test: what users had done by the end of each day."""

from __future__ import annotations

from dataclasses import replace
from datetime import date, timedelta
from typing import TYPE_CHECKING

import polars as pl

from rankine._online.metrics import METRICS
from rankine._online.tallies import AFTER, BEFORE, NO_DAY, added, together

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rankine._online.sums import Counted, State

_EPOCH = date(1970, 1, 1)


def undated(counts: Counted) -> Counted:
    """Return counts without their days."""
    return replace(counts, parts=[_without_day(part) for part in counts.parts])


def _without_day(rows: pl.DataFrame) -> pl.DataFrame:
    return rows.with_columns(pl.lit(NO_DAY, rows.schema["day"]).alias("day"))


def looks_of(
    state: State, counts: Counted, *, before: bool
) -> Iterator[tuple[date, pl.DataFrame]]:
    """Yield each day with the users so far, their variants and the sides of metrics.

    Args:
        state: what was read, with its days.
        counts: what was counted in it.
        before: whether to add the sides from before the first exposure, for CUPED.
    """
    every = [part["day"].unique() for part in counts.parts]
    days = sorted(set(pl.concat(every).to_list()) - {NO_DAY}) if every else []
    # Sorted by id, so that sums are added in the same order however the log was split.
    order = state.people.ids.rank("ordinal").to_numpy()
    earlier = _sides(state, counts, _by_user(counts.rows(BEFORE)), "0")
    rows: pl.DataFrame | None = None
    for day in days:
        fresh = _without_day(counts.rows(AFTER, day))
        if not fresh.height:
            continue
        rows = added(fresh if rows is None else together([rows, fresh]))
        rows = rows[order[rows["user"].to_numpy()].argsort()]
        user = rows["user"].to_numpy()
        variant = state.texts("variant")[counts.groups["variant"][user]]
        frame = _sides(state, counts, rows).with_columns(variant.alias("variant"))
        if before:
            frame = frame.join(earlier, on="number", how="left", maintain_order="left")
            sides = [name for name in earlier.columns if name != "number"]
            frame = frame.with_columns(pl.col(sides).fill_null(0.0))
        yield _EPOCH + timedelta(day), frame


def _by_user(rows: pl.DataFrame) -> pl.DataFrame:
    return rows.drop("day", "phase").group_by("user").agg(pl.all().sum())


def _sides(
    state: State, counts: Counted, rows: pl.DataFrame, suffix: str = ""
) -> pl.DataFrame:
    """Return the numerators and denominators of all metrics, a row per user."""
    return rows.select(
        pl.col("user").alias("number"),
        *(METRICS[name].sides(name, state.rules, suffix) for name in counts.metrics),
    ).unnest(*counts.metrics)
