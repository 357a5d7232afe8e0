"""What is in a file: recognised by its first bytes, never by its name alone."""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import pairwise
from statistics import mode
from typing import TYPE_CHECKING

from rankine._io.columns import NAMES_OF_TABLES, NO_COLUMN, Role, is_place
from rankine._io.fields import (
    NUMBER,
    TYPED,
    Line,
    Sniffed,
    first_lines,
    is_header,
    mark_of,
    marks_of,
    named,
    split,
)
from rankine._io.formats import FORMATS, Format, check_role, names_for, told
from rankine.errors import (
    ColumnNotFoundError,
    FormatError,
    NoRowsError,
    ParameterError,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rankine._io.bytes import Opened
    from rankine._io.sources import Reading

_WHOLE = re.compile(r"[+-]?\d+(\.0*)?")
_EPOCH = 10**8
"""No grade is so large: such a number is a time in seconds."""
_SHOWN = 80
_TREC = {"run": 6, "qrels": 4}


def sniff(opened: Opened, role: Role, how: Reading) -> Sniffed:
    """Find out what a file is, or believe what the user says."""
    known = _not_text(opened, told(how, role)) or _text(opened, role, how)
    check_role(known, role, opened.name)
    return _naming(known, opened.name)


def _naming(sniffed: Sniffed, name: str) -> Sniffed:
    """Begin notes and errors about a file with its name."""
    return replace(sniffed, said=tuple(f"{name}: {text}" for text in sniffed.said))


def sniff_table(opened: Opened, how: Reading) -> Sniffed:
    """Find out what a file with named columns is.

    The first line of text is the header, unless all columns are given by their numbers
    and nothing in it looks like a name.
    """
    format_name = how.format
    known = _not_text(opened, told(how, "table"))
    if known:
        check_role(known, "table", opened.name)
        return known
    lines = first_lines(opened)
    if "\0" in lines[0].text:
        msg = (
            f"{opened.name}: is binary data of an unknown kind; a table must be one of "
            f"{', '.join(names_for('table'))}, in UTF-8 or in the encoding given with "
            "encoding= or --encoding"
        )
        raise FormatError(msg)
    mark = _mark_of_table(lines, format_name)
    rows = [split(line.text, mark) for line in lines]
    names = rows[0]
    kind = format_name or _kind_of_text(mark)
    lists: tuple[str, ...] = ()
    if all(map(TYPED.fullmatch, names)):
        kind, types = "recbole", [name.rpartition(":")[2] for name in names]
        names = [name.rpartition(":")[0] for name in names]
        several = zip(names, types, strict=True)
        lists = tuple(name for name, word in several if word.endswith("_seq"))
    if _by_number(how) and not _is_headed(rows, opened.name):
        return Sniffed(kind, mark, tuple(map(str, range(1, len(names) + 1))))
    sniffed = named(kind, mark, names, lines)
    return _naming(replace(sniffed, lists=lists), opened.name)


def _by_number(how: Reading) -> bool:
    """Say whether all columns that are given are given by their numbers."""
    columns = _told_columns(how)
    return bool(columns) and all(map(is_place, columns.values()))


def _told_columns(how: Reading) -> dict[str, str]:
    """Return the columns given, without those that do not exist."""
    columns = (how.columns or {}).items()
    return {
        part: str(column) for part, column in columns if column not in (None, NO_COLUMN)
    }


def _is_headed(rows: list[list[str]], name: str) -> bool:
    """Say whether the first line of a table is a header, if that is clear."""
    known, numbers = _has_known(rows[0]), any(map(NUMBER.fullmatch, rows[0]))
    if known and numbers:
        first = " ".join(rows[0])[:_SHOWN]
        msg = (
            f"{name}: cannot tell whether its first line, {first!r}, "
            "is a header; if it is, give the names of the columns instead of numbers"
        )
        raise FormatError(msg)
    return known or _has_words_above_numbers(rows)


def _mark_of_table(lines: list[Line], format_name: str | None) -> str:
    """Return what separates the columns; a comma where there is only one."""
    marks = marks_of(format_name)
    for mark in marks:
        names = [field.partition(":")[0] for field in split(lines[0].text, mark)]
        if len(names) > 1 and _has_known(names):
            return mark
    return mark_of(lines, marks) or ("," if "," in marks else marks[0])


def _has_known(names: Sequence[str]) -> bool:
    return any(name.casefold() in NAMES_OF_TABLES for name in names)


def _not_text(opened: Opened, told: Format | None) -> Sniffed | None:
    """Return what a file is, if it is not text in fields."""
    head = opened.head
    if not head:
        msg = f"{opened.name}: the file is empty"
        raise NoRowsError(msg)
    _refuse_binary(head, opened.name)
    if told is not None and not told.is_text_in_fields:
        return Sniffed(told.name)
    for entry in FORMATS.values():
        detected = told is None and entry.detect is not None and entry.detect(head)
        if detected or (entry.magic and head.startswith(entry.magic)):
            return Sniffed(entry.name)
    return None


def _refuse_binary(head: bytes, name: str) -> None:
    """Refuse what is known and cannot be read."""
    refused = {
        b"\x80\x02": "a pickle, which can run any code",
        b"\x80\x03": "a pickle, which can run any code",
        b"\x80\x04": "a pickle, which can run any code",
        b"\x80\x05": "a pickle, which can run any code",
        b"\x93NUMPY": "a NumPy array; load it and use from_scores or from_ranked",
        b"SQLite format 3": "a database",
        b"\x89HDF": "an HDF5 file",
    }
    for magic, word in refused.items():
        if head.startswith(magic):
            msg = f"{name}: cannot be read, as it is {word}"
            raise FormatError(msg)


def _text(opened: Opened, role: Role, how: Reading) -> Sniffed:
    format_name = how.format
    lines = first_lines(opened)
    first = lines[0].text
    if format_name in {"trec", "trec-loose"}:
        return _trec(lines, role, format_name)
    if format_name == "msmarco":
        parts = ("query", "item", "rank" if role == "run" else "grade")
        return Sniffed("msmarco", "\t" if "\t" in first else "", parts=parts)
    if format_name == "movielens" or (
        format_name is None
        and first.count("::") in {2, 3}
        and any(map(_in_colons, lines))
    ):
        return _movielens(lines, opened.name)
    for mark in marks_of(format_name):
        fields = split(first, mark)
        if len(fields) > 1 and all(map(TYPED.fullmatch, fields)):
            names = [field.rpartition(":")[0] for field in fields]
            return named("recbole", mark, names, lines)
        if len(fields) > 1 and is_header(fields):
            return named(format_name or _kind_of_text(mark), mark, fields, lines)
    n_words = mode(len(line.text.split()) for line in lines)
    if (
        format_name is None
        and n_words in _TREC.values()
        and not _is_rated([split(line.text, "\t") for line in lines])
    ):
        return _trec(lines, role, "trec")
    if format_name is None and how.more_words and all(map(_goes_on, lines)):
        return _trec(lines, role, "trec")
    return _unnamed(lines, role, how, opened.name, format_name)


def _kind_of_text(mark: str) -> str:
    return "tsv" if mark == "\t" else "csv"


def _goes_on(line: Line) -> bool:
    """Say whether a line is one of a TREC run, with or without words after its tag."""
    words = line.text.split()
    return len(words) >= _TREC["run"] and all(map(NUMBER.fullmatch, words[3:5]))


def _trec(lines: list[Line], role: Role, kind: str) -> Sniffed:
    """TREC text; a first line with a word for a score is a header."""
    first = lines[0].text
    mark = "\t" if first.count("\t") == _TREC[role] - 1 else " "
    column = 4 if role == "run" else 3
    words = [line.text.split() for line in lines[:2]]
    headed = (
        len(words) > 1
        and len(words[0]) == len(words[1]) == _TREC[role]
        and is_header(words[0])
        and NUMBER.fullmatch(words[1][column])
    )
    if headed:
        said = (f"the first line is taken as a header: {first[:_SHOWN]}",)
        line = lines[0].number + 1
        return Sniffed(kind, mark, skip=lines[0].end, line=line, said=said)
    return Sniffed(kind, mark)


def _in_colons(line: Line) -> bool:
    """Say whether a line is a rating of MovieLens; ids elsewhere may have ``::``."""
    fields = line.text.split("::")
    return len(fields) in {3, 4} and all(
        NUMBER.fullmatch(f.strip()) for f in fields[2:]
    )


def _movielens(lines: list[Line], name: str) -> Sniffed:
    mark = "::" if "::" in lines[0].text else "\t"
    n = len(lines[0].text.split(mark))
    if n not in {3, 4}:
        msg = (
            f"{name}: expected user, item, rating and time, separated by '::' or tabs "
            f"as in MovieLens, got {n} columns"
        )
        raise FormatError(msg)
    parts: tuple[str, ...] = ("query", "item", "value", "time")
    return Sniffed("movielens", mark, parts=parts[:n])


def _is_rated(rows: list[list[str]]) -> bool:
    """Say whether these are ratings with their time, as in MovieLens' u.data."""
    return all(
        len(row) == 4  # noqa: PLR2004 - user, item, rating, time
        and NUMBER.fullmatch(row[2])
        and _WHOLE.fullmatch(row[3])
        and float(row[3]) >= _EPOCH
        for row in rows
    )


def _unnamed(
    lines: list[Line], role: Role, how: Reading, name: str, format_name: str | None
) -> Sniffed:
    """Columns without known names: by their number and content."""
    first = lines[0].text
    mark = mark_of(
        lines, marks_of(format_name) if format_name else (*marks_of(format_name), "")
    )
    if mark is None:
        msg = (
            f"{name}: cannot tell its format from the first line, {first[:_SHOWN]!r}; "
            "TREC text has 6 columns in a run and 4 in judgements; say which it is "
            f"with format= or --format: {', '.join(names_for(role))}"
        )
        raise FormatError(msg)
    rows = [split(line.text, mark) for line in lines]
    columns = _told_columns(how)
    by_place = list(columns.values())
    kind = format_name or _kind_of_text(mark)
    by_number = _by_number(how)
    if _has_words_above_numbers(rows) or (
        set(by_place) & set(rows[0]) - {""} and not by_number
    ):
        return named(kind, mark, rows[0], lines)
    if by_number:
        return Sniffed(kind, mark, parts=_told_parts(columns, len(rows[0]), name))
    if how.columns:
        shown = ", ".join(map(str, how.columns.values()))[:_SHOWN]
        msg = (
            f"{name}: has no header with {shown}; its first line is "
            f"{first[:_SHOWN]!r}; give columns by number, from 1, as in --col query=1"
        )
        raise ColumnNotFoundError(msg)
    return _by_content(rows, role, name, mark, kind)


def _has_words_above_numbers(rows: list[list[str]]) -> bool:
    """Say whether the first line must be a header: words over numbers."""
    first, *rest = rows
    if not rest or any(map(NUMBER.fullmatch, first)):
        return False
    return any(NUMBER.fullmatch(field) for field in rest[0])


def _told_parts(columns: Mapping[str, str], n: int, name: str) -> tuple[str, ...]:
    parts = [""] * n
    for part, place in columns.items():
        if not 1 <= int(place) <= n:
            msg = f"{name} has no column {place}; it has {n}, counted from 1"
            raise ParameterError(msg)
        parts[int(place) - 1] = str(part)
    return tuple(parts)


def _by_content(
    rows: list[list[str]], role: Role, name: str, mark: str, kind: str
) -> Sniffed:
    n = len(rows[0])
    last = [row[2] for row in rows if len(row) > 2]  # noqa: PLR2004 - the third column
    numeric = bool(last) and all(map(NUMBER.fullmatch, last))
    if n == 2 and mark:  # noqa: PLR2004 - query and item
        if not any(NUMBER.fullmatch(field) for row in rows for field in row):
            msg = (
                f"{name}: cannot tell whether its first line, {' '.join(rows[0])!r}, "
                "is a header; if it is, name its columns, columns={'query': "
                f"{rows[0][0]!r}, 'item': {rows[0][1]!r}}}; if not, number them, "
                "columns={'query': 1, 'item': 2} or --col query=1 --col item=2"
            )
            raise FormatError(msg)
        parts: tuple[str, ...] = ("query", "item")
    elif n == 3 and numeric:  # noqa: PLR2004 - and a number
        third = "grade" if role == "qrels" else _third(rows, name)
        parts = ("query", "item", third)
        kind = "msmarco" if third == "rank" else kind
    elif n == 4 and _is_rated(rows):  # noqa: PLR2004 - and a time
        parts, kind = ("query", "item", "value", "time"), "movielens"
    elif not mark:
        return Sniffed("trec", " ")  # whose reader says which line is wrong
    else:
        msg = (
            f"{name}: {n} columns without known names; say what they are, e.g. "
            f"columns={{'query': 1, 'item': 2}} or --col query=1 --col item=2, counted "
            "from 1, or give the format with format= or --format"
        )
        raise FormatError(msg)
    words = ", ".join(
        f"{part} = column {number}" for number, part in enumerate(parts, 1)
    )
    said = (f"no header; {words}",)
    return Sniffed(kind, mark, parts=parts, said=said)


def _third(rows: list[list[str]], name: str) -> str:
    """Say whether the third column of a run is a rank or a score, if that is clear."""
    rows = [row for row in rows if len(row) > 2]  # noqa: PLR2004 - the reader tells
    values = [row[2] for row in rows]
    if not all(map(_WHOLE.fullmatch, values)):
        return "score"
    numbers = [float(value) for value in values]
    steps = [
        after == before + 1 if row[0] == above[0] else after in {0, 1}
        for (above, row), (before, after) in zip(
            pairwise(rows), pairwise(numbers), strict=True
        )
    ]
    if numbers[0] in {0, 1} and all(steps) and len(rows) > 1:
        return "rank"
    msg = (
        f"{name}: the third column may be a rank or a score; say which with "
        "columns={'query': 1, 'item': 2, 'rank': 3} or 'score': 3, that is "
        "--col query=1 --col item=2 --col rank=3"
    )
    raise FormatError(msg)
