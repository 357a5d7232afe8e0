"""Metrics of an experiment: names, and grids of their parameters."""

from __future__ import annotations

import math
from itertools import product
from typing import TYPE_CHECKING, Any, NamedTuple

from rankine._evaluate.plan import with_names
from rankine._metrics.names import canonical_name, parse
from rankine.errors import ParameterError, nearest

if TYPE_CHECKING:
    from rankine._base.strict_yaml import Document, Path
    from rankine._experiment.problems import Problems
    from rankine._metrics.metric import Metric

_TYPES: dict[str, tuple[type | tuple[type, ...], str]] = {
    "int": (int, "a whole number"),
    "long": (int, "a whole number"),
    "double": ((int, float), "a number"),
    "float": ((int, float), "a number"),
    "boolean": (bool, "true or false"),
    "string": (str, "a text"),
}
_CUTOFF = "cutoff"
"""What grids call the parameter that @ stands for."""
_OF_VALUES = ("type", "values", "value", "range")
_NUMBERS = ("int", "long", "double", "float")
_MOST = 10_000
"""Values of one range, and combinations of one metric."""
_LARGEST = 1 << 53
_LONG = 60


class Placed(NamedTuple):
    """A metric of an experiment.

    Attributes:
        metric: the metric.
        name: the name under which it was asked for.
        document: the file that asks for it.
        path: where in the file.
    """

    metric: Metric
    name: str
    document: Document
    path: Path


def metrics_of(document: Document, path: Path, problems: Problems) -> list[Placed]:
    """Return the metrics that a part of a document stands for, with their places."""
    data: Any = document.data
    for step in path:
        data = data[step]
    placed: list[Placed] = []
    entries = data if isinstance(data, list) else [data]
    for number, entry in enumerate(entries):
        here = (*path, number) if isinstance(data, list) else path
        if isinstance(entry, str):
            with problems.of(document, here):
                placed += _read(entry, document, here)
        elif isinstance(entry, dict):
            for name, grid in entry.items():
                _add(placed, document, (*here, name), grid, problems)
        else:
            what = f"expected a metric such as nDCG@10, got {shown_value(entry)}"
            problems.add(document, here, what)
    if not placed and not problems.touch(document, path):
        problems.add(document, path, "no metrics are given; name at least one")
    first: dict[Metric, Path] = {}
    for metric, _, _, here in placed:
        if metric in first:
            line = document.place(first[metric], key=True).line
            what = f"{metric} is given twice; it is also in line {line}"
            problems.add(document, here, what, key=True)
        first.setdefault(metric, here)
    return placed


def _add(
    placed: list[Placed],
    document: Document,
    path: Path,
    grid: Any,
    problems: Problems,
) -> None:
    """Add the metrics of one grid."""
    name = str(path[-1])
    with problems.of(document, path, key=True):
        if not name.strip():
            msg = "a metric has no name; write it like nDCG@ or RBP"
            raise ParameterError(msg)
        if name.endswith("@"):
            metric = parse(name.removesuffix("@"))
            if metric.fact.at in dict(metric.params):
                msg = f"{metric} has a cutoff; write {metric.name}@ to give others"
                raise ParameterError(msg)
            for cutoff, where in _listed(grid, path):
                with problems.of(document, where):
                    cut = metric @ _plain(cutoff)
                    asked = f"{name}{cutoff}"
                    same = canonical_name(asked) == str(cut)
                    label = asked if same else str(cut)
                    placed.append(Placed(cut, label, document, where))
        elif grid is None:
            placed += _read(name, document, path)
        elif isinstance(grid, dict):
            metric = parse(name)
            axes = [_axis(metric, document, (*path, key), problems) for key in grid]
            _check_once(metric, [axis[0][0] for axis in axes if axis])
            n = math.prod(len(axis) for axis in axes)
            if n > _MOST:
                many = f"{name} has {n:,} combinations of values"
                msg = f"{many}; at most {_MOST:,} are allowed"
                raise ParameterError(msg)
            for cell in product(*axes):
                where = cell[-1][2] if cell else path
                with problems.of(document, where):
                    bound = metric(**{key: value for key, value, _ in cell})
                    placed.append(Placed(bound, str(bound), document, where))
        else:
            what = (
                f"expected the parameters of {name}, such as {name}: "
                f"{{cutoff: [5, 10]}}, or {name}@: [5, 10] for cutoffs"
            )
            problems.add(document, path, what)


def _read(text: str, document: Document, path: Path) -> list[Placed]:
    """Return the metrics that a name stands for."""
    return [Placed(*named, document, path) for named in with_names(text)]


def _check_once(metric: Metric, keys: list[str]) -> None:
    """Refuse a parameter that is given twice: in the name and below it, or as k too."""
    bound = [key for key, _ in metric.params]
    for key in keys:
        if (bound + keys).count(key) > 1:
            where = f"twice, also in {metric}" if key in bound else "twice"
            msg = f"{key} of {metric.name} is given {where}"
            raise ParameterError(msg)


def _listed(data: Any, path: Path) -> list[tuple[Any, Path]]:
    """Return the entries of a list, or what is not a list, with their places."""
    if not isinstance(data, list):
        return [(data, path)]
    return [(entry, (*path, number)) for number, entry in enumerate(data)]


def _axis(
    metric: Metric, document: Document, path: Path, problems: Problems
) -> list[tuple[str, Any, Path]]:
    """Return a parameter with each of its values, and their places."""
    key = str(path[-1])
    known = metric.fact.parameters
    if key == _CUTOFF and key not in known and metric.fact.at is not None:
        key = metric.fact.at
    if key not in known:
        what = (
            f"{metric.name} has no parameter {key!r}; it has "
            f"{', '.join(known) or 'none'}{nearest(key, known)}"
        )
        problems.add(document, path, what, key=True)
        return []
    data: Any = document.data
    for step in path:
        data = data[step]
    if isinstance(data, dict):
        values = _typed(data, document, path, problems)
    else:
        values = _listed(data, path)
    return [(key, _plain(value), where) for value, where in values]


def _typed(
    data: dict[str, Any], document: Document, path: Path, problems: Problems
) -> list[tuple[Any, Path]]:
    """Return values that are given by their type: as a list, one, or a range."""
    for key in data:
        if key not in _OF_VALUES:
            guess = nearest(key, _OF_VALUES)
            what = f"expected type, values or range, got {key!r}{guess}"
            problems.add(document, (*path, key), what, key=True)
            return []
    kind = data.get("type")
    if kind is not None and (not isinstance(kind, str) or kind not in _TYPES):
        what = f"unknown type {kind!r}; the types are {', '.join(_TYPES)}"
        problems.add(document, (*path, "type"), what)
        return []
    if set(data) <= {"type"}:
        problems.add(document, path, "has no values; give values or range")
        return []
    read: list[tuple[Any, Path]] = []
    for key in ("values", "value", "range"):
        for entry, where in _listed(data.get(key, []), (*path, key)):
            with problems.of(document, where):
                if key == "range":
                    read += [(value, where) for value in _range(entry, kind)]
                else:
                    _check(entry, kind)
                    read.append((entry, where))
    return read


def _check(value: Any, kind: str | None, what: str = "") -> None:
    """Refuse a value of another type."""
    if kind is None:
        return
    wanted, words = _TYPES[kind]
    plain = isinstance(value, bool) == (wanted is bool)
    if not plain or not isinstance(value, wanted) or value != value:  # noqa: PLR0124 - nan
        msg = f"expected {words}{what}, got {shown_value(value)}"
        raise ParameterError(msg)


def _range(entry: Any, kind: str | None) -> list[int] | list[float]:
    """Return start, start + step and so on, up to and including the end.

    For numbers with fractions, the end is always included, even if no step leads to it.
    """
    steps = ("start", "end", "step")
    if not isinstance(entry, dict) or set(entry) != set(steps):
        msg = "a range needs start, end and step, and nothing else"
        raise ParameterError(msg)
    if kind is not None and kind not in _NUMBERS:
        msg = f"a range must be of numbers, not of the type {kind}"
        raise ParameterError(msg)
    for key in steps:
        _check(entry[key], kind or "double", f" as the {key}")
        if not abs(entry[key]) < _LARGEST:
            msg = f"the {key} of a range is too large"
            raise ParameterError(msg)
    start, end, step = (entry[key] for key in steps)
    if step <= 0 or end < start:
        msg = "a range must go up: step must be above 0, and end not below start"
        raise ParameterError(msg)
    size = (end - start) / step
    if not size < _MOST:
        msg = f"a range has {size + 1:,.0f} values; at most {_MOST:,} are allowed"
        raise ParameterError(msg)
    fractions = kind in {"double", "float"}
    if not fractions and all(isinstance(entry[key], int) for key in steps):
        return list(range(start, end + 1, step))
    # Rounded, so that 0.1 + 2 x 0.1 is 0.3.
    n = math.floor(size + 1e-9) + 1
    values = [round(float(start + number * step), 12) for number in range(n)]
    reached = math.isclose(values[-1], end, abs_tol=1e-9)
    return values if reached else [*values, float(end)]


def _plain(value: Any) -> Any:
    """Return a value of a parameter: lists become tuples."""
    return tuple(map(_plain, value)) if isinstance(value, list) else value


def shown_value(value: Any) -> str:
    """Return a value as it is written in YAML."""
    if value is None or isinstance(value, bool):
        return "nothing" if value is None else str(value).lower()
    text = repr(value)
    return text if len(text) < _LONG else f"a {type(value).__name__}"
