"""Tables for a terminal: runs side by side, intervals below the numbers, then notes."""

from __future__ import annotations

import io
import math
from typing import TYPE_CHECKING

from rich.box import SIMPLE_HEAD
from rich.console import Console, Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from rankine.report.cells import Cell, cells, shown
from rankine.words import count

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rankine.result import Evaluation

_WIDTH = 100


def to_text(evaluation: Evaluation) -> str:
    """Return one evaluation as plain text."""
    console = Console(
        file=io.StringIO(),
        width=_WIDTH,
        color_system=None,
        legacy_windows=False,
        force_jupyter=False,  # there, rich would display the text and write none
    )
    console.print(table_of([evaluation]))
    printed = console.file.getvalue()  # type: ignore[attr-defined]
    return "\n".join(line.rstrip() for line in printed.rstrip().splitlines())


def table_of(evaluations: Sequence[Evaluation]) -> RenderableType:
    """Return a table with a row per metric and a column per run, and the notes."""
    columns = [cells(evaluation) for evaluation in evaluations]
    table = Table(box=SIMPLE_HEAD, show_edge=False, pad_edge=False, header_style="bold")
    table.add_column("")
    for evaluation in evaluations:
        table.add_column(Text(shown(evaluation.name)), justify="right")
    for row in zip(*columns, strict=True):
        table.add_row(Text(row[0].metric, style="bold"), *_values(row))
    return Group(table, *_footer(evaluations))


def _values(row: Sequence[Cell]) -> list[Text]:
    """Return the numbers of a row, the best one green, each with its interval."""
    known = [cell.value for cell in row if not math.isnan(cell.value)]
    direction = row[0].higher_is_better
    best = None
    if len(known) > 1 and direction is not None:
        best = max(known) if direction else min(known)
    made = []
    for cell in row:
        style = "green" if best is not None and cell.value == best else ""
        text = Text(cell.number(), style=style)
        if cell.bounds():
            text.append("\n" + cell.bounds(), style="dim")
        made.append(text)
    return made


def _footer(evaluations: Sequence[Evaluation]) -> list[RenderableType]:
    n = len(evaluations[0].table.ids)
    whole = [metric.fact.summary == "run" for metric in evaluations[0].metrics]
    said = "Below each number stands its 95 % interval, by bootstrap over queries."
    if n < 2:  # noqa: PLR2004 - one query
        said = "A single query has no interval."
    elif any(whole):
        alone = "These numbers are" if all(whole) else "A number without interval is"
        said = "" if all(whole) else said
        said = f"{said} {alone} of all lists together.".strip()
    sizes = {len(evaluation.table.ids) for evaluation in evaluations}
    who = count(n, "query")
    if len(sizes) > 1:
        who = f"{min(sizes)} to {max(sizes)} queries"
    lines: list[RenderableType] = [Text(f"{who}. {said}", style="dim")]
    for evaluation in evaluations:
        told = evaluation.notes or evaluation.warnings
        if told and len(evaluations) > 1:
            lines.append(Text(shown(evaluation.name), style="bold"))
        lines += [
            Padding(Text(f"- {shown(note)}"), (0, 0, 0, 1)) for note in evaluation.notes
        ]
        lines += [
            Padding(Text(f"! {shown(text)}", style="yellow"), (0, 0, 0, 1))
            for text in evaluation.warnings
        ]
    return lines


def queries_of(evaluation: Evaluation) -> Table:
    """Return a table with a row per query."""
    table = Table(box=SIMPLE_HEAD, show_edge=False, pad_edge=False, header_style="bold")
    table.add_column(Text(shown(evaluation.name)), no_wrap=True)
    for label in evaluation.mean:
        table.add_column(Text(label), justify="right", no_wrap=True)
    counts = {
        str(metric): metric.fact.summary == "sum" for metric in evaluation.metrics
    }
    for query, *values in evaluation.per_query.iter_rows():
        drawn = [
            _query_value(value, count=count)
            for value, count in zip(values, counts.values(), strict=True)
        ]
        table.add_row(Text(shown(query)), *drawn)
    return table


def _query_value(value: float | None, *, count: bool) -> str:
    if value is None:
        return "-"
    return f"{value:.0f}" if count else f"{value:.4f}"
