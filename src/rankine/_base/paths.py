"""Names of files that tell them apart."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence
    from collections.abc import Set as AbstractSet


def told_apart(
    paths: Sequence[Path], given: AbstractSet[str] = frozenset()
) -> list[str]:
    """Return the last part of each path, and more of it where names would be alike.

    Names that were given to others are taken.

    >>> told_apart([Path("a/run.txt"), Path("b/run.txt"), Path("b/other.txt")])
    ['a/run.txt', 'b/run.txt', 'other.txt']
    """
    lengths = [1] * len(paths)
    names = [_tail(path, 1) for path in paths]
    while True:
        twice = given | {name for name in names if names.count(name) > 1}
        grow = [
            number
            for number, name in enumerate(names)
            if name in twice and lengths[number] < len(paths[number].parts)
        ]
        if not grow:
            return names
        for number in grow:
            lengths[number] += 1
            names[number] = _tail(paths[number], lengths[number])


def _tail(path: Path, length: int) -> str:
    """Return the last parts of a path; of `.`, which has none, itself."""
    return str(Path(*path.parts[-length:])) if path.parts else str(path)
