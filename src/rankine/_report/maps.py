"""Maps of p-values: a cell for each two systems, coloured by which is better."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rankine._report.specs import LABEL, drawing, title_of, tooltips

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rankine._report.specs import Rows, Spec

_LEVELS = (1 / 50, 1 / 5, 1)
"""Shares of a test's level: 0.001, 0.01 and 0.05 if the level is 0.05."""
_SHADES = ("#08519C", "#4A90C8", "#A6CBE6", "#D9D9D9", "#FDBE91", "#E6772E", "#A63603")
_PALE = "#FFFFFF"
_LABELLED = 12
"""Up to this many columns, cells have room for a number."""
_SHORT = 9
"""Up to this many letters, a name fits above its column."""


def heatmap(
    rows: Rows, names: Sequence[str], columns: Sequence[str], title: str
) -> Spec:
    """Return a cell per row and column: its p-value, and which is better.

    Rows have row, column, p, text, and level: below 0 if the system in the row is
    worse, above 0 if it is better, and further from 0 if that is more certain.
    """
    levels = [*range(len(_LEVELS), -len(_LEVELS) - 1, -1)]
    color = {
        "field": "level", "type": "ordinal", "legend": None,
        "scale": {"domain": levels, "range": list(_SHADES)},
    }  # fmt: skip
    axis = {
        "ticks": False, "domain": False, "labelLimit": 220, "labelExpr": LABEL,
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
        title=title_of(title),
    )


def level_of(p: float, alpha: float, *, better: bool) -> int:
    """Return how certain a difference is, from 0 (cannot tell) to 3.

    Args:
        p: the p-value of the test.
        alpha: the level of the test.
        better: whether the difference is a gain.

    >>> level_of(0.0004, 0.05, better=True), level_of(0.02, 0.05, better=False)
    (3, -1)
    >>> level_of(0.06, 0.05, better=True), level_of(0.06, 0.1, better=True)
    (0, 1)
    """
    size = sum(p <= round(alpha * part, 12) for part in _LEVELS)
    return size if better else -size


def _name(field: str, names: Sequence[str]) -> Spec:
    """Return names in their order; Vega would turn a sort into an expression."""
    return {
        "field": field, "type": "nominal", "sort": None, "title": None,
        "scale": {"domain": list(names)},
    }  # fmt: skip
