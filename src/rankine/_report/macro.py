"""Several collections as text, HTML, Markdown and LaTeX: each, then their means."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rankine._base.checks import check_count
from rankine._base.text import plural
from rankine._evaluate.compare.comparison import Comparison
from rankine._evaluate.many import MACRO
from rankine._report import comparison as one
from rankine._report import tables
from rankine._report.export import (
    convention_of,
    latex_table,
    markdown_table,
    markdown_text,
)
from rankine._report.pairs import letters_mark
from rankine._report.tables import between, html_table, number, shown
from rankine._report.text import ENDLESS, plain_lines, plain_text, table_with

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from rankine._evaluate.compare.many import MacroComparison
    from rankine._evaluate.many import MacroEvaluation

_WIDTH = 100


# One system


def evaluation_text(found: MacroEvaluation) -> str:
    """Return a row per collection, then the means, and the notes."""
    head = ["", *found.metrics]
    rows = [["\n".join(cell) for cell in row] for row in _numbers(found)]
    table = plain_text(table_with(head, rows, _sides(head)), ENDLESS)
    return f"{table}\n{plain_lines([_below(found), *_said(found)], _WIDTH)}"


def _below(found: MacroEvaluation) -> str:
    """Return what stands below the numbers, in words."""
    over = plural(found.unit)
    return f"Below each number is its 95 % interval, by bootstrap over {over}."


def evaluation_html(found: MacroEvaluation) -> str:
    """Return the same table for notebooks."""
    head = ["", *found.metrics]
    below = (_below(found), *_rule(found), *found.warnings, *found.notes)
    return html_table(head, _numbers(found), _sides(head), below=below)


def evaluation_markdown(found: MacroEvaluation) -> str:
    """Return the numbers as a Markdown table."""
    head = ["collection", *map(markdown_text, found.metrics)]
    rows = (
        [markdown_text(name), *(value for value, *_ in cells)]
        for (name,), *cells in _numbers(found)
    )
    below = map(markdown_text, [found.notes[0], *_rule(found)])
    return "\n".join([tables.markdown_table(head, rows, _sides(head)), "", *below])


def _numbers(found: MacroEvaluation) -> list[list[list[str]]]:
    """Return a row per collection, and one of the means: names, values and bounds."""
    rows: dict[str, list[list[str]]] = {}
    for row in found.table.iter_rows(named=True):
        cells = rows.setdefault(row["collection"], [[_sized(row["collection"], found)]])
        bounds = between(row["low"], row["high"])
        cells.append([number(row["mean"]), *([bounds] if bounds else [])])
    return [*rows.values()]


def _rule(found: MacroEvaluation | MacroComparison) -> list[str]:
    """Say whose choices the numbers follow, which are the same in all collections."""
    first: Any = next(iter(found.collections.values()))
    if isinstance(first, Comparison):
        first = next(iter(first.evaluations.values()))
    return [*filter(None, [convention_of(first)])]


def _said(found: MacroEvaluation) -> list[str]:
    return [
        *_rule(found),
        *(f"! {text}" for text in found.warnings),
        *(f"- {text}" for text in found.notes),
    ]


# Several systems


def comparison_text(found: MacroComparison) -> str:
    """Return the means in all collections, metric by metric, then the pairs."""
    macro = found.macro
    drawn = [
        table_with(head, [["\n".join(cell) for cell in row] for row in rows], sides)
        for head, rows, sides in _means(found)
    ]
    head, pairs = one.pair_rows(macro)
    drawn.append(table_with(head, pairs[: one.PAIRS], "lllrrrl"))
    lines = [*one.how_compared(macro), *_rule(found), *one.more_pairs(pairs)]
    lines += [f"! {text}" for text in found.warnings]
    lines += [f"- {text}" for text in found.notes]
    texts = [plain_text(table, ENDLESS) for table in drawn]
    return "\n".join([*texts, plain_lines(lines, _WIDTH)])


def comparison_html(found: MacroComparison) -> str:
    """Return the same tables for notebooks."""
    macro = found.macro
    means = "".join(
        html_table(["", *systems], rows, sides, caption=metric)
        for (metric, *systems), rows, sides in _means(found)
    )
    head, pairs = one.pair_rows(macro)
    lines = [[cell.split("\n") for cell in row] for row in pairs[: one.PAIRS]]
    titles = [title.split("\n") for title in head]
    below = (
        *one.how_compared(macro),
        *_rule(found),
        *one.more_pairs(pairs),
        *found.warnings,
        *found.notes,
    )
    return means + html_table(titles, lines, "lllrrrl", below=below)


def comparison_markdown(found: MacroComparison) -> str:
    """Return a row per system; by metric, a column per collection and one of means."""
    rows = _side_by_side(found, one.markdown_cells)
    below = [*letters_mark(found.macro), *_rule(found)]
    return markdown_table(_columns(found), rows, below)


def comparison_latex(
    found: MacroComparison, digits: int, caption: str | None, label: str | None
) -> str:
    """Return the same table for the booktabs package."""
    check_count("digits", digits, least=0)
    rows = _side_by_side(found, lambda each: one.latex_cells(each, digits))
    below = [*letters_mark(found.macro), *_rule(found)]
    return latex_table(_columns(found), rows, below, caption, label)


def _all(found: MacroComparison) -> dict[str, Comparison]:
    return {**found.collections, MACRO: found.macro}


def _columns(found: MacroComparison) -> list[str]:
    """Return the titles of all columns; of several metrics, with their names."""
    several = len(found.metrics) > 1
    return [
        f"{metric} {shown(name)}" if several else shown(name)
        for metric in found.metrics
        for name in _all(found)
    ]


def _side_by_side(
    found: MacroComparison, cells: Callable[[Comparison], list[list[str]]]
) -> list[list[str]]:
    """Return a row per system: its name, and its means, metric by metric."""
    columns = [cells(each) for each in _all(found).values()]
    return [
        [
            columns[0][system][0],
            *(
                of_collection[system][1 + metric]
                for metric in range(len(found.metrics))
                for of_collection in columns
            ),
        ]
        for system in range(len(found.systems))
    ]


def _means(
    found: MacroComparison,
) -> list[tuple[list[str], list[list[list[str]]], str]]:
    """Return a table per metric, with a row per collection and a column per system.

    There are often more collections than systems. Each table is its head, its rows of
    lines, and its sides.
    """
    rows_of = {name: one.mean_rows(each)[1] for name, each in _all(found).items()}
    by_metric = []
    for place, metric in enumerate(found.metrics, 1):
        head = [metric, *(row[0] for row in rows_of[MACRO])]
        rows = [
            [[_sized(name, found)], *(row[place].split("\n") for row in by_system)]
            for name, by_system in rows_of.items()
        ]
        by_metric.append((head, rows, _sides(head)))
    return by_metric


def _sized(name: str, found: MacroComparison | MacroEvaluation) -> str:
    """Return the name of a collection with the number of its queries."""
    if name == MACRO:
        return name
    each = found.collections[name]
    return f"{shown(name)} ({len(each.queries):,})"


def _sides(head: Sequence[str]) -> str:
    return "l" + "r" * (len(head) - 1)
