"""Several runs: what they are called, and how they are shown together."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import TYPE_CHECKING

import click
import pytest

from rankine.cli.runs import run_files

if TYPE_CHECKING:
    from tests.cli.conftest import Command

pytestmark = pytest.mark.usefixtures("folder")

# In the folder: a ranks a x b and x c, b ranks a b x and c x, c ranks x a b and x c,
# d ranks x x a and x x; relevant are a and b, and c.
RR = {"a": (1 + 1 / 2) / 2, "b": 1.0, "c": 1 / 2, "d": (1 / 3 + 0) / 2}
P1 = {"a": 1 / 2, "b": 1.0, "c": 0.0, "d": 0.0}


# --- names


def names(*arguments: str) -> list[str | None]:
    return [run.name for run in run_files([Path(text) for text in arguments])]


@pytest.mark.parametrize(
    ("arguments", "wanted"),
    [
        (["a.run", "b.run"], ["a.run", "b.run"]),
        (["x/a.run", "y/b.run"], ["a.run", "b.run"]),
        (["x/run.txt", "y/run.txt"], ["x/run.txt", "y/run.txt"]),
        (["1/x/run", "2/x/run", "2/y/run"], ["1/x/run", "2/x/run", "y/run"]),
        (["1/x/run", "2/x/run", "other"], ["1/x/run", "2/x/run", "other"]),
        (["x/run", "run"], ["x/run", "run"]),
        (["/x/run", "x/run"], ["/x/run", "x/run"]),
        (["bm25=x/run", "y/run"], ["bm25", "run"]),
        (["bm25=x/run", "dense=y/run"], ["bm25", "dense"]),
        (["lr=0.1=x/run"], ["lr"]),
        (["x/lr=0.1.run"], ["lr=0.1.run"]),
        (["=run"], ["=run"]),
        (["run=x/run", "y/run"], ["run", "y/run"]),
        (["-"], [None]),
        (["bm25=-"], ["bm25"]),
    ],
    ids=str,
)
def test_names(arguments: list[str], wanted: list[str | None]) -> None:
    assert names(*arguments) == wanted


def test_the_path_of_a_named_run() -> None:
    runs = run_files([Path("bm25=x/run"), Path("lr=lr=0.1"), Path("home=~/run")])

    assert [run.path for run in runs] == [
        Path("x/run"), Path("lr=0.1"), Path.home() / "run",
    ]  # fmt: skip


def test_a_file_with_the_sign_in_its_name_is_a_file() -> None:
    Path("lr=0.1.run").write_text("")
    Path("lr=1").mkdir()
    Path("lr=1/part-0").write_text("")

    for text in ("lr=0.1.run", "lr=1", "lr=1/part-0", "lr=1/part-*"):
        (run,) = run_files([Path(text)])
        assert run.path == Path(text)
        assert run.name == Path(text).name


@pytest.mark.parametrize(
    ("arguments", "wanted"),
    [
        (["a=1.run", "a=2.run"], "two runs are called 'a'; rename one of them"),
        (["a.run", "a.run"], "'a.run'; rename one of them, as in NAME=a.run"),
        (["b.run=a.run", "b.run"], "two runs are called 'b.run'"),
        (["bm25="], "'bm25=' names a run without a file; write NAME=FILE"),
    ],
    ids=str,
)  # fmt: skip
def test_names_that_are_refused(arguments: list[str], wanted: str) -> None:
    with pytest.raises(click.UsageError) as caught:
        names(*arguments)

    assert wanted in caught.value.message


def test_every_output_has_the_names(rankine: Command) -> None:
    Path("x").mkdir()
    Path("x/b.run").write_text(Path("b.run").read_text())
    arguments = ["evaluate", "qrels.txt", "bm25=a.run", "b.run", "x/b.run", "-m", "RR"]
    wanted = ["bm25", "b.run", "x/b.run"]

    table = rankine(*arguments).out.splitlines()
    assert table[0].split() == wanted
    records = json.loads(rankine(*arguments, "--json").out)
    assert [record["run"] for record in records] == wanted
    rows = list(csv.DictReader(io.StringIO(rankine(*arguments, "--csv").out)))
    assert [row["run"] for row in rows] == wanted
    queries = rankine(*arguments, "-q").out
    assert all(f"\n{name} " in f"\n{queries}" for name in wanted)


def test_a_threshold_names_the_run(rankine: Command) -> None:
    done = rankine("evaluate", "qrels.txt", "low=d.run", "--fail-under", "RR=0.5")

    assert done.code == 1
    assert done.err == f"rankine: RR of low is {RR['d']:.4f}, below 0.5\n"


def test_errors_name_the_file(rankine: Command) -> None:
    done = rankine("evaluate", "qrels.txt", "bm25=nothing.run")

    assert done.code == 3
    assert "rankine: nothing.run: no such file" in done.err


def test_lists_without_judgements_can_be_named(rankine: Command) -> None:
    done = rankine(
        "evaluate", "--no-qrels", "one=a.run", "two=b.run", "-m",
        "InterListDiversity@2", "--json",
    )  # fmt: skip

    assert [record["run"] for record in json.loads(done.out)] == ["one", "two"]


def test_lists_are_compared_without_judgements(rankine: Command) -> None:
    done = rankine(
        "compare", "--no-qrels", "one=a.run", "two=b.run", "-m", "Entropy@1", "--json",
    )  # fmt: skip
    assert done.code == 0
    assert json.loads(done.out)["systems"] == ["one", "two"]

    done = rankine("compare", "--no-qrels", "a.run", "b.run", "-m", "AP")
    assert done.code == 2
    assert "AP needs judgements" in done.err


def test_similarity_takes_names(rankine: Command) -> None:
    done = rankine("similarity", "one=a.run", "two=b.run", "-m", "AO@2")
    assert done.out.splitlines()[0].strip() == "one and two"

    done = rankine("similarity", "x=a.run", "y=b.run", "c.run", "-m", "AO@2")
    assert done.out.splitlines()[2].split() == ["x", "y", "c.run"]


# --- tables


def test_many_runs_have_a_row_each(rankine: Command) -> None:
    runs = [f"{name}={name}.run" for name in RR]
    done = rankine("evaluate", "qrels.txt", *runs, "-m", "RR", "-m", "P@1")

    head, _, *rows = done.out.splitlines()
    assert head.split() == ["RR", "P@1"]
    assert [row.split() for row in rows[:4]] == [
        [name, f"{RR[name]:.4f}", f"{P1[name]:.4f}"] for name in RR
    ]
    assert rows[4] == "2 queries. --json and --csv give the 95 % intervals too."


def test_three_runs_stand_side_by_side(rankine: Command) -> None:
    done = rankine("evaluate", "qrels.txt", "a.run", "b.run", "c.run", "-m", "RR")

    lines = done.out.splitlines()
    assert lines[0].split() == ["a.run", "b.run", "c.run"]
    assert lines[2].split() == ["RR", *(f"{RR[name]:.4f}" for name in "abc")]
    assert " to " in lines[3]


def test_many_metrics_stay_in_one_row_where_there_is_no_terminal(
    rankine: Command,
) -> None:
    runs = [f"{name}.run" for name in RR]
    metrics = ",".join(map(str, range(1, 31)))
    done = rankine("evaluate", "qrels.txt", *runs, "-m", f"nDCG@{metrics}")

    lines = done.out.splitlines()
    assert lines[0].split() == [f"nDCG@{k}" for k in range(1, 31)]
    assert len(lines[2].split()) == 31


@pytest.mark.parametrize("more", [(), ("d.run",), ("d.run", "e=d.run")], ids=len)
def test_notes_of_all_runs_stand_once(rankine: Command, more: tuple[str, ...]) -> None:
    Path("e.qrels").write_text("q1 0 a 1\nq2 0 c 1\nq3 0 z 1\n")
    done = rankine("evaluate", "e.qrels", "a.run", "c.run", *more, "-m", "P@1")

    note = " - 1 judged query missing from the run (q3): counted as 0"
    lines = done.out.splitlines()
    assert lines.count(note) == 1
    assert lines[lines.index(note) - 1] == "all runs"


def test_other_notes_stand_with_their_run(rankine: Command) -> None:
    Path("more.run").write_text(Path("a.run").read_text() + "q9 Q0 a 1 1 t\n")
    done = rankine("evaluate", "qrels.txt", "a.run", "more.run", "-m", "RR")

    lines = done.out.splitlines()
    extra = " - 1 query of the run without judgements (q9): not evaluated"
    assert lines[lines.index(extra) - 1] == "more.run"
    assert "a.run" not in lines  # all its notes are shared


def test_one_run_has_no_heading(rankine: Command) -> None:
    done = rankine("evaluate", "qrels.txt", "a.run", "-m", "P@5")

    assert "all runs" not in done.out
    assert "\n - " in done.out
