"""Notes: what was dropped, undefined, unjudged or tied, in sentences with counts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from rankine.table.policy import SHOWN

if TYPE_CHECKING:
    from rankine.metric import Metric
    from rankine.stats.summary import Summary
    from rankine.table.judged import Judged
    from rankine.table.policy import Aligned


def notes_of(
    tables: Sequence[Aligned],
    summaries: Mapping[str, Summary],
    metrics: Sequence[Metric],
) -> tuple[str, ...]:
    """Say what the reader of the numbers must know."""
    aligned = tables[0]
    table = aligned.table
    n_metrics = sum(
        metric.fact.summary != "sum" and metric.fact.empty != "keep"
        for metric in metrics
    )
    depths = sorted({metric.depth for metric in metrics if metric.depth is not None})
    return (
        *_missing(aligned),
        *_extra(aligned),
        *_empty(summaries, n_metrics),
        *_undefined(summaries),
        *_unjudged(aligned, depths),
        *_tied(table, depths),
        *_negative(table),
        *aligned.notes,
    )


def _few(ids: Sequence[Any], n: int) -> str:
    shown = ", ".join(str(value) for value in ids)
    return f"({shown}{', ...' if n > len(ids) else ''})"


def _count(n: int, noun: str, plural: str | None = None) -> str:
    if n == 1:
        return f"1 {noun}"
    if noun.endswith("y"):
        noun = noun[:-1] + "ie"
    return f"{n:,} {plural or noun + 's'}"


def _missing(aligned: Aligned) -> list[str]:
    if not aligned.missing:
        return []
    who = _count(aligned.missing, "judged query")
    names = _few(aligned.missing_ids, aligned.missing)
    fate = "left out" if aligned.table.in_run.all() else "counted 0"
    return [f"{who} missing from the run {names}: {fate}"]


def _extra(aligned: Aligned) -> list[str]:
    if not aligned.extra:
        return []
    who = _count(len(aligned.extra), "query")
    names = _few(aligned.extra[:SHOWN], len(aligned.extra))
    return [f"{who} of the run without judgements {names}: not evaluated"]


def _empty(summaries: Mapping[str, Summary], n_metrics: int) -> list[str]:
    """Count the queries without relevant items; thresholds may differ by metric."""
    notes: dict[tuple[int, str], list[str]] = {}
    for label, found in summaries.items():
        if found.n_empty:
            fate = found.fate_of_empty
            notes.setdefault((found.n_empty, fate), []).append(label)
    return [
        f"{_count(n, 'query')} without a relevant item: {fate}"
        + (f" {_few(labels[:SHOWN], len(labels))}" if len(labels) < n_metrics else "")
        for (n, fate), labels in notes.items()
    ]


def _undefined(summaries: Mapping[str, Summary]) -> list[str]:
    return [
        f"{label} is undefined for {_count(found.n_undefined, 'query')}: left out"
        for label, found in summaries.items()
        if found.n_undefined > found.n_empty
    ]


def _unjudged(aligned: Aligned, depths: Sequence[int]) -> list[str]:
    table = aligned.table
    total = int(table.n_retrieved.sum())
    known = table.grade >= 0
    if not total:
        return ["all lists of the run are empty"] if table.in_run.any() else []
    if aligned.floored:
        who = _count(aligned.floored, "judged item")
        return [f"{who} with a score at or under the floor: counted not relevant"]
    k = depths[0] if depths else None
    inside = known if k is None else known & (table.rank <= k)
    shown = total if k is None else int(np.minimum(table.n_retrieved, k).sum())
    share = 1 - np.count_nonzero(inside) / shown
    if share <= 0:
        return []
    where = "retrieved items" if k is None else f"items in the top {k}"
    return [f"{share:.1%} of the {where} are unjudged: counted not relevant"]


def _tied(table: Judged, depths: Sequence[int]) -> list[str]:
    notes = []
    for k in depths:
        across = (table.above < k) & (table.above + table.tied > k)
        n = len(np.unique(table.query[across]))
        if n:
            notes.append(
                f"{_count(n, 'query')} with judged items tied across rank {k}: "
                "the tie rule decides"
            )
    if not notes and (table.tied > 1).any():
        n = len(np.unique(table.query[table.tied > 1]))
        notes.append(f"{_count(n, 'query')} with judged items in ties")
    return notes


def _negative(table: Judged) -> list[str]:
    n = int(np.count_nonzero(table.pool.grade < 0))
    if not n:
        return []
    if table.keep_negative:
        return [f"{_count(n, 'negative grade')}: counted as losses"]
    return [f"{_count(n, 'negative grade')}: taken as unjudged, gain 0"]
