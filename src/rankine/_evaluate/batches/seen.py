"""What has come in batches: queries, so that none comes twice, and items shown."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from itertools import islice
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

import numpy as np
import polars as pl

from rankine._base.text import Counted, count
from rankine._evaluate.notes import told_in
from rankine._io.mappings import as_rows
from rankine._io.sources import Dense, Lists, Stream, is_empty
from rankine._join.context import counted
from rankine._join.ids import is_plain_int, one_type
from rankine._tables.joined import SHOWN, no_overlap
from rankine._tables.tallies import NO_LENGTHS, NOTHING, Tallies, Tally, sum_of_counts
from rankine.errors import DataError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from rankine._base.arrays import Ints
    from rankine._evaluate.plan import Group
    from rankine._io.sources import Source
    from rankine._join.judgements import Truth
    from rankine._join.known import Known
    from rankine._tables.joined import Listed
    from rankine._tables.tallies import Lengths

_Cut: TypeAlias = tuple[int | None, bool]
_NOTES = 20
"""Different notes of batches that are kept."""
_FRAMES = 5
"""Frames of counts that are kept before they are added up."""


@dataclass
class Came:
    """Who and what has come, by their texts, as ids of two types are compared.

    Attributes:
        judged: the queries with judgements.
        alone: the queries with a list and no judgements in its batch.
        shared: whether any query has both.
        first_judged, first_alone: the first of each, as they were given.
        items: the items shown, if they are counted.
        has_judgements: whether there are any, None before a batch has come.
        kinds: whether the ids of queries are text, ints, or both.
        odd: the first text that is not the plain form of an int.
        n_places: how many queries came without ids, numbered from 0 in their batch.
    """

    judged: set[str] = field(default_factory=set)
    alone: set[str] = field(default_factory=set)
    shared: bool = False
    first_judged: list[Any] = field(default_factory=list)
    first_alone: list[Any] = field(default_factory=list)
    items: set[str] = field(default_factory=set)
    has_judgements: bool | None = None
    kinds: set[str] = field(default_factory=set)
    odd: str | None = None
    n_places: int = 0

    def moved(self, by: int) -> Came:
        """Return the same for queries with larger numbers."""
        return replace(
            self,
            judged={str(int(text) + by) for text in self.judged},
            alone={str(int(text) + by) for text in self.alone},
            first_judged=[number + by for number in self.first_judged],
            first_alone=[number + by for number in self.first_alone],
        )

    def check(self, other: Came, size: int | None) -> None:
        """Refuse a part that cannot be put together with this one.

        Args:
            other: another part.
            size: how many items there are in the catalogue, if that is known.
        """
        kinds = {self.has_judgements, other.has_judgements}
        if kinds == {True, False}:
            msg = "some batches have judgements, and others do not"
            raise DataError(msg)
        odd = self.odd or other.odd
        if len(self.kinds | other.kinds) > 1 and odd is not None:
            msg = (
                "query ids are text in one batch and ints in another, and not all of "
                f"the texts are plain ints, such as {odd!r}; give all batches the same "
                "type"
            )
            raise DataError(msg)
        apart = (self.alone & other.judged) | (other.alone & self.judged)
        if apart:
            msg = (
                f"{count(len(apart), 'query')} with judgements in one batch and a list "
                f"in another, such as {min(apart)!r}; put a query's judgements and "
                "list into the same batch"
            )
            raise DataError(msg)
        n = len(self.items) + len(other.items - self.items)
        if size is not None and n > size:
            msg = (
                f"the catalogue has {count(size, 'item')}, but the batches have "
                f"{count(n, 'different one')}"
            )
            raise DataError(msg)

    @property
    def notes(self) -> tuple[str, ...]:
        """What there is to say of the ids of all batches."""
        if len(self.kinds) < 2:  # noqa: PLR2004 - text and ints
            return ()
        said = "query ids are ints in some batches and text in others"
        return (f"{said}; compared as text",)

    def refuse_apart(self) -> None:
        """Refuse lists and judgements if no query has both."""
        if self.judged and self.alone and not self.shared:
            raise no_overlap(len(self.judged), self.first_judged, self.first_alone)

    def add(self, other: Came) -> None:
        """Add a part that was checked."""
        self.shared = self.shared or other.shared
        self.first_judged = [*self.first_judged, *other.first_judged][:SHOWN]
        self.first_alone = [*self.first_alone, *other.first_alone][:SHOWN]
        self.judged |= other.judged
        self.alone |= other.alone
        self.items |= other.items
        self.kinds |= other.kinds
        self.odd = self.odd or other.odd
        self.n_places += other.n_places
        if other.has_judgements is not None:
            self.has_judgements = other.has_judgements


def came_in(truth: Truth | None, source: Source, *, items: bool) -> Came:
    """Return who and what a batch has."""
    listed = _texts(source, "query")
    judged = {} if truth is None else _texts(truth.source, "query")
    alone = {
        text: query
        for text, query in listed.items()
        if truth is not None and text not in judged
    }
    ids = [*listed.values(), *judged.values()]
    texts = [query for query in ids if isinstance(query, str)]
    return Came(
        set(judged),
        set(alone),
        not judged.keys().isdisjoint(listed),
        list(islice(judged.values(), SHOWN)),
        list(islice(alone.values(), SHOWN)),
        set(_texts(source, "item")) if items else set(),
        has_judgements=truth is not None,
        kinds={"text" if isinstance(query, str) else "ints" for query in ids},
        odd=next((query for query in texts if not is_plain_int(query)), None),
        n_places=max(
            _n_places(source), 0 if truth is None else _n_places(truth.source)
        ),
    )


def _n_places(source: Source) -> int:
    return getattr(source, "n_places", None) or 0


_Side = TypeVar("_Side", bound="Source")


def moved(source: _Side, by: int) -> _Side:
    """Return judgements or a run whose queries have larger numbers.

    Refuses ids of queries that are not the places in a batch.
    """
    if is_empty(source):
        return source
    if isinstance(source, Stream) or source.n_places is None:
        msg = (
            "renumber=True is for batches without query ids, such as from_scores(x), "
            f"but {source.name} has ids; leave out one of the two"
        )
        raise DataError(msg)
    if isinstance(source, Lists):
        data = {number + by: entry for number, entry in source.data.items()}
        return replace(source, data=data)
    if isinstance(source, Dense):
        return replace(source, queries=source.queries + by)
    rows = source.grid_queries
    return replace(
        source,
        frame=source.frame.with_columns(pl.col("query") + by),
        grid_queries=None if rows is None else rows + by,
    )


def _texts(source: Source, part: str) -> dict[str, Any]:
    """Return the ids of queries or items by their texts, in the order given."""
    if isinstance(source, Dense):
        ids = source.queries if part == "query" else source.items
    elif part == "query" and getattr(source, "grid_queries", None) is not None:
        ids = source.grid_queries  # type: ignore[union-attr,assignment]
    elif isinstance(source, Lists) and part == "query":
        return {str(query): query for query in source.data}
    else:
        column = as_rows(source, "run").frame[part]
        ids = column.unique(maintain_order=True).drop_nulls()
    return {str(key): key for key in ids.to_list()}


@dataclass(eq=False)
class Told:
    """The notes made while batches were read and joined, each once.

    Attributes:
        by_words: the place where it is told in one call, and the words without their
            count -> the note, with the count of all batches, and how many had it.
        further: how many notes came when there were many of them.
    """

    by_words: dict[Any, tuple[str, int]] = field(default_factory=dict)
    further: int = 0

    @staticmethod
    def of(tables: Iterable[Any]) -> Told:
        """Return the notes of the tables of one batch."""
        said = told_in(tables)
        return Told({(where, getattr(x, "key", x)): (x, 1) for where, x in said})

    def add(self, other: Told) -> None:
        """Add the notes on other batches."""
        order = _merged(list(self.by_words), list(other.by_words))
        for words, (note, n) in other.by_words.items():
            before, already = self.by_words.get(words, (None, 0))
            if before is None and len(self.by_words) >= _NOTES:
                self.further += n
            elif isinstance(before, Counted) and isinstance(note, Counted):
                self.by_words[words] = before.plus(note), already + n
            else:
                self.by_words[words] = note, already + n
        self.by_words = {
            key: self.by_words[key] for key in order if key in self.by_words
        }
        self.further += other.further

    def notes(self, n_batches: int) -> Iterator[str]:
        """Say it of so many batches, in the order of one call."""
        for _, (note, n) in sorted(
            self.by_words.items(), key=lambda entry: entry[0][0]
        ):
            few = n < n_batches and not isinstance(note, Counted)
            yield f"{note} ({n:,} of {n_batches:,} batches)" if few else note
        if self.further:
            yield f"{count(self.further, 'further note')} on batches"


def _merged(ours: list[Any], theirs: list[Any]) -> list[Any]:
    """Add what others told, each thing before what follows it there."""
    merged = ours
    for number, words in enumerate(theirs):
        if words not in merged:
            later = (
                merged.index(other) for other in theirs[number + 1 :] if other in merged
            )
            merged.insert(next(later, len(merged)), words)
    return merged


@dataclass(eq=False)
class Shown:
    """What all lists of a group show, in whole numbers.

    Items have ids here, since each batch numbers its own.

    Attributes:
        rows: cutoff, and whether items that repeat count once -> frames of item,
            length of the list, and how often.
        lists: the same -> how many lists there are of each length; empty ones not
            counted.
        lengths: cutoff -> how many lists there are of each length, and whose.
        n_lists: how many lists there are.
        judged: how many users have judgements, if any has.
        trained: how many users the training data have.
    """

    rows: dict[_Cut, list[pl.DataFrame]] = field(default_factory=dict)
    lists: dict[_Cut, Ints] = field(default_factory=dict)
    lengths: dict[int | None, Lengths] = field(default_factory=dict)
    n_lists: int = 0
    judged: int | None = None
    trained: int | None = None

    def add(self, other: Shown) -> None:
        """Add what other lists show."""
        for cut, frames in other.rows.items():
            self.rows[cut] = [*self.rows.get(cut, ()), *frames]
            if len(self.rows[cut]) > _FRAMES:
                self.rows[cut] = [_added(self.rows[cut])]
        for cut, lists in other.lists.items():
            self.lists[cut] = sum_of_counts(self.lists.get(cut, NOTHING.lists), lists)
        for k, lengths in other.lengths.items():
            self.lengths[k] = self.lengths.get(k, NO_LENGTHS) + lengths
        self.n_lists += other.n_lists
        if other.judged is not None:
            self.judged = (self.judged or 0) + other.judged
        self.trained = other.trained or self.trained

    def tallies(self, known: Known) -> Tallies:
        """Number the items, and return what metrics read."""
        frames = {cut: _added(parts) for cut, parts in self.rows.items() if parts}
        ids = [frame["item"] for frame in frames.values()]
        codes, n_items, catalogue = counted(ids, known)
        by_cut = {cut: Tally({}, lists) for cut, lists in self.lists.items()}
        for (cut, frame), code in zip(frames.items(), codes, strict=True):
            by_cut[cut] = Tally(_by_length(frame, code, n_items), self.lists[cut])
        return Tallies(
            self.n_lists,
            by_cut,
            self.lengths,
            awaited=self.trained if self.judged is None else self.judged,
            repeats=any(once for _, once in self.lists),
            **catalogue,
        )


def _added(frames: Sequence[pl.DataFrame]) -> pl.DataFrame:
    by_type: dict[pl.DataType, list[pl.DataFrame]] = {}
    for frame in frames:
        by_type.setdefault(frame["item"].dtype, []).append(frame)
    if len(by_type) > 1:
        names = ["some batches", "others", "further ones"]
        parts = {
            name: pl.concat(alike)
            for name, alike in zip(names, by_type.values(), strict=False)
        }
        ids, _ = one_type(
            {name: frame["item"] for name, frame in parts.items()}, "item"
        )
        frames = [frame.with_columns(item=ids[name]) for name, frame in parts.items()]
    return pl.concat(frames).group_by("item", "length").agg(pl.col("n").sum())


def _by_length(frame: pl.DataFrame, code: Ints, n_items: int) -> dict[int, Ints]:
    """Return how often each number of an item is in lists of each length."""
    length, n = frame["length"].to_numpy(), frame["n"].to_numpy()
    by_length: dict[int, Ints] = {}
    for size in np.unique(length):
        rows = length == size
        counts = np.zeros(n_items, dtype=np.int64)
        counts[code[rows]] = n[rows]
        by_length[int(size)] = counts
    return by_length


def shown_in(group: Group, listed: Listed, *, judged: bool) -> Shown:
    """Count what the lists of a batch show, as far as any metric asks."""
    table, items = listed.table, listed.items
    shown = Shown(n_lists=table.n_queries)
    if judged:
        shown.judged = table.awaited
    else:
        shown.trained = table.awaited
    if items is None:
        return shown
    for _, metric, _ in group.members:
        k = metric.depth
        if not metric.fact.of_all:
            continue
        if metric.fact.counts == "lists":
            shown.lengths[k] = table.lengths(k)
            continue
        once = metric.fact.pairs is not None and table.repeats
        if (k, once) not in shown.lists:
            tally = table.tally(k, once=once)
            shown.lists[k, once] = tally.lists
            shown.rows[k, once] = [
                _frame(items, counts, length)
                for length, counts in tally.by_length.items()
            ]
    return shown


def _frame(items: pl.Series, counts: Ints, length: int) -> pl.DataFrame:
    shown = np.flatnonzero(counts)
    return pl.DataFrame(
        {
            "item": items.gather(shown).alias("item"),
            "length": np.full(len(shown), length),
            "n": counts[shown],
        }
    )
