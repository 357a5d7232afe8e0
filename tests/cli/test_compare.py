"""rankine compare: what is printed, in every form, and what is refused."""

from __future__ import annotations

import csv
import io
import json
import os
import shutil
import sys
from typing import TYPE_CHECKING

import pytest

import rankine as rk
from rankine.data import FOLDER, RUNS

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.conftest import Command

NAMES = [path.name for path in RUNS]


@pytest.fixture(autouse=True)
def _data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("qrels.txt", *NAMES):
        shutil.copy(FOLDER / name, tmp_path)
    monkeypatch.chdir(tmp_path)


def test_it_prints_what_compare_returns(rankine: Command) -> None:
    expected = rk.compare("qrels.txt", NAMES, ["nDCG@10", "AP"], baseline="vector.run")

    options = ["-m", "nDCG@10", "-m", "AP", "--baseline", "vector.run"]
    done = rankine("compare", "qrels.txt", *NAMES, *options)

    assert done.code == 0, done.err
    for row in expected.table.iter_rows(named=True):
        assert f"{row['mean']:.4f}" in done.out
    for row in expected.pairwise.iter_rows(named=True):
        assert f"{row['difference']:+.4f}" in done.out
        assert row["verdict"] in done.out
    assert not any(line.endswith(" ") for line in done.out.splitlines())


@pytest.mark.skipif(sys.platform != "linux", reason="names of files are bytes there")
@pytest.mark.parametrize(
    "form", [[], ["--json"], ["--csv"], ["--latex"], ["--markdown"]]
)
def test_file_names_that_are_not_text_are_shown_by_codes(
    rankine: Command, form: list[str]
) -> None:
    strange = os.fsdecode(b"a\xff.run")
    shutil.copy("vector.run", strange)

    done = rankine("compare", "qrels.txt", strange, "hybrid.run", "-m", "AP", *form)

    assert done.code == 0, done.err
    assert "udcff" in done.out


def test_csv_has_the_pairs(rankine: Command) -> None:
    done = rankine("compare", "qrels.txt", *NAMES, "-m", "AP", "--csv", "--test", "t")

    rows = list(csv.DictReader(io.StringIO(done.out)))
    expected = rk.compare("qrels.txt", NAMES, "AP", test="t").pairwise
    assert [row["verdict"] for row in rows] == expected["verdict"].to_list()
    assert [float(row["p"]) for row in rows] == expected["p"].to_list()


def test_json_is_to_json(rankine: Command) -> None:
    done = rankine("compare", "qrels.txt", "old=vector.run", "new=hybrid.run", "--json")

    named = {"old": "vector.run", "new": "hybrid.run"}
    assert json.loads(done.out) == json.loads(rk.compare("qrels.txt", named).to_json())


@pytest.mark.parametrize("form", ["latex", "markdown"])
def test_tables_for_papers(form: str, rankine: Command) -> None:
    done = rankine("compare", "qrels.txt", *NAMES, "-m", "AP", f"--{form}")

    compared = rk.compare("qrels.txt", NAMES, "AP")
    assert done.out == getattr(compared, f"to_{form}")() + "\n"


def test_queries_that_moved_are_shown(rankine: Command) -> None:
    done = rankine("compare", "qrels.txt", *NAMES[1:], "-m", "nDCG@10", "--moved", "2")

    compared = rk.compare("qrels.txt", NAMES[1:], "nDCG@10")
    assert str(compared.moved("nDCG@10", NAMES[1], NAMES[2], n=2)) in done.out


def test_numbers_of_whole_runs(rankine: Command) -> None:
    options = ["-m", "Coverage@10", "--catalog", "2000"]
    done = rankine("compare", "qrels.txt", *NAMES, *options)

    compared = rk.compare("qrels.txt", NAMES, "Coverage@10", catalog=2000)
    assert done.code == 0, done.err
    for row in compared.pairwise.iter_rows(named=True):
        assert f"{row['difference']:+.4f}" in done.out
    assert "tested by the jackknife's z-test" in done.out


def test_it_says_how_files_were_read(rankine: Command) -> None:
    plain = rankine("compare", "qrels.txt", *NAMES, "-m", "AP")
    told = rankine("compare", "qrels.txt", *NAMES, "-m", "AP", "-v")
    evaluated = rankine("evaluate", "qrels.txt", *NAMES, "-m", "AP", "-v")

    assert plain.err == ""
    assert told.out == plain.out
    assert told.err == evaluated.err
    assert "rankine: qrels.txt: read as trec" in told.err


def test_options_of_evaluate_are_passed_on(rankine: Command) -> None:
    done = rankine("compare", "qrels.txt", *NAMES, "-m", "P@5", "--rel", "3", "--json")

    compared = rk.compare("qrels.txt", NAMES, "P@5", rel=3)
    assert json.loads(done.out)["table"] == compared.to_dict()["table"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["vector.run"], "at least two systems, got only vector.run"),
        ([*NAMES, "--baseline", "vectr.run"], "did you mean 'vector.run'"),
        ([*NAMES, "--test", "tt"], "test must be one of randomization"),
        ([*NAMES, "--test", "t", "--correction", "maxt"], "needs test='randomization'"),
        ([*NAMES, "--margin", "AP=x"], "'x' is not a number"),
        ([*NAMES, "--margin", "P@5=0.1"], "margin is given for P@5"),
        ([*NAMES, "--csv", "--json"], "cannot be combined"),
        ([*NAMES, "-m", "NumRel"], "is not a mean over queries"),
        (
            [*NAMES, "-m", "Gini", "--moved", "2"],
            "--moved goes by the first metric, and no query has a value of Gini",
        ),
        (["vector.run", "vector.run"], "two runs are called 'vector.run'"),
    ],
)
def test_what_cannot_be_compared_is_refused(
    arguments: list[str], message: str, rankine: Command
) -> None:
    done = rankine("compare", "qrels.txt", *arguments)

    assert done.code == 2
    assert message in done.err
    assert len(done.err.splitlines()) == 1
