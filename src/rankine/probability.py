"""Predicted probabilities and ratings against what happened.

All take two columns of the same length, arrays, lists or columns of a frame, and return
a number that also carries how many rows it is of.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from rankine.checks import check_choice, check_count, check_number
from rankine.errors import DataError
from rankine.words import count

if TYPE_CHECKING:
    import polars as pl

    from rankine.arrays import Floats, Ints

_EPS = 1e-15
_SUM = 1e-6
"""How far the probabilities of all classes may be from 1 together."""


class Loss(float):
    """A number, and how many rows it is of.

    Attributes:
        n: the number of rows.
        clipped: how many probabilities of what happened were below eps, and were taken
            to be eps.
    """

    n: int
    clipped: int

    def __new__(cls, value: float, n: int, clipped: int = 0) -> Self:
        """Make a float with two numbers more."""
        made = super().__new__(cls, value)
        made.n = n
        made.clipped = clipped
        return made

    def __reduce__(self) -> tuple[Any, ...]:
        """Return what it is made of, to copy it."""
        return type(self), (float(self), self.n, self.clipped)


def cross_entropy(y: Any, p: Any, *, eps: float = _EPS) -> Loss:
    """Cross entropy of predicted probabilities, or log loss.

    Formula:
        binary: -1/n sum [ y ln p + (1 - y) ln(1 - p) ], p the probability of y = 1
        several classes: -1/n sum ln p of the class that it was

    Args:
        y: what happened: 0 and 1, or False and True; or the number of a class.
        p: the probability of 1; or a matrix with a row per case and a column per class.
        eps: the smallest probability of what happened; smaller ones are taken to be
            this, and counted.

    Returns:
        From 0, smaller is better; `clipped` says how many probabilities were raised to
        eps, for each of which the number depends on eps alone.

    References:
        I. J. Good: Rational decisions. Journal of the Royal Statistical Society B 1952.

    Examples:
        >>> round(cross_entropy([1, 0], [0.8, 0.4]), 4)
        0.367
        >>> round(-(math.log(0.8) + math.log(1 - 0.4)) / 2, 4)
        0.367
    """
    check_number("eps", eps, above=0, below=0.5)
    right = _of_truth(y, p)
    _refuse_nothing(len(right))
    clipped = int(np.count_nonzero(right < eps))
    losses = -np.log(np.maximum(right, eps))
    return Loss(math.fsum(losses.tolist()) / len(right), len(right), clipped)


def normalized_entropy(
    y: Any, p: Any, *, baseline: float | None = None, eps: float = _EPS
) -> Loss:
    """Normalised entropy: cross entropy over that of always predicting the mean rate.

    Formula:
        NE = CE(model) / CE(baseline)

    Args:
        y: what happened, 0 and 1.
        p: the probability of 1.
        baseline: the rate that is always predicted instead; the mean of y if not given.
        eps: as in `cross_entropy`.

    Returns:
        From 0, smaller is better; 1 is as good as the baseline; nan if the baseline is
        never wrong, as where all y are equal.

    References:
        X. He et al.: Practical lessons from predicting clicks on ads at Facebook.
        ADKDD 2014.

    Examples:
        >>> round(normalized_entropy([1, 0], [0.8, 0.4]), 4)
        0.5295
    """
    found = cross_entropy(y, p, eps=eps)
    truth = _binary(y)
    if baseline is None:
        rate = float(truth.mean())
    else:
        check_number("baseline", baseline, above=0, below=1)
        rate = float(baseline)
    if rate in {0.0, 1.0}:
        return Loss(math.nan, found.n, found.clipped)
    mean = float(truth.mean())
    base = -(mean * math.log(rate) + (1 - mean) * math.log1p(-rate))
    if base == 0:
        return Loss(math.nan, found.n, found.clipped)
    return Loss(found / base, found.n, found.clipped)


def normalized_cross_entropy(
    y: Any, p: Any, *, baseline: float | None = None, eps: float = _EPS
) -> Loss:
    """Normalised cross entropy: the share of the baseline's loss that a model saves.

    Formula:
        NCE = 1 - CE(model) / CE(baseline), the relative information gain

    Args:
        y: what happened, 0 and 1.
        p: the probability of 1.
        baseline: the rate that is always predicted instead; the mean of y if not given.
        eps: as in `cross_entropy`.

    Returns:
        At most 1, larger is better; 0 is as good as the baseline, and below 0 worse;
        nan where `normalized_entropy` is.

    Examples:
        >>> round(normalized_cross_entropy([1, 0], [0.8, 0.4]), 4)
        0.4706
        >>> normalized_cross_entropy([1, 0], [0.2, 0.9]) < 0
        True
    """
    found = normalized_entropy(y, p, baseline=baseline, eps=eps)
    return Loss(1 - found, found.n, found.clipped)


def brier(y: Any, p: Any) -> Loss:
    """Brier score: the mean squared distance of probabilities from what happened.

    Formula:
        binary: 1/n sum (p - y)^2
        several classes: 1/n sum over rows and classes of (p - [it was this class])^2

    Args:
        y: what happened: 0 and 1; or the number of a class.
        p: the probability of 1; or a matrix with a row per case and a column per class.

    Returns:
        0, the best, to 1; to 2 with several classes, of which two count twice as much
        as one column of probabilities does.

    References:
        G. W. Brier: Verification of forecasts expressed in terms of probability.
        Monthly Weather Review 1950.

    Examples:
        >>> round(brier([1, 0], [0.8, 0.4]), 4), round((0.2**2 + 0.4**2) / 2, 4)
        (0.1, 0.1)
    """
    chances = _floats(p, "p")
    if chances.ndim == 1:
        truth = _binary(y)
        _check_chances(chances, len(truth))
        squares = (chances - truth) ** 2
    else:
        label = _classes(y, chances)
        wanted = np.zeros_like(chances)
        wanted[np.arange(len(label)), label] = 1
        squares = ((chances - wanted) ** 2).sum(axis=1)
    _refuse_nothing(len(squares))
    return Loss(math.fsum(squares.tolist()) / len(squares), len(squares))


class CalibrationError(float):
    """Expected calibration error, with the bins that it is made of.

    Attributes:
        n: the number of rows.
        bins: a frame with a row per bin that has rows: its bounds, how many rows are in
            it, their mean probability, and the share of them in which it happened.
        largest: the largest gap of a bin.
    """

    n: int
    bins: pl.DataFrame
    largest: float

    def __new__(cls, value: float, n: int, bins: pl.DataFrame, largest: float) -> Self:
        """Make a float with a frame."""
        made = super().__new__(cls, value)
        made.n, made.bins, made.largest = n, bins, largest
        return made

    def __reduce__(self) -> tuple[Any, ...]:
        """Return what it is made of, to copy it."""
        return type(self), (float(self), self.n, self.bins, self.largest)


def expected_calibration_error(
    y: Any, p: Any, *, bins: int = 10, by: str = "width"
) -> CalibrationError:
    """Expected calibration error: how far probabilities are from rates, bin by bin.

    Formula:
        ECE = sum_b n_b / n |mean p in b - rate of y in b|

    Args:
        y: what happened, 0 and 1.
        p: the probability of 1.
        bins: how many there are.
        by: bins of equal ``width``, or with equally many rows (``count``).

    Returns:
        0, the best, to 1; it depends on the bins, which come with it.

    References:
        M. P. Naeini, G. F. Cooper, M. Hauskrecht: Obtaining well calibrated
        probabilities using Bayesian binning. AAAI 2015.

    Examples:
        >>> found = expected_calibration_error(
        ...     [1, 0, 1, 1], [0.9, 0.1, 0.8, 0.3], bins=2
        ... )
        >>> round(found, 4), found.bins["n"].to_list()
        (0.225, [2, 2])
    """
    import polars as pl  # noqa: PLC0415 - polars is imported when it is used

    check_count("bins", bins, least=1)
    check_choice("by", by, ("width", "count"))
    truth, chances = _binary(y), _floats(p, "p")
    _check_chances(chances, len(truth))
    _refuse_nothing(len(truth))
    if by == "width":
        edges = np.linspace(0, 1, bins + 1)
    else:
        edges = np.unique(np.quantile(chances, np.linspace(0, 1, bins + 1)))
    # The upper bound belongs to a bin, and the lowest bin has both of its bounds.
    number = np.clip(np.searchsorted(edges, chances, side="left") - 1, 0, None)
    n = np.bincount(number, minlength=max(len(edges) - 1, 1))
    has = np.flatnonzero(n)
    mean = np.bincount(number, chances, minlength=len(n))[has] / n[has]
    rate = np.bincount(number, truth, minlength=len(n))[has] / n[has]
    gap = np.abs(mean - rate)
    frame = pl.DataFrame(
        {
            "low": edges[has],
            "high": edges[np.minimum(has + 1, len(edges) - 1)],
            "n": n[has],
            "predicted": mean,
            "observed": rate,
        }
    )
    value = math.fsum((n[has] / len(truth) * gap).tolist())
    return CalibrationError(value, len(truth), frame, float(gap.max()))


def rmse(y: Any, predicted: Any) -> Loss:
    """Root mean squared error of predicted ratings.

    Formula:
        sqrt(1/n sum (predicted - y)^2)

    Args:
        y: the ratings.
        predicted: what was predicted for them.

    Returns:
        From 0, smaller is better.

    Examples:
        >>> rmse([3, 5], [4, 4])
        1.0
    """
    gaps = _gaps(y, predicted)
    # Scaled, so that no square is too large.
    scale = float(np.abs(gaps).max()) or 1.0
    mean = math.fsum(((gaps / scale) ** 2).tolist()) / len(gaps)
    return Loss(scale * math.sqrt(mean), len(gaps))


def mae(y: Any, predicted: Any) -> Loss:
    """Mean absolute error of predicted ratings.

    Formula:
        1/n sum |predicted - y|

    Args:
        y: the ratings.
        predicted: what was predicted for them.

    Returns:
        From 0, smaller is better.

    Examples:
        >>> mae([3, 5], [4, 3])
        1.5
    """
    gaps = _gaps(y, predicted)
    return Loss(math.fsum(np.abs(gaps).tolist()) / len(gaps), len(gaps))


def _gaps(y: Any, predicted: Any) -> Floats:
    truth, guess = _floats(y, "y"), _floats(predicted, "predicted")
    for column, name in ((truth, "y"), (guess, "predicted")):
        if column.ndim != 1:
            msg = f"{name} has {column.ndim} dimensions; expected one column"
            raise DataError(msg)
    _check_length(len(truth), len(guess), "predicted")
    _refuse_nothing(len(truth))
    return guess - truth


def _of_truth(y: Any, p: Any) -> Floats:
    """Return the probability that was given to what happened, per row."""
    chances = _floats(p, "p")
    if chances.ndim == 1:
        truth = _binary(y)
        _check_chances(chances, len(truth))
        found: Floats = np.where(truth == 1, chances, 1 - chances)
        return found
    label = _classes(y, chances)
    chosen: Floats = chances[np.arange(len(label)), label]
    return chosen


def _floats(values: Any, name: str) -> Floats:
    """Return numbers; what is missing or is no number is refused."""
    try:
        raw = np.asarray(values)
        if raw.dtype.kind not in "fiubO" or raw.ndim == 0:
            raise TypeError  # noqa: TRY301 - one message for all that is no column
        made = raw.astype(np.float64)
    except (TypeError, ValueError):
        msg = f"{name} must be a column of numbers, got {_sample(values)}"
        raise DataError(msg) from None
    bad = ~np.isfinite(made)
    if bad.any():
        at = int(np.flatnonzero(bad.ravel())[0])
        msg = (
            f"{name} has {count(int(bad.sum()), 'value')} without a finite number, the "
            f"first at row {at // max(made.shape[-1], 1) if made.ndim > 1 else at}"
        )
        raise DataError(msg)
    return made


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
        at = int(np.flatnonzero(odd)[0])
        msg = f"y must be 0 or 1, got {truth[at]:g} at row {at}"
        raise DataError(msg)
    return truth


def _check_chances(chances: Floats, n: int) -> None:
    if chances.ndim != 1:
        msg = f"p has {chances.ndim} dimensions; expected one column"
        raise DataError(msg)
    _check_length(n, len(chances), "p")
    _refuse_outside(chances)


def _refuse_outside(chances: Floats) -> None:
    odd = (chances < 0) | (chances > 1)
    if odd.any():
        at = int(np.flatnonzero(odd.ravel())[0])
        msg = f"p must be between 0 and 1, got {chances.ravel()[at]:g}"
        raise DataError(msg)


def _check_length(n: int, other: int, name: str) -> None:
    if n != other:
        msg = f"y has {count(n, 'row')} and {name} has {other}; they are paired by row"
        raise DataError(msg)


def _refuse_nothing(n: int) -> None:
    if n == 0:
        msg = "there are no rows"
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
        msg = f"y must be numbers of classes, 0 to {chances.shape[1] - 1}"
        raise DataError(msg)
    return label.astype(np.int64)
