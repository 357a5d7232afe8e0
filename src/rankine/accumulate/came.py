"""Who and what has come in batches, so that nothing is cut apart or counted twice."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from rankine.errors import DataError
from rankine.io.mappings import as_rows
from rankine.io.sources import Dense, Lists
from rankine.words import count

if TYPE_CHECKING:
    from rankine.io.sources import Source
    from rankine.table.truth import Truth


@dataclass(frozen=True)
class Came:
    """Who and what has come, by their texts, as ids of two types are compared.

    Attributes:
        judged: the queries with judgements, None if there are no judgements.
        alone: the queries with a list and no judgements in its batch.
        items: the items shown, if they are counted.
    """

    judged: frozenset[str] | None = frozenset()
    alone: frozenset[str] = frozenset()
    items: frozenset[str] = frozenset()
    none: bool = True

    def joined(self, other: Came, size: int | None) -> Came:
        """Put two parts together, or say why they cannot be.

        Args:
            other: another part.
            size: how many items there are in the catalogue, if that is known.
        """
        if self.none or other.none:
            made = other if self.none else self
        else:
            if (self.judged is None) != (other.judged is None):
                msg = "some batches have judgements, and others have none"
                raise DataError(msg)
            judged, too = self.judged or frozenset(), other.judged or frozenset()
            apart = (self.alone & too) | (other.alone & judged)
            if apart:
                msg = (
                    f"{count(len(apart), 'query')} with judgements in one batch and a "
                    f"list in another, such as {min(apart)!r}; both belong into one"
                )
                raise DataError(msg)
            made = Came(
                None if self.judged is None else judged | too,
                self.alone | other.alone,
                self.items | other.items,
                none=False,
            )
        if size is not None and len(made.items) > size:
            msg = (
                f"the catalogue has {count(size, 'item')}, but the batches have "
                f"{count(len(made.items), 'different one')}"
            )
            raise DataError(msg)
        return made


def came_in(truth: Truth | None, source: Source, *, items: bool) -> Came:
    """Return who and what a batch has."""
    listed = _texts(source, "query")
    judged = None if truth is None else _texts(truth.source, "query")
    return Came(
        judged,
        frozenset() if judged is None else listed - judged,
        _texts(source, "item") if items else frozenset(),
        none=False,
    )


def _texts(source: Source, part: str) -> frozenset[str]:
    """Return the ids of queries or items as texts."""
    if isinstance(source, Dense):
        ids = source.queries if part == "query" else source.items
    elif isinstance(source, Lists) and part == "query":
        return frozenset(map(str, source.data))
    else:
        ids = as_rows(source, "run", lenient=True).frame[part].unique().drop_nulls()
    return frozenset(map(str, ids.to_list()))
