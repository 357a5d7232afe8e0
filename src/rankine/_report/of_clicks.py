"""The click rate of each position, as a section of a report."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rankine._report import specs
from rankine._report.charts import drawn_number
from rankine._report.markup import TableCell, measured, rest_of, table, tag
from rankine._report.notebook import shown_rates
from rankine._report.page import remarks
from rankine._report.tables import between, number, shown

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rankine._online.positions import ClickMetrics
    from rankine._report.page import Page

_ROWS = 1000
_ALL = "all"


def add_clicks(page: Page, clicks: ClickMetrics | None, names: Sequence[str]) -> None:
    """Add the click rate of each position, by variant if there are several.

    Args:
        page: the page to add them to.
        clicks: the rates, None if there are none.
        names: all variants on the page, in the order of their colours.
    """
    if clicks is None:
        return
    rates = shown_rates(clicks)
    split = "variant" in rates.columns
    rows = list(rates.sort("position", maintain_order=True).iter_rows(named=True))
    points = [
        {
            "system": shown(row["variant"]) if split else _ALL,
            "rank": row["position"], "value": row["ctr"],
            "low": drawn_number(row["low"]), "high": drawn_number(row["high"]),
            "impressions": row["impressions"], "clicks": row["clicks"],
        }
        for row in rows
    ]  # fmt: skip
    drawn = list(dict.fromkeys(point["system"] for point in points))
    order = [*names] if {*drawn} <= {*names} else drawn
    units = "impressions" if clicks.users is None else "users"
    whose = "each variant" if split else f"all {units}"
    says = (
        f"Clicks per impression at each position, for {whose}, with "
        f"{100 * clicks.confidence:g} % intervals over {units}."
    )
    few = len(order) <= specs.MOST_CURVES
    spec = specs.by_rank(points, "click rate", order) if few else None
    cells = [
        (
            TableCell(f"{row['position']:,}", row["position"]),
            *([row["variant"]] if split else []),
            TableCell(f"{row['impressions']:,}", row["impressions"]),
            TableCell(f"{row['clicks']:,}", row["clicks"]),
            measured(row["ctr"], row["low"], row["high"]),
        )
        for row in rows[:_ROWS]
    ]
    head = (
        "position", *(["variant"] * split), "impressions", "clicks", "click rate",
    )  # fmt: skip
    sides = "r" + "l" * split + "rrr"
    name = "by_variant" if split else "by_position"
    bounds = between(clicks.interval.low, clicks.interval.high)
    mean = f"Mean reciprocal rank of the first click: {number(clicks.mrr)}"
    page.add(
        "positions",
        "Clicks by position",
        "" if spec is None else page.figure("by-position", spec, says),
        table(head, cells, sides, caption="Clicks by position"),
        rest_of(_ROWS, len(rows), f".{name} of rk.online.click_metrics(log)"),
        tag("p", f"{mean} ({bounds})." if bounds else f"{mean}.", class_="hint"),
        remarks((), clicks.notes) if clicks.notes else "",
    )
