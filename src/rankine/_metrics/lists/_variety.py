"""How many topics the items of a list are about, and how evenly."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import numpy as np

from rankine._base.checks import check_choice, check_k, check_number
from rankine._metrics.lists.kind import by_parts, listed, share

if TYPE_CHECKING:
    from rankine._base.arrays import Floats
    from rankine._tables.lists import Recommended

Several = Literal["split", "whole"]


def _amounts(
    table: Recommended, k: int | None, several: Several, p: float | None = None
) -> Floats:
    """Return, by user and topic, how much of the list is about it."""
    shape = (table.n_queries, table.n_topics)
    if table.topics is None:
        return np.zeros(shape)
    top, of_item = table.top(k), table.topics.of_item
    rows, which = of_item.of(top.item)
    amount = of_item.value[rows] if several == "split" else np.ones(len(rows))
    if p is not None:
        amount = amount * p ** (top.rank[which] - 1.0)
    cell = top.user[which] * table.n_topics + of_item.member[rows]
    total = np.bincount(cell, weights=amount, minlength=shape[0] * shape[1])
    return total.astype(np.float64).reshape(shape)


@by_parts
def topic_entropy(
    table: Recommended,
    *,
    k: int | None = None,
    p: float | None = None,
    several: Several = "split",
    smoothing: float = 0,
) -> Floats:
    """How evenly the items of a list are spread over topics, in bits.

    It is 0 if all items of the list are about one topic, and the logarithm of the
    number of topics if each has an equal share. It is not Entropy, which is one number
    for all lists: how evenly they show the items.

    Formula:
        TopicEntropy@k = - sum_t q(t) log2 q(t), where q(t) = m(t) / sum_s m(s), and
        m(t) is the smoothing plus the sum of w(r) over the items about topic t, at
        their ranks r; w(r) is 1, or p^(r - 1)

    Args:
        table: the lists.
        k: cutoff.
        p: the persistence of a reader, who goes on to the next rank with this
            probability, so that lower ranks count less; without it, all ranks count the
            same.
        several: an item with several topics gives a part to each (``split``), or counts
            whole for each of them (``whole``).
        smoothing: what is added to the amount of every existing topic, whether the list
            has it or not.

    Returns:
        One value per user, from 0 to the logarithm of the number of topics; nan for an
        empty list and, without smoothing, for a list whose items have no topics.

    References:
        C. E. Shannon: A mathematical theory of communication. Bell System Technical
        Journal 1948. https://doi.org/10.1002/j.1538-7305.1948.tb01338.x
        LensKit's entropy is ``TopicEntropy(several='whole', smoothing=1e-6)``, and its
        rank_biased_entropy the same with ``p=0.85``.

    Examples:
        Two films about war and one about love: -2/3 log2(2/3) - 1/3 log2(1/3). For a
        reader who goes on with probability 1/2, war has 1 + 1/2 and love 1/4.

        >>> import rankine as rk
        >>> kinds = {"a": "war", "b": "war", "c": "love"}
        >>> rk.evaluate(
        ...     None,
        ...     {"u": ["a", "b", "c"]},
        ...     ["TopicEntropy", "TopicEntropy(p=0.5)"],
        ...     items=kinds,
        ... )
        Evaluation(TopicEntropy=0.9183, TopicEntropy(p=0.5)=0.5917)
    """
    check_k(k)
    if p is not None:
        check_number("p", p, above=0, below=1)
    check_choice("several", several, ("split", "whole"))
    check_number("smoothing", smoothing, least=0)
    amounts = _amounts(table, k, several, p) + smoothing
    shares = share(amounts, amounts.sum(axis=1, keepdims=True))
    bits = shares * np.log2(np.where(shares > 0, shares, 1.0))
    # 0 less the sum, as its negative would be -0.0 for a single topic.
    values: Floats = 0.0 - bits.sum(axis=1)
    return np.where(table.without_items(k) | (table.n_topics == 0), np.nan, values)


TopicEntropy = listed(
    "TopicEntropy",
    topic_entropy,
    aliases=("CategoryEntropy", "topic_entropy"),
    bounds=(0, np.inf),
    needs={"topics": True},
)


@by_parts
def topic_diversity(table: Recommended, *, k: int | None = None) -> Floats:
    """Number of topics that the items of a list are about, divided by k.

    Unlike SubtopicRecall, it depends neither on what the user wants nor on how many
    topics there are.

    Formula:
        TopicDiversity@k = |topics of the items in R_u@k| / k

    Args:
        table: the lists.
        k: cutoff; if there is none, the number of topics is divided by the length of
            the list.

    Returns:
        One value per user, from 0; at most 1 where no item has several topics. nan for
        an empty list.

    References:
        RePlay's CategoricalDiversity, for items of one category each.

    Examples:
        War and love in a list of three items, with a cutoff of five: 2/5.

        >>> import rankine as rk
        >>> kinds = {"a": "war", "b": "war", "c": "love"}
        >>> rk.evaluate(
        ...     None, {"u": ["a", "b", "c"]}, "TopicDiversity@5", items=kinds
        ... ).mean
        {'TopicDiversity@5': 0.4}
    """
    check_k(k)
    n_topics = np.count_nonzero(_amounts(table, k, "whole"), axis=1)
    length = table.top(k).length
    n_ranks = length if k is None else np.where(length > 0, k, 0)
    return share(n_topics.astype(np.float64), n_ranks.astype(np.float64))


TopicDiversity = listed(
    "TopicDiversity",
    topic_diversity,
    aliases=("CategoricalDiversity", "topic_diversity"),
    bounds=(0, np.inf),
    needs={"topics": True},
)
