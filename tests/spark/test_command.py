"""rankine evaluate --engine spark: what is printed, and what is refused."""

from __future__ import annotations

import gzip
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

from tests.spark.commands import ended

pytest.importorskip("pyspark", reason="needs pyspark; make spark runs these tests")

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
        packed = gzip.compress(frame.write_ndjson().encode())
        (folder / f"{name}.jsonl.gz").write_bytes(packed)
        text = "".join(f"{q}  Q0\t{d} 7 {score} tag\n" for q, d, score in rows)
        (folder / f"{name}.run").write_text(f"# a comment\n{text}\n")
    frame = pl.DataFrame(QRELS, ["query", "item", "grade"], orient="row")
    frame.write_parquet(folder / "qrels.parquet")
    frame.write_csv(folder / "qrels.csv")
    frame.write_ndjson(folder / "qrels.ndjson")
    text = "".join(f"{q} 0 {d} {grade}\n" for q, d, grade in QRELS)
    (folder / "qrels.txt").write_text(text)
    (folder / "short.run").write_text("q1 Q0 a 1 0.5 tag\nq1 Q0 b 2 0.4\n")
    (folder / "words.csv").write_text("query,item,score\nq1,a,0.5\nq1,b,high\n")
    (folder / "cut.jsonl").write_text('{"query": "q1", "item": "a", "score": 1}\n{"que')
    (folder / "cut.parquet").write_bytes(b"PAR1 and no more")


@pytest.fixture
def stops(spark: Any, monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """Let commands use the session of all tests, which they would stop.

    Commands that start Spark themselves are run in `test_ctrl_c_...` and on_cluster.py.
    """
    stopped: list[Any] = []

    def stop(session: Any) -> None:
        stopped.append(session)

    monkeypatch.setattr(type(spark), "stop", stop)
    return stopped


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


def of_all(record: dict[str, Any]) -> dict[str, Any]:
    """Return a record without its intervals and notes, which are of another kind."""
    for metric in record["metrics"].values():
        metric["low"] = metric["high"] = None
    record["notes"] = [note for note in record["notes"] if "Spark" not in note]
    record.pop("interval", None)
    return record


def test_what_is_printed_is_that_of_the_normal_command(
    tmp_path: Path, stops: list[Any]
) -> None:
    write(tmp_path)
    qrels, run = f"{tmp_path}/qrels", f"{tmp_path}/run"

    code, text, _ = ended(
        ["evaluate", f"{qrels}.txt", f"{run}.run", *METRICS, "-q", "--json"]
    )
    wanted = of_all(json.loads(text)[0])
    assert code == 0

    two = [f"old={tmp_path}/other", f"new={run}/part-*", *METRICS, "-q", "--json"]
    code, text, _ = ended([*SPARK, f"{qrels}.parquet", *two])
    old, new = json.loads(text)
    assert (code, old["run"], new["run"]) == (0, "old", "new")
    # b of two relevant items, c behind another, and nothing.
    assert old["metrics"]["AP"]["value"] == (1 / 2 + 1 / 2 + 0) / 3
    assert [row["AP"] for row in old["per_query"]] == [1 / 2, 1 / 2, 0]
    assert new["per_query"] == wanted["per_query"]

    for end in ("txt", "run"), ("ndjson", "jsonl.gz"):
        files = [f"{qrels}.{end[0]}", f"{run}.{end[1]}"]
        code, text, _ = ended([*SPARK, *files, *METRICS, "-q", "--json"])
        assert code == 0
        assert of_all(json.loads(text)[0]) == {**wanted, "run": f"run.{end[1]}"}

    files = [f"{qrels}.csv", f"{run}.csv"]
    code, text, said = ended(
        [*SPARK, *files, *METRICS, "--csv", "--fail-under", "RR=0.9"]
    )
    # The best of q1 is x, that of q2 is c, and q3 has none: (1/2 + 1 + 0) / 3.
    assert code == 1
    assert f"run.csv,all,RR,{(1 / 2 + 1 + 0) / 3!r}," in text
    assert said == "rankine: RR of run.csv is 0.5000, below 0.9\n"

    code, text, _ = ended(
        [*SPARK, "--no-qrels", run, "-m", "Coverage@2", "--catalog", "8"]
    )
    assert code == 0
    assert f"{3 / 8:.4f}" in text  # x, b and c of eight

    code, _, said = ended(
        [
            *SPARK, f"{qrels}.parquet", f"{run}.run", "-m", "P@1", "-c", "recmetrics",
            "--sequence", "rank", "--partitions", "3",
        ]
    )  # fmt: skip
    assert code == 3
    assert "two rows of query 'q1' have 7.0 in 'rank'" in said
    assert len(stops) == 6


def test_faults_are_told_in_one_sentence(tmp_path: Path, stops: list[Any]) -> None:
    write(tmp_path)
    here = f"{tmp_path}/"
    unreadable = "Spark cannot read it ("
    faults = {
        f"{here}nowhere": "no such file",
        f"{here}cut.parquet": unreadable,
        f"{here}cut.jsonl": f"{unreadable}Unexpected end-of-input in field name)\n",
        f"{here}short.run": "expected the 6 fields of a run in TREC text (query q0 "
        "item rank score tag), got: q1 Q0 b 2 0.4",
        f"{here}words.csv": "not a number in score: high",
    }
    for name, text in (
        ("a.csv", "query,item,score\nq1,b,2\n"),
        ("b.csv", "item,query,score\nc,q2,1\n"),
    ):
        (tmp_path / "turned.csv").mkdir(exist_ok=True)
        (tmp_path / "turned.csv" / name).write_text(text)
    for empty in ("failed/day=1 a/part-1.parquet", "delta/_delta_log/0.json"):
        file = tmp_path / empty
        file.parent.mkdir(parents=True)
        pl.DataFrame({"query": ["q1"], "item": ["a"]}).write_parquet(
            file.with_name("part-0.parquet")
        )
        file.touch()
    faults[f"{here}delta"] = "is in the Delta format, and its files include old "
    said = {path: f"{path}: {fault}" for path, fault in faults.items()}
    said[f"{here}failed"] = f"{here}failed/day=1 a/part-1.parquet: is empty; "
    said[f"{here}turned.csv"] = f"{here}turned.csv/b.csv: {unreadable}CSV header"
    said["s3a://bucket/run"] = "Spark has no connector for such a path; "
    away = "hdfs://127.0.0.1:1/run"
    said[away] = f"{away}: localhost:1 cannot be reached; try again later\n"
    for first in "ab":  # Spark takes the columns of the first part
        folder = tmp_path / f"half-{first}"
        folder.mkdir()
        frame = pl.DataFrame({"query": ["q1"], "item": ["a"], "score": [0.5]})
        for name in "ab":
            part = frame.with_columns(item=pl.lit(name))
            part = part if name == first else part.drop("score")
            part.write_parquet(folder / f"{name}.parquet")
        said[str(folder)] = "run: score is missing"
    for path, message in said.items():
        code, out, err = ended([*SPARK, f"{here}qrels.txt", path, "-m", "AP"])

        codes = (5,) if path == away else (2, 3)
        assert (code in codes, out) == (True, ""), (path, code, err)
        assert err.startswith(f"rankine: {message}")
        assert err.count("\n") == 1
        assert len(err) < 350
    unordered = [f"{here}qrels.txt", f"{here}run", "-m", "AP", "-c", "recmetrics"]
    code, _, err = ended([*SPARK, *unordered])
    assert code == 2
    assert err.endswith(
        "name a column of run that numbers the rows with sequence= or --sequence\n"
    )
    assert len(stops) == len(said) + 1
