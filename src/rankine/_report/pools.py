"""A study of pools as text, HTML, Markdown, JSON and a chart."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from rankine._base.checks import check_choice
from rankine._base.text import percent
from rankine._evaluate.summary import finite
from rankine._metrics.names import parse
from rankine._report import specs
from rankine._report.charts import altair_of
from rankine._report.export import markdown_text
from rankine._report.tables import html_table, markdown_table, number, shown
from rankine._report.text import ENDLESS, plain_lines, plain_text, table_with

if TYPE_CHECKING:
    import polars as pl

    from rankine._evaluate.pools import PoolStudy

_WIDTH = 100
_ALL = "all"
"""What the numbers with all judgements are called."""
_BELOW = (
    "Below each number is the share of unjudged items down to the metric's cutoff.",
    "In the last table, it is the change that leaving the run out makes.",
    "Tau compares the order of the runs with that by all judgements.",
)
_LEFT_OUT = "Without the judgements that a run alone brought into the pool"

Table = tuple[str, list[str], list[list[list[str]]]]
"""A caption, the titles of the columns, and rows of cells, which are lines."""


def _tables(study: PoolStudy) -> list[Table]:
    """Return a table per metric, and one of the runs that are left out."""
    return [*(_by_depth(study, metric) for metric in study.metrics), _left_out(study)]


def _by_depth(study: PoolStudy, metric: str) -> Table:
    """Return a row per run and a column per depth; then judgements and tau."""
    head = ["", *(f"depth {depth:,}" for depth in study.depths), _ALL]
    of_metric = study.table.filter(metric=metric)
    rows: dict[str, list[list[str]]] = {}
    for row in of_metric.iter_rows(named=True):
        cell = [number(row["value"]), percent(row["unjudged"], 1)]
        rows.setdefault(row["run"], [[shown(row["run"])]]).append(cell)
    sizes = study.rankings.filter(metric=metric)
    last = [
        [["judgements"], *([f"{n:,}"] for n in sizes["judged"])],
        [["of relevant items"], *([f"{n:,}"] for n in sizes["relevant"])],
        [["tau"], *([_tau(tau)] for tau in sizes["tau"])],
    ]
    return f"{metric} by the depth of the pool", head, [*rows.values(), *last]


def _tau(tau: float) -> str:
    return "-" if math.isnan(tau) else f"{tau:.3f}"


def _left_out(study: PoolStudy) -> Table:
    head = ["run", "judgements", "of relevant items", *study.metrics]
    rows: dict[str, list[list[str]]] = {}
    for row in study.left_out.iter_rows(named=True):
        first = [[shown(row["run"])], [f"{row['judged']:,}"], [f"{row['relevant']:,}"]]
        change = row["change"]
        moved = "" if math.isnan(change) else f"{change:+.4f}"
        rows.setdefault(row["run"], first).append([number(row["without"]), moved])
    return f"{_LEFT_OUT} of depth {study.depths[-1]:,}", head, [*rows.values()]


def _sides(head: list[str]) -> str:
    return "l" + "r" * (len(head) - 1)


def to_text(study: PoolStudy) -> str:
    """Return all tables, how to read them, and the notes."""
    lines = []
    for caption, head, rows in _tables(study):
        cells = [["\n".join(cell) for cell in row] for row in rows]
        lines += [caption, plain_text(table_with(head, cells, _sides(head)), ENDLESS)]
    said = (*_BELOW, *(f"- {text}" for text in study.notes))
    return "\n".join([*lines, plain_lines(said, _WIDTH)])


def to_html(study: PoolStudy) -> str:
    """Return all tables for notebooks, with the notes below."""
    *first, last = (
        (head, rows, _sides(head), caption) for caption, head, rows in _tables(study)
    )
    tables = [
        html_table(head, rows, sides, caption=caption)
        for head, rows, sides, caption in first
    ]
    head, rows, sides, caption = last
    below = (*_BELOW, *study.notes)
    return "".join(tables) + html_table(head, rows, sides, caption=caption, below=below)


def to_markdown(study: PoolStudy) -> str:
    """Return all tables as Markdown."""
    parts = []
    for caption, head, rows in _tables(study):
        cells = (map(markdown_text, map(_in_brackets, row)) for row in rows)
        drawn = markdown_table(map(markdown_text, head), cells, _sides(head))
        parts += [markdown_text(caption), drawn]
    return "\n\n".join([*parts, *map(markdown_text, _BELOW)])


def _in_brackets(cell: list[str]) -> str:
    """Return a cell in one line, with what stands below its number in brackets."""
    first, *rest = cell
    return f"{first} ({', '.join(rest)})" if any(rest) else first


def to_dict(study: PoolStudy) -> dict[str, Any]:
    """Return all tables and notes as plain values."""

    def records(frame: pl.DataFrame) -> list[dict[str, Any]]:
        return [
            {
                name: finite(value) if isinstance(value, float) else value
                for name, value in row.items()
            }
            for row in frame.iter_rows(named=True)
        ]

    return {
        "runs": list(study.runs),
        "metrics": list(study.metrics),
        "depths": list(study.depths),
        "table": records(study.table),
        "rankings": records(study.rankings),
        "left_out": records(study.left_out),
        "notes": list(study.notes),
    }


def plot(study: PoolStudy, metric: str | None) -> Any:
    """Return a line per run, by the depth of the pool."""
    label = study.metrics[0] if metric is None else metric
    check_choice("metric", label, study.metrics)
    of_metric = study.table.filter(metric=label)
    drawn = _best(of_metric.filter(of_metric["depth"].is_null()), label)
    rows = [
        {"system": shown(row["run"]), "depth": row["depth"], "value": row["value"]}
        for row in of_metric.drop_nulls("depth").iter_rows(named=True)
        if row["run"] in drawn and math.isfinite(row["value"])
    ]
    return altair_of(specs.by_depth(rows, label))


def _best(full: pl.DataFrame, label: str) -> set[str]:
    """Return the best runs by all judgements, as many as colours can tell apart."""
    higher = parse(label).higher_is_better is not False
    ordered = full.sort("value", descending=higher, nulls_last=True)
    return set(ordered["run"].head(specs.MOST_CURVES))
