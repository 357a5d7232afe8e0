"""ctr: the click-through rate that recommendations would have had, from a log."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from rankine.checks import check_choice, check_k, check_number
from rankine.errors import DataError, ParameterError
from rankine.io.logs import Log, read_log
from rankine.offpolicy.estimators import (
    ESTIMATORS,
    NEED_PREDICTED,
    NEED_PROPENSITY,
    RATIOS,
)
from rankine.offpolicy.rounds import Rounds, join
from rankine.stats.intervals import Interval, check_interval, interval
from rankine.words import count

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rankine.arrays import Floats
    from rankine.offpolicy.estimators import Found

_FEW = 10
"""An effective number of rounds below which an estimate is a guess."""
_LARGE = 0.05
"""The share of all weights above which one round decides too much."""
_UNSEEN = 0.01
"""The share of choices without a log that is worth a word."""
CONVENTIONS: dict[str, dict[str, Any]] = {
    "rankine": {"n": "logged", "missing_propensity": "error", "unmatched": "nothing"},
    "jurity": {
        "n": "recommended",
        "missing_propensity": "items",
        "unmatched": "formula",
    },
}
"""What is meant where nothing is said, by the names of those who mean it."""


@dataclass(frozen=True)
class Estimate:
    """What a policy would have earned, and how much that can be trusted.

    Attributes:
        value: the estimate; nan if there is none.
        interval: its confidence interval.
        n: the number of rounds it is a mean of.
        matched: the rounds in which the new policy shows what was shown.
        ess: the effective number of rounds, (sum w)^2 / sum w^2.
        max_weight: the largest importance weight.
        clipped: how many weights were cut.
        estimator: its name.
        confidence: how often such an interval holds the true value.
        warnings: what makes the number doubtful, in sentences.
        notes: what was left out, in sentences.
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
        """Return the number, its interval, and what to think of it."""
        shown = "undefined" if math.isnan(self.value) else f"{self.value:.4f}"
        low, high = self.interval
        between = ""
        if not math.isnan(low):
            sure = f"{100 * self.confidence:g} % interval"
            between = f", {sure} {low:.4f} to {high:.4f}"
        lines = [
            f"{self.estimator}: {shown}{between}",
            (
                f"{count(self.n, 'round')}, {self.matched} matched; effective number "
                f"{self.ess:.1f}, largest weight {self.max_weight:.4g}"
                + (f", {self.clipped} clipped" if self.clipped else "")
            ),
        ]
        lines += [f"! {text}" for text in self.warnings]
        lines += [f"- {text}" for text in self.notes]
        return "\n".join(lines)

    def to_dict(self) -> dict[str, Any]:
        """Return everything, ready for JSON; what is undefined is None."""
        low, high = self.interval
        found = asdict(self) | {"interval": {"low": low, "high": high}}
        found["interval"] = {
            key: value if math.isfinite(value) else None
            for key, value in found["interval"].items()
        }
        for key in ("value", "ess", "max_weight"):
            found[key] = found[key] if math.isfinite(found[key]) else None
        found["warnings"], found["notes"] = list(self.warnings), list(self.notes)
        return found


def ctr(
    logged: Any,
    recommended: Any,
    estimator: str | Sequence[str] = "matching",
    *,
    k: int | None = None,
    clip: float | None = None,
    threshold: float = 10.0,
    shrinkage: float = 10.0,
    convention: str = "rankine",
    n: Literal["logged", "recommended"] | None = None,
    missing_propensity: Literal["error", "items"] | None = None,
    any_reward: bool = False,
    columns: Mapping[str, str] | None = None,
    confidence: float = 0.95,
    method: str = "t",
    seed: int = 0,
) -> Any:
    """Estimate the click-through rate of recommendations from a log of another policy.

    Formula:
        w = pi(a|x) / p, with a the item that was shown to x with probability p, and pi
        what the recommendations would have done: 1/k for each of k items, or the given
        probability; r the reward, r' its prediction for a, q the predicted reward of
        what is recommended

        matching    mean r over rounds in which what was shown is recommended
        ips         1/n sum w r
        snips       sum w r / sum w
        dm          1/n sum q
        dr          1/n sum [ q + w (r - r') ]
        sndr        1/n sum q + sum w (r - r') / sum w
        switch-dr   as dr, w = 0 where it is above `threshold`
        dros        as dr, with s w / (w^2 + s), s the `shrinkage`

    Args:
        logged: a frame or path with item_id, click (or reward), propensity (or
            propensity_score, pscore), and user_id and position if there are any.
        recommended: a frame or path with item_id, user_id, and, as needed, predicted
            (the reward model's value), probability (of the policy), position. Without
            user_id, the same is recommended to all.
        estimator: one of the above; or several, for which the tables are read and
            joined once.
        k: take the first k items of each list, the best predicted first.
        clip: the largest 1/p; larger ones are cut to it, which trades variance for
            bias.
        threshold: of switch-dr.
        shrinkage: of dros.
        convention: ``rankine``, or ``jurity``, which takes the mean over recommended
            pairs and a propensity of 1/items where there is none.
        n: the mean is over ``logged`` rounds or ``recommended`` pairs; a pair that was
            logged several times then counts as often.
        missing_propensity: without such a column, an ``error``, or one over the number
            of different items in the log (``items``).
        any_reward: let rewards be other numbers than 0 and 1.
        columns: part -> column, where names are not known.
        confidence: of the interval.
        method: ``t``, from the spread of what each round adds, or ``bootstrap`` over
            that; of ratios both take the linear part.
        seed: of the bootstrap.

    Returns:
        The estimate with its interval, the effective number of rounds, the largest
        weight, and warnings in words; nan if nothing matches, and the reason. Of
        several estimators, one by each name.

    Raises:
        ParameterError: an option is not right.
        DataError: a propensity is 0 or no probability, rewards are not 0 or 1,
            probabilities do not add up to 1, or a column is missing.

    References:
        M. Dudik, J. Langford, L. Li: Doubly robust policy evaluation and learning.
        ICML 2011. A. Swaminathan, T. Joachims: The self-normalized estimator for
        counterfactual learning. NIPS 2015. Y.-X. Wang, A. Agarwal, M. Dudik: Optimal
        and adaptive off-policy evaluation in contextual bandits. ICML 2017. Y. Su et
        al.: Doubly robust off-policy evaluation with shrinkage. ICML 2020.

    Examples:
        >>> import polars as pl
        >>> logged = pl.DataFrame(
        ...     {
        ...         "user_id": [1, 2, 3, 4],
        ...         "item_id": ["a", "b", "a", "c"],
        ...         "click": [1, 0, 1, 0],
        ...         "propensity": [0.5, 0.25, 0.5, 0.25],
        ...     }
        ... )
        >>> recommended = pl.DataFrame(
        ...     {"user_id": [1, 2, 3, 4], "item_id": ["a", "b", "b", "c"]}
        ... )
        >>> ctr(logged, recommended, "ips").value, (1 / 0.5) / 4
        (0.5, 0.5)
    """
    several = isinstance(estimator, (list, tuple))
    asked: list[Any] = list(estimator) if several else [estimator]
    for name in asked:
        check_choice("estimator", name, list(ESTIMATORS))
    check_k(k)
    check_choice("convention", convention, list(CONVENTIONS))
    rule = CONVENTIONS[convention]
    over = rule["n"] if n is None else n
    check_choice("n", over, ("logged", "recommended"))
    fallback = rule["missing_propensity"]
    fallback = fallback if missing_propensity is None else missing_propensity
    check_choice("missing_propensity", fallback, ("error", "items"))
    if clip is not None:
        check_number("clip", clip, above=0)
    check_number("threshold", threshold, above=0)
    check_number("shrinkage", shrinkage, above=0)
    check_interval(confidence, method, 1)
    needs = {"item": "rounds are matched by", "reward": "says what was earned"}
    weighing = [name for name in asked if name in NEED_PROPENSITY]
    if weighing and fallback == "error":
        needs["propensity"] = (
            f"{weighing[0]} weighs rounds by (missing_propensity='items' or "
            "--missing-propensity items takes 1 / the number of items)"
        )
    wanted = {"item": "rounds are matched by"}
    predicting = [name for name in asked if name in NEED_PREDICTED]
    if predicting:
        wanted["predicted"] = f"{predicting[0]} starts from"
    log = read_log(
        logged, "logged", ("user", "item", "reward", "propensity", "position"), needs,
        _own(columns, "logged"),
    )  # fmt: skip
    offered = read_log(
        recommended, "recommended",
        ("user", "item", "predicted", "probability", "position"), wanted,
        _own(columns, "recommended"),
    )  # fmt: skip
    _check_probability(offered, k, over)
    _check_rewards(log, offered if predicting else None, any_reward=any_reward)
    if weighing:
        _check_propensities(log, clip)
    rounds = join(log, offered, k, over=over)
    weights, clipped = rounds.chosen, 0
    if weighing:
        inverse, clipped = _inverse(rounds, log, clip, fallback)
        weights = weights * inverse
    options = {"threshold": float(threshold), "shrinkage": float(shrinkage)}
    made = {}
    for name in asked:
        with np.errstate(over="ignore", invalid="ignore"):
            own = weights if name in NEED_PROPENSITY else rounds.chosen
            found = ESTIMATORS[name](rounds, own, **options)
        value, warnings = found.value, _warnings(rounds, found.weights, name, log)
        by_formula = rule["unmatched"] == "formula" and name not in RATIOS
        if not rounds.matched and name != "dm" and not by_formula:
            value = math.nan
            warnings = (
                "no round shows what is recommended, so that there is no estimate",
            )
        bounds = Interval(math.nan, math.nan)
        if not math.isnan(value):
            bounds = _interval(rounds, found, name, confidence, method, seed)
        made[name] = Estimate(
            value,
            bounds,
            rounds.n,
            rounds.matched,
            _effective(found.weights),
            float(found.weights.max(initial=0)),
            clipped if name in NEED_PROPENSITY else 0,
            name,
            float(confidence),
            warnings,
            rounds.notes,
        )
    return made if several else made[asked[0]]


def _interval(
    rounds: Rounds, found: Found, name: str, confidence: float, method: str, seed: int
) -> Interval:
    """Return the interval of an estimate, from what each round moves it by."""
    n = rounds.n
    # One round has no spread, and where only rounds that match count, no one of them.
    counted = rounds.matched if name in RATIOS else n
    if counted < 2:  # noqa: PLR2004
        return Interval(math.nan, math.nan)
    if method == "bootstrap":
        parts = np.concatenate((found.parts, np.repeat(found.others, rounds.count)))
        return interval(
            found.value + parts, confidence=confidence, method=method, seed=seed
        )
    from scipy.special import stdtrit  # noqa: PLC0415 - slow to import

    with np.errstate(over="ignore"):
        squares = float((found.parts**2).sum())
        squares += float((found.others**2 * rounds.count).sum())
    spread = math.sqrt(squares / (n - 1) / n)
    width = float(stdtrit(n - 1, (1 + confidence) / 2)) * spread
    return Interval(found.value - width, found.value + width)


def _own(columns: Any, title: str) -> dict[str, str]:
    """Return the columns that are told for both tables, and for this one."""
    if not isinstance(columns, (Mapping, type(None))):
        msg = f"columns is a mapping from part to column, got {columns!r}"
        raise ParameterError(msg)
    others = {
        "logged": {"predicted", "probability"},
        "recommended": {"reward", "propensity"},
    }
    found = {}
    for part, name in (columns or {}).items():
        table, dot, own = str(part).rpartition(".")
        if not dot:
            found[part] = name
        elif table == title:
            if own in others[title]:
                msg = f"columns gives {title} a {own} column, which it does not have"
                raise ParameterError(msg)
            found[own] = name
        elif table not in {"logged", "recommended"}:
            msg = f"columns names a table {table!r}; there are logged and recommended"
            raise ParameterError(msg)
    return {part: name for part, name in found.items() if part not in others[title]}


def _check_probability(offered: Log, k: int | None, over: str) -> None:
    if not offered.has("probability"):
        return
    for told, what in ((k is not None, "k"), (over == "recommended", f"n={over!r}")):
        if told:
            msg = (
                f"{what} cannot be combined with a probability column, which says how "
                "often each item is shown"
            )
            raise ParameterError(msg)


def _check_rewards(log: Log, offered: Log | None, *, any_reward: bool) -> None:
    if any_reward:
        return
    reward = log.frame["reward"].to_numpy()
    odd = reward != reward.astype(np.bool_)
    if odd.any():
        at = int(np.flatnonzero(odd)[0])
        msg = (
            f"{log.origin.where(at)}: {log.columns['reward']} is {reward[at]:g}; a "
            "click is 0 or 1, and any_reward=True or --any-reward lets it be any number"
        )
        raise DataError(msg)
    if offered is not None:
        guess = offered.frame["predicted"].to_numpy()
        odd = (guess < 0) | (guess > 1)
        if odd.any():
            at = int(np.flatnonzero(odd)[0])
            msg = (
                f"{offered.origin.where(at)}: {offered.columns['predicted']} is "
                f"{guess[at]:g}; the predicted rate of clicks is between 0 and 1, and "
                "any_reward=True or --any-reward lets it be another number"
            )
            raise DataError(msg)


def _check_propensities(log: Log, clip: float | None) -> None:
    if not log.has("propensity"):
        return
    p = log.frame["propensity"].to_numpy()
    # Below the smallest normal number, one over it is beyond the largest.
    tiny = np.finfo(np.float64).tiny
    if len(p) and p.min() >= tiny and p.max() <= 1:
        return
    none = (p >= 0) & (p < tiny)
    zero = int(np.count_nonzero(none))
    if zero and clip is None:
        at = int(np.flatnonzero(none)[0])
        msg = (
            f"{log.origin.where(at)}: the propensity is {p[at]:g} "
            f"({count(zero, 'such row')} in all), which would weigh without bound; "
            "clip= or --clip bounds it"
        )
        raise DataError(msg)
    odd = (p < 0) | (p > 1)
    if odd.any():
        at = int(np.flatnonzero(odd)[0])
        msg = (
            f"{log.origin.where(at)}: the propensity is {p[at]:g}; a probability is "
            "above 0 and at most 1"
        )
        raise DataError(msg)


def _inverse(
    rounds: Rounds, log: Log, clip: float | None, fallback: str
) -> tuple[Floats, int]:
    """Return 1/p of every round, cut where that is asked for, and how many were cut."""
    p = rounds.propensity
    if not log.has("propensity") and fallback == "items":
        p = np.full(len(p), 1 / log.frame["item"].n_unique())
    with np.errstate(divide="ignore", over="ignore"):
        inverse = 1 / p
    if clip is None:
        return inverse, 0
    cut = inverse > clip
    return np.minimum(inverse, clip), int(np.count_nonzero(cut))


def _effective(weights: Floats) -> float:
    largest = float(weights.max(initial=0))
    if largest == 0:
        return 0.0
    scaled = weights / largest
    return float(scaled.sum() ** 2 / (scaled * scaled).sum())


def _warnings(
    rounds: Rounds, weights: Floats, estimator: str, log: Log
) -> tuple[str, ...]:
    """Say in words what makes an estimate doubtful."""
    found = []
    if estimator == "matching":
        p = log.frame["propensity"] if log.has("propensity") else None
        if p is None or p.n_unique() > 1:
            found.append(
                "matching is biased unless what was shown was drawn evenly: rounds in "
                "which both agree are not a fair sample"
            )
    if estimator != "dm":
        ess, total = _effective(weights), float(weights.sum())
        if rounds.matched and total == 0:
            found.append("no weight is left, so that the model alone decides")
        elif rounds.matched and ess < _FEW:
            found.append(
                f"the overlap is poor: the rounds count as much as {ess:.1f} even ones"
            )
        share = float(weights.max(initial=0)) / total if total > 0 else 0.0
        if share > _LARGE:
            found.append(f"a single round has {share:.0%} of all the weight")
    if rounds.unseen > _UNSEEN:
        found.append(
            f"{rounds.unseen:.0%} of what is recommended was never shown, so that the "
            "log says nothing of it"
        )
    return tuple(found)
