"""Reconciliations as text, HTML and plain data."""

from __future__ import annotations

import math
import textwrap
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from rankine._base.text import count
from rankine._conventions.tools import TOOLS
from rankine._evaluate.summary import finite
from rankine._evaluate.worst import plain
from rankine._report.tables import html_table, number, shown

if TYPE_CHECKING:
    from rankine._evaluate.reconcile.explanation import EqualRows, Explanation, Step
    from rankine._evaluate.reconcile.reconcile import Reconciliation

_WIDTH = 80
_DECIMALS = 4
_MOST_DECIMALS = 12
_NUMBERS = ("value_before", "value_after", "query_before", "query_after")
"""Fields of a step that hold a number or None."""


def to_text(reconciliation: Reconciliation) -> str:
    """Return a paragraph per number: the tools that give it, and why it differs."""
    lines = [reconciliation.label, ""]
    decimals = _decimals(reconciliation)
    values = [_number(group.value, decimals) for group in reconciliation.groups]
    width = max([decimals + 3, *map(len, values)])
    for group, value in zip(reconciliation.groups, values, strict=True):
        names = ", ".join(_title(name) for name in group.conventions)
        lines += _paragraph(f"{value:>{width}}  ", names)
        lead = " " * (width + 2)
        for reason in _reasons(group):
            lines += _paragraph(lead, reason, hang=2)
    silent = [row for row in reconciliation.rows if row.value is None]
    for why in dict.fromkeys(row.why for row in silent):
        names = ", ".join(_title(row.convention) for row in silent if row.why == why)
        lines += _paragraph(f"{'-':>{width}}  ", f"{names}: {shown(why)}")
    warnings = _warnings(reconciliation)
    if warnings:
        lines.append("")
    for line in warnings:
        lines += _paragraph("  ! ", shown(line))
    return "\n".join(lines)


def _warnings(reconciliation: Reconciliation) -> list[str]:
    """Return the warnings; one that holds for several tools names them all."""
    rest: dict[str, list[str]] = {}
    for row in reconciliation.rows:
        title = _title(row.convention)
        for line in row.warnings:
            rest.setdefault(line.removeprefix(title), []).append(title)
    return [", ".join(titles) + line for line, titles in rest.items()]


def _paragraph(lead: str, text: str, hang: int = 0) -> list[str]:
    below = " " * (len(lead) + hang)
    return textwrap.wrap(text, _WIDTH, initial_indent=lead, subsequent_indent=below)


def _title(name: str) -> str:
    return TOOLS[name].title


def _decimals(reconciliation: Reconciliation) -> int:
    """Return how many decimals it takes to tell the groups apart."""
    values = [
        group.value for group in reconciliation.groups if math.isfinite(group.value)
    ]
    for decimals in range(_DECIMALS, _MOST_DECIMALS):
        if len({round(value, decimals) for value in values}) == len(values):
            return decimals
    return _MOST_DECIMALS


def _number(value: float | None, decimals: int = _DECIMALS) -> str:
    return "none" if value is None else number(value, decimals)


def explanation_text(explanation: Explanation) -> str:
    """Return a line per choice that changes the number."""
    first = f"{_title(explanation.first)} {_number(explanation.value_first)}"
    second = f"{_title(explanation.second)} {_number(explanation.value_second)}"
    lines = [f"{explanation.label}: {first}, {second}"]
    for step in explanation.steps:
        lines += _paragraph("  ", f"{_arrow(step)}  {step.field}: {step.words}", hang=4)
        if step.query is not None:
            lines.append(
                f"      most for {shown(step.query)}: {_entry(step.query_before)} -> "
                f"{_entry(step.query_after)}"
            )
    if not explanation.steps:
        lines.append("  no choice changes the number on these data")
    if explanation.unmoved:
        n = count(len(explanation.unmoved), "other choice")
        text = f"{n} without effect here: {', '.join(explanation.unmoved)}"
        lines += _paragraph("  ", text, hang=4)
    return "\n".join(lines)


def _arrow(step: Step) -> str:
    change = "" if math.isnan(step.change) else f" ({step.change:+.4f})"
    return f"{_number(step.value_before)} -> {_number(step.value_after)}{change}"


def _entry(value: float | None) -> str:
    return "left out" if value is None else f"{value:.4f}"


def to_html(reconciliation: Reconciliation) -> str:
    """Return a table for notebooks: a row per number, tools without one below."""
    decimals = _decimals(reconciliation)
    rows = [
        (
            _number(group.value, decimals),
            ", ".join(map(_title, group.conventions)),
            _reasons(group),
        )
        for group in reconciliation.groups
    ]
    silent = [
        f"{_title(row.convention)}: {row.why}"
        for row in reconciliation.rows
        if row.value is None
    ]
    head = (reconciliation.label, "given by", "because it")
    return html_table(head, rows, "rll", below=silent)


def _reasons(group: EqualRows) -> list[str]:
    """Return the choices behind a group's number, by tool if tools differ in them."""
    several = len(group.reasons) > 1
    return [
        (", ".join(map(_title, who)) + ": " if several else "") + "; ".join(words)
        for words, who in group.reasons.items()
    ]


def to_dict(reconciliation: Reconciliation) -> dict[str, Any]:
    """Return the rows and the groups as plain data."""
    return {
        "metric": str(reconciliation.metric),
        "rows": [
            {
                "convention": row.convention,
                "tool": _title(row.convention),
                "value": finite(row.value),
                "why": row.why,
                "warnings": list(row.warnings),
            }
            for row in reconciliation.rows
        ],
        "groups": [
            {
                "value": finite(group.value),
                "conventions": list(group.conventions),
                "because": {key: list(words) for key, words in group.because.items()},
            }
            for group in reconciliation.groups
        ],
    }


def explanation_dict(explanation: Explanation) -> dict[str, Any]:
    """Return the steps as plain data."""
    return {
        "metric": str(explanation.metric),
        "first": explanation.first,
        "second": explanation.second,
        "value_first": finite(explanation.value_first),
        "value_second": finite(explanation.value_second),
        "steps": [
            asdict(step)
            | {key: _plain(getattr(step, key)) for key in ("before", "after", "query")}
            | {key: finite(getattr(step, key)) for key in _NUMBERS}
            for step in explanation.steps
        ],
        "unmoved": list(explanation.unmoved),
    }


def _plain(value: Any) -> Any:
    value = plain(value)
    return str(value) if isinstance(value, float) and math.isinf(value) else value
