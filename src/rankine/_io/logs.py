"""Tables of logged rounds and of recommendations: their parts, checked."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import polars as pl

from rankine._base.blocks import at_once
from rankine._base.records import cached_property
from rankine._io.columns import (
    ALIASES_OF_TABLES,
    check_parts,
    known_columns,
    no_part,
    resolve_table,
    told_column,
    unit_of,
)
from rankine._io.json import not_a_table
from rankine._io.tables import origin_of, together
from rankine._io.values import ends, ids, numbers
from rankine.errors import DataError

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

    from rankine._io.columns import TableRole
    from rankine._io.sources import Rows
    from rankine._io.tables import Loaded, Places, Table

_IDS = ("user", "item", "position")


@dataclass(frozen=True, eq=False)
class Log:
    """A table of which each known part is a column of this name.

    Attributes:
        name: what to call the table in messages.
        frame: the parts that were found.
        origin: says where a row stands.
        columns: the name that each part had.
        named: the parts whose columns were named by the user.
        notes: what was inferred or changed while reading.
    """

    name: str
    frame: pl.DataFrame
    origin: Rows | Places
    columns: Mapping[str, str]
    named: frozenset[str] = frozenset()
    notes: tuple[str, ...] = ()

    @cached_property
    def propensities(self) -> tuple[float, float] | None:
        """The smallest and the largest propensity, None without any."""
        if not self.has("propensity") or self.frame.height == 0:
            return None
        # Not as an array, which would be a copy of what was read in parts.
        return ends(self.frame["propensity"])

    def has(self, part: str) -> bool:
        """Say whether the table has a part."""
        return part in self.frame.columns

    @property
    def unit(self) -> str:
        """What kind of ids the users are: users themselves, sessions, queries."""
        return unit_of(self.columns.get("user", "")) or "user"

    def said(self, parts: Collection[str]) -> tuple[str, ...]:
        """Say how it was read, and which columns were used without being named."""
        taken = ", ".join(
            f"{part} = {name}"
            for part, name in self.columns.items()
            if part in parts and part not in self.named and name != part
        )
        return (*self.notes, *((f"{self.name}: {taken}",) if taken else ()))


@dataclass(frozen=True, eq=False)
class OpenLog:
    """A table of which it is known what is read of it.

    Attributes:
        table: the table.
        columns: the column of each part.
        named: the parts whose columns were named by the user.
    """

    table: Table
    columns: Mapping[str, str]
    named: frozenset[str]

    def read(self, size: int | None = None, *, part: bool = False) -> Iterator[Log]:
        """Read its rows.

        Args:
            size: how many rows are read at a time, about; all if not given.
            part: whether the table is a part of another, and may be empty.
        """
        empty = not part
        for loaded in self._loaded(size):
            log = self._log(loaded)
            del loaded
            if log.frame.height or part:
                empty = False
                yield log
            del log  # before more is read
        if empty:
            raise no_rows_in(self.table.name)

    def _loaded(self, size: int | None) -> Iterator[list[Loaded]]:
        wanted = [*self.columns.values()]
        numeric = [name for part, name in self.columns.items() if part not in _IDS]
        if size is None:
            yield self.table.load(wanted, numeric)
        else:
            yield from self.table.batches(wanted, numeric, size)

    def _log(self, loaded: list[Loaded]) -> Log:
        frames = [_checked(frame, origin, self.columns) for frame, origin in loaded]
        frame = together(_same_rewards(frames), [origin for _, origin in loaded])
        name, notes = self.table.name, self.table.notes
        origin = origin_of(name, loaded)
        return Log(name, frame, origin, self.columns, self.named, notes)


def open_log(
    table: Table,
    role: TableRole,
    needs: Mapping[str, str],
    columns: Mapping[str, Any],
    unit: str | None = None,
) -> OpenLog:
    """Find the columns of a table that are known.

    Args:
        table: the table.
        role: what it is.
        needs: what it must hold, and why.
        columns: part -> name or number of its column, if the name is not recognised.
        unit: the column of users, if it was chosen among several.
    """
    title, names = table.name, table.names
    if table.parts[0].entries is not None:
        raise not_a_table(title)
    chosen = {**columns, "user": unit} if unit is not None else columns
    column_of = resolve_table(names, role, chosen, title)
    for part, why in needs.items():
        if part not in column_of:
            raise no_part(names, part, title, f"{part} column, which {why}")
    return OpenLog(table, column_of, frozenset(columns))


def no_rows_in(title: str) -> DataError:
    """Return what is raised for a table without rows."""
    return DataError(f"{title} has no rows")


def _checked(
    frame: pl.DataFrame, origin: Rows, column_of: Mapping[str, str]
) -> pl.DataFrame:
    """Return each part under its name: ids as they are compared, and finite numbers."""

    def checked(part: str, name: str) -> pl.Series:
        column = frame[name]
        if part in _IDS:
            column = ids(column, part, origin, hint="")[0]
        elif part != "reward" or not column.dtype.is_integer() or column.has_nulls():
            column = _numbers(column, name, origin)
        # Whole rewards are clicks, few of which matter: they stay as they are.
        return column.alias(part)

    works = [partial(checked, part, name) for part, name in column_of.items()]
    return pl.DataFrame(at_once(works, frame.height))


def _same_rewards(frames: list[pl.DataFrame]) -> list[pl.DataFrame]:
    """Give the rewards of all parts one type, as some files have only whole numbers."""
    if len({frame.schema.get("reward") for frame in frames}) == 1:
        return frames
    return [frame.with_columns(pl.col("reward").cast(pl.Float64)) for frame in frames]


def same_units(
    tables: Sequence[Table], columns: Sequence[Mapping[str, Any]]
) -> list[str | None]:
    """Choose a column of users in each of two tables, with ids of one kind in both.

    The columns that the user gives are used; None leaves the choice to the names.
    """
    named = [
        told_column(table.names, choices.get("user"), table.name)
        for table, choices in zip(tables, columns, strict=True)
    ]
    known = [_units(table) for table in tables]
    nobody = any(
        "user" in choices and not named[number]
        for number, choices in enumerate(columns)
    )
    if all(named) or nobody:
        return named
    for name, others in ((named[0], known[1]), (named[1], known[0])):
        if name is not None:
            same = others.get(unit_of(name) or "")
            return [column or same for column in named]
    ours, theirs = known
    if not ours or not theirs:
        return [None, None]
    shared = [unit for unit in ours if unit in theirs]
    if not shared:
        first, second = (
            f"{table.name} has {next(iter(units.values()))}"
            for table, units in zip(tables, known, strict=True)
        )
        msg = (
            f"{first} and {second}, and these are different kinds of ids; use the "
            "same kind in both, or say which columns to use, columns={'logged.user': "
            "..., 'recommended.user': ...} or --col logged.user=NAME --col "
            "recommended.user=NAME"
        )
        raise DataError(msg)
    return [units[shared[0]] for units in known]


def _units(table: Table) -> dict[str, str]:
    """Return the columns that identify rounds, by the kind of their ids."""
    units: dict[str, str] = {}
    for name in known_columns(table.names, "user"):
        unit = unit_of(name)
        if unit is not None:
            units.setdefault(unit, name)
    return units


def _numbers(column: pl.Series, name: str, origin: Rows) -> pl.Series:
    values = numbers(column, name, origin)
    if math.isfinite(values.sum()):  # a tenth of the time that the next line takes
        return values
    odd = ~values.is_finite()
    if odd.any():
        row = int(odd.arg_true()[0])
        msg = f"{origin.where(row)}: {name} is {values[row]}, not a finite number"
        raise DataError(msg)
    return values


def check_columns(columns: Mapping[str, Any]) -> None:
    """Refuse parts that no table has, and columns without a name or a number."""
    check_parts(columns, ALIASES_OF_TABLES)
