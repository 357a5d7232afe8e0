"""The effect of a variant on a metric, from the moments of both arms."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from rankine._stats.sequences import always_p, half_width, rho_squared

if TYPE_CHECKING:
    from rankine._base.arrays import Bools, Floats
    from rankine._online.moments import Moments

LEAST_USERS, LEAST_ACTIVE = 1_000, 100
"""Users of an arm, and those with a numerator, that a confidence sequence needs."""


@dataclass(frozen=True, eq=False)
class Arm:
    """The estimate of one arm: a value, and the variance of a user's contribution."""

    value: Floats
    variance: Floats
    n: Floats

    @property
    def error2(self) -> Floats:
        """The variance of the value."""
        return self.variance / self.n


@dataclass(frozen=True, eq=False)
class Effect:
    """A difference between two arms, or many of them in one array.

    Attributes:
        a, b: the control and the variant.
        enough: whether there are enough users for a confidence sequence.
        theta: the weight of the values before the test; 0 without CUPED.
        before: the difference before the test; nan without CUPED.
        removed: the share of the variance that CUPED removed; nan without it.
        p_before: the p-value of the difference before the test.
    """

    a: Arm
    b: Arm
    enough: Bools
    theta: Floats
    before: Floats
    removed: Floats
    p_before: Floats

    @property
    def difference(self) -> Floats:
        """How much larger the value of the variant is."""
        return self.b.value - self.a.value

    @property
    def error(self) -> Floats:
        """The standard error of the difference."""
        return np.sqrt(self.a.error2 + self.b.error2)

    @property
    def n(self) -> Floats:
        """The number of users in both arms."""
        return self.a.n + self.b.n

    def bounds(self, alpha: float) -> tuple[Floats, Floats]:
        """Return Welch's interval of the difference."""
        reach = self.error * _t(_df(self.a.error2, self.b.error2, self), 1 - alpha / 2)
        return self.difference - reach, self.difference + reach

    def p(self) -> Floats:
        """Return Welch's p-value of no difference, two-sided."""
        return 2 * _tail(self.difference, self.a.error2, self.b.error2, self)

    def p_not_worse(
        self, *, size: float, relative: bool, higher: bool
    ) -> tuple[Floats, Floats]:
        """Return the one-sided p-value of a change for the worse by a margin or more.

        Also returns its z-value. A relative margin compares with the control times 1
        minus the margin, whose error counts too.
        """
        sign = 1 if higher else -1
        scale = 1 - sign * size if relative else 1.0
        moved = sign * (self.b.value - scale * self.a.value) + (0 if relative else size)
        first, second = scale**2 * self.a.error2, self.b.error2
        with np.errstate(invalid="ignore", divide="ignore"):
            error = np.sqrt(first + second)
            z = np.where(error > 0, moved / error, np.nan)
        lower = _tail(moved, first, second, self)
        return np.where(moved > 0, lower, 1 - lower), z

    def lift(self, alpha: float, method: str) -> tuple[Floats, Floats, Floats]:
        """Return the relative difference and its interval; nan for a control <= 0."""
        a, b = self.a, self.b
        with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
            known = a.value > 0
            ratio = np.where(known, b.value / a.value, np.nan)
            if method == "fieller":
                low, high = self._fieller(alpha)
            else:
                positive = np.where(ratio > 0, ratio, np.nan)
                first, second = a.error2 / a.value**2, b.error2 / b.value**2
                far = _t(_df(first, second, self), 1 - alpha / 2)
                reach = np.exp(np.sqrt(first + second) * far)
                low, high = positive / reach, positive * reach
        bounds = (np.where(known, bound, np.nan) - 1 for bound in (low, high))
        return (ratio - 1, *bounds)  # type: ignore[return-value]

    def _fieller(self, alpha: float) -> tuple[Floats, Floats]:
        """Return the ratios that the data do not reject; nan if they are unbounded."""
        a, b = self.a, self.b
        t2 = _t(_df(a.error2, b.error2, self), 1 - alpha / 2) ** 2
        square, middle = a.value**2 - t2 * a.error2, a.value * b.value
        # Not as middle^2 - square (b^2 - t^2 error^2), of which rounding leaves nothing
        # where errors are small.
        spread = a.error2 * b.value**2 + b.error2 * square
        bounded = square > 0
        root = np.sqrt(t2 * np.where(bounded, spread, np.nan))
        low, high = (middle - root) / square, (middle + root) / square
        return np.where(bounded, low, np.nan), np.where(bounded, high, np.nan)

    def always(self, alpha: float, expected_n: int) -> tuple[Floats, Floats]:
        """Return the bounds of the confidence sequence at this look."""
        rho2 = rho_squared(expected_n, alpha)
        n = np.maximum(self.n, 1)  # if nobody has a value, no error has one either
        spread = half_width(self.error * np.sqrt(n), n, rho2, alpha)
        reach = np.where(self.enough & (self.error > 0), spread, np.nan)
        return self.difference - reach, self.difference + reach

    def p_always(self, z: Floats, alpha: float, expected_n: int) -> Floats:
        """Return the p-value of a z-value that holds at every look."""
        p = always_p(z, self.n, rho_squared(expected_n, alpha))
        return np.where(self.enough & ~np.isnan(z), p, np.nan)

    @property
    def z(self) -> Floats:
        """The difference in standard errors; nan where nothing varies."""
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.where(self.error > 0, self.difference / self.error, np.nan)


def effect_of(
    a: Moments, b: Moments, *, cuped: bool = False, imputes: bool = False
) -> Effect:
    r"""Return the effect of a variant compared with its control.

    Formula:
        $$R_b - R_a, \quad R = \bar y / \bar x, \quad
        \operatorname{var} R = \frac1n \operatorname{var} \frac{y - R x}{\bar x}$$

    With CUPED, R is reduced by theta times the amount by which the arm was above both
    arms together before the test; theta is the covariance of the influences now and
    before, divided by the variance of those before, with both arms as one sample.

    Args:
        a: the control.
        b: the variant.
        cuped: whether to use the values before the test.
        imputes: whether these are a plain mean, in which users without a value get the
            mean of both arms; otherwise they are a ratio, on which such users have no
            influence.

    References:
        A. Deng, Y. Xu, R. Kohavi, T. Walker: Improving the sensitivity of online
        controlled experiments by utilizing pre-experiment data. WSDM 2013.
    """
    arms = (a, b)
    plain = [_arm(arm, *arm.ratio()) for arm in arms]
    known = np.minimum(a.n, b.n) >= LEAST_USERS
    enough = known & (np.minimum(a.active, b.active) >= LEAST_ACTIVE)
    zero, nothing = np.zeros(a.n.shape), np.full(a.n.shape, np.nan)
    if not cuped:
        return Effect(plain[0], plain[1], enough, zero, nothing, nothing, nothing)
    both = a.plus(b)
    middle, pooled = both.ratio(before=1)
    if imputes:
        pooled = np.zeros(both.mean.shape)
        pooled[..., 2], pooled[..., 3] = 1, -middle
        before = [
            (middle + np.einsum("...i,...i", arm.mean, pooled), pooled) for arm in arms
        ]
    else:
        before = [arm.ratio(before=1) for arm in arms]
    now = both.ratio()[1]
    spread = both.variance(pooled)
    with np.errstate(invalid="ignore", divide="ignore"):
        theta = np.where(spread > 0, both.product(now, pooled) / spread, 0)
    adjusted = []
    for arm, (then, weights) in zip(arms, before, strict=True):
        ratio, influence = arm.ratio()
        # Where nothing is known about the time before, nothing is subtracted.
        off = np.where(theta == 0, 0, theta * (then - middle))
        left = np.where((theta == 0)[..., None], 0, theta[..., None] * weights)
        adjusted.append(_arm(arm, ratio - off, influence - left))
    earlier = [_arm(arm, *then) for arm, then in zip(arms, before, strict=True)]
    gap = earlier[1].value - earlier[0].value
    effect = Effect(adjusted[0], adjusted[1], enough, theta, gap, nothing, nothing)
    with np.errstate(invalid="ignore", divide="ignore"):
        removed = 1 - effect.error**2 / (plain[0].error2 + plain[1].error2)
    p = 2 * _tail(gap, earlier[0].error2, earlier[1].error2, effect)
    return Effect(adjusted[0], adjusted[1], enough, theta, gap, removed, p)


def _arm(moments: Moments, value: Floats, weights: Floats) -> Arm:
    return Arm(value, moments.variance(weights), moments.n)


def _df(first: Floats, second: Floats, effect: Effect) -> Floats:
    """Return Welch's degrees of freedom of a sum of two variances."""
    with np.errstate(invalid="ignore", divide="ignore"):
        parts = first**2 / (effect.a.n - 1) + second**2 / (effect.b.n - 1)
        return (first + second) ** 2 / parts


def _tail(gap: Floats, first: Floats, second: Floats, effect: Effect) -> Floats:
    """Return the one-sided probability of being as far from 0, or further."""
    from scipy.special import stdtr  # noqa: PLC0415 - scipy is slow to import

    with np.errstate(invalid="ignore", divide="ignore"):
        far = -np.abs(gap) / np.sqrt(first + second)
        tail: Floats = stdtr(_df(first, second, effect), far)
        return np.where(first + second > 0, tail, np.nan)


def _t(df: Floats, share: float) -> Floats:
    from scipy.special import stdtrit  # noqa: PLC0415 - scipy is slow to import

    far: Floats = stdtrit(df, share)
    return far
