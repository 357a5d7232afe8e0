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

from rankine.errors import DataError
from rankine.io.sources import Dense, Lists, Rows, Source, Stream
from rankine.table import dense, probe, rows
from rankine.table.ids import same_type
from rankine.table.judged import Judged
from rankine.table.judgements import numbers
from rankine.table.named import Named
from rankine.table.policy import SHOWN, Aligned, apply, rows_of
from rankine.table.segments import expand, rounded
from rankine.table.tie_rule import FEW

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rankine.arrays import Ints
    from rankine.conventions.convention import Convention
    from rankine.table.judgements import Judgements
    from rankine.table.truth import Truth

SPREAD = frozenset({"average", "best", "worst"})
"""Ways to look at all orders of tied items."""
_OPPOSITE = ({"id_desc", "id_asc"}, {"input", "input_rev"})
_LITTLE = 5000
"""Rows that are looked up and not joined."""
_RISES = 5
"""Steps upwards after which scores look like distances."""


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


def key_of(rule: Convention, base: Convention) -> tuple[Any, ...]:
    """Return what of a convention decides the join; the rest is applied to the table.

    Where all orders of ties are looked at, any order of them does; and an item that
    counts once is found as one that counts twice.
    """
    tie = base.tie if rule.tie in SPREAD else rule.tie
    duplicates = "count" if rule.duplicates == "set" else rule.duplicates
    return rule.order, tie, rule.score_bits, duplicates


def served(
    aligned: Aligned,
    have: tuple[Any, ...],
    want: tuple[Any, ...],
    truth: Truth,
    run: Source,
    rule: Convention,
    depth: int | None,
) -> Aligned | None:
    """Return a join that was made otherwise, as far as it does; None if it does not.

    Without ties, no rule for ties matters, and scores that differ in 32 bits have the
    same order in 64: only queries with ties are joined again. A rule may also be
    another one turned round. Where all scores fall, the order given is theirs.
    """
    (order, tie, bits, duplicates), (other, wish, precise, repeats) = have, want
    if duplicates != repeats or order != "score" or bits > precise:
        return None
    pair = aligned.table.pair if duplicates == "count" and aligned.repeats else None
    if pair is not None and len(np.unique(pair)) < len(pair):
        return None  # who of an item's two rows comes first depends on the rule
    if other != "score":
        return aligned if other == "given" and aligned.strict() else None
    table = aligned.table
    touched = np.unique(table.query[table.tied > 1])
    if len(touched) == 0:
        return aligned
    many = len(touched) > FEW * table.n_queries
    # To see whether ties are the same in full precision takes longer than to join few.
    same = bits == precise or (many and aligned.exact())
    if same and (tie == wish or {tie, wish} in _OPPOSITE):
        return aligned if tie == wish else _turned(aligned)
    if many:
        return None
    some = _some(truth, run, aligned, touched, repeats)
    if some is None:
        return None
    again = join(*some, rule, depth=depth).table
    return replace(aligned, table=_exchanged(table, touched, again))


def _exchanged(table: Judged, touched: Ints, again: Judged) -> Judged:
    """Return a table in which other rows stand for some of its queries."""
    names = ["query", "rank", "grade", "above", "tied", "score"]
    if table.pair is not None and again.pair is not None:
        # Judgements of a query stand in the same order in both.
        own = again.pair - again.pool.starts[again.query]
        own += table.pool.starts[touched[again.query]]
        again = replace(again, pair=own)
        names.append("pair")
    again = replace(again, query=touched[again.query])
    inside = np.zeros(table.n_queries, dtype=np.bool_)
    inside[touched] = True
    rows = np.flatnonzero(inside[table.query])
    if np.array_equal(table.query[rows], again.query):
        columns = {name: getattr(table, name).copy() for name in names}
        for name, column in columns.items():
            column[rows] = getattr(again, name)
        return replace(table, memo={}, **columns)
    columns = {
        name: np.concatenate((np.delete(getattr(table, name), rows), one))
        for name, one in ((name, getattr(again, name)) for name in names)
    }
    order = _by_query_and_rank(columns["query"], columns["rank"])
    return rows_of(replace(table, **columns), order)


def _turned(aligned: Aligned) -> Aligned:
    """Turn the order of tied items round."""
    table = aligned.table
    rank = 2 * table.above + table.tied + 1 - table.rank
    order = _by_query_and_rank(table.query, rank)
    return replace(aligned, table=rows_of(replace(table, rank=rank), order))


def _some(
    truth: Truth, run: Source, aligned: Aligned, touched: Ints, repeats: str
) -> tuple[Truth, Source] | None:
    """Return the judgements and the run of some queries, if they are easily taken.

    Few rows are looked up sooner than joined, where no item may repeat.
    """
    source = truth.source
    ids = [aligned.ids[int(at)] for at in touched]
    if isinstance(source, Lists) and isinstance(run, Lists):
        grades = {one: source.data[one] for one in ids}
        entries = {one: run.data[one] for one in ids}
        return type(truth)(replace(source, data=grades)), replace(run, data=entries)
    if isinstance(source, Lists) or not isinstance(run, Rows):
        return None
    queries = truth.judgements.queries
    if isinstance(source, Dense) or run.frame["query"].dtype != queries.dtype:
        return None
    of_ids = pl.Series(ids, dtype=queries.dtype)
    if aligned.spans is None:
        shown = run.frame.filter(run.frame["query"].is_in(of_ids))
    else:
        starts, number = aligned.spans
        lists = np.flatnonzero(np.isin(number, touched))
        rows, _ = expand(starts[lists], np.diff(starts)[lists])
        shown = run.frame[rows]
    text = truth.judgements.items.dtype == shown["item"].dtype == pl.String
    if text and repeats == "error" and len(shown) <= _LITTLE:
        return _few(truth, run, ids, touched, shown)
    judged = source.frame.filter(source.frame["query"].is_in(of_ids))
    sources = [
        replace(one, frame=frame, line=None, lines=None, number=None)
        for one, frame in ((source, judged), (run, shown))
    ]
    return type(truth)(sources[0]), sources[1]


def _few(
    truth: Truth, run: Rows, ids: list[Any], touched: Ints, shown: pl.DataFrame
) -> tuple[Truth, Source]:
    """Return the judgements and the rows of few queries as mappings."""
    judged = truth.judgements
    starts = judged.pool.starts
    pairs, owner = expand(starts[touched], np.diff(starts)[touched])
    grades: dict[Any, dict[str, float]] = {one: {} for one in ids}
    entries: dict[Any, dict[str, float]] = {one: {} for one in ids}
    for at, item, grade in zip(
        owner.tolist(),
        judged.items.gather(pairs).to_list(),
        judged.pool.grade[pairs].tolist(),
        strict=True,
    ):
        grades[ids[at]][item] = grade
    for query, item, score in shown.select("query", "item", "value").iter_rows():
        entries[query][item] = score
    return type(truth)(Lists(grades, truth.source.name)), Lists(entries, run.name)


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
    if rule.order == "rank":
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
    named = _named(table, list(grades), found.extra, lengths, run.notes)
    by_score = rule.order == "score" and _are_mappings(run.data)
    return replace(
        named,
        strict=found.is_strict,
        exact=found.is_exact,
        scored=by_score,
        named=truth.named,
    )


def _from_rows(
    truth: Truth,
    run: Source,
    rule: Convention,
    depth: int | None,
    *,
    keep_scores: bool,
) -> Aligned:
    from rankine.io.mappings import as_rows  # noqa: PLC0415

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
        judged, frame, said = same_type(judged, frame)
        notes += said
    found = rows.match(judged, frame, rule, depth=depth, keep_scores=keep_scores)
    n = found.n_judged
    query, pair = _joined(found.query), _joined(found.pair)
    rank = _joined(found.rank)
    order = _by_query_and_rank(query, rank)
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
    if found.rises >= _RISES and not found.falls and not frame.ranked:
        notes += (
            (
                "scores rise along every list, as distances do; if small is good, say "
                "lower_is_better=True or --lower-is-better"
            ),
        )
    if found.n_dropped:
        notes += (f"{found.n_dropped} rows of the run repeat an item; the last counts",)
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
        list_row = np.arange(len(ids))
        named, deepest = truth.named, depth
        pair = row * scores.shape[1] + column
    else:
        listed = Rows(pl.DataFrame({"query": run.queries, "item": run.queries}), "run")
        judgements, listed, _ = same_type(truth.judgements, listed, items=False)
        ids, pool = judgements.queries, judgements.pool
        named, deepest = Named(pool, judgements.items), None
        list_row, column, pair = _cells(judgements, listed.frame["query"], run.items)
        query = pool.query[pair]
        kept = scores[list_row[query], column] > -np.inf
        query, column, pair = query[kept], column[kept], pair[kept]
        rank, above, tied = dense.count_above(
            scores, list_row[query], column, tie_order
        )
        grade = pool.grade[pair]
        order = _by_query_and_rank(query, rank)
        query, column, rank = query[order], column[order], rank[order]
        above, tied, grade = above[order], tied[order], grade[order]
        pair = pair[order]
        known = set(ids.to_list())
        extra = [value for value in run.queries.to_list() if value not in known]
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
    aligned = _named(table, ids, extra, [0] * len(extra), run.notes)
    return replace(aligned, named=named, deepest=deepest)


def _cells(
    truth: Judgements, queries: pl.Series, columns: pl.Series
) -> tuple[Ints, Ints, Ints]:
    """Find the matrix row of each query, and the judged pairs with their columns."""
    list_row = numbers(truth.queries, queries)
    items = truth.items
    if items.dtype != columns.dtype:
        items, columns = items.cast(pl.String), columns.cast(pl.String)
    column = numbers(items, columns)
    pair = np.flatnonzero((column >= 0) & (list_row[truth.pool.query] >= 0))
    return list_row, column[pair], pair


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


def _by_query_and_rank(query: Ints, rank: Ints) -> Ints | slice:
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
) -> Aligned:
    missing = np.flatnonzero(~table.in_run)
    shown = tuple(ids[int(at)] for at in missing[:SHOWN])
    lengths = np.asarray(extra_length, dtype=np.int64)
    return Aligned(table, ids, len(missing), shown, extra, lengths, notes)
