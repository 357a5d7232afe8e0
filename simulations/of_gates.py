"""How often a gate is wrong about a run."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from rankine._base.text import count
from rankine._evaluate.gate.baseline import Baseline, BaselineQuery
from rankine._evaluate.gate.gate import NOT_WORSE, WORSE, verdicts_of
from simulations.rows import Row, Simulation, share

if TYPE_CHECKING:
    from rankine._base.arrays import Floats

RATE = 0.025
CASES = ((20, 1, 0.05), (50, 1, 0.05), (200, 1, 0.01), (50, 3, 0.05))
"""Queries, metrics and the margin."""
FEW = ((6, 1), (9, 1), (12, 1), (9, 3))
"""Queries that move, of 50, and metrics."""
SKEWED = ("rare large gains", 1), ("rare large losses", -1)
"""Moves with a mean of 0 whose gains and losses differ in size."""


def baseline(values: Floats) -> Baseline:
    """Return a baseline of values alone, a row per metric."""
    queries = {
        f"{n}": BaselineQuery("", (), tuple(own)) for n, own in enumerate(values.T)
    }
    first = {query: own.values for query, own in queries.items()}
    return Baseline(
        "", {f"{n}": {} for n in range(len(values))}, {}, {}, queries, first, ""
    )


def said(moves: Floats, margin: float, shift: float, number: int) -> list[str]:
    """Return the verdicts of one round, with flips of its own."""
    old = np.full(moves.shape, 0.5)
    margins = {f"{metric}": margin for metric in range(len(moves))}
    new = baseline(old + shift + moves)
    found = verdicts_of(baseline(old), new, margins, [True] * len(moves), seed=number)
    return [own.verdict for own in found]


def verdicts(
    shift: float, margin: float, n: int, n_metrics: int, rounds: int
) -> list[list[str]]:
    """Return the verdicts of each round on runs that truly fell, or rose, by this.

    Half of the queries do not move but for the shift, the others do with a long tail.
    """
    rng, shape = np.random.default_rng([n, n_metrics]), (n_metrics, n)
    return [
        said(rng.laplace(0, 0.1, shape) * rng.integers(0, 2, shape), margin, shift, own)
        for own in range(rounds)
    ]


def errors(scale: float) -> list[Row]:
    """Return how often a gate passes what fell, and fails what did not."""
    rows, rounds = [], int(10_000 * scale)
    for n, n_metrics, margin in CASES:
        of = f"n = {n}, {count(n_metrics, 'metric')}"
        for shift, wrong, words in (
            (0.0, WORSE, "though it did not fall"),
            (-margin, NOT_WORSE, "though it fell by the margin"),
        ):
            found = verdicts(shift, margin, n, n_metrics, rounds)
            n_wrong = sum(wrong in own for own in found)
            rows.append(
                share(f"gate: {wrong}, {words}, {of}", n_wrong, rounds, most=RATE)
            )
    return rows


def few(scale: float) -> list[Row]:
    """Return how often a gate fails what did not fall, if only a few queries moved."""
    rows, rounds, n = [], int(10_000 * scale), 50
    for moved, n_metrics in FEW:
        rng = np.random.default_rng([moved, n_metrics, 1])
        n_wrong = 0
        for number in range(rounds):
            moves = np.zeros((n_metrics, n))
            moves[:, :moved] = rng.laplace(0, 0.3, (n_metrics, moved))
            n_wrong += WORSE in said(moves, 0.001, 0, number)
        of = f"{moved} of {n} moved, {count(n_metrics, 'metric')}"
        what = f"gate: {WORSE}, though it did not fall, {of}"
        rows.append(share(what, n_wrong, rounds, most=RATE))
    return rows


def skewed(scale: float) -> list[Row]:
    """Return the same where the bound is not promised: gains are not like losses."""
    rows, rounds, n = [], int(10_000 * scale), 50
    for words, sign in SKEWED:
        rng = np.random.default_rng([n, sign + 1])
        n_wrong = 0
        for number in range(rounds):
            moves = sign * (rng.exponential(0.1, (1, n)) - 0.1)
            n_wrong += WORSE in said(moves, 0.001, 0, number)
        what = f"gate: {WORSE}, though it did not fall, {words}, n = {n}"
        rows.append(share(what, n_wrong, rounds))
    return rows


SIMULATIONS: tuple[Simulation, ...] = (errors, few, skewed)
