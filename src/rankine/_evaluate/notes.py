"""Notes: what was dropped, undefined, unjudged or tied, in sentences with counts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from rankine._base.text import count
from rankine._evaluate.summary import has_no_weights
from rankine._join.aligned import SHOWN

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    import polars as pl

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
        *_apart(aligned),
        *_unreachable(table, metrics),
        *_empty(summaries, n_metrics),
        *undefined(summaries),
        *_of_lists(aligned, depths, metrics),
        *_tied(table, depths),
        *_negative(table),
        *aligned.notes,
    )


def few(values: Sequence[Any] | pl.Series, n: int | None = None) -> str:
    """Name the first few of n values, or of all that are given.

    >>> few(["q1", "q2", "q3", "q4"]), few(["q1"], 2)
    ('q1, q2, q3, ...', 'q1, ...')
    """
    first = [str(value) for value in values[:SHOWN]]
    more = len(first) < (len(values) if n is None else n)
    return ", ".join([*first, "..."] if more else first)


def without_effect(
    rel: float | None, asked: Sequence[Metric], bound: Sequence[Metric]
) -> Iterator[str]:
    """Name the metrics that a threshold for all does not change, and what would.

    Args:
        rel: the smallest relevant grade, if it was given.
        asked: the metrics as they were asked for.
        bound: the same with what the convention says filled in.
    """
    idle = [
        metric
        for metric, filled in zip(asked, bound, strict=True)
        if not metric.binds("rel") and filled.get("rel") != rel and _is_graded(filled)
    ]
    if rel is None or not idle:
        return
    said = f"rel={rel:g} does not change {few(idle)}: grades count as they are"
    able = [metric(rel=rel) for metric in idle if metric.takes("rel")]
    if able:
        said += f"; write {few(able)} to leave out grades below {rel:g}"
    yield said


def _is_graded(metric: Metric) -> bool:
    """Say whether a metric looks at grades, and does not only count items."""
    fact = metric.fact
    return metric.takes("rel") or (fact.summary != "sum" and fact.empty != "keep")


def _apart(aligned: Aligned) -> Iterator[str]:
    """Say what only the judgements or only the run has."""
    table = aligned.table
    if aligned.missing:
        who = count(aligned.missing, "judged query")
        names = few(aligned.missing_ids, aligned.missing)
        fate = "left out" if table.in_run.all() else "counted as 0"
        yield f"{who} missing from the run ({names}): {fate}"
    if aligned.extra:
        who, names = count(len(aligned.extra), "query"), few(aligned.extra)
        yield f"{who} of the run without judgements ({names}): not evaluated"
    if not len(table.query) and table.n_retrieved.any() and len(table.pool.grade):
        yield (
            "no judged item is in the run; rankine check shows whether both write ids "
            "the same way"
        )


def _unreachable(table: Judged, metrics: Sequence[Metric]) -> Iterator[str]:
    largest = float(table.pool.grade.max(initial=-np.inf))
    for rel in sorted({metric.get("rel") for metric in metrics} - {None}):
        if -np.inf < largest < rel:
            yield (
                f"no grade is at least {rel:g}, the largest is {largest:g}: nothing is "
                "relevant"
            )


def _empty(summaries: Mapping[str, Summary], n_metrics: int) -> Iterator[str]:
    """Count the queries without relevant items; thresholds may differ by metric."""
    notes: dict[tuple[int, str, str], list[str]] = {}
    for label, summary in summaries.items():
        if summary.n_empty:
            key = (summary.n_empty, summary.metric.fact.lacks, summary.fate_of_empty)
            notes.setdefault(key, []).append(label)
    for (n, lacks, fate), labels in notes.items():
        whose = f" ({few(labels)})" if len(labels) < n_metrics else ""
        yield f"{count(n, 'query')} without {lacks}: {fate}{whose}"


def undefined(summaries: Mapping[str, Summary]) -> list[str]:
    """Say for how many queries metrics have no value."""
    return [
        f"{label} is undefined for {count(summary.n_undefined, 'query')}: left out"
        for label, summary in summaries.items()
        if summary.n_undefined > summary.n_empty
    ]


def _of_lists(
    aligned: Aligned, depths: Sequence[int], metrics: Sequence[Metric]
) -> Iterator[str]:
    """Say what lists lack, down to the first cutoff: judgements, or items."""
    table = aligned.table
    if not table.n_retrieved.any():
        if table.in_run.any():
            yield "all lists of the run are empty"
        return
    k = depths[0] if depths else None
    known = table.grade >= 0
    inside = known if k is None else known & (table.rank <= k)
    length = table.n_retrieved if k is None else np.minimum(table.n_retrieved, k)
    share = 1 - np.count_nonzero(inside) / int(length.sum())
    if aligned.floored:
        who = count(aligned.floored, "judged item")
        yield f"{who} with a score at or under the floor: counted as not relevant"
    elif share > 0 and _has_negatives(table, metrics):
        where = "retrieved items" if k is None else f"items in the top {k}"
        yield f"{share:.1%} of the {where} are unjudged: counted as not relevant"
    if k is not None:
        short = int(np.count_nonzero((table.n_retrieved < k) & table.in_run))
        if short:
            yield (
                f"{count(short, 'list')} with fewer than {k} items: missing ranks "
                "count as not relevant"
            )


def _has_negatives(table: Judged, metrics: Sequence[Metric]) -> bool:
    """Say whether a judged item is not relevant, to a metric at least.

    Without any, as of clicks, only relevant items are judged, and that others are not
    says nothing.
    """
    least = float(table.pool.grade.min(initial=np.inf))
    thresholds = [metric.get("rel") for metric in metrics]
    return any(least <= 0 if rel is None else least < rel for rel in thresholds)


def _tied(table: Judged, depths: Sequence[int]) -> Iterator[str]:
    is_across = False
    for k in depths:
        across = (table.above < k) & (table.above + table.tied > k)
        n = len(np.unique(table.query[across]))
        if n:
            is_across = True
            yield (
                f"{count(n, 'query')} with judged items tied across rank {k}: the tie "
                "rule decides"
            )
    if not is_across and (table.tied > 1).any():
        n = len(np.unique(table.query[table.tied > 1]))
        yield f"{count(n, 'query')} with judged items in ties"


def _negative(table: Judged) -> Iterator[str]:
    n = int(np.count_nonzero(table.pool.grade < 0))
    if n:
        fate = (
            "counted as losses"
            if table.keep_negative
            else "treated as unjudged, with gain 0"
        )
        yield f"{count(n, 'negative grade')}: {fate}"


def weight_notes(summaries: Mapping[str, Summary]) -> tuple[str, ...]:
    """Say how many queries were left out by their weights, and what the others weigh.

    Queries of unequal weights say as much as (sum w)^2 / sum w^2 of equal ones (Kish
    1965).
    """
    known = (one.weights for one in summaries.values() if one.weights is not None)
    weights = next(known, None)
    if weights is None:
        return ()
    n_zero = int(np.count_nonzero(weights == 0))
    said = [f"{count(n_zero, 'query')} with weight 0: left out"] if n_zero else []
    positive = weights[weights > 0]
    if len(positive) and (positive != positive[0]).any():
        share = positive / positive.max()
        effective = float(share.sum() ** 2 / (share**2).sum())
        said.append(
            f"{count(len(positive), 'query')} of different weights, as informative as "
            f"{effective:.1f} of equal weight"
        )
    whole = [label for label, one in summaries.items() if has_no_weights(one.metric)]
    if whole:
        names = ", ".join(whole)
        said.append(f"weights do not change {names}: computed from all lists together")
    return tuple(said)
