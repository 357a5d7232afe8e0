"""rankine online EVENTS."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from rankine.cli.events import (
    clicks_of,
    events_of,
    listed,
    metrics_of,
    reading_events,
    rules_of,
)
from rankine.cli.output import (
    FILE,
    print_table,
    report_option,
    table_options,
    write_report,
    write_table,
)

if TYPE_CHECKING:
    from collections.abc import Mapping


def _refuse_beside_funnel(steps: str | None, others: Mapping[str, Any]) -> None:
    """Refuse options that have no effect on a funnel, and its time without one."""
    if steps is None:
        msg = "--within is the time of --funnel, which is missing"
        raise click.UsageError(msg)
    for option, value in others.items():
        if value:
            msg = f"--funnel and {option} cannot be combined"
            raise click.UsageError(msg)


def _refuse_file(users: Path, events: str) -> None:
    """Refuse to write the table of users over the log, or into an odd file."""
    if users.suffix.lower() not in {".csv", ".parquet"}:
        msg = f"--users names a file to write, .csv or .parquet, got {str(users)!r}"
        raise click.UsageError(msg)
    log = Path(events)
    if users.exists() and log.exists() and users.samefile(log):
        msg = f"--users would write over the log, {events}; name another file"
        raise click.UsageError(msg)


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
    help="The longest time from the first step of --funnel to the last.",
)  # fmt: skip
@click.option(
    "--confidence", type=float, default=0.95, show_default=True, metavar="SHARE",
    help="Confidence level of the intervals.",
)  # fmt: skip
@reading_events
@report_option
@table_options
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
    form: str,
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
    from rankine._report.online import to_text  # noqa: PLC0415

    if sum((daily, weekly, hourly)) > 1:
        msg = "--daily, --weekly and --hourly cannot be combined"
        raise click.UsageError(msg)
    log, notes = events_of(events, given)
    memory, options = given["memory_limit"], rules_of(given)
    group = None if by == "-" else by
    if steps is not None or within is not None:
        others = {
            "-m": metrics, "--daily": daily, "--weekly": weekly, "--hourly": hourly,
            "--users": users, "--report": report,
        }  # fmt: skip
        _refuse_beside_funnel(steps, others)
        found = funnel(
            log, listed(steps or ""), by=group, segment=segment, within=within,
            confidence=confidence, memory_limit=memory, **options,
        )  # fmt: skip
        found = replace(found, notes=(*notes, *found.notes))
        print_table(found, form, to_text)
        return
    if users is not None:
        _refuse_file(users, events)
    rules, every = (
        Rules.of(options),
        every_of(daily=daily, weekly=weekly, hourly=hourly),
    )
    asked = checked(
        metrics_of(metrics), rules, confidence, group, segment, every,
        with_table=users is not None,
    )  # fmt: skip
    counts = counts_of(log, rules, group, segment, every=every, memory=memory)
    summary = summary_of(counts, asked, confidence)
    if users is not None:
        write_table(table_of(counts), users)
    summary = replace(summary, notes=(*notes, *summary.notes))
    print_table(summary, form, to_text)
    if report is not None:
        columns = given["columns"] if by != "-" else {**given["columns"], "variant": by}
        clicks, reasons = clicks_of(log, columns, summary.confidence)
        summary = replace(summary, notes=(*summary.notes, *reasons))
        write_report(summary, report, [events], title=title, clicks=clicks)
