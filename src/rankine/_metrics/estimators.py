"""Estimators of what a policy earns, each with the contribution of every round.

w is the importance weight: the probability that the new policy shows what was shown,
over the propensity with which it was shown; r the reward, r' its prediction, q the
predicted reward of what the new policy shows.
"""

from __future__ import annotations

import inspect
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from rankine._base.records import cached_property
from rankine._stats.exact import added, exact_sum, to_float

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from rankine._base.arrays import Floats, Ints
    from rankine._join.rounds import Rounds


@dataclass(frozen=True, slots=True)
class Found:
    """An estimate before its uncertainty is known.

    Attributes:
        value: the estimate.
        parts: by how much each matching round moves the estimate, around 0: the mean
            square over all rounds, divided by their number, is the variance of the
            estimate.
        others: the same for the other rounds, each different one once.
        count: how many rounds there are of each of these.
        weights: the importance weights that were used.
    """

    value: float
    parts: Floats
    others: Floats
    count: Ints
    weights: Floats


@dataclass(frozen=True)
class Estimator:
    """What is declared about an estimator, once, for all code that needs to know.

    Attributes:
        name: the name under which it is asked for.
        function: the function from rounds and their weights to the estimate.
        weighs: whether it weighs rounds by their propensities.
        models: whether it starts from predicted rewards.
        is_ratio: whether it divides by the matching rounds.
        is_even: whether it is unbiased only if the items shown were drawn uniformly.
        needs_match: whether there is no estimate if no round matches.
        bounds: the smallest and the largest value, if rewards and their predictions are
            from 0 to 1.
    """

    name: str
    function: Callable[..., Found]
    weighs: bool = False
    models: bool = False
    is_ratio: bool = False
    is_even: bool = False
    needs_match: bool = True
    bounds: tuple[float, float] = (-math.inf, math.inf)

    @cached_property
    def options(self) -> frozenset[str]:
        """The options that the function itself takes."""
        return frozenset(
            parameter.name
            for parameter in inspect.signature(self.function).parameters.values()
            if parameter.kind is inspect.Parameter.KEYWORD_ONLY
        )

    def reads(self, option: str) -> bool:
        """Say whether an option of `ctr` has an effect on the estimator.

        >>> ESTIMATORS["dros"].reads("shrinkage"), ESTIMATORS["dm"].reads("clip")
        (True, False)
        """
        return option in self.options or (self.weighs and option in _OF_WEIGHTS)

    def found(self, rounds: Rounds, w: Floats, options: Mapping[str, Any]) -> Found:
        """Compute the estimate, with the options that it reads."""
        taken = {key: options[key] for key in options if key in self.options}
        return self.function(rounds, w, **taken)


ESTIMATORS: dict[str, Estimator] = {}
_OF_WEIGHTS = frozenset({"clip", "missing_propensity"})
"""Options that decide the weights."""


def _register(name: str, function: Callable[..., Found], **facts: Any) -> None:
    ESTIMATORS[name] = Estimator(name, function, **facts)


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


def matching(rounds: Rounds, w: Floats) -> Found:
    """Mean reward of the rounds in which both policies show the same item."""
    return _ratio(rounds, rounds.reward, np.ones(len(w)))


def ips(rounds: Rounds, w: Floats) -> Found:
    """1/n sum w r."""
    return _mean(rounds, w * rounds.reward, w)


def snips(rounds: Rounds, w: Floats) -> Found:
    """Sum w r / sum w."""
    return _ratio(rounds, w * rounds.reward, w)


def dm(rounds: Rounds, w: Floats) -> Found:
    """1/n sum q."""
    return _mean(rounds, rounds.direct, w, rounds.other)


def dr(rounds: Rounds, w: Floats) -> Found:
    """1/n sum [q + w (r - r')]."""
    values = rounds.direct + w * (rounds.reward - rounds.predicted)
    return _mean(rounds, values, w, rounds.other)


def sndr(rounds: Rounds, w: Floats) -> Found:
    """1/n sum q + sum w (r - r') / sum w."""
    direct = dm(rounds, w)
    rest = _ratio(rounds, w * (rounds.reward - rounds.predicted), w)
    value = direct.value + rest.value
    moved = direct.parts + rest.parts
    return Found(value, moved, direct.others, direct.count, w)


def switch_dr(rounds: Rounds, w: Floats, *, threshold: float) -> Found:
    """As dr, with weights above a threshold set to 0."""
    return dr(rounds, np.where(w > threshold, 0.0, w))


def dros(rounds: Rounds, w: Floats, *, shrinkage: float) -> Found:
    """As dr, with weights s w / (w^2 + s)."""
    # Divided by w, so that no square of it is needed.
    part = np.divide(shrinkage, w, out=np.full(len(w), np.inf), where=w > 0)
    return dr(rounds, shrinkage / (w + part))


_register("matching", matching, is_ratio=True, is_even=True, bounds=(0, 1))
_register("ips", ips, weighs=True, bounds=(0, math.inf))
_register("snips", snips, weighs=True, is_ratio=True, bounds=(0, 1))
_register("dm", dm, models=True, needs_match=False, bounds=(0, 1))
_register("dr", dr, weighs=True, models=True)
_register("sndr", sndr, weighs=True, models=True, is_ratio=True, bounds=(-1, 2))
_register("switch-dr", switch_dr, weighs=True, models=True)
_register("dros", dros, weighs=True, models=True)
