"""Tables for notebooks and as plain text, with all texts made safe to show."""

from __future__ import annotations

import html
import math
import re
from typing import TYPE_CHECKING

from rankine._base.text import count

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from rankine._evaluate.logs.estimate import Estimate
    from rankine._evaluate.similarity import SimilarityMatrix

_SHORT, _ENTRY = 24, 40
"""The longest text that stays on one line in notebooks, and the longest in a list."""
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]")


def shown(text: object) -> str:
    r"""Return text that is safe to print, with control and direction marks escaped.

    >>> shown("a\x1b[31mb")
    'a\\x1b[31mb'
    """
    return _CONTROL.sub(
        lambda mark: mark[0].encode("unicode_escape").decode(), str(text)
    )


def brief(text: str, most: int) -> str:
    """Shorten a name in the middle; names often differ at the end.

    >>> brief("bm25", 12), brief("reranked by a large model", 12)
    ('bm25', 'rerank…model')
    """
    if len(text) <= most:
        return text
    end = (most - 1) // 2
    return f"{text[: most - 1 - end]}…{text[-end:]}"


def csv_name(name: str) -> str:
    """Escape a name for CSV, as a spreadsheet would take =, +, - and @ for a formula.

    >>> csv_name("=1+1"), csv_name("bm25")
    ("'=1+1", 'bm25')
    """
    text = shown(name)
    return f"'{text}" if text.startswith(("=", "+", "-", "@")) else text


def number(value: float, decimals: int = 4) -> str:
    """Return a number with some decimals, or a word if it is undefined."""
    return "undefined" if math.isnan(value) else f"{value:.{decimals}f}"


def between(low: float, high: float, decimals: int = 4) -> str:
    """Return the bounds of an interval, empty if there is none."""
    return "" if math.isnan(low) else f"{low:.{decimals}f} to {high:.{decimals}f}"


def markdown_table(
    head: Iterable[str], rows: Iterable[Iterable[str]], sides: str
) -> str:
    """Return a table as Markdown, from cells in which its marks are escaped.

    >>> markdown_table(["metric", "value"], [["ctr", "0.5"]], "lr").splitlines()
    ['| metric | value |', '| --- | ---: |', '| ctr | 0.5 |']
    """
    rule = ("---" if side == "l" else "---:" for side in sides)
    return "\n".join(f"| {' | '.join(line)} |" for line in (head, rule, *rows))


def html_table(
    head: Sequence[object],
    rows: Iterable[Sequence[object]],
    sides: str,
    *,
    caption: str = "",
    below: Iterable[object] = (),
) -> str:
    """Return a table for notebooks, without script and without style sheets.

    Everything is escaped here. A cell, or an entry below, is a text or a list of
    lines; cells on the left are row headers.

    Args:
        head: the titles of the columns.
        rows: their cells.
        sides: the alignment of each column, ``l`` or ``r``.
        caption: the text above.
        below: the entries of the list below.
    """
    title = f"<caption>{_escaped(caption)}</caption>" if caption else ""
    body = "".join(_row(row, sides, heads=sides[0] == "l") for row in rows)
    return (
        "<div style='overflow-x:auto;margin-bottom:0.5em'>"
        f"<table>{title}<thead>{_row(head, sides, heads=len(head))}</thead>"
        f"<tbody>{body}</tbody></table></div>{html_list(below)}"
    )


def html_list(entries: Iterable[object]) -> str:
    """Return a list for notebooks, nothing if it has no entries."""
    points = "".join(f"<li>{_escaped(entry)}</li>" for entry in entries)
    return f"<ul>{points}</ul>" if points else ""


def _row(cells: Sequence[object], sides: str, *, heads: int) -> str:
    """Return a row whose first cells are headers."""
    drawn = []
    for place, (cell, side) in enumerate(zip(cells, sides, strict=True)):
        tag = "th" if place < heads else "td"
        align = "left" if side == "l" else "right"
        whole = side + tag == "rtd" or _fits(cell)
        style = f"text-align:{align}{';white-space:nowrap' * whole}"
        drawn.append(f"<{tag} style='{style}'>{_escaped(cell)}</{tag}>")
    return f"<tr>{''.join(drawn)}</tr>"


def _fits(cell: object) -> bool:
    """Say whether a text stays on one line, however narrow the notebook is.

    Numbers do, a few words do, and so does each entry of a list.
    """
    lines = cell if isinstance(cell, list) else [cell]
    most = _SHORT if len(lines) == 1 else _ENTRY
    return all(len(shown(line)) <= most for line in lines)


def _escaped(cell: object) -> str:
    lines = cell if isinstance(cell, list) else [cell]
    return "<br>".join(html.escape(shown(line)) for line in lines)


def matrix_text(matrix: SimilarityMatrix) -> str:
    """Return a matrix: rows are the first runs of pairs, columns the second."""
    names = [shown(name) for name in matrix.names]
    cells = [["", *names]]
    for name, row in zip(names, matrix.values.tolist(), strict=True):
        cells.append([name, *("-" if math.isnan(v) else number(v) for v in row)])
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    lines = [str(matrix.measure), ""]
    for first, *rest in cells:
        numbers = [
            cell.rjust(width) for cell, width in zip(rest, widths[1:], strict=True)
        ]
        lines.append("  ".join([first.ljust(widths[0]), *numbers]).rstrip())
    pairs_by_note: dict[str, list[str]] = {}
    for (first, second), notes in matrix.notes.items():
        for note in notes if first != second else ():
            pair = f"{shown(first)} and {shown(second)}"
            pairs_by_note.setdefault(note, []).append(pair)
    if pairs_by_note:
        lines.append("")
    for note, pairs in pairs_by_note.items():
        more = "" if len(pairs) == 1 else f", and {count(len(pairs) - 1, 'other pair')}"
        lines.append(f"- {shown(note)} ({pairs[0]}{more})")
    return "\n".join(lines)


def estimate_text(estimate: Estimate) -> str:
    """Return the number, its interval, and how reliable it is."""
    bounds = between(*estimate.interval)
    sure = f", {100 * estimate.confidence:g} % interval {bounds}" if bounds else ""
    clipped = f", {estimate.clipped:,} clipped" if estimate.clipped else ""
    rounds = (
        f"{count(estimate.n, 'round')}, {estimate.matched:,} matched; effective sample "
        f"size {estimate.ess:,.1f}, largest weight {estimate.max_weight:.4g}{clipped}"
    )
    lines = [f"{estimate.estimator}: {number(estimate.value)}{sure}", rounds]
    lines += [f"! {text}" for text in estimate.warnings]
    lines += [f"- {text}" for text in estimate.notes]
    return "\n".join(lines)


def estimates_html(estimates: Sequence[Estimate]) -> str:
    """Return a row per estimate, with warnings and notes below, each note once."""
    several = len(estimates) > 1
    warnings = [
        f"! {estimate.estimator}: {text}" if several else f"! {text}"
        for estimate in estimates
        for text in estimate.warnings
    ]
    notes = dict.fromkeys(text for estimate in estimates for text in estimate.notes)
    head = (
        "", "estimate", f"{100 * estimates[0].confidence:g} % interval", "rounds",
        "matched", "effective sample size", "largest weight", "clipped",
    )  # fmt: skip
    rows = (
        (
            estimate.estimator,
            number(estimate.value),
            between(*estimate.interval),
            f"{estimate.n:,}",
            f"{estimate.matched:,}",
            f"{estimate.ess:,.1f}",
            f"{estimate.max_weight:.4g}",
            f"{estimate.clipped:,}",
        )
        for estimate in estimates
    )
    return html_table(head, rows, "l" + 7 * "r", below=(*warnings, *notes))
