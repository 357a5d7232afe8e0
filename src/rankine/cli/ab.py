"""rankine ab EVENTS --control NAME."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from rankine.cli.events import (
    clicks_of,
    columns_of,
    events_of,
    metrics_of,
    metrics_option,
    reading_events,
    refuse_with_users,
    rules_of,
    users_option,
)
from rankine.cli.options import pairs
from rankine.cli.output import print_table, report_option, table_options, write_report
from rankine.errors import ParameterError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@click.command()
@click.argument("events")
@click.option(
    "--control", required=True, metavar="NAME",
    help="The variant that the others are compared with.",
)  # fmt: skip
@metrics_option
@users_option
@click.option("--segment", metavar="COLUMN", help="Also show effects by segment.")
@click.option(
    "--daily", is_flag=True,
    help="Also keep effects at the end of each day, for --json; --report always does.",
)  # fmt: skip
@click.option(
    "--cuped", is_flag=True,
    help="Use what users did before their first exposure to reduce the variance.",
)  # fmt: skip
@click.option(
    "--covariate", "covariates", multiple=True, callback=pairs,
    metavar="METRIC=COLUMN[/COLUMN]",
    help="With --users, the metric before the test, for CUPED; repeatable.",
)  # fmt: skip
@click.option(
    "--better", multiple=True, callback=pairs, metavar="METRIC=higher|lower",
    help="Whether higher or lower is better; higher for metrics of your own if not "
    "given; repeatable.",
)  # fmt: skip
@click.option(
    "--margin", multiple=True, callback=pairs, metavar="METRIC=SIZE",
    help="The change for the worse that does not matter, as 0.01 or 2%; such a metric "
    "is a guardrail; repeatable.",
)  # fmt: skip
@click.option(
    "--most", multiple=True, callback=pairs, metavar="METRIC=SIZE",
    help="Cap each user's total at this size, fixed before the test; repeatable.",
)  # fmt: skip
@click.option(
    "--winsorize", type=float, metavar="SHARE",
    help="Cap each user's values at this quantile over all users, such as 0.999; "
    "there are no always-valid intervals then.",
)  # fmt: skip
@click.option(
    "--ratio", multiple=True, callback=pairs, metavar="VARIANT=SHARE",
    help="The expected share of users; equal shares if not given; repeatable.",
)  # fmt: skip
@click.option(
    "--correction", default="holm", show_default=True, metavar="NAME",
    help="Correction for the number of effects: holm, bonferroni, bh or none.",
)  # fmt: skip
@click.option(
    "--lift", default="delta", show_default=True, metavar="NAME",
    help="How the interval of the lift is computed: delta or fieller.",
)  # fmt: skip
@click.option(
    "--confidence", type=float, default=0.95, show_default=True, metavar="SHARE",
    help="Confidence level of the intervals; verdicts are given at 1 minus this.",
)  # fmt: skip
@click.option(
    "--expected-n", type=int, default=10_000, show_default=True, metavar="N",
    help="Number of users at which always-valid intervals are tightest; fix it "
    "before the first look.",
)  # fmt: skip
@reading_events
@report_option
@table_options
def command(
    events: str,
    metrics: tuple[str, ...],
    users: str | None,
    daily: bool,  # noqa: FBT001 - a flag
    cuped: bool,  # noqa: FBT001
    covariates: dict[str, str],
    margin: dict[str, str],
    most: dict[str, str],
    winsorize: float | None,
    ratio: dict[str, str],
    report: Path | None,
    title: str | None,
    form: str,
    control: str,
    segment: str | None,
    better: dict[str, str],
    correction: str,
    lift: str,
    confidence: float,
    expected_n: int,
    **given: Any,
) -> None:
    """Compare the variants of a test with its control, from a log of EVENTS.

    Shows the difference and the lift of every metric with their intervals, p-values
    over users, always-valid intervals, which hold at every look, and a check of the
    sample ratio. EVENTS is as for rankine online.

    \b
    rankine ab events.parquet --control A -m ctr -m conversion_rate
    rankine ab events.parquet --control A -m revenue_per_user=revenue --cuped
    rankine ab events.parquet --control A -m ctr --margin ctr=2%
    rankine ab users.csv --control A --users user_id -m ctr=clicks/views
    """  # noqa: D301 - the mark is for click, which keeps the lines below it
    from rankine._online.abtest import ab_test  # noqa: PLC0415 - --help stays fast
    from rankine._online.inputs import opened  # noqa: PLC0415
    from rankine._report.abtest import to_text  # noqa: PLC0415

    rules = rules_of(given)
    asked = metrics_of(metrics)
    unit, variant = rules.pop("unit", None), None
    caps: Any = rules.pop("cap", None)
    if most and caps is not None:
        msg = "--cap and --most cannot be combined: a test takes one of them"
        raise click.UsageError(msg)
    if users is None and covariates:
        msg = "--covariate needs --users; for a log of events, give --cuped"
        raise click.UsageError(msg)
    if users is not None:
        refuse_with_users(given["columns"])
        asked = columns_of(metrics)
        unit, variant = users, given["columns"].get("variant", "variant")
        rules = {}
    if most:
        caps = _numbers("most", most)
    log, notes = events_of(events, given)
    found = opened(log, asked, unit, rules)
    log = found.data
    daily = daily or (report is not None and found.has_days)
    with _named_as("--most" if most else "--cap"):
        test = ab_test(
            log, control=control, metrics=asked, unit=unit,
            variant=variant, segment=segment, cuped=cuped, cap=caps,
            winsorize=winsorize,
            daily=daily,
            covariates=columns_of(tuple(map("=".join, covariates.items()))) or None,
            better=better or None,  # type: ignore[arg-type]
            margin=margin or None, ratio=_numbers("ratio", ratio) or None,
            correction=correction, lift=lift,  # type: ignore[arg-type]
            confidence=confidence, expected_n=expected_n,
            memory_limit=given["memory_limit"], **rules,
        )  # fmt: skip
    test = replace(test, notes=(*notes, *test.notes))
    print_table(test, form, to_text)
    if report is not None:
        sure = test.settings.confidence
        clicks, reasons = (
            (None, ()) if users else clicks_of(log, given["columns"], sure)
        )
        test = replace(test, notes=(*test.notes, *reasons))
        write_report(test, report, [events], title=title, clicks=clicks)


@contextmanager
def _named_as(option: str) -> Iterator[None]:
    """Name the option that was given for ``cap``, of which there are two."""
    try:
        yield
    except ParameterError as error:
        name, _, rest = str(error).partition(" ")
        if name != "cap":
            raise
        msg = f"{option} {rest}"
        raise ParameterError(msg) from None


def _numbers(option: str, given: dict[str, str]) -> dict[str, float]:
    numbers = {}
    for name, text in given.items():
        try:
            numbers[name] = float(text)
        except ValueError:
            msg = f"--{option} {name}={text}: {text!r} is not a number"
            raise click.UsageError(msg) from None
    return numbers
