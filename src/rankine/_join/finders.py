"""What is looked for in a run besides judged items: lists, first items, how many.

Each kind has a finder, which is told what to look for, and what it finds in a chunk,
which adds up.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Self

import numpy as np
import polars as pl

from rankine._base.text import added_up
from rankine._io import mappings
from rankine._io.repeats import marked
from rankine._io.sources import Dense
from rankine._io.sources import Lists as Mappings
from rankine._join.chunks import MemoryAtEnd
from rankine._join.ids import compact, item_keys
from rankine._join.lists import First, Ids, Lists, first_of, lists_of
from rankine._join.row_chunks import RowChunk
from rankine._tables.keys import may_repeat
from rankine._tables.segments import NO_STEPS, cut_lists, expand, starts_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rankine._base.arrays import AnyArray, Ints
    from rankine._conventions.convention import Convention
    from rankine._io.sources import Source
    from rankine._join.chunks import Chunk

_NUMBERED = 224
"""Bytes that an item takes beside itself, where all items of lists are numbered."""
_AGAIN = 24
"""Bytes that a key takes, where more are added to the different ones."""


@dataclass(frozen=True, eq=False)
class ListFinder:
    """Looks for the lists of a run in the order of their ranks.

    Of a run that is read in parts, and of a matrix, these are the items down to a
    depth.

    Attributes:
        run: the run.
        rule: how lists are ordered.
        depth: how many items of each will be looked at; None for all.
    """

    run: Source
    rule: Convention
    depth: int | None
    bytes_at_most = 0
    """Nobody knows how many there are."""

    def find(self, chunk: Chunk) -> FoundLists:
        """Bring the lists of a chunk into order, and keep their first items."""
        lists = lists_of(chunk, self.rule, self.depth)
        scored = _is_scored(chunk, self.rule)
        if not self.run.in_parts or not isinstance(chunk, RowChunk):
            return FoundLists(self.run, [lists], scored=scored)
        shorter = _shortened(lists, self.rule.duplicates, self.depth)
        return FoundLists(self.run, [shorter], [chunk.place], scored)


@dataclass(eq=False)
class FoundLists:
    """Lists of some chunks of a run.

    Attributes:
        run: the run.
        parts: the lists of each chunk.
        places: where the lists are in the run, if it is read in parts.
        scored: whether they are ordered by scores of the user's.
    """

    run: Source
    parts: list[Lists]
    places: list[AnyArray] = field(default_factory=list)
    scored: bool = True

    @property
    def at_end(self) -> MemoryAtEnd:
        """What will take memory at the end: numbers for all items."""
        n = sum(len(lists.ids.series) for lists in self.parts) if self.places else 0
        return MemoryAtEnd("the items of all lists", _NUMBERED * n)

    def __iadd__(self, other: FoundLists) -> Self:
        """Add the lists of another chunk."""
        self.parts += other.parts
        self.places += other.places
        self.scored &= other.scored
        return self

    @property
    def lists(self) -> Lists:
        """All lists, in the order of the run."""
        if not self.places:
            return self.parts[0]
        lists = _below_each_other(self.parts, self.run)
        place = np.concatenate(self.places)
        if (place[1:] > place[:-1]).all():
            return lists
        return _taken(lists, np.argsort(place, kind="stable"))


@dataclass(frozen=True, eq=False)
class FirstFinder:
    """Looks for the first items of every list of a run.

    Attributes:
        run: the run.
        rule: how lists are ordered.
        depth: how many items of each are wanted.
    """

    run: Source
    rule: Convention
    depth: int
    bytes_at_most = 0
    """Nobody knows how many lists there are."""

    def find(self, chunk: Chunk) -> FoundFirst:
        """Take the first items of the lists of a chunk."""
        floor = self.rule.score_floor if _is_scored(chunk, self.rule) else None
        first = first_of(chunk, self.rule, self.depth, floor)
        return FoundFirst([_apart(first) if self.run.in_parts else first])


@dataclass(eq=False)
class FoundFirst:
    """The first items of the lists of some chunks.

    Attributes:
        parts: those of each chunk.
    """

    parts: list[First]
    at_end = MemoryAtEnd()

    def __iadd__(self, other: FoundFirst) -> Self:
        """Add those of another chunk."""
        self.parts += other.parts
        return self

    @property
    def first(self) -> First:
        """The first items of all lists."""
        found = self.parts
        if len(found) == 1:
            return found[0]
        return First(
            pl.concat([pl.Series("query", first.queries) for first in found]),
            starts_of(np.concatenate([np.diff(first.starts) for first in found])),
            pl.concat([pl.Series("item", first.items) for first in found]),
            _all_ranks([(first.starts, first.ranks) for first in found]),
        )


class ItemFinder:
    """Looks for different items: by their keys, of which two are never equal.

    Of 2^32 items, two have the same key by chance.
    """

    bytes_at_most = 0
    """Nobody knows how many there are."""

    def find(self, chunk: Chunk) -> FoundItems:
        """Return the items of a chunk, or how many a mapping or a matrix has."""
        if isinstance(chunk, Dense):
            best = chunk.matrix.max(axis=0, initial=-np.inf)
            return FoundItems(int(np.count_nonzero(best > -np.inf)))  # is retrieved
        if isinstance(chunk, Mappings):
            return FoundItems(mappings.n_items(chunk))
        return FoundItems(
            0, [pl.Series(item_keys(chunk.rows.frame["item"], 0)).unique()]
        )


@dataclass(eq=False)
class FoundItems:
    """Different items of some chunks.

    Attributes:
        of_whole: how many a mapping or a matrix has.
        keys: the keys of the items of columns, the different ones of all chunks first,
            then those of chunks that are not yet compared with them.
    """

    of_whole: int
    keys: list[pl.Series] = field(default_factory=list)

    @property
    def at_end(self) -> MemoryAtEnd:
        """What will take memory once chunks are compared, if all of them are new."""
        n = sum(map(len, self.keys))
        return MemoryAtEnd("the different items of the run", _AGAIN * n, "")

    def __iadd__(self, other: FoundItems) -> Self:
        """Add those of another chunk; compare them only now and then."""
        self.of_whole += other.of_whole
        self.keys += other.keys
        n_known, *n_new = map(len, self.keys) if self.keys else (0,)
        if sum(n_new) > n_known:
            self._compare()
        return self

    def _compare(self) -> None:
        self.keys = [pl.concat(self.keys).unique()]

    @property
    def n(self) -> int:
        """How many there are."""
        if len(self.keys) > 1:
            self._compare()
        return self.of_whole + sum(map(len, self.keys))


def _is_scored(chunk: Chunk, rule: Convention) -> bool:
    """Say whether items are ordered by scores of the user's."""
    if rule.order != "score":
        return False
    if isinstance(chunk, Mappings):
        return list not in chunk.kinds
    if isinstance(chunk, Dense):
        return True
    rows = chunk.rows
    return "value" in rows.frame.columns and not (rows.ranked or rows.placed)


def _apart(first: First) -> First:
    """Return a copy, which does not keep all that was read in memory."""
    queries = compact(pl.Series("query", first.queries))
    return replace(
        first, queries=queries, items=compact(pl.Series("item", first.items))
    )


def _ranks(starts: Ints, ranks: Ints | None) -> Ints:
    """Return the rank of each item, where they may be 1, 2, 3 and so on."""
    if ranks is not None:
        return ranks
    rows, owner = expand(starts[:-1], np.diff(starts))
    return rows - starts[owner] + 1


def _all_ranks(parts: Sequence[tuple[Ints, Ints | None]]) -> Ints | None:
    """Return the ranks of several parts; None if all of them are 1, 2, 3 and so on."""
    if all(ranks is None for _, ranks in parts):
        return None
    return np.concatenate([_ranks(*part) for part in parts])


def _shortened(lists: Lists, duplicates: str, depth: int | None) -> Lists:
    """Keep the first items of lists, and what must be known of the others.

    They are a copy, which does not keep all that was read in memory.
    """
    shown, starts, rank = lists.first(None if duplicates == "set" else depth)
    repeated = 0
    if duplicates in {"error", "set"} and may_repeat(item_keys(shown, 0), starts):
        if duplicates == "error":
            lists.refuse_twice(starts)
        _, owner = expand(starts[:-1], np.diff(starts))
        again = marked(pl.DataFrame({"list": owner, "item": shown}), keep="first")
        if again is not None:
            first = np.flatnonzero(~again)
            repeated = len(again) - len(first)
            rank = _ranks(starts, rank)[first]
            shown, owner = shown.gather(first), owner[first]
            starts = starts_of(np.bincount(owner, minlength=len(starts) - 1))
    if duplicates == "set" and depth is not None:
        starts, rows = cut_lists(starts, rank, depth)
        shown, rank = shown.gather(rows), None if rank is None else rank[rows]
    items = compact(shown)
    return replace(
        lists,
        queries=compact(lists.queries),
        starts=starts,
        ids=Ids.of(items),
        order=None,
        scores=None,
        ranks=rank,
        lengths=np.diff(lists.starts),
        repeated=repeated,
    )


def _below_each_other(parts: list[Lists], source: Source) -> Lists:
    """Put lists of several parts together."""
    items = pl.concat([part.ids.series for part in parts])
    return Lists(
        source.name,
        added_up([*source.notes, *(note for part in parts for note in part.notes)]),
        pl.concat([part.queries for part in parts]),
        starts_of(np.concatenate([np.diff(part.starts) for part in parts])),
        Ids.of(items),
        None,
        None,
        scored=parts[0].scored,
        ranks=_all_ranks([(part.starts, part.ranks) for part in parts]),
        steps=sum((part.steps for part in parts), NO_STEPS),
        lengths=np.concatenate([part.length for part in parts]),
        repeated=sum(part.repeated for part in parts),
        unsorted=sum(part.unsorted for part in parts),
    )


def _taken(lists: Lists, order: Ints) -> Lists:
    """Return the lists in another order."""
    length = np.diff(lists.starts)[order]
    rows, _ = expand(lists.starts[:-1][order], length)
    items = lists.items_of(rows)
    return replace(
        lists,
        queries=lists.queries.gather(order),
        starts=starts_of(length),
        ids=Ids.of(items),
        ranks=None if lists.ranks is None else lists.ranks[rows],
        lengths=lists.length[order],
    )
