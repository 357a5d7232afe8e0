"""An evaluation as JSON that holds all of it, so that it can be loaded again."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from rankine import __version__
from rankine._evaluate.batches.evaluations import Accumulated
from rankine._evaluate.result import Evaluation
from rankine._evaluate.similarity import Similarity
from rankine._evaluate.summary import least_relevant
from rankine._evaluate.worst import SHOWN, plain
from rankine._join.aligned import Aligned, Stored, trail_of
from rankine._report.export import to_dict
from rankine.errors import DataError

if TYPE_CHECKING:
    from os import PathLike

    from rankine._base.arrays import Floats
    from rankine._evaluate.plan import Group
    from rankine._evaluate.summary import Summary
    from rankine._join.aligned import Trail
    from rankine._metrics.metric import Metric

FORMAT = "rankine"
VERSION = 1
KINDS: dict[str, type[Evaluation]] = {
    "evaluation": Evaluation,
    "accumulated": Accumulated,
    "similarity": Similarity,
}
_PLAIN = (str, int, float, bool)


def to_json(evaluation: Evaluation, indent: int | None, *, items: bool) -> str:
    """Return JSON; there is no bare NaN in it.

    What is for readers comes first, in lines; what `load` needs besides stands in one
    line at the end.
    """
    kind = next(name for name, one in KINDS.items() if type(evaluation) is one)
    head = {
        "rankine": __version__,
        "format": FORMAT,
        "format_version": VERSION,
        "kind": kind,
    }
    shown, rest = head | to_dict(evaluation), _rest(evaluation, items=items)
    text = _written(shown, rest, indent, ascii_=False)
    try:
        text.encode()
    except UnicodeEncodeError:  # an unpaired surrogate, as in a file name
        return _written(shown, rest, indent, ascii_=True)
    return text


def save(evaluation: Evaluation, path: str | PathLike[str], *, items: bool) -> None:
    """Write JSON to a file."""
    text = to_json(evaluation, 2, items=items)
    try:
        Path(path).write_text(text + "\n", encoding="utf-8")
    except OSError as error:
        msg = f"{path}: cannot be written ({error.strerror or error})"
        raise DataError(msg) from None


def _written(
    shown: dict[str, Any], rest: dict[str, Any], indent: int | None, *, ascii_: bool
) -> str:
    if indent is None:
        both = shown | {"saved": rest}
        return json.dumps(both, ensure_ascii=ascii_, allow_nan=False)
    lines = json.dumps(shown, indent=indent, ensure_ascii=ascii_, allow_nan=False)
    last = json.dumps(rest, ensure_ascii=ascii_, allow_nan=False)
    return f'{lines[:-2]},\n{" " * indent}"saved": {last}\n}}'


def _rest(evaluation: Evaluation, *, items: bool) -> dict[str, Any]:
    """Return what is needed besides the numbers and notes."""
    plan = evaluation._plan  # noqa: SLF001 - of our own making
    tables = evaluation._tables  # noqa: SLF001
    found = evaluation.summaries.values()
    return {
        "metrics": [
            _metric(asked) | {"bound": _metric(bound)["params"]} | _summary(one)
            for asked, bound, one in zip(plan.asked, plan.bound, found, strict=True)
        ],
        "groups": [
            _group(group, table, items=items)
            for group, table in zip(plan.groups, tables, strict=True)
        ],
    }


def _metric(metric: Metric) -> dict[str, Any]:
    return {
        "name": metric.name,
        "params": {key: _value(value) for key, value in metric.params},
    }


def _value(value: Any) -> Any:
    """Return a parameter: what JSON has no form for is an object that says what it is.

    Of a function there is only its name.
    """
    value = plain(value)
    if isinstance(value, float):
        return _number(value)
    if isinstance(value, Mapping):
        pairs = [[_value(key), _value(one)] for key, one in value.items()]
        return {"mapping": pairs}
    if isinstance(value, tuple):
        return [_value(one) for one in value]
    if callable(value):
        return {"function": str(getattr(value, "__name__", type(value).__name__))}
    return value


def _number(value: float) -> float | str | None:
    if math.isnan(value):
        return None
    return value if math.isfinite(value) else str(value)


def _numbers(values: Floats) -> list[float | str | None]:
    return [_number(value) for value in values.tolist()]


def _summary(found: Summary) -> dict[str, Any]:
    parts = found.parts
    return {
        "value": _number(found.value),
        "values": _numbers(found.values),
        "n": found.n,
        "undefined": found.n_undefined,
        "empty": np.flatnonzero(found.empty).tolist(),
        "parts": None if parts is None else [_numbers(part) for part in parts],
        "weights": None if found.weights is None else _numbers(found.weights),
    }


def _group(group: Group, table: Any, *, items: bool) -> dict[str, Any]:
    """Return the queries of a table, and what `worst` needs of their items."""
    ids = table.ids
    series = isinstance(ids, pl.Series)
    return {
        "metrics": [number for number, _, _ in group.members],
        "lists": group.lists,
        "id_type": str(ids.dtype) if series else None,
        "ids": ids.to_list() if series else [_id(one) for one in ids],
        "items": _items(_trail(group, table)) if items else None,
    }


def _id(value: Any) -> Any:
    """Return an id; what is neither text nor a number becomes text."""
    value = plain(value)
    endless = isinstance(value, float) and not math.isfinite(value)
    return value if type(value) in _PLAIN and not endless else str(value)


def _trail(group: Group, table: Any) -> Trail | None:
    """Return the items that metrics can ever show: relevant, or among the first."""
    if isinstance(table, Stored):
        return table.trail
    if not isinstance(table, Aligned):
        return None
    everyone = np.arange(table.table.n_queries)
    least = min(least_relevant(metric) for _, metric, _ in group.members)
    return trail_of(table, everyone, (least, table.keep or SHOWN))


def _items(trail: Trail | None) -> dict[str, Any] | None:
    if trail is None:
        return None
    tops = trail.tops
    return {
        "counts": np.diff(trail.starts).tolist(),
        "items": [_id(item) for item in trail.items],
        "grades": trail.grades.tolist(),
        "ranks": trail.ranks.tolist(),
        "looked": trail.looked.tolist(),
        "tops": None if tops is None else [_top(top) for top in tops],
        "keep": trail.keep,
    }


def _top(top: list[tuple[int, Any]]) -> list[list[Any]]:
    return [[rank, _id(item)] for rank, item in top]
