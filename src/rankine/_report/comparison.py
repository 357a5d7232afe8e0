"""A comparison as text, HTML, Markdown and LaTeX: means first, then pairs."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
from rich.console import Group
from rich.text import Text

from rankine._base.checks import check_count
from rankine._base.text import grouped, plural
from rankine._evaluate.summary import finite
from rankine._metrics.names import canonical_name
from rankine._report.export import (
    latex_table,
    latex_text,
    markdown_table,
    markdown_text,
    whose,
)
from rankine._report.pairs import (
    differences_of,
    further_findings,
    heads,
    letters_mark,
    of_intervals,
    pairs_in_words,
    tested,
)
from rankine._report.tables import between, html_table, number, shown
from rankine._report.text import (
    ENDLESS,
    SEE,
    SIDE_BY_SIDE,
    first_notes,
    plain_text,
    table_with,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from rich.table import Table

    from rankine._evaluate.compare.comparison import Comparison
    from rankine._evaluate.compare.moved_queries import Moved
    from rankine._evaluate.worst import TopItem
    from rankine._report.pairs import PairInWords

_WIDTH = 100
PAIRS = 45
"""Pairs that are shown; more are in `pairwise`."""


def to_text(
    comparison: Comparison, width: int | None = _WIDTH, see: str | None = SEE
) -> str:
    """Return means, pairs, warnings and notes as plain text.

    Args:
        comparison: what was compared.
        width: the width to which sentences are wrapped; None to keep them on one line.
            Tables are never broken.
        see: how to see the other notes on many runs; None to return all of them.
    """
    head, rows = mean_rows(comparison)
    tables = [table_with(head, rows, "l" + "r" * (len(head) - 1))]
    head, rows = pair_rows(comparison)
    tables.append(table_with(head, rows[:PAIRS], "lllrrrl"))
    if comparison.is_segmented:
        tables.append(_by_segment(comparison))
    lines = [
        *how_compared(comparison),
        *whose(comparison.evaluations.values()),
        *more_pairs(rows),
    ]
    lines += [f"! {text}" for text in _warnings(comparison)]
    lines += [f"- {text}" for text in _notes(comparison, see)]
    said = Group(*(Text(shown(line)) for line in lines))
    drawn = [plain_text(table, ENDLESS) for table in tables]
    return "\n".join([*drawn, plain_text(said, width or ENDLESS)])


def _notes(comparison: Comparison, see: str | None) -> Sequence[str]:
    """Return the notes; for many systems only a few, those that all share first."""
    if _are_few(comparison) or see is None:
        return comparison.notes
    return first_notes(_together(comparison, comparison.notes), see)


def _warnings(comparison: Comparison) -> Sequence[str]:
    """Return all warnings; for many systems, each once with all systems it is for."""
    said = comparison.warnings
    return said if _are_few(comparison) else _together(comparison, said)


def _are_few(comparison: Comparison) -> bool:
    return len(comparison.systems) <= SIDE_BY_SIDE


def _together(comparison: Comparison, said: Iterable[str]) -> list[str]:
    """Return each sentence once, after the names of all systems it is about."""
    shared, of_systems = [], []
    for text in said:
        names = [name for name in comparison.systems if text.startswith(f"{name}: ")]
        if names:
            name = max(names, key=len)
            of_systems.append((name, text.removeprefix(f"{name}: ")))
        else:
            shared.append(text)
    return [*shared, *grouped(of_systems)]


def mean_rows(comparison: Comparison) -> tuple[list[str], list[list[str]]]:
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


def pair_rows(comparison: Comparison) -> tuple[list[str], list[list[str]]]:
    """Return a row per metric and pair."""
    difference, corrected = heads(comparison)
    head = ["metric", "pair", "verdict", difference, "p", corrected, "+ = -"]
    rows = [
        [
            pair.row["metric"],
            f"{shown(pair.row['a'])} to {shown(pair.row['b'])}",
            pair.row["verdict"],
            _difference(pair),
            pair.p,
            pair.p_corrected,
            ""
            if pair.row["wins"] is None
            else "{wins} {ties} {losses}".format(**pair.row),
        ]
        for pair in pairs_in_words(comparison)
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


def _difference(pair: PairInWords) -> str:
    difference = pair.row["difference"]
    return number(difference) if math.isnan(difference) else differences_of(pair)


def more_pairs(rows: list[list[str]]) -> list[str]:
    """Say how many pairs are not shown, if some are not."""
    more = len(rows) - PAIRS
    return [f"{more:,} more pairs: see .pairwise"] if more > 0 else []


def how_compared(comparison: Comparison) -> list[str]:
    """Return the methods, and how to read the marks."""
    said = "; ".join(filter(None, (tested(comparison), of_intervals(comparison))))
    marks = (
        "letters before a mean mark the systems it beats; * marks the best mean; + = - "
        f"count the {plural(comparison.unit)} that gain, stay the same and lose"
    )
    return [*filter(None, (f"test: {said}", further_findings(comparison))), marks]


def sentences(comparison: Comparison) -> list[str]:
    """Describe each metric and pair in a sentence."""
    said, units = [], plural(comparison.unit)
    for pair in pairs_in_words(comparison):
        row = pair.row
        a, b, metric = shown(row["a"]), shown(row["b"]), row["metric"]
        difference = f"the difference is {row['difference']:+.4f}"
        moves = ""
        if row["wins"] is not None:
            n = row["wins"] + row["ties"] + row["losses"]
            moves = f"; {row['wins']:,} of {n:,} {units} gain, {row['losses']:,} lose"
        verdict = row["verdict"]
        if verdict.startswith(("better", "worse", "different")):
            word = verdict.split(",")[0]
            than = "from" if word == "different" else "than"
            size = f"{abs(row['difference']):.4f}"
            text = (
                f"{b} is {word} {than} {a} in {metric} by {size} "
                f"({_evidence(pair)}){moves}."
            )
            if verdict.endswith("equivalent"):
                margin = f"{comparison.margins[metric]:g}"
                text += (
                    f" The difference is within the margin of {margin} "
                    f"({pair.equivalence})."
                )
            said.append(text)
        elif verdict == "equivalent":
            margin = f"{comparison.margins[metric]:g}"
            said.append(
                f"{b} and {a} are equivalent in {metric}, within {margin}: "
                f"{difference} ({pair.equivalence})."
            )
        elif math.isnan(row["difference"]):
            said.append(
                f"Cannot tell whether {b} is better than {a} in {metric}: the "
                "difference is undefined."
            )
        else:
            said.append(
                f"Cannot tell whether {b} is better than {a} in {metric}: "
                f"{difference} ({_evidence(pair, signed=True)}){moves}."
            )
    return said


def _evidence(pair: PairInWords, *, signed: bool = False) -> str:
    """Return the interval of a difference and p, with the pairs that each holds for."""
    row = pair.row
    bounds = _range(row["low"], row["high"], signed=signed)
    if math.isnan(row["low"]) or not pair.holds_for:
        return f"{bounds}; {pair.p_said}"
    bounds = f"{bounds} for {pair.holds_for}"
    if pair.all_bounds is not None:
        at_once = _range(*pair.all_bounds, signed=signed)
        bounds += f", {at_once} for {pair.all_pairs}"
    return f"{bounds}; {pair.p_said}"


def _range(low: float, high: float, *, signed: bool) -> str:
    """Return an interval; unless signed, without signs if both bounds share one."""
    if math.isnan(low):
        return "no interval"
    if low * high > 0 and not signed:
        low, high = sorted((abs(low), abs(high)))
        return f"{low:.4f} to {high:.4f}"
    return f"{low:+.4f} to {high:+.4f}"


def to_html(comparison: Comparison) -> str:
    """Return both tables for notebooks, with warnings and notes below."""
    head, rows = mean_rows(comparison)
    lines = [[cell.split("\n") for cell in row] for row in rows]
    means = html_table(head, lines, "l" + "r" * (len(head) - 1))
    head, rows = pair_rows(comparison)
    lines = [[cell.split("\n") for cell in row] for row in rows[:PAIRS]]
    titles = [title.split("\n") for title in head]
    said = (*_warnings(comparison), *_notes(comparison, SEE))
    below = (
        *how_compared(comparison),
        *whose(comparison.evaluations.values()),
        *more_pairs(rows),
        *said,
    )
    return means + html_table(titles, lines, "lllrrrl", below=below)


def to_markdown(comparison: Comparison) -> str:
    """Return a row per system and a column per metric; the best mean is bold."""
    return markdown_table(
        comparison.metrics, markdown_cells(comparison), _below(comparison)
    )


def _below(comparison: Comparison) -> list[str]:
    """Return the lines below a table that explain its letters and numbers."""
    return [*letters_mark(comparison), *whose(comparison.evaluations.values())]


def markdown_cells(comparison: Comparison) -> list[list[str]]:
    """Return the cells of `to_markdown`, a row per system."""
    return _rows(comparison, "{}", "**{}**", "<sup>{}</sup>", markdown_text)


def to_latex(
    comparison: Comparison,
    digits: int,
    sort: str | None,
    caption: str | None,
    label: str | None,
    *,
    intervals: bool,
) -> str:
    """Return a table for the booktabs package; see `Comparison.to_latex`."""
    check_count("digits", digits, least=0)
    rows = latex_cells(comparison, digits, intervals=intervals)
    order = range(len(rows)) if sort is None else _best_first(comparison, sort)
    return latex_table(
        comparison.metrics,
        [rows[system] for system in order],
        _below(comparison),
        caption,
        label,
    )


def _best_first(comparison: Comparison, metric: str) -> list[int]:
    """Return the systems' places, the best mean first and undefined ones last."""
    label = comparison._label(metric)  # noqa: SLF001 - of our own making
    place = comparison.metrics.index(label)
    compared = comparison._compared  # noqa: SLF001
    means = compared.means[place]
    rises = compared.directions[place] is False
    return [*map(int, np.argsort(means if rises else -means, kind="stable"))]


def latex_cells(
    comparison: Comparison, digits: int = 4, *, intervals: bool = False
) -> list[list[str]]:
    """Return the cells of `to_latex`, a row per system."""
    return _rows(
        comparison,
        "$^{{{}}}$",
        r"\textbf{{{}}}",
        "$^{{{}}}$",
        latex_text,
        r"\ ",  # formulas have no spaces, except where they are commands
        digits,
        r" {{\small ({})}}" if intervals else "",
    )


def _rows(
    comparison: Comparison,
    letter: str,
    best: str,
    beaten: str,
    escaped: Callable[[str], str],
    apart: str = " ",
    digits: int = 4,
    interval: str = "",
) -> list[list[str]]:
    """Return the name of each system with its letter, and its means with marks.

    Args:
        comparison: what was compared.
        letter: the format of a system's letter.
        best: the format of the best mean.
        beaten: the format of the letters of beaten systems.
        escaped: escapes a name.
        apart: what separates letters, if some consist of two or more.
        digits: the number of decimals.
        interval: the format of an interval; empty to leave intervals out.
    """
    compared = comparison._compared  # noqa: SLF001 - the numbers of the result
    rows = []
    for system, name in enumerate(comparison.systems):
        row = [f"{letter.format(comparison.letters[system])} {escaped(shown(name))}"]
        for metric in range(len(comparison.metrics)):
            mean = number(float(compared.means[metric, system]), digits)
            letters = comparison.beaten[metric][system].replace(" ", apart)
            cell = best.format(mean) if system in comparison.best[metric] else mean
            cell += beaten.format(letters) if letters else ""
            bounds = between(
                float(compared.lows[metric, system]),
                float(compared.highs[metric, system]),
                digits,
            )
            row.append(cell + (interval.format(bounds) if bounds else ""))
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
        "names": {label: canonical_name(label) for label in comparison.metrics},
        "baseline": comparison.baseline,
        "test": how.test,
        "correction": how.correction,
        "family": how.family,
        "confidence": how.confidence,
        "intervals": how.intervals,
        "margins": comparison.margins,
        "draws": how.draws,
        "seed": how.seed,
        "convention": None if first is None else first.convention.to_dict(),
        "preset": None if first is None else first.preset,
        "unit": comparison.unit,
        "queries": len(comparison.queries),
        "table": [record(row) for row in comparison.table.iter_rows(named=True)],
        "pairwise": [record(row) for row in comparison.pairwise.iter_rows(named=True)],
        "notes": list(comparison.notes),
        "warnings": list(comparison.warnings),
    }


def moved_text(moved: Moved) -> str:
    """Return the queries that moved most, with the first items of both systems."""
    a, b = map(shown, moved.systems)
    moves = f"{moved.n_moved:,} of {moved.n_queries:,} {plural(moved.unit)}"
    how_many = f"{moves} moved"
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
        said = "Pass keep=10 to compare() to see unjudged items too."
        lines += ["", said]
    return "\n".join(lines)


def _shown_items(top: tuple[TopItem, ...]) -> str:
    return ", ".join(
        f"{rank}. {shown(item)} ({'unjudged' if grade is None else f'{grade:g}'})"
        for rank, item, grade in top
    )
