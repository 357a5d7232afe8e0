"""Options that several commands share: how files are read, and runs evaluated."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from rankine._base.roles import APART, OTHERS, none_of
from rankine.cli.output import FILE, say
from rankine.errors import ParameterError

if TYPE_CHECKING:
    from rankine._evaluate.options import Options
    from rankine._io.sources import Reading, Source
    from rankine._io.tables import Table

F = TypeVar("F", bound=Callable[..., Any])
_ENDLESS = 1 << 30
"""From here on, an upper bound only keeps numbers within 64 bits."""


class Whole(click.IntRange):
    """A whole number within bounds, which help and errors say in words.

    >>> Whole(1)._describe_range(), Whole(1, 8)._describe_range()
    ('at least 1', '1 to 8')
    """

    def __init__(self, least: int, most: int = 1 << 62) -> None:
        super().__init__(min=least, max=most)
        self._least, self._most = least, most

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> int:
        """Read a number, and refuse one that is out of bounds."""
        number = int(click.INT.convert(value, param, ctx))
        if number < self._least:
            self.fail(f"{number} is too small; give at least {self._least}", param, ctx)
        if number > self._most:
            self.fail(f"{number} is too large; give at most {self._most}", param, ctx)
        return number

    def _describe_range(self) -> str:  # click puts it into the help
        if self._most >= _ENDLESS:
            return f"at least {self._least}"
        return f"{self._least} to {self._most}"


def pairs(
    _: click.Context, parameter: click.Parameter, values: tuple[str, ...]
) -> dict[str, str]:
    """Read NAME=VALUE, several times."""
    by_name = {}
    for text in values:
        # The last sign, as a metric may have some: P(rel=2)@5=0.4.
        key, sign, value = text.rpartition("=")
        if not sign or not key or not value:
            msg = f"expected {parameter.metavar}, got {text!r}"
            raise click.BadParameter(msg, param=parameter)
        by_name[key] = value
    return by_name


def byte_size(
    _: click.Context, parameter: click.Parameter, value: str | None
) -> int | None:
    """Read a number of bytes: 1000000, 64M, 2G."""
    from rankine._base.memory import bytes_of  # noqa: PLC0415 - --help stays fast

    try:
        return None if value is None else bytes_of(value)
    except ParameterError:
        msg = f"expected a number of bytes such as 500M or 2G, got {value!r}"
        raise click.BadParameter(msg, param=parameter) from None


_ENCODING = click.option(
    "--encoding",
    metavar="NAME",
    help=("The encoding of text that is not UTF-8, such as latin-1."),
)
_MAX_BYTES = click.option(
    "--max-bytes", callback=byte_size, metavar="SIZE",
    help=(
        "The largest size of a file when unpacked, such as 500M or 2G; 64G if not "
        "given."
    ),
)  # fmt: skip
_VERBOSE = click.option(
    "-v", "--verbose", is_flag=True, help="Show how files were read."
)
_OPTIONS = (
    click.option(
        "--col", "columns", multiple=True, callback=pairs, metavar="PART=COLUMN",
        help=(
            "Which column is the query, item, grade, score or rank: its name, its "
            "number from 1 if there is no header, or - if there is no such column; "
            "repeatable; qrels.item=COLUMN or run.item=COLUMN is for one file only."
        ),
    ),
    click.option(
        "--format", "formats", multiple=True, metavar="NAME",
        help="trec, trec-loose, msmarco, csv, tsv, beir, movielens, recbole, parquet, "
        "arrow, json or ndjson, for all files (trec-loose and msmarco: for runs only); "
        "or qrels=NAME, run=NAME.",
    ),
    _ENCODING,
    click.option(
        "--grades", metavar="WORD=N,...",
        help="What each grade in words is worth: --grades Viewed=0,Clicked=1.",
    ),
    click.option(
        "--lower-is-better", is_flag=True, help="Scores are distances, smallest first."
    ),
    _MAX_BYTES,
    _VERBOSE,
)  # fmt: skip
_OF_TABLES = (
    click.option(
        "--format", "formats", multiple=True, metavar="NAME",
        help="csv, tsv, beir, recbole, parquet, arrow, json or ndjson, for both files; "
        "or logged=NAME, recommended=NAME.",
    ),
    _ENCODING,
    _MAX_BYTES,
    _VERBOSE,
)  # fmt: skip


_OF_RULE = (
    click.option(
        "-c", "--convention", default="rankine", show_default=True, metavar="NAME",
        help=(
            "Whose choices the numbers follow: a name (see rankine conventions) or a "
            "YAML file."
        ),
    ),
    click.option(
        "--ties", type=click.Choice(["average", "best", "worst"]),
        help="The mean over all orders of tied items, or its bounds.",
    ),
    click.option(
        "--order", type=click.Choice(["score", "rank", "rank_value", "given"]),
        help="What the ranking follows: the score, the order of a rank column, its "
        "numbers (gaps kept), or the order of rows.",
    ),
)  # fmt: skip
"""The options of the convention."""
_OF_DATA = (
    click.option(
        "-l", "--rel", type=float, metavar="GRADE", help="The smallest relevant grade."
    ),
    click.option(
        "-M", "--depth", type=Whole(1), metavar="N",
        help="Use only the first N items of each list.",
    ),
    click.option(
        "--catalog", type=Whole(1), metavar="N",
        help="Number of items in the catalogue, for metrics that need it.",
    ),
    click.option(
        "--train", type=FILE, metavar="FILE",
        help="Interactions that users had before, for metrics such as Novelty; also "
        "--format train=NAME and --col train.item=COLUMN.",
    ),
    click.option(
        "--reference", type=FILE, metavar="FILE",
        help="Lists of another recommender, for metrics such as Intersection; also "
        "--format reference=NAME and --col reference.item=COLUMN.",
    ),
    click.option(
        "--items", type=FILE, metavar="FILE",
        help="Features or topics of items: a table with a column of items; also "
        "--format "
        "items=NAME and --col items.item=COLUMN.",
    ),
    click.option(
        "--weights", type=FILE, metavar="FILE",
        help="How much each query counts: a table with a column of queries and one of "
        "weights; also --format weights=NAME and --col weights.weight=COLUMN.",
    ),
    click.option(
        "--lenient", is_flag=True,
        help=(
            "Drop rows without an id and repeated items, rank nan scores last, and "
            "report how many, instead of refusing them."
        ),
    ),
)  # fmt: skip


def _of_engine(what: str) -> tuple[Callable[[Any], Any], ...]:
    """Return the options that say how large files of a kind are read."""
    return (
        click.option(
            "--stream", "engine", flag_value="stream", default=None,
            help=f"Read {what} in parts, so that it may be larger than memory; without "
            "this, it is read in parts only if it would not fit.",
        ),
        click.option(
            "--memory", "memory_limit", callback=byte_size, metavar="SIZE",
            help=f"The memory that the process may use while {what} is read in parts, "
            "such as 512M or 2G; half of the free memory if not given.",
        ),
    )  # fmt: skip


_OF_CHUNKS = click.option(
    "--collapse", metavar="HOW",
    help="The document of each chunk of a run: a separator such as '#', a pattern "
    "with one group such as '(.*)_p[0-9]+', a column of the run, or a file with two "
    "columns, chunk and document. The best chunk decides where its document stands.",
)  # fmt: skip


def evaluating(function: F) -> F:
    """Give a command the options that say how runs are evaluated."""
    return _with((*_OF_RULE, *_OF_DATA, _OF_CHUNKS, *_of_engine("a run")), function)


def with_data(function: F) -> F:
    """Give a command the same options, except those of the convention."""
    return _with(_OF_DATA, function)


def reading(function: F) -> F:
    """Give a command the options that say how files are read."""
    return _with(_OPTIONS, function)


def reading_tables(function: F) -> F:
    """Give a command the options that say how a log and recommendations are read."""
    return _with((*_OF_TABLES, *_of_engine("the log")), function)


def _with(options: tuple[Callable[[Any], Any], ...], function: F) -> F:
    for option in reversed(options):
        function = option(function)
    return function


_ROLES = ("qrels", "run")
"""The files that most commands read."""
_ALL = ""
"""The role of options for all files."""


def said(
    *,
    columns: dict[str, str],
    formats: tuple[str, ...],
    encoding: str | None,
    grades: str | None,
    lower_is_better: bool,
    max_bytes: int | None,
    roles: Sequence[str] = _ROLES,
    more_words: bool = False,
    engine: str | None = None,
    collapse: str | None = None,
    **options: Any,
) -> Options:
    """Return what is said about files, and other options of `evaluate`, as one record.

    The format of items and of weights has to be given apart.
    """
    from rankine._evaluate.options import Options  # noqa: PLC0415 - --help stays fast

    for text in columns:
        role, dot, _ = text.partition(".")
        if dot and role not in roles:
            known = " or ".join(f"{other}.PART=..." for other in roles)
            msg = f"--col takes PART=COLUMN, {known}, got {text!r}"
            raise click.UsageError(msg)
    files = readings(roles, lambda _: None, formats, encoding, max_bytes)
    for text in formats:
        role = text.rpartition("=")[0]
        if role in OTHERS and options[role] is None:
            msg = f"--format gives {text!r}, but {none_of(role)}; give --{role}"
            raise click.UsageError(msg)
    if more_words:
        files["run"] = replace(files["run"], more_words=True)
    return Options(
        columns=columns or None,
        grades=worth(grades),
        lower_is_better=lower_is_better,
        files=files,
        engine=engine or "auto",
        collapse=_documents(collapse),
        **options,
    )


def _documents(collapse: str | None) -> str | dict[Any, Any] | None:
    """Return {chunk: document} if a file was named, and all else as it is."""
    if not collapse or not Path(collapse).is_file():
        return collapse
    from rankine._io import open_table  # noqa: PLC0415 - --help stays fast

    table = open_table(collapse, "collapse")
    if len(table.names) != 2:  # noqa: PLR2004 - chunk and document
        msg = (
            f"--collapse {collapse} has the columns {', '.join(table.names)}; expected "
            "two, chunk and document"
        )
        raise click.UsageError(msg)
    chunks = table.read(table.names)[0].unique(maintain_order=True)
    twice = chunks.filter(chunks[table.names[0]].is_duplicated())
    if twice.height:
        msg = f"--collapse {collapse} gives {twice.item(0, 0)!r} two documents"
        raise click.UsageError(msg)
    return dict(chunks.iter_rows())


def readings(
    roles: Sequence[str],
    columns_of: Callable[[str], dict[str, Any] | None],
    formats: tuple[str, ...],
    encoding: str | None,
    max_bytes: int | None,
) -> dict[str, Reading]:
    """Return how the files of a command are to be read, by their role."""
    from rankine._io.formats import names_for  # noqa: PLC0415
    from rankine._io.sources import MAX_BYTES, Reading  # noqa: PLC0415

    named: dict[str, str] = {}
    for text in formats:
        role, sign, name = text.rpartition("=")
        if sign and role not in roles:
            known = " or ".join(f"{other}=NAME" for other in roles)
            msg = f"--format takes NAME, {known}, got {text!r}"
            raise click.UsageError(msg)
        named[role] = name
    for_all = named.pop(_ALL, "")
    shared = [role for role in roles if role not in APART]
    # A format that none of the files may have is refused where they are read.
    having = [role for role in shared if for_all in names_for(role)] or shared
    if for_all:
        named = dict.fromkeys(having, for_all) | named
    return {
        role: Reading(
            format=named.get(role),
            columns=columns_of(role),
            encoding=encoding,
            max_bytes=max_bytes or MAX_BYTES,
        )
        for role in roles
    }


def worth(text: str | None) -> dict[str, float] | None:
    """Read what each grade in words is worth."""
    if text is None:
        return None
    grades = {}
    for entry in text.split(","):
        word, sign, number = entry.partition("=")
        try:
            grades[word.strip()] = float(number)
        except ValueError:
            sign = ""
        if not sign or not word.strip():
            msg = f"--grades expects WORD=NUMBER,..., got {entry.strip()!r}"
            raise click.UsageError(msg) from None
    return grades


def refuse_stdin_twice(*paths: Path | None) -> None:
    """Standard input can be read once only."""
    if sum(str(path) in {"-", "/dev/stdin"} for path in paths) > 1:
        msg = "standard input (-) is named more than once; it can be read only once"
        raise click.UsageError(msg)


def say_how(sources: Sequence[Source | Table]) -> None:
    """Say on stderr what files were found to be."""
    for source in sources:
        kind = getattr(source, "kind", "")
        if kind:
            say(f"{source.name}: read as {kind}")
        for note in source.notes:
            say(note)


def teller(*, verbose: bool) -> Callable[[Source], None] | None:
    """Return what says how each file was read, if that is wanted."""
    return (lambda source: say_how([source])) if verbose else None
