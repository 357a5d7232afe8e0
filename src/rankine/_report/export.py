"""An evaluation as JSON, Markdown, LaTeX, HTML, and frames of other libraries."""

from __future__ import annotations

import html
import math
from typing import TYPE_CHECKING, Any

from rankine._base.forks import need_threads
from rankine._report.cells import cells, shown
from rankine.errors import MissingExtraError, ParameterError

if TYPE_CHECKING:
    import polars as pl

    from rankine._evaluate.result import Evaluation


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None


def to_dict(evaluation: Evaluation) -> dict[str, Any]:
    """Return numbers, intervals, convention and notes as plain values."""
    return {
        "run": evaluation.name,
        "queries": len(evaluation.table.ids),
        "metrics": {
            cell.metric: {
                "value": _finite(cell.value),
                "low": _finite(cell.low),
                "high": _finite(cell.high),
                "n": cell.n,
                "without_relevant": evaluation.summaries[cell.metric].n_empty,
                "undefined": evaluation.summaries[cell.metric].n_undefined,
            }
            for cell in cells(evaluation)
        },
        "convention": evaluation.convention.to_dict(),
        "preset": evaluation.preset,
        "notes": list(evaluation.notes),
        "warnings": list(evaluation.warnings),
    }


def to_markdown(evaluation: Evaluation) -> str:
    """Return a Markdown table."""
    lines = ["| metric | value | 95 % interval | queries |", "|---|---:|---|---:|"]
    lines += [
        f"| {cell.metric} | {cell.number()} | {cell.bounds()} | {cell.n} |"
        for cell in cells(evaluation)
    ]
    return "\n".join(lines)


_LATEX = {
    "\\": r"\textbackslash{}", "&": r"\&", "%": r"\%", "$": r"\$", "#": r"\#",
    "_": r"\_", "{": r"\{", "}": r"\}", "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
}  # fmt: skip


def latex_text(text: str) -> str:
    r"""Escape what LaTeX would take as a command.

    >>> latex_text("run_1 & 50%")
    'run\\_1 \\& 50\\%'
    """
    return "".join(_LATEX.get(mark, mark) for mark in text)


def to_latex(evaluation: Evaluation) -> str:
    """Return a table for the booktabs package."""
    rows = [
        f"{latex_text(cell.metric)} & {cell.number()} & {cell.bounds()} \\\\"
        for cell in cells(evaluation)
    ]
    return "\n".join(
        [
            r"\begin{tabular}{lrr}",
            r"\toprule",
            rf"{latex_text(shown(evaluation.name))} & value & 95\,\% interval \\",
            r"\midrule",
            *rows,
            r"\bottomrule",
            r"\end{tabular}",
        ]
    )


def to_html(evaluation: Evaluation) -> str:
    """Return a table for notebooks, without script and without style sheets."""
    rows = "".join(
        f"<tr><th style='text-align:left'>{html.escape(cell.metric)}</th>"
        f"<td style='text-align:right'>{cell.number()}</td>"
        f"<td style='color:#777'>{cell.bounds()}</td></tr>"
        for cell in cells(evaluation)
    )
    told = (*evaluation.warnings, *evaluation.notes)
    notes = "".join(f"<li>{html.escape(shown(note))}</li>" for note in told)
    head = (
        f"<tr><th style='text-align:left'>{html.escape(shown(evaluation.name))}</th>"
        "<th style='text-align:right'>value</th>"
        "<th style='text-align:left'>95 % interval</th></tr>"
    )
    return f"<table><thead>{head}</thead><tbody>{rows}</tbody></table><ul>{notes}</ul>"


def to_frame(frame: pl.DataFrame, library: str) -> Any:
    """Return a frame of another library."""
    if library == "polars":
        return frame
    if library not in {"pandas", "arrow"}:
        msg = f"library must be one of polars, pandas, arrow, got {library!r}"
        raise ParameterError(msg)
    need_threads()  # which polars takes for both
    try:
        return frame.to_pandas() if library == "pandas" else frame.to_arrow()
    except ImportError:
        msg = (
            f"to_frame({library!r}) needs {library}; pip install "
            f"'rankine-eval[{library}]'"
        )
        raise MissingExtraError(msg) from None
