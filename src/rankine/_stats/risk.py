"""The risk of hurting queries that another system served well."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from rankine._base.notebook import as_table
from rankine._stats.flips import NOTHING

if TYPE_CHECKING:
    from rankine._base.arrays import Floats


class Risk(NamedTuple):
    """How much a system risks against a baseline; above 0 it gains more than it risks.

    Attributes:
        urisk: gains plus (1 + alpha) times the losses, per query.
        trisk: the same over its standard error; nan with fewer than two queries.
        georisk: the geometric mean of the mean value and the risk against what all
            systems do on a query; it depends on the systems that are compared.
        hurt: the share of queries that are worse than with the baseline.
    """

    urisk: float
    trisk: float
    georisk: float
    hurt: float

    def _repr_html_(self) -> str:
        return as_table(self)


def risk_of(
    values: Floats,
    baseline: int,
    system: int,
    alpha: float,
    *,
    higher_is_better: bool = True,
) -> Risk:
    """Return the risk of a system against a baseline.

    Args:
        values: by system and query; nan where there is none.
        baseline: the number of the system to compare with.
        system: the number of the system.
        alpha: how much more a loss counts than a gain of the same size.
        higher_is_better: whether a larger value is a gain; else there is no GeoRisk,
            whose mean is that of gains.

    >>> values = np.array([[0.5, 0.5, 0.5, 0.5], [0.9, 0.7, 0.5, 0.3]])
    >>> risk = risk_of(values, 0, 1, alpha=1)
    >>> round(risk.urisk, 4), risk.hurt
    (0.05, 0.25)
    """
    d = values[system] - values[baseline]
    d = d if higher_is_better else -d
    d = d[~np.isnan(d)]
    d = np.where(np.abs(d) <= NOTHING, 0.0, d)
    if len(d) == 0:
        return Risk(*[float("nan")] * 4)
    weighed = np.where(d < 0, (1 + alpha) * d, d)
    urisk = float(weighed.mean())
    error = float(weighed.std(ddof=1)) / np.sqrt(len(d)) if len(d) > 1 else np.nan
    with np.errstate(divide="ignore", invalid="ignore"):
        trisk = float(np.float64(urisk) / error) if urisk else 0.0
    hurt = float(np.count_nonzero(d < 0)) / len(d)
    georisk = _georisk(values, system, alpha) if higher_is_better else float("nan")
    return Risk(urisk, trisk, georisk, hurt)


def _georisk(values: Floats, system: int, alpha: float) -> float:
    """Return sqrt(mean x Phi(ZRisk / n)), on the queries that all systems have."""
    from scipy.special import ndtr  # noqa: PLC0415 - scipy is slow to import

    complete = values[:, ~np.isnan(values).any(axis=0)]
    total = float(complete.sum())
    n = complete.shape[1]
    if n == 0 or total <= 0:
        return float("nan")
    row = complete[system]
    expected = row.sum() * complete.sum(axis=0) / total
    spread = np.sqrt(np.maximum(expected, 0))
    z = np.divide(row - expected, spread, out=np.zeros(n), where=spread > 0)
    zrisk = float(np.where(z < 0, (1 + alpha) * z, z).sum())
    return float(np.sqrt(max(row.mean(), 0) * ndtr(zrisk / n)))
