"""rankine online EVENTS."""

from __future__ import annotations

from dataclasses import replace
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from rankine.cli.options import byte_size, pairs
from rankine.cli.output import (
    FILE,
    echo_json,
    json_option,
    print_json,
    report_option,
    width,
    write_report,
    write_table,
)
from rankine.errors import ColumnNotFoundError, ParameterError, RankineError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from rankine._online.funnel import Funnel
    from rankine._online.summary import Summary

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
        help="Leave out users with more events that count, such as bots.",
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


def events_of(
    events: str, sql: str | None, queries: str | None, kinds: Any
) -> tuple[Any, tuple[str, ...]]:
    """Return the log that a command reads, and what was assumed in reading it."""
    if queries is None:
        from rankine._online.sources import from_sql  # noqa: PLC0415 - --help stays fast

        return (events if sql is None else from_sql(events, sql)), ()
    if sql is not None:
        msg = "--sql and --queries cannot be combined"
        raise click.UsageError(msg)
    from rankine._online.ubi import from_ubi  # noqa: PLC0415

    log = from_ubi(events, queries, kinds=kinds)
    return log.events, log.notes


def rules_of(
    engaged: str | None,
    keep_duplicates: bool,  # noqa: FBT001 - a flag
    keep_incomplete: bool,  # noqa: FBT001
    **given: Any,
) -> dict[str, Any]:
    """Return what the options of `reading_events` say, as arguments of `summarize`.

    Options that do not stand on the command line are left out.
    """
    says: Any = engaged
    if engaged is not None:
        try:
            says = float(engaged)
        except ValueError:
            says = _listed(engaged)
    rules = {
        **given,
        "engaged": says,
        "duplicates": "keep" if keep_duplicates else None,
        "incomplete": "keep" if keep_incomplete else None,
    }
    named = {option.name for option in options_given()}
    return {
        name: value
        for name, value in rules.items()
        if name in named or (name in {"duplicates", "incomplete"} and value)
    }


def options_given() -> list[click.Parameter]:
    """Return the options that stand on the command line."""
    context = click.get_current_context()
    return [
        option
        for option in context.command.params
        if context.get_parameter_source(str(option.name)) is ParameterSource.COMMANDLINE
    ]


def _listed(words: str) -> list[str]:
    return [word for word in words.split(",") if word.strip()]


def _refuse_beside_funnel(steps: str | None, others: Mapping[str, Any]) -> None:
    """Refuse options that have no effect on a funnel, and its time without one."""
    if steps is None:
        msg = "--within is the time of --funnel, which is missing"
        raise click.UsageError(msg)
    for option, value in others.items():
        if value:
            msg = f"--funnel and {option} cannot be combined"
            raise click.UsageError(msg)


def _show(found: Summary | Funnel, *, as_csv: bool, as_markdown: bool) -> None:
    """Print a result as CSV, Markdown or text."""
    from rankine._report.online import to_text  # noqa: PLC0415 - --help stays fast

    if as_csv:
        click.echo(found.table.write_csv(), nl=False)
    elif as_markdown:
        click.echo(found.to_markdown())
    else:
        click.echo(to_text(found, width()))


def _refuse_file(users: Path, events: str) -> None:
    """Refuse to write the table of users over the log, or into an odd file."""
    if users.suffix.lower() not in {".csv", ".parquet"}:
        msg = f"--users names a file to write, .csv or .parquet, got {str(users)!r}"
        raise click.UsageError(msg)
    log = Path(events)
    if users.exists() and log.exists() and users.samefile(log):
        msg = f"--users would write over the log, {events}; name another file"
        raise click.UsageError(msg)


def metrics_of(metrics: Sequence[str]) -> Any:
    """Read names of metrics, and NAME=COLUMN[/COLUMN] or NAME=COLUMN@SHARE.

    >>> metrics_of(["ctr"]), metrics_of(["ctr", "aov=revenue/orders"])
    (['ctr'], {'ctr': 'ctr', 'aov': ('revenue', 'orders')})
    """
    if not any(mark in text for text in metrics for mark in "=/@"):
        return list(metrics) or None
    asked = {}
    for text in metrics:
        name, sign, column = text.rpartition("=")
        refuse_nameless(text, name, sign)
        if (name or column) in asked:
            msg = f"-m {name or column} is given twice"
            raise click.UsageError(msg)
        asked[name or column] = parts_of_metric(column)
    return asked


def refuse_nameless(text: str, name: str, sign: str) -> None:
    """Refuse -m =COLUMN."""
    if sign and not name:
        msg = f"-m {text} has no name before '='; give NAME{text}"
        raise click.UsageError(msg)


def parts_of_metric(text: str) -> Any:
    """Read COLUMN, COLUMN/COLUMN or COLUMN@SHARE.

    >>> parts_of_metric("spent"), parts_of_metric("clicks/views")
    ('spent', ('clicks', 'views'))
    >>> parts_of_metric("spent@0.9")
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


def clicks_of(
    log: Any, columns: dict[str, Any], confidence: float
) -> tuple[Any, tuple[str, ...]]:
    """Return the click rates by position, and why there are none if that is odd.

    There are none of a log that has no positions, or of standard input, which can be
    read only once.
    """
    from rankine._online.positions import click_metrics  # noqa: PLC0415 - --help stays fast
    from rankine._online.shown import COLUMNS  # noqa: PLC0415

    if isinstance(log, str) and log == "-":
        return None, ()
    known = {part: name for part, name in columns.items() if part in COLUMNS}
    try:
        return click_metrics(log, columns=known, confidence=confidence), ()
    except ColumnNotFoundError:
        return None, ()
    except RankineError as error:
        return None, (f"no click rates by position: {error}",)


@click.command()
@click.argument("events")
@click.option(
    "-m", "--metric", "metrics", multiple=True, metavar="METRIC",
    help="ctr, conversion_rate, bounce_rate, engagement_rate, time_on_page, roi or "
    "engagement_per_impression, retention_1, retention_7 or retention_28; or one of "
    "your own from the table of users, NAME=COLUMN for a mean per user, NAME=COLUMN/"
    "COLUMN for a ratio; repeatable; the first six, as far as the log allows, if not "
    "given.",
)  # fmt: skip
@click.option(
    "--by", default="variant", show_default=True, metavar="COLUMN",
    help="The column that divides users into groups; - for none. The variants of a "
    "test are in the column called variant, or in that of --col variant=COLUMN: users "
    "in several are left out, and only what follows the first exposure counts.",
)  # fmt: skip
@click.option("--segment", metavar="COLUMN", help="A second column of groups.")
@click.option("--daily", is_flag=True, help="A row for each day.")
@click.option("--weekly", is_flag=True, help="A row for each week, from Monday.")
@click.option("--hourly", is_flag=True, help="A row for each hour.")
@click.option(
    "--users", type=FILE, metavar="FILE",
    help="Also write the table of users, a row for each with all counts, which this "
    "command and rankine ab read instead of the log: CSV if its name ends in .csv, "
    "otherwise Parquet.",
)  # fmt: skip
@click.option(
    "--funnel", "steps", metavar="EVENT,...",
    help="Show how many users take these steps in order, instead of metrics.",
)  # fmt: skip
@click.option(
    "--within", type=float, metavar="DAYS",
    help="The most time from the first step of --funnel to the last.",
)  # fmt: skip
@click.option(
    "--confidence", type=float, default=0.95, show_default=True, metavar="SHARE",
    help="Confidence level of the intervals.",
)  # fmt: skip
@reading_events
@report_option
@json_option
@click.option("--csv", "as_csv", is_flag=True, help="Print the table as CSV.")
@click.option("--markdown", "as_markdown", is_flag=True, help="Print it as Markdown.")
def command(
    events: str,
    metrics: tuple[str, ...],
    by: str,
    segment: str | None,
    daily: bool,  # noqa: FBT001 - a flag
    weekly: bool,  # noqa: FBT001
    hourly: bool,  # noqa: FBT001
    users: Path | None,
    steps: str | None,
    within: float | None,
    confidence: float,
    report: Path | None,
    title: str | None,
    as_json: bool,  # noqa: FBT001
    as_csv: bool,  # noqa: FBT001
    as_markdown: bool,  # noqa: FBT001
    sql: str | None,
    queries: str | None,
    memory_limit: int | None,
    **given: Any,
) -> None:
    """Summarise what users did, from a log of EVENTS.

    Shows click-through, conversion, bounce and engagement rate, time on page and return
    on costs, each with its interval over users. EVENTS is a file, a folder or a pattern
    of CSV, NDJSON or Parquet, or - for standard input, with columns such as timestamp,
    user_id, variant and event.

    \b
    rankine online events.parquet --segment country
    rankine online 'days/*.csv' --daily --timezone Europe/Berlin --csv
    rankine online shop.sqlite --sql 'select * from events'
    rankine online ubi_events.ndjson --queries ubi_queries.ndjson
    rankine online events.parquet --users users.parquet -m revenue_per_user=revenue
    rankine online events.parquet --funnel page_view,add_to_cart,purchase --within 7
    """  # noqa: D301 - the mark is for click, which keeps the lines below it
    from rankine._online.funnel import funnel  # noqa: PLC0415 - --help stays fast
    from rankine._online.rules import Rules, every_of  # noqa: PLC0415
    from rankine._online.summary import checked, summary_of  # noqa: PLC0415
    from rankine._online.table import counts_of, table_of  # noqa: PLC0415

    if sum((as_json, as_csv, as_markdown)) > 1:
        msg = "--json, --csv and --markdown cannot be combined"
        raise click.UsageError(msg)
    if sum((daily, weekly, hourly)) > 1:
        msg = "--daily, --weekly and --hourly cannot be combined"
        raise click.UsageError(msg)
    log, notes = events_of(events, sql, queries, given["kinds"])
    group, options = None if by == "-" else by, rules_of(**given)
    if steps is not None or within is not None:
        others = {
            "-m": metrics, "--daily": daily, "--weekly": weekly, "--hourly": hourly,
            "--users": users, "--report": report,
        }  # fmt: skip
        _refuse_beside_funnel(steps, others)
        found = funnel(
            log, _listed(steps or ""), by=group, segment=segment, within=within,
            confidence=confidence, memory_limit=memory_limit, **options,
        )  # fmt: skip
        found = replace(found, notes=(*notes, *found.notes))
        if as_json:
            print_json(found.to_dict())
        else:
            _show(found, as_csv=as_csv, as_markdown=as_markdown)
        return
    if users is not None:
        _refuse_file(users, events)
    asked, rules = metrics_of(metrics), Rules.of(options)
    every = every_of(daily=daily, weekly=weekly, hourly=hourly)
    checked(asked, confidence, group, segment, every)
    counts = counts_of(log, rules, group, segment, every=every, memory=memory_limit)
    summary = summary_of(counts, asked, confidence)
    if users is not None:
        write_table(table_of(counts), users)
    summary = replace(summary, notes=(*notes, *summary.notes))
    if as_json:
        echo_json(summary.to_json())
    else:
        _show(summary, as_csv=as_csv, as_markdown=as_markdown)
    if report is not None:
        columns = given["columns"] if by != "-" else {**given["columns"], "variant": by}
        clicks, reasons = clicks_of(log, columns, summary.confidence)
        summary = replace(summary, notes=(*summary.notes, *reasons))
        write_report(summary, report, [events], title=title, clicks=clicks)
