"""The check of judgements and a run, as text and HTML."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rankine._base.text import percent, plural
from rankine._report.tables import html_list, html_table, shown

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rankine._evaluate.check import Check

_BAR = 24
_GRADES = 12
"""How many grades are shown."""


def to_text(check: Check) -> str:
    """Return the whole report as lines of text."""
    lines = [f"judgements  {shown(str(check.qrels['name']))}"]
    lines += _pairs(_of_qrels(check))
    lines += _histogram(check.qrels["grades"])
    lines += ["", f"run         {shown(str(check.run['name']))}"]
    lines += _pairs(_of_run(check))
    lines += ["", "together"]
    lines += _pairs(_of_both(check))
    lines.append("")
    if not check.findings:
        lines.append("no problems found")
    for finding in check.findings:
        lines.append(f"{finding.level:<9}{shown(finding.what)}")
        lines.append(f"{'':<9}-> {shown(finding.todo)}")
    return "\n".join(lines)


def to_html(check: Check) -> str:
    """Return tables for notebooks, without script and without style sheets."""
    grades = {
        f"grade {grade}": f"{n:,}"
        for grade, n in list(check.qrels["grades"].items())[:_GRADES]
    }
    others = len(check.qrels["grades"]) - len(grades)
    if others > 0:
        grades["other grades"] = f"{others:,}"
    parts = (
        (f"judgements {check.qrels['name']}", {**_of_qrels(check), **grades}),
        (f"run {check.run['name']}", _of_run(check)),
        ("together", _of_both(check)),
    )
    tables = [
        html_table(
            (title, ""),
            [(word, _number(value)) for word, value in values.items()],
            "lr",
        )
        for title, values in parts
    ]
    findings = [
        [f"{finding.level}: {finding.what}", f"\u2192 {finding.todo}"]
        for finding in check.findings
    ]
    return "".join(tables) + html_list(findings or ["no problems found"])


def _of_qrels(check: Check) -> dict[str, Any]:
    return {
        "rows": check.qrels["rows"],
        plural(check.unit): check.qrels["queries"],
        f"relevant per {check.unit}": _spread(check.qrels["relevant_per_query"]),
    }


def _of_run(check: Check) -> dict[str, Any]:
    units = plural(check.unit)
    tied = f"{units} tied across rank {check.both['k']}"
    return {
        "rows": check.run["rows"],
        units: check.run["queries"],
        f"items per {check.unit}": _spread(check.run["list_length"]),
        "rows in ties": _percent(check.run["tied_rows"]),
        tied: check.run["queries_tied_across_k"],
    }


def _of_both(check: Check) -> dict[str, Any]:
    unjudged = {
        f"unjudged in the top {check.both['k']}": check.both["unjudged_at_k"],
        "unjudged in the lists": check.both["unjudged"],
    }
    shares = {
        word: _percent(share) for word, share in unjudged.items() if share is not None
    }
    units = plural(check.unit)
    return {
        f"{units} in both": check.both["queries_in_both"],
        f"{units} only in judgements": check.both["queries_only_judged"],
        f"{units} only in the run": check.both["queries_only_in_run"],
        "relevant items found": _percent(check.both["relevant_found"]),
        **shares,
    }


def _number(value: object) -> str:
    return f"{value:,}" if isinstance(value, int) else str(value)


def _pairs(values: Mapping[str, Any]) -> list[str]:
    return [f"  {word:<28}{_number(value):>12}" for word, value in values.items()]


def _histogram(grades: Mapping[str, int]) -> list[str]:
    most = max(grades.values(), default=0)
    lines = []
    for grade, n in list(grades.items())[:_GRADES]:
        bar = "#" * max(1, round(_BAR * n / most))
        lines.append(f"  grade {grade:<22}{n:>12,}  {bar}")
    if len(grades) > _GRADES:
        lines.append(f"  and {len(grades) - _GRADES} other grades")
    return lines


def _spread(values: Mapping[str, float] | None) -> str:
    if values is None:
        return "none"
    low, middle, high = values["min"], values["median"], values["max"]
    return f"{low:g}" if low == high else f"{low:g} to {high:g}, median {middle:g}"


def _percent(share: float | None) -> str:
    return "none" if share is None else percent(share, 1)
