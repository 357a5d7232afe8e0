"""TREC text: ``query Q0 item rank score tag``, and ``query 0 item grade`` for qrels.

Fields are separated by any white space; a line that begins with ``#`` is a comment, as
in trec_eval 10, even if it has all fields: such lines, which may be rows with an id
that begins so, are counted in a note, of a run in its first lines. The rank column is
not read, but for the first lines, where ranks are compared with scores.
A file is read in parts of whole lines, so that memory holds one part. A regular part,
with one space between fields and nothing else, goes straight to the reader of polars;
any other part is brought into that form first.
"""

from __future__ import annotations

import codecs
import math
import re
from contextlib import closing
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from rankine._base.contradiction import (
    FIRST_BYTES,
    NO_CONTRADICTION,
    Contradiction,
    of_first_rows,
)
from rankine._base.text import Counted
from rankine._io.bytes import UNPACKED_BY_POLARS, decoded
from rankine._io.fields import NUMBER_IN_BYTES
from rankine._io.rows import in_one
from rankine._io.sources import Rows, Stream, with_rows
from rankine.errors import DataError, FormatError

if TYPE_CHECKING:
    from collections.abc import Generator, Sequence

    from rankine._io.bytes import Opened
    from rankine._io.columns import Role
    from rankine._io.fields import Sniffed
    from rankine._io.sources import Reading

_FIELDS = {
    "run": ("query", "q0", "item", "rank", "value", "tag"),
    "ranks": ("query", "q0", "item", "value", "score", "tag"),
    "qrels": ("query", "subtopic", "item", "value"),
    "msmarco": ("query", "item", "value"),
}
_RANKED = {"ranks", "msmarco"}
_BOM = codecs.BOM_UTF8
_WANTED = ("query", "item", "value")
_TYPES = {"value": pl.Float64, "rank": pl.Float64}
_LARGE, _LARGE_PACKED = 1 << 26, 1 << 24
"""Bytes of text up to which the tag of every line is looked at."""
_TAIL = 1 << 16
"""Bytes in which the last line is looked for."""
_LITTLE = 1 << 18
_CONTROL = re.compile(rb"[\x00-\x08\x0e-\x1f]")
_SHOWN = 120
"""Characters of a bad line that are shown."""


@dataclass(frozen=True, slots=True)
class Layout:
    """How the lines of a file are to be split.

    Attributes:
        kind: ``run``, ``ranks`` (a run by its rank column), ``qrels``, or ``msmarco``:
            query, item and rank alone.
        sniffed: what separates fields in most lines, a space or a tab, and where the
            first of them is.
        how: what the user says of the file.
        every: whether every line is known to have its last field. Reading that field
            too costs a quarter of the time, which large files are spared.
    """

    kind: str
    sniffed: Sniffed
    how: Reading
    every: bool = True

    @property
    def mark(self) -> str:
        """What separates fields in most lines."""
        return self.sniffed.mark or " "

    @property
    def more_words(self) -> bool:
        """Whether words after the tag are ignored, as in trec_eval."""
        named = self.how.format is not None
        return self.how.more_words and not named and self.kind in {"run", "ranks"}

    @property
    def wanted(self) -> tuple[str, ...]:
        """The names of the fields that are kept."""
        if self.kind == "qrels" and self.how.subtopics:
            return (*_WANTED, "subtopic")
        if self.kind == "run" and self.how.keep_rank:
            return (*_WANTED, "rank")
        return _WANTED

    @property
    def read(self) -> tuple[str, ...]:
        """The names of the fields that are read."""
        last = self.fields[-1]
        known = last in self.wanted or not self.every
        return self.wanted if known else (*self.wanted, last)

    @property
    def fields(self) -> tuple[str, ...]:
        """The names of the fields of a line."""
        return _FIELDS[self.kind]


def read_trec(
    opened: Opened, sniffed: Sniffed, role: Role, how: Reading
) -> Rows | Stream:
    """Read judgements, or a run in parts whenever it is asked for."""
    if how.grades is not None:
        msg = (
            f"{opened.name}: grades in words need a table with a header, not TREC text"
        )
        raise FormatError(msg)
    layout = _layout(opened, sniffed, role, how)
    notes = sniffed.said
    if layout.kind == "msmarco":
        notes = notes or (f"{opened.name}: no header; query, item and rank",)
    elif how.columns:
        said = "the columns of TREC text are fixed; columns= and --col are ignored"
        notes += (f"{opened.name}: {said}",)
    if role == "run":
        notes += _hidden(opened.head.split(b"\n"), layout, opened.name)
    stream = Stream(
        lambda: with_rows(_parts(opened, layout), opened.name, role),
        opened.name,
        notes,
        ranked=layout.kind in _RANKED,
        tag=None if layout.kind == "msmarco" else lambda: _tag(opened, layout),
        n_rows=opened.n_lines,
        contradiction=_contradiction(opened, layout),
    )
    return replace(in_one(stream), role=role) if role == "qrels" else stream


def _hidden(lines: list[bytes], layout: Layout, name: str) -> tuple[str, ...]:
    """Count the comments that could be rows."""
    fields = [line.split() for line in lines if line[:1] == b"#"]
    n_fields = len(layout.fields)
    n = sum(len(own) == n_fields and _has_numbers(own, layout) for own in fields)
    fate = (
        " starting with # but otherwise complete: left out as a comment, as in "
        "trec_eval 10"
    )
    return (Counted(f"{name}: ", n, "line", fate),) if n else ()


def _contradiction(opened: Opened, layout: Layout) -> Contradiction:
    """Compare the ranks of the first rows with the scores."""
    if layout.kind != "run":
        return NO_CONTRADICTION
    with_ranks = replace(layout, how=replace(layout.how, keep_rank=True))
    sniffed = layout.sniffed

    def head() -> tuple[pl.DataFrame, bool]:
        text, more = opened.first_lines(FIRST_BYTES, sniffed.skip)
        frame = _regular(with_ranks, text)
        if frame is None:
            rows = _read_irregular(text, with_ranks, opened.name, sniffed.line)
            frame = rows.frame
        return frame, more

    return of_first_rows(head, lower_is_better=layout.how.lower_is_better)


def _layout(opened: Opened, sniffed: Sniffed, role: Role, how: Reading) -> Layout:
    if sniffed.parts:
        return Layout("msmarco", sniffed, how)
    kind = "qrels" if role == "qrels" else "ranks" if how.by_rank else "run"
    large = opened.size > (_LARGE_PACKED if opened.packing else _LARGE)
    return Layout(kind, sniffed, how, every=not large)


def _tag(opened: Opened, layout: Layout) -> str:
    """Return the tag of the last line, which trec_eval prints as ``runid``."""
    if opened.path is None:
        end = opened.read()[-_TAIL:]
    else:
        with opened.path.open("rb") as file:
            size = file.seek(0, 2)
            file.seek(max(0, size - _TAIL))
            end = file.read()
    lines = [line for line in end.split(b"\n") if line.strip() and line[:1] != b"#"]
    if not lines:
        return ""
    words = lines[-1].split()
    if layout.more_words:
        words = words[: len(layout.fields)]
    return words[-1].decode(errors="backslashreplace")


def _parts(opened: Opened, layout: Layout) -> Generator[Rows, None, None]:
    line = layout.sniffed.line
    with closing(
        opened.parsed(layout.sniffed.skip, partial(_regular, layout))
    ) as parts:
        for part, frame in parts:
            if frame is None:
                rows = _read_irregular(part, layout, opened.name, line)
                line += part.count(b"\n") + (not part.endswith(b"\n"))
            else:
                rows = Rows(frame, opened.name, line=line)
                line += frame.height
            del part, frame
            yield rows


def _regular(layout: Layout, part: bytes) -> pl.DataFrame | None:
    """Parse a part if it is regular, which most are."""
    frame = _parse(part, layout)
    if frame is None or not _is_regular(part, frame, layout):
        if b"\r" not in part:
            return None
        plain = part.replace(b"\r\n", b"\n")
        frame = _parse(plain, layout)
        if frame is None or not _is_regular(plain, frame, layout):
            return None
    return _ordered(frame.select(layout.wanted), layout)


def _ordered(frame: pl.DataFrame, layout: Layout) -> pl.DataFrame:
    """Turn ranks into values that fall from the top."""
    if layout.kind in _RANKED:
        return frame.with_columns(-pl.col("value"))
    return frame


def _is_regular(part: bytes, frame: pl.DataFrame, layout: Layout) -> bool:
    """Say whether single marks separate fields, and no line is a comment.

    A byte that is not above a space in ASCII is a mark, the end of a line or a
    character that does not belong here. If these add up, no two are adjacent and every
    line has its last field, then no line has too many. Where the last field is not
    read, only the marks are looked at: a control character passes for part of an id,
    and a line with a field too many may make up for one with a field too few in the
    same part.
    """
    if any(frame.null_count().row(0)):
        return False
    if part[:1] == b"#" or (b"#" in part and b"\n#" in part):
        return False
    if _BOM[:1] in part and _BOM in part:
        return False
    data = np.frombuffer(part, np.uint8)
    mark = ord(layout.mark)
    n_blank = 0
    # A little at a time, which stays in the cache, and one byte more for two in a row.
    for begin in range(0, len(data), _LITTLE):
        some = data[begin : begin + _LITTLE + 1]
        blank = some <= ord(" ") if layout.every else some == mark
        n_blank += int(np.count_nonzero(blank[:_LITTLE]))
        if (blank[1:] & blank[:-1]).any():
            return False
    marks = (len(layout.fields) - 1) * frame.height
    ends = frame.height - (not part.endswith(b"\n"))
    return n_blank == (marks + ends if layout.every else marks)


def _parse(part: bytes, layout: Layout, mark: str | None = None) -> pl.DataFrame | None:
    fields = layout.fields
    if part.startswith(UNPACKED_BY_POLARS):
        return None
    try:
        return pl.read_csv(
            part,
            separator=mark or layout.mark,
            has_header=False,
            schema=_types(fields),
            columns=[fields.index(field) for field in layout.read],
            quote_char=None,
        )
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException):
        return None


def _read_irregular(part: bytes, layout: Layout, name: str, line: int) -> Rows:
    """Bring a part into regular form, keeping count of the lines."""
    lines = part.replace(b"\r\n", b"\n").replace(b"\r", b"\n").split(b"\n")
    kept: list[bytes] = []
    number: list[int] = []
    n_fields = len(layout.fields)
    for index, text in enumerate(lines):
        # A file that others were appended to may have their marks inside it.
        if _BOM in text:
            text = text.lstrip().removeprefix(_BOM)  # noqa: PLW2901
        if not text or text[:1] == b"#":
            continue
        fields = text.split()
        if not fields:
            continue
        if len(fields) != n_fields:
            fitted = _fitted(fields, layout)
            if fitted is None:
                where = f"{name}:{line + index}"
                raise _wrong_fields(fields, text, layout.kind, where, first=not kept)
            fields = fitted
        control = None if layout.how.lenient else _CONTROL.search(text)
        if control:
            msg = (
                f"{name}:{line + index}: has the control character "
                f"\\x{control[0][0]:02x}, which should not be in an id; "
                "lenient=True or --lenient keeps it as it is"
            )
            raise DataError(msg)
        kept.append(b" ".join(fields))
        number.append(line + index)
    notes = _hidden(lines, layout, name) if layout.kind == "qrels" else ()
    if not kept:
        empty = pl.DataFrame(schema=_types(layout.wanted))
        return Rows(empty, name, lines=np.zeros(0, dtype=np.int64), notes=notes)
    frame = _parse(b"\n".join(kept), layout, " ")
    if frame is None or frame.height != len(kept) or any(frame.null_count().row(0)):
        frame = _parse_slowly(kept, number, layout, name)
    frame = _ordered(frame.select(layout.wanted), layout)
    return Rows(frame, name, lines=np.array(number, dtype=np.int64), notes=notes)


def _fitted(fields: list[bytes], layout: Layout) -> list[bytes] | None:
    """Return the expected number of fields, if only the tag is odd and may be.

    The fields before the tag must be there, with numbers where they belong.
    """
    n_names = len(layout.fields) - 1
    if len(fields) < n_names or not _has_numbers(fields, layout):
        return None
    if layout.more_words and len(fields) > n_names:
        return fields[: n_names + 1]
    if layout.sniffed.format == "trec-loose":
        return [*fields[:n_names], b"_".join(fields[n_names:]) or b"_"]
    return None


def _has_numbers(fields: list[bytes], layout: Layout) -> bool:
    """Say whether there are numbers where they belong."""
    return all(
        NUMBER_IN_BYTES.fullmatch(field)
        for name, field in zip(layout.fields, fields, strict=False)
        if name in {"rank", "value", "score"}
    )


def _wrong_fields(
    fields: list[bytes], text: bytes, kind: str, where: str, *, first: bool
) -> FormatError:
    expected = len(_FIELDS[kind])
    other = len(_FIELDS["run" if kind == "qrels" else "qrels"])
    hint = ""
    if len(fields) == other and first:
        looks = (
            "this looks like a run" if kind == "qrels" else "these look like judgements"
        )
        hint = f"; {looks}: are the arguments swapped?"
    elif kind in {"run", "ranks"} and len(fields) >= expected - 1:
        hint = "; a tag that is missing or has spaces is read with format 'trec-loose'"
    else:
        hint = "; if it is not TREC text, say what it is with format= or --format"
    shown = text[:_SHOWN].decode(errors="backslashreplace")
    msg = f"{where}: expected {expected} columns, got {len(fields)}{hint} ({shown!r})"
    return FormatError(msg)


def _parse_slowly(
    kept: list[bytes], number: list[int], layout: Layout, name: str
) -> pl.DataFrame:
    """Read line by line, to accept what polars does not and to say what is wrong."""
    columns: dict[str, list[str | float]] = {field: [] for field in layout.wanted}
    for text, line in zip(kept, number, strict=True):
        fields = dict(zip(layout.fields, text.split(b" "), strict=True))
        where = f"{name}:{line}"
        for field, column in columns.items():
            value = fields[field]
            if field in _TYPES:
                column.append(_number(value, field, layout, where))
            else:
                column.append(decoded(value, where, " of an id"))
    return pl.DataFrame(columns, schema=_types(layout.wanted))


def _types(fields: Sequence[str]) -> dict[str, Any]:
    return {field: _TYPES.get(field, pl.String) for field in fields}


def _number(value: bytes, field: str, layout: Layout, where: str) -> float:
    if NUMBER_IN_BYTES.fullmatch(value):
        return float(value)
    if field == "rank":
        return math.nan  # it is not used
    word = "rank" if layout.kind in _RANKED else "score"
    word = "grade" if layout.kind == "qrels" else word
    shown = value.decode(errors="backslashreplace")
    msg = f"{where}: the {word} is {shown!r}, not a number"
    raise DataError(msg)
