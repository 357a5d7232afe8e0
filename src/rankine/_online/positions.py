"""What clicks say about the lists shown: click rates by rank, and first clicks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import polars as pl

from rankine._base.checks import check_number
from rankine._online.click_logs import read_click_log
from rankine._online.clicks import above_one, by_position
from rankine._online.spreads import clustered

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rankine._stats.intervals import Interval


@dataclass(frozen=True, eq=False)
class ClickMetrics:
    """What clicks say about the lists that were shown.

    Attributes:
        by_position: impressions, clicks and the click rate of each rank, with its
            interval.
        by_variant: the same for each variant; None if the log has no variants.
        mrr: the mean over impressions of 1 / rank of the first click, 0 without one.
        interval: its interval; like all intervals here, it is clustered by user if the
            log has users.
        n: how many impressions there are.
        confidence: the level of all intervals.
        users: how many users there are; None if the log has no users.
        notes: what was assumed.
    """

    by_position: pl.DataFrame
    mrr: float
    interval: Interval
    n: int
    confidence: float
    users: int | None
    notes: tuple[str, ...] = ()
    by_variant: pl.DataFrame | None = None

    def _repr_html_(self) -> str:
        from rankine._report.notebook import clicks_html  # noqa: PLC0415

        return clicks_html(self)


def click_metrics(
    log: Any, *, columns: Mapping[str, Any] | None = None, confidence: float = 0.95
) -> ClickMetrics:
    """Return the click rate by rank, and the mean reciprocal rank of the first click.

    Args:
        log: one row per item that was shown, with impression_id, position, click, and
            user_id and variant if there are any; or a log of events, with an item_id.
            As for a click rate, users in several variants are left out, and so are
            duplicates among events and events without a user.
        columns: which column is what, if its name is not recognised; "-" if there is
            none.
        confidence: the level of the intervals.

    Returns:
        Both, with intervals by the delta method over users; nan for fewer than two.

    The first clicks are at ranks 2 and 1: (1/2 + 1) / 2.

    >>> import polars as pl
    >>> import rankine as rk
    >>> log = pl.DataFrame(
    ...     {
    ...         "impression_id": [1, 1, 2, 2],
    ...         "user_id": [7, 7, 8, 8],
    ...         "position": [1, 2, 1, 2],
    ...         "click": [0, 1, 1, 1],
    ...     }
    ... )
    >>> rk.online.click_metrics(log).mrr
    0.75
    """
    check_number("confidence", confidence, above=0, below=1)
    needs = {
        "impression": "says which items were shown together",
        "position": "says where an item was shown",
        "click": "says what users chose",
    }
    optional = ("user", "variant")
    frame, _, notes = read_click_log(log, needs, columns, optional, in_one_arm=True)
    notes += above_one(by_position(frame))
    has_users = "user" in frame.columns
    if not has_users:
        frame = frame.with_columns(pl.col("impression").alias("user"))
        notes.append(
            "the log has no users: intervals are too narrow if the same users come back"
        )
    first = pl.when(pl.col("click") > 0).then(1 / pl.col("position")).otherwise(0.0)
    each = frame.group_by("user", "impression").agg(first.max().alias("rr"))
    users = each.group_by("user").agg(
        pl.col("rr").sum().alias("y"), pl.len().cast(pl.Float64).alias("x")
    )
    y, x = users["y"].to_numpy(), users["x"].to_numpy()
    mrr, bounds = clustered(y, x, confidence, (0, 1))
    by_variant = _by_variant(frame, confidence, notes)
    return ClickMetrics(
        _with_bounds(frame, confidence), mrr, bounds, each.height, confidence,
        users.height if has_users else None, tuple(notes), by_variant,
    )  # fmt: skip


def _by_variant(
    frame: pl.DataFrame, confidence: float, notes: list[str]
) -> pl.DataFrame | None:
    """Return the click rates of each variant, and note what belongs to no variant."""
    if "variant" not in frame.columns:
        return None
    known = frame.drop_nulls("variant")
    without = frame.height - known.height
    if without:
        which = "row has" if without == 1 else "rows have"
        counts = "it counts" if without == 1 else "they count"
        notes.append(
            f"{without:,} {which} no variant: {counts} only in the click rates of all "
            "rows"
        )
    curves = [
        _with_bounds(rows, confidence).select(
            pl.lit(name, pl.String).alias("variant"), pl.all()
        )
        for (name,), rows in sorted(known.partition_by("variant", as_dict=True).items())
    ]
    return pl.concat(curves) if curves else None


def _with_bounds(frame: pl.DataFrame, confidence: float) -> pl.DataFrame:
    """Return the click rate of each rank, with its interval over users."""
    # A rate is at most the largest number of clicks on one item.
    most = max(1.0, float(frame["click"].max()))  # type: ignore[arg-type]
    users = frame.group_by("position", "user").agg(
        pl.col("click").sum().cast(pl.Float64).alias("y"),
        pl.len().cast(pl.Float64).alias("x"),
    )
    bounds = [
        clustered(rows["y"].to_numpy(), rows["x"].to_numpy(), confidence, (0, most))[1]
        for _, rows in sorted(users.partition_by("position", as_dict=True).items())
    ]
    low, high = zip(*bounds, strict=True)
    return by_position(frame).with_columns(
        pl.Series("low", low, pl.Float64), pl.Series("high", high, pl.Float64)
    )
