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

from rankine._tables.segments import runs

if TYPE_CHECKING:
    from rankine._base.arrays import Floats, Ints
    from rankine._join import Judged


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
    tied_blocks: Blocks = table.memo[key]
    return tied_blocks


def first_rank(table: Judged, rel: float, k: int | None) -> Floats:
    """Return the expected reciprocal rank of the first relevant item.

    Only the first block with a relevant item matters. Its first relevant item stands
    at place i with probability C(n - i, m - 1) / C(n, m).
    """
    block = blocks(table, rel)
    first = np.flatnonzero(block.hits_above == 0)
    query, above = block.query[first], block.above[first]
    tied, relevant = block.tied[first], block.relevant[first]
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
    block = blocks(table, rel)
    inside = block.tied if k is None else np.clip(k - block.above, 0, block.tied)
    none = np.ones(len(block.query))
    for drawn in range(int(block.relevant.max(initial=0))):
        more = drawn < block.relevant
        left = np.maximum(block.tied - inside - drawn, 0)
        none = np.where(more, none * left / np.maximum(block.tied - drawn, 1), none)
    nothing = np.ones(table.n_queries)
    np.multiply.at(nothing, block.query, none)
    return 1 - nothing


def average_precision_sum(
    table: Judged, rel: float, k: int | None, *, over_hits: bool
) -> Floats:
    """Return the expected sum of P@i over the hits, or of its ratio to their number.

    Place i of a block is relevant with probability m/n, and then has on average
    h + 1 + (i - 1)(m - 1)/(n - 1) hits up to it, h of them above the block.
    """
    block = blocks(table, rel)
    inside = block.tied if k is None else np.clip(k - block.above, 0, block.tied)
    harmonic = _harmonic(int((block.above + block.tied).max(initial=0)))
    whole = _block_sum(block, inside, block.tied, block.relevant, harmonic)
    total = table.per_query(block.query, whole)
    if not over_hits:
        return total
    return _over_hits(table, block, inside, whole, harmonic)


def _harmonic(n: int) -> Floats:
    return np.concatenate(([0.0], np.cumsum(1 / np.arange(1, n + 1))))


def _block_sum(
    block: Blocks, inside: Ints, places: Ints, relevant: Ints, harmonic: Floats
) -> Floats:
    """Sum the expected precision over the first `inside` of `places` places."""
    slope = np.where(places > 1, (relevant - 1) / np.maximum(places - 1, 1), 0.0)
    above = block.above
    reciprocal = harmonic[above + inside] - harmonic[above]
    lead = block.hits_above + 1 - slope * (above + 1)
    chance = relevant / np.maximum(places, 1)
    summed: Floats = chance * (lead * reciprocal + slope * inside)
    return summed


class _Cut(NamedTuple):
    """Blocks that a cutoff runs through, one per query at most.

    Attributes:
        block: the blocks.
        inside: how many of their places are above the cutoff.
        known: the sum of P@i over the hits of the blocks above.
        least, most: how many of their relevant items can be above the cutoff.
    """

    block: Blocks
    inside: Ints
    known: Floats
    least: Ints
    most: Ints


def _cut_blocks(every: Blocks, inside: Ints, above: Floats) -> _Cut:
    cut = np.flatnonzero((inside > 0) & (inside < every.tied))
    block = Blocks(*(column[cut] for column in every))
    places = inside[cut]
    least = np.maximum(0, places - (block.tied - block.relevant))
    most = np.minimum(block.relevant, places)
    return _Cut(block, places, above[block.query], least, most)


def _over_hits(
    table: Judged,
    block: Blocks,
    inside: Ints,
    whole: Floats,
    harmonic: Floats,
) -> Floats:
    """Divide by the number of hits within k, which the cut block makes uncertain.

    Given that j of the m relevant items of the cut block are among its s places inside,
    all orders of those places are equally likely.
    """
    sure = inside == block.tied
    sums = table.per_query(block.query[sure], whole[sure])
    hits = table.per_query(block.query[sure], block.relevant[sure].astype(np.float64))
    value = np.divide(sums, hits, out=np.zeros(table.n_queries), where=hits > 0)
    cut = _cut_blocks(block, inside, sums)
    n, m, s = cut.block.tied, cut.block.relevant, cut.inside
    mean = np.zeros(len(s))
    chance = _choose_share(n, m, s, cut.least)
    for step in range(int((cut.most - cut.least).max(initial=-1)) + 1):
        j = cut.least + step
        given = _block_sum(cut.block, s, s, j, harmonic)
        term = _per_hit(cut.known + given, cut.block.hits_above + j)
        mean += np.where(j <= cut.most, chance * term, 0.0)
        # The next hypergeometric probability from the last one.
        down = np.maximum((j + 1) * (n - m - s + j + 1), 1)
        chance = chance * np.maximum(m - j, 0) * np.maximum(s - j, 0) / down
    value[cut.block.query] = mean
    return value


def _per_hit(summed: Floats, hits: Ints) -> Floats:
    return np.divide(summed, hits, out=np.zeros(len(summed)), where=hits > 0)


def extreme_over_hits(table: Judged, rel: float, k: int | None, ties: str) -> Floats:
    """Return the best or the worst mean of P@i over the hits within k.

    Every block above the cutoff has its relevant items first, or last. In the block
    that is cut, fewer hits may be better: all their possible numbers are tried.
    """
    block = blocks(table, rel)
    inside = block.tied if k is None else np.clip(k - block.above, 0, block.tied)
    deepest = int((block.above + block.tied).max(initial=0))
    sure = inside == block.tied
    placed = _placed_sum(block, block.tied, block.relevant, ties)
    sums = table.per_query(block.query[sure], placed[sure])
    hits = table.per_query(block.query[sure], block.relevant[sure].astype(np.float64))
    value = np.divide(sums, hits, out=np.zeros(table.n_queries), where=hits > 0)
    cut = _cut_blocks(block, inside, sums)
    pick = np.maximum if ties == "best" else np.minimum
    chosen = np.full(len(cut.inside), -np.inf if ties == "best" else np.inf)
    for step in range(min(int((cut.most - cut.least).max(initial=-1)), deepest) + 1):
        j = cut.least + step
        given = _placed_sum(cut.block, cut.inside, j, ties)
        term = _per_hit(cut.known + given, cut.block.hits_above + j)
        chosen = np.where(j <= cut.most, pick(chosen, term), chosen)
    value[cut.block.query] = chosen
    return value


def _placed_sum(block: Blocks, places: Ints, relevant: Ints, ties: str) -> Floats:
    """Sum P@i over relevant items that stand first, or last, among some places."""
    total = np.zeros(len(relevant))
    first = block.above if ties == "best" else block.above + places - relevant
    for step in range(1, int(relevant.max(initial=0)) + 1):
        more = step <= relevant
        rank = np.maximum(first + step, 1)
        total += np.where(more, (block.hits_above + step) / rank, 0.0)
    return total


def _choose_share(n: Ints, m: Ints, s: Ints, j: Ints) -> Floats:
    """Return C(m, j) C(n - m, s - j) / C(n, s)."""
    from math import comb  # noqa: PLC0415 - used for tied cuts only

    return np.array(
        [
            comb(int(b), int(d)) * comb(int(a - b), int(c - d)) / comb(int(a), int(c))
            for a, b, c, d in zip(n, m, s, j, strict=True)
        ]
    )
