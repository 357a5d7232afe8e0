"""Text in columns: CSV and TSV, with or without a header, and their relatives."""

from __future__ import annotations

import csv
import io
import re
from contextlib import closing
from dataclasses import replace
from itertools import chain
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from rankine._base.contradiction import FIRST_BYTES, NO_CONTRADICTION, Contradiction
from rankine._base.limits import limits
from rankine._io.bytes import UNPACKED_BY_POLARS, after, decoded
from rankine._io.cells import holds_lists
from rankine._io.columns import Role, names_lists, swap_warnings, word_for
from rankine._io.frames import reason, refuse_distances, resolved, rows_of
from rankine._io.rows import may_be_distance
from rankine._io.sources import Rows, Stream, with_rows
from rankine._io.tables import OpenTable
from rankine.errors import FormatError, RankineError

if TYPE_CHECKING:
    from collections.abc import (
        Collection,
        Generator,
        Iterator,
        Mapping,
        Sequence,
    )

    from rankine._base.arrays import AnyArray, Bools, Ints
    from rankine._io.bytes import Opened
    from rankine._io.fields import Sniffed
    from rankine._io.sources import Reading
    from rankine._io.tables import Loaded

_END, _QUOTE = ord("\n"), ord('"')


def read_separated(
    opened: Opened, sniffed: Sniffed, role: Role, how: Reading
) -> Rows | Stream:
    """Read text in columns; ids stay text, so that 007 is not 7."""
    headed = sniffed.names is not None
    if not headed:
        # What the user said about the columns is in their names.
        sniffed = replace(sniffed, names=_names(sniffed, role))
        how = replace(how, columns=None)
    table = open_csv(opened, sniffed)
    column_of = resolved(table, role, how)
    found = NO_CONTRADICTION
    if "score" in column_of and not how.by_rank and not how.keep_rank:
        found = _contradiction(opened, sniffed, column_of, how)
        column_of.pop("rank", None)  # which is not read, as that takes time
    source: Rows | Stream
    if role == "run" and _in_parts(opened, sniffed, how, column_of):
        source = _stream(opened, sniffed, column_of, how)
    else:
        source = rows_of(table, role, how, column_of)
    # Columns without a header have names of our own; ratings of MovieLens have users.
    unit = "user" if sniffed.format == "movielens" else ""
    unit = word_for(column_of["query"]) if headed else unit
    found = found if found.n_lists else source.contradiction
    return replace(source, contradiction=found, unit=unit)


def _contradiction(
    opened: Opened, sniffed: Sniffed, column_of: Mapping[str, str], how: Reading
) -> Contradiction:
    """Compare the ranks of the first rows with the scores, where there are both."""
    if "rank" not in column_of:
        return NO_CONTRADICTION
    try:
        text, more = opened.first_lines(FIRST_BYTES, sniffed.skip)
        first = open_csv(opened, replace(sniffed, skip=0), text)
        found = rows_of(first, "run", how, column_of).contradiction
    except RankineError:
        return NO_CONTRADICTION  # which will be told when all rows are read
    return found._replace(cut=found.cut or more)


def _in_parts(
    opened: Opened, sniffed: Sniffed, how: Reading, column_of: Mapping[str, str]
) -> bool:
    """Say whether a run is read in parts: one with scores, in plain text, not small.

    What only all of it can show is not: whether numbers are distances.
    """
    return (
        opened.cut
        and (
            how.memory is not None
            or not may_be_distance(column_of.get("score", ""), how)
        )
        and (len(column_of) == 3 or how.memory is not None)  # noqa: PLR2004 - and a value
        and sniffed.mark != "::"
        and not sniffed.padded
        and b"\r" not in opened.head.replace(b"\r\n", b"")
        and not _has_lists(opened, sniffed, column_of["item"])
    )


def _has_lists(opened: Opened, sniffed: Sniffed, item: str) -> bool:
    """Say whether cells of items hold lists, by their name or the first lines."""
    if names_lists(item, "run"):
        return True
    text, _ = opened.first_lines(FIRST_BYTES, sniffed.skip)
    try:
        first = open_csv(opened, replace(sniffed, skip=0), text).load([item], ())[0]
    except RankineError:
        return False  # which will be told when all rows are read
    return holds_lists(first[item], "run")


def _stream(
    opened: Opened, sniffed: Sniffed, column_of: Mapping[str, str], how: Reading
) -> Stream:
    """Read a run in parts as long as they are regular, and then the rest as one."""
    refuse_distances(column_of, "run", how, opened.name)
    ranked = "rank" in column_of and (how.by_rank or "score" not in column_of)
    value = column_of.get("rank" if ranked else "score")
    numeric = [] if value is None else [value]
    reader = _Reader(opened.name, sniffed, list(column_of.values()), numeric)
    columns = [
        pl.col(column_of["query"]).alias("query"),
        pl.col(column_of["item"]).alias("item"),
        *(
            (-pl.col(name) if ranked else pl.col(name)).alias("value")
            for name in numeric
        ),
    ]

    def parse(data: bytes) -> pl.DataFrame | None:
        plain = data.replace(b"\r\n", b"\n") if b"\r" in data else data
        frame = reader.straight(plain)
        return None if frame is None else frame.select(columns)

    def parts() -> Generator[Rows, None, None]:
        line = sniffed.line
        rest: list[bytes] = []

        def irregular() -> Rows:
            left = replace(sniffed, skip=0, line=line)
            rows = rows_of(
                open_csv(opened, left, b"".join(rest)), "run", how, column_of
            )
            return replace(rows, notes=())

        with closing(opened.parsed(sniffed.skip, parse)) as parsed:
            for data, frame in parsed:
                if rest or frame is None:
                    rest.append(data)
                    # A quote that is open may be closed in the next part.
                    quotes = sum(text.count(b'"') for text in rest)
                    if how.memory is not None and quotes % 2 == 0:
                        yield irregular()
                        line += sum(text.count(b"\n") for text in rest)
                        rest.clear()
                    continue
                yield Rows(frame, opened.name, line)
                line += frame.height
                del data, frame
        if rest:
            yield irregular()

    return Stream(
        lambda: with_rows(parts(), opened.name),
        opened.name,
        sniffed.said,
        ranked=ranked,
        warnings=()
        if ranked
        else swap_warnings(column_of, "run", how.columns, opened.name),
        n_rows=opened.n_lines,
    )


def open_csv(opened: Opened, sniffed: Sniffed, text: bytes | None = None) -> OpenTable:
    """Open text in named columns; a column stays text if one value is not a number.

    Args:
        opened: the file.
        sniffed: what is known of it.
        text: what is left of it, if not all is to be read.
    """
    names = sniffed.names or ()
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        where = f"{opened.name}:{sniffed.line - 1}"
        msg = f"{where}: the column {twice!r} appears twice; give it once"
        raise FormatError(msg)

    def load(wanted: Sequence[str], numeric: Collection[str] = ()) -> Loaded:
        numbers = [name for name in wanted if name in numeric]
        reader = _Reader(opened.name, sniffed, wanted, numbers)
        frame, lines = reader.frame(opened.read() if text is None else text)
        if sniffed.padded:
            frame = frame.with_columns(pl.col(pl.String).str.strip_chars())
        several = [name for name in wanted if name in sniffed.lists]
        frame = frame.with_columns(pl.col(several).str.split(" "))
        return frame, Rows(pl.DataFrame(), opened.name, sniffed.line, lines=lines)

    def batches(
        wanted: Sequence[str], _: Collection[str], size: int
    ) -> Iterator[Loaded]:
        # Numbers stay text, so that all batches have the same types.
        line, rest = sniffed.line, b""
        blocks = opened.lines(opened.part_bytes(size))
        for block in chain(after(blocks, sniffed.skip), [b""]):
            rest += block
            # With an odd number of quotes, a field goes on in the next block.
            if rest and (rest.count(b'"') % 2 == 0 or not block):
                left = replace(sniffed, skip=0, line=line)
                line += rest.count(b"\n")
                part, rest = open_csv(opened, left, rest), b""
                # Without a name, so that they are gone before more is read.
                yield part.load(wanted, ())

    return OpenTable(
        opened.name,
        names,
        load,
        notes=sniffed.said,
        batches=batches if text is None else None,
    )


def _names(sniffed: Sniffed, role: Role) -> tuple[str, ...]:
    """Return the names of columns without a header: those of their parts."""
    value = "grade" if role == "qrels" else "score"
    return tuple(
        {"value": value, "": f"column {number}"}.get(part, part)
        for number, part in enumerate(sniffed.parts, 1)
    )


class _Reader:
    """Reads some columns: fast if the text is regular, otherwise line by line."""

    def __init__(
        self,
        name: str,
        sniffed: Sniffed,
        wanted: Sequence[str],
        numeric: Sequence[str],
    ) -> None:
        self.name = name
        self.sniffed = sniffed
        self.names = sniffed.names or ()
        self.wanted = wanted
        self.numeric = numeric
        self.mark = "\t" if sniffed.mark == "::" else sniffed.mark or " "

    def frame(self, data: bytes) -> tuple[pl.DataFrame, Ints | None]:
        """Return the wanted columns, and the line of each row if lines are not rows.

        A column of numbers stays text if one of them is not a number, so that the
        reader can say which.
        """
        skip = self.sniffed.skip
        if self.sniffed.mark != "::":
            frame = self._by_line(data, data[:skip], self.numeric, ())
            if frame is not None:
                return frame, None
        rest = data[skip:]
        text = self._rows(rest)
        if self.sniffed.mark == "::" or text != rest:
            frame = self._by_line(text, b"", self.numeric, ())
            if frame is not None:
                return frame, None
        kept, lines = self._leave_out(text, self.sniffed.line)
        if not kept:
            return pl.DataFrame(schema=dict.fromkeys(self.wanted, pl.String)), None
        self._refuse_lines(kept, lines)
        parsed = self._parse(b"\n".join(kept), ())
        if isinstance(parsed, str):
            self._refuse_quote(kept, lines)
            word = "TSV" if self.mark == "\t" else "CSV"
            msg = f"{self.name}: cannot be read as {word} ({parsed})"
            raise FormatError(msg)
        return parsed, lines if len(lines) == parsed.height else None

    def straight(self, data: bytes) -> pl.DataFrame | None:
        """Read text in which each line is a row without empty cells; do not copy it."""
        frame = self._by_line(data, b"", self.numeric)
        return None if frame is None or _has_gaps(frame) else frame

    def _by_line(
        self, data: bytes, before: bytes, *numeric: Sequence[str]
    ) -> pl.DataFrame | None:
        """Read text in which each line is a row, without a copy of it.

        Args:
            data: the text.
            before: what it begins with and is not read, such as a header.
            numeric: the columns of numbers; if they cannot be read as such, or a cell
                of theirs is empty, the next ones instead.
        """
        text = _Text(data, self.mark)
        if not text.is_plain or not data:
            return None
        head = _Text(before, self.mark)
        n_before = before.count(b"\n")
        n_rows = text.n_lines - n_before
        if text.n_marks - head.n_marks != n_rows * (len(self.names) - 1):
            return None
        # The last column too: if every line has it and the marks add up, none has more.
        columns = tuple(dict.fromkeys((*self.wanted, self.names[-1])))
        for names in dict.fromkeys(map(tuple, numeric)):
            frame = self._parse(data, names, n_before, columns)
            if isinstance(frame, str):
                continue
            if frame.height != n_rows:
                return None
            if not _has_gaps(frame):
                return frame.select(self.wanted)
            # A number that is null may have been an empty text in quotes, or blanks.
            if not _has_gaps(frame.select(names)):
                whole = text.is_even(len(self.names), len(before))
                whole = whole and not self._may_be_blank(frame)
                return frame.select(self.wanted) if whole else None
        return None

    def _may_be_blank(self, frame: pl.DataFrame) -> bool:
        """Say whether a line may hold blanks and marks alone, if those are blanks too.

        Such a line is left out, as is an empty one.
        """
        if len(self.names) > 1 and not self.mark.isspace():
            return False
        texts = pl.col(pl.String)
        blank = texts.is_null() | (texts.str.strip_chars() == "")
        return pl.Float64 not in frame.dtypes and bool(
            frame.select(pl.all_horizontal(blank).any()).item()
        )

    def _rows(self, data: bytes) -> bytes:
        """Return the lines after the header, whose ends are those of this system."""
        if self.sniffed.mark == "::":
            if b"\t" in data:
                msg = f"{self.name}: has both tabs and '::', and cannot be read"
                raise FormatError(msg)
            data = data.replace(b"::", b"\t")
        if b"\r" in data:
            data = data.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
        if self.sniffed.padded and b'"' in data:
            # A quote after a blank is a quote, which polars does not see.
            data = data.replace(self.mark.encode() + b' "', self.mark.encode() + b'"')
        return data

    def _parse(
        self,
        source: bytes,
        numeric: Sequence[str],
        skip: int = 0,
        columns: Sequence[str] = (),
    ) -> pl.DataFrame | str:
        """Return some columns, or a text that says why they cannot be read."""
        if source.startswith(UNPACKED_BY_POLARS):
            msg = f"{self.name}: its rows begin like compressed data, not text"
            raise FormatError(msg)
        schema = {
            name: pl.Float64 if name in numeric else pl.String for name in self.names
        }
        try:
            return pl.read_csv(
                source,
                separator=self.mark,
                has_header=False,
                skip_lines=skip,
                schema=schema,
                columns=sorted(map(self.names.index, columns or self.wanted)),
            )
        except (pl.exceptions.PolarsError, pl.exceptions.PanicException) as error:
            return reason(error)

    def _leave_out(self, text: bytes, first: int) -> tuple[list[bytes], Ints]:
        """Leave out empty lines and comments; return the others and their numbers.

        A line that begins with # and has all columns is not a comment: ids may begin
        with #.

        A quoted field may run over several lines, none of which is left out.
        """
        kept: list[bytes] = []
        numbers = []
        inside = False
        n_marks = len(self.names) - 1
        for number, line in enumerate(text.split(b"\n"), first):
            if inside:
                kept[-1] += b"\n" + line
            elif line.strip() and (
                line[:1] != b"#" or _Text(line, self.mark).n_marks == n_marks
            ):
                kept.append(line)
                numbers.append(number)
            else:
                continue
            inside ^= line.count(b'"') % 2 == 1
        return kept, np.array(numbers, dtype=np.int64)

    def _refuse_lines(self, kept: list[bytes], lines: Ints) -> None:
        """Raise for the first line that is not text or has too few or many fields."""
        for number, line in _numbered(kept, lines):
            decoded(line, f"{self.name}:{number}", " of the line")
        reader = csv.reader(
            io.StringIO(b"\n".join(kept).decode(), newline=""),
            delimiter=self.mark,
            strict=True,
        )
        index, got = 0, len(self.names)
        try:
            for index, row in enumerate(reader):  # noqa: B007 - where it stops is used
                got = len(row)
                if got not in {0, len(self.names)}:
                    break
            else:
                return
            why = f"expected {len(self.names)} columns, got {got}"
        except csv.Error as error:
            why = f"cannot be read as CSV ({error})"
            index += 1
        msg = f"{self.name}:{int(lines[min(index, len(lines) - 1)])}: {why}"
        raise FormatError(msg)

    def _refuse_quote(self, kept: list[bytes], lines: Ints) -> None:
        """Raise for a quote inside a field that does not begin with one."""
        mark = self.mark.encode()
        odd = re.compile(rb'(?:^|%b)[^"%b\n][^%b\n]*"' % ((re.escape(mark),) * 3))
        for number, line in _numbered(kept, lines):
            if odd.search(line):
                msg = (
                    f"{self.name}:{number}: there is a quote inside a field; double "
                    "it, and put the field in quotes"
                )
                raise FormatError(msg)


def _has_gaps(frame: pl.DataFrame) -> bool:
    """Say whether a cell is empty."""
    return any(frame.null_count().row(0)) if frame.width else False


def _numbered(kept: list[bytes], lines: Ints) -> Iterator[tuple[int, bytes]]:
    """Go through the lines of all rows; a quoted field may have several."""
    for row, first in zip(kept, lines.tolist(), strict=True):
        yield from enumerate(row.split(b"\n"), first)


class _Text:
    """What must be known about text before it is read: its lines, and irregularities.

    Attributes:
        n_lines: how many lines there are; the last may have no end.
        n_marks: how many marks there are between fields, and not in quotes.
        is_plain: whether there are no returns in it, and quotes only around whole
            fields of one line.
    """

    def __init__(self, data: bytes, mark: str) -> None:
        codes = np.frombuffer(data, np.uint8)
        self.n_lines = self.n_marks = 0
        self.is_plain = True
        self._codes, self._mark, self._inside = codes, ord(mark), False
        for ends, marks in self._marked():
            self.n_lines += int(np.count_nonzero(ends))
            self.n_marks += int(np.count_nonzero(marks))
            if not self.is_plain:
                return
        self.is_plain = not self._inside
        if len(codes) and codes[-1] != _END:
            self.n_lines += 1

    def is_even(self, n_fields: int, begin: int) -> bool:
        """Say whether all lines from a byte on have so many fields."""
        before = 0
        for ends, marks in self._marked(begin):
            found = np.flatnonzero(ends[ends | marks])
            first = n_fields - 1 - before % n_fields
            n = int(np.count_nonzero(ends)) + int(np.count_nonzero(marks))
            if not np.array_equal(found, np.arange(first, n, n_fields)):
                return False
            before += n
        return True

    def _marked(self, start: int = 0) -> Iterator[tuple[Bools, Bools]]:
        """Yield where lines end, and where marks outside quotes are, piece by piece."""
        self._inside, step = False, limits().scan_bytes
        for begin in range(start, len(self._codes), step):
            some = self._codes[begin : begin + step]
            ends, marks = some == _END, some == self._mark
            quotes = some == _QUOTE
            if self._inside or quotes.any():
                inside = self._quoted(begin, quotes)
                self.is_plain = self.is_plain and not (ends & inside).any()
                marks &= ~inside
            self.is_plain = self.is_plain and not (some == ord("\r")).any()
            yield ends, marks

    def _quoted(self, begin: int, quotes: Bools) -> Bools:
        """Mark what is in quotes; a quote that is not around a field is not plain."""
        odd = np.bitwise_xor.accumulate(quotes.view(np.uint8))
        inside = odd.view(np.bool_) ^ self._inside
        places = np.flatnonzero(quotes) + begin
        opening, closing = places[self._inside :: 2], places[not self._inside :: 2]
        before = self._codes[opening[opening > 0] - 1]
        after = self._codes[closing[closing < len(self._codes) - 1] + 1]
        self._inside = bool(inside[-1])
        if not (self._is_edge(before).all() and self._is_edge(after).all()):
            self.is_plain = False
        return inside

    def _is_edge(self, codes: AnyArray) -> Bools:
        """Say whether a byte may be next to a quote: a mark, a line end or a quote."""
        edges: Bools = (codes == self._mark) | (codes == _END) | (codes == _QUOTE)
        return edges
