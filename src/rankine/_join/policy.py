"""What a convention says of a joined table: queries, floors, pools, unjudged items."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from rankine._base.text import count
from rankine._tables.judged import with_the_rest
from rankine._tables.pool import Pool
from rankine._tables.segments import no_steps, position, runs, starts_of
from rankine.errors import DataError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import polars as pl

    from rankine._base.arrays import Bools, Ints
    from rankine._conventions.convention import Convention
    from rankine._join.first import First
    from rankine._join.named import Named
    from rankine._tables.judged import Judged


SHOWN = 3
"""How many ids are shown as examples."""


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
        floored: how many judged items are under the convention's floor of scores.
        repeats: whether an item may stand twice in a list.
        scored: whether the scores are the user's, and not made from places.
        unsorted: how many lists are not in the order of their scores, where the order
            given is taken.
        named: whose the judged grades are.
        origin: per query of the table, its number among the judgements, -1 if it has
            none; None if all are where they were.
        deepest: the rank down to which judged items were looked for at least, None if
            the lists were looked through.
        keep: how many first items of each list were to be kept.
        kept: these items; None where only judged ones can be among them.
        steps: tells how often a score is above the one before it in its list, and
            whether one is below.
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
    named: Named | None = None
    origin: Ints | None = None
    deepest: int | None = None
    keep: int = 0
    kept: First | None = None
    steps: Callable[[], tuple[int, bool]] = no_steps


def rows_of(table: Judged, kept: Ints | Bools | slice) -> Judged:
    """Keep some rows of a table."""
    return replace(
        table,
        query=table.query[kept],
        rank=table.rank[kept],
        grade=table.grade[kept],
        above=table.above[kept],
        tied=table.tied[kept],
        score=table.score[kept],
        pair=None if table.pair is None else table.pair[kept],
        memo={},
    )


def cut(aligned: Aligned, depth: int) -> Aligned:
    """Keep the first items of each list only."""
    table = aligned.table
    left = rows_of(table, table.rank <= depth)
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
    """Apply what the convention says of queries, floors, pools and unjudged items.

    Where these are not all data, judgements and run need not share a query.
    """
    table = aligned.table
    alone = aligned.missing == table.n_queries and table.n_queries and aligned.extra
    if alone and not partial:
        raise no_overlap(table.n_queries, aligned.missing_ids, aligned.extra)
    if aligned.missing and rule.missing_run == "error":
        names = ", ".join(repr(value) for value in aligned.missing_ids)
        msg = (
            f"the run misses {aligned.missing} of {table.n_queries} judged queries "
            f"({names}{', ...' if aligned.missing > SHOWN else ''})"
        )
        raise DataError(msg)
    if rule.negative == "error" and (table.pool.grade < 0).any():
        n = int((table.pool.grade < 0).sum())
        msg = f"{count(n, 'negative grade')}, which the convention refuses"
        raise DataError(msg)
    if rule.negative == "keep":
        table = replace(table, keep_negative=True)
    if rule.duplicates == "set" and aligned.repeats and table.pair is not None:
        # The best-ranked row of each judged pair.
        _, first = np.unique(table.pair, return_index=True)
        if len(first) < len(table.pair):
            table = rows_of(table, np.sort(first))
    table = _pooled(table, rule)
    if rule.score_floor is not None and aligned.scored:
        # An item under the floor is not found, but still to be found.
        above = table.score > rule.score_floor
        aligned = replace(aligned, floored=int(np.count_nonzero(~above)))
        table = rows_of(table, above)
    if rule.queries in {"run", "both"} and aligned.missing:
        aligned = replace(
            aligned,
            ids=_chosen(aligned.ids, table.in_run),
            origin=np.flatnonzero(table.in_run),
        )
        table = _queries_of(table, table.in_run)
    if rule.queries == "run" and aligned.extra:
        aligned = _with_extra(aligned, table.n_queries)
        table = _with_unjudged_queries(table, aligned.extra_length)
    return replace(aligned, table=table) if table is not aligned.table else aligned


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
    """Apply what the convention says of unjudged and of unretrieved items."""
    if rule.unjudged == "removed":
        table = _without_unjudged(table)
    if rule.pool == "list":
        return replace(table, pool=_of_list(table), memo={})
    if rule.pool == "union":
        found = np.bincount(table.query, minlength=table.n_queries)
        # Where an item may stand twice, their number does not tell.
        if rule.duplicates == "count" or (found < np.diff(table.pool.starts)).any():
            return with_the_rest(table)
    return table


def _of_list(table: Judged) -> Pool:
    """Return the grades of the items in the lists.

    Where losses count, unjudged items have a grade too: they are better than a loss.
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


def _without_unjudged(table: Judged) -> Judged:
    """Take unjudged items out of the lists and rank the rest again."""
    table = rows_of(table, table.grade >= 0)
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


def _queries_of(table: Judged, kept: Bools) -> Judged:
    """Keep some queries and number them anew."""
    number = np.cumsum(kept) - 1
    rows_kept = kept[table.query]
    grades_kept = kept[table.pool.query]
    pool = Pool(
        starts_of(np.diff(table.pool.starts)[kept]), table.pool.grade[grades_kept]
    )
    left = rows_of(table, rows_kept)
    scores, score_query = table.scores, table.score_query
    if scores is not None and score_query is not None:
        inside = kept[score_query]
        scores, score_query = scores[inside], number[score_query[inside]]
    return replace(
        left,
        query=number[left.query],
        n_retrieved=table.n_retrieved[kept],
        in_run=table.in_run[kept],
        pool=pool,
        scores=scores,
        score_query=score_query,
    )


def _chosen(ids: Sequence[Any] | pl.Series, kept: Bools) -> Sequence[Any] | pl.Series:
    if not isinstance(ids, list):
        return ids.gather(np.flatnonzero(kept))  # type: ignore[union-attr]
    return [value for value, chosen in zip(ids, kept, strict=True) if chosen]
