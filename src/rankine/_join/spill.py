"""Runs of mixed queries that are larger than memory: rows wait on disk.

They go to a file, in buckets of queries. It has no name, so that nothing is left of it
when the process ends, however it ends.
"""

from __future__ import annotations

import io
from collections import deque
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing, nullcontext
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np
import polars as pl

from rankine._base.blocks import ahead
from rankine._base.limits import limits
from rankine._base.memory import in_use, in_words
from rankine._base.nameless import NamelessFile
from rankine._io.sources import Rows
from rankine._join.ids import Numbering
from rankine._join.row_chunks import RowChunk, list_starts
from rankine._tables.segments import groups_of, stable_order, starts_of
from rankine.errors import ParameterError

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator

    from rankine._base.arrays import Ints
    from rankine._io.sources import Stream

_NUMBER, _PLACE = "number", "place"
_SHARE = 16
"""Waiting rows may use this fraction of the free memory, one in so many bytes."""
_ASIDE = 64 << 20
"""Bytes that readers, threads and libraries take, however few rows wait."""
_LEAST = 1 << 22
_ROW, _BUCKETS, _MOST_BUCKETS = 64, 1 << 8, 1 << 12
"""About how many bytes a row takes, how many buckets there are where nobody knows how
many rows will come, and how many at most."""
_MOVED = 1 << 16
"""Rows that are moved and written at once."""
_WAITING = 4
"""How many groups of so many rows may wait to be written."""
_COPIES = 3
"""How many copies of rows there are in memory while they are brought into order."""
_SMALL = 1 << 32
_TEXT = 16
"""Bytes that a text takes besides its letters."""


def share_of(memory: int | None, used: int | None = None) -> int:
    """Return how many bytes of rows may be held at once.

    Args:
        memory: how many bytes may be taken; None for any number.
        used: how many of them are taken; those that the process uses if not given.
    """
    most = limits().held_bytes
    if memory is None:
        return most
    left = memory - (in_use() if used is None else used) - _ASIDE
    return min(most, max(_LEAST, left) // _SHARE)


ROOM = 128 << 20
"""Bytes that reading in parts takes at least, besides what was in use before."""


def refuse_small(memory: int | None, later: int = 0) -> None:
    """Refuse a limit within which nothing can be read in parts, before it is begun.

    Args:
        memory: how many bytes may be taken; None for any number.
        later: how many of them what is found will take at the end.
    """
    if memory is None:
        return
    used = in_use()
    needed = used + later + ROOM
    if memory >= needed:
        return
    found = f", the results take about {in_words(later)}" if later >> 20 else ""
    msg = (
        f"memory_limit= or --memory allows {in_words(memory)}, but {in_words(used)} "
        f"are in use before anything is read in parts{found}, and reading takes about "
        f"{in_words(ROOM)}; allow at least {in_words(needed)}"
    )
    raise ParameterError(msg)


CUTOFFS = ", or ask for metrics with a cutoff, which do not need all of them"


def refuse_more(
    what: str,
    memory: int | None,
    hint: str = CUTOFFS,
    used: int | None = None,
    later: int = 0,
) -> None:
    """Refuse to hold more, where the memory that may be taken is in use.

    Args:
        what: what takes it.
        memory: how many bytes may be taken; None for any number.
        hint: what else can be done than to allow more.
        used: how many bytes are needed; those that the process uses if not given.
        later: how many more will be needed.
    """
    if memory is not None and (in_use() if used is None else used) + later > memory:
        msg = (
            f"{what} would take more than the {in_words(memory)} that memory_limit= or "
            f"--memory allows; allow more{hint}"
        )
        raise ParameterError(msg)


class Spill:
    """The rows of a run whose queries are mixed, on disk if they are many.

    Queries are numbered as they come, and a query goes to the bucket that its number
    gives modulo the number of buckets.
    """

    def __init__(self, run: Stream) -> None:
        self.name = run.name
        self._ranked, self._unit, self._once = run.ranked, run.unit, run.once
        self._memory = run.memory
        # Before rows come: later, memory is also used by what was freed and is kept.
        self._room = None if run.memory is None else run.memory - in_use()
        self._share = share_of(run.memory)
        self._numbering = Numbering()
        self._held: list[pl.DataFrame] = []
        self._n_rows = self._n_bytes = 0
        self._lined = True
        n_buckets = limits().buckets or _BUCKETS
        if limits().buckets is None and run.n_rows is not None:
            needed = _ROW * run.n_rows // max(self._share, _LEAST) + 1
            n_buckets = min(needed, _MOST_BUCKETS)
        self._buckets: list[list[_Piece]] = [[] for _ in range(n_buckets)]
        self._file = NamelessFile(f"{run.name}: its rows", ", or sort the run by query")

    def close(self) -> None:
        """Free the space on disk."""
        self._file.close()

    def read(self, opened: Iterator[Rows]) -> None:
        """Read the parts of the run, only once; write while more is read.

        One thread packs rows, and another one writes what is packed.
        """
        if self._n_rows:
            return
        written: Future[None] | None = None
        size = 0
        with (
            ThreadPoolExecutor(1, "rankine-disk") as disk,
            ThreadPoolExecutor(1, "rankine-spill") as packer,
            # An iterator of the user's stays in the thread that it belongs to.
            nullcontext(opened) if self._once else closing(ahead(opened)) as parts,
        ):
            for part in parts:
                if part.frame.height == 0:
                    continue
                rows = self._numbered(part)
                self._held.append(rows)
                size += _size(rows)
                if size > self._share:
                    if written is not None:
                        written.result()
                    written = packer.submit(self._write, self._held, disk)
                    self._held, size = [], 0
            if written is not None:
                written.result()
                if self._held:
                    self._write(self._held, disk)

    def _numbered(self, part: Rows) -> pl.DataFrame:
        """Return the rows of a part with numbers for queries, and their places.

        These are lines, or the numbers of rows in the run.
        """
        n, lines = part.frame.height, part.lines
        self._lined &= part.name == self.name and part.place(0).startswith("line")
        first = part.line if self._lined and part.line is not None else self._n_rows
        self._n_rows += n
        places = lines if self._lined and lines is not None else first + np.arange(n)
        small = int(places[-1]) < _SMALL
        number = self._numbering.of(part.frame["query"]).astype(np.uint32)
        place = pl.Series(_PLACE, places, dtype=pl.UInt32 if small else pl.UInt64)
        kept = (column for column in part.frame if column.name != "query")
        return pl.DataFrame([*kept, pl.Series(_NUMBER, number), place])

    def _write(self, parts: list[pl.DataFrame], disk: ThreadPoolExecutor) -> None:
        """Write rows, by buckets."""
        rows = _below_each_other(parts)
        parts.clear()
        written: deque[Future[int]] = deque()
        bucket = rows[_NUMBER].to_numpy() % np.uint32(len(self._buckets))
        order = _places(stable_order(bucket))
        starts = starts_of(np.bincount(bucket, minlength=len(self._buckets)))
        edges = starts.tolist()
        for buckets in groups_of(starts, _MOVED):
            first = edges[buckets.start]
            moved = _in_order(rows, order.slice(first, edges[buckets.stop] - first))
            packed = io.BytesIO()
            for number in range(buckets.start, buckets.stop):
                begin, end = edges[number] - first, edges[number + 1] - first
                if begin == end:
                    continue
                piece, offset = moved.slice(begin, end - begin), packed.tell()
                # Packing it would take longer than all else that is done with it.
                piece.write_ipc_stream(packed, compression="uncompressed")
                place, length = self._n_bytes + offset, packed.tell() - offset
                self._buckets[number].append(_Piece(place, length, _size(piece)))
            self._n_bytes += packed.tell()
            if len(written) == _WAITING:
                written.popleft().result()
            written.append(disk.submit(self._file.append, packed.getbuffer()))
        for done in written:
            done.result()

    def chunks(self) -> Generator[RowChunk, None, None]:
        """Yield the lists of a few buckets at a time, while the next are read."""
        if not self._n_rows:
            return
        queries = self._numbering.ids
        if not self._file:
            rows = _below_each_other(self._held)
            yield self._grouped(rows, self._order(rows), queries)
            return
        with ThreadPoolExecutor(1, "rankine-spill") as reader:
            coming: Future[tuple[pl.DataFrame, Ints]] | None = None
            for pieces in self._together():
                ready, coming = coming, reader.submit(self._loaded, pieces)
                if ready is not None:
                    yield self._grouped(*ready.result(), queries)
                    del ready  # before more is read
            if coming is not None:
                yield self._grouped(*coming.result(), queries)

    def _together(self) -> Iterator[list[_Piece]]:
        """Yield the pieces of as many buckets as may be held at once."""
        together: list[_Piece] = []
        size = 0
        for pieces in filter(None, self._buckets):
            more = sum(piece.size for piece in pieces)
            self._refuse_large(more)
            if together and size + more > self._share:
                yield together
                together, size = [], 0
            together, size = together + pieces, size + more
        yield together

    def _refuse_large(self, size: int) -> None:
        """Refuse a bucket that cannot be held, as one query may have too many rows."""
        if self._memory is None or self._room is None:
            return
        if _COPIES * size > max(self._room, _LEAST):
            msg = (
                f"{self.name}: the rows of one query, or of a few that are read "
                f"together, would take more than the {in_words(self._memory)} that "
                "memory_limit= or --memory allows; allow more, or sort the run by query"
            )
            raise ParameterError(msg)

    def _loaded(self, pieces: list[_Piece]) -> tuple[pl.DataFrame, Ints]:
        """Read pieces from the file; return their rows, and the order by queries."""
        frames = []
        for begin, length, _ in pieces:
            frames.append(pl.read_ipc_stream(self._file.read(begin, length)))
        rows = _below_each_other(frames)
        return rows, self._order(rows)

    def _order(self, rows: pl.DataFrame) -> Ints:
        """Return the order that groups the rows of some buckets by queries."""
        number = rows[_NUMBER].to_numpy()
        n_buckets = np.uint32(len(self._buckets))
        bucket, turn = number % n_buckets, number // n_buckets
        least, most = bucket.min(), bucket.max()
        # Of a few buckets, these numbers are much smaller, and so sorted sooner.
        return stable_order(turn * (most - least + np.uint32(1)) + (bucket - least))

    def _grouped(self, rows: pl.DataFrame, order: Ints, queries: pl.Series) -> RowChunk:
        """Return rows in order, and the ids of their queries."""
        frame = _in_order(rows, _places(order))
        number = frame[_NUMBER]
        place: Ints = frame[_PLACE].to_numpy().astype(np.int64)
        starts = list_starts(number)
        first = starts[:-1]
        rows_in_order = Rows(
            frame.drop(_NUMBER, _PLACE),
            self.name,
            lines=place if self._lined else None,
            number=place,
            ranked=self._ranked,
            unit=self._unit,
        )
        return RowChunk(
            rows_in_order, queries[number[first]], starts, None, place[first]
        )


class _Piece(NamedTuple):
    """Some rows of a bucket.

    Attributes:
        begin: the byte of the file at which they begin.
        length: how many bytes they have there.
        size: how many they take in memory.
    """

    begin: int
    length: int
    size: int


def _below_each_other(frames: list[pl.DataFrame]) -> pl.DataFrame:
    """Put rows together; their places may be ints of two sizes."""
    alike = all(frame.schema == frames[0].schema for frame in frames)
    how: Literal["vertical", "vertical_relaxed"]
    how = "vertical" if alike else "vertical_relaxed"  # which takes longer
    return pl.concat(frames, how=how, rechunk=True)


def _places(rows: Ints) -> pl.Series:
    """Return the numbers of rows as polars has them."""
    return pl.Series(rows.astype(np.uint32))


def _in_order(rows: pl.DataFrame, places: pl.Series) -> pl.DataFrame:
    """Return some rows in another order.

    Column by column: a query of polars would wait for its threads, which read the next
    part meanwhile.
    """
    return pl.DataFrame([column[places] for column in rows])


def _size(rows: pl.DataFrame) -> int:
    """Return about how many bytes rows take; for short texts, polars counts letters."""
    n_texts = sum(dtype == pl.String for dtype in rows.dtypes)
    return int(rows.estimated_size()) + rows.height * n_texts * _TEXT
