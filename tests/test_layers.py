"""Code may import only from the left: io, table, families, statistics, report, cli."""

from __future__ import annotations

import ast
from pathlib import Path

import rankine

ROOT = Path(rankine.__file__).parent
LAYERS = (
    ("errors", "arrays", "blocks", "forks", "frozen", "words"),
    ("checks", "conventions.convention", "conventions.tools"),
    ("conventions.presets", "conventions.words", "io"),
    ("conventions.files",),
    ("table",),
    ("metric", "conventions.bind"),
    ("ranking", "recommend"),
    ("trec_names", "names"),
    (
        "stats",
        "notes",
        "means",
        "cautions",
        "doubts",
        "alike",
        "predicted",
        "probability",
    ),
    ("plan", "worst"),
    ("result",),
    ("inputs", "offpolicy"),
    ("computed", "checkup"),
    ("evaluation",),
    ("reconciliation", "pairwise", "accumulate"),
    ("report", "data"),
    ("cli",),
)
DRAWN = {
    ("result", "report"), ("checkup", "report"), ("reconciliation", "report"),
    ("pairwise", "report"), ("offpolicy.estimate", "report"), ("worst", "report"),
}  # fmt: skip
# A package's own door may open to what is behind it.
DOORS = {"", "conventions", "__main__"}


def layer_of(module: str) -> int | None:
    found = [
        (len(name), place)
        for place, names in enumerate(LAYERS)
        for name in names
        if module == name or module.startswith(name + ".")
    ]
    return max(found)[1] if found else None


def imports(path: Path) -> set[str]:
    tree = ast.parse(path.read_text())
    typing_only = {
        id(node)
        for branch in ast.walk(tree)
        if isinstance(branch, ast.If) and "TYPE_CHECKING" in ast.dump(branch.test)
        for node in ast.walk(branch)
    }
    found = set()
    for node in ast.walk(tree):
        if id(node) in typing_only:
            continue
        if isinstance(node, ast.ImportFrom) and node.module:
            found |= {f"{node.module}.{alias.name}" for alias in node.names}
        elif isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
    return {name.removeprefix("rankine.") for name in found if "rankine." in name}


def module_of(path: Path, root: Path) -> str:
    parts = path.relative_to(root).with_suffix("").parts
    return ".".join(part for part in parts if part != "__init__")


def violations(root: Path = ROOT) -> list[str]:
    wrong = []
    for path in root.rglob("*.py"):
        module = module_of(path, root)
        if module in DOORS:
            continue
        own = layer_of(module)
        for target in imports(path):
            other = layer_of(target)
            if own is None or (other is not None and other > own):
                # Results draw themselves through the report, when they are asked to,
                # and a convention is read from a file by those who know files.
                if (module, target.split(".")[0]) in DRAWN or (
                    module == "conventions.convention"
                    and target.startswith("conventions.files.")
                ):
                    continue
                wrong.append(f"{module} imports {target}")
    return wrong


def test_imports_point_to_the_left() -> None:
    assert violations() == []


def test_every_module_has_a_layer() -> None:
    modules = [module_of(path, ROOT) for path in ROOT.rglob("*.py")]

    assert [m for m in modules if m not in DOORS and layer_of(m) is None] == []


def test_a_wrong_import_is_seen(tmp_path: Path) -> None:
    (tmp_path / "ranking").mkdir()
    (tmp_path / "ranking" / "_gain.py").write_text(
        "from rankine.report import text\nfrom rankine.table import judged\n"
    )

    assert violations(tmp_path) == ["ranking._gain imports report.text"]
