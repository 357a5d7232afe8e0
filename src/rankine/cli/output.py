"""What commands print: JSON, tables, and text that fits a terminal."""

from __future__ import annotations

import json
import re
import shlex
import shutil
import sys
import textwrap
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from rankine import __version__

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    import polars as pl

    from rankine._evaluate.result import Evaluation
    from rankine._io.texts import TextFiles

_ROOM = 24
"""Columns that a text has at least behind its lead, however narrow a terminal is."""
_MARKS = re.compile(r"[\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069]")
"""Control and direction marks that JSON holds as they are."""
_BEYOND_ASCII = re.compile(r"[^\x00-\x7e]")
READABLE = 100
"""Columns up to which prose can be read well."""

FILE = click.Path(path_type=Path, readable=False)
"""A path; what opens it says why it cannot be read, with the exit code for data."""
json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON.")
_REPORT = click.option(
    "--report", type=FILE, metavar="FILE",
    help="Write a report too: one HTML file, to be opened in a browser.",
)  # fmt: skip
title_option = click.option(
    "--title", metavar="TEXT", help="The title at the top of the report."
)
notes_option = click.option(
    "--notes", is_flag=True,
    help="Show all notes; of more than three runs, only the first five are shown.",
)  # fmt: skip
SEE_NOTES = "--notes shows all"
"""How to see the other notes, on the command line."""
_TEXTS = (
    click.option(
        "--texts", multiple=True, type=FILE, metavar="FILE",
        help="Texts of queries or items by their ids, to be shown in the report; a "
        "column query_id or item_id says whose they are; repeatable.",
    ),
    click.option(
        "--query-texts", multiple=True, type=FILE, metavar="FILE",
        help="Texts of queries alone; repeatable.",
    ),
    click.option(
        "--item-texts", multiple=True, type=FILE, metavar="FILE",
        help="Texts of items alone; repeatable.",
    ),
)  # fmt: skip
_SECRET = re.compile(r"(?<=://)\S*@|[?#]\S*")
"""The part of a URL that must not be shown, such as a password."""


def report_option(function: Any) -> Any:
    """Give a command --report, and --title, which is refused without it."""

    @wraps(function)
    def with_report(*arguments: Any, **options: Any) -> Any:
        if options["title"] is not None and options["report"] is None:
            msg = "--title is for a report; say where to write it with --report"
            raise click.UsageError(msg)
        return function(*arguments, **options)

    return _REPORT(title_option(with_report))


def table_options(function: Any) -> Any:
    """Give a command --json, --csv and --markdown, as one argument, ``form``."""

    @wraps(function)
    def with_form(*arguments: Any, **options: Any) -> Any:
        asked = [form for form in _FORMS if options.pop(f"as_{form}")]
        if len(asked) > 1:
            msg = "--json, --csv and --markdown cannot be combined"
            raise click.UsageError(msg)
        return function(*arguments, form="".join(asked), **options)

    for form, words in reversed(_FORMS.items()):
        with_form = click.option(f"--{form}", f"as_{form}", is_flag=True, help=words)(
            with_form
        )
    return with_form


_FORMS = {
    "json": "Print JSON.",
    "csv": "Print the table as CSV.",
    "markdown": "Print it as Markdown.",
}


def print_table(
    found: Any, form: str, to_text: Callable[[Any, int | None], str]
) -> None:
    """Print a result in one of the forms of `table_options`, or else as text."""
    if form == "csv":
        click.echo(found.table.write_csv(), nl=False)
    elif form == "markdown":
        click.echo(found.to_markdown())
    elif form == "":
        click.echo(to_text(found, width()))
    elif hasattr(found, "to_json"):
        echo_json(found.to_json())
    else:
        print_json(found.to_dict())


class TextPaths(NamedTuple):
    """Files of texts, by the options that name them."""

    texts: tuple[Path, ...]
    query_texts: tuple[Path, ...]
    item_texts: tuple[Path, ...]

    @property
    def paths(self) -> tuple[Path, ...]:
        """All of them."""
        return (*self.texts, *self.query_texts, *self.item_texts)

    def check_unused(self, why: str) -> None:
        """Refuse files, if there are any, and say why they cannot be used."""
        for name, paths in self._asdict().items():
            if paths:
                msg = f"--{name.replace('_', '-')} {why}"
                raise click.UsageError(msg)


def texts_option(function: Any) -> Any:
    """Give a command the options for files of texts, as one argument."""

    @wraps(function)
    def with_texts(*arguments: Any, **options: Any) -> Any:
        paths = (options.pop(name) for name in TextPaths._fields)
        return function(*arguments, texts=TextPaths(*paths), **options)

    for option in reversed(_TEXTS):
        with_texts = option(with_texts)
    return with_texts


def say(message: str) -> None:
    """Say something on stderr."""
    from rankine._report.tables import shown  # noqa: PLC0415 - --help stays fast

    click.echo(f"rankine: {shown(message)}", err=True)


def print_json(records: dict[str, Any] | list[dict[str, Any]]) -> None:
    """Print a record, or several as a list; there is no bare NaN in it.

    Each says which version of rankine made it; docs/json.md says what else is in the
    records of each command.
    """
    document: Any = [
        {"rankine": __version__, **record}
        for record in (records if isinstance(records, list) else [records])
    ]
    if not isinstance(records, list):
        (document,) = document
    text = json.dumps(
        document, indent=2, ensure_ascii=False, allow_nan=False, default=str
    )
    echo_json(text)


def echo_json(text: str) -> None:
    """Print JSON, with escapes for what a terminal would obey or cannot show."""
    marks = _MARKS
    try:
        text.encode(sys.stdout.encoding or "utf-8")
    except UnicodeEncodeError:
        marks = _BEYOND_ASCII
    click.echo(marks.sub(lambda mark: json.dumps(mark[0])[1:-1], text))


def print_texts(results: Sequence[Any], *, as_json: bool) -> None:
    """Print results as they are written, or as JSON."""
    if as_json:
        print_json([result.to_dict() for result in results])
    else:
        click.echo("\n\n".join(map(str, results)))


def print_tables(
    results: Sequence[Evaluation],
    *,
    per_query: bool,
    worst: int | None = None,
    notes: bool = False,
) -> None:
    """Print every query, if asked for, the numbers, and the worst queries.

    Below a table of many runs are the first few notes, or all of them if asked for.
    """
    from rankine._report.text import (  # noqa: PLC0415 - --help stays fast
        Terminal,
        queries_of,
        table_of,
        worst_of,
    )

    console = Terminal(soft_wrap=per_query)
    for result in results if per_query else ():
        console.print(queries_of(result, values_of(result)))
    console.print(table_of(results, None if notes else SEE_NOTES))
    console = Terminal()
    for result in results if worst is not None else ():
        console.print()
        console.print(worst_of(result.worst(result.metrics[0], worst or 1)))


def values_of(result: Evaluation) -> pl.DataFrame:
    """Return the values of all queries, which come from Spark if they are there."""
    collected: pl.DataFrame | None = getattr(result, "collected", None)
    return result.per_query if collected is None else collected


def record_of(
    result: Evaluation, *, per_query: bool, worst: int | None = None
) -> dict[str, Any]:
    """Return the same as one record."""
    record = result.to_dict()
    if per_query:
        record["per_query"] = values_of(result).to_dicts()
    if worst is not None:
        record["worst"] = result.worst(result.metrics[0], worst).to_dict()
    return record


def texts_of(files: TextPaths, report: Path | None) -> dict[str, TextFiles]:
    """Open the texts that a report shows, by its parameters."""
    if report is None:
        files.check_unused("is shown in a report; say where to write it with --report")
    if not files.paths:
        return {}
    from rankine._io.texts import ITEMS, QUERIES, TextFiles  # noqa: PLC0415 - --help stays fast

    whose = {"texts": None, "query_texts": QUERIES, "item_texts": ITEMS}
    return {
        name: TextFiles(paths, whose[name])
        for name, paths in files._asdict().items()
        if paths
    }


def write_report(
    result: Any, path: Path | None, files: Iterable[Any] = (), **more: Any
) -> None:
    """Write the report of a result, if one is wanted, and say where it is.

    Args:
        result: what has a report.
        path: where it is written; None if none is wanted.
        files: what was read; the report shows the hashes of those that are files.
        more: what else the report takes.
    """
    if path is None:
        return
    read = [file for file in files if file is not None and Path(file).is_file()]
    words = click.get_current_context().obj or ()
    command = typed(words) if words else None
    result.report(path, command=command, files=read, **more)
    say(f"wrote {path}")


def write_table(table: pl.DataFrame, path: Path) -> None:
    """Write a table, as CSV if the name of the file says so and else as Parquet."""
    from io import BytesIO  # noqa: PLC0415 - --help stays fast

    from rankine._base.paths import write_whole  # noqa: PLC0415

    content = BytesIO()
    if path.suffix.lower() == ".csv":
        table.write_csv(content)
    else:
        table.write_parquet(content)
    write_whole(path, content.getvalue())
    say(f"wrote {path}")


def typed(words: Iterable[str]) -> str:
    """Return a command as it was typed, without the passwords of servers.

    >>> typed(["online", "postgresql://me:secret@host/shop", "--sql", "select 1"])
    "rankine online postgresql://host/shop --sql 'select 1'"
    """
    clean = (_SECRET.sub("", word) if "://" in word else word for word in words)
    return shlex.join(["rankine", *clean])


def width() -> int | None:
    """Return the columns of the terminal, None where the output is piped elsewhere."""
    return shutil.get_terminal_size().columns if sys.stdout.isatty() else None


def paragraph(lead: str, text: str, columns: int | None, hang: int = 0) -> list[str]:
    """Return text after a lead, with further lines aligned to its first word.

    Args:
        lead: what comes before the text.
        text: the text.
        columns: how many there are; None if lines may have any length.
        hang: how much further the lines below are indented.

    >>> paragraph("- ", "a note that does not fit into one line", 28)
    ['- a note that does not fit', '  into one line']
    """
    if columns is None:
        return [f"{lead}{text}".rstrip()]
    below = " " * (len(lead) + hang)
    return textwrap.wrap(
        text,
        max(columns, len(below) + _ROOM),
        initial_indent=lead,
        subsequent_indent=below,
        break_long_words=False,
        break_on_hyphens=False,
    ) or [lead.rstrip()]


def fitted(text: str) -> str:
    """Wrap lines to the terminal; those of a note stand below each other."""
    from rankine._report.tables import shown  # noqa: PLC0415 - --help stays fast

    columns = width()
    lines = []
    for line in map(shown, text.splitlines()):
        hang = 2 if line.startswith(("! ", "- ")) else 4
        lines += paragraph("", line, columns, hang)
    return "\n".join(lines)


def reflowed(text: str, columns: int | None, indent: str = "  ") -> list[str]:
    """Return paragraphs, which blank lines separate, each wrapped anew.

    Examples of Python and lines that begin with blanks stay as they are.
    """
    if columns is None:
        return textwrap.indent(text, indent).splitlines()
    lines: list[str] = []
    for block in text.split("\n\n"):
        fixed = any(line.startswith((">>> ", " ")) for line in block.splitlines())
        lines += [""] if lines else []
        lines += (
            textwrap.indent(block, indent).splitlines()
            if fixed
            else paragraph(indent, " ".join(block.split()), columns)
        )
    return lines
