"""What commands about events have in common: how a log is read, and metrics named."""

from __future__ import annotations

from functools import wraps
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from rankine.cli.options import byte_size, pairs
from rankine.errors import ColumnNotFoundError, ParameterError, RankineError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

_RULES: tuple[Callable[[Any], Any], ...] = (
    click.option(
        "--sql", metavar="QUERY",
        help="The rows to read, if EVENTS is an SQLite or DuckDB file or the URL of "
        "a PostgreSQL server.",
    ),
    click.option(
        "--queries", metavar="FILE",
        help="The ubi_queries of User Behavior Insights, whose hits are impressions, "
        "if EVENTS are its ubi_events.",
    ),
    click.option(
        "--col", "columns", multiple=True, callback=pairs, metavar="PART=COLUMN",
        help="Which column is the time, user, session, variant, event, page, item, "
        "position, query, value, cost, currency or id: its name, or its number from "
        "1; - if there is none; repeatable.",
    ),
    click.option(
        "--kind", "kinds", multiple=True, callback=pairs, metavar="WORD=KIND",
        help="What an event of the log is: exposure, impression, pageview, heartbeat, "
        "automatic, click, action, refund or conversion; repeatable.",
    ),
    click.option(
        "--session-gap", type=float, default=30, show_default=True, metavar="MINUTES",
        help="How long without an event ends a session, if there are no session ids.",
    ),
    click.option(
        "--engaged", metavar="EVENT,...|SECONDS",
        help="The events that make a session engaged, or how long it must last; any "
        "action if not given.",
    ),
    click.option(
        "--unit", default="users", show_default=True, metavar="NAME",
        help="What converts: users, sessions or clicks.",
    ),
    click.option(
        "--cap", type=float, metavar="SECONDS",
        help="The most time that a page view adds to the time on page.",
    ),
    click.option(
        "--last-page", default="exclude", show_default=True, metavar="NAME",
        help="The last page of a session: exclude, or heartbeat to close it.",
    ),
    click.option(
        "--exposure", metavar="EVENT",
        help="The event that exposes a user; the first with a variant if not given.",
    ),
    click.option(
        "--window", type=float, metavar="DAYS",
        help="Count only this many days after the first exposure.",
    ),
    click.option(
        "--keep-incomplete", is_flag=True,
        help="Keep users whose window is not over by the end of the log.",
    ),
    click.option(
        "--timezone", metavar="NAME",
        help="Whose days, weeks and hours count, such as Europe/Berlin; those of UTC "
        "if not given.",
    ),
    click.option(
        "--max-events", type=int, metavar="N",
        help="Leave out users with more than N counted events, such as bots.",
    ),
    click.option(
        "--keep-duplicates", is_flag=True, help="Count identical rows each time."
    ),
    click.option(
        "--memory", "memory_limit", callback=byte_size, metavar="SIZE",
        help="The memory that may be used, such as 2GB; half of what is free if not "
        "given; beyond it, events wait on disk.",
    ),
)  # fmt: skip


metrics_option = click.option(
    "-m", "--metric", "metrics", multiple=True, metavar="METRIC",
    help="ctr, conversion_rate, bounce_rate, engagement_rate, time_on_page, roi, "
    "engagement_per_impression, retention_1, retention_7 or retention_28; or "
    "NAME=COLUMN for a mean per user, such as revenue_per_user=revenue, NAME=COLUMN/"
    "COLUMN for a ratio, NAME=COLUMN@SHARE for a quantile, of the columns that rankine "
    "online --users writes or, with --users, of those of your own table; repeatable.",
)  # fmt: skip
users_option = click.option(
    "--users", metavar="COLUMN",
    help="EVENTS is a table with a row per user, whose ids are in this column.",
)  # fmt: skip


def reading_events(function: Any) -> Any:
    """Give a command the options that say how events are read and counted."""
    function = naming_options(function)
    for option in reversed(_RULES):
        function = option(function)
    return function


def naming_options(function: Any) -> Any:
    """Let messages that begin with a parameter begin with the option instead."""

    @wraps(function)
    def named(*arguments: Any, **options: Any) -> Any:
        try:
            return function(*arguments, **options)
        except ParameterError as error:
            name, _, rest = str(error).partition(" ")
            for option in click.get_current_context().command.params:
                if option.name == name and rest.startswith(_OF_PARAMETERS):
                    msg = f"{option.opts[-1]} {rest}"
                    raise ParameterError(msg) from error
            raise

    return named


_OF_PARAMETERS = ("must be ", "cannot be ", "names ", "has no ", "of ", "is for ")
"""What follows the name of a parameter in a message."""


def events_of(events: str, given: dict[str, Any]) -> tuple[Any, tuple[str, ...]]:
    """Return the log that a command reads, and what was assumed in reading it.

    Args:
        events: what the command was given.
        given: the options of `reading_events`.
    """
    if given["queries"] is None:
        return rows_of(events, given["sql"]), ()
    if given["sql"] is not None:
        msg = "--sql and --queries cannot be combined"
        raise click.UsageError(msg)
    from rankine._online.ubi import from_ubi  # noqa: PLC0415 - --help stays fast

    log = from_ubi(events, given["queries"], kinds=given["kinds"])
    return log.events, log.notes


def rows_of(log: str, sql: str | None) -> Any:
    """Return a log, or the rows of a query if it is a database."""
    if sql is None:
        return log
    from rankine._online.sources import from_sql  # noqa: PLC0415 - --help stays fast

    return from_sql(log, sql)


def rules_of(given: dict[str, Any]) -> dict[str, Any]:
    """Return what the options of `reading_events` say, as arguments of `summarize`.

    Options that do not stand on the command line are left out.
    """
    named = {option.name for option in options_given()}
    rules = {name: value for name, value in given.items() if name in named}
    for name in _OF_SOURCE:
        rules.pop(name, None)
    if given["engaged"] is not None:
        try:
            rules["engaged"] = float(given["engaged"])
        except ValueError:
            rules["engaged"] = listed(given["engaged"])
    for flag, name in (
        ("keep_duplicates", "duplicates"),
        ("keep_incomplete", "incomplete"),
    ):
        if rules.pop(flag, False):
            rules[name] = "keep"
    return rules


_OF_SOURCE = "sql", "queries", "memory_limit"
"""The options of `reading_events` that are no rules."""


def options_given() -> list[click.Parameter]:
    """Return the options that stand on the command line."""
    context = click.get_current_context()
    return [
        option
        for option in context.command.params
        if context.get_parameter_source(str(option.name)) is ParameterSource.COMMANDLINE
    ]


def listed(words: str) -> list[str]:
    """Read words between commas."""
    return [word for word in words.split(",") if word.strip()]


def metrics_of(metrics: Sequence[str]) -> Any:
    """Read names of metrics, and NAME=COLUMN[/COLUMN] or NAME=COLUMN@SHARE.

    >>> metrics_of(["ctr"]), metrics_of(["ctr", "aov=revenue/orders"])
    (['ctr'], {'ctr': 'ctr', 'aov': ('revenue', 'orders')})
    """
    if any(mark in text for text in metrics for mark in "=/@"):
        return columns_of(metrics)
    return list(metrics) or None


def columns_of(metrics: Sequence[str]) -> dict[str, Any]:
    """Read NAME=COLUMN and the like, where the name may be left out."""
    columns = {}
    for text in metrics:
        name, sign, column = text.rpartition("=")
        if sign and not name:
            msg = f"-m {text} has no name before '='; give NAME{text}"
            raise click.UsageError(msg)
        if (name or column) in columns:
            msg = f"-m {name or column} is given twice"
            raise click.UsageError(msg)
        columns[name or column] = _parts_of(column)
    return columns


def _parts_of(text: str) -> Any:
    """Read COLUMN, COLUMN/COLUMN or COLUMN@SHARE.

    >>> _parts_of("spent"), _parts_of("clicks/views")
    ('spent', ('clicks', 'views'))
    >>> _parts_of("spent@0.9")
    ('spent', 0.9)
    """
    column, slash, other = text.partition("/")
    if slash:
        return column, other
    column, mark, share = text.rpartition("@")
    try:
        return (column, float(share)) if mark else text
    except ValueError:
        return text


def question_of(
    metrics: tuple[str, ...], users: str | None, given: dict[str, Any]
) -> dict[str, Any]:
    """Return what `calibrate` and `users_needed` are asked of a log or a table.

    These are metrics, the unit, and how events are read.
    """
    if users is not None:
        refuse_with_users(given["columns"], ())
        return {"metrics": columns_of(metrics), "unit": users}
    return {"metrics": metrics_of(metrics), **rules_of(given)}


def refuse_with_users(
    columns: dict[str, str], allowed: tuple[str, ...] = ("variant",)
) -> None:
    """Refuse the options for events, which a table of users has none of."""
    known = {option.name for option in click.get_current_context().command.params}
    for option in options_given():
        if option.name in _OF_EVENTS:
            more = ""
            if option.name == "cuped" and "covariates" in known:
                more = "; give --covariate METRIC=COLUMN"
            msg = f"{option.opts[-1]} is for events, not for --users{more}"
            raise click.UsageError(msg)
    for part in columns:
        if part not in allowed:
            only = "".join(f"; with --users, only --col {own}= is" for own in allowed)
            msg = f"--col {part}= is for events{only}"
            raise click.UsageError(msg)


_OF_EVENTS = (
    "queries", "daily", "cuped", "kinds", "session_gap", "engaged", "unit", "cap",
    "last_page", "exposure", "window", "max_events", "keep_duplicates",
    "memory_limit",
    "keep_incomplete", "timezone",
)  # fmt: skip


def clicks_of(
    log: Any, columns: dict[str, Any], confidence: float
) -> tuple[Any, tuple[str, ...]]:
    """Return the click rates by position, and why there are none if that is odd.

    There are none of a log that has no positions, or of standard input, which can be
    read only once.
    """
    from rankine._online.click_logs import COLUMNS  # noqa: PLC0415
    from rankine._online.positions import click_metrics  # noqa: PLC0415 - --help stays fast

    if isinstance(log, str) and log == "-":
        return None, ()
    known = {part: name for part, name in columns.items() if part in COLUMNS}
    try:
        return click_metrics(log, columns=known, confidence=confidence), ()
    except ColumnNotFoundError:
        return None, ()
    except RankineError as error:
        return None, (f"no click rates by position: {error}",)
