"""Parquet and Arrow: files of columns.

A page of Parquet whose header was damaged can make a reader ask for more memory than
there is, which ends the process. So the headers are walked first: sizes and counts must
not be negative, pages must lie inside the file, and their values add up to those of
their column. The headers are written in Thrift's compact protocol.
"""

from __future__ import annotations

import io
import struct
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any, BinaryIO

import polars as pl

from rankine._base.contradiction import FIRST_ROWS
from rankine._base.limits import limits
from rankine._base.text import counted, uncounted
from rankine._io.frames import open_frame, reason, refuse_distances, resolved, rows_of
from rankine._io.sources import Rows, Stream, no_rows, with_rows
from rankine._io.tables import OpenTable
from rankine.errors import FormatError

if TYPE_CHECKING:
    from collections.abc import Collection, Generator, Iterator, Sequence

    from rankine._io.bytes import Opened
    from rankine._io.fields import Sniffed
    from rankine._io.sources import Reading
    from rankine._io.tables import Loaded

_MAGIC = b"PAR1"
_DEEPEST = 16
_DATA, _DATA_2 = 0, 3
"""The types of pages that hold values."""
_HEADER, _LONG_HEADER = 1 << 10, 1 << 16
"""Bytes in which the header of a page ends, and if its statistics are long texts."""
_OF_ROW = 1 << 12
"""Bytes that may be used for each row that is read at once, with all its copies."""
_DAMAGED = (
    AttributeError, IndexError, KeyError, TypeError, ValueError, struct.error,
)  # fmt: skip


def open_parquet(opened: Opened, _: Sniffed) -> OpenTable:
    """Open a Parquet file, of which only the columns that are wanted are read."""
    held = None if opened.path else opened.read()

    def source() -> Any:
        return opened.path if held is None else io.BytesIO(held)

    def load(wanted: Sequence[str], _: Collection[str] = ()) -> Loaded:
        with _taken_for("Parquet", opened):
            _check_pages(opened, held, wanted)
            frame = pl.read_parquet(source(), columns=list(wanted), glob=False)
        return frame, Rows(pl.DataFrame(), opened.name)

    def batches(
        wanted: Sequence[str], _: Collection[str], size: int
    ) -> Iterator[Loaded]:
        with _taken_for("Parquet", opened):
            _check_pages(opened, held, wanted)
            rows = pl.scan_parquet(source(), glob=False)
            n_rows = rows.select(pl.len()).collect().item()
            for begin in range(0, max(n_rows, 1), size):
                frame = rows.slice(begin, size).select(wanted).collect()
                yield frame, Rows(pl.DataFrame(), opened.name, first=begin)
                del frame  # before more is read

    with _taken_for("Parquet", opened):
        schema = pl.read_parquet_schema(source())
    return OpenTable(opened.name, tuple(schema), load, batches=batches)


def parquet_stream(opened: Opened, sniffed: Sniffed, how: Reading) -> Stream:
    """Read a run from a Parquet file in parts, each of some rows of all columns."""
    table = open_parquet(opened, sniffed)
    column_of = resolved(table, "run", how)
    refuse_distances(column_of, "run", how, opened.name)
    names = list(dict.fromkeys(column_of.values()))
    with _taken_for("Parquet", opened):
        scan = pl.scan_parquet(opened.path or "", glob=False)
        n_rows = int(scan.select(pl.len()).collect().item())
    step = limits().scanned_rows
    if how.memory is not None:  # of which there may be little
        step = max(1, min(step, how.memory // _OF_ROW))

    def some(begin: int, step: int = step) -> Rows:
        def load(wanted: Sequence[str], _: Collection[str] = ()) -> Loaded:
            with _taken_for("Parquet", opened):
                frame = scan.select(wanted).slice(begin, step).collect()
            return frame, Rows(pl.DataFrame(), opened.name, first=begin)

        return rows_of(replace(table, load=load), "run", how, column_of)

    def parts() -> Generator[Rows, None, None]:
        with _taken_for("Parquet", opened):
            _check_pages(opened, None, names)
        for begin in range(0, n_rows, step):
            rows = some(begin)
            yield replace(rows, notes=counted(rows.notes))
            del rows  # before more is read

    if not n_rows:
        raise no_rows(opened.name)
    with _taken_for("Parquet", opened):
        _check_pages(opened, None, names)
    head = some(0, FIRST_ROWS + 1)
    return Stream(
        lambda: with_rows(parts(), opened.name),
        opened.name,
        uncounted(head.notes),
        ranked=head.ranked,
        warnings=head.warnings,
        n_rows=n_rows,
        contradiction=head.contradiction,
        unit=head.unit,
    )


def open_arrow(opened: Opened, _: Sniffed) -> OpenTable:
    """Open a file in Arrow's own format, or a stream of it."""
    data = io.BytesIO(opened.read())
    whole = opened.head.startswith(b"ARROW1")
    with _taken_for("Arrow IPC", opened):
        frame = pl.read_ipc(data) if whole else pl.read_ipc_stream(data)
    return open_frame(frame, opened.name)


@contextmanager
def _taken_for(word: str, opened: Opened) -> Iterator[None]:
    """Say that a file cannot be read in its format, and why."""
    try:
        yield
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError) as error:
        msg = f"{opened.name}: cannot be read as {word} ({reason(error)})"
        raise FormatError(msg) from None


def _check_pages(opened: Opened, held: bytes | None, wanted: Collection[str]) -> None:
    """Refuse a Parquet file whose pages cannot be what their headers say."""
    with opened.path.open("rb") if opened.path else io.BytesIO(held or b"") as file:
        data = _Data(file)
        try:
            chunks = list(_chunks(data, wanted))
            if sum(int(chunk.get(6, 0)) for chunk in chunks) > opened.how.max_bytes:
                raise opened.too_much()
            for chunk in chunks:
                _check_chunk(data, chunk)
        except FormatError:
            raise
        except _DAMAGED as error:
            msg = f"{opened.name}: is damaged or not Parquet ({error})"
            raise FormatError(msg) from None


class _Data:
    """Bytes of a file, by their place."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self.size = file.seek(0, 2)

    def at(self, begin: int, length: int) -> bytes:
        if not 0 <= begin <= self.size:
            msg = f"a page would begin at byte {begin} of {self.size}"
            raise ValueError(msg)
        self._file.seek(begin)
        return self._file.read(length)


def _chunks(data: _Data, wanted: Collection[str]) -> Iterator[dict[int, Any]]:
    """Yield what the footer of the file says about each chunk of the wanted columns."""
    end = data.at(max(0, data.size - 8), 8)
    if end[4:] != _MAGIC:
        msg = "it does not end as it should"
        raise ValueError(msg)
    (length,) = struct.unpack("<I", end[:4])
    footer, _ = _struct(data.at(data.size - 8 - length, length), 0)
    for group in footer.get(4, ()):
        for column in group[1]:
            chunk = column[3]
            if chunk[3][0].decode() in wanted:
                yield chunk


def _check_chunk(data: _Data, chunk: dict[int, Any]) -> None:
    offset, left = chunk[9], chunk[5]
    if 0 < chunk.get(11, 0) < offset:
        offset = chunk[11]  # the dictionary comes first
    while left > 0:
        header, used = _header(data, offset)
        kind, unpacked, packed = header[1], header[2], header[3]
        if unpacked < 0 or packed < 0 or offset + used + packed > data.size:
            msg = f"the page at byte {offset} has an impossible size"
            raise ValueError(msg)
        if kind in {_DATA, _DATA_2}:
            n = header[5 if kind == _DATA else 8][1]
            if not 0 <= n <= left:
                msg = f"the page at byte {offset} has {n} values, but {left} are left"
                raise ValueError(msg)
            left -= n
        offset += used + packed


def _header(data: _Data, offset: int) -> tuple[dict[int, Any], int]:
    try:
        return _struct(data.at(offset, _HEADER), 0)
    except (IndexError, ValueError):
        return _struct(data.at(offset, _LONG_HEADER), 0)


def _struct(data: bytes, offset: int, depth: int = 0) -> tuple[dict[int, Any], int]:
    """Read a struct: its fields by their numbers, and where it ends."""
    if depth > _DEEPEST:
        msg = "it is nested too deeply"
        raise ValueError(msg)
    fields: dict[int, Any] = {}
    number = 0
    while head := data[offset]:
        offset += 1
        if head >> 4:
            number += head >> 4
        else:
            number, offset = _zigzag(data, offset)
        kind = head & 15
        if kind in {1, 2}:
            fields[number] = kind == 1
        else:
            fields[number], offset = _value(data, offset, kind, depth)
    return fields, offset + 1


def _value(data: bytes, offset: int, kind: int, depth: int) -> tuple[Any, int]:
    if kind in {4, 5, 6}:
        return _zigzag(data, offset)
    if kind == 8:  # noqa: PLR2004 - the protocol's numbers: text
        length, offset = _varint(data, offset)
        return _bytes(data, offset, length)
    if kind in {9, 10}:  # a list
        n, inner = data[offset] >> 4, data[offset] & 15
        offset += 1
        if n == 15:  # noqa: PLR2004 - more than fit into four bits
            n, offset = _varint(data, offset)
        values = []
        for _ in range(n):
            value, offset = _value(data, offset, inner, depth)
            values.append(value)
        return values, offset
    if kind == 12:  # noqa: PLR2004 - a struct
        return _struct(data, offset, depth + 1)
    return _bytes(data, offset, {1: 1, 2: 1, 3: 1, 7: 8, 13: 16}[kind])


def _bytes(data: bytes, offset: int, length: int) -> tuple[bytes, int]:
    if offset + length > len(data):
        msg = "a value in it is cut off"
        raise ValueError(msg)
    return data[offset : offset + length], offset + length


def _varint(data: bytes, offset: int) -> tuple[int, int]:
    number = shift = 0
    while True:
        number |= (data[offset] & 127) << shift
        shift += 7
        offset += 1
        if data[offset - 1] < 128:  # noqa: PLR2004 - the last of its bytes
            return number, offset


def _zigzag(data: bytes, offset: int) -> tuple[int, int]:
    number, offset = _varint(data, offset)
    return (number >> 1) ^ -(number & 1), offset
