"""A gate as Markdown, for the summary of a pull request."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from rankine._base.text import plural
from rankine._report.export import markdown_text
from rankine._report.tables import between, markdown_table, shown

if TYPE_CHECKING:
    from collections.abc import Iterable

    from rankine._evaluate.gate.gate import Gate

_HEAD = (
    "metric", "verdict", "baseline", "run", "difference", "interval", "margin", "moved",
)  # fmt: skip


def to_markdown(gate: Gate) -> str:
    """Return verdicts and fallen queries as tables, with warnings and notes."""
    ended = "updated" if gate.updated else f"{gate.verdict}: {_ended(gate)}"
    rows = [
        (
            verdict.metric,
            verdict.verdict,
            f"{verdict.baseline:.4f}",
            f"{verdict.value:.4f}",
            f"{verdict.difference:+.4f}",
            between(verdict.low, verdict.high),
            "" if math.isnan(verdict.margin) else f"{verdict.margin:g}",
            f"{verdict.moved:,} of {verdict.queries:,}",
        )
        for verdict in gate.verdicts
    ]
    fallen = [
        (verdict.metric, query, f"{before:.4f}", f"{after:.4f}")
        for verdict in gate.failed
        for query, before, after in verdict.fell
    ]
    blocks = [
        f"### {_text(gate.path)}: {ended}",
        _table(_HEAD, "ll" + "r" * (len(_HEAD) - 2), rows),
        "\n".join(f"- {_text(sentence)}" for sentence in gate.sentences),
    ]
    if fallen:
        head = "metric", gate.unit, "baseline", "run"
        units = plural(gate.unit).capitalize()
        blocks += [f"{units} that changed most for the worse:"]
        blocks += [_table(head, "llrr", fallen)]
    remarks = (*(f"! {warning}" for warning in gate.warnings), *gate.notes)
    blocks += ["\n".join(f"- {_text(line)}" for line in remarks)]
    return "\n\n".join(filter(None, blocks))


def _ended(gate: Gate) -> str:
    return "passed" if gate.passed else "failed"


def _table(head: Iterable[str], sides: str, rows: Iterable[Iterable[str]]) -> str:
    return markdown_table(head, (map(_text, row) for row in rows), sides)


def _text(text: str) -> str:
    return markdown_text(shown(text))
