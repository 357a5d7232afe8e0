"""load: an evaluation back from what was saved of it."""

from __future__ import annotations

import json
import math
import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NoReturn

import numpy as np
import polars as pl

from rankine._conventions.convention import Convention
from rankine._evaluate.plan import Group, Plan
from rankine._evaluate.similarity import Similarity
from rankine._evaluate.summary import Summary
from rankine._io.values import NO_COLUMN
from rankine._join.aligned import Stored, Trail
from rankine._metrics.lists.kind import ListMetric
from rankine._metrics.metric import Metric
from rankine._metrics.similarity.measures import Measure
from rankine._report.saved import FORMAT, KINDS, VERSION
from rankine._tables.segments import starts_of
from rankine.errors import FormatError, ParameterError, RankineError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rankine._base.arrays import Floats, Ints
    from rankine._evaluate.result import Evaluation

_IDS: Final = {"Int64": pl.Int64, "UInt64": pl.UInt64, "String": pl.String}
_ODD = (
    RankineError, TypeError, ValueError, ArithmeticError, LookupError, AttributeError,
)  # fmt: skip
"""What is raised for parameters and choices that no metric or convention can have."""
_LARGEST = 1 << 62


def load(source: str | os.PathLike[str]) -> Evaluation:
    """Load an evaluation that was saved.

    Args:
        source: the path of a file that holds what `Evaluation.to_json` returned or
            `Evaluation.save` wrote; or that text itself.

    Returns:
        The evaluation, with the same numbers, notes and texts; of the same class.

    Raises:
        FormatError: the file cannot be read, is damaged, or is something else.

    >>> import rankine as rk
    >>> ev = rk.evaluate({"q": {"a": 1}}, {"q": ["b", "a"]}, ["RR", "P@1"])
    >>> rk.load(ev.to_json()).mean
    {'RR': 0.5, 'P@1': 0.0}
    """
    name, text = _read(source)
    try:
        data = json.loads(text)
    except (ValueError, RecursionError) as error:
        msg = f"{name}: this is not JSON, or it is incomplete ({error})"
        raise FormatError(msg) from None
    if not isinstance(data, dict) or data.get("format") != FORMAT:
        msg = (
            f"{name}: this is JSON, but not what rankine saves; expected what "
            "Evaluation.save wrote"
        )
        raise FormatError(msg)
    node = _Node(data, "", name)
    version = node["format_version"].count()
    if version > VERSION:
        msg = (
            f"{name}: a newer rankine saved this (format {version}, and this one reads "
            f"up to {VERSION}); update it"
        )
        raise FormatError(msg)
    kind = node["kind"].text()
    if kind not in KINDS:
        node["kind"].refuse(f"is {kind!r}; expected one of {', '.join(KINDS)}")
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


@dataclass(frozen=True, slots=True)
class _Node:
    """A part of a document, which knows where it is."""

    value: Any
    where: str
    name: str

    def refuse(self, what: str) -> NoReturn:
        """Say what is wrong here."""
        msg = f"{self.name}: damaged, {self.where.lstrip('.')} {what}"
        raise FormatError(msg) from None

    def _is(self, kind: type | tuple[type, ...], words: str) -> Any:
        if not isinstance(self.value, kind) or isinstance(self.value, bool):
            self.refuse(f"is not {words}")
        return self.value

    def __getitem__(self, key: str) -> _Node:
        entries = self._is(dict, "an object") if self.where else self.value
        child = _Node(entries.get(key), f"{self.where}.{key}", self.name)
        if key not in entries:
            child.refuse("is missing")
        return child

    def parts(self, n: int | None = None) -> list[_Node]:
        """Return the parts of a list, of which there must be so many."""
        values = self._is(list, "a list")
        if n is not None and len(values) != n:
            self.refuse(f"has {len(values)} entries, not {n}")
        return [
            _Node(value, f"{self.where}[{at}]", self.name)
            for at, value in enumerate(values)
        ]

    def text(self) -> str:
        return str(self._is(str, "a text"))

    def texts(self) -> tuple[str, ...]:
        return tuple(part.text() for part in self.parts())

    def count(self, below: int = _LARGEST) -> int:
        value: int = self._is(int, "a number from 0")
        if not 0 <= value < below:
            self.refuse(f"is {value}, which is not from 0 to {below - 1}")
        return value

    def counts(self, n: int | None = None, below: int = _LARGEST) -> Ints:
        parts = self.parts(n)
        return np.array([part.count(below) for part in parts], dtype=np.int64)

    def flag(self) -> bool:
        if self.value is not True and self.value is not False:
            self.refuse("is not true or false")
        return bool(self.value)

    def number(self) -> float:
        if self.value is None:
            return math.nan
        if self.value in ("inf", "-inf"):
            return float(self.value)
        value = self._is((int, float), "a number")
        if isinstance(value, int) and abs(value) >= _LARGEST:
            self.refuse("is too large")
        return float(value)

    def numbers(self, n: int) -> Floats:
        return np.array([part.number() for part in self.parts(n)], dtype=np.float64)


def _evaluation(node: _Node, made: type[Evaluation]) -> Evaluation:
    saved = node["saved"]
    metrics = saved["metrics"].parts()
    groups = saved["groups"].parts()
    kinds = (Measure,) if made is Similarity else (Metric, ListMetric)
    read = [_metrics(part, kinds) for part in metrics]
    asked, bound = (tuple(pair[at] for pair in read) for at in (0, 1))
    labels = tuple(map(str, asked))
    if not labels or len(set(labels)) < len(labels):
        saved["metrics"].refuse("has no metrics, or one of them twice")
    rule = _rule(node["convention"])
    members = [part["metrics"].counts(below=len(metrics)).tolist() for part in groups]
    if sorted(number for own in members for number in own) != list(range(len(metrics))):
        saved["groups"].refuse("do not have every metric once")
    tables = tuple(_table(part) for part in groups)
    found: dict[int, Summary] = {
        number: _summary(metrics[number], bound[number], len(table.ids))
        for own, table in zip(members, tables, strict=True)
        for number in own
    }
    planned = tuple(
        Group(
            rule,
            tuple((number, bound[number], rule) for number in own),
            None,
            keep_scores=False,
            lists=part["lists"].flag(),
        )
        for own, part in zip(members, groups, strict=True)
    )
    preset = node["preset"]
    named = None if preset.value is None else preset.text()
    plan = Plan(asked, labels, bound, planned, rule, (), preset=named)
    return made.restored(
        plan,
        tuple(found[number] for number in range(len(metrics))),
        tables,
        node["run"].text(),
        notes=node["notes"].texts(),
        warnings=node["warnings"].texts(),
    )


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


def _metrics(node: _Node, kinds: Sequence[type[Metric]]) -> tuple[Metric, Metric]:
    """Return a metric as it was asked for, and with all choices filled in."""
    name = node["name"].text()
    kind = next((one for one in kinds if name in one.facts), None)
    if kind is None:
        node["name"].refuse(
            f"is {name!r}, which is not a metric here; define it with rankine.metric "
            "before loading, if it is one of your own"
        )
    made = []
    for part in (node["params"], node["bound"]):
        if not isinstance(part.value, dict):
            part.refuse("is not an object")
        params = tuple((key, _value(part[key])) for key in part.value)
        try:
            made.append(kind(name, params))
        except _ODD as error:
            part.refuse(f"does not fit {name} ({error})")
    return made[0], made[1]


def _value(node: _Node) -> Any:
    value = node.value
    if isinstance(value, list):
        return tuple(_value(part) for part in node.parts())
    if isinstance(value, dict) and set(value) == {"function"}:
        return _Lost(node["function"].text())
    if isinstance(value, dict) and set(value) == {"mapping"}:
        pairs = [part.parts(2) for part in node["mapping"].parts()]
        try:
            return {_value(key): _value(one) for key, one in pairs}
        except TypeError:
            node.refuse("has a key that is not valid")
    if isinstance(value, dict):
        node.refuse("is neither a mapping nor a function")
    return float(value) if value in ("inf", "-inf") else value


def _rule(node: _Node) -> Convention:
    try:
        return Convention.from_dict(node.value)
    except _ODD as error:
        node.refuse(f"is not valid ({error})")


def _summary(node: _Node, metric: Metric, n_queries: int) -> Summary:
    parts = None
    if node["parts"].value is not None:
        up, down = (part.numbers(n_queries) for part in node["parts"].parts(2))
        parts = up, down
    weights = None
    if "weights" in node.value and node["weights"].value is not None:
        weights = node["weights"].numbers(n_queries)
    empty = np.zeros(n_queries, dtype=np.bool_)
    empty[node["empty"].counts(below=n_queries)] = True
    return Summary(
        node["value"].number(),
        node["values"].numbers(n_queries),
        node["n"].count(),
        node["undefined"].count(),
        None,
        parts,
        metric,
        None,
        empty,
        weights,
    )


def _table(node: _Node) -> Stored:
    ids, kind = [_id(part) for part in node["ids"].parts()], node["id_type"]
    queries: list[Any] | pl.Series = ids
    if kind.value is not None:
        if kind.text() not in _IDS:
            kind.refuse(f"is {kind.value!r}; expected one of {', '.join(_IDS)}")
        try:
            queries = pl.Series("query", ids, dtype=_IDS[kind.value])
        except NO_COLUMN:
            node["ids"].refuse(f"are not all {kind.value}")
    items = node["items"]
    if items.value is None:
        return Stored(queries)
    return Stored(queries, _trail(items, len(ids)))


def _id(node: _Node) -> Any:
    if not isinstance(node.value, (str, int, float, bool)):
        node.refuse("is not an id")
    return node.value


def _placed(node: _Node) -> tuple[int, Any]:
    rank, item = node.parts(2)
    return rank.count(), _id(item)


def _trail(node: _Node, n_queries: int) -> Trail:
    starts = starts_of(node["counts"].counts(n_queries, below=1 << 40))
    n = int(starts[-1])
    grades = node["grades"].numbers(n)
    if not np.isfinite(grades).all():
        node["grades"].refuse("has a grade that is not a number")
    tops = None
    if node["tops"].value is not None:
        parts = node["tops"].parts(n_queries)
        tops = [[_placed(one) for one in part.parts()] for part in parts]
    return Trail(
        starts,
        [_id(part) for part in node["items"].parts(n)],
        grades,
        node["ranks"].counts(n),
        node["looked"].counts(n_queries),
        tops,
        node["keep"].count(),
    )
