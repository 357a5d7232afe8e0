"""The output of trec_eval, to the byte: name, query and value, separated by tabs."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from rankine._metrics.names import parse_all
from rankine._metrics.trec_names import (
    FAMILIES,
    GROUPED,
    GROUPED_NICKNAMES,
    NICKNAMES,
    ORDER,
    Family,
    label,
)
from rankine._stats.intervals import FLOOR
from rankine.errors import ParameterError, UnknownMetricError, nearest

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from rankine._base.arrays import Bools, Floats
    from rankine._evaluate.result import Evaluation
    from rankine._metrics.metric import Metric

_FAMILIES = {**FAMILIES, **GROUPED}
_NICKNAMES = {**NICKNAMES, **GROUPED_NICKNAMES}
_RELSTRING = 10
_NO_SCORE = -1e6
"""What trec_eval prints as the standard score of a value without a known mean."""


@dataclass(frozen=True, slots=True)
class MeasureLine:
    """A line that is printed per query, in the summary, or both.

    Attributes:
        name: the text in the first column.
        metric: the metric, None for ``runid``, ``relstring`` and preferences.
        length: the length of a relstring.
        family: the measure it belongs to, None for metrics that trec_eval lacks.
    """

    name: str
    metric: Metric | None
    length: int = 0
    family: Family | None = None

    @property
    def in_numbers(self) -> bool:
        """Whether it has a number for each query."""
        return self.metric is not None or self.family is not None

    @property
    def whole(self) -> bool:
        """Whether its numbers are counts."""
        return self.family is not None and self.family.kind == "int"

    @property
    def how(self) -> str:
        """How values of queries become one number."""
        if self.metric is not None:
            return self.metric.summary
        return "sum" if self.whole else "mean"


@dataclass(frozen=True, slots=True)
class TrecTable:
    """What is printed: values and texts of queries, by the names of lines.

    Attributes:
        ids: the queries.
        values: of each line with numbers, one per query.
        texts: of each relstring, one per query.
        totals: the numbers of lines that are not made of the values.
        in_run: whether each query is in the run; None if all are to be printed.
    """

    ids: list[str]
    values: dict[str, Floats]
    texts: dict[str, list[str]] = field(default_factory=dict)
    totals: dict[str, float] = field(default_factory=dict)
    in_run: Bools | None = None


def lines_of(
    asked: Sequence[str], version: int, judged: str = "grades"
) -> list[MeasureLine]:
    """Turn the measures asked for into lines, in trec_eval's order.

    Args:
        asked: names of measures, nicknames and metrics of ours.
        version: that of trec_eval.
        judged: what the judgements are, as in `Family`; num_q is for all of them.
    """
    by_name: dict[str, list[MeasureLine]] = {name: [] for name in ORDER}
    others: list[MeasureLine] = []
    for text in asked:
        if text in _NICKNAMES:
            _nickname(by_name, text, version)
        elif text.split(".")[0] in {"runid", "relstring"}:
            name, _, length = text.partition(".")
            by_name[name] = [_special(name, length)]
        else:
            name, _, params = text.partition(".")
            family = _FAMILIES.get(name)
            if family is not None:
                by_name[name] += _lines(family, params)
            else:
                others += _by_label(text, by_name)
    lines = [line for name in ORDER for line in by_name[name]] + others
    for line in lines:
        of_line = "grades" if line.family is None else line.family.judged
        if of_line != judged and line.name not in {"runid", "num_q"}:
            way = {"preferences": "prefs", "judges": "qrels_jg"}.get(of_line, "qrels")
            msg = (
                f"{line.name} needs {of_line}, as rankine trec_eval -R {way} reads them"
            )
            raise ParameterError(msg)
    return lines


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
    for name in _NICKNAMES[text]:
        if _FAMILIES[name].since <= version and not by_name[name]:
            by_name[name] = _lines(_FAMILIES[name], "")


def _lines(family: Family, params: str) -> list[MeasureLine]:
    if not family.metric:
        if params:
            raise family.without_parameters(params)
        return [MeasureLine(family.name, None, 0, family)]
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


def table_of(evaluation: Evaluation, lines: Sequence[MeasureLine]) -> TrecTable:
    """Return what is printed of an evaluation."""
    aligned = evaluation.table
    values, totals = {}, {}
    for line in lines:
        if line.metric is None:
            continue
        summary = evaluation.summaries[str(line.metric)]
        values[line.name] = summary.values
        plain = summary.weights is None and not np.isnan(summary.values).any()
        if not plain or line.family is None:
            totals[line.name] = summary.value
    texts = {
        line.name: [
            _relstring(evaluation, number, line.length)
            for number in range(len(aligned.ids))
        ]
        for line in lines
        if line.length
    }
    ids = [str(value) for value in aligned.ids]
    return TrecTable(ids, values, texts, totals, aligned.table.in_run)


def trec_text(
    table: TrecTable,
    lines: Sequence[MeasureLine],
    *,
    run_id: str,
    version: int,
    per_query: bool,
    summary: bool = True,
    scores: Mapping[tuple[str, str], tuple[float, float]] | None = None,
) -> Iterator[str]:
    """Yield the lines that trec_eval prints, queries first, then the summary.

    With `scores`, the mean and the standard deviation of each query and line, values
    are printed as standard scores.
    """
    ids = table.ids
    # trec_eval adds up in the order of the ids' bytes; sums depend on it.
    order = sorted(range(len(ids)), key=lambda number: ids[number].encode())
    values, totals, mark = table.values, table.totals, ""
    if scores is not None:
        values, totals, mark = _standard(table, lines, scores), {}, "Z"
    each = [line for line in lines if line.length or _is_printed(line)]
    for number in order if per_query else ():
        # Version 9 prints nothing for a query that the run misses.
        if version < 10 and table.in_run is not None and not table.in_run[number]:  # noqa: PLR2004
            continue
        for line in each:
            head = f"{line.name:<22}\t{ids[number]}\t"
            if line.length:
                yield f"{head}'{table.texts[line.name][number]}'"
            else:
                yield mark + head + _number(values[line.name][number], line, mark)
    for line in lines if summary else ():
        if line.name == "runid":
            yield f"{'runid':<22}\tall\t{run_id}"
        elif line.in_numbers:
            total = totals.get(line.name)
            if total is None:
                total = _total(line.how, values[line.name][order], logs=bool(mark))
            yield f"{mark}{line.name:<22}\tall\t{_number(total, line, mark)}"


def _is_printed(line: MeasureLine) -> bool:
    """Say whether the numbers of queries are printed."""
    return line.in_numbers and (line.family is None or line.family.per_query)


def _standard(
    table: TrecTable,
    lines: Sequence[MeasureLine],
    scores: Mapping[tuple[str, str], tuple[float, float]],
) -> dict[str, Floats]:
    """Return how many standard deviations values are above the mean."""
    standard = {}
    for line in lines:
        if not line.in_numbers:
            continue
        values = np.nan_to_num(table.values[line.name])
        if line.how == "geometric":
            values = np.log(np.maximum(values, FLOOR))
        if line.family is None or line.name != "num_q":
            pairs = zip(table.ids, values.tolist(), strict=True)
            values = np.array(
                [
                    _apart(value, scores.get((query, line.name)))
                    for query, value in pairs
                ]
            )
        standard[line.name] = values
    return standard


def _apart(value: float, spread: tuple[float, float] | None) -> float:
    if spread is None:
        return _NO_SCORE
    mean, deviation = spread
    if deviation:
        return (value - mean) / deviation
    return 0.0 if value == mean else _NO_SCORE


def _number(value: float, line: MeasureLine, mark: str) -> str:
    return f"{value:.0f}" if line.whole and not mark else f"{value:6.4f}"


def _total(how: str, values: Floats, *, logs: bool) -> float:
    """Add up one by one, as trec_eval does, and divide."""
    if len(values) == 0:
        return math.nan
    if how == "geometric":
        if not logs:
            floored = [max(value, FLOOR) for value in values.tolist()]
            values = np.array([math.log(value) for value in floored])
        return math.exp(float(np.cumsum(values)[-1]) / len(values))
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
