"""Packages have one order, and code imports only from those before its own."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

import rankine

ROOT = Path(rankine.__file__).parent
ORDER = (
    "errors", "_base", "_stats", "_conventions", "_tables", "_metrics", "_io", "_join",
    "_runs", "_evaluate", "_fusion", "_online", "_engines", "_report", "_results",
    "_experiment", "cli", "stats", "online", "plot", "spark", "compat",
    "pytest_plugin",
)  # fmt: skip
BARE = ORDER[: ORDER.index("_io")]
"""Packages that need NumPy alone: other engines use them where polars is missing."""
DRAWN = {
    ("_base", "_report"),
    ("_evaluate", "_report"),
    ("_evaluate", "_results"),
    ("_runs", "_report"),
    ("_online", "_report"),
    ("_online", "_results"),
}
"""A result's own methods that draw or save it import what they need when called.

Those of records are one function, in `_base`.
"""


def imports(path: Path) -> set[str]:
    """Return all that a file imports, but for type checkers alone."""
    tree = ast.parse(path.read_text())
    typing_only = {
        id(node)
        for branch in ast.walk(tree)
        if isinstance(branch, ast.If) and "TYPE_CHECKING" in ast.dump(branch.test)
        for node in ast.walk(branch)
    }
    names: set[str] = set()
    for node in ast.walk(tree):
        if id(node) in typing_only:
            continue
        if isinstance(node, ast.ImportFrom) and node.module:
            names |= {f"{node.module}.{alias.name}" for alias in node.names}
        elif isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
    return names


def violations(root: Path = ROOT) -> list[str]:
    wrong = []
    for package in ORDER:
        place = root / package
        for path in [place.with_suffix(".py"), *sorted(place.rglob("*.py"))]:
            if not path.exists():
                continue
            module = ".".join(path.relative_to(root).with_suffix("").parts)
            for target in sorted(imports(path)):
                first, _, rest = target.partition(".")
                if first == "polars" and package in BARE:
                    wrong.append(f"{module} imports polars")
                other = rest.split(".")[0]
                if first != "rankine" or other not in ORDER:
                    continue
                after = ORDER.index(other) > ORDER.index(package)
                if after and (package, other) not in DRAWN:
                    wrong.append(f"{module} imports {rest}")
    return wrong


def test_imports_point_to_what_comes_before() -> None:
    assert violations() == []


@pytest.mark.slow
def test_planning_and_summing_up_need_numpy_alone() -> None:
    modules = "plan, summary, notes, warnings, findings"
    code = f"from rankine._evaluate import {modules}; import sys"
    code += "; sys.exit('polars' in sys.modules)"

    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_every_module_has_a_place() -> None:
    doors = {"__init__", "__main__", "data"}
    places = {path.stem for path in ROOT.iterdir() if path.name != "__pycache__"}

    assert places - {"py"} == doors | set(ORDER)


@pytest.mark.parametrize(
    "package", ["_tables", "_io", "_join", "_runs", "_evaluate", "_fusion", "_engines"]
)
def test_a_package_says_which_module_holds_what(package: str) -> None:
    place = ROOT / package
    said = ast.get_docstring(ast.parse((place / "__init__.py").read_text())) or ""
    modules = {path.stem for path in place.iterdir()} - {"__init__", "__pycache__"}

    assert modules - set(re.findall(r"\w+", said)) == set()


def test_a_wrong_import_is_seen(tmp_path: Path) -> None:
    (tmp_path / "_metrics").mkdir()
    (tmp_path / "_metrics" / "gain.py").write_text(
        "import polars as pl\n"
        "from rankine._report import text\n"
        "from rankine._tables import judged\n"
    )

    assert violations(tmp_path) == [
        "_metrics.gain imports polars",
        "_metrics.gain imports _report.text",
    ]
