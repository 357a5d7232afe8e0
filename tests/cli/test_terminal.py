"""Lines fit a terminal, whatever its width; what is piped is whole, without blanks."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import struct
import subprocess
import sys
import termios

import pytest

from rankine.data import FOLDER

pytestmark = pytest.mark.slow

ESCAPE = re.compile(r"\x1b\[[0-9;]*m")
RUNS = [f"{name}-with-a-rather-long-name=keyword.run" for name in "abcd"]
COMMANDS = {
    "demo": ["demo"],
    "evaluate": ["evaluate", "qrels.txt", "hybrid.run", "-m", "nDCG@10", "-c", "ranx"],
    "many": ["evaluate", "qrels.txt", *RUNS, "-m", "nDCG@1,2,3,4,5,6,7,8,9,10"],
    "queries": ["evaluate", "qrels.txt", "hybrid.run", "-q", "-m", "nDCG@1,5,10"],
    "metrics": ["metrics"],
    "metric": ["metrics", "Serendipity"],
    "conventions": ["conventions"],
    "convention": ["conventions", "jurity"],
    "ctr": ["ctr", "films/clicks.csv", "films/front.csv", "-e", "matching"],
    "check": ["check", "qrels.txt", "hybrid.run"],
    "similarity": ["similarity", "hybrid.run", "vector.run"],
    "matrix": ["similarity", "hybrid.run", "vector.run", "keyword.run"],
}  # fmt: skip
FITTED = ("many", "metrics", "metric", "conventions", "convention", "ctr", "evaluate")
EXAMPLE = ("  >>> ", "  ... ", "  {")


def environment() -> dict[str, str]:
    plain = {key: text for key, text in os.environ.items() if key != "COLUMNS"}
    return plain | {"TERM": "xterm", "NO_COLOR": "1", "PYTHONIOENCODING": "utf-8"}


def on_terminal(command: list[str], columns: int) -> list[str]:
    """Return the lines that a command prints on a terminal of some width."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 50, columns, 0, 0))
    with subprocess.Popen(
        [sys.executable, "-m", "rankine", *command],
        stdin=theirs, stdout=theirs, stderr=theirs, cwd=FOLDER, env=environment(),
    ) as started:  # fmt: skip
        os.close(theirs)
        printed = b""
        while True:
            try:
                part = os.read(ours, 1 << 16)
            except OSError:  # the end, on Linux
                break
            if not part:
                break
            printed += part
        os.close(ours)
        assert started.wait(timeout=60) == 0, printed
    return ESCAPE.sub("", printed.decode()).replace("\r", "").splitlines()


def piped(command: list[str]) -> list[str]:
    done = subprocess.run(
        [sys.executable, "-m", "rankine", *command],
        capture_output=True, text=True, check=True, cwd=FOLDER, env=environment(),
        encoding="utf-8",
    )  # fmt: skip
    return done.stdout.splitlines()


@pytest.mark.parametrize(
    ("name", "columns"),
    [*((name, 80) for name in FITTED), ("many", 120), ("conventions", 120)],
)
def test_lines_fit_the_terminal(name: str, columns: int) -> None:
    lines = on_terminal(COMMANDS[name], columns)
    wide = [
        line
        for line in lines
        if len(line) > columns
        # What is typed is not broken, and neither are addresses.
        and not line.startswith(EXAMPLE)
        and not line.split()[0].startswith("http")
    ]

    assert wide == []
    assert len(lines) > 2


@pytest.mark.parametrize("name", COMMANDS)
def test_nothing_is_padded_or_broken_in_a_pipe(name: str) -> None:
    lines = piped(COMMANDS[name])

    assert [line for line in lines if line != line.rstrip()] == []
    assert len(lines) > 2


def test_a_table_stays_whole_in_a_pipe() -> None:
    head, _, *rows = piped(COMMANDS["many"])

    assert head.split() == [f"nDCG@{k}" for k in range(1, 11)]
    assert len(head) > 100
    assert [len(row.split()) for row in rows[:4]] == [11] * 4
    assert any(len(line) > 80 for line in piped(COMMANDS["conventions"]))


def test_a_table_that_does_not_fit_goes_on_below() -> None:
    lines = on_terminal(COMMANDS["many"], 80)
    heads = [line.split() for line in lines if line.strip().startswith("nDCG@")]

    assert len(heads) > 1
    assert [name for head in heads for name in head] == [
        f"nDCG@{k}" for k in range(1, 11)
    ]
    begun = [line for line in lines if line.startswith("a-with-a-rather-long-name  ")]
    assert len(begun) == len(heads)


@pytest.mark.parametrize("name", ["conventions", "convention"])
def test_the_words_of_conventions_stand_below_each_other(name: str) -> None:
    lines = on_terminal(COMMANDS[name], 60)
    below = [line for line in lines if line.startswith(" " * 8)]
    starts = {len(line) - len(line.lstrip()) for line in below}

    assert len(below) > 3
    assert len(starts) == 1
    (start,) = starts
    rows = [line for line in lines if re.match(r"[* a-z]\S*.* {2}\S", line)]
    assert all(row[start - 1] == " " and row[start] != " " for row in rows[-20:])


def test_the_lines_of_a_note_stand_below_each_other() -> None:
    lines = on_terminal(COMMANDS["evaluate"], 50)
    first = next(n for n, line in enumerate(lines) if line.startswith(" ! "))

    assert lines[first + 1].startswith("   ")
    assert lines[first + 1][3] != " "


def test_the_same_words_are_printed_at_every_width() -> None:
    for name in ("metric", "conventions", "ctr"):
        texts = {
            " ".join(" ".join(lines).split())
            for lines in (
                piped(COMMANDS[name]),
                on_terminal(COMMANDS[name], 60),
                on_terminal(COMMANDS[name], 120),
            )
        }
        assert len(texts) == 1
