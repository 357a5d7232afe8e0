"""rankine convert: any format from any other, for runs and judgements."""

from __future__ import annotations

import gzip
import io
from typing import TYPE_CHECKING

import pytest

import rankine as rk
from rankine._io.writers import WRITERS
from rankine.cli import main
from tests.shell import is_one_sentence

if TYPE_CHECKING:
    from tests.shell import Shell


@pytest.mark.parametrize("name", WRITERS)
def test_a_run_is_written_in_any_format_and_back(name: str, shell: Shell) -> None:
    run, between, back = (shell.path(name) for name in ("a.run", "between", "b.trec"))

    there = shell.run("convert", run, between, "--to", name)
    again = shell.run("convert", between, back, "--format", name, "--tag", "one")

    assert (there.code, there.out, again.code, again.out) == (0, "", 0, "")
    metrics = ["nDCG", "AP", "RR"]
    qrels = shell.path("qrels.txt")
    assert (
        rk.evaluate(qrels, back, metrics).mean == rk.evaluate(qrels, run, metrics).mean
    )
    if name != "msmarco":  # which has no scores
        assert (shell.folder / "b.trec").read_text() == (
            "q1 Q0 a 1 0.9 one\nq1 Q0 x 2 0.8 one\nq1 Q0 b 3 0.7 one\n"
            "q2 Q0 x 1 0.5 one\nq2 Q0 c 2 0.4 one\n"
        )


@pytest.mark.parametrize("name", [name for name in WRITERS if name != "msmarco"])
def test_judgements_are_written_in_any_format_and_back(name: str, shell: Shell) -> None:
    qrels, between, back = (shell.path(name) for name in ("qrels.txt", "x", "b.qrels"))

    there = shell.run("convert", "--qrels", qrels, between, "--to", name)
    again = shell.run("convert", "--qrels", between, back, "--format", name)

    assert (there.code, there.out, again.code, again.out) == (0, "", 0, "")
    assert (shell.folder / "b.qrels").read_text() == "q1 0 a 1\nq1 0 b 2\nq2 0 c 1\n"


def test_the_ending_says_the_format_and_how_it_is_packed(shell: Shell) -> None:
    done = shell.run("convert", shell.path("b.run"), shell.path("b.csv.gz"))

    assert done.code == 0
    with gzip.open(shell.path("b.csv.gz"), "rt") as file:
        assert file.read() == ("query,item,score\nq1,b,0.9\nq1,a,0.8\nq2,c,0.5\n")


def test_standard_input_and_output(monkeypatch: pytest.MonkeyPatch) -> None:
    text = io.TextIOWrapper(io.BytesIO(b"q Q0 a 1 0.5 t\n"))
    monkeypatch.setattr("sys.stdin", text)
    out = io.TextIOWrapper(io.BytesIO())
    monkeypatch.setattr("sys.stdout", out)

    with pytest.raises(SystemExit):
        main(["convert", "-", "-", "--to", "csv", "--to-col", "query=user"])

    out.seek(0)
    assert out.read() == "user,item,score\nq,a,0.5\n"


def test_columns_encodings_grades_and_distances_are_said_as_elsewhere(
    shell: Shell,
) -> None:
    path = shell.folder / "table.csv"
    path.write_bytes("who;what;how\nü;a;good\nü;b;bad\n".encode("latin-1"))
    columns = ["--col", "query=who", "--col", "item=what", "--col", "grade=how"]
    done = shell.run(
        "convert", "--qrels", str(path), shell.path("some.qrels"), *columns,
        "--encoding", "latin-1", "--grades", "good=2,bad=0",
    )  # fmt: skip
    near = shell.run(
        "convert", shell.path("b.run"), shell.path("near.run"), "--lower-is-better",
        "--tag", "near",
    )  # fmt: skip

    assert done.code == near.code == 0
    assert (shell.folder / "some.qrels").read_text() == "ü 0 a 2\nü 0 b 0\n"
    assert (shell.folder / "near.run").read_text() == (
        "q1 Q0 a 1 -0.8 near\nq1 Q0 b 2 -0.9 near\nq2 Q0 c 1 -0.5 near\n"
    )


def test_what_was_inferred_dropped_or_cannot_be_held_is_said(shell: Shell) -> None:
    shell.write("messy.csv", "q1,a,0.5\nq1,a,0.7\nq1,,1\n")
    shell.write("lists.json", '{"q1": ["a"], "q2": []}')

    messy = shell.run(
        "convert", shell.path("messy.csv"), shell.path("x.run"), "--lenient", "-v"
    )
    empty = shell.run("convert", shell.path("lists.json"), shell.path("y.csv"))

    assert messy.code == empty.code == 0
    assert [line.partition("messy.csv: ")[2] for line in messy.err.splitlines()] == [
        "read as csv",
        "no header; query = column 1, item = column 2, score = column 3",
        "1 row without an id: dropped",
        "1 row repeating an item: dropped, the best score is kept",
    ]
    assert empty.err.endswith(
        "lists.json: 1 query without items: left out, as csv cannot hold it\n"
    )


def test_judgements_are_not_taken_for_a_run(shell: Shell) -> None:
    done = shell.run("convert", shell.path("qrels.txt"), shell.path("x.json"))

    assert is_one_sentence(done, 3)
    assert done.err.endswith("; it can be read as judgements, with --qrels\n")
    missing = shell.run("convert", shell.path("none.txt"), shell.path("x.json"))
    assert is_one_sentence(missing, 3)
    assert missing.err.endswith("none.txt: no such file\n")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["a.run", "x.foo"], "the ending '.foo' stands for no format; say what to"),
        (["none.run", "x.foo"], "the ending '.foo' stands for no format; say what to"),
        (["a.run", "x", "--to", "cvs"], "as 'cvs'; expected one of trec, msmarco, csv"),
        (["a.run", "x.trec", "--to-col", "query=q"], "columns of trec have no other"),
        (["a.run", "x.csv", "--to-col", "user=q"], "columns has no part 'user'"),
        (["a.run", "x.csv", "--grades", "a=1"], "--grades is for judgements; give --q"),
        (["a.run", "x.trec", "--tag", "a b"], "tag must be a word without blanks"),
        (["qrels.txt", "x.csv", "--qrels", "--tag", "a"], "--tag is for runs"),
        (
            ["a.run", "x.csv", "--qrels", "--lower-is-better"],
            "--lower-is-better is for",
        ),
    ],
)
def test_what_cannot_be_done_is_one_sentence(
    arguments: list[str], message: str, shell: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(shell.folder)

    done = shell.run("convert", *arguments)

    assert is_one_sentence(done, 2)
    assert message in done.err
    assert not any(path.name.startswith("x") for path in shell.folder.iterdir())
