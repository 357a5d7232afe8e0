"""Tables of logged rounds and of recommendations: which column is what, by its name."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from rankine._base.forks import need_threads
from rankine._io.columns import ALIASES
from rankine._io.frames import at_hand, column_of, columns_of, is_frame
from rankine._io.sources import Rows
from rankine._io.values import ids, numbers
from rankine.errors import (
    ColumnNotFoundError,
    DataError,
    FormatError,
    ParameterError,
    nearest,
)

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

PARTS: dict[str, tuple[str, ...]] = {
    "user": tuple(name for tier in ALIASES["query"] for name in tier),
    "item": tuple(name for tier in ALIASES["item"][:2] for name in tier),
    "reward": ("click", "reward", "clicked", "clicks"),
    "propensity": ("propensity", "propensity_score", "pscore"),
    "predicted": ("predicted", "predicted_reward", "prediction", "expected_reward"),
    "probability": ("probability", "prob", "policy_probability"),
    "position": ("position", "slot"),
}
"""What a table may hold, and by which names it is known, the first ones first."""
UNITS: dict[str, tuple[str, ...]] = {
    "user": ("user_id", "userid", "uid", "u_id", "user"),
    "query": ("query_id", "qid", "q_id", "query-id", "query"),
    "session": ("session_id", "sessionid"),
    "topic": ("topic_id", "topic"),
}
"""Kinds of ids that rounds are told apart by; one is never matched with another."""
_IDS = ("user", "item", "position")
_READERS: dict[str, Callable[[Path], pl.DataFrame]] = {
    ".parquet": pl.read_parquet,
    # As text, so that the ids 007 and 7 stay two; numbers are read where they are due.
    ".csv": lambda path: pl.read_csv(path, infer_schema=False),
    ".tsv": lambda path: pl.read_csv(path, infer_schema=False, separator="\t"),
    ".ndjson": pl.read_ndjson,
    ".jsonl": pl.read_ndjson,
    ".arrow": pl.read_ipc,
    ".feather": pl.read_ipc,
}
_UNREADABLE = (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError)


@dataclass(frozen=True, eq=False)
class Log:
    """A table of which each known part is a column of this name.

    Attributes:
        frame: the parts that were found.
        origin: says where a row stands.
        columns: the name that each part had.
        told: the parts whose columns were told by the user.
    """

    frame: pl.DataFrame
    origin: Rows
    columns: Mapping[str, str]
    told: frozenset[str] = frozenset()

    @cached_property
    def propensities(self) -> tuple[float, float] | None:
        """The smallest and the largest propensity, None without any."""
        if not self.has("propensity") or self.frame.height == 0:
            return None
        # Not as an array, which would be a copy of what was read in parts.
        p = self.frame["propensity"]
        return p.min(), p.max()  # type: ignore[return-value]

    def has(self, part: str) -> bool:
        """Say whether the table has a part."""
        return part in self.frame.columns

    @property
    def unit(self) -> str:
        """What kind of ids the users are: users themselves, sessions, queries."""
        return _unit_of(self.columns.get("user", "")) or "user"

    def said(self, parts: Collection[str]) -> tuple[str, ...]:
        """Say which columns were taken for some parts, where that was not told."""
        taken = ", ".join(
            f"{part} = {name}"
            for part, name in self.columns.items()
            if part in parts and part not in self.told and name != part
        )
        return (f"{self.origin.name}: {taken}",) if taken else ()


@dataclass(frozen=True, eq=False)
class Table:
    """A table as it came, and the names of its columns as text and as it has them."""

    data: Any
    title: str
    names: Mapping[str, Any]


def open_table(data: Any, title: str) -> Table:
    """Open a table, so that its columns can be seen.

    Args:
        data: a path, or a frame of pandas, polars or pyarrow.
        title: what to call it in messages, if it is no path.
    """
    if isinstance(data, (str, os.PathLike)):
        path = Path(os.fsdecode(data))
        data, title = read_table(path), str(path)
    elif not is_frame(data):
        msg = (
            f"{title} is of type {type(data).__name__}; expected a path, or a frame of "
            "pandas, polars or pyarrow"
        )
        raise FormatError(msg)
    table = at_hand(data, title)
    return Table(table, title, columns_of(table))


def read_log(
    table: Table,
    parts: Sequence[str],
    needs: Mapping[str, str],
    columns: Mapping[str, str],
    unit: str | None = None,
) -> Log:
    """Read the parts of a table that are known.

    Args:
        table: the table.
        parts: what it may hold.
        needs: what it must hold, and why.
        columns: part -> name, where names are not known.
        unit: the column of users, if it was chosen among several.
    """
    title, names = table.title, table.names
    chosen = {**columns, "user": unit} if unit is not None else columns
    found = _resolved(list(names), title, parts, chosen)
    for part, why in needs.items():
        if part not in found:
            msg = (
                f"{title} has no {part} column, which {why}; known are "
                f"{', '.join(PARTS[part][:3])}, it has {', '.join(names)}; say which "
                f"with columns={{{part!r}: ...}} or --col {part}=NAME"
            )
            raise ColumnNotFoundError(msg)
    origin = Rows(pl.DataFrame(), title)
    made = []
    for part, name in found.items():
        column = column_of(table.data, names[name])
        if part in _IDS:
            made.append(ids(column, part, origin, hint="")[0].alias(part))
        elif part == "reward" and column.dtype.is_integer() and not column.has_nulls():
            made.append(column.alias(part))  # which are clicks, and few of them matter
        else:
            made.append(_numbers(column, name, origin).alias(part))
    frame = pl.DataFrame(made)
    if frame.height == 0:
        msg = f"{title} has no rows"
        raise DataError(msg)
    return Log(frame, origin, found, frozenset(columns))


def same_units(
    tables: Sequence[Table], columns: Sequence[Mapping[str, str]]
) -> list[str | None]:
    """Choose a column of users in each of two tables, with ids of one kind in both.

    What the user tells is taken; None leaves the choice to the names.
    """
    told = [own.get("user") for own in columns]
    known = [_units(table) for table in tables]
    if all(told):
        return told
    for name, others in ((told[0], known[1]), (told[1], known[0])):
        if name is not None:
            same = others.get(_unit_of(name) or "")
            return [own or same for own in told]
    ours, theirs = known
    if not ours or not theirs:
        return [None, None]
    shared = [unit for unit in ours if unit in theirs]
    if not shared:
        first, second = (
            f"{table.title} has {next(iter(own.values()))}"
            for table, own in zip(tables, known, strict=True)
        )
        msg = (
            f"{first} and {second}, which are ids of different kinds; give both the "
            "same, or say which columns are meant, columns={'logged.user': ..., "
            "'recommended.user': ...} or --col logged.user=NAME --col "
            "recommended.user=NAME"
        )
        raise DataError(msg)
    return [own[shared[0]] for own in known]


def _units(table: Table) -> dict[str, str]:
    """Return the columns that tell rounds apart, by the kind of their ids."""
    found: dict[str, str] = {}
    for name in _known("user", list(table.names)):
        unit = _unit_of(name)
        if unit is not None:
            found.setdefault(unit, name)
    return found


def _unit_of(name: str) -> str | None:
    folded = name.casefold()
    return next((unit for unit, names in UNITS.items() if folded in names), None)


def _known(part: str, names: Sequence[str]) -> list[str]:
    """Return the columns that may be a part, by their names, the first ones first."""
    folded: dict[str, str] = {}
    for name in names:
        folded.setdefault(name.casefold(), name)
    exact = [name for name in PARTS[part] if name in names]
    return exact + [folded[name] for name in PARTS[part] if name in folded]


def _resolved(
    names: Sequence[str], title: str, parts: Sequence[str], told: Mapping[str, str]
) -> dict[str, str]:
    """Find the column of each part, as told or by a known name."""
    found: dict[str, str] = {}
    for part in parts:
        own = told.get(part)
        if own is not None and own not in names:
            msg = (
                f"{title} has no column {own!r}; it has {', '.join(names)}"
                f"{nearest(own, names)}"
            )
            raise ColumnNotFoundError(msg)
        if own is None:
            own = next(iter(_known(part, names)), None)
        if own is not None and own in found.values():
            other = next(one for one, name in found.items() if name == own)
            msg = f"{title}: the column {own!r} cannot be both {other} and {part}"
            raise ParameterError(msg)
        if own is not None:
            found[part] = own
    return found


def _numbers(column: pl.Series, name: str, origin: Rows) -> pl.Series:
    made = numbers(column, name, origin)
    odd = ~made.is_finite()
    if odd.any():
        at = int(odd.arg_true()[0])
        msg = f"{origin.where(at)}: {name} is {made[at]}, not a finite number"
        raise DataError(msg)
    return made


def check_columns(columns: Mapping[str, Any]) -> None:
    """Refuse parts that no table has, and columns that are no names."""
    for part, name in columns.items():
        if not isinstance(name, str):
            msg = f"columns gives {part!r} {name!r}; expected the name of a column"
            raise ParameterError(msg)
        if part not in PARTS:
            msg = (
                f"columns has no part {part!r}; parts are {', '.join(PARTS)}"
                f"{nearest(str(part), PARTS)}"
            )
            raise ParameterError(msg)


def read_table(path: Path) -> pl.DataFrame:
    """Read a file with named columns, by the name of the file; CSV as text."""
    need_threads()
    suffixes = [suffix.casefold() for suffix in path.suffixes]
    kind = next((one for one in reversed(suffixes) if one in _READERS), None)
    if not path.exists():
        msg = f"{path}: no such file"
        raise DataError(msg)
    if kind is None:
        msg = f"{path}: expected one of {', '.join(_READERS)}, by the name of the file"
        raise FormatError(msg)
    try:
        frame = _READERS[kind](path)
    except _UNREADABLE as error:
        reason = str(error).strip().splitlines()
        msg = f"{path}: cannot be read as {kind[1:]} ({reason[0] if reason else ''})"
        raise FormatError(msg) from None
    twice = next((name for name in frame.columns if "_duplicated_" in name), None)
    if twice is not None:
        name = twice.partition("_duplicated_")[0]
        msg = f"{path}: the column {name!r} stands twice in it"
        raise FormatError(msg)
    return frame
