"""Counts: how many items were retrieved, judged and found."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import numpy as np

from rankine._base.checks import check_choice, check_k
from rankine._metrics.metric import register
from rankine._metrics.ranking._cutoff import check_binary, found_within, ratio

if TYPE_CHECKING:
    from rankine._base.arrays import Floats
    from rankine._join import Judged


def n_retrieved(table: Judged) -> Floats:
    """Number of retrieved items, summed over queries.

    Formula:
        NumRet = length of the list

    Args:
        table: the joined table.

    Returns:
        One count per query.

    References:
        trec_eval, m_num_ret.c.

    Examples:
        >>> import rankine as rk
        >>> qrels, run = {"q": {"a": 1}}, {"q": ["x", "a"]}
        >>> rk.evaluate(qrels, run, "NumRet").mean
        {'NumRet': 2.0}
    """
    return table.length()


NumRet = register(
    "NumRet",
    n_retrieved,
    aliases=("num_ret",),
    bounds=(0, np.inf),
    summary="sum",
    ordered=False,
    higher_is_better=None,
)


def n_relevant(table: Judged, *, rel: float = 1) -> Floats:
    """Number of relevant items, summed over queries.

    Formula:
        NumRel = R

    Args:
        table: the joined table.
        rel: an item is relevant when its grade is at least this.

    Returns:
        One count per query.

    References:
        trec_eval, m_num_rel.c.

    Examples:
        >>> import rankine as rk
        >>> qrels, run = {"q": {"a": 1, "b": 0}}, {"q": ["x", "a"]}
        >>> rk.evaluate(qrels, run, "NumRel").mean
        {'NumRel': 1.0}
    """
    check_binary(None, rel, None)
    return table.n_relevant(rel).copy()


NumRel = register(
    "NumRel",
    n_relevant,
    aliases=("num_rel",),
    bounds=(0, np.inf),
    summary="sum",
    ordered=False,
    higher_is_better=None,
)


def n_relevant_retrieved(table: Judged, *, rel: float = 1) -> Floats:
    """Number of relevant items that were retrieved, summed over queries.

    Formula:
        NumRelRet = hits in the whole list

    Args:
        table: the joined table.
        rel: an item is relevant when its grade is at least this.

    Returns:
        One count per query.

    References:
        trec_eval, m_num_rel_ret.c.

    Examples:
        >>> import rankine as rk
        >>> qrels, run = {"q": {"a": 1, "b": 1}}, {"q": ["x", "a"]}
        >>> rk.evaluate(qrels, run, "NumRelRet").mean
        {'NumRelRet': 1.0}
    """
    check_binary(None, rel, None)
    return found_within(table, None, rel)


NumRelRet = register(
    "NumRelRet",
    n_relevant_retrieved,
    aliases=("num_rel_ret",),
    bounds=(0, np.inf),
    summary="sum",
    ordered=False,
)


def n_nonrelevant_judged_retrieved(table: Judged, *, rel: float = 1) -> Floats:
    """Number of retrieved items that were judged not relevant, summed over queries.

    Formula:
        NumNonrelJudgedRet = retrieved items with 0 <= grade < rel

    Args:
        table: the joined table.
        rel: an item is relevant when its grade is at least this.

    Returns:
        One count per query.

    References:
        trec_eval, m_num_nonrel_judged_ret.c.

    Examples:
        >>> import rankine as rk
        >>> qrels, run = {"q": {"a": 1, "b": 0}}, {"q": ["x", "a", "b"]}
        >>> rk.evaluate(qrels, run, "NumNonrelJudgedRet").mean
        {'NumNonrelJudgedRet': 1.0}
    """
    check_binary(None, rel, None)
    known = (table.grade >= 0) & (table.grade < rel)
    return table.per_query(table.query[known])


NumNonrelJudgedRet = register(
    "NumNonrelJudgedRet",
    n_nonrelevant_judged_retrieved,
    aliases=("num_nonrel_judged_ret",),
    bounds=(0, np.inf),
    summary="sum",
    ordered=False,
    higher_is_better=False,
)


def n_queries(table: Judged) -> Floats:
    """Number of queries that are averaged over.

    Formula:
        NumQ = 1 per query, summed

    Args:
        table: the joined table.

    Returns:
        1 for every query.

    References:
        trec_eval, m_num_q.c.

    Examples:
        >>> import rankine as rk
        >>> qrels, run = {"q": {"a": 1}}, {"q": ["x", "a"]}
        >>> rk.evaluate(qrels, run, "NumQ").mean
        {'NumQ': 1.0}
    """
    return np.ones(table.n_queries)


NumQ = register(
    "NumQ",
    n_queries,
    aliases=("num_q",),
    bounds=(0, np.inf),
    summary="sum",
    ordered=False,
    higher_is_better=None,
)


def judged_share(
    table: Judged,
    *,
    k: int | None = None,
    negative: Literal["unjudged", "judged"] = "unjudged",
) -> Floats:
    """Share of the first k retrieved items that are judged.

    Formula:
        Judged@k = judged items in the first k / min(k, list length)

    Args:
        table: the joined table.
        k: cutoff.
        negative: a grade below 0 means ``unjudged``, as in trec_eval, or is a grade
            like any other (``judged``, ir_measures).

    Returns:
        One value per query, 0 to 1; 0 for an empty list.

    References:
        ir_measures, Judged.

    Examples:
        One of the first two is judged.

        >>> import rankine as rk
        >>> qrels, run = {"q": {"a": 1}}, {"q": ["x", "a", "y"]}
        >>> rk.evaluate(qrels, run, "Judged@2").mean
        {'Judged@2': 0.5}
    """
    check_k(k)
    check_choice("negative", negative, ("unjudged", "judged"))
    length = table.length()
    shown = length if k is None else np.minimum(length, k)
    least = 0 if negative == "unjudged" else -np.inf
    value = ratio(_known_within(table, k, least), shown)
    value[shown == 0] = 0
    return value


def _known_within(table: Judged, k: int | None, least: float = 0) -> Floats:
    known = table.grade >= least
    if k is not None:
        known &= table.rank <= k
    return table.per_query(table.query[known])


Judged_ = register("Judged", judged_share, empty="keep", by_set=True)


def unjudged_share(table: Judged, *, k: int | None = None) -> Floats:
    """Number of unjudged items among the first k, over k.

    Formula:
        Unjudged@k = unjudged items in the first k / k

    Args:
        table: the joined table.
        k: cutoff; the length of the list if not given.

    Returns:
        One value per query, 0 to 1. The divisor is k even for a short list, as in
        trec_eval, so Judged@k and Unjudged@k add up to 1 only for full lists.

    References:
        trec_eval 10, m_unjudged.c.

    Examples:
        Of five places, two hold an unjudged item: 2 / 5.

        >>> import rankine as rk
        >>> qrels, run = {"q": {"a": 1}}, {"q": ["x", "a", "y"]}
        >>> rk.evaluate(qrels, run, "Unjudged@5").mean
        {'Unjudged@5': 0.4}
    """
    check_k(k)
    length = table.length()
    shown = length if k is None else np.minimum(length, k)
    down = length if k is None else np.full(table.n_queries, float(k))
    value = ratio(shown - _known_within(table, k), down)
    value[down == 0] = 0
    return value


Unjudged = register(
    "Unjudged",
    unjudged_share,
    aliases=("unj",),
    empty="keep",
    higher_is_better=False,
    by_set=True,
)
