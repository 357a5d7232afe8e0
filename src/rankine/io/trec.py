"""TREC text: ``query Q0 item rank score tag``, and ``query 0 item grade`` for qrels.

Fields are separated by any white space; a line that begins with ``#`` is a comment; the
rank column is not read. A file is read in parts of whole lines, so that memory holds
one part. A part that is regular, one space between fields and nothing else, goes
straight to the reader of polars; any other is brought into that form first.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from rankine.errors import DataError, FormatError
from rankine.io.sources import Rows, Stream

if TYPE_CHECKING:
    from collections.abc import Iterator
    from io import FileIO

    from rankine.arrays import Ints

_PART = 1 << 24
"""Bytes in a part: large enough for two threads, small enough for the cache."""

_FIELDS = {
    "run": ("query", "q0", "item", "rank", "value", "end"),
    "ranks": ("query", "q0", "item", "value", "score", "end"),
    "qrels": ("query", "iteration", "item", "value"),
}
_WANTED = ("query", "item", "value", "end")
_PEEK = 1 << 12
"""Bytes that are read at once to find the end of a line."""
_SHOWN = 120
"""Characters of a bad line that are shown."""


def read_run(path: Path, *, by_rank: bool = False) -> Stream:
    """Read a run in parts, whenever it is asked for."""

    def parts() -> Iterator[Rows]:
        empty = True
        for rows in _parts(path, "ranks" if by_rank else "run"):
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


def _parts(path: Path, kind: str) -> Iterator[Rows]:
    line = 1
    for part in _whole_lines(path):
        rows = _read(part, kind, str(path), line)
        yield rows
        if rows.lines is None:
            line += rows.frame.height
        else:
            line += part.count(b"\n") + (not part.endswith(b"\n"))


def _whole_lines(path: Path) -> Iterator[bytes]:
    with path.open("rb", buffering=0) as file:
        size = file.seek(0, 2)
        begin = 3 if _at(file, 0, 3) == b"\xef\xbb\xbf" else 0
        while begin < size:
            end = _line_end(file, begin + _PART, size)
            yield _at(file, begin, end - begin)
            begin = end


def _line_end(file: FileIO, at: int, size: int) -> int:
    """Return where the line that a place is in ends."""
    while at < size:
        found = _at(file, at, _PEEK).find(b"\n")
        if found >= 0:
            return at + found + 1
        at += _PEEK
    return size


def _at(file: FileIO, begin: int, length: int) -> bytes:
    file.seek(begin)
    return file.read(length)


def _read(part: bytes, kind: str, name: str, line: int) -> Rows:
    if _is_regular(part):
        frame = _parse(part, kind)
        # No line is short, as it has something at its end; so if the spaces add up,
        # no line is long either.
        if (
            frame is not None
            and not any(frame.null_count().row(0))
            and _spaces(part) == (len(_FIELDS[kind]) - 1) * frame.height
        ):
            return Rows(_finished(frame, kind), name, line=line)
    return _read_irregular(part, kind, name, line)


def _finished(frame: pl.DataFrame, kind: str) -> pl.DataFrame:
    """Leave out what was read for the check only; a rank counts from the top."""
    if kind == "ranks":
        frame = frame.with_columns(-pl.col("value"))
    return frame.select("query", "item", "value")


def _spaces(part: bytes) -> int:
    return int(np.count_nonzero(np.frombuffer(part, np.uint8) == ord(" ")))


def _is_regular(part: bytes) -> bool:
    """Say whether fields are separated by one space, and no line is a comment.

    Empty lines and spaces at the start of a line show later, as missing ids.
    """
    if b"\t" in part or b"\r" in part or part[:1] == b"#":
        return False
    if b"#" in part and b"\n#" in part:
        return False
    # Two spaces in a row, looked for two bytes at a time at even and odd places.
    data = np.frombuffer(part, np.uint8)
    two = np.frombuffer(b"  ", np.uint16)[0]
    even = data[: len(data) // 2 * 2].view(np.uint16)
    odd = data[1 : 1 + (len(data) - 1) // 2 * 2].view(np.uint16)
    return not ((even == two).any() or (odd == two).any())


def _parse(part: bytes, kind: str) -> pl.DataFrame | None:
    fields = _FIELDS[kind]
    schema = {field: pl.Float64 if field == "value" else pl.String for field in fields}
    try:
        return pl.read_csv(
            part,
            separator=" ",
            has_header=False,
            schema=schema,
            columns=[fields.index(field) for field in _WANTED if field in fields],
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
    return Rows(_finished(frame, kind), name, lines=np.array(number, dtype=np.int64))


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
