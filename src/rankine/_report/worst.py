"""The worst queries of a metric, as text and for notebooks."""

from __future__ import annotations

import html
import io
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rich.console import Console, ConsoleOptions, Group, RenderableType
from rich.text import Text

from rankine._base.text import count
from rankine._report.cells import shown

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rankine._evaluate.worst import MissedItem, TopItem, Worst, WorstQuery

_WIDTH = 80
_MISSED = 10
"""How many missed items of a query are shown."""
_INDENT = 12
"""Where items begin."""


def to_text(worst: Worst) -> str:
    """Return the queries as plain text."""
    console = Console(
        file=io.StringIO(), width=_WIDTH, color_system=None, legacy_windows=False
    )
    console.print(drawn(worst))
    printed = console.file.getvalue()  # type: ignore[attr-defined]
    return "\n".join(line.rstrip() for line in printed.rstrip().splitlines())


def drawn(worst: Worst) -> RenderableType:
    """Return the queries, each with its value, first items and missed items."""
    parts: list[RenderableType] = [Text(_title(worst), style="bold")]
    for one in worst:
        head = Text(shown(one.query), style="bold")
        head.append(f"  {worst.metric} {one.value:.4f}", style="not bold")
        parts += [Text(), head, *(_Flow(*line) for line in _lines(one))]
    if not worst.keep:
        said = "To see items that are not judged too, give keep=10 to evaluate()."
        parts += [Text(), Text(said, style="dim")]
    return Group(*parts)


def _title(worst: Worst) -> str:
    of = f"of {count(worst.n_queries, 'query')} by {worst.metric}"
    which = "the worst" if len(worst) == 1 else f"the {len(worst)} worst"
    return f"{shown(worst.name)}: {which} {of}"


@dataclass(frozen=True)
class _Flow:
    """A word, and items that follow it in lines, of which none is broken."""

    word: str
    items: list[str]

    def __rich_console__(
        self, console: Console, options: ConsoleOptions
    ) -> Iterator[Text]:
        del console
        lines = [""]
        for number, item in enumerate(self.items, 1):
            piece = item + ("," if number < len(self.items) else "")
            longer = f"{lines[-1]} {piece}".strip()
            if lines[-1] and _INDENT + len(longer) > options.max_width:
                lines.append(piece)
            else:
                lines[-1] = longer
        for number, line in enumerate(lines):
            head = "" if number else f"    {self.word}"
            yield Text.assemble((head.ljust(_INDENT), "dim"), line)


def _lines(one: WorstQuery) -> list[tuple[str, list[str]]]:
    """Return what is said of a query, by the word it begins with."""
    missed = [_missed(item, one.looked) for item in one.missed[:_MISSED]]
    more = len(one.missed) - len(missed)
    rest = [f"{more:,} more"] if more else []
    return [
        ("first", [*map(_first, one.top)] or ["nothing"]),
        ("missed", [*missed, *rest] or ["nothing"]),
    ]


def _first(one: TopItem) -> str:
    grade = "unjudged" if one.grade is None else f"{one.grade:g}"
    return f"{one.rank}. {shown(one.item)} ({grade})"


def _missed(one: MissedItem, looked: int | None) -> str:
    where = "not retrieved" if looked is None else f"not in the first {looked}"
    where = where if one.rank is None else f"at rank {one.rank}"
    return f"{shown(one.item)} ({one.grade:g}) {where}"


def to_html(worst: Worst) -> str:
    """Return a table for notebooks, without script and without style sheets."""
    rows = "".join(
        "<tr>"
        f"<th style='text-align:left'>{html.escape(shown(one.query))}</th>"
        f"<td style='text-align:right'>{one.value:.4f}</td>"
        + "".join(
            f"<td style='text-align:left'>{html.escape(', '.join(items))}</td>"
            for _, items in _lines(one)
        )
        + "</tr>"
        for one in worst
    )
    head = "".join(
        f"<th style='text-align:left'>{html.escape(word)}</th>"
        for word in ("query", worst.metric, "first", "missed")
    )
    return (
        f"<table><caption>{html.escape(_title(worst))}</caption>"
        f"<thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"
    )
