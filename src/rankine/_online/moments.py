"""Means and products of sums per user, from which effects and their spread follow."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rankine._base.arrays import Floats

SIDES = 4
"""Numerator and denominator, and both before the test."""
_CLOSE = 1e-12
"""Values whose relative difference is below this count as equal."""
_ROUNDED = 16 * float(np.finfo(np.float64).eps)
"""How far a sum of products may be off, for each root of the number of users."""
_PIECE = 4096


@dataclass(frozen=True, eq=False)
class Moments:
    """What is known about the users of an arm, or of many arms along the first axis.

    Attributes:
        n: how many users.
        mean: the means of y, x, y0 and x0 over users.
        scatter: sums of products of their deviations from these means.
        active: how many users have a numerator other than 0.
    """

    n: Floats
    mean: Floats
    scatter: Floats
    active: Floats

    @classmethod
    def of(cls, columns: list[Floats | None], n: int) -> Moments:
        """Compute them from columns; a missing one is 1 for every user."""
        mean, scatter = np.ones(SIDES), np.zeros((SIDES, SIDES))
        places = [place for place, column in enumerate(columns) if column is not None]
        if n and places:
            apart = np.array([columns[place] for place in places], np.float64)
            mean[places] = apart.mean(axis=1)
            apart -= mean[places, None]
            scatter[np.ix_(places, places)] = _products(apart)
        y = columns[0]
        active = 0 if y is None else np.count_nonzero(y)
        return cls(np.array(float(n)), mean, scatter, np.array(float(active)))

    @classmethod
    def merged(cls, parts: Sequence[Moments]) -> Moments:
        """Return those of the users of all parts; no user may be in two."""
        n = np.array([part.n for part in parts])
        means = np.array([part.mean for part in parts])
        mean = n @ means / max(n.sum(), 1)
        gap = means - mean
        between = np.einsum("i,ij,ik", n, gap, gap)
        scatter = np.sum([part.scatter for part in parts], axis=0) + between
        active = np.sum([part.active for part in parts], axis=0)
        return cls(np.array(n.sum()), mean, scatter, active)

    def plus(self, other: Moments) -> Moments:
        """Return those of the users of both; no user may be in both."""
        n = self.n + other.n
        with np.errstate(invalid="ignore", divide="ignore"):
            share = np.where(n > 0, other.n / n, 0)[..., None]
        gap = other.mean - self.mean
        between = (self.n[..., None] * share)[..., None] * _outer(gap, gap)
        return Moments(
            n,
            self.mean + share * gap,
            self.scatter + other.scatter + between,
            self.active + other.active,
        )

    def product(self, left: Floats, right: Floats) -> Floats:
        """Return the covariance of two weighted sums of the columns."""
        with np.errstate(invalid="ignore", divide="ignore"):
            spread = np.einsum("...i,...ij,...j", left, self.scatter, right)
            return np.where(self.n > 1, spread / (self.n - 1), np.nan)

    def variance(self, weights: Floats) -> Floats:
        """Return the variance of a weighted sum of the columns.

        It is 0 if it is no larger than what rounding makes of values that do not vary.
        """
        size = np.abs(weights)
        spread = self.product(weights, weights)
        with np.errstate(invalid="ignore", divide="ignore"):
            parts = np.einsum("...i,...ij,...j", size, np.abs(self.scatter), size)
            noise = _ROUNDED * np.sqrt(self.n) * parts / (self.n - 1)
            noise += (_CLOSE * np.einsum("...i,...i", size, np.abs(self.mean))) ** 2
            return np.where(spread <= noise, 0.0, spread)

    def ratio(self, before: int = 0) -> tuple[Floats, Floats]:
        """Return a ratio of means, and the weights of a user's influence on it.

        The influence is (y - R x) / mean x, a weighted sum of the columns. Both are nan
        where the mean of x is not above 0.
        """
        y, x = self.mean[..., 2 * before], self.mean[..., 2 * before + 1]
        x = np.where(x > 0, x, np.nan)
        weights = np.zeros(self.mean.shape)
        ratio: Floats = y / x
        weights[..., 2 * before] = 1 / x
        weights[..., 2 * before + 1] = -ratio / x
        return ratio, weights


def _products(rows: Floats) -> Floats:
    """Return the sums of products of all pairs of rows.

    It works in pieces that BLAS does not share among threads, as these wait for each
    other on busy machines; and it multiplies rows with a copy, as BLAS is far slower if
    both are the same.
    """
    copy, whole = rows.copy(), rows.shape[1] // _PIECE * _PIECE
    left, right = (
        side[:, :whole].reshape(len(rows), -1, _PIECE).transpose(1, 0, 2)
        for side in (rows, copy)
    )
    pieces = (left @ right.transpose(0, 2, 1)).sum(axis=0)
    products: Floats = pieces + rows[:, whole:] @ copy[:, whole:].T
    return products


def _outer(left: Floats, right: Floats) -> Floats:
    outer: Floats = left[..., :, None] * right[..., None, :]
    return outer
