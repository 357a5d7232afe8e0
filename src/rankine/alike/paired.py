"""Two rankings, or two columns, as paired numbers that can be correlated."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from rankine.alike.rankings import describe_difference, ranking_of
from rankine.checks import check_choice
from rankine.errors import DataError, ParameterError

if TYPE_CHECKING:
    from rankine.alike.rankings import Ranking
    from rankine.arrays import Floats

ON = ("intersection", "union")
"""Ways to correlate rankings of different items."""


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
    columns = _numbers(x, whole=by_score), _numbers(y, whole=by_score)
    if columns[0] is not None and columns[1] is not None:
        return _checked(columns[0], columns[1], by_score=by_score)
    ours, theirs = ranking_of(x, "x"), ranking_of(y, "y")
    if by_score:
        for one, name in ((ours, "x"), (theirs, "y")):
            if one.scores is None and one.places:
                msg = (
                    f"{name} has no scores; give {{item: score}} or a column of "
                    "numbers, or take spearman, which needs their order only"
                )
                raise DataError(msg)
        if on == "union":
            msg = "an item that is not there has no score; take on='intersection'"
            raise ParameterError(msg)
    if on is None and ours.places.keys() != theirs.places.keys():
        msg = (
            f"x and y do not have the same items "
            f"({describe_difference(ours.places, theirs.places)}); say "
            "on='intersection' or on='union'"
        )
        raise DataError(msg)
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


def _numbers(x: Any, *, whole: bool) -> Floats | None:
    """Return a column of numbers; None if x is a ranking.

    A list of whole numbers is a list of ids, unless scores are wanted; one with
    fractions never is.
    """
    if isinstance(x, (list, tuple)):
        kinds = set(map(type, x))
        plain = kinds <= {int, float, np.float64, np.float32, np.int64}
        if not plain or not (whole or float in kinds or np.float64 in kinds):
            return None
        return np.asarray(x, dtype=np.float64)
    if isinstance(x, pl.Series):
        column = x.to_numpy() if x.dtype.is_numeric() and not x.null_count() else None
        if column is None and x.dtype.is_numeric():
            msg = f"{x.null_count()} values of column {x.name!r} are missing"
            raise DataError(msg)
        return None if column is None else column.astype(np.float64)
    if isinstance(x, Mapping) or not hasattr(x, "__array__"):
        return None
    column = np.asarray(x)
    if column.ndim != 1 or column.dtype.kind not in "fiu":
        return None
    return column.astype(np.float64)


def _values(one: Ranking, items: list[Any], *, by_score: bool) -> Floats:
    """Return the score of each item, or minus the rank at which its ties begin."""
    places = np.array([one.places.get(item, -1) for item in items], dtype=np.int64)
    if by_score and one.scores is not None:
        return one.scores[places]
    rank = places + 1 if one.top is None else one.top[places]
    return -np.where(places < 0, len(one.places) + 1, rank).astype(np.float64)


def _checked(x: Floats, y: Floats, *, by_score: bool) -> tuple[Floats, Floats]:
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
    return x, y
