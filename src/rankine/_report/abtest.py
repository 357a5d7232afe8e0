"""An A/B test as text, HTML and Markdown."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from rich.console import Group
from rich.text import Text

from rankine._base.text import grouped, p_text, percent
from rankine._online.abresult import DECIDED
from rankine._online.oddities import counted
from rankine._online.quantiles import DRAWS
from rankine._online.variants import place_of
from rankine._report.tables import html_table, number, shown
from rankine._report.text import ENDLESS, plain_text, table_with

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from rankine._online.abresult import ABTest

signed: Callable[[float], str] = "{:+.4f}".format
"""How differences are written."""
_WIDTH = 100
_CORRECTED = {
    "holm": "corrected by Holm's method",
    "bonferroni": "corrected by Bonferroni's method",
    "bh": "corrected by Benjamini and Hochberg's method",
    "none": "not corrected",
}

_ONE_LOOK = (
    "the verdict holds for one look and may be read only at the planned end of the "
    "test, as the interval that holds at every look includes 0"
)


def to_text(test: ABTest, width: int | None = _WIDTH) -> str:
    """Return the effects, the sample ratio, warnings and notes as plain text.

    Sentences are wrapped to a width, unless it is None; the table stays whole.
    """
    head, rows, sides = _cells(test)
    said = [*_said(test), *(f"! {text}" for text in test.warnings)]
    said += [f"- {text}" for text in _noted(test)]
    below = Group(*(Text(shown(line)) for line in said))
    drawn = plain_text(table_with(head, rows, sides), ENDLESS)
    return "\n".join([drawn, "", plain_text(below, width or ENDLESS)])


def to_html(test: ABTest) -> str:
    """Return the same as a table for notebooks."""
    head, rows, sides = _cells(test)
    below = [*_said(test), *test.warnings, *_noted(test)]
    return html_table(head, rows, sides, below=below)


def to_markdown(test: ABTest) -> str:
    """Return the effects as a Markdown table, and how far verdicts may be read."""
    head, rows, sides = _cells(test)
    rule = ["---" if side == "l" else "---:" for side in sides]
    lines = [head, rule, *([cell.replace("|", "\\|") for cell in row] for row in rows)]
    drawn = "\n".join(f"| {' | '.join(line)} |" for line in lines)
    return "\n\n".join([drawn, *map(shown, only_at_the_end(test))])


def only_at_the_end(test: ABTest) -> list[str]:
    """Name the effects whose verdict rests on one look, if there are any.

    Their intervals that hold at every look include 0, which would seem to contradict
    the verdict.
    """
    rows = list(test.details.iter_rows(named=True))
    others = list(dict.fromkeys(row["variant"] for row in rows))
    return grouped(
        (place_of(row, others), _ONE_LOOK)
        for row in rows
        if row["verdict"] in DECIDED and row["always_low"] <= 0 <= row["always_high"]
    )


def _said(test: ABTest) -> list[str]:
    """Say how to read the effects, how they were made, and how large the arms are."""
    return [*only_at_the_end(test), how(test), _ratio(test), *_health(test)]


def _noted(test: ABTest) -> list[str]:
    left = [f"{counted(n, reason)} left out" for reason, n in test.excluded.items()]
    return [*left, *test.notes]


def how(test: ABTest) -> str:
    """Say how the numbers were made."""
    settings = test.settings
    method = "Fieller's method" if settings.lift == "fieller" else "the delta method"
    way = f"differences by Welch's t over users{_cuped(test)}, lifts by {method}"
    if test.quantiles:
        others = len(test.quantiles) < test.details["metric"].n_unique()
        way = (
            f"{way + '; ' if others else ''}{', '.join(test.quantiles)} by {DRAWS:,} "
            "draws from the bootstrap distribution of a quantile (seed "
            f"{settings.seed})"
        )
    if settings.winsorize is not None:
        way += f"; what users count is capped at its {settings.winsorize:g} quantile"
    if settings.max_events is not None:
        way += f"; users with more than {settings.max_events:,} events left out"
    corrected = _CORRECTED.get(
        settings.correction, f"corrected by {settings.correction}"
    )
    return (
        f"{100 * settings.confidence:g} % intervals; {way}; p {corrected}; "
        "what is "
        "'always' holds however often one looks, and is tightest with "
        f"{settings.expected_n:,} users"
    )


def _cuped(test: ABTest) -> str:
    """Say which metrics have CUPED; nothing if none has."""
    if test.health is None:
        return ""
    names = test.health["metric"].unique(maintain_order=True).to_list()
    if len(names) == test.details["metric"].n_unique():
        return " with CUPED"
    return f" ({', '.join(names)} with CUPED)"


def _cells(test: ABTest) -> tuple[list[str], list[list[str]], str]:
    segmented = "segment" in test.details.columns
    head = ["metric", "variant", *(["segment"] if segmented else [])]
    sides = "l" * len(head) + "rrlllll"
    head += [
        shown(test.settings.control), "value", "difference", "lift", "p", "always",
        "verdict",
    ]  # fmt: skip
    rows = []
    for row in test.details.iter_rows(named=True):
        names = [row["metric"], row["variant"]]
        if segmented:
            names.append("all" if row["segment"] is None else row["segment"])
        rows.append([*map(shown, names), *_numbers(row)])
    return head, rows, sides


def _numbers(row: Mapping[str, Any]) -> list[str]:
    always = _bounded("", row["always_low"], row["always_high"], signed)
    if always:
        always = f"{always}, p {p_text(row['p_always'])}"
    return [
        number(row["control_value"]),
        number(row["value"]),
        _bounded(_difference(row["difference"]), row["low"], row["high"], signed),
        _bounded(lifted(row["lift"]), row["lift_low"], row["lift_high"], lifted),
        p_text(row["p_corrected"]),
        always,
        verdict_text(row),
    ]


def lifted(lift: float) -> str:
    """Return a lift as it is written.

    >>> lifted(0.184), lifted(float("nan"))
    ('+18.4 %', 'undefined')
    """
    return percent(lift, 1, "+")


def verdict_text(row: Mapping[str, Any]) -> str:
    """Return a verdict, with the margin that it goes by if there is one.

    >>> verdict_text({"verdict": "not worse", "margin": "2%"})
    'not worse, margin 2 %'
    """
    if row["margin"] is None:
        return str(row["verdict"])
    return f"{row['verdict']}, margin {row['margin'].replace('%', ' %')}"


def _difference(value: float) -> str:
    return "undefined" if math.isnan(value) else signed(value)


def _bounded(text: str, low: float, high: float, form: Callable[[float], str]) -> str:
    if math.isnan(low) or math.isnan(high):
        return text
    bounds = f"{form(low)} to {form(high)}"
    return f"{text} ({bounds})" if text else bounds


def _ratio(test: ABTest) -> str:
    srm = test.srm
    users = ", ".join(f"{name} {n:,}" for name, n in srm.counts.items())
    return (
        f"users: {users}; sample ratio p {p_text(srm.p)}, at every look "
        f"{p_text(srm.p_anytime)}"
    )


def _removed(share: float) -> str:
    if math.isnan(share):
        return "the share of the variance removed is undefined"
    return f"{percent(share, 1)} of the variance removed"


def _health(test: ABTest) -> list[str]:
    rows = [] if test.health is None else test.health.iter_rows(named=True)
    return [
        f"CUPED, {row['metric']}, {row['variant']}"
        f"{'' if row['segment'] is None else ', ' + row['segment']}: "
        f"{_removed(row['variance_removed'])}; difference before the test "
        f"{_difference(row['difference_before'])}, p {p_text(row['p_before'])}"
        for row in rows
    ]
