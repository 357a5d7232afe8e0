"""rankine check QRELS RUN."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from rankine.cli.options import Whole, reading, refuse_stdin_twice, said, say_how
from rankine.cli.output import FILE, json_option, print_json


@click.command()
@click.argument("qrels", type=FILE)
@click.argument("run", type=FILE)
@click.option(
    "-k", type=Whole(1), default=10, show_default=True, metavar="K",
    help="The cutoff at which ties and unjudged items are counted.",
)  # fmt: skip
@json_option
@reading
def command(
    qrels: Path,
    run: Path,
    k: int,
    as_json: bool,  # noqa: FBT001 - a flag
    verbose: bool,  # noqa: FBT001
    **how: Any,
) -> None:
    """Check judgements and a run before computing any metric.

    Counts rows, queries, duplicates, ties and unjudged items, and says what looks
    suspicious and what to do about it.

    \b
    rankine check qrels.txt bm25.run
    """  # noqa: D301 - the mark is for click, which keeps the lines below it
    from rankine._evaluate.check import check_sources, read_both  # noqa: PLC0415 - --help stays fast

    refuse_stdin_twice(qrels, run)
    truth, source = read_both(qrels, run, said(**how))
    if verbose:
        say_how([truth, source])
    check = check_sources(truth, source, k)
    if as_json:
        print_json(check.to_dict())
    else:
        click.echo(str(check))
