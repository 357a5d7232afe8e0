"""Overlap of prefixes, its mean, Jaccard, and how far items were promoted."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from rankine._base.checks import check_choice, check_count, check_k
from rankine._metrics.similarity._rbo import TIES, Ties, with_ties
from rankine._tables.segments import starts_of

if TYPE_CHECKING:
    from rankine._base.arrays import Floats, Ints
    from rankine._tables.paired import Matched


def _depths(m: Matched, k: int | None) -> Ints:
    """Return the depth per query: k, or where the shorter list ends."""
    if k is not None:
        return np.full(m.n_queries, k, dtype=np.int64)
    return np.minimum(m.x.length, m.y.length)


def _divided(total: Floats, depth: Ints) -> Floats:
    undefined = np.full(len(depth), np.nan)
    quotient: Floats = np.divide(total, depth, out=undefined, where=depth > 0)
    return quotient


def overlap_kernel(m: Matched, *, k: int | None = None, ties: Ties = "w") -> Floats:
    """Share of the first k items that two lists have in common.

    Formula:
        A_k = X_k / k, X_k the number of items in both prefixes of depth k

    Args:
        m: the lists of two runs.
        k: the depth; the length of the shorter list if not given. A list that ends
            before k shares no further item.
        ties: as in RBO; ``w`` includes the whole of a tie that begins within the depth.

    Returns:
        One value per query, 0 to 1; nan if there is nothing to compare.

    References:
        W. Webber, A. Moffat, J. Zobel: A similarity measure for indefinite rankings.
        TOIS 2010.

    Examples:
        >>> import rankine as rk
        >>> ev = rk.similarity(
        ...     {"q": ["a", "b", "c"]}, {"q": ["b", "a", "d"]}, "Overlap@3"
        ... )
        >>> round(ev["Overlap@3"], 4)
        0.6667
    """
    check_k(k)
    check_choice("ties", ties, TIES)
    depth = _depths(m, k)
    inside = (m.depth <= np.repeat(depth, m.count)).astype(np.float64)
    value = _divided(m.sum(inside), depth)
    tied = np.flatnonzero(m.tied)
    if len(tied):
        reach = depth[tied]
        some = m.take(tied)
        sums = with_ties(some, lambda query, d: (d == reach[query]).astype(float), ties)
        long = np.maximum(some.x.length, some.y.length)
        behind = _divided(some.count.astype(np.float64), reach)
        value[tied] = np.where(reach > long, behind, sums.seen)
        value[tied[reach == 0]] = np.nan
    return value


def average_overlap_kernel(
    m: Matched, *, k: int | None = None, ties: Ties = "w"
) -> Floats:
    """Mean share of common items over all prefixes down to k.

    Formula:
        AO_k = 1/k sum_{d=1..k} A_d, A_d the share of common items at depth d

    Args:
        m: the lists of two runs.
        k: the depth; the length of the shorter list if not given. A list that ends
            before k shares no further item.
        ties: as in RBO.

    Returns:
        One value per query, 0 to 1; nan if there is nothing to compare.

    References:
        R. Fagin, R. Kumar, D. Sivakumar: Comparing top k lists. SIAM Journal on
        Discrete Mathematics 2003.

    Examples:
        The prefixes share nothing, then 2 of 2, then 2 of 3.

        >>> import rankine as rk
        >>> ev = rk.similarity({"q": ["a", "b", "c"]}, {"q": ["b", "a", "d"]}, "AO@3")
        >>> round(ev["AO@3"], 4), round((0 + 1 + 2 / 3) / 3, 4)
        (0.5556, 0.5556)
    """
    check_k(k)
    check_choice("ties", ties, TIES)
    depth = _depths(m, k)
    # Deeper than both lists only the number of common items matters.
    long = np.maximum(m.x.length, m.y.length)
    reach = np.minimum(depth, long)
    total = _sum_of_agreements(m, reach)
    tied = np.flatnonzero(m.tied)
    if len(tied):
        limit = reach[tied]
        total[tied] = with_ties(
            m.take(tied), lambda query, d: (d <= limit[query]).astype(np.float64), ties
        ).seen
    rest = _harmonic_between(reach, depth)
    return np.minimum(_divided(total + m.count * rest, depth), 1)


def _sum_of_agreements(m: Matched, reach: Ints) -> Floats:
    """Add up X_d / d over the depths d of each query down to a reach, without ties."""
    starts = starts_of(reach)
    # Few items are near the top, and only of these a query is looked for.
    near = np.flatnonzero(m.depth <= reach.max(initial=0))
    near_query = np.repeat(
        np.arange(m.n_queries), np.diff(np.searchsorted(near, m.starts))
    )
    near_depth = m.depth[near]
    inside = near_depth <= reach[near_query]
    cell = starts[near_query[inside]] + near_depth[inside] - 1
    common = np.cumsum(np.bincount(cell, minlength=int(starts[-1])))
    before = np.concatenate(([0], common))[starts[:-1]]
    query = np.repeat(np.arange(m.n_queries), reach)
    depth = np.arange(len(query)) - starts[query] + 1
    agreement = (common - before[query]) / depth
    return np.bincount(query, agreement, minlength=m.n_queries).astype(np.float64)


def _harmonic_between(begin: Ints, end: Ints) -> Floats:
    """Return 1 / (begin + 1) + ... + 1 / end."""
    from scipy.special import digamma  # noqa: PLC0415 - slow to import

    if (begin == end).all():
        return np.zeros(len(begin))
    between: Floats = np.where(
        end > begin, digamma(end + 1.0) - digamma(begin + 1.0), 0
    )
    return between


def jaccard_kernel(m: Matched, *, k: int | None = None) -> Floats:
    """Jaccard similarity of the items that two lists have, whatever their order.

    Formula:
        |X n Y| / |X u Y|

    Args:
        m: the lists of two runs.
        k: use only the first k items of each list.

    Returns:
        One value per query, 0 to 1; nan if both lists are empty.

    Examples:
        >>> import rankine as rk
        >>> ev = rk.similarity(
        ...     {"q": ["a", "b", "c"]}, {"q": ["b", "a", "d"]}, "Jaccard@3"
        ... )
        >>> ev["Jaccard@3"]
        0.5
    """
    check_k(k)
    m = m.cut(k)
    union = m.x.length + m.y.length - m.count
    return _divided(m.count.astype(np.float64), union)


def promoted_kernel(m: Matched, *, k: int = 10) -> Floats:
    """Least item promoted: from how far down the top of a reranked list came.

    It takes the first k items of the reranked list, and of these the one that was
    lowest in the reference; the value is the number of ranks by which it was below k.

    Formula:
        LIP_k = max(0, max over the first k of the reranked list of rank_reference - k)

    Args:
        m: the lists of the reference, and of the reranker.
        k: the number of items that are shown.

    Returns:
        One value per query, from 0; nan if the reference is empty. LensKit counts
        ranks from 0 here, and so gives one rank less wherever an item was promoted.

    Examples:
        The third item of the reference is now first.

        >>> import rankine as rk
        >>> ev = rk.similarity({"q": ["a", "b", "c"]}, {"q": ["c", "a", "b"]}, "LIP@1")
        >>> ev["LIP@1"]
        2.0
    """
    check_count("k", k, least=1)
    shown = m.y_at < k
    lowest = np.zeros(m.n_queries, dtype=np.int64)
    np.maximum.at(lowest, m.query[shown], m.x_at[shown] + 1)
    gap = np.maximum(lowest - k, 0).astype(np.float64)
    return np.where(m.x.length == 0, np.nan, gap)
