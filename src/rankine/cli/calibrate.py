"""rankine calibrate EVENTS."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import click

from rankine.cli.events import (
    events_of,
    metrics_option,
    question_of,
    reading_events,
    users_option,
)
from rankine.cli.output import fitted, json_option, print_json


@click.command()
@click.argument("events")
@metrics_option
@click.option(
    "--n", type=int, default=1000, show_default=True, metavar="N",
    help="The number of A/A tests.",
)  # fmt: skip
@users_option
@click.option(
    "--cuped", is_flag=True,
    help="Use what users did before their first exposure to reduce the variance.",
)  # fmt: skip
@click.option(
    "--winsorize", type=float, metavar="SHARE",
    help="Cap each user's values at this quantile over all users, such as 0.999.",
)  # fmt: skip
@click.option(
    "--seed", type=int, default=0, show_default=True, metavar="N",
    help="The seed of the random halves.",
)  # fmt: skip
@reading_events
@json_option
def command(
    events: str,
    metrics: tuple[str, ...],
    n: int,
    users: str | None,
    cuped: bool,  # noqa: FBT001 - a flag
    winsorize: float | None,
    seed: int,
    as_json: bool,  # noqa: FBT001
    **given: Any,
) -> None:
    """Measure how often a test errs on your own users, by A/A tests.

    The users in EVENTS, a log as for rankine online or a table of users, are split into
    random halves again and again. There is no difference to find, so a correct test
    finds one in only 5 % of the splits.

    \b
    rankine calibrate events.parquet -m ctr -m revenue_per_user=revenue
    rankine calibrate users.csv --users user_id -m spent --n 5000
    """  # noqa: D301 - the mark is for click, which keeps the lines below it
    from rankine._online.calibrate import calibrate  # noqa: PLC0415 - --help stays fast

    asked = question_of(metrics, users, given)
    log, notes = events_of(events, given)
    found = calibrate(
        log, n=n, cuped=cuped, winsorize=winsorize, seed=seed,
        memory_limit=given["memory_limit"], **asked,
    )  # fmt: skip
    found = replace(found, notes=(*notes, *found.notes))
    if as_json:
        print_json(found.to_dict())
    else:
        click.echo(fitted(str(found)))
