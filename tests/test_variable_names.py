"""The name of a variable says what it holds.

Words such as `found` fit any value, so that a reader has to look up what is meant.
"""

from __future__ import annotations

import ast
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import rankine as rk

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(rk.__file__).parent
EMPTY = {"found", "one", "own", "made", "at", "told"}
REASONS = {
    ("_metrics/metric.py", "at"): "what @ sets, under the name that register() takes"
}
"""File and name -> why it has to stay."""


def bound(node: ast.AST) -> Iterator[str | None]:
    """Yield the names that a node gives to values."""
    match node:
        case ast.Name(id=name, ctx=ast.Store()):
            yield name
        case ast.Attribute(attr=name, ctx=ast.Store()):
            yield name
        case ast.arg(arg=name):
            yield name
        case ast.ExceptHandler(name=name) | ast.MatchAs(name=name):
            yield name
        case ast.MatchStar(name=name) | ast.MatchMapping(rest=name):
            yield name


def empty_names(source: str) -> list[tuple[int, str]]:
    """Return where code binds a name that says nothing, and which."""
    places = {
        (getattr(node, "lineno", 0), name)
        for node in ast.walk(ast.parse(source))
        for name in bound(node)
        if name in EMPTY
    }
    return sorted(places)


def everywhere() -> dict[tuple[str, str], int]:
    """Return the first line of each such name, by file and name."""
    lines: dict[tuple[str, str], int] = {}
    for path in sorted(ROOT.rglob("*.py")):
        file = path.relative_to(ROOT)
        for line, name in empty_names(path.read_text(encoding="utf-8")):
            lines.setdefault((file.as_posix(), name), line)
    return lines


def test_variables_are_named_by_what_they_hold() -> None:
    empty = {
        f"{file}:{line} binds {name!r}"
        for (file, name), line in everywhere().items()
        if (file, name) not in REASONS
    }

    assert empty == set()


def test_every_reason_is_needed() -> None:
    assert set(REASONS) <= set(everywhere())


@pytest.mark.parametrize(
    "code",
    [
        "found = 1",
        "found: int = 1",
        "found += 1",
        "first, (found, *rest) = pair",
        "first, *found = pair",
        "self.found = 1",
        "for found in rows: pass",
        "for place, found in rows: pass",
        "with work() as found: pass",
        "if found := work(): pass",
        "[found for found in rows]",
        "{found: 1 for found in rows}",
        "{key: found for key, found in rows}",
        "any(found for found in rows)",
        "f'{[found for found in rows]}'",
        "lambda found: 1",
        "def work(found): pass",
        "def work(found, /): pass",
        "def work(*, found=1): pass",
        "def work(*found): pass",
        "def work(**found): pass",
        "class Row:\n    found: int",
        "try:\n    pass\nexcept ValueError as found:\n    pass",
        "match row:\n    case [found]:\n        pass",
        "match row:\n    case [1, *found]:\n        pass",
        "match row:\n    case {1: 2, **found}:\n        pass",
    ],
)
def test_a_binding_is_seen(code: str) -> None:
    assert [name for _, name in empty_names(code)] == ["found"]


@pytest.mark.parametrize("name", sorted(EMPTY))
def test_every_word_is_seen(name: str) -> None:
    assert empty_names(f"rows = 1\n{name} = 2") == [(2, name)]


@pytest.mark.parametrize(
    "code",
    [
        "rows = found",
        "work(found=1)",
        "rows.at[1] = 2",
        "np.add.at(counts, rows, 1)",
        "found_rows = 1",
        "'found'",
        "def found(): pass",
    ],
)
def test_other_uses_are_not(code: str) -> None:
    assert empty_names(code) == []
