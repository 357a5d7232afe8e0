"""Findings in bytes: packed files, Parquet and JSON."""

from __future__ import annotations

import bz2
import gzip
import lzma

import polars as pl
import pyarrow.parquet as pq
import pytest

import rankine as rk
from rankine.errors import FormatError
from tests.fuzz import judge
from tests.fuzz.edits import zipped
from tests.fuzz.findings import (
    CORPUS,
    LISTS,
    TRUTH,
    allowed,
    case,
    ended_well,
    shell,
    value,
)


@case("A5")
def damaged_second_stream() -> None:
    for pack in (bz2.compress, lzma.compress):
        second = bytearray(pack(b"q Q0 a 2 2 t\n"))
        second[0] ^= 1
        run = judge.written(pack(b"q Q0 x 1 1 t\n") + bytes(second))

        assert value(TRUTH, run) in {None, 1}


@case("B9")
def damaged_zip() -> None:
    path = judge.written((CORPUS / "seeks-before-its-start.zip").read_bytes())

    allowed(lambda: rk.evaluate(TRUTH, path, "RR"))


@case("B22")
def zip_with_an_empty_name() -> None:
    content = zipped(b"q Q0 a 1 1 t\n").replace(b"inside.txt", b"\0nside.txt")

    allowed(lambda: rk.evaluate(TRUTH, judge.written(content), "RR"))


@case("E9")
def zeros_behind_a_member() -> None:
    for pack in (bz2.compress, gzip.compress, lzma.compress):
        run = pack(b"q Q0 b 1 2 t\n") + b"\0" * 300 + pack(b"q Q0 a 2 1 t\n")

        assert value(TRUTH, judge.written(run + b"\0")) in {None, 1 / 2}


@case("A9")
def numbers_without_a_name_in_parquet() -> None:
    frame = pl.DataFrame({"query": ["q"], "item": [["a"]], "points": [[2]]})
    frame.write_parquet(judge.FOLDER / "points.parquet")

    assert value(frame, LISTS, "DCG") == value(
        judge.FOLDER / "points.parquet", LISTS, "DCG"
    )


@case("B0")
def damaged_parquet() -> None:
    path = CORPUS / "aborts.parquet"
    qrels = judge.written(b"q 0 a 1\n")

    assert ended_well(shell("evaluate", str(qrels), str(path)))


@case("B0")
def parquet_with_a_long_text_in_its_headers() -> None:
    frame = pl.DataFrame({"query": ["q"], "item": ["a" * 5000], "score": [1.0]})
    path = judge.FOLDER / "long.parquet"
    pq.write_table(frame.to_arrow(), path)

    assert value({"q": {"a" * 5000: 1}}, path) == 1


@case("B0")
def parquet_of_more_than_may_be_read() -> None:
    frame = pl.DataFrame({"query": ["q"] * 9999, "item": range(9999)})
    path = judge.FOLDER / "much.parquet"
    frame.with_columns(score=-pl.col("item")).write_parquet(path)

    with pytest.raises(FormatError, match="more than 10,000 bytes when unpacked"):
        rk.read_run(path, max_bytes=10_000)


@case("A3")
def grades_of_a_json_object() -> None:
    path = judge.written(b'{"q":{"a":2}}')

    found = allowed(lambda: rk.read_qrels(path, grades={2: 5}))

    if found.error is None:
        assert value(found.value, LISTS, "DCG") in {None, 5}


@case("B2")
def surrogate_in_json() -> None:
    for text in (
        rb'{"\ud800": ["a"]}',
        rb'{"q": ["\ud800"]}',
        rb'[{"query": "q", "item": "\ud800"}]',
    ):
        path = judge.written(text)
        allowed(lambda path=path: rk.evaluate(path, LISTS, "RR").per_query)  # type: ignore[misc]


@case("B3")
def deep_json() -> None:
    path = judge.written(b'{"a":' * 100_000)

    allowed(lambda: rk.evaluate(path, LISTS, "RR"))


@case("C12")
def escapes_that_are_unknown() -> None:
    path = judge.written(rb"q 0 \d 1")

    allowed(lambda: rk.read_qrels(path, encoding="unicode_escape"))


@case("E2")
def records_with_lists_of_several_types() -> None:
    text = b'{"query":"q","item":"a","x":[[1]]}\n{"query":"q","item":"b","x":["t"]}\n'

    assert value(TRUTH, judge.written(text)) == 1
