"""Tables for a terminal: runs side by side, intervals below the numbers, then notes."""

from __future__ import annotations

import io
import math
from typing import TYPE_CHECKING

from rich.box import SIMPLE_HEAD
from rich.console import Console, ConsoleOptions, Group, RenderableType
from rich.table import Table
from rich.text import Text

from rankine._base.text import count
from rankine._report.cells import Cell, cells, shown

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rankine._evaluate.result import Evaluation

_WIDTH = 100
_SIDE_BY_SIDE = 3
"""Runs that have room beside each other, with their intervals."""
_GAP = 3
"""Columns between two columns of a table."""
_ELSEWHERE = "--json and --csv give the 95 % intervals too."


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
    """Return the numbers of all runs, and the notes.

    A few runs stand side by side, with a row per metric and intervals; of many, each
    has its row, with a column per metric.
    """
    few = len(evaluations) <= _SIDE_BY_SIDE
    body = _by_metric(evaluations) if few else _ByRun(evaluations)
    return Group(body, *_footer(evaluations, intervals=few))


def _by_metric(evaluations: Sequence[Evaluation]) -> Table:
    columns = [cells(evaluation) for evaluation in evaluations]
    table = _table(Text())
    for evaluation in evaluations:
        table.add_column(Text(shown(evaluation.name)), justify="right")
    for row in zip(*columns, strict=True):
        values = _values(row)
        for text, cell in zip(values, row, strict=True):
            if cell.bounds():
                text.append("\n" + cell.bounds(), style="dim")
        table.add_row(Text(row[0].metric, style="bold"), *values)
    return table


class _ByRun:
    """A row per run and a column per metric, in as many tables as the width needs."""

    def __init__(self, evaluations: Sequence[Evaluation]) -> None:
        self._names = [Text(shown(evaluation.name)) for evaluation in evaluations]
        rows = [cells(evaluation, intervals=False) for evaluation in evaluations]
        self._columns = [
            [Text(column[0].metric), *_values(column)]
            for column in zip(*rows, strict=True)
        ]

    def __rich_console__(
        self, console: Console, options: ConsoleOptions
    ) -> Iterator[RenderableType]:
        """Yield the tables, with an empty line between them."""
        del console
        for number, columns in enumerate(self._blocks(options.max_width)):
            if number:
                yield Text()
            table = _table(Text())
            for metric, *_ in columns:
                table.add_column(metric, justify="right", no_wrap=True)
            values = zip(*(texts for _, *texts in columns), strict=True)
            for name, row in zip(self._names, values, strict=True):
                table.add_row(name, *row)
            yield table

    def _blocks(self, width: int) -> list[list[list[Text]]]:
        """Return the columns that fit beside the names, one after the other."""
        room = width - max(name.cell_len for name in self._names)
        blocks: list[list[list[Text]]] = []
        left = 0
        for column in self._columns:
            wide = _GAP + max(text.cell_len for text in column)
            if not blocks or wide > left:
                blocks.append([])
                left = room
            blocks[-1].append(column)
            left -= wide
        return blocks


def _table(title: Text) -> Table:
    """Return a table without rows; names stay whole, in whatever width."""
    table = Table(box=SIMPLE_HEAD, show_edge=False, pad_edge=False, header_style="bold")
    table.add_column(title, no_wrap=True)
    return table


def _values(compared: Sequence[Cell]) -> list[Text]:
    """Return the numbers of a metric in all runs, the best one green."""
    known = [cell.value for cell in compared if not math.isnan(cell.value)]
    direction = compared[0].higher_is_better
    best = None
    if len(known) > 1 and direction is not None:
        best = max(known) if direction else min(known)
    return [
        Text(
            cell.number(),
            style="green" if best is not None and cell.value == best else "",
        )
        for cell in compared
    ]


def _footer(
    evaluations: Sequence[Evaluation], *, intervals: bool
) -> list[RenderableType]:
    sizes = {len(evaluation.table.ids) for evaluation in evaluations}
    who = count(max(sizes), "query")
    if len(sizes) > 1:
        who = f"{min(sizes)} to {max(sizes)} queries"
    said = _on_intervals(evaluations[0]) if intervals else _ELSEWHERE
    lines: list[RenderableType] = [Text(f"{who}. {said}", style="dim")]
    told = [_told(evaluation) for evaluation in evaluations]
    if len(told) == 1:
        return [*lines, *map(_indented, told[0])]
    shared = [line for line in told[0] if all(line in other for other in told)]
    titles = ["all runs", *(shown(evaluation.name) for evaluation in evaluations)]
    own = [[line for line in those if line not in shared] for those in told]
    for title, those in zip(titles, (shared, *own), strict=True):
        if those:
            lines += [Text(title, style="bold"), *map(_indented, those)]
    return lines


def _on_intervals(evaluation: Evaluation) -> str:
    """Say what stands below the numbers."""
    if len(evaluation.table.ids) < 2:  # noqa: PLR2004 - one query
        return "A single query has no interval."
    said = "Below each number is its 95 % interval, by bootstrap over queries."
    whole = [metric.fact.summary == "run" for metric in evaluation.metrics]
    if not any(whole):
        return said
    if all(whole):
        return "These numbers are for all lists together."
    return f"{said} A number without an interval is for all lists together."


def _told(evaluation: Evaluation) -> list[tuple[str, str, str]]:
    """Return the warnings and the notes of a run, each with its mark and style."""
    warnings = [("!", shown(text), "yellow") for text in evaluation.warnings]
    return warnings + [("-", shown(note), "") for note in evaluation.notes]


def _indented(line: tuple[str, str, str]) -> RenderableType:
    """Return a note or a warning whose lines stand below its first word."""
    mark, text, style = line
    grid = Table.grid(padding=(0, 1, 0, 0), pad_edge=False)
    grid.add_row(Text(f" {mark}", style), Text(text, style))
    return grid


def queries_of(evaluation: Evaluation) -> Table:
    """Return a table with a row per query."""
    table = _table(Text(shown(evaluation.name)))
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
