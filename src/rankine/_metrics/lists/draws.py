"""Samples of users, drawn as Jurity draws them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from rankine._base.checks import check_count

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rankine._base.arrays import Floats, Ints


def check_draws(sample: object, runs: object, seed: object, *, least: int) -> None:
    """Refuse parameters with which samples cannot be drawn."""
    if sample is not None:
        check_count("sample", sample, least=least)
    check_count("runs", runs, least=1)
    check_count("seed", seed, least=0)


def draws(n_users: int, sample: int, runs: int, seed: int) -> Iterator[Ints]:
    """Go through samples of users, by their numbers.

    Each sample has its own seed, which is drawn first.
    """
    for draw in np.random.default_rng(seed).integers(0, runs * 10, runs):
        rng = np.random.default_rng(draw)
        yield np.sort(rng.choice(n_users, sample, replace=False))


def times_drawn(
    n_users: int, sample: int | None, runs: int, seed: int
) -> Floats | None:
    """Return how often each user is drawn; None if all of them count once."""
    if sample is None or sample >= n_users:
        return None
    times = np.zeros(n_users)
    for users in draws(n_users, sample, runs, seed):
        times[users] += 1
    return times
