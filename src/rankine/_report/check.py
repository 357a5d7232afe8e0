"""The report on judgements and a run as text."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rankine._report.tables import html_list, html_table, shown

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rankine._evaluate.check import Check

_BAR = 24
_GRADES = 12
"""As many grades as are shown."""


def to_text(found: Check) -> str:
    """Return the whole report as lines of text."""
    lines = [f"judgements  {shown(str(found.qrels['name']))}"]
    lines += _pairs(_of_qrels(found))
    lines += _histogram(found.qrels["grades"])
    lines += ["", f"run         {shown(str(found.run['name']))}"]
    lines += _pairs(_of_run(found))
    lines += ["", "together"]
    lines += _pairs(_of_both(found))
    lines.append("")
    if not found.findings:
        lines.append("no problems found")
    for finding in found.findings:
        lines.append(f"{finding.level:<9}{shown(finding.what)}")
        lines.append(f"{'':<9}-> {shown(finding.todo)}")
    return "\n".join(lines)


def to_html(found: Check) -> str:
    """Return tables for notebooks, without script and without style sheets."""
    grades = {
        f"grade {grade}": f"{n:,}"
        for grade, n in list(found.qrels["grades"].items())[:_GRADES]
    }
    others = len(found.qrels["grades"]) - len(grades)
    if others > 0:
        grades["other grades"] = f"{others:,}"
    parts = (
        (f"judgements {found.qrels['name']}", {**_of_qrels(found), **grades}),
        (f"run {found.run['name']}", _of_run(found)),
        ("together", _of_both(found)),
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
        for finding in found.findings
    ]
    return "".join(tables) + html_list(findings or ["no problems found"])


def _of_qrels(found: Check) -> dict[str, Any]:
    return {
        "rows": found.qrels["rows"],
        "queries": found.qrels["queries"],
        "relevant per query": _spread(found.qrels["relevant_per_query"]),
    }


def _of_run(found: Check) -> dict[str, Any]:
    tied = f"queries tied across rank {found.both['k']}"
    return {
        "rows": found.run["rows"],
        "queries": found.run["queries"],
        "items per query": _spread(found.run["list_length"]),
        "rows in ties": _percent(found.run["tied_rows"]),
        tied: found.run["queries_tied_across_k"],
    }


def _of_both(found: Check) -> dict[str, Any]:
    unjudged = {
        f"unjudged in the top {found.both['k']}": found.both["unjudged_at_k"],
        "unjudged in the lists": found.both["unjudged"],
    }
    told = {word: _percent(own) for word, own in unjudged.items() if own is not None}
    return {
        "queries in both": found.both["queries_in_both"],
        "queries only judged": found.both["queries_only_judged"],
        "queries only in the run": found.both["queries_only_in_run"],
        "relevant items found": _percent(found.both["relevant_found"]),
        **told,
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
    return "none" if share is None else f"{share:.1%}"
