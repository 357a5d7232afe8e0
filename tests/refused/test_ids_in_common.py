"""Ids that are missing, or that the two sides do not share."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import pytest

import rankine as rk
from rankine import errors
from rankine.errors import DataError
from tests.refused.refusals import RUN, command, files, refusal, refused
from tests.refused.rows import (
    FORMS,
    FRAMES,
    JUDGED,
    SCORED,
    Write,
    in_form,
    place,
)

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


# --- missing ids


@pytest.mark.parametrize("form", FRAMES)
@pytest.mark.parametrize("role", ["qrels", "run"])
@pytest.mark.parametrize("part", [0, 1], ids=["query", "item"])
def test_31_missing_id_is_refused_with_count_and_place(
    form: str, role: str, part: int, write: Write
) -> None:
    rows = list(JUDGED if role == "qrels" else SCORED)
    for at in (1, 2):
        row = list(rows[at])
        row[part] = None
        rows[at] = (row[0], row[1], row[2])
    bad = in_form(form, role, rows, write)
    pair = (bad, {"q1": ["a"]}) if role == "qrels" else ({"q1": {"a"}}, bad)

    text = refused(errors.DataError, *pair)

    assert "2 " + ("query", "item")[part] + " ids are missing" in text
    if form == "csv":
        assert place(form, bad, 1) in text
    else:
        assert "rows 1, 2" in text


def test_31_a_missing_id_is_refused_with_its_place(tmp_path: Path) -> None:
    rows = "query,item,score\nq1,a,3\nq1,,2\nq1,,1\n"
    qrels, run = files(tmp_path, run=rows)

    text = refusal(DataError, qrels, run)
    code, _, _ = command("evaluate", qrels, run, "--lenient")
    lenient = rk.evaluate(qrels, run, "RR", lenient=True)

    assert text.startswith(f"{run}:3: 2 item ids are missing")
    assert code == 0
    assert f"{run}: 2 rows without an id: dropped" in lenient.notes


def test_31_one_missing_id_is_told_in_words_that_help(tmp_path: Path) -> None:
    qrels, run = files(tmp_path, run="query,item,score\nq1,,2\n")

    text = refusal(DataError, qrels, run)

    assert text.startswith(f"{run}:2: 1 item id is missing")
    assert "--lenient" in text


@pytest.mark.parametrize("missing", [None, "", math.nan], ids=["none", "empty", "nan"])
@pytest.mark.parametrize(
    "pair",
    [
        lambda gap: ({"q": {gap: 1, "a": 1}}, {"q": ["a"]}),
        lambda gap: ({"q": {gap, "a"}}, {"q": ["a"]}),
        lambda gap: ({gap: {"a": 1}, "q": {"a": 1}}, {"q": ["a"]}),
        lambda gap: ({"q": {"a": 1}}, {"q": {gap: 1.0, "a": 0.5}}),
        lambda gap: ({"q": {"a": 1}}, {"q": ["a", gap]}),
        lambda gap: ({"q": {"a": 1}}, {gap: ["a"], "q": ["a"]}),
    ],
    ids=["judged", "judged-set", "judged-query", "scored", "listed", "run-query"],
)
def test_31_missing_id_in_a_dict_is_refused(
    missing: Any, pair: Callable[[Any], tuple[Any, Any]]
) -> None:
    text = refused(errors.DataError, *pair(missing))

    assert "missing" in text or repr(missing) in text


# --- ids of one side


def test_32_ids_are_not_altered_and_check_says_how_they_differ(tmp_path: Path) -> None:
    qrels, run = files(
        tmp_path,
        "query,item,grade\nq1,a ,1\nq2,B,1\nq3,caf\u00e9,1\nq4,07,1\nq5,e,1\n",
        "query,item,score\nq1,a,1\nq2,b,1\nq3,cafe\u0301,1\nq4,7,1\nq5,e,1\n",
    )

    found = rk.check(qrels, run)
    said = " ".join(finding.what for finding in found.findings)

    assert rk.evaluate(qrels, run, "RR")["RR"] == 1 / 5
    for words in ("case ('B' and 'b')", "leading zeros ('07' and '7')", "accents"):
        assert words in said
    assert "differ only in spaces ('a ' and 'a')" in said


def test_32_spaces_that_are_no_blanks_stay_in_ids(tmp_path: Path) -> None:
    qrels, run = files(
        tmp_path, "q1 0 a\u00a0b 1\nq1 0 c\u200b 1\n", "q1 Q0 a\u00a0b 1 1 t\n"
    )

    assert rk.evaluate(qrels, run, ["RR", "R"]).mean == {"RR": 1, "R": 1 / 2}


@pytest.mark.parametrize("form", FORMS)
def test_33_no_query_in_common_is_refused_with_examples(
    form: str, write: Write
) -> None:
    run = in_form(form, "run", [("z1", "a", 1.0), ("z2", "b", 1.0)], write)
    qrels = in_form(form, "qrels", JUDGED, write)

    text = refused(errors.DataError, qrels, run)

    assert "0 of 2 " in text
    assert "'q1', 'q2'" in text
    assert "'z1', 'z2'" in text


def test_33_no_query_in_common_with_a_matrix() -> None:
    text = refused(
        errors.DataError, {"q1": {0}}, rk.from_scores([[1.0]], queries=["z"])
    )

    assert "'q1'" in text
    assert "'z'" in text


def test_33_no_query_in_common_shows_both_sides(tmp_path: Path) -> None:
    qrels, run = files(tmp_path, run=RUN.replace("q", "Q"))

    assert refusal(DataError, qrels, run) == (
        "0 of 2 judged queries are in the run; the judgements have 'q1', 'q2', the run "
        "has 'Q1', 'Q2'"
    )


@pytest.mark.parametrize("form", FORMS)
def test_34_partial_overlap_counts_zero_and_is_told(form: str, write: Write) -> None:
    run = in_form(form, "run", [("q1", "a", 1.0), ("z", "b", 1.0)], write)
    qrels = in_form(form, "qrels", JUDGED, write)

    ev = rk.evaluate(qrels, run, ["AP"])

    assert ev["AP"] == (1 + 0) / 2
    assert ev.notes[0] == "1 judged query missing from the run (q2): counted as 0"
    assert ev.notes[1] == "1 query of the run without judgements (z): not evaluated"


def test_34_partial_overlap_is_counted_and_told(tmp_path: Path) -> None:
    qrels, run = files(tmp_path, run=RUN.replace("q2", "q9"))

    code, out, _ = command("evaluate", qrels, run)
    found = rk.evaluate(qrels, run, "RR")

    assert code == 0
    assert found["RR"] == 1 / 2
    for note in (
        "1 judged query missing from the run (q2): counted as 0",
        "1 query of the run without judgements (q9): not evaluated",
    ):
        assert note in found.notes
        assert note in out
