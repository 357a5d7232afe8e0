"""rankine evaluate --worst: the queries that failed, below the table."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from rankine.cli import cli, main

QRELS = "q1 0 a 1\nq1 0 b 2\nq2 0 c 1\nq3 0 d 1\n"
RUN = "q1 Q0 x 1 0.9 one\nq1 Q0 a 2 0.8 one\nq2 Q0 c 1 0.5 one\nq3 Q0 y 1 1 one\n"
WORST = """
a.run: the 2 worst of 3 queries by P@1

q1  P@1 0.0000
    first   1. x (unjudged), 2. a (1)
    missed  b (2) not retrieved, a (1) at rank 2

q3  P@1 0.0000
    first   1. y (unjudged)
    missed  d (1) not retrieved
"""


@pytest.fixture
def files(tmp_path: Path) -> list[str]:
    paths = []
    for name, text in (("qrels.txt", QRELS), ("a.run", RUN)):
        (tmp_path / name).write_text(text)
        paths.append(str(tmp_path / name))
    return paths


def printed(*arguments: str) -> str:
    done = CliRunner().invoke(cli, ["evaluate", *arguments], catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return "\n".join(line.rstrip() for line in done.output.splitlines())


def test_worst_queries_stand_below_the_table(files: list[str]) -> None:
    text = printed(*files, "-m", "P@1", "-m", "AP", "--worst", "2")

    assert text.endswith(WORST.rstrip())
    assert "AP" in text.split("a.run: the 2 worst")[0]


def test_every_run_has_its_own(files: list[str]) -> None:
    text = printed(*files, f"other={files[1]}", "-m", "P@1", "--worst", "1")

    assert "\na.run: the worst of 3 queries by P@1\n" in text
    assert "\nother: the worst of 3 queries by P@1\n" in text


def test_json_has_them_under_a_key(files: list[str]) -> None:
    (entry,) = json.loads(printed(*files, "-m", "P@1", "--worst", "1", "--json"))

    assert entry["worst"] == {
        "metric": "P@1",
        "keep": 10,
        "queries": [
            {
                "query": "q1",
                "value": 0.0,
                "top": [
                    {"rank": 1, "item": "x", "grade": None},
                    {"rank": 2, "item": "a", "grade": 1.0},
                ],
                "missed": [
                    {"item": "b", "grade": 2.0, "rank": None},
                    {"item": "a", "grade": 1.0, "rank": 2},
                ],
                "looked": None,
            }
        ],
    }


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (["--csv"], "--worst cannot be combined with --csv"),
        (["--style", "trec_eval"], "--worst cannot be combined with --style"),
        (["-m", "NumRet"], "NumRet has no direction: neither larger"),
    ],
)
def test_where_there_is_no_place_for_them(
    more: list[str],
    message: str,
    files: list[str],
    capsys: pytest.CaptureFixture[str],
) -> None:
    with pytest.raises(SystemExit) as caught:
        main(["evaluate", *files, "--worst", "2", *more])

    assert caught.value.code == 2
    assert message in capsys.readouterr().err


def test_no_line_is_filled_up(files: list[str]) -> None:
    arguments = ["evaluate", *files, "-m", "P@1", "--worst", "2"]

    text = CliRunner().invoke(cli, arguments, catch_exceptions=False).output

    _, _, below = text.partition("a.run: the 2 worst")
    assert [line for line in below.splitlines() if line != line.rstrip()] == []
