"""Online metrics and funnels as text, HTML and Markdown."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date
from typing import TYPE_CHECKING, Any

from rankine._online.funnel import Funnel
from rankine._online.oddities import counted
from rankine._online.times import moment_text
from rankine._report.tables import between, html_table, markdown_table, number, shown
from rankine._report.text import ENDLESS, plain_lines, plain_text, table_with

if TYPE_CHECKING:
    from rankine._online.rates import Rate
    from rankine._online.summary import Summary

_WIDTH = 100
_ROWS = 200
"""The most rows shown; `table` has all of them."""


def rate_text(rate: Rate) -> str:
    """Return the number, its interval, and the notes."""
    bounds = between(*rate.interval)
    sure = f", {100 * rate.confidence:g} % interval {bounds}" if bounds else ""
    n = "" if rate.n is None else f", n = {rate.n:,}"
    lines = [f"{rate.metric}: {number(rate.value)}{sure}{n}"]
    return "\n".join([*lines, *(f"- {shown(note)}" for note in rate.notes)])


def to_text(result: Summary | Funnel, width: int | None = _WIDTH) -> str:
    """Return the table, the definitions of its metrics or columns, and the notes.

    Sentences are wrapped to a width, unless it is None; the table stays whole.
    """
    head, rows, sides = _cells(result)
    table = plain_text(table_with(head, rows[:_ROWS], sides), ENDLESS)
    return f"{table}\n{plain_lines(_lines(result, len(rows)), width)}"


def _cells(result: Summary | Funnel) -> tuple[list[str], list[list[str]], str]:
    """Return the titles, the rows, and the alignment of the columns."""
    bounds = f"{100 * result.confidence:g} % interval"
    groups = [shown(group) for group in result.groups]
    rows = []
    if isinstance(result, Funnel):
        head = [*groups, "step", "users", "rate", bounds, "of_first", bounds]
        for row in result.table.iter_rows():
            *group, step, users, rate, low, high, first, least, most = row
            cells = [number(rate), between(low, high)]
            cells += [number(first), between(least, most)]
            rows.append([*_names(group), shown(step), f"{users:,}", *cells])
    else:
        head = ["metric", *groups, "value", bounds, "n", "users"]
        for metric, *group, value, low, high, n, users in result.table.iter_rows():
            cells = [number(value), between(low, high), f"{n:,}", f"{users:,}"]
            rows.append([metric, *_names(group), *cells])
    n_left = 1 + len(groups)
    return head, rows, "l" * n_left + "r" * (len(head) - n_left)


def every_in(summary: Summary) -> str | None:
    """Return the column of days, weeks or hours; None if there is none."""
    types = summary.table.schema
    return next((name for name in summary.groups if types[name].is_temporal()), None)


def group_text(name: Any) -> str:
    """Return the name of a group, or its day, week or hour."""
    if name is None:
        return "-"
    return moment_text(name) if isinstance(name, date) else str(name)


def _names(group: list[object]) -> list[str]:
    return [shown(group_text(name)) for name in group]


def _lines(result: Summary | Funnel, n_rows: int) -> list[str]:
    lines = [f"{result.events:,} events read."]
    if n_rows > _ROWS:
        more = f"{n_rows - _ROWS:,} more rows: see .table, --csv or --json."
        lines = [more, *lines]
    lines += [f"{name} = {says}" for name, says in result.definitions.items()]
    if not isinstance(result, Funnel):
        lines += settings_text(result.settings)
    lines += [
        f"- {counted(n, reason)}: left out" for reason, n in result.excluded.items()
    ]
    if not isinstance(result, Funnel):
        lines += [f"- no {name}: {why}" for name, why in result.left_out.items()]
    return lines + [f"- {note}" for note in result.notes]


def choice_text(value: Any) -> str:
    """Return the value of an option in words.

    >>> choice_text(["click", "share"]), choice_text({"ctr": "2%"}), choice_text(None)
    ('click, share', 'ctr 2%', 'none')
    """
    if isinstance(value, Mapping):
        value = [f"{name} {part}" for name, part in value.items()]
    if isinstance(value, list):
        value = ", ".join(map(str, value)) or None
    return "none" if value is None else str(value)


def settings_text(settings: Mapping[str, Any]) -> list[str]:
    """Return a line with the options given for the log, or no line without any."""
    each = [f"{name} = {choice_text(value)}" for name, value in settings.items()]
    return [f"settings: {'; '.join(each)}"] * bool(each)


def to_html(result: Summary | Funnel) -> str:
    """Return a table for notebooks, with definitions and notes below."""
    head, rows, sides = _cells(result)
    below = [line.removeprefix("- ") for line in _lines(result, 0)]
    return html_table(head, rows, sides, below=below)


def to_markdown(result: Summary | Funnel) -> str:
    """Return a Markdown table."""
    head, rows, sides = _cells(result)
    return markdown_table(head, escaped(rows), sides)


def escaped(rows: list[list[str]]) -> list[list[str]]:
    """Return cells without the mark that ends a cell in Markdown."""
    return [[cell.replace("|", "\\|") for cell in row] for row in rows]
