"""A run in several files: errors and notes name the file, and the folder."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import polars as pl
import pytest

import rankine as rk
from rankine.errors import DataError, DuplicateItemError
from tests.evaluate.streams import small

if TYPE_CHECKING:
    from pathlib import Path

QRELS = {"q0": {"a": 1}, "q1": {"a": 1}, "q2": {"a": 1}}
ENGINES = ["memory", "stream"]


def files(folder: Path, *texts: str) -> Path:
    """Write the files of a run; one list goes on from the first to the second."""
    for number, text in enumerate(texts):
        lines = [
            "{} Q0 {} 1 {} x".format(*row.split()) for row in text.split(";") if row
        ]
        (folder / f"{number}.trec").write_text("\n".join(lines) + "\n")
    return folder


@pytest.mark.parametrize("engine", ENGINES)
def test_a_score_that_is_no_number(tmp_path: Path, engine: str) -> None:
    folder = files(tmp_path, "q0 a 3;q1 a 3;q1 b 2", "q1 c nan;q2 a 1")

    with small(part=1 << 20), pytest.raises(DataError) as error:
        rk.evaluate(QRELS, folder, "RR", engine=engine)
    assert f"{folder}/1.trec:1" in str(error.value)


def test_a_score_that_is_no_number_where_lists_are_looked_at_too(
    tmp_path: Path,
) -> None:
    folder = files(tmp_path, "q0 a 3;q1 a 3;q1 b 2", "q1 c nan;q2 a 1")

    with pytest.raises(DataError) as error:
        rk.evaluate(QRELS, folder, ["RR", "Coverage@2"], catalog=9)
    assert f"{folder}/1.trec:1" in str(error.value)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(
    ("texts", "places"),
    [
        (("q0 a 3;q1 a 3;q1 b 2", "q1 c 1;q1 b 0;q2 a 1"), "{0}:3 and {1}:2"),
        (("q0 a 3;q1 a 3", "q1 b 2", "q1 c 1;q1 b 0"), "{1}:1 and {2}:2"),
    ],
)
def test_an_item_of_two_files(
    tmp_path: Path, engine: str, texts: tuple[str, ...], places: str
) -> None:
    folder = files(tmp_path, *texts)
    paths = sorted(folder.iterdir())

    with small(part=1 << 20), pytest.raises(DuplicateItemError) as error:
        rk.evaluate(QRELS, folder, "RR", engine=engine)
    assert f"({places.format(*paths)})" in str(error.value)


@pytest.mark.parametrize("engine", ENGINES)
def test_an_item_twice_in_the_second_file(tmp_path: Path, engine: str) -> None:
    folder = files(tmp_path, "q0 a 3;q1 a 3", "q1 b 2;q2 a 3;q2 b 2;q2 a 1")

    with small(part=1 << 20), pytest.raises(DuplicateItemError) as error:
        rk.evaluate(QRELS, folder, "RR", engine=engine)
    assert f"in {folder}/1.trec (line 2 and line 4)" in str(error.value)


@pytest.mark.parametrize("engine", ENGINES)
def test_ids_of_two_types_are_those_of_the_folder(tmp_path: Path, engine: str) -> None:
    for number in range(3):
        ids: Any = {"query": [number] * 2, "item": [1, 2], "score": [2.0, 1.0]}
        pl.DataFrame(ids).write_parquet(tmp_path / f"{number}.parquet")
    with small():
        ev = rk.evaluate({"0": {"1": 1}, "2": {"2": 1}}, tmp_path, "RR", engine=engine)

    # The first of q0, none of 1, which is not judged, and the second of 2.
    assert ev["RR"] == (1 + 1 / 2) / 2
    said = f"text in qrels and ints in {tmp_path}; compared as text"
    assert f"query ids are {said}" in ev.notes
    assert f"item ids are {said}" in ev.notes
