"""Bad input, items 14 to 23 of the catalogue: bytes, packing, tables as text."""

from __future__ import annotations

import gzip
import io
import zipfile
from typing import TYPE_CHECKING

import polars as pl
import pytest

import rankine as rk
from rankine.errors import DataError, FormatError
from tests.refusals import RR, RUN, command, files, refusal, told

if TYPE_CHECKING:
    from pathlib import Path

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


def test_14_an_encoding_that_is_named_leaves_ids_whole(tmp_path: Path) -> None:
    qrels, run = files(tmp_path, run="query,item,score\nq1,caf\xe9,1\n".encode(LATIN))
    read = rk.read_run(run, encoding=LATIN)

    code, _, _ = command("evaluate", qrels, run, "--encoding", LATIN)

    assert code == 0
    assert rk.evaluate({"q1": {"caf\xe9": 1}}, read, "RR")["RR"] == 1
    assert told(2, qrels, run, "--encoding", "latin-x").startswith("unknown encoding")


def test_14_json_lines_that_are_no_utf8_name_the_line(tmp_path: Path) -> None:
    line = '{"query": "q1", "item": "%s", "score": 1}\n'
    content = (line % "a" + line % "caf\xe9").encode(LATIN)
    qrels, run = files(tmp_path, run=content)

    assert refusal(FormatError, qrels, run).startswith(f"{run}:2: not UTF-8 text")


def test_15_control_characters_in_ids_are_refused_in_trec_text(tmp_path: Path) -> None:
    qrels, run = files(tmp_path, run=RUN + "q1 Q0 d\x00e 4 0.1 t\n")

    text = refusal(DataError, qrels, run)
    lenient = rk.evaluate(qrels, run, ["RR", "NumRet"], lenient=True)

    assert text == (
        f"{run}:6: has the control character \\x00, which no id should have; "
        "lenient=True or --lenient takes it as it is"
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


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (gzip.compress(RUN.encode())[:-12], "(gzip) ends too early"),
        (gzip.compress(RUN.encode()) + b"more", "compressed data (gzip)"),
        (gzip.compress(gzip.compress(RUN.encode())), "is packed twice (gzip, gzip)"),
        (b"\x04\x22\x4d\x18" + bytes(30), "is a lz4 archive, which is not read"),
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


def test_18_no_more_is_unpacked_than_allowed(tmp_path: Path) -> None:
    bomb = gzip.compress(b"q1 Q0 a 1 0.9 t\n" * 100_000)
    qrels, run = files(tmp_path, run=bomb)

    text = told(3, qrels, run, "--max-bytes", "64k")

    assert text == (
        f"{run}: has more than 65,536 bytes, unpacked; allow more with max_bytes= or "
        "--max-bytes"
    )


def test_19_a_line_has_a_longest_length(tmp_path: Path) -> None:
    qrels, run = files(tmp_path, run=b"q1 Q0 a 1 1 " + b"t" * ((1 << 25) + 8192))

    text = refusal(FormatError, qrels, run)

    assert text == f"{run}: has a line of more than 16,777,216 bytes"


@pytest.mark.parametrize("content", ["row", "comments"])
def test_19_a_long_beginning_is_read(content: str, tmp_path: Path) -> None:
    table = "query,item,score,text\nq1,x,2,?\nq1,a,1,?\n"
    long = {
        "row": table.replace("?", "?" * 70_000, 1),
        "comments": ("#" * 79 + "\n") * 1000 + table,
    }
    _, run = files(tmp_path, run=long[content])

    assert rk.evaluate({"q1": {"a": 1}}, run, "RR")["RR"] == 1 / 2


def test_20_a_table_with_lines_in_quotes_counts_lines(tmp_path: Path) -> None:
    table = 'query,item,title,score\nq1,"a","one\ntwo",3\nq1,b,"x",2\nq2,c,"y",?\n'
    qrels, run = files(tmp_path, run=table)

    text = refusal(DataError, qrels, run)

    assert text.startswith(f"{run}:5: score is '?', not a number")


@pytest.mark.parametrize(("row", "n"), [("q1,b", 2), ("q1,b,2,9", 4)])
def test_20_a_ragged_row_names_its_line(row: str, n: int, tmp_path: Path) -> None:
    qrels, run = files(tmp_path, run=f"query,item,score\nq1,a,3\n{row}\nq2,c,1\n")

    text = refusal(FormatError, qrels, run)

    assert text == f"{run}:3: expected 3 columns, got {n}"


@pytest.mark.parametrize(
    "row",
    [
        pytest.param('q1,"b",2,9', id="ragged"),
        pytest.param('q1,"b,2', id="unclosed"),
        pytest.param(
            'q1,12" vinyl,2',
            id="inches",
            marks=pytest.mark.skipif(
                pl.__version__ < "2", reason="read as it is by polars 1"
            ),
        ),
    ],
)
def test_20_a_bad_row_with_quotes_names_its_line(row: str, tmp_path: Path) -> None:
    qrels, run = files(tmp_path, run=f"query,item,score\nq1,a,3\n{row}\nq2,c,1\n")

    text = refusal(FormatError, qrels, run)

    assert text.startswith(f"{run}:3: ")
    assert "schema" not in text.casefold()


@pytest.mark.parametrize("mark", [",", ";", "\t", "|"])
def test_20_the_separator_is_found(mark: str, tmp_path: Path) -> None:
    rows = "query,item,score\nq1,x,2\nq1,a,1\n".replace(",", mark)
    _, run = files(tmp_path, run=rows)

    assert rk.evaluate({"q1": {"a": 1}}, run, "RR")["RR"] == 1 / 2


@pytest.mark.parametrize("other", ["-", "/dev/stdin"])
def test_21_standard_input_twice_is_bad_usage(other: str) -> None:
    text = told(2, "-", other)

    assert text.startswith("standard input (-) is named more than once")


def test_22_swapped_arguments_are_told(tmp_path: Path) -> None:
    qrels, run = files(tmp_path)

    assert refusal(FormatError, run, qrels) == (
        f"{run}:1: expected 4 columns, got 6; this looks like a run: are the arguments "
        "swapped? ('q1 Q0 a 1 0.9 t')"
    )
    assert refusal(FormatError, qrels, qrels) == (
        f"{qrels}:1: expected 6 columns, got 4; these look like judgements: are the "
        "arguments swapped? ('q1 0 a 1')"
    )


def test_22_swapped_tables_are_told(tmp_path: Path) -> None:
    qrels, run = files(
        tmp_path,
        "query,item,rank,score\nq1,a,1,2\nq1,b,2,1\n",
        "query,item,relevance\nq1,a,1\nq1,b,0\n",
    )

    assert "swapped" in refusal(FormatError, qrels, run)


def test_23_a_file_that_grows_while_it_is_read_is_refused(tmp_path: Path) -> None:
    qrels, run = files(tmp_path)
    source = rk.read_run(run)
    with run.open("a") as file:
        file.write("q2 Q0 d 3 0.3 t\n")

    with pytest.raises(FormatError, match="has changed while it was read"):
        rk.evaluate(qrels, source, "RR")
