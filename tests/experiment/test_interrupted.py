"""An experiment may be stopped at any moment, and goes on where it was."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from typing import TYPE_CHECKING

import polars as pl
import pytest

import rankine as rk
from rankine._experiment.store import Store, locked
from rankine.errors import DataError
from tests.experiment.conftest import files

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

pytestmark = pytest.mark.slow

TEXT = """\
metrics: {nDCG@: [1, 5, 10], AP: , RBP: {p: [0.5, 0.8]}}
convention: [rankine, ranx, jurity]
compare: {draws: 2000}
"""
CHILD = """\
import sys
import rankine.cli.experiment, rankine._experiment.experiment, rankine._report.text
from rankine.cli import main
print("ready", flush=True)
main(["experiment", *sys.argv[1:]])
"""


def started(*words: str, code: str = CHILD) -> subprocess.Popen[str]:
    """Start the command, and wait until its modules are there."""
    child = subprocess.Popen(
        [sys.executable, "-c", code, *words],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        env={**os.environ, "POLARS_MAX_THREADS": "1"},
    )  # fmt: skip
    assert child.stdout is not None
    assert child.stdout.readline() == "ready\n"
    return child


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_killed_at_any_moment_it_ends_with_the_same_bytes(
    jobs: str, written: Callable[..., Path], home: Path
) -> None:
    path = written(TEXT)
    rk.run_experiment(path)
    whole = files(home / "results")
    child = started(str(path), "--output", str(home / "timed"), "--jobs", jobs)
    begun = time.monotonic()
    child.communicate()
    assert child.returncode == 0
    longest = time.monotonic() - begun
    moments = random.Random(int(jobs))  # noqa: S311 - of a test
    unfinished = 0
    for number in range(10):
        folder = home / f"killed {number}"
        child = started(str(path), "--output", str(folder), "--jobs", jobs)
        time.sleep(moments.uniform(0, longest))
        child.kill()
        child.communicate()
        # What is there can be read: whole files, and perhaps some without a name yet.
        if folder.exists():
            assert Store.open(folder).damaged == []
            for name in folder.rglob("[!.]*.parquet"):
                pl.read_parquet(name)
        unfinished += not (folder / "results.json").exists()
        rk.run_experiment(path, output=folder)
        assert files(folder) == whole
    assert unfinished > 0


@pytest.mark.parametrize(
    ("number", "code", "said"),
    [(signal.SIGINT, 130, "rankine: interrupted\n"), (signal.SIGTERM, 143, "")],
)
def test_stopped_in_good_order(
    number: int, code: int, said: str, written: Callable[..., Path], home: Path
) -> None:
    path = written(TEXT.replace("2000", "100000000"))
    child = started(str(path))
    folder = home / "results"
    while len(list(folder.glob("cells/*.json"))) < 9:
        assert child.poll() is None
        time.sleep(0.01)
    child.send_signal(number)
    _, err = child.communicate()

    assert (child.returncode, err) == (code, said)
    assert [name for name in files(folder) if "/." in name or name[0] == "."] == []
    short = written(TEXT)
    assert rk.run_experiment(short).n_computed == 0


# Python 3.11 would keep the compiled part of a module that still fits.
FULL = """\
import resource, signal
sys.dont_write_bytecode = True
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, ({n}, {n}))
"""


@pytest.mark.parametrize("n", [0, 100, 3000, 6000, 20_000])
def test_a_full_disk_leaves_nothing_half_written(
    n: int, written: Callable[..., Path], home: Path
) -> None:
    path = written(TEXT)
    child = started(str(path), code=CHILD.replace("print", FULL.format(n=n) + "print"))
    out, err = child.communicate()

    assert child.returncode == 5, err
    assert out == ""
    assert err.count("\n") == 1
    assert err.startswith("rankine: ")
    assert "cannot be written (File too large)" in err
    folder = home / "results"
    assert Store.open(folder).damaged == []
    assert [name for name in files(folder) if ".tmp" in name] == []
    rk.run_experiment(path)
    fresh = rk.run_experiment(path, output=home / "fresh")
    assert files(folder) == files(fresh.folder)


def test_a_folder_is_written_by_one_at_a_time(
    written: Callable[..., Path], home: Path
) -> None:
    path = written("metrics: AP")
    with locked(home / "results"):
        with pytest.raises(DataError) as caught:
            rk.run_experiment(path)
        assert f"another experiment is writing here (process {os.getpid()} on " in str(
            caught.value
        )
    assert rk.run_experiment(path).n_computed == 3
    # A lock that a killed process has left behind holds nobody up.
    (home / "results" / ".lock").write_text("99999999 on elsewhere\n")
    assert rk.run_experiment(path).n_computed == 0
    assert not (home / "results" / ".lock").exists()


def test_an_error_in_a_process_is_one_sentence(
    written: Callable[..., Path], home: Path
) -> None:
    (home / "runs" / "keyword.run").write_text("q1 Q0 a 1 nan x\nq1 Q0 b\n")
    path = written("metrics: AP")
    for jobs in (1, 2):
        with pytest.raises(DataError, match=r"keyword.run:2"):
            rk.run_experiment(path, jobs=jobs)
    assert not (home / "results" / "results.json").exists()
