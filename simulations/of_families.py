"""All pairs of several systems: how often any is found where none differ."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from rankine._stats.pairwise import Settings, compare_values
from rankine._stats.tukey import TwoWay
from simulations.rows import Row, Simulation, chunks, share

if TYPE_CHECKING:
    from rankine._base.arrays import Floats

LEVEL = 0.05
N = 50
EQUAL = np.ones(6)
UNEQUAL = np.array([1.0, 1.0, 4.0, 0.2])
"""A system that goes its own way, and one that hardly moves."""
DUPLICATES = np.array([0.05] * 6 + [1.0, 1.0])
"""Six systems that are nearly the same, beside two that go their own way."""


def systems(rng: np.random.Generator, rounds: int, deviations: Floats) -> Floats:
    """Draw values by round, system and query; a query is as hard for all systems."""
    query = rng.normal(0, 1, (rounds, 1, N))
    own = rng.normal(0, 1, (rounds, len(deviations), N))
    drawn: Floats = query + own * deviations[:, None]
    return drawn


def found(values: Floats, correction: str, seed: int) -> tuple[int, int]:
    """Return in how many rounds a pair is found, and how many pairs are."""
    settings = Settings("randomization", correction, draws=999, seed=seed)
    p = compare_values(values, settings).p_corrected.reshape(len(values), -1)
    return int((p <= LEVEL).any(axis=1).sum()), int(np.count_nonzero(p <= LEVEL))


def corrections(scale: float) -> list[Row]:
    """Return how often Holm's correction and MaxT find any pair."""
    rows = []
    for name, deviations in (
        ("equal variances", EQUAL),
        ("unequal variances", UNEQUAL),
        ("near-duplicates", DUPLICATES),
    ):
        rng, rounds = np.random.default_rng(7), int(20_000 * scale)
        errors = dict.fromkeys(("holm", "maxt"), 0)
        for number, size in chunks(rounds):
            values = systems(rng, size, deviations)
            for correction in errors:
                errors[correction] += found(values, correction, number)[0]
        rows += [
            share(f"{correction}: any pair, {name}", n, rounds, most=LEVEL)
            for correction, n in errors.items()
        ]
    return rows


def power(scale: float) -> list[Row]:
    """Return how many pairs more MaxT finds than Holm, where some differ."""
    rng, gained = np.random.default_rng(8), []
    shift = np.array([0, 0, 0.3, 0.3, 0.5, 0.5])[:, None]
    for number, size in chunks(int(5000 * scale), 10):
        values = systems(rng, size, EQUAL) + shift
        more, fewer = (found(values, own, number)[1] for own in ("maxt", "holm"))
        gained.append((more - fewer) / size)
    error = float(np.std(gained, ddof=1)) / math.sqrt(len(gained))
    what = "maxt: pairs found beyond holm's, of 12 that differ"
    return [Row(what, int(5000 * scale), float(np.mean(gained)), error, least=0)]


def tukey(scale: float) -> list[Row]:
    """Return how often Tukey's test finds any pair, and misses any difference."""
    rows = []
    for name, deviations, bounds in (
        ("equal variances", EQUAL, {"most": LEVEL}),
        ("near-duplicates, where it fails", DUPLICATES, {"least": 0.1}),
        ("4 near-duplicates and 2 others", DUPLICATES[2:], {"least": LEVEL}),
        ("8 near-duplicates and 2 others", [0.05] * 8 + [1.0, 1.0], {"least": LEVEL}),
    ):
        rng, rounds = np.random.default_rng(9), int(20_000 * scale)
        models = [TwoWay(own) for own in systems(rng, rounds, np.array(deviations))]
        # The quantile takes long to compute, and is the same for all of them.
        (first, *_) = models
        quantile = first.reach(1 - LEVEL) / math.sqrt(first.residual)
        n = sum(
            float(np.ptp(model.means)) >= quantile * math.sqrt(model.residual)
            for model in models
        )
        rows.append(share(f"tukey_hsd: any pair, {name}", n, rounds, **bounds))
    return rows


def randomized_tukey(scale: float) -> list[Row]:
    """Return how often the randomised test of Tukey finds any pair."""
    rows = []
    for name, deviations, bounds in (
        ("equal variances", EQUAL, {"most": LEVEL}),
        ("near-duplicates, where it fails", DUPLICATES, {"least": 0.1}),
    ):
        rng, rounds = np.random.default_rng(10), int(2000 * scale)
        n = sum(
            bool(TwoWay(own).permuted_p(199, number).min() <= LEVEL)
            for number, own in enumerate(systems(rng, rounds, deviations))
        )
        what = f"randomized_tukey_hsd: any pair, {name}"
        rows.append(share(what, n, rounds, **bounds))
    return rows


SIMULATIONS: tuple[Simulation, ...] = (corrections, power, tukey, randomized_tukey)
