"""The users of a test, one row each: from a table of users, or from events."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from rankine._base.checks import check_choice, check_number
from rankine._base.text import count, grouped, p_equals, percent
from rankine._io import open_table
from rankine._io.columns import told_column
from rankine._io.repeats import first_repeat
from rankine._io.tables import origin_of, together
from rankine._io.values import ids, numbers
from rankine._online.asked import refuse_for_users, sums_of
from rankine._online.events import is_of_users
from rankine._online.metrics import in_words, parts_of
from rankine._online.moments import Moments
from rankine._online.rules import Rules, is_currency
from rankine._online.sources import rows_of
from rankine._online.sums import NOT_OVER, new_by_day
from rankine._online.table import flags, zone_of
from rankine.errors import DataError, ParameterError, nearest

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import date

    from rankine._base.arrays import Bools, Floats
    from rankine._online.asked import Given, Looks
    from rankine._online.sums import UserSums

_CLOSE = 8
"""Ids are close together if they span at most this many times their number."""


@dataclass(frozen=True)
class Measure:
    """A metric of users: a mean, a ratio of two sums, or a quantile.

    Attributes:
        name: what it is called.
        y: the column of numerators.
        x: the column of denominators; None for a mean, where it is 1 for all.
        before: the same two columns from before the test; None without CUPED.
        quantile: the share of users below it, if it is a quantile of y.
        cap: the largest y of a user; larger ones are cut to it.
        cap_x: the same for x.
        higher: whether higher is better; None if neither is.
        over: what is wrong where y is above x, if it is a share; otherwise empty.
        says: how it is defined, in words.
    """

    name: str
    y: str
    x: str | None = None
    before: tuple[str, str | None] | None = None
    quantile: float | None = None
    cap: float | None = None
    cap_x: float | None = None
    higher: bool | None = True
    over: str = ""
    says: str = ""

    @property
    def columns(self) -> list[str]:
        """The columns that it needs."""
        return [name for name in (self.y, self.x, *(self.before or ())) if name]

    def sides(self, users: Mapping[str, Floats]) -> tuple[Floats, Floats | None]:
        """Return its numerators and denominators, cut to its caps."""
        y = users[self.y]
        x = None if self.x is None else users[self.x]
        if self.cap is not None:
            y = np.minimum(y, self.cap)
        if x is not None and self.cap_x is not None:
            x = np.minimum(x, self.cap_x)
        return y, x

    def winsorized(self, users: Mapping[str, Floats], share: float) -> Measure:
        """Cap both sides at a quantile over all users who have a value."""
        if self.quantile is not None:
            msg = f"winsorize cannot be given for {self.name}, which is a quantile"
            raise ParameterError(msg)
        (y, x, *_), n = self.values(users)
        caps = [
            None
            if side is None or not n
            else float(np.quantile(side, share, method="inverted_cdf"))
            for side in (y, x)
        ]
        for side, cap in zip((y, x), caps, strict=True):
            if side is not None and cap == 0 < side.max():
                more = percent(np.count_nonzero(side > 0) / n, 2)
                msg = (
                    f"winsorizing at {share:g} would cap {self.name} at 0, as only "
                    f"{more} of users have more; give a share nearer to 1, or leave "
                    "the metric out"
                )
                raise DataError(msg)
        return replace(self, cap=caps[0], cap_x=caps[1])

    def values(self, users: Mapping[str, Floats]) -> tuple[list[Floats | None], int]:
        """Return its four columns for the users who have a value, and how many do."""
        y, x = self.sides(users)
        before: list[Floats | None] = [None, None]
        if self.before is not None:
            before = [None if name is None else users[name] for name in self.before]
            known_before = _known(*before)
            if known_before is not None:
                ones = np.ones(len(y)) if before[1] is None else before[1]
                before = [
                    np.where(known_before, column, 0)  # type: ignore[arg-type]
                    for column in (before[0], ones)
                ]
        columns, known = [y, x, *before], _known(y, x)
        if known is None:
            return columns, len(y)
        columns = [None if column is None else column[known] for column in columns]
        return columns, int(np.count_nonzero(known))

    def known_of(self, users: Mapping[str, Floats]) -> Any:
        """Return the moments of its columns, or the values of a quantile."""
        if self.quantile is None and self.cap is None and self.cap_x is None:
            names = (self.y, self.x, *(self.before or (None, None)))
            plain = [None if name is None else users[name] for name in names]
            moments = Moments.of(plain, len(users[self.y]))
            if not np.isnan(moments.mean).any():
                return moments  # all users have a value
        columns, n = self.values(users)
        return columns[0] if self.quantile else Moments.of(columns, n)


def _known(*columns: Floats | None) -> Bools | None:
    """Say which users have a number in all columns; None if all of them do."""
    gaps = [
        column for column in columns if column is not None and np.isnan(column.sum())
    ]
    return ~np.isnan(sum(gaps)) if gaps else None


@dataclass(frozen=True, eq=False)
class Cohort:
    """The users of a test.

    Attributes:
        frame: variant, segment if there are segments, and columns of numbers.
        measures: the metrics.
        notes: what was assumed and what is odd.
        excluded: events and users that were left out, by reason.
        warnings: what makes the results of a test doubtful.
        looks: gives the users up to each day; None if days were not asked for.
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
    looks: Looks | None = None
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

    def with_options(
        self,
        better: Mapping[str, str],
        cap: Mapping[str, float],
    ) -> Cohort:
        """Set directions and caps, by the names of the metrics."""
        names = [measure.name for measure in self.measures]
        check_names("better", better, names)
        check_names("cap", cap, names)
        for name, way in better.items():
            check_choice(f"better of {name}", way, ("higher", "lower"))
        for measure in self.measures:
            if measure.name in cap:
                self._check_cap(measure, cap[measure.name])
        measures = tuple(
            replace(
                measure,
                cap=cap.get(measure.name),
                higher=better[measure.name] == "higher"
                if measure.name in better
                else measure.higher,
            )
            for measure in self.measures
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
        return replace(self, measures=measures, notes=(*self.notes, *grouped(said)))


def check_names(option: str, given: Any, names: Sequence[str]) -> None:
    """Refuse a mapping by metric that names an unknown one."""
    if not isinstance(given, Mapping):
        msg = f"{option} must be a mapping by metric, got {given!r}"
        raise ParameterError(msg)
    for name in given:
        if name not in names:
            msg = (
                f"{option} names a metric {name!r}; the metrics are "
                f"{', '.join(names)}{nearest(str(name), names)}"
            )
            raise ParameterError(msg)


def cohort_of(
    given: Given,
    metrics: Any,
    rules: Mapping[str, Any],
    *,
    unit: str | None,
    by: str | None,
    segment: str | None = None,
    covariates: Mapping[str, Any] | None = None,
    cuped: bool = False,
    daily: bool = False,
    memory_limit: int | str | None = None,
) -> Cohort:
    """Read the users of a test; without `by`, variants are ignored.

    Args:
        given: a table of users or a log of events.
        metrics: what is computed of them.
        rules: how events are read.
        unit: the column of users, or what converts.
        by: the column of variants.
        segment: a second column of groups.
        covariates: columns from before the test, in a table of users.
        cuped: whether to use events from before the test.
        daily: whether to keep days separate, in a log of events.
        memory_limit: the memory that the events may use.
    """
    if given.is_own:
        refuse_for_users(rules, cuped=cuped, daily=daily, memory_limit=memory_limit)
        return _from_users(given.data, metrics, unit, by, covariates or {}, segment)
    if covariates is not None:
        msg = "covariates are columns of a table of users; for events, give cuped=True"
        raise ParameterError(msg)
    rules = rules if unit is None else {**rules, "unit": unit}
    return _from_events(
        given.data, metrics, by, segment, rules, cuped=cuped, daily=daily,
        memory_limit=memory_limit,
    )  # fmt: skip


def _from_events(
    events: Any,
    metrics: Any,
    by: str | None,
    segment: str | None,
    rules: Mapping[str, Any],
    *,
    cuped: bool,
    daily: bool,
    memory_limit: int | str | None,
) -> Cohort:
    if isinstance(metrics, str):
        metrics = [metrics]
    sums, looks = sums_of(
        events, metrics, by, segment, rules, daily=daily, memory_limit=memory_limit
    )
    if by is not None and sums.frame["variant"].null_count():
        msg = (
            "the events have no variant, which says which arm a user is in; name its "
            "column with columns={'variant': ...} or --col variant=NAME"
        )
        raise DataError(msg)
    if segment is not None:
        _refuse_currencies(sums, segment, rules)
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
        )
        for name, metric in sums.metrics.items()
    )
    if not measures:
        why = "; ".join(f"{name}: {reason}" for name, reason in sums.left_out.items())
        msg = f"no metric can be computed from these events: {why}"
        raise DataError(msg)
    frame = sums.frame.drop("segment")
    if segment is not None:  # a user without one is in a segment, too
        frame = sums.frame.with_columns(pl.col("segment").fill_null("(none)"))
    notes = [*sums.notes]
    if cuped:
        notes += _without_before(frame, measures)
    warnings = []
    if by is not None:
        warnings = [*_moved_shares(frame), *_selected(frame, sums.busy)]
    return Cohort(
        frame, measures, tuple(notes), sums.excluded, tuple(warnings), looks,
        sums.arrivals, sums.frame["user"], sums.zone,
        sums.until,
    )  # fmt: skip


def _refuse_currencies(
    sums: UserSums, segment: str, options: Mapping[str, Any]
) -> None:
    """Refuse money in several currencies, which a test adds up over its segments."""
    every, rules = sums.frame["segment"].drop_nulls().unique().sort(), Rules.of(options)
    if len(every) <= 1 or not is_currency(segment, rules):
        return
    for name, metric in sums.metrics.items():
        if {"value", "cost"} & {*metric.needs(rules)}:
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
    kept = dict(frame.group_by("variant").len().iter_rows())
    arms = sorted({*kept, *busy})
    counts = [[busy.get(arm, 0), kept.get(arm, 0)] for arm in arms]
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


ODD_RATIO = 0.001
"""The p-value below which arms are not as large as they should be."""


def _without_before(frame: pl.DataFrame, measures: Sequence[Measure]) -> list[str]:
    """Count the users about whom nothing is known from before the test."""
    notes = []
    for measure in measures:
        first, second = measure.before or (None, None)
        is_known = [] if second is None else [pl.col(second) != 0]
        n = _n_without(frame, (first, second), *is_known)
        if n:
            said = (
                f"{count(n, 'user')} of {frame.height:,} without a value before the "
                "test, for whom the mean is used"
            )
            notes.append((measure.name, said))
    return grouped(notes)


def _n_without(
    frame: pl.DataFrame, names: Sequence[str | None], *conditions: pl.Expr
) -> int:
    """Count the users who lack a number in some columns, or do not meet conditions."""
    is_known = [
        pl.col(name).is_not_nan()
        for name in names
        if name is not None and _has_gaps(frame[name])
    ]
    is_known += conditions
    if not is_known:
        return 0
    return frame.height - int(frame.select(pl.all_horizontal(is_known).sum()).item())


def _from_users(
    users: Any,
    metrics: Mapping[str, Any],
    unit: str | None,
    variant: str | None,
    covariates: Mapping[str, Any],
    segment: str | None,
) -> Cohort:
    measures = _asked(metrics, covariates)
    table = open_table(rows_of(users), "users")
    roles = {"unit": unit, "variant": variant, "segment": segment}
    column_of = {
        role: str(told_column(table.names, name, table.name))
        for role, name in roles.items()
        if name is not None
    }
    wanted = dict.fromkeys(name for measure in measures for name in measure.columns)
    for name in wanted:
        told_column(table.names, name, table.name)
    # Of a table of our own making, those count who do in a test of its log.
    settled = _SETTLED if variant is not None and is_of_users(table.names) else ()
    marks = [name for name in settled if name in table.names]
    labels = dict.fromkeys([*column_of.values(), *wanted, *marks])
    loaded = table.load([*labels], [*wanted])
    frame = together([rows for rows, _ in loaded], [origin for _, origin in loaded])
    origin: Any = origin_of(table.name, loaded)
    if frame.height == 0:
        msg = f"{table.name} has no rows"
        raise DataError(msg)
    units = None
    if "unit" in column_of:
        units = ids(frame[column_of["unit"]], "user", origin, hint="")[0]
        _refuse_twice(units, origin)
    seen, excluded = _who_count(frame, marks, column_of.get("variant"), origin)
    columns = [
        _labels(frame[name], role, origin, lenient=role == "variant" and bool(marks))
        for role, name in column_of.items()
        if role != "unit"
    ]
    columns += [_numbers(frame[name], name, origin) for name in wanted]
    typed = pl.DataFrame(columns)
    if excluded:
        typed, units = typed.filter(seen), None if units is None else units.filter(seen)
    notes = [*table.notes, *_left_out(typed, measures)]
    notes += _without_before(typed, measures)
    zone = zone_of(frame) if marks else None
    return Cohort(typed, measures, tuple(notes), excluded, ids=units, zone=zone)


_SETTLED = "variants", "first_exposure", "window_over"
"""Columns of a table of users that say who counts in a test of its variants."""


def _who_count(
    frame: pl.DataFrame, marks: Sequence[str], variant: str | None, origin: Any
) -> tuple[pl.Series, dict[str, int]]:
    """Say who was seen in one variant and exposed long enough; count the others."""
    seen = pl.repeat(value=True, n=frame.height, eager=True)
    excluded = {}
    if "variants" in marks:
        seen = numbers(frame["variants"], "variants", origin) <= 1
        excluded["users in more than one variant"] = int((~seen).sum())
    if marks and variant is not None:
        there = pl.all_horizontal(
            pl.col(name).is_not_null() & (pl.col(name).cast(pl.String) != "")
            for name in {variant, *marks} - {"window_over"}
        )
        exposed = frame.select(there).to_series()
        excluded["users without a variant"] = int((seen & ~exposed).sum())
        seen &= exposed
    if "window_over" in marks:
        over = flags(frame["window_over"], origin).fill_null(value=False)
        excluded[f"users {NOT_OVER}"] = int((seen & ~over).sum())
        seen &= over
    return seen, {words: n for words, n in excluded.items() if n}


def _labels(column: pl.Series, role: str, origin: Any, *, lenient: bool) -> pl.Series:
    """Return variants or segments, of which none may be missing unless lenient."""
    if column.dtype == pl.Boolean:
        column = column.cast(pl.String)
    return ids(column, role, origin, lenient=lenient, hint="")[0].alias(role)


def _numbers(column: pl.Series, name: str, origin: Any) -> pl.Series:
    """Return finite numbers, nan for those that are missing."""
    if column.dtype.is_integer() and not column.null_count():
        return column.alias(name)
    column = numbers(column, name, origin, lenient=True)
    if not math.isfinite(column.sum()) and column.is_infinite().any():
        row = int(column.is_infinite().arg_true()[0])
        msg = f"{origin.where(row)}: {name} is {column[row]}, not a finite number"
        raise DataError(msg)
    return column.alias(name)


def _has_gaps(column: pl.Series) -> bool:
    return column.dtype.is_float() and math.isnan(column.sum())


def _left_out(frame: pl.DataFrame, measures: Sequence[Measure]) -> list[str]:
    notes = []
    for measure in measures:
        n = _n_without(frame, (measure.y, measure.x))
        if n:
            said = (
                f"{count(n, 'user')} without a value left out; if one arm has more of "
                "them, the arms can no longer be compared"
            )
            notes.append((measure.name, said))
    return grouped(notes)


def _differ(users: pl.Series) -> bool:
    """Say whether no user appears twice; fast if ids are ints close together."""
    if users.dtype.is_integer() and len(users):
        numbers = users.to_numpy()
        if bool((numbers[1:] > numbers[:-1]).all()):
            return True
        low, high = int(numbers.min()), int(numbers.max())
        if high - low < _CLOSE * len(users):
            seen = np.zeros(high - low + 1, np.bool_)
            seen[numbers - low] = True
            return int(np.count_nonzero(seen)) == len(users)
    return users.n_unique() == len(users)


def _refuse_twice(users: pl.Series, origin: Any) -> None:
    if _differ(users):
        return
    frame = users.to_frame()
    first, second = first_repeat(frame) or (0, 0)
    n = count(len(users) - users.n_unique(), "duplicate row")
    msg = (
        f"{origin.where(second)}: user {users[first]!r} appears twice, first in "
        f"{origin.where(first)} ({n}); a table of users has one row "
        "per user; for a log of events, give metrics=['ctr', ...], or -m ctr without "
        "--users"
    )
    raise DataError(msg)


def _asked(
    metrics: Mapping[str, Any], covariates: Mapping[str, Any]
) -> tuple[Measure, ...]:
    """Read which columns metrics are computed from."""
    if not metrics:
        msg = (
            "no metric was asked for; give {name: column} for a mean, {name: (column, "
            "column)} for a ratio, or {name: (column, 0.9)} for a quantile"
        )
        raise ParameterError(msg)
    check_names("covariates", covariates, [*metrics])
    measures = []
    for name, given in metrics.items():
        y, x, quantile = parts_of(name, given)
        before = None
        if name in covariates:
            if quantile is not None:
                msg = f"{name} is a quantile, for which CUPED is not defined"
                raise ParameterError(msg)
            first, second, wrong = parts_of(name, covariates[name])
            if wrong is not None or (second is None) != (x is None):
                kind = "a column" if x is None else "two columns"
                msg = (
                    f"the covariate of {name} must be {kind}, as the metric is, got "
                    f"{covariates[name]!r}"
                )
                raise ParameterError(msg)
            before = first, second
        says = in_words(y, x, quantile)
        measures.append(Measure(str(name), y, x, before, quantile, says=says))
    return tuple(measures)
