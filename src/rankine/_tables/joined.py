"""Tables that were joined, with the ids of their queries and what was seen on the way.

`Aligned` has judged items, `Listed` whole lists; `apply` does with the first what a
convention says about queries, floors, pools and unjudged items.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from rankine._base.arrays import all_true
from rankine._base.text import count
from rankine._tables.judged import with_the_rest
from rankine._tables.pool import Pool
from rankine._tables.segments import position, runs, starts_of
from rankine.errors import DataError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import polars as pl

    from rankine._base.arrays import Bools, Ints
    from rankine._conventions.convention import Convention
    from rankine._join.judgements import GradesByItem
    from rankine._join.lists import First
    from rankine._tables.judged import Judged
    from rankine._tables.lists import Recommended


_NO_LENGTHS: Ints = np.zeros(0, dtype=np.int64)
SHOWN = 3
"""How many ids are shown as examples."""


def no_steps() -> tuple[int, bool]:
    """Say that nothing rises and nothing falls, for lists without scores."""
    return 0, False


@dataclass(frozen=True, slots=True, eq=False)
class Aligned:
    """A table, the ids of its queries, and what was seen on the way.

    Attributes:
        table: the joined table.
        ids: the ids of its queries, as the user gave them.
        missing: how many judged queries the run does not have.
        missing_ids: the first few of them.
        extra: ids of the queries of the run that are not judged.
        extra_length: the lengths of their lists.
        notes: what was inferred, dropped or changed.
        floored: how many judged items are at or below the convention's score floor.
        repeats: whether an item may stand twice in a list.
        scored: whether the scores are the user's, and not made from positions.
        unsorted: how many lists are not in the order of their scores, if the order
            given is used.
        named: whose the judged grades are.
        origin: per query of the table, its number among the judgements, -1 if it has
            none; None if all are where they were.
        deepest: the rank down to which, at least, judged items were searched for; None
            if the whole lists were searched.
        keep: how many first items of each list were to be kept.
        kept: these items; None if only judged items can be among them.
        steps: says how often a score is above the one before it in its list, and
            whether one is below.
        whole: the length of the list of each judged query before unjudged items were
            left out; None if they were not.
        found: how many judged items the run has, if the table has only some of them.
    """

    table: Judged
    ids: Sequence[Any] | pl.Series
    missing: int
    missing_ids: tuple[Any, ...]
    extra: list[Any]
    extra_length: Ints
    notes: tuple[str, ...] = ()
    floored: int = 0
    repeats: bool = False
    scored: bool = True
    unsorted: int = 0
    named: GradesByItem | None = None
    origin: Ints | None = None
    deepest: int | None = None
    keep: int = 0
    kept: First | None = None
    steps: Callable[[], tuple[int, bool]] = no_steps
    whole: Ints | None = None
    found: int | None = None

    @property
    def in_common(self) -> tuple[int, int, int]:
        """How many items are judged, how many fit into the lists, how many are there.

        A list cannot have more judged items than it has items.
        """
        table, origin = self.table, self.origin
        pool = table.pool if self.named is None else self.named.pool
        judged = np.diff(pool.starts)
        if self.named is not None and origin is not None:
            judged = np.append(judged, 0)[origin]  # -1 is not judged
        possible = int(np.minimum(judged, self.lengths).sum())
        found = len(table.query) + self.floored if self.found is None else self.found
        return len(pool.grade), possible, found

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
        items: the ids of items by number.
        steps: says how scores rise and fall along the lists, as in `Aligned`.
    """

    table: Recommended
    ids: pl.Series
    notes: tuple[str, ...] = ()
    strange: tuple[str, ...] = ()
    bare: tuple[str, ...] = ()
    unsorted: int = 0
    items: pl.Series | None = None
    steps: Callable[[], tuple[int, bool]] = no_steps
    catalogue: tuple[str, ...] = ()

    @property
    def lengths(self) -> Ints:
        """The length of each list."""
        return self.table.length


def joined(
    table: Judged,
    ids: Sequence[Any] | pl.Series,
    extra: list[Any],
    extra_length: Sequence[int] | Ints,
    notes: tuple[str, ...],
    **more: Any,
) -> Aligned:
    """Return a table as it was joined, with the queries that the run does not have."""
    lengths = np.asarray(extra_length, dtype=np.int64) if extra else _NO_LENGTHS
    if all_true(table.in_run):
        return Aligned(table, ids, 0, (), extra, lengths, notes, **more)
    missing = np.flatnonzero(~table.in_run)
    shown = tuple(ids[int(query)] for query in missing[:SHOWN])
    return Aligned(table, ids, len(missing), shown, extra, lengths, notes, **more)


def cut(aligned: Aligned, depth: int) -> Aligned:
    """Keep only the first items of each list."""
    table = aligned.table
    left = table.take(table.rank <= depth)
    scores, score_query = table.scores, table.score_query
    if scores is not None and score_query is not None:
        order = np.lexsort((-scores, score_query))
        order = order[position(score_query[order]) < depth]
        scores, score_query = scores[order], score_query[order]
    deepest = aligned.deepest
    return replace(
        aligned,
        deepest=depth if deepest is None else min(depth, deepest),
        table=replace(
            left,
            n_retrieved=np.minimum(table.n_retrieved, depth),
            scores=scores,
            score_query=score_query,
        ),
    )


def apply(aligned: Aligned, rule: Convention, *, partial: bool = False) -> Aligned:
    """Apply what the convention says about queries, floors, pools and unjudged items.

    If these are only part of the data, judgements and run need not share a query.
    """
    table = aligned.table
    alone = aligned.missing == table.n_queries and table.n_queries and aligned.extra
    if alone and not partial:
        raise no_overlap(table.n_queries, aligned.missing_ids, aligned.extra)
    if aligned.missing and rule.missing_run == "error":
        raise lacking(aligned.missing, table.n_queries, aligned.missing_ids)
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
    return aligned if same else replace(aligned, table=table, whole=whole)


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
        table = _without_unjudged(table)
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


def no_overlap(n: int, judged: Sequence[Any], listed: Sequence[Any]) -> DataError:
    """Say that judgements and run share no query, with a few ids of each."""
    ours = ", ".join(repr(value) for value in judged[:SHOWN])
    theirs = ", ".join(repr(value) for value in listed[:SHOWN])
    msg = (
        f"0 of {n} judged queries are in the run; the judgements have {ours}, the run "
        f"has {theirs}"
    )
    return DataError(msg)


def lacking(n: int, n_judged: int, ids: Sequence[Any]) -> DataError:
    """Say that a run lacks n judged queries, if the convention refuses that."""
    names = ", ".join(map(repr, ids[:SHOWN]))
    more = ", ..." if n > SHOWN else ""
    return DataError(f"the run lacks {n} of {n_judged} judged queries ({names}{more})")


def too_low(n: int) -> DataError:
    """Say that n grades are negative, if the convention refuses that."""
    return DataError(f"{count(n, 'negative grade')}, which the convention refuses")


def _without_unjudged(table: Judged) -> Judged:
    """Take unjudged items out of the lists and rank the rest again."""
    table = table.take(table.grade >= 0)
    rank = position(table.query) + 1
    first, block = runs(table.query, table.above)
    return replace(
        table,
        rank=rank,
        above=(rank[first] - 1)[block],
        tied=np.bincount(block)[block],
        n_retrieved=np.bincount(table.query, minlength=table.n_queries),
        memo={},
    )


def _chosen(ids: Sequence[Any] | pl.Series, kept: Bools) -> Sequence[Any] | pl.Series:
    if not isinstance(ids, list):
        return ids.gather(np.flatnonzero(kept))  # type: ignore[union-attr]
    return [value for value, chosen in zip(ids, kept, strict=True) if chosen]
