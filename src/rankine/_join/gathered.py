"""Runs larger than memory: read part by part, with each query's rows in one part.

If a query's rows are together in the source, one reading is enough, and the query at
the end of a part waits for the next part. If queries are mixed, rows first go to a file
on disk, in buckets of queries. That file has no name, so that nothing is left of it
when the process ends, however it ends.
"""

from __future__ import annotations

import tempfile
import weakref
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing
from typing import TYPE_CHECKING, BinaryIO, Literal, NamedTuple, TypeVar

import numpy as np
import polars as pl

from rankine._base.limits import limits
from rankine._base.memory import in_use, in_words
from rankine._io.sources import Rows, Stream
from rankine._join.ids import Index, item_keys
from rankine._join.pieces import concat, cut_out, list_starts
from rankine._tables.segments import expand, starts_of
from rankine.errors import NoSpaceError, ParameterError

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterator

    from rankine._base.arrays import AnyArray, Ints

T = TypeVar("T")
_GATHERED = "gathered"
_PLACE = "place"
_SHARE = 12
"""Which part of the free memory may be used by waiting rows."""
_LEAST = 1 << 22
_ROW, _BUCKETS, _MOST_BUCKETS = 64, 1 << 8, 1 << 12
"""About how many bytes a row takes, how many buckets there are where nobody knows how
many rows will come, and how many at most."""
_SLOT_BITS = 16
"""Bits of a key by which rows are sorted: NumPy sorts so many much faster than more."""
_RELAXED: Literal["vertical_relaxed"] = "vertical_relaxed"
"""How frames are put together: the places of rows may be ints of two sizes."""
_SMALL = 1 << 32
_TEXTS = 16
"""Bytes that the texts of a row take besides their letters."""


class _ScatteredError(Exception):
    """A query returns after others have come: its rows must be gathered."""


def by_query(run: Stream, use: Callable[[Iterator[Rows]], T]) -> T:
    """Return the result of a function that sees a run part by part.

    The rows of a query are all in one part, next to each other, in the order of the
    source. If queries are mixed, the parts keep the number that each row had. The
    function is called again if queries turn out to be mixed.
    """
    if _GATHERED not in run.memo:
        if not run.once:
            try:
                with closing(run.open()) as parts:
                    return use(_whole_lists(parts, run.memory))
            except _ScatteredError:
                pass
        run.memo[_GATHERED] = _Gathered(run)
    gathered: _Gathered = run.memo[_GATHERED]
    try:
        gathered.read(run)
        with closing(gathered.parts()) as parts:
            return use(parts)
    except BaseException:  # whose traceback would keep the file
        del run.memo[_GATHERED]
        gathered.close()
        raise


def share_of(memory: int | None) -> int:
    """Return how many bytes of rows may be held at once."""
    most = limits().held_bytes
    return (
        most if memory is None else min(most, max(_LEAST, memory - in_use()) // _SHARE)
    )


_CUTOFFS = ", or ask for metrics with a cutoff, which do not need all of them"


def refuse_more(what: str, memory: int | None, hint: str = _CUTOFFS) -> None:
    """Refuse to hold more, where the memory that may be taken is in use."""
    if memory is not None and in_use() > memory:
        msg = (
            f"{what} would take more than the {in_words(memory)} that memory_limit= or "
            f"--memory allows; allow more{hint}"
        )
        raise ParameterError(msg)


def _whole_lists(parts: Iterator[Rows], memory: int | None) -> Iterator[Rows]:
    """Yield parts with whole lists, as long as no query returns."""
    held: list[Rows] = []
    seen = np.zeros(0, dtype=np.uint64)
    for part in parts:
        if part.frame.height == 0:
            continue
        query = part.frame["query"]
        starts = list_starts(query)
        last = int(starts[-2])
        if held and last == 0 and query[0] == held[0].frame["query"][0]:
            held.append(part)  # and nothing else, as for a list of many parts
            refuse_more(f"the rows of query {query[0]!r}", memory)
            continue
        rows = concat([*held, part]) if held else part
        starts = list_starts(rows.frame["query"])
        last = int(starts[-2])
        held = [cut_out(rows, last, rows.frame.height)]
        if last:
            seen = _seen(seen, rows.frame["query"][starts[:-2]])
            yield cut_out(rows, 0, last)
    if held:
        rows = concat(held) if len(held) > 1 else held[0]
        _seen(seen, rows.frame["query"].head(1))
        yield rows


def _seen(before: AnyArray, queries: pl.Series) -> AnyArray:
    """Add the keys of queries to those seen so far; none may return."""
    keys = np.concatenate((before, item_keys(queries, 0)))
    keys.sort(kind="stable")  # of two sorted pieces, which are merged
    if (keys[1:] == keys[:-1]).any():
        raise _ScatteredError
    return keys


class _Gathered:
    """The rows of a run whose queries are mixed, on disk if they are many.

    Attributes:
        held: the rows, where they are few.
    """

    def __init__(self, run: Stream) -> None:
        self.name = run.name
        self.held: list[pl.DataFrame] = []
        self._share = share_of(run.memory)
        self._n_rows = self._n_bytes = 0
        self._lined = True
        n_buckets = limits().buckets or _BUCKETS
        if limits().buckets is None and run.n_rows is not None:
            needed = _ROW * run.n_rows // max(self._share, _LEAST) + 1
            n_buckets = min(needed, _MOST_BUCKETS)
        self._pieces: list[list[_Piece]] = [[] for _ in range(n_buckets)]
        self._file: BinaryIO | None = None

    def close(self) -> None:
        """Free the space on disk."""
        if self._file is not None:
            self._file.close()

    def read(self, run: Stream) -> None:
        """Read the run, only once; what is held is written while more is read."""
        if self._n_rows:
            return
        written: Future[None] | None = None
        size = 0
        with (
            ThreadPoolExecutor(1, "rankine-spill") as writer,
            closing(run.open()) as parts,
        ):
            for part in parts:
                if part.frame.height == 0:
                    continue
                frame = self._placed(part)
                self.held.append(frame)
                size += _size(frame)
                if size > self._share:
                    if written is not None:
                        written.result()
                    written = writer.submit(self._write, self.held)
                    self.held, size = [], 0
            if written is not None:
                written.result()
                if self.held:
                    self._write(self.held)
                    self.held = []

    def _placed(self, part: Rows) -> pl.DataFrame:
        """Return the rows of a part with their lines, or their numbers in the run."""
        n, lines = part.frame.height, part.lines
        self._lined &= part.name == self.name and part.place(0).startswith("line")
        first = part.line if self._lined and part.line is not None else self._n_rows
        self._n_rows += n
        places = lines if self._lined and lines is not None else first + np.arange(n)
        small = int(places[-1]) < _SMALL
        column = pl.Series(_PLACE, places, dtype=pl.UInt32 if small else pl.UInt64)
        return part.frame.with_columns(column)

    def _write(self, frames: list[pl.DataFrame]) -> None:
        """Write rows, by buckets of queries."""
        n_buckets = len(self._pieces)
        parted = []
        while frames:
            lists = _sorted(frames.pop(0))  # one at a time, which stays in the cache
            bucket = lists.slot.astype(np.uint32) * n_buckets >> _SLOT_BITS
            ends = np.searchsorted(bucket, np.arange(n_buckets + 1))
            parted.append((lists, ends.tolist(), lists.starts[ends].tolist()))
        for number, pieces in enumerate(self._pieces):
            here = slice(number, number + 2)
            some = [
                (_cut(lists.heads, *heads[here]), _cut(lists.rows, *rows[here]))
                for lists, heads, rows in parted
                if heads[number] < heads[number + 1]
            ]
            if some:
                heads, rows = (
                    pl.concat(part, how=_RELAXED) for part in zip(*some, strict=True)
                )
                begin = self._n_bytes
                middle = self._append(heads) - begin
                length = self._append(rows) - begin
                size = _size(heads) + _size(rows) + rows.height * _TEXTS
                pieces.append(_Piece(begin, middle, length, size))

    def _append(self, frame: pl.DataFrame) -> int:
        """Write a frame; return how many bytes there are now."""
        try:
            if self._file is None:
                self._file = tempfile.TemporaryFile(buffering=0)  # noqa: SIM115
                weakref.finalize(self, self._file.close)
            # Packing it would take longer than all else that is done with it.
            frame.write_ipc_stream(self._file, compression="uncompressed")
            self._n_bytes = self._file.tell()
        except (OSError, pl.exceptions.PolarsError) as error:
            said = getattr(error, "strerror", None) or str(error).partition(" (os ")[0]
            msg = (
                f"{self.name}: its rows do not fit into the temporary folder "
                f"{tempfile.gettempdir()} ({said}); set TMPDIR to a folder with more "
                "room, or sort the run by query"
            )
            raise NoSpaceError(msg) from None
        return self._n_bytes

    def parts(self) -> Generator[Rows, None, None]:
        """Yield the lists of a few buckets at a time, while the next are read."""
        if self._file is None:
            if self.held:
                lists = _sorted(pl.concat(self.held, how=_RELAXED))
                yield self._brought_together(lists.heads, lists.rows)
            return
        with ThreadPoolExecutor(1, "rankine-spill") as reader:
            coming: Future[tuple[pl.DataFrame, pl.DataFrame]] | None = None
            for pieces in self._together():
                ready, coming = coming, reader.submit(self._read, self._file, pieces)
                if ready is not None:
                    yield self._brought_together(*ready.result())
                    del ready  # before more is read
            if coming is not None:
                yield self._brought_together(*coming.result())

    def _together(self) -> Iterator[list[_Piece]]:
        """Yield the pieces of as many buckets as may be held at once."""
        together: list[_Piece] = []
        size = 0
        for pieces in filter(None, self._pieces):
            more = sum(piece.size for piece in pieces)
            if together and size + more > self._share:
                yield together
                together, size = [], 0
            together, size = together + pieces, size + more
        yield together

    def _read(
        self, file: BinaryIO, pieces: list[_Piece]
    ) -> tuple[pl.DataFrame, pl.DataFrame]:
        heads, rows = [], []
        for begin, middle, length, _ in pieces:
            file.seek(begin)
            heads.append(pl.read_ipc_stream(file.read(middle)))
            rows.append(pl.read_ipc_stream(file.read(length - middle)))
        together = (
            pl.concat(frames, how=_RELAXED, rechunk=True) for frames in (heads, rows)
        )
        return next(together), next(together)

    def _brought_together(self, heads: pl.DataFrame, rows: pl.DataFrame) -> Rows:
        """Return the rows of each query together, of which some may stand apart."""
        query = heads["query"]
        queries = query.unique(maintain_order=True)
        number = Index(queries).find(query)
        small = number.astype(np.uint16) if len(queries) <= 1 << 16 else number
        order = np.argsort(small, kind="stable")
        count = heads["count"].to_numpy().astype(np.int64)
        row, _ = expand(starts_of(count)[:-1][order], count[order])
        of_row = np.repeat(number[order], count[order])
        frame = rows[row].insert_column(0, queries.gather(of_row))
        place: Ints = frame[_PLACE].to_numpy().astype(np.int64)
        lines = place if self._lined else None
        return Rows(frame.drop(_PLACE), self.name, lines=lines, number=place)


class _Piece(NamedTuple):
    """Some rows of a bucket: where they are in the file, and their size in memory.

    Attributes:
        begin: the byte at which its lists begin.
        middle: the bytes that these take, after which their rows come.
        length: all of its bytes.
        size: the bytes that it takes in memory.
    """

    begin: int
    middle: int
    length: int
    size: int


class _Lists(NamedTuple):
    """Rows of a part, in the order of the slots of their queries.

    Attributes:
        heads: the query of each list, and how many rows it has. A query may have
            several lists, as others may share its slot.
        rows: the rows of all lists, without the query.
        starts: where each list begins.
        slot: the slot of each list.
    """

    heads: pl.DataFrame
    rows: pl.DataFrame
    starts: Ints
    slot: AnyArray


def _sorted(frame: pl.DataFrame) -> _Lists:
    """Sort rows by slots, which are 16 bits of the keys of queries."""
    slot = item_keys(frame["query"], 0).astype(np.uint16)
    order = np.argsort(slot, kind="stable")
    frame = frame.rechunk()[order]
    starts = list_starts(frame["query"])
    heads = pl.DataFrame(
        {
            "query": frame["query"][starts[:-1]],
            "count": np.diff(starts).astype(np.uint32),
        }
    )
    return _Lists(heads, frame.drop("query"), starts, slot[order[starts[:-1]]])


def _cut(frame: pl.DataFrame, begin: int, end: int) -> pl.DataFrame:
    return frame.slice(begin, end - begin)


def _size(frame: pl.DataFrame) -> int:
    """Return about how many bytes rows take; for short texts, polars counts letters."""
    return int(frame.estimated_size()) + frame.height * _TEXTS
