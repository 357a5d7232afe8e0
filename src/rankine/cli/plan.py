"""rankine plan EVENTS --effect SIZE."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from rankine.cli.events import (
    events_of,
    metrics_option,
    options_given,
    question_of,
    reading_events,
    users_option,
)
from rankine.cli.output import fitted, json_option, print_json, say
from rankine.errors import DataError

if TYPE_CHECKING:
    from rankine._online.abresult import ABTest

_OF_NEW_TEST = {"events", "effect", "power", "as_json"}
"""The options that do not come from a test that was saved."""
_SAVED = re.compile(rb'"format": *"rankine"')
_BEGINNING = 1000
"""How many bytes of a file say that it was saved."""


@click.command()
@click.argument("events")
@click.option(
    "--effect", required=True, multiple=True, metavar="SIZE",
    help="The smallest effect to find, a difference such as 0.01, or 2% of the value; "
    "METRIC=SIZE is for one metric, and repeatable.",
)  # fmt: skip
@metrics_option
@users_option
@click.option(
    "--power", type=float, default=0.8, show_default=True, metavar="SHARE",
    help="How often the effect should be found.",
)  # fmt: skip
@click.option(
    "--share", type=float, default=0.5, show_default=True, metavar="SHARE",
    help="The share of users in the variant.",
)  # fmt: skip
@click.option(
    "--confidence", type=float, default=0.95, show_default=True, metavar="SHARE",
    help="Confidence level of the test to come.",
)  # fmt: skip
@reading_events
@json_option
def command(
    events: str,
    effect: tuple[str, ...],
    metrics: tuple[str, ...],
    users: str | None,
    power: float,
    share: float,
    confidence: float,
    as_json: bool,  # noqa: FBT001 - a flag
    **given: Any,
) -> None:
    """Compute how many users a test needs, from how much those in EVENTS vary.

    EVENTS is a log as for rankine online, or a table of users, from before the test;
    or an earlier test as JSON, which rankine ab --json prints. If it has times, the
    command also says how many days it takes to get that many users.

    \b
    rankine plan events.parquet --effect 2% -m ctr -m conversion_rate
    rankine plan users.csv --users user_id -m spent --effect 0.5 --power 0.9
    rankine plan test.json --effect ctr=5% --effect revenue_per_user=0.3
    """  # noqa: D301 - the mark is for click, which keeps the lines below it
    from rankine._evaluate.summary import finite  # noqa: PLC0415 - --help stays fast
    from rankine._online.needed import users_needed  # noqa: PLC0415

    smallest, test = _effect_of(effect), _saved_test(events)
    if test is None:
        asked = question_of(metrics, users, given)
        asked |= {"share": share, "confidence": confidence}
        asked |= {"memory_limit": given["memory_limit"]}
        log, notes = events_of(events, given)
        for note in notes:
            say(note)
        records = users_needed(log, effect=smallest, power=power, **asked)
    else:
        _refuse_of_test(events)
        records = users_needed(test, effect=smallest, power=power)
    if as_json:
        print_json(
            [
                {
                    name: finite(value) if isinstance(value, float) else value
                    for name, value in needed._asdict().items()
                }
                for needed in records
            ]
        )
    else:
        # All records of a log or a table have the same notes.
        noted = dict.fromkeys(
            f"- {note}" for needed in records for note in needed.notes
        )
        click.echo(fitted("\n".join([*map(str, records), *noted])))


def _effect_of(given: tuple[str, ...]) -> Any:
    """Read one size for all metrics, or METRIC=SIZE several times."""
    sizes = {}
    for text in given:
        metric, sign, size = text.rpartition("=")
        if not size or (not metric and (sign or len(given) > 1)):
            msg = (
                "--effect takes SIZE once, for all metrics, or METRIC=SIZE for each, "
                f"got {text!r}"
            )
            raise click.UsageError(msg)
        sizes[metric] = size
    return sizes.get("", sizes)


def _saved_test(path: str) -> ABTest | None:
    """Return the test that a file holds, None if it holds events or users."""
    file = Path(path)
    if not file.is_file():  # - or a pattern, a folder or a server
        return None
    try:
        with file.open("rb") as stream:
            is_saved = _SAVED.search(stream.read(_BEGINNING)) is not None
    except OSError:  # who reads it says why
        return None
    if not is_saved:
        return None
    from rankine._online.abresult import ABTest  # noqa: PLC0415 - --help stays fast
    from rankine._results.loaded import load  # noqa: PLC0415

    loaded = load(path)
    if not isinstance(loaded, ABTest):
        msg = (
            f"{path} holds no test; expected what rankine ab --json prints, a log of "
            "events or a table of users"
        )
        raise DataError(msg)
    return loaded


def _refuse_of_test(path: str) -> None:
    for option in options_given():
        if option.name not in _OF_NEW_TEST:
            msg = f"{option.opts[-1]} is settled by the test in {path}; leave it out"
            raise click.UsageError(msg)
