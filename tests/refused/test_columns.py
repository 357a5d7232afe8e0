"""Columns that are missing, unknown, or there twice."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import rankine as rk
from rankine import errors
from rankine.errors import ColumnNotFoundError, FormatError, ParameterError
from tests.refused.refusals import (
    LINE,
    ONE_QUERY,
    TRUTH,
    command,
    files,
    refusal,
    refused,
    some_file,
)
from tests.refused.rows import FRAMES, JUDGED, SCORED, Write, in_form

if TYPE_CHECKING:
    from pathlib import Path


# --- missing columns


@pytest.mark.parametrize("form", FRAMES)
@pytest.mark.parametrize("role", ["qrels", "run"])
def test_24_missing_column_lists_what_is_there_and_how_to_say_it(
    form: str, role: str, write: Write
) -> None:
    rows = JUDGED if role == "qrels" else SCORED
    good = in_form(form, role, rows, write)
    if form == "csv":
        bad: Any = write("bad.csv", good.read_text().replace("item", "thing", 1))
    elif form == "pandas":
        bad = good.rename(columns={"item": "thing"})
    elif form == "polars":
        bad = good.rename({"item": "thing"})
    else:
        names = [name.replace("item", "thing") for name in good.column_names]
        bad = good.rename_columns(names)
    pair = (bad, {"q1": ["a"]}) if role == "qrels" else ({"q1": {"a"}}, bad)

    text = refused(errors.ColumnNotFoundError, *pair)

    assert "no column for the item" in text
    assert "'query', 'thing'" in text
    assert "item_id" in text
    assert "columns=" in text
    assert "--col item=" in text
    if form == "csv":
        assert str(bad) in text


def test_24_a_missing_column_shows_what_is_there_and_how_to_say_it(
    tmp_path: Path,
) -> None:
    qrels, run = files(tmp_path, run="query,itm,score\nq1,a,1\n")

    text = refusal(ColumnNotFoundError, qrels, run)

    assert text.startswith(
        f"{run} has no column for the item; it has 'query', 'itm', 'score', and names "
        "such as item_id, "
    )
    assert text.endswith(
        "say which one to use, e.g. columns={'item': 'itm'} or --col item=itm"
    )


def test_24_missing_column_suggests_the_nearest_name() -> None:
    run = pl.DataFrame({"query": ["q1"], "itme": ["a"], "score": [1.0]})

    text = refused(errors.ColumnNotFoundError, {"q1": {"a"}}, run)

    assert "{'item': 'itme'}" in text


@pytest.mark.parametrize("form", FRAMES)
def test_24_missing_column_that_was_named_suggests_the_nearest(
    form: str, write: Write
) -> None:
    run = in_form(form, "run", SCORED, write)

    text = refused(
        errors.ColumnNotFoundError, {"q1": {"a"}}, run, columns={"item": "itm"}
    )

    assert "'itm'" in text
    assert "did you mean 'item'?" in text
    assert "'query', 'item', 'score'" in text


def test_columns_that_are_not_there_are_told(tmp_path: Path) -> None:
    path = some_file(tmp_path, "q,a,1.5\n")

    with pytest.raises(ColumnNotFoundError, match="has no header with user"):
        rk.evaluate(ONE_QUERY, path, columns={"query": "user"})


def test_24_a_part_that_does_not_exist_is_refused() -> None:
    frame = pl.DataFrame({"query": ["q"], "item": ["a"]})

    text = refused(errors.ParameterError, {"q": {"a"}}, frame, columns={"itm": "a"})

    assert "'itm'" in text
    assert "query, item, grade, score, rank" in text


def test_a_part_that_no_table_has_is_told_for_every_format(tmp_path: Path) -> None:
    with pytest.raises(ParameterError, match=r"columns has no part 'itme'.*'item'"):
        rk.evaluate(ONE_QUERY, some_file(tmp_path, LINE), "RR", columns={"itme": "x"})


# --- numbers in a column that nobody knows


@pytest.mark.parametrize("name", ["relevant", "relevence", "is_relevant", "judgment"])
def test_24_a_column_of_numbers_that_nobody_knows_is_no_silent_grade(
    name: str, tmp_path: Path
) -> None:
    qrels, run = files(tmp_path, f"query,item,{name}\nq1,a,0\nq2,c,1\n")

    assert repr(name) in refusal(ColumnNotFoundError, qrels, run)


@pytest.mark.parametrize("name", ["points", "closeness", "scre", "probability"])
def test_24_a_column_of_numbers_that_nobody_knows_is_no_silent_score(
    name: str, tmp_path: Path
) -> None:
    qrels, run = files(tmp_path, run=f"query,item,{name}\nq1,x,1\nq1,a,9\n")

    assert repr(name) in refusal(ColumnNotFoundError, qrels, run)


def test_numbers_in_a_column_without_a_known_name_are_not_left_out() -> None:
    likes = pl.DataFrame({"user": ["q"], "item": ["a"], "stars": [1], "year": [1999]})

    with pytest.raises(ColumnNotFoundError, match=r"numbers in 'stars'.*--col grade=-"):
        rk.evaluate(likes, {"q": ["a"]}, "RR")
    for columns, wanted in (({"grade": "stars"}, 1), ({"grade": None}, 1)):
        found = rk.evaluate(likes, {"q": ["a"]}, "RR", columns=columns)
        assert found["RR"] == wanted


# --- several columns


def test_25_two_columns_for_one_part_ask_for_one() -> None:
    run = pl.DataFrame({"user_id": ["q"], "uid": ["q"], "item": ["a"]})

    text = refused(errors.ColumnNotFoundError, {"q": {"a"}}, run)

    assert "'user_id', 'uid'" in text
    assert "--col query=" in text


def test_25_two_names_for_one_part_ask_for_one(tmp_path: Path) -> None:
    qrels, run = files(tmp_path, run="user_id,uid,item,score\nq1,7,a,1\n")

    text = refusal(ColumnNotFoundError, qrels, run)
    code, _, _ = command("evaluate", qrels, run, "--col", "query=user_id")

    assert text == (
        f"{run} has several columns for the query: 'user_id', 'uid'; say which one to "
        f"use, e.g. columns={{'query': 'user_id'}} or --col query=user_id"
    )
    assert code == 0


def test_names_of_ids_come_before_names_of_texts() -> None:
    run = pl.DataFrame(
        {
            "qid": ["q"],
            "docid": [7],
            "docno": ["a"],
            "rank": [0],
            "score": [1.0],
            "query": ["what is it"],
        }
    )

    assert rk.evaluate(ONE_QUERY, run, "RR")["RR"] == 1


def test_26_a_column_twice_in_a_csv_is_refused(write: Write) -> None:
    run = write("twice.csv", "query,item,score,score\nq1,a,1,2\n")

    text = refused(errors.FormatError, {"q1": {"a"}}, run)

    assert "'score'" in text
    assert f"{run}:1" in text


@pytest.mark.parametrize("name", ["item", "note"])
def test_26_a_column_that_stands_twice_in_a_file_is_refused(
    name: str, tmp_path: Path
) -> None:
    qrels, run = files(tmp_path, run=f"query,item,{name},{name},score\nq1,a,b,c,1\n")

    text = refusal(FormatError, qrels, run)

    assert text == f"{run}:1: the column {name!r} appears twice; give it once"


def test_26_a_column_that_stands_twice_in_a_frame_is_refused() -> None:
    names = ["query", "item", "item", "score"]
    pandas = pd.DataFrame([["q1", "a", "b", 1.0]], columns=names)
    arrow = pa.table([["q1"], ["a"], ["b"], [1.0]], names=names)

    for frame in (pandas, arrow):
        assert refused(FormatError, TRUTH, frame) == (
            "the column 'item' appears twice in the frame; give it once"
        )
