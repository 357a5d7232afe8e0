"""Types of columns: which are numbers or ids, and which are refused."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import pandas as pd
import polars as pl
import pytest

import rankine as rk
from rankine.errors import DataError, FormatError
from tests.refused.refusals import (
    LISTS,
    ONE_QUERY,
    TRUTH,
    files,
    frame,
    refusal,
    refused,
    some_file,
)

if TYPE_CHECKING:
    from pathlib import Path


def test_36_booleans_are_labels() -> None:
    qrels = frame(grade=[True, False])

    assert rk.evaluate(qrels, LISTS, "RR").per_query.rows() == [("q1", 0.5), ("q2", 0)]


@pytest.mark.parametrize("kind", [pl.Categorical, pl.Enum(["q1", "q2", "a", "c"])])
def test_36_categories_are_their_texts(kind: Any) -> None:
    qrels = frame(grade=[1, 1]).with_columns(pl.col("query", "item").cast(kind))

    assert rk.evaluate(qrels, LISTS, "RR")["RR"] == (1 / 2 + 1) / 2


def test_36_decimals_are_numbers() -> None:
    run = frame(score=[Decimal("1.5"), Decimal(2)])

    assert rk.evaluate(TRUTH, run, "RR")["RR"] == 1


def test_36_lists_are_rows_and_told() -> None:
    run = pl.DataFrame({"query": ["q1", "q2"], "item": [["x", "a"], ["c"]]})

    found = rk.evaluate(TRUTH, run, "RR")

    assert found["RR"] == (1 / 2 + 1) / 2
    assert "run: the lists in 'item' are read as rows, in their order" in found.notes


def test_36_lists_of_different_length_are_refused() -> None:
    run = pl.DataFrame({"query": ["q1"], "item": [["x", "a"]], "score": [[1.0]]})

    text = refused(DataError, TRUTH, run)

    assert text == "run, row 0: the lists in 'item' and 'score' differ in length"


def test_36_one_score_for_a_list_is_refused() -> None:
    run = pl.DataFrame({"query": ["q1"], "item": [["a", "x"]], "score": [1.0]})

    assert refused(DataError, TRUTH, run).startswith("run")


def test_one_score_for_a_list_is_refused() -> None:
    run = pl.DataFrame({"query": ["q"], "item": [["b", "a"]], "score": [0.1]})

    with pytest.raises(DataError, match="has only one number;"):
        rk.evaluate(ONE_QUERY, run, "RR")


@pytest.mark.parametrize(
    ("name", "values", "text"),
    [
        ("query", [dt.date(2020, 1, 1)] * 2, "query ids are of type Date"),
        ("query", [True, False], "query ids are of type Boolean"),
        ("item", [b"a", b"c"], "item ids are of type Binary"),
        ("item", [{"id": "a"}] * 2, "item ids are of type Struct"),
        ("query", [["q1"], ["q2"]], "query ids are of type List"),
        ("score", [dt.datetime(2020, 1, 1)] * 2, "column 'score' is of type Datetime"),  # noqa: DTZ001 - as pandas has them
        ("score", [dt.timedelta(1)] * 2, "column 'score' is of type Duration"),
        ("score", [[0.1], [0.3]], "column 'score' is of type List"),
    ],
)
def test_36_other_types_are_refused(name: str, values: Any, text: str) -> None:
    run = frame(score=[1.0, 2.0]).with_columns(pl.Series(name, values))

    said = refused(FormatError, TRUTH, run)

    assert said.startswith(f"run: {text}")
    assert said.endswith(("expected text or ints", "expected numbers"))


def test_36_a_type_in_a_file_is_refused(tmp_path: Path) -> None:
    qrels, _ = files(tmp_path)
    run = tmp_path / "run.parquet"
    frame(score=[{"bm25": 1.0}] * 2).write_parquet(run)

    text = refusal(FormatError, qrels, run)

    assert text.startswith(f"{run}: column 'score' is of type Struct")


def test_37_a_column_of_several_types_is_refused() -> None:
    ids = pd.DataFrame({"query": ["q1", 2], "item": ["a", "c"], "score": [1.0, 2.0]})
    scores = pd.DataFrame(
        {"query": ["q1", "q2"], "item": ["a", "c"], "score": [1, "x"]}
    )

    assert refused(DataError, TRUTH, ids) == (
        "column 'query' mixes int, str; give it one type"
    )
    assert refused(DataError, TRUTH, scores) == (
        "column 'score' mixes int, str; give it one type"
    )


def test_37_objects_that_are_all_numbers_are_numbers() -> None:
    score = pd.Series([1, 2.5], dtype=object)
    run = pd.DataFrame({"query": ["q1", "q1"], "item": ["x", "a"], "score": score})

    assert rk.evaluate(TRUTH, run, "RR").per_query["RR"].to_list() == [1, 0]


@pytest.mark.parametrize("text", ["0,5", "1 000", "1_000", "0x10", "50%", "1.5.2"])
def test_35_text_that_is_no_number_is_refused(text: str, tmp_path: Path) -> None:
    qrels, run = files(tmp_path, run=f'query,item,score\nq1,x,1\nq1,a,"{text}"\n')

    said = refusal(DataError, qrels, run)

    assert said == f"{run}:3: score is {text!r}, not a number"


# --- JSON

LINE = '{{"query": "q1", "item": {item}, "score": {score}}}\n'


def test_37_ints_and_floats_in_json_lines_are_numbers(tmp_path: Path) -> None:
    lines = LINE.format(item='"x"', score=1) + LINE.format(item='"a"', score=2.5)
    qrels, run = files(tmp_path, run=lines)

    assert rk.evaluate(qrels, run, "RR").per_query["RR"].to_list() == [1, 0]


def test_json_has_one_type_for_numbers(tmp_path: Path) -> None:
    lines = [
        '{"qid": "q", "doc_id": "a", "score": 1}',
        '{"qid": "q", "doc_id": "b", "score": 2.5}',
    ]

    found = rk.evaluate(ONE_QUERY, some_file(tmp_path, "\n".join(lines)), "RR")

    assert found["RR"] == 1 / 2


def test_37_ints_and_floats_in_lists_of_json_lines_are_numbers(tmp_path: Path) -> None:
    line = '{"query": "q1", "retrieved": ["x", "a"], "score": [1, 1.5]}\n'
    qrels, run = files(tmp_path, run=line)

    assert rk.evaluate(qrels, run, "RR").per_query["RR"].to_list() == [1, 0]


def test_37_an_int_beyond_all_floats_is_above_all(tmp_path: Path) -> None:
    lines = LINE.format(item='"x"', score=0.5)
    lines += LINE.format(item='"a"', score="1" + "0" * 400)
    qrels, run = files(tmp_path, run=lines)

    assert rk.evaluate(qrels, run, "RR").per_query["RR"].to_list() == [1, 0]


@pytest.mark.parametrize("bad", [{"item": 7}, {"score": '"high"'}])
def test_37_mixed_types_in_json_lines_name_the_line(
    bad: dict[str, Any], tmp_path: Path
) -> None:
    good = {"item": '"a"', "score": 1}
    qrels, run = files(
        tmp_path, run=LINE.format(**good) + LINE.format(**{**good, **bad})
    )

    text = refusal(DataError, qrels, run)

    assert text.startswith(f"{run}:2: ")
