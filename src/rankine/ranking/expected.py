"""Expected values over all orders of tied items (McSherry and Najork 2008).

An item with `above` items over it and `tied` items beside it, itself included, is
equally likely at ranks above + 1 to above + tied. What is linear in the places of
single items follows from that; the rest is worked out per block of tied items.

Reference:
    F. McSherry, M. Najork: Computing information retrieval performance measures
    efficiently in the presence of tied scores. ECIR 2008.
    https://doi.org/10.1007/978-3-540-78646-7_38
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from rankine.table.segments import runs

if TYPE_CHECKING:
    from rankine.arrays import Floats, Ints
    from rankine.table import Judged


def share_within(above: Ints, tied: Ints, k: int | None) -> Floats:
    """Return the probability that each item stands at rank k or higher."""
    if k is None:
        return np.ones(len(above))
    inside: Floats = np.clip(k - above, 0, tied) / tied
    return inside


def mean_weight(above: Ints, tied: Ints, k: int | None, prefix: Floats) -> Floats:
    """Return the mean weight of an item's possible places.

    `prefix[i]` is the sum of the weights of ranks 1 to i; ranks beyond k weigh nothing.
    """
    end = above + tied
    begin = above
    if k is not None:
        end, begin = np.minimum(end, k), np.minimum(begin, k)
    weight: Floats = (prefix[end] - prefix[begin]) / tied
    return weight


class Blocks(NamedTuple):
    """Blocks of tied items that hold at least one relevant item, best first.

    Attributes:
        query: the query number.
        above: how many items of the list have a larger score.
        tied: how many items are in the block.
        relevant: how many of them are relevant.
        hits_above: how many relevant items are above the block.
    """

    query: Ints
    above: Ints
    tied: Ints
    relevant: Ints
    hits_above: Ints


def blocks(table: Judged, rel: float) -> Blocks:
    """Group the relevant rows into blocks of equal score."""
    key = ("blocks", rel)
    if key not in table.memo:
        hits = table.hits(rel)
        query, above = hits.query, table.above[hits.row]
        tied = table.tied[hits.row]
        first, _ = runs(query, above)
        relevant = np.diff(np.append(first, len(query)))
        table.memo[key] = Blocks(
            query[first], above[first], tied[first], relevant, hits.nth[first] - 1
        )
    found: Blocks = table.memo[key]
    return found


def first_rank(table: Judged, rel: float, k: int | None) -> Floats:
    """Return the expected reciprocal rank of the first relevant item.

    Only the first block with a relevant item matters. Its first relevant item stands
    at place i with probability C(n - i, m - 1) / C(n, m).
    """
    found = blocks(table, rel)
    first = np.flatnonzero(found.hits_above == 0)
    query, above = found.query[first], found.above[first]
    tied, relevant = found.tied[first], found.relevant[first]
    value = np.zeros(len(first))
    none_yet = np.ones(len(first))
    last = int((tied - relevant).max(initial=-1)) + 1
    for place in range(1, last + 1):
        rank = above + place
        left = tied - place + 1
        here = np.where(left >= relevant, relevant / np.maximum(left, 1), 0.0)
        inside = none_yet * here / rank
        if k is not None:
            inside[rank > k] = 0
        value += inside
        none_yet *= 1 - here
    return table.per_query(query, value)


def any_within(table: Judged, rel: float, k: int | None) -> Floats:
    """Return the probability of at least one relevant item at rank k or higher.

    Of a block with m relevant among n items, s places are inside: none of them is
    relevant with probability C(n - s, m) / C(n, m).
    """
    found = blocks(table, rel)
    inside = found.tied if k is None else np.clip(k - found.above, 0, found.tied)
    none = np.ones(len(found.query))
    for drawn in range(int(found.relevant.max(initial=0))):
        more = drawn < found.relevant
        left = np.maximum(found.tied - inside - drawn, 0)
        none = np.where(more, none * left / np.maximum(found.tied - drawn, 1), none)
    nothing = np.ones(table.n_queries)
    np.multiply.at(nothing, found.query, none)
    return 1 - nothing


def average_precision_sum(
    table: Judged, rel: float, k: int | None, *, over_hits: bool
) -> Floats:
    """Return the expected sum of P@i over the hits, or that divided by their number.

    Place i of a block is relevant with probability m/n, and then has on average
    h + 1 + (i - 1)(m - 1)/(n - 1) hits up to it, h of them above the block.
    """
    found = blocks(table, rel)
    inside = found.tied if k is None else np.clip(k - found.above, 0, found.tied)
    harmonic = _harmonic(int((found.above + found.tied).max(initial=0)))
    whole = _block_sum(found, inside, found.tied, found.relevant, harmonic)
    total = table.per_query(found.query, whole)
    if not over_hits:
        return total
    return _over_hits(table, found, inside, whole, total, harmonic)


def _harmonic(n: int) -> Floats:
    return np.concatenate(([0.0], np.cumsum(1 / np.arange(1, n + 1))))


def _block_sum(
    found: Blocks, inside: Ints, places: Ints, relevant: Ints, harmonic: Floats
) -> Floats:
    """Sum the expected precision over the first `inside` of `places` places."""
    slope = np.where(places > 1, (relevant - 1) / np.maximum(places - 1, 1), 0.0)
    above = found.above
    reciprocal = harmonic[above + inside] - harmonic[above]
    lead = found.hits_above + 1 - slope * (above + 1)
    chance = relevant / np.maximum(places, 1)
    summed: Floats = chance * (lead * reciprocal + slope * inside)
    return summed


def _over_hits(
    table: Judged,
    found: Blocks,
    inside: Ints,
    whole: Floats,
    total: Floats,
    harmonic: Floats,
) -> Floats:
    """Divide by the number of hits within k, which the cut block makes uncertain.

    Given that j of the m relevant items of the cut block are among its s places inside,
    all orders of those places are equally likely.
    """
    cut = np.flatnonzero((inside > 0) & (inside < found.tied))
    sure = inside == found.tied
    hits = table.per_query(found.query[sure], found.relevant[sure].astype(np.float64))
    with np.errstate(invalid="ignore"):
        value = total / hits
    value[hits == 0] = 0
    query = found.query[cut]
    block = Blocks(*(column[cut] for column in found))
    n, m, s = block.tied, block.relevant, inside[cut]
    known = total[query] - whole[cut]
    mean = np.zeros(len(cut))
    # Hypergeometric probabilities of j, from the first possible one upwards.
    least = np.maximum(0, s - (n - m))
    chance = _choose_share(n, m, s, least)
    for step in range(int((np.minimum(m, s) - least).max(initial=-1)) + 1):
        j = least + step
        possible = j <= np.minimum(m, s)
        given = _block_sum(block, s, s, j, harmonic)
        hits_j = block.hits_above + j
        with np.errstate(divide="ignore", invalid="ignore"):
            term = np.where(hits_j > 0, (known + given) / hits_j, 0.0)
            mean += np.where(possible, chance * term, 0.0)
            chance = chance * (m - j) * (s - j) / ((j + 1) * (n - m - s + j + 1))
    value[query] = mean
    return value


def _choose_share(n: Ints, m: Ints, s: Ints, j: Ints) -> Floats:
    """Return C(m, j) C(n - m, s - j) / C(n, s)."""
    from math import comb  # noqa: PLC0415 - used for tied cuts only

    return np.array(
        [
            comb(int(b), int(d)) * comb(int(a - b), int(c - d)) / comb(int(a), int(c))
            for a, b, c, d in zip(n, m, s, j, strict=True)
        ]
    )
