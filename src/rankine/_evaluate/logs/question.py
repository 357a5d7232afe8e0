"""Question: what is asked of a log, checked before anything is read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

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
from rankine._io import open_table
from rankine._io.logs import check_columns, read_log, same_units
from rankine._io.sources import Reading
from rankine._metrics.estimators import ESTIMATORS
from rankine._stats.intervals import check_interval
from rankine.errors import DataError, ParameterError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rankine._io.logs import Log

_USUAL: dict[str, float | None] = {
    "threshold": 10.0,
    "shrinkage": 10.0,
    "clip": None,
    "missing_propensity": None,
}
"""Arguments that only some estimators read, and what they are if not given."""


@dataclass(frozen=True)
class Question:
    """What is asked of a log; the attributes are the arguments of `ctr`.

    Attributes:
        estimators: their names.
        several: whether they came as a list, and so does the answer.
        over: whether the mean is over logged rounds or recommended pairs.
        fallback: what is done without propensities.
        unmatched: what is said where nothing matches.
    """

    estimators: tuple[str, ...]
    several: bool
    k: int | None
    clip: float | None
    threshold: float
    shrinkage: float
    over: str
    fallback: str
    unmatched: str
    any_reward: bool
    columns: tuple[tuple[str, Any], ...]
    confidence: float
    method: str
    seed: int

    @property
    def weighing(self) -> list[str]:
        """The estimators that need propensities."""
        return [name for name in self.estimators if ESTIMATORS[name].weighs]

    @property
    def predicting(self) -> list[str]:
        """The estimators that need predicted rewards."""
        return [name for name in self.estimators if ESTIMATORS[name].models]

    def columns_of(self, table: str) -> dict[str, Any]:
        """Return which column is what in one of the two tables, as the user says."""
        columns = _own(dict(self.columns), table)
        check_columns(columns)
        return columns

    def read(self, logged: Any, recommended: Any) -> tuple[Log, Log]:
        """Read a log and recommendations, and check what is in them."""
        needs = {"item": "rounds are matched by", "reward": "says what was earned"}
        if self.weighing and self.fallback == "error":
            needs["propensity"] = (
                f"{self.weighing[0]} weighs rounds by (missing_propensity='items' or "
                "--missing-propensity items uses 1 / the number of items)"
            )
        wanted = {"item": "rounds are matched by"}
        if self.predicting:
            wanted["predicted"] = f"{self.predicting[0]} starts from"
        told = self.columns_of("logged"), self.columns_of("recommended")
        tables = (
            open_table(logged, "logged", Reading(columns=told[0])),
            open_table(recommended, "recommended", Reading(columns=told[1])),
        )
        columns = [
            {**table.columns, **own} for table, own in zip(tables, told, strict=True)
        ]
        units = same_units(tables, columns)
        log = read_log(tables[0], "logged", needs, columns[0], units[0])
        offered = read_log(tables[1], "recommended", wanted, columns[1], units[1])
        _check_probability(offered, self.k, self.over)
        guessed = offered if self.predicting else None
        _check_rewards(log, guessed, any_reward=self.any_reward)
        if self.weighing:
            _check_propensities(log, self.clip)
        return log, offered


def question(
    estimator: Any = "matching",
    *,
    k: int | None = None,
    clip: float | None = None,
    threshold: float = 10.0,
    shrinkage: float = 10.0,
    convention: str = "rankine",
    n: str | None = None,
    missing_propensity: str | None = None,
    any_reward: bool = False,
    columns: Any = None,
    confidence: float = 0.95,
    method: str = "t",
    seed: int = 0,
) -> Question:
    """Check what is asked; arguments as in `ctr`."""
    several = isinstance(estimator, (list, tuple))
    asked: list[Any] = list(estimator) if several else [estimator]
    if not asked:
        msg = f"no estimator was asked for; the estimators are {', '.join(ESTIMATORS)}"
        raise ParameterError(msg)
    for name in asked:
        check_choice("estimator", name, list(ESTIMATORS))
    check_flag("any_reward", any_reward)
    check_count("seed", seed, least=0)
    check_k(k)
    check_choice("convention", convention, list(LOGS))
    rule = LOGS[convention]
    over = rule.n if n is None else n
    check_choice("n", over, ("logged", "recommended"))
    given = missing_propensity
    fallback = rule.missing_propensity if given is None else given
    check_choice("missing_propensity", fallback, ("error", "items"))
    if clip is not None:
        check_number("clip", clip, above=0)
    check_number("threshold", threshold, above=0)
    check_number("shrinkage", shrinkage, above=0)
    check_interval(confidence, method, 1)
    _refuse_idle(
        asked, threshold=threshold, shrinkage=shrinkage, clip=clip,
        missing_propensity=missing_propensity,
    )  # fmt: skip
    if not isinstance(columns, (Mapping, type(None))):
        msg = f"columns must be a mapping from part to column, got {columns!r}"
        raise ParameterError(msg)
    own = tuple(sorted((columns or {}).items(), key=str))
    for title in ("logged", "recommended"):
        _own(dict(own), title)
    return Question(
        tuple(asked), several, k, clip, float(threshold), float(shrinkage), over,
        fallback, rule.unmatched, any_reward, own, float(confidence), method, seed,
    )  # fmt: skip


def _refuse_idle(asked: Sequence[str], **given: float | str | None) -> None:
    """Refuse what none of the estimators looks at."""
    for name, value in given.items():
        if value == _USUAL[name]:
            continue
        readers = [own.name for own in ESTIMATORS.values() if own.reads(name)]
        if not set(readers) & set(asked):
            needed = ", ".join(readers)
            msg = (
                f"{name}={value!r} has no effect on {', '.join(asked)}; it is for "
                f"{needed}"
            )
            raise ParameterError(msg)


def _own(columns: Mapping[str, Any], title: str) -> dict[str, Any]:
    """Return the columns that are told for both tables, and for this one."""
    others = {
        "logged": {"predicted", "probability"},
        "recommended": {"reward", "propensity"},
    }
    found = {}
    for part, name in columns.items():
        table, dot, own = str(part).rpartition(".")
        if not dot:
            found[part] = name
        elif table == title:
            if own in others[title]:
                msg = f"columns gives {title} a {own} column, which it does not have"
                raise ParameterError(msg)
            found[own] = name
        elif table not in {"logged", "recommended"}:
            msg = (
                f"columns names a table {table!r}; the tables are logged and "
                "recommended"
            )
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
    reward = log.frame["reward"]
    odd = (reward != 0) & (reward != 1)
    if odd.any():
        at = int(odd.arg_true()[0])
        msg = (
            f"{log.origin.where(at)}: {log.columns['reward']} is {reward[at]:g}; a "
            "click is 0 or 1, and any_reward=True or --any-reward allows any number"
        )
        raise DataError(msg)
    if offered is not None:
        guess = offered.frame["predicted"]
        odd = (guess < 0) | (guess > 1)
        if odd.any():
            at = int(odd.arg_true()[0])
            msg = (
                f"{offered.origin.where(at)}: {offered.columns['predicted']} is "
                f"{guess[at]:g}; the predicted rate of clicks is between 0 and 1, and "
                "any_reward=True or --any-reward allows any number"
            )
            raise DataError(msg)


def _check_propensities(log: Log, clip: float | None) -> None:
    low, high = log.propensities or (1.0, 1.0)
    # Below the smallest normal number, one over it is beyond the largest.
    tiny = float(np.finfo(np.float64).tiny)
    if tiny <= low and high <= 1:
        return
    p = log.frame["propensity"].to_numpy()
    none = (p >= 0) & (p < tiny)
    zero = int(np.count_nonzero(none))
    if zero and clip is None:
        at = int(np.flatnonzero(none)[0])
        msg = (
            f"{log.origin.where(at)}: the propensity is {p[at]:g} "
            f"({count(zero, 'such row')} in all), whose weight would be infinite; "
            "clip= or --clip limits it"
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
