"""reconcile: the same metric under every named convention, and why they differ."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from rankine._base.records import cached_property
from rankine._conventions.convention import BY_RANK, Convention
from rankine._conventions.phrases import in_words
from rankine._conventions.presets import PRESETS, convention
from rankine._conventions.tools import TOOLS
from rankine._evaluate.options import Options
from rankine._evaluate.plan import fields_of, rule_for
from rankine._evaluate.reconcile.explanation import EqualRows, Explanation, Row, Step
from rankine._evaluate.reconcile.shared_data import SharedData
from rankine._evaluate.warnings import told
from rankine._metrics.metric import Metric
from rankine._metrics.names import parse
from rankine.errors import ParameterError, RankineError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rankine._evaluate.result import Evaluation

BASE = "rankine"
"""The convention that the others are compared with."""
_SAME = 1e-12
_NO_SUCH = "this tool has no such metric"
_NOT_CUT = "this tool has it only without a cutoff"
_UNLIKE = "its {} is defined differently, and not computed here"
_REFUSING = frozenset({"missing_run", "negative", "duplicates", "nothing"})
"""Choices that may make a tool refuse data."""
_ROUNDING = frozenset({"decimals"})


class Reconciliation:
    """A row per tool, grouped by equal numbers; see `reconcile`."""

    def __init__(
        self, metric: Metric, data: SharedData, names: Sequence[str], label: str
    ) -> None:
        self.metric, self.label = metric, label
        self._data = data
        data.read(metric)
        self._unit = data.unit(metric)
        self._errors: list[RankineError] = []
        self.rows = tuple(self._row(name) for name in names)
        if len(self._errors) == sum(not self._lacks(name) for name in names):
            texts = {str(error) for error in self._errors}
            if len(texts) == 1:
                raise self._errors[0]  # no convention can use these data

    def __getitem__(self, name: str) -> float | None:
        """Return the number of a convention; None if its tool gives none."""
        _check_name(name)
        for row in self.rows:
            if row.convention == name:
                return row.value
        msg = f"{name} was not asked for"
        raise ParameterError(msg)

    def _row(self, name: str) -> Row:
        why = self._lacks(name)
        if why:
            return Row(name, None, why)
        try:
            evaluation = self._data.evaluated(self.metric, name, self.label)
        except RankineError as error:
            self._errors.append(error)
            return Row(name, None, str(error))
        # Only warnings about the tool: those about the data are the same for all tools.
        warnings = told(evaluation.findings.cautions, evaluation.unit)
        return Row(name, evaluation[self.metric], warnings=warnings)

    def _lacks(self, name: str) -> str:
        """Say why a tool has no such metric; empty if it has."""
        tool, metric = TOOLS[name], self.metric
        if tool.has(metric.name, cut=metric.depth is not None):
            return ""
        if metric.name in tool.unlike:
            return _UNLIKE.format(tool.unlike[metric.name])
        return _NOT_CUT if tool.has(metric.name) else _NO_SUCH

    @cached_property
    def groups(self) -> tuple[EqualRows, ...]:
        """The tools by equal numbers, that of the default first, then by size."""
        members: list[tuple[float, list[str]]] = []
        for row in self.rows:
            if row.value is None:
                continue
            # Rounding alone does not make a tool different.
            exact = self._value(self._choices(row.convention) | {"decimals": None})
            number = row.value if exact is None else exact
            for value, names in members:
                if _same(value, number):
                    names.append(row.convention)
                    break
            else:
                members.append((number, [row.convention]))
        members.sort(key=lambda entry: (BASE not in entry[1], -len(entry[1])))
        return tuple(
            EqualRows(
                value,
                tuple(names),
                {} if BASE in names else {name: self._because(name) for name in names},
            )
            for value, names in members
        )

    def _because(self, name: str) -> tuple[str, ...]:
        """Return the choices of a tool that move the number away from the default."""
        base, choices = self._choices(BASE), self._choices(name) | {"decimals": None}
        end = self._value(choices)
        needed = _differing(base, choices)
        # Drop the choices, one after the other, without which the number is the same.
        for field in tuple(needed):
            fewer = [kept for kept in needed if kept != field]
            if _same(end, self._value(base | {kept: choices[kept] for kept in fewer})):
                needed = fewer
        return tuple(in_words(field, choices[field], self._unit) for field in needed)

    def explain(self, first: str, second: str) -> Explanation:
        """Switch the choices of one convention to those of another, one at a time.

        Args:
            first: the name of a convention.
            second: the name of another.
        """
        for name in (first, second):
            _check_name(name)
        for name in (first, second):
            why = self._lacks(name)
            if why:
                msg = f"{TOOLS[name].title}: {why} ({self.label})"
                raise ParameterError(msg)
        here, there = self._choices(first), self._choices(second)
        rounds = here["decimals"] is not None
        steps, unmoved = [], []
        before = self._found(here)
        value_first = _value_of(before, self.metric)
        # Choices that refuse data or round come first or last, so that they do not hide
        # the effects of the others.
        differing = sorted(
            _differing(here, there),
            key=lambda field: (
                (field in _REFUSING) != (before is None),
                (field in _ROUNDING) != rounds,
            ),
        )
        for field in differing:
            was = here[field]
            here = here | {field: there[field]}
            after = self._found(here)
            values = _value_of(before, self.metric), _value_of(after, self.metric)
            if _same(*values):
                unmoved.append(field)
            else:
                words = in_words(field, there[field], self._unit)
                moved = _most_moved(before, after)
                steps.append(Step(field, was, there[field], words, *values, *moved))
            before = after
        return Explanation(
            self.metric,
            first,
            second,
            value_first,
            _value_of(before, self.metric),
            tuple(steps),
            tuple(unmoved),
            self.label,
        )

    def _choices(self, name: str) -> dict[str, Any]:
        choices = _choices(PRESETS[name], self.metric)
        if choices["order"] in BY_RANK and not self._data.ranked:
            choices["order"] = "score"
        return choices

    def _found(self, choices: Mapping[str, Any]) -> Evaluation | None:
        try:
            rule = _rule(choices, self.metric)
            return self._data.evaluated(self.metric, rule, self.label)
        except RankineError:
            return None

    def _value(self, choices: Mapping[str, Any]) -> float | None:
        return _value_of(self._found(choices), self.metric)

    def __str__(self) -> str:
        """Return the groups as a table."""
        from rankine._report.reconcile import to_text  # noqa: PLC0415

        return to_text(self)

    __repr__ = __str__

    def _repr_html_(self) -> str:
        from rankine._report.reconcile import to_html  # noqa: PLC0415

        return to_html(self)

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain data."""
        from rankine._report.reconcile import to_dict  # noqa: PLC0415

        return to_dict(self)


def reconcile(
    qrels: Any,
    run: Any,
    metric: Any,
    *,
    conventions: Iterable[str] | None = None,
    columns: Mapping[str, Any] | None = None,
    grades: Mapping[Any, float] | None = None,
    rel: float | None = None,
    catalog: Any = None,
    items: Any = None,
    train: Any = None,
    reference: Any = None,
    weights: Any = None,
    depth: int | None = None,
    lower_is_better: bool = False,
    lenient: bool = False,
) -> Reconciliation:
    """Compute a metric as every known tool does, and explain why the numbers differ.

    Args:
        qrels: judgements, as `evaluate` takes them; None if the metric needs none.
        run: a run, as `evaluate` takes it.
        metric: the metric.
        conventions: names of conventions; all if not given.
        columns: which column is what.
        grades: what each grade in words is worth.
        rel: the smallest relevant grade, the same for all tools.
        catalog: the catalogue, as `evaluate` takes it. If the metric of a tool needs
            this or other data, and they are not given, it has no number.
        items: what is known about items, as `evaluate` takes it.
        train: the interactions that users had before.
        reference: the lists of another recommender.
        weights: how much each query counts.
        depth: use only the first items of each list.
        lower_is_better: scores are distances, the smallest first.
        lenient: as in `evaluate`.

    Returns:
        The rows, the groups of equal numbers, and `explain` for two of them.

    Examples:
        Hits at ranks 1 and 3, four relevant items: (1 + 2/3) over 4, over
        min(3, 4), or over the 2 hits.

        >>> qrels = {"q": {"a": 1, "c": 1, "d": 1, "e": 1}}
        >>> found = reconcile(qrels, {"q": ["a", "b", "c"]}, "AP@3")
        >>> round(found["ranx"], 4), round(found["jurity"], 4)
        (0.4167, 0.5556)
        >>> print(found.explain("ranx", "jurity").steps[0].words)
        divides AP by min(k, R)

        Of a catalogue of four, two items are shown, as a share or as a count.

        >>> found = reconcile(None, {"u": ["a"], "v": ["b"]}, "Coverage", catalog=4)
        >>> found["rankine"], found["rectools"]
        (0.5, 2.0)
    """
    label = str(metric).strip()
    asked = parse(metric) if isinstance(metric, str) else metric
    if not isinstance(asked, Metric):
        msg = f"a metric must be a name or a Metric, got {metric!r}"
        raise ParameterError(msg)
    names = list(PRESETS)
    if conventions is not None:
        if isinstance(conventions, str) or not isinstance(conventions, Iterable):
            msg = f"conventions must be names of conventions, got {conventions!r}"
            raise ParameterError(msg)
        names = list(conventions)
    for name in names:
        _check_name(name)
    options = Options(
        columns=columns,
        grades=grades,
        rel=rel,
        catalog=catalog,
        items=items,
        train=train,
        reference=reference,
        weights=weights,
        depth=depth,
        lower_is_better=lower_is_better,
        lenient=lenient,
    )
    return Reconciliation(asked, SharedData(qrels, run, options), names, label)


def _check_name(name: Any) -> None:
    if not isinstance(name, str):
        msg = f"a convention must be given by its name here, got {name!r}"
        raise ParameterError(msg)
    convention(name)


def _same(first: float | None, second: float | None) -> bool:
    if first is None or second is None:
        return first is second
    if math.isnan(first) or math.isnan(second):
        return math.isnan(first) and math.isnan(second)
    return abs(first - second) <= _SAME


def _value_of(evaluation: Evaluation | None, metric: Metric) -> float | None:
    return None if evaluation is None else evaluation[metric]


def _choices(rule: Convention, metric: Metric) -> dict[str, Any]:
    """Return all that a convention says of a metric: fields, and parameters."""
    cut = metric.depth is not None
    of_metric = rule_for(metric, rule)
    choices = {
        field: getattr(of_metric, field)
        for field in fields_of(metric)
        if metric.fact.is_field(field)
    }
    for preset in PRESETS.values():
        for key in preset.own(metric.name, cut=cut):
            if key not in choices:
                choices[key] = metric.fact.parameters[key]
    parameters = rule.own(metric.name, cut=cut)
    return choices | {key: value for key, value in parameters.items() if key in choices}


def _rule(choices: Mapping[str, Any], metric: Metric) -> Convention:
    fact = metric.fact
    fields = {key: value for key, value in choices.items() if fact.is_field(key)}
    parameters = {
        key: value
        for key, value in choices.items()
        if not fact.is_field(key) and value != fact.parameters[key]
    }
    return Convention(
        **fields, overrides={metric.name: parameters} if parameters else {}
    )


def _differing(first: Mapping[str, Any], second: Mapping[str, Any]) -> list[str]:
    return [field for field in first if first[field] != second[field]]


def _most_moved(
    before: Evaluation | None, after: Evaluation | None
) -> tuple[Any, float | None, float | None]:
    """Return the query that moves most, with its values; None if none does."""
    if before is None or after is None:
        return None, None, None
    ours, theirs = _by_query(before), _by_query(after)
    most, moved = 0.0, None
    for query in ours | theirs:
        change = abs((theirs.get(query) or 0) - (ours.get(query) or 0))
        if change > most or (moved is None and (query in ours) != (query in theirs)):
            most, moved = change, query
    return moved, ours.get(moved), theirs.get(moved)


def _by_query(evaluation: Evaluation) -> dict[Any, float]:
    """Return the values that entered a mean, by query."""
    (summary,) = evaluation.summaries.values()
    values = zip(evaluation.queries, summary.values.tolist(), strict=True)
    return {query: value for query, value in values if not math.isnan(value)}
