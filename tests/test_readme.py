"""The README tells the truth: its output is ours, its commands run."""

from __future__ import annotations

import re
import shlex
import shutil
from pathlib import Path

import polars as pl
import pytest
from click.testing import CliRunner

import rankine as rk
from rankine.cli import cli
from rankine.data import FOLDER

README = (Path(__file__).parent.parent / "README.md").read_text()
COMMANDS = re.findall(r"`(rankine (?!demo)[^`]*)`", README)
MOST_WORDS = 900


def test_the_readme_is_short() -> None:
    assert len(README.split()) < MOST_WORDS


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    shutil.copy(FOLDER / "qrels.txt", tmp_path)
    shutil.copy(FOLDER / "keyword.run", tmp_path / "bm25.run")
    shutil.copy(FOLDER / "hybrid.run", tmp_path / "dense.run")
    truth = pl.DataFrame({"user_id": ["u", "v"], "item_id": ["a", "b"], "rating": 1})
    truth.write_csv(tmp_path / "truth.csv")
    truth.with_columns(item_id=pl.lit("c")).write_csv(tmp_path / "train.csv")
    recs = truth.rename({"rating": "score"}).with_columns(score=pl.Series([0.5, 0.4]))
    recs.write_parquet(tmp_path / "recs.parquet")
    rk.online.generate(400, seed=0).events.write_csv(tmp_path / "events.csv")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.usefixtures("files")
def test_commands_of_the_readme_run_one_after_the_other() -> None:
    for command in COMMANDS:
        done = CliRunner().invoke(cli, shlex.split(command)[1:], standalone_mode=False)

        assert done.exception is None, (command, done.output)
        assert not done.return_value, (command, done.output)
        assert done.output.strip(), command


def test_there_are_commands() -> None:
    assert len(COMMANDS) >= 8
