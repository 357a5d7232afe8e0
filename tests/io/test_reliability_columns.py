"""Bad input, items 24 to 35 of the catalogue: columns and ids."""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING, Any

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import rankine as rk
from rankine.errors import (
    ColumnNotFoundError,
    DataError,
    FormatError,
)
from tests.refusals import RUN, command, files, refusal, refused

if TYPE_CHECKING:
    from pathlib import Path

TRUTH = {"q1": {"a": 1, "b": 0}, "q2": {"c": 2}}
BIG = 2**63 + 1
HUGE = 2**70


# --- columns


def test_24_a_missing_column_shows_what_is_there_and_how_to_say_it(
    tmp_path: Path,
) -> None:
    qrels, run = files(tmp_path, run="query,itm,score\nq1,a,1\n")

    text = refusal(ColumnNotFoundError, qrels, run)

    assert text.startswith(
        f"{run} has no column for the item; it has 'query', 'itm', 'score', and names "
        "like item_id, "
    )
    assert text.endswith("say which, e.g. columns={'item': 'itm'} or --col item=itm")


@pytest.mark.parametrize("name", ["relevant", "relevence", "is_relevant", "judgment"])
def test_24_a_column_of_numbers_that_nobody_knows_is_no_silent_grade(
    name: str, tmp_path: Path
) -> None:
    qrels, run = files(tmp_path, f"query,item,{name}\nq1,a,0\nq2,c,1\n")

    assert repr(name) in refusal(ColumnNotFoundError, qrels, run)


@pytest.mark.parametrize("name", ["scores", "similarity", "scre", "probability"])
def test_24_a_column_of_numbers_that_nobody_knows_is_no_silent_score(
    name: str, tmp_path: Path
) -> None:
    qrels, run = files(tmp_path, run=f"query,item,{name}\nq1,x,1\nq1,a,9\n")

    assert repr(name) in refusal(ColumnNotFoundError, qrels, run)


def test_25_two_names_for_one_part_ask_for_one(tmp_path: Path) -> None:
    qrels, run = files(tmp_path, run="user_id,uid,item,score\nq1,7,a,1\n")

    text = refusal(ColumnNotFoundError, qrels, run)
    code, _, _ = command("evaluate", qrels, run, "--col", "query=user_id")

    assert text == (
        f"{run} has several columns for the query: 'user_id', 'uid'; say which, e.g. "
        "columns={'query': 'user_id'} or --col query=user_id"
    )
    assert code == 0


@pytest.mark.parametrize("name", ["item", "note"])
def test_26_a_column_that_stands_twice_in_a_file_is_refused(
    name: str, tmp_path: Path
) -> None:
    qrels, run = files(tmp_path, run=f"query,item,{name},{name},score\nq1,a,b,c,1\n")

    text = refusal(FormatError, qrels, run)

    assert text == f"{run}:1: the column {name!r} stands twice; give it once"


def test_26_a_column_that_stands_twice_in_a_frame_is_refused() -> None:
    names = ["query", "item", "item", "score"]
    pandas = pd.DataFrame([["q1", "a", "b", 1.0]], columns=names)
    arrow = pa.table([["q1"], ["a"], ["b"], [1.0]], names=names)

    for frame in (pandas, arrow):
        assert refused(FormatError, TRUTH, frame) == (
            "the column 'item' stands twice in the frame; give it once"
        )


# --- ids


def test_27_ints_and_text_are_compared_by_text_if_all_are_plain(tmp_path: Path) -> None:
    ints = pl.DataFrame({"query": [1, 2], "item": [10, 20], "grade": [1, 1]})
    _, run = files(tmp_path, run="1 Q0 10 1 1 t\n2 Q0 20 1 1 t\n")

    found = rk.evaluate(ints, run, "RR")

    assert found.per_query.rows() == [(1, 1), (2, 1)]
    assert any("compared by their text" in note for note in found.notes)


def test_27_text_that_is_no_plain_int_is_not_compared_with_ints(tmp_path: Path) -> None:
    qrels, run = files(
        tmp_path, "007 0 a 1\n", '{"query": 7, "item": "a", "score": 1}\n'
    )

    assert refusal(DataError, qrels, run) == (
        f"query ids are text in {qrels} and ints in {run}, and 1 of the texts are no "
        "plain ints, such as '007'; give both the same type"
    )


def test_28_whole_floats_are_ints_with_a_note() -> None:
    qrels = pd.DataFrame({"query": [1.0, 2.0], "item": [7.0, 8.0], "grade": [1, 1]})

    found = rk.evaluate(qrels, {1: [7], 2: [9]}, "RR")

    assert found.per_query.rows() == [(1, 1), (2, 0)]
    assert "qrels: query ids are whole floats, read as ints" in found.notes


def test_28_floats_with_fractions_are_no_ids() -> None:
    qrels = pd.DataFrame({"query": [1.5, 2.0], "item": [7.0, 8.0], "grade": [1, 1]})

    text = refused(DataError, qrels, {1: [7]})

    assert text == "qrels: query ids are floats, such as 1.5"


def test_28_floats_in_a_file_are_text_and_not_in_common(tmp_path: Path) -> None:
    qrels, run = files(
        tmp_path, "user,item,grade\n1.0,7,1\n", "user,item,score\n1,7,1\n"
    )

    assert refusal(DataError, qrels, run) == (
        "0 of 1 judged queries are in the run; the judgements have '1.0', the run has "
        "'1'"
    )


def test_28_check_tells_floats_from_ints(tmp_path: Path) -> None:
    qrels, run = files(
        tmp_path, "user,item,grade\n1,7.0,1\n", "user,item,score\n1,7,1\n"
    )

    found = rk.check(qrels, run)

    assert any("('7.0' and '7')" in finding.what for finding in found.findings)


@pytest.mark.parametrize("form", ["trec", "csv", "json"])
def test_29_leading_zeros_are_kept(form: str, tmp_path: Path) -> None:
    content = {
        "trec": "007 Q0 7 1 2 t\n007 Q0 07 1 1 t\n",
        "csv": "query,item,score\n007,7,2\n007,07,1\n",
        "json": '{"007": {"7": 2, "07": 1}}',
    }
    qrels, run = files(tmp_path, "007 0 07 1\n", content[form])

    assert rk.evaluate(qrels, run, "RR").per_query.rows() == [("007", 1 / 2)]


def test_29_with_and_without_leading_zeros_are_not_in_common(tmp_path: Path) -> None:
    qrels, run = files(
        tmp_path, "query,item,grade\n007,a,1\n", "query,item,score\n7,a,1\n"
    )

    assert refusal(DataError, qrels, run) == (
        "0 of 1 judged queries are in the run; the judgements have '007', the run has "
        "'7'"
    )


def test_30_large_ids_are_exact(tmp_path: Path) -> None:
    frame = pl.DataFrame(
        {"query": [BIG], "item": [2**64 - 1]}, schema_overrides={"item": pl.UInt64}
    ).cast(pl.UInt64)
    near = {BIG: {2**64 - 2: 2.0, 2**64 - 1: 1.0}}
    qrels, run = files(tmp_path, f"{HUGE} 0 a 1\n", f"{HUGE} Q0 a 1 1 t\n")

    found = rk.evaluate(frame, near, "RR")

    assert found.per_query.rows() == [(BIG, 1 / 2)]
    assert rk.evaluate({HUGE: {HUGE + 1}}, {HUGE: [HUGE, HUGE + 1]}, "RR")["RR"] == 0.5
    assert rk.evaluate(qrels, run, "RR").queries == [str(HUGE)]


def test_30_decimals_are_no_ids() -> None:
    frame = pl.DataFrame({"query": [Decimal(1)], "item": ["a"], "grade": [1]})

    text = refused(FormatError, frame, {"q1": ["a"]})

    assert text.startswith("qrels: query ids are of type Decimal")
    assert text.endswith("expected text or ints")


@pytest.mark.parametrize("form", ["pandas", "ndjson", "ndjson-64"])
def test_30_ids_beyond_64_bits_are_kept(form: str, tmp_path: Path) -> None:
    query = BIG if form == "ndjson-64" else HUGE
    line = f'{{"query": {query}, "item": "a", "score": 1}}\n'
    qrels, path = files(tmp_path, f"{query} 0 a 1\n", line)
    run: Any = path
    if form == "pandas":
        ids = pd.Series([query], dtype=object)
        run = pd.DataFrame({"query": ids, "item": ["a"], "score": [1.0]})

    assert rk.evaluate(qrels, run, "RR")["RR"] == 1


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


def test_33_no_query_in_common_shows_both_sides(tmp_path: Path) -> None:
    qrels, run = files(tmp_path, run=RUN.replace("q", "Q"))

    assert refusal(DataError, qrels, run) == (
        "0 of 2 judged queries are in the run; the judgements have 'q1', 'q2', the run "
        "has 'Q1', 'Q2'"
    )


def test_34_partial_overlap_is_counted_and_told(tmp_path: Path) -> None:
    qrels, run = files(tmp_path, run=RUN.replace("q2", "q9"))

    code, out, _ = command("evaluate", qrels, run)
    found = rk.evaluate(qrels, run, "RR")

    assert code == 0
    assert found["RR"] == 1 / 2
    for note in (
        "1 judged query missing from the run (q2): counted 0",
        "1 query of the run without judgements (q9): not evaluated",
    ):
        assert note in found.notes
        assert note in out


@pytest.mark.parametrize("text", ["0,5", "1 000", "1_000", "0x10", "50%", "1.5.2"])
def test_35_text_that_is_no_number_is_refused(text: str, tmp_path: Path) -> None:
    qrels, run = files(tmp_path, run=f'query,item,score\nq1,x,1\nq1,a,"{text}"\n')

    said = refusal(DataError, qrels, run)

    assert said == f"{run}:3: score is {text!r}, not a number"


def test_35_numbers_with_exponents_and_signs_are_read(tmp_path: Path) -> None:
    qrels, run = files(tmp_path, run="query,item,score\nq1,x,1e-3\nq1,a,+2E+2\n")

    assert rk.evaluate(qrels, run, "RR").per_query["RR"].to_list() == [1, 0]


def test_35_a_missing_score_is_refused(tmp_path: Path) -> None:
    qrels, run = files(tmp_path, run="query,item,score\nq1,a,\n")

    text = refusal(DataError, qrels, run)

    assert text.startswith(f"{run}:2: score is missing")


@pytest.mark.parametrize("score", ["null", '"high"'])
def test_35_a_score_in_json_that_is_no_number_is_refused_with_its_place(
    score: str, tmp_path: Path
) -> None:
    qrels, run = files(tmp_path, run=f'{{"q1": {{"a": 1, "b": {score}}}}}')

    text = refusal(DataError, qrels, run)

    assert text.startswith(f"{run}: the score of item 'b' for query 'q1' is ")
