"""A child that was forked after polars had started its threads: an error, no waiting.

Every case runs in a process of its own, with a time limit: what fails here would
otherwise wait forever.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import rankine

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        not hasattr(os, "fork"), reason="there are no forks on this system"
    ),
]
LIMIT = 60
REFUSED = "UsageError: this process was forked after polars had started its threads"

PROGRAM = """
import multiprocessing, sys, warnings
from pathlib import Path

warnings.simplefilter("ignore")
import rankine as rk
from rankine.errors import RankineError

QRELS = {"q1": {"a": 1, "b": 0}, "q2": {"c": 1}}
RUN = {"q1": {"a": 0.4, "b": 0.9}, "q2": {"c": 0.7, "d": 0.2}}
TIED = {"q1": {"a": 0.5, "b": 0.5}, "q2": {"c": 0.7, "d": 0.7}}


def files():
    return rk.evaluate("qrels.txt", "run.txt", "RR")["RR"]


def mapping():
    return rk.evaluate(QRELS, RUN, "RR")["RR"]


def lists():
    return rk.evaluate(QRELS, {"q1": ["b", "a"], "q2": ["c", "d"]}, "RR")["RR"]


def ties():
    # a loses to b, and c to d, as ids are compared from the end of the alphabet.
    return rk.evaluate(QRELS, TIED, "RR")["RR"]


def many_ties():
    items = [f"i{at:05}" for at in range(6000)]
    run = {"q": dict.fromkeys(items, 1.0)}
    return 1 / rk.evaluate({"q": {items[-3]: 1}}, run, "RR")["RR"]


def queries():
    ev = rk.evaluate(QRELS, RUN, ["RR", "P@1"])
    return ev.per_query.to_dict(as_series=False)["RR"]


def printed():
    return str(rk.evaluate(QRELS, RUN, "RR")).split()[2:4]


def batches():
    total = rk.Accumulator("RR")
    for query in QRELS:
        total.update({query: QRELS[query]}, {query: RUN[query]})
    return total.result()["RR"]


def frame():
    import polars as pl
    rows = {"query": ["q1", "q2"], "item": ["a", "c"]}
    return rk.evaluate(pl.DataFrame(rows), RUN, "RR")["RR"]


def matrix():
    scores = rk.from_scores([[0.1, 0.2], [0.2, 0.1]])
    return rk.evaluate(rk.from_scores([[1, 0], [1, 0]]), scores, "RR")["RR"]


def read_before():
    return rk.evaluate(*BEFORE, "RR")["RR"]


def coverage():
    return rk.evaluate(QRELS, RUN, "Coverage", catalog=["a", "b", "c", "d"]).mean


def check():
    return rk.check(QRELS, RUN).findings


def similarity():
    return rk.similarity(RUN, RUN, "RBO")


def to_pandas():
    return rk.evaluate(QRELS, RUN, "RR").to_frame("pandas")


def users_own():
    import polars as pl
    return pl.Series([3, 1, 2]).sort().to_list()[0]


def nothing():
    return 0


def child(name):
    try:
        return str(globals()[name]())
    except RankineError as error:
        return f"{type(error).__name__}: {error}"


if __name__ == "__main__":
    method, before, *after = sys.argv[1:]
    Path("qrels.txt").write_text("q1 0 a 1\\nq1 0 b 0\\nq2 0 c 1\\n")
    Path("run.txt").write_text(
        "q1 Q0 b 1 0.9 x\\nq1 Q0 a 2 0.4 x\\nq2 Q0 c 1 0.7 x\\nq2 Q0 d 2 0.2 x\\n"
    )
    if "read_before" in after:
        BEFORE = rk.read_qrels("qrels.txt"), rk.read_run("run.txt")
    globals()[before]()
    with multiprocessing.get_context(method).Pool(1) as pool:
        for name in after:
            print(name, pool.apply(child, (name,)))
"""


def children(
    folder: Path, method: str, before: str, *after: str, threads: str | None = None
) -> dict[str, str]:
    """Run functions in a child, after another one in its parent."""
    program = folder / "program.py"
    program.write_text(PROGRAM)
    env = {**os.environ, "PYTHONPATH": str(Path(rankine.__file__).parents[1])}
    if threads is not None:
        env["POLARS_MAX_THREADS"] = threads
    done = subprocess.run(
        [sys.executable, "program.py", method, before, *after],
        cwd=folder, env=env, timeout=LIMIT, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return dict(line.split(" ", 1) for line in done.stdout.splitlines())


BY_THREADS = (
    "files", "frame", "matrix", "coverage", "check", "similarity", "to_pandas",
)  # fmt: skip


@pytest.mark.parametrize("threads", [None, "1"])
def test_what_needs_threads_is_refused_in_one_sentence(
    tmp_path: Path, threads: str | None
) -> None:
    found = children(tmp_path, "fork", "files", *BY_THREADS, threads=threads)

    assert set(found) == set(BY_THREADS)
    for name in BY_THREADS:
        assert found[name].startswith(REFUSED), name
        assert 'multiprocessing.get_context("spawn")' in found[name]


def test_what_was_read_before_a_fork_is_refused_after_it(tmp_path: Path) -> None:
    found = children(tmp_path, "fork", "nothing", "read_before")

    assert found["read_before"].startswith(REFUSED)


def test_threads_that_polars_started_for_others_are_seen(tmp_path: Path) -> None:
    found = children(tmp_path, "fork", "users_own", "files", "mapping")

    assert found["files"].startswith(REFUSED)
    assert float(found["mapping"]) == (1 / 2 + 1) / 2


def test_mappings_go_on_after_a_fork(tmp_path: Path) -> None:
    names = (
        "mapping", "lists", "ties", "many_ties", "queries", "printed", "batches",
    )  # fmt: skip
    found = children(tmp_path, "fork", "files", *names)

    assert float(found["mapping"]) == (1 / 2 + 1) / 2
    assert float(found["lists"]) == (1 / 2 + 1) / 2
    assert float(found["ties"]) == (1 / 2 + 1 / 2) / 2
    assert float(found["many_ties"]) == pytest.approx(3)
    assert found["queries"] == "[0.5, 1.0]"
    assert found["printed"] == "['RR', '0.7500']"
    assert float(found["batches"]) == (1 / 2 + 1) / 2


@pytest.mark.parametrize("before", ["nothing", "lists"])
def test_a_fork_before_polars_was_used_works(tmp_path: Path, before: str) -> None:
    found = children(tmp_path, "fork", before, "files", "coverage")

    assert float(found["files"]) == (1 / 2 + 1) / 2
    assert found["coverage"] == "{'Coverage': 1.0}"


@pytest.mark.parametrize("method", ["spawn", "forkserver"])
def test_other_ways_to_start_a_process_work(tmp_path: Path, method: str) -> None:
    found = children(tmp_path, method, "files", "files")

    assert float(found["files"]) == (1 / 2 + 1) / 2
