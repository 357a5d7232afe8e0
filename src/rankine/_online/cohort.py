"""The users of a test, one row each."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import date, timedelta
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from rankine._base.checks import check_choice, check_number
from rankine._base.text import count, grouped, p_equals
from rankine._online.measures import Measure, check_names
from rankine._online.rules import is_currency
from rankine._online.sums import new_by_day, sides_of
from rankine._online.times import end_of
from rankine._online.users import AFTER, BEFORE
from rankine.errors import DataError, ParameterError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from rankine._base.arrays import Floats
    from rankine._online.rules import Rules
    from rankine._online.sums import Selection, UserCounts, UserSums

ODD_RATIO = 0.001
"""The p-value below which arms are not as large as they should be."""


@dataclass(frozen=True, eq=False)
class Cohort:
    """The users of a test.

    Attributes:
        frame: variant, segment if there are segments, and columns of numbers.
        measures: the metrics.
        notes: what was assumed and what is odd.
        excluded: events and users that were left out, by reason.
        warnings: what makes the results of a test doubtful.
        by_day: gives the users up to each day; None if days were not asked for.
        came: how many users came first on each day of a log, if that was asked for.
        ids: the ids of users; None if they are not known.
        zone: the time zone of days; None for UTC, and if it is not known.
        until: the last day on which users could come and count; None if unknown.
    """

    frame: pl.DataFrame
    measures: tuple[Measure, ...]
    notes: tuple[str, ...] = ()
    excluded: Mapping[str, int] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()
    by_day: Callable[..., Iterator[tuple[date, pl.DataFrame]]] | None = None
    came: tuple[int, ...] = ()
    ids: pl.Series | None = None
    zone: str | None = None
    until: date | None = None

    @property
    def is_segmented(self) -> bool:
        """Whether there are segments."""
        return "segment" in self.frame.columns

    @property
    def arrivals(self) -> tuple[int, ...]:
        """How many users came first, or were exposed, on each day; empty if unknown."""
        if "first" in self.frame.columns and self.frame["first"].is_not_null().any():
            return new_by_day(self.frame, "first", self.until)
        return self.came

    def columns(self) -> dict[str, Floats]:
        """Return the columns of numbers that metrics are computed from."""
        names = {name for measure in self.measures for name in measure.columns}
        return {name: self.frame[name].to_numpy() for name in sorted(names)}

    def noted(self, *notes: str) -> Cohort:
        """Return the same with more notes."""
        return replace(self, notes=(*self.notes, *notes))

    def with_options(
        self, better: Mapping[str, str], cap: Mapping[str, float]
    ) -> Cohort:
        """Set directions and caps, by the names of the metrics."""
        names = [measure.name for measure in self.measures]
        check_names("better", better, names)
        check_names("cap", cap, names)
        for name, way in better.items():
            check_choice(f"better of {name}", way, ("higher", "lower"))
        higher = {measure.name: measure.higher for measure in self.measures}
        higher |= {name: way == "higher" for name, way in better.items()}
        for measure in self.measures:
            if measure.name in cap:
                self._check_cap(measure, cap[measure.name])
        measures = tuple(
            replace(
                each,
                cap=cap.get(each.name),
                higher=higher[each.name],
                assumed=each.assumed and each.name not in better,
            )
            for each in self.measures
        )
        return replace(self, measures=measures)

    def _check_cap(self, measure: Measure, most: float) -> None:
        """Refuse a cap at which all users count the same; only money is below 0."""
        check_number(f"cap of {measure.name}", most)
        y = self.frame[measure.y].cast(pl.Float64).fill_nan(None)
        if most <= 0 and not (y < 0).any():
            msg = (
                f"cap of {measure.name} must be above 0, got {most:g}: nobody has "
                "less, so all users would count the same"
            )
            raise ParameterError(msg)

    def winsorized(self, share: float) -> Cohort:
        """Cap what each user counts at a quantile over the users of all arms."""
        columns, said = self.columns(), []
        measures = tuple(own.winsorized(columns, share) for own in self.measures)
        for own, capped in zip(self.measures, measures, strict=True):
            cut, parts = np.zeros(self.frame.height, np.bool_), []
            names = ("numerators", "denominators") if own.x else ("values",)
            caps, sides = (capped.cap, capped.cap_x), own.sides(columns)
            for name, cap, side in zip(names, caps, sides, strict=False):
                if cap is not None and side is not None and (side > cap).any():
                    parts.append(f"{name} above {cap:,g}")
                    cut |= side > cap
            n = count(int(np.count_nonzero(cut)), "user")
            what = f"{' and '.join(parts)}, of {n}" if parts else "nothing"
            before = "; values before the test are not cut" if own.before else ""
            said.append((own.name, f"winsorizing at {share:g} cuts {what}{before}"))
        return replace(self, measures=measures).noted(*grouped(said))


def cohort_of_log(
    users: UserCounts,
    metrics: Any,
    *,
    by: str | None,
    segment: str | None,
    cuped: bool,
) -> Cohort:
    """Return the users of a log, or of a table that was made of one.

    Args:
        users: what was counted.
        metrics: what is computed of it.
        by: the column of variants; None to ignore them.
        segment: a second column of groups.
        cuped: whether to use events from before the test.
    """
    selection = users.selection(metrics)
    sums = users.sums_of(selection, before=cuped)
    if by is not None and sums.frame["variant"].null_count():
        msg = (
            "the events have no variant, which says which arm a user is in; name its "
            "column with columns={'variant': ...} or --col variant=NAME"
        )
        raise DataError(msg)
    measures = tuple(
        Measure(
            name,
            f"{name}.y",
            None if metric.quantile or metric.after_days else f"{name}.x",
            (f"{name}.y0", f"{name}.x0") if cuped and metric.has_before else None,
            metric.quantile,
            higher=metric.higher_is_better,
            over=metric.over if metric.is_share else "",
            says=sums.definitions[name],
            assumed=metric.assumed,
        )
        for name, metric in sums.metrics.items()
    )
    if not measures:
        why = "; ".join(f"{name}: {reason}" for name, reason in sums.left_out.items())
        msg = f"no metric can be computed from these events: {why}"
        raise DataError(msg)
    frame = sums.frame.drop("segment")
    if segment is not None:
        _refuse_sums_of_currencies(sums, segment, users.rules)
        # A user without one is in a segment, too.
        frame = sums.frame.with_columns(pl.col("segment").fill_null("(none)"))
    notes = [*sums.notes, *(without_before(frame, measures) if cuped else ())]
    warnings = []
    if by is not None:
        warnings = [*_moved_shares(frame), *_selected(frame, sums.busy)]
    by_day = partial(_by_day, users, selection) if users.every else None
    return Cohort(
        frame, measures, tuple(notes), sums.excluded, tuple(warnings), by_day,
        sums.arrivals, sums.frame["user"], sums.zone, sums.until,
    )  # fmt: skip


def _refuse_sums_of_currencies(sums: UserSums, segment: str, rules: Rules) -> None:
    """Refuse money in several currencies, which a test adds up over its segments."""
    every = sums.frame["segment"].drop_nulls().unique().sort()
    if len(every) <= 1 or not is_currency(segment, rules):
        return
    for name, metric in sums.metrics.items():
        if {"value", "cost"} & {*metric.needs}:
            msg = (
                f"{name} would add up amounts in {every[0]} and in {every[1]}; give "
                "one currency at a time, or metrics without money"
            )
            raise DataError(msg)


def _moved_shares(frame: pl.DataFrame) -> list[str]:
    """Warn if the shares of the arms changed from day to day."""
    days = frame.filter(pl.col("first").is_not_null()).select(
        pl.col("first").dt.date().alias("date"), "variant"
    )
    table = days.group_by("date").agg(
        (pl.col("variant") == variant).sum().alias(variant)
        for variant in sorted(frame["variant"].unique())
    )
    p = _same_shares(table.drop("date").to_numpy().astype(np.float64))
    if p >= ODD_RATIO:
        return []
    said = (
        f"the shares of the variants changed from day to day ({p_equals(p)}): weekday "
        "effects may bias the comparison; compare within days"
    )
    return [said]


def _selected(frame: pl.DataFrame, busy: Mapping[str, int]) -> list[str]:
    """Warn that users were left out by what they did, above all if by one arm more."""
    if not busy:
        return []
    left = dict(frame.group_by("variant").len().iter_rows())
    arms = sorted({*left, *busy})
    counts = [[busy.get(arm, 0), left.get(arm, 0)] for arm in arms]
    p = _same_shares(np.array(counts, np.float64))
    each = ", ".join(f"{arm} {n:,}" for arm, (n, _) in zip(arms, counts, strict=True))
    said = (
        f"max_events= or --max-events selects users by what they did ({each} left "
        "out): a variant that makes users do more loses more of them, and its effect "
        "looks smaller; winsorize= or --winsorize keeps them all"
    )
    if p >= ODD_RATIO:
        return [said]
    more = (
        f"the variants lose different shares of users to max_events= ({p_equals(p)}): "
        "those who are left cannot be compared"
    )
    return [said, more]


def _same_shares(counts: Floats) -> float:
    """Return the chi-squared p-value of equal shares in all rows of a table.

    It is 1 where less than 5 is expected in a cell, as is usual for the test.
    """
    from scipy.special import chdtrc  # noqa: PLC0415 - scipy is slow to import

    if min(counts.shape) <= 1:
        return 1.0
    expected = counts.sum(1, keepdims=True) * counts.sum(0) / counts.sum()
    if expected.min() < 5:  # noqa: PLR2004
        return 1.0
    far = ((counts - expected) ** 2 / expected).sum()
    return float(chdtrc((len(counts) - 1) * (counts.shape[1] - 1), far))


def without_before(frame: pl.DataFrame, measures: Sequence[Measure]) -> list[str]:
    """Count the users about whom nothing is known from before the test."""
    notes = []
    for measure in measures:
        if measure.before is None:
            continue
        divided = [pl.col(name) != 0 for name in measure.before[1:] if name]
        n = n_without(frame, measure.before, *divided)
        if n:
            said = (
                f"{count(n, 'user')} of {frame.height:,} without a value before the "
                "test, for whom the mean is used"
            )
            notes.append((measure.name, said))
    return grouped(notes)


def n_without(
    frame: pl.DataFrame, names: Sequence[str | None], *conditions: pl.Expr
) -> int:
    """Count the users who lack a number in some columns, or do not meet conditions."""
    is_known = [pl.col(name).is_not_nan() for name in names if name is not None]
    known = pl.all_horizontal(*is_known, *conditions).sum()
    return frame.height - int(frame.select(known).item())


def _by_day(
    users: UserCounts, selection: Selection, *, before: bool
) -> Iterator[tuple[date, pl.DataFrame]]:
    """Yield each day with the users so far, their variants and the sides of metrics.

    Args:
        users: what was read, with its days.
        selection: who and what counts in it.
        before: whether to add the sides from before the first exposure, for CUPED.
    """
    earlier = _sides(selection, selection.of(BEFORE), "0")
    for day in selection.periods:
        rows = selection.of(AFTER, until=day)
        rows = _seen_by(end_of(day, users.zone), users, rows)
        variant = selection.groups["variant"][rows["user"].to_numpy()]
        frame = _sides(selection, rows)
        frame = frame.with_columns(users.texts["variant"][variant].alias("variant"))
        if before:
            frame = frame.join(earlier, on="number", how="left", maintain_order="left")
            sides = [name for name in earlier.columns if name != "number"]
            frame = frame.with_columns(pl.col(sides).fill_null(0.0))
        yield date(1970, 1, 1) + timedelta(day), frame


def _seen_by(end: int, users: UserCounts, rows: pl.DataFrame) -> pl.DataFrame:
    """Return counts as of a moment, until which each user had been observed so far."""
    if not users.exposes:
        return rows
    so_far = end - users.seen["first"][rows["user"]]
    observed = pl.min_horizontal("observed", so_far.alias("so far"))
    return rows.with_columns(observed.alias("observed"))


def _sides(selection: Selection, rows: pl.DataFrame, mark: str = "") -> pl.DataFrame:
    """Return the numerators and denominators of all metrics, a row per user."""
    sides = sides_of(selection.metrics, mark)
    return rows.select(pl.col("user").alias("number"), *sides)
