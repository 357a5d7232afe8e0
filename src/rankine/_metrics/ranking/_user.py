"""Models of a user who reads down the list: ERR, RBP, half-life utility."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np

from rankine._base.checks import check_choice, check_k, check_number
from rankine._metrics.metric import HIGHEST_GRADE, register
from rankine._metrics.ranking._cutoff import check_binary, ratio
from rankine._metrics.ranking.expected import mean_weight
from rankine._tables.segments import position
from rankine.errors import DataError, ParameterError

if TYPE_CHECKING:
    from rankine._base.arrays import Floats, Ints
    from rankine._join import Judged, Ties

RbpGain: TypeAlias = Literal["binary", "scaled", "linear"]
_STEEPEST = 60
_VANISHED = np.log(1e-20)
_CELLS = 1 << 22
"""Ranks that are looked at together."""


def expected_reciprocal_rank(
    table: Judged, *, k: int | None = None, max_grade: float | None = None
) -> Floats:
    """Expected 1 / rank of the item at which a user is satisfied and stops.

    Formula:
        ERR@k = sum over ranks i <= k of (1 / i) p_i (1 - p_1) ... (1 - p_(i-1)),
        with p = (2^grade - 1) / 2^max_grade

    Args:
        table: the joined table.
        k: cutoff.
        max_grade: the highest grade of the scale; the highest of all judgements if not
            given, so that values on different data cannot be compared.

    Returns:
        One value per query, 0 to 1.

    References:
        O. Chapelle, D. Metzler, Y. Zhang, P. Grinspan: Expected reciprocal rank for
        graded relevance. CIKM 2009. https://doi.org/10.1145/1645953.1646033

    Examples:
        Grades 1 and 2 at ranks 1 and 2, at most 2: p = 1/4 and 3/4;
        1/4 + (1/2) (3/4) (1 - 1/4) = 0.5313.

        >>> import rankine as rk
        >>> qrels, run = {"q": {"a": 1, "b": 2}}, {"q": ["a", "b"]}
        >>> rk.evaluate(qrels, run, "ERR").mean
        {'ERR': 0.5313}

        On a scale up to 4: p = 1/16 and 3/16; 1/16 + (1/2) (3/16) (15/16).

        >>> rk.evaluate(qrels, run, "ERR(max_grade=4)").mean
        {'ERR(max_grade=4)': 0.1504}
    """
    check_k(k)
    if max_grade is not None:
        check_number("max_grade", max_grade, above=0, most=_STEEPEST)
    top = float(table.pool.grade.max(initial=0)) if max_grade is None else max_grade
    highest = float(table.pool.grade.max(initial=0))
    if highest > top:
        msg = f"a grade of {highest:g} is above max_grade={max_grade:g}"
        raise DataError(msg)
    if top > _STEEPEST:
        msg = f"a grade of {top:g} is too large for 2^grade - 1; at most {_STEEPEST}"
        raise DataError(msg)
    keep = table.grade > 0
    if k is not None:
        keep &= table.rank <= k
    query, rank = table.query[keep], table.rank[keep]
    stop = (np.exp2(table.grade[keep]) - 1) / 2**top
    # The chance to come this far: a running product that begins anew at each query.
    come = running_product(1 - stop, query)
    return table.per_query(query, stop * come / rank)


def running_product(factor: Floats, query: Ints) -> Floats:
    """Multiply the factors of the rows before each row of its query."""
    place = position(query)
    product = np.ones(len(factor))
    for step in range(1, int(place.max(initial=0)) + 1):
        row = np.flatnonzero(place == step)
        product[row] = product[row - 1] * factor[row - 1]
    return product


ERR = register(
    "ERR",
    expected_reciprocal_rank,
    across=(HIGHEST_GRADE,),
)


def _worth(
    table: Judged, grade: Floats, query: Ints, gain: str, rel: float | None
) -> Floats:
    """Return what grades of some queries are worth."""
    if gain == "binary":
        return (grade >= (1 if rel is None else rel)).astype(np.float64)
    worth = np.maximum(grade, 0)
    if rel is not None:
        worth = np.where(grade >= rel, worth, 0.0)
    if gain == "scaled":
        highest = np.ones(table.n_queries)
        np.maximum.at(highest, table.pool.query, table.pool.grade)
        worth = worth / highest[query]
    return worth


def _check_weights(weights: Any) -> Floats | None:
    """Return the weights of the first ranks, if there are any."""
    if weights is None:
        return None
    if not isinstance(weights, (tuple, list)) or not weights:
        msg = f"weights must be the weights of ranks 1, 2, ..., got {weights!r}"
        raise ParameterError(msg)
    for weight in weights:
        check_number("a weight", weight, least=0)
    return np.array(weights, dtype=np.float64)


def _weights(p: float, by_rank: Floats | None, n: int) -> Floats:
    """Return the weights of ranks 1 to n, or of a few more."""
    if by_rank is None:
        return _powers(p, max(n, 1) - 1)
    return np.concatenate((by_rank, np.zeros(max(n - len(by_rank), 0))))


def _powers(p: float, n: int) -> Floats:
    """Return p^0, p^1, ..., p^n, by repeated multiplication as trec_eval does."""
    return np.concatenate(([1.0], np.cumprod(np.full(n, p))))


def rank_biased_precision(
    table: Judged,
    *,
    p: float = 0.8,
    k: int | None = None,
    rel: float | None = None,
    gain: RbpGain = "binary",
    over: Literal["all", "ideal"] = "all",
    weights: tuple[float, ...] | None = None,
    ties: Ties | None = None,
) -> Floats:
    """Expected gain per item seen by a user who goes on with probability p.

    Formula:
        RBP = (1 - p) * sum over ranks i of g_i p^(i-1)

    Args:
        table: the joined table.
        p: persistence, the probability of looking at the next item.
        k: cutoff.
        rel: grades below this have no gain; 1 for ``binary`` if not given.
        gain: ``binary``; ``scaled``, the grade over the query's highest if that is
            above 1, as trec_eval 10 intends (its code reads a variable that it never
            sets); ``linear``, the grade itself (ranx), which can exceed 1.
        over: what the sum is divided by: ``all`` weights of an endless list, which sum
            to 1 / (1 - p); or the sum for an ``ideal`` list, which has the relevant
            items at its first ranks (LensKit's ``normalize``).
        weights: the weights of the first ranks, instead of powers of p; lower ranks
            have weight 0. The sum is then divided by the sum of the weights of the
            list.
        ties: ``average``, ``best`` or ``worst`` order of tied items.

    Returns:
        One value per query, 0 to 1 (more for ``linear``). RBPResidual is what unjudged
        items could add.

    References:
        A. Moffat, J. Zobel: Rank-biased precision for measurement of retrieval
        effectiveness. TOIS 2008, section 3. https://doi.org/10.1145/1416950.1416952

    Examples:
        Hits at ranks 1 and 3: 0.2 * (1 + 0.8²) = 0.328.

        >>> import rankine as rk
        >>> qrels, run = {"q": {"a": 1, "b": 2}}, {"q": ["a", "x", "b"]}
        >>> rk.evaluate(qrels, run, "RBP").mean
        {'RBP': 0.328}

        Grades over the highest: 0.1 * (1/2 + (2/2) 0.9²) = 0.131.

        >>> rk.evaluate(qrels, run, "RBP(p=0.9,gain='scaled')").mean
        {"RBP(p=0.9,gain='scaled')": 0.131}

        With weights 3, 2, 1 the hits have 3 + 1 of 6; an ideal list has 3 + 2.

        >>> rk.evaluate(qrels, run, "RBP(weights=(3,2,1))").mean
        {'RBP(weights=(3,2,1))': 0.6667}
        >>> rk.evaluate(qrels, run, "RBP(weights=(3,2,1),over='ideal')").mean
        {"RBP(weights=(3,2,1),over='ideal')": 0.8}
    """
    check_number("p", p, above=0, below=1)
    check_binary(k, 1 if rel is None else rel, ties)
    check_choice("gain", gain, ("binary", "scaled", "linear"))
    check_choice("over", over, ("all", "ideal"))
    by_rank = _check_weights(weights)
    worth = _worth(table, table.grade, table.query, gain, rel)
    if ties in {"best", "worst"}:
        table = table.reordered(ties, worth)
        worth = _worth(table, table.grade, table.query, gain, rel)
    if ties == "average":
        deepest = int((table.above + table.tied).max(initial=0))
        prefix = np.concatenate(([0.0], np.cumsum(_weights(p, by_rank, deepest))))
        weight = mean_weight(table.above, table.tied, k, prefix)
        total = table.per_query(table.query, worth * weight)
    else:
        inside = worth > 0
        if k is not None:
            inside &= table.rank <= k
        rank = table.rank[inside]
        weight = _weights(p, by_rank, int(rank.max(initial=1)))[rank - 1]
        total = table.per_query(table.query[inside], worth[inside] * weight)
    if over == "all" and by_rank is None:
        return (1 - p) * total
    shown = table.n_retrieved if k is None else np.minimum(table.n_retrieved, k)
    weight = _weights(p, by_rank, int(shown.max(initial=1)))
    if over == "all":
        whole = np.concatenate(([0.0], np.cumsum(weight)))[shown]
    else:
        pool = table.pool
        best = _worth(table, pool.grade, pool.query, gain, rel)
        query, rank, best = pool.largest(best, None)
        inside = rank <= shown[query]
        query, rank, best = query[inside], rank[inside], best[inside]
        whole = table.per_query(query, best * weight[rank - 1])
    value = ratio(total, whole)
    value[whole == 0] = 0
    return value


RBP = register("RBP", rank_biased_precision, matters={"p": ("weights", (None,))})


def rbp_residual(
    table: Judged,
    *,
    p: float = 0.8,
    tail: Literal["always", "with_unjudged"] = "always",
) -> Floats:
    """The most that unjudged items and the items below the list could add to RBP.

    Formula:
        residual = (1 - p) * sum of p^(i-1) over the unjudged ranks i <= n, + p^n

    Args:
        table: the joined table.
        p: persistence, as in RBP.
        tail: ``always``; ``with_unjudged``: a list without unjudged items has a
            residual of 0, as in trec_eval 10, although the items below the list are
            unknown.

    Returns:
        One value per query, 0 to 1, lower is better.

    References:
        A. Moffat, J. Zobel: Rank-biased precision for measurement of retrieval
        effectiveness. TOIS 2008, section 4.3. https://doi.org/10.1145/1416950.1416952

    Examples:
        Unjudged at rank 2 of 3: 0.2 * 0.8 + 0.8³ = 0.672.

        >>> import rankine as rk
        >>> qrels, run = {"q": {"a": 1, "b": 2}}, {"q": ["a", "x", "b"]}
        >>> rk.evaluate(qrels, run, "RBPResidual").mean
        {'RBPResidual': 0.672}
    """
    check_number("p", p, above=0, below=1)
    check_choice("tail", tail, ("always", "with_unjudged"))
    known = table.grade >= 0
    n_known = table.per_query(table.query[known])
    length = table.n_retrieved
    unseen = _powers(p, int(length.max(initial=0)))[length]
    value = np.minimum(unseen + (1 - p) * _unjudged_weight(table, p), 1)
    if tail == "with_unjudged":
        value[n_known == length] = 0
    return value


def _unjudged_weight(table: Judged, p: float) -> Floats:
    """Sum p^(i-1) over the unjudged ranks i of each query, from the top down."""
    # Deeper terms are too small to change a sum that has the first one in it.
    deepest = min(int(table.n_retrieved.max(initial=0)), int(_VANISHED / np.log(p)) + 1)
    power = _powers(p, max(deepest, 1))
    total = np.zeros(table.n_queries)
    step = max(1, _CELLS // max(deepest, 1))
    starts = table.row_starts()
    for begin in range(0, table.n_queries, step):
        end = min(begin + step, table.n_queries)
        rows = slice(int(starts[begin]), int(starts[end]))
        known = (table.grade[rows] >= 0) & (table.rank[rows] <= deepest)
        rank = np.arange(1, deepest + 1)
        unjudged = rank <= table.n_retrieved[begin:end, None]
        unjudged[table.query[rows][known] - begin, table.rank[rows][known] - 1] = False
        query, place = np.nonzero(unjudged)
        total[begin:end] = np.bincount(
            query, weights=power[place], minlength=end - begin
        )
    return total


RBPResidual = register(
    "RBPResidual",
    rbp_residual,
    aliases=("rbp_resid",),
    empty="keep",
    higher_is_better=False,
)


def r_score_parts(
    table: Judged,
    *,
    k: int | None = None,
    neutral: float = 0,
    half_life: float = 5,
    scale: float = 100,
    aggregate: Literal["ratio_of_sums", "mean_of_ratios"] = "ratio_of_sums",
) -> tuple[Floats, Floats]:
    """Return each query's utility, times the scale, and the best it could be."""
    check_k(k)
    check_number("neutral", neutral)
    check_number("half_life", half_life, above=1)
    check_number("scale", scale, above=0)
    check_choice("aggregate", aggregate, ("ratio_of_sums", "mean_of_ratios"))

    def utility(grade: Floats, rank: Ints) -> Floats:
        # Breese et al. 1998, eq. 5
        return np.maximum(grade - neutral, 0) / np.exp2((rank - 1) / (half_life - 1))

    inside = table.rank <= k if k is not None else table.rank > 0
    got = table.per_query(
        table.query[inside], utility(table.grade[inside], table.rank[inside])
    )
    pool = table.pool
    query, rank, above = pool.largest(np.maximum(pool.grade - neutral, 0), k)
    best = table.per_query(query, utility(above + neutral, rank))
    return scale * got, best


def r_score(
    table: Judged,
    *,
    k: int | None = None,
    neutral: float = 0,
    half_life: float = 5,
    scale: float = 100,
    aggregate: Literal["ratio_of_sums", "mean_of_ratios"] = "ratio_of_sums",
) -> Floats:
    """Utility of a list whose ranks are read with exponentially falling probability.

    Formula:
        R_u = sum over ranks i of max(r_i - neutral, 0) / 2^((i-1) / (half_life-1)),
        RScore = scale * sum of R_u / sum of the best possible R_u

    Args:
        table: the joined table; grades are ratings.
        k: cutoff.
        neutral: the rating that is worth nothing.
        half_life: the rank that is seen with probability one half; above 1.
        scale: 100, as in the paper, or 1.
        aggregate: the ``ratio_of_sums`` over users, as in the paper, or the
            ``mean_of_ratios``.

    Returns:
        One value per query, 0 to `scale`; nan if no rating is above the neutral one.

    References:
        J. S. Breese, D. Heckerman, C. Kadie: Empirical analysis of predictive
        algorithms for collaborative filtering. UAI 1998, eq. 5 and 6.
        https://arxiv.org/abs/1301.7363

    Examples:
        Ratings 3 and 5 at ranks 1 and 2, neutral 2, half-life 2: the second counts
        half, 1 + 3/2 = 2.5 of at most 3 + 1/2: 71.43 of 100.

        >>> import rankine as rk
        >>> qrels, run = {"q": {"a": 3, "b": 5}}, {"q": ["a", "b"]}
        >>> rk.evaluate(qrels, run, "RScore(neutral=2,half_life=2)").mean
        {'RScore(neutral=2,half_life=2)': 71.4286}
        >>> rk.evaluate(qrels, run, "RScore(neutral=2,half_life=2,scale=1)").mean
        {'RScore(neutral=2,half_life=2,scale=1)': 0.7143}
    """
    return ratio(
        *r_score_parts(
            table, k=k, neutral=neutral, half_life=half_life, scale=scale,
            aggregate=aggregate,
        )
    )  # fmt: skip


RScore = register(
    "RScore",
    r_score,
    aliases=("R-Score", "HalfLifeUtility", "half_life_utility"),
    bounds=(0, 100),
    parts=r_score_parts,
    undefined="convention",
)
