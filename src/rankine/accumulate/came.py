"""Who and what has come in batches, so that nothing is cut apart or counted twice."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from rankine.errors import DataError
from rankine.io.mappings import as_rows
from rankine.io.sources import Dense, Lists
from rankine.words import count

if TYPE_CHECKING:
    from rankine.io.sources import Source
    from rankine.table.truth import Truth


@dataclass
class Came:
    """Who and what has come, by their texts, as ids of two types are compared.

    Attributes:
        judged: the queries with judgements.
        alone: the queries with a list and no judgements in its batch.
        items: the items shown, if they are counted.
        has_judgements: whether there are any, None before a batch has come.
    """

    judged: set[str] = field(default_factory=set)
    alone: set[str] = field(default_factory=set)
    items: set[str] = field(default_factory=set)
    has_judgements: bool | None = None

    def check(self, other: Came, size: int | None) -> None:
        """Refuse a part that cannot be put together with this one.

        Args:
            other: another part.
            size: how many items there are in the catalogue, if that is known.
        """
        kinds = {self.has_judgements, other.has_judgements}
        if kinds == {True, False}:
            msg = "some batches have judgements, and others have none"
            raise DataError(msg)
        apart = (self.alone & other.judged) | (other.alone & self.judged)
        if apart:
            msg = (
                f"{count(len(apart), 'query')} with judgements in one batch and a list "
                f"in another, such as {min(apart)!r}; both belong into one"
            )
            raise DataError(msg)
        n = len(self.items) + len(other.items - self.items)
        if size is not None and n > size:
            msg = (
                f"the catalogue has {count(size, 'item')}, but the batches have "
                f"{count(n, 'different one')}"
            )
            raise DataError(msg)

    def add(self, other: Came) -> None:
        """Add a part that was checked."""
        self.judged |= other.judged
        self.alone |= other.alone
        self.items |= other.items
        if other.has_judgements is not None:
            self.has_judgements = other.has_judgements


def came_in(truth: Truth | None, source: Source, *, items: bool) -> Came:
    """Return who and what a batch has."""
    listed = _texts(source, "query")
    judged = set() if truth is None else _texts(truth.source, "query")
    return Came(
        judged,
        set() if truth is None else listed - judged,
        _texts(source, "item") if items else set(),
        has_judgements=truth is not None,
    )


def _texts(source: Source, part: str) -> set[str]:
    """Return the ids of queries or items as texts."""
    if isinstance(source, Dense):
        ids = source.queries if part == "query" else source.items
    elif isinstance(source, Lists) and part == "query":
        return set(map(str, source.data))
    else:
        ids = as_rows(source, "run", lenient=True).frame[part].unique().drop_nulls()
    return set(map(str, ids.to_list()))
