"""Tables with named columns: a log, recommendations, items; of a file or of several."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass, field
from itertools import accumulate, islice
from typing import TYPE_CHECKING, Any, TypeAlias

import polars as pl

from rankine._io.sources import Rows
from rankine._io.values import FIRST, holds_numbers
from rankine.errors import ColumnNotFoundError, FormatError, nearest

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

Loaded: TypeAlias = tuple[pl.DataFrame, Rows]
"""Columns as they were read, and what says where each row is."""


@dataclass(frozen=True, eq=False)
class OpenTable:
    """A file or a frame with named columns, of which some can be read.

    Attributes:
        title: what to call it in messages.
        names: the names of its columns.
        load: reads the columns of these names; the second list names those that hold
            numbers, which stay text if one value is not a number.
        entries: what a JSON object has by its keys, if the file is one.
        notes: what was inferred or changed while reading.
        kind: what it was found to be, in words.
        index: the names of what is in the index of a frame, and not in its columns.
        batches: does the same as `load`, but a few rows at a time, about as many as the
            last argument says; None if all of them are read anyway.
    """

    title: str
    names: tuple[str, ...]
    load: Callable[[Sequence[str], Collection[str]], Loaded]
    entries: Mapping[str, Any] | None = None
    notes: tuple[str, ...] = ()
    kind: str = ""
    index: str = ""
    batches: (
        Callable[[Sequence[str], Collection[str], int], Iterator[Loaded]] | None
    ) = None

    def columns_of_numbers(self, beside: str) -> tuple[str, ...]:
        """Return the names of the columns that hold numbers.

        Beside a column of lists, they can only be those of its members if they are in
        lists, too.
        """
        if self.batches is None:
            loaded = [self.load(self.names, ())]
        else:
            loaded = [*islice(self.batches(self.names, (), FIRST), 1)]
        return tuple(
            column.name
            for frame, _ in loaded
            for column in frame
            if holds_numbers(column)
            and column.dtype.is_nested() >= frame[beside].dtype.is_nested()
        )


@dataclass(frozen=True, eq=False)
class Table:
    """A table with named columns, in one part or in several that are read as one.

    Attributes:
        name: what to call it in messages.
        parts: what it is made of.
        columns: which column is what, as far as the user has said.
        notes: what was inferred or changed while reading.
    """

    name: str
    parts: tuple[OpenTable, ...]
    columns: Mapping[str, Any] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        """The names of its columns."""
        return self.parts[0].names

    @property
    def kind(self) -> str:
        """What it was found to be, in words."""
        return self.parts[0].kind

    def __repr__(self) -> str:
        """Show the name of the table, and those of its columns."""
        return f"Table({self.name!r}, {', '.join(self.names)})"

    def load(
        self, wanted: Sequence[str], numeric: Collection[str] = ()
    ) -> list[Loaded]:
        """Read some columns of all parts; a part without rows is left out.

        Args:
            wanted: the names of the columns.
            numeric: those of them that hold numbers.
        """
        self._check(wanted)
        loaded = [part.load(wanted, numeric) for part in self.parts]
        full = [(frame, origin) for frame, origin in loaded if frame.height]
        return full or loaded[:1]

    def read(
        self, wanted: Sequence[str], numeric: Collection[str] = ()
    ) -> tuple[pl.DataFrame, Rows | Places]:
        """Do the same, with all parts in one frame, and return where its rows are."""
        loaded = self.load(wanted, numeric)
        frame = together([rows for rows, _ in loaded], [origin for _, origin in loaded])
        return frame, origin_of(self.name, loaded)

    def batches(
        self, wanted: Sequence[str], numeric: Collection[str], size: int
    ) -> Iterator[list[Loaded]]:
        """Read some columns of all parts, a given number of rows at a time.

        Args:
            wanted: the names of the columns.
            numeric: those of them that hold numbers.
            size: how many rows.
        """
        self._check(wanted)
        first: Loaded | None = None
        batch: list[Loaded] = []
        n_rows = 0
        for part in self.parts:
            for frame, origin in _pieces(part, wanted, numeric, size):
                first = first or (frame.clear(), origin)
                together([first[0], frame], [first[1], origin])
                height = frame.height
                if batch and n_rows + height > size:
                    yield _handed_over(batch)
                    n_rows = 0
                if height:
                    batch.append((frame, origin))
                    n_rows += height
                del frame, origin
                # One more like this would be too many: these do not wait for it.
                if batch and n_rows + height > size:
                    yield _handed_over(batch)
                    n_rows = 0
        if batch:
            yield _handed_over(batch)

    def _check(self, wanted: Sequence[str]) -> None:
        first = self.parts[0]
        for part in self.parts:
            for name in wanted:
                if name not in part.names:
                    msg = (
                        f"{part.title} has no column {name!r}, but {first.title} has "
                        "one; all parts of a table must have the same "
                        f"columns{nearest(name, part.names)}"
                    )
                    raise ColumnNotFoundError(msg)


def _handed_over(batch: list[Loaded]) -> list[Loaded]:
    """Empty a list, so that only who gets its rows holds them."""
    rows = batch.copy()
    batch.clear()
    return rows


def _pieces(
    part: OpenTable, wanted: Sequence[str], numeric: Collection[str], size: int
) -> Iterator[Loaded]:
    if part.batches is not None:
        yield from part.batches(wanted, numeric, size)
        return
    frame, origin = part.load(wanted, numeric)
    for begin in range(0, max(frame.height, 1), size):
        yield frame[begin : begin + size], origin.later(begin)


@dataclass(frozen=True, eq=False)
class Places:
    """Where the rows of several parts are, counted as one.

    Attributes:
        name: what to call all of them.
        parts: the origin of each part, and how many rows it has.
    """

    name: str
    parts: tuple[tuple[Rows, int], ...]

    def where(self, row: int) -> str:
        """Say where a row is, as ``file:line`` or as the row of a file."""
        ends = list(accumulate(height for _, height in self.parts))
        number = bisect_right(ends, row)
        origin, height = self.parts[number]
        return origin.where(row - ends[number] + height)


def together(frames: Sequence[pl.DataFrame], origins: Sequence[Rows]) -> pl.DataFrame:
    """Concatenate the rows of several parts, which must have the same types."""
    first = frames[0]
    for frame, origin in zip(frames, origins, strict=True):
        for name, dtype in first.schema.items():
            if frame.schema[name] != dtype:
                msg = (
                    f"{origin.name}: {name!r} is of type {frame.schema[name]}, but of "
                    f"type {dtype} in {origins[0].name}; all parts of a table must "
                    "have the same types"
                )
                raise FormatError(msg)
    return first if len(frames) == 1 else pl.concat(frames, how="vertical")


def origin_of(name: str, loaded: Sequence[Loaded]) -> Rows | Places:
    """Return the origin of the rows of all parts."""
    if len(loaded) == 1:
        return loaded[0][1]
    return Places(name, tuple((origin, frame.height) for frame, origin in loaded))
