"""The reports of a summary of events and of an A/B test."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from rankine._base.text import count, p_equals, p_text, percent
from rankine._online.abresult import ABTest
from rankine._online.oddities import counted
from rankine._report import online_charts, specs
from rankine._report.abtest import (
    how,
    lifted,
    only_at_the_end,
    sentences,
    signed,
    users_by_metric,
    verdict_text,
)
from rankine._report.charts import drawn_number
from rankine._report.markup import (
    Markup,
    TableCell,
    folded,
    isolated,
    join,
    measured,
    points,
    rest_of,
    table,
    tag,
)
from rankine._report.of_clicks import add_clicks
from rankine._report.of_comparison import LONG, listed, verdict_mark
from rankine._report.online import choice_text, every_in, group_text
from rankine._report.page import Page, meanings, remarks, reproduction
from rankine._report.tables import brief, number, shown

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from rankine._online.abresult import Settings
    from rankine._online.positions import ClickMetrics
    from rankine._online.summary import Summary

_ROWS = 1000
"""The most rows of a table; the result has all of them."""
_THICK = (
    "Thick lines are intervals for one look at the end; thin lines are always valid: "
    "they hold at every look."
)
_DAILY = (
    "What you would have seen at the end of each day, for the users who count in the "
    "final result."
)
_BEYOND = "Intervals of days with few users reach beyond the chart."
_BANDS = (
    " The inner band is the interval for one look; the outer band is always valid: it "
    "holds at every look, and begins once there are enough users."
)


def page_of(
    result: Any,
    title: str | None,
    command: str | None,
    files: tuple[Any, ...],
    clicks: ClickMetrics | None = None,
) -> Page:
    """Return the page of a summary or of a test."""
    if isinstance(result, ABTest):
        return _page_of_test(result, title, command, files, clicks)
    return _page_of_summary(result, title, command, files, clicks)


def _page_of_summary(
    summary: Summary,
    title: str | None,
    command: str | None,
    files: tuple[Any, ...],
    clicks: ClickMetrics | None,
) -> Page:
    sure = f"{100 * summary.confidence:g} % intervals over users"
    page = Page(title or "What users did", f"{summary.events:,} events · {sure}")
    page.add("charts", "Metrics", tag("div", *_drawn(page, summary), class_="grid"))
    page.add("numbers", "Numbers", _numbers(summary))
    add_clicks(page, clicks, ())
    says = [f"{name} = {text}" for name, text in summary.definitions.items()]
    page.add("definitions", "Definitions", points(says))
    left = [f"no {name}: {why}" for name, why in summary.left_out.items()]
    notes = [*_excluded(summary.excluded.items()), *left, *summary.notes]
    page.add("notes", "Notes", remarks((), notes))
    rows = [("confidence", f"{summary.confidence:g}")]
    rows.append(("groups", ", ".join(summary.groups) or "none"))
    rows += [(name, choice_text(value)) for name, value in summary.settings.items()]
    page.add("reproduce", "How to reproduce this", reproduction(command, files, rows))
    return page


def _drawn(page: Page, summary: Summary) -> Iterable[Markup]:
    """Draw every metric over time, or a point per group if there are no days."""
    every = every_in(summary)
    for place, metric in enumerate(summary.definitions):
        if every is None:
            spec, is_cut = online_charts.groups(summary, metric), False
            says = f"{metric} with its interval, as in the table."
        else:
            curves = online_charts.days_of_summary(summary, metric)
            if curves is None:
                continue
            spec, is_cut = curves
            says = f"{metric} of each {every}, with its interval, as in the table."
        yield page.figure(
            f"metric-{place}", spec | {"width": 320}, says, caption=_BEYOND * is_cut
        )


def _numbers(summary: Summary) -> Markup:
    rows = [
        (
            metric,
            *map(group_text, group),
            measured(value, low, high),
            TableCell(f"{n:,}", n),
            TableCell(f"{users:,}", users),
        )
        for metric, *group, value, low, high, n, users in summary.table.head(
            _ROWS
        ).iter_rows()
    ]
    head = ("metric", *summary.groups, "value", "n", "users")
    sides = "l" * (1 + len(summary.groups)) + "rrr"
    caption = "The number of each metric"
    drawn = join(
        [
            table(head, rows, sides, caption=caption),
            rest_of(_ROWS, summary.table.height, ".table of the result"),
        ]
    )
    if every_in(summary) is None:
        return drawn
    return folded(drawn, caption, len(rows))


def _excluded(counts: Iterable[tuple[str, int]]) -> list[str]:
    return [f"{counted(n, reason)}: left out" for reason, n in counts]


def _page_of_test(
    test: ABTest,
    title: str | None,
    command: str | None,
    files: tuple[Any, ...],
    clicks: ClickMetrics | None,
) -> Page:
    rows = list(test.details.iter_rows(named=True))
    control = shown(test.settings.control)
    others = list(dict.fromkeys(shown(row["variant"]) for row in rows))
    users = sum(test.srm.counts.values())
    sure = f"{100 * test.settings.confidence:g} % intervals"
    page = Page(
        title or f"{listed(others)} against {brief(control, LONG)}",
        f"{users:,} users · {sure}",
        [brief(name, LONG) for name in (*others, control)],
        test.warnings,
    )
    page.add("summary", "Summary", *_summary(test, rows))
    page.add("effects", "Effects", *_effects(page, test, rows))
    page.add("days", "Over time", *_over_time(page, test))
    page.add("ratio", "Sample ratio", *_ratio(page, test))
    names = [shown(name) for name in test.srm.shares]
    add_clicks(page, clicks, names)
    notes = [*_excluded(test.excluded.items()), *test.notes]
    page.add("notes", "Notes", remarks((), notes))
    choices = _choices(test.settings)
    page.add(
        "reproduce", "How to reproduce this", reproduction(command, files, choices)
    )
    return page


def _choices(settings: Settings) -> list[tuple[str, str]]:
    """Return the settings of a test as rows of a table."""
    choices = {name: choice_text(value) for name, value in vars(settings).items()}
    if settings.table:
        choices["page_cap"] = _SETTLED
    if settings.table and settings.incomplete is not None:
        choices["window"] = _SETTLED
    return [*choices.items()]


_SETTLED = "as set when the table of users was made"
"""The value of a choice that the table of users does not record."""


def _summary(test: ABTest, rows: Sequence[dict[str, Any]]) -> list[Markup]:
    """Say what each variant changes in each metric, and how certain that is."""
    names = [shown(test.settings.control), *(shown(row["variant"]) for row in rows)]
    entries = [
        join([verdict_mark(row["verdict"]), " ", tag("span", isolated(text, names))])
        for row, text in zip(rows, sentences(test), strict=True)
    ]
    whole = [row.get("segment") is None for row in rows]
    first = [entry for entry, is_whole in zip(entries, whole, strict=True) if is_whole]
    rest = [entry for entry in entries if entry not in first]
    parts = [points(first, class_="verdicts")]
    if rest:
        more = points(rest, class_="verdicts")
        words = f"{count(len(rest), 'more comparison')}, by segment"
        parts.append(tag("details", tag("summary", words), more))
    reads = [tag("p", f"{text}.", class_="hint") for text in only_at_the_end(test)]
    return [*parts, *reads]


def _effects(page: Page, test: ABTest, rows: Sequence[dict[str, Any]]) -> list[Markup]:
    """Return the lifts as a forest plot, and the table of all effects."""
    control = shown(test.settings.control)
    changes = [
        page.figure(
            f"difference-{place}",
            online_charts.differences(test, metric) | {"width": 300},
            f"The difference in {metric}, with both intervals, as in the table.",
            caption="",
        )
        for place, metric in enumerate(online_charts.metrics_of(test))
    ]
    segmented = "segment" in test.details.columns
    watched = _is_watched(rows)
    cells = [
        (
            row["metric"],
            row["variant"],
            *([row["segment"] or "all"] if segmented else []),
            _value(row["control_value"]),
            _value(row["value"]),
            measured(row["difference"], row["low"], row["high"], signed),
            measured(row["lift"], row["lift_low"], row["lift_high"], lifted),
            TableCell(p_text(row["p_corrected"]), drawn_number(row["p_corrected"])),
            *([_always(row)] if watched else []),
            verdict_mark(verdict_text(row)),
        )
        for row in rows
    ]
    head = (
        "metric", "variant", *(["segment"] * segmented), control, "value",
        "difference", "lift", "p", *(["always"] * watched), "verdict",
    )  # fmt: skip
    sides = "ll" + "l" * segmented + "rrrrr" + "r" * watched + "l"
    caption = "The effect on each metric"
    says = "Lifts with their intervals; verdicts follow the corrected p."
    return [
        page.figure("lifts", online_charts.lifts(test), says),
        tag("div", *changes, class_="grid"),
        tag("p", _THICK, class_="hint") if any(changes) and watched else Markup(),
        table(head, cells, sides, caption=caption),
        meanings(test.definitions),
        tag("p", f"{how(test)}.", class_="hint"),
        *(tag("p", f"{text}.", class_="hint") for text in users_by_metric(test)),
    ]


def _value(value: float) -> TableCell:
    return TableCell(number(value), drawn_number(value))


def _is_watched(rows: Iterable[dict[str, Any]]) -> bool:
    """Say whether any effect has an always-valid interval."""
    return any(not math.isnan(row["always_low"]) for row in rows)


def _always(row: dict[str, Any]) -> TableCell:
    low, high, p = row["always_low"], row["always_high"], row["p_always"]
    if math.isnan(low) or math.isnan(high):
        return TableCell("")
    return TableCell(p_text(p), drawn_number(p), f"{low:+.4f} to {high:+.4f}")


def _over_time(page: Page, test: ABTest) -> list[Markup]:
    """Return the effects at the end of each day, with both bands."""
    if test.by_day is None or test.by_day.is_empty():
        says = (
            "This result has no effects by day; daily=True or --daily adds them, for a "
            "log with timestamps."
        )
        return [tag("p", says, class_="hint")]
    rows = list(test.by_day.iter_rows(named=True))
    watched = _is_watched(rows)
    control = shown(test.settings.control)
    drawn = []
    for place, metric in enumerate(test.by_day["metric"].unique(maintain_order=True)):
        curves = online_charts.days_of_test(test, metric)
        if curves is not None:
            says = f"{metric}: the difference from {control} at the end of each day."
            spec, below = curves.spec | {"width": 320}, _BEYOND * curves.is_cut
            drawn.append(page.figure(f"day-{place}", spec, says, caption=below))
    cells = [
        (
            str(row["day"]),
            row["metric"],
            row["variant"],
            TableCell(f"{row['n_control'] + row['n']:,}", row["n_control"] + row["n"]),
            measured(row["difference"], row["low"], row["high"], signed),
            *([_always(row)] if watched else []),
        )
        for row in rows[-_ROWS:]
    ]
    head = (
        "day", "metric", "variant", "users", "difference", *(["always"] * watched),
    )  # fmt: skip
    caption = "Effects at the end of each day"
    numbers = table(head, cells, "lllrr" + "r" * watched, caption=caption)
    more = rest_of(_ROWS, len(rows), ".by_day of the result", "last")
    return [
        tag("p", _DAILY, _BANDS if watched else "", class_="hint"),
        tag("div", *drawn, class_="grid"),
        folded(join([numbers, more]), caption, len(cells)),
    ]


def _ratio(page: Page, test: ABTest) -> list[Markup]:
    srm = test.srm
    total = sum(srm.counts.values())
    rows = [
        (name, TableCell(f"{n:,}", n), TableCell(f"{srm.shares[name] * total:,.0f}"))
        for name, n in srm.counts.items()
    ]
    fair = "" if srm.warnings else "Users are split as expected. "
    says = (
        f"{fair}Sample-ratio check: {p_equals(srm.p)} (always-valid: "
        f"{p_text(srm.p_anytime)}). Below {srm.threshold:g}, no result of this test "
        "can be trusted."
    )
    parts = [
        table(
            ("variant", "users", "expected"), rows, "lrr",
            caption="Users of each variant",
        ),
        tag("p", says, class_="hint"),
    ]  # fmt: skip
    if test.joined is None:
        return parts
    by_day = list(test.joined.iter_rows(named=True))
    points = [
        {
            "system": shown(row["variant"]), "day": str(row["day"]),
            "value": row["share"], "expected": row["expected"],
        }
        for row in by_day
    ]  # fmt: skip
    if len(srm.shares) <= specs.MOST_CURVES:
        names = [shown(name) for name in srm.shares]
        axis = "share of users so far"
        spec = specs.over_days(points, axis, "expected", names, specs.SHARES)
        words = (
            "The share of users in each variant at the end of each day; the dashed "
            "line is the expected share."
        )
        parts.append(page.figure("joined", spec | {"height": 200}, words))
    cells = [
        (
            str(row["day"]),
            row["variant"],
            TableCell(f"{row['users']:,}", row["users"]),
            TableCell(percent(row["share"], 2), row["share"]),
            TableCell(percent(row["expected"], 2), row["expected"]),
            TableCell(p_text(row["p_anytime"]), row["p_anytime"]),
        )
        for row in by_day[-_ROWS:]
    ]
    head = ("day", "variant", "users", "share", "expected", "always-valid p")
    caption = "Users of each variant at the end of each day"
    numbers = table(head, cells, "llrrrr", caption=caption)
    more = rest_of(_ROWS, len(by_day), ".joined of the result", "last")
    return [*parts, folded(join([numbers, more]), caption, len(cells))]
