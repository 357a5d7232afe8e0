"""Tables that were joined, with the ids of their queries and what was seen on the way.

`Aligned` has judged items, `Listed` whole lists; `apply` does with the first what a
convention says about queries, floors, pools and unjudged items. Which queries are left
is decided here, so their ids are here too: as columns of any kind, which are taken by
positions and shown in messages, so that engines without polars apply the same rules.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import compress
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from rankine._base.arrays import all_true
from rankine._base.text import QUERY, count, plural
from rankine._tables.judged import with_the_rest
from rankine._tables.pool import Pool
from rankine._tables.segments import NO_STEPS, starts_of
from rankine.errors import DataError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from rankine._base.arrays import Bools, Ints
    from rankine._conventions.convention import Convention
    from rankine._tables.judged import Judged
    from rankine._tables.lists import Recommended
    from rankine._tables.segments import Steps


_NO_LENGTHS: Ints = np.zeros(0, dtype=np.int64)
SHOWN = 3
"""How many ids are shown as examples."""


class IdSequence(Protocol):
    """Ids: a list, or a column that is taken by an array of positions."""

    def __len__(self) -> int:
        """Return how many there are."""

    def __iter__(self) -> Iterator[Any]:
        """Give one after the other."""

    def __getitem__(self, place: Any, /) -> Any:
        """Return the id at a place, or a column of those at several."""


@dataclass(frozen=True, slots=True, eq=False)
class Aligned:
    """A table, the ids of its queries, and what was seen on the way.

    Attributes:
        table: the joined table.
        ids: the ids of its queries, as the user gave them.
        missing: how many judged queries the run does not have.
        missing_ids: the ids of these.
        extra: ids of the queries of the run that are not judged.
        extra_length: the lengths of their lists.
        notes: what was inferred, dropped or changed.
        floored: how many judged items are at or below the convention's score floor.
        repeats: whether an item may stand twice in a list.
        scored: whether the scores are the user's, and not made from positions.
        unsorted: how many lists are not in the order of their scores, if the order
            given is used.
        named: whose the judged grades are, for those who show items.
        origin: per query of the table, its number among the judgements, -1 if it has
            none; None if all are where they were.
        deepest: the rank down to which, at least, judged items were searched for; None
            if the whole lists were searched.
        keep: how many first items of each list were to be kept.
        kept: these items, for those who show them; None if only judged items can be
            among them.
        steps: how scores rise and fall along the lists, or what looks for that when it
            is asked.
        whole: the length of the list of each judged query before unjudged items were
            left out; None if they were not.
        found: how many judged items the run has, if the table has only some of them.
        given: the judged grades, the lengths of the lists, and how many judged items
            were found, before lists were cut or a convention was applied; None if that
            changed nothing.
        split: in how many queries judged items are tied across a depth at which lists
            were cut.
    """

    table: Judged
    ids: IdSequence
    missing: int
    missing_ids: IdSequence
    extra: list[Any]
    extra_length: Ints
    notes: tuple[str, ...] = ()
    floored: int = 0
    repeats: bool = False
    scored: bool = True
    unsorted: int = 0
    named: Any = None
    origin: Ints | None = None
    deepest: int | None = None
    keep: int = 0
    kept: Any = None
    steps: Steps | Callable[[], Steps] = NO_STEPS
    whole: Ints | None = None
    found: int | None = None
    given: tuple[Pool, Ints, int] | None = None
    split: int = 0

    @property
    def in_common(self) -> tuple[int, int, int]:
        """How many items are judged, how many fit into the lists, how many are there.

        A list cannot have more judged items than it has items. This is about the run as
        it was given, of which metrics may look at the first items alone.
        """
        pool, length, found = self.given or self._as_it_is
        possible = int(np.minimum(np.diff(pool.starts), length).sum())
        return len(pool.grade), possible, found if self.found is None else self.found

    @property
    def _as_it_is(self) -> tuple[Pool, Ints, int]:
        table = self.table
        return table.pool, table.n_retrieved, len(table.query)

    def changed(self, table: Judged, **more: Any) -> Aligned:
        """Return the same with what is left of the table."""
        return replace(self, table=table, given=self.given or self._as_it_is, **more)

    @property
    def lengths(self) -> Ints:
        """The length of each list, with its unjudged items."""
        length, origin = self.table.n_retrieved, self.origin
        if self.whole is None:
            return length
        if origin is None:
            return self.whole
        return np.where(origin < 0, length, self.whole[origin])


@dataclass(frozen=True, eq=False)
class Listed:
    """A table of lists, the ids of its users, and what was seen on the way.

    Attributes:
        table: the lists.
        ids: the ids of their users.
        notes: what was left out or changed.
        strange: a note on items that are not in the catalogue.
        bare: a note on items that have no features.
        catalogue: a note on the catalogue, if none was given.
        scored: whether the scores are the user's, and not made from positions.
        unsorted: how many lists are not in the order of their scores, if the order
            given is used.
        items: the ids of items by number.
        steps: how scores rise and fall along the lists.
    """

    table: Recommended
    ids: IdSequence
    notes: tuple[str, ...] = ()
    strange: tuple[str, ...] = ()
    bare: tuple[str, ...] = ()
    scored: bool = True
    unsorted: int = 0
    items: Any = None
    steps: Steps = NO_STEPS
    catalogue: tuple[str, ...] = ()

    @property
    def lengths(self) -> Ints:
        """The length of each list."""
        return self.table.length


def joined(
    table: Judged,
    ids: IdSequence,
    extra: list[Any],
    extra_length: Sequence[int] | Ints,
    notes: tuple[str, ...],
    **more: Any,
) -> Aligned:
    """Return a table as it was joined, with the queries that the run does not have."""
    lengths = np.asarray(extra_length, dtype=np.int64) if extra else _NO_LENGTHS
    if all_true(table.in_run):
        return Aligned(table, ids, 0, (), extra, lengths, notes, **more)
    missing = _chosen(ids, ~table.in_run)
    return Aligned(table, ids, len(missing), missing, extra, lengths, notes, **more)


def cut(aligned: Aligned, depth: int) -> Aligned:
    """Keep the first items of each list, whatever a convention says of the rest."""
    table, deepest = aligned.table, aligned.deepest
    across = (table.above < depth) & (table.above + table.tied > depth)
    return aligned.changed(
        table.cut(depth),
        extra_length=np.minimum(aligned.extra_length, depth),
        deepest=depth if deepest is None else min(depth, deepest),
        split=len(np.unique(table.query[across])) if across.any() else 0,
    )


def apply(
    aligned: Aligned, rule: Convention, unit: str = QUERY, *, partial: bool = False
) -> Aligned:
    """Apply what the convention says about queries, floors, pools and unjudged items.

    If these are only part of the data, judgements and run need not share a query, which
    messages call by the unit.
    """
    table = aligned.table
    alone = aligned.missing == table.n_queries and table.n_queries and aligned.extra
    if alone and not partial:
        raise no_overlap(table.n_queries, aligned.missing_ids, aligned.extra, unit)
    if aligned.missing and rule.missing_run == "error":
        raise lacking(aligned.missing, table.n_queries, aligned.missing_ids, unit)
    if rule.negative == "error" and (table.pool.grade < 0).any():
        raise too_low(int((table.pool.grade < 0).sum()))
    if rule.negative == "keep":
        table = replace(table, keep_negative=True)
    if rule.duplicates == "set" and aligned.repeats and table.pair is not None:
        # The best-ranked row of each judged pair.
        _, first = np.unique(table.pair, return_index=True)
        if len(first) < len(table.pair):
            table = table.take(np.sort(first))
    whole = table.n_retrieved if rule.unjudged == "removed" else None
    table = _pooled(table, rule)
    if rule.score_floor is not None and aligned.scored:
        # An item under the floor is not found, but still to be found.
        above = table.score > rule.score_floor
        aligned = replace(aligned, floored=int(np.count_nonzero(~above)))
        table = table.take(above)
    if rule.queries in {"run", "both"} and aligned.missing:
        aligned = replace(
            aligned,
            ids=_chosen(aligned.ids, table.in_run),
            origin=np.flatnonzero(table.in_run),
        )
        table = table.of_queries(table.in_run)
    if rule.queries == "run" and aligned.extra:
        aligned = _with_extra(aligned, table.n_queries)
        table = _with_unjudged_queries(table, aligned.extra_length)
    same = table is aligned.table
    return aligned if same else aligned.changed(table, whole=whole)


def _with_extra(aligned: Aligned, n_judged: int) -> Aligned:
    """Add the ids of the queries of the run that have no judgements."""
    extra, origin = aligned.extra, aligned.origin
    origin = np.arange(n_judged) if origin is None else origin
    return replace(
        aligned,
        ids=[*list(aligned.ids), *extra],
        extra=[],
        origin=np.concatenate((origin, np.full(len(extra), -1))),
    )


def _pooled(table: Judged, rule: Convention) -> Judged:
    """Apply what the convention says about unjudged and unretrieved items."""
    if rule.unjudged == "removed":
        table = table.without_unjudged()
    if rule.pool == "list":
        return replace(table, pool=_of_list(table), memo={})
    if rule.pool == "union":
        n_found = np.bincount(table.query, minlength=table.n_queries)
        # If an item may appear twice, their number does not tell.
        if rule.duplicates == "count" or (n_found < np.diff(table.pool.starts)).any():
            return with_the_rest(table)
    return table


def _of_list(table: Judged) -> Pool:
    """Return the grades of the items in the lists.

    If losses count, unjudged items have a grade too, since they are better than a loss.
    """
    counts = np.bincount(table.query, minlength=table.n_queries)
    if not table.keep_negative or not (table.grade < 0).any():
        return Pool(starts_of(counts), table.grade)
    unjudged = table.n_retrieved - counts
    more = np.repeat(np.arange(table.n_queries), unjudged)
    order = np.argsort(np.concatenate((table.query, more)), kind="stable")
    grade = np.concatenate((table.grade, np.zeros(len(more))))[order]
    return Pool(starts_of(table.n_retrieved), grade)


def _with_unjudged_queries(table: Judged, length: Ints) -> Judged:
    """Add queries of the run that have no judgements, and so no relevant item."""
    end = table.pool.starts[-1]
    starts = np.concatenate((table.pool.starts, np.full(len(length), end)))
    return replace(
        table,
        n_retrieved=np.concatenate((table.n_retrieved, length)),
        in_run=np.concatenate((table.in_run, np.ones(len(length), dtype=np.bool_))),
        pool=Pool(starts, table.pool.grade),
        memo={},
    )


def no_overlap(
    n: int, judged: IdSequence, listed: Sequence[Any], unit: str
) -> DataError:
    """Say that judgements and run share no query, with a few ids of each."""
    ours = ", ".join(repr(value) for value in judged[:SHOWN])
    theirs = ", ".join(repr(value) for value in listed[:SHOWN])
    msg = (
        f"0 of {n} judged {plural(unit)} are in the run; the judgements have {ours}, "
        f"the run has {theirs}"
    )
    return DataError(msg)


def lacking(n: int, n_judged: int, ids: IdSequence, unit: str) -> DataError:
    """Say that a run lacks n judged queries, if the convention refuses that."""
    names = ", ".join(map(repr, ids[:SHOWN]))
    more = ", ..." if n > SHOWN else ""
    who = f"{n} of {n_judged} judged {plural(unit)}"
    return DataError(f"the run lacks {who} ({names}{more})")


def too_low(n: int) -> DataError:
    """Say that n grades are negative, if the convention refuses that."""
    return DataError(f"{count(n, 'negative grade')}, which the convention refuses")


def _chosen(ids: IdSequence, kept: Bools) -> IdSequence:
    if isinstance(ids, list):
        return [*compress(ids, kept)]
    some: IdSequence = ids[np.flatnonzero(kept)]
    return some
