"""Values per query as rankine and other tools return them, by system and metric."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from numbers import Real
from os import PathLike, fsdecode
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from rankine._evaluate.compare.compare import is_mean
from rankine._evaluate.result import Evaluation
from rankine._io.bytes import Opened, decoded
from rankine._io.columns import known_columns
from rankine._io.frames import is_frame, open_frame
from rankine._io.sources import PLAIN
from rankine._io.values import is_missing, kind_of
from rankine._metrics.names import parse
from rankine._runs.several import runs_of
from rankine._stats.functions import LARGEST
from rankine.errors import DataError, FormatError, ParameterError, UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator

    import polars as pl

Values: TypeAlias = dict[str, dict[Any, float]]
"""The values of a system: by metric, then by query; nan where there is none."""
VALUE = "value"
"""The name of a metric that has none."""
_LONG = {
    "run": ("run", "system", "run_id"),
    "metric": ("metric", "measure"),
    "value": (VALUE, "score"),
}
"""The columns of a frame with a row per value, besides the query."""
_FIELDS = ("query_id", "measure", VALUE)
"""What values of ir_measures have."""
_ALL = "all"
"""What trec_eval has in place of a query, where it prints a mean."""
_DECIMALS = 4
"""Those that trec_eval prints."""


class Systems(NamedTuple):
    """Systems and their values.

    Attributes:
        values: by the name of the system.
        notes: what was inferred.
    """

    values: dict[str, Values]
    notes: tuple[str, ...] = ()


class _Row(NamedTuple):
    """A value, and where it stands."""

    where: str
    metric: str
    query: Any
    value: Any


def named(data: Any) -> dict[str, Any]:
    """Return what each system has, by its name: as given, or by runs and files."""
    listed = isinstance(data, (list, tuple))
    if listed and data and all(isinstance(each, Evaluation) for each in data):
        by_name = {each.name: each for each in data}
        if len(by_name) < len(data):
            names = ", ".join(each.name for each in data)
            msg = f"two evaluations have the same name: {names}; give {{name: ...}}"
            raise ParameterError(msg)
        return by_name
    if isinstance(data, Mapping):
        by_name = {str(name): each for name, each in data.items()}
        if len(by_name) < len(data):
            names = ", ".join(map(str, data))
            msg = f"two systems have the same name as text: {names}"
            raise ParameterError(msg)
        return by_name
    if isinstance(data, (str, PathLike)) or (
        listed and data and all(isinstance(each, (str, PathLike)) for each in data)
    ):
        return runs_of(data)
    msg = (
        "expected a frame, {name: values} or evaluations: values are an evaluation, "
        "{query: {metric: value}}, a frame, a list of values of ir_measures, or the "
        f"path of what trec_eval -q printed; got {kind_of(data)}"
    )
    raise ParameterError(msg)


def systems_of(data: Any) -> Systems:
    """Read the values of several systems."""
    values: dict[str, Values] = _of_frame(data) if is_frame(data) else {}
    notes: tuple[str, ...] = ()
    for name, own in () if is_frame(data) else named(data).items():
        if isinstance(own, (str, PathLike)):
            values[name], said = _of_trec_eval(Path(fsdecode(own)))
            notes += said
        else:
            values[name], said = _of_system(own, name)
            notes += said
    return Systems(values, (*notes, *_without_means(values)))


def _without_means(systems: Mapping[str, Values]) -> list[str]:
    """Leave out the means that tools return next to the values of queries."""
    found = []
    for name, values in systems.items():
        means = [
            own.pop(_ALL) for own in values.values() if _ALL in own and len(own) > 1
        ]
        if means:
            found.append(name)
    said = f"values of {_ALL!r} of {', '.join(found)} are means, and left out"
    return [said] if found else []


def _of_system(data: Any, name: str) -> tuple[Values, tuple[str, ...]]:
    """Read the values of one system, which are no file; also returns notes."""
    if isinstance(data, Evaluation):
        return _of_evaluation(data, name)
    if is_frame(data):
        return _of_columns(_loaded(data, name), name), ()
    if isinstance(data, Mapping):
        turned = _by_query(data)
        said = f"{name} is read as {{metric: {{query: value}}}}"
        notes = () if turned is data else (said,)
        return _gathered(_of_mapping(turned, name)), notes
    if isinstance(data, Iterable):
        return _gathered(_of_measures(data, name)), ()
    msg = (
        f"the values of {name} are {kind_of(data)}; expected an evaluation, {{query: "
        "{metric: value}}, a frame, a list of values of ir_measures, or a path"
    )
    raise ParameterError(msg)


def _of_evaluation(data: Evaluation, name: str) -> tuple[Values, tuple[str, ...]]:
    """Read the values of metrics that are means over queries."""
    if data.weights is not None:
        msg = (
            f"{name} has weights of queries, which only evaluations by the same "
            "metrics can be compared with"
        )
        raise ParameterError(msg)
    bound = dict(zip(data.summaries, data.bound, strict=True))
    table = data.per_query
    left = [
        label
        for label, metric in bound.items()
        if metric.fact.without is not None or not is_mean(metric)
    ]
    values = _of_columns(table.drop(left, strict=False), name)
    said = f"{', '.join(left)} of {name}: left out, as not a mean over queries"
    return values, (said,) if left else ()


def _by_query(data: Mapping[Any, Any]) -> Mapping[Any, Any]:
    """Return {query: {metric: value}}, also of {metric: {query: value}}.

    The names of metrics tell which it is.
    """
    entries = [*data.values()]
    if not entries or not all(isinstance(entry, Mapping) for entry in entries):
        return data
    inside = {key for entry in entries for key in entry}
    if not all(map(_is_metric, data)) or any(map(_is_metric, inside)):
        return data
    return {
        query: {metric: own[query] for metric, own in data.items() if query in own}
        for query in dict.fromkeys(key for entry in entries for key in entry)
    }


def _is_metric(name: Any) -> bool:
    try:
        parse(str(name))
    except UsageError:
        return False
    return True


def _gathered(rows: Iterable[_Row]) -> Values:
    """Put values together; refuse two of one query and metric, and odd ones."""
    values: Values = {}
    texts: dict[str, set[str]] = {}
    for where, metric, query, value in rows:
        if is_missing(query):
            msg = f"{where} has no query; give each value one"
            raise DataError(msg)
        seen = texts.setdefault(metric, set())
        if str(query) in seen:
            msg = f"{where}: query {query!r} has a second value of {metric}; give one"
            raise DataError(msg)
        seen.add(str(query))
        number = _number(value, f"{where}: {metric} of query {query!r}")
        values.setdefault(metric, {})[query] = number
    return values


def _number(value: Any, where: str) -> float:
    """Return a value as a float, nan where there is none."""
    if is_missing(value):
        return math.nan
    if value is True or value is False or not isinstance(value, Real):
        msg = f"{where} is {value!r}; expected a number"
        raise DataError(msg)
    number = float(value)
    if abs(number) > LARGEST:
        wanted = f"a finite number of at most {LARGEST:g} in size"
        msg = f"{where} is {number}; expected {wanted}"
        raise DataError(msg)
    return number


def _of_mapping(data: Mapping[Any, Any], name: str) -> Iterator[_Row]:
    """Go through {query: {metric: value}}, as of pytrec_eval, or {query: value}."""
    for query, entry in data.items():
        if isinstance(entry, Mapping):
            for metric, value in entry.items():
                yield _Row(name, str(metric), query, value)
        else:
            yield _Row(name, VALUE, query, entry)


def _of_measures(data: Iterable[Any], name: str) -> Iterator[_Row]:
    """Go through values with a query_id, a measure and a value, as of ir_measures."""
    for place, each in enumerate(data):
        if not all(hasattr(each, field) for field in _FIELDS):
            msg = (
                f"entry {place} of the values of {name} is {kind_of(each)}; expected "
                "one with query_id, measure and value, as ir_measures returns them"
            )
            raise FormatError(msg)
        yield _Row(name, str(each.measure), each.query_id, each.value)


def _of_trec_eval(path: Path) -> tuple[Values, tuple[str, ...]]:
    """Read what ``trec_eval -q`` printed: a measure, a query and a value per line."""
    opened = Opened(path, PLAIN)
    rows, rounded = [], True
    for number, line in enumerate(opened.read().split(b"\n"), 1):
        where = f"{path}:{number}"
        fields = decoded(line, where).split()
        if not fields:
            continue
        if len(fields) < len(_FIELDS):
            msg = (
                f"{where}: expected a measure, a query and a value, as trec_eval -q "
                f"prints them, got {decoded(line, where)!r}"
            )
            raise FormatError(msg)
        metric, query, text = fields[:3]
        if query == _ALL:
            continue
        try:
            value = float(text)
        except ValueError:
            msg = f"{where}: the value of {metric} is {text!r}, not a number"
            raise FormatError(msg) from None
        rounded &= len(text.partition(".")[2]) <= _DECIMALS
        rows.append(_Row(where, metric, query, value))
    if not rows:
        msg = f"{path}: has no values of queries; let trec_eval print them with -q"
        raise FormatError(msg)
    said = f"{path}: values have {_DECIMALS} decimals: smaller differences are ties"
    return _gathered(rows), (said,) if rounded else ()


# Frames


def _of_frame(data: Any) -> dict[str, Values]:
    """Read a frame with a row per value, or with a column per system."""
    table, title = _loaded(data, "the frame"), "the frame"
    column_of = {
        part: next((name for name in names if name in table.columns), "")
        for part, names in _LONG.items()
    }
    run, value = column_of["run"], column_of["value"]
    named_ = column_of["metric"] and not table[column_of["metric"]].dtype.is_numeric()
    if not (run and value) or (table[run].dtype.is_numeric() and not named_):
        by_system = _of_columns(table, title)
        return {name: {VALUE: own} for name, own in by_system.items()}
    query, metric = _query_column(table, title), column_of["metric"]
    left = [name for name in table.columns if name not in {query, run, metric, value}]
    if left:
        msg = f"{title} has a row per value, and also {', '.join(left)}; leave that out"
        raise DataError(msg)
    _check_numbers(table, [value])
    rows: dict[str, list[_Row]] = {}
    metrics = table[metric].to_list() if metric else [VALUE] * table.height
    columns = (table[name].to_list() for name in (run, query, value))
    for row, own in enumerate(zip(*columns, metrics, strict=True), 1):
        system, which, number, what = own
        if is_missing(system) or is_missing(what):
            part = run if is_missing(system) else metric
            msg = f"row {row} of {title} has no {part}; give each row one"
            raise DataError(msg)
        where = f"row {row} of {title}"
        rows.setdefault(str(system), []).append(_Row(where, str(what), which, number))
    return {system: _gathered(own) for system, own in rows.items()}


def _loaded(data: Any, title: str) -> pl.DataFrame:
    part = open_frame(data, title)
    return part.load(part.names, ())[0]


def _query_column(table: pl.DataFrame, title: str) -> str:
    """Return the column of queries."""
    found = known_columns(table.columns, "user")
    if not found:
        msg = f"{title} has no column 'query'; it has {', '.join(table.columns)}"
        raise DataError(msg)
    return found[0]


def _check_numbers(table: pl.DataFrame, names: Iterable[str]) -> None:
    for name in names:
        if not table[name].dtype.is_numeric():
            msg = f"column {name} holds {table[name].dtype}; expected values"
            raise DataError(msg)


def _of_columns(table: pl.DataFrame, title: str) -> Values:
    """Read a frame with a row per query, and a column of values for each name."""
    query = _query_column(table, title)
    names = [name for name in table.columns if name != query]
    _check_numbers(table, names)
    queries = table[query].to_list()
    rows = (
        _Row(f"row {row} of {title}", name, which, value)
        for name in names
        for row, (which, value) in enumerate(zip(queries, table[name], strict=True), 1)
    )
    return {name: {} for name in names} | _gathered(rows)
