"""The output of trec_eval, to the byte: name, query and value, separated by tabs."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from rankine._metrics.names import parse_all
from rankine._metrics.trec_names import FAMILIES, NICKNAMES, ORDER, Family, label
from rankine._stats.intervals import FLOOR
from rankine.errors import ParameterError, UnknownMetricError, nearest

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rankine._base.arrays import Floats
    from rankine._evaluate.result import Evaluation
    from rankine._metrics.metric import Metric

_RELSTRING = 10


@dataclass(frozen=True, slots=True)
class MeasureLine:
    """A line that is printed per query, in the summary, or both.

    Attributes:
        name: the text in the first column.
        metric: the metric, None for ``runid`` and ``relstring``.
        length: the length of a relstring.
        family: the measure it belongs to, None for metrics that trec_eval lacks.
    """

    name: str
    metric: Metric | None
    length: int = 0
    family: Family | None = None


def lines_of(asked: Sequence[str], version: int) -> list[MeasureLine]:
    """Turn the measures asked for into lines, in trec_eval's order."""
    by_name: dict[str, list[MeasureLine]] = {name: [] for name in ORDER}
    others: list[MeasureLine] = []
    for text in asked:
        if text in NICKNAMES:
            _nickname(by_name, text, version)
        elif text.split(".")[0] in {"runid", "relstring"}:
            name, _, length = text.partition(".")
            by_name[name] = [_special(name, length)]
        else:
            name, _, params = text.partition(".")
            family = FAMILIES.get(name)
            if family is not None:
                by_name[name] += _lines(family, params)
            else:
                others += _by_label(text, by_name)
    return [line for name in ORDER for line in by_name[name]] + others


def _special(name: str, length: str) -> MeasureLine:
    if name == "runid":
        return MeasureLine("runid", None)
    if not length:
        return MeasureLine("relstring", None, _RELSTRING)
    if not length.isdigit():
        msg = f"relstring takes a length such as relstring.20, got {length!r}"
        raise ParameterError(msg)
    return MeasureLine(f"relstring_{length}", None, int(length))


def _nickname(by_name: dict[str, list[MeasureLine]], text: str, version: int) -> None:
    by_name["runid"] = [MeasureLine("runid", None)]
    if text == "all_trec" and not by_name["relstring"]:
        by_name["relstring"] = [MeasureLine("relstring", None, _RELSTRING)]
    for name in NICKNAMES[text]:
        if FAMILIES[name].since <= version and not by_name[name]:
            by_name[name] = _lines(FAMILIES[name], "")


def _lines(family: Family, params: str) -> list[MeasureLine]:
    return [
        MeasureLine(name, metric, 0, family) for name, metric in family.expand(params)
    ]


def _by_label(text: str, by_name: dict[str, list[MeasureLine]]) -> list[MeasureLine]:
    """Place a metric in our own spelling under trec_eval's name, if it has one."""
    others = []
    try:
        metrics = parse_all(text)
    except UnknownMetricError:
        msg = f"unknown metric {text!r}{nearest(text, ORDER)}"
        raise UnknownMetricError(msg) from None
    for metric in metrics:
        name = label(metric)
        family = next((f for f in FAMILIES.values() if name and _is_of(name, f)), None)
        line = MeasureLine(name or str(metric), metric, 0, family)
        if family is None:
            others.append(line)
        else:
            by_name[family.name].append(line)
    return others


def _is_of(name: str, family: Family) -> bool:
    if family.cutoffs:
        return name.rpartition("_")[0] == family.name
    return name == family.name


def metrics_of(lines: Sequence[MeasureLine]) -> list[Metric]:
    """Return the metrics that the lines need, at least one.

    A line without a metric, such as relstring, needs the whole list, as NumQ does.
    """
    metrics = dict.fromkeys(line.metric for line in lines if line.metric is not None)
    if not metrics or any(line.length for line in lines):
        metrics.update(dict.fromkeys(parse_all("NumQ")))
    return list(metrics)


def trec_text(
    evaluation: Evaluation,
    lines: Sequence[MeasureLine],
    *,
    per_query: bool,
    run_id: str,
    version: int,
) -> Iterator[str]:
    """Yield the lines that trec_eval -c prints, queries first, then the summary."""
    aligned = evaluation.table
    ids = [str(value) for value in aligned.ids]
    # trec_eval adds up in the order of the ids' bytes; sums depend on it.
    order = sorted(range(len(ids)), key=lambda number: ids[number].encode())
    values = {
        line.name: evaluation.summaries[str(line.metric)].values
        for line in lines
        if line.metric is not None
    }
    if per_query:
        for number in order:
            # Version 9 prints nothing for a query that the run misses.
            if version < 10 and not aligned.table.in_run[number]:  # noqa: PLR2004
                continue
            for line in lines:
                yield from _query_line(evaluation, line, values, number, ids[number])
    for line in lines:
        if line.name == "runid":
            yield f"{'runid':<22}\tall\t{run_id}"
        elif line.metric is not None:
            summary = evaluation.summaries[str(line.metric)]
            total, plain = summary.value, summary.weights is None
            if plain and line.family and not np.isnan(values[line.name]).any():
                total = _total(line.metric, values[line.name][order])
            yield f"{line.name:<22}\tall\t{_number(total, line)}"


def _query_line(
    evaluation: Evaluation,
    line: MeasureLine,
    values: dict[str, Floats],
    number: int,
    query: str,
) -> Iterator[str]:
    if line.metric is None:
        if line.name != "runid":
            text = _relstring(evaluation, number, line.length)
            yield f"{line.name:<22}\t{query}\t'{text}'"
    elif line.family is None or line.family.per_query:
        yield f"{line.name:<22}\t{query}\t{_number(values[line.name][number], line)}"


def _number(value: float, line: MeasureLine) -> str:
    if line.family is not None and line.family.kind == "int":
        return f"{value:.0f}"
    return f"{value:6.4f}"


def _total(metric: Metric, values: Floats) -> float:
    """Add up one by one, as trec_eval does, and divide."""
    how = metric.summary
    if len(values) == 0:
        return math.nan
    if how == "geometric":
        logs = [math.log(max(value, FLOOR)) for value in values.tolist()]
        return math.exp(float(np.cumsum(logs)[-1]) / len(logs))
    total = float(np.cumsum(values)[-1])
    return total if how == "sum" else total / len(values)


def _relstring(evaluation: Evaluation, number: int, length: int) -> str:
    """Draw the grades of the first items: a digit, > above 9, - unjudged, . pooled."""
    table = evaluation.table.table
    marks = ["-"] * min(length, int(table.n_retrieved[number]))
    starts = table.row_starts()
    for row in range(int(starts[number]), int(starts[number + 1])):
        place = int(table.rank[row]) - 1
        if place < len(marks):
            grade = int(table.grade[row])
            marks[place] = "." if grade < 0 else str(grade) if grade <= 9 else ">"  # noqa: PLR2004
    return "".join(marks)
