"""A comparison as text, HTML, Markdown and LaTeX: means first, then pairs."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from rich.console import Group
from rich.text import Text

from rankine._base.text import p_equals, p_text
from rankine._evaluate.summary import finite
from rankine._report.export import (
    latex_table,
    latex_text,
    markdown_table,
    markdown_text,
    whose,
)
from rankine._report.tables import between, html_table, number, shown
from rankine._report.text import ENDLESS, plain_text, table_with
from rankine._stats.pairwise import TUKEY

if TYPE_CHECKING:
    from collections.abc import Callable

    from rich.table import Table

    from rankine._evaluate.compare.comparison import Comparison
    from rankine._evaluate.compare.moved_queries import Moved
    from rankine._evaluate.worst import TopItem

_WIDTH = 100
_PAIRS = 45
"""Pairs that are shown; more are in `pairwise`."""


def to_text(comparison: Comparison, width: int | None = _WIDTH) -> str:
    """Return means, pairs, warnings and notes as plain text.

    Sentences are wrapped to a width, unless it is None; tables stay whole.
    """
    head, rows = _means(comparison)
    tables = [table_with(head, rows, "l" + "r" * (len(head) - 1))]
    head, rows = _pairs(comparison)
    tables.append(table_with(head, rows[:_PAIRS], "lllrrrl"))
    if comparison.is_segmented:
        tables.append(_by_segment(comparison))
    lines = [_how(comparison), *whose(comparison.evaluations.values()), *_more(rows)]
    lines += [f"! {text}" for text in comparison.warnings]
    lines += [f"- {text}" for text in comparison.notes]
    said = Group(*(Text(shown(line)) for line in lines))
    drawn = [plain_text(table, ENDLESS) for table in tables]
    return "\n".join([*drawn, plain_text(said, width or ENDLESS)])


def _means(comparison: Comparison) -> tuple[list[str], list[list[str]]]:
    """Return a row per system: letter and name, then mean, interval and letters."""
    head = ["", *comparison.metrics]
    compared = comparison._compared  # noqa: SLF001 - the numbers of the result
    rows = []
    for system, name in enumerate(comparison.systems):
        cells = []
        for metric in range(len(comparison.metrics)):
            mark = "*" if system in comparison.best[metric] else ""
            letters = comparison.beaten[metric][system]
            mean = number(float(compared.means[metric, system]))
            bounds = between(
                float(compared.lows[metric, system]),
                float(compared.highs[metric, system]),
            )
            top = " ".join(filter(None, (letters, f"{mean}{mark}")))
            cells.append(f"{top}\n{bounds}" if bounds else top)
        rows.append([f"{comparison.letters[system]} {shown(name)}", *cells])
    return head, rows


def _pairs(comparison: Comparison) -> tuple[list[str], list[list[str]]]:
    """Return a row per metric and pair."""
    head = ["metric", "pair", "verdict", "difference", "p", "corrected", "+ = -"]
    rows = [
        [
            row["metric"],
            f"{shown(row['a'])} to {shown(row['b'])}",
            row["verdict"],
            _difference(row),
            *(
                p_text(math.nan if p is None else p)
                for p in (row["p"], row["p_corrected"])
            ),
            "" if row["wins"] is None else "{wins} {ties} {losses}".format(**row),
        ]
        for row in comparison.pairwise.iter_rows(named=True)
    ]
    return head, rows


def _by_segment(comparison: Comparison) -> Table:
    """Return a row per metric and segment, and a column per system."""
    table: dict[tuple[str, str], list[str]] = {}
    for row in comparison.segments.iter_rows(named=True):
        mean = number(row["mean"])
        bounds = between(row["low"], row["high"])
        cell = f"{mean}\n{bounds}" if bounds else mean
        key = row["metric"], f"{shown(row['segment'])} ({row['n']})"
        table.setdefault(key, []).append(cell)
    head = ["metric", "segment", *map(shown, comparison.systems)]
    rows = [[*key, *cells] for key, cells in table.items()]
    return table_with(head, rows, "ll" + "r" * len(comparison.systems))


def _difference(row: dict[str, Any]) -> str:
    """Return a difference with its sign, and its interval below."""
    if math.isnan(row["difference"]):
        return number(row["difference"])
    return f"{row['difference']:+.4f}\n{between(row['low'], row['high'])}"


def _more(rows: list[list[str]]) -> list[str]:
    """Say how many pairs are not shown, if some are not."""
    more = len(rows) - _PAIRS
    return [f"{more} more pairs are in pairwise"] if more > 0 else []


def tested(comparison: Comparison) -> str:
    """Say by which test and correction it was compared."""
    how = comparison.settings
    plain = how.correction == "none" or how.test in TUKEY
    return how.test if plain else f"{how.test}, corrected by {how.correction}"


def _how(comparison: Comparison) -> str:
    """Say how it was compared, and how to read the marks."""
    return (
        f"{tested(comparison)}; letters before a mean name the systems that it is "
        f"better than; * is the best mean; + = - are the queries that gain, stay and "
        "lose"
    )


def sentences(comparison: Comparison) -> list[str]:
    """Say in words what was found of each metric and pair."""
    said = []
    for row in comparison.pairwise.iter_rows(named=True):
        a, b, metric = shown(row["a"]), shown(row["b"]), row["metric"]
        size = f"{abs(row['difference']):.4f}"
        moves = ""
        if row["wins"] is not None:
            n = row["wins"] + row["ties"] + row["losses"]
            moves = f"; {row['wins']:,} of {n:,} queries gain, {row['losses']:,} lose"
        verdict = row["verdict"]
        if verdict.startswith(("better", "worse", "different")):
            word = verdict.split(",")[0]
            than = "from" if word == "different" else "than"
            said.append(
                f"{b} is {word} {than} {a} in {metric} by {size} "
                f"({_range(row)}; {p_equals(row['p_corrected'])}){moves}."
            )
        elif verdict == "equivalent":
            margin = comparison.margins[metric]
            said.append(f"{b} and {a} are equivalent in {metric}, within {margin:g}.")
        elif math.isnan(row["difference"]):
            said.append(
                f"Whether {b} is better than {a} in {metric} cannot be told: the "
                "difference is undefined."
            )
        else:
            said.append(
                f"Whether {b} is better than {a} in {metric} cannot be told: the "
                f"difference is {row['difference']:+.4f} "
                f"({_range(row, signed=True)}; {p_equals(row['p_corrected'])}){moves}."
            )
    return said


def _range(row: dict[str, Any], *, signed: bool = False) -> str:
    """Return the bounds of a difference, or of its size where both have one sign."""
    low, high = row["low"], row["high"]
    if math.isnan(low):
        return "no interval"
    if low * high > 0 and not signed:
        low, high = sorted((abs(low), abs(high)))
        return f"{low:.4f} to {high:.4f}"
    return f"{low:+.4f} to {high:+.4f}"


def to_html(comparison: Comparison) -> str:
    """Return both tables for notebooks, with warnings and notes below."""
    head, rows = _means(comparison)
    lines = [[cell.split("\n") for cell in row] for row in rows]
    means = html_table(head, lines, "l" + "r" * (len(head) - 1))
    head, rows = _pairs(comparison)
    lines = [[cell.split("\n") for cell in row] for row in rows[:_PAIRS]]
    said = (*comparison.warnings, *comparison.notes)
    below = (
        _how(comparison),
        *whose(comparison.evaluations.values()),
        *_more(rows),
        *said,
    )
    return means + html_table(head, lines, "lllrrrl", below=below)


def to_markdown(comparison: Comparison) -> str:
    """Return a row per system and a column per metric; the best mean is bold."""
    rows = markdown_cells(comparison)
    return markdown_table(
        comparison.metrics, rows, "; ".join(whose(comparison.evaluations.values()))
    )


def markdown_cells(comparison: Comparison) -> list[list[str]]:
    """Return the cells of `to_markdown`, a row per system."""
    return _rows(comparison, "{}", "**{}**", "<sup>{}</sup>", markdown_text)


def to_latex(comparison: Comparison) -> str:
    """Return a table for the booktabs package; letters are superscripts."""
    rows = latex_cells(comparison)
    return latex_table(
        comparison.metrics, rows, "; ".join(whose(comparison.evaluations.values()))
    )


def latex_cells(comparison: Comparison) -> list[list[str]]:
    """Return the cells of `to_latex`, a row per system."""
    # Formulas have no spaces, except where they are commands.
    return _rows(
        comparison, "$^{{{}}}$", r"\textbf{{{}}}", "$^{{{}}}$", latex_text, apart=r"\ "
    )


def _rows(
    comparison: Comparison,
    letter: str,
    best: str,
    beaten: str,
    escaped: Callable[[str], str],
    apart: str = " ",
) -> list[list[str]]:
    """Return the name of each system with its letter, and its means with marks."""
    compared = comparison._compared  # noqa: SLF001 - the numbers of the result
    rows = []
    for system, name in enumerate(comparison.systems):
        row = [f"{letter.format(comparison.letters[system])} {escaped(shown(name))}"]
        for metric in range(len(comparison.metrics)):
            mean = number(float(compared.means[metric, system]))
            letters = comparison.beaten[metric][system].replace(" ", apart)
            top = best.format(mean) if system in comparison.best[metric] else mean
            row.append(top + beaten.format(letters) if letters else top)
        rows.append(row)
    return rows


def to_dict(comparison: Comparison) -> dict[str, Any]:
    """Return means, pairs, settings and notes as plain values."""

    def record(row: dict[str, Any]) -> dict[str, Any]:
        return {
            name: finite(value) if isinstance(value, float) else value
            for name, value in row.items()
        }

    how = comparison.settings
    first = next(iter(comparison.evaluations.values()), None)
    return {
        "kind": "comparison",
        "systems": list(comparison.systems),
        "metrics": list(comparison.metrics),
        "baseline": comparison.baseline,
        "test": how.test,
        "correction": how.correction,
        "family": how.family,
        "confidence": how.confidence,
        "margins": comparison.margins,
        "draws": how.draws,
        "seed": how.seed,
        "convention": None if first is None else first.convention.to_dict(),
        "preset": None if first is None else first.preset,
        "queries": len(comparison.queries),
        "table": [record(row) for row in comparison.table.iter_rows(named=True)],
        "pairwise": [record(row) for row in comparison.pairwise.iter_rows(named=True)],
        "notes": list(comparison.notes),
        "warnings": list(comparison.warnings),
    }


def moved_text(moved: Moved) -> str:
    """Return the queries that moved most, with what both systems showed first."""
    a, b = map(shown, moved.systems)
    how_many = f"{moved.n_moved} of {moved.n_queries} queries moved"
    lines = [f"{moved.metric}, {a} to {b}: {how_many}"]
    width = max(len(a), len(b))
    for query in moved:
        values = " to ".join(number(value) for value in query.values)
        lines += ["", f"{shown(query.query)}  {query.difference:+.4f}  ({values})"]
        lines += [
            f"    {name.ljust(width)}  {_shown_items(top)}"
            for name, top in zip((a, b), query.tops, strict=True)
            if top
        ]
    if not moved.keep and any(top for query in moved for top in query.tops):
        said = "To see items that are not judged too, give keep=10 to compare()."
        lines += ["", said]
    return "\n".join(lines)


def _shown_items(top: tuple[TopItem, ...]) -> str:
    return ", ".join(
        f"{rank}. {shown(item)} ({'unjudged' if grade is None else f'{grade:g}'})"
        for rank, item, grade in top
    )
