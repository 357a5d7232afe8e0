"""Estimates of what a policy would have earned, for notebooks."""

from __future__ import annotations

import html
import math
from typing import TYPE_CHECKING

from rankine._report.cells import shown

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rankine._evaluate.logs.estimate import Estimate


def to_html(found: Sequence[Estimate]) -> str:
    """Return a table for notebooks, without script and without style sheets."""
    rows = [_row(own) for own in found]
    head = "".join(
        f"<th style='text-align:right'>{_escaped(name)}</th>" for name in rows[0]
    )
    body = "".join(
        f"<tr><th style='text-align:left'>{_escaped(own.estimator)}</th>{_cells(row)}"
        "</tr>"
        for own, row in zip(found, rows, strict=True)
    )
    lines = "".join(f"<li>{_escaped(text)}</li>" for text in _said(found))
    below = f"<ul>{lines}</ul>" if lines else ""
    return (
        f"<table><thead><tr><th></th>{head}</tr></thead><tbody>{body}"
        f"</tbody></table>{below}"
    )


def _row(found: Estimate) -> dict[str, str]:
    """Return the cells of an estimate by the heads of their columns."""
    low, high = found.interval
    between = "" if math.isnan(low) else f"{low:.4f} to {high:.4f}"
    return {
        "estimate": "undefined" if math.isnan(found.value) else f"{found.value:.4f}",
        f"{100 * found.confidence:g} % interval": between,
        "rounds": f"{found.n:,}",
        "matched": f"{found.matched:,}",
        "effective number": f"{found.ess:,.1f}",
        "largest weight": f"{found.max_weight:.4g}",
        "clipped": f"{found.clipped:,}",
    }


def _cells(row: dict[str, str]) -> str:
    return "".join(
        f"<td style='text-align:right'>{_escaped(text)}</td>" for text in row.values()
    )


def _said(found: Sequence[Estimate]) -> list[str]:
    """Return the warnings, by name where there are several, and each note once."""
    names = [f"{own.estimator}: " if len(found) > 1 else "" for own in found]
    warned = [
        f"! {name}{text}"
        for name, own in zip(names, found, strict=True)
        for text in own.warnings
    ]
    return [*warned, *dict.fromkeys(text for own in found for text in own.notes)]


def _escaped(text: object) -> str:
    return html.escape(shown(text))
