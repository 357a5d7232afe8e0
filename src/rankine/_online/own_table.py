"""A table of the user's own, with a row per user, as the users of a test."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from rankine._base.text import count, grouped
from rankine._io import open_table
from rankine._io.columns import told_column
from rankine._io.repeats import first_repeat
from rankine._io.values import ids, numbers
from rankine._online.cohort import Cohort, n_without, without_before
from rankine._online.events import is_of_users
from rankine._online.measures import Measure, check_names
from rankine._online.metrics import in_words, parts_of
from rankine._online.sources import rows_of
from rankine._online.sums import NOT_OVER
from rankine._online.table import ZONE, flags, zone_of
from rankine.errors import DataError, ParameterError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_CLOSE = 8
"""Ids are close together if they span at most this many times their number."""


def cohort_of_table(
    users: Any,
    metrics: Mapping[str, Any],
    *,
    unit: str | None,
    variant: str | None,
    segment: str | None,
    covariates: Mapping[str, Any],
) -> Cohort:
    """Return the users of a table.

    Args:
        users: the table.
        metrics: the columns that are compared.
        unit: the column of ids.
        variant: the column of variants; None to ignore them.
        segment: a second column of groups.
        covariates: the same columns from before the test, by metric.
    """
    measures = _measures(metrics, covariates)
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
    zone_column = [ZONE] if marks and ZONE in table.names else []
    labels = dict.fromkeys([*column_of.values(), *wanted, *marks, *zone_column])
    origin: Any
    frame, origin = table.read([*labels], [*wanted])
    if frame.height == 0:
        msg = f"{table.name} has no rows"
        raise DataError(msg)
    units = None
    if "unit" in column_of:
        units = ids(frame[column_of.pop("unit")], "user", origin, hint="")[0]
        _refuse_twice(units, origin)
    seen, excluded = _who_count(frame, marks, column_of.get("variant"), origin)
    columns = [
        _labels(frame[name], role, origin, lenient=role == "variant" and bool(marks))
        for role, name in column_of.items()
    ]
    typed = pl.DataFrame(
        [*columns, *(_numbers(frame[name], origin) for name in wanted)]
    )
    if excluded:
        typed, units = typed.filter(seen), None if units is None else units.filter(seen)
    notes = [*table.notes, *_left_out(typed, measures)]
    notes += without_before(typed, measures)
    zone = zone_of(frame, table.name) if marks else None
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


def _numbers(column: pl.Series, origin: Any) -> pl.Series:
    """Return finite numbers, nan for those that are missing."""
    if column.dtype.is_integer() and not column.null_count():
        return column
    column = numbers(column, column.name, origin, lenient=True).alias(column.name)
    if not math.isfinite(column.sum()) and column.is_infinite().any():
        row = int(column.is_infinite().arg_true()[0])
        msg = (
            f"{origin.where(row)}: {column.name} is {column[row]}, not a finite number"
        )
        raise DataError(msg)
    return column


def _left_out(frame: pl.DataFrame, measures: Sequence[Measure]) -> list[str]:
    notes = []
    for measure in measures:
        n = n_without(frame, (measure.y, measure.x))
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
        low, high = int(numbers.min()), int(numbers.max())
        if high - low < _CLOSE * len(users):
            seen = np.zeros(high - low + 1, np.bool_)
            seen[numbers - low] = True
            return int(np.count_nonzero(seen)) == len(users)
    return users.n_unique() == len(users)


def _refuse_twice(users: pl.Series, origin: Any) -> None:
    if _differ(users):
        return
    first, second = first_repeat(users.to_frame()) or (0, 0)
    n = count(len(users) - users.n_unique(), "duplicate row")
    msg = (
        f"{origin.where(second)}: user {users[first]!r} appears twice, first in "
        f"{origin.where(first)} ({n}); a table of users has one row per user; for a "
        "log of events, give metrics=['ctr', ...], or -m ctr without --users"
    )
    raise DataError(msg)


def _measures(
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
        measures.append(
            Measure(str(name), y, x, before, quantile, says=says, assumed=True)
        )
    return tuple(measures)
