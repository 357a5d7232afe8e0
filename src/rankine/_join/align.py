"""Judgements and a run, joined: which retrieved items are judged, at which rank.

- Rank comes from the score, descending; equal scores by item id, descending in the byte
  order of its text (trec_eval's rule), unless the convention says otherwise. A rank
  column, or the order of a list, is used where there is no score.
- An item twice for one query is an error, unless the convention says otherwise.
- Queries are those of the judgements, in their order. The convention decides whether
  those that the run misses are kept.
- Ids are the user's own: an int stays an int. Between text and int, see `ids.py`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from rankine._conventions.convention import BY_RANK
from rankine._io.mappings import as_rows
from rankine._io.sources import Dense, Lists, Rows, Source, Stream
from rankine._join import dense
from rankine._join import judged_mappings as probe
from rankine._join import judged_rows as rows
from rankine._join.ids import Index, one_type
from rankine._join.matches import by_query_and_rank
from rankine._join.named import Named
from rankine._join.pieces import repeats_left_out
from rankine._join.policy import SHOWN, Aligned, apply
from rankine._tables.judged import Judged
from rankine._tables.order import Order
from rankine._tables.segments import no_steps, rounded
from rankine.errors import DataError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rankine._base.arrays import Ints
    from rankine._conventions.convention import Convention
    from rankine._join.judgements import Judgements
    from rankine._join.truth import Truth


def align(
    truth: Truth,
    run: Source,
    rule: Convention,
    *,
    depth: int | None = None,
    keep_scores: bool = False,
) -> Aligned:
    """Join judgements and a run into the table that all metrics read.

    Args:
        truth: the judgements.
        run: the retrieved items.
        rule: the convention that decides order, ties, duplicates and queries.
        depth: the deepest rank that any metric looks at, if there is one.
        keep_scores: whether a metric needs the scores of all retrieved items.
    """
    order = Order.of(rule)
    return apply(match(truth, run, {order: keep_scores}, depth=depth)[order], rule)


def match(
    truth: Truth,
    run: Source,
    orders: Mapping[Order, bool],
    *,
    depth: int | None = None,
) -> dict[Order, Aligned]:
    """Join judgements and a run, once for all orders of its items.

    What a convention says of queries, pools and floors is not applied yet.

    Args:
        truth: the judgements.
        run: the retrieved items.
        orders: the orders, and whether the scores of all items are to be kept.
        depth: the deepest rank that any metric looks at, if there is one.
    """
    if isinstance(run, Dense):
        aligned = {
            order: _from_matrix(truth, run, order, depth, keep_scores=keep_scores)
            for order, keep_scores in orders.items()
        }
    else:
        aligned = _looked_up(truth, run, orders)
        others = {order: keep for order, keep in orders.items() if order not in aligned}
        if others:
            aligned |= _from_rows(truth, run, others, depth)
    notes = truth.source.notes
    if not notes:
        return aligned
    # What was seen while reading the judgements.
    return {
        order: replace(one, notes=(*notes, *one.notes))
        for order, one in aligned.items()
    }


def _looked_up(
    truth: Truth, run: Source, orders: Mapping[Order, bool]
) -> dict[Order, Aligned]:
    """Look judged items up in lists that are mappings, for the orders that allow it.

    None is looked up where the ids are of types that never agree.
    """
    if not isinstance(truth.source, Lists) or not isinstance(run, Lists):
        return {}
    some = {order: keep for order, keep in orders.items() if _can_probe(run, order)}
    if not some:
        return {}
    grades, data = truth.grades, run.data
    probed = probe.Probed(grades, truth.pool, data, run.name)
    aligned = {}
    for order, keep_scores in some.items():
        ranked = probed.ranked(order)
        if len(ranked.query) == 0 and probe.types_differ(grades, data):
            return {}
        lengths = [len(probe.by_place(query, data[query])) for query in probed.extra]
        aligned[order] = _named(
            probed.table(ranked, keep_scores=keep_scores),
            list(grades),
            probed.extra,
            lengths,
            run.notes,
            scored=order.by == "score" and _are_mappings(run.data),
            named=truth.named,
            steps=probed.steps,
        )
    return aligned


def _can_probe(run: Lists, order: Order) -> bool:
    """Say whether look-ups do: not for lists that may repeat an item, nor ranks."""
    if order.by in BY_RANK:
        return False
    if order.duplicates == "error" or _are_mappings(run.data):
        return True
    return all(
        isinstance(entry, Mapping)
        or (isinstance(entry, list) and _is_without_repeats(entry))
        for entry in run.data.values()
    )


def _are_mappings(data: Mapping[Any, Any]) -> bool:
    """Say whether all lists are mappings, by the few types that they have."""
    return all(issubclass(kind, Mapping) for kind in set(map(type, data.values())))


def _is_without_repeats(entry: list[Any]) -> bool:
    try:
        return len(set(entry)) == len(entry)
    except TypeError:
        return False  # no ids, which the other reader tells


def _from_rows(
    truth: Truth, run: Source, orders: Mapping[Order, bool], depth: int | None
) -> dict[Order, Aligned]:
    own, other = getattr(truth.source, "shape", None), getattr(run, "shape", None)
    if own is not None and other is not None and own != other:
        ours, theirs = (" x ".join(map(str, shape)) for shape in (own, other))
        msg = f"the judgements are a matrix of {ours}, the run is one of {theirs}"
        raise DataError(msg)
    judged = truth.judgements
    frame = run if isinstance(run, (Rows, Stream)) else as_rows(run, role="run")
    text = judged.queries.dtype == pl.String and judged.items.dtype == pl.String
    if isinstance(frame, Stream) and not text:
        # A file has text; whether that is the text of ints is to be seen of all rows.
        frame = as_rows(frame, role="run")
    notes = frame.notes
    if isinstance(frame, Rows):
        frame, said = _same_types(judged, frame)
        notes += said
    found = rows.match(judged, frame, orders, depth=depth)
    steps = no_steps if frame.ranked else lambda: (found.rises, found.falls)
    aligned = {}
    for order, ranked in found.by_order.items():
        dropped = (repeats_left_out(ranked.n_dropped),) if ranked.n_dropped else ()
        n_queries, keep_scores = found.n_queries, orders[order]
        aligned[order] = _named(
            ranked.table(judged.pool, n_queries, keep_scores=keep_scores),
            judged.queries,
            found.extra,
            ranked.lengths(n_queries)[found.n_judged :],
            (*notes, *dropped),
            repeats=True,
            scored=order.by == "score" and not frame.ranked and ranked.scored,
            unsorted=len(ranked.unsorted),
            named=Named(judged.pool, judged.items),
            deepest=depth,
            steps=steps,
        )
    return aligned


def _from_matrix(
    truth: Truth,
    run: Dense,
    order: Order,
    depth: int | None,
    *,
    keep_scores: bool,
) -> Aligned:
    if order.by != "score":
        msg = (
            f"a matrix of scores is ranked by its scores; order={order.by!r} cannot be "
            "used"
        )
        raise DataError(msg)
    scores = run.matrix
    masked = dense.smallest_score(run, scores) == -np.inf
    scores = rounded(scores, order.bits)
    source = truth.source
    tie_order = dense.tie_order(run, order.tie)
    if isinstance(source, Dense):
        _same_axes(source, run)
        row, column, rank, above, tied = dense.top(
            scores, tie_order, depth, masked=masked
        )
        grade = source.matrix[row, column]
        if np.isnan(grade).any():
            judged = ~np.isnan(grade)
            row, column, rank = row[judged], column[judged], rank[judged]
            above, tied, grade = above[judged], tied[judged], grade[judged]
        query, pool, ids, extra = row, truth.pool, source.queries, []
        said: tuple[str, ...] = ()
        list_row = np.arange(len(ids))
        named, deepest = truth.named, depth
        pair = row * scores.shape[1] + column
    else:
        judgements = truth.judgements
        ids, pool = judgements.queries, judgements.pool
        named, deepest = Named(pool, judgements.items), None
        list_row, column, pair, said = _cells(judgements, run)
        query = pool.query[pair]
        kept = scores[list_row[query], column] > -np.inf
        query, column, pair = query[kept], column[kept], pair[kept]
        rank, above, tied = dense.count_above(
            scores, list_row[query], column, tie_order
        )
        grade = pool.grade[pair]
        by_rank = by_query_and_rank(query, rank)
        query, column, rank = query[by_rank], column[by_rank], rank[by_rank]
        above, tied, grade = above[by_rank], tied[by_rank], grade[by_rank]
        pair = pair[by_rank]
        unjudged = np.ones(len(run.queries), dtype=np.bool_)
        unjudged[list_row[list_row >= 0]] = False
        extra = run.queries.filter(unjudged).to_list()
    retrieved = np.full(len(scores), scores.shape[1], dtype=np.int64)
    if masked:
        retrieved = np.count_nonzero(scores > -np.inf, axis=1)
    in_run = list_row >= 0
    length = np.where(in_run, retrieved[np.maximum(list_row, 0)], 0)
    kept_scores = kept_query = None
    if keep_scores:
        cells = scores[np.maximum(list_row, 0)]
        inside = (cells > -np.inf) & in_run[:, None]
        kept_scores, kept_query = cells[inside], np.nonzero(inside)[0].astype(np.int64)
    table = Judged(
        query=query,
        rank=rank,
        grade=grade,
        above=above,
        tied=tied,
        score=scores[list_row[query], column],
        n_retrieved=length,
        in_run=in_run,
        pool=pool,
        scores=kept_scores,
        score_query=kept_query,
        pair=pair,
    )
    aligned = _named(table, ids, extra, [0] * len(extra), run.notes + said)
    return replace(aligned, named=named, deepest=deepest)


def _same_types(truth: Judgements, run: Rows) -> tuple[Rows, tuple[str, ...]]:
    """Bring the ids of a run to the types that those of the judgements have."""
    columns: dict[str, pl.Series] = {}
    notes: tuple[str, ...] = ()
    for part, known in (("query", truth.queries), ("item", truth.items)):
        columns[part], said = _as_judged(known, run.frame[part], part, truth, run.name)
        notes += said
    if all(run.frame[part].dtype == ids.dtype for part, ids in columns.items()):
        return run, ()
    frame = run.frame.with_columns(ids.alias(part) for part, ids in columns.items())
    return Rows(frame, run.name, run.line, run.lines, run.notes), notes


def _as_judged(
    known: pl.Series, ids: pl.Series, part: str, truth: Judgements, name: str
) -> tuple[pl.Series, tuple[str, ...]]:
    """Return ids of a run with the type of those of the judgements."""
    ours, theirs = (truth.name, name) if truth.name != name else ("qrels", "run")
    brought, said = one_type({ours: known, theirs: ids}, part, to=ours)
    return brought[theirs], said


def _cells(truth: Judgements, run: Dense) -> tuple[Ints, Ints, Ints, tuple[str, ...]]:
    """Find the matrix row of each query, and the judged pairs with their columns."""
    queries, said = _as_judged(truth.queries, run.queries, "query", truth, run.name)
    items, more = _as_judged(truth.items, run.items, "item", truth, run.name)
    list_row = Index(queries).find(truth.queries)
    column = Index(items).find(truth.items)
    pair = np.flatnonzero((column >= 0) & (list_row[truth.pool.query] >= 0))
    return list_row, column[pair], pair, said + more


def _same_axes(grades: Dense, scores: Dense) -> None:
    if grades.matrix.shape != scores.matrix.shape:
        msg = (
            f"grades are {grades.matrix.shape[0]} x {grades.matrix.shape[1]} and "
            f"scores {scores.matrix.shape[0]} x {scores.matrix.shape[1]}; both need "
            "the same queries and items"
        )
        raise DataError(msg)
    for axis in ("queries", "items"):
        ours, theirs = getattr(grades, axis), getattr(scores, axis)
        if not ours.equals(theirs):
            msg = f"grades and scores must have the same {axis} in the same order"
            raise DataError(msg)


def _named(
    table: Judged,
    ids: Sequence[Any] | pl.Series,
    extra: list[Any],
    extra_length: Sequence[int] | Ints,
    notes: tuple[str, ...],
    **more: Any,
) -> Aligned:
    missing = np.flatnonzero(~table.in_run)
    shown = tuple(ids[int(at)] for at in missing[:SHOWN])
    lengths = np.asarray(extra_length, dtype=np.int64)
    return Aligned(table, ids, len(missing), shown, extra, lengths, notes, **more)
