"""The command line in this process or another one, and what it printed."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import TYPE_CHECKING, NamedTuple

import pytest

from rankine.cli import main

if TYPE_CHECKING:
    from pathlib import Path

QRELS = "q1 0 a 1\nq1 0 b 2\nq2 0 c 1\n"
RUN = "q1 Q0 a 1 0.9 one\nq1 Q0 x 2 0.8 one\nq1 Q0 b 3 0.7 one\nq2 Q0 x 1 0.5 one\nq2 Q0 c 2 0.4 one\n"  # noqa: E501 - as it is printed
OTHER = "q1 Q0 b 1 0.9 two\nq1 Q0 a 2 0.8 two\nq2 Q0 c 1 0.5 two\n"


class Done(NamedTuple):
    code: int
    out: str
    err: str


class Shell:
    """Runs the command line in this process, inside a folder of files."""

    def __init__(self, folder: Path, capture: pytest.CaptureFixture[str]) -> None:
        self.folder = folder
        self._capture = capture
        for name, text in (("qrels.txt", QRELS), ("a.run", RUN), ("b.run", OTHER)):
            self.write(name, text)

    def write(self, name: str, text: str) -> str:
        path = self.folder / name
        path.write_text(text)
        return str(path)

    def path(self, name: str) -> str:
        return str(self.folder / name)

    def run(self, *arguments: str) -> Done:
        self._capture.readouterr()
        with pytest.raises(SystemExit) as caught:
            main(list(arguments))
        out, err = self._capture.readouterr()
        code = caught.value.code
        assert isinstance(code, int)
        return Done(code, out, err)

    def evaluate(self, *options: str) -> Done:
        return self.run(
            "evaluate", self.path("qrels.txt"), self.path("a.run"), *options
        )


@pytest.fixture
def shell(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Shell:
    return Shell(tmp_path, capsys)


def is_one_sentence(done: Done, code: int) -> bool:
    """Say whether it failed as it should: a code, one line, nothing else."""
    lines = done.err.splitlines()
    return (
        done.code == code
        and done.out == ""
        and len(lines) == 1
        and lines[0].startswith("rankine: ")
        and not lines[0].endswith(".")
        and "Traceback" not in done.err
    )


def process(
    *arguments: str, folder: Path, **environment: str
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "rankine", *arguments],
        capture_output=True,
        text=True,
        check=False,
        cwd=folder,
        env={**os.environ, **environment},
        encoding="utf-8",
    )
