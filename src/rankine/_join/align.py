"""align: one place that decides order, ties, precision, duplicates, who is evaluated.

- Rank comes from the score, descending; equal scores by item id, descending in the byte
  order of its text (trec_eval's rule), unless the convention says otherwise. A rank
  column, or the order of a list, is used where there is no score.
- An item twice for one query is an error, unless the convention says otherwise.
- Queries are those of the judgements, in their order. The convention decides whether
  those that the run misses are kept.
- Ids are the user's own: an int stays an int. Between text and int, see `same_type`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from rankine._conventions.convention import BY_RANK
from rankine._io.sources import Dense, Lists, Rows, Source, Stream
from rankine._join import dense
from rankine._join import judged_mappings as probe
from rankine._join import judged_rows as rows
from rankine._join.ids import Index, one_type
from rankine._join.named import Named
from rankine._join.pieces import repeats_left_out
from rankine._join.policy import SHOWN, Aligned, apply
from rankine._tables.judged import Judged
from rankine._tables.segments import no_steps, rounded
from rankine.errors import DataError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rankine._base.arrays import Ints
    from rankine._conventions.convention import Convention
    from rankine._join.judgements import Judgements
    from rankine._join.truth import Truth

SPREAD = frozenset({"average", "best", "worst"})
"""Ways to look at all orders of tied items."""


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
    return apply(join(truth, run, rule, depth=depth, keep_scores=keep_scores), rule)


def join(
    truth: Truth,
    run: Source,
    rule: Convention,
    *,
    depth: int | None = None,
    keep_scores: bool = False,
) -> Aligned:
    """Join without what the convention says of queries, pools and floors."""
    source = truth.source
    if isinstance(source, Lists) and isinstance(run, Lists) and _can_probe(run, rule):
        probed = _probed(truth, run, rule, keep_scores=keep_scores)
        if probed is not None:
            return _with_notes(probed, truth)
    if isinstance(run, Dense):
        aligned = _from_matrix(truth, run, rule, depth, keep_scores=keep_scores)
    else:
        aligned = _from_rows(truth, run, rule, depth, keep_scores=keep_scores)
    return _with_notes(aligned, truth)


def _with_notes(aligned: Aligned, truth: Truth) -> Aligned:
    """Add what was seen while reading the judgements."""
    own = truth.source.notes
    return replace(aligned, notes=(*own, *aligned.notes)) if own else aligned


def _can_probe(run: Lists, rule: Convention) -> bool:
    """Say whether look-ups do: not for lists that may have an item twice, nor ranks."""
    if rule.order in BY_RANK:
        return False
    if rule.duplicates == "error" or _are_mappings(run.data):
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


def _probed(
    truth: Truth, run: Lists, rule: Convention, *, keep_scores: bool
) -> Aligned | None:
    """Look the judged items up; None if the ids are of types that never agree."""
    grades = truth.grades
    data = run.data
    found = probe.Probed(grades, truth.pool, data, rule, run.name)
    if len(found.query) == 0 and probe.types_differ(grades, data):
        return None
    table = Judged(
        query=found.query,
        rank=found.rank,
        grade=found.grade,
        above=found.above,
        tied=found.tied,
        score=found.score,
        n_retrieved=found.length,
        in_run=found.present,
        pool=truth.pool,
        scores=found.scores if keep_scores else None,
        score_query=found.score_query if keep_scores else None,
        pair=found.pair,
    )
    lengths = [len(probe.by_place(query, data[query])) for query in found.extra]
    by_score = rule.order == "score" and _are_mappings(run.data)
    return _named(
        table,
        list(grades),
        found.extra,
        lengths,
        run.notes,
        strict=found.is_strict,
        exact=found.is_exact,
        scored=by_score,
        named=truth.named,
        steps=found.steps,
    )


def _from_rows(
    truth: Truth,
    run: Source,
    rule: Convention,
    depth: int | None,
    *,
    keep_scores: bool,
) -> Aligned:
    from rankine._io.mappings import as_rows  # noqa: PLC0415

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
    found = rows.match(judged, frame, rule, depth=depth, keep_scores=keep_scores)
    n = found.n_judged
    query, pair = _joined(found.query), _joined(found.pair)
    rank = _joined(found.rank)
    order = by_query_and_rank(query, rank)
    pair = pair[order]
    scores = score_query = None
    if keep_scores:
        score_query = _joined(found.score_query)
        of_judged = score_query < n
        scores = _joined(found.scores, np.float64)[of_judged]
        score_query = score_query[of_judged]
    table = Judged(
        query=query[order],
        rank=rank[order],
        grade=judged.pool.grade[pair],
        above=_joined(found.above)[order],
        tied=_joined(found.tied)[order],
        score=_joined(found.score, np.float64)[order],
        n_retrieved=found.length[:n],
        in_run=found.length[:n] > 0,
        pool=judged.pool,
        scores=scores,
        score_query=score_query,
        pair=pair,
    )
    if found.n_dropped:
        notes += (repeats_left_out(found.n_dropped),)
    named = _named(
        table, truth.judgements.queries, found.extra, found.length[n:], notes
    )
    by_score = rule.order == "score" and not frame.ranked and found.scored
    return replace(
        named,
        repeats=True,
        strict=lambda: found.strict,
        exact=lambda: found.exact,
        spans=found.spans,
        scored=by_score,
        unsorted=len(found.unsorted),
        named=Named(judged.pool, judged.items),
        deepest=depth,
        steps=no_steps if frame.ranked else lambda: (found.rises, found.falls),
    )


def _from_matrix(
    truth: Truth,
    run: Dense,
    rule: Convention,
    depth: int | None,
    *,
    keep_scores: bool,
) -> Aligned:
    if rule.order != "score":
        msg = f"a matrix of scores has no other order, as order={rule.order!r} asks"
        raise DataError(msg)
    scores = run.matrix
    masked = dense.smallest_score(run, scores) == -np.inf
    scores = rounded(scores, rule.score_bits)
    source = truth.source
    tie_order = dense.tie_order(run, rule.tie)
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
        order = by_query_and_rank(query, rank)
        query, column, rank = query[order], column[order], rank[order]
        above, tied, grade = above[order], tied[order], grade[order]
        pair = pair[order]
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
            msg = f"grades and scores are not of the same {axis} in the same order"
            raise DataError(msg)


def _joined(parts: list[Any], dtype: Any = np.int64) -> Any:
    if len(parts) == 1:
        return parts[0]
    return np.concatenate(parts) if parts else np.zeros(0, dtype=dtype)


def by_query_and_rank(query: Ints, rank: Ints) -> Ints | slice:
    """Return the order of rows by query and rank; nothing to do if they have it."""
    same = query[1:] == query[:-1]
    sorted_ = (query[1:] > query[:-1]) | (same & (rank[1:] >= rank[:-1]))
    if sorted_.all():
        return slice(None)
    # Rows that are nearly in order are brought there soonest by a stable sort.
    key: Ints = query * (int(rank.max(initial=0)) + 1) + rank
    return key.argsort(kind="stable")


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
