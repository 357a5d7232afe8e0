"""ctr: the click-through rate that recommendations would have had, from a log."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypedDict, Unpack, overload

import numpy as np

from rankine._base.checks import (
    check_choice,
    check_count,
    check_flag,
    check_k,
    check_number,
)
from rankine._base.text import count
from rankine._conventions.presets import LOGS
from rankine._evaluate.logs.estimate import answer
from rankine._io import open_table
from rankine._io.logs import check_columns, read_log, same_units
from rankine._io.sources import Reading
from rankine._join.rounds import join
from rankine._metrics.estimators import ESTIMATORS
from rankine._stats.intervals import check_interval
from rankine.errors import DataError, ParameterError

if TYPE_CHECKING:
    from collections.abc import Sequence

    import polars as pl

    from rankine._evaluate.logs.estimate import Estimate, Estimates
    from rankine._io.logs import Log
    from rankine._join.rounds import Joined

_USUAL: dict[str, float | None] = {
    "threshold": 10.0,
    "shrinkage": 10.0,
    "clip": None,
    "missing_propensity": None,
}
"""Arguments that only some estimators read, and what they are if not given."""


class Options(TypedDict, total=False):
    """The arguments of `ctr` that are given by name."""

    k: int | None
    clip: float | None
    threshold: float
    shrinkage: float
    convention: str
    n: Literal["logged", "recommended"] | None
    missing_propensity: Literal["error", "items"] | None
    any_reward: bool
    columns: Mapping[str, Any] | None
    confidence: float
    method: str
    seed: int


@overload
def ctr(
    logged: Any,
    recommended: Any,
    estimator: str = "matching",
    **options: Unpack[Options],
) -> Estimate: ...


@overload
def ctr(
    logged: Any,
    recommended: Any,
    estimator: list[str] | tuple[str, ...],
    **options: Unpack[Options],
) -> Estimates: ...


def ctr(
    logged: Any,
    recommended: Any,
    estimator: str | list[str] | tuple[str, ...] = "matching",
    *,
    k: int | None = None,
    clip: float | None = None,
    threshold: float = 10.0,
    shrinkage: float = 10.0,
    convention: str = "rankine",
    n: Literal["logged", "recommended"] | None = None,
    missing_propensity: Literal["error", "items"] | None = None,
    any_reward: bool = False,
    columns: Mapping[str, Any] | None = None,
    confidence: float = 0.95,
    method: str = "t",
    seed: int = 0,
) -> Estimate | Estimates:
    """Estimate the click-through rate of recommendations from a log of another policy.

    Formula:
        w = pi(a|x) / p, where a is the item that was shown to x with probability p, and
        pi is what the recommendations would have done: 1/k for each of k items, or the
        given probability; r is the reward, r' its prediction for a, and q the predicted
        reward of what is recommended

        matching    mean r over rounds in which what was shown is recommended
        ips         1/n sum w r
        snips       sum w r / sum w
        dm          1/n sum q
        dr          1/n sum [ q + w (r - r') ]
        sndr        1/n sum q + sum w (r - r') / sum w
        switch-dr   as dr, w = 0 where it is above `threshold`
        dros        as dr, with s w / (w^2 + s), s the `shrinkage`

    Args:
        logged: a frame, a path, or what `read_table` returns, with the columns item_id,
            click (or reward), propensity (or propensity_score, pscore), and user_id and
            position if there are any.
        recommended: the same with item_id, user_id, and, as needed, predicted (the
            reward model's value), probability (of the policy), position. Without
            user_id, everyone is recommended the same.
        estimator: one of the above; or a list or tuple of them, for which the tables
            are read and joined once.
        k: use only the first k items of each list, the best predicted first.
        clip: the largest 1/p; larger ones are cut to it, which trades variance for
            bias.
        threshold: the threshold of switch-dr.
        shrinkage: the shrinkage of dros.
        convention: ``rankine``, or ``jurity``, which averages over recommended pairs
            and uses a propensity of 1/items where there is none.
        n: whether the mean is over ``logged`` rounds or ``recommended`` pairs; a pair
            that was logged several times then counts that many times.
        missing_propensity: without such a column, an ``error``, or one over the number
            of different items in the log (``items``).
        any_reward: allow rewards other than 0 and 1.
        columns: part -> column, where names are not recognised: its name, or its number
            from 1; "-" if there is none.
        confidence: the confidence level of the interval.
        method: ``t`` or ``bootstrap`` over the contributions of the rounds (linearised
            for ratios).
        seed: the seed of the bootstrap.

    Returns:
        The estimate with its interval, the effective number of rounds, the largest
        weight, and warnings in words; nan, with the reason, if nothing matches. For a
        list of estimators, even of one, `Estimates`: an estimate by each name.

    Raises:
        ParameterError: an option is not valid.
        DataError: a propensity is 0 or not a probability, rewards are not 0 or 1,
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
        >>> ctr(logged, recommended, ["ips", "snips"])
        Estimates(ips=0.5000, snips=0.2000)
    """
    asked = Question(
        estimator, k=k, clip=clip, threshold=threshold, shrinkage=shrinkage,
        convention=convention, n=n, missing_propensity=missing_propensity,
        any_reward=any_reward, columns=columns, confidence=confidence, method=method,
        seed=seed,
    )  # fmt: skip
    return answer(asked.joined(logged, recommended).rounds, asked)


@dataclass
class Question:
    """What is asked about a log, checked before anything is read.

    The attributes are the arguments of `ctr`; those not given are filled in from the
    convention.
    """

    estimator: Any = "matching"
    k: int | None = None
    clip: float | None = None
    threshold: float = 10.0
    shrinkage: float = 10.0
    convention: str = "rankine"
    n: str | None = None
    missing_propensity: str | None = None
    any_reward: bool = False
    columns: Any = None
    confidence: float = 0.95
    method: str = "t"
    seed: int = 0

    def __post_init__(self) -> None:
        """Check the arguments."""
        if isinstance(self.estimator, list):
            self.estimator = tuple(self.estimator)
        if not self.estimators:
            known = ", ".join(ESTIMATORS)
            msg = f"no estimator was asked for; the estimators are {known}"
            raise ParameterError(msg)
        for name in self.estimators:
            check_choice("estimator", name, list(ESTIMATORS))
        check_flag("any_reward", self.any_reward)
        check_count("seed", self.seed, least=0)
        check_k(self.k)
        check_choice("convention", self.convention, list(LOGS))
        if self.n is None:
            self.n = LOGS[self.convention].n
        check_choice("n", self.n, ("logged", "recommended"))
        idle = {name: getattr(self, name) for name in _USUAL}
        if self.missing_propensity is None:
            self.missing_propensity = LOGS[self.convention].missing_propensity
        check_choice("missing_propensity", self.missing_propensity, ("error", "items"))
        if self.clip is not None:
            check_number("clip", self.clip, above=0)
        check_number("threshold", self.threshold, above=0)
        check_number("shrinkage", self.shrinkage, above=0)
        check_interval(self.confidence, self.method, 1)
        _refuse_idle(self.estimators, **idle)
        if not isinstance(self.columns, (Mapping, type(None))):
            msg = f"columns must be a mapping from part to column, got {self.columns!r}"
            raise ParameterError(msg)
        self.columns = dict(self.columns or {})
        for table in ("logged", "recommended"):
            _own(self.columns, table)

    @property
    def several(self) -> bool:
        """Whether estimators came as a list, and so does the answer."""
        return isinstance(self.estimator, tuple)

    @property
    def estimators(self) -> tuple[str, ...]:
        """Their names."""
        return self.estimator if self.several else (self.estimator,)

    @property
    def weighing(self) -> list[str]:
        """The estimators that need propensities."""
        return [name for name in self.estimators if ESTIMATORS[name].weighs]

    def columns_of(self, table: str) -> dict[str, Any]:
        """Return which column is what in one of the two tables, as the user says."""
        columns = _own(self.columns, table)
        check_columns(columns)
        return columns

    def joined(self, logged: Any, recommended: Any) -> Joined:
        """Read a log and recommendations, check what is in them, and join them."""
        needs = {"item": "rounds are matched by", "reward": "says what was earned"}
        if self.weighing and self.missing_propensity == "error":
            needs["propensity"] = (
                f"{self.weighing[0]} weighs rounds by (missing_propensity='items' or "
                "--missing-propensity items uses 1 / the number of items)"
            )
        wanted = {"item": "rounds are matched by"}
        predicting = [name for name in self.estimators if ESTIMATORS[name].models]
        if predicting:
            wanted["predicted"] = f"{predicting[0]} starts from"
        given = self.columns_of("logged"), self.columns_of("recommended")
        tables = (
            open_table(logged, "logged", Reading(columns=given[0])),
            open_table(recommended, "recommended", Reading(columns=given[1])),
        )
        columns = [
            {**table.columns, **choices}
            for table, choices in zip(tables, given, strict=True)
        ]
        units = same_units(tables, columns)
        log = read_log(tables[0], "logged", needs, columns[0], units[0])
        offered = read_log(tables[1], "recommended", wanted, columns[1], units[1])
        _check_probability(offered, self)
        if not self.any_reward:
            _check_rewards(log, offered if predicting else None)
        if self.weighing:
            _check_propensities(log, self.clip)
        return join(log, offered, self.k, over=str(self.n))


def _refuse_idle(asked: Sequence[str], **given: float | str | None) -> None:
    """Refuse what none of the estimators looks at."""
    for name, value in given.items():
        if value == _USUAL[name]:
            continue
        readers = [
            estimator.name for estimator in ESTIMATORS.values() if estimator.reads(name)
        ]
        if not set(readers) & set(asked):
            needed = ", ".join(readers)
            msg = (
                f"{name}={value!r} has no effect on {', '.join(asked)}; it is for "
                f"{needed}"
            )
            raise ParameterError(msg)


def _own(columns: Mapping[str, Any], title: str) -> dict[str, Any]:
    """Return the columns that are given for both tables, and for this one."""
    others = {
        "logged": {"predicted", "probability"},
        "recommended": {"reward", "propensity"},
    }
    of_table = {}
    for part, name in columns.items():
        table, dot, key = str(part).rpartition(".")
        if not dot:
            of_table[part] = name
        elif table == title:
            if key in others[title]:
                msg = f"columns gives {title} a {key} column, which it does not have"
                raise ParameterError(msg)
            of_table[key] = name
        elif table not in {"logged", "recommended"}:
            msg = (
                f"columns names an unknown table {table!r}; the tables are logged and "
                "recommended"
            )
            raise ParameterError(msg)
    return {part: name for part, name in of_table.items() if part not in others[title]}


def _check_probability(offered: Log, asked: Question) -> None:
    if not offered.has("probability"):
        return
    over_pairs = asked.n == "recommended"
    for is_given, what in ((asked.k is not None, "k"), (over_pairs, f"n={asked.n!r}")):
        if is_given:
            msg = (
                f"{what} cannot be combined with a probability column, which says how "
                "often each item is shown"
            )
            raise ParameterError(msg)


def _check_rewards(log: Log, offered: Log | None) -> None:
    reward = log.frame["reward"]
    _refuse_row(
        log,
        "reward",
        (reward != 0) & (reward != 1),
        log.columns["reward"],
        "; a click is 0 or 1, and any_reward=True or --any-reward allows any number",
    )
    if offered is not None:
        guess = offered.frame["predicted"]
        _refuse_row(
            offered,
            "predicted",
            (guess < 0) | (guess > 1),
            offered.columns["predicted"],
            "; the predicted rate of clicks is between 0 and 1, and any_reward=True or "
            "--any-reward allows any number",
        )


def _check_propensities(log: Log, clip: float | None) -> None:
    low, high = log.propensities or (1.0, 1.0)
    # Below the smallest normal number, one over it is beyond the largest.
    tiny = float(np.finfo(np.float64).tiny)
    if tiny <= low and high <= 1:
        return
    p = log.frame["propensity"]
    zero = (p >= 0) & (p < tiny)
    if clip is None:
        _refuse_row(
            log,
            "propensity",
            zero,
            "the propensity",
            f" ({count(int(zero.sum()), 'such row')} in all), whose weight would be "
            "infinite; clip= or --clip limits it",
        )
    _refuse_row(
        log,
        "propensity",
        (p < 0) | (p > 1),
        "the propensity",
        "; a probability is above 0 and at most 1",
    )


def _refuse_row(table: Log, part: str, odd: pl.Series, name: str, why: str) -> None:
    """Refuse a table by the first row that is odd, if there is one."""
    if odd.any():
        row = int(odd.arg_true()[0])
        msg = f"{table.origin.where(row)}: {name} is {table.frame[part][row]:g}{why}"
        raise DataError(msg)
