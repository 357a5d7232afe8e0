"""Options that say how files are read, shared by the commands that read some."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

import click

if TYPE_CHECKING:
    from pathlib import Path

    from rankine._io.options import Reading
    from rankine._io.sources import Source

F = TypeVar("F", bound=Callable[..., Any])


def pairs(
    _: click.Context, parameter: click.Parameter, values: tuple[str, ...]
) -> dict[str, str]:
    """Read NAME=VALUE, several times."""
    found = {}
    for text in values:
        # The last sign, as a metric may have some: P(rel=2)@5=0.4.
        key, sign, value = text.rpartition("=")
        if not sign or not key or not value:
            msg = f"expected NAME=VALUE, got {text!r}"
            raise click.BadParameter(msg, param=parameter)
        found[key] = value
    return found


_UNITS = {"": 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30, "t": 1 << 40}


def _size(
    _: click.Context, parameter: click.Parameter, value: str | None
) -> int | None:
    """Read a number of bytes: 1000000, 64M, 2G."""
    if value is None:
        return None
    text = value.strip().casefold().removesuffix("b").removesuffix("i")
    number, unit = text.rstrip("kmgt"), text[len(text.rstrip("kmgt")) :]
    whole = number.isascii() and number.isdigit() and len(number) < 19  # noqa: PLR2004
    if not whole or unit not in _UNITS or int(number) == 0:
        msg = f"expected a number of bytes such as 500M or 2G, got {value!r}"
        raise click.BadParameter(msg, param=parameter)
    return int(number) * _UNITS[unit]


_OPTIONS = (
    click.option(
        "--col", "columns", multiple=True, callback=pairs, metavar="PART=COLUMN",
        help="Which column is the query, item, grade, score or rank: by its name, or "
        "by its number from 1 if there is no header; - if there is none; repeatable, "
        "and for one file as qrels.item=COLUMN or run.item=COLUMN.",
    ),
    click.option(
        "--format", "formats", multiple=True, metavar="NAME",
        help="trec, trec-loose, msmarco, csv, tsv, beir, movielens, recbole, parquet, "
        "arrow, json or ndjson, for all files; or qrels=NAME, run=NAME.",
    ),
    click.option(
        "--encoding", metavar="NAME", help="Of text that is not UTF-8, such as latin-1."
    ),
    click.option(
        "--grades", metavar="WORD=N,...",
        help="What each grade in words is worth: --grades Viewed=0,Clicked=1.",
    ),
    click.option(
        "--lower-is-better", is_flag=True, help="Scores are distances, smallest first."
    ),
    click.option(
        "--max-bytes", callback=_size, metavar="SIZE",
        help="The most that a file may hold, unpacked: 500M, 2G; 64G if not given.",
    ),
    click.option("-v", "--verbose", is_flag=True, help="Say how files were read."),
)  # fmt: skip


def reading(function: F) -> F:
    """Give a command the options that say how files are read."""
    for option in reversed(_OPTIONS):
        function = option(function)
    return function


_OF_TRUTH = frozenset({"lenient", "subtopics"})


def reader(
    *,
    columns: dict[str, str],
    formats: tuple[str, ...],
    encoding: str | None,
    grades: str | None,
    lower_is_better: bool,
    max_bytes: int | None,
    **more: Any,
) -> Callable[[str], Reading]:
    """Return what says, for "qrels" and for "run", how it is to be read."""
    from rankine._io.options import MAX_BYTES, Reading  # noqa: PLC0415

    named = {}
    for text in formats:
        role, sign, name = text.rpartition("=")
        if sign and role not in {"qrels", "run"}:
            msg = f"--format takes NAME, qrels=NAME or run=NAME, got {text!r}"
            raise click.UsageError(msg)
        named[role] = name

    def how(role: str) -> Reading:
        truth = role == "qrels"
        return Reading(
            format=named.get(role, named.get("")),
            columns=_columns_of(role, columns),
            grades=worth(grades) if truth else None,
            encoding=encoding,
            max_bytes=max_bytes or MAX_BYTES,
            lower_is_better=lower_is_better and not truth,
            **{key: own for key, own in more.items() if not truth or key in _OF_TRUTH},
        )

    return how


def _columns_of(role: str, columns: dict[str, str]) -> dict[str, str]:
    """Return the columns that are meant for all files, and those for this one."""
    made = {part: name for part, name in columns.items() if "." not in part}
    made.pop("features", None)  # which is meant for --items
    for part, name in columns.items():
        owner, dot, own = part.partition(".")
        if dot and owner not in {"qrels", "run"}:
            msg = (
                f"--col takes PART=COLUMN, qrels.PART=... or run.PART=..., got {part!r}"
            )
            raise click.UsageError(msg)
        if dot and owner == role:
            made[own] = name
    return made


def worth(text: str | None) -> dict[str, float] | None:
    """Read what each grade in words is worth."""
    if text is None:
        return None
    found = {}
    for entry in text.split(","):
        word, sign, number = entry.partition("=")
        try:
            found[word.strip()] = float(number)
        except ValueError:
            sign = ""
        if not sign or not word.strip():
            msg = f"--grades expects WORD=NUMBER,..., got {entry.strip()!r}"
            raise click.UsageError(msg) from None
    return found


def refuse_stdin_twice(*paths: Path) -> None:
    """Standard input can be read once only."""
    if sum(str(path) in {"-", "/dev/stdin"} for path in paths) > 1:
        msg = "standard input (-) is named more than once; it can be read only once"
        raise click.UsageError(msg)


def say_how(sources: list[Source]) -> None:
    """Say on stderr what files were found to be."""
    from rankine._report.cells import shown  # noqa: PLC0415

    for source in sources:
        kind = getattr(source, "kind", "")
        if kind:
            click.echo(f"rankine: {shown(source.name)}: read as {kind}", err=True)
        for note in source.notes:
            click.echo(f"rankine: {shown(note)}", err=True)
