"""Bad data and bad usage on the command line: one sentence, and the exit code."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.shell import Shell, is_one_sentence, process


@pytest.mark.parametrize(
    ("arguments", "wanted"),
    [
        (["evaluate", "Q", "nothing.run"], "nothing.run: no such file"),
        (["evaluate", "nothing.txt", "R"], "nothing.txt: no such file"),
        (["evaluate", "Q", "nothing"], "is a folder without files"),
        (["evaluate", "Q", "bad.run"], "bad.run:2: expected 6 columns, got 5"),
        (["evaluate", "Q", "empty.run"], "empty.run: the file is empty"),
        (["evaluate", "R", "Q"], "are the arguments swapped?"),
        (["evaluate", "Q", "other.run"], "0 of 2 judged queries"),
        (["evaluate", "Q", "twice.run"], "'a' appears twice for query 'q1'"),
        (["evaluate", "Q", "table.csv"], "--col item="),
        (["evaluate", "words.csv", "R"], "not a number"),
        (["evaluate", "Q", "R", "--grades", "Good=1"], "grades in words"),
    ],
    ids=lambda case: " ".join(case) if isinstance(case, list) else None,
)
def test_bad_data_is_one_sentence_and_three(
    arguments: list[str], wanted: str, shell: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(shell.folder)
    shell.write("bad.run", "q1 Q0 a 1 1 t\nq1 Q0 b 2 1\n")
    shell.write("empty.run", "")
    shell.write("other.run", "z Q0 a 1 1 t\n")
    shell.write("twice.run", "q1 Q0 a 1 2 t\nq1 Q0 a 2 1 t\n")
    shell.write("table.csv", "query,thing,score\nq1,a,1\n")
    shell.write("words.csv", "query,item,grade\nq1,a,Good\n")
    Path("nothing").mkdir()
    names = {"Q": "qrels.txt", "R": "a.run"}

    done = shell.run(*(names.get(word, word) for word in arguments))

    assert is_one_sentence(done, 3), done
    assert wanted in done.err


@pytest.mark.parametrize(
    ("arguments", "wanted"),
    [
        (["-m", "nDGC"], "unknown metric 'nDGC'; did you mean"),
        (["-m", "nDCG@0"], "k must be a positive integer or None, got 0"),
        (["-m", "P(__import__('os'))"], "cannot read metric"),
        (["-m", "P(rel=x)"], "rel must be a finite number, got 'x'"),
        (["-m", "FallOut@5"], "catalog"),
        (["-c", "trec"], "unknown convention 'trec'"),
        (["--format", "trek"], "unknown format 'trek'; known formats are"),
        (["--col", "features=x"], "needs a frame or file in items= or --items"),
        (["--col", "itm=x"], "subtopic; did you mean 'item'?"),
        (["--style", "trec_eval", "-m", "mapp"], "unknown metric 'mapp'"),
        (["--style", "trec_eval", "-m", "P.x"], "P takes cutoffs"),
        (["--style", "trec_eval", "-m", "relstring.x"], "relstring takes a length"),
        (["--fail-under", "APP=0.5"], "unknown metric 'APP'"),
        (["--ties", "average", "-m", "Bpref"], "Bpref cannot be computed"),
        (["--rel", "nan"], "rel must be a finite number"),
        # Those below are found by click.
        (["--ties", "avrage"], "'avrage'"),
        (["-M", "0"], "0"),
        (["--depth", "x"], "'x'"),
        (["--catalog", "-1"], "-1"),
        (["-l", "x"], "'x'"),
        (["--style", "ranx"], "'ranx'"),
        (["--bogus"], "--bogus"),
        (["--jsno"], "--json"),
        (["--json", "--csv"], "--json, --csv and --style cannot be combined"),
        (["--json", "--style", "trec_eval"], "cannot be combined"),
        (["--fail-under", "AP"], "'AP'"),
        (["--fail-under", "AP=x"], "'x' is not a number"),
        (["--grades", "Good"], "WORD=N"),
        (["--grades", "Good=x"], "WORD=N"),
        (["--col", "item"], "'item'"),
        (["-m"], "-m"),
    ],
    ids=lambda case: " ".join(case) if isinstance(case, list) else None,
)
def test_bad_usage_is_one_sentence_and_two(
    arguments: list[str], wanted: str, shell: Shell
) -> None:
    csv_only = any("itm" in word for word in arguments)
    if csv_only:
        path = shell.write("some.csv", "query,item,score\nq1,a,1\n")
        done = shell.run("evaluate", shell.path("qrels.txt"), path, *arguments)
    else:
        done = shell.evaluate(*arguments)

    assert is_one_sentence(done, 2), done
    assert wanted in done.err


@pytest.mark.parametrize(
    ("arguments", "wanted"),
    [
        (["evaluate"], "QRELS"),
        (["evaluate", "qrels.txt"], "RUN"),
        (["bogus"], "'bogus'"),
        (["evalaute"], "'evaluate'"),
        (["metrics", "nDGC"], "unknown metric 'nDGC'; did you mean"),
        (["metrics", "P.5,10"], "2 metrics"),
        (["metrics", "nDCG", "AP"], "AP"),
        (["demo", "more"], "more"),
    ],
    ids=lambda case: " ".join(case) if isinstance(case, list) else None,
)
def test_bad_command_is_one_sentence_and_two(
    arguments: list[str], wanted: str, shell: Shell
) -> None:
    done = shell.run(*arguments)

    assert is_one_sentence(done, 2), done
    assert wanted in done.err


def test_a_metric_is_checked_before_files_are_read(shell: Shell) -> None:
    done = shell.run("evaluate", "nothing.txt", "nothing.run", "-m", "nDGC")

    assert done.code == 2


@pytest.mark.slow
@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["evaluate", "qrels.txt", "a.run", "-m", "AP"], 0),
        (["evaluate", "qrels.txt", "a.run", "--fail-under", "AP=0.99"], 1),
        (["evaluate", "qrels.txt", "a.run", "-m", "nDGC"], 2),
        (["evaluate", "qrels.txt"], 2),
        (["evaluate", "qrels.txt", "bad.run"], 3),
    ],
    ids=["done", "below", "bad-metric", "missing-argument", "bad-file"],
)
def test_exit_codes_of_the_process(
    arguments: list[str], code: int, shell: Shell
) -> None:
    shell.write("bad.run", "q1 Q0 a 1 1 t\nq1 Q0 b 2 1\n")

    done = process(*arguments, folder=shell.folder)

    assert done.returncode == code
    assert "Traceback" not in done.stderr
    if code:
        assert done.stderr.startswith("rankine: ")
        assert done.stderr.count("\n") == 1
    else:
        assert done.stderr == ""
