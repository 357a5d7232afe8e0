"""Bytes: unpacked by what they hold, bounded, and never used in part."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import os
import socket
import subprocess
import sys
import tarfile
import threading
import zipfile
from typing import TYPE_CHECKING

import pytest
import zstandard

import rankine as rk
from rankine._io import bytes as opened
from rankine._io.bytes import Opened
from rankine._io.options import Reading
from rankine.errors import DataError, FormatError, ParameterError

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

TEXT = "".join(f"q{n} Q0 d{n} 1 0.5 t\n" for n in range(2000))
QRELS = {f"q{n}": {f"d{n}": 1} for n in range(2000)}
PACK: dict[str, Callable[[bytes], bytes]] = {
    "gzip": gzip.compress,
    "bzip2": bz2.compress,
    "xz": lzma.compress,
    "zstandard": zstandard.compress,
}


def written(folder: Path, data: bytes, name: str = "some.run") -> Path:
    path = folder / name
    path.write_bytes(data)
    return path


def zipped(*members: tuple[str, str]) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in members:
            archive.writestr(name, text)
    return out.getvalue()


@pytest.mark.parametrize("packing", PACK)
@pytest.mark.parametrize("name", ["some.run", "some.gz", "some.zip"])
def test_16_packed_files_are_told_by_their_content(
    packing: str, name: str, tmp_path: Path
) -> None:
    path = written(tmp_path, PACK[packing](TEXT.encode()), name)

    assert Opened(path, Reading()).packing == packing
    assert rk.evaluate(QRELS, path, "RR")["RR"] == 1


@pytest.mark.parametrize("packing", PACK)
@pytest.mark.parametrize("share", [0.3, 0.9])
def test_16_truncated_data_is_refused(
    packing: str, share: float, tmp_path: Path
) -> None:
    data = PACK[packing](os.urandom(200_000).hex().encode())
    path = written(tmp_path, data[: int(share * len(data))])

    with pytest.raises(FormatError, match=r"compressed data .* (early|damaged)"):
        Opened(path, Reading()).read()


@pytest.mark.parametrize("packing", ["gzip", "bzip2", "xz"])
def test_16_damaged_data_is_refused(packing: str, tmp_path: Path) -> None:
    data = bytearray(PACK[packing](TEXT.encode()))
    data[len(data) // 2] ^= 0xFF
    path = written(tmp_path, bytes(data))

    with pytest.raises(FormatError, match="compressed data"):
        rk.evaluate(QRELS, path, "RR")


def test_17_containers_are_told(tmp_path: Path) -> None:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as archive:
        info = tarfile.TarInfo("inside.run")
        info.size = len(TEXT)
        archive.addfile(info, io.BytesIO(TEXT.encode()))
    plain = written(tmp_path, out.getvalue(), "a.tar")
    packed = written(tmp_path, gzip.compress(out.getvalue()), "a.tgz")

    for path in (plain, packed):
        with pytest.raises(FormatError, match="is a tar archive"):
            rk.evaluate(QRELS, path, "RR")
    twice = written(tmp_path, gzip.compress(bz2.compress(TEXT.encode())))
    with pytest.raises(FormatError, match=r"packed twice \(gzip, bzip2\)"):
        rk.evaluate(QRELS, twice, "RR")
    seven = written(tmp_path, b"7z\xbc\xaf\x27\x1c" + bytes(50))
    with pytest.raises(FormatError, match="is a 7-Zip archive"):
        rk.evaluate(QRELS, seven, "RR")


def test_17_a_zip_archive_has_one_file(tmp_path: Path) -> None:
    one = written(tmp_path, zipped(("inside", TEXT)), "one")
    two = written(tmp_path, zipped(("a", TEXT), ("b", TEXT)), "two")

    assert rk.evaluate(QRELS, one, "RR")["RR"] == 1
    with pytest.raises(FormatError, match=r"archive of 2 files \('a', 'b'\)"):
        rk.evaluate(QRELS, two, "RR")
    empty = written(tmp_path, zipped(), "empty")
    with pytest.raises(FormatError, match="archive of 0 files"):
        rk.evaluate(QRELS, empty, "RR")
    broken = written(tmp_path, zipped(("inside", TEXT))[:-30], "broken")
    with pytest.raises(FormatError, match="zip"):
        rk.evaluate(QRELS, broken, "RR")


@pytest.mark.parametrize("packing", [*PACK, "none"])
def test_18_no_more_than_allowed_is_unpacked(packing: str, tmp_path: Path) -> None:
    bomb = b"\n" * 50_000_000
    path = written(tmp_path, PACK.get(packing, bytes)(bomb))
    how = Reading(max_bytes=1_000_000)

    with pytest.raises(FormatError, match="more than 1,000,000 bytes, unpacked"):
        Opened(path, how).read()
    with pytest.raises(FormatError, match="more than 1,000,000 bytes, unpacked"):
        list(Opened(path, how).lines(1 << 16))


def test_19_a_line_is_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(opened, "_LONGEST", 100_000)
    monkeypatch.setattr("rankine._io.readahead._PART", 1000)
    data = b"q Q0 a 1 1 t\n" + b"x" * 300_000
    for path in (
        written(tmp_path, data, "plain"),
        written(tmp_path, gzip.compress(data), "packed"),
    ):
        with pytest.raises(FormatError, match="a line of more than 100,000 bytes"):
            rk.evaluate({"q": {"a": 1}}, path, "RR")


def test_21_standard_input_is_read_once(tmp_path: Path) -> None:
    qrels = written(tmp_path, b"q1 0 d1 1\n", "qrels")

    def run(*arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "rankine", "evaluate", *arguments, "--csv"],
            input=TEXT,
            capture_output=True,
            text=True,
            check=False,
        )

    assert "standard input,all,RR,1.0" in run(str(qrels), "-", "-m", "RR").stdout
    twice = run("-", "-")
    assert twice.returncode == 2
    assert "only once" in twice.stderr


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no pipes with names")
def test_21_a_pipe_is_read(tmp_path: Path) -> None:
    path = tmp_path / "pipe"
    os.mkfifo(path)
    writer = threading.Thread(target=lambda: path.write_text(TEXT))
    writer.start()

    found = rk.evaluate(QRELS, path, "RR")

    writer.join()
    assert found["RR"] == 1


@pytest.mark.parametrize("change", [b"q9 Q0 d9 1 0.5 t\n", b""])
def test_23_a_file_that_changes_is_refused(change: bytes, tmp_path: Path) -> None:
    path = written(tmp_path, TEXT.encode())
    source = rk.read_run(path)
    path.write_bytes(
        TEXT.encode() + change if change else TEXT[: TEXT.index("q50 ")].encode()
    )

    with pytest.raises(FormatError, match="has changed while it was read"):
        rk.evaluate(QRELS, source, "RR")


def test_14_other_encodings_are_read_when_named(tmp_path: Path) -> None:
    path = written(tmp_path, "q1 Q0 caf\u00e9 1 0.5 t\n".encode("latin-1"))
    qrels = {"q1": {"caf\u00e9": 1}}

    with pytest.raises(
        FormatError, match=r"not UTF-8 text at byte 3 of an id.*--encod"
    ):
        rk.evaluate(qrels, path, "RR")
    found = rk.evaluate(qrels, rk.read_run(path, encoding="latin-1"), "RR")
    assert found["RR"] == 1
    with pytest.raises(ParameterError, match="unknown encoding 'klingon'"):
        rk.read_run(path, encoding="klingon")
    with pytest.raises(FormatError, match="is not ascii text"):
        rk.read_run(path, encoding="ascii")


def test_parts_of_other_sizes_give_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    paths = [written(tmp_path, TEXT.encode(), "plain")]
    paths += [written(tmp_path, PACK[p](TEXT.encode()), p) for p in PACK]

    for size in (1, 50, 999, 1 << 24):
        monkeypatch.setattr("rankine._io.readahead._PART", size)
        for path in paths[: 1 if size == 1 else None]:
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


def test_empty_files_are_refused(tmp_path: Path) -> None:
    for data in (b"", gzip.compress(b"")):
        with pytest.raises(DataError, match="is empty"):
            rk.evaluate(QRELS, written(tmp_path, data), "RR")


def test_tests_notice_a_connection() -> None:
    with pytest.raises(pytest.fail.Exception, match="connects to a network"):
        socket.create_connection(("127.0.0.1", 9))


@pytest.mark.parametrize(
    "address",
    ["http://127.0.0.1:9/a.run", "https://a.invalid/a.csv", "s3://a/b.parquet",
     "hf://datasets/a/b.parquet", "file:///a.run"],
)  # fmt: skip
def test_an_address_is_refused(address: str) -> None:
    with pytest.raises(FormatError, match="is an address; files are read from disk"):
        rk.read_run(address)
