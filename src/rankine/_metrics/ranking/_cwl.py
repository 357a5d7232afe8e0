"""Rates of gain of a reader who goes on or stops: BPM, INSQ, INST.

In the C/W/L framework, a metric is the gain per item that a reader looks at: with C(i),
the probability of going on after rank i, and g(i), the gain there,

    M = sum of w(i) g(i) / sum of w(i), with w(1) = 1 and w(i + 1) = w(i) C(i).

Ranks go on without end, or to the last that a reader can reach; below the list there is
nothing to gain. Only ranks with a gain are visited here: the weights between them have
sums in closed form.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from rankine._base.checks import check_count, check_k, check_number
from rankine._metrics.metric import HIGHEST_GRADE, register
from rankine._metrics.ranking._cutoff import ratio
from rankine._metrics.ranking._user import running_product
from rankine._tables.segments import position, running_sum
from rankine.errors import DataError, ParameterError

if TYPE_CHECKING:
    from collections.abc import Callable

    from rankine._base.arrays import Floats, Ints
    from rankine._join import Judged

    Series = Callable[[Floats], Floats]


def _check_scale(table: Judged, max_grade: float | None, min_grade: float) -> float:
    """Return the largest grade above the smallest one, of the scale or the judgements.

    0 says that there is nothing to gain.
    """
    check_number("min_grade", min_grade, least=0)
    highest = float(table.pool.grade.max(initial=min_grade))
    if max_grade is None:
        return highest - min_grade
    check_number("max_grade", max_grade)
    if max_grade <= min_grade:
        msg = f"max_grade={max_grade:g} must be above min_grade={min_grade:g}"
        raise ParameterError(msg)
    if highest > max_grade:
        msg = f"a grade of {highest:g} is above max_grade={max_grade:g}"
        raise DataError(msg)
    return max_grade - min_grade


class Gains:
    """The rows that have a gain: query, rank, and the gain, from 0 to 1."""

    def __init__(
        self,
        table: Judged,
        max_grade: float | None,
        min_grade: float,
        last: Floats,
    ) -> None:
        span = _check_scale(table, max_grade, min_grade)
        row = np.flatnonzero(
            (table.grade > min_grade) & (table.rank <= last[table.query])
        )
        self.query: Ints = table.query[row]
        self.rank: Floats = table.rank[row].astype(np.float64)
        self.grade: Floats = table.grade[row] - min_grade
        self.value: Floats = self.grade / (span or 1)
        self.span = span


def last_ranks(table: Judged, k: int | None) -> Floats:
    """Return the last rank of each query that a reader can reach."""
    return table.length() if k is None else np.full(table.n_queries, float(k))


def without_end(table: Judged, longest: int | None) -> Floats:
    """Return the last rank that can be reached, the same for all queries."""
    if longest is not None:
        check_count("longest", longest, least=1)
    end = np.inf if longest is None else float(longest)
    return np.full(table.n_queries, end)


def rate(
    table: Judged,
    gains: Gains,
    last: Floats,
    weight: Series,
    upto: Series,
    *,
    satisfied: bool = True,
) -> Floats:
    """Return the gain per item where C(i) = b(i) (1 - g(i)), or b(i) alone.

    Args:
        table: the joined table.
        gains: the ranks with a gain.
        last: per query, the last rank that can be reached.
        weight: rank -> b(1) ... b(i - 1), the weight if nothing were gained.
        upto: rank -> the sum of these weights up to it.
        satisfied: whether a gain makes it less likely to go on.
    """
    query, value = gains.query, gains.value
    come = running_product(1 - value, query) if satisfied else np.ones(len(query))
    gained = table.per_query(query, weight(gains.rank) * come * value)
    looked = upto(last)
    if satisfied:
        # Below a rank with a gain, every weight is smaller by that share.
        below = looked[query] - upto(gains.rank)
        looked = looked - table.per_query(query, come * value * below)
    share = ratio(gained, looked)
    share[looked == 0] = 0
    return np.minimum(share, 1)  # which rounding may exceed


def inverse_squares(goal: float) -> tuple[Series, Series]:
    """Return (2T / (i + 2T - 1))^2 and its sums, as functions of the rank."""
    from scipy.special import polygamma  # noqa: PLC0415 - slow to import

    double = 2 * goal

    def weight(rank: Floats) -> Floats:
        return (double / (rank + double - 1)) ** 2

    def upto(rank: Floats) -> Floats:
        return double**2 * np.asarray(
            polygamma(1, double) - polygamma(1, rank + double)
        )

    return weight, upto


def bejeweled_player_model(
    table: Judged,
    *,
    k: int | None = None,
    T: float = 1.0,  # noqa: N803 - as it is written in the paper
    max_grade: float | None = None,
    min_grade: float = 0,
) -> Floats:
    """Gain per item for a reader who stops when the goal or the patience is reached.

    This is the static model: goal and patience stay the same along the list.

    Formula:
        BPM@k = sum of g(i) over ranks i <= s, over s, where s is the first rank at
        which the gains add up to T, at most k

    Args:
        table: the joined table.
        k: the patience: the most items that are looked at; the whole list if not given.
        T: the goal: the gain after which the reader stops.
        max_grade: the grade that is worth 1; the highest of all judgements if not
            given, so that values on different data cannot be compared.
        min_grade: the grade up to which an item is worth 0.

    Returns:
        One value per query, 0 to 1; 0 without relevant items.

    References:
        F. Zhang, Y. Liu, X. Li, M. Zhang, Y. Xu, S. Ma: Evaluating web search with a
        bejeweled player model. SIGIR 2017. https://doi.org/10.1145/3077136.3080841

    Examples:
        Grades 1 and 2 of 2 at ranks 1 and 3: gains of 1/2 and 1 reach the goal of 1
        at rank 3, (1/2 + 1) / 3.

        >>> import rankine as rk
        >>> qrels, run = {"q": {"a": 1, "b": 2}}, {"q": ["a", "x", "b", "y"]}
        >>> rk.evaluate(qrels, run, "BPM@10").mean
        {'BPM@10': 0.5}

        A patience of 2 ends earlier: (1/2) / 2.

        >>> rk.evaluate(qrels, run, "BPM@2").mean
        {'BPM@2': 0.25}
    """
    check_k(k)
    check_number("T", T, least=1e-6, most=1e6)
    last = last_ranks(table, k)
    gains = Gains(table, max_grade, min_grade, last)
    # Grades are added up rather than gains: three thirds are to be one.
    reached = running_sum(gains.grade, gains.query) >= T * gains.span
    stop = last.copy()
    np.minimum.at(stop, gains.query[reached], gains.rank[reached])
    inside = gains.rank <= stop[gains.query]
    gained = table.per_query(gains.query[inside], gains.value[inside])
    value = ratio(gained, stop)
    value[stop == 0] = 0
    return value


BPM = register("BPM", bejeweled_player_model, across=(HIGHEST_GRADE,))


def insq(
    table: Judged,
    *,
    T: float = 1.0,  # noqa: N803
    max_grade: float | None = None,
    min_grade: float = 0,
    longest: int | None = None,
) -> Floats:
    """Gain per item for a reader who expects T relevant items and grows more patient.

    Formula:
        INSQ = sum of w(i) g(i) / sum of w(i), w(i) = (2T / (i + 2T - 1))^2

    Args:
        table: the joined table.
        T: how much gain the reader expects; the reader looks at about 2T + 1/2 items.
        max_grade: the grade that is worth 1; the highest of all judgements if not
            given.
        min_grade: the grade up to which an item is worth 0.
        longest: the last rank that is looked at; unlimited if not given. cwl_eval
            ends at 1,000.

    Returns:
        One value per query, 0 to 1; 0 without relevant items.

    References:
        A. Moffat, F. Scholer, P. Thomas: Models and metrics: IR evaluation as a user
        process. ADCS 2012. https://doi.org/10.1145/2407085.2407092

    Examples:
        A hit at rank 2, T = 1: w(2) = (2/3)^2 over 4 (pi^2 / 6 - 1) = 0.1723.

        >>> import rankine as rk
        >>> rk.evaluate({"q": {"a": 1}}, {"q": ["x", "a"]}, "INSQ").mean
        {'INSQ': 0.1723}
    """
    check_number("T", T, least=1e-6, most=1e6)
    last = without_end(table, longest)
    gains = Gains(table, max_grade, min_grade, last)
    if table.n_queries == 0:
        return np.zeros(0)
    return rate(table, gains, last, *inverse_squares(T), satisfied=False)


INSQ = register("INSQ", insq, across=(HIGHEST_GRADE,))


def inst(
    table: Judged,
    *,
    T: float = 1.0,  # noqa: N803
    max_grade: float | None = None,
    min_grade: float = 0,
    longest: int | None = None,
) -> Floats:
    """Gain per item for a reader who expects a gain T and stops sooner as gain comes.

    Formula:
        INST = sum of w(i) g(i) / sum of w(i), where
        C(i) = ((i + T + T(i) - 1) / (i + T + T(i)))^2 and
        T(i) = T - g(1) - ... - g(i)

    Args:
        table: the joined table.
        T: how much gain the reader expects; above 1/2.
        max_grade: the grade that is worth 1; the highest of all judgements if not
            given.
        min_grade: the grade up to which an item is worth 0.
        longest: the last rank that is looked at; unlimited if not given. cwl_eval
            ends at 1,000.

    Returns:
        One value per query, 0 to 1; 0 without relevant items.

    References:
        A. Moffat, P. Bailey, F. Scholer, P. Thomas: INST: an adaptive metric for
        information retrieval evaluation. ADCS 2015.
        https://doi.org/10.1145/2838931.2838938

    Examples:
        A hit at rank 1, T = 1: T(i) = 0 from there on, so w(i) = 1 / i^2, and the
        weights add up to pi^2 / 6: 1 / 1.6449.

        >>> import rankine as rk
        >>> rk.evaluate({"q": {"a": 1}}, {"q": ["a", "x"]}, "INST").mean
        {'INST': 0.6079}
    """
    check_number("T", T, above=0.5, most=1e6)
    last = without_end(table, longest)
    gains = Gains(table, max_grade, min_grade, last)
    if table.n_queries == 0:
        return np.zeros(0)
    from scipy.special import polygamma  # noqa: PLC0415 - slow to import

    query, rank = gains.query, gains.rank
    first = position(query) == 0
    end = np.append(first[1:], True)[: len(query)]
    # From a rank r with a gain to the next one, w(i) = w(r) (x / (x + i - r))^2,
    # x = r + 2T - 1 - the gain so far; before the first, r = 1 and nothing is gained.
    x = rank + 2 * T - 1 - running_sum(gains.value, query)
    following = np.where(end, last[query] + 1, np.append(rank[1:], 0.0)[: len(query)])
    step = x + following - rank
    come = running_product((x / step) ** 2, query)
    begin = np.full(table.n_queries, np.inf)
    begin[query[first]] = rank[first]
    before = np.minimum(begin, last + 1)
    come *= ((2 * T / (rank[first] + 2 * T - 1)) ** 2)[np.cumsum(first) - 1]
    looked = (2 * T) ** 2 * (polygamma(1, 2 * T) - polygamma(1, before + 2 * T - 1))
    between = come * x**2 * (polygamma(1, x) - polygamma(1, step))
    looked = looked + table.per_query(query, between)
    share = ratio(table.per_query(query, come * gains.value), looked)
    return np.minimum(share, 1)  # which rounding may exceed


INST = register("INST", inst, across=(HIGHEST_GRADE,))
