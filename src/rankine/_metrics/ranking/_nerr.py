"""Nearly ERR: rates of gain for a reader who is satisfied by gains, NERR8 to NERR11.

The numbers are those of the equations of Azzopardi, Mackenzie and Moffat (2021), who
show that ERR itself is not a rate of gain; `_cwl.py` explains what one is.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from rankine._base.checks import check_k, check_number
from rankine._metrics.metric import HIGHEST_GRADE, register
from rankine._metrics.ranking._cwl import (
    Gains,
    inverse_squares,
    last_ranks,
    rate,
    without_end,
)

if TYPE_CHECKING:
    from rankine._base.arrays import Floats
    from rankine._join import Judged


def nerr_8(
    table: Judged,
    *,
    k: int | None = None,
    max_grade: float | None = None,
    min_grade: float = 0,
) -> Floats:
    """Gain per item for a reader who stops at an item with its gain as probability.

    It is the closest to ERR of the four NERR metrics, and models the same reader.

    Formula:
        NERR8@k = sum of w(i) g(i) / sum of w(i) over ranks i <= k, C(i) = 1 - g(i)

    Args:
        table: the joined table.
        k: the most items that are looked at; the whole list if not given.
        max_grade: the grade that is worth 1; the highest of all judgements if not
            given.
        min_grade: the grade up to which an item is worth 0.

    Returns:
        One value per query, 0 to 1; 0 without relevant items.

    References:
        L. Azzopardi, J. Mackenzie, A. Moffat: ERR is not C/W/L: exploring the
        relationship between expected reciprocal rank and other metrics. ICTIR 2021,
        eq. 8. https://doi.org/10.1145/3471158.3472239

    Examples:
        Gains of 1/2 and 1 at ranks 1 and 3, k = 3: w = 1, 1/2, 1/2; (1/2 + 1/2) / 2.

        >>> import rankine as rk
        >>> qrels, run = {"q": {"a": 1, "b": 2}}, {"q": ["a", "x", "b", "y"]}
        >>> rk.evaluate(qrels, run, "NERR8@3").mean
        {'NERR8@3': 0.5}
    """
    check_k(k)
    last = last_ranks(table, k)
    gains = Gains(table, max_grade, min_grade, last)
    return rate(table, gains, last, np.ones_like, np.asarray)


NERR8 = register("NERR8", nerr_8, across=(HIGHEST_GRADE,))


def nerr_9(
    table: Judged,
    *,
    k: int | None = None,
    max_grade: float | None = None,
    min_grade: float = 0,
) -> Floats:
    """Gain per item for a reader who is satisfied by gains and tires along the list.

    Formula:
        NERR9@k = sum of w(i) g(i) / sum of w(i) over ranks i <= k,
        C(i) = i / (i + 1) (1 - g(i))

    Args:
        table: the joined table.
        k: the most items that are looked at; the whole list if not given.
        max_grade: the grade that is worth 1; the highest of all judgements if not
            given.
        min_grade: the grade up to which an item is worth 0.

    Returns:
        One value per query, 0 to 1; 0 without relevant items.

    References:
        L. Azzopardi, J. Mackenzie, A. Moffat: ERR is not C/W/L: exploring the
        relationship between expected reciprocal rank and other metrics. ICTIR 2021,
        eq. 9. https://doi.org/10.1145/3471158.3472239

    Examples:
        Gains of 1/2 and 1 at ranks 1 and 3, k = 3: w = 1, 1/4, 1/6;
        (1/2 + 1/6) / (17/12).

        >>> import rankine as rk
        >>> qrels, run = {"q": {"a": 1, "b": 2}}, {"q": ["a", "x", "b", "y"]}
        >>> rk.evaluate(qrels, run, "NERR9@3").mean
        {'NERR9@3': 0.4706}
    """
    check_k(k)
    last = last_ranks(table, k)
    gains = Gains(table, max_grade, min_grade, last)
    if table.n_queries == 0:
        return np.zeros(0)
    from scipy.special import digamma  # noqa: PLC0415 - slow to import

    def harmonic(rank: Floats) -> Floats:
        return np.asarray(digamma(rank + 1.0) + np.euler_gamma)

    return rate(table, gains, last, np.reciprocal, harmonic)


NERR9 = register("NERR9", nerr_9, across=(HIGHEST_GRADE,))


def nerr_10(
    table: Judged,
    *,
    p: float = 0.9,
    max_grade: float | None = None,
    min_grade: float = 0,
    longest: int | None = None,
) -> Floats:
    """Gain per item for a reader who is satisfied by gains, or leaves as in RBP.

    Formula:
        NERR10 = sum of w(i) g(i) / sum of w(i), C(i) = p (1 - g(i))

    Args:
        table: the joined table.
        p: persistence, the probability of looking at the next item if nothing was
            gained.
        max_grade: the grade that is worth 1; the highest of all judgements if not
            given.
        min_grade: the grade up to which an item is worth 0.
        longest: the last rank that is looked at; unlimited if not given. cwl_eval
            ends at 1,000.

    Returns:
        One value per query, 0 to 1; 0 without relevant items.

    References:
        L. Azzopardi, J. Mackenzie, A. Moffat: ERR is not C/W/L: exploring the
        relationship between expected reciprocal rank and other metrics. ICTIR 2021,
        eq. 10. https://doi.org/10.1145/3471158.3472239

    Examples:
        A gain of 1 at rank 2, p = 0.9: w = 1, 0.9, 0, ...; 0.9 / 1.9.

        >>> import rankine as rk
        >>> rk.evaluate({"q": {"a": 1}}, {"q": ["x", "a"]}, "NERR10").mean
        {'NERR10': 0.4737}
    """
    check_number("p", p, above=0, below=1)
    last = without_end(table, longest)
    gains = Gains(table, max_grade, min_grade, last)
    return rate(
        table,
        gains,
        last,
        lambda rank: p ** (rank - 1),
        lambda rank: (1 - p**rank) / (1 - p),
    )


NERR10 = register("NERR10", nerr_10, across=(HIGHEST_GRADE,))


def nerr_11(
    table: Judged,
    *,
    T: float = 1.0,  # noqa: N803
    max_grade: float | None = None,
    min_grade: float = 0,
    longest: int | None = None,
) -> Floats:
    """Gain per item for a reader who is satisfied by gains, or leaves as in INSQ.

    Formula:
        NERR11 = sum of w(i) g(i) / sum of w(i),
        C(i) = ((i + 2T - 1) / (i + 2T))^2 (1 - g(i))

    Args:
        table: the joined table.
        T: how much gain the reader expects.
        max_grade: the grade that is worth 1; the highest of all judgements if not
            given.
        min_grade: the grade up to which an item is worth 0.
        longest: the last rank that is looked at; unlimited if not given. cwl_eval
            ends at 1,000.

    Returns:
        One value per query, 0 to 1; 0 without relevant items.

    References:
        L. Azzopardi, J. Mackenzie, A. Moffat: ERR is not C/W/L: exploring the
        relationship between expected reciprocal rank and other metrics. ICTIR 2021,
        eq. 11. https://doi.org/10.1145/3471158.3472239

    Examples:
        A gain of 1 at rank 2, T = 1: w = 1, (2/3)^2, 0, ...; (4/9) / (13/9).

        >>> import rankine as rk
        >>> rk.evaluate({"q": {"a": 1}}, {"q": ["x", "a"]}, "NERR11").mean
        {'NERR11': 0.3077}
    """
    check_number("T", T, least=1e-6, most=1e6)
    last = without_end(table, longest)
    gains = Gains(table, max_grade, min_grade, last)
    if table.n_queries == 0:
        return np.zeros(0)
    return rate(table, gains, last, *inverse_squares(T))


NERR11 = register("NERR11", nerr_11, across=(HIGHEST_GRADE,))
