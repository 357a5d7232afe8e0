"""load: a result back from what was saved of it."""

from __future__ import annotations

import json
import math
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import polars as pl

from rankine._base.records import cached_property
from rankine._base.text import QUERY
from rankine._conventions.convention import Convention
from rankine._evaluate.compare.comparison import Comparison
from rankine._evaluate.compare.system_values import SystemValues
from rankine._evaluate.plan import Group, Member, Plan
from rankine._evaluate.result import Evaluation
from rankine._evaluate.similarity import Similarity
from rankine._evaluate.summary import Summary
from rankine._evaluate.trail import Stored, Trail
from rankine._io.values import UNREADABLE
from rankine._join.lists import First
from rankine._metrics.lists.kind import ListMetric
from rankine._metrics.metric import Metric
from rankine._metrics.names import canonical_name
from rankine._metrics.similarity.measures import Measure
from rankine._results.curves import read_curves
from rankine._results.nodes import Node
from rankine._results.online import ONLINE
from rankine._results.saved import COMPARISON, FORMAT, KINDS, VERSION
from rankine._stats.jackknife import Whole
from rankine._stats.pairwise import Settings
from rankine._tables.segments import starts_of
from rankine.errors import FormatError, ParameterError, RankineError

if TYPE_CHECKING:
    from collections.abc import Sequence


_IDS: Final = {"Int64": pl.Int64, "UInt64": pl.UInt64, "String": pl.String}
_ODD = (
    RankineError, TypeError, ValueError, ArithmeticError, LookupError, AttributeError,
)  # fmt: skip
"""What is raised for parameters and choices that no metric or convention can have."""


def load(source: str | os.PathLike[str]) -> Any:
    """Load a result that was saved.

    Args:
        source: the path of a file that holds what `to_json` of an `Evaluation`, a
            `Comparison`, a `Summary` of events or an `ABTest` returned, or what `save`
            wrote; or that text itself.

    Returns:
        A result with the same numbers, notes and texts; of the same class.

    Raises:
        FormatError: the file cannot be read, is damaged, or is something else.

    >>> import rankine as rk
    >>> ev = rk.evaluate({"q": {"a": 1}}, {"q": ["b", "a"]}, ["RR", "P@1"])
    >>> rk.load(ev.to_json()).mean
    {'RR': 0.5, 'P@1': 0.0}
    >>> runs = {"old": {"q": ["b", "a"]}, "new": {"q": ["a", "b"]}}
    >>> cmp = rk.compare({"q": {"a": 1}}, runs, "RR")
    >>> rk.load(cmp.to_json()).pairwise["difference"].to_list()
    [0.5]
    """
    name, text = _read(source)
    try:
        data = json.loads(text)
    except (ValueError, RecursionError) as error:
        msg = f"{name}: this is not JSON, or it is incomplete ({error})"
        raise FormatError(msg) from None
    if isinstance(data, dict) and data.get("format") == f"{FORMAT} experiment":
        msg = (
            f"{name}: these are results of an experiment, whose values are in files "
            "beside them; give its folder, or the results.json in it"
        )
        raise FormatError(msg)
    if not isinstance(data, dict) or data.get("format") != FORMAT:
        msg = (
            f"{name}: this is JSON, but not what rankine saves; expected what "
            "save() wrote, of an evaluation, a comparison, a summary of events or an "
            "A/B test"
        )
        raise FormatError(msg)
    node = Node(data, "", name)
    version = node["format_version"].count()
    if version > VERSION:
        msg = (
            f"{name}: a newer rankine saved this (format {version}, and this one reads "
            f"up to {VERSION}); update it"
        )
        raise FormatError(msg)
    kind = node["kind"].text()
    if kind == COMPARISON:
        return _comparison(node)
    if kind in ONLINE:
        return ONLINE[kind](node)
    if kind not in KINDS:
        kinds = ", ".join((*KINDS, COMPARISON, *ONLINE))
        node["kind"].refuse(f"is {kind!r}; expected one of {kinds}")
    return _evaluation(node, KINDS[kind])


def _read(source: Any) -> tuple[str, str]:
    """Return what to call a source, and its text."""
    if not isinstance(source, (str, os.PathLike)):
        kind = type(source).__name__
        msg = f"load() takes the path or the text of a saved file, got a {kind}"
        raise ParameterError(msg)
    if isinstance(source, str) and source.lstrip("\ufeff \t\r\n").startswith("{"):
        return "the text", source.lstrip("\ufeff")
    try:
        return str(source), Path(source).read_text(encoding="utf-8-sig")
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or "it is not text"
        msg = f"{source}: cannot be read ({reason})"
        raise FormatError(msg) from None


def restored(document: dict[str, Any], name: str) -> Evaluation:
    """Return an evaluation of what `document_of` returned; values may be arrays.

    What was kept of items is read only when it is asked for.
    """
    return _evaluation(Node(document, "", name), Evaluation, late=True)


def _evaluation(
    node: Node, kind: type[Evaluation], *, late: bool = False
) -> Evaluation:
    saved = node["saved"]
    metrics = saved["metrics"].parts()
    groups = saved["groups"].parts()
    kinds = (Measure,) if kind is Similarity else (Metric, ListMetric)
    read = [_metrics(part, kinds) for part in metrics]
    asked, bound = (tuple(pair[which] for pair in read) for which in (0, 1))
    labels = tuple(map(_label, metrics, asked))
    different = min(len(set(labels)), len(set(map(str, asked))))
    if not labels or different < len(labels):
        saved["metrics"].refuse("has no metrics, or one of them twice")
    rule = _rule(node["convention"])
    members = [part["metrics"].counts(below=len(metrics)).tolist() for part in groups]
    every = sorted(number for numbers in members for number in numbers)
    if every != list(range(len(metrics))):
        saved["groups"].refuse("do not have every metric once")
    tables = tuple(_table(part, late=late) for part in groups)
    summaries: dict[int, Summary] = {
        number: _summary(metrics[number], bound[number], len(table.ids))
        for numbers, table in zip(members, tables, strict=True)
        for number in numbers
    }
    planned = tuple(
        Group(
            rule,
            tuple(Member(number, bound[number], rule) for number in numbers),
            None,
            keep_scores=False,
            lists=part["lists"].flag(),
        )
        for numbers, part in zip(members, groups, strict=True)
    )
    preset = node["preset"]
    named = None if preset.value is None else preset.text()
    plan = Plan(asked, labels, bound, planned, rule, (), preset=named)
    evaluation = kind.restored(
        plan,
        tuple(summaries[number] for number in range(len(metrics))),
        tables,
        node["run"].text(),
        notes=node["notes"].texts(),
        warnings=node["warnings"].texts(),
        unit=_unit(node),
    )
    evaluation.curves.update(read_curves(saved))
    return evaluation


def _label(node: Node, metric: Metric) -> str:
    """Return the name that a metric was asked for by, if it is one of its names."""
    name = str(metric)
    if "label" not in node.value:  # as in older files
        return name
    label = node["label"].text()
    return label if canonical_name(label) == name else name


def _unit(node: Node) -> str:
    """Return what a query is called; older files do not say."""
    if "unit" not in node.value:
        return QUERY
    unit = node["unit"].text()
    if unit not in ("query", "user"):
        node["unit"].refuse(f"is {unit!r}; expected query or user")
    return unit


def _comparison(node: Node) -> Comparison:
    saved = node["saved"]
    systems, labels = (_names(node[key]) for key in ("systems", "metrics"))
    if len(systems) < 2 or not labels:  # noqa: PLR2004 - nothing to compare
        node["systems"].refuse("has fewer than two systems, or there is no metric")
    shape = len(labels), len(systems)
    queries = [_id(part) for part in node["ids"].parts()]
    values = [
        node["values"][label][name].finite(len(queries))
        for label in labels
        for name in systems
    ]
    means, lows, highs = (
        np.array([row.finite(shape[1]) for row in saved[key].parts(shape[0])])
        for key in ("means", "lows", "highs")
    )
    weights = None
    if saved["weights"].value is not None:
        weights = saved["weights"].finite(len(queries))
        if not (weights >= 0).all():
            saved["weights"].refuse("has a weight that is not a number from 0")
    wholes = {}
    for part in saved["wholes"].parts():
        metric = part["metric"].count(below=shape[0])
        rows = part["without"].parts(shape[1])
        users = len(rows[0].parts())
        without = np.array([row.numbers(users) for row in rows])
        wholes[metric] = Whole(part["values"].finite(shape[1]), without)
    strata = None
    if saved.value.get("strata") is not None:  # older files have none
        strata = saved["strata"].counts(len(queries))
        if not np.isin(np.diff(strata, prepend=-1), (0, 1)).all():
            saved["strata"].refuse("does not number the collections of queries in turn")
    compared = SystemValues(
        systems,
        labels,
        queries,
        np.array(values).reshape(*shape, len(queries)),
        means,
        lows,
        highs,
        tuple(
            None if part.value is None else part.flag()
            for part in saved["directions"].parts(shape[0])
        ),
        weights,
        wholes,
        strata,
        _unit(node),
    )
    by = None
    if saved["segments"].value is not None:
        segments = saved["segments"].parts(len(queries))
        pairs = zip(queries, segments, strict=True)
        by = {str(query): part.text() for query, part in pairs}
    comparison = Comparison(
        compared,
        _settings(node, weighted=weights is not None, stratified=strata is not None),
        baseline=_chosen(node["baseline"], systems),
        margins=_margins(node["margins"], labels),
        evaluations=_evaluations(saved["evaluations"], systems, labels),
        by=by,
        notes=node["notes"].texts(),
    )
    comparison.warnings = node["warnings"].texts()
    return comparison


def _names(node: Node) -> tuple[str, ...]:
    names = node.texts()
    if len(set(names)) < len(names):
        node.refuse("has one of them twice")
    return names


def _chosen(node: Node, names: tuple[str, ...]) -> str | None:
    if node.value is not None and node.value not in names:
        node.refuse(f"is {node.value!r}; expected one of {', '.join(names)}")
    return None if node.value is None else node.text()


def _settings(node: Node, *, weighted: bool, stratified: bool) -> Settings:
    settings = Settings(
        node["test"].text(),
        node["correction"].text(),
        node["family"].text(),
        node["confidence"].number(),
        node["draws"].count(),
        node["seed"].count(),
        node["intervals"].text() if "intervals" in node.value else "pair",
    )
    try:
        settings.check(weighted=weighted, stratified=stratified)
    except _ODD as error:
        msg = f"{node.name}: damaged, the settings are not valid ({error})"
        raise FormatError(msg) from None
    return settings


def _margins(node: Node, labels: tuple[str, ...]) -> dict[str, float]:
    if not isinstance(node.value, dict):
        node.refuse("is not an object")
    margins = {label: node[label].number() for label in node.value}
    for label, size in margins.items():
        if label not in labels or not 0 < size < math.inf:
            node[label].refuse("is not a margin above 0 of one of the metrics")
    return margins


def _evaluations(
    node: Node, systems: tuple[str, ...], labels: tuple[str, ...]
) -> dict[str, Evaluation]:
    """Return what is kept of each system; nothing where there were only values."""
    if node.value == []:
        return {}
    evaluations = {}
    for name, part in zip(systems, node.parts(len(systems)), strict=True):
        evaluations[name] = evaluation = _evaluation(part, Evaluation)
        if tuple(evaluation.summaries) != labels:
            part.refuse("is not an evaluation by the metrics that are compared")
    return evaluations


class _Lost:
    """A function of which only the name was saved."""

    def __init__(self, name: str) -> None:
        self.__name__ = name

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Lost) and other.__name__ == self.__name__

    def __hash__(self) -> int:
        return hash(self.__name__)

    def __call__(self, *_: Any) -> Any:
        msg = f"only the name of the function {self.__name__} was saved"
        raise ParameterError(msg)


def _metrics(node: Node, kinds: Sequence[type[Metric]]) -> tuple[Metric, Metric]:
    """Return a metric as it was asked for, and with all choices filled in."""
    name = node["name"].text()
    kind = next((kind for kind in kinds if name in kind.facts), None)
    if kind is None:
        node["name"].refuse(
            f"is {name!r}, which is not a metric here; define it with rankine.metric "
            "before loading, if it is one of your own"
        )
    metrics = []
    for part in (node["params"], node["bound"]):
        if not isinstance(part.value, dict):
            part.refuse("is not an object")
        params = tuple((key, _value(part[key])) for key in part.value)
        try:
            metrics.append(kind(name, params))
        except _ODD as error:
            part.refuse(f"does not fit {name} ({error})")
    return metrics[0], metrics[1]


def _value(node: Node) -> Any:
    value = node.value
    if isinstance(value, list):
        return tuple(_value(part) for part in node.parts())
    if isinstance(value, dict) and set(value) == {"function"}:
        return _Lost(node["function"].text())
    if isinstance(value, dict) and set(value) == {"mapping"}:
        pairs = [part.parts(2) for part in node["mapping"].parts()]
        try:
            return {_value(key): _value(entry) for key, entry in pairs}
        except TypeError:
            node.refuse("has a key that is not valid")
    if isinstance(value, dict):
        node.refuse("is neither a mapping nor a function")
    return float(value) if value in ("inf", "-inf") else value


def _rule(node: Node) -> Convention:
    try:
        return Convention.from_dict(node.value)
    except _ODD as error:
        node.refuse(f"is not valid ({error})")


def _summary(node: Node, metric: Metric, n_queries: int) -> Summary:
    parts = None
    if node["parts"].value is not None:
        up, down = (part.numbers(n_queries) for part in node["parts"].parts(2))
        parts = up, down
    weights = None
    if "weights" in node.value and node["weights"].value is not None:
        weights = node["weights"].numbers(n_queries)
    whole = None
    if "without" in node.value and node["without"].value is not None:
        whole = node["whole"].number(), node["without"].numbers(n_queries)
    empty = np.zeros(n_queries, dtype=np.bool_)
    empty[node["empty"].counts(below=n_queries)] = True
    return Summary(
        node["value"].number(),
        node["values"].numbers(n_queries),
        node["n"].count(),
        node["undefined"].count(),
        parts,
        metric,
        None,
        empty,
        weights,
        whole,
    )


class _Late(Stored):
    """A table whose items are read only when they are asked for."""

    _items: Node

    def __init__(self, ids: Any, items: Node) -> None:
        for name, value in (("ids", ids), ("table", None), ("_items", items)):
            object.__setattr__(self, name, value)

    @cached_property
    def trail(self) -> Trail:
        return _trail(self._items, len(self.ids))


def _table(node: Node, *, late: bool) -> Stored:
    ids, kind = [_id(part) for part in node["ids"].parts()], node["id_type"]
    queries: list[Any] | pl.Series = ids
    if kind.value is not None:
        if kind.text() not in _IDS:
            kind.refuse(f"is {kind.value!r}; expected one of {', '.join(_IDS)}")
        try:
            queries = pl.Series("query", ids, dtype=_IDS[kind.value])
        except UNREADABLE:
            node["ids"].refuse(f"are not all {kind.value}")
    items = node["items"]
    if items.value is None:
        return Stored(queries)
    return _Late(queries, items) if late else Stored(queries, _trail(items, len(ids)))


def _id(node: Node) -> Any:
    if not isinstance(node.value, (str, int, float, bool)):
        node.refuse("is not an id")
    return node.value


def _placed(node: Node) -> tuple[int, Any]:
    rank, item = node.parts(2)
    return rank.count(), _id(item)


def _trail(node: Node, n_queries: int) -> Trail:
    starts = starts_of(node["counts"].counts(n_queries, below=1 << 40))
    n = int(starts[-1])
    grades = node["grades"].numbers(n)
    if not np.isfinite(grades).all():
        node["grades"].refuse("has a grade that is not a number")
    tops = node["tops"].value
    if tops is not None and not isinstance(tops, First):
        parts = [part.parts() for part in node["tops"].parts(n_queries)]
        placed = [_placed(item) for part in parts for item in part]
        tops = First(
            range(n_queries),
            starts_of(np.array([len(part) for part in parts], dtype=np.int64)),
            [item for _, item in placed],
            np.array([rank for rank, _ in placed], dtype=np.int64),
        )
    return Trail(
        starts,
        [_id(part) for part in node["items"].parts(n)],
        grades,
        node["ranks"].counts(n),
        node["looked"].counts(n_queries),
        tops,
        node["keep"].count(),
    )
