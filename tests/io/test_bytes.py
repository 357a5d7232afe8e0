"""Bytes: unpacked by what they hold, from pipes and folders, in parts of any size.

Parts give the same numbers, places and refusals as one piece.
"""

from __future__ import annotations

import gzip
import os
import random
import re
import socket
import subprocess
import sys
import threading
import time
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest

import rankine as rk
from rankine._base.limits import limited
from rankine._io.bytes import Opened
from rankine._io.sources import Reading
from rankine.errors import DataError, DuplicateItemError, FormatError
from tests.io.forms import METRICS, Lists, columns_of, rows_of
from tests.io.packed import PACK, QRELS, TEXT, written

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("packing", PACK)
@pytest.mark.parametrize("name", ["some.run", "some.gz", "some.zip"])
def test_16_packed_files_are_told_by_their_content(
    packing: str, name: str, tmp_path: Path
) -> None:
    path = written(tmp_path, PACK[packing](TEXT.encode()), name)

    assert Opened(path, Reading()).packing == packing
    assert rk.evaluate(QRELS, path, "RR")["RR"] == 1


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no pipes with names")
def test_21_a_pipe_is_read(tmp_path: Path) -> None:
    path = tmp_path / "pipe"
    os.mkfifo(path)
    writer = threading.Thread(target=lambda: path.write_text(TEXT))
    writer.start()

    found = rk.evaluate(QRELS, path, "RR")

    writer.join()
    assert found["RR"] == 1


def test_parts_of_other_sizes_give_the_same(tmp_path: Path) -> None:
    paths = [written(tmp_path, TEXT.encode(), "plain")]
    paths += [written(tmp_path, PACK[p](TEXT.encode()), p) for p in PACK]

    for size in (1, 50, 999, 1 << 24):
        for path in paths[: 1 if size == 1 else None]:
            with limited(part_bytes=size):
                assert rk.evaluate(QRELS, path, "RR")["RR"] == 1


def test_folders_are_read_as_one(tmp_path: Path) -> None:
    (tmp_path / "part-1").write_text("q1 Q0 a 1 0.5 t\n")
    (tmp_path / "part-2").write_text("query,item,score\nq2,a,1\n")

    found = rk.evaluate({"q1": {"a"}, "q2": {"a"}}, tmp_path, "RR")

    assert found["RR"] == 1
    assert any("2 files are read as one" in note for note in found.notes)
    with pytest.raises(FormatError, match="no file matches this pattern"):
        rk.evaluate({"q1": {"a"}}, tmp_path / "none-*", "RR")
    (tmp_path / "part-3").write_text("query,item\nq3,a\n")
    with pytest.raises(
        FormatError, match=r"part-3 has no score column, but .*part-2 has one"
    ):
        rk.evaluate({"q1": {"a"}}, tmp_path, "RR")


def test_the_reader_says_what_it_found(tmp_path: Path) -> None:
    qrels = written(tmp_path, b"q1\td1\t1\nq2\td2\t0\n", "qrels")
    run = written(tmp_path, gzip.compress(TEXT.encode()))

    done = subprocess.run(
        [sys.executable, "-m", "rankine", "evaluate", str(qrels), str(run), "-v"],
        capture_output=True,
        text=True,
        check=True,
    )

    assert f"{qrels}: read as tsv" in done.stderr
    assert "query = column 1, item = column 2, grade = column 3" in done.stderr
    assert f"{run}: read as trec, gzip" in done.stderr


def test_tests_notice_a_connection() -> None:
    with pytest.raises(pytest.fail.Exception, match="connects to a network"):
        socket.create_connection(("127.0.0.1", 9))


def made_run(
    n_queries: int = 40, n_items: int = 25, seed: int = 7
) -> tuple[Lists, Lists]:
    """Make judgements and a run with ties, of queries with ids of all lengths."""
    rng = random.Random(seed)  # noqa: S311 - no secret
    qrels: Lists = {}
    run: Lists = {}
    for number in range(n_queries):
        query = f"q{number}" * (1 + number % 3)
        items = [f"d{place}" for place in range(n_items)]
        rng.shuffle(items)
        run[query] = {item: rng.randint(0, 9) / 4 for item in items}
        judged = [*rng.sample(items, 6), "missing"]
        qrels[query] = {item: rng.randint(-1, 3) for item in judged}
    return qrels, run


def written_run(path: Path, run: Lists, order: str, ending: str = "\n") -> Path:
    lines = [f"{q} Q0 {item} 1 {value} t" for q, item, value in rows_of(run)]
    if order == "sorted":
        rows = sorted(rows_of(run), key=lambda row: (list(run).index(row[0]), -row[2]))
        lines = [f"{q} Q0 {item} 1 {value} t" for q, item, value in rows]
    if order == "interleaved":
        random.Random(3).shuffle(lines)  # noqa: S311 - no secret
    path.write_bytes((ending.join(lines) + ending).encode())
    return path


@pytest.mark.parametrize("part", [64, 300, 1000, 1 << 24])
@pytest.mark.parametrize("order", ["given", "sorted", "interleaved"])
@pytest.mark.parametrize(
    "ending", ["\n", "\r\n", "\n\n# note\n"], ids=["lf", "crlf", "notes"]
)
def test_a_run_in_parts_equals_the_dict(
    part: int, order: str, ending: str, tmp_path: Path
) -> None:
    qrels, run = made_run()
    path = written_run(tmp_path / "some.run", run, order, ending)
    metrics = ["nDCG@5", "AP", "RR", "P@10", "Bpref", "AUC", "NumRet", "Unjudged@10"]

    with limited(part_bytes=part):
        ev = rk.evaluate(qrels, path, metrics)

    expected = rk.evaluate(qrels, run, metrics)
    assert ev.mean == expected.mean
    assert ev.per_query.equals(expected.per_query)
    assert ev.notes == expected.notes


ODD_LINES = {
    "none": "",
    "comment": "# a note, on what\n",
    "empty": "\n",
    "quoted": '"q9","it""em",0.5\n',
    "over lines": '"q9","it\nem",0.5\n',
}


@pytest.mark.parametrize("part", [64, 300, 1000, 1 << 24])
@pytest.mark.parametrize("order", ["given", "sorted", "interleaved"])
@pytest.mark.parametrize("ending", ["\n", "\r\n"], ids=["lf", "crlf"])
@pytest.mark.parametrize("odd", ODD_LINES)
def test_a_csv_in_parts_equals_the_dict(
    part: int, order: str, ending: str, odd: str, tmp_path: Path
) -> None:
    qrels, run = made_run()
    lines = written_run(tmp_path / "some.run", run, order).read_text().splitlines()
    fields = [line.split() for line in lines]
    rows = [f"{query},{item},{score}\n" for query, _, item, _, score, _ in fields]
    rows.insert(len(rows) // 2, ODD_LINES[odd])
    if "it" in ODD_LINES[odd]:
        item = "it\nem" if odd == "over lines" else 'it"em'
        run = {**run, "q9": {**run.get("q9", {}), item.replace("\n", ending): 0.5}}
    path = tmp_path / "run.csv"
    text = "query_id,item_id,score\n" + "".join(rows)
    path.write_bytes(text.replace("\n", ending).encode())

    with limited(part_bytes=part, head_bytes=64):
        ev = rk.evaluate(qrels, path, METRICS)

    assert ev.mean == rk.evaluate(qrels, run, METRICS).mean


def test_a_bad_row_of_a_csv_in_a_later_part_names_its_line(tmp_path: Path) -> None:
    rows = [f"q{at},d,0.5" for at in range(200)]
    rows[150] = "q150,d,many"
    path = tmp_path / "run.csv"
    path.write_text("query_id,item_id,score\n" + "\n".join(rows))

    with limited(part_bytes=100, head_bytes=64), pytest.raises(DataError) as caught:
        rk.evaluate({"q1": {"d"}}, path, ["AP"])

    assert str(caught.value) == f"{path}:152: score is 'many', not a number"


@pytest.mark.parametrize("part", [64, 300, 1 << 24])
@pytest.mark.parametrize("ties", ["average", "best", "worst"])
def test_ties_in_parts_equal_those_of_the_dict(
    part: int, ties: str, tmp_path: Path
) -> None:
    qrels, run = made_run()
    path = written_run(tmp_path / "some.run", run, "interleaved")

    with limited(part_bytes=part):
        ev = rk.evaluate(qrels, path, ["nDCG@5", "AP", "RR"], ties=ties)

    assert ev.mean == rk.evaluate(qrels, run, ["nDCG@5", "AP", "RR"], ties=ties).mean


@pytest.mark.parametrize("form", ["polars", "pandas", "csv", "parquet"])
def test_an_interleaved_frame_equals_the_dict(form: str, tmp_path: Path) -> None:
    qrels, run = made_run()
    frame = pl.DataFrame(columns_of(run, "score")).sample(
        fraction=1, shuffle=True, seed=5
    )
    data: Any = frame
    if form == "pandas":
        data = frame.to_pandas()
    elif form != "polars":
        data = tmp_path / f"run.{form}"
        frame.write_csv(data) if form == "csv" else frame.write_parquet(data)

    ev = rk.evaluate(qrels, data, METRICS)

    assert ev.mean == rk.evaluate(qrels, run, METRICS).mean


@pytest.mark.parametrize("part", [64, 300, 1 << 24])
def test_judgements_in_parts_equal_the_dict(part: int, tmp_path: Path) -> None:
    qrels, run = made_run()
    lines = [f"{q} 0 {item} {grade}" for q, item, grade in rows_of(qrels)]
    path = tmp_path / "qrels.txt"
    path.write_text("# first\n" + "\n\n".join(lines))

    with limited(part_bytes=part):
        ev = rk.evaluate(path, run, METRICS)

    assert ev.mean == rk.evaluate(qrels, run, METRICS).mean


@pytest.mark.parametrize("part", [40, 64, 300, 1000, 1 << 24])
@pytest.mark.parametrize("where", ["same", "next", "far", "scattered"])
@pytest.mark.parametrize("ending", ["\n", "\n\n"], ids=["plain", "blank-lines"])
def test_duplicates_across_parts_name_their_lines(
    part: int, where: str, ending: str, tmp_path: Path
) -> None:
    rows = [(f"q{number}", f"d{place}") for number in range(8) for place in range(20)]
    first = rows.index(("q3", "d4"))
    again = {"same": 1, "next": 3, "far": 15, "scattered": 70}[where] + first
    rows.insert(again, ("q3", "d4"))
    lines = [f"{q} Q0 {item} 1 {-at} t" for at, (q, item) in enumerate(rows)]
    path = tmp_path / "some.run"
    path.write_text(ending.join(lines) + "\n")

    with limited(part_bytes=part), pytest.raises(DuplicateItemError) as caught:
        rk.evaluate({"q3": {"d4"}}, path, ["AP"])

    text, step = str(caught.value), len(ending)
    assert "'d4'" in text
    assert "'q3'" in text
    assert str(path) in text
    wanted = rf"\b{first * step + 1} and (line )?{again * step + 1}\b"
    assert re.search(wanted, text)


@pytest.mark.parametrize("bad", ["q1 Q0 d 1 2.0 t", "q1 Q0 d"])
def test_no_thread_reads_on_after_an_error(bad: str, tmp_path: Path) -> None:
    lines = ["q1 Q0 d 1 3.0 t", bad, *(f"q{at} Q0 d 1 0.5 t" for at in range(2, 99))]
    path = tmp_path / "some.run"
    path.write_text("\n".join(lines))

    with limited(part_bytes=64), pytest.raises(DataError) as caught:
        rk.evaluate({"q1": {"d"}}, path, ["AP"])

    deadline = time.monotonic() + 10
    while _reading() and time.monotonic() < deadline:
        time.sleep(0.01)
    # The error is still held, with the frames that it came through.
    assert caught.value
    assert not _reading()


def _reading() -> list[str]:
    names = [thread.name for thread in threading.enumerate()]
    return [name for name in names if name.startswith("rankine-")]


@pytest.mark.parametrize("part", [64, 300])
def test_a_bad_line_in_a_later_part_names_its_line(part: int, tmp_path: Path) -> None:
    lines = [f"q{at} Q0 d 1 0.5 t" for at in range(200)]
    lines[150] = "q150 Q0 d 1 0.5"
    path = tmp_path / "some.run"
    path.write_text("\n".join(lines))

    with limited(part_bytes=part), pytest.raises(FormatError) as caught:
        rk.evaluate({"q1": {"d"}}, path, ["AP"])

    assert str(caught.value).startswith(f"{path}:151: expected 6 columns, got 5")


def test_a_line_longer_than_a_part_is_read(tmp_path: Path) -> None:
    long = "d" * 500
    path = tmp_path / "some.run"
    path.write_text(f"q Q0 x 1 2 t\nq Q0 {long} 1 1 t\nq Q0 y 1 0 t\n")

    with limited(part_bytes=16):
        assert rk.evaluate({"q": {long}}, path, ["RR"])["RR"] == 1 / 2
