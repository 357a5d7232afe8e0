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
_ROUNDED = 2.0**-50
"""How far rounding moves a mean at most, in n times its largest term.

`summable` moves each term by 2^-52 of that; products and quotients are rounded too.
"""


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
        number: what they are summed up to; nan if that is not known.
    """

    values: Floats
    how: str = "mean"
    parts: tuple[Floats, Floats] | None = None
    weights: Floats | None = None
    number: float = math.nan

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
        """Return the summary that the means of the rows give.

        To sum them exactly, terms were rounded to one unit. A summary that differs from
        the number by no more than that is the number, or rounding would push the number
        out of its own interval.
        """
        rounded = np.abs(self.rows).max(axis=1) * (self.n * _ROUNDED)
        with np.errstate(all="ignore"):  # where values are not finite, or sums are 0
            summary, slack = means[0], rounded[0]
            if self.is_ratio:
                slack = (slack + abs(self.number) * rounded[1]) / np.abs(means[1])
                summary = summary / means[1]
            if self.kind == "geometric":
                summary, slack = np.exp(summary), slack * self.number
            elif self.kind == "sum":
                summary, slack = summary * self.n, slack * self.n
            is_number = np.abs(summary - self.number) <= slack
        settled: Floats = np.where(is_number, self.number, summary)
        return settled

    @property
    def kind(self) -> str:
        """What the number is: ``mean``, also of parts, ``sum`` or ``geometric``."""
        return "mean" if self.parts is not None else self.how


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


def macro_interval(
    samples: Sequence[Sample],
    *,
    confidence: float = 0.95,
    method: str = "bootstrap",
    n_resamples: int = 2000,
    seed: int = 0,
) -> Interval:
    """Return the interval of the mean of the numbers of several samples.

    The samples are of different queries, so that their errors add up: the variance of
    the mean of C numbers is the sum of their variances over C^2. ``bootstrap`` draws
    queries in each sample by itself, and takes percentiles of the mean of the numbers;
    ``t`` is Student's distribution with Satterthwaite's degrees of freedom. The
    interval of a single sample is that of `intervals`.

    References:
        W. G. Cochran: Sampling techniques, 3rd edition, 1977, chapter 5.
        B. Efron, R. J. Tibshirani: An introduction to the bootstrap. 1993, chapter 8.

    >>> halves = [Sample(np.array([0.0, 1.0])), Sample(np.array([2.0, 3.0]))]
    >>> macro_interval(halves, method="t", confidence=0.5)
    Interval(low=1.2113, high=1.7887)
    """
    check_interval(confidence, method, n_resamples, seed)
    tail = (1 - confidence) / 2
    if min(sample.n for sample in samples) < 2:  # noqa: PLR2004 - without a spread
        return Interval(math.nan, math.nan)
    if len(samples) == 1:
        how = {"method": method, "n_resamples": n_resamples, "seed": seed}
        return intervals(samples, confidence=confidence, **how)[0]  # type: ignore[arg-type]
    if method == "t":
        return _macro_student(samples, tail)
    drawn = np.zeros(n_resamples)
    for place, sample in enumerate(samples):
        # Each by draws of its own: equal ones would tie samples of the same size.
        own = seed if place == 0 else (seed, place)
        means = _resampled([*sample.rows], sample.n, n_resamples, own)
        drawn += sample.summed_up(means)
    return _percentiles(drawn / len(samples), tail)


def _macro_student(samples: Sequence[Sample], tail: float) -> Interval:
    from scipy.special import stdtrit  # noqa: PLC0415 - scipy is slow to import

    numbers, errors = np.array([_number_and_error(sample) for sample in samples]).T
    parts = errors**2
    n = np.array([sample.n for sample in samples])
    below = float((parts**2 / (n - 1)).sum())
    df = float(parts.sum()) ** 2 / below if below else float((n - 1).sum())
    mean = math.fsum(numbers.tolist()) / len(samples)
    reach = float(stdtrit(df, 1 - tail)) * math.sqrt(parts.sum()) / len(samples)
    return Interval(mean - reach, mean + reach)


def _resampled(
    rows: list[Floats], n: int, n_resamples: int, seed: int | Sequence[int]
) -> Floats:
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

    number, error = _mean_and_error(sample)
    reach = float(stdtrit(sample.n - 1, 1 - tail)) * error
    return around(number, reach, sample.kind, sample.n)


def _mean_and_error(sample: Sample) -> tuple[float, float]:
    """Return the number, and the standard error of the mean that it is made of."""
    n = sample.n
    means = sample.rows.mean(axis=1)
    if not sample.is_ratio:
        (base,) = sample.rows
    else:
        up, down = sample.rows
        if means[1] == 0:
            return math.nan, math.nan
        base = (up - means[0] / means[1] * down) / means[1]
    error = float(base.std(ddof=1)) / math.sqrt(n)
    return float(sample.summed_up(means)), error


def _number_and_error(sample: Sample) -> tuple[float, float]:
    """Return the number and its standard error; of a geometric mean to first order."""
    number, error = _mean_and_error(sample)
    times = {"mean": 1.0, "sum": float(sample.n), "geometric": number}
    return number, error * times[sample.kind]


def around(number: float, reach: float, kind: str, n: int) -> Interval:
    """Return the interval around a number, from how far that of its mean reaches.

    Args:
        number: the mean, sum or geometric mean of n values.
        reach: how far the interval of their mean reaches to both sides; for a geometric
            mean, that of the mean of their logarithms.
        kind: ``mean``, ``sum`` or ``geometric``.
        n: how many values there are.

    >>> around(6.0, 0.5, "sum", 3)
    Interval(low=4.5, high=7.5)
    """
    if kind == "geometric":
        with np.errstate(over="ignore"):
            return Interval(
                number / float(np.exp(reach)), number * float(np.exp(reach))
            )
    reach = reach * n if kind == "sum" else reach
    return Interval(number - reach, number + reach)
