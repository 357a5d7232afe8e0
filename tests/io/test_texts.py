"""Texts of queries and items: every format of tables, with and without names."""

from __future__ import annotations

import gzip
import json
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest

from rankine._io import texts
from rankine._io.texts import ITEMS, QUERIES, TextFiles
from rankine.errors import ColumnNotFoundError, DataError, NoRowsError

if TYPE_CHECKING:
    from pathlib import Path

TEXTS = {"q1": "what is it", "q2": "how long"}
FRAME = pl.DataFrame({"query_id": [*TEXTS], "text": [*TEXTS.values()]})


def csv(**options: Any) -> bytes:
    return str(FRAME.write_csv(**options)).encode()


FORMS: dict[str, bytes] = {
    "csv": csv(),
    "tsv": csv(separator="\t"),
    "without names, tsv": csv(separator="\t", include_header=False),
    "without names, csv": csv(include_header=False),
    "object": json.dumps(TEXTS).encode(),
    "records": FRAME.write_json().encode(),
    "ndjson": FRAME.write_ndjson().encode(),
    "gzip": gzip.compress(csv()),
    "marked": b"\xef\xbb\xbf" + csv(),
}


def read_texts(paths: list[Path]) -> dict[str, str]:
    """Return the texts of all ids that these tests have."""
    ids = [*TEXTS, "d", "1", "7", "a", "b", "x"]
    of_queries, of_items = TextFiles(paths).of(ids, ids)
    return of_items | of_queries


@pytest.mark.parametrize("form", FORMS)
def test_every_form_gives_the_same_texts(form: str, tmp_path: Path) -> None:
    path = tmp_path / "texts"
    path.write_bytes(FORMS[form])

    assert read_texts([path]) == TEXTS


def test_parquet_arrow_and_folders(tmp_path: Path) -> None:
    folder = tmp_path / "parts"
    folder.mkdir()
    FRAME[:1].write_parquet(folder / "a.parquet")
    FRAME[1:].write_parquet(folder / "b.parquet")
    FRAME.write_ipc(tmp_path / "texts.arrow")

    assert read_texts([folder]) == TEXTS
    assert read_texts([tmp_path / "texts.arrow"]) == TEXTS


@pytest.mark.parametrize(
    ("columns", "wanted"),
    [
        ({"_id": ["d"], "title": ["Eggs"], "text": ["boil"]}, {"d": "Eggs: boil"}),
        ({"_id": ["d"], "title": [""], "text": ["boil"]}, {"d": "boil"}),
        ({"_id": ["d"], "title": ["Eggs"], "text": [None]}, {"d": "Eggs"}),
        ({"qid": ["1"], "query": ["eggs"]}, {"1": "eggs"}),
        ({"query": ["1"], "text": ["eggs"]}, {"1": "eggs"}),
        ({"MovieID": [7], "Title": ["Heat"], "genres": ["Crime"]}, {"7": "Heat"}),
        ({"id": [1, 2], "text": ["one", None]}, {"1": "one"}),
        ({"id": ["a", "a"], "text": ["one", "one"]}, {"a": "one"}),
    ],
)
def test_columns_are_known_by_their_names(
    columns: dict[str, Any], wanted: dict[str, str], tmp_path: Path
) -> None:
    path = tmp_path / "texts.ndjson"
    pl.DataFrame(columns).write_ndjson(path)

    assert read_texts([path]) == wanted


def test_the_first_file_has_the_text_of_an_id(tmp_path: Path) -> None:
    for name, text in (("a", "one"), ("b", "two")):
        (tmp_path / name).write_text(f"id,text\nx,{text}\n{name},{text}\n")

    found = read_texts([tmp_path / "a", tmp_path / "b"])

    assert found == {"x": "one", "a": "one", "b": "two"}


@pytest.mark.parametrize(
    ("content", "error", "says"),
    [
        ("id,text\na,one\na,two\n", DataError, "'a' has two different texts"),
        ("a,b,c\n1,2,3\n", ColumnNotFoundError, "has no columns of ids and texts"),
        ('{"a": 1, "b": [2]}', ColumnNotFoundError, "has no columns of ids"),
        ("", NoRowsError, "empty"),
    ],
)
def test_other_files_are_refused(
    content: str, error: type[Exception], says: str, tmp_path: Path
) -> None:
    path = tmp_path / "texts"
    path.write_text(content)

    with pytest.raises(error, match=says):
        read_texts([path])


@pytest.mark.parametrize(
    ("column", "whose"),
    [
        *((name, [QUERIES]) for name in ("query_id", "qid", "topic", "user_id")),
        *((name, [ITEMS]) for name in ("item_id", "doc_id", "DocNo", "pid")),
        *((name, [QUERIES, ITEMS]) for name in ("id", "_id")),
    ],
)
def test_the_column_of_ids_says_whose_they_are(
    column: str, whose: list[str], tmp_path: Path
) -> None:
    path = tmp_path / "texts.csv"
    pl.DataFrame({column: ["1"], "text": ["one"]}).write_csv(path)

    for told, wanted in ((None, whose), (QUERIES, [QUERIES]), (ITEMS, [ITEMS])):
        found = TextFiles([path], told).of(["1"], ["1"])
        assert found == tuple(
            {"1": "one"} if kind in wanted else {} for kind in (QUERIES, ITEMS)
        )


def test_of_two_columns_of_ids_the_one_that_was_asked_for_counts(
    tmp_path: Path,
) -> None:
    path = tmp_path / "texts.csv"
    path.write_text("query_id,doc_id,text\nq,d,one\n")
    ids = (["q", "d"], ["q", "d"])

    assert TextFiles([path], QUERIES).of(*ids) == ({"q": "one"}, {})
    assert TextFiles([path], ITEMS).of(*ids) == ({}, {"d": "one"})


@pytest.mark.parametrize("form", ["without names, csv", "object"])
def test_without_a_column_of_ids_they_are_of_both_unless_told(
    form: str, tmp_path: Path
) -> None:
    path = tmp_path / "texts"
    path.write_bytes(FORMS[form])

    assert TextFiles([path]).of(["q1"], ["q1"]) == ({"q1": TEXTS["q1"]},) * 2
    assert TextFiles([path], ITEMS).of(["q1"], ["q1"]) == ({}, {"q1": TEXTS["q1"]})


@pytest.mark.parametrize("form", FORMS)
def test_only_what_is_asked_for_is_held(form: str, tmp_path: Path) -> None:
    path = tmp_path / "texts"
    path.write_bytes(FORMS[form])
    first = next(iter(TEXTS))

    found = TextFiles([path]).of([first, "not there"], [])
    assert found == ({first: TEXTS[first]}, {})


def test_an_id_with_two_texts_is_refused_wherever_they_are(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(texts, "_ROWS", 1)
    path = tmp_path / "texts.parquet"
    pl.DataFrame({"id": [*"abca"], "text": ["1", "2", "3", "4"]}).write_parquet(path)

    with pytest.raises(DataError, match="'a' has two different texts"):
        TextFiles([path]).of(["a"], [])
    assert TextFiles([path]).of([], ["b"]) == ({}, {"b": "2"})


PEAK = """
import resource, sys
from rankine._io import texts
from rankine._io.texts import TextFiles
found = TextFiles([sys.argv[1]]).of(["7", "40000"], [])[0]
assert len(found) == 2, found
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024)
"""


@pytest.mark.slow
@pytest.mark.parametrize("form", ["csv", "parquet"])
def test_a_large_file_is_not_held(form: str, tmp_path: Path) -> None:
    n, letters = 60_000, 4000  # 240 MB
    few, many = tmp_path / f"few.{form}", tmp_path / f"many.{form}"
    text = pl.col("id").cast(pl.String).str.pad_end(letters, "x").alias("text")
    frame = pl.DataFrame({"id": range(n)}).with_columns(text)
    for path, rows in (
        (few, frame.filter(pl.col("id").is_in([7, 40_000]))),
        (many, frame),
    ):
        if form == "csv":
            rows.write_csv(path)
        else:
            rows.write_parquet(path, compression="uncompressed", row_group_size=2000)
    peaks = [
        int(
            subprocess.run(
                [sys.executable, "-c", PEAK, path], check=True, capture_output=True
            ).stdout
        )
        for path in (few, many)
    ]

    assert many.stat().st_size > 200e6
    # Some rows at a time: far less than the file, let alone all of it in Python.
    assert peaks[1] - peaks[0] < 150


def test_ids_of_two_types_are_refused_though_they_are_far_apart(tmp_path: Path) -> None:
    path = tmp_path / "texts.jsonl"
    numbered = [{"id": number, "text": "t"} for number in range(texts._ROWS + 1)]  # noqa: SLF001
    rows = [*numbered, {"id": "x", "text": "t"}]
    path.write_text("\n".join(map(json.dumps, rows)))

    with pytest.raises(DataError, match=r"texts.jsonl: .* mixes int and other types"):
        read_texts([path])
