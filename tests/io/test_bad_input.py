"""Bad input, by number in the catalogue of bad inputs: each is refused or told."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy import sparse

import rankine as rk
from rankine import errors

Row: TypeAlias = tuple[Any, Any, Any]
Write: TypeAlias = Callable[[str, str | bytes], Path]

FRAMES = ("polars", "pandas", "arrow", "csv")
FORMS = ("dict", *FRAMES, "trec")
QRELS: list[Row] = [("q1", "a", 1), ("q1", "b", 0), ("q2", "c", 2)]
RUN: list[Row] = [
    ("q1", "a", 0.9),
    ("q1", "x", 0.8),
    ("q1", "b", 0.7),
    ("q2", "x", 0.5),
    ("q2", "c", 0.4),
]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    def made(name: str, content: str | bytes) -> Path:
        path = tmp_path / name
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    return made


def in_form(form: str, role: str, rows: list[Row], write: Write) -> Any:
    """Bring rows of query, item and number into one of the accepted forms."""
    if form == "dict":
        made: dict[Any, dict[Any, Any]] = {}
        for query, item, value in rows:
            made.setdefault(query, {})[item] = value
        return made
    names = ("query", "item", "grade" if role == "qrels" else "score")
    columns = {name: [row[at] for row in rows] for at, name in enumerate(names)}
    if form == "polars":
        return pl.DataFrame(columns, strict=False)
    if form == "pandas":
        return pd.DataFrame(columns)
    if form == "arrow":
        return pa.table(columns)
    if form == "csv":
        lines = [",".join(names)]
        lines += [",".join("" if v is None else str(v) for v in row) for row in rows]
        return write(f"{role}.csv", "\n".join(lines) + "\n")
    if role == "qrels":
        text = "".join(f"{query} 0 {item} {grade}\n" for query, item, grade in rows)
    else:
        text = "".join(
            f"{query} Q0 {item} 1 {score} t\n" for query, item, score in rows
        )
    return write(f"{role}.txt", text)


def place(form: str, data: Any, row: int) -> str:
    """Return how a message should say where a row stands; rows count from 0."""
    if form == "csv":
        return f"{data}:{row + 2}"
    if form == "trec":
        return f"{data}:{row + 1}"
    return f"row {row}"


def complaint(
    kind: type[errors.RankineError],
    qrels: Any,
    run: Any,
    metrics: Any = "AP",
    **options: Any,
) -> str:
    """Return the message of the error, whose class and form are checked."""
    with pytest.raises(errors.RankineError) as caught:
        rk.evaluate(qrels, run, metrics, **options)
    text = str(caught.value)

    found = type(caught.value)
    assert (errors.DataError if found is errors.NoRowsError else found) is kind
    assert "\n" not in text
    assert not text.endswith(".")
    return text


# --- columns and types


@pytest.mark.parametrize("form", FRAMES)
@pytest.mark.parametrize("role", ["qrels", "run"])
def test_24_missing_column_lists_what_is_there_and_how_to_say_it(
    form: str, role: str, write: Write
) -> None:
    rows = QRELS if role == "qrels" else RUN
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

    text = complaint(errors.ColumnNotFoundError, *pair)

    assert "no column for the item" in text
    assert "'query', 'thing'" in text
    assert "item_id" in text
    assert "columns=" in text
    assert "--col item=" in text
    if form == "csv":
        assert str(bad) in text


def test_24_missing_column_suggests_the_nearest_name() -> None:
    run = pl.DataFrame({"query": ["q1"], "itme": ["a"], "score": [1.0]})

    text = complaint(errors.ColumnNotFoundError, {"q1": {"a"}}, run)

    assert "{'item': 'itme'}" in text


@pytest.mark.parametrize("form", FRAMES)
def test_24_missing_column_that_was_named_suggests_the_nearest(
    form: str, write: Write
) -> None:
    run = in_form(form, "run", RUN, write)

    text = complaint(
        errors.ColumnNotFoundError, {"q1": {"a"}}, run, columns={"item": "itm"}
    )

    assert "'itm'" in text
    assert "did you mean 'item'?" in text
    assert "'query', 'item', 'score'" in text


def test_24_a_part_that_does_not_exist_is_refused() -> None:
    frame = pl.DataFrame({"query": ["q"], "item": ["a"]})

    text = complaint(errors.ParameterError, {"q": {"a"}}, frame, columns={"itm": "a"})

    assert "'itm'" in text
    assert "query, item, grade, score, rank" in text


def test_25_two_columns_for_one_part_ask_for_one() -> None:
    run = pl.DataFrame({"user_id": ["q"], "uid": ["q"], "item": ["a"]})

    text = complaint(errors.ColumnNotFoundError, {"q": {"a"}}, run)

    assert "'user_id', 'uid'" in text
    assert "--col query=" in text


def test_26_a_column_twice_in_a_csv_is_refused(write: Write) -> None:
    run = write("twice.csv", "query,item,score,score\nq1,a,1,2\n")

    text = complaint(errors.FormatError, {"q1": {"a"}}, run)

    assert "'score'" in text
    assert f"{run}:1" in text


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("part", ["query", "item"])
def test_27_int_and_text_ids_are_compared_when_all_are_plain_ints(
    form: str, part: str, write: Write
) -> None:
    if part == "query":
        qrels: Any = {1: {"a": 1}, 2: {"b": 1}}
        rows: list[Row] = [("1", "a", 2.0), ("1", "x", 1.0), ("2", "y", 1.0)]
    else:
        qrels = {"q1": {1: 1}, "q2": {2: 1}}
        rows = [("q1", "1", 2.0), ("q1", "8", 1.0), ("q2", "9", 1.0)]

    ev = rk.evaluate(qrels, in_form(form, "run", rows, write), ["RR"])

    assert ev["RR"] == (1 + 0) / 2
    assert ev.per_query["query"].to_list() == list(qrels)
    assert any("text" in note for note in ev.notes)


@pytest.mark.parametrize("form", FORMS)
def test_27_int_and_text_ids_that_are_no_plain_ints_are_refused(
    form: str, write: Write
) -> None:
    run = in_form(form, "run", [("q", "007", 2.0), ("q", "8", 1.0)], write)

    text = complaint(errors.DataError, {"q": {7: 1}}, run)

    assert "'007'" in text
    assert "text" in text
    assert "ints" in text


def test_27_mixed_ids_in_a_dict_do_not_pass_silently() -> None:
    qrels = {1: {"a": 1}, "2": {"b": 1}}

    text = complaint(errors.DataError, qrels, {"1": ["a"], "2": ["b"]})

    assert "int" in text
    assert "str" in text


def test_28_whole_floats_are_ints_and_others_are_refused() -> None:
    whole = pd.DataFrame({"query": ["q"], "item": [7.0], "score": [1.0]})
    odd = pd.DataFrame({"query": ["q"], "item": [1.5], "score": [1.0]})

    ev = rk.evaluate({"q": {7: 1}}, whole, ["AP"])

    assert ev["AP"] == 1
    assert any("whole floats" in note for note in ev.notes)
    assert "1.5" in complaint(errors.DataError, {"q": {1: 1}}, odd)


@pytest.mark.parametrize("form", FRAMES)
@pytest.mark.parametrize("role", ["qrels", "run"])
@pytest.mark.parametrize("part", [0, 1], ids=["query", "item"])
def test_31_missing_id_is_refused_with_count_and_place(
    form: str, role: str, part: int, write: Write
) -> None:
    rows = list(QRELS if role == "qrels" else RUN)
    for at in (1, 2):
        row = list(rows[at])
        row[part] = None
        rows[at] = (row[0], row[1], row[2])
    bad = in_form(form, role, rows, write)
    pair = (bad, {"q1": ["a"]}) if role == "qrels" else ({"q1": {"a"}}, bad)

    text = complaint(errors.DataError, *pair)

    assert "2 " + ("query", "item")[part] + " ids are missing" in text
    if form == "csv":
        assert place(form, bad, 1) in text
    else:
        assert "rows 1, 2" in text


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
    text = complaint(errors.DataError, *pair(missing))

    assert "missing" in text or repr(missing) in text


@pytest.mark.parametrize("form", FORMS)
def test_33_no_query_in_common_is_refused_with_examples(
    form: str, write: Write
) -> None:
    run = in_form(form, "run", [("z1", "a", 1.0), ("z2", "b", 1.0)], write)
    qrels = in_form(form, "qrels", QRELS, write)

    text = complaint(errors.DataError, qrels, run)

    assert "0 of 2 " in text
    assert "'q1', 'q2'" in text
    assert "'z1', 'z2'" in text


def test_33_no_query_in_common_with_a_matrix() -> None:
    text = complaint(
        errors.DataError, {"q1": {0}}, rk.from_scores([[1.0]], queries=["z"])
    )

    assert "'q1'" in text
    assert "'z'" in text


@pytest.mark.parametrize("form", FORMS)
def test_34_partial_overlap_counts_zero_and_is_told(form: str, write: Write) -> None:
    run = in_form(form, "run", [("q1", "a", 1.0), ("z", "b", 1.0)], write)
    qrels = in_form(form, "qrels", QRELS, write)

    ev = rk.evaluate(qrels, run, ["AP"])

    assert ev["AP"] == (1 + 0) / 2
    assert ev.notes[0] == "1 judged query missing from the run (q2): counted 0"
    assert ev.notes[1] == "1 query of the run without judgements (z): not evaluated"


# --- scores


def test_35_scores_are_numbers_not_their_text() -> None:
    text = complaint(errors.DataError, {"q": {"a"}}, {"q": {"a": "0.9", "x": "0.8"}})

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

    text = complaint(errors.DataError, {"q": {"a"}}, run)

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

    text = complaint(errors.DataError, {"q": {"a"}}, run)

    assert text.startswith(f"{run}:{line}: ")
    assert f"{value!r}, not a number" in text


@pytest.mark.parametrize("form", FORMS)
def test_41_nan_score_is_refused(form: str, write: Write) -> None:
    rows: list[Row] = [("q1", "a", 1.0), ("q1", "b", math.nan), ("q2", "c", math.nan)]
    run = in_form(form, "run", rows, write)

    text = complaint(errors.DataError, in_form("dict", "qrels", QRELS, write), run)

    assert "not a number" in text
    assert "'b'" in text
    assert "'q1'" in text
    if form != "dict":
        assert place(form, run, 1) in text


@pytest.mark.parametrize("form", ["dict", "polars", "arrow", "csv"])
def test_41_missing_score_is_refused(form: str, write: Write) -> None:
    run = in_form(form, "run", [("q1", "a", 1.0), ("q1", "b", None)], write)

    text = complaint(errors.DataError, {"q1": {"a"}}, run)

    assert "None" in text or "missing" in text
    if form != "dict":
        assert place(form, run, 1) in text


def test_41_nan_score_in_a_matrix_is_refused() -> None:
    run = rk.from_scores([[1.0, math.nan]], queries=["q"], items=["a", "b"])

    text = complaint(errors.DataError, {"q": {"a"}}, run)

    assert "'b'" in text
    assert "'q'" in text
    assert "-inf" in text


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("value", [math.nan, math.inf], ids=["nan", "inf"])
def test_41_grade_that_is_not_finite_is_refused(
    form: str, value: float, write: Write
) -> None:
    qrels = in_form(form, "qrels", [("q", "b", 1), ("q", "a", value)], write)

    text = complaint(errors.DataError, qrels, {"q": ["a"]}, "nDCG")

    assert str(value) in text.casefold() or "not a number" in text
    if form != "dict":
        assert place(form, qrels, 1) in text


@pytest.mark.parametrize("form", FORMS)
def test_42_infinite_scores_are_ordered(form: str, write: Write) -> None:
    rows: list[Row] = [("q", "x", -math.inf), ("q", "a", 0.0), ("q", "y", math.inf)]

    ev = rk.evaluate({"q": {"a": 1}}, in_form(form, "run", rows, write), ["RR"])

    assert ev["RR"] == 1 / 2


@pytest.mark.parametrize("form", ["polars", "pandas", "arrow", "csv", "trec"])
@pytest.mark.parametrize("again", [2, 3], ids=["together", "interleaved"])
def test_51_duplicate_item_in_a_run_is_refused_with_both_places(
    form: str, again: int, write: Write
) -> None:
    rows: list[Row] = [("q1", "x", 9.0), ("q1", "a", 3.0)]
    rows += [("q2", "c", 2.0)] * (again == 3)
    rows += [("q1", "a", 1.0)]
    run = in_form(form, "run", rows, write)

    text = complaint(
        errors.DuplicateItemError, in_form("dict", "qrels", QRELS, write), run
    )

    assert "'a'" in text
    assert "'q1'" in text
    first = {"csv": 2, "trec": 1}.get(form, 0)
    assert re.search(rf"\b{first + 1} and (line |row )?{first + again}\b", text)
    if form in {"csv", "trec"}:
        assert str(run) in text
        assert "line" in text


def test_51_duplicate_item_in_a_list_is_refused_with_both_places() -> None:
    text = complaint(errors.DuplicateItemError, {"q1": {"a"}}, {"q1": ["a", "b", "a"]})

    assert "'a'" in text
    assert "'q1'" in text
    assert "1 and 3" in text


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
    text = complaint(errors.DuplicateItemError, {0: {1}}, run)

    assert "item 1 " in text
    assert "query 0 " in text


@pytest.mark.parametrize("form", ["polars", "pandas", "arrow", "csv", "trec"])
def test_60_duplicate_judgement_is_refused_with_both_places(
    form: str, write: Write
) -> None:
    qrels = in_form(
        form, "qrels", [("q1", "a", 1), ("q2", "b", 1), ("q1", "a", 2)], write
    )

    text = complaint(errors.DuplicateItemError, qrels, {"q1": ["a"]})

    assert "'a'" in text
    assert "'q1'" in text
    first = {"csv": 2, "trec": 1}.get(form, 0)
    assert re.search(rf"\b{first} and (line |row )?{first + 2}\b", text)


# --- judgements


@pytest.mark.parametrize("form", FORMS)
def test_54_negative_grade_is_unjudged_and_told(form: str, write: Write) -> None:
    qrels = in_form(form, "qrels", [("q", "a", 1), ("q", "b", -1)], write)

    ev = rk.evaluate(qrels, {"q": ["b", "a"]}, ["nDCG", "AP", "Unjudged@2"])

    assert ev["nDCG"] == pytest.approx(1 / math.log2(3))
    assert ev["AP"] == 1 / 2
    assert ev["Unjudged@2"] == 1 / 2
    assert any(note.startswith("1 negative grade") for note in ev.notes)


@pytest.mark.parametrize("form", FORMS)
def test_54_negative_grade_is_refused_if_the_convention_says_so(
    form: str, write: Write
) -> None:
    qrels = in_form(form, "qrels", [("q", "a", 1), ("q", "b", -2)], write)
    rule = rk.Convention(negative="error")

    text = complaint(errors.DataError, qrels, {"q": ["a"]}, convention=rule)

    assert "negative" in text
    assert "1 " in text


@pytest.mark.parametrize("form", FORMS)
def test_55_huge_grade_costs_nothing_and_is_too_much_for_exponential_gain(
    form: str, write: Write
) -> None:
    qrels = in_form(form, "qrels", [("q", "a", 10**9), ("q", "b", 1)], write)
    run = {"q": ["b", "a"]}

    value = rk.evaluate(qrels, run, "nDCG")["nDCG"]
    text = complaint(errors.DataError, qrels, run, "nDCG(gain='exponential')")

    best = 10**9 + 1 / math.log2(3)
    assert value == pytest.approx((1 + 10**9 / math.log2(3)) / best)
    assert "1e+09" in text
    assert "linear" in text


@pytest.mark.parametrize("form", FORMS)
def test_56_grade_with_a_fraction_needs_a_threshold(form: str, write: Write) -> None:
    qrels = in_form(form, "qrels", [("q", "a", 0.5), ("q", "b", 0.25)], write)
    run = {"q": ["b", "a"]}

    text = complaint(errors.DataError, qrels, run, ["nDCG", "AP"])

    assert "0.5" in text
    assert "AP(rel=0.5)" in text
    assert rk.evaluate(qrels, run, "AP(rel=0.5)").mean == {"AP(rel=0.5)": 1 / 2}
    assert rk.evaluate(qrels, run, "AP", rel=0.25)["AP"] == 1
    assert rk.evaluate(qrels, run, "nDCG")["nDCG"] == pytest.approx(
        (0.25 + 0.5 / math.log2(3)) / (0.5 + 0.25 / math.log2(3))
    )


def test_56_threshold_of_one_is_a_threshold_too() -> None:
    qrels = {"q": {"a": 1.5, "b": 0.5}}

    assert rk.evaluate(qrels, {"q": ["b", "a"]}, "AP", rel=1)["AP"] == 1 / 2


@pytest.mark.parametrize("form", FORMS)
def test_57_grade_in_words_asks_for_what_it_is_worth(form: str, write: Write) -> None:
    qrels = in_form(form, "qrels", [("q", "b", "Bad"), ("q", "a", "Good")], write)

    text = complaint(errors.DataError, qrels, {"q": ["a"]})

    assert "'Bad'" in text
    assert "not a number" in text
    if form != "trec":
        assert "grades=" in text
    if form != "dict":
        assert place(form, qrels, 0) in text


@pytest.mark.parametrize("form", ["dict", *FRAMES])
def test_57_word_without_worth_is_refused(form: str, write: Write) -> None:
    qrels = in_form(form, "qrels", [("q", "b", "Bad"), ("q", "a", "Good")], write)

    text = complaint(errors.DataError, qrels, {"q": ["a"]}, grades={"Bad": 0})

    assert "'Good'" in text
    assert "it has 'Bad'" in text


def test_57_grades_of_a_set_of_items_are_refused_in_words() -> None:
    text = complaint(errors.DataError, {"q": {"a"}}, {"q": ["a"]}, grades={"Good": 1})

    assert "'q'" in text


@pytest.mark.parametrize("form", ["dict", "polars"])
def test_57_worth_must_be_a_number(form: str, write: Write) -> None:
    qrels = in_form(form, "qrels", [("q", "a", "Good")], write)

    with pytest.raises(errors.RankineError, match="'much'"):
        rk.evaluate(qrels, {"q": ["a"]}, "AP", grades={"Good": "much"})  # type: ignore[dict-item]


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(
    ("policy", "mean", "fate"),
    [
        ("zero", (1 + 0) / 2, "counted 0"),
        ("skip", 1, "left out"),
        ("nan", pytest.approx(math.nan, nan_ok=True), "left out"),
        ("one", (1 + 1) / 2, "counted 1"),
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


def test_58_query_without_relevant_items_can_be_an_error() -> None:
    rule = rk.Convention(empty_truth="error")
    qrels = {"q1": {"a": 1}, "q2": {"b": 0}}

    text = complaint(errors.DataError, qrels, {"q1": ["a"]}, convention=rule)

    assert "without a relevant item (q2)" in text
    assert "q2" in text


@pytest.mark.parametrize("form", FORMS)
def test_59_no_query_with_relevant_items_is_told(form: str, write: Write) -> None:
    qrels = in_form(form, "qrels", [("q1", "a", 0), ("q2", "b", 0)], write)
    run = {"q1": ["a"], "q2": ["b"]}
    skip = rk.Convention(empty_truth="skip")

    zero = rk.evaluate(qrels, run, ["AP"])
    left_out = rk.evaluate(qrels, run, ["AP"], convention=skip)

    assert zero["AP"] == 0
    assert "2 queries without a relevant item: counted 0" in zero.notes
    assert math.isnan(left_out["AP"])
    assert "2 queries without a relevant item: left out" in left_out.notes


def test_59_no_query_left_follows_the_convention() -> None:
    qrels, run = {"q": {"a": 0}}, {"q": ["a"]}
    zero = rk.Convention(empty_truth="skip", nothing="zero")
    error = rk.Convention(empty_truth="skip", nothing="error")

    assert rk.evaluate(qrels, run, "AP", convention=zero)["AP"] == 0
    assert "AP" in complaint(errors.DataError, qrels, run, convention=error)


# --- metrics and their parameters


@pytest.mark.parametrize(
    "k",
    [0, -1, "10", 10.0, True, np.True_, 1e18, math.nan, math.inf, [5, 5]],
    ids=repr,
)
def test_63_cutoff_that_is_no_positive_int_is_refused(k: Any) -> None:
    with pytest.raises(errors.ParameterError) as caught:
        _ = rk.nDCG @ k

    assert str(caught.value) == f"k must be a positive integer or None, got {k!r}"


@pytest.mark.parametrize("name", ["nDCG@0", "nDCG@-1", "nDCG@1.5", "P_0", "P.0,5"])
def test_63_cutoff_in_text_that_is_no_positive_int_is_refused(name: str) -> None:
    with pytest.raises(errors.ParameterError, match="k must be a positive integer"):
        rk.parse(name)


def test_63_cutoff_in_text_that_is_no_number_is_refused() -> None:
    with pytest.raises(errors.MetricSyntaxError, match=r"'ten'.* nDCG@10"):
        rk.parse("nDCG@ten")


@pytest.mark.parametrize("k", [10**18, np.int64(7), np.uint8(7)], ids=repr)
def test_63_large_cutoffs_and_numpy_ints_are_fine(k: Any) -> None:
    ev = rk.evaluate({"q": {"a": 1}}, {"q": ["x", "a"]}, [rk.RR @ k])

    assert ev.mean == {f"RR@{int(k)}": 1 / 2}


def test_63_same_cutoff_twice_is_one_metric() -> None:
    ev = rk.evaluate({"q": {"a"}}, {"q": ["a"]}, ["P@1", rk.P @ 1, "P_1", "P.1,1"])

    assert ev.mean == {"P@1": 1.0}


@pytest.mark.parametrize("depth", [0, -3, 1.5, "10", True])
def test_63_depth_that_is_no_positive_int_is_refused(depth: Any) -> None:
    text = complaint(errors.ParameterError, {"q": {"a"}}, {"q": ["a"]}, depth=depth)

    assert text == f"depth must be a positive integer or None, got {depth!r}"


@pytest.mark.parametrize("name", ["nDGC@10", "NDGC", "ndgc"])
def test_64_unknown_metric_suggests_the_nearest(name: str) -> None:
    text = complaint(errors.UnknownMetricError, {"q": {"a"}}, {"q": ["a"]}, name)

    assert text == f"unknown metric {name.partition('@')[0]!r}; did you mean 'nDCG'?"


def test_64_unknown_metric_without_anything_near_is_named() -> None:
    text = complaint(errors.UnknownMetricError, {"q": {"a"}}, {"q": ["a"]}, "zzzzzz")

    assert text == "unknown metric 'zzzzzz'"


@pytest.mark.parametrize("name", ["ndcg@5", "NDCG@5", "nDcG@5", "ndcg_cut_5"])
def test_64_case_does_not_matter_where_it_is_unique(name: str) -> None:
    assert rk.parse(name) == rk.nDCG @ 5


@pytest.mark.parametrize("metrics", [[3], [None], [["AP"]], [{"AP"}], 3, None])
def test_64_what_is_no_metric_is_refused(metrics: Any) -> None:
    with pytest.raises(errors.UsageError, match="metric"):
        rk.evaluate({"q": {"a"}}, {"q": ["a"]}, metrics)


@pytest.mark.parametrize(
    "text",
    [
        "P(__import__('os'))@5",
        "P(rel=__import__('os').getpid())@5",
        "P(rel=().__class__)",
        "P(*[1])",
        "P(**{'rel': 1})",
        "P(rel=[x for x in (1,)])",
        "P(rel=" + "(" * 300 + "1" + ")" * 300 + ")",
        "nDCG(10)",
        "P(rel=1",
        "P rel=1)",
        "",
        "   ",
        "P(rel=1)(k=2)",
        "x" * 10_000,
    ],
    ids=lambda text: text[:24],
)
def test_65_text_that_is_no_metric_is_refused_and_never_run(text: str) -> None:
    with pytest.raises(errors.UsageError) as caught:
        rk.parse(text)

    assert "write it like nDCG@10" in str(caught.value) or "unknown" in str(
        caught.value
    )
    assert "\n" not in str(caught.value)


def test_65_unsupported_parameter_lists_those_there_are() -> None:
    with pytest.raises(errors.ParameterError) as caught:
        rk.parse("nDCG(kk=1)")

    assert "nDCG has no parameter 'kk'" in str(caught.value)
    assert "it takes k, gain, discount" in str(caught.value)


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("P(rel=foo)", "rel must be a finite number, got 'foo'"),
        ("P(rel=None)", "rel must be a finite number, got None"),
        ("P(rel=True)", "rel must be a finite number, got True"),
        ("nDCG(gain=linaer)", "got 'linaer'; did you mean 'linear'?"),
        ("nDCG(gain=3)", "gain must be one of linear"),
        ("nDCG(gain={1: 'x'})", "the gain of grade 1 must be a finite number, got 'x'"),
        ("AP(divisor=r)", "divisor must be one of R, min_k_R"),
        ("P(ties=[1])", "ties must be one of average, best, worst, got [1]"),
        ("Utility(weights=3)", "weights must be four numbers, got 3"),
    ],
)
def test_65_wrong_type_says_what_is_allowed(text: str, wanted: str) -> None:
    with pytest.raises(errors.ParameterError) as caught:
        rk.parse(text)

    assert wanted in str(caught.value)


def test_65_a_parameter_given_twice_is_refused() -> None:
    with pytest.raises(errors.MetricSyntaxError, match="rel"):
        rk.parse("P(rel=1,rel=2)")


def test_65_a_cutoff_given_twice_is_refused() -> None:
    with pytest.raises(errors.UsageError, match="k"):
        rk.parse("P(k=5)@10")


def test_65_lists_in_parameters_are_fine() -> None:
    ev = rk.evaluate({"q": {"a"}}, {"q": ["a"]}, ["Utility(weights=[2,-1,0,0])"])

    assert list(ev.mean.values()) == [2]


def test_65_metric_without_cutoff_says_so() -> None:
    with pytest.raises(errors.ParameterError, match="NumQ has no cutoff"):
        rk.parse("NumQ@3")


@pytest.mark.parametrize("value", ["0", "1", "1.5", "-0.1", "nan", "1e999", "'x'"])
@pytest.mark.parametrize("name", ["RBP", "RBPResidual"])
def test_66_persistence_outside_its_range_is_refused(name: str, value: str) -> None:
    with pytest.raises(errors.ParameterError) as caught:
        rk.parse(f"{name}(p={value})")

    assert "p must be a number above 0 and below 1, got " in str(caught.value)


@pytest.mark.parametrize("p", [0, 1, 1.5, math.nan, math.inf, True, "0.5"])
def test_66_persistence_outside_its_range_is_refused_in_python(p: Any) -> None:
    with pytest.raises(errors.ParameterError) as caught:
        rk.RBP(p=p)

    assert f"p must be a number above 0 and below 1, got {p!r}" == str(caught.value)


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("F(beta=-1)", "beta must be a number at least 0, got -1"),
        ("SetF(beta=-1)", "beta must be a number at least 0, got -1"),
        ("RScore(half_life=1)", "half_life must be a number above 1, got 1"),
        ("RScore(scale=0)", "scale must be a number above 0, got 0"),
        ("nDCG(base=1)", "base must be a number above 1, got 1"),
        ("FallOut(catalog=0)", "catalog must be"),
    ],
)
def test_66_numbers_outside_their_range_are_refused(text: str, wanted: str) -> None:
    with pytest.raises(errors.ParameterError) as caught:
        rk.parse(text)

    assert wanted in str(caught.value)


def test_67_metric_that_needs_a_catalogue_says_so_before_reading() -> None:
    text = complaint(errors.ParameterError, "no such file", "no such file", "FallOut@5")

    assert "FallOut@5 needs the size of the catalogue" in text
    assert "catalog=" in text


@pytest.mark.parametrize(
    ("options", "kind", "wanted"),
    [
        ({"convention": "trec_evl"}, "UnknownConventionError", "mean 'trec_eval'?"),
        ({"convention": None}, "UnknownConventionError", "None"),
        ({"convention": {"tie": "input"}}, "UnknownConventionError", "tie"),
        ({"ties": "avrage"}, "ParameterError", "'avrage'; did you mean 'average'?"),
        ({"rel": "2"}, "ParameterError", "rel must be a finite number, got '2'"),
        ({"rel": math.nan}, "ParameterError", "rel must be a finite number, got nan"),
    ],
    ids=["convention-typo", "convention-none", "convention-dict", "ties", "rel", "nan"],
)
def test_67_wrong_options_say_what_is_allowed(
    options: dict[str, Any], kind: str, wanted: str
) -> None:
    text = complaint(getattr(errors, kind), {"q": {"a"}}, {"q": ["a"]}, **options)

    assert wanted in text


# --- empty things


@pytest.mark.parametrize("form", ["dict", "polars", "pandas", "arrow", "csv"])
def test_69_empty_run_is_refused(form: str, write: Write) -> None:
    run = in_form(form, "run", [], write)
    qrels = in_form("dict", "qrels", QRELS, write)

    text = complaint(errors.DataError, qrels, run)

    assert text.endswith(": no rows in it")


@pytest.mark.parametrize("form", ["dict", "polars", "pandas", "arrow", "csv"])
def test_69_empty_judgements_are_refused(form: str, write: Write) -> None:
    qrels = in_form(form, "qrels", [], write)

    text = complaint(errors.DataError, qrels, {"q": ["a"]})

    assert "no judgements" in text


@pytest.mark.parametrize("nothing", [[], {}, ()], ids=repr)
def test_69_query_with_an_empty_list_counts_zero(nothing: Any) -> None:
    ev = rk.evaluate({"q": {"a"}, "r": {"a"}}, {"q": nothing, "r": ["a"]}, ["RR"])

    assert ev["RR"] == (0 + 1) / 2
    assert not any("missing" in note for note in ev.notes)


def test_69_all_lists_empty_is_told() -> None:
    ev = rk.evaluate({"q": {"a"}, "r": {"a"}}, {"q": [], "r": {}}, ["RR"])

    assert ev["RR"] == 0
    assert ev.notes


@pytest.mark.parametrize("query", ["q", "extra"])
def test_69_none_is_no_list(query: str) -> None:
    run: dict[str, Any] = {"q": ["a"], "extra": ["a"]} | {query: None}

    text = complaint(errors.DataError, {"q": {"a"}, "r": {"a"}}, run)

    assert repr(query) in text
    assert "None" in text


def test_69_none_is_no_run() -> None:
    text = complaint(errors.FormatError, {"q": {"a"}}, None)

    assert text.startswith("cannot read run from ")
    assert "a path, a mapping by query, a frame" in text


def test_69_none_is_no_judgements() -> None:
    text = complaint(errors.ParameterError, None, {"q": ["a"]})

    assert text.endswith(" needs judgements, and there are none")


def test_71_no_metrics_is_refused() -> None:
    text = complaint(errors.UsageError, {"q": {"a"}}, {"q": ["a"]}, [])

    assert "nDCG@10" in text


# --- what is no list, no matrix


@pytest.mark.parametrize(
    ("entry", "wanted"),
    [
        ({"a", "b"}, "a set has no order"),
        ("abc", "a list of items"),
        (7, "{item: score}"),
    ],
    ids=["set", "text", "int"],
)
def test_a_run_that_is_no_list_says_what_is_wanted(entry: Any, wanted: str) -> None:
    text = complaint(errors.FormatError, {"q": {"a"}}, {"q": entry})

    assert "'q'" in text
    assert type(entry).__name__ in text
    assert wanted in text


@pytest.mark.parametrize("entry", [None, "abc", 7], ids=repr)
def test_judgements_that_are_no_set_say_what_is_wanted(entry: Any) -> None:
    text = complaint(errors.FormatError, {"q": entry}, {"q": ["a"]})

    assert "'q'" in text
    assert "{item: grade}" in text


def test_an_array_is_pointed_to_its_readers() -> None:
    text = complaint(errors.FormatError, np.zeros((2, 2)), {"q": ["a"]})

    assert "from_scores" in text


@pytest.mark.parametrize(
    ("make", "wanted"),
    [
        (lambda: rk.from_scores([1.0, 2.0]), "1 dimensions"),
        (lambda: rk.from_scores([["a"]]), "expected a matrix of numbers"),
        (lambda: rk.from_scores([[1.0, 2.0]], items=["a"]), "1 items"),
        (lambda: rk.from_scores([[1.0, 2.0]], items=["a", "a"]), "not all different"),
        (lambda: rk.from_ranked([1, 2]), "1 dimensions"),
        (lambda: rk.from_ranked([["a", "b"], ["c"]]), "pad"),
    ],
    ids=["vector", "text", "few-ids", "same-ids", "flat", "ragged"],
)
def test_matrices_that_cannot_be_read_are_refused(
    make: Callable[[], Any], wanted: str
) -> None:
    with pytest.raises(errors.DataError, match=wanted):
        make()


def test_matrices_of_different_shape_are_refused() -> None:
    text = complaint(
        errors.DataError, rk.from_scores([[1.0, 2.0]]), rk.from_scores([[1.0]])
    )

    assert "1 x 2" in text
    assert "1 x 1" in text


def test_pad_of_another_type_than_the_items_is_refused() -> None:
    with pytest.raises(errors.RankineError, match="pad"):
        rk.from_ranked([["a", "b"], ["c", "-"]], pad=-1)


# --- files


def read_run(path: Path) -> float:
    return rk.evaluate({"q1": {"a": 1}, "q2": {"b": 1}}, path, "RR")["RR"]


EXPECTED = (1 / 2 + 1) / 2
LINES = ["q1 Q0 x 1 0.9 t", "q1 Q0 a 2 0.8 t", "q2 Q0 b 1 0.5 t"]


@pytest.mark.parametrize(
    "content",
    [
        "\n".join(LINES) + "\n",
        "\n".join(LINES),
        "\r\n".join(LINES) + "\r\n",
        "\r".join(LINES) + "\r",
        "\t".join("\n".join(LINES).split(" ")),
        "\n".join(LINES).replace(" ", "  \t "),
        "\n".join("  " + line + "  " for line in LINES),
        "\n\n" + "\n\n".join(LINES) + "\n\n\n",
        "# a comment\n" + "\n# another\n".join(LINES) + "\n#\n",
        "\n   \n" + "\n \t \n".join(LINES),
        "\ufeff" + "\n".join(LINES),
        "\ufeff# a comment\r\n" + "\r\n".join(LINES),
        "\n".join(LINES).replace("0.9", "9e-1").replace("0.8", "+.8"),
        "\n".join(LINES).replace("0.9", "inf").replace("0.5", "-Infinity"),
        "\n".join(LINES).replace(" x ", " x,#\"' "),
    ],
    ids=[
        "plain", "no-newline", "crlf", "cr", "tabs", "mixed", "indented", "blank-lines",
        "comments", "blank-with-spaces", "bom", "bom-comment-crlf", "exponents",
        "infinite", "odd-marks",
    ],
)  # fmt: skip
def test_trec_text_in_all_its_shapes_is_read(content: str, write: Write) -> None:
    path = write("some.run", content)

    assert read_run(path) == EXPECTED


@pytest.mark.parametrize("ending", ["\n", "\r\n"], ids=["lf", "crlf"])
@pytest.mark.parametrize("bom", ["", "\ufeff"], ids=["plain", "bom"])
@pytest.mark.parametrize("last", [True, False], ids=["newline", "no-newline"])
@pytest.mark.parametrize("separator", [",", "\t"], ids=["csv", "tsv"])
def test_separated_text_in_all_its_shapes_is_read(
    ending: str,
    bom: str,
    last: bool,  # noqa: FBT001 - a case
    separator: str,
    write: Write,
) -> None:
    lines = ["query,item,score", "q1,x,0.9", "q1,a,0.8", "q2,b,0.5"]
    text = bom + ending.join(lines) + ending * last
    path = write("some.table", text.replace(",", separator))

    assert read_run(path) == EXPECTED


def test_blank_lines_and_comments_in_csv_are_skipped(write: Write) -> None:
    text = "# made today\nquery,item,score\n\nq1,x,0.9\n# more\nq1,a,0.8\n\nq2,b,0.5\n"

    assert read_run(write("some.csv", text)) == EXPECTED


def test_lines_of_a_csv_are_counted_past_blank_lines(write: Write) -> None:
    path = write("some.csv", "query,item,score\n\nq1,x,0.9\n\nq1,x,0.8\n")

    text = complaint(errors.DuplicateItemError, {"q1": {"a"}}, path)

    assert re.search(r"3 and (line )?5\b", text)


@pytest.mark.parametrize("role", ["qrels", "run"])
@pytest.mark.parametrize("line", [1, 2, 4])
@pytest.mark.parametrize("change", [-1, 1], ids=["too-few", "too-many"])
def test_wrong_field_count_names_the_line(
    role: str, line: int, change: int, write: Write
) -> None:
    good = "q Q0 {} 1 0.5 t" if role == "run" else "q 0 {} 1"
    lines = [good.format(item) for item in "abcde"]
    lines[line - 1] = "q 0 z" if change < 0 else good.format("z") + " more"
    if change < 0 and role == "run":
        lines[line - 1] = "q Q0 z 1 0.5"
    path = write("some.txt", "\n".join(lines) + "\n")
    pair = (path, {"q": ["a"]}) if role == "qrels" else ({"q": {"a"}}, path)

    text = complaint(errors.FormatError, *pair)

    n = 6 if role == "run" else 4
    assert text.startswith(f"{path}:{line}: expected {n} columns, got {n + change}")
    assert lines[line - 1] in text


def test_a_missing_tag_and_a_long_one_do_not_make_up_for_each_other(
    write: Write,
) -> None:
    path = write("some.run", "q Q0 y 1 9 t\nq Q0 b 2 1 t more\nq Q0 a 1 2\n")

    text = complaint(errors.FormatError, {"q": {"a", "b"}}, path)

    assert text.startswith(f"{path}:2: expected 6 columns, got 7")


def test_a_long_bad_line_is_cut(write: Write) -> None:
    path = write("some.run", "q Q0 a 1 2 t\nq " + "x" * 100_000 + "\n")

    text = complaint(errors.FormatError, {"q": {"a"}}, path)

    assert len(text) < 500 + len(str(path))


def test_swapped_arguments_are_told(write: Write) -> None:
    qrels = in_form("trec", "qrels", QRELS, write)
    run = in_form("trec", "run", RUN, write)

    text = complaint(errors.FormatError, run, qrels)

    assert text.startswith(f"{run}:1: expected 4 columns, got 6")
    assert "swapped" in text


def test_judgements_as_a_run_are_told(write: Write) -> None:
    qrels = in_form("trec", "qrels", QRELS, write)

    text = complaint(errors.FormatError, {"q1": {"a"}}, qrels)

    assert text.startswith(f"{qrels}:1: expected 6 columns, got 4")
    assert "swapped" in text


def test_a_run_that_was_read_is_no_judgements(write: Write) -> None:
    run = rk.read_run(in_form("trec", "run", RUN, write))

    text = complaint(errors.DataError, run, run)

    assert "run" in text
    assert "judgements" in text


@pytest.mark.parametrize("role", ["qrels", "run"])
@pytest.mark.parametrize(
    "content",
    ["", "\n", "# nothing here\n", "# nothing\n\n  \n# here", "\ufeff"],
    ids=["empty", "newline", "comment", "comments", "bom"],
)
def test_a_file_without_rows_is_refused(role: str, content: str, write: Write) -> None:
    path = write("some.txt", content)
    pair = (path, {"q": ["a"]}) if role == "qrels" else ({"q": {"a"}}, path)

    text = complaint(errors.DataError, *pair)

    assert str(path) in text
    assert "empty" in text or "no rows" in text or "no judgements" in text


@pytest.mark.parametrize("name", ["some.csv", "some.tsv"])
def test_a_run_with_a_header_only_is_refused(name: str, write: Write) -> None:
    mark = "," if name.endswith("csv") else "\t"
    path = write(name, mark.join(["query", "item", "score"]) + "\n")

    text = complaint(errors.DataError, {"q": {"a"}}, path)

    assert str(path) in text
    assert "no rows" in text


def test_bytes_that_are_no_utf8_name_the_line(write: Write) -> None:
    path = write("some.run", b"q Q0 a 1 0.5 t\nq Q0 caf\xe9 2 0.4 t\n")

    text = complaint(errors.FormatError, {"q": {"a"}}, path)

    assert text.startswith(f"{path}:2: ")
    assert "UTF-8" in text


def test_bytes_that_are_no_utf8_in_csv_name_the_line(write: Write) -> None:
    path = write("some.csv", b"query,item,score\nq,a,1\nq,caf\xe9,2\n")

    text = complaint(errors.FormatError, {"q": {"a"}}, path)

    assert f"{path}:3" in text
    assert "UTF-8" in text


def test_05_utf16_is_read(write: Write) -> None:
    path = write("some.run", "q Q0 a 1 0.5 t\n".encode("utf-16"))

    assert rk.evaluate({"q": {"a"}}, path, "RR")["RR"] == 1


@pytest.mark.parametrize("row", ["q,b", "q,b,1,2"], ids=["too-few", "too-many"])
def test_ragged_csv_names_the_line(row: str, write: Write) -> None:
    path = write("some.csv", f"query,item,score\nq,a,1\n{row}\n")

    with pytest.raises(errors.DataError) as caught:
        rk.evaluate({"q": {"a"}}, path, "AP")

    assert str(caught.value).startswith(f"{path}:3: ")


def test_13_a_header_of_trec_text_is_told(write: Write) -> None:
    path = write("some.run", "query q0 item rank score tag\nq Q0 a 1 0.5 t\n")

    ev = rk.evaluate({"q": {"a"}}, path, "RR")

    assert ev["RR"] == 1
    assert any("query q0 item rank score tag" in note for note in ev.notes)


def test_a_missing_file_suggests_the_nearest(write: Write) -> None:
    there = write("bm25.run", "q Q0 a 1 0.5 t\n")

    text = complaint(errors.FormatError, {"q": {"a"}}, there.with_name("bm52.run"))

    assert "no such file" in text
    assert str(there) in text


def test_a_folder_is_no_file(tmp_path: Path) -> None:
    text = complaint(errors.FormatError, {"q": {"a"}}, tmp_path)

    assert text == f"{tmp_path}: is a folder without files"


def test_a_path_with_a_nul_is_refused() -> None:
    complaint(errors.FormatError, {"q": {"a"}}, "a\0b")


@pytest.mark.parametrize(
    ("magic", "word"),
    [(b"\x1f\x8b", "gzip"), (b"BZh", "bzip2"), (b"PK\x03\x04", "zip")],
)
def test_compressed_files_are_told(magic: bytes, word: str, write: Write) -> None:
    path = write("some.run", magic + b"....")

    text = complaint(errors.FormatError, {"q": {"a"}}, path)

    assert word in text


def test_a_broken_parquet_file_is_refused(write: Write) -> None:
    path = write("some.parquet", b"PAR1....")

    text = complaint(errors.FormatError, {"q": {"a"}}, path)

    assert text.startswith(f"{path}: cannot be read as Parquet")


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_a_name_with_brackets_is_that_file_and_no_other(
    suffix: str, tmp_path: Path
) -> None:
    good = pl.DataFrame({"query": ["q"], "item": ["a"], "score": [1.0]})
    other = good.with_columns(item=pl.lit("x"))
    for name, frame in (("run[1]", good), ("run1", other)):
        with (tmp_path / f"{name}.{suffix}").open("wb") as file:
            frame.write_csv(file) if suffix == "csv" else frame.write_parquet(file)

    ev = rk.evaluate({"q": {"a"}}, tmp_path / f"run[1].{suffix}", "RR")

    assert ev["RR"] == 1


def test_an_unknown_format_suggests_the_nearest(write: Write) -> None:
    path = in_form("trec", "run", RUN, write)

    with pytest.raises(errors.ParameterError) as caught:
        rk.read_run(path, format="trek")

    assert "did you mean 'trec'?" in str(caught.value)
    assert "csv, tsv, " in str(caught.value)


def test_an_unknown_format_of_content_says_what_is_known(write: Write) -> None:
    path = write("some.run", "one two\n")

    text = complaint(errors.FormatError, {"q": {"a"}}, path)

    assert "'one two'" in text
    assert "6 columns" in text
    assert "format=" in text


def test_grades_in_words_need_a_table(write: Write) -> None:
    path = write("some.txt", "q 0 a Good\n")

    text = complaint(errors.FormatError, path, {"q": ["a"]}, grades={"Good": 1})

    assert str(path) in text
    assert "header" in text
