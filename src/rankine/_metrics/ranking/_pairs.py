"""Pairs of judged items, and whether their scores put them in the order of grades."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import numpy as np

from rankine._base.checks import check_choice
from rankine._metrics.metric import Across, register
from rankine._metrics.ranking._cutoff import ratio
from rankine._tables.inversions import Pairs, pair_counts
from rankine._tables.judged import with_the_rest
from rankine._tables.segments import starts_of

if TYPE_CHECKING:
    from rankine._base.arrays import Floats
    from rankine._join import Judged

Tied = Literal["discordant", "half", "ignore"]
Weighing = Literal["pairs", "users"]
Unretrieved = Literal["last", "ignore"]
Aggregate = Literal["ratio_of_sums", "mean_of_ratios"]


def count_pairs(table: Judged) -> Pairs:
    """Count the pairs of retrieved items that are judged, negative grades left out.

    x is the grade and y the score.
    """
    keep = table.grade >= 0
    count = np.bincount(table.query[keep], minlength=table.n_queries)
    return pair_counts(table.grade[keep], -table.above[keep], starts_of(count))


def fcp_parts(
    table: Judged,
    *,
    tied: Tied = "discordant",
    weighing: Weighing = "pairs",
    aggregate: Aggregate = "ratio_of_sums",
) -> tuple[Floats, Floats]:
    """Return the concordant pairs and all that count, for one number for all users."""
    check_choice("tied", tied, ("discordant", "half", "ignore"))
    check_choice("weighing", weighing, ("pairs", "users"))
    check_choice("aggregate", aggregate, ("ratio_of_sums", "mean_of_ratios"))
    right, wrong = count_pairs(table).split(tied)
    if weighing == "users":
        right = right / np.maximum(np.count_nonzero(right), 1)
        wrong = wrong / np.maximum(np.count_nonzero(wrong), 1)
    return right, right + wrong


def fcp(
    table: Judged,
    *,
    tied: Tied = "discordant",
    weighing: Weighing = "pairs",
    aggregate: Aggregate = "ratio_of_sums",
) -> Floats:
    """Share of pairs of rated items that the scores put in the right order.

    Only items that are rated and have a score form pairs, and only those with
    different ratings.

    Formula:
        FCP = concordant pairs / (concordant + discordant pairs)

    Args:
        table: the joined table.
        tied: a pair with equal scores is ``discordant`` (Surprise), counts ``half``,
            or is left out (``ignore``).
        weighing: ``pairs``: every pair counts the same, as in the paper; ``users``:
            concordant pairs per user who has one are compared with discordant pairs per
            user who has one, as in Surprise.
        aggregate: ``ratio_of_sums``: the pairs of all users together;
            ``mean_of_ratios``: the mean over users.

    Returns:
        One value per query, 0 to 1; nan without pairs.

    References:
        Y. Koren, J. Sill: Collaborative filtering on ordinal user feedback. IJCAI 2013.

    Examples:
        Ratings 3, 1 and 2 in the order of the scores: 3-1 and 3-2 are right, 1-2 is
        wrong.

        >>> import rankine as rk
        >>> ratings = {"a": 3, "b": 1, "c": 2}
        >>> qrels, run = {"u": ratings}, {"u": {"a": 0.9, "b": 0.5, "c": 0.4}}
        >>> rk.evaluate(qrels, run, "FCP").mean
        {'FCP': 0.6667}
    """
    return ratio(*fcp_parts(table, tied=tied, weighing=weighing, aggregate=aggregate))


FCP = register(
    "FCP",
    fcp,
    aliases=("fcp",),
    parts=fcp_parts,
    empty="skip",
    undefined="skip",
    binary=False,
    ordered=False,
    across=(Across("weighing", ("users",), "counts the users that have a pair"),),
)


def ndpm_parts(
    table: Judged, *, unretrieved: Unretrieved = "last"
) -> tuple[Floats, Floats]:
    """Return twice the contradicted pairs with those tied, and twice all pairs."""
    check_choice("unretrieved", unretrieved, ("last", "ignore"))
    table = with_the_rest(table) if unretrieved == "last" else table
    return count_pairs(table).distance()


def ndpm(table: Judged, *, unretrieved: Unretrieved = "last") -> Floats:
    """Normalised distance-based performance measure: how far from the wanted order.

    The share of pairs of judged items with different grades that the run has in the
    wrong order, plus half the share of those that it ties. Smaller is better.

    Formula:
        NDPM = (2 C- + Cu) / (2 C), C- the pairs in the wrong order, Cu those with equal
        scores, C all pairs with different grades

    Args:
        table: the joined table.
        unretrieved: judged items that were not retrieved are tied below the list
            (``last``), or form no pairs (``ignore``).

    Returns:
        One value per query, from 0, the order of the grades, to 1, the reverse; nan
        without two different grades.

    References:
        Y. Y. Yao: Measuring retrieval effectiveness based on user preference of
        documents. JASIS 1995.

    Examples:
        Grades 3, 1 and 2 in the order of the scores: of three pairs, 1-2 is wrong.

        >>> import rankine as rk
        >>> grades = {"a": 3, "b": 1, "c": 2}
        >>> qrels, run = {"q": grades}, {"q": {"a": 0.9, "b": 0.5, "c": 0.4}}
        >>> rk.evaluate(qrels, run, "NDPM").mean
        {'NDPM': 0.3333}
    """
    return ratio(*ndpm_parts(table, unretrieved=unretrieved))


NDPM = register(
    "NDPM", ndpm, aliases=("ndpm",), parts=ndpm_parts, empty="skip",
    undefined="skip", binary=False, ordered=False, higher_is_better=False,
)  # fmt: skip
