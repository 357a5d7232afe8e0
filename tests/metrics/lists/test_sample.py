"""The sample of a film recommender: what it is said to be, and on the command line."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest
from click.testing import CliRunner

import rankine as rk
from rankine.cli import cli, main
from rankine.data import FILMS
from tools import make_films

if TYPE_CHECKING:
    from pathlib import Path

PARTS = (
    "train", "test", "films", "studios", "titles", "popular", "personal", "clicks",
    "front", "rates",
)  # fmt: skip


def test_the_script_makes_the_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(make_films, "FOLDER", tmp_path)

    make_films.main()

    for part in PARTS:
        name = f"{part}.csv"
        assert (tmp_path / name).read_text() == (FILMS / name).read_text(), name


def run(*arguments: str) -> Any:
    return CliRunner().invoke(cli, ["evaluate", *arguments])


def test_judgements_and_lists_on_the_command_line() -> None:
    done = run(
        str(FILMS / "test.csv"), str(FILMS / "personal.csv"), "--json",
        "--train", str(FILMS / "train.csv"), "--items", str(FILMS / "films.csv"),
        "-m", "nDCG@10", "-m", "Novelty@10", "-m", "Calibration@10",
    )  # fmt: skip

    (found,) = json.loads(done.stdout)
    wanted = rk.evaluate(
        FILMS / "test.csv",
        FILMS / "personal.csv",
        ["nDCG@10", "Novelty@10", "Calibration@10"],
        train=FILMS / "train.csv",
        items=FILMS / "films.csv",
    )
    values = {name: entry["value"] for name, entry in found["metrics"].items()}
    assert values == wanted.mean


def test_lists_alone_on_the_command_line() -> None:
    lists = [str(FILMS / "popular.csv"), str(FILMS / "personal.csv")]
    done = run("--no-qrels", *lists, "-m", "InterListDiversity@10")

    assert done.exit_code == 0
    assert "popular.csv" in done.stdout
    assert "59 to 60 users" in done.stdout


@pytest.mark.parametrize(
    ("arguments", "wanted"),
    [
        (["--no-qrels", "none.csv", "-m", "Novelty@10"], "--train"),
        (["--no-qrels", "none.csv", "-m", "nDCG@10"], "needs judgements"),
        (["none.csv"], "missing argument"),
    ],
)
def test_what_is_missing_is_one_sentence(
    arguments: list[str], wanted: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as caught:
        main(["evaluate", *arguments])

    assert caught.value.code == 2
    assert wanted in capsys.readouterr().err


def test_what_was_counted_by_hand() -> None:
    train = pl.read_csv(FILMS / "train.csv")
    lists = pl.read_csv(FILMS / "personal.csv")
    shown = set(lists["item_id"]) & set(train["item_id"])
    counts = dict(train.group_by("item_id").len().iter_rows())
    each = [
        sum(counts.get(item, 0) for item in own) / len(own)
        for own in lists.group_by("user_id").agg("item_id")["item_id"].to_list()
    ]

    ev = rk.evaluate(None, lists, ["Coverage", "Popularity"], train=train)

    assert ev["Coverage"] == len(shown) / train["item_id"].n_unique()
    assert ev["Popularity"] == pytest.approx(sum(each) / len(each))
