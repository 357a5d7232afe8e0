"""Lists as people hold them: an entry per query by its place, or records."""

from __future__ import annotations

from typing import Any

import pytest

import rankine as rk
from rankine.errors import DataError, FormatError

QRELS = [["a"], ["b", "c"]]
RUN = [["a", "x"], ["x", "b"]]


@pytest.mark.parametrize(
    ("qrels", "run"),
    [
        (QRELS, RUN),
        (tuple(QRELS), tuple(RUN)),
        ([{"a"}, {"b", "c"}], RUN),
        ([{"a": 1}, {"b": 1, "c": 1}], [{"a": 2.0, "x": 1.0}, {"x": 2.0, "b": 1.0}]),
        (QRELS, {0: ["a", "x"], 1: ["x", "b"]}),
        ({0: {"a"}, 1: {"b", "c"}}, RUN),
    ],
)
def test_lists_are_paired_by_their_places(qrels: Any, run: Any) -> None:
    ev = rk.evaluate(qrels, run, ["RR", "R"])

    assert ev.mean == {"RR": (1 + 1 / 2) / 2, "R": (1 + 1 / 2) / 2}
    assert ev.queries == [0, 1]


def test_metrics_of_lists_take_them() -> None:
    assert rk.evaluate(None, RUN, "Coverage", catalog=6)["Coverage"] == 3 / 6


@pytest.mark.parametrize(
    ("qrels", "run"),
    [
        (
            [{"query": "q", "item": "a", "grade": 1}],
            [
                {"query": "q", "item": "x", "score": 2.0},
                {"query": "q", "item": "a", "score": 1.0},
            ],
        ),
        (
            [{"user_id": "q", "relevant": ["a"]}],
            [{"user_id": "q", "retrieved": ["x", "a"]}],
        ),
    ],
)
def test_records_are_read_as_in_a_file(qrels: Any, run: Any) -> None:
    ev = rk.evaluate(qrels, run, "RR")

    assert ev["RR"] == 1 / 2
    assert ev.queries == ["q"]


def test_grades_in_words() -> None:
    qrels = [{"a": "good", "b": "bad"}]
    ev = rk.evaluate(qrels, [["b", "a"]], "RR", grades={"good": 1, "bad": 0})
    assert ev["RR"] == 1 / 2


def test_lists_of_other_lengths_are_refused() -> None:
    with pytest.raises(DataError, match="for 2 queries and run for 1 query"):
        rk.evaluate(QRELS, RUN[:1], "RR")
    with pytest.raises(DataError, match="paired by position"):
        rk.evaluate(QRELS, RUN[:1], "SubtopicRecall", items={"a": "t", "b": "u"})
    with pytest.raises(DataError, match="first has lists for 2 queries and second"):
        rk.similarity(RUN, RUN[:1], "RBO")


@pytest.mark.parametrize("read", [rk.from_scores, rk.from_ranked])
def test_a_matrix_without_ids_is_paired_by_place_too(read: Any) -> None:
    assert rk.evaluate([[1], [0]], read([[0, 1], [1, 0]]), "R")["R"] == 1
    with pytest.raises(DataError, match="for 3 queries and run for 2 queries"):
        rk.evaluate([[1], [0], [1]], read([[0, 1], [1, 0]]), "R")
    with_ids = read([[0, 1], [1, 0]], queries=[0, 2])
    with pytest.raises(DataError, match="3 lists without ids and run has 2 queries"):
        rk.evaluate([[1], [0], [1]], with_ids, "R")


def test_records_with_columns_of_other_names() -> None:
    columns = {"query": "u", "item": "i", "score": "s", "grade": "g"}
    qrels, run = [{"u": "q", "i": "a", "g": 1}], [{"u": "q", "i": "a", "s": 1.0}]
    assert rk.evaluate(qrels, run, "RR", columns=columns)["RR"] == 1


@pytest.mark.parametrize(
    ("run", "said"),
    [
        (["a", "b"], r"holds a str.* pass a list for each, \[\['a'\], \['b'\]\]$"),
        ([1, 2], "holds an int.* pass a list for each"),
        ([("a", "b"), ("c", "d")], "may be rows or lists of items; pass rows as a fr"),
        ([(1, 2, 3), (2, 3, 4)], "may be rows or lists of items; pass rows as a fram"),
    ],
)
def test_what_is_not_a_list_for_each_query_is_refused(run: Any, said: str) -> None:
    with pytest.raises(FormatError, match=said):
        rk.evaluate(QRELS, run, "RR")


def test_no_lists_are_no_rows() -> None:
    with pytest.raises(DataError, match="no judgements"):
        rk.evaluate([], [], "RR")


def test_none_in_place_of_a_list_is_refused() -> None:
    with pytest.raises(DataError, match="the list of query 1 is None"):
        rk.evaluate(QRELS, [["a"], None], "RR")
