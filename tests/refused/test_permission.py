"""Files and folders without permission: a sentence with the path, and exit code 3."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

import rankine as rk

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.shell import Shell

AS_OTHERS = ["setpriv", "--bounding-set=-dac_override,-dac_read_search"]
"""What takes from root the right to open any file."""

IS_ROOT = os.name != "nt" and os.geteuid() == 0
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        os.name == "nt" or (IS_ROOT and shutil.which("setpriv") is None),
        reason="permissions do not bind whoever runs the tests",
    ),
]


@pytest.fixture
def closed(shell: Shell) -> Iterator[Path]:
    """Yield a folder that nobody may enter, beside what commands need."""
    yaml = "qrels: qrels.txt\nruns: [a.run]\nmetrics: RR\n"
    shell.write("experiment.yaml", yaml)
    shell.write("events.csv", "user_id,event\n1,impression\n1,click\n")
    found = rk.evaluate(shell.path("qrels.txt"), shell.path("a.run"), "RR")
    found.save(shell.path("saved.json"))
    folder = shell.folder / "closed"
    folder.mkdir(mode=0)
    yield folder
    folder.chmod(0o700)


def ended(command: str, folder: Path) -> tuple[int, str]:
    """Run a command; return its exit code and what it says."""
    words = [*(AS_OTHERS if IS_ROOT else []), sys.executable, "-m", "rankine"]
    done = subprocess.run(
        [*words, *command.split()],
        cwd=folder, capture_output=True, text=True, check=False, timeout=60,
    )  # fmt: skip
    return done.returncode, done.stderr


@pytest.mark.parametrize(
    "command",
    [
        "evaluate qrels.txt a.run -m RR --report",
        "compare qrels.txt a.run b.run -m RR --report",
        "demo --online --save",
        "online events.csv --report",
        "report saved.json -o",
        "gate qrels.txt a.run -m RR --update --baseline",
        "experiment experiment.yaml --output",
    ],
)
def test_outputs(command: str, closed: Path) -> None:
    code, said = ended(f"{command} closed/file", closed.parent)

    assert code == 3
    assert said.startswith("rankine: closed/file: cannot be ")
    assert said.endswith(" (Permission denied)\n")
    assert said.count("\n") == 1


def test_a_first_experiment(closed: Path) -> None:
    folder = closed.parent / "mine"
    folder.mkdir(mode=0o555)

    assert ended("experiment --init ../qrels.txt ../a.run", folder) == (
        3, "rankine: experiment.yaml: cannot be written (Permission denied)\n",
    )  # fmt: skip
    assert ended("experiment --init ../qrels.txt ../closed/file", folder) == (
        3, "rankine: ../closed/file: cannot be used (Permission denied)\n",
    )  # fmt: skip


@pytest.mark.parametrize("file", ["closed/file", "mine"])
@pytest.mark.parametrize(
    "command",
    [
        "evaluate FILE a.run",
        "evaluate qrels.txt FILE --stream",
        "evaluate qrels.txt a.run -m Novelty --train FILE",
        "compare qrels.txt a.run FILE -m RR",
        "gate qrels.txt a.run --baseline FILE",
        "online FILE",
        "online FILE --sql select",
        "report FILE",
        "experiment FILE",
    ],
)
def test_inputs(command: str, file: str, closed: Path) -> None:
    (closed.parent / "mine").touch(mode=0)

    code, said = ended(command.replace("FILE", file), closed.parent)

    assert code == 3
    assert said.startswith(f"rankine: {file}: cannot be ")
    assert said.endswith(" (Permission denied)\n")
    assert said.count("\n") == 1
