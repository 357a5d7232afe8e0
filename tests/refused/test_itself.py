"""One table as judgements and as the run, with the same column of items."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest
from scipy import sparse

import rankine as rk
from rankine.errors import ParameterError

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

RECORDS = [
    {"user_input": "q1", "retrieved": ["c", "a"], "reference": ["a"]},
    {"user_input": "q2", "retrieved": ["b"], "reference": ["b", "d"]},
]
ASKS: dict[str, Callable[..., Any]] = {
    "evaluate": lambda data, columns: rk.evaluate(data, data, "RR", columns=columns),
    "compare": lambda data, columns: rk.compare(
        data, {"a": data, "b": data}, "RR", columns=columns
    ),
    "check": lambda data, columns: rk.check(data, data, columns=columns),
    "gate": lambda data, columns: rk.gate(
        data, data, "b.json", metrics="RR", update=True, columns=columns
    ),
    "Accumulator": lambda data, columns: rk.Accumulator("RR", columns=columns).update(
        data, data
    ),
    "reconcile": lambda data, columns: rk.reconcile(data, data, "RR", columns=columns),
}


@pytest.mark.parametrize("ask", ASKS)
@pytest.mark.parametrize("form", ["file", "records", "frame", "lazy frame"])
def test_a_run_is_not_evaluated_against_itself(
    ask: str, form: str, tmp_path: Path
) -> None:
    path = tmp_path / "r.jsonl"
    path.write_text("".join(json.dumps(record) + "\n" for record in RECORDS))
    frame = pl.DataFrame(RECORDS)
    forms: dict[str, Any] = {"file": str(path), "records": RECORDS, "frame": frame}
    data = forms.get(form, frame.lazy())

    with pytest.raises(ParameterError) as caught:
        ASKS[ask](data, {"query": "user_input", "item": "retrieved"})

    name = path if form == "file" else "the same table"
    assert str(caught.value) == (
        f"{name} is given as the judgements and as the run, with 'retrieved' as the "
        "item of both, so the run would be evaluated against itself; name one column "
        "for each, columns={'qrels.item': 'reference', 'run.item': 'retrieved'} or "
        "--col qrels.item=reference --col run.item=retrieved; it has 'user_input', "
        "'retrieved', 'reference'"
    )


def test_a_table_without_another_column_of_items_needs_other_judgements() -> None:
    run = pl.DataFrame({"query": ["q"], "item": ["a"], "score": [1.0]})

    with pytest.raises(ParameterError) as caught:
        rk.evaluate(run, run, "RR")

    assert "; give the judgements in a table of their own; it has" in str(caught.value)


def test_one_table_may_have_a_column_of_items_for_each_side() -> None:
    columns = {
        "query": "user_input", "qrels.item": "reference", "run.item": "retrieved",
    }  # fmt: skip

    ev = rk.evaluate(RECORDS, RECORDS, "RR", columns=columns)

    assert ev["RR"] == (1 / 2 + 1) / 2


def test_one_table_may_have_a_grade_beside_the_score() -> None:
    frame = pl.DataFrame(
        {"user": ["u", "u"], "item": ["a", "b"], "label": [0, 1], "score": [2.0, 1.0]}
    )

    assert rk.evaluate(frame, frame, "RR")["RR"] == 1 / 2


def test_one_column_of_objects_may_have_a_grade_beside_the_score() -> None:
    hits = [
        {"id": "a", "grade": 0, "score": 2.0},
        {"id": "b", "grade": 1, "score": 1.0},
    ]
    records = [{"query": "q", "items": hits}]

    assert rk.evaluate(records, records, "RR")["RR"] == 1 / 2


SAME: dict[str, Any] = {
    "scores": {"q": {"a": 1, "b": 2}, "r": {"a": 1}},
    "lists": {"q": ["a", "b"], "r": []},
    "lists by place": [["a"], ["b"]],
    "scores by place": [{"a": 1}, {"b": 1}],
    "sparse": sparse.csr_matrix([[0.5, 1.0]]),
    "matrix": rk.from_scores([[0.5, 1.0]]),
}


@pytest.mark.parametrize("ask", ASKS)
@pytest.mark.parametrize("form", [*SAME, "file"])
def test_the_same_object_is_not_evaluated_against_itself(
    ask: str, form: str, tmp_path: Path
) -> None:
    path = tmp_path / "both.json"
    path.write_text(json.dumps(SAME["scores"]))
    data = path if form == "file" else SAME[form]

    with pytest.raises(ParameterError) as caught:
        ASKS[ask](data, None)

    assert str(caught.value) == (
        f"{path if form == 'file' else 'the same object'} is given as the judgements "
        "and as the run, so the run would be evaluated against itself; give the "
        "judgements in an object of their own"
    )


READERS: dict[str, Callable[[Path], tuple[Any, Any]]] = {
    "paths": lambda path: (path, str(path)),
    "read": lambda path: (rk.read_qrels(path), rk.read_run(path)),
    "one read": lambda path: (path, rk.read_run(path)),
}


@pytest.mark.parametrize("readers", READERS)
@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("lists.json", '[["a"], ["b"]]'),
        ("lists.ndjson", '["a"]\n["b"]\n'),
        ("scores.json", '{"q": {"a": 1}, "r": {"b": 2}}'),
        ("rows.ndjson", '{"query": "q", "item": "a", "score": 1}\n'),
        ("rows.csv", "query,item,score\nq,a,1\n"),
    ],
)
def test_one_file_is_not_evaluated_against_itself(
    readers: str, name: str, text: str, tmp_path: Path
) -> None:
    path = tmp_path / name
    path.write_text(text)

    with pytest.raises(ParameterError) as caught:
        rk.evaluate(*READERS[readers](path), "RR")

    assert str(caught.value).startswith(
        f"{path} is given as the judgements and as the run, "
    )


def test_one_file_may_be_read_by_two_columns_of_items(tmp_path: Path) -> None:
    path = tmp_path / "r.jsonl"
    path.write_text("".join(json.dumps(record) + "\n" for record in RECORDS))
    query = {"query": "user_input"}

    qrels = rk.read_qrels(path, columns={**query, "item": "reference"})
    run = rk.read_run(path, columns={**query, "item": "retrieved"})

    assert rk.evaluate(qrels, run, "RR")["RR"] == (1 / 2 + 1) / 2


def test_lists_of_objects_in_one_file_may_have_a_grade_and_a_score(
    tmp_path: Path,
) -> None:
    path = tmp_path / "both.json"
    hits = [{"id": "a", "grade": 0, "score": 2}, {"id": "b", "grade": 1, "score": 1}]
    path.write_text(json.dumps([hits, hits]))

    assert rk.evaluate(path, path, "RR")["RR"] == 1 / 2


def test_objects_may_have_a_grade_and_a_score() -> None:
    both = {
        "q": [{"id": "a", "grade": 1, "score": 1}, {"id": "b", "grade": 0, "score": 2}]
    }

    assert rk.evaluate(both, both, "RR")["RR"] == 1 / 2
