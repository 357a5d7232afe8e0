"""Text in parts of whole lines: read and parsed in threads while one part is used."""

from __future__ import annotations

from collections import deque
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TYPE_CHECKING

from rankine._base.limits import limits

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterator

    import polars as pl

    from rankine._io.bytes import Opened

_PARSERS = 2
"""Parts that are parsed at once: while one is used, the next is there or coming."""


def ahead(
    opened: Opened, skip: int, parse: Callable[[bytes], pl.DataFrame | None]
) -> Generator[tuple[bytes, pl.DataFrame | None], None, None]:
    """Yield parts of a file, each with what it was parsed to.

    Close it on every way out: a generator that is left to the garbage collector would
    end its threads at any time, such as when another thread is just being started.

    Args:
        opened: the file.
        skip: bytes at its start that are left out, such as a header.
        parse: gives the frame of a part, None if the part is not regular.
    """
    parts = _after(opened.lines(limits().part_bytes), skip)
    reader = ThreadPoolExecutor(1, thread_name_prefix="rankine-read")
    parsers = ThreadPoolExecutor(_PARSERS, thread_name_prefix="rankine-parse")

    def both(part: bytes) -> tuple[bytes, pl.DataFrame | None]:
        return part, parse(part)

    def load() -> Future[tuple[bytes, pl.DataFrame | None]] | None:
        part = next(parts, None)
        return None if part is None else parsers.submit(both, part)

    try:
        coming = deque(reader.submit(load) for _ in range(_PARSERS))
        while (loaded := coming.popleft().result()) is not None:
            coming.append(reader.submit(load))
            yield loaded.result()
            del loaded
    finally:
        reader.shutdown(wait=False, cancel_futures=True)
        parsers.shutdown(wait=False, cancel_futures=True)


def _after(parts: Iterator[bytes], skip: int) -> Iterator[bytes]:
    """Leave out some bytes at the start."""
    for part in parts:
        if skip:
            part, skip = part[skip:], max(0, skip - len(part))  # noqa: PLW2901
        if part:
            yield part
        del part
