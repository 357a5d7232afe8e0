"""Results as JSON that holds all of them, so that they can be loaded again."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from rankine import __version__
from rankine._base.paths import write_whole
from rankine._evaluate.batches.evaluations import Accumulated
from rankine._evaluate.compare.whole_runs import whole_and_without
from rankine._evaluate.result import Evaluation
from rankine._evaluate.similarity import Similarity
from rankine._evaluate.summary import finite, least_relevant
from rankine._evaluate.trail import Stored, trail_of
from rankine._evaluate.worst import TOP, plain, table_of
from rankine._report.export import to_dict
from rankine._results.curves import curves_of, keep_curve
from rankine._tables.joined import Aligned
from rankine.errors import ParameterError

if TYPE_CHECKING:
    from collections.abc import Callable
    from os import PathLike

    from rankine._base.arrays import Floats, Ints
    from rankine._evaluate.compare.comparison import Comparison
    from rankine._evaluate.plan import Group
    from rankine._evaluate.summary import Summary
    from rankine._evaluate.trail import Trail
    from rankine._metrics.metric import Metric

FORMAT = "rankine"
VERSION = 1
KINDS: dict[str, type[Evaluation]] = {
    "evaluation": Evaluation,
    "accumulated": Accumulated,
    "similarity": Similarity,
}
COMPARISON = "comparison"
"""The kind of a document that holds several evaluations."""
_PLAIN = (str, int, float, bool)


def to_json(evaluation: Evaluation, indent: int | None, *, items: bool) -> str:
    """Return an evaluation as JSON; there is no bare NaN in it."""
    kind = next(
        name for name, result_type in KINDS.items() if type(evaluation) is result_type
    )
    shown = head(kind) | to_dict(evaluation)
    keep_curve(evaluation)
    return in_lines(shown, _rest(evaluation, items=items), indent)


def comparison_to_json(
    comparison: Comparison, indent: int | None, *, items: bool
) -> str:
    """Return a comparison as JSON, with the values of every system."""
    keep_curve(comparison)
    compared = comparison._compared  # noqa: SLF001 - of our own making
    values = {
        label: {
            name: _finite(compared.values[metric, system])
            for system, name in enumerate(compared.systems)
        }
        for metric, label in enumerate(compared.metrics)
    }
    shown = head(COMPARISON) | comparison.to_dict()
    shown |= {"ids": [_id(query) for query in compared.queries], "values": values}
    rest = {
        "directions": list(compared.directions),
        "means": [_finite(row) for row in compared.means],
        "lows": [_finite(row) for row in compared.lows],
        "highs": [_finite(row) for row in compared.highs],
        "weights": None if compared.weights is None else _numbers(compared.weights),
        "segments": comparison._by,  # noqa: SLF001 - of our own making
        "strata": None if compared.strata is None else compared.strata.tolist(),
        "wholes": [
            {
                "metric": metric,
                "values": _numbers(whole.values),
                "without": [_numbers(row) for row in whole.without],
            }
            for metric, whole in compared.wholes.items()
        ],
        "evaluations": [
            document_of(evaluation, items=items, by_id=True)
            for evaluation in comparison.evaluations.values()
        ],
    }
    return in_lines(shown, rest, indent)


def head(kind: str) -> dict[str, Any]:
    """Return what every document begins with."""
    return {
        "rankine": __version__,
        "format": FORMAT,
        "format_version": VERSION,
        "kind": kind,
    }


def document_of(
    evaluation: Evaluation,
    *,
    items: bool = True,
    by_id: bool = False,
    arrays: bool = False,
) -> dict[str, Any]:
    """Return what `restored` reads: all but the numbers that follow from the rest.

    Args:
        evaluation: the evaluation.
        items: whether the items that `worst` shows are in it.
        by_id: whether queries are in the order of their ids, so that it does not matter
            in which order they came.
        arrays: whether values and first items are left as arrays, which are not JSON.
    """
    return {
        "run": evaluation.name,
        "unit": evaluation.unit,
        "convention": evaluation.convention.to_dict(),
        "preset": evaluation.preset,
        "notes": list(evaluation.notes),
        "warnings": list(evaluation.warnings),
        "saved": _rest(evaluation, items=items, by_id=by_id, arrays=arrays),
    }


def in_lines(shown: dict[str, Any], rest: dict[str, Any], indent: int | None) -> str:
    """Return JSON: what people read in many lines, what `load` needs in one."""
    text = _written(shown, rest, indent, ascii_=False)
    try:
        text.encode()
    except UnicodeEncodeError:  # an unpaired surrogate, as in a file name
        return _written(shown, rest, indent, ascii_=True)
    return text


def save(text: str, path: str | PathLike[str]) -> None:
    """Write JSON to a file."""
    write_whole(path, text + "\n")


def _written(
    shown: dict[str, Any], rest: dict[str, Any], indent: int | None, *, ascii_: bool
) -> str:
    if indent is None:
        both = shown | {"saved": rest}
        return json.dumps(both, ensure_ascii=ascii_, allow_nan=False)
    lines = json.dumps(shown, indent=indent, ensure_ascii=ascii_, allow_nan=False)
    last = json.dumps(rest, ensure_ascii=ascii_, allow_nan=False)
    return f'{lines[:-2]},\n{" " * indent}"saved": {last}\n}}'


def _rest(
    evaluation: Evaluation, *, items: bool, by_id: bool = False, arrays: bool = False
) -> dict[str, Any]:
    """Return what is needed besides the numbers and notes.

    Queries are in their own order; or in that of their ids, so that it does not matter
    in which order they came.
    """
    plan = evaluation.plan
    tables = evaluation.tables
    summaries = tuple(evaluation.summaries.values())
    metrics: dict[int, dict[str, Any]] = {}
    groups = []
    for group, table in zip(plan.groups, tables, strict=True):
        order = np.arange(len(table.ids))
        if by_id:
            texts = list(map(str, table.ids))
            order = np.array(sorted(order, key=texts.__getitem__), dtype=np.int64)
        groups.append(_group(group, table, order, items=items, arrays=arrays))
        for number, _, _ in group.members:
            bound = _metric(plan.bound[number])["params"]
            metrics[number] = _metric(plan.asked[number]) | {"bound": bound}
            metrics[number]["label"] = plan.labels[number]
            metrics[number] |= _summary(summaries[number], order, arrays=arrays)
            if arrays:  # a comparison cannot be made of it otherwise
                metrics[number] |= _whole(evaluation, plan.labels[number], order)
    return {
        "metrics": [metrics[number] for number in range(len(summaries))],
        "groups": groups,
        "curves": curves_of(evaluation),
    }


def _whole(evaluation: Evaluation, label: str, order: Ints) -> dict[str, Any]:
    """Return a number of a whole run, and what it is without each user."""
    bound, _ = table_of(evaluation, label)
    if bound.fact.without is not None:
        with suppress(ParameterError):  # some parameters allow no jackknife
            value, without = whole_and_without(evaluation, label)
            return {"whole": number(value), "without": without[order]}
    return {"whole": None, "without": None}


def _metric(metric: Metric) -> dict[str, Any]:
    return {
        "name": metric.name,
        "params": {key: _value(value) for key, value in metric.params},
    }


def _value(value: Any) -> Any:
    """Return a parameter; what JSON cannot express becomes an object that says so.

    Of a function, only the name is kept.
    """
    value = plain(value)
    if isinstance(value, float):
        return number(value)
    if isinstance(value, Mapping):
        pairs = [[_value(key), _value(entry)] for key, entry in value.items()]
        return {"mapping": pairs}
    if isinstance(value, tuple):
        return [_value(part) for part in value]
    if callable(value):
        return {"function": str(getattr(value, "__name__", type(value).__name__))}
    return value


def number(value: float) -> float | str | None:
    """Return a number, null if it is undefined, and a text if it is infinite."""
    if math.isnan(value):
        return None
    return value if math.isfinite(value) else str(value)


def _finite(values: Floats) -> list[float | None]:
    return [finite(value) for value in values.tolist()]


def _numbers(values: Floats) -> list[float | str | None]:
    return [number(value) for value in values.tolist()]


def _summary(summary: Summary, order: Ints, *, arrays: bool) -> dict[str, Any]:
    parts, weights = summary.parts, summary.weights
    listed: Callable[[Floats], Any] = np.asarray if arrays else _numbers
    return {
        "value": number(summary.value),
        "values": listed(summary.values[order]),
        "n": summary.n,
        "undefined": summary.n_undefined,
        "empty": np.flatnonzero(summary.empty[order]).tolist(),
        "parts": None if parts is None else [listed(part[order]) for part in parts],
        "weights": None if weights is None else listed(weights[order]),
    }


def _group(
    group: Group, table: Any, order: Ints, *, items: bool, arrays: bool
) -> dict[str, Any]:
    """Return the queries of a table, and what `worst` needs of their items."""
    ids = table.ids
    series = isinstance(ids, pl.Series)
    every = ids.to_list() if series else [_id(query) for query in ids]
    return {
        "metrics": [number for number, _, _ in group.members],
        "lists": group.lists,
        "id_type": str(ids.dtype) if series else None,
        "ids": [every[row] for row in order.tolist()],
        "items": _items(_trail(group, table, order), arrays=arrays) if items else None,
    }


def _id(value: Any) -> Any:
    """Return an id; what is neither text nor a number becomes text."""
    value = plain(value)
    endless = isinstance(value, float) and not math.isfinite(value)
    return value if type(value) in _PLAIN and not endless else str(value)


def _trail(group: Group, table: Any, order: Ints) -> Trail | None:
    """Return the items that metrics can ever show: relevant, or among the first."""
    if isinstance(table, Stored):
        return None if table.trail is None else table.trail.of(order)
    if not isinstance(table, Aligned):
        return None
    least = min(least_relevant(metric) for _, metric, _ in group.members)
    return trail_of(table, order, (least, table.keep or TOP))


def _items(trail: Trail | None, *, arrays: bool) -> dict[str, Any] | None:
    if trail is None:
        return None
    tops: Any = trail.tops
    if tops is not None and not (arrays and _is_column(tops.items)):
        tops = [_top(tops[number]) for number in range(len(tops.starts) - 1)]
    return {
        "counts": np.diff(trail.starts).tolist(),
        "items": [_id(item) for item in trail.items],
        "grades": trail.grades.tolist(),
        "ranks": trail.ranks.tolist(),
        "looked": trail.looked.tolist(),
        "tops": tops,
        "keep": trail.keep,
    }


def _is_column(items: Any) -> bool:
    """Whether items are ids that a file of columns gives back as they are."""
    return isinstance(items, pl.Series) and items.dtype in (pl.String, pl.Int64)


def _top(top: list[tuple[int, Any]]) -> list[list[Any]]:
    return [[rank, _id(item)] for rank, item in top]
