"""Count what makes the code large or small: make counts.

How many root modules, places that decide an order, compare ids or look for repeats;
how many functions and files a call crosses, and how often it reads a run; which files
are long.
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
LONGEST = 450
"""Lines that a file has at most."""
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


def long_files() -> list[tuple[str, int]]:
    """Return the files of src and tests that are too long."""
    every = [*modules(), *sorted(Path("tests").rglob("*.py"))]
    lengths = ((str(path), len(path.read_text().splitlines())) for path in every)
    return [(name, n) for name, n in lengths if n > LONGEST]


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
    yield "lines of src", sum(len(path.read_text().splitlines()) for path in modules())
    yield f"files above {LONGEST} lines", long_files() or "none"


if __name__ == "__main__":
    for what, n in counts():
        sys.stdout.write(f"{what:34} {n}\n")
