"""Bad input, items 54 to 62 of the catalogue: judgements."""

from __future__ import annotations

from math import isnan, log2
from typing import TYPE_CHECKING

import pytest

import rankine as rk
from rankine.errors import DataError, DuplicateItemError
from tests.refusals import command, files, refusal, refused, told

if TYPE_CHECKING:
    from pathlib import Path

ZEROS = "q1 0 a 0\nq2 0 c 0\n"


def test_54_negative_grades_are_unjudged_and_told(tmp_path: Path) -> None:
    qrels, run = files(tmp_path, "q1 0 a -2\nq1 0 b 1\n")

    found = rk.evaluate(qrels, run, ["DCG", "P@1"])

    assert found.mean == {"DCG": 1 / log2(4), "P@1": 0}
    assert "1 negative grade: taken as unjudged, gain 0" in found.notes
    assert "100.0% of the items in the top 1 are unjudged: counted not relevant" in (
        found.notes
    )


def test_55_a_huge_grade_costs_nothing(tmp_path: Path) -> None:
    qrels, run = files(tmp_path, "q1 0 a 1700000000\nq1 0 b 1\n")

    assert rk.evaluate(qrels, run, ["AP", "RR"]).mean == {
        "AP": (1 + 2 / 3) / 2,
        "RR": 1,
    }


@pytest.mark.parametrize("grade", ["61", "1700000000"])
def test_55_a_huge_grade_is_too_much_for_exponential_gain(
    grade: str, tmp_path: Path
) -> None:
    qrels, run = files(tmp_path, f"q1 0 a {grade}\n")

    text = refusal(DataError, qrels, run, "DCG(gain='exponential')")

    assert text == (
        f"a grade of {float(grade):g} is too large for the gain 2^grade - 1; use "
        "gain='linear', or a table {grade: gain}"
    )


def test_56_grades_with_fractions_need_a_threshold(tmp_path: Path) -> None:
    qrels, run = files(tmp_path, "q1 0 a 0.5\n")

    text = refusal(DataError, qrels, run, "AP")
    code, _, _ = command("evaluate", qrels, run, "-m", "AP", "-l", "0.5")

    assert text == (
        "grades have fractions, such as 0.5, and AP must know which are relevant; "
        "write AP(rel=0.5), or give rel=0.5 for all metrics"
    )
    assert code == 0
    assert rk.evaluate(qrels, run, "DCG")["DCG"] == 0.5


def test_57_grades_in_words_ask_for_their_worth(tmp_path: Path) -> None:
    qrels, run = files(tmp_path, "query,item,grade\nq1,a,Bad\nq1,b,Good\n")

    text = refusal(DataError, qrels, run)
    code, out, _ = command(
        "evaluate", qrels, run, "-m", "RR", "--csv", "--grades", "Bad=0,Good=1"
    )

    assert text.startswith(f"{qrels}:2: grade is 'Bad', not a number; for grades in ")
    assert "grades={'Bad': 1, 'Good': 2}" in text
    assert code == 0
    assert out.splitlines()[1].startswith(f"a.run,all,RR,{1 / 3!r},")


def test_57_a_word_without_worth_is_refused(tmp_path: Path) -> None:
    qrels, run = files(tmp_path, "query,item,grade\nq1,a,Bad\nq1,b,Good\n")

    text = told(3, qrels, run, "--grades", "Bad=0")

    assert (
        text == f"{qrels}:3: grade is 'Good', which grades does not have; it has 'Bad'"
    )


def test_57_worth_that_is_no_number_is_bad_usage(tmp_path: Path) -> None:
    text = told(2, *files(tmp_path), "--grades", "Bad=zero")

    assert text.startswith("--grades expects WORD=NUMBER,..., got 'Bad=zero'")


def test_57_a_word_in_trec_text_is_refused(tmp_path: Path) -> None:
    qrels, run = files(tmp_path, "q1 0 a Good\n")

    text = refusal(DataError, qrels, run)

    assert text == f"{qrels}:1: the grade is 'Good', not a number"


def test_57_a_score_in_words_is_no_grade(tmp_path: Path) -> None:
    qrels, run = files(tmp_path, run="query,item,score\nq1,a,NA\n")

    text = refusal(DataError, qrels, run)

    assert text == f"{run}:2: score is 'NA', not a number"


def test_57_the_hint_names_the_option(tmp_path: Path) -> None:
    qrels, run = files(tmp_path, "query,item,grade\nq1,a,Bad\nq1,b,Good\n")

    assert "--grades Bad=" in told(3, qrels, run)


def test_58_a_query_without_relevant_items_follows_the_policy(tmp_path: Path) -> None:
    qrels, run = files(tmp_path, "q1 0 a 1\nq2 0 c 0\n")
    skip = rk.conventions()["rankine"].replace(empty_truth="skip")

    zero = rk.evaluate(qrels, run, "RR")
    skipped = rk.evaluate(qrels, run, "RR", convention=skip)

    assert zero["RR"] == 1 / 2
    assert "1 query without a relevant item: counted 0" in zero.notes
    assert skipped["RR"] == 1
    assert "1 query without a relevant item: left out" in skipped.notes


def test_59_no_relevant_item_at_all_is_told(tmp_path: Path) -> None:
    qrels, run = files(tmp_path, ZEROS)

    code, out, err = command(
        "evaluate", qrels, run, "-m", "RR", "--fail-under", "RR=0.1"
    )

    assert code == 1
    assert err == "rankine: RR of a.run is 0.0000, below 0.1\n"
    assert "no grade is at least 1, the largest is 0: nothing is relevant" in out


def test_59_no_query_that_counts_is_nan_and_meets_no_threshold(tmp_path: Path) -> None:
    qrels, run = files(tmp_path, ZEROS)
    skip = rk.conventions()["rankine"].replace(empty_truth="skip")

    found = rk.evaluate(qrels, run, "RR", convention=skip)

    assert isnan(found["RR"])
    assert "2 queries without a relevant item: left out" in found.notes


@pytest.mark.parametrize("grade", [1, 2], ids=["equal", "conflicting"])
def test_60_an_item_judged_twice_is_refused(grade: int, tmp_path: Path) -> None:
    qrels, run = files(tmp_path, f"q1 0 a 1\nq1 0 a {grade}\n")

    text = refusal(DuplicateItemError, qrels, run)
    lenient = rk.evaluate(qrels, run, "DCG", lenient=True)

    assert text == (
        f"item 'a' is judged twice for query 'q1' in {qrels} (line 1 and line 2)"
        "; lenient=True or --lenient keeps the largest grade of each"
    )
    assert lenient["DCG"] == grade
    assert (
        f"{qrels}: 1 row repeating an item: dropped, the largest grade is kept"
        in lenient.notes
    )


@pytest.mark.parametrize("option", [["-m", "P(rel=3)@1"], ["-m", "P@1", "-l", "3"]])
def test_61_a_threshold_above_all_grades_is_told(
    option: list[str], tmp_path: Path
) -> None:
    code, out, _ = command("evaluate", *files(tmp_path), *option)

    assert code == 0
    assert "no grade is at least 3, the largest is 2: nothing is relevant" in out


def test_62_metrics_of_subtopics_need_to_be_told_them(tmp_path: Path) -> None:
    qrels, run = files(tmp_path, "q1 0 a 1\nq1 0 b 1\n")

    text = refusal(DataError, qrels, run, "alpha_nDCG@10")

    assert text.startswith("alpha_nDCG@10 needs topics; give items= or --items, or ")
    assert "a column named subtopic, or in the second field of TREC text" in text
    # Other metrics do not read them, and an item judged for two is judged twice.
    qrels, _ = files(tmp_path, "q1 1 a 1\nq1 2 a 1\n")
    assert refused(DuplicateItemError, qrels, {"q1": ["a"]}).startswith("item 'a' is ")
