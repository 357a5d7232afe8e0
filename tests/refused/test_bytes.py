"""Bytes that are no text: encodings, control characters, lines without an end."""

from __future__ import annotations

import gzip
from typing import TYPE_CHECKING, Any

import pytest

import rankine as rk
from rankine import errors
from rankine._base.limits import limited
from rankine.errors import DataError, FormatError, ParameterError
from tests.io.packed import written
from tests.refused.refusals import (
    LINE,
    RR,
    RUN,
    command,
    files,
    refusal,
    refused,
    some_file,
    told,
)

if TYPE_CHECKING:
    from pathlib import Path

    from tests.refused.rows import Write


# --- encodings

LATIN = "latin-1"


@pytest.mark.parametrize(
    ("content", "where"),
    [
        ("q1 Q0 a 1 1 t\nq1 Q0 caf\xe9 2 0.5 t\n", "2: not UTF-8 text at byte 3"),
        ("query,item,score\nq1,caf\xe9,1\n", "2: not UTF-8 text at byte 6"),
        ("query,item,title,score\nq1,a,\xe9,1\n", "2: not UTF-8 text at byte 5"),
    ],
    ids=["trec", "csv", "not-read"],
)
def test_14_bytes_that_are_no_utf8_are_refused_with_their_place(
    content: str, where: str, tmp_path: Path
) -> None:
    qrels, run = files(tmp_path, run=content.encode(LATIN))

    text = refusal(FormatError, qrels, run)

    assert text.startswith(f"{run}:{where}")
    assert text.endswith("encoding= or --encoding, such as latin-1")


def test_bytes_that_are_no_utf8_name_the_line(write: Write) -> None:
    path = write("some.run", b"q Q0 a 1 0.5 t\nq Q0 caf\xe9 2 0.4 t\n")

    text = refused(errors.FormatError, {"q": {"a"}}, path)

    assert text.startswith(f"{path}:2: ")
    assert "UTF-8" in text


def test_bytes_that_are_no_utf8_in_csv_name_the_line(write: Write) -> None:
    path = write("some.csv", b"query,item,score\nq,a,1\nq,caf\xe9,2\n")

    text = refused(errors.FormatError, {"q": {"a"}}, path)

    assert f"{path}:3" in text
    assert "UTF-8" in text


def test_14_json_lines_that_are_no_utf8_name_the_line(tmp_path: Path) -> None:
    line = '{"query": "q1", "item": "%s", "score": 1}\n'
    content = (line % "a" + line % "caf\xe9").encode(LATIN)
    qrels, run = files(tmp_path, run=content)

    assert refusal(FormatError, qrels, run).startswith(f"{run}:2: not UTF-8 text")


def test_14_an_encoding_that_is_named_leaves_ids_whole(tmp_path: Path) -> None:
    qrels, run = files(tmp_path, run="query,item,score\nq1,caf\xe9,1\n".encode(LATIN))
    read = rk.read_run(run, encoding=LATIN)

    code, _, _ = command("evaluate", qrels, run, "--encoding", LATIN)

    assert code == 0
    assert rk.evaluate({"q1": {"caf\xe9": 1}}, read, "RR")["RR"] == 1
    assert told(2, qrels, run, "--encoding", "latin-x").startswith("unknown encoding")


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


@pytest.mark.parametrize("encoding", ["base64", "hex", "rot13", "zlib", "quopri", 5])
def test_what_is_no_encoding_of_text_is_refused(encoding: Any, tmp_path: Path) -> None:
    with pytest.raises(ParameterError, match="encoding"):
        rk.read_run(some_file(tmp_path, LINE), encoding=encoding)


def test_05_utf16_is_read(write: Write) -> None:
    path = write("some.run", "q Q0 a 1 0.5 t\n".encode("utf-16"))

    assert rk.evaluate({"q": {"a"}}, path, "RR")["RR"] == 1


# --- control characters


def test_15_control_characters_in_ids_are_refused_in_trec_text(tmp_path: Path) -> None:
    qrels, run = files(tmp_path, run=RUN + "q1 Q0 d\x00e 4 0.1 t\n")

    text = refusal(DataError, qrels, run)
    lenient = rk.evaluate(qrels, run, ["RR", "NumRet"], lenient=True)

    assert text == (
        f"{run}:6: has the control character \\x00, which should not be in an id; "
        "lenient=True or --lenient keeps it as it is"
    )
    assert lenient.mean == {"RR": RR, "NumRet": 6}


def test_15_control_characters_in_a_table_are_data_and_shown_by_code(
    tmp_path: Path,
) -> None:
    qrels, run = files(tmp_path, "query,item,grade\nq\x1b[31m,a,1\nq1,a,1\n")

    code, out, _ = command("evaluate", qrels, run, "-q")

    assert code == 0
    assert "\x1b" not in out
    assert rk.evaluate(qrels, run, "RR").queries == ["q\x1b[31m", "q1"]


# --- long lines


@pytest.mark.slow
def test_19_a_line_has_a_longest_length(tmp_path: Path) -> None:
    qrels, run = files(tmp_path, run=b"q1 Q0 a 1 1 " + b"t" * ((1 << 25) + 8192))

    text = refusal(FormatError, qrels, run)

    assert text == f"{run}: has a line longer than 16,777,216 bytes"


def test_19_a_line_is_bounded(tmp_path: Path) -> None:
    data = b"q Q0 a 1 1 t\n" + b"x" * 300_000
    for path in (
        written(tmp_path, data, "plain"),
        written(tmp_path, gzip.compress(data), "packed"),
    ):
        with (
            limited(line_bytes=100_000, part_bytes=1000),
            pytest.raises(FormatError, match="a line longer than 100,000 bytes"),
        ):
            rk.evaluate({"q": {"a": 1}}, path, "RR")


@pytest.mark.parametrize("content", ["row", "comments"])
def test_19_a_long_beginning_is_read(content: str, tmp_path: Path) -> None:
    table = "query,item,score,text\nq1,x,2,?\nq1,a,1,?\n"
    long = {
        "row": table.replace("?", "?" * 70_000, 1),
        "comments": ("#" * 79 + "\n") * 1000 + table,
    }
    _, run = files(tmp_path, run=long[content])

    assert rk.evaluate({"q1": {"a": 1}}, run, "RR")["RR"] == 1 / 2
