"""Relevance by topic: how many topics a list covers, and how soon."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np

from rankine._base.checks import (
    check_choice,
    check_count,
    check_flag,
    check_k,
    check_number,
)
from rankine._metrics.lists.kind import by_parts, listed, share
from rankine._metrics.metric import HIGHEST_GRADE, Across
from rankine._tables.segments import position, running_sum, runs
from rankine.errors import DataError

if TYPE_CHECKING:
    from collections.abc import Callable

    from rankine._base.arrays import Bools, Floats, Ints
    from rankine._tables.groups import Topics
    from rankine._tables.lists import Recommended


Of = Literal["wanted", "all"]
Wants = Literal["relevant", "profile"]
Scale = Literal["none", "perfect"]
Without = Literal["undefined", "zero"]
WITHOUT = ("undefined", "zero")
_STEEPEST = 60
"""A grade beyond which 2^grade - 1 and 2^grade are the same number."""


def _log2(rank: float) -> float:
    return float(np.log2(rank + 1))


class TopicHits(NamedTuple):
    """Relevant items shown, once for each of their topics, by user, topic and rank."""

    user: Ints
    topic: Ints
    rank: Ints
    grade: Floats


def _about(table: Recommended, rows: Ints) -> tuple[Ints, Ints, Floats]:
    """Return the topics of judgements: which, of which of the rows, and the grade.

    Topics belong to items, with the grade of the item; or to judgements, with a grade
    for each.
    """
    judged, topics = table.judged, table.topics
    if judged is not None and topics is not None:
        of, which = topics.of_item.of(judged.member[rows])
        return topics.of_item.member[of], which, judged.value[rows][which]
    if table.aspects is None:
        none = np.zeros(0, dtype=np.int64)
        return none, none, np.zeros(0)
    of, which = table.aspects.of(rows)
    return table.aspects.member[of], which, table.aspects.value[of]


def topic_hits(table: Recommended, k: int | None, rel: float) -> TopicHits:
    """Return the relevant items that are shown, once for each of their topics."""
    top, hits = table.top(k), table.hits(k)
    topic, hit, grade = _about(table, hits.place)
    kept = np.flatnonzero(grade >= rel)
    topic, hit, grade = topic[kept], hit[kept], grade[kept]
    rank = top.rank_of(hits.row[hit], hits.user[hit])
    order = np.lexsort((rank, topic, hits.user[hit]))
    hit = hit[order]
    return TopicHits(hits.user[hit], topic[order], rank[order], grade[order])


def relevant_topics(table: Recommended, rel: float) -> tuple[Ints, Ints, Ints]:
    """Return the judgements with a relevant topic, their topics, and whose they are."""
    if table.judged is None:
        none = np.zeros(0, dtype=np.int64)
        return none, none, none
    topic, which, grade = _about(table, np.arange(len(table.judged.member)))
    kept = grade >= rel
    return table.judged.owner[which[kept]], topic[kept], which[kept]


def wanted_topics(table: Recommended, rel: float) -> Bools:
    """Say, by user and topic, whether there is a relevant item about it."""
    wanted = np.zeros((table.n_queries, table.n_topics), dtype=np.bool_)
    user, topic, _ = relevant_topics(table, rel)
    wanted[user, topic] = True
    return wanted


@by_parts
def subtopic_recall(
    table: Recommended,
    *,
    k: int | None = None,
    rel: float = 1,
    judged: bool = True,
    of: Of = "wanted",
    without: Without = "undefined",
) -> Floats:
    """Share of the topics that a list covers.

    Formula:
        SubtopicRecall@k = |topics of relevant items in R_u@k| / |topics of relevant
        items of u|

    Args:
        table: the lists.
        k: cutoff.
        rel: an item is relevant when its grade is at least this.
        judged: only relevant items count; otherwise all items of the list count,
            against all topics.
        of: divide by the topics of the user's relevant items, or by all topics.
        without: users without topics to find have no value, or 0.

    Returns:
        One value per user, 0 to 1; nan without topics to find, unless `without` says
        otherwise.

    References:
        C. Zhai, W. W. Cohen, J. Lafferty: Beyond independent relevance: methods and
        evaluation metrics for subtopic retrieval. SIGIR 2003.
        https://doi.org/10.1145/860435.860440. RankSys and Elliot divide by all topics,
        and count users without topics to find as 0.

    Examples:
        Relevant items are about drama, comedy and war; the list has the first two.

        >>> import rankine as rk
        >>> kinds = {"a": ["drama", "comedy"], "b": ["war"], "c": ["war"]}
        >>> ev = rk.evaluate(
        ...     {"u": {"a", "b"}}, {"u": ["a", "c"]}, "SubtopicRecall", items=kinds
        ... )
        >>> round(ev["SubtopicRecall"], 4)
        0.6667
    """
    check_k(k)
    check_number("rel", rel)
    check_flag("judged", judged)
    check_choice("of", of, ("wanted", "all"))
    check_choice("without", without, WITHOUT)
    shown = np.zeros((table.n_queries, table.n_topics), dtype=np.bool_)
    topics = table.topics
    if judged:
        hits = topic_hits(table, k, rel)
        shown[hits.user, hits.topic] = True
        whole = wanted_topics(table, rel).sum(axis=1).astype(np.float64)
        if of == "all":
            whole = np.where(whole > 0, float(table.n_topics), 0.0)
    elif topics is None:
        return np.full(table.n_queries, np.nan)
    else:
        top = table.top(k)
        rows, which = topics.of_item.of(top.item)
        shown[top.user[which], topics.of_item.member[rows]] = True
        whole = np.full(table.n_queries, float(topics.n))
    values = share(shown.sum(axis=1).astype(np.float64), whole)
    values = np.nan_to_num(values) if without == "zero" else values
    return values if judged else np.where(table.length > 0, values, np.nan)


SubtopicRecall = listed(
    "SubtopicRecall",
    subtopic_recall,
    aliases=("SRecall", "strec", "CategoryRecall"),
    needs={
        "subtopics": ("judged", (True,)),
        "topics": ("judged", (False,)),
        "judgements": ("judged", (True,)),
    },
    binary=True,
    ordered=False,
    across=(
        Across(
            "of",
            ("all",),
            "divides by all subtopics",
            instead="wanted",
            given="topics as items=",
        ),
    ),
    matters=dict.fromkeys(("rel", "of", "without"), ("judged", (True,))),
)


def greedy_ideal(
    table: Recommended,
    k: int | None,
    rel: float,
    alpha: float,
    discount: Callable[[float], float] = _log2,
) -> Floats:
    """Return the gain of an ideal list: at each rank, the item that adds most.

    The lists of all users are built rank by rank together. Of items that add the same,
    the one with the largest id is taken, as in ndeval; ids that are numbers are
    compared as numbers.
    """
    ideal = np.zeros(table.n_queries)
    owner, topic, judgement = relevant_topics(table, rel)
    item, which = np.unique(judgement, return_inverse=True)
    user = np.zeros(len(item), dtype=np.int64)
    user[which] = owner
    if table.judged is not None:
        order = np.lexsort((-table.judged.member[item], user))
        item, user, which = item[order], user[order], np.argsort(order)[which]
    left = np.ones(len(item), dtype=np.bool_)
    seen = np.zeros((table.n_queries, table.n_topics))
    most = int(np.bincount(user, minlength=1).max(initial=0))
    begins, which_user = runs(user)
    for rank in range(1, min(most, k or most) + 1):
        worth = (1 - alpha) ** seen[user[which], topic]
        # The smallest first, so that items that add the same have the same sum.
        order = np.lexsort((worth, which))
        gain = np.bincount(which[order], weights=worth[order], minlength=len(item))
        gain[~left] = -1.0
        # The first of the largest of each user: rows of a user are adjacent.
        largest = np.maximum.reduceat(gain, begins)[which_user]
        tied = np.flatnonzero((gain == largest) & (gain > 0))
        best = tied[runs(user[tied])[0]]
        if len(best) == 0:
            break
        ideal[user[best]] += gain[best] / discount(rank)
        left[best] = False
        chosen = np.zeros(len(item), dtype=np.bool_)
        chosen[best] = True
        taken = chosen[which]
        np.add.at(seen, (user[which][taken], topic[taken]), 1)
    return ideal


@by_parts
def alpha_ndcg(
    table: Recommended,
    *,
    k: int | None = None,
    alpha: float = 0.5,
    rel: float = 1,
    longer: int = 0,
    without: Without = "undefined",
) -> Floats:
    """Normalised gain of a list whose items are worth less the more they repeat topics.

    Formula:
        alpha-DCG@k = sum_r 1 / log2(r + 1) sum_t J(r, t) (1 - alpha)^(c(r, t)), where
        J(r, t) is 1 if the item at rank r is relevant and about topic t, and c counts
        such items above it; divided by that of a list that is built greedily

    Args:
        table: the lists.
        k: cutoff.
        alpha: how much less a topic is worth each time it is repeated.
        rel: an item is relevant when its grade is at least this.
        longer: by how many items the ideal list is longer than k.
        without: users without a relevant item that has topics have no value, or 0.

    Returns:
        One value per user, from 0; nan without a relevant item that has topics, unless
        `without` says otherwise. The ideal list is built greedily, as finding the best
        one takes too long; so a value can be slightly above 1.

    References:
        C. L. A. Clarke et al.: Novelty and diversity in information retrieval
        evaluation. SIGIR 2008. https://doi.org/10.1145/1390334.1390446
        RankSys makes the ideal list one item too long: ``alpha_nDCG(longer=1)``.

    Examples:
        Two items about the same topic: 1 + 0.5 / log2(3), where one about another
        would have given 1 + 1 / log2(3).

        >>> import rankine as rk
        >>> kinds = {"a": "war", "b": "war", "c": "love"}
        >>> ev = rk.evaluate(
        ...     {"u": {"a", "b", "c"}}, {"u": ["a", "b"]}, "alpha_nDCG@2", items=kinds
        ... )
        >>> round(ev["alpha_nDCG@2"], 4)
        0.8066
    """
    check_k(k)
    check_number("alpha", alpha, least=0, most=1)
    check_number("rel", rel)
    check_count("longer", longer, least=0)
    check_choice("without", without, WITHOUT)
    hits = topic_hits(table, k, rel)
    _, block = runs(hits.user, hits.topic)
    again = position(block)
    gain = (1 - alpha) ** again / np.log2(hits.rank + 1.0)
    ideal = greedy_ideal(table, None if k is None else k + longer, rel, alpha)
    values = share(table.per_user(hits.user, gain), ideal)
    return np.nan_to_num(values) if without == "zero" else values


alpha_nDCG = listed(  # noqa: N816 - its name
    "alpha_nDCG",
    alpha_ndcg,
    aliases=("alpha-nDCG", "AlphaNDCG", "alpha_ndcg", "aNDCG"),
    bounds=(0, 2),
    needs={"subtopics": True, "judgements": True},
    binary=True,
)


@by_parts
def err_ia(
    table: Recommended,
    *,
    k: int | None = None,
    rel: float = 1,
    max_grade: float | None = 1,
    wants: Wants = "relevant",
    without: Without = "undefined",
    scale: Scale = "none",
) -> Floats:
    """Expected reciprocal rank, averaged over the topics that a user wants.

    Formula:
        ERR-IA@k = sum_t P(t | u) sum_r 1/r R(r, t) prod_{j < r} (1 - R(j, t)), where
        R(r, t) = (2^g - 1) / 2^g_max for an item of grade g about topic t, and P is
        the same for all topics of the user's relevant items

    Args:
        table: the lists.
        k: cutoff.
        rel: an item is relevant when its grade is at least this.
        max_grade: the largest grade; 1 for clicks, where an item satisfies half of
            those who want its topic. None uses the largest of all judgements.
        wants: all topics of the user's relevant items are wanted equally; or, with
            ``profile``, as often as they occur among all items that the user has judged
            or had before.
        without: users without a relevant item that has topics have no value, or 0.
        scale: ``perfect`` divides by the value of a list whose items all have the
            largest grade for every topic, the sum of 2^-r / r over the ranks r up to k
            where that grade is 1.

    Returns:
        One value per user, 0 to 1; nan without a relevant item that has topics, unless
        `without` says otherwise.

    References:
        O. Chapelle et al.: Intent-based diversification of web search results: metrics
        and algorithms. Information Retrieval 2011.
        https://doi.org/10.1007/s10791-011-9167-7
        RankSys uses the profile, and the largest grade of all judgements:
        ``ERR_IA(wants='profile', max_grade=None)``.
        ndeval, and with it ir_measures, divides by a perfect list:
        ``ERR_IA(scale='perfect')``.

    Examples:
        War at ranks 1 and 2, love not at all: (1/2 + 1/2 * 1/2 * 1/2 + 0) / 2.

        >>> import rankine as rk
        >>> kinds = {"a": "war", "b": "war", "c": "love"}
        >>> rk.evaluate(
        ...     {"u": {"a", "b", "c"}}, {"u": ["a", "b"]}, "ERR_IA", items=kinds
        ... ).mean
        {'ERR_IA': 0.3125}

        A perfect list of two items has 1/2 + 1/8, so this is half of that.

        >>> rk.evaluate(
        ...     {"u": {"a", "b", "c"}},
        ...     {"u": ["a", "b"]},
        ...     "ERR_IA(scale='perfect')@2",
        ...     items=kinds,
        ... ).mean
        {"ERR_IA(scale='perfect')@2": 0.5}
    """
    check_k(k)
    check_number("rel", rel)
    if max_grade is not None:
        check_number("max_grade", max_grade, above=0, most=_STEEPEST)
    check_choice("wants", wants, ("relevant", "profile"))
    check_choice("without", without, WITHOUT)
    check_choice("scale", scale, ("none", "perfect"))
    if max_grade is None:
        max_grade = table.largest_grade
        if max_grade > _STEEPEST:
            msg = (
                f"a grade of {max_grade:g} is too large for 2^grade - 1; at most "
                f"{_STEEPEST}"
            )
            raise DataError(msg)
    hits = topic_hits(table, k, rel)
    stop = (2 ** np.clip(hits.grade, 0, max_grade) - 1) / 2**max_grade
    _, block = runs(hits.user, hits.topic)
    # What is left of those who want a topic, after the items above.
    with np.errstate(divide="ignore"):
        upto = running_sum(np.log1p(-stop), block)
    above = np.zeros(len(upto))
    again = block[1:] == block[:-1]
    above[1:][again] = upto[:-1][again]
    left = np.exp(above)
    gain = stop * left / hits.rank
    wanted = wanted_topics(table, rel)
    whole = wanted.sum(axis=1).astype(np.float64)
    if wants == "profile" and table.topics is not None:
        likes = _likes(table, table.topics)
        gain = gain * likes[hits.user, hits.topic]
        whole = np.where(whole > 0, 1.0, 0.0)
    if scale == "perfect":
        whole = whole * _perfect(max_grade, k)
    values = share(table.per_user(hits.user, gain), whole)
    return np.nan_to_num(values) if without == "zero" else values


def _perfect(max_grade: float, k: int | None) -> float:
    """Return the expected reciprocal rank if all items have the largest grade."""
    stop = (2**max_grade - 1) / 2**max_grade
    if k is None:
        # The sum of (1 - stop)^(r - 1) / r over all ranks is a logarithm.
        return -stop * float(np.log(stop)) / (1 - stop) if stop > 0 else 0.0
    rank = np.arange(1, k + 1)
    return float(np.sum(stop * (1 - stop) ** (rank - 1.0) / rank))


def _likes(table: Recommended, topics: Topics) -> Floats:
    """Return how the items of each user spread over topics, each counted once."""
    counts = np.zeros((table.n_queries, topics.n))
    pairs = [
        members.owner * table.n_items + members.member
        for members in (
            table.judged,
            None if table.train is None else table.train.profile,
        )
        if members is not None
    ]
    user, item = np.divmod(np.unique(np.concatenate(pairs)), max(table.n_items, 1))
    rows, which = topics.of_item.of(item)
    np.add.at(counts, (user[which], topics.of_item.member[rows]), 1)
    return share(counts, counts.sum(axis=1, keepdims=True))


ERR_IA = listed(
    "ERR_IA",
    err_ia,
    aliases=("ERR-IA", "ERRIA", "err_ia"),
    needs={
        "subtopics": ("wants", ("relevant",)),
        "topics": ("wants", ("profile",)),
        "train": ("wants", ("profile",)),
        "train_rows": ("wants", ("profile",)),
        "judgements": True,
    },
    binary=True,
    across=(HIGHEST_GRADE,),
)
