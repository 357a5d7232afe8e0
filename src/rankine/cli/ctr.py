"""rankine ctr LOGGED RECOMMENDED."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import click

from rankine.cli.options import (
    pairs,
    reading_tables,
    readings,
    refuse_stdin_twice,
    say_how,
)
from rankine.cli.output import FILE, fitted, json_option, print_json
from rankine.cli.progress import progress


@click.command()
@click.argument("logged", type=FILE)
@click.argument("recommended", type=FILE)
@click.option(
    "-e", "--estimator", "estimators", multiple=True, metavar="NAME",
    help=(
        "An estimator: matching, ips, snips, dm, dr, sndr, switch-dr or dros; "
        "repeatable; matching if not given."
    ),
)  # fmt: skip
@click.option(
    "-k", "--top", "k", type=int, metavar="N",
    help="Use only the first N items of each list.",
)  # fmt: skip
@click.option(
    "--clip", type=float, metavar="SIZE", help="Clip 1 / propensity at this size."
)
@click.option(
    "--threshold", type=float, default=10.0, show_default=True, metavar="SIZE",
    help="The weight above which switch-dr relies on the predictions alone.",
)  # fmt: skip
@click.option(
    "--shrinkage", type=float, default=10.0, show_default=True, metavar="SIZE",
    help="The shrinkage of dros.",
)  # fmt: skip
@click.option(
    "--convention", default="rankine", show_default=True, metavar="NAME",
    help="Whose choices the numbers follow: rankine or jurity.",
)  # fmt: skip
@click.option(
    "--n", metavar="NAME",
    help="What the mean is over: logged (rounds) or recommended (pairs).",
)  # fmt: skip
@click.option(
    "--missing-propensity", metavar="NAME",
    help="What to do without a propensity column: error; or items, which uses 1 / "
    "the number of items.",
)  # fmt: skip
@click.option("--any-reward", is_flag=True, help="Allow rewards other than 0 and 1.")
@click.option(
    "--col", "columns", multiple=True, callback=pairs, metavar="PART=COLUMN",
    help=(
        "Which column is the user, item, reward, propensity, predicted, probability "
        "or position: its name, its number from 1, or - if there is none; repeatable; "
        "logged.user=NAME is for one table only."
    ),
)  # fmt: skip
@reading_tables
@click.option(
    "--confidence", type=float, default=0.95, show_default=True, metavar="SHARE",
    help="Confidence level of the intervals.",
)  # fmt: skip
@click.option(
    "--method", default="t", show_default=True, metavar="NAME",
    help="The method of the intervals: t or bootstrap.",
)  # fmt: skip
@click.option(
    "--seed", type=int, default=0, show_default=True, metavar="N",
    help="The seed of the bootstrap.",
)  # fmt: skip
@json_option
@click.pass_context
def command(
    context: click.Context,
    /,
    logged: Path,
    recommended: Path,
    estimators: tuple[str, ...],
    as_json: bool,  # noqa: FBT001 - a flag
    verbose: bool,  # noqa: FBT001
    formats: tuple[str, ...],
    encoding: str | None,
    max_bytes: int | None,
    engine: str | None,
    **options: Any,
) -> None:
    """Estimate the click rate of recommendations from a log of another policy.

    Both files have named columns: CSV, TSV, Parquet, Arrow, JSON or NDJSON, compressed
    or not, recognised by their content; a folder or a pattern names the parts of
    one table, and - is standard input. Exits with 1 if there is no estimate.

    \b
    rankine ctr log.parquet recommended.csv -e ips -e snips
    rankine ctr log.csv recommended.csv -e dr --clip 50
    """  # noqa: D301 - the mark is for click, which keeps the lines below it
    from rankine._evaluate.logs.estimate import estimates  # noqa: PLC0415
    from rankine._evaluate.logs.question import Question  # noqa: PLC0415 - --help stays fast
    from rankine._io import open_table  # noqa: PLC0415

    asked = Question(estimators or ("matching",), engine=engine or "auto", **options)
    refuse_stdin_twice(logged, recommended)
    files = {"logged": logged, "recommended": recommended}
    read_as = readings([*files], asked.columns_of, formats, encoding, max_bytes)
    tables = [open_table(path, role, read_as[role]) for role, path in files.items()]
    if verbose:
        say_how(tables)
    with progress() as report:
        log, offered = tables
        rounds = asked.tally(log, offered, report).rounds
    results = estimates(rounds, asked)
    if as_json:
        print_json([*results.to_dict().values()])
    else:
        click.echo("\n\n".join(fitted(str(estimate)) for estimate in results.values()))
    if any(math.isnan(estimate.value) for estimate in results.values()):
        context.exit(1)
