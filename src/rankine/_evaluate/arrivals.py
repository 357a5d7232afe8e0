"""Arrivals: the queries and items so far, so that no query comes twice or in parts."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from itertools import islice
from typing import TYPE_CHECKING, Any, Self

from rankine._base.text import OfQueries, count
from rankine._io.rows import as_rows
from rankine._io.sources import Dense
from rankine._join.ids import is_plain_int, odd_text
from rankine._tables.joined import SHOWN, no_overlap
from rankine.errors import DataError

if TYPE_CHECKING:
    from rankine._io.sources import Lists, Rows, Source
    from rankine._join.judgements import Truth


@dataclass(eq=False)
class Arrivals:
    """The queries and items so far, by their texts, as ids of two types are compared.

    Only batches need the last five attributes.

    Attributes:
        judged: the queries with judgements, with their ids as given.
        alone: the queries with a list and no judgements, if others have judgements.
        n_judged: how many queries have judgements.
        shared: whether any query has both.
        has_judgements: whether there are judgements; None without data.
        by_id: whether only the first few queries are kept, by their ids.
        items: the items shown, if they are counted.
        kinds: whether the ids of queries are text, ints, or both.
        odd: the first text that is not the plain form of an int.
        n_places: how many queries have no ids, and are numbered from 0 in their batch.
        has_rows: whether any batch has a run that is not empty.
    """

    judged: dict[Any, Any] = field(default_factory=dict)
    alone: dict[Any, Any] = field(default_factory=dict)
    n_judged: int = 0
    shared: bool = False
    has_judgements: bool | None = None
    by_id: bool = False
    items: set[str] = field(default_factory=set)
    kinds: set[str] = field(default_factory=set)
    odd: str | None = None
    n_places: int = 0
    has_rows: bool = False

    @staticmethod
    def of(truth: Truth | None, source: Source, *, items: bool) -> Arrivals:
        """Return the queries and items of some data.

        Args:
            truth: the judgements.
            source: the run.
            items: whether to keep the items shown.
        """
        listed = source.query_ids()
        judged = [] if truth is None else truth.source.query_ids()
        known = {str(query): query for query in judged}
        shown = {str(query): query for query in listed}
        ids = [*listed, *judged]
        texts = [query for query in ids if isinstance(query, str)]
        n_judged = 0 if truth is None else truth.source.n_places or 0
        return Arrivals(
            known,
            {
                text: query
                for text, query in shown.items()
                if truth is not None and text not in known
            },
            len(known),
            not known.keys().isdisjoint(shown),
            has_judgements=truth is not None,
            items=_items(source) if items else set(),
            kinds={"text" if isinstance(query, str) else "ints" for query in ids},
            odd=next((text for text in texts if not is_plain_int(text)), None),
            n_places=max(source.n_places or 0, n_judged),
            has_rows=not source.is_empty,
        )

    @staticmethod
    def first_of(judged: Rows, listed: Rows, *, has_judgements: bool) -> Arrivals:
        """Return the first few queries, by ids of one type, in which rows are sorted.

        For 100,000 queries of three rows, this takes 10 ms; `of` takes 55, as long as
        their evaluation.
        """
        known, shown = judged.lists(), listed.lists()
        alone = shown.filter(~shown.is_in(known.implode()))
        first, others = known.head(SHOWN).to_list(), alone.head(SHOWN).to_list()
        return Arrivals(
            dict(zip(first, first, strict=True)),
            dict(zip(others, others, strict=True)) if has_judgements else {},
            len(known),
            len(alone) < len(shown),
            has_judgements=has_judgements,
            by_id=True,
        )

    def moved(self, by: int) -> Arrivals:
        """Return the same for queries with larger numbers."""
        judged = numbered_on(self.judged, by)
        return replace(self, judged=judged, alone=numbered_on(self.alone, by))

    def check(self, other: Arrivals, size: int | None) -> None:
        """Refuse a part that cannot be combined with this one.

        Args:
            other: another part.
            size: the number of items in the catalogue, if known.
        """
        kinds = {self.has_judgements, other.has_judgements}
        if kinds == {True, False}:
            msg = "some batches have judgements and others have none"
            raise DataError(msg)
        odd = self.odd or other.odd
        if len(self.kinds | other.kinds) > 1 and odd is not None:
            where = "one batch", "another"
            raise odd_text("query", *where, odd)  # noqa: EM101 - a word in a sentence
        apart = (self.alone.keys() & other.judged) | (other.alone.keys() & self.judged)
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
        """Notes on the ids of all batches."""
        if len(self.kinds) < 2:  # noqa: PLR2004 - text and ints
            return ()
        said = " ids are ints in some batches and text in others; compared as text"
        return (OfQueries("", said),)

    def refuse_apart(self, unit: str) -> None:
        """Refuse lists and judgements if no query has both."""
        if self.judged and self.alone and not self.shared:
            ours, theirs = (
                list(islice(queries.values(), SHOWN))
                for queries in (self.judged, self.alone)
            )
            raise no_overlap(self.n_judged, ours, theirs, unit)

    def __iadd__(self, other: Arrivals) -> Self:
        """Add the queries and items of other data, which have been checked."""
        self.judged |= other.judged
        self.alone |= other.alone
        n_judged = self.n_judged + other.n_judged
        self.n_judged = n_judged if self.by_id else len(self.judged)
        self.shared |= other.shared
        if other.has_judgements is not None:
            self.has_judgements = other.has_judgements
        self.items |= other.items
        self.kinds |= other.kinds
        self.odd = self.odd or other.odd
        self.n_places += other.n_places
        self.has_rows |= other.has_rows
        if self.by_id:
            self.judged, self.alone = (
                {query: query for query in sorted(queries)[:SHOWN]}
                for queries in (self.judged, self.alone)
            )
        return self


def numbered_on(queries: dict[Any, Any], by: int) -> dict[Any, Any]:
    """Return queries with larger numbers, by their texts."""
    return {str(query + by): query + by for query in queries.values()}


def moved(source: Rows | Lists | Dense, by: int) -> Rows | Lists | Dense:
    """Return judgements or a run whose queries have larger numbers.

    Refuses queries whose ids are not their places in a batch.
    """
    if source.is_empty:
        return source
    if source.n_places is None:
        msg = (
            "renumber=True is for batches without query ids, such as from_scores(x), "
            f"but {source.name} has ids; leave out one of the two"
        )
        raise DataError(msg)
    return source.with_queries(range(by, by + source.n_places))


def _items(source: Source) -> set[str]:
    """Return the items of a run by their texts."""
    if isinstance(source, Dense):
        ids = source.items.to_list()
    else:
        column = as_rows(source, "run").frame["item"]
        ids = column.unique().drop_nulls().to_list()
    return set(map(str, ids))
