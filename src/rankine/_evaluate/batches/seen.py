"""Who and what has come in batches, so that nothing is cut apart or counted twice."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import islice
from typing import TYPE_CHECKING, Any

from rankine._base.text import count
from rankine._io.mappings import as_rows
from rankine._io.sources import Dense, Lists
from rankine._join.aligned import SHOWN, no_overlap
from rankine._join.ids import is_plain_int
from rankine.errors import DataError

if TYPE_CHECKING:
    from rankine._io.sources import Source
    from rankine._join.judgements import Truth


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
        if other.has_judgements is not None:
            self.has_judgements = other.has_judgements


def came_in(truth: Truth | None, source: Source, *, items: bool) -> Came:
    """Return who and what a batch has."""
    listed = _texts(source, "query")
    judged = {} if truth is None else _texts(truth.source, "query")
    alone = {
        text: one
        for text, one in listed.items()
        if truth is not None and text not in judged
    }
    ids = [*listed.values(), *judged.values()]
    texts = [one for one in ids if isinstance(one, str)]
    return Came(
        set(judged),
        set(alone),
        not judged.keys().isdisjoint(listed),
        list(islice(judged.values(), SHOWN)),
        list(islice(alone.values(), SHOWN)),
        set(_texts(source, "item")) if items else set(),
        has_judgements=truth is not None,
        kinds={"text" if isinstance(one, str) else "ints" for one in ids},
        odd=next((one for one in texts if not is_plain_int(one)), None),
    )


def _texts(source: Source, part: str) -> dict[str, Any]:
    """Return the ids of queries or items by their texts, in the order given."""
    if isinstance(source, Dense):
        ids = source.queries if part == "query" else source.items
    elif isinstance(source, Lists) and part == "query":
        return {str(one): one for one in source.data}
    else:
        column = as_rows(source, "run", lenient=True).frame[part]
        ids = column.unique(maintain_order=True).drop_nulls()
    return {str(one): one for one in ids.to_list()}
