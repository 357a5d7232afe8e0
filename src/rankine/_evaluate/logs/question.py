"""The arguments of `ctr`, and the rounds they ask for, read at once or in parts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np

from rankine._base.checks import (
    check_choice,
    check_count,
    check_flag,
    check_k,
    check_number,
)
from rankine._base.memory import in_use
from rankine._conventions.presets import LOGS
from rankine._evaluate.memory import at_once, check_engine, limit_of
from rankine._io import open_table
from rankine._io.batches import is_batches, tables_of
from rankine._io.frames import is_frame
from rankine._io.logs import check_columns, no_rows_in, open_log, same_units
from rankine._io.sources import Reading, Rows
from rankine._io.tables import together
from rankine._io.values import ends
from rankine._join.rounds import Tally
from rankine._join.spill import ROOM, refuse_more, refuse_small, share_of
from rankine._metrics.estimators import ESTIMATORS
from rankine._stats.intervals import check_interval
from rankine.errors import DataError, ParameterError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    import polars as pl

    from rankine._io.logs import Log, OpenLog
    from rankine._io.tables import Table
    from rankine._join.rounds import Rounds

_USUAL: dict[str, float | None] = {
    "threshold": 10.0,
    "shrinkage": 10.0,
    "clip": None,
    "missing_propensity": None,
}
"""Arguments that only some estimators read, with their defaults."""


@dataclass
class Question:
    """The arguments of `ctr`, checked before anything is read.

    Those not given are filled in from the convention.
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
    engine: str = "auto"
    memory_limit: int | str | None = None

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
        check_engine(self.engine, self.memory_limit)
        _refuse_idle(self.estimators, **idle)
        if not isinstance(self.columns, (Mapping, type(None))):
            msg = f"columns must be a mapping from part to column, got {self.columns!r}"
            raise ParameterError(msg)
        self.columns = dict(self.columns or {})
        for table in ("logged", "recommended"):
            _own(self.columns, table)

    @property
    def several(self) -> bool:
        """Whether estimators came as a list, so that the answer is one, too."""
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
        """Return the columns that the user names for one of the two tables."""
        columns = _own(self.columns, table)
        check_columns(columns)
        return columns

    def rounds(self, logged: Any, recommended: Any) -> Rounds:
        """Match a log with recommendations."""
        return self.tally(logged, recommended).rounds

    def tally(
        self,
        logged: Any,
        recommended: Any,
        report: Callable[[str, int, int | None], object] = lambda *_: None,
        *,
        own: bool = False,
        part: bool = False,
    ) -> Tally:
        """Match a log, all of it or some rows at a time, with recommendations.

        Args:
            logged: the log.
            recommended: the recommendations.
            report: called with the name of a log that is read in parts, the number of
                rows read, and None, as the total is unknown.
            own: whether rounds with recommendations of their own will be added.
            part: whether both tables are parts of larger ones, and may be empty.
        """
        memory, said = limit_of(logged, self.engine, self.memory_limit)
        refuse_small(memory)
        name, size, used, n_rows = "logged", None, 0, 0
        batches: Iterator[Any] = iter((logged,))
        in_batches = is_batches(logged) and (memory or not is_frame(logged))
        if in_batches:
            batches = tables_of(logged, name)
        first = next(batches, None)
        if first is None:
            raise no_rows_in(name)
        log, others = self._opened(first, recommended)
        (offered,) = others.read(part=part)
        _check_probability(offered, self)
        if in_batches or memory is not None:
            said += _at_once(log.table)
            used = _used_with(offered, memory)
            size = max(1, share_of(memory, used) // _ROW)
        tally: Tally | None = None
        head: Log | None = None
        for table in chain((log.table,), batches):
            for rows in replace(log, table=table).read(size, part=part):
                head = head or replace(rows, frame=rows.frame.clear())
                _refuse_other_types(head, rows)
                self._check_rounds(rows, offered)
                if tally is None:
                    tally = Tally(rows, offered, self.k, over=str(self.n), own=own)
                tally.add(rows)
                n_rows += rows.frame.height
                del rows  # before more is read
                held = tally.held
                most = max(held, key=lambda what: held[what])
                refuse_more(most, memory, "", used + sum(held.values()))
                if size is not None:
                    report(table.name, n_rows, None)
        if tally is None:
            raise no_rows_in(name)
        tally.note(said)
        return tally

    def _opened(self, logged: Any, recommended: Any) -> tuple[OpenLog, OpenLog]:
        """Open both tables, with the columns that they must have."""
        needs = {"item": "rounds are matched by", "reward": "says what was earned"}
        if self.weighing and self.missing_propensity == "error":
            needs["propensity"] = (
                f"{self.weighing[0]} weighs rounds by (missing_propensity='items' or "
                "--missing-propensity items uses 1 / the number of items)"
            )
        wanted = {"item": "rounds are matched by"}
        if self._predicting:
            wanted["predicted"] = f"{self._predicting[0]} starts from"
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
        return (
            open_log(tables[0], "logged", needs, columns[0], units[0]),
            open_log(tables[1], "recommended", wanted, columns[1], units[1]),
        )

    @property
    def _predicting(self) -> list[str]:
        """The estimators that need predictions."""
        return [name for name in self.estimators if ESTIMATORS[name].models]

    def _check_rounds(self, log: Log, offered: Log) -> None:
        """Refuse impossible rewards and propensities."""
        if not self.any_reward:
            _check_rewards(log, offered if self._predicting else None)
        if self.weighing:
            _check_propensities(log, self.clip)


_ROW = 64
"""About how many bytes a logged round takes."""
_OFFERED = 110
"""Bytes that the search for a recommended row takes, besides the row itself."""


def _used_with(offered: Log, memory: int | None) -> int:
    """Return the bytes in use when recommendations are ready to be searched.

    Recommendations that leave no room for the log are refused.
    """
    used = in_use() + _OFFERED * offered.frame.height
    what = f"{offered.name}, which is held, and a part of the log"
    refuse_more(what, memory, "", used + ROOM // 2)
    return used


def _refuse_other_types(first: Log, log: Log) -> None:
    """Refuse a part of a log whose columns have other types than the first part."""
    origins = [Rows(part.frame, part.name) for part in (first, log)]
    together([first.frame, log.frame.clear()], origins)


def _at_once(table: Table) -> tuple[str, ...]:
    """Return a note if a large log is read at once because it has no parts."""
    kinds = [part.kind for part in table.parts if part.batches is None]
    return at_once(table, kinds[0]) if kinds else ()


def _refuse_idle(asked: Sequence[str], **given: float | str | None) -> None:
    """Refuse arguments that no estimator reads."""
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
    if not _are_clicks(reward):
        _refuse_row(
            log,
            "reward",
            (reward != 0) & (reward != 1),
            log.columns["reward"],
            "; a click is 0 or 1, and any_reward=True or --any-reward allows any "
            "number",
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


def _are_clicks(reward: pl.Series) -> bool:
    """Say whether rewards are clicks; for ints, their range shows it sooner."""
    if not len(reward) or not reward.dtype.is_integer():
        return False
    low, high = ends(reward)
    return bool(low >= 0 and high <= 1)


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
            ", whose weight would be infinite; clip= or --clip limits it",
        )
    _refuse_row(
        log,
        "propensity",
        (p < 0) | (p > 1),
        "the propensity",
        "; a probability is above 0 and at most 1",
    )


def _refuse_row(table: Log, part: str, odd: pl.Series, name: str, why: str) -> None:
    """Refuse a table for its first odd row, if there is one."""
    if odd.any():
        row = int(odd.arg_true()[0])
        msg = f"{table.origin.where(row)}: {name} is {table.frame[part][row]:g}{why}"
        raise DataError(msg)
