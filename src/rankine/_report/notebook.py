"""Smaller results as tables for notebooks."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from rankine._base.text import count, plural
from rankine._report.tables import between, html_table, number

if TYPE_CHECKING:
    from collections.abc import Sequence

    import polars as pl

    from rankine._evaluate.compare.moved_queries import Moved
    from rankine._evaluate.similarity import SimilarityMatrix
    from rankine._evaluate.worst import TopItem
    from rankine._online.positions import ClickMetrics
    from rankine._online.rates import Rate

_ROWS = 100


def matrix_html(matrix: SimilarityMatrix) -> str:
    """Return a matrix: rows are the first runs of pairs, columns the second."""
    rows = [
        (name, *("-" if math.isnan(value) else number(value) for value in row))
        for name, row in zip(matrix.names, matrix.values.tolist(), strict=True)
    ]
    sides = "l" + "r" * len(matrix.names)
    said = dict.fromkeys(note for notes in matrix.notes.values() for note in notes)
    head = ("", *matrix.names)
    return html_table(head, rows, sides, caption=str(matrix.measure), below=said)


def moved_html(moved: Moved) -> str:
    """Return a row per query, with its values and the first items of both lists."""
    rows = [
        (
            query.query,
            *map(number, query.values),
            f"{query.difference:+.4f}",
            *map(top_lines, query.tops),
        )
        for query in moved
    ]
    a, b = moved.systems
    head = (
        moved.unit,
        a,
        b,
        "difference",
        f"first items of {a}",
        f"first items of {b}",
    )
    caption = (
        f"{moved.metric}: {moved.n_moved:,} of {moved.n_queries:,} "
        f"{plural(moved.unit)} moved; the {len(moved):,} that moved most"
    )
    return html_table(head, rows, "lrrrll", caption=caption)


def top_lines(top: Sequence[TopItem]) -> list[str]:
    """Return a line per item, or an empty one if no items are known."""
    return [_item(item) for item in top] or [""]


def _item(item: TopItem) -> str:
    grade = "unjudged" if item.grade is None else f"{item.grade:g}"
    return f"{item.rank} {item.item} ({grade})"


def rate_html(rate: Rate) -> str:
    """Return the number and its interval, and the notes below."""
    head = ("", "value", f"{100 * rate.confidence:g} % interval", "n")
    n = "" if rate.n is None else f"{rate.n:,}"
    row = (rate.metric, number(rate.value), between(*rate.interval), n)
    return html_table(head, [row], "lrrr", below=rate.notes)


def shown_rates(clicks: ClickMetrics) -> pl.DataFrame:
    """Return the click rates of each variant if there are several, or else of all."""
    rates = clicks.by_variant
    if rates is None or rates["variant"].n_unique() == 1:
        return clicks.by_position
    return rates


def clicks_html(clicks: ClickMetrics) -> str:
    """Return a row per position and variant, and the mean reciprocal rank below."""
    rates = shown_rates(clicks)
    split = "variant" in rates.columns
    rows = [
        (
            *([row["variant"]] if split else []),
            str(row["position"]),
            f"{row['impressions']:,}",
            f"{row['clicks']:,}",
            number(row["ctr"]),
            between(row["low"], row["high"]),
        )
        for row in rates.head(_ROWS).iter_rows(named=True)
    ]
    bounds = between(*clicks.interval)
    mean = f"mean reciprocal rank of the first click: {number(clicks.mrr)}"
    more = rates.height - _ROWS
    below = [
        *([count(more, "more row")] if more > 0 else []),
        f"{mean} ({bounds})" if bounds else mean,
        *clicks.notes,
    ]
    head = (
        *(["variant"] * split), "position", "impressions", "clicks", "click rate",
        f"{100 * clicks.confidence:g} % interval",
    )  # fmt: skip
    return html_table(head, rows, "l" * split + "rrrrr", below=below)
