"""Confidence intervals of a summary, from the values of the queries."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from rankine.checks import check_choice, check_count, check_number
from rankine.stats.summary import FLOOR

if TYPE_CHECKING:
    from rankine.arrays import Floats

METHODS = ("bootstrap", "t")
_CELLS = 1 << 22
"""Random numbers that are drawn at once."""


class Interval(NamedTuple):
    """The bounds of a confidence interval; nan where there is none."""

    low: float
    high: float


def check_interval(confidence: float, method: str, n_resamples: int) -> None:
    """Check what an interval is asked for with."""
    check_number("confidence", confidence, above=0, below=1)
    check_choice("method", method, METHODS)
    check_count("n_resamples", n_resamples, least=1)


def interval(
    values: Floats,
    *,
    confidence: float = 0.95,
    method: str = "bootstrap",
    how: str = "mean",
    parts: tuple[Floats, Floats] | None = None,
    n_resamples: int = 2000,
    seed: int = 0,
) -> Interval:
    """Return a confidence interval over queries.

    ``bootstrap`` draws queries with replacement and takes percentiles of the summary;
    ``t`` is the mean with Student's distribution. Fewer than two queries have none.

    >>> interval(np.array([0.0, 1.0]), method="t", confidence=0.5)
    Interval(low=0.0, high=1.0)
    """
    check_interval(confidence, method, n_resamples)
    check_count("seed", seed, least=0)
    keep = ~np.isnan(values)
    # In an order of their own, so that the order of queries does not matter.
    known = np.sort(values[keep])
    n = len(known)
    if n < 2:  # noqa: PLR2004 - one value has no spread
        return Interval(math.nan, math.nan)
    tail = (1 - confidence) / 2
    if parts is not None:
        up, down = parts[0][keep], parts[1][keep]
        order = np.lexsort((up, down))
        parts = up[order], down[order]
    if method == "t" and parts is not None:
        return _student_of_ratio(*parts, tail)
    if method == "t":
        return _student(known, tail, how)
    if parts is not None:
        draws = _resampled(np.stack(parts), n_resamples, seed)
        with np.errstate(divide="ignore", invalid="ignore"):
            found = draws[0] / draws[1]
    else:
        base = np.log(np.maximum(known, FLOOR)) if how == "geometric" else known
        (found,) = _resampled(base[None, :], n_resamples, seed)
        found = found * n if how == "sum" else found
        found = np.exp(found) if how == "geometric" else found
    # A sample of queries without anything to divide by says nothing.
    found = found[np.isfinite(found)]
    if len(found) == 0:
        return Interval(math.nan, math.nan)
    low, high = np.quantile(found, [tail, 1 - tail])
    return Interval(float(low), float(high))


def _resampled(rows: Floats, n_resamples: int, seed: int) -> Floats:
    """Return the means of each row over resampled columns, one per resample."""
    n = rows.shape[1]
    rng = np.random.default_rng(seed)
    means = np.empty((len(rows), n_resamples))
    step = max(1, _CELLS // n)
    for begin in range(0, n_resamples, step):
        end = min(begin + step, n_resamples)
        drawn = rng.integers(0, n, size=(end - begin, n))
        for row, values in enumerate(rows):
            means[row, begin:end] = values[drawn].mean(axis=1)
    return means


def _student(values: Floats, tail: float, how: str) -> Interval:
    from scipy.special import stdtrit  # noqa: PLC0415 - scipy is slow to import

    n = len(values)
    base = np.log(np.maximum(values, FLOOR)) if how == "geometric" else values
    mean, spread = float(base.mean()), float(base.std(ddof=1)) / math.sqrt(n)
    reach = float(stdtrit(n - 1, 1 - tail)) * spread
    low, high = mean - reach, mean + reach
    if how == "geometric":
        return Interval(math.exp(low), math.exp(high))
    scale = n if how == "sum" else 1
    return Interval(low * scale, high * scale)


def _student_of_ratio(numerator: Floats, denominator: Floats, tail: float) -> Interval:
    """Return the interval of a ratio of sums, by its linear approximation."""
    from scipy.special import stdtrit  # noqa: PLC0415 - scipy is slow to import

    n, down = len(numerator), float(denominator.mean())
    if down == 0:
        return Interval(math.nan, math.nan)
    ratio = float(numerator.mean()) / down
    rest = (numerator - ratio * denominator) / down
    reach = float(stdtrit(n - 1, 1 - tail)) * float(rest.std(ddof=1)) / math.sqrt(n)
    return Interval(ratio - reach, ratio + reach)
