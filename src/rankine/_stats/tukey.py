"""Tukey's honestly significant differences of many systems on the same queries.

Both ways assume that all differences between systems have the same variance. Where they
do not, as with near-duplicates beside very different systems, they err more often than
they claim.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from rankine._stats.flips import NOTHING

if TYPE_CHECKING:
    from rankine._base.arrays import Floats

_CELLS = 1 << 20
"""Values that are permuted at once."""


@dataclass(frozen=True, eq=False)
class TwoWay:
    """The two-way model without replication: a system, a query, and what is left.

    Attributes:
        values: a row per system, a column per query.
    """

    values: Floats

    @property
    def means(self) -> Floats:
        """The mean of each system."""
        means: Floats = self.values.mean(axis=1)
        return means

    @property
    def df(self) -> int:
        """The degrees of freedom of what is left."""
        n_systems, n_queries = self.values.shape
        return int((n_systems - 1) * (n_queries - 1))

    @property
    def residual(self) -> float:
        """The variance of what neither system nor query explains."""
        x = self.values
        left = x - x.mean(axis=1, keepdims=True) - x.mean(axis=0) + x.mean()
        left[np.abs(left) <= NOTHING] = 0
        return float((left**2).sum()) / self.df if self.df else float("nan")

    @property
    def differences(self) -> Floats:
        """The difference of the means of every two systems: column minus row."""
        means = self.means
        difference: Floats = means[None, :] - means[:, None]
        difference[np.abs(difference) <= NOTHING] = 0
        return difference

    def p(self) -> Floats:
        """Return the p-value of every pair, by the studentised range.

        References:
            B. Carterette: Multiple testing in statistical analysis of systems-based
            information retrieval experiments. TOIS 2012.
            https://doi.org/10.1145/2094072.2094076
        """
        from scipy.stats import studentized_range  # noqa: PLC0415 - slow to import

        n_systems, n_queries = self.values.shape
        error = np.sqrt(self.residual / n_queries)
        sizes = np.abs(self.differences)
        upper = np.triu_indices(n_systems, 1)
        p = np.ones((n_systems, n_systems))
        moved = sizes[upper] > 0
        with np.errstate(divide="ignore"):
            ranges = sizes[upper][moved] / error
        p_moved = studentized_range.sf(ranges, n_systems, self.df)
        some = p[upper]
        some[moved] = np.clip(p_moved, 0, 1)
        p[upper] = some
        return np.minimum(p, p.T)

    def reach(self, confidence: float) -> float:
        """Return half the width of the simultaneous intervals of all differences."""
        from scipy.stats import studentized_range  # noqa: PLC0415 - slow to import

        n_systems, n_queries = self.values.shape
        range_ = studentized_range.ppf(confidence, n_systems, self.df)
        return float(range_ * np.sqrt(self.residual / n_queries))

    def permuted_p(self, draws: int, seed: int) -> Floats:
        """Return the p-value of every pair, by permuting the systems of each query.

        A pair is compared with the largest difference of any two systems, under the
        same permutations.
        """
        rng = np.random.default_rng(seed)
        # What all systems share on a query changes no difference.
        columns = np.ascontiguousarray((self.values - self.values.mean(axis=0)).T)
        least = np.abs(self.differences) - NOTHING * float(np.abs(columns).mean())
        above = np.zeros_like(least, dtype=np.int64)
        step = max(1, _CELLS // columns.size)
        for begin in range(0, draws, step):
            n_drawn = min(step, draws - begin)
            many = np.broadcast_to(columns, (n_drawn, *columns.shape))
            means = rng.permuted(many, axis=2).mean(axis=1)
            largest = means.max(axis=1) - means.min(axis=1)
            ordered = np.sort(largest)
            above += n_drawn - np.searchsorted(ordered, least)
        p: Floats = (1 + above) / (1 + draws)
        return p
