"""Below a table of many runs stand the first few notes; the others can be asked for."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import rankine as rk
from rankine._report.text import plain_text, table_of, text_of

if TYPE_CHECKING:
    from tests.cli.conftest import Command

QRELS = {"q1": {"a": 1}, "q2": {"a": 1}}


def lists(more: int) -> dict[str, list[str]]:
    """Return a perfect run with so many queries that are not judged: each a note."""
    return {"q1": ["a"], "q2": ["a"]} | {f"x{n}": ["a"] for n in range(more)}


def note(more: int) -> str:
    names = ", ".join(f"x{n}" for n in range(more))
    who = "1 query" if more == 1 else f"{more} queries"
    names = names if more <= 3 else "x0, x1, x2, ..."
    return f"{who} of the run without judgements ({names}): not evaluated"


def evaluated(*numbers: int) -> list[rk.Evaluation]:
    return [
        rk.evaluate(QRELS, lists(more), "P@1", name=f"run{place}")
        for place, more in enumerate(numbers)
    ]


def compared(*numbers: int) -> rk.Comparison:
    runs = {f"run{place}": lists(more) for place, more in enumerate(numbers)}
    return rk.compare(QRELS, runs, "P@1", draws=9)


def notes_in(text: str) -> list[str]:
    return [line.strip() for line in text.split("\n") if line.lstrip().startswith("- ")]


def test_of_many_runs_the_first_five_notes_are_shown() -> None:
    text = text_of(evaluated(1, 2, 3, 4, 5, 6, 7))

    assert notes_in(text) == [f"- {note(more)}" for more in (1, 2, 3, 4, 5)]
    lines = text.split("\n")
    assert lines[-1] == "2 more notes: see .notes"
    assert lines[-3:-1] == ["run4", f" - {note(5)}"]
    assert "run5" not in lines  # a heading without a note


@pytest.mark.parametrize("n", [5, 6])
def test_one_note_more_needs_no_line_that_says_so(n: int) -> None:
    text = text_of(evaluated(*range(1, n + 1)))

    assert len(notes_in(text)) == n
    assert "more note" not in text


def test_of_few_runs_all_are_shown() -> None:
    qrels = {f"q{n}": {"a": 1, "b": n % 2} for n in range(4)} | {"z": {"a": 0}}
    run = {"q0": ["a", "b"], "q2": ["u", "a"], "q7": ["a"]}
    evaluations = [
        rk.evaluate(qrels, dict([*run.items()][: n + 1]), ["P@1", "P@3"], name=f"r{n}")
        for n in range(3)
    ]

    text = " ".join(text_of(evaluations).split())

    told = {text for evaluation in evaluations for text in evaluation.notes}
    assert len(told) > 6
    assert all(sentence in text for sentence in told)


def test_runs_with_the_same_note_share_it() -> None:
    text = text_of(evaluated(1, 2, 1, 3, 2, 1))

    lines = text.split("\n")
    place = lines.index("run0, run2, run5")
    assert lines[place + 1] == f" - {note(1)}"
    assert lines[place + 2] == "run1, run4"
    assert text.count(note(1)) == 1


def test_many_runs_that_share_a_note_are_counted() -> None:
    text = text_of(evaluated(*[1] * 11, 2))

    assert "run0, run1, run2, run3, run4, run5, run6, run7 and 3 more\n" in text


def test_what_all_runs_share_comes_first() -> None:
    qrels = QRELS | {"z": {"a": 0}}
    runs = [
        rk.evaluate(qrels, lists(more), "P@1", name=f"r{more}") for more in range(4)
    ]

    lines = text_of(runs).split("\n")
    place = lines.index("all runs")
    assert lines[place + 1].startswith(" - 1 judged query missing from the run (z)")
    assert place < lines.index("r1")


def test_warnings_all_stay() -> None:
    # Of some hundred judged items, each run has a single one.
    evaluations = []
    for size in range(100, 107):
        qrels = {f"q{n}": {f"a{n}": 1, f"b{n}": 1} for n in range(size)}
        run = {query: ["x", "y"] for query in qrels} | {"q0": ["a0", "y"]}
        found = rk.evaluate(qrels, run, "P@1", name=f"of {size}")
        evaluations.append(found)

    text = " ".join(text_of(evaluations).split())

    told = {warning for run in evaluations for warning in run.warnings}
    assert len(told) == 7
    assert all(warning in text for warning in told)


def test_a_comparison_of_many_systems_shows_five_too() -> None:
    comparison = compared(1, 2, 3, 4, 5, 6, 7)

    assert len(comparison.notes) == 7
    assert notes_in(str(comparison)) == [
        *(f"- run{more - 1}: {note(more)}" for more in (1, 2, 3, 4, 5)),
        "- 2 more notes: see .notes",
    ]
    assert "<li>2 more notes: see .notes</li>" in comparison._repr_html_()
    assert "more notes" not in str(compared(1, 2, 3))


def test_systems_with_the_same_note_share_it() -> None:
    comparison = compared(1, 2, 1, 0)

    assert f"- run0, run2: {note(1)}" in str(comparison).split("\n")


def test_systems_with_the_same_warning_share_it() -> None:
    qrels = {f"q{n}": {f"a{n}": 1, f"b{n}": 1} for n in range(100)}
    few = {query: ["x", "y"] for query in qrels} | {"q0": ["a0", "y"]}
    good = {query: list(items) for query, items in qrels.items()}
    runs = {"one": few, "two": few, "three": good, "four": good}

    comparison = rk.compare(qrels, runs, "P@1", test="t")
    three = rk.compare(qrels, dict([*runs.items()][:3]), "P@1", test="t")

    (_, said), *_ = (text.split(": ", 1) for text in comparison.warnings)
    assert f"! one, two: {said}"[:70] in str(comparison)
    assert f"! one: {said}"[:70] in str(three)
    assert f"<li>one, two: {said}</li>" in comparison._repr_html_()


@pytest.fixture
def _files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("qrels.txt").write_text("q1 0 a 1\nq2 0 a 1\n")
    for more in range(1, 8):
        rows = [f"{query} Q0 a 1 1.0 t\n" for query in lists(more)]
        Path(f"r{more}.run").write_text("".join(rows))


RUNS = [f"r{more}.run" for more in range(1, 8)]


@pytest.mark.usefixtures("_files")
@pytest.mark.parametrize("command", ["evaluate", "compare"])
def test_on_the_command_line_notes_shows_all(rankine: Command, command: str) -> None:
    arguments = [command, "qrels.txt", *RUNS, "-m", "P@1"]

    few = rankine(*arguments)
    every = rankine(*arguments, "--notes")

    assert few.code == every.code == 0
    assert few.out.rstrip().endswith("2 more notes: --notes shows all")
    assert not any(note(more) in few.out for more in (6, 7))
    assert all(note(more) in every.out for more in range(1, 8))
    assert "more notes" not in every.out


@pytest.mark.parametrize("folder", ["", "runs/"])
def test_runs_share_a_note_that_begins_with_their_files(
    rankine: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, folder: str
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("runs").mkdir()
    Path("qrels.txt").write_text("q1 0 a 1\n")
    names = [f"r{n}.csv" for n in range(4)]
    for name in names:
        Path(folder, name).write_text("uid,item,score\nq1,a,1\n")
    runs = [f"{folder}{name}" for name in names]

    shown = rankine("evaluate", "qrels.txt", *runs, "-m", "P@1").out
    compared = rankine("compare", "qrels.txt", *runs, "-m", "P@1").out
    two = rankine("compare", "qrels.txt", *runs[:2], "-m", "P@1").out

    assert shown.rstrip().endswith("all runs\n - query = uid")
    assert f"- {', '.join(names)}: query = uid" in compared
    assert notes_in(two)[-2:] == ["- r0.csv: query = uid", "- r1.csv: query = uid"]


@pytest.mark.usefixtures("_files")
def test_an_experiment_says_where_all_notes_are(rankine: Command) -> None:
    Path("e.yaml").write_text("qrels: qrels.txt\nruns: '*.run'\nmetrics: P@1\n")

    done = rankine("experiment", "e.yaml")
    compared_too = Path("e.yaml").read_text() + "compare: {draws: 9}\noutput: c\n"
    Path("e.yaml").write_text(compared_too)
    also = rankine("experiment", "e.yaml")

    for found in (done, also):
        assert found.code == 0, found.err
        assert "2 more notes: all are in results.json" in found.out


def test_the_table_is_that_of_all_notes_if_nothing_is_left_to_see() -> None:
    text = plain_text(table_of(evaluated(1, 2, 3, 4, 5, 6, 7), see=None), 100)

    assert notes_in(text) == [f"- {note(more)}" for more in range(1, 8)]
