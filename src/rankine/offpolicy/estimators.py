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

if TYPE_CHECKING:
    from collections.abc import Callable

    from rankine.arrays import Floats
    from rankine.offpolicy.rounds import Rounds


@dataclass(frozen=True, slots=True)
class Found:
    """An estimate before anybody says how sure it is.

    Attributes:
        value: the estimate.
        parts: per round, what it moves the estimate by, around 0: their mean square
            over the number of rounds is the variance of the estimate.
        weights: the importance weights that were used.
    """

    value: float
    parts: Floats
    weights: Floats


def _mean(values: Floats, weights: Floats) -> Found:
    value = math.fsum(values.tolist()) / len(values) if len(values) else math.nan
    return Found(value, values - value, weights)


def _ratio(up: Floats, down: Floats, weights: Floats) -> Found:
    """Divide two sums; the variance by the delta method."""
    total = math.fsum(down.tolist())
    if total <= 0:
        return Found(math.nan, np.full(len(up), np.nan), weights)
    value = math.fsum(up.tolist()) / total
    return Found(value, (up - value * down) * (len(up) / total), weights)


def matching(rounds: Rounds, _: Floats, **__: float) -> Found:
    """Mean reward of the rounds in which both policies show the same."""
    same = rounds.matched.astype(np.float64)
    return _ratio(same * rounds.reward, same, same)


def ips(rounds: Rounds, w: Floats, **_: float) -> Found:
    """1/n sum w r."""
    return _mean(w * rounds.reward, w)


def snips(rounds: Rounds, w: Floats, **_: float) -> Found:
    """Sum w r / sum w."""
    return _ratio(w * rounds.reward, w, w)


def dm(rounds: Rounds, w: Floats, **_: float) -> Found:
    """1/n sum q."""
    return _mean(rounds.direct, w)


def dr(rounds: Rounds, w: Floats, **_: float) -> Found:
    """1/n sum [q + w (r - r')]."""
    return _mean(rounds.direct + w * (rounds.reward - rounds.predicted), w)


def sndr(rounds: Rounds, w: Floats, **_: float) -> Found:
    """1/n sum q + sum w (r - r') / sum w."""
    direct = _mean(rounds.direct, w)
    rest = _ratio(w * (rounds.reward - rounds.predicted), w, w)
    return Found(direct.value + rest.value, direct.parts + rest.parts, w)


def switch_dr(rounds: Rounds, w: Floats, *, threshold: float, **_: float) -> Found:
    """As dr, with weights above a threshold set to 0."""
    return dr(rounds, np.where(w > threshold, 0.0, w))


def dros(rounds: Rounds, w: Floats, *, shrinkage: float, **_: float) -> Found:
    """As dr, with weights s w / (w^2 + s)."""
    return dr(rounds, shrinkage * w / (w * w + shrinkage))


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
