"""The reports of the online part: of a summary, and of an A/B test."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from rankine._base.text import p_equals, p_text
from rankine._online.abresult import ABTest
from rankine._online.people import counted
from rankine._report import specs
from rankine._report.abtest import how, verdict_text
from rankine._report.charts import drawn_number
from rankine._report.markup import Cell, Markup, join, points, table, tag
from rankine._report.of_comparison import verdict_mark
from rankine._report.page import Page, remarks, reproduction
from rankine._report.tables import between, number, shown

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from rankine._online.summary import Summary
    from rankine._report.specs import Rows

_ROWS = 1000
"""Rows of the table of a summary; all of them are in its `table`."""
_DAY = "day"
_LIFT = {"value": "lift", "low": "lift_low", "high": "lift_high"}
_DIFFERENCE = {
    "value": "difference", "low": "low", "high": "high", "always_low": "always_low",
    "always_high": "always_high",
}  # fmt: skip
_THICK = (
    "Thick lines are intervals for one look at the end; thin lines hold however often "
    "one looks."
)


def page_of(
    result: Any, title: str | None, command: str | None, files: tuple[Any, ...]
) -> Page:
    """Return the report of a summary or of a test, not yet as text."""
    if isinstance(result, ABTest):
        return _page_of_test(result, title, command, files)
    return _page_of_summary(result, title, command, files)


def _page_of_summary(
    summary: Summary, title: str | None, command: str | None, files: tuple[Any, ...]
) -> Page:
    sure = f"{100 * summary.confidence:g} % intervals over users"
    page = Page(title or "What users did", f"{summary.events:,} events · {sure}")
    page.add("charts", "Metrics", tag("div", *_drawn(page, summary), class_="grid"))
    page.add("numbers", "Numbers", *_numbers(summary))
    says = [f"{name} = {text}" for name, text in summary.definitions.items()]
    page.add("definitions", "Definitions", points(says))
    left = [f"no {name}: {why}" for name, why in summary.left_out.items()]
    notes = [*_excluded(summary.excluded.items()), *left, *summary.notes]
    page.add("notes", "Notes", remarks((), notes))
    rows = [("confidence", f"{summary.confidence:g}")]
    rows.append(("groups", ", ".join(summary.groups) or "none"))
    page.add("reproduce", "How to reproduce this", reproduction(command, files, rows))
    return page


def _drawn(page: Page, summary: Summary) -> Iterable[Markup]:
    """Draw every metric by day where there are days, or a point per group."""
    names = [name for name in summary.groups if name != _DAY]
    days = _DAY in summary.groups
    for place, metric in enumerate(summary.definitions):
        rows: Rows = []
        for row in summary.table.filter(metric=metric).iter_rows(named=True):
            group = [shown("-" if row[name] is None else row[name]) for name in names]
            bounds = {end: drawn_number(row[end]) for end in ("value", "low", "high")}
            label = ", ".join(group) or "all"
            day = {_DAY: str(row[_DAY])} if days else {}
            rows.append({"label": label, "system": label, **day, **bounds})
        many = len({row["label"] for row in rows}) > specs.MOST_CURVES
        if days and not many:
            spec = specs.over_days(rows, metric)
            says = f"{metric} of each day, with its interval."
        elif not days:
            spec = specs.means(rows, metric)
            says = f"{metric} with its interval."
        else:
            continue
        yield page.figure(f"metric-{place}", spec | {"width": 320}, says)


def _numbers(summary: Summary) -> list[Markup]:
    rows = [
        (
            metric,
            *("-" if name is None else str(name) for name in group),
            _cell(value, low, high),
            Cell(f"{n:,}", n),
            Cell(f"{users:,}", users),
        )
        for metric, *group, value, low, high, n, users in summary.table.head(
            _ROWS
        ).iter_rows()
    ]
    head = ("metric", *summary.groups, "value", "n", "users")
    sides = "l" * (1 + len(summary.groups)) + "rrr"
    parts = [table(head, rows, sides, caption="The number of each metric")]
    if summary.table.height > _ROWS:
        more = f"{summary.table.height - _ROWS:,} more rows are in table of the result."
        parts.append(tag("p", more, class_="hint"))
    return parts


def _cell(value: float, low: float, high: float, form: str = "") -> Cell:
    if math.isnan(value):
        return Cell(number(value))
    if not form:
        return Cell(number(value), value, between(low, high))
    undefined = math.isnan(low) or math.isnan(high)
    bounds = "" if undefined else f"{form.format(low)} to {form.format(high)}"
    return Cell(form.format(value), value, bounds)


def _excluded(counts: Iterable[tuple[str, int]]) -> list[str]:
    return [f"{counted(n, reason)}: left out" for reason, n in counts]


def _page_of_test(
    test: ABTest, title: str | None, command: str | None, files: tuple[Any, ...]
) -> Page:
    rows = list(test.details.iter_rows(named=True))
    control = shown(test.settings.control)
    others = list(dict.fromkeys(shown(row["variant"]) for row in rows))
    users = sum(test.srm.counts.values())
    sure = f"{100 * test.settings.confidence:g} % intervals"
    page = Page(
        title or f"{', '.join(others)} against {control}",
        f"{users:,} users · {sure}",
    )
    page.add("summary", "Summary", *_summary(test, rows, control))
    page.add("effects", "Effects", *_effects(page, test, rows))
    page.add("ratio", "Sample ratio", *_ratio(test))
    notes = [*_excluded(test.excluded.items()), *test.notes]
    page.add("notes", "Warnings and notes", remarks(test.warnings, notes))
    choices = [(name, str(value)) for name, value in vars(test.settings).items()]
    page.add(
        "reproduce", "How to reproduce this", reproduction(command, files, choices)
    )
    return page


def _summary(
    test: ABTest, rows: Sequence[dict[str, Any]], control: str
) -> list[Markup]:
    """Say of every metric what the variant changes, and how sure that is."""
    entries = []
    for row in rows:
        of = "" if row.get("segment") is None else f" in {shown(row['segment'])}"
        effect = _said(row, "lift", "lift_low", "lift_high", "{:+.1%}")
        effect = effect or _said(row, "difference", "low", "high", "{:+.4f}")
        sentence = (
            f" {row['metric']} of {shown(row['variant'])} against {control}{of}: "
            f"{effect or 'undefined'}; {p_equals(row['p_corrected'])}"
        )
        entries.append(join([verdict_mark(verdict_text(row)), sentence]))
    parts = [points(entries, class_="verdicts")]
    doubts = [tag("p", text, class_="notice") for text in test.srm.warnings]
    return [*doubts, *parts]


def _said(row: dict[str, Any], name: str, low: str, high: str, form: str) -> str:
    cell = _cell(row[name], row[low], row[high], form)
    if cell.value is None:
        return ""
    return f"{cell.text} ({cell.below})" if cell.below else str(cell.text)


def _effects(page: Page, test: ABTest, rows: Sequence[dict[str, Any]]) -> list[Markup]:
    """Return the lifts as a forest plot, and the table of all effects."""
    several = len({row["variant"] for row in rows}) > 1
    lifts: Rows = []
    sizes: dict[str, Rows] = {}
    for row in rows:
        names = [] if row.get("segment") is None else [row["segment"]]
        names = [*([row["variant"]] if several else []), *names]
        lifts.append(_interval(row, [row["metric"], *names], _LIFT))
        change = _interval(row, names or [row["variant"]], _DIFFERENCE)
        sizes.setdefault(row["metric"], []).append(change)
    control = shown(test.settings.control)
    spec = specs.forest(lifts, f"lift over {control}", form="+.0%")
    changes = [
        page.figure(
            f"difference-{place}",
            specs.forest(of_metric, f"difference in {metric}") | {"width": 300},
            f"The difference in {metric}, with both intervals of the table.",
            caption=False,
        )
        for place, (metric, of_metric) in enumerate(sizes.items())
    ]
    segmented = "segment" in test.details.columns
    cells = [
        (
            row["metric"],
            row["variant"],
            *([row["segment"] or "all"] if segmented else []),
            _value(row["control_value"]),
            _value(row["value"]),
            _cell(row["difference"], row["low"], row["high"], "{:+.4f}"),
            _cell(row["lift"], row["lift_low"], row["lift_high"], "{:+.1%}"),
            Cell(p_text(row["p_corrected"]), drawn_number(row["p_corrected"])),
            _always(row),
            verdict_mark(verdict_text(row)),
        )
        for row in rows
    ]
    head = (
        "metric", "variant", *(["segment"] * segmented), control, "value",
        "difference", "lift", "p", "at every look", "verdict",
    )  # fmt: skip
    sides = "ll" + "l" * segmented + "rrrrrrl"
    caption = "The effect on each metric"
    says = "Lifts, each with its interval; verdicts go by the corrected p."
    return [
        page.figure("lifts", spec, says),
        tag("div", *changes, class_="grid"),
        tag("p", _THICK, class_="hint") if any(changes) else Markup(),
        table(head, cells, sides, caption=caption),
        tag("p", f"{how(test)}.", class_="hint"),
    ]


def _interval(
    row: dict[str, Any], names: Iterable[object], fields: dict[str, str]
) -> dict[str, Any]:
    """Return a row of a forest plot."""
    numbers = {end: drawn_number(row[field]) for end, field in fields.items()}
    label = ", ".join(map(shown, names))
    return {"label": label, "verdict": row["verdict"], **numbers}


def _value(value: float) -> Cell:
    return Cell(number(value), drawn_number(value))


def _always(row: dict[str, Any]) -> Cell:
    low, high, p = row["always_low"], row["always_high"], row["p_always"]
    if math.isnan(low) or math.isnan(high):
        return Cell("")
    return Cell(f"{low:+.4f} to {high:+.4f}", drawn_number(p), p_equals(p))


def _ratio(test: ABTest) -> list[Markup]:
    srm = test.srm
    total = sum(srm.counts.values())
    rows = [
        (name, Cell(f"{n:,}", n), Cell(f"{srm.shares[name] * total:,.0f}"))
        for name, n in srm.counts.items()
    ]
    says = (
        f"At the end {p_equals(srm.p)}, at every look {p_equals(srm.p_anytime)}; below "
        f"{srm.threshold:g}, no result can be trusted."
    )
    caption = "Users of each variant"
    return [
        table(("variant", "users", "expected"), rows, "lrr", caption=caption),
        tag("p", says, class_="hint"),
    ]
