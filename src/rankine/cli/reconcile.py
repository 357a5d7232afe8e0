"""rankine reconcile QRELS RUN."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from rankine._base.roles import OTHERS, ROLES
from rankine.cli.options import (
    reading,
    refuse_stdin_twice,
    said,
    say_how,
    with_data,
)
from rankine.cli.output import FILE, json_option, print_texts


@click.command()
@click.argument("qrels", type=FILE)
@click.argument("run", type=FILE, required=False)
@click.option(
    "--no-qrels", is_flag=True,
    help="There are no judgements: QRELS is the run. Only for metrics of lists.",
)  # fmt: skip
@click.option(
    "-m", "--metric", "metrics", multiple=True, metavar="METRIC",
    help="A metric; repeatable; AP@10 if not given.",
)  # fmt: skip
@click.option(
    "--explain", nargs=2, metavar="FIRST SECOND",
    help="Explain the steps from one convention to another, one choice at a time.",
)  # fmt: skip
@with_data
@json_option
@reading
def command(
    qrels: Path,
    run: Path | None,
    no_qrels: bool,  # noqa: FBT001 - a flag
    metrics: tuple[str, ...],
    explain: tuple[str, str] | None,
    as_json: bool,  # noqa: FBT001
    verbose: bool,  # noqa: FBT001
    **given: Any,
) -> None:
    """Compute metrics as every known tool does, and explain why the numbers differ.

    Tools that give the same number are listed together, with the choices that make it
    differ from the default.

    \b
    rankine reconcile qrels.txt bm25.run -m AP@10 -m nDCG@10
    rankine reconcile qrels.txt bm25.run -m AP@10 --explain ranx jurity
    rankine reconcile --no-qrels lists.csv -m Coverage@10 --train train.csv
    """  # noqa: D301 - the mark is for click, which keeps the lines below it
    from rankine._conventions.presets import PRESETS  # noqa: PLC0415 - --help stays fast
    from rankine._evaluate.plan import with_names  # noqa: PLC0415
    from rankine._evaluate.reconcile.reconcile import Reconciliation  # noqa: PLC0415
    from rankine._evaluate.reconcile.shared_data import SharedData  # noqa: PLC0415

    if (run is None) != no_qrels:
        msg = "--no-qrels takes one file, the run" if run else "Missing argument 'RUN'."
        raise click.UsageError(msg)
    judged, retrieved = (None, qrels) if run is None else (qrels, run)
    refuse_stdin_twice(judged, retrieved, *(given[role] for role in OTHERS))
    asked = [named for text in metrics or ("AP@10",) for named in with_names(text)]
    data = SharedData(judged, retrieved, said(roles=ROLES, **given))
    if verbose:
        say_how(data.read(asked[0][0]))
    shown: list[Any] = [
        Reconciliation(metric, data, [*PRESETS], name) for metric, name in asked
    ]
    if explain:
        shown = [reconciliation.explain(*explain) for reconciliation in shown]
    print_texts(shown, as_json=as_json)
