"""No code asks for the name of a metric or of a convention: facts say what is so.

A fact about a metric, a measure, an estimator or a loss stands where it is registered,
one about a convention or a tool in its record. Code that asks for a name instead is
forgotten when the next one is added.
"""

from __future__ import annotations

import ast
from pathlib import Path
from typing import TYPE_CHECKING, TypeGuard

import pytest

import rankine as rk
from rankine._conventions.presets import PRESETS
from rankine._evaluate.predictions.losses import LOSSES
from rankine._metrics.estimators import ESTIMATORS
from rankine._metrics.lists.kind import LISTED
from rankine._metrics.metric import REGISTRY
from rankine._metrics.similarity.measures import MEASURES

if TYPE_CHECKING:
    from collections.abc import Iterator

rk.metrics()  # fills the registries
NAMES = {*REGISTRY, *LISTED, *MEASURES, *ESTIMATORS, *LOSSES, *PRESETS}
ROOT = Path(rk.__file__).parent
DATA = {"_conventions/presets.py", "_conventions/tools.py"}
"""Conventions and tools are records by name."""
REASONS = {
    ("_conventions/phrases.py", "R"): "the divisor R, the number of relevant items",
    ("_metrics/ranking/_average.py", "R"): "the divisor R, as above",
    ("_conventions/phrases.py", "recmetrics"): "a variant of AR that a tool invented",
    ("_metrics/ranking/_average.py", "recmetrics"): "the same variant, computed",
    ("_results/saved.py", "rankine"): "the key of the version in JSON",
    ("cli/output.py", "rankine"): "the key of the version in JSON",
    ("cli/evaluate.py", "trec_eval"): "the layout of --style, not the convention",
}
"""File and name -> why the word is there, and is no name of what is registered."""
ASKING = {"get", "pop", "setdefault", "startswith", "endswith", "removeprefix", "index"}


def constants(node: ast.AST | None) -> Iterator[ast.Constant]:
    """Yield the texts that an expression is made of, in sets and lists as well."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        yield node
    elif isinstance(node, (ast.Tuple, ast.List, ast.Set)):
        for part in node.elts:
            yield from constants(part)
    elif isinstance(node, ast.Starred):
        yield from constants(node.value)
    elif _is_set(node):
        yield from constants(node.args[0])


def _is_set(node: ast.AST | None) -> TypeGuard[ast.Call]:
    if not isinstance(node, ast.Call) or not node.args:
        return False
    return isinstance(node.func, ast.Name) and node.func.id in {"frozenset", "set"}


def asked(node: ast.AST) -> list[ast.AST | None]:
    """Return what a node compares with, or looks under."""
    match node:
        case ast.Compare():
            return [node.left, *node.comparators]
        case ast.Dict():
            return [*node.keys]
        case ast.Subscript():
            return [node.slice]
        case ast.MatchValue():
            return [node.value]
        case ast.Set():
            return [node]
        case ast.Call(func=ast.Attribute(attr=method)) if method in ASKING:
            return [*node.args[:1]]
    return [node] if _is_set(node) else []


def in_annotations(tree: ast.AST) -> set[int]:
    """Return the nodes of types, where a Literal lists words and asks for none."""
    types = [
        part
        for node in ast.walk(tree)
        for part in (
            getattr(node, "annotation", None),
            getattr(node, "returns", None),
            node if _is_literal(node) else None,
        )
        if part is not None
    ]
    return {id(node) for part in types for node in ast.walk(part)}


def _is_literal(node: ast.AST) -> bool:
    return (
        isinstance(node, ast.Subscript)
        and isinstance(node.value, ast.Name)
        and node.value.id == "Literal"
    )


def questions(source: str) -> list[tuple[int, str]]:
    """Return where code asks for a name, and which."""
    tree = ast.parse(source)
    types = in_annotations(tree)
    found = {
        (constant.lineno, constant.value)
        for node in ast.walk(tree)
        if id(node) not in types
        for part in asked(node)
        for constant in constants(part)
        if constant.value in NAMES
    }
    return sorted(found)


def everywhere() -> dict[tuple[str, str], list[int]]:
    places: dict[tuple[str, str], list[int]] = {}
    for path in sorted(ROOT.rglob("*.py")):
        file = path.relative_to(ROOT).as_posix()
        if file in DATA:
            continue
        for line, name in questions(path.read_text()):
            places.setdefault((file, name), []).append(line)
    return places


def test_no_code_asks_for_a_name() -> None:
    found = {
        f"{file}:{lines[0]} asks for {name!r}"
        for (file, name), lines in everywhere().items()
        if (file, name) not in REASONS
    }

    assert found == set()


def test_every_reason_is_needed() -> None:
    assert set(REASONS) <= set(everywhere())


@pytest.mark.parametrize(
    "code",
    [
        "metric.name == 'AP'",
        "'AP' != metric.name",
        "metric.name in {'AP', 'x'}",
        "metric.name in ('x', 'AP')",
        "metric.name in ['AP']",
        "BY = frozenset({'AP'})",
        "BY = frozenset(['AP'])",
        "BY = {'AP': 1}",
        "BY = {**more, 'AP': 1}",
        "table['AP']",
        "table.get('AP')",
        "table.get('AP', 1)",
        "name.startswith('AP')",
        "name.endswith(('x', 'trec_eval-9'))",
        "match name:\n    case 'AP':\n        pass",
        "name == 'Coverage'",
        "name == 'RBO'",
        "name == 'snips'",
        "name == 'mae'",
        "convention == 'ranx'",
    ],
)
def test_a_question_is_seen(code: str) -> None:
    assert len(questions(code)) == 1


@pytest.mark.parametrize(
    "code",
    [
        "AP = register('AP', average_precision)",
        "def f(name: Literal['mae'] = 'mae'): ...",
        "Name = Literal['mae', 'rmse']",
        "convention('rankine')",
        "message = 'AP'",
        "kind == 'APs'",
    ],
)
def test_other_words_are_not(code: str) -> None:
    assert questions(code) == []


# What others own


def foreign_writes(source: str) -> list[int]:
    """Return where code writes into the dict of an object."""
    return [
        node.lineno
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.Subscript)
        and isinstance(node.ctx, ast.Store)
        and isinstance(node.value, ast.Attribute)
        and node.value.attr == "__dict__"
    ]


def test_a_write_is_seen() -> None:
    assert foreign_writes("summary.__dict__['empty'] = 1\nrow = x.__dict__['a']") == [1]


def test_no_code_writes_into_the_dict_of_another_object() -> None:
    found = {
        path.relative_to(ROOT).as_posix(): foreign_writes(path.read_text())
        for path in ROOT.rglob("*.py")
    }

    assert {file: lines for file, lines in found.items() if lines} == {}
