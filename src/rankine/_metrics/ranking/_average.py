"""Averages over ranks: AP, AR, RR, R-precision."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import numpy as np

from rankine._base.arrays import all_true
from rankine._base.checks import check_choice
from rankine._metrics.metric import register
from rankine._metrics.ranking._cutoff import check_binary, found_within, ratio
from rankine._metrics.ranking.expected import (
    average_precision_sum,
    extreme_over_hits,
    first_rank,
)
from rankine._tables.segments import position, runs
from rankine.errors import ParameterError

if TYPE_CHECKING:
    from rankine._base.arrays import Floats
    from rankine._join import Judged, Ties

AveragePrecisionDivisor = Literal["R", "min_k_R", "min_R_list", "hits", "k", "none"]
_DIVISORS = ("R", "min_k_R", "min_R_list", "hits", "k", "none")


def average_precision(
    table: Judged,
    *,
    k: int | None = None,
    rel: float = 1,
    divisor: AveragePrecisionDivisor = "R",
    terms: Literal["hits", "all_ranks"] = "hits",
    ties: Ties | Literal["last"] | None = None,
) -> Floats:
    """Mean of the precision at the rank of each relevant item.

    Relevant items that are not found, or are below rank k, count as 0.

    Formula:
        AP@k = (1 / D) * sum of P@i over the hits at ranks i <= k, with D = R

    Args:
        table: the joined table.
        k: cutoff.
        rel: an item is relevant when its grade is at least this.
        divisor: D: ``R``, all relevant items (trec_eval, ranx, RELISON); ``min_k_R``,
            what fits above the cutoff (Jurity, RankSys, Spark, RecBole);
            ``min_R_list``, what fits into the list (LensKit); ``hits``, those found
            (torchmetrics); ``k``; ``none``, no division.
        terms: ``hits``, or ``all_ranks``: P@i at every rank up to k (Elliot's MAP).
        ties: ``average``, ``best`` or ``worst`` order of tied items; or ``last``:
            each of them counts as if it were the last (scikit-learn's label ranking
            average precision, Cornac).

    Returns:
        One value per query, 0 to 1 (more only for ``none``, and ``all_ranks`` without
        ``k``); nan without relevant items.

    References:
        C. Buckley, E. M. Voorhees: Evaluating evaluation measure stability. SIGIR 2000.
        https://doi.org/10.1145/345508.345543

    Examples:
        Hits at ranks 1 and 3, four relevant items: (1/1 + 2/3) / 4 = 0.4167.

        >>> import rankine as rk
        >>> relevant = {"a": 1, "c": 1, "d": 1, "e": 1}
        >>> qrels, run = {"q": relevant}, {"q": ["a", "b", "c"]}
        >>> rk.evaluate(qrels, run, "AP@3").mean
        {'AP@3': 0.4167}

        Three of the four fit above the cutoff: (1 + 2/3) / 3; two are found:
        (1 + 2/3) / 2; all three ranks: (1 + 1/2 + 2/3) / 3.

        >>> rk.evaluate(qrels, run, "AP(divisor='min_k_R')@3").mean
        {"AP(divisor='min_k_R')@3": 0.5556}
        >>> rk.evaluate(qrels, run, "AP(divisor='hits')@3").mean
        {"AP(divisor='hits')@3": 0.8333}
        >>> rk.evaluate(qrels, run, "AP(divisor='k',terms='all_ranks')@3").mean
        {"AP(divisor='k',terms='all_ranks')@3": 0.7222}
    """
    check_choice("divisor", divisor, _DIVISORS)
    check_choice("terms", terms, ("hits", "all_ranks"))
    if ties == "last":
        check_binary(k, rel, None)
        if terms == "all_ranks":
            msg = "AP cannot combine ties='last' with terms='all_ranks'"
            raise ParameterError(msg)
        total = _precision_at_last(table, k, rel)
        return _divided(table, total, k, rel, divisor, None)
    check_binary(k, rel, ties)
    if ties and divisor == "hits" and terms == "all_ranks":
        msg = "AP cannot combine ties with divisor='hits' and terms='all_ranks'"
        raise ParameterError(msg)
    if terms == "all_ranks":
        total = _precision_at_every_rank(table, k, rel, ties)
    else:
        total = _precision_at_hits(table, k, rel, divisor, ties)
    return _divided(table, total, k, rel, divisor, ties)


def _divided(
    table: Judged,
    total: Floats,
    k: int | None,
    rel: float,
    divisor: str,
    ties: Ties | None,
) -> Floats:
    most = table.n_relevant(rel)
    down = most if divisor == "R" else _divisor(table, k, rel, divisor, ties)
    if all_true(down) and (down is most or all_true(most)):
        return total / down
    value = ratio(total, down)
    value[down == 0] = 0
    value[most == 0] = np.nan
    return value


def _precision_at_last(table: Judged, k: int | None, rel: float) -> Floats:
    """Sum over the hits the precision at the last item with the same score."""
    row = table.hits(rel).row
    query, last = table.query[row], table.above[row] + table.tied[row]
    first, block = runs(query, table.above[row])
    # Hits down to the end of the block: those before it, and those in it.
    n_hits = position(query)[first][block] + np.bincount(block)[block]
    inside = last <= k if k is not None else last > 0
    return table.per_query(query[inside], (n_hits / last)[inside])


def _precision_at_hits(
    table: Judged, k: int | None, rel: float, divisor: str, ties: Ties | None
) -> Floats:
    """Sum P@i over the hits within k; with ties, over their number if that divides."""
    if ties == "average":
        return average_precision_sum(table, rel, k, over_hits=divisor == "hits")
    if ties and divisor == "hits":
        return extreme_over_hits(table, rel, k, ties)
    hits = table.hits(rel, ties)
    query, gain = hits.query, hits.nth / hits.rank
    if k is not None:
        inside = hits.rank <= k
        query, gain = query[inside], gain[inside]
    return table.per_query(query, gain)


def _divisor(
    table: Judged, k: int | None, rel: float, divisor: str, ties: Ties | None
) -> Floats:
    """Return what the sum of precisions is divided by, if not by R."""
    if divisor == "hits":
        # Over ties the ratio has been taken already.
        return np.ones(table.n_queries) if ties else found_within(table, k, rel)
    most = table.n_relevant(rel)
    if divisor == "min_k_R":
        return most if k is None else np.minimum(most, k)
    length = table.length()
    if divisor == "min_R_list":
        return np.minimum(most, length if k is None else np.minimum(length, k))
    if divisor == "k":
        return length if k is None else np.full(table.n_queries, float(k))
    return np.ones(table.n_queries)


def _precision_at_every_rank(
    table: Judged, k: int | None, rel: float, ties: Ties | None
) -> Floats:
    """Sum P@i over the ranks up to k, or up to the end of the list."""
    # A hit at rank r adds 1/i to every P@i from i = r on: H(last) - H(r - 1).
    deepest = table.length() if k is None else np.full(table.n_queries, float(k))
    last = deepest.astype(np.int64)
    top = int(max(last.max(initial=0), table.rank.max(initial=0)))
    harmonic = np.concatenate(([0.0], np.cumsum(1 / np.arange(1, top + 1))))
    if ties != "average":
        hits = table.hits(rel, ties)
        end = last[hits.query]
        inside = hits.rank <= end
        query, rank, end = hits.query[inside], hits.rank[inside], end[inside]
        return table.per_query(query, harmonic[end] - harmonic[rank - 1])
    row = table.hits(rel).row
    query, above, tied = table.query[row], table.above[row], table.tied[row]
    end = last[query]
    begin = np.minimum(above, end)
    stop = np.minimum(above + tied, end)
    # Inside the block P@i grows by (i - above) / tied / i; below it by 1 / i.
    within = (stop - begin - above * (harmonic[stop] - harmonic[begin])) / tied
    return table.per_query(query, within + harmonic[end] - harmonic[stop])


AP = register(
    "AP",
    average_precision,
    aliases=("MAP", "AveragePrecision", "average_precision", "mean_average_precision"),
    follows={"divisor": "ap_den", "terms": "ap_terms"},
)


def average_recall(
    table: Judged,
    *,
    k: int | None = None,
    rel: float = 1,
    variant: Literal["mean", "hits", "recmetrics"] = "mean",
) -> Floats:
    """Mean of the recall at the ranks 1 to k.

    Formula:
        AR@k = (R@1 + R@2 + ... + R@k) / k

    Args:
        table: the joined table.
        k: cutoff; the length of the list if not given.
        rel: an item is relevant when its grade is at least this.
        variant: ``mean`` as above (Elliot); ``hits``: (1 / R) * sum of R@i over the
            hits (Evidently), which does not depend on their order; ``recmetrics``: the
            sum of P@i over the hits, divided by R, which is average precision under
            another name.

    Returns:
        One value per query, 0 to 1; nan without relevant items.

    References:
        V. W. Anelli et al.: Elliot: a comprehensive and rigorous framework for
        reproducible recommender systems evaluation. SIGIR 2021.
        https://doi.org/10.1145/3404835.3463245

    Examples:
        Hits at ranks 1 and 3, two relevant items: (1/2 + 1/2 + 2/2) / 3 = 0.6667.

        >>> import rankine as rk
        >>> qrels, run = {"q": {"a": 1, "c": 1}}, {"q": ["a", "b", "c"]}
        >>> rk.evaluate(qrels, run, "AR@3").mean
        {'AR@3': 0.6667}

        Over the hits: (1/2 + 2/2) / 2; as recmetrics: (1/1 + 2/3) / 2.

        >>> rk.evaluate(qrels, run, "AR(variant='hits')@3").mean
        {"AR(variant='hits')@3": 0.75}
        >>> rk.evaluate(qrels, run, "AR(variant='recmetrics')@3").mean
        {"AR(variant='recmetrics')@3": 0.8333}
    """
    check_binary(k, rel, None)
    check_choice("variant", variant, ("mean", "hits", "recmetrics"))
    if variant == "recmetrics":
        return average_precision(table, k=k, rel=rel)
    hits = table.hits(rel)
    most = table.n_relevant(rel)
    inside = hits.rank <= k if k is not None else hits.rank > 0
    query = hits.query[inside]
    if variant == "hits":
        return ratio(
            ratio(table.per_query(query, hits.nth[inside].astype(np.float64)), most),
            most,
        )
    # A hit at rank r counts in R@r, ..., R@k: k - r + 1 times.
    last = table.length() if k is None else np.full(table.n_queries, float(k))
    times = last[query] - hits.rank[inside] + 1
    value = ratio(table.per_query(query, times), last * most)
    value[last == 0] = 0
    value[most == 0] = np.nan
    return value


AR = register("AR", average_recall, aliases=("MAR", "AverageRecall", "average_recall"))


def reciprocal_rank(
    table: Judged,
    *,
    k: int | None = None,
    rel: float = 1,
    variant: Literal["first", "sum"] = "first",
    ties: Ties | None = None,
) -> Floats:
    """One over the rank of the first relevant item.

    Formula:
        RR@k = 1 / rank of the first hit, 0 if it is below rank k

    Args:
        table: the joined table.
        k: cutoff.
        rel: an item is relevant when its grade is at least this.
        variant: ``first``, or ``sum``: the sum of 1 / rank over all hits, which some
            study notes print and which can exceed 1.
        ties: ``average``, ``best`` or ``worst`` order of tied items.

    Returns:
        One value per query, 0 to 1 (more for ``sum``).

    References:
        E. M. Voorhees: The TREC-8 question answering track report. 1999.

    Examples:
        The first hit is at rank 2: 1 / 2.

        >>> import rankine as rk
        >>> qrels, run = {"q": {"a": 1, "b": 1}}, {"q": ["x", "a", "b"]}
        >>> rk.evaluate(qrels, run, "RR").mean
        {'RR': 0.5}

        All hits: 1/2 + 1/3.

        >>> rk.evaluate(qrels, run, "RR(variant='sum')").mean
        {"RR(variant='sum')": 0.8333}
    """
    check_binary(k, rel, ties)
    check_choice("variant", variant, ("first", "sum"))
    if variant == "sum":
        return _sum_of_reciprocals(table, k, rel, ties)
    if ties == "average":
        return first_rank(table, rel, k)
    hits = table.hits(rel, ties)
    first = hits.nth == 1
    if k is not None:
        first &= hits.rank <= k
    reciprocal: Floats = 1 / hits.rank[first]
    return table.per_query(hits.query[first], reciprocal)


def _sum_of_reciprocals(
    table: Judged, k: int | None, rel: float, ties: Ties | None
) -> Floats:
    from rankine._metrics.ranking.expected import mean_weight  # noqa: PLC0415

    if ties == "average":
        row = table.hits(rel).row
        above, tied = table.above[row], table.tied[row]
        top = int((above + tied).max(initial=0))
        prefix = np.concatenate(([0.0], np.cumsum(1 / np.arange(1, top + 1))))
        return table.per_query(table.query[row], mean_weight(above, tied, k, prefix))
    hits = table.hits(rel, ties)
    inside = hits.rank <= k if k is not None else hits.rank > 0
    return table.per_query(hits.query[inside], 1 / hits.rank[inside])


RR = register(
    "RR",
    reciprocal_rank,
    aliases=("MRR", "recip_rank", "ReciprocalRank", "reciprocal_rank"),
    contested=(
        "whether means of reciprocal ranks may be compared is contested (Fuhr 2017, "
        "Sakai 2020)"
    ),
)


def r_precision(
    table: Judged,
    *,
    k: int | None = None,
    rel: float = 1,
    misses: Literal["zero", "undefined"] = "zero",
) -> Floats:
    """Precision at the rank that equals the number of relevant items.

    Formula:
        Rprec = hits in the first R / R

    Args:
        table: the joined table.
        k: cutoff, beyond which nothing is found even if R is larger.
        rel: an item is relevant when its grade is at least this.
        misses: whether a query for which nothing is found counts as 0 or is
            ``undefined``, as in recommenders.

    Returns:
        One value per query, 0 to 1; nan without relevant items.

    References:
        trec_eval, m_Rprec.c.

    Examples:
        Two relevant items, one of them among the first two: 1 / 2.

        >>> import rankine as rk
        >>> qrels, run = {"q": {"a": 1, "b": 1}}, {"q": ["x", "a", "b"]}
        >>> rk.evaluate(qrels, run, "Rprec").mean
        {'Rprec': 0.5}
    """
    check_binary(k, rel, None)
    check_choice("misses", misses, ("zero", "undefined"))
    hits = table.hits(rel)
    most = table.n_relevant(rel)
    last = most if k is None else np.minimum(most, k)
    inside = hits.rank <= last[hits.query]
    value = ratio(table.per_query(hits.query[inside]), most)
    if misses == "undefined":
        value[value == 0] = np.nan
    return value


Rprec = register(
    "Rprec",
    r_precision,
    aliases=("R-precision", "r_precision", "RPrec"),
    undefined="convention",
)
