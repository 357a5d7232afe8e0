"""A matrix of similarities as text."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from rankine._base.text import count
from rankine._report.cells import shown

if TYPE_CHECKING:
    from rankine._evaluate.similarity import SimilarityMatrix


def to_text(found: SimilarityMatrix) -> str:
    """Return a row per run, the first of two, and a column per run, the second."""
    names = [shown(name) for name in found.names]
    cells = [["", *names]]
    for name, row in zip(names, found.values.tolist(), strict=True):
        numbers = ["-" if math.isnan(value) else f"{value:.4f}" for value in row]
        cells.append([name, *numbers])
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    lines = [str(found.measure), ""]
    for first, *rest in cells:
        numbers = [
            cell.rjust(width) for cell, width in zip(rest, widths[1:], strict=True)
        ]
        lines.append("  ".join([first.ljust(widths[0]), *numbers]).rstrip())
    said: dict[str, list[str]] = {}
    for (one, other), notes in found.notes.items():
        for note in notes:
            if one != other:
                said.setdefault(note, []).append(f"{shown(one)} and {shown(other)}")
    if said:
        lines.append("")
    for note, pairs in said.items():
        more = "" if len(pairs) == 1 else f", and {count(len(pairs) - 1, 'other pair')}"
        lines.append(f"- {shown(note)} ({pairs[0]}{more})")
    return "\n".join(lines)
