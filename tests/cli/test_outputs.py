"""What compare, gate and evaluate print: safe, whole, and the same everywhere."""

from __future__ import annotations

import csv
import io
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import pytest

from rankine.cli import main
from tests.shell import process

if TYPE_CHECKING:
    from tests.cli.conftest import Command

N = 12
NAMES = (
    "\x1b]0;x\x07", "\x9b31m", "a\u202eb", "[red]x", "+1", "@x", "R&D_50%", "a|b",
    'a","b', "<script>x", "two\nlines", "é",
)  # fmt: skip
MARKS = ("\x1b", "\x9b", "\u202e", "\x07")
GATE = ("--baseline", "gate.json")


def run_of(shift: int) -> str:
    lines = []
    for number in range(N):
        items = ["x", "y"]
        items.insert((number + shift) % 3, "a")
        lines += [f"é{number} Q0 {item} 1 {-at} t" for at, item in enumerate(items)]
    return "\n".join(lines) + "\n"


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for folder in ("one", "two"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "a.run").write_text(run_of(len(folder) % 2))
    (tmp_path / "qrels.txt").write_text("".join(f"é{n} 0 a 1\n" for n in range(N)))
    for name, shift in (("a.run", 0), ("b.run", 1), ("worse.run", 2), ("=1.run", 1)):
        (tmp_path / name).write_text(run_of(shift))
    (tmp_path / "good.run").write_text("".join(f"é{n} Q0 a 1 1 t\n" for n in range(N)))
    last = "".join(
        f"é{n} Q0 x 1 3 t\né{n} Q0 y 1 2 t\né{n} Q0 a 1 1 t\n" for n in range(N)
    )
    (tmp_path / "last.run").write_text(last)
    monkeypatch.chdir(tmp_path)


def refuse(constant: str) -> NoReturn:
    pytest.fail(f"{constant} is no JSON")


# --- names


@pytest.mark.parametrize(
    "form",
    [[], ["--moved", "1"], ["--json"], ["--csv"], ["--latex"], ["--markdown"]],
    ids=" ".join,
)
def test_marks_in_names_are_not_sent(form: list[str], rankine: Command) -> None:
    runs = [f"{name}=a.run" for name in NAMES]
    done = rankine("compare", "qrels.txt", *runs, "-m", "RR", "--test", "t", *form)

    assert done.code == 0, done.err
    assert not [mark for mark in MARKS if mark in done.out]
    if form == ["--json"]:
        assert json.loads(done.out)["systems"] == list(NAMES)


@pytest.mark.parametrize("form", [[], ["--json"]], ids=["text", "json"])
def test_marks_in_the_name_of_a_baseline_are_not_sent(
    form: list[str], rankine: Command
) -> None:
    for name in NAMES:
        more = ("--baseline", f"{name}.json", "--update", "-m", "RR", *form)
        made = rankine("gate", "qrels.txt", "a.run", *more)

        assert made.code == 0, made.err
        assert Path(f"{name}.json").exists()
        assert not [mark for mark in MARKS if mark in made.out + made.err]


@pytest.mark.parametrize(
    ("name", "cell"),
    [("=1.run", "'=1.run"), ("./=1.run", "'=1.run"), ("-2=b.run", "'-2"),
     ("+3=b.run", "'+3"), ("@x=b.run", "'@x"), ("b.run", "b.run")],
)  # fmt: skip
def test_a_spreadsheet_takes_no_name_for_a_formula(
    name: str, cell: str, rankine: Command
) -> None:
    files = ("qrels.txt", "a.run", "--", name) if name[0] == "-" else (
        "qrels.txt", "a.run", name)  # fmt: skip
    compared = rankine("compare", "-m", "RR", "--test", "t", "--csv", *files)
    (pair,) = csv.DictReader(io.StringIO(compared.out))
    assert (pair["a"], pair["b"]) == ("a.run", cell)

    evaluated = rankine("evaluate", "-m", "RR", "--csv", *files)
    rows = list(csv.DictReader(io.StringIO(evaluated.out)))
    assert [row["run"] for row in rows] == ["a.run", cell]


def test_files_of_one_name_in_two_folders_are_told_apart(rankine: Command) -> None:
    done = rankine(
        "compare", "qrels.txt", "one/a.run", "two/a.run", "-m", "RR", "--json"
    )

    assert json.loads(done.out)["systems"] == ["one/a.run", "two/a.run"]


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (["one/a.run"], 2, "at least two systems, got only a.run"),
        (["x=a.run", "x=b.run"], 2, "two runs are called 'x'"),
        (["a.run", "./a.run"], 2, "two runs are called 'a.run'"),
        (["a.run", "b.run", "--baseline", "c.run"], 2, "one of a.run, b.run, got"),
        (["a.run", "c.run"], 3, "c.run: no such file"),
        (["a.run", "one"], 3, "no query in common"),
    ],
)
def test_what_cannot_be_compared_is_one_sentence(
    arguments: list[str], code: int, words: str, rankine: Command
) -> None:
    if arguments == ["a.run", "one"]:
        Path("first.run").write_text("é0 Q0 a 1 1 t\n")
        Path("second.run").write_text("é1 Q0 a 1 1 t\n")
        arguments = ["first.run", "second.run", "-c", "pytrec_eval"]

    done = rankine("compare", "qrels.txt", "-m", "RR", *arguments)

    assert (done.code, done.out) == (code, "")
    assert words in done.err
    assert len(done.err.splitlines()) == 1


# --- numbers


@pytest.mark.slow
@pytest.mark.parametrize(
    "test",
    ["randomization", "t", "wilcoxon", "sign", "bootstrap", "tukey_hsd",
     "randomized_tukey_hsd"],
)  # fmt: skip
def test_one_difference_over_and_over_has_no_spread(
    test: str, rankine: Command
) -> None:
    # 1 against 1/3 for all of twelve queries.
    options = ("-m", "RR", "--test", test, "--draws", "5000", "--margin", "RR=0.1")
    done = rankine("compare", "qrels.txt", "last.run", "good.run", *options, "--json")

    read = json.loads(done.out, parse_constant=refuse)
    (pair,) = read["pairwise"]
    assert pair["difference"] == pytest.approx(1 - 1 / 3)
    assert pair["low"] == pytest.approx(2 / 3)
    assert pair["high"] == pytest.approx(2 / 3)
    assert pair["effect"] is None  # beyond all bounds
    assert pair["verdict"] == "better"
    expected = {
        "randomization": 2 / 2**12, "t": 0, "wilcoxon": 2 / 2**12, "sign": 2 / 2**12,
        "bootstrap": 1 / 5001, "tukey_hsd": 0,
    }  # fmt: skip
    if test in expected:
        assert pair["p"] == pytest.approx(expected[test])
    text = rankine("compare", "qrels.txt", "last.run", "good.run", *options)
    assert text.code == 0
    assert "+0.6667" in text.out


@pytest.mark.parametrize("run", ["a.run", "worse.run"])
@pytest.mark.parametrize("more", [["--update", "-m", "RR"], ["--margin", "RR=0.1"]])
def test_a_gate_prints_no_nan(run: str, more: list[str], rankine: Command) -> None:
    rankine("gate", "qrels.txt", "a.run", *GATE, "--update", "-m", "RR")

    done = rankine("gate", "qrels.txt", run, *GATE, *more, "--json")

    read = json.loads(done.out, parse_constant=refuse)
    margin = read["metrics"][0]["margin"]
    assert margin == (None if "--update" in more else 0.1)


# --- terminals, pipes and disks

COMMANDS = {
    "evaluate": ("evaluate", "qrels.txt", "é=a.run", "-q", "-m", "RR"),
    "compare": ("compare", "qrels.txt", "é=a.run", "b.run", "-m", "RR", "--moved", "2"),
    "gate": ("gate", "qrels.txt", "last.run", *GATE, "--margin", "RR=0.1"),
}
commands = pytest.mark.parametrize("command", COMMANDS.values(), ids=COMMANDS)


@pytest.fixture
def baseline(rankine: Command) -> None:
    made = rankine("gate", "qrels.txt", "good.run", *GATE, "--update", "-m", "RR")
    assert made.code == 0, made.err


@pytest.mark.slow
@commands
@pytest.mark.usefixtures("baseline")
def test_json_is_json_on_a_terminal_without_unicode(
    command: tuple[str, ...], tmp_path: Path
) -> None:
    json_of = (
        [*command[:-2], "--json"] if "--moved" in command else [*command, "--json"]
    )
    texts = {
        coding: process(*json_of, folder=tmp_path, PYTHONIOENCODING=coding).stdout
        for coding in ("ascii", "utf-8")
    }

    assert texts["ascii"].isascii()
    assert json.loads(texts["ascii"]) == json.loads(texts["utf-8"])
    assert "é" in texts["utf-8"] or command[0] == "gate"


@pytest.mark.slow
@commands
@pytest.mark.usefixtures("baseline")
def test_text_is_printed_on_a_terminal_without_unicode(
    command: tuple[str, ...], tmp_path: Path
) -> None:
    done = process(*command, folder=tmp_path, PYTHONIOENCODING="ascii", TERM="dumb")

    assert done.returncode == (command[0] == "gate")
    assert done.stderr == ""
    assert "RR" in done.stdout


def shell(script: str, command: tuple[str, ...]) -> subprocess.CompletedProcess[str]:
    """Run a command with its output elsewhere."""
    words = [sys.executable, "-m", "rankine", *command]
    return subprocess.run(
        ["/bin/bash", "-c", script, "bash", *words],
        capture_output=True, text=True, check=False, timeout=60,
    )  # fmt: skip


@pytest.mark.slow
@commands
@pytest.mark.usefixtures("baseline")
def test_where_nobody_reads_the_code_is_the_same(command: tuple[str, ...]) -> None:
    for script in ('"$@" >&- 2>&-', '"$@" | true; exit ${PIPESTATUS[0]}'):
        done = shell(script, command)

        assert done.stderr == ""
        assert done.returncode == (command[0] == "gate")


@pytest.mark.slow
@pytest.mark.usefixtures("baseline")
def test_a_threshold_fails_though_nobody_reads() -> None:
    command = ("evaluate", "qrels.txt", "a.run", "-m", "RR", "--fail-under", "RR=0.99")

    done = shell('"$@" | true; exit ${PIPESTATUS[0]}', command)

    assert done.returncode == 1


@pytest.mark.slow
@commands
@pytest.mark.usefixtures("baseline")
@pytest.mark.skipif(not Path("/dev/full").exists(), reason="a device of Linux")
def test_a_full_disk_below_the_output_is_told(command: tuple[str, ...]) -> None:
    for unbuffered in ("", "1"):
        done = shell(f'PYTHONUNBUFFERED={unbuffered} "$@" > /dev/full', command)

        assert done.returncode == 5
        assert done.stderr == (
            "rankine: the output cannot be written (No space left on device)\n"
        )


@pytest.mark.slow
@pytest.mark.parametrize("option", ["--json", "--csv", "--style=trec_eval", "-q"])
@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_a_disk_that_takes_only_a_part_is_told(
    unbuffered: str, option: str, tmp_path: Path
) -> None:
    # The disk takes a block of what comes at once, as one does that is nearly full.
    count = 300
    qrels = "".join(f"q{n} 0 a 1\n" for n in range(count))
    run = "".join(f"q{n} Q0 a 1 1 t\n" for n in range(count))
    (tmp_path / "q.txt").write_text(qrels)
    (tmp_path / "r.run").write_text(run)
    # Python would leave compiled modules behind that are cut off, too.
    script = (
        "ulimit -f 1; export PYTHONDONTWRITEBYTECODE=1; "
        f'PYTHONUNBUFFERED={unbuffered} "$@" > out; exit $?'
    )
    command = ("evaluate", "q.txt", "r.run", "-m", "RR", "-q", option)

    done = shell(script, command)

    assert (tmp_path / "out").stat().st_size == 1024
    assert done.returncode == 5
    assert done.stderr == "rankine: the output cannot be written (File too large)\n"


def test_a_raw_stream_is_written_whole(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    class Few(io.RawIOBase):
        """Takes three bytes at a time."""

        written = b""

        def writable(self) -> bool:
            return True

        def write(self, data: Any) -> int:
            self.written += bytes(data[:3])
            return len(data[:3])

    few: Any = Few()
    command = ["evaluate", "qrels.txt", "good.run", "-m", "RR", "--json"]
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(few, write_through=True))
    with pytest.raises(SystemExit) as ended:
        main(command)

    assert ended.value.code == 0
    assert json.loads(few.written)[0]["metrics"]["RR"]["value"] == 1


@pytest.mark.slow
@pytest.mark.skipif(not Path("/dev/full").exists(), reason="a device of Linux")
def test_the_code_stays_where_the_reason_cannot_be_written() -> None:
    done = shell('"$@" 2> /dev/full', ("evaluate", "nowhere.txt", "a.run"))

    assert done.returncode == 3


@pytest.mark.slow
@commands
@pytest.mark.usefixtures("baseline")
def test_neither_hashes_nor_places_change_a_byte(
    command: tuple[str, ...], tmp_path: Path
) -> None:
    here = process(*command, folder=tmp_path, PYTHONHASHSEED="1")
    there = process(
        *command, folder=tmp_path, PYTHONHASHSEED="2", TZ="Asia/Tokyo", LC_ALL="C",
        PYTHONIOENCODING="utf-8",
    )  # fmt: skip

    assert here.stdout == there.stdout != ""


@pytest.mark.slow
def test_neither_hashes_nor_places_change_a_baseline(tmp_path: Path) -> None:
    written = []
    for seed, zone in (("1", "UTC"), ("2", "Asia/Tokyo")):
        done = process(
            "gate", "qrels.txt", "a.run", *GATE, "--update", "-m", "RR", "-m", "ILD@3",
            "--items", "items.csv", folder=_items(tmp_path), PYTHONHASHSEED=seed,
            TZ=zone,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        written.append((tmp_path / "gate.json").read_bytes())
        (tmp_path / "gate.json").unlink()

    assert written[0] == written[1]


def _items(folder: Path) -> Path:
    (folder / "items.csv").write_text("item,u,v\na,1,0\nx,0.5,1\ny,0,2\n")
    return folder


@pytest.mark.usefixtures("baseline")
def test_a_baseline_that_cannot_be_written_is_one_sentence(
    rankine: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(_: int) -> NoReturn:
        raise OSError(28, "No space left on device")

    before = Path("gate.json").read_bytes()
    monkeypatch.setattr(os, "fsync", full)
    done = rankine("gate", "qrels.txt", "a.run", *GATE, "--update")

    assert (done.code, done.out) == (5, "")
    assert done.err == (
        "rankine: gate.json: cannot be written (No space left on device)\n"
    )
    assert Path("gate.json").read_bytes() == before
