"""Tests for values of systems on the same queries, in the shape of scipy's.

Differences up to 1e-12 count as 0, so that rounding decides nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from rankine._base.checks import check_count
from rankine._base.notebook import as_table
from rankine._base.text import count
from rankine._stats import corrections, paired
from rankine._stats.flips import stepped_down_p
from rankine._stats.paired import DRAWS, Differences
from rankine._stats.tukey import TwoWay
from rankine.errors import DataError, ParameterError

if TYPE_CHECKING:
    from rankine._base.arrays import Floats


LARGEST = 1e100
"""The size beyond which squares and their sums do not fit a float."""


class Outcome(NamedTuple):
    """The result of a test of two systems; unpacks as a pair.

    Attributes:
        statistic: what was tested; above 0 where the second system is better.
        pvalue: the probability of a result at least as extreme, if both systems are the
            same.
    """

    statistic: float
    pvalue: float

    def _repr_html_(self) -> str:
        return as_table(self)


class Outcomes(NamedTuple):
    """The result of a test of many systems; unpacks as a pair.

    Attributes:
        statistic: the mean of the column's system minus that of the row's.
        pvalue: the p-value of each pair, corrected for all of them.
    """

    statistic: Floats
    pvalue: Floats

    def _repr_html_(self) -> str:
        return as_table(self)


def randomization(
    a: Any, b: Any, *, weights: Any = None, draws: int = DRAWS, seed: int = 0
) -> Outcome:
    """Test whether two systems have the same mean, by flipping signs of differences.

    Fisher's paired randomization test, two-sided. If there are no more possible flips
    than draws, all of them are tried; otherwise p = (1 + number at least as extreme) /
    (1 + draws), which is never 0.

    Args:
        a: the values of one system, one per query.
        b: those of the other, for the same queries.
        weights: how much each query counts; all the same if not given.
        draws: how many flips are drawn at most.
        seed: the seed of the draws.

    Returns:
        The mean of b - a, and the p-value.

    References:
        M. D. Smucker, J. Allan, B. Carterette: A comparison of statistical significance
        tests for information retrieval evaluation. CIKM 2007.
        https://doi.org/10.1145/1321440.1321528

    Examples:
        All four differences are above 0: of 16 flips, this one and its opposite are as
        extreme, 2 / 16.

        >>> from rankine import stats
        >>> stats.randomization([0.1, 0.2, 0.3, 0.4], [0.2, 0.3, 0.5, 0.5])
        Outcome(statistic=0.125, pvalue=0.125)
    """
    _check(draws, seed)
    pair = _pair(a, b, weights)
    return _tested(pair.mean, paired.randomization_p(pair, draws, seed))


def t(a: Any, b: Any, *, weights: Any = None) -> Outcome:
    """Test whether two systems have the same mean, by Student's paired t.

    Args:
        a: the values of one system, one per query.
        b: those of the other, for the same queries.
        weights: how much each query counts; all the same if not given.

    Returns:
        t of the mean of b - a, and the two-sided p-value; nan for a single query.

    Examples:
        Differences 1, 2 and 3: t = 2 / (1 / sqrt(3)) = 3.4641.

        >>> from rankine import stats
        >>> stats.t([0, 0, 0], [1, 2, 3])
        Outcome(statistic=3.4641, pvalue=0.0742)
    """
    pair = _pair(a, b, weights)
    return _tested(pair.t, paired.t_p(pair))


def wilcoxon(a: Any, b: Any) -> Outcome:
    """Test whether differences go up as often and as far as down, by signed ranks.

    Wilcoxon's test, with differences of 0 ranked as Pratt does. It tests whether the
    middle of the differences is shifted, not their mean.

    Args:
        a: the values of one system, one per query.
        b: those of the other, for the same queries.

    Returns:
        The sum of the ranks of positive differences minus that of negative ones, and
        the p-value.

    References:
        J. W. Pratt: Remarks on zeros and ties in the Wilcoxon signed rank procedures.
        JASA 1959.

    Examples:
        Ranks 1, 2, 3 and 4; only the first difference is below 0: 9 - 1 = 8.

        >>> from rankine import stats
        >>> stats.wilcoxon([0.5, 0.1, 0.1, 0.1], [0.4, 0.3, 0.4, 0.5])
        Outcome(statistic=8.0, pvalue=0.25)
    """
    pair = _pair(a, b, None)
    return _tested(paired.signed_ranks(pair).sum(axis=1), paired.wilcoxon_p(pair))


def sign(a: Any, b: Any) -> Outcome:
    """Test whether one system wins as many queries as the other.

    Args:
        a: the values of one system, one per query.
        b: those of the other, for the same queries.

    Returns:
        The number of queries that b wins minus the number that it loses, and the
        two-sided p-value of the binomial distribution; ties count for neither.

    Examples:
        Four of four: 2 / 2^4.

        >>> from rankine import stats
        >>> stats.sign([0.1, 0.2, 0.3, 0.4], [0.2, 0.3, 0.5, 0.5])
        Outcome(statistic=4.0, pvalue=0.125)
    """
    pair = _pair(a, b, None)
    return _tested(pair.wins - pair.losses, paired.sign_p(pair))


def bootstrap(
    a: Any, b: Any, *, weights: Any = None, draws: int = DRAWS, seed: int = 0
) -> Outcome:
    """Test whether two systems have the same mean, by the studentised bootstrap.

    Differences are shifted to a mean of 0 and drawn with replacement; the p-value says
    how often the t of a resample is as extreme as the one observed.

    Args:
        a: the values of one system, one per query.
        b: those of the other, for the same queries.
        weights: how much each query counts; all the same if not given.
        draws: how many resamples are drawn.
        seed: the seed of the draws.

    Returns:
        t of the mean of b - a, and p = (1 + number at least as extreme) / (1 + draws).

    References:
        T. Sakai: Evaluating evaluation metrics based on the bootstrap. SIGIR 2006.
        https://doi.org/10.1145/1148170.1148261

    Examples:
        >>> from rankine import stats
        >>> found = stats.bootstrap([0.1, 0.2, 0.3, 0.4], [0.2, 0.3, 0.3, 0.5])
        >>> found.statistic, 0 < found.pvalue < 1
        (3.0, True)
    """
    _check(draws, seed)
    pair = _pair(a, b, weights)
    return _tested(pair.t, paired.bootstrap_p(pair, draws, seed, 0.95)[0])


def maxt(
    *systems: Any,
    baseline: int | None = None,
    weights: Any = None,
    draws: int = DRAWS,
    seed: int = 0,
) -> Outcomes:
    """Test all pairs of systems by randomization, corrected for their number.

    Step-down MaxT: a pair is compared with the largest studentised difference, under
    the same flips, of all pairs that are no more extreme. It takes into account how
    pairs depend on each other, and so finds more than Holm's correction does. It is
    exact if the vector of differences is symmetric as a whole, and otherwise in the
    limit of many queries.

    Args:
        systems: the values of each system, one per query, for the same queries.
        baseline: the number of one system, from 0, to compare with all others; every
            pair is compared if not given.
        weights: how much each query counts; all the same if not given.
        draws: how many flips are drawn at most.
        seed: the seed of the draws.

    Returns:
        The difference and the corrected p-value of every pair of systems, nan for pairs
        that were not compared.

    References:
        P. H. Westfall, S. S. Young: Resampling-based multiple testing. 1993.

    Examples:
        >>> from rankine import stats
        >>> low, high = [0.1, 0.2, 0.3, 0.4], [0.2, 0.3, 0.5, 0.5]
        >>> float(stats.maxt(low, high).pvalue[0, 1])
        0.125
    """
    _check(draws, seed)
    values = _systems(systems)
    if baseline is not None:
        check_count("baseline", baseline, least=0)
        if baseline >= len(values):
            msg = f"baseline is {baseline}, but there are only {len(values)} systems"
            raise ParameterError(msg)
    rows, columns = np.triu_indices(len(values), 1)
    if baseline is not None:
        kept = (rows == baseline) | (columns == baseline)
        rows, columns = rows[kept], columns[kept]
    pairs = Differences(values[columns] - values[rows], _weights(weights, values))
    p = stepped_down_p(pairs.flippable, pairs.n, draws, seed)
    shape = len(values), len(values)
    difference, pvalue = np.full(shape, np.nan), np.full(shape, np.nan)
    difference[rows, columns], difference[columns, rows] = pairs.mean, -pairs.mean
    pvalue[rows, columns] = pvalue[columns, rows] = p
    np.fill_diagonal(difference, 0)
    np.fill_diagonal(pvalue, 1)
    return Outcomes(difference, pvalue)


def tukey_hsd(*systems: Any) -> Outcomes:
    """Test all pairs of systems by Tukey's honestly significant differences.

    It uses the two-way model of systems and queries without replication; scipy's test
    of the same name does not take queries into account. It assumes that all differences
    have the same variance.

    Args:
        systems: the values of each system, one per query, for the same queries.

    Returns:
        The difference and the p-value of every pair of systems, for all pairs together.

    References:
        B. Carterette: Multiple testing in statistical analysis of systems-based
        information retrieval experiments. TOIS 2012.
        https://doi.org/10.1145/2094072.2094076

    Examples:
        With two systems, it is Student's paired t-test.

        >>> from rankine import stats
        >>> float(stats.tukey_hsd([0, 0, 0], [1, 2, 3]).pvalue[0, 1])
        0.0742
    """
    model = TwoWay(_systems(systems))
    return Outcomes(model.differences, model.p())


def randomized_tukey_hsd(*systems: Any, draws: int = DRAWS, seed: int = 0) -> Outcomes:
    """Test all pairs of systems by permuting the systems of each query.

    A pair is compared with the largest difference between any two systems under the
    same permutations. It assumes that all differences have the same variance.

    Args:
        systems: the values of each system, one per query, for the same queries.
        draws: how many permutations are drawn.
        seed: the seed of the draws.

    Returns:
        The difference of every pair of systems, and p = (1 + number at least as
        extreme) / (1 + draws).

    References:
        B. Carterette: Multiple testing in statistical analysis of systems-based
        information retrieval experiments. TOIS 2012.
        https://doi.org/10.1145/2094072.2094076

    Examples:
        With two systems, permutations are flips; 2 of 16 are as extreme.

        >>> from rankine import stats
        >>> low, high = [0.1, 0.2, 0.3, 0.4], [0.2, 0.3, 0.5, 0.5]
        >>> pvalue = stats.randomized_tukey_hsd(low, high).pvalue[0, 1]
        >>> bool(abs(pvalue - 2 / 16) < 0.01)
        True
    """
    _check(draws, seed)
    model = TwoWay(_systems(systems))
    return Outcomes(model.differences, model.permuted_p(draws, seed))


def holm(pvalues: Any) -> Floats:
    """Correct p-values for their number, by Holm's method.

    >>> from rankine import stats
    >>> stats.holm([0.01, 0.04, 0.03])
    array([0.03, 0.06, 0.06])
    """
    return corrections.holm(_pvalues(pvalues))


def bonferroni(pvalues: Any) -> Floats:
    """Correct p-values for their number, by Bonferroni's method.

    >>> from rankine import stats
    >>> stats.bonferroni([0.01, 0.5])
    array([0.02, 1.  ])
    """
    return corrections.bonferroni(_pvalues(pvalues))


def bh(pvalues: Any) -> Floats:
    """Correct p-values for the share of false discoveries (Benjamini and Hochberg).

    >>> from rankine import stats
    >>> stats.bh([0.01, 0.04, 0.03])
    array([0.03, 0.04, 0.04])
    """
    return corrections.bh(_pvalues(pvalues))


def _check(draws: int, seed: int) -> None:
    check_count("draws", draws, least=1)
    check_count("seed", seed, least=0)


def _numbers(values: Any, name: str, each: str = "query") -> Floats:
    """Return values as floats; refuse anything that is not one finite number each."""
    if isinstance(values, np.ma.MaskedArray):
        msg = f"{name} is a masked array; leave masked queries out of both sides"
        raise DataError(msg)
    try:
        plain = np.asarray(values)
        kind = plain.dtype.kind
        numbers: Floats = plain.astype(np.float64)
    except (TypeError, ValueError):
        kind = "O"
    if kind not in "biuf":
        msg = f"{name} must hold one number per {each}, but some values are not numbers"
        raise DataError(msg)
    if numbers.ndim != 1 or len(numbers) == 0:
        msg = f"{name} must hold one number per {each}, got shape {numbers.shape}"
        raise DataError(msg)
    odd = np.flatnonzero(~(np.abs(numbers) <= LARGEST))
    if len(odd):
        msg = (
            f"{name} has {count(len(odd), 'value')} that "
            f"{'is' if len(odd) == 1 else 'are'} not finite or too large, the first at "
            f"place {int(odd[0])}: {numbers[odd[0]]:g}"
        )
        raise DataError(msg)
    return numbers


def _systems(systems: tuple[Any, ...]) -> Floats:
    if len(systems) < 2:  # noqa: PLR2004 - nothing to compare
        msg = f"a comparison needs at least two systems, got {len(systems)}"
        raise ParameterError(msg)
    rows = [_numbers(values, f"system {n}") for n, values in enumerate(systems)]
    lengths = {len(row) for row in rows}
    if len(lengths) > 1:
        sizes = ", ".join(str(len(row)) for row in rows)
        msg = f"all systems must have values for the same queries, got {sizes} values"
        raise DataError(msg)
    return np.stack(rows)


def _weights(weights: Any, values: Floats) -> Floats | None:
    if weights is None:
        return None
    numbers = _numbers(weights, "weights")
    if len(numbers) != values.shape[1] or (numbers < 0).any() or not numbers.any():
        msg = (
            f"weights must be {values.shape[1]} numbers of at least 0, one per query, "
            "and not all 0"
        )
        raise DataError(msg)
    weights_of: Floats = numbers / numbers.max()
    return weights_of


def _pair(a: Any, b: Any, weights: Any) -> Differences:
    first, other = _numbers(a, "a"), _numbers(b, "b")
    if len(first) != len(other):
        msg = (
            f"a has {count(len(first), 'value')} and b has {len(other)}; give one per "
            "query, for the same queries"
        )
        raise DataError(msg)
    ours, theirs = (getattr(side, "index", None) for side in (a, b))
    framed = hasattr(ours, "equals") and hasattr(theirs, "equals")
    if framed and not ours.equals(theirs):  # type: ignore[union-attr]
        msg = (
            "a and b have different indexes; put them in the same order, as in "
            "a[b.index]"
        )
        raise DataError(msg)
    values = (other - first)[None, :]
    return Differences(values, _weights(weights, values))


def _tested(statistic: Any, pvalue: Floats) -> Outcome:
    return Outcome(float(statistic[0]), float(pvalue[0]))


def _pvalues(pvalues: Any) -> Floats:
    numbers = _numbers(pvalues, "pvalues", "hypothesis")
    if ((numbers < 0) | (numbers > 1)).any():
        odd = numbers[(numbers < 0) | (numbers > 1)][0]
        msg = f"pvalues must be between 0 and 1, got {odd:g}"
        raise DataError(msg)
    return numbers
