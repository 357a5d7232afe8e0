"""The registry of formats, which detection, readers and messages follow.

A format is one entry of `FORMATS`: its name, what files in it may hold, how they are
recognised, and how they are read.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from rankine._base.roles import LIKE
from rankine._io.csv import open_csv, read_separated
from rankine._io.frames import rows_of
from rankine._io.json import is_json, is_json_lines, open_json, read_json
from rankine._io.parquet import open_arrow, open_parquet, parquet_stream
from rankine._io.trec import read_trec
from rankine.errors import FormatError, ParameterError, nearest

if TYPE_CHECKING:
    from collections.abc import Callable

    from rankine._io.bytes import Opened
    from rankine._io.columns import Role
    from rankine._io.fields import Sniffed
    from rankine._io.sources import Lists, Reading, Rows, Stream
    from rankine._io.tables import OpenTable


@dataclass(frozen=True)
class Format:
    """A format of files.

    Attributes:
        name: what users call it.
        read: reads judgements or a run, by what was found out about the file.
        roles: which of the two it may hold, "qrels" or "run".
        open: opens a table with named columns; None if its columns have no names.
        magic: how such files begin, if that tells the format, whatever the user says.
        detect: tells the format from the first bytes of a file. Text in fields has
            neither, and `detect.py` recognises it by names and contents of columns.
        endings: how names of such files end: only for those that are written, and for
            engines that cannot look inside.
    """

    name: str
    read: Callable[[Opened, Sniffed, Role, Reading], Rows | Stream | Lists]
    roles: frozenset[str] = frozenset({"qrels", "run"})
    open: Callable[[Opened, Sniffed], OpenTable] | None = None
    magic: tuple[bytes, ...] = ()
    detect: Callable[[bytes], bool] | None = None
    endings: tuple[str, ...] = ()

    @property
    def is_text_in_fields(self) -> bool:
        """Whether it is recognised by its fields, together with other formats."""
        return not self.magic and self.detect is None

    def holds(self, role: str) -> bool:
        """Say whether a file may hold data of a role; "table" is a table with names."""
        return role in self.roles if role in _WORDS else self.open is not None


_WORDS = {"qrels": "judgements", "run": "a run"}


def _read_fields(
    opened: Opened, sniffed: Sniffed, role: Role, how: Reading
) -> Rows | Stream:
    """Read text in fields: ranks without scores are read as TREC text is."""
    of_ranks = sniffed.parts[:3] == ("query", "item", "rank") and not how.grades
    read = read_trec if of_ranks else read_separated
    return read(opened, sniffed, role, how)


def _read_parquet(
    opened: Opened, sniffed: Sniffed, role: Role, how: Reading
) -> Rows | Stream:
    if role == "run" and how.memory and opened.path:
        return parquet_stream(opened, sniffed, how)
    return rows_of(open_parquet(opened, sniffed), role, how)


def _read_arrow(opened: Opened, sniffed: Sniffed, role: Role, how: Reading) -> Rows:
    return rows_of(open_arrow(opened, sniffed), role, how)


_RUN = frozenset({"run"})
FORMATS = {
    entry.name: entry
    for entry in (
        Format("trec", read_trec, endings=(".txt", ".trec", ".run", ".qrels")),
        Format("trec-loose", read_trec, _RUN),
        Format("msmarco", _read_fields, _RUN),
        Format("csv", _read_fields, open=open_csv, endings=(".csv",)),
        Format("tsv", _read_fields, open=open_csv, endings=(".tsv",)),
        Format("beir", _read_fields, open=open_csv),
        Format("movielens", _read_fields),
        Format("recbole", _read_fields, open=open_csv, endings=(".inter",)),
        Format(
            "parquet",
            _read_parquet,
            open=open_parquet,
            magic=(b"PAR1",),
            endings=(".parquet", ".parq"),
        ),
        Format(
            "arrow",
            _read_arrow,
            open=open_arrow,
            magic=(b"ARROW1", b"\xff\xff\xff\xff"),
            endings=(".arrow", ".ipc", ".feather"),
        ),
        Format("json", read_json, open=open_json, detect=is_json, endings=(".json",)),
        Format(
            "ndjson",
            read_json,
            open=open_json,
            detect=is_json_lines,
            endings=(".ndjson", ".jsonl"),
        ),
    )
}
"""All formats by their names, in the order in which they are listed and tried."""


def names_for(role: str) -> tuple[str, ...]:
    """Return the formats that data of a role may have, as in `_base/roles.py`.

    >>> names_for("reference")[:3], names_for("items")[:3]
    (('trec', 'trec-loose', 'msmarco'), ('csv', 'tsv', 'beir'))
    """
    alike = LIKE.get(role, role)
    return tuple(name for name, entry in FORMATS.items() if entry.holds(alike))


def told(how: Reading, role: str) -> Format | None:
    """Return the format that the user names, if any; it must fit what is read."""
    name = how.format
    if name is None:
        return None
    if name not in FORMATS:
        msg = (
            f"unknown format {name!r}; known formats are "
            f"{', '.join(FORMATS)}{nearest(name, FORMATS)}"
        )
        raise ParameterError(msg)
    entry = FORMATS[name]
    if not entry.holds(role):
        raise ParameterError(_unfit(entry, role))
    return entry


def check_role(sniffed: Sniffed, role: str, name: str) -> None:
    """Refuse a file whose format, as it was found, does not fit what is read."""
    entry = FORMATS[sniffed.format]
    if not entry.holds(role):
        msg = f"{name}: {_unfit(entry, role)}"
        raise FormatError(msg)


def _unfit(entry: Format, role: str) -> str:
    fitting = f"use one of {', '.join(names_for(role))}"
    if role not in _WORDS:
        return (
            f"format {entry.name!r} has no column names, and a table needs them; "
            f"{fitting}"
        )
    held = " or ".join(_WORDS[held] for held in sorted(entry.roles))
    alone = " and ".join(
        f"--format {held}={entry.name}" for held in sorted(entry.roles)
    )
    return (
        f"format {entry.name!r} holds {held}, not {_WORDS[role]}; {fitting}, or give "
        f"it only for {held}, with {alone}"
    )
