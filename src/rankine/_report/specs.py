"""Charts as Vega-Lite specifications: plain values, which need no library to make.

Colours mean the same in every chart: blue is better, vermilion is worse, grey is
"cannot tell", and purple is equivalent. They can be told apart with any colour vision,
on white and on black. Systems and variants have other colours than these.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rankine._base.text import plural

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

Spec = dict[str, Any]
Rows = list[dict[str, Any]]

_SCHEMA = "https://vega.github.io/schema/vega-lite/v6.json"
VERDICTS = {
    "better": ("#0072B2", "triangle-up"),
    "worse": ("#D55E00", "triangle-down"),
    "cannot tell": ("#8A8A8A", "circle"),
    "equivalent": ("#8E24D6", "square"),
    "different": ("#7A1530", "diamond"),
    "not worse": ("#8E24D6", "square"),
    "larger": ("#7A1530", "diamond"),
    "smaller": ("#7A1530", "diamond"),
    "mean": ("#009E73", "circle"),
}
"""Verdict -> colour and shape; a mean has its own, as it is not compared."""
_UNTESTED = "mean"
SYSTEMS = (
    "#009E73", "#CC79A7", "#999933", "#332288", "#00C2C2", "#7A5C29", "#D2A92D",
)  # fmt: skip
"""The colours of systems and variants, distinct from those of verdicts."""
MOST_CURVES = len(SYSTEMS)
_BETTER, _WORSE, EVEN = (
    VERDICTS[verdict][0] for verdict in ("better", "worse", "cannot tell")
)
_LONG = 32
"""The longest label; a longer one keeps its beginning and its end."""
_HALF = 14
"""The longest of two names in a label."""
TO = " → "
"""Separates the two names of a pair, each of which is shortened by itself."""


def _shortened(text: str, most: int) -> str:
    """Return a Vega expression for a text, without its middle if it is too long."""
    end = f"substring({text}, length({text}) - {most // 2 - 1})"
    short = f"substring({text}, 0, {most // 2}) + '…' + {end}"
    return f"(length({text}) > {most} ? {short} : {text})"


_NAMES = f"split(datum.label, '{TO}')"
LABEL = (
    f"length({_NAMES}) == 2 && length(datum.label) > {_LONG} ? "
    f"{_shortened(f'{_NAMES}[0]', _HALF)} + '{TO}' + "
    f"{_shortened(f'{_NAMES}[1]', _HALF)} : {_shortened('datum.label', _LONG)}"
)
"""The text of a label, as a Vega expression."""
_NEAR = 14
"""A number within this many pixels of an axis's end moves inwards, to stay whole."""
_WIDE, _HIGH = 560, 260
_ROW, _LOW, _FEW = 26, 19, 15
"""Pixels of a row; more than `_FEW` rows are lower, to fit on paper."""


SHARES = "format(100 * datum.value, '~g') + ' %'"
LIFTS = "(datum.value ? format(100 * datum.value, '+~g') : '0') + ' %'"
"""Formats of numbers on an axis as percentages, as Vega expressions."""


def forest(
    rows: Rows, title: str, form: str | None = None, below: Sequence[str] = ()
) -> Spec:
    """Return a point with its interval per row: label, value, low, high, verdict.

    Rows may have a second, wider interval: always_low, always_high. If numbers of the
    axis have a form, such as `LIFTS`, rows also have ``lift``, the text of the tooltip.
    Lines below the title explain how to read the chart.
    """
    verdicts = list(VERDICTS)
    ticks: Spec = {
        "tickCount": 5, "labelOverlap": True, "labelSeparation": 6,
        "labelFlush": _NEAR,
    }  # fmt: skip
    axis = {
        "title": None,
        "axis": ticks | ({} if form is None else {"labelExpr": form}),
    }
    labels = dict.fromkeys(
        row["label"] for row in rows
    )  # a layer may lack some of them
    y = {
        "field": "label", "type": "nominal", "sort": None, "title": None,
        "scale": {"domain": list(labels)},
        "axis": {
            "labelLimit": 240, "labelExpr": LABEL, "ticks": False, "domain": False,
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
    numbers = ("value", "low", "high") if form is None else ("lift",)
    tips = tooltips("label", *numbers, "verdict")
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
        height=(_ROW if len(rows) <= _FEW else _LOW) * max(len(rows), 1),
        title=title_of(title) | ({"subtitle": [*below]} if below else {}),
    )


def means(rows: Rows, title: str = "mean of each metric") -> Spec:
    """Return a point with its interval per row, without a comparison."""
    return forest([row | {"verdict": _UNTESTED} for row in rows], title)


def differences(rows: Rows, unit: str, metric: str, a: str, b: str) -> Spec:
    """Return a bar per query, largest gain first: start, end, query, difference.

    What a query is called is the unit.
    """
    return drawing(
        rows,
        mark={"type": "bar"},
        encoding={
            "x": {
                **quantity("start", f"{plural(unit)}, the largest gain first"),
                "axis": {
                    "grid": False,
                    "tickMinStep": 1,
                    "format": ",d",
                    "tickCount": 6,
                },
                "scale": {"nice": False},
            },
            "x2": {"field": "end"},
            "y": {**quantity("difference", ""), "title": None},
            "y2": {"datum": 0},
            "color": _colored("change"),
            "tooltip": tooltips("query", "a", "b", "difference", query=unit),
        },
        title=title_of(f"{metric}: {b} minus {a}"),
    )


def scatter(rows: Rows, unit: str, metric: str, a: str, b: str) -> Spec:
    """Return a point per query: its values in a and b; n counts queries in a point.

    On the diagonal, both are equal.
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
            "tooltip": tooltips("query", "a", "b", "difference", query=unit),
        },
    }  # fmt: skip
    title = title_of(f"{metric} of each {unit}: {b} against {a}")
    return drawing(rows, layer=[diagonal, points], height=340, title=title)


def curve(rows: Rows, metric: str) -> Spec:
    """Return a line with its band per system: system, k, value, low, high."""
    x = {
        **quantity("k", "cutoff k"),
        "axis": {"tickMinStep": 1, "format": "d"},
        "scale": {"zero": False, "nice": False},
    }
    title = f"{metric.removesuffix('@k')} by cutoff"
    return _lines(rows, x, metric, title, "k")


def by_depth(rows: Rows, metric: str) -> Spec:
    """Return a line per system, over depths of pools: system, depth, value."""
    x = {
        **quantity("depth", "depth of the pool"),
        "axis": {"tickMinStep": 1, "format": "d"},
        "scale": {"zero": False, "nice": False},
    }
    return _lines(rows, x, metric, f"{metric} by the depth of the pool", "depth")


def over_days(
    rows: Rows,
    metric: str,
    level: str | None = None,
    names: Sequence[str] = (),
    form: str | None = None,
    span: Sequence[float] | None = None,
    every: str = "day",
    title: str | None = None,
) -> Spec:
    """Return a line with its band per group: system, day, value, low, high.

    Rows may have a second, wider band: always_low, always_high.

    Args:
        rows: the rows to draw.
        metric: the title of the axis.
        level: the field with the value for the dashed line.
        names: all groups, so that each has the same colour in every chart.
        form: the format of numbers on the axis, such as `SHARES`.
        span: the range of the axis, if some days reach beyond it.
        every: the field with the day, week or hour.
        title: the title of the chart; that of the axis if None.
    """
    axis = {
        "tickCount": 6, "labelOverlap": True, "labelSeparation": 8,
        "format": "%b %-d, %H:%M" if every == "hour" else "%b %-d",
    }  # fmt: skip
    x = {"field": "time", "type": "temporal", "title": None, "axis": axis}
    timed = [row | {"time": _on_axis(row[every])} for row in rows]
    x |= {"scale": {"type": "utc"}}
    spec = _lines(timed, x, metric, title or metric, every, names)
    if level is not None:
        levels = [{"level": row} for row in dict.fromkeys(row[level] for row in rows)]
        spec["layer"].insert(
            0,
            {
                "data": {"values": levels},
                "mark": {"type": "rule", "strokeDash": [4, 3]},
                "encoding": {
                    "x": {"value": 0},
                    "x2": {"value": "width"},
                    "color": {"value": EVEN},
                    "y": quantity("level", metric),
                },
            },
        )
    for layer in spec["layer"]:
        layer["encoding"]["y"] |= {} if form is None else {"axis": {"labelExpr": form}}
        if span is not None:
            layer["encoding"]["y"]["scale"] = {"domain": [*span], "nice": True}
            layer["mark"]["clip"] = True
    return spec


def _on_axis(moment: str) -> str:
    """Return a local date or time, unaffected by the time zone of the browser."""
    day, _, clock = moment.partition(" ")
    return f"{day}T{clock[:5]}Z" if clock else day


def by_rank(rows: Rows, metric: str, names: Sequence[str] = ()) -> Spec:
    """Return a line with its band per group, over ranks.

    Rows have system, rank, value, low, high, impressions, clicks. Names are all groups,
    so that each has the same colour in every chart.
    """
    x = {
        **quantity("rank", "position"),
        "axis": {"tickMinStep": 1, "format": "d", "grid": False},
        "scale": {"zero": False, "nice": False},
    }  # fmt: skip
    title = f"{metric} by position"
    spec = _lines(rows, x, metric, title, "rank", names, ("impressions", "clicks"))
    for layer in spec["layer"]:
        layer["encoding"]["y"]["scale"] = {"domainMin": 0}
    return spec


def _lines(
    rows: Rows,
    x: Spec,
    metric: str,
    title: str,
    place: str,
    names: Sequence[str] = (),
    more: Sequence[str] = (),
) -> Spec:
    """Return a line with its band per group; tooltips also show the fields in more."""
    drawn = list(dict.fromkeys(row["system"] for row in rows))
    systems = list(names) or drawn
    legend = {
        "title": None, "orient": "bottom",
        "columns": max(1, min(3, 44 // max(map(len, drawn), default=1))),
        "labelLimit": 260, "labelExpr": LABEL, "symbolOpacity": 1, "rowPadding": 6,
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
    encoding = {"x": x, "color": color}
    return drawing(rows, layer=layers, encoding=encoding, title=title_of(title))


def histogram(values: Iterable[float], metric: str, unit: str) -> Spec:
    """Return how many queries, or what they are called, have which value."""
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
                "title": plural(unit),
                "axis": {"tickMinStep": 1, "format": "d", "tickCount": 5},
            },
            "tooltip": [{"aggregate": "count", "type": "quantitative"}],
        },
        title=title_of(f"{metric} over {plural(unit)}"),
    )


def _has(rows: Rows, field: str) -> bool:
    """Say whether any row has a value in a field."""
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


def title_of(text: str) -> Spec:
    """Return a title across the chart, where the title of an axis would be cut off."""
    return {"text": text, "anchor": "start", "frame": "bounds", "offset": 8}


def quantity(field: str, title: str) -> Spec:
    return {"field": field, "type": "quantitative", "title": title}


def _colored(field: str) -> Spec:
    """Return the colours of gains, losses and ties."""
    return {
        "field": field, "type": "nominal", "legend": None,
        "scale": {
            "domain": ["gains", "loses", "stays"], "range": [_BETTER, _WORSE, EVEN],
        },
    }  # fmt: skip


def tooltips(*fields: str, **titles: str) -> list[Spec]:
    """Return the tooltips of marks; numbers look as in tables.

    A field is titled by its own name, unless it has another title.
    """
    whole = {"k", "n", "rank", "impressions", "clicks"}
    words = {
        "query", "label", "day", "week", "hour", "verdict", "system", "row", "column",
        "text", "lift",
    }  # fmt: skip
    tips = []
    for field in fields:
        kind = "nominal" if field in words else "quantitative"
        tip = {"field": field, "type": kind, "title": titles.get(field, field)}
        if field not in words | whole:
            tip["format"] = ".4f"
        tips.append(tip)
    return tips
