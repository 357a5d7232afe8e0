"""rankine evaluate --engine spark: what is printed, and what is refused."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import polars as pl
import pytest

pytest.importorskip("pyspark", reason="needs pyspark; make spark runs these tests")

PROGRAM = Path(__file__).parent / "on_command.py"
SPARK = ["evaluate", "--engine", "spark", "--master", "local[2]"]
METRICS = ["-m", "nDCG@3", "-m", "AP", "-m", "RR"]
QRELS = [("q1", "a", 1), ("q1", "b", 2), ("q2", "c", 1), ("q3", "c", 1)]
RUN = [("q1", "a", 0.5), ("q1", "x", 0.9), ("q1", "b", 0.7), ("q2", "c", 2.5e-3)]
OTHER = [("q1", "b", 0.9), ("q2", "x", 0.8), ("q2", "c", 0.5)]


def write(folder: Path) -> None:
    """Write the same data in several formats, and files that are broken."""
    for name, rows in (("run", RUN), ("other", OTHER)):
        frame = pl.DataFrame(rows, ["query", "item", "score"], orient="row")
        (folder / name).mkdir()
        for number in range(2):
            part = frame.gather_every(2, number)
            part.write_parquet(folder / name / f"part-{number}.parquet")
        frame.write_csv(folder / f"{name}.csv")
        text = "".join(f"{q}  Q0\t{d} 7 {score} tag\n" for q, d, score in rows)
        (folder / f"{name}.run").write_text(f"# a comment\n{text}\n")
    frame = pl.DataFrame(QRELS, ["query", "item", "grade"], orient="row")
    frame.write_parquet(folder / "qrels.parquet")
    frame.write_csv(folder / "qrels.csv")
    text = "".join(f"{q} 0 {d} {grade}\n" for q, d, grade in QRELS)
    (folder / "qrels.txt").write_text(text)
    (folder / "short.run").write_text("q1 Q0 a 1 0.5 tag\nq1 Q0 b 2 0.4\n")
    (folder / "words.csv").write_text("query,item,score\nq1,a,0.5\nq1,b,high\n")
    (folder / "cut.parquet").write_bytes(b"PAR1 and no more")


def ended(folder: Path, *commands: list[str]) -> list[Any]:
    """Run commands in a process of its own, inside a folder."""
    env = {**os.environ, "SPARK_LOCAL_IP": "127.0.0.1"}
    done = subprocess.run(
        [sys.executable, str(PROGRAM), json.dumps(commands)],
        cwd=folder, env=env, capture_output=True, text=True, check=False, timeout=240,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-3000:]
    # Neither Spark nor Java says anything of its own.
    assert done.stderr == ""
    printed: list[Any] = json.loads(done.stdout)["ended"]
    return printed


def test_ctrl_c_ends_the_job_and_leaves_nothing(tmp_path: Path) -> None:
    """A job of many partitions is interrupted as soon as it has shuffled something."""
    local = tmp_path / "local"
    local.mkdir()
    rows = [(f"q{number}", f"d{number}", 0.5) for number in range(20_000)]
    for name, column in (("run", "score"), ("qrels", "grade")):
        frame = pl.DataFrame(rows, ["query", "item", column], orient="row")
        frame.write_parquet(tmp_path / f"{name}.parquet")
    command = [sys.executable, "-c", "from rankine.cli import main; main()"]
    env = {
        **os.environ,
        "SPARK_LOCAL_IP": "127.0.0.1",
        "SPARK_LOCAL_DIRS": str(local),
    }
    files = ["qrels.parquet", "run.parquet", "--partitions", "5000"]
    process = subprocess.Popen(
        [*command, *SPARK, *files], cwd=tmp_path, env=env, text=True,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True,
    )  # fmt: skip
    until = time.monotonic() + 120
    while not any(local.rglob("shuffle_*")) and time.monotonic() < until:
        time.sleep(0.1)
    assert process.poll() is None
    os.killpg(process.pid, signal.SIGINT)
    out, err = process.communicate(timeout=60)

    assert (process.returncode, out, err) == (130, "", "rankine: interrupted\n")
    while any(local.iterdir()) and time.monotonic() < until:
        time.sleep(0.1)  # Java ends a little later than Python
    assert not any(local.iterdir())


def without_spread(record: dict[str, Any]) -> dict[str, Any]:
    """Return a record without its intervals and notes, which are of another kind."""
    for metric in record["metrics"].values():
        metric["low"] = metric["high"] = None
    record["notes"] = [note for note in record["notes"] if "Spark" not in note]
    record.pop("interval", None)
    return record


def test_what_is_printed_is_that_of_the_normal_command(tmp_path: Path) -> None:
    write(tmp_path)
    plain = ["evaluate", "qrels.txt", "run.run", *METRICS]
    two = ["old=other", "new=run/part-*", *METRICS, "-q", "--json"]
    done = ended(
        tmp_path,
        [*plain, "-q", "--json"],
        [*SPARK, "qrels.parquet", *two],
        [*SPARK, "qrels.txt", "run.run", *METRICS, "-q", "--json"],
        [*SPARK, "qrels.csv", "run.csv", *METRICS, "--csv", "--fail-under", "RR=0.9"],
        [*SPARK, "--no-qrels", "run", "-m", "Coverage@2", "--catalog", "8"],
        [
            *SPARK, "qrels.parquet", "run.run", "-m", "P@1", "-c", "recmetrics",
            "--sequence", "rank", "--partitions", "3",
        ],
    )  # fmt: skip
    (code, text, _), parquet, trec, table, lists, unordered = done
    wanted = json.loads(text)

    assert (code, parquet[0], trec[0]) == (0, 0, 0)
    old, new = json.loads(parquet[1])
    assert (old["run"], new["run"]) == ("old", "new")
    # b of two relevant items, c behind another, and nothing.
    assert old["metrics"]["AP"]["value"] == (1 / 2 + 1 / 2 + 0) / 3
    assert [row["AP"] for row in old["per_query"]] == [1 / 2, 1 / 2, 0]
    assert without_spread(json.loads(trec[1])[0]) == without_spread(wanted[0])
    assert new["per_query"] == wanted[0]["per_query"]
    # The best of q1 is x, that of q2 is c, and q3 has none: (1/2 + 1 + 0) / 3.
    assert table[0] == 1
    assert f"run.csv,all,RR,{(1 / 2 + 1 + 0) / 3!r}," in table[1]
    assert table[2] == "rankine: RR of run.csv is 0.5000, below 0.9\n"
    assert lists[0] == 0
    assert f"{3 / 8:.4f}" in lists[1]  # x, b and c of eight
    assert unordered[0] == 3
    assert "two rows of query 'q1' have 7.0 in 'rank'" in unordered[2]


def test_faults_are_told_in_one_sentence(tmp_path: Path) -> None:
    write(tmp_path)
    said = {
        "nowhere": f"{tmp_path}/nowhere: no such file",
        "cut.parquet": f"{tmp_path}/cut.parquet: Spark cannot read it (",
        "s3a://bucket/run": "Spark has no connector for such a path; ",
        "short.run": "short.run: expected the 6 fields of a run in TREC text (query q0 item rank score tag), got: q1 Q0 b 2 0.4",  # noqa: E501
        "words.csv": "words.csv: not a number in score: high",
        "turned.csv": f"{tmp_path}/turned.csv/b.csv: Spark cannot read it (CSV header",
    }
    for name, text in (
        ("a.csv", "query,item,score\nq1,b,2\n"),
        ("b.csv", "item,query,score\nc,q2,1\n"),
    ):
        (tmp_path / "turned.csv").mkdir(exist_ok=True)
        (tmp_path / "turned.csv" / name).write_text(text)
    commands = [[*SPARK, "qrels.txt", run, "-m", "AP"] for run in said]
    commands += [
        [*SPARK, "qrels.txt", "run", "-m", "AP", "-c", "recmetrics"],
        ["evaluate", "--engine", "spark", "--master", "moon:7", "qrels.txt", "run"],
    ]
    done = ended(tmp_path, *commands)

    for (_, out, err), message in zip(done, said.values(), strict=False):
        assert out == ""
        assert err.startswith(f"rankine: {message}")
        assert err.count("\n") == 1
        assert len(err) < 300
    unordered, master = done[len(said) :]
    assert unordered[0] == 2
    assert unordered[2].endswith(
        "name a column of run that numbers the rows with sequence= or --sequence\n"
    )
    assert master[0] == 3
    assert "Could not parse Master URL: 'moon:7'" in master[2]
    assert master[2].count("\n") == 1
