"""Runs and judgements written to a file: in which format, and how it is packed."""

from __future__ import annotations

import bz2
import gzip
import lzma
import os
import sys
from dataclasses import replace
from pathlib import PurePath
from typing import TYPE_CHECKING

from rankine._base.paths import write_whole
from rankine._base.text import count
from rankine._io.bytes import STDIN
from rankine._io.formats import FORMATS
from rankine._io.writers import WRITERS
from rankine.errors import MissingExtraError, NoRowsError, ParameterError, nearest

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    import polars as pl

    from rankine._io.writers import Sheet


def packed(content: bytes, packing: str) -> bytes:
    """Pack what is written, as the name of its file says.

    >>> packed(b"q1", "gzip") == packed(b"q1", "gzip")  # whenever it is written
    True
    """
    if packing == "gzip":
        return gzip.compress(content, mtime=0)
    if packing == "bzip2":
        return bz2.compress(content)
    if packing == "xz":
        return lzma.compress(content)
    return _zstandard()(content) if packing == "zstandard" else content


def _zstandard() -> Callable[[bytes], bytes]:
    if sys.version_info >= (3, 14):
        from compression.zstd import compress  # noqa: PLC0415

        return compress
    try:
        from zstandard import compress  # noqa: PLC0415 - an optional package
    except ImportError:
        msg = "zstandard needs a package: pip install 'rankine-eval[zstd]'"
        raise MissingExtraError(msg) from None
    return compress


_PACKINGS = {".gz": "gzip", ".bz2": "bzip2", ".xz": "xz", ".zst": "zstandard"}


def chosen(path: str | os.PathLike[str], name: str | None, role: str) -> str:
    """Return the format that is written: the one asked for, or else by the ending.

    >>> chosen("some.run.gz", None, "run"), chosen("some.txt", "csv", "qrels")
    ('trec', 'csv')
    """
    able = [known for known in WRITERS if FORMATS[known].holds(role)]
    if name is None:
        ending = _ending(path)
        found = [known for known in able if ending in FORMATS[known].endings]
        if found:
            return found[0]
        what = f"the ending {ending!r} stands for no format" if ending else "no ending"
        msg = (
            f"{os.fspath(path)}: {what}; say what to write with format= or --to: "
            f"{', '.join(able)}"
        )
        raise ParameterError(msg)
    if name not in able:
        word = "judgements" if role == "qrels" else "a run"
        msg = f"cannot write {word} as {name!r}; expected one of {', '.join(able)}"
        raise ParameterError(msg + nearest(str(name), able))
    return name


def _ending(path: str | os.PathLike[str]) -> str:
    """Return the ending that says the format, before one that says the packing."""
    place = PurePath(os.fsdecode(path))
    ending = place.suffix.lower()
    return PurePath(place.stem).suffix.lower() if ending in _PACKINGS else ending


def content_of(
    sheet: Sheet, name: str, columns: Mapping[str, str] | None = None
) -> tuple[bytes, tuple[str, ...]]:
    """Return a run or judgements in a format, and notes on what it cannot hold.

    Args:
        sheet: what is written.
        name: the format.
        columns: other names for the columns.
    """
    writer, frame = WRITERS[name], sheet.frame
    notes = []
    if columns is not None:
        sheet = replace(sheet, frame=_renamed(frame, name, columns))
    if not writer.empty:
        if frame.height == 0:
            msg = f"{sheet.name}: has no rows, without which {name} cannot be written"
            raise NoRowsError(msg)
        n_empty = sheet.n_queries - frame["query"].n_unique()
        if n_empty:
            without = f"{count(n_empty, 'query')} without items"
            notes.append(f"{sheet.name}: {without}: left out, as {name} cannot hold it")
    if "subtopic" in frame.columns and not writer.subtopics:
        notes.append(f"{sheet.name}: subtopics: left out, as {name} cannot hold them")
    return writer.write(sheet), tuple(notes)


def _renamed(
    frame: pl.DataFrame, name: str, columns: Mapping[str, str]
) -> pl.DataFrame:
    """Give columns other names."""
    if not WRITERS[name].named:
        able = ", ".join(known for known, writer in WRITERS.items() if writer.named)
        msg = f"the columns of {name} have no other names; write one of {able}"
        raise ParameterError(msg)
    for part, column in columns.items():
        if part not in frame.columns:
            msg = f"columns has no part {part!r}; the parts are "
            raise ParameterError(msg + ", ".join(frame.columns))
        if not isinstance(column, str) or not column:
            msg = f"columns maps {part!r} to {column!r}; expected a name"
            raise ParameterError(msg)
    names = [columns.get(part, part) for part in frame.columns]
    if len(set(names)) < len(names):
        msg = f"two columns would have the same name: {', '.join(names)}"
        raise ParameterError(msg)
    return frame.rename(dict(columns))


def save(
    sheet: Sheet,
    path: str | os.PathLike[str],
    name: str | None,
    columns: Mapping[str, str] | None,
) -> tuple[str, ...]:
    """Write a run or judgements to a file, or to standard output; returns notes."""
    content, notes = content_of(sheet, chosen(path, name, sheet.role), columns)
    if os.fspath(path) == STDIN:
        _print(content)
        return notes
    packing = _PACKINGS.get(PurePath(os.fsdecode(path)).suffix.lower(), "")
    write_whole(path, packed(content, packing))
    return notes


def _print(content: bytes) -> None:
    """Write to standard output, which takes only text in a notebook."""
    if hasattr(sys.stdout, "buffer"):
        sys.stdout.flush()
        sys.stdout.buffer.write(content)
        return
    try:
        sys.stdout.write(content.decode())
    except UnicodeDecodeError:
        msg = "this standard output takes text alone; write to a file"
        raise ParameterError(msg) from None
