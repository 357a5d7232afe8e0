"""Ids of several types: ints, text, floats, and numbers beyond 64 bits."""

from __future__ import annotations

import datetime as dt
import json
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

import rankine as rk
from rankine import errors
from rankine.errors import DataError, FormatError
from tests.refused.refusals import files, refusal, refused, some_file
from tests.refused.rows import FORMS, Row, Write, in_form

if TYPE_CHECKING:
    from pathlib import Path


# --- ints, text and floats


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


def test_27_ints_and_text_are_compared_by_text_if_all_are_plain(tmp_path: Path) -> None:
    ints = pl.DataFrame({"query": [1, 2], "item": [10, 20], "grade": [1, 1]})
    _, run = files(tmp_path, run="1 Q0 10 1 1 t\n2 Q0 20 1 1 t\n")

    found = rk.evaluate(ints, run, "RR")

    assert found.per_query.rows() == [(1, 1), (2, 1)]
    assert any("compared as text" in note for note in found.notes)


@pytest.mark.parametrize("form", FORMS)
def test_27_int_and_text_ids_that_are_no_plain_ints_are_refused(
    form: str, write: Write
) -> None:
    run = in_form(form, "run", [("q", "007", 2.0), ("q", "8", 1.0)], write)

    text = refused(errors.DataError, {"q": {7: 1}}, run)

    assert "'007'" in text
    assert "text" in text
    assert "ints" in text


def test_27_text_that_is_no_plain_int_is_not_compared_with_ints(tmp_path: Path) -> None:
    qrels, run = files(
        tmp_path, "007 0 a 1\n", '{"query": 7, "item": "a", "score": 1}\n'
    )

    assert refusal(DataError, qrels, run) == (
        f"query ids are text in {qrels} and ints in {run}, and 1 of the texts is not "
        "a plain int, such as '007'; give both the same type"
    )


def test_27_mixed_ids_in_a_dict_do_not_pass_silently() -> None:
    qrels = {1: {"a": 1}, "2": {"b": 1}}

    text = refused(errors.DataError, qrels, {"1": ["a"], "2": ["b"]})

    assert "int" in text
    assert "str" in text


def test_28_whole_floats_are_ints_and_others_are_refused() -> None:
    whole = pd.DataFrame({"query": ["q"], "item": [7.0], "score": [1.0]})
    odd = pd.DataFrame({"query": ["q"], "item": [1.5], "score": [1.0]})

    ev = rk.evaluate({"q": {7: 1}}, whole, ["AP"])

    assert ev["AP"] == 1
    assert any("numbers stored as floats" in note for note in ev.notes)
    assert "1.5" in refused(errors.DataError, {"q": {1: 1}}, odd)


def test_28_whole_floats_are_ints_with_a_note() -> None:
    qrels = pd.DataFrame({"query": [1.0, 2.0], "item": [7.0, 8.0], "grade": [1, 1]})

    found = rk.evaluate(qrels, {1: [7], 2: [9]}, "RR")

    assert found.per_query.rows() == [(1, 1), (2, 0)]
    assert (
        "qrels: query ids are whole numbers stored as floats; read as ints"
        in found.notes
    )


def test_28_floats_with_fractions_are_no_ids() -> None:
    qrels = pd.DataFrame({"query": [1.5, 2.0], "item": [7.0, 8.0], "grade": [1, 1]})

    text = refused(DataError, qrels, {1: [7]})

    assert text == "qrels: query ids are floats, such as 1.5"


def test_28_floats_in_a_file_are_text_and_not_in_common(tmp_path: Path) -> None:
    qrels, run = files(
        tmp_path, "user,item,grade\n1.0,7,1\n", "user,item,score\n1,7,1\n"
    )

    assert refusal(DataError, qrels, run) == (
        "0 of 1 judged users are in the run; the judgements have '1.0', the run has '1'"
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


def forms_of_floats(first: float, second: float, folder: Path) -> dict[str, Any]:
    """Return a run of two queries whose ids are floats, in every form."""
    rows = [(first, "a", 1.0), (second, "b", 1.0)]
    frame = pl.DataFrame(rows, schema=["query", "item", "score"], orient="row")
    frame.write_parquet(folder / "run.parquet")
    records = frame.to_dicts()
    text = "".join(json.dumps(record) + "\n" for record in records)
    (folder / "run.ndjson").write_text(text)
    frame.write_csv(folder / "run.csv")
    return {
        "polars": frame,
        "pandas": pd.DataFrame(records),
        "records": records,
        "dict": {first: ["a"], second: ["b"]},
        "items": {"q": [first, second]},
        "parquet": folder / "run.parquet",
        "ndjson": folder / "run.ndjson",
        "csv": folder / "run.csv",
        "batches": iter([frame]),
    }


FLOATS = [
    "polars", "pandas", "records", "dict", "items", "parquet", "ndjson", "csv",
    "batches",
]  # fmt: skip


@pytest.mark.parametrize("form", FLOATS)
@pytest.mark.parametrize("sign", [1, -1])
def test_floats_that_cannot_tell_ids_apart_are_refused(
    form: str, sign: int, tmp_path: Path
) -> None:
    # 2^53 + 1 is no float: the two users of a join would become one.
    run = forms_of_floats(sign * 2.0**53, sign * (2.0**53 + 2), tmp_path)[form]

    text = refused(DataError, {2**53: {"a": 1}, 2**53 + 2: {"b": 1}}, run)

    if form == "items":
        assert f"floats, such as {sign * 2.0**53!r}, which are never ids" in text
        return
    assert text.partition(": ")[2] == (
        f"query ids are floats of 2^53 or more, such as {sign * 2**53}, which cannot "
        "tell neighbouring ids apart; pandas turns ints into floats where a join "
        "leaves nulls: read or cast them as ints or text before the join"
    )


@pytest.mark.parametrize("form", FLOATS[:4])
def test_the_largest_float_that_stands_for_one_id_is_an_id(
    form: str, tmp_path: Path
) -> None:
    run = forms_of_floats(2.0**53 - 1, -(2.0**53) + 1, tmp_path)[form]
    qrels = {2**53 - 1: {"a": 1}, -(2**53) + 1: {"c": 1}}

    assert rk.evaluate(qrels, run, "RR")["RR"] == (1 + 0) / 2


def test_text_that_pandas_makes_of_large_floats_is_refused(tmp_path: Path) -> None:
    ids = [2.0**56, 2.0**56 + 8]
    run = pd.DataFrame({"query": ids, "item": ["a", "b"], "score": [1.0, 2.0]})
    run.to_csv(tmp_path / "run.csv", index=False)
    assert "7.205759403792794e+16,a" in (tmp_path / "run.csv").read_text()

    text = refused(DataError, {"q": {"a": 1}}, tmp_path / "run.csv")

    assert "query ids are floats of 2^53 or more, such as 72057594037927936" in text


def test_floats_of_32_bits_are_refused_where_they_merge_ids() -> None:
    frame = pl.DataFrame({"query": [2**24], "item": ["a"], "score": [1.0]})

    text = refused(DataError, {2**24: {"a": 1}}, frame.cast({"query": pl.Float32}))

    assert "floats of 2^24 or more, such as 16777216" in text


def test_logs_refuse_floats_that_cannot_tell_users_apart() -> None:
    user = [2.0**53, 1.0]
    rounds = pl.DataFrame({"user_id": user, "item_id": ["a", "b"], "click": [1, 0]})
    events = pl.DataFrame(
        {"user_id": user, "event": ["view"] * 2, "timestamp": ["2024-01-01"] * 2}
    )

    for ask in (lambda: rk.ctr(rounds, rounds), lambda: rk.online.summarize(events)):
        with pytest.raises(DataError, match=r"user ids are floats of 2\^53 or more"):
            ask()


# --- ids of mappings: the rules of a column, whatever is computed

NAN = float("nan")
RULES: dict[str, dict[str, Any]] = {
    "look-ups": {"metrics": ["RR"]},
    "lists": {"metrics": ["RR", "Coverage"], "catalog": ["a", "b"]},
}


@pytest.mark.parametrize("asked", RULES)
@pytest.mark.parametrize(
    ("ids", "said"),
    [
        (["b", NAN, "a"], "missing: nan"),
        ([NAN, "b", "a"], "missing: nan"),
        (["b", None, "a"], "missing: None"),
        (["b", "", "a"], "missing: ''"),
        (["b", 7, "a"], "item ids are int and str, such as 7 and 'a'; give them one "),
        ([7, "a"], "item ids are int and str, such as 7 and 'a'; give them one type"),
        ([8, 7, NAN], "missing: nan"),
        ([8, 7.5], "item ids are floats, such as 7.5"),
        ([("a", 1, 2), ("b", 1, 2)], "item ids are tuples, such as"),
        ([True, False], "item ids are of type Boolean; expected text or ints"),
        (["a", "b\ud800"], "an unpaired surrogate, which is not valid text"),
        ([dt.date(2020, 1, 1)], "item ids are of type Date; expected text or "),
    ],
)
@pytest.mark.parametrize("form", ["dict", "list", "judged dict", "judged list"])
def test_a_mapping_has_the_ids_that_a_column_may_have(
    form: str, ids: list[Any], said: str, asked: str
) -> None:
    # In the second list, as a look at the first alone would not see it.
    odd: dict[str, Any] = {"q": ["a"], "p": ids}
    plain: dict[str, Any] = {"q": ["a"], "p": ["b"]}
    if form.endswith("dict"):
        odd = {query: dict.fromkeys(items, 1) for query, items in odd.items()}
    if form.startswith("judged"):
        sides = odd, plain
    else:
        sides = {query: dict.fromkeys(items, 1) for query, items in plain.items()}, odd
    if "ids are" in said and "one" not in said:
        odd.pop("q")  # so that ids of the odd type are alone

    with pytest.raises(DataError) as caught:
        rk.evaluate(*sides, **RULES[asked])

    assert said in str(caught.value)


@pytest.mark.parametrize(
    ("ids", "said"),
    [
        (["b", NAN, "a"], "is missing"),
        ([NAN, 7], "is missing"),
        (["b", 7, "a"], "item ids are int and str, such as 7 and 'b'; give them one "),
        ([7, 2.0**60], "item ids are floats of 2^53 or more, such as 1152921504606846"),
    ],
)
def test_ids_beside_a_run_follow_the_same_rule(ids: list[Any], said: str) -> None:
    beside: dict[str, tuple[str, Any]] = {
        "train": ("Novelty", {"u": ids}),
        "items": ("ILD", {item: [0.0, 1.0] for item in ids}),
        "catalog": ("Coverage", ids),
    }
    for name, (metric, data) in beside.items():
        with pytest.raises(DataError, match="^" + name) as caught:
            rk.evaluate(None, {"q": ["a"]}, metric, **{name: data})
        assert said in str(caught.value)


def test_records_with_nan_as_an_item_lack_its_id() -> None:
    run = [{"query": "q", "item": item} for item in ("a", NAN)]

    text = refused(DataError, {"q": {"a"}}, run)

    assert text.startswith("run, row 1: 1 item id is missing")


@pytest.mark.parametrize("ids", [[6, 7], [6, 7.0], [np.int64(6), 7], [2**70, 7]])
def test_ids_that_are_all_numbers_of_ints_are_of_one_type(ids: list[Any]) -> None:
    assert rk.evaluate({"q": {7: 1}}, {"q": ids}, "RR")["RR"] == 1 / 2


def test_lenient_drops_items_of_a_mapping_that_have_no_id() -> None:
    run = {"q": {"b": 1, NAN: 2, "a": 0.5}}

    assert rk.evaluate({"q": {"a": 1}}, run, "RR", lenient=True)["RR"] == 1 / 2


# --- large ids

BIG = 2**63 + 1
HUGE = 2**70


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


@pytest.mark.parametrize("number", [2**63 + 1, 2**70])
def test_large_ids_stay_exact(number: int, tmp_path: Path) -> None:
    qrels = {"q": {str(number): 1, str(number - 1): 0}}
    text = f'{{"qid": "q", "doc_id": {number}, "score": 1}}\n'
    frame = pd.DataFrame({"query": ["q"], "item": [number], "score": [1.0]})

    assert rk.evaluate(qrels, some_file(tmp_path, text), "RR")["RR"] == 1
    assert rk.evaluate(qrels, frame, "RR")["RR"] == 1


def test_30_decimals_are_no_ids() -> None:
    frame = pl.DataFrame({"query": [Decimal(1)], "item": ["a"], "grade": [1]})

    text = refused(FormatError, frame, {"q1": ["a"]})

    assert text.startswith("qrels: query ids are of type Decimal")
    assert text.endswith("expected text or ints")


# --- missing ids of queries


@pytest.mark.parametrize("query", [None, "", float("nan")])
@pytest.mark.parametrize("role", ["qrels", "run"])
def test_a_mapping_with_a_query_without_an_id_is_refused(query: Any, role: str) -> None:
    data: dict[str, dict[Any, dict[str, float]]] = {
        "qrels": {"q": {"a": 1}},
        "run": {"q": {"a": 1.0}},
    }
    data[role][query] = {"a": 1}

    text = refused(DataError, data["qrels"], data["run"])

    assert text == (
        f"the id of a query in {role} is missing: {query!r}; lenient=True or --lenient "
        "drops such rows"
    )


@pytest.mark.parametrize("part", ["query", "item"])
@pytest.mark.parametrize("library", ["polars", "pandas"])
def test_a_frame_with_an_empty_id_is_refused(part: str, library: str) -> None:
    columns: dict[str, list[Any]] = {"query": ["q", "q"], "item": ["a", "b"]}
    columns["score"] = [2.0, 1.0]
    columns[part][1] = ""
    frame = pl.DataFrame(columns) if library == "polars" else pd.DataFrame(columns)

    text = refused(DataError, {"q": {"a": 1}}, frame)

    assert f"row 1: 1 {part} id is missing" in text
