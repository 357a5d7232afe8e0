"""Files: what is in one, told by its first bytes, and the reader for it."""

from __future__ import annotations

import csv
import difflib
import re
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from rankine.errors import DataError, FormatError, ParameterError, nearest
from rankine.io import trec
from rankine.io.frames import from_frame
from rankine.io.roles import ALIASES, Role

if TYPE_CHECKING:
    from rankine.arrays import Ints
    from rankine.io.sources import Rows, Stream

FORMATS = ("trec", "csv", "tsv", "parquet")
_HEAD = 1 << 16
_BOM = b"\xef\xbb\xbf"
_COMPRESSED = {
    b"\x1f\x8b": "gzip",
    b"BZh": "bzip2",
    b"\xfd7zXZ": "xz",
    b"\x28\xb5\x2f\xfd": "zstandard",
    b"PK\x03\x04": "zip",
}
_NAMES = {alias for tiers in ALIASES.values() for tier in tiers for alias in tier}


def read_file(
    path: str | Path,
    role: Role,
    *,
    format: str | None = None,  # noqa: A002 - the word users know
    columns: Mapping[str, str] | None = None,
    grades: Mapping[Any, float] | None = None,
    by_rank: bool = False,
) -> Rows | Stream:
    """Read judgements or a run from a file, by its content."""
    place = Path(path)
    if format is not None and format not in FORMATS:
        msg = (
            f"unknown format {format!r}; there are {', '.join(FORMATS)}"
            f"{nearest(format, FORMATS)}"
        )
        raise ParameterError(msg)
    head = _head(place)
    kind = format or _sniff(head, place)
    if kind == "trec":
        if grades is not None:
            msg = f"{place}: grades in words need a table with a header, not TREC text"
            raise FormatError(msg)
        if role == "qrels":
            return trec.read_qrels(place)
        return trec.read_run(place, by_rank=by_rank)
    if kind == "parquet":
        frame, lines = _read_parquet(place), None
    else:
        frame, lines = _read_separated(place, b"\t" if kind == "tsv" else b",")
    if frame.height == 0:
        msg = f"{place}: no {'judgements' if role == 'qrels' else 'rows'} in it"
        raise DataError(msg)
    return from_frame(
        frame,
        role,
        columns=columns,
        grades=grades,
        by_rank=by_rank,
        name=str(place),
        lines=lines,
    )


def _head(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            return file.read(_HEAD)
    except FileNotFoundError:
        near = difflib.get_close_matches(path.name, _siblings(path), n=1)
        hint = f"; did you mean {str(path.with_name(near[0]))!r}?" if near else ""
        msg = f"{path}: no such file{hint}"
        raise FormatError(msg) from None
    except IsADirectoryError:
        msg = f"{path}: is a folder; name a file in it"
        raise FormatError(msg) from None
    except OSError as error:
        msg = f"{path}: cannot be read ({error.strerror})"
        raise FormatError(msg) from None
    except ValueError as error:
        msg = f"{str(path)!r} cannot be a path ({error})"
        raise FormatError(msg) from None


def _siblings(path: Path) -> list[str]:
    try:
        return [other.name for other in path.parent.iterdir()]
    except OSError:
        return []


def _sniff(head: bytes, path: Path) -> str:
    """Tell the format from the first bytes; the suffix is never asked."""
    if head.startswith(b"PAR1"):
        return "parquet"
    _refuse_bytes(head, path)
    lines = head.removeprefix(_BOM).replace(b"\r", b"\n").split(b"\n")
    first = next((line for line in lines if line.strip() and line[:1] != b"#"), b"")
    if not first:
        msg = f"{path}: no rows in it"
        raise DataError(msg)
    for kind, mark in (("tsv", b"\t"), ("csv", b",")):
        fields = [
            field.strip().strip(b'"').decode(errors="replace").casefold()
            for field in first.split(mark)
        ]
        if len(fields) > 1 and _is_header(fields):
            return kind
    # What has no header that we know is TREC text if white space separates it.
    if len(first.split()) > 1:
        return "trec"
    if b"," in first:
        return "csv"
    shown = first[:80].decode(errors="backslashreplace")
    msg = (
        f"{path}: cannot tell its format from the first line, {shown!r}; TREC text has "
        "6 columns in a run and 4 in judgements, CSV and TSV have a header line; say "
        "which with format= or --format"
    )
    raise FormatError(msg)


def _refuse_bytes(head: bytes, path: Path) -> None:
    """Raise for a file that is empty, compressed, or not UTF-8."""
    if not head:
        msg = f"{path}: the file is empty"
        raise DataError(msg)
    for magic, word in _COMPRESSED.items():
        if head.startswith(magic):
            msg = f"{path}: is compressed ({word}); unpack it first"
            raise FormatError(msg)
    if head[:2] in {b"\xff\xfe", b"\xfe\xff"}:
        msg = f"{path}: is UTF-16 text; save it as UTF-8"
        raise FormatError(msg)


def _is_header(fields: list[str]) -> bool:
    """Say whether these are names of columns: some known, none a number."""
    numeric = re.compile(r"[+-]?[\d.]+(e[+-]?\d+)?")
    return any(field in _NAMES for field in fields) and not any(
        numeric.fullmatch(field) for field in fields
    )


def _read_parquet(path: Path) -> pl.DataFrame:
    try:
        return pl.read_parquet(path, glob=False)
    except pl.exceptions.PolarsError as error:
        msg = f"{path}: cannot be read as Parquet ({_reason(error)})"
        raise FormatError(msg) from None


def _reason(error: Exception) -> str:
    text = str(error).strip()
    return text.splitlines()[0] if text else type(error).__name__


def _read_separated(path: Path, mark: bytes) -> tuple[pl.DataFrame, Ints | None]:
    """Read CSV or TSV with a header; ids stay text, so that 007 is not 7."""
    data, number = _lines(path.read_bytes().removeprefix(_BOM))
    header = data.split(b"\n", 1)[0].decode(errors="replace").strip("\r")
    names = next(csv.reader([header], delimiter=mark.decode()), [])
    names = [name.strip() for name in names]
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        msg = f"{path}:{number[0]}: the column {twice!r} stands twice; give it once"
        raise FormatError(msg)
    if not data.partition(b"\n")[2].strip():
        return pl.DataFrame(schema=dict.fromkeys(names, pl.String)), None
    try:
        frame = pl.read_csv(
            data,
            separator=mark.decode(),
            has_header=False,
            skip_lines=1,
            new_columns=names,
            infer_schema=False,
            schema=dict.fromkeys(names, pl.String),
        )
    except pl.exceptions.PolarsError as error:
        _refuse_lines(path, data, number, mark)
        word = "TSV" if mark == b"\t" else "CSV"
        msg = f"{path}: cannot be read as {word} ({_reason(error)})"
        raise FormatError(msg) from None
    if any(frame.null_count().row(0)):
        _refuse_lines(path, data, number, mark)
    return frame, number[1:] if len(number) == frame.height + 1 else None


def _lines(data: bytes) -> tuple[bytes, Ints]:
    """Leave out empty lines and comments, and number those that are left."""
    data = data.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    if b'"' in data:
        # A quoted field may hold such lines; nothing is left out then.
        data = data.lstrip(b"\n")
        return data, np.arange(1, data.count(b"\n") + 2 - data.endswith(b"\n"))
    odd = data.startswith((b"#", b"\n")) or b"\n#" in data or b"\n\n" in data
    if not odd:
        return data, np.arange(1, data.count(b"\n") + 2 - data.endswith(b"\n"))
    kept = [
        (number, line)
        for number, line in enumerate(data.split(b"\n"), 1)
        if line.strip() and line[:1] != b"#"
    ]
    return b"\n".join(line for _, line in kept), np.array([at for at, _ in kept])


def _refuse_lines(path: Path, data: bytes, number: Ints, mark: bytes) -> None:
    """Raise for the first line that is not text or has another number of fields."""
    lines = data.split(b"\n")
    wanted = lines[0].count(mark) + 1
    for line, at in zip(lines, number.tolist(), strict=False):
        try:
            line.decode()
        except UnicodeDecodeError as error:
            msg = f"{path}:{at}: not UTF-8 text at byte {error.start} of the line"
            raise FormatError(msg) from None
        if b'"' not in data and line.count(mark) + 1 != wanted:
            got = line.count(mark) + 1
            msg = f"{path}:{at}: expected {wanted} columns, got {got}"
            raise FormatError(msg)
