"""Functions on two rankings, for users who have two lists at hand."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from rankine._base.checks import check_choice, check_number
from rankine._base.notebook import as_table
from rankine._base.text import percent
from rankine._evaluate.rankings.rankings import common, match, match_at, paired
from rankine._metrics.similarity import _correlation as correlation
from rankine._metrics.similarity._correlation import TIED, VARIANTS, Tied, Variant
from rankine._metrics.similarity._overlap import (
    average_overlap_kernel,
    jaccard_kernel,
    overlap_kernel,
    promoted_kernel,
)
from rankine._metrics.similarity._rbo import TIES, Bounds, Ties, bounds, untied
from rankine._metrics.similarity.weights import rbo_prefix_weight

if TYPE_CHECKING:
    from collections.abc import Callable

    from rankine._base.arrays import Floats

On = Literal["intersection", "union"] | None


@dataclass(frozen=True)
class RBO:
    """Rank-biased overlap of two lists, with its bounds.

    Attributes:
        min: the lower bound, reached if the lists have nothing else in common.
        max: the upper bound, however the lists continue.
        res: the residual, max - min.
        ext: the extrapolated value, if the lists go on agreeing as they do so far.
        p: the persistence.
        ties: how ties are treated.
        depth: the number of ranks that both lists have.
        weight: the share of the total weight that these ranks have.
    """

    min: float
    max: float
    res: float
    ext: float
    p: float
    ties: str
    depth: int
    weight: float

    @property
    def rbd(self) -> float:
        """The distance of the lists, 1 - ext: a metric for whole rankings without ties.

        For lists that end at different depths it is not a metric: the extrapolation of
        one pair says nothing about another.
        """
        return 1 - self.ext

    def __float__(self) -> float:
        """Return the extrapolated value."""
        return self.ext

    def __str__(self) -> str:
        """Return the number, its bounds and the depth in one line."""
        ranks = "1 rank" if self.depth == 1 else f"{self.depth} ranks"
        return (
            f"RBO {self.ext:.4f} (p = {self.p:g}), between {self.min:.4f} and "
            f"{self.max:.4f} however the lists continue; {ranks} in both, with "
            f"{percent(self.weight, 1)} of the weight"
        )

    def _repr_html_(self) -> str:
        return as_table(self)


def rbo(x: Any, y: Any, p: float = 0.9, ties: Ties = "w") -> RBO:
    """Rank-biased overlap of two lists, with its bounds.

    Compares the first item of both, the first two, the first three and so on, and
    gives each depth the weight (1 - p) p^(d-1). Lists may have different lengths and
    different items, and are assumed to go on: `min` and `max` bound the value for any
    continuation, and `ext` assumes that they go on agreeing as they do so far.

    Formula:
        RBO = (1 - p) sum_{d >= 1} p^(d-1) A_d, A_d = X_d / d, the share of items that
        both prefixes of depth d have in common

    Args:
        x: a list of items, best first, in which a list or set is a tie; the same as
            text, ``"a (b c) d"``; {item: score}; or a column of items.
        y: another one.
        p: the persistence: the probability that a user looks at the next rank. The
            smaller it is, the more weight the first ranks get; see `rbo_p`.
        ties: what items in a tie mean. ``w``: they share a rank, as in sports. ``a``:
            their order is unknown; the result is the mean over all orders, exactly so
            for lists of equal length. ``b``: the same, corrected for the information
            that ties lose, so that a list agrees with itself.

    Returns:
        min, max, res and ext, all 0 to 1. Two empty lists have ext 1, an empty list and
        another one 0.

    Raises:
        ParameterError: p is not between 0 and 1.
        DataError: an item appears twice in a list.

    References:
        W. Webber, A. Moffat, J. Zobel: A similarity measure for indefinite rankings.
        TOIS 2010. M. Corsi, J. Urbano: The treatment of ties in rank-biased overlap.
        SIGIR 2024.

    Examples:
        >>> import rankine as rk
        >>> found = rk.rbo(list("abcdefg"), list("zcavwxy"), p=0.95)
        >>> round(found.min, 3), round(found.max, 3), round(found.ext, 3)
        (0.168, 0.752, 0.291)
        >>> print(rk.rbo([1, 2, 3, 4], [2, 1, 3, 5], p=0.85))
        RBO 0.6965 (p = 0.85), between 0.4906 and 0.8270 however the lists continue; \
4 ranks in both, with 72.6 % of the weight
    """
    check_number("p", p, above=0, below=1)
    check_choice("ties", ties, TIES)
    first, other, x_at, y_at = common(x, y)
    sizes = len(first.items), len(other.items)
    if first.top is None and other.top is None:
        values = untied(np.maximum(x_at, y_at) + 1, *sizes, float(p))
    else:
        matched = match_at(first, other, x_at, y_at)
        values = Bounds(*(float(v[0]) for v in bounds(matched, float(p), ties)))
    depth = min(sizes)
    weight = rbo_prefix_weight(depth, p)
    return RBO(*values, float(p), ties, depth, weight)


def overlap(x: Any, y: Any, k: int | None = None, ties: Ties = "w") -> float:
    """Share of the first k items that two lists have in common, their agreement.

    Formula:
        A_k = X_k / k, X_k the number of items in both prefixes of depth k

    Args:
        x: a ranking, in any form that `rbo` takes.
        y: another one.
        k: the depth; the length of the shorter list if not given. A list that ends
            before k has no further item in common.
        ties: as in `rbo`.

    Returns:
        0 to 1; nan if there is nothing to compare.

    References:
        W. Webber, A. Moffat, J. Zobel: A similarity measure for indefinite rankings.
        TOIS 2010.

    Examples:
        1, 2 and 3 are in both.

        >>> overlap([1, 2, 3, 4], [2, 1, 3, 5], k=4)
        0.75
    """
    return float(overlap_kernel(match(x, y), k=k, ties=ties)[0])


def average_overlap(x: Any, y: Any, k: int | None = None, ties: Ties = "w") -> float:
    """Mean agreement of two lists over all depths down to k.

    Formula:
        AO_k = 1/k sum_{d=1..k} A_d, A_d the share of common items at depth d

    Args:
        x: a ranking, in any form that `rbo` takes.
        y: another one.
        k: the depth; the length of the shorter list if not given. A list that ends
            before k has no further item in common.
        ties: as in `rbo`.

    Returns:
        0 to 1; nan if there is nothing to compare.

    References:
        R. Fagin, R. Kumar, D. Sivakumar: Comparing top k lists. SIAM Journal on
        Discrete Mathematics 2003.

    Examples:
        >>> average_overlap([1, 2, 3, 4], [2, 1, 3, 5], k=4), (0 + 1 + 1 + 0.75) / 4
        (0.6875, 0.6875)
    """
    return float(average_overlap_kernel(match(x, y), k=k, ties=ties)[0])


def jaccard(x: Any, y: Any, k: int | None = None) -> float:
    """Jaccard similarity of the items of two lists, whatever their order.

    Formula:
        |X n Y| / |X u Y|

    Args:
        x: a ranking, in any form that `rbo` takes.
        y: another one.
        k: use only the first k items.

    Returns:
        0 to 1; nan if both lists are empty.

    Examples:
        >>> jaccard([1, 2, 3], [2, 1, 4], k=3)
        0.5
    """
    return float(jaccard_kernel(match(x, y), k=k)[0])


def least_item_promoted(reference: Any, reranked: Any, k: int = 10) -> float:
    """How far below k the lowest of the reranked first k items was before.

    Formula:
        LIP_k = max(0, max over the first k of the reranked list of rank_reference - k)

    Args:
        reference: the ranking before, in any form that `rbo` takes.
        reranked: the ranking after.
        k: the number of items that are shown.

    Returns:
        From 0; nan if the reference is empty. LensKit counts ranks from 0 here, so its
        value is one rank less if any item was promoted.

    Examples:
        The item at rank 5 is now second; it stood 3 ranks below 2.

        >>> least_item_promoted(["a", "b", "c", "d", "e"], ["a", "e", "b"], k=2)
        3.0
    """
    return float(promoted_kernel(match(reference, reranked), k=k)[0])


def kendall_tau(x: Any, y: Any, variant: Variant = "b", *, on: On = None) -> float:
    """Kendall's tau: pairs in the same order, minus pairs in the opposite order.

    Formula:
        a: (C - D) / (n (n-1) / 2)
        b: (C - D) / sqrt((C + D + T_x) (C + D + T_y)), T tied in x or in y alone
        c: 2 (C - D) / (n^2 (m - 1) / m), m the smaller number of different values
        ap: 2 / (n-1) sum_{i=2..n} C(i) / (i-1) - 1, C(i) the items above rank i of y
        that are above that item in x too; the mean over all orders of tied items
        weighted: pairs weighed by 1/rank of both items, as scipy's weightedtau does

    Args:
        x: a ranking in any form that `rbo` takes, and the reference of ``ap``; or a
            column of numbers, the larger the better. A list of whole numbers is a
            ranking of ids.
        y: another ranking, or the numbers of the same rows.
        variant: ``a``, ``b``, ``c``, ``ap`` or ``weighted``.
        on: which items count if the rankings have different ones: ``intersection``,
            those of both; ``union``, all items, where those that a ranking lacks come
            after its last one. If it is not given, different items are an error.

    Returns:
        -1 to 1; nan with fewer than two items, and b, c and weighted also where all are
        tied. b, c and weighted are the same as scipy's.

    References:
        M. G. Kendall: The treatment of ties in ranking problems. Biometrika 1945.
        E. Yilmaz, J. A. Aslam, S. Robertson: A new rank correlation coefficient for
        information retrieval. SIGIR 2008. S. Vigna: A weighted correlation index for
        rankings with ties. WWW 2015.

    Examples:
        Of the three pairs, only b and a are the other way round.

        >>> round(kendall_tau(["a", "b", "c"], ["b", "a", "c"]), 4)
        0.3333
        >>> kendall_tau(["a", "b", "c"], ["b", "a", "c"], variant="ap")
        0.0
    """
    check_choice("variant", variant, VARIANTS)
    return _of_one(correlation.tau, paired(x, y, on), variant)


def spearman(x: Any, y: Any, *, on: On = None) -> float:
    """Spearman's rank correlation.

    Formula:
        Pearson's r of the ranks, tied items at their mean rank

    Args:
        x: a ranking in any form that `rbo` takes; or a column of numbers.
        y: another ranking, or the numbers of the same rows.
        on: as in `kendall_tau`.

    Returns:
        -1 to 1; nan with fewer than two items, or where all are tied. The same as
        scipy's.

    References:
        C. Spearman: The proof and measurement of association between two things.
        American Journal of Psychology 1904.

    Examples:
        >>> round(spearman({"a": 3, "b": 2, "c": 1}, {"a": 2, "b": 3, "c": 1}), 4)
        0.5
    """
    return _of_one(correlation.spearman, paired(x, y, on))


def pearson(x: Any, y: Any, *, on: On = None) -> float:
    """Pearson's correlation of scores.

    Formula:
        sum (x - mean x) (y - mean y) / sqrt(sum (x - mean x)^2 sum (y - mean y)^2)

    Args:
        x: {item: score}, or a column or list of numbers.
        y: the same, for the same items or rows.
        on: ``intersection`` if only the items of both count.

    Returns:
        -1 to 1; nan with fewer than two items, or where all scores are equal. The same
        as scipy's.

    Examples:
        >>> round(pearson({"a": 1, "b": 2, "c": 4}, {"a": 2, "b": 4, "c": 8}), 12)
        1.0
    """
    return _of_one(correlation.pearson, paired(x, y, on, by_score=True))


def ndpm(reference: Any, system: Any, *, on: On = None) -> float:
    """Normalised distance-based performance measure.

    Of the pairs that the reference orders, the share that the system has the other way
    round, plus half the share that it ties. Pairs that the reference ties do not count.

    Formula:
        NDPM = (2 C- + Cu) / (2 C)

    Args:
        reference: a ranking in any form that `rbo` takes; or a column of numbers.
        system: another ranking, or the numbers of the same rows.
        on: as in `kendall_tau`.

    Returns:
        0, the same order, to 1, the reverse; nan if the reference orders no pair.

    References:
        Y. Y. Yao: Measuring retrieval effectiveness based on user preference of
        documents. JASIS 1995.

    Examples:
        Of a-b, a-c and b-c, one is the other way round; then one is tied.

        >>> round(ndpm(["a", "b", "c"], ["b", "a", "c"]), 4)
        0.3333
        >>> ndpm(["a", "b", "c"], ["a", ["b", "c"]]), (0 + 1) / (2 * 3)
        (0.16666666666666666, 0.16666666666666666)
    """
    return _of_one(correlation.ndpm, paired(reference, system, on))


def fcp(
    reference: Any, system: Any, *, tied: Tied = "discordant", on: On = None
) -> float:
    """Fraction of the pairs ordered by the reference that are concordant.

    Formula:
        FCP = concordant pairs / (concordant + discordant pairs)

    Args:
        reference: a ranking in any form that `rbo` takes; or a column of numbers.
        system: another ranking, or the numbers of the same rows.
        tied: a pair that the system ties is ``discordant``, counts ``half``, or is left
            out (``ignore``).
        on: as in `kendall_tau`.

    Returns:
        0 to 1; nan without pairs.

    References:
        Y. Koren, J. Sill: Collaborative filtering on ordinal user feedback. IJCAI 2013.

    Examples:
        >>> round(fcp({"a": 5, "b": 3, "c": 1}, {"a": 0.9, "b": 0.2, "c": 0.4}), 4)
        0.6667
    """
    check_choice("tied", tied, TIED)
    return _of_one(correlation.fcp, paired(reference, system, on), tied)


def _of_one(
    kernel: Callable[..., Floats], pair: tuple[Floats, Floats], *how: str
) -> float:
    """Return the correlation of the only pair of rankings there is."""
    return float(kernel(*pair, correlation.single(len(pair[0])), *how)[0])
