"""Files: a path, a folder, a pattern or standard input, by content.

What comes of them is judgements, a run, or a table with named columns.
"""

from __future__ import annotations

import glob
import io
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl

from rankine._io import trec
from rankine._io.bytes import STDIN, Opened, cannot
from rankine._io.columns import Role, refuse_leftover, resolve
from rankine._io.csv import csv_part, read_separated
from rankine._io.detect import sniff, sniff_table
from rankine._io.frames import (
    UNREADABLE,
    frame_part,
    from_frame,
    holds_numbers,
    unreadable,
)
from rankine._io.json import json_part, read_json, read_ndjson
from rankine._io.parquet import parquet_part
from rankine._io.sources import Lists, Rows, Stream
from rankine._io.tables import Table
from rankine.errors import FormatError, NoRowsError

if TYPE_CHECKING:
    from collections.abc import Generator, Sequence

    from rankine._io.fields import Sniffed
    from rankine._io.sources import Reading
    from rankine._io.tables import Part

_LARGE, _LARGE_PACKED = 1 << 26, 1 << 24
"""Bytes of TREC text up to which the tag of every line is looked at."""


def read_path(place: Path, role: Role, how: Reading) -> Rows | Stream | Lists:
    """Read judgements or a run from a file, or from all parts in a folder."""
    parts = _parts_of(place)
    if parts is None:
        return read_file(place, role, how)
    sources, empty = [], 0
    for part in parts:
        try:
            sources.append(read_file(part, role, how))
        except NoRowsError:
            empty += 1  # as programs that write parts leave some
    if not sources:
        msg = f"{place}: no {'judgements' if role == 'qrels' else 'rows'} in its files"
        raise NoRowsError(msg)
    if len(sources) == 1 and not empty:
        return sources[0]
    return _together(sources, str(place), role)


def read_file(place: Path, role: Role, how: Reading) -> Rows | Stream | Lists:
    """Read judgements or a run from one file, by its content."""
    opened = Opened(place, how)
    found = sniff(opened, role, how)
    source = _read(opened, found, role, how)
    return replace(source, kind=_kind(opened, found))


def _read(
    opened: Opened, found: Sniffed, role: Role, how: Reading
) -> Rows | Stream | Lists:
    if found.format in {"trec", "trec-loose"} and not found.parts:
        return _read_trec(opened, found, role, how)
    if found.format == "parquet":
        return _read_columns(parquet_part(opened), role, how)
    if found.format == "arrow":
        return _read_columns(_arrow_part(opened), role, how)
    if found.format == "json":
        return read_json(opened, role, how)
    if found.format == "ndjson":
        return read_ndjson(opened, role, how)
    if found.parts[:3] == ("query", "item", "rank") and not how.grades:
        return _read_ranks(opened, found, how)
    return read_separated(opened, found, role, how)


def _read_trec(
    opened: Opened, found: Sniffed, role: Role, how: Reading
) -> Rows | Stream:
    if how.grades is not None:
        msg = (
            f"{opened.name}: grades in words need a table with a header, not TREC text"
        )
        raise FormatError(msg)
    kind = "qrels" if role == "qrels" else "ranks" if how.by_rank else "run"
    layout = trec.Layout(
        kind,
        mark=found.mark,
        skip=found.skip,
        line=found.line,
        loose=found.format == "trec-loose",
        more_words=how.more_words and how.format is None and role == "run",
        lenient=how.lenient,
        rank=how.keep_rank and role == "run",
        subtopic=how.subtopics and role == "qrels",
        every=opened.size <= (_LARGE_PACKED if opened.packing else _LARGE),
    )
    said = found.said
    if how.columns:
        said += ("the columns of TREC text are fixed; columns= and --col are ignored",)
    notes = tuple(f"{opened.name}: {text}" for text in said)
    if role == "qrels":
        return trec.read_qrels(opened, layout, notes)
    return trec.read_run(opened, layout, notes)


def _read_ranks(opened: Opened, found: Sniffed, how: Reading) -> Stream:
    """Read query, item and rank without a header, as MS MARCO's runs have them."""
    layout = trec.Layout("msmarco", mark=found.mark or " ", lenient=how.lenient)
    said = found.said or ("no header; query, item and rank",)
    return trec.read_run(
        opened, layout, tuple(f"{opened.name}: {text}" for text in said)
    )


def _read_columns(part: Part, role: Role, how: Reading) -> Rows:
    """Read judgements or a run from the columns that play a part in it."""
    title = part.title
    found = resolve(part.names, role, how.columns, title, subtopics=how.subtopics)
    refuse_leftover(found, part.numeric, role, how.columns, title)
    wanted = [name for name in dict.fromkeys(found.values()) if name]
    frame, _ = part.load(wanted, ())
    if frame.height == 0:
        word = "judgements" if role == "qrels" else "rows"
        msg = f"{title}: no {word} in it"
        raise NoRowsError(msg)
    chosen = {key: name for key, name in found.items() if name}
    return from_frame(frame, role, how, name=title, part=chosen)


def _arrow_part(opened: Opened) -> Part:
    data = io.BytesIO(opened.read())
    try:
        if opened.head.startswith(b"ARROW1"):
            frame = pl.read_ipc(data)
        else:
            frame = pl.read_ipc_stream(data)
    except UNREADABLE as error:
        raise unreadable(opened.name, "Arrow IPC", error) from None
    part = frame_part(frame, opened.name)
    numeric = (name for name, dtype in frame.schema.items() if holds_numbers(dtype))
    return replace(part, numeric=tuple(numeric))


def read_table(place: Path, how: Reading) -> Table:
    """Open a table with named columns: a file, or all parts in a folder."""
    parts, empty = _parts_of(place), 0
    told = how.columns or {}
    if parts is None:
        part = _part_of(place, how)
        return Table(part.title, (part,), told, part.notes)
    opened: list[Part] = []
    for path in parts:
        try:
            opened.append(_part_of(path, how))
        except NoRowsError:
            empty += 1  # as programs that write parts leave some
    if not opened:
        msg = f"{place}: no rows in its files"
        raise NoRowsError(msg)
    notes = tuple(dict.fromkeys(note for part in opened for note in part.notes))
    if len(opened) + empty > 1:
        notes += (f"{place}: {len(opened)} files are read as one",)
    return Table(str(place), tuple(opened), told, notes)


def _part_of(place: Path, how: Reading) -> Part:
    """Open a file with named columns, by its content."""
    opened = Opened(place, how)
    found = sniff_table(opened, how)
    if found.format == "parquet":
        part = parquet_part(opened)
    elif found.format == "arrow":
        part = _arrow_part(opened)
    elif found.format in {"json", "ndjson"}:
        part = json_part(opened, lines=found.format == "ndjson")
    else:
        part = csv_part(opened, found)
    return replace(part, kind=_kind(opened, found))


def _kind(opened: Opened, found: Sniffed) -> str:
    return found.format + (f", {opened.packing}" if opened.packing else "")


def _parts_of(place: Path) -> list[Path] | None:
    """Return the files of a folder or of a pattern; None for a single file."""
    text = str(place)
    if text == STDIN:
        return None
    try:
        folder = place.is_dir()
        exists = place.exists()
    except (OSError, ValueError):
        return None  # opening it says why
    if folder:
        try:
            found = [
                path
                for path in sorted(place.iterdir())
                if path.is_file() and not path.name.startswith((".", "_"))
            ]
        except OSError as error:
            raise cannot(place, error) from None
        if not found:
            msg = f"{place}: is a folder without files"
            raise FormatError(msg)
        return found
    if exists or not any(mark in text for mark in "*?["):
        return None
    matched = [Path(path) for path in sorted(glob.glob(text, recursive=True))]  # noqa: PTH207
    files = [path for path in matched if path.is_file()]
    if not files:
        msg = f"{text}: no file matches this pattern"
        raise FormatError(msg)
    return files


def _together(
    sources: list[Rows | Stream | Lists], name: str, role: Role
) -> Rows | Stream | Lists:
    """Put the parts of one run, or of one set of judgements, together."""
    notes = tuple(dict.fromkeys(note for source in sources for note in source.notes))
    notes += (f"{name}: {len(sources)} files are read as one",)
    if all(isinstance(source, Stream) for source in sources):
        return _streams_together(sources, name, notes)  # type: ignore[arg-type]
    from rankine._io.mappings import as_rows  # noqa: PLC0415

    rows = [as_rows(source, role) for source in sources]
    kinds = {_what(one): one.name for one in rows}
    if len(kinds) > 1:
        (first, one), (second, other) = sorted(kinds.items())[:2]
        msg = (
            f"{name}: {one} has {first} and {other} has {second}; all files must hold "
            "the same"
        )
        raise FormatError(msg)
    try:
        frame = pl.concat([one.frame for one in rows], how="vertical")
    except pl.exceptions.PolarsError:
        odd = next(one for one in rows if one.frame.schema != rows[0].frame.schema)
        msg = (
            f"{odd.name}: its ids are of another type than those of {rows[0].name}; "
            "all parts of a table must have the same types"
        )
        raise FormatError(msg) from None
    return Rows(
        frame,
        name,
        notes=notes,
        ranked=rows[0].ranked,
        role=role,
        warnings=_warnings(rows),
        column=rows[0].column,
    )


def _what(rows: Rows) -> str:
    if "value" not in rows.frame.columns:
        return "neither"
    return "ranks" if rows.ranked else "scores"


def _streams_together(
    sources: list[Stream], name: str, notes: tuple[str, ...]
) -> Stream:
    def parts() -> Generator[Rows, None, None]:
        empty = 0
        for source in sources:
            try:
                with closing(source.open()) as opened:
                    yield from opened
            except NoRowsError:
                empty += 1
                if empty == len(sources):
                    raise

    if len({source.ranked for source in sources}) > 1:
        msg = f"{name}: some files have scores and some have only ranks"
        raise FormatError(msg)
    first = sources[0]
    return Stream(
        parts,
        name,
        notes,
        ranked=first.ranked,
        tag=sources[-1].tag,
        warnings=_warnings(sources),
    )


def _warnings(parts: Sequence[Rows | Stream]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(text for part in parts for text in part.warnings))
