"""Estimators of what a policy earns, each with the contribution of every round.

w is the importance weight: the probability that the new policy shows what was shown,
over the propensity with which it was shown; r the reward, r' its prediction, q the
predicted reward of what the new policy shows.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from rankine._stats.exact import added, exact_sum, to_float

if TYPE_CHECKING:
    from collections.abc import Callable

    from rankine._base.arrays import Floats, Ints
    from rankine._join.rounds import Rounds


@dataclass(frozen=True, slots=True)
class Found:
    """An estimate before anybody says how sure it is.

    Attributes:
        value: the estimate.
        parts: what each round that matches moves the estimate by, around 0: the mean
            square over all rounds, over their number, is the variance of the estimate.
        others: the same for the other rounds, each different one once.
        count: how many rounds there are of each of these.
        weights: the importance weights that were used.
    """

    value: float
    parts: Floats
    others: Floats
    count: Ints
    weights: Floats


def _mean(
    rounds: Rounds, values: Floats, weights: Floats, others: Floats | None = None
) -> Found:
    """Take the mean of a number per round; other rounds have 0 unless it is given."""
    n, count = rounds.n, rounds.count
    total = exact_sum(values)
    if others is None:
        others, count = np.zeros(1), count.sum(keepdims=True)
    else:
        total = added(total, exact_sum(others, count))
    value = to_float(total / n) if n else math.nan
    return Found(value, values - value, others - value, count, weights)


def _ratio(rounds: Rounds, up: Floats, down: Floats) -> Found:
    """Divide two sums over the rounds that match; the variance by the delta method."""
    total = exact_sum(down)
    nothing, count = np.zeros(1), rounds.count.sum(keepdims=True)
    if total <= 0:
        return Found(math.nan, np.full(len(up), np.nan), nothing, count, down)
    value = to_float(exact_sum(up) / total)
    moved = (up - value * down) * to_float(rounds.n / total)
    return Found(value, moved, nothing, count, down)


def matching(rounds: Rounds, w: Floats, **_: float) -> Found:
    """Mean reward of the rounds in which both policies show the same."""
    return _ratio(rounds, rounds.reward, np.ones(len(w)))


def ips(rounds: Rounds, w: Floats, **_: float) -> Found:
    """1/n sum w r."""
    return _mean(rounds, w * rounds.reward, w)


def snips(rounds: Rounds, w: Floats, **_: float) -> Found:
    """Sum w r / sum w."""
    return _ratio(rounds, w * rounds.reward, w)


def dm(rounds: Rounds, w: Floats, **_: float) -> Found:
    """1/n sum q."""
    return _mean(rounds, rounds.direct, w, rounds.other)


def dr(rounds: Rounds, w: Floats, **_: float) -> Found:
    """1/n sum [q + w (r - r')]."""
    values = rounds.direct + w * (rounds.reward - rounds.predicted)
    return _mean(rounds, values, w, rounds.other)


def sndr(rounds: Rounds, w: Floats, **_: float) -> Found:
    """1/n sum q + sum w (r - r') / sum w."""
    direct = dm(rounds, w)
    rest = _ratio(rounds, w * (rounds.reward - rounds.predicted), w)
    value = direct.value + rest.value
    moved = direct.parts + rest.parts
    return Found(value, moved, direct.others, direct.count, w)


def switch_dr(rounds: Rounds, w: Floats, *, threshold: float, **_: float) -> Found:
    """As dr, with weights above a threshold set to 0."""
    return dr(rounds, np.where(w > threshold, 0.0, w))


def dros(rounds: Rounds, w: Floats, *, shrinkage: float, **_: float) -> Found:
    """As dr, with weights s w / (w^2 + s)."""
    # Divided by w, so that no square of it is needed.
    part = np.divide(shrinkage, w, out=np.full(len(w), np.inf), where=w > 0)
    return dr(rounds, shrinkage / (w + part))


ESTIMATORS: dict[str, Callable[..., Found]] = {
    "matching": matching,
    "ips": ips,
    "snips": snips,
    "dm": dm,
    "dr": dr,
    "sndr": sndr,
    "switch-dr": switch_dr,
    "dros": dros,
}
NEED_PREDICTED = frozenset({"dm", "dr", "sndr", "switch-dr", "dros"})
NEED_PROPENSITY = frozenset(ESTIMATORS) - {"matching", "dm"}
RATIOS = frozenset({"matching", "snips", "sndr"})
"""Estimators that divide by what is matched."""
