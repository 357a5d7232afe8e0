"""Baseline: the values that a gate compares with, and the file that holds them."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from rankine import __version__
from rankine._base.text import QUERY, count
from rankine._evaluate.notes import few
from rankine._evaluate.worst import first_items, plain, table_of
from rankine._io.rows import as_rows
from rankine._join.side_data import prints_of
from rankine._tables.joined import SHOWN, Aligned
from rankine.errors import DataError, FormatError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from rankine._evaluate.evaluate import Job
    from rankine._evaluate.result import Evaluation
    from rankine._join.judgements import Truth
    from rankine._metrics.metric import Metric

FORMAT = "rankine gate"
VERSION = 1
KEEP = 10
"""How many first ids of each list are kept, as hashes."""
_LEAST_KEPT = 0.02
"""Two systems on the same items share at least this many of their first ids."""
_WRONG = (ArithmeticError, AttributeError, LookupError, TypeError, ValueError)
"""Errors that are raised if a file is not a baseline."""
Values = tuple[float | None, ...]


class BaselineQuery(NamedTuple):
    """A query in a baseline.

    Attributes:
        judged: the hash of its judgements; None if it has none.
        first: the hashes of the first ids of its list.
        values: one per metric, None if it has none.
        weight: how much it counts; None if all count the same.
        listed: whether its list has items; None if the file does not say.
    """

    judged: str | None
    first: tuple[str, ...]
    values: Values
    weight: float | None = None
    listed: bool | None = None


@dataclass(frozen=True, eq=False)
class Baseline:
    """The values of a run, with the settings and data that they depend on.

    Attributes:
        version: the version of rankine that computed them.
        metrics: the parameters of each metric, by its name.
        convention: the fields of the convention.
        given: the depth of the lists, and the names of further data.
        queries: the queries, by the texts of their ids, in their order.
        first: the values of the first baseline.
        first_version: the version of rankine that computed these.
        data: a hash of each of the further data, by its name; missing in older files.
        unit: what a query is called: query, or user; files do not say.
    """

    version: str
    metrics: dict[str, dict[str, Any]]
    convention: dict[str, Any]
    given: dict[str, Any]
    queries: dict[str, BaselineQuery]
    first: dict[str, Values]
    first_version: str
    data: dict[str, str] = field(default_factory=dict)
    unit: str = QUERY

    @property
    def values(self) -> dict[str, Values]:
        """The values of each query, one per metric."""
        return {query: own.values for query, own in self.queries.items()}

    @staticmethod
    def of(job: Job, truth: Truth, evaluation: Evaluation) -> Baseline:
        """Make a baseline of an evaluation, for later ones to be compared with."""
        labels = job.plan.labels
        judged = _judged(truth)
        values: dict[str, list[float | None]] = {}
        weights: dict[str, float] = {}
        for number, label in enumerate(labels):
            summary = evaluation.summaries[label]
            ids = [str(query) for query in table_of(evaluation, label)[1].ids]
            for query, value in zip(ids, summary.values.tolist(), strict=True):
                row = values.setdefault(query, [None] * len(labels))
                row[number] = None if math.isnan(value) else value
            if summary.weights is not None:
                weights |= zip(ids, summary.weights.tolist(), strict=True)
        tops, listed = _tops(evaluation), _listed(evaluation)
        nothing: list[float | None] = [None] * len(labels)
        queries = {
            query: BaselineQuery(
                judged.get(query),
                tops.get(query, ()),
                tuple(values.get(query, nothing)),
                weights.get(query),
                query in listed,
            )
            for query in sorted({*judged, *values})
        }
        return Baseline(
            __version__,
            *_terms(job),
            queries,
            {query: entry.values for query, entry in queries.items()},
            __version__,
            prints_of(job.side_data),
            evaluation.unit,
        )

    def after(self, older: Baseline) -> Baseline:
        """Keep the first baseline of an older one, if both have the same settings."""
        if _differences(older, self) or _other_data(older, self):
            return self
        names = list(older.metrics)
        order = [names.index(name) for name in self.metrics]
        first = {
            query: tuple(values[number] for number in order)
            for query, values in older.first.items()
        }
        return replace(self, first=first, first_version=older.first_version)

    def text(self) -> str:
        """Return JSON with a line per query, the same for the same values."""

        def line(value: Any) -> str:
            return json.dumps(value, ensure_ascii=False, allow_nan=False)

        def lines(rows: Mapping[str, Any], indent: int) -> str:
            inside = ",\n".join(
                f"{' ' * (indent + 2)}{line(key)}: {line(row)}"
                for key, row in rows.items()
            )
            return f"{{\n{inside}\n{' ' * indent}}}" if rows else "{}"

        parts = {
            "format": line(FORMAT),
            "format_version": line(VERSION),
            "version": line(self.version),
            "metrics": lines(self.metrics, 2),
            "convention": lines(self.convention, 2),
            "given": line(self.given),
            "data": line(self.data),
            "queries": lines(
                {query: _record(entry) for query, entry in self.queries.items()}, 2
            ),
            "first_version": line(self.first_version),
            "first": lines(self.first, 2),
        }
        return "{\n" + ",\n".join(f'  "{k}": {v}' for k, v in parts.items()) + "\n}\n"

    @staticmethod
    def read(path: Path) -> Baseline:
        """Read the file."""
        try:
            data = json.loads(path.read_text(encoding="utf-8-sig"))
        except OSError as error:
            msg = f"{path}: cannot be read ({error.strerror or error})"
            raise FormatError(msg) from None
        except (ValueError, RecursionError):
            data = None
        if not isinstance(data, Mapping) or data.get("format") != FORMAT:
            msg = (
                f"{path}: this is not a baseline written by a gate, or it is damaged; "
                f"restore it, or delete it and make a new one with {UPDATE}"
            )
            raise FormatError(msg)
        version = data.get("format_version")
        if isinstance(version, int) and version > VERSION:
            msg = (
                f"{path}: a newer rankine wrote this (format {version}, but this one "
                f"reads only up to {VERSION}); update rankine"
            )
            raise FormatError(msg)
        try:
            return _parsed(data)
        except _WRONG as error:
            msg = f"{path}: the file is damaged ({error}); restore it"
            raise FormatError(msg) from None

    def refuse_other_terms(self, job: Job, path: Path) -> None:
        """Refuse a job with other metrics or another convention than the baseline."""
        metrics, convention, given = _terms(job)
        new = replace(self, metrics=metrics, convention=convention, given=given)
        differences = _differences(self, new)
        if differences:
            what = "; ".join(differences[:SHOWN])
            problem = f"{path} was made with different settings: {what}"
            msg = f"{problem}; use the same settings, or {_AGAIN}"
            raise DataError(msg)

    def refuse_other_data(self, new: Baseline, path: Path) -> None:
        """Refuse to compare if something other than the run changed."""
        reason = _other_data(self, new) or _turned_over(self, new)
        if reason:
            msg = f"cannot compare with {path}: {reason}"
            raise DataError(msg)


UPDATE = "update=True or --update"
_AGAIN = f"recreate the baseline with {UPDATE}, from the run it was made from"


def _terms(job: Job) -> tuple[dict[str, Any], dict[str, Any], dict[str, Any]]:
    """Return metrics, convention and arguments, as a baseline has them."""
    pairs = zip(job.plan.labels, job.plan.bound, strict=True)
    metrics = {label: _definition(bound) for label, bound in pairs}
    given = {"depth": job.options.depth, "with": sorted(job.options.given)}
    return metrics, job.plan.rule.to_dict(), given


def _definition(bound: Metric) -> dict[str, Any]:
    parameters = {key: _plain(bound.get(key)) for key in bound.fact.parameters}
    return {"metric": bound.name, **parameters}


def _plain(value: Any) -> Any:
    """Return a parameter for JSON; for a function, its name."""
    value = plain(value)
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    if value is None or isinstance(value, (str, int, float)):
        return value
    if callable(value):
        return str(getattr(value, "__name__", type(value).__name__))
    return repr(value)


def _hash(text: str, digits: int) -> str:
    return sha256(text.encode()).hexdigest()[:digits]


def _judged(truth: Truth) -> dict[str, str]:
    """Return a hash of the judgements of each query, independent of their order."""
    topics = truth.subtopics
    frame = as_rows(truth.source, "qrels").frame if topics is None else topics
    names = ["query", "item", "value", *(() if topics is None else ("subtopic",))]
    rows: dict[str, list[str]] = {}
    for query, item, grade, *more in zip(
        *(frame[name].to_list() for name in names), strict=True
    ):
        text = "\t".join((str(item), repr(float(grade)), *map(str, more)))
        rows.setdefault(str(query), []).append(text)
    return {query: _hash("\n".join(sorted(texts)), 16) for query, texts in rows.items()}


def _tops(evaluation: Evaluation) -> dict[str, tuple[str, ...]]:
    """Return the hashes of the first ids of each list."""
    tables = {label: table_of(evaluation, label)[1] for label in evaluation.summaries}
    for label, table in tables.items():
        if isinstance(table, Aligned):
            tops = first_items(evaluation, label, list(table.ids))
            return {
                str(query): _hashes(entry.item for entry in top[:KEEP])
                for query, top in zip(table.ids, tops, strict=True)
            }
    listed = next(iter(tables.values()))
    table, ids, starts = listed.table, listed.items, listed.table.starts.tolist()
    return {
        str(query): _hashes(
            ids[number]
            for number in table.item[start : min(end, start + KEEP)].tolist()
        )
        for query, start, end in zip(listed.ids, starts, starts[1:], strict=False)
    }


def _listed(evaluation: Evaluation) -> set[str]:
    """Return the queries whose lists have items, judged or not."""
    return {
        str(query)
        for table in evaluation.tables
        for query, n in zip(table.ids, table.lengths.tolist(), strict=True)
        if n
    }


def _hashes(items: Iterable[Any]) -> tuple[str, ...]:
    return tuple(_hash(str(item), 6) for item in items)


def _record(query: BaselineQuery) -> dict[str, Any]:
    record: dict[str, Any] = {
        "judged": query.judged,
        "first": " ".join(query.first),
        "values": query.values,
    }
    if query.weight is not None:
        record["weight"] = query.weight
    if not query.first:  # a list with first ids has items
        record["listed"] = query.listed
    return record


def _parsed(data: Mapping[str, Any]) -> Baseline:
    """Parse JSON; invalid content raises one of `_WRONG`."""
    metrics = {
        str(name): dict(definition) for name, definition in data["metrics"].items()
    }
    queries = {
        query: BaselineQuery(
            _text(entry["judged"]),
            tuple(entry["first"].split()),
            _values(entry["values"], len(metrics)),
            None if entry.get("weight") is None else _number(entry["weight"]),
            True if entry["first"] else _flag(entry.get("listed")),
        )
        for query, entry in data["queries"].items()
    }
    first = {
        query: _values(values, len(metrics)) for query, values in data["first"].items()
    }
    if not metrics:
        msg = "it has no metrics"
        raise ValueError(msg)
    return Baseline(
        str(data["version"]),
        metrics,
        dict(data["convention"]),
        dict(data["given"]),
        queries,
        first,
        str(data["first_version"]),
        {
            str(name): str(_text(digest))
            for name, digest in data.get("data", {}).items()
        },
    )


def _text(value: Any) -> str | None:
    if value is None or isinstance(value, str):
        return value
    msg = f"{value!r} is not a hash"
    raise ValueError(msg)


def _flag(value: Any) -> bool | None:
    if value is None or isinstance(value, bool):
        return value
    msg = f"{value!r} is neither true nor false"
    raise ValueError(msg)


def _values(values: Any, n: int) -> Values:
    if not isinstance(values, list) or len(values) != n:
        msg = f"expected {count(n, 'value')}, got {values!r}"
        raise ValueError(msg)
    return tuple(None if value is None else _number(value) for value in values)


def _number(value: Any) -> float:
    fine = isinstance(value, (int, float)) and not isinstance(value, bool)
    if not fine or not math.isfinite(value):
        msg = f"{value!r} is not a number"
        raise ValueError(msg)
    return float(value)


def _differences(old: Baseline, new: Baseline) -> list[str]:
    """Name the settings that differ."""
    if {*old.metrics} != {*new.metrics}:
        theirs, ours = ", ".join(old.metrics), ", ".join(new.metrics)
        return [f"its metrics are {theirs}, but {ours} were asked for"]
    differences = []
    for name, definition in old.metrics.items():
        differences += _changed(name, definition, new.metrics[name])
    differences += _changed("the convention", old.convention, new.convention)
    return differences + _changed("the request", old.given, new.given)


def _changed(of: str, old: Mapping[str, Any], new: Mapping[str, Any]) -> list[str]:
    keys = dict.fromkeys([*old, *new])
    # In JSON, tuples are lists and keys are text.
    before = json.loads(json.dumps(dict(old), default=str))
    now = json.loads(json.dumps(dict(new), default=str))
    return [
        f"{key} of {of} was {before.get(key)!r} and is now {now.get(key)!r}"
        for key in keys
        if before.get(key) != now.get(key)
    ]


def _other_data(old: Baseline, new: Baseline) -> str:
    """Name the judgements, weights or further data that have changed, if any."""
    both = [query for query in old.queries if query in new.queries]
    apart = {*old.queries} ^ {*new.queries}
    alone = [
        query
        for query in sorted(apart)
        if (old.queries.get(query) or new.queries[query]).judged is not None
    ]
    for part, words, others in (
        ("judged", "judgements", alone),
        ("weight", "weights", []),
    ):
        changed = others + [
            query
            for query in both
            if getattr(old.queries[query], part) != getattr(new.queries[query], part)
        ]
        if changed:
            of = count(len(changed), new.unit)
            return f"the {words} of {of} changed ({few(changed)}); {_AGAIN}"
    for name, before in old.data.items():
        if new.data.get(name, before) != before:
            return f"the contents of {name} changed; {_AGAIN}"
    return ""


def _turned_over(old: Baseline, new: Baseline) -> str:
    """Return what to do if nearly all ids at the top have changed."""
    same = compared = 0
    for query, entry in old.queries.items():
        now = new.queries[query].first if query in new.queries else ()
        same += len({*entry.first} & {*now})
        compared += min(len(entry.first), len(now))
    if compared < KEEP or same >= _LEAST_KEPT * compared:
        return ""
    return (
        f"of {compared} ids at the top of the lists, {same} are still there; were "
        "items or chunks renumbered? If so, judge the new ids; if not, make this run "
        f"the baseline with {UPDATE}"
    )
