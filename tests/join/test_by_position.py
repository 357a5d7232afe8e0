"""Lists without ids are paired by position; row numbers beside other ids are told."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import polars as pl
import pytest
from scipy.sparse import csr_array

import rankine as rk
from rankine.errors import DataError

if TYPE_CHECKING:
    from pathlib import Path

LISTS = [[0], [1]]
PERFECT = [[0.9, 0.2, 0.5], [0.1, 0.8, 0.3]]
RUNS: dict[str, Any] = {
    "scores": rk.from_scores(PERFECT, queries=[1, 0]),
    "ranked": rk.from_ranked([[0, 2], [1, 2]], queries=[1, 0]),
    "padded": rk.from_ranked([[0, 9], [1, 2]], queries=[1, 0], pad=9),
    "lists": {1: [0, 2], 0: [1, 2]},
    "mapping": {1: {0: 0.9, 2: 0.1}, 0: {1: 0.9, 2: 0.1}},
    "frame": pl.DataFrame({"query": [1, 1, 0, 0], "item": [0, 2, 1, 2]}),
    "users": rk.from_scores(PERFECT, queries=["ann", "bob"]),
}
SAID = "qrels has no query ids: its lists are paired with the queries of run by pos"


@pytest.mark.parametrize("run", RUNS.values(), ids=RUNS)
def test_judgements_without_ids_are_paired_by_position(run: Any) -> None:
    ev = rk.evaluate(LISTS, run, "RR")

    assert ev["RR"] == 1
    assert ev.notes[0].startswith(SAID)


@pytest.mark.parametrize("lenient", [True, False])
def test_a_run_without_ids_is_paired_by_position(lenient: bool) -> None:  # noqa: FBT001
    ev = rk.evaluate({"b": {1}, "a": {2}}, [[1], [3, 2]], "RR", lenient=lenient)

    assert dict(ev.per_query.iter_rows()) == {"b": 1, "a": 1 / 2}
    assert "run has no query ids" in ev.notes[0]


def test_objects_without_ids_are_paired_by_position() -> None:
    qrels = [[{"id": "a", "grade": 1}], [{"id": "b", "grade": 1}]]
    ev = rk.evaluate(qrels, {"y": ["a"], "x": ["c", "b"]}, "RR")
    assert dict(ev.per_query.iter_rows()) == {"y": 1, "x": 1 / 2}


def test_nothing_is_noted_where_ids_are_the_positions() -> None:
    ev = rk.evaluate(LISTS, {0: [0], 1: [1]}, "RR")
    assert ev["RR"] == 1
    assert not ev.notes


@pytest.mark.parametrize(
    ("qrels", "run", "said"),
    [
        (LISTS, {0: [0]}, "qrels has 2 lists without ids and run has 1 query"),
        ({0: {0}}, LISTS, "run has 2 lists without ids and qrels has 1 query"),
        (LISTS, rk.from_scores([[1.0]], queries=[1]), "qrels has 2 lists without"),
    ],
)
def test_lengths_that_differ_are_refused(qrels: Any, run: Any, said: str) -> None:
    for call in (rk.evaluate, rk.check):
        with pytest.raises(DataError, match=said):
            call(qrels, run)
    with pytest.raises(DataError, match=said):
        rk.Accumulator("RR").update(qrels, run)


def test_batches_with_shuffled_users_are_paired_by_position() -> None:
    total = rk.Accumulator("RR")
    total.update(LISTS, rk.from_scores(PERFECT, queries=[1, 0]))
    total.update(LISTS, rk.from_scores(PERFECT, queries=[3, 2]))
    ev = total.result()

    assert ev.per_query.rows() == [(1, 1), (0, 1), (3, 1), (2, 1)]
    assert ev.notes[0].startswith(SAID)


def test_a_stream_is_paired_by_position(tmp_path: Path) -> None:
    path = tmp_path / "a.run"
    path.write_text("y Q0 a 1 2 t\nx Q0 c 1 2 t\nx Q0 b 2 1 t\n")

    for engine in ("memory", "stream"):
        ev = rk.evaluate([["a"], ["b"]], path, "RR", engine=engine)
        assert dict(ev.per_query.iter_rows()) == {"y": 1, "x": 1 / 2}
        assert "paired with the queries of run by position" in ev.notes[0]


def test_a_reference_is_paired_by_position() -> None:
    name, run = "Intersection@1", {"y": ["a"], "x": ["b"]}
    both = rk.evaluate(None, run, name, reference=[["a"], ["c"]])
    other = rk.evaluate(None, [["a"], ["b"]], name, reference={"y": ["a"], "x": ["c"]})

    assert both.per_query.rows() == other.per_query.rows() == [("y", 1), ("x", 0)]
    with pytest.raises(DataError, match="reference has 1 list without ids"):
        rk.evaluate(None, run, name, reference=[["a"]])
    with pytest.raises(DataError, match="reference has lists without ids"):
        rk.Accumulator(name, reference=[["a"], ["c"]]).update(run)


def test_runs_are_compared_if_they_pair_the_lists_alike() -> None:
    good, bad = {"y": ["a"], "x": ["b"]}, {"y": ["c", "a"], "x": ["b"]}
    other = {"x": ["b"], "y": ["a"]}
    lists = [["a"], ["b"]]

    cmp = rk.compare(lists, {"good": good, "bad": bad}, "RR")
    assert [cmp.evaluations[name]["RR"] for name in ("good", "bad")] == [1, 3 / 4]
    for second in (other, [*lists]):
        with pytest.raises(DataError, match="good and other do not have the same"):
            rk.compare(lists, {"good": good, "other": second}, "RR")


def test_similar_runs_are_paired_by_position() -> None:
    first, second = [["a"], ["b"]], {"y": ["a"], "x": ["c"]}
    for one, other in ((first, second), (second, first)):
        ev = rk.similarity(one, other, "Overlap@1")
        assert ev.per_query.rows() == [("y", 1), ("x", 0)]
    found = rk.similarity_matrix({"a": first, "b": second}, "Overlap@1")
    assert found["a", "b"] == 1 / 2
    with pytest.raises(DataError, match="second has 1 list without ids"):
        rk.similarity(second, [["a"]], "Overlap@1")
    with pytest.raises(DataError, match="b and c do not have the same queries"):
        rk.similarity_matrix({"a": first, "b": second, "c": {"x": [], "y": []}})


IDS = {user: {user} for user in range(1, 6)}
ROWS = [[user] for user in range(1, 6)]
MET = "row numbers 0 to 4 are taken as ids, which match 4 of 5 query ids in qrels; give"


@pytest.mark.parametrize("qrels", [IDS, {str(user): IDS[user] for user in IDS}])
def test_row_numbers_beside_other_ids_are_a_warning(qrels: Any) -> None:
    run = rk.from_ranked(ROWS)

    said, nothing = rk.evaluate(qrels, run, "RR").warnings
    assert MET in said
    assert nothing.startswith("no judged item is in the run")
    assert (
        rk.evaluate(qrels, rk.from_ranked(ROWS, queries=range(1, 6)), "RR")["RR"] == 1
    )
    batches = rk.Accumulator("RR").update(qrels, run)
    assert batches.result().warnings == (said, nothing)
    cmp = rk.compare(qrels, {"a": run, "b": rk.from_scores([[1.0] * 9] * 5)}, "RR")
    assert any(MET in text for text in cmp.warnings)
    findings = rk.check(qrels, run).findings
    assert any(text.level == "warning" and "row num" in text.what for text in findings)


def test_row_numbers_beside_some_of_them_are_a_warning() -> None:
    qrels = {0: {1}, 2: {3}}
    (said,) = rk.evaluate(qrels, rk.from_ranked([[1], [2], [3]]), "RR").warnings
    assert "match 2 of 2 query ids in qrels" in said
    meant = rk.from_ranked([[1], [2], [3]], queries=range(3))
    assert not rk.evaluate(qrels, meant, "RR").warnings


def test_row_numbers_that_are_the_ids_are_no_warning() -> None:
    run = rk.from_scores(PERFECT)
    assert rk.evaluate({1: {1}, 0: {0}}, run, "RR")["RR"] == 1
    assert not rk.evaluate({1: {1}, 0: {0}}, run, "RR").warnings
    assert not rk.evaluate(LISTS, run, "RR").warnings


def test_rows_of_a_sparse_matrix_may_be_more_than_the_ids() -> None:
    qrels = csr_array([[1, 0], [0, 1], [1, 1]])

    assert not rk.evaluate(qrels, {0: [0], 2: [1]}, "RR").warnings
    (said,) = rk.evaluate(qrels, {1: [1], 2: [0], 3: [1]}, "RR").warnings
    assert "qrels has no query ids, so its row numbers 0 to 2" in said


def test_row_numbers_beside_training_data_are_a_warning() -> None:
    run = rk.from_ranked(ROWS)
    (said,) = rk.evaluate(None, run, "Novelty", train=IDS).warnings
    assert "match 4 of 5 query ids in train; give the ids" in said
    # Users without training data, and users without a list.
    for train in ({0: [1], 3: [2]}, {user: [1] for user in range(9)}):
        assert not rk.evaluate(None, run, "Novelty", train=train).warnings
    assert not rk.evaluate(None, run, "Coverage", train=IDS).warnings


def test_row_numbers_of_two_runs_are_a_warning() -> None:
    first, second = rk.from_ranked([[1], [2]]), {1: [1], 2: [2]}
    (said,) = rk.similarity(first, second, "Overlap@1").warnings
    assert "first has no query ids" in said
    found = rk.similarity_matrix({"a": first, "b": second}, "Overlap@1")
    assert found.notes["a", "b"][0].startswith("a has no query ids")
