"""Rank-biased overlap of all queries at once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias

import numpy as np

from rankine._base.checks import check_choice, check_k, check_number
from rankine._metrics.similarity.weights import tails
from rankine._tables.segments import starts_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from rankine._base.arrays import Bools, Floats, Ints
    from rankine._tables.paired import Matched, Side

Ties = Literal["w", "a", "b"]
TIES = ("w", "a", "b")
Weigh: TypeAlias = "Callable[[Ints, Ints], Floats]"
Value = Literal["ext", "min", "max", "res", "rbd"]


class Bounds(NamedTuple):
    """RBO: its minimum, its maximum, their distance, and the extrapolated value.

    Floats for one pair of lists, arrays for many.
    """

    min: Any
    max: Any
    res: Any
    ext: Any


@dataclass(frozen=True, slots=True)
class OverlapSums:
    """The parts of RBO that depend on the agreement at each depth.

    Attributes:
        seen: sum over d <= l of A_d p^(d-1), from what was seen of both lists.
        most: what unseen items of the shorter list can add to it.
        likely: what they add if the lists go on agreeing as they did before.
        last: A_s, the agreement at the end of the shorter list.
    """

    seen: Any
    most: Any
    likely: Any
    last: Any


def bounds(m: Matched, p: float, ties: Ties) -> Bounds:
    """Compute the bounds and the extrapolation of RBO for each query."""
    long = np.maximum(m.x.length, m.y.length)
    short = np.minimum(m.x.length, m.y.length)
    scale = _scale(p, int((long + short).max(initial=0)))
    early = m.count.astype(np.float64)
    if (short < long).any():
        early = m.sum((m.depth <= np.repeat(short, m.count)).astype(np.float64))
    last = early / np.maximum(short, 1)
    sums = _sums(scale, m.sum_by_depth(scale.tail), last, m.count, long, short)
    tied = np.flatnonzero(m.tied)
    if len(tied):
        of_tied = with_ties(m.take(tied), lambda _, depth: scale.power[depth], ties)
        for name in ("seen", "most", "likely", "last"):
            getattr(sums, name)[tied] = getattr(of_tied, name)
    return _joined(scale, sums, m.count, long, short, np.minimum, np.maximum)


def untied(depth: Ints, first: int, second: int, p: float) -> Bounds:
    """Compute the same for two lists without ties, from their lengths.

    Args:
        depth: the depth from which on both lists have an item, for each common item.
        first: the length of a list.
        second: that of the other one.
        p: the persistence.
    """
    long, short, both = max(first, second), min(first, second), len(depth)
    scale = _scale(p, long + short)
    early = both if short == long else np.count_nonzero(depth <= short)
    sums = _sums(
        scale, scale.tail[depth].sum(), early / max(short, 1), both, long, short
    )
    return Bounds(*map(float, _joined(scale, sums, both, long, short, min, max)))


class _Scale(NamedTuple):
    """p, and p^(d-1) and the sum of p^(i-1) / i over i >= d, by d."""

    p: float
    power: Floats
    tail: Floats


def _scale(p: float, deepest: int) -> _Scale:
    return _Scale(p, *tails(p, 1 << (deepest + 2).bit_length()))


def _sums(
    scale: _Scale, start: Any, last: Any, both: Any, long: Any, short: Any
) -> OverlapSums:
    """Sum over items instead of depths: each counts from where both lists have it.

    Below the end of the shorter list, sum_{d = s+1 .. l} (d - s) / d p^(d-1) is the
    most that its unseen items can add.
    """
    p, power, tail = scale
    seen = start - both * tail[long + 1]
    most = (power[short + 1] - power[long + 1]) / (1 - p)
    most = most - short * (tail[short + 1] - tail[long + 1])
    return OverlapSums(seen, most, most * last, last)


def _joined(
    scale: _Scale,
    sums: OverlapSums,
    both: Any,
    long: Any,
    short: Any,
    smaller: Callable[[Any, Any], Any],
    larger: Callable[[Any, Any], Any],
) -> Bounds:
    """Join the sums with what may follow the lists.

    With l and s the lengths of the lists, X the items in common, f = l + s - X, and
    T_d the sum of p^(i-1) / i over all i >= d:

        min = (1 - p) (sum_{d<=l} A_d p^(d-1) + X T_(l+1))
        res = (1 - p) (what may follow the shorter list
              + (2 p^l - p^f) / (1 - p) - (l + s) T_(l+1) + f T_(f+1))
        ext = (1 - p) (sum with what is likely) + (X + (l - s) A_s) / l * p^l

    All numbers are those of one pair of lists, or arrays with one per query, for which
    `smaller` and `larger` take two of them.
    """
    p, power, tail = scale
    end, union = tail[long + 1], long + short - both
    low = smaller(larger((1 - p) * (sums.seen + both * end), 0), 1)
    after = (2 * power[long + 1] - power[union + 1]) / (1 - p)
    after = after + union * tail[union + 1] - (long + short) * end
    res = smaller(larger((1 - p) * (sums.most + after), 0), 1)
    high = smaller(low + res, 1)
    share = (both + (long - short) * sums.last) / larger(long, 1)
    # Two empty lists are alike; nothing was seen in which they differ.
    share = share + (long == 0)
    ext = (1 - p) * (sums.seen + sums.likely) + share * power[long + 1]
    return Bounds(low, high, res, smaller(larger(ext, low), high))


class _Open(NamedTuple):
    """The ties at each depth: of which list, and how much of them is inside."""

    closed: Floats
    size: Floats
    share: Floats


def with_ties(m: Matched, weigh: Weigh, ties: Ties) -> OverlapSums:
    """Go through all depths; at each, one group of ties at most is open per list.

    Depths are weighed by a function of the query and the depth.
    """
    swap = m.x.length > m.y.length
    short = np.minimum(m.x.length, m.y.length)
    long = np.maximum(m.x.length, m.y.length)
    starts = starts_of(long)
    query = np.repeat(np.arange(m.n_queries), long)
    depth = np.arange(starts[-1]) - starts[query] + 1

    def running(event: Ints) -> Floats:
        """Count, per query and depth, the items that are inside from there on."""
        inside = event <= long[m.query]
        cell = starts[m.query[inside]] + event[inside] - 1
        total = np.cumsum(np.bincount(cell, minlength=len(depth)))
        before = np.concatenate(([0], total))[starts[:-1]]
        return (total - before[query]).astype(np.float64)

    of_x, of_y = m.x_ranks, m.y_ranks
    turned = swap[m.query]
    top_s, bottom_s = (np.where(turned, b, a) for a, b in zip(of_x, of_y, strict=True))
    top_l, bottom_l = (np.where(turned, a, b) for a, b in zip(of_x, of_y, strict=True))
    s = _open(m, query, depth, short, swap, longer=False)
    deep = _open(m, query, depth, long, swap, longer=True)
    started = running(np.maximum(top_s, top_l))
    if ties == "w":
        # Whoever is in a tie that has begun is inside.
        common = started
        below = (s.closed + s.size + deep.closed + deep.size) / 2
    else:
        ended = running(np.maximum(bottom_s, bottom_l) + 1)
        in_s = running(np.maximum(top_s, bottom_l + 1)) - ended
        in_l = running(np.maximum(bottom_s + 1, top_l)) - ended
        in_both = started - ended - in_s - in_l
        common = ended + s.share * in_s + deep.share * in_l
        common += s.share * deep.share * in_both
        below = depth.astype(np.float64)
        if ties == "b":
            closed = s.closed + s.size * s.share**2
            below = np.sqrt(closed * (deep.closed + deep.size * deep.share**2))
    weight = weigh(query, depth)
    agreement = common / below
    tail = depth > short[query]
    more = np.where(tail, depth - short[query], 0).astype(np.float64)
    ends = starts[:-1] + short - 1
    at_end = np.where(short > 0, agreement[np.maximum(ends, 0)], 0.0)
    most, mean = more, np.ones(len(depth))
    if ties != "w":
        # Items of the longer list alone: those whose ties have ended, and others.
        alone = deep.closed - running(bottom_l + 1)
        begun = deep.closed + deep.size - running(top_l)
        most = np.minimum(more, alone)
        most = most + deep.share * (more - most)
        mean = (alone + deep.share * (begun - alone)) / np.maximum(begun, 1)
    likely = more * mean * at_end[query]

    def summed(values: Floats) -> Floats:
        total = np.bincount(query, values * weight, minlength=m.n_queries)
        return total.astype(np.float64)

    return OverlapSums(
        summed(agreement), summed(most / below), summed(likely / below), at_end
    )


def _open(
    m: Matched, query: Ints, depth: Ints, length: Ints, swap: Bools, *, longer: bool
) -> _Open:
    """Describe the group of ties that each depth falls into, of one of the lists.

    Below the end of the list, items are not tied.
    """
    closed = (depth - 1).astype(np.float64)
    size = np.ones(len(depth))
    sides: tuple[tuple[Side, Bools], ...] = (
        (m.x, swap if longer else ~swap),
        (m.y, ~swap if longer else swap),
    )
    for side, mine in sides:
        if side.top is None or side.bottom is None:
            continue
        here = np.flatnonzero(mine[query] & (depth <= length[query]))
        row = side.starts[query[here]] + depth[here] - 1
        closed[here] = side.top[row] - 1
        size[here] = side.bottom[row] - side.top[row] + 1
    return _Open(closed, size, (depth - closed) / size)


def rbo_kernel(
    m: Matched,
    *,
    p: float = 0.9,
    ties: Ties = "w",
    value: Value = "ext",
    k: int | None = None,
) -> Floats:
    """Rank-biased overlap of two lists.

    Compares prefixes of growing depth, and gives less weight to greater depths. See
    `rbo` for its bounds and for what ties mean.

    Formula:
        RBO = (1 - p) sum_{d >= 1} p^(d-1) A_d, A_d the agreement at depth d

    Args:
        m: the lists of two runs.
        p: the persistence, between 0 and 1.
        ties: tied items share the first rank of the tie (``w``); the mean
            over all orders of tied items (``a``); that, corrected for the information
            that ties lose (``b``).
        value: the extrapolation (``ext``), the bounds (``min``, ``max``), their
            distance (``res``), or the distance of the lists, 1 - ext (``rbd``).
        k: use only the first k items of each list.

    Returns:
        One value per query, 0 to 1.

    References:
        W. Webber, A. Moffat, J. Zobel: A similarity measure for indefinite rankings.
        TOIS 2010. M. Corsi, J. Urbano: The treatment of ties in rank-biased overlap.
        SIGIR 2024.

    Examples:
        >>> import rankine as rk
        >>> ev = rk.similarity({"q": ["a", "b"]}, {"q": ["b", "a"]}, "RBO(p=0.5)")
        >>> ev["RBO(p=0.5)"]
        0.5
    """
    check_number("p", p, above=0, below=1)
    check_choice("ties", ties, TIES)
    check_choice("value", value, ("ext", "min", "max", "res", "rbd"))
    check_k(k)
    limits = bounds(m.cut(k), float(p), ties)
    chosen: Floats = 1 - limits.ext if value == "rbd" else getattr(limits, value)
    return chosen
