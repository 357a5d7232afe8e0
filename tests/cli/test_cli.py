"""The command line: what is printed, where, and with which exit code."""

from __future__ import annotations

import csv
import io
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from click.testing import CliRunner

import rankine as rk
from rankine.cli import cli, main
from rankine.data import QRELS as SAMPLE_QRELS
from rankine.data import RUNS as SAMPLE_RUNS

METRICS = list(rk.metrics())
QRELS = "q1 0 a 1\nq1 0 b 2\nq2 0 c 1\n"
RUN = "q1 Q0 a 1 0.9 one\nq1 Q0 x 2 0.8 one\nq1 Q0 b 3 0.7 one\nq2 Q0 x 1 0.5 one\nq2 Q0 c 2 0.4 one\n"  # noqa: E501 - as it is printed
OTHER = "q1 Q0 b 1 0.9 two\nq1 Q0 a 2 0.8 two\nq2 Q0 c 1 0.5 two\n"
AP = ((1 / 1 + 2 / 3) / 2 + 1 / 2) / 2


class Done(NamedTuple):
    code: int
    out: str
    err: str


class Shell:
    """Runs the command line in this process, inside a folder of files."""

    def __init__(self, folder: Path, capture: pytest.CaptureFixture[str]) -> None:
        self.folder = folder
        self._capture = capture
        for name, text in (("qrels.txt", QRELS), ("a.run", RUN), ("b.run", OTHER)):
            self.write(name, text)

    def write(self, name: str, text: str) -> str:
        path = self.folder / name
        path.write_text(text)
        return str(path)

    def path(self, name: str) -> str:
        return str(self.folder / name)

    def run(self, *arguments: str) -> Done:
        self._capture.readouterr()
        with pytest.raises(SystemExit) as caught:
            main(list(arguments))
        out, err = self._capture.readouterr()
        code = caught.value.code
        assert isinstance(code, int)
        return Done(code, out, err)

    def evaluate(self, *options: str) -> Done:
        return self.run(
            "evaluate", self.path("qrels.txt"), self.path("a.run"), *options
        )


@pytest.fixture
def shell(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Shell:
    return Shell(tmp_path, capsys)


def is_one_sentence(done: Done, code: int) -> bool:
    """Say whether it failed as it should: a code, one line, nothing else."""
    lines = done.err.splitlines()
    return (
        done.code == code
        and done.out == ""
        and len(lines) == 1
        and lines[0].startswith("rankine: ")
        and not lines[0].endswith(".")
        and "Traceback" not in done.err
    )


# --- evaluate


def test_evaluate_prints_a_table(shell: Shell) -> None:
    done = shell.evaluate("-m", "AP", "-m", "P@1")

    assert done.code == 0
    assert done.err == ""
    assert "a.run" in done.out
    assert f"{AP:.4f}" in done.out
    assert "0.5000 to 0.8333" in done.out
    assert "2 queries." in done.out
    assert " - every judged item counts as relevant: the grades are 1 to" in done.out


def test_evaluate_has_default_metrics(shell: Shell) -> None:
    done = shell.evaluate()

    assert done.code == 0
    assert all(name in done.out for name in ("nDCG@10", "AP", "RR@10"))


def test_evaluate_shows_several_runs_side_by_side(shell: Shell) -> None:
    done = shell.run(
        "evaluate",
        shell.path("qrels.txt"),
        shell.path("a.run"),
        shell.path("b.run"),
        "-m",
        "AP",
    )

    head, row = done.out.splitlines()[0], done.out.splitlines()[2]
    assert done.code == 0
    assert head.split() == ["a.run", "b.run"]
    assert row.split() == ["AP", f"{AP:.4f}", "1.0000"]


def test_evaluate_equals_the_library(shell: Shell) -> None:
    done = shell.evaluate("--json", "-m", "nDCG@10", "-m", "AP")

    ev = rk.evaluate(shell.path("qrels.txt"), shell.path("a.run"), ["nDCG@10", "AP"])
    found = json.loads(done.out)
    assert [entry["run"] for entry in found] == ["a.run"]
    assert {
        name: entry["value"] for name, entry in found[0]["metrics"].items()
    } == ev.mean
    assert found[0]["notes"] == list(ev.notes)


def test_json_of_several_runs(shell: Shell) -> None:
    done = shell.evaluate(shell.path("b.run"), "--json", "-m", "AP", "-q")

    first, second = json.loads(done.out)
    assert (first["run"], second["run"]) == ("a.run", "b.run")
    assert first["per_query"] == [
        {"query": "q1", "AP": pytest.approx((1 + 2 / 3) / 2)},
        {"query": "q2", "AP": 1 / 2},
    ]
    assert second["metrics"]["AP"]["value"] == 1


def test_json_of_an_undefined_value_is_null(shell: Shell) -> None:
    run = shell.write("one.run", "q1 Q0 a 1 1 t\n")

    done = shell.run(
        "evaluate", shell.path("qrels.txt"), run, "-m", "AUC", "--json", "-q"
    )

    assert "NaN" not in done.out
    assert json.loads(done.out)[0]["metrics"]["AUC"]["value"] is None


def test_csv_has_a_row_per_metric(shell: Shell) -> None:
    done = shell.evaluate("--csv", "-m", "AP", "-m", "NumRet")

    rows = list(csv.DictReader(io.StringIO(done.out)))
    assert done.code == 0
    assert list(rows[0]) == ["run", "query", "metric", "value", "low", "high"]
    assert [row["metric"] for row in rows] == ["AP", "NumRet"]
    assert [row["query"] for row in rows] == ["all", "all"]
    assert float(rows[0]["value"]) == AP
    assert float(rows[0]["low"]) == 1 / 2
    assert rows[1]["low"] == ""


def test_csv_per_query(shell: Shell) -> None:
    done = shell.evaluate("--csv", "-q", "-m", "RR")

    rows = list(csv.DictReader(io.StringIO(done.out)))
    assert [(row["query"], float(row["value"])) for row in rows] == [
        ("q1", 1),
        ("q2", 1 / 2),
        ("all", 3 / 4),
    ]


def test_per_query_table(shell: Shell) -> None:
    done = shell.evaluate("-q", "-m", "RR", "-m", "NumRet")

    lines = [line.split() for line in done.out.splitlines()]
    assert ["a.run", "RR", "NumRet"] in lines
    assert ["q1", "1.0000", "3"] in lines
    assert ["q2", "0.5000", "2"] in lines


def test_trec_eval_style(shell: Shell) -> None:
    done = shell.evaluate(
        "--style", "trec_eval", "-q", "-m", "map", "-m", "P.1,2", "-m", "num_q",
        "-m", "runid",
    )  # fmt: skip

    assert done.out.splitlines() == [
        "map                   \tq1\t0.8333",
        "P_1                   \tq1\t1.0000",
        "P_2                   \tq1\t0.5000",
        "map                   \tq2\t0.5000",
        "P_1                   \tq2\t0.0000",
        "P_2                   \tq2\t0.5000",
        "runid                 \tall\tone",
        "num_q                 \tall\t2",
        "map                   \tall\t0.6667",
        "P_1                   \tall\t0.5000",
        "P_2                   \tall\t0.5000",
    ]


def test_trec_eval_style_has_the_official_measures_by_default(shell: Shell) -> None:
    done = shell.evaluate("--style", "trec_eval")

    names = [line.split()[0] for line in done.out.splitlines()]
    assert names[:6] == ["runid", "num_q", "num_ret", "num_rel", "num_rel_ret", "map"]
    assert "P_1000" in names


def test_trec_eval_style_of_all_measures(shell: Shell) -> None:
    done = shell.evaluate("--style", "trec_eval", "-m", "all_trec", "-q")

    assert done.code == 0
    assert "ndcg_cut_10           \tall\t" in done.out
    assert "relstring             \tq1\t'1-2'" in done.out


@pytest.mark.parametrize(
    ("floor", "code"),
    [("AP=0.6", 0), ("AP=0.9", 1), ("map=0.9", 1), ("RR@10=0.75", 0), ("P@1=0.51", 1)],
)
@pytest.mark.parametrize("style", [[], ["--json"], ["--csv"], ["--style", "trec_eval"]])
def test_fail_under(floor: str, code: int, style: list[str], shell: Shell) -> None:
    done = shell.evaluate("-m", "AP", "--fail-under", floor, *style)

    assert done.code == code
    assert done.out != ""
    if code:
        name, _, limit = floor.partition("=")
        assert done.err.startswith(f"rankine: {name} of a.run is ")
        assert done.err.endswith(f", below {limit}\n")
    else:
        assert done.err == ""


def test_fail_under_of_a_metric_with_parameters(shell: Shell) -> None:
    done = shell.evaluate("-m", "AP", "--fail-under", "P(rel=2)@1=0.4")

    assert done.code == 1
    assert done.err == "rankine: P(rel=2)@1 of a.run is 0.0000, below 0.4\n"


def test_fail_under_is_for_every_run(shell: Shell) -> None:
    done = shell.evaluate(shell.path("b.run"), "--fail-under", "AP=0.9")

    assert done.code == 1
    assert done.err.count("\n") == 1
    assert "a.run" in done.err


def test_an_undefined_value_does_not_meet_a_threshold(shell: Shell) -> None:
    run = shell.write("one.run", "q1 Q0 a 1 1 t\n")

    done = shell.run(
        "evaluate", shell.path("qrels.txt"), run, "--fail-under", "AUC=0.1"
    )

    assert done.code == 1
    assert "AUC of one.run is " in done.err
    assert "nan" not in done.err


@pytest.mark.parametrize("kind", ["csv", "tsv", "parquet"])
def test_tables_with_named_columns(kind: str, shell: Shell) -> None:
    import polars as pl  # noqa: PLC0415 - only here

    frame = pl.DataFrame(
        {"wer": ["u", "u"], "was": ["a", "b"], "note": [0, 1], "wert": [0.9, 0.8]}
    )
    path = shell.folder / "data"
    if kind == "parquet":
        frame.write_parquet(path)
    else:
        frame.write_csv(path, separator="," if kind == "csv" else "\t")
    columns = ["query=wer", "item=was", "grade=note", "score=wert"]
    options = [part for column in columns for part in ("--col", column)]

    done = shell.run(
        "evaluate",
        str(path),
        str(path),
        *options,
        "--format",
        kind,
        "-m",
        "RR",
        "--json",
    )

    assert done.err == ""
    assert json.loads(done.out)[0]["metrics"]["RR"]["value"] == 1 / 2


def test_grades_in_words(shell: Shell) -> None:
    path = shell.write(
        "log.csv",
        "user,item,label,score\nu,a,Viewed,0.9\nu,b,Ordered,0.8\nu,c,Clicked,0.7\n",
    )

    done = shell.run(
        "evaluate", path, path, "--grades", "Viewed=0,Clicked=1,Ordered=4",
        "-m", "CG@2", "--json",
    )  # fmt: skip

    assert done.err == ""
    assert json.loads(done.out)[0]["metrics"]["CG@2"]["value"] == 4


@pytest.mark.parametrize(
    ("options", "metric", "expected"),
    [
        (["-l", "2"], "AP", (1 / 3 + 0) / 2),
        (["--rel", "2"], "AP", (1 / 3 + 0) / 2),
        (["-M", "1"], "AP", (1 / 2 + 0) / 2),
        (["--depth", "2"], "NumRet", 4),
        (["--catalog", "100"], "FallOut@2", (1 / 98 + 1 / 99) / 2),
        (["-c", "trec_eval-9"], "AP", AP),
    ],
    ids=lambda case: " ".join(case) if isinstance(case, list) else None,
)
def test_options(
    options: list[str], metric: str, expected: float, shell: Shell
) -> None:
    done = shell.evaluate(*options, "-m", metric, "--json")

    assert done.err == ""
    found = json.loads(done.out)[0]["metrics"][metric]["value"]
    assert found == pytest.approx(expected)


@pytest.mark.parametrize(
    ("ties", "expected"), [("average", 3 / 4), ("best", 1), ("worst", 1 / 2)]
)
def test_ties(ties: str, expected: float, shell: Shell) -> None:
    qrels = shell.write("tied.txt", "q 0 a 1\n")
    run = shell.write("tied.run", "q Q0 a 1 1 t\nq Q0 b 2 1 t\n")

    done = shell.run("evaluate", qrels, run, "--ties", ties, "-m", "RR", "--json")

    assert json.loads(done.out)[0]["metrics"]["RR"]["value"] == expected


# --- metrics, demo, help


def test_metrics_lists_every_metric(shell: Shell) -> None:
    done = shell.run("metrics")

    assert done.code == 0
    heads = [line for line in done.out.splitlines() if line and line[0] != " "]
    names = {head.split("(")[0].split("@")[0].split()[0] for head in heads}
    assert names == set(METRICS)


@pytest.mark.parametrize("name", ["nDCG", "ndcg", "ndcg_cut.10", "NDCG@5"])
def test_one_metric_is_explained(name: str, shell: Shell) -> None:
    done = shell.run("metrics", name)

    assert done.code == 0
    assert "Formula\n  nDCG@k = DCG@k / " in done.out
    assert "Parameters\n" in done.out
    assert "gain: " in done.out
    assert "Examples\n" in done.out
    assert ">>> " in done.out
    assert "Range 0 to 1" in done.out


@pytest.mark.parametrize("name", METRICS)
def test_every_metric_can_be_explained(name: str, shell: Shell) -> None:
    done = shell.run("metrics", name)

    assert done.code == 0
    assert done.out.startswith(name)
    assert all(word in done.out for word in ("Formula", "Parameters", "Examples"))


def test_metrics_as_json(shell: Shell) -> None:
    everything = json.loads(shell.run("metrics", "--json").out)
    one = json.loads(shell.run("metrics", "nDCG", "--json").out)

    assert [entry["name"] for entry in everything] == METRICS
    assert [entry["name"] for entry in one] == ["nDCG"]
    assert one[0]["parameters"]["gain"] == "linear"
    assert one[0]["at"] == "k"
    assert one[0]["range"] == [0, 1]


def test_demo(shell: Shell) -> None:
    done = shell.run("demo")

    assert done.code == 0
    assert done.err == ""
    assert all(path.stem in done.out for path in SAMPLE_RUNS)
    assert "rankine evaluate qrels.txt" in done.out


def test_demo_shows_what_evaluate_shows(shell: Shell) -> None:
    done = shell.run(
        "evaluate", str(SAMPLE_QRELS), *map(str, SAMPLE_RUNS), "-m", "AP", "--json"
    )

    demo = shell.run("demo").out
    for entry in json.loads(done.out):
        assert f"{entry['metrics']['AP']['value']:.4f}" in demo


def test_version(shell: Shell) -> None:
    done = shell.run("--version")

    assert done.code == 0
    assert rk.__version__ in done.out


@pytest.mark.parametrize("flag", ["--help", "-h"])
@pytest.mark.parametrize("command", ["", "evaluate", "metrics", "demo"])
def test_help(command: str, flag: str, shell: Shell) -> None:
    done = shell.run(*command.split(), flag)

    assert done.code == 0
    assert done.err == ""
    assert done.out.startswith(f"Usage: rankine {command}".strip())


def test_help_names_every_command(shell: Shell) -> None:
    done = shell.run("--help")

    assert all(name in done.out for name in cli.list_commands(None))  # type: ignore[arg-type]


def test_every_option_of_evaluate_is_explained(shell: Shell) -> None:
    command: Any = cli.get_command(None, "evaluate")  # type: ignore[arg-type]
    text = shell.run("evaluate", "--help").out

    options = [
        option for option in command.params if option.param_type_name == "option"
    ]
    assert all(option.help for option in options)
    assert all(option.opts[-1] in text for option in options)


def test_click_runs_it_as_well(shell: Shell) -> None:
    done = CliRunner().invoke(
        cli, ["evaluate", shell.path("qrels.txt"), shell.path("a.run"), "--json"]
    )

    assert json.loads(done.output)[0]["run"] == "a.run"


# --- what goes wrong


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
        (["--format", "trek"], "unknown format 'trek'; there are"),
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
        (["--json", "--csv"], "--json, --csv and --style exclude each other"),
        (["--json", "--style", "trec_eval"], "exclude each other"),
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


def test_an_interrupt_is_told(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("rankine._evaluate.plan.plan_of", interrupt)

    done = shell.evaluate()

    assert (done.code, done.out) == (130, "")
    assert done.err.strip() == "rankine: interrupted"


# --- escapes


# click takes colours out where it does not write to a terminal; this it leaves in.
ESCAPE = "\x1b]0;x\x07"


@pytest.mark.parametrize("options", [[], ["-q"], ["--json", "-q"]], ids=" ".join)
def test_escapes_in_ids_are_not_sent(options: list[str], shell: Shell) -> None:
    qrels = shell.write("esc.txt", f"q{ESCAPE} 0 a 1\nr{ESCAPE} 0 a 1\n")
    run = shell.write("esc.run", f"q{ESCAPE} Q0 a 1 1 t\ns{ESCAPE} Q0 a 1 1 t\n")

    done = shell.run("evaluate", qrels, run, "-m", "AP", "--lenient", *options)

    assert done.code == 0
    assert "\x1b" not in done.out
    assert r"\x1b]0;x" in done.out or r"\u001b]0;x" in done.out


@pytest.mark.parametrize("mark", ["\x1b]0;x\x07", "\x9b31m", "\u202e"], ids=ascii)
def test_other_marks_in_ids_are_not_sent(mark: str, shell: Shell) -> None:
    qrels = shell.write("esc.txt", f"q{mark} 0 a 1\n")
    run = shell.write("esc.run", f"q{mark} Q0 a 1 1 t\n")

    done = shell.run("evaluate", qrels, run, "-m", "AP", "-q", "--lenient")

    assert done.code == 0
    assert mark[0] not in done.out


def test_markup_in_ids_is_not_read(shell: Shell) -> None:
    qrels = shell.write("esc.txt", "[red]q[/red] 0 a 1\n")
    run = shell.write("[b].run", "[red]q[/red] Q0 a 1 1 t\n")

    done = shell.run("evaluate", qrels, run, "-m", "AP", "-q")

    assert "[red]q[/red]" in done.out
    assert "[b].run" in done.out


@pytest.mark.parametrize(
    "lines",
    [
        f"q1 Q0 a 1 {ESCAPE} t\n",
        f"q1 Q0 a 1 1 t\nq1 {ESCAPE}\n",
        f"q1 Q0 {ESCAPE} 1 1 t\nq1 Q0 {ESCAPE} 1 1 t\n",
        f"{ESCAPE} Q0 a 1 1 t\n",
    ],
    ids=["score", "line", "item", "query"],
)
def test_escapes_in_errors_are_not_sent(lines: str, shell: Shell) -> None:
    run = shell.write("esc.run", lines)

    done = shell.run("evaluate", shell.path("qrels.txt"), run)

    assert is_one_sentence(done, 3), done
    assert "\x1b" not in done.err


@pytest.mark.parametrize("options", [[], ["--fail-under", "AP=2"]], ids=" ".join)
def test_escapes_in_names_of_files_are_not_sent(
    options: list[str], shell: Shell
) -> None:
    run = shell.write(f"a{ESCAPE}.run", RUN)

    done = shell.run("evaluate", shell.path("qrels.txt"), run, *options)

    assert "\x1b" not in done.out
    assert "\x1b" not in done.err


def test_escapes_in_arguments_are_not_sent(shell: Shell) -> None:
    done = shell.evaluate("-m", f"nDCG{ESCAPE}", "--ties", "best")

    assert "\x1b" not in done.err


# --- as a process of its own


def process(
    *arguments: str, folder: Path, **environment: str
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "rankine", *arguments],
        capture_output=True,
        text=True,
        check=False,
        cwd=folder,
        env={**os.environ, **environment},
        encoding="utf-8",
    )


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


@pytest.mark.parametrize("command", ["metrics", "demo"])
def test_a_closed_pipe_ends_quietly(command: str) -> None:
    with subprocess.Popen(
        [sys.executable, "-m", "rankine", command],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as started:
        assert started.stdout is not None
        assert started.stderr is not None
        started.stdout.close()
        complaint = started.stderr.read()
        code = started.wait(timeout=30)

    assert complaint == ""
    assert code == 0


@pytest.mark.parametrize("command", ["metrics", "demo"])
def test_a_terminal_without_unicode_still_gets_numbers(
    command: str, shell: Shell
) -> None:
    done = process(
        command, folder=shell.folder, PYTHONIOENCODING="ascii", PYTHONUTF8="0"
    )

    assert done.returncode == 0
    assert done.stderr == ""
    assert "nDCG" in done.stdout
