"""rankine convert IN OUT."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from rankine.cli.options import pairs, reading, said
from rankine.cli.output import FILE, say
from rankine.errors import FormatError, RankineError

if TYPE_CHECKING:
    from rankine._evaluate.options import Options
    from rankine._io.columns import Role


@click.command()
@click.argument("source", metavar="IN", type=FILE)
@click.argument("target", metavar="OUT", type=FILE)
@click.option("--qrels", is_flag=True, help="IN holds judgements, and not a run.")
@click.option(
    "--to", metavar="NAME",
    help="The format to write: trec, msmarco, csv, tsv, beir, recbole, parquet, arrow, "
    "json or ndjson; by the ending of OUT if not given (msmarco: for runs only).",
)  # fmt: skip
@click.option(
    "--to-col", "names", multiple=True, callback=pairs, metavar="PART=COLUMN",
    help="Another name for a column of a table that is written; repeatable.",
)  # fmt: skip
@click.option("--tag", metavar="NAME", help="What a TREC run calls itself.")
@click.option(
    "--lenient", is_flag=True,
    help="Drop rows without an id and repeated items, rank nan scores last, and report "
    "how many, instead of refusing them.",
)  # fmt: skip
@reading
def command(
    source: Path,
    target: Path,
    qrels: bool,  # noqa: FBT001 - a flag
    to: str | None,
    names: dict[str, str],
    tag: str | None,
    verbose: bool,  # noqa: FBT001
    **how: Any,
) -> None:
    """Write a run or judgements in another format.

    The formats are those that are read. OUT is packed if its name ends with .gz, .bz2,
    .xz or .zst. For standard input and output, write - .

    \b
    rankine convert bm25.run bm25.parquet
    rankine convert --qrels qrels.tsv qrels.json.gz
    gzip -dc bm25.run.gz | rankine convert - - --to csv
    """  # noqa: D301 - the mark is for click, which keeps the lines below it
    from rankine._io import remembered  # noqa: PLC0415 - --help stays fast
    from rankine._io.save import chosen  # noqa: PLC0415
    from rankine._runs.views import Qrels, Run  # noqa: PLC0415

    role: Role = "qrels" if qrels else "run"
    if qrels and (tag is not None or how["lower_is_better"]):
        option = "--tag" if tag is not None else "--lower-is-better"
        msg = f"{option} is for runs, and --qrels says that IN holds judgements"
        raise click.UsageError(msg)
    if not qrels and how["grades"] is not None:
        msg = "--grades is for judgements; give --qrels too"
        raise click.UsageError(msg)
    chosen(target, to, role)  # before IN is read
    options = said(**how)
    try:
        read = remembered(source, role, options.reading(role))
        view = Qrels(read) if qrels else Run(read)
        view.to_frame()
    except FormatError as error:
        if qrels or not _are_judgements(source, options):
            raise
        msg = f"{error}; it can be read as judgements, with --qrels"
        raise FormatError(msg) from None
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        if isinstance(view, Run):
            view.save(target, format=to, columns=names or None, tag=tag)
        else:
            view.save(target, format=to, columns=names or None)
    kind = getattr(view.source, "kind", "")
    if verbose and kind:
        say(f"{view.name}: read as {kind}")
    for note in (*view.notes, *(str(warning.message) for warning in caught)):
        say(note)


def _are_judgements(path: Path, options: Options) -> bool:
    """Say whether a file that is no run can be read as judgements."""
    from rankine._io import opens_again, read  # noqa: PLC0415 - --help stays fast

    try:
        return opens_again(path) and bool(read(path, "qrels", options.reading("qrels")))
    except RankineError:
        return False
