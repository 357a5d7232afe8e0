"""What is in a page: its elements, the texts of its tables, and its data."""

from __future__ import annotations

import json
from base64 import b64decode
from html.parser import HTMLParser
from typing import TYPE_CHECKING, Any

import numpy as np

import rankine as rk

if TYPE_CHECKING:
    from rankine._base.arrays import Floats

HOSTILE = (
    "</script><script>window.hurt=1</script>",
    "<img src=x onerror=window.hurt=1>",
    '"><svg onload=window.hurt=1>',
    "' onmouseover='window.hurt=1",
    "javascript:window.hurt=1",
    "<!--",
    "-->",
    "]]>",
    "</table><h1>x</h1>",
    "</style><style>body{display:none}</style>",
    "<iframe srcdoc='<script>parent.hurt=1</script>'>",
    "{{ 7 * 7 }}",
    "{% raw %}",
    "${window.hurt=1}",
    "{metric}{a}{b}",
    "datum['hurt']",
    "signal:{expr:'window.hurt=1'}",
    "https://example.org/x.png",
    "data:text/html,<script>window.hurt=1</script>",
    "\x1b[31mred\x1b[0m",
    "\u202egnp.exe",
    "\u2066x\u2069",
    "line\u2028separator",
    "paragraph\u2029separator",
    "two\nlines",
    "\x00zero",
    "&lt;b&gt;",
    "__proto__",
    "constructor",
    "toString",
    "valueOf",
    "hasOwnProperty",
    "isPrototypeOf",
    "\ud800",
    "e\u0301" * 40,
)
"""Names that must stay names."""
_SYSTEMS = [name for name in HOSTILE if name != "\ud800"]
HOSTILE_SYSTEMS = [_SYSTEMS[start : start + 7] for start in range(0, len(_SYSTEMS), 7)]
"""The names that ids may have, as few at a time as curves are drawn for."""
_VOID = {"meta", "input", "br", "img", "hr"}


class Parsed(HTMLParser):
    """The elements of a page in their order, its tables, and its scripts."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, tuple[str, ...]]] = []
        self.open: list[str] = []
        self.tables: dict[str, list[list[str]]] = {}
        self.scripts: list[str] = []
        self.values: dict[str, list[str]] = {}
        self._table: list[list[str]] = []
        self._caption = ""
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, tuple(name for name, _ in attrs)))
        for name, value in attrs:
            self.values.setdefault(name, []).append(value or "")
        if tag not in _VOID:
            self.open.append(tag)
        if tag == "table":
            self._table, self._caption = [], ""
        elif tag == "tr":
            self._table.append([])
        elif tag in {"td", "th"}:
            self._table[-1].append("")
        elif tag == "script":
            self.scripts.append("")
        elif tag in {"small", "sup"} and self._table:
            self._table[-1][-1] += "|"

    def handle_endtag(self, tag: str) -> None:
        while self.open and self.open.pop() != tag:
            pass
        if tag == "table":
            self.tables[self._caption] = self._table
        elif tag == "sup" and self._table:
            self._table[-1][-1] += "|"

    def handle_data(self, data: str) -> None:
        if "script" in self.open:
            self.scripts[-1] += data
        elif "caption" in self.open:
            self._caption += data
        elif {"td", "th"} & set(self.open):
            self._table[-1][-1] += data

    @property
    def data(self) -> dict[str, Any]:
        """What the script reads."""
        data: dict[str, Any] = json.loads(self.scripts[0])
        return data


def unpacked(parts: list[str]) -> Floats:
    numbers: Floats = np.frombuffer(b64decode(parts[0]), dtype="<f8")
    if len(parts) == 1:
        return numbers
    size = 1 if len(numbers) <= 256 else 2
    places = np.frombuffer(b64decode(parts[1]), dtype=f"<u{size}")
    return np.take(numbers, places)


def judged_by(
    names: list[str], queries: list[str], items: list[str], *, baseline: bool = True
) -> rk.Comparison:
    """Return systems of these names on these queries, whose lists hold these items.

    The first is the baseline, if there is to be one.
    """
    qrels = {query: {items[0]: 2, items[-1]: 1} for query in queries}
    runs = {
        name: {
            query: items[place % len(items) :] + items[: place % len(items)]
            for place, query in enumerate(queries, shift)
        }
        for shift, name in enumerate(names)
    }
    first = names[0] if baseline else None
    return rk.compare(qrels, runs, ["nDCG@5", "RR"], baseline=first, draws=100)
