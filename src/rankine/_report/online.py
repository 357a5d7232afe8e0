"""Online metrics as text, HTML and Markdown: a row per metric and group."""

from __future__ import annotations

from datetime import date
from typing import TYPE_CHECKING, Any

from rich.console import Group
from rich.text import Text

from rankine._online.oddities import counted
from rankine._online.times import moment_text
from rankine._report.tables import between, html_table, number, shown
from rankine._report.text import ENDLESS, plain_text, table_with

if TYPE_CHECKING:
    from rankine._online.rates import Rate
    from rankine._online.summary import Summary

_WIDTH = 100
_ROWS = 200
"""Rows that are shown; all of them are in `table`."""


def rate_text(rate: Rate) -> str:
    """Return the number, its interval, and the notes."""
    bounds = between(*rate.interval)
    sure = f", {100 * rate.confidence:g} % interval {bounds}" if bounds else ""
    n = "" if rate.n is None else f", n = {rate.n:,}"
    lines = [f"{rate.metric}: {number(rate.value)}{sure}{n}"]
    return "\n".join([*lines, *(f"- {shown(note)}" for note in rate.notes)])


def to_text(summary: Summary, width: int | None = _WIDTH) -> str:
    """Return the table, what its metrics are, and the notes.

    Sentences are wrapped to a width, unless it is None; the table stays whole.
    """
    head, rows = _cells(summary)
    sides = "l" * (1 + len(summary.groups)) + "rrrr"
    table = plain_text(table_with(head, rows[:_ROWS], sides), ENDLESS)
    said = Group(*(Text(shown(line)) for line in _lines(summary, len(rows))))
    return f"{table}\n{plain_text(said, width or ENDLESS)}"


def every_in(summary: Summary) -> str | None:
    """Return the column of days, weeks or hours; None if there is none."""
    types = summary.table.schema
    return next((name for name in summary.groups if types[name].is_temporal()), None)


def group_text(name: Any) -> str:
    """Return the name of a group, or its day, week or hour."""
    if name is None:
        return "-"
    return moment_text(name) if isinstance(name, date) else str(name)


def _cells(summary: Summary) -> tuple[list[str], list[list[str]]]:
    bounds = f"{100 * summary.confidence:g} % interval"
    head = ["metric", *map(shown, summary.groups), "value", bounds, "n", "users"]
    rows = []
    for metric, *group, value, low, high, n, users in summary.table.iter_rows():
        names = [shown(group_text(name)) for name in group]
        cells = [number(value), between(low, high), f"{n:,}", f"{users:,}"]
        rows.append([metric, *names, *cells])
    return head, rows


def _lines(summary: Summary, n_rows: int) -> list[str]:
    lines = [f"{summary.events:,} events read."]
    if n_rows > _ROWS:
        more = f"{n_rows - _ROWS:,} more rows are in .table, --csv and --json."
        lines = [more, *lines]
    lines += [f"{name} = {says}" for name, says in summary.definitions.items()]
    lines += [
        f"- {counted(n, reason)}: left out" for reason, n in summary.excluded.items()
    ]
    lines += [f"- no {name}: {why}" for name, why in summary.left_out.items()]
    return lines + [f"- {note}" for note in summary.notes]


def to_html(summary: Summary) -> str:
    """Return a table for notebooks, with definitions and notes below."""
    head, rows = _cells(summary)
    sides = "l" * (1 + len(summary.groups)) + "rrrr"
    below = [line.removeprefix("- ") for line in _lines(summary, 0)]
    return html_table(head, rows, sides, below=below)


def to_markdown(summary: Summary) -> str:
    """Return a Markdown table."""
    head, rows = _cells(summary)
    n_left = 1 + len(summary.groups)
    marks = ["---"] * n_left + ["---:"] * (len(head) - n_left)
    lines = [head, marks, *([cell.replace("|", "\\|") for cell in row] for row in rows)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)
