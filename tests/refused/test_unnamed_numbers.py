"""A grade or a score under an unknown name is asked for, never left out."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pandas as pd
import polars as pl
import pyarrow.parquet as pq
import pytest

import rankine as rk
from rankine._base.limits import limited
from rankine.errors import ColumnNotFoundError, RankineError

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

pytestmark = pytest.mark.slow


def arrow(frame: pd.DataFrame) -> pl.DataFrame:
    return pl.DataFrame(
        {name: frame[name].tolist() for name in frame.columns}, strict=False
    )


def csv(frame: pd.DataFrame, path: Path) -> Path:
    frame.to_csv(path, index=False)
    return path


def ndjson(frame: pd.DataFrame, path: Path) -> Path:
    records = arrow(frame).to_dicts()
    path.write_text("\n".join(map(json.dumps, records)))
    return path


def parquet(frame: pd.DataFrame, path: Path) -> Path:
    pq.write_table(arrow(frame).to_arrow(), path)
    return path


def objects(frame: pd.DataFrame, _: Path) -> dict[str, Any]:
    rows = [{"id": row.pop("item"), **row} for row in records(frame)]
    return {"q": [{k: v for k, v in row.items() if k != "query"} for row in rows]}


def records(frame: pd.DataFrame, _: Path | None = None) -> list[dict[str, Any]]:
    return arrow(frame).to_dicts()


FORMS: dict[str, Callable[[pd.DataFrame, Path], Any]] = {
    "pandas": lambda frame, _: frame,
    "objects of pandas": lambda frame, _: frame.astype(object),
    "polars": lambda frame, _: arrow(frame),
    "records": records,
    "objects in lists": objects,
    "csv": csv,
    "ndjson": ndjson,
    "parquet": parquet,
}
VALUES: dict[str, list[Any]] = {
    "ints": [0, 1, 1],
    "floats": [0.5, 1.5, 2.5],
    "booleans": [False, True, True],
    "truths in words": ["false", "true", "true"],
    "truths as Python writes them": ["False", "True", "True"],
    "numbers in text": ["0.5", "1.5", "2.5"],
    "a gap": [0.5, None, 1.5],
    "a gap in text": ["0.5", "", "1.5"],
    "none in text": ["0.5", "NA", "1.5"],
    "a gap in truths": [False, None, True],
}


@pytest.mark.parametrize("role", ["qrels", "run"])
@pytest.mark.parametrize("values", VALUES)
@pytest.mark.parametrize("form", FORMS)
def test_numbers_under_an_unknown_name_are_asked_for(
    form: str, values: str, role: str, tmp_path: Path
) -> None:
    frame = pd.DataFrame({"query": ["q"] * 3, "item": ["a", "b", "c"]})
    frame["relevant" if role == "run" else "fitting"] = VALUES[values]
    data = FORMS[form](frame, tmp_path / "data")
    pair: tuple[Any, Any] = ({"q": ["a"]}, data)
    if role == "qrels":
        pair = data, {"q": ["a"]}
    name = "relevant" if role == "run" else "fitting"

    with pytest.raises(ColumnNotFoundError, match=f"has numbers in '{name}'"):
        rk.evaluate(*pair, "RR")
    with limited(few_json_bytes=0), pytest.raises(RankineError, match="has numbers in"):
        rk.evaluate(*pair, "RR", engine="stream")

    value = "score" if role == "run" else "grade"
    none = {f"{role}.{value}": "-"}
    assert rk.evaluate(*pair, "RR", columns=none)["RR"] == 1


@pytest.mark.parametrize("form", FORMS)
def test_words_are_no_numbers(form: str, tmp_path: Path) -> None:
    frame = pd.DataFrame(
        {
            "query": ["q"] * 3,
            "item": ["a", "b", "c"],
            "title": ["1984", "true", "Emma"],
            "empty": ["", "", ""],
        }
    )
    data = FORMS[form](frame, tmp_path / "data")

    assert rk.evaluate(data, {"q": ["a"]}, "RR")["RR"] == 1
    assert rk.evaluate({"q": ["c"]}, data, "RR")["RR"] == 1 / 3
