"""Texts of queries and items: every format of tables, with and without names."""

from __future__ import annotations

import gzip
import json
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest

from rankine._io.texts import read_texts
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
    ("columns", "texts"),
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
    columns: dict[str, Any], texts: dict[str, str], tmp_path: Path
) -> None:
    path = tmp_path / "texts.ndjson"
    pl.DataFrame(columns).write_ndjson(path)

    assert read_texts([path]) == texts


def test_the_first_file_has_the_text_of_an_id(tmp_path: Path) -> None:
    for name, text in (("a", "one"), ("b", "two")):
        (tmp_path / name).write_text(f"id,text\nx,{text}\n{name},{text}\n")

    texts = read_texts([tmp_path / "a", tmp_path / "b"])

    assert texts == {"x": "one", "a": "one", "b": "two"}


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
