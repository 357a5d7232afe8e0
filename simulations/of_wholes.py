"""Numbers of whole runs: how often intervals of the jackknife hold, and tests err."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

import rankine as rk
from rankine._stats.jackknife import Whole
from rankine._stats.pairwise import Settings, compare_values
from rankine._tables.lists import Recommended
from rankine._tables.segments import starts_of
from simulations.rows import Row, Simulation, share

if TYPE_CHECKING:
    from rankine._base.arrays import Bools, Floats
    from rankine._stats.pairwise import Pairwise

METRICS = ("Coverage", "Gini", "Entropy")
ITEMS, USERS = 400, 80
ROUNDS = 30_000
CONFIDENCE, LEVEL = 0.95, 0.05


def _chances(skew: float) -> Floats:
    """Return how likely each item is shown to a user, four of them on average."""
    weights = 1 / np.arange(1, ITEMS + 1) ** skew
    chances: Floats = np.minimum(4 * weights / weights.sum(), 0.9)
    return chances


OLD, OTHER = _chances(1.2), _chances(0.5)
NEW = 0.7 * OLD + 0.3 * OTHER
"""New lists have 70 % of what the old ones do, and 30 % of another taste."""


def compared(metric: str, both: tuple[Bools, Bools]) -> Pairwise:
    """Compare what two systems show, a row per user and a column per item."""
    bound = rk.parse(metric)
    values, without = [], []
    for shown in both:
        length = shown.sum(axis=1)
        item = np.nonzero(shown)[1]
        table = Recommended(starts_of(length), item, length, ITEMS, catalog=ITEMS)
        values.append(float(bound.values(table)[0]))
        without.append(bound.without(table))
    whole = {0: Whole(np.array(values), np.array(without))}
    nothing = np.full((1, 2, 0), np.nan)
    return compare_values(nothing, Settings(correction="none"), wholes=whole)


def expected(metric: str, chances: Floats) -> float:
    """Return the mean of a number over 4000 runs, from how often items are shown."""
    counts = np.random.default_rng(99).binomial(USERS, chances, (4000, ITEMS))
    if metric == "Coverage":
        return float((1 - (1 - chances) ** USERS).mean())  # exact
    if metric == "Entropy":
        p = counts / counts.sum(axis=1, keepdims=True)
        logarithms = np.log2(p, where=p > 0, out=np.zeros(p.shape))
        return float(-(p * logarithms).sum(axis=1).mean())
    order = 2 * np.arange(1, ITEMS + 1) - ITEMS - 1
    total = (ITEMS - 1) * counts.sum(axis=1)
    return float(((np.sort(counts, axis=1) * order).sum(axis=1) / total).mean())


def _coverage(metric: str) -> Simulation:
    """Return how to count in how many rounds the interval has the true difference."""

    def simulate(scale: float) -> list[Row]:
        rng, rounds, covered = np.random.default_rng(31), int(ROUNDS * scale), 0
        truth = expected(metric, NEW) - expected(metric, OLD)
        for _ in range(rounds):
            old = rng.random((USERS, ITEMS)) < OLD
            other = rng.random((USERS, ITEMS)) < OTHER
            new = np.where(rng.random((USERS, ITEMS)) < 0.7, old, other)
            pairs = compared(metric, (old, new))
            covered += bool(pairs.low[0] <= truth <= pairs.high[0])
        what = f"jackknife: 95 % interval covers, {metric}, {USERS} users"
        return [share(what, covered, rounds, least=CONFIDENCE)]

    return simulate


def _false_alarms(metric: str) -> Simulation:
    """Return how to count how often systems of one taste are told apart."""

    def simulate(scale: float) -> list[Row]:
        rng, rounds, told = np.random.default_rng(32), int(ROUNDS * scale), 0
        for _ in range(rounds):
            old, new = rng.random((2, USERS, ITEMS)) < OLD
            told += bool(compared(metric, (old, new)).p[0] <= LEVEL)
        what = f"jackknife: p <= 0.05, {metric}, {USERS} users"
        return [share(what, told, rounds, most=LEVEL)]

    return simulate


SIMULATIONS: tuple[Simulation, ...] = tuple(
    simulation(metric)
    for simulation in (_coverage, _false_alarms)
    for metric in METRICS
)
