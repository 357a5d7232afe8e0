"""Resamples of queries, drawn with replacement: how often each of them is drawn."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from rankine._base.limits import limits

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rankine._base.arrays import Bools, Floats


def resamples(n: int, draws: int, seed: int) -> Iterator[tuple[slice, Floats]]:
    """Draw n of n queries so many times, some resamples at once.

    Yields:
        Which resamples these are, and a line of counts for each: a mean over a
        resample is a product of its counts and the values.
    """
    rng = np.random.default_rng(seed)
    step = max(1, limits().drawn_cells // n)
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
        seed: of the draws; rows that pair the same queries share them.

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
        x, w = centred[numbers][:, columns].T, share[numbers][:, columns].T
        plain = bool((w == 1).all())
        products = (x, x**2) if plain else (x, x**2, w, x * w, w**2)
        sums = [np.empty((draws, len(numbers))) for _ in products]
        for part, counts in resamples(n, draws, seed):
            for into, values in zip(sums, products, strict=True):
                into[part] = counts @ values
        t = _plain_t(n, *sums) if plain else _weighted_t(n, *sums)
        yield from zip(numbers, t.T, strict=True)


def _plain_t(n: int, x: Floats, squares: Floats) -> Floats:
    mean = x / n
    return _over(mean, (squares - n * mean**2) / (n * (n - 1)))


def _weighted_t(
    n: int, x: Floats, squares: Floats, w: Floats, mixed: Floats, w_squares: Floats
) -> Floats:
    """Studentise sum x / sum w, whose variance is that of (x - mean w) / mean of w."""
    mean = x / w
    spread = squares - 2 * mean * mixed + mean**2 * w_squares
    return _over(mean, spread / (w / n) ** 2 / (n * (n - 1)))


def _over(mean: Floats, variance: Floats) -> Floats:
    """Return t; a resample of one value alone has 0, or is as far away as can be."""
    with np.errstate(divide="ignore", invalid="ignore"):
        t = mean / np.sqrt(np.maximum(variance, 0))
    return np.where(mean == 0, 0.0, t)
