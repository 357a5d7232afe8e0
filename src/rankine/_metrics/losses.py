"""Rows of predictions, and what batches of them add up to.

A loss is computed in two steps: rows become sums, and sums become a number. Sums are
exact, so that the number does not depend on how rows are split into batches.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from rankine._base.forks import need_threads
from rankine._base.tensors import off_torch
from rankine._base.text import count
from rankine._stats.exact import added, exact_sum, product_error
from rankine.errors import DataError

if TYPE_CHECKING:
    from rankine._base.arrays import Floats, Ints
    from rankine._stats.exact import Exact

_SUM = 1e-6
"""How far the probabilities of all classes may be from 1 together."""
GAPS, RATINGS, SQUARES = range(3)
_FAR = 512
"""The width of a range of exponents whose squares are added up together."""


@dataclass(frozen=True)
class LossSums:
    """What rows add up to.

    Attributes:
        n: how many rows there are.
        clipped: how many probabilities were raised.
        total: the sum that a loss is made of.
        hits: in how many rows it happened.
        bins: bin -> the same of its rows.
        edges: the bounds of bins.
        classes: how many classes there are, None if there are only 0 and 1.
    """

    n: int = 0
    clipped: int = 0
    total: Exact = Fraction(0)
    hits: int = 0
    bins: dict[int, LossSums] = field(default_factory=dict)
    edges: tuple[float, ...] = ()
    classes: int | None = None

    def __add__(self, other: LossSums) -> LossSums:
        """Put the rows of two batches together."""
        if self.n and other.n and self.classes != other.classes:
            words = [
                "one column" if classes is None else f"{classes} classes"
                for classes in (self.classes, other.classes)
            ]
            msg = f"p has {words[0]} in one batch, and {words[1]} in another"
            raise DataError(msg)
        bins = {
            number: self.bins.get(number, LossSums())
            + other.bins.get(number, LossSums())
            for number in sorted(self.bins.keys() | other.bins.keys())
        }
        return LossSums(
            self.n + other.n,
            self.clipped + other.clipped,
            added(self.total, other.total),
            self.hits + other.hits,
            bins,
            self.edges or other.edges,
            self.classes if self.n else other.classes,
        )


def entropies(y: Any, p: Any, *, eps: float) -> LossSums:
    """Add up the logarithms of the probabilities given to what happened."""
    right, classes = _of_truth(y, p)
    clipped = int(np.count_nonzero(right < eps))
    losses = -np.log(np.maximum(right, eps))
    return LossSums(len(right), clipped, exact_sum(losses), classes=classes)


def entropies_and_hits(
    y: Any, p: Any, *, eps: float, baseline: float | None = None
) -> LossSums:
    """Add up as `entropies` does, and count in how many rows it happened."""
    del baseline  # which matters in the end only
    p = _floats(p, "p")
    _check_column(p)
    sums, truth = entropies(y, p, eps=eps), _binary(y)
    hits = int(np.count_nonzero(truth))
    return LossSums(sums.n, sums.clipped, sums.total, hits)


def squares_of_chances(y: Any, p: Any) -> LossSums:
    """Add up the squared distances of probabilities from what happened."""
    chances, classes = _floats(p, "p"), None
    if chances.ndim == 1:
        truth = _binary(y)
        _check_chances(chances, len(truth))
        squares = (chances - truth) ** 2
    else:
        label = _classes(y, chances)
        wanted = np.zeros_like(chances)
        wanted[np.arange(len(label)), label] = 1
        squares = ((chances - wanted) ** 2).sum(axis=1)
        classes = chances.shape[1]
    return LossSums(len(squares), total=exact_sum(squares), classes=classes)


def binned(y: Any, p: Any, *, bins: int, by: str) -> LossSums:
    """Add up probabilities by bins of equal width, or with equally many rows.

    A bin includes its upper bound, and the lowest bin both of its bounds.
    """
    truth, chances = _binary(y), _floats(p, "p")
    _check_chances(chances, len(truth))
    edges = np.linspace(0, 1, bins + 1)
    if by == "count" and len(chances):
        edges = np.unique(np.quantile(chances, edges))
    number = np.clip(np.searchsorted(edges, chances, side="left") - 1, 0, None)
    bins_by_number = {}
    for bin_number in np.unique(number).tolist():
        inside = number == bin_number
        hits = int(np.count_nonzero(truth[inside]))
        total = exact_sum(chances[inside])
        bins_by_number[bin_number] = LossSums(
            int(np.count_nonzero(inside)), total=total, hits=hits
        )
    return LossSums(len(truth), bins=bins_by_number, edges=tuple(edges.tolist()))


def squares_of_gaps(y: Any, predicted: Any) -> LossSums:
    """Add up squared distances."""
    errors = _gaps(y, predicted)
    return LossSums(len(errors), total=_squares(errors))


def _squares(values: Floats) -> Exact:
    """Add up squares, if none of them overflows or underflows."""
    exponent = np.frexp(values)[1]
    scale = (exponent + _FAR // 2) // _FAR * _FAR
    total: Exact = Fraction(0)
    for power in np.unique(scale).tolist():
        scaled = np.ldexp(values[scale == power], -power)
        part = exact_sum(scaled * scaled)
        if isinstance(part, Fraction):
            part *= Fraction(4) ** power
        total = added(total, part)
    return total


def _exact_squares(values: Floats) -> Exact:
    """Add up squares and what rounding takes from each, so that none is lost."""
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        square = values * values
        error = product_error(values, values, square)
    if not np.isfinite(error).all():
        return _squares(values)
    return added(exact_sum(square), exact_sum(error))


def gaps_and_ratings(y: Any, predicted: Any) -> LossSums:
    """Add up distances and ratings, and the squares of both.

    The bins GAPS and RATINGS have the sums, and in their own bin SQUARES the squares.
    """
    errors = _gaps(y, predicted)
    columns = {GAPS: errors, RATINGS: _floats(y, "y")}
    bins = {
        which: LossSums(
            len(column),
            total=exact_sum(column),
            bins={SQUARES: LossSums(len(column), total=_exact_squares(column))},
        )
        for which, column in columns.items()
    }
    return LossSums(len(errors), bins=bins)


def gaps(y: Any, predicted: Any) -> LossSums:
    """Add up distances."""
    errors = _gaps(y, predicted)
    return LossSums(len(errors), total=exact_sum(np.abs(errors)))


def _gaps(y: Any, predicted: Any) -> Floats:
    truth, guess = _floats(y, "y"), _floats(predicted, "predicted")
    for column, name in ((truth, "y"), (guess, "predicted")):
        if column.ndim != 1:
            msg = f"{name} has {column.ndim} dimensions; expected one column"
            raise DataError(msg)
    _check_length(len(truth), len(guess), "predicted")
    with np.errstate(over="ignore"):
        return guess - truth


def _of_truth(y: Any, p: Any) -> tuple[Floats, int | None]:
    """Return the probability given to what happened, and the number of classes."""
    chances = _floats(p, "p")
    if chances.ndim == 1:
        truth = _binary(y)
        _check_chances(chances, len(truth))
        return np.where(truth == 1, chances, 1 - chances), None
    label = _classes(y, chances)
    return chances[np.arange(len(label)), label], chances.shape[1]


def _floats(values: Any, name: str) -> Floats:
    """Return numbers; refuse values that are missing or not numbers."""
    if type(values).__module__.startswith("polars") and hasattr(values, "columns"):
        need_threads()  # polars makes an array of several columns with them
    values = off_torch(values)
    try:
        if isinstance(values, np.ma.MaskedArray):
            values = np.ma.filled(values.astype(np.float64), np.nan)
        raw = np.asarray(values)
        if raw.dtype.kind not in "fiubO" or raw.ndim == 0:
            raise TypeError  # noqa: TRY301 - one message for all that is no column
        if raw.ndim == 2 and raw.shape[1] == 1:  # noqa: PLR2004 - as models return it
            raw = raw[:, 0]
        # In the order of rows, so that sums over classes do not depend on the layout.
        numbers = np.ascontiguousarray(raw, dtype=np.float64)
    except (TypeError, ValueError, OverflowError, RuntimeError):
        msg = f"{name} must be a column of numbers, got {_sample(values)}"
        raise DataError(msg) from None
    bad = ~np.isfinite(numbers)
    if bad.any():
        first = int(np.flatnonzero(bad.ravel())[0])
        msg = (
            f"{name} has {count(int(bad.sum()), 'non-finite value')}, the first at row "
            f"{first // max(numbers.shape[-1], 1) if numbers.ndim > 1 else first}"
        )
        raise DataError(msg)
    return numbers


def _sample(values: Any) -> str:
    text = " ".join(repr(values).split())
    return text if len(text) < 60 else f"{text[:57]}..."  # noqa: PLR2004 - a line


def _binary(y: Any) -> Floats:
    truth = _floats(y, "y")
    if truth.ndim != 1:
        msg = f"y has {truth.ndim} dimensions; expected one column of 0 and 1"
        raise DataError(msg)
    odd = (truth != 0) & (truth != 1)
    if odd.any():
        row = int(np.flatnonzero(odd)[0])
        msg = f"y must be 0 or 1, got {truth[row]:g} at row {row}"
        raise DataError(msg)
    return truth


def _check_chances(chances: Floats, n: int) -> None:
    _check_column(chances)
    _check_length(n, len(chances), "p")
    _refuse_outside(chances)


def _check_column(chances: Floats) -> None:
    if chances.ndim != 1:
        msg = f"p has {chances.ndim} dimensions; expected one column"
        raise DataError(msg)


def _refuse_outside(chances: Floats) -> None:
    odd = (chances < 0) | (chances > 1)
    if odd.any():
        cell = int(np.flatnonzero(odd.ravel())[0])
        msg = f"p must be between 0 and 1, got {chances.ravel()[cell]:g}"
        raise DataError(msg)


def _check_length(n: int, other: int, name: str) -> None:
    if n != other:
        msg = f"y has {count(n, 'row')} and {name} has {other}; they are paired by row"
        raise DataError(msg)


def _classes(y: Any, chances: Floats) -> Ints:
    """Return the numbers of classes, and check the matrix of their probabilities."""
    label = _floats(y, "y")
    _check_length(len(label), len(chances), "p")
    if chances.ndim != 2:  # noqa: PLR2004 - rows and classes
        msg = f"p has {chances.ndim} dimensions; expected rows and classes"
        raise DataError(msg)
    _refuse_outside(chances)
    total = chances.sum(axis=1)
    worst = int(np.abs(total - 1).argmax()) if len(total) else 0
    if len(total) and abs(total[worst] - 1) > _SUM:
        msg = f"the probabilities of row {worst} add up to {total[worst]:g}, not to 1"
        raise DataError(msg)
    odd = (label != np.floor(label)) | (label < 0) | (label >= chances.shape[1])
    if label.ndim != 1 or odd.any():
        msg = f"y must hold class numbers, 0 to {chances.shape[1] - 1}"
        raise DataError(msg)
    return label.astype(np.int64)
