"""Gain by grade and discount by rank: CG, NCG, DCG, nDCG."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from functools import cache
from typing import TYPE_CHECKING, Literal, TypeAlias

import numpy as np

from rankine._base.arrays import all_true
from rankine._base.checks import check_choice, check_k, check_number
from rankine._base.records import freeze
from rankine._metrics.metric import register
from rankine._metrics.ranking._cutoff import TIES, ratio
from rankine._metrics.ranking.expected import mean_weight, share_within
from rankine._tables.segments import position
from rankine.errors import DataError, ParameterError

if TYPE_CHECKING:
    from rankine._base.arrays import Floats, Ints
    from rankine._join import Judged, Ties

Gain: TypeAlias = (
    Literal["linear", "exponential", "exponential_rel", "binary"]
    | Mapping[float, float]
)
TableGain: TypeAlias = Literal["linear"] | Mapping[float, float]
Discount = Literal["log2", "log", "jk", "reciprocal", "none"]
Ideal = Literal["judged@k", "judged", "judged@list", "k_ones", "retrieved", "given@k"]

_GAINS = ("linear", "exponential", "exponential_rel", "binary")
_DISCOUNTS = ("log2", "log", "jk", "reciprocal", "none")
_IDEALS = ("judged@k", "judged", "judged@list", "k_ones", "retrieved", "given@k")
_SHORT = 1000  # a rank that every table of divisors reaches
_STEEPEST = 60
"""The largest grade whose exponential gain is still exact enough to be added up."""


def check_gain(k: object, gain: object, rel: object, ties: object = None) -> None:
    """Check the parameters that all metrics with gains share."""
    check_k(k)
    if isinstance(gain, Mapping):
        for grade, worth in gain.items():
            check_number("a grade in gain", grade)
            check_number(f"the gain of grade {grade}", worth)
    else:
        check_choice("gain", gain, _GAINS)
    if rel is not None:
        check_number("rel", rel)
    elif gain == "exponential_rel":
        msg = "gain='exponential_rel' needs rel, the smallest relevant grade"
        raise ParameterError(msg)
    if ties is not None:
        check_choice("ties", ties, TIES)


def gains(
    grade: Floats, gain: Gain, rel: float | None = None, *, keep_negative: bool = False
) -> Floats:
    """Return what each grade is worth; a grade below 0 means unjudged and gains 0."""
    if gain == "linear":
        worth = grade if keep_negative else np.maximum(grade, 0.0)
    elif isinstance(gain, Mapping):
        worth = np.maximum(grade, 0.0)
        for level, value in gain.items():
            worth[grade == level] = value
    elif gain == "binary":
        worth = (grade >= (1 if rel is None else rel)).astype(np.float64)
    else:
        steepest = float(grade.max(initial=0.0))
        if steepest > _STEEPEST:
            msg = (
                f"a grade of {steepest:g} is too large for the gain 2^grade - 1; "
                "use gain='linear', or a table {grade: gain}"
            )
            raise DataError(msg)
        shift = 1 - rel if gain == "exponential_rel" and rel is not None else 0
        worth = np.exp2(np.maximum(grade, 0.0) + shift) - 1
        worth[grade <= 0] = 0
    if rel is not None:
        worth = np.where(grade >= rel, worth, 0.0)
    return worth


@cache
def _divisors(discount: str, base: float, n: int) -> Floats:
    """Return what the gains at ranks 0 to n are divided by; rank 0 is not used."""
    divide: dict[str, Callable[[int], float]] = {
        # math.log2 rather than NumPy's: exact to the last bit on every machine.
        "log2": lambda rank: math.log2(rank + 1),
        "log": lambda rank: math.log(rank + 1) / math.log(base),
        "jk": lambda rank: 1.0 if rank < base else math.log(rank) / math.log(base),
        "reciprocal": float,
        "none": lambda _: 1.0,
    }
    by_rank = divide[discount]
    table = np.array([1.0, *(by_rank(rank) for rank in range(1, n + 1))])
    table.flags.writeable = False
    return table


def divisors(discount: str, base: float, deepest: int) -> Floats:
    """Return a table of divisors that reaches the deepest rank."""
    return _divisors(discount, base, 1 << max(10, deepest.bit_length()))


def discounted(
    gain: Floats, rank: Ints, discount: str, base: float, k: int | None = None
) -> Floats:
    """Divide each gain by the discount of its rank, which is at most k, if given."""
    deepest = rank.max(initial=0) if k is None or k > _SHORT else k
    return gain / divisors(discount, base, int(deepest))[rank]


def check_discount(discount: object, base: object) -> None:
    """Check the kind of discount and the base of its logarithm."""
    check_choice("discount", discount, _DISCOUNTS)
    check_number("base", base, above=1)


def _worth(table: Judged, grade: Floats, gain: Gain, rel: float | None) -> Floats:
    """Return what grades of the table, or of its pool, are worth."""
    keep = table.keep_negative or table.pool.bounds[0] >= 0
    return gains(grade, gain, rel, keep_negative=keep)


def dcg_sum(
    table: Judged,
    k: int | None,
    gain: Gain,
    rel: float | None,
    discount: str,
    base: float,
    ties: Ties | None,
) -> Floats:
    """Sum the discounted gains of the first k items."""
    if ties in {"best", "worst"}:
        table = table.reordered(ties, _worth(table, table.grade, gain, rel))
    key = ("gains", freeze(gain), rel, table.keep_negative)
    if (worth := table.memo.get(key)) is None:
        worth = table.memo[key] = _worth(table, table.grade, gain, rel)
    if ties == "average":
        deepest = int((table.above + table.tied).max(initial=0))
        table_of = divisors(discount, base, deepest)
        prefix = np.concatenate(([0.0], np.cumsum(1 / table_of[1:])))
        weight = mean_weight(table.above, table.tied, k, prefix)
        return table.per_query(table.query, worth * weight)
    query, rank = table.query, table.rank
    if k is not None:
        inside = rank <= k
        query, rank, worth = query[inside], rank[inside], worth[inside]
    return table.per_query(query, discounted(worth, rank, discount, base, k))


def ideal_sum(
    table: Judged,
    k: int | None,
    gain: Gain,
    rel: float | None,
    discount: str,
    base: float,
    ideal: str,
) -> Floats:
    """Sum the discounted gains of the ideal list."""
    if ideal in {"retrieved", "judged@list"}:
        source = table if ideal == "retrieved" else table.pool
        query = source.query
        worth = _worth(table, source.grade, gain, rel)
        top = worth[np.lexsort((-worth, query))]
        rank = position(query) + 1
        # An empty list gains nothing of something: 0, and not undefined.
        ends = np.maximum(table.length(), 1)
        inside = rank <= (ends if k is None else np.minimum(ends, k))[query]
        if ideal == "retrieved":
            inside &= top > 0
        return table.per_query(
            query[inside], discounted(top[inside], rank[inside], discount, base)
        )
    if ideal == "k_ones":
        # The best gain at each of k ranks, whether or not there are that many items.
        places = table.length() if k is None else np.full(table.n_queries, float(k))
        deepest = int(places.max(initial=0))
        by_rank = divisors(discount, base, deepest)
        prefix = np.concatenate(([0.0], np.cumsum(1 / by_rank[1:])))
        best = np.zeros(table.n_queries)
        np.maximum.at(best, table.pool.query, gains(table.pool.grade, gain, rel))
        filled: Floats = best * prefix[places.astype(np.int64)]
        return filled
    pool = table.pool
    last = k if ideal != "judged" else None
    key = ("ideal", freeze(gain), rel, discount, base, last, ideal, table.keep_negative)
    largest: Floats | None = pool.memo.get(key)
    if largest is None:
        worth = _worth(table, pool.grade, gain, rel)
        by_rank = divisors(discount, base, pool.deepest)
        if ideal == "given@k":
            rank = np.arange(len(worth)) - pool.starts[pool.query] + 1
            inside = rank <= k if k is not None else rank > 0
            value = worth[inside] / by_rank[rank[inside]]
            largest = table.per_query(pool.query[inside], value)
        elif (gain != "linear" or pool.bounds[0] < 0) and (worth < 0).any():
            largest = pool.sum_of_all(worth, last, by_rank)
        else:
            largest = pool.sum_of_largest(worth, last, by_rank)
        pool.memo[key] = largest
    return largest


def cumulative_gain(
    table: Judged,
    *,
    k: int | None = None,
    gain: Gain = "linear",
    rel: float | None = None,
    ties: Ties | None = None,
) -> Floats:
    """Sum of the gains of the first k items, whatever their order.

    Formula:
        CG@k = g_1 + g_2 + ... + g_k

    Args:
        table: the joined table.
        k: cutoff.
        gain: what a grade is worth, as in nDCG.
        rel: grades below this have no gain.
        ties: ``average``, ``best`` or ``worst`` order of tied items.

    Returns:
        One value per query, 0 or more.

    References:
        K. Järvelin, J. Kekäläinen: Cumulated gain-based evaluation of IR techniques.
        TOIS 2002. https://doi.org/10.1145/582415.582418

    Examples:
        Grades 2, 0 and 3 at ranks 1 to 3: 2 + 0 + 3.

        >>> import rankine as rk
        >>> qrels, run = {"q": {"a": 2, "b": 3}}, {"q": ["a", "x", "b"]}
        >>> rk.evaluate(qrels, run, "CG@3").mean
        {'CG@3': 5.0}
    """
    check_gain(k, gain, rel, ties)
    if ties == "average":
        worth = _worth(table, table.grade, gain, rel)
        share = share_within(table.above, table.tied, k)
        return table.per_query(table.query, worth * share)
    return dcg_sum(table, k, gain, rel, "none", 2, ties)


CG = register(
    "CG", cumulative_gain, aliases=("CumulativeGain",), bounds=(0, np.inf), by_set=True,
    follows={"gain": "gain"},
)  # fmt: skip


def normalized_cumulative_gain(
    table: Judged,
    *,
    k: int | None = None,
    gain: Gain = "linear",
    rel: float | None = None,
    ties: Ties | None = None,
) -> Floats:
    """Cumulative gain as a share of the best possible.

    Formula:
        NCG@k = CG@k / CG@k of the judged items sorted by grade

    Args:
        table: the joined table.
        k: cutoff.
        gain: what a grade is worth, as in nDCG.
        rel: grades below this have no gain.
        ties: ``average``, ``best`` or ``worst`` order of tied items.

    Returns:
        One value per query, 0 to 1; nan if nothing can be gained.

    References:
        K. Järvelin, J. Kekäläinen: Cumulated gain-based evaluation of IR techniques.
        TOIS 2002. https://doi.org/10.1145/582415.582418

    Examples:
        Two ranks could hold a gain of 3 + 2; the first two hold 2.

        >>> import rankine as rk
        >>> qrels, run = {"q": {"a": 2, "b": 3}}, {"q": ["a", "x", "b"]}
        >>> rk.evaluate(qrels, run, "NCG@2").mean
        {'NCG@2': 0.4}
    """
    got = cumulative_gain(table, k=k, gain=gain, rel=rel, ties=ties)
    return ratio(got, ideal_sum(table, k, gain, rel, "none", 2, "judged@k"))


NCG = register(
    "NCG", normalized_cumulative_gain, aliases=("nCG",), undefined="convention",
    by_set=True, follows={"gain": "gain"},
)  # fmt: skip


def dcg(
    table: Judged,
    *,
    k: int | None = None,
    gain: Gain = "linear",
    discount: Discount = "log2",
    base: float = 2,
    rel: float | None = None,
    ties: Ties | None = None,
) -> Floats:
    """Sum of the gains of the first k items, discounted by rank.

    Formula:
        DCG@k = sum over ranks i <= k of g_i / log2(i + 1)

    Args:
        table: the joined table.
        k: cutoff.
        gain: ``linear``, the grade; ``exponential``, 2^grade - 1; ``binary``;
            ``exponential_rel``, 2^(grade - rel + 1) - 1 (RankSys, Elliot); or a table
            {grade: gain}, in which grades that are not listed keep their own value.
        discount: ``log2``, 1 / log2(i + 1); ``log``, the same with another base;
            ``jk``, no discount before rank `base`, then 1 / log_base(i);
            ``reciprocal``, 1 / i; ``none``.
        base: the base of the logarithm, for ``log`` and ``jk``.
        rel: grades below this have no gain.
        ties: ``average``, ``best`` or ``worst`` order of tied items.

    Returns:
        One value per query, 0 or more.

    References:
        K. Järvelin, J. Kekäläinen: Cumulated gain-based evaluation of IR techniques.
        TOIS 2002, whose discount is ``jk``. https://doi.org/10.1145/582415.582418
        C. Burges et al.: Learning to rank using gradient descent. ICML 2005, whose gain
        is ``exponential``. https://doi.org/10.1145/1102351.1102363

    Examples:
        Grades 2 and 3 at ranks 1 and 3: 2 / 1 + 3 / 2 = 3.5; exponential
        3 / 1 + 7 / 2 = 6.5.

        >>> import rankine as rk
        >>> qrels, run = {"q": {"a": 2, "b": 3}}, {"q": ["a", "x", "b"]}
        >>> rk.evaluate(qrels, run, "DCG").mean
        {'DCG': 3.5}
        >>> rk.evaluate(qrels, run, "DCG(gain='exponential')").mean
        {"DCG(gain='exponential')": 6.5}

        No discount before rank 2, then log2: 2 / 1 + 3 / log2(3).

        >>> rk.evaluate(qrels, run, "DCG(discount='jk')").mean
        {"DCG(discount='jk')": 3.8928}
    """
    check_gain(k, gain, rel, ties)
    check_discount(discount, base)
    return dcg_sum(table, k, gain, rel, discount, base, ties)


# In nDCG the base cancels where the discount is "log"; it is fine to give it there.
_WITH_BASE = {"base": ("discount", ("log", "jk"))}
DCG = register(
    "DCG", dcg, bounds=(0, np.inf), matters=_WITH_BASE,
    follows={"gain": "gain", "discount": "discount"},
)  # fmt: skip


def ndcg(
    table: Judged,
    *,
    k: int | None = None,
    gain: Gain = "linear",
    discount: Discount = "log2",
    base: float = 2,
    ideal: Ideal = "judged@k",
    rel: float | None = None,
    ties: Ties | None = None,
) -> Floats:
    """Discounted gain as a share of the best possible.

    The base of the logarithm cancels for ``log2`` and ``log``; it matters for ``jk``.

    Formula:
        nDCG@k = DCG@k / DCG@k of the judged items sorted by gain

    Args:
        table: the joined table.
        k: cutoff.
        gain: ``linear``, the grade; ``exponential``, 2^grade - 1; ``binary``;
            ``exponential_rel``, 2^(grade - rel + 1) - 1; or a table {grade: gain}.
        discount: ``log2``, ``log``, ``jk``, ``reciprocal`` or ``none``, as in DCG.
        base: the base of the logarithm, for ``log`` and ``jk``.
        ideal: the list to divide by: ``judged@k``; ``judged``, not cut at k (Jurity);
            ``judged@list``, cut where the list ends if that is before k
            (Elasticsearch); ``k_ones``, the query's best gain at all k ranks
            (RecTools);
            ``retrieved``, only the items of this list (torchmetrics); ``given@k``,
            judged items in the order given (Spark with grades).
        rel: grades below this have no gain.
        ties: ``average``, ``best`` or ``worst`` order of tied items.

    Returns:
        One value per query, 0 to 1 (``given@k`` can exceed 1); nan if nothing can be
        gained.

    References:
        K. Järvelin, J. Kekäläinen: Cumulated gain-based evaluation of IR techniques.
        TOIS 2002. https://doi.org/10.1145/582415.582418. The discount is trec_eval's,
        log2(rank + 1).

    Examples:
        One relevant item at rank 2 of two judged relevant items:
        (1 / log2 3) / (1 / log2 2 + 1 / log2 3) = 0.3869.

        >>> import rankine as rk
        >>> qrels, run = {"q": {"a": 1, "b": 1}}, {"q": ["x", "a", "y"]}
        >>> rk.evaluate(qrels, run, "nDCG").mean
        {'nDCG': 0.3869}

        Cut at 1, with an ideal list that is not cut: 0 / ...; the exponential gain is
        the same for grades 0 and 1.

        >>> rk.evaluate(
        ...     qrels, run, ["nDCG(ideal='judged')@1", "nDCG(gain='exponential')"]
        ... ).mean
        {"nDCG(ideal='judged')@1": 0.0, "nDCG(gain='exponential')": 0.3869}

        Ideal of three ones: (1 / log2 3) / (1 + 1 / log2 3 + 1 / 2) = 0.2961.

        >>> rk.evaluate(qrels, run, "nDCG(ideal='k_ones')@3").mean
        {"nDCG(ideal='k_ones')@3": 0.2961}
    """
    check_gain(k, gain, rel, ties)
    check_discount(discount, base)
    check_choice("ideal", ideal, _IDEALS)
    got = dcg_sum(table, k, gain, rel, discount, base, ties)
    value = ratio(got, ideal_sum(table, k, gain, rel, discount, base, ideal))
    finite = np.isfinite(value)
    if not all_true(finite):
        value[~finite] = np.nan
    whole = ideal in {"judged@k", "judged", "judged@list"} and not table.keep_negative
    if ties == "average" and whole:
        # A mean of weights may be larger than their sum in order by a rounding.
        value = np.minimum(value, 1)
    return value


nDCG = register(  # noqa: N816 - the name papers use
    "nDCG",
    ndcg,
    aliases=("NDCG", "normalized_dcg"),
    undefined="convention",
    matters=_WITH_BASE,
    follows={"gain": "gain", "discount": "discount", "ideal": "ideal"},
)
