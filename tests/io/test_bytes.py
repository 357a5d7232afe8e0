"""Bytes: unpacked by what they hold, in parts of any size, from pipes and folders."""

from __future__ import annotations

import gzip
import os
import socket
import subprocess
import sys
import threading
from typing import TYPE_CHECKING

import pytest

import rankine as rk
from rankine._base.limits import limited
from rankine._io.bytes import Opened
from rankine._io.options import Reading
from rankine.errors import FormatError
from tests.io.packed import PACK, QRELS, TEXT, written

if TYPE_CHECKING:
    from pathlib import Path


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
        FormatError, match=r"part-3 has neither and .*part-2 has scores"
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
