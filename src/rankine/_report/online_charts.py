"""Charts of summaries and A/B tests, for `plot` and for reports."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from rankine._base.checks import check_choice
from rankine._report import specs
from rankine._report.abtest import lift_in_words
from rankine._report.charts import altair_of, days_span, drawn_number
from rankine._report.markup import in_order
from rankine._report.online import every_in, group_text
from rankine._report.tables import brief, shown
from rankine.errors import ParameterError

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from rankine._online.abresult import ABTest
    from rankine._online.summary import Summary
    from rankine._report.specs import Rows, Spec

KINDS = ("forest", "difference", "days")
"""The kinds of charts of a test."""
_LIFT = {"value": "lift", "low": "lift_low", "high": "lift_high"}
_DIFFERENCE = {
    "value": "difference", "low": "low", "high": "high", "always_low": "always_low",
    "always_high": "always_high",
}  # fmt: skip


class Curves(NamedTuple):
    """A chart of days.

    Attributes:
        spec: its specification.
        is_cut: whether intervals of days with few users reach beyond the chart.
    """

    spec: Spec
    is_cut: bool


def plot_summary(summary: Summary, metric: str | None) -> Any:
    """Return a chart of a summary; see `Summary.plot`."""
    name = _chosen(metric, list(summary.definitions))
    if every_in(summary) is None:
        return altair_of(groups(summary, name))
    return altair_of(_few(days_of_summary(summary, name), "groups"))


def plot_test(test: ABTest, kind: str, metric: str | None) -> Any:
    """Return a chart of a test; see `ABTest.plot`."""
    check_choice("kind", kind, KINDS)
    name = _chosen(metric, metrics_of(test))
    if kind == "forest":
        return altair_of(lifts(test, metric))
    if kind == "difference":
        return altair_of(differences(test, name))
    if test.by_day is None or test.by_day.is_empty():
        msg = (
            "this test has no effects by day; pass daily=True to ab_test, with a log "
            "that has timestamps"
        )
        raise ParameterError(msg)
    return altair_of(_few(days_of_test(test, name), "variants"))


def _chosen(metric: str | None, metrics: Sequence[str]) -> str:
    """Return the metric given, or the first; refuse one that the result lacks."""
    if metric is None:
        return metrics[0]
    check_choice("metric", metric, metrics)
    return metric


def _few(curves: Curves | None, what: str) -> Spec:
    """Return a chart of days; refuse one with more curves than colours."""
    if curves is None:
        msg = (
            f"a chart over days shows at most {specs.MOST_CURVES} {what}, as many as "
            "colours can tell apart"
        )
        raise ParameterError(msg)
    return curves.spec


def metrics_of(test: ABTest) -> list[str]:
    """Return the metrics of a test in order."""
    return test.details["metric"].unique(maintain_order=True).to_list()


def groups(summary: Summary, metric: str) -> Spec:
    """Return a point with its interval for each group."""
    return specs.means(_rows(summary, metric), metric)


def days_of_summary(summary: Summary, metric: str) -> Curves | None:
    """Return a curve with its band for each group; None if there are too many."""
    rows = _rows(summary, metric)
    if len({row["system"] for row in rows}) > specs.MOST_CURVES:
        return None
    span = days_span(rows)
    every = every_in(summary) or "day"
    title = f"{metric} of each {every}"
    spec = specs.over_days(rows, metric, span=span, every=every, title=title)
    return Curves(spec, span is not None)


def _rows(summary: Summary, metric: str) -> Rows:
    """Return the rows to draw for a metric: group, value, bounds, and time."""
    every = every_in(summary)
    names = [name for name in summary.groups if name != every]
    rows: Rows = []
    for row in summary.table.filter(metric=metric).iter_rows(named=True):
        group = [shown("-" if row[name] is None else row[name]) for name in names]
        bounds = {end: drawn_number(row[end]) for end in ("value", "low", "high")}
        label = ", ".join(group) or "all"
        when = {} if every is None else {every: group_text(row[every])}
        rows.append({"label": label, "system": label, **when, **bounds})
    return rows


def lifts(test: ABTest, metric: str | None = None) -> Spec:
    """Return the lift of each metric, or of one, with its interval and verdict."""
    several = test.details["variant"].n_unique() > 1
    rows: Rows = []
    for row in test.details.iter_rows(named=True):
        if metric in (None, row["metric"]):
            names = [row["metric"], *([row["variant"]] if several else [])]
            words = {"lift": lift_in_words(row)}
            rows.append(_effect(row, [*names, *_segment(row)], _LIFT) | words)
    over = f"lift over {brief(shown(test.settings.control), 24)}"
    return specs.forest(rows, over, specs.LIFTS)


def differences(test: ABTest, metric: str) -> Spec:
    """Return the differences in a metric with both intervals and verdicts."""
    several = test.details["variant"].n_unique() > 1
    rows: Rows = []
    for row in test.details.filter(metric=metric).iter_rows(named=True):
        names = [*([row["variant"]] if several else []), *_segment(row)]
        whole = "all users" if "segment" in row else row["variant"]
        rows.append(_effect(row, names or [whole], _DIFFERENCE))
    return specs.forest(rows, f"difference in {metric}")


def _segment(row: dict[str, Any]) -> list[str]:
    return [] if row.get("segment") is None else [row["segment"]]


def _effect(
    row: dict[str, Any], names: Iterable[object], fields: dict[str, str]
) -> dict[str, Any]:
    """Return a row of a forest plot."""
    numbers = {end: drawn_number(row[field]) for end, field in fields.items()}
    label = in_order(map(shown, names), ", ")
    return {"label": label, "verdict": row["verdict"], **numbers}


def days_of_test(test: ABTest, metric: str) -> Curves | None:
    """Return the difference at the end of each day with both bands, for each variant.

    None if there are more variants than colours can tell apart.
    """
    names = [shown(name) for name in test.srm.shares]
    if test.by_day is None or len(names) > specs.MOST_CURVES:
        return None
    rows: Rows = [
        {
            "system": shown(row["variant"]), "day": str(row["day"]), "zero": 0,
            **{end: drawn_number(row[field]) for end, field in _DIFFERENCE.items()},
        }
        for row in test.by_day.filter(metric=metric).iter_rows(named=True)
    ]  # fmt: skip
    span = days_span(rows, 0)
    control = brief(shown(test.settings.control), 24)
    title = f"{metric}: difference from {control} at the end of each day"
    axis = f"difference in {metric}"
    spec = specs.over_days(rows, axis, "zero", names, span=span, title=title)
    return Curves(spec, span is not None)
