"""The README tells the truth: its output is ours, its commands run."""

from __future__ import annotations

import re
import shlex
import shutil
from pathlib import Path

import polars as pl
import pytest
from click.testing import CliRunner

from rankine.cli import cli
from rankine.data import FOLDER

README = (Path(__file__).parent.parent / "README.md").read_text()
COMMANDS = re.findall(
    r"^rankine (?:evaluate|similarity|check|metrics).*$", README, flags=re.MULTILINE
)


def test_the_demo_prints_what_the_readme_shows() -> None:
    shown = re.search(r"\$ rankine demo\n(.*?)```", README, flags=re.DOTALL)
    printed = CliRunner().invoke(cli, ["demo"]).output.splitlines()

    assert shown is not None
    wanted = shown[1].splitlines()
    assert [line.rstrip() for line in printed[: len(wanted)]] == wanted


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    shutil.copy(FOLDER / "qrels.txt", tmp_path)
    shutil.copy(FOLDER / "keyword.run", tmp_path / "bm25.run")
    shutil.copy(FOLDER / "hybrid.run", tmp_path / "dense.run")
    truth = pl.DataFrame({"userID": ["u", "v"], "item": ["a", "b"], "rel": [1, 1]})
    truth.write_csv(tmp_path / "truth.csv")
    recs = pl.DataFrame({"userID": ["u", "v"], "item": ["a", "c"], "score": [1.0, 2.0]})
    recs.write_parquet(tmp_path / "recs.parquet")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.usefixtures("files")
@pytest.mark.parametrize("command", COMMANDS)
def test_commands_of_the_readme_run(command: str) -> None:
    done = CliRunner().invoke(cli, shlex.split(command)[1:], standalone_mode=False)

    assert done.exception is None, done.output
    below = "--fail-under" in command
    assert done.return_value == (1 if below else 0) or done.return_value is None
    assert done.output.strip()


def test_there_are_commands() -> None:
    assert len(COMMANDS) >= 7
