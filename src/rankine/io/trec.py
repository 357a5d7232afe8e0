"""TREC text: ``query Q0 item rank score tag``, and ``query 0 item grade`` for qrels.

Fields are separated by any white space; a line that begins with ``#`` is a comment; the
rank column is not read. A file is read in parts of whole lines, so that memory holds
one part. A part that is regular, one space between fields and nothing else, goes
straight to the reader of polars; any other is brought into that form first.
"""

from __future__ import annotations

import os
import re
from collections import deque
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from rankine.errors import DataError, FormatError
from rankine.io.sources import Rows, Stream

if TYPE_CHECKING:
    from collections.abc import Generator

    from rankine.arrays import Ints

_PART = 1 << 24
"""Bytes in a part: large enough for two threads, small enough for the cache."""

_FIELDS = {
    "run": ("query", "q0", "item", "rank", "value", "tag"),
    "ranks": ("query", "q0", "item", "value", "score", "tag"),
    "qrels": ("query", "iteration", "item", "value"),
}
_WANTED = ("query", "item", "value")
_PEEK = 1 << 12
"""Bytes that are read at once to find the end of a line."""
_LITTLE = 1 << 18
_PARSERS = 2
"""Parts that are parsed at once: while one is used, the next is there or coming."""
_SHOWN = 120
"""Characters of a bad line that are shown."""


def read_run(path: Path, *, by_rank: bool = False) -> Stream:
    """Read a run in parts, whenever it is asked for."""

    def parts() -> Generator[Rows, None, None]:
        empty = True
        with closing(_parts(path, "ranks" if by_rank else "run")) as found:
            for rows in found:
                empty = empty and rows.frame.height == 0
                yield rows
        if empty:
            msg = f"{path}: no rows in it"
            raise DataError(msg)

    return Stream(parts, str(path), ranked=by_rank)


def read_qrels(path: Path) -> Rows:
    """Read judgements."""
    parts = list(_parts(path, "qrels"))
    frames = [part.frame for part in parts if part.frame.height]
    if not frames:
        msg = f"{path}: no judgements in it"
        raise DataError(msg)
    if len(parts) == 1:
        return parts[0]
    lines = np.concatenate([_lines(part) for part in parts])
    return Rows(pl.concat(frames), str(path), lines=lines)


def _lines(part: Rows) -> Ints:
    if part.lines is not None:
        return part.lines
    return np.arange(part.frame.height, dtype=np.int64) + (part.line or 1)


def run_tag(path: Path) -> str:
    """Return the tag of the last line, which trec_eval prints as ``runid``."""
    with path.open("rb") as file:
        size = file.seek(0, 2)
        file.seek(max(0, size - (1 << 16)))
        lines = [line for line in file.read().split(b"\n") if line.strip()]
    return lines[-1].split()[-1].decode(errors="backslashreplace") if lines else ""


def _parts(path: Path, kind: str) -> Generator[Rows, None, None]:
    line = 1
    # Closed on every way out: a generator that is left to the garbage collector would
    # end its threads at any time, such as when another thread is just being started.
    with closing(_ahead(path, kind)) as ahead:
        for part, frame in ahead:
            if frame is None:
                rows = _read_irregular(part, kind, str(path), line)
                line += part.count(b"\n") + (not part.endswith(b"\n"))
            else:
                rows = Rows(frame, str(path), line=line)
                line += frame.height
            del part, frame
            yield rows


def _ahead(
    path: Path, kind: str
) -> Generator[tuple[bytes, pl.DataFrame | None], None, None]:
    """Read and parse the next parts in other threads while one is used.

    Comes with None what is not regular.
    """
    parts = _whole_lines(path)
    reader = ThreadPoolExecutor(1, thread_name_prefix="rankine-read")
    parsers = ThreadPoolExecutor(_PARSERS, thread_name_prefix="rankine-parse")

    def load() -> Future[tuple[bytes, pl.DataFrame | None]] | None:
        part = next(parts, None)
        return None if part is None else parsers.submit(_regular, part, kind)

    try:
        coming = deque(reader.submit(load) for _ in range(_PARSERS))
        while (loaded := coming.popleft().result()) is not None:
            coming.append(reader.submit(load))
            yield loaded.result()
            del loaded
    finally:
        reader.shutdown(wait=False, cancel_futures=True)
        parsers.shutdown(wait=False, cancel_futures=True)


def _regular(part: bytes, kind: str) -> tuple[bytes, pl.DataFrame | None]:
    """Parse a part if it is regular, which most are."""
    frame = _parse(part, kind)
    # If the spaces add up, every line has its fields; a line without a tag and one with
    # a tag of two words may make up for each other, and are read right.
    if (
        frame is None
        or any(frame.null_count().row(0))
        or not _is_regular(part, (len(_FIELDS[kind]) - 1) * frame.height)
    ):
        return part, None
    return part, _by_rank(frame) if kind == "ranks" else frame


def _whole_lines(path: Path) -> Generator[bytes, None, None]:
    with path.open("rb") as file:
        number = file.fileno()
        size = os.lseek(number, 0, os.SEEK_END)
        begin = 3 if _at(number, 0, 3) == b"\xef\xbb\xbf" else 0
        while begin < size:
            end = _line_end(number, begin + _PART, size)
            part = _at(number, begin, end - begin)
            if not part:
                msg = f"{path}: has become shorter while it was read"
                raise FormatError(msg)
            begin += len(part)
            yield part
            # Let go before the next part is read, so that its memory serves again.
            del part


def _line_end(number: int, at: int, size: int) -> int:
    """Return where the line that a place is in ends."""
    while at < size:
        found = _at(number, at, _PEEK).find(b"\n")
        if found >= 0:
            return at + found + 1
        at += _PEEK
    return size


def _at(number: int, begin: int, length: int) -> bytes:
    """Read from a file by its number, which is faster than by its object."""
    os.lseek(number, begin, os.SEEK_SET)
    return os.read(number, length)


def _by_rank(frame: pl.DataFrame) -> pl.DataFrame:
    """Turn ranks into values that fall from the top."""
    return frame.with_columns(-pl.col("value"))


def _is_regular(part: bytes, n_spaces: int) -> bool:
    """Say whether so many single spaces separate fields, and no line is a comment.

    Tabs leave too few spaces; empty lines and spaces at the start of a line show as
    missing ids.
    """
    if part[:1] == b"#" or (b"#" in part and b"\n#" in part):
        return False
    data = np.frombuffer(part, np.uint8)
    found = 0
    # A little at a time, which stays in the cache, and one byte more for two in a row.
    for begin in range(0, len(data), _LITTLE):
        space = data[begin : begin + _LITTLE + 1] == ord(" ")
        found += int(np.count_nonzero(space[:_LITTLE]))
        if (space[1:] & space[:-1]).any():
            return False
    return found == n_spaces


def _parse(part: bytes, kind: str) -> pl.DataFrame | None:
    fields = _FIELDS[kind]
    schema = {field: pl.Float64 if field == "value" else pl.String for field in fields}
    try:
        return pl.read_csv(
            part,
            separator=" ",
            has_header=False,
            schema=schema,
            columns=[fields.index(field) for field in _WANTED],
            quote_char=None,
        )
    except pl.exceptions.PolarsError:
        return None


def _read_irregular(part: bytes, kind: str, name: str, line: int) -> Rows:
    """Bring a part into regular form, keeping count of the lines."""
    lines = part.replace(b"\r\n", b"\n").replace(b"\r", b"\n").split(b"\n")
    kept: list[bytes] = []
    number: list[int] = []
    n_fields = len(_FIELDS[kind])
    for at, text in enumerate(lines):
        if not text or text[:1] == b"#":
            continue
        fields = text.split()
        if not fields:
            continue
        if len(fields) != n_fields:
            raise _wrong_fields(fields, text, kind, f"{name}:{line + at}")
        kept.append(b" ".join(fields))
        number.append(line + at)
    if not kept:
        empty = pl.DataFrame(
            schema={"query": pl.String, "item": pl.String, "value": pl.Float64}
        )
        return Rows(empty, name, lines=np.zeros(0, dtype=np.int64))
    frame = _parse(b"\n".join(kept), kind)
    if frame is None or frame.height != len(kept) or any(frame.null_count().row(0)):
        frame = _parse_slowly(kept, number, kind, name)
    frame = _by_rank(frame) if kind == "ranks" else frame
    return Rows(frame, name, lines=np.array(number, dtype=np.int64))


def _wrong_fields(
    fields: list[bytes], text: bytes, kind: str, where: str
) -> FormatError:
    expected = len(_FIELDS[kind])
    other = len(_FIELDS["run" if kind == "qrels" else "qrels"])
    hint = ""
    if len(fields) == other:
        looks = (
            "this looks like a run" if kind == "qrels" else "these look like judgements"
        )
        hint = f"; {looks}: are the arguments swapped?"
    elif len(fields) < expected - 1:
        hint = "; if it is not TREC text, say what it is with format= or --format"
    shown = text[:_SHOWN].decode(errors="backslashreplace")
    msg = f"{where}: expected {expected} columns, got {len(fields)}{hint} ({shown!r})"
    return FormatError(msg)


_NUMBER = re.compile(
    rb"[+-]?(\d+\.?\d*([eE][+-]?\d+)?|\.\d+([eE][+-]?\d+)?|inf|infinity|nan)",
    re.IGNORECASE,
)


def _parse_slowly(
    kept: list[bytes], number: list[int], kind: str, name: str
) -> pl.DataFrame:
    """Read line by line, to accept what polars does not and to say what is wrong."""
    at_value = _FIELDS[kind].index("value")
    made: dict[str, list[str | float]] = {"query": [], "item": [], "value": []}
    for text, line in zip(kept, number, strict=True):
        fields = text.split(b" ")
        value = fields[at_value]
        if not _NUMBER.fullmatch(value):
            word = {"run": "score", "ranks": "rank", "qrels": "grade"}[kind]
            shown = value.decode(errors="backslashreplace")
            msg = f"{name}:{line}: the {word} is {shown!r}, not a number"
            raise DataError(msg)
        made["value"].append(float(value))
        try:
            made["query"].append(fields[0].decode())
            made["item"].append(fields[2].decode())
        except UnicodeDecodeError as error:
            msg = f"{name}:{line}: not UTF-8 text at byte {error.start} of an id"
            raise FormatError(msg) from None
    return pl.DataFrame(
        made, schema={"query": pl.String, "item": pl.String, "value": pl.Float64}
    )
