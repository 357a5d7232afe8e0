"""The delete-one jackknife: differences of numbers computed from all users together."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from rankine._stats.flips import NOTHING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rankine._base.arrays import Bools, Floats, Ints


@dataclass(frozen=True, eq=False)
class Whole:
    """A number computed from all users of a system together, for several systems.

    Attributes:
        values: the number of each system.
        without: by system, the number without each user; nan for a user that the system
            does not have, infinite where it is undefined.
    """

    values: Floats
    without: Floats

    @property
    def n(self) -> Ints:
        """How many users each system has."""
        known: Ints = np.count_nonzero(~np.isnan(self.without), axis=1)
        return known


@dataclass(frozen=True, eq=False)
class Jackknife:
    """Differences of two systems in numbers of all users, an entry per hypothesis.

    Attributes:
        whole: which hypotheses are about such numbers; the others have nan.
        n: how many users at least one of the two systems has.
        n_moved: how many of them change the difference when they are left out.
        difference: the number of the second system minus that of the first.
        error: its standard error; nan with fewer than two users, and where leaving out
            any user does not change a difference that is not 0.

    References:
        B. Efron, C. Stein: The jackknife estimate of variance. Annals of Statistics
        1981. https://doi.org/10.1214/aos/1176345462
    """

    whole: Bools
    n: Ints
    n_moved: Ints
    difference: Floats
    error: Floats

    def p(self) -> Floats:
        """Return two-sided p-values of the normal distribution."""
        from scipy.special import ndtr  # noqa: PLC0415 - scipy is slow to import

        same = self.difference == 0
        with np.errstate(divide="ignore", invalid="ignore"):
            p: Floats = 2 * ndtr(-np.abs(self.difference / self.error))
        return np.where(same & (self.error == 0), 1.0, p)

    def interval(self, confidence: float | Floats) -> tuple[Floats, Floats]:
        """Return the bounds of the normal interval of each difference.

        The confidence is one for all of them, or one for each.
        """
        from scipy.special import ndtri  # noqa: PLC0415 - scipy is slow to import

        reach = ndtri(0.5 + confidence / 2) * self.error
        return self.difference - reach, self.difference + reach

    def equivalent_p(self, margin: Floats) -> Floats:
        """Return the larger p-value against a difference of each margin or beyond."""
        from scipy.special import ndtr  # noqa: PLC0415 - scipy is slow to import

        with np.errstate(divide="ignore", invalid="ignore"):
            p: Floats = ndtr((np.abs(self.difference) - margin) / self.error)
        return p


def jackknife(wholes: Mapping[int, Whole], metric: Ints, a: Ints, b: Ints) -> Jackknife:
    """Compare systems by their numbers without each user in turn.

    The variance of a difference is (n - 1) / n times the sum of (d_u - mean d)^2, where
    d_u is the difference without user u, in both systems at once. A user that a system
    does not have cannot be left out of it: its number stays.

    Args:
        wholes: by metric, the numbers of each system.
        metric: the number of the metric of each hypothesis.
        a: that of the first system.
        b: that of the second.
    """
    whole = np.isin(metric, list(wholes))
    n, n_moved = np.zeros((2, len(metric)), dtype=np.int64)
    difference, error = np.full((2, len(metric)), np.nan)
    for row in np.flatnonzero(whole).tolist():
        pair = [a[row], b[row]]
        of_metric = wholes[int(metric[row])]
        numbers = _difference(of_metric.values[pair], of_metric.without[pair])
        n[row], n_moved[row], difference[row], error[row] = numbers
    return Jackknife(whole, n, n_moved, difference, error)


def _difference(values: Floats, without: Floats) -> tuple[int, int, float, float]:
    """Return how many users there are and matter, the difference, and its error."""
    known = ~np.isnan(without).all(axis=0)
    left = np.where(np.isnan(without), values[:, None], without)[:, known]
    difference, n, error = float(values[1] - values[0]), left.shape[1], math.nan
    difference = 0.0 if abs(difference) <= NOTHING else difference
    with np.errstate(invalid="ignore"):  # where nothing is left
        d = left[1] - left[0]
        n_moved = int(np.count_nonzero(~(np.abs(d - difference) <= NOTHING)))
        if n > 1 and (n_moved or difference == 0):
            error = math.sqrt((n - 1) / n * float(((d - d.mean()) ** 2).sum()))
    return n, n_moved, difference, 0.0 if error <= NOTHING else error
