"""Items that a list or the judgements have twice."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from scipy import sparse

import rankine as rk
from rankine import errors
from rankine.errors import DuplicateItemError
from tests.refused.refusals import RR, RUN, files, refusal, refused, scored, told
from tests.refused.rows import JUDGED, Row, Write, in_form

if TYPE_CHECKING:
    from pathlib import Path


# --- in a run


@pytest.mark.parametrize("form", ["polars", "pandas", "arrow", "csv", "trec"])
@pytest.mark.parametrize("again", [2, 3], ids=["together", "interleaved"])
def test_51_duplicate_item_in_a_run_is_refused_with_both_places(
    form: str, again: int, write: Write
) -> None:
    rows: list[Row] = [("q1", "x", 9.0), ("q1", "a", 3.0)]
    rows += [("q2", "c", 2.0)] * (again == 3)
    rows += [("q1", "a", 1.0)]
    run = in_form(form, "run", rows, write)

    text = refused(
        errors.DuplicateItemError, in_form("dict", "qrels", JUDGED, write), run
    )

    assert "'a'" in text
    assert "'q1'" in text
    first = {"csv": 2, "trec": 1}.get(form, 0)
    assert re.search(rf"\b{first + 1} and (line |row )?{first + again}\b", text)
    if form in {"csv", "trec"}:
        assert str(run) in text
        assert "line" in text


@pytest.mark.parametrize("score", ["0.9", "0.1"], ids=["equal", "other"])
def test_51_52_an_item_twice_is_refused(score: str, tmp_path: Path) -> None:
    qrels, run = files(tmp_path, run=RUN + f"q1 Q0 a 9 {score} t\n")

    text = refusal(DuplicateItemError, qrels, run)
    lenient = rk.evaluate(qrels, run, "RR", lenient=True)

    assert text == (
        f"item 'a' appears twice for query 'q1' in {run} (line 1 and line 6)"
        "; lenient=True or --lenient keeps the best of each"
    )
    assert lenient["RR"] == RR
    assert (
        f"{run}: 1 row repeating an item: dropped, the best score is kept"
        in lenient.notes
    )


def test_lines_of_a_csv_are_counted_past_blank_lines(write: Write) -> None:
    path = write("some.csv", "query,item,score\n\nq1,x,0.9\n\nq1,x,0.8\n")

    text = refused(errors.DuplicateItemError, {"q1": {"a"}}, path)

    assert re.search(r"3 and (line )?5\b", text)


def test_51_duplicate_item_in_a_list_is_refused_with_both_places() -> None:
    text = refused(errors.DuplicateItemError, {"q1": {"a"}}, {"q1": ["a", "b", "a"]})

    assert "'a'" in text
    assert "'q1'" in text
    assert "in run (place 1 and place 3);" in text


@pytest.mark.parametrize(
    "run",
    [
        sparse.coo_matrix((np.ones(2), (np.zeros(2, int), np.ones(2, int)))),
        sparse.csr_matrix((np.array([1.0, 2.0]), np.array([1, 1]), np.array([0, 2]))),
        rk.from_ranked([[1, 1]]),
    ],
    ids=["coo", "csr", "ranked"],
)
def test_51_duplicate_item_in_a_matrix_is_refused(run: Any) -> None:
    text = refused(errors.DuplicateItemError, {0: {1}}, run)

    assert "item 1 " in text
    assert "query 0 " in text


@pytest.mark.parametrize(
    "content",
    ['{"q1": {"a": 1, "a": 2}}', '{"q1": ["a", "b", "a"]}',
     '{"query_id": "q1", "retrieved": ["a", "b", "a"]}\n'],
    ids=["object", "list", "lines"],
)  # fmt: skip
def test_51_an_item_twice_in_json_is_refused(content: str, tmp_path: Path) -> None:
    qrels, run = files(tmp_path, run=content)

    text = refusal(DuplicateItemError, qrels, run)

    assert str(run) in text
    assert "'a'" in text


def test_52_check_tells_duplicates_with_different_scores(tmp_path: Path) -> None:
    qrels, run = files(tmp_path, run=RUN + "q1 Q0 a 9 0.1 t\n")

    found = rk.check(qrels, run)

    assert found.run["duplicates"] == 1
    assert found.findings[0].level == "error"
    assert found.findings[0].what.endswith("(query q1, item a), with different numbers")


def test_52_check_counts_a_repeated_item_once(tmp_path: Path) -> None:
    qrels, run = files(tmp_path, run=RUN + "q1 Q0 a 9 0.1 t\n")

    assert rk.check(qrels, run).both["relevant_found"] == 1


def test_53_long_lists_are_not_cut_and_duplicates_are_found_in_all(
    tmp_path: Path,
) -> None:
    long = scored(" ".join(f"d{n}:{n}:{3000 - n}" for n in range(3000)))
    qrels, run = files(tmp_path, "q 0 d2499 1\n", long)
    assert rk.evaluate(qrels, run, "RR")["RR"] == 1 / 2500
    assert rk.evaluate(qrels, run, "RR", depth=1000)["RR"] == 0

    qrels, run = files(tmp_path, "q 0 d1 1\n", long + scored("d2999:1:0"))

    assert told(3, qrels, run, "-M", "1000") == (
        f"item 'd2999' appears twice for query 'q' in {run} (line 3000 and line 3001)"
        "; lenient=True or --lenient keeps the best of each"
    )
    assert refusal(DuplicateItemError, qrels, run, "P@5").startswith("item 'd2999'")


# --- in judgements


@pytest.mark.parametrize("form", ["polars", "pandas", "arrow", "csv", "trec"])
def test_60_duplicate_judgement_is_refused_with_both_places(
    form: str, write: Write
) -> None:
    qrels = in_form(
        form, "qrels", [("q1", "a", 1), ("q2", "b", 1), ("q1", "a", 2)], write
    )

    text = refused(errors.DuplicateItemError, qrels, {"q1": ["a"]})

    assert "'a'" in text
    assert "'q1'" in text
    first = {"csv": 2, "trec": 1}.get(form, 0)
    assert re.search(rf"\b{first} and (line |row )?{first + 2}\b", text)


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
