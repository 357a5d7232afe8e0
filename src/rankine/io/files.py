"""Files: what is in one, told by its first bytes, and the reader for it."""

from __future__ import annotations

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
from rankine.io.sources import Rows, Stream

if TYPE_CHECKING:
    from rankine.arrays import Ints

FORMATS = ("trec", "csv", "tsv", "parquet")
_HEAD = 1 << 16
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
) -> Rows | Stream:
    """Read judgements or a run from a file, by its content."""
    place = Path(path)
    if format is not None and format not in FORMATS:
        msg = (
            f"unknown format {format!r}{nearest(format, FORMATS)}; "
            f"there are {', '.join(FORMATS)}"
        )
        raise ParameterError(msg)
    head = _head(place)
    kind = format or _sniff(head, place, role)
    if kind == "trec":
        if grades is not None:
            msg = f"{place}: grades in words need a table with a header, not TREC text"
            raise FormatError(msg)
        return trec.read_run(place) if role == "run" else trec.read_qrels(place)
    if kind == "parquet":
        return _read_parquet(place, role, columns, grades)
    return _read_separated(place, role, "\t" if kind == "tsv" else ",", columns, grades)


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


def _siblings(path: Path) -> list[str]:
    try:
        return [other.name for other in path.parent.iterdir()]
    except OSError:
        return []


def _sniff(head: bytes, path: Path, role: Role) -> str:
    """Tell the format from the first bytes; the suffix is never asked."""
    if not head:
        msg = f"{path}: the file is empty"
        raise DataError(msg)
    if head.startswith(b"PAR1"):
        return "parquet"
    for magic, word in _COMPRESSED.items():
        if head.startswith(magic):
            msg = f"{path}: is compressed ({word}); unpack it first"
            raise FormatError(msg)
    lines = head.removeprefix(b"\xef\xbb\xbf").replace(b"\r", b"").split(b"\n")
    first = next((line for line in lines if line.strip() and line[:1] != b"#"), b"")
    for kind, mark in (("tsv", b"\t"), ("csv", b",")):
        fields = [
            field.strip().strip(b'"').decode(errors="replace").casefold()
            for field in first.split(mark)
        ]
        if len(fields) > 1 and (_is_header(fields) or kind == "csv"):
            return kind
    n_fields = len(first.split())
    if n_fields in {4, 6}:
        return "trec"
    shown = first[:80].decode(errors="backslashreplace")
    wanted = "6 columns" if role == "run" else "4 columns"
    msg = (
        f"{path}: cannot tell its format from the first line, {shown!r}; TREC text has "
        f"{wanted}, CSV and TSV a header line; say which with format= or --format"
    )
    raise FormatError(msg)


def _is_header(fields: list[str]) -> bool:
    """Say whether these are names of columns: some known, none a number."""
    numeric = re.compile(r"[+-]?[\d.]+(e[+-]?\d+)?")
    return any(field in _NAMES for field in fields) and not any(
        numeric.fullmatch(field) for field in fields
    )


def _read_parquet(
    path: Path,
    role: Role,
    columns: Mapping[str, str] | None,
    grades: Mapping[Any, float] | None,
) -> Rows:
    try:
        frame = pl.read_parquet(path)
    except pl.exceptions.PolarsError as error:
        msg = f"{path}: cannot be read as Parquet ({str(error).splitlines()[0]})"
        raise FormatError(msg) from None
    return from_frame(frame, role, columns=columns, grades=grades, name=str(path))


def _read_separated(
    path: Path,
    role: Role,
    separator: str,
    columns: Mapping[str, str] | None,
    grades: Mapping[Any, float] | None,
) -> Rows:
    """Read CSV or TSV with a header; ids stay text, so that 007 is not 7."""
    try:
        frame = pl.read_csv(
            path, separator=separator, infer_schema=False, truncate_ragged_lines=False
        )
    except pl.exceptions.PolarsError as error:
        word = "TSV" if separator == "\t" else "CSV"
        reason = str(error).strip().splitlines()[0] if str(error).strip() else "no rows"
        msg = f"{path}: cannot be read as {word} ({reason})"
        raise FormatError(msg) from None
    frame = frame.rename({name: name.strip() for name in frame.columns})
    rows = from_frame(frame, role, columns=columns, grades=grades, name=str(path))
    lines: Ints = np.arange(frame.height, dtype=np.int64) + 2
    return Rows(rows.frame, rows.name, lines=lines, notes=rows.notes)
