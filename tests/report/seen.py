"""What a reader sees of a report in a browser, and how the numbers of a result look."""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from tests.report.conftest import Browser

NUMBER = re.compile(r"(?<![\w.@-])[+-]?\d+(?:,\d{3})*(?:\.\d+)?(?![\w@-])")
"""A number that is not a part of a name, such as that of nDCG@10 or q1."""
OPEN = "for (const e of document.querySelectorAll('details')) e.open = true"
PROSE = """
return [...document.querySelectorAll(
  'main h1, main p, main li, main figcaption, main summary, main dt, main dd, main pre'
)].filter(e => !e.closest('td, svg, .items, .vg-tooltip, .written'))
.filter(e => !e.querySelector('p, li'))
.map(e => e.innerText.replaceAll('\\u00a0', ' ').trim()).filter(text => text);
"""
TABLES = """
return Object.fromEntries([...document.querySelectorAll('main table')].map(
  table => [table.caption.textContent, [...table.tBodies[0].rows].map(
    row => [...row.cells].map(cell => cell.innerText.trim()))]));
"""


def tables(browser: Browser) -> dict[str, list[list[str]]]:
    """Return the cells of every table, by captions; folded ones are opened first."""
    browser.run(OPEN)
    found: dict[str, list[list[str]]] = browser.run(TABLES)
    return found


def prose(browser: Browser) -> list[str]:
    """Return every sentence on results; what can be opened is opened first."""
    browser.run(OPEN)
    texts: list[str] = browser.run(PROSE)
    return texts


def numbers(texts: Iterable[str]) -> set[str]:
    """Return the numbers in texts, as they are written."""
    return {number for text in texts for number in NUMBER.findall(text)}


def four(value: float) -> str:
    return "undefined" if math.isnan(value) else f"{value:.4f}"


def plus(value: float) -> str:
    return f"{value:+.4f}"


def lift(value: float) -> str:
    return f"{100 * value:+.1f} %"


def p4(p: float) -> str:
    if math.isnan(p):
        return "undefined"
    return "< 0.0001" if p < 0.0001 else f"{p:.4f}"


def cell(
    row: dict[str, Any],
    value: str = "value",
    ends: tuple[str, str] = ("low", "high"),
    form: Callable[[float], str] = four,
    below: Callable[[float], str] | None = None,
) -> str:
    """Return a number as a table has it, with the interval below it."""
    if math.isnan(row[value]):
        return "undefined"
    low, high = (row[end] for end in ends)
    if math.isnan(low) or math.isnan(high):
        return form(row[value])
    bound = below or form
    return f"{form(row[value])}\n{bound(low)} to {bound(high)}"
