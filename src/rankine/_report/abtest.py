"""An A/B test as text, HTML and Markdown."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from rankine._base.text import count, grouped, p_equals, p_text, percent
from rankine._online.abresult import DECIDED, NOT_WORSE
from rankine._online.oddities import counted
from rankine._online.quantiles import DRAWS
from rankine._online.variants import Margin, place_of
from rankine._report.online import escaped, settings_text
from rankine._report.pairs import IN_WORDS
from rankine._report.tables import html_list, html_table, markdown_table, number, shown
from rankine._report.text import ENDLESS, plain_lines, plain_text, table_with

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
    "the verdict is for a single look: read it only at the planned end of the test, "
    "because the always-valid interval"
)


def to_text(test: ABTest, width: int | None = _WIDTH) -> str:
    """Return the effects, the sample ratio, warnings and notes as plain text.

    Sentences are wrapped to a width, unless it is None; the table stays whole.
    """
    head, rows, sides = _cells(test)
    drawn = plain_text(table_with(head, rows, sides), ENDLESS)
    parts = [
        plain_lines((f"! {text}" for text in test.warnings), width),
        drawn,
        plain_lines([*_said(test), *(f"- {text}" for text in _noted(test))], width),
    ]
    return "\n\n".join(filter(None, parts))


def to_html(test: ABTest) -> str:
    """Return the same as a table for notebooks."""
    head, rows, sides = _cells(test)
    below = [*_said(test), *_noted(test)]
    return html_list(test.warnings) + html_table(head, rows, sides, below=below)


def to_markdown(test: ABTest) -> str:
    """Return the effects as a Markdown table, warnings first.

    A line below names the verdicts that may be read only at the end of the test.
    """
    head, rows, sides = _cells(test)
    drawn = markdown_table(head, escaped(rows), sides)
    warned = [f"**Warning:** {shown(text)}" for text in test.warnings]
    return "\n\n".join([*warned, drawn, *map(shown, only_at_the_end(test))])


def sentences(test: ABTest) -> list[str]:
    """Describe each effect in a sentence, in the order of `details`."""
    control, after = shown(test.settings.control), _after(test)
    rows = test.details.iter_rows(named=True)
    return [_sentence(row, control, after) for row in rows]


def _after(test: ABTest) -> str:
    """Name the correction of p-values, which the intervals beside them lack."""
    tested = test.details["margin"].is_null() & test.details["p_corrected"].is_not_nan()
    n, how = int(tested.sum()), IN_WORDS.get(test.settings.correction)
    if n <= 1 or how is None:
        return ""
    return f" after {how} for {count(n, 'effect')}"


def _sentence(row: Mapping[str, Any], a: str, after: str) -> str:
    b, metric, verdict = shown(row["variant"]), shown(row["metric"]), row["verdict"]
    where = "" if row.get("segment") is None else f"{shown(row['segment'])}: "
    size = _size(row, after)
    if verdict in DECIDED and row["higher_is_better"] is None:
        return (
            f"{where}{metric} is {verdict} in {b} than in {a} by {_size(row, after)}."
        )
    if verdict in DECIDED:
        return f"{where}{b} is {verdict} than {a} in {metric} by {_size(row, after)}."
    found = "the difference is undefined"
    if not math.isnan(row["difference"]):
        found = f"the difference is {size}"
    by = "" if row["margin"] is None else f"by {_margin(row)} or more"
    if verdict == NOT_WORSE:
        return f"{where}{b} is not worse than {a} in {metric} {by}: {found}."
    if by:
        asked = f"{b} is worse than {a} in {metric} {by}"
    elif row["higher_is_better"] is None:
        asked = f"{metric} differs between {a} and {b}"
    else:
        asked = f"{b} is better than {a} in {metric}"
    return f"{where}Cannot tell whether {asked}: {found}."


def _size(row: Mapping[str, Any], after: str) -> str:
    """Return a difference with its interval and p, and the lift."""
    p = p_equals(row["p_corrected"]) + after
    if row["margin"] is not None:
        # A guardrail's p tests "worse by the margin"; it is no evidence for "worse".
        one_sided = f"one-sided {p_equals(row['p_corrected'])}"
        p = "" if row["verdict"] in DECIDED else one_sided
    bounds = _bounds(row["low"], row["high"], signed)
    inside = "; ".join(filter(None, (bounds, p)))
    size = f"{signed(row['difference'])} ({inside})"
    if math.isnan(row["lift"]):
        return size
    return f"{size}, a lift of {lift_in_words(row)}"


def only_at_the_end(test: ABTest) -> list[str]:
    """Name the effects whose verdict rests on one look, if there are any.

    Their always-valid intervals include 0, or reach beyond the margin of a guardrail,
    which seems to contradict the verdict.
    """
    rows = list(test.details.iter_rows(named=True))
    others = list(dict.fromkeys(row["variant"] for row in rows))
    return grouped(
        (place_of(row, others), f"{_ONE_LOOK} {reach}")
        for row in rows
        if (reach := _reach(row))
    )


def _reach(row: Mapping[str, Any]) -> str:
    """Say how the always-valid interval contradicts a verdict, if it does."""
    low, high = row["always_low"], row["always_high"]
    if row["verdict"] in DECIDED and low <= 0 <= high:
        return "includes 0"
    if row["verdict"] == NOT_WORSE:
        most = Margin.read(row["metric"], row["margin"]).of(row["control_value"])
        if (low < -most) if row["higher_is_better"] else (high > most):
            return f"reaches beyond the margin of {_margin(row)}"
    return ""


def _said(test: ABTest) -> list[str]:
    """Return how to read the effects, the methods, and the sizes of the arms."""
    return [
        *only_at_the_end(test),
        how(test),
        _ratio(test),
        *users_by_metric(test),
        *_defined(test),
        *_health(test),
    ]


def _defined(test: ABTest) -> list[str]:
    """Return the definitions of metrics and the options, if any option was given."""
    rules = settings_text(test.settings.rules)
    return rules and [
        *(f"{name} = {says}" for name, says in test.definitions.items()),
        *rules,
    ]


def _noted(test: ABTest) -> list[str]:
    left = [f"{counted(n, reason)} left out" for reason, n in test.excluded.items()]
    return [*left, *test.notes]


def how(test: ABTest) -> str:
    """Name the methods behind the numbers."""
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
        way += f"; users' values are capped at their {settings.winsorize:g} quantile"
    if settings.max_events is not None:
        way += f"; users with more than {settings.max_events:,} events are left out"
    return (
        f"{100 * settings.confidence:g} % intervals; {way}; p {_correction(test)}; "
        "always-valid intervals hold at every look, and are tightest at "
        f"{settings.expected_n:,} users"
    )


def _correction(test: ABTest) -> str:
    """Say how p-values were corrected; those of guardrails never are."""
    margins = test.details["margin"]
    if not margins.null_count():
        return _CORRECTED["none"]
    how = test.settings.correction
    corrected = _CORRECTED.get(how, f"corrected by {how}")
    if margins.null_count() < len(margins) and how != "none":
        corrected += " (those of guardrails are not)"
    return corrected


def _cuped(test: ABTest) -> str:
    """Name the metrics that use CUPED, if any do."""
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
        lift_in_words(row),
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


def lift_in_words(row: Mapping[str, Any]) -> str:
    """Return a lift with its interval."""
    return _bounded(lifted(row["lift"]), row["lift_low"], row["lift_high"], lifted)


def verdict_text(row: Mapping[str, Any]) -> str:
    """Return a verdict, with its margin if it has one.

    >>> verdict_text({"verdict": "not worse", "margin": "2%"})
    'not worse, margin 2 %'
    """
    if row["margin"] is None:
        return str(row["verdict"])
    return f"{row['verdict']}, margin {_margin(row)}"


def _margin(row: Mapping[str, Any]) -> str:
    return str(row["margin"]).replace("%", " %")


def _difference(value: float) -> str:
    return "undefined" if math.isnan(value) else signed(value)


def _bounded(text: str, low: float, high: float, form: Callable[[float], str]) -> str:
    bounds = _bounds(low, high, form)
    return f"{text} ({bounds})" if text and bounds else text or bounds


def _bounds(low: float, high: float, form: Callable[[float], str]) -> str:
    """Return an interval, or nothing if it is undefined."""
    if math.isnan(low) or math.isnan(high):
        return ""
    return f"{form(low)} to {form(high)}"


def _ratio(test: ABTest) -> str:
    srm = test.srm
    users = ", ".join(f"{name} {n:,}" for name, n in srm.counts.items())
    return (
        f"users: {users}; sample-ratio check: {p_equals(srm.p)} (always-valid: "
        f"{p_text(srm.p_anytime)})"
    )


def users_by_metric(test: ABTest) -> list[str]:
    """Return the users of each metric that some users of the test have no value of."""
    counts: dict[str, dict[str, int]] = {}
    for row in test.details.iter_rows(named=True):
        if row.get("segment") is None:
            of_metric = counts.setdefault(row["metric"], {})
            of_metric |= {test.settings.control: row["n_control"]}
            of_metric |= {row["variant"]: row["n"]}
    metrics: dict[str, list[str]] = {}
    for metric, users in counts.items():
        if any(n != test.srm.counts[arm] for arm, n in users.items()):
            said = ", ".join(f"{arm} {n:,}" for arm, n in users.items())
            metrics.setdefault(said, []).append(metric)
    return [f"users of {', '.join(names)}: {said}" for said, names in metrics.items()]


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
