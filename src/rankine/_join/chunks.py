"""A run as chunks of whole queries, read once for all that is looked for in it.

What is found in a chunk adds up over chunks, however the run is cut.

A frame is one chunk, and so are a mapping and a matrix. A file gives chunks while more
of it is parsed: the query at the end of a part waits for the next part. Only if queries
turn out to be mixed is it begun again: its rows are then brought together in memory, or
under a limit on disk.
"""

from __future__ import annotations

from contextlib import closing
from dataclasses import replace
from itertools import chain
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, Self, TypeAlias

import numpy as np
import polars as pl

from rankine._base.text import QUERY, counted
from rankine._io.repeats import with_ids
from rankine._io.rows import concat
from rankine._io.sources import (
    NAMELESS,
    PARTS,
    REPEATS,
    Dense,
    Lists,
    Rows,
    Stream,
    none_left,
)
from rankine._join.ids import item_keys
from rankine._join.row_chunks import (
    Grouping,
    RowChunk,
    best_only,
    cut_out,
    list_starts,
    without_query,
)
from rankine._join.spill import CUTOFFS, Spill, refuse_more, refuse_small
from rankine.errors import DataError

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator, Sequence

    from numpy.typing import NDArray

    from rankine._base.arrays import Ints
    from rankine._io.sources import Source

Chunk: TypeAlias = RowChunk | Lists | Dense
"""Whole queries of a run, as columns, a mapping or a matrix."""
_SPILL = "spill"
_EMPTY = "empty lists"


class MemoryAtEnd(NamedTuple):
    """What will take memory once a run was read, and about how many bytes.

    Attributes:
        what: what it is, in words.
        n_bytes: how many bytes it takes.
        hint: what else can be done than to allow more.
    """

    what: str = ""
    n_bytes: int = 0
    hint: str = CUTOFFS


class Found(Protocol):
    """What was found in some chunks of a run; it adds up."""

    @property
    def at_end(self) -> MemoryAtEnd:
        """What of it will take memory at the end, beside what it has now."""

    def __iadd__(self, other: Any) -> Self:
        """Add what was found in the next chunk."""


class Finder(Protocol):
    """Looks for something in the chunks of a run."""

    @property
    def bytes_at_most(self) -> int:
        """About how many bytes all that can be found takes, as far as is known."""

    def find(self, chunk: Any) -> Found:
        """Return what a chunk has."""


class _ScatteredError(Exception):
    """A query returns after others have come: its rows must be brought together."""


def find(run: Source, finders: Sequence[Finder]) -> list[Any]:
    """Read a run once, for all that look for something in it, and add up what is there.

    Whether queries are mixed shows only while a file is read as if they were not. Then
    what was found so far, or refused, is given up, and the second way is tried, which
    cannot fail.
    """
    if run.memory is not None:
        refuse_small(run.memory, sum(finder.bytes_at_most for finder in finders))
    for chunks in _readings(run):
        try:
            with closing(chunks):
                return _found(chunks, finders, run.memory)
        except _ScatteredError:
            continue
    raise AssertionError  # one of the ways cannot fail


def _found(
    chunks: Iterator[Chunk], finders: Sequence[Finder], memory: int | None
) -> list[Any]:
    """Add up what is in chunks; a refusal waits until all of them were seen.

    Only then it is known that lists were whole, and the refusal is not about half a
    list whose query returns.
    """
    found: list[Any] = []
    refusal: DataError | None = None
    for chunk in chunks:
        if refusal is None:
            try:
                more = [finder.find(chunk) for finder in finders]
            except DataError as error:
                # Its traceback would keep the chunk.
                refusal, found = error.with_traceback(None), []
            else:
                found = _added(found, more) if found else more
                del more
                _refuse_more(found, memory)
        del chunk  # before more is read
    if refusal is not None:
        raise refusal
    return found


def _added(found: list[Any], more: list[Any]) -> list[Any]:
    for ours, theirs in zip(found, more, strict=True):
        ours += theirs  # noqa: PLW2901 - in place
    return found


def _refuse_more(found: Sequence[Found], memory: int | None) -> None:
    """Refuse what will take more memory at the end than is allowed."""
    if memory is None:
        return
    for one in found:
        what, n_bytes, hint = one.at_end
        if n_bytes:
            refuse_more(what, memory, hint, later=n_bytes)


def _readings(run: Source) -> Iterator[Generator[Chunk, None, None]]:
    """Yield ways to read a run; the second one is for queries that are mixed."""
    if not isinstance(run, Stream):
        yield _one(run)
        return
    if not run.once and _SPILL not in run.memo:
        yield _and_empty(run, _in_order(run))
    yield _and_empty(run, _again(run))


def _one(run: Rows | Lists | Dense) -> Generator[Chunk, None, None]:
    yield RowChunk.of(run) if isinstance(run, Rows) else run


class _EmptyLists:
    """The lists of a run without rows, which are set aside while parts are read."""

    def __init__(self) -> None:
        self._place: dict[Any, float] = {}
        self._like: Rows | None = None

    def add(self, part: Rows, n_before: int) -> None:
        """Take those of a part."""
        chunk, n = RowChunk.of(part), part.frame.height
        empty = np.diff(chunk.starts) == 0
        # Before the first row of the list that comes next.
        order = np.arange(n) if chunk.order is None else chunk.order
        place = np.append(order, n)[chunk.starts[:-1][empty]] + (n_before - 0.5)
        ids = chunk.queries.filter(empty).to_list()
        for query, at in zip(ids, place.tolist(), strict=True):
            self._place.setdefault(query, at)
        self._like = replace(part, frame=part.frame.clear(), queries=chunk.queries[:0])

    def chunks(
        self, filled: list[NDArray[np.uint64]], *, ranked: bool
    ) -> Iterator[RowChunk]:
        """Yield the lists of which no part has a row, if there are any.

        Takes the keys of the others.
        """
        if self._like is None or self._like.queries is None:
            return
        queries = pl.Series("query", [*self._place], dtype=self._like.queries.dtype)
        keys = item_keys(queries, 0)
        left = ~np.isin(keys, np.concatenate([keys[:0], *filled]))
        starts = np.zeros(np.count_nonzero(left) + 1, dtype=np.int64)
        place = np.array([*self._place.values()])[left]
        if len(place):
            rows = replace(self._like, ranked=ranked, queries=None)
            yield RowChunk(rows, queries.filter(left), starts, None, place)


def _parts(run: Stream) -> Generator[Rows, None, None]:
    """Open a run. Its empty lists are kept, also for a next reading from disk."""
    empty = run.memo[_EMPTY] = _EmptyLists()
    run.forget(PARTS, NAMELESS)
    n_rows = n_read = 0
    with closing(run.open()) as parts:
        for part in parts:
            n_read += part.frame.height
            run.count(PARTS, counted(part.notes))
            # Its notes were taken.
            part = replace(part, notes=(), unit=run.unit)  # noqa: PLW2901
            if run.lenient:
                part = _with_ids(run, part, n_rows)  # noqa: PLW2901
            if part.queries is not None:
                empty.add(part, n_rows)
            n_rows += part.frame.height
            yield part
            del part  # before more is read
    if n_read and not n_rows:
        raise none_left(run.name)


def _with_ids(run: Stream, part: Rows, n_before: int) -> Rows:
    """Drop the rows of a part that have no id, and count them."""
    part, said = with_ids(replace(part, name=run.name, first=n_before), "run")
    run.count(NAMELESS, said)
    return part


def _and_empty(
    run: Stream, chunks: Generator[RowChunk, None, None]
) -> Generator[RowChunk, None, None]:
    """Yield lists and, after them, those without rows."""
    filled = []
    run.forget(REPEATS)
    with closing(chunks):
        for chunk in chunks:
            filled.append(item_keys(chunk.queries, 0))
            one_each = run.lenient or run.collapse is not None
            yield _without_repeats(run, chunk) if one_each else chunk
            del chunk  # before more is read
    yield from run.memo[_EMPTY].chunks(filled, ranked=run.ranked)


def _without_repeats(run: Stream, chunk: RowChunk) -> RowChunk:
    """Drop the rows of repeated items but for the best, and count them."""
    chunk, said = best_only(chunk, run.name, run.collapse)
    run.count(REPEATS, [said])
    return chunk


def _in_order(run: Stream) -> Generator[RowChunk, None, None]:
    """Yield the lists of each part, as long as no query returns."""
    held: list[Rows] = []
    seen = _Seen()
    n_held = n_before = 0
    with closing(_parts(run)) as parts:
        for part in parts:
            if part.frame.height == 0:
                continue
            query = part.frame["query"]
            starts = list_starts(query) + n_held
            if held and query[0] == held[0].frame["query"][0]:
                starts = starts[1:]
            starts = np.concatenate(([0], starts)) if held else starts
            held.append(part)
            last = int(starts[-2])
            if last == 0:  # a list of many parts, which are put together once
                n_held = int(starts[-1])
                unit = part.unit or QUERY
                refuse_more(f"the rows of {unit} {query[0]!r}", run.memory)
                continue
            rows = concat(held) if len(held) > 1 else part
            held = [cut_out(rows, last, rows.frame.height)]
            n_held = rows.frame.height - last
            try:
                chunk = _chunk(run, cut_out(rows, 0, last), starts[:-1], n_before, seen)
            except _ScatteredError:
                if n_before:
                    raise
                yield from _mixed(run, chain([rows], parts))
                return
            yield chunk
            n_before += last
    if held:
        rows = concat(held) if len(held) > 1 else held[0]
        yield _chunk(run, rows, np.array([0, n_held]), n_before, seen)
    seen.check()


def _chunk(
    run: Stream, rows: Rows, starts: Ints, n_before: int, seen: _Seen
) -> RowChunk:
    first = starts[:-1]
    queries = rows.frame["query"][first]
    seen.add(queries)
    rows = replace(rows, ranked=run.ranked)
    return RowChunk(rows, queries, starts, None, first + n_before)


class _Seen:
    """The keys of the queries that have come."""

    def __init__(self) -> None:
        self._keys = np.zeros(0, dtype=np.uint64)
        self._new: list[NDArray[np.uint64]] = []
        self._n_new = 0

    def add(self, queries: pl.Series) -> None:
        """Add queries; where they are few next to the others, look at them later."""
        self._new.append(item_keys(queries, 0))
        self._n_new += len(queries)
        if self._n_new >= len(self._keys):
            self.check()

    def check(self) -> None:
        """Raise if a query has come twice, or two have the same key."""
        keys = np.concatenate([self._keys, *self._new])
        keys.sort()
        if (keys[1:] == keys[:-1]).any():
            raise _ScatteredError
        self._keys, self._new, self._n_new = keys, [], 0


def _again(run: Stream) -> Generator[RowChunk, None, None]:
    """Yield the lists of mixed queries; a run that waits on disk is not opened."""
    with closing(_parts(run)) as parts:
        yield from _mixed(run, parts)


def _mixed(run: Stream, parts: Iterator[Rows]) -> Iterator[RowChunk]:
    """Yield the lists of mixed queries, whose rows are first brought together."""
    return _together(run, parts) if run.memory is None else _spilled(run, parts)


def _together(run: Stream, parts: Iterator[Rows]) -> Iterator[RowChunk]:
    """Yield all lists at once, whose order is found while more rows are parsed."""
    grouping = Grouping()
    kept = []
    for part in parts:
        if part.frame.height:
            grouping.add(part.frame["query"])
            kept.append(without_query(part))
    rows = replace(concat(kept), ranked=run.ranked)
    queries, starts, order = grouping.lists()
    yield RowChunk(rows, queries, starts, order, order[starts[:-1]])


def _spilled(run: Stream, parts: Iterator[Rows]) -> Iterator[RowChunk]:
    """Yield the lists of a few buckets at a time, of rows that wait on disk."""
    if _SPILL not in run.memo:
        run.memo[_SPILL] = Spill(run)
    spill: Spill = run.memo[_SPILL]
    try:
        spill.read(parts)
        yield from spill.chunks()
    except BaseException:  # whose traceback would keep the file
        del run.memo[_SPILL]
        spill.close()
        raise
