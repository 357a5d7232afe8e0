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

from dataclasses import replace
from typing import TYPE_CHECKING

from rankine._conventions.convention import BY_RANK
from rankine._io.rows import as_rows
from rankine._io.sources import Dense, Lists, Rows, Source, Stream
from rankine._join import dense
from rankine._join import judged_mappings as probe
from rankine._join.chunks import read
from rankine._join.judged_rows import JudgedRows
from rankine._join.pieces import repeats_left_out
from rankine._tables.joined import Aligned, joined
from rankine._tables.segments import NO_STEPS
from rankine.errors import DataError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

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
        aligned = _looked_up(truth, run, orders)
        if isinstance(run, Rows) and run.grid is not None:
            aligned = dense.match_ranked(truth, run, orders, depth)
        if len(aligned) < len(orders):
            others = {
                order: keep_scores
                for order, keep_scores in orders.items()
                if order not in aligned
            }
            aligned |= _from_rows(truth, run, others, depth, beside)
            beside = ()  # they have read the same rows
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


def _looked_up(
    truth: Truth, run: Source, orders: Mapping[Order, bool]
) -> dict[Order, Aligned]:
    """Look judged items up in lists that are mappings, for the orders that allow it."""
    judged = truth.source
    if not isinstance(run, Lists) or not isinstance(judged, Lists):
        return {}
    if run.repeats or not _same_kinds(judged, run):
        return {}
    some = [order for order in orders if order.by not in BY_RANK]
    if not some:
        return {}
    probed = probe.Probed(judged, truth.pool, run)
    aligned, ids, extra = {}, [*judged.data], probed.extra
    for order in some:
        found = probed.ranked(order, keep_scores=orders[order])
        table, lengths = found.table(truth.pool, len(extra), keep_scores=orders[order])
        scored = list not in run.kinds and order.by == "score"
        aligned[order] = joined(
            table, ids, extra, lengths, run.notes,
            scored=scored,
            named=truth.named,
            steps=probed.steps(order) if scored else NO_STEPS,
        )  # fmt: skip
    return aligned


def _same_kinds(judged: Lists, run: Lists) -> bool:
    """Say whether ids are texts on both sides or on none."""
    return all(
        None in (ours, theirs) or ours == theirs
        for ours, theirs in zip(judged.texts, run.texts, strict=True)
    )


def _from_rows(
    truth: Truth,
    run: Source,
    orders: Mapping[Order, bool],
    depth: int | None,
    beside: Sequence[Reader],
) -> dict[Order, Aligned]:
    shapes = truth.source.shape, run.shape
    if None not in shapes and shapes[0] != shapes[1]:
        ours, theirs = (" x ".join(map(str, shape or ())) for shape in shapes)
        msg = f"the judgements are a matrix of {ours}, the run is one of {theirs}"
        raise DataError(msg)
    judged = truth.judgements
    frame = run if isinstance(run, (Rows, Stream)) else as_rows(run, role="run")
    matched = JudgedRows(judged, frame, orders, depth)
    read(frame, [matched, *beside])
    # From ranks or positions, not scores of the user's.
    unscored = frame.ranked or frame.placed
    notes = frame.notes + matched.notes
    in_order, ids = matched.extra_order, list(matched.extra)
    extra = [ids[place] for place in in_order]
    aligned = {}
    for order, ranked in matched.by_order.items():
        dropped = (repeats_left_out(ranked.n_dropped),) if ranked.n_dropped else ()
        table, lengths = ranked.found().table(
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
            steps=NO_STEPS if frame.ranked else ranked.steps,
        )
    return aligned
