"""Confidence intervals of a summary, from the values of the queries."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from rankine._base.checks import check_choice, check_count, check_number
from rankine._base.notebook import as_table
from rankine._base.records import cached_property
from rankine._stats.resamples import resamples, summable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rankine._base.arrays import Floats

METHODS = ("bootstrap", "t")
FLOOR = 1e-5
"""The least value in a geometric mean, as in trec_eval."""


class Interval(NamedTuple):
    """The bounds of a confidence interval; nan where there is none."""

    low: float
    high: float

    def _repr_html_(self) -> str:
        return as_table(self)


def check_interval(
    confidence: float, method: str, n_resamples: int = 1, seed: int = 0
) -> None:
    """Check the arguments of an interval."""
    check_number("confidence", confidence, above=0, below=1)
    check_choice("method", method, METHODS)
    check_count("n_resamples", n_resamples, least=1)
    check_count("seed", seed, least=0)


@dataclass(frozen=True, eq=False)
class Sample:
    """What an interval is taken of.

    Attributes:
        values: one value per query, nan for a query that was left out.
        how: how they are summed up: ``mean``, ``sum`` or ``geometric``.
        parts: numerator and denominator per query, where these are pooled.
        weights: how much each query counts; None if all count the same.
    """

    values: Floats
    how: str = "mean"
    parts: tuple[Floats, Floats] | None = None
    weights: Floats | None = None

    @cached_property
    def rows(self) -> Floats:
        """What is averaged over queries: a row, or one for each of the two parts.

        In an order of its own, so that the order of queries does not matter.
        """
        keep = ~np.isnan(self.values)
        weight = None if self.weights is None else self.weights[keep]
        if self.parts is not None:
            up, down = self.parts[0][keep], self.parts[1][keep]
            if weight is not None:
                up, down = weight * up, weight * down
            order = np.lexsort((up, down))
            return np.stack([up[order], down[order]])
        known = self.values[keep]
        if self.how == "geometric":
            known = np.log(np.maximum(known, FLOOR))
        if weight is None:
            return np.sort(known)[None, :]
        order = np.lexsort((known, weight))
        weight, known = weight[order], known[order]
        # A weighted mean is a ratio of two means; the pair is drawn together.
        rows = [weight * known] if self.how == "sum" else [weight * known, weight]
        return np.stack(rows)

    @property
    def is_ratio(self) -> bool:
        """Whether it is one mean over another."""
        return len(self.rows) > 1

    @property
    def n(self) -> int:
        """How many queries have a value."""
        return len(self.rows[0])

    def summed_up(self, means: Floats) -> Floats:
        """Return the summary that the means of the rows give."""
        summary: Floats = means[0]
        if self.is_ratio:
            with np.errstate(divide="ignore", invalid="ignore"):
                summary = means[0] / means[1]
        if self.parts is not None:
            return summary
        if self.how == "geometric":
            summary = np.exp(summary)
        elif self.how == "sum":
            summary = summary * self.n
        return summary


def intervals(
    samples: Sequence[Sample],
    *,
    confidence: float = 0.95,
    method: str = "bootstrap",
    n_resamples: int = 2000,
    seed: int = 0,
) -> list[Interval]:
    """Return a confidence interval over queries for each sample.

    ``bootstrap`` draws queries with replacement and takes percentiles of the summary;
    ``t`` is the mean with Student's distribution. Fewer than two queries have none.

    >>> intervals([Sample(np.array([0.0, 1.0]))], method="t", confidence=0.5)
    [Interval(low=0.0, high=1.0)]
    """
    check_interval(confidence, method, n_resamples, seed)
    tail = (1 - confidence) / 2
    bounds = [Interval(math.nan, math.nan)] * len(samples)
    by_size: dict[int, list[int]] = {}
    for place, sample in enumerate(samples):
        if sample.n < 2:  # noqa: PLR2004 - one value has no spread
            continue
        if method == "t":
            bounds[place] = _student(sample, tail)
        else:
            by_size.setdefault(sample.n, []).append(place)
    for n, places in by_size.items():
        rows = [row for place in places for row in samples[place].rows]
        means = iter(_resampled(rows, n, n_resamples, seed))
        for place in places:
            sample = samples[place]
            drawn = np.stack([next(means) for _ in sample.rows])
            bounds[place] = _percentiles(sample.summed_up(drawn), tail)
    return bounds


def _resampled(rows: list[Floats], n: int, n_resamples: int, seed: int) -> Floats:
    """Return the means of each row over resampled columns, one per resample.

    A resample is drawn once for all rows. Sums are exact, so that no mean depends on
    which others are asked for.
    """
    values = summable(np.stack(rows, axis=1), n)
    sums = np.empty((len(rows), n_resamples))
    for part, counts in resamples(n, n_resamples, seed):
        sums[:, part] = (counts @ values).T
    return sums / n


def _percentiles(drawn: Floats, tail: float) -> Interval:
    # A sample of queries without anything to divide by says nothing.
    drawn = drawn[np.isfinite(drawn)]
    if len(drawn) == 0:
        return Interval(math.nan, math.nan)
    low, high = np.quantile(drawn, [tail, 1 - tail])
    return Interval(float(low), float(high))


def _student(sample: Sample, tail: float) -> Interval:
    """Return the interval of a mean; of a ratio of sums by its linear approximation."""
    from scipy.special import stdtrit  # noqa: PLC0415 - scipy is slow to import

    n = sample.n
    if not sample.is_ratio:
        (base,) = sample.rows
        mean = float(base.mean())
    else:
        up, down = sample.rows
        size = float(down.mean())
        if size == 0:
            return Interval(math.nan, math.nan)
        mean = float(up.mean()) / size
        base = (up - mean * down) / size
    reach = float(stdtrit(n - 1, 1 - tail)) * float(base.std(ddof=1)) / math.sqrt(n)
    low, high = mean - reach, mean + reach
    if sample.parts is None and sample.how == "geometric":
        return Interval(math.exp(low), math.exp(high))
    scale = n if sample.parts is None and sample.how == "sum" else 1
    return Interval(low * scale, high * scale)
