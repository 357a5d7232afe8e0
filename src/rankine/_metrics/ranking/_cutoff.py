"""Counting hits above a cutoff: precision, recall, F, success, and their relatives."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import numpy as np

from rankine._base.arrays import all_true
from rankine._base.checks import check_choice, check_k, check_number
from rankine._metrics.metric import register
from rankine._metrics.ranking.expected import any_within, share_within

if TYPE_CHECKING:
    from rankine._base.arrays import Floats
    from rankine._join import Judged, Ties

PrecisionDivisor = Literal["k", "list", "min_k_R"]
RecallDivisor = Literal["R", "min_k_R"]
TIES = ("average", "best", "worst")


def check_binary(k: object, rel: object, ties: object) -> None:
    """Check the parameters that all metrics with a threshold share."""
    check_k(k)
    check_number("rel", rel)
    if ties is not None:
        check_choice("ties", ties, TIES)


def found_within(
    table: Judged,
    k: int | None,
    rel: float,
    min_score: float | None = None,
    ties: Ties | None = None,
) -> Floats:
    """Count each query's hits down to rank k; expected hits where ties are averaged."""
    if ties == "average":
        row = table.hits(rel).row
        weight = share_within(table.above[row], table.tied[row], k)
        if min_score is not None:
            weight = weight * (table.score[row] >= min_score)
        return table.per_query(table.query[row], weight)
    key = ("found", k, rel, min_score, ties)
    counted: Floats | None = table.memo.get(key)
    if counted is None:
        hits = table.hits(rel, ties)
        query = hits.query
        if min_score is not None:
            inside = hits.score >= min_score
            query = query[inside if k is None else inside & (hits.rank <= k)]
        elif k is not None:
            query = query[hits.rank <= k]
        counted = table.memo[key] = table.per_query(query)
        counted.setflags(write=False)  # other metrics are given the same array
    return counted


def ratio(numerator: Floats, denominator: Floats) -> Floats:
    """Divide, with nan for 0 / 0 and without a warning."""
    if all_true(denominator):
        return numerator / denominator
    with np.errstate(divide="ignore", invalid="ignore"):
        return numerator / denominator


def _shown(
    table: Judged, k: int | None, rel: float, divisor: str, min_score: float | None
) -> Floats:
    """Return what precision divides by."""
    if k is not None and divisor == "k":
        shown = np.empty(table.n_queries)
        shown.fill(k)
        return shown
    if k is not None and divisor == "min_k_R":
        return np.minimum(table.n_relevant(rel), k)
    length = table.length(min_score)
    if divisor == "min_k_R":
        return np.minimum(table.n_relevant(rel), length)
    return length if k is None else np.minimum(length, k)


def precision_parts(
    table: Judged,
    *,
    k: int | None = None,
    rel: float = 1,
    divisor: PrecisionDivisor = "k",
    min_score: float | None = None,
    ties: Ties | None = None,
) -> tuple[Floats, Floats]:
    """Return hits and what they are divided by, for pooled precision."""
    check_binary(k, rel, ties)
    check_choice("divisor", divisor, ("k", "list", "min_k_R"))
    if min_score is not None:
        check_number("min_score", min_score)
    hits = found_within(table, k, rel, min_score, ties)
    return hits, _shown(table, k, rel, divisor, min_score)


def precision(
    table: Judged,
    *,
    k: int | None = None,
    rel: float = 1,
    divisor: PrecisionDivisor = "k",
    min_score: float | None = None,
    ties: Ties | None = None,
) -> Floats:
    """Share of relevant items among the first k.

    Without k, the share among all retrieved items.

    Formula:
        P@k = hits in the first k / k

    Args:
        table: the joined table.
        k: cutoff.
        rel: an item is relevant when its grade is at least this.
        divisor: ``k``; ``list``: min(k, list length), as Jurity and LensKit do;
            ``min_k_R``: min(k, number of relevant items).
        min_score: items below this score do not count as retrieved.
        ties: ``average``, ``best`` or ``worst`` order of tied items.

    Returns:
        One value per query, 0 to 1; 0 for an empty list, and nan for ``min_k_R``
        without relevant items.

    References:
        C. J. van Rijsbergen: Information Retrieval, 2nd ed., chapter 7. 1979.

    Examples:
        One relevant item among the first two: 1 / 2 = 0.5.

        >>> import rankine as rk
        >>> qrels, run = {"q": {"a": 1, "b": 1}}, {"q": ["x", "a", "b"]}
        >>> rk.evaluate(qrels, run, "P@2").mean
        {'P@2': 0.5}

        The list fills three of five places, two of them with hits: 2 / 5 by the cutoff,
        2 / 3 by the list, 2 / min(5, 2) by the number of relevant items.

        >>> rk.evaluate(qrels, run, "P@5").mean
        {'P@5': 0.4}
        >>> rk.evaluate(qrels, run, "P(divisor='list')@5").mean
        {"P(divisor='list')@5": 0.6667}
        >>> rk.evaluate(qrels, run, "P(divisor='min_k_R')@5").mean
        {"P(divisor='min_k_R')@5": 1.0}

        Two tied items, one of them relevant: first or second with equal chance.

        >>> qrels, run = {"q": {"a": 1}}, {"q": {"a": 1.0, "b": 1.0}}
        >>> rk.evaluate(qrels, run, "P(ties='average')@1").mean
        {"P(ties='average')@1": 0.5}
    """
    hits, shown = precision_parts(
        table, k=k, rel=rel, divisor=divisor, min_score=min_score, ties=ties
    )
    if all_true(shown):
        return hits / shown
    value = ratio(hits, shown)
    value[shown == 0] = 0
    if divisor == "min_k_R":
        value[table.n_relevant(rel) == 0] = np.nan
    return value


P = register(
    "P",
    precision,
    aliases=("Precision",),
    parts=precision_parts,
    by_set=True,
    follows={"divisor": "p_den"},
)


def recall_parts(
    table: Judged,
    *,
    k: int | None = None,
    rel: float = 1,
    divisor: RecallDivisor = "R",
    min_score: float | None = None,
    ties: Ties | None = None,
) -> tuple[Floats, Floats]:
    """Return hits and what they are divided by, for pooled recall."""
    check_binary(k, rel, ties)
    check_choice("divisor", divisor, ("R", "min_k_R"))
    if min_score is not None:
        check_number("min_score", min_score)
    most = table.n_relevant(rel)
    if divisor == "min_k_R" and k is not None:
        most = np.minimum(most, k)
    return found_within(table, k, rel, min_score, ties), most


def recall(
    table: Judged,
    *,
    k: int | None = None,
    rel: float = 1,
    divisor: RecallDivisor = "R",
    min_score: float | None = None,
    ties: Ties | None = None,
) -> Floats:
    """Share of the relevant items that are among the first k.

    Formula:
        R@k = hits in the first k / R, with R the number of relevant items

    Args:
        table: the joined table.
        k: cutoff.
        rel: an item is relevant when its grade is at least this.
        divisor: ``R``; ``min_k_R``: the most that the first k ranks can hold, min(k,
            R), as LensKit does.
        min_score: items below this score do not count as retrieved.
        ties: ``average``, ``best`` or ``worst`` order of tied items.

    Returns:
        One value per query, 0 to 1; nan without relevant items.

    References:
        C. J. van Rijsbergen: Information Retrieval, 2nd ed., chapter 7. 1979.

    Examples:
        One of two relevant items is among the first two: 1 / 2.

        >>> import rankine as rk
        >>> qrels, run = {"q": {"a": 1, "b": 1}}, {"q": ["x", "a", "b"]}
        >>> rk.evaluate(qrels, run, "R@2").mean
        {'R@2': 0.5}

        The first rank could hold one of them: 0 / min(1, 2) = 0.

        >>> rk.evaluate(qrels, run, "R(divisor='min_k_R')@1").mean
        {"R(divisor='min_k_R')@1": 0.0}
    """
    hits, most = recall_parts(
        table, k=k, rel=rel, divisor=divisor, min_score=min_score, ties=ties
    )
    if all_true(most):
        return hits / most
    value = ratio(hits, most)
    value[most == 0] = 0
    value[table.n_relevant(rel) == 0] = np.nan
    return value


R = register(
    "R",
    recall,
    aliases=("Recall",),
    parts=recall_parts,
    by_set=True,
    follows={"divisor": "r_den"},
)


def f_parts(
    table: Judged,
    *,
    k: int | None = None,
    rel: float = 1,
    beta: float = 1,
    divisor: PrecisionDivisor = "k",
    min_score: float | None = None,
    ties: Ties | None = None,
) -> tuple[Floats, Floats]:
    """Return numerator and denominator of F, for the pooled value."""
    check_number("beta", beta, least=0)
    hits, shown = precision_parts(
        table, k=k, rel=rel, divisor=divisor, min_score=min_score, ties=ties
    )
    # With P = h / d and R = h / n, (1 + b²) P R / (b² P + R) = (1 + b²) h / (b² n + d).
    square = beta * beta
    return (1 + square) * hits, square * table.n_relevant(rel) + shown


def f_measure(
    table: Judged,
    *,
    k: int | None = None,
    rel: float = 1,
    beta: float = 1,
    divisor: PrecisionDivisor = "k",
    min_score: float | None = None,
    ties: Ties | None = None,
) -> Floats:
    """Weighted harmonic mean of precision and recall, per query.

    Formula:
        F@k = (1 + b²) P R / (b² P + R), with P = P@k and R = R@k; 0 if both are 0

    Args:
        table: the joined table.
        k: cutoff.
        rel: an item is relevant when its grade is at least this.
        beta: how many times more recall counts than precision.
        divisor: what precision divides by, as in P.
        min_score: items below this score do not count as retrieved.
        ties: ``average``, ``best`` or ``worst`` order of tied items.

    Returns:
        One value per query, 0 to 1; nan without relevant items.

    References:
        C. J. van Rijsbergen: Information Retrieval, 2nd ed., chapter 7. 1979.

    Examples:
        P@3 = 2/3 and R@3 = 2/2: 2 * (2/3) * 1 / (2/3 + 1) = 0.8.

        >>> import rankine as rk
        >>> qrels, run = {"q": {"a": 1, "b": 1}}, {"q": ["x", "a", "b"]}
        >>> rk.evaluate(qrels, run, "F@3").mean
        {'F@3': 0.8}

        Recall counts twice: 5 * (2/3) / (4 * 2/3 + 1) = 0.9091.

        >>> rk.evaluate(qrels, run, "F(beta=2)@3").mean
        {'F(beta=2)@3': 0.9091}
    """
    up, down = f_parts(
        table, k=k, rel=rel, beta=beta, divisor=divisor, min_score=min_score, ties=ties
    )
    value = ratio(up, down)
    value[down == 0] = 0
    value[table.n_relevant(rel) == 0] = np.nan
    return value


F = register(
    "F",
    f_measure,
    aliases=("F1", "FMeasure"),
    parts=f_parts,
    by_set=True,
    follows={"divisor": "p_den"},
)


def success_parts(
    table: Judged,
    *,
    k: int | None = None,
    rel: float = 1,
    ties: Ties | None = None,
) -> tuple[Floats, Floats]:
    """Return the success of each query and 1, for the pooled value."""
    return success(table, k=k, rel=rel, ties=ties), np.ones(table.n_queries)


def success(
    table: Judged,
    *,
    k: int | None = None,
    rel: float = 1,
    ties: Ties | None = None,
) -> Floats:
    """Whether a relevant item is among the first k.

    Formula:
        Success@k = 1 if there is a hit in the first k, else 0

    Args:
        table: the joined table.
        k: cutoff.
        rel: an item is relevant when its grade is at least this.
        ties: ``average`` gives the probability, ``best`` and ``worst`` the bounds.

    Returns:
        One value per query, 0 or 1 (in between for averaged ties).

    References:
        trec_eval, m_success.c. Also called hit rate, and top-k accuracy in study notes;
        scikit-learn's top_k_accuracy_score is something else.

    Examples:
        The first hit is at rank 2.

        >>> import rankine as rk
        >>> qrels, run = {"q": {"a": 1, "b": 1}}, {"q": ["x", "a", "b"]}
        >>> rk.evaluate(qrels, run, ["Success@1", "Success@2"]).mean
        {'Success@1': 0.0, 'Success@2': 1.0}
    """
    check_binary(k, rel, ties)
    if ties == "average":
        return any_within(table, rel, k)
    return (found_within(table, k, rel, None, ties) > 0).astype(np.float64)


Success = register(
    "Success",
    success,
    aliases=("HitRate", "hit_rate", "HR", "Hit", "TopKAccuracy", "top_k_accuracy"),
    parts=success_parts,
    by_set=True,
)


def hit_count(
    table: Judged,
    *,
    k: int | None = None,
    rel: float = 1,
    ties: Ties | None = None,
    aggregate: Literal["sum", "mean"] = "sum",
) -> Floats:
    """Number of relevant items among the first k, summed over queries.

    Formula:
        HitCount@k = hits in the first k

    Args:
        table: the joined table.
        k: cutoff.
        rel: an item is relevant when its grade is at least this.
        ties: ``average``, ``best`` or ``worst`` order of tied items.
        aggregate: the ``sum`` over queries, or the ``mean`` (ranx).

    Returns:
        One count per query, 0 or more.

    References:
        ranx, hits.

    Examples:
        >>> import rankine as rk
        >>> qrels, run = {"q": {"a": 1, "b": 1}}, {"q": ["x", "a", "b"]}
        >>> rk.evaluate(qrels, run, "HitCount@2").mean
        {'HitCount@2': 1.0}
    """
    check_binary(k, rel, ties)
    check_choice("aggregate", aggregate, ("sum", "mean"))
    return found_within(table, k, rel, None, ties)


HitCount = register(
    "HitCount",
    hit_count,
    aliases=("hits",),
    bounds=(0, np.inf),
    summary="sum",
    by_set=True,
)
