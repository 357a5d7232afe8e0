"""Count what makes the code large or small: make counts.

How many lines of code each package has, without docstrings, comments and blank lines;
how many places decide an order or look for repeats, merge parts of results, or ask in
which form a run is; how many functions and files a call crosses, and how often it reads
a run.
"""

from __future__ import annotations

import ast
import sys
import tempfile
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import rankine as rk
from rankine._io.sources import Stream

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

ROOT = Path(rk.__file__).parent
CORE = "_io", "_join", "_tables", "_evaluate", "_engines"
"""The packages through which a run goes."""
MERGING = {"add", "__add__", "__iadd__", "plus", "merge"}
FORMS = {"Rows", "Stream", "Lists", "Dense"}
"""The names of a run's forms."""
CALLS = {
    "sort scores": {"sorted_rows", "sort_descending", "before", "lexsort"},
    "look for repeats": {"is_duplicated", "is_first_distinct", "is_last_distinct"},
}


def modules() -> list[Path]:
    """Return the files of the package."""
    return sorted(ROOT.rglob("*.py"))


def n_root_modules() -> int:
    """Count the modules at the root, but for the doors."""
    doors = {"__init__", "__main__", "errors"}
    return sum(path.stem not in doors for path in ROOT.glob("*.py"))


def callers(names: set[str], packages: tuple[str, ...]) -> dict[str, int]:
    """Count the calls of some functions, by the module that makes them."""
    counts: Counter[str] = Counter()
    for path in modules():
        if path.relative_to(ROOT).parts[0] not in packages:
            continue
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Call):
                name = getattr(node.func, "attr", getattr(node.func, "id", ""))
                counts[str(path.relative_to(ROOT))] += name in names
    return {module: n for module, n in sorted(counts.items()) if n}


def crossed(call: Callable[[], Any]) -> tuple[int, int]:
    """Return how many functions a call goes through, and in how many files."""
    call()  # whatever is loaded at the first call
    seen: set[tuple[str, int]] = set()

    def see(frame: Any, event: str, _: Any) -> None:
        code = frame.f_code
        if event == "call" and code.co_filename.startswith(str(ROOT)):
            seen.add((code.co_filename, code.co_firstlineno))

    sys.setprofile(see)
    try:
        call()
    finally:
        sys.setprofile(None)
    return len(seen), len({name for name, _ in seen})


def n_reads(run: Path, call: Callable[[], Any]) -> int:
    """Count how often a run is read from its first line on."""
    real, reads = Stream.__init__, Counter[str]()

    def counted(self: Stream, open: Any, name: str, *more: Any, **others: Any) -> None:  # noqa: A002 - the name of the field
        def again() -> Any:
            reads[name] += 1
            return open()

        again.counts = True  # type: ignore[attr-defined]
        real(self, open if hasattr(open, "counts") else again, name, *more, **others)

    Stream.__init__ = counted  # type: ignore[method-assign]
    try:
        call()
    finally:
        Stream.__init__ = real  # type: ignore[method-assign]
    return reads[str(run)]


def code_lines(path: Path) -> int:
    """Count the lines of code in a file."""
    text = path.read_text()
    tree = ast.parse(text)
    words: set[int] = set()
    for node in ast.walk(tree):
        # A string that stands alone is a docstring.
        alone = node.value if isinstance(node, ast.Expr) else None
        if isinstance(alone, ast.Constant) and isinstance(alone.value, str):
            words.update(range(node.lineno, (node.end_lineno or 0) + 1))  # type: ignore[attr-defined]
    return sum(
        bool(line.strip()) and not line.lstrip().startswith("#") and n not in words
        for n, line in enumerate(text.splitlines(), 1)
    )


def n_merging() -> int:
    """Count the methods that merge, in the packages through which a run goes."""
    return sum(
        isinstance(node, ast.FunctionDef) and node.name in MERGING
        for path in modules()
        if path.relative_to(ROOT).parts[0] in CORE
        for part in ast.walk(ast.parse(path.read_text()))
        if isinstance(part, ast.ClassDef)
        for node in part.body
    )


def n_asked() -> int:
    """Count the questions in which form a run is."""
    return sum(
        isinstance(node, ast.Call)
        and getattr(node.func, "id", "") == "isinstance"
        and not FORMS.isdisjoint(
            name.id for name in ast.walk(node.args[1]) if isinstance(name, ast.Name)
        )
        for path in modules()
        for node in ast.walk(ast.parse(path.read_text()))
    )


def counts() -> Iterator[tuple[str, object]]:
    """Return what is counted, and how much of it there is."""
    folder = Path(tempfile.mkdtemp())
    qrels, run = folder / "some.qrels", folder / "some.run"
    qrels.write_text("q 0 a 1\nq 0 b 0\n")
    run.write_text("q Q0 b 1 2.0 t\nq Q0 a 2 1.0 t\n")
    metrics = ["nDCG@10", "AP"]
    mixed: dict[str, Any] = {"metrics": ["AP", "Coverage@10"], "catalog": 100}
    judged, shown = {"q": {"a": 1, "b": 0}}, {"q": {"b": 2.0, "a": 1.0}}
    yield "modules at the root", n_root_modules()
    for what, names in CALLS.items():
        places = callers(names, ("_io", "_join", "_evaluate"))
        yield f"modules that {what}", f"{len(places)}: {', '.join(places)}"
    functions, files = crossed(lambda: rk.evaluate(qrels, run, metrics))
    yield "evaluating two files", f"{functions} functions in {files} files"
    functions, files = crossed(lambda: rk.evaluate(judged, shown, metrics))
    yield "evaluating two dicts", f"{functions} functions in {files} files"
    yield (
        "times a run is read, with lists",
        n_reads(run, lambda: rk.evaluate(qrels, run, **mixed)),
    )
    yield (
        "times a run is read, in a batch",
        n_reads(run, lambda: rk.Accumulator(**mixed).update(qrels, run).result()),
    )
    yield "methods that merge", n_merging()
    yield "isinstance questions about a run", n_asked()
    lines: Counter[str] = Counter()
    for path in modules():
        lines[path.relative_to(ROOT).parts[0]] += code_lines(path)
    for package, n in sorted(lines.items()):
        yield f"code lines of {package}", n
    yield "code lines of the core", sum(lines[package] for package in CORE)
    yield "code lines", lines.total()


if __name__ == "__main__":
    for what, n in counts():
        sys.stdout.write(f"{what:34} {n}\n")
