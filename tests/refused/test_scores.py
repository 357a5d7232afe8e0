"""Scores that are no numbers, not finite, or equal."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import pandas as pd
import pytest

import rankine as rk
from rankine import errors
from rankine.errors import DataError
from tests.refused.refusals import (
    ONE,
    ONE_QUERY,
    files,
    refusal,
    refused,
    scored,
    some_file,
)
from tests.refused.rows import FORMS, JUDGED, Row, Write, in_form, place

if TYPE_CHECKING:
    from pathlib import Path


# --- text


def test_35_scores_are_numbers_not_their_text() -> None:
    text = refused(errors.DataError, {"q": {"a"}}, {"q": {"a": "0.9", "x": "0.8"}})

    assert "'0.9'" in text


@pytest.mark.parametrize("value", ["0,5", "1 000", "high", "0x10", "1_000", ""])
@pytest.mark.parametrize("form", ["dict", "polars", "pandas", "arrow", "csv"])
def test_35_text_that_is_no_number_is_refused(
    value: str, form: str, write: Write
) -> None:
    rows: list[Row] = [("q", "x", "1.5"), ("q", "a", value)]
    if form == "csv":
        run: Any = write("bad.csv", f'query,item,score\nq,x,1.5\nq,a,"{value}"\n')
    else:
        run = in_form(form, "run", rows, write)

    text = refused(errors.DataError, {"q": {"a"}}, run)

    assert "not a number" in text or "missing" in text
    if value or form != "csv":
        assert repr(value) in text or form == "dict"
    if form != "dict":
        assert place(form, run, 1) in text


@pytest.mark.parametrize("value", ["0,5", "high", "0x10", "1_000", "--1", "1e"])
@pytest.mark.parametrize("line", [1, 2])
def test_35_trec_score_that_is_no_number_is_refused(
    value: str, line: int, write: Write
) -> None:
    lines = ["q Q0 x 1 1.5 t", "q Q0 y 2 1.4 t"]
    lines[line - 1] = f"q Q0 a 1 {value} t"
    run = write("bad.run", "\n".join(lines) + "\n")

    text = refused(errors.DataError, {"q": {"a"}}, run)

    assert text.startswith(f"{run}:{line}: ")
    assert f"{value!r}, not a number" in text


def test_35_numbers_with_exponents_and_signs_are_read(tmp_path: Path) -> None:
    qrels, run = files(tmp_path, run="query,item,score\nq1,x,1e-3\nq1,a,+2E+2\n")

    assert rk.evaluate(qrels, run, "RR").per_query["RR"].to_list() == [1, 0]


@pytest.mark.parametrize("score", ["null", '"high"'])
def test_35_a_score_in_json_that_is_no_number_is_refused_with_its_place(
    score: str, tmp_path: Path
) -> None:
    qrels, run = files(tmp_path, run=f'{{"q1": {{"a": 1, "b": {score}}}}}')

    text = refusal(DataError, qrels, run)

    assert text.startswith(f"{run}: the score of item 'b' for query 'q1' is ")


def test_a_bad_number_in_a_dict_is_told_by_its_place(tmp_path: Path) -> None:
    path = some_file(tmp_path, '{"q": {"a": 1, "b": null}}')

    with pytest.raises(DataError, match="score of item 'b' for query 'q' is None"):
        rk.evaluate(ONE_QUERY, path, "RR")
    with pytest.raises(DataError, match="grade of item 'b' for query 'q' is None"):
        rk.evaluate(path, {"q": ["a"]}, "RR")


# --- missing and nan


@pytest.mark.parametrize("form", ["dict", "polars", "arrow", "csv"])
def test_41_missing_score_is_refused(form: str, write: Write) -> None:
    run = in_form(form, "run", [("q1", "a", 1.0), ("q1", "b", None)], write)

    text = refused(errors.DataError, {"q1": {"a"}}, run)

    assert "None" in text or "missing" in text
    if form != "dict":
        assert place(form, run, 1) in text


def test_35_a_missing_score_is_refused(tmp_path: Path) -> None:
    qrels, run = files(tmp_path, run="query,item,score\nq1,a,\n")

    text = refusal(DataError, qrels, run)

    assert text.startswith(f"{run}:2: score is missing")


@pytest.mark.parametrize("form", FORMS)
def test_41_nan_score_is_refused(form: str, write: Write) -> None:
    rows: list[Row] = [("q1", "a", 1.0), ("q1", "b", math.nan), ("q2", "c", math.nan)]
    run = in_form(form, "run", rows, write)

    text = refused(errors.DataError, in_form("dict", "qrels", JUDGED, write), run)

    assert "not a number" in text
    assert "'b'" in text
    assert "'q1'" in text
    if form != "dict":
        assert place(form, run, 1) in text


@pytest.mark.parametrize("form", ["trec", "csv"])
def test_41_a_score_that_is_nan_is_refused(form: str, tmp_path: Path) -> None:
    content = {
        "trec": scored("b:1:2 a:2:nan"),
        "csv": "query,item,score\nq,b,2\nq,a,NaN\n",
    }
    qrels, run = files(tmp_path, ONE, content[form])
    line = {"trec": 2, "csv": 3}[form]

    text = refusal(DataError, qrels, run)
    lenient = rk.evaluate(qrels, run, "RR", lenient=True)

    assert text.startswith(
        f"{run}:{line}: the score of item 'a' for query 'q' is not a number"
    )
    assert lenient["RR"] == 1 / 2
    assert f"{run}: 1 score not a number: ranked last" in lenient.notes


def test_41_nan_score_in_a_matrix_is_refused() -> None:
    run = rk.from_scores([[1.0, math.nan]], queries=["q"], items=["a", "b"])

    text = refused(errors.DataError, {"q": {"a"}}, run)

    assert "'b'" in text
    assert "'q'" in text
    assert "-inf" in text


def test_missing_scores_of_pandas_come_last() -> None:
    ev = rk.evaluate(ONE_QUERY, {"q": {"x": 1.0, "a": pd.NA}}, "RR", lenient=True)

    assert ev["RR"] == 1 / 2


# --- infinite, equal and near


@pytest.mark.parametrize("form", FORMS)
def test_42_infinite_scores_are_ordered(form: str, write: Write) -> None:
    rows: list[Row] = [("q", "x", -math.inf), ("q", "a", 0.0), ("q", "y", math.inf)]

    ev = rk.evaluate({"q": {"a": 1}}, in_form(form, "run", rows, write), ["RR"])

    assert ev["RR"] == 1 / 2


def test_42_infinite_scores_are_ordered_and_counted(tmp_path: Path) -> None:
    qrels, run = files(tmp_path, ONE, scored("x:1:inf b:2:1e300 a:3:-Infinity"))

    assert rk.evaluate(qrels, run, "RR")["RR"] == 1 / 3
    assert rk.check(qrels, run).run["scores_infinite"] == 2


def test_42_minus_infinity_masks_an_item_of_a_matrix() -> None:
    grades = rk.from_scores([[1, 1, 0]])
    scores = rk.from_scores([[float("-inf"), 1, 2]])

    assert rk.evaluate(grades, scores, ["R", "NumRet"]).mean == {
        "R": 1 / 2,
        "NumRet": 2,
    }


@pytest.mark.parametrize("items", ["a b c", "c b a", "b c a"])
def test_43_equal_scores_give_one_value_in_any_order(
    items: str, tmp_path: Path
) -> None:
    text = " ".join(f"{item}:1:7" for item in items.split())
    qrels, run = files(tmp_path, ONE, scored(text))

    found = rk.check(qrels, run)

    assert rk.evaluate(qrels, run, "RR")["RR"] == 1 / 3  # c, b, a: by id, descending
    assert found.run["tied_rows"] == 1
    assert "all scores of each list are equal" in [one.what for one in found.findings]


def test_44_ties_across_the_cutoff_follow_the_rule_and_are_told(tmp_path: Path) -> None:
    qrels, run = files(tmp_path, ONE, scored("c:1:2 a:2:1 b:3:1"))

    found = rk.evaluate(qrels, run, "P@2")

    assert found["P@2"] == 0  # b before a, and only then the cut
    assert rk.evaluate(qrels, run, "P@2", ties="average")["P@2"] == 1 / 4
    assert (
        "1 query with judged items tied across rank 2: the tie rule decides"
        in found.notes
    )
    assert rk.check(qrels, run, k=2).run["queries_tied_across_k"] == 1


def test_45_scores_have_64_bits_and_32_in_trec_eval_9(tmp_path: Path) -> None:
    qrels, run = files(tmp_path, ONE, scored("a:1:1.000000001 b:2:1"))

    assert rk.evaluate(qrels, run, "RR")["RR"] == 1
    assert rk.evaluate(qrels, run, "RR", convention="trec_eval-9")["RR"] == 1 / 2


def test_46_zeros_are_equal_and_the_smallest_numbers_are_kept(tmp_path: Path) -> None:
    qrels, run = files(tmp_path, ONE, scored("a:1:0.0 b:2:-0.0"))
    assert rk.evaluate(qrels, run, "RR", ties="worst")["RR"] == 1 / 2

    qrels, run = files(tmp_path, ONE, scored("a:1:5e-324 b:2:0"))

    assert rk.evaluate(qrels, run, "RR", ties="worst")["RR"] == 1
