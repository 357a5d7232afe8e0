"""Pairs of judged items that the scores put in the order of their grades: FCP."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from rankine.checks import check_choice
from rankine.metric import register
from rankine.ranking._cutoff import ratio
from rankine.table.segments import runs

if TYPE_CHECKING:
    from rankine.arrays import Floats, Ints
    from rankine.table import Judged

Tied = Literal["discordant", "half", "ignore"]
Weighing = Literal["pairs", "users"]
Aggregate = Literal["ratio_of_sums", "mean_of_ratios"]


@dataclass(frozen=True, slots=True)
class Pairs:
    """Pairs of items with different grades, counted per query.

    Attributes:
        concordant: the item with the higher grade has the higher score.
        discordant: it has the lower score.
        tied: both have the same score.
    """

    concordant: Floats
    discordant: Floats
    tied: Floats


def count_pairs(table: Judged) -> Pairs:
    """Count the pairs of retrieved items that are judged, negative grades left out."""
    keep = table.grade >= 0
    query, above, grade = table.query[keep], table.above[keep], table.grade[keep]
    # Inside a tie the higher grade comes first, which makes no pair a wrong one.
    order = np.lexsort((-grade, above, query))
    query, above, grade = query[order], above[order], grade[order]
    by_grade = np.lexsort((grade, query))
    every = _pairs(table, query[by_grade], (grade[by_grade],))
    equal = _pairs(table, query, (above, grade))
    tied = _pairs(table, query, (above,)) - equal
    n = table.per_query(query)
    different = n * (n - 1) / 2 - every
    discordant = _inversions(table, query, -grade)
    return Pairs(different - tied - discordant, discordant, tied)


def _pairs(table: Judged, query: Ints, columns: tuple[Floats | Ints, ...]) -> Floats:
    """Count the pairs of rows that agree in some columns, sorted by them."""
    first, block = runs(query, *columns)
    size = np.bincount(block).astype(np.float64)
    return table.per_query(query[first], size * (size - 1) / 2)


def _inversions(table: Judged, query: Ints, value: Floats) -> Floats:
    """Count per query the pairs of rows of which the first has the larger value.

    A merge sort from below, in which all blocks of a size are merged at once: of the
    left half of a block, those that are larger than an item of the right half.
    """
    n = len(value)
    # Values grow with the query, so that rows of two queries are never a pair.
    order = np.lexsort((value, query))
    first, block = runs(query[order], value[order])
    key = np.empty(n, dtype=np.int64)
    key[order] = block
    found = np.zeros(table.n_queries)
    size, place, n_keys = 1, np.arange(n), len(first) + 1
    while size < n:
        block, right = place // (2 * size), (place // size) % 2 == 1
        joint = block * n_keys + key
        left = np.sort(joint[~right])
        begin = np.searchsorted(left, block[right] * n_keys)
        end = np.searchsorted(left, (block[right] + 1) * n_keys)
        upto = np.searchsorted(left, joint[right], side="right")
        larger = (end - np.clip(upto, begin, end)).astype(np.float64)
        found += table.per_query(query[right], larger)
        size *= 2
    return found


def fcp_parts(
    table: Judged,
    *,
    tied: Tied = "discordant",
    weighing: Weighing = "pairs",
    aggregate: Aggregate = "ratio_of_sums",
) -> tuple[Floats, Floats]:
    """Return the concordant pairs and all that count, for one number of all users."""
    check_choice("tied", tied, ("discordant", "half", "ignore"))
    check_choice("weighing", weighing, ("pairs", "users"))
    check_choice("aggregate", aggregate, ("ratio_of_sums", "mean_of_ratios"))
    pairs = count_pairs(table)
    right, wrong = pairs.concordant, pairs.discordant
    if tied == "discordant":
        wrong = wrong + pairs.tied
    elif tied == "half":
        right, wrong = right + pairs.tied / 2, wrong + pairs.tied / 2
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
        weighing: ``pairs``: every pair counts alike, as the paper has it; ``users``:
            concordant pairs per user that has one stand against discordant pairs per
            user that has one, which is what Surprise computes.
        aggregate: ``ratio_of_sums``: the pairs of all users together;
            ``mean_of_ratios``: the mean over users.

    Returns:
        One value per query, 0 to 1; nan without pairs.

    References:
        Y. Koren, J. Sill: Collaborative filtering on ordinal user feedback. IJCAI 2013.

    Examples:
        Ratings 3, 1 and 2 in the order of the scores: 3-1 and 3-2 are right, 1-2 is
        wrong.

        >>> from rankine.table import judged
        >>> ratings = {"a": 3, "b": 1, "c": 2}
        >>> table = judged({"u": ratings}, {"u": {"a": 0.9, "b": 0.5, "c": 0.4}})
        >>> fcp(table)
        array([0.6667])
    """
    return ratio(*fcp_parts(table, tied=tied, weighing=weighing, aggregate=aggregate))


FCP = register(
    "FCP", fcp, aliases=("fcp",), parts=fcp_parts, empty="skip", binary=False,
    ordered=False,
)  # fmt: skip
