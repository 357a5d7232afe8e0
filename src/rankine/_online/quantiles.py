"""Quantiles over users: draws from their bootstrap distribution, and what they say."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from rankine._online.effects import Arm, Effect

if TYPE_CHECKING:
    from rankine._base.arrays import Floats

DRAWS = 9_999
"""With one more, 10,000, the ranks of the bounds are whole numbers at usual levels."""
_NEARLY = 1e-9
"""What rounding may take from a rank that is a whole number."""


@dataclass(frozen=True, eq=False)
class Quantile:
    """The quantile of one arm.

    Attributes:
        value: the quantile; nan without users.
        draws: what it would be in bootstrap samples; nan for fewer than two users.
        n: how many users there are.
        tied: the share of users who have exactly this value.
    """

    value: float
    draws: Floats
    n: int
    tied: float

    @classmethod
    def of(cls, values: Floats, share: float, rng: np.random.Generator) -> Quantile:
        """Return a quantile, and draws from its bootstrap distribution.

        The quantile is the least value that at least this share of users do not exceed:
        the k-th smallest of n, with k = ceil(n share). In a bootstrap sample, it is the
        value at rank ceil(n U), where U is Beta(k, n - k + 1), so that nothing needs to
        be resampled; and as ranks are drawn, users may be tied.

        References:
            M. Schultzberg, S. Ankargren: Resampling-free bootstrap inference for
            quantiles. 2022.

        >>> median = Quantile.of(np.arange(101.0), 0.5, np.random.default_rng(0))
        >>> median.value, median.n, len(median.draws)
        (50.0, 101, 9999)
        """
        n = len(values)
        if n < 2:  # noqa: PLR2004 - one user has no spread
            alone = float(values[0]) if n else math.nan
            return cls(alone, np.full(DRAWS, math.nan), n, 1.0)
        ordered = np.sort(values.astype(np.float64, copy=False))
        k = math.ceil(n * share)
        ranks = np.ceil(n * rng.beta(k, n - k + 1, DRAWS)).astype(np.int64)
        value = float(ordered[k - 1])
        tied = int(np.count_nonzero(ordered == value)) / n
        return cls(value, ordered[ranks.clip(1, n) - 1], n, tied)

    @property
    def arm(self) -> Arm:
        """The same as a value with a variance."""
        # Rounding would leave a little of the variance of equal numbers.
        varies = self.draws.min() != self.draws.max()
        variance = float(self.draws.var(ddof=1)) * self.n if varies else 0.0
        return Arm(np.array(self.value), np.array(variance), np.array(float(self.n)))


@dataclass(frozen=True, eq=False)
class QuantileEffect(Effect):
    """A difference between the quantiles of two arms, known by draws.

    There is neither a confidence sequence of it nor CUPED.
    """

    drawn_a: Quantile
    drawn_b: Quantile

    @classmethod
    def of(
        cls, a: Floats, b: Floats, share: float, rng: np.random.Generator
    ) -> QuantileEffect:
        """Return the effect of a variant, from the values of its users."""
        first, second = (Quantile.of(values, share, rng) for values in (a, b))
        few, zero, nothing = np.array(0, np.bool_), np.array(0.0), np.array(math.nan)
        return cls(
            first.arm, second.arm, few, zero, nothing, nothing, nothing, first, second
        )

    @property
    def _draws(self) -> Floats:
        return self.drawn_b.draws - self.drawn_a.draws

    def bounds(self, alpha: float) -> tuple[Floats, Floats]:
        """Return the percentile interval of the difference."""
        return _percentiles(self._draws, alpha)

    def p(self) -> Floats:
        """Return the p-value of no difference, two-sided."""
        draws = self._draws
        beyond = min(int((draws <= 0).sum()), int((draws >= 0).sum()))
        return self._known(min(1.0, 2 * (1 + beyond) / (DRAWS + 1)))

    def p_not_worse(
        self, *, size: float, relative: bool, higher: bool
    ) -> tuple[Floats, Floats]:
        """Return the one-sided p-value of a change for the worse by a margin or more.

        There is no z-value.
        """
        sign = 1 if higher else -1
        scale = 1 - sign * size if relative else 1.0
        moved = sign * (self.drawn_b.draws - scale * self.drawn_a.draws)
        worse = int((moved <= (0 if relative else -size)).sum())
        return self._known((1 + worse) / (DRAWS + 1)), np.array(math.nan)

    def lift(self, alpha: float, method: str) -> tuple[Floats, Floats, Floats]:  # noqa: ARG002 - quantiles have one method
        """Return the relative difference, with bounds; nan if the control can be 0."""
        below = self.drawn_a.draws
        if not below.min() > 0:
            return (np.array(math.nan),) * 3
        low, high = _percentiles(self.drawn_b.draws / below - 1, alpha)
        return self.b.value / self.a.value - 1, low, high

    def _known(self, p: float) -> Floats:
        """Return a p-value; nan if an arm has fewer than two users."""
        return np.array(math.nan if np.isnan(self._draws[0]) else p)


def _percentiles(draws: Floats, alpha: float) -> tuple[Floats, Floats]:
    """Return the draws with half of alpha beyond each; nan if there are too few."""
    rank = math.floor((DRAWS + 1) * alpha / 2 + _NEARLY)
    if rank < 1:
        return np.array(math.nan), np.array(math.nan)
    places = rank - 1, DRAWS - rank
    ordered = np.partition(draws, places)
    return np.array(ordered[places[0]]), np.array(ordered[places[1]])
