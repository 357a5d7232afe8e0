"""Who gets seen: the exposure of groups of items, against what would be fair."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Literal

import numpy as np

from rankine._base.checks import check_choice, check_k, check_number
from rankine._metrics.lists._novelty import discounts
from rankine._metrics.lists.kind import by_parts, listed

if TYPE_CHECKING:
    from rankine._base.arrays import Floats
    from rankine._tables.groups import Topics
    from rankine._tables.lists import Recommended, Top

Attention = Literal["geometric", "log2", "reciprocal", "none"]
Target = Literal["catalogue", "equal"]
Part = Literal["loss", "disparity", "relevance"]
_ATTENTION = ("geometric", "log2", "reciprocal", "none")


def _by_group(topics: Topics, top: Top, weight: Floats, n_users: int) -> Floats:
    """Add up weights by user and group; an item of several groups gives parts."""
    rows, which = topics.of_item.of(top.item)
    cell = top.user[which] * topics.n + topics.of_item.member[rows]
    value = topics.of_item.value[rows] * weight[which]
    flat = np.bincount(cell, weights=value, minlength=n_users * topics.n)
    return flat.astype(np.float64).reshape(n_users, topics.n)


def _sizes(topics: Topics) -> Floats:
    """Return how many items each group has."""
    of_item = topics.of_item
    sizes = np.bincount(of_item.member, weights=of_item.value, minlength=topics.n)
    return sizes.astype(np.float64)


def _jensen_shannon(p: Floats, q: Floats) -> Floats:
    """Return the divergence of each row of p from q, in bits."""
    middle = (p + q) / 2

    def towards(shares: Floats) -> Floats:
        shares, mixed = np.broadcast_arrays(shares, middle)
        ratio = np.divide(shares, mixed, out=np.ones(mixed.shape), where=shares > 0)
        divergence: Floats = (shares * np.log2(ratio)).sum(axis=1)
        return divergence

    return np.clip((towards(p) + towards(q)) / 2, 0, 1)


@by_parts
def awrf(
    table: Recommended,
    *,
    k: int | None = None,
    attention: Attention = "log2",
    p: float = 0.85,
    target: Target = "catalogue",
) -> Floats:
    """How close the attention that groups get is to what they should get: 1 is fair.

    Formula:
        AWRF@k = 1 - JS(e, t), where e_g is the share of attention of group g, the sum
        of w(r) over its items, and JS the Jensen-Shannon divergence in bits

    Args:
        table: the lists.
        k: cutoff.
        attention: the attention that a rank gets: geometric p^(r-1), 1 / log2(r + 1),
            1 / r, or the same for all ranks.
        p: the parameter of the geometric attention.
        target: what a group should get: its share of the items that have groups, or the
            same for all groups.

    Returns:
        One value per user, 0 to 1; nan for lists without an item of any group. Items
        without a group are left out.

    References:
        P. Sapiezynski et al.: Quantifying the impact of user attention on fair group
        representation in ranked lists. WWW Companion 2019, with the divergence of the
        TREC Fair Ranking tracks 2021 and 2022.

    Examples:
        Two groups of the same size, and a list with items of only one of them:
        1 - (log2(1 / 0.75) + 1/2 log2(1/2 / 0.75) + 1/2 log2(1/2 / 0.25)) / 2.

        >>> import rankine as rk
        >>> makers = {"a": "big", "b": "big", "c": "small", "d": "small"}
        >>> ev = rk.evaluate(None, {"u": ["a", "b"]}, "AWRF", items=makers)
        >>> round(ev["AWRF"], 4)
        0.6887
    """
    check_k(k)
    check_choice("attention", attention, _ATTENTION)
    check_number("p", p, above=0, below=1)
    check_choice("target", target, ("catalogue", "equal"))
    topics = table.topics
    if topics is None:
        return np.full(table.n_queries, np.nan)
    top = table.top(k)
    weight: Floats = discounts(top.rank, attention)
    if attention == "geometric":
        weight = np.power(p, top.rank - 1.0)
    got = _by_group(topics, top, weight, table.n_queries)
    total = got.sum(axis=1, keepdims=True)
    share = np.divide(got, total, out=np.zeros(got.shape), where=total > 0)
    due = _sizes(topics) if target == "catalogue" else np.ones(topics.n)
    value = 1 - _jensen_shannon(share, (due / due.sum())[None, :])
    return np.where(total[:, 0] > 0, value, np.nan)


AWRF = listed(
    "AWRF", awrf, needs={"topics": True}, matters={"p": ("attention", ("geometric",))}
)


@by_parts
def expected_exposure(
    table: Recommended,
    *,
    k: int | None = None,
    p: float = 0.5,
    rel: float = 1,
    part: Part = "loss",
) -> Floats:
    """How far the exposure of groups is from that of ideal lists: 0 is fair.

    An ideal list shows relevant items first, in every possible order equally often, so
    that items of the same relevance get the same exposure.

    Formula:
        EE@k = || e - e* ||^2 over groups, where e_g is the sum of p^(r-1) over the
        items of group g in the list, and e*_g its expectation in ideal lists of all
        items that have groups

    Args:
        table: the lists.
        k: cutoff.
        p: the probability of going on from one rank to the next.
        rel: an item is relevant when its grade is at least this.
        part: the loss; or one of its parts: the disparity ||e||^2, which says how
            unevenly groups are seen, or the relevance e . e*, which says how much of
            the exposure goes where it should. The loss is disparity - 2 relevance +
            ||e*||^2.

    Returns:
        One value per user, from 0; nan without judgements.

    References:
        F. Diaz et al.: Evaluating stochastic rankings with expected exposure. CIKM
        2020. https://doi.org/10.1145/3340531.3411962. For groups, as in A. Raj, M. D.
        Ekstrand: Measuring fairness in ranked results. SIGIR 2022.

    Examples:
        Of three items, b is relevant and in another group than a and c, and at rank 2
        after a: a gets 1 and b 1/2; b should get 1, and a and c together 1/2 + 1/4.

        >>> import rankine as rk
        >>> makers = {"a": "big", "b": "small", "c": "big"}
        >>> rk.evaluate({"u": {"b"}}, {"u": ["a", "b"]}, "EE", items=makers).mean
        {'EE': 0.3125}
    """
    check_k(k)
    check_number("p", p, above=0, below=1)
    check_number("rel", rel)
    check_choice("part", part, ("loss", "disparity", "relevance"))
    topics, judged = table.topics, table.judged
    if topics is None or judged is None:
        return np.full(table.n_queries, np.nan)
    top, n_users = table.top(k), table.n_queries
    seen = _by_group(topics, top, np.power(p, top.rank - 1.0), n_users)
    due = _due(table, topics, p, rel)
    value: Floats
    if part == "disparity":
        value = (seen * seen).sum(axis=1)
    elif part == "relevance":
        value = (seen * due).sum(axis=1)
    else:
        value = ((seen - due) ** 2).sum(axis=1)
    return np.where(np.diff(judged.starts) > 0, value, np.nan)


def _due(table: Recommended, topics: Topics, p: float, rel: float) -> Floats:
    """Return the exposure of each group in ideal lists, by user."""
    judged, n_users = table.judged, table.n_queries
    if judged is None:
        return np.zeros((n_users, topics.n))
    sizes = _sizes(topics)
    n = float(np.count_nonzero(np.diff(topics.of_item.starts)))
    grouped = np.diff(topics.of_item.starts) > 0
    kept = np.flatnonzero((judged.value >= rel) & grouped[judged.member])
    rows, which = topics.of_item.of(judged.member[kept])
    cell = judged.owner[kept][which] * topics.n + topics.of_item.member[rows]
    flat = np.bincount(
        cell, weights=topics.of_item.value[rows], minlength=n_users * topics.n
    )
    wanted = flat.reshape(n_users, topics.n)
    m = np.bincount(judged.owner[kept], minlength=n_users).astype(np.float64)
    first = (1 - p**m) / (1 - p)
    rest = (p**m - p**n) / (1 - p)
    of_wanted = np.divide(first, m, out=np.zeros(n_users), where=m > 0)
    of_rest = np.divide(rest, n - m, out=np.zeros(n_users), where=n > m)
    due: Floats = wanted * of_wanted[:, None] + (sizes - wanted) * of_rest[:, None]
    return due


EE = listed(
    "EE",
    expected_exposure,
    aliases=("ExpectedExposure", "EEL", "EE-L"),
    bounds=(0, math.inf),
    higher_is_better=False,
    needs={"topics": True, "judgements": True},
    binary=True,
    matters={"rel": ("part", ("loss", "relevance"))},
)
