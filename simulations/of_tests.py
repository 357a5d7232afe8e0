"""Tests of two systems, each where what it takes for granted is so."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from rankine._stats.pairwise import Settings, compare_values
from simulations.rows import Row, Simulation, chunks, share

if TYPE_CHECKING:
    from rankine._base.arrays import Floats

Draw = Callable[[np.random.Generator, tuple[int, int]], "Floats"]
LEVELS = (0.01, 0.05, 0.1)
DRAWS = 999
_UNIFORM = 1.95
"""Kolmogorov and Smirnov's distance by the root of n, which 1 in 1,000 samples has."""


def normal(rng: np.random.Generator, shape: tuple[int, int]) -> Floats:
    return rng.normal(0, 1, shape)


def long_tailed(rng: np.random.Generator, shape: tuple[int, int]) -> Floats:
    return rng.laplace(0, 1, shape)


def tied(rng: np.random.Generator, shape: tuple[int, int]) -> Floats:
    """Draw differences of a few sizes, of which many are 0, as those of P@5 are."""
    return rng.choice([-0.4, -0.2, -0.2, 0, 0, 0, 0.2, 0.2, 0.4], shape)


def skewed(rng: np.random.Generator, shape: tuple[int, int]) -> Floats:
    """Draw differences with a mean of 0 and a long tail on one side."""
    return rng.exponential(1, shape) - 1


def middle_0(rng: np.random.Generator, shape: tuple[int, int]) -> Floats:
    """Draw differences with a median of 0 and a mean above it."""
    return rng.exponential(1, shape) - math.log(2)


# Test, how differences are drawn, their number, rounds, and whether bounds are held:
# the bootstrap is right in the limit of many queries, and is shown on the way there.
CASES: tuple[tuple[str, Draw, int, int, bool], ...] = (
    ("randomization", normal, 10, 20_000, True),
    ("randomization", long_tailed, 50, 20_000, True),
    ("randomization", tied, 30, 20_000, True),
    ("t", normal, 5, 100_000, True),
    ("t", normal, 50, 100_000, True),
    ("wilcoxon", long_tailed, 10, 20_000, True),
    ("wilcoxon", long_tailed, 25, 10_000, True),
    ("wilcoxon", long_tailed, 100, 100_000, True),
    ("wilcoxon", tied, 60, 100_000, True),
    ("sign", middle_0, 25, 100_000, True),
    ("sign", tied, 60, 100_000, True),
    ("bootstrap", normal, 10, 20_000, False),
    ("bootstrap", normal, 25, 20_000, False),
    ("bootstrap", normal, 50, 20_000, False),
    ("bootstrap", normal, 200, 20_000, True),
    ("bootstrap", skewed, 50, 20_000, False),
    ("bootstrap", skewed, 200, 20_000, False),
)


def p_values(test: str, draw: Draw, n: int, rounds: int, draws: int = DRAWS) -> Floats:
    """Return the p-value of each round, in which the second system is no better."""
    rng = np.random.default_rng([n, rounds])
    found = []
    exact = test in {"t", "wilcoxon", "sign"}
    for number, size in chunks(rounds, 1000 if exact else 50):
        d = draw(rng, (size, n))
        values = np.stack([np.zeros_like(d), d], axis=1)
        settings = Settings(test, correction="none", draws=draws, seed=number)
        found.append(compare_values(values, settings).p)
    return np.concatenate(found)


def _errors(case: tuple[str, Draw, int, int, bool]) -> Simulation:
    """Return how to count in how many rounds a test finds what is not there."""
    test, draw, n, rounds, bounded = case

    def simulate(scale: float) -> list[Row]:
        p = p_values(test, draw, n, int(rounds * scale))
        kind = draw.__name__.replace("_", " ")
        return [
            share(
                f"{test}: p <= {level}, {kind} differences, n = {n}",
                int(np.count_nonzero(p <= level)),
                len(p),
                most=level if bounded else math.inf,
            )
            for level in LEVELS
        ]

    return simulate


def uniform(scale: float) -> list[Row]:
    """Return how far p-values are from a uniform distribution."""
    rows = []
    for test, n, draws in (("t", 20, DRAWS), ("randomization", 14, 1 << 14)):
        p = np.sort(p_values(test, normal, n, int(5000 * scale), draws))
        steps = np.arange(len(p) + 1) / len(p)
        distance = float(max((steps[1:] - p).max(), (p - steps[:-1]).max()))
        what = f"{test}: distance of p from uniform, normal differences, n = {n}"
        rows.append(Row(what, len(p), distance, 0, most=_UNIFORM / math.sqrt(len(p))))
    return rows


SIMULATIONS: tuple[Simulation, ...] = (*map(_errors, CASES), uniform)
