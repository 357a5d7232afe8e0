"""How often a gate is wrong about a run."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from rankine._base.text import count
from rankine._evaluate.baseline import Baseline, Query
from rankine._evaluate.gate import NOT_WORSE, WORSE, verdicts_of
from simulations.rows import Row, Simulation, share

if TYPE_CHECKING:
    from rankine._base.arrays import Floats

RATE = 0.025
CASES = ((20, 1, 0.05), (50, 1, 0.05), (200, 1, 0.01), (50, 3, 0.05))
"""Queries, metrics and the margin."""


def baseline(values: Floats) -> Baseline:
    """Return a baseline of values alone, a row per metric."""
    queries = {f"{n}": Query("", (), tuple(own)) for n, own in enumerate(values.T)}
    first = {query: own.values for query, own in queries.items()}
    return Baseline(
        "", {f"{n}": {} for n in range(len(values))}, {}, {}, queries, first, ""
    )


def verdicts(
    shift: float, margin: float, n: int, n_metrics: int, rounds: int
) -> list[list[str]]:
    """Return the verdicts of each round on runs that truly fell, or rose, by this.

    Half of the queries do not move but for the shift, the others do with a long tail.
    """
    rng, said = np.random.default_rng([n, n_metrics]), []
    margins = {f"{metric}": margin for metric in range(n_metrics)}
    for _ in range(rounds):
        old = rng.random((n_metrics, n))
        moves = rng.laplace(0, 0.1, (n_metrics, n)) * rng.integers(0, 2, (n_metrics, n))
        new = baseline(old + shift + moves)
        found = verdicts_of(baseline(old), new, margins, [True] * n_metrics)
        said.append([own.verdict for own in found])
    return said


def errors(scale: float) -> list[Row]:
    """Return how often a gate passes what fell, and fails what did not."""
    rows, rounds = [], int(10_000 * scale)
    for n, n_metrics, margin in CASES:
        of = f"n = {n}, {count(n_metrics, 'metric')}"
        for shift, wrong, words in (
            (0.0, WORSE, "though it did not fall"),
            (-margin, NOT_WORSE, "though it fell by the margin"),
        ):
            said = verdicts(shift, margin, n, n_metrics, rounds)
            n_wrong = sum(wrong in own for own in said)
            rows.append(
                share(f"gate: {wrong}, {words}, {of}", n_wrong, rounds, most=RATE)
            )
    return rows


SIMULATIONS: tuple[Simulation, ...] = (errors,)
