"""Resamples of queries, drawn with replacement: how often each of them is drawn."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from rankine._base.limits import limits
from rankine._stats.flips import NOTHING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rankine._base.arrays import Bools, Floats


_BITS = 52
"""Digits of a float, less one for what rounding adds."""
_LEAST = -1074
"""The exponent of the smallest float, of which all others are multiples."""


def resamples(
    n: int, draws: int, seed: int | Sequence[int], cells: int | None = None
) -> Iterator[tuple[slice, Floats]]:
    """Draw n of n queries so many times, some resamples at once.

    Args:
        n: how many queries there are.
        draws: how many resamples.
        seed: the seed of the draws; how many are made at once changes nothing.
        cells: counts that are made at once, if not as many as for a few columns.

    Yields:
        Which resamples these are, and a line of counts for each: a mean over a
        resample is a product of its counts and the values.
    """
    rng = np.random.default_rng(seed)
    step = max(1, (cells or limits().drawn_cells) // n)
    for begin in range(0, draws, step):
        part = slice(begin, min(begin + step, draws))
        n_drawn = part.stop - part.start
        drawn = rng.integers(0, n, size=(n_drawn, n))
        drawn += np.arange(n_drawn)[:, None] * n
        counts = np.bincount(drawn.ravel(), minlength=n_drawn * n).astype(np.float64)
        yield part, counts.reshape(n_drawn, n)


def resampled_t(
    centred: Floats, share: Floats, paired: Bools, draws: int, seed: int
) -> Iterator[tuple[int, Floats]]:
    """Draw queries again and studentise the means of what is centred.

    Args:
        centred: a row of differences per hypothesis, each with a mean of 0 and times
            the share of its query.
        share: what each query counts, with a mean of 1 over those that are paired.
        paired: which queries each row pairs; only these are drawn.
        draws: how many resamples.
        seed: the seed of the draws; rows that pair the same queries share them.

    Yields:
        The number of a row with at least two queries, and its t of every resample.
    """
    groups: dict[bytes, list[int]] = {}
    for number, row in enumerate(paired):
        groups.setdefault(row.tobytes(), []).append(number)
    for numbers in groups.values():
        columns = np.flatnonzero(paired[numbers[0]])
        n = len(columns)
        if n < 2:  # noqa: PLR2004 - one value has no spread
            continue
        x = centred[numbers][:, columns].T
        w = share[numbers[:1]][:, columns].T  # the same for all of the group
        plain = bool((w == 1).all())
        products = (x, x**2) if plain else (x, x**2, w, x * w, w**2)
        values = np.hstack([summable(product, n) for product in products])
        ends = np.cumsum([product.shape[1] for product in products])[:-1]
        t = np.empty((len(numbers), draws))
        for part, counts in resamples(n, draws, seed, limits().multiplied_cells):
            sums = np.split(counts @ values, ends, axis=1)
            t[:, part] = (_plain_t(n, *sums) if plain else _weighted_t(n, *sums)).T
        yield from zip(numbers, t, strict=True)


def summable(values: Floats, n: int) -> Floats:
    """Round columns so that no sum over a resample has to be rounded.

    All are multiples of a power of 2 of which no sum has more than a float can hold, so
    that neither threads nor libraries, which add up in other orders, change a bit. A
    column whose sums may be too large for a float becomes nan.
    """
    with np.errstate(over="ignore"):
        largest = n * np.abs(values).max(axis=0)
    _, exponent = np.frexp(largest)
    unit = np.ldexp(1.0, np.maximum(exponent - _BITS, _LEAST))
    unit[~np.isfinite(largest)] = np.nan
    rounded: Floats = np.round(values / unit) * unit
    return rounded


def _plain_t(n: int, x: Floats, squares: Floats) -> Floats:
    mean = x / n
    return _over(mean, squares - n * mean**2, squares, n * (n - 1))


def _weighted_t(
    n: int, x: Floats, squares: Floats, w: Floats, mixed: Floats, w_squares: Floats
) -> Floats:
    """Studentise sum x / sum w, whose variance is that of (x - mean w) / mean of w."""
    mean = x / w
    spread = squares - 2 * mean * mixed + mean**2 * w_squares
    return _over(mean, spread, squares, (w / n) ** 2 * (n * (n - 1)))


def _over(mean: Floats, spread: Floats, squares: Floats, divisor: Any) -> Floats:
    """Return t; a resample of one value alone has 0, or is as far away as can be."""
    spread[spread <= NOTHING * squares] = 0
    with np.errstate(divide="ignore", invalid="ignore"):
        t = mean / np.sqrt(spread / divisor)
    return np.where(mean == 0, 0.0, t)
