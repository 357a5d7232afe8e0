"""Matrices of scores, of grades and of ranked items."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
import pytest
from scipy import sparse

import rankine as rk
from rankine.errors import DataError, FormatError

if TYPE_CHECKING:
    from collections.abc import Callable

GRADES = np.array([[2, 0, 1, 0], [0, 1, 0, 0], [0, 0, 3, 1]], dtype=float)
SCORES = np.array([[0.1, 0.9, 0.8, 0.2], [0.4, 0.3, 0.2, 0.1], [0.3, 0.1, 0.2, 0.9]])
BY_HAND = ((1 / 2 + 2 / 4) / 2 + 1 / 2 + (1 / 1 + 2 / 3) / 2) / 3


def lists_of(matrix: Any) -> dict[int, dict[int, float]]:
    return {
        row: {column: float(value) for column, value in enumerate(values)}
        for row, values in enumerate(matrix)
    }


MATRICES: dict[str, Callable[[Any], Any]] = {
    "dict": lists_of,
    "scores": rk.from_scores,
    "list": lambda matrix: rk.from_scores(matrix.tolist()),
    "float32": lambda matrix: rk.from_scores(matrix.astype(np.float32)),
    "fortran": lambda matrix: rk.from_scores(np.asfortranarray(matrix)),
    "csr": sparse.csr_matrix,
    "coo": sparse.coo_matrix,
    "csc": sparse.csc_matrix,
    "csr-array": sparse.csr_array,
    "coo-array": sparse.coo_array,
}


@pytest.mark.parametrize("run_form", MATRICES)
@pytest.mark.parametrize("qrels_form", MATRICES)
def test_matrices_give_the_same_numbers(qrels_form: str, run_form: str) -> None:
    qrels, run = MATRICES[qrels_form](GRADES), MATRICES[run_form](SCORES)
    metrics = ["AP", "nDCG@2", "P@3", "RR", "NumRet"]

    ev = rk.evaluate(qrels, run, metrics)

    expected = rk.evaluate(lists_of(GRADES), lists_of(SCORES), metrics)
    assert ev.mean == expected.mean
    assert ev.per_query.equals(expected.per_query)
    assert ev["AP"] == pytest.approx(BY_HAND)


def test_ties_in_a_matrix_fall_as_in_a_dict() -> None:
    grades = np.eye(12)[[3, 10, 2]]
    scores = np.ones((3, 12))

    dense = rk.evaluate(rk.from_scores(grades), rk.from_scores(scores), ["RR", "P@5"])
    mixed = rk.evaluate(lists_of(grades), rk.from_scores(scores), ["RR", "P@5"])
    plain = rk.evaluate(lists_of(grades), lists_of(scores), ["RR", "P@5"])

    # Ids are compared as text, descending: 9 8 7 6 5 4 3 2 11 10 1 0.
    assert plain.per_query["RR"].to_list() == pytest.approx([1 / 7, 1 / 10, 1 / 8])
    assert dense.per_query.equals(plain.per_query)
    assert mixed.per_query.equals(plain.per_query)


def test_stored_zeros_of_a_sparse_matrix_count() -> None:
    entry = (np.array([0.0, 0.0]), np.array([0, 1]), np.array([0, 2]))
    run = sparse.csr_matrix(entry, shape=(1, 5))

    ev = rk.evaluate({0: {1: 1}}, run, ["RR", "NumRet"])

    assert ev.mean == {"RR": 1, "NumRet": 2}


def test_ids_of_a_matrix_can_be_given() -> None:
    run = rk.from_scores(SCORES, queries=["q1", "q2", "q3"], items=["a", "b", "c", "d"])
    qrels = {"q2": {"b": 1}, "q3": {"c": 3, "d": 1}, "q1": {"a": 2, "c": 1}}

    ev = rk.evaluate(qrels, run, ["AP"])

    assert ev.per_query["query"].to_list() == ["q2", "q3", "q1"]
    assert ev["AP"] == pytest.approx(BY_HAND)


def test_minus_infinity_is_not_retrieved_and_nan_not_judged() -> None:
    grades = rk.from_scores([[1.0, math.nan, 0.0]])
    scores = rk.from_scores([[0.5, 0.9, -math.inf]])

    ev = rk.evaluate(grades, scores, ["RR", "NumRet", "Unjudged@2", "NumRel"])

    assert ev.mean == {"RR": 1 / 2, "NumRet": 2, "Unjudged@2": 1 / 2, "NumRel": 1}


def test_padded_cells_change_nothing() -> None:
    """Two queries with candidates of their own, the second filled up from two."""
    mask = np.array([[True, True, True], [True, True, False]])
    grades = np.where(mask, [[0, 2, 1], [1, 0, 9]], np.nan)
    scores = np.where(mask, [[0.3, 0.2, 0.9], [0.1, 0.4, 9.9]], -np.inf)
    metrics = ["nDCG", "AP", "RR", "P@3", "NumRet", "NumRel", "Bpref", "AUC"]
    bare = (
        [{0: 0, 1: 2, 2: 1}, {0: 1, 1: 0}],
        [{0: 0.3, 1: 0.2, 2: 0.9}, {0: 0.1, 1: 0.4}],
    )

    found = rk.evaluate(rk.from_scores(grades), rk.from_scores(scores), metrics)

    wanted = rk.evaluate(*bare, metrics)
    assert found.mean == wanted.mean
    assert found.notes == wanted.notes
    assert found["RR"] == (1 + 1 / 2) / 2


def test_a_padded_query_is_one_for_which_nothing_was_found() -> None:
    grades = rk.from_scores([[1.0, 0.0], [math.nan, math.nan]])
    scores = rk.from_scores([[0.5, 0.1], [-math.inf, -math.inf]])

    ev = rk.evaluate(grades, scores, ["RR", "NumQ"])

    assert ev.mean == {"RR": (1 + 0) / 2, "NumQ": 2}
    assert "1 query without a relevant item: counted as 0" in ev.notes


def test_a_masked_array_is_refused() -> None:
    masked = np.ma.MaskedArray([[1.0, 2.0]], mask=[[False, True]])
    for read in (rk.from_scores, rk.from_ranked):
        with pytest.raises(FormatError, match=r"is a masked array; fill it"):
            read(masked)


@pytest.mark.parametrize(
    ("matrix", "pad", "truth"),
    [
        (np.array([[7, 8, 9], [8, 9, -1]]), -1, {0: {8}, 1: {8}}),
        ([[7, 8, 9], [8, 9, -1]], -1, {0: {8}, 1: {8}}),
        (np.array([[7, 8], [8, 0]], dtype=np.uint32), 0, {0: {8}, 1: {8}}),
        ([["g", "h", "i"], ["h", "i", "-"]], "-", {0: {"h"}, 1: {"h"}}),
        ([["g", "h", "i"], ["h", "i", ""]], "", {0: {"h"}, 1: {"h"}}),
        (np.array([[7, 8, 9], [8, 9, np.nan]]), np.nan, {0: {8}, 1: {8}}),
    ],
    ids=["array", "lists", "unsigned", "text", "empty-text", "nan"],
)
def test_ranked_items_with_pad(matrix: Any, pad: Any, truth: Any) -> None:
    run = rk.from_ranked(matrix, pad=pad)

    ev = rk.evaluate(truth, run, ["RR", "NumRet"])

    width = np.asarray(matrix).shape[1]
    assert ev.mean == {"RR": (1 / 2 + 1) / 2, "NumRet": 2 * width - 1}


def test_ranked_items_with_ids_of_queries() -> None:
    run = rk.from_ranked([["a", "b"], ["b", "a"]], queries=["u1", "u2"])

    ev = rk.evaluate({"u1": {"b"}, "u2": {"b"}}, run, ["RR"])

    assert ev.per_query.rows() == [("u1", 1 / 2), ("u2", 1)]


def test_a_row_without_a_grade_is_a_judged_query_with_nothing_to_find() -> None:
    nan = np.nan
    grades = rk.from_scores([[1, 0, 0], [nan, nan, nan], [0, 1, 0]])
    ranked = [[0, 1, 2], [0, 1, 2], [1, 2, 0]]

    whole = rk.evaluate(grades, rk.from_ranked(ranked), "RR")
    padded = rk.evaluate(
        grades, rk.from_ranked([[0, 1, -1], *ranked[1:]], pad=-1), "RR"
    )

    assert whole["RR"] == padded["RR"] == (1 + 0 + 1) / 3
    assert "1 query without a relevant item: counted as 0" in whole.notes


@pytest.mark.parametrize(
    "rows",
    [
        [[1, -1, -1]], [[1, -1], [2, 3]], [[1, 2], [-1, -1]], [[1.0, -1.0], [2.0, 3.0]],
        [[-1, -1], [-1, -1]],
    ],
)  # fmt: skip
def test_negative_numbers_at_the_end_of_rows_are_refused(rows: Any) -> None:
    with pytest.raises(DataError, match=r"ends with -1.*pads short rows, give pad=-1"):
        rk.from_ranked(rows)


PADDED = [[1, -1], [2, 3]]


@pytest.mark.parametrize("lenient", [True, False])
@pytest.mark.parametrize(
    "run",
    [
        PADDED, {"a": PADDED[0], "b": PADDED[1]}, {"a": np.array(PADDED[0])},
        pl.DataFrame({"query": ["a", "b"], "item": PADDED}),
        pl.DataFrame({"query": ["a", "b"], "item": np.array(PADDED)}),
    ],
)  # fmt: skip
def test_lists_filled_up_with_a_negative_number_are_refused(
    run: Any,
    lenient: bool,  # noqa: FBT001
) -> None:
    said = "ends with -1, which looks like padding"
    for role in ("run", "qrels", "train", "reference"):
        given: dict[str, Any] = {"qrels": None, "run": {"a": [1], "b": [2]}, role: run}
        metric = {"qrels": "R", "train": "Novelty", "reference": "Intersection@1"}
        with pytest.raises(DataError, match=said):
            rk.evaluate(metrics=metric.get(role, "Entropy"), lenient=lenient, **given)


@pytest.mark.parametrize(
    "run", [[[-1, 1], [2]], [[-5, -7]], [[1, -7], [2, -8]], [["-1"]], {"q": {-1: 1.0}}]
)
def test_other_negative_numbers_in_lists_are_ids(run: Any) -> None:
    rk.evaluate(None, run, "Entropy")
    rk.evaluate(None, {0: [1]}, "Novelty", train={0: {1, -1}})


def test_places_that_pad_names_are_no_items() -> None:
    run = rk.from_ranked([[1, -1], [2, 3]], pad=-1)
    # Three items, each shown once.
    entropy = rk.evaluate(None, run, "Entropy")["Entropy"]
    assert entropy == pytest.approx(np.log2(3))


@pytest.mark.parametrize("rows", [[[-1, 1], [2, 3]], [[-1, -2]], [[1, -7], [2, -8]]])
def test_other_negative_numbers_are_ids(rows: Any) -> None:
    assert rk.from_ranked(rows).frame.height == np.size(rows)
