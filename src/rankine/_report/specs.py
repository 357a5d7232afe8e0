"""Charts as Vega-Lite specifications: plain values, which need no library to make.

Colours mean the same in every chart. Blue is better, vermilion is worse, grey cannot be
told, purple is equivalent; they are told apart with any colour vision, on white and on
black. Systems have other colours than these.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

Spec = dict[str, Any]
Rows = list[dict[str, Any]]

_SCHEMA = "https://vega.github.io/schema/vega-lite/v6.json"
VERDICTS = {
    "better": ("#0072B2", "triangle-up"),
    "worse": ("#D55E00", "triangle-down"),
    "cannot tell": ("#8A8A8A", "circle"),
    "equivalent": ("#9467BD", "square"),
    "different": ("#882255", "diamond"),
    "not worse": ("#9467BD", "square"),
    "larger": ("#882255", "diamond"),
    "smaller": ("#882255", "diamond"),
    "mean": ("#009E73", "circle"),
}
"""Verdict -> its colour and shape; a mean has none, as nothing is compared with it."""
_UNTESTED = "mean"
SYSTEMS = (
    "#009E73", "#E69F00", "#CC79A7", "#56B4E9", "#999933", "#A65628", "#332288",
)  # fmt: skip
MOST_CURVES = len(SYSTEMS)
_BETTER, _WORSE, EVEN = (
    VERDICTS[verdict][0] for verdict in ("better", "worse", "cannot tell")
)
_LEVELS = (1 / 50, 1 / 5, 1)
"""Parts of the level of a test: 0.001, 0.01 and 0.05 where that is 0.05."""
_SHADES = ("#08519C", "#4A90C8", "#A6CBE6", "#D9D9D9", "#FDBE91", "#E6772E", "#A63603")
_PALE = "#FFFFFF"
_LONG = 32
"""Letters of a label; a longer one keeps its beginning and its end."""
TO = " → "
"""What stands between the two names of a pair, each of which is shortened by itself."""


def _shortened(text: str, most: int) -> str:
    """Return an expression of Vega: a text, without its middle if it is too long."""
    end = f"substring({text}, length({text}) - {most // 2 - 1})"
    short = f"substring({text}, 0, {most // 2}) + '…' + {end}"
    return f"(length({text}) > {most} ? {short} : {text})"


_NAMES = f"split(datum.label, '{TO}')"
_LABEL = (
    f"length({_NAMES}) == 2 && length(datum.label) > {_LONG} ? "
    f"{_shortened(f'{_NAMES}[0]', _LONG // 2)} + '{TO}' + "
    f"{_shortened(f'{_NAMES}[1]', _LONG // 2)} : {_shortened('datum.label', _LONG)}"
)
_NEAR = 14
"""Pixels from the end of an axis where a number is moved inwards, not to be cut."""
_WIDE, _HIGH = 560, 260


def forest(rows: Rows, title: str, form: str | None = None) -> Spec:
    """Return a point with its interval per row: label, value, low, high, verdict.

    Numbers of the axis may have a form, such as ``+.0%``. Rows may have a second, wider
    interval: always_low, always_high.
    """
    verdicts = list(VERDICTS)
    ticks: Spec = {
        "tickCount": 5, "labelOverlap": True, "labelSeparation": 6,
        "labelFlush": _NEAR,
    }  # fmt: skip
    axis = {"title": None, "axis": ticks | ({} if form is None else {"format": form})}
    labels = dict.fromkeys(row["label"] for row in rows)  # some layers lack some
    y = {
        "field": "label", "type": "nominal", "sort": None, "title": None,
        "scale": {"domain": list(labels)},
        "axis": {
            "labelLimit": 240, "labelExpr": _LABEL, "ticks": False, "domain": False,
            "labelPadding": 8,
        },
    }  # fmt: skip
    color = {
        "field": "verdict", "type": "nominal", "legend": None,
        "scale": {"domain": verdicts, "range": [VERDICTS[v][0] for v in verdicts]},
    }  # fmt: skip
    shape = {
        "field": "verdict", "type": "nominal", "legend": None,
        "scale": {"domain": verdicts, "range": [VERDICTS[v][1] for v in verdicts]},
    }  # fmt: skip
    tips = tooltips("label", "value", "low", "high", "verdict")
    bounds: Spec = {
        "y": y,
        "x": {**quantity("low", title), "scale": {"zero": False}, **axis},
        "x2": {"field": "high"},
        "color": color,
        "tooltip": tips,
    }
    points = bounds | {"x": {**quantity("value", title), **axis}, "shape": shape}
    del points["x2"]
    zero = {
        "data": {"values": [{"zero": 0}]},
        "mark": {"type": "rule", "color": EVEN, "strokeDash": [4, 3]},
        "encoding": {"x": {**quantity("zero", title), **axis}},
    }
    layers = [
        {"mark": {"type": "rule", "strokeWidth": 2}, "encoding": bounds},
        {
            "mark": {"type": "point", "filled": True, "size": 70, "opacity": 1},
            "encoding": points,
        },
    ]
    if not _has(rows, "low"):
        layers = layers[1:]
    if _has(rows, "always_low"):
        wider = bounds | {
            "x": {**bounds["x"], "field": "always_low"}, "x2": {"field": "always_high"},
        }  # fmt: skip
        thin = {"type": "rule", "strokeWidth": 1}
        layers.insert(0, {"mark": thin, "encoding": wider})
    tested = any(row["verdict"] != _UNTESTED for row in rows)
    return drawing(
        rows,
        layer=[*([zero] if tested else []), *layers],
        height=26 * max(len(rows), 1),
        title=_title(title),
    )


def means(rows: Rows, title: str = "mean") -> Spec:
    """Return a point with its interval per row that nothing is compared with."""
    return forest([row | {"verdict": _UNTESTED} for row in rows], title)


def differences(rows: Rows, metric: str, a: str, b: str) -> Spec:
    """Return a bar per query, largest gain first: start, end, query, difference."""
    return drawing(
        rows,
        mark={"type": "bar"},
        encoding={
            "x": {
                **quantity("start", "queries, the largest gain first"),
                "axis": {
                    "grid": False,
                    "tickMinStep": 1,
                    "format": "d",
                    "tickCount": 6,
                },
                "scale": {"nice": False},
            },
            "x2": {"field": "end"},
            "y": {**quantity("difference", ""), "title": None},
            "y2": {"datum": 0},
            "color": _colored("change"),
            "tooltip": tooltips("query", "a", "b", "difference"),
        },
        title=_title(f"{metric}: {b} minus {a}"),
    )


def scatter(rows: Rows, metric: str, a: str, b: str) -> Spec:
    """Return a point per query: its value by a and by b; n is how many it stands for.

    The diagonal is where both are equal.
    """
    ends = [min((min(row["a"], row["b"]) for row in rows), default=0)]
    ends.append(max((max(row["a"], row["b"]) for row in rows), default=1))
    diagonal = {
        "data": {"values": [{"a": end, "b": end} for end in ends]},
        "mark": {"type": "line", "color": EVEN, "strokeDash": [4, 3]},
        "encoding": {"x": quantity("a", ""), "y": quantity("b", "")},
    }
    near: Spec = {"scale": {"zero": False}, "axis": {"tickCount": 6}}
    points = {
        "mark": {"type": "point", "filled": True, "opacity": 0.65},
        "encoding": {
            "x": {**quantity("a", f"{metric} of {a}"), **near},
            "y": {**quantity("b", f"{metric} of {b}"), **near},
            "color": _colored("change"),
            "size": {
                "field": "n", "type": "quantitative", "legend": None,
                "scale": {"type": "sqrt", "domain": [1, 200], "range": [36, 900]},
            },
            "tooltip": tooltips("query", "a", "b", "difference"),
        },
    }  # fmt: skip
    return drawing(rows, layer=[diagonal, points], height=340)


def curve(rows: Rows, metric: str) -> Spec:
    """Return a line with its band per system: system, k, value, low, high."""
    x = {**quantity("k", "cutoff k"), "axis": {"tickMinStep": 1, "format": "d"}}
    return _lines(rows, x | {"scale": {"zero": False, "nice": False}}, metric, "k")


def over_days(
    rows: Rows,
    metric: str,
    level: str | None = None,
    names: Sequence[str] = (),
    form: str | None = None,
    span: Sequence[float] | None = None,
) -> Spec:
    """Return a line with its band per group: system, day, value, low, high.

    Rows may have a second, wider band: always_low, always_high.

    Args:
        rows: what is drawn.
        metric: what it is.
        level: the field that has what lines are compared with, dashed.
        names: all groups that there are, so that each has its colour in every chart.
        form: of the numbers of the axis, such as ``.0%``.
        span: what the axis shows, where some days reach beyond it.
    """
    axis = {"tickCount": 6, "labelOverlap": True, "format": "%b %-d"}
    x = {"field": "time", "type": "temporal", "title": None, "axis": axis}
    timed = [row | {"time": row["day"]} for row in rows]
    spec = _lines(timed, x | {"scale": {"type": "utc"}}, metric, "day", names)
    if level is not None:
        levels = [{"level": row} for row in dict.fromkeys(row[level] for row in rows)]
        spec["layer"].insert(
            0,
            {
                "data": {"values": levels},
                "mark": {"type": "rule", "color": EVEN, "strokeDash": [4, 3]},
                "encoding": {"x": None, "color": None, "y": quantity("level", metric)},
            },
        )
    for layer in spec["layer"]:
        layer["encoding"]["y"] |= {} if form is None else {"axis": {"format": form}}
        if span is not None:
            layer["encoding"]["y"]["scale"] = {"domain": [*span], "nice": True}
            layer["mark"]["clip"] = True
    return spec


def by_rank(rows: Rows, metric: str, names: Sequence[str] = ()) -> Spec:
    """Return a line with its band per group, over ranks.

    Rows have system, rank, value, low, high, impressions, clicks. Names are all groups
    that there are, so that each has its colour in every chart.
    """
    x = {
        **quantity("rank", "position"),
        "axis": {"tickMinStep": 1, "format": "d", "grid": False},
        "scale": {"zero": False, "nice": False},
    }  # fmt: skip
    spec = _lines(rows, x, metric, "rank", names, ("impressions", "clicks"))
    for layer in spec["layer"]:
        layer["encoding"]["y"]["scale"] = {"domainMin": 0}
    return spec


def _lines(
    rows: Rows,
    x: Spec,
    metric: str,
    place: str,
    names: Sequence[str] = (),
    more: Sequence[str] = (),
) -> Spec:
    """Return a line with its band per group; more is what else is told of a point."""
    drawn = list(dict.fromkeys(row["system"] for row in rows))
    systems = list(names) or drawn
    legend = {
        "title": None, "orient": "bottom",
        "columns": max(1, min(3, 44 // max(map(len, drawn), default=1))),
        "labelLimit": 260, "labelExpr": _LABEL, "symbolOpacity": 1,
        "symbolType": "stroke", "symbolStrokeWidth": 3,
    }  # fmt: skip
    color = {
        "field": "system", "type": "nominal", "sort": None,
        "legend": legend if len(systems) > 1 else None,
        "scale": {
            "domain": drawn, "range": [SYSTEMS[systems.index(name)] for name in drawn],
        },
    }  # fmt: skip
    y = {**quantity("value", metric), "scale": {"zero": False}}
    band = {
        "mark": {"type": "area", "opacity": 0.15},
        "encoding": {"y": y | {"field": "low"}, "y2": {"field": "high"}},
    }
    tips = tooltips("system", place, "value", "low", "high", *more)
    line = {
        "mark": {"type": "line", "point": {"size": 30}},
        "encoding": {"y": y, "tooltip": tips},
    }
    layers = [band, line] if _has(rows, "low") else [line]
    if _has(rows, "always_low"):
        wider = {
            "mark": {"type": "area", "opacity": 0.12},
            "encoding": {
                "y": y | {"field": "always_low"}, "y2": {"field": "always_high"},
            },
        }  # fmt: skip
        layers.insert(0, wider)
    return drawing(rows, layer=layers, encoding={"x": x, "color": color})


def heatmap(rows: Rows, names: Sequence[str], columns: Sequence[str]) -> Spec:
    """Return a cell per row and column: its p-value, and who is better.

    Rows have row, column, p, text, and level: below 0 where the one of the row is
    worse, above 0 where it is better, and the further the surer.
    """
    levels = [*range(len(_LEVELS), -len(_LEVELS) - 1, -1)]
    color = {
        "field": "level", "type": "ordinal", "legend": None,
        "scale": {"domain": levels, "range": list(_SHADES)},
    }  # fmt: skip
    axis = {
        "ticks": False, "domain": False, "labelLimit": 220, "labelExpr": _LABEL,
        "labelPadding": 6,
    }  # fmt: skip
    small = len(columns) <= _LABELLED
    fits = max(map(len, columns), default=0) <= _SHORT
    angle = (0 if fits else -40) if small else -90
    top = {**axis, "labelAngle": angle, "orient": "top"}
    encoding: Spec = {
        "x": {**_name("column", columns), "axis": top},
        "y": {**_name("row", names), "axis": axis},
        "tooltip": tooltips("row", "column", "p", "text"),
    }
    squares = {"mark": {"type": "rect"}, "encoding": {"color": color}}
    strong = {"test": "abs(datum.level) > 2", "value": _PALE}
    labels = {
        "mark": {"type": "text", "fontSize": 11},
        "encoding": {
            "text": {"field": "text", "type": "nominal"},
            "color": {"condition": strong, "value": "#1A1A1A"},
        },
    }
    return drawing(
        rows,
        layer=[squares, labels] if small else [squares],
        encoding=encoding,
        width={"step": 72 if small else 16},
        height={"step": 30 if small else 16},
    )


_LABELLED = 12
"""Columns up to which cells have room for a number."""
_SHORT = 9
"""Letters up to which a name has room above its column."""


def level_of(p: float, alpha: float, *, better: bool) -> int:
    """Return how sure a difference is: 3 for the surest, 0 if it cannot be told.

    Args:
        p: of the test.
        alpha: the largest p at which a difference can be told.
        better: whether it is a gain.

    >>> level_of(0.0004, 0.05, better=True), level_of(0.02, 0.05, better=False)
    (3, -1)
    >>> level_of(0.06, 0.05, better=True), level_of(0.06, 0.1, better=True)
    (0, 1)
    """
    size = sum(p <= round(alpha * part, 12) for part in _LEVELS)
    return size if better else -size


def histogram(values: Iterable[float], metric: str) -> Spec:
    """Return how many queries have which value."""
    rows = [{"value": value} for value in values]
    return drawing(
        rows,
        mark={"type": "bar", "color": SYSTEMS[0]},
        encoding={
            "x": {
                **quantity("value", metric),
                "bin": {"maxbins": 20},
                "axis": {"format": "~g"},
            },
            "y": {
                "aggregate": "count",
                "type": "quantitative",
                "title": "queries",
                "axis": {"tickMinStep": 1, "format": "d", "tickCount": 5},
            },
            "tooltip": [{"aggregate": "count", "type": "quantitative"}],
        },
    )


def _has(rows: Rows, field: str) -> bool:
    """Say whether there is anything to draw of a field."""
    return any(row.get(field) is not None for row in rows)


def drawing(
    rows: Rows, *, width: Any = _WIDE, height: Any = _HIGH, **parts: Any
) -> Spec:
    return {
        "$schema": _SCHEMA,
        "data": {"name": "rows", "values": rows},
        "width": width,
        "height": height,
        **parts,
        "config": {"view": {"stroke": None}, "axis": {"gridOpacity": 0.5}},
    }


def _title(text: str) -> Spec:
    """Return a title over the whole width, where that of an axis would be cut."""
    return {"text": text, "anchor": "start", "frame": "bounds", "offset": 8}


def quantity(field: str, title: str) -> Spec:
    return {"field": field, "type": "quantitative", "title": title}


def _name(field: str, names: Sequence[str]) -> Spec:
    """Return names in their order: of a sort, Vega would make an expression."""
    return {
        "field": field, "type": "nominal", "sort": None, "title": None,
        "scale": {"domain": list(names)},
    }  # fmt: skip


def _colored(field: str) -> Spec:
    """Return the colours of what gains, loses and stays."""
    return {
        "field": field, "type": "nominal", "legend": None,
        "scale": {
            "domain": ["gains", "loses", "stays"], "range": [_BETTER, _WORSE, EVEN],
        },
    }  # fmt: skip


def tooltips(*fields: str) -> list[Spec]:
    """Return what is shown when the pointer is over a mark; numbers as in tables."""
    whole = {"k", "n", "rank", "impressions", "clicks"}
    words = {"query", "label", "day", "verdict", "system", "row", "column", "text"}
    tips = []
    for field in fields:
        kind = "nominal" if field in words else "quantitative"
        tip = {"field": field, "type": kind, "title": field}
        if field not in words | whole:
            tip["format"] = ".4f"
        tips.append(tip)
    return tips
