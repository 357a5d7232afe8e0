"""reconcile of metrics of lists on the command line."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.conftest import Command


def test_the_command(rankine: Command, tmp_path: Path) -> None:
    (tmp_path / "lists.csv").write_text("user,item,rank\nu,a,1\nu,b,2\nv,b,1\nv,c,2\n")
    (tmp_path / "train.csv").write_text("user,item\nu,a\nv,b\nw,d\n")
    words = ["-m", "Coverage@2", "--train", str(tmp_path / "train.csv")]
    lists = str(tmp_path / "lists.csv")

    done = rankine("reconcile", "--no-qrels", lists, *words)

    assert (done.code, done.err) == (0, "")
    assert done.out.startswith("Coverage@2\n\n  0.6667  rankine, RePlay\n")
    assert "\n  3.0000  RankSys, Elliot, RecTools, LensKit\n" in done.out
    way = rankine(
        "reconcile", "--no-qrels", lists, *words, "--explain", "rankine", "rectools",
        "--json",
    )  # fmt: skip
    (record,) = json.loads(way.out)
    assert [step["field"] for step in record["steps"]] == ["share"]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["lists.csv"], "missing argument 'RUN'; see rankine reconcile --help"),
        (["--no-qrels", "a.csv", "b.csv"], "--no-qrels takes one file, the run"),
    ],
)
def test_the_command_refuses(rankine: Command, words: list[str], said: str) -> None:
    done = rankine("reconcile", *words, "-m", "Coverage")

    assert done.code == 2
    assert said in done.err
