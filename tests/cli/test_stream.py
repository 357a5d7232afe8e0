"""rankine evaluate --stream: the same output, a bar on a terminal, and faults."""

from __future__ import annotations

import gzip
import json
import os
import pty
import resource
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest

from rankine._evaluate.evaluate import prepare
from rankine._evaluate.options import Options
from rankine.errors import RankineError
from tests.evaluate.streams import small

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.shell import Shell

pytestmark = pytest.mark.slow

MIXED = [(f"q{number % 7}", f"d{number}", 1.0 - number / 1000) for number in range(350)]


def lines(first: int = 0, last: int = 350) -> str:
    return "".join(f"{q} Q0 {d} 1 {score} x\n" for q, d, score in MIXED[first:last])


@pytest.mark.parametrize("style", [["--json"], ["-q"], ["--style", "trec_eval"]])
def test_the_same_is_printed(shell: Shell, style: list[str]) -> None:
    run = shell.write("c.run", lines())
    words = ["evaluate", shell.path("qrels.txt"), run, shell.path("a.run"), *style]
    with small():
        assert shell.run(*words, "--stream", "--memory", "8G") == shell.run(*words)


def test_compare_prints_the_same(shell: Shell) -> None:
    run = shell.write("c.run", lines())
    words = ["compare", shell.path("qrels.txt"), run, shell.path("a.run"), "--json"]
    with small():
        assert shell.run(*words, "--stream") == shell.run(*words)


def log_of(shell: Shell) -> tuple[str, str]:
    """Write a log, and what is recommended to its users."""
    log = "".join(
        f"{q},{d},{int(n % 3 == 0)},0.5\n" for n, (q, d, _) in enumerate(MIXED)
    )
    offered = "".join(f"q{number},d{number + 70}\n" for number in range(7))
    return (
        shell.write("log.csv", f"user,item,click,propensity\n{log}"),
        shell.write("offered.csv", f"user,item\n{offered}"),
    )


@pytest.mark.parametrize("style", [[], ["--json"], ["-e", "ips", "-e", "snips"]])
def test_ctr_prints_the_same(shell: Shell, style: list[str]) -> None:
    words = ["ctr", *log_of(shell), *style]
    with small():
        done = shell.run(*words, "--stream", "--memory", "8G")

    assert done == shell.run(*words)
    assert done.code == 0


def test_ctr_of_a_log_that_is_cut_off(shell: Shell) -> None:
    log, offered = log_of(shell)
    path = shell.folder / "log.parquet"
    pl.read_csv(log).write_parquet(path, row_group_size=50)
    path.write_bytes(path.read_bytes()[:-100])
    with small():
        done = shell.run("ctr", str(path), offered, "--stream")

    assert (done.code, done.out) == (3, "")
    assert done.err.startswith(f"rankine: {path}: ")
    assert done.err.count("\n") == 1


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--memory", "lots"], "expected a number of bytes such as 500M or 2G"),
        (
            ["--stream", "--memory", "1M"],
            "rankine: memory_limit= or --memory allows 1 MB, but ",
        ),
    ],
)
def test_nonsense_is_refused(shell: Shell, words: list[str], message: str) -> None:
    done = shell.evaluate(*words)

    assert done.code == 2
    assert message in done.err
    assert done.err.count("\n") == 1


def parts_of(shell: Shell) -> Path:
    folder = shell.folder / "parts"
    folder.mkdir()
    frame = pl.DataFrame(MIXED, schema=["query", "item", "score"], orient="row")
    for number, part in enumerate(frame.iter_slices(100)):
        part.write_parquet(folder / f"{number}.parquet")
    return folder


@pytest.mark.parametrize("cut", [1, 200, 700])
def test_a_truncated_part(shell: Shell, cut: int) -> None:
    folder = parts_of(shell)
    part = folder / "2.parquet"
    part.write_bytes(part.read_bytes()[:-cut])
    with small():
        done = shell.run("evaluate", shell.path("qrels.txt"), str(folder), "--stream")

    assert (done.code, done.out) == (3, "")
    assert done.err.startswith(f"rankine: {part}: ")
    assert done.err.count("\n") == 1


def test_a_truncated_archive(shell: Shell) -> None:
    path = shell.folder / "run.gz"
    path.write_bytes(gzip.compress(lines().encode())[:-300])
    with small():
        done = shell.run("evaluate", shell.path("qrels.txt"), str(path), "--stream")

    assert (done.code, done.out) == (3, "")
    assert done.err.startswith(f"rankine: {path}: ")


def test_a_bad_line_half_way(shell: Shell) -> None:
    path = shell.write("c.run", lines(0, 300) + "q1 Q0 d999 1 high x\n" + lines(300))
    with small():
        done = shell.run("evaluate", shell.path("qrels.txt"), path, "--stream")

    assert (done.code, done.out) == (3, "")
    assert done.err.startswith(f"rankine: {path}:301: ")


def cut_off(path: Path) -> None:
    with path.open("rb+") as file:
        file.truncate(path.stat().st_size // 2)


@pytest.mark.parametrize("happens", [lambda path: path.unlink(), cut_off])
@pytest.mark.parametrize("form", ["parquet", "trec"])
def test_a_file_that_changes_while_others_are_read(
    shell: Shell, form: str, happens: Callable[[Path], None]
) -> None:
    folder = parts_of(shell)
    if form == "trec":
        for number, part in enumerate(sorted(folder.iterdir())):
            part.unlink()
            text = lines(number * 100, number * 100 + 100)
            (folder / f"{number}.trec").write_text(text)
    job = prepare("RR", Options(engine="stream"))
    last = folder / f"3.{form}"
    told: list[int] = []

    def progress(*_: Any) -> None:
        if not told:
            happens(last)
        told.append(1)

    job.progress = progress
    with small(), pytest.raises(RankineError) as error:
        job.evaluate(job.truth(shell.path("qrels.txt")), job.source(folder))

    assert str(last) in str(error.value)


SCRIPT = """
import os, signal, sys
import polars as pl
from rankine._base.limits import limited
import rankine as rk

def batches():
    for number in range(40):
        query = [f"q{row % 7}" for row in range(5000)]
        item = [f"d{number * 5000 + row}" for row in range(5000)]
        yield pl.DataFrame({"query": query, "item": item, "score": 1.0})
        if number == 30:
            assert any("deleted" in name for name in opened())
            HAPPENS

def opened():
    for number in os.listdir("/proc/self/fd"):
        try:
            yield os.readlink(f"/proc/self/fd/{number}")
        except OSError:
            pass

with limited(held_bytes=1 << 16):
    try:
        ev = rk.evaluate({"q1": {"d1": 1}}, batches(), "NumRet", engine="stream")
    except BaseException as error:
        print(type(error).__name__, error)
        spilled = [name for name in opened() if "deleted" in name]
        print(len(spilled))
    else:
        print(ev["NumRet"])
"""


def ended(
    spill: Path, what: str, file_size: int | None = None
) -> subprocess.CompletedProcess[str]:
    """Evaluate mixed rows in another process, in which something happens half-way."""
    spill.mkdir()

    environment = {"TMPDIR": str(spill)}
    if file_size is not None:
        # Python 3.11 would keep the compiled part of a module that still fits.
        environment["PYTHONDONTWRITEBYTECODE"] = "1"

    def limit() -> None:
        if file_size is not None:
            resource.setrlimit(resource.RLIMIT_FSIZE, (file_size, file_size))

    return subprocess.run(
        [sys.executable, "-c", SCRIPT.replace("HAPPENS", what)],
        capture_output=True,
        text=True,
        check=False,
        preexec_fn=limit,
        env=os.environ | environment,
    )


def test_nothing_happens(tmp_path: Path) -> None:
    done = ended(tmp_path / "spill", "pass")

    # Of the 5,000 rows of a batch, 715 are of q1: 1, 8, ..., 4999.
    assert done.stdout == f"{40 * 715:.1f}\n"
    assert not list((tmp_path / "spill").iterdir())


def test_ctrl_c(tmp_path: Path) -> None:
    done = ended(tmp_path / "spill", "os.kill(os.getpid(), signal.SIGINT)")

    assert done.stdout.split() == ["KeyboardInterrupt", "0"]
    assert not list((tmp_path / "spill").iterdir())


@pytest.mark.parametrize("name", ["SIGTERM", "SIGKILL"])
def test_told_to_stop(tmp_path: Path, name: str) -> None:
    done = ended(tmp_path / "spill", f"os.kill(os.getpid(), signal.{name})")

    assert done.returncode == -signal.Signals[name]
    assert not list((tmp_path / "spill").iterdir())


def test_a_full_disk(tmp_path: Path) -> None:
    done = ended(tmp_path / "spill", "pass", file_size=200_000)

    assert done.stdout.startswith(
        "NoSpaceError run: its rows do not fit into the temporary folder "
        f"{tmp_path / 'spill'} (File too large); set TMPDIR to a folder with more room"
    )
    assert done.stdout.endswith("\n0\n")
    assert not list((tmp_path / "spill").iterdir())


@pytest.fixture(scope="module")
def many(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write a run of two million rows whose queries are mixed."""
    path = tmp_path_factory.mktemp("many") / "run.trec"
    rows = pl.select(number=pl.int_range(2_000_000))
    line = pl.format("q{} Q0 d{} 1 1.0 x", pl.col("number") % 1000, "number")
    rows.select(line).write_csv(path, include_header=False)
    return path


def started(run: Path, qrels: str, spill: Path, *words: str) -> subprocess.Popen[str]:
    """Start to evaluate a run with so little memory that it is spilled to a folder."""
    spill.mkdir()
    return subprocess.Popen(
        [
            *(*words, sys.executable, "-m", "rankine", "evaluate", qrels, str(run)),
            *("--stream", "--memory", "400M", "--json"),
        ],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=os.environ | {"TMPDIR": str(spill)},
    )


def spilled(process: int, spill: Path) -> int:
    """Return how many bytes a process has in files of a folder without a name."""
    size = 0
    for number in Path(f"/proc/{process}/fd").iterdir():
        with suppress(OSError):
            if number.readlink().is_relative_to(spill):
                size += number.stat().st_size
    return size


@pytest.mark.skipif(sys.platform != "linux", reason="asks Linux for open files")
def test_ctrl_c_at_the_command(shell: Shell, many: Path, tmp_path: Path) -> None:
    spill = tmp_path / "spill"
    command = started(many, shell.path("qrels.txt"), spill)
    while command.poll() is None and not spilled(command.pid, spill):
        time.sleep(0.01)
    command.send_signal(signal.SIGINT)
    out, err = command.communicate(timeout=60)

    assert (command.returncode, out) == (130, "")
    assert "Traceback" not in err
    assert not list(spill.iterdir())


def test_a_full_disk_at_the_command(shell: Shell, many: Path, tmp_path: Path) -> None:
    spill = tmp_path / "spill"
    no_more = ("bash", "-c", 'ulimit -f 10000 && exec "$@"', "bash")
    command = started(many, shell.path("qrels.txt"), spill, *no_more)
    out, err = command.communicate(timeout=60)

    assert (command.returncode, out) == (5, "")
    assert err == (
        f"rankine: {many}: its rows do not fit into the temporary folder {spill} "
        "(File too large); set TMPDIR to a folder with more room, or sort the run by "
        "query\n"
    )
    assert not list(spill.iterdir())


def test_a_bar_on_a_terminal(shell: Shell) -> None:
    run = shell.write("c.run", lines())
    ours, theirs = pty.openpty()
    done = subprocess.run(
        [
            *(sys.executable, "-m", "rankine", "evaluate", shell.path("qrels.txt")),
            *(run, "--stream", "--json"),
        ],
        stdout=subprocess.PIPE,
        stderr=theirs,
        check=True,
        env=os.environ | {"TERM": "xterm", "COLUMNS": "200"},
    )
    os.close(theirs)
    shown = os.read(ours, 1 << 16).decode()
    os.close(ours)

    assert json.loads(done.stdout)[0]["run"] == "c.run"
    assert "c.run" in shown
    assert "350/" in shown
