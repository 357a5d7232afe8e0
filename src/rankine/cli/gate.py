"""rankine gate QRELS RUN --baseline FILE."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import Any

import click

from rankine._base.roles import OTHERS, ROLES
from rankine.cli.compare import sizes
from rankine.cli.options import (
    Whole,
    evaluating,
    pairs,
    reading,
    refuse_stdin_twice,
    said,
    teller,
)
from rankine.cli.output import FILE, json_option, paragraph, print_json, width


@click.command()
@click.argument("qrels", type=FILE)
@click.argument("run", type=FILE)
@click.option(
    "--baseline", type=FILE, required=True, metavar="FILE",
    help="The file of values to compare with, which --update writes.",
)  # fmt: skip
@click.option(
    "--margin", "margins", multiple=True, callback=pairs, metavar="METRIC=SIZE",
    help="The change for the worse that does not matter; once for each metric.",
)  # fmt: skip
@click.option("--update", is_flag=True, help="Make this run the baseline.")
@click.option(
    "-m", "--metric", "metrics", multiple=True, metavar="METRIC",
    help="With --update, a metric with a value per query: nDCG@10, AP, ...; "
    "repeatable; those with a --margin if not given, or else those of the file.",
)  # fmt: skip
@click.option(
    "--strict", is_flag=True, help="Also fail if the verdict is 'cannot tell'."
)
@click.option(
    "--allow-missing", type=Whole(0), default=0,
    show_default=True, metavar="N",
    help="How many queries that had items or values in the baseline may now have none.",
)  # fmt: skip
@click.option(
    "--seed", type=Whole(0), default=0, show_default=True,
    metavar="N", help="The seed of the random sign flips.",
)  # fmt: skip
@evaluating
@reading
@json_option
@click.option(
    "--markdown", "as_markdown", is_flag=True,
    help="Print Markdown, for the summary of a pull request.",
)  # fmt: skip
def command(
    qrels: Path,
    run: Path,
    baseline: Path,
    margins: dict[str, str],
    update: bool,  # noqa: FBT001 - a flag
    metrics: tuple[str, ...],
    strict: bool,  # noqa: FBT001
    allow_missing: int,
    seed: int,
    convention: str,
    verbose: bool,  # noqa: FBT001
    as_json: bool,  # noqa: FBT001
    as_markdown: bool,  # noqa: FBT001
    **given: Any,
) -> int:
    """Fail if RUN is worse than its baseline, unless certainly within a margin.

    Runs are compared query by query. The exit code is 0 if no query moved, or if the
    run is not worse by the margin or more. It is 1 if the run is worse: it fell, and
    possibly by the margin or more, or it returns nothing for queries that had items
    before. If the verdict is "cannot tell", it is 0, or 1 with --strict. It is 3 if the
    comparison would be meaningless, because the judgements, the convention, a metric or
    the ids of items changed.

    \b
    rankine gate qrels.txt good.run --baseline gate.json --update -m nDCG@10
    rankine gate qrels.txt new.run --baseline gate.json --margin nDCG@10=0.01
    """  # noqa: D301 - the mark is for click, which keeps the lines below it
    from rankine._conventions.presets import chosen  # noqa: PLC0415 - --help stays fast
    from rankine._evaluate.gate.baseline import KEEP  # noqa: PLC0415
    from rankine._evaluate.gate.gate import Terms, gate_run  # noqa: PLC0415

    if as_json and as_markdown:
        msg = "--json and --markdown cannot be combined"
        raise click.UsageError(msg)
    refuse_stdin_twice(qrels, run, *(given[role] for role in OTHERS))
    options = said(
        roles=ROLES,
        convention=chosen(convention),
        keep=KEEP,
        **given,
    )
    result = gate_run(
        options, qrels, run, baseline, sizes(margins), metrics or None,
        Terms(update, strict, allow_missing, seed, at_command=True),
        tell=teller(verbose=verbose),
    )  # fmt: skip
    with suppress(BrokenPipeError):  # a reader who has gone, but waits for the code
        if as_json:
            print_json(result.to_dict())
        elif as_markdown:
            click.echo(result.to_markdown())
        else:
            for line in str(result).split("\n"):
                click.echo("\n".join(paragraph("", line, width(), hang=2)))
    return result.exit_code
