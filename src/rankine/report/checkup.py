"""The report on judgements and a run as text."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rankine.report.cells import shown

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rankine.checkup import Check

_BAR = 24


def to_text(found: Check) -> str:
    """Return the whole report as lines of text."""
    lines = [f"judgements  {shown(str(found.qrels['name']))}"]
    lines += _pairs(
        {
            "rows": found.qrels["rows"],
            "queries": found.qrels["queries"],
            "relevant per query": _spread(found.qrels["relevant_per_query"]),
        }
    )
    lines += _histogram(found.qrels["grades"])
    lines += ["", f"run         {shown(str(found.run['name']))}"]
    lines += _pairs(
        {
            "rows": found.run["rows"],
            "queries": found.run["queries"],
            "items per query": _spread(found.run["list_length"]),
            "rows in ties": _percent(found.run["tied_rows"]),
            f"queries tied across rank {found.both['k']}": found.run[
                "queries_tied_across_k"
            ],
        }
    )
    lines += ["", "together"]
    lines += _pairs(
        {
            "queries in both": found.both["queries_in_both"],
            "queries only judged": found.both["queries_only_judged"],
            "queries only in the run": found.both["queries_only_in_run"],
            "relevant items found": _percent(found.both["relevant_found"]),
            f"unjudged in the top {found.both['k']}": _percent(
                found.both["unjudged_at_k"]
            ),
            "unjudged in the lists": _percent(found.both["unjudged"]),
        }
    )
    lines.append("")
    if not found.findings:
        lines.append("nothing to look at")
    for finding in found.findings:
        lines.append(f"{finding.level:<9}{shown(finding.what)}")
        lines.append(f"{'':<9}-> {shown(finding.todo)}")
    return "\n".join(lines)


def _pairs(values: Mapping[str, Any]) -> list[str]:
    return [
        f"  {word:<28}{value:>12,}"
        if isinstance(value, int)
        else f"  {word:<28}{value:>12}"
        for word, value in values.items()
    ]


def _histogram(grades: Mapping[str, int]) -> list[str]:
    most = max(grades.values(), default=0)
    lines = []
    for grade, n in list(grades.items())[:12]:
        bar = "#" * max(1, round(_BAR * n / most))
        lines.append(f"  grade {grade:<22}{n:>12,}  {bar}")
    if len(grades) > 12:  # noqa: PLR2004 - as many as fit
        lines.append(f"  and {len(grades) - 12} other grades")
    return lines


def _spread(values: Mapping[str, float] | None) -> str:
    if values is None:
        return "none"
    low, middle, high = values["min"], values["median"], values["max"]
    return f"{low:g}" if low == high else f"{low:g} to {high:g}, median {middle:g}"


def _percent(share: float | None) -> str:
    return "none" if share is None else f"{share:.1%}"
