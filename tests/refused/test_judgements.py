"""Grades that are negative, huge, or have fractions; thresholds and topics."""

from __future__ import annotations

import math
from math import isnan, log2
from typing import TYPE_CHECKING, Any

import pytest

import rankine as rk
from rankine import errors
from rankine.errors import DataError, DuplicateItemError
from tests.evaluate.three_queries import value
from tests.refused.refusals import command, files, refusal, refused
from tests.refused.rows import FORMS, Write, in_form, place

if TYPE_CHECKING:
    from pathlib import Path


# --- numbers


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("value", [math.nan, math.inf], ids=["nan", "inf"])
def test_41_grade_that_is_not_finite_is_refused(
    form: str, value: float, write: Write
) -> None:
    qrels = in_form(form, "qrels", [("q", "b", 1), ("q", "a", value)], write)

    text = refused(errors.DataError, qrels, {"q": ["a"]}, "nDCG")

    assert str(value) in text.casefold() or "not a number" in text
    if form != "dict":
        assert place(form, qrels, 1) in text


@pytest.mark.parametrize("form", FORMS)
def test_54_negative_grade_is_unjudged_and_told(form: str, write: Write) -> None:
    qrels = in_form(form, "qrels", [("q", "a", 1), ("q", "b", -1)], write)

    ev = rk.evaluate(qrels, {"q": ["b", "a"]}, ["nDCG", "AP", "Unjudged@2"])

    assert ev["nDCG"] == pytest.approx(1 / math.log2(3))
    assert ev["AP"] == 1 / 2
    assert ev["Unjudged@2"] == 1 / 2
    assert any(note.startswith("1 negative grade") for note in ev.notes)


def test_54_negative_grades_are_unjudged_and_told(tmp_path: Path) -> None:
    qrels, run = files(tmp_path, "q1 0 a -2\nq1 0 b 1\n")

    found = rk.evaluate(qrels, run, ["DCG", "P@1"])

    assert found.mean == {"DCG": 1 / log2(4), "P@1": 0}
    assert "1 negative grade: treated as unjudged, with gain 0" in found.notes
    assert (
        "100.0 % of the items in the top 1 are unjudged: counted as not relevant"
        in (found.notes)
    )


@pytest.mark.parametrize("form", FORMS)
def test_54_negative_grade_is_refused_if_the_convention_says_so(
    form: str, write: Write
) -> None:
    qrels = in_form(form, "qrels", [("q", "a", 1), ("q", "b", -2)], write)
    rule = rk.Convention(negative="error")

    text = refused(errors.DataError, qrels, {"q": ["a"]}, convention=rule)

    assert "negative" in text
    assert "1 " in text


def test_negative_can_be_an_error() -> None:
    with pytest.raises(DataError, match="negative"):
        value({"q": {"a": 2, "b": -3}}, {"q": ["a"]}, "DCG", negative="error")


@pytest.mark.parametrize("form", FORMS)
def test_55_huge_grade_costs_nothing_and_is_too_much_for_exponential_gain(
    form: str, write: Write
) -> None:
    qrels = in_form(form, "qrels", [("q", "a", 10**9), ("q", "b", 1)], write)
    run = {"q": ["b", "a"]}

    value = rk.evaluate(qrels, run, "nDCG")["nDCG"]
    text = refused(errors.DataError, qrels, run, "nDCG(gain='exponential')")

    best = 10**9 + 1 / math.log2(3)
    assert value == pytest.approx((1 + 10**9 / math.log2(3)) / best)
    assert "1e+09" in text
    assert "linear" in text


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


@pytest.mark.parametrize("form", FORMS)
def test_56_grade_with_a_fraction_needs_a_threshold(form: str, write: Write) -> None:
    qrels = in_form(form, "qrels", [("q", "a", 0.5), ("q", "b", 0.25)], write)
    run = {"q": ["b", "a"]}

    text = refused(errors.DataError, qrels, run, ["nDCG", "AP"])

    assert "0.5" in text
    assert "AP(rel=0.5)" in text
    assert rk.evaluate(qrels, run, "AP(rel=0.5)").mean == {"AP(rel=0.5)": 1 / 2}
    assert rk.evaluate(qrels, run, "AP", rel=0.25)["AP"] == 1
    assert rk.evaluate(qrels, run, "nDCG")["nDCG"] == pytest.approx(
        (0.25 + 0.5 / math.log2(3)) / (0.5 + 0.25 / math.log2(3))
    )


def test_56_grades_with_fractions_need_a_threshold(tmp_path: Path) -> None:
    qrels, run = files(tmp_path, "q1 0 a 0.5\n")

    text = refusal(DataError, qrels, run, "AP")
    code, _, _ = command("evaluate", qrels, run, "-m", "AP", "-l", "0.5")

    assert text == (
        "grades have fractions, such as 0.5, and AP needs to know which are relevant; "
        "write AP(rel=0.5), or give rel=0.5 for all metrics"
    )
    assert code == 0
    assert rk.evaluate(qrels, run, "DCG")["DCG"] == 0.5


def test_56_threshold_of_one_is_a_threshold_too() -> None:
    qrels = {"q": {"a": 1.5, "b": 0.5}}

    assert rk.evaluate(qrels, {"q": ["b", "a"]}, "AP", rel=1)["AP"] == 1 / 2


# --- queries without relevant items


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(
    ("policy", "mean", "fate"),
    [
        ("zero", (1 + 0) / 2, "counted as 0"),
        ("skip", 1, "left out"),
        ("nan", pytest.approx(math.nan, nan_ok=True), "left out"),
        ("one", (1 + 1) / 2, "counted as 1"),
    ],
)
def test_58_query_without_relevant_items_follows_the_policy_and_is_told(
    form: str, policy: Any, mean: float, fate: str, write: Write
) -> None:
    qrels = in_form(form, "qrels", [("q1", "a", 1), ("q2", "b", 0)], write)
    rule = rk.Convention(empty_truth=policy)

    ev = rk.evaluate(qrels, {"q1": ["a"], "q2": ["b"]}, ["AP"], convention=rule)

    assert ev["AP"] == mean
    assert f"1 query without a relevant item: {fate}" in ev.notes


def test_58_a_query_without_relevant_items_follows_the_policy(tmp_path: Path) -> None:
    qrels, run = files(tmp_path, "q1 0 a 1\nq2 0 c 0\n")
    skip = rk.conventions()["rankine"].replace(empty_truth="skip")

    zero = rk.evaluate(qrels, run, "RR")
    skipped = rk.evaluate(qrels, run, "RR", convention=skip)

    assert zero["RR"] == 1 / 2
    assert "1 query without a relevant item: counted as 0" in zero.notes
    assert skipped["RR"] == 1
    assert "1 query without a relevant item: left out" in skipped.notes


def test_58_query_without_relevant_items_can_be_an_error() -> None:
    rule = rk.Convention(empty_truth="error")
    qrels = {"q1": {"a": 1}, "q2": {"b": 0}}

    text = refused(errors.DataError, qrels, {"q1": ["a"]}, convention=rule)

    assert "without a relevant item (q2)" in text
    assert "q2" in text


def test_empty_truth_can_be_an_error() -> None:
    with pytest.raises(DataError, match="without a relevant item"):
        value({"q": {"a": 0}}, {"q": ["a"]}, "AP", empty_truth="error")


@pytest.mark.parametrize("form", FORMS)
def test_59_no_query_with_relevant_items_is_told(form: str, write: Write) -> None:
    qrels = in_form(form, "qrels", [("q1", "a", 0), ("q2", "b", 0)], write)
    run = {"q1": ["a"], "q2": ["b"]}
    skip = rk.Convention(empty_truth="skip")

    zero = rk.evaluate(qrels, run, ["AP"])
    left_out = rk.evaluate(qrels, run, ["AP"], convention=skip)

    assert zero["AP"] == 0
    assert "2 queries without a relevant item: counted as 0" in zero.notes
    assert math.isnan(left_out["AP"])
    assert "2 queries without a relevant item: left out" in left_out.notes


ZEROS = "q1 0 a 0\nq2 0 c 0\n"


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


def test_59_no_query_left_follows_the_convention() -> None:
    qrels, run = {"q": {"a": 0}}, {"q": ["a"]}
    zero = rk.Convention(empty_truth="skip", nothing="zero")
    error = rk.Convention(empty_truth="skip", nothing="error")

    assert rk.evaluate(qrels, run, "AP", convention=zero)["AP"] == 0
    assert "AP" in refused(errors.DataError, qrels, run, "AP", convention=error)


# --- thresholds and topics


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
