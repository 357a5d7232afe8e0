"""rankine interleaving LOG."""

from __future__ import annotations

from typing import Any

import click

from rankine.cli.events import naming_options, rows_of
from rankine.cli.options import pairs
from rankine.cli.output import fitted, json_option, print_json


@click.command()
@click.argument("log")
@click.option(
    "--method", default="team_draft", show_default=True, metavar="NAME",
    help="How lists were drawn: team_draft, probabilistic or, in old logs, balanced.",
)  # fmt: skip
@click.option(
    "--col", "columns", multiple=True, callback=pairs, metavar="PART=COLUMN",
    help="Which column is the user, impression, click, team or, for balanced, rank_a, "
    "rank_b and position: its name, or its number from 1; repeatable.",
)  # fmt: skip
@click.option(
    "--sql", metavar="QUERY",
    help="The rows to read, if LOG is an SQLite or DuckDB file or the URL of a "
    "PostgreSQL server.",
)  # fmt: skip
@json_option
@naming_options
def command(
    log: str,
    method: str,
    columns: dict[str, Any],
    sql: str | None,
    as_json: bool,  # noqa: FBT001 - a flag
) -> None:
    """Find which of two interleaved rankings users prefer.

    LOG has a row per item and impression, with columns such as impression_id, user_id,
    team and click: a file, a folder or a pattern of CSV, NDJSON or Parquet, or - for
    standard input.

    \b
    rankine interleaving shown.parquet
    rankine interleaving shown.csv --method balanced --col rank_a=old --col rank_b=new
    """  # noqa: D301 - the mark is for click, which keeps the lines below it
    from rankine._online.interleaving import (  # noqa: PLC0415 - --help stays fast
        interleaving_test,
    )

    drawn: Any = "team_draft" if method == "team-draft" else method
    found = interleaving_test(rows_of(log, sql), method=drawn, columns=columns)
    if as_json:
        print_json(found.to_dict())
    else:
        click.echo(fitted(str(found)))
