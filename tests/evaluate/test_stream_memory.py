"""engine="stream" stays within its limit where a process cannot have more memory."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from typing import TYPE_CHECKING

import numpy as np
import polars as pl
import pytest

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.slow

N_ROWS, N_SMALL = 6_000_000, 60_000
LIMIT, SMALL = 512 << 20, 320 << 20
SCRIPT = f"""
import re, resource, sys
from pathlib import Path
import rankine as rk

def of_process(name):
    status = Path("/proc/self/status").read_text()
    return int(re.search(name + r":\\s+(\\d+)", status)[1]) << 10

folder, engine = Path(sys.argv[1]), sys.argv[2]
qrels = {{"q0": {{"d999": 1, "d998": 0}}, "q7": {{"d7998": 1}}}}
rk.evaluate(qrels, folder / "small.trec", ["AP", "P@10"], engine="stream")
most = of_process("VmPeak") + {LIMIT}
resource.setrlimit(resource.RLIMIT_AS, (most, most))
options = {{"memory_limit": {LIMIT}}} if engine == "stream" else {{}}
ev = rk.evaluate(qrels, folder / "large.trec", ["AP", "P@10"], engine=engine, **options)
print(ev["AP"], of_process("VmHWM") < {LIMIT})
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write runs of 1,000 rows per query, scattered, with scores that rise by item."""
    folder = tmp_path_factory.mktemp("runs")
    for name, n_rows in (("small", N_SMALL), ("large", N_ROWS)):
        with (folder / f"{name}.trec").open("wb") as file:
            for begin in range(0, n_rows, 1 << 20):
                number = (
                    np.arange(begin, min(begin + (1 << 20), n_rows)) * 7919 % n_rows
                )
                frame = pl.DataFrame({"query": number // 1000, "item": number})
                frame.select(
                    pl.format(
                        "q{} Q0 d{} 1 {} x", "query", "item", pl.col("item") % 1000
                    )
                ).write_csv(file, include_header=False)
    return folder


def ended(folder: Path, engine: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", SCRIPT, str(folder), engine],
        capture_output=True,
        text=True,
        check=False,
        env=os.environ | {"MALLOC_ARENA_MAX": "1", "POLARS_MAX_THREADS": "2"},
    )


@pytest.mark.skipif(sys.platform != "linux", reason="asks Linux for its memory")
def test_memory_is_enough_for_parts_alone(folder: Path) -> None:
    assert ended(folder, "memory").returncode != 0

    done = ended(folder, "stream")
    # d999 is the first of q0, and d7998 the second of q7.
    assert done.stdout == f"{(1 + 1 / 2) / 2} True\n", done.stderr


FULL = f"""
import re, sys
from pathlib import Path
import rankine as rk

folder, metric = Path(sys.argv[1]), sys.argv[2]
try:
    ev = rk.evaluate(
        {{"q0": {{"d999": 1}}}}, folder / "large.trec", metric, catalog={2 * N_ROWS},
        engine="stream", memory_limit={SMALL},
    )
    print(ev[metric])
except rk.errors.RankineError as error:
    print(error)
status = Path("/proc/self/status").read_text()
print(int(re.search(r"VmHWM:\\s+(\\d+)", status)[1]) << 10 < {SMALL})
"""
TOO_MUCH = (
    " would take more than the 320 MB that memory_limit= or --memory allows; allow more"
)


@pytest.mark.skipif(sys.platform != "linux", reason="asks Linux for its memory")
@pytest.mark.parametrize(
    ("metric", "said"),
    [
        # Of 6,000 lists, all with items of their own, the first ten are held.
        ("Coverage@10", str(60_000 / (2 * N_ROWS))),
        ("Coverage", f"the items of all lists{TOO_MUCH}"),
        ("AUC(universe='catalogue')", f"the different items of the run{TOO_MUCH}"),
    ],
)
def test_items_of_a_catalogue_that_cannot_be_held_are_refused_in_time(
    folder: Path, metric: str, said: str
) -> None:
    done = subprocess.run(
        [sys.executable, "-c", FULL, str(folder), metric],
        capture_output=True, text=True, check=True,
    )  # fmt: skip

    told, within = done.stdout.splitlines()
    assert told.startswith(said)
    assert within == "True"


MANY = """
import re, sys
from pathlib import Path
import rankine as rk

folder, limit = Path(sys.argv[1]), int(sys.argv[2]) << 20
try:
    ev = rk.evaluate(
        folder / "qrels.parquet", folder / "run.parquet", ["AP", "AUC"],
        engine="stream", memory_limit=limit,
    )
    print(ev["AP"])
except rk.errors.RankineError as error:
    print(error)
status = Path("/proc/self/status").read_text()
print(int(re.search(r"VmHWM:\\s+(\\d+)", status)[1]) << 10 < limit)
"""
N_USERS, N_ITEMS = 100_000, 20


@pytest.fixture(scope="module")
def users(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write short lists of many users, scattered, in which the second is relevant."""
    folder = tmp_path_factory.mktemp("users")
    n_rows = N_USERS * N_ITEMS
    number = np.arange(n_rows) * 7919 % n_rows
    place = number % N_ITEMS
    run = pl.DataFrame({"query": number // N_ITEMS, "item": number, "score": -place})
    ids = {"query": pl.format("user{}", "query"), "item": pl.format("item{}", "item")}
    run.with_columns(**ids).write_parquet(folder / "run.parquet")
    judged = run.filter(pl.Series(place < 4)).select(**ids, grade=-pl.col("score") == 1)
    qrels = judged.with_columns(pl.col("grade").cast(pl.Int8))
    qrels.write_parquet(folder / "qrels.parquet")
    return folder


@pytest.mark.skipif(sys.platform != "linux", reason="asks Linux for its memory")
def test_a_limit_holds_or_is_refused_at_once_with_what_is_needed(users: Path) -> None:
    def ended_with(limit: int) -> tuple[str, str]:
        done = subprocess.run(
            [sys.executable, "-c", MANY, str(users), str(limit)],
            capture_output=True, text=True, check=True,
        )  # fmt: skip
        said, within = done.stdout.splitlines()
        return said, within

    said, _ = ended_with(100)
    needed = re.fullmatch(
        r"memory_limit= or --memory allows 100 MB, but \d+ MB are in use before "
        r"anything is read in "
        r"parts, the results take about 32 MB, and reading takes about 128 MB; "
        r"allow at least (\d+) MB",
        said,
    )
    assert needed
    # A little more, as no two processes use the same to begin with.
    assert ended_with(int(needed[1]) + 8) == ("0.5", "True")
