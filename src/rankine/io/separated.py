"""Text in columns: CSV and TSV, with or without a header, and their relatives."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from rankine.errors import DataError, FormatError
from rankine.io.frames import from_frame
from rankine.io.roles import Role, resolve

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rankine.arrays import Ints
    from rankine.io.opened import Opened
    from rankine.io.reading import Reading
    from rankine.io.sniff import Sniffed
    from rankine.io.sources import Rows

_NUMBERS = ("grade", "score", "rank")
_CHUNK = 1 << 18


def read_separated(opened: Opened, found: Sniffed, role: Role, how: Reading) -> Rows:
    """Read text in columns; ids stay text, so that 007 is not 7."""
    names = _names(found, role, opened.name)
    part = resolve(names, role, how.columns if found.names else None, opened.name)
    if part.get("score") and not how.by_rank and not how.lenient:
        part.pop("rank", None)
    wanted = [name for name in dict.fromkeys(part.values()) if name]
    text = {key: part.get(key) for key in _NUMBERS}
    numeric = [] if how.grades else [name for name in text.values() if name]
    reader = _Reader(opened, found, names)
    frame, lines = reader.frame(wanted, numeric)
    if frame.height == 0:
        word = "judgements" if role == "qrels" else "rows"
        msg = f"{opened.name}: no {word} in it"
        raise DataError(msg)
    told = {key: name for key, name in part.items() if name}
    return from_frame(
        frame,
        role,
        how,
        name=opened.name,
        lines=lines,
        line=found.line,
        part=told,
        said=tuple(f"{opened.name}: {text}" for text in found.said),
    )


def _names(found: Sniffed, role: Role, name: str) -> list[str]:
    """Return the names of the columns; those without get the name of their part."""
    if found.names is None:
        value = "grade" if role == "qrels" else "score"
        return [
            {"value": value, "": f"column {at}"}.get(part, part)
            for at, part in enumerate(found.parts, 1)
        ]
    names = list(found.names)
    if len(set(names)) < len(names):
        twice = next(one for one in names if names.count(one) > 1)
        msg = (
            f"{name}:{found.line - 1}: the column {twice!r} stands twice; give it once"
        )
        raise FormatError(msg)
    return names


class _Reader:
    """Reads some columns, fast if the text is regular, and else line by line."""

    def __init__(self, opened: Opened, found: Sniffed, names: Sequence[str]) -> None:
        self.name = opened.name
        self.names = names
        data = opened.read()[found.skip :]
        self.mark = found.mark or " "
        if found.mark == "::":
            self.mark = "\t"
            if b"\t" in data:
                msg = f"{opened.name}: has tabs between '::', which are not read"
                raise FormatError(msg)
            data = data.replace(b"::", b"\t")
        if b"\r" in data:
            data = data.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
        self.data = data
        self.first = found.line

    def frame(
        self, wanted: Sequence[str], numeric: Sequence[str]
    ) -> tuple[pl.DataFrame, Ints | None]:
        """Return the wanted columns, and the line of each row if they are not in step.

        Columns of numbers stay text where one of them is not a number, for a reader
        that says which.
        """
        if not self.data.strip():
            return pl.DataFrame(schema=dict.fromkeys(wanted, pl.String)), None
        commented = self.data[:1] == b"#" or (b"#" in self.data and b"\n#" in self.data)
        lines: Ints | None = None
        if commented:
            lines = self._leave_out()
        frame = self._parse(wanted, numeric)
        if frame is None or any(frame.null_count().row(0)):
            if lines is None and b'"' not in self.data:
                lines = self._leave_out()
            self._refuse_lines(lines)
            frame = self._parse(wanted, ())
        if frame is None:
            word = "TSV" if self.mark == "\t" else "CSV"
            msg = f"{self.name}: cannot be read as {word} ({self.reason})"
            raise FormatError(msg)
        if lines is None and b'"' in self.data:
            # A field in quotes may run over several lines.
            lines = self._quoted_lines(frame.height)
        elif lines is None and frame.height != _n_lines(self.data):
            lines = self._leave_out()  # polars passes over empty lines
        return frame, lines

    reason = ""

    def _parse(
        self, wanted: Sequence[str], numeric: Sequence[str]
    ) -> pl.DataFrame | None:
        schema = {
            name: pl.Float64 if name in numeric else pl.String for name in self.names
        }
        try:
            return pl.read_csv(
                self.data,
                separator=self.mark,
                has_header=False,
                schema=schema,
                columns=sorted(self.names.index(name) for name in wanted),
            )
        except pl.exceptions.PolarsError as error:
            text = str(error).strip()
            self.reason = text.splitlines()[0] if text else type(error).__name__
            return None

    def _leave_out(self) -> Ints:
        """Leave out empty lines and comments, and number those that are left."""
        kept = [
            (number, line)
            for number, line in enumerate(self.data.split(b"\n"), self.first)
            if line.strip() and line[:1] != b"#"
        ]
        self.data = b"\n".join(line for _, line in kept)
        return np.array([number for number, _ in kept], dtype=np.int64)

    def _refuse_lines(self, lines: Ints | None) -> None:
        """Raise for the first line that is not text or has too few or many fields."""
        mark = self.mark.encode()
        quoted = b'"' in self.data
        for at, line in enumerate(self.data.split(b"\n")):
            number = (
                self.first + at
                if lines is None
                else int(lines[min(at, len(lines) - 1)])
            )
            try:
                line.decode()
            except UnicodeDecodeError as error:
                msg = (
                    f"{self.name}:{number}: not UTF-8 text at byte {error.start} of "
                    "the line; name its encoding with encoding= or --encoding, such "
                    "as latin-1"
                )
                raise FormatError(msg) from None
            got = line.count(mark) + 1
            if not quoted and line and got != len(self.names):
                msg = (
                    f"{self.name}:{number}: expected {len(self.names)} columns, "
                    f"got {got}"
                )
                raise FormatError(msg)

    def _quoted_lines(self, n: int) -> Ints | None:
        """Return the line in which each row ends, if that can be told."""
        if b'"' not in self.data:
            return None
        ends = np.flatnonzero(np.frombuffer(self.data, np.uint8) == ord("\n"))
        marks = np.flatnonzero(np.frombuffer(self.data, np.uint8) == ord('"'))
        # A line ends a row where an even number of quotes stands before its end.
        even = np.searchsorted(marks, ends) % 2 == 0
        lines = np.flatnonzero(even) + self.first
        if not self.data.endswith(b"\n"):
            lines = np.append(lines, len(ends) + self.first)
        return lines.astype(np.int64) if len(lines) == n else None


def _n_lines(data: bytes) -> int:
    """Count lines, the last of which may have no end."""
    codes = np.frombuffer(data, np.uint8)
    found = sum(
        int(np.count_nonzero(codes[begin : begin + _CHUNK] == ord("\n")))
        for begin in range(0, len(codes), _CHUNK)
    )
    return found + (not data.endswith(b"\n"))
