"""Two rankings, or two columns, as paired numbers that can be correlated."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from rankine._base.checks import check_choice
from rankine._base.text import count
from rankine._evaluate.rankings.rankings import (
    describe_difference,
    ranking_of,
    refuse_kinds,
)
from rankine._metrics.similarity.measures import ON
from rankine.errors import DataError, ParameterError

if TYPE_CHECKING:
    from rankine._base.arrays import AnyArray, Floats
    from rankine._evaluate.rankings.rankings import Ranking

_REAL = (int, float, Decimal, Fraction, np.integer, np.floating)


def paired(
    x: Any, y: Any, on: str | None, *, by_score: bool = False
) -> tuple[Floats, Floats]:
    """Return two numbers per item, the larger the better.

    Args:
        x: a ranking, or a column of numbers.
        y: another, or another column of the same rows.
        on: which items count if x and y have different ones: those of both
            (``intersection``), or all, where an item that a ranking does not have
            stands behind its last (``union``).
        by_score: take the scores themselves, and not only their order.
    """
    if on is not None:
        check_choice("on", on, ON)
    columns = _columns(x, y, whole=by_score)
    if columns is not None:
        return _checked(*columns, by_score=by_score)
    ours, theirs = ranking_of(x, "x"), ranking_of(y, "y")
    if by_score:
        _refuse_without_scores(ours, theirs, on)
    if on is None and ours.places.keys() != theirs.places.keys():
        msg = (
            "x and y do not have the same items "
            f"({describe_difference(ours.places, theirs.places)}); use "
            "on='intersection' or on='union'"
        )
        raise DataError(msg)
    if ours.places.keys().isdisjoint(theirs.places):
        refuse_kinds(ours, theirs)
    items = list(ours.places)
    if on == "union":
        items += [item for item in theirs.places if item not in ours.places]
    elif on == "intersection":
        items = [item for item in items if item in theirs.places]
    return _checked(
        _values(ours, items, by_score=by_score),
        _values(theirs, items, by_score=by_score),
        by_score=by_score,
    )


def _refuse_without_scores(x: Ranking, y: Ranking, on: str | None) -> None:
    for one, name in ((x, "x"), (y, "y")):
        if one.scores is None and one.places:
            msg = (
                f"{name} has no scores; give {{item: score}} or a column of numbers, "
                "or use spearman, which needs only their order"
            )
            raise DataError(msg)
    if on == "union":
        msg = "pearson needs a score for every item; use on='intersection'"
        raise ParameterError(msg)


def _columns(x: Any, y: Any, *, whole: bool) -> tuple[AnyArray, AnyArray] | None:
    """Return two columns of numbers; None if these are rankings."""
    one, other = _numbers(x, "x", whole=whole), _numbers(y, "y", whole=whole)
    if (one is None) != (other is None):
        # Next to a column of numbers, a list of whole ones is one too.
        one, other = _numbers(x, "x", whole=True), _numbers(y, "y", whole=True)
    if one is None or other is None:
        return None
    ours, theirs = getattr(x, "index", None), getattr(y, "index", None)
    labelled = hasattr(ours, "equals") and hasattr(theirs, "equals")
    if labelled and not ours.equals(theirs):  # type: ignore[union-attr]
        msg = "the rows of x and y have different labels; put them in the same order"
        raise DataError(msg)
    return one, other


def _numbers(x: Any, name: str, *, whole: bool) -> AnyArray | None:
    """Return a column of numbers; None if x is a ranking.

    A list of whole numbers is a list of ids, unless numbers are wanted; one with
    fractions never is.
    """
    if isinstance(x, (list, tuple)):
        kinds = set(map(type, x))
        real = all(issubclass(kind, _REAL) and kind is not bool for kind in kinds)
        fractions = any(not issubclass(kind, (int, np.integer)) for kind in kinds)
        if not real or not (whole or fractions):
            return None
        column = np.asarray(x)
        return column.astype(np.float64) if column.dtype == object else column
    if isinstance(x, pl.Series):
        if not x.dtype.is_numeric():
            return None
        if x.null_count():
            msg = f"{name} has {count(x.null_count(), 'value')} missing"
            raise DataError(msg)
        return x.to_numpy()
    if isinstance(x, Mapping) or not hasattr(x, "__array__"):
        return None
    column = np.asarray(x)
    return column if column.ndim == 1 and column.dtype.kind in "fiu" else None


def _values(one: Ranking, items: list[Any], *, by_score: bool) -> Floats:
    """Return the score of each item, or minus the rank at which its ties begin."""
    places = np.array([one.places.get(item, -1) for item in items], dtype=np.int64)
    if by_score and one.scores is not None:
        return one.scores[places]
    rank = places + 1 if one.top is None else one.top[places]
    return -np.where(places < 0, len(one.places) + 1, rank).astype(np.float64)


def _checked(x: AnyArray, y: AnyArray, *, by_score: bool) -> tuple[Floats, Floats]:
    if len(x) != len(y):
        msg = f"x has {len(x)} numbers and y {len(y)}; they are paired row by row"
        raise DataError(msg)
    for column, name in ((x, "x"), (y, "y")):
        bad = ~np.isfinite(column) if by_score else np.isnan(column)
        if bad.any():
            at = int(np.flatnonzero(bad)[0])
            what = "not a finite number" if by_score else "not a number"
            msg = f"{name} is {what} at row {at}: {column[at]}"
            raise DataError(msg)
    if by_score:
        return x.astype(np.float64), y.astype(np.float64)
    return _levels(x), _levels(y)


def _levels(values: AnyArray) -> Floats:
    """Return which of the different values each is, from 0, the smallest first.

    The order is all that matters, and integers may have more digits than a float.
    """
    _, level = np.unique(values, return_inverse=True)
    return level.astype(np.float64)
