"""rankine evaluate: tables, JSON, CSV, thresholds and options."""

from __future__ import annotations

import csv
import io
import json
from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner

import rankine as rk
from rankine.cli import cli

if TYPE_CHECKING:
    from pathlib import Path

    from tests.shell import Shell

AP = ((1 / 1 + 2 / 3) / 2 + 1 / 2) / 2


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


def test_the_columns_of_each_file_can_be_named_apart(tmp_path: Path) -> None:
    (tmp_path / "q.csv").write_text("query,item,grade\nq,a,1\n")
    (tmp_path / "r.csv").write_text("who,what,much\nq,b,1\nq,a,2\n")
    named = ["run.query=who", "run.item=what", "run.score=much"]
    options = [word for name in named for word in ("--col", name)]

    files = str(tmp_path / "q.csv"), str(tmp_path / "r.csv")

    done = CliRunner().invoke(cli, ["evaluate", *files, "-m", "RR", "--csv", *options])

    assert "r.csv,all,RR,1.0" in done.output


def test_weights_come_from_a_file(shell: Shell) -> None:
    path = shell.write("weights.csv", "query;visits\nq1;3\nq2;1\n")
    plain = json.loads(shell.evaluate("-m", "AP", "--json").out)
    options = ("--weights", path, "--col", "weights.weight=visits")
    done = shell.evaluate("-m", "AP", "--json", *options)

    (first,), (second,) = plain, json.loads(done.out)
    assert first["metrics"]["AP"]["value"] == AP
    wanted = (3 * (1 / 1 + 2 / 3) / 2 + 1 / 2) / 4
    assert second["metrics"]["AP"]["value"] == pytest.approx(wanted, rel=1e-15)
    assert any("different weights" in note for note in second["notes"])


def test_the_style_of_trec_eval_has_weights(shell: Shell) -> None:
    path = shell.write("weights.csv", "query,weight\nq1,3\nq2,1\n")
    done = shell.evaluate("-m", "map", "--style", "trec_eval", "--weights", path)

    wanted = (3 * (1 / 1 + 2 / 3) / 2 + 1 / 2) / 4
    assert f"all\t{wanted:.4f}" in done.out


def test_a_query_without_a_weight_is_told(shell: Shell) -> None:
    path = shell.write("weights.csv", "query,weight\nq1,3\n")
    done = shell.evaluate("-m", "AP", "--weights", path)

    assert done.code == 3
    assert "weights.csv has no weight for 1 query (q2)" in done.err
