"""Who and what has come in batches, so that no query comes twice or in two parts."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from itertools import islice
from typing import TYPE_CHECKING, Any

from rankine._base.text import count
from rankine._io.rows import as_rows
from rankine._io.sources import Dense
from rankine._join.ids import is_plain_int, odd_text
from rankine._tables.joined import SHOWN, no_overlap
from rankine.errors import DataError

if TYPE_CHECKING:
    from rankine._io.sources import Lists, Rows, Source
    from rankine._join.judgements import Truth


@dataclass
class Arrivals:
    """Who and what has come, by their texts, as ids of two types are compared.

    Attributes:
        judged: the queries with judgements, as they were given.
        alone: the queries with a list and no judgements in its batch.
        shared: whether any query has both.
        items: the items shown, if they are counted.
        has_judgements: whether there are any, None before a batch has come.
        kinds: whether the ids of queries are text, ints, or both.
        odd: the first text that is not the plain form of an int.
        n_places: how many queries came without ids, numbered from 0 in their batch.
        has_rows: whether any batch has a run that is not empty.
    """

    judged: dict[str, Any] = field(default_factory=dict)
    alone: dict[str, Any] = field(default_factory=dict)
    shared: bool = False
    items: set[str] = field(default_factory=set)
    has_judgements: bool | None = None
    kinds: set[str] = field(default_factory=set)
    odd: str | None = None
    n_places: int = 0
    has_rows: bool = False

    def moved(self, by: int) -> Arrivals:
        """Return the same for queries with larger numbers."""
        judged, alone = (
            {str(query + by): query + by for query in queries.values()}
            for queries in (self.judged, self.alone)
        )
        return replace(self, judged=judged, alone=alone)

    def check(self, other: Arrivals, size: int | None) -> None:
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
        """What there is to say of the ids of all batches."""
        if len(self.kinds) < 2:  # noqa: PLR2004 - text and ints
            return ()
        said = "query ids are ints in some batches and text in others"
        return (f"{said}; compared as text",)

    def refuse_apart(self) -> None:
        """Refuse lists and judgements if no query has both."""
        if self.judged and self.alone and not self.shared:
            few = (
                list(islice(queries.values(), SHOWN))
                for queries in (self.judged, self.alone)
            )
            raise no_overlap(len(self.judged), *few)

    def add(self, other: Arrivals) -> None:
        """Add a part that was checked."""
        self.shared = self.shared or other.shared
        self.judged |= other.judged
        self.alone |= other.alone
        self.items |= other.items
        self.kinds |= other.kinds
        self.odd = self.odd or other.odd
        self.n_places += other.n_places
        self.has_rows |= other.has_rows
        if other.has_judgements is not None:
            self.has_judgements = other.has_judgements


def came_in(truth: Truth | None, source: Source, *, items: bool) -> Arrivals:
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
    return Arrivals(
        judged,
        alone,
        not judged.keys().isdisjoint(listed),
        set(_texts(source, "item")) if items else set(),
        has_judgements=truth is not None,
        kinds={"text" if isinstance(query, str) else "ints" for query in ids},
        odd=next((query for query in texts if not is_plain_int(query)), None),
        n_places=max(
            source.n_places or 0, 0 if truth is None else truth.source.n_places or 0
        ),
        has_rows=not source.is_empty,
    )


def moved(source: Rows | Lists | Dense, by: int) -> Rows | Lists | Dense:
    """Return judgements or a run whose queries have larger numbers.

    Refuses ids of queries that are not the places in a batch.
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


def _texts(source: Source, part: str) -> dict[str, Any]:
    """Return the ids of queries or items by their texts, in the order given."""
    if part == "query":
        ids = source.query_ids()
    elif isinstance(source, Dense):
        ids = source.items.to_list()
    else:
        column = as_rows(source, "run").frame["item"]
        ids = column.unique(maintain_order=True).drop_nulls().to_list()
    return {str(key): key for key in ids}
