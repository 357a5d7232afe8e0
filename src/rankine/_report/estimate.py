"""An estimate of what a policy would have earned, for notebooks."""

from __future__ import annotations

import html
import math
from typing import TYPE_CHECKING

from rankine._report.cells import shown

if TYPE_CHECKING:
    from rankine._evaluate.logs.estimate import Estimate


def to_html(found: Estimate) -> str:
    """Return a table for notebooks, without script and without style sheets."""
    low, high = found.interval
    between = "" if math.isnan(low) else f"{low:.4f} to {high:.4f}"
    columns = {
        "estimate": "undefined" if math.isnan(found.value) else f"{found.value:.4f}",
        f"{100 * found.confidence:g} % interval": between,
        "rounds": f"{found.n:,}",
        "matched": f"{found.matched:,}",
        "effective number": f"{found.ess:,.1f}",
        "largest weight": f"{found.max_weight:.4g}",
        "clipped": f"{found.clipped:,}",
    }
    head = "".join(
        f"<th style='text-align:right'>{_escaped(name)}</th>" for name in columns
    )
    cells = "".join(
        f"<td style='text-align:right'>{_escaped(text)}</td>"
        for text in columns.values()
    )
    said = [f"! {text}" for text in found.warnings] + list(found.notes)
    lines = "".join(f"<li>{_escaped(text)}</li>" for text in said)
    below = f"<ul>{lines}</ul>" if lines else ""
    return (
        f"<table><thead><tr><th></th>{head}</tr></thead><tbody>"
        f"<tr><th style='text-align:left'>{_escaped(found.estimator)}</th>{cells}</tr>"
        f"</tbody></table>{below}"
    )


def _escaped(text: object) -> str:
    return html.escape(shown(text))
