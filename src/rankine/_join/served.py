"""Joins that were made by one rule, and serve another as well."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from rankine._io.sources import Dense, Lists, Rows, Source
from rankine._join.align import SPREAD, by_query_and_rank, join
from rankine._join.policy import rows_of
from rankine._join.tie_rule import FEW
from rankine._tables.segments import expand

if TYPE_CHECKING:
    from rankine._base.arrays import Ints
    from rankine._conventions.convention import Convention
    from rankine._join.policy import Aligned
    from rankine._join.truth import Truth
    from rankine._tables.judged import Judged

_OPPOSITE = ({"id_desc", "id_asc"}, {"input", "input_rev"})
_LITTLE = 5000
"""Rows that are looked up and not joined."""


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
    order = by_query_and_rank(columns["query"], columns["rank"])
    return rows_of(replace(table, **columns), order)


def _turned(aligned: Aligned) -> Aligned:
    """Turn the order of tied items round."""
    table = aligned.table
    rank = 2 * table.above + table.tied + 1 - table.rank
    order = by_query_and_rank(table.query, rank)
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
