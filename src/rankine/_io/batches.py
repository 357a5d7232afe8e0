"""Batches: runs that come as an iterator of frames or of Arrow's record batches."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import chain
from typing import TYPE_CHECKING, Any

import polars as pl

from rankine._base.contradiction import FIRST_ROWS, Contradiction, of_first_rows
from rankine._base.forks import need_threads
from rankine._base.text import counted, uncounted
from rankine._io.frames import (
    is_column,
    is_frame,
    open_frame,
    reason,
    refuse_distances,
    resolved,
    rows_of,
)
from rankine._io.rows import in_one
from rankine._io.sources import Rows, Stream, no_rows, with_rows
from rankine._io.tables import Table, together
from rankine._io.values import kind_of
from rankine.errors import ColumnNotFoundError, FormatError

if TYPE_CHECKING:
    from collections.abc import Collection, Generator, Mapping, Sequence

    from rankine._io.sources import Reading
    from rankine._io.tables import Loaded, OpenTable

_ROWS = 1 << 18
"""Rows of a lazy frame that are collected at once."""


def is_batches(data: Any) -> bool:
    """Say whether data come in batches, each of which can be read only once."""
    if isinstance(data, (dict, list, str)):
        return False
    lazy = isinstance(data, pl.LazyFrame) and hasattr(data, "collect_batches")
    return lazy or isinstance(data, Iterator) or _is_reader(data)


def _is_reader(data: Any) -> bool:
    """Say whether this is a source of record batches, and not a table in memory."""
    if isinstance(data, (pl.DataFrame, pl.LazyFrame)) or is_column(data):
        return False
    return hasattr(data, "__arrow_c_stream__") and not hasattr(data, "columns")


def read_batches(data: Any, how: Reading, name: str) -> Rows | Stream:
    """Read a run whose batches come one after the other."""
    batches = _batches(data, name)
    first = next(batches, None)
    if first is None:
        raise no_rows(name)
    column_of = resolved(first, "run", how)
    refuse_distances(column_of, "run", how, name)
    head = rows_of(first, "run", how, column_of)
    begun = [first]
    found = head.contradiction
    if found.n_lists:
        begun, found = _compared(batches, first, column_of, how)

    def parts() -> Generator[Rows, None, None]:
        n_rows = 0
        for batch in chain(begun, batches):
            rows = rows_of(_later(batch, column_of, n_rows), "run", how, column_of)
            together([head.frame.clear(), rows.frame], [head, rows])
            notes = counted(rows.notes)
            yield Rows(
                rows.frame, name, notes=notes, first=n_rows, queries=rows.queries
            )
            n_rows += rows.frame.height

    stream = Stream(
        lambda: with_rows(parts(), name),
        name,
        uncounted(head.notes),
        ranked=head.ranked,
        kind="batches",
        warnings=head.warnings,
        contradiction=found,
        memory=how.memory,
        once=True,
        unit=head.unit,
    )
    return in_one(stream) if how.memory is None else stream


def _compared(
    batches: Iterator[Any], first: Any, column_of: Mapping[str, str], how: Reading
) -> tuple[list[Any], Contradiction]:
    """Read the first batches, and compare their ranks with their scores."""
    begun: list[Any] = []
    with_ranks = replace(how, keep_rank=True)

    def head() -> tuple[pl.DataFrame, bool]:
        read: list[Rows] = []
        n_rows = 0
        for batch in chain([first], batches):
            begun.append(batch)
            read.append(rows_of(batch, "run", with_ranks, column_of))
            n_rows += read[-1].frame.height
            if n_rows > FIRST_ROWS:
                break
        return together([rows.frame for rows in read], read), False

    return begun, of_first_rows(head, lower_is_better=how.lower_is_better)


def tables_of(data: Any, name: str) -> Iterator[Table]:
    """Yield the batches of a table with named columns, but for those without rows."""
    n_rows = 0
    names: dict[str, str] | None = None
    for batch in _batches(data, name):
        names = names or {column: column for column in batch.names}
        part = _later(batch, names, n_rows)
        height = part.load(part.names[:1], ())[0].height
        n_rows += height
        if height:
            yield Table(name, (part,))


def _later(batch: OpenTable, column_of: Mapping[str, str], n_rows: int) -> OpenTable:
    """Return a batch whose row numbers continue those of the batches before it."""
    for column in column_of.values():
        if column not in batch.names:
            msg = (
                f"{batch.title}: the batch that begins at row {n_rows} has no column "
                f"{column!r}, but the first one has it; the columns here are "
                f"{', '.join(batch.names)}"
            )
            raise ColumnNotFoundError(msg)

    def load(wanted: Sequence[str], numbers: Collection[str]) -> Loaded:
        frame, origin = batch.load(wanted, numbers)
        return frame, origin.later(n_rows)

    return replace(batch, load=load)


def _collected(data: pl.LazyFrame, name: str) -> Iterator[pl.DataFrame]:
    """Yield the rows of a lazy frame, some at a time."""
    need_threads()
    try:
        yield from data.collect_batches(chunk_size=_ROWS, maintain_order=True)
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError) as error:
        msg = f"{name}: cannot be read as a table ({reason(error)})"
        raise FormatError(msg) from None


def _batches(data: Any, name: str) -> Iterator[Any]:
    """Yield batches as tables with named columns."""
    if isinstance(data, pl.LazyFrame):
        data = _collected(data, name)
    elif not isinstance(data, Iterator) and not hasattr(data, "read_next_batch"):
        try:
            import pyarrow as pa  # noqa: PLC0415 - an optional package
        except ImportError:
            data = [data]  # all at once, as polars reads it
        else:
            data = pa.RecordBatchReader.from_stream(data)
    for batch in data:
        if not (is_frame(batch) or hasattr(batch, "__arrow_c_array__")):
            msg = (
                f"cannot read {name} from an iterator of {kind_of(batch)}; expected "
                "frames or record batches"
            )
            raise FormatError(msg)
        yield open_frame(batch, name)
