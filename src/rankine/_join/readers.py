"""What is looked for in a run besides judged rows: lists, first items, and how many."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from rankine._base.text import added_up
from rankine._io import mappings
from rankine._io.repeats import marked
from rankine._io.sources import Dense
from rankine._io.sources import Lists as Mappings
from rankine._join.ids import compact, item_keys
from rankine._join.lists import First, Ids, Lists, first_of, lists_of
from rankine._join.pieces import Chunk
from rankine._join.spill import refuse_more
from rankine._tables.keys import may_repeat
from rankine._tables.segments import NO_STEPS, cut_lists, expand, starts_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rankine._base.arrays import AnyArray, Ints
    from rankine._conventions.convention import Convention
    from rankine._io.sources import Source
    from rankine._join.chunks import Piece

_NUMBERED = 224
"""Bytes that an item takes beside itself, where all items of lists are numbered."""
_AGAIN = 24
"""Bytes that a key takes, where more are added to the different ones."""


class OrderedLists:
    """The lists of a run in the order of their ranks.

    Of a run that is read in parts, and of a matrix, these are the items down to a
    depth.
    """

    later = 0
    """Nobody knows how many there are."""

    def __init__(self, run: Source, rule: Convention, depth: int | None) -> None:
        """Say how lists are ordered, and how many items of each will be looked at."""
        self._run, self._rule, self._depth = run, rule, depth
        self._in_parts = run.in_parts
        self._memory = run.memory
        self.begin()

    def begin(self) -> None:
        """Start with nothing found."""
        self._found: list[Lists] = []
        self._places: list[AnyArray] = []
        self._later = 0

    def add(self, piece: Piece) -> None:
        """Bring the lists of a piece into order, and keep their first items."""
        lists = lists_of(piece, self._rule, self._depth)
        if isinstance(piece, Chunk) and self._in_parts:
            lists = _shortened(lists, self._rule.duplicates, self._depth)
            self._places.append(piece.place)
            self._later += _NUMBERED * len(lists.ids.series)
            refuse_more("the items of all lists", self._memory, later=self._later)
        self._found.append(lists)

    @property
    def lists(self) -> Lists:
        """All lists, in the order of the run."""
        if not self._in_parts:
            return self._found[0]
        lists = _below_each_other(self._found, self._run)
        place = np.concatenate(self._places)
        if (place[1:] > place[:-1]).all():
            return lists
        return _taken(lists, np.argsort(place))


class FirstItems:
    """The first items of every list of a run."""

    later = 0
    """Nobody knows how many there are."""

    def __init__(self, run: Source, rule: Convention, depth: int) -> None:
        """Say how lists are ordered, and how many items of each are wanted."""
        self._rule, self._depth = rule, depth
        self._in_parts = run.in_parts
        self.begin()

    def begin(self) -> None:
        """Start with nothing found."""
        self._found: list[First] = []

    def add(self, piece: Piece) -> None:
        """Take the first items of the lists of a piece."""
        floor = self._rule.score_floor if _is_scored(piece, self._rule) else None
        first = first_of(piece, self._rule, self._depth, floor)
        self._found.append(_apart(first) if self._in_parts else first)

    @property
    def first(self) -> First:
        """The first items of all lists."""
        found = self._found
        if len(found) == 1:
            return found[0]
        return First(
            pl.concat([pl.Series("query", first.queries) for first in found]),
            starts_of(np.concatenate([np.diff(first.starts) for first in found])),
            pl.concat([pl.Series("item", first.items) for first in found]),
            _all_ranks([(first.starts, first.ranks) for first in found]),
        )


def _apart(first: First) -> First:
    """Return a copy, which does not keep all that was read in memory."""
    queries = compact(pl.Series("query", first.queries))
    return replace(
        first, queries=queries, items=compact(pl.Series("item", first.items))
    )


def _is_scored(piece: Piece, rule: Convention) -> bool:
    """Say whether items are ordered by scores of the user's."""
    if rule.order != "score":
        return False
    if isinstance(piece, Mappings):
        return list not in piece.kinds
    if isinstance(piece, Dense):
        return True
    rows = piece.rows
    return "value" in rows.frame.columns and not (rows.ranked or rows.placed)


class DifferentItems:
    """How many different items a run has: by their keys, of which two are never equal.

    Of 2^32 items, two have the same key by chance.
    """

    later = 0
    """Nobody knows how many there are."""

    def __init__(self, run: Source) -> None:
        """Say what is read."""
        self._memory = run.memory
        self.begin()

    def begin(self) -> None:
        """Start with nothing found."""
        self._keys: pl.Series | None = None
        self._new: list[pl.Series] = []
        self._n = 0

    def add(self, piece: Piece) -> None:
        """Count the items of a piece that are new."""
        if isinstance(piece, Dense):
            best = piece.matrix.max(axis=0, initial=-np.inf)
            self._n = int(np.count_nonzero(best > -np.inf))  # -inf is not retrieved
        elif isinstance(piece, Mappings):
            self._n = mappings.n_items(piece)
        else:
            keys = pl.Series(item_keys(piece.rows.frame["item"], 0)).unique()
            self._new.append(keys)
            if self._keys is None or sum(map(len, self._new)) > len(self._keys):
                self._together()

    def _together(self) -> None:
        known = [] if self._keys is None else [self._keys]
        n = sum(map(len, self._new))
        self._keys = pl.concat([*known, *self._new]).unique()
        self._new = []
        # As many may be new until they are put together again.
        later = _AGAIN * (len(self._keys) + n)
        refuse_more("the different items of the run", self._memory, "", later=later)

    @property
    def n(self) -> int:
        """How many there are."""
        if self._new:
            self._together()
        return self._n if self._keys is None else len(self._keys)


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
            lists.refuse_twice()
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
        ids=Ids(lambda: items, "row {}".format),
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
        Ids(lambda: items, "row {}".format),
        None,
        None,
        scored=parts[0].scored,
        ranks=_all_ranks([(part.starts, part.ranks) for part in parts]),
        steps=sum((part.steps for part in parts), NO_STEPS),
        lengths=np.concatenate([part.length for part in parts]),
        repeated=sum(part.repeated for part in parts),
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
        ids=Ids(lambda: items, "row {}".format),
        ranks=None if lists.ranks is None else lists.ranks[rows],
        lengths=lists.length[order],
    )
