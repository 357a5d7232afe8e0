"""Show the tables that examples print as HTML, which wraps where text is cut off.

Results and commands draw their tables with rich, and polars draws frames. The words
and numbers are those that they print, in the same order.
"""

from __future__ import annotations

import contextlib
import html
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING
from unittest import mock

from rich.console import Console
from rich.segment import Segment
from rich.table import Table
from rich.text import Text

from rankine._report.text import ENDLESS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from rich.containers import Lines

# What stands for a table of rich in a text; no example prints such letters itself.
_MARK = "\ue000{}\ue001"
_TABLE = re.compile(
    r"^[ ]*\ue000(?P<place>\d+)\ue001[ ]*$"
    r"|^(?:shape: \((?P<height>[\d_]+), [\d_]+\)\n)?"
    r"┌[─┬]*┐\n(?P<head>(?:│.*│\n)+)╞[═╪]*╡\n(?P<body>(?:│.*│\n)*)└[─┴]*┘$",
    re.MULTILINE,
)
_BORDER = re.compile("[│┆]")
_NUMBERS = re.compile(r"[fiu]\d+|decimal.*")
_WHOLE = re.compile(
    r"\(?[-+\d.]+(?: %)? to [-+\d.]+(?: %)?\)?"  # an interval
    r"|\bp (?:&lt; )?\d[\d.]*"
)
_FEW = 4
"""The most columns that have room beside each other on a telephone."""
WHOLE_FRAMES = {
    "POLARS_FMT_MAX_COLS": "-1",
    "POLARS_FMT_STR_LEN": "200",
    "POLARS_TABLE_WIDTH": "65535",
}
"""Variables that let polars print all columns of a frame, each row on one line."""


@dataclass(frozen=True)
class _Column:
    """The head of a column, the type of its values, and on which side they stand."""

    title: str
    kind: str
    right: bool


@contextlib.contextmanager
def marked_tables() -> Iterator[list[str]]:
    """Let rich draw a mark in place of each table, and collect the tables as HTML.

    It does not break sentences either: the page does, at whatever width it has.
    """
    tables: list[str] = []

    def mark(table: Table, *_: object) -> Iterator[Segment]:
        if table.box is None:  # not a table, but a note beside its dash
            for row in _texts(table):
                yield Segment(f"{' '.join(row)}\n")
        else:
            yield Segment(_MARK.format(len(tables)) + "\n")
            tables.append(_of_rich(table))

    def whole(text: Text, *_: object, **__: object) -> Lines:
        return text.split(allow_blank=True)

    with (
        mock.patch.object(Table, "__rich_console__", mark),
        mock.patch.object(Text, "wrap", whole),
        mock.patch.object(Console, "width", ENDLESS),  # where lines are cut
    ):
        yield tables


def text_and_tables(printed: str, tables: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Yield text and the table that follows it, either of which may be empty."""
    end = 0
    for match in _TABLE.finditer(printed):
        place = match["place"]
        table = _of_frame(match) if place is None else tables[int(place)]
        yield printed[end : match.start()].strip("\n"), table
        end = match.end()
    yield printed[end:].strip("\n"), ""


def _of_rich(table: Table) -> str:
    columns = [
        _Column(_plain(column.header), "", column.justify == "right")
        for column in table.columns
    ]
    return _html(columns, _texts(table))


def _texts(table: Table) -> Iterator[Sequence[str]]:
    """Yield the cells of each row."""
    cells = (map(_plain, column.cells) for column in table.columns)
    return zip(*cells, strict=True)


def _plain(drawn: object) -> str:
    return drawn.plain if isinstance(drawn, Text) else str(drawn)


def _of_frame(match: re.Match[str]) -> str:
    """Return a frame that polars printed: names, types, and its rows."""
    head, body = _rows(match["head"]), _rows(match["body"])
    names, kinds = head[0], head[-1] if len(head) > 1 else [""] * len(head[0])
    columns = [
        _Column(name, kind, _NUMBERS.fullmatch(kind) is not None)
        for name, kind in zip(names, kinds, strict=True)
    ]
    height = match["height"]
    cut = height is not None and int(height) != len(body)
    return _html(columns, body, f"{int(height):,} rows" if cut else "")


def _rows(lines: str) -> list[list[str]]:
    return [
        [cell.strip() for cell in _BORDER.split(line)[1:-1]]
        for line in lines.splitlines()
    ]


def _html(
    columns: Sequence[_Column], rows: Iterable[Sequence[str]], below: str = ""
) -> str:
    """Return a table as one line of HTML, in which Markdown finds no marks."""
    head = "".join(_head(column) for column in columns)
    body = "".join(f"<tr>{_cells(columns, row)}</tr>" for row in rows)
    stacks = " stacks" if len(columns) > _FEW else ""
    ends = f"<p>{below}</p>" if below else ""
    made = (
        f'<div class="printed{stacks}" data-search-exclude="">'
        f'<table class="printed-table"><thead><tr>{head}</tr></thead>'
        f"<tbody>{body}</tbody></table>{ends}</div>"
    )
    return made.replace("$", "&#36;").replace("`", "&#96;")


def _head(column: _Column) -> str:
    kind = f"<small>{html.escape(column.kind)}</small>" if column.kind else ""
    return f"<th{_side(column)}>{_words(column.title)}{kind}</th>"


def _cells(columns: Sequence[_Column], row: Sequence[str]) -> str:
    return "".join(_cell(*pair) for pair in zip(columns, row, strict=True))


def _cell(column: _Column, text: str) -> str:
    """Return a cell; the title of its column stands beside it on a telephone."""
    first, *more = text.split("\n")
    lines = "".join(f"<small>{_words(line)}</small>" for line in more)
    title = html.escape(column.title)
    return f'<td data-title="{title}"{_side(column)}>{_words(first)}{lines}</td>'


def _side(column: _Column) -> str:
    return ' class="right"' if column.right else ""


def _words(text: str) -> str:
    """Escape a text; names may be broken, intervals and p only on narrow screens."""
    made = html.escape(text, quote=False).replace("_", "_<wbr>")
    return _WHOLE.sub(r"<span>\g<0></span>", made)
