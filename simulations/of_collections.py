"""Means over collections: their intervals, and tests of their differences."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from rankine._stats.intervals import Sample, macro_interval
from rankine._stats.pairwise import Settings, compare_values
from simulations.of_tests import Draw, normal, skewed
from simulations.rows import Row, Simulation, chunks, share

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rankine._base.arrays import Floats

CONFIDENCE = 0.95
LEVEL = 0.05


class Case(NamedTuple):
    """Collections whose values have a mean of 0.

    Attributes:
        name: what they are like, in words.
        draw: how values are drawn.
        sizes: how many queries each collection has.
        spreads: the deviation of the values in each.
        bounded: whether bounds are held; others are right in the limit alone.
    """

    name: str
    draw: Draw
    sizes: tuple[int, ...]
    spreads: tuple[float, ...]
    bounded: bool


CASES = (
    Case("normal, n = 43, 54, 300", normal, (43, 54, 300), (1, 2, 0.5), True),
    Case("normal, 12 of n = 50", normal, (50,) * 12, (1, 2, 3) * 4, True),
    Case("normal, n = 5, 10, 50", normal, (5, 10, 50), (1, 1, 3), False),
    Case("normal, 12 of n = 5", normal, (5,) * 12, (1, 2, 3) * 4, False),
    Case("skewed, n = 43, 54, 300", skewed, (43, 54, 300), (1, 2, 0.5), False),
)


def _strata(case: Case) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    return np.repeat(np.arange(len(case.sizes)), case.sizes)


def _rounds(case: Case, rounds: int, seed: int) -> Iterator[tuple[int, Floats]]:
    """Go through rounds, some at once: the number of a chunk, and a row per round."""
    rng = np.random.default_rng([*case.sizes, seed])
    spread = np.repeat(case.spreads, case.sizes)
    for number, size in chunks(rounds):
        yield number, case.draw(rng, (size, sum(case.sizes))) * spread


def _of_one_system(case: Case, method: str, all_rounds: int) -> Simulation:
    """Return how to count how often the interval of a macro mean has the true one."""

    def simulate(scale: float) -> list[Row]:
        rounds, covered = int(all_rounds * scale), 0
        for number, values in _rounds(case, rounds, 21):
            for row in values:
                parts = np.split(row, np.cumsum(case.sizes)[:-1])
                low, high = macro_interval(
                    [Sample(part) for part in parts],
                    method=method,
                    n_resamples=500,
                    seed=number,
                )
                covered += low <= 0 <= high
        what = f"macro mean, {method}: 95 % interval covers, {case.name}"
        bounded = case.bounded and method == "t"
        least = CONFIDENCE if bounded else -math.inf
        return [share(what, covered, rounds, least=least)]

    return simulate


def _of_two_systems(case: Case, test: str, all_rounds: int) -> Simulation:
    """Return how to count how often a test finds a difference where there is none."""

    def simulate(scale: float) -> list[Row]:
        rounds, covered, found = int(all_rounds * scale), 0, 0
        for number, d in _rounds(case, rounds, 22):
            settings = Settings(test, correction="none", draws=999, seed=number)
            values = np.stack([np.zeros_like(d), d], axis=1)
            pairs = compare_values(values, settings, strata=_strata(case))
            found += int((pairs.p <= LEVEL).sum())
            covered += int(((pairs.low <= 0) & (pairs.high >= 0)).sum())
        what = f"macro difference, {test}: p <= 0.05, {case.name}"
        is_exact = test == "randomization" and case.draw is normal
        most = LEVEL if case.bounded or is_exact else math.inf
        rows = [share(what, found, rounds, most=most)]
        if test == "t":
            what = f"macro difference: 95 % interval covers, {case.name}"
            least = CONFIDENCE if case.bounded else -math.inf
            rows.append(share(what, covered, rounds, least=least))
        return rows

    return simulate


def simultaneous(scale: float) -> list[Row]:
    """Return how often all intervals of MaxT hold at once, of four systems."""
    case, rounds, covered = CASES[0], int(2_000 * scale), 0
    rng, spread = np.random.default_rng(23), np.repeat(case.spreads, case.sizes)
    settings = Settings(correction="maxt", intervals="simultaneous", draws=999)
    for _ in range(rounds):
        values = case.draw(rng, (4, sum(case.sizes))) * spread
        pairs = compare_values(values[None], settings, strata=_strata(case))
        covered += bool(((pairs.low_all <= 0) & (pairs.high_all >= 0)).all())
    what = f"macro difference, maxt: all 95 % intervals cover, {case.name}"
    return [share(what, covered, rounds, least=CONFIDENCE)]


SIMULATIONS: tuple[Simulation, ...] = (
    *(_of_one_system(case, "t", 20_000) for case in CASES),
    *(_of_one_system(case, "bootstrap", 4_000) for case in CASES),
    *(_of_two_systems(case, "t", 100_000) for case in CASES),
    *(_of_two_systems(case, "randomization", 10_000) for case in CASES),
    simultaneous,
)
