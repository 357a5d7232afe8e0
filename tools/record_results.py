"""Record what rankine says of many inputs, and compare two records.

    python tools/record_results.py record FILE [--cases 2000]
    python tools/record_results.py compare BEFORE AFTER

A change of the inside must leave numbers, notes and refusals as they were. This records
them: numbers to the last bit, notes and warnings as they are printed, refusals with
their kind. The inputs are random cases of the oracle under every convention, evaluated
as dicts, as rows, in parts of any size, in batches and with lists of items beside the
judged ones; the forms of `tests/forms.py`; the broken files of `tests/fuzz`; the demo.

To record an older state, put its `src` on PYTHONPATH: the inputs stay those of here.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import re
import sys
import tempfile
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

import rankine as rk  # noqa: E402 - the path comes first
from oracle.cases import Case, draw  # noqa: E402
from rankine._base.limits import limited  # noqa: E402
from rankine._metrics.metric import REGISTRY  # noqa: E402
from rankine.cli import main  # noqa: E402
from rankine.errors import RankineError  # noqa: E402
from tests.forms import FORMS  # noqa: E402

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

OF_LISTS = (
    "Coverage@3", "Gini@3", "Entropy@2", "Novelty@3", "ILD@3", "InterListDiversity@2",
    "Popularity@3", "Serendipity@3", "EPC@3",
)  # fmt: skip
GRADES = 0, 1, 2, 1
OF_FORMS = ("P@2", "R@3", "AP", "nDCG@2", "RR", "AUC")
FOLDER = Path(tempfile.mkdtemp())
SMALL: dict[str, Any] = {
    "part_bytes": 60, "head_bytes": 80, "held_bytes": 1, "scanned_rows": 6,
    "buckets": 7,
}  # fmt: skip
"""Sizes with which small files take the ways of large ones."""
_FOLDERS = re.compile(
    rf"{re.escape(tempfile.gettempdir())}/\w+|(/[\w.-]+)*(?=/(tests/fuzz|src/rankine)/)"
)
"""Folders that are others each time, or where each state of the code is."""
SHOWN = 20
"""How many differences are shown of each kind."""


def said(
    evaluate: Callable[..., rk.Evaluation], *data: Any, **options: Any
) -> dict[str, Any]:
    """Return all that an evaluation says, or how it was refused."""
    try:
        ev = evaluate(*data, **options)
    except RankineError as error:
        words = str(error).replace(str(FOLDER), "").replace(str(ROOT), "")
        return {"refused": type(error).__name__, "words": words}
    except Exception as error:  # noqa: BLE001 - a crash is a result, too
        return {"refused": f"CRASH {type(error).__name__}", "words": str(error)}
    columns = ev.per_query.to_dict(as_series=False)
    return {
        "mean": {label: ev[label].hex() for label in ev.mean},
        "per_query": {
            label: [x.hex() if isinstance(x, float) else x for x in column]
            for label, column in columns.items()
        },
        "notes": [*map(str, ev.notes)],
        "warnings": [*map(str, ev.warnings)],
    }


def rows_of(case: Case) -> pl.DataFrame:
    """Return the run of a case as rows."""
    columns = {"query": str, "item": str, "score": float, "rank": int}
    return pl.DataFrame(case.rows, schema=columns, orient="row")


def in_batches(
    case: Case, metrics: list[str], convention: str, rng: np.random.Generator
) -> rk.Evaluation:
    """Evaluate a case cut at random, in two accumulators that are merged."""
    run = case.scores
    queries = list(dict.fromkeys([*case.qrels, *run]))
    totals = [rk.Accumulator(metrics, convention=convention) for _ in range(2)]
    for query in rng.permutation(queries).tolist():
        qrels = {query: case.qrels[query]} if query in case.qrels else {}
        lists = {query: run[query]} if query in run else {}
        totals[int(rng.integers(2))].update(qrels, lists)
    return totals[0].merge(totals[1]).result()


def of_case(seed: int) -> Iterator[tuple[str, dict[str, Any]]]:
    """Evaluate a random case, in every engine, as one convention after the other."""
    rng = np.random.default_rng(seed)
    case, k = draw(rng)
    names = sorted(rk.conventions())
    convention = names[seed % len(names)]
    qrels, run, rows = case.qrels, case.scores, rows_of(case)
    fits = []
    for name in REGISTRY:
        metric = f"{name}@{k}" if rng.random() < 1 / 2 else name
        found = said(rk.evaluate, qrels, run, metric, convention=convention)
        yield f"dict {metric}", found
        if "mean" in found:
            fits.append(metric)
    asked = fits or ["AP"]
    both = [*asked[:: len(asked) // 5 + 1], *OF_LISTS]
    beside = {
        "catalog": 20,
        "train": {query: sorted(entry)[:2] for query, entry in qrels.items()},
        "items": {f"d{n}": "abc"[n % 3] for n in range(1, 13)},
    }
    for lenient in (False, True):
        how: dict[str, Any] = {"convention": convention, "lenient": lenient}
        of = " lenient" if lenient else ""
        yield f"rows{of}", said(rk.evaluate, qrels, rows, asked, **how)
    how = {"convention": convention, **beside}
    yield "lists", said(rk.evaluate, qrels, run, both, **how)
    path = FOLDER / "run.csv"
    rows.write_csv(path)
    with limited(**SMALL):
        how = {"convention": convention, "engine": "stream"}
        yield "stream", said(rk.evaluate, qrels, path, asked, **how)
    yield "batches", said(in_batches, case, asked, convention, rng)


def of_forms() -> Iterator[tuple[str, dict[str, Any]]]:
    """Evaluate the same data in every form that is accepted."""
    rng = np.random.default_rng(5)
    qrels, run = {}, {}
    for query in range(6):
        judged, shown = (rng.permutation(11)[:n] + 1 for n in (4, 7))
        qrels[str(query)] = {
            str(i): float(g) for i, g in zip(judged, GRADES, strict=True)
        }
        run[str(query)] = {str(i): 9.5 - n for n, i in enumerate(shown)}
    for name, form in FORMS.items():
        with tempfile.TemporaryDirectory() as folder:
            yield f"form {name}", said(evaluated, form, qrels, run, Path(folder))


def evaluated(form: Any, qrels: Any, run: Any, folder: Path) -> rk.Evaluation:
    """Evaluate data in one form."""
    judgements, made = form(qrels, run, folder)
    return rk.evaluate(judgements, made, OF_FORMS)


def of_broken_files() -> Iterator[tuple[str, dict[str, Any]]]:
    """Read every broken file as judgements and as a run."""
    for path in sorted((ROOT / "tests/fuzz/corpus").iterdir()):
        if path.name == "aborts.parquet":
            continue  # ends the process: tests/fuzz/test_known.py
        sides = {"qrels": (path, {"q": {"a": 1.0}}), "run": ({"q": {"a": 1}}, path)}
        for role, pair in sides.items():
            for engine in ("memory", "stream"):
                found = said(rk.evaluate, *pair, OF_FORMS, engine=engine)
                yield f"broken {path.name} as {role}, {engine}", found


def of_demo() -> Iterator[tuple[str, dict[str, Any]]]:
    """Print the demo."""
    for words in (["demo"], ["demo", "--online"]):
        out = io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.suppress(SystemExit):
            main(words)
        yield " ".join(words), {"words": out.getvalue()}


def record(path: Path, n_cases: int) -> None:
    """Write what is said of all inputs, one in a line."""
    with path.open("w") as file:
        for source in (of_forms, of_broken_files, of_demo):
            for key, found in source():
                file.write(json.dumps([key, found], default=str) + "\n")
        for seed in range(n_cases):
            for key, found in of_case(seed):
                file.write(json.dumps([f"{seed} {key}", found], default=str) + "\n")


def compare(before: Path, after: Path) -> int:
    """Print how two records differ, by kind; return 1 if a number does."""
    old, new = (
        dict(map(json.loads, _FOLDERS.sub("", path.read_text()).splitlines()))
        for path in (before, after)
    )
    kinds: Counter[str] = Counter()
    for key in sorted(old.keys() & new.keys()):
        for field in sorted(old[key].keys() | new[key].keys()):
            was, now = old[key].get(field), new[key].get(field)
            if was != now:
                kinds[field] += 1
                if kinds[field] <= SHOWN:
                    sys.stdout.write(f"{key}: {field}\n  {was}\n  {now}\n")
    alone = len(old.keys() ^ new.keys())
    sys.stdout.write(f"{len(old)} inputs; different: {dict(kinds)}; alone: {alone}\n")
    return int(bool(alone or {"mean", "per_query", "refused"} & kinds.keys()))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    one = commands.add_parser("record")
    one.add_argument("file", type=Path)
    one.add_argument("--cases", type=int, default=2000)
    two = commands.add_parser("compare")
    two.add_argument("before", type=Path)
    two.add_argument("after", type=Path)
    given = parser.parse_args()
    if given.command == "record":
        record(given.file, given.cases)
    else:
        sys.exit(compare(given.before, given.after))
