"""Notes: what was dropped, undefined, unjudged or tied, in sentences with counts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from rankine._base.text import count
from rankine._join.aligned import SHOWN

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rankine._evaluate.summary import Summary
    from rankine._join.aligned import Aligned
    from rankine._metrics.metric import Metric
    from rankine._tables.judged import Judged


def notes_of(
    tables: Sequence[Aligned],
    summaries: Mapping[str, Summary],
    metrics: Sequence[Metric],
) -> tuple[str, ...]:
    """Say what the reader of the numbers must know."""
    aligned = tables[0]
    table = aligned.table
    n_metrics = sum(
        metric.fact.summary != "sum" and metric.empty != "keep" for metric in metrics
    )
    depths = sorted({metric.depth for metric in metrics if metric.depth is not None})
    return (
        *_missing(aligned),
        *_extra(aligned),
        *_unmatched(aligned),
        *_unreachable(table, metrics),
        *_empty(summaries, n_metrics),
        *undefined(summaries),
        *_unjudged(aligned, depths, metrics),
        *_short(table, depths),
        *_tied(table, depths),
        *_negative(table),
        *aligned.notes,
    )


def without_effect(
    rel: float | None, asked: Sequence[Metric], bound: Sequence[Metric]
) -> list[str]:
    """Name the metrics that a threshold for all does not change, and what would.

    Args:
        rel: the smallest relevant grade, if it was given.
        asked: the metrics as they were asked for.
        bound: the same with what the convention says filled in.
    """
    if rel is None:
        return []
    idle = [
        metric
        for metric, filled in zip(asked, bound, strict=True)
        if not metric.binds("rel") and filled.get("rel") != rel and _is_graded(filled)
    ]
    if not idle:
        return []
    said = f"rel={rel:g} does not change {_listed(idle)}: grades count as they are"
    able = [metric(rel=rel) for metric in idle if metric.takes("rel")]
    if able:
        said += f"; write {_listed(able)} to leave out grades below {rel:g}"
    return [said]


def _is_graded(metric: Metric) -> bool:
    """Say whether a metric looks at grades, and does not only count items."""
    fact = metric.fact
    return metric.takes("rel") or (fact.summary != "sum" and fact.empty != "keep")


def _listed(metrics: Sequence[Metric]) -> str:
    few = ", ".join(map(str, metrics[:SHOWN]))
    return few + (", ..." if len(metrics) > SHOWN else "")


def _few(ids: Sequence[Any], n: int) -> str:
    shown = ", ".join(str(value) for value in ids)
    return f"({shown}{', ...' if n > len(ids) else ''})"


def _missing(aligned: Aligned) -> list[str]:
    if not aligned.missing:
        return []
    who = count(aligned.missing, "judged query")
    names = _few(aligned.missing_ids, aligned.missing)
    fate = "left out" if aligned.table.in_run.all() else "counted as 0"
    return [f"{who} missing from the run {names}: {fate}"]


def _extra(aligned: Aligned) -> list[str]:
    if not aligned.extra:
        return []
    who = count(len(aligned.extra), "query")
    names = _few(aligned.extra[:SHOWN], len(aligned.extra))
    return [f"{who} of the run without judgements {names}: not evaluated"]


def _empty(summaries: Mapping[str, Summary], n_metrics: int) -> list[str]:
    """Count the queries without relevant items; thresholds may differ by metric."""
    notes: dict[tuple[int, str, str], list[str]] = {}
    for label, found in summaries.items():
        if found.n_empty:
            key = (found.n_empty, found.metric.fact.lacks, found.fate_of_empty)
            notes.setdefault(key, []).append(label)
    return [
        f"{count(n, 'query')} without {lacks}: {fate}"
        + (f" {_few(labels[:SHOWN], len(labels))}" if len(labels) < n_metrics else "")
        for (n, lacks, fate), labels in notes.items()
    ]


def undefined(summaries: Mapping[str, Summary]) -> list[str]:
    """Say for how many queries metrics have no value."""
    return [
        f"{label} is undefined for {count(found.n_undefined, 'query')}: left out"
        for label, found in summaries.items()
        if found.n_undefined > found.n_empty
    ]


def _unjudged(
    aligned: Aligned, depths: Sequence[int], metrics: Sequence[Metric]
) -> list[str]:
    table = aligned.table
    total = int(table.n_retrieved.sum())
    known = table.grade >= 0
    if not total:
        return ["all lists of the run are empty"] if table.in_run.any() else []
    if aligned.floored:
        who = count(aligned.floored, "judged item")
        return [f"{who} with a score at or under the floor: counted as not relevant"]
    k = depths[0] if depths else None
    inside = known if k is None else known & (table.rank <= k)
    shown = total if k is None else int(np.minimum(table.n_retrieved, k).sum())
    share = 1 - np.count_nonzero(inside) / shown
    if share <= 0 or not _has_negatives(table, metrics):
        return []
    where = "retrieved items" if k is None else f"items in the top {k}"
    return [f"{share:.1%} of the {where} are unjudged: counted as not relevant"]


def _has_negatives(table: Judged, metrics: Sequence[Metric]) -> bool:
    """Say whether a judged item is not relevant, to a metric at least.

    Without any, as of clicks, only relevant items are judged, and that others are not
    says nothing.
    """
    least = float(table.pool.grade.min(initial=np.inf))
    thresholds = [metric.get("rel") for metric in metrics]
    return any(least <= 0 if rel is None else least < rel for rel in thresholds)


def _unmatched(aligned: Aligned) -> list[str]:
    table = aligned.table
    if len(table.query) or not table.n_retrieved.any() or not len(table.pool.grade):
        return []
    return [
        (
            "no judged item is in the run; rankine check shows whether both write ids "
            "the same way"
        )
    ]


def _unreachable(table: Judged, metrics: Sequence[Metric]) -> list[str]:
    if not len(table.pool.grade):
        return []
    largest = float(table.pool.grade.max())
    asked = {metric.get("rel") for metric in metrics} - {None}
    return [
        f"no grade is at least {rel:g}, the largest is {largest:g}: nothing is relevant"
        for rel in sorted(asked)
        if largest < rel
    ]


def _short(table: Judged, depths: Sequence[int]) -> list[str]:
    if not depths:
        return []
    k = depths[0]
    n = int(np.count_nonzero((table.n_retrieved < k) & table.in_run))
    if not n or not table.n_retrieved.any():
        return []
    return [
        (
            f"{count(n, 'list')} with fewer than {k} items: missing ranks count as not "
            "relevant"
        )
    ]


def _tied(table: Judged, depths: Sequence[int]) -> list[str]:
    notes = []
    for k in depths:
        across = (table.above < k) & (table.above + table.tied > k)
        n = len(np.unique(table.query[across]))
        if n:
            notes.append(
                f"{count(n, 'query')} with judged items tied across rank {k}: "
                "the tie rule decides"
            )
    if not notes and (table.tied > 1).any():
        n = len(np.unique(table.query[table.tied > 1]))
        notes.append(f"{count(n, 'query')} with judged items in ties")
    return notes


def _negative(table: Judged) -> list[str]:
    n = int(np.count_nonzero(table.pool.grade < 0))
    if not n:
        return []
    if table.keep_negative:
        return [f"{count(n, 'negative grade')}: counted as losses"]
    return [f"{count(n, 'negative grade')}: treated as unjudged, with gain 0"]
