"""Folders of parts: failed writes, tables with versions, parts that are not alike."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import polars as pl
import pytest

import rankine as rk
from rankine.errors import FormatError

if TYPE_CHECKING:
    from pathlib import Path

QRELS = {"u": {"a": 1}}
RUN = pl.DataFrame({"user": ["u", "u"], "item": ["a", "b"], "score": [2.0, 1.0]})


@pytest.mark.parametrize("engine", ["memory", "stream"])
@pytest.mark.parametrize(
    ("inside", "said"),
    [
        ("_delta_log/0.json", "is a table of Delta, whose files hold old versions too"),
        ("metadata/v1.metadata.json", "is a table of Iceberg, whose files hold old"),
        ("part-1.parquet", "part-1.parquet: has no bytes; its write probably failed"),
    ],
)
def test_parts_that_are_not_all_of_the_table_are_refused(
    inside: str, said: str, engine: str, tmp_path: Path
) -> None:
    RUN.write_parquet(tmp_path / "part-0.parquet")
    (tmp_path / inside).parent.mkdir(exist_ok=True)
    (tmp_path / inside).touch()

    with pytest.raises(FormatError, match=re.escape(said)):
        rk.evaluate(QRELS, tmp_path, "RR", engine=engine)


@pytest.mark.parametrize("engine", ["memory", "stream"])
@pytest.mark.parametrize("without", [0, 1])
def test_a_part_without_the_score_is_named(
    without: int, engine: str, tmp_path: Path
) -> None:
    for number in (0, 1):
        part = RUN.drop("score") if number == without else RUN
        part.write_parquet(tmp_path / f"{number}.parquet")

    with pytest.raises(FormatError) as caught:
        rk.evaluate(QRELS, tmp_path, "RR", engine=engine)

    file, other = tmp_path / f"{without}.parquet", tmp_path / f"{1 - without}.parquet"
    assert str(caught.value) == (
        f"{tmp_path}: {file} has no score column, but {other} has one; all files must "
        "be alike"
    )
