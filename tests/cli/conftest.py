"""Run the command line in this process, in a folder of files."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple, Protocol

import pytest

from rankine.cli import main
from tests.shell import shell  # noqa: F401 - a fixture


class Printed(NamedTuple):
    """What a command printed, and how it ended."""

    code: object
    out: str
    err: str


class Command(Protocol):
    """Runs `rankine` with some arguments."""

    def __call__(self, *arguments: str) -> Printed: ...


@pytest.fixture
def rankine(capsys: pytest.CaptureFixture[str]) -> Command:
    def run(*arguments: str) -> Printed:
        capsys.readouterr()
        with pytest.raises(SystemExit) as caught:
            main(list(arguments))
        return Printed(caught.value.code, *capsys.readouterr())

    return run


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Two queries, judged, and the runs a, b, c and d, which differ."""
    (tmp_path / "qrels.txt").write_text("q1 0 a 1\nq1 0 b 1\nq2 0 c 1\n")
    orders = {"a": "axb xc", "b": "abx cx", "c": "xab xc", "d": "xxa xx"}
    for name, items in orders.items():
        lines = [
            f"q{number} Q0 {item if item != 'x' else place} {place} {9 - place} {name}"
            for number, listed in enumerate(items.split(), 1)
            for place, item in enumerate(listed, 1)
        ]
        (tmp_path / f"{name}.run").write_text("\n".join(lines) + "\n")
    monkeypatch.chdir(tmp_path)
    return tmp_path
