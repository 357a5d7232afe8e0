"""The first lines of text in fields: what separates them, and the header."""

from __future__ import annotations

import codecs
import csv
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from rankine._base.limits import limits
from rankine._io.columns import NAMES
from rankine._io.sources import no_rows

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rankine._io.bytes import Opened

_NUMBER = r"[+-]?((\d+\.?\d*|\.\d+)(e[+-]?\d+)?|inf(inity)?|nan)"
NUMBER = re.compile(_NUMBER, re.IGNORECASE)
NUMBER_IN_BYTES = re.compile(_NUMBER.encode(), re.IGNORECASE)
TYPED = re.compile(r"[^:\t]+:(token|token_seq|float|float_seq)")
_MARKS = ("\t", ",", ";", "|")
_BOM = codecs.BOM_UTF8
_LINES = 200
"""Lines that are looked at."""


@dataclass(frozen=True, slots=True)
class Sniffed:
    """What a file was found to be.

    Attributes:
        format: one of `FORMATS`.
        mark: what separates its fields, if it is text in fields; empty for any space.
        names: the names of its columns; None if it has no header.
        skip: bytes before the first row, and `line` the line that it is in.
        parts: what each column is, by its place from 1, if there are no names.
        said: what the user should know about this.
        padded: whether there are blanks after the marks.
        lists: the names of the columns that hold several values, with blanks between.
    """

    format: str
    mark: str = ""
    names: tuple[str, ...] | None = None
    skip: int = 0
    line: int = 1
    parts: tuple[str, ...] = ()
    said: tuple[str, ...] = ()
    padded: bool = False
    lists: tuple[str, ...] = ()


class Line(NamedTuple):
    """A line, its number, and the byte at which it ends."""

    text: str
    number: int
    end: int


def first_lines(opened: Opened) -> list[Line]:
    """Return the first lines that are neither empty nor comments; there must be one.

    A spreadsheet may say in the first line how columns are separated.
    """
    lines = _lines_of(opened.head[: limits().head_bytes], opened)
    if len(lines) < 2:  # noqa: PLR2004 - a header and a row
        lines = _lines_of(opened.head, opened)
    if not lines:
        raise no_rows(opened.name)
    return lines


def _lines_of(head: bytes, opened: Opened) -> list[Line]:
    lines: list[Line] = []
    position = 0
    raw = head.replace(b"\r\n", b" \n").replace(b"\r", b"\n").split(b"\n")
    for number, line in enumerate(raw, 1):
        if number == 1 and re.fullmatch(rb"sep=.\s*", line):
            position += len(line) + 1
            continue
        # A mark alone is not a row: concatenated files may have such lines.
        if line.strip().removeprefix(_BOM) and line[:1] != b"#":
            text = line.decode(errors="replace").rstrip(" ")
            lines.append(Line(text, number, position + len(line) + 1))
        position += len(line) + 1
        if len(lines) > _LINES:
            break
    # The last may be cut off.
    cut = position >= len(head) and not head.endswith(b"\n")
    more = opened.cut or len(head) < len(opened.head)
    return lines[:-1] if cut and len(lines) > 1 and more else lines


def marks_of(format_name: str | None) -> tuple[str, ...]:
    """Return what may separate the columns of a format."""
    if format_name is None:
        return _MARKS
    return _MARKS[1:] if format_name == "csv" else _MARKS[:1]


def split(line: str, mark: str) -> list[str]:
    """Split a line: at a mark, with quotes, or at any space."""
    if not mark:
        return line.split()
    if '"' not in line:
        return [field.strip() for field in line.split(mark)]
    return [field.strip() for field in next(csv.reader([line], delimiter=mark), [])]


def mark_of(lines: list[Line], marks: Sequence[str]) -> str | None:
    """Return what separates the columns, None if lines do not agree on any mark."""
    for mark in marks:
        counts = {len(split(line.text, mark)) for line in lines}
        if len(counts) == 1 and counts != {1}:
            return mark
    # Not alike in all lines: the reader says which line differs.
    for mark in marks:
        if len(split(lines[0].text, mark)) > 1:
            return mark
    return None


def is_header(fields: Sequence[str]) -> bool:
    """Say whether these are names of columns: some known, none a number."""
    return any(field.casefold() in NAMES for field in fields) and not any(
        NUMBER.fullmatch(field) for field in fields
    )


def named(kind: str, mark: str, names: Sequence[str], lines: list[Line]) -> Sniffed:
    """Return what is known of text with a header, which is the first of the lines."""
    titles = tuple(name or f"column {number}" for number, name in enumerate(names, 1))
    padded = f"{mark} " in lines[0].text
    said = ("spaces around the fields are removed",) if padded else ()
    return Sniffed(
        kind,
        mark,
        titles,
        skip=lines[0].end,
        line=lines[0].number + 1,
        said=said,
        padded=padded,
    )
