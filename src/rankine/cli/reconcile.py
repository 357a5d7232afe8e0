"""rankine reconcile QRELS RUN."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from rankine.cli.options import reading, refuse_stdin_twice, said, say_how
from rankine.cli.output import json_option, print_texts


@click.command()
@click.argument("qrels", type=click.Path(path_type=Path))
@click.argument("run", type=click.Path(path_type=Path))
@click.option(
    "-m", "--metric", "metrics", multiple=True, help="A metric; AP@10 if not given."
)
@click.option(
    "--explain", nargs=2, metavar="FIRST SECOND",
    help="Go from one convention to another, one choice at a time.",
)  # fmt: skip
@click.option("--rel", type=float, help="The smallest relevant grade, for all tools.")
@click.option("--catalog", type=int, help="The number of items in the catalogue.")
@click.option(
    "--lenient", is_flag=True,
    help="Drop rows without an id and repeated items, and rank nan scores last.",
)  # fmt: skip
@json_option
@reading
def command(
    qrels: Path,
    run: Path,
    metrics: tuple[str, ...],
    explain: tuple[str, str] | None,
    as_json: bool,  # noqa: FBT001 - a flag
    verbose: bool,  # noqa: FBT001
    **given: Any,
) -> None:
    """Compute metrics as every known tool does, and explain why the numbers differ.

    Tools that give the same number are listed together, with the choices that make it
    differ from the default.

    \b
    rankine reconcile qrels.txt bm25.run -m AP@10 -m nDCG@10
    rankine reconcile qrels.txt bm25.run -m AP@10 --explain ranx jurity
    """  # noqa: D301 - the mark is for click, which keeps the lines below it
    from rankine._conventions.presets import PRESETS  # noqa: PLC0415 - --help stays fast
    from rankine._evaluate.reconcile import (  # noqa: PLC0415
        Reconciliation,
        data_of,
        refuse_lists,
    )
    from rankine._metrics.names import parse_all  # noqa: PLC0415

    refuse_stdin_twice(qrels, run)
    asked = [one for text in metrics or ("AP@10",) for one in parse_all(text)]
    for metric in asked:
        refuse_lists(metric)
    data = data_of(qrels, run, said(**given))
    if verbose:
        say_how([data.truth.source, data.source])
    shown: list[Any] = [Reconciliation(metric, data, [*PRESETS]) for metric in asked]
    if explain:
        shown = [found.explain(*explain) for found in shown]
    print_texts(shown, as_json=as_json)
