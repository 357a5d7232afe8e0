"""Markup: HTML text whose parts are escaped as it is put together."""

from __future__ import annotations

import html
import json
import math
import re
from dataclasses import dataclass
from itertools import starmap
from typing import TYPE_CHECKING, Any

from rankine._report.tables import number, shown

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

_VOID = {"meta", "input", "br"}
_FROM_RIGHT = re.compile(
    "[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc\U00010800-\U00010fff\U0001e800-\U0001efff]"
)
"""The blocks of letters that are written from right to left."""
_KEPT = re.compile(r"(?<=\d) (?=%)|(?<=\bp) (?=[=<] \d)|(?<=\bp [=<]) (?=\d)")
"""The spaces in "95 %" and "p = 0.1", where no line may break."""
_IN_SCRIPT = {ord(mark): f"\\u{ord(mark):04x}" for mark in "<>&\u2028\u2029"}


_LONG = 24
"""Names with more bytes than this may take several lines."""
_KEPT_COLUMN = "verdict"
_MANY = 9
"""A table with this many columns or more is set densely."""
_FEW = 20
"""A table with more rows is folded, on paper too: see report.js."""


class Markup(str):
    """Text that is HTML already; any other text is escaped."""

    __slots__ = ()


def tag(name: str, /, *children: object, **attributes: object) -> Markup:
    """Return an element; texts in it are escaped, and attributes too.

    An underscore stands for a hyphen; one at the end is dropped, as in ``class_``.
    An attribute that is None or False is left out.

    >>> tag("a", "1 < 2", class_="x", data_n=3)
    '<a class="x" data-n="3">1 &lt; 2</a>'
    """
    words = []
    for key, value in attributes.items():
        word = key.rstrip("_").replace("_", "-")
        if value is True:
            words.append(f" {word}")
        elif value is not None and value is not False:
            words.append(f' {word}="{html.escape(shown(value))}"')
    head = f"<{name}{''.join(words)}>"
    return Markup(head if name in _VOID else f"{head}{join(children)}</{name}>")


def join(parts: Iterable[object]) -> Markup:
    """Join parts, and escape those that are not markup."""
    return Markup(
        "".join(
            part if isinstance(part, Markup) else html.escape(shown(part))
            for part in parts
        )
    )


@dataclass(frozen=True, slots=True)
class TableCell:
    """A cell of a table.

    Attributes:
        text: what is shown.
        value: the number that rows are sorted by; the text if there is none.
        below: a second line, in small type.
        mark: the class that styles it.
    """

    text: object
    value: float | None = None
    below: str = ""
    mark: str | None = None


def measured(
    value: float, low: float, high: float, form: Callable[[float], str] = number
) -> TableCell:
    """Return a number with its interval below, both written in a form.

    >>> measured(0.5, 0.4, 0.6).below, measured(0.5, 0.4, 0.6, "{:+.1f}".format).below
    ('0.4000 to 0.6000', '+0.4 to +0.6')
    """
    if math.isnan(value):
        return TableCell(number(value))
    undefined = math.isnan(low) or math.isnan(high)
    bounds = "" if undefined else f"{form(low)} to {form(high)}"
    return TableCell(form(value), value, bounds)


def table(
    head: Sequence[str],
    rows: Iterable[Sequence[object]],
    sides: str,
    *,
    caption: str,
    sort: bool = True,
) -> Markup:
    """Return a table that scrolls if it is too wide, while its verdicts stay in sight.

    A table with many columns has less room between them.

    Args:
        head: the titles of the columns.
        rows: their cells: texts, markup or `TableCell`.
        sides: the alignment of each column, ``l`` or ``r``.
        caption: a description for those who cannot see the table.
        sort: whether readers can sort the table.
    """
    kept = [" kept" if title == _KEPT_COLUMN else "" for title in head]
    heads = [
        tag("th", title, scope="col", class_=f"{_class(title, side)}{keeps}")
        for title, side, keeps in zip(head, sides, kept, strict=True)
    ]
    body = [
        tag("tr", *starmap(_cell, zip(row, sides, kept, strict=True))) for row in rows
    ]
    classes = ["sortable"] * sort + ["dense"] * (len(head) >= _MANY)
    drawn = tag(
        "table",
        tag("caption", caption, class_="unseen"),
        tag("thead", tag("tr", *heads)),
        tag("tbody", *body),
        class_=" ".join(classes) or None,
    )
    return tag(
        "div", drawn, class_="wide", tabindex="0", role="region", aria_label=caption
    )


def folded(drawn: Markup, caption: str, n: int) -> Markup:
    """Return a table of n rows that readers can open; if they are few, it is open."""
    if n <= _FEW:
        return drawn
    return tag("details", tag("summary", f"{caption}: {n:,} rows"), drawn)


def _cell(cell: object, side: str, keeps: str) -> Markup:
    if not isinstance(cell, TableCell):
        return tag("td", cell, class_=f"{_class(cell, side)}{keeps}")
    text = tag("span", cell.text, class_=cell.mark) if cell.mark else cell.text
    below = tag("small", cell.below) if cell.below else ""
    order = None if cell.value is None else repr(cell.value)
    return tag("td", text, below, class_=f"at-{side}{keeps}", data_value=order)


def _class(text: object, side: str) -> str:
    """Return the class of a cell; a long name may wrap."""
    plain = not isinstance(text, Markup)
    is_long = plain and len(shown(text).encode("utf-8", "replace")) > _LONG
    return f"at-{side} long" if is_long else f"at-{side}"


def rest_of(most: int, n: int, where: str, which: str = "first") -> Markup:
    """Say how many rows are shown, and where to find the rest; nothing if all are.

    >>> rest_of(1000, 1200, ".table")
    '<p class="hint">The first 1,000 of 1,200 rows are shown; see .table for all.</p>'
    """
    if n <= most:
        return Markup()
    says = f"The {which} {most:,} of {n:,} rows are shown; see {where} for all."
    return tag("p", says, class_="hint")


def points(entries: Iterable[object], **attributes: object) -> Markup:
    """Return a list of entries; nothing if there are none."""
    drawn = [tag("li", entry) for entry in entries]
    return tag("ul", *drawn, **attributes) if drawn else Markup()


def isolated(text: str, names: Iterable[str]) -> Markup:
    """Return a sentence whose words keep their order around right-to-left names.

    >>> isolated("old: 9 of 10", ["old"])
    'old: 9 of 10'
    >>> isolated("\u05d0: 9 of 10", ["\u05d0"])
    '<bdi>\u05d0</bdi>: 9 of 10'
    """
    text = unbroken(text)
    turned = {name for name in names if _FROM_RIGHT.search(name)}
    if not turned:
        return join([text])
    longest = sorted(map(re.escape, turned), key=len, reverse=True)
    parts = re.split(f"({'|'.join(longest)})", text)
    return join(tag("bdi", part) if part in turned else part for part in parts)


def unbroken(text: str) -> str:
    r"""Return a sentence in which no line breaks between a number and its sign or unit.

    >>> unbroken("95 % intervals; p = 0.1")
    '95\xa0% intervals; p\xa0=\xa00.1'
    """
    return _KEPT.sub("\xa0", text)


def in_order(names: Iterable[str], between: str) -> str:
    """Return names that keep their order, even if they are written right to left.

    >>> in_order(["a", "b"], ", ")
    'a, b'
    """
    return between.join(
        f"{name}\u200e" if _FROM_RIGHT.search(name) else name for name in names
    )


def json_in_script(value: Any) -> str:
    r"""Return JSON that cannot end the script around it.

    >>> json_in_script({"a": "</script>"})
    '{"a":"\\u003c/script\\u003e"}'
    """
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return text.translate(_IN_SCRIPT)
