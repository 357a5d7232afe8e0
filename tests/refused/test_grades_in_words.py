"""Grades in words: what they are worth has to be said."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

import rankine as rk
from rankine import errors
from rankine.errors import DataError
from tests.refused.refusals import command, files, refusal, refused, told
from tests.refused.rows import FORMS, FRAMES, Write, in_form, place

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize("form", FORMS)
def test_57_grade_in_words_asks_for_what_it_is_worth(form: str, write: Write) -> None:
    qrels = in_form(form, "qrels", [("q", "b", "Bad"), ("q", "a", "Good")], write)

    text = refused(errors.DataError, qrels, {"q": ["a"]})

    assert "'Bad'" in text
    assert "not a number" in text
    if form != "trec":
        assert "grades=" in text
    if form != "dict":
        assert place(form, qrels, 0) in text


def test_57_grades_in_words_ask_for_their_worth(tmp_path: Path) -> None:
    qrels, run = files(tmp_path, "query,item,grade\nq1,a,Bad\nq1,b,Good\n")

    text = refusal(DataError, qrels, run)
    code, out, _ = command(
        "evaluate", qrels, run, "-m", "RR", "--csv", "--grades", "Bad=0,Good=1"
    )

    assert text.startswith(f"{qrels}:2: grade is 'Bad', not a number; for grades in ")
    assert "grades={'Bad': 0, 'Good': 2} or --grades Bad=0,Good=2" in text
    assert code == 0
    assert out.splitlines()[1].startswith(f"a.run,all,RR,{1 / 3!r},")


@pytest.mark.parametrize("form", ["dict", *FRAMES])
def test_57_word_without_worth_is_refused(form: str, write: Write) -> None:
    qrels = in_form(form, "qrels", [("q", "b", "Bad"), ("q", "a", "Good")], write)

    text = refused(errors.DataError, qrels, {"q": ["a"]}, grades={"Bad": 0})

    assert "'Good'" in text
    assert "it has 'Bad'" in text


def test_57_a_word_without_worth_is_refused(tmp_path: Path) -> None:
    qrels, run = files(tmp_path, "query,item,grade\nq1,a,Bad\nq1,b,Good\n")

    text = told(3, qrels, run, "--grades", "Bad=0")

    assert text == f"{qrels}:3: grade is 'Good', which is not in grades; it has 'Bad'"


@pytest.mark.parametrize("form", ["dict", "polars"])
def test_57_worth_must_be_a_number(form: str, write: Write) -> None:
    qrels = in_form(form, "qrels", [("q", "a", "Good")], write)

    with pytest.raises(errors.RankineError, match="'much'"):
        rk.evaluate(qrels, {"q": ["a"]}, "AP", grades={"Good": "much"})  # type: ignore[dict-item]


def test_57_worth_that_is_no_number_is_bad_usage(tmp_path: Path) -> None:
    text = told(2, *files(tmp_path), "--grades", "Bad=zero")

    assert text.startswith("--grades expects WORD=NUMBER,..., got 'Bad=zero'")


def test_57_a_word_in_trec_text_is_refused(tmp_path: Path) -> None:
    qrels, run = files(tmp_path, "q1 0 a Good\n")

    text = refusal(DataError, qrels, run)

    assert text == f"{qrels}:1: the grade is 'Good', not a number"


def test_grades_in_words_need_a_table(write: Write) -> None:
    path = write("some.txt", "q 0 a Good\n")

    text = refused(errors.FormatError, path, {"q": ["a"]}, grades={"Good": 1})

    assert str(path) in text
    assert "header" in text


def test_57_grades_of_a_set_of_items_are_refused_in_words() -> None:
    text = refused(errors.DataError, {"q": {"a"}}, {"q": ["a"]}, grades={"Good": 1})

    assert "'q'" in text


def test_57_a_score_in_words_is_no_grade(tmp_path: Path) -> None:
    qrels, run = files(tmp_path, run="query,item,score\nq1,a,NA\n")

    text = refusal(DataError, qrels, run)

    assert text == f"{run}:2: score is 'NA', not a number"


def test_57_the_hint_names_the_option(tmp_path: Path) -> None:
    qrels, run = files(tmp_path, "query,item,grade\nq1,a,Bad\nq1,b,Good\n")

    assert "--grades Bad=" in told(3, qrels, run)
