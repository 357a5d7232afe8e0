"""Compare this tree with an older one on rankine's own cases: make bench-against.

Both run each case in turn, several times, so that a busy machine slows both. A case is
slower where even its best time is above the worst one of the older tree, or its median
is above that of the older tree by more than the spread of either.
"""

from __future__ import annotations

import argparse
import shutil
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))
from benchmarks.cases import RECENT
from benchmarks.lists import BEYOND, OF_FRAMES, OF_RECTOOLS, TOPICS
from benchmarks.run import run_case

ROOT = Path(__file__).parent.parent
OF_RECOMMENDERS = (
    "lists_rankine", "beyond_rankine", "few_rankine", "frames_rankine",
    "topics_rankine", "partial_rankine",
)  # fmt: skip
"""Cases that run in the environment of the recommenders' tools, which has pandas."""
RUNS: tuple[tuple[str, ...], ...] = (
    ("file_rankine",),
    ("file_rankine", "tied"),
    ("file_rankine", "shuffled"),
    ("file_rankine", "scattered"),
    *(("form_rankine", form) for form in ("gz", "csv", "parquet")),
    ("conventions",),
    ("lists_rankine",),
    *(("runs_rankine", form) for form in ("frames", "files", "dicts")),
    ("logs",),
    ("logs", "text"),
    ("beyond_rankine", *BEYOND),
    ("beyond_rankine", *OF_RECTOOLS),
    ("few_rankine",),
    ("recent_rankine", *RECENT),
    ("topics_rankine", *TOPICS),
    *(("partial_rankine", metric) for metric in OF_FRAMES),
    ("own_function",),
    ("frames_rankine",),
    ("frames_rankine_pandas",),
    ("dict_rankine", "1000", "1000", "50"),
    *(("dict_rankine", "10", "100", judged) for judged in ("5", "20", "50", "100")),
    ("dict_rankine", "10000", "5", "3"),
    ("dict_rankine", "10000", "10", "5"),
    ("dict_rankine", "1", "10", "5"),
    ("small_frame", "polars"),
    ("dense_rankine",),
    ("dense_rankine", "10000", "10"),
    ("command",),
    ("start",),
)


def measure(
    words: tuple[str, ...], source: Path, recommenders: str
) -> dict[str, float]:
    """Run a case with the package of one tree."""
    python = recommenders if words[0].startswith(OF_RECOMMENDERS) else sys.executable
    return run_case(*words, python=python, source=source)


def compare(
    words: tuple[str, ...], before: Path, times: int, recommenders: str
) -> bool:
    """Print a line for each time that a case takes, and say whether one is slower."""
    trees = (before, ROOT / "src")
    runs = [
        [measure(words, tree, recommenders) for tree in trees] for _ in range(times)
    ]
    slower = False
    for what in runs[0][1]:
        then = [run[0][what] for run in runs]
        now = [run[1][what] for run in runs]
        spread = max(max(then) - min(then), max(now) - min(now))
        growth = statistics.median(now) - statistics.median(then)
        ratio = statistics.median(now) / statistics.median(then)
        grown = growth > spread or min(now) > max(then)
        slower = slower or grown
        name = " ".join(words)
        name = name if len(name) < 40 else f"{name[:36]} ..."
        print(
            f"  {name:<41}{what:<10}{min(then):10.4f} {min(now):10.4f} "
            f"{ratio:6.2f} x{'  slower' if grown else ''}",
            flush=True,
        )
    return slower


def main() -> int:
    """Compare with a revision, and exit with 1 if a case is slower."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("revision", help="the commit to compare with")
    parser.add_argument(
        "recommenders",
        nargs="?",
        default=sys.executable,
        help="the Python of the environment with the recommenders' tools",
    )
    parser.add_argument("--times", type=int, default=5, help="runs of each case")
    parser.add_argument("--only", default="", help="cases whose name begins so")
    given = parser.parse_args()
    git = shutil.which("git") or "git"
    with tempfile.TemporaryDirectory() as folder:
        tree = Path(folder) / "tree"
        add = [git, "-C", str(ROOT), "worktree", "add", "--detach", str(tree)]
        subprocess.run([*add, given.revision], check=True, capture_output=True)
        try:
            heads = ("best before", "best now", "medians")
            print(f"  {'':<51}{heads[0]:>10} {heads[1]:>10} {heads[2]:>8}")
            chosen = [words for words in RUNS if words[0].startswith(given.only)]
            slower = [
                compare(words, tree / "src", given.times, given.recommenders)
                for words in chosen
            ]
        finally:
            remove = [git, "-C", str(ROOT), "worktree", "remove", "--force", str(tree)]
            subprocess.run(remove, check=True)
    return int(any(slower))


if __name__ == "__main__":
    sys.exit(main())
