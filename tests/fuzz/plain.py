"""A second reader of TREC text and CSV, which takes a content exactly or not at all.

It knows nothing of ours: lines, fields, numbers, in as few words as can be.
"""

from __future__ import annotations

import math
import re
from typing import TypeAlias

Table: TypeAlias = dict[str, dict[str, float]]

NUMBER = re.compile(
    r"[+-]?((\d+\.?\d*|\.\d+)(e[+-]?\d+)?|inf|infinity|nan)", re.IGNORECASE | re.ASCII
)
CONTROL = re.compile(r"[\x00-\x08\x0e-\x1f]")
BLANKS = " \t\x0b\x0c"


class RefusedError(Exception):
    """The content is not what it should be."""


class FieldsError(RefusedError):
    """A line has too few or too many fields."""


class CutError(RefusedError):
    """A field in quotes does not end."""


class BareError(RefusedError):
    """A quote stands inside a field that is not in quotes."""


class UnsureError(Exception):
    """The content may be read or refused: nothing says which."""


def text_of(content: bytes) -> str:
    if content.startswith((b"\xff\xfe", b"\xfe\xff")):
        try:
            return content.decode("utf-16")
        except UnicodeDecodeError as error:
            raise RefusedError from error
    try:
        text = content.decode()
    except UnicodeDecodeError as error:
        raise UnsureError from error  # it matters only in ids
    return text.removeprefix("\ufeff")


def lines_of(text: str) -> list[str]:
    return [
        line
        for line in text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
        if line.strip(BLANKS) and not line.startswith("#")
    ]


def number_of(text: str) -> float:
    if not NUMBER.fullmatch(text):
        raise RefusedError
    return float(text)


def put(table: Table, query: str, item: str, value: float, role: str) -> None:
    own = table.setdefault(query, {})
    odd = math.isnan(value) or (role == "qrels" and math.isinf(value))
    if not query or not item or item in own or odd:
        raise RefusedError
    own[item] = value


def trec(content: bytes, role: str, *, by_rank: bool = False) -> Table:
    """Read ``query Q0 item rank score tag`` or ``query 0 item grade``."""
    n, at = (4, 3) if role == "qrels" else (6, 3 if by_rank else 4)
    table: Table = {}
    # A file that others were appended to may have their marks inside it.
    texts = [line.lstrip(BLANKS).removeprefix("\ufeff") for line in _checked(content)]
    bare = [text.strip(BLANKS) for text in texts]
    lines = [re.split(f"[{BLANKS}]+", text) for text in bare if text]
    for place, fields in enumerate(lines):
        if len(fields) != n:
            raise FieldsError
        if place == 0 and not NUMBER.fullmatch(fields[at]):
            raise UnsureError  # a header, perhaps
        value = number_of(fields[at])
        put(table, fields[0], fields[2], -value if by_rank else value, role)
    if not table:
        raise RefusedError
    return table


def _checked(content: bytes) -> list[str]:
    lines = lines_of(text_of(content))
    if any("\x7f" in line for line in lines):
        raise UnsureError  # a control character for some
    if any(CONTROL.search(line) for line in lines):
        raise RefusedError
    return lines


def separated(
    content: bytes, role: str, mark: str = ",", *, bare: bool = False
) -> Table:
    """Read columns under the header query, item and grade or score.

    Quotes inside a field that is not in quotes are refused, or taken as they are.
    """
    text = text_of(content).replace("\r\n", "\n").replace("\r", "\n")
    rows = _rows(text, mark, bare=bare)
    if not rows:
        raise RefusedError
    value = "grade" if role == "qrels" else "score"
    header, *rest = rows
    if header != ["query", "item", value]:
        raise UnsureError  # other names are known, too
    if not rest:
        raise RefusedError
    table: Table = {}
    for fields in rest:
        if len(fields) != len(header):
            raise RefusedError
        if any(field != field.strip() for field in fields):
            raise UnsureError  # blanks around a field
        if CONTROL.search("".join(fields)):
            raise UnsureError
        put(table, fields[0], fields[1], number_of(fields[2]), role)
    return table


def _rows(text: str, mark: str, *, bare: bool) -> list[list[str]]:
    """Take text apart as RFC 4180 has it; comments and empty lines are left out."""
    rows: list[list[str]] = []
    while text:
        line, _, rest = text.partition("\n")
        if not line.strip(BLANKS) or line.startswith("#"):
            if mark in line or '"' in (line if line.startswith("#") else line and text):
                raise UnsureError  # a row, perhaps
            text = rest
            continue
        fields, text = _row(text, mark, bare=bare)
        rows.append(fields)
    return rows


def _row(text: str, mark: str, *, bare: bool) -> tuple[list[str], str]:
    fields: list[str] = []
    while True:
        if text.startswith('"'):
            found = re.match(r'"((?:[^"]|"")*)"', text)
            if found is None:
                raise CutError
            fields.append(found[1].replace('""', '"'))
            text = text[found.end() :]
        else:
            found = re.match(f"[^{mark}\n]*", text)
            assert found
            if '"' in found[0] and not bare:
                raise BareError
            fields.append(found[0])
            text = text[found.end() :]
        if text.startswith(mark):
            text = text[1:]
        elif not text or text.startswith("\n"):
            return fields, text[1:]
        else:
            raise UnsureError  # quotes in odd places
