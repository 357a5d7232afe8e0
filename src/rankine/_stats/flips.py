"""Randomization of paired differences: the signs of all of them, flipped at random.

Under the hypothesis that two systems do the same, a query could as well have shown the
values of both the other way round, so that every difference may have either sign
(Fisher 1935). All hypotheses share one set of signs: one matrix product serves them
all, and their joint distribution is that of the data.
"""

from __future__ import annotations

import math
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from rankine._base.limits import limits

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from rankine._base.arrays import Bytes, Floats, Ints

_FEW = 6
"""Rows up to which sums are looked up."""
_BITS = 32
"""How many more coins are tossed at once then."""
NOTHING = 1e-12
"""Differences up to this count as 0, as 0.3 - 0.2 and 0.2 - 0.1 should be equal."""


def flipped_p(
    rows: Floats, draws: int, seed: int | Sequence[int], *, below: bool = False
) -> Floats:
    """Return the p-value of the mean of each row under flips of signs.

    All flips are gone through where they are no more than the draws, which is exact;
    differences of 0 have no sign to flip. Else p = (1 + flips at least as extreme) /
    (1 + draws), which is never 0.

    Args:
        rows: a row of differences per hypothesis; 0 for a query that is not paired.
        draws: how many flips are drawn.
        seed: the seed of the draws.
        below: whether only means that are as low count as extreme; those far from 0 on
            either side if not.

    >>> flipped_p(np.array([[0.1, 0.1, 0.2, 0.1]]), 1000, 0)
    array([0.125])
    >>> flipped_p(np.array([[-0.1, -0.1, -0.2, -0.1]]), 1000, 0, below=True)
    array([0.0625])
    """
    size = np.negative if below else np.abs
    p = np.empty(len(rows))
    n_flipped = np.count_nonzero(rows, axis=1)
    exact = n_flipped < draws.bit_length()  # 2^n is at most the draws
    for number in np.flatnonzero(exact):
        row = rows[number]
        p[number] = _exact_p(row[row != 0], size)
    drawn = np.flatnonzero(~exact)
    if len(drawn):
        some = rows[drawn]
        least = _least_extreme(some, size)
        above = np.zeros(len(some), dtype=np.int64)
        for sums in _drawn_sums(some, draws, seed):
            above += np.count_nonzero(size(sums) >= least, axis=0)
        p[drawn] = (1 + above) / (1 + draws)
    return p


def stepped_down_p(
    rows: Floats, n: Ints, draws: int, seed: int, families: Ints | None = None
) -> Floats:
    """Return p-values corrected for all rows of a family, by step-down MaxT.

    Each statistic is compared with the largest, under the same flips, of all that are
    no more extreme than it. As sums of squares do not change under flips, one product
    gives the studentised means too.

    Args:
        rows: a row of differences per hypothesis; 0 for a query that is not paired.
        n: how many queries each row pairs.
        draws: how many flips are drawn; all are gone through where they are no more.
        seed: the seed of the draws.
        families: the number of the family of each row; one for all if not given.

    References:
        P. H. Westfall, S. S. Young: Resampling-based multiple testing. 1993.

    >>> stepped_down_p(np.array([[0.1, 0.1, 0.2, 0.1]]), np.array([4]), 1000, 0)
    array([0.125])
    """
    family = np.zeros(len(rows), dtype=np.int64) if families is None else families
    squares = (rows**2).sum(axis=1)
    moved = np.flatnonzero(squares > 0)
    p = np.ones(len(rows))
    if len(moved) == 0:
        return p
    # Rounding must not decide what is as extreme, and least of all where the share is
    # 1 and the statistic infinite: all differences are then the same.
    share = _share(rows[moved].sum(axis=1), squares[moved], n[moved])
    least = _squared_t(share - NOTHING, n[moved])
    order = np.lexsort((-least, family[moved]))
    moved, least = moved[order], least[order]
    rows, squares, n, family = rows[moved], squares[moved], n[moved], family[moved]
    begins = np.flatnonzero(np.diff(family, prepend=family[0] - 1))
    parts = [slice(*ends) for ends in pairwise([*begins.tolist(), len(rows)])]
    touched = rows[:, (rows != 0).any(axis=0)]
    is_exact = touched.shape[1] < draws.bit_length()
    sums_of = _all_sums(touched) if is_exact else _drawn_sums(rows, draws, seed)
    above = np.zeros(len(rows), dtype=np.int64)
    n_flips = 0
    for sums in sums_of:
        # From the least extreme of a family up, so that the largest so far is at hand.
        drawn = _squared_t(_share(sums, squares, n), n)[:, ::-1]
        for part in parts:
            columns = slice(len(rows) - part.stop, len(rows) - part.start)
            largest = np.maximum.accumulate(drawn[:, columns], axis=1)[:, ::-1]
            above[part] += np.count_nonzero(largest >= least[part], axis=0)
        n_flips += len(sums)
    more = 0 if is_exact else 1
    for part in parts:
        p[moved[part]] = np.maximum.accumulate((more + above[part]) / (more + n_flips))
    return p


def critical_t(
    rows: Floats, n: Ints, draws: int, seed: int, alpha: float, families: Ints
) -> Floats:
    """Return which t is extreme for all rows of a family at once, for each row.

    It is the 1 - alpha quantile of the largest t of the family under flips. Its flips
    are those of `stepped_down_p`, so that the smallest p-value of a family is at most
    alpha exactly where its t is beyond this.

    Args:
        rows: a row of differences per hypothesis; 0 for a query that is not paired.
        n: how many queries each row pairs.
        draws: how many flips are drawn; all are gone through where they are no more.
        seed: the seed of the draws.
        alpha: how often the largest t of a family may be beyond the returned one.
        families: the number of the family of each row.

    Returns:
        A t per row: infinite if there are too few flips for this alpha, 0 if nothing
        in the family differs.

    >>> rows = np.array([[0.1, 0.2, 0.3, 0.4]])
    >>> one = np.array([0])
    >>> critical_t(rows, np.array([4]), 1000, 0, 0.25, one).round(4)
    array([1.1339])
    """
    squares = (rows**2).sum(axis=1)
    moved = np.flatnonzero(squares > 0)
    critical = np.zeros(len(rows))
    if len(moved) == 0:
        return critical
    rows, squares, n, family = rows[moved], squares[moved], n[moved], families[moved]
    numbers = np.unique(family)
    touched = rows[:, (rows != 0).any(axis=0)]
    is_exact = touched.shape[1] < draws.bit_length()
    sums_of = _all_sums(touched) if is_exact else _drawn_sums(rows, draws, seed)
    largest: list[list[Floats]] = [[] for _ in numbers]
    for sums in sums_of:
        drawn = _squared_t(_share(sums, squares, n), n)
        for place, number in enumerate(numbers):
            largest[place].append(drawn[:, family == number].max(axis=1))
    more = 0 if is_exact else 1
    for place, number in enumerate(numbers):
        ordered = np.sort(np.concatenate(largest[place]))[::-1]
        beyond = math.floor(alpha * (more + len(ordered)) + NOTHING) - more
        squared = np.inf if beyond < 0 else float(ordered[beyond])
        # A t that is as large, but for rounding, is not beyond it.
        critical[families == number] = math.sqrt(squared) * (1 + NOTHING)
    return critical


def _least_extreme(rows: Floats, size: np.ufunc) -> Floats:
    """Return from which size of a sum on a flip is as extreme as what was observed."""
    least: Floats = size(rows.sum(axis=1)) - NOTHING * np.abs(rows).sum(axis=1)
    return least


def _exact_p(row: Floats, size: np.ufunc) -> float:
    """Return the p-value of one row from all flips of its signs."""
    if len(row) == 0:
        return 1.0
    (least,) = _least_extreme(row[None, :], size)
    above = total = 0
    for sums in _all_sums(row[None, :]):
        above += int(np.count_nonzero(size(sums) >= least))
        total += len(sums)
    return above / total


def _all_sums(rows: Floats) -> Iterator[Floats]:
    """Go through the sums of rows under all flips: a line per flip."""
    n = rows.shape[1]
    step = _flips_at_once(n)
    columns = np.ascontiguousarray(rows.T)
    total = rows.sum(axis=1)
    for begin in range(0, 1 << n, step):
        numbers = np.arange(begin, min(begin + step, 1 << n))
        kept = (numbers[:, None] >> np.arange(n)) & 1
        yield 2 * (kept @ columns) - total


def _drawn_sums(
    rows: Floats, draws: int, seed: int | Sequence[int]
) -> Iterator[Floats]:
    """Go through the sums of rows under random flips, as `_all_sums` does."""
    n = rows.shape[1]
    total = rows.sum(axis=1)
    few = len(rows) <= _FEW
    sums_of = _looked_up(rows) if few else _multiplied(rows)
    # Coins that are looked up stay bits, and more of them fit.
    step = _flips_at_once(n) * (_BITS if few else 1)
    for coins in _coins(n, draws, seed, step):
        # With 1 for a sign that is kept and 0 for one that is flipped.
        yield 2 * sums_of(coins) - total


def _multiplied(rows: Floats) -> Callable[[Bytes], Floats]:
    """Return a function that adds up what coins keep of many rows, by a product."""
    n, columns = rows.shape[1], np.ascontiguousarray(rows.T)

    def sums_of(coins: Bytes) -> Floats:
        sums: Floats = np.unpackbits(coins, axis=1)[:, :n].astype(np.float64) @ columns
        return sums

    return sums_of


def _looked_up(rows: Floats) -> Callable[[Bytes], Floats]:
    """Return a function that adds up what coins keep of a few rows, eight at a time.

    Eight coins are a byte, and the sums of all 256 bytes are at hand, which is faster
    than a product as long as there are few rows.
    """
    n_bytes = -(-rows.shape[1] // 64) * 8
    padded = np.zeros((len(rows), n_bytes * 8))
    padded[:, : rows.shape[1]] = rows
    each = np.unpackbits(np.arange(256, dtype=np.uint8)[:, None], axis=1)
    tables = padded.reshape(len(rows), n_bytes, 8) @ each.T.astype(np.float64)

    def sums_of(coins: Bytes) -> Floats:
        sums = np.zeros((len(rows), len(coins)))
        for number, column in enumerate(np.ascontiguousarray(coins.T)):
            for row in range(len(rows)):
                # A byte is always inside; "clip" does not look whether it is.
                sums[row] += tables[row, number].take(column, mode="clip")
        return sums.T

    return sums_of


def _coins(n: int, draws: int, seed: int | Sequence[int], step: int) -> Iterator[Bytes]:
    """Toss n coins so many times, a bit each; how many at once changes nothing."""
    rng = np.random.default_rng(seed)
    n_words = -(-n // 64)
    for begin in range(0, draws, step):
        n_drawn = min(step, draws - begin)
        words = rng.integers(0, 1 << 64, size=(n_drawn, n_words), dtype=np.uint64)
        yield words.astype("<u8", copy=False).view(np.uint8)


def _flips_at_once(n: int) -> int:
    return max(1, limits().flipped_cells // max(n, 1))


def _share(sums: Floats, squares: Floats, n: Ints) -> Floats:
    """Return the share of the sum of squares that is the mean's, 0 to 1."""
    share = sums**2
    share /= n * squares
    return np.minimum(share, 1, out=share)


def _squared_t(share: Floats, n: Ints) -> Floats:
    """Return the square of Student's t from that share.

    t^2 = (n - 1) share / (1 - share); a single query is as extreme as it can be.
    """
    with np.errstate(divide="ignore"):
        squared: Floats = share / (1 - share)
    return squared * np.maximum(n - 1, 1)
