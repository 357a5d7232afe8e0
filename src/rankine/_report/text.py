"""Tables for a terminal: runs side by side, intervals below the numbers, then notes."""

from __future__ import annotations

import io
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, NamedTuple

from rich.box import SIMPLE_HEAD
from rich.console import Console, ConsoleOptions, Group, RenderableType
from rich.table import Table
from rich.text import Text

from rankine._base.text import common_unit, count, plural
from rankine._evaluate.notes import without_name
from rankine._report.export import MetricCell, cells, convention_of, queries_by_metric
from rankine._report.tables import html_table, number, shown

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    import polars as pl

    from rankine._evaluate.result import Evaluation
    from rankine._evaluate.worst import MissedItem, TopItem, Worst, WorstQuery

ENDLESS = 1 << 20
"""The width without a terminal: tables and lines are not broken."""
SIDE_BY_SIDE = 3
"""The most runs that fit side by side with their intervals."""
_GAP = 3
"""Spaces between two columns of a table."""
_MISSED = 10
"""How many missed items of a query are shown."""
_INDENT = 12
"""The column where the items of a query begin."""
_ELSEWHERE = "--json and --csv give the 95 % intervals too."
_NOTES = 5
"""The most notes below a table of many runs."""
_NAMES = 8
"""The most runs named before a note; the rest are counted."""
SEE = "see .notes"
"""How to see the other notes, in Python."""


class _Line(NamedTuple):
    """A warning or a note.

    Attributes:
        mark: the sign before it, ``!`` or ``-``.
        text: the sentence.
        style: the style in which it is printed.
    """

    mark: str
    text: str
    style: str


class Terminal(Console):
    """A console that prints text as it is, and raises if its reader is gone."""

    def __init__(self, *, soft_wrap: bool = False) -> None:
        super().__init__(
            markup=False, highlight=False, soft_wrap=soft_wrap, force_jupyter=False
        )
        if not self.file.isatty():
            self.width = ENDLESS

    def on_broken_pipe(self) -> None:
        """Raise, so that the command can end quietly; rich would exit with an error."""
        raise BrokenPipeError


def to_text(evaluation: Evaluation) -> str:
    """Return one evaluation as plain text."""
    return plain_text(table_of([evaluation]), 100)


def text_of(evaluations: Sequence[Evaluation]) -> str:
    """Return the evaluations of several runs as plain text."""
    return plain_text(table_of(evaluations), 100)


def plain_text(drawn: RenderableType, width: int) -> str:
    """Return what rich would draw as text without colours."""
    console = Console(
        file=io.StringIO(),
        width=width,
        color_system=None,
        legacy_windows=False,
        force_jupyter=False,  # otherwise rich displays the text and writes none
    )
    console.print(drawn)
    printed = console.file.getvalue()  # type: ignore[attr-defined]
    return "\n".join(line.rstrip() for line in printed.rstrip().splitlines())


def plain_lines(lines: Iterable[str], width: int | None) -> str:
    """Return lines as text, wrapped to a width unless it is None."""
    return plain_text(Group(*(Text(shown(line)) for line in lines)), width or ENDLESS)


def table_of(
    evaluations: Sequence[Evaluation], see: str | None = SEE
) -> RenderableType:
    """Return the numbers of all runs, and the notes.

    A few runs stand side by side, with a row per metric and intervals. With many runs,
    each has a row, with a column per metric, and only the first few notes follow.

    Args:
        evaluations: the evaluations of all runs.
        see: how to see the other notes; None to show all of them.
    """
    few = len(evaluations) <= SIDE_BY_SIDE
    body = _by_metric(evaluations) if few else _ByRun(evaluations)
    return Group(body, *_footer(evaluations, None if few else see, intervals=few))


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
        """Yield the tables, separated by empty lines."""
        del console
        for place, columns in enumerate(self._blocks(options.max_width)):
            if place:
                yield Text()
            table = _table(Text())
            for metric, *_ in columns:
                table.add_column(metric, justify="right", no_wrap=True)
            values = zip(*(texts for _, *texts in columns), strict=True)
            for name, row in zip(self._names, values, strict=True):
                table.add_row(name, *row)
            yield table

    def _blocks(self, width: int) -> list[list[list[Text]]]:
        """Return blocks of columns, each of which fits beside the names."""
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
    """Return a table without rows, in which names are never broken."""
    table = Table(box=SIMPLE_HEAD, show_edge=False, pad_edge=False, header_style="bold")
    table.add_column(title, no_wrap=True)
    return table


def table_with(head: Sequence[str], rows: Sequence[Sequence[str]], sides: str) -> Table:
    """Return a table of texts; sides are the alignments of columns, ``l`` or ``r``."""
    table = _table(Text(head[0]))
    for title, side in zip(head[1:], sides[1:], strict=True):
        justify: Literal["left", "right"] = "left" if side == "l" else "right"
        table.add_column(Text(title), justify=justify)
    for row in rows:
        table.add_row(*map(Text, row))
    return table


def _values(compared: Sequence[MetricCell]) -> list[Text]:
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
    evaluations: Sequence[Evaluation], see: str | None, *, intervals: bool
) -> list[RenderableType]:
    sizes = {evaluation.n_queries for evaluation in evaluations}
    unit = common_unit(evaluation.unit for evaluation in evaluations)
    who = count(max(sizes), unit)
    if len(sizes) > 1:
        who = f"{min(sizes):,} to {max(sizes):,} {plural(unit)}"
    who = queries_by_metric(evaluations) or who
    said = _on_intervals(evaluations[0]) if intervals else _ELSEWHERE
    about = f"{who}. {said}" if max(sizes) else f"no {plural(unit)}"
    lines: list[RenderableType] = [Text(about, style="dim")]
    named = convention_of(evaluations[0])  # one for all runs
    if named:
        lines.append(Text(named, style="dim"))
    if len(evaluations) == 1:
        return [*lines, *map(_indented, _remarks(evaluations[0]))]
    by_run = [
        [
            line._replace(text=without_name(line.text, shown(evaluation.name)))
            for line in _remarks(evaluation)
        ]
        for evaluation in evaluations
    ]
    shared = [line for line in by_run[0] if all(line in other for other in by_run)]
    rest = [[line for line in those if line not in shared] for those in by_run]
    names = [shown(evaluation.name) for evaluation in evaluations]
    groups, left = [("all runs", shared), *zip(names, rest, strict=True)], 0
    if see is not None:
        groups, left = _first_lines([("all runs", shared), *_together(names, rest)])
    for title, those in groups:
        if those:
            lines += [Text(title, style="bold"), *map(_indented, those)]
    return [*lines, Text(_further(left, see), style="dim")] if left else lines


def _together(
    names: Sequence[str], by_run: Sequence[Sequence[_Line]]
) -> list[tuple[str, list[_Line]]]:
    """Group lines by the runs that share them."""
    whose: dict[_Line, list[str]] = {}
    for name, lines in zip(names, by_run, strict=True):
        for line in lines:
            whose.setdefault(line, []).append(name)
    groups: dict[str, list[_Line]] = {}
    for line, runs in whose.items():
        more = len(runs) - _NAMES
        others = f" and {more:,} more" if more > 0 else ""
        groups.setdefault(", ".join(runs[:_NAMES]) + others, []).append(line)
    return [*groups.items()]


def _first_lines(
    groups: Sequence[tuple[str, list[_Line]]],
) -> tuple[list[tuple[str, list[_Line]]], int]:
    """Keep all warnings and the first few notes, and count the other notes."""
    n = sum(line.mark == "-" for _, lines in groups for line in lines)
    room = _room(n)
    kept, place = [], 0
    for title, lines in groups:
        some = []
        for line in lines:
            place += line.mark == "-"
            if line.mark == "!" or place <= room:
                some.append(line)
        kept.append((title, some))
    return kept, n - room


def _room(n: int) -> int:
    """Return how many of n notes are shown; a single further one is shown, too."""
    return n if n <= _NOTES + 1 else _NOTES


def _further(n: int, see: str | None) -> str:
    """Say how many more notes there are, and how to see them."""
    return f"{n:,} more notes: {see}"


def first_notes(notes: Sequence[str], see: str) -> list[str]:
    """Return the first few notes, and how many more there are."""
    room = _room(len(notes))
    left = len(notes) - room
    return [*notes[:room], *([_further(left, see)] if left else [])]


def _on_intervals(evaluation: Evaluation) -> str:
    """Explain the intervals below the numbers."""
    if evaluation.n_queries < 2:  # noqa: PLR2004 - one query
        return f"A single {evaluation.unit} has no interval."
    said = f"Below each number is its 95 % interval, {evaluation.spread}."
    facts = [metric.fact for metric in evaluation.metrics]
    whole = [fact.summary == "run" and fact.each is None for fact in facts]
    if not any(whole):
        return said
    if all(whole):
        return "These numbers are for all lists together."
    return f"{said} A number without an interval is for all lists together."


def _remarks(evaluation: Evaluation) -> list[_Line]:
    """Return the warnings and the notes of a run, each with its mark and style."""
    warnings = [_Line("!", shown(text), "yellow") for text in evaluation.warnings]
    return warnings + [_Line("-", shown(note), "") for note in evaluation.notes]


def _indented(line: _Line) -> RenderableType:
    """Return a note or a warning with a hanging indent."""
    mark, text, style = line
    grid = Table.grid(padding=(0, 1, 0, 0), pad_edge=False)
    grid.add_row(Text(f" {mark}", style), Text(text, style))
    return grid


def queries_of(evaluation: Evaluation, values: pl.DataFrame) -> Table:
    """Return a table with a row per query."""
    table = _table(Text(shown(evaluation.name)))
    for label in evaluation.mean:
        table.add_column(Text(label), justify="right", no_wrap=True)
    decimals = [
        0 if metric.fact.summary == "sum" else 4 for metric in evaluation.metrics
    ]
    for query, *numbers in values.iter_rows():
        drawn = [
            "-" if value is None else f"{value:.{digits}f}"
            for value, digits in zip(numbers, decimals, strict=True)
        ]
        table.add_row(Text(shown(query)), *drawn)
    return table


def worst_text(worst: Worst) -> str:
    """Return the worst queries as plain text."""
    return plain_text(worst_of(worst), 80)


def worst_of(worst: Worst) -> RenderableType:
    """Return the queries, each with its value, first items and missed items."""
    parts: list[RenderableType] = [Text(_title(worst), style="bold")]
    for entry in worst:
        head = Text(shown(entry.query), style="bold")
        head.append(f"  {worst.metric} {entry.value:.4f}", style="not bold")
        parts += [Text(), head, *(_Flow(*line) for line in _lines(entry))]
    if not worst.keep:
        said = "Pass keep=10 to evaluate() to see unjudged items too."
        parts += [Text(), Text(said, style="dim")]
    return Group(*parts)


def _title(worst: Worst) -> str:
    of = f"of {count(worst.n_queries, worst.unit)} by {worst.metric}"
    which = "the worst" if len(worst) == 1 else f"the {len(worst)} worst"
    return f"{shown(worst.name)}: {which} {of}"


@dataclass(frozen=True)
class _Flow:
    """A word, and the items after it in lines; no item is broken."""

    word: str
    items: list[str]

    def __rich_console__(
        self, console: Console, options: ConsoleOptions
    ) -> Iterator[Text]:
        del console
        lines = [""]
        for place, item in enumerate(self.items, 1):
            piece = item + ("," if place < len(self.items) else "")
            longer = f"{lines[-1]} {piece}".strip()
            if lines[-1] and _INDENT + len(longer) > options.max_width:
                lines.append(piece)
            else:
                lines[-1] = longer
        for place, line in enumerate(lines):
            head = "" if place else f"    {self.word}"
            yield Text.assemble((head.ljust(_INDENT), "dim"), line)


def _lines(entry: WorstQuery) -> list[tuple[str, list[str]]]:
    """Return the lists of items of a query, each after its word."""
    missed = [_missed(item, entry.looked) for item in entry.missed[:_MISSED]]
    more = len(entry.missed) - len(missed)
    rest = [f"{more:,} more"] if more else []
    return [
        ("first", [*map(_first, entry.top)] or ["nothing"]),
        ("missed", [*missed, *rest] or ["nothing"]),
    ]


def _first(entry: TopItem) -> str:
    grade = "unjudged" if entry.grade is None else f"{entry.grade:g}"
    return f"{entry.rank}. {shown(entry.item)} ({grade})"


def _missed(entry: MissedItem, looked: int | None) -> str:
    where = "not retrieved" if looked is None else f"not in the first {looked}"
    where = where if entry.rank is None else f"at rank {entry.rank}"
    return f"{shown(entry.item)} ({entry.grade:g}) {where}"


def worst_html(worst: Worst) -> str:
    """Return a table for notebooks."""
    rows = (
        (entry.query, number(entry.value), *(items for _, items in _lines(entry)))
        for entry in worst
    )
    head = (worst.unit, worst.metric, "first", "missed")
    return html_table(head, rows, "lrll", caption=_title(worst))
