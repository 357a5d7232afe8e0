"""Intervals of differences, equivalence, and the power of as many queries as needed."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from rankine._stats.pairwise import Settings, compare_values
from rankine._stats.power import needed_for_difference, needed_for_equivalence
from rankine._stats.tukey import TwoWay
from simulations.of_families import EQUAL, systems
from simulations.of_tests import normal, skewed
from simulations.rows import Row, Simulation, chunks, share

if TYPE_CHECKING:
    from rankine._base.arrays import Bools
    from rankine._stats.pairwise import Pairwise
    from simulations.of_tests import Draw

CONFIDENCE = 0.95
LEVEL = 0.05
MARGIN = 0.5
POWER = 0.8

# Test whose interval it is, how differences are drawn, their number, rounds, and
# whether the bound is held: beyond normal differences, both are right in the limit.
CASES: tuple[tuple[str, Draw, int, int, bool], ...] = (
    ("t", normal, 5, 100_000, True),
    ("t", normal, 50, 100_000, True),
    ("t", skewed, 50, 100_000, False),
    ("t", skewed, 200, 100_000, False),
    ("bootstrap", normal, 10, 20_000, False),
    ("bootstrap", normal, 50, 20_000, False),
    ("bootstrap", normal, 200, 20_000, True),
    ("bootstrap", skewed, 50, 20_000, False),
    ("bootstrap", skewed, 200, 20_000, False),
)


def _coverage(case: tuple[str, Draw, int, int, bool]) -> Simulation:
    """Return how to count in how many rounds an interval has the true difference."""
    test, draw, n, all_rounds, bounded = case

    def simulate(scale: float) -> list[Row]:
        rng, rounds = np.random.default_rng([n, 11]), int(all_rounds * scale)
        covered = 0
        for number, size in chunks(rounds):
            d = draw(rng, (size, n))
            values = np.stack([np.zeros_like(d), d], axis=1)
            settings = Settings(test, correction="none", draws=999, seed=number)
            pairs = compare_values(values, settings)
            covered += int(((pairs.low <= 0) & (pairs.high >= 0)).sum())
        what = f"{test}: 95 % interval covers, {draw.__name__} differences, n = {n}"
        return [
            share(what, covered, rounds, least=CONFIDENCE if bounded else -math.inf)
        ]

    return simulate


def simultaneous(scale: float) -> list[Row]:
    """Return in how many rounds all of Tukey's intervals have the true difference."""
    rng, rounds = np.random.default_rng(12), int(20_000 * scale)
    truth = np.array([0, 0.1, 0.2, 0.3, 0.4, 0.5])
    models = [TwoWay(own + truth[:, None]) for own in systems(rng, rounds, EQUAL)]
    quantile = models[0].reach(CONFIDENCE) / math.sqrt(models[0].residual)
    apart = truth[None, :] - truth[:, None]
    covered = sum(
        float(np.abs(model.differences - apart).max())
        <= quantile * math.sqrt(model.residual)
        for model in models
    )
    what = "tukey_hsd: all 95 % intervals cover, equal variances, n = 50"
    return [share(what, covered, rounds, least=CONFIDENCE)]


def _found(
    difference: float, n: int, rounds: int, found: Callable[[Pairwise], Bools]
) -> int:
    """Count the rounds in which something is found of a true difference."""
    rng, total = np.random.default_rng([n, 13]), 0
    for _, size in chunks(rounds, 500):
        d = rng.normal(difference, 1, (size, n))
        values = np.stack([np.zeros_like(d), d], axis=1)
        settings = Settings("t", correction="none")
        margins = np.full(size, MARGIN)
        total += int(found(compare_values(values, settings, margins=margins)).sum())
    return total


def _equivalent(pairs: Pairwise) -> Bools:
    return pairs.p_equivalent <= LEVEL


def equivalence(scale: float) -> list[Row]:
    """Return how often systems are called equivalent, at the margin and inside."""
    rows, rounds = [], int(20_000 * scale)
    for n in (20, 50, 100):
        called = _found(MARGIN, n, rounds, _equivalent)
        what = f"equivalent, though apart by the margin, n = {n}"
        rows.append(share(what, called, rounds, most=LEVEL))
    n = needed_for_equivalence(1, MARGIN, POWER, LEVEL) or 0
    called = _found(0, n, rounds, _equivalent)
    what = f"equivalent, and the same, with the n = {n} needed for 80 %"
    return [*rows, share(what, called, rounds, least=POWER)]


def power(scale: float) -> list[Row]:
    """Return how often a difference is found with as many queries as it needs."""
    rounds = int(20_000 * scale)
    n = needed_for_difference(1, MARGIN, POWER, LEVEL) or 0
    called = _found(MARGIN, n, rounds, lambda pairs: pairs.p <= LEVEL)
    what = f"t: finds a difference with the n = {n} needed for 80 %"
    return [share(what, called, rounds, least=POWER)]


SIMULATIONS: tuple[Simulation, ...] = (
    *map(_coverage, CASES), simultaneous, equivalence, power,
)  # fmt: skip
