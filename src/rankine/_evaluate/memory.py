"""The engine: whether a run is read at once or in parts, and with how much memory."""

from __future__ import annotations

import os
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rankine._base.checks import check_choice
from rankine._base.memory import available, bytes_of, in_use, in_words
from rankine._io.batches import is_batches
from rankine._io.files import parts_of
from rankine._io.sources import Stream, bare
from rankine._io.tables import Table
from rankine._io.unpack import packing_of
from rankine._join.spill import ROOM
from rankine.errors import FormatError, ParameterError

if TYPE_CHECKING:
    from collections.abc import Callable, Generator

    from rankine._io.sources import Rows

_HELD, _OF_PACKED, _OF_PARQUET = 3, 15, 12
"""Bytes in memory per byte of a file: for text, packed text and Parquet."""
_SMALL = 1 << 26
"""A file of at most this many bytes fits into any memory."""


def check_engine(engine: Any, memory_limit: Any) -> None:
    """Refuse an engine that does not exist, and a limit that is not a size."""
    check_choice("engine", engine, ("auto", "memory", "stream"))
    if memory_limit is None:
        return
    bytes_of(memory_limit, "memory_limit")
    if engine == "memory":
        msg = (
            "memory_limit= is for engine='stream' and engine='auto'; engine='memory' "
            "reads all at once"
        )
        raise ParameterError(msg)


def limit_of(
    run: Any, engine: str, memory_limit: int | str | None
) -> tuple[int | None, tuple[str, ...]]:
    """Return the bytes of memory within which a run or a log is read in parts.

    None if it is read at once. Also returns notes.
    """
    if engine == "memory":
        return None, ()
    run = bare(run)
    limit = None if memory_limit is None else bytes_of(memory_limit)
    if engine == "stream":
        return _within(limit), ()
    if not isinstance(run, (str, os.PathLike, Stream, Table)):
        # Other runs are in memory already, unless they come in batches.
        return _within(limit) if is_batches(run) else None, ()
    size = _size_in_memory(run)
    if size <= _SMALL and limit is None:
        return None, ()
    most = limit if limit is not None else _half()
    if most is None:
        return None, ()
    left = most if limit is None else max(most - in_use(), 0)
    if size <= left:
        return None, ()
    of = "may be used" if limit is None else f"of the {in_words(most)} allowed are left"
    said = (
        f"{_name(run)}: read in parts (engine='stream'), as it would take about "
        f"{in_words(size)} of memory, but only {in_words(left)} {of}"
    )
    return _within(limit), (said,)


def at_once(run: Any, kind: str) -> tuple[str, ...]:
    """Return a note that a large file was read at once, instead of in parts."""
    run = bare(run)
    size = _size_in_memory(run)
    if size <= _SMALL:
        return ()
    kind = kind or "its format"
    return (f"{_name(run)}: read at once, as {kind} cannot be read in parts",)


def watched(source: Stream, report: Callable[[str, int, int | None], object]) -> Stream:
    """Return a stream that reports how many rows have been read of it."""

    def parts() -> Generator[Rows, None, None]:
        n_rows = 0
        with closing(source.open()) as opened:
            for rows in opened:
                n_rows += rows.frame.height
                report(source.name, n_rows, source.n_rows)
                yield rows
                del rows

    return replace(source, open=parts)


def _half() -> int | None:
    """Return half of the memory that is free; None if unknown."""
    left = available()
    return None if left is None else left // 2


def _within(limit: int | None) -> int:
    """Return the limit, or half of what is free if none is given."""
    if limit is not None:
        return limit
    left = _half()
    return in_use() + max(ROOM << 2, ROOM << 4 if left is None else left)


def _name(run: Any) -> str:
    return run.name if isinstance(run, (Stream, Table)) else os.fsdecode(run)


def _size_in_memory(run: Any) -> int:
    """Estimate the bytes that a run's files would take; 0 for anything else."""
    place = run.name if isinstance(run, (Stream, Table)) else run
    if not isinstance(place, (str, os.PathLike)):
        return 0
    path = Path(os.fsdecode(place))
    try:
        return sum(map(_of_file, parts_of(path) or [path]))
    except (OSError, ValueError, FormatError):
        return 0  # reading it says what is wrong


def _of_file(path: Path) -> int:
    size = path.stat().st_size
    if size <= _SMALL // _OF_PACKED:
        return size * _HELD
    with path.open("rb") as file:
        head = file.read(1 << 10)
    if head.startswith(b"PAR1"):
        return size * _OF_PARQUET
    return size * (_OF_PACKED if packing_of(head) else _HELD)
