"""Text that fits a terminal; what goes elsewhere is not wrapped."""

from __future__ import annotations

import shutil
import sys
import textwrap

_ROOM = 24
"""Columns that a text has at least behind its lead, however narrow a terminal is."""
READABLE = 100
"""Columns up to which prose can be read well."""


def width() -> int | None:
    """Return the columns of the terminal, None where the output is piped elsewhere."""
    return shutil.get_terminal_size().columns if sys.stdout.isatty() else None


def paragraph(lead: str, text: str, columns: int | None, hang: int = 0) -> list[str]:
    """Return text behind a lead, with the lines below it under its first word.

    Args:
        lead: what stands before the text.
        text: the text.
        columns: how many there are; None if lines may have any length.
        hang: how much further to the right the lines below stand.

    >>> paragraph("- ", "a note that does not fit into one line", 28)
    ['- a note that does not fit', '  into one line']
    """
    if columns is None:
        return [f"{lead}{text}".rstrip()]
    below = " " * (len(lead) + hang)
    return textwrap.wrap(
        text,
        max(columns, len(below) + _ROOM),
        initial_indent=lead,
        subsequent_indent=below,
        break_long_words=False,
        break_on_hyphens=False,
    ) or [lead.rstrip()]


def reflowed(text: str, columns: int | None, indent: str = "  ") -> list[str]:
    """Return paragraphs, which blank lines separate, each wrapped anew.

    Examples of Python and lines that begin with blanks stay as they are.
    """
    if columns is None:
        return textwrap.indent(text, indent).splitlines()
    lines: list[str] = []
    for block in text.split("\n\n"):
        fixed = any(line.startswith((">>> ", " ")) for line in block.splitlines())
        lines += [""] if lines else []
        lines += (
            textwrap.indent(block, indent).splitlines()
            if fixed
            else paragraph(indent, " ".join(block.split()), columns)
        )
    return lines
