"""Means and products of sums per user in each arm, from which effects follow."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from rankine._online.codes import coded

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rankine._base.arrays import Floats
    from rankine._online.cohort import Cohort
    from rankine._online.measures import Measure

Place = tuple["Measure", str, str | None]
"""A metric, a variant, and a segment or None."""
SIDES = 4
"""Numerator and denominator, and both before the test."""
_CLOSE = 1e-12
"""Values whose relative difference is below this count as equal."""
_ROUNDED = 16 * float(np.finfo(np.float64).eps)
"""How far a sum of products may be off, for each root of the number of users."""
_PIECE = 4096
_BLOCK = 1 << 17
"""Users that are processed together: few enough for the cache of a core."""
_THREADS = 8


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


def by_arm(cohort: Cohort) -> tuple[dict[Place, Any], dict[str, int]]:
    """Return the moments of each metric and arm, overall and in each segment.

    For a quantile, these are its values. Also returns how many users each variant has.
    Blocks of users are merged in order, so that the number of threads does not matter.
    """
    names, codes = coded(cohort.frame["variant"])
    variants, codes = [*map(str, names)], codes - 1
    segments: Sequence[str | None] = [None]
    if cohort.is_segmented:
        names, inner = coded(cohort.frame["segment"])
        segments = [*map(str, names)]
        codes = codes.astype(np.int64) * len(segments) + inner - 1
    arms = [(variant, segment) for variant in variants for segment in segments]
    by_name = sorted(range(len(arms)), key=arms.__getitem__)
    columns, measures = cohort.columns(), cohort.measures

    def of_block(first: int) -> list[tuple[int, list[Any]]]:
        rows = slice(first, first + _BLOCK)
        order = codes[rows].argsort(kind="stable")
        numbers = np.arange(len(arms) + 1, dtype=codes.dtype)
        bounds = np.searchsorted(codes[rows], numbers, sorter=order).tolist()
        users = {name: column[rows].take(order) for name, column in columns.items()}
        parts = []
        for begin, end in pairwise(bounds):
            arm = {name: column[begin:end] for name, column in users.items()}
            parts.append(
                (end - begin, [measure.statistics(arm) for measure in measures])
            )
        return parts

    parts: dict[Place, list[Any]] = {}
    sizes: dict[str, int] = dict.fromkeys(variants, 0)
    for block in _in_order(of_block, range(0, len(codes), _BLOCK)):
        for number in by_name:  # so that sums do not depend on how names are numbered
            (variant, segment), (size, known) = arms[number], block[number]
            sizes[variant] += size
            for measure, values in zip(measures, known, strict=True):
                for part in {None, segment} if size else ():
                    parts.setdefault((measure, variant, part), []).append(values)
    return {
        place: np.concatenate(values) if place[0].quantile else Moments.merged(values)
        for place, values in parts.items()
    }, sizes


def _in_order(function: Any, begins: range) -> Any:
    if len(begins) == 1:
        return [function(begins[0])]
    with ThreadPoolExecutor(min(_THREADS, os.cpu_count() or 1)) as pool:
        return [*pool.map(function, begins)]
