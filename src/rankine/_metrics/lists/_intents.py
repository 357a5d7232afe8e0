"""Gain by topic, with the choices of ndeval: alpha_DCG, nERR_IA, NRBP, AP_IA, P_IA.

Each topic is what some users want: an item gains for every topic that it is about, and
less each time the topic is repeated.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import numpy as np

from rankine._base.checks import check_choice, check_k, check_number
from rankine._metrics.lists._topics import (
    WITHOUT,
    Without,
    greedy_ideal,
    relevant_topics,
    topic_hits,
    wanted_topics,
)
from rankine._metrics.lists.kind import by_parts, listed, share
from rankine._tables.segments import position, runs

if TYPE_CHECKING:
    from collections.abc import Callable

    from rankine._base.arrays import Floats, Ints
    from rankine._tables.lists import Recommended

_NEEDS = {"subtopics": True, "judgements": True}


def _check(k: int | None, rel: float, without: Without) -> None:
    check_k(k)
    check_number("rel", rel)
    check_choice("without", without, WITHOUT)


def _filled(values: Floats, without: Without) -> Floats:
    return np.nan_to_num(values) if without == "zero" else values


def _gained(
    table: Recommended,
    k: int | None,
    rel: float,
    alpha: float,
    weight: Callable[[Ints], Floats],
) -> Floats:
    """Add up, per user, what items gain for their topics, weighted by rank."""
    check_number("alpha", alpha, least=0, most=1)
    hits = topic_hits(table, k, rel)
    _, block = runs(hits.user, hits.topic)
    gain: Floats = (1 - alpha) ** position(block) * weight(hits.rank)
    return table.per_user(hits.user, gain)


def _n_wanted(table: Recommended, rel: float) -> Floats:
    n_topics: Ints = np.count_nonzero(wanted_topics(table, rel), axis=1)
    return n_topics.astype(np.float64)


@by_parts
def alpha_dcg(
    table: Recommended,
    *,
    k: int | None = None,
    alpha: float = 0.5,
    rel: float = 1,
    scale: Literal["none", "perfect"] = "none",
    without: Without = "undefined",
) -> Floats:
    """Gain of a list whose items are worth less the more they repeat topics.

    Formula:
        alpha-DCG@k = sum_r 1 / log2(r + 1) sum_t J(r, t) (1 - alpha)^(c(r, t)), where
        J(r, t) is 1 if the item at rank r is relevant and about topic t, and c counts
        such items above it

    Args:
        table: the lists.
        k: cutoff.
        alpha: how much less a topic is worth each time it is repeated.
        rel: an item is relevant when its grade is at least this.
        scale: ``perfect`` divides by the value of a list of k items, or without k as
            many as the list has, that are all about every topic that the user wants
            (ndeval, and with it ir_measures).
        without: users without a relevant item that has topics have no value, or 0.

    Returns:
        One value per user, from 0; nan without a relevant item that has topics, unless
        `without` says otherwise.

    References:
        C. L. A. Clarke et al.: Novelty and diversity in information retrieval
        evaluation. SIGIR 2008. https://doi.org/10.1145/1390334.1390446

    Examples:
        War twice, love not at all: 1 + 0.5 / log2(3).

        >>> import rankine as rk
        >>> kinds = {"a": "war", "b": "war", "c": "love"}
        >>> rk.evaluate(
        ...     {"u": {"a", "b", "c"}}, {"u": ["a", "b"]}, "alpha_DCG@2", items=kinds
        ... ).mean
        {'alpha_DCG@2': 1.3155}
    """
    _check(k, rel, without)
    check_choice("scale", scale, ("none", "perfect"))
    gained = _gained(table, k, rel, alpha, lambda rank: 1 / np.log2(rank + 1.0))
    wanted = _n_wanted(table, rel)
    if scale == "none":
        return _filled(np.where(wanted > 0, gained, np.nan), without)
    depth = table.length if k is None else np.full(table.n_queries, k)
    rank = np.arange(1, int(depth.max(initial=0)) + 1)
    upto = np.cumsum((1 - alpha) ** (rank - 1.0) / np.log2(rank + 1.0))
    whole = wanted * np.concatenate(([0.0], upto))[depth]
    return _filled(share(gained, whole), without)


alpha_DCG = listed(  # noqa: N816 - its name
    "alpha_DCG",
    alpha_dcg,
    aliases=("alpha-DCG", "AlphaDCG", "aDCG"),
    bounds=(0, np.inf),
    needs=_NEEDS,
    binary=True,
)


@by_parts
def nerr_ia(
    table: Recommended,
    *,
    k: int | None = None,
    alpha: float = 0.5,
    rel: float = 1,
    without: Without = "undefined",
) -> Floats:
    """Expected reciprocal rank over topics, divided by that of an ideal list.

    Formula:
        nERR-IA@k = sum_r 1/r sum_t J(r, t) (1 - alpha)^(c(r, t)), divided by the same
        sum for a list that is built greedily; J and c as in alpha-nDCG

    Args:
        table: the lists.
        k: cutoff.
        alpha: the probability that an item satisfies those who want its topic.
        rel: an item is relevant when its grade is at least this.
        without: users without a relevant item that has topics have no value, or 0.

    Returns:
        One value per user, from 0; nan without a relevant item that has topics, unless
        `without` says otherwise. The ideal list is built greedily, so a value can be
        slightly above 1.

    References:
        O. Chapelle et al.: Intent-based diversification of web search results: metrics
        and algorithms. Information Retrieval 2011.
        https://doi.org/10.1007/s10791-011-9167-7; the ideal list is that of ndeval.

    Examples:
        War twice: 1 + (1/2) / 2, where love in second place would have given 1 + 1/2.

        >>> import rankine as rk
        >>> kinds = {"a": "war", "b": "war", "c": "love"}
        >>> rk.evaluate(
        ...     {"u": {"a", "b", "c"}}, {"u": ["a", "b"]}, "nERR_IA@2", items=kinds
        ... ).mean
        {'nERR_IA@2': 0.8333}
    """
    _check(k, rel, without)
    gained = _gained(table, k, rel, alpha, lambda rank: 1 / rank.astype(np.float64))
    ideal = greedy_ideal(table, k, rel, alpha, float)
    return _filled(share(gained, ideal), without)


nERR_IA = listed(  # noqa: N816 - its name
    "nERR_IA",
    nerr_ia,
    aliases=("nERR-IA",),
    bounds=(0, 2),
    needs=_NEEDS,
    binary=True,
)


def _check_beta(beta: float) -> None:
    check_number("beta", beta, above=0, below=1)


def _falling(beta: float, rank: Ints) -> Floats:
    """Return the probability of reaching each rank."""
    return np.asarray(beta ** (rank - 1.0), dtype=np.float64)


@by_parts
def nrbp(
    table: Recommended,
    *,
    k: int | None = None,
    alpha: float = 0.5,
    beta: float = 0.5,
    rel: float = 1,
    without: Without = "undefined",
) -> Floats:
    """Rank-biased precision in which topics are worth less the more they are repeated.

    Formula:
        NRBP = (1 - (1 - alpha) beta) / N sum_r beta^(r-1) sum_t J(r, t)
        (1 - alpha)^(c(r, t)), where N is the number of topics that the user wants; J
        and c as in alpha-nDCG

    Args:
        table: the lists.
        k: cutoff.
        alpha: how much less a topic is worth each time it is repeated.
        beta: the probability of looking at the next item.
        rel: an item is relevant when its grade is at least this.
        without: users without a relevant item that has topics have no value, or 0.

    Returns:
        One value per user, 0 to 1; nan without a relevant item that has topics, unless
        `without` says otherwise.

    References:
        C. L. A. Clarke, M. Kolla, O. Vechtomova: An effectiveness measure for ambiguous
        and underspecified queries. ICTIR 2009.
        https://doi.org/10.1007/978-3-642-04417-5_17

    Examples:
        War twice, love not at all: (1 - 1/4) / 2 * (1 + 1/2 * 1/2).

        >>> import rankine as rk
        >>> kinds = {"a": "war", "b": "war", "c": "love"}
        >>> rk.evaluate(
        ...     {"u": {"a", "b", "c"}}, {"u": ["a", "b"]}, "NRBP", items=kinds
        ... ).mean
        {'NRBP': 0.4688}
    """
    _check(k, rel, without)
    _check_beta(beta)
    gained = _gained(table, k, rel, alpha, lambda rank: _falling(beta, rank))
    values = share((1 - (1 - alpha) * beta) * gained, _n_wanted(table, rel))
    return _filled(np.minimum(values, 1), without)


NRBP = listed("NRBP", nrbp, needs=_NEEDS, binary=True)


@by_parts
def normalized_nrbp(
    table: Recommended,
    *,
    k: int | None = None,
    alpha: float = 0.5,
    beta: float = 0.5,
    rel: float = 1,
    without: Without = "undefined",
) -> Floats:
    """NRBP divided by that of an ideal list, which is built greedily.

    Formula:
        nNRBP = NRBP / NRBP of the ideal list

    Args:
        table: the lists.
        k: cutoff, of the ideal list too.
        alpha: how much less a topic is worth each time it is repeated.
        beta: the probability of looking at the next item.
        rel: an item is relevant when its grade is at least this.
        without: users without a relevant item that has topics have no value, or 0.

    Returns:
        One value per user, from 0; nan without a relevant item that has topics, unless
        `without` says otherwise. The ideal list is built greedily, so a value can be
        slightly above 1.

    References:
        C. L. A. Clarke, M. Kolla, O. Vechtomova: An effectiveness measure for ambiguous
        and underspecified queries. ICTIR 2009.
        https://doi.org/10.1007/978-3-642-04417-5_17; the ideal list is that of ndeval.

    Examples:
        War twice: 1 + 1/4; the ideal list has war, love, war: 1 + 1/2 + 1/8.

        >>> import rankine as rk
        >>> kinds = {"a": "war", "b": "war", "c": "love"}
        >>> rk.evaluate(
        ...     {"u": {"a", "b", "c"}}, {"u": ["a", "b"]}, "nNRBP", items=kinds
        ... ).mean
        {'nNRBP': 0.7692}
    """
    _check(k, rel, without)
    _check_beta(beta)
    gained = _gained(table, k, rel, alpha, lambda rank: _falling(beta, rank))
    ideal = greedy_ideal(table, k, rel, alpha, lambda rank: beta ** (1.0 - rank))
    return _filled(share(gained, ideal), without)


nNRBP = listed(  # noqa: N816 - its name
    "nNRBP", normalized_nrbp, bounds=(0, 2), needs=_NEEDS, binary=True
)


@by_parts
def average_precision_ia(
    table: Recommended,
    *,
    k: int | None = None,
    rel: float = 1,
    without: Without = "undefined",
) -> Floats:
    """Average precision of each topic that a user wants, averaged over them.

    Formula:
        AP-IA = 1/N sum_t AP_t, where AP_t is AP with the items about topic t as the
        relevant ones

    Args:
        table: the lists.
        k: cutoff.
        rel: an item is relevant when its grade is at least this.
        without: users without a relevant item that has topics have no value, or 0.

    Returns:
        One value per user, 0 to 1; nan without a relevant item that has topics, unless
        `without` says otherwise.

    References:
        R. Agrawal, S. Gollapudi, A. Halverson, S. Ieong: Diversifying search results.
        WSDM 2009. https://doi.org/10.1145/1498759.1498766

    Examples:
        War at ranks 1 and 3 of two items: (1 + 2/3) / 2; love not at all; half of that.

        >>> import rankine as rk
        >>> kinds = {"a": "war", "b": "war", "c": "love"}
        >>> rk.evaluate(
        ...     {"u": {"a", "b", "c"}}, {"u": ["a", "x", "b"]}, "AP_IA", items=kinds
        ... ).mean
        {'AP_IA': 0.4167}
    """
    _check(k, rel, without)
    hits = topic_hits(table, k, rel)
    _, block = runs(hits.user, hits.topic)
    n_relevant = _n_relevant(table, rel)[hits.user, hits.topic]
    precision = (position(block) + 1) / hits.rank / n_relevant
    total = table.per_user(hits.user, precision)
    return _filled(share(total, _n_wanted(table, rel)), without)


def _n_relevant(table: Recommended, rel: float) -> Floats:
    """Return how many relevant items there are, by user and topic."""
    counts = np.zeros((table.n_queries, table.n_topics))
    user, topic, _ = relevant_topics(table, rel)
    np.add.at(counts, (user, topic), 1)
    return counts


AP_IA = listed(
    "AP_IA", average_precision_ia, aliases=("AP-IA", "MAP_IA", "MAP-IA"), needs=_NEEDS,
    binary=True,
)  # fmt: skip


@by_parts
def precision_ia(
    table: Recommended,
    *,
    k: int | None = None,
    rel: float = 1,
    without: Without = "undefined",
) -> Floats:
    """Precision of each topic that a user wants, averaged over them.

    Formula:
        P-IA@k = 1/N sum_t |items about topic t that are relevant in R_u@k| / k

    Args:
        table: the lists.
        k: cutoff; the length of the list if not given.
        rel: an item is relevant when its grade is at least this.
        without: users without a relevant item that has topics have no value, or 0.

    Returns:
        One value per user, 0 to 1; nan without a relevant item that has topics, unless
        `without` says otherwise.

    References:
        R. Agrawal, S. Gollapudi, A. Halverson, S. Ieong: Diversifying search results.
        WSDM 2009. https://doi.org/10.1145/1498759.1498766

    Examples:
        War at 2 of 4 ranks, love at none: (2/4 + 0) / 2.

        >>> import rankine as rk
        >>> kinds = {"a": "war", "b": "war", "c": "love"}
        >>> rk.evaluate(
        ...     {"u": {"a", "b", "c"}}, {"u": ["a", "x", "b"]}, "P_IA@4", items=kinds
        ... ).mean
        {'P_IA@4': 0.25}
    """
    _check(k, rel, without)
    hits = topic_hits(table, k, rel)
    shown = table.length if k is None else np.full(table.n_queries, k)
    total = table.per_user(hits.user, np.ones(len(hits.user)))
    wanted = _n_wanted(table, rel)
    values = share(total, wanted * np.maximum(shown, 1))
    return _filled(values, without)


P_IA = listed("P_IA", precision_ia, aliases=("P-IA",), needs=_NEEDS, binary=True)
