"""Packed files that are damaged, packed twice, or too large."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import os
import tarfile
import zipfile
from typing import TYPE_CHECKING, Any

import pytest

import rankine as rk
from rankine import errors
from rankine._io.bytes import Opened
from rankine._io.sources import Reading
from rankine.errors import FormatError
from tests.io.packed import PACK, QRELS, TEXT, written, zipped
from tests.refused.refusals import (
    LINE,
    ONE_QUERY,
    RR,
    RUN,
    files,
    refusal,
    refused,
    some_file,
    told,
)

if TYPE_CHECKING:
    from pathlib import Path

    from tests.refused.rows import Write


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (gzip.compress(RUN.encode())[:-12], "(gzip) ends too early"),
        (gzip.compress(RUN.encode()) + b"more", "compressed data (gzip)"),
        (
            gzip.compress(gzip.compress(RUN.encode())),
            ("is compressed twice (gzip, gzip)"),
        ),
        (b"\x04\x22\x4d\x18" + bytes(30), "is a lz4 archive, which cannot be read"),
    ],
    ids=["16-truncated", "16-damaged", "17-twice", "17-lz4"],
)
def test_16_17_packed_data_that_cannot_be_used_is_told(
    content: bytes, words: str, tmp_path: Path
) -> None:
    qrels, run = files(tmp_path, run=content)

    text = refusal(FormatError, qrels, run)

    assert text.startswith(f"{run}: ")
    assert words in text


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


@pytest.mark.parametrize(
    ("magic", "word"),
    [(b"\x1f\x8b", "gzip"), (b"BZh", "bzip2"), (b"PK\x03\x04", "zip")],
)
def test_compressed_files_are_told(magic: bytes, word: str, write: Write) -> None:
    path = write("some.run", magic + b"....")

    text = refused(errors.FormatError, {"q": {"a"}}, path)

    assert word in text


@pytest.mark.parametrize("pack", [bz2.compress, lzma.compress], ids=["bzip2", "xz"])
def test_what_follows_packed_data_is_looked_at(pack: Any, tmp_path: Path) -> None:
    both = pack(LINE) + pack(b"q Q0 b 1 0.5 t\n")

    assert rk.evaluate(ONE_QUERY, some_file(tmp_path, both), "NumRet")["NumRet"] == 2
    with pytest.raises(FormatError, match="damaged"):
        rk.evaluate(ONE_QUERY, some_file(tmp_path, pack(LINE) + b"garbage"), "NumRet")


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
    with pytest.raises(FormatError, match=r"compressed twice \(gzip, bzip2\)"):
        rk.evaluate(QRELS, twice, "RR")
    seven = written(tmp_path, b"7z\xbc\xaf\x27\x1c" + bytes(50))
    with pytest.raises(FormatError, match="is a 7-Zip archive"):
        rk.evaluate(QRELS, seven, "RR")


def test_17_a_zip_has_one_member(tmp_path: Path) -> None:
    def zipped(*names: str) -> bytes:
        out = io.BytesIO()
        with zipfile.ZipFile(out, "w") as archive:
            for name in names:
                archive.writestr(name, RUN)
        return out.getvalue()

    qrels, run = files(tmp_path, run=zipped("a.run"))
    assert rk.evaluate(qrels, run, "RR")["RR"] == RR

    qrels, run = files(tmp_path, run=zipped("a.run", "b.run"))

    assert refusal(FormatError, qrels, run) == (
        f"{run}: is a zip archive of 2 files ('a.run', 'b.run'); expected one"
    )


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


def test_18_no_more_is_unpacked_than_allowed(tmp_path: Path) -> None:
    bomb = gzip.compress(b"q1 Q0 a 1 0.9 t\n" * 100_000)
    qrels, run = files(tmp_path, run=bomb)

    text = told(3, qrels, run, "--max-bytes", "64k")

    assert text == (
        f"{run}: has more than 65,536 bytes when unpacked; allow more with max_bytes= "
        "or --max-bytes"
    )


@pytest.mark.slow
@pytest.mark.parametrize("packing", [*PACK, "none"])
def test_18_no_more_than_allowed_is_unpacked(packing: str, tmp_path: Path) -> None:
    bomb = b"\n" * 50_000_000
    path = written(tmp_path, PACK.get(packing, bytes)(bomb))
    how = Reading(max_bytes=1_000_000)

    with pytest.raises(FormatError, match="more than 1,000,000 bytes when unpacked"):
        Opened(path, how).read()
    with pytest.raises(FormatError, match="more than 1,000,000 bytes when unpacked"):
        list(Opened(path, how).lines(1 << 16))
