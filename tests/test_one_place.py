"""Order, ties, repeats and ids of two types: the only modules that decide them.

The rule for order and ties is in `_tables/order.py`.

A second place would soon decide otherwise. Who needs an order, or looks for repeats,
calls these modules; a new one is added here only with a reason.
"""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import rankine

ROOT = Path(rankine.__file__).parent
PACKAGES = ("_io", "_join", "_evaluate")
ORDER = {
    "_io/rank_columns.py": "compares ranks with scores, and decides nothing",
    "_join/ids.py": "the order of ids is that of their texts",
    "_join/ranks.py": "names a rank that a list has twice",
    "_join/dense.py": "the top of each row of a matrix, by the keys of ranks.py",
    "_join/rounds.py": "adds up in an order that does not depend on the rows",
}
REPEATS = {
    "_io/repeats.py": "marks and shows repeated rows",
    "_join/pieces.py": "keys that are equal, whose ids are then looked at",
}
TYPES = {
    "_join/ids.py": "which ids are the same, and the order of their texts",
    "_io/values.py": "ids as they are read",
    "_io/frames.py": "subtopics are texts",
    "_io/items.py": "topics are texts",
    "_io/texts.py": "ids of texts as a report shows them",
    "_evaluate/check.py": "compares ids that do not match, letter by letter",
    "_evaluate/result.py": "one column of ids for tables of two types",
    "_join/rounds.py": "prints of lists, the same for ids of any type",
}


def callers(calls: set[str], argument: str = "") -> set[str]:
    """Return the modules that call functions, with an argument if one is given."""
    modules = set()
    for package in PACKAGES:
        for path in sorted((ROOT / package).rglob("*.py")):
            for node in ast.walk(ast.parse(path.read_text())):
                if not isinstance(node, ast.Call):
                    continue
                name = getattr(node.func, "attr", getattr(node.func, "id", ""))
                given = [ast.unparse(own) for own in node.args]
                if name in calls and (not argument or argument in given):
                    modules.add(path.relative_to(ROOT).as_posix())
    return modules


@pytest.mark.parametrize(
    ("places", "calls", "argument"),
    [
        (ORDER, {"lexsort", "sort_descending", "arg_sort", "arg_sort_by"}, ""),
        (REPEATS, {"is_duplicated", "is_first_distinct", "is_last_distinct"}, ""),
        (TYPES, {"cast"}, "pl.String"),
    ],
    ids=["order", "repeats", "types"],
)
def test_nobody_else_decides(
    places: dict[str, str], calls: set[str], argument: str
) -> None:
    assert callers(calls, argument) == set(places)
