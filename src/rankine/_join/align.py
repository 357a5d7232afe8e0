"""Judgements and a run, joined: which retrieved items are judged, at which rank.

- Rank comes from the score, descending; equal scores are ordered by item id, descending
  in the byte order of its text (trec_eval's rule), unless the convention says
  otherwise. A rank column, or the order of a list, is used if there is no score.
- An item that appears twice for one query is an error, unless the convention says
  otherwise.
- Queries are those of the judgements, in their order. The convention decides whether
  those that the run misses are kept.
- Ids are the user's own: an int stays an int. Between text and int, see `ids.py`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import polars as pl

from rankine._base.limits import limits
from rankine._conventions.convention import BY_RANK
from rankine._io.mappings import as_rows, few_as_lists
from rankine._io.sources import Dense, Lists, Rows, Source, Stream
from rankine._join import dense
from rankine._join import judged_mappings as probe
from rankine._join.chunks import read
from rankine._join.judged_rows import JudgedRows
from rankine._join.pieces import repeats_left_out
from rankine._tables.joined import Aligned, joined, no_steps
from rankine.errors import DataError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rankine._join.chunks import Reader
    from rankine._join.judgements import Truth
    from rankine._tables.order import Order


def match(
    truth: Truth,
    run: Source,
    orders: Mapping[Order, bool],
    *,
    depth: int | None = None,
    beside: Sequence[Reader] = (),
) -> dict[Order, Aligned]:
    """Join judgements and a run, once for all orders of its items.

    What a convention says about queries, pools and floors is not applied yet.

    Args:
        truth: the judgements.
        run: the retrieved items.
        orders: the orders, and whether the scores of all items are to be kept.
        depth: the deepest rank that any metric looks at, if there is one.
        beside: what else is looked for in the run, when it is read.
    """
    if isinstance(run, Dense):
        aligned = {
            order: dense.match(truth, run, order, depth, keep_scores=keep_scores)
            for order, keep_scores in orders.items()
        }
    else:
        if isinstance(run, Stream) and _is_short(run, truth):
            run = as_rows(run, role="run")
        aligned = _looked_up(truth, run, orders)
        if isinstance(run, Rows) and run.grid is not None:
            aligned = dense.match_ranked(truth, run, orders, depth)
        if len(aligned) < len(orders):
            others = {
                order: keep_scores
                for order, keep_scores in orders.items()
                if order not in aligned
            }
            along = beside if isinstance(run, (Rows, Stream)) else ()
            aligned |= _from_rows(truth, run, others, depth, along)
            beside = beside[len(along) :]
    if beside:
        read(run, beside)
    notes = truth.source.notes
    if not notes:
        return aligned
    # What was seen while reading the judgements.
    return {
        order: replace(table, notes=(*notes, *table.notes))
        for order, table in aligned.items()
    }


def _is_short(run: Stream, truth: Truth) -> bool:
    """Say whether a run has a few rows, like its judgements, and may be looked up."""
    if run.memory is not None or run.n_rows is None:
        return False
    few = run.n_rows <= limits().few_rows
    return few and isinstance(truth.source, Rows) and truth.grades is not None


def _looked_up(
    truth: Truth, run: Source, orders: Mapping[Order, bool]
) -> dict[Order, Aligned]:
    """Look judged items up in lists that are mappings, for the orders that allow it.

    Nothing is looked up if the ids are of types that never agree.
    """
    data, given = _mapping_of(truth, run), isinstance(run, Lists)
    if data is None:
        return {}
    some = {
        order: keep_scores
        for order, keep_scores in orders.items()
        if _can_probe(data, order, given=given)
    }
    grades = truth.grades if some else None
    if grades is None:
        return {}
    probed = probe.Probed(grades, truth.pool, data, run.name)
    ids: list[Any] | pl.Series = list(grades)
    if isinstance(truth.source, Rows):
        ids = pl.Series("query", ids, dtype=truth.source.frame["query"].dtype)
    aligned = {}
    for order, keep_scores in some.items():
        ranked = probed.ranked(order)
        if len(ranked.pair) == 0 and probe.types_differ(grades, data):
            return {}
        lengths = [len(probe.by_place(query, data[query])) for query in probed.extra]
        by_score = order.by == "score"
        aligned[order] = joined(
            probed.table(ranked, keep_scores=keep_scores),
            ids,
            probed.extra,
            lengths,
            run.notes,
            scored=by_score and _are_mappings(data),
            named=truth.named,
            steps=probed.steps if by_score else no_steps,
        )
    return aligned


def _mapping_of(truth: Truth, run: Source) -> Mapping[Any, Any] | None:
    """Return a run as the mapping that it is, or that a few rows are turned into.

    Judgements must be of the same form, with ids of the same types, and must have all
    queries: whether scores rise is told of all lists, and look-ups see these alone.
    """
    source = truth.source
    if isinstance(run, Lists):
        return run.data if isinstance(source, Lists) else None
    if not isinstance(run, Rows) or not isinstance(source, Rows):
        return None
    grades = truth.grades
    if grades is None or source.frame.dtypes[:2] != run.frame.dtypes[:2]:
        return None
    lists = few_as_lists(run)
    return lists if lists is not None and lists.keys() <= grades.keys() else None


def _can_probe(data: Mapping[Any, Any], order: Order, *, given: bool) -> bool:
    """Say whether look-ups are enough; for repeated items and ranks they are not.

    Of rows in the order given, it is also counted in how many lists scores rise, which
    look-ups do not see.
    """
    if order.by in BY_RANK or (not given and order.by != "score"):
        return False
    if order.duplicates == "error" or _are_mappings(data):
        return True
    return all(
        isinstance(entry, Mapping)
        or (isinstance(entry, list) and _is_without_repeats(entry))
        for entry in data.values()
    )


def _are_mappings(data: Mapping[Any, Any]) -> bool:
    """Say whether all lists are mappings, by the few types that they have."""
    kinds = set(map(type, data.values())) - {dict}
    return not kinds or all(issubclass(kind, Mapping) for kind in kinds)


def _is_without_repeats(entry: list[Any]) -> bool:
    try:
        return len(set(entry)) == len(entry)
    except TypeError:
        return False  # not ids, as the other reader says


def _from_rows(
    truth: Truth,
    run: Source,
    orders: Mapping[Order, bool],
    depth: int | None,
    beside: Sequence[Reader],
) -> dict[Order, Aligned]:
    shapes = [getattr(source, "shape", None) for source in (truth.source, run)]
    if None not in shapes and shapes[0] != shapes[1]:
        ours, theirs = (" x ".join(map(str, shape or ())) for shape in shapes)
        msg = f"the judgements are a matrix of {ours}, the run is one of {theirs}"
        raise DataError(msg)
    judged = truth.judgements
    frame = run if isinstance(run, (Rows, Stream)) else as_rows(run, role="run")
    matched = JudgedRows(judged, frame, orders, depth)
    read(frame, [matched, *beside])
    # From ranks or positions, not scores of the user's.
    unscored = frame.ranked or (isinstance(frame, Rows) and frame.placed)
    notes = frame.notes + matched.notes
    in_order, ids = matched.extra_order, list(matched.extra)
    extra, steps = [ids[place] for place in in_order], (matched.rises, matched.falls)
    aligned = {}
    for order, ranked in matched.by_order.items():
        dropped = (repeats_left_out(ranked.n_dropped),) if ranked.n_dropped else ()
        table, lengths = ranked.table(
            judged.pool, len(extra), keep_scores=orders[order]
        )
        aligned[order] = joined(
            table,
            judged.queries,
            extra,
            lengths[in_order],
            (*notes, *dropped),
            repeats=True,
            scored=order.by == "score" and ranked.scored and not unscored,
            unsorted=ranked.unsorted,
            named=judged.named,
            deepest=depth,
            steps=no_steps if frame.ranked else partial(tuple, steps),
        )
    return aligned
