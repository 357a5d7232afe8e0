"""Estimate: the reward that a policy would have earned, and how reliable that is."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from rankine._base.text import percent
from rankine._conventions.presets import LOGS
from rankine._evaluate.summary import finite
from rankine._metrics.estimators import ESTIMATORS
from rankine._stats.exact import added, exact_sum, to_float
from rankine._stats.intervals import Interval, Sample, intervals

if TYPE_CHECKING:
    from rankine._base.arrays import Floats
    from rankine._evaluate.logs.question import Question
    from rankine._join.rounds import Rounds
    from rankine._metrics.estimators import Estimator, Found

_FEW = 10
"""The effective sample size below which an estimate is a guess."""
_LARGE = 0.05
"""The share of the total weight above which one round decides too much."""
_UNSEEN = 0.01
"""The share of unlogged recommendations above which there is a warning."""


@dataclass(frozen=True)
class Estimate:
    """The reward that a policy would have earned, and how reliable that is.

    Attributes:
        value: the estimate; nan if there is none.
        interval: its confidence interval.
        n: the number of rounds it is a mean of.
        matched: the number of rounds in which the new policy recommends the item shown.
        ess: the effective sample size, (sum w)^2 / sum w^2.
        max_weight: the largest importance weight.
        clipped: how many weights were clipped.
        estimator: its name.
        confidence: the confidence level of the interval.
        warnings: reasons to doubt the number, in sentences.
        notes: data that were left out, in sentences.
    """

    value: float
    interval: Interval
    n: int
    matched: int
    ess: float
    max_weight: float
    clipped: int
    estimator: str
    confidence: float = 0.95
    warnings: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    def __float__(self) -> float:
        """Return the estimate."""
        return self.value

    def __str__(self) -> str:
        """Return the number, its interval, warnings and notes as text."""
        from rankine._report.tables import estimate_text  # noqa: PLC0415

        return estimate_text(self)

    def _repr_html_(self) -> str:
        from rankine._report.tables import estimates_html  # noqa: PLC0415

        return estimates_html((self,))

    def to_dict(self) -> dict[str, Any]:
        """Return everything, ready for JSON; undefined values are None."""
        low, high = self.interval
        return asdict(self) | {
            "value": finite(self.value),
            "interval": {"low": finite(low), "high": finite(high)},
            "ess": finite(self.ess),
            "max_weight": finite(self.max_weight),
            "warnings": list(self.warnings),
            "notes": list(self.notes),
        }

    def to_json(self, *, indent: int | None = 2) -> str:
        """Return everything as JSON; undefined values are null."""
        return _json(self.to_dict(), indent)


@dataclass(frozen=True, eq=False, repr=False)
class Estimates(Mapping[str, Estimate]):
    """The estimates of several estimators from one log, by their names.

    ``found["ips"]`` is an `Estimate`; it is read like a dict, and cannot be changed.

    Attributes:
        estimates: all of them, in the order asked.

    >>> import polars as pl
    >>> import rankine as rk
    >>> logged = pl.DataFrame({"item_id": ["a"], "click": [1], "propensity": [0.5]})
    >>> found = rk.ctr(logged, pl.DataFrame({"item_id": ["a"]}), ["ips", "snips"])
    >>> found
    Estimates(ips=2.0000, snips=1.0000)
    >>> found["ips"].value
    2.0
    """

    estimates: tuple[Estimate, ...]

    def __getitem__(self, name: str) -> Estimate:
        """Return an estimate by the name of its estimator."""
        for estimate in self.estimates:
            if estimate.estimator == name:
                return estimate
        msg = f"{name} was not asked for; the estimators are {', '.join(self)}"
        raise KeyError(msg)

    def __iter__(self) -> Iterator[str]:
        """Go through the names of the estimators."""
        return (estimate.estimator for estimate in self.estimates)

    def __len__(self) -> int:
        """Return how many there are."""
        return len(self.estimates)

    def __hash__(self) -> int:
        """Hash by the estimates."""
        return hash(self.estimates)

    def __str__(self) -> str:
        """Return the text of each."""
        return "\n\n".join(map(str, self.estimates))

    def __repr__(self) -> str:
        """Return the numbers in one line."""
        inside = ", ".join(
            f"{name}={estimate.value:.4f}" for name, estimate in self.items()
        )
        return f"Estimates({inside})"

    def _repr_html_(self) -> str:
        from rankine._report.tables import estimates_html  # noqa: PLC0415

        return estimates_html(self.estimates)

    def to_dict(self) -> dict[str, dict[str, Any]]:
        """Return everything by name, ready for JSON; undefined values are None."""
        return {name: estimate.to_dict() for name, estimate in self.items()}

    def to_json(self, *, indent: int | None = 2) -> str:
        """Return everything as JSON, by name; undefined values are null."""
        return _json(self.to_dict(), indent)


def _json(data: dict[str, Any], indent: int | None) -> str:
    return json.dumps(data, indent=indent, ensure_ascii=False, allow_nan=False)


def answer(rounds: Rounds, asked: Question) -> Estimate | Estimates:
    """Return an estimate if a name was given, and estimates if a list was."""
    results = estimates(rounds, asked)
    return results if asked.several else results.estimates[0]


def estimates(rounds: Rounds, asked: Question) -> Estimates:
    """Return the estimates from rounds, by the names of the estimators.

    All sums are exact, so that it does not matter in which order rounds come.
    """
    weights, clipped = rounds.chosen, 0
    if asked.weighing:
        inverse, clipped = _inverse(rounds, asked)
        weights = weights * inverse
    options = {"threshold": asked.threshold, "shrinkage": asked.shrinkage}
    unmatched = LOGS[asked.convention].unmatched
    results = []
    for name in dict.fromkeys(asked.estimators):
        with np.errstate(over="ignore", invalid="ignore"):
            estimator = ESTIMATORS[name]
            used = weights if estimator.weighs else rounds.chosen
            outcome = estimator.found(rounds, used, options)
            ess, total = _effective(outcome.weights)
        most = float(outcome.weights.max(initial=0))
        value, warnings = outcome.value, _warnings(rounds, estimator, ess, most, total)
        by_formula = unmatched == "formula" and not estimator.is_ratio
        if not rounds.matched and estimator.needs_match and not by_formula:
            value = math.nan
            warnings = ("no round shows a recommended item: no estimate",)
        bounds = Interval(math.nan, math.nan)
        if not math.isnan(value):
            bounds = _interval(rounds, outcome, estimator, asked)
        results.append(
            Estimate(
                value,
                bounds,
                rounds.n,
                rounds.matched,
                ess,
                most,
                clipped if estimator.weighs else 0,
                name,
                asked.confidence,
                warnings,
                rounds.notes,
            )
        )
    return Estimates(tuple(results))


def _interval(
    rounds: Rounds, outcome: Found, estimator: Estimator, asked: Question
) -> Interval:
    """Return the interval of an estimate, from the influence of each round."""
    n = rounds.n
    # A single round has no spread; nor has a single match, if only matches count.
    counted = rounds.matched if estimator.is_ratio else n
    if counted < 2:  # noqa: PLR2004
        return Interval(math.nan, math.nan)
    if asked.method == "bootstrap":
        parts = np.concatenate(
            (outcome.parts, np.repeat(outcome.others, outcome.count))
        )
        parts.sort()  # so that the order of rounds does not matter
        (bounds,) = intervals(
            [Sample(outcome.value + parts, number=outcome.value)],
            confidence=asked.confidence,
            method=asked.method,
            seed=asked.seed,
        )
        return bounds
    from scipy.special import stdtrit  # noqa: PLC0415 - slow to import

    with np.errstate(over="ignore"):
        squares = added(
            exact_sum(outcome.parts**2), exact_sum(outcome.others**2, outcome.count)
        )
    spread = math.sqrt(to_float(squares / (n - 1) / n))
    width = float(stdtrit(n - 1, (1 + asked.confidence) / 2)) * spread
    return Interval(outcome.value - width, outcome.value + width)


def _inverse(rounds: Rounds, asked: Question) -> tuple[Floats, int]:
    """Return 1/p of every round, clipped if asked for, and how many were clipped."""
    p = rounds.propensity
    if rounds.spread is None and rounds.items is not None:
        p = np.full(len(p), 1 / len(rounds.items))
    with np.errstate(divide="ignore", over="ignore"):
        inverse = 1 / p
    if asked.clip is None:
        return inverse, 0
    cut = inverse > asked.clip
    return np.minimum(inverse, asked.clip), int(np.count_nonzero(cut))


def _effective(weights: Floats) -> tuple[float, float]:
    """Return the effective sample size, and the sum of weights."""
    largest = float(weights.max(initial=0))
    if largest == 0:
        return 0.0, 0.0
    scaled = weights / largest
    total = exact_sum(scaled)
    ess = to_float(total * total / exact_sum(scaled * scaled))
    return ess, to_float(total) * largest


def _warnings(
    rounds: Rounds, estimator: Estimator, ess: float, most: float, total: float
) -> tuple[str, ...]:
    """Return reasons to doubt an estimate."""
    warnings = []
    if estimator.is_even:
        low, high = rounds.spread or (0.0, 1.0)
        if low != high:
            warnings.append(
                f"{estimator.name} is biased unless the items shown were drawn "
                "uniformly: matching rounds are not a fair sample"
            )
    if estimator.needs_match:
        if rounds.matched and total == 0:
            warnings.append("all weights are 0: only the reward model decides")
        elif rounds.matched and ess < _FEW:
            warnings.append(f"poor overlap: the effective sample size is {ess:.1f}")
        share = most / total if total > 0 else 0.0
        if share > _LARGE:
            warnings.append(f"a single round has {percent(share)} of the total weight")
    if rounds.unseen > _UNSEEN:
        warnings.append(
            f"{percent(rounds.unseen)} of the recommendations were never shown, so the "
            "log says nothing about them"
        )
    return tuple(warnings)
