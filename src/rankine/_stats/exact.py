"""Sums without any rounding, so that neither order nor batches can change them."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from rankine._base.blocks import by_blocks

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rankine._base.arrays import Floats, Ints

Exact: TypeAlias = Fraction | float
"""A sum: a fraction, or inf or nan."""

_LARGEST = 1022
"""The exponent beyond which a neighbouring number may not fit a float."""


def exact_sum(values: Floats, counts: Ints | None = None) -> Exact:
    """Add up numbers exactly, each as often as is said.

    >>> exact_sum(np.array([1e100, 1.0, -1e100]))
    Fraction(1, 1)
    >>> exact_sum(np.array([0.5, 2.0]), np.array([3, 1]))
    Fraction(7, 2)
    """
    sums = by_blocks(
        lambda rows: _block(values[rows], None if counts is None else counts[rows]),
        len(values),
    )
    return added(*sums)


def added(*sums: Exact) -> Exact:
    """Add up sums; inf and nan are stronger than any number.

    >>> added(Fraction(10) ** 400, math.inf)
    inf
    """
    odd = [total for total in sums if not isinstance(total, Fraction)]
    if odd:
        return sum(odd)
    return sum((total for total in sums if isinstance(total, Fraction)), Fraction(0))


def _block(part: Floats, counts: Ints | None) -> Exact:
    if not np.isfinite(part).all():
        if counts is not None:  # nothing times inf is nothing
            part, counts = part[counts > 0], counts[counts > 0]
        odd = part[~np.isfinite(part)]
        if len(odd):
            with np.errstate(invalid="ignore"):
                return float(odd.sum())
    return sum(_layers(part, counts), Fraction(0))


def _layers(part: Floats, counts: Ints | None) -> Iterator[Fraction]:
    """Split numbers into layers of bits, of which each adds up without rounding.

    What is left of v in (s + v) - s is a multiple of the last bit of s; with s larger
    than all of them together, so is every sum of them (Rump, Ogita and Oishi: Accurate
    floating-point summation. SIAM Journal on Scientific Computing 2008).
    """
    often = None if counts is None else counts.astype(np.float64)
    n = len(part) if often is None else int(often.sum())
    left, bits = part, n.bit_length() + 1
    while True:
        most = max(float(left.max(initial=0)), -float(left.min(initial=0)))
        if most == 0:
            return
        exponent = math.frexp(most)[1] + bits
        if exponent > _LARGEST:
            each = [1] * len(left) if counts is None else counts.tolist()
            pairs = zip(left.tolist(), each, strict=True)
            yield sum((Fraction(value) * times for value, times in pairs), Fraction(0))
            return
        large = math.ldexp(1.0, exponent)
        high = (left + large) - large
        yield Fraction(float(high.sum() if often is None else (high * often).sum()))
        left = left - high


def to_float(number: Exact) -> float:
    """Return the float next to a number; inf beyond the largest.

    >>> to_float(Fraction(1, 3)), to_float(Fraction(10) ** 400)
    (0.3333333333333333, inf)
    """
    try:
        return float(number)
    except OverflowError:
        return math.inf if number > 0 else -math.inf


def root(number: Exact) -> float:
    """Return the square root of a number that is not below 0.

    >>> root(Fraction(9, 4)), root(Fraction(10) ** 400)
    (1.5, 1e+200)
    """
    if not isinstance(number, Fraction):
        return math.sqrt(number)
    half = (number.numerator.bit_length() - number.denominator.bit_length()) // 2
    try:
        return math.ldexp(math.sqrt(float(number / Fraction(4) ** half)), half)
    except OverflowError:
        return math.inf


def weighted_sum(values: Floats, weights: Floats) -> float:
    """Add up values times their weights, rounded once.

    >>> weighted_sum(np.array([0.1, 0.7]), np.array([3.0, 1.0]))
    1.0
    """
    with np.errstate(over="ignore", invalid="ignore"):
        product = values * weights
        error = product_error(values, weights, product)
    if np.isfinite(error).all():
        return math.fsum([*product.tolist(), *error.tolist()])
    return float(product.sum())  # of numbers near the largest, or beyond it


def product_error(x: Floats, y: Floats, product: Floats) -> Floats:
    """Return what rounding took from products: x y - product, exactly (Dekker 1971)."""
    x_high, x_low = _halves(x)
    y_high, y_low = _halves(y)
    error: Floats = x_high * y_high - product
    error += x_high * y_low
    error += x_low * y_high
    error += x_low * y_low
    return error


def _halves(values: Floats) -> tuple[Floats, Floats]:
    """Split numbers of 53 bits into two of 26."""
    scaled = values * 134217729.0  # 2^27 + 1
    high: Floats = scaled - (scaled - values)
    return high, values - high
