"""Results as charts: the rows to draw, and the specifications that draw them."""

from __future__ import annotations

import math
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np

from rankine._base.checks import check_choice
from rankine._evaluate.curve import curve as curve_of
from rankine._evaluate.result import Evaluation
from rankine._report import maps, specs
from rankine._report.directed import directed
from rankine._report.markup import in_order
from rankine._report.pairs import drawn_lines, pairs_in_words
from rankine._report.tables import brief, shown
from rankine._stats.flips import NOTHING
from rankine.errors import MissingExtraError, ParameterError, RankineError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from rankine._evaluate.compare.comparison import Comparison
    from rankine._report.pairs import PairInWords
    from rankine._report.specs import Rows, Spec

_PAIRS = 45
"""If a metric has more pairs, only those with the best system are drawn."""
_SHORT, _SHORTER = 24, 16
"""The longest name in the title of a chart, and in one with little room."""
_WIDER = 4
"""An axis shows an interval whole if it is at most this many times wider than most."""
_KS = (1, 2, 3, 5, 7, 10, 15, 20, 30, 50, 100)


def altair_of(spec: Spec) -> Any:
    """Return a specification as an Altair chart."""
    try:
        return import_module("altair").Chart.from_dict(spec)
    except ImportError:
        msg = "charts need altair; pip install 'rankine-eval[report]'"
        raise MissingExtraError(msg) from None


def plot(
    result: Comparison | Evaluation,
    kind: str,
    metric: str | None = None,
    pair: tuple[str | None, str | None] = (None, None),
    ks: Iterable[int] | None = None,
) -> Any:
    """Return a chart of a result; see `Comparison.plot` and `Evaluation.plot`."""
    if isinstance(result, Evaluation):
        check_choice("kind", kind, tuple(_OF_EVALUATION))
        return altair_of(_OF_EVALUATION[kind](result, metric, ks))
    check_choice("kind", kind, tuple(_OF_COMPARISON))
    label = metric_of(result, metric)
    result = directed(result)
    return altair_of(_OF_COMPARISON[kind](result, label, _pair(result, *pair), ks))


def metric_of(comparison: Comparison, metric: str | None) -> str:
    """Return the label of a metric, or of the first if none is given."""
    return comparison.metrics[0] if metric is None else comparison._label(metric)  # noqa: SLF001 - of our own making


def _pair(comparison: Comparison, a: str | None, b: str | None) -> tuple[str, str]:
    """Return the two systems given, or those of the first pair."""
    first = comparison.pairwise.row(0, named=True)
    names = (first["a"] if a is None else a, first["b"] if b is None else b)
    for name in names:
        comparison._number(name)  # noqa: SLF001 - of our own making
    return names


def shown_pairs(comparison: Comparison, metric: str) -> list[dict[str, Any]]:
    """Return the rows of `pairwise` that are drawn for a metric.

    If there are too many, these are only the pairs with the best system.
    """
    pairs = comparison.pairwise
    rows = [row for row in pairs.iter_rows(named=True) if row["metric"] == metric]
    if comparison.baseline is None and len(rows) > _PAIRS:
        best = comparison.systems[_best(comparison, metric)]
        rows = [row for row in rows if best in (row["a"], row["b"])]
    return rows


def _best(comparison: Comparison, metric: str) -> int:
    """Return the index of the best system, or of the first if none is best."""
    return min(comparison.best[comparison.metrics.index(metric)], default=0)


def forest(comparison: Comparison, metric: str) -> Spec:
    """Return the difference of each pair, with its intervals and verdict."""
    against = comparison.baseline
    at_once = comparison.settings.is_simultaneous
    rows = [
        {
            "label": shown(row["b"])
            if against == row["a"]
            else in_order([shown(row["a"]), shown(row["b"])], specs.TO),
            "value": drawn_number(row["difference"]),
            "low": drawn_number(row["low"]),
            "high": drawn_number(row["high"]),
            "verdict": row["verdict"].split(",", 1)[0],
        }
        | (
            {
                "always_low": drawn_number(row["low_all"]),
                "always_high": drawn_number(row["high_all"]),
            }
            if at_once
            else {}
        )
        for row in shown_pairs(comparison, metric)
    ]
    than = "" if against is None else f" from {brief(shown(against), _SHORTER)}"
    title = f"difference in {metric}{than}"
    return specs.forest(rows, title, below=drawn_lines(comparison))


def query_rows(comparison: Comparison, metric: str, a: str, b: str) -> Rows:
    """Return a row per query that both systems have, the largest gain first."""
    values = values_of(comparison, metric, a, b)
    higher = comparison._compared.directions[comparison.metrics.index(metric)]  # noqa: SLF001
    d = values[1] - values[0]
    both = np.flatnonzero(~np.isnan(d))
    order = both[np.argsort(-d[both], kind="stable")]
    if higher is False:
        order = order[::-1]
    return [
        {
            "query": shown(comparison.queries[row]),
            "a": float(values[0, row]),
            "b": float(values[1, row]),
            "difference": float(d[row]),
            "change": _change(float(d[row]), higher=higher is not False),
            "start": place,
            "end": place + 1,
            "n": 1,
        }
        for place, row in enumerate(order.tolist())
    ]


def values_of(comparison: Comparison, metric: str, a: str, b: str) -> Any:
    """Return the values of two systems; refuse a metric without values per query."""
    row = comparison._refuse_whole(metric)  # noqa: SLF001 - of our own making
    numbers = [comparison._number(name) for name in (a, b)]  # noqa: SLF001
    return comparison._compared.values[row][numbers]  # noqa: SLF001


def _change(d: float, *, higher: bool) -> str:
    if abs(d) <= NOTHING:
        return "stays"
    return "gains" if (d > 0) == higher else "loses"


def thinned_bars(rows: Rows, most: int, units: str) -> Rows:
    """Return at most this many bars, each the mean of neighbouring queries."""
    if len(rows) <= most:
        return rows
    bars = []
    for part in np.array_split(np.arange(len(rows)), most):
        chunk = [rows[row] for row in part.tolist()]
        middle = chunk[len(chunk) // 2]
        mean = {
            name: sum(row[name] for row in chunk) / len(chunk)
            for name in ("a", "b", "difference")
        }
        ends = {"start": chunk[0]["start"], "end": chunk[-1]["end"]}
        bars.append(middle | mean | ends | {"query": f"{len(chunk)} {units}"})
    return bars


def thinned_points(rows: Rows, most: int, units: str) -> Rows:
    """Return one point per cell of a grid, if there are more points than this."""
    if len(rows) <= most:
        return rows
    values = np.array([[row["a"], row["b"]] for row in rows])
    low, high = values.min(), values.max()
    cells = np.floor((values - low) / ((high - low) or 1) * _GRID).astype(int)
    inside: dict[tuple[Any, ...], list[int]] = {}
    for row, cell in enumerate(np.minimum(cells, _GRID - 1).tolist()):
        inside.setdefault((*cell, rows[row]["change"]), []).append(row)
    points = []
    for members in inside.values():
        a, b = values[members].mean(axis=0).tolist()
        point = {"a": a, "b": b, "difference": b - a, "n": len(members)}
        points.append(rows[members[0]] | point | {"query": f"{len(members)} {units}"})
    return points


_GRID = 30


def differences(comparison: Comparison, metric: str, pair: tuple[str, str]) -> Spec:
    """Return the difference of every query between two systems, sorted."""
    rows = query_rows(comparison, metric, *pair)
    return specs.differences(rows, comparison.unit, metric, *titled(pair))


def scatter(comparison: Comparison, metric: str, pair: tuple[str, str]) -> Spec:
    """Return every query by its values in two systems."""
    rows = query_rows(comparison, metric, *pair)
    return specs.scatter(rows, comparison.unit, metric, *titled(pair))


def titled(names: Iterable[str]) -> list[str]:
    """Return names that are short enough for the titles of axes."""
    return [brief(shown(name), _SHORT) for name in names]


def curve(
    evaluations: Sequence[Evaluation],
    metric: str,
    ks: Iterable[int] | None = None,
    names: Sequence[str] = (),
    confidence: float = 0.95,
) -> Spec:
    """Return a metric at many cutoffs for every system, with bands.

    If no cutoffs are given, they go up to the metric's own, where it has one.
    """
    if not evaluations:
        msg = "a curve needs runs; this comparison has only values"
        raise ParameterError(msg)
    first = evaluations[0]
    asked = first.metrics[list(first.summaries).index(metric)]
    depth = asked.get("k") if asked.fact.at == "k" else None
    # Only the cutoff changes; other parameters stay as given.
    family = asked if depth is None else asked(k=None)
    cutoffs = [k for k in _KS if depth is None or k < depth]
    cutoffs = list(ks) if ks is not None else [*cutoffs, *([depth] if depth else [])]
    systems = [shown(name) for name in names or [first.name]]
    rows = [
        {
            "system": system,
            **{name: drawn_number(value) for name, value in point.items()},
        }
        for system, evaluation in zip(systems, evaluations, strict=True)
        for point in curve_of(
            evaluation, family, cutoffs, confidence=confidence
        ).iter_rows(named=True)
    ]
    return specs.curve(rows, f"{family}@k")


def curves(
    comparison: Comparison, metric: str, ks: Iterable[int] | None = None
) -> Spec:
    """Return the curves of the best systems, as many as colours can tell apart.

    The baseline is always among them.
    """
    order = np.arange(len(comparison.systems))
    kept = [] if comparison.baseline is None else [comparison.baseline]
    if len(order) > specs.MOST_CURVES:
        row = comparison.metrics.index(metric)
        means = comparison._compared.means[row]  # noqa: SLF001 - of our own making
        higher = comparison._compared.directions[row] is not False  # noqa: SLF001
        best = np.argsort(-means if higher else means, kind="stable")
        first = [comparison.systems.index(name) for name in kept]
        rest = best[~np.isin(best, first)]
        order = np.sort([*first, *rest[: specs.MOST_CURVES - len(first)]])
    names = [comparison.systems[row] for row in order.tolist()]
    known = comparison.evaluations
    evaluations = [known[name] for name in names if name in known]
    return curve(evaluations, metric, ks, names, comparison.settings.confidence)


def heatmap(comparison: Comparison, metric: str) -> Spec:
    """Return the p-values of all pairs of systems; with a baseline, of all metrics."""
    names = [shown(name) for name in comparison.systems]
    against = comparison.baseline
    rows = []
    for pair in pairs_in_words(comparison):
        row = pair.row
        a, b = shown(row["a"]), shown(row["b"])
        if against is not None:
            rows.append(_cell(comparison, pair, b, row["metric"], turned=False))
        elif row["metric"] == metric:
            rows.append(_cell(comparison, pair, b, a, turned=False))
            rows.append(_cell(comparison, pair, a, b, turned=True))
    if against is None:
        return maps.heatmap(rows, names, names, f"corrected p of {metric}")
    others = [name for name in names if name != shown(against)]
    title = f"corrected p of differences from {brief(shown(against), _SHORTER)}"
    return maps.heatmap(rows, others, comparison.metrics, title)


def _cell(
    comparison: Comparison, pair: PairInWords, name: str, column: str, *, turned: bool
) -> dict[str, Any]:
    row, higher = pair.row, True
    p = row["p_corrected"]
    place = comparison.metrics.index(row["metric"])
    if comparison._compared.directions[place] is False:  # noqa: SLF001
        higher = False
    gain = ((row["difference"] > 0) == higher) != turned
    level = maps.level_of(p, comparison.settings.alpha, better=gain)
    return {
        "row": name, "column": column, "p": drawn_number(p), "level": level,
        # A cell has little room.
        "text": pair.p_corrected.replace("at most", "≤"),
    }  # fmt: skip


def days_span(rows: Rows, level: float | None = None) -> tuple[float, float] | None:
    """Return the range of values that a chart of days shows; None if it shows all.

    A day with few users may have an interval so wide, or a value so extreme if it has
    none, that all other days would look flat.
    """
    known = [row for row in rows if row["value"] is not None]
    sure = [row for row in known if row.get("low") is not None]
    if not sure:
        return None
    usual = float(np.median([row["high"] - row["low"] for row in sure]))
    kept = [row for row in sure if row["high"] - row["low"] <= _WIDER * usual]
    ends = ("value", "low", "high")
    wider = ("always_low", "always_high")
    span = _ends(kept, (*ends, *wider), level)
    near = _ends(kept, ends, level)
    if span[1] - span[0] > _WIDER * (near[1] - near[0]):
        span = near
    whole = _ends(known, (*ends, *wider), level)
    return None if whole[1] - whole[0] <= 2 * (span[1] - span[0]) else span


def _ends(
    rows: Rows, fields: Sequence[str], level: float | None
) -> tuple[float, float]:
    """Return the smallest and the largest number of some fields."""
    numbers = [row[field] for row in rows for field in fields if field in row]
    drawn = [number for number in (*numbers, level) if number is not None]
    return min(drawn), max(drawn)


def drawn_number(value: float) -> float | None:
    """Return a number as JSON can hold it: None if it is undefined."""
    return None if math.isnan(value) else value


def means(evaluation: Evaluation) -> Spec:
    """Return the mean of every metric that has one, with its interval."""
    rows = []
    every = zip(evaluation.bound, evaluation.summaries.items(), strict=True)
    for metric, (label, summary) in every:
        if metric.summary == "sum":  # a count, on another scale
            continue
        low, high = evaluation.interval(label)
        bounds = {"low": drawn_number(low), "high": drawn_number(high)}
        rows.append({"label": label, "value": drawn_number(summary.value), **bounds})
    return specs.means(rows)


def histogram(evaluation: Evaluation, metric: str | None) -> Spec:
    """Return how many queries have which value."""
    label = _label(evaluation, metric)
    values = evaluation.summaries[label].values
    return specs.histogram(values[~np.isnan(values)].tolist(), label, evaluation.unit)


def _label(evaluation: Evaluation, metric: str | None) -> str:
    if metric is None:
        return next(iter(evaluation.summaries))
    try:
        return evaluation._label(metric)  # noqa: SLF001 - of our own making
    except KeyError as error:
        raise ParameterError(error.args[0]) from None


def first_curve(result: Comparison | Evaluation) -> tuple[str, Spec] | str:
    """Return the curve of the first metric that has one, or why there is none."""
    reason = ""
    for metric in (
        result.summaries if isinstance(result, Evaluation) else result.metrics
    ):
        try:
            if isinstance(result, Evaluation):
                return metric, curve([result], metric)
            return metric, curves(result, metric)
        except RankineError as error:
            reason = reason or str(error)
    return reason


_OF_COMPARISON: dict[str, Callable[..., Spec]] = {
    "forest": lambda result, metric, _, __: forest(result, metric),
    "differences": lambda result, metric, pair, _: differences(result, metric, pair),
    "scatter": lambda result, metric, pair, _: scatter(result, metric, pair),
    "curve": lambda result, metric, _, ks: curves(result, metric, ks),
    "heatmap": lambda result, metric, _, __: heatmap(result, metric),
}
_OF_EVALUATION: dict[str, Callable[..., Spec]] = {
    "forest": lambda result, _, __: means(result),
    "histogram": lambda result, metric, _: histogram(result, metric),
    "curve": lambda result, metric, ks: curve([result], _label(result, metric), ks),
}
