"""Tests of paired differences, of which d = b - a has one per query."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from rankine._base.records import cached_property
from rankine._stats.flips import NOTHING, flipped_p
from rankine._stats.intervals import Interval
from rankine._stats.resamples import resampled_t

if TYPE_CHECKING:
    from rankine._base.arrays import AnyArray, Bools, Floats, Ints

DRAWS = 100_000
_FEW, _SOME = 13, 50
"""Differences up to which scipy's Wilcoxon is exact: with ties, and without."""


@dataclass(frozen=True, eq=False)
class Differences:
    """Paired differences of several hypotheses over the same queries.

    With strata, a mean is that of the means of the strata, which count the same. Its
    variance is the sum of theirs, over the square of their number, and its degrees of
    freedom are Satterthwaite's.

    Attributes:
        values: a row of differences per hypothesis, nan for a query that is not paired.
        weights: how much each query counts; None if all count the same.
        strata: the number of the stratum of each query, from 0 on, in rising order;
            None if there are none.

    References:
        W. G. Cochran: Sampling techniques, 3rd edition, 1977, chapter 5, with the
        same share for every stratum.
        F. E. Satterthwaite: An approximate distribution of estimates of variance
        components. Biometrics Bulletin 1946. https://doi.org/10.2307/3002019
    """

    values: Floats
    weights: Floats | None = None
    strata: Ints | None = None

    @cached_property
    def paired(self) -> Bools:
        """Which queries each hypothesis pairs; a weight of 0 leaves one out.

        Without a query in each stratum, there is no mean, and none is paired.
        """
        paired = ~np.isnan(self.values)
        if self.weights is not None:
            paired &= self.weights > 0
        if self.strata is not None:
            paired &= (self._by_stratum(paired) > 0).all(axis=1, keepdims=True)
        return paired

    def _by_stratum(self, rows: AnyArray) -> Floats:
        """Add up rows in each stratum: a row per hypothesis, a column per stratum."""
        begins = np.flatnonzero(np.diff(self.strata, prepend=-1))  # type: ignore[type-var,arg-type]
        sums: Floats = np.add.reduceat(rows.astype(np.float64), begins, axis=1)
        return sums

    @cached_property
    def d(self) -> Floats:
        """The differences, with 0 for tiny ones and for queries that are not paired."""
        d = np.where(self.paired, self.values, 0.0)
        d[np.abs(d) <= NOTHING] = 0
        return d

    @cached_property
    def n(self) -> Ints:
        """How many queries each hypothesis pairs."""
        return _count(self.paired)

    @cached_property
    def n_moved(self) -> Ints:
        """How many of these differ."""
        return _count(self.d)

    @cached_property
    def share(self) -> Floats:
        """What each query counts, with a mean of 1 over those that are paired."""
        if self.weights is None and self.strata is None:
            return self.paired.astype(np.float64)
        weight = np.where(self.paired, 1.0 if self.weights is None else self.weights, 0)
        if self.strata is None:
            total = np.where(self.n > 0, weight.sum(axis=1), 1.0)[:, None]
        else:
            totals = self._by_stratum(weight) * np.max(self.strata + 1)
            total = np.where(self.n > 0, totals.T, 1.0).T[:, self.strata]
        share: Floats = weight * (self.n[:, None] / total)
        return share

    @cached_property
    def flippable(self) -> Floats:
        """What changes its sign under a flip: a difference by its weight."""
        plain = self.weights is None and self.strata is None
        return self.d if plain else self.d * self.share

    @cached_property
    def mean(self) -> Floats:
        """The mean difference of each hypothesis; nan without a query."""
        mean: Floats = self.flippable.sum(axis=1) / _or_nan(self.n)
        return mean

    @cached_property
    def centred(self) -> Floats:
        """What the variance of a mean is that of: w (d - mean) / mean w, else 0.

        In strata, the mean is that of the stratum.
        """
        mean = self.mean[:, None]
        if self.strata is not None:
            share = self._by_stratum(self.share)
            mean = self._by_stratum(self.flippable) / np.where(share > 0, share, np.nan)
            mean = mean[:, self.strata]
        centred = np.where(self.paired, self.share * (self.d - mean), 0.0)
        centred[np.abs(centred) <= NOTHING] = 0  # where all are the same
        return centred

    @cached_property
    def deviation(self) -> Floats:
        """The standard deviation of the differences; nan with fewer than two.

        In strata, it is the one that has the same standard error in a plain sample.
        """
        if self.strata is not None:
            deviation: Floats = np.sqrt(self._variances.sum(axis=1) * self.n)
            return deviation
        squares: Floats = (self.centred**2).sum(axis=1)
        return np.sqrt(squares / _or_nan(self.n - 1))

    @cached_property
    def _variances(self) -> Floats:
        """The part of each stratum in the variance of the mean; nan with one query."""
        n = self._by_stratum(self.paired)
        of_one = self._by_stratum(self.centred**2) / _or_nan(n - 1)
        variances: Floats = n * of_one / _or_nan(self.n)[:, None] ** 2
        return variances

    @cached_property
    def df(self) -> Floats:
        """The degrees of freedom of the standard error; nan where it has none."""
        if self.strata is None:
            return _or_nan(self.n - 1)
        n, parts = _or_nan(self._by_stratum(self.paired) - 1), self._variances
        total = parts.sum(axis=1)
        below = (parts**2 / n).sum(axis=1)
        return np.where(total == 0, n.sum(axis=1), _over(total**2, below))

    @property
    def error(self) -> Floats:
        """The standard error of the mean."""
        return self.deviation / np.sqrt(_or_nan(self.n))

    @cached_property
    def t(self) -> Floats:
        """Student's t of each mean; infinite where all differences are the same."""
        return _over(self.mean, self.error)

    @property
    def wins(self) -> Ints:
        """How many queries are better with the second system."""
        return _count(self.d > 0)

    @property
    def losses(self) -> Ints:
        """How many are worse."""
        return _count(self.d < 0)

    @property
    def superiority(self) -> Floats:
        """The probability of superiority: P(d > 0) + P(d = 0) / 2."""
        half = (self.n - self.n_moved) / 2
        return (self.wins + half) / _or_nan(self.n)

    @property
    def effect(self) -> Floats:
        """Cohen's dz: the mean over the standard deviation of the differences."""
        return _over(self.mean, self.deviation)

    def interval(self, confidence: float | Floats) -> tuple[Floats, Floats]:
        """Return the bounds of Student's interval of each mean.

        The confidence is one for all of them, or one for each.
        """
        from scipy.special import stdtrit  # noqa: PLC0415 - scipy is slow to import

        reach = stdtrit(self.df, 0.5 + confidence / 2) * self.error
        return self.mean - reach, self.mean + reach


def randomization_p(differences: Differences, draws: int, seed: int) -> Floats:
    """Return the p-values of means under random flips of signs."""
    p = flipped_p(differences.flippable, draws, seed)
    return np.where(differences.n > 0, p, np.nan)


def t_p(differences: Differences) -> Floats:
    """Return the two-sided p-values of Student's paired test.

    If no query differs, p is 1. If all differences are the same, they have no spread,
    and p is 0.
    """
    from scipy.special import stdtr  # noqa: PLC0415 - scipy is slow to import

    p = 2 * stdtr(differences.df, -np.abs(differences.t))
    return np.where((differences.n > 0) & (differences.n_moved == 0), 1.0, p)


def one_sided_p(
    differences: Differences, bound: float | Floats
) -> tuple[Floats, Floats]:
    """Return Student's p-values against mean <= bound, and against mean >= bound."""
    from scipy.special import stdtr  # noqa: PLC0415 - scipy is slow to import

    t = _over(differences.mean - bound, differences.error)
    return stdtr(differences.df, -t), stdtr(differences.df, t)


def signed_ranks(differences: Differences) -> Floats:
    """Return the rank of each difference by its size, with its sign.

    Differences of 0 have ranks too, and then count for neither side (Pratt).
    """
    from scipy.stats import rankdata  # noqa: PLC0415 - scipy is slow to import

    # To 12 digits, so that differences that are the same share their rank.
    d = np.round(differences.d, 12)
    ranks = np.zeros(d.shape)
    for row, values, paired in zip(ranks, d, differences.paired, strict=True):
        row[paired] = np.sign(values[paired]) * rankdata(np.abs(values[paired]))
    return ranks


def wilcoxon_p(differences: Differences) -> Floats:
    """Return the p-values of Wilcoxon's signed ranks, with Pratt's way with zeros.

    Exact for up to 13 differences, and up to 50 if no two are of one size and none is
    0; beyond, the normal approximation. These are the choices of scipy.
    """
    from scipy.special import ndtr  # noqa: PLC0415 - scipy is slow to import
    from scipy.stats import wilcoxon  # noqa: PLC0415

    ranks = signed_ranks(differences)
    # Under flips of signs, a sum of ranks has the sum of their squares as its variance.
    z = _over(ranks.sum(axis=1), np.sqrt((ranks**2).sum(axis=1)))
    p: Floats = 2 * ndtr(-np.abs(z))
    few = differences.n <= _FEW
    p[few] = flipped_p(ranks[few], 1 << _FEW, 0)
    for number in np.flatnonzero(~few & (differences.n <= _SOME)):
        signed = ranks[number][differences.paired[number]]
        if len(np.unique(np.abs(signed))) == len(signed) and signed.all():
            p[number] = wilcoxon(signed, method="exact").pvalue
    return np.where(differences.n > 0, p, np.nan)


def sign_p(differences: Differences) -> Floats:
    """Return the p-values of the sign test: wins against losses, without ties."""
    from scipy.special import bdtr  # noqa: PLC0415 - scipy is slow to import

    fewer = np.minimum(differences.wins, differences.losses)
    p = np.minimum(2 * bdtr(fewer.astype(float), differences.n_moved, 0.5), 1.0)
    return np.where(differences.n > 0, np.where(differences.n_moved, p, 1.0), np.nan)


def bootstrap_p(
    differences: Differences, draws: int, seed: int, confidence: float | Floats
) -> tuple[Floats, list[Interval]]:
    """Return p-values and intervals of means by the studentised bootstrap.

    Differences are shifted to a mean of 0, and the studentised means of resamples are
    compared with the one observed. The confidence is one for all intervals, or one for
    each.

    References:
        T. Sakai: Evaluating evaluation metrics based on the bootstrap. SIGIR 2006.
        https://doi.org/10.1145/1148170.1148261
    """
    p = np.full(len(differences.n), np.nan)
    bounds = [Interval(math.nan, math.nan)] * len(differences.n)
    tails = np.broadcast_to((1 - np.asarray(confidence)) / 2, len(p))
    for number, drawn in resampled_t(
        differences.centred, differences.share, differences.paired, draws, seed
    ):
        t, mean, error = (
            float(column[number])
            for column in (differences.t, differences.mean, differences.error)
        )
        if differences.n_moved[number] == 0:
            p[number] = 1.0
        else:
            # Rounding decides nothing, also where t would be 0 without it.
            extreme = np.abs(drawn) >= abs(t) * (1 - NOTHING) - NOTHING
            p[number] = (1 + np.count_nonzero(extreme)) / (1 + draws)
        # A resample of a single value has an infinite t, which cannot be averaged.
        tail = float(tails[number])
        low, high = np.quantile(drawn, [tail, 1 - tail], method="inverted_cdf")
        bounds[number] = Interval(mean - high * error, mean - low * error)
    return p, bounds


def _count(holds: AnyArray) -> Ints:
    """Count, for each row, where something holds, or is not 0."""
    counted: Ints = np.count_nonzero(holds, axis=1)
    return counted


def _or_nan(n: Ints | Floats) -> Floats:
    """Return numbers, with nan for those that are not above 0."""
    return np.where(n > 0, n, np.nan)


def _over(up: Floats, down: Floats) -> Floats:
    """Divide; nothing by nothing is 0, and nan stays nan."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where((up == 0) & (down == 0), 0.0, up / down)
